"""The page 'Publish': where releases go, reports, what proves a release, approval, download, withdrawal."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from velado.service.connections import operations as connections
from velado.service.errors import Conflict
from velado.service.jobs import operations as jobs
from velado.service.jobs.answers import JobAnswer
from velado.service.jobs.parameters import Report
from velado.service.projects.document_checks import FORMATS
from velado.service.releases import operations as releases
from velado.studio.project_page import ProjectPage, Working
from velado.studio.request import PageRoute, own_address
from velado.studio.views.exposure_view import exposed_of

router = APIRouter(route_class=PageRoute)
ORDERS = ("shuffle", "sorted", "keep")
REPORTS = ("html", "pdf", "xlsx")


@router.get("/projects/{id}/publish")
def publish(work: Working) -> Response:
    """What becomes of a release."""
    release = work.release()
    shown: dict[str, Any] = {"release": release, "report": None, "reports": [], "manifest": {}, "exposed": None}
    if release is not None:
        shown |= {
            "reports": releases.list_reports(work.call, release.id).items,
            "manifest": releases.read_manifest(work.call, release.id),
            "report": _writing(work, release.id),
            "exposed": exposed_of(release.part(work.table), work.words),
        }
    return work.show(
        "publish.html",
        "publish",
        releases=releases.list_choices(work.call, work.id),
        output=work.part.output,
        formats=FORMATS,
        orders=ORDERS,
        report_formats=REPORTS,
        places=_places(work),
        approval=_approval(work),
        **shown,
    )


@router.post("/projects/{id}/publish/output")
def change_output(work: Working) -> Response:
    """Where the next release goes, and how it is written."""
    form, output = work.form, dict[str, Any]()
    if form.text("place"):
        output = {"connection": form.text("place"), "table": form.text("to")}
        if form.text("replace"):
            output["if_exists"] = "replace"
    else:
        output["format"] = form.text("format", FORMATS[0])
        if output["format"] == "csv" and form.text("delimiter"):
            output["delimiter"] = {"tab": "\t"}.get(form.text("delimiter"), form.text("delimiter"))
    if form.text("order", "shuffle") != "shuffle":
        output["order"] = form.text("order")
    if form.text("suppressed") == "asterisks":
        output["suppressed"] = "asterisks"
    if not form.text("guard"):
        output["guard"] = False

    said = work.say("The next run writes it like this.")
    return work.save(lambda part: part.put("output", output), work.address("publish"), said)


@router.post("/projects/{id}/publish/{release}/reports")
def write_reports(work: Working, release: str) -> Response:
    """Write reports, by a job."""
    wanted = {"formats": work.form.all("format"), "languages": work.form.all("language"), "table": work.table}
    body = Report.model_validate({key: value for key, value in wanted.items() if value})
    made = releases.write_reports(work.call, release, body)
    return work.go(work.address("publish", release=release, report=made.job))


@router.post("/projects/{id}/publish/{release}/{judgement}")
def judge(work: Working, release: str, judgement: str) -> Response:
    """Approve, withdraw or delete a release."""
    back, notes = work.address("publish", release=release), list[str]()
    if judgement == "approve":
        releases.approve_release(work.call, release)
        said = work.say("The release is approved.")
    elif judgement == "withdraw":
        notes = releases.withdraw_release(work.call, release).notes
        said = work.say("The release is withdrawn: nobody downloads it any more.")
    elif judgement == "delete":
        releases.delete_release(work.call, release)
        back, said = work.address("publish"), work.say("The release is deleted, with its files and reports.")
    else:
        raise Conflict("refused", "there is nothing like this to do with a release")
    return work.go(own_address(back), " ".join((said, *notes)))


def _writing(work: ProjectPage, release: str) -> JobAnswer | None:
    """The last job that writes reports of a release, while it is not done."""
    if not work.can("jobs.read"):
        return None
    found = jobs.list_jobs(work.call, project=work.id, kind="report", limit=20).items
    mine = [job for job in found if job.release == release]
    return mine[0] if mine and mine[0].state != "done" else None


def _places(work: ProjectPage) -> list[connections.ConnectionAnswer]:
    """The databases that releases can go to."""
    if not work.can("project.edit") or not work.may("connections.create"):
        return []
    return connections.list_connections(work.call).items


def _approval(work: ProjectPage) -> bool:
    """Whether a second person must approve releases here."""
    with work.call.reading() as db:
        return work.call.settings(db).approval
