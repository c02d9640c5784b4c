"""Hierarchies as nested trees: written, read, and cut to what can be looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from velado.errors import InputError
from velado.results import Discreet
from velado.sentences import Sentence
from velado.values import ROOT, Text

if TYPE_CHECKING:
    from velado.hierarchies.hierarchy import Hierarchy

MOST_LINES = 100
"""Ends of branches that are shown."""


def as_tree(hierarchy: Hierarchy) -> dict[str, Any] | list[str]:
    """The groups of the highest level with what is under them, down to lists of leaves; a missing value is an empty text."""
    children = _children(hierarchy)

    def under(level: int, groups: np.ndarray) -> dict[str, Any] | list[str]:
        labels = [hierarchy.labels[level][g] or "" for g in groups.tolist()]
        if level == 0:
            return labels
        return {label: under(level - 1, children[level][g]) for label, g in zip(labels, groups.tolist(), strict=True)}

    return under(hierarchy.height, np.arange(len(hierarchy.labels[-1])))


def rows_of_tree(column: str, tree: Any) -> list[list[Text]]:
    """What `as_tree` gave, as the rows of a hierarchy; an error if it is no tree whose leaves are all at the same depth."""
    rows = [list(reversed(path)) for path in _paths(column, tree)]
    twice = [leaf for leaf, times in Counter(row[0] for row in rows).items() if times > 1]
    if twice:
        raise InputError(
            "ambiguous-leaf", "a value appears twice in the tree", column=column, values=twice, hint="Keep every value once."
        )
    lengths = {len(row) for row in rows}
    if len(lengths) > 1:
        deep = max(lengths)
        raise InputError(
            "ragged-hierarchy",
            Sentence("the leaves of the tree are not all under {levels} group(s); these are not", levels=deep - 1),
            column=column,
            values=[row[0] for row in rows if len(row) < deep],
            hint="Put them into groups of the missing levels; a group may have the name of its one value.",
        )
    return [[cell or None for cell in row] for row in rows]


def _paths(column: str, node: Any) -> Iterator[tuple[str, ...]]:
    """Every leaf with the names above it, the highest first."""
    if isinstance(node, Mapping) and node:
        for name, below in node.items():
            for path in _paths(column, below):
                yield (_name(column, name), *path)
    elif isinstance(node, Sequence) and not isinstance(node, (str, bytes)) and node:
        for leaf in node:
            yield (_name(column, leaf),)
    else:
        raise InputError(
            "bad-hierarchy",
            Sentence(
                "a tree is a mapping of names to what is under them, down to lists of values, not {kind}", kind=type(node).__name__
            )
            if not isinstance(node, (Mapping, Sequence)) or node
            else "a group of the tree is empty",
            column=column,
        )


def _name(column: str, name: Any) -> str:
    if name is None:
        return ""
    if isinstance(name, bool) or not isinstance(name, (str, int, float)):
        raise InputError(
            "bad-hierarchy", Sentence("a tree holds names and lists, not {kind}", kind=type(name).__name__), column=column
        )
    return str(name)


def described(hierarchy: Hierarchy, kind: str = "tree") -> dict[str, Any]:
    """A description that lists the values of a hierarchy and builds the same one: as ``tree``, ``groups`` or ``rows``.

    A group that a tree or groups cannot hold, such as one of missing values, makes it ``rows``. A leaf for missing values
    that is alone is left out: where there are missing values it is there by itself.

    >>> from velado.hierarchies import Hierarchy
    >>> described(Hierarchy.from_rows("ill", [["flu", "lung", "*"], ["asthma", "lung", "*"], ["angina", "angina", "*"]]))
    {'tree': {'lung': ['flu', 'asthma'], 'angina': None}}
    >>> described(Hierarchy.from_rows("ill", [["flu", "lung"], ["asthma", "lung"], ["angina", "heart"]]), "groups")
    {'groups': {'lung': ['flu', 'asthma'], 'heart': ['angina']}, 'top': False}
    """
    rooted = hierarchy.height > 0 and hierarchy.labels[-1] == (ROOT,) and len(hierarchy.labels[-2]) > 1
    kept = [[hierarchy.labels[level][g] for g in hierarchy.maps[level]] for level in range(hierarchy.levels - rooted)]
    rows = [row for row in zip(*kept, strict=True) if any(cell is not None for cell in row)]
    top = {} if rooted or len(hierarchy.labels[-1]) == 1 else {"top": False}
    texts = [[cell for cell in row if cell is not None] for row in rows]
    listable = texts and all(len(row) == len(kept) and ROOT not in row for row in texts)
    if kind == "groups" and listable and len(kept) > 1:
        levels: list[dict[str, list[str]]] = [{} for _ in kept[1:]]
        for row in texts:
            for level, (member, group) in enumerate(pairwise(row)):
                members = levels[level].setdefault(group, [])
                if member not in members[-1:]:
                    members.append(member)
        found = [{name: list(dict.fromkeys(members)) for name, members in level.items()} for level in levels]
        return {"groups": found[0] if len(found) == 1 else found, **top}
    if kind == "tree" and listable and (not top or len(kept) > 1):
        return {"tree": _mapping(texts), **top}
    return {"rows": [list(row) for row in rows] or [[None]], **top}


def _mapping(rows: Sequence[Sequence[str]]) -> dict[str, Any]:
    """What is under a group, by name: None where a leaf stands for itself up to there."""
    parts: dict[str, list[Sequence[str]]] = {}
    for row in rows:
        parts.setdefault(row[-1], []).append(row[:-1])
    return {name: _below(name, inside) for name, inside in parts.items()}


def _below(name: str, rows: list[Sequence[str]]) -> Any:
    if len(rows) == 1 and set(rows[0]) <= {name}:
        return None
    below = _mapping(rows)
    return list(below) if all(one is None for one in below.values()) else below


@dataclass(frozen=True, repr=False)
class Branch(Discreet):
    """A group or value that is shown, with what is shown under it.

    ``values`` are the leaves under it. One without a label (``more``) stands for so many groups or values that are not shown.
    """

    label: Text
    level: int
    values: int
    children: tuple[Branch, ...] = ()
    more: int = 0


def branches(hierarchy: Hierarchy, most: int = MOST_LINES) -> Branch:
    """The hierarchy from its root, cut where it has more than ``most`` ends; groups in the order of their first value.

    Every group shows as many children as that allows, the same number in all groups. Where the highest level has several
    groups, they hang from the name of the column, one level above.
    """
    rooted = hierarchy.with_root()
    children = _children(rooted)
    widest = max((len(c) for level in children[1:] for c in level), default=1)
    low, high = 1, widest
    while low < high:
        middle = (low + high + 1) // 2
        fits = _ends(rooted.height, 0, children, middle, most) <= most
        low, high = (middle, high) if fits else (low, middle - 1)
    sizes = [rooted.group_sizes(level) for level in range(rooted.levels)]
    root = _branch(rooted, rooted.height, 0, children, sizes, low)
    return root if rooted is hierarchy else replace(root, label=hierarchy.column)


def _limit_children(children: np.ndarray, most: int) -> np.ndarray:
    """One that is left out would need a line, too."""
    return children if len(children) <= most + 1 else children[:most]


def _ends(level: int, group: int, children: list[list[np.ndarray]], most: int, enough: int) -> int:
    """Lines that a group needs; counting ends when they are more than enough."""
    if level == 0:
        return 1
    shown = _limit_children(children[level][group], most)
    found = int(len(shown) < len(children[level][group]))
    for child in shown.tolist():
        found += _ends(level - 1, child, children, most, enough - found)
        if found > enough:
            break
    return found


def _branch(
    hierarchy: Hierarchy, level: int, group: int, children: list[list[np.ndarray]], sizes: list[np.ndarray], most: int
) -> Branch:
    label, values = hierarchy.labels[level][group], int(sizes[level][group])
    if level == 0:
        return Branch(label, 0, values)
    every = children[level][group]
    shown = _limit_children(every, most)
    below = [_branch(hierarchy, level - 1, child, children, sizes, most) for child in shown.tolist()]
    if len(shown) < len(every):
        left = every[len(shown) :]
        below.append(Branch(None, level - 1, int(sizes[level - 1][left].sum()), more=len(left)))
    return Branch(label, level, values, tuple(below))


def outline(hierarchy: Hierarchy, most: int = MOST_LINES) -> list[list[int] | None]:
    """Per level, how many values each group has: groups of one group stand together. None where there are more than ``most``.

    >>> from velado.hierarchies import Hierarchy
    >>> outline(Hierarchy.from_rows("ill", [["flu", "lung", "*"], ["angina", "heart", "*"], ["asthma", "lung", "*"]]))
    [[1, 1, 1], [2, 1], [3]]
    """
    order = np.lexsort(hierarchy.maps)
    found: list[list[int] | None] = []
    for level, labels in enumerate(hierarchy.labels):
        groups = hierarchy.maps[level][order]
        ends = np.flatnonzero(np.diff(groups, append=-1)) + 1
        found.append(np.diff(ends, prepend=0).tolist() if len(labels) <= most else None)
    return found


def _children(hierarchy: Hierarchy) -> list[list[np.ndarray]]:
    """Per level and group, the groups of the level below."""
    found: list[list[np.ndarray]] = [[]]
    for level in range(1, hierarchy.levels):
        parents = hierarchy.parents(level)
        order = np.argsort(parents, kind="stable")
        ends = np.cumsum(np.bincount(parents, minlength=len(hierarchy.labels[level])))
        found.append(np.split(order, ends[:-1]))
    return found
