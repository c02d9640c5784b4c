"""Hierarchies: all at a glance, every kind of form with what it would do, the editors of trees and cuts, several tables."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from conftest import Command
from servers.studio import Studio, until
from studio import browser_helpers

CITIES = ["Bilbao", "Burgos", "Cádiz", "Madrid", "Sevilla", "Vigo"]
ILLS = ["Angina", "Asthma", "Flu", "Lupus"]
ROWS = [
    f"P{i},{20 + i},{CITIES[i % 6]},{28000 + 7 * i:05},{1 + i % 28:02}/{1 + i % 12:02}/{1960 + i % 30},{ILLS[i % 4]}"
    for i in range(48)
]
TEXT = "name,age,home/city,zip,day,illness\n" + "\n".join(ROWS) + "\n"
COLUMNS: dict[str, Any] = {
    "name": "identifier",
    "age": {"role": "quasi-identifier", "type": "integer"},
    "home/city": {
        "role": "quasi-identifier",
        "hierarchy": {"groups": {"north": ["Bilbao", "Burgos"], "south": ["Cádiz", "Sevilla"]}},
    },
    "zip": {"role": "quasi-identifier", "hierarchy": {"mask": "right"}},
    "day": {"role": "quasi-identifier", "type": "date", "format": "%d/%m/%Y", "hierarchy": {"dates": ["year"]}},
    "illness": {"role": "sensitive", "hierarchy": {"tree": {"heart": ["Angina"], "other": ["Asthma", "Flu", "Lupus"]}}},
}
CITY = "home/city"
BY_KEYS = "Name of the group"


@pytest.fixture(scope="module")
def source(api: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("table") / "people.csv"
    path.write_text(TEXT, encoding="utf-8")
    made = api.post("/sources", {"name": "People", "upload": api.upload(path)})
    api.follow(made["job"])
    return str(made["id"])


class Own:
    """A project of one test."""

    def __init__(self, api: Any, studio: Studio, document: dict[str, Any]) -> None:
        self.api = api
        self.id = api.post("/projects", {"name": "Coarser", "document": document})["id"]
        self.address = f"{studio.address}/projects/{self.id}/hierarchies"
        self.workshop = f"{studio.address}/projects/{self.id}/hierarchy"

    @property
    def document(self) -> dict[str, Any]:
        found: dict[str, Any] = self.api.get(f"/projects/{self.id}")["document"]
        return found

    def hierarchy(self, column: str, table: str | None = None) -> Any:
        place = self.document if table is None else self.document["tables"][table]
        return place["columns"][column].get("hierarchy")

    def becomes(self, column: str, description: Any) -> None:
        until(lambda: self.hierarchy(column) == description)


@pytest.fixture
def own(api: Any, studio: Studio, source: str) -> Own:
    return Own(api, studio, {"source": {"source": source}, "columns": COLUMNS, "models": [{"k-anonymity": {"k": 2}}]})


def opened(look: Callable[..., Any], own: Own, column: str, name: str = "ana", **query: str) -> Any:
    """The page of a column, when what waits for a worker is there."""
    page = look(name, **({"width": int(query.pop("width"))} if "width" in query else {}))
    asked = "&".join(f"{key}={value}" for key, value in query.items())
    page.goto(f"{own.workshop}?{urlencode({'column': column})}&{asked}")
    page.wait_for_selector("#preview-title")
    browser_helpers.still(page)
    return page


def preview(page: Any, text: str) -> None:
    page.locator("#preview", has_text=text).wait_for()


def levels(page: Any) -> list[str]:
    """The groups of each level, as the preview shows them."""
    return list(page.locator("#preview tbody tr td:nth-child(2)").all_inner_texts())


def item(page: Any, name: str, pane: str = "tree") -> Any:
    return page.locator(f"velado-tree .{pane} [role=treeitem]").filter(has=page.locator(".name", has_text=name)).first


def save(page: Any) -> None:
    page.get_by_role("button", name="Save", exact=True).click()
    page.locator("#said", has_text="Saved.").wait_for()
    page.locator(".badge.good", has_text="saved").wait_for()


def wrong(page: Any) -> list[str]:
    """What axe finds when nothing is on its way."""
    browser_helpers.still(page)
    return browser_helpers.axe(page)


# At a glance


def test_all_hierarchies_at_a_glance(look: Callable[..., Any], own: Own) -> None:
    page = look()
    page.goto(own.address)
    page.wait_for_selector(".outline")
    cards = {card.locator("h2").inner_text(): card for card in page.locator(".hierarchies .card").all()}
    assert list(cards) == ["age", CITY, "zip", "day", "illness"]
    assert "not covered: 2" in cards[CITY].inner_text()
    assert "all covered" in cards["zip"].inner_text()
    assert "masked characters" in cards["zip"].inner_text()
    assert cards["zip"].locator(".sizes strong").first.inner_text() == "48"
    assert "28000" in cards["zip"].locator(".ways").inner_text()
    assert "calendar year" in " ".join(cards["day"].inner_text().split())
    assert wrong(page) == []
    cards["age"].get_by_role("button", name="Use the suggestion").click()
    until(lambda: "intervals" in (own.hierarchy("age") or {}))
    page.locator(".card", has_text="intervals").locator(".ways").wait_for()
    page.get_by_role("link", name="zip", exact=True).click()
    page.wait_for_selector("#preview-title")
    assert page.locator("h1").inner_text() == "zip"


# Forms


def test_a_mask_shows_what_it_does_before_it_is_saved(look: Callable[..., Any], own: Own) -> None:
    page = opened(look, own, "zip")
    assert levels(page)[0] == "48"
    page.fill("#o-hide", "2 4")
    preview(page, "levels: 3")
    assert levels(page) == ["48", "4", "1"]
    assert "280**" in page.locator("section", has_text="Values at all levels").last.inner_text()
    page.select_option("#o-side", "left")
    preview(page, "**0")
    page.locator(".badge", has_text="not saved").wait_for()
    assert own.hierarchy("zip") == {"mask": "right"}
    page.fill("#o-hide", "two")
    page.locator("#o-hide-wrong").wait_for()
    assert page.input_value("#o-hide") == "two"
    page.fill("#o-hide", "4 2")
    page.locator("#preview .notice.bad").wait_for()
    page.fill("#o-hide", "1 3")
    preview(page, "levels: 4")
    assert wrong(page) == []
    save(page)
    own.becomes("zip", {"mask": {"side": "left", "hide": [1, 3]}})
    page.locator(".badge", has_text="saved").first.wait_for()
    page.get_by_role("button", name="Undo", exact=True).click()
    own.becomes("zip", {"mask": "right"})


def test_dates_are_read_in_a_format(look: Callable[..., Any], own: Own) -> None:
    page = opened(look, own, "day")
    page.locator("#edit").get_by_label("decade").check()
    preview(page, "1960-1969")
    page.fill("#o-format", "%Y-%m-%d")
    page.locator("#preview .notice.bad").wait_for()
    page.fill("#o-format", "%d/%m/%Y\n%Y-%m-%d")
    preview(page, "1960-1969")
    save(page)
    own.becomes("day", {"dates": ["year", "decade"]})
    assert own.document["columns"]["day"]["format"] == ["%d/%m/%Y", "%Y-%m-%d"]


def test_every_kind_has_a_form(look: Callable[..., Any], own: Own) -> None:
    page = opened(look, own, "zip")
    for title, field, text, description in (
        ("beginnings of codes", "#o-lengths", "4, 2", {"prefix": [4, 2]}),
        ("parts of a path", "#o-separator", "0", {"path": {"separator": "0", "specific": "left"}}),
        ("rare values together", "#o-least", "2 5", {"frequency": [2, 5]}),
        ("intervals", "#o-widths", "10;50", {"intervals": [10, 50]}),
    ):
        page.get_by_role("link", name=title, exact=True).click()
        page.fill(field, text)
        save(page)
        own.becomes("zip", description)


def test_values_in_order_and_a_known_list(look: Callable[..., Any], own: Own) -> None:
    page = opened(look, own, "illness", kind="order")
    assert page.input_value("#o-values").split() == ILLS
    page.fill("#o-values", "\n".join(reversed(ILLS)))
    save(page)
    own.becomes("illness", {"order": ILLS[::-1]})
    page.get_by_role("link", name="known list").click()
    # A city is no country: the form stays, and says so.
    page.locator("#preview .notice.bad").wait_for()
    page.fill("#o-others", "elsewhere")
    preview(page, "elsewhere")


# The editor of trees


def test_a_tree_by_mouse(look: Callable[..., Any], own: Own, main: Command, tmp_path: Path) -> None:
    page = opened(look, own, CITY, kind="tree")
    until(lambda: page.locator(".tray .name").all_inner_texts() == ["Madrid", "Vigo"])
    item(page, "Vigo", "tray").drag_to(item(page, "north"))
    preview(page, "not covered: 1")
    item(page, "Madrid", "tray").drag_to(page.locator("velado-tree .tree"), target_position={"x": 60, "y": 380})
    preview(page, "all covered")
    item(page, "Burgos").click()
    item(page, "Madrid").click(modifiers=["Control"])
    assert page.locator("velado-tree .state").inner_text() == "2 selected"
    page.get_by_role("button", name="New group").click()
    page.get_by_label(BY_KEYS).fill("middle")
    page.get_by_label(BY_KEYS).press("Enter")
    preview(page, "middle")
    assert wrong(page) == []
    save(page)
    wanted = {"tree": {"north": {"Bilbao": None, "middle": ["Burgos", "Madrid"], "Vigo": None}, "south": ["Cádiz", "Sevilla"]}}
    own.becomes(CITY, wanted)
    with page.expect_download() as found:
        page.get_by_role("link", name="Export as CSV").click()
    exported = Path(found.value.path()).read_text(encoding="utf-8")
    (tmp_path / "people.csv").write_text(TEXT, encoding="utf-8")
    document = {**own.document, "source": "people.csv", "rest": "drop"}
    (tmp_path / "project.json").write_text(json.dumps(document), encoding="utf-8")
    assert exported == main("hierarchy", "project.json", CITY).out
    assert exported.splitlines()[0] == "Bilbao;Bilbao;north;*"


def test_a_tree_by_keys(look: Callable[..., Any], own: Own) -> None:
    page = opened(look, own, CITY, kind="tree")
    written = page.locator("#o-listed")
    page.locator("velado-tree .tray").focus()
    for keys in ("Home", "Shift+End", "Control+x"):
        page.keyboard.press(keys)
    assert "2 cut" in page.locator("velado-tree .state").inner_text()
    page.keyboard.press("Shift+Tab")
    for keys in ("Home", "ArrowLeft", "ArrowDown", "Control+v"):
        page.keyboard.press(keys)
    preview(page, "all covered")
    assert json.loads(written.input_value())["tree"]["south"] == ["Cádiz", "Sevilla", "Madrid", "Vigo"]
    page.keyboard.press("Control+z")
    preview(page, "not covered: 2")
    page.keyboard.press("Control+y")
    preview(page, "all covered")
    # The selected ones into a group of their own, by one letter.
    page.keyboard.press("g")
    page.keyboard.type("Atlantic")
    page.keyboard.press("Enter")
    preview(page, "Atlantic")
    for keys in ("Control+x", "Home", "Control+v"):
        page.keyboard.press(keys)
    until(lambda: "Atlantic" in json.dumps(json.loads(written.input_value())["tree"]["north"]))
    page.keyboard.press("F2")
    page.keyboard.type("coast")
    page.keyboard.press("Enter")
    preview(page, "coast")
    page.get_by_role("button", name="Ungroup").click()
    until(lambda: "coast" not in written.input_value())
    page.locator("velado-tree .tree").focus()
    page.keyboard.press("Home")
    page.keyboard.press("Delete")
    preview(page, "not covered")
    page.keyboard.press("Control+z")
    preview(page, "all covered")
    page.get_by_role("button", name="Save", exact=True).press("Enter")
    page.locator("#said", has_text="Saved.").wait_for()
    until(lambda: "tree" in own.hierarchy(CITY))
    # What was edited can still be taken back after saving.
    page.get_by_role("button", name="Undo", exact=True).last.click()
    page.locator(".badge", has_text="not saved").wait_for()


def test_moving_without_dragging_and_looking_for_values(look: Callable[..., Any], own: Own) -> None:
    page = opened(look, own, "zip", kind="tree", width="390")
    page.get_by_role("button", name="Close all").click()
    page.get_by_label("Find a value or group").fill("2806")
    until(lambda: item(page, "28063").count())
    item(page, "28063").click()
    page.get_by_label("Move to").select_option(label="Not in the hierarchy")
    page.get_by_role("button", name="Move", exact=True).click()
    preview(page, "not covered: 1")
    assert item(page, "28063", "tray").count() == 1
    assert wrong(page) == []
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_any_hierarchy_becomes_a_tree(look: Callable[..., Any], own: Own) -> None:
    page = opened(look, own, "zip")
    page.get_by_role("button", name="Edit as a tree").click()
    page.wait_for_selector("velado-tree [role=treeitem]")
    page.get_by_role("button", name="Close all").click()
    assert item(page, "2****").locator(".count").inner_text() == "values: 48"
    save(page)
    until(lambda: "2****" in own.hierarchy("zip").get("tree", {}) or "280**" in json.dumps(own.hierarchy("zip")))
    page.locator(".card", has_text="Drawn as a tree").scroll_into_view_if_needed()
    page.wait_for_selector("velado-chart[data-drawn] svg")


def test_a_file_is_brought_and_mended(look: Callable[..., Any], own: Own, tmp_path: Path) -> None:
    path = tmp_path / "cities.csv"
    path.write_text("Bilbao,north\nBurgos,north\nMadrid,middle\nSevilla,south\nCádiz,south\n", encoding="utf-8")
    page = opened(look, own, CITY, kind="file")
    page.set_input_files("#o-file", path)
    preview(page, "not covered: 1")
    save(page)
    until(lambda: own.hierarchy(CITY).get("file", "").startswith("upload:"))
    page.get_by_role("button", name="Place them in a tree").click()
    item(page, "Vigo", "tray").drag_to(item(page, "north"))
    preview(page, "all covered")
    save(page)
    own.becomes(
        CITY, {"tree": {"north": ["Bilbao", "Burgos", "Vigo"], "middle": ["Madrid"], "south": ["Sevilla", "Cádiz"]}, "top": False}
    )


# Cuts on the histogram


def test_intervals_by_cuts(look: Callable[..., Any], own: Own) -> None:
    page = opened(look, own, "age", kind="intervals")
    written = page.locator("#o-cuts")
    page.get_by_label("by cuts of one's own").check()
    page.locator("velado-cuts").get_by_label("Intervals").fill("4")
    page.get_by_role("button", name="Equal frequency").click()
    preview(page, "levels: 4")
    assert levels(page) == ["48", "4", "2", "1"]
    page.get_by_role("button", name="Round numbers").click()
    until(lambda: written.input_value().startswith("40 60"))
    page.get_by_role("button", name="Remove all").click()
    until(lambda: written.input_value() == "")
    # What it made of the column is gone: nothing moves any more.
    page.locator("#preview tbody").wait_for(state="detached")
    # A click makes a cut, which is dragged at once.
    page.locator("velado-cuts .plane").scroll_into_view_if_needed()
    plane = page.locator("velado-cuts .plane").bounding_box()
    page.mouse.move(plane["x"] + plane["width"] * 0.2, plane["y"] + 30)
    page.mouse.down()
    page.mouse.move(plane["x"] + plane["width"] * 0.5, plane["y"] + 30, steps=3)
    page.mouse.up()
    until(lambda: written.input_value() in ("43", "44", "45"))
    page.locator("#preview tbody").wait_for()
    page.get_by_role("slider").focus()
    for keys in ("ArrowRight", "Shift+ArrowRight", "ArrowUp"):
        page.keyboard.press(keys)
    until(lambda: len(written.input_value().split()) == 2)
    at = int(written.input_value().split()[0])
    assert 54 <= at <= 56
    assert page.get_by_role("slider").get_attribute("aria-valuetext") == f"Cut at {at}, up to level 2"
    # Beside it are numbers.
    page.get_by_role("button", name="Add a cut").click()
    until(lambda: len(written.input_value().split("\n")[0].split()) == 2)
    page.locator(".cut-list input").first.fill("30")
    page.locator(".cut-list input").first.press("Tab")
    preview(page, "<30")
    assert wrong(page) == []
    save(page)
    own.becomes("age", {"intervals": {"cuts": [[30, at], [at]]}})
    page.reload()
    page.get_by_role("slider").nth(1).wait_for()
    assert page.get_by_role("slider").count() == 2


def test_widths_are_drawn_and_become_cuts(look: Callable[..., Any], own: Own) -> None:
    page = opened(look, own, "age", kind="intervals")
    page.fill("#o-widths", "10 20")
    preview(page, "20-29")
    until(lambda: page.locator("velado-cuts .cut").count() == 5)
    assert page.get_by_role("slider").count() == 0
    page.get_by_role("button", name="Turn into cuts of one's own").click()
    until(lambda: page.input_value("#o-cuts") == "30 40 50 60\n40 60")
    save(page)
    own.becomes("age", {"intervals": {"cuts": [[30, 40, 50, 60], [40, 60]]}})


# People and tables


def test_who_may_not_see_values_sees_none(look: Callable[..., Any], own: Own, api: Any, studio: Studio) -> None:
    studio.user("nora", "steward")
    studio.user("rita", "steward")
    api.put(f"/projects/{own.id}/members", {"user": "nora", "role": "analyst"})
    api.put(f"/projects/{own.id}/members", {"user": "rita", "role": "reader"})
    page = look("nora")
    page.goto(own.address)
    page.locator(".sizes").first.wait_for()
    assert not [value for value in (*ILLS, "28007") if value in page.content()]
    for column in ("illness", CITY):
        page = opened(look, own, column, "nora")
        assert not [value for value in ILLS if value in page.content()]
        assert page.locator("#edit, velado-tree, [name=do]").count() == 0
        assert page.get_by_text("not covered").count() == 0
        # Of a sensitive column not even how its values are spread.
        assert levels(page)[-1:] == ([] if column == "illness" else ["1"])
        assert wrong(page) == []
        answer = page.goto(f"{own.workshop}?{urlencode({'column': column})}&file=csv")
        assert answer.status == 403
    page = look("rita")
    page.goto(f"{own.workshop}?column=illness")
    page.get_by_text("You may see which hierarchies there are").wait_for()
    assert not [value for value in ILLS if value in page.content()]


def test_tables_share_hierarchies(look: Callable[..., Any], api: Any, studio: Studio, source: str) -> None:
    part = {"source": {"source": source}, "rest": "drop"}
    quasi = {"role": "quasi-identifier"}
    tables = {
        "people": {**part, "columns": {"age": {"role": "quasi-identifier", "hierarchy": {"intervals": [5]}}, "zip": {}}},
        "visits": {**part, "columns": {"age": dict(quasi), "zip": {}, CITY: dict(quasi)}},
    }
    document = {
        "tables": tables,
        "attributes": {"zip": {**quasi, "hierarchy": {"mask": "right"}}},
        "models": [{"k-anonymity": {"k": 2}}],
    }
    own = Own(api, studio, document)
    page = opened(look, own, "age", table="people")
    page.get_by_text("The same attribute is in visits: age").wait_for()
    page.fill("#o-widths", "10")
    save(page)
    until(lambda: own.hierarchy("age", "visits") == {"intervals": [10]} == own.hierarchy("age", "people"))
    page.select_option("#copy-to", "visits: home/city")
    page.get_by_role("button", name="Use it there").click()
    until(lambda: own.hierarchy(CITY, "visits") == {"intervals": [10]})
    page = opened(look, own, "zip", table="visits")
    page.fill("#o-hide", "3")
    save(page)
    until(lambda: own.document["attributes"]["zip"]["hierarchy"] == {"mask": {"side": "right", "hide": [3]}})
    assert own.document["tables"]["visits"]["columns"]["zip"] == {}
    page.get_by_role("button", name="Remove the hierarchy").click()
    until(lambda: "hierarchy" not in own.document["attributes"]["zip"])
    # A table without the column shows its list.
    page = opened(look, own, CITY, table="visits")
    page.get_by_role("link", name="people").click()
    page.wait_for_selector(".hierarchies")


def test_two_people_at_once(look: Callable[..., Any], own: Own, api: Any) -> None:
    page = opened(look, own, "zip")
    project = api.get(f"/projects/{own.id}")
    api.put(f"/projects/{own.id}", {"document": {**project["document"], "rest": "drop"}}, version=project["version"])
    page.fill("#o-hide", "4")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("button", name="Put mine on top").click()
    own.becomes("zip", {"mask": {"side": "right", "hide": [4]}})
    assert own.document["rest"] == "drop"


def test_without_scripts(look: Callable[..., Any], own: Own) -> None:
    page = look(scripts=False)
    page.goto(own.address)
    page.get_by_role("button", name="Show them").click()
    page.get_by_role("link", name="illness", exact=True).click()
    page.get_by_role("button", name="Show it").click()
    page.get_by_label("Values in groups, as JSON").fill('{"tree": {"heart": ["Angina"], "lungs": ["Asthma", "Flu"]}}')
    page.get_by_role("button", name="Preview").click()
    assert "not covered: 1" in page.locator("#preview").inner_text()
    page.get_by_label("Values in groups, as JSON").fill('{"tree": ')
    page.get_by_role("button", name="Save", exact=True).click()
    assert "This is no JSON." in page.content()
    page.get_by_label("Values in groups, as JSON").fill('{"tree": {"heart": ["Angina"], "rest": ["Asthma", "Flu", "Lupus"]}}')
    page.get_by_role("button", name="Save", exact=True).click()
    own.becomes("illness", {"tree": {"heart": ["Angina"], "rest": ["Asthma", "Flu", "Lupus"]}})
