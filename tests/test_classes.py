"""The figures of every equivalence class, against the definitions."""

from __future__ import annotations

import csv
import json
import math
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from conftest import Command
from harness.judge_hook import times
from random_tables import Small, small_tables
from velado import check
from velado.evaluation import Check, ClassFigures, class_figures
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
            assert measured == pytest.approx(
                {
                    "l_distinct": figure(cls, **model, name="distinct-diversity", l=1),
                    "l_entropy": figure(cls, **model, name="entropy-diversity", l=1),
                    "c": figure(cls, **model, name="recursive-diversity", c=1, l=order),
                    "t_equal": figure(cls, **model, name="t-closeness", t=1, distance="equal"),
                    "t_ordered": figure(cls, **model, name="t-closeness", t=1, distance="ordered"),
                    "t_hierarchical": figure(cls, **model, name="t-closeness", t=1, distance="hierarchical"),
                    "alpha": figure(cls, **model, name="alpha-k", alpha=1, k=2)[1],
                },
                abs=1e-9,
            )


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
    assert repr(found) == "<ClassFigures classes: 2, records: 5>"
    assert len(found.take(slice(0, 1))) == 1


def test_classes_without_sensitive_columns_have_labels_and_risk() -> None:
    found = check(visits(), ["age", "who"], classes=True).class_figures
    assert isinstance(found, ClassFigures)
    counted: dict[tuple[str, str], int] = defaultdict(int)
    for who, age in zip(*(visits()[c].to_pylist() for c in ("who", "age")), strict=True):
        counted[who, age] += 1
    assert {tuple(row["labels"].values()): row["records"] for row in found.rows()} == counted
    assert all(row["sensitive"] == {} for row in found.rows())


# The command


SALARIES = """age,zip,salary
<50,0538*,3
<50,0538*,5
<50,0538*,9
≥50,0647*,6
≥50,0647*,11
≥50,0647*,8
<50,0539*,4
<50,0539*,7
<50,0539*,10
"""


@pytest.fixture
def salaries(tmp_path: Path) -> Path:
    """Table 17 of the UBB text: nine salaries in three classes."""
    path = tmp_path / "salaries.csv"
    path.write_text(SALARIES, encoding="utf-8")
    return path


@pytest.mark.thorough
def test_table_17_of_ubb(salaries: Path, shell: Command) -> None:
    asked = ("check", salaries.name, "--qi", "age,zip", "--sensitive", "salary", "--classes")
    rows = shell(*asked, "--json").json["class_figures"]
    t = {tuple(row["labels"].values()): row["sensitive"]["salary"]["t_ordered"] for row in rows}
    expected = {("<50", "0538*"): 0.167, ("≥50", "0647*"): 0.167, ("<50", "0539*"): 0.083}
    assert t == pytest.approx(expected, abs=5e-4)
    ended = shell(*asked)
    # The last two figures are the ordered distance and the largest share.
    lines = [line.split() for line in ended.out.splitlines()]
    shown = {(line[0], line[1]): line[-2] for line in lines if tuple(line[:2]) in expected}
    assert shown == {("<50", "0538*"): "0.1667", ("≥50", "0647*"): "0.1667", ("<50", "0539*"): "0.0833"}


def test_classes_come_back_from_json(salaries: Path) -> None:
    found = check(salaries, ["age", "zip"], ["salary"], classes=True)
    again = Check.from_dict(json.loads(json.dumps(found.as_dict())))
    assert again == found
    assert found.class_figures is not None
    assert again != replace(found, class_figures=found.class_figures.take(slice(1)))


def test_the_first_classes_are_shown_and_all_are_written(salaries: Path, main: Command) -> None:
    salaries.write_text(SALARIES + "=1+1,0500*,7\n", encoding="utf-8")
    asked = ("check", salaries.name, "--qi", "age,zip", "--sensitive", "salary")
    ended = main(*asked, "--top", "1", "--csv", "classes.csv", "--language", "pt")
    assert "=1+1" in ended.out
    assert "0538*" not in ended.out
    assert "Não são mostradas 3 de 4 classes" in ended.out
    assert "0538*" in main(*asked, "--all").out
    with open(salaries.parent / "classes.csv", encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert rows[0]["age"] == "'=1+1"
    assert [row["records"] for row in rows] == ["1", "3", "3", "3"]
    assert "class_figures" not in main(*asked, "--csv", "classes.csv", "--json").json


def test_the_list_of_classes_does_not_replace_the_table(salaries: Path, main: Command) -> None:
    ended = main("check", salaries.name, "--qi", "age", "--csv", salaries.name)
    assert ended.code == 2
    assert "would replace the table" in ended.err
    assert salaries.read_text(encoding="utf-8") == SALARIES
