"""Routes of releases: evaluation, manifest, classes, rows, data, reports, approval."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from velado.service.jobs.parameters import Report as ReportParameters
from velado.service.jobs.quick_jobs import JobBegun
from velado.service.releases import operations as releases
from velado.service.releases.schemas import DistributionsAnswer, Judged, Page, ReleaseEntry, ReportsAnswer
from velado.service.web import downloads
from velado.service.web.call import Called
from velado.service.web.schemas import After, Limit, Listed

router = APIRouter(tags=["releases"])
Private = Annotated[bool, Query(description="With what only owners and editors may know")]
OneTable = Annotated[str | None, Query(max_length=300, description="Which table, of a release of several")]
Offset = Annotated[int, Query(ge=0, lt=2**53, description="The number of the first")]
SANDBOX = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; frame-ancestors 'none'"
"""A report is a page of its own: no script runs in it, and it reaches nothing."""


@router.get("/releases/{id}/classes")
def list_classes(
    call: Called,
    id: str,
    offset: Offset = 0,
    limit: Limit = 100,
    table: OneTable = None,
    sort: Annotated[str | None, Query(max_length=400, description="One of `columns`")] = None,
    descending: bool = False,
) -> Page:
    """The equivalence classes of a release with size, risk and figures of sensitive columns, the riskiest first."""
    return releases.list_classes(call, id, offset, limit, table, sort, descending)


@router.get("/releases/{id}/rows")
def list_rows(call: Called, id: str, offset: Offset = 0, limit: Limit = 100, table: OneTable = None) -> Page:
    """The released rows, page by page."""
    return releases.list_rows(call, id, offset, limit, table)


@router.get("/releases/{id}/distributions")
def read_distributions(call: Called, id: str, private: Private = False, table: OneTable = None) -> DistributionsAnswer:
    """How records and values are distributed, as everybody may know it; private: with suppressed records and small groups.

    A release that was made part by part, or by operations only, has none.
    """
    return releases.read_distributions(call, id, table, private=private)


@router.get("/releases")
def list_all_releases(call: Called, limit: Limit = 100, after: After = None) -> Listed[ReleaseEntry]:
    """The releases of all projects of who asks, of all projects for auditors; the newest first."""
    return releases.list_all_releases(call, limit, after)


@router.get("/projects/{id}/releases")
def list_releases(call: Called, id: str, limit: Limit = 100, after: After = None) -> Listed[ReleaseEntry]:
    """The releases of a project, the newest first."""
    return releases.list_releases(call, id, limit, after)


@router.get("/releases/{id}")
def read_release(call: Called, id: str) -> ReleaseEntry:
    """A release and its main figures."""
    return releases.read_release(call, id)


@router.get("/releases/{id}/evaluation")
def read_evaluation(call: Called, id: str, private: Private = False, table: OneTable = None) -> dict[str, Any]:
    """What everybody may know of a release; private: measured against the whole input."""
    return releases.read_private(call, id, table, "evaluation") if private else releases.read_evaluation(call, id, table)


@router.get("/releases/{id}/manifest")
def read_manifest(call: Called, id: str, private: Private = False, table: OneTable = None) -> dict[str, Any]:
    """What proves a release: input, project, models, digest."""
    return releases.read_private(call, id, table, "manifest") if private else releases.read_manifest(call, id, table)


@router.get("/releases/{id}/data", response_class=Response, responses=downloads.answers(*downloads.TABLES))
def download_data(call: Called, id: str, table: OneTable = None) -> Response:
    """The released rows as a file."""
    return downloads.stream(*releases.download_data(call, id, table))


@router.get("/releases/{id}/reports")
def list_reports(call: Called, id: str) -> ReportsAnswer:
    """The reports of a release that were written."""
    return releases.list_reports(call, id)


@router.post("/releases/{id}/reports", status_code=202)
def write_reports(call: Called, id: str, body: ReportParameters, response: Response) -> JobBegun:
    """Write the report of a release, in formats and languages."""
    begun = releases.write_reports(call, id, body)
    response.headers["Location"] = f"/api/v1/jobs/{begun.job}"
    return begun


@router.get(
    "/releases/{id}/reports/{name}",
    response_class=Response,
    responses=downloads.answers("text/html", "application/pdf", downloads.TYPES["xlsx"]),
)
def read_report(
    call: Called, id: str, name: str, download: Annotated[bool, Query(description="As a file, not as a page")] = False
) -> Response:
    """A report: HTML as a page of its own in which nothing runs, others as files."""
    path = releases.read_report(call, id, name)
    page = name.endswith(".html") and not download
    more = {"Content-Security-Policy": SANDBOX, **({"Content-Disposition": "inline"} if page else {})}
    return downloads.stream(path, name, "text/html; charset=utf-8" if name.endswith(".html") else None, **more)


@router.post("/releases/{id}/approve")
def approve_release(call: Called, id: str) -> Judged:
    """Approve a release, as a second person."""
    return releases.approve_release(call, id)


@router.post("/releases/{id}/withdraw")
def withdraw_release(call: Called, id: str) -> Judged:
    """Withdraw a release: nobody downloads it any more. A table in a database stays where it is."""
    return releases.withdraw_release(call, id)


@router.delete("/releases/{id}", status_code=204)
def delete_release(call: Called, id: str) -> None:
    """Delete a release with its files, its reports and the job that made it; a table in a database stays."""
    releases.delete_release(call, id)
