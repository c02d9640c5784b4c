"""Only the file that was named is read, every row of it is whole, and it stays the same while it is read."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from velado import InputError
from velado.tables import open_table
from velado.tables.duckdb.table import DuckDBTable

DECOYS = {
    "data[1].csv": ["data1.csv"],
    "d*.csv": ["da.csv", "dab.csv"],
    "q?.csv": ["qa.csv"],
    "year=2020/people.csv": [],
    "[ab]/x.csv": ["a/x.csv", "b/x.csv"],
    "it's.csv": [],
    "data[1].parquet": ["data1.parquet"],
    "month=1/data.parquet": [],
}


def write(path: Path, value: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(pa.table({"who": [value]}), path)
    else:
        path.write_text(f"who\n{value}\n", encoding="utf-8")


@pytest.mark.parametrize("name", DECOYS)
def test_a_name_that_looks_like_a_pattern_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    write(tmp_path / name, "right")
    for decoy in DECOYS[name]:
        write(tmp_path / decoy, "decoy")
    monkeypatch.chdir(tmp_path)
    for path in (name, tmp_path / name):
        with open_table(path) as table:
            assert table.header == ["who"]
            assert table.count(["who"]).dictionaries == (("right",),)


def test_a_pattern_that_names_no_file_is_an_error(tmp_path: Path) -> None:
    write(tmp_path / "data1.csv", "decoy")
    for name in ("data[1].csv", "d*.csv", "*"):
        with pytest.raises(InputError, match="not found"):
            open_table(tmp_path / name)


def test_output_with_brackets(tmp_path: Path) -> None:
    from velado import Column, KAnonymity, anonymize

    folder = tmp_path / "out[1]" / "year=2020"
    folder.mkdir(parents=True)
    write(tmp_path / "people.csv", "a\na")
    anonymize(tmp_path / "people.csv", [Column("who", "quasi-identifier")], [KAnonymity(2)], output=folder / "release[2].csv")
    assert sorted(p.name for p in folder.iterdir())[0].startswith("release[2].csv")
    assert (folder / "release[2].csv").read_text().split() == ["who", "a", "a"]


@pytest.mark.own_engine
def test_the_engine_reaches_no_other_file(tmp_path: Path) -> None:
    write(tmp_path / "people.csv", "right")
    write(tmp_path / "other.csv", "decoy")
    with open_table(tmp_path / "people.csv") as table:
        for statement in (
            f"SELECT * FROM read_csv('{tmp_path / 'other.csv'}')",
            f"SELECT * FROM '{tmp_path / 'other.csv'}'",
            f"COPY (SELECT 1) TO '{tmp_path / 'written.csv'}'",
            "SET enable_external_access = true",
            "SET allowed_paths = ['/']",
        ):
            with pytest.raises(InputError):
                table.run(statement)
    assert not (tmp_path / "written.csv").exists()


RAGGED = {
    "one too many, empty": "a,b,c\n1,2,3\nSmith, John SECRET,30,flu,\n",
    "one too many, quoted empty": 'a,b,c\n1,2,3\nSmith, John SECRET,30,""\n',
    "two too many, empty": "a,b,c\n1,2,3\n4,5,6,,\n",
    "one too many": "a,b,c\n1,2,3\n4,5,6,7\n",
    "one too few": "a,b,c\n1,2,3\n4,5\n",
    "last line short": "a,b,c\n1,2,3\n4,5",
    "blank as a field": "a,b,c\n1,2,3\n  \n",
}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1"])
@pytest.mark.parametrize("text", RAGGED.values(), ids=RAGGED)
def test_a_row_with_another_number_of_fields_stops_with_its_line(tmp_path: Path, text: str, encoding: str) -> None:
    (tmp_path / "t.csv").write_bytes(text.replace("a,b", "a,ñ").encode(encoding))
    with pytest.raises(InputError) as error:
        open_table(tmp_path / "t.csv")
    assert error.value.code == "ragged-row"
    assert "line 3 has" in error.value.message
    assert "SECRET" not in str(error.value)


def test_the_line_counts_line_feeds_inside_quotes(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('a,b\n"x\ny\nz",1\n2,3,\n')
    with pytest.raises(InputError, match="line 5 has 3 fields, the header has 2"):
        open_table(tmp_path / "t.csv")


def test_unusual_delimiters_are_counted_too(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a§b\n1§2\n3§4§\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 3 has 3 fields"):
        open_table({"path": str(tmp_path / "t.csv"), "delimiter": "§"})


def test_blanks_beside_quotes_are_refused_where_readers_differ(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('a,b\n1, "x"\n2,"y"\n')
    with pytest.raises(InputError, match="column 'b': blanks"):
        open_table(tmp_path / "t.csv")
    (tmp_path / "t.csv").write_text('a,b\n1,"he said ""no"" to me"\n2,5" pipe\n')
    with open_table(tmp_path / "t.csv") as table:
        assert set(table.count(["b"]).dictionaries[0]) == {'he said "no" to me', '5" pipe'}


CHANGES = {
    "appended": lambda p: p.open("a").write("z,9\n"),
    "replaced": lambda p: (p.with_suffix(".new").write_text("a,b\nz,9\n"), os.replace(p.with_suffix(".new"), p)),
    "same size": lambda p: p.write_text(p.read_text().replace("x", "z")),
    "times turned back": lambda p: (p.write_text(p.read_text().replace("x", "z")), os.utime(p, ns=(1, 1))),
    "removed": lambda p: p.unlink(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_source_that_changes_is_noticed(tmp_path: Path, change: object) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\nx,1\n")
    os.utime(path, ns=(1, 1))
    with open_table(path) as table:
        table.check_unchanged()
        digest = table.fingerprint()
        change(path)  # type: ignore[operator]
        for ask in (table.check_unchanged, table.fingerprint):
            with pytest.raises(InputError) as error:
                ask()
            assert error.value.code in ("source-changed",)
    assert digest is not None


@pytest.mark.parametrize("verb", ["count", "write"])
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_nothing_is_published_from_a_source_that_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str, suffix: str
) -> None:
    """Whenever the change comes, before or after a step, the release of before stays."""
    from velado import Column, KAnonymity, anonymize

    source, output = tmp_path / "t.csv", tmp_path / f"out{suffix}"
    columns = [Column("a", "quasi-identifier"), Column("b", "sensitive")]
    source.write_text("a,b\n" + "x,1\ny,2\n" * 5)
    anonymize(source, columns, [KAnonymity(2)], output=output)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir() if p != source}
    step = getattr(DuckDBTable, verb)

    def changed(self: DuckDBTable, *args: object, **options: object) -> object:
        if self.source.path == source:
            text = source.read_text()
            thread = threading.Thread(target=source.write_text, args=(text.replace("x,1", "x,7", 1),))
            thread.start()
            thread.join()
        return step(self, *args, **options)

    monkeypatch.setattr(DuckDBTable, verb, changed)
    with pytest.raises(InputError, match="changed while it was read"):
        anonymize(source, columns, [KAnonymity(2)], output=output)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir() if p != source} == before
