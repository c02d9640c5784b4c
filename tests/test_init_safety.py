"""What `velado init` decides for safety, what it keeps, and what people say that wins."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from conftest import Command
from velado import Project, Source, inspect_table, run
from velado.cli.init_questions import ask
from velado.errors import InputError
from velado.project.template import project_text
from velado.questions.suggest import Suggestion, Wishes, suggest


def table(folder: Path, header: str, rows: Iterable[Sequence[Any]]) -> Path:
    """A text table of some rows."""
    path = folder / "people.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header.split())
        writer.writerows(rows)
    return path


def written(path: Path, **said: Any) -> tuple[Suggestion, Path]:
    """The project file of a table, as the command writes it."""
    source = Source.of(str(path))
    seen = inspect_table(source)
    found = suggest(source, inspection=seen, **said)
    target = path.with_suffix(".yaml")
    target.write_text(project_text(seen, found, source, target), encoding="utf-8")
    return found, target


def roles(found: Suggestion) -> dict[str, str]:
    """The roles of the columns that are kept."""
    return {c.name: c.spec["role"] + " " * ("known" in c.spec) + c.spec.get("known", "") for c in found.columns if c.kept}


def smallest_group(target: Path) -> int:
    """How many released rows at least are alike in all columns that others know or could know, counted here."""
    release = run(target)
    columns = {c.name: c for c in Project.load(target).columns}
    with release.output.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    known = [name for name in rows[0] if columns[name].known != "never" and columns[name].role != "identifier"]
    return min(Counter(tuple(row[name] for name in known) for row in rows).values())


def test_what_others_could_know_is_a_quasi_identifier_or_left_out(tmp_path: Path) -> None:
    lot = Random(1)
    rows = [
        [
            lot.randrange(18, 80),
            lot.choice("mf"),
            lot.randrange(1, 500),
            lot.randrange(900, 90000),
            f"{lot.uniform(1, 9):.4f}",
            lot.choice("ABC"),
        ]
        for _ in range(600)
    ]
    found, target = written(table(tmp_path, "age sex rank salary pace squad", rows))
    assert {roles(found).get(name, "quasi-identifier") for name in ("rank", "salary", "pace", "squad")} == {"quasi-identifier"}
    assert all("left out" in c.reason for c in found.columns if not c.kept)
    assert smallest_group(target) >= 5


def test_dates_in_parts_are_dates(tmp_path: Path) -> None:
    lot = Random(2)
    rows = [
        [
            lot.randrange(1900, 1990),
            lot.randrange(1, 13),
            lot.randrange(1, 29),
            lot.choice(["TX", "CA", "NY", "OH"]),
            lot.choice("RL"),
        ]
        for _ in range(500)
    ]
    found, target = written(table(tmp_path, "deathYear deathMonth deathDay deathState bats", rows))
    assert set(roles(found).values()) == {"quasi-identifier"}
    assert smallest_group(target) >= 5


def test_what_only_the_person_knows_is_kept_as_it_is(tmp_path: Path) -> None:
    lot = Random(3)
    names = ["age", "sex", "diagnosis", "chol", "target", *(f"q{n}" for n in range(1, 9))]
    rows = [
        [
            lot.randrange(20, 80),
            lot.choice("mf"),
            lot.choice(["flu", "asthma", "hiv"]),
            lot.randrange(150, 300),
            lot.randrange(2),
            *(lot.randrange(1, 6) for _ in range(8)),
        ]
        for _ in range(500)
    ]
    found, target = written(table(tmp_path, " ".join(names), rows))
    assert {roles(found)[name] for name in names[2:]} == {"sensitive never"}
    protected = {str(model["distinct-diversity"]["column"]) for model in found.models[1:]}
    assert "diagnosis" in protected
    assert not protected & {f"q{n}" for n in range(1, 9)}, "nobody is asked for all answers"
    assert {c.known for c in Project.load(target).columns if c.name in names[2:]} == {"never"}
    assert smallest_group(target) >= 5


def test_an_outcome_that_others_see_is_not_called_a_secret(tmp_path: Path) -> None:
    lot = Random(4)
    rows = [[lot.randrange(20, 60), lot.choice("mf"), lot.choice(["Yes", "No"])] for _ in range(900)]
    found, target = written(table(tmp_path, "age sex Attrition", rows))
    assert roles(found)["Attrition"] == "quasi-identifier"
    assert smallest_group(target) >= 5


def test_a_model_that_multiplies_the_loss_is_a_comment(tmp_path: Path) -> None:
    lot = Random(5)
    rows = []
    for _ in range(800):
        grade = lot.choice(("clerk", "guard", "medic", "pilot"))
        # Within a grade the way of paying is always the same.
        rows.append([lot.randrange(20, 60), grade, "monthly" if grade in ("clerk", "medic") else "hourly"])
    found, target = written(table(tmp_path, "age job salary_kind", rows))
    assert roles(found)["salary_kind"] == "sensitive never"
    assert [model for model in found.models if "distinct-diversity" in model] == []
    ((model, reason),) = found.without
    assert (model["distinct-diversity"]["column"], "costs" in reason) == ("salary_kind", True)
    assert "# - {distinct-diversity: {l: 2, column: " in target.read_text(encoding="utf-8")
    assert run(target).evaluation.utility.loss < 0.2


def test_one_odd_value_does_not_demote_a_column(tmp_path: Path) -> None:
    lot = Random(6)
    rows = [[lot.randrange(18, 90), lot.randrange(1930, 2000), lot.choice("mf"), lot.choice("NSEW")] for _ in range(600)]
    rows[7][0], rows[9][0], rows[11][0], rows[30][1] = "01.08", "Unknown", "Unknown", 1193
    found, target = written(table(tmp_path, "age born sex region", rows))
    for name in ("age", "born"):
        assert found.column(name).kept
        assert "intervals" in found.column(name).spec["hierarchy"], name
    assert set(Project.load(target).source.missing) == {"01.08", "Unknown", "1193"}
    assert all("1193" not in c.reason and "01.08" not in c.reason for c in found.columns)
    assert run(target).evaluation.utility.loss < 0.3


def test_copies_of_rows_are_no_people(tmp_path: Path) -> None:
    lot = Random(7)
    people = [[lot.randrange(30, 70), lot.choice("mf"), *(lot.randrange(90, 300) for _ in range(4))] for _ in range(200)]
    rows = [*people, *(lot.choice(people) for _ in range(500))]
    path = table(tmp_path, "age sex chol glucose insulin sodium", rows)
    found, target = written(path)
    assert "500 of 700 rows are copies" in target.read_text(encoding="utf-8")
    assert found.k > 5
    original = {tuple(map(str, row)) for row in people}
    project = Project.load(target)
    release = run({**project.as_dict(), "source": str(path), "output": {"path": str(tmp_path / "o.csv"), "order": "keep"}})
    with release.output.open(encoding="utf-8", newline="") as file:
        released = [(row["age"], row["sex"]) for row in csv.DictReader(file)]
    classes: dict[tuple[str, str], set[tuple[str, ...]]] = {}
    for row, shown in zip(rows, released, strict=True):
        classes.setdefault(shown, set()).add(tuple(map(str, row)))
    assert set().union(*classes.values()) == original
    assert min(map(len, classes.values())) >= 5
    assert written(path, copies=False)[0].k == 5


def test_people_who_are_alike_are_no_copies(tmp_path: Path) -> None:
    lot = Random(8)
    rows = [[lot.randrange(30, 60), lot.choice("mf"), lot.choice("NSEW"), lot.choice("ABC")] for _ in range(900)]
    found, _ = written(table(tmp_path, "age sex region group", rows))
    assert (found.k, found.remarks) == (5, ())


def test_where_ids_repeat_they_are_the_people(tmp_path: Path) -> None:
    lot = Random(9)
    rows = [
        [f"K{n:06d}" if n % 50 else "NA", lot.randrange(30, 80), lot.choice("DR"), year]
        for n in range(150)
        for year in (2001, 2003, 2005)
    ]
    found, target = written(table(tmp_path, "bioguide age party year", rows))
    assert found.unit == ("person", "bioguide")
    assert run(target).evaluation.people["smallest_class"] >= 5


SAID = {"k": 3, "qi": "AGE,sex", "sensitive": ["diagnosis"], "never": "meas_*", "drop": "a,b", "person": "id"}


def people(folder: Path) -> Path:
    lot = Random(10)
    rows = [
        [
            f"p{n // 2:05d}",
            lot.randrange(20, 60),
            lot.choice("mf"),
            lot.choice(["flu", "hiv"]),
            lot.randrange(9),
            lot.randrange(9),
            1,
            2,
            lot.choice("xyz"),
        ]
        for n in range(400)
    ]
    return table(folder, "id age sex diagnosis meas_1 meas_2 a b team", rows)


def test_what_people_say_wins(tmp_path: Path, main: Command) -> None:
    found, target = written(people(tmp_path), **SAID)
    kept = roles(found)
    assert (kept["age"], kept["sex"], kept["diagnosis"]) == ("quasi-identifier", "quasi-identifier", "sensitive")
    assert (kept["meas_1"], kept["meas_2"], kept["id"]) == ("sensitive never", "sensitive never", "identifier")
    assert not {"a", "b"} & set(kept)
    assert (found.models[0], found.unit) == ({"k-anonymity": {"k": 3}}, ("person", "id"))
    by_python = target.read_text(encoding="utf-8")
    options = [f"--{key}={','.join(said) if isinstance(said, list) else said}" for key, said in SAID.items()]
    ended = main("init", "people.csv", "--force", *options)
    assert (ended.code, target.read_text(encoding="utf-8")) == (0, by_python)
    assert main("run", "people.yaml").code == 0


def test_names_that_are_not_there_are_refused(tmp_path: Path, main: Command) -> None:
    people(tmp_path)
    for options, near in {
        ("--qi", "agee"): "'age'",
        ("--drop", "mees_1"): "'meas_1'",
        ("--person", "idd"): "'id'",
        ("--never", "zip_*"): "",
    }.items():
        ended = main("init", "people.csv", *options)
        assert (ended.code, "unknown-column" in ended.err or "has no column" in ended.err, near in ended.err) == (2, True, True)
    ended = main("init", "people.csv", "--qi", "age", "--drop", "a*")
    assert (ended.code, "two things" in ended.err) == (2, True)
    assert not (tmp_path / "people.yaml").exists()
    with pytest.raises(InputError):
        Wishes.of(1)


def test_questions_are_asked_once_for_many_columns(tmp_path: Path) -> None:
    source = Source.of(str(people(tmp_path)))
    seen = inspect_table(source)
    asked: list[str] = []

    def answers(*given: str) -> Any:
        left = list(given)

        def read(question: str) -> str:
            asked.append(question)
            if not left:
                raise EOFError
            return left.pop(0)

        return read

    assert ask(seen, source, Wishes(), answers()) == Wishes()
    assert len(asked) == 2, "one for all columns that others could know, one for the person"
    assert ask(seen, source, Wishes(), answers("mees_1", "meas_*,team", "n")) == Wishes(
        never=("meas_1", "meas_2", "team"), person="rows"
    )
    everything = ask(seen, source, Wishes(drop=("meas_1",)), answers("no", "maybe", "")).never
    assert ("meas_1" in everything, {"meas_2", "team"} <= set(everything)) == (False, True)


def test_nobody_is_asked_where_nobody_is(tmp_path: Path, main: Command) -> None:
    people(tmp_path)
    ended = main("init", "people.csv")
    assert (ended.code, "?" in ended.out) == (0, False)


def test_fields_between_spaces(tmp_path: Path) -> None:
    lot = Random(11)
    lines = (f"A1{lot.randrange(1, 5)} {lot.randrange(4, 60)} A3{lot.randrange(5)} {lot.randrange(19, 75)}\n" for _ in range(50))
    (tmp_path / "german.data").write_text("".join(lines), encoding="utf-8")
    seen = inspect_table(Source(path=tmp_path / "german.data", header=False))
    assert (len(seen.columns), seen.dialect["delimiter"]) == (4, " ")
    words = "".join(f"the cat {n} sat on it\n" for n in range(50))
    (tmp_path / "notes.txt").write_text("note\n" + words, encoding="utf-8")
    assert len(inspect_table(Source(path=tmp_path / "notes.txt")).columns) == 1


def test_a_private_column_whose_values_tell_apart_is_tried_as_a_quasi_identifier() -> None:
    """Six people, six illnesses: nobody can be hidden with them, and that is said."""
    table = pa.table({"age": ["21", "22", "23", "41", "42", "43"], "illness": ["flu", "gout", "lupus", "asthma", "mumps", "acne"]})
    found = suggest(table)
    assert list(found.kept) == ["age"]
    assert "left out" in found.column("illness").reason
