"""The DuckDB engine: what it reads, counts and writes, compared with plain Python."""

import csv
import datetime
import hashlib
import io
import string
from collections import Counter
from decimal import Decimal
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.judge_hook import times
from velado import Column, DistinctDiversity, InputError, KAnonymity, Output, Source, anonymize, build_hierarchy
from velado.methods import Fixed
from velado.tables import Plan, Selection, Sink, Slot, open_table

AS_IT_IS = Plan((), Selection())
DELIMITERS = [";", ",", "\t", "|"]
FILES = ["csv", "tsv", "parquet", "xlsx", "arrow"]

few_examples = settings(max_examples=times(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def rows_of(source, columns=None):
    """The rows of a table as a multiset of tuples of texts."""
    with open_table(source) as table:
        counts = table.count(columns or table.header)
        assert table.rows() == counts.counts.sum()
    columns_of_texts = [
        [dictionary[code] for code in codes] for dictionary, codes in zip(counts.dictionaries, counts.codes, strict=True)
    ]
    found = Counter()
    for *row, n in zip(*columns_of_texts, counts.counts, strict=True):
        assert tuple(row) not in found, "a combination is counted in two places"
        found[tuple(row)] = int(n)
    return found


def listed(path, **options):
    """The rows of a file in their order."""
    with open_table(Source(path=path, **options)) as table:
        return [tuple(row.values()) for row in table.fetch(AS_IT_IS, order="keep").to_pylist()]


def file_of(folder, text, encoding="utf-8", name="table.csv"):
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


def save(table, path):
    """An Arrow table of texts as a file, written by anything but Velado."""
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    elif path.suffix in (".arrow", ".feather"):
        feather.write_feather(table, path)
    elif path.suffix == ".xlsx":
        book = openpyxl.Workbook()
        for row in [table.column_names, *zip(*table.to_pydict().values(), strict=True)]:
            book.active.append(row)
        book.save(path)
    else:
        with open(path, "w", newline="", encoding="utf-8") as out:
            writer = csv.writer(out, delimiter="\t" if path.suffix == ".tsv" else ",")
            writer.writerows([table.column_names, *zip(*table.to_pydict().values(), strict=True)])
    return path


# --- CSV: delimiters, quotes, line ends ---


@pytest.mark.parametrize("delimiter", DELIMITERS)
def test_the_delimiter_is_found(tmp_path, delimiter):
    path = file_of(tmp_path, "name|age\nAna|31\nRui|40\n".replace("|", delimiter))
    assert rows_of(path) == Counter([("Ana", "31"), ("Rui", "40")])
    with open_table(path) as table:
        assert table.header == ["name", "age"]
        assert table.dialect.delimiter == delimiter


@pytest.mark.parametrize("delimiter", DELIMITERS)
def test_fields_in_quotes_hold_delimiters_newlines_and_quotes(tmp_path, delimiter):
    rows = [("a;b,c\td|e", "x"), ("two\nlines", "y"), ('say "hi"', "z"), ('"', "\n"), ("\r\n", "it's")]
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter).writerows([("first", "second"), *rows])
    assert rows_of(file_of(tmp_path, out.getvalue())) == Counter(rows)


@pytest.mark.parametrize("quote", [None, "'"])
def test_single_quotes_as_quotes(tmp_path, quote):
    path = file_of(tmp_path, "name,place\n'Silva, Ana','Sobral'\n'O''Neill','Faro'\n")
    assert rows_of(Source(path=path, quote=quote)) == Counter([("Silva, Ana", "Sobral"), ("O'Neill", "Faro")])


def test_an_apostrophe_is_not_a_quote(tmp_path):
    path = file_of(tmp_path, "name,place\nO'Neill,'s-Gravenhage\nD'Arc,'t Harde\n")
    assert rows_of(path) == Counter([("O'Neill", "'s-Gravenhage"), ("D'Arc", "'t Harde")])


def test_a_given_delimiter_wins(tmp_path):
    path = file_of(tmp_path, "a,b;c,d\n1,2;3,4\n")
    assert rows_of(Source(path=path, delimiter=";")) == Counter([("1,2", "3,4")])
    assert rows_of({"path": path, "delimiter": ","}) == Counter([("1", "2;3", "4")])


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("inside", ["\n", "\r\n", "\r"])
def test_line_ends_inside_and_outside_of_fields(tmp_path, end, inside):
    path = file_of(tmp_path, end.join(["a,b", f'"x{inside}y",1', "z,2", ""]))
    assert rows_of(path) == Counter([(f"x{inside}y", "1"), ("z", "2")])


def test_the_last_line_needs_no_end(tmp_path):
    assert rows_of(file_of(tmp_path, "a,b\n1,2")) == Counter([("1", "2")])


def test_lines_that_end_in_carriage_returns(tmp_path):
    assert rows_of(file_of(tmp_path, "a,b\r1,2\r3,4\r")) == Counter([("1", "2"), ("3", "4")])


def test_separators_of_unicode_do_not_end_a_line(tmp_path):
    assert rows_of(file_of(tmp_path, "a,b\nx\u2028y,\x0b\x0c\x85\n")) == Counter([("x\u2028y", "\x0b\x0c\x85")])


# --- CSV: encodings ---


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-8", "é ñ € 😀"),
        ("utf-8-sig", "é ñ € 😀"),
        ("latin-1", "é ñ ü"),
        ("cp1252", "€ “quoted” ñ"),
        ("utf-16", "é ñ"),
        ("utf-16", "€ 山"),
        ("utf-16", "😀"),
    ],
)
@pytest.mark.parametrize("declared", [False, True])
def test_the_encoding_is_found_or_given(tmp_path, encoding, text, declared):
    path = file_of(tmp_path, f"name;año\n{text};1\nb;2\n", encoding)
    source = Source(path=path, encoding=encoding if declared else None)
    assert rows_of(source) == Counter([(text, "1"), ("b", "2")])
    with open_table(source) as table:
        assert table.header == ["name", "año"]


