"""Local recoding: against brute force, beside other methods, and as releases show it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from velado import Column, anonymize
from velado.frequency import FrequencyTable
from velado.kernels import local as kernel
from velado.methods import Lattice, Local, Mondrian
from velado.methods import local as local_method
from velado.methods.base import Found
from velado.models import (
    AlphaK,
    BetaLikeness,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    PrivacyModel,
    TCloseness,
    judge_classes,
)
from velado.release.count import count_table
from velado.schema import Schema
from velado.tables import open_table

TOWNS = ["Ulm", "Bonn", "Kiel", "Jena", "Trier"]
TREE = {"tree": {"cold": ["blue", "green"], "warm": ["red", "pink"]}}
QUASI = {
    "age": Column("age", "quasi-identifier", type="integer", hierarchy={"intervals": [5, 10]}),
    "colour": Column("colour", "quasi-identifier", hierarchy=TREE),
    "town": Column("town", "quasi-identifier"),
}
rows = st.lists(
    st.tuples(
        st.sampled_from(["1", "2", "7", "12", "30", None]),
        st.sampled_from(["blue", "green", "red", "pink"]),
        st.sampled_from(["A", "B", "C", "D", None]),
        st.sampled_from(["flu", "gout", "hiv"]),
    ),
    min_size=4,
    max_size=40,
)
MODELS: Sequence[Sequence[PrivacyModel]] = (
    [KAnonymity(2)],
    [KAnonymity(3)],
    [KAnonymity(2), DistinctDiversity(2, column="ill")],
    [KAnonymity(2), EntropyDiversity(1.5, column="ill")],
    [KAnonymity(2), TCloseness(0.4, column="ill")],
    [AlphaK(0.7, 2, column="ill")],
    [KAnonymity(2), BetaLikeness(2, column="ill")],
)


def counted(people: Sequence[Sequence[Any]], models: Sequence[PrivacyModel]) -> FrequencyTable:
    columns = {name: [row[i] for row in people] for i, name in enumerate((*QUASI, "ill"))}
    schema = Schema((*QUASI.values(), Column("ill", "sensitive")))
    with open_table(pa.table({k: pa.array(v, pa.string()) for k, v in columns.items()})) as table:
        return count_table(table, schema, models)


def loss(found: Found) -> float:
    """The geometric mean of what columns lose, from what labels stand for."""
    total = 1.0
    for j, cover in enumerate(found.covers):
        leaves = len(cover.hierarchy.leaves)
        shares = (cover.sizes[found.labels[:, j]] - 1) / max(leaves - 1, 1)
        lost = np.where(found.kept, shares, 1.0) * found.classes.sizes
        total *= 1 + lost.sum() / found.classes.frequency.records
    return float(total ** (1 / len(found.covers)) - 1)


def satisfies(frequency: FrequencyTable, models: Sequence[PrivacyModel]) -> bool:
    from velado.frequency import Classes

    whole = Classes.from_ids(frequency, np.zeros(frequency.rows, dtype=np.int64), 1)
    return bool(judge_classes(models, frequency.judged_columns, whole)[0].all())


@pytest.mark.property
@given(rows, st.sampled_from(MODELS), st.sampled_from(["tight", "hierarchy"]), st.sampled_from([0.0, 0.2]))
def test_every_class_satisfies_the_models_and_shows_its_rows(people, models, labels, suppression) -> None:
    frequency = counted(people, models)
    if not satisfies(frequency, models):
        return
    found = Local(labels=labels, suppression=suppression).search(frequency, models)
    kept, _ = judge_classes(models, frequency.judged_columns, found.classes)
    assert kept[found.kept].all()
    assert found.suppressed_records <= suppression * frequency.records
    for j, cover in enumerate(found.covers):
        for row, code in enumerate(frequency.codes[:, j]):
            c = found.classes.class_of[row]
            if found.kept[c]:
                assert code in cover.under(found.labels[c, j])
    if not suppression and labels == "tight":
        assert loss(found) <= loss(Mondrian(width="range").search(frequency, models)) + 1e-9


def partitions(items: Sequence[int]) -> Iterator[list[list[int]]]:
    """All partitions of some items."""
    if not items:
        yield []
        return
    first, *rest = items
    for smaller in partitions(rest):
        for i, part in enumerate(smaller):
            yield [*smaller[:i], [first, *part], *smaller[i + 1 :]]
        yield [[first], *smaller]


def best_loss(frequency: FrequencyTable, k: int) -> float:
    """The least loss of all partitions into classes of k records, by brute force."""
    best = np.inf
    axes = [local_method._axis(h, "tight") for h in frequency.hierarchies]
    for parts in partitions(range(frequency.rows)):
        if any(frequency.counts[p].sum() < k for p in parts):
            continue
        total = 1.0
        for j, axis in enumerate(axes):
            lost = sum(_share(axis, frequency.codes[p, j].tolist()) * int(frequency.counts[p].sum()) for p in parts)
            total *= 1 + lost / frequency.records
        best = min(best, total ** (1 / len(axes)) - 1)
    return float(best)


def _share(axis: Any, codes: Sequence[int]) -> float:
    """(leaves under the label that a class needs − 1) / (leaves − 1)."""
    h = axis.hierarchy
    different = set(codes)
    if len(different) == 1:
        return 0.0
    if any(h.leaves[c] is None for c in different):
        return 1.0
    if axis.is_ordered:
        places = [int(axis.rank[c]) for c in different]
        under = sum(min(places) <= r <= max(places) for r in axis.rank)
    elif h.height <= 1:
        under = len(different)
    else:
        level = next(x for x in range(h.levels) if len({h.maps[x][c] for c in different}) == 1)
        under = int((h.maps[level] == h.maps[level][next(iter(different))]).sum())
    return (under - 1) / (len(h.leaves) - 1)


few = st.lists(
    st.tuples(
        st.sampled_from(["1", "2", "7", "12", "30"]),
        st.sampled_from(["blue", "green", "red", "pink"]),
        st.sampled_from(["A", "B", "C", "D"]),
        st.just("flu"),
    ),
    min_size=4,
    max_size=7,
)


@pytest.mark.property
@given(few)
def test_how_far_from_the_true_optimum(people) -> None:
    """Never below what brute force finds, and near it."""
    models = [KAnonymity(2)]
    frequency = counted(people, models)
    found = loss(Local().search(frequency, models))
    best = best_loss(frequency, 2)
    assert found >= best - 1e-9
    assert found <= best + 0.2


@pytest.mark.parametrize("models", MODELS, ids=lambda models: " ".join(m.name for m in models))
def test_of_a_small_table_never_more_is_lost_than_by_other_methods(models) -> None:
    rng = np.random.default_rng(5)
    for _ in range(5):
        people = [
            (
                str(rng.integers(1, 60)),
                str(rng.choice(["blue", "green", "red", "pink"])),
                str(rng.choice(list("ABCD"))),
                str(rng.choice(["flu", "gout", "hiv"])),
            )
            for _ in range(60)
        ]
        frequency = counted(people, models)
        if not satisfies(frequency, models):
            continue
        least = loss(Local().search(frequency, models))
        others = [Mondrian(width="range").search(frequency, models), Lattice(suppression=0.0).search(frequency, models)]
        assert least <= min(map(loss, others)) + 1e-9


def test_the_same_whatever_the_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    people = [(str(rng.integers(1, 90)), rng.choice(["blue", "red", "pink"]), rng.choice(list("ABCD")), "flu") for _ in range(3000)]
    frequency = counted(people, [KAnonymity(5)])
    monkeypatch.setattr(local_method, "BLOCK", 40)
    monkeypatch.setattr(local_method, "CLASS_BLOCK", 10)
    found = []
    for threads in (1, 2, 5):
        monkeypatch.setattr(local_method, "THREADS", threads)
        found.append(Local().search(frequency, [KAnonymity(5)]))
    assert all((f.classes.class_of == found[0].classes.class_of).all() for f in found)


def test_plain_kernels_give_the_same() -> None:
    people = [(str(i * 7 % 23), ["blue", "red", "pink"][i % 3], "ABCD"[i % 4], "flu") for i in range(30)]
    frequency = counted(people, [KAnonymity(3)])
    axes = tuple(local_method._axis(h, "tight") for h in frequency.hierarchies)
    solver = local_method._Solver.of(frequency, [KAnonymity(3)], axes, {})
    found = []
    for form in (kernel.cut_blocks.plain, kernel.cut_blocks.compiled_form):
        order, begins = np.arange(frequency.rows), np.zeros(frequency.rows, dtype=np.bool_)
        form(solver.members, solver.columns, order, 5, begins)
        found.append((order.tolist(), begins.tolist()))
    assert found[0] == found[1]


def test_records_that_cost_others_more_than_themselves_are_suppressed() -> None:
    """One old person among the young: the class of everybody loses less without them."""
    people = [(str(20 + i % 2), "blue", "A", "flu") for i in range(12)] + [("90", "blue", "A", "flu")]
    frequency = counted(people, [KAnonymity(13)])
    assert not Local(suppression=0.1).search(frequency, [KAnonymity(13)]).suppressed_records
    frequency = counted(people, [KAnonymity(12)])
    few = Local(suppression="1 records", weights={"age": 5}).search(frequency, [KAnonymity(12)])
    assert (few.suppressed_records, Local().search(frequency, [KAnonymity(12)]).suppressed_records) == (1, 0)
    assert loss(few) < loss(Local().search(frequency, [KAnonymity(12)]))


def test_labels_and_suppression_in_a_release() -> None:
    """Categories without a hierarchy show sets, numbers intervals; with hierarchy labels only what the hierarchy has."""
    rng = np.random.default_rng(2)
    table = pa.table(
        {
            "age": rng.choice([20, 60], 400),
            "town": rng.choice(TOWNS, 400, p=[0.6, 0.3, 0.04, 0.03, 0.03]),
            "ill": rng.choice(["flu", "gout"], 400),
        }
    )
    columns = [
        Column("age", "quasi-identifier", hierarchy={"intervals": [5, 10, 20]}),
        Column("town", "quasi-identifier"),
        Column("ill", "sensitive", known="never"),
    ]
    tight = anonymize(table, columns, [KAnonymity(20)], method=Local())
    shown = set(tight.table["town"].to_pylist())
    assert any(label.startswith("{") for label in shown)
    assert "*" not in shown
    strict = anonymize(table, columns, [KAnonymity(20)], method=Local(labels="hierarchy"))
    assert set(strict.table["town"].to_pylist()) <= {*TOWNS, "*"}
    assert tight.evaluation.utility.loss < strict.evaluation.utility.loss
