"""Headers: names of columns, unless the first line of a file is the data of a person.

Text tables and sheets say the names of their columns in the first line. Where that line was forgotten, the first person
stands in its place: messages must not repeat it, and a release must not publish it.
"""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from velado.errors import InputError, suggest
from velado.sentences import Sentence, join_sentences
from velado.tables.formats.names import HEADERLESS, like_value

ROWS, CELLS = 1000, 200_000
"""Rows and cells that are looked at."""
NEAR = 0.6
"""How alike names must be if nothing else says that the first line holds names."""

First = Callable[[], Iterable[Sequence[Any]]]


class Header(list[str]):
    """The names of a table's columns. ``first`` gives rows below them where they are the first line of a file, ``written``
    what that line says, where names were numbered.

    >>> Header(["Ana", "34", "flu"], lambda: [["Rui", "51", "flu"]]).doubtful
    (2, 3)
    """

    def __init__(self, names: Iterable[str], first: First | None = None, written: Sequence[str] = ()) -> None:
        super().__init__(names)
        self._first, self._written = first, written or self

    @classmethod
    def of(cls, names: Sequence[str]) -> Header:
        """The header itself, or a list of names that nobody doubts."""
        return names if isinstance(names, Header) else cls(names)

    @cached_property
    def _repeated_places(self) -> set[int]:
        """Places of names that are also values of their own columns."""
        if self._first is None:
            return set()
        rows = itertools.islice(self._first(), max(1, min(ROWS, CELLS // max(len(self), 1))))
        return {
            i
            for row in rows
            for i, (name, cell) in enumerate(zip(self._written, row, strict=False), 1)
            if name == cell and name.strip()
        }

    @cached_property
    def doubtful(self) -> tuple[int, ...]:
        """Places of names that look like values: numbers, dates, addresses, or values of their own columns."""
        if self._first is None:
            return ()
        odd = {i for i, name in enumerate(self._written, 1) if name.strip() and like_value(name)}
        return tuple(sorted(odd | self._repeated_places))

    @property
    def lacking(self) -> bool:
        """Whether the first line is data: most names look like it, or several are values of their columns."""
        return 2 * len(self.doubtful) > len(self) or len(self._repeated_places) > 1

    def check(self, file: str | None = None) -> None:
        """Refuse a table whose first line is data."""
        if self.lacking:
            raise no_header(self, file)

    def describe_names(self, names: Iterable[str]) -> Sentence | list[str]:
        """Some of the names for a message, or their places if they may be data."""
        if not self.doubtful:
            return list(names)
        return Sentence("columns {places}", places=[self.index(name) + 1 for name in names])

    def near(self, wrong: str, wanted: Sequence[str]) -> Sentence:
        """A hint with names like the wrong one; without any if the first line may be data."""
        if self.doubtful:
            return join_sentences(" ", (Sentence("Is the first line data?"), no_header(self).hint))
        if self._first is None or 2 * sum(name in self for name in wanted) >= len(wanted):
            return suggest(wrong, self)
        alike = difflib.get_close_matches(wrong, self, n=3, cutoff=NEAR)
        if alike:
            return suggest(wrong, alike)
        return Sentence("Does the first line hold the names of the columns? See velado inspect.")


def no_header(header: Header, file: str | None = None) -> InputError:
    """The error for a table without names of columns. It does not repeat the first line."""
    return InputError(
        "no-header",
        "the first line looks like data, not like names of columns",
        file=file,
        hint=Sentence(
            "{headerless} The columns are then called column_1, column_2, … Or put a line with the names of the columns "
            "above the data. If it is such a line, rename the columns whose names are numbers, addresses or values of their "
            "own column: {places}.",
            headerless=HEADERLESS,
            places=header.doubtful,
        ),
    )


def unknown_column(
    name: str,
    header: Sequence[str],
    wanted: Sequence[str],
    file: str | None = None,
    message: str = "the table has no such column",
    hint: str = "",
) -> InputError:
    """The error for one of the ``wanted`` columns that a table does not have."""
    names = Header.of(header)
    if names.lacking:
        return no_header(names, file)
    hints = join_sentences(" ", filter(None, (names.near(name, wanted), Sentence(hint))))
    return InputError("unknown-column", message, column=name, file=file, hint=hints)


def sheet_rows(table: Any) -> Iterator[list[str]]:
    """The first rows of an Arrow table as texts."""
    columns = [column.slice(0, ROWS).to_pylist() for column in table.columns]
    for row in zip(*columns, strict=True):
        yield ["" if cell is None else str(cell) for cell in row]
