"""Who may do what: every role and every kind of caller on every address of the service, as `permissions` says.

Things are put into the store by hand, and nothing that a request does is kept: so each cell of the table finds the same.
Every address is asked by callers of every kind; by every role within every role in the world ``everybody``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from argon2 import PasswordHasher
from fastapi import FastAPI
from fastapi.testclient import TestClient

import stored_projects as at_hand
from servers import postgresql
from velado.service.access.ownership import OF_MEMBERS, OWNERS
from velado.service.access.permissions import (
    INSTANCE,
    INSTANCE_ROLES,
    OF_RECORDS,
    PROJECT,
    PROJECT_ROLES,
    SCOPES,
    SEEN,
    instance_actions,
    project_actions,
    scope_actions,
)
from velado.service.accounts import passwords, sessions, tokens
from velado.service.errors import Conflict
from velado.service.files import Files
from velado.service.jobs.kinds import KINDS
from velado.service.service import Service
from velado.service.settings import load
from velado.service.store.tables import Connection, Group, GroupMember, Job, Member, Secret, Token, Upload, User, new_id, now
from velado.service.web.app import create_app
from velado.service.web.call import cookie_name

API = "/api/v1"
NO_ID = "0" * 24
NO_IDS = ("%27%20OR%201=1", "x", "1" * 300, "é", "..", "%2e%2e%2fstudio.key", "null", "x%00")
WORLDS = (
    "sqlite",
    pytest.param("postgresql", marks=pytest.mark.stores),
    pytest.param("everybody", marks=[pytest.mark.thorough, pytest.mark.slow]),
)
ALLOWED = 200
"""Stands for every answer that is no refusal of who asks."""


@dataclass(frozen=True)
class Who:
    """A caller: instance roles, roles in the project (also through groups), scopes of the token, None in a session."""

    name: str
    headers: Mapping[str, str]
    roles: tuple[str, ...] = ()
    project: tuple[str, ...] = ()
    scopes: tuple[str, ...] | None = None
    maker: bool = False
    """Whether the source, the uploads, the connection and the jobs are theirs."""
    signed_in: bool = True

    @property
    def scoped(self) -> frozenset[str]:
        return scope_actions(self.scopes)

    @property
    def granted(self) -> frozenset[str]:
        """What the roles allow in the project, whose table is nobody's sample."""
        allowed = project_actions(self.project)
        if "steward" not in self.roles:
            allowed -= OF_RECORDS
        return allowed | ({"release.read"} if "auditor" in self.roles else set())

    def may(self, action: str) -> bool:
        return action in instance_actions(self.roles) & self.scoped


Rule = Callable[[Who], int]


# What an address needs


def public(who: Who) -> int:
    """For everybody."""
    return ALLOWED


def signed(who: Who) -> int:
    """For everybody who has signed in."""
    return ALLOWED if who.signed_in else 401


def session(who: Who) -> int:
    """Not with a token: a lost one must not lock its owner out."""
    return ALLOWED if who.scopes is None else 403


def instance(action: str) -> Rule:
    """An action of the instance."""
    assert action in INSTANCE
    return lambda who: ALLOWED if who.may(action) else 403


def project(*actions: str) -> Rule:
    """Actions in the project, all of them."""
    assert set(actions) <= set(PROJECT)

    def rule(who: Who) -> int:
        if not who.granted & SEEN:
            return 404
        return ALLOWED if set(actions) <= who.granted & who.scoped else 403

    return rule


def own(action: str) -> Rule:
    """A thing of the caller's own."""

    def rule(who: Who) -> int:
        if not who.maker:
            return 404
        return ALLOWED if action in who.scoped else 403

    return rule


def source(action: str) -> Rule:
    """A table of the caller's own, or of a project of the caller's."""

    def rule(who: Who) -> int:
        if not (who.maker or who.project):
            return 404
        allowed = OWNERS if who.maker else who.granted & OF_MEMBERS
        return ALLOWED if action in allowed & who.scoped else 403

    return rule


def plan(action: str) -> Rule:
    """A plan of the caller's own, whose table may still be used so."""
    return lambda who: source(action)(who) if who.maker else 404


