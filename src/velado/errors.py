"""Errors: one base class that carries what went wrong, where, and the way out.

The same object gives the message on the terminal, the exit code and a JSON body. Messages list at
most five offending values, never values of identifier columns and never a password of an address.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

from velado.sentences import Sentence, into, join_sentences, wordless

MOST_VALUES = 5
HIDDEN = "***"
WORDS = "password|passwd|passphrase|passwort|contraseña|senha|pwd|secret"
PASSWORDS = (
    # scheme://user:password@host; a path has made one slash of two. A password may hold nearly anything, so all of it goes.
    (re.compile(r"(?<![a-z0-9+.-])([a-z][a-z0-9+.-]+:/+)[^\n]*@", re.IGNORECASE), rf"\1{HIDDEN}@"),
    # user:password@host; one letter and a colon are a drive, and what is hidden already stays as it is.
    (re.compile(r"(?<![^\s:@/\\'\"])[^\s:@/\\'\"]{2,}:(?!/+\*{3}@)[^\s'\"]*@"), f"{HIDDEN}@"),
    (re.compile(rf"((?:{WORDS})['\"]?\s*[=:]\s*)(?:'[^'\n]*'|\"[^\"\n]*\"|[^&;,'\"\n)}}\]]+)", re.IGNORECASE), rf"\1{HIDDEN}"),
)
"""Where passwords stand in addresses of databases and their options, and what is shown instead."""
WORD = re.compile(r"[\w-]+")
MOST_MESSAGE = 2000
MOST_LISTED = 100
"""Names of a list that the fields of an error repeat."""
MOST_SHOWN = 60
"""Characters of a value that a message repeats."""


class VeladoError(Exception):
    """Something that the user can mend. ``code`` is stable and machine-readable; ``fields`` are names and numbers of the
    message, apart from its words. ``message`` and ``hint`` are `Sentence`s, or texts that need no places. Where several
    things are wrong at once, the first error is raised and carries the ``others``; ``fields["path"]`` tells where in a
    project file each of them is, such as ``columns.age.hierarchy``.
    """

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
        fields: Mapping[str, Any] | None = None,
    ) -> None:
        self.code = code
        self.message: str = Sentence(message)
        self.hint: str = Sentence(hint)
        self.file = None if file is None else str(file)
        self.column = column
        self.values = [redact(_cut(str(v), MOST_SHOWN)) for v in islice(values, MOST_VALUES)]
        given = {n: redact(_cut(v, MOST_MESSAGE)) if isinstance(v, str) else v for n, v in (fields or {}).items()}
        self.fields = {**_scalars(self.message), **given}
        self.others: tuple[VeladoError, ...] = ()
        super().__init__(str(self))

    def __reduce__(self) -> tuple[Any, ...]:
        """An error may be sent to another process; it is not made anew there, but as it is."""
        return _unpickle, (type(self), self.args), self.__dict__

    def __setattr__(self, name: str, value: Any) -> None:
        # Also what is added later, such as the file, shows no password.
        super().__setattr__(name, _safe(value) if isinstance(value, str) else value)

    def __str__(self) -> str:
        return self.text()

    @property
    def path(self) -> str:
        """The place in a project file, such as ``columns.age.hierarchy``; empty if there is none."""
        return str(self.fields.get("path", ""))

    def text(self, language: str = "en") -> str:
        """Where it went wrong, what, the values, and the way out, in a language.

        >>> InputError("unknown-column", "the table has no such column", file="a.csv", column="age").text("es")
        "a.csv, columna 'age': la tabla no tiene esa columna"
        """
        place = None if self.column is None else Sentence("column '{column}'", column=self.column).into(language)
        where = ", ".join(text for text in (self.file, place) if text is not None)
        message, hint = self._translate(self.message, language), self._translate(self.hint, language)
        text = f"{where}: {message}" if where else message
        if self.values:
            text += " (" + ", ".join(repr(v) for v in self.values) + ")"
        return f"{text}\n{hint}" if hint else text

    @staticmethod
    def _translate(text: str, language: str) -> str:
        return _safe(into(text, language))

    def as_dict(self, language: str = "en") -> dict[str, Any]:
        """The error as one JSON-ready object; sentences in a language, all else the same in each."""
        fields = {
            "code": self.code,
            "message": self._translate(self.message, language),
            "hint": self._translate(self.hint, language),
            "file": self.file,
            "column": self.column,
            "values": self.values,
            "fields": self.fields,
        }
        return {"error": {key: value for key, value in fields.items() if value not in (None, "", [], {})}}


def _unpickle(kind: type[VeladoError], args: tuple[Any, ...]) -> VeladoError:
    """An error of a kind, without its contents."""
    return kind.__new__(kind, *args)


class InputError(VeladoError):
    """Bad input or usage: nothing was written."""


class Problems:
    """What is wrong with one thing, gathered: all is looked at, then the first error is raised and carries the others.

    >>> problems = Problems()
    >>> for number, name in enumerate(["age", "sex"]):
    ...     with problems.at("columns", number):
    ...         raise InputError("no-column", Sentence("column '{column}'", column=name), fields={"path": "role"})
    >>> [error.fields["path"] for error in problems.found]
    ['columns[0].role', 'columns[1].role']
    """

    def __init__(self, column: str | None = None) -> None:
        self.found: list[VeladoError] = []
        self._column = column

    @contextmanager
    def at(self, *steps: str | int) -> Iterator[None]:
        """Gather the errors of a block; the steps lead to what it is about."""
        try:
            yield
        except InputError as error:
            for one in (error, *error.others):
                self.add(one, *steps)
            error.others = ()

    def add(self, error: VeladoError, *steps: str | int) -> None:
        """One more."""
        way = way_to(*steps, below=error.path)
        if way:
            error.fields["path"] = way
        if error.column is None and self._column is not None:
            error.column = self._column
            error.args = (str(error),)
        self.found.append(error)

    def raise_if_any(self) -> None:
        """Raise the first, if there are any."""
        if self.found:
            first, *rest = self.found
            first.others = tuple(rest)
            raise first


def way_to(*steps: str | int, below: str = "") -> str:
    """The way to a place in a document; names that are not plain words stand in quotes.

    >>> way_to("columns", "post code", "hierarchy", below="intervals[1]")
    "columns['post code'].hierarchy.intervals[1]"
    """
    way = ""
    for step in steps:
        if isinstance(step, int):
            way += f"[{step}]"
        elif len(step) <= MOST_SHOWN and WORD.fullmatch(step):
            way += f".{step}" if way else step
        else:
            # Cut first: looking for passwords in a long text takes long.
            way += f"[{short_repr(redact(_cut(step, MOST_SHOWN)))}]"
    return way + ("." if way and below and not below.startswith("[") else "") + below


class NoSolution(VeladoError):
    """No recoding satisfies the models within the limits: nothing was written."""

    exit_code: ClassVar[int] = 1


class InternalError(VeladoError):
    """A fault of Velado's own, which no change of the input mends."""

    exit_code: ClassVar[int] = 70

    @staticmethod
    def of(error: BaseException) -> VeladoError:
        """What is told of an unexpected exception: its kind and its place. Its text may hold values of the data.

        That a package of an extra is not installed is no fault.
        """
        if isinstance(error, ModuleNotFoundError) and (extra := EXTRAS.get((error.name or "").partition(".")[0])):
            return missing_package("missing-extra", "this needs a package that is not installed", extra)
        return InternalError(
            "internal-error",
            Sentence("internal error: {kind} at {place}", kind=type(error).__name__, place=_place(error)),
            hint="This is a fault of Velado, not of your data: please report this line and the version. "
            "It repeats nothing of the table.",
        )


