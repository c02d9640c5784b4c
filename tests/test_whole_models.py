"""Models that judge the whole release, average-risk and k-map: oracles, refusals, every way into a model."""

from __future__ import annotations

import csv
import hashlib
import itertools
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
import velado
from harness.judge_hook import times
from random_tables import Small, model_strategy, small_tables, velado_model
from velado import Column, InputError, KAnonymity, Lattice, Mondrian, NoSolution
from velado.evaluation import Pair, utility
from velado.frequency import Classes, FrequencyTable, Population
from velado.methods import OBJECTIVES, Datafly, Fixed, Incognito, Samarati
from velado.methods.objectives import value_of
from velado.models import AverageRisk, KMap, judge_classes
from velado.release.count import count_table
from velado.release.manifest import made_from
from velado.release.population import read_population
from velado.schema import Schema

pytestmark = pytest.mark.judged

LIMITS = st.sampled_from([0.0, 0.1, 0.3, 0.5, 1.0])
RISKS = st.sampled_from([0.1, 0.2, 0.25, 1 / 3, 0.4, 0.5, 0.75, 1.0])


def same(found: object, expected: tuple[float, tuple[int, ...]] | None) -> None:
    if expected is None:
        assert found is None
        return
    assert found is not None
    assert found.levels == expected[1]  # type: ignore[attr-defined]
    assert found.search.value == pytest.approx(expected[0], rel=1e-9, abs=1e-9)  # type: ignore[attr-defined]
    assert found.search.proven_optimal  # type: ignore[attr-defined]


def searched(method: object, frequency: FrequencyTable, models: list) -> object:
    try:
        return method.search(frequency, models)  # type: ignore[attr-defined]
    except NoSolution:
        return None


@settings(max_examples=times(12, 400), deadline=None)
@given(
    table=small_tables(),
    risk=RISKS,
    other=st.one_of(st.none(), model_strategy()),
    objective=st.sampled_from(list(OBJECTIVES)),
    limit=LIMITS,
)
def test_the_optimum_under_average_risk_is_that_of_all_nodes(
    table: Small, risk: float, other: dict | None, objective: str, limit: float
) -> None:
    models = [{"name": "average-risk", "risk": risk}, *([other] if other else [])]
    ours = [velado_model(m) for m in models]
    expected = oracle.brute_force(table.rows, table.qi, table.hierarchies, models, table.trees, objective, limit)
    same(searched(Lattice(suppression=limit, objective=objective), table.frequency(ours), ours), expected)


@settings(max_examples=times(12, 400), deadline=None)
@given(sizes=st.lists(st.integers(1, 6), min_size=1, max_size=9), risk=RISKS)
def test_no_choice_of_classes_keeps_more_records(sizes: list[int], risk: float) -> None:
    table = pa.table({"q": [str(i) for i, n in enumerate(sizes) for _ in range(n)]})
    frequency = frequency_of(table)
    kept, _ = judge_classes([AverageRisk(risk)], (), Classes.of_rows(frequency))
    subsets = (s for n in range(len(sizes) + 1) for s in itertools.combinations(sizes, n))
    most = max(sum(s) for s in subsets if len(s) <= risk * sum(s) + 1e-9)
    assert frequency.counts[kept].sum() == most


def frequency_of(table: pa.Table, *models: object) -> FrequencyTable:
    columns = [Column(c, "quasi-identifier") for c in table.column_names]
    with velado.tables.open_table(table) as opened:
        return count_table(opened, Schema(columns), models)  # type: ignore[arg-type]


@st.composite
def populations(draw: st.DrawFn) -> tuple[Small, list[dict[str, str]]]:
    """A table, and a population with values of its hierarchies."""
    table = draw(small_tables(most_rows=20))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    people = [
        {c: table.hierarchies[c][int(rng.integers(len(table.hierarchies[c])))][0] for c in table.qi}
        for _ in range(draw(st.integers(0, 40)))
    ]
    return table, people


def with_population(table: Small, people: list[dict[str, str]], *models: object) -> FrequencyTable:
    """Counted by hand: the file is another test's."""
    frequency = table.frequency([m for m in models if not isinstance(m, KMap)])
    chains = tuple(tuple(tuple(row) for row in table.hierarchies[c]) for c in table.qi)
    places = {c: {row[0]: i for i, row in enumerate(table.hierarchies[c])} for c in table.qi}
    counts = Counter(tuple(places[c][p[c]] for c in table.qi) for p in people)
    codes = np.array(list(counts), dtype=np.int64).reshape(len(counts), len(table.qi))
    population = Population(tuple(table.qi), chains, codes, np.array(list(counts.values()), dtype=np.int64))
    return velado.frequency.table.replace(frequency, populations={"people": population})  # type: ignore[attr-defined]


