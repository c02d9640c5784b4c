"""Columns keep their types from end to end: untouched ones, quasi-identifiers at level 0, and modes, means and medians."""

import itertools
import math
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from velado import Column, DistinctDiversity, KAnonymity, Lattice, Mondrian, Output, Project, anonymize, evaluate
from velado.methods import Fixed

N = 12
LOW = {
    "int8": pa.array([20], pa.int8()),
    "int32": pa.array([-70_000], pa.int32()),
    "int64": pa.array([2**40], pa.int64()),
    "uint8": pa.array([200], pa.uint8()),
    "float32": pa.array([0.5], pa.float32()),
    "float64": pa.array([0.1], pa.float64()),
    "decimal": pa.array([Decimal("1.25")], pa.decimal128(9, 2)),
    "date32": pa.array([date(2020, 1, 1)], pa.date32()),
    "timestamp": pa.array([datetime(2020, 1, 1, 6, 30)], pa.timestamp("us")),
    "bool": pa.array([True]),
}
STEPS = [0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 10, 10]
"""What is added to the lowest value: the mode is 1, the median 1, the mean 2.25."""
CENTRE = {"mode": 1.0, "median": 1.0, "mean": sum(STEPS) / N}


def moved(name: str, step: float) -> Any:
    """The lowest value of a column and so many steps; truths all are the same, and days and whole numbers are cut off."""
    low = LOW[name][0].as_py()
    match name:
        case "bool":
            return low
        case "date32":
            return low + timedelta(days=math.floor(step))
        case "timestamp":
            return low + timedelta(days=step)
        case "decimal":
            return low + Decimal(repr(step))
        case "float32" | "float64":
            return low + step
    return math.trunc(low + step)


def table_of(prefix: str) -> dict[str, pa.Array]:
    return {f"{prefix}_{n}": pa.array([moved(n, s) for s in STEPS], LOW[n].type) for n in LOW}


TABLE = pa.table({**table_of("qi"), **table_of("as_it_is")})
DATES = ("date32", "timestamp")
COLUMNS = [
    *(Column(f"qi_{n}", "quasi-identifier", type="date" if n in DATES else "text") for n in LOW),
    *(Column(f"as_it_is_{n}", "insensitive", exposure="accepted") for n in LOW),
]
ZERO = Fixed({f"qi_{n}": 0 for n in LOW})


def arrow(table: Any) -> pa.Table:
    """A release in memory, which is of the kind that came in."""
    if isinstance(table, pd.DataFrame):
        return pa.Table.from_pandas(table, preserve_index=False)
    return table.to_arrow() if isinstance(table, pl.DataFrame) else table


def released(data: Any, method: Any, output: Path | None = None) -> pa.Table:
    """The release as Arrow, in the order of the input; at level 0 every record has a twin."""
    k = KAnonymity(2 if method is ZERO else N)
    release = anonymize(data, COLUMNS, [k], method, output=Output(output, order="keep"))
    if output is None:
        return arrow(release.table)
    return pa.parquet.read_table(output) if output.suffix == ".parquet" else pa.feather.read_table(output)


def in_memory(data: Any, method: Any, folder: Path) -> pa.Table:
    return released(data, method)


def in_parquet(data: Any, method: Any, folder: Path) -> pa.Table:
    pa.parquet.write_table(data, folder / "in.parquet")
    return released(folder / "in.parquet", method, folder / "out.parquet")


def in_arrow(data: Any, method: Any, folder: Path) -> pa.Table:
    pa.feather.write_feather(data, folder / "in.arrow")
    return released(folder / "in.arrow", method, folder / "out.arrow")


def from_pandas(data: Any, method: Any, folder: Path) -> pa.Table:
    frame = data.to_pandas()
    for name in ("qi_timestamp", "as_it_is_timestamp"):
        frame[name] = frame[name].astype("datetime64[ns]")
    assert isinstance(frame["qi_date32"][0], date)
    found = released(frame, method)
    for name in ("qi_timestamp", "as_it_is_timestamp"):
        assert found.schema.field(name).type == pa.timestamp("ns")
        found = found.set_column(found.column_names.index(name), name, found.column(name).cast(pa.timestamp("us")))
    return found


def from_polars(data: Any, method: Any, folder: Path) -> pa.Table:
    return released(pl.from_arrow(data), method)


WAYS = [in_memory, in_parquet, in_arrow, from_pandas, from_polars]


@pytest.mark.parametrize("way", WAYS)
def test_level_0_and_untouched_columns(way: Any, tmp_path: Path) -> None:
    found = way(TABLE, ZERO, tmp_path)
    for name in LOW:
        for column in (f"qi_{name}", f"as_it_is_{name}"):
            wanted = TABLE.schema.field(column).type
            kind = found.schema.field(column).type
            assert kind == wanted or (name == "decimal" and pa.types.is_decimal(kind) and kind.scale == 2), column
            assert found.column(column).to_pylist() == TABLE.column(column).to_pylist()


