"""Result, Utility, Risk: the figures are those of the service and of the command, whoever looks sees what they may see."""

from __future__ import annotations

import csv
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from conftest import Command
from servers.studio import Studio, until
from studio import browser_helpers
from studio.conftest import released
from velado.i18n.language import Language

EN = Language("en")
COLUMNS: dict[str, Any] = {
    "name": "identifier",
    "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [5, 20]}},
    "city": "quasi-identifier",
    "sex": "quasi-identifier",
    "ill": "sensitive",
}
MODELS: list[Any] = [
    {"k-anonymity": {"k": 2}},
    {"distinct-diversity": {"l": 2, "column": "ill"}},
    {"t-closeness": {"t": 0.8, "column": "ill"}},
]
ABOUT = {"columns": COLUMNS, "rest": "drop", "person": "rows", "models": MODELS, "method": {"lattice": {"suppression": 0.2}}}


def people() -> list[dict[str, Any]]:
    """Invented people; most are alone, and the best recoding has classes of two."""
    rng = random.Random(5)
    cities, illnesses = ("Lima", "Quito", "Bogotá"), ("flu", "cold", "gout", "asthma")
    return [
        {
            "name": f"P{i:03}",
            "age": 20 + min(59, int(rng.expovariate(1 / 12))),
            "city": rng.choice(cities),
            "sex": rng.choice("fm"),
            "ill": rng.choice(illnesses),
            "weight": rng.randint(2, 9),
        }
        for i in range(240)
    ]


