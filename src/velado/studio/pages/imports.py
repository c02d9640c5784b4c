"""Projects that come from elsewhere: a project file, or a project of Anonylitics, as a text or as a file."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from velado.errors import VeladoError
from velado.service.projects import operations as projects
from velado.service.projects.schemas import NewProject
from velado.service.sources import operations as sources
from velado.service.web import problems
from velado.service.web.problems import ProblemPart
from velado.studio.request import PageRequest, PageRoute, Visiting

router = APIRouter(route_class=PageRoute)
KINDS = ("yaml", "anonylitics")


@router.get("/import")
def importing(visit: Visiting) -> Response:
    """The text of a project, and the table that it is to work on."""
    return _render(visit)


@router.post("/import")
def import_project(visit: Visiting) -> Response:
    """Make the project. What it names and the service has not is told, once: that page is the answer itself."""
    form = visit.form
    kind = form.text("kind") if form.text("kind") in KINDS else KINDS[0]
    given: dict[str, Any] = {kind: dict(form.fields).get("text", ""), "source": form.text("source") or None}
    try:
        made = projects.create_project(visit.call, NewProject.model_validate({"name": form.text("name") or None, **given}))
    except VeladoError as error:
        parts = [ProblemPart(**problems.part(one, visit.words.code)) for one in (error, *error.others)]
        return _render(visit, problems.status_of(error), problems=parts)
    if made.notes:
        return _render(visit, 201, made=made)
    return visit.go(f"/projects/{made.id}", visit.say("The project is here."))


def _render(visit: PageRequest, status: int = 200, **shown: Any) -> Response:
    here = [one for one in sources.list_sources(visit.call, limit=100).items if one.state == "ready"]
    common = {"here": here, "form": visit.form, "problems": [], "made": None}
    return visit.render("import.html", status, **{**common, **shown})