@settings(max_examples=times(12, 400), deadline=None)
@given(case=populations(), k=st.integers(2, 6), objective=st.sampled_from(list(OBJECTIVES)), limit=LIMITS)
def test_the_optimum_under_k_map_is_that_of_all_nodes(case: tuple, k: int, objective: str, limit: float) -> None:
    table, people = case
    models = [{"name": "k-map", "k": k, "people": people}]
    expected = oracle.brute_force(table.rows, table.qi, table.hierarchies, models, table.trees, objective, limit)
    ours = [KMap(k, "people")]
    frequency = with_population(table, people, *ours)
    same(searched(Lattice(suppression=limit, objective=objective), frequency, ours), expected)


@settings(max_examples=times(8, 300), deadline=None)
@given(case=populations(), k=st.integers(2, 4), risk=RISKS, limit=LIMITS)
def test_methods_that_prune_find_what_all_nodes_have(case: tuple, k: int, risk: float, limit: float) -> None:
    """Both models are hereditary: Samarati and Incognito may use it, and minimal nodes are those of the oracle."""
    table, people = case
    ours = [KMap(k, "people"), AverageRisk(risk)]
    plain = [{"name": "k-map", "k": k, "people": people}, {"name": "average-risk", "risk": risk}]
    node = (table.rows, table.qi, table.hierarchies)
    feasible = oracle.feasible_nodes(*node, plain, table.trees, limit)
    frequency = with_population(table, people, *ours)
    samarati, incognito = (searched(m(suppression=limit), frequency, ours) for m in (Samarati, Incognito))
    assert (samarati is None) == (incognito is None) == (not feasible)
    if feasible:
        assert sum(samarati.levels) == min(map(sum, feasible))  # type: ignore[attr-defined]
        same(incognito, oracle.brute_force(*node, plain, table.trees, "loss", limit))
        found = Lattice(suppression=limit, minimal=True).search(frequency, ours)
        assert list(found.minimal) == oracle.minimal_nodes(*node, plain, table.trees, limit)


@settings(max_examples=times(8, 300), deadline=None)
@given(table=small_tables(), seed=st.integers(0, 2**32 - 1))
def test_the_value_of_a_choice_of_classes_is_its_utility(table: Small, seed: int) -> None:
    frequency = table.frequency()
    rng = np.random.default_rng(seed)
    levels = [int(rng.integers(h.levels)) for h in frequency.hierarchies]
    classes = Classes.at_levels(frequency, levels)
    kept = rng.random(classes.count) < 0.7
    if not kept.any():
        return
    measured, _ = utility(Pair.at_levels(classes, levels, kept), 2)
    assert value_of("loss", classes, kept) == pytest.approx(measured.loss)
    assert value_of("loss-mean", classes, kept) == pytest.approx(measured.loss_mean)
    assert value_of("discernibility", classes, kept) == pytest.approx(measured.discernibility)
    assert value_of("average-class-size", classes, kept) == pytest.approx(measured.average_class_size)


PEOPLE = pa.table({"age": ["31", "38", "39", "52", "57", "58", "71"], "zip": ["10", "11", "12", "10", "11", "12", "13"]})
COLUMNS = [
    Column("age", "quasi-identifier", hierarchy={"intervals": [10, 100]}),
    Column("zip", "quasi-identifier", hierarchy={"mask": "right"}),
]


@pytest.fixture
def population(tmp_path: Path) -> Path:
    """Ages that the table has not among them; a column that it does not have, too."""
    path = tmp_path / "population.csv"
    with path.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["zip", "age", "name"])
        writer.writerows([z, a, "x"] for a in range(30, 75) for z in (10, 11, 12))
    return path


def test_a_population_is_generalized_as_the_table_is(population: Path) -> None:
    """Nobody of the population is 71 in 13; values that only the population has are in the intervals of the table."""
    release = velado.anonymize(PEOPLE, COLUMNS, [KMap(30, str(population))], Fixed({"age": 1, "zip": 1}, 0.5))
    assert release.evaluation.suppressed == 1
    (verdict,) = release.evaluation.models
    assert (verdict.achieved, verdict.satisfied) == (30, True)
    assert verdict.required == {"k": 30, "population": "population.csv"}, "no path of the owner's"
    fits = velado.anonymize(PEOPLE, COLUMNS, [KMap(10, str(population))], Lattice(suppression=0.5))
    assert (fits.levels, fits.evaluation.suppressed) == ({"age": 1, "zip": 0}, 1)


