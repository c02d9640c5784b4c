"""A service with pages and a worker, a browser, people who look, and projects that are made already."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra 'studio' is not installed")
pytest.importorskip("playwright", reason="the package playwright is not installed")

from servers.studio import Studio, running, until
from studio import browsing

pytestmark = pytest.mark.skipif(browsing.chromium() is None, reason="there is no Chromium")


@pytest.fixture(scope="session")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """A service that all browser tests of a process share."""
    with running(tmp_path_factory.mktemp("studio") / "service", sign_in_attempts=1000, jobs_at_once=2) as found:
        yield found


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A browser, once per process."""
    if browsing.chromium() is None:
        pytest.skip("there is no Chromium: install Debian's package chromium, or name one in VELADO_CHROMIUM")
    with browsing.browser() as found:
        yield found


@pytest.fixture
def look(chromium: Any, studio: Studio) -> Iterator[Callable[..., Any]]:
    """A page of somebody who has signed in; at the end nothing wrong may have happened in it."""
    opened: list[tuple[Any, browsing.Watch]] = []

    def make(name: str = "ana", *roles: str, language: str = "en", width: int = 1280, dark: bool = False) -> Any:
        scheme = "dark" if dark else "light"
        context = chromium.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, locale=language, accept_downloads=True
        )
        context.set_default_timeout(browsing.WAIT)
        page = context.new_page()
        opened.append((context, browsing.Watch(page, studio.address)))
        page.goto(browsing.link(studio, name, *roles))
        return page

    yield make
    wrong = [one for _, watch in opened for one in watch.wrong]
    for context, _ in opened:
        context.close()
    assert wrong == []


@pytest.fixture(scope="session")
def api(studio: Studio) -> Any:
    """A client of the service as the user ana."""
    from velado.client import Client

    browsing.link(studio, "ana", "steward")
    return Client(studio.address, _token(studio, "ana"))


@pytest.fixture(scope="session")
def hospital(api: Any) -> dict[str, str]:
    """A project of invented patients with one release, which no test changes: ids of source, project, job and release."""
    return made_project(api, "Hospital")


def made_project(api: Any, name: str, rows: int = 400, *, run: bool = True) -> dict[str, str]:
    """A new project of invented patients that is recoded by the lattice, with a release."""
    source = api.post("/sources", {"name": f"{name} sample", "sample": "hospital", "rows": rows})
    api.follow(source["job"])
    project = api.post("/projects", {"name": name, "source": source["id"]})
    document = {**project["document"], "method": {"lattice": {"suppression": 0.1}}}
    api.put(f"/projects/{project['id']}", {"document": document}, version=project["version"])
    ids = {"source": source["id"], "project": project["id"]}
    if run:
        job = api.submit("run", project=project["id"])
        api.follow(job["id"])
        ids |= {"job": job["id"], "release": api.get(f"/projects/{project['id']}/releases")["items"][0]["id"]}
    return ids


def _token(studio: Studio, name: str) -> str:
    from velado.service.accounts import tokens, users
    from velado.service.permissions import SCOPES
    from velado.service.service import Service
    from velado.service.settings import load

    service = Service.open(load(environment=studio.environment))
    with service.store.writing() as db:
        user = users.find(db, name)
        assert user is not None
        _, text = tokens.make(db, user, "test", tuple(SCOPES), 1)
    service.close()
    return text


__all__ = ["Path", "until"]
