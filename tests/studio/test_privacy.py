"""Privacy: models by slider and number, several sensitive columns, method and limits, what is checked, several tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from servers.studio import Studio, until
from studio import browser_helpers


@pytest.fixture
def own(api: Any, hospital: dict[str, str]) -> dict[str, str]:
    """A project of one test, with two sensitive columns."""
    document = api.get(f"/projects/{hospital['project']}")["document"]
    columns = {**document["columns"], "cost": {"role": "sensitive", "type": "number", "known": "never"}}
    return {"project": api.post("/projects", {"name": "Protected", "document": {**document, "columns": columns}})["id"]}


@pytest.fixture
def page(look: Callable[..., Any], studio: Studio, own: dict[str, str]) -> Any:
    found = look()
    found.goto(f"{studio.address}/projects/{own['project']}/privacy")
    return found


def saved(api: Any, ids: dict[str, str]) -> dict[str, Any]:
    document: dict[str, Any] = api.get(f"/projects/{ids['project']}")["document"]
    return document


def becomes(api: Any, ids: dict[str, str], wanted: Callable[[dict[str, Any]], Any]) -> None:
    until(lambda: wanted(saved(api, ids)))


def test_models_are_chosen_by_slider_and_number(page: Any, api: Any, own: dict[str, str]) -> None:
    assert saved(api, own)["models"][0] == {"k-anonymity": {"k": 5}}
    page.fill("#model-0-k", "7")
    assert page.input_value("#model-0-k-slide") == "7"
    page.press("#model-0-k", "Tab")
    becomes(api, own, lambda document: document["models"][0] == {"k-anonymity": {"k": 7}})
    page.wait_for_selector("#model-0 .requirement:has-text('k ≥ 7')")
    page.focus("#model-0-k-slide")
    page.keyboard.press("ArrowRight")
    becomes(api, own, lambda document: document["models"][0] == {"k-anonymity": {"k": 8}})
    page.wait_for_selector("#model-0 .requirement:has-text('k ≥ 8')")
    until(lambda: page.input_value("#model-0-k") == "8")
    # What the table has now: everybody is alone with their quasi-identifiers, or nearly.
    page.wait_for_selector("#model-0 .now:has-text('The table has now 1')")
    page.locator("summary", has_text="Add a model").click()
    headings = page.locator("#offers h3").all_inner_texts()
    assert next(text.split("?")[0].strip() for text in headings) == "Against linkage with an external table"
    assert browser_helpers.axe(page) == []


def test_a_second_sensitive_column_and_undo(page: Any, api: Any, own: dict[str, str]) -> None:
    before = saved(api, own)["models"]
    page.locator("summary", has_text="Add a model").click()
    page.get_by_role("button", name="Add t-closeness").click()
    becomes(api, own, lambda document: document["models"][-1] == {"t-closeness": {"t": 0.3, "column": "diagnosis"}})
    page.get_by_role("button", name="Add t-closeness").click()
    becomes(api, own, lambda document: document["models"][-1] == {"t-closeness": {"t": 0.3, "column": "cost"}})
    last = f"#model-{len(before) + 1}"
    page.wait_for_selector(f"{last} h3:has-text('t-closeness')")
    page.select_option(f"{last}-distance", "ordered")
    becomes(api, own, lambda document: document["models"][-1]["t-closeness"].get("distance") == "ordered")
    page.fill(f"{last}-t", "0.45")
    page.press(f"{last}-t", "Enter")
    becomes(api, own, lambda document: document["models"][-1]["t-closeness"]["t"] == 0.45)
    page.get_by_role("button", name="Remove t-closeness t ≤ 0.45").click()
    becomes(api, own, lambda document: len(document["models"]) == len(before) + 1)
    page.get_by_role("button", name="Undo").click()
    becomes(api, own, lambda document: document["models"][-1]["t-closeness"]["column"] == "cost")
    for left in (len(before) + 1, len(before)):
        page.locator(f"#model-{left} button", has_text="Remove").click()
        page.wait_for_selector(f"#model-{left}", state="detached")
    assert saved(api, own)["models"] == before


def test_method_limit_and_parameters_for_experts(page: Any, api: Any, own: dict[str, str]) -> None:
    page.fill("#method-suppression", "12.5")
    page.press("#method-suppression", "Tab")
    becomes(api, own, lambda document: document["method"] == {"lattice": {"suppression": 0.125}})
    page.get_by_label("a number of records").check()
    page.fill("#method-suppression-count", "3")
    page.press("#method-suppression-count", "Tab")
    becomes(api, own, lambda document: document["method"] == {"lattice": {"suppression": "3 records"}})
    page.select_option("#method-objective", "discernibility")
    becomes(api, own, lambda document: document["method"]["lattice"].get("objective") == "discernibility")
    assert page.locator("#method-minimal").count() == 0
    page.get_by_role("button", name="All", exact=True).click()
    page.check("#method-minimal")
    becomes(api, own, lambda document: document["method"]["lattice"].get("minimal") is True)
    page.get_by_role("button", name="Simple", exact=True).click()
    page.wait_for_selector("#method-minimal", state="detached")
    page.get_by_label("a share of the records").check()
    # What is not shown stays as it is.
    wanted = {"suppression": 0.0, "objective": "discernibility", "minimal": True}
    becomes(api, own, lambda document: document["method"] == {"lattice": wanted})
    page.get_by_role("radio", name="Datafly").check()
    becomes(api, own, lambda document: document["method"] == {"datafly": {"suppression": 0.0}})
    page.get_by_role("radio", name="fixed: levels").check()
    quasi = [name for name, column in saved(api, own)["columns"].items() if column["role"] == "quasi-identifier"]
    becomes(api, own, lambda document: document["method"] == {"fixed": {"suppression": 0.0, "levels": dict.fromkeys(quasi, 0)}})
    page.fill("#method-levels-1", "2")
    page.press("#method-levels-1", "Tab")
    becomes(api, own, lambda document: document["method"]["fixed"]["levels"][quasi[0]] == 2)
    page.get_by_role("radio", name="lattice: optimal").check()
    becomes(api, own, lambda document: document["method"] == {"lattice": {"suppression": 0.0}})


def test_what_is_wrong_leads_to_what_mends_it(page: Any, studio: Studio, api: Any, own: dict[str, str]) -> None:
    page.wait_for_selector("#checks .badge.good")
    page.locator("summary", has_text="Add a model").click()
    number = len(saved(api, own)["models"])
    page.get_by_role("button", name="Add t-closeness").click()
    page.select_option(f"#model-{number}-distance", "hierarchical")
    page.wait_for_selector("#checks .notice:has-text('needs a hierarchy of the sensitive column')")
    page.get_by_role("link", name="Mend it: Privacy").click()
    page.wait_for_url(f"**/privacy#model-{number}")
    page.select_option(f"#model-{number}-distance", "equal")
    page.wait_for_selector("#checks .badge.good")
    page.locator(f"#model-{number} button", has_text="Remove").click()
    becomes(api, own, lambda document: len(document["models"]) == number)
    # A column that nobody has said anything of is mended on its own page.
    document = saved(api, own)
    columns = {name: column for name, column in document["columns"].items() if name != "sex"}
    version = api.get(f"/projects/{own['project']}")["version"]
    api.put(
        f"/projects/{own['project']}",
        {"document": {k: v for k, v in document.items() if k != "rest"} | {"columns": columns}},
        version=version,
    )
    page.reload()
    page.wait_for_selector("#checks .badge.bad")
    assert page.get_by_role("link", name="Mend it: Columns").get_attribute("href").startswith(f"/projects/{own['project']}/columns")
    page.get_by_role("button", name="Undo").click()
    page.wait_for_selector("#checks .badge.good")


def test_a_form_without_scripts(page: Any, studio: Studio, api: Any, own: dict[str, str]) -> None:
    address = f"{studio.address}/projects/{own['project']}/privacy"
    hidden = {name: page.input_value(f"#model-0 input[name={name}]") for name in ("csrf", "version")}
    refused = page.request.post(f"{address}/models/0", form={**hidden, "has": "k", "p.k": "1"})
    assert refused.status == 422
    assert "must be a whole number of 2 or more" in refused.text()
    assert 'value="1"' in refused.text()
    kept = page.request.post(f"{address}/models/0", form={**hidden, "has": "k", "p.k": "9"}, max_redirects=0)
    assert (kept.status, kept.headers["location"]) == (303, f"/projects/{own['project']}/privacy")
    assert saved(api, own)["models"][0] == {"k-anonymity": {"k": 9}}
    # The page is older than that now: what was meant is shown beside what is there.
    late = page.request.post(f"{address}/models/0", form={**hidden, "has": "k", "p.k": "11"})
    assert late.status == 409
    assert saved(api, own)["models"][0] == {"k-anonymity": {"k": 9}}
    # What a worker finds out is asked for by a button.
    assert "Find it out" in page.request.get(f"{address}/checks").text()
    assert "Nothing is wrong" in page.request.post(f"{address}/checks", form={"csrf": hidden["csrf"]}).text()


def test_operations_only(page: Any, api: Any, own: dict[str, str]) -> None:
    before = saved(api, own)
    page.get_by_label("Operations only").check()
    becomes(api, own, lambda document: document.get("protection") == "operations" and "models" not in document)
    page.wait_for_selector("#models", state="detached")
    page.get_by_role("button", name="Undo").click()
    becomes(api, own, lambda document: document == before)
    page.wait_for_selector("#model-0")


def test_several_tables_have_models_in_common_or_their_own(
    look: Callable[..., Any], studio: Studio, api: Any, own: dict[str, str]
) -> None:
    document = saved(api, own)
    table = {key: document[key] for key in ("source", "columns", "rest") if key in document}
    several = {"velado": 1, "models": [{"k-anonymity": {"k": 4}}], "tables": {"a": table, "b": table}}
    made = {"project": api.post("/projects", {"name": "Two tables", "document": several})["id"]}
    page = look()
    page.goto(f"{studio.address}/projects/{made['project']}/privacy?table=b")
    page.fill("#model-0-k", "6")
    page.press("#model-0-k", "Tab")
    becomes(api, made, lambda document: document["models"] == [{"k-anonymity": {"k": 6}}])
    page.get_by_role("button", name="Only for b").first.click()
    becomes(api, made, lambda document: document["tables"]["b"].get("models") == [{"k-anonymity": {"k": 6}}])
    page.wait_for_selector("text=They hold for b only.")
    page.fill("#model-0-k", "3")
    page.press("#model-0-k", "Tab")
    becomes(api, made, lambda document: document["tables"]["b"]["models"] == [{"k-anonymity": {"k": 3}}])
    assert saved(api, made)["models"] == [{"k-anonymity": {"k": 6}}]
    page.get_by_role("button", name="As all tables").first.click()
    becomes(api, made, lambda document: "models" not in document["tables"]["b"])
    page.wait_for_selector("text=They hold for all tables.")
    assert browser_helpers.axe(page) == []


@pytest.mark.parametrize(("language", "words"), [("es", "Añadir un modelo"), ("pt", "Acrescentar um modelo")])
def test_other_languages_small_and_dark(
    look: Callable[..., Any], studio: Studio, own: dict[str, str], language: str, words: str
) -> None:
    page = look("ana", language=language, width=390, dark=True)
    page.request.post(f"{studio.address}/look", form={"language": language}, headers={"Origin": studio.address})
    page.goto(f"{studio.address}/projects/{own['project']}/privacy")
    assert page.locator("summary", has_text=words).count() == 1
    assert page.locator("html").get_attribute("lang") == language
    page.wait_for_selector("#checks .badge.good")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert browser_helpers.axe(page) == []


def test_who_may_not_change_it_sees_it(look: Callable[..., Any], studio: Studio, api: Any, own: dict[str, str]) -> None:
    studio.user("iris", "steward")
    api.put(f"/projects/{own['project']}/members", {"user": "iris", "role": "analyst"})
    page = look("iris", "steward")
    page.goto(f"{studio.address}/projects/{own['project']}/privacy")
    assert page.locator("#model-0-k").is_disabled()
    assert page.locator("#main button", has_text="Remove").count() == 0
    assert page.locator("#offers").count() == 0
    page.wait_for_selector("#checks .badge.good")
