"""Hierarchies of categories that the owner writes down: value trees and groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from velado.declarations import declare
from velado.errors import InputError
from velado.hierarchies.hierarchy import Hierarchy
from velado.hierarchies.leaves import Leaves
from velado.hierarchies.scale import Scale
from velado.sentences import Sentence
from velado.values import ROOT


@declare(
    title="tree",
    meaning="nested names whose leaves are the values",
    example={"tree": {"heart": ["angina"], "lung": ["asthma", "flu"]}},
)
def tree(column: str, spec: Any, leaves: Leaves) -> Hierarchy:
    """Nested mapping of names, leaves as lists.

    A leaf that hangs higher than others keeps its name until the others reach it.

    >>> tree("ill", {"heart": ["angina"], "lung": ["asthma", "flu"]}, Leaves([])).rows()
    [['angina', 'heart'], ['asthma', 'lung'], ['flu', 'lung']]
    """
    if not isinstance(spec, Mapping) or not spec:
        raise InputError("bad-hierarchy", "'tree' needs a nested mapping whose leaves are lists", column=column)
    chains: list[list[str]] = []
    _walk(column, spec, [], chains)
    if not chains or not all(chains):
        raise InputError("bad-hierarchy", "the tree has no leaves", column=column)
    depth = max(len(chain) for chain in chains)
    rows = [[chain[0]] * (depth - len(chain)) + chain for chain in chains]
    return Hierarchy.from_rows(column, rows)


def _walk(column: str, node: Any, above: list[str], chains: list[list[str]]) -> None:
    if isinstance(node, Mapping):
        for name, below in node.items():
            path = above if str(name) == ROOT else [str(name), *above]
            if below is None or below == [] or below == {}:
                chains.append(path)
            else:
                _walk(column, below, path, chains)
    elif isinstance(node, Sequence) and not isinstance(node, str):
        for item in node:
            _walk(column, item, above, chains)
    elif isinstance(node, (str, int, float)):
        chains.append([str(node), *above])
    else:
        raise InputError(
            "bad-hierarchy", Sentence("a tree holds names and lists, not {kind}", kind=type(node).__name__), column=column
        )


def _members(column: str, members: Any) -> Sequence[Any]:
    listed = [members] if isinstance(members, (str, int, float)) else members
    if not isinstance(listed, Sequence) or not all(isinstance(m, (str, int, float)) for m in listed):
        raise InputError(
            "bad-hierarchy", Sentence("'groups' maps names to lists of values, got {given}", given=repr(members)), column=column
        )
    return listed


@declare(
    title="groups",
    meaning="names with their members, or a list of such mappings, one per level",
    example={"groups": {"office": ["clerk"], "field": ["nurse"]}},
)
def groups(column: str, spec: Any, leaves: Leaves) -> Hierarchy:
    """One mapping ``name → members``, or a list of them, each grouping the names of the one before.

    >>> groups("job", [{"office": ["clerk"], "field": ["nurse"]}, {"work": ["office", "field"]}], Leaves([])).rows()
    [['clerk', 'office', 'work'], ['nurse', 'field', 'work']]
    """
    levels = [spec] if isinstance(spec, Mapping) else spec
    good = isinstance(levels, Sequence) and not isinstance(levels, str) and bool(levels)
    if not good or not all(isinstance(level, Mapping) for level in levels):
        raise InputError("bad-hierarchy", "'groups' needs a mapping of names to members, or a list of them", column=column)
    rows: list[list[str]] = []
    for number, level in enumerate(levels, start=1):
        parent: dict[str, str] = {}
        for name, members in level.items():
            for member in _members(column, members):
                if parent.setdefault(str(member), str(name)) != str(name):
                    raise InputError(
                        "not-nested",
                        Sentence("a value is in two groups of level {level}", level=number),
                        column=column,
                        values=[member],
                    )
        rows = [[leaf] for leaf in parent] if number == 1 else rows
        lost = dict.fromkeys(row[-1] for row in rows if row[-1] not in parent)
        if lost:
            raise InputError(
                "not-nested",
                Sentence("level {level} does not group all names of level {below}", level=number, below=number - 1),
                column=column,
                values=lost,
            )
        rows = [[*row, parent[row[-1]]] for row in rows]
    return Hierarchy.from_rows(column, rows)


@declare(title="rows", meaning="every value with its labels, level by level", example={"rows": [["f", "person"], ["m", "person"]]})
def rows(column: str, spec: Any, leaves: Leaves) -> Hierarchy:
    """The rows of a hierarchy file, written in place: ``[[leaf, level 1, …], …]``.

    >>> rows("sex", [["f", "person"], ["m", "person"]], Leaves([])).rows()
    [['f', 'person'], ['m', 'person']]
    """
    good = isinstance(spec, Sequence) and not isinstance(spec, str)
    if not good or not all(isinstance(row, Sequence) and not isinstance(row, str) and row for row in spec):
        raise InputError("bad-hierarchy", "'rows' is a list of lists: leaf, level 1, …", column=column)
    return Hierarchy.from_rows(column, [[None if cell is None else str(cell) for cell in row] for row in spec])


@declare(title="order", meaning="all values in order", example={"order": ["low", "middle", "high"]})
def order(column: str, spec: Any, leaves: Leaves) -> Hierarchy:
    """Categories in order, ``[low, middle, high]``: methods that cut between values may cut between these.

    >>> order("size", ["S", "M", "L"], Leaves([])).scale.numbers.tolist()
    [0.0, 1.0, 2.0]
    """
    good = isinstance(spec, Sequence) and not isinstance(spec, str) and bool(spec)
    if not good or len({str(x) for x in spec}) < len(spec):
        raise InputError("bad-hierarchy", "'order' is a list of all values, each once, in order", column=column)
    hierarchy = Hierarchy.from_rows(column, [[str(x)] for x in spec])
    return replace(hierarchy, scale=Scale(np.arange(len(spec), dtype=float), "order"))
