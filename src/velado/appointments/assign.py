"""Give out appointments: read people and slots, plan, write, read back and verify."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from velado.appointments.planners.find_slots import FindSlots
from velado.appointments.planners.registry import PLANNERS, planner_from
from velado.appointments.planning import Planning, run_planners
from velado.appointments.problem import Planner, check_possible
from velado.appointments.tables.people import People
from velado.appointments.tables.publish import give_out
from velado.appointments.tables.slots import Slots
from velado.appointments.tables.units import Units, check_room
from velado.errors import InputError
from velado.progress import Progress
from velado.project import Output, output_of
from velado.results import Discreet
from velado.sentences import Sentence
from velado.tables import Session, Sink, Source

Method = str | Planner | Mapping[str, Mapping[str, Any] | None]


@dataclass(frozen=True, repr=False)
class Request(Discreet):
    """People, slots and conditions: what is to be planned, whatever the method. See `assign_appointments`."""

    NAMES: ClassVar[tuple[str, ...]] = ("quasi_identifiers",)
    people: Any
    slots: Any
    quasi_identifiers: Sequence[str]
    capacity: str = "capacity"
    slot: str | None = None
    identifier: str | None = None
    household: str | None = None
    fixed: str | None = None
    admissible: Any = None
    match: Mapping[str, str] | None = None
    k: int = 1

    def read(self, progress: Progress, beside: Path | None = None) -> tuple[People, Slots, Units]:
        """Read both tables and put the problem in numbers."""
        if type(self.k) is not int or self.k < 1:
            raise InputError("bad-parameter", Sentence("k must be a whole number of 1 or more, got {k!r}", k=self.k))
        session = Session(progress, scratch=beside)
        slots = Slots.read(self.slots, self.capacity, self.slot, session)
        progress.at(0.2)
        people = People.read(
            self.people,
            slots,
            self.quasi_identifiers,
            identifier=self.identifier,
            household=self.household,
            fixed=self.fixed,
            admissible=self.admissible,
            match=self.match,
            session=session,
        )
        progress.at(0.8)
        units = Units.of(people, slots, self.k)
        check_possible(units.problem, slots.rows.name)
        check_room(units.problem, slots)
        progress.at(1.0)
        return people, slots, units


def assign_appointments(
    people: Any,
    slots: Any,
    quasi_identifiers: Sequence[str],
    method: Method = "best-fit",
    *,
    seed: int = 0,
    output: str | Path | Mapping[str, Any] | Output | None = None,
    progress: Progress | None = None,
    **conditions: Any,
) -> Planning:
    """Give everybody an appointment so that place and hour give away as little as possible.

    ``people`` and ``slots`` are anything the engines read. The slots have a column ``capacity``; all their other columns
    describe the appointment and are added to the people's columns. ``conditions``: ``capacity`` (another name of that
    column), ``slot`` (the column by which other tables name a slot), ``identifier``, ``household`` (who stays together),
    ``fixed`` (the slot that a person keeps), ``admissible`` (a table of identifier and slot), ``match`` (columns of people
    and slots that must agree), ``k`` (smallest group of equal people in one slot). ``method`` is a name, or
    ``{name: {parameter: value}}``, or a planner.

    ``output`` is a path or a table of a database, as `velado.anonymize` takes it; without it the table is returned in
    memory. Nothing is published unless what was written holds everything.

    >>> import pyarrow as pa
    >>> people = pa.table({"zip": ["28001"] * 3 + ["28002"] * 2})
    >>> slots = pa.table({"hour": [9, 10], "capacity": [2, 3]})
    >>> planning = assign_appointments(people, slots, ["zip"])
    >>> planning["best-fit"].vector.counts, planning.table["hour"].to_pylist()
    ((0, 1, 1), [10, 10, 10, 9, 9])
    """
    chosen = _planner(method, seed)
    target = output_of(output)
    request = Request(people, slots, quasi_identifiers, **conditions)
    _check_output(request, target.sink())
    progress = progress or Progress()
    begin = progress.part(0.0, 0.8).through(read=1, plan=7)
    who, where, units = request.read(begin("read"), target.scratch)
    planning = begin("plan")
    assignment = chosen.assign(units.problem, planning.part(0.0, 0.9))
    assignment.check()
    others = [FindSlots()] if units.problem.is_plain else []
    methods = run_planners(units.problem, others, [assignment], seed, planning.part(0.9, 1.0))
    given = give_out(who, where, units, assignment, seed, target, progress.part(0.8, 1.0))
    return Planning.of(
        units.problem, methods, chosen=chosen.name, output=given.path, appointment=where.described, table=given.table
    )


def compare_planners(
    people: Any,
    slots: Any,
    quasi_identifiers: Sequence[str],
    methods: Sequence[Method] | None = None,
    *,
    options: Mapping[str, Any] | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    **conditions: Any,
) -> Planning:
    """Plan the same appointments with several methods, all that apply if none are named; nothing is given out.

    ``options`` are parameters for whichever of the named methods have them. The rest is as in `assign_appointments`.
    """
    begin = (progress or Progress()).through(read=1, plan=9)
    _, where, units = Request(people, slots, quasi_identifiers, **conditions).read(begin("read"))
    applicable = [m for m in PLANNERS if m != FindSlots.name or units.problem.is_plain]
    wanted = [_with_options(m, options or {}) for m in (applicable if methods is None else methods)]
    planners = [_planner(m, seed) for m in wanted]
    planning = begin("plan")
    found = run_planners(units.problem, planners, (), seed, planning)
    planning.at(1.0)
    return Planning.of(units.problem, found, appointment=where.described)


def _with_options(method: Method, options: Mapping[str, Any]) -> Method:
    """A method that is named gets the options that it has."""
    if not isinstance(method, str) or method not in PLANNERS:
        return method
    return {method: {name: value for name, value in options.items() if name in PLANNERS[method].parameters}}


def _planner(method: Method, seed: int) -> Planner:
    """A planner from its name, from ``{name: {parameter: value}}``, or as it is."""
    if isinstance(method, Planner):
        return method
    name, given = (method, {}) if isinstance(method, str) else next(iter(method.items()))
    seeded = name in PLANNERS and "seed" in PLANNERS[name].parameters
    return planner_from(name, {**({"seed": seed} if seeded else {}), **(given or {})})


def _check_output(request: Request, sink: Sink) -> None:
    for thing in (request.people, request.slots, request.admissible):
        if thing is not None and sink.replaces(Source.of(thing)):
            raise InputError("output-is-input", "the output would replace the input", file=sink.name, hint="Choose another name.")
