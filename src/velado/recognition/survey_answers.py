"""Answers of surveys and outcomes: columns of few values that only the person and the keeper of the table know.

An answer is told by the scale that it shares with its neighbours, or by words of opinions; an outcome by its name. What others
see of a person (who survived, who left) is neither.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from velado.recognition.names import KNOWN, fold, topic_of, words_of
from velado.sentences import Sentence

MOST = 12
"""An answer has at most so many different values."""
FAMILY = 5
"""So many columns with names that differ in a number, and one scale, are answers."""
LONG = 6
"""A name of more words is a question."""
ANSWER = Sentence("an answer of a survey: only the person and the keeper of the table know it")
OUTCOME = Sentence("an outcome that only the person and the keeper of the table know")
VISIBLE = Sentence("an outcome that others may see")
OPINION = frozenset(
    [
        "satisfaction",
        "satisfaccion",
        "satisfacao",
        "satisfied",
        "agreement",
        "opinion",
        "opiniao",
        "attitude",
        "importance",
        "importancia",
        "trust",
        "confianza",
        "confianca",
        "happiness",
        "felicidad",
        "felicidade",
        "stress",
        "estres",
        "feeling",
        "feelings",
        "mood",
        "likelihood",
        "worry",
        "preocupacion",
    ]
)
"""Words of names of columns that ask how somebody feels."""
SCALE = re.compile(
    r"\b(agree|disagree|satisfied|dissatisfied|likely|unlikely|important|unimportant|somewhat|acuerdo|desacuerdo|satisfecho|"
    r"insatisfecho|concordo|discordo|satisfeito|insatisfeito)\b"
)
"""Words of the values of such columns."""
BALANCE = ("work life balance", "balance work life")
HIDDEN = frozenset(
    [
        "target",
        "label",
        "outcome",
        "y",
        "churn",
        "churned",
        "default",
        "defaulted",
        "exited",
        "response",
        "subscribed",
        "deposit",
        "resultado",
        "desfecho",
        "desenlace",
        "fraud",
        "isfraud",
    ]
)
"""Names of outcomes that are a secret between the person and the keeper."""
SEEN = frozenset(
    [
        "survived",
        "survival",
        "attrition",
        "left",
        "hired",
        "promoted",
        "admitted",
        "elected",
        "reelected",
        "winner",
        "won",
        "died",
        "dead",
        "deceased",
        "death",
        "sobrevivio",
        "sobreviviente",
        "fallecido",
        "contratado",
        "eleito",
        "elegido",
        "graduated",
        "dropout",
        "placed",
        "event",
    ]
)
"""Names of outcomes that others see."""
DEAD = re.compile(r"dead|died|deceased|death|fallecid|muert|mort[oa]|obito|falec|surviv|sobreviv|viv[oa]\b|alive")
"""Values of an outcome that others see."""


class Short(NamedTuple):
    """A column of few values: its name, and the values with their numbers of records."""

    name: str
    present: Mapping[str, int]


def is_visible(name: str, present: Iterable[str]) -> bool:
    """Whether a column tells what others see happen to a person.

    >>> is_visible("Survived", ["0", "1"]), is_visible("outcome", ["recovered", "dead"]), is_visible("target", ["0", "1"])
    (True, True, False)
    """
    return bool(SEEN & set(words_of(name))) or any(DEAD.search(fold(v)) for v in present)


def is_outcome(name: str, present: Iterable[str]) -> bool:
    """Whether the name of a column says that it is what the table is to explain, and nobody else sees it.

    >>> [is_outcome(name, ["0", "1"]) for name in ("target", "Churn", "class", "Pclass", "Survived")]
    [True, True, True, False, False]
    """
    words = words_of(name)
    said = bool(HIDDEN & set(words)) or fold(name).strip() in ("class", "clase", "classe", "y")
    return said and not is_visible(name, present)


def answers_among(columns: Iterable[Short]) -> frozenset[str]:
    """The columns that are answers of a survey.

    >>> scale = dict.fromkeys(("agree", "neither", "disagree"), 9)
    >>> sorted(answers_among([Short("sex", {"f": 9, "m": 9}), Short("opinion on schools", scale)]))
    ['opinion on schools']
    """
    short = [c for c in columns if 2 <= len(c.present) <= MOST]
    found = {c.name for c in short if _is_answer(c)}
    families: dict[str, list[Short]] = {}
    for c in short:
        families.setdefault(_stem(c.name), []).append(c)
    # Q2_1 to Q8_5 are one family, and so are trust_1 to trust_8; one scale must hold most of them.
    for members in families.values():
        if len(members) >= FAMILY:
            found |= _of_scales(members)
    return frozenset(found)


def _is_answer(c: Short) -> bool:
    words = set(words_of(c.name))
    if OPINION & words or " ".join(words_of(c.name)) in BALANCE:
        return True
    if any(SCALE.search(fold(v)) for v in c.present):
        return topic_of(c.name) not in ("sex", "age", "race")
    return (len(c.name.split()) > LONG or c.name.rstrip().endswith("?")) and topic_of(c.name) not in KNOWN


def _stem(name: str) -> str:
    return re.sub(r"[0-9]+|[_ .-]*[a-z]?$", "", re.sub(r"([0-9]+)[a-z]?$", r"\1", fold(name))) or name


def _of_scales(members: list[Short]) -> set[str]:
    """Those that share a scale with enough others, if most of the family do: p1, p5, p9 from 1 to 7, p2, p6, p10 yes or no."""
    found: set[str] = set()
    rest = members
    while len(rest) >= FAMILY:
        scales = [frozenset(c.present) for c in rest]
        scale = max(scales, key=lambda one: (sum(one >= other for other in scales), -len(one)))
        within = {c.name for c in rest if set(c.present) <= scale}
        if len(within) < FAMILY:
            break
        found |= within
        rest = [c for c in rest if c.name not in within]
    return found if 2 * len(found) >= len(members) else set()
