"""Who is in which slot while appointments are being given out: the state that heuristics change step by step."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import numpy as np

from velado.appointments.problem import Assignment, Problem
from velado.progress import Progress

Move = tuple[int, int, int, int]
"""Kind, slot before, slot after, units."""
Exchange = tuple[list[int], list[int], list[Move]]
"""Sizes of the cells before, sizes after, moves."""


class Occupancy:
    """Units of kinds in slots, people of groups in slots, and the room that is left.

    ``at[t]`` gives the units of kind t by slot, ``here[s]`` those of slot s by kind; ``cells[g]`` the people of group g by slot, and ``crowd[s]`` those of slot
    s by group. A *cell* is the people of one group in one slot: the sizes of the cells make the anonymity vector.
    """

    def __init__(self, problem: Problem, progress: Progress | None = None) -> None:
        progress = progress or Progress()
        self.problem = problem
        self.people: list[int] = problem.unit_people.tolist()
        self.room: list[int] = problem.capacities.tolist()
        self.at: list[dict[int, int]] = [{} for _ in self.people]
        self.here: list[dict[int, int]] = [{} for _ in self.room]
        self.cells: list[dict[int, int]] = [{} for _ in range(problem.groups)]
        self.crowd: list[dict[int, int]] = [{} for _ in self.room]
        entries = list(zip(problem.member_groups.tolist(), problem.member_counts.tolist(), strict=True))
        start = problem.start.tolist()
        self.members = [entries[start[t] : start[t + 1]] for t in range(len(self.people))]
        self.singles: list[list[int]] = [[] for _ in range(problem.groups)]
        """Per group, the kinds of people who come alone: only these are moved freely."""
        self.alone: list[dict[int, dict[int, int]]] = [{} for _ in self.room]
        """Per slot and group, the units of those kinds. Not kept where kinds are groups: then cells say the same."""
        self.kinds: list[list[int]] = [[] for _ in range(problem.groups)]
        """Per group, all kinds with its people."""
        for kind, members in enumerate(self.members):
            progress.check()
            for group, _ in members:
                self.kinds[group].append(kind)
            if self.people[kind] == 1:
                self.singles[members[0][0]].append(kind)
        self._allowed = [row.tobytes() for row in problem.slot_sets]
        self._set: list[int] = problem.admissible.tolist()
        self._everywhere = problem.is_plain

    @classmethod
    def of(cls, assignment: Assignment, progress: Progress | None = None) -> Occupancy:
        """What an assignment gave out."""
        progress = progress or Progress()
        made = cls(assignment.problem, progress)
        entries = (assignment.kind, assignment.slot, assignment.units)
        for kind, slot, units in zip(*(x.tolist() for x in entries), strict=True):
            progress.check()
            made.put(kind, slot, units)
        return made

    def is_admissible(self, kind: int, slot: int) -> bool:
        """Whether a slot is admissible."""
        return self._everywhere or bool(self._allowed[self._set[kind]][slot])

    def put(self, kind: int, slot: int, units: int) -> None:
        """Add units to a slot, or take them away if negative."""
        _add(self.at[kind], slot, units)
        _add(self.here[slot], kind, units)
        self.room[slot] -= units * self.people[kind]
        for group, count in self.members[kind]:
            _add(self.cells[group], slot, units * count)
            _add(self.crowd[slot], group, units * count)
        if self.people[kind] == 1 and not self._everywhere:
            _add(self.alone[slot].setdefault(self.members[kind][0][0], {}), kind, units)

    def move(self, moves: Iterable[Move]) -> None:
        """Carry out moves."""
        for kind, before, after, units in moves:
            self.put(kind, before, -units)
            self.put(kind, after, units)

    def alike(self, group: int) -> bool:
        """Whether all people of a group come alone and to the same slots."""
        return len(self.kinds[group]) == len(self.singles[group]) == 1

    def movable(self, group: int, before: int, after: int) -> int:
        """How many people of a group could go from one slot to another, room aside."""
        if self._everywhere:
            return self.cells[group].get(before, 0)
        present = self.alone[before].get(group, {})
        return sum(units for kind, units in present.items() if self.is_admissible(kind, after))

    def moving(self, group: int, before: int, after: int, people: int) -> list[Move]:
        """The moves of so many of the movable people."""
        if self._everywhere:
            return [(group, before, after, people)]
        moves = []
        for kind, present in self.alone[before].get(group, {}).items():
            units = min(people, present) if self.is_admissible(kind, after) else 0
            if units:
                moves.append((kind, before, after, units))
                people -= units
        return moves

    def settle(self, kind: int, units: int, progress: Progress | None = None) -> int:
        """Find places for people of a kind by moving others along shortest chains of slots; return who is left.

        The chains are augmenting paths of a flow: if everybody comes alone, who is left cannot be placed at all.
        """
        progress = progress or Progress()
        while units:
            progress.check()
            chain = self._chain(kind)
            if chain is None:
                break
            last = chain[-1][2]
            amount = min([units, self.room[last], *(self.at[t][before] for t, before, _ in chain[1:])])
            for t, before, after in reversed(chain[1:]):
                self.move([(t, before, after, amount)])
            self.put(kind, chain[0][2], amount)
            units -= amount
        return units

    def _chain(self, kind: int) -> list[tuple[int, int, int]] | None:
        """Who moves from where to where so that the kind gets a place; the kind itself comes first, from nowhere."""
        came: dict[int, tuple[int, int]] = {}
        queue: deque[int] = deque()
        steps: Iterable[tuple[int, int]] = [(kind, -1)]
        while True:
            for mover, before in steps:
                for slot in np.flatnonzero(self.problem.slot_sets[self._set[mover]]).tolist():
                    if slot in came:
                        continue
                    came[slot] = (mover, before)
                    if self.room[slot] > 0:
                        return _trace_chain(came, slot)
                    queue.append(slot)
            if not queue:
                return None
            full = queue.popleft()
            steps = [(t, full) for t in self.here[full] if self.people[t] == 1]

    def assignment(self, method: str, seconds: float = 0.0) -> Assignment:
        """What has been given out."""
        entries = [(t, s, n) for t, slots in enumerate(self.at) for s, n in slots.items()]
        kind, slot, units = np.array(entries, dtype=np.int64).reshape(-1, 3).T
        return Assignment(self.problem, kind, slot, units, method, bound=self.problem.base, seconds=seconds)


def _trace_chain(came: dict[int, tuple[int, int]], slot: int) -> list[tuple[int, int, int]]:
    chain: list[tuple[int, int, int]] = []
    while slot != -1:
        mover, before = came[slot]
        chain.append((mover, before, slot))
        slot = before
    return chain[::-1]


def _add(counts: dict[int, int], key: int, change: int) -> None:
    total = counts.get(key, 0) + change
    if total:
        counts[key] = total
    else:
        del counts[key]
