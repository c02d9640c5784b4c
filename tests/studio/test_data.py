"""From a file, a database or a sample to a project; rows of large tables; what cannot be read and how it is mended."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from servers import postgresql
from servers.studio import Studio, until
from studio import browser_helpers
from velado.samples import hospital as patients

Look = Callable[..., Any]
COLUMNS = re.compile(r"/projects/[0-9a-f]+/columns(\?.*)?$")
ROWS = 120_000


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files to be sent."""
    folder = tmp_path_factory.mktemp("files")
    pyarrow.csv.write_csv(patients(200), folder / "patients.csv")
    (folder / "visits.csv").write_text(
        "national_id,day,cost\n" + "".join(f"{n},2026-01-{1 + i % 28:02},{i % 7 * 100}\n" for i, n in enumerate(_ids()))
    )
    (folder / "wards.csv").write_text("ward,beds\n" + "".join(f"w{i},{i % 4}\n" for i in range(40)))
    title = "Pacientes del año\n\nnombre;sexo;edad;diagnóstico\n"
    lines = "".join(
        f"José Núñez {i};{'fm'[i % 2]};{20 + i % 50 if i % 40 else '?'};{('gripe', 'asma', 'tos')[i % 3]}\n" for i in range(120)
    )
    (folder / "semicolons.csv").write_text(title + lines, encoding="latin-1")
    ragged = "".join(f"{i}~{i % 3}" + ("~9" if i in (7, 11) else "") + "\n" for i in range(60))
    (folder / "ragged.csv").write_text("a~b\n" + ragged)
    numbers = pa.table(
        {
            "number": list(range(ROWS)),
            "group": [f"g{i % 100}" for i in range(ROWS)],
            "half": [i if i % 2 else None for i in range(ROWS)],
        }
    )
    pyarrow.parquet.write_table(numbers, folder / "large.parquet")
    with sqlite3.connect(folder / "clinic.sqlite") as database:
        for table in ("people", "wards"):
            database.execute(f"CREATE TABLE {table} (id INTEGER, age INTEGER)")
            database.executemany(f"INSERT INTO {table} VALUES (?, ?)", [(i, i % 9) for i in range(40)])
    database.close()
    return folder


def _ids() -> list[str]:
    return [str(one) for one in patients(200).column("national_id").to_pylist()]


@pytest.fixture(scope="module")
def large(api: Any, files: Path) -> dict[str, str]:
    """A project on a large table."""
    source = api.post("/sources", {"name": "large.parquet", "upload": api.upload(files / "large.parquet")})
    api.follow(source["job"])
    return {"source": source["id"], "project": api.post("/projects", {"name": "Large", "source": source["id"]})["id"]}


def named(api: Any, name: str) -> dict[str, Any]:
    """The newest source of a name."""
    return next(one for one in api.get("/sources")["items"] if one["name"] == name)


def of(page: Any) -> str:
    """The id of the project that a page is about."""
    return str(page.url.split("/projects/")[1].split("/")[0])


# To a project


def test_from_a_file_to_the_columns_without_a_button(look: Look, studio: Studio, api: Any, files: Path) -> None:
    page = look()
    page.goto(studio.address)
    assert browser_helpers.axe(page) == []
    page.get_by_role("link", name="Choose a table").first.click()
    page.wait_for_url("**/new")
    page.set_input_files("#file", files / "patients.csv")
    page.wait_for_url(COLUMNS)
    document = api.get(f"/projects/{of(page)}")["document"]
    source = named(api, "patients.csv")
    assert document["source"]["source"] == source["id"]
    assert document["columns"]["national_id"]["role"] == "identifier"
    assert api.get(f"/projects/{of(page)}")["name"] == "patients"
    # Going back makes no second project.
    page.goto(f"{studio.address}/new/ready?source={source['id']}")
    page.get_by_role("link", name="Open the project").wait_for()
    assert browser_helpers.axe(page) == []
    assert len(api.get(f"/sources/{source['id']}/projects")["items"]) == 1