def job(then: Rule = public) -> Rule:
    """A job of the project; that there is one is also known to who keeps the service running."""

    def rule(who: Who) -> int:
        if not ("jobs.read" in who.granted or who.maker or who.may("jobs.manage")):
            return 404
        if not ("jobs.read" in who.scoped or who.may("jobs.manage")):
            return 403
        return then(who)

    return rule


def cancel(who: Who) -> int:
    """Who submitted it, or may cancel jobs of the project."""
    return ALLOWED if "jobs.cancel" in who.scoped and (who.maker or "jobs.cancel" in who.granted) else 403


def cancel_any(who: Who) -> int:
    """Also who keeps the service running."""
    return ALLOWED if who.may("jobs.manage") else cancel(who)


def result(who: Who) -> int:
    """Only for who sees all of the job."""
    return project("results.read")(who) if "jobs.read" in who.granted & who.scoped else 403


def jobs(who: Who) -> int:
    """One's own jobs, or all."""
    return ALLOWED if "jobs.read" in who.scoped or who.may("jobs.manage") else 403


def rules(*several: Rule) -> Rule:
    """One after the other; the first that refuses says so."""
    return lambda who: next((status for rule in several if (status := rule(who)) != ALLOWED), ALLOWED)


ACCOUNT, USERS, GROUPS = instance("account.use"), instance("users.manage"), instance("groups.manage")
UPLOAD, CONNECT = instance("uploads.create"), instance("connections.create")
CATALOG = instance("catalog.read")

