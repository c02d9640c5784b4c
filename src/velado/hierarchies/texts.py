"""Hierarchies made from the text itself: masking and paths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from velado.errors import InputError
from velado.hierarchies.hierarchy import Hierarchy
from velado.values import ROOT


def mask(column: str, spec: Any, values: Sequence[str], format: str | None = None) -> Hierarchy:
    """Hide one character after another: ``right``, ``left``, or ``{side: right, hide: [1, 3]}``.

    ``hide`` lists how many characters are hidden at each level (default 1, 2, …). Labels are padded
    to the longest value, so that a masked value does not tell its length.

    >>> mask("zip", "right", ["4071", "4085"]).rows()[0]
    ['4071', '407*', '40**', '4***']
    """
    options: Mapping[str, Any] = spec if isinstance(spec, Mapping) else {"side": spec}
    side = options.get("side", "right")
    if set(options) - {"side", "hide"} or side not in ("right", "left"):
        raise InputError("bad-hierarchy", f"mask is 'right', 'left' or {{side, hide}}, got {spec!r}", column=column)
    longest = max((len(v) for v in values), default=1)
    hide = options.get("hide", list(range(1, longest)))
    good = isinstance(hide, Sequence) and all(type(h) is int and h > 0 for h in hide)
    if not good or list(hide) != sorted(set(hide)):
        raise InputError("bad-hierarchy", f"'hide' must be ascending whole numbers, got {hide!r}", column=column)

    def shown(value: str, hidden: int) -> str:
        keep = max(longest - hidden, 0)
        if side == "right":
            part = value[:keep]
            return part + ROOT * (longest - len(part))
        part = value[len(value) - keep :] if keep < len(value) else value
        return ROOT * (longest - len(part)) + part

    ordered = sorted(values)
    return Hierarchy.from_rows(column, [[v, *(shown(v, h) for h in hide)] for v in ordered] or [[""]])


def path(column: str, spec: Any, values: Sequence[str], format: str | None = None) -> Hierarchy:
    """Drop one component after another, most specific first: ``"/"`` or ``{separator: "/", specific: left}``.

    >>> path("place", "/", ["Centro/Sobral/CE"]).rows()[0]
    ['Centro/Sobral/CE', 'Sobral/CE', 'CE']
    """
    options: Mapping[str, Any] = spec if isinstance(spec, Mapping) else {"separator": spec}
    separator = options.get("separator", "/")
    specific = options.get("specific", "left")
    good = specific in ("left", "right") and not set(options) - {"separator", "specific"}
    if not isinstance(separator, str) or not separator or not good:
        raise InputError(
            "bad-hierarchy", f"path is a separator or {{separator, specific}}, got {spec!r}", column=column
        )
    depth = max((v.count(separator) + 1 for v in values), default=1)

    def shortened(value: str, level: int) -> str:
        parts = value.split(separator)
        keep = depth - level
        return separator.join(parts[-keep:] if specific == "left" else parts[:keep])

    return Hierarchy.from_rows(
        column, [[v, *(shortened(v, n) for n in range(1, depth))] for v in sorted(values)] or [[""]]
    )
