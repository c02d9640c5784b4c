"""The commands as people and programs use them: what they print, write and return."""

import json
import os
import pty
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml
from fsspec.registry import _registry as file_systems

import velado
import velado.appointments.exact.solver
import velado.client
import velado.evaluation.learning
from case_loop import failures
from conftest import VELADO, Command
from velado import InputError
from velado.cli.commands import COMMANDS, load
from velado.errors import EXTRAS
from velado.samples import DIAGNOSES

FIELDS = [
    "schema",
    "project",
    "levels",
    "rows",
    "released",
    "suppressed",
    "starred",
    "classes",
    "class_size",
    "utility",
    "risk",
    "models",
    "columns",
    "published",
    "exposure",
    "output",
    "manifest",
    "notes",
    "search",
]
RISK = ["highest", "average", "at_risk", "singled_out_before", "singled_out_after", "smaller_than_k_before", "smaller_than_k_after"]
SEARCH = ["nodes", "evaluated", "proven_optimal", "gap", "seconds"]


def identifiers(patients: pa.Table) -> list[str]:
    return patients["name"].to_pylist() + patients["national_id"].to_pylist()


# run


def test_run_json_is_the_contract(write_project, shell: Command, tmp_path: Path) -> None:
    write_project(models=[{"k-anonymity": {"k": 5}}, {"distinct-diversity": {"l": 2, "column": "diagnosis"}}])
    ended = shell("run", "project.yaml", "--json")
    assert (ended.code, ended.err) == (0, "")
    shown = ended.json
    assert list(shown) == FIELDS
    assert shown["project"] == "patients"
    assert shown["rows"] == 400 == shown["released"] + shown["suppressed"]
    assert list(shown["levels"]) == ["birth_date", "sex", "postal_code"]
    assert list(shown["class_size"]) == ["min", "max", "mean"]
    assert shown["class_size"]["min"] >= 5
    assert {"loss", "precision", "discernibility", "average_class_size"} <= set(shown["utility"])
    assert list(shown["risk"]) == RISK
    assert [list(m) for m in shown["models"]] == [["name", "required", "achieved", "satisfied"]] * 2
    assert [m["name"] for m in shown["models"]] == ["k-anonymity", "distinct-diversity"]
    assert all(m["satisfied"] for m in shown["models"])
    assert list(shown["search"]) == SEARCH
    assert shown["search"]["proven_optimal"] is True
    released = (tmp_path / shown["output"]).read_text(encoding="utf-8").splitlines()
    assert len(released) == 1 + shown["released"]
    manifest = json.loads((tmp_path / shown["manifest"]).read_text(encoding="utf-8"))
    assert manifest["recoding"]["levels"] == shown["levels"]


@pytest.mark.parametrize(
    "method", ["samarati", "datafly", "incognito", {"fixed": {"levels": {"birth_date": 3, "sex": 1, "postal_code": 5}}}], ids=str
)
def test_run_json_is_the_same_for_every_method(method, write_project, main: Command) -> None:
    write_project(method=method)
    ended = main("run", "project.yaml", "--json")
    assert ended.code == 0
    assert list(ended.json) == FIELDS
    assert list(ended.json["search"]) == SEARCH


def test_run_lists_minimal_nodes_on_request(write_project, main: Command) -> None:
    write_project(method={"lattice": {"suppression": 0.1, "minimal": True}})
    ended = main("run", "project.yaml", "--json")
    assert list(ended.json) == [*FIELDS, "minimal"]
    assert ended.json["minimal"]


def test_run_for_people(write_project, main: Command, patients: pa.Table) -> None:
    write_project()
    ended = main("run", "project.yaml")
    assert (ended.code, ended.err) == (0, "")
    for expected in ("patients: ", "of 400 records released", "k-anonymity", "holds", "optimum proven", "birth_date"):
        assert expected in ended.out
    for file in ("out.csv", "out.csv.manifest.json"):
        assert re.search(rf" {file}$", ended.out, re.MULTILINE)
    assert "\x1b" not in ended.out
    assert not [v for v in identifiers(patients) if v in ended.out]


