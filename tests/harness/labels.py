"""What a released label stands for, read from the documentation of hierarchies and from the original values alone."""

import csv
import io
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from harness.reading import Cell, decoded, number

Meaning = dict[Cell, frozenset[Cell]]
"""Label → the original values under it."""
ROOT = "*"
ROUNDED = Fraction(1, 10**9)
"""Limits are written with nine decimals."""
_N = r"[+-]?\d+(?:[.,]\d+)?(?:e[+-]?\d+)?"
_DASHED = re.compile(rf"({_N})(?:-|\.\.)({_N})")
_HALF_OPEN = re.compile(rf"\[({_N})[,;] ({_N})\)")
_CLOSED = re.compile(rf"\[({_N})[,;] ({_N})\]")
_BELOW = re.compile(rf"<({_N})")
_FROM = re.compile(rf">=({_N})")


GROUPED = re.compile(r"[.,]\d{3}(?!\d)")


class Unreadable(Exception):
    """This kind of hierarchy or label is not read here: nothing can be said of the column."""


def meanings(
    spec: Any, values: Sequence[Cell], labels: Iterable[Cell], format: str | Sequence[str] | None, folder: Path
) -> list[Meaning]:
    """The readings of a column, one per level, the values themselves first and ``*`` last."""
    present = [v for v in dict.fromkeys(values) if v is not None]
    levels: list[Callable[[str], str]] = []
    found: list[Meaning] = [_inverted({v: v for v in present})]
    spec = (
        {k: v for k, v in (spec or {}).items() if k not in ("top", "delimiter", "encoding")} or None
        if isinstance(spec, Mapping)
        else spec
    )
    if spec is not None:
        if not isinstance(spec, Mapping) or len(spec) != 1:
            raise Unreadable(str(spec))
        ((kind, options),) = spec.items()
        if kind == "intervals":
            found.append(_intervals(present, labels))
        elif kind in ("file", "rows", "tree", "groups"):
            found += _listed(kind, options, present, folder)
        elif kind == "order":
            pass
        elif kind == "mask":
            levels = _masks(options, present)
        elif kind == "path":
            levels = _paths(options, present)
        elif kind == "prefix":
            levels = _prefixes(options)
        elif kind == "frequency":
            levels = _rare(options, Counter(values))
        elif kind == "dates":
            formats = ["%Y-%m-%d"] if format is None else [format] if isinstance(format, str) else list(format)
            levels = [_date_label(unit, formats) for unit in options]
        else:
            raise Unreadable(kind)
    found += [_inverted({v: f(v) for v in present}) for f in levels]
    if None in values:
        for meaning in found:
            # A listed hierarchy may say itself what becomes of a missing value.
            if not any(None in under for under in meaning.values()):
                meaning[None] = meaning.get(None, frozenset()) | {None}
    found.append({ROOT: frozenset(values)})
    return found


def ranges(values: Sequence[Cell], labels: Iterable[Cell]) -> Meaning:
    """Labels of a local recoding of numbers: a value, from the lowest to the highest, or ``*``."""
    present = [v for v in dict.fromkeys(values) if v is not None]
    meaning = _intervals(present, labels)
    for label in labels:
        if label in present:
            same = number(label)
            meaning[label] = frozenset(v for v in present if v == label or (same is not None and number(v) == same))
    meaning[None] = frozenset([None])
    meaning[ROOT] = frozenset(values)
    return meaning


def _inverted(label_of: Mapping[Cell, Cell]) -> Meaning:
    under: dict[Cell, set[Cell]] = defaultdict(set)
    for value, label in label_of.items():
        under[label].add(value)
    return {label: frozenset(v) for label, v in under.items()}


def _intervals(values: Sequence[str], labels: Iterable[Cell]) -> Meaning:
    numbers = {v: number(v) for v in values}
    if any(n is None or GROUPED.search(v) for v, n in numbers.items()):
        raise Unreadable("not numbers, or thousands")
    meaning: Meaning = {}
    for label in labels:
        if label in (None, ROOT):
            continue
        holds = _interval(str(label))
        if holds is not None:
            meaning[label] = frozenset(v for v, n in numbers.items() if n is not None and holds(n))
    return meaning


