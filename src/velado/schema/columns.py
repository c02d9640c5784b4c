"""Columns and their roles.

The four roles are those of the field: an *identifier* names a person and never leaves; a
*quasi-identifier* can be linked with outside knowledge and is recoded; a *sensitive* column is
what an attacker wants to learn and is what diversity and closeness models protect; an
*insensitive* column passes through.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from velado.dates import Formats, is_format
from velado.errors import InputError, Problems, short_repr
from velado.operations import operation_from
from velado.results import Discreet
from velado.sentences import Sentence
from velado.spelling_variants import VARIANTS
from velado.tables import Header, unknown_column

Role = Literal["identifier", "quasi-identifier", "sensitive", "insensitive"]
ROLES: tuple[str, ...] = get_args(Role)
TYPES = ("text", "integer", "number", "date")
MISSING_RULES = ("own-category", "reject")
REST = ("drop", "insensitive")
EXPOSURE = ("", "accepted")
KNOWN = ("", "possibly", "never")
"""Whether others may know what a published column holds; quasi-identifiers are known."""


@dataclass(frozen=True, repr=False)
class Column(Discreet):
    """A column as the owner describes it.

    ``hierarchy`` is what `velado.hierarchies.build` understands: a mapping from a project file or
    a `Hierarchy`. ``format`` is that of dates, or a list of the formats that occur. ``variants`` says whether spellings of one sensitive value (``HIV``, ``hiv``) are judged as one: fold, or
    distinct. ``missing`` says what a missing value means in a quasi-identifier: a category of
    its own, or a reason to refuse the table. ``operation`` is what `velado.operations.operation_from` understands;
    identifiers are suppressed if nothing is said. Columns of several tables with the same ``attribute`` (default: the
    name) are treated alike. A column without a role needs an operation, and a project without models. ``exposure``:
    accepted, if a column that singles people out is to be published all the same. ``known``: whether others may know what
    it holds: possibly, or never, if only the person and the keeper of the table do; if nothing is said, its role and values
    decide (`velado.recognition.public_knowledge`).
    """

    NAMES: ClassVar[tuple[str, ...]] = ("name", "role", "type")
    name: str
    role: str = ""
    type: str = "text"
    hierarchy: Any = None
    format: Formats = None
    missing: str = "own-category"
    operation: Any = None
    attribute: str = ""
    variants: str = "fold"
    exposure: str = ""
    known: str = ""

    def __post_init__(self) -> None:
        problems = Problems(self.name)
        if not self.role and self.operation is None:
            hint = Sentence("Choose one of: {known}.", known=ROLES)
            problems.add(InputError("column-without-role", "the column has no role", hint=hint))
        for key, code, what, value, known in (
            ("role", "bad-role", "role", self.role or "identifier", ROLES),
            ("type", "bad-type", "type", self.type, TYPES),
            ("missing", "bad-missing-rule", Sentence("missing rule"), self.missing, MISSING_RULES),
            ("variants", "bad-variants", "variants", self.variants, VARIANTS),
            ("exposure", "bad-exposure", "exposure", self.exposure, EXPOSURE),
            ("known", "bad-known", "known", self.known, KNOWN),
        ):
            if value not in known:
                message = Sentence("unknown {what} {given}", what=what, given=repr(value))
                hint = Sentence("Choose one of: {known}", known=list(filter(None, known)))
                problems.add(InputError(code, message, hint=hint), key)
        with problems.at("format"):
            self._check_format()
        with problems.at("operation"):
            self._set_operation()
        if not isinstance(self.attribute, str):
            message = Sentence("an attribute is a name, got {given}", given=repr(self.attribute))
            problems.add(InputError("bad-attribute", message), "attribute")
        problems.raise_if_any()
        object.__setattr__(self, "attribute", self.attribute or self.name)
        self._check_role(problems)
        problems.raise_if_any()

    def _check_role(self, problems: Problems) -> None:
        """What is said of the column goes with its role."""
        if self.operation is not None and self.operation.name == "drop" and self.role not in ("identifier", ""):
            message = Sentence("'operation: drop' is for identifiers, and the role is {role}", role=self.role)
            hint = "Give the column the role identifier, or leave the operation out."
            problems.add(InputError("bad-operation", message, hint=hint), "operation")
        if self.missing == "reject" and self.role not in ("quasi-identifier", "sensitive"):
            message = Sentence("'missing: reject' is for quasi-identifiers and sensitive columns")
            problems.add(InputError("bad-missing-rule", message), "missing")
        if self.variants != "fold" and self.role != "sensitive":
            problems.add(InputError("bad-variants", "'variants' is for sensitive columns"), "variants")
        if self.exposure and self.role in ("identifier", "quasi-identifier"):
            message = Sentence(
                "'exposure: {exposure}' is for columns that pass through, and this is a {role}",
                exposure=self.exposure,
                role=self.role,
            )
            hint = "Leave it out, or give the column the role sensitive or insensitive."
            problems.add(InputError("bad-exposure", message, hint=hint), "exposure")
        if self.known and self.role in ("identifier", "quasi-identifier"):
            message = Sentence(
                "'known: {known}' is for columns that pass through, and this is a {role}", known=self.known, role=self.role
            )
            hint = "Leave it out: quasi-identifiers are known to others, and identifiers are not published."
            problems.add(InputError("bad-known", message, hint=hint), "known")

    def _check_format(self) -> None:
        """A format that no date can have, such as one that names the year twice, is told at once."""
        given = self.format
        if given is None:
            return
        formats = [given] if isinstance(given, str) else given
        good = isinstance(formats, Sequence) and bool(formats) and all(map(is_format, formats))
        if not good or len(set(formats)) < len(formats):
            raise InputError(
                "bad-format",
                Sentence("'format' must be a format of dates, or a list of different ones, got {given}", given=short_repr(given)),
                hint='For example format: "%d/%m/%Y", or format: ["%d/%m/%Y", "%Y-%m-%d"].',
            )
        object.__setattr__(self, "format", formats[0] if len(formats) == 1 else tuple(formats))

    def _set_operation(self) -> None:
        given = "suppress" if self.operation is None and self.role == "identifier" else self.operation
        if given is not None:
            object.__setattr__(self, "operation", operation_from(given))


class Schema(Mapping[str, Column]):
    """The columns of a table in table order.

    >>> schema = Schema([Column("age", "quasi-identifier"), Column("ill", "sensitive")])
    >>> schema.names("quasi-identifier")
    ['age']
    """

    def __init__(self, columns: Iterable[Column]) -> None:
        self._columns: dict[str, Column] = {}
        for c in columns:
            if c.name in self._columns:
                raise InputError("duplicate-column", "the column is described twice", column=c.name)
            self._columns[c.name] = c

    def __getitem__(self, name: str) -> Column:
        return self._columns[name]

    def __iter__(self) -> Any:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def names(self, role: str) -> list[str]:
        """Names of the columns with a role, in table order."""
        return [c.name for c in self._columns.values() if c.role == role]

    def fit_header(self, header: list[str], rest: str | None, file: str | None = None) -> Schema:
        """This schema in the order of a table's header, every column with a role.

        Columns that the schema does not mention are an error unless ``rest`` is ``drop`` or
        ``insensitive``: nothing is published by accident.
        """
        names = Header.of(header)
        names.check(file)
        problems = Problems()
        for name in self._columns:
            if name not in header:
                error = unknown_column(name, header, tuple(self._columns), file)
                problems.add(error, "columns", name)
                if error.code != "unknown-column":
                    # The table has no names: that is told once.
                    break
        if rest not in (None, *REST):
            message = Sentence("'rest' must be drop or insensitive, got {given}", given=repr(rest))
            problems.add(InputError("bad-rest", message), "rest")
        silent = [name for name in header if name not in self._columns]
        if silent and rest is None:
            message = Sentence("no role is given for: {columns}", columns=names.describe_names(silent))
            hint = (
                "Give each column a role (identifier, quasi-identifier, sensitive, insensitive), "
                "or write 'rest: drop' or 'rest: insensitive'."
            )
            problems.add(InputError("column-without-role", message, file=file, hint=hint), "columns")
        problems.raise_if_any()
        columns = []
        for name in header:
            if name in self._columns:
                columns.append(self._columns[name])
            elif rest == "drop":
                columns.append(Column(name, "identifier", operation="drop"))
            else:
                columns.append(Column(name, "insensitive"))
        return Schema(columns)