@pytest.mark.parametrize(
    ("way", "represent"), [*((in_memory, r) for r in CENTRE), *zip(WAYS[1:], itertools.cycle(CENTRE), strict=False)]
)
def test_modes_means_and_medians(way: Any, represent: str, tmp_path: Path) -> None:
    found = way(TABLE, Mondrian(represent=represent), tmp_path)
    for name in LOW:
        column = found.column(f"qi_{name}")
        # A mean of short numbers needs more digits than they have; pandas does not know how many digits decimals have.
        loose = {"float32": pa.float64() if represent == "mean" else pa.float32(), "decimal": column.type}
        wanted = loose.get(name, TABLE.schema.field(f"qi_{name}").type)
        assert column.type == wanted, name
        assert name != "decimal" or (pa.types.is_decimal(column.type) and column.type.scale == 2)
        (value,) = set(column.to_pylist())
        expected = moved(name, CENTRE[represent])
        if name.startswith("float"):
            assert value == pytest.approx(expected)
        else:
            assert value == expected, name
        assert found.column(f"as_it_is_{name}").to_pylist() == TABLE.column(f"as_it_is_{name}").to_pylist()


@pytest.mark.parametrize("method", [ZERO, *(Mondrian(represent=r) for r in CENTRE)], ids=["level 0", *CENTRE])
def test_sheets_hold_numbers_dates_and_truths(method: Any, tmp_path: Path) -> None:
    released_to = Output(tmp_path / "out.xlsx", order="keep")
    anonymize(TABLE, COLUMNS, [KAnonymity(2 if method is ZERO else N)], method, output=released_to)
    header, *rows = openpyxl.load_workbook(tmp_path / "out.xlsx").active.iter_rows()
    for i, cell in enumerate(header):
        prefix, _, name = cell.value.rpartition("_")
        cells = [row[i] for row in rows]
        kinds = {c.data_type for c in cells}
        assert kinds == {{"date32": "d", "timestamp": "d", "bool": "b", "decimal": "s"}.get(name, "n")}, cell.value
        steps = STEPS if prefix == "as_it_is" or method is ZERO else [CENTRE[method.represent]] * N
        for found, step in zip(cells, steps, strict=True):
            expected = moved(name, step)
            if name == "decimal":
                assert found.value == f"{expected:.2f}"
            elif name == "date32":
                assert found.value == datetime.combine(expected, datetime.min.time())
                assert found.number_format == "yyyy-mm-dd"
            elif name.startswith("float"):
                assert found.value == pytest.approx(expected)
            else:
                assert found.value == expected


