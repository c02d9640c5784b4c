"""What can be done with sources, and by whom: make them, have them inspected, look at them, read them otherwise, delete them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session as Db

from velado.errors import InputError
from velado.sentences import Sentence
from velado.service.access.allowed_references import naming
from velado.service.access.ownership import CHANGE, actions_on, own, roles_in, source_for
from velado.service.access.redaction import has_no_header, redact_profile, redact_suggestion
from velado.service.admin import audit
from velado.service.errors import Conflict, Invalid, Unavailable
from velado.service.jobs import failure_messages, queue
from velado.service.jobs.localize import translate_result
from velado.service.jobs.waiting import wait_for
from velado.service.settings import Settings
from velado.service.sources import removal
from velado.service.sources.schemas import ChangedSource, ColumnAnswer, NewSource, RowsAnswer, SourceAnswer, UseAnswer
from velado.service.store.tables import Connection, Job, Source, Upload, now
from velado.service.unit_of_work import UnitOfWork
from velado.service.web.paging import newest
from velado.service.web.problems import ProblemPart
from velado.service.web.schemas import Listed
from velado.tables.address import TableName
from velado.tables.pages import Page, Wanted, check_column, parse_where, read_page
from velado.tables.source import FORMATS, HOLDS_TABLES

SECONDS = 60
"""How long a request waits for rows of a database."""


def list_sources(work: UnitOfWork, limit: int = 100, after: str | None = None) -> Listed[SourceAnswer]:
    """Your sources, newest first."""
    work.caller.require("account.use")
    with work.reading() as db:
        mine = select(Source).where(Source.user_id == work.caller.id)
        found, following = newest(db, mine, Source.created, Source.id, limit, after)
        inspections = last_inspections(db, found)
        return Listed(items=[_answer(db, work, source, inspections) for source in found], next=following)


def create_source(work: UnitOfWork, body: NewSource) -> SourceAnswer:
    """Make a source. A job finds out what it holds: wait for it."""
    chosen = [name for name in ("upload", "connection", "sample") if getattr(body, name) is not None]
    if len(chosen) != 1:
        raise Invalid("bad-source", "a source is made from one thing", hint="Give an upload, a connection or a sample.")
    work.caller.require(NEEDED[chosen[0]])
    with work.writing() as db:
        source = MAKERS[chosen[0]](db, work, body)
        source.options = body.options.model_dump(exclude_none=True)
        db.add(source)
        db.flush()
        job = inspect(db, work.settings(db), source, work.caller.id)
        work.audit(db, "source.create", source.id, kind=source.kind, job=job.id)
        return _answer(db, work, source)


NEEDED = {"upload": "uploads.create", "connection": "connections.create", "sample": "samples.use"}


def _of_upload(db: Db, work: UnitOfWork, body: NewSource) -> Source:
    upload = own(db, work.caller, Upload, body.upload or "", CHANGE)
    if upload.state != "complete":
        raise Conflict("upload-not-complete", "the upload is not complete", fields={"upload": upload.id})
    _only(body, "upload", "table")
    format = body.options.format or FORMATS["." + upload.name.rpartition(".")[2].lower()]
    if body.table is not None and format not in HOLDS_TABLES:
        raise Invalid("bad-source", "only databases hold several tables", fields={"path": "table"})
    upload.used = now()
    place = {} if body.table is None else {"table": _checked_table(body.table)}
    return Source(user_id=work.caller.id, name=body.name, kind="upload", upload_id=upload.id, place=place)


def _of_connection(db: Db, work: UnitOfWork, body: NewSource) -> Source:
    connection = own(db, work.caller, Connection, body.connection or "", CHANGE)
    _only(body, "connection", "table", "query")
    if (body.table is None) == (body.query is None):
        raise Invalid("bad-source", "a connection needs a table or a query", fields={"path": "table"})
    if set(body.options.model_fields_set) - {"missing"}:
        raise Invalid("bad-source", "of a database only 'missing' can be said", fields={"path": "options"})
    place = {"table": _checked_table(body.table)} if body.table is not None else {"query": body.query}
    return Source(user_id=work.caller.id, name=body.name, kind="connection", connection_id=connection.id, place=place)


def _of_sample(db: Db, work: UnitOfWork, body: NewSource) -> Source:
    _only(body, "sample", "rows")
    if body.options.model_fields_set:
        raise Invalid("bad-source", "a sample has no options", fields={"path": "options"})
    place: dict[str, Any] = {"sample": body.sample, **({} if body.rows is None else {"rows": body.rows})}
    return Source(user_id=work.caller.id, name=body.name, kind="sample", place=place)


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


def get_source(work: UnitOfWork, id: str) -> SourceAnswer:
    """A source: its state, rows and columns."""
    with work.reading() as db:
        source, _ = source_for(db, work.caller, id, "profile.read")
        return _answer(db, work, source)


def get_profile(work: UnitOfWork, id: str) -> dict[str, Any]:
    """What was found in its columns: types, different and missing values, records that are singled out, suggested roles.

    Who may not read records sees no examples, and no counts below 3.
    """
    with work.reading() as db:
        source, allowed = source_for(db, work.caller, id, "profile.read")
        profile = _require_inspection(source, source.profile)
        if "records.read" not in allowed:
            profile = redact_profile(profile, source.suggestion, roles_in(naming(db, work.caller, source)))
        return dict(translate_result(profile, work.language))


def get_suggestion(work: UnitOfWork, id: str) -> dict[str, Any]:
    """The columns, models and methods that suggest themselves, and the document of a project that runs."""
    with work.reading() as db:
        source, allowed = source_for(db, work.caller, id, "profile.read")
        suggestion = _require_inspection(source, source.suggestion)
        if "records.read" not in allowed:
            named = not has_no_header(source.profile)
            suggestion = redact_suggestion(suggestion, roles_in(naming(db, work.caller, source))) if named else {}
        return dict(translate_result(suggestion, work.language))


def read_rows(
    work: UnitOfWork,
    id: str,
    *,
    offset: int = 0,
    limit: int = 100,
    sort: str | None = None,
    descending: bool = False,
    where: Sequence[str] = (),
) -> RowsAnswer:
    """Rows of the table: a page, sorted, filtered; who read which is written down."""
    with work.reading() as db:
        source, _ = source_for(db, work.caller, id, "records.read")
        _require_inspection(source, source.profile)
    names = [str(column["name"]) for column in source.columns]
    if sort is not None:
        check_column(sort, names)
    filters = parse_where(list(where), names)
    if not source.copied:
        job = _ask_rows(work, id, offset, limit, sort, descending, filters)
        _note_reading(work, id, offset, limit)
        return _rows_of(work, job, offset, None if filters else source.rows)
    _note_reading(work, id, offset, limit)
    columns = (source.profile or {}).get("columns", [])
    wanted = Wanted(
        offset, limit, sort, descending, filters, {c["name"]: c["type"] for c in columns}, {c["name"]: c["format"] for c in columns}
    )
    page = _page(work.service.files.copy(id), names, wanted)
    return RowsAnswer(columns=list(page.columns), rows=page.rows, offset=offset, total=page.total)


def _note_reading(work: UnitOfWork, id: str, offset: int, limit: int) -> None:
    """Write down that rows are read, and that the table is in use; the same rows a moment later are no new line."""
    detail = {"offset": offset, "limit": limit}
    with work.reading() as db:
        if audit.has_recent_line(db, work.caller.id, "records.read", id, detail):
            return
    with work.disclosing() as db:
        # It may have been taken away meanwhile.
        source, _ = source_for(db, work.caller, id, "records.read")
        source.used = now()
        work.audit(db, "records.read", id, **detail)


def _page(copy: Path, names: list[str], wanted: Wanted) -> Page:
    try:
        return read_page(copy, names, wanted)
    except InputError as error:
        if error.code not in ("no-copy", "page-too-slow", "page-too-large"):
            raise
        kind = Conflict if error.code == "no-copy" else Unavailable
        raise kind(error.code, error.message, hint=error.hint) from None


def _ask_rows(
    work: UnitOfWork, id: str, offset: int, limit: int, sort: str | None, descending: bool, filters: Sequence[tuple[str, str]]
) -> str:
    """Ask a worker for rows of the database of a connection; the id of the job."""
    given = {
        "offset": offset,
        "limit": limit,
        "sort": sort,
        "descending": descending,
        "where": {name: value or None for name, value in filters},
    }
    with work.asking() as db:
        source, _ = source_for(db, work.caller, id, "records.read")
        return queue.submit(db, work.settings(db), "rows", work.caller.id, given, source_id=source.id, quick=True).id


def _rows_of(work: UnitOfWork, job: str, offset: int, total: int | None) -> RowsAnswer:
    """The rows that a job has read; the store does not keep them."""
    try:
        found = wait_for(work, job, SECONDS, values=True)
    finally:
        with work.asking() as db:
            kept = db.get(Job, job)
            if kept is not None:
                db.delete(kept)
    rows = [[None if cell is None else str(cell) for cell in row] for row in found["rows"]]
    return RowsAnswer(columns=list(found["columns"]), rows=rows, offset=offset, total=total)


def list_uses(work: UnitOfWork, id: str) -> list[UseAnswer]:
    """The projects of who asks that work on a source, and would lack it."""
    with work.reading() as db:
        source, _ = source_for(db, work.caller, id, "profile.read")
        found = sorted(naming(db, work.caller, source), key=lambda project: (project.name, project.id))
        return [UseAnswer(id=project.id, name=project.name) for project in found]


def change_source(work: UnitOfWork, id: str, body: ChangedSource) -> SourceAnswer:
    """Rename a source, or read it otherwise: then it is inspected again."""
    with work.writing() as db:
        source, _ = source_for(db, work.caller, id, CHANGE)
        if source.state == "deleted":
            raise _missing_source()
        if body.name is not None:
            source.name = body.name
        if body.options is not None:
            if source.kind != "upload" and set(body.options.model_fields_set) - {"missing"}:
                raise Invalid("bad-source", "of a database only 'missing' can be said", fields={"path": "options"})
            work.caller.require(NEEDED[source.kind])
            source.options = body.options.model_dump(exclude_none=True)
            inspect(db, work.settings(db), source, work.caller.id)
        work.audit(db, "source.change", id, inspected=body.options is not None)
        return _answer(db, work, source)


def delete_source(work: UnitOfWork, id: str) -> None:
    """Delete a source at once, with its upload and every copy. Projects that name it have a problem from then on."""
    files = work.service.files
    with work.writing() as db:
        source, _ = source_for(db, work.caller, id, CHANGE)
        gone = removal.remove_source(db, files, source)
        work.audit(db, "source.delete", id, files=len(gone))
    removal.remove_files(files, gone)


def _require_inspection(source: Source, found: Mapping[str, Any] | None) -> dict[str, Any]:
    """What an inspection found; raises where there was none yet."""
    if source.state == "deleted":
        raise _missing_source()
    if found is None:
        raise Conflict(
            "source-not-ready",
            "the source was not inspected yet, or could not be read",
            hint="Wait for its job.",
            fields={"state": source.state},
        )
    return dict(found)


def _missing_source() -> Conflict:
    return Conflict("source-gone", "the table of this source was deleted", hint="Upload it again, as a new source.")


def _answer(db: Db, work: UnitOfWork, source: Source, inspections: Mapping[str | None, Job] | None = None) -> SourceAnswer:
    """A source as its readers see it. Addresses, queries and errors with values are for who may read records."""
    allowed = actions_on(db, work.caller, source)
    job = (last_inspections(db, [source]) if inspections is None else inspections).get(source.id)
    state, problem = source.state, None
    if state == "new" and job is not None and job.state in ("failed", "cancelled"):
        state = "failed"
    if state == "failed" and job is not None and job.error:
        problem = _problem(job.error, "records.read" in allowed, work.language)
    # Without a header the names of the columns are the data of a person.
    hidden = "records.read" not in allowed and has_no_header(source.profile)
    mine = source.user_id == work.caller.id
    return SourceAnswer(
        id=source.id,
        name=source.name,
        kind=source.kind,
        state=state,
        options=source.options,
        rows=source.rows,
        columns=[
            ColumnAnswer(name=f"column_{i + 1}" if hidden else str(c["name"]), type=str(c["type"]))
            for i, c in enumerate(source.columns)
        ],
        upload=source.upload_id if mine else None,
        connection=source.connection_id if mine else None,
        table=source.place.get("table"),
        query=source.place.get("query") if mine else None,
        sample=source.place.get("sample"),
        job=None if job is None else job.id,
        problem=problem,
        owned=mine,
        actions=sorted(allowed),
        created=source.created,
        used=source.used,
    )


def _problem(error: Mapping[str, Any], whole: bool, language: str) -> ProblemPart:
    """Why a table could not be read; to who may not read records, only what kind of problem it is."""
    if not whole:
        unread = Sentence("the table could not be read")
        return ProblemPart(code=str(error["code"]), message=unread.into(language))
    said = failure_messages.translate_error(error, language)
    kept = {key: said[key] for key in ("code", "message", "hint", "column") if key in said}
    fields = {**said.get("fields", {}), **({"values": said["values"]} if "values" in said else {})}
    return ProblemPart(**kept, fields=fields)


def inspect(db: Db, settings: Settings, source: Source, user_id: str) -> Job:
    """Submit the job that finds out what a source is; one that still waits or runs for it is ended."""
    for job in db.scalars(select(Job).where(Job.source_id == source.id, Job.kind == "inspect")):
        if job.state not in queue.ENDED:
            queue.cancel(db, job)
    source.state, source.rows, source.columns = "new", None, []
    source.profile = source.suggestion = None
    source.copied = False
    return queue.submit(db, settings, "inspect", user_id, {}, source_id=source.id)


def last_inspections(db: Db, sources: Sequence[Source]) -> dict[str | None, Job]:
    """By source, the last job that was to find out what it is; one statement for all."""
    of = (Job.source_id.in_([source.id for source in sources]), Job.kind == "inspect")
    return {job.source_id: job for job in db.scalars(select(Job).where(*of).order_by(Job.created, Job.id))}
