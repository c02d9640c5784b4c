"""Linguistic labels of ordered fuzzy sets: low, middle, high."""

from __future__ import annotations

from velado.i18n import Language, language

LOWER = ((), ("low",), ("very-low", "low"), ("very-low", "low", "rather-low"), ("extremely-low", "very-low", "low", "rather-low"))
"""The words below the middle, by how many are needed; those above mirror them."""
MOST_WORDS = 2 * len(LOWER) - 1


def set_labels(number: int, code: str | Language = "en") -> list[str]:
    """Labels in ascending order: words up to nine sets, numbers beyond.

    >>> set_labels(3), set_labels(4, "es")
    (['low', 'middle', 'high'], ['muy bajo', 'bajo', 'alto', 'muy alto'])
    """
    words = language(code)
    if number > MOST_WORDS:
        return [words.say("level {i} of {n}", i=i, n=number) for i in range(1, number + 1)]
    lower = LOWER[number // 2]
    upper = [word.replace("low", "high") for word in reversed(lower)]
    middle = ["middle"] * (number % 2)
    return [words.label("fuzzy-set", word) for word in (*lower, *middle, *upper)]