@pytest.fixture(scope="module")
def table(api: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A source of these people, and its file."""
    path = tmp_path_factory.mktemp("people") / "people.csv"
    rows = people()
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    source = api.post("/sources", {"name": "People", "upload": api.upload(path)})
    api.follow(source["job"])
    return source["id"], path


def described(api: Any, name: str, document: dict[str, Any]) -> dict[str, str]:
    """A project with a release."""
    project = api.post("/projects", {"name": name, "document": {"velado": 1, **document}})["id"]
    return {"project": project, **released(api, project)}


@pytest.fixture(scope="module")
def made(api: Any, studio: Studio, table: tuple[str, Path]) -> dict[str, str]:
    """A release in which records are suppressed and classes have two people; with an analyst and a reader."""
    found = described(api, "Seen", {"source": {"source": table[0]}, **ABOUT})
    for name, role in (("vic", "analyst"), ("rea", "reader")):
        studio.user(name, "steward")
        api.put(f"/projects/{found['project']}/members", {"user": name, "role": role})
    return found


@pytest.fixture(scope="module")
def told(api: Any, made: dict[str, str]) -> dict[str, Any]:
    """What the service says of it: for everybody, for the owner, and how it is distributed."""
    address = f"/releases/{made['release']}"
    return {
        "public": api.get(f"{address}/evaluation"),
        "whole": api.get(f"{address}/evaluation", private=True),
        "shape": api.get(f"{address}/distributions"),
        "whole shape": api.get(f"{address}/distributions", private=True),
    }


def stats(page: Any, at: str = "#figures") -> dict[str, str]:
    """Tiles by their titles."""
    found = page.locator(f"{at} .stat").evaluate_all(
        "all => all.map(s => [s.querySelector('dt').firstChild.data.trim(), s.querySelector('dd').innerText.replace(/\\s+/g, ' ').trim()])"
    )
    return dict(found)


def cells(page: Any, at: str) -> list[list[str]]:
    """The rows of a table, without question marks."""
    rows: list[list[str]] = page.locator(f"{at} tbody tr").evaluate_all(
        "all => all.map(r => [...r.cells].map(c => [...c.childNodes].filter(n => !n.matches || !n.matches('.help, [popover]')).map(n => n.textContent).join('').trim()))"
    )
    return rows


def test_the_result_has_the_figures_of_the_service_and_of_the_command(
    look: Callable[..., Any],
    studio: Studio,
    made: dict[str, str],
    told: dict[str, Any],
    table: tuple[str, Path],
    tmp_path: Path,
    main: Command,
) -> None:
    (tmp_path / "p.yaml").write_text(yaml.safe_dump({"velado": 1, "source": str(table[1]), **ABOUT, "output": "out.csv"}))
    command = main("run", "p.yaml", "--json").json
    page = look()
    page.goto(f"{studio.address}/projects/{made['project']}/result")
    for key in ("rows", "released", "suppressed", "classes", "class_size", "utility", "risk", "columns", "levels", "models"):
        assert command[key] == told["public"][key], key
    assert command["suppressed"] > 2
    for address, figures in (("", told["public"]), ("?suppressed=1", told["whole"])):
        page.goto(f"{studio.address}/projects/{made['project']}/result{address}")
        shown, sizes, risk = stats(page), figures["class_size"], figures["risk"]
        n = EN.integer
        assert shown["records of the input"] == n(figures["rows"])
        assert shown["records released"] == f"{n(figures['released'])} {EN.percent(figures['released'] / figures['rows'])}"
        assert shown["records suppressed"].startswith(
            f"{n(figures['suppressed'])} {EN.percent(figures['suppressed'] / figures['rows'])}"
        )
        assert shown["equivalence classes"] == n(figures["classes"])
        assert shown["class sizes"] == f"{n(sizes['min'])} – {n(sizes['max'])} average {EN.number(sizes['mean'], 2)}"
        assert shown["Information lost"] == EN.percent(figures["utility"]["loss"])
        assert shown["precision"] == EN.number(figures["utility"]["precision"], 4)
        assert shown["Highest risk by quasi-identifiers"] == f"{EN.percent(risk['highest'])} 1 in {n(sizes['min'])}"
        assert shown["singled out"] == f"{n(risk['singled_out_before'])} → {n(risk['singled_out_after'])} before → after"
    assert told["whole"]["risk"]["singled_out_before"] != told["public"]["risk"]["singled_out_before"]
    assert page.locator("#search dt:has-text('looked at') + dd").inner_text().isdigit()
    page.get_by_role("link", name="As everybody may know it").click()
    page.wait_for_selector("#search dd:has-text('told to owners only')")
    assert page.locator(".model .badge.good").count() == 3
    closeness = page.locator(".model", has_text="t-closeness").inner_text()
    assert "t ≤ 0.8" in closeness
    assert "or better" in closeness
    levels = {row[0]: row[3] for row in cells(page, "#fates")}
    heights = told["shape"]["levels"]
    assert {c: levels[c] for c in heights} == {c: f"{x['level']:.0f} / {x['height']}" for c, x in heights.items()}
    assert browser_helpers.axe(page) == []


def test_rows_before_and_after_are_paged_apart(
    look: Callable[..., Any], studio: Studio, api: Any, made: dict[str, str], table: tuple[str, Path]
) -> None:
    page = look()
    page.goto(f"{studio.address}/projects/{made['project']}/result")
    page.get_by_role("link", name="Rows before and after").click()
    page.wait_for_selector("#released table")
    after = api.get(f"/releases/{made['release']}/rows", limit=25)
    before = api.get(f"/sources/{table[0]}/rows", limit=25)
    assert cells(page, "#released") == after["rows"]
    assert cells(page, "#original") == before["rows"]
    assert "another order" in page.locator("#main").inner_text()
    changed = page.locator("#released th.changed").evaluate_all("all => all.map(h => h.firstChild.data)")
    kept = {c for c, level in api.get(f"/releases/{made['release']}/evaluation")["levels"].items() if level == 0}
    assert set(changed) == {"name", "age", "city", "sex"} - kept
    assert page.locator("#original th.gone").evaluate_all("all => all.map(h => h.firstChild.data)") == ["weight"]
    page.locator("#released").get_by_role("link", name="Next").press("Enter")
    second = api.get(f"/releases/{made['release']}/rows", limit=25, offset=25)["rows"]
    page.wait_for_selector(f"#released .pager:has-text('26 to 50 of {after['total']}')")
    assert cells(page, "#released") == second
    page.locator("#original").get_by_role("link", name="Last").click()
    page.wait_for_selector("#original .pager:has-text('226 to 240 of 240')")
    assert cells(page, "#released") == second
    assert cells(page, "#original") == api.get(f"/sources/{table[0]}/rows", limit=25, offset=225)["rows"]
    page.go_back()
    page.wait_for_selector("#original .pager:has-text('1 to 25 of 240')")
    assert browser_helpers.axe(page) == []


def test_classes_are_sorted_and_drawn(
    look: Callable[..., Any], studio: Studio, api: Any, made: dict[str, str], told: dict[str, Any]
) -> None:
    page = look()
    page.goto(f"{studio.address}/projects/{made['project']}/result/classes")
    first = api.get(f"/releases/{made['release']}/classes", limit=50)
    digits = {"records": 0, "l_distinct(ill)": 0}

    def shown(row: list[Any]) -> list[str]:
        named = zip(first["columns"], row, strict=True)
        return [
            x if isinstance(x, str) else EN.percent(x, 2) if name == "risk" else EN.number(x, digits.get(name, 4))
            for name, x in named
        ]

    assert cells(page, "#classes") == [shown(row) for row in first["rows"]]
    page.get_by_role("link", name="entropy ℓ").click()
    page.wait_for_selector("th[aria-sort=ascending]")
    page.get_by_role("link", name="entropy ℓ").click()
    page.wait_for_selector("th[aria-sort=descending]")
    best = api.get(f"/releases/{made['release']}/classes", limit=50, sort="l_entropy(ill)", descending=True)
    assert cells(page, "#classes") == [shown(row) for row in best["rows"]]
    page.wait_for_selector("velado-chart svg")
    page.locator("figure", has_text="Different values of ill").locator("summary").click()
    figures = cells(page, "figure:has-text('Different values of ill')")
    assert figures == [[str(n), str(times)] for n, times in told["shape"]["distinct"]["ill"]]
    assert browser_helpers.axe(page) == []


def test_utility_has_measures_distributions_and_what_is_asked_for(
    look: Callable[..., Any], studio: Studio, api: Any, made: dict[str, str], told: dict[str, Any]
) -> None:
    page = look()
    page.goto(f"{studio.address}/projects/{made['project']}/utility")
    shown = {row[0]: row[1] for row in cells(page, "#measures")}
    lost = told["public"]["utility"]
    assert shown["loss (geometric mean)"] == EN.number(lost["loss"], 4)
    assert shown["entropy loss"] == EN.number(lost["entropy"], 4)
    assert shown["discernibility"] == EN.integer(lost["discernibility"])
    assert shown["average class size, as ARX counts"] == EN.number(lost["average_class_size_arx"], 2)
    assert len(shown) == 10
    for name, level, *rest in cells(page, "#by-column"):
        column, stands = told["public"]["columns"][name], told["shape"]["levels"][name]
        assert level == f"{stands['level']:.0f} / {stands['height']}"
        assert rest[:4] == [EN.number(column[m], 4) for m in ("loss", "precision", "generalized_loss", "entropy")]
        assert rest[4] == f"{column['values_before']} → {column['values_after']}"
    for column in told["shape"]["columns"]:
        figure = f"#distributions figure:has(figcaption:text-is('{column['column']}'))"
        assert [row[1:] for row in cells(page, figure)] == [[str(s["before"]), str(s["after"])] for s in column["shares"]]
    test = told["shape"]["ks"]["age"]
    kept = "kept" if test["kept"] else "not kept"
    assert cells(page, "#ks")[0][:4] == ["age", EN.number(test["statistic"], 4), EN.number(test["p"], 4), kept]
    page.get_by_role("link", name="With suppressed records (owner)").click()
    page.wait_for_selector("#which-release a[aria-current]:has-text('With suppressed')")
    ages = {row[0]: row[1:] for row in cells(page, "#answers")}
    answers = {a["name"]: a for a in told["whole shape"]["answers"]["age"]}
    assert ages["minimum"] == [EN.number(answers["min"]["before"]["number"]), EN.number(answers["min"]["after"]["number"])]
    assert ages["mean (by lower bound)"][1] == EN.number(answers["mean-lower"]["after"]["number"], 2)
    # What takes longer is asked for, by a job.
    page.select_option("#target", "ill")
    page.get_by_role("button", name="Learn", exact=True).click()
    page.wait_for_selector("#learning table")
    page.fill("#queries-number", "50")
    page.get_by_role("button", name="Measure it").click()
    page.wait_for_selector("#queries .stats")
    jobs = [j for j in api.get("/jobs", project=made["project"], kind="evaluate")["items"] if j["state"] == "done"]
    learned, asked = (next(api.get(f"/jobs/{j['id']}/result") for j in jobs if x in j["parameters"]) for x in ("target", "queries"))
    lines = {row[0]: row[1:] for row in cells(page, "#learning")}
    for name in learned["learning"]["original"]:
        both = [learned["learning"][side][name] for side in ("original", "released")]
        assert lines[name] == [*(EN.percent(x["accuracy"]) for x in both), *(EN.number(x["auc"], 3) for x in both)]
    assert lines["always the most frequent value"][0] == EN.percent(learned["learning"]["majority"])
    assert asked["queries"]["queries"] == 50
    assert EN.percent(asked["queries"]["mean"], 2) in stats(page, "#queries").values()
    privacy = {row[0]: row[1:3] for row in cells(page, "#privacy")}
    assert privacy["distinct ℓ-diversity: ℓ"] == [
        EN.number(asked[side]["sensitive"]["ill"]["l_distinct"]) for side in ("before", "after")
    ]
    assert browser_helpers.axe(page) == []


def at_risk(sizes: list[list[int]], threshold: float) -> tuple[int, float]:
    """Records in classes above a threshold, and their share."""
    exposed = sum(size * times for size, times in sizes if 1 / size > threshold + 1e-12)
    return exposed, exposed / sum(size * times for size, times in sizes)


def test_risk_by_threshold_set_and_population(
    look: Callable[..., Any], studio: Studio, api: Any, made: dict[str, str], told: dict[str, Any], table: tuple[str, Path]
) -> None:
    page = look()
    page.goto(f"{studio.address}/projects/{made['project']}/risk")
    risk = told["public"]["risk"]
    assert page.locator("#prosecutor .big").inner_text() == f"100% → {EN.percent(risk['highest'])}"
    assert page.locator("#marketer .big").inner_text().endswith(EN.percent(risk["average"]))
    assert page.locator("#journalist .big").inner_text() == f"at most {EN.percent(risk['highest'])}"
    rows = {row[0]: row[1:] for row in cells(page, "#risks")}
    sizes = told["shape"]["sizes"]
    assert rows["records at risk (above 10%)"][1] == EN.percent(risk["at_risk"], 2)
    assert rows["records singled out (class of 1)"] == [str(risk["singled_out_before"]), str(risk["singled_out_after"])]
    # The slider by keys: the next threshold is 0.11.
    page.focus("#threshold")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("th:has-text('records at risk (above 11%)')")
    until(lambda: page.input_value("#threshold-number") == "0.11")
    page.wait_for_url("**threshold=0.11**")
    page.fill("#threshold-number", "0.4")
    page.keyboard.press("Enter")
    page.wait_for_selector("th:has-text('records at risk (above 40%)')")
    rows = {row[0]: row[1:] for row in cells(page, "#risks")}
    expected = [at_risk(sizes[side], 0.4) for side in ("before", "after")]
    assert rows["records at risk (above 40%)"] == [EN.percent(share, 2) for _, share in expected]
    assert rows["records in classes above the threshold"] == [EN.integer(n) for n, _ in expected]

    # What takes longer: sets of columns, a fraction, weights, a population.
    # The answer to a form leads to the release's own address, where nothing is chosen yet: one form after the other.
    def ask(button: str) -> None:
        page.get_by_role("button", name=button).click()
        page.wait_for_selector("body:not(.busy)")

    ask("Compare original and release")
    ask("Estimate who is unique")
    page.select_option("#weights", "weight")
    ask("Estimate the individual risk")
    page.select_option("#population-table", table[0])
    ask("Measure the journalist's risk")
    for shown in ("journalist risk, highest", "Zayatz", "By the weights in weight"):
        page.wait_for_selector(f"#population .card:has-text('{shown}')")
    page.wait_for_selector("#sets th.group")
    browser_helpers.still(page)
    jobs = api.get("/jobs", project=made["project"], kind="evaluate")["items"]
    done = {
        key: api.get(f"/jobs/{j['id']}/result")
        for j in reversed(jobs)
        for key in ("fraction", "weights", "population", "measures")
        if j["state"] == "done" and j["parameters"].get(key)
    }
    assert page.locator("#journalist .big").inner_text() == EN.percent(done["population"]["journalist"]["highest"])
    sets = done["measures"].get("subsets") or next(
        api.get(f"/jobs/{j['id']}/result")["subsets"] for j in jobs if j["parameters"].get("measures") == ["subsets"]
    )
    for row, one in zip(cells(page, "#sets"), sets, strict=True):
        counts = [EN.integer(one[side][x]) for side in ("before", "after") for x in ("singled_out", "groups", "smallest")]
        assert [row[0], *row[1:4], *row[6:9]] == [", ".join(one["columns"]), *counts]
    unique = done["fraction"]["uniqueness"]
    estimates = {row[0]: row[1:] for row in cells(page, "#population .card:has-text('Unique in the population')")}
    assert estimates["Zayatz"] == [EN.percent(unique[side]["zayatz"], 3) for side in ("before", "after")]
    individual = {row[0]: row[1:] for row in cells(page, "#population .card:has-text('By the weights in weight')")}
    assert individual["mean"] == [EN.percent(done["weights"]["individual"][side]["mean"], 3) for side in ("before", "after")]
    (one,) = told["public"]["published"]
    told_of_ill = [
        "ill",
        "sensitive",
        "only the person and the keeper know it",
        *(str(one[x]) for x in ("records", "singled_out", "few", "few_together")),
    ]
    assert cells(page, "#published")[0][:7] == told_of_ill
    assert browser_helpers.axe(page) == []
    # What the service refuses is said where it was asked, and what was typed stays.
    page.evaluate("document.getElementById('fraction').removeAttribute('max')")
    page.fill("#fraction", "7")
    page.get_by_role("button", name="Estimate who is unique").click()
    page.wait_for_selector(".notice.bad, dialog[open]")
    assert page.input_value("#fraction") == "7"


def test_who_may_less_sees_less_and_nothing_breaks(
    look: Callable[..., Any], studio: Studio, api: Any, made: dict[str, str]
) -> None:
    address = f"{studio.address}/projects/{made['project']}"
    small = next(row for row in api.get(f"/releases/{made['release']}/classes", limit=500)["rows"] if row[3] == 2)
    for name, language, few in (("vic", "es", "menos de 3"), ("rea", "pt", "menos de 3")):
        page = look(name, language=language)
        for step in ("result", "result/rows", "result/classes", "utility", "risk"):
            # Who may not see private figures gets those of everybody, however they ask.
            answer = page.goto(f"{address}/{step}?suppressed=1")
            assert answer.status == 200, (name, step)
            assert page.locator(".switch").count() == 0
            assert page.locator("#main form[method=post]").count() == 0
            assert page.locator("#original table").count() == 0
            if step == "result/classes":
                assert browser_helpers.axe(page) == [], name
                first = cells(page, "#classes")[0]
                assert few in first
                assert not set(small[:3]) & set(first)
                assert page.locator("#classes tbody tr", has_text=few).count() > 1


def test_several_releases_and_tables(
    look: Callable[..., Any], studio: Studio, api: Any, made: dict[str, str], told: dict[str, Any], table: tuple[str, Path]
) -> None:
    part = {
        "source": {"source": table[0]},
        "columns": COLUMNS,
        "rest": "drop",
        "person": "rows",
        "models": [{"k-anonymity": {"k": 2}}],
    }
    both = {"tables": {"all": {**part, "method": {"lattice": {"suppression": 0.2}}}, "local": {**part, "method": "mondrian"}}}
    two = described(api, "Two tables", both)
    document = api.get(f"/projects/{two['project']}")
    stronger = {
        **document["document"],
        "tables": {**both["tables"], "local": {**part, "models": [{"k-anonymity": {"k": 9}}], "method": "mondrian"}},
    }
    api.put(f"/projects/{two['project']}", {"document": stronger}, version=document["version"])
    newer = released(api, two["project"])["release"]
    page = look()
    page.goto(f"{studio.address}/projects/{two['project']}/risk?table=local")
    evaluations = {id: api.get(f"/releases/{id}/evaluation", table="local") for id in (two["release"], newer)}
    assert page.locator("#prosecutor .big").inner_text().endswith(EN.percent(evaluations[newer]["risk"]["highest"]))
    page.select_option("#which", two["release"])
    page.wait_for_url(f"**release={two['release']}*")
    highest = EN.percent(evaluations[two["release"]]["risk"]["highest"])
    page.wait_for_selector(f"#prosecutor .big:has-text('→ {highest}')")
    assert evaluations[newer]["risk"]["highest"] != evaluations[two["release"]]["risk"]["highest"]
    page.get_by_role("button", name="Compare original and release").click()
    page.wait_for_selector("#sets th.group")
    job = api.get("/jobs", project=two["project"], kind="evaluate")["items"][0]
    assert (job["release"], job["parameters"]["table"]) == (two["release"], "local")
    page.get_by_role("navigation", name="Tables of the project").get_by_role("link", name="all").click()
    page.wait_for_selector("#sets button")
    page.goto(f"{studio.address}/projects/{two['project']}/result?table=all&release={two['release']}")
    loss = api.get(f"/releases/{two['release']}/evaluation", table="all")["utility"]["loss"]
    assert stats(page)["Information lost"] == EN.percent(loss)
    assert browser_helpers.axe(page) == []


def test_without_a_release_or_scripts(
    look: Callable[..., Any], studio: Studio, api: Any, made: dict[str, str], table: tuple[str, Path]
) -> None:
    empty = api.post("/projects", {"name": "Unreleased", "document": {"velado": 1, "source": {"source": table[0]}, **ABOUT}})
    page = look(scripts=False)
    for step in ("result", "result/rows", "result/classes", "utility", "risk"):
        page.goto(f"{studio.address}/projects/{empty['id']}/{step}")
        assert page.get_by_role("link", name="To the run").count() == 1
    page.goto(f"{studio.address}/projects/{made['project']}/risk")
    page.fill("#threshold-number", "0.25")
    page.locator(".threshold noscript button").click()
    assert "records at risk (above 25%)" in page.locator("#risks").inner_text()
    page.goto(f"{studio.address}/projects/{made['project']}/result/rows")
    assert len(cells(page, "#original")) == 25


def test_a_light_release_says_what_it_is(look: Callable[..., Any], studio: Studio, api: Any, table: tuple[str, Path]) -> None:
    columns = {"sex": "insensitive", "weight": {"role": "insensitive", "operation": {"round": 5}}}
    light = described(
        api, "Light", {"source": {"source": table[0]}, "protection": "operations", "rest": "drop", "columns": columns}
    )
    page = look()
    for step in ("result", "utility", "risk"):
        page.goto(f"{studio.address}/projects/{light['project']}/{step}")
        assert "no privacy model was checked" in page.locator("#main").inner_text().lower()
    page.goto(f"{studio.address}/projects/{light['project']}/result/rows")
    assert page.locator("#released th.changed").count() == 1
    assert len(cells(page, "#released")) == 25