def test_a_population_lies_beside_the_project(population: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = population.parent
    with (folder / "people.csv").open("w") as out:
        out.write("age,zip\n" + "\n".join(f"{a},{z}" for a, z in zip(*PEOPLE.to_pydict().values(), strict=True)))
    project = folder / "project.yaml"
    project.write_text(
        "source: people.csv\ncolumns:\n  age: {role: quasi-identifier, hierarchy: {intervals: [10, 100]}}\n"
        "  zip: {role: quasi-identifier, hierarchy: {mask: right}}\n"
        "models: [{k-map: {k: 10, population: population.csv}}]\noutput: release.csv\n"
    )
    monkeypatch.chdir("/")
    release = velado.run(project)
    assert release.evaluation.models[0].satisfied
    measured = velado.evaluate(None, None, project=project)
    assert measured.models[0].achieved == release.evaluation.models[0].achieved
    settings = velado.compare(project, {"k": [10, 400]}).settings
    assert [s.evaluation is not None for s in settings] == [True, False]
    assert str(folder) not in Path(str(release.manifest_path)).read_text()
    digest = hashlib.sha256(population.read_bytes()).hexdigest()
    assert made_from(release.private_manifest, "population population.csv", digest), "which people it was compared with"


def test_check_judges_models_of_the_whole(population: Path) -> None:
    found = velado.check(PEOPLE, ["age", "zip"], models=[KMap(2, str(population)), AverageRisk(0.9), KAnonymity(2)])
    assert [(v.name, v.achieved, v.satisfied) for v in found.models] == [
        ("k-map", 0, False),
        ("average-risk", 1.0, False),
        ("k-anonymity", 1, False),
    ]


def test_people_with_several_rows_count_once() -> None:
    """Three rows of one person make one class of one person: a risk of 1."""
    table = pa.table({"who": ["a", "a", "a", "b", "c"], "age": ["30", "30", "30", "40", "40"]})
    found = velado.check(table, ["age"], person="who", models=[AverageRisk(0.7)])
    assert found.models[0].achieved == pytest.approx(2 / 3)
    by_rows = velado.check(table, ["age"], models=[AverageRisk(0.7)])
    assert by_rows.models[0].achieved == pytest.approx(2 / 5)


@pytest.mark.parametrize("model", [AverageRisk(0.5), KMap(5, "nobody.csv")], ids=lambda m: m.name)
@pytest.mark.parametrize("method", [Mondrian(), velado.methods.Fuzzy()], ids=lambda m: m.name)
def test_methods_of_single_classes_refuse(model: object, method: object) -> None:
    with pytest.raises(InputError) as refused:
        velado.anonymize(PEOPLE, COLUMNS, [model], method)  # type: ignore[list-item,arg-type]
    assert refused.value.code == "model-needs-whole"


def test_lots_of_classes_refuse() -> None:
    from velado.models.base import Judging

    frequency = frequency_of(PEOPLE)
    judging = Judging([AverageRisk(0.5)], ())
    judging.add(Classes.of_rows(frequency))
    with pytest.raises(InputError) as refused:
        judging.add(Classes.of_rows(frequency))
    assert refused.value.code == "model-needs-whole"


@pytest.mark.parametrize("method", [Datafly(0.5), Fixed({"age": 1, "zip": 1}, 0.5)], ids=lambda m: m.name)
def test_other_methods_keep_what_satisfies(method: object, population: Path) -> None:
    release = velado.anonymize(PEOPLE, COLUMNS, [AverageRisk(0.34), KMap(5, str(population))], method)  # type: ignore[arg-type]
    assert release.evaluation.suppressed == 1
    assert all(v.satisfied for v in release.evaluation.models)


def test_a_budget_gives_the_best_so_far() -> None:
    release = velado.anonymize(PEOPLE, COLUMNS, [AverageRisk(0.4)], Lattice(budget=30))
    assert release.search.proven_optimal
    with pytest.raises(InputError) as found:
        velado.anonymize(PEOPLE, COLUMNS, [AverageRisk(0.4)], Lattice(budget=1e-9))
    assert found.value.code == "budget-too-small"


def test_a_population_without_a_column_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "population.csv"
    path.write_text("age\n31\n")
    with pytest.raises(InputError) as found:
        velado.anonymize(PEOPLE, COLUMNS, [KMap(2, str(path))])
    assert (found.value.code, found.value.column) == ("unknown-column", "zip")


def test_a_population_whose_values_do_not_fit_names_its_file(tmp_path: Path) -> None:
    path = tmp_path / "population.csv"
    path.write_text("age,zip\nyoung,10\n")
    with pytest.raises(InputError) as found:
        velado.anonymize(PEOPLE, COLUMNS, [KMap(2, str(path))])
    assert Path(str(found.value.file)).name == "population.csv"


def test_listed_leaves_know_no_others(tmp_path: Path) -> None:
    """A tree says which values there are: others of the population belong to no class, but to the root."""
    path = tmp_path / "population.csv"
    path.write_text("job\n" + "nurse\n" * 3 + "pilot\n" * 5)
    columns = Schema([Column("job", "quasi-identifier", hierarchy={"groups": {"care": ["nurse", "doctor"]}})])
    table = pa.table({"job": ["nurse", "doctor"]})
    with velado.tables.open_table(table) as opened:
        frequency = count_table(opened, columns)
    population = read_population(str(path), columns, frequency.hierarchies, [{"doctor": 1, "nurse": 1}], None)
    assert population.people == 8
    assert sorted(population.members(Classes.at_levels(frequency, [0])).tolist()) == [0, 3]
    assert population.members(Classes.at_levels(frequency, [1])).tolist() == [3]
