"""Mondrian on dates under a hierarchy: no date of a person stands in the release, and labels mean what they say."""

import csv
import random
import re
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from test_mondrian import in_parts, rows_of, same_evaluation
from velado import Column, Hierarchy, KAnonymity, Mondrian, Output, Project, anonymize, attack, evaluate
from velado.hierarchies import Cover, build
from velado.methods.axes import Axis

pytestmark = pytest.mark.judged

FORMATS = {"%Y-%m-%d": r"\d{4}-\d\d", "%d/%m/%Y": r"\d\d/\d{4}", "%Y%m%d": r"\d{4}-\d\d"}


def people(format: str, missing: bool = False, seed: int = 0) -> pa.Table:
    rng = random.Random(seed)
    days = [date(1975, 1, 1) + timedelta(days=int(rng.triangular(0, 4000))) for _ in range(160)]
    born: list[str | None] = [d.strftime(format) for d in days]
    born = [None if missing and i % 9 == 0 else x for i, x in enumerate(born)]
    return pa.table({"born": born, "age": [str(rng.randint(20, 60)) for _ in born], "ill": [rng.choice("abc") for _ in born]})


def columns(format: str, units: list[str]) -> tuple[Column, ...]:
    born = Column("born", "quasi-identifier", type="date", format=format, hierarchy={"dates": units})
    return born, Column("age", "quasi-identifier", type="integer"), Column("ill", "sensitive")


def released(path: Path) -> list[dict[str, str]]:
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.matrix(6)
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("represent", ["interval", "mode", "mean"])
@pytest.mark.parametrize("split", ["balanced", "median", "distribution"])
def test_no_date_of_a_person(tmp_path: Path, format: str, missing: bool, represent: str, split: str) -> None:
    table = people(format, missing)
    method = Mondrian(split=split, represent=represent)
    described = columns(format, ["month", "year"])
    release = anonymize(table, described, [KAnonymity(3)], method, output=tmp_path / "out.csv")
    labels = {row["born"] for row in released(tmp_path / "out.csv")}
    dates = {x for x in table["born"].to_pylist() if x is not None}
    assert not any(d in label for d in dates for label in labels)
    month = FORMATS[format]
    assert all(re.fullmatch(rf"{month}(\.\.{month})?|\*|", label) for label in labels), labels
    assert len(labels) > 3
    # What was written is read back as what it stood for.
    project = Project(table, described, (KAnonymity(3),), method)
    again = evaluate(table, tmp_path / "out.csv", project=project)
    for name, column in release.evaluation.columns.items():
        if missing:
            # A class that mixes missing values with others shows *, which says less than what it holds.
            assert again.columns[name].loss >= column.loss - 1e-9
        else:
            assert again.columns[name].loss == pytest.approx(column.loss)
            assert again.columns[name].entropy == pytest.approx(column.entropy)
    assert again.class_size == release.evaluation.class_size
    assert attack(tmp_path / "out.csv", original=table, project=project)


@pytest.mark.parametrize("units", [["month", "year"], ["year"], ["week"], ["quarter", "year"], ["five-years"]])
def test_every_label_holds_its_records(tmp_path: Path, units: list[str]) -> None:
    """Rows in the order of the original: each date lies in the months that stand for it."""
    table = people("%Y-%m-%d")
    anonymize(
        table, columns("%Y-%m-%d", units), [KAnonymity(4)], Mondrian(), output=Output(path=tmp_path / "out.csv", order="keep")
    )

    hierarchy = build("born", {"dates": units}, sorted(set(table["born"].to_pylist())))
    labels = [row["born"] for row in released(tmp_path / "out.csv")]
    cover = Cover.of_labels(hierarchy, labels)
    for i, value in enumerate(table["born"].to_pylist()):
        assert hierarchy.code[value] in cover.under(i), (value, labels[i])


def test_parts_give_the_same(tmp_path: Path) -> None:
    table, described = people("%Y-%m-%d", missing=True), columns("%Y-%m-%d", ["month", "year"])
    method = Mondrian(memory="8GB")
    whole = anonymize(table, described, [KAnonymity(3)], method, output=tmp_path / "whole.csv")
    with in_parts(20):
        parts = anonymize(table, described, [KAnonymity(3)], method, output=tmp_path / "parts.csv")
    assert rows_of(tmp_path / "parts.csv") == rows_of(tmp_path / "whole.csv")
    same_evaluation(parts.evaluation, whole.evaluation)


def test_one_date_for_all_shows_its_month() -> None:
    table = pa.table({"born": ["1975-03-14"] * 4 + ["1981-11-02"] * 4})
    column = Column("born", "quasi-identifier", type="date", hierarchy={"dates": ["month"]})
    assert set(anonymize(table, [column], [KAnonymity(4)], Mondrian()).table["born"].to_pylist()) == {"1975-03", "1981-11"}


def test_without_a_hierarchy_dates_are_their_own_limits() -> None:
    table = pa.table({"born": ["1975-03-14", "1975-03-20", "1981-11-02", "1981-11-04"]})
    column = Column("born", "quasi-identifier", type="date")
    found = anonymize(table, [column], [KAnonymity(2)], Mondrian()).table["born"].to_pylist()
    assert set(found) == {"1975-03-14..1975-03-20", "1981-11-02..1981-11-04"}


def test_groups_that_are_no_stretch_of_time_are_a_tree() -> None:
    rows = [[f"2020-{m:02d}-0{d}", "odd" if m % 2 else "even", "*"] for m in range(1, 5) for d in (1, 2)]
    table = pa.table({"seen": [row[0] for row in rows] * 2})
    column = Column("seen", "quasi-identifier", type="date", hierarchy=Hierarchy.from_rows("seen", rows))
    release = anonymize(table, [column], [KAnonymity(4)], Mondrian())
    assert set(release.table["seen"].to_pylist()) == {"odd", "even"}


def test_places_of_an_axis() -> None:

    days: list[Any] = ["1975-03-14", "1975-03-20", "1975-04-01", "1981-11-02"]
    axis = Axis.cut(build("born", {"dates": ["month", "year"]}, days))
    assert axis.rank.tolist() == [0, 0, 1, 2]
    assert axis.values.tolist() == [date(1975, 3, 14).toordinal(), date(1975, 4, 1).toordinal(), date(1981, 11, 2).toordinal()]
    assert axis.numbers.tolist() == [0, 18, axis.values[2] - axis.values[0]]
    assert Axis.of(build("born", {"dates": ["month", "year"]}, days)).rank.tolist() == [0, 1, 2, 3]
    assert Axis.cut(build("born", None, days)).steps is None