def test_utf_16_in_the_other_byte_order(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(b"\xfe\xff" + "a,b\né,ñ\n".encode("utf-16-be"))
    assert rows_of(path) == Counter([("é", "ñ")])


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "cp850", "mac-roman"])
def test_encodings_that_must_be_named(tmp_path, encoding):
    path = file_of(tmp_path, "a,b\né,ñ\n", encoding)
    assert rows_of(Source(path=path, encoding=encoding)) == Counter([("é", "ñ")])


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "klingon"])
def test_a_wrong_encoding_is_named(tmp_path, encoding):
    path = file_of(tmp_path, "a,b\né,ñ\n", "latin-1")
    with pytest.raises(InputError) as caught:
        rows_of(Source(path=path, encoding=encoding))
    assert caught.value.code == "wrong-encoding"


# --- Cells: text stays text, missing values, decimal comma ---

TEXTS = ["007", "1.0", "1e5", "0x1F", " x ", "true", "2020-01-02", "NULL", "NaN", "3,5", "-0"]


@pytest.mark.parametrize("suffix", FILES)
def test_text_stays_text(tmp_path, suffix):
    path = save(pa.table({"cell": TEXTS, "n": [str(i) for i in range(len(TEXTS))]}), tmp_path / f"table.{suffix}")
    assert rows_of(path, ["cell"]) == Counter((text,) for text in TEXTS)


@pytest.mark.parametrize("suffix", FILES)
def test_only_the_empty_text_is_missing(tmp_path, suffix):
    cells = ["", "NA", "?", "null", "-"]
    path = save(pa.table({"cell": cells, "n": list("12345")}), tmp_path / f"table.{suffix}")
    assert rows_of(path, ["cell"]) == Counter([(None,), ("NA",), ("?",), ("null",), ("-",)])


