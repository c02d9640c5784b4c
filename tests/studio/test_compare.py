"""Compare: settings side by side with the figures of the product, the best k on its curve, adopting a setting."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import velado
from servers.studio import Studio
from studio import browser_helpers
from velado.project import Project
from velado.questions.compare import _variants
from velado.questions.grid import grid_of
from velado.service.projects.document import Document
from velado.studio.forms import apply_settings
from velado.studio.forms.comparison_form import ranges
from velado.studio.words import Words

THESIS = {"mondrian": {"split": "distribution", "represent": "mode", "width": "std"}}
COLUMNS = {name: {"role": "quasi-identifier", "type": "integer"} for name in ("age", "hours")}


def people() -> str:
    """Invented people: ages and hours of work, and what they are ill with."""
    random = np.random.default_rng(7)
    ages, hours = random.integers(18, 80, 2000), np.clip(random.normal(38, 8, 2000), 5, 70).astype(int)
    ill = random.choice(["flu", "gout", "asthma"], 2000)
    return "\n".join(["age,hours,ill", *(f"{a},{h},{i}" for a, h, i in zip(ages, hours, ill, strict=True))]) + "\n"


@pytest.fixture(scope="module")
def table(api: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """The table in the service, and as a file."""
    path = tmp_path_factory.mktemp("compared") / "people.csv"
    path.write_text(people())
    made = api.post("/sources", {"name": "people", "upload": api.upload(path)})
    api.follow(made["job"])
    return str(made["id"]), path


def described(source: Any, **more: Any) -> dict[str, Any]:
    """A project of the table."""
    return {
        "velado": 1,
        "source": source,
        "columns": {**COLUMNS, "ill": "sensitive"},
        "models": [{"k-anonymity": {"k": 3}}, {"distinct-diversity": {"l": 2, "column": "ill"}}],
        "method": THESIS,
        **more,
    }


@pytest.fixture
def own(api: Any, table: tuple[str, Path]) -> dict[str, Any]:
    """A new project, and the same one beside the service."""
    made = api.post("/projects", {"name": "People", "document": described({"source": table[0]})})
    return {"id": made["id"], "project": described(str(table[1]))}


def ask(page: Any, button: str) -> str:
    """Send the form and wait for the result; its id."""
    before = page.url
    page.get_by_role("button", name=button, exact=True).click()
    return ended(page, before)


def ended(page: Any, before: str) -> str:
    """Wait until what was just begun has ended; the id of the result."""
    page.wait_for_function("before => location.href.includes('result=') && location.href !== before", arg=before)
    page.wait_for_function("() => !document.querySelector('[data-poll]') && !document.body.classList.contains('busy')")
    return str(page.url.partition("result=")[2][:24])


def document(api: Any, own: dict[str, Any]) -> dict[str, Any]:
    """The project as it is saved."""
    return dict(api.get(f"/projects/{own['id']}")["document"])


def test_settings_side_by_side_are_those_of_the_product(
    look: Callable[..., Any], studio: Studio, api: Any, own: dict[str, Any], tmp_path: Path
) -> None:
    page = look()
    page.goto(f"{studio.address}/projects/{own['id']}/compare")
    page.get_by_label("k", exact=True).fill("2..6, 4000")
    result = ask(page, "Compare")
    same = velado.compare(own["project"], {"k": [2, 3, 4, 5, 6, 4000]}, measures=["privacy", "ks"])
    told = api.get(f"/comparisons/{result}")["result"]
    assert told == json.loads(json.dumps(same.as_dict()))
    words, shown = Words("en"), page.locator("[id^=setting-]")
    assert shown.count() == 6
    for row, setting in zip(shown.all(), same.settings, strict=True):
        cells, figures = row.locator("td").all_inner_texts(), setting.figures()
        assert cells[0] == words.number(setting.parameters["k"])
        if setting.evaluation is None:
            assert cells[1] == "no solution"
            continue
        numbers = [
            words.number(figures["loss"], 4),
            "0%",
            words.percent(figures["risk_highest"], 2),
            words.percent(figures["risk_average"], 2),
        ]
        assert cells[3:7] == numbers
        assert cells[8:11] == [
            words.integer(figures["classes"]),
            str(figures["smallest_class"]),
            words.number(figures["average_class"], 4),
        ]
        assert cells[11:13] == [words.number(figures["ks_p_age"], 4), words.number(figures["ks_p_hours"], 4)]
        assert ("efficient" in cells[1]) == setting.efficient
    assert same.settings[5].evaluation is None
    before = same.settings[0].evaluation
    assert before is not None
    assert before.before is not None
    original = page.locator("tr.original td").all_inner_texts()
    assert original[2:4] == ["100%", words.percent(before.before.risk.average, 2)]
    page.locator("velado-chart").first.scroll_into_view_if_needed()
    page.wait_for_selector("velado-chart[data-drawn] svg")
    page.get_by_role("link", name="Loss (geometric mean)").click()
    page.wait_for_selector("th[aria-sort=ascending]")
    page.get_by_role("link", name="Loss (geometric mean)").click()
    page.wait_for_selector("th[aria-sort=descending]")
    assert [row.split()[0] for row in shown.all_inner_texts()] == ["6", "5", "4", "3", "2", "4,000"]
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    download.value.save_as(tmp_path / "got.csv")
    velado.report.save_comparison(same, tmp_path / "same", "en")
    assert (tmp_path / "got.csv").read_text() == (tmp_path / "same" / "comparison.csv").read_text()
    assert browser_helpers.axe(page) == []
    page.get_by_role("button", name="Adopt k = 5").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/run*")
    assert document(api, own) == {
        **described(document(api, own)["source"]),
        "models": [{"k-anonymity": {"k": 5}}, {"distinct-diversity": {"l": 2, "column": "ill"}}],
    }


def test_the_best_k_is_marked_on_its_curve(look: Callable[..., Any], studio: Studio, api: Any, own: dict[str, Any]) -> None:
    page = look()
    page.goto(f"{studio.address}/projects/{own['id']}/compare?question=balance")
    assert page.get_by_label("Kolmogorov–Smirnov p-value ≥").input_value() == "0.95"
    assert page.get_by_label("k", exact=True).input_value() == "2..20"
    result = ask(page, "Find the balance")
    same = velado.balance(own["project"], {"ks": 0.95})
    best = same.chosen.parameters["k"]
    assert api.get(f"/comparisons/{result}")["result"] == json.loads(json.dumps(same.as_dict()))
    assert page.locator("#best-title").inner_text().startswith(f"Largest k that keeps Kolmogorov–Smirnov p-value ≥ 0.95: {best}")
    page.wait_for_selector("#best velado-chart[data-drawn] svg")
    drawn = page.locator("#best velado-chart svg").text_content()
    assert f"k = {best}" in drawn
    assert "kept from 0.95" in drawn
    assert page.locator("tr[aria-selected=true] td").first.inner_text() == str(best)
    following = min(k for k in range(2, 21) if k > best)
    assert f"The next stronger one fails: k = {following}" in page.locator("#best").inner_text()
    assert browser_helpers.axe(page) == []
    page.get_by_role("button", name=f"Adopt k = {best}").first.click()
    page.wait_for_url("**/run*")
    assert document(api, own)["models"][0] == {"k-anonymity": {"k": best}}
    page.goto(f"{studio.address}/projects/{own['id']}/compare?question=balance")
    assert "in the project" in page.locator("#best").inner_text()
    assert "which has changed since" in page.locator("#found").inner_text()


def test_where_nothing_keeps_the_conditions_the_nearest_is_offered(
    look: Callable[..., Any], studio: Studio, api: Any, own: dict[str, Any]
) -> None:
    page = look()
    page.goto(f"{studio.address}/projects/{own['id']}/compare?question=balance")
    page.get_by_label("Kolmogorov–Smirnov p-value ≥").fill("")
    page.get_by_label("Loss (geometric mean) ≤").fill("0,0001")
    page.get_by_label("k", exact=True).fill("2..4")
    ask(page, "Find the balance")
    with pytest.raises(velado.NoSolution) as raised:
        velado.balance(own["project"], {"loss": 0.0001}, {"k": [2, 3, 4]})
    nearest = raised.value.fields["nearest"]["loss"]
    assert f"with k = {nearest['setting']['k']}" in page.locator("#none").inner_text()
    assert browser_helpers.axe(page) == []
    before = failed = page.url
    page.get_by_role("button", name="Ask for loss").click()
    result = ended(page, before)
    assert api.get(f"/comparisons/{result}")["result"]["chosen"] == nearest["setting"]
    page.goto(failed)
    before = page.url
    page.get_by_role("button", name="See all of them side by side").click()
    result = ended(page, before)
    assert [s["parameters"] for s in api.get(f"/comparisons/{result}")["result"]["settings"]] == [{"k": k} for k in (2, 3, 4)]


def test_numbers_are_kept_as_numbers_where_the_test_needs_them(
    look: Callable[..., Any], studio: Studio, api: Any, own: dict[str, Any], hospital: dict[str, str]
) -> None:
    page = look()
    intervals = {**document(api, own), "method": {"mondrian": {"split": "median"}}}
    api.put(f"/projects/{own['id']}", {"document": intervals}, version=1)
    page.goto(f"{studio.address}/projects/{own['id']}/compare?question=balance")
    page.get_by_role("button", name="Keep numbers as numbers").click()
    page.locator("#ks-note").wait_for(state="detached")
    assert document(api, own)["method"] == THESIS
    page.goto(f"{studio.address}/projects/{hospital['project']}/compare?question=balance")
    assert "no quasi-identifier of this table is a number" in page.locator("#ks-note").inner_text()
    assert page.get_by_label("Loss (geometric mean) ≤").input_value() == "0.25"


def test_what_cannot_be_read_is_said_where_it_stands(
    look: Callable[..., Any], studio: Studio, api: Any, own: dict[str, Any]
) -> None:
    page = look(language="pt", width=390, dark=True)
    page.goto(f"{studio.address}/projects/{own['id']}/compare")
    page.get_by_label("ℓ", exact=True).fill("2..x")
    page.get_by_role("button", name="Comparar", exact=True).click()
    page.wait_for_selector("[aria-invalid=true]")
    assert page.get_by_label("ℓ", exact=True).input_value() == "2..x"
    assert "espera valores e intervalos" in page.locator("#grid-l-wrong").inner_text()
    assert browser_helpers.axe(page) == []
    page.get_by_label("ℓ", exact=True).fill("2..100")
    page.get_by_label("k", exact=True).fill("2..100")
    page.get_by_role("button", name="Comparar", exact=True).click()
    page.wait_for_selector("#wrong, dialog[open]")
    assert api.get("/jobs", project=own["id"])["items"] == []


def test_who_may_not_see_records_compares_without_adopting(
    look: Callable[..., Any], studio: Studio, api: Any, own: dict[str, Any]
) -> None:
    lattice = {
        **document(api, own),
        "method": {"lattice": {"suppression": 0.5}},
        "columns": {**{n: {**c, "hierarchy": {"intervals": [10, 20, 100]}} for n, c in COLUMNS.items()}, "ill": "sensitive"},
    }
    api.put(f"/projects/{own['id']}", {"document": lattice}, version=1)
    studio.user("nora", "steward")
    api.put(f"/projects/{own['id']}/members", {"user": "nora", "role": "analyst"})
    page = look("nora", language="es")
    page.goto(f"{studio.address}/projects/{own['id']}/compare")
    page.get_by_label("k", exact=True).fill("2..3")
    page.get_by_label("límite de supresión").fill("1..3 records")
    result = ask(page, "Comparar")
    whole, shown = api.get(f"/comparisons/{result}")["result"]["settings"], page.locator("[id^=setting-]")
    few = [s["evaluation"] is not None and 0 < s["evaluation"]["suppressed"] < 3 for s in whole]
    assert any(few)
    for row, blurred in zip(shown.all(), few, strict=True):
        cells = row.locator("td").all_inner_texts()
        assert (cells[4] == "menos de 3") == (cells[3] == "–") == blurred
    assert page.get_by_role("button", name="Adoptar").count() == 0
    assert page.locator("#axis").count() == 0
    studio.user("rita", "steward")
    api.put(f"/projects/{own['id']}/members", {"user": "rita", "role": "reader"})
    page = look("rita")
    assert page.goto(f"{studio.address}/projects/{own['id']}/compare").status == 200
    assert page.locator("#ask, #found").count() == 0


def test_one_of_several_tables_is_compared_and_put_into_the_report(
    look: Callable[..., Any], studio: Studio, api: Any, table: tuple[str, Path]
) -> None:
    part = {key: value for key, value in described({"source": table[0]}).items() if key in ("source", "columns")}
    shared = {"models": [{"k-anonymity": {"k": 2}}], "method": "mondrian"}
    made = api.post("/projects", {"name": "Two", "document": {"velado": 1, **shared, "tables": {"first": part, "second": part}}})
    api.follow(api.submit("run", project=made["id"])["id"])
    page = look()
    page.goto(f"{studio.address}/projects/{made['id']}/compare?table=second")
    page.get_by_label("k", exact=True).fill("4..5")
    ask(page, "Compare")
    page.get_by_role("button", name="Adopt k = 4").click()
    page.wait_for_url("**/run?table=second*")
    tables = api.get(f"/projects/{made['id']}")["document"]["tables"]
    assert tables["second"]["models"] == [{"k-anonymity": {"k": 4}}]
    assert "models" not in tables["first"]
    page.goto(f"{studio.address}/projects/{made['id']}/compare?table=second")
    page.get_by_role("button", name="Into the report of the release").click()
    page.wait_for_url("**/publish*")
    (job,) = api.get("/jobs", project=made["id"], kind="report")["items"]
    assert job["parameters"]["grid"] == {"k": [4, 5]}
    assert job["parameters"]["table"] == "second"


@pytest.mark.parametrize(
    "setting",
    [{"k": 7}, {"k": 2, "l": 3}, {"method": "lattice", "k": 4}, {"method": "mondrian"}, {"method": "datafly", "suppression": 0.05}],
)
def test_an_adopted_setting_is_the_one_that_was_compared(setting: dict[str, Any]) -> None:
    for models in (
        [{"k-anonymity": {"k": 2}}, {"distinct-diversity": {"l": 2, "column": "ill"}}],
        {"distinct-diversity": {"l": 2, "column": "ill"}},
    ):
        for method in ("mondrian", {"lattice": {"suppression": 0.1}}, THESIS):
            before = described("people.csv", models=models, method=method)
            (wanted,) = _variants(Project.from_dict(before), {name: [value] for name, value in setting.items()})
            after = Project.from_dict({**before, **apply_settings.adopt_setting(Document(before), setting)})
            assert (after.models, after.method) == (wanted.models, wanted.method)


@pytest.mark.parametrize("text", ["2..25", "2, 5, 10", "0.1, 0.2", "2..4, 10", "3, 4"])
def test_values_are_written_as_they_are_read(text: str) -> None:
    assert ranges(grid_of({"k": text})["k"]) == text
