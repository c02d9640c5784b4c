"""All projects; making, naming, copying and deleting them; undo."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from velado.service.access.permissions import project_actions
from velado.service.errors import Conflict
from velado.service.projects import operations as projects
from velado.service.projects.schemas import NewProject
from velado.studio.project_page import Working
from velado.studio.request import PageRoute, Visiting
from velado.studio.views import steps

router = APIRouter(route_class=PageRoute)
SHOWN = 25
WALKED = ("data", "columns", "hierarchies", "privacy", "run")
"""The steps that lead to a release."""


@router.post("/projects/{id}/undo")
def undo(work: Working) -> Response:
    """Take the last change back."""
    back = work.form.text("back", work.address("columns"))
    back = back if back.startswith(f"/projects/{work.id}") else work.address("columns")
    try:
        projects.undo_change(work.call, work.id)
    except Conflict as error:
        return work.go(back, error.text(work.words.code))
    return work.go(back, work.say("The last change is taken back."))


@router.get("/projects")
def all_projects(visit: Visiting, after: str | None = None, search: Annotated[str, Query(max_length=200)] = "") -> Response:
    """The projects of who looks, those changed last first."""
    listed = projects.list_projects(visit.call, limit=SHOWN, after=after or None, search=search)
    allowed = {one.id: project_actions(one.roles) for one in listed.items}
    return visit.render("projects.html", listed=listed, search=search, after=after, allowed=allowed)


@router.get("/projects/{id}")
def open_project(work: Working) -> Response:
    """To the first step of a project that is not done; to its result where there is one, or nothing may be changed."""
    marks = {step.name: step for _, group in steps.marks(work, work.source) for step in group}
    undone = [name for name in WALKED if marks[name].mark != steps.READY]
    to = undone[0] if undone and work.can("profile.read") else "result"
    return work.go(work.address(to))


@router.post("/projects/{id}/rename")
def rename(work: Working) -> Response:
    """Another name."""
    said = work.say("The project is called {name} now.", name=work.form.text("name"))
    return work.save(lambda part: None, "/projects", said, whole=True, name=work.form.text("name") or None)


@router.post("/projects/{id}/copy")
def copy(work: Working) -> Response:
    """A project like this one, owned by who copies it; what they may not use is left out."""
    name = work.say("Copy of {name}", name=work.project.name)[:200]
    made = projects.create_project(work.call, NewProject.model_validate({"copy_of": work.id, "name": name}))
    said = work.say("The copy is here.")
    if made.notes:
        said = work.say("The copy is here. What you may not use is left out: {n}.", n=len(made.notes))
    return work.go(f"/projects/{made.id}", said)


@router.post("/projects/{id}/delete")
def delete(work: Working) -> Response:
    """Delete a project, with its versions, jobs and releases."""
    projects.delete_project(work.call, work.id)
    return work.go("/projects", work.say("The project {name} is deleted.", name=work.project.name))
