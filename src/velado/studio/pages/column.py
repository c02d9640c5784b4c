"""One column: how it is read, what becomes of its values, and what several tables have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Response

from velado.errors import VeladoError
from velado.schema.columns import MISSING_RULES, TYPES, Column
from velado.sentences import Sentence
from velado.service.errors import NotFound, Refused
from velado.service.web import problems
from velado.service.web.resources import members, sources
from velado.studio import described, operations, parameters
from velado.studio.looked import Row, all_rows, back_to, look, role_choices, role_word, type_word
from velado.studio.visit import PageRoute
from velado.studio.work import Work, Working
from velado.twins import TWINS

router = APIRouter(route_class=PageRoute)
VALUES = 8
LOOKED_AT = 200
NO_OPERATION = "none"


@router.get("/projects/{id}/column")
def show_column(work: Working, column: str = "", operation: str | None = None, values: bool = False) -> Response:
    """All that can be said of a column."""
    if not column:
        return work.go(work.address("columns"))
    return _shown(work, column, operation, values)


@router.post("/projects/{id}/column")
def describe(work: Working, column: str) -> Response:
    """How a column is read, and what is said of it beside its role and operation."""
    rows, place = _seen(work, column)
    said = rows[place].said
    changes = _changes(work, said)
    try:
        _check(column, {**said.spec, **changes})
    except VeladoError as error:
        return _shown(work, column, wrong=_told(work, error), typed=changes)

    def change(document: described.Document) -> None:
        described.put(document, work.table, column, changes)
        weight = work.form.text("weight")
        if "weight" in work.form:
            _weigh(described.part_of(document, work.table), column, weight)

    return work.save(change, work.address("column", column=column), work.say("Saved."), whole=True)


@router.post("/projects/{id}/column/operation")
def operate(work: Working, column: str) -> Response:
    """What is done to the values of a column."""
    rows, place = _seen(work, column)
    said = rows[place].said
    name = work.form.text("operation")
    back = work.address("column", column=column)
    if name == NO_OPERATION:
        return work.save(_operation(work, column, None), back, work.say("The column has no operation now."), whole=True)
    offered = operations.offered(said, _type(rows[place]), _light(work), work.words)
    entry = next((one for one in offered if one["name"] == name), None)
    if entry is None:
        raise NotFound()
    given = operations.read(entry, work.form, said.arguments if name == said.operation else {})
    try:
        operations.check(name, given)
        _make_secret(work)
    except VeladoError as error:
        return _shown(work, column, name, wrong_operation=_told(work, error), arguments=given)
    said_so = work.say("{column}: {role}", column=column, role=entry["title"])
    return work.save(_operation(work, column, operations.spec_of(name, given)), back, said_so, whole=True)


@router.post("/projects/{id}/column/published")
def publish(work: Working, column: str) -> Response:
    """Publish a column although it singles people out, or take that back."""
    wanted = "knowingly" if work.form.text("published") else None

    def change(document: described.Document) -> None:
        described.put(document, work.table, column, {"published": wanted})

    return work.save(change, back_to(work), whole=True)


@router.post("/projects/{id}/column/attribute")
def attribute(work: Working, column: str) -> Response:
    """Which attribute of several tables a column is of, and whether it is described once for all of them."""
    if work.table is None:
        raise NotFound()
    table, what, name = work.table, work.form.text("what"), work.form.text("attribute")

    def change(document: described.Document) -> None:
        said = described.said_of(document, table, column)
        if what == "share":
            described.share(document, table, column)
        elif what == "unshare":
            described.unshare(document, said.attribute)
        elif what in ("join", "unjoin"):
            described.join(document, said.attribute, what == "join")
        else:
            described.put(document, table, column, {"attribute": name if name and name != column else None})

    return work.save(change, work.address("column", column=column), work.say("Saved."), whole=True)


def _shown(
    work: Work,
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
    rows, place = _seen(work, column)
    row, said = rows[place], rows[place].said
    offered = operations.offered(said, _type(row), _light(work), work.words)
    chosen = operation or said.operation or NO_OPERATION
    entry = next((one for one in offered if one["name"] == chosen), None)
    given = arguments if arguments is not None else said.arguments if chosen == said.operation else {}
    names = [one.name for one in rows if one.name != column]
    method = work.part.get("method")
    weighs = (
        isinstance(method, Mapping) and "mondrian" in method and said.role == "quasi-identifier"
    ) or method == "mondrian"
    weights = ((method.get("mondrian") or {}).get("weights") or {}) if isinstance(method, Mapping) else {}
    return work.show(
        "column.html", "columns", 422 if wrong or wrong_operation else 200, row=row, told=said, spec={**said.spec, **(typed or {})},
        before=rows[place - 1].name if place else None, after=rows[place + 1].name if place + 1 < len(rows) else None,
        roles=role_choices(work), role_word=role_word(work.words, said.role), suggested_word=role_word(work.words, row.suggested or said.role), types=TYPES, type_of=type_word, missing_rules=MISSING_RULES, twins=TWINS,
        offered=offered, chosen=chosen if entry else NO_OPERATION, has=said.operation or NO_OPERATION,
        form=None if entry is None else operations.form_of(entry, given, work.words, names),
        secrets=[one.name for one in members.list_secrets(work.call, work.id).items] if entry else [],
        wrong=wrong or [], wrong_operation=wrong_operation or [], values=_values(work, column) if values else None,
        edit=work.can("project.edit"), see=work.can("records.read") and said.role != "identifier" and row.there,
        weight=weights.get(column) if weighs else None, weighs=weighs, light=_light(work),
        others=[one for one in described.columns_of(work.document, said.attribute) if one != (work.table, column)],
        attributes=sorted({*(work.document.get("attributes") or {}), *_attributes(work)}),
        joinable=said.attribute in (work.document.get("joinable") or ()),
    )  # fmt: skip


def _seen(work: Work, column: str) -> tuple[list[Row], int]:
    """All columns of the table, and the place of one of them."""
    rows = all_rows(work, look(work))
    for place, row in enumerate(rows):
        if row.name == column:
            return rows, place
    raise NotFound()


def _values(work: Work, column: str) -> list[str | None]:
    """Some different values of a column, from its first rows; the reading is written down."""
    source = work.source
    if source is None:
        return []
    page = sources.get_rows(source.id, work.call, offset=0, limit=LOOKED_AT)
    place = page.columns.index(column)
    return list(dict.fromkeys(row[place] for row in page.rows))[:VALUES]


def _changes(work: Work, said: described.Said) -> dict[str, Any]:
    """What the form says, where it differs from what is so by default."""
    form = work.form
    found: dict[str, Any] = {}
    if "type" in form:
        found["type"] = None if form.text("type") in ("", "text") else form.text("type")
        formats = [one.strip() for one in form.text("format").split("|") if one.strip()]
        found["format"] = None if not formats else formats[0] if len(formats) == 1 else formats
    for key, usual in (("missing", "own-category"), ("twins", str(work.part.get("twins") or "fold"))):
        if key in form:
            found[key] = None if form.text(key) == usual else form.text(key)
    if said.role in ("sensitive", "insensitive"):
        found["published"] = "knowingly" if form.text("published") else None
    return found


def _check(column: str, spec: Mapping[str, Any]) -> None:
    """Raise what cannot be said of a column."""
    told = {key: value for key, value in spec.items() if value is not None and key not in ("hierarchy", "operation")}
    Column(column, **{"role": "insensitive", **told})


def _operation(work: Work, column: str, spec: Any) -> Any:
    def change(document: described.Document) -> None:
        described.put(document, work.table, column, {"operation": spec})

    return change


def _make_secret(work: Work) -> None:
    """A new secret, if one is asked for; made up by the service, unless its digits are given. One that is there stays."""
    form = work.form
    if form.text("secret") != operations.NEW_SECRET:
        return
    name, digits = form.text("secret-name"), form.text("secret-key") or None
    if name in [one.name for one in members.list_secrets(work.call, work.id).items]:
        if digits is not None:
            raise Refused("name-taken", Sentence("there is a key of this name already"))
        return
    members.put_secret(work.call, work.id, name, members.NewSecret(key=digits), Response())


def _weigh(part: described.Document, column: str, weight: str) -> None:
    """The weight of a column in the method Mondrian."""
    given = part.get("method")
    method = dict(given) if isinstance(given, Mapping) else {str(given): {}}
    inside = dict(method.get("mondrian") or {})
    weights = {name: number for name, number in (inside.get("weights") or {}).items() if name != column}
    if weight:
        weights[column] = parameters.number(weight)
    inside.pop("weights", None)
    part["method"] = {"mondrian": {**inside, **({"weights": weights} if weights else {})}}


def _type(row: Row) -> str:
    return str(row.said.spec.get("type") or row.about.get("type") or "text")


def _light(work: Work) -> bool:
    return work.part.get("anonymization") == "light"


def _attributes(work: Work) -> list[str]:
    return [
        str(described.own_of(given).get("attribute") or name)
        for part in (work.document.get("tables") or {}).values()
        for name, given in (part.get("columns") or {}).items()
    ]


def _told(work: Work, error: VeladoError) -> list[problems.ProblemPart]:
    return [problems.ProblemPart(**problems.part(one, work.words.code)) for one in (error, *error.others)]
