"""Substitute values by a table."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from velado.declarations import Declaration
from velado.errors import InputError
from velado.operations.base import Given, OnValues
from velado.parameters import FileName, Substitutes, Word
from velado.results import Discreet
from velado.sentences import Sentence
from velado.tables.files import contents, not_found, path_of


@dataclass(frozen=True, repr=False)
class Substitute(Discreet, OnValues):
    """Every value becomes its substitute, from ``map`` or from a file of two columns (value, substitute; no header).

    A value without a substitute is an error, unless there is a ``default``.
    """

    file: str | None = None
    delimiter: str = ";"
    map: Mapping[Any, Any] | None = field(default=None, repr=False)
    default: str | None = None
    name: ClassVar[str] = "substitute"
    declaration: ClassVar = Declaration(
        title="substitute",
        meaning="Every value becomes the one that a table gives for it.",
        example={"substitute": {"file": "substitutes.csv"}},
    )
    takes_identifiers: ClassVar[bool] = True
    parameters: ClassVar = {
        "file": FileName("file with the table: value, substitute", optional=True),
        "delimiter": Word("delimiter of that file", characters=1, expert=True),
        "map": Substitutes("the table itself"),
        "default": Word("what values without a substitute become", optional=True),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.file is None) == (self.map is None):
            raise InputError(
                "bad-operation",
                "substitute needs either a 'file' or a 'map'",
                hint='For example {substitute: {file: codes.csv, delimiter: ";"}} or {substitute: {map: {a: b}}}.',
            )

        if self.map is not None:
            object.__setattr__(self, "map", {str(k): str(v) for k, v in self.map.items()})

    def describe(self, folder: Path) -> dict[str, Any]:
        """The name of the file; never the table itself."""
        shown = {} if self.file is None else {"file": Path(self.file).name}
        return shown if self.default is None else {**shown, "default": self.default}

    def files(self, folder: Path) -> dict[str, Path]:
        """The file with the table."""
        return {} if self.file is None else {Sentence("the substitutes"): folder / self.file}

    def ready(self, given: Given) -> None:
        """Read the table."""
        self._table(given)

    def labels(self, values: Sequence[str], given: Given) -> Sequence[str]:
        """Look every value up."""
        table = self._table(given)
        gaps = [] if self.default is not None else [v for v in values if v not in table]
        if gaps:
            raise InputError(
                "no-substitute",
                Sentence("{count:,} value(s) have no substitute", count=len(gaps)),
                column=given.column,
                values=given.values_to_show(gaps),
                hint="Add them to the table, or say what they become with 'default'.",
            )
        return [table.get(v, self.default or "") for v in values]

    def _table(self, given: Given) -> dict[str, str]:
        if self.map is not None:
            return dict(self.map)
        path = path_of(self.file, Sentence("the substitutes of the column '{column}'", column=given.column), given.folder)
        try:
            text = contents(path).decode("utf-8-sig")
            rows = [r for r in csv.reader(io.StringIO(text, newline=""), delimiter=self.delimiter, strict=True) if r]
        except FileNotFoundError:
            raise not_found(path, Sentence("substitution table"), given.column, given.folder) from None
        except (OSError, UnicodeDecodeError, csv.Error):
            raise InputError("unreadable-file", "not a readable table in UTF-8", file=path, column=given.column) from None
        wrong = [i for i, row in enumerate(rows, start=1) if len(row) != 2 or not row[0] or not row[1]]
        if wrong or not rows:
            raise InputError(
                "bad-substitutes",
                Sentence("every row needs two fields: value and substitute; row {row} does not have them", row=wrong[0])
                if wrong
                else "every row needs two fields: value and substitute, and there is no row",
                file=path,
                column=given.column,
                hint="Name the delimiter of the file if it is not ';'.",
            )
        table: dict[str, str] = {}
        twice = [value for value, substitute in rows if table.setdefault(value, substitute) != substitute]
        if twice:
            raise InputError(
                "bad-substitutes",
                Sentence("{count:,} value(s) have several substitutes", count=len(twice)),
                file=path,
                column=given.column,
                values=given.values_to_show(twice),
            )
        return table
