"""Attacks on the service, each of which fails: forged requests, hosts, headers and sessions; guessing; bodies that are too much."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from argon2 import PasswordHasher
from fastapi import FastAPI, Request, Response
from fastapi.testclient import TestClient
from sqlalchemy import select, update

from velado.service.accounts import passwords, throttle, users
from velado.service.service import Service
from velado.service.settings import Settings
from velado.service.store.tables import Session, SignIn, User, now
from velado.service.web.app import create_app
from velado.service.web.call import address_of, own_origins
from velado.service.web.security import CSP, Security, attachment

PASSWORD = "three blue herons"
API = "/api/v1"
Browser = Callable[..., TestClient]
"""What has nothing to do with the store."""


def code(answer: Any) -> tuple[int, str]:
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    return answer.status_code, answer.json()["code"]


def signing_in(client: TestClient, name: str, password: str = "wrong wrong wrong", **headers: str) -> Any:
    return client.post(f"{API}/session", json={"name": name, "password": password}, headers=headers)


# Sessions


def test_a_planted_cookie_is_not_taken_over(browser: Browser, service: Service) -> None:
    """Session fixation: the attacker knows a cookie before the victim signs in."""
    attacker = browser("mallory", "steward")
    for planted in ("planted", attacker.cookies["velado"]):
        victim = browser()
        victim.cookies.set("velado", planted, domain="127.0.0.1", path="/")
        with service.store.writing() as db:
            if users.find(db, "ana") is None:
                users.create(db, "ana", ["steward"], password=PASSWORD)
        answer = signing_in(victim, "ana", PASSWORD)
        assert answer.status_code == 201
        fresh = re.search("velado=([^;]+)", answer.headers["set-cookie"])[1]  # type: ignore[index]
        assert fresh != planted
        attacker.cookies.clear()
        attacker.cookies.set("velado", planted)
        assert attacker.get(f"{API}/session").status_code == 401
    with service.store.reading() as db:
        assert {db.get_one(User, s.user_id).name for s in db.scalars(select(Session))} == {"ana"}


@pytest.mark.both_stores
def test_two_sign_ins_are_two_sessions(browser: Browser) -> None:
    one, two = browser("ana", "steward"), browser("ana")
    assert one.cookies["velado"] != two.cookies["velado"]
    assert one.headers["X-CSRF-Token"] != two.headers["X-CSRF-Token"]
    assert one.delete(f"{API}/session", headers={"X-CSRF-Token": two.headers["X-CSRF-Token"]}).status_code == 403
    assert one.delete(f"{API}/session").status_code == 204
    assert two.get(f"{API}/session").status_code == 200


FORGED: list[dict[str, Any]] = [
    {"X-CSRF-Token": ""},
    {"X-CSRF-Token": "0" * 64},
    {"X-CSRF-Token": "ñ".encode()},
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1:9999"},
    {"Origin": "http://127.0.0.1.evil.example"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
]


def test_requests_that_another_site_forged(browser: Browser) -> None:
    ana = browser("ana", "steward")
    for headers in FORGED:
        sent = [
            ana.put(f"{API}/session", json={"full_name": "Mallory"}, headers=headers),
            ana.post(f"{API}/tokens", json={"name": "x", "scopes": ["read"]}, headers=headers),
            ana.delete(f"{API}/session", headers=headers),
            ana.patch(f"{API}/users/{ana.user_id}", json={}, headers=headers),  # type: ignore[attr-defined]
        ]
        assert [code(answer) for answer in sent] == [(403, "forged-request")] * 4, headers
    del ana.headers["X-CSRF-Token"]
    assert code(ana.put(f"{API}/session", json={"full_name": "Mallory"})) == (403, "forged-request")
    assert ana.get(f"{API}/session").json()["full_name"] == ""
    assert ana.get(f"{API}/tokens").json()["items"] == []


def test_the_own_pages_are_no_other_site(browser: Browser) -> None:
    ana = browser("ana", "steward")
    own = {"Origin": "http://127.0.0.1", "Sec-Fetch-Site": "same-origin"}
    assert ana.put(f"{API}/session", json={"full_name": "Ana"}, headers=own).status_code == 200
    assert ana.put(f"{API}/session", json={"full_name": "Ana"}).status_code == 200


def test_nobody_is_signed_in_by_another_site(browser: Browser, service: Service) -> None:
    """Forging the sign-in itself would make the victim work in the attacker's account."""
    browser("mallory", "steward")
    for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        assert code(signing_in(browser(), "mallory", PASSWORD, **headers)) == (403, "forged-request")
        link = browser().post(f"{API}/session/link", json={"token": "x"}, headers=headers)
        assert code(link) == (403, "forged-request")
    plain = browser().post(
        f"{API}/session", content=b'{"name": "mallory", "password": "three blue herons"}', headers={"Content-Type": "text/plain"}
    )
    assert plain.status_code == 422


