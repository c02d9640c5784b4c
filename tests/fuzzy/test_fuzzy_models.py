"""Models of fuzzy classes: judged by their definitions, and by nothing else than fuzzy classes."""

import csv
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import velado
from conftest import Command
from fuzzy import fuzzy_oracle
from velado import Column, InputError, NoSolution, fuzzify
from velado.fuzzy import record_histograms, surest_belief
from velado.methods import METHODS, Fixed, Fuzzy, Mondrian
from velado.models import MODELS, FuzzyCloseness, FuzzyDiversity, FuzzyModel, QAnonymity

FUZZY_MODELS = {
    "q-anonymity": {"q": 2},
    "fuzzy-l-diversity": {"l": 2, "column": "s"},
    "fuzzy-t-closeness": {"t": 1.0, "column": "s"},
}
OPERATORS = {
    "mean": lambda x: sum(x) / len(x),
    "minimum": min,
    "maximum": max,
    "median": lambda x: float(np.median(x)),
    "product": lambda x: float(np.prod(x)),
}


def table_of(rows: list[tuple[int, int, str]]) -> pa.Table:
    return pa.table({"a": [str(r[0]) for r in rows], "b": [str(r[1]) for r in rows], "s": [r[2] for r in rows]})


def memberships_of(rows: list[tuple[int, int, str]]) -> list[list[float]]:
    """Of each record in the classes of two crossed partitions, drawn by hand with peaks 0 and 10, and 2, 5, 8."""

    def two(x: float) -> list[float]:
        return [1 - x / 10, x / 10]

    def three(x: float) -> list[float]:
        low = min(1.0, max(0.0, (5 - x) / 3))
        high = min(1.0, max(0.0, (x - 5) / 3))
        return [low, 1 - low - high, high]

    crossed = [[i * j for i in two(a) for j in three(b)] for a, b, _ in rows]
    used = [i for i in range(6) if any(m[i] > 0 for m in crossed)]
    return [[m[i] for i in used] for m in crossed]


METHOD = Fuzzy(breakpoints={"a": [0, 10], "b": [2, 5, 8]})
rows_strategy = st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10), st.sampled_from("xyz")), min_size=2, max_size=25)


@settings(max_examples=30, deadline=None)
@given(
    rows=rows_strategy,
    q=st.integers(2, 6),
    possibility=st.sampled_from([0.2, 0.5, 0.9]),
    aggregation=st.sampled_from(sorted(OPERATORS)),
)
def test_q_anonymity(rows, q, possibility, aggregation) -> None:
    memberships = memberships_of(rows)
    classes = list(zip(*memberships, strict=True))

    def reached(k: int) -> float:
        return OPERATORS[aggregation]([fuzzy_oracle.at_least(c, k) for c in classes])

    model = QAnonymity(q, possibility, aggregation)
    expected = q <= len(rows) and reached(q) >= possibility - 1e-12
    largest = max((k for k in range(1, len(rows) + 1) if reached(k) >= possibility - 1e-12), default=0)
    try:
        verdict = fuzzify(table_of(rows), ["a", "b"], ["s"], method=METHOD, models=[model]).evaluation.models[0]
        found = (verdict.achieved, verdict.satisfied)
    except NoSolution as error:
        reason = re.search(r"q-anonymity: (\d+) is reached", str(error))
        found = (int(reason.group(1)) if reason else None, False)
    assert found == (largest, expected)


@settings(max_examples=30, deadline=None)
@given(rows=rows_strategy)
def test_fuzzy_diversity_closeness_and_belief(rows) -> None:
    memberships = memberships_of(rows)
    values = sorted({s for *_, s in rows})
    number = range(len(memberships[0]))
    held = [
        [fuzzy_oracle.cardinality([m[i] for m, r in zip(memberships, rows, strict=True) if r[2] == s]) for s in values]
        for i in number
    ]
    whole = [sum(r[2] == s for r in rows) / len(rows) for s in values]
    distances = []
    for m in memberships:
        known = [i for i in number if sum(held[i])]
        total = sum(m[i] for i in known)
        if not total:
            distances.append(1.0)
            continue
        mixed = [sum(m[i] * held[i][v] / sum(held[i]) for i in known) / total for v in range(len(values))]
        distances.append(sum(abs(p - q) for p, q in zip(mixed, whole, strict=True)) / 2)
    seen = fuzzify(table_of(rows), ["a", "b"], ["s"], method=METHOD).evaluation.fuzzy
    measured = seen.sensitive["s"]
    assert measured.l == min(sum(x >= 1 for x in row) for row in held)
    assert measured.t == pytest.approx(max(distances), abs=1e-12)
    assert measured.t_smallest == pytest.approx(min(distances), abs=1e-12)
    beliefs = [
        fuzzy_oracle.posterior(memberships, [dict(zip(values, whole, strict=True))] * len(rows), [r[2] for r in rows], i, s)
        for i in range(len(rows))
        for s in values
    ]
    known_beliefs = [b for b in beliefs if b == b]
    if known_beliefs:
        assert measured.posterior == pytest.approx(max(known_beliefs), abs=1e-12)
    else:
        assert measured.posterior != measured.posterior


