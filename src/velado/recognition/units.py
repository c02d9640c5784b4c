"""Whose rows these are: people or households that have several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from velado.recognition.roles import Inspected

ROWS = "rows"
"""Every row is a person."""
PERSONAL = ("person id", "national id")
"""Topics of columns that name one person each."""


class Unit(NamedTuple):
    """Whose rows these are: a ``person``'s or a ``household``'s, and the column that names them."""

    kind: str
    column: str


def unit_of(columns: Iterable[Inspected], rows: int) -> Unit | None:
    """The household or person where an identifier stands in several rows; those that lack it do not share it.

    A household covers the people in it. People are looked for where nothing else names every row; full names only
    where they stand often, for a few people share one by chance.
    """
    identifiers = [c for c in columns if c.role == "identifier"]
    repeated = [c for c in identifiers if 1 < c.distinct < rows - c.missing]
    homes = [c for c in repeated if c.topic == "household id"]
    if homes:
        return Unit("household", max(homes, key=lambda c: c.distinct).name)
    personal = [
        c
        for c in identifiers
        if c.content != "full names" and (c.topic in PERSONAL or (c.content or "").startswith("national ids"))
    ]
    if any(c.distinct == rows for c in personal):
        return None
    people = [c for c in repeated if c in personal]
    if not people and not any(c.distinct == rows for c in identifiers):
        people = [c for c in repeated if c.topic == "id" or (c.content == "full names" and c.distinct <= 0.8 * rows)]
    if not people:
        return None
    order: Mapping[str | None, int] = {"full names": 1}
    return Unit("person", min(people, key=lambda c: (order.get(c.content, 0), -c.distinct)).name)


def likely_unit(columns: Iterable[Inspected], rows: int) -> Unit:
    """The unit where identifiers repeat and `unit_of` is not sure: the id, or the full name, of which there are most.

    Two people of one name then count as one, which is the careful error. Parts of names, and numbers and texts that are no
    ids, name nobody: then every row is a person.
    """
    named = [
        c
        for c in columns
        if c.role == "identifier"
        and c.distinct > 1
        and (c.topic in (*PERSONAL, "id", "record id") or c.content == "full names" or (c.content or "").startswith("national"))
    ]
    if not named:
        return Unit("person", ROWS)
    return Unit("person", max(named, key=lambda c: (c.content != "full names", c.distinct)).name)
