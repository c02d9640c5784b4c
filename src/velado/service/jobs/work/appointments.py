"""Appointments that keep people anonymous: plans of several methods side by side, or appointments given out."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from velado.appointments import assign_appointments, compare_planners, generate_slots
from velado.service.jobs import parameters as of
from velado.service.jobs.job_room import Room, enter_room
from velado.service.jobs.task import Work
from velado.service.jobs.work.shared import as_json, copy_texts, name_of, parse_parameters
from velado.tables import Session, open_table

GIVEN, ROWS = "appointments.csv", "rows.parquet"


def perform(work: Work) -> dict[str, Any]:
    """The planning; the people with their appointments are in a file."""
    wanted = parse_parameters(work, of.Appointments)
    conditions: dict[str, Any] = wanted.model_dump(include={"k", "capacity", "slot", "identifier", "household", "fixed"}) | {
        "match": wanted.match or None
    }
    with enter_room(work) as room:
        people, slots = room.resolve_source(work.task.source), _slots(room, wanted.slots)
        conditions["admissible"] = None if wanted.admissible is None else room.resolve_source(wanted.admissible)
        if wanted.compare is not False:
            found = compare_planners(
                people,
                slots,
                wanted.quasi_identifiers,
                None if wanted.compare is True else wanted.compare,
                options=wanted.options,
                seed=wanted.seed,
                progress=work.progress,
                **conditions,
            )
            return dict(as_json(found))
        output = work.task.folder / GIVEN
        found = assign_appointments(
            people,
            slots,
            wanted.quasi_identifiers,
            {wanted.method: wanted.options},
            seed=wanted.seed,
            output=output,
            progress=work.progress,
            **conditions,
        )
        with open_table(output, session=Session(scratch=output.parent)) as table:
            copy_texts(table, output.with_name(ROWS))
    return {**as_json(found), "file": name_of(output), "rows": ROWS, "appointment": list(found.appointment)}


def _slots(room: Room, given: str | of.Calendar | of.SlotsLike) -> Any:
    """A source, the slots of a calendar, or invented ones."""
    if isinstance(given, str):
        return room.resolve_source(given)
    if isinstance(given, of.SlotsLike):
        return generate_slots(**given.model_dump(exclude_none=True))
    every = [(p, d, h) for p in given.places for d in given.days for h in given.hours]
    columns = {name: [row[i] for row in every] for i, name in enumerate(("place", "day", "hour"))}
    return pa.table({**columns, "capacity": [given.capacity] * len(every)})
