"""Every node of the lattice against a plain oracle; the tables of the UBB text; paths, files and pictures."""

from __future__ import annotations

import csv
import itertools
import json
import math
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
import velado
from conftest import Command
from harness.judge_hook import times
from random_tables import Small, model_strategy, small_tables, velado_model
from velado import Column, InputError, KAnonymity, Lattice, Mondrian, NoSolution, Project, explore, run
from velado.i18n import language
from velado.methods import OBJECTIVES, Datafly, Fixed, Incognito, Samarati
from velado.methods import lattice as lattice_method
from velado.methods import survey as survey_method
from velado.models import judge_classes, model_from
from velado.progress import Progress
from velado.questions import Exploration
from velado.questions.exploration import STATUSES, path_between
from velado.report.charts.lattice import MOST_NAMED, lattice
from velado.report.formats.lattice import save_lattice, save_nodes, write_json
from velado.studies import ubb_text

LIMITS = st.sampled_from([0.0, 0.1, 0.3, 1.0])
MODELS = st.lists(model_strategy(), min_size=1, max_size=3)


def told(model: dict[str, Any], figures: list[Any]) -> list[float | None]:
    """The figures of classes as a node tells the worst of them: one or, of (α,k), two."""
    if not figures:
        return [None, None] if model["name"] == "alpha-k" else [None]
    found = oracle.worst(model, figures)
    parts = found if isinstance(found, tuple) else (found,)
    return [None if math.isinf(x) else float(x) for x in parts]


def near(found: Any, expected: Any) -> None:
    assert found == (None if expected is None else pytest.approx(expected, rel=1e-9, abs=1e-9))


@settings(max_examples=times(40, 500), deadline=None)
@given(
    table=small_tables(most_rows=20), models=MODELS, objective=st.sampled_from(list(OBJECTIVES)), limit=LIMITS, dense=st.booleans()
)
def test_every_figure_of_every_node(table: Small, models: list[dict[str, Any]], objective: str, limit: float, dense: bool) -> None:
    ours = tuple(velado_model(m) for m in models)
    project = Project(table.arrow(), tuple(table.columns()), ours, Lattice(suppression=limit, objective=objective))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lattice_method, "DENSE_VALUES", 64 if dense else 0)
        try:
            found = explore(project)
        except NoSolution:
            # The table is too small, or has too few sensitive values: said before anything is searched.
            return
    where = (table.rows, table.qi, table.hierarchies)
    best = oracle.brute_force(*where, models, table.trees, objective, limit)
    minimal = oracle.minimal_nodes(*where, models, table.trees, limit)
    feasible = oracle.feasible_nodes(*where, models, table.trees, limit)
    nodes = list(found.nodes())
    assert [n.levels for n in nodes] == list(oracle.lattice(table.qi, table.hierarchies))
    for n in nodes:
        classes = oracle.classes(*where, n.levels)
        outcome = oracle.evaluate(*where, n.levels, models, table.trees)
        kept, sizes = outcome["kept"], outcome["sizes"]
        assert (n.suppressed, n.classes, n.height) == (outcome["suppressed"], len(sizes), sum(n.levels))
        assert n.share == n.suppressed / len(table.rows)
        assert n.k == min(map(len, classes.values()))
        assert (n.smallest, n.largest) == ((min(sizes), max(sizes)) if sizes else (None, None))
        near(n.average, sum(sizes) / len(sizes) if sizes else None)
        risk = oracle.risk(sizes)
        near(n.highest_risk, risk["highest"] if sizes else None)
        near(n.average_risk, risk["average"] if sizes else None)
        near(n.loss, oracle.loss(*where, n.levels, kept) if sizes else None)
        near(n.objective, oracle.OBJECTIVES[objective](*where, n.levels, kept) if sizes else None)
        for kind, keys in ((n.achieved, kept), (n.reached, set(classes))):
            expected = [
                x
                for model in models
                for x in told(model, [oracle.figure(model, classes[k], table.rows, table.trees) for k in keys])
            ]
            for value, wanted in zip(kind.values(), expected, strict=True):
                near(value, wanted)
        assert n.minimal == (n.levels in minimal)
        if best is not None and n.levels == best[1]:
            assert n.status == "optimal"
        elif n.minimal:
            assert n.status == "minimal"
        elif n.levels in feasible:
            assert n.status == "satisfying"
        else:
            assert n.status == ("over-limit" if kept else "failing")
    assert found.counts == {
        "optimal": int(best is not None),
        "minimal": len(minimal),
        "satisfying": len(feasible),
        "over-limit": sum(n.status == "over-limit" for n in nodes),
        "failing": sum(n.status == "failing" for n in nodes),
    }
    again = Exploration.from_dict(json.loads(json.dumps(found.as_dict())))
    assert again.as_dict() == found.as_dict()


