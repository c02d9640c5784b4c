"""Columns: roles one by one and many at once, who is unique, operations, warnings, two people at once, several tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from servers.studio import Studio, until
from studio import browser_helpers
from velado.client import Client
from velado.samples import hospital as patients

ROWS = 400
FITS = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
QUASI = ["birth_date", "sex", "postal_code", "marital_status"]


def unique(*columns: str) -> int:
    """Counted by hand: records that nobody is like."""
    table = patients(ROWS)
    counts = Counter(zip(*(table[name].to_pylist() for name in columns), strict=True))
    return sum(n for n in counts.values() if n == 1)


@pytest.fixture(scope="module")
def source(api: Any) -> str:
    made = api.post("/sources", {"name": "Columns table", "sample": "hospital", "rows": ROWS})
    api.follow(made["job"])
    return str(made["id"])


class Own:
    """A project of one test."""

    def __init__(self, api: Client, studio: Studio, id: str) -> None:
        self.api, self.id = api, id
        self.address = f"{studio.address}/projects/{id}"

    @property
    def document(self) -> dict[str, Any]:
        found: dict[str, Any] = self.api.get(f"/projects/{self.id}")["document"]
        return found

    def role(self, column: str) -> Any:
        spec = self.document.get("columns", {}).get(column)
        return spec["role"] if isinstance(spec, dict) else spec

    def becomes(self, wanted: Callable[[dict[str, Any]], Any]) -> None:
        def is_so() -> Any:
            with suppress(KeyError):
                return wanted(self.document)

        until(is_so)

    def versions(self) -> int:
        return int(self.api.get(f"/projects/{self.id}")["version"])

    def put(self, **changes: Any) -> None:
        project = self.api.get(f"/projects/{self.id}")
        self.api.put(f"/projects/{self.id}", {"document": {**project["document"], **changes}}, version=project["version"])


@pytest.fixture
def own(api: Any, studio: Studio, source: str) -> Own:
    """A new project of patients, as suggested but for the city, which is left out, and the cost, which is sensitive and rounded."""
    own = Own(api, studio, api.post("/projects", {"name": "Roles", "source": source})["id"])
    columns = {name: spec for name, spec in own.document["columns"].items() if name != "city"}
    own.put(columns={**columns, "cost": {"role": "sensitive", "operation": {"round": 1000}}})
    return own


def opened(look: Callable[..., Any], own: Own, name: str = "ana", **how: Any) -> Any:
    page = look(name, **how)
    page.goto(f"{own.address}/columns")
    return page


def role_of(page: Any, column: str) -> Any:
    return page.get_by_label(f"Role of {column}", exact=True)


def meter(page: Any, text: str) -> Any:
    return page.wait_for_selector(f"#meter :text('{text}')")


def test_one_role_is_changed_and_the_meter_follows(look: Callable[..., Any], own: Own) -> None:
    page = opened(look, own)
    meter(page, f"{unique(*QUASI)} of {ROWS} are unique on your quasi-identifiers")
    page.locator("#meter summary", has_text="What each column adds").click()
    row = page.locator("#meter tr", has_text="birth_date").first
    assert str(unique("sex", "postal_code", "marital_status")) in row.inner_text()
    page.locator("#meter summary", has_text="Few columns that are enough").click()
    page.locator("#meter tr", has_text="birth_date + postal_code").first.wait_for()
    assert browser_helpers.axe(page) == []
    role_of(page, "birth_date").select_option("left-out")
    own.becomes(lambda document: "birth_date" not in document["columns"])
    meter(page, f"{unique('sex', 'postal_code', 'marital_status')} of {ROWS} are unique")
    role_of(page, "city").select_option("quasi-identifier")
    own.becomes(lambda document: document["columns"]["city"] == {"role": "quasi-identifier"})
    meter(page, f"{unique('sex', 'postal_code', 'marital_status', 'city')} of {ROWS} are unique")
    # What was suggested for a column comes with its role again.
    role_of(page, "birth_date").select_option("quasi-identifier")
    own.becomes(lambda document: document["columns"].get("birth_date", {}).get("hierarchy", {}).get("dates"))
    page.get_by_role("button", name="Undo").click()
    own.becomes(lambda document: "birth_date" not in document["columns"])
    until(lambda: role_of(page, "birth_date").input_value() == "left-out")


def test_many_at_once(look: Callable[..., Any], own: Own) -> None:
    page = opened(look, own)
    before = own.versions()
    for name in ("sex", "marital_status"):
        page.get_by_label(f"Choose {name}", exact=True).check()
    page.get_by_label("Set many at once:").select_option("insensitive")
    page.get_by_role("button", name="for the chosen", exact=True).click()
    own.becomes(lambda document: document["columns"]["sex"] == document["columns"]["marital_status"] == {"role": "insensitive"})
    assert own.versions() == before + 1
    page.get_by_label("Search columns").press_sequentially("national")
    page.wait_for_selector("tr[data-key=sex]", state="detached")
    page.get_by_label("Set many at once:").select_option("left-out")
    page.get_by_role("button", name="for all 1 that are shown").click()
    own.becomes(lambda document: "national_id" not in document["columns"])
    assert own.role("name") == "identifier"
    assert "q=national" in page.url
    page.get_by_label("Show only").select_option("differs")
    page.wait_for_selector(".empty, tr[data-key=national_id]")
    page.goto(f"{own.address}/columns?role=insensitive")
    assert page.locator("tbody tr[data-key]").count() == 2
    page.get_by_role("button", name="for the chosen", exact=True).click()
    page.wait_for_selector("#said :text('Nothing is changed')")


def test_by_keys_alone(look: Callable[..., Any], own: Own) -> None:
    page = look()
    page.clock.install()
    page.goto(f"{own.address}/columns")
    before = own.versions()
    page.get_by_label("Search columns").focus()
    page.keyboard.type("diagnosis")
    page.wait_for_selector("tr[data-key=sex]", state="detached")
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.getAttribute('aria-label')") == "Role of diagnosis":
            break
    # On the way to another role one passes others: only the last one is saved. However long the test takes, it is a moment.
    page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 60)
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    page.clock.resume()
    own.becomes(lambda document: document["columns"]["diagnosis"] == {"role": "identifier"})
    assert own.versions() == before + 1
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Role of diagnosis"


def test_changes_in_quick_succession_do_not_conflict(look: Callable[..., Any], own: Own) -> None:
    page = opened(look, own)
    page.evaluate("""() => {
        for (const [name, role] of [["sex", "insensitive"], ["city", "sensitive"], ["diagnosis", "insensitive"]]) {
            const select = document.querySelector(`tr[data-key=${name}] select`);
            select.value = role;
            select.dispatchEvent(new Event("input", {bubbles: true}));
            select.dispatchEvent(new Event("change", {bubbles: true}));
        }
    }""")
    own.becomes(lambda document: document["columns"].get("diagnosis", {}).get("role") == "insensitive")
    assert (own.role("sex"), own.role("city")) == ("insensitive", "sensitive")
    until(lambda: role_of(page, "diagnosis").input_value() == "insensitive")
    assert page.locator("h1").inner_text() == "Columns"


def test_columns_that_single_people_out_are_warned_of(look: Callable[..., Any], own: Own) -> None:
    own.put(columns={**own.document["columns"], "name": "insensitive", "cost": {"role": "sensitive"}})
    page = opened(look, own)
    warning = page.locator("#meter .notice.warn", has_text="name: it would be published")
    warning.wait_for()
    assert "full names" in warning.inner_text()
    assert browser_helpers.axe(page) == []
    warning.get_by_role("button", name="It is an identifier").click()
    own.becomes(lambda document: document["columns"]["name"] == {"role": "identifier"})
    warning.wait_for(state="detached")
    cost = page.locator("#meter .notice.warn", has_text="cost: it would be published")
    cost.get_by_role("button", name="Accept the exposure").click()
    own.becomes(lambda document: document["columns"]["cost"] == {"role": "sensitive", "exposure": "accepted"})
    page.get_by_role("button", name="Take that back").click()
    own.becomes(lambda document: document["columns"]["cost"] == {"role": "sensitive"})
    cost.get_by_role("button", name="Only the person and the keeper know it").click()
    own.becomes(lambda document: document["columns"]["cost"] == {"role": "sensitive", "known": "never"})
    cost.wait_for(state="detached")


def test_operations(look: Callable[..., Any], own: Own) -> None:
    page = opened(look, own)
    page.get_by_role("link", name="cost", exact=True).click()
    page.locator("#choose-operation").wait_for()
    offered = page.locator("#choose-operation option").all_inner_texts()
    assert {"round", "top coding"} <= set(offered)
    assert not {"drop", "add noise", "shift dates"} & set(offered)
    page.get_by_label("Operation", exact=True).select_option("limits")
    page.wait_for_selector("#form-of-limits")
    page.fill("#o-low", "900")
    page.fill("#o-high", "100")
    page.locator("#form-of-limits button", has_text="Save").click()
    page.wait_for_selector("#operation .notice.bad")
    assert page.input_value("#o-low") == "900"
    assert browser_helpers.axe(page) == []
    page.fill("#o-high", "2000")
    page.get_by_label("show >HIGH", exact=False).check()
    page.locator("#form-of-limits button", has_text="Save").click()
    limits = {"limits": {"low": 900, "high": 2000, "label": True}}
    own.becomes(lambda document: document["columns"]["cost"] == {"role": "sensitive", "operation": limits})
    page.wait_for_selector("#said .notice")
    page.get_by_label("Operation", exact=True).select_option("none")
    page.locator("#form-of-none button", has_text="Save").click()
    own.becomes(lambda document: document["columns"]["cost"] == {"role": "sensitive"})


def test_a_key_is_made_for_pseudonyms(look: Callable[..., Any], own: Own) -> None:
    page = look()
    page.goto(f"{own.address}/column?column=national_id&operation=pseudonymize")
    page.fill("#secret-name", "no name")
    page.locator("#form-of-pseudonymize button", has_text="Save").click()
    assert own.api.get(f"/projects/{own.id}/secrets")["items"] == []
    page.fill("#secret-name", "people")
    page.locator("#form-of-pseudonymize button", has_text="Save").click()
    wanted = {"role": "identifier", "operation": {"pseudonymize": {"key": "secret:people"}}}
    own.becomes(lambda document: document["columns"]["national_id"] == wanted)
    assert [one["name"] for one in own.api.get(f"/projects/{own.id}/secrets")["items"]] == ["people"]
    assert own.api.get(f"/projects/{own.id}/checks")["problems"] == []
    page.goto(f"{own.address}/column?column=name&operation=encrypt")
    page.select_option("#secret", "people")
    page.locator("#secret-name").wait_for(state="hidden")
    page.locator("#form-of-encrypt button", has_text="Save").click()
    own.becomes(lambda document: document["columns"]["name"].get("operation") == {"encrypt": {"key": "secret:people"}})
    page.goto(f"{own.address}/column?column=name&operation=substitute")
    page.fill("#pairs", "Ana;A\nEva;E;1")
    page.locator("#form-of-substitute button", has_text="Save").click()
    substitutes = {"map": {"Ana": "A", "Eva;E": "1"}}
    own.becomes(lambda document: document["columns"]["name"].get("operation") == {"substitute": substitutes})


def test_how_a_column_is_read(look: Callable[..., Any], own: Own) -> None:
    page = look()
    page.goto(f"{own.address}/column?column=birth_date")
    assert page.input_value("#format") == "%Y-%m-%d"
    page.fill("#format", "%Y-%Y")
    page.get_by_role("button", name="Save").first.click()
    page.wait_for_selector(".notice.bad")
    assert page.input_value("#format") == "%Y-%Y"
    page.fill("#format", "%Y-%m-%d | %d/%m/%Y")
    page.get_by_label("Missing values", exact=True).select_option("reject")
    page.get_by_role("button", name="Save").first.click()
    own.becomes(lambda document: document["columns"]["birth_date"].get("missing") == "reject")
    assert own.document["columns"]["birth_date"]["format"] == ["%Y-%m-%d", "%d/%m/%Y"]
    assert own.document["columns"]["birth_date"]["hierarchy"]["dates"]
    page.get_by_role("button", name="Show some").click()
    page.wait_for_selector(".values li")
    assert page.locator(".values li").first.inner_text() in set(patients(ROWS)["birth_date"].cast("string").to_pylist())
    page.get_by_role("link", name="sex →").click()
    page.wait_for_selector("h1:has-text('sex')")


def test_suggestions_for_a_table_of_which_nothing_is_said(look: Callable[..., Any], own: Own, source: str) -> None:
    suggested = own.api.post("/projects", {"name": "Suggested", "source": source})["document"]
    own.api.put(f"/projects/{own.id}", {"document": {"source": {"source": source}}}, version=own.versions())
    page = opened(look, own)
    meter(page, "No column is a quasi-identifier yet.")
    assert role_of(page, "sex").input_value() == "undecided"
    assert browser_helpers.axe(page) == []
    page.get_by_role("button", name="Accept all suggestions").click()
    own.becomes(lambda document: document.get("columns"))
    kept = own.document
    assert {key: kept[key] for key in ("columns", "rest", "models", "method")} == {
        key: suggested[key] for key in ("columns", "rest", "models", "method")
    }
    meter(page, "are unique on your quasi-identifiers")


def test_rest_and_person(look: Callable[..., Any], own: Own) -> None:
    page = opened(look, own)
    page.get_by_label("must get one").check()
    own.becomes(lambda document: "rest" not in document)
    until(lambda: role_of(page, "city").input_value() == "undecided")
    role_of(page, "city").select_option("left-out")
    own.becomes(lambda document: document["columns"].get("city") == {"role": "identifier", "operation": "drop"})
    page.locator("select[name=unit]").select_option("person:postal_code")
    own.becomes(lambda document: document.get("person") == "postal_code")
    people = len(set(patients(ROWS)["postal_code"].to_pylist()))
    meter(page, f"of {people} people are unique")
    page.locator("select[name=unit]").select_option("rows")
    own.becomes(lambda document: document.get("person") == "rows")
    meter(page, f"of {ROWS} are unique")


def test_two_people_change_the_same_project(look: Callable[..., Any], own: Own, studio: Studio) -> None:
    studio.user("eva", "steward")
    own.api.put(f"/projects/{own.id}/members", {"user": "eva", "role": "editor"})
    mine, theirs = opened(look, own), opened(look, own, "eva")
    role_of(theirs, "sex").select_option("insensitive")
    own.becomes(lambda document: document["columns"]["sex"] == {"role": "insensitive"})
    role_of(mine, "marital_status").select_option("sensitive")
    mine.wait_for_selector("h1:has-text('Somebody else has changed this project')")
    shown = mine.locator("#main").inner_text()
    assert "eva" in shown
    assert "columns.sex" in shown
    assert own.role("marital_status") == "quasi-identifier"
    assert browser_helpers.axe(mine) == []
    mine.get_by_role("button", name="Put mine on top").click()
    own.becomes(lambda document: document["columns"]["marital_status"] == {"role": "sensitive"})
    assert own.role("sex") == "insensitive"
    mine.wait_for_selector("h1:has-text('Columns')")


def test_an_analyst_sees_counts_and_no_examples(look: Callable[..., Any], own: Own, studio: Studio) -> None:
    studio.user("olga", "steward")
    own.api.put(f"/projects/{own.id}/members", {"user": "olga", "role": "analyst"})
    page = opened(look, own, "olga")
    meter(page, "are unique on your quasi-identifiers")
    text = page.locator("#main").inner_text()
    assert page.locator("tbody select, #main input[type=checkbox]").count() == 0
    assert not any(name in text for name in patients(ROWS)["name"].to_pylist())
    assert not any(day in text for day in patients(ROWS)["birth_date"].cast("string").to_pylist())
    page.goto(f"{own.address}/column?column=diagnosis")
    assert page.locator("h1").inner_text() == "diagnosis"
    assert page.get_by_role("button", name="Show some").count() == 0
    assert page.get_by_role("button", name="Save").count() == 0
    assert browser_helpers.axe(page) == []
    reader = opened(look, own, _reader(own, studio))
    assert reader.locator("tr[data-key=sex]").inner_text().split()[:2] == ["sex", "quasi-identifier"]
    assert reader.locator("#meter").count() == 0


def _reader(own: Own, studio: Studio) -> str:
    studio.user("ivo", "steward")
    own.api.put(f"/projects/{own.id}/members", {"user": "ivo", "role": "reader"})
    return "ivo"


def test_other_languages(look: Callable[..., Any], own: Own) -> None:
    own.put(columns={**own.document["columns"], "name": "insensitive"})
    page = opened(look, own, language="es", width=390, dark=True)
    meter(page, "son únicos en sus cuasi-identificadores")
    page.locator("#meter .notice.warn", has_text="name: se publicaría").wait_for()
    assert page.evaluate(FITS)
    page.goto(f"{own.address}/column?column=national_id&operation=pseudonymize&language=pt")
    assert page.get_by_label("Operação", exact=True).input_value() == "pseudonymize"
    assert browser_helpers.axe(page) == []
    assert page.evaluate(FITS)


def test_without_scripts(own: Own, studio: Studio) -> None:
    """Plain forms: the page says where they go and what they carry."""
    import re

    import httpx2 as httpx

    with httpx.Client(base_url=studio.address, follow_redirects=True) as client:
        client.get(studio.link("ana"))
        headers = {"Sec-Fetch-Site": "same-origin", "Origin": studio.address}
        text = client.get(f"/projects/{own.id}/columns").text
        csrf, version = (re.search(rf'name="{name}" value="([^"]*)"', text) for name in ("csrf", "version"))
        assert csrf
        assert version
        sent = {"csrf": csrf[1], "version": version[1], "column": "sex", "role": "insensitive"}
        answer = client.post(f"/projects/{own.id}/columns", data=sent, headers=headers)
        assert (answer.status_code, answer.url.path) == (200, f"/projects/{own.id}/columns")
        assert own.role("sex") == "insensitive"
        answer = client.post(f"/projects/{own.id}/columns", data={**sent, "role": "sensitive"}, headers=headers)
        assert answer.status_code == 409
        assert own.role("sex") == "insensitive"


def test_a_wide_table_stays_usable(look: Callable[..., Any], api: Any, studio: Studio) -> None:
    columns = {f"answer_{i}": "insensitive" for i in range(111)} | {"age": "quasi-identifier"}
    own = Own(api, studio, api.post("/projects", {"name": "Survey", "document": {"columns": columns}})["id"])
    page = opened(look, own)
    assert page.locator("tbody tr[data-key]").count() == 112
    page.get_by_label("Search columns").fill("answer_10")
    page.wait_for_selector("tr[data-key=answer_13]", state="detached")
    page.get_by_label("Set many at once:").select_option("sensitive")
    page.get_by_role("button", name="for all 11 that are shown").click()
    own.becomes(lambda document: document["columns"]["answer_109"] == {"role": "sensitive"})
    assert list(own.document["columns"].values()).count({"role": "sensitive"}) == 11
    page.get_by_label("Search columns").fill("")
    page.wait_for_selector("tr[data-key=answer_13]")
    page.get_by_label("Show only").select_option("sensitive")
    page.wait_for_selector("tr[data-key=answer_13]", state="detached")
    assert page.locator("tbody tr[data-key]").count() == 11
    # What was looked for is not sent again by leaving its field, over what was clicked.
    page.get_by_role("link", name="Column", exact=True).click()
    page.wait_for_url("**sort=name**")


def test_attributes_of_several_tables(look: Callable[..., Any], api: Any, studio: Studio, source: str) -> None:
    one = {"source": {"source": source}, "columns": {"national_id": "identifier", "sex": "quasi-identifier"}, "rest": "drop"}
    other = {**one, "columns": {"national_id": {"role": "identifier", "attribute": "who"}, "diagnosis": "sensitive"}}
    document = {"tables": {"people": one, "visits": other}, "models": [{"k-anonymity": {"k": 2}}]}
    own = Own(api, studio, api.post("/projects", {"name": "Two", "document": document})["id"])
    page = look()
    page.goto(f"{own.address}/columns?table=visits")
    meter(page, "No column is a quasi-identifier yet.")
    page.goto(f"{own.address}/column?table=people&column=national_id")
    page.fill("#attribute", "who")
    page.locator("section:has(#attribute) button", has_text="Save").click()
    own.becomes(
        lambda document: document["tables"]["people"]["columns"]["national_id"] == {"role": "identifier", "attribute": "who"}
    )
    page.get_by_role("button", name="Say it once for all tables").click()
    own.becomes(lambda document: document.get("attributes") == {"who": {"role": "identifier"}})
    assert own.document["tables"]["visits"]["columns"]["national_id"] == {"attribute": "who"}
    page.get_by_role("button", name="The releases must be joinable by it").click()
    own.becomes(lambda document: document.get("joinable") == ["who"])
    page.get_by_role("button", name="The releases need not be joinable by it").wait_for()
    assert browser_helpers.axe(page) == []
    page.get_by_label("Operation", exact=True).select_option("pseudonymize")
    page.fill("#secret-name", "key")
    page.locator("#form-of-pseudonymize button", has_text="Save").click()
    own.becomes(lambda document: "pseudonymize" in str(document["attributes"]["who"].get("operation")))
    page.get_by_role("button", name="Say it for each table").click()
    own.becomes(lambda document: "attributes" not in document)
    for table in ("people", "visits"):
        described = own.document["tables"][table]["columns"]["national_id"]
        assert described == {"role": "identifier", "operation": {"pseudonymize": {"key": "secret:key"}}, "attribute": "who"}
    page.goto(f"{own.address}/columns?table=people")
    role_of(page, "sex").select_option("insensitive")
    own.becomes(lambda document: document["tables"]["people"]["columns"]["sex"] == {"role": "insensitive"})
    assert "table=people" in page.url
    meter(page, "No column is a quasi-identifier yet.")
