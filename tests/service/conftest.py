"""A service on SQLite and on PostgreSQL, and people with every role who talk to it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra 'studio' is not installed")

from argon2 import PasswordHasher
from fastapi.testclient import TestClient

from servers import postgresql
from velado.service.accounts import passwords, tokens, users
from velado.service.permissions import SCOPES
from velado.service.service import Service
from velado.service.settings import Settings, load
from velado.service.store.tables import User
from velado.service.web.app import create_app

NUMBERS = itertools.count()
STORES = ("sqlite", "postgresql")
PASSWORD = "three blue herons"


@pytest.fixture(autouse=True)
def english(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands of earlier tests may have chosen another language."""
    monkeypatch.setattr("velado.cli.language._chosen", None)


@pytest.fixture(params=STORES)
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Settings of a new, empty service on each kind of store."""
    database = ""
    if request.param == "postgresql":
        name = f"studio_{next(NUMBERS)}_{tmp_path.name.replace('-', '_').lower()[-20:]}"
        with postgresql.connect() as connection:
            connection.execute(f'CREATE DATABASE "{name}"')
        database = postgresql.address(database=name)
    return load(environment={}, folder=tmp_path / "studio", database=database, local_sockets=True)


@pytest.fixture
def service(settings: Settings) -> Iterator[Service]:
    """A service that nobody uses yet."""
    service = Service.open(settings, make=True)
    yield service
    service.close()


@pytest.fixture
def person(service: Service) -> Callable[..., TestClient]:
    """Make a user with roles, and a client that sends a token of all scopes (or of some)."""
    app = create_app(service)

    def make(*roles: str, name: str | None = None, scopes: Any = tuple(SCOPES)) -> TestClient:
        with service.store.writing() as db:
            user = User(name=name or f"user{next(NUMBERS)}", roles=list(roles))
            db.add(user)
            db.flush()
            _, text = tokens.make(db, user, "test", scopes, 1)
        client = TestClient(app, headers={"Authorization": f"Bearer {text}"}, base_url="http://127.0.0.1")
        client.user_id = user.id  # type: ignore[attr-defined]
        return client

    return make


@pytest.fixture
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passwords cost little."""
    monkeypatch.setattr(passwords, "HASHER", PasswordHasher(time_cost=1, memory_cost=64, parallelism=1))


@pytest.fixture
def browser(service: Service, cheap: None) -> Callable[..., TestClient]:
    """A browser: of nobody, or of a user who has signed in with `PASSWORD`."""
    app = create_app(service)

    def make(name: str | None = None, *roles: str) -> TestClient:
        client = TestClient(app, base_url=service.settings.url or "http://127.0.0.1")
        if name is not None:
            with service.store.writing() as db:
                user = users.find(db, name) or users.create(db, name, roles, password=PASSWORD)
            answer = client.post("/api/v1/session", json={"name": name, "password": PASSWORD})
            assert answer.status_code == 201, answer.text
            client.headers["X-CSRF-Token"] = answer.json()["csrf"]
            client.user_id = user.id  # type: ignore[attr-defined]
        return client

    return make
