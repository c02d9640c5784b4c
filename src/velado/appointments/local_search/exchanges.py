"""Local search: exchanges between slots that make the anonymity vector smaller.

Three kinds of exchange around a small cell, strongest first: the people of two slots are packed anew so that no group is
in both; the slots of two groups are dealt out anew so that no slot has both; a cycle of transport over two groups and two
slots shifts some people. The first two only ever merge cells, which always improves the vector.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from itertools import chain

from velado.appointments.local_search.households import household_moves
from velado.appointments.local_search.occupancy import Exchange, Move, Occupancy
from velado.progress import Progress

ROUNDS = 20
MOST_WORK = 3_000_000
"""Exchanges that are tried in all; packing anew counts for several."""
PACKING = 20
MOST_SLOTS = 24
"""Of a group that is in more slots, those with most of it are tried; fewer of a group with households."""
MOST_BITS = 1 << 17
"""Sums up to this are looked at when slots are packed anew."""
OFTEN = 256
"""Cells between two reports."""


def improve(occupancy: Occupancy, work: int = MOST_WORK, progress: Progress | None = None) -> None:
    """Exchange until nothing improves any more, or so many exchanges were tried; smallest cells first."""
    progress, whole = progress or Progress(), work
    for _ in range(ROUNDS):
        done, changed = _round(occupancy, work, progress.part(1 - work / whole, 1.0))
        work -= done
        if not changed or work <= 0:
            break


def _round(occupancy: Occupancy, most: int, progress: Progress) -> tuple[int, bool]:
    """One look at every cell of the groups that are in several slots, and at every cell that a change makes.

    Returns the exchanges that were tried, and whether anything changed.
    """
    queue = [(n, g, s) for g, cells in enumerate(occupancy.cells) if len(cells) > 1 for s, n in cells.items()]
    heapq.heapify(queue)
    changed = False
    looked = tried = 0
    while queue and tried < most:
        size, group, slot = heapq.heappop(queue)
        cells = occupancy.cells[group]
        if len(cells) < 2 or cells.get(slot) != size:
            continue
        if looked % OFTEN == 0:
            progress.at(tried / most)
        looked += 1
        moves, work = _best(occupancy, group, slot, progress)
        tried += work
        if moves:
            changed = True
            occupancy.move(moves)
            groups = {g for kind, *_ in moves for g, _ in occupancy.members[kind]}
            for g in sorted(groups):
                if len(occupancy.cells[g]) > 1:
                    for s, n in occupancy.cells[g].items():
                        heapq.heappush(queue, (n, g, s))
    return tried, changed


def _best(occupancy: Occupancy, group: int, slot: int, progress: Progress) -> tuple[list[Move], int]:
    """The moves that improve the vector most, among those that concern a cell, and how many exchanges were tried."""
    cells = occupancy.cells[group]
    most = MOST_SLOTS if occupancy.alike(group) else MOST_SLOTS // 4
    others = heapq.nlargest(most, (s for s in cells if s != slot), key=lambda s: (cells[s], -s))
    tried = 1
    for other in others:
        progress.check()
        if occupancy.movable(group, slot, other) == cells[slot]:
            tried += PACKING
            moves = _packed_anew(occupancy, slot, other)
            if moves:
                return moves, tried
    for neighbour in occupancy.crowd[slot] if occupancy.alike(group) else ():
        progress.check()
        if neighbour != group and len(occupancy.cells[neighbour]) > 1 and occupancy.alike(neighbour):
            tried += PACKING
            moves = _dealt_anew(occupancy, group, neighbour)
            if moves:
                return moves, tried
    best: Exchange = ([], [], [])
    for other in others:
        progress.check()
        tried += len(occupancy.crowd[slot]) + len(occupancy.crowd[other])
        for before, after, moves in chain(_cycles(occupancy, group, slot, other), household_moves(occupancy, group, slot, other)):
            tried += 1
            if sorted(after + best[0]) > sorted(best[1] + before):
                best = (before, after, moves)
    return best[2], tried


# Two slots are packed anew


def _packed_anew(occupancy: Occupancy, one: int, two: int) -> list[Move]:
    """Moves after which no group is in both slots, if the sizes allow it."""
    first, second = occupancy.crowd[one], occupancy.crowd[two]
    items = []
    room_one, room_two = occupancy.room[one], occupancy.room[two]
    for group in first | second:
        here, there = first.get(group, 0), second.get(group, 0)
        if occupancy.movable(group, one, two) == here and occupancy.movable(group, two, one) == there:
            items.append((here + there, group))
            room_one += here
            room_two += there
    total = sum(size for size, _ in items)
    low, high = max(0, total - room_two), min(total, room_one)
    chosen = subset([size for size, _ in items], low, high)
    if chosen is None:
        return []
    moves = []
    for (_, group), stays in zip(items, chosen, strict=True):
        before, after = (two, one) if stays else (one, two)
        people = occupancy.cells[group].get(before, 0)
        if people:
            moves += occupancy.moving(group, before, after, people)
    return moves


def subset(sizes: Sequence[int], low: int, high: int) -> list[bool] | None:
    """Which sizes to take so that their sum is between two bounds; None if that cannot be.

    Bit i of a number says whether the sum i can be made: O(n · high / 64).
    """
    if high > MOST_BITS or low > high:
        return None
    masks, mask, limit = [], 1, (1 << (high + 1)) - 1
    for size in sizes:
        masks.append(mask)
        mask = (mask | mask << size) & limit
    found = mask >> low
    if not found:
        return None
    target = low + (found & -found).bit_length() - 1
    chosen = [False] * len(sizes)
    for i in range(len(sizes) - 1, -1, -1):
        if not masks[i] >> target & 1:
            chosen[i] = True
            target -= sizes[i]
    return chosen


# The slots of two groups are dealt out anew


def _dealt_anew(occupancy: Occupancy, one: int, two: int) -> list[Move]:
    """Moves after which no slot has both groups, if the sizes allow it; each group must be of one kind."""
    first, second = occupancy.cells[one], occupancy.cells[two]
    slots = sorted(first.keys() | second.keys())
    sizes = [first.get(s, 0) + second.get(s, 0) for s in slots]
    total = sum(first.values())
    chosen = subset(sizes, total, total)
    if chosen is None:
        return []
    moves: list[Move] = []
    for group, wanted in ((one, True), (two, False)):
        leaving = [(s, n) for s, n in occupancy.cells[group].items() if chosen[slots.index(s)] != wanted]
        other = second if group == one else first
        arriving = [(s, other[s]) for s, c in zip(slots, chosen, strict=True) if c == wanted and s in other]
        moved = _match_moves(occupancy, group, leaving, arriving)
        if moved is None:
            return []
        moves += moved
    return moves


def _match_moves(
    occupancy: Occupancy, group: int, leaving: list[tuple[int, int]], arriving: list[tuple[int, int]]
) -> list[Move] | None:
    """People who leave some slots go to others, in order; None if somebody may not."""
    moves: list[Move] = []
    targets = iter(arriving)
    after, room = -1, 0
    for before, people in leaving:
        while people:
            if not room:
                after, room = next(targets)
            amount = min(people, room)
            if not occupancy.movable(group, before, after):
                return None
            moves += occupancy.moving(group, before, after, amount)
            people -= amount
            room -= amount
    return moves


# Cycles over two groups and two slots


def _cycles(occupancy: Occupancy, group: int, slot: int, other: int) -> Iterator[Exchange]:
    """Sizes before, sizes after and moves of exchanges of a group's people in two slots with those of other groups."""
    mine, yours = occupancy.cells[group][slot], occupancy.cells[group][other]
    here, there = occupancy.room[slot], occupancy.room[other]
    leave, come = occupancy.movable(group, slot, other), occupancy.movable(group, other, slot)
    for people in {min(come, here), min((yours - mine) // 2, here, come)}:
        if people > 0:
            after = [mine + people, yours - people] if people < yours else [mine + people]
            yield [mine, yours], after, occupancy.moving(group, other, slot, people)
    if leave == mine:
        for neighbour, z in occupancy.crowd[other].items():
            if neighbour == group:
                continue
            w = occupancy.cells[neighbour].get(slot, 0)
            low, high = max(1, mine - there), min(occupancy.movable(neighbour, other, slot), mine + here)
            for people in {low, high, min(max((z - w) // 2, low), high)} if low <= high else ():
                yield _cycle(occupancy, group, neighbour, slot, other, mine, people)
    for neighbour, w in occupancy.crowd[slot].items():
        if neighbour == group:
            continue
        z = occupancy.cells[neighbour].get(other, 0)
        most = occupancy.movable(neighbour, slot, other)
        halves = {(yours - mine) // 2, (min(yours, w) - min(mine, z)) // 2, yours, most + here, most}
        for mine_moves in halves:
            if not 0 < mine_moves <= come:
                continue
            for people in {mine_moves - here, mine_moves, most}:
                if 0 < people <= most and mine_moves - people <= here and people - mine_moves <= there:
                    yield _cycle(occupancy, group, neighbour, other, slot, mine_moves, people)


def _cycle(occupancy: Occupancy, group: int, neighbour: int, source: int, target: int, people: int, back: int) -> Exchange:
    """Some people of a group go from one slot to another, some of its neighbour's come back."""
    mine, theirs = occupancy.cells[group], occupancy.cells[neighbour]
    before = [mine.get(source, 0), mine.get(target, 0), theirs.get(target, 0), theirs.get(source, 0)]
    after = [before[0] - people, before[1] + people, before[2] - back, before[3] + back]
    moves = occupancy.moving(group, source, target, people) + occupancy.moving(neighbour, target, source, back)
    return [n for n in before if n], [n for n in after if n], moves
