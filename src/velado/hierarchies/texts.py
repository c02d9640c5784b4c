"""Hierarchies made from the text itself: masking, paths and prefixes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from velado.declarations import declare
from velado.errors import InputError
from velado.hierarchies.hierarchy import Hierarchy
from velado.hierarchies.leaves import Leaves
from velado.sentences import Sentence
from velado.values import ROOT

SEPARATORS = " .,-/_:;|"
"""What a prefix does not end with."""


@declare(
    title="masked characters",
    meaning="characters hidden one after another, from the right or from the left",
    example={"mask": "right"},
)
def mask(column: str, spec: Any, leaves: Leaves) -> Hierarchy:
    """Hide one character after another: ``right``, ``left``, or ``{side: right, hide: [1, 3], fill: 5}``.

    ``hide`` lists how many characters are hidden at each level (default 1, 2, …). ``fill`` puts zeros before values of
    digits until they have so many: leading zeros that a program lost. Labels are padded
    to the longest value, so that a masked value does not tell its length.

    >>> mask("zip", "right", Leaves(["4071", "4085"])).rows()[0]
    ['4071', '407*', '40**', '4***']
    >>> mask("zip", {"fill": 5, "hide": [2, 3]}, Leaves(["3104", "28013"])).rows()
    [['28013', '280**', '28***'], ['3104', '031**', '03***']]
    """
    options: Mapping[str, Any] = spec if isinstance(spec, Mapping) else {"side": spec}
    side = options.get("side", "right")
    if set(options) - {"side", "hide", "fill"} or side not in ("right", "left"):
        raise InputError(
            "bad-hierarchy",
            Sentence("mask is 'right', 'left' or {{side, hide, fill}}, got {given}", given=repr(spec)),
            column=column,
        )
    filled = _fill_zeros(column, leaves.values, options)
    longest = max((len(v) for v in filled.values()), default=1)
    hide = options.get("hide", list(range(1, longest)))
    if not _whole_numbers(hide) or list(hide) != sorted(set(hide)):
        raise InputError(
            "bad-hierarchy", Sentence("'hide' must be ascending whole numbers, got {given}", given=repr(hide)), column=column
        )

    def mask_value(value: str, hidden: int) -> str:
        keep = max(longest - hidden, 0)
        if side == "right":
            part = value[:keep]
            return part + ROOT * (longest - len(part))
        part = value[len(value) - keep :] if keep < len(value) else value
        return ROOT * (longest - len(part)) + part

    return _of_rows(column, [[v, *(mask_value(filled[v], h) for h in hide)] for v in sorted(filled)])


@declare(title="parts of a path", meaning="components of a path dropped one after another; the separator", example={"path": "/"})
def path(column: str, spec: Any, leaves: Leaves) -> Hierarchy:
    """Drop one component after another: ``"/"`` or ``{separator: "/", specific: left, keep: [2, 1]}``.

    ``specific`` is the end at which the most specific component stands; ``keep`` lists how many components are left at
    each level (default: one fewer each time).

    >>> path("place", "/", Leaves(["Centro/Sobral/CE"])).rows()[0]
    ['Centro/Sobral/CE', 'Sobral/CE', 'CE']
    >>> path("code", {"separator": "-", "specific": "right", "keep": [3, 1]}, Leaves(["92-33-14-01"])).rows()[0]
    ['92-33-14-01', '92-33-14', '92']
    """
    options: Mapping[str, Any] = spec if isinstance(spec, Mapping) else {"separator": spec}
    separator = options.get("separator", "/")
    specific = options.get("specific", "left")
    good = specific in ("left", "right") and not set(options) - {"separator", "specific", "keep"}
    if not isinstance(separator, str) or not separator or not good:
        raise InputError(
            "bad-hierarchy",
            Sentence("path is a separator or {{separator, specific, keep}}, got {given}", given=repr(spec)),
            column=column,
        )
    depth = max((v.count(separator) + 1 for v in leaves.values), default=1)
    keep = options.get("keep", list(range(depth - 1, 0, -1)))
    _check_descending(column, "keep", keep)

    def shorten(value: str, kept: int) -> str:
        parts = value.split(separator)
        return separator.join(parts[-kept:] if specific == "left" else parts[:kept])

    return _of_rows(column, [[v, *(shorten(v, n) for n in keep)] for v in sorted(leaves.values)])


@declare(title="beginnings of codes", meaning="codes cut at these lengths, such as [4, 2]", example={"prefix": [4, 2]})
def prefix(column: str, spec: Any, leaves: Leaves) -> Hierarchy:
    """Codes cut at fixed lengths: ``[4, 2]``, or ``{lengths: [4, 2], fill: 6}``; what is shorter stays.

    ``fill`` puts zeros before values of digits until they have so many. A separator at the end of a label is left out.

    >>> prefix("ubigeo", {"lengths": [4, 2], "fill": 6}, Leaves(["150101", "10205"])).rows()
    [['10205', '0102', '01'], ['150101', '1501', '15']]
    >>> prefix("diagnosis", [4, 1], Leaves(["E11.9"])).rows()
    [['E11.9', 'E11', 'E']]
    """
    options: Mapping[str, Any] = spec if isinstance(spec, Mapping) else {"lengths": spec}
    if set(options) - {"lengths", "fill"} or not options.get("lengths"):
        raise InputError(
            "bad-hierarchy",
            Sentence("prefix is a list of lengths or {{lengths, fill}}, got {given}", given=repr(spec)),
            column=column,
        )
    lengths = options["lengths"]
    _check_descending(column, "lengths", lengths)
    filled = _fill_zeros(column, leaves.values, options)
    rows = [[v, *(filled[v][:n].rstrip(SEPARATORS) or filled[v][:n] for n in lengths)] for v in sorted(filled)]
    return _of_rows(column, rows)


def _fill_zeros(column: str, values: Sequence[str], options: Mapping[str, Any]) -> dict[str, str]:
    """The values with the leading zeros that they lack."""
    length = options.get("fill")
    if length is None:
        return {v: v for v in values}
    if type(length) is not int or not 1 <= length <= 100:
        raise InputError(
            "bad-hierarchy",
            Sentence("'fill' is a number of characters from 1 to 100, got {given}", given=repr(length)),
            column=column,
        )
    longer = [v for v in values if len(v) > length]
    if longer:
        raise InputError(
            "bad-hierarchy",
            Sentence("'fill' is {length}, and {count:,} value(s) are longer", length=length, count=len(longer)),
            column=column,
            values=longer,
            hint=Sentence("Write fill: {longest}.", longest=max(map(len, longer))),
        )
    return {v: v.zfill(length) if v.isascii() and v.isdigit() else v for v in values}


def _whole_numbers(given: Any) -> bool:
    return isinstance(given, Sequence) and not isinstance(given, str) and all(type(n) is int and n > 0 for n in given)


def _check_descending(column: str, name: str, given: Any) -> None:
    if not _whole_numbers(given) or list(given) != sorted(set(given), reverse=True):
        raise InputError(
            "bad-hierarchy",
            Sentence("'{name}' must be descending whole numbers, got {given}", name=name, given=repr(given)),
            column=column,
        )


def _of_rows(column: str, rows: Sequence[Sequence[str]]) -> Hierarchy:
    return Hierarchy.from_rows(column, rows or [[""]])