def visits(seed: int, rows: int = 40) -> list[dict[str, str]]:
    rng = np.random.default_rng(seed)
    return [
        {
            "who": f"p{rng.integers(12)}",
            "age": str(20 + 5 * rng.integers(8)),
            "zip": f"1{rng.integers(3)}",
            "ill": str(rng.integers(3)),
        }
        for _ in range(rows)
    ]


AGES = [[str(a), f"{a // 20 * 20}-{a // 20 * 20 + 19}", "*"] for a in range(20, 60, 5)]
ZIPS = [[f"1{z}", "*"] for z in range(3)]


def with_people(rows: list[dict[str, str]], k: int, limit: float, extra: tuple[Any, ...] = ()) -> Project:
    columns = (
        Column("who", "identifier"),
        Column("age", "quasi-identifier", hierarchy={"rows": AGES}),
        Column("zip", "quasi-identifier", hierarchy={"rows": ZIPS}),
        Column("ill", "sensitive"),
    )
    table = pa.table({c: [r[c] for r in rows] for c in rows[0]})
    return Project(table, columns, (KAnonymity(k), *extra), Lattice(suppression=limit), person="who")


@settings(max_examples=times(12, 200), deadline=None)
@given(seed=st.integers(0, 10_000), k=st.integers(2, 4), limit=st.sampled_from([0.0, 0.2, 1.0]))
def test_people_are_counted_by_their_shares(seed: int, k: int, limit: float) -> None:
    """Every row of a person counts as one of so many: never more people than there are, and exact for the classes."""
    rows = visits(seed)
    found = explore(with_people(rows, k, limit))
    often = Counter(r["who"] for r in rows)
    assert found.person == "who"
    for n in found.nodes():
        classes: dict[Any, list[dict[str, str]]] = defaultdict(list)
        for r in rows:
            classes[AGES[(int(r["age"]) - 20) // 5][n.levels[0]], ZIPS[int(r["zip"][1])][n.levels[1]]].append(r)
        shares = {key: sum((Fraction(1, often[r["who"]]) for r in c), Fraction(0)) for key, c in classes.items()}
        kept = {key for key, share in shares.items() if share >= k}
        assert n.suppressed == sum(len(c) for key, c in classes.items() if key not in kept)
        assert n.k == math.floor(min(shares.values()))
        if kept:
            fewest = math.ceil(min(shares[key] for key in kept))
            assert n.highest_risk == pytest.approx(1 / fewest)
            assert n.average_risk == pytest.approx(len(kept) / float(sum(shares[key] for key in kept)))
            assert n.achieved["k-anonymity"] == math.floor(min(shares[key] for key in kept))
        inside = found.node(n.levels)
        people = {key: len({r["who"] for r in c}) for key, c in classes.items()}
        shown = {tuple(row["labels"].values()): row for row in inside.as_dict()["classes"]}
        assert {key: row["people"] for key, row in shown.items()} == people
        assert {key for key, row in shown.items() if row["released"]} == kept
        assert all(row["risk"] <= (n.highest_risk or 1) + 1e-12 for row in shown.values() if row["released"])


@settings(max_examples=times(15, 200), deadline=None)
@given(
    table=small_tables(most_rows=40, sensitive=2),
    models=st.lists(model_strategy(), min_size=1, max_size=2),
    strict=st.booleans(),
    limit=LIMITS,
)
def test_nodes_are_what_the_judge_and_the_search_say(
    table: Small, models: list[dict[str, Any]], strict: bool, limit: float
) -> None:
    """Two sensitive columns, strict readings included; the optimal node is the one that a run releases."""
    ours = tuple(velado_model(m, strict=strict) for m in models)
    project = Project(table.arrow(), tuple(table.columns()), ours, Lattice(suppression=limit))
    try:
        found = explore(project)
    except NoSolution:
        return
    for n in found.nodes():
        inside = found.node(n.levels)
        kept = inside.released
        assert (int(kept.sum()), int(inside.classes.sizes[~kept].sum())) == (n.classes, n.suppressed)
        classes = velado.frequency.Classes.at_levels(found.frequency, n.levels)
        _, verdicts = judge_classes(ours, found.frequency.judged_columns, classes)
        achieved = [x for v in verdicts for x in (v.achieved.values() if isinstance(v.achieved, dict) else [v.achieved])]
        for value, wanted in zip(n.reached.values(), achieved, strict=True):
            near(value, wanted if math.isfinite(wanted) else None)
    try:
        best = lattice_method.Lattice(suppression=limit).search(found.frequency, ours).levels
    except NoSolution:
        best = None
    assert (found.optimal and found.optimal.levels) == best


@settings(max_examples=times(15, 200), deadline=None)
@given(table=small_tables(), models=MODELS, objective=st.sampled_from(list(OBJECTIVES)), limit=LIMITS)
def test_nodes_one_by_one_are_as_the_kernel_finds_them(
    table: Small, models: list[dict[str, Any]], objective: str, limit: float
) -> None:
    """The way of models of the whole release, taken with models of single classes."""
    ours = tuple(velado_model(m) for m in models)
    project = Project(table.arrow(), tuple(table.columns()), ours, Lattice(suppression=limit, objective=objective))
    try:
        found = explore(project)
    except NoSolution:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(survey_method, "whole_models", lambda models: models)
        slow = explore(project)
    assert slow.header() == found.header()
    for name, array in slow.arrays().items():
        np.testing.assert_allclose(array, found.arrays()[name], rtol=1e-9, atol=1e-9, err_msg=name)


def test_figures_have_their_names_where_nothing_can_be_released(monkeypatch: pytest.MonkeyPatch) -> None:
    people = pa.table({"q": ["a", "b"], "s": ["x", "x"]})
    columns = (Column("q", "quasi-identifier"), Column("s", "sensitive"))
    project = Project(people, columns, (model_from("alpha-k", {"alpha": 0.5, "k": 2, "column": "s"}),), Lattice())
    found = explore(project)
    monkeypatch.setattr(survey_method, "whole_models", lambda models: models)
    assert explore(project).header() == found.header()


@settings(max_examples=times(15, 200), deadline=None)
@given(table=small_tables(most_rows=40), risk=st.sampled_from([0.1, 0.2, 0.4]), k=st.integers(2, 3), limit=LIMITS)
def test_a_model_of_the_whole_release(table: Small, risk: float, k: int, limit: float) -> None:
    """What is left at each node has the average risk that is asked for, and the optimal node is the one of the search."""
    models = (KAnonymity(k), model_from("average-risk", {"risk": risk}))
    project = Project(table.arrow(), tuple(table.columns()), models, Lattice(suppression=limit))
    try:
        found = explore(project)
    except NoSolution:
        return
    for n in found.nodes():
        classes = [len(c) for c in oracle.classes(table.rows, table.qi, table.hierarchies, n.levels).values()]
        near(n.reached["average-risk"], len(classes) / len(table.rows))
        if n.classes:
            assert n.average_risk is not None
            assert n.average_risk <= risk + 1e-9
            near(n.achieved["average-risk"], n.average_risk)
            near(n.average_risk, n.classes / (len(table.rows) - n.suppressed))
        inside = found.node(n.levels)
        assert int(inside.classes.sizes[~inside.released].sum()) == n.suppressed
    try:
        best = Lattice(suppression=limit).search(found.frequency, models).levels  # type: ignore[arg-type]
    except NoSolution:
        best = None
    assert (found.optimal and found.optimal.levels) == best


# The UBB text.


def ubb(rows: Any, k: int, most: int = 0) -> Exploration:
    names = ("ethnicity", "zip")
    columns = tuple(
        Column(n, "quasi-identifier", hierarchy=ubb_text._hierarchy(n, [r[i] for r in rows])) for i, n in enumerate(names)
    )
    method = Lattice(suppression=f"{most} records")
    return explore(Project(ubb_text.table(rows, names), columns, (KAnonymity(k),), method, name="UBB"))


def sorted_out(found: Exploration) -> dict[str, set[tuple[int, ...]]]:
    """The generalizations as table 9 lists them; the private table itself is none."""
    proper = [n for n in found.nodes() if n.height]
    return {
        "minimal": {n.levels for n in proper if n.minimal},
        "over": {n.levels for n in proper if n.status in ("over-limit", "failing")},
        "not minimal": {n.levels for n in proper if n.status in ("optimal", "satisfying") and not n.minimal},
    }


def test_table_3_k_of_each_generalization() -> None:
    found = {n.levels: n.k for n in ubb(ubb_text.TABLE_3, 2).nodes()}
    assert found == {(0, 0): 1, (1, 0): 3, (1, 1): 6, (0, 2): 4, (0, 1): 2, (1, 2): 12}


@pytest.mark.parametrize(
    ("k", "minimal", "others"), [(2, {(1, 0), (0, 1)}, {(1, 1), (1, 2), (0, 2)}), (3, {(1, 0), (0, 2)}, {(1, 1), (1, 2)})]
)
def test_table_4_minimal_generalizations(k: int, minimal: set[Any], others: set[Any]) -> None:
    found = sorted_out(ubb(ubb_text.TABLE_3, k))
    assert (found["minimal"], found["not minimal"]) == (minimal, others)


def test_table_8_generalizations_with_suppression() -> None:
    """The rows that each generalization loses, and the k of what is left."""
    found = ubb(ubb_text.TABLE_7, 2)
    shown = {n.levels: (n.suppressed, n.achieved["k-anonymity"]) for n in found.nodes() if n.height}
    assert shown == {(1, 0): (1, 3), (0, 1): (2, 2), (0, 2): (1, 3), (1, 1): (0, 4), (1, 2): (0, 8)}
    gone = [row["labels"] for row in found.node((0, 1)).as_dict()["classes"] if not row["released"]]
    assert {tuple(labels.values()) for labels in gone} == {("mapuche", "05340"), ("atacameño", "05340")}


@pytest.mark.parametrize(
    ("most", "minimal", "over", "others"),
    [
        (0, {(1, 1)}, {(1, 0), (0, 1), (0, 2)}, {(1, 2)}),
        (1, {(1, 0), (0, 2)}, {(0, 1)}, {(1, 1), (1, 2)}),
        (2, {(1, 0), (0, 1)}, set(), {(0, 2), (1, 1), (1, 2)}),
    ],
)
def test_table_9_with_a_threshold_of_suppression(most: int, minimal: Any, over: Any, others: Any) -> None:
    found = ubb(ubb_text.TABLE_7, 2, most)
    assert sorted_out(found) == {"minimal": minimal, "over": over, "not minimal": others}
    assert found.limit == most


# Ways between nodes.


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=3))
def test_ways_are_shortest_and_counted(pairs: list[tuple[int, int]]) -> None:
    start, end = tuple(a for a, _ in pairs), tuple(b for _, b in pairs)
    way = path_between(start, end)
    assert (way.nodes[0], way.nodes[-1]) == (start, end)
    for one, other in itertools.pairwise(way.nodes):
        assert sum(abs(a - b) for a, b in zip(one, other, strict=True)) == 1
    # Walk the grid: how many ways of this length are there, and is any shorter?
    ways, steps = Counter([start]), 0
    while end not in ways:
        further: Counter[tuple[int, ...]] = Counter()
        for node, count in ways.items():
            for j, step in itertools.product(range(len(node)), (-1, 1)):
                moved = tuple(x + step * (i == j) for i, x in enumerate(node))
                if 0 <= moved[j] <= 3:
                    further[moved] += count
        ways, steps = further, steps + 1
    assert (way.length, way.paths) == (steps, ways[end])
    assert way.vector == tuple(b - a for a, b in pairs)


