"""Tables of unusual kinds: types of columns, packed, damaged and hostile files, cells that are too long."""

import gzip
import io
import itertools
import re
import zipfile
from datetime import datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from velado import Column, DistinctDiversity, InputError, KAnonymity, Output, anonymize, inspect_table
from velado.hierarchies.labels import stands_for
from velado.operations import Given, operation_from
from velado.report.formats import xlsx as workbook
from velado.tables import open_table
from velado.tables.duckdb import table as engine
from velado.tables.formats.arrow import read_arrow
from velado.tables.formats.formulas import NUMBER, guard_formulas
from velado.tables.formats.names import MOST_COLUMNS
from velado.tables.formats.xlsx import LONGEST_CELL
from velado.tables.sql import plan as sql_plan
from velado.tables.sql import table as sql_table

pytestmark = pytest.mark.unjudged

N = 24


def repeated(*values: Any) -> list[Any]:
    return [values[i % len(values)] for i in range(N)]


def around(column: Any) -> pa.Table:
    return pa.table({"q": repeated("x", "y"), "v": column})


# Types of columns

NESTED: dict[str, Any] = {
    "list": pa.array(repeated([1], [2, 3])),
    "struct": pa.array(repeated({"a": 1}, {"a": 2})),
    "map": pa.array(repeated([("a", 1)], [("b", 2)]), pa.map_(pa.string(), pa.int64())),
    "bytes": pa.array(repeated(b"a", b"\x00\xff")),
    "list of a dictionary": pa.array(repeated(["a"], ["b"])),
}


@pytest.mark.parametrize("kind", NESTED)
@pytest.mark.parametrize("place", ["memory", "parquet", "arrow"])
def test_cells_of_more_than_one_value_are_left_out_and_never_looked_at(kind: str, place: str, tmp_path: Path) -> None:
    table: Any = around(NESTED[kind])
    if place == "parquet":
        pa.parquet.write_table(table, tmp_path / "t.parquet")
        table = tmp_path / "t.parquet"
    elif place == "arrow":
        pa.feather.write_feather(table, tmp_path / "t.arrow")
        table = tmp_path / "t.arrow"
    assert [(c.name, c.role) for c in inspect_table(table).columns][1] == ("v", "")
    for described, shown in (({}, ["q"]), ({"v": "identifier"}, ["q", "v"])):
        columns = {"q": "quasi-identifier", **described}
        release = anonymize(table, columns, [{"k-anonymity": {"k": 2}}], rest="drop")
        assert release.table.column_names == shown
        assert set(release.table.column(shown[-1]).to_pylist()) == ({"*"} if described else {"x", "y"})
    for given in ({"v": "insensitive"}, {"v": "quasi-identifier"}):
        with pytest.raises(InputError) as caught:
            anonymize(table, {"q": "quasi-identifier", **given}, [{"k-anonymity": {"k": 2}}])
        assert (caught.value.code, caught.value.column) == ("unsupported-type", "v")
        assert caught.value.hint
    with open_table(table) as opened:
        assert set(opened.page(0, 3).column("v").to_pylist()) == {f"({opened.field('v').unread})"}
        with pytest.raises(InputError, match="cannot be anonymized"):
            opened.count(["v"])


@pytest.mark.parametrize("zone", ["America/Santiago", "UTC"])
def test_moments_of_pandas_need_no_format(zone: str) -> None:
    pd = pytest.importorskip("pandas")
    when = pd.Series(pd.date_range("2020-01-01 12:00", periods=N, freq="D", tz=zone))
    for moments in (when, when + pd.to_timedelta(range(N), "ns")):
        described = {"when": {"role": "quasi-identifier", "hierarchy": {"dates": ["month", "year"]}}}
        release = anonymize(pd.DataFrame({"when": moments}), described, [{"k-anonymity": {"k": N}}])
        assert set(release.table["when"]) == {"2020-01"}


