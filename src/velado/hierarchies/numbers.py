"""Numeric hierarchies: intervals of growing width."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from velado.declarations import declare
from velado.errors import InputError, short_repr, way_to
from velado.hierarchies.hierarchy import Hierarchy
from velado.hierarchies.leaves import Leaves
from velado.hierarchies.scale import Scale
from velado.numbers import Notation, column_notation, parse_all
from velado.parameters import LARGEST
from velado.sentences import Sentence
from velado.values import ROOT


@declare(
    title="intervals",
    meaning="intervals of numbers: widths per level, such as [5, 10, 20], or cuts",
    example={"intervals": [5, 10, 20]},
)
def intervals(column: str, spec: Any, leaves: Leaves) -> Hierarchy:
    """Intervals per level: widths ``[5, 10, 20]``, or ``{widths: …, origin: 0}``, or ``{cuts: [[0, 18, 65], …]}``.

    An interval of width w holds [origin + i·w, origin + (i+1)·w). Whole numbers are labelled with
    their inclusive limits (``20-24``; ``[-5, -1]`` and ``[0, 4]`` if one of the column's limits is negative), others
    half-open (``[1.5, 2.0)``, and ``[1,5; 2,0)`` in a column with decimal commas). Each width must be a multiple
    of the one before it, and each list of cuts a part of the one before it: levels must be nested.
    """
    options: Mapping[str, Any] = spec if isinstance(spec, Mapping) else {"widths": spec}
    unknown = set(options) - {"widths", "origin", "cuts"}
    if unknown or ("cuts" in options) == ("widths" in options):
        raise InputError("bad-hierarchy", "intervals take a list of widths, or {widths, origin}, or {cuts}", column=column)
    values = leaves.values
    notation = column_notation(column, values)
    numbers = np.array(parse_all(column, values), dtype=float)
    order = np.argsort(numbers, kind="stable")
    numbers, ordered = numbers[order], [values[i] for i in order]
    if "cuts" in options:
        edges = [_cuts(column, level, cuts) for level, cuts in enumerate(_lists(column, options["cuts"]), start=1)]
        for level in range(1, len(edges)):
            if not set(edges[level]) <= set(edges[level - 1]):
                raise _not_nested(column, level + 1, sorted(set(edges[level]) - set(edges[level - 1])), way_to("cuts", level))
        limits = [_by_cuts(numbers, e) for e in edges]
        marks = [mark for e in edges for mark in e]
    else:
        steps = ("widths",) if isinstance(spec, Mapping) else ()
        widths = _widths(column, options["widths"], steps)
        for level in range(1, len(widths)):
            ratio = widths[level] / widths[level - 1]
            if abs(ratio - round(ratio)) > 1e-9 or ratio < 1.5:
                raise _not_nested(column, level + 1, [widths[level]], way_to(*steps, level))
        origin = _one_number(column, options.get("origin", 0), Sentence("the origin"), "origin")
        limits = [_by_width(numbers, width, origin) for width in widths]
        marks = [*widths, origin]
    whole = all(float(x).is_integer() for x in [*numbers, *marks])
    negative = any(low < 0 for level in limits for low, _ in level if math.isfinite(low))
    columns = [ordered] + [[_label(lo, hi, whole, negative, notation) for lo, hi in level] for level in limits]
    hierarchy = Hierarchy.from_rows(column, list(zip(*columns, strict=True)) or [("", "")])
    return replace(hierarchy, scale=Scale(numbers, notation=notation))


def _by_width(numbers: np.ndarray, width: float, origin: float) -> list[tuple[float, float]]:
    index = np.floor((numbers - origin) / width + 1e-9)
    return [(float(origin + i * width), float(origin + (i + 1) * width)) for i in index]


def _by_cuts(numbers: np.ndarray, edges: list[float]) -> list[tuple[float, float]]:
    place = np.searchsorted(edges, numbers, side="right")
    full = [-math.inf, *edges, math.inf]
    return [(full[i], full[i + 1]) for i in place]


def _label(low: float, high: float, whole: bool, negative: bool, notation: Notation) -> str:
    lower, upper = (notation.write_number(_text(x)) if math.isfinite(x) else "" for x in (low, high))
    if not lower and not upper:
        return ROOT
    if not lower:
        return f"<{upper}"
    if not upper:
        return f">={lower}"
    if not whole:
        return f"[{lower}{notation.between}{upper})"
    if high - low == 1:
        return lower
    last = _text(high - 1)
    # A label that begins with a sign would be guarded against spreadsheets, and only some of the column's labels do.
    return f"[{lower}{notation.between}{last}]" if negative else f"{lower}-{last}"


def _text(value: float) -> str:
    rounded = round(float(value), 9)
    return str(int(rounded)) if rounded == int(rounded) else repr(rounded)


def _lists(column: str, cuts: Any) -> list[Any]:
    if not isinstance(cuts, Sequence) or isinstance(cuts, str) or not cuts:
        raise InputError("bad-hierarchy", "'cuts' is a list of lists of numbers", column=column)
    lists = list(cuts) if isinstance(cuts[0], Sequence) else [cuts]
    if not all(isinstance(level, Sequence) and not isinstance(level, str) for level in lists):
        raise InputError("bad-hierarchy", "'cuts' is a list of lists of numbers", column=column)
    return lists


def _cuts(column: str, level: int, cuts: Any) -> list[float]:
    what, way = Sentence("the cut at level {level}", level=level), way_to("cuts", level - 1)
    edges = [_one_number(column, c, what, way) for c in cuts]
    if edges != sorted(set(edges)):
        raise InputError(
            "bad-hierarchy",
            Sentence("the cuts of level {level} must ascend", level=level),
            column=column,
            values=cuts,
            fields={"path": way},
        )
    return edges


def _widths(column: str, widths: Any, steps: tuple[str, ...]) -> list[float]:
    if isinstance(widths, (int, float)):
        widths = [widths]
    if not isinstance(widths, Sequence) or isinstance(widths, str) or not widths:
        raise InputError(
            "bad-hierarchy", Sentence("'intervals' needs a list of widths, got {given}", given=repr(widths)), column=column
        )
    checked = [_one_number(column, w, Sentence("the width"), way_to(*steps, i)) for i, w in enumerate(widths)]
    wrong = [i for i, w in enumerate(checked) if w <= 0]
    if wrong:
        raise InputError(
            "bad-hierarchy",
            "interval widths must be positive",
            column=column,
            values=widths,
            fields={"path": way_to(*steps, wrong[0])},
        )
    return checked


def _one_number(column: str, value: Any, what: str, way: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= LARGEST:
        raise InputError(
            "bad-hierarchy",
            Sentence("{what} must be a number, got {given}", what=what, given=short_repr(value)),
            column=column,
            fields={"path": way},
        )
    return float(value)


def _not_nested(column: str, level: int, values: Sequence[Any], way: str) -> InputError:
    return InputError(
        "not-nested",
        Sentence("the intervals of level {level} are not unions of those of level {below}", level=level, below=level - 1),
        column=column,
        values=[_text(v) if isinstance(v, float) else v for v in values],
        hint="Choose widths that are multiples of one another, such as [5, 10, 20].",
        fields={"path": way},
    )
