"""Signing in through a provider of OpenID Connect, a small one of our own, that can also lie."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from fastapi.testclient import TestClient
from joserfc import jwt
from joserfc.jwk import RSAKey
from sqlalchemy import select, update

from velado.service.accounts import oidc as oidc_of_service
from velado.service.accounts import users
from velado.service.accounts.oidc import local
from velado.service.service import Service
from velado.service.settings import Settings
from velado.service.store.tables import AuditLine, Session, SignIn, User, now
from velado.service.web.app import create_app

API = "/api/v1"
CLIENT, SECRET = "velado client", "s3cret: ñ+/"
KEY, ANOTHER = (RSAKey.generate_key(2048, {"kid": "k1", "use": "sig"}) for _ in range(2))


@dataclass
class Provider:
    """A provider: ``claims`` replace what its ID tokens say, ``key`` and ``header`` how they are signed."""

    issuer: str = ""
    claims: dict[str, Any] = field(default_factory=dict)
    key: Any = field(default_factory=lambda: KEY)
    header: dict[str, Any] = field(default_factory=lambda: {"alg": "RS256", "kid": "k1"})
    metadata: dict[str, Any] = field(default_factory=dict)
    token_status: int = 200
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    bodies: list[dict[str, str]] = field(default_factory=list)

    def authorize(self, address: str) -> dict[str, str]:
        """What the person at the browser does: agree; the answer's parameters."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        code = f"code{len(self.codes)}"
        self.codes[code] = asked
        return {"code": code, "state": asked["state"]}

    def describe(self) -> dict[str, Any]:
        paths = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "keys"}
        return {"issuer": self.issuer, **{n: f"{self.issuer}/{p}" for n, p in paths.items()}, **self.metadata}

    def token(self, form: dict[str, str], authorization: str) -> tuple[int, Any]:
        self.bodies.append(form)
        asked = self.codes.pop(form["code"], None)
        by_header = base64.b64encode(b"velado+client:s3cret%3A+%C3%B1%2B%2F").decode()
        challenge = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).decode().rstrip("=")
        if (
            asked is None
            or challenge != asked["code_challenge"]
            or form["redirect_uri"] != asked["redirect_uri"]
            or (authorization != f"Basic {by_header}" and form.get("client_secret") != SECRET)
        ):
            return 400, {"error": "invalid_grant", "error_description": "private words"}
        moment = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": CLIENT,
            "sub": "subject-1",
            "iat": moment,
            "exp": moment + 300,
            "nonce": asked["nonce"],
            "preferred_username": "ana",
            "name": "Ana Ruiz",
            "email": "ana@clinic.example",
            **self.claims,
        }
        claims = {name: value for name, value in claims.items() if value is not None}
        return self.token_status, {"id_token": signed(self.header, claims, self.key), "access_token": "x", "token_type": "Bearer"}


def signed(header: dict[str, Any], claims: dict[str, Any], key: Any) -> str:
    """An ID token; bytes as a key make what no library would."""
    if not isinstance(key, bytes):
        return jwt.encode(header, claims, key)
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in (header, claims)]
    end = hmac.new(key, b".".join(parts), hashlib.sha256).digest() if key else b""
    return b".".join([*parts, base64.urlsafe_b64encode(end).rstrip(b"=")]).decode()


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[ThreadingHTTPServer, dict[str, Provider]]]:
    current: dict[str, Provider] = {}

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args: Any) -> None: ...

        def answer(self, status: int, body: Any) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:
            provider = current["now"]
            known = {"/.well-known/openid-configuration": provider.describe(), "/keys": {"keys": [KEY.as_dict(private=False)]}}
            self.answer(200 if self.path in known else 404, known.get(self.path, {}))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            self.answer(*current["now"].token(form, self.headers.get("Authorization", "")))

    served = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=served.serve_forever, daemon=True)
    thread.start()
    yield served, current
    served.shutdown()
    served.server_close()