def _interval(label: str) -> Callable[[Fraction], bool] | None:
    """Whether a number lies in the interval that a label names."""
    if found := _DASHED.fullmatch(label):
        low, high = _limit(found[1]), _limit(found[2])
        return lambda n: low <= n <= high
    if found := _CLOSED.fullmatch(label):
        low, high = _limit(found[1]) - ROUNDED, _limit(found[2]) + ROUNDED
        return lambda n: low <= n <= high
    if found := _HALF_OPEN.fullmatch(label):
        low, high = _limit(found[1]), _limit(found[2])
        return lambda n: low <= n < high
    if found := _BELOW.fullmatch(label):
        high = _limit(found[1])
        return lambda n: n < high
    if found := _FROM.fullmatch(label):
        low = _limit(found[1])
        return lambda n: n >= low
    if (same := number(label)) is not None:
        # An interval of width 1 shows its one whole number.
        return lambda n: n == same
    return None


def _limit(text: str) -> Fraction:
    return Fraction(text.replace(",", "."))


def _masks(options: Any, values: Sequence[str]) -> list[Callable[[str], str]]:
    options = options if isinstance(options, Mapping) else {"side": options}
    side = options.get("side", "right")
    fill = options.get("fill", 0)
    longest = max((len(_filled(v, fill)) for v in values), default=1)

    def level(hidden: int) -> Callable[[str], str]:
        keep = max(longest - hidden, 0)

        def label(value: str) -> str:
            value = _filled(value, fill)
            if side == "right":
                return value[:keep].ljust(longest, ROOT)
            return value[max(len(value) - keep, 0) :].rjust(longest, ROOT)

        return label

    return [level(h) for h in options.get("hide", range(1, longest))]


def _filled(value: str, length: int) -> str:
    """A value of digits with the leading zeros that it lost."""
    return "0" * (length - len(value)) + value if value.isdigit() else value


def _prefixes(options: Any) -> list[Callable[[str], str]]:
    options = options if isinstance(options, Mapping) else {"lengths": options}

    def level(length: int) -> Callable[[str], str]:
        def label(value: str) -> str:
            part = _filled(value, options.get("fill", 0))[:length]
            return re.sub(r"[ .,\-/_:;|]+$", "", part) or part

        return label

    return [level(length) for length in options["lengths"]]


def _rare(options: Any, records: Mapping[Cell, int]) -> list[Callable[[str], str]]:
    options = options if isinstance(options, Mapping) else {"least": options}
    name, least = options.get("name", "other"), options["least"]
    groups = [name] if len(least) == 1 else [f"{name} {i + 1}" for i in range(len(least))]

    def level(group: str, fewest: int) -> Callable[[str], str]:
        return lambda value: group if value in groups or records[value] < fewest else value

    return [level(group, fewest) for group, fewest in zip(groups, least, strict=True)]


def _paths(options: Any, values: Sequence[str]) -> list[Callable[[str], str]]:
    options = options if isinstance(options, Mapping) else {"separator": options}
    separator = options.get("separator", "/")
    left = options.get("specific", "left") == "left"
    depth = max((len(v.split(separator)) for v in values), default=1)

    def level(keep: int) -> Callable[[str], str]:
        def label(value: str) -> str:
            parts = value.split(separator)
            return separator.join(parts[-keep:] if left else parts[:keep])

        return label

    return [level(keep) for keep in options.get("keep", range(depth - 1, 0, -1))]


