"""The slots on offer: place, hour and whatever else describes an appointment, and how many people may come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from velado.appointments.tables.rows import Rows
from velado.errors import InputError
from velado.results import Discreet
from velado.sentences import Sentence
from velado.tables import Session

if TYPE_CHECKING:
    import pyarrow as pa

MOST_PLACES = 10**12


@dataclass(frozen=True, repr=False)
class Slots(Discreet):
    """A table of slots. All columns but the capacity describe the appointment and are what an observer sees.

    ``name`` is the column by which other tables mean a slot; the only descriptive one if there is but one.
    """

    rows: Rows
    capacities: np.ndarray
    described: tuple[str, ...]
    name: str | None = None

    @classmethod
    def read(cls, source: Any, capacity: str = "capacity", name: str | None = None, session: Session | None = None) -> Slots:
        """Read and check slots: a whole number of places for each, and no slot twice."""
        rows = Rows.read(source, session)
        rows.require([capacity, *([name] if name is not None else [])])
        described = tuple(c for c in rows.header if c != capacity)
        if not described:
            raise InputError(
                "no-slot-column",
                "besides the capacity, the slots need a column that describes them",
                file=rows.name,
                hint="For example place, hour, capacity.",
            )
        name = described[0] if name is None and len(described) == 1 else name
        hints = {described: Sentence("Add up the capacities of equal slots.")}
        if name is not None:
            hints.setdefault((name,), Sentence("Every slot needs a name of its own."))
        for columns, hint in hints.items():
            if rows.codes(columns)[1] < len(rows):
                raise InputError(
                    "duplicate-slot",
                    "a slot is listed more than once",
                    file=rows.name,
                    column=", ".join(columns),
                    values=_twice(rows, columns),
                    hint=hint,
                )
        return cls(rows, _capacities(rows, capacity), described, name)

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def numbers(self) -> dict[str | None, int]:
        """Which slot a value of the naming column means."""
        if self.name is None:
            raise InputError(
                "no-slot-name",
                "several columns describe a slot: which one do other tables use?",
                file=self.rows.name,
                values=self.described,
                hint="--slot COLUMN",
            )
        return {value: i for i, value in enumerate(self.rows.texts(self.name).to_pylist())}

    def find(self, values: pa.Array, file: str, column: str) -> np.ndarray:
        """The number of the slot that each text means; −1 for null."""
        encoded = values.dictionary_encode()
        known = encoded.dictionary.to_pylist()
        unknown = [v for v in known if v not in self.numbers]
        if unknown:
            # A column in which no slot is known may be about something else, for instance names: nothing of it is shown.
            raise InputError(
                "unknown-slot",
                Sentence("{slots:,} slot(s) that the table of slots does not have", slots=len(unknown)),
                file=file,
                column=column,
                values=unknown if len(unknown) < len(known) else (),
                hint=Sentence("Slots are named by '{name}' of {table}.", name=self.name, table=self.rows.name),
            )
        numbers = np.array([*(self.numbers[v] for v in known), -1], dtype=np.int64)
        return np.asarray(numbers[encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)])


def _twice(rows: Rows, columns: Sequence[str]) -> list[str]:
    codes, _ = rows.codes(columns)
    _, first, counts = np.unique(codes, return_index=True, return_counts=True)
    return rows.row_texts(columns, first[counts > 1][:5])


def _capacities(rows: Rows, column: str) -> np.ndarray:
    texts = rows.texts(column).to_pylist()
    found = [_whole(text) for text in texts]
    wrong = ["(missing)" if t is None else t for t, n in zip(texts, found, strict=True) if n is None]
    if wrong:
        # A column in which nothing is a capacity may be about people: nothing of it is shown.
        raise InputError(
            "bad-capacity",
            Sentence("{capacities:,} capacities are not whole numbers from 0 to {most:,}", capacities=len(wrong), most=MOST_PLACES),
            file=rows.name,
            column=column,
            values=wrong if len(wrong) < len(texts) else (),
            hint="Say how many people may come, for example 12; 0 if nobody may.",
        )
    return np.array(found, dtype=np.int64)


def _whole(text: str | None) -> int | None:
    """A number as tables write them (12, 12.0, 1.2e1); float() alone would take 1_2 and other digits than 0 to 9."""
    if text is None or not text.isascii() or "_" in text:
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return int(number) if 0 <= number <= MOST_PLACES and number == int(number) else None
