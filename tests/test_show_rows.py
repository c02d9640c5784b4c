"""``run --show``: the first rows before and after, without identifiers."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml

from conftest import Command
from velado.project import Project
from velado.questions.rows import rows_after, rows_before


def words(text: str) -> set[str]:
    return set(text.split())


@pytest.mark.parametrize("output", ["out.csv", "out.parquet", "out.xlsx"])
def test_rows_before_and_after(output: str, write_project, main: Command, patients: pa.Table, tmp_path: Path) -> None:
    write_project(output={"path": output})
    ended = main("run", "project.yaml", "--show", "3")
    assert ended.code == 0
    before, after = ended.out.split("Before, the first 3 rows")[1].split("After, the first 3 rows")
    rows = patients.to_pylist()
    for row in rows[:3]:
        assert {row["birth_date"], row["postal_code"], str(row["cost"])} <= words(before)
    # Identifiers are nowhere, and rows of the source are not among those of the release.
    shown = words(before) | words(after)
    assert not shown & {row["national_id"] for row in rows}
    assert not [row["name"] for row in rows if row["name"] in ended.out]
    assert "may identify people: name, national_id" in before
    assert "they do not correspond" in after
    released = rows_after(Project.load(tmp_path / "project.yaml"), 3)
    assert {cell for row in released.rows for cell in row if cell} <= {*after.split(), *(c for c in _cells(after))}
    assert not {row["birth_date"] for row in rows} & words(after)


def _cells(text: str) -> list[str]:
    return [cell.strip() for line in text.splitlines() for cell in line.split("  ") if cell.strip()]


@pytest.mark.parametrize(
    ("language", "told"), [("es", "Las filas publicadas están ordenadas"), ("pt", "As linhas publicadas estão ordenadas")]
)
def test_the_order_is_told(language: str, told: str, write_project, main: Command, tmp_path: Path) -> None:
    write_project(output={"path": "out.csv", "order": "sorted"})
    ended = main("run", "project.yaml", "--show", "2", "--language", language)
    assert told in ended.out
    with open(tmp_path / "out.csv", encoding="utf-8", newline="") as stream:
        first = [row for _, row in zip(range(2), csv.DictReader(stream), strict=False)]
    shown = rows_after(Project.load(tmp_path / "project.yaml"), 2)
    assert [dict(zip(shown.columns, row, strict=True)) for row in shown.rows] == first


def test_light_and_several_tables(tmp_path: Path, main: Command) -> None:
    """Columns that are treated as identifiers are hidden before, whatever role they have; rounded ones are shown."""
    tables: dict[str, Any] = {}
    for name in ("wards", "visits"):
        (tmp_path / f"{name}.csv").write_text(f"nick,cost,secret\n{name}-Ana,104,x9y9\n{name}-Eva,215,z8z8\n", encoding="utf-8")
        tables[name] = {
            "source": f"{name}.csv",
            "columns": {"nick": {"operation": {"mask": {"keep": 1}}}, "cost": {"operation": {"round": 10}}},
            "rest": "drop",
            "output": f"{name}_out.csv",
        }
    described = {"protection": "operations", "tables": tables}
    (tmp_path / "light.yaml").write_text(yaml.safe_dump(described), encoding="utf-8")
    ended = main("run", "light.yaml", "--show", "5")
    assert ended.code == 0, ended.err
    for name in tables:
        before = ended.out.split(f"Before: {name}, the first 2 rows")[1].split("After:")[0]
        assert {"104", "215"} <= words(before)
        assert "may identify people: nick, secret" in before
        after = ended.out.split(f"After: {name}, the first 2 rows")[1].split("Before:")[0]
        assert {"100", "220"} <= words(after)
    for secret in ("-Ana", "-Eva", "x9y9", "z8z8"):
        assert secret not in ended.out


def test_who_is_meant_is_hidden_even_if_its_role_is_another(tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text("who,age\nA1,30\nA1,31\n", encoding="utf-8")
    columns = {"who": {"role": "insensitive", "exposure": "accepted"}, "age": "quasi-identifier"}
    described = {"source": "visits.csv", "person": "who", "columns": columns, "models": [{"k-anonymity": {"k": 2}}]}
    (tmp_path / "visits.yaml").write_text(yaml.safe_dump(described), encoding="utf-8")
    shown = rows_before(Project.load(tmp_path / "visits.yaml"), 5)
    assert shown.columns == ("age",)
    assert shown.rows == (("30",), ("31",))
    assert "30" not in repr(shown)


def test_rows_and_json_do_not_go_together(write_project, main: Command, tmp_path: Path) -> None:
    write_project()
    ended = main("run", "project.yaml", "--show", "3", "--json")
    assert ended.code == 2
    assert ended.json["error"]["code"] == "bad-option"
    assert not (tmp_path / "out.csv").exists()
