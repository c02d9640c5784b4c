"""Text tables and sheets as people have them: titles, blank lines, no header, names that repeat, mixed line ends."""

import csv
import io
import os
import random
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import velado
from conftest import Command
from velado import InputError, Project, Source
from velado.tables import Plan, Selection, open_table
from velado.tables.formats.names import NAMES, unique_names

PEOPLE = [["Ana", "f", "34", "flu"], ["Rui", "m", "51", "flu"], ["Eva", "f", "34", "hiv"], ["Leo", "m", "51", "hiv"]]
NAMED = ["name", "sex", "age", "ill"]


def read(source: Any) -> tuple[list[str], list[list[Any]]]:
    """Names and rows of a table in their order."""
    with open_table(source) as table:
        found = table.fetch(Plan((), Selection()), "keep")
        return list(table.header), [list(row) for row in zip(*(c.to_pylist() for c in found.columns), strict=True)]


def text_of(rows: list[list[str]], delimiter: str = ",", end: str = "\n") -> str:
    return "".join(delimiter.join(row) + end for row in rows)


def refused(source: Any, code: str, *words: str) -> InputError:
    with pytest.raises(InputError) as problem:
        read(source)
    assert problem.value.code == code
    for word in words:
        assert word in str(problem.value)
    assert not [cell for row in PEOPLE for cell in row if cell in problem.value.message.split()]
    return problem.value


# Against Python's own reader

CELLS = st.text(alphabet="ab1 ,;\"\n\r'é", max_size=6)
TITLES = st.text(alphabet='Report 2024,;"é', max_size=12)


@st.composite
def ugly_file(draw: st.DrawFn) -> tuple[bytes, dict[str, Any], list[str], list[list[str | None]]]:
    """The bytes of a file, the options to read it with, and what Python's own reader finds in it."""
    width = draw(st.integers(2, 4))
    delimiter = draw(st.sampled_from([",", ";"]))
    header = draw(st.booleans())
    names = draw(st.lists(st.sampled_from(["name", "Name", "sex ", " age", "a;b", ""]), min_size=width, max_size=width))
    rows = draw(st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1, max_size=6))
    ends = draw(st.lists(st.sampled_from(["\n", "\r\n"]), min_size=8, max_size=8))
    titles = draw(st.lists(TITLES, max_size=3))
    blank = draw(st.lists(st.sampled_from(["\n", "  \n", "\r\n"]), max_size=2))
    quoted = draw(st.randoms(use_true_random=False))

    def cell(text: str) -> str:
        needed = any(c in text for c in (delimiter, '"', "\n", "\r")) or text != text.strip()
        return '"' + text.replace('"', '""') + '"' if needed or quoted.random() < 0.2 else text

    lines = [names, *rows] if header else rows
    body = "".join(delimiter.join(map(cell, line)) + end for line, end in zip(lines, (ends * 2)[: len(lines)], strict=True))
    text = "".join(f"{title}\n" for title in titles) + "".join(blank) + body
    encoding = draw(st.sampled_from(["utf-8", "utf-8-sig", "latin-1", "utf-16"]))
    found = list(csv.reader(io.StringIO(body, newline=""), delimiter=delimiter, strict=True))
    options = {
        "delimiter": delimiter,
        "quote": '"',
        "encoding": encoding,
        "header": header,
        "skip": len(titles),
        "names": "numbered",
    }
    wanted = plain_numbers([n.strip() for n in names]) if header else [f"column_{i + 1}" for i in range(width)]
    cells = [[value or None for value in row] for row in (found[1:] if header else found)]
    return text.encode(encoding), options, wanted, cells


def plain_numbers(names: list[str]) -> list[str]:
    """Names by a plain rule: the k-th that is called the same gets the next number that nobody has."""
    found: list[str] = []
    whole = [name or f"column_{i + 1}" for i, name in enumerate(names)]
    for name in whole:
        shown, number = name, 1
        while shown.lower() in [f.lower() for f in found] or (number > 1 and shown.lower() in [w.lower() for w in whole]):
            number += 1
            shown = f"{name}_{number}"
        found.append(shown)
    return found


