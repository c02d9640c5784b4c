"""What an operation on one column is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar

from velado.dates import Formats
from velado.declarations import Declaration
from velado.errors import Note
from velado.operations.treatment import Replacing, Treatment
from velado.parameters import Parameter, check
from velado.tables import ColumnType, Table
from velado.values import Text

OPEN = ("quasi-identifier", "sensitive", "insensitive")
"""Roles of columns whose values an error may show."""


@dataclass(frozen=True)
class Given:
    """The column that is treated. ``attributes`` tells the attribute of every column of its table."""

    column: str
    attribute: str
    role: str = ""
    format: Formats = None
    folder: Path = field(default_factory=Path)
    attributes: Mapping[str, str] = field(default_factory=dict)

    def values_to_show(self, values: Sequence[str]) -> Sequence[str]:
        """The values that an error may show: none of an identifier, or of a column without a role."""
        return sorted(set(values)) if self.role in OPEN else ()


@dataclass(frozen=True)
class Operation(ABC):
    """Something that is done to the values of a column.

    ``hides``: what is left shows no original value. ``erases``: nothing is left to tell values apart.
    ``takes_identifiers``: an identifier may be published after it.
    ``main`` is the parameter that stands alone in the short form, as 10 in ``{round: 10}``.
    """

    name: ClassVar[str]
    declaration: ClassVar[Declaration]
    parameters: ClassVar[Mapping[str, Parameter]] = {}
    hides: ClassVar[bool] = False
    erases: ClassVar[bool] = False
    takes_identifiers: ClassVar[bool] = False
    main: ClassVar[str | None] = None

    def __post_init__(self) -> None:
        check(self)

    def __str__(self) -> str:
        return self.name

    @property
    def per_record(self) -> bool:
        """Whether equal values may become different ones."""
        return False

    @property
    def follows_rows(self) -> bool:
        """Whether what it does to a record follows from its place among the rows and from what the project says."""
        return False

    def spec(self) -> Any:
        """The operation as a project file writes it; what has its default is left out."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if _differs(self, f)}
        return {self.name: values} if values else self.name

    def describe(self, folder: Path) -> dict[str, Any]:
        """The parameters for the manifest: no key, and nothing of the data."""
        return {name: getattr(self, name) for name in self.parameters if getattr(self, name) is not None}

    def notes(self, column: str) -> tuple[Note, ...]:
        """What a user should know of the operation on a column."""
        return ()

    def files(self, folder: Path) -> dict[str, Path]:
        """What the operation reads."""
        return {}

    def ready(self, given: Given) -> None:  # noqa: B027 (most operations need nothing)
        """Raise if something that the operation needs is not there; called before the table is read."""

    @abstractmethod
    def treat(self, table: Table, given: Given) -> Treatment:
        """What becomes of the column of a table."""


@dataclass(frozen=True)
class OnValues(Operation):
    """An operation that maps values: equal ones to equal ones, wherever they stand. Missing values stay missing."""

    def treat(self, table: Table, given: Given) -> Treatment:
        """Map the values that occur."""
        counts, field = table.count([given.column]), table.field(given.column)
        values = counts.dictionaries[0]
        present = [v for v in values if v is not None]
        labels = self.labels(present, given)
        # What a model counts before must be what is read back: the text that the type has for a value.
        own = [field.own(label) for label in labels] if self.keeps_type(field.type) else [None]
        typed = None not in own
        became: dict[Text, Text] = dict(zip(present, own if typed else labels, strict=True))
        return Replacing.of(given, self, counts, [became.get(v) for v in values], typed)

    @abstractmethod
    def labels(self, values: Sequence[str], given: Given) -> Sequence[str]:
        """What becomes of each of some different values."""

    def keeps_type(self, kind: ColumnType) -> bool:
        """Whether the labels of a column of the type ``kind`` are of that type."""
        return False


def _differs(operation: Operation, f: Any) -> bool:
    default = f.default if f.default_factory is MISSING else f.default_factory()
    return default is MISSING or getattr(operation, f.name) != default