def test_run_reads_json_projects(write_project, main: Command, tmp_path: Path) -> None:
    project = yaml.safe_load(write_project().read_text())
    (tmp_path / "project.json").write_text(json.dumps(project))
    assert main("run", "project.json", "--json").code == 0


def test_paths_are_relative_to_the_project(write_project, main: Command, tmp_path: Path) -> None:
    write_project()
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    for name in ("patients.csv", "project.yaml"):
        (tmp_path / name).rename(folder / name)
    assert main("run", "elsewhere/project.yaml").code == 0
    assert sorted(p.name for p in folder.iterdir()) == sorted(
        ["patients.csv", "project.yaml", "out.csv", "out.csv.manifest.json", "out.csv.private.json"]
    )
    assert [p.name for p in tmp_path.iterdir()] == ["elsewhere"]


def test_progress_is_drawn_on_a_terminal_only(write_project, environment: dict, tmp_path: Path) -> None:
    """That a pipe gets nothing is part of the other tests: their standard error is empty."""
    write_project()
    terminal, side = pty.openpty()
    process = subprocess.Popen(
        [VELADO, "run", "project.yaml", "--json"], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=side
    )
    os.close(side)
    drawn = b""
    try:
        while part := os.read(terminal, 65536):
            drawn += part
    except OSError:
        pass  # the process has ended
    finally:
        os.close(terminal)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert list(json.loads(out)) == FIELDS
    assert b"starting" in drawn
    assert b"searching" in drawn


# check


def test_check_json(write_project, main: Command) -> None:
    write_project()
    ended = main("check", "patients.csv", "--qi", "sex,city", "--sensitive", "diagnosis,cost", "--json")
    assert (ended.code, ended.err) == (0, "")
    shown = ended.json
    assert list(shown) == ["schema", "rows", "classes", "class_size", "k", "risk", "l", "sensitive", "variants"]
    assert shown["rows"] == 400
    assert shown["k"] == shown["class_size"]["min"]
    assert list(shown["risk"]) == RISK
    assert list(shown["sensitive"]) == ["diagnosis", "cost"]
    assert {"l_distinct", "l_entropy", "c", "t_equal", "t_ordered", "delta", "beta", "alpha"} <= set(
        shown["sensitive"]["diagnosis"]
    )


def test_check_agrees_with_plain_counting(write_project, main: Command, patients: pa.Table) -> None:
    write_project()
    shown = main("check", "patients.csv", "--qi", "sex,city", "--sensitive", "diagnosis", "--json").json
    classes: dict[tuple, list] = {}
    for row in patients.to_pylist():
        classes.setdefault((row["sex"], row["city"]), []).append(row["diagnosis"])
    assert shown["classes"] == len(classes)
    assert shown["k"] == min(map(len, classes.values()))
    assert shown["sensitive"]["diagnosis"]["l_distinct"] == min(len(set(c)) for c in classes.values())
    assert shown["risk"]["singled_out_after"] == sum(len(c) == 1 for c in classes.values())


def test_check_for_people(write_project, main: Command, tmp_path: Path) -> None:
    write_project()
    rows = [(d, group, chapter) for chapter, groups in DIAGNOSES.items() for group, ds in groups.items() for d in ds]
    (tmp_path / "tree.csv").write_text("".join(f"{d};{group};{chapter};*\n" for d, group, chapter in rows))
    args = ("check", "patients.csv", "--qi", "sex", "--sensitive", "diagnosis", "--tree", "diagnosis=tree.csv")
    ended = main(*args)
    assert (ended.code, ended.err) == (0, "")
    for expected in ("patients.csv: 400 records in 2 classes", "k = ", "diagnosis", "hierarchical distance"):
        assert expected in ended.out


# inspect and init


