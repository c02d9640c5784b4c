"""The versions of a project: who changed what, and going back."""

from __future__ import annotations

from fastapi import APIRouter, Response

from velado.service.projects import operations as projects
from velado.studio.project_page import Working
from velado.studio.request import PageRoute
from velado.studio.views.document_diff import differences

router = APIRouter(route_class=PageRoute)
SHOWN = 30


@router.get("/projects/{id}/history")
def history(work: Working, after: str | None = None) -> Response:
    """Versions, the newest first, each with what it changed."""
    listed = projects.read_versions(work.call, work.id, limit=SHOWN + 1, after=after)
    before = [*(one.document for one in listed.items[1:]), {}]
    entries = [
        (one, differences(former, one.document)[:12] if one.number > 1 else [])
        for one, former in zip(listed.items, before, strict=True)
    ][:SHOWN]
    return work.show("history.html", "", entries=entries, following=entries[-1][0].number if listed.next else None)


@router.post("/projects/{id}/history/{number}")
def restore(work: Working, number: int) -> Response:
    """The project as it was, as a new version."""
    former = projects.read_version(work.call, work.id, number).document
    said = work.say("Version {n} is the newest again.", n=number)
    return work.save(lambda document: document.replace(former), work.address("history"), said, whole=True)
