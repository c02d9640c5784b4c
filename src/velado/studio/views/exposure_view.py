"""How far everything that is published singles people out, as pages about a release say it.

Counts may be told as "fewer than 3"; what is left out for who looks is not there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from velado.evaluation.exposure import LEAST
from velado.evaluation.shown import exposure_note, exposure_sentences, sample_note, share_in_words
from velado.studio.words import Words

KEYS = ("1", "2", "3", "more", "never")


class Key(NamedTuple):
    """People by how many columns are enough to find fewer than k: by what others could know, and by everything."""

    title: str
    people: str
    share: str
    people_with_all: str
    share_with_all: str


class Exposed(NamedTuple):
    """The risk by all that others know or could know.

    ``anybody``: somebody is in a group smaller than k; ``why`` that was released all the same, in a few words and in a
    sentence. ``private`` are columns of which only the person and the keeper know, ``alone_with_private`` would be alone if all
    of it were known.
    """

    anybody: bool
    share: str
    note: str
    why: str
    because: str
    private: list[str]
    alone_with_private: str
    private_note: str
    sentences: list[str]
    keys: list[Key]
    sets: list[tuple[str, str, str, bool]]
    sampled: str
    narrowing: list[str]


def exposed_of(figures: Mapping[str, Any], words: Words) -> Exposed | None:
    """From the figures of a release, or of a table of it; None where nothing was measured."""
    joint = figures.get("exposure")
    if not isinstance(joint, Mapping) or joint.get("people") is None:
        return None
    people, below = joint["people"], joint.get("below")
    private = [str(name) for name in joint.get("private") or ()]
    why, because = _why(joint, words) if below else ("", "")
    say = words.language
    return Exposed(
        anybody=bool(below),
        share=share_in_words(below, people, say),
        note=exposure_note(joint, say),
        why=why,
        because=because,
        private=private,
        alone_with_private=share_in_words(joint.get("alone_with_private"), people, say) if private else "",
        private_note=words.say("if {columns} were known, too", columns=say.join_words(private)) if private else "",
        sentences=exposure_sentences(joint, say),
        keys=_keys(joint, words),
        sets=_sets(joint, private, words),
        sampled=sample_note(joint, say),
        narrowing=_narrowing(joint, words),
    )


def _why(joint: Mapping[str, Any], words: Words) -> tuple[str, str]:
    """Why people are exposed in a release that was not refused, in a few words and in a sentence."""
    accepted, allowance, say = joint.get("accepted") or (), joint.get("allowance") or 0, words.language
    if accepted:
        listed = say.join_words([str(name) for name in accepted])
        return words.say("exposure accepted"), words.say("The exposure of {columns} is accepted.", columns=listed)
    if allowance:
        share = words.percent(allowance, 2)
        return words.say("within the allowance"), words.say("The project allows {share} of the people to be exposed.", share=share)
    if isinstance(joint["people"], int) and joint["people"] < LEAST:
        return words.say("people exposed"), words.say("Among fewer than {n} people this stops no run.", n=words.integer(LEAST))
    return words.say("people exposed"), words.say("The models of the project accept groups smaller than k.")


def _keys(joint: Mapping[str, Any], words: Words) -> list[Key]:
    keys, with_all, people = joint.get("keys"), joint.get("keys_with_private"), joint["people"]
    if not keys or not with_all:
        return []
    return [
        Key(
            words.label("keys", name),
            words.integer(keys.get(name)),
            share_in_words(keys.get(name), people, words.language),
            words.integer(with_all.get(name)),
            share_in_words(with_all.get(name), people, words.language),
        )
        for name in KEYS
    ]


def _sets(joint: Mapping[str, Any], private: list[str], words: Words) -> list[tuple[str, str, str, bool]]:
    """The most revealing sets, those of what others could know first: columns, alone, below k, whether one of them is private."""
    found = [
        (
            " + ".join(one["columns"]),
            words.integer(one.get("alone")),
            words.integer(one.get("below")),
            bool(set(one["columns"]) & set(private)),
        )
        for one in joint.get("sets") or ()
    ]
    return sorted(found, key=lambda one: one[3])


def _narrowing(joint: Mapping[str, Any], words: Words) -> list[str]:
    """Which columns tell generalized quasi-identifiers again; owners alone are told."""
    return [
        words.say(
            "{column} tells {quasi} again: {left} of the values behind a label are left on average, one value for {one_left} of {hidden}",
            column=one["column"],
            quasi=one["quasi_identifier"],
            left=words.percent(one["left"], 0),
            one_left=words.integer(one["one_left"]),
            hidden=words.integer(one["hidden"]),
        )
        for one in joint.get("narrowing") or ()
    ]
