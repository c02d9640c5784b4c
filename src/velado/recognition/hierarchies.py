"""A first hierarchy for a column."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from velado.errors import InputError
from velado.hierarchies.build import build
from velado.hierarchies.calendar import parse_dates
from velado.hierarchies.known_lists import LISTS, language_of_countries, regions_of
from velado.hierarchies.rare_values import OTHER
from velado.numbers import parse_all
from velado.recognition.names import topic_of
from velado.recognition.types import Reading
from velado.results import Discreet
from velado.sentences import Sentence

FEW = 20
"""Fewer categories without any structure stay as they are."""
FEW_NUMBERS = 12
"""Fewer different whole numbers are codes or small counts, unless the name says that they are ages or years."""
GROUPS = 16
"""About so many intervals at level 1."""
MERGED = 0.9
"""A level has at most this share of the groups of the level below."""
SHARED = 0.7
"""Level 1 of a path or prefix has at most this share of the groups of level 0: several values have to share a part."""
RUNS, RUN = 30, 100
"""Of columns with more values than this, so many runs of so many values are looked at."""
SKEWED = 20
"""Numbers whose largest are so many times their median get intervals that grow."""
SEPARATORS = (", ", " - ", " / ", " > ", " | ", ",", "/", "|", ">", "-", ".", ":", "_")
QUANTITY = re.compile(r"age\b|age_|_age|edad|idade|year|a[nñ]o\b|a[nñ]o_|\bano|_ano|anio|yob", re.IGNORECASE)
POSTAL = re.compile(r"zip|postal|\bcep\b|cod_?pos|\bc\.?p\b", re.IGNORECASE)
CODED = re.compile(
    r"cod|ubigeo|ibge|fips|comuna|municip|distrit|provinc|depart|\bcut\b|cnae|cbo|ciuo|isco|naics|ocupa|occup|region|county",
    re.IGNORECASE,
)
ICD = re.compile(r"[A-TV-Z][0-9][0-9AB]\.?[0-9A-Z]{0,4}", re.IGNORECASE)
PLACES = {
    "countries": re.compile(r"countr|pa[ií]s|nation|nacion|nacional|origin|born|nacid|nasc|residen", re.IGNORECASE),
    "us-states": re.compile(r"state|estado", re.IGNORECASE),
    "brazilian-states": re.compile(r"uf\b|_uf|estado|state", re.IGNORECASE),
}
MOST_NAMES = 1000
"""No list has as many names that somebody would use in one column."""
SURELY_CODES = 15
"""So many different codes of a list are no accident, whatever the name of the column."""
BY_FREQUENCY = Sentence("grouped by frequency only: better groups need knowledge of the column")
FREQUENCIES = (0.002, 0.01, 0.05)
"""Shares of the records below which values are put together."""


@dataclass(frozen=True, repr=False)
class SuggestedHierarchy(Discreet):
    """A hierarchy as a project file writes it, None for value → *; and what should be said of it, if anything."""

    spec: Any = None
    reason: str = ""


NOTHING = SuggestedHierarchy()


def suggest_hierarchy(name: str, reading: Reading, amount: Mapping[str, int]) -> SuggestedHierarchy:
    """A first hierarchy for a column.

    ``amount``: the values that are neither missing nor stand for it, with their numbers of records. No level of a
    suggestion is equal to the one below it, and none but ``*`` holds everything.

    >>> suggest_hierarchy("age", Reading("integer"), {str(age): 1 for age in range(17, 91)}).spec
    {'intervals': [5, 10, 20]}
    >>> suggest_hierarchy("place", Reading("text"), {f"{c}, {s}": 1 for c in "ABCD" for s in ("TX", "CA")}).spec
    {'path': ', '}
    """
    if len(amount) < 2:
        return NOTHING
    column = _Column(name, reading, amount)
    return KINDS[reading.type](column)


@dataclass(frozen=True, repr=False)
class _Column(Discreet):
    name: str
    reading: Reading
    amount: Mapping[str, int]

    @property
    def values(self) -> list[str]:
        return list(self.amount)

    @cached_property
    def sample(self) -> Mapping[str, int]:
        """Some runs of neighbouring values: what is merged among them is merged among all."""
        if len(self.amount) <= RUNS * RUN:
            return self.amount
        ordered = sorted(self.amount)
        step = len(ordered) // RUNS
        return {v: self.amount[v] for i in range(RUNS) for v in ordered[i * step : i * step + RUN]}

    def fit_levels(self, levels: Sequence[Any], spec: Callable[[list[Any]], Any], most: float = MERGED) -> Any:
        """The description with those levels that merge groups and do not merge all; None if none is left.

        Level 1 has at most the share ``most`` of the groups of level 0.
        """
        if not levels:
            return None
        try:
            built = build(self.name, {**spec(list(levels)), "top": False}, self.sample, format=self.reading.format)
        except InputError:
            return None
        kept, below = [], len(self.sample) * most / MERGED
        for place, level in enumerate(levels, start=1):
            groups = len(built.labels[place])
            if 1 < groups <= MERGED * below:
                kept.append(level)
                below = groups
        return spec(kept) if kept else None


def _of_dates(column: _Column) -> SuggestedHierarchy:
    """Units that fit the span: weeks of some months, months and years of some years, decades of more."""
    moments = parse_dates(column.name, column.values, column.reading.format)
    days = (max(moments) - min(moments)).days
    if days <= 120:
        units = ["week"]
    elif days <= 6 * 366:
        units = ["month", "quarter", "year"]
    else:
        units = ["month", "year", "five-years", "decade"]
    timed = any(m.hour or m.minute or m.second for m in moments)
    return SuggestedHierarchy(column.fit_levels([*(["day"] if timed else []), *units], lambda levels: {"dates": levels}))


def _of_integers(column: _Column) -> SuggestedHierarchy:
    """Codes by their digits; counts, ages, years in intervals; few codes and flags not at all."""
    values = column.values
    digits = all(v.isdigit() for v in values)
    if digits and topic_of(column.name) != "statistic" and (POSTAL.search(column.name) or CODED.search(column.name)):
        return _of_codes(column)
    few = 3 if QUANTITY.search(column.name) else FEW_NUMBERS
    return NOTHING if len(values) < few else _of_numbers(column)


def _of_codes(column: _Column) -> SuggestedHierarchy:
    """Digits of codes, with the zeros that they lost."""
    lengths = {len(v) for v in column.values}
    longest = max(lengths)
    lost = longest - 1 in lengths or len(lengths) == 1
    if re.search("ubigeo", column.name, re.IGNORECASE) and longest <= 6:
        return SuggestedHierarchy(column.fit_levels([4, 2], lambda levels: {"prefix": {"lengths": levels, "fill": 6}}))
    if longest < 3 or (not (lost and longest - min(lengths) <= 1) and not POSTAL.search(column.name)):
        return NOTHING
    return _suggest_mask(column, {"fill": longest} if len(lengths) > 1 else {})


def _suggest_mask(column: _Column, options: Mapping[str, Any]) -> SuggestedHierarchy:
    longest = max(map(len, column.values))
    hide = column.fit_levels(range(1, longest), lambda levels: {"mask": {"side": "right", "hide": levels, **options}})
    if hide is not None and not options and hide["mask"]["hide"] == list(range(1, longest)):
        return SuggestedHierarchy({"mask": "right"})
    return SuggestedHierarchy(hide)


def _of_numbers(column: _Column) -> SuggestedHierarchy:
    """Intervals of one width, or such that grow where few numbers are very large."""
    numbers = np.array(parse_all(column.name, column.values))
    records = np.array([column.amount[v] for v in column.values], dtype=float)
    order = np.argsort(numbers, kind="stable")
    numbers, share = numbers[order], np.cumsum(records[order]) / records.sum()
    places = np.minimum(np.searchsorted(share, (0.005, 0.5, 0.995)), len(numbers) - 1)
    low, middle, high = map(float, numbers[places])
    if numbers[0] >= 0 and high > SKEWED * middle and high >= 100:
        found = _growing(column, numbers)
        if found.spec is not None:
            return found
    span = (high - low) or float(numbers[-1] - numbers[0])
    if span <= 0 or not math.isfinite(span):
        return NOTHING
    width = _round_up(span / GROUPS)
    if (numbers == np.floor(numbers)).all():
        width = max(width, 2.0)
    factors = (1, 5, 10) if f"{width:.0e}".startswith("2") else (1, 2, 4)
    widths = [_tidy(width * factor) for factor in factors]
    return SuggestedHierarchy(column.fit_levels(widths, lambda levels: {"intervals": levels}))


def _growing(column: _Column, numbers: np.ndarray) -> SuggestedHierarchy:
    """Limits 1, 2, 5, 10, 20, …, then powers of ten."""
    positive = numbers[numbers > 0]
    powers = range(math.floor(math.log10(positive[0])), math.ceil(math.log10(numbers[-1])) + 1)
    if len(powers) > 12:
        return NOTHING
    held = [p for p in powers if numbers[0] < 10.0**p <= numbers[-1]]
    fine = [_tidy(m * 10.0**p) for p in powers for m in (1, 2, 5) if numbers[0] < m * 10.0**p <= numbers[-1]]
    return SuggestedHierarchy(column.fit_levels([fine, [_tidy(10.0**p) for p in held]], lambda cuts: {"intervals": {"cuts": cuts}}))


def _round_up(number: float) -> float:
    """The next of 1, 2, 5, 10, 20, 50, …"""
    power = 10.0 ** math.floor(math.log10(number))
    return next(float(f"{m * power:.12g}") for m in (1, 2, 5, 10) if m * power >= number * (1 - 1e-9))


def _tidy(number: float) -> int | float:
    rounded = float(f"{number:.12g}")
    return int(rounded) if rounded == int(rounded) else rounded


def _of_texts(column: _Column) -> SuggestedHierarchy:
    """The structure that the texts have: diagnoses, paths, known lists, codes of one length; else their frequency."""
    values = column.values
    if len(values) < 4:
        return NOTHING
    for found in (_of_diagnoses, _of_paths, _of_known, _of_equal_length):
        suggested = found(column)
        if suggested.spec is not None:
            return suggested
    return _by_frequency(column) if len(values) >= FEW else NOTHING


def _of_diagnoses(column: _Column) -> SuggestedHierarchy:
    if not all(map(ICD.fullmatch, column.values)):
        return NOTHING
    return SuggestedHierarchy(column.fit_levels([3, 1], lambda lengths: {"prefix": lengths}))


def _of_paths(column: _Column) -> SuggestedHierarchy:
    """All values with the same number of parts, and several that share what stands at one end."""
    values = column.values
    for separator in SEPARATORS:
        depths = {v.count(separator) for v in values}
        if len(depths) > 1 or not 1 <= max(depths) <= 6:
            continue
        parts = [v.split(separator) for v in values]
        if not all(part.strip() for row in parts for part in row):
            continue
        first, last = ({row[end].strip() for row in parts} for end in (0, -1))
        side, general = ("left", last) if len(last) < len(first) else ("right", first)
        # Soltero/a, Casado/a: one letter is an ending, not a place.
        if any(len(g) < 2 and not g.isdigit() for g in general):
            continue
        keep = list(range(max(depths), 0, -1))
        spec = column.fit_levels(keep, lambda levels: _path(separator, side, levels, keep), SHARED)  # noqa: B023
        if spec is not None:
            return SuggestedHierarchy(spec)
    return NOTHING


def _path(separator: str, specific: str, levels: list[int], every: list[int]) -> dict[str, Any]:
    options: dict[str, Any] = {"separator": separator}
    if specific != "left":
        options["specific"] = specific
    if levels != every:
        options["keep"] = levels
    return {"path": options if len(options) > 1 else separator}


def _of_known(column: _Column) -> SuggestedHierarchy:
    """Countries or states, if nearly all values are some."""
    if len(column.values) > MOST_NAMES:
        return NOTHING
    best: tuple[float, bool, str] | None = None
    for name, known in LISTS.items():
        members = known.members("en")
        found = [v for v in column.values if regions_of(v, members) is not None]
        share = len(found) / len(column.values)
        records = sum(column.amount[v] for v in found) / sum(column.amount.values())
        named = PLACES[name].search(column.name) is not None
        codes = all(len(v.strip()) < 4 for v in found)
        if len(found) < 4 or share < 0.75 or records < 0.9 or (codes and not named and len(found) < SURELY_CODES):
            continue
        best = max(best or (0.0, False, ""), (share, named, name))
    if best is None:
        return NOTHING
    share, _, name = best
    language = language_of_countries(column.values) if name == "countries" else "en"
    options = {**({"language": language} if language != "en" else {}), **({"others": OTHER} if share < 1 else {})}
    every = list(LISTS[name].levels)

    def spec(levels: list[str]) -> dict[str, Any]:
        chosen = {} if levels == every else {"levels": levels}
        return {"known": {"list": name, **chosen, **options} if chosen or options else name}

    return SuggestedHierarchy(column.fit_levels(every, spec))


def _of_equal_length(column: _Column) -> SuggestedHierarchy:
    """Codes of one length, character by character."""
    values = column.values
    lengths = {len(v) for v in values}
    coded = all(v.isalnum() and v.isascii() and any(c.isdigit() for c in v) for v in values)
    return _suggest_mask(column, {}) if len(lengths) == 1 and 3 <= min(lengths) <= 10 and coded else NOTHING


def _by_frequency(column: _Column) -> SuggestedHierarchy:
    """Rare values together."""
    records = sum(column.amount.values())
    least = sorted({max(int(_round_up(share * records)), 2) for share in FREQUENCIES})
    spec = column.fit_levels(least, lambda levels: {"frequency": levels})
    return NOTHING if spec is None else SuggestedHierarchy(spec, BY_FREQUENCY)


KINDS: dict[str, Callable[[_Column], SuggestedHierarchy]] = {
    "date": _of_dates,
    "integer": _of_integers,
    "number": _of_numbers,
    "text": _of_texts,
}
