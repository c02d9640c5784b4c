"""Keys: where they are, what is derived from them, how one is made.

A key is 256 random bits, written as 64 hexadecimal digits in a file or an environment variable. It is never in a
project file. From it, HKDF (RFC 5869) derives one key per purpose and attribute: the same attribute gives the same
tokens in every table, and tokens of different attributes cannot be linked.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from velado.errors import InputError, reason, unwritable
from velado.operations.base import Given, OnValues, Operation
from velado.sentences import Sentence

BYTES = 32
MOST_BYTES = 4096
"""What is read of a file that should hold a key."""
EXPOSED = stat.S_IRWXO | stat.S_IWGRP
"""Permissions that nobody but the owner may have on a key file."""
NO_KEY = Sentence("'velado key FILE' makes a key. A key or password itself must not stand there, only where the key is.")
DIGITS = re.compile(rf"[0-9a-fA-F]{{{2 * BYTES}}}")
LIKE_A_KEY = re.compile(r"[0-9a-fA-F]{32,}")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
SECRETS = ("password", "passphrase", "secret", "passwort", "contraseña", "senha")
"""Words under which somebody might write a key into a project file."""


def check_place(place: Any) -> None:
    """Refuse a key or password where only its place may stand; the message does not repeat it."""
    scheme, _, where = place.partition(":") if isinstance(place, str) else ("", "", "")
    named = (scheme == "file" and where) or (scheme == "env" and VARIABLE.fullmatch(where))
    if not named or LIKE_A_KEY.fullmatch(where) or "\0" in where:
        raise key_in_project()


def key_in_project() -> InputError:
    """The error for a key where only its place may stand."""
    return InputError(
        "key-in-project",
        "a key or password must not stand here, only where the key is",
        hint="Write key: env:VARIABLE or key: file:PATH; 'velado key FILE' makes a key. "
        "If this was a key in use, somebody may have seen it: make a new one.",
    )


def read_key(place: str, folder: Path | None = None) -> bytes:
    """The key at ``env:VARIABLE`` or ``file:PATH``; paths are relative to the folder.

    What stands there is repeated only if there is such a variable or file: else it may be the key itself.
    """
    check_place(place)
    scheme, _, where = place.partition(":")
    if scheme == "env":
        if not os.environ.get(where):
            raise InputError("no-key", "the environment variable that 'env:' names is not set", hint=NO_KEY)
        return _parse_key(os.environ[where], Sentence("the environment variable {variable}", variable=where))
    path = (folder or Path()) / where
    try:
        with open(path, "rb") as file:
            _check_private(os.fstat(file.fileno()), path)
            text = file.read(MOST_BYTES).decode("ascii", errors="replace")
    except (OSError, ValueError) as error:
        raise InputError(
            "no-key",
            Sentence("cannot read the key that 'file:' names: {why}", why=_why(error)),
            file=path if os.path.lexists(path) else None,
            hint=NO_KEY,
        ) from None
    return _parse_key(text, Sentence("the file"), path)


def _why(error: OSError | ValueError) -> Sentence:
    """Why the file of a key cannot be opened; what is no path is not repeated."""
    return reason(error, Sentence("not a path"))


def _check_private(status: os.stat_result, path: Path) -> None:
    """Refuse a key file that others may read, or that others or a group may change. Windows has no such modes."""
    if os.name == "posix" and status.st_mode & EXPOSED:
        raise InputError(
            "exposed-key",
            "others can read or change the file of the key",
            file=path,
            hint="Take their permission away: chmod 600 FILE. If somebody may have read it, make a new key.",
        )


def _parse_key(text: str, what: str, file: Path | None = None) -> bytes:
    if not DIGITS.fullmatch(text.strip()):
        raise InputError(
            "bad-key",
            Sentence("{what} does not hold a key: {digits} hexadecimal digits", what=what, digits=2 * BYTES),
            file=file,
            hint="Passwords are too weak to serve as keys; 'velado key FILE' makes a key.",
        )
    key = bytes.fromhex(text.strip())
    if not any(key):
        raise InputError(
            "weak-key",
            Sentence("{what} holds a key of zeros, which anybody would try first", what=what),
            file=file,
            hint="'velado key FILE' makes a random key.",
        )
    return key


def derive_key(key: bytes, purpose: str, attribute: str, length: int = 32) -> bytes:
    """The key for one purpose and attribute: HKDF-SHA-256."""
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    info = f"velado 1 {purpose}\0{attribute}".encode()
    return HKDF(SHA256(), length, salt=None, info=info).derive(key)


def key_id(key: bytes) -> str:
    """A short name of a key that tells nothing about it."""
    return derive_key(key, "name", "", 8).hex()


def create_key(path: str | Path) -> Path:
    """Write a new random key to a new file that only its owner can read.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     len(read_key(f"file:{create_key(Path(folder) / 'secret.key')}"))
    32
    """
    path = Path(path)
    if LIKE_A_KEY.fullmatch(path.name):
        raise key_in_project()
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise InputError(
            "file-exists", "the file exists already; a lost key cannot be made again", file=path, hint="Choose another path."
        ) from None
    except (OSError, ValueError) as error:
        raise InputError("unwritable-output", Sentence("cannot write the key there: {why}", why=_why(error))) from None
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

    def describe(self, folder: Path) -> dict[str, Any]:
        """The name of the key in the place of the key's place."""
        return {**super().describe(folder), "key": key_id(read_key(self.key, folder))}

    def files(self, folder: Path) -> dict[str, Path]:
        """The key file, if it is one."""
        scheme, _, where = self.key.partition(":")
        return {Sentence("the key"): folder / where} if scheme == "file" else {}

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
