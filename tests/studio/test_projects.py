"""The list of projects, and projects that come from elsewhere."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from servers.studio import Studio, until
from studio import browser_helpers

Look = Callable[..., Any]
FILE = """
name: ward
source: patients.csv
columns:
  age: {role: quasi-identifier, hierarchy: {intervals: [5, 10]}}
  diagnosis: sensitive
rest: drop
models:
  - {k-anonymity: {k: 7}}
output: ward.csv
"""


def test_searched_named_copied_deleted(look: Look, studio: Studio, api: Any) -> None:
    for name in ("Zebra one", "zebra two"):
        api.post("/projects", {"name": name, "yaml": FILE})
    page = look()
    page.goto(f"{studio.address}/projects")
    assert browser_helpers.axe(page) == []
    page.fill("#search", "ZEBRA")
    rows = page.locator("tbody tr")
    until(lambda: rows.count() == 2)
    assert rows.first.inner_text().count("owner") == 1
    assert "not run yet" in rows.first.inner_text()
    # By keyboard: the dialog opens at its field, and Enter sends it.
    page.get_by_role("button", name="Rename Zebra one").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Control+A")
    page.keyboard.type("Zebra first")
    assert browser_helpers.axe(page) == []
    page.keyboard.press("Enter")
    page.get_by_text("The project is called Zebra first now.").wait_for()
    page.get_by_role("button", name="Copy Zebra first").click()
    page.wait_for_url(re.compile(r"/projects/[0-9a-f]+/data"))
    copied = page.url.split("/projects/")[1].split("/")[0]
    assert api.get(f"/projects/{copied}")["name"] == "Copy of Zebra first"
    page.goto(f"{studio.address}/projects?search=zebra")
    page.get_by_role("button", name="Delete … Copy of Zebra first").click()
    page.locator(f"#delete-{copied}").get_by_role("button", name="Delete").click()
    page.get_by_text("The project Copy of Zebra first is deleted.").wait_for()
    assert copied not in {one["id"] for one in api.get("/projects")["items"]}
    page.goto(f"{studio.address}/projects?search=nobody+called+it+so")
    page.get_by_text("No project is called like this.").wait_for()


def test_a_project_file_is_imported(look: Look, studio: Studio, api: Any) -> None:
    page = look()
    page.goto(f"{studio.address}/import")
    assert browser_helpers.axe(page) == []
    page.fill("#text", "columns: [")
    page.get_by_role("button", name="Import", exact=True).click()
    page.locator("#main .notice.bad").wait_for()
    assert page.locator("#text").input_value() == "columns: ["
    page.set_input_files("#project-file", {"name": "ward.yaml", "mimeType": "text/yaml", "buffer": FILE.encode()})
    until(lambda: "ward" in page.locator("#text").input_value())
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_text("The table is to be chosen").wait_for()
    page.get_by_role("link", name="Open the project").click()
    page.get_by_text("This project has no table yet").wait_for()
    made = api.get(f"/projects/{page.url.split('/projects/')[1].split('/')[0]}")
    assert (made["name"], made["document"]["models"]) == ("ward", [{"k-anonymity": {"k": 7}}])


def test_an_anonylitics_project_without_scripts(look: Look, studio: Studio, api: Any, hospital: dict[str, str]) -> None:
    from service.test_projects import ANONYLITICS

    page = look(scripts=False)
    page.goto(f"{studio.address}/import")
    page.get_by_label("Anonylitics (JSON)").check()
    page.fill("#text", json.dumps(ANONYLITICS))
    page.select_option("#source", hospital["source"])
    page.fill("#name", "From elsewhere")
    page.get_by_role("button", name="Import", exact=True).click()
    found = until(lambda: [one for one in api.get("/projects")["items"] if one["name"] == "From elsewhere"])[0]
    assert api.get(f"/projects/{found['id']}")["document"]["columns"]


def test_recent_work_has_verdicts(look: Look, studio: Studio, hospital: dict[str, str]) -> None:
    page = look()
    page.goto(f"{studio.address}/projects?search=Hospital")
    row = page.locator("tr", has=page.get_by_role("link", name="Hospital", exact=True))
    assert "verified" in row.inner_text()
    page.goto(f"{studio.address}/projects/{hospital['project']}")
    assert page.url.endswith("/result")
