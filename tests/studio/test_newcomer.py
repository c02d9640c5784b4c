"""The whole way of somebody who comes with a table: upload, roles, models, run, a verified release to take home."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.csv
import pytest

from servers.studio import Studio
from velado.client import Client
from velado.samples import hospital


@pytest.mark.quick
def test_from_a_file_to_a_verified_release_at_home(look: Callable[..., Any], studio: Studio, tmp_path: Path) -> None:
    pyarrow.csv.write_csv(hospital(300), tmp_path / "patients.csv")
    page = look("nadia", "steward")
    page.goto(f"{studio.address}/new")
    page.set_input_files("#file", tmp_path / "patients.csv")
    page.wait_for_url(re.compile(r"/projects/[0-9a-f]+/columns"))
    project = page.url.split("/projects/")[1].split("/")[0]
    page.get_by_label("Role of marital_status", exact=True).select_option("identifier")
    page.locator("#meter", has_text="are unique on your quasi-identifiers").wait_for()
    page.get_by_role("link", name="To Privacy").click()
    page.fill("#model-0-k", "4")
    page.press("#model-0-k", "Tab")
    page.locator("#model-0 .requirement", has_text="k ≥ 4").wait_for()
    page.get_by_role("link", name="To the run").first.click()
    page.get_by_role("button", name="Start the run").click()
    page.locator("h2 .badge.good", has_text="Verified").wait_for()
    page.locator("#main").get_by_role("link", name="Publish").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the data").click()
    download.value.save_as(tmp_path / "release.csv")
    with Client(studio.address, studio.user("nadia")) as client:
        columns = client.get(f"/projects/{project}")["document"]["columns"]
    quasi = [name for name, column in columns.items() if column["role"] == "quasi-identifier"]
    with open(tmp_path / "release.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert columns["marital_status"]["role"] == "identifier"
    assert {row["marital_status"] for row in rows} == {"*"}
    assert len(rows) > 150
    assert min(Counter(tuple(row[name] for name in quasi) for row in rows).values()) >= 4