@pytest.fixture
def provider(server: tuple[ThreadingHTTPServer, dict[str, Provider]]) -> Provider:
    served, current = server
    oidc_of_service._discovered.clear()
    current["now"] = Provider(f"http://127.0.0.1:{served.server_port}")
    return current["now"]


@pytest.fixture
def oidc(service: Service, provider: Provider) -> Service:
    return using(service, oidc_issuer=provider.issuer, oidc_client=CLIENT, oidc_secret=SECRET)


def using(service: Service, **changed: Any) -> Service:
    settings: Settings = replace(service.settings, **changed)
    return Service(settings, service.store, service.files, service.secrets)


def browser(service: Service) -> TestClient:
    return TestClient(create_app(service), base_url=service.settings.url or "http://127.0.0.1", follow_redirects=False)


def begin(client: TestClient, **query: str) -> str:
    answer = client.get(f"{API}/session/oidc", params=query)
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def come_back(client: TestClient, answer: dict[str, str]) -> Any:
    return client.get(f"{API}/session/oidc/callback", params=answer)


def code(answer: Any) -> tuple[int, str]:
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    return answer.status_code, answer.json()["code"]


@pytest.mark.both_stores
def test_signing_in_through_a_provider(oidc: Service, provider: Provider) -> None:
    client = browser(oidc)
    address = begin(client, next="/projects?x=1")
    asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
    assert address.startswith(f"{provider.issuer}/authorize?")
    assert (asked["response_type"], asked["code_challenge_method"], asked["client_id"]) == ("code", "S256", CLIENT)
    assert asked["redirect_uri"] == f"http://127.0.0.1{API}/session/oidc/callback"
    kept = client.cookies["velado-oidc"]
    with oidc.store.reading() as db:
        rows = json.dumps([[row.key, row.detail] for row in db.scalars(select(SignIn))])
    assert not [secret for secret in (kept, asked["state"], asked["nonce"]) if secret in rows]
    done = come_back(client, provider.authorize(address))
    assert (done.status_code, done.headers["location"]) == (303, "/projects?x=1")
    assert "velado-oidc" not in client.cookies
    me = client.get(f"{API}/session").json()
    assert (me["name"], me["full_name"], me["roles"], me["local"]) == ("ana", "Ana Ruiz", ["steward"], False)
    assert SECRET not in json.dumps(provider.bodies)
    # The second time it is the same user, whatever the provider calls them now.
    provider.claims = {"preferred_username": "root", "name": "Other"}
    again = browser(oidc)
    assert come_back(again, provider.authorize(begin(again))).headers["location"] == "/"
    assert again.get(f"{API}/session").json()["id"] == me["id"]
    with oidc.store.reading() as db:
        actions = [(line.action, line.detail.get("by")) for line in db.scalars(select(AuditLine).order_by(AuditLine.number))]
    assert actions == [("user.made", "provider"), ("session.opened", "provider"), ("session.opened", "provider")]


@pytest.mark.both_stores
def test_no_local_account_is_taken_over(oidc: Service, provider: Provider) -> None:
    with oidc.store.writing() as db:
        own = [users.create(db, name, ["administrator"], email="ana@clinic.example").id for name in ("ana", "ana-2")]
    client = browser(oidc)
    assert come_back(client, provider.authorize(begin(client))).status_code == 303
    me = client.get(f"{API}/session").json()
    assert (me["name"], me["roles"]) == ("ana-3", ["steward"])
    assert me["id"] not in own


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ({"preferred_username": "María José <script>"}, "maria-jose-script"),
        ({"preferred_username": None}, "ana"),
        ({"preferred_username": None, "email": None}, "user"),
        ({"preferred_username": ["x"], "email": {"a": 1}, "name": 7}, "user"),
        ({"preferred_username": "患者", "name": "a\r\nb\x00"}, "user"),
    ],
)
def test_names_of_a_provider_become_plain(said: dict[str, Any], name: str, oidc: Service, provider: Provider) -> None:
    provider.claims = said
    client = browser(oidc)
    assert come_back(client, provider.authorize(begin(client))).status_code == 303
    me = client.get(f"{API}/session").json()
    assert me["name"] == name
    assert me["full_name"].isprintable()


