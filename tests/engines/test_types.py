"""One text per value: what docs/reference/types.md says is what engines give and what `Field.canonical` knows."""

import datetime
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.engines import EngineUnderTest, counted, per_engine, per_file_engine, save
from harness.watching import times
from velado.tables import ColumnType, Field, Session, Source

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "types.md"


def table_rows(header: str) -> list[list[str]]:
    """The rows of that of the page's tables whose header begins so."""
    tables = re.findall(r"(?:^\|.*\n)+", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    (found,) = (table for table in tables if table.startswith(header))
    lines = found.splitlines()[2:]
    # Blanks within ` ` belong to the value.
    return [[re.sub(r"^`(.*)`$", r"\1", cell.strip()) for cell in line.strip("|").split("|")] for line in lines]


def column_of(source: str, value: str, folder: Path) -> Source:
    """A source with a column x that holds the value twice."""
    if source == "CSV":
        return Source(path=save(pa.table({"x": [value] * 2, "y": ["a", "b"]}), folder / "in.csv"))
    if source.startswith("XLSX"):
        cell = {"XLSX number": float, "XLSX truth": lambda v: v == "true", "XLSX date": datetime.datetime.fromisoformat}
        book = openpyxl.Workbook()
        for row in [["x", "y"], *([cell.get(source, str)(value), other] for other in "ab")]:
            book.active.append(row)
        book.save(folder / "in.xlsx")
        return Source(path=folder / "in.xlsx")
    if source.startswith("time64"):
        return Source(data=pa.table({"x": pa.array([datetime.time.fromisoformat(value)] * 2, pa.time64("us"))}))
    return Source(data=pa.table({"x": pa.array([value] * 2).cast(arrow_type(source))}))


def arrow_type(name: str) -> pa.DataType:
    if found := re.fullmatch(r"decimal128\((\d+), (\d+)\)", name):
        return pa.decimal128(int(found[1]), int(found[2]))
    if found := re.fullmatch(r"timestamp\[(\w+)(?:, (\w+))?\]", name):
        return pa.timestamp(found[1], found[2])
    return {
        "dictionary": pa.dictionary(pa.int32(), pa.string()),
        "date32": pa.date32(),
        "date64": pa.date64(),
        "double": pa.float64(),
        "float": pa.float32(),
        "bool": pa.bool_(),
    }.get(name) or pa.type_for_alias(name)


EXAMPLES = table_rows("| type | source |")


def test_the_page_describes_every_type() -> None:
    assert [row[0] for row in table_rows("| type | what becomes it |")] == [t.value for t in ColumnType]
    assert {row[0] for row in EXAMPLES} == {t.value for t in ColumnType}


@per_file_engine
@pytest.mark.parametrize(
    ("kind", "source", "value", "text"), EXAMPLES, ids=[f"{source}:{value}" for _, source, value, _ in EXAMPLES]
)
def test_examples_of_the_page(
    engine: EngineUnderTest, kind: str, source: str, value: str, text: str, tmp_path: Path
) -> None:
    with engine.engine.open(column_of(source, value, tmp_path), Session()) as table:
        field = table.field("x")
        assert field.type is ColumnType(kind)
        assert counted(table.count(["x"])) == {(text,): 2}
        assert table.page(0, 1).column("x").to_pylist() == [text]
        assert field.canonical(text) == text


# --- Any value: the engine, Field.canonical and the stated rule agree


def texts_of(engine: EngineUnderTest, cells: list[Any], kind: pa.DataType) -> tuple[Field, list[str]]:
    with engine.open(pa.table({"x": pa.array(cells, kind)}), "memory", Path()) as table:
        return table.field("x"), table.page(0, len(cells)).column("x").to_pylist()


def check(engine: EngineUnderTest, cells: list[Any], kind: pa.DataType, type: ColumnType, stated: list[str]) -> None:
    field, found = texts_of(engine, cells, kind)
    assert field.type is type
    assert found == stated
    assert [field.canonical(text) for text in found] == found


def many(strategy: Any) -> Any:
    return st.lists(strategy, min_size=1, max_size=30)


few = settings(max_examples=times(15))


@per_engine
@few
@given(many(st.integers(-(2**63), 2**63 - 1)))
def test_integers(engine: EngineUnderTest, numbers: list[int]) -> None:
    check(engine, numbers, pa.int64(), ColumnType.INTEGER, [str(n) for n in numbers])


@per_engine
@few
@given(many(st.floats()))
def test_floats(engine: EngineUnderTest, numbers: list[float]) -> None:
    check(engine, numbers, pa.float64(), ColumnType.FLOAT, [repr(n + 0.0) for n in numbers])


@per_engine
@few
@given(many(st.floats(width=32, allow_nan=False)))
def test_short_floats(engine: EngineUnderTest, numbers: list[float]) -> None:
    """The shortest text that denotes the number among those of 32 bits, read and written as any other."""
    field, found = texts_of(engine, numbers, pa.float32())
    assert field.type is ColumnType.FLOAT
    assert pa.array([float(t) for t in found]).cast(pa.float32(), safe=False).to_pylist() == numbers
    assert [repr(float(text)) for text in found] == [field.canonical(text) for text in found] == found


@per_engine
@few
@given(st.integers(0, 10), st.data())
def test_decimals(engine: EngineUnderTest, decimals: int, data: st.DataObject) -> None:
    whole = data.draw(many(st.integers(-(10**38) + 1, 10**38 - 1)))
    numbers = [Decimal(f"{n}E-{decimals}") for n in whole]
    stated = [f"{'-' if n < 0 else ''}{digits(abs(n), decimals)}" for n in whole]
    check(engine, numbers, pa.decimal128(38, decimals), ColumnType.DECIMAL, stated)


def digits(number: int, decimals: int) -> str:
    shown = str(number).rjust(decimals + 1, "0")
    return f"{shown[:-decimals]}.{shown[-decimals:]}" if decimals else shown


@per_engine
@few
@given(many(st.dates()))
def test_dates(engine: EngineUnderTest, days: list[datetime.date]) -> None:
    check(engine, days, pa.date32(), ColumnType.DATE, [f"{d.year:04}-{d.month:02}-{d.day:02}" for d in days])


@per_engine
@few
@given(many(st.datetimes()))
def test_timestamps(engine: EngineUnderTest, moments: list[datetime.datetime]) -> None:
    stated = []
    for m in moments:
        fraction = f".{m.microsecond:06}".rstrip("0").rstrip(".")
        stated.append(f"{m.year:04}-{m.month:02}-{m.day:02} {m.hour:02}:{m.minute:02}:{m.second:02}{fraction}")
    check(engine, moments, pa.timestamp("us"), ColumnType.TIMESTAMP, stated)


@per_engine
@few
@given(many(st.booleans()))
def test_booleans(engine: EngineUnderTest, truths: list[bool]) -> None:
    check(engine, truths, pa.bool_(), ColumnType.BOOLEAN, [str(t).lower() for t in truths])


@pytest.mark.parametrize(
    ("kind", "decimals", "text", "canonical"),
    [
        ("integer", 0, "007", None),
        ("integer", 0, "1.0", None),
        ("integer", 0, "30-39", None),
        ("integer", 0, "-0", "0"),
        ("decimal", 2, "12.345", "12.34"),
        ("decimal", 2, "-0.001", "0.00"),
        ("decimal", 0, "1e2", "100"),
        ("decimal", 2, "1_000", None),
        ("decimal", 2, "nan", None),
        ("float", 0, "1", "1.0"),
        ("float", 0, "-0.0", "0.0"),
        ("float", 0, "1e400", None),
        ("date", 0, "2020-01-02 00:00:00", None),
        ("date", 0, "2020-13-01", None),
        ("timestamp", 0, "2020-01-02", "2020-01-02 00:00:00"),
        ("timestamp", 0, "2020-01-02T03:04:05.100", "2020-01-02 03:04:05.1"),
        ("timestamp", 0, "2020-01-02 03:04:05.120000010", "2020-01-02 03:04:05.12000001"),
        ("timestamp", 0, "2020-01-02 03:04:05+01:00", None),
        ("boolean", 0, "True", None),
        ("text", 0, " x ", " x "),
    ],
)
def test_texts_that_are_not_canonical(kind: str, decimals: int, text: str, canonical: str | None) -> None:
    assert Field("x", ColumnType(kind), decimals).canonical(text) == canonical


@per_engine
def test_equal_values_have_one_text(engine: EngineUnderTest, tmp_path: Path) -> None:
    zeros = pa.table({"x": pa.array([0.0, -0.0, float("nan"), -float("nan")])})
    with engine.open(zeros, "memory", tmp_path) as table:
        assert counted(table.count(["x"])) == {("0.0",): 2, ("nan",): 2}


@per_engine
def test_hundreds_and_thousands_of_arrow(engine: EngineUnderTest) -> None:
    """Decimals of a negative scale."""
    field, found = texts_of(engine, [Decimal("1500"), Decimal("-200")], pa.decimal128(10, -2))
    assert (field.type, field.decimals, found) == (ColumnType.DECIMAL, 0, ["1500", "-200"])