def test_a_token_in_a_cookie_or_a_cookie_as_a_token_is_nothing(browser: Browser) -> None:
    ana = browser("ana", "steward")
    token = ana.post(f"{API}/tokens", json={"name": "x", "scopes": ["read"]}).json()["token"]
    stranger = browser()
    stranger.cookies.set("velado", token)
    assert stranger.get(f"{API}/session").status_code == 401
    for value in (f"Bearer {ana.cookies['velado']}", f"Basic {token}", token, "Bearer", "Bearer ", f"Bearer {token} x"):
        assert browser().get(f"{API}/session", headers={"Authorization": value}).status_code == 401
    # A wrong token beside a good cookie is a wrong token.
    assert ana.get(f"{API}/session", headers={"Authorization": "Bearer x"}).status_code == 401


def test_cookies_are_kept_from_scripts_and_other_sites(service: Service, cheap: None) -> None:
    with service.store.writing() as db:
        users.create(db, "ana", ["steward"], password=PASSWORD)
    secured = Service(replace(service.settings, url="https://velado.example"), service.store, service.files, service.secrets)
    for served, base, wanted in ((service, "http://127.0.0.1", "velado="), (secured, "https://velado.example", "__Host-velado=")):
        answer = signing_in(TestClient(create_app(served), base_url=base), "ana", PASSWORD)
        cookie = answer.headers["set-cookie"]
        parts = {part.strip().lower() for part in cookie.split(";")[1:]}
        assert cookie.startswith(wanted)
        assert {"httponly", "samesite=lax", "path=/"} <= parts
        assert ("secure" in parts, "strict-transport-security" in answer.headers) == (served is secured,) * 2
        assert not [part for part in parts if part.startswith("domain")]
    plain = {"Origin": "http://velado.example"}
    assert code(signing_in(TestClient(create_app(secured), base_url="https://velado.example"), "ana", PASSWORD, **plain)) == (
        403,
        "forged-request",
    )


# Guessing