def test_a_file_that_is_dropped(look: Look, studio: Studio, api: Any) -> None:
    page = look()
    page.goto(f"{studio.address}/new")
    page.locator("velado-upload[data-ready]").wait_for()
    lines = "person,age\n" + "".join(f"p{i},{20 + i % 5}\n" for i in range(60))
    drop = page.evaluate_handle(
        "(text) => { const all = new DataTransfer(); all.items.add(new File([text], 'dropped.csv')); return all; }", lines
    )
    page.dispatch_event("[data-zone]", "drop", {"dataTransfer": drop})
    page.wait_for_url(COLUMNS)
    assert named(api, "dropped.csv")["rows"] == 60


def test_a_broken_connection_goes_on_where_it_was(look: Look, studio: Studio, api: Any) -> None:
    page = look()
    text = "ward,beds\n" + "".join(f"w{i},{i % 4}\n" for i in range(400))
    broken, offsets = [True], list[str]()

    def cut(route: Any) -> None:
        offsets.append(route.request.headers["upload-offset"])
        if broken[0]:
            route.abort()
        else:
            route.continue_()

    page.goto(f"{studio.address}/new")
    begun = page.evaluate(_BEGIN, {"name": "half.csv", "text": text})
    page.context.route("**/api/v1/uploads/*", lambda route: cut(route) if route.request.method == "PATCH" else route.continue_())
    page.set_input_files("#file", {"name": "half.csv", "mimeType": "text/csv", "buffer": text.encode()})
    again = page.get_by_role("button", name="Go on")
    again.wait_for()
    assert "what arrived is kept" in page.locator("[data-files]").inner_text()
    broken[0] = False
    again.click()
    page.wait_for_url(COLUMNS)
    assert begun["id"] != named(api, "half.csv")["upload"]
    assert set(offsets) == {"0"}
    # The same file, chosen again after the page was closed, goes on from the byte at which it stopped.
    page.goto(f"{studio.address}/new")
    page.evaluate(
        "(id) => { const add = localStorage.setItem.bind(localStorage); window.mark = (f) => add(`velado-upload:${f.name}:${f.size}:${f.lastModified}`, id); }",
        begun["id"],
    )
    offsets.clear()
    page.evaluate(
        """(text) => { const file = new File([text], 'half.csv', {lastModified: 7}); window.mark(file);
        const all = new DataTransfer(); all.items.add(file); const input = document.getElementById('file');
        input.files = all.files; input.dispatchEvent(new Event('change')); }""",
        text,
    )
    page.wait_for_url(COLUMNS)
    assert offsets == [str(begun["offset"])]
    assert named(api, "half.csv")["upload"] == begun["id"]


_BEGIN = """async ({name, text}) => {
    const csrf = document.querySelector('meta[name=csrf]').content, bytes = new TextEncoder().encode(text);
    const send = async (path, method, headers, body) => (await fetch('/api/v1/uploads' + path, {method, body, headers: {...headers, 'X-CSRF-Token': csrf}})).json();
    const {id} = await send('', 'POST', {'Content-Type': 'application/json'}, JSON.stringify({name, bytes: bytes.length}));
    return send('/' + id, 'PATCH', {'Upload-Offset': '0'}, bytes.slice(0, 1000));
}"""


def test_cancelling_and_files_that_are_refused(look: Look, studio: Studio, api: Any) -> None:
    page = look()
    page.context.route("**/api/v1/uploads/*", lambda route: None if route.request.method == "PATCH" else route.continue_())
    page.goto(f"{studio.address}/new")
    page.set_input_files("#file", {"name": "never.csv", "mimeType": "text/csv", "buffer": b"a,b\n1,2\n"})
    until(lambda: [one for one in api.get("/uploads")["items"] if one["name"] == "never.csv"])
    page.get_by_role("button", name="Cancel").click()
    until(lambda: not [one for one in api.get("/uploads")["items"] if one["name"] == "never.csv"])
    page.locator("[data-files] li").wait_for(state="detached")
    page.set_input_files("#file", {"name": "letter.docx", "mimeType": "text/plain", "buffer": b"Dear"})
    refused = page.locator("[data-state=refused]")
    refused.wait_for()
    assert "'.docx'" in refused.inner_text()
    assert browser_helpers.axe(page) == []