TABLE: dict[str, Rule] = {
    "POST /session": public,
    "GET /session": signed,
    "PUT /session": session,
    "DELETE /session": session,
    "POST /session/link": public,
    "PUT /session/password": session,
    "GET /session/oidc": public,
    "GET /session/oidc/callback": public,
    "GET /tokens": ACCOUNT,
    "POST /tokens": rules(session, ACCOUNT),
    "DELETE /tokens/{id}": rules(session, own("account.use")),
    "GET /uploads": ACCOUNT,
    "POST /uploads": UPLOAD,
    "GET /uploads/{id}": own("account.use"),
    "HEAD /uploads/{id}": own("account.use"),
    "PATCH /uploads/{id}": rules(UPLOAD, own("project.edit")),
    "DELETE /uploads/{id}": own("project.edit"),
    "GET /connections": ACCOUNT,
    "POST /connections": CONNECT,
    "GET /connections/{id}": own("account.use"),
    "PUT /connections/{id}": rules(CONNECT, own("project.edit")),
    "DELETE /connections/{id}": own("project.edit"),
    "POST /connections/{id}/test": rules(CONNECT, own("project.edit")),
    "GET /connections/{id}/tables": rules(CONNECT, own("project.edit")),
    "GET /sources": ACCOUNT,
    "POST /sources": instance("samples.use"),
    "GET /sources/{id}": source("profile.read"),
    "PUT /sources/{id}": source("project.edit"),
    "DELETE /sources/{id}": source("project.edit"),
    "GET /sources/{id}/profile": source("profile.read"),
    "GET /sources/{id}/suggestion": source("profile.read"),
    "GET /sources/{id}/rows": source("records.read"),
    "GET /sources/{id}/projects": source("profile.read"),
    "GET /projects": ACCOUNT,
    "POST /projects": instance("projects.create"),
    "GET /projects/{id}": project("project.read"),
    "PUT /projects/{id}": project("project.edit"),
    "DELETE /projects/{id}": project("project.delete"),
    "GET /projects/{id}/versions": project("project.read"),
    "GET /projects/{id}/versions/{number}": project("project.read"),
    "POST /projects/{id}/undo": project("project.edit"),
    "GET /projects/{id}/members": project("project.read"),
    "PUT /projects/{id}/members": project("project.share"),
    "DELETE /projects/{id}/members/{member}": project("project.read", "project.share"),
    "GET /projects/{id}/secrets": project("project.read"),
    "PUT /projects/{id}/secrets/{name}": project("project.edit"),
    "DELETE /projects/{id}/secrets/{name}": project("project.edit"),
    "GET /projects/{id}/checks": project("profile.read"),
    "GET /projects/{id}/singled-out": project("profile.read"),
    "GET /projects/{id}/file": project("project.read"),
    "GET /projects/{id}/hierarchies": project("profile.read"),
    "GET /projects/{id}/hierarchies/{column}": project("profile.read"),
    "GET /projects/{id}/hierarchies/{column}/file": rules(project("records.read"), project("profile.read")),
    "POST /projects/{id}/hierarchies/{column}/preview": rules(project("profile.read"), project("records.read")),
    "GET /jobs": jobs,
    "POST /jobs": project("jobs.release"),
    "GET /jobs/{id}": job(),
    "DELETE /jobs/{id}": job(cancel),
    "GET /jobs/{id}/log": job(),
    "GET /jobs/{id}/result": job(result),
    "POST /jobs/{id}/cancel": job(cancel_any),
    "POST /jobs/{id}/retry": job(project("jobs.release")),
    "GET /projects/{id}/explorations": project("results.read"),
    "GET /explorations/{id}": project("results.read"),
    "GET /explorations/{id}/nodes": project("results.read"),
    "GET /explorations/{id}/path": project("results.read"),
    "GET /explorations/{id}/nodes/{levels}": project("results.read"),
    "POST /explorations/{id}/nodes/{levels}/release": project("jobs.release"),
    "GET /releases": ACCOUNT,
    "GET /projects/{id}/releases": project("release.read"),
    "GET /releases/{id}": project("release.read"),
    "DELETE /releases/{id}": project("release.delete"),
    "GET /releases/{id}/evaluation": project("release.read"),
    "GET /releases/{id}/evaluation?private=true": project("release.private"),
    "GET /releases/{id}/distributions": project("release.read"),
    "GET /releases/{id}/distributions?private=true": project("release.private"),
    "GET /releases/{id}/manifest": project("release.read"),
    "GET /releases/{id}/manifest?private=true": project("release.private"),
    "GET /releases/{id}/classes": project("release.download"),
    "GET /releases/{id}/rows": project("release.download"),
    "GET /releases/{id}/data": project("release.download"),
    "GET /releases/{id}/reports": project("release.read"),
    "POST /releases/{id}/reports": project("jobs.release"),
    "GET /releases/{id}/reports/{name}": project("release.read"),
    "POST /releases/{id}/approve": project("release.approve"),
    "POST /releases/{id}/withdraw": project("release.withdraw"),
    "GET /projects/{id}/comparisons": project("results.read"),
    "GET /comparisons/{id}": project("results.read"),
    "GET /comparisons/{id}/table": project("results.read"),
    "GET /plans": ACCOUNT,
    "GET /plans/{id}": plan("profile.read"),
    "GET /plans/{id}/appointments": plan("records.read"),
    "GET /catalog": CATALOG,
    "GET /catalog/{kind}": CATALOG,
    "GET /schema": CATALOG,
    "GET /samples": CATALOG,
    "GET /users": USERS,
    "POST /users": USERS,
    "GET /users/{id}": USERS,
    "PATCH /users/{id}": USERS,
    "DELETE /users/{id}": USERS,
    "PUT /users/{id}/password": rules(USERS, session),
    "POST /users/{id}/link": rules(USERS, session),
    "GET /groups": GROUPS,
    "POST /groups": GROUPS,
    "GET /groups/{id}": GROUPS,
    "PATCH /groups/{id}": GROUPS,
    "DELETE /groups/{id}": GROUPS,
    "PUT /groups/{id}/members/{user}": GROUPS,
    "DELETE /groups/{id}/members/{user}": GROUPS,
    "GET /audit": instance("audit.read"),
    "GET /audit/verify": instance("audit.read"),
    "GET /settings": instance("settings.manage"),
    "PATCH /settings": instance("settings.manage"),
    "GET /settings/oidc-test": instance("settings.manage"),
    "GET /storage": instance("storage.manage"),
    "POST /storage/clean": instance("storage.manage"),
    "GET /health": public,
    "GET /metrics": instance("metrics.read"),
}
"""Every address, and what it needs."""

