"""Columns of an Anonylitics project: roles, types, and the four operations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from velado.errors import InputError
from velado.hierarchies import Hierarchy
from velado.project.importers.anonylitics.language import OPERATIONS, ROLES, TRUTHS, TYPES, Part, fold
from velado.sentences import Sentence

COLUMN_KEYS = ("column_name", "data_type", "attribute_type", "keep_data_type", "operation")
ORIGINS = ("initial_val", "origin_val")
KEY = "env:VELADO_KEY"


@dataclass(frozen=True)
class Converted:
    """A column as a project file describes it; ``keep`` says whether a recoded number must stay one, if it matters."""

    part: Part
    spec: dict[str, Any]
    keep: bool | None = None


@dataclass(frozen=True)
class _Column:
    """What the file says about a column. ``full``: models are checked on the table."""

    part: Part
    role: str
    numeric: bool
    full: bool

    @property
    def is_recoded(self) -> bool:
        """Whether the method recodes the column."""
        return self.full and self.role == "quasi-identifier"

    @property
    def table(self) -> Part:
        """The parameters of the operation; those of identifiers are not shown."""
        return self.part.at("operation").at("parametrization", hidden=self.role == "identifier")

    def spec(self, **more: Any) -> dict[str, Any]:
        """The column with its role and type."""
        typed = {"type": "number"} if self.numeric else {}
        return {"role": self.role, **typed, **{k: v for k, v in more.items() if v is not None}}


def convert_column(part: Part, full: bool) -> Converted:
    """Convert a column, with remarks about what does not fit."""
    role = _role(part)
    replace(part, hidden=role == "identifier").keys(COLUMN_KEYS)
    column = _Column(part, role, _numeric(part), full)
    name = _operation(column)
    spec = HANDLERS[name](column)
    return Converted(part, spec, _keep(replace(column, role=spec["role"]), name))


def _role(part: Part) -> str:
    given = part.at("attribute_type")
    role = ROLES.get(fold(given.value))
    if role is None:
        say = given.say_unknown if given.value else given.say_to_do
        say("Say what the column is. Until then it is an identifier, which is suppressed.")
    return role or "identifier"


def _numeric(part: Part) -> bool:
    given = part.at("data_type")
    if given.value is not None and fold(given.value) not in TYPES:
        given.say_unknown("The types are Numérico and Categórico; the values decide whether they are numbers.")
    return TYPES.get(fold(given.value)) == "number"


def operation_part(part: Part) -> Part:
    """Where the name of a column's operation stands: in an object, or alone."""
    given = part.at("operation")
    return given.at("name") if isinstance(given.value, dict) else given


def _operation(column: _Column) -> str:
    if isinstance(column.part.at("operation").value, dict):
        replace(column.part.at("operation"), hidden=column.role == "identifier").keys(("name", "parametrization"))
    at = operation_part(column.part)
    if fold(at.value) not in OPERATIONS:
        at.say_unknown(
            "The operations are Sustituir, Suprimir, Generalizar and Cifrar. It is not known, so the column is suppressed."
        )
        return "unknown"
    return OPERATIONS[fold(at.value)]


def _keep(column: _Column, operation: str) -> bool | None:
    given = column.part.at("keep_data_type")
    if given.value is None or not column.numeric:
        return None
    keep = given.value if isinstance(given.value, bool) else TRUTHS.get(fold(given.value))
    if keep is None:
        given.say_unknown("It must be true or false; true was assumed.")
        keep = True
    if column.is_recoded:
        return keep
    if keep and operation in ("substitute", "encrypt"):
        given.say_left_out("What the operation writes is text.")
    return None


def _none(column: _Column) -> dict[str, Any]:
    at = operation_part(column.part)
    if column.role == "identifier" and column.part.at("attribute_type").value:
        at.say_adapted("Velado never publishes an identifier as it is: it is suppressed.")
    elif column.is_recoded:
        at.say_adapted("Quasi-identifiers always take part in the recoding, this one too.")
    if column.table.value:
        column.table.say_left_out("Parameters without an operation.")
    return column.spec()


def _unknown(column: _Column) -> dict[str, Any]:
    return column.spec() if column.is_recoded else column.spec(operation="suppress")


def _suppress(column: _Column) -> dict[str, Any]:
    """Suppression removes the column (thesis, 2.4.1)."""
    if column.role != "identifier":
        operation_part(column.part).say_adapted(
            "A suppressed column is left out of the release; for that its role was written as identifier."
        )
    if column.table.value:
        column.table.say_left_out("Suppression has no parameters.")
    return replace(column, role="identifier").spec(operation="drop")


def _encrypt(column: _Column) -> dict[str, Any]:
    at = operation_part(column.part)
    if column.is_recoded:
        at.say_left_out(
            "Quasi-identifiers are recoded by the method and cannot be encrypted as well: encrypt the column with a project "
            "of operations before or after."
        )
        return column.spec()
    if column.table.value:
        column.table.say_left_out("Encryption has no parameters in the language.")
    at.say_to_do("Make a key with 'velado key FILE' and put it into the variable VELADO_KEY, or say where it is in 'key'.")
    return column.spec(operation={"encrypt": {"key": KEY}})


