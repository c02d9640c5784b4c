"""One column: how it is read, what becomes of its values, and what several tables have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Response

from velado.errors import VeladoError
from velado.schema.columns import MISSING_RULES, TYPES, Column
from velado.sentences import Sentence
from velado.service.errors import Forbidden, NotFound, Refused
from velado.service.projects import members, singled_out
from velado.service.projects.document import Document
from velado.service.sources import operations as sources
from velado.service.web import problems
from velado.spelling_variants import VARIANTS
from velado.studio.forms import column_edit, operation_form, parameter_form
from velado.studio.project_page import ProjectPage, Working
from velado.studio.request import ASKED, PageRoute
from velado.studio.views import known_to_others
from velado.studio.views.column_profile import ColumnRow, all_rows, back_to, load_findings, role_choices, role_word, type_word

router = APIRouter(route_class=PageRoute)
VALUES = 8
LOOKED_AT = 200
NO_OPERATION = "none"


@router.get("/projects/{id}/column")
def show_column(work: Working, column: str = "", operation: str | None = None) -> Response:
    """All that can be said of a column."""
    if not column:
        return work.go(work.address("columns"))
    return _render(work, column, operation)


@router.post("/projects/{id}/column/values")
def show_values(work: Working, column: str) -> Response:
    """The page of a column with some of its values; that they are read is written down."""
    return _render(work, column, values=True)


@router.post("/projects/{id}/column")
def describe(work: Working, column: str) -> Response:
    """How a column is read, and what is said of it beside its role and operation."""
    rows, place = _find_column(work, column)
    said = rows[place].said
    changes = _changes(work, said)
    try:
        _check(column, {**said.spec, **changes})
    except VeladoError as error:
        return _render(work, column, wrong=_problem_parts(work, error), typed=changes)

    def change(part: Document) -> None:
        part.describe(column, changes)
        if "weight" in work.form:
            _weigh(part, column, work.form.text("weight"))

    return work.save(change, work.address("column", column=column), work.say("Saved."))


@router.post("/projects/{id}/column/operation")
def operate(work: Working, column: str) -> Response:
    """What is done to the values of a column."""
    rows, place = _find_column(work, column)
    said = rows[place].said
    name = work.form.text("operation")
    back = work.address("column", column=column)
    if name == NO_OPERATION:
        return work.save(
            lambda part: part.describe(column, {"operation": None}), back, work.say("The column has no operation now.")
        )
    offered = operation_form.available_operations(said, _type(rows[place]), work.part.is_light, work.words)
    entry = next((one for one in offered if one["name"] == name), None)
    if entry is None:
        raise NotFound()
    given = operation_form.read(entry, work.form, said.arguments if name == said.operation else {})
    try:
        operation_form.check(name, given)
        _make_secret(work)
    except VeladoError as error:
        return _render(work, column, name, wrong_operation=_problem_parts(work, error), arguments=given)
    said_so = work.say("{column}: {role}", column=column, role=entry["title"])
    return work.save(lambda part: part.describe(column, {"operation": operation_form.spec_of(name, given)}), back, said_so)


@router.post("/projects/{id}/column/exposure")
def publish(work: Working, column: str) -> Response:
    """Publish a column although it singles people out, or take that back."""
    wanted = "accepted" if work.form.text("exposure") else None
    return work.save(lambda part: part.describe(column, {"exposure": wanted}), back_to(work))


@router.api_route("/projects/{id}/column/assumed", methods=ASKED)
def show_assumed(work: Working, column: str = "") -> Response:
    """What is assumed of who knows a column of which nothing is said; its values must be read for it."""
    said = {column: column_edit.said_of(work.part, column)}
    found: list[known_to_others.Assumed] = []
    try:
        answer = singled_out.read_singled_out(work.call, work.id, work.table)
        found = known_to_others.list_assumptions(answer.published, said, work.words)
    except (Forbidden, VeladoError):
        pass
    return work.show("column_assumed.html", "columns", assumed=found)


@router.post("/projects/{id}/column/attribute")
def attribute(work: Working, column: str) -> Response:
    """Which attribute of several tables a column is of, and whether it is described once for all of them."""
    if work.table is None:
        raise NotFound()
    table, what, name = work.table, work.form.text("what"), work.form.text("attribute")

    def change(document: Document) -> None:
        part = document.table(table)
        said = column_edit.said_of(part, column)
        if what == "share":
            column_edit.share(part, column)
        elif what == "unshare":
            column_edit.unshare(document, said.attribute)
        elif what in ("join", "unjoin"):
            column_edit.join(document, said.attribute, what == "join")
        else:
            part.describe(column, {"attribute": name if name and name != column else None})

    return work.save(change, work.address("column", column=column), work.say("Saved."), whole=True)


def _render(
    work: ProjectPage,
    column: str,
    operation: str | None = None,
    values: bool = False,
    *,
    wrong: list[problems.ProblemPart] | None = None,
    typed: Mapping[str, Any] | None = None,
    wrong_operation: list[problems.ProblemPart] | None = None,
    arguments: Mapping[str, Any] | None = None,
) -> Response:
    """The page of a column, perhaps with what was typed and cannot be."""
    rows, place = _find_column(work, column)
    row, said = rows[place], rows[place].said
    offered = operation_form.available_operations(said, _type(row), work.part.is_light, work.words)
    chosen = operation or said.operation or NO_OPERATION
    entry = next((one for one in offered if one["name"] == chosen), None)
    given = arguments if arguments is not None else said.arguments if chosen == said.operation else {}
    names = [one.name for one in rows if one.name != column]
    method = work.part.method
    weighs = method.name == "mondrian" and said.role == "quasi-identifier"
    weights = method.parameters.get("weights") or {}
    return work.show(
        "column.html",
        "columns",
        422 if wrong or wrong_operation else 200,
        row=row,
        told=said,
        spec={**said.spec, **(typed or {})},
        before=rows[place - 1].name if place else None,
        after=rows[place + 1].name if place + 1 < len(rows) else None,
        roles=role_choices(work),
        role_word=role_word(work.words, said.role),
        suggested_word=role_word(work.words, row.suggested or said.role),
        types=TYPES,
        type_of=type_word,
        missing_rules=MISSING_RULES,
        variants=VARIANTS,
        offered=offered,
        chosen=chosen if entry else NO_OPERATION,
        has=said.operation or NO_OPERATION,
        form=None if entry is None else operation_form.form_of(entry, given, work.words, names),
        secrets=[one.name for one in members.list_secrets(work.call, work.id).items] if entry else [],
        wrong=wrong or [],
        wrong_operation=wrong_operation or [],
        values=_values(work, column) if values else None,
        edit=work.can("project.edit"),
        see=work.can("records.read") and said.role != "identifier" and row.there,
        weight=weights.get(column) if weighs else None,
        weighs=weighs,
        light=work.part.is_light,
        others=[one for one in column_edit.columns_of(work.document, said.attribute) if one != (work.table, column)],
        attributes=sorted({*work.document.attributes, *_attributes(work)}),
        joinable=said.attribute in work.document.joinable,
        answers=known_to_others.answers(work.words),
        answer=known_to_others.answer_of(said),
        meanings=known_to_others.MEANINGS,
    )


def _find_column(work: ProjectPage, column: str) -> tuple[list[ColumnRow], int]:
    """All columns of the table, and the place of one of them."""
    rows = all_rows(work, load_findings(work))
    for place, row in enumerate(rows):
        if row.name == column:
            return rows, place
    raise NotFound()


def _values(work: ProjectPage, column: str) -> list[str | None]:
    """Some different values of a column, from its first rows; the reading is written down."""
    source = work.source
    if source is None:
        return []
    page = sources.read_rows(work.call, source.id, offset=0, limit=LOOKED_AT)
    place = page.columns.index(column)
    return list(dict.fromkeys(row[place] for row in page.rows))[:VALUES]


def _changes(work: ProjectPage, said: column_edit.Said) -> dict[str, Any]:
    """What the form says, where it differs from what is so by default."""
    form = work.form
    found: dict[str, Any] = {}
    if "type" in form:
        found["type"] = None if form.text("type") in ("", "text") else form.text("type")
        formats = [one.strip() for one in form.text("format").split("|") if one.strip()]
        found["format"] = None if not formats else formats[0] if len(formats) == 1 else formats
    for key, usual in (("missing", "own-category"), ("variants", work.part.variants or "fold")):
        if key in form:
            found[key] = None if form.text(key) == usual else form.text(key)
    if said.role in ("sensitive", "insensitive"):
        found["exposure"] = "accepted" if form.text("exposure") else None
    return found


def _check(column: str, spec: Mapping[str, Any]) -> None:
    """Raise what cannot be said of a column."""
    told = {key: value for key, value in spec.items() if value is not None and key not in ("hierarchy", "operation")}
    Column(column, **{"role": "insensitive", **told})


def _make_secret(work: ProjectPage) -> None:
    """A new secret, if one is asked for; made up by the service, unless its digits are given. One that is there stays."""
    form = work.form
    if form.text("secret") != operation_form.NEW_SECRET:
        return
    name, digits = form.text("secret-name"), form.text("secret-key") or None
    if name in [one.name for one in members.list_secrets(work.call, work.id).items]:
        if digits is not None:
            raise Refused("name-taken", Sentence("there is a key of this name already"))
        return
    members.put_secret(work.call, work.id, name, digits)


def _weigh(part: Document, column: str, weight: str) -> None:
    """The weight of a column in the method Mondrian."""
    method, inside = part.method
    if method != "mondrian":
        return
    weights = {name: number for name, number in (inside.pop("weights", None) or {}).items() if name != column}
    if weight:
        weights[column] = parameter_form.number(weight)
    part.put("method", {method: {**inside, **({"weights": weights} if weights else {})}})


def _type(row: ColumnRow) -> str:
    return str(row.said.spec.get("type") or row.about.get("type") or "text")


def _attributes(work: ProjectPage) -> list[str]:
    return [column.attribute for part in work.document.tables.values() for column in part.columns.values()]


def _problem_parts(work: ProjectPage, error: VeladoError) -> list[problems.ProblemPart]:
    return [problems.ProblemPart(**problems.part(one, work.words.code)) for one in (error, *error.others)]
