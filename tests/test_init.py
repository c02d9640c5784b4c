"""`velado init` on tables of strangers: what it writes runs, is useful, and publishes nobody."""

from __future__ import annotations

import csv
import random
from pathlib import Path

import pyarrow as pa
import pytest

from conftest import Command
from harness.judge_hook import times
from unknown_tables import EXPECTED, STRANGERS
from velado import Project, Source, inspect_table, run
from velado.project.template import project_text
from velado.questions.suggest import Suggestion, suggest

pytestmark = pytest.mark.judged


def written(table: Path) -> tuple[Suggestion, Path]:
    """The project file of a table, as the command writes it."""
    source = Source.of(str(table))
    seen = inspect_table(source)
    found = suggest(source, inspection=seen)
    target = table.with_suffix(".yaml")
    target.write_text(project_text(seen, found, source, target), encoding="utf-8")
    return found, target


@pytest.mark.matrix(2)
@pytest.mark.parametrize("name", list(STRANGERS)[:: times(2, 1)])
def test_a_strangers_table_is_safe_and_useful_at_once(name: str, tmp_path: Path) -> None:
    table = STRANGERS[name](tmp_path)
    found, target = written(table)
    release = run(target)
    expected = EXPECTED[name]
    with release.output.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=Project.load(target).source.delimiter or ","))
    for column in expected.identifiers:
        assert {row.get(column, "*") for row in rows} == {"*"}, column
    roles = {c.name: c.spec["role"] for c in found.columns if c.kept}
    assert not [c for c in expected.hidden if roles.get(c) in ("sensitive", "insensitive")]
    assert {c for c, role in roles.items() if role == "quasi-identifier"} <= set(rows[0])
    assert all(v.satisfied for v in release.evaluation.models)
    # A release of * only would lose everything.
    assert release.evaluation.utility.loss < 0.7
    assert release.evaluation.suppressed <= 0.05 * release.evaluation.rows
    assert not any(e.is_refused for e in release.evaluation.published)


@pytest.mark.parametrize("missing", ["NA", "", "?", "-", "Não informado"])
@pytest.mark.parametrize("repeated", [False, True])
def test_missing_ids_are_no_person(missing: str, repeated: bool, tmp_path: Path) -> None:
    lot = random.Random(1)
    numbers = [f"{lot.randrange(10**8, 10**9)}" for _ in range(60)]
    with (tmp_path / "visits.csv").open("w", encoding="utf-8") as out:
        out.write("cpf,sexo,idade,diagnostico\n")
        for i in range(120):
            who = missing if i % 4 == 0 else numbers[i % 60] if repeated else f"{10**9 + i}"
            out.write(f"{who},{lot.choice('MF')},{lot.randrange(20, 60)},{lot.choice(['gripe', 'asma', 'hiv'])}\n")
    found, target = written(tmp_path / "visits.csv")
    assert found.column("cpf").spec["role"] == "identifier"
    assert found.unit == (("person", "cpf") if repeated else None)
    people = run(target).evaluation.people
    assert people["smallest_class"] >= 2 if repeated else people is None


def test_the_better_method_is_written_and_the_other_is_a_comment(tmp_path: Path) -> None:
    found, target = written(STRANGERS["titanic"](tmp_path))
    best, *others = found.trials
    assert all(best.loss <= other.loss for other in others)
    text = target.read_text(encoding="utf-8")
    assert f"\nmethod: {{{best.name.split()[0]}: " in text
    assert [f"\n# method: {{{other.name.split()[0]}: " in text for other in others] == [True, True]
    assert f"{best.loss:.1%}" in text
    assert run(target).evaluation.utility.loss == pytest.approx(best.loss)


def test_never_a_lattice_that_cannot_be_searched(tmp_path: Path) -> None:
    table = tmp_path / "wide.csv"
    with table.open("w", encoding="utf-8") as file:
        names = ["birth_year", "city", "state", "zip", "age", "sex", "race", "education", "occupation", "hire_year"]
        file.write(",".join(names) + "\n")
        for i in range(400):
            file.write(
                f"{1940 + i % 60},city {i % 37},S{i % 23},{10000 + i * 7 % 900},{20 + i % 60},{'mf'[i % 2]},"
                f"r{i % 5},e{i % 7},job {i % 31},{1990 + i % 30}\n"
            )
    found, _ = written(table)
    lattice = next(t for t in found.trials if t.name == "lattice")
    assert lattice.loss is not None or "nodes" in lattice.problem
    assert found.trials[0].loss is not None


def test_where_nothing_looks_known_something_is_protected_all_the_same(tmp_path: Path) -> None:
    table = tmp_path / "coded.csv"
    rows = "".join(f"{i % 4},{i % 3},{i % 7 % 2}\n" for i in range(300))
    table.write_text("v1,v2,v3\n" + rows, encoding="utf-8")
    _, target = written(table)
    assert run(target).evaluation.smallest_class >= 5


def test_money_hides_people_or_is_left_out(tmp_path: Path) -> None:
    found, target = written(STRANGERS["chile"](tmp_path))
    column = found.column("Sueldo bruto")
    assert column.spec["role"] == "quasi-identifier"
    assert column.kept or "left out" in column.reason
    assert not [e for e in run(target).evaluation.published if e.column == "Sueldo bruto"]