def test_inspect_json(write_project, main: Command, patients: pa.Table) -> None:
    write_project()
    ended = main("inspect", "patients.csv", "--json")
    assert (ended.code, ended.err) == (0, "")
    shown = ended.json
    assert shown["rows"] == 400
    assert shown["dialect"] == {"delimiter": ",", "quote": '"', "encoding": "utf-8"}
    assert {c["name"]: (c["type"], c["role"]) for c in shown["columns"]} == {
        "name": ("text", "identifier"),
        "national_id": ("text", "identifier"),
        "birth_date": ("date", "quasi-identifier"),
        "sex": ("text", "quasi-identifier"),
        "postal_code": ("text", "quasi-identifier"),
        "city": ("text", "quasi-identifier"),
        "marital_status": ("text", "quasi-identifier"),
        "diagnosis": ("text", "sensitive"),
        "cost": ("number", "sensitive"),
    }
    assert all(c["reason"] for c in shown["columns"])
    assert all(list(c) == ["columns", "singled_out"] for c in shown["combinations"])
    assert not [v for v in identifiers(patients) if v in ended.out]


def test_inspect_for_people(write_project, main: Command, patients: pa.Table) -> None:
    write_project()
    ended = main("inspect", "patients.csv")
    assert (ended.code, ended.err) == (0, "")
    for column in patients.column_names:
        assert re.search(rf"^{column} ", ended.out, re.MULTILINE)
    for expected in ("400 records, 9 columns", "%Y-%m-%d", "quasi-identifier", "velado init patients.csv"):
        assert expected in ended.out
    assert not [v for v in identifiers(patients) if v in ended.out]


def test_inspect_cuts_no_word_in_eighty_columns(write_project, main: Command) -> None:
    """The width of an ordinary terminal, and of a pipe."""
    write_project()
    ended = main("inspect", "patients.csv", columns=80)
    assert "quasi-identifier" in ended.out
    assert "marital_status" in ended.out