BODIES: dict[str, Any] = {
    "POST /session": {"name": "nobody", "password": "wrong horse battery"},
    "POST /session/link": {"token": "none"},
    "PUT /session": {"language": "es"},
    "PUT /session/password": {"old": "a", "new": "b"},
    "POST /tokens": {"name": "t", "scopes": ["read"], "days": 1},
    "POST /uploads": {"name": "a.csv", "bytes": 1},
    "POST /connections": {"name": "other", "address": "postgresql://db/x"},
    "PUT /connections/{id}": {"name": "again"},
    "POST /sources": {"name": "s", "sample": "hospital"},
    "PUT /sources/{id}": {"name": "again"},
    "POST /projects": {"name": "p"},
    "PUT /projects/{id}": {"document": {}},
    "PUT /projects/{id}/members": {"user": "somebody", "role": "reader"},
    "PUT /projects/{id}/secrets/{name}": {},
    "POST /projects/{id}/hierarchies/{column}/preview": {"description": {"mask": "right"}},
    "POST /releases/{id}/reports": {},
    "POST /users": {"name": "another", "roles": ["steward"]},
    "PATCH /users/{id}": {"full_name": "x"},
    "PUT /users/{id}/password": {"password": "three blue herons"},
    "POST /groups": {"name": "another"},
    "PATCH /groups/{id}": {"name": "another"},
    "PATCH /settings": {"approval": True},
}
QUERIES = {"GET /explorations/{id}/path": "?end=1,0"}


# The world


@dataclass(frozen=True)
class World:
    """A service with one of everything, and callers of all kinds."""

    service: Service
    app: FastAPI
    client: TestClient
    ids: Mapping[str, str]
    who: Mapping[str, Who]

    def address(self, route: str, id: str | None = None) -> str:
        """The address of a route, of the things there are, or of a thing that there is not."""
        path = route.partition(" ")[2]
        first = path.split("/")[1]
        named = {**self.ids, "id": id or self.ids.get(first, "")}
        for name in ("id", "member", "name", "number", "levels", "column", "kind", "user"):
            value = named.get(f"{first}.{name}", named.get(name, ""))
            path = path.replace(f"{{{name}}}", value)
        return f"{API}{path}{QUERIES.get(route, '')}"

    def ask(self, route: str, who: Who, id: str | None = None) -> Any:
        """The answer to a caller."""
        method = route.partition(" ")[0]
        body = BODIES.get(route)
        if route == "POST /jobs":
            body = {"kind": "run", "project": id or self.ids["projects"]}
        more: dict[str, Any] = {"json": body} if body is not None else {}
        if route == "PATCH /uploads/{id}":
            more = {"content": b"x"}
        headers = {**who.headers, **({"Upload-Offset": "0"} if "content" in more else {})}
        self.client.cookies.clear()
        return self.client.request(method, self.address(route, id), headers=headers, follow_redirects=False, **more)


def token(service: Service, user: User, scopes: tuple[str, ...]) -> dict[str, str]:
    with service.store.writing() as db:
        made, text = tokens.make(db, user, "test", scopes, 1)
        # Else each request would write down that it is used.
        made.used = now()
    return {"Authorization": f"Bearer {text}"}


FEW = {
    "nobody",
    "maker",
    "maker with read",
    "maker with None",
    "steward, None",
    "auditor, None",
    "administrator, owner",
    "steward, editor",
    "learner, analyst",
    "auditor, approver",
    "steward, reader",
    "group of editors",
    "browser of administrator",
}
"""Callers of every kind: each role, inside and outside of the project, and each way to be somebody."""


