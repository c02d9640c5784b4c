"""A service, and people with every role who talk to it.

A service is on SQLite. A test marked ``both_stores`` is about what the store does: locks, transactions, JSON, times, order
and search of texts, what goes with what. It runs on PostgreSQL, too, in the part ``stores``.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from functools import cache
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra 'studio' is not installed")

from argon2 import PasswordHasher
from fastapi import FastAPI
from fastapi.testclient import TestClient
from starlette.datastructures import State

from servers import postgresql
from velado.service.access.permissions import SCOPES
from velado.service.accounts import passwords, tokens, users
from velado.service.files import Files
from velado.service.secrets import Secrets
from velado.service.service import Service
from velado.service.settings import Settings, load
from velado.service.store.store import FILE, Store
from velado.service.store.tables import Base, User
from velado.service.web import app
from velado.service.web.app import create_app

NUMBERS = itertools.count()
STORES = ("sqlite", "postgresql")
BOTH = "both_stores"
PASSWORD = "three blue herons"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f"{BOTH}: on PostgreSQL, too")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    chosen = [one.args[0] for one in metafunc.definition.iter_markers("parametrize")]
    if "settings" in metafunc.fixturenames and "settings" not in chosen:
        both = metafunc.definition.get_closest_marker(BOTH) is not None
        metafunc.parametrize("settings", STORES if both else STORES[:1], indirect=True)


@pytest.fixture(autouse=True)
def english(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands of earlier tests may have chosen another language."""
    monkeypatch.setattr("velado.cli.language._chosen", None)


@pytest.fixture(autouse=True, scope="session")
def routes() -> Iterator[None]:
    """The routes of the application are made once: every application shares them, with a service and a guard of its own.

    Who adds pages to them takes an application of their own (``unshared``).
    """
    ready = cache(app._application)

    def application() -> FastAPI:
        made = copy(ready())
        made.state, made.user_middleware, made.middleware_stack = State(), [], None
        return made

    application.unshared = app._application  # type: ignore[attr-defined]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app, "_application", application)
        yield


@pytest.fixture
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Settings of a new, empty service; who wants the service itself gets its tables ready made."""
    folder, ready = tmp_path / "studio", "service" in request.fixturenames
    if request.param == "sqlite":
        return on_sqlite(folder) if ready else load(environment={}, folder=folder)
    database = postgresql.address(database=emptied() if ready else created(f"studio_{next(NUMBERS)}"))
    return load(environment={}, folder=folder, database=database, local_sockets=True)


def on_sqlite(folder: Path) -> Settings:
    """Settings of a new, empty service whose tables are there."""
    folder.mkdir(mode=0o700)
    (folder / FILE).write_bytes(tables_of_sqlite())
    (folder / FILE).chmod(0o600)
    return load(environment={}, folder=folder, local_sockets=True)


def created(database: str) -> str:
    """A new database without tables."""
    with postgresql.connect() as connection:
        connection.execute(f"CREATE DATABASE {database}")
    return database


@cache
def tables_of_sqlite() -> bytes:
    """A store without rows. Making its tables takes longer than most tests, which therefore copy them."""
    with tempfile.TemporaryDirectory() as folder:
        Service.open(load(environment={}, folder=Path(folder)), make=True).close()
        return (Path(folder) / FILE).read_bytes()


@cache
def tables_of_postgresql() -> str:
    """The database of all services, one after the other: making one takes longer than most tests."""
    database = created("studio_of_tests")
    address = postgresql.address(database=database)
    with tempfile.TemporaryDirectory() as folder:
        Service.open(load(environment={}, folder=Path(folder), database=address, local_sockets=True), make=True).close()
    return database


def emptied() -> str:
    """That database, without the rows of the test before; nobody of that test may still be at work in it."""
    database = tables_of_postgresql()
    with postgresql.connect(database=database) as connection:
        others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        connection.execute(f"SELECT pg_terminate_backend(pid, 5000) {others}")
        # In this role rows are not asked who refers to them.
        connection.execute("SET session_replication_role = replica")
        connection.execute("; ".join(f"DELETE FROM {table.name}" for table in Base.metadata.sorted_tables))
    return database


@contextmanager
def opened(settings: Settings) -> Iterator[Service]:
    """The service of settings whose tables are ready made: nobody reads all migrations again."""
    service = Service(settings, Store(settings), Files(settings.folder), Secrets.of(settings, make=True))
    yield service
    service.close()


@pytest.fixture
def service(settings: Settings) -> Iterator[Service]:
    """A service that nobody uses yet."""
    with opened(settings) as service:
        yield service


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, Callable[..., TestClient]]]:
    """A service and its people for all tests of a file, which change nothing that others of them look at."""
    with opened(on_sqlite(tmp_path_factory.mktemp("lasting") / "studio")) as service:
        yield service, people_of(service)


@pytest.fixture
def person(service: Service) -> Callable[..., TestClient]:
    """Make a user with roles, and a client that sends a token of all scopes (or of some)."""
    return people_of(service)


def people_of(service: Service) -> Callable[..., TestClient]:
    served = create_app(service)

    def make(*roles: str, name: str | None = None, scopes: Any = tuple(SCOPES)) -> TestClient:
        with service.store.writing() as db:
            user = User(name=name or f"user{next(NUMBERS)}", roles=list(roles))
            db.add(user)
            db.flush()
            _, text = tokens.make(db, user, "test", scopes, 1)
        client = TestClient(served, headers={"Authorization": f"Bearer {text}"}, base_url="http://127.0.0.1")
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
    served = create_app(service)

    def make(name: str | None = None, *roles: str) -> TestClient:
        client = TestClient(served, base_url=service.settings.url or "http://127.0.0.1")
        if name is not None:
            with service.store.writing() as db:
                user = users.find(db, name) or users.create(db, name, roles, password=PASSWORD)
            answer = client.post("/api/v1/session", json={"name": name, "password": PASSWORD})
            assert answer.status_code == 201, answer.text
            client.headers["X-CSRF-Token"] = answer.json()["csrf"]
            client.user_id = user.id  # type: ignore[attr-defined]
        return client

    return make
