"""A hierarchy drawn as a tree: the root to the left, values to the right, a column for each level."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from velado.hierarchies import Branch, Hierarchy, branches
from velado.i18n import Language
from velado.report.charts.drawing import INK, Chart

LINE = 16
"""Between two ends of branches."""
LETTER = 6.3
"""Width of a letter of the labels."""
GAP = 46
"""Between the labels of a level and those of the next."""
LONGEST = 40
"""Letters of a label that are drawn."""
LEAST = 360
FAINT = "#666666"
LINES = "#AAAAAA"


@dataclass(frozen=True)
class _Placed:
    """A branch with its place; ``line`` counts ends of branches from the top."""

    branch: Branch
    text: str
    line: float
    children: tuple[_Placed, ...]

    def all(self) -> Iterator[_Placed]:
        """It and all below it."""
        yield self
        for child in self.children:
            yield from child.all()


def tree(hierarchy: Hierarchy, words: Language) -> Chart:
    """The hierarchy as a chart; what is too much for one picture is cut, and its number is told."""
    root = _place_branch(branches(hierarchy), words, [0])
    nodes = list(root.all())
    height = root.branch.level
    # What stands for groups that are not shown has nothing to its right, and may take the room of the next level.
    wide = [n for n in nodes if n.children or n.branch.level == 0]
    widths = [max(len(n.text) for n in wide if n.branch.level == x) * LETTER for x in range(height + 1)]
    left = [sum(widths[x + 1 :]) + GAP * (height - x) for x in range(height + 1)]
    lines = max(n.line for n in nodes)
    total = max(left[0] + widths[0] + 8, LEAST)
    axes = {"x": _axis("x", [0, total]), "y": _axis("y", [lines + 0.6, -1.7])}
    named = [{"x": left[n.branch.level], "y": n.line, "text": n.text, "ink": FAINT if n.branch.more else INK} for n in nodes]
    heads = [{"x": left[x], "y": -1.1, "text": words.say("level {level}", level=x)} for x in range(hierarchy.levels)]
    drawn: list[dict[str, Any]] = [
        {
            "data": {"values": list(_edges(nodes, left))},
            "mark": {"type": "rule", "color": LINES, "strokeWidth": 1, "strokeCap": "round"},
            "encoding": {**axes, "x2": {"field": "x2"}, "y2": {"field": "y2"}},
        },
        {
            "data": {"values": named},
            "mark": {"type": "text", "align": "left", "baseline": "middle", "fontSize": 11},
            "encoding": {**axes, "text": {"field": "text"}, "color": {"field": "ink", "scale": None}},
        },
        {
            "data": {"values": heads},
            "mark": {"type": "text", "align": "left", "baseline": "middle", "fontSize": 11, "color": FAINT},
            "encoding": {**axes, "text": {"field": "text"}},
        },
    ]
    spec = {"width": total, "height": (lines + 2.3) * LINE, "padding": 12, "layer": drawn}
    leaves, levels = words.integer(len(hierarchy.leaves)), words.integer(hierarchy.levels)
    return Chart(spec, words).with_title(
        hierarchy.column, words.say("Values: {values}; levels: {levels}", values=leaves, levels=levels)
    )


def _place_branch(branch: Branch, words: Language, free: list[int]) -> _Placed:
    """Ends take the next free line, groups the middle of what is under them."""
    if not branch.children:
        free[0] += 1
        return _Placed(branch, branch_text(branch, words), free[0] - 1, ())
    children = tuple(_place_branch(child, words, free) for child in branch.children)
    return _Placed(branch, branch_text(branch, words), (children[0].line + children[-1].line) / 2, children)


def branch_text(branch: Branch, words: Language) -> str:
    """A group or value in one line, or how much is not shown."""
    if branch.more and branch.level == 0:
        return words.say("… {more} more", more=words.integer(branch.more))
    if branch.more:
        return words.say("… {more} more (values: {values})", more=words.integer(branch.more), values=words.integer(branch.values))
    label = words.say("(missing)") if branch.label is None else branch.label
    text = " ".join("".join(c if c.isprintable() else " " for c in label).split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _edges(nodes: list[_Placed], left: list[float]) -> Iterator[dict[str, float]]:
    """From the end of a label to a common upright line, and from there to every child."""
    for node in nodes:
        if not node.children:
            continue
        level = node.branch.level
        bend, end = left[level - 1] - GAP / 3, left[level - 1] - 5
        first, last = node.children[0].line, node.children[-1].line
        yield {"x": left[level] + len(node.text) * LETTER + 5, "x2": bend, "y": node.line, "y2": node.line}
        yield {"x": bend, "x2": bend, "y": first, "y2": last}
        for child in node.children:
            yield {"x": bend, "x2": end, "y": child.line, "y2": child.line}


def _axis(field: str, domain: list[float]) -> dict[str, Any]:
    return {"field": field, "type": "quantitative", "axis": None, "scale": {"domain": domain, "nice": False, "zero": False}}
