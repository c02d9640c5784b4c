"""Tables to work on, their rows and columns."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field
from sqlalchemy import select
from sqlalchemy.orm import Session as Db

from velado.errors import InputError
from velado.sentences import Sentence
from velado.service import sources
from velado.service.belongings import CHANGE, actions_on, own, roles_in, source_for
from velado.service.errors import Conflict, Invalid, Unavailable
from velado.service.jobs import failures, queue
from velado.service.masking import lacks_header, masked_profile, masked_suggestion
from velado.service.store.tables import Connection, Job, Source, Upload, now
from velado.service.usable import naming
from velado.service.web.call import Call, Called
from velado.service.web.paged import newest
from velado.service.web.problems import ProblemPart
from velado.service.web.shapes import After, Body, Id, Limit, Listed, Name
from velado.service.web.spoken import spoken
from velado.service.web.waiting import wait_for
from velado.tables.address import TableName
from velado.tables.pages import MOST, Page, Wanted, check_column, parse_where, read_page
from velado.tables.source import FORMATS, HOLDS_TABLES

router = APIRouter(tags=["sources"])
SECONDS = 60
"""How long a request waits for rows of a database."""
Sign = Annotated[str, Field(min_length=1, max_length=1)]
TableText = Annotated[str, Field(min_length=1, max_length=300, pattern=r"^[^\x00]*$")]
Format = Literal["csv", "parquet", "xlsx", "arrow", "duckdb", "sqlite"]


class Options(Body):
    """How a file is read, as in the source of a project file; what is absent is found out from the file."""

    format: Format | None = None
    delimiter: Sign | None = None
    quote: Sign | None = None
    encoding: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.: -]{1,40}$")] | None = None
    sheet: Annotated[str, Field(max_length=200)] | None = None
    missing: Annotated[list[Annotated[str, Field(max_length=200)]], Field(max_length=100)] | None = None
    header: bool | None = None
    skip: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    names: Literal["unique", "numbered"] | None = None


class NewSource(Body):
    """A table: an upload, a table or query of a connection, or a sample."""

    name: Name
    upload: Id | None = None
    connection: Id | None = None
    table: TableText | None = Field(default=None, description="Of the connection, or of an uploaded database")
    query: Annotated[str, Field(min_length=1, max_length=20_000)] | None = None
    sample: Literal["hospital", "caoba", "covid_ceara"] | None = None
    rows: Annotated[int, Field(ge=1, le=1_000_000)] | None = Field(default=None, description="Of the sample")
    options: Options = Options()


class ChangedSource(Body):
    """What is to change; other options are inspected again."""

    name: Name | None = None
    options: Options | None = None


class ColumnAnswer(BaseModel):
    """A column and its type."""

    name: str
    type: str


class SourceAnswer(BaseModel):
    """A table. ``state``: new, ready, failed, deleted; ``job`` is the one that inspects it, ``problem`` why that failed."""

    id: str
    name: str
    kind: str
    state: str
    upload: str | None = None
    connection: str | None = None
    table: str | None = None
    query: str | None = None
    sample: str | None = None
    options: dict[str, Any] = {}
    rows: int | None = None
    columns: list[ColumnAnswer] = []
    job: str | None = None
    problem: ProblemPart | None = None
    owned: bool
    actions: list[str]
    created: datetime
    used: datetime


class UseAnswer(BaseModel):
    """A project that works on a source."""

    id: str
    name: str


class RowsAnswer(BaseModel):
    """A page of rows, cells as texts; null is a missing value."""

    columns: list[str]
    rows: list[list[str | None]]
    offset: int
    total: int | None = None


@router.get("/sources")
def list_sources(call: Called, limit: Limit = 100, after: After = None) -> Listed[SourceAnswer]:
    """Your sources, newest first."""
    call.caller.require("account.use")
    with call.reading() as db:
        mine = select(Source).where(Source.user_id == call.caller.id)
        found, following = newest(db, mine, Source.created, Source.id, limit, after)
        return Listed(items=[_answer(db, call, source) for source in found], next=following)


@router.post("/sources", status_code=201)
def create_source(body: NewSource, call: Called, response: Response) -> SourceAnswer:
    """Make a source. A job finds out what it holds: wait for it."""
    chosen = [name for name in ("upload", "connection", "sample") if getattr(body, name) is not None]
    if len(chosen) != 1:
        raise Invalid("bad-source", "a source is made from one thing", hint="Give an upload, a connection or a sample.")
    call.caller.require(NEEDED[chosen[0]])
    with call.writing() as db:
        source = MAKERS[chosen[0]](db, call, body)
        source.options = body.options.model_dump(exclude_none=True)
        db.add(source)
        db.flush()
        job = sources.inspect(db, call.settings(db), source, call.caller.id)
        call.audit(db, "source.create", source.id, kind=source.kind, job=job.id)
        answer = _answer(db, call, source)
    response.headers["Location"] = f"/api/v1/sources/{source.id}"
    return answer


NEEDED = {"upload": "uploads.create", "connection": "connections.create", "sample": "samples.use"}


def _of_upload(db: Db, call: Call, body: NewSource) -> Source:
    upload = own(db, call.caller, Upload, body.upload or "", CHANGE)
    if upload.state != "complete":
        raise Conflict("upload-not-complete", "the upload is not complete", fields={"upload": upload.id})
    _only(body, "upload", "table")
    format = body.options.format or FORMATS["." + upload.name.rpartition(".")[2].lower()]
    if body.table is not None and format not in HOLDS_TABLES:
        raise Invalid("bad-source", "only databases hold several tables", fields={"path": "table"})
    upload.used = now()
    place = {} if body.table is None else {"table": _checked_table(body.table)}
    return Source(user_id=call.caller.id, name=body.name, kind="upload", upload_id=upload.id, place=place)


def _of_connection(db: Db, call: Call, body: NewSource) -> Source:
    connection = own(db, call.caller, Connection, body.connection or "", CHANGE)
    _only(body, "connection", "table", "query")
    if (body.table is None) == (body.query is None):
        raise Invalid("bad-source", "a connection needs a table or a query", fields={"path": "table"})
    if set(body.options.model_fields_set) - {"missing"}:
        raise Invalid("bad-source", "of a database only 'missing' can be said", fields={"path": "options"})
    place = {"table": _checked_table(body.table)} if body.table is not None else {"query": body.query}
    return Source(user_id=call.caller.id, name=body.name, kind="connection", connection_id=connection.id, place=place)


def _of_sample(db: Db, call: Call, body: NewSource) -> Source:
    _only(body, "sample", "rows")
    if body.options.model_fields_set:
        raise Invalid("bad-source", "a sample has no options", fields={"path": "options"})
    place: dict[str, Any] = {"sample": body.sample, **({} if body.rows is None else {"rows": body.rows})}
    return Source(user_id=call.caller.id, name=body.name, kind="sample", place=place)


MAKERS = {"upload": _of_upload, "connection": _of_connection, "sample": _of_sample}


def _only(body: NewSource, *known: str) -> None:
    """Nothing is said that belongs to another kind of source."""
    for name in ("upload", "connection", "table", "query", "sample", "rows"):
        if name not in known and getattr(body, name) is not None:
            raise Invalid("bad-source", "this does not belong to such a source", fields={"path": name})


def _checked_table(text: str) -> str:
    try:
        return str(TableName.parse(text))
    except InputError as error:
        raise Invalid(error.code, error.message, hint=error.hint, fields={"path": "table"}) from None


@router.get("/sources/{id}")
def get_source(id: str, call: Called) -> SourceAnswer:
    """A source: its state, rows and columns."""
    with call.reading() as db:
        source, _ = source_for(db, call.caller, id, "profile.read")
        return _answer(db, call, source)


@router.get("/sources/{id}/profile")
def get_profile(id: str, call: Called) -> dict[str, Any]:
    """What was found in its columns: types, different and missing values, records that are singled out, suggested roles.

    Who may not read records sees no examples, and no counts below 3.
    """
    with call.reading() as db:
        source, allowed = source_for(db, call.caller, id, "profile.read")
        profile = _inspected(source, source.profile)
        if "records.read" not in allowed:
            profile = masked_profile(profile, source.suggestion, roles_in(naming(db, call.caller, source)))
        return dict(spoken(profile, call.language))


@router.get("/sources/{id}/suggestion")
def get_suggestion(id: str, call: Called) -> dict[str, Any]:
    """The columns, models and methods that suggest themselves, and the document of a project that runs."""
    with call.reading() as db:
        source, allowed = source_for(db, call.caller, id, "profile.read")
        suggestion = _inspected(source, source.suggestion)
        if "records.read" not in allowed:
            named = not lacks_header(source.profile)
            suggestion = masked_suggestion(suggestion, roles_in(naming(db, call.caller, source))) if named else {}
        return dict(spoken(suggestion, call.language))


@router.get("/sources/{id}/rows")
def get_rows(
    id: str,
    call: Called,
    offset: Annotated[int, Query(ge=0, le=2**53)] = 0,
    limit: Annotated[int, Query(ge=1, le=MOST)] = 100,
    sort: Annotated[str | None, Query(max_length=300, description="A column")] = None,
    descending: bool = False,
    where: Annotated[
        list[Annotated[str, Field(max_length=2000)]], Query(max_length=50, description="column=value; empty: missing")
    ] = [],  # noqa: B006
) -> RowsAnswer:
    """Rows of the table: a page, sorted, filtered. Each reading is written down in the audit log."""
    with call.writing() as db:
        source, _ = source_for(db, call.caller, id, "records.read")
        _inspected(source, source.profile)
        names = [str(column["name"]) for column in source.columns]
        if sort is not None:
            check_column(sort, names)
        filters = parse_where(where, names)
        source.used = now()
        call.audit(db, "records.read", source.id, offset=offset, limit=limit)
        job = None if source.copied else _ask_rows(db, call, source, offset, limit, sort, descending, filters)
    if job is not None:
        return _rows_of(call, job, offset, None if filters else source.rows)
    columns = (source.profile or {}).get("columns", [])
    wanted = Wanted(
        offset, limit, sort, descending, filters, {c["name"]: c["type"] for c in columns},
        {c["name"]: c["format"] for c in columns},
    )  # fmt: skip
    page = _page(call.service.files.copy(id), names, wanted)
    return RowsAnswer(columns=list(page.columns), rows=page.rows, offset=offset, total=page.total)


def _page(copy: Path, names: list[str], wanted: Wanted) -> Page:
    try:
        return read_page(copy, names, wanted)
    except InputError as error:
        if error.code not in ("no-copy", "page-too-slow", "page-too-large"):
            raise
        kind = Conflict if error.code == "no-copy" else Unavailable
        raise kind(error.code, error.message, hint=error.hint) from None


def _ask_rows(
    db: Db,
    call: Call,
    source: Source,
    offset: int,
    limit: int,
    sort: str | None,
    descending: bool,
    filters: list[tuple[str, str]],
) -> Job:
    """A question to the database of a connection."""
    given = {
        "offset": offset, "limit": limit, "sort": sort, "descending": descending,
        "where": {name: value or None for name, value in filters},
    }  # fmt: skip
    return queue.submit(db, call.settings(db), "rows", call.caller.id, given, source_id=source.id, quick=True)


def _rows_of(call: Call, job: Job, offset: int, total: int | None) -> RowsAnswer:
    """The rows that a job has read; the store does not keep them."""
    try:
        found = wait_for(call, job.id, SECONDS, values=True)
    finally:
        with call.writing() as db:
            kept = db.get(Job, job.id)
            if kept is not None:
                db.delete(kept)
    rows = [[None if cell is None else str(cell) for cell in row] for row in found["rows"]]
    return RowsAnswer(columns=list(found["columns"]), rows=rows, offset=offset, total=total)


@router.get("/sources/{id}/projects")
def list_uses(id: str, call: Called) -> Listed[UseAnswer]:
    """The projects of who asks that work on a source, and would lack it."""
    with call.reading() as db:
        source, _ = source_for(db, call.caller, id, "profile.read")
        found = sorted(naming(db, call.caller, source), key=lambda project: (project.name, project.id))
        return Listed(items=[UseAnswer(id=project.id, name=project.name) for project in found])


@router.put("/sources/{id}")
def change_source(id: str, body: ChangedSource, call: Called) -> SourceAnswer:
    """Rename a source, or read it otherwise: then it is inspected again."""
    with call.writing() as db:
        source, _ = source_for(db, call.caller, id, CHANGE)
        if source.state == "deleted":
            raise _gone()
        if body.name is not None:
            source.name = body.name
        if body.options is not None:
            if source.kind != "upload" and set(body.options.model_fields_set) - {"missing"}:
                raise Invalid("bad-source", "of a database only 'missing' can be said", fields={"path": "options"})
            call.caller.require(NEEDED[source.kind])
            source.options = body.options.model_dump(exclude_none=True)
            sources.inspect(db, call.settings(db), source, call.caller.id)
        call.audit(db, "source.change", id, inspected=body.options is not None)
        return _answer(db, call, source)


@router.delete("/sources/{id}", status_code=204)
def delete_source(id: str, call: Called) -> None:
    """Delete a source at once, with its upload and every copy. Projects that name it have a problem from then on."""
    files = call.service.files
    with call.writing() as db:
        source, _ = source_for(db, call.caller, id, CHANGE)
        gone = sources.remove_source(db, files, source)
        call.audit(db, "source.delete", id, files=len(gone))
    sources.remove_files(files, gone)


def _inspected(source: Source, found: Mapping[str, Any] | None) -> dict[str, Any]:
    """What an inspection found; raises where there was none yet."""
    if source.state == "deleted":
        raise _gone()
    if found is None:
        raise Conflict(
            "source-not-ready", "the source was not inspected yet, or could not be read", hint="Wait for its job.",
            fields={"state": source.state},
        )  # fmt: skip
    return dict(found)


def _gone() -> Conflict:
    return Conflict("source-gone", "the table of this source was deleted", hint="Upload it again, as a new source.")


def _answer(db: Db, call: Call, source: Source) -> SourceAnswer:
    """A source as its readers see it. Addresses, queries and errors with values are for who may read records."""
    allowed = actions_on(db, call.caller, source)
    job = sources.last_inspection(db, source)
    state, problem = source.state, None
    if state == "new" and job is not None and job.state in ("failed", "cancelled"):
        state = "failed"
    if state == "failed" and job is not None and job.error:
        problem = _problem(job.error, "records.read" in allowed, call.language)
    # Without a header the names of the columns are the data of a person.
    hidden = "records.read" not in allowed and lacks_header(source.profile)
    mine = source.user_id == call.caller.id
    return SourceAnswer(
        id=source.id, name=source.name, kind=source.kind, state=state, options=source.options, rows=source.rows,
        columns=[
            ColumnAnswer(name=f"column_{i + 1}" if hidden else str(c["name"]), type=str(c["type"]))
            for i, c in enumerate(source.columns)
        ],
        upload=source.upload_id if mine else None, connection=source.connection_id if mine else None,
        table=source.place.get("table"), query=source.place.get("query") if mine else None,
        sample=source.place.get("sample"), job=None if job is None else job.id, problem=problem, owned=mine,
        actions=sorted(allowed), created=source.created, used=source.used,
    )  # fmt: skip


def _problem(error: Mapping[str, Any], whole: bool, language: str) -> ProblemPart:
    """Why a table could not be read; to who may not read records, only what kind of problem it is."""
    if not whole:
        unread = Sentence("the table could not be read")
        return ProblemPart(code=str(error["code"]), message=unread.into(language))
    said = failures.said(error, language)
    kept = {key: said[key] for key in ("code", "message", "hint", "column") if key in said}
    fields = {**said.get("fields", {}), **({"values": said["values"]} if "values" in said else {})}
    return ProblemPart(**kept, fields=fields)
