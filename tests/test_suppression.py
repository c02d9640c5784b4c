"""Suppression limits as a number of records: the same as the share that allows as many, everywhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import velado
from conftest import Command
from harness.judge_hook import times
from random_tables import Small, small_tables
from velado import Column, InputError, KAnonymity, Lattice, NoSolution, anonymize, compare
from velado.frequency import FrequencyTable
from velado.i18n import Language
from velado.methods import METHODS, method_from
from velado.parameters import records_of
from velado.project import Project
from velado.report.chapters.subject import limit_in_words

pytestmark = pytest.mark.judged


def found(frequency: FrequencyTable, name: str, limit: Any, given: dict[str, Any]) -> Any:
    try:
        node = method_from(name, {**given, "suppression": limit}).search(frequency, [KAnonymity(3)])
    except NoSolution:
        return None
    return node.levels, node.suppressed_records


@settings(max_examples=times(25, 400), deadline=None)
@given(
    table=small_tables(most_rows=20),
    most=st.integers(0, 25),
    name=st.sampled_from(["lattice", "samarati", "datafly", "incognito", "fixed"]),
)
def test_a_number_allows_as_much_as_the_share_that_is_as_many_records(table: Small, most: int, name: str) -> None:
    frequency = table.frequency()
    given: dict[str, Any] = {"levels": dict.fromkeys(table.qi, 0)} if name == "fixed" else {}
    counted = found(frequency, name, f"{most} records", given)
    assert counted == found(frequency, name, min(1.0, most / frequency.records), given)
    assert counted is None or counted[1] <= most


def test_every_method_that_may_suppress_takes_a_number() -> None:
    given: dict[str, dict[str, Any]] = {"fixed": {"levels": {"age": 0}}}
    limited = [name for name, method in METHODS.items() if "suppression" in method.parameters]
    assert set(limited) >= {"lattice", "samarati", "datafly", "incognito", "fuzzy", "fixed"}
    for name in limited:
        assert method_from(name, {**given.get(name, {}), "suppression": "3 records"}).suppression == "3 records"


@pytest.mark.parametrize("limit", [3, 1.5, -0.1, "3", "-1 records", "3.5 records", "03 records", "records", "3 people", None, True])
def test_what_is_neither_a_share_nor_a_number_of_records_is_refused(limit: Any) -> None:
    with pytest.raises(InputError, match="a share from 0 to 1, or a number of records such as '3 records'"):
        Lattice(suppression=limit)
    assert records_of(limit) is None


def people() -> pa.Table:
    """Three ages that occur twice and one that occurs once."""
    return pa.table({"age": ["31", "31", "32", "32", "45", "45", "99"]})


AGE = Column("age", "quasi-identifier", hierarchy={"rows": [["31"], ["32"], ["45"], ["99"]], "top": False})


def test_the_message_says_how_many_records() -> None:
    assert anonymize(people(), [AGE], [KAnonymity(2)], Lattice(suppression="1 record")).evaluation.suppressed == 1
    with pytest.raises(NoSolution) as error:
        anonymize(people(), [AGE], [KAnonymity(2)], Lattice(suppression="0 records"))
    assert "when at most 0 record(s) may be suppressed" in str(error.value)
    assert "a lo sumo 0 registro(s)" in error.value.text("es")
    assert error.value.fields["allowed"] == "0 records"


def test_a_person_with_several_rows_is_suppressed_with_all_of_them() -> None:
    visits = people().append_column("who", pa.array(["a", "a", "b", "c", "d", "e", "f"]))
    columns = [AGE, Column("who", "identifier", operation="drop")]
    # The two rows of 31 are one person: three records have to go.
    release = anonymize(visits, columns, [KAnonymity(2)], Lattice(suppression="3 records"), person="who")
    assert release.evaluation.suppressed == 3
    with pytest.raises(NoSolution):
        anonymize(visits, columns, [KAnonymity(2)], Lattice(suppression="2 records"), person="who")


def test_samarati_without_suppression_takes_models_that_are_only_monotone(write_project, main: Command) -> None:
    models = [{"t-closeness": {"t": 0.9, "column": "diagnosis"}}]
    write_project(models=models, method={"samarati": {"suppression": "0 records"}})
    assert main("run", "project.yaml", "--json").code == 0
    write_project(models=models, method={"samarati": {"suppression": "3 records"}})
    assert "not monotone when records are suppressed" in main("run", "project.yaml").err


def test_project_manifest_and_report_keep_the_number(write_project, tmp_path: Path) -> None:
    path = write_project(method={"lattice": {"suppression": "30 records"}})
    release = velado.run(path)
    assert release.evaluation.suppressed <= 30
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text(encoding="utf-8"))
    assert manifest["method"]["lattice"]["suppression"] == "30 records"
    assert Project.load(path).method == Lattice(suppression="30 records")
    (book,) = velado.write_report(path, tmp_path / "report.xlsx", language="pt", formats=("xlsx",))
    texts = {cell.value for sheet in openpyxl.load_workbook(book) for row in sheet.iter_rows() for cell in row}
    assert limit_in_words("30 records", Language("pt")) == "registros: 30"
    assert "registros: 30" in texts


def test_several_tables_have_limits_of_their_own(tmp_path: Path) -> None:
    tables = {}
    for name, limit in (("one", "0 records"), ("two", "1 record")):
        lines = [f"age_{name}", *people()["age"].to_pylist()]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        tables[name] = {
            "source": f"{name}.csv",
            "columns": {f"age_{name}": {"role": "quasi-identifier", "hierarchy": {"intervals": [100]}}},
            "method": {"lattice": {"suppression": limit}},
            "output": f"{name}_out.csv",
        }
    described = {"models": [{"k-anonymity": {"k": 2}}], "tables": tables}
    (tmp_path / "both.yaml").write_text(yaml.safe_dump(described), encoding="utf-8")
    releases = velado.run(tmp_path / "both.yaml")
    assert [r.evaluation.suppressed for r in releases.tables.values()] == [0, 1]


def test_comparing_numbers_and_shares(write_project, main: Command, tmp_path: Path) -> None:
    write_project()
    asked = ("compare", "project.yaml", "--suppression", "0.1,39..40 records")
    settings = main(*asked, "--json").json["settings"]
    assert [s["parameters"]["suppression"] for s in settings] == [0.1, "39 records", "40 records"]
    # A tenth of 400 records.
    assert settings[0]["evaluation"] == settings[2]["evaluation"]
    assert "suppression=39 records" in main(*asked, "-o", "compared").out
    compared = compare(Project.load(tmp_path / "project.yaml"), {"suppression": ["0 records", 1.0]})
    assert compared.settings[0].evaluation is not None
    assert compared.settings[0].evaluation.suppressed == 0
    assert main("compare", "project.yaml", "--suppression", "three records").code == 2


def test_much_suppression_is_told_to_those_who_did_not_say_how_much() -> None:
    people = pa.table({"age": [*("20", "30") * 40, *map(str, range(40, 60))]})
    age = {"age": {"role": "quasi-identifier"}}
    (note,) = anonymize(people, age, {"k-anonymity": {"k": 5}}).notes
    assert (note.code, "20 of 100 records (20%)" in note.message) == ("much-suppressed", True)
    assert anonymize(people, age, {"k-anonymity": {"k": 5}}, {"lattice": {"suppression": 0.5}}).notes == ()