def test_who_does_not_exist_is_answered_like_everybody(browser: Browser, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither by the answer nor by the work that it takes can names be found out."""
    with service.store.writing() as db:
        users.create(db, "ana", ["steward"], password=PASSWORD)
        users.create(db, "gone", ["steward"], password=PASSWORD).active = False
        users.create(db, "provided", ["steward"], subject="x#y")
    checked: list[str] = []
    real = passwords.HASHER

    class Counting(PasswordHasher):
        def verify(self, hash: str | bytes, password: str | bytes) -> Any:
            checked.append(str(hash).rsplit("$", 2)[0])
            return real.verify(hash, password)

    monkeypatch.setattr(passwords, "HASHER", Counting(time_cost=1, memory_cost=64, parallelism=1))
    client, said = browser(), []
    for name in ("ana", "gone", "provided", "nobody", "no such name!", "ana\x00", "x" * 200):
        password = PASSWORD if name == "gone" else "wrong wrong wrong"
        answer = signing_in(client, name, password)
        headers = {k: v for k, v in answer.headers.items() if k != "date"}
        said.append((answer.status_code, answer.content, headers))
    assert [one == said[0] for one in said] == [True] * len(said)
    assert said[0][0] == 401
    # One comparison each, at the same price.
    assert checked == ["$argon2id$v=19$m=64,t=1,p=1"] * len(said)


@pytest.mark.both_stores
def test_guessing_is_held_up(browser: Browser, service: Service) -> None:
    with service.store.writing() as db:
        ana = users.create(db, "ana", ["steward"], password=PASSWORD)
    client = browser()
    said = {name: [signing_in(client, name) for _ in range(7)] for name in ("ana", "nobody")}
    for answers in said.values():
        assert [a.status_code for a in answers] == [401] * 5 + [429] * 2
    held = said["ana"][-1]
    assert code(held) == (429, "sign-in-held-up")
    assert 0 < int(held.headers["retry-after"]) <= 15 * 60
    bodies = {re.sub(rb"\d+", b"", answers[-1].content) for answers in said.values()}
    assert len(bodies) == 1
    # Also the right password waits, however the name is written; others do not.
    assert [signing_in(client, name, PASSWORD).status_code for name in ("ana", " ANA ")] == [429, 429]
    browser("eva", "steward")
    with service.store.writing() as db:
        db.execute(update(SignIn).values(expires=now() - timedelta(seconds=1)))
    assert signing_in(client, "ana", PASSWORD).status_code == 201
    with service.store.reading() as db:
        assert list(db.scalars(select(SignIn))) == []
        assert "ana" not in str([(row.key, row.detail) for row in db.scalars(select(SignIn))])
        assert db.get_one(User, ana.id).seen is not None


@pytest.mark.both_stores
def test_success_begins_anew(browser: Browser) -> None:
    browser("ana", "steward")
    client = browser()
    for _ in range(3):
        assert [signing_in(client, "ana").status_code for _ in range(4)] == [401] * 4
        assert signing_in(client, "ana", PASSWORD).status_code == 201


@pytest.mark.both_stores
def test_many_at_once_guess_no_more_often(browser: Browser) -> None:
    browser("ana", "steward")
    client = browser()
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: signing_in(client, "ana").status_code, range(16)))
    assert sorted(answers) == [401] * 5 + [429] * 11


@pytest.mark.both_stores
def test_one_address_tries_only_so_many_names(browser: Browser, service: Service) -> None:
    service = service
    with service.store.writing() as db:
        db.add_all(
            SignIn(kind="failure", key=throttle._key("address", "testclient"), expires=now() + timedelta(minutes=5))
            for _ in range(5 * throttle.PER_ADDRESS - 1)
        )
        users.create(db, "ana", ["steward"], password=PASSWORD)
    client = browser()
    assert signing_in(client, "ana", PASSWORD).status_code == 201
    assert [signing_in(client, f"name{n}").status_code for n in range(2)] == [401, 429]
    # Also links are guessed by nobody, and an own account does not free an address.
    assert code(client.post(f"{API}/session/link", json={"token": "x"})) == (429, "sign-in-held-up")
    assert signing_in(client, "ana", PASSWORD).status_code == 429


@pytest.mark.both_stores
def test_links_are_not_guessed(browser: Browser) -> None:
    client = browser()
    tries = [client.post(f"{API}/session/link", json={"token": f"{n:043}"}) for n in range(5 * throttle.PER_ADDRESS + 2)]
    assert [a.status_code for a in tries] == [401] * 5 * throttle.PER_ADDRESS + [429] * 2
    assert len({a.content for a in tries[:50]}) == 1


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        ("9.9.9.9", None, "9.9.9.9"),
        ("9.9.9.9", "1.1.1.1", "9.9.9.9"),
        ("10.0.0.1", "1.1.1.1", "1.1.1.1"),
        ("10.0.0.1", "6.6.6.6, 1.1.1.1", "1.1.1.1"),
        ("10.0.0.1", "1.1.1.1, 10.0.0.2", "1.1.1.1"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("192.168.7.8", "1.1.1.1, 192.168.1.1", "1.1.1.1"),
        ("2001:db8:1:2:3:4:5:6", None, "2001:db8:1:2::/64"),
        ("10.0.0.1", "x" * 1000, "x" * 64),
    ],
    ids=lambda x: str(x)[:20],
)
def test_only_our_proxies_say_where_a_request_comes_from(peer: str, forwarded: str | None, address: str) -> None:
    """Else who guesses had a new address each time."""
    app = SimpleNamespace(
        state=SimpleNamespace(service=SimpleNamespace(settings=Settings(proxies="10.0.0.1, 10.0.0.2, 192.168.0.0/16")))
    )
    headers = [] if forwarded is None else [(b"x-forwarded-for", forwarded.encode())]
    assert address_of(Request({"type": "http", "app": app, "client": (peer, 1), "headers": headers})) == address


# Hosts and headers


@pytest.mark.parametrize(
    ("url", "host", "known"),
    [
        ("", "127.0.0.1:8788", True),
        ("", "localhost:8788", True),
        ("", "LOCALHOST", True),
        ("", "[::1]:8788", True),
        ("", "evil.example", False),
        ("", "evil.example:8788", False),
        ("", "127.0.0.1.evil.example", False),
        ("", "127.0.0.1@evil.example", False),
        ("", "localhost:8788.evil.example", False),
        ("", "127.0.0.1, evil.example", False),
        ("", "", False),
        ("https://velado.example", "velado.example", True),
        ("https://velado.example", "velado.example:443", True),
        ("https://velado.example", "velado.example:8443", False),
        ("https://velado.example", "127.0.0.1:8788", False),
        ("https://velado.example", "sub.velado.example", False),
        ("https://velado.example:8443/", "velado.example:8443", True),
        ("https://velado.example:8443/", "velado.example", False),
    ],
)
def test_only_the_own_names_are_known(url: str, host: str, known: bool) -> None:
    """A name that was made to lead here (DNS rebinding), or a forged header."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await Response(status_code=204)(scope, receive, send)

    settings = Settings(url=url)
    holder = SimpleNamespace(state=SimpleNamespace(service=SimpleNamespace(settings=settings)))

    async def held(scope: Any, receive: Any, send: Any) -> None:
        await Security(app, settings)({**scope, "app": holder}, receive, send)

    answer = TestClient(held, base_url="http://127.0.0.1").get("/", headers={"Host": host})
    assert answer.status_code == (204 if known else 400)
    if not known:
        assert code(answer) == (400, "bad-host")
        assert "evil" not in answer.text


def test_no_page_answers_to_another_host(browser: Browser) -> None:
    client = browser()
    for address in (f"{API}/health", f"{API}/session", f"{API}/openapi.json", "/", "/nothing"):
        assert code(client.get(address, headers={"Host": "evil.example"})) == (400, "bad-host")


def wanted_headers(answer: Any) -> None:
    headers = answer.headers
    assert headers["content-security-policy"] == CSP
    assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "same-origin")
    assert headers["cross-origin-opener-policy"] == headers["cross-origin-resource-policy"] == "same-origin"
    assert "camera=()" in headers["permissions-policy"]
    assert not [name for name in headers if name.startswith("access-control-")]
    assert not {"server", "x-powered-by"} & set(headers)


