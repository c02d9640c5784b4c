"""Pseudonyms that nobody can turn back."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from velado.declarations import Declaration
from velado.errors import InputError
from velado.operations.base import Given
from velado.operations.keys import KeyedOnValues, derive_key, read_key
from velado.parameters import KeyPlace, Number
from velado.sentences import Sentence

MARK = "p"
"""First character of a pseudonym: no spreadsheet takes it for a number or a formula."""


@dataclass(frozen=True)
class Pseudonymize(KeyedOnValues):
    """Every value becomes a pseudonym of ``length`` characters; equal values become equal pseudonyms.

    Definition: ``p`` and the first hexadecimal digits of HMAC-SHA-256 (RFC 2104) of the value in UTF-8. Without the key
    nobody can compute it; with the key, guesses can be tried, but nothing can be turned back. Two values with the same
    pseudonym are an error.
    """

    length: int = 16
    name: ClassVar[str] = "pseudonymize"
    declaration: ClassVar = Declaration(
        title="pseudonymize",
        meaning="Every value becomes a pseudonym that nobody can turn back; equal values become equal pseudonyms.",
        example={"pseudonymize": {"key": "env:VELADO_KEY"}},
    )
    hides: ClassVar[bool] = True
    takes_identifiers: ClassVar[bool] = True
    main: ClassVar = "key"
    parameters: ClassVar = {
        "key": KeyPlace("where the key is: env:VARIABLE or file:PATH"),
        "length": Number("characters of a pseudonym", low=8, high=65, integer=True, unit="characters", expert=True),
    }

    def labels(self, values: Sequence[str], given: Given) -> Sequence[str]:
        """The pseudonym of every value."""
        key = derive_key(read_key(self.key, given.folder), "pseudonymize", given.attribute)
        digits = int(self.length) - len(MARK)
        labels = [MARK + hmac.digest(key, value.encode(), "sha256").hex()[:digits] for value in values]
        check_different(labels, given.column)
        return labels


def check_different(labels: Sequence[str], column: str) -> None:
    """No two values may have the same pseudonym."""
    if len(set(labels)) < len(labels):
        raise InputError(
            "same-pseudonym",
            Sentence("{count:,} value(s) would share a pseudonym with another", count=len(labels) - len(set(labels))),
            column=column,
            hint="Raise the 'length' of the pseudonyms.",
        )