def test_columns_that_another_one_tells_are_left_out(tmp_path: Path) -> None:
    found, _ = written(STRANGERS["peru"](tmp_path))
    left = {c.name: c.reason for c in found.columns if not c.kept}
    assert {"DEPARTAMENTO", "PROVINCIA", "DISTRITO"} <= set(left)
    assert "'UBIGEO' tells it" in left["DISTRITO"]


def test_few_records_get_a_smaller_k(tmp_path: Path) -> None:
    table = tmp_path / "few.csv"
    table.write_text("age,sex\n" + "".join(f"{20 + i},{'mf'[i % 2]}\n" for i in range(12)), encoding="utf-8")
    found, target = written(table)
    assert found.models[0] == {"k-anonymity": {"k": 2}}
    assert run(target).evaluation.smallest_class >= 2


def test_the_table_is_not_changed_and_nothing_else_is_written(tmp_path: Path) -> None:
    table = STRANGERS["student"](tmp_path)
    before = table.read_bytes()
    written(table)
    assert table.read_bytes() == before
    assert {p.name for p in tmp_path.iterdir()} == {table.name, table.with_suffix(".yaml").name}


def test_a_suggestion_for_a_table_in_memory() -> None:
    people = pa.table({"age": [str(20 + i % 50) for i in range(200)], "ill": ["a", "b", "c", "d"] * 50})
    seen = inspect_table(people)
    found = suggest(people, inspection=seen)
    assert found.column("age").spec["role"] == "quasi-identifier"
    assert found.trials[0].loss is not None


@pytest.mark.parametrize("name", ["Fecha de\nnacimiento", "a\u2028b", "x\u0085y", "\u007fz", 'say "no": #1', "é" * 300])
def test_whatever_the_columns_are_called_the_project_loads(name: str, tmp_path: Path) -> None:
    table = tmp_path / "odd.csv"
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([name, "age", "sex"])
        writer.writerows([f"{1950 + i % 50}-01-01", 2026 - 1950 - i % 50, "mf"[i % 2]] for i in range(300))
    _, target = written(table)
    assert run(target).evaluation.smallest_class >= 5


def test_what_a_cell_says_is_no_line_of_the_project(tmp_path: Path) -> None:
    table = tmp_path / "ages.csv"
    odd = "Juan Perez DNI 44556677\nmodels: [{k-anonymity: {k: 1}}]"
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["age", "sex"])
        writer.writerows([20 + i % 50, "mf"[i % 2]] for i in range(300))
        writer.writerow([odd, "m"])
    _, target = written(table)
    text = target.read_text(encoding="utf-8")
    assert "Juan" not in text
    assert text.count("\nmodels:") == 1


def test_small_steps_are_numbers_in_the_file(tmp_path: Path) -> None:
    table = tmp_path / "traces.csv"
    rows = "".join(f"{20 + i % 50},{'mf'[i % 2]},{(i * 7919 % 1000) / 1e7}\n" for i in range(1000))
    table.write_text("age,sex,concentration\n" + rows, encoding="utf-8")
    _, target = written(table)
    assert run(target).evaluation.smallest_class >= 5


def test_a_word_that_is_a_category_elsewhere_is_not_missing_everywhere(tmp_path: Path) -> None:
    table = tmp_path / "smokers.csv"
    ages = ["none" if i % 97 == 0 else str(20 + i % 50) for i in range(400)]
    rows = "".join(f"{age},{'mf'[i % 2]},{'none' if i % 3 else 'daily'}\n" for i, age in enumerate(ages))
    table.write_text("age,sex,smoker\n" + rows, encoding="utf-8")
    _, target = written(table)
    assert "none" not in (Project.load(target).source.missing or ())


def test_columns_without_a_name_of_their_own_are_numbered(tmp_path: Path, main: Command) -> None:
    rows = "".join(f"{20 + i % 50},{'mf'[i % 2]},{i % 7},x{i % 3}\n" for i in range(300))
    (tmp_path / "people.csv").write_text("age,sex,Age,\n" + rows, encoding="utf-8")
    seen = main("inspect", "people.csv", "--json").json
    assert [c["name"] for c in seen["columns"]] == ["age", "sex", "Age_2", "column_4"]
    assert [note["code"] for note in seen["notes"]] == ["unnamed-column"]
    ended = main("init", "people.csv")
    assert (ended.code, "--number-names" in ended.err + ended.out) == (0, True)
    assert Project.load(tmp_path / "people.yaml").source.names == "numbered"
    assert main("run", "people.yaml").code == 0
    text = (tmp_path / "people.yaml").read_text(encoding="utf-8")
    (tmp_path / "people.yaml").write_text(text.replace(", names: numbered", ""), encoding="utf-8")
    ended = main("run", "people.yaml")
    assert (ended.code, "column 4 of the header has no name" in ended.err) == (2, True)


def test_data_that_repeat_in_the_first_line_are_no_names(tmp_path: Path, main: Command) -> None:
    rows = "".join(f"Rui{i},{20 + i % 50},{20 + i % 7},flu\n" for i in range(300))
    (tmp_path / "people.csv").write_text("Ana,34,34,flu\n" + rows, encoding="utf-8")
    for command in ("inspect", "init"):
        ended = main(command, "people.csv")
        assert (ended.code, "Ana" in ended.err + ended.out, "--no-header" in ended.err) == (2, False, True)
    assert not (tmp_path / "people.yaml").exists()