def test_every_answer_has_the_headers(service: Service, browser: Browser) -> None:
    app = create_app(service)

    @app.get(f"{API}/broken")
    def broken() -> None:
        raise ValueError("María Pérez 1970-01-01")

    @app.get(f"{API}/cached")
    def cached() -> Response:
        return Response("x", headers={"Cache-Control": "max-age=5", "Access-Control-Allow-Origin": "*"})

    client = TestClient(app, base_url="http://127.0.0.1")
    answers = {
        200: client.get(f"{API}/health"),
        401: client.get(f"{API}/session"),
        404: client.get("/nothing"),
        405: client.request("TRACE", f"{API}/health"),
        413: client.post(f"{API}/session", content=b"x" * 8_000_001),
        422: client.post(f"{API}/session", json={}),
        500: client.get(f"{API}/broken"),
        400: client.get(f"{API}/health", headers={"Host": "evil.example"}),
    }
    for status, answer in answers.items():
        assert answer.status_code == status
        wanted_headers(answer)
        if answer.url.path.startswith("/api/"):
            assert answer.headers["cache-control"] == "no-store"
    assert client.get(f"{API}/cached").headers["cache-control"] == "max-age=5"
    wanted_headers(client.get(f"{API}/cached"))
    wanted_headers(
        client.options(f"{API}/tokens", headers={"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"})
    )