def test_the_surest_belief_is_the_same_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    memberships = rng.dirichlet(np.ones(3), 50)
    histograms = record_histograms(rng.integers(0, 4, 50), 4)
    whole = surest_belief(memberships, histograms, np.full(4, 0.25))
    monkeypatch.setattr("velado.fuzzy.measures.CHUNK_CELLS", 8)
    assert (surest_belief(memberships, histograms, np.full(4, 0.25)) == whole).all()
    assert ((whole >= 0.25) & (whole <= 1)).all()


def test_limits_of_the_models() -> None:
    """Exactly what is reached holds, and a little more does not."""
    rows = [(a, b, "123"[(a + b) % 3]) for a in range(11) for b in (2, 5, 8)]
    seen = fuzzify(table_of(rows), ["a", "b"], ["s"], method=METHOD).evaluation.fuzzy
    reached = seen.sensitive["s"]
    for good, bad in (
        (QAnonymity(seen.q), QAnonymity(seen.q + 1)),
        (FuzzyDiversity(reached.l, "s"), FuzzyDiversity(reached.l + 1, "s")),
        (FuzzyCloseness(reached.t, "s"), FuzzyCloseness(reached.t - 1e-6, "s")),
        (FuzzyCloseness(reached.t_ordered, "s", "ordered"), FuzzyCloseness(reached.t_ordered - 1e-6, "s", "ordered")),
    ):
        assert fuzzify(table_of(rows), ["a", "b"], ["s"], method=METHOD, models=[good]).evaluation.models[0].satisfied
        with pytest.raises(NoSolution):
            fuzzify(table_of(rows), ["a", "b"], ["s"], method=METHOD, models=[bad])


def test_sets_to_which_nobody_belongs_are_no_classes() -> None:
    """Crisp sets crossed: fuzzy measures are then those of the equivalence classes, empty combinations left out."""
    rows = [(0, 0, "x"), (0, 0, "y"), (10, 10, "x"), (10, 10, "y"), (10, 10, "z")]
    seen = fuzzify(table_of(rows), ["a", "b"], ["s"], method=Fuzzy("k-means", sets=2))
    assert (seen.evaluation.fuzzy.classes, seen.evaluation.classes) == (2, 2)
    assert seen.evaluation.fuzzy.sensitive["s"].l == seen.evaluation.after.sensitive["s"]["l_distinct"] == 2
    assert seen.evaluation.fuzzy.sensitive["s"].t == pytest.approx(seen.evaluation.after.sensitive["s"]["t_equal"])
    assert (seen.evaluation.fuzzy.q, seen.evaluation.after.k) == (3, 2)


# Nothing but fuzzy classes is judged


def test_every_fuzzy_model_is_tried_here() -> None:
    assert set(FUZZY_MODELS) == {name for name, kind in MODELS.items() if issubclass(kind, FuzzyModel)}


