"""What the name of a column says, in English, Spanish and Portuguese.

A name is split into words first, so that ``age`` is not found in ``language`` nor ``rg`` in ``cargo``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache

from velado.recognition.vocabulary import ALONE, PHRASES, STEMS, WORDS

PRECEDENCE = (
    "weight",
    "e-mail",
    "phone",
    "network",
    "coordinate",
    "url",
    "account",
    "plate",
    "national id",
    "household id",
    "text",
    "orientation",
    "religion",
    "politics",
    "health",
    "crime",
    "income",
    "birth",
    "age",
    "sex",
    "postal",
    "address",
    "country",
    "race",
    "marital",
    "occupation",
    "education",
    "language",
    "physical",
    "household",
    "date",
    "place",
    "score",
    "organization",
    "name",
    "person",
    "record",
    "id",
    "statistic",
    "kind",
    "number",
)
"""Which topic a name has that says several; the first of these."""

IDENTIFYING = frozenset(
    {"name", "e-mail", "phone", "network", "url", "account", "plate", "national id", "household id", "person id", "record id", "id"}
)
"""Topics of columns that say who somebody is."""
KNOWN = (
    "sex",
    "age",
    "birth",
    "postal",
    "place",
    "race",
    "country",
    "marital",
    "education",
    "occupation",
    "date",
    "household",
    "language",
    "physical",
    "address",
)
"""Topics that others know of a person, best known first."""
DEATH = frozenset({"death", "dead", "died", "muerte", "defuncion", "obito", "morte", "fallecimiento", "falecimento"})
OF_A_DEATH = frozenset({"date", "place", "country", "postal", "age"})
"""Topics of what others know of a death."""
PRIVATE = frozenset({"health", "income", "crime", "religion", "politics", "orientation", "score"})
"""Topics that people would not want known."""

_TOPIC = {word: topic for topic, words in WORDS.items() for word in words.split()}
_PHRASE = {phrase: topic for topic, phrases in PHRASES.items() for phrase in phrases.split(" | ")}
_STEM = {stem: topic for topic, stems in STEMS.items() for stem in stems.split()}


def fold(text: str) -> str:
    """Lower case without accents.

    >>> fold("Situação")
    'situacao'
    """
    return "".join(c for c in unicodedata.normalize("NFKD", text.lower()) if not unicodedata.combining(c))


@cache
def words_of(name: str) -> tuple[str, ...]:
    """The words of a column's name: at every sign, digit and change to capitals; of glued words the known parts.

    >>> words_of("fecha_nac"), words_of("PatientID"), words_of("countyname"), words_of("language")
    (('fecha', 'nac'), ('patient', 'id'), ('county', 'name'), ('language',))
    """
    apart = re.sub(r"(?<=[a-zà-ÿ0-9])(?=[A-ZÀ-Þ])|(?<=[A-Z])(?=[A-Z][a-zà-ÿ])", " ", name)
    found: list[str] = []
    for word in re.findall(r"[a-z]+(?:[0-9]+(?![a-z]))?", fold(apart)):
        found += _parts(word)
    return tuple(found)


def _parts(word: str) -> Iterable[str]:
    bare = word.rstrip("0123456789")
    if word in _TOPIC or not bare:
        return [word]
    if bare in _TOPIC or _stem(bare):
        return [bare]
    for cut in range(3, len(bare) - 2):
        if bare[:cut] in _TOPIC and bare[cut:] in _TOPIC:
            return [bare[:cut], bare[cut:]]
    if bare.endswith("id") and bare[:-2] in _TOPIC:
        return [bare[:-2], "id"]
    if bare[0] in "mf" and len(bare) > 3 and bare[1:] in _TOPIC:
        return [bare[1:]]  # of the mother, of the father: Medu, Fjob
    return [word]


def _stem(word: str) -> str | None:
    return next((topic for stem, topic in _STEM.items() if word.startswith(stem)), None)


@cache
def topic_of(name: str) -> str | None:
    """What the name of a column says: one of the topics above, or None.

    >>> [topic_of(n) for n in ("Edad", "language", "dt_nasc", "Nombre municipio", "id_hogar", "cargo", "patient_id", "p17")]
    ['age', 'language', 'birth', 'place', 'household id', 'occupation', 'person id', None]
    """
    words = words_of(name)
    whole = " ".join(words)
    if whole in ALONE:
        return ALONE[whole]
    spaced = f" {whole} "
    said = {topic for phrase, topic in _PHRASE.items() if f" {phrase} " in spaced}
    if said:
        return min(said, key=_rank)
    topics = [t for t in (_TOPIC.get(w) or _stem(w) for w in words) if t]
    if len(words) > 6:
        # A whole question: single words of it say little, but those about the person who answers.
        topics = [t for t in topics if t in PRIVATE or t in ("e-mail", "phone", "name")]
    if not topics:
        return None
    said = set(topics)
    if "id" in said or "number" in said:
        numbered = "id" in said
        if "household" in said and numbered:
            return "household id"
        if "person" in said:
            return "person id"
        if "record" in said:
            return "record id"
        rest = said - {"id", "number", "kind"}
        if not rest:
            return "id" if numbered else "number"
        if numbered and not rest - PRIVATE - {"organization", "statistic"}:
            return "record id"  # loan_id, treatment_id: of one loan, one treatment
        said = rest
    if "name" in said and said & {"birth", "household", "marital"}:
        return "name"  # of a relative, or before a marriage
    if "birth" in said and said & {"place", "country"}:
        said.discard("birth")
    if "health" in said and DEATH & set(words) and said & OF_A_DEATH:
        said = said & OF_A_DEATH  # deathYear, deathState: when and where stands on a gravestone
    if "statistic" in said and said & {"postal", "place", "country"}:
        return "statistic"  # zip_population, county_median_income: a figure of a place
    best = min(said, key=_rank)
    if best == "name" and "organization" in said:
        return "organization"
    if best in ("person", "record") and "kind" in said:
        return "kind"  # ADMISSION_TYPE: of which kind, not which one
    if best == "person":
        return "person id" if len(words) <= 2 else None
    if best == "record":
        return "record id" if len(words) <= 2 else None
    return best


def _rank(topic: str) -> int:
    return PRECEDENCE.index(topic) if topic in PRECEDENCE else -1
