"""A visit of a project: its document, the table that is chosen, and saving without losing what others did."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request, Response
from fastapi.responses import HTMLResponse

from velado.service.errors import Changed, Forbidden, NotFound
from velado.service.projects import operations as projects
from velado.service.projects.document import Document
from velado.service.projects.schemas import ChangedProject, ProjectAnswer
from velado.service.releases import operations as releases
from velado.service.releases.schemas import ReleaseEntry
from velado.service.sources import operations as sources
from velado.service.sources.schemas import SourceAnswer
from velado.service.unit_of_work import Reach
from velado.service.web.call import call_of
from velado.studio.request import Form, PageRequest, form_of
from velado.studio.views import steps
from velado.studio.views.document_diff import differences
from velado.studio.words import Words

Change = Callable[[Document], None]
"""What changes the part of a document that describes one table (or, with ``whole``, all of it), in place."""


@dataclass(frozen=True, repr=False)
class ProjectPage(PageRequest):
    """A page of a project. ``table`` is the chosen one of several, None where there is one."""

    project: ProjectAnswer
    table: str | None

    @property
    def id(self) -> str:
        """The id of the project."""
        return self.project.id

    @property
    def document(self) -> Document:
        """The whole document."""
        return Document(self.project.document)

    @property
    def tables(self) -> list[str]:
        """The names of several tables; none where the document describes one."""
        return list(self.document.tables)

    @property
    def part(self) -> Document:
        """What the document says of the chosen table; what is said at the top for all tables is in it, too."""
        return self.document.table(self.table)

    def can(self, action: str) -> bool:
        """Whether an action is allowed in this project."""
        return action in self.project.actions

    @property
    def source(self) -> SourceAnswer | None:
        """The table that the chosen part is about; None: none is chosen yet, or it is gone."""
        id = self.part.source_id
        if id is None:
            return None
        try:
            return sources.get_source(self.call, id)
        except (NotFound, Forbidden):
            return None

    def address(self, step: str, **query: Any) -> str:
        """The address of a page of this project, of the same table."""
        from velado.studio.request import with_query

        return with_query(f"/projects/{self.id}/{step}", **({"table": self.table} if self.table else {}), **query)

    def release(self) -> ReleaseEntry | None:
        """The release that is asked for (``?release=``), else the newest; None if there is none."""
        wanted = self.request.query_params.get("release")
        found = releases.read_release(self.call, wanted) if wanted else releases.newest_release(self.call, self.id)
        if found is not None and found.project != self.id:
            raise NotFound()
        return found

    def show(self, template: str, step: str, status: int = 200, **shown: Any) -> HTMLResponse:
        """A page of the project; ``step`` is the one that is shown as the present one."""
        source = shown.pop("source", None) or self.source
        marks = steps.marks(self, source)
        return self.render(template, status, work=self, step=step, steps=marks, source=source, **shown)

    def save(self, change: Change, back: str, said: str = "", *, whole: bool = False, name: str | None = None) -> Response:
        """Change the document and go back to a page. What somebody else saved meanwhile is shown instead of overwritten."""
        document = self.document.copy()
        change(document if whole else document.table(self.table))
        given = self.form.text("version") or str(self.project.version)
        version = int(given) if given.isdecimal() else 0
        try:
            projects.change_project(self.call, self.id, (version,), ChangedProject(document=document.as_dict(), name=name))
        except Changed:
            return self.conflict(version, back)
        return self.go(back, said)

    def conflict(self, version: int, back: str) -> Response:
        """Who changed what meanwhile; the own entries are kept in the page and can be sent again."""
        entries = projects.list_versions(self.call, self.id, limit=50).items
        others = [one for one in entries if one.number > version]
        try:
            before = projects.read_version(self.call, self.id, version).document
        except NotFound:
            before = {}
        fields = [(key, value) for key, value in self.form.fields if key not in ("csrf", "version")]
        return self.show(
            "conflict.html",
            "",
            409,
            others=others,
            changed=differences(before, self.document.as_dict()),
            fields=fields,
            back=back,
            target=self.request.url.path + (f"?{self.request.url.query}" if self.request.url.query else ""),
        )


def work(id: str, request: Request, form: Annotated[Form, Depends(form_of)]) -> Iterator[ProjectPage]:
    """The dependency of pages of a project: who asks and the project are read in one transaction."""
    with call_of(request, form.text("csrf"), Reach.READS) as call:
        page = open_project(PageRequest(call, Words(call.language), form), id)
        call.close()
        yield page


def open_project(visit: PageRequest, id: str) -> ProjectPage:
    """The page of a project, of the table that the address names."""
    project = projects.read_project(visit.call, id)
    names = list(Document(project.document).tables)
    table = visit.request.query_params.get("table")
    if table is not None and table not in names:
        raise NotFound()
    return ProjectPage(visit.call, visit.words, visit.form, project, table or (names[0] if names else None))


Working = Annotated[ProjectPage, Depends(work)]