def _substitute(column: _Column) -> dict[str, Any]:
    at = operation_part(column.part)
    if column.is_recoded:
        at.say_left_out(
            "Quasi-identifiers are recoded by the method and cannot be substituted as well: substitute the column with a "
            "project of operations first."
        )
        return column.spec()
    table = _pairs(column)
    if not table:
        at.say_to_do("No value has a substitute, so the column is suppressed. Write a table: substitute: {file: codes.csv}.")
        return column.spec(operation="suppress")
    if column.role == "identifier":
        at.say_adapted("The project file now holds values of an identifier: keep it private, or move them to a 'file'.")
    return column.spec(operation={"substitute": {"map": table}})


def _pairs(column: _Column) -> dict[str, str]:
    """Value and substitute; figure 17 calls the value initial_val, figure 18 origin_val."""
    table: dict[str, str] = {}
    for pair in _entries(column.table):
        found = pair.keys((*ORIGINS, "target_val")) if isinstance(pair.value, dict) else {}
        origins = [found[k] for k in ORIGINS if _is_value(found.get(k))]
        if len(origins) != 1 or not _is_value(found.get("target_val")):
            pair.say_unknown("A substitution has one initial_val (or origin_val) and one target_val; it was not taken.")
            continue
        origin, target = str(origins[0]), str(found["target_val"])
        if table.setdefault(origin, target) != target:
            pair.say_unknown("The value has another substitute already; the first one counts.")
    return table


def _generalize(column: _Column) -> dict[str, Any]:
    rows = _levels(column)
    at = operation_part(column.part)
    if column.is_recoded:
        if rows and column.numeric:
            column.table.say_adapted("Mondrian cuts numbers between values; the hierarchy serves methods with levels only.")
        elif not rows and not column.numeric:
            at.say_to_do("There is no hierarchy: values stay or become '*'. Describe one with 'hierarchy'.")
        return column.spec(hierarchy={"rows": rows} if rows else None)
    if not rows or column.role == "identifier":
        at.say_adapted("Only quasi-identifiers are generalized, and only where models are checked, so the column is suppressed.")
        return column.spec(operation="suppress")
    at.say_adapted(
        "Only quasi-identifiers are generalized, and only where models are checked: every value is substituted by its "
        "first level instead."
    )
    return column.spec(operation={"substitute": {"map": {row[0]: row[1] for row in rows}}})


def _levels(column: _Column) -> list[list[str]]:
    """Rows value, level 1, …; the value at level 0, where it is given, is the value itself."""
    found: dict[str, dict[int, str]] = {}
    for entry in _entries(column.table):
        if not isinstance(entry.value, dict):
            entry.say_unknown("A hierarchy maps each value to a list of levels; it was not taken.")
            continue
        for value, listed in entry.value.items():
            at = replace(entry, path=f"{entry.path}.{value}" if not entry.hidden else entry.path, value=listed)
            levels = _row(at)
            if levels.get(0) == value:
                del levels[0]
            if not levels or found.setdefault(value, levels) != levels:
                at.say_unknown("A value needs levels, and only once; it was not taken.")
    found = {value: levels for value, levels in found.items() if levels}
    highest = max((len(levels) for levels in found.values()), default=0)
    rows = []
    for value, levels in found.items():
        named = [levels[x] for x in sorted(levels)]
        if len(named) < highest:
            column.table.say_adapted("Values have different numbers of levels: the last one was repeated where one is lacking.")
        rows.append([value, *named, *[named[-1]] * (highest - len(named))])
    if rows:
        _check(column, rows)
    return rows


def _row(at: Part) -> dict[int, str]:
    levels: dict[int, str] = {}
    for part in _entries(at):
        found = part.keys(("level", "value")) if isinstance(part.value, dict) else {}
        number = _whole(found.get("level"))
        if number is None or not _is_value(found.get("value")) or number in levels:
            part.say_unknown("A level has a number of its own and a value; it was not taken.")
            continue
        levels[number] = str(found["value"])
    return levels


def _check(column: _Column, rows: list[list[str]]) -> None:
    try:
        Hierarchy.from_rows(column.part.text("column_name"), rows)
    except InputError as error:
        column.table.say_to_do(Sentence("Mend the hierarchy before the run: {problem}.", problem=error.message))


def _entries(part: Part) -> list[Part]:
    if not part.value:
        return []
    if not isinstance(part.value, list):
        part.say_unknown("It must be a list; nothing was done with it.")
        return []
    return part.items(Sentence("entries"))


def _whole(level: Any) -> int | None:
    """A whole number; some databases write 1.0."""
    if isinstance(level, float) and level.is_integer():
        level = int(level)
    return int(level) if isinstance(level, (int, str)) and str(level).isdecimal() else None


def _is_value(value: Any) -> bool:
    return isinstance(value, (str, int, float)) and not isinstance(value, bool)


HANDLERS = {
    "none": _none,
    "unknown": _unknown,
    "suppress": _suppress,
    "substitute": _substitute,
    "generalize": _generalize,
    "encrypt": _encrypt,
}
"""What becomes of a column, by operation."""