def _place(error: BaseException) -> str:
    """File and line of the innermost place in this package that an exception came through."""
    package = Path(__file__).parent
    trace = error.__traceback__
    place: str = Sentence("an unknown place")
    while trace is not None:
        file = Path(trace.tb_frame.f_code.co_filename)
        if file.is_relative_to(package):
            place = f"{file.relative_to(package.parent).as_posix()}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


class VerificationError(InternalError):
    """The written release did not pass its own verification and was removed."""


class Cancelled(VeladoError):
    """The run was cancelled by its caller: nothing was written."""

    exit_code: ClassVar[int] = 130

    def __init__(self) -> None:
        super().__init__("cancelled", "cancelled; nothing was written")


SYSTEM = (
    Sentence("Permission denied"),
    Sentence("No such file or directory"),
    Sentence("Is a directory"),
    Sentence("Not a directory"),
    Sentence("File name too long"),
    Sentence("File exists"),
    Sentence("Read-only file system"),
    Sentence("Too many levels of symbolic links"),
    Sentence("Input/output error"),
    Sentence("Operation not permitted"),
    Sentence("Too many open files"),
    Sentence("Device or resource busy"),
    Sentence("No such device or address"),
    Sentence("Transport endpoint is not connected"),
    Sentence("Text file busy"),
)
"""What operating systems say; the rest stays as they say it."""


def reason(error: BaseException, otherwise: str = "") -> Sentence:
    """Why the system refuses something, in its words; ``otherwise`` where it has none.

    >>> reason(PermissionError(13, "Permission denied")).into("es")
    'permiso denegado'
    """
    ours = next((said for said in error.args if isinstance(said, Sentence)), None)
    return ours or Sentence(getattr(error, "strerror", None) or otherwise or str(error))