def test_neighbours_distances_and_bad_nodes() -> None:
    found = ubb(ubb_text.TABLE_3, 2)
    assert found.predecessors((1, 1)) == ((0, 1), (1, 0))
    assert found.successors({"zip": 1}) == ((1, 1), (0, 2))
    assert found.successors((1, 2)) == ()
    assert found.distance((1, 2)) == (1, 2)
    assert found.distance((0, 2), start=(1, 0)) == (-1, 2)
    assert not found.path((1, 0), (0, 2)).comparable
    for bad in ((1,), (2, 0), (0, -1), (0.5, 0), {"city": 1}, (True, 0)):
        with pytest.raises(InputError) as error:
            found.at(bad)  # type: ignore[arg-type]
        assert error.value.code == "bad-node"


# Methods, limits, what a result is.


def people(**changes: Any) -> Project:
    rng = np.random.default_rng(5)
    table = pa.table({"age": [str(x) for x in rng.integers(20, 60, 80)], "ill": [str(x) for x in rng.choice(list("abc"), 80)]})
    columns = (
        Column("age", "quasi-identifier", hierarchy={"intervals": [5, 10, 40]}),
        Column("ill", "sensitive", exposure="accepted"),
    )
    return Project(**({"source": table, "columns": columns, "models": (KAnonymity(3),)} | changes))


