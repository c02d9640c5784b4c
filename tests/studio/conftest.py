"""A service with pages and a worker, a browser, people who look, and projects that are made already."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra 'studio' is not installed")

from servers.studio import Studio, running
from studio import browser_helpers, page_addresses
from velado.client import Client


def pytest_itemcollected(item: pytest.Item) -> None:
    """What needs a browser is of that part, and nobody need say so."""
    if "chromium" in getattr(item, "fixturenames", ()):
        item.add_marker("browser")


@pytest.fixture(scope="session")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """A service that all browser tests of a process share."""
    folder = tmp_path_factory.mktemp("studio") / "service"
    with running(folder, copying=True, sign_in_attempts=1000, jobs_at_once=2, local_sockets=True) as found:
        yield found


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A browser, once per process."""
    pytest.importorskip("playwright", reason="the package playwright is not installed")
    if browser_helpers.chromium() is None:
        pytest.skip("there is no Chromium: install Debian's package chromium, or name one in VELADO_CHROMIUM")
    with browser_helpers.browser() as found:
        yield found


@pytest.fixture(scope="session")
def windows(chromium: Any, studio: Studio) -> browser_helpers.Windows:
    """Windows of the browser."""
    return browser_helpers.Windows(chromium, studio)


@pytest.fixture
def look(windows: browser_helpers.Windows) -> Iterator[Callable[..., Any]]:
    """A page of somebody who has signed in; at the end nothing wrong may have happened in it."""
    opened: list[browser_helpers.Watch] = []

    def make(name: str = "ana", *roles: str, **how: Any) -> Any:
        page = windows.open(name, *roles, **how)
        opened.append(browser_helpers.Watch(page, windows.studio.address))
        return page

    yield make
    for watch in opened:
        windows.close(watch.page)
    assert [one for watch in opened for one in watch.wrong] == []


@pytest.fixture(scope="session")
def api(studio: Studio) -> Client:
    """A client of the service as the user ana."""
    return Client(studio.address, studio.user("ana", "steward"))


@pytest.fixture(scope="session")
def hospital(api: Client) -> dict[str, str]:
    """A project of invented patients with one release, which no test changes: ids of source, project, job and release."""
    return made_project(api, "Hospital")


@pytest.fixture(scope="session")
def ids(api: Client, hospital: dict[str, str]) -> dict[str, str]:
    """What stands for the names in addresses, about that project."""
    return page_addresses.make_ids(api, hospital)


def made_project(api: Client, name: str, rows: int = 400, *, run: bool = True) -> dict[str, str]:
    """A new project of invented patients that is recoded by the lattice, with a release."""
    source = api.post("/sources", {"name": f"{name} sample", "sample": "hospital", "rows": rows})
    api.follow(source["job"])
    project = api.post("/projects", {"name": name, "source": source["id"]})
    document = {**project["document"], "method": {"lattice": {"suppression": 0.1}}}
    api.put(f"/projects/{project['id']}", {"document": document}, version=project["version"])
    ids = {"source": source["id"], "project": project["id"]}
    return {**ids, **released(api, project["id"])} if run else ids


def copied(api: Client, name: str, project: str) -> dict[str, str]:
    """A project like another one, on the same table, with a release of its own."""
    id = api.post("/projects", {"name": name, "copy_of": project})["id"]
    return {"project": id, **released(api, id)}


def released(api: Client, project: str) -> dict[str, str]:
    """Run a project; its job and its release."""
    job = api.follow(api.submit("run", project=project)["id"])["id"]
    found = api.get(f"/projects/{project}/releases")["items"]
    return {"job": job, "release": next(one["id"] for one in found if one["job"] == job)}
