"""Administration: users and groups, settings with limits and retention, storage, jobs, the audit log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Response

from velado.service.access.permissions import INSTANCE_ROLES
from velado.service.accounts import group_operations as groups
from velado.service.accounts import user_operations as users
from velado.service.admin import operations as admin
from velado.service.jobs import operations as jobs
from velado.studio.pages.jobs import kinds
from velado.studio.request import PageRequest, PageRoute, Visiting

router = APIRouter(prefix="/administration", route_class=PageRoute)
SECTIONS = {
    "users": "users.manage",
    "groups": "groups.manage",
    "settings": "settings.manage",
    "storage": "storage.manage",
    "jobs": "jobs.manage",
    "audit": "audit.read",
}
"""Pages, and the action that each needs."""


def _render(visit: PageRequest, section: str, **shown: Any) -> Response:
    open = [name for name, action in SECTIONS.items() if visit.may(action)]
    return visit.render(f"administration_{section}.html", section=section, sections=open, **shown)


@router.get("")
def first(visit: Visiting) -> Response:
    """The first page that one may see; who may see none is told so."""
    open = [name for name, action in SECTIONS.items() if visit.may(action)]
    if not open:
        visit.call.caller.require("users.manage")
    return visit.go(f"/administration/{open[0]}")


@router.get("/users")
def all_users(visit: Visiting, after: str | None = None) -> Response:
    """Users with their roles."""
    return _users(visit, after)


def _users(visit: PageRequest, after: str | None = None, link: Mapping[str, str] | None = None) -> Response:
    listed = users.list_users(visit.call, limit=100, after=after)
    return _render(visit, "users", listed=listed, roles=INSTANCE_ROLES, link=link)


@router.post("/users")
def make_user(visit: Visiting) -> Response:
    """A new user; without a password a link is made, by which one is set."""
    form = visit.form
    given = {key: form.text(key) for key in ("name", "full_name", "email")} | {"roles": form.all("role")}
    secret = dict(form.fields).get("password", "")
    made = users.create_user(visit.call, users.NewUser.model_validate(given | ({"password": secret} if secret else {})))
    if secret:
        return visit.go("/administration/users", visit.say("{name} can sign in.", name=made.name))
    return _users(visit, link=_link(visit, made.id, made.name))


@router.post("/users/{id}")
def change_user(visit: Visiting, id: str) -> Response:
    """Other roles; active or not."""
    form = visit.form
    given: dict[str, Any] = {"roles": form.all("role")} if "roles" in form else {}
    given |= {"active": form.text("active") == "1"} if "active" in form else {}
    users.change_user(visit.call, id, users.UserChange.model_validate(given))
    return visit.go("/administration/users", visit.say("Saved."))


@router.post("/users/{id}/link")
def link(visit: Visiting, id: str) -> Response:
    """A link for a new password, shown this once."""
    return _users(visit, link=_link(visit, id, users.read_user(visit.call, id).name))


@router.post("/users/{id}/delete")
def delete_user(visit: Visiting, id: str) -> Response:
    """Delete a user with what only they had."""
    users.delete_user(visit.call, id)
    return visit.go("/administration/users", visit.say("The user is deleted."))


def _link(visit: PageRequest, id: str, name: str) -> dict[str, str]:
    made = users.make_link(visit.call, id)
    base = visit.call.service.settings.url or str(visit.request.base_url)
    return {"name": name, "address": f"{base.rstrip('/')}/password/{made.token}", "hours": str(made.minutes // 60)}


@router.get("/groups")
def all_groups(visit: Visiting) -> Response:
    """Groups with their members."""
    return _render(visit, "groups", groups=groups.open_groups(visit.call, limit=200))


@router.post("/groups")
def make_group(visit: Visiting) -> Response:
    """A new group."""
    groups.create_group(visit.call, groups.GroupNamed(name=visit.form.text("name")))
    return visit.go("/administration/groups", visit.say("Saved."))


@router.post("/groups/{id}/{what}")
def change_group(visit: Visiting, id: str, what: str) -> Response:
    """Put a user in, take one out, delete the group."""
    user = visit.form.text("user")
    if what == "delete":
        groups.delete_group(visit.call, id)
    elif what == "add":
        named = {one.name: one.id for one in users.list_users(visit.call, limit=500).items}
        groups.add_member(visit.call, id, named.get(user, user))
    else:
        groups.remove_member(visit.call, id, user)
    return visit.go("/administration/groups", visit.say("Saved."))


@router.get("/settings")
def all_settings(visit: Visiting, oidc: bool = False) -> Response:
    """What can be changed while the service runs; the provider of OpenID Connect, tested when asked."""
    configured = bool(visit.call.service.settings.oidc_issuer)
    tested = admin.test_oidc(visit.call) if oidc and configured else None
    return _render(visit, "settings", settings=admin.read_settings(visit.call).settings, configured=configured, tested=tested)


@router.post("/settings")
def change_settings(visit: Visiting) -> Response:
    """Change those that are different now; all, or none if one is wrong."""
    known = {one.name: one for one in admin.read_settings(visit.call).settings}
    changed: dict[str, Any] = {}
    for name, one in known.items():
        if one.kind == "bool":
            value: Any = f"set.{name}" in visit.form
        elif f"set.{name}" not in visit.form:
            continue
        else:
            value = visit.form.text(f"set.{name}")
        if str(value) != str(one.value):
            changed[name] = value
    admin.change_settings(visit.call, admin.SettingsChange.model_validate(changed))
    return visit.go("/administration/settings", visit.say("Saved."))


@router.get("/storage")
def show_storage(visit: Visiting) -> Response:
    """Bytes by user, and what is free."""
    return _render(visit, "storage", storage=admin.read_storage(visit.call))


@router.post("/storage")
def clean(visit: Visiting) -> Response:
    """Delete what is past its time."""
    done = admin.clean_storage(visit.call)
    freed = visit.words.size(done.bytes)
    return visit.go("/administration/storage", visit.say("Cleaned: {size} are free again.", size=freed))


@router.get("/jobs")
def all_jobs(visit: Visiting, after: str | None = None) -> Response:
    """Jobs of everybody: their state, without what they are about."""
    visit.call.caller.require("jobs.manage")
    names = {one.id: one.name for one in users.list_users(visit.call, limit=500).items} if visit.may("users.manage") else {}
    listed = jobs.list_jobs(visit.call, limit=50, after=after)
    return _render(visit, "jobs", listed=listed, names=names, kinds=kinds(visit.words.code))


@router.get("/audit")
def show_audit(
    visit: Visiting, after: int | None = None, action: str = "", actor: str = "", subject: str = "", verify: bool = False
) -> Response:
    """Who did what; the chain checked when asked."""
    listed = admin.list_lines(
        visit.call, limit=100, after=after, actor=actor or None, action=action or None, subject=subject or None
    )
    names = {one.id: one.name for one in users.list_users(visit.call, limit=500).items} if visit.may("users.manage") else {}
    checked = admin.verify_log(visit.call) if verify else None
    asked = {"action": action, "actor": actor, "subject": subject}
    return _render(visit, "audit", listed=listed, checked=checked, asked=asked, names=names)