@pytest.mark.parametrize("suffix", FILES)
def test_declared_markers_are_missing_too(tmp_path, suffix):
    path = save(pa.table({"cell": ["?", "", "NA", "x"], "n": list("1234")}), tmp_path / f"table.{suffix}")
    assert rows_of({"path": path, "missing": "?"}, ["cell"]) == Counter({(None,): 2, ("NA",): 1, ("x",): 1})
    assert rows_of({"path": path, "missing": ["?", "NA"]}, ["cell"]) == Counter({(None,): 3, ("x",): 1})


def test_missing_in_memory():
    table = pa.table({"cell": ["", None, "x"]})
    assert rows_of(table) == Counter({(None,): 2, ("x",): 1})


def test_missing_values_of_a_single_column(tmp_path):
    path = file_of(tmp_path, 'cell\nx\n""\n\ny\n')
    assert rows_of(path) == Counter({("x",): 1, ("y",): 1, (None,): 2})


def test_decimal_commas(tmp_path):
    path = file_of(tmp_path, "weight;n\n3,5;1\n3,9;2\n4,0;3\n")
    release = anonymize(
        path,
        [Column("weight", "quasi-identifier", hierarchy={"intervals": [1, 2]}), Column("n", "insensitive", exposure="accepted")],
        [KAnonymity(2)],
        Fixed({"weight": 1}),
        output=Output(order="keep"),
    )
    assert release.table.column("weight").to_pylist() == ["[3; 4)", "[3; 4)"]
    values = [value for (value,) in rows_of(path, ["weight"])]
    assert sorted(values) == ["3,5", "3,9", "4,0"]
    assert build_hierarchy("weight", {"intervals": [1]}, values).label_of(1)["4,0"] == "[4; 5)"


# --- Parquet, Arrow, XLSX, objects in memory ---

DAY = datetime.date(2020, 1, 2)
TYPED = {
    "whole": ([7, None, -12], ["7", None, "-12"]),
    "real": ([1.0, 2.5, None], ["1.0", "2.5", None]),
    "day": ([DAY, None, DAY], ["2020-01-02", None, "2020-01-02"]),
    "truth": ([True, False, None], ["true", "false", None]),
    "moment": ([datetime.datetime(2020, 1, 2, 3, 4, 5), None, None], ["2020-01-02 03:04:05", None, None]),
    "amount": ([Decimal("1.50"), Decimal("0.10"), None], ["1.50", "0.10", None]),
    "text": (["007", None, "é"], ["007", None, "é"]),
}


def typed_table():
    return pa.table({**{name: cells for name, (cells, _) in TYPED.items()}, "nothing": pa.nulls(3)})


@pytest.mark.parametrize("kind", ["parquet", "arrow", "feather", "memory", "batch", "polars"])
def test_typed_columns_as_text(tmp_path, kind):
    table = typed_table()
    source = {
        "memory": lambda: table,
        "batch": lambda: table.combine_chunks().to_batches()[0],
        "polars": lambda: pl.from_arrow(table),
    }.get(kind, lambda: save(table, tmp_path / f"table.{kind}"))()
    expected = Counter(zip(*(texts for _, texts in TYPED.values()), [None] * 3, strict=True))
    assert rows_of(source) == expected


def test_pandas_columns_of_all_kinds():
    frame = pd.DataFrame(
        {
            "whole": [1, 2, 2],
            "gaps": [1.0, None, 2.5],
            "group": pd.Categorical(["x", None, "x"]),
            "object": ["a", None, np.nan],
            "string": pd.array(["007", None, "b"], dtype="string"),
            "nullable": pd.array([1, None, 3], dtype="Int64"),
            "truth": [True, False, True],
            "day": pd.to_datetime(["2020-01-02"] * 3),
        },
        index=["ana", "rui", "eva"],
    )
    moment = "2020-01-02 00:00:00"
    assert rows_of(frame) == Counter(
        [
            ("1", "1.0", "x", "a", "007", "1", "true", moment),
            ("2", None, None, None, None, None, "false", moment),
            ("2", "2.5", "x", None, "b", "3", "true", moment),
        ]
    )
    with open_table(frame) as table:
        assert table.header == list(frame.columns), "the index is not a column"