@pytest.mark.parametrize("name", ["[red]colour", "[b]", "a\\[b]"])
def test_names_that_look_like_markup_are_shown_as_they_are(name: str, main: Command, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(f"{name},age\n" + "x,1\ny,2\n" * 9)
    assert name in main("inspect", "table.csv").out
    assert f"{name} (sensitive)" in main("check", "table.csv", "--qi", "age", "--sensitive", name).out


def test_init_writes_a_project_that_runs(write_project, main: Command, tmp_path: Path) -> None:
    write_project()
    (tmp_path / "project.yaml").unlink()
    ended = main("init", "patients.csv")
    assert (ended.code, ended.err) == (0, "")
    assert "patients.yaml" in ended.out
    text = (tmp_path / "patients.yaml").read_text(encoding="utf-8")
    comments = "\n".join(line for line in text.splitlines() if line.lstrip().startswith("#"))
    for role in ("identifier", "quasi-identifier", "sensitive", "insensitive"):
        assert f"{role} (" in comments
    assert "its name" in comments
    ended = main("run", "patients.yaml", "--json")
    assert (ended.code, ended.err) == (0, "")
    assert ended.json["output"] == "patients_anonymous.csv"
    assert (tmp_path / "patients_anonymous.csv").exists()


def test_init_shows_nobody(write_project, main: Command, tmp_path: Path, patients: pa.Table) -> None:
    write_project()
    assert main("init", "patients.csv").code == 0
    text = (tmp_path / "patients.yaml").read_text(encoding="utf-8")
    assert not [v for v in identifiers(patients) if v in text]


def test_init_refuses_to_overwrite(write_project, main: Command, tmp_path: Path) -> None:
    write_project()
    (tmp_path / "patients.yaml").write_text("mine")
    ended = main("init", "patients.csv")
    assert ended.code == 2
    assert "patients.yaml" in ended.err
    assert "--force" in ended.err
    assert (tmp_path / "patients.yaml").read_text() == "mine"
    assert main("init", "patients.csv", "--output", "other.yaml").code == 0
    assert main("init", "patients.csv", "--force").code == 0
    assert (tmp_path / "patients.yaml").read_text() == (tmp_path / "other.yaml").read_text()


ODD_NAMES = [["1", "no", "null", "a: b", "#x"], ["1.5", "it's", "{x}", "[x]", "- x"], ["2020-01-01", "*", "<<", "ñandú", "a\\b"]]
"""Names that YAML would read as something else; with several numbers or dates, a first line would look like data."""


@pytest.mark.parametrize("names", ODD_NAMES, ids=lambda names: names[0])
def test_init_quotes_every_column_name(names: list[str], main: Command, tmp_path: Path) -> None:
    """Whatever YAML would make of it, the name of a column stays its name."""
    rows = [[f"{letter}{n}" for n in range(len(names))] for letter in "xy"]
    table = [[*names, "zip"], *[[*rows[0], "08001"], [*rows[1], "08002"]] * 9]
    (tmp_path / "table.csv").write_text("".join(",".join(row) + "\n" for row in table), encoding="utf-8")
    assert main("init", "table.csv").code == 0
    written = (tmp_path / "table.yaml").read_text(encoding="utf-8")
    # Nothing says what the columns are: their owner takes the signs of comments away.
    decided = re.sub(r"^  # (?=.*\{role: )", "  ", written, flags=re.MULTILINE)
    (tmp_path / "table.yaml").write_text(decided, encoding="utf-8")
    assert {c.name for c in velado.Project.load(tmp_path / "table.yaml").columns} == {*names, "zip"}
    for text in (written, decided):
        (tmp_path / "table.yaml").write_text(text, encoding="utf-8")
        assert main("run", "table.yaml", "--json").code == 0


@pytest.mark.parametrize(("delimiter", "encoding"), [(";", "latin-1"), ("\t", "utf-8"), ("|", "utf-16")])
def test_init_remembers_how_the_table_is_read(
    delimiter: str, encoding: str, main: Command, tmp_path: Path, patients_csv: str
) -> None:
    rows = [row.split(",") for row in patients_csv.splitlines()]
    some = [rows[0].index(name) for name in ("name", "sex", "postal_code")]
    table = "".join(delimiter.join(row[i] for i in some) + "\n" for row in rows)
    (tmp_path / "table.csv").write_text(table, encoding=encoding)
    assert main("init", "table.csv").code == 0
    ended = main("run", "table.yaml", "--json")
    assert (ended.code, ended.json["rows"]) == (0, 400)


# demo


def test_demo(main: Command, tmp_path: Path) -> None:
    ended = main("demo", "--folder", "sample")
    assert (ended.code, ended.err) == (0, "")
    for expected in ("5,000 synthetic hospital patients", "of 5,000 records released", "holds"):
        assert expected in ended.out
    assert {p.name for p in (tmp_path / "sample").iterdir()} == {
        "hospital.yaml",
        "patients.csv",
        "patients_anonymous.csv",
        "patients_anonymous.csv.manifest.json",
        "patients_anonymous.csv.private.json",
    }
    for file in ("hospital.yaml", "patients_anonymous.csv", "patients_anonymous.csv.manifest.json"):
        assert f"sample/{file}" in ended.out


def test_demo_json(main: Command) -> None:
    ended = main("demo", "--json")
    assert (ended.code, ended.err) == (0, "")
    assert list(ended.json) == [name for name in FIELDS if name != "notes"]
    assert ended.json["rows"] == 5000


# hierarchy

HIERARCHIES = {
    "postal_code": {"mask": "right"},
    "birth_date": {"dates": ["month", "year", "decade"]},
    "diagnosis": {"tree": DIAGNOSES},
    "cost": {"intervals": [100, 1000, 10000]},
    "sex": {"groups": {"some; body": ["female"], 'some "one"': ["male"]}},
}


@pytest.mark.parametrize("column", HIERARCHIES)
def test_exported_hierarchy_is_the_same_when_read_again(column: str, write_project, main: Command, tmp_path: Path):
    role = {"role": "quasi-identifier"}
    project = write_project(columns={column: {**role, "hierarchy": HIERARCHIES[column]}})
    wanted = velado.questions.project_hierarchy(project, column)
    ended = main("hierarchy", "project.yaml", column, "--output", "exported.csv")
    assert (ended.code, ended.err) == (0, "")
    assert "exported.csv" in ended.out
    (tmp_path / "printed.csv").write_text(main("hierarchy", "project.yaml", column).out, encoding="utf-8")
    for file in ("exported.csv", "printed.csv"):
        write_project(columns={column: {**role, "hierarchy": {"file": file}}})
        again = velado.questions.project_hierarchy(project, column)
        assert again.rows() == wanted.rows()
        assert again.labels == wanted.labels
        assert [m.tolist() for m in again.maps] == [m.tolist() for m in wanted.maps]


def test_exported_hierarchy_keeps_missing_values_apart(write_project, main: Command) -> None:
    """A missing value is a category of its own, not an empty text."""
    groups = {"groups": {"alone": ["single", "divorced", "widowed"], "together": ["married"]}}
    project = write_project(columns={"marital_status": {"role": "quasi-identifier", "hierarchy": groups}})
    wanted = velado.questions.project_hierarchy(project, "marital_status")
    assert None in wanted.labels[1]
    main("hierarchy", "project.yaml", "marital_status", "--output", "exported.csv")
    write_project(columns={"marital_status": {"role": "quasi-identifier", "hierarchy": {"file": "exported.csv"}}})
    assert velado.questions.project_hierarchy(project, "marital_status").labels == wanted.labels


# help and usage


def test_help_lists_the_commands(shell: Command) -> None:
    ended = shell("--help")
    assert (ended.code, ended.err) == (0, "")
    assert re.findall(r"^│ ([a-z]+) ", ended.out, re.MULTILINE) == list(COMMANDS)


@pytest.mark.lint
def test_help_explains_every_command_and_option(main: Command) -> None:
    def check(name: str) -> None:
        ended = main(name, "--help")
        assert (ended.code, ended.err) == (0, "")
        command = load(name)
        assert command.help.splitlines()[0] == COMMANDS[name][1], "the list of commands says the same"
        assert COMMANDS[name][1] in ended.out
        assert [parameter.name for parameter in command.params if not parameter.help] == []
        options = [o for parameter in command.params for o in parameter.opts if o.startswith("--")]
        assert [o for o in options if o not in ended.out] == []

    assert failures(check, COMMANDS) == []


@pytest.mark.parametrize(
    ("args", "word"),
    [
        (["run"], "project"),
        (["run", "a.yaml", "b.yaml"], "b.yaml"),
        (["rum"], "rum"),
        (["run", "a.yaml", "--jason"], "--jason"),
        (["check", "a.csv"], "--qi"),
        (["check", "a.csv", "--qi", "a", "--l", "two"], "--l"),
    ],
    ids=" ".join,
)
def test_wrong_usage(args: list[str], word: str, main: Command) -> None:
    ended = main(*args)
    assert (ended.code, ended.out) == (2, "")
    assert word in ended.err
    assert "--help" in ended.err


@pytest.mark.parametrize(
    "args",
    [
        "inspect patients.csv",
        pytest.param("inspect patients.csv --json", marks=pytest.mark.thorough),
        pytest.param("hierarchy project.yaml cost", marks=pytest.mark.thorough),
    ],
)
def test_output_into_a_closed_pipe(args: str, write_project, environment: dict, tmp_path: Path) -> None:
    """``velado inspect … | head -1``: the reader has left, and that is no accident to report."""
    write_project()
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run(
        [VELADO, *args.split()], cwd=tmp_path, env=environment, stdout=writer, stderr=subprocess.PIPE, timeout=60
    )
    os.close(writer)
    assert ended.stderr == b""


@pytest.mark.parametrize("more", ["", pytest.param("--json", marks=pytest.mark.thorough)])
def test_the_first_line_of_a_long_answer(more: str, environment: dict, tmp_path: Path) -> None:
    """More than a pipe holds, and a reader who leaves after one line."""
    names = [f"{'a long name ' * 8}{i}" for i in range(600)]
    (tmp_path / "wide.csv").write_text(",".join(names) + "\n" + ",".join("x" * len(names)) + "\n")
    line = f'{shlex.quote(str(VELADO))} inspect wide.csv {more} | head -1; echo "${{PIPESTATUS[0]}}"'
    ended = subprocess.run(["bash", "-c", line], cwd=tmp_path, env=environment, capture_output=True, encoding="utf-8", timeout=120)
    assert ended.stderr == ""
    assert ended.stdout.splitlines()[1:] == ["0"]


def test_questions_about_a_project_can_be_asked_from_another_folder(write_project, main: Command, tmp_path: Path) -> None:
    write_project()
    (tmp_path / "there").mkdir()
    for name in ("patients.csv", "project.yaml"):
        (tmp_path / name).rename(tmp_path / "there" / name)
    assert main("run", "there/project.yaml").code == 0
    for command in (
        ("evaluate", "--project", "there/project.yaml"),
        ("attack", "--project", "there/project.yaml"),
        ("report", "there/project.yaml", "--attacks", "--format", "xlsx"),
    ):
        ended = main(*command)
        assert ended.code == 0, ended.err


# Packages that not every installation has


PROJECT = """source: people.csv
columns: {age: {role: quasi-identifier, hierarchy: {intervals: [20]}}}
models: [{k-anonymity: {k: 2}}]
output: out.csv
"""
ENTRIES: dict[str, dict[str, Any]] = {
    "psycopg": {"tables": ["tables", "postgresql://u@localhost/d"], "inspect": ["inspect", "postgresql://u@localhost/d#t"]},
    "pymysql": {"tables": ["tables", "mysql://u@localhost/d"], "init": ["init", "mariadb://u@localhost/d#t"]},
    "pyspark": {"tables": ["tables", "spark://local"]},
    "fsspec": {"inspect": ["inspect", "s3://b/t.csv"], "init": ["init", "https://localhost/t.csv"]},
    "aiohttp": {"inspect": ["inspect", "https://localhost/t.csv"]},
    "s3fs": {"inspect": ["inspect", "s3://b/t.csv"]},
    "jinja2": {"html": ["report", "p.yaml"]},
    "vl_convert": {"html": ["report", "p.yaml"]},
    "typst": {"pdf": ["report", "p.yaml", "--format", "pdf"]},
    **{module: {"studio": ["studio"]} for module, extra in EXTRAS.items() if extra == "studio"},
    "sklearn": {"classifiers": lambda: velado.evaluation.learning._classifiers(0)},
    "ortools": {"solver": lambda: velado.appointments.exact.solver.cp_sat()},
    "httpx2": {"client": lambda: velado.client.Client("http://localhost")},
}
"""Per module of an extra, what needs it."""


def test_every_extra_is_known() -> None:
    declared = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    imported = {"scikit-learn": "sklearn", "vl-convert-python": "vl_convert", "argon2-cffi": "argon2"}
    modules = {}
    for extra, texts in declared.items():
        named = [re.split(r"[\[><=]", text)[0] for text in texts if not text.startswith("velado") and extra != "dev"]
        modules |= {imported.get(name, name): extra for name in named}
    assert modules == EXTRAS
    assert set(EXTRAS) == set(ENTRIES)


@pytest.mark.parametrize("module", ENTRIES)
def test_without_an_extra_the_line_that_installs_it(
    module: str, main: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "people.csv").write_text("age\n" + "31\n38\n52\n57\n" * 5)
    (tmp_path / "p.yaml").write_text(PROJECT)
    if "report" in str(ENTRIES[module]):
        assert main("run", "p.yaml").code == 0
    for name in [module, *sys.modules]:
        if name.partition(".")[0] == module or name == "velado.cli.studio":
            monkeypatch.setitem(sys.modules, name, None)  # type: ignore[arg-type]
    monkeypatch.delitem(sys.modules, "velado.cli.studio", raising=False)
    # What fsspec has imported for another test it would not import again.
    monkeypatch.delitem(sys.modules, "fsspec.implementations.http", raising=False)
    for protocol in ("http", "https", "s3"):
        monkeypatch.delitem(file_systems, protocol, raising=False)
    for entry in ENTRIES[module].values():
        if callable(entry):
            with pytest.raises(InputError) as caught:
                entry()
            told = caught.value.hint
        else:
            ended = main(*entry)
            assert ended.code == 2, ended.err
            told = ended.err
        assert f"pip install 'velado[{EXTRAS[module]}]'" in told, entry


def test_a_server_without_an_engine(main: Command) -> None:
    told = main("tables", "mssql://u@localhost/d").err
    assert "SQL Server" in told
    assert "mysql" not in told