@pytest.mark.parametrize(
    "method",
    [
        Lattice(suppression=0.2),
        Samarati(suppression=0.2),
        Datafly(suppression=0.2),
        Incognito(suppression=0.2),
        Fixed({"age": 2}, 0.2),
    ],
    ids=lambda m: m.name,
)
def test_all_full_domain_methods(method: Any) -> None:
    found = explore(people(method=method))
    assert found.limit == 16
    assert [n.status for n in found.nodes()] == [n.status for n in explore(people(method=Lattice(suppression=0.2))).nodes()]
    chosen = run(people(method=method)).levels  # type: ignore[union-attr]
    assert found.at(chosen).status in ("optimal", "minimal", "satisfying")


@pytest.mark.parametrize("method", [Mondrian(), velado.methods.Fuzzy()], ids=lambda m: m.name)
def test_local_methods_have_no_lattice(method: Any) -> None:
    with pytest.raises(InputError) as error:
        explore(people(method=method))
    assert error.value.code == "no-lattice"
    assert "lattice" in error.value.hint


def test_large_lattices_need_a_word() -> None:
    with pytest.raises(InputError) as error:
        explore(people(), most_nodes=3)
    assert error.value.code == "lattice-too-large"
    assert "--most-nodes" in error.value.hint
    assert len(explore(people(), most_nodes=5)) == len(explore(people()))


