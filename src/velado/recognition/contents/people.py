"""Personal names: first names, surnames, and both together in any usual order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import NamedTuple

from velado.recognition.contents.sample import Content, Sample
from velado.recognition.names import fold

LOCALES = (
    "en",
    "en_US",
    "en_GB",
    "es_ES",
    "es_MX",
    "es_CO",
    "es_CL",
    "es_AR",
    "pt_BR",
    "pt_PT",
    "de_DE",
    "fr_FR",
    "it_IT",
    "nl_NL",
    "pl_PL",
    "sv_SE",
    "en_IN",
)
"""Whose lists of names are read."""
WORDS = (("lorem", "en_US es_ES fr_FR de_DE it_IT", "word_list"), ("job", "en_US es_ES pt_BR", "jobs"))
PLACES = (
    ("address", "en es pt_BR", "countries"),
    ("address", "en_US es_ES es_MX", "states"),
    ("address", "es_CO", "municipalities departments"),
    ("address", "es_CL", "communes provinces regions"),
    ("address", "pt_BR", "bairros estados"),
)
"""Lists of what are no names, though some of it looks so: ordinary words, occupations, places."""
ORDINARY = (
    "baker cook carpenter farmer fisher miner potter weaver butcher barber painter plumber tailor waiter judge "
    "gardener hunter shepherd clerk teacher nurse doctor lawyer driver engineer pastor "
    "january february march april may june july august september october november december enero febrero marzo "
    "abril mayo junio julio agosto septiembre octubre noviembre diciembre janeiro fevereiro marco maio junho "
    "julho setembro outubro novembro dezembro monday tuesday wednesday thursday friday saturday sunday jan feb "
    "mar apr jun jul aug sep oct nov dec lunes martes miercoles jueves viernes sabado domingo male female "
    "masculino femenino feminino hombre mujer brown gray grey silver gold golden rose violet ruby amber black "
    "white green blue red orange purple north south east west norte sur sul este oeste centro center saint san "
    "santa santo sao st fort port lake mount new old villa city town beach hospital clinic school university "
    "college ltd inc company church police department county yes no si sim nao other otro outro unknown none "
    "single married divorced widowed mother father wife husband son daughter christian catholic chance hope faith "
    "grace justice mercy king queen prince duke baron earl angel star sky summer autumn winter spring fire storm "
    "dollar pound mark penny cash rich low high medium"
)
TITLES = (
    "mr mrs ms miss master mister dr dra sr sra srta don dona rev col capt major lady sir mme mlle jonkheer "
    "countess prof ing lic jr ii iii iv phd md esq herr frau"
)
PARTICLES = "de da do dos das del la las los el van von der den di du le y e bin ibn al ben ter ten san santa st"
OTHER_TOPICS = (
    "place country occupation education language sex race marital date postal health crime religion age birth "
    "kind organization politics income score physical"
)
"""Names that say something else: cities and diseases named after people are no people."""
_TITLES, _PARTICLES, _OTHER_TOPICS = (frozenset(t.split()) for t in (TITLES, PARTICLES, OTHER_TOPICS))
WORD = re.compile(r"[^\W\d_]+(?:['’´`-][^\W\d_]+)*\.?")


class Lexicon(NamedTuple):
    """Folded words: first names, surnames, and what is neither; places are whole values."""

    first: frozenset[str]
    last: frozenset[str]
    ordinary: frozenset[str]
    places: frozenset[str]

    def clear(self, word: str) -> bool:
        """A name that is no ordinary word."""
        return (word in self.first or word in self.last) and word not in self.ordinary


@cache
def lexicon() -> Lexicon:
    """Names of many languages, and ordinary words, from the lists of Faker: read when first needed."""
    first: set[str] = set()
    last: set[str] = set()
    for locale in LOCALES:
        provider = import_module(f"faker.providers.person.{locale}").Provider
        for attribute in dir(provider):
            into = {"first_names_male": first, "first_names_female": first, "last_names": last, "unisex_last_names": last}.get(
                attribute
            )
            if into is not None:
                into |= _words(getattr(provider, attribute))
    ordinary, places = set(ORDINARY.split()), set()
    for package, locales, attributes in WORDS:
        for locale in locales.split():
            ordinary |= _words(getattr(import_module(f"faker.providers.{package}.{locale}").Provider, attributes))
    for package, locales, attributes in PLACES:
        for locale in locales.split():
            provider = import_module(f"faker.providers.{package}.{locale}").Provider
            for attribute in attributes.split():
                places |= set(map(fold, _texts(getattr(provider, attribute))))
    return Lexicon(frozenset(first - _PARTICLES), frozenset(last - _PARTICLES), frozenset(ordinary), frozenset(places))


def _texts(listed: object) -> Iterator[str]:
    """The texts of a list of Faker's: they may be keys with weights, values of codes, or in tuples with codes."""
    if isinstance(listed, dict):
        yield from (str(value if isinstance(value, str) else key) for key, value in listed.items())
    elif isinstance(listed, (list, tuple)):
        yield from (str(text if isinstance(text, str) else text[-1]) for text in listed)


