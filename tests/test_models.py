"""Models: worked examples of the literature, capabilities, parameters."""

from __future__ import annotations

import itertools
import math

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.judge_hook import times
from random_tables import Small, model_strategy, small_tables, velado_model
from velado import Column, DistinctDiversity, InputError, KAnonymity, NoSolution, TCloseness, anonymize, check
from velado.frequency import Classes
from velado.methods import METHODS, Samarati
from velado.models import MODELS, EntropyDiversity, RecursiveDiversity, judge_classes

pytestmark = pytest.mark.judged


def one_class(values: list[str], **options: object) -> dict:
    table = pa.table({"q": ["same"] * len(values), "s": values})
    return check(table, ["q"], ["s"], **options).sensitive["s"]  # type: ignore[arg-type]


def test_entropy_of_table_15_of_ubb() -> None:
    """Entropy 0.4515 in base 10, so 2.8-diverse."""
    measured = one_class(["a"] * 1 + ["b"] * 1 + ["c"] * 2)
    assert measured["l_entropy"] == pytest.approx(math.exp(1.0397), rel=1e-3)
    assert math.log10(measured["l_entropy"]) == pytest.approx(0.4515, abs=1e-4)


def test_recursive_diversity_of_figure_7_of_ubb() -> None:
    """Frequencies 3, 2, 1, 1: (2,3)-diverse, since 3 < 2·(1 + 1)."""
    values = ["a"] * 3 + ["b"] * 2 + ["c", "d"]
    assert one_class(values, l=3)["c"] == pytest.approx(1.5)
    table = pa.table({"q": ["same"] * 7, "s": values})
    columns = [Column("q", "quasi-identifier"), Column("s", "sensitive")]
    assert anonymize(table, columns, [RecursiveDiversity(2, 3, "s")]).evaluation.released == 7
    with pytest.raises(NoSolution):
        anonymize(table, columns, [RecursiveDiversity(1.5, 3, "s")])


def test_ordered_closeness_of_table_17_of_ubb() -> None:
    """Nine salaries in three classes: distances 0.167, 0.167, 0.083."""
    classes = {"x": [3, 5, 9], "y": [6, 11, 8], "z": [4, 7, 10]}
    rows = [(q, str(s)) for q, salaries in classes.items() for s in salaries]
    table = pa.table({"q": [r[0] for r in rows], "s": [r[1] for r in rows]})
    assert check(table, ["q"], ["s"]).sensitive["s"]["t_ordered"] == pytest.approx(0.167, abs=5e-4)


def test_the_disease_tree_of_figure_8_of_ubb() -> None:
    """Two leaves whose lowest common ancestor is at level 2 of 3 are at distance 2/3."""
    tree = {
        "tree": {"respiratory": {"infection": ["flu", "pneumonia"], "chronic": ["asthma"]}, "digestive": {"stomach": ["ulcer"]}}
    }
    table = pa.table({"q": ["a", "b"], "s": ["flu", "asthma"]})
    measured = check(table, ["q"], ["s"], trees={"s": tree}).sensitive["s"]
    assert measured["t_hierarchical"] == pytest.approx(0.5 * 2 / 3)


@settings(max_examples=times(30, 500), deadline=None)
@given(table=small_tables(most_rows=20), model=model_strategy())
def test_monotone_models_stay_satisfied_when_generalizing(table: Small, model: dict) -> None:
    ours = velado_model(model)
    if not ours.is_monotone:
        return
    frequency = table.frequency([ours])
    heights = [h.height for h in frequency.hierarchies]
    good = {}
    for levels in itertools.product(*(range(h + 1) for h in heights)):
        kept, _ = judge_classes([ours], frequency.sensitive, Classes.at_levels(frequency, levels))
        good[levels] = bool(kept.all())
    for low, high in itertools.product(good, repeat=2):
        if all(a <= b for a, b in zip(low, high, strict=True)) and good[low]:
            assert good[high], (low, high)


@settings(max_examples=times(30, 500), deadline=None)
@given(table=small_tables(most_rows=20, sensitive=2), model=model_strategy(), strict=st.booleans())
def test_hereditary_models_suppress_less_when_generalizing(table: Small, model: dict, strict: bool) -> None:
    ours = velado_model(model, strict)
    if not ours.is_hereditary:
        return
    frequency = table.frequency([ours])
    heights = [h.height for h in frequency.hierarchies]
    suppressed = {}
    for levels in itertools.product(*(range(h + 1) for h in heights)):
        classes = Classes.at_levels(frequency, levels)
        kept, _ = judge_classes([ours], frequency.sensitive, classes)
        suppressed[levels] = int(classes.sizes[~kept].sum())
    for low, high in itertools.product(suppressed, repeat=2):
        if all(a <= b for a, b in zip(low, high, strict=True)):
            assert suppressed[high] <= suppressed[low]


@pytest.mark.parametrize("thing", [*MODELS.values(), *METHODS.values()], ids=lambda t: t.name)
def test_every_parameter_is_declared_and_explained(thing: type) -> None:
    import dataclasses

    declared = {f.name for f in dataclasses.fields(thing)}
    assert declared == set(thing.parameters)  # type: ignore[attr-defined]
    assert all(p.help for p in thing.parameters.values())  # type: ignore[attr-defined]
    assert thing.__doc__


def test_strict_distinct_diversity_is_not_hereditary() -> None:
    """The part that violates can be left out: the finer recoding keeps more, so pruning would be wrong."""
    table = pa.table({"q": list("aaab"), "s": ["1", "2", "1", "1"], "t": list("xxxy")})
    columns = [Column("q", "quasi-identifier"), Column("s", "sensitive"), Column("t", "sensitive")]
    model = DistinctDiversity(2, "s", strict=True)
    assert anonymize(table, columns, [model]).recoding.levels == {"q": 0}
    with pytest.raises(InputError, match="not monotone when records are suppressed"):
        anonymize(table, columns, [model], Samarati(suppression=0.5))


def test_models_of_several_sensitive_columns() -> None:
    table = pa.table({"q": ["a"] * 4, "s": list("xxyy"), "t": list("1212")})
    columns = [Column("q", "quasi-identifier"), Column("s", "sensitive"), Column("t", "sensitive")]
    release = anonymize(table, columns, [KAnonymity(2), DistinctDiversity(2, "s"), EntropyDiversity(2, "t"), TCloseness(0, "t")])
    assert [v.satisfied for v in release.evaluation.models] == [True] * 4
    with pytest.raises(InputError, match="not sensitive"):
        anonymize(table, columns, [DistinctDiversity(2, "q")])
