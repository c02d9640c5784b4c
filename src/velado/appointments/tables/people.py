"""The people who get appointments, and what must hold for each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from velado.appointments.tables.rows import Rows
from velado.appointments.tables.slots import Slots
from velado.errors import InputError
from velado.results import Discreet
from velado.sentences import Sentence
from velado.tables import Session


@dataclass(frozen=True, repr=False)
class People(Discreet):
    """A table of people in its order, with the conditions of each person.

    ``group[i]`` is the quasi-identifier group of person i; ``household[i]`` a number, or −1 for who comes alone;
    ``fixed[i]`` the slot that person i keeps, or −1; ``slot_set[i]`` a row of ``slot_sets``: the slots admissible for i.
    A fixed appointment counts, whether admissible or not.
    """

    NAMES: ClassVar[tuple[str, ...]] = ("quasi_identifiers",)
    rows: Rows
    quasi_identifiers: tuple[str, ...]
    group: np.ndarray
    groups: int
    household: np.ndarray
    fixed: np.ndarray
    slot_set: np.ndarray
    slot_sets: np.ndarray
    kept_out: tuple[str, ...] = ()

    @classmethod
    def read(
        cls,
        source: Any,
        slots: Slots,
        quasi_identifiers: Sequence[str],
        *,
        identifier: str | None = None,
        household: str | None = None,
        fixed: str | None = None,
        admissible: Any = None,
        match: Mapping[str, str] | None = None,
        session: Session | None = None,
    ) -> People:
        """Read people and their conditions; see `velado.appointments.assign_appointments`."""
        if not quasi_identifiers:
            raise InputError("no-quasi-identifier", "name at least one quasi-identifier", hint="--qi age,sex")
        rows = Rows.read(source, session)
        extra = [c for c in (identifier, household, fixed) if c is not None]
        rows.require([*quasi_identifiers, *extra, *(match or {})])
        clash = [c for c in slots.described if c.casefold() in {n.casefold() for n in rows.header if n != fixed}]
        if clash:
            raise InputError(
                "duplicate-column",
                "people and slots have columns of the same name",
                file=rows.name,
                values=clash,
                hint="Rename them in one of the tables: the appointments show the columns of both.",
            )
        if fixed is not None and fixed in (*quasi_identifiers, identifier):
            raise InputError(
                "two-roles",
                "the slots that people keep cannot be an identifier or a quasi-identifier",
                file=rows.name,
                column=fixed,
                hint="Copy it under another name: it is left out of the output.",
            )
        if identifier is not None:
            _check_identifiers(rows, identifier)
        group, groups = rows.codes(quasi_identifiers)
        alone = np.full(len(rows), -1, dtype=np.int64)
        keeps = alone if fixed is None else slots.find(rows.texts(fixed), rows.name, fixed)
        slot_set, slot_sets = np.zeros(len(rows), dtype=np.int64), np.ones((1, len(slots)), dtype=bool)
        conditions = [_matching(rows, slots, *pair) for pair in (match or {}).items()]
        if admissible is not None:
            conditions.append(_read_admissible(rows, slots, Rows.read(admissible, session), identifier))
        for other, sets in conditions:
            slot_set, slot_sets = _both(slot_set, slot_sets, other, sets)
        anywhere = np.asarray(slot_sets.any(axis=1))
        nowhere = int((~anywhere[slot_set[keeps < 0]]).sum())
        if nowhere:
            raise InputError(
                "no-admissible-slot",
                Sentence("{people:,} people have no admissible slot", people=nowhere),
                file=rows.name,
                hint="Everybody without a fixed appointment needs one.",
            )
        return cls(
            rows,
            tuple(quasi_identifiers),
            group,
            groups,
            alone if household is None else _households(rows, household),
            keeps,
            slot_set,
            slot_sets,
            () if fixed is None else (fixed,),
        )

    def __len__(self) -> int:
        return len(self.rows)


def _check_identifiers(rows: Rows, column: str) -> None:
    """Everybody has an identifier of their own; the message shows none."""
    texts = rows.texts(column)
    if texts.null_count:
        raise InputError(
            "missing-id",
            Sentence("{people:,} people have no identifier", people=texts.null_count),
            file=rows.name,
            column=column,
            hint="Give everybody one, or name another column.",
        )
    twice = len(texts) - len(texts.unique())
    if twice:
        raise InputError(
            "duplicate-id",
            Sentence("{people:,} people have an identifier that occurs before", people=twice),
            file=rows.name,
            column=column,
            hint="Everybody is one line with an identifier of their own.",
        )


def _households(rows: Rows, column: str) -> np.ndarray:
    """A number per household; −1 where the cell is missing."""
    indices = rows.texts(column).dictionary_encode().indices
    return np.asarray(indices.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.int64)


def _matching(rows: Rows, slots: Slots, own: str, theirs: str) -> tuple[np.ndarray, np.ndarray]:
    """Who may come where because a column of the people and one of the slots agree; missing agrees with nothing."""
    slots.rows.require([theirs])
    encoded = rows.texts(own).dictionary_encode()
    values = np.array([*encoded.dictionary.to_pylist(), None], dtype=object)
    offered = np.array(slots.rows.texts(theirs).to_pylist(), dtype=object)
    number = {value: i for i, value in enumerate(values[:-1])}
    sets = np.zeros((len(values), len(slots)), dtype=bool)
    at = np.array([number.get(value, -1) if value is not None else -1 for value in offered])
    sets[at[at >= 0], np.flatnonzero(at >= 0)] = True
    return encoded.indices.fill_null(len(number)).to_numpy(zero_copy_only=False).astype(np.int64), sets


def _read_admissible(rows: Rows, slots: Slots, pairs: Rows, identifier: str | None) -> tuple[np.ndarray, np.ndarray]:
    """Who may come where because a table lists person and slot."""
    import pyarrow.compute as pc

    if identifier is None:
        raise InputError("no-id", "admissible slots need the column that identifies people", hint="--id COLUMN")
    named = slots.name or ""
    slots.numbers  # noqa: B018 – says so if there is no such column
    pairs.require([identifier, named])
    person = pc.index_in(pairs.texts(identifier), rows.texts(identifier))
    if person.null_count:
        raise InputError(
            "unknown-person",
            Sentence("{lines:,} line(s) are about people who are not in {table}", lines=person.null_count, table=rows.name),
            file=pairs.name,
            column=identifier,
            hint="Leave these lines out, or mend the identifiers.",
        )
    slot = slots.find(pairs.texts(named), pairs.name, named)
    if (slot < 0).any():
        raise InputError("unknown-slot", "a line names no slot", file=pairs.name, column=named, hint="Leave it out, or name one.")
    keys = np.unique(person.to_numpy(zero_copy_only=False).astype(np.int64) * len(slots) + slot)
    listed = (keys % len(slots)).astype(np.int32)
    ends = np.searchsorted(keys, np.arange(len(rows) + 1) * len(slots))
    number: dict[bytes, int] = {}
    places = ends.tolist()
    code = [number.setdefault(listed[a:b].tobytes(), len(number)) for a, b in pairwise(places)]
    sets = np.zeros((len(number), len(slots)), dtype=bool)
    for text, i in number.items():
        sets[i, np.frombuffer(text, dtype=np.int32)] = True
    return np.array(code, dtype=np.int64), sets


def _both(one: np.ndarray, ones: np.ndarray, two: np.ndarray, twos: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The slots that two conditions both admit."""
    pairs, code = np.unique(one * len(twos) + two, return_inverse=True)
    sets, again = np.unique(ones[pairs // len(twos)] & twos[pairs % len(twos)], axis=0, return_inverse=True)
    return again.reshape(-1)[code].astype(np.int64), sets