def _words(listed: object) -> set[str]:
    return set(re.findall(r"[a-z]{2,}", fold("\n".join(_texts(listed)))))


def personal_names(sample: Sample) -> Content | None:
    """First names, surnames, full names, "LAST, First", with titles and particles."""
    supported = sample.topic in ("name", "person id")
    other = sample.topic in _OTHER_TOPICS
    if sample.distinct < 3 or (sample.distinct < 8 and not supported and sample.ratio < 0.5):
        return None
    if sample.share(_words_only) < 0.6 or (other and (sample.distinct < 20 or sample.share(lambda v: " " in v) < 0.8)):
        return None
    looked = sample.few(500)
    known = lexicon()
    share = looked.share(lambda v: _is_name(v, known))
    needed = 0.2 if supported else 0.8 if other else 0.5
    single = looked.share(lambda v: _is_name(v, known) and " " not in v) > 0.5 * share
    return Content("personal names" if single else "full names", share) if share >= needed else None


def _words_only(value: str) -> bool:
    words = re.sub(r"\(.*?\)|[\"“”,]", " ", value).split()
    return 1 <= len(words) <= 9 and all(WORD.fullmatch(w) for w in words)


def _is_name(value: str, known: Lexicon) -> bool:
    """Whether a value reads like somebody's name.

    The first word, or the one after a comma, is a first name and no other is an ordinary word; or all are names.
    """
    folded = fold(re.sub(r"\(.*?\)|\"", " ", value)).replace("’", "'")
    if folded.strip() in known.places or any(c.isdigit() for c in folded):
        return False
    before, comma, after = folded.partition(",")
    parts = [[w.strip(".") for w in part.split() if w.strip(".")] for part in (after if comma else before, before if comma else "")]
    given, family = ([w for w in part if w not in _TITLES] for part in parts)
    words = [w for w in (*given, *family) if w not in _PARTICLES and len(w) > 1]
    if not words or len(words) > 7 or not all(re.fullmatch(r"[^\W\d_]+(['´`-][^\W\d_]+)*", w) for w in words):
        return False
    pieces = [p for w in words for p in re.split(r"['´`-]", w) if len(p) > 1]
    if len(words) == 1:
        return any(known.clear(p) for p in pieces)
    if not given or given[0] in ("san", "santa", "saint", "st", "sao", "new", "la", "el", "los", "las"):
        return False
    leading = [p for p in re.split(r"['´`-]", given[0]) if p]
    named = leading and leading[0] in known.first and not (leading[0] in known.ordinary and not comma)
    plain = [p for p in pieces if p in known.ordinary and p not in known.last and p not in known.first]
    if named and not plain:
        return True
    return all(p in known.first or p in known.last for p in pieces) and any(known.clear(p) for p in pieces)