def test_what_pandas_holds_and_arrow_does_not() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"age": [20 + i % 4 * 10 for i in range(N)]})
    frame["cut"] = pd.cut(frame["age"], [0, 35, 100])
    frame.loc[0, "cut"] = None
    frame["complex"], frame["mixed"] = 1j, pd.Series(repeated(1, "a", [2], {"b": 3}))
    columns = {
        "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [20]}},
        "cut": {"role": "insensitive", "exposure": "accepted"},
    }
    release = anonymize(frame, columns, [{"k-anonymity": {"k": 3}}], rest="drop")
    assert {str(v) for v in release.table["cut"].dropna()} == {"(0, 35]", "(35, 100]"}
    assert len(release.table["cut"].dropna()) == N - 1
    assert {c.name: c.type for c in inspect_table(frame).columns if not c.distinct} == {"complex": "complex128", "mixed": "mixed"}


def test_periods_are_texts_and_sparse_columns_are_written_out() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"age": [20 + i % 4 * 10 for i in range(N)]})
    frame["month"] = pd.PeriodIndex(repeated("2020-01", "2020-02"), freq="M")
    frame["ill"] = pd.arrays.SparseArray([i % 2 for i in range(N)])
    columns = {"age": {"role": "quasi-identifier", "hierarchy": {"intervals": [20]}}}
    release = anonymize(frame, columns, [{"k-anonymity": {"k": 3}}], rest="insensitive")
    assert set(release.table["month"]) == {"2020-01", "2020-02"}
    assert set(release.table["ill"]) == {0, 1}


def test_a_mapping_of_columns_is_a_table() -> None:
    columns = {"age": {"role": "quasi-identifier", "hierarchy": {"intervals": [20]}}}
    release = anonymize({"age": repeated(20, 30, 40), "path": repeated("a")}, columns, [{"k-anonymity": {"k": 3}}], rest="drop")
    assert release.table.num_rows == N
    with pytest.raises(InputError) as caught:
        anonymize({"age": [1, 2], "sex": ["f"]}, columns, [{"k-anonymity": {"k": 2}}], rest="drop")
    assert caught.value.code == "unreadable-table"
    # What a source is stays one.
    with pytest.raises(InputError) as caught:
        inspect_table({"path": "none.csv", "missing": ["?"]})
    assert caught.value.code == "missing-file"


SINGLE: dict[str, Any] = {
    "zeros": pa.array(repeated(-0.0, 0.0, 1.5)),
    "small zeros": pa.array(repeated(-0.0, 0.0, 0.1), pa.float32()),
    "not a number": pa.array(repeated(float("nan"), 0.0, None)),
    "half": pa.array(repeated(0.5, 1.0), pa.float16()),
    "durations": pa.array(repeated(timedelta(days=1), timedelta(hours=1), timedelta(days=30)), pa.duration("us")),
    "intervals": pa.array(repeated(pa.MonthDayNano([1, 0, 0]), pa.MonthDayNano([0, 30, 0]))),
    "times": pa.array(repeated(time(1, 2, 3), time(23, 59)), pa.time64("us")),
    "zones": pa.array(repeated(datetime(2020, 1, 1, 3), datetime(2020, 7, 1)), pa.timestamp("us", "America/Bogota")),
    "far-off dates": pa.array(repeated(-(2**31) + 5, 2**31 - 5), pa.int32()).cast(pa.date32()),
    "far-off times": pa.array(repeated(2**62, -(2**62)), pa.int64()).cast(pa.timestamp("us")),
    "long decimals": pa.array(repeated(Decimal("1.50"), Decimal("-2.25")), pa.decimal256(60, 2)),
    "large numbers": pa.array(repeated(2**64 - 1, 0), pa.uint64()),
    "categories": pa.array(repeated("a", "b", None)).dictionary_encode(),
    "truth": pa.array(repeated(True, False)),
}


@pytest.mark.matrix(8)
@pytest.mark.parametrize("kind", SINGLE)
@pytest.mark.parametrize("role", ["quasi-identifier", "sensitive", "insensitive"])
def test_every_kind_is_counted_as_it_is_written(kind: str, role: str, tmp_path: Path) -> None:
    """What is counted, published and verified are the same values, in every format."""
    columns = [Column("q", "quasi-identifier"), Column("v", role)]
    models: list[Any] = [KAnonymity(2)] + ([DistinctDiversity(2, "v")] if role == "sensitive" else [])
    suffixes = {"quasi-identifier": ["csv"], "sensitive": ["csv", "parquet", "xlsx", "arrow"], "insensitive": ["xlsx"]}
    for suffix in suffixes[role]:
        anonymize(around(SINGLE[kind]), columns, models, output=tmp_path / f"out.{suffix}")


