"""Tables row by row, as appointments need them: every person gets one, in the order of the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from velado.errors import InputError
from velado.frequency.table import distinct_rows
from velado.project import Output, output_of
from velado.results import Discreet
from velado.tables import Header, Plan, Selection, Session, Sink, Slot, Source, Table, open_stage, open_table, unknown_column

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, repr=False)
class Rows(Discreet):
    """The rows of a table in their order (those of a database sorted), and what it is called."""

    NAMES: ClassVar[tuple[str, ...]] = ("name",)
    table: pa.Table
    name: str
    header: Header
    delimiter: str | None = None

    @classmethod
    def read(cls, source: Any, session: Session | None = None) -> Rows:
        """All rows of anything that the engines read."""
        with open_table(source, session=session) as table:
            return cls.of(table)

    @classmethod
    def of(cls, table: Table) -> Rows:
        """All rows of a table that is open."""
        delimiter = None if table.dialect is None else table.dialect.delimiter
        # Rows of a database have no order; sorted ones are the same whenever they are read.
        order = "keep" if is_file(table.source) else "sorted"
        return cls(table.fetch(Plan((), Selection()), order), table.name, table.header, delimiter)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def require(self, columns: Sequence[str]) -> None:
        """An error for a column that is not there, and for a table without a header or without rows."""
        self.header.check(self.name)
        for name in columns:
            if name not in self.header:
                raise unknown_column(name, self.header, columns, self.name)
        if not len(self):
            raise InputError("no-rows", "the table has no rows", file=self.name)

    def texts(self, column: str) -> pa.Array:
        """A column as text; missing cells are null."""
        import pyarrow as pa

        return self.table.column(column).combine_chunks().cast(pa.string())

    def row_texts(self, columns: Sequence[str], rows: np.ndarray) -> list[str]:
        """What some rows say in some columns, for messages."""
        texts = [self.texts(c) for c in columns]
        return [", ".join(str(t[i].as_py()) for t in texts) for i in rows.tolist()]

    def codes(self, columns: Sequence[str]) -> tuple[np.ndarray, int]:
        """Which combination of values each row has, and how many there are; a missing value is one of its own."""
        encoded = [self.table.column(c).combine_chunks().dictionary_encode(null_encoding="encode") for c in columns]
        numbers = np.array([e.indices.to_numpy(zero_copy_only=False) for e in encoded], dtype=np.int64)
        rows, codes = distinct_rows(numbers.reshape(len(columns), len(self)), [len(e.dictionary) for e in encoded])
        return codes.astype(np.int64), len(rows)


def is_file(place: Source | Sink) -> bool:
    """Whether rows have an order there: in a file or in memory, not in a database."""
    return place.database is None and place.table is None


def in_order_of(written: Rows, wanted: pa.Table) -> Rows | None:
    """The rows of a table that has none of an order, in that of another one with the same rows; None if they are not the same.

    Rows that are alike in every column may stand for each other.
    """
    import pyarrow as pa

    if written.table.column_names != wanted.column_names or written.table.num_rows != wanted.num_rows:
        return None
    codes = []
    for name in wanted.column_names:
        mine, other = wanted.column(name).combine_chunks(), written.table.column(name).combine_chunks()
        try:
            texts = pa.chunked_array([mine.cast(pa.string()), other.cast(mine.type).cast(pa.string())])
        except pa.ArrowInvalid:
            return None
        codes.append(texts.combine_chunks().dictionary_encode(null_encoding="encode").indices.to_numpy())
    every = np.array(codes, dtype=np.int64).reshape(len(codes), -1)
    first, second = every[:, : len(wanted)], every[:, len(wanted) :]
    ours, theirs = np.lexsort(first), np.lexsort(second)
    if (first[:, ours] != second[:, theirs]).any():
        return None
    place = np.empty(len(wanted), dtype=np.int64)
    place[ours] = theirs
    return replace(written, table=written.table.take(pa.array(place)))


def write_rows(table: Any, slot: Slot, session: Session) -> None:
    """Write a table in memory, in its order."""
    with open_table(table, session=session) as opened:
        opened.write(Plan((), Selection()), slot)


def save_table(table: Any, output: str | Path | Mapping[str, Any] | Output) -> None:
    """Write a table in memory to a file in the format of its suffix, or to a table of a database, as `velado.anonymize` takes
    its output; it appears only when it is complete."""
    output = replace(output_of(output), order="keep")
    sink = replace(output.sink(), evidence=False)
    session = Session(scratch=output.scratch)
    with open_stage([sink], session) as stage:
        write_rows(table, stage.slots[0], session)
        stage.publish()
