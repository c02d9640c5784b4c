"""Tables row by row, as appointments need them: every person gets one, in the order of the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from velado.errors import InputError
from velado.frequency.table import distinct_rows
from velado.project import Output
from velado.results import Discreet
from velado.tables import Header, Plan, Selection, Session, Slot, Table, open_stage, open_table, unknown_column

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, repr=False)
class Rows(Discreet):
    """The rows of a table in their order, and what it is called."""

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
        return cls(table.fetch(Plan((), Selection()), "keep"), table.name, table.header, delimiter)

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

    def shown(self, columns: Sequence[str], rows: np.ndarray) -> list[str]:
        """What some rows say in some columns, for messages."""
        texts = [self.texts(c) for c in columns]
        return [", ".join(str(t[i].as_py()) for t in texts) for i in rows.tolist()]

    def codes(self, columns: Sequence[str]) -> tuple[np.ndarray, int]:
        """Which combination of values each row has, and how many there are; a missing value is one of its own."""
        encoded = [self.table.column(c).combine_chunks().dictionary_encode(null_encoding="encode") for c in columns]
        numbers = np.array([e.indices.to_numpy(zero_copy_only=False) for e in encoded], dtype=np.int64)
        rows, codes = distinct_rows(numbers.reshape(len(columns), len(self)), [len(e.dictionary) for e in encoded])
        return codes.astype(np.int64), len(rows)


def write_rows(table: Any, slot: Slot, session: Session) -> None:
    """Write a table in memory, in its order."""
    with open_table(table, session=session) as opened:
        opened.write(Plan((), Selection()), slot)


def save_table(table: Any, path: str | Path) -> None:
    """Write a table in memory to a file in the format of its suffix; it appears only when it is complete."""
    output = Output(Path(path), order="keep")
    sink = replace(output.sink(), evidence=False)
    session = Session(scratch=output.scratch)
    with open_stage([sink], session) as stage:
        write_rows(table, stage.slots[0], session)
        stage.publish()
