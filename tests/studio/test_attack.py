"""Attack: adversaries are tried on a release, what they learn is shown, and what prevents it goes into the project."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import velado
from servers.studio import Studio
from studio import browser_helpers

AGES = [str(20 + i % 40) for i in range(60)]
ILLNESSES = ["Flu" if int(age) < 30 else ("Asthma", "Gout", "Cough")[i % 3] for i, age in enumerate(AGES)]
HEADER = "name,age,zip,ill"
COLUMNS = {
    "name": "identifier",
    "age": {"role": "quasi-identifier", "type": "integer", "hierarchy": {"intervals": [10, 100]}},
    "zip": {"role": "quasi-identifier", "hierarchy": {"mask": {"side": "right", "hide": [1, 2]}}},
    "ill": "sensitive",
}
"""Everybody below 30 has the same illness."""
HOMOGENEITY = {"confidence": 1, "only": ["homogeneity"]}


def rows(header: str = HEADER, ill: bool = True) -> str:
    """The table, or the same people as others know them."""
    lines = [
        ",".join((f"p{i}", age, f"080{i % 2:02}", *([illness] if ill else [])))
        for i, (age, illness) in enumerate(zip(AGES, ILLNESSES, strict=True))
    ]
    return "\n".join([header, *lines]) + "\n"


def source(api: Any, folder: Path, name: str, text: str) -> str:
    """A table of its own."""
    (folder / f"{name}.csv").write_text(text)
    made = api.post("/sources", {"name": name, "upload": api.upload(folder / f"{name}.csv")})
    api.follow(made["job"])
    return str(made["id"])


@pytest.fixture(scope="module")
def own(api: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A project with two releases, the newest of which tells what people below 30 have, and a table of known people."""
    folder = tmp_path_factory.mktemp("attacked")
    table = source(api, folder, "clinic", rows())
    document = {
        "velado": 1,
        "source": {"source": table},
        "columns": COLUMNS,
        "models": [{"k-anonymity": {"k": 3}}],
        "method": {"lattice": {"suppression": 0}},
        "output": {"order": "keep"},
    }
    project = api.post("/projects", {"name": "Clinic", "document": document})
    for k in (20, 3):
        changed = {**document, "models": [{"k-anonymity": {"k": k}}]}
        api.put(f"/projects/{project['id']}", {"document": changed}, version=1 if k == 20 else 2)
        api.follow(api.submit("run", project=project["id"])["id"])
    releases = api.get(f"/projects/{project['id']}/releases")["items"]
    known = source(api, folder, "voters", rows("name,years,zip", ill=False))
    return {
        "project": project["id"],
        "release": releases[0]["id"],
        "older": releases[1]["job"],
        "voters": known,
        "folder": str(folder),
    }


def tried(page: Any, before: str) -> None:
    """Wait until the attack that was just begun has ended."""
    page.wait_for_function("before => location.href.includes('result=') && location.href !== before", arg=before)
    page.wait_for_function("() => !document.querySelector('[data-poll]') && !document.body.classList.contains('busy')")


def models(api: Any, own: dict[str, str]) -> list[dict[str, Any]]:
    """The models of the project as they are saved."""
    return list(api.get(f"/projects/{own['project']}")["document"]["models"])


@pytest.mark.quick
def test_an_attack_succeeds_and_what_prevents_it_is_adopted(
    look: Callable[..., Any], studio: Studio, api: Any, own: dict[str, str]
) -> None:
    page = look()
    page.goto(f"{studio.address}/projects/{own['project']}/attack")
    page.get_by_role("button", name="Try this: Homogeneity").focus()
    before = page.url
    page.keyboard.press("Enter")
    tried(page, before)
    card = page.locator("article", has_text="Homogeneity: ill")
    card.wait_for()
    assert page.locator("#act-title").inner_text().startswith("Act on this")
    job = api.get("/jobs", project=own["project"], kind="attack")["items"][0]
    assert job["parameters"] == HOMOGENEITY
    (found,) = api.get(f"/jobs/{job['id']}/result")["attacks"]
    expected = ILLNESSES.count("Flu")
    assert found["figures"]["exposed_records"] == expected
    assert f"Records exposed: {expected}" in card.inner_text()
    cells = card.locator("tbody tr").first.locator("td").all_inner_texts()
    worst = found["exposed"][0]
    assert cells == [*worst["labels"].values(), str(worst["records"]), "100%", "Flu", "33.3%"]
    assert worst["labels"]["age"] == "20-29"
    assert browser_helpers.axe(page) == []
    known = models(api, own)
    card.get_by_role("button", name="Add to the project: distinct ℓ-diversity: ℓ ≥ 2 (ill)").click()
    page.wait_for_url("**/privacy*")
    page.get_by_text("is in the project now").wait_for()
    assert models(api, own) == [*known, {"distinct-diversity": {"l": 2, "column": "ill"}}]
    page.goto(f"{studio.address}/projects/{own['project']}/attack")
    assert "in the project" in page.locator(".remedies").first.inner_text()
    assert page.get_by_role("button", name="Add to the project").count() == 0


