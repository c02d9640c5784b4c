"""A visit of a project: its document, the table that is chosen, and saving without losing what others did."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request, Response
from fastapi.responses import HTMLResponse

from velado.service.errors import Changed, Forbidden, NotFound
from velado.service.web.resources import projects, releases, sources
from velado.service.web.resources.releases import ReleaseEntry
from velado.service.web.resources.sources import SourceAnswer
from velado.studio import steps
from velado.studio.differences import differences
from velado.studio.visit import Visit, Visiting

Change = Callable[[dict[str, Any]], None]
"""What changes the part of a document that describes one table (or, with ``whole``, all of it), in place."""


@dataclass(frozen=True, repr=False)
class Work(Visit):
    """A page of a project. ``table`` is the chosen one of several, None where there is one."""

    project: projects.ProjectAnswer
    table: str | None

    @property
    def id(self) -> str:
        """The id of the project."""
        return self.project.id

    @property
    def document(self) -> dict[str, Any]:
        """The whole document."""
        return self.project.document

    @property
    def tables(self) -> list[str]:
        """The names of several tables; none where the document describes one."""
        return list(self.document.get("tables") or {})

    @property
    def part(self) -> dict[str, Any]:
        """What the document says of the chosen table; what is said at the top for all tables is in it, too."""
        return part_of(self.document, self.table)

    def can(self, action: str) -> bool:
        """Whether an action is allowed in this project."""
        return action in self.project.actions

    @property
    def source(self) -> SourceAnswer | None:
        """The table that the chosen part is about; None: none is chosen yet, or it is gone."""
        named = self.part.get("source")
        id = named.get("source") if isinstance(named, Mapping) else None
        if not isinstance(id, str):
            return None
        try:
            return sources.get_source(id, self.call)
        except (NotFound, Forbidden):
            return None

    def address(self, step: str, **query: Any) -> str:
        """The address of a page of this project, of the same table."""
        from velado.studio.visit import with_query

        return with_query(f"/projects/{self.id}/{step}", **({"table": self.table} if self.table else {}), **query)

    def release(self) -> ReleaseEntry | None:
        """The release that is asked for (``?release=``), else the newest; None if there is none."""
        wanted = self.request.query_params.get("release")
        if wanted:
            found = releases.read_release(self.call, wanted)
            if found.project != self.id:
                raise NotFound()
            return found
        newest = releases.list_releases(self.call, self.id, limit=1).items
        return newest[0] if newest else None

    def show(self, template: str, step: str, status: int = 200, **shown: Any) -> HTMLResponse:
        """A page of the project; ``step`` is the one that is shown as the present one."""
        source = shown.pop("source", None) or self.source
        marks = steps.marks(self, source)
        return self.render(template, status, work=self, step=step, steps=marks, source=source, **shown)

    def save(
        self, change: Change, back: str, said: str = "", *, whole: bool = False, name: str | None = None
    ) -> Response:
        """Change the document and go back to a page. What somebody else saved meanwhile is shown instead of overwritten."""
        document = deepcopy(self.document)
        change(document if whole or self.table is None else document["tables"][self.table])
        given = self.form.text("version") or str(self.project.version)
        body = projects.ChangedProject(document=document, name=name)
        try:
            projects.change_project(self.call, self.id, body, Response(), if_match=f'"{given}"')
        except Changed:
            return self.conflict(int(given) if given.isdecimal() else 1, back)
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
            "conflict.html", "", 409, others=others, changed=differences(before, self.document), fields=fields, back=back,
            target=self.request.url.path + (f"?{self.request.url.query}" if self.request.url.query else ""),
        )  # fmt: skip


def part_of(document: Mapping[str, Any], table: str | None) -> dict[str, Any]:
    """What a document says of one table."""
    if table is None:
        return dict(document)
    shared = {key: value for key, value in document.items() if key not in ("tables", "attributes", "joinable")}
    return shared | dict(document["tables"][table])


def work(visit: Visiting, id: str, request: Request) -> Work:
    """The dependency of pages of a project."""
    project = projects.read_project(visit.call, id, Response())
    if isinstance(project, Response):
        raise NotFound()
    names = list(project.document.get("tables") or {})
    table = request.query_params.get("table")
    if table is not None and table not in names:
        raise NotFound()
    return Work(visit.call, visit.words, visit.form, project, table or (names[0] if names else None))


Working = Annotated[Work, Depends(work)]
