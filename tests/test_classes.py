"""The figures of every equivalence class, against the definitions."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from harness.watching import times
from tables import Small, small_tables
from velado import check
from velado.evaluation import ClassFigures, class_figures
from velado.frequency import Classes


def figure(cls: oracle.Rows, table: Small, column: str, **model: Any) -> Any:
    found = oracle.figure({"column": column, **model}, cls, table.rows, table.trees)
    return None if found == math.inf else found


@settings(max_examples=times(40, 400), deadline=None)
@given(table=small_tables(most_rows=25, sensitive=2), order=st.integers(1, 4), seed=st.integers(0, 2**32 - 1))
def test_classes_have_the_figures_of_the_oracle(table: Small, order: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    levels = tuple(int(rng.integers(0, len(table.hierarchies[c][0]))) for c in table.qi)
    classes = Classes.at_levels(table.frequency(), levels)
    expected = oracle.classes(table.rows, table.qi, table.hierarchies, levels)
    found = class_figures(classes, *classes.labels_at(levels), order)
    rows = list(found.rows())
    assert {tuple(row["labels"].values()) for row in rows} == set(expected)
    assert len(rows) == len(expected)
    for row in rows:
        cls = expected[tuple(row["labels"].values())]
        assert (row["records"], row["risk"]) == (len(cls), 1 / len(cls))
        for column, measured in row["sensitive"].items():
            model = {"table": table, "column": column}
            assert measured == pytest.approx({
                "l_distinct": figure(cls, **model, name="distinct-diversity", l=1),
                "l_entropy": figure(cls, **model, name="entropy-diversity", l=1),
                "c": figure(cls, **model, name="recursive-diversity", c=1, l=order),
                "t_equal": figure(cls, **model, name="t-closeness", t=1, distance="equal"),
                "t_ordered": figure(cls, **model, name="t-closeness", t=1, distance="ordered"),
                "t_hierarchical": figure(cls, **model, name="t-closeness", t=1, distance="hierarchical"),
                "alpha": figure(cls, **model, name="alpha-k", alpha=1, k=2)[1],
            }, abs=1e-9)  # fmt: skip


def visits() -> pa.Table:
    """Five records of four people: the class of 30 shows three records and two people."""
    return pa.table({"who": ["a", "a", "b", "c", "d"], "age": ["30", "30", "30", "40", "40"], "ill": list("xyxxz")})


def test_the_smallest_class_comes_first_and_risk_counts_people() -> None:
    records = check(visits(), ["age"], ["ill"], classes=True).class_figures
    assert records is not None
    assert [row["labels"]["age"] for row in records.rows()] == ["40", "30"]
    people = check(visits(), ["age"], ["ill"], person="who", classes=True).class_figures
    assert people is not None
    shown = {row["labels"]["age"]: (row["records"], row["people"], row["risk"]) for row in people.rows()}
    assert shown == {"30": (3, 2, 1 / 2), "40": (2, 2, 1 / 2)}


def test_a_figure_that_does_not_exist_is_none_and_the_worst_class_is_the_table() -> None:
    result = check(visits(), ["age"], ["ill"], l=3, classes=True)
    assert result.class_figures is not None
    rows = result.as_dict()["class_figures"]
    assert rows == list(result.class_figures.rows())
    assert [row["sensitive"]["ill"]["c"] for row in rows] == [None, None]
    assert "t_ordered" not in rows[0]["sensitive"]["ill"]
    for name, worst in (("l_distinct", min), ("l_entropy", min), ("t_equal", max), ("alpha", max)):
        assert worst(row["sensitive"]["ill"][name] for row in rows) == pytest.approx(result.sensitive["ill"][name])
    assert "class_figures" not in check(visits(), ["age"]).as_dict()


def test_lines_follow_the_header_and_the_text_tells_no_value() -> None:
    found = check(visits(), ["age"], ["ill"], classes=True).class_figures
    assert found is not None
    lines = list(found.lines())
    assert all(len(line) == len(found.header()) for line in lines)
    assert found.header()[:4] == ["age", "records", "risk", "l_distinct(ill)"]
    assert repr(found) == "<ClassFigures: 2 classes, 5 records>"
    assert len(found.take(slice(0, 1))) == 1


def test_classes_without_sensitive_columns_have_labels_and_risk() -> None:
    found = check(visits(), ["age", "who"], classes=True).class_figures
    assert isinstance(found, ClassFigures)
    counted: dict[tuple[str, str], int] = defaultdict(int)
    for who, age in zip(*(visits()[c].to_pylist() for c in ("who", "age")), strict=True):
        counted[who, age] += 1
    assert {tuple(row["labels"].values()): row["records"] for row in found.rows()} == counted
    assert all(row["sensitive"] == {} for row in found.rows())