def test_two_models_of_one_name_are_told_apart() -> None:
    models = (velado.TCloseness(0.5, "ill"), velado.TCloseness(0.9, "ill"), velado.models.AlphaK(0.9, 2, "ill"))
    found = explore(people(models=models))
    assert [m.tells for m in found.models] == [("t-closeness ill",), ("t-closeness ill #2",), ("alpha-k.k", "alpha-k.alpha")]
    top = found.at((4,))
    assert top.reached["t-closeness ill"] == top.reached["t-closeness ill #2"] == pytest.approx(0)
    assert top.reached["alpha-k.k"] == 80


def test_a_result_shows_no_values_and_cannot_be_changed() -> None:
    found = ubb(ubb_text.TABLE_3, 2)
    for shown in (
        repr(found),
        found._repr_html_(),
        repr(found.at((0, 0))),
        repr(found.node((0, 0))),
        repr(found.path((0, 0), (1, 1))),
    ):
        assert len(shown) < (4000 if shown.startswith("<table") else 300)
        assert not any(value in shown for row in ubb_text.TABLE_3 for value in row)
    assert "nodes: 6" in repr(found)
    arrays = found.arrays()
    assert list(arrays) == found.header()
    assert {len(a) for a in arrays.values()} == {6}
    for array in arrays.values():
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    assert [STATUSES[i] for i in arrays["status"]] == [n.status for n in found.nodes()]
    assert arrays["k"].tolist() == [1, 2, 4, 3, 6, 12]
    saved = Exploration.from_dict(found.as_dict())
    with pytest.raises(InputError) as error:
        saved.node((0, 0))
    assert error.value.code == "no-classes"
    less = {**found.as_dict(), "nodes": found.as_dict()["nodes"][1:]}
    with pytest.raises(InputError) as error:
        Exploration.from_dict(less)
    assert error.value.code == "not-a-result"