LIES: dict[str, dict[str, Any]] = {
    "wrong nonce": {"claims": {"nonce": "0" * 64}},
    "no nonce": {"claims": {"nonce": None}},
    "wrong audience": {"claims": {"aud": "another client"}},
    "several audiences": {"claims": {"aud": [CLIENT, "another client"]}},
    "other party": {"claims": {"azp": "another client"}},
    "no audience": {"claims": {"aud": None}},
    "wrong issuer": {"claims": {"iss": "https://evil.example"}},
    "expired": {"claims": {"exp": int(time.time()) - 3600, "iat": int(time.time()) - 7200}},
    "no end": {"claims": {"exp": None}},
    "from the future": {"claims": {"iat": int(time.time()) + 36000, "nbf": int(time.time()) + 36000}},
    "no subject": {"claims": {"sub": None}},
    "empty subject": {"claims": {"sub": ""}},
    "odd subject": {"claims": {"sub": ["subject-1"]}},
    "wrong signature": {"key": ANOTHER},
    "unknown key": {"key": ANOTHER, "header": {"alg": "RS256", "kid": "k9"}},
    "the public key as a secret": {"key": KEY.as_pem(private=False), "header": {"alg": "HS256", "kid": "k1"}},
    "no signature": {"key": b"", "header": {"alg": "none"}},
    "no signature, but a key": {"key": b"", "header": {"alg": "none", "kid": "k1"}},
}


def test_lies_of_a_provider(oidc: Service, provider: Provider) -> None:
    app, usual = create_app(oidc), dict(vars(provider))
    said = {}
    for lie, changed in LIES.items():
        vars(provider).update(usual | changed)
        client = TestClient(app, base_url="http://127.0.0.1", follow_redirects=False)
        said[lie] = code(come_back(client, provider.authorize(begin(client))))
        assert "velado" not in client.cookies, lie
    assert said == dict.fromkeys(LIES, (403, "oidc-refused"))
    with oidc.store.reading() as db:
        assert (list(db.scalars(select(User))), list(db.scalars(select(Session)))) == ([], [])
    vars(provider).update(usual)
    assert come_back(client, provider.authorize(begin(client))).status_code == 303


@pytest.mark.both_stores
def test_a_state_works_once_and_in_its_browser(oidc: Service, provider: Provider) -> None:
    client, other = browser(oidc), browser(oidc)
    answer = provider.authorize(begin(client))
    begin(other)
    # Somebody else's answer is planted: the attacker's account would be the victim's.
    assert code(come_back(other, answer)) == (400, "oidc-state")
    assert code(come_back(client, answer)) == (400, "oidc-state")
    answer = provider.authorize(begin(client))
    kept = client.cookies["velado-oidc"]
    assert come_back(client, answer).status_code == 303
    client.cookies.set("velado-oidc", kept)
    assert code(come_back(client, answer)) == (400, "oidc-state")
    for odd in ({}, {"state": ""}, {"state": "x", "code": "y"}, {"code": "y"}, {"error": "<script>"}):
        assert code(come_back(client, odd)) == (400, "oidc-state")
    answer = provider.authorize(begin(client))
    with oidc.store.writing() as db:
        db.execute(update(SignIn).values(expires=now()))
    assert code(come_back(client, answer)) == (400, "oidc-state")


def test_what_a_provider_refuses(oidc: Service, provider: Provider) -> None:
    client = browser(oidc)
    answer = provider.authorize(begin(client))
    refused = come_back(client, {"state": answer["state"], "error": "access_denied", "error_description": "private words"})
    assert code(refused) == (403, "oidc-refused")
    assert "private" not in refused.text
    answer = provider.authorize(begin(client))
    refused = come_back(client, {**answer, "code": "another"})
    assert code(refused) == (403, "oidc-refused")
    assert "private" not in refused.text
    assert code(come_back(client, {**provider.authorize(begin(client)), "iss": "https://evil.example"})) == (400, "oidc-state")
    provider.token_status = 500
    assert code(come_back(client, provider.authorize(begin(client)))) == (503, "oidc-unavailable")