@cache
def _day(value: str, formats: tuple[str, ...]) -> datetime:
    if formats == ("%Y-%m-%d",) and " " in value:
        # A time of a table that has a type for it; nanoseconds do not matter for a day.
        return datetime.strptime(value.partition(" ")[0], formats[0])
    for format in formats:
        try:
            day = datetime.strptime(value, format)
        except ValueError:
            continue
        if "%y" in format:
            # Two digits are the last such year until now.
            while day.year > datetime.now().year:
                day = day.replace(year=day.year - 100)
            while day.year <= datetime.now().year - 100:
                day = day.replace(year=day.year + 100)
        return day
    raise Unreadable("no format fits a date")


def _date_label(unit: str, formats: Sequence[str]) -> Callable[[str], str]:
    year_first = not all(f.find("%d") < max(f.find("%Y"), f.find("%y")) and not f.startswith(("%Y", "%y")) for f in formats)

    def label(value: str) -> str:
        day = _day(value.strip(), tuple(formats))
        if unit == "day":
            return day.strftime("%Y-%m-%d") if year_first else day.strftime("%d/%m/%Y")
        first = {"five-years": 5, "decade": 10, "century": 100}.get(unit)
        if first:
            start = day.year // first * first
            return f"{start:04d}-{start + first - 1:04d}"
        if unit == "week":
            monday = day - timedelta(days=day.weekday())
            return "week of " + (monday.strftime("%Y-%m-%d") if year_first else monday.strftime("%d/%m/%Y"))
        if unit == "month":
            return f"{day.year:04d}-{day.month:02d}" if year_first else f"{day.month:02d}/{day.year:04d}"
        if unit == "quarter":
            return f"{day.year:04d}-Q{(day.month + 2) // 3}"
        if unit == "year":
            return f"{day.year:04d}"
        raise Unreadable(unit)

    return label


def _listed(kind: str, options: Any, values: Sequence[str], folder: Path) -> list[Meaning]:
    """The levels of a hierarchy that lists its values; those that the data do not have are left out."""
    chains = {chain[0]: chain for chain in chains_of(kind, options, folder)}
    depth = max(map(len, chains.values()), default=0)
    if set(values) - set(chains):
        raise Unreadable("values that the hierarchy does not list")
    own = [*values, *([None] if None in chains else [])]
    return [_inverted({v: chains[v][min(n, len(chains[v]) - 1)] for v in own}) for n in range(1, depth)]


def chains_of(kind: str, options: Any, folder: Path) -> list[list[Cell]]:
    """Value, level 1, level 2, … of a hierarchy that lists its values."""
    if kind == "rows":
        return [[None if c == "" else c if c is None else str(c) for c in row] for row in options]
    if kind == "file":
        content = decoded((folder / str(options)).read_bytes(), None)
        for delimiter in ";,\t|":
            rows = [r for r in csv.reader(io.StringIO(content, newline=""), delimiter=delimiter) if r]
            if rows and len({len(r) for r in rows}) == 1 and len(rows[0]) > 1:
                return [[c or None for c in row] for row in rows]
        raise Unreadable("the file's delimiter")
    if kind == "groups":
        return _grouped(options)
    chains = [chain for top, below in options.items() for chain in _branches(str(top), below)]
    depth = max(map(len, chains))
    # A leaf that hangs higher than others keeps its name until the others reach it.
    return [[chain[0]] * (depth - len(chain)) + chain for chain in chains]


def _branches(name: str, below: Any) -> list[list[Cell]]:
    if not below:
        return [[name]]
    if isinstance(below, Mapping):
        return [[*chain, name] for n, b in below.items() for chain in _branches(str(n), b)]
    return [
        [*chain, name]
        for leaf in below
        for chain in (_branches(*next(iter(leaf.items()))) if isinstance(leaf, Mapping) else [[str(leaf)]])
    ]


def _grouped(options: Any) -> list[list[Cell]]:
    steps = options if isinstance(options, Sequence) else [options]
    chains: list[list[Cell]] = [[str(v)] for members in steps[0].values() for v in members]
    for step in steps:
        group_of = {str(v): str(name) for name, members in step.items() for v in members}
        chains = [[*chain, group_of[str(chain[-1])]] for chain in chains]
    return chains
