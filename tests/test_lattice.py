"""The lattice search against brute force, for every model and objective."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from harness.judge_hook import times
from random_tables import Small, model_strategy, random_hierarchy, small_tables, velado_model
from velado import Column, InputError, KAnonymity, Lattice, Mondrian, NoSolution, anonymize
from velado.evaluation import Pair, utility
from velado.frequency import Classes, Sensitive
from velado.methods import OBJECTIVES, Datafly, Fixed, Incognito, Samarati, lattice
from velado.methods.lattice import Space
from velado.models import judge_classes
from velado.models.base import OnSensitive, Rule
from velado.release.count import count_table
from velado.schema import Schema
from velado.tables import open_table

pytestmark = pytest.mark.judged

LIMITS = st.sampled_from([0.0, 0.05, 0.1, 0.3, 0.5, 1.0])
MODELS = st.lists(model_strategy(), min_size=1, max_size=3)


def solve(table: Small, models: list[dict], method: object) -> object:
    ours = [velado_model(m) for m in models]
    try:
        return method.search(table.frequency(ours), ours)  # type: ignore[attr-defined]
    except NoSolution:
        return None


def same(found: object, expected: tuple[float, tuple[int, ...]] | None) -> None:
    if expected is None:
        assert found is None
        return
    assert found is not None
    assert found.levels == expected[1]  # type: ignore[attr-defined]
    assert found.search.value == pytest.approx(expected[0], rel=1e-9, abs=1e-9)  # type: ignore[attr-defined]
    assert found.search.proven_optimal  # type: ignore[attr-defined]


@settings(max_examples=times(50, 500), deadline=None)
@given(table=small_tables(), models=MODELS, objective=st.sampled_from(list(OBJECTIVES)), limit=LIMITS)
def test_optimum_equals_brute_force(table: Small, models: list[dict], objective: str, limit: float) -> None:
    expected = oracle.brute_force(table.rows, table.qi, table.hierarchies, models, table.trees, objective, limit)
    same(solve(table, models, Lattice(suppression=limit, objective=objective)), expected)


@settings(max_examples=times(30, 500), deadline=None)
@given(table=small_tables(sensitive=2), first=model_strategy("s0"), second=model_strategy("s1"), limit=LIMITS)
def test_two_sensitive_columns(table: Small, first: dict, second: dict, limit: float) -> None:
    models = [{"name": "k-anonymity", "k": 2}, first, second]
    expected = oracle.brute_force(table.rows, table.qi, table.hierarchies, models, table.trees, "loss", limit)
    same(solve(table, models, Lattice(suppression=limit)), expected)


@settings(max_examples=times(35, 500), deadline=None)
@given(table=small_tables(sensitive=2), model=model_strategy("s0").filter(lambda m: m["name"] != "k-anonymity"))
def test_strict_reading_joins_the_other_sensitive_columns(table: Small, model: dict) -> None:
    strict = {**model, "strict": ["s1"]}
    expected = oracle.brute_force(table.rows, table.qi, table.hierarchies, [strict], table.trees, "loss", 0.5)
    ours = [velado_model(model, strict=True)]
    try:
        found = Lattice(suppression=0.5).search(table.frequency(ours), ours)
    except NoSolution:
        found = None
    same(found, expected)


@settings(max_examples=times(30, 500), deadline=None)
@given(
    table=small_tables(sensitive=2, most_rows=60),
    alpha=st.floats(0.4, 1),
    k=st.integers(2, 5),
    objective=st.sampled_from(list(OBJECTIVES)),
    limit=LIMITS,
)
def test_strict_alpha_k_asks_k_of_every_part(table: Small, alpha: float, k: int, objective: str, limit: float) -> None:
    """A class of k records whose other sensitive values differ has parts of fewer than k."""
    model = {"name": "alpha-k", "alpha": alpha, "k": k, "column": "s0", "strict": ["s1"]}
    node = (table.rows, table.qi, table.hierarchies)
    ours = [velado_model(model, strict=True)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lattice, "DENSE_VALUES", 0 if k % 2 else lattice.DENSE_VALUES)
        try:
            found = Lattice(suppression=limit, objective=objective).search(table.frequency(ours), ours)
        except NoSolution:
            found = None
    same(found, oracle.brute_force(*node, [model], table.trees, objective, limit))
    if found is not None:
        _, (verdict,) = judge_classes(ours, found.classes.frequency.sensitive, found.classes.only(found.kept))
        kept = [c for c in oracle.classes(*node, found.levels).values() if oracle.satisfies(model, c, table.rows, table.trees)]
        assert verdict.satisfied
        smallest, largest = oracle.worst(model, [oracle.figure(model, c, table.rows, table.trees) for c in kept])
        assert verdict.achieved == {"k": smallest, "alpha": pytest.approx(largest)}
    whole = oracle.satisfies(model, table.rows, table.rows, table.trees)
    if whole:
        cut = Mondrian().search(table.frequency(ours), ours)
        assert judge_classes(ours, cut.classes.frequency.sensitive, cut.classes)[1][0].satisfied


@dataclass(frozen=True)
class Weighing(OnSensitive):
    """Every class weighs at least k: a model whose counts are no records."""

    k: int
    column: str = "s0"
    unit: int = 12
    strict: bool = False
    name: ClassVar[str] = "weighing"
    parameters: ClassVar = {}
    hereditary: ClassVar[bool] = True

    def rules(self, sensitive: Sensitive | None) -> list[Rule]:
        from velado.kernels.measures import MASS

        return [Rule(MASS, self.k, sensitive, scale=self.unit)]


@settings(max_examples=times(30, 500), deadline=None)
@given(table=small_tables(), k=st.integers(2, 4), data=st.data(), limit=LIMITS)
def test_weights_are_not_mixed_with_records(table: Small, k: int, data: st.DataObject, limit: float) -> None:
    """Lattice and Mondrian keep the classes that weigh enough, and no others."""
    weights = st.sampled_from([1, 2, 3, 4, 6, 12])
    rows = [{**row, "s0": str(data.draw(weights))} for row in table.rows]
    model = {"name": "weighing", "k": k}

    def judge(model: dict, cls: list[dict[str, str]], *_: object) -> tuple[Fraction, bool]:
        weight = sum(Fraction(int(r["s0"]), 12) for r in cls)
        return weight, weight >= model["k"]

    plain = Small(rows, table.qi, table.hierarchies, {}, []).frequency()
    heavy = Counter(tuple(r[c] for c in table.qi) for r in rows for _ in range(int(r["s0"])))
    keys = [tuple(h.leaves[x] for h, x in zip(plain.hierarchies, row, strict=True)) for row in plain.codes]
    frequency = replace(
        plain,
        sensitive=(Sensitive("s0", ("",), expected=np.ones(1)),),
        start=np.arange(plain.rows + 1, dtype=np.int64),
        values=np.zeros(plain.rows, dtype=np.int32),
        value_counts=np.array([heavy[key] for key in keys], dtype=np.int64),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(oracle.JUDGES, "weighing", judge)
        expected = oracle.brute_force(rows, table.qi, table.hierarchies, [model], {}, "loss", limit)
    for method in (Lattice(suppression=limit), Incognito(suppression=limit)):
        try:
            found = method.search(frequency, [Weighing(k)])
        except NoSolution:
            found = None
        same(found, expected)
    whole = sum(heavy.values())
    try:
        cut = Mondrian().search(frequency, [Weighing(k)])
    except NoSolution:
        assert whole < 12 * k
    else:
        weighed = np.bincount(cut.classes.class_of, weights=frequency.value_counts)
        assert weighed.sum() == whole
        assert (weighed >= 12 * k).all()


@pytest.mark.parametrize("objective", OBJECTIVES)
@settings(max_examples=25, deadline=None)
@given(table=small_tables(), models=MODELS, limit=LIMITS)
def test_the_sweep_finds_the_same_optimum(objective: str, table: Small, models: list[dict], limit: float) -> None:
    """Both phases of the search, each alone, and sparse as well as dense histograms."""
    expected = oracle.brute_force(table.rows, table.qi, table.hierarchies, models, table.trees, objective, limit)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lattice, "WORTH_CLIMBING", 10**9)
        patch.setattr(lattice, "FIRST_QUOTA", 1)
        patch.setattr(lattice, "DENSE_VALUES", 0)
        found = solve(table, models, Lattice(suppression=limit, objective=objective, minimal=True))
    same(found, expected)
    minimal = oracle.minimal_nodes(table.rows, table.qi, table.hierarchies, models, table.trees, limit)
    assert (list(found.minimal) if found else []) == minimal  # type: ignore[attr-defined]


@settings(max_examples=times(35, 500), deadline=None)
@given(table=small_tables(), models=MODELS, limit=LIMITS)
def test_minimal_nodes_equal_brute_force(table: Small, models: list[dict], limit: float) -> None:
    expected = oracle.minimal_nodes(table.rows, table.qi, table.hierarchies, models, table.trees, limit)
    found = solve(table, models, Lattice(suppression=limit, minimal=True))
    assert (list(found.minimal) if found else []) == expected  # type: ignore[attr-defined]


@settings(max_examples=times(30, 500), deadline=None)
@given(table=small_tables(), k=st.integers(2, 6), order=st.integers(1, 3), limit=LIMITS)
def test_samarati_and_incognito(table: Small, k: int, order: int, limit: float) -> None:
    models = [{"name": "k-anonymity", "k": k}, {"name": "distinct-diversity", "l": order, "column": "s0"}]
    minimal = oracle.minimal_nodes(table.rows, table.qi, table.hierarchies, models, table.trees, limit)
    samarati = solve(table, models, Samarati(suppression=limit))
    assert (samarati.levels if samarati else None) == (minimal[0] if minimal else None)  # type: ignore[attr-defined]
    expected = oracle.brute_force(table.rows, table.qi, table.hierarchies, models, table.trees, "loss", limit)
    same(solve(table, models, Incognito(suppression=limit)), expected)


@settings(max_examples=times(30, 500), deadline=None)
@given(table=small_tables(), models=MODELS, limit=LIMITS)
def test_datafly_satisfies_and_climbs_the_fullest_column(table: Small, models: list[dict], limit: float) -> None:
    found = solve(table, models, Datafly(suppression=limit))
    levels = [0] * len(table.qi)
    heights = [len(table.hierarchies[c][0]) - 1 for c in table.qi]
    while True:
        judged = oracle.evaluate(table.rows, table.qi, table.hierarchies, tuple(levels), models, table.trees)
        if judged["kept"] and judged["suppressed"] <= np.floor(limit * len(table.rows) + 1e-9):
            assert found is not None
            assert found.levels == tuple(levels)  # type: ignore[attr-defined]
            return
        sizes = []
        for c, level, height in zip(table.qi, levels, heights, strict=True):
            label = {row[0]: row[level] for row in table.hierarchies[c]}
            sizes.append(len({label[r[c]] for r in table.rows}) if level < height else -1)
        if max(sizes) < 0:
            assert found is None
            return
        levels[sizes.index(max(sizes))] += 1


@settings(max_examples=times(35, 500), deadline=None)
@given(table=small_tables(), models=MODELS, data=st.data())
def test_measures_of_a_node(table: Small, models: list[dict], data: st.DataObject) -> None:
    """Every utility measure and every judged class equals the oracle's, at any node."""
    levels = tuple(data.draw(st.integers(0, len(table.hierarchies[c][0]) - 1)) for c in table.qi)
    judged = oracle.evaluate(table.rows, table.qi, table.hierarchies, levels, models, table.trees)
    ours = [velado_model(m) for m in models]
    frequency = table.frequency(ours)
    classes = Classes.at_levels(frequency, levels)
    kept, _ = judge_classes(ours, frequency.sensitive, classes)
    assert sorted(classes.sizes[kept].tolist()) == judged["sizes"]
    measured, _ = utility(Pair.at_levels(classes, levels, kept))
    arguments = (table.rows, table.qi, table.hierarchies, levels, judged["kept"])
    assert measured.loss == pytest.approx(oracle.loss(*arguments), abs=1e-12)
    assert measured.loss_mean == pytest.approx(oracle.loss_mean(*arguments), abs=1e-12)
    assert measured.precision == pytest.approx(oracle.precision(*arguments), abs=1e-12)
    assert measured.discernibility == oracle.discernibility(*arguments)
    assert measured.entropy == pytest.approx(oracle.entropy_loss(*arguments), abs=1e-12)
    assert measured.generalized_loss == pytest.approx(oracle.gen_iloss(*arguments), abs=1e-12)
    if judged["kept"]:
        assert measured.average_class_size == pytest.approx(oracle.average_class_size(*arguments))


