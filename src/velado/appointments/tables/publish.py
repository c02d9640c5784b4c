"""Write appointments, read them back, and publish them only if they hold everything that was promised."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from velado.appointments.anonymity_vectors import AnonymityVector
from velado.appointments.problem import Assignment
from velado.appointments.tables.people import People
from velado.appointments.tables.rows import Rows, in_order_of, is_file, write_rows
from velado.appointments.tables.slots import Slots
from velado.appointments.tables.units import Units
from velado.errors import InputError
from velado.progress import Progress
from velado.project import Output
from velado.release.verify import unreadable, verification_error
from velado.sentences import Sentence
from velado.tables import Header, Published, Session, Slot, Stage, open_stage

if TYPE_CHECKING:
    import pyarrow as pa


def give_out(
    people: People, slots: Slots, units: Units, assignment: Assignment, seed: int, output: Output, progress: Progress | None = None
) -> Published:
    """Publish the people's table with the slots' columns, in the order of the people; it may stay in memory."""
    begin = (progress or Progress()).through(write=1, verify=1)
    writing = begin("write")
    slot = units.slots_of_people(assignment, seed)
    table = people.rows.table.drop_columns(list(people.kept_out))
    for name in slots.described:
        table = table.append_column(name, slots.rows.table.column(name).take(slot))
    if output.in_memory:
        verifying = begin("verify")
        _verify(Rows(table, people.rows.name, Header(table.column_names)), people, slots, slot, assignment)
        verifying.at(1.0)
        return Published(table=table)
    sink = replace(output.sink(people.rows.delimiter), order="keep", evidence=False)
    session = Session(writing, scratch=output.scratch)
    with open_stage([sink], session) as stage:
        (place,) = stage.slots
        writing.at(0.5)
        write_rows(table, place, session)
        verifying = begin("verify")
        written = _read_back(stage, place)
        verifying.at(0.5)
        if not is_file(sink):
            written = _restore_order(written, table)
        _verify(written, people, slots, slot, assignment)
        verifying.at(1.0)
        (published,) = stage.publish()
    return published


def _restore_order(written: Rows, table: pa.Table) -> Rows:
    """What a database holds, person by person: its rows have no order."""
    found = in_order_of(written, table)
    if found is None:
        raise verification_error(Sentence("it does not have the expected columns and rows"))
    return found


def _read_back(stage: Stage, slot: Slot) -> Rows:
    try:
        with stage.read_back(slot) as table:
            return Rows.of(table)
    except InputError as error:
        raise unreadable(error) from None


def _verify(written: Rows, people: People, slots: Slots, slot: np.ndarray, assignment: Assignment) -> None:
    """Recount the vector from the written table, and check every condition person by person."""
    header = [c for c in people.rows.header if c not in people.kept_out] + list(slots.described)
    if written.header != header or len(written) != len(people):
        raise verification_error(Sentence("it does not have the expected columns and rows"))
    shown, distinct = written.codes(slots.described)
    if not distinct == len(np.unique(slot)) == len(np.unique(shown * len(slots) + slot)):
        raise verification_error(Sentence("it shows other slots than those given out"))
    cells, count = written.codes([*people.quasi_identifiers, *slots.described])
    vector = AnonymityVector.of_sizes(np.bincount(cells, minlength=count))
    if vector != assignment.vector or vector.k < assignment.problem.smallest:
        raise verification_error(Sentence("its anonymity vector is not the planned one"))
    if (np.bincount(slot, minlength=len(slots)) > slots.capacities).any():
        raise verification_error(Sentence("a slot has more people than places"))
    kept = people.fixed >= 0
    if (slot[kept] != people.fixed[kept]).any():
        raise verification_error(Sentence("a fixed appointment was not kept"))
    together = np.flatnonzero(people.household >= 0)
    households = people.household[together]
    if len(np.unique(households)) != len(np.unique(households * len(slots) + slot[together])):
        raise verification_error(Sentence("a household was not kept together"))
    _verify_admissible(people, slot, kept)


def _verify_admissible(people: People, slot: np.ndarray, kept: np.ndarray) -> None:
    """Who keeps a slot, and the others of that household, come to it whether it is admissible or not."""
    led = np.isin(people.household, people.household[kept & (people.household >= 0)])
    asked = ~(kept | led)
    if not people.slot_sets[people.slot_set[asked], slot[asked]].all():
        raise verification_error(Sentence("somebody got a slot that is not admissible"))
