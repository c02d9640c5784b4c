"""Hierarchies from how often values occur: rare ones together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from velado.declarations import declare
from velado.errors import InputError
from velado.hierarchies.hierarchy import Hierarchy
from velado.hierarchies.leaves import Leaves
from velado.sentences import Sentence

OTHER = "other"


@declare(
    title="rare values together",
    meaning="values with fewer records than these numbers together, level by level",
    example={"frequency": [20, 100]},
)
def frequency(column: str, spec: Any, leaves: Leaves) -> Hierarchy:
    """Values with fewer records than ``[20, 100]`` together, level by level; or ``{least: [20, 100], name: other}``.

    For texts without any structure, where nobody wrote better groups. The groups of several levels are numbered, because
    each holds more than the one before. A value that has the name of a group belongs to it.

    >>> frequency("town", [10, 50], Leaves(["A", "B", "C"], records={"A": 80, "B": 20, "C": 3})).rows()
    [['A', 'A', 'A'], ['B', 'B', 'other 2'], ['C', 'other 1', 'other 2']]
    """
    options: Mapping[str, Any] = spec if isinstance(spec, Mapping) else {"least": spec}
    least, name = options.get("least"), options.get("name", OTHER)
    good = isinstance(least, Sequence) and not isinstance(least, str) and bool(least)
    if not good or set(options) - {"least", "name"} or not isinstance(name, str) or not name:
        raise InputError(
            "bad-hierarchy",
            Sentence("frequency is a list of numbers of records or {{least, name}}, got {given}", given=repr(spec)),
            column=column,
        )
    assert least is not None
    if not all(type(n) is int and n > 0 for n in least) or list(least) != sorted(set(least)):
        raise InputError(
            "bad-hierarchy", Sentence("'least' must be ascending whole numbers, got {given}", given=repr(least)), column=column
        )
    records = leaves.records
    if records is None:
        raise InputError(
            "records-unknown",
            "groups by frequency need the number of records of every value",
            column=column,
            hint="Give the values with their numbers of records, or write the groups down (groups, tree, file).",
        )
    names = [name] if len(least) == 1 else [f"{name} {level}" for level in range(1, len(least) + 1)]
    rows = [
        [v, *(v if records[v] >= n and v not in names else group for n, group in zip(least, names, strict=True))]
        for v in sorted(leaves.values)
    ]
    return Hierarchy.from_rows(column, rows or [[""]])