def test_the_demo_is_one_click_away(look: Look, studio: Studio) -> None:
    page = look("newcomer", "steward")
    page.goto(studio.address)
    page.get_by_role("heading", name="Nothing here yet").wait_for()
    assert browser_helpers.axe(page) == []
    page.locator(".empty").get_by_role("button", name="Try the demo").click()
    page.wait_for_url(COLUMNS)
    first = of(page)
    page.goto(studio.address)
    page.get_by_text("not run yet").wait_for()
    page.get_by_role("button", name="Try the demo").click()
    page.wait_for_url("**/projects/**")
    assert of(page) == first


def test_a_learner_works_on_samples_only(look: Look, studio: Studio) -> None:
    page = look("pupil", "learner")
    page.goto(f"{studio.address}/new")
    assert page.locator("velado-upload").count() == 0
    assert page.get_by_role("heading", name="A database").count() == 0
    page.get_by_label("Customers of a bank").check()
    page.fill("#rows", "300")
    page.locator("section", has=page.locator("#from-sample")).get_by_role("button", name="Use this sample").click()
    page.wait_for_url(COLUMNS)
    page.goto(f"{studio.address}/projects/{of(page)}/data")
    page.locator("table.rows tbody tr").first.wait_for()
    answer = page.goto(f"{studio.address}/connections")
    assert answer.status == 403


# What cannot be read


def test_a_table_that_is_not_read_is_mended(look: Look, studio: Studio, api: Any, files: Path) -> None:
    page = look()
    page.goto(f"{studio.address}/new")
    page.set_input_files("#file", files / "semicolons.csv")
    page.get_by_text("the table seems to begin in line 3").wait_for()
    assert browser_helpers.axe(page) == []
    page.get_by_role("button", name="Skip the first 2 lines").click()
    page.wait_for_url(COLUMNS)
    page.goto(f"{studio.address}/projects/{of(page)}/data")
    assert "José Núñez 0" in page.locator("table.rows").inner_text()
    assert "semicolon ; · iso8859-1" in page.locator("details summary", has_text="How it is read").inner_text()
    # What stands for a missing value is part of the project, and can be changed there.
    document = api.get(f"/projects/{of(page)}")["document"]
    assert document["source"]["missing"] == ["?"]
    page.locator("#missing-card summary").click()
    page.fill("#project-missing", "?\n-99")
    page.locator("#missing-card").get_by_role("button", name="Save").click()
    until(lambda: api.get(f"/projects/{of(page)}")["document"]["source"]["missing"] == ["?", "-99"])
    assert "? (no value)" in page.locator("table.rows").inner_text()


def test_problems_are_told_by_line_and_another_dialect_repairs_them(look: Look, studio: Studio, api: Any, files: Path) -> None:
    page = look()
    source = api.post("/sources", {"name": "ragged.csv", "upload": api.upload(files / "ragged.csv"), "options": {"delimiter": "~"}})
    page.goto(f"{studio.address}/new/ready?source={source['id']}")
    page.get_by_text("line 9: 3 fields instead of 2").wait_for()
    page.get_by_text("line 13: 3 fields instead of 2").wait_for()
    page.get_by_label("Delimiter").select_option(label="semicolon ;")
    page.get_by_role("button", name="Read it like this").click()
    page.wait_for_url(COLUMNS)
    assert api.get(f"/sources/{source['id']}")["options"] == {"delimiter": ";"}


def test_one_of_the_tables_of_a_file(look: Look, studio: Studio, api: Any, files: Path) -> None:
    page = look()
    page.goto(f"{studio.address}/new")
    page.set_input_files("#file", files / "clinic.sqlite")
    page.get_by_role("button", name="Table 'people'").click()
    page.wait_for_url(COLUMNS)
    assert named(api, "clinic.sqlite: people")["table"] == "people"
    assert "clinic.sqlite" not in {one["name"] for one in api.get("/sources")["items"]}


# Rows