@pytest.mark.parametrize("kind", [k for k in SINGLE if k != "intervals"])
def test_every_kind_can_be_read_from_parquet(kind: str, tmp_path: Path) -> None:
    pa.parquet.write_table(around(SINGLE[kind]), tmp_path / "in.parquet")
    columns = [Column("q", "quasi-identifier"), Column("v", "quasi-identifier")]
    anonymize(tmp_path / "in.parquet", columns, [KAnonymity(2)], output=tmp_path / "out.parquet")


def test_minus_zero_is_zero() -> None:
    with open_table(around(SINGLE["zeros"])) as table:
        counts = table.count(["v"])
    assert sorted(counts.dictionaries[0]) == ["0.0", "1.5"]


def test_categories_are_guarded_like_other_texts(tmp_path: Path) -> None:
    """A spreadsheet does not care how Arrow stored a formula."""
    risky = pa.array(repeated("=1+1", "safe")).dictionary_encode()
    columns = [Column("q", "quasi-identifier"), Column("v", "insensitive")]
    anonymize(around(risky), columns, [KAnonymity(2)], output=tmp_path / "out.csv")
    assert "'=1+1" in (tmp_path / "out.csv").read_text()
    assert ",=1+1" not in (tmp_path / "out.csv").read_text()


def test_a_number_of_too_many_digits_is_no_number_of_its_column(tmp_path: Path) -> None:
    broken = pa.array(repeated(10**6), pa.int64()).view(pa.int64())
    cells = np.zeros((N, 2), dtype=np.int64)
    cells[:, 0] = 10**6
    broken = pa.Array.from_buffers(pa.decimal128(4, 2), N, [None, pa.py_buffer(cells.tobytes())])
    with pytest.raises(InputError) as caught:
        open_table(around(broken))
    assert (caught.value.code, caught.value.column) == ("unreadable-file", "v")


# Damaged, packed and hostile files


def refused(source: Path, code: str, *words: str) -> None:
    with pytest.raises(InputError) as caught:
        inspect_table(source)
    assert caught.value.code == code
    assert caught.value.file == str(source)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.txt"])
@pytest.mark.parametrize("kind", ["gzip", "ZIP", "Zstandard", "Parquet"])
def test_packed_tables_are_named(name: str, kind: str, tmp_path: Path) -> None:
    data = b"a,b\n" + b"1,2\n" * 100
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("t.csv", data)
    out = io.BytesIO()
    pa.parquet.write_table(pa.table({"a": ["1"]}), out)
    content = {
        "gzip": gzip.compress(data),
        "ZIP": archive.getvalue(),
        "Zstandard": pa.Codec("zstd").compress(data).to_pybytes(),
        "Parquet": out.getvalue(),
    }
    (tmp_path / name).write_bytes(content[kind])
    refused(tmp_path / name, "unreadable-file", kind)


def test_text_under_the_name_of_a_packed_table(tmp_path: Path) -> None:
    (tmp_path / "t.csv.gz").write_text("a,b\n1,2\n3,4\n")
    assert inspect_table(tmp_path / "t.csv.gz").rows == 2


def test_headers_have_limits(tmp_path: Path) -> None:
    (tmp_path / "line.csv").write_bytes(b"a" * 3_000_000)
    refused(tmp_path / "line.csv", "unreadable-file", "first line")
    (tmp_path / "wide.csv").write_text(",".join(f"c{i}" for i in range(MOST_COLUMNS + 1)) + "\n")
    refused(tmp_path / "wide.csv", "too-many-columns", "10,001")
    (tmp_path / "half.csv").write_bytes("a,b\n1,2\n".encode("utf-16")[:-1])
    refused(tmp_path / "half.csv", "wrong-encoding")


