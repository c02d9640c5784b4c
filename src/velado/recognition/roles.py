"""Which role a column should have, and why; on any doubt the more careful one, or none: the owner decides."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol

from velado.hierarchies.known_lists import LISTS, regions_of
from velado.recognition.contents import Content, content_of
from velado.recognition.contents.sample import Sample
from velado.recognition.names import IDENTIFYING, KNOWN, PRIVATE, fold, topic_of, words_of
from velado.recognition.types import YEARS, Reading
from velado.recognition.vocabulary import WORDS
from velado.results import Discreet
from velado.sentences import Sentence

QUASI = 10
"""At most so many quasi-identifiers are suggested: those that others know best."""
DATES = 2
"""At most so many of these are dates of events: each of them nearly tells people apart."""
MANY_AT_HOME = 40
"""More different values are no sizes of families."""
CATEGORIES = 30
"""So many different values may be categories, whatever the number of records."""

NUMBERS = frozenset(WORDS["number"].split())
LESS_KNOWN = Sentence("others may know it, but other columns are better known")
UNDECIDED = ""
"""The role of a column that nothing speaks for: to be left out, unless the owner decides."""

SAID = {
    "sex": Sentence("the sex"),
    "age": Sentence("the age"),
    "birth": Sentence("the birth"),
    "postal": Sentence("the postal code"),
    "place": Sentence("a place"),
    "race": Sentence("race or origin"),
    "country": Sentence("a country"),
    "marital": Sentence("the marital status"),
    "education": Sentence("the education"),
    "occupation": Sentence("the occupation"),
    "date": Sentence("a date"),
    "household": Sentence("the family or household"),
    "language": Sentence("a language"),
    "physical": Sentence("how somebody looks"),
    "address": Sentence("where somebody lives"),
    "health": Sentence("health"),
    "income": Sentence("money"),
    "crime": Sentence("crime and justice"),
    "religion": Sentence("religion"),
    "politics": Sentence("politics"),
    "orientation": Sentence("sexual orientation"),
    "score": Sentence("results"),
}
"""Topics in words."""
VALUES = {
    "sex": (
        "m f male female man woman men women boy girl hombre mujer masculino femenino feminino homem mulher varon "
        "h other otro outro x unknown u nonbinary"
    ),
    "marital": (
        "single married divorced widowed separated soltero soltera casado casada viudo viuda divorciado "
        "divorciada solteiro solteira viuvo viuva separado separada s c d v w"
    ),
}
"""Categories that say by themselves what they are."""


@dataclass(frozen=True, repr=False)
class SuggestedRole(Discreet):
    """A role and why; what name (``topic``) and values (``content``) say, where they say something."""

    NAMES: ClassVar[tuple[str, ...]] = ("role", "topic", "content")
    role: str
    reason: str
    topic: str | None = None
    content: str | None = None


@dataclass(frozen=True, repr=False)
class Seen(Discreet):
    """A column as the rules look at it. ``present``: values that are not missing, with their numbers of records."""

    NAMES: ClassVar[tuple[str, ...]] = ("name", "type")
    name: str
    type: str
    present: Mapping[str, int]
    rows: int

    @cached_property
    def topic(self) -> str | None:
        """What the name says, if the values bear it out; values such as male and female say it, too, and a date is one
        whatever happened then.
        """
        said = topic_of(self.name)
        if said and said in BORNE_OUT and self.present and not BORNE_OUT[said](self):
            said = None
        if self.has_dates:
            return "birth" if said == "birth" else "date"
        if (said is None or said in PRIVATE) and CALENDAR & set(words_of(self.name)) and _calendar_numbers(self):
            return "date"
        if said == "coordinate" and not self.numeric and self.categories:
            return None
        if said == "household" and not self.has_dates and self.distinct > MANY_AT_HOME:
            return "household id"
        if said in (None, "kind", "number") and 2 <= self.distinct <= 6:
            folded = {fold(v).strip(". ").split("/")[0] for v in self.present}
            return next((t for t, words in VALUES.items() if folded <= set(words.split()) and len(folded) > 1), said)
        return said

    @cached_property
    def content(self) -> Content | None:
        """What the values are; dates are not looked at."""
        return None if self.has_dates else content_of(self.name, self.present)

    @cached_property
    def distinct(self) -> int:
        """Different values."""
        return len(self.present)

    @cached_property
    def records(self) -> int:
        """Records that have a value."""
        return sum(self.present.values())

    @property
    def ratio(self) -> float:
        """Different values per record that has one."""
        return self.distinct / max(self.records, 1)

    @property
    def count_sentence(self) -> Sentence:
        """How many values there are, in words."""
        return Sentence("{values:,} different values in {records:,} records", values=self.distinct, records=self.records)

    @cached_property
    def numeric(self) -> bool:
        """Whether the values are amounts, also with signs of money that make them texts."""
        if self.type in ("integer", "number"):
            return True
        some = list(self.present)[:500]
        return self.type == "text" and bool(some) and sum(bool(AMOUNT.fullmatch(v)) for v in some) >= 0.9 * len(some)

    @cached_property
    def has_dates(self) -> bool:
        """Whether the values are dates, also in a form that makes them texts."""
        return self.type == "date" or (self.type == "text" and Sample.of(self.name, self.present).dates)

    @cached_property
    def span(self) -> tuple[float, float]:
        """The smallest and the largest of whole numbers."""
        numbers = [float(v) for v in self.present] if self.type == "integer" else [0.0]
        return min(numbers), max(numbers)

    @cached_property
    def has_serial_numbers(self) -> bool:
        """Whether the values look like numbers that were given to somebody: long and of one length, or equally often."""
        if self.distinct <= CATEGORIES or self.type == "date":
            return False
        lengths = Counter(sum(c.isdigit() for c in v) for v in self.present if NUMBER.fullmatch(v))
        if lengths and lengths.most_common(1)[0][1] >= 0.95 * self.distinct:
            return True
        times = set(self.present.values())
        return self.type == "integer" and len(times) == 1 and times != {1} and self.distinct > 50

    @cached_property
    def spread(self) -> bool:
        """Whether whole numbers, some of them equal, lie far apart: amounts, and no numbers that were given one by one."""
        low, high = self.span
        return self.type == "integer" and self.distinct < self.records and high - low > 3 * self.distinct

    @cached_property
    def codes(self) -> bool:
        """Whether texts are codes that were given to somebody or something, such as K000367."""
        some = list(self.present)[:500]
        fitting = sum(bool(GIVEN.fullmatch(v)) for v in some)
        return self.type == "text" and self.distinct > CATEGORIES and fitting >= 0.95 * len(some)

    @property
    def is_category(self) -> bool:
        """A few values that each stand in many records: a category or a code of one."""
        return self.distinct <= CATEGORIES and self.ratio <= 0.05

    @property
    def categories(self) -> bool:
        """Values that stand in several records each."""
        return (self.distinct <= CATEGORIES and self.ratio <= 0.5) or (self.ratio <= 0.1 and self.distinct <= 1000)


GIVEN = re.compile(r"[A-Za-z]{0,6}[-_]?\d{3,}[A-Za-z0-9_-]{0,12}")
"""A code with a number of three digits at least."""
CALENDAR = frozenset({"year", "month", "day", "ano", "anio", "mes", "dia", "yr", "dob", "yob"})
"""Words for parts of a date."""
LIMITS = {"age": ((0, 130),), "birth": ((1, 31), YEARS), "date": ((1, 31), YEARS)}
"""What numbers of a topic can be: days and months, or years."""
POSTAL_CODE = re.compile(r"(?=.*\d)[A-Za-z0-9][A-Za-z0-9 *.-]{2,9}")
"""Three signs at least, a digit among them."""
OF_BOTH = frozenset({"estado", "state"})
"""Words for a part of a country and for how something is."""
SEXES = 12
"""More different values are no sexes."""
STATES = 12
"""So many different values of a state are parts of a country, whichever country that is."""


def _postal(seen: Seen) -> bool:
    """``cp`` is a postal code, or a chest pain."""
    return sum(bool(POSTAL_CODE.fullmatch(v.strip())) for v in seen.present) >= 0.8 * seen.distinct


def _place(seen: Seen) -> bool:
    """A state is a place if its values are: Leve and Fallecido are none."""
    words = [w for w in words_of(seen.name) if topic_of(w) == "place"]
    if not set(words) or not set(words) <= OF_BOTH or seen.type != "text" or seen.distinct > STATES:
        return True
    lists = [known.members("en") for known in LISTS.values()]
    return sum(any(regions_of(v, members) for members in lists) for v in seen.present) >= 0.5 * seen.distinct


BORNE_OUT: Mapping[str, Callable[[Seen], bool]] = {"postal": _postal, "place": _place, "sex": lambda seen: seen.distinct <= SEXES}
"""Topics that a name only has if the values of the column can be so."""
AMOUNT = re.compile(r"(?=.{0,40}[$€£%.,kKM])[-+(]?\s?([$€£R]{1,2}\$?)?\s?[-+]?\d[\d.,' ]{0,40}[%$€£kKM]?\)?")
"""An amount that is a text: it has a sign of money, of thousands or of decimals; bare digits are a code."""
NUMBER = re.compile(r"\d{6,}|\d{1,3}([., ']\d{3}){2,}")
"""A whole number of at least six digits, perhaps with signs of thousands."""


def role_of(name: str, reading: Reading, present: Mapping[str, int], rows: int) -> SuggestedRole:
    """The role that suggests itself for a column of a table of so many rows, and why."""
    seen = Seen(name, reading.type, present, rows)
    role, reason = _constant(seen) or _who(seen) or _left_out(seen) or _private(seen) or _quasi_identifier(seen) or _rest(seen)
    topic = "id" if role == "identifier" and seen.topic is None and seen.codes else seen.topic
    return SuggestedRole(role, reason, topic, seen.content.kind if seen.content else None)


def _constant(seen: Seen) -> tuple[str, str] | None:
    """Nothing can be learnt from a value that all records have."""
    if not seen.distinct:
        return "insensitive", Sentence("no values")
    named = seen.content or (seen.topic in IDENTIFYING and not all(len(v) < 3 for v in seen.present))
    if seen.distinct == 1 and seen.rows == seen.records > 1 and not named:
        return "insensitive", Sentence("always the same value")
    return None


def _who(seen: Seen) -> tuple[str, str] | None:
    """Columns that say who somebody is, by values or name."""
    if seen.content:
        return "identifier", Sentence("{content}, by the look of its values", content=seen.content.description)
    if seen.topic in IDENTIFYING and not seen.is_category and (seen.distinct > 2 or seen.ratio > 0.5):
        return "identifier", Sentence("an id, by its name: {counted}", counted=seen.count_sentence)
    if seen.topic == "address" and not seen.numeric and not seen.categories:
        return "identifier", Sentence("addresses, by its name: {counted}", counted=seen.count_sentence)
    if seen.topic == "text" and not seen.numeric and not seen.is_category:
        return "identifier", Sentence("free text, by its name: it may say anything about anybody")
    return None


def _left_out(seen: Seen) -> tuple[str, str] | None:
    """Columns that are neither known nor harmless."""
    if seen.topic == "weight" and seen.numeric:
        return UNDECIDED, Sentence("a weight, of a survey or of a body: others could know it, and its values tell records apart")
    if seen.topic in IDENTIFYING and seen.is_category:
        return UNDECIDED, Sentence(
            "an id, by its name, but of few values ({values:,}): a code of something that others could know", values=seen.distinct
        )
    return None


def _private(seen: Seen) -> tuple[str, str] | None:
    """Columns about what people would not want known."""
    if seen.topic not in PRIVATE:
        return None
    if not seen.numeric and seen.distinct > CATEGORIES and seen.ratio > 0.5:
        return "identifier", Sentence("nearly every record has a text of its own: {counted}", counted=seen.count_sentence)
    if (
        seen.type == "integer"
        and seen.ratio > 0.9
        and (NUMBERS & set(words_of(seen.name)) or seen.topic in ("politics", "religion", "orientation", "crime"))
        and seen.distinct > CATEGORIES
    ):
        return "identifier", Sentence("nearly every record has a number of its own: {counted}", counted=seen.count_sentence)
    return "sensitive", Sentence("{topic}, by its name: people would not want it known", topic=SAID[seen.topic])


def _quasi_identifier(seen: Seen) -> tuple[str, str] | None:
    """Columns that others may know of a person."""
    topic = seen.topic
    if seen.has_dates:
        if topic == "birth":
            return "quasi-identifier", Sentence("a date of birth: others may know it")
        return "quasi-identifier", Sentence("a date: others may know when something happened to a person")
    if topic == "coordinate" and seen.numeric:
        return "quasi-identifier", Sentence("a coordinate, rounded: others may know where a person is")
    if topic not in KNOWN:
        return None
    if topic == "date" and not _calendar(seen):
        return None
    if topic in ("birth", "age") and not seen.numeric and not seen.categories:
        return None
    exact = topic in ("birth", "age", "postal", "date")
    if not exact and seen.type == "number":
        return None
    if not exact and seen.ratio > 0.9 and seen.distinct > CATEGORIES:
        return "identifier", _own_value(seen)
    return "quasi-identifier", Sentence("{topic}, by its name: others may know it", topic=SAID[topic])


def _own_value(seen: Seen) -> Sentence:
    return Sentence("nearly every record has a value of its own: {counted}", counted=seen.count_sentence)


def _calendar(seen: Seen) -> bool:
    """Whether whole numbers can be years, months or days; or a few texts their names."""
    return _calendar_numbers(seen) if seen.type == "integer" else seen.type == "text" and seen.distinct <= 366


def _calendar_numbers(seen: Seen) -> bool:
    low, high = seen.span
    return seen.type == "integer" and ((low >= YEARS[0] and high <= YEARS[1]) or (low >= 1 and high <= 31))


def impossible(name: str, reading: Reading, present: Mapping[str, int]) -> tuple[str, ...]:
    """Numbers that nobody's age or year can be, where nearly all others can: a birth year 1193, an age of 999."""
    limits = LIMITS.get(topic_of(name) or "")
    if limits is None or reading.type != "integer":
        return ()
    for low, high in limits:
        odd = [v for v in present if not low <= int(v) <= high]
        if len(odd) <= 0.2 * len(present) and sum(present[v] for v in odd) <= 0.05 * sum(present.values()):
            return tuple(odd)
    return ()