def test_rows_of_a_large_table(look: Look, studio: Studio, large: dict[str, str]) -> None:
    page = look()
    page.goto(f"{studio.address}/projects/{large['project']}/data")
    rows = page.locator("table.rows tbody tr")
    rows.nth(49).wait_for()
    assert rows.count() == 50
    assert browser_helpers.axe(page) == []
    # By keyboard: sort, falling; then a row by its number.
    page.get_by_role("link", name="number").focus()
    page.keyboard.press("Enter")
    page.locator("th[aria-sort=ascending]").wait_for()
    page.keyboard.press("Enter")
    page.locator("th[aria-sort=descending]").wait_for()
    assert rows.first.locator("td").first.inner_text() == f"{ROWS - 1}"
    page.fill("#go-row", "100001")
    page.keyboard.press("Enter")
    page.get_by_role("rowheader", name="100,001", exact=True).wait_for()
    assert rows.first.locator("td").first.inner_text() == f"{ROWS - 100_001}"
    page.select_option("#filter-column", "group")
    page.fill("#filter-value", "g7")
    page.get_by_role("button", name="Filter").click()
    page.get_by_text("1 to 50 of 1,200").wait_for()
    page.select_option("#filter-column", "half")
    page.fill("#filter-value", "")
    page.get_by_role("button", name="Filter").click()
    page.get_by_text("No row is like this.").wait_for()
    page.get_by_role("link", name="group = g7").click()
    page.get_by_text("of 60,000").wait_for()
    assert page.locator("td .missing").count() == 50
    page.get_by_role("link", name="Last", exact=True).click()
    page.get_by_role("rowheader", name="60,000", exact=True).wait_for()
    # The address is that of these rows.
    page.reload()
    page.get_by_role("rowheader", name="60,000", exact=True).wait_for()


def test_who_may_not_see_records_sees_columns(look: Look, studio: Studio, api: Any, large: dict[str, str]) -> None:
    studio.user("analyst", "steward")
    studio.user("guest", "steward")
    api.put(f"/projects/{large['project']}/members", {"user": "analyst", "role": "analyst"})
    api.put(f"/projects/{large['project']}/members", {"user": "guest", "role": "reader"})
    page = look("analyst")
    page.goto(f"{studio.address}/projects/{large['project']}/data")
    page.get_by_text("Your role does not show records").wait_for()
    assert page.locator("table.rows").count() == 0
    page.get_by_role("rowheader", name="group").wait_for()
    assert page.get_by_role("link", name="Replace this table").count() == 0
    assert browser_helpers.axe(page) == []
    page = look("guest")
    page.goto(f"{studio.address}/projects/{large['project']}/data")
    page.get_by_text("You do not see this table").wait_for()
    page.goto(f"{studio.address}/projects/{large['project']}")
    assert page.url.endswith("/result")


# Several tables


def test_several_tables(look: Look, studio: Studio, api: Any, files: Path) -> None:
    page = look()
    page.goto(f"{studio.address}/new")
    page.set_input_files("#file", [files / "patients.csv", files / "visits.csv"])
    page.wait_for_url(COLUMNS)
    project = of(page)
    document = api.get(f"/projects/{project}")["document"]
    assert set(document["tables"]) == {"patients", "visits"}
    assert document["tables"]["visits"]["columns"]["national_id"]["role"] == "identifier"
    page.goto(f"{studio.address}/projects/{project}/data?table=visits")
    assert page.locator("nav.tabs [aria-current]").inner_text() == "visits"
    page.fill("#table-name", "Stays")
    page.get_by_role("button", name="Rename").click()
    page.wait_for_url("**/data?table=Stays")
    page.get_by_role("link", name="Add another table").click()
    page.set_input_files("#file", files / "wards.csv")
    page.wait_for_url(COLUMNS)
    assert list(api.get(f"/projects/{project}")["document"]["tables"]) == ["patients", "Stays", "wards"]
    page.goto(f"{studio.address}/projects/{project}/data?table=wards")
    page.get_by_role("link", name="Replace this table").click()
    page.locator("#here").select_option(named(api, "visits.csv")["id"])
    page.locator("section", has=page.locator("#from-here")).get_by_role("button", name="Use this table").click()
    page.wait_for_url(COLUMNS)
    assert set(api.get(f"/projects/{project}")["document"]["tables"]["wards"]["columns"]) <= {"national_id", "day", "cost"}
    page.goto(f"{studio.address}/projects/{project}/data?table=wards")
    page.get_by_role("button", name="Take this table out").click()
    page.get_by_text("wards is no part of the project any more.").wait_for()
    page.get_by_role("button", name="Undo").click()
    until(lambda: len(api.get(f"/projects/{project}")["document"]["tables"]) == 3)


# Tables by themselves


