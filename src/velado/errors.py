"""Errors: one base class that carries what went wrong, where, and the way out.

The same object gives the message on the terminal, the exit code and a JSON body. Messages list at
most five offending values, never values of identifier columns and never a password of an address.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

MOST_VALUES = 5
HIDDEN = "***"
WORDS = "password|passwd|passphrase|passwort|contraseña|senha|pwd|secret"
PASSWORDS = (
    # scheme://user:password@host; a path has made one slash of two. A password may hold nearly anything, so all of it goes.
    (re.compile(r"(?<![a-z0-9+.-])([a-z][a-z0-9+.-]+:/+)[^\n]*@", re.IGNORECASE), rf"\1{HIDDEN}@"),
    # user:password@host; one letter and a colon are a drive.
    (re.compile(r"(?<![^\s:@/\\'\"])[^\s:@/\\'\"]{2,}:[^\s'\"]*@"), f"{HIDDEN}@"),
    (
        re.compile(rf"((?:{WORDS})['\"]?\s*[=:]\s*)(?:'[^'\n]*'|\"[^\"\n]*\"|[^&;,'\"\n)}}\]]+)", re.IGNORECASE),
        rf"\1{HIDDEN}",
    ),
)
"""Where passwords stand in addresses of databases and their options, and what is shown instead."""


class VeladoError(Exception):
    """Something that the user can mend. ``code`` is stable and machine-readable."""

    exit_code: ClassVar[int] = 2

    def __init__(
        self,
        code: str,
        message: str,
        *,
        hint: str = "",
        file: str | Path | None = None,
        column: str | None = None,
        values: Iterable[Any] = (),
    ) -> None:
        self.code = code
        self.message = message
        self.hint = hint
        self.file = None if file is None else str(file)
        self.column = column
        self.values = [redacted(str(v)) for v in values][:MOST_VALUES]
        super().__init__(str(self))

    def __setattr__(self, name: str, value: Any) -> None:
        # Also what is added later, such as the file, shows no password.
        super().__setattr__(name, redacted(value) if isinstance(value, str) else value)

    def __str__(self) -> str:
        where = ", ".join(
            text
            for text in (self.file, f"column '{self.column}'" if self.column is not None else None)
            if text is not None
        )
        text = f"{where}: {self.message}" if where else self.message
        if self.values:
            text += " (" + ", ".join(repr(v) for v in self.values) + ")"
        return f"{text}\n{self.hint}" if self.hint else text

    def as_dict(self) -> dict[str, Any]:
        """The error as one JSON-ready object."""
        fields = {
            "code": self.code,
            "message": self.message,
            "hint": self.hint,
            "file": self.file,
            "column": self.column,
            "values": self.values,
        }
        return {"error": {key: value for key, value in fields.items() if value not in (None, "", [])}}


class InputError(VeladoError):
    """Bad input or usage: nothing was written."""


class NoSolution(VeladoError):
    """No recoding satisfies the models within the limits: nothing was written."""

    exit_code: ClassVar[int] = 1


class VerificationError(VeladoError):
    """The written release did not pass its own verification and was removed."""

    exit_code: ClassVar[int] = 1


class Cancelled(VeladoError):
    """The run was cancelled by its caller: nothing was written."""

    exit_code: ClassVar[int] = 130

    def __init__(self) -> None:
        super().__init__("cancelled", "cancelled; nothing was written")


FULL = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))


def unwritable(error: OSError, path: str | Path) -> InputError:
    """Why something could not be written, in our words."""
    if error.errno in FULL:
        return disk_full(path)
    return InputError("unwritable-output", f"cannot write: {error.strerror or error}", file=path)


def disk_full(path: str | Path | None = None) -> InputError:
    """There is no room for what is to be written."""
    return InputError(
        "disk-full", "the disk is full; nothing was published", file=path, hint="Free space, or write elsewhere."
    )


@dataclass(frozen=True)
class Note:
    """Something that a user should know of a run that went well. It says nothing of suppressed records."""

    code: str
    message: str
    column: str | None = None

    def __str__(self) -> str:
        return self.message if self.column is None else f"column '{self.column}': {self.message}"

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {"code": self.code, "message": self.message, **({"column": self.column} if self.column else {})}


def redacted(text: str) -> str:
    """A text without the passwords of addresses in it.

    >>> redacted("cannot read postgresql://me:geheim@host/db?password=geheim")
    'cannot read postgresql://***@host/db?password=***'
    """
    for pattern, shown in PASSWORDS:
        text = pattern.sub(shown, text)
    return text


def suggest(wrong: str, known: Iterable[str]) -> str:
    """A hint with the nearest known names."""
    import difflib

    names = [str(k) for k in known]
    near = difflib.get_close_matches(wrong, names, n=3, cutoff=0.5)
    if near:
        return "Did you mean " + " or ".join(f"'{n}'" for n in near) + "?"
    listed = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
    return f"Known: {listed}" if names else ""
