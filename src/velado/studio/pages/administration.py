"""Administration: users and groups, settings with limits and retention, storage, jobs, the audit log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Response

from velado.service.permissions import INSTANCE_ROLES
from velado.service.web.resources import audit, groups, jobs, settings, storage, users
from velado.studio.pages.jobs import kinds
from velado.studio.visit import PageRoute, Visit, Visiting

router = APIRouter(prefix="/administration", route_class=PageRoute)
SECTIONS = {
    "users": "users.manage", "groups": "groups.manage", "settings": "settings.manage", "storage": "storage.manage",
    "jobs": "jobs.manage", "audit": "audit.read",
}  # fmt: skip
"""Pages, and the action that each needs."""


def _render(visit: Visit, section: str, **shown: Any) -> Response:
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


def _users(visit: Visit, after: str | None = None, link: Mapping[str, str] | None = None) -> Response:
    listed = users.list_users(visit.call, limit=100, after=after)
    return _render(visit, "users", listed=listed, roles=INSTANCE_ROLES, link=link)


@router.post("/users")
def make_user(visit: Visiting) -> Response:
    """A new user; without a password a link is made, by which one is set."""
    form = visit.form
    given = {key: form.text(key) for key in ("name", "full_name", "email")} | {"roles": form.all("role")}
    secret = dict(form.fields).get("password", "")
    made = users.create(
        users.NewUser.model_validate(given | ({"password": secret} if secret else {})), visit.call, Response()
    )
    if secret:
        return visit.go("/administration/users", visit.say("{name} can sign in.", name=made.name))
    return _users(visit, link=_link(visit, made.id, made.name))


@router.post("/users/{id}")
def change_user(visit: Visiting, id: str) -> Response:
    """Other roles; active or not."""
    form = visit.form
    given: dict[str, Any] = {"roles": form.all("role")} if "roles" in form else {}
    given |= {"active": form.text("active") == "1"} if "active" in form else {}
    users.change(id, users.UserChange.model_validate(given), visit.call)
    return visit.go("/administration/users", visit.say("Saved."))


@router.post("/users/{id}/link")
def link(visit: Visiting, id: str) -> Response:
    """A link for a new password, shown this once."""
    return _users(visit, link=_link(visit, id, users.read(id, visit.call).name))


@router.post("/users/{id}/delete")
def delete_user(visit: Visiting, id: str) -> Response:
    """Delete a user with what only they had."""
    users.delete(id, visit.call)
    return visit.go("/administration/users", visit.say("The user is deleted."))


def _link(visit: Visit, id: str, name: str) -> dict[str, str]:
    made = users.make_link(id, visit.call, Response())
    base = visit.call.service.settings.url or str(visit.request.base_url)
    return {"name": name, "address": f"{base.rstrip('/')}/password/{made.token}", "hours": str(made.minutes // 60)}


@router.get("/groups")
def all_groups(visit: Visiting) -> Response:
    """Groups with their members."""
    found = [groups.read(one.id, visit.call) for one in groups.list_groups(visit.call, limit=200).items]
    return _render(visit, "groups", groups=found)


@router.post("/groups")
def make_group(visit: Visiting) -> Response:
    """A new group."""
    groups.create(groups.GroupNamed(name=visit.form.text("name")), visit.call, Response())
    return visit.go("/administration/groups", visit.say("Saved."))


@router.post("/groups/{id}/{what}")
def change_group(visit: Visiting, id: str, what: str) -> Response:
    """Put a user in, take one out, delete the group."""
    user = visit.form.text("user")
    if what == "delete":
        groups.delete(id, visit.call)
    elif what == "add":
        named = {one.name: one.id for one in users.list_users(visit.call, limit=500).items}
        groups.add(id, named.get(user, user), visit.call)
    else:
        groups.remove(id, user, visit.call)
    return visit.go("/administration/groups", visit.say("Saved."))


@router.get("/settings")
def all_settings(visit: Visiting, oidc: bool = False) -> Response:
    """What can be changed while the service runs; the provider of OpenID Connect, tested when asked."""
    configured = bool(visit.call.service.settings.oidc_issuer)
    tested = settings.test_oidc(visit.call) if oidc and configured else None
    return _render(visit, "settings", settings=settings.read(visit.call).settings, configured=configured, tested=tested)


@router.post("/settings")
def change_settings(visit: Visiting) -> Response:
    """Change those that are different now; all, or none if one is wrong."""
    known = {one.name: one for one in settings.read(visit.call).settings}
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
    settings.change(settings.SettingsChange.model_validate(changed), visit.call)
    return visit.go("/administration/settings", visit.say("Saved."))


@router.get("/storage")
def show_storage(visit: Visiting) -> Response:
    """Bytes by user, and what is free."""
    return _render(visit, "storage", storage=storage.get_storage(visit.call))


@router.post("/storage")
def clean(visit: Visiting) -> Response:
    """Delete what is past its time."""
    done = storage.clean_storage(visit.call)
    freed = visit.words.size(done.bytes)
    return visit.go("/administration/storage", visit.say("Cleaned: {size} are free again.", size=freed))


@router.get("/jobs")
def all_jobs(visit: Visiting, after: str | None = None) -> Response:
    """Jobs of everybody: their state, without what they are about."""
    visit.call.caller.require("jobs.manage")
    names = (
        {one.id: one.name for one in users.list_users(visit.call, limit=500).items} if visit.may("users.manage") else {}
    )
    listed = jobs.list_jobs(visit.call, limit=50, after=after)
    return _render(visit, "jobs", listed=listed, names=names, kinds=kinds(visit.words.code))


@router.get("/audit")
def show_audit(
    visit: Visiting,
    after: int | None = None,
    action: str = "",
    actor: str = "",
    subject: str = "",
    verify: bool = False,
) -> Response:
    """Who did what; the chain checked when asked."""
    listed = audit.list_lines(
        visit.call, limit=100, after=after, actor=actor or None, action=action or None, subject=subject or None
    )
    names = (
        {one.id: one.name for one in users.list_users(visit.call, limit=500).items} if visit.may("users.manage") else {}
    )
    checked = audit.verify(visit.call) if verify else None
    asked = {"action": action, "actor": actor, "subject": subject}
    return _render(visit, "audit", listed=listed, checked=checked, asked=asked, names=names)
