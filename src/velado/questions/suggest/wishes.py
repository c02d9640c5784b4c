"""What people say of their columns before a project is suggested: it wins over what is recognised."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from typing import Any, ClassVar

from velado.errors import InputError, suggest
from velado.recognition.units import ROWS
from velado.results import Discreet
from velado.sentences import Sentence

LISTS = ("qi", "sensitive", "never", "keep", "drop")
"""What can be said of columns."""


@dataclass(frozen=True, repr=False)
class Wishes(Discreet):
    """What the owner of a table says. Names may be patterns: ``survey_*``.

    ``qi``: others know it. ``sensitive``: must not be learnt; whether others could know it is recognised. ``never``: only the
    person and the keeper of the table know it. ``keep``: published, whatever it costs the others, in the form that is safe.
    ``drop``: left out. ``person``: the column that says whose rows these are, or rows if every row is a person. ``copies``: whether equal rows are one person's.
    """

    NAMES: ClassVar[tuple[str, ...]] = (*LISTS, "person")
    k: int | None = None
    qi: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    person: str | None = None
    copies: bool = True

    @classmethod
    def of(cls, k: int | None = None, person: str | None = None, **said: str | Sequence[str]) -> Wishes:
        """From lists of names, or texts with names between commas."""
        if k is not None and (isinstance(k, bool) or not isinstance(k, int) or k < 2):
            raise InputError("bad-argument", Sentence("k must be a whole number from 2 on, got {given!r}", given=k))
        lists = {key: tuple(_names(given)) for key, given in said.items()}
        return cls(k, **lists, person=person)  # type: ignore[arg-type]

    def as_arguments(self) -> dict[str, Any]:
        """The same as `velado.suggest` takes it."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def of_columns(self, header: Sequence[str], file: str = "") -> dict[str, str]:
        """For each column of which something is said, what; an error for names that the table does not have."""
        found: dict[str, str] = {}
        for key in LISTS:
            for pattern in getattr(self, key):
                for name in columns_like(pattern, header, file):
                    if found.setdefault(name, key) != key:
                        raise InputError(
                            "bad-argument",
                            Sentence("two things are said of it: {one} and {other}", one=found[name], other=key),
                            file=file,
                            column=name,
                            hint="Say one of them.",
                        )
        if self.person is not None and (self.person != ROWS or ROWS in header):
            (person,) = columns_like(self.person, header, file, pattern=False)
            if found.setdefault(person, "person") not in ("person", "drop"):
                raise InputError(
                    "bad-argument",
                    Sentence("two things are said of it: {one} and {other}", one=found[person], other="person"),
                    file=file,
                    column=person,
                    hint="Say one of them.",
                )
            found[person] = "person"
        return found


def columns_like(wanted: str, header: Sequence[str], file: str = "", *, pattern: bool = True) -> list[str]:
    """The columns that a name or pattern means: that name, else the same in other letters, else all that match."""
    if wanted in header:
        return [wanted]
    alike = [name for name in header if name.casefold() == wanted.casefold()]
    if len(alike) == 1:
        return alike
    if pattern and any(sign in wanted for sign in "*?["):
        alike = [name for name in header if fnmatchcase(name.casefold(), wanted.casefold())]
        if alike:
            return alike
    raise InputError(
        "unknown-column",
        Sentence("the table has no column '{name}'", name=wanted),
        file=file,
        column=wanted,
        hint=suggest(wanted, header),
    )


def _names(given: str | Iterable[str]) -> Iterable[str]:
    return (name.strip() for name in given.split(",") if name.strip()) if isinstance(given, str) else given
