"""Encrypt values so that whoever has the key can restore them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from velado.declarations import Declaration
from velado.errors import InputError
from velado.operations.base import Given
from velado.operations.keys import KeyedOnValues, derive_key, read_key
from velado.parameters import KeyPlace
from velado.sentences import Sentence

MARK = "e"
"""First character of a token: no spreadsheet takes it for a number or a formula."""
BLOCK = 16


@dataclass(frozen=True)
class Encrypt(KeyedOnValues):
    """Every value becomes a token; equal values become equal tokens.

    Definition: ``e`` and the hexadecimal digits of AES-256-SIV (deterministic authenticated encryption, Rogaway and
    Shrimpton 2006, RFC 5297) of the value in UTF-8, padded to whole blocks of 16 bytes (PKCS #7), so that a token tells
    the length of its value only roughly. How often a value occurs can still be seen.
    """

    name: ClassVar[str] = "encrypt"
    declaration: ClassVar = Declaration(
        title="encrypt",
        meaning="Every value becomes a token that only the key turns back; equal values become equal tokens.",
        example={"encrypt": {"key": "env:VELADO_KEY"}},
    )
    hides: ClassVar[bool] = True
    takes_identifiers: ClassVar[bool] = True
    main: ClassVar = "key"
    parameters: ClassVar = {"key": KeyPlace("where the key is: env:VARIABLE or file:PATH")}

    def labels(self, values: Sequence[str], given: Given) -> Sequence[str]:
        """Encrypt every value."""
        encrypt = _cipher(read_key(self.key, given.folder), given.attribute).encrypt
        return [MARK + encrypt(_pad(value.encode()), None).hex() for value in values]


def decrypt_tokens(tokens: Sequence[str], key: bytes, column: str, attribute: str) -> list[str]:
    """The values of tokens."""
    from cryptography.exceptions import InvalidTag

    cipher = _cipher(key, attribute)
    values = []
    for token in tokens:
        try:
            data = bytes.fromhex(token.removeprefix(MARK)) if token.startswith(MARK) else b""
        except ValueError:
            data = b""
        if len(data) < 2 * BLOCK or len(data) % BLOCK:
            raise InputError(
                "not-encrypted",
                "the column holds values that are not tokens of velado encrypt",
                column=column,
                hint="Name a column that was encrypted.",
            )
        try:
            padded = cipher.decrypt(data, None)
        except InvalidTag:
            raise InputError(
                "wrong-key",
                Sentence("this key does not open the column as the attribute '{attribute}'", attribute=attribute),
                column=column,
                hint="Use the key of the release; if the project gave the column another attribute, name it: "
                "--column COLUMN=ATTRIBUTE.",
            ) from None
        values.append(padded[: -padded[-1]].decode())
    return values


def _pad(data: bytes) -> bytes:
    """PKCS #7. SIV authenticates it, so that taking it off needs no checks."""
    lacking = BLOCK - len(data) % BLOCK
    return data + bytes([lacking]) * lacking


def _cipher(key: bytes, attribute: str) -> Any:
    from cryptography.hazmat.primitives.ciphers.aead import AESSIV

    return AESSIV(derive_key(key, "encrypt", attribute, 64))