def packed_arrow(tmp_path: Path, column: pa.Array) -> tuple[Path, bytearray]:
    path = tmp_path / "t.arrow"
    pa.feather.write_feather(pa.table({"a": column}), path, compression="zstd")
    return path, bytearray(path.read_bytes())


def test_an_arrow_file_that_claims_to_be_huge_is_not_unpacked(tmp_path: Path) -> None:
    path, data = packed_arrow(tmp_path, pa.array(range(5000), pa.int64()))
    length = (8 * 5000).to_bytes(8, "little")
    assert data.count(length) >= 1
    path.write_bytes(bytes(data).replace(length, (1 << 45).to_bytes(8, "little")))
    refused(path, "out-of-memory", "half of the free memory")


def test_arrow_buffers_are_validated(tmp_path: Path) -> None:
    path = tmp_path / "t.arrow"
    pa.feather.write_feather(pa.table({"a": ["ab", "cd", "ef"]}), path, compression="uncompressed")
    offsets = b"".join(n.to_bytes(4, "little") for n in (0, 2, 4, 6))
    data = path.read_bytes()
    assert data.count(offsets) == 1
    path.write_bytes(data.replace(offsets, b"".join(n.to_bytes(4, "little") for n in (0, 2, 2**30, 6))))
    refused(path, "unreadable-file")


def test_the_table_of_contents_of_an_arrow_file_is_not_trusted(tmp_path: Path) -> None:
    path, data = packed_arrow(tmp_path, pa.array(["x", "y"] * 50))
    length = int.from_bytes(data[-10:-6], "little")
    data[-10 - length : -10] = b"\xff" * length
    path.write_bytes(bytes(data))
    assert read_arrow(path).num_rows == 100


