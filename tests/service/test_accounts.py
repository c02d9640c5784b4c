"""Signing in and out, tokens, users, groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from argon2 import PasswordHasher
from fastapi.testclient import TestClient

from velado.service.accounts import passwords, users
from velado.service.service import Service
from velado.service.web.app import create_app

PASSWORD = "three blue herons"


@pytest.fixture(autouse=True)
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "HASHER", PasswordHasher(time_cost=1, memory_cost=64, parallelism=1))


@pytest.fixture
def browser(service: Service) -> Callable[..., TestClient]:
    app = create_app(service)

    def make(name: str | None = None, *roles: str) -> TestClient:
        client = TestClient(app, base_url="http://127.0.0.1")
        if name is not None:
            with service.store.writing() as db:
                if users.find(db, name) is None:
                    users.create(db, name, roles, password=PASSWORD)
            answer = client.post("/api/v1/session", json={"name": name, "password": PASSWORD})
            assert answer.status_code == 201, answer.text
            client.headers["X-CSRF-Token"] = answer.json()["csrf"]
        return client

    return make


def test_signing_in_and_out(browser: Callable[..., TestClient]) -> None:
    ana = browser("ana", "steward")
    me = ana.get("/api/v1/session").json()
    assert (me["name"], me["roles"], me["csrf"]) == ("ana", ["steward"], ana.headers["X-CSRF-Token"])
    cookie = dict(ana.cookies)
    assert ana.delete("/api/v1/session").status_code == 204
    assert not ana.cookies
    ana.cookies.update(cookie)
    assert ana.get("/api/v1/session").status_code == 401
    made = browser("ana").post("/api/v1/tokens", json={"name": "x", "scopes": ["read"]})
    assert made.status_code == 201, made.text