def test_a_sheet_read_and_written_keeps_its_types(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["age", "born", "seen", "well", "code"])
    for i in range(8):
        book.active.append([30 + i // 4, date(1990, 1, 1 + i // 4), datetime(2020, 1, 1, 6, i // 4), i < 4, "007"])
    book.save(tmp_path / "in.xlsx")
    kinds = {"age": "integer", "born": "date", "seen": "date"}
    columns = [Column(n, "quasi-identifier", type=kinds.get(n, "text")) for n in ("age", "born", "seen", "well", "code")]
    anonymize(
        tmp_path / "in.xlsx", columns, [KAnonymity(4)], Lattice(suppression=0), output=Output(tmp_path / "out.xlsx", order="keep")
    )
    read = [openpyxl.load_workbook(tmp_path / f"{n}.xlsx").active.iter_rows(values_only=True) for n in ("in", "out")]
    assert list(read[0]) == list(read[1])


@pytest.mark.parametrize("role", ["sensitive", "insensitive"])
def test_rounded_numbers_are_numbers(role: str, tmp_path: Path) -> None:
    """In a sensitive column, too: what the model counted is what is read back."""
    amounts = [1234.5, 2345.25, 1250.0] * 4
    decimals = pa.array([Decimal(f"{x:.2f}") for x in amounts], pa.decimal128(9, 2))
    table = pa.table({"age": [30] * N, "salary": amounts, "cost": decimals, "fine": decimals})
    steps = {"salary": 100, "cost": 0.5, "fine": 0.375}
    rounded = [Column(n, role, operation={"round": step}, exposure="accepted") for n, step in steps.items()]
    models = [KAnonymity(2), *(DistinctDiversity(2, n) for n in steps if role == "sensitive")]
    for suffix in ("parquet", "xlsx"):
        columns = [Column("age", "quasi-identifier"), *rounded]
        anonymize(table, columns, models, output=Output(tmp_path / f"out.{suffix}", order="keep"))
    stored = pa.parquet.read_table(tmp_path / "out.parquet")
    assert stored.schema.field("salary").type == pa.float64()
    assert stored.column("salary").to_pylist() == [1200.0, 2300.0, 1200.0] * 4
    assert pa.types.is_decimal(stored.schema.field("cost").type)
    assert stored.column("cost").to_pylist() == [Decimal(x) for x in ("1234.50", "2345.00", "1250.00")] * 4
    # Thousandths have no place in a column with two decimals.
    assert stored.column("fine").to_pylist() == ["1234.500", "2345.250", "1249.875"] * 4
    header, *rows = openpyxl.load_workbook(tmp_path / "out.xlsx").active.iter_rows(values_only=True)
    assert [row[header.index("salary")] for row in rows] == [1200, 2300, 1200] * 4


def test_each_column_has_its_own_representative() -> None:
    table = pa.table({"age": [30, 31, 38, 39], "income": [1.5, 2.5, 2.5, 9.5], "height": [150, 160, 170, 180]})
    columns = [Column(n, "quasi-identifier", type="number") for n in table.column_names]
    method = Mondrian(represent={"age": "median", "income": "mean"})
    found = anonymize(table, columns, [KAnonymity(4)], method).table
    assert [str(f.type) for f in found.schema] == ["int64", "double", "string"]
    assert found.to_pylist() == [{"age": 34, "income": 4.0, "height": "150-180"}] * 4


# --- Dates without a format

DAYS = [date(2020, 1, 2), date(2020, 2, 3), date(2021, 2, 3), date(2021, 5, 1)] * 3
TIMES = [datetime(2020, 1, 2, 3), datetime(2020, 1, 2, 4, 30), datetime(2021, 2, 3, 5), datetime(2021, 5, 1)] * 3
INPUTS = {
    "pandas datetime64[ns]": pd.DataFrame({"born": pd.to_datetime(DAYS), "n": range(N)}),
    "pandas date": pd.DataFrame({"born": DAYS, "n": range(N)}),
    "Polars date": pl.DataFrame({"born": DAYS, "n": range(N)}),
    "Arrow timestamp[s]": pa.table({"born": pa.array(DAYS).cast(pa.timestamp("s")), "n": range(N)}),
}


def dates_released(data: Any, method: Any, hierarchy: Any = None) -> pa.ChunkedArray:
    columns = [
        Column("born", "quasi-identifier", type="date", hierarchy=hierarchy),
        Column("n", "insensitive", exposure="accepted"),
    ]
    return arrow(anonymize(data, columns, [KAnonymity(6)], method).table).column("born")


@pytest.mark.parametrize("data", INPUTS.values(), ids=list(INPUTS))
@pytest.mark.parametrize("hierarchy", [None, {"dates": ["month", "year"]}], ids=["plain", "hierarchy"])
def test_dates_need_no_format(data: Any, hierarchy: Any) -> None:
    if hierarchy:
        assert set(dates_released(data, Lattice(suppression=0), hierarchy).to_pylist()) == {"2020", "2021"}
        months = {"2020-01..2020-02", "2021-02..2021-05"}
        assert set(dates_released(data, Mondrian(), hierarchy).to_pylist()) == months
        assert set(dates_released(data, Mondrian(represent="median"), hierarchy).to_pylist()) == months
        return
    found = dates_released(data, Mondrian())
    assert set(found.to_pylist()) == {"2020-01-02..2020-02-03", "2021-02-03..2021-05-01"}
    found = dates_released(data, Mondrian(represent="median"))
    assert pa.types.is_temporal(found.type)
    assert {str(day)[:10] for day in found.to_pylist()} == {"2020-01-18", "2021-03-18"}


def test_times_are_not_mixed_up_within_a_day() -> None:
    frame = pd.DataFrame({"born": pd.to_datetime(TIMES), "n": range(N)})
    assert set(dates_released(frame, Mondrian()).to_pylist()) == {
        "2020-01-02 03:00:00..2020-01-02 04:30:00",
        "2021-02-03 05:00:00..2021-05-01 00:00:00",
    }
    means = dates_released(frame, Mondrian(represent="mean"))
    assert means.type == pa.timestamp("ns")
    assert {str(m) for m in means.to_pylist()} == {"2020-01-02 03:45:00", "2021-03-18 14:30:00"}
    months = dates_released(frame, Lattice(suppression=0), {"dates": ["month", "year"]})
    assert set(months.to_pylist()) == {"2020", "2021"}


def test_a_release_of_times_can_be_evaluated() -> None:
    """Limits of intervals are read as they were written."""
    table = pa.table({"born": pa.array(TIMES, pa.timestamp("us")), "ill": ["a", "b"] * (N // 2)})
    columns = (Column("born", "quasi-identifier", type="date"), Column("ill", "sensitive"))
    release = anonymize(table, columns, [KAnonymity(6)], Mondrian())
    project = Project(table, columns, (KAnonymity(6),), Mondrian())
    found = evaluate(table, release.table, project=project)
    assert found.as_dict()["utility"] == release.evaluation.as_dict()["utility"]
    assert found.as_dict()["class_size"] == release.evaluation.as_dict()["class_size"]