def workbook_of(path: Path, sheet: str) -> Path:
    """The smallest workbook, with this sheet."""
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    links = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    packages = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr(
            "_rels/.rels",
            f'<Relationships {packages}><Relationship Id="r1" Type="{links}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        )
        book.writestr(
            "xl/workbook.xml",
            f'<workbook {space} xmlns:r="{links}"><sheets><sheet name="s" sheetId="1" r:id="r1"/></sheets></workbook>',
        )
        book.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships {packages}><Relationship Id="r1" Type="{links}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        )
        book.writestr("xl/worksheets/sheet1.xml", f"<worksheet {space}><sheetData>{sheet}</sheetData></worksheet>")
    return path


def cell(place: str, text: str) -> str:
    return f'<c r="{place}" t="inlineStr"><is><t>{text}</t></is></c>'


def test_a_small_workbook_is_read(tmp_path: Path) -> None:
    rows = f'<row r="1">{cell("A1", "a")}{cell("B1", "b")}</row><row r="2">{cell("A2", "x")}{cell("B2", "y")}</row>'
    assert [c.name for c in inspect_table(workbook_of(tmp_path / "t.xlsx", rows)).columns] == ["a", "b"]


def test_two_far_cells_are_refused_before_the_sheet_between_them_is_made(tmp_path: Path) -> None:
    rows = f'<row r="1">{cell("A1", "a")}</row><row r="1048576">{cell("XFD1048576", "b")}</row>'
    refused(workbook_of(tmp_path / "t.xlsx", rows), "too-large", "17,179,869,184 cells")


def test_a_workbook_that_is_packed_too_well_is_refused(tmp_path: Path) -> None:
    rows = f'<row r="1">{cell("A1", "a")}</row>' + " " * 80_000_000
    refused(workbook_of(tmp_path / "t.xlsx", rows), "too-large", "unpack")


# Cells that are too long


@pytest.mark.parametrize(("text", "fits"), [("x" * LONGEST_CELL, True), ("x" * (LONGEST_CELL + 1), False), ("🙂" * 20_000, False)])
@pytest.mark.parametrize("role", ["quasi-identifier", "insensitive"])
def test_a_cell_of_a_sheet_is_never_cut_off(text: str, fits: bool, role: str, tmp_path: Path) -> None:
    table = pa.table({"q": repeated("x", "y"), "v": repeated(text, "short")})
    columns = [
        Column("q", "quasi-identifier"),
        Column("v", role, hierarchy={"rows": [[text], ["short"]], "top": False} if role == "quasi-identifier" else None),
    ]
    output = Output(tmp_path / "out.xlsx")
    if fits:
        anonymize(table, columns, [KAnonymity(2)], output=output)
        with open_table(tmp_path / "out.xlsx") as read:
            assert text in read.count(["v"]).dictionaries[0]
        return
    with pytest.raises(InputError) as caught:
        anonymize(table, columns, [KAnonymity(2)], output=output)
    assert (caught.value.code, caught.value.column) == ("long-cell", "v")
    assert list(tmp_path.iterdir()) == []


def test_a_workbook_of_a_report_does_not_cut_off_either(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        workbook.table(tmp_path / "t.xlsx", {"s": (["a"], [["x" * (LONGEST_CELL + 1)]])})
    assert caught.value.code == "long-cell"


# Patterns take linear time


def test_numbers_are_the_same_as_before_and_found_in_linear_time() -> None:
    before = re.compile(r"[+-]?[0-9]*([.,]?[0-9]+)+([eE][+-]?[0-9]+)?")
    for length in range(7):
        for letters in itertools.product("1.,e+-", repeat=length):
            text = "".join(letters)
            assert bool(re.fullmatch(NUMBER, text)) == bool(before.fullmatch(text))
    for text in ("-" + "1" * 100_000 + "x", "-" + "1," * 100_000, "-1" * 100_000):
        assert guard_formulas([text], True) == ["'" + text]


def test_masked_labels_are_matched_in_linear_time() -> None:
    leaves = ["a" * 5000, "a" * 100 + "b", "cab"]
    assert stands_for("*a" * 100 + "*b", leaves, None, None).tolist() == [1]
    assert stands_for("*" * 2 + "b" + "*" * 3, ["xxbx", "b"], None, None).tolist() == [0, 1]
    assert stands_for("-a" * 2000, ["-a" * 5000, "-a" * 2000 + "-x"], None, None).tolist() == [0, 1]


@pytest.mark.parametrize("step", [1e-300, 1e-20, 2**53])
def test_rounding_to_tiny_and_huge_steps(step: float) -> None:
    labels = operation_from({"round": step}).labels([str(2**53 - 1), "0.1"], Given("a", "a"))
    assert len(labels) == 2


# Wide tables


@pytest.fixture
def wide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table that counts as wide, with one column that holds formulas, one of negative numbers, and gaps."""
    for module in (engine, sql_table, sql_plan):
        monkeypatch.setattr(module, "WIDE", 20)
    for module in (sql_table, sql_plan):
        monkeypatch.setattr(module, "AT_ONCE", 7)
    names = ["q", *(f"c{i}" for i in range(40))]
    rows = [[("x", "y")[r % 2], *(str((r * i) % 5) if (r + i) % 9 else "" for i in range(40))] for r in range(N)]
    for r, row in enumerate(rows):
        row[11], row[30] = ("=1+1", "-5", "ok")[r % 3], str(-r)
    (tmp_path / "wide.csv").write_text("\n".join(",".join(row) for row in [names, *rows]) + "\n")
    return tmp_path / "wide.csv"


def test_many_columns_are_counted_as_single_ones_are(wide: Path) -> None:
    with open_table(wide) as table:
        several = dict(table.amounts(table.header))
        for name in table.header:
            counts = table.count([name])
            single = dict(zip((counts.dictionaries[0][c] for c in counts.codes[0]), counts.counts.tolist(), strict=True))
            assert several[name] == single
    assert inspect_table(wide).rows == N


def test_formulas_in_wide_tables_are_guarded(wide: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = [tmp_path / name for name in ("wide_out.csv", "narrow_out.csv")]
    for path, most in zip(output, (20, 1000), strict=True):
        monkeypatch.setattr(sql_plan, "WIDE", most)
        with open_table(wide) as table:
            others = [Column(name, "insensitive", exposure="accepted") for name in table.header if name != "q"]
        columns = [Column("q", "quasi-identifier"), *others]
        anonymize(wide, columns, [KAnonymity(2)], output=Output(path, order="sorted"))
    assert output[0].read_bytes() == output[1].read_bytes()
    assert "'=1+1" in output[0].read_text()