def _rest(seen: Seen) -> tuple[str, str]:
    """Columns of which name and values say nothing."""
    if seen.type != "number" and not (seen.numeric and seen.type == "text") and seen.ratio > 0.9 and not seen.spread:
        return "identifier", _own_value(seen)
    if seen.has_serial_numbers:
        return "identifier", Sentence("the numbers look like those of people or things: {counted}", counted=seen.count_sentence)
    if not seen.numeric:
        if seen.categories:
            return UNDECIDED, Sentence(
                "few values ({values:,}), and nothing says who knows them: others could", values=seen.distinct
            )
        return "identifier", Sentence("text with {counted}: it may name people", counted=seen.count_sentence)
    if seen.distinct > (50 if seen.type == "integer" else 20):
        return UNDECIDED, Sentence("numbers of which nothing is known: others could know them")
    return UNDECIDED, Sentence("few numbers ({values:,}): a code, a count or an answer; others could know it", values=seen.distinct)


class Inspected(Protocol):
    """What is asked of an inspected column."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def role(self) -> str: ...  # noqa: D102
    @property
    def topic(self) -> str | None: ...  # noqa: D102
    @property
    def content(self) -> str | None: ...  # noqa: D102
    @property
    def distinct(self) -> int: ...  # noqa: D102
    @property
    def missing(self) -> int: ...  # noqa: D102


def less_known(columns: Iterable[Inspected]) -> frozenset[str]:
    """The quasi-identifiers beyond ``QUASI``: a search over all of them would generalize everything to ``*``.

    Of every topic the column with most values comes first, then the second of every topic, and so on; topics in the
    order of ``KNOWN``. Of dates of events those come first that most records have: more values are only finer ones.
    """
    known = [c for c in columns if c.role == "quasi-identifier"]
    known.sort(key=lambda c: c.missing if c.topic == "date" else -c.distinct)
    times: Counter[str | None] = Counter()
    ranked = []
    for c in known:
        ranked.append((times[c.topic], KNOWN.index(c.topic) if c.topic in KNOWN else len(KNOWN), c))
        times[c.topic] += 1
    ranked.sort(key=lambda r: r[:2])
    kept = [c.name for turn, _, c in ranked if c.topic != "date" or turn < DATES][:QUASI]
    return frozenset(c.name for c in known) - frozenset(kept)
