"""Jobs: all of them with their state, cancelling, trying again, deleting; of everybody for administrators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest

from servers.studio import Studio, until
from studio import browser_helpers


@pytest.fixture(scope="module")
def failing(api: Any, hospital: dict[str, str]) -> dict[str, str]:
    """A project whose runs fail, and one that did."""
    document = {**api.get(f"/projects/{hospital['project']}")["document"], "models": [{"k-anonymity": {"k": 100_000}}]}
    project = api.post("/projects", {"name": "Failing", "document": document})["id"]
    job = api.submit("run", project=project)
    until(lambda: api.get(f"/jobs/{job['id']}")["state"] == "failed")
    return {"project": project, "job": job["id"]}


def test_jobs_are_listed_followed_tried_again_and_deleted(
    look: Callable[..., Any], studio: Studio, api: Any, failing: dict[str, str]
) -> None:
    page = look()
    page.goto(f"{studio.address}/jobs")
    row = page.locator(f"#row-{failing['job']}")
    assert "Failing" in row.inner_text()
    assert row.get_by_role("link", name="Failing").get_attribute("href") == f"/projects/{failing['project']}/run"
    assert row.locator(".badge.bad").count() == 1
    assert browser_helpers.axe(page) == []
    page.select_option("#state", "done")
    page.wait_for_url("**/jobs?state=done*")
    page.wait_for_selector(f"#row-{failing['job']}", state="detached")
    page.select_option("#state", "failed")
    row.get_by_role("link", name="Run of a project", exact=True).click()
    page.wait_for_selector("h2:has-text('Log')")
    log = [line["text"] for line in api.get(f"/jobs/{failing['job']}/log")["items"]]
    assert all(text in page.locator("#main").inner_text() for text in log)
    assert browser_helpers.axe(page) == []
    page.get_by_role("button", name="Try again").click()
    page.wait_for_selector("text=to be tried again")
    page.wait_for_selector(".badge.bad")
    page.get_by_role("button", name="Delete").click()
    page.wait_for_url("**/jobs")
    until(lambda: failing["job"] not in [job["id"] for job in api.get("/jobs")["items"]])


def test_nobody_is_led_elsewhere(look: Callable[..., Any], studio: Studio, api: Any, hospital: dict[str, str]) -> None:
    page = look()
    page.goto(f"{studio.address}/jobs")
    csrf = page.locator("meta[name=csrf]").get_attribute("content")
    # A job that has ended stays as it is until it is deleted; one that runs may end before it is cancelled.
    job = api.follow(api.submit("estimate", project=hospital["project"])["id"])
    form = {"csrf": csrf, "back": "https://evil.example/"}
    answer = page.request.post(f"{studio.address}/jobs/{job['id']}/delete", form=form, max_redirects=0)
    assert answer.status == 303
    assert urlsplit(answer.headers["location"])[:3] == ("", "", "/")


def test_administrators_see_that_there_are_jobs(
    look: Callable[..., Any], studio: Studio, api: Any, hospital: dict[str, str]
) -> None:
    job = api.follow(api.submit("estimate", project=hospital["project"])["id"])
    page = look("boss", "administrator")
    page.goto(f"{studio.address}/jobs?kind=estimate")
    row = page.locator(f"#row-{job['id']}")
    assert "ana" in row.inner_text()
    assert "Hospital" not in row.inner_text()
    assert row.get_by_role("button").count() == 0
    assert browser_helpers.axe(page) == []