def test_rows_in_the_order_of_the_original_are_shuffled_from_now_on(
    look: Callable[..., Any], studio: Studio, api: Any, own: dict[str, str]
) -> None:
    page = look()
    page.goto(f"{studio.address}/projects/{own['project']}/attack")
    page.get_by_role("button", name="Try this: Order of rows").click()
    page.get_by_role("button", name="Do this from now on").click()
    page.wait_for_url("**/run*")
    assert api.get(f"/projects/{own['project']}")["document"]["output"] == {"order": "shuffle"}


def test_people_of_another_table_are_linked(look: Callable[..., Any], studio: Studio, api: Any, own: dict[str, str]) -> None:
    page = look()
    page.goto(f"{studio.address}/projects/{own['project']}/attack")
    assert page.get_by_role("button", name="Try this: Linkage").is_disabled()
    page.get_by_label("A table of known people").select_option(label="voters (60)")
    page.get_by_label("zip").wait_for()
    assert page.get_by_label("zip").input_value() == "zip"
    page.get_by_role("button", name="Try this: Linkage").click()
    page.get_by_text("say which column of the external table this is").wait_for()
    page.get_by_label("age", exact=True).select_option("years")
    page.get_by_text("Check the links").click()
    page.get_by_label("Column of the original").select_option("name")
    before = page.url
    page.get_by_role("button", name="Try this: Linkage").click()
    tried(page, before)
    job = api.get("/jobs", project=own["project"], kind="attack")["items"][0]
    wanted = {"only": ["linkage"], "external": own["voters"], "match": {"age": "years"}, "identity": "name", "confidence": 1}
    assert job["parameters"] == wanted
    told = api.get(f"/jobs/{job['id']}/result")["attacks"]
    folder = Path(own["folder"])
    api.download(f"/releases/{own['release']}/data", folder / "release.csv")
    same = velado.attack(
        folder / "release.csv",
        ["age", "zip"],
        ["ill"],
        original=folder / "clinic.csv",
        external=folder / "voters.csv",
        match={"age": "years"},
        identity="name",
        hierarchies={c: COLUMNS[c]["hierarchy"] for c in ("age", "zip")},
        only=["linkage"],  # type: ignore[index]
    )
    assert [one["figures"] for one in told] == [a.figures for a in same]
    assert told[0]["figures"]["correct"] == 60
    page.locator("#outcome").get_by_text("Linkage with an external table").first.wait_for()
    for summary in page.locator("#outcome summary").all():
        if summary.locator("xpath=..").get_attribute("open") is None:
            summary.click()
    assert "People of the external table" in page.locator("#outcome").inner_text()


def test_two_releases_are_laid_beside_each_other(look: Callable[..., Any], studio: Studio, api: Any, own: dict[str, str]) -> None:
    earlier = api.follow(api.submit("attack", HOMOGENEITY, release=own["release"])["id"])["id"]
    page = look()
    page.goto(f"{studio.address}/projects/{own['project']}/attack")
    page.get_by_label("Another release").select_option(index=1)
    before = page.url
    page.get_by_role("button", name="Try this: Comparison of two releases").click()
    tried(page, before)
    assert "Comparison of two releases" in page.locator("#outcome").inner_text()
    job = api.get("/jobs", project=own["project"], kind="attack")["items"][0]
    assert job["parameters"] == {"only": ["releases"], "other": own["older"]}
    page.locator(f"#earlier a[href*='{earlier}']").click()
    page.locator("article", has_text="Homogeneity: ill").wait_for()


def test_all_at_once_without_scripts(look: Callable[..., Any], studio: Studio, api: Any, own: dict[str, str]) -> None:
    page = look(scripts=False)
    page.goto(f"{studio.address}/projects/{own['project']}/attack")
    page.get_by_role("button", name="Try all").click()
    assert "result=" in page.url
    job = page.url.partition("result=")[2][:24]
    api.follow(job)
    page.reload()
    tried = {one["name"] for one in api.get(f"/jobs/{job}/result")["attacks"]}
    assert tried >= {"lookup", "homogeneity", "background", "skewness", "order"}
    shown = page.locator("#outcome").inner_text()
    assert "Act on this" in shown
    assert "Expected of every release of this table" in shown


def test_who_may_not_see_values_sees_counts_only(look: Callable[..., Any], studio: Studio, api: Any, own: dict[str, str]) -> None:
    studio.user("nora", "steward")
    api.put(f"/projects/{own['project']}/members", {"user": "nora", "role": "analyst"})
    page = look("nora", language="es")
    page.goto(f"{studio.address}/projects/{own['project']}/attack")
    before = page.url
    page.get_by_role("button", name="Probar este: Homogeneidad").click()
    tried(page, before)
    card = page.locator("article", has_text="Homogeneidad: ill")
    card.wait_for()
    assert "20-29" in card.inner_text()
    assert not {"Flu", "Asthma"} & set(card.inner_text().split())
    assert page.get_by_role("button", name="Añadir al proyecto").count() == 0
    assert browser_helpers.axe(page) == []
    studio.user("rita", "steward")
    api.put(f"/projects/{own['project']}/members", {"user": "rita", "role": "reader"})
    page = look("rita")
    answer = page.goto(f"{studio.address}/projects/{own['project']}/attack")
    assert answer.status == 200
    assert page.locator("#try, #outcome").count() == 0
