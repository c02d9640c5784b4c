"""A table to work on: chosen (file, database, sample, one that is here), looked at by a job, and made into a project.

The way is short on purpose: what is dropped is looked at, and as soon as that is done one is at the columns of the project.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from velado.errors import VeladoError
from velado.results import Discreet
from velado.sentences import Sentence
from velado.service.connections import operations as connections
from velado.service.errors import NotFound
from velado.service.projects import operations as projects
from velado.service.projects.document import Document
from velado.service.projects.schemas import ChangedProject, NewProject
from velado.service.sources import operations as sources
from velado.service.sources import uploads
from velado.service.sources.schemas import NewSource, SourceAnswer
from velado.service.web import problems
from velado.service.web.problems import ProblemPart
from velado.studio.forms.several_tables import as_several, fresh_name, replace_table, stem, with_table
from velado.studio.project_page import ProjectPage, open_project
from velado.studio.request import Form, PageRequest, PageRoute, Visiting, with_query
from velado.studio.views.table_view import DELIMITERS, ENCODINGS, Wanted, sheet_of
from velado.tables.source import FORMATS

router = APIRouter(route_class=PageRoute)
READY = "/new/ready"
LISTED = 100
SAMPLES = {
    "hospital": (
        Sentence("Hospital patients"),
        Sentence("Names, national ids, birth dates, postal codes, diagnoses and costs of invented patients in Spain."),
    ),
    "caoba": (
        Sentence("Customers of a bank"),
        Sentence("Incomes, families, cities and segments of invented customers in Colombia."),
    ),
    "covid_ceara": (
        Sentence("COVID-19 register"),
        Sentence("Invented people tested in Ceará, Brazil: symptoms, municipality, race, sex, result."),
    ),
}
ROWS = 5000
Sources = Annotated[list[str] | None, Query(max_length=20)]


@dataclass(frozen=True, repr=False)
class Purpose(Discreet):
    """What a table is chosen for: a project of its own, one more table of a project, or another one in the place of a table."""

    project: str = ""
    kind: str = ""
    table: str = ""
    name: str = ""

    @classmethod
    def of(cls, given: Mapping[str, str] | Form) -> Purpose:
        """From the query of an address, or from a form."""
        text = given.text if isinstance(given, Form) else lambda name: given.get(name, "")
        return cls(text("project"), text("for"), text("of"), text("name")[:200])

    @property
    def query(self) -> dict[str, str]:
        """As an address carries it."""
        told = {"project": self.project, "for": self.kind, "of": self.table, "name": self.name}
        return {key: value for key, value in told.items() if value}

    def address(self, path: str, **more: Any) -> str:
        """A page with the same purpose."""
        return with_query(path, **self.query, **more)

    def work(self, visit: PageRequest) -> ProjectPage | None:
        """The project that the table is for; it must be one that may be changed."""
        if not self.project:
            return None
        found = open_project(visit, self.project)
        if not found.can("project.edit"):
            raise NotFound()
        return found


@router.get("/new")
def new(visit: Visiting, connection: str = "", search: Annotated[str, Query(max_length=200)] = "") -> Response:
    """The choice of a table."""
    return _choice(visit, Purpose.of(visit.request.query_params), connection, search)


def _choice(
    visit: PageRequest, purpose: Purpose, connection: str = "", search: str = "", problem: ProblemPart | None = None
) -> Response:
    here = [one for one in sources.list_sources(visit.call, limit=LISTED).items if one.state in ("ready", "new")]
    known = connections.list_connections(visit.call, limit=LISTED).items if visit.may("connections.create") else []
    chosen = next((one for one in known if one.id == connection), None)
    return visit.render(
        "new.html",
        422 if problem else 200,
        purpose=purpose,
        target=purpose.work(visit),
        here=here,
        connections=known,
        chosen=chosen,
        search=search,
        samples=SAMPLES,
        rows=ROWS,
        problem=problem,
        suffixes=FORMATS,
    )


@router.post("/new")
def choose(visit: Visiting) -> Response:
    """Make sources of what was chosen, and go on as soon as they are looked at."""
    form, purpose = visit.form, Purpose.of(visit.form)
    purpose.work(visit)
    try:
        ids = [one for one in form.all("source") if one] or [_create_source(visit, body) for body in _new_sources(visit)]
    except VeladoError as error:
        return _choice(visit, purpose, form.text("connection"), "", ProblemPart(**problems.part(error, visit.words.code)))
    if not ids:
        return visit.go(purpose.address("/new"))
    found = [sources.get_source(visit.call, id) for id in ids]
    if all(one.state == "ready" for one in found):
        return _begin(visit, purpose, found)
    return visit.go(purpose.address(READY, source=ids))


def _new_sources(visit: PageRequest) -> list[NewSource]:
    """What a form names as tables: files that were sent, a table or a query of a database, a sample."""
    form = visit.form
    if form.text("sample"):
        title = SAMPLES[form.text("sample")][0] if form.text("sample") in SAMPLES else form.text("sample")
        given = {"name": visit.say(title), "sample": form.text("sample"), "rows": form.text("rows") or ROWS}
        return [NewSource.model_validate(given)]
    if form.text("connection") and (form.text("table") or form.text("query")):
        place = {"table": form.text("table")} if form.text("table") else {"query": form.text("query")}
        name = form.text("called") or form.text("table") or visit.say("Query")
        return [NewSource.model_validate({"name": name[:200], "connection": form.text("connection"), **place})]
    sent = [uploads.get_upload(visit.call, id) for id in form.all("upload")]
    return [NewSource(name=one.name, upload=one.id) for one in sent]


def _create_source(visit: PageRequest, body: NewSource) -> str:
    return sources.create_source(visit.call, body).id


@router.post("/demo")
def demo(visit: Visiting) -> Response:
    """The demo: invented patients, and a project on them. One that is there already is opened."""
    title, mine = visit.say("Demo"), sources.list_sources(visit.call, limit=LISTED).items
    there = next((one for one in mine if one.sample == "hospital" and one.rows == ROWS and one.state == "ready"), None)
    if there is None:
        body = NewSource(name=visit.say(SAMPLES["hospital"][0]), sample="hospital", rows=ROWS)
        return visit.go(Purpose(name=title).address(READY, source=[_create_source(visit, body)]))
    used = next((one for one in sources.list_uses(visit.call, there.id) if one.name == title), None)
    return visit.go(f"/projects/{used.id}") if used else _begin(visit, Purpose(name=title), [there])


@router.get(READY)
def ready(visit: Visiting, source: Sources = None) -> Response:
    """How far the tables are; what stands in the way of one, and how to mend it; then on to the project."""
    purpose = Purpose.of(visit.request.query_params)
    target = purpose.work(visit)
    if not source:
        return visit.go(purpose.address("/new"))
    found = [sources.get_source(visit.call, id) for id in source]
    sheets = [sheet_of(visit, one, Wanted(READY), with_rows=False) for one in found]
    done = all(one.state == "ready" for one in found)
    return visit.render(
        "ready.html",
        purpose=purpose,
        target=target,
        sheets=sheets,
        done=done,
        delimiters=DELIMITERS,
        encodings=ENCODINGS,
        before=_before(visit, purpose, target, found) if done else None,
    )


def _before(visit: PageRequest, purpose: Purpose, target: ProjectPage | None, found: list[SourceAnswer]) -> tuple[str, str] | None:
    """The project (id and name) that was made of these tables already: who comes back to this page makes no second one."""
    uses = [{one.id: one.name for one in sources.list_uses(visit.call, source.id)} for source in found]
    if target is not None:
        return (target.id, target.project.name) if any(target.id in one for one in uses) else None
    return next(((id, name) for id, name in uses[0].items() if all(id in one for one in uses)), None)


@router.post(READY)
def begin(visit: Visiting) -> Response:
    """The project of tables that are looked at."""
    found = [sources.get_source(visit.call, id) for id in visit.form.all("source")]
    if not found:
        raise NotFound()
    return _begin(visit, Purpose.of(visit.form), found)


def _begin(visit: PageRequest, purpose: Purpose, found: list[SourceAnswer]) -> Response:
    """A new project, or a changed one, at its columns."""
    target = purpose.work(visit)
    if target is not None:
        return _change_project(visit, purpose, target, found)
    name = purpose.name or stem(found[0].name)
    told = {"source": found[0].id} if len(found) == 1 else {"document": _several(Document({}), visit, found).as_dict()}
    made = projects.create_project(visit.call, NewProject.model_validate({"name": name, **told}))
    return visit.go(f"/projects/{made.id}/columns")


def _change_project(visit: PageRequest, purpose: Purpose, target: ProjectPage, found: list[SourceAnswer]) -> Response:
    """A project with further tables, or with another one in the place of one; the columns of the last are shown."""
    table: str | None = purpose.table or None
    if purpose.kind == "add":
        first = stem(target.source.name) if target.source else target.project.name
        changed = _several(as_several(target.document, first), visit, found)
        table = list(changed.tables)[-1]
    elif table is None or table in target.tables:
        changed = target.document.copy()
        names = [column.name for column in found[0].columns]
        replace_table(changed.table(table), found[0].id, names, _suggest_document(visit, found[0]))
    else:
        raise NotFound()
    projects.change_project(visit.call, target.id, (target.project.version,), ChangedProject(document=changed.as_dict()))
    told = visit.say("The project works on {name} now.", name=found[0].name)
    return visit.go(with_query(f"/projects/{target.id}/columns", table=table), told)


def _several(document: Document, visit: PageRequest, found: list[SourceAnswer]) -> Document:
    """A document with more tables, each as it suggests itself."""
    made = Document({"velado": 1, "tables": {}, **document.said})
    for source in found:
        name = fresh_name(stem(source.name), made.tables)
        made = with_table(made, name, _suggest_document(visit, source))
    return made


def _suggest_document(visit: PageRequest, source: SourceAnswer) -> Document:
    """The document that suggests itself for a table; where none does, one that says the table only."""
    found = sources.get_suggestion(visit.call, source.id).get("document")
    return Document({"source": {"source": source.id}, **(found or {})})