def test_pandas_column_names_are_texts():
    with open_table(pd.DataFrame([[1, 2]], columns=[2020, 2021])) as table:
        assert table.header == ["2020", "2021"]


def test_polars_categories():
    frame = pl.DataFrame({"a": pl.Series(["u", "v", "u"], dtype=pl.Categorical), "b": [1, None, 1]})
    assert rows_of(frame) == Counter({("u", "1"): 2, ("v", None): 1})


def test_arrow_chunks_and_dictionaries():
    part = pa.table({"a": pa.array(["x", "y"]).dictionary_encode()})
    other = pa.table({"a": pa.array(["y", "z"]).dictionary_encode()})
    assert rows_of(pa.concat_tables([part, other])) == Counter({("x",): 1, ("y",): 2, ("z",): 1})


def test_a_lazy_frame_is_read():
    assert rows_of(pl.DataFrame({"a": ["x"]}).lazy()) == Counter([("x",)])


@pytest.mark.parametrize(
    ("thing", "code"),
    [
        (pd.DataFrame({"a": [1, "x"]}), "unsupported-type"),
        (pl.Series("a", ["x"]), "unknown-table"),
        (pd.Series(["x"], name="a"), "unknown-table"),
        ([1, 2], "unknown-table"),
        (3.5, "unknown-table"),
        (None, "unknown-table"),
    ],
    ids=["pandas mixed objects", "polars series", "pandas series", "list", "number", "nothing"],
)
def test_other_objects_are_refused(thing, code):
    with pytest.raises(InputError) as caught:
        rows_of(thing)
    assert caught.value.code == code


@pytest.fixture
def workbook(tmp_path):
    book = openpyxl.Workbook()
    book.active.title = "first"
    book.active.append(["zip", "n", "real"])
    book.active.append(["007", 7, 1.5])
    book.active.append(["1.0", None, 2])
    second = book.create_sheet("second")
    second.append(["a"])
    second.append([" x "])
    book.save(tmp_path / "book.xlsx")
    return tmp_path / "book.xlsx"


def test_workbooks(workbook):
    assert rows_of(workbook) == Counter([("007", "7", "1.5"), ("1.0", None, "2.0")])
    assert rows_of({"path": workbook, "sheet": "second"}) == Counter([(" x ",)])


def test_a_sheet_that_is_not_there(workbook):
    with pytest.raises(InputError) as caught:
        rows_of({"path": workbook, "sheet": "third"})
    assert caught.value.code == "unknown-sheet"
    assert caught.value.values == ["first", "second"]


@pytest.mark.parametrize("suffix", FILES)
def test_the_fingerprint_is_the_hash_of_the_file(tmp_path, suffix):
    path = save(pa.table({"a": ["1", "2"], "b": ["x", "y"]}), tmp_path / f"table.{suffix}")
    with open_table(path) as table:
        assert table.fingerprint() == hashlib.sha256(path.read_bytes()).hexdigest()


def test_memory_has_no_fingerprint():
    with open_table(pa.table({"a": ["1"]})) as table:
        assert table.fingerprint() is None


# --- Counting, compared with a plain Counter ---

CELLS = st.one_of(
    st.none(),
    st.sampled_from(["0", "007", "*", "(missing)", "x", "X", " ", "NULL", "\x01missing\x01"]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=5),
    st.text("\"';,|\t\n\r=+-@*", min_size=1, max_size=5),
)


@st.composite
def tables(draw, cells=CELLS):
    width = draw(st.integers(1, 4))
    rows = draw(st.lists(st.tuples(*[cells] * width), min_size=1, max_size=12))
    names = string.ascii_lowercase[:width]
    return pa.table({name: pa.array([row[i] for row in rows], pa.string()) for i, name in enumerate(names)})


def counted(table):
    return Counter(zip(*table.to_pydict().values(), strict=True))


