"""Explorations of the lattice of a project: all nodes, one node, paths, and the release of a chosen one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Query, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field
from sqlalchemy import select
from sqlalchemy.orm import Session as Db

from velado.questions.exploration import path_between
from velado.service import explorations, masking
from velado.service.errors import Forbidden
from velado.service.jobs.queue import ENDED
from velado.service.store.tables import Job
from velado.service.usable import check_use
from velado.service.web import downloads, paged
from velado.service.web.asking import JobBegun, begun, job_of, of_project
from velado.service.web.call import Call, Called
from velado.service.web.shapes import After, Limit, Listed
from velado.service.web.tags import known
from velado.service.web.waiting import wait_for

router = APIRouter(tags=["explorations"])
KIND = "explore"
ARROW = "application/vnd.apache.arrow.file"
SECONDS = 60.0
WORTH_PACKING = 500
"""Numbers from which an answer is packed."""
Figure = float | int | str | None
"""A number, null if there is none; for who may not read records "fewer than 3", and null for what tells of such a count."""
Vector = Annotated[str, Query(max_length=400, description="A level for each column, such as 1,0,2")]


class ExplorationEntry(BaseModel):
    """An exploration in a list: the job that made it, or makes it."""

    id: str
    version: int | None
    state: str
    created: datetime
    finished: datetime | None
    table: str | None = Field(None, description="Which one, of several")
    nodes: int | None = None
    counts: dict[str, int] = Field(default_factory=dict)


class ExplorationAnswer(ExplorationEntry):
    """What an exploration is about. ``levels`` is how many each column has, ``limit`` how many records may be suppressed."""

    columns: list[str]
    levels: list[int]
    rows: int
    limit: int
    objective: str
    method: str | None = Field(None, description="With which method it was explored")
    person: str | None = None
    models: list[dict[str, Any]]
    labels: dict[str, list[int]] = Field(default_factory=dict, description="Labels of each column at each level")
    optimal: list[int] | None = Field(None, description="The levels of the best node")
    masked: bool = Field(description="Whether small counts are left out for who asks")


class NodeEntry(BaseModel):
    """A node: its levels, and what a release at them would be."""

    levels: list[int]
    height: int
    status: str
    minimal: bool
    objective: Figure
    loss: Figure
    suppressed: Figure
    share: Figure
    classes: Figure
    smallest: Figure
    largest: Figure
    average: Figure
    k: Figure
    highest_risk: Figure
    average_risk: Figure
    achieved: dict[str, Figure]
    reached: dict[str, Figure]


class NodeList(Listed[NodeEntry]):
    """Some nodes."""

    total: int = Field(description="How many there are on all pages")


class NodeColumns(BaseModel):
    """All nodes as arrays, an element for each node in lexicographic order of the level vectors (`format=columns`).

    Figures have six significant digits, `achieved(…)` and `reached(…)` are those of models. Null: there is none, or it is hidden
    from who may not read records.
    """

    nodes: int
    columns: list[str]
    sizes: list[int] = Field(description="How many levels each column has")
    statuses: list[str] = Field(description="The statuses, best first")
    height: list[int] = Field(default_factory=list)
    status: list[int] = Field(default_factory=list, description="The place of its status in `statuses`")
    minimal: list[int] = Field(default_factory=list, description="1: no finer node satisfies")
    levels: dict[str, list[int]] = Field(default_factory=dict, description="By column")
    figures: dict[str, list[float | int | None]] = Field(default_factory=dict)
    small: dict[str, list[int]] = Field(
        default_factory=dict,
        description="By figure, for who may not read records: 1 where it is hidden for being small",
    )


class PathAnswer(BaseModel):
    """A shortest way between two nodes, and their distance vector."""

    start: list[int]
    end: list[int]
    vector: list[int]
    length: int
    comparable: bool
    paths: int
    nodes: list[list[int]]


@router.get("/projects/{id}/explorations")
def list_explorations(call: Called, id: str, limit: Limit = 100, after: After = None) -> Listed[ExplorationEntry]:
    """The explorations of a project, the newest first."""
    with call.reading() as db:
        call.caller.project(db, id, "results.read")
        query = select(Job).where(Job.project_id == id, Job.kind == KIND)
        found, following = paged.newest(db, query, Job.created, Job.id, limit, after)
        return Listed(items=[ExplorationEntry(**_entry(job)) for job in found], next=following)


@router.get("/explorations/{id}")
def read_exploration(call: Called, id: str) -> ExplorationAnswer:
    """What an exploration is about, without its nodes."""
    with call.reading() as db:
        job, head, masked = _exploration(db, call, id)
    about = {key: head[key] for key in ("columns", "levels", "rows", "limit", "objective", "person", "models")}
    about["method"] = head.get("method")
    best = (head.get("optimal") or {}).get("levels")
    return ExplorationAnswer(**_entry(job), **about, labels=head.get("labels", {}), optimal=best, masked=masked)


@router.get(
    "/explorations/{id}/nodes",
    response_model=NodeList | NodeColumns,
    responses={200: {"content": {ARROW: {"schema": {"type": "string"}}}}, 304: {"description": "Not changed"}},
)
def list_nodes(
    call: Called,
    id: str,
    limit: Limit = 100,
    after: After = None,
    status: Annotated[list[str] | None, Query(max_length=5, description="Only nodes with one of these")] = None,
    sort: Annotated[str, Query(max_length=40, description="levels, status, height, or a figure")] = "levels",
    top: Annotated[int | None, Query(ge=1, lt=2**31, description="Only so many of them")] = None,
    descending: Annotated[bool, Query(description="The largest first; what has no figure stays last")] = False,
    loss: Annotated[float | None, Query(ge=0, description="Only nodes with at most this loss")] = None,
    suppressed: Annotated[
        int | None, Query(ge=0, lt=2**53, description="Only nodes that suppress at most so many")
    ] = None,
    lowest: Annotated[Vector | None, Query(description="Only nodes with no level below these")] = None,
    highest: Annotated[Vector | None, Query(description="Only nodes with no level above these")] = None,
    levels: Annotated[list[Vector] | None, Query(max_length=500, description="Only these nodes, such as 1,0,2")] = None,
    figure: Annotated[
        list[str] | None, Query(max_length=100, description="With format=columns: only these arrays and figures")
    ] = None,
    format: Annotated[
        Literal["json", "arrow", "columns"] | None, Query(description="Else the header Accept decides: JSON or Arrow")
    ] = None,
    accept: Annotated[str, Header()] = "",
    accept_encoding: Annotated[str, Header()] = "",
    if_none_match: Annotated[str | None, Header()] = None,
) -> Any:
    """All nodes: as JSON, paged, filtered and sorted, or in lexicographic order as arrays: one Arrow file, or one JSON object.

    The JSON object of arrays (`format=columns`) is for browsers; it is packed (gzip) for who accepts it.
    """
    with call.reading() as db:
        job, head, masked = _exploration(db, call, id)
    # What was explored never changes: the tag is that of the attempt, and of what is hidden.
    tag = f'"{job.id}-{job.attempt}{"-masked" if masked else ""}"'
    headers = {"ETag": tag, "Cache-Control": "private, no-cache", "Vary": "Accept, Authorization, Cookie"}
    folder = call.service.files.attempt(job.id, job.attempt)
    if (format or ("arrow" if ARROW in accept or downloads.BYTES in accept else "json")) == "arrow":
        if known(call.request, tag):
            return Response(status_code=304, headers=headers)
        if not masked:
            return downloads.stream(folder / explorations.FILE, explorations.FILE, ARROW, **headers)
        blocks = explorations.masked_blocks(explorations.table_of(folder, masked=False))
        named = {**downloads.headers(explorations.FILE), **headers}
        return StreamingResponse(blocks, media_type=ARROW, headers=named)
    if format == "columns":
        return _as_columns(call, head, folder, figure or (), headers, masked=masked, packing="gzip" in accept_encoding)
    wanted = explorations.Filter(
        status or (), loss, suppressed,
        None if lowest is None else explorations.vector(lowest, head, "lowest"),
        None if highest is None else explorations.vector(highest, head, "highest"),
        None if levels is None else [explorations.vector(one, head, "levels") for one in levels],
    )  # fmt: skip
    seen = explorations.table_of(folder, masked=masked)
    table = explorations.chosen(seen, head, wanted, sort, top, descending=descending)
    first = int(after) if after is not None and after.isdecimal() and len(after) < 12 else 0
    items = explorations.rows(table.slice(first, limit), head)
    following = str(first + limit) if first + limit < table.num_rows else None
    return NodeList(items=[NodeEntry(**item) for item in items], next=following, total=table.num_rows)


def _as_columns(
    call: Call,
    head: dict[str, Any],
    folder: Path,
    wanted: Sequence[str],
    headers: dict[str, str],
    *,
    masked: bool,
    packing: bool,
) -> Response:
    """All nodes as one JSON object of arrays; a few are not worth packing."""
    table = explorations.table_of(folder, masked=False)
    parts = explorations.parts_of(table, wanted)
    packing = packing and table.num_rows * len(parts) > WORTH_PACKING
    tag = headers["ETag"][:-1] + ('-gzip"' if packing else '"')
    headers = {**headers, "ETag": tag, "Vary": f"{headers['Vary']}, Accept-Encoding"}
    if known(call.request, tag):
        return Response(status_code=304, headers=headers)
    pieces = explorations.column_pieces(table, head, parts, masked=masked)
    if packing:
        pieces, headers = explorations.packed(pieces), {**headers, "Content-Encoding": "gzip"}
    return StreamingResponse(pieces, media_type="application/json", headers=headers)


@router.get("/explorations/{id}/path")
def read_path(call: Called, id: str, end: Vector, start: Vector | None = None) -> PathAnswer:
    """A shortest way from a node (else from the bottom of the lattice) to another, with their distance vector."""
    with call.reading() as db:
        _, head, _ = _exploration(db, call, id)
    last = explorations.vector(end, head, "end")
    first = (0,) * len(last) if start is None else explorations.vector(start, head, "start")
    found = path_between(first, last)
    return PathAnswer(
        start=list(found.start), end=list(found.end), vector=list(found.vector), length=found.length, paths=found.paths,
        comparable=found.comparable, nodes=[list(node) for node in found.nodes],
    )  # fmt: skip


@router.get("/explorations/{id}/nodes/{levels}")
def read_node(
    call: Called,
    id: str,
    levels: str,
    offset: Annotated[int, Query(ge=0, lt=2**31, description="The number of the first class")] = 0,
    limit: Annotated[int, Query(ge=0, le=2000, description="So many classes")] = 200,
    records: Annotated[int, Query(ge=0, le=20, description="So many rows of the table, as examples")] = 0,
    l: Annotated[int, Query(ge=1, le=1000, description="The ℓ of the recursive c")] = 2,  # noqa: E741
) -> dict[str, Any]:
    """One node with its classes and their figures, and example rows for who may read records."""
    with call.writing() as db:
        job, head, masked = _exploration(db, call, id)
        at = explorations.vector(levels, head)
        project = call.caller.project(db, str(job.project_id), "results.read")
        parameters = {
            "exploration": job.id, "levels": list(at), "l": l, "offset": offset, "limit": limit, "records": records,
            **({"table": head["table"]} if head.get("table") else {}),
        }  # fmt: skip
        if masked and records:
            raise Forbidden("records.read")
        # As for a release of it: what the project names no more is not looked at again.
        check_use(db, call.caller, job.document or {}, project.document)
        asked = of_project(
            db, call, "node", project, parameters, document=job.document, version=job.version, quick=True
        )
        if records:
            call.audit(db, "records.read", job.id, rows=records)
    result = wait_for(call, asked.id, SECONDS, values=not masked)
    return masking.masked(result, "node") if masked else result


@router.post("/explorations/{id}/nodes/{levels}/release", status_code=202)
def release_node(call: Called, id: str, levels: str, response: Response) -> JobBegun:
    """Release the table at the levels of a node: a job that runs the explored project with them."""
    with call.writing() as db:
        job, head, _ = _exploration(db, call, id, "jobs.release")
        at = explorations.vector(levels, head)
        project = call.caller.project(db, str(job.project_id), "jobs.release")
        document = explorations.fixed(job.document or {}, head, at)
        # What the project names no more must not come back through an old exploration.
        check_use(db, call.caller, document, project.document)
        made = of_project(db, call, "run", project, document=document, version=job.version)
        call.audit(db, "job.submit", made.id, kind="run", project=project.id)
    response.headers["Location"] = f"/api/v1/jobs/{made.id}"
    return begun(made)


def _exploration(db: Db, call: Call, id: str, action: str = "results.read") -> tuple[Job, dict[str, Any], bool]:
    """The job that explored, its head, and whether small counts are hidden from who asks."""
    job = job_of(db, call, id, (KIND,), action)
    masked = "records.read" not in call.caller.actions_in(db, str(job.project_id))
    return job, dict(job.result or {}), masked


def _entry(job: Job) -> dict[str, Any]:
    counts = (job.result or {}).get("counts", {}) if job.state in ENDED else {}
    nodes = 1
    for n in (job.result or {}).get("levels", ()):
        nodes *= n
    return {
        "id": job.id, "version": job.version, "state": job.state, "created": job.created, "finished": job.finished,
        "table": job.parameters.get("table"), "nodes": nodes if job.state == "done" else None, "counts": counts,
    }  # fmt: skip