def test_a_fault_tells_nothing(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    app = create_app(service)

    @app.get("/broken")
    def broken() -> None:
        raise ValueError("María Pérez 1970-01-01")

    answer = TestClient(app, base_url="http://127.0.0.1").get("/broken")
    assert code(answer) == (500, "internal-error")
    assert "ValueError" in caplog.text
    assert not re.search("Pérez|1970", answer.text + caplog.text)


NAMES = ['a"; filename="evil.exe', "a\r\nSet-Cookie: velado=x", "paciente ñ 患者.csv", "a\x00b", "../../etc/passwd", "", "x" * 999]


@pytest.mark.parametrize("name", NAMES)
def test_the_name_of_a_download_is_only_a_name(name: str) -> None:
    value = attachment(name)
    value.encode("latin-1")
    assert re.fullmatch(r"attachment; filename=\"[A-Za-z0-9 ._()-]+\"; filename\*=UTF-8''[A-Za-z0-9._~%-]+", value)


def test_no_header_is_injected(service: Service) -> None:
    app = create_app(service)

    @app.get("/header")
    def header(value: str) -> Response:
        response = Response("x")
        response.raw_headers.append((b"x-value", value.encode("latin-1", "replace")))
        return response

    client = TestClient(app, base_url="http://127.0.0.1")
    for value in ("a\r\nSet-Cookie: velado=x", "a\nb", "a\r\n\r\n<script>", "a\x0bb"):
        answer = client.get("/header", params={"value": value})
        assert "set-cookie" not in answer.headers
        assert not re.search(r"[\x00-\x1f]", answer.headers["x-value"])
        assert answer.text == "x"
    for value in ("en\r\nX: 1", "en\x00"):
        answer = client.get(f"{API}/health", headers={"Accept-Language": value.encode()})
        assert "x" not in answer.headers


def test_odd_characters_in_addresses(browser: Browser) -> None:
    root = browser("root", "administrator")
    for address in ("users/%00", "users/a%0d%0ab", "users/%ff", "tokens/%00"):
        assert root.get(f"{API}/{address}").status_code in (404, 405)
    assert code(root.get(f"{API}/users?after=%00")) == (400, "bad-request")


# Bodies


def test_a_body_that_is_too_large(service: Service, browser: Browser) -> None:
    client = browser()
    most = service.settings.body_bytes

    def pieces() -> Iterator[bytes]:
        for _ in range(most // 1_000_000 + 1):
            yield b"x" * 1_000_000

    said = client.post(f"{API}/session", content=b" " * (most + 1), headers={"Content-Type": "application/json"})
    assert code(said) == (413, "body-too-large")
    unsaid = client.post(f"{API}/session", content=pieces(), headers={"Content-Type": "application/json"})
    assert "content-length" not in unsaid.request.headers
    assert code(unsaid) == (413, "body-too-large")
    assert unsaid.headers["connection"] == "close"
    assert code(client.patch(f"{API}/users/x", content=pieces())) == (413, "body-too-large")
    inside = client.post(f"{API}/session", content=b" " * most, headers={"Content-Type": "application/json"})
    assert inside.status_code == 422
    assert client.patch(f"{API}/uploads/x", content=pieces()).status_code in (401, 404)
    assert code(client.patch(f"{API}/uploads/../tokens", content=pieces()))[0] in (405, 413)


def asked(service: Service, app: Any, path: str, messages: list[dict[str, Any]], *, method: str = "POST") -> list[Any]:
    """What an application answers to a body that comes in pieces and never ends."""
    coming, sent = iter(messages), []

    async def receive() -> Any:
        for message in coming:
            return message
        await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "scheme": "http",
        "headers": [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")],
        "client": ("9.9.9.9", 1),
        "root_path": "",
        "http_version": "1.1",
        "server": ("127.0.0.1", 80),
        "asgi": {"version": "3.0"},
    }
    asyncio.run(asyncio.wait_for(app(scope, receive, send), 180))
    return sent


def test_a_body_that_does_not_come_is_not_waited_for(service: Service) -> None:
    quick = Service(replace(service.settings, upload_idle_seconds=1), service.store, service.files, service.secrets)
    start = {"type": "http.request", "body": b"{", "more_body": True}
    sent = asked(quick, create_app(quick), f"{API}/session", [start])
    assert sent[0]["status"] == 408
    assert (b"connection", b"close") in sent[0]["headers"]
    assert b"too-slow" in sent[1]["body"]


def test_a_body_that_drips_is_cut(service: Service) -> None:
    """One byte now and then would keep a connection for ever."""
    quick = Service(replace(service.settings, upload_idle_seconds=1), service.store, service.files, service.secrets)
    read = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        for _ in range(200):
            read.append(await receive())

    async def drip() -> Any:
        await asyncio.sleep(0.05)
        return {"type": "http.request", "body": b"x", "more_body": True}

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    guarded = Security(app, quick.settings)
    holder = FastAPI()
    holder.state.service = quick
    scope = {
        "type": "http",
        "method": "PATCH",
        "path": f"{API}/uploads/x",
        "query_string": b"",
        "headers": [(b"host", b"localhost")],
        "app": holder,
    }
    asyncio.run(guarded(scope, drip, send))
    assert sent[0]["status"] == 408
    assert len(read) < 200


def test_several_hosts_are_none(service: Service) -> None:
    app = create_app(service)
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    for hosts in ([], [b"127.0.0.1", b"evil.example"], [b"127.0.0.1", b"127.0.0.1"]):
        scope = {
            "type": "http",
            "method": "GET",
            "path": f"{API}/health",
            "query_string": b"",
            "headers": [(b"host", h) for h in hosts],
            "root_path": "",
            "app": app,
        }
        asyncio.run(app(scope, receive, send))
        assert sent.pop(0)["status"] == 400
        sent.clear()


@pytest.mark.parametrize(
    ("url", "host", "origin", "ours"),
    [
        ("", "127.0.0.1:8788", "http://127.0.0.1:8788", True),
        ("", "127.0.0.1:8788", "http://127.0.0.1", False),
        ("", "127.0.0.1:8788", "http://localhost:8788", False),
        ("https://Velado.example/", "velado.example", "https://velado.example", True),
        ("https://velado.example:443", "velado.example:443", "https://velado.example", True),
        ("https://velado.example", "velado.example", "http://velado.example", False),
        ("https://velado.example", "evil.example", "https://evil.example", False),
    ],
)
def test_which_pages_are_ours(url: str, host: str, origin: str, ours: bool) -> None:
    assert (origin in own_origins(Settings(url=url), host)) is ours


def test_a_crowd_that_signs_in_does_not_take_all_threads(cheap: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "_room", threading.BoundedSemaphore(1))
    with passwords._turn(), pytest.raises(throttle.HeldUp):
        passwords.verify(None, PASSWORD)
    assert not passwords.verify(None, PASSWORD)
