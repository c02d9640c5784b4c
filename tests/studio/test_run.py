"""Run: from Privacy to a verified release by keyboard, the nearest settings where there is no solution, cancelling, and processes that die."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from servers.studio import Studio, running, until
from studio import browser_helpers
from studio.conftest import made_project
from velado.client import Client

AGES = [("31", "flu"), ("34", "flu"), ("37", "flu"), ("52", "ulcer"), ("55", "ulcer"), ("71", "angina")]


@pytest.fixture(scope="module")
def own(api: Any, hospital: dict[str, str]) -> dict[str, str]:
    """A project that has not run."""
    return {"project": api.post("/projects", {"name": "Running", "copy_of": hospital["project"]})["id"]}


@pytest.fixture(scope="module")
def small(api: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A table of six people whose ages have no label for all of them."""
    path = tmp_path_factory.mktemp("ages") / "ages.csv"
    path.write_text("age,illness\n" + "\n".join(",".join(row) for row in AGES) + "\n")
    source = api.post("/sources", {"name": "Ages", "upload": api.upload(path)})
    api.follow(source["job"])
    return str(source["id"])


def reach(page: Any, selector: str) -> None:
    """Go to an element with the tabulator alone."""
    for _ in range(150):
        if page.evaluate("selector => document.activeElement?.matches(selector) || false", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{selector} is not reached")


def test_from_privacy_to_a_verified_release_by_keyboard(
    look: Callable[..., Any], studio: Studio, api: Any, own: dict[str, str]
) -> None:
    page = look()
    page.goto(f"{studio.address}/projects/{own['project']}/privacy")
    reach(page, "#model-0-k")
    page.keyboard.press("Control+a")
    page.keyboard.type("4")
    page.keyboard.press("Tab")
    until(lambda: api.get(f"/projects/{own['project']}")["document"]["models"][0] == {"k-anonymity": {"k": 4}})
    reach(page, "a[href$='/run'].main")
    page.keyboard.press("Enter")
    page.wait_for_url("**/run")
    page.wait_for_selector("#checks .badge.good")
    page.wait_for_selector("dt:has-text('Different combinations')")
    reach(page, "main form[action$='/run'] button")
    page.keyboard.press("Enter")
    page.wait_for_selector("h2 .badge.good:has-text('Verified')")
    (release,) = api.get(f"/projects/{own['project']}/releases")["items"]
    assert release["version"] == 2
    assert all(model["satisfied"] for model in release["summary"]["models"])
    assert release["summary"]["class_size"]["min"] >= 4
    shown = page.locator(".stats").inner_text()
    assert str(release["summary"]["released"]) in shown
    assert page.get_by_role("link", name="See the result").get_attribute("href").endswith(f"release={release['id']}")
    assert page.locator("tbody .badge.good").count() == len(release["summary"]["models"])
    page.locator("summary", has_text="What it did").click()
    assert "verifying what was written" in page.locator(".stages").inner_text()
    assert browser_helpers.axe(page) == []


def made(api: Any, name: str, source: str, k: int, hierarchy: dict[str, Any] | None, suppression: float) -> str:
    column = {"role": "quasi-identifier", **({"hierarchy": hierarchy} if hierarchy else {})}
    document = {
        "velado": 1,
        "source": {"source": source},
        "columns": {"age": column, "illness": "sensitive"},
        "models": [{"k-anonymity": {"k": k}}],
        "method": {"lattice": {"suppression": suppression}},
    }
    return str(api.post("/projects", {"name": name, "document": document})["id"])


def test_a_k_that_is_impossible(look: Callable[..., Any], studio: Studio, api: Any, small: str) -> None:
    """The settings that the table can reach are one click away."""
    project = made(api, "Too much", small, 100, None, 0.0)
    page = look()
    page.goto(f"{studio.address}/projects/{project}/run")
    page.get_by_role("button", name="Start the run").click()
    page.wait_for_selector("text=There is no solution with these settings")
    assert browser_helpers.axe(page) == []
    page.get_by_role("button", name="k-anonymity: k ≥ 6 instead of k ≥ 100, and run again").click()
    page.wait_for_selector("h2 .badge.good:has-text('Verified')")
    assert api.get(f"/projects/{project}")["document"]["models"] == [{"k-anonymity": {"k": 6}}]
    (release,) = api.get(f"/projects/{project}/releases")["items"]
    assert (release["summary"]["models"][0]["achieved"], release["summary"]["suppressed"]) == (6, 0)
    assert page.locator("section:has(#earlier) tbody tr").count() == 1


def test_the_nearest_suppression(look: Callable[..., Any], studio: Studio, api: Any, small: str) -> None:
    project = made(api, "Too little", small, 2, {"intervals": [10, 20], "top": False}, 0.1)
    failed = api.submit("run", project=project)
    until(lambda: api.get(f"/jobs/{failed['id']}")["state"] == "failed")
    nearest = api.get(f"/jobs/{failed['id']}")["error"]["fields"]["nearest"]
    page = look("ana", language="es")
    page.goto(f"{studio.address}/projects/{project}/run")
    page.locator("button[name=way][value=suppression]").click()
    page.wait_for_selector("h2 .badge.good")
    limit = api.get(f"/projects/{project}")["document"]["method"]["lattice"]["suppression"]
    assert nearest["suppression"] <= limit < nearest["suppression"] + 0.0001
    (release,) = api.get(f"/projects/{project}/releases")["items"]
    assert release["summary"]["suppressed"] == nearest["suppressed"]


def test_a_column_that_singles_people_out(look: Callable[..., Any], studio: Studio, api: Any, own: dict[str, str]) -> None:
    """What is refused has ways out, too."""
    document = api.get(f"/projects/{own['project']}")["document"]
    document["columns"]["name"] = {"role": "insensitive"}
    project = api.post("/projects", {"name": "Disguised", "document": document})["id"]
    page = look()
    page.goto(f"{studio.address}/projects/{project}/run")
    page.get_by_role("button", name="Start the run").click()
    page.wait_for_selector("text=The run was refused")
    assert page.get_by_role("link", name="Mend it: Columns").count() == 1
    page.get_by_role("button", name="Leave “name” out, and run again").click()
    page.wait_for_selector("h2 .badge.good:has-text('Verified')")
    assert api.get(f"/projects/{project}")["document"]["columns"]["name"] == {"role": "identifier", "operation": "drop"}


def long(api: Any, own: dict[str, str], name: str, restarts: int) -> str:
    """A project whose search takes long: many starts of a clustering."""
    document = api.get(f"/projects/{own['project']}")["document"]
    document["columns"] = {"cost": "quasi-identifier", "diagnosis": "sensitive"}
    document |= {"rest": "drop", "models": [{"k-anonymity": {"k": 2}}]}
    document["method"] = {"fuzzy": {"restarts": restarts, "sets": 40, "suppression": 1.0}}
    return str(api.post("/projects", {"name": name, "document": document})["id"])


def test_cancelling(look: Callable[..., Any], studio: Studio, api: Any, own: dict[str, str]) -> None:
    project = long(api, own, "Long", 1000)
    page = look()
    page.goto(f"{studio.address}/projects/{project}/run")
    page.get_by_role("button", name="Start the run").click()
    page.wait_for_selector(".stages .goes")
    page.wait_for_selector("progress")
    assert browser_helpers.axe(page) == []
    page.get_by_role("button", name="Cancel").click()
    page.wait_for_selector("text=The run was cancelled")
    (job,) = api.get("/jobs", project=project, kind="run")["items"]
    assert job["state"] == "cancelled"
    assert api.get(f"/projects/{project}/releases")["items"] == []
    assert browser_helpers.axe(page) == []


# Processes that die


@pytest.fixture(scope="module")
def mortal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """A service whose processes are killed."""
    with running(tmp_path_factory.mktemp("mortal") / "service", lease_seconds=2) as found:
        yield found


@pytest.fixture(scope="module")
def client(mortal: Studio) -> Client:
    return Client(mortal.address, mortal.user("ana", "steward"))


@pytest.fixture
def page(chromium: Any, mortal: Studio) -> Any:
    """A page of that service."""
    windows = browser_helpers.Windows(chromium, mortal)
    page = windows.open()
    yield page
    windows.close(page)


@pytest.fixture(scope="module")
def theirs(client: Client) -> dict[str, str]:
    return made_project(client, "Mortal", run=False)


def test_a_service_that_is_killed_under_a_page(page: Any, mortal: Studio, client: Client, theirs: dict[str, str]) -> None:
    """A bar says so, what is half typed stays, and goes on when the service is back."""
    page.goto(f"{mortal.address}/projects/{theirs['project']}/privacy")
    page.wait_for_selector("#checks .badge.good")
    page.fill("#model-0-k", "6")
    assert mortal.web is not None
    mortal.web.kill()
    mortal.web.wait()
    page.press("#model-0-k", "Tab")
    page.wait_for_selector("#away:not([hidden])")
    page.fill("#method-suppression", "33")
    assert page.input_value("#model-0-k") == "6"
    mortal.start_web()
    page.wait_for_selector("#away", state="hidden")
    # What is saved at every change is sent again by itself; what was typed since is still there.
    until(lambda: client.get(f"/projects/{theirs['project']}")["document"]["models"][0] == {"k-anonymity": {"k": 6}})
    page.wait_for_selector("#model-0 .requirement:has-text('k ≥ 6')")
    assert page.input_value("#method-suppression") == "33"
    page.press("#method-suppression", "Tab")
    until(lambda: client.get(f"/projects/{theirs['project']}")["document"]["method"]["lattice"]["suppression"] == 0.33)


def test_a_worker_that_is_killed_during_a_run(page: Any, mortal: Studio, client: Client, theirs: dict[str, str]) -> None:
    """The second attempt finishes, and the page has followed it all the time."""
    project = long(client, theirs, "Second attempt", 60)
    page.goto(f"{mortal.address}/projects/{project}/run")
    page.get_by_role("button", name="Start the run").click()
    page.wait_for_selector(".stages .goes")
    worker = mortal.workers.pop()
    for process in (*children(worker.pid), worker.pid):
        os.kill(process, signal.SIGKILL)
    worker.wait()
    mortal.start_worker()
    page.wait_for_selector("h2 .badge.good:has-text('Verified')")
    (job,) = client.get("/jobs", project=project, kind="run")["items"]
    assert (job["state"], job["attempt"]) == ("done", 2)
    assert len(client.get(f"/projects/{project}/releases")["items"]) == 1
    page.goto(f"{mortal.address}/jobs/{job['id']}")
    assert "attempt 2" in page.locator("#main").inner_text()


def children(parent: int) -> list[int]:
    """Processes that a process has started."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == parent:
                found += [*children(int(entry.name)), int(entry.name)]
    return found
