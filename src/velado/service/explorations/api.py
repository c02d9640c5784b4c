"""Routes of explorations: all nodes, one node, paths, and the release of a chosen one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Query, Response
from fastapi.responses import StreamingResponse

from velado.service.explorations import nodes
from velado.service.explorations import operations as explorations
from velado.service.explorations.schemas import ExplorationAnswer, ExplorationEntry, NodeColumns, NodeList, PathAnswer
from velado.service.jobs.quick_jobs import JobBegun
from velado.service.web import downloads
from velado.service.web.call import Call, Called
from velado.service.web.etags import is_unchanged
from velado.service.web.schemas import After, Limit, Listed

router = APIRouter(tags=["explorations"])
ARROW = "application/vnd.apache.arrow.file"
WORTH_PACKING = 500
"""Numbers from which an answer is packed."""
Vector = Annotated[str, Query(max_length=400, description="A level for each column, such as 1,0,2")]


@router.get("/projects/{id}/explorations")
def list_explorations(call: Called, id: str, limit: Limit = 100, after: After = None) -> Listed[ExplorationEntry]:
    """The explorations of a project, the newest first."""
    return explorations.list_explorations(call, id, limit, after)


@router.get("/explorations/{id}")
def read_exploration(call: Called, id: str) -> ExplorationAnswer:
    """What an exploration is about, without its nodes."""
    return explorations.open_exploration(call, id).describe()


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
    suppressed: Annotated[int | None, Query(ge=0, lt=2**53, description="Only nodes that suppress at most so many")] = None,
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
    found = explorations.open_exploration(call, id)
    # What was explored never changes: the tag is that of the attempt, and of what is hidden.
    tag = f'"{found.job.id}-{found.job.attempt}{"-masked" if found.masked else ""}"'
    headers = {"ETag": tag, "Cache-Control": "private, no-cache", "Vary": "Accept, Authorization, Cookie"}
    if (format or ("arrow" if ARROW in accept or downloads.BYTES in accept else "json")) == "arrow":
        if is_unchanged(call.request, tag):
            return Response(status_code=304, headers=headers)
        if not found.masked:
            return downloads.stream(found.folder / nodes.FILE, nodes.FILE, ARROW, **headers)
        blocks = nodes.mask_blocks(nodes.table_of(found.folder, masked=False))
        named = {**downloads.headers(nodes.FILE), **headers}
        return StreamingResponse(blocks, media_type=ARROW, headers=named)
    if format == "columns":
        return _as_columns(call, found, figure or (), headers, packing="gzip" in accept_encoding)
    wanted = nodes.Filter(
        status or (),
        loss,
        suppressed,
        None if lowest is None else found.vector(lowest, "lowest"),
        None if highest is None else found.vector(highest, "highest"),
        None if levels is None else [found.vector(one) for one in levels],
    )
    first = int(after) if after is not None and after.isdecimal() and len(after) < 12 else 0
    return found.list_nodes(wanted, sort, top, descending=descending, first=first, limit=limit)


def _as_columns(
    call: Call, found: explorations.Exploration, wanted: Sequence[str], headers: dict[str, str], *, packing: bool
) -> Response:
    """All nodes as one JSON object of arrays; a few are not worth packing."""
    table = nodes.table_of(found.folder, masked=False)
    parts = nodes.parts_of(table, wanted)
    packing = packing and table.num_rows * len(parts) > WORTH_PACKING
    tag = headers["ETag"][:-1] + ('-gzip"' if packing else '"')
    headers = {**headers, "ETag": tag, "Vary": f"{headers['Vary']}, Accept-Encoding"}
    if is_unchanged(call.request, tag):
        return Response(status_code=304, headers=headers)
    pieces = nodes.column_pieces(table, found.head, parts, masked=found.masked)
    if packing:
        pieces, headers = nodes.compress(pieces), {**headers, "Content-Encoding": "gzip"}
    return StreamingResponse(pieces, media_type="application/json", headers=headers)


@router.get("/explorations/{id}/path")
def read_path(call: Called, id: str, end: Vector, start: Vector | None = None) -> PathAnswer:
    """A shortest way from a node (else from the bottom of the lattice) to another, with their distance vector."""
    found = explorations.open_exploration(call, id)
    return found.find_path(found.vector(end, "end"), None if start is None else found.vector(start, "start"))


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
    return explorations.read_node(call, id, levels, offset=offset, limit=limit, records=records, l=l)


@router.post("/explorations/{id}/nodes/{levels}/release", status_code=202)
def release_node(call: Called, id: str, levels: str, response: Response) -> JobBegun:
    """Release the table at the levels of a node: a job that runs the explored project with them."""
    begun = explorations.release_node(call, id, levels)
    response.headers["Location"] = f"/api/v1/jobs/{begun.job}"
    return begun
