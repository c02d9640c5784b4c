"""Columns: what each is, how far it singles people out, and what becomes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import APIRouter, Response

from velado.errors import VeladoError
from velado.operations import OPERATIONS
from velado.service.errors import Conflict, Forbidden, NotFound
from velado.service.web import problems
from velado.service.web.resources import checks, singled_out
from velado.studio import described
from velado.studio.described import CHOICES
from velado.studio.looked import Row, all_rows, back_to, look, role_choices, role_word, type_word
from velado.studio.pages import column
from velado.studio.visit import PageRoute
from velado.studio.words import plain
from velado.studio.work import Work, Working

router = APIRouter(route_class=PageRoute)
router.include_router(column.router)
SHOWN = 200
DIFFERS = "differs"
UNITS = ("person", "household")
SORTS = {"distinct": "distinct", "missing": "missing", "alone": "singled_out"}


@router.get("/projects/{id}/columns")
def columns(work: Working, q: str = "", role: str = "", sort: str = "", offset: int = 0) -> Response:
    """All columns of a table, or those that are looked for."""
    source, found = work.source, look(work)
    rows = all_rows(work, found)
    chosen = _sorted([row for row in rows if _fits(row, q, role)], sort)
    offset = max(0, min(offset, max(0, len(chosen) - 1)))
    counts = {name: sum(row.said.role == name for row in rows) for name in CHOICES}
    counts[DIFFERS] = sum(row.differs for row in rows)
    part = work.part
    return work.show(
        "columns.html", "columns", source=source, rows=chosen[offset : offset + SHOWN], total=len(chosen), offset=offset, limit=SHOWN,
        every=len(rows), counts=counts, wanted=q, of=role, sort=sort, roles=role_choices(work), found=found, rest=part.get("rest") or "",
        unit=unit_of(part), known_operations=OPERATIONS, names=[row.name for row in rows], edit=work.can("project.edit"), words_of=role_word, examples=work.can("records.read"), type_of=type_word,
        choices=[(one, role_word(work.words, one)) for one in CHOICES],
    )  # fmt: skip


@router.post("/projects/{id}/columns")
def set_roles(work: Working, q: str = "", role: str = "") -> Response:
    """Another role for one column, for the chosen ones, or for all that are shown."""
    form, found = work.form, look(work)
    wanted, names = form.text("role"), form.all("column")
    if form.text("which") == "shown":
        names = [row.name for row in all_rows(work, found) if _fits(row, form.text("q"), form.text("of"))]
    if wanted not in CHOICES or not names:
        return work.go(back_to(work), work.say("Nothing is changed: choose columns and a role first."))

    def change(document: described.Document) -> None:
        for name in names:
            described.set_role(document, work.table, name, wanted, found.specs.get(name, {}))

    return work.save(change, back_to(work), _said_of(work, names, wanted), whole=True)


@router.post("/projects/{id}/columns/suggested")
def take_suggested(work: Working) -> Response:
    """What was suggested for one column, its operation and hierarchy too."""
    found, name = look(work), work.form.text("column")
    row = next((one for one in all_rows(work, found) if one.name == name and one.suggested), None)
    if row is None:
        raise NotFound()
    role, spec = row.suggested, found.told.get(name, {})

    def change(document: described.Document) -> None:
        described.take(document, work.table, name, spec, role)

    return work.save(change, back_to(work), _said_of(work, [name], role), whole=True)


def _said_of(work: Work, names: Sequence[str], role: str) -> str:
    word = role_word(work.words, role)
    if len(names) == 1:
        return work.say("{column}: {role}", column=names[0], role=word)
    return work.say("{n} columns: {role}", n=work.words.integer(len(names)), role=word)


@router.post("/projects/{id}/columns/suggestions")
def accept(work: Working) -> Response:
    """Take over what was suggested: for columns without a role, or instead of everything that is said."""
    found = look(work)
    suggestion = found.suggestion or {}

    def change(document: described.Document) -> None:
        part = described.part_of(document, work.table)
        if work.form.text("which") == "all":
            for key in ("columns", "rest", *UNITS):
                part.pop(key, None)
        described.accept(document, work.table, suggestion, [column["name"] for column in found.columns])

    return work.save(change, back_to(work), work.say("The suggestions are taken over."), whole=True)


@router.post("/projects/{id}/columns/rest")
def set_rest(work: Working) -> Response:
    """What becomes of columns that have no role."""
    wanted = work.form.text("rest")

    def change(part: described.Document) -> None:
        part.pop("rest", None)
        if wanted in ("drop", "insensitive"):
            part["rest"] = wanted

    return work.save(change, back_to(work))


@router.post("/projects/{id}/columns/person")
def set_person(work: Working) -> Response:
    """Whose rows these are."""
    kind, _, name = work.form.text("unit").partition(":")

    def change(part: described.Document) -> None:
        for key in UNITS:
            part.pop(key, None)
        if kind == "rows":
            part["person"] = "rows"
        elif kind in UNITS and name:
            part[kind] = name

    return work.save(change, back_to(work))


@router.get("/projects/{id}/columns/meter")
def meter(work: Working) -> Response:
    """How many are unique on the quasi-identifiers, and what is published that singles people out."""
    answer, problem = None, None
    try:
        answer = singled_out.read_singled_out(work.call, work.id, work.table)
    except Forbidden:
        pass
    except VeladoError as error:
        problem = problems.ProblemPart(**problems.part(error, work.words.code))
    warned = [] if answer is None else [one for one in answer.published if one["dangers"] and not one["knowingly"]]
    knowing = [] if answer is None else [one for one in answer.published if one["dangers"] and one["knowingly"]]
    return work.show(
        "columns_meter.html", "columns", answer=answer, problem=problem, warned=warned, knowing=knowing, edit=work.can("project.edit"),
        shares=_shares(answer), suggested=_operations_suggested(work, warned),
    )  # fmt: skip


def _operations_suggested(work: Work, warned: Sequence[Mapping[str, Any]]) -> set[str]:
    """Of columns that single people out, those for which an operation was suggested in the role that they have."""
    told = look(work).told if warned else {}
    roles = {one["column"]: one["role"] for one in warned}
    return {
        name for name, role in roles.items() if told.get(name, {}).get("operation") and told[name].get("role") == role
    }


def _shares(answer: singled_out.SingledOut | None) -> dict[str, float]:
    """Which share of all a count is, as far as both are told."""
    whole = answer.records if answer is not None and isinstance(answer.records, int) else 0
    if answer is None or not whole:
        return {}
    counts = {"": answer.singled_out, **answer.without}
    return {name: count / whole for name, count in counts.items() if isinstance(count, int)}


@router.get("/projects/{id}/columns/problems")
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
    return path.startswith(
        (f"{begin}columns", f"{begin}rest", f"{begin}person", f"{begin}household", "attributes", "joinable")
    )


def unit_of(part: Mapping[str, Any]) -> tuple[str, str]:
    """What is said about whose rows these are: the kind and the column."""
    for kind in UNITS:
        if part.get(kind):
            return ("rows", "") if part[kind] == "rows" else (kind, str(part[kind]))
    return "", ""


def _fits(row: Row, text: str, role: str) -> bool:
    if role and not (row.differs if role == DIFFERS else row.said.role == role):
        return False
    words = plain(
        " ".join((row.name, row.reason, str(row.about.get("content") or ""), str(row.about.get("topic") or "")))
    )
    return all(word in words for word in plain(text).split())


def _sorted(rows: list[Row], by: str) -> list[Row]:
    key = SORTS.get(by)
    if key is None:
        return sorted(rows, key=lambda row: plain(row.name)) if by == "name" else rows
    # A count that is not told is small.
    return sorted(rows, key=lambda row: -(n if isinstance(n := row.about.get(key), int) else 0.5 if n else -1))
