"""The page 'Members': who may do what in a project, and its keys."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from velado.service.access.permissions import PROJECT_ROLES
from velado.service.projects import members
from velado.studio.project_page import Working
from velado.studio.request import PageRoute

router = APIRouter(route_class=PageRoute)


@router.get("/projects/{id}/members")
def show(work: Working) -> Response:
    """Members with their roles, and the names of secrets."""
    found = members.list_members(work.call, work.id).items
    secrets = members.list_secrets(work.call, work.id).items if work.can("project.edit") else []
    return work.show("members.html", "", members=found, roles=PROJECT_ROLES, secrets=secrets)


@router.post("/projects/{id}/members")
def put(work: Working) -> Response:
    """Add somebody, or give another role."""
    form = work.form
    named: dict[str, Any] = {form.text("kind", "user"): form.text("name"), "role": form.text("role")}
    members.put_member(work.call, work.id, members.NewMember.model_validate(named))
    return work.go(work.address("members"), work.say("{name} is in the project.", name=form.text("name")))


@router.post("/projects/{id}/members/{member}/remove")
def remove(work: Working, member: str) -> Response:
    """Take somebody out."""
    members.delete_member(work.call, work.id, member)
    return work.go(work.address("members"), work.say("The member is taken out."))


@router.post("/projects/{id}/members/secrets")
def put_secret(work: Working) -> Response:
    """Make a secret up, or take a given one."""
    members.put_secret(work.call, work.id, work.form.text("secret"), work.form.text("key") or None)
    return work.go(work.address("members"), work.say("The key is kept; nobody is shown it."))


@router.post("/projects/{id}/members/secrets/{name}/remove")
def remove_secret(work: Working, name: str) -> Response:
    """Forget a secret."""
    members.delete_secret(work.call, work.id, name)
    return work.go(work.address("members"), work.say("The key is gone."))
