"""Hierarchies of lists that everybody knows: countries and states, by the regions that they lie in."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from velado.declarations import declare
from velado.errors import InputError, suggest
from velado.hierarchies.hierarchy import Hierarchy
from velado.hierarchies.leaves import Leaves
from velado.hierarchies.territories import BRAZILIAN_STATES, OTHER_NAMES, REGIONS, US_STATES
from velado.sentences import Sentence

LANGUAGES = ("en", "es", "pt")
JOINING = frozenset({"and", "y", "e", "the"})
"""Words that do not tell names apart."""
Regions = Mapping[str, Sequence[str]]
"""The regions of every member of a list, the smallest first, by its folded names and by its codes."""


@declare(title="known list", meaning="regions of a list that everybody knows", example={"known": "countries"})
def known_list(column: str, spec: Any, leaves: Leaves) -> Hierarchy:
    """Regions of a known list: ``countries``, or ``{list: countries, levels: [continent], language: es, others: other}``.

    ``language`` is that of the labels; values may be names in English, Spanish or Portuguese, or codes in capitals.
    Values that the list does not have are an error, unless ``others`` names a group for them.

    >>> known_list("born", "countries", Leaves(["Brasil", "FR", "Estados Unidos"])).rows()
    [['Brasil', 'South America', 'Americas'], ['Estados Unidos', 'Northern America', 'Americas'], ['FR', 'Western Europe', 'Europe']]
    """
    options: Mapping[str, Any] = spec if isinstance(spec, Mapping) else {"list": spec}
    name, language, others = options.get("list"), options.get("language", "en"), options.get("others")
    if set(options) - {"list", "levels", "language", "others"} or not isinstance(name, str) or name not in LISTS:
        raise InputError(
            "bad-hierarchy",
            Sentence(
                "known is one of {lists}, or {{list, levels, language, others}}, got {given}", lists=list(LISTS), given=repr(spec)
            ),
            column=column,
            hint=suggest(str(name), LISTS),
        )
    places = _places(column, name, options.get("levels", LISTS[name].levels))
    if language not in LANGUAGES or not (others is None or (isinstance(others, str) and others)):
        raise InputError("bad-hierarchy", "'language' is one of en, es, pt, and 'others' the name of a group", column=column)
    members = LISTS[name].members(language)
    found = {v: regions_of(v, members) for v in leaves.values}
    unknown = [v for v, regions in found.items() if regions is None]
    if unknown and others is None:
        raise InputError(
            "value-not-in-hierarchy",
            Sentence("{count:,} value(s) are not in the list '{name}'", count=len(unknown), name=name),
            column=column,
            values=unknown,
            hint=Sentence("Clean them, or write {{known: {{list: {name}, others: other}}}}.", name=name),
        )
    rows = [[v, *((found[v] or [str(others)] * len(LISTS[name].levels))[i] for i in places)] for v in sorted(found)]
    return Hierarchy.from_rows(column, rows or [[""]])


def _places(column: str, name: str, levels: Any) -> list[int]:
    """Which regions of a list are asked for, the smallest first."""
    known = LISTS[name].levels
    if isinstance(levels, Sequence) and not isinstance(levels, str) and levels and all(x in known for x in levels):
        places = [known.index(x) for x in levels]
        if places == sorted(set(places)):
            return places
    raise InputError(
        "bad-hierarchy",
        Sentence("the levels of {name} are {known}, in this order, got {given}", name=name, known=known, given=repr(levels)),
        column=column,
    )


def regions_of(value: str, members: Regions) -> Sequence[str] | None:
    """The regions of a value, None if the list does not have it."""
    return members.get(value.strip()) or members.get(fold_name(value))


def fold_name(name: str) -> str:
    """A name without capitals, accents, signs and joining words.

    >>> fold_name("United-States"), fold_name("Perú "), fold_name("Trinidad & Tobago") == fold_name("Trinidad y Tobago")
    ('united states', 'peru', True)
    """
    plain = unicodedata.normalize("NFKD", name.casefold())
    letters = "".join(c for c in plain if not unicodedata.combining(c))
    return " ".join(word for word in re.findall(r"[^\W_]+", letters) if word not in JOINING)


@lru_cache
def countries(language: str) -> Regions:
    """Countries: region and continent."""
    from babel import Locale
    from babel.core import get_global

    shown = Locale(language).territories
    regions = {
        code: (shown[region], shown[continent])
        for continent, parts in REGIONS.items()
        for region, codes in parts.items()
        for code in codes.split()
    }
    members = dict(regions)
    for alias, codes in get_global("territory_aliases").items():
        # ISO codes of three letters; those that stand for several countries say nothing.
        if len(alias) == 3 and alias.isalpha() and len(codes) == 1 and codes[0] in regions:
            members[alias] = regions[codes[0]]
    for one in LANGUAGES:
        members |= {fold_name(n): regions[code] for code, n in Locale(one).territories.items() if code in regions}
    members |= {fold_name(name): regions[code] for code, names in OTHER_NAMES.items() for name in names.split("|")}
    return members


def language_of_countries(values: Sequence[str]) -> str:
    """The language in which most values are names of countries; English if others have no more.

    >>> language_of_countries(["Perú", "Alemania", "Brasil"])
    'es'
    """
    from babel import Locale

    names = {x: {fold_name(name) for name in Locale(x).territories.values()} for x in LANGUAGES}
    return max(LANGUAGES, key=lambda x: sum(fold_name(v) in names[x] for v in values))


@lru_cache
def us_states(language: str) -> Regions:
    """States of the United States: division and region of the Census Bureau."""
    return {
        name: (division, region)
        for region, divisions in US_STATES.items()
        for division, states in divisions.items()
        for name in _names(states)
    }


@lru_cache
def brazilian_states(language: str) -> Regions:
    """States of Brazil: region of the IBGE."""
    return {name: (region,) for region, states in BRAZILIAN_STATES.items() for name in _names(states)}


def _names(states: str) -> list[str]:
    """Codes and folded names of states."""
    return [name for state in states.split("|") for name in (state[:2], fold_name(state[3:]))]


@dataclass(frozen=True)
class KnownList:
    """What the levels of a list are, and its members with their regions, named in a language."""

    levels: tuple[str, ...]
    members: Callable[[str], Regions]


LISTS = {
    "countries": KnownList(("region", "continent"), countries),
    "us-states": KnownList(("division", "region"), us_states),
    "brazilian-states": KnownList(("region",), brazilian_states),
}