def callers(service: Service, maker: User, project_id: str) -> Iterator[Who]:
    """Strangers and members of every role, tokens of every scope, members of a group."""
    every = tuple(SCOPES)
    yield Who("maker", token(service, maker, every), ("steward",), ("owner",), every, maker=True)
    for scope in (*SCOPES, None):
        scopes = () if scope is None else (scope,)
        yield Who(f"maker with {scope}", token(service, maker, scopes), ("steward",), ("owner",), scopes, maker=True)
    for role in (*INSTANCE_ROLES, None):
        roles = () if role is None else (role,)
        for within in (None, *PROJECT_ROLES):
            if within is not None and role is None:
                continue
            user = User(name=f"{role} {within}", roles=list(roles))
            at_hand.add(service, user)
            if within is not None:
                at_hand.add(service, Member(project_id=project_id, user_id=user.id, role=within))
            yield Who(f"{role}, {within}", token(service, user, every), roles, (within,) if within else (), every)
    for within in ("editor", "reader"):
        user, group = User(name=f"grouped {within}", roles=["steward"]), Group(name=f"group {within}")
        at_hand.add(service, user, group)
        at_hand.add(service, GroupMember(group_id=group.id, user_id=user.id))
        at_hand.add(service, Member(project_id=project_id, group_id=group.id, role=within))
        yield Who(f"group of {within}s", token(service, user, every), ("steward",), (within,), every)


def things(service: Service, maker: User) -> dict[str, str]:
    """One of everything; all of it is the maker's, except the release, which somebody else made."""
    other = User(name="somebody", roles=["steward"])
    group = Group(name="ward")
    at_hand.add(service, other, group)
    at_hand.add(service, GroupMember(group_id=group.id, user_id=other.id))
    source = at_hand.source(service, maker.id, profile={"columns": [], "notes": []}, suggestion={"columns": []})
    document = {"source": {"source": source}, "columns": {"age": {"role": "quasi-identifier"}}}
    project = at_hand.project(service, {maker.id: "owner", other.id: "reader"}, document)
    upload = Upload(user_id=maker.id, name="x.csv", bytes=5, state="complete")
    connection = Connection(user_id=maker.id, name="db", address="postgresql://db/x")
    spare = Token(user_id=maker.id, name="spare", hash=new_id(), scopes=[], expires=now())
    at_hand.add(service, upload, connection, spare, Secret(project_id=project, name="key", sealed="x"))
    release = at_hand.release(service, project, other.id)
    at_hand.report(service, project, other.id, release)
    plan = at_hand.job(service, "appointments", None, maker.id, {"file": "a.csv"}, source_id=source)
    (service.files.attempt(plan, 1) / "a.csv").write_text("x")
    with service.store.reading() as db:
        member = next(m.id for m in db.query(Member) if m.user_id == other.id)
    return {
        "projects": project,
        "sources": source,
        "uploads": upload.id,
        "connections": connection.id,
        "tokens": spare.id,
        "explorations": at_hand.exploration(service, project, maker.id, document=document),
        "releases": release,
        "plans": plan,
        "comparisons": at_hand.job(service, "compare", project, maker.id, {"parameters": [], "settings": []}),
        "jobs": at_hand.job(service, "run", project, maker.id, state="failed", error={"code": "no-solution"}),
        "users": other.id,
        "groups": group.id,
        "user": other.id,
        "member": member,
        "number": "1",
        "levels": "1,0",
        "column": "age",
        "kind": "models",
        "projects.name": "key",
        "releases.name": "report.en.html",
    }


def unanswered(*args: Any, **more: Any) -> Any:
    """No worker answers questions here; that one may ask is what counts."""
    raise Conflict("not-asked", "no worker is asked")


@pytest.fixture(scope="module", params=WORLDS)
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """One world for all tests: none of them changes it."""
    database = ""
    if request.param == "postgresql":
        with postgresql.connect() as connection:
            connection.execute("DROP DATABASE IF EXISTS studio_permissions WITH (FORCE)")
            connection.execute("CREATE DATABASE studio_permissions")
        database = postgresql.address(database="studio_permissions")
    settings = load(environment={}, folder=tmp_path_factory.mktemp("permissions"), database=database)
    service = Service.open(settings, make=True)
    maker = User(name="maker", roles=["steward"])
    at_hand.add(service, maker)
    ids = things(service, maker)
    found = [*callers(service, maker, ids["projects"]), *browsers(service), Who("nobody", {}, signed_in=False)]
    who = {one.name: one for one in found if one.name in FEW or request.param == "everybody"}
    with pytest.MonkeyPatch.context() as monkeypatch:
        app = create_app(service)
        keep_nothing(service, monkeypatch)
        with TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
            yield World(service, app, client, ids, who)
    service.close()