def test_who_is_not_active_stays_out(oidc: Service, provider: Provider) -> None:
    client = browser(oidc)
    assert come_back(client, provider.authorize(begin(client))).status_code == 303
    with oidc.store.writing() as db:
        db.execute(update(User).values(active=False))
    client = browser(oidc)
    assert code(come_back(client, provider.authorize(begin(client)))) == (403, "oidc-refused")
    assert "velado" not in client.cookies


@pytest.mark.parametrize(
    ("address", "ours"),
    [
        ("/", True),
        ("/projects/1?a=b#c", True),
        ("//evil.example", False),
        ("/\\evil.example", False),
        ("https://evil.example", False),
        ("javascript:alert(1)", False),
        ("/a\r\nSet-Cookie: x", False),
        ("/\t/evil.example", False),
        ("", False),
        ("/" + "x" * 600, False),
    ],
)
def test_only_own_pages_follow(address: str, ours: bool) -> None:
    assert local(address) is ours


def test_no_other_site_follows(oidc: Service, provider: Provider) -> None:
    client = browser(oidc)
    assert come_back(client, provider.authorize(begin(client, next="//evil.example"))).headers["location"] == "/"


def test_behind_a_proxy_the_address_is_the_one_of_the_settings(oidc: Service, provider: Provider) -> None:
    client = browser(using(oidc, url="https://velado.example"))
    answer = client.get(f"{API}/session/oidc", headers={"X-Forwarded-Host": "evil.example"})
    asked = parse_qs(urlsplit(answer.headers["location"]).query)
    assert asked["redirect_uri"] == [f"https://velado.example{API}/session/oidc/callback"]
    cookie = answer.headers["set-cookie"].lower()
    assert cookie.startswith("__host-velado-oidc=")
    assert all(part in cookie for part in ("secure", "httponly", "samesite=lax", "path=/", "max-age=600"))


@pytest.mark.parametrize(
    ("metadata", "works"),
    [
        ({}, True),
        ({"issuer": "https://evil.example"}, False),
        ({"token_endpoint": None}, False),
        ({"jwks_uri": "http://evil.example/keys"}, False),
        ({"authorization_endpoint": "javascript:alert(1)"}, False),
        ({"token_endpoint_auth_methods_supported": ["client_secret_post"]}, True),
    ],
)
def test_the_test_of_a_provider(
    metadata: dict[str, Any], works: bool, oidc: Service, provider: Provider, person: Callable[..., TestClient]
) -> None:
    provider.metadata = metadata
    root, client = person("administrator"), browser(oidc)
    client.headers["Authorization"] = root.headers["Authorization"]
    tested = client.get(f"{API}/settings/oidc-test").json()
    assert (tested["works"], tested["steps"]["set"], bool(tested["problem"])) == (works, True, not works)
    del client.headers["Authorization"]
    answer = client.get(f"{API}/session/oidc")
    if not works:
        assert code(answer) == (503, "oidc-unavailable")
        return
    assert come_back(client, provider.authorize(answer.headers["location"])).status_code == 303


def test_without_a_provider(service: Service, person: Callable[..., TestClient]) -> None:
    root = person("administrator")
    assert code(root.get(f"{API}/session/oidc")) == (409, "no-oidc")
    tested = root.get(f"{API}/settings/oidc-test").json()
    assert (tested["works"], tested["steps"]["set"]) == (False, False)
    for issuer in ("http://login.example", "ftp://x", "file:///etc/passwd"):
        plain = browser(using(service, oidc_issuer=issuer, oidc_client="x"))
        assert code(plain.get(f"{API}/session/oidc")) == (409, "no-oidc")
    gone = browser(using(service, oidc_issuer="http://127.0.0.1:9", oidc_client="x"))
    assert code(gone.get(f"{API}/session/oidc")) == (503, "oidc-unavailable")