@settings(max_examples=100)
@given(ugly_file())
def test_what_is_read_is_what_python_reads(tmp_path_factory: pytest.TempPathFactory, file: Any) -> None:
    data, options, names, rows = file
    path = tmp_path_factory.mktemp("ugly") / "table.csv"
    path.write_bytes(data)
    assert read(Source(path=path, **options)) == (names, rows)


@given(st.lists(st.sampled_from(["a", "A", "a_2", "a_3", "b", "", " "]), min_size=1, max_size=8))
@example(["a", "a_2", "a", "A"])
def test_numbers_make_names_of_their_own(names: list[str]) -> None:
    found = unique_names(names)
    assert len({name.casefold() for name in found}) == len(names)
    assert found == plain_numbers([n.strip() for n in names])
    first = {name.casefold(): i for i, name in reversed(list(enumerate(names))) if name.strip()}
    assert all(found[i] == names[i] for i in first.values()), "who comes first keeps the name"


# Blank lines, titles, no header


@pytest.mark.parametrize("above", ["\n", "\n\n\n", "  \n\t\n", "\r\n", "\ufeff\n"])
def test_blank_lines_at_the_top_are_passed_over(tmp_path: Path, above: str) -> None:
    path = tmp_path / "people.csv"
    path.write_text(above + text_of([NAMED, *PEOPLE]), encoding="utf-8", newline="")
    assert read(path) == (NAMED, PEOPLE)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize(
    ("title", "lines"),
    [
        ("Admissions\n", 1),
        ("Admissions\n\n", 2),
        ("Admissions of the year\nAll units\n\n\n", 4),
        ("\nAdmissions\n", 2),
        ("Admissions{d}{d}{d}\n{d}{d}{d}\n", 2),
        ('"Admissions,\nall units"\n', 2),
    ],
)
def test_titles_are_found_and_the_lines_to_skip_are_told(tmp_path: Path, title: str, lines: int, delimiter: str) -> None:
    path = tmp_path / "people.txt"
    path.write_text(title.replace("{d}", delimiter) + text_of([NAMED, *PEOPLE], delimiter))
    refused(path, "title-lines", f"line {lines + 1}", f"skip: {lines}}}", f"--skip {lines}:")
    assert read({"path": str(path), "skip": lines}) == (NAMED, PEOPLE)


@pytest.mark.parametrize("names", [["name", "age", "age", "ill"], ["name", "2019", "2020", "2021"], PEOPLE[0]])
def test_a_title_is_never_a_table_of_one_column(tmp_path: Path, names: list[str]) -> None:
    """Whatever the line below it looks like."""
    path = tmp_path / "people.csv"
    path.write_text("Admissions\n" + text_of([names, *PEOPLE], ";"))
    refused(path, "title-lines", "line 2", "--skip 1")


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_titles_above_a_table_without_a_header(tmp_path: Path, delimiter: str) -> None:
    path = tmp_path / "people.csv"
    path.write_text("Admissions\n\n" + text_of(PEOPLE, delimiter))
    refused(Source(path=path, header=False), "title-lines", "line 3", "--skip 2")
    assert read(Source(path=path, header=False, skip=2))[1] == PEOPLE


