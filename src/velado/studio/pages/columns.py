"""Columns: what each is, how far it singles people out, and what becomes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import APIRouter, Response

from velado.errors import VeladoError
from velado.operations import OPERATIONS
from velado.project.document import UNITS
from velado.project.people import ROWS
from velado.service.errors import Conflict, Forbidden, NotFound
from velado.service.projects import checks, singled_out
from velado.service.projects.document import Document
from velado.service.web import problems
from velado.studio.forms import column_edit
from velado.studio.forms.column_edit import ANSWERS, CHOICES
from velado.studio.pages import column
from velado.studio.project_page import ProjectPage, Working
from velado.studio.request import ASKED, PageRoute
from velado.studio.views import known_to_others
from velado.studio.views.column_profile import (
    ColumnRow,
    Looked,
    all_rows,
    back_to,
    load_findings,
    role_choices,
    role_word,
    type_word,
)
from velado.studio.words import plain

router = APIRouter(route_class=PageRoute)
router.include_router(column.router)
SHOWN = 200
DIFFERS = "differs"
SORTS = {"distinct": "distinct", "missing": "missing", "alone": "singled_out"}


@router.get("/projects/{id}/columns")
def columns(work: Working, q: str = "", role: str = "", sort: str = "", offset: int = 0) -> Response:
    """All columns of a table, or those that are looked for."""
    source, found = work.source, load_findings(work)
    rows = all_rows(work, found)
    chosen = _sort_rows([row for row in rows if _fits(row, q, role)], sort)
    offset = max(0, min(offset, max(0, len(chosen) - 1)))
    counts = {name: sum(row.said.role == name for row in rows) for name in CHOICES}
    counts[DIFFERS] = sum(row.differs for row in rows)
    return work.show(
        "columns.html",
        "columns",
        source=source,
        rows=chosen[offset : offset + SHOWN],
        total=len(chosen),
        offset=offset,
        limit=SHOWN,
        every=len(rows),
        counts=counts,
        wanted=q,
        of=role,
        sort=sort,
        roles=role_choices(work),
        found=found,
        rest=work.part.rest,
        unit=(ROWS, "") if work.part.unit[1] == ROWS else work.part.unit,
        known_operations=OPERATIONS,
        names=[row.name for row in rows],
        edit=work.can("project.edit"),
        words_of=role_word,
        examples=work.can("records.read"),
        type_of=type_word,
        choices=[(one, role_word(work.words, one)) for one in CHOICES],
        answers=known_to_others.answers(work.words),
        answer_of=known_to_others.answer_of,
    )


@router.post("/projects/{id}/columns")
def set_roles(work: Working, q: str = "", role: str = "") -> Response:
    """Another role for one column, for the chosen ones, or for all that are shown."""
    found = load_findings(work)
    wanted, names = work.form.text("role"), _selected_columns(work, found)
    if wanted not in CHOICES or not names:
        return work.go(back_to(work), work.say("Nothing is changed: choose columns and a role first."))

    specs = found.specs

    def change(part: Document) -> None:
        for name in names:
            column_edit.set_role(part, name, wanted, specs.get(name, {}))

    return work.save(change, back_to(work), _said_of(work, names, role_word(work.words, wanted)))


@router.post("/projects/{id}/columns/known")
def set_known(work: Working) -> Response:
    """Whether others know one column, the chosen ones, or all that are shown; only columns that pass through are changed."""
    found = load_findings(work)
    answer, names = work.form.text("known"), _selected_columns(work, found)
    passing = [name for name in names if column_edit.said_of(work.part, name).role in column_edit.PASSING]
    if answer not in ANSWERS or not passing:
        said = work.say("Nothing is changed: choose columns that are sensitive or insensitive, and an answer.")
        return work.go(back_to(work), said)

    specs = found.specs

    def change(part: Document) -> None:
        for name in passing:
            column_edit.set_known(part, name, answer, specs.get(name, {}))

    word = known_to_others.ANSWER_WORDS[answer].into(work.words.code)
    return work.save(change, back_to(work), _said_of(work, passing, word))


def _selected_columns(work: ProjectPage, found: Looked) -> list[str]:
    """The columns that a form names, or all that are shown."""
    form = work.form
    if form.text("which") == "shown":
        return [row.name for row in all_rows(work, found) if _fits(row, form.text("q"), form.text("of"))]
    return form.all("column")


@router.post("/projects/{id}/columns/suggested")
def take_suggested(work: Working) -> Response:
    """What was suggested for one column, its operation and hierarchy too."""
    found, name = load_findings(work), work.form.text("column")
    row = next((one for one in all_rows(work, found) if one.name == name and one.suggested), None)
    if row is None:
        raise NotFound()
    role, spec = row.suggested, found.suggested_specs.get(name, {})
    said = _said_of(work, [name], role_word(work.words, role))
    return work.save(lambda part: column_edit.take(part, name, spec, role), back_to(work), said)


def _said_of(work: ProjectPage, names: Sequence[str], word: str) -> str:
    if len(names) == 1:
        return work.say("{column}: {role}", column=names[0], role=word)
    return work.say("{n} columns: {role}", n=work.words.integer(len(names)), role=word)


@router.post("/projects/{id}/columns/suggestions")
def accept(work: Working) -> Response:
    """Take over what was suggested: for columns without a role, or instead of everything that is said."""
    found = load_findings(work)
    suggestion = found.suggestion or {}

    def change(part: Document) -> None:
        if work.form.text("which") == "all":
            for key in ("columns", "rest", *UNITS):
                part.put(key, None)
        column_edit.accept(part, suggestion, [column["name"] for column in found.columns])

    return work.save(change, back_to(work), work.say("The suggestions are taken over."))


@router.post("/projects/{id}/columns/rest")
def set_rest(work: Working) -> Response:
    """What becomes of columns that have no role."""
    wanted = work.form.text("rest")
    return work.save(lambda part: part.put("rest", wanted if wanted in ("drop", "insensitive") else None), back_to(work))


@router.post("/projects/{id}/columns/person")
def set_person(work: Working) -> Response:
    """Whose rows these are."""
    kind, _, name = work.form.text("unit").partition(":")

    def change(part: Document) -> None:
        for key in UNITS:
            part.put(key, None)
        if kind == ROWS:
            part.put("person", ROWS)
        elif kind in UNITS and name:
            part.put(kind, name)

    return work.save(change, back_to(work))


@router.api_route("/projects/{id}/columns/meter", methods=ASKED)
def meter(work: Working) -> Response:
    """How many are unique on the quasi-identifiers, and what is published that singles people out."""
    answer, problem = None, None
    try:
        answer = singled_out.read_singled_out(work.call, work.id, work.table)
    except Forbidden:
        pass
    except VeladoError as error:
        problem = problems.ProblemPart(**problems.part(error, work.words.code))
    warned = [] if answer is None else [one for one in answer.published if one["dangers"] and not one["accepted"]]
    said = {name: column_edit.said_of(work.part, name) for name in _published_names(answer)}
    accepted = [] if answer is None else [one for one in answer.published if one["dangers"] and one["accepted"]]
    return work.show(
        "columns_meter.html",
        "columns",
        answer=answer,
        problem=problem,
        warned=warned,
        accepted=accepted,
        edit=work.can("project.edit"),
        shares=_shares(answer),
        suggested=_operations_suggested(work, warned),
        assumed=[] if answer is None else known_to_others.list_assumptions(answer.published, said, work.words),
    )


def _published_names(answer: singled_out.SingledOutAnswer | None) -> list[str]:
    return [] if answer is None else [str(one["column"]) for one in answer.published]


def _operations_suggested(work: ProjectPage, warned: Sequence[Mapping[str, Any]]) -> set[str]:
    """Of columns that single people out, those for which an operation was suggested in the role that they have."""
    told = load_findings(work).suggested_specs if warned else {}
    roles = {one["column"]: one["role"] for one in warned}
    return {name for name, role in roles.items() if told.get(name, {}).get("operation") and told[name].get("role") == role}


def _shares(answer: singled_out.SingledOutAnswer | None) -> dict[str, float]:
    """Which share of all a count is, as far as both are told."""
    whole = answer.records if answer is not None and isinstance(answer.records, int) else 0
    if answer is None or not whole:
        return {}
    counts = {"": answer.singled_out, **answer.without}
    return {name: count / whole for name, count in counts.items() if isinstance(count, int)}


@router.api_route("/projects/{id}/columns/problems", methods=ASKED)
def column_problems(work: Working) -> Response:
    """What is wrong with what is said of the columns."""
    found: list[problems.ProblemPart] = []
    try:
        found = [one for one in checks.check_project(work.call, work.id).problems if _about_columns(one, work.table)]
    except (Forbidden, Conflict):
        pass
    except VeladoError as error:
        found = [problems.ProblemPart(**problems.part(error, work.words.code))]
    return work.show("columns_problems.html", "columns", problems=found)


def _about_columns(one: problems.ProblemPart, table: str | None) -> bool:
    path = str((one.fields or {}).get("path", ""))
    begin = "" if table is None else f"tables.{table}."
    return path.startswith((f"{begin}columns", f"{begin}rest", f"{begin}person", f"{begin}household", "attributes", "joinable"))


def _fits(row: ColumnRow, text: str, role: str) -> bool:
    if role and not (row.differs if role == DIFFERS else row.said.role == role):
        return False
    words = plain(" ".join((row.name, row.reason, str(row.about.get("content") or ""), str(row.about.get("topic") or ""))))
    return all(word in words for word in plain(text).split())


def _sort_rows(rows: list[ColumnRow], by: str) -> list[ColumnRow]:
    key = SORTS.get(by)
    if key is None:
        return sorted(rows, key=lambda row: plain(row.name)) if by == "name" else rows
    # A count that is not told is small.
    return sorted(rows, key=lambda row: -(n if isinstance(n := row.about.get(key), int) else 0.5 if n else -1))
