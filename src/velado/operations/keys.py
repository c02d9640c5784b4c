"""Keys: where they are, what is derived from them, how one is made.

A key is 256 random bits, written as 64 hexadecimal digits in a file or an environment variable. It is never in a
project file. From it, HKDF (RFC 5869) derives one key per purpose and attribute: the same attribute gives the same
tokens in every table, and tokens of different attributes cannot be linked.
"""

from __future__ import annotations

import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from velado.errors import InputError, unwritable
from velado.operations.base import Given, OnValues, Operation

BYTES = 32
DIGITS = re.compile(rf"[0-9a-fA-F]{{{2 * BYTES}}}")
LIKE_A_KEY = re.compile(r"[0-9a-fA-F]{32,}")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
SECRETS = ("password", "passphrase", "secret", "passwort", "contraseña", "senha")
"""Words under which somebody might write a key into a project file."""


def check_place(place: Any) -> None:
    """Refuse a key or password where only its place may stand; the message does not repeat it."""
    scheme, _, where = place.partition(":") if isinstance(place, str) else ("", "", "")
    named = (scheme == "file" and where) or (scheme == "env" and VARIABLE.fullmatch(where))
    if not named or LIKE_A_KEY.fullmatch(where):
        raise key_in_project()


def key_in_project() -> InputError:
    """The error for a key where only its place may stand."""
    return InputError(
        "key-in-project", "a key or password must not stand here, only where the key is",
        hint="Write key: env:VARIABLE or key: file:PATH; 'velado key FILE' makes a key. "
        "If this was a key in use, somebody may have seen it: make a new one.",
    )  # fmt: skip


def read_key(place: str, folder: Path | None = None) -> bytes:
    """The key at ``env:VARIABLE`` or ``file:PATH``; paths are relative to the folder."""
    check_place(place)
    scheme, _, where = place.partition(":")
    how = "'velado key FILE' makes one."
    if scheme == "env":
        if not os.environ.get(where):
            raise InputError(
                "no-key", f"the environment variable {where} is not set", hint=f"It must hold the key; {how}"
            )
        return _parsed(os.environ[where], f"the environment variable {where}")
    path = (folder or Path()) / where
    try:
        text = path.read_text(encoding="ascii", errors="replace")
    except OSError as error:
        raise InputError("no-key", f"cannot read the key: {error.strerror}", file=path, hint=how) from None
    return _parsed(text, "the file", path)


def _parsed(text: str, what: str, file: Path | None = None) -> bytes:
    if not DIGITS.fullmatch(text.strip()):
        raise InputError(
            "bad-key", f"{what} does not hold a key: {2 * BYTES} hexadecimal digits", file=file,
            hint="Passwords are too weak to serve as keys; 'velado key FILE' makes a key.",
        )  # fmt: skip
    return bytes.fromhex(text.strip())


def derived(key: bytes, purpose: str, attribute: str, length: int = 32) -> bytes:
    """The key for one purpose and attribute: HKDF-SHA-256."""
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    info = f"velado 1 {purpose}\0{attribute}".encode()
    return HKDF(SHA256(), length, salt=None, info=info).derive(key)


def key_id(key: bytes) -> str:
    """A short name of a key that tells nothing about it."""
    return derived(key, "name", "", 8).hex()


def create_key(path: str | Path) -> Path:
    """Write a new random key to a new file that only its owner can read.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     len(read_key(f"file:{create_key(Path(folder) / 'secret.key')}"))
    32
    """
    path = Path(path)
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise InputError(
            "file-exists", "the file exists already; a lost key cannot be made again", file=path,
            hint="Choose another path.",
        ) from None  # fmt: skip
    except OSError as error:
        raise unwritable(error, path) from None
    try:
        with os.fdopen(file, "w", encoding="ascii") as out:
            out.write(secrets.token_hex(BYTES) + "\n")
    except OSError as error:
        path.unlink()
        raise unwritable(error, path) from None
    return path


@dataclass(frozen=True)
class Keyed(Operation):
    """An operation that needs a key."""

    key: str

    def __post_init__(self) -> None:
        check_place(self.key)
        super().__post_init__()

    def described(self, folder: Path) -> dict[str, Any]:
        """The name of the key in the place of the key's place."""
        return {**super().described(folder), "key": key_id(read_key(self.key, folder))}

    def files(self, folder: Path) -> dict[str, Path]:
        """The key file, if it is one."""
        scheme, _, where = self.key.partition(":")
        return {"the key": folder / where} if scheme == "file" else {}

    def ready(self, given: Given) -> None:
        """Read the key."""
        try:
            read_key(self.key, given.folder)
        except InputError as error:
            raise _about(error, given.column) from None


@dataclass(frozen=True)
class KeyedOnValues(Keyed, OnValues):
    """A keyed map of values."""


def _about(error: InputError, column: str) -> InputError:
    return InputError(error.code, error.message, hint=error.hint, file=error.file, column=column)
