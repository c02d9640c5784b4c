"""Whether others know what a column holds: the answers in words, and what is assumed, and why, where nothing is said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from velado.sentences import Sentence
from velado.studio.forms.column_edit import ANSWERS, KNOWN, PASSING, UNSAID, Said
from velado.studio.words import Words

ANSWER_WORDS = {
    UNSAID: Sentence("not said"),
    KNOWN: Sentence("others know it"),
    "possibly": Sentence("others could know it"),
    "never": Sentence("only the person and the keeper know it"),
}
MEANINGS = {
    UNSAID: Sentence("Its role and its values decide."),
    KNOWN: Sentence("It becomes a quasi-identifier, and is generalized with the others."),
    "possibly": Sentence(
        "It is visible, published elsewhere, or follows from something that is: it may leave nobody in a group smaller than k."
    ),
    "never": Sentence(
        "A diagnosis, an answer, a laboratory value: it is published, and how many it would single out stands in the headline."
    ),
}
REASONS = {
    ("insensitive", "possibly"): Sentence("it is no secret, so it may be visible, or stand elsewhere"),
    ("sensitive", "possibly"): Sentence("dates, ranks, amounts, codes and numbers may stand elsewhere"),
    ("sensitive", "never"): Sentence("categories and figures of health are usually known to nobody else"),
}


class Assumed(NamedTuple):
    """Columns of which nothing is said, what is assumed of them, and why."""

    known: str
    columns: list[str]
    words: str
    reason: str


def answers(words: Words) -> list[tuple[str, str]]:
    """The answers as choices of a form."""
    return [(one, ANSWER_WORDS[one].into(words.code)) for one in ANSWERS]


def answer_of(said: Said) -> str | None:
    """What is said of a column; None where there is no question."""
    if said.role == "quasi-identifier":
        return KNOWN
    return str(said.spec.get("known") or UNSAID) if said.role in PASSING else None


def list_assumptions(published: Sequence[Mapping[str, Any]], said: Mapping[str, Said], words: Words) -> list[Assumed]:
    """What is assumed of columns of which nothing is said, by what it is and why."""
    found: dict[tuple[str, str], list[str]] = {}
    for one in published:
        column = str(one["column"])
        if column in said and answer_of(said[column]) == UNSAID and (one["role"], one.get("known")) in REASONS:
            found.setdefault((one["role"], one["known"]), []).append(column)
    return [
        Assumed(known, columns, ANSWER_WORDS[known].into(words.code), REASONS[role, known].into(words.code))
        for (role, known), columns in sorted(found.items(), key=lambda one: one[0][1] != "possibly")
    ]