def browsers(service: Service) -> Iterator[Who]:
    """Who has signed in, with a cookie in place of a token."""
    for role in ("administrator", "steward"):
        user = User(name=f"browsing {role}", roles=[role])
        with service.store.writing() as db:
            db.add(user)
            db.flush()
            opened = sessions.open_session(db, user)
        headers = {"Cookie": f"{cookie_name(service.settings)}={opened.cookie}", "X-CSRF-Token": opened.csrf}
        yield Who(f"browser of {role}", headers, (role,))


def keep_nothing(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on nothing is written, deleted or asked of a worker."""
    writing = service.store.writing

    @contextmanager
    def undone() -> Iterator[Any]:
        with writing() as db:
            yield db
            db.flush()
            # What was answered is looked at after the transaction.
            db.expunge_all()
            db.rollback()

    monkeypatch.setattr(service.store, "writing", undone)
    monkeypatch.setattr(passwords, "HASHER", PasswordHasher(time_cost=1, memory_cost=64, parallelism=1))
    monkeypatch.setattr(Files, "remove", staticmethod(lambda path: None))
    for name, module in list(sys.modules.items()):
        if name.startswith("velado.service.") and hasattr(module, "wait_for"):
            monkeypatch.setattr(module, "wait_for", unanswered)


def routes(app: FastAPI) -> set[str]:
    """All methods of all addresses, as the description of the service has them."""
    paths = app.openapi()["paths"]
    return {f"{method.upper()} {path.removeprefix(API)}" for path, methods in paths.items() for method in methods}


def expected(route: str, who: Who) -> int:
    rule = TABLE[route]
    return ALLOWED if rule is public else 401 if not who.signed_in else rule(who)


REFUSALS = (401, 403, 404)


def allowed(answer: Any) -> bool:
    """Whether it was not refused because of who asks, whatever else was wrong with it."""
    if answer.status_code == 403:
        return bool(answer.json()["code"] == "wrong-password")
    return answer.status_code < 500 and answer.status_code not in REFUSALS


# The tests


def test_every_address_is_in_the_table(world: World) -> None:
    listed = {route.partition("?")[0] for route in TABLE}
    found = routes(world.app)
    assert sorted(found - listed) == [], "addresses that the table of permissions lacks"
    assert sorted(listed - found) == [], "addresses that are no more"
    assert set(BODIES) | set(QUERIES) <= set(TABLE)


def test_every_cell(world: World) -> None:
    wrong = []
    for who in world.who.values():
        for route, rule in TABLE.items():
            answer, wanted = world.ask(route, who), expected(route, who)
            got = answer.status_code
            if rule is public:
                # These say themselves whom they do not know.
                fits = got < 500
            else:
                fits = got == wanted if wanted in REFUSALS else allowed(answer)
            if not fits:
                wrong.append((who.name, route, wanted, got, answer.text[:200]))
    assert wrong == []


def test_what_is_not_yours_does_not_exist(world: World) -> None:
    """The answers about another's thing and about nothing are the same, byte for byte."""
    compared = 0
    for who in (w for w in world.who.values() if w.project in ((), ("reader",))):
        for route in TABLE:
            if ("{id}" not in route and route != "POST /jobs") or expected(route, who) != 404:
                continue
            theirs, nothing = world.ask(route, who), world.ask(route, who, NO_ID)
            assert told(theirs) == told(nothing), (who.name, route)
            assert theirs.status_code == 404
            compared += 1
    assert compared > 100


def told(answer: Any) -> tuple[int, bytes, list[tuple[str, str]]]:
    headers = sorted((name, value) for name, value in answer.headers.items() if name != "date")
    return answer.status_code, answer.content, headers


def test_ids_that_are_none_do_not_exist(world: World) -> None:
    wrong = []
    for number, route in enumerate(route for route in TABLE if "{id}" in route):
        # What is no id depends little on the address: a few of them on each, all of them in the end.
        for id in NO_IDS if len(world.who) > len(FEW) else (NO_IDS[number % len(NO_IDS)], NO_IDS[0]):
            got = world.ask(route, world.who["maker"], id).status_code
            # Some clients take two points out of an address before they send it.
            if got not in (403, 404, 405, 422, 428) and (id != ".." or got >= 500):
                wrong.append((route, id, got))
    assert wrong == []


def test_every_kind_of_job_needs_what_it_says(world: World) -> None:
    """The kinds and whom they are for; parameters are left out, so that who may is told what is missing."""
    about = {"project": "projects", "source": "sources", "release": "releases", "connection": "connections"}
    wrong = []
    for who in (*(w for w in world.who.values() if w.signed_in and w.scopes is not None),):
        for name, kind in KINDS.items():
            body: dict[str, Any] = {"kind": name}
            if kind.about != "nothing":
                body[kind.about] = world.ids[about[kind.about]]
            answer = world.client.post(f"{API}/jobs", json=body, headers=dict(who.headers))
            wanted = wanted_of(kind.about, kind.action)(who)
            got = answer.status_code
            if not (got == wanted if wanted in REFUSALS else allowed(answer)):
                wrong.append((who.name, name, wanted, got))
    assert wrong == []
    assert [name for name, kind in KINDS.items() if wanted_of(kind.about, kind.action)(world.who["maker"]) != ALLOWED] == []


def wanted_of(about: str, action: str) -> Rule:
    if about in ("project", "release"):
        return project(action)
    if about == "source":
        return source(action)
    return own(action) if about == "connection" else instance(action)


def test_lists_hold_only_what_one_may_see(world: World) -> None:
    """Ids of the maker's things are in no list of a stranger, and of an auditor's only the releases."""
    stranger, auditor = world.who["steward, None"], world.who["auditor, None"]
    listed = [r for r in TABLE if r.startswith("GET ") and "{" not in r and TABLE[r] in (ACCOUNT, jobs) and "tokens" not in r]
    assert len(listed) >= 7
    for route in listed:
        answer = world.ask(route, stranger)
        assert answer.json()["items"] == [], route
        seen = world.ask(route, auditor).json()["items"]
        assert bool(seen) is (route == "GET /releases"), route
        assert world.ask(route, world.who["maker"]).json()["items"], route


def test_every_action_is_in_a_scope() -> None:
    in_scopes = {action for actions in SCOPES.values() for action in actions}
    assert in_scopes == set(INSTANCE) | set(PROJECT)


def test_a_learner_reads_the_records_of_samples_only(service: Service) -> None:
    user = User(name="learner", roles=["learner"])
    at_hand.add(service, user)
    samples = {"source": {"source": at_hand.source(service, user.id, "sample")}}
    tables = {"source": {"source": at_hand.source(service, user.id)}}
    headers = token(service, user, tuple(SCOPES))
    client = TestClient(create_app(service), base_url="http://127.0.0.1", headers=headers)
    for document, seen in ((samples, True), (tables, False), ({}, True)):
        id = at_hand.project(service, {user.id: "owner"}, document)
        actions = set(client.get(f"{API}/projects/{id}").json()["actions"])
        assert (actions >= OF_RECORDS) is seen
        assert project_actions(["owner"]) - OF_RECORDS <= actions


def test_who_is_taken_out_sees_nothing_any_more(service: Service) -> None:
    owner, user = User(name="owner", roles=["steward"]), User(name="user", roles=["steward"])
    at_hand.add(service, owner, user)
    id = at_hand.project(service, {owner.id: "owner", user.id: "editor"})
    app = create_app(service)
    mine = TestClient(app, base_url="http://127.0.0.1", headers=token(service, owner, tuple(SCOPES)))
    theirs = TestClient(app, base_url="http://127.0.0.1", headers=token(service, user, tuple(SCOPES)))
    run = at_hand.job(service, "run", id, user.id, {})
    assert theirs.get(f"{API}/projects/{id}").status_code == 200
    members = mine.get(f"{API}/projects/{id}/members").json()["items"]
    member = next(m["id"] for m in members if m["name"] == "user")
    assert mine.delete(f"{API}/projects/{id}/members/{member}").status_code == 204
    assert theirs.get(f"{API}/projects/{id}").status_code == 404
    assert theirs.get(f"{API}/jobs/{run}/result").status_code in (403, 404)
    with service.store.reading() as db:
        assert db.get(Job, run) is not None