def test_nodes_are_chosen_and_sorted() -> None:
    found = ubb(ubb_text.TABLE_7, 2, 1)
    assert [n.levels for n in found.nodes(sort="status")] == [(1, 0), (0, 2), (1, 1), (1, 2), (0, 1), (0, 0)]
    assert [n.levels for n in found.nodes(status="minimal")] == [(0, 2), (1, 0)]
    assert [n.levels for n in found.nodes(status=["over-limit", "failing"], sort="suppressed")] == [(0, 1), (0, 0)]
    assert [n.k for n in found.nodes(sort="k", top=2)] == [1, 1]
    assert len(found.node_numbers(status="satisfying")) == found.counts["satisfying"] == 4
    for wrong in ({"status": "best"}, {"sort": "beauty"}):
        with pytest.raises(InputError) as error:
            found.node_numbers(**wrong)  # type: ignore[arg-type]
        assert error.value.code == "bad-option"


def test_exploring_can_be_cancelled() -> None:
    progress = Progress(lambda step: progress.cancel() if step.stage == "explore" else None)
    with pytest.raises(velado.Cancelled):
        explore(people(), progress=progress)


# Files.


def test_files_hold_what_the_nodes_say(tmp_path: Path) -> None:
    found = ubb(ubb_text.TABLE_7, 2, 1)
    save_nodes(found, tmp_path / "nodes.csv", found.node_numbers(status="minimal"))
    with open(tmp_path / "nodes.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(r["level(ethnicity)"], r["level(zip)"], r["status"]) for r in rows] == [("0", "2", "minimal"), ("1", "0", "optimal")]
    assert [float(r["loss"]) for r in rows] == [n.loss for n in found.nodes(status="minimal")]
    with open(tmp_path / "nodes.json", "w", encoding="utf-8") as stream:
        write_json(found, stream)
    assert json.loads((tmp_path / "nodes.json").read_text(encoding="utf-8")) == found.as_dict()
    empty = tmp_path / "empty.json"
    with open(empty, "w", encoding="utf-8") as stream:
        write_json(found, stream, found.node_numbers(status="failing"))
    assert json.loads(empty.read_text(encoding="utf-8"))["nodes"] == []


@pytest.mark.parametrize("code", ["en", "es", "pt"])
def test_the_lattice_is_drawn(code: str, tmp_path: Path) -> None:
    found = ubb(ubb_text.TABLE_7, 2, 1)
    save_lattice(found, tmp_path / "lattice.svg", language=code)
    drawn = (tmp_path / "lattice.svg").read_text(encoding="utf-8")
    words = language(code)
    for n in found.nodes():
        assert "[" + ",".join(map(str, n.levels)) + "]" in drawn
        assert words.label("status", n.status) in drawn
    with pytest.raises(InputError) as error:
        save_lattice(found, tmp_path / "lattice.doc")
    assert error.value.code == "unknown-format"
    edges = lattice(found, words).spec["layer"][0]["data"]["values"]
    assert len(edges) == 7


def test_a_large_lattice_is_a_map() -> None:
    rng = np.random.default_rng(1)
    names = list("abcdefgh")
    table = pa.table({c: [str(x) for x in rng.integers(0, 4, 50)] for c in names})
    hierarchy = {"rows": [[str(i), f"{i // 2}", "*"] for i in range(4)]}
    columns = tuple(Column(c, "quasi-identifier", hierarchy=hierarchy) for c in names)
    found = explore(Project(table, columns, (KAnonymity(2),), Lattice(suppression=0.3)))
    assert len(found) == 3**8 > MOST_NAMED
    spec = lattice(found, language("en")).spec
    bars = spec["vconcat"][1]["data"]["values"]
    assert sum(bar["nodes"] for bar in bars) == len(found)
    marks = spec["vconcat"][0]["data"]["values"]
    assert 0 < len(marks) <= 110 * 70
    assert sum(mark["status"] == "optimal" for mark in marks) == 1


# The command.


def test_the_command_lists_nodes(write_project: Any, main: Command, tmp_path: Path) -> None:
    write_project()
    ended = main("explore", "project.yaml", "--json")
    assert (ended.code, ended.err) == (0, "")
    found = Exploration.from_dict(ended.json)
    best = main("run", "project.yaml", "--json").json
    assert found.optimal is not None
    assert dict(zip(found.columns, found.optimal.levels, strict=True)) == best["levels"]
    assert (found.optimal.suppressed, found.optimal.classes) == (best["suppressed"], best["classes"])
    listed = main("explore", "project.yaml", "--top", "3", "--csv", "nodes.csv", "--chart", "lattice.svg")
    assert "[" + ",".join(map(str, found.optimal.levels)) + "]" in listed.out
    assert (tmp_path / "lattice.svg").read_text(encoding="utf-8").startswith("<svg")
    assert len((tmp_path / "nodes.csv").read_text(encoding="utf-8").splitlines()) == 4
    less = main("explore", "project.yaml", "--status", "minimal", "--json").json
    assert len(less["nodes"]) == less["counts"]["minimal"] == found.counts["minimal"]


def test_the_command_shows_nodes_and_ways(write_project: Any, main: Command) -> None:
    write_project()
    node = main("explore", "project.yaml", "--node", "1,1,2", "--json").json
    assert node["node"]["levels"] == [1, 1, 2]
    assert sum(row["records"] for row in node["classes"]) == 400
    assert set(node["classes"][0]["sensitive"]["diagnosis"]) >= {"l_distinct", "l_entropy", "c", "t_equal"}
    way = main("explore", "project.yaml", "--to", "1,1,2", "--json").json
    assert (way["vector"], way["length"], way["paths"]) == ([1, 1, 2], 4, 12)
    for code, word in (("en", "Classes"), ("es", "Clases"), ("pt", "Classes")):
        shown = main("explore", "project.yaml", "--node", "1,1,2", "--language", code)
        assert shown.code == 0
        assert word in shown.out
    wrong = main("explore", "project.yaml", "--node", "1,x")
    assert (wrong.code, "1,0,2" in wrong.err) == (2, True)