@pytest.mark.parametrize(
    "text",
    [
        "place\nAustin TX\nReno NV\nAustin TX\n",
        "name;cost\nAna;1,5\nRui;2,5\n",
        "a\tb\n1\t\n2\t\n",
        "city;state\nAustin, TX;x\nReno, NV;y\nBoise, ID;z\n",
    ],
)
def test_what_has_no_title(tmp_path: Path, text: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    rows = list(csv.reader(io.StringIO(text), delimiter="\t" if "\t" in text else ";"))
    assert read(path) == (rows[0], [[c or None for c in row] for row in rows[1:]])


def test_a_trailing_delimiter_is_no_title(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("".join(",".join(row) + ",\n" for row in [NAMED, *PEOPLE]))
    refused(path, "unnamed-column", "column 5", "--number-names")
    names, rows = read(Source(path=path, names="numbered"))
    assert names == [*NAMED, "column_5"]
    assert rows == [[*row, None] for row in PEOPLE]
    path.write_text(",".join(NAMED) + "\n" + "".join(",".join(row) + ",\n" for row in PEOPLE))
    refused(path, "ragged-row", "line 2 has 5 fields, the header has 4", "--skip")


def test_too_many_lines_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text(text_of([NAMED, *PEOPLE]) + "\n\n")
    refused(Source(path=path, skip=5), "bad-skip", "first 5 lines")
    assert read(Source(path=path, skip=4, header=False))[1] == PEOPLE[-1:]


def test_a_first_line_of_data_is_refused_with_the_way_out(tmp_path: Path, main: Command) -> None:
    (tmp_path / "people.csv").write_text(text_of(PEOPLE))
    ended = main("check", "people.csv", "--qi", "sex,age")
    assert ended.code == 2
    assert "--no-header" in ended.err
    assert "header: false" in ended.err
    assert "Ana" not in ended.err
    ended = main("check", "people.csv", "--qi", "column_2,column_3", "--no-header", "--json")
    assert (ended.code, ended.json["rows"]) == (0, 4)


def test_line_numbers_are_those_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("A title\n\n" + text_of([NAMED, *PEOPLE]) + "Zoe,f\n")
    refused(Source(path=path, skip=1), "ragged-row", "line 8 has 2 fields, the header has 4")
    path.write_text("A title\n\n" + text_of(PEOPLE) + "Zoe,f\n")
    refused(Source(path=path, skip=1, header=False), "ragged-row", "line 7 has 2 fields, the first line has 4")
    path.write_text("A title\n\n" + text_of([NAMED, *PEOPLE]) + 'Zoe,f,"3,flu\n')
    refused(Source(path=path, skip=1), "ragged-row", "line 8 has a quote that is never closed")


# Names


def test_names_that_repeat(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text(text_of([["name", "age", "Age", "ill"], *PEOPLE]))
    refused(path, "duplicate-column", "columns 2, 3", "--number-names", "names: numbered")
    assert read(Source(path=path, names="numbered")) == (["name", "age", "Age_2", "ill"], PEOPLE)


def test_blanks_around_names_are_no_part_of_them(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text(text_of([[" name", "sex ", '" age "', "ill"], *PEOPLE]))
    assert read(path)[0] == NAMED
    assert read(Source(path=path, names="exact"))[0] == [" name", "sex ", " age ", "ill"]


@pytest.mark.parametrize("name", [" age", "age ", "a,b", "\nage"])
def test_names_of_other_tables_come_through(tmp_path: Path, name: str) -> None:
    """A release is read back as it was written: blanks around names in memory stay."""
    table = pa.table({name: [1, 2] * 5, "ill": ["flu"] * 10})
    columns = [velado.Column(name, "quasi-identifier"), velado.Column("ill", "sensitive")]
    release = velado.anonymize(table, columns, [velado.KAnonymity(5)], output=tmp_path / "out.csv").evaluation
    assert release.released == 10
    with open(tmp_path / "out.csv", newline="") as stream:
        assert next(csv.reader(stream)) == [name, "ill"]


def test_tables_in_memory_and_parquet(tmp_path: Path) -> None:
    import pandas as pd
    import pyarrow.parquet

    frame = pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"])
    refused(frame, "duplicate-column", "columns 1, 3")
    assert read(Source(data=frame, names="numbered")) == (["a", "b", "a_2"], [[1, 2, 3]])
    pyarrow.parquet.write_table(pa.table([[1], [2]], ["a", "A"]), tmp_path / "t.parquet")
    refused(tmp_path / "t.parquet", "duplicate-column")
    assert read(Source(path=tmp_path / "t.parquet", names="numbered"))[0] == ["a", "A_2"]
    for options in ({"header": False}, {"skip": 1}):
        refused(Source(path=tmp_path / "t.parquet", **options), "bad-option", "text tables and sheets")
        refused(Source(data=frame, **options), "bad-option", "text tables and sheets")


# Line ends


@pytest.mark.parametrize("seed", range(5))
def test_line_feeds_with_and_without_carriage_return(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    rows = [*PEOPLE * 50, ["two\r\nlines", "f", "a\nb", "\r"]] * 3
    path = tmp_path / "people.csv"
    with open(path, "w", newline="") as stream:
        for row in [NAMED, *rows]:
            csv.writer(stream, quoting=csv.QUOTE_ALL, lineterminator=draw.choice(["\n", "\r\n"])).writerow(row)
    assert read(path) == (NAMED, rows)


@pytest.mark.parametrize(("first", "other"), [("\n", "\r"), ("\r\n", "\r"), ("\r", "\n"), ("\r", "\r\n")])
def test_a_carriage_return_alone_among_others(tmp_path: Path, first: str, other: str) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes((text_of([NAMED, *PEOPLE[:2]], end=first) + text_of(PEOPLE[2:], end=other)).encode())
    refused(path, "mixed-line-ends", "line 4 ends in", "carriage return")
    path.write_bytes(text_of([NAMED, *PEOPLE], end="\r").encode())
    assert read(path) == (NAMED, PEOPLE)


@pytest.mark.parametrize("piece", [1, 2, 3, 7])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_across_pieces_of_a_file(tmp_path: Path, end: str, piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("velado.tables.formats.csv_lines.PIECE", piece)
    path = tmp_path / "people.csv"
    path.write_bytes(text_of([NAMED, *PEOPLE], end=end).encode())
    assert read(path) == (NAMED, PEOPLE)
    path.write_bytes((text_of([NAMED], end="\n") + text_of(PEOPLE, end=end)).encode())
    if end == "\r":
        refused(path, "mixed-line-ends", "line 2")
    else:
        assert read(path) == (NAMED, PEOPLE)


# Sheets


def sheet(path: Path, rows: list[list[Any]]) -> Path:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


TYPED = [[name, sex, int(age), ill] for name, sex, age, ill in PEOPLE]


def test_sheets(tmp_path: Path) -> None:
    path = tmp_path / "people.xlsx"
    assert read(sheet(path, [[], [], NAMED, *TYPED])) == (NAMED, TYPED)
    sheet(path, [[], ["Admissions"], [], NAMED, *TYPED])
    refused(path, "title-lines", "row 4", "--skip 3")
    assert read(Source(path=path, skip=3)) == (NAMED, TYPED)
    refused(Source(path=path, skip=30), "bad-skip", "30 rows")
    assert read(Source(path=sheet(path, TYPED), header=False)) == ([f"column_{i}" for i in range(1, 5)], TYPED)
    sheet(path, [["name", " age", "Age ", None], *TYPED])
    refused(path, "unnamed-column", "column 4")
    assert read(Source(path=path, names="numbered")) == (["name", "age", "Age_2", "column_4"], TYPED)


# The options, in project and command


def test_bad_options(tmp_path: Path) -> None:
    for option, value in (("header", "no"), ("header", 0), ("skip", -1), ("skip", True), ("skip", "3"), ("names", "any")):
        with pytest.raises(InputError) as problem:
            Source.of({"path": "x.csv", option: value})
        assert problem.value.code == "bad-option"
        assert f"'{option}'" in problem.value.message


def test_a_project_keeps_them(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("A title\n" + text_of(PEOPLE * 5))
    options = {"path": "people.csv", "header": False, "skip": 1, "names": "numbered"}
    data = {
        "source": options,
        "person": "rows",
        "columns": {
            "column_1": "identifier",
            "column_2": "quasi-identifier",
            "column_3": "quasi-identifier",
            "column_4": "sensitive",
        },
        "models": [{"k-anonymity": {"k": 5}}],
        "output": {"path": "out.csv"},
    }
    project = Project.from_dict(data, tmp_path)
    assert project.as_dict()["source"] == options
    project.save(tmp_path / "project.yaml")
    again = Project.load(tmp_path / "project.yaml")
    assert again.source == project.source
    assert again.digest() == project.digest()
    plain = Project.from_dict({**data, "source": {"path": "people.csv"}}, tmp_path)
    assert plain.digest() != project.digest()
    assert plain.as_dict()["source"] == {"path": "people.csv"}
    release = velado.run(again)
    assert (release.evaluation.rows, release.evaluation.released) == (20, 20)
    with open_table(again.release_source()) as written:
        assert written.header == [f"column_{i}" for i in range(1, 5)]
        assert written.rows() == 20


def test_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("velado.release.parts._most_rows", lambda expected: 3)
    monkeypatch.setattr("velado.release.memory.bytes_of", lambda value: 1)
    (tmp_path / "people.csv").write_bytes(
        ("A title\r\n\n" + text_of(PEOPLE * 5, end="\r\n") + text_of(PEOPLE * 5)).encode("latin-1")
    )
    columns = [
        velado.Column(f"column_{i}", role)
        for i, role in enumerate(("identifier", "quasi-identifier", "quasi-identifier", "sensitive"), 1)
    ]
    source = Source(path=tmp_path / "people.csv", header=False, skip=1)
    release = velado.anonymize(
        source, columns, [velado.KAnonymity(5)], velado.Mondrian(memory="8GB"), person="rows", output=tmp_path / "out.csv"
    )
    assert release.found is None, "it was made in parts"
    assert (release.evaluation.rows, release.evaluation.released) == (40, 40)


def test_init_writes_them_and_run_reads_them(tmp_path: Path, main: Command) -> None:
    (tmp_path / "people.csv").write_text("A title\n\n" + text_of(PEOPLE * 10, ";"))
    ended = main("inspect", "people.csv", "--no-header", "--skip", "2")
    assert ended.code == 0
    assert ended.out.rstrip().endswith("Next: velado init people.csv --no-header --skip 2")
    assert main("init", "people.csv", "--no-header", "--skip", "2").code == 0
    assert "header: false, skip: 2" in (tmp_path / "people.yaml").read_text()
    project = Project.load(tmp_path / "people.yaml")
    assert (project.source.header, project.source.skip, project.source.names) == (False, 2, NAMES[0])
    written = (tmp_path / "people.yaml").read_text()
    assert all(f'"column_{i}": ' in written for i in range(1, 5))


def test_a_release_has_its_names_whatever_the_original_has(tmp_path: Path, main: Command) -> None:
    (tmp_path / "people.csv").write_text(text_of(PEOPLE * 5))
    names = [f"column_{i}" for i in range(1, 5)]
    (tmp_path / "release.csv").write_text(text_of([names, *PEOPLE * 5]))
    args = ("people.csv", "release.csv", "--qi", "column_2,column_3", "--no-header", "--json")
    ended = main("evaluate", *args)
    assert (ended.code, ended.json["rows"], ended.json["released"]) == (0, 20, 20)
    ended = main("attack", "release.csv", "--qi", "column_2", "--original", "people.csv", "--no-header", "--json")
    assert ended.code == 0


# Files that are not there


def test_where_a_file_was_looked_for(tmp_path: Path, main: Command, write_project: Any) -> None:
    for name in ("Patients.csv", "patients_old.xlsx", "readme.md", ".patients.csv"):
        (tmp_path / name).touch()
    ended = main("inspect", "patient.csv")
    assert ended.code == 2
    assert f"file not found in {tmp_path}" in ended.err
    assert "Did you mean 'Patients.csv'" in ended.err
    assert ".patients.csv" not in ended.err
    assert "readme" not in ended.err
    ended = main("inspect", "nowhere/patients.csv")
    assert f"there is no folder {tmp_path / 'nowhere'}" in ended.err
    write_project(source={"path": "sub/patients.csv"})
    ended = main("run", "project.yaml")
    assert f"there is no folder {tmp_path / 'sub'}" in ended.err
    assert "relative to its folder" in ended.err
    ended = main("run", "projct.yaml")
    assert "project file not found" in ended.err
    assert "Did you mean 'project.yaml'" in ended.err


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody without rights")
def test_no_right_to_read(tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir()
    for path in (tmp_path / "people.csv", locked / "people.csv"):
        path.write_text(text_of([NAMED, *PEOPLE]))
        path.chmod(0)
    locked.chmod(0)
    for folder in (tmp_path, *list(tmp_path.parents)[:3]):
        folder.chmod(folder.stat().st_mode | 0o011)
    try:
        os.seteuid(65534)
        for path in (tmp_path / "people.csv", locked / "people.csv", locked / "nothing.csv"):
            refused(Source(path=path), "unreadable-file", "no permission", "all folders above it")
    finally:
        os.seteuid(0)


def test_lines_that_end_in_a_carriage_return_have_a_delimiter(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(text_of([NAMED, *PEOPLE], ";", "\r").encode())
    assert read(path) == (NAMED, PEOPLE)


def test_a_line_that_is_too_long(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text(text_of([NAMED, *PEOPLE, ["Zoe", "f", "3", "x" * 10_100_000]]))
    refused(path, "unreadable-file", "line 6 is longer than the 10,000,000 bytes")
