"""Signing in and out, tokens, users, groups; the audit log, settings, health and figures; all without a browser, too."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from argon2 import PasswordHasher
from fastapi.testclient import TestClient
from sqlalchemy import select, text, update
from sqlalchemy.exc import DBAPIError

from conftest import Command
from velado.errors import VeladoError
from velado.service.access.permissions import INSTANCE_ROLES, SCOPES
from velado.service.accounts import links, passwords, tokens, users
from velado.service.admin import audit
from velado.service.service import Service
from velado.service.store.tables import AuditLine, Member, Project, Session, SignIn, Token, Upload, User, now
from velado.service.web import counters

PASSWORD = "three blue herons"
OTHER = "seven green otters"
API = "/api/v1"
Browser = Callable[..., TestClient]
Person = Callable[..., TestClient]
pytestmark = pytest.mark.both_stores


def code(answer: Any) -> tuple[int, str]:
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    return answer.status_code, answer.json()["code"]


# Passwords


@pytest.mark.parametrize(
    ("password", "name", "wrong"),
    [
        ("elevenchars", "ana", "password-too-short"),
        ("x" * 1001, "ana", "password-too-long"),
        ("Password1234", "ana", "password-too-easy"),
        ("abababababab", "ana", "password-too-easy"),
        ("maria.fernandez", "maria.fernandez", "password-too-easy"),
        ("zednanref.airam", "maria.fernandez", "password-too-easy"),
        ("Maria2024maria", "maria", "password-too-easy"),
        ("ñandú y tapir", "ana", None),
        (PASSWORD, "ana", None),
    ],
)
def test_easy_passwords_are_refused(password: str, name: str, wrong: str | None) -> None:
    if wrong is None:
        passwords.check(password, name)
        return
    with pytest.raises(VeladoError) as caught:
        passwords.check(password, name)
    assert (caught.value.code, caught.value.path) == (wrong, "password")
    assert password not in str(caught.value)


def test_all_common_passwords_are_long_enough_to_matter() -> None:
    assert {len(word) >= passwords.LEAST for word in passwords.COMMON} == {True}
    assert {word == word.casefold() for word in passwords.COMMON} == {True}


def test_passwords_are_hashed_by_argon2id_at_a_price() -> None:
    hashed = passwords.hash_password(PASSWORD)
    memory, rounds = re.match(r"\$argon2id\$v=19\$m=(\d+),t=(\d+)", hashed).groups()  # type: ignore[union-attr]
    assert int(memory) >= 19 * 1024
    assert int(rounds) >= 2
    assert passwords.verify(hashed, PASSWORD)
    assert not passwords.verify(hashed, PASSWORD + " ")
    assert not passwords.verify("no hash", PASSWORD)
    assert not passwords.verify(None, PASSWORD)


def test_a_password_is_hashed_anew_when_parameters_change(
    browser: Browser, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser("ana")
    with service.store.reading() as db:
        before = users.find(db, "ana").password  # type: ignore[union-attr]
    monkeypatch.setattr(passwords, "HASHER", PasswordHasher(time_cost=2, memory_cost=64, parallelism=1))
    browser("ana")
    with service.store.reading() as db:
        after = users.find(db, "ana").password  # type: ignore[union-attr]
    assert ("t=1" in before, "t=2" in after) == (True, True)  # type: ignore[operator]
    assert browser("ana").get(f"{API}/session").status_code == 200


# Sessions


def test_signing_in_and_out(browser: Browser, service: Service) -> None:
    ana = browser("Ana", "steward")
    me = ana.get(f"{API}/session").json()
    assert (me["name"], me["roles"], me["csrf"], me["local"]) == ("ana", ["steward"], ana.headers["X-CSRF-Token"], True)
    assert {"projects.create", "uploads.create"} <= set(me["actions"])
    assert "users.manage" not in me["actions"]
    stolen = dict(ana.cookies)
    with service.store.reading() as db:
        assert not {*stolen.values(), me["csrf"]} & {row.hash for row in db.scalars(select(Session))}
    assert ana.delete(f"{API}/session").status_code == 204
    assert not ana.cookies
    ana.cookies.update(stolen)
    assert code(ana.get(f"{API}/session")) == (401, "unauthenticated")


def test_a_session_ends_by_itself(browser: Browser, service: Service) -> None:
    ana, bob = browser("ana", "steward"), browser("bob", "steward")
    with service.store.writing() as db:
        row = db.scalars(select(Session).where(Session.user_id == ana.user_id)).one()  # type: ignore[attr-defined]
        row.created = now() - timedelta(hours=12, seconds=1)
        row = db.scalars(select(Session).where(Session.user_id == bob.user_id)).one()  # type: ignore[attr-defined]
        row.seen = now() - timedelta(minutes=60, seconds=1)
    assert [x.get(f"{API}/session").status_code for x in (ana, bob)] == [401, 401]
    browser("eva", "steward")
    with service.store.reading() as db:
        assert len(list(db.scalars(select(Session)))) == 1


def test_changing_the_own_password(browser: Browser) -> None:
    ana, elsewhere = browser("ana", "steward"), browser("ana")
    put = lambda old, new: ana.put(f"{API}/session/password", json={"old": old, "new": new})  # noqa: E731
    assert code(put("wrong wrong wrong", OTHER)) == (403, "wrong-password")
    assert code(put(PASSWORD, "short")) == (422, "password-too-short")
    before = dict(ana.cookies)
    answer = put(PASSWORD, OTHER)
    assert answer.status_code == 200
    assert dict(ana.cookies) != before
    assert ana.get(f"{API}/session").json()["csrf"] == answer.json()["csrf"]
    assert elsewhere.get(f"{API}/session").status_code == 401
    signs_in = [elsewhere.post(f"{API}/session", json={"name": "ana", "password": p}).status_code for p in (PASSWORD, OTHER)]
    assert signs_in == [401, 201]


def test_the_own_profile(browser: Browser) -> None:
    ana = browser("ana", "steward")
    changed = ana.put(f"{API}/session", json={"language": "pt", "full_name": "Ana Nuñez"}).json()
    assert (changed["language"], changed["full_name"]) == ("pt", "Ana Nuñez")
    assert "nada" in ana.get(f"{API}/users").json()["message"] or ana.get(f"{API}/users").status_code == 403
    assert code(ana.put(f"{API}/session", json={"roles": ["administrator"]})) == (422, "bad-request")
    assert code(ana.put(f"{API}/session", json={"full_name": "a\nb"})) == (422, "bad-request")


# Links


def test_a_link_signs_in_once(browser: Browser, service: Service) -> None:
    with service.store.writing() as db:
        user = users.single_user(db)
        assert users.single_user(db) is user
        assert user.roles == ["administrator", "steward"]
        first = links.make_link(db, user)
        token = links.make_link(db, user)
        kept = list(db.scalars(select(SignIn)))
    assert len(kept) == 1
    assert token not in json.dumps([[row.key, row.detail] for row in kept])
    one, two = browser(), browser()
    assert code(one.post(f"{API}/session/link", json={"token": first})) == (401, "bad-link")
    assert one.post(f"{API}/session/link", json={"token": token}).status_code == 201
    assert one.get(f"{API}/session").json()["local"] is False
    assert code(two.post(f"{API}/session/link", json={"token": token})) == (401, "bad-link")


def test_a_link_does_not_live_long(browser: Browser, service: Service) -> None:
    with service.store.writing() as db:
        ana = users.create(db, "ana")
        late, gone = links.make_link(db, users.single_user(db)), links.make_link(db, ana)
        db.execute(update(SignIn).where(SignIn.detail.is_not(None)).values(expires=now() - timedelta(seconds=1)))
    assert code(browser().post(f"{API}/session/link", json={"token": late})) == (401, "bad-link")
    with service.store.writing() as db:
        gone = links.make_link(db, db.get_one(User, ana.id))
        db.get_one(User, ana.id).active = False
    assert code(browser().post(f"{API}/session/link", json={"token": gone})) == (401, "bad-link")


def test_a_link_for_a_forgotten_password(browser: Browser) -> None:
    root, ana, anew = browser("root", "administrator"), browser("ana", "steward"), browser()
    made = root.post(f"{API}/users/{ana.user_id}/link")  # type: ignore[attr-defined]
    assert made.status_code == 201
    token = made.json()["token"]
    use = lambda **body: anew.post(f"{API}/session/link", json={"token": token, **body})  # noqa: E731
    assert code(use()) == (422, "password-and-link")
    assert code(use(password="short")) == (422, "password-too-short")
    assert use(password=OTHER).status_code == 201
    assert anew.get(f"{API}/session").json()["name"] == "ana"
    assert ana.get(f"{API}/session").status_code == 401
    assert code(use(password=OTHER)) == (401, "bad-link")


# Tokens


def test_tokens(browser: Browser, service: Service) -> None:
    ana, bob = browser("ana", "steward"), browser("bob", "steward")
    post = lambda **body: ana.post(f"{API}/tokens", json={"name": "x", "scopes": ["read"], **body})  # noqa: E731
    assert code(post(days=366)) == (422, "bad-token-days")
    assert code(post(scopes=["everything"])) == (422, "unknown-scope")
    assert code(post(scopes=[])) == (422, "bad-request")
    made = post(scopes=["run", "read"], days=365)
    assert (made.status_code, made.json()["scopes"]) == (201, ["read", "run"])
    text, id = made.json()["token"], made.json()["id"]
    assert made.headers["location"] == f"{API}/tokens/{id}"
    listed = ana.get(f"{API}/tokens")
    assert [t["id"] for t in listed.json()["items"]] == [id]
    with service.store.reading() as db:
        kept = db.get_one(Token, id)
    assert not re.search(f"{text}|{kept.hash}", listed.text)
    assert kept.hash != text
    assert bob.get(f"{API}/tokens").json()["items"] == []
    assert code(bob.delete(f"{API}/tokens/{id}")) == (404, "not-found")
    assert code(ana.delete(f"{API}/tokens/nothing")) == (404, "not-found")
    ana.cookies.clear()
    by_token = {"Authorization": f"Bearer {text}"}
    assert ana.get(f"{API}/session", headers=by_token).json()["token"] == id
    assert "users.manage" not in ana.get(f"{API}/session", headers=by_token).json()["actions"]


def test_what_a_token_does_not_do(person: Person) -> None:
    root = person("administrator", "steward")
    id = root.user_id  # type: ignore[attr-defined]
    refused = [
        root.post(f"{API}/tokens", json={"name": "x", "scopes": ["read"]}),
        root.put(f"{API}/session/password", json={"old": PASSWORD, "new": OTHER}),
        root.put(f"{API}/session", json={"language": "es"}),
        root.put(f"{API}/users/{id}/password", json={"password": OTHER}),
        root.post(f"{API}/users/{id}/link"),
        root.delete(f"{API}/session"),
    ]
    assert {code(answer) for answer in refused} == {(403, "session-only")}


def test_tokens_that_are_over(person: Person, service: Service) -> None:
    root, revoked, expired, gone, deleted = person("administrator"), *(person("steward") for _ in range(4))
    own = {x: x.get(f"{API}/session").json()["token"] for x in (revoked, expired, gone, deleted)}
    assert revoked.delete(f"{API}/tokens/{own[revoked]}").status_code == 204
    with service.store.writing() as db:
        db.get_one(Token, own[expired]).expires = now() - timedelta(seconds=1)
    assert root.patch(f"{API}/users/{gone.user_id}", json={"active": False}).status_code == 200  # type: ignore[attr-defined]
    assert root.delete(f"{API}/users/{deleted.user_id}").status_code == 204  # type: ignore[attr-defined]
    for client in own:
        assert code(client.get(f"{API}/session")) == (401, "unauthenticated")
        assert code(client.get(f"{API}/tokens")) == (401, "unauthenticated")


# Users and groups


def test_users(browser: Browser, person: Person, service: Service) -> None:
    root = browser("root", "administrator")
    body = {"name": "Ana.Ruiz", "roles": ["steward"], "password": OTHER, "email": "ana@clinic.example"}
    made = root.post(f"{API}/users", json=body)
    assert (made.status_code, made.json()["name"]) == (201, "ana.ruiz")
    where = made.headers["location"]
    assert root.get(where).json() == made.json()
    assert code(root.post(f"{API}/users", json={"name": "ANA.RUIZ"})) == (409, "name-taken")
    for name in ("", "-ana", "ana ruiz", "añá", "a" * 65, "ana\x00"):
        assert root.post(f"{API}/users", json={"name": name}).status_code == 422
    assert code(root.post(f"{API}/users", json={"name": "bob", "roles": ["king"]})) == (422, "unknown-role")
    assert code(root.post(f"{API}/users", json={"name": "bob", "password": "bob"})) == (422, "password-too-short")
    changed = root.patch(where, json={"roles": ["auditor", "learner"], "full_name": "Ana", "language": "es"}).json()
    assert (changed["roles"], changed["full_name"], changed["language"]) == (["learner", "auditor"], "Ana", "es")
    assert code(root.patch(where, json={"password": OTHER})) == (422, "bad-request")
    assert root.put(f"{where}/password", json={"password": PASSWORD}).status_code == 204
    pages = [root.get(f"{API}/users", params={"limit": 1}).json()]
    while pages[-1]["next"]:
        pages.append(root.get(f"{API}/users", params={"limit": 1, "after": pages[-1]["next"]}).json())
    assert [user["name"] for page in pages for user in page["items"]] == ["ana.ruiz", "root"]
    shown = root.get(f"{API}/users").text + root.get(where).text + made.text
    with service.store.reading() as db:
        secrets = [u.password for u in db.scalars(select(User)) if u.password]
    assert not [secret for secret in (*secrets, PASSWORD, OTHER, "argon2", "subject") if secret in shown]
    assert root.delete(where).status_code == 204
    assert code(root.get(where)) == (404, "not-found")


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
@pytest.mark.parametrize("roles", [(), *((role,) for role in INSTANCE_ROLES if role != "administrator")])
def test_only_administrators_administer(roles: tuple[str, ...], person: Person) -> None:
    somebody, other = person(*roles), person("steward")
    id = other.user_id  # type: ignore[attr-defined]
    asked = [
        somebody.get(f"{API}/users"),
        somebody.post(f"{API}/users", json={"name": "eva"}),
        somebody.get(f"{API}/users/{id}"),
        somebody.get(f"{API}/users/nobody"),
        somebody.patch(f"{API}/users/{id}", json={"active": False}),
        somebody.delete(f"{API}/users/{id}"),
        somebody.get(f"{API}/groups"),
        somebody.post(f"{API}/groups", json={"name": "clinic"}),
        somebody.get(f"{API}/settings"),
        somebody.patch(f"{API}/settings", json={"approval": True}),
        somebody.get(f"{API}/settings/oidc-test"),
        somebody.get(f"{API}/metrics"),
    ]
    assert {code(answer) for answer in asked} == {(403, "forbidden")}
    assert somebody.get(f"{API}/audit").status_code == (200 if "auditor" in roles else 403)


def test_an_administrators_token_needs_the_scope(person: Person) -> None:
    for scope in SCOPES:
        root = person("administrator", scopes=[scope])
        for address in ("users", "groups", "settings", "metrics", "audit"):
            assert root.get(f"{API}/{address}").status_code == (200 if scope == "manage" else 403), (scope, address)


def test_the_last_administrator_stays(browser: Browser) -> None:
    root, eva = browser("root", "administrator"), browser("eva", "administrator")
    own, other = (f"{API}/users/{x.user_id}" for x in (root, eva))  # type: ignore[attr-defined]
    assert root.patch(other, json={"active": False}).status_code == 200
    refused = [root.patch(own, json={"roles": ["steward"]}), root.patch(own, json={"active": False}), root.delete(own)]
    assert {code(answer) for answer in refused} == {(409, "last-administrator")}
    assert root.patch(other, json={"active": True}).status_code == 200
    assert root.patch(own, json={"roles": ["steward"]}).status_code == 200
    assert root.get(f"{API}/session").status_code == 401


def test_other_roles_and_deactivation_end_sessions(browser: Browser) -> None:
    root = browser("root", "administrator")
    for change in ({"roles": ["auditor"]}, {"active": False}):
        name = f"ana{len(change)}{'roles' in change}"
        ana = browser(name, "steward")
        where = f"{API}/users/{ana.user_id}"  # type: ignore[attr-defined]
        assert root.patch(where, json={"full_name": "Ana"}).status_code == 200
        assert ana.get(f"{API}/session").status_code == 200
        assert root.patch(where, json=change).status_code == 200
        assert ana.get(f"{API}/session").status_code == 401
    assert root.patch(where, json={"active": True}).status_code == 200
    assert ana.get(f"{API}/session").status_code == 401


def test_deleting_a_user(browser: Browser, service: Service) -> None:
    root, ana = browser("root", "administrator"), browser("ana", "steward")
    id = ana.user_id  # type: ignore[attr-defined]
    with service.store.writing() as db:
        project = Project(name="p", document={})
        upload = Upload(user_id=id, name="t.csv", bytes=3, received=3)
        db.add_all([project, upload])
        db.flush()
        db.add(Member(project_id=project.id, user_id=id, role="owner"))
    path = service.files.upload(upload.id)
    path.write_bytes(b"a,b")
    assert code(root.delete(f"{API}/users/{id}")) == (409, "owns-projects")
    assert path.exists()
    with service.store.writing() as db:
        db.add(Member(project_id=project.id, user_id=root.user_id, role="owner"))  # type: ignore[attr-defined]
    assert root.delete(f"{API}/users/{id}").status_code == 204
    assert not path.exists()
    with service.store.reading() as db:
        assert (db.get(User, id), db.get(Upload, upload.id)) == (None, None)
        assert db.get(Project, project.id) is not None


def test_groups(person: Person) -> None:
    root, ana = person("administrator"), person("steward", name="ana")
    made = root.post(f"{API}/groups", json={"name": "clinic"})
    where, user = made.headers["location"], ana.user_id  # type: ignore[attr-defined]
    assert (made.status_code, made.json()["members"]) == (201, [])
    assert code(root.post(f"{API}/groups", json={"name": "clinic"})) == (409, "name-taken")
    assert [root.put(f"{where}/members/{user}").status_code for _ in range(2)] == [204, 204]
    assert code(root.put(f"{where}/members/nobody")) == (404, "not-found")
    assert code(root.put(f"{API}/groups/none/members/{user}")) == (404, "not-found")
    assert [m["name"] for m in root.get(where).json()["members"]] == ["ana"]
    assert [(g["name"], g["size"]) for g in root.get(f"{API}/groups").json()["items"]] == [("clinic", 1)]
    assert root.patch(where, json={"name": "ward"}).json()["name"] == "ward"
    assert root.delete(f"{where}/members/{user}").status_code == 204
    assert code(root.delete(f"{where}/members/{user}")) == (404, "not-found")
    assert root.delete(where).status_code == 204
    assert code(root.get(where)) == (404, "not-found")


# The audit log


def test_the_log_tells_what_was_done(browser: Browser, service: Service) -> None:
    root, ana = browser("root", "administrator"), browser("ana", "steward")
    id = ana.user_id  # type: ignore[attr-defined]
    assert browser().post(f"{API}/session", json={"name": "ana", "password": OTHER}).status_code == 401
    assert browser().post(f"{API}/session", json={"name": OTHER, "password": "ana"}).status_code == 401
    root.patch(f"{API}/users/{id}", json={"roles": ["learner"]})
    log = root.get(f"{API}/audit").json()["items"]
    assert [(line["action"], line["subject"]) for line in log] == [
        ("user.roles", id),
        ("session.failed", ""),
        ("session.failed", id),
        ("session.opened", id),
        ("session.opened", root.user_id),  # type: ignore[attr-defined]
    ]
    assert log[0]["detail"] == {"roles": ["learner"]}
    assert log[0]["actor"] == root.user_id  # type: ignore[attr-defined]
    assert not [x for x in (OTHER, PASSWORD, "ana", "127.0.0.1", "testclient") if x in json.dumps(log)]
    get = lambda **wanted: [x["number"] for x in root.get(f"{API}/audit", params=wanted).json()["items"]]  # noqa: E731
    assert get(action="session.failed") == [4, 3]
    assert get(action="session") == [4, 3, 2, 1]
    assert get(action="sess") == []
    assert get(subject=id, actor=root.user_id) == [5]  # type: ignore[attr-defined]
    assert get(limit=2, after=4) == [3, 2]
    assert get(since=log[1]["created"]) == [5, 4]
    assert get(since="0001-01-01T00:00:00+14:00") == [5, 4, 3, 2, 1]
    assert root.get(f"{API}/audit/verify").json() == {"intact": True, "lines": 5, "broken": None, "head": log[0]["hash"]}


TAMPERED = {
    "changed": ["UPDATE audit SET actor = 'somebody else' WHERE number = 3"],
    "detail": ["""UPDATE audit SET detail = '{"roles": []}' WHERE number = 3"""],
    "time": ["UPDATE audit SET created = '2020-01-01T00:00:00.000000+00:00' WHERE number = 3"],
    "deleted": ["DELETE FROM audit WHERE number = 3"],
    "deleted and counted anew": ["DELETE FROM audit WHERE number = 3", "UPDATE audit SET number = 3 WHERE number = 4"],
    "swapped": [f"UPDATE audit SET number = {b} WHERE number = {a}" for a, b in ((3, 99), (4, 3), (99, 4))],
    "first": ["DELETE FROM audit WHERE number = 1"],
    "hash": ["UPDATE audit SET hash = 'ñ' WHERE number = 3"],
    "cut off": ["DELETE FROM audit WHERE number > 2"],
    "emptied": ["DELETE FROM audit"],
    "emptied with its head": ["DELETE FROM audit", "DELETE FROM audit_head"],
    "cut off without its head": ["DELETE FROM audit WHERE number > 2", "DELETE FROM audit_head"],
    "cut off with an invented head": ["DELETE FROM audit WHERE number > 2", "UPDATE audit_head SET number = 2"],
}
REPLACED = "INSERT {} INTO audit (number, created, actor, action, subject, detail, hash) VALUES (3, '', '', '', '', '{{}}', '') {}"


def test_who_changes_the_log_is_noticed(service: Service, person: Person) -> None:
    with service.store.writing() as db:
        for n in range(6):
            audit.append(db, service.secrets, "ana", "user.roles", str(n), roles=["steward"], rows=n)
    replaced = REPLACED.format("OR REPLACE", "")
    if not service.store.sqlite:
        replaced = REPLACED.format("", "ON CONFLICT (number) DO UPDATE SET actor = 'x'")
    changes = ("UPDATE audit SET actor = 'x'", "DELETE FROM audit", "DELETE FROM audit WHERE number = 3", replaced)
    for statement in changes:
        with pytest.raises(DBAPIError, match="append only"), service.store.writing() as db:
            db.execute(text(statement))
    drops = ["DROP TRIGGER audit_no_update", "DROP TRIGGER audit_no_delete"]
    if not service.store.sqlite:
        drops = ["DROP TRIGGER audit_append_only ON audit"]
    found = {}
    for name, statements in TAMPERED.items():
        with service.store.writing() as db:
            for statement in [*drops, *statements]:
                db.execute(text(statement))
            found[name] = audit.verify(db, service.secrets).broken
            db.rollback()
    others = {"first": 2, "deleted": 4, "emptied": 1, "emptied with its head": 1}
    assert found == {name: others.get(name, 3) for name in TAMPERED}
    checked = person("auditor").get(f"{API}/audit/verify").json()
    assert (checked["intact"], checked["lines"]) == (True, 6)


def test_a_log_that_lost_its_head_does_not_get_another_by_going_on(service: Service) -> None:
    with service.store.writing() as db:
        assert audit.verify(db, service.secrets).broken == 1
        audit.append(db, service.secrets, "ana", "x")
        db.execute(text("DELETE FROM audit_head"))
        db.expire_all()
        audit.append(db, service.secrets, "ana", "y")
        assert audit.verify(db, service.secrets).broken == 3
        # A store of an earlier version gets it once, when it is brought up to date.
        audit.seal(db, service.secrets)
        db.flush()
        assert audit.verify(db, service.secrets).broken is None


def test_taking_the_last_lines_away_is_noticed_by_who_kept_the_hash(service: Service) -> None:
    with service.store.writing() as db:
        for n in range(3):
            audit.append(db, service.secrets, "ana", "x", str(n))
        head = audit.verify(db, service.secrets).head
        assert audit.has(db, head)
        last = db.scalars(select(AuditLine).order_by(AuditLine.number.desc())).first()
        assert last is not None
        assert last.hash == head
    assert not audit.has(db, "0" * 63 + "1")


def test_who_has_another_key_cannot_write_the_log(service: Service) -> None:
    from velado.service.secrets import Secrets

    with service.store.writing() as db:
        audit.append(db, service.secrets, "ana", "x")
        audit.append(db, Secrets(b"k" * 32), "ana", "x")
        assert audit.verify(db, service.secrets).broken == 2


# Settings, health, figures


def test_settings(person: Person, service: Service) -> None:
    root = person("administrator")
    shown = {s["name"]: s for s in root.get(f"{API}/settings").json()["settings"]}
    assert shown["approval"] | {"help": ""} == {
        "name": "approval",
        "help": "",
        "kind": "bool",
        "low": None,
        "default": False,
        "usual": False,
        "value": False,
        "changed": False,
    }
    assert not {"key", "oidc_secret", "database", "database_password", "folder", "host"} & set(shown)
    assert str(service.settings.folder) not in root.get(f"{API}/settings").text
    answer = root.patch(f"{API}/settings", json={"approval": True, "upload_bytes": "2 GB", "token_days": 10})
    values = {s["name"]: (s["value"], s["changed"]) for s in answer.json()["settings"]}
    assert [values[n] for n in ("approval", "upload_bytes", "token_days")] == [(True, True), (2 * 10**9, True), (10, True)]
    with service.store.reading() as db:
        assert service.store.live(db).token_days == 10
    back = root.patch(f"{API}/settings", json={"token_days": None}).json()["settings"]
    assert {s["value"] for s in back if s["name"] == "token_days"} == {365}
    wrong = root.patch(f"{API}/settings", json={"session_hours": 0, "approval": "maybe", "port": 1, "nothing": 1})
    problem = wrong.json()
    assert wrong.status_code == 422
    found = [(p["code"], p["fields"]["path"]) for p in (problem, *problem["others"])]
    assert found == [
        ("bad-setting", "session_hours"),
        ("bad-setting", "approval"),
        ("unknown-setting", "port"),
        ("unknown-setting", "nothing"),
    ]
    assert {s["value"] for s in root.get(f"{API}/settings").json()["settings"] if s["name"] == "approval"} == {True}


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
def test_no_setting_breaks_the_service(person: Person) -> None:
    root = person("administrator")
    for value in (10**30, "inf GB", "1e300 TB", -1, 1.5, [1], {"a": 1}, "x" * 300):
        for name in ("session_hours", "token_days", "upload_bytes"):
            answer = root.patch(f"{API}/settings", json={name: value})
            assert answer.status_code == 422, (name, answer.text)
    assert root.get(f"{API}/session").status_code == 200


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
def test_the_largest_settings_work(browser: Browser) -> None:
    root = browser("root", "administrator")
    most = {s["name"]: 10**6 for s in root.get(f"{API}/settings").json()["settings"] if s["kind"] == "int"}
    most |= {name: 10**15 for name in most if name.endswith(("bytes", "memory"))}
    assert root.patch(f"{API}/settings", json=most).status_code == 200
    assert root.post(f"{API}/tokens", json={"name": "x", "scopes": ["read"], "days": 10**6}).status_code == 201
    assert browser("root").get(f"{API}/session").status_code == 200


def test_health_says_nothing_else(browser: Browser, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = browser().get(f"{API}/health")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
    monkeypatch.setattr(type(service.files), "free", lambda self: (_ for _ in ()).throw(OSError("/secret/folder")))
    answer = browser().get(f"{API}/health")
    assert (answer.status_code, answer.json()) == (503, {"status": "failing"})


def test_figures(person: Person) -> None:
    root = person("administrator")
    root.get(f"{API}/users/{'f' * 24}")
    root.get("/no/such/page-of-ana")
    answer = root.get(f"{API}/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = [line for line in answer.text.splitlines() if not line.startswith("#")]
    figures = dict(line.rsplit(" ", 1) for line in lines)
    assert figures['velado_jobs{state="queued"}'] == "0"
    assert figures["velado_users{}"] == "1"
    assert float(figures["velado_disk_free_bytes{}"]) > 0
    # Whether the prefix belongs to the pattern of a route depends on FastAPI's version.
    assert [
        name
        for name in figures
        if re.fullmatch(r'velado_requests_total{method="GET",path="[a-z0-9/]*/users/{id}",status="404"}', name)
    ]
    assert "f" * 24 not in answer.text
    assert "page-of-ana" not in answer.text
    assert {route.path.startswith("/") or route.path == "other" for route, _, _ in counters.route_counts()} == {True}


# Without a browser


def test_administration_by_commands(
    service: Service, main: Command, browser: Browser, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import getpass
    import io

    where = tmp_path / "settings.toml"
    where.write_text(f"folder = {str(service.settings.folder)!r}\ndatabase = {service.settings.database!r}\n")
    monkeypatch.setattr(getpass, "getuser", lambda: "operator")

    def studio(*words: str, stdin: str = "") -> Any:
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        return main("studio", *words, "--config", str(where), "--json")

    made = studio("user", "add", "root", "administrator", "--password-stdin", stdin=f"{PASSWORD}\nmore")
    assert (made.code, made.json["roles"]) == (0, ["administrator"])
    assert studio("user", "add", "ana", "steward,auditor", "--password-stdin", stdin="short").code == 2
    assert studio("user", "add", "ana", "steward").json["error"]["code"] == "password-not-given"
    link = studio("user", "add", "ana", "steward", "--link").json["link"]
    assert browser().post(f"{API}/session/link", json={"token": link, "password": OTHER}).status_code == 201
    ana = browser("root").get(f"{API}/users").json()["items"][0]
    assert (ana["name"], ana["local"]) == ("ana", True)
    assert studio("user", "roles", "ana", "learner").json["roles"] == ["learner"]
    assert studio("user", "password", "ana", "--password-stdin", stdin=PASSWORD).code == 0
    assert browser("ana").get(f"{API}/session").status_code == 200
    assert studio("user", "deactivate", "ana").json["active"] is False
    assert studio("user", "activate", "ana").json["active"] is True
    assert studio("user", "deactivate", "root").json["error"]["code"] == "last-administrator"
    assert studio("user", "roles", "eva", "learner").json["error"]["code"] == "no-user"
    token = studio("token", "add", "ana", "nightly", "--scopes", "read,run", "--days", "7").json
    with service.store.reading() as db:
        assert tokens.find(db, token["token"]) is not None
    assert [t["id"] for t in studio("token", "list", "ana").json["tokens"]] == [token["id"]]
    assert studio("token", "revoke", token["id"]).json == {"revoked": token["id"]}
    assert studio("token", "revoke", token["id"]).json["error"]["code"] == "no-token"
    assert studio("token", "add", "ana", "x", "--scopes", "read", "--days", "9999").json["error"]["code"] == "bad-token-days"
    assert studio("user", "remove", "ana").json["removed"] == ana["id"]
    assert [u["name"] for u in studio("user", "list").json["users"]] == ["root"]
    lines = studio("audit", "list", "--action", "user", "--limit", "3", "--actor", "cli:operator").json["lines"]
    assert [line["action"] for line in lines] == ["user.deleted", "user.activated", "user.deactivated"]
    checked = studio("audit", "verify")
    assert (checked.code, checked.json["intact"]) == (0, True)
    assert studio("audit", "verify", "--head", checked.json["head"]).code == 0
    assert studio("audit", "verify", "--head", "f" * 64).code == 1
    for words in (("user", "list"), ("token", "list"), ("audit", "list"), ("audit", "verify")):
        shown = main("studio", *words, "--config", str(where))
        assert shown.code == 0, shown
        assert not [secret for secret in (PASSWORD, OTHER, "argon2", token["token"]) if secret in shown.out + shown.err]