@settings(max_examples=times(30, 500), deadline=None)
@given(table=small_tables(most_rows=40), model=model_strategy())
def test_figures_of_classes(table: Small, model: dict) -> None:
    """What a class achieves equals the oracle, whose distances come from a transport problem."""
    ours = velado_model(model)
    frequency = table.frequency([ours])
    classes = Classes.from_ids(frequency, np.arange(frequency.rows), frequency.rows)
    _, (verdict,) = judge_classes([ours], frequency.sensitive, classes)
    parts = oracle.classes(table.rows, table.qi, table.hierarchies, (0,) * len(table.qi))
    figures = [oracle.figure(model, c, table.rows, table.trees) for c in parts.values()]
    expected = oracle.worst(model, figures)
    achieved = tuple(verdict.achieved.values()) if isinstance(verdict.achieved, dict) else verdict.achieved
    assert achieved == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert verdict.satisfied == all(oracle.satisfies(model, c, table.rows, table.trees) for c in parts.values())


def wide_table(columns: int, rows: int, seed: int = 7) -> Small:
    rng = np.random.default_rng(seed)
    qi = [f"q{j}" for j in range(columns)]
    hierarchies = {c: random_hierarchy(rng, c, 4, 2, True) for c in qi}
    picked = [{c: hierarchies[c][int(rng.integers(0, 4) ** 2 // 4)][0] for c in qi} for _ in range(rows)]
    return Small(picked, qi, hierarchies, {}, [])


def test_a_time_budget_gives_a_proven_gap() -> None:
    table = wide_table(9, 3000)
    frequency = table.frequency()
    models = [KAnonymity(4)]
    best = Lattice().search(frequency, models)
    hasty = Lattice(budget=1e-6).search(frequency, models)
    assert best.search.proven_optimal
    assert best.search.gap == 0
    assert not hasty.search.proven_optimal
    assert hasty.search.evaluated < best.search.evaluated
    assert hasty.search.value - hasty.search.gap <= best.search.value + 1e-12 <= hasty.search.value + 2e-12
    assert hasty.search.gap > 0


def test_equal_optima_take_the_smallest_sum_then_the_first_vector() -> None:
    """Two identical columns: either may be generalized; the lexicographically smaller vector wins."""
    rows = [{"a": x, "b": x} for x in ("1", "2")]
    two = [["1", "*"], ["2", "*"]]
    table = Small(rows, ["a", "b"], {"a": two, "b": two}, {}, [])
    found = solve(table, [{"name": "k-anonymity", "k": 2}], Lattice(suppression=0))
    assert found.levels == (1, 1)  # type: ignore[attr-defined]
    rows = [{"a": "1", "b": "1"}, {"a": "1", "b": "2"}, {"a": "2", "b": "1"}, {"a": "2", "b": "2"}]
    table = Small(rows, ["a", "b"], {"a": two, "b": two}, {}, [])
    assert solve(table, [{"name": "k-anonymity", "k": 2}], Lattice(suppression=0)).levels == (0, 1)  # type: ignore[attr-defined]


def test_grouping_is_exact_beyond_64_bits() -> None:
    """40 columns of 4 leaves: the product of the radices is 2^80."""
    table = wide_table(40, 400)
    frequency = table.frequency()
    rng = np.random.default_rng(1)
    for _ in range(20):
        levels = tuple(int(x) for x in rng.integers(0, 2, 40))
        ours = Classes.at_levels(frequency, levels)
        expected = oracle.classes(table.rows, table.qi, table.hierarchies, levels)
        assert sorted(ours.sizes.tolist()) == sorted(len(c) for c in expected.values())


def test_a_lattice_too_large_is_refused_with_a_way_out() -> None:
    table = wide_table(40, 50)
    with pytest.raises(InputError, match="nodes") as caught:
        Lattice().search(table.frequency(), [KAnonymity(2)])
    assert "datafly" in caught.value.hint
    assert Datafly(suppression=0.5).search(table.frequency(), [KAnonymity(2)]).kept.any()


@pytest.mark.parametrize("method", [Samarati(), Samarati(suppression=0.1), Incognito(suppression=0.1)])
def test_pruning_methods_refuse_models_that_are_not_monotone(method: object) -> None:
    table = Small([{"q0": "q00", "s0": "s00"}], ["q0"], {"q0": [["q00", "*"]]}, {"s0": [["s00", "*"]]}, ["s0"])
    with pytest.raises(InputError, match="monotone"):
        solve(table, [{"name": "delta-disclosure", "delta": 1.0, "column": "s0"}], method)


def test_fixed_levels() -> None:
    table = wide_table(3, 200)
    frequency = table.frequency()
    for levels in itertools.islice(itertools.product(range(3), repeat=3), 27):
        chosen = Fixed(dict(zip(table.qi, levels, strict=True)))
        judged = oracle.evaluate(table.rows, table.qi, table.hierarchies, levels, [{"name": "k-anonymity", "k": 3}], {})
        try:
            found = chosen.search(frequency, [KAnonymity(3)])
        except NoSolution:
            assert not judged["kept"]
        else:
            assert found.suppressed_records == judged["suppressed"]
    with pytest.raises(InputError, match="highest level"):
        Fixed({"q0": 9, "q1": 0, "q2": 0}).search(frequency, [KAnonymity(3)])
    with pytest.raises(InputError, match="every quasi-identifier"):
        Fixed({"q0": 1}).search(frequency, [KAnonymity(3)])


def test_kernels_return_when_asked():
    """A budget or an interruption does not wait for a range of nodes."""
    rng = np.random.default_rng(3)
    ages = [str(x) for x in rng.integers(0, 64, 3000)]
    places = [str(x) for x in rng.integers(0, 64, 3000)]
    table = pa.table({"age": ages, "place": places})
    columns = [Column(name, "quasi-identifier", hierarchy={"intervals": [2, 4, 8, 16]}) for name in table.column_names]
    with open_table(table) as opened:
        frequency = count_table(opened, Schema(columns))
    space = Space(frequency, [KAnonymity(5)], suppression=0.0)
    lattice._stop(space.state)
    kernel, known = space.kernel, (space.tables, space.rules, space.objective, space.state, space.scratch)
    assert not kernel.sweep_nodes(*known, 0, space.nodes)
    assert np.isnan(space.state.value).all()
    assert not kernel.climb_nodes(*known, 1000)
    assert np.count_nonzero(~np.isnan(space.state.value)) == 1


def test_a_lattice_of_too_many_columns_is_told():
    table = pa.table({f"c{i}": ["a", "b"] for i in range(1200)})
    columns = [Column(name, "quasi-identifier") for name in table.column_names]
    with pytest.raises(InputError) as caught:
        anonymize(table, columns, [KAnonymity(2)])
    assert caught.value.code == "lattice-too-large"