@pytest.fixture
def project(tmp_path: Path) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    rows = [
        (int(x), int(y), str(s))
        for x, y, s in zip(rng.integers(20, 70, 300), rng.integers(0, 40, 300), rng.choice(list("uvwxyz"), 300), strict=True)
    ]
    with open(tmp_path / "people.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("a", "b", "s"), *rows])
    return {
        "source": "people.csv",
        "columns": {
            "a": {"role": "quasi-identifier", "type": "integer"},
            "b": {"role": "quasi-identifier", "type": "integer"},
            "s": "sensitive",
        },
        "models": [{"k-anonymity": {"k": 2}}, {"q-anonymity": {"q": 2}}],
        "method": {"fuzzy": {"sets": 2}},
        "output": "out.csv",
    }


def written(project: dict[str, Any], folder: Path) -> Path:
    path = folder / "project.yaml"
    path.write_text(yaml.safe_dump(project, sort_keys=False), encoding="utf-8")
    return path


COMMANDS = (
    ("run", "project.yaml"),
    ("estimate", "project.yaml"),
    ("evaluate", "--project", "project.yaml"),
    ("compare", "project.yaml", "--k", "2,3"),
    ("balance", "project.yaml", "--k", "2,3", "--loss", "1"),
    ("attack", "--project", "project.yaml"),
    ("report", "project.yaml"),
)


@pytest.mark.parametrize("method", [name for name in METHODS if name != "fuzzy"])
@pytest.mark.parametrize("model", FUZZY_MODELS)
def test_other_methods_refuse_fuzzy_models(model: str, method: str, project: dict, tmp_path: Path, main: Command) -> None:
    parameters = {"levels": {"a": 0, "b": 0}} if method == "fixed" else {}
    changed = {**project, "models": [{"k-anonymity": {"k": 2}}, {model: FUZZY_MODELS[model]}], "method": {method: parameters}}
    written(changed, tmp_path)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    for command in COMMANDS:
        ended = main(*command, "--json")
        assert ended.code == 2, command
        assert ended.json["error"]["code"] == "needs-fuzzy", command
        assert model in ended.err
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


@pytest.mark.parametrize("model", FUZZY_MODELS)
def test_the_judge_itself_refuses_fuzzy_models(model: str) -> None:
    """Whatever calls it: crisp classes have no memberships."""
    made = MODELS[model](**FUZZY_MODELS[model])
    with pytest.raises(InputError) as caught:
        made.rules(None)
    assert caught.value.code == "needs-fuzzy"
    rows = [(0, 0, "x"), (0, 0, "y")]
    for method in (Mondrian(memory="1kB"), Fixed({"a": 0, "b": 0})):
        columns = [Column("a", "quasi-identifier"), Column("b", "quasi-identifier"), Column("s", "sensitive")]
        with pytest.raises(InputError) as caught:
            velado.anonymize(table_of(rows), columns, [made], method)
        assert caught.value.code == "needs-fuzzy"


def test_another_method_in_a_comparison_refuses_them(project: dict, tmp_path: Path, main: Command) -> None:
    written(project, tmp_path)
    ended = main("compare", "project.yaml", "--method", "lattice,fuzzy", "--json")
    assert (ended.code, ended.json["error"]["code"]) == (2, "needs-fuzzy")


@pytest.mark.thorough
def test_settings_of_a_fuzzy_project_are_compared(project: dict, tmp_path: Path, main: Command) -> None:
    """The strongest Q is the largest of those that are reached."""
    project["method"] = {"fuzzy": {}}
    written(project, tmp_path)
    settings_ = main("compare", "project.yaml", "--q", "2,20,299", "--json").json["settings"]
    assert [s.get("reason") is None for s in settings_] == [True, True, False]
    losses = [s["evaluation"]["utility"]["loss"] for s in settings_[:2]]
    assert losses[0] <= losses[1]
    ended = main("balance", "project.yaml", "--loss", "1", "--q", "2,20,299", "--json")
    assert ended.json["chosen"] == {"q": 20}


def test_every_command_takes_a_fuzzy_project(project: dict, tmp_path: Path, main: Command) -> None:
    project["models"].append({"fuzzy-t-closeness": {"t": 0.9, "column": "s"}})
    written(project, tmp_path)
    shown = {command[0]: main(*command, "--json") for command in COMMANDS if command[0] != "report"}
    assert {name: ended.code for name, ended in shown.items()} == dict.fromkeys(shown, 0)
    ran, measured = shown["run"].json, shown["evaluate"].json
    assert [m["name"] for m in ran["models"]] == ["k-anonymity", "q-anonymity", "fuzzy-t-closeness"]
    assert measured["models"] == ran["models"]
    assert measured["fuzzy"] == ran["fuzzy"]
    assert [s["evaluation"]["models"][1]["satisfied"] for s in shown["compare"].json["settings"]] == [True, True]
    assert "Measures of the degrees, and of the labels" in main("evaluate", "--project", "project.yaml").out
    names = {a["name"] for a in shown["attack"].json["attacks"]}
    assert {"homogeneity", "skewness", "order"} <= names


def test_attacks_need_to_know_what_labels_stand_for(project: dict, tmp_path: Path, main: Command) -> None:
    project["method"] = {"fuzzy": {"sets": 3, "joint": True}}
    written(project, tmp_path)
    assert main("run", "project.yaml").code == 0
    ended = main("attack", "--project", "project.yaml", "--json")
    assert (ended.code, ended.json["error"]["code"]) == (2, "attack-needs")
    assert main("attack", "out.csv", "--qi", "a,b", "--sensitive", "s", "--json").code == 0