@few_examples
@given(tables())
def test_counts_equal_a_plain_counter(table):
    assert rows_of(table) == counted(table)
    columns = table.column_names[::-1][:2]
    assert rows_of(table, columns) == counted(table.select(columns))


@few_examples
@given(tables(), st.sampled_from(DELIMITERS), st.sampled_from(["\n", "\r\n"]))
def test_reading_what_python_wrote(tmp_path, table, delimiter, end):
    path = tmp_path / "table.csv"
    with open(path, "w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator=end)
        writer.writerows([table.column_names, *zip(*table.to_pydict().values(), strict=True)])
    assert rows_of(Source(path=path, delimiter=delimiter, quote='"')) == counted(table)


@few_examples
@given(tables(), st.sampled_from(DELIMITERS))
def test_reading_what_was_written(tmp_path, table, delimiter):
    path = tmp_path / "table.csv"
    with open_table(table) as opened:
        opened.write(AS_IT_IS, Slot(Sink(path, delimiter, guard=False), path))
    assert rows_of(Source(path=path, delimiter=delimiter, quote='"')) == counted(table)
    with open(path, newline="", encoding="utf-8") as stream:
        header, *rows = csv.reader(stream, delimiter=delimiter)
    assert header == table.column_names
    if len(header) > 1:  # Python drops empty lines: a missing value in a table of one column.
        assert Counter(tuple(cell or None for cell in row) for row in rows) == counted(table)


# --- Column names ---

NAMES = [
    "age group",
    'say "hi"',
    "it's",
    "a.b",
    "año",
    "年",
    "a;b",
    "select",
    "order",
    "from",
    "group",
    "rowid",
    "velado_row",
    "velado_1",
    "key",
    "KEY",
    "label",
    "code",
    "n",
    "c0",
    "c1",
    "k0",
    "p",
    "s",
    "t0",
    "t0.label",
    "random()",
]


@pytest.mark.matrix(7)
@pytest.mark.parametrize("name", NAMES)
def test_column_names_of_all_kinds(tmp_path, name):
    cells, others = ["9", "8", "9", "8", "7"], ["c", "d", "a", "b", "e"]
    other = "c2" if name == "c1" else "c1"
    table = pa.table({other: others, name: cells})
    source = save(table, tmp_path / "table.csv")
    assert rows_of(source, [name, other]) == rows_of(table, [name, other]) == Counter(zip(cells, others, strict=True))
    columns = [Column(name, "quasi-identifier"), Column(other, "sensitive")]
    output = Output(tmp_path / "out.csv", order="keep", guard=False)
    release = anonymize(source, columns, [KAnonymity(2)], Fixed({name: 0}), output=output)
    assert release.evaluation.suppressed == 1
    assert listed(output.path) == [("c", "9"), ("d", "8"), ("a", "9"), ("b", "8")]
    assert release.recoding.apply(table).unseen == {}


@pytest.mark.parametrize("suffix", ["memory", *FILES])
def test_names_that_differ_in_case_only(tmp_path, suffix):
    table = pa.table({"A": ["x", "y"], "a": ["1", "2"]})
    source = table if suffix == "memory" else save(table, tmp_path / f"table.{suffix}")
    with pytest.raises(InputError) as caught:
        rows_of(source, ["A", "a"])
    assert caught.value.code == "duplicate-column"


@pytest.mark.parametrize("suffix", ["memory", "csv", "xlsx"])
@pytest.mark.parametrize(("second", "code"), [("a", "duplicate-column"), (" ", "unnamed-column")])
def test_names_that_are_refused(tmp_path, suffix, second, code):
    if suffix == "memory":
        source = pa.table([["1"], ["2"]], names=["a", second])
    elif suffix == "csv":
        source = file_of(tmp_path, f"a,{second}\n1,2\n")
    else:
        source = save(pa.table({"a": ["1"], "b": ["2"]}), tmp_path / "table.xlsx")
        book = openpyxl.load_workbook(source)
        book.active["B1"] = second
        book.save(source)
    with pytest.raises(InputError) as caught:
        rows_of(source)
    assert caught.value.code == code


# --- Writing ---

HARD = ["plain", "é ñ €", "two\nlines", 'say "hi"', "a;b,c\td|e", " spaces ", "007", None, "it's", "*", "x\r\n"]


def written(data, path, columns=None, **options):
    """Release a table whose column q is already fit, so that all rows stay as they are."""
    columns = columns or [Column(name, "quasi-identifier" if name == "q" else "sensitive") for name in data.column_names]
    anonymize(data, columns, [KAnonymity(2)], Fixed({"q": 0}), output=Output(path, **options))
    return path


@pytest.mark.matrix(4)
@pytest.mark.parametrize("role", ["sensitive", "insensitive"])
@pytest.mark.parametrize("suffix", FILES)
def test_what_is_written_is_read_back(tmp_path, suffix, role):
    table = pa.table({"q": ["same"] * len(HARD), "cell": HARD})
    path = written(table, tmp_path / f"out.{suffix}", [Column("q", "quasi-identifier"), Column("cell", role, exposure="accepted")])
    assert rows_of(path) == counted(table)


def comparable(text, name):
    """Formats may write 1.0 as 1 and true as True."""
    if text is None:
        return None
    return float(text) if name == "real" else text.lower() if name == "truth" else text


@pytest.mark.matrix(9)
@pytest.mark.parametrize("name", TYPED)
@pytest.mark.parametrize("suffix", FILES)
def test_typed_cells_are_written(tmp_path, suffix, name):
    cells, texts = TYPED[name]
    path = written(pa.table({"q": ["same"] * len(cells), "cell": cells}), tmp_path / f"out.{suffix}")
    found = Counter({(comparable(text, name),): n for (text,), n in rows_of(path, ["cell"]).items()})
    assert found == Counter((comparable(text, name),) for text in texts)


@pytest.mark.parametrize("suffix", FILES)
def test_numbers_that_are_none_are_written(tmp_path, suffix):
    table = pa.table({"q": ["same"] * 3, "cell": [float("nan"), float("inf"), 1.5]})
    path = written(
        table, tmp_path / f"out.{suffix}", [Column("q", "quasi-identifier"), Column("cell", "insensitive", exposure="accepted")]
    )
    assert rows_of(path, ["q"]) == Counter({("same",): 3})


@pytest.mark.parametrize("suffix", FILES)
def test_numbers_beside_what_a_sheet_cannot_hold(tmp_path, suffix):
    """Infinity and very large numbers make texts of a sheet's whole column, so that 2.0 stays 2.0."""
    for large in (float("inf"), 1e300):
        table = pa.table({"q": ["same"] * 2, "cell": [2.0, large]})
        path = written(table, tmp_path / f"out.{suffix}", [Column("q", "quasi-identifier"), Column("cell", "sensitive")])
        assert rows_of(path, ["cell"]) == Counter([("2.0",), (repr(large),)])


@pytest.mark.parametrize("suffix", FILES)
def test_long_numbers_keep_their_digits(tmp_path, suffix):
    table = pa.table({"q": ["same"] * 2, "cell": [12345678901234567, 1]})
    path = written(
        table, tmp_path / f"out.{suffix}", [Column("q", "quasi-identifier"), Column("cell", "insensitive", exposure="accepted")]
    )
    assert rows_of(path, ["cell"]) == Counter([("12345678901234567",), ("1",)])


@pytest.mark.parametrize("suffix", FILES)
def test_records_without_any_value_are_written(tmp_path, suffix):
    table = pa.table({"q": ["a", "a", None, None]})
    if suffix == "xlsx":
        with pytest.raises(InputError) as caught:
            written(table, tmp_path / f"out.{suffix}", order="keep")
        assert caught.value.code == "empty-record"
    else:
        path = written(table, tmp_path / f"out.{suffix}", order="keep")
        assert rows_of(path) == Counter({("a",): 2, (None,): 2})


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_empty_texts_of_a_parquet_file_are_written(tmp_path, suffix):
    table = pa.table({"q": ["a", "a", "b", "b"], "cell": ["", "x", "", "y"]})
    source = save(table, tmp_path / "table.parquet")
    path = tmp_path / f"out.{suffix}"
    columns = [Column("q", "quasi-identifier"), Column("cell", "sensitive")]
    anonymize(source, columns, [KAnonymity(2)], Fixed({"q": 0}), output=path)
    assert rows_of(path) == Counter({("a", None): 1, ("a", "x"): 1, ("b", None): 1, ("b", "y"): 1})


def test_the_output_has_the_delimiter_of_the_input_unless_it_is_given(tmp_path):
    source = file_of(tmp_path, "q;cell\na;1\na;2\n")
    columns = [Column("q", "quasi-identifier"), Column("cell", "sensitive")]
    for output, header in [
        (Output(tmp_path / "out.csv"), "q;cell"),
        (Output(tmp_path / "out.tsv"), "q\tcell"),
        (Output(tmp_path / "out.txt", delimiter="|"), "q|cell"),
    ]:
        anonymize(source, columns, [KAnonymity(2)], Fixed({"q": 0}), output=output)
        assert output.path.read_text().splitlines()[0] == header


# --- The guard against formulas ---

FORMULAS = ["=1+1", "+cmd", "-x", "@SUM(A1)", "\tx", "\rx", "'=1", "''-x", "=1,5"]
NUMBERS = ["-5", "+3", "-1.5", "-1e3", "+.5", "-1,5"]


@pytest.mark.parametrize("role", ["sensitive", "insensitive"])
@pytest.mark.parametrize("suffix", ["csv", "tsv", "xlsx"])
def test_formulas_are_guarded(tmp_path, suffix, role):
    table = pa.table({"q": ["same"] * len(FORMULAS), "cell": FORMULAS})
    columns = [Column("q", "quasi-identifier"), Column("cell", role, exposure="accepted")]
    guarded = written(table, tmp_path / f"guarded.{suffix}", columns)
    assert rows_of(guarded, ["cell"]) == Counter(("'" + cell,) for cell in FORMULAS)
    plain = written(table, tmp_path / f"plain.{suffix}", columns, guard=False)
    assert rows_of(plain, ["cell"]) == Counter((cell,) for cell in FORMULAS)


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_numbers_are_not_guarded(tmp_path, suffix, number):
    path = written(pa.table({"q": ["same"] * 2, "cell": [number, "x"]}), tmp_path / f"out.{suffix}")
    assert rows_of(path, ["cell"]) == Counter([(number,), ("x",)])


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_typed_files_need_no_guard(tmp_path, suffix):
    path = written(pa.table({"q": ["same"] * len(FORMULAS), "cell": FORMULAS}), tmp_path / f"out.{suffix}")
    assert rows_of(path, ["cell"]) == Counter((cell,) for cell in FORMULAS)


def test_categories_are_guarded_too(tmp_path):
    frame = pd.DataFrame({"q": ["same"] * 2, "cell": pd.Categorical(["=1+1", "x"])})
    columns = [Column("q", "quasi-identifier"), Column("cell", "insensitive", exposure="accepted")]
    anonymize(frame, columns, [KAnonymity(2)], Fixed({"q": 0}), output=tmp_path / "out.csv")
    assert rows_of(tmp_path / "out.csv", ["cell"]) == Counter([("'=1+1",), ("x",)])


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_verification_sees_through_the_guard(tmp_path, suffix):
    table = pa.table({"q": ["=a", "=a", "-b", "-b", "+c"], "ill": ["=x", "'=x", "-y", "@z", "=x"]})
    columns = [Column("q", "quasi-identifier"), Column("ill", "sensitive")]
    models = [KAnonymity(2), DistinctDiversity(2, "ill")]
    path = tmp_path / f"out.{suffix}"
    release = anonymize(table, columns, models, Fixed({"q": 0}), output=path)
    assert (release.evaluation.released, release.evaluation.suppressed) == (4, 1)
    assert rows_of(path) == Counter([("'=a", "'=x"), ("'=a", "''=x"), ("'-b", "'-y"), ("'-b", "'@z")])


# --- The order of rows ---

MANY = pa.table({"q": [str(i % 7) for i in range(399)] + ["alone"], "n": [str(i * 7919 % 1000) for i in range(400)]})
KEPT = list(zip(*MANY.slice(0, 399).to_pydict().values(), strict=True))
ORDERED = [Column("q", "quasi-identifier"), Column("n", "insensitive", exposure="accepted")]


def ordered(source, path, order):
    anonymize(source, ORDERED, [KAnonymity(2)], Fixed({"q": 0}), output=Output(path, order=order))
    return path


@pytest.mark.parametrize(
    ("source", "suffix"), [*((source, "csv") for source in ["memory", *FILES]), *(("csv", suffix) for suffix in FILES)]
)
def test_keep_keeps_the_order_of_the_rows(tmp_path, source, suffix):
    data = MANY if source == "memory" else save(MANY, tmp_path / f"table.{source}")
    assert listed(ordered(data, tmp_path / f"out.{suffix}", "keep")) == KEPT


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow"])
def test_sorted_gives_the_same_bytes_whatever_the_order_of_the_input(tmp_path, suffix):
    backwards = MANY.take(list(range(399, -1, -1)))
    once, twice = (ordered(data, tmp_path / f"{i}.{suffix}", "sorted").read_bytes() for i, data in enumerate([MANY, backwards]))
    assert once == twice
    assert listed(tmp_path / f"0.{suffix}") == sorted(KEPT)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "xlsx", "arrow"])