FULL = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))


def unwritable(error: OSError, path: str | Path) -> InputError:
    """Why something could not be written, in our words."""
    if error.errno in FULL:
        return disk_full(path)
    return InputError("unwritable-output", Sentence("cannot write: {why}", why=reason(error)), file=path)


def disk_full(path: str | Path | None = None) -> InputError:
    """There is no room for what is to be written."""
    return InputError("disk-full", "the disk is full; nothing was published", file=path, hint="Free space, or write elsewhere.")


EXTRAS: Mapping[str, str] = {
    "jinja2": "report",
    "typst": "report",
    "vl_convert": "report",
    "sklearn": "learning",
    "ortools": "appointments",
    "psycopg": "databases",
    "pymysql": "databases",
    "pyspark": "spark",
    "aiohttp": "remote",
    "fsspec": "remote",
    "s3fs": "remote",
    "httpx2": "client",
    "alembic": "studio",
    "argon2": "studio",
    "authlib": "studio",
    "fastapi": "studio",
    "joserfc": "studio",
    "sqlalchemy": "studio",
    "uvicorn": "studio",
}
"""Modules that ``pip install 'velado[EXTRA]'`` makes importable."""


def missing_package(code: str, message: str, extra: str, file: str | None = None) -> InputError:
    """A package that not every installation has is not there; the message says what needs it."""
    return InputError(code, message, file=file, hint=Sentence("pip install 'velado[{extra}]'", extra=extra))


@dataclass(frozen=True)
class Note:
    """Something that a user should know of a run that went well. It says nothing of suppressed records."""

    code: str
    message: str
    column: str | None = field(default=None, metadata={"if_set": True})

    def __str__(self) -> str:
        return self.text()

    def text(self, language: str = "en") -> str:
        """The note in a language."""
        message = Sentence(self.message).into(language)
        if self.column is None:
            return message
        return Sentence("column '{column}'", column=self.column).into(language) + ": " + message

    def as_dict(self, language: str = "en") -> dict[str, Any]:
        """JSON-ready."""
        told = {"code": self.code, "message": Sentence(self.message).into(language)}
        return {**told, **({"column": self.column} if self.column else {})}


def redact(text: str) -> str:
    """A text without the passwords of addresses in it.

    >>> redact("cannot read postgresql://me:geheim@host/db?password=geheim")
    'cannot read postgresql://***@host/db?password=***'
    """
    for pattern, shown in PASSWORDS:
        text = pattern.sub(shown, text)
    return text


def short_repr(value: Any) -> str:
    """A value of the user's for a message: its beginning, if it is long.

    >>> short_repr("a" * 100)
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…"
    """
    if isinstance(value, int) and value.bit_length() > 1024:
        return Sentence("a number of more than 300 digits")
    return _cut(repr(value), MOST_SHOWN)


def _safe(text: str) -> str:
    """A text without passwords and of bearable length; a sentence stays one where nothing had to go."""
    safe = redact(_cut(text, MOST_MESSAGE))
    return text if safe == text else safe


def _scalars(message: str) -> dict[str, Any]:
    """The names and numbers of a message, and those of the sentences in it; what only joins others has no names."""
    found: dict[str, Any] = {}
    if not isinstance(message, Sentence):
        return found
    for name, value in message.places.items():
        if isinstance(value, Sentence):
            found = {**_scalars(value), **found}
        elif not wordless(message.template):
            found |= _scalar(name, value)
    return found


def _scalar(name: str, value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        return {name: redact(_cut(value, MOST_SHOWN))}
    if isinstance(value, (list, tuple)):
        return {name: [shown for v in value[:MOST_LISTED] for shown in _scalar(name, v).values()]}
    return {name: value} if isinstance(value, (int, float)) else {}


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most] + "…"


def did_you_mean(names: Iterable[str]) -> Sentence:
    """A hint with names.

    >>> did_you_mean(["age", "sex"]).into("pt")
    "Quis dizer 'age' ou 'sex'?"
    """
    return Sentence("Did you mean {names}?", names=join_sentences(Sentence(" or "), [f"'{n}'" for n in names]))


def suggest(wrong: object, known: Iterable[object]) -> Sentence:
    """A hint with the nearest known names."""
    import difflib

    names = [str(k) for k in known]
    near = difflib.get_close_matches(str(wrong)[:MOST_SHOWN], names, n=3, cutoff=0.5)
    if near:
        return did_you_mean(near)
    listed = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
    return Sentence("Known: {names}", names=listed) if names else Sentence("")
