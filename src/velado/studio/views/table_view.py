"""A table as pages show it: which of its rows are wanted, what is known of its columns, and how its file is read otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple
from urllib.parse import urlencode

from fastapi import Query

from velado.errors import VeladoError
from velado.results import Discreet
from velado.sentences import Sentence
from velado.service.errors import NotFound
from velado.service.jobs import operations as jobs
from velado.service.jobs.answers import JobAnswer
from velado.service.sources import operations as sources
from velado.service.sources import uploads
from velado.service.sources.schemas import Options, RowsAnswer, SourceAnswer
from velado.service.web import problems
from velado.service.web.problems import ProblemPart
from velado.studio.request import Form, PageRequest
from velado.tables.source import FORMATS

SHOWN = 50
DELIMITERS = (",", ";", "tab", "|")
ENCODINGS = ("utf-8", "windows-1252", "latin-1", "utf-16", "cp850", "mac-roman")
LINED = ("csv", "xlsx")
"""Formats that have lines: names of columns can be absent, and titles can stand above them."""
FARTHEST = 2**53


class SheetQuery(NamedTuple):
    """What an address asks for. ``row`` is the number of the first row, ``column`` and ``value`` are one more filter."""

    offset: int
    row: int | None
    sort: str | None
    down: bool
    where: list[str]
    column: str | None
    value: str
    now: bool


def sheet_query(
    offset: Annotated[int, Query(ge=0, le=FARTHEST)] = 0,
    row: Annotated[str, Query(max_length=20)] = "",
    sort: Annotated[str | None, Query(max_length=300)] = None,
    down: bool = False,
    where: Annotated[list[str] | None, Query(max_length=50)] = None,
    column: Annotated[str | None, Query(max_length=300)] = None,
    value: Annotated[str, Query(max_length=2000)] = "",
    now: bool = False,
) -> SheetQuery:
    """The dependency of pages that show rows."""
    number = int(row) if row.isdecimal() and 0 < int(row) <= FARTHEST else None
    return SheetQuery(offset, number, sort or None, down, where or [], column or None, value, now)


@dataclass(frozen=True, repr=False)
class Wanted(Discreet):
    """The rows that somebody looks at. ``now``: they are read within the request, also where a database must be asked."""

    path: str
    table: str | None = None
    offset: int = 0
    sort: str | None = None
    down: bool = False
    where: tuple[str, ...] = ()
    now: bool = False

    @classmethod
    def of(cls, asked: SheetQuery, path: str, table: str | None = None) -> Wanted:
        """From what an address asks for."""
        more = [f"{asked.column}={asked.value.strip()}"] if asked.column else []
        filters = tuple(dict.fromkeys((*asked.where, *more)))
        offset = asked.offset if asked.row is None else asked.row - 1
        return cls(path, table, offset, asked.sort, asked.down, filters, asked.now)

    def address(self, **changed: Any) -> str:
        """The address of these rows, or of others."""
        found = replace(self, **changed)
        told: list[tuple[str, Any]] = [("table", found.table)] if found.table else []
        told += [("offset", found.offset)] if found.offset else []
        told += [("sort", found.sort)] if found.sort else []
        told += [("down", 1)] if found.down else []
        told += [("where", one) for one in found.where] + ([("now", 1)] if found.now else [])
        return f"{found.path}?{urlencode(told)}" if told else found.path

    def sorted_by(self, column: str) -> str:
        """The address of the same rows by a column: rising, falling, then as they stand in the table."""
        if self.sort != column:
            return self.address(sort=column, down=False, offset=0)
        return self.address(sort=None if self.down else column, down=not self.down, offset=0)

    def without(self, filter: str) -> str:
        """The address without one of the filters."""
        return self.address(where=tuple(one for one in self.where if one != filter), offset=0)


@dataclass(frozen=True, repr=False)
class Sheet(Discreet):
    """A table and what can be shown of it.

    ``waits``: its rows are to be loaded by a part of their own. ``marks`` are texts that a project reads as missing.
    """

    source: SourceAnswer
    format: str
    wanted: Wanted
    profile: Mapping[str, Any]
    job: JobAnswer | None = None
    rows: RowsAnswer | None = None
    problem: ProblemPart | None = None
    waits: bool = False
    marks: tuple[str, ...] = ()

    @property
    def columns(self) -> list[dict[str, Any]]:
        """The columns with what is known of each."""
        seen = {str(c.get("name")): c for c in self.profile.get("columns", ())}
        return [{"name": c.name, "type": c.type, **seen.get(c.name, {})} for c in self.source.columns]

    @property
    def missing(self) -> int | None:
        """How many cells are missing; None where that is not told exactly."""
        found = [c.get("missing") for c in self.columns]
        return sum(n for n in found if isinstance(n, int)) if all(isinstance(n, int) for n in found) else None

    @property
    def markers(self) -> list[str]:
        """Texts in it that seem to stand for missing values and are not read so yet."""
        found = [str(m) for c in self.columns for m in c.get("markers") or ()]
        return [m for m in dict.fromkeys(found) if m not in (*self.marks, *(self.source.options.get("missing") or ()))]

    @property
    def options(self) -> dict[str, Any]:
        """How it is read; None: that is found out."""
        return {name: self.source.options.get(name) for name in Options.model_fields}

    @property
    def mine(self) -> bool:
        """Whether who looks may have it read otherwise."""
        return "project.edit" in self.source.actions

    @property
    def fixes(self) -> list[ReadingFix]:
        """What would have the table read that cannot be read, or is read wrongly."""
        told = [self.source.problem] if self.source.problem else []
        notes = [ProblemPart(**note) for note in self.profile.get("notes", ())]
        return [way for one in (*told, *notes) for way in suggest_reading_fixes(one, self.format)]


class ReadingFix(NamedTuple):
    """A way out of a problem: what it says, and the options that it changes."""

    title: Sentence
    fields: dict[str, Any]


def suggest_reading_fixes(problem: ProblemPart, format: str) -> Iterator[ReadingFix]:
    """What can be changed at once so that a table is read."""
    fields, code = problem.fields, problem.code
    if code == "title-lines" and isinstance(fields.get("line"), int):
        yield ReadingFix(Sentence("Skip the first {n} lines", n=fields["line"] - 1), {"skip": fields["line"] - 1})
    if code in ("duplicate-column", "unnamed-column"):
        yield ReadingFix(Sentence("Number the names"), {"names": "numbered"})
    if code in ("no-header", "duplicate-column", "unnamed-column") and format in LINED:
        yield ReadingFix(Sentence("The first line is data"), {"header": ""})
    if code == "wrong-encoding":
        for encoding in ("windows-1252", "latin-1", "utf-16"):
            yield ReadingFix(Sentence("Read it as {encoding}", encoding=encoding), {"encoding": encoding})
    if code == "unknown-sheet":
        for sheet in fields.get("values", ()):
            yield ReadingFix(Sentence("Sheet '{sheet}'", sheet=sheet), {"sheet": sheet})
    if code == "no-table":
        for table in fields.get("tables", ()):
            yield ReadingFix(Sentence("Table '{table}'", table=table), {"table": table})


def sheet_of(
    visit: PageRequest, source: SourceAnswer, wanted: Wanted, marks: tuple[str, ...] = (), *, with_rows: bool = True
) -> Sheet:
    """A table with the rows that are wanted, as far as who looks may see them; or without rows."""
    profile = sources.get_profile(visit.call, source.id) if source.state == "ready" else {}
    # Its links lead to pages that load the rows by themselves.
    here = replace(wanted, now=False)
    made = Sheet(source, format_of(visit, source), here, profile, inspection(visit, source), marks=marks)
    if not with_rows or source.state != "ready" or "records.read" not in source.actions:
        return made
    if source.kind == "connection" and not wanted.now:
        return replace(made, waits=True)
    try:
        rows = sources.read_rows(
            visit.call,
            source.id,
            offset=wanted.offset,
            limit=SHOWN,
            sort=wanted.sort,
            descending=wanted.down,
            where=list(wanted.where),
        )
    except VeladoError as error:
        return replace(made, problem=ProblemPart(**problems.part(error, visit.words.code)))
    return replace(made, rows=rows)


def inspection(visit: PageRequest, source: SourceAnswer) -> JobAnswer | None:
    """The job that looks at a table and has not ended, if who looks may see it."""
    if source.job is None or source.state != "new":
        return None
    try:
        return jobs.read_job(visit.call, source.job)
    except NotFound:
        return None


def format_of(visit: PageRequest, source: SourceAnswer) -> str:
    """The format of the file of a source; empty where there is none, or where it is somebody else's."""
    if source.upload is None:
        return ""
    try:
        name = uploads.get_upload(visit.call, source.upload).name
    except NotFound:
        return ""
    return str(source.options.get("format") or FORMATS.get("." + name.rpartition(".")[2].lower(), "csv"))


def options_of(form: Form, format: str, before: Mapping[str, Any]) -> Options:
    """How a table is to be read, from a form. What the form does not mention stays, what it leaves open is found out anew."""
    found = dict(before)
    for name in ("delimiter", "quote", "encoding", "sheet", "skip", "names", "header", "missing"):
        if name in form and (format or name == "missing"):
            found.pop(name, None)
            found |= _option(name, form)
    return Options.model_validate(found)


def _option(name: str, form: Form) -> dict[str, Any]:
    """One option as a form says it; none where that is what is found out, or done, anyway."""
    text = form.text(name)
    if name == "missing":
        return {name: marks} if (marks := marks_in(text)) else {}
    if name == "header":
        return {} if text else {name: False}
    if name == "names":
        return {name: text} if text == "numbered" else {}
    if name == "skip":
        return {} if text in ("", "0") else {name: text}
    plain = {"tab": "\t", "space": " "}.get(text, text) if name == "delimiter" else text
    return {name: plain} if plain else {}


def marks_in(text: str) -> list[str]:
    """The texts that stand for a missing value, one in each line."""
    return list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))