def test_shuffle_gives_the_same_rows_in_another_order(tmp_path, suffix):
    first, second = (listed(ordered(MANY, tmp_path / f"{i}.{suffix}", "shuffle")) for i in range(2))
    assert Counter(first) == Counter(second) == Counter(KEPT)
    assert first != KEPT
    assert first != second


def test_rows_in_memory_are_shuffled_too():
    release = anonymize(MANY, ORDERED, [KAnonymity(2)], Fixed({"q": 0}))
    found = [tuple(row.values()) for row in release.table.to_pylist()]
    assert Counter(found) == Counter(KEPT)
    assert found != KEPT


def test_nothing_is_left_behind(tmp_path):
    ordered(save(MANY, tmp_path / "table.csv"), tmp_path / "out.csv", "shuffle")
    assert {path.name for path in Path(tmp_path).iterdir()} == {
        "table.csv",
        "out.csv",
        "out.csv.manifest.json",
        "out.csv.private.json",
    }


@pytest.mark.thorough
def test_what_does_not_fit_in_memory_is_spilled_in_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counting and writing both spill; nothing shows up in the working directory, and nothing is left."""
    import velado

    work, out = tmp_path / "work", tmp_path / "out"
    work.mkdir()
    out.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setattr("velado.tables.session.MEMORY", 24_000_000)
    n = 150_000
    numbers = pa.array(range(n), pa.int64())
    table = pa.table({"x": numbers, "word": pa.array([f"{i}-word" for i in range(n)])})
    pq.write_table(table, tmp_path / "in.parquet")
    seen, spilled = [], []

    def look(step: velado.progress.Step) -> None:
        seen.extend(p.stat().st_mode & 0o777 for p in out.iterdir() if p.is_dir())
        spilled.extend(out.glob(".velado-*/spilled/*"))

    columns = [Column("x", "quasi-identifier"), Column("word", "insensitive", exposure="accepted")]
    project = velado.Project(
        tmp_path / "in.parquet", tuple(columns), (KAnonymity(2),), Fixed({"x": 1}), velado.Output(path=out / "out.parquet")
    )
    velado.run(project, velado.Progress(look))
    assert spilled
    assert set(seen) == {0o700}
    assert list(work.iterdir()) == []
    assert sorted(p.name for p in out.iterdir()) == ["out.parquet", "out.parquet.manifest.json", "out.parquet.private.json"]
