"""Moves of whole households, who take several groups along."""

from __future__ import annotations

from collections.abc import Iterator

from velado.appointments.local_search.occupancy import Exchange, Move, Occupancy

MOST_PARTNERS = 8
"""Others who are tried in exchange for a household."""


def household_moves(occupancy: Occupancy, group: int, slot: int, other: int) -> Iterator[Exchange]:
    """Households with people of a group go from one slot to another, in exchange for as many people if need be."""
    if len(occupancy.kinds[group]) == len(occupancy.singles[group]):
        return
    for kind in occupancy.kinds[group]:
        units = occupancy.at[kind].get(slot, 0) if occupancy.people[kind] > 1 else 0
        if not units or not occupancy.is_admissible(kind, other):
            continue
        for moved in {1, units}:
            going = [(kind, slot, other, moved)]
            people = moved * occupancy.people[kind]
            lacking = people - occupancy.room[other]
            if lacking <= 0:
                yield _effect(occupancy, going)
                continue
            for back in _partners(occupancy, kind, other, slot, lacking, people + occupancy.room[slot]):
                yield _effect(occupancy, going + back)


def _partners(occupancy: Occupancy, kind: int, source: int, target: int, least: int, most: int) -> Iterator[list[Move]]:
    """Some who could come back instead: between so many people, of one kind."""
    tried = 0
    for other, present in occupancy.here[source].items():
        units = -(-least // occupancy.people[other])
        fits = units <= present and units * occupancy.people[other] <= most
        if fits and other != kind and occupancy.is_admissible(other, target):
            yield [(other, source, target, units)]
            tried += 1
            if tried == MOST_PARTNERS:
                return


def _effect(occupancy: Occupancy, moves: list[Move]) -> Exchange:
    """The sizes of all cells that moves change, before and after."""
    changes: dict[tuple[int, int], int] = {}
    for kind, before, after, units in moves:
        for group, count in occupancy.members[kind]:
            changes[group, before] = changes.get((group, before), 0) - units * count
            changes[group, after] = changes.get((group, after), 0) + units * count
    sizes = [(occupancy.cells[group].get(slot, 0), change) for (group, slot), change in changes.items()]
    return [n for n, _ in sizes if n], [n + change for n, change in sizes if n + change], moves