def test_tables_by_themselves(look: Look, studio: Studio, api: Any, large: dict[str, str]) -> None:
    made = api.post("/sources", {"name": "Short life", "sample": "hospital", "rows": 60})
    api.follow(made["job"])
    page = look()
    page.goto(f"{studio.address}/tables")
    assert browser_helpers.axe(page) == []
    page.get_by_role("link", name="Short life", exact=True).click()
    page.get_by_role("button", name="Rename").click()
    page.fill("#new-name", "Shorter life")
    page.locator("#rename").get_by_role("button", name="Rename").click()
    page.get_by_role("heading", name="Shorter life").wait_for()
    assert browser_helpers.axe(page) == []
    page.get_by_role("button", name="New project").click()
    page.wait_for_url(COLUMNS)
    project = of(page)
    page.goto(f"{studio.address}/tables/{made['id']}")
    page.get_by_role("link", name="Delete …").click()
    assert page.locator(".notice a").inner_text() == "Shorter life"
    page.get_by_role("button", name="Delete").click()
    page.get_by_text("Shorter life is deleted, with every copy.").wait_for()
    assert made["id"] not in {one["id"] for one in api.get("/sources")["items"]}
    page.goto(f"{studio.address}/projects/{project}/data")
    page.get_by_text("The table of this project is gone").wait_for()
    page.get_by_role("link", name="Choose a table").click()
    page.locator("#here").select_option(large["source"])
    page.locator("section", has=page.locator("#from-here")).get_by_role("button", name="Use this table").click()
    page.wait_for_url(COLUMNS)
    assert api.get(f"/projects/{project}")["document"]["source"]["source"] == large["source"]


# Databases


@pytest.fixture(scope="module")
def clinic() -> Iterator[None]:
    """A database with a table of people."""
    with postgresql.connect() as connection:
        connection.execute("CREATE SCHEMA clinic")
        connection.execute(
            "CREATE TABLE clinic.people AS SELECT i AS id, 20 + i % 50 AS age, (ARRAY['f', 'm'])[1 + i % 2] AS sex, "
            "(ARRAY['flu', 'asthma', 'cold'])[1 + i % 3] AS diagnosis FROM generate_series(1, 300) i"
        )
        connection.execute("CREATE VIEW clinic.old AS SELECT * FROM clinic.people WHERE age > 60")
    yield
    with postgresql.connect() as connection:
        connection.execute("DROP SCHEMA clinic CASCADE")


def test_from_a_database_to_the_columns(look: Look, studio: Studio, clinic: None) -> None:
    page = look()
    page.goto(f"{studio.address}/new")
    page.get_by_role("link", name="New connection").click()
    page.fill("#name", "Clinic")
    page.fill("#address", "postgresql://ana:hunter2@db/clinic")
    page.get_by_role("button", name="Connect").click()
    page.get_by_text("the address holds a password").wait_for()
    assert page.locator("#name").input_value() == "Clinic"
    assert browser_helpers.axe(page) == []
    page.fill("#address", postgresql.address())
    page.get_by_role("button", name="Connect").click()
    # Back where the table was to be chosen: its schemas and tables are there.
    page.get_by_role("heading", name="clinic", exact=True).wait_for()
    assert browser_helpers.axe(page) == []
    page.fill("#search", "PEOPLE")
    page.get_by_role("rowheader", name="old").wait_for(state="detached")
    page.get_by_role("button", name="Use this table clinic.people").click()
    page.wait_for_url(COLUMNS)
    page.goto(f"{studio.address}/projects/{of(page)}/data")
    page.locator("table.rows tbody tr").nth(49).wait_for()
    page.get_by_role("link", name="age").click()
    page.locator("th[aria-sort=ascending]").wait_for()
    assert browser_helpers.axe(page) == []
    # The connection by itself: tested, changed, deleted in spite of its table.
    page.get_by_role("link", name="Databases").click()
    page.get_by_role("link", name="Clinic").click()
    page.get_by_role("rowheader", name="old").wait_for()
    page.get_by_role("button", name="Test").click()
    page.get_by_text("The database answers.").wait_for()
    page.get_by_text("Change the connection").click()
    page.fill("#name", "Ward")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("heading", name="Ward").wait_for()
    page.locator("details summary", has_text="Delete …").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("button", name="Delete it all the same").click()
    page.get_by_text("The connection Ward is deleted.").wait_for()
