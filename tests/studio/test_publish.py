"""Publish: reports, proof, approval, withdrawal, where the next release goes; the project as a file; its history."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from servers.studio import Studio, until
from studio import browser_helpers
from studio.conftest import copied


@pytest.fixture
def own(api: Any, hospital: dict[str, str]) -> dict[str, str]:
    """A project of one test, with a release."""
    return copied(api, "Published", hospital["project"])


def test_a_release_is_reported_proved_and_downloaded(
    look: Callable[..., Any], studio: Studio, api: Any, own: dict[str, str], tmp_path: Path
) -> None:
    page = look()
    page.goto(f"{studio.address}/projects/{own['project']}/publish")
    assert page.locator(".badge", has_text="verified").count() == 1
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the data").click()
    got = tmp_path / "got.csv"
    download.value.save_as(got)
    api.download(f"/releases/{own['release']}/data", tmp_path / "same.csv")
    assert got.read_bytes() == (tmp_path / "same.csv").read_bytes()
    digest = hashlib.sha256(got.read_bytes()).hexdigest()
    assert digest in page.locator("#main").inner_text()
    page.get_by_label("Español").check()
    page.get_by_label("XLSX").check()
    page.get_by_role("button", name="Write the report").click()
    page.wait_for_selector("td:has-text('XLSX')")
    wanted = {(f, lang) for f in ("html", "xlsx") for lang in ("en", "es")}
    written = {(r["format"], r["language"]) for r in api.get(f"/releases/{own['release']}/reports")["items"]}
    assert written == wanted
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Look at it (HTML, Español").click()
    opened.value.wait_for_load_state()
    assert "k-anonimato" in opened.value.locator("body").inner_text()
    assert browser_helpers.axe(page) == []


def test_where_the_next_release_goes(look: Callable[..., Any], studio: Studio, api: Any, own: dict[str, str]) -> None:
    page = look()
    page.goto(f"{studio.address}/projects/{own['project']}/publish")
    page.select_option("#format", "parquet")
    page.select_option("#order", "sorted")
    page.get_by_role("button", name="Save").click()
    page.wait_for_selector("#said .notice")
    document = api.get(f"/projects/{own['project']}")["document"]
    assert document["output"] == {"format": "parquet", "order": "sorted"}
    assert page.input_value("#format") == "parquet"
    page.get_by_role("button", name="Undo").click()
    until(lambda: "output" not in api.get(f"/projects/{own['project']}")["document"])


@pytest.mark.quick
def test_two_people_publish(look: Callable[..., Any], studio: Studio, api: Any, own: dict[str, str]) -> None:
    """A second person approves; who made it cannot; withdrawn, it is gone for everybody."""
    studio.user("vera", "steward")
    api.put(f"/projects/{own['project']}/members", {"user": "vera", "role": "approver"})
    vera = look("vera", "steward")
    vera.goto(f"{studio.address}/projects/{own['project']}/publish")
    vera.get_by_role("button", name="Approve").click()
    vera.wait_for_selector(".badge:has-text('approved')")
    assert api.get(f"/releases/{own['release']}")["state"] == "approved"
    ana = look()
    ana.goto(f"{studio.address}/projects/{own['project']}/publish")
    assert ana.get_by_role("button", name="Approve").count() == 0
    ana.get_by_role("button", name="Withdraw …").click()
    ana.locator("#withdraw").get_by_role("button", name="Withdraw").click()
    ana.wait_for_selector(".badge:has-text('withdrawn')")
    assert ana.get_by_role("link", name="Download the data").count() == 0
    assert api.get(f"/releases/{own['release']}")["state"] == "withdrawn"


def test_the_project_as_a_file_runs_the_same(
    look: Callable[..., Any], studio: Studio, api: Any, own: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow.csv
    import pyarrow.parquet

    import velado
    from velado.samples import hospital

    page = look()
    page.goto(f"{studio.address}/projects/{own['project']}/file")
    text = page.locator("#yaml-text").inner_text()
    document = yaml.safe_load(text)
    assert document["columns"] == api.get(f"/projects/{own['project']}")["document"]["columns"]
    # The sample that the service made, under the name that the file has for it.
    monkeypatch.chdir(tmp_path)
    table = hospital(400)
    name = document["source"]["path"]
    pyarrow.csv.write_csv(table, f"{name}.csv")
    python = page.locator("#python-text").inner_text().replace(repr(name), repr(f"{name}.csv"))
    there: dict[str, Any] = {}
    exec(compile(python, "as-file", "exec"), there)
    release = there["release"]
    figures = api.get(f"/releases/{own['release']}/evaluation")
    assert release.levels == figures["levels"]
    assert release.as_dict()["classes"] == figures["classes"]
    Path("project.yaml").write_text(text.replace(f"path: {name}\n", f"path: {name}.csv\n"))
    assert velado.run("project.yaml").levels == figures["levels"]
    assert "velado run Published.yaml" in page.locator("#command-text").inner_text()
    assert browser_helpers.axe(page) == []


def test_the_project_can_be_edited_as_a_text(look: Callable[..., Any], studio: Studio, api: Any, own: dict[str, str]) -> None:
    page = look()
    page.goto(f"{studio.address}/projects/{own['project']}/file")
    page.get_by_text("Edit the project as a text").click()
    text = page.input_value("#document")
    page.fill("#document", text.replace("k: 5", "k: 7"))
    page.get_by_role("button", name="Save").click()
    page.locator("#said .notice").wait_for()
    assert api.get(f"/projects/{own['project']}")["document"]["models"][0] == {"k-anonymity": {"k": 7}}
    page.fill("#document", "a: [")
    page.get_by_role("button", name="Save").click()
    page.wait_for_selector("#refused[open]")
    assert "not valid YAML" in page.locator("#refused").inner_text()
    page.get_by_role("button", name="Back to the page").click()
    assert page.input_value("#document") == "a: ["
    page.goto(f"{studio.address}/projects/{own['project']}/history")
    assert "models" in page.locator("tbody tr").first.inner_text()
    page.get_by_role("button", name="Go back to it").first.click()
    page.wait_for_selector("#said .notice")
    assert api.get(f"/projects/{own['project']}")["document"]["models"][0] == {"k-anonymity": {"k": 5}}
    assert browser_helpers.axe(page) == []


def test_deleting_a_release(look: Callable[..., Any], studio: Studio, api: Any, own: dict[str, str]) -> None:
    page = look()
    page.goto(f"{studio.address}/projects/{own['project']}/publish")
    page.get_by_role("button", name="Delete …").click()
    page.locator("#delete-release").get_by_role("button", name="Delete").click()
    page.wait_for_selector(".empty")
    assert api.get(f"/projects/{own['project']}/releases")["items"] == []
    assert own["release"] not in page.content()
