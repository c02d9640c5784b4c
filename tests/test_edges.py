"""What a review of the edges found, each with the test that would have."""

from __future__ import annotations

import threading
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import velado
from test_mondrian import in_parts
from velado import Cancelled, Column, InputError, KAnonymity, Mondrian, Output, Progress, Project, Source
from velado.methods import Fixed
from velado.tables import Plan, Selection, Session, open_table
from velado.tables.duckdb.table import DuckDBTable

pytestmark = pytest.mark.judged


def sheet(path: Path, **columns: list[Any]) -> Path:
    book = openpyxl.Workbook()
    for row in [list(columns), *map(list, zip(*columns.values(), strict=True))]:
        book.active.append(row)
    book.save(path)
    return path


def cells_of(path: Path | dict[str, Any], column: str) -> list[Any]:
    with open_table(path) as table:
        rows = table.fetch(Plan((), Selection()))
    return list(rows.column(column).to_pylist())


# Cancelling


def test_a_cancel_between_two_batches_is_a_cancel() -> None:
    progress = Progress()
    numbers = pa.table({"a": list(range(200_000))})
    with open_table(numbers, session=Session(progress)) as table:
        assert isinstance(table, DuckDBTable)
        batches = table.batches(f"SELECT a.c0 FROM {table.relation} AS a, range(100)", 1000)
        batches.read_next_batch()
        progress.cancel()
        with pytest.raises(Cancelled):
            for _ in batches:
                pass


def test_no_cell_is_in_an_error_between_two_batches() -> None:
    with open_table(pa.table({"a": ["1"] * 5000 + ["secret-name"]})) as table:
        assert isinstance(table, DuckDBTable)
        with pytest.raises(InputError) as caught:
            list(table.batches(f"SELECT CAST(c0 AS BIGINT) FROM {table.relation}", 100))
    assert "secret" not in str(caught.value)


