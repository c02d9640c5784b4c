"""The versions of a project: who changed what, and going back."""

from __future__ import annotations

from fastapi import APIRouter, Response

from velado.service.web.resources import projects
from velado.studio.differences import differences
from velado.studio.visit import PageRoute
from velado.studio.work import Working

router = APIRouter(route_class=PageRoute)
SHOWN = 30


@router.get("/projects/{id}/history")
def history(work: Working, after: str | None = None) -> Response:
    """Versions, the newest first, each with what it changed."""
    listed = projects.list_versions(work.call, work.id, limit=SHOWN + 1, after=after)
    documents = [projects.read_version(work.call, work.id, one.number).document for one in listed.items]
    before = [*documents[1:], {}]
    entries = [
        (one, differences(former, document)[:12] if one.number > 1 else [])
        for one, document, former in zip(listed.items, documents, before, strict=True)
    ][:SHOWN]
    return work.show("history.html", "", entries=entries, following=entries[-1][0].number if listed.next else None)


@router.post("/projects/{id}/history/{number}")
def restore(work: Working, number: int) -> Response:
    """The project as it was, as a new version."""
    former = projects.read_version(work.call, work.id, number).document

    def change(document: dict[str, object]) -> None:
        document.clear()
        document.update(former)

    return work.save(
        change, work.address("history"), work.say("Version {n} is the newest again.", n=number), whole=True
    )