def test_opening_a_wide_table_can_be_cancelled(tmp_path: Path) -> None:
    wide = pa.table({f"c{i}": ["x"] for i in range(500)})
    progress = Progress()
    limit = DuckDBTable.limit

    def cancelled(self: DuckDBTable, memory: int) -> None:
        progress.cancel()
        limit(self, memory)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DuckDBTable, "limit", cancelled)
        with pytest.raises(Cancelled):
            open_table(wide, session=Session(progress, scratch=tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_whoever_cancels_does_not_wait_for_the_watcher() -> None:
    """A watcher that hands over to another thread, which cancels."""
    ended = threading.Event()

    def watch(step: velado.progress.Step) -> None:
        threading.Thread(target=lambda: (progress.cancel(), ended.set())).start()
        assert ended.wait(10)

    progress = Progress(watch)
    with pytest.raises(Cancelled):
        progress.at(0.5)


def test_cancelling_after_a_table_was_closed_raises_nothing() -> None:
    progress = Progress()
    with open_table(pa.table({"a": list(range(10_000))}), session=Session(progress)) as table:
        assert isinstance(table, DuckDBTable)
        left = table.batches(f"SELECT * FROM {table.relation}", 100)
        left.read_next_batch()
    progress.cancel()
    assert progress.cancelled


def test_work_that_missed_the_first_interruption_is_interrupted_again() -> None:
    progress, called = Progress(), threading.Semaphore(0)
    with progress.interrupting(called.release):
        progress.cancel()
        for _ in range(3):
            assert called.acquire(timeout=10)


@pytest.mark.parametrize("order", ["shuffle", "sorted"])
def test_parts_hear_of_a_cancel(order: str, tmp_path: Path) -> None:
    people = pa.table({"age": [str(20 + i % 40) for i in range(200)], "ill": ["flu", "hiv"] * 100})
    columns = (Column("age", "quasi-identifier", type="integer"), Column("ill", "sensitive"))
    described = Project(people, columns, (KAnonymity(3),), Mondrian(), Output(tmp_path / "out.csv", order=order))
    heard: list[bool] = []

    def partition(self: Any, frequency: Any, progress: Progress) -> Any:
        followed.cancel()
        heard.append(progress.cancelled)
        progress.check()

    followed = Progress()
    with in_parts(5), pytest.MonkeyPatch.context() as patch:
        patch.setattr("velado.methods.cutter.Cutter.partition", partition)
        with pytest.raises(Cancelled):
            velado.run(described, followed)
    assert heard == [True]
    assert list(tmp_path.iterdir()) == []


# Sheets


def test_markers_of_missing_values_hold_for_numbers_of_sheets(tmp_path: Path) -> None:
    path = sheet(tmp_path / "s.xlsx", age=[31, -99, 40], word=["a", "NA", "b"])
    assert cells_of({"path": path, "missing": ["-99", "NA"]}, "age") == [31, None, 40]
    assert cells_of({"path": path, "missing": ["-99", "NA"]}, "word") == ["a", None, "b"]
    assert cells_of(path, "age") == [31, -99, 40]


def test_truths_among_numbers_stay_what_they_are(tmp_path: Path) -> None:
    path = sheet(tmp_path / "s.xlsx", mixed=[True, 1, False, 0], truth=[True, False, True, True])
    assert sorted(cells_of(path, "mixed")) == ["0", "1", "false", "true"]
    assert cells_of(path, "truth") == [True, False, True, True]


@pytest.mark.parametrize("odd", [date(1890, 1, 3), date(2020, 1, 3)])
def test_a_suppressed_record_does_not_show_in_the_cells_of_a_sheet(tmp_path: Path, odd: date) -> None:
    """One record alone in its class is suppressed: its date decides nothing."""
    people = pa.table({"q": ["a"] * 4 + ["b"], "when": [date(2020, 1, 1)] * 4 + [odd]})
    columns = [Column("q", "quasi-identifier"), Column("when", "insensitive")]
    path = tmp_path / "out.xlsx"
    velado.anonymize(people, columns, [KAnonymity(2)], Fixed({"q": 0}, suppression=1), output=path)
    rows = list(openpyxl.load_workbook(path).active.iter_rows(values_only=True))
    assert rows[1:] == [("a", datetime(2020, 1, 1))] * 4


@pytest.mark.parametrize("kind", ["float", pytest.param("timestamp", marks=pytest.mark.unjudged)])
def test_releases_in_sheets_are_evaluated_as_their_originals_are(tmp_path: Path, kind: str) -> None:
    values = [1.0, 2.0] if kind == "float" else list(pd.to_datetime(["2020-01-01", "2021-02-03"]))
    people = pd.DataFrame({"q": ["a", "b"] * 6, "v": values * 6})
    pq.write_table(pa.Table.from_pandas(people, preserve_index=False), tmp_path / "in.parquet")
    columns = (Column("q", "quasi-identifier"), Column("v", "sensitive"))
    output = Output(tmp_path / "out.xlsx")
    described = Project(Source(tmp_path / "in.parquet"), columns, (KAnonymity(2),), Fixed({"q": 1}), output)
    release = velado.run(described)
    assert velado.evaluate(None, None, project=described).classes == release.evaluation.classes
    assert velado.attack(project=described)


def test_dates_of_sheets_may_still_have_a_format(tmp_path: Path) -> None:
    path = sheet(tmp_path / "s.xlsx", birth=[datetime(1980 + i % 3, 1, 1 + i) for i in range(12)])
    column = Column("birth", "quasi-identifier", format="%Y-%m-%d %H:%M:%S", hierarchy={"dates": ["year", "decade"]})
    assert velado.anonymize(path, [column], [KAnonymity(3)]).levels == {"birth": 1}


# Parts


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_labels_in_parts_are_those_in_memory(tmp_path: Path, suffix: str) -> None:
    rng = np.random.default_rng(3)
    income = [None if i % 17 == 0 else float(x) for i, x in enumerate(rng.integers(500, 900, 200))]
    people = pa.table({"income": pa.array(income, pa.float64()), "n": list(range(200))})
    columns = (Column("income", "quasi-identifier", type="number"), Column("n", "insensitive", exposure="accepted"))
    found = {}
    for name in ("memory", "parts"):
        output = Output(tmp_path / f"{name}{suffix}", order="sorted")
        described = Project(people, columns, (KAnonymity(4),), Mondrian(represent="mean"), output)
        if name == "parts":
            with in_parts(20):
                velado.run(described)
        else:
            velado.run(described)
        with open_table(output.path) as table:
            found[name] = list(table.amounts(["income", "n"]))
        assert velado.evaluate(None, None, project=described).suppressed == 0
    assert found["parts"] == found["memory"]
