"""Every kind of job, done end to end on small tables: what it says, what it leaves, and that it names nothing of the server."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from pydantic import ValidationError

import velado
from servers import postgresql
from tasks_in_process import ROWS, AtHand, patients
from velado.appointments import generate_people
from velado.appointments.tables.generate import SlotsLike
from velado.errors import InputError, NoSolution
from velado.parameters import Number
from velado.service.access.permissions import INSTANCE, PROJECT
from velado.service.jobs import parameters
from velado.service.jobs.kinds import KINDS
from velado.service.jobs.task import Task
from velado.service.jobs.work import figures
from velado.service.jobs.work.simple import SIMPLE
from velado.service.parquet_rows import read_slice
from velado.service.projects.document_checks import check_document
from velado.service.service import Service
from velado.service.store.tables import Job, Project, Release, Source, User
from velado.studies import STUDIES
from velado.tables.postgresql.stage import PostgreSQLStage

NUMBERS = itertools.count()
KEYS = {"summary", "manifest", "private", "notes", "place", "parameters"}


@pytest.fixture
def hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AtHand:
    """A service without a store."""
    return AtHand(tmp_path / "studio", monkeypatch)


@pytest.fixture
def do(hand: AtHand) -> Callable[..., tuple[Task, dict[str, Any]]]:
    """Do a job; what it says is JSON, and names nothing of the server."""

    def done(kind: str, document: Any = None, **more: Any) -> tuple[Task, dict[str, Any]]:
        task, result = hand.do(kind, document, **more)
        said = json.dumps(result, allow_nan=False)
        assert str(hand.settings.folder) not in said
        assert "VELADO_JOB_" not in said
        assert not (task.folder / "inputs").exists()
        assert not [path for path in task.folder.rglob("*") if path.is_symlink()]
        return task, result

    return done


# The list


def test_kinds_are_those_of_the_specification() -> None:
    slow = "inspect estimate run explore evaluate compare balance attack report check fuzzify appointments study"
    assert {name for name, kind in KINDS.items() if not kind.quick} == set(slow.split())
    assert {name for name, kind in KINDS.items() if kind.quick} == {
        "checks",
        "hierarchy",
        "node",
        "rows",
        "singled-out",
        "tables",
        "test",
    }
    assert set(SIMPLE) == {name for name, kind in KINDS.items() if kind.work == "simple"}
    for name, kind in KINDS.items():
        assert (Path(velado.__file__).parent / "service/jobs/work" / f"{kind.work}.py").is_file(), name
        assert kind.work != "simple" or SIMPLE[name][0] is kind.parameters, name
        known = INSTANCE if kind.about in ("nothing", "connection") else PROJECT
        assert kind.action in known, name
        with pytest.raises(ValidationError):
            kind.parameters.model_validate({"no such key": 1})


def test_ranges_are_those_that_are_declared() -> None:
    schema = parameters.SlotsLike.model_json_schema()["properties"]
    for name, declared in SlotsLike.parameters.items():
        assert isinstance(declared, Number)
        if name != "seed":
            (shape,) = (part for part in schema[name]["anyOf"] if part["type"] == "integer")
            assert (shape["minimum"], shape["maximum"]) == (declared.low, declared.high)
    assert set(parameters.Study.model_json_schema()["properties"]["name"]["enum"]) == set(STUDIES)
    assert parameters.Compare.model_validate({"grid": {"k": [2, 3]}}).measures == ["ks"]
    with pytest.raises(ValidationError):
        parameters.Compare.model_validate({"grid": {"k": list(range(100)), "l": list(range(100))}})


# Sources


def test_a_source_is_inspected_copied_and_a_project_is_suggested(hand: AtHand, do: Any) -> None:
    source = hand.people()
    task, found = do("inspect", source=source)
    assert found["rows"] == ROWS
    assert [c["name"] for c in found["columns"]] == patients(1).column_names
    copy = pyarrow.parquet.read_table(hand.files.copy(source))
    assert copy.to_pydict() == patients().to_pydict()
    assert {str(field.type) for field in copy.schema} == {"string"}
    assert found["profile"]["source"] == "people.csv"
    assert set(found["profile"]["columns"][0]["reasons"]) == {"en", "es", "pt"}
    document = found["suggestion"]["document"]
    assert document["source"]["source"] == source
    check_document(document)
    assert do("checks", document)[1] == {"problems": []}
    assert list(task.folder.iterdir()) == []


@pytest.mark.unjudged  # the file of a source has no suffix
@pytest.mark.parametrize(("name", "output"), [("people.csv", None), ("people.parquet", {"format": "parquet"})])
def test_a_release_has_the_format_of_its_table(hand: AtHand, do: Any, name: str, output: Any) -> None:
    _, found = do("inspect", source=hand.table(patients(), name))
    document = found["suggestion"]["document"]
    assert document.get("output") == output
    check_document(document)


def test_types_are_shown_as_their_canonical_texts(hand: AtHand, do: Any) -> None:
    table = pa.table({"n": [1, None], "x": [0.5, 2.0], "b": [True, False], "t": pa.array([0, 10**15], pa.timestamp("us"))})
    source = hand.table(table, "typed.parquet")
    _, page = do("rows", source=source, parameters={"sort": "n", "descending": True})
    do("inspect", source=source)
    copy = pyarrow.parquet.read_table(hand.files.copy(source))
    rows = [list(row.values()) for row in copy.to_pylist()]
    assert sorted(map(repr, rows)) == sorted(map(repr, page["rows"]))
    assert rows[0] == ["1", "0.5", "true", "1970-01-01 00:00:00"]


@pytest.mark.parametrize("name", ["hospital", "caoba", "covid_ceara"])
def test_samples_are_sources(hand: AtHand, do: Any, name: str) -> None:
    id = "5" * 24
    hand.sources[id] = {"kind": "sample", "place": {"sample": name, "rows": 30}, "name": name, "options": {}}
    assert len(do("rows", source=id, parameters={"limit": 7})[1]["rows"]) == 7
    hand.sources[id]["place"] = {"sample": "../x"}
    with pytest.raises(InputError):
        do("rows", source=id)


def test_rows_are_sorted_and_filtered(hand: AtHand, do: Any) -> None:
    source = hand.people()
    found = do("rows", source=source, parameters={"where": {"sex": "female"}, "sort": "city", "descending": True, "limit": 5})[1]
    cities = [row[found["columns"].index("city")] for row in found["rows"]]
    assert cities == sorted(cities, reverse=True)
    assert {row[found["columns"].index("sex")] for row in found["rows"]} == {"female"}
    for bad in ({"sort": "x"}, {"where": {"x": "1"}}):
        with pytest.raises(InputError) as raised:
            do("rows", source=source, parameters=bad)
        assert raised.value.code == "unknown-column"


def test_a_table_is_checked_as_it_is(hand: AtHand, do: Any) -> None:
    wanted = {"quasi_identifiers": ["sex", "city"], "sensitive": ["diagnosis"], "models": [{"k-anonymity": {"k": 3}}]}
    task, found = do("check", source=hand.people(), parameters=wanted)
    classes = pyarrow.parquet.read_table(task.folder / found["file"])
    assert found["classes"] == classes.num_rows
    assert found["k"] == classes["records"][0].as_py() == min(classes["records"].to_pylist())
    for population in ("/etc/passwd", f"upload:{'9' * 24}"):
        with pytest.raises(InputError) as raised:
            do("check", source=hand.people(), parameters={**wanted, "models": [{"k-map": {"k": 2, "population": population}}]})
        assert raised.value.code in ("bad-reference", "unknown-reference")


def test_pages_are_read_from_small_groups_of_rows(hand: AtHand, do: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The web process reads the groups of a page only."""
    assert figures.GROUP <= 10_000
    monkeypatch.setattr(figures, "GROUP", 3)
    task, found = do("run", hand.hospital())
    for name in ("rows", "classes"):
        path = task.folder / found["private"][name]
        about = pyarrow.parquet.read_metadata(path)
        assert max(about.row_group(i).num_rows for i in range(about.num_row_groups)) <= 3
        whole = pyarrow.parquet.read_table(path)
        columns = [column.to_pylist() for column in whole.slice(2, 3).columns]
        page = read_slice(path, 2, 3)
        assert (page.rows, page.total) == ([list(row) for row in zip(*columns, strict=True)], whole.num_rows)


def test_a_table_in_fuzzy_sets(hand: AtHand, do: Any) -> None:
    wanted = {"quasi_identifiers": ["cost"], "sensitive": ["diagnosis"], "method": {"sets": 4}}
    _, found = do("fuzzify", source=hand.people(), parameters=wanted)
    curves = found["sets"]["cost"]
    assert len(curves["names"]) == len(curves["degrees"]) == 4
    assert np.allclose(np.sum(curves["degrees"], axis=0), 1, atol=0.01)
    with pytest.raises(InputError):
        do("fuzzify", source=hand.people(), parameters={**wanted, "method": {"sets": 1}})


# Releases


def test_a_release_is_kept_with_its_evidence(hand: AtHand, do: Any) -> None:
    task, found = do("run", hand.hospital())
    assert set(found) == KEYS
    release = velado.Release.from_dict(found["summary"])
    assert str(release.output) == "release.csv"
    assert release.evaluation.models[0].satisfied
    assert found["place"] == {
        "kind": "file",
        "file": "release.csv",
        "format": "csv",
        "manifest": "release.csv.manifest.json",
        "bytes": (task.folder / "release.csv").stat().st_size,
    }
    assert found["manifest"] == json.loads((task.folder / "release.csv.manifest.json").read_text())
    assert found["manifest"]["project"] == {"name": "patients", "job": task.job}
    assert found["manifest"]["input"]["name"] == "people.csv"
    private = json.loads((task.folder / found["private"]["figures"]).read_text())
    assert private["evaluation"]["risk"]["singled_out_before"] >= found["summary"]["risk"]["singled_out_before"]
    assert pyarrow.parquet.read_table(task.folder / found["private"]["rows"]).num_rows == release.evaluation.released
    assert pyarrow.parquet.read_table(task.folder / found["private"]["classes"]).num_rows == release.evaluation.classes
    for name in (*found["private"].values(), "release.csv.private.json"):
        assert (task.folder / name).stat().st_mode & 0o077 == 0, name


@pytest.mark.parametrize("format", ["tsv", "parquet", "xlsx", "arrow"])
def test_releases_have_the_format_that_was_chosen(hand: AtHand, do: Any, format: str) -> None:
    task, found = do("run", hand.hospital(output={"format": format, "order": "sorted"}))
    assert found["place"]["file"] == f"release.{format}"
    assert (task.folder / f"release.{format}").stat().st_size == found["place"]["bytes"]


@pytest.mark.parametrize(
    "change",
    [{"method": "mondrian"}, {"method": {"fuzzy": {"sets": 3}}, "columns": {"cost": "quasi-identifier", "diagnosis": "sensitive"}}],
)
def test_local_and_fuzzy_recodings(hand: AtHand, do: Any, change: dict[str, Any]) -> None:
    document = hand.hospital(**change)
    _, found = do("run", document)
    assert found["summary"]["models"][0]["satisfied"]
    things = hand.released(document)
    assert do("evaluate", document, things=things)[1]["released"] == found["summary"]["released"]


def test_a_light_release(hand: AtHand, do: Any) -> None:
    document = {
        "name": "light",
        "source": {"source": hand.people()},
        "protection": "operations",
        "rest": "drop",
        "columns": {"sex": "insensitive", "cost": {"role": "insensitive", "operation": {"round": 1000}}},
    }
    task, found = do("run", document)
    assert velado.release.result.LightRelease.from_dict(found["summary"]).rows == ROWS
    assert set(found["private"]) == {"figures", "rows"}
    assert (task.folder / "release.csv").is_file()


def test_several_tables_are_released_together(hand: AtHand, do: Any) -> None:
    rows = patients()
    one, two = (hand.table(rows.select(["sex", "city", "diagnosis"])), hand.table(rows.select(["sex", "city", "marital_status"])))
    columns = {"sex": "quasi-identifier", "city": "quasi-identifier"}
    document = {
        "name": "clinic",
        "models": [{"k-anonymity": {"k": 2}}],
        "method": {"lattice": {"suppression": 0.5}},
        "tables": {
            "patients": {"source": {"source": one}, "columns": {**columns, "diagnosis": "sensitive"}},
            "../people": {"source": {"source": two}, "columns": columns, "rest": "drop", "output": {"format": "parquet"}},
        },
    }
    task, found = do("run", document)
    assert {name: place["file"] for name, place in found["place"]["tables"].items()} == {
        "patients": "patients.csv",
        "../people": "people.parquet",
    }
    assert (task.folder / "patients.csv").is_file()
    assert set(found["manifest"]["tables"]) == set(found["summary"]["tables"]) == {"patients", "../people"}
    things = {"release": {"folder": str(task.folder), "document": document, "result": found}}
    _, made = do("report", document, things=things, parameters={"table": "patients", "formats": ["xlsx"]})
    assert [file["name"] for file in made["files"]] == ["report.en.xlsx"]
    about, grid = {"table": "patients"}, {"grid": {"k": [2, 3]}}
    assert len(do("compare", document, parameters={**about, **grid})[1]["settings"]) == 2
    assert do("balance", document, parameters={**about, **grid, "conditions": {"loss": 1}})[1]["chosen"] == {"k": 3}
    assert do("evaluate", document, things=things, parameters=about)[1]["released"] <= ROWS
    same = {**things, "jobs": {task.job: {"folder": str(task.folder), "result": found}}}
    joined = do("attack", document, things=same, parameters={**about, "only": ["releases"], "other": task.job})[1]
    assert [tried["name"] for tried in joined["attacks"]] == ["releases"]
    for kind, parameters_ in (("report", {}), ("compare", grid), ("attack", {})):
        with pytest.raises(InputError) as raised:
            do(kind, document, things=things, parameters=parameters_)
        assert raised.value.code == "unknown-table"


def test_a_chosen_node_is_released_and_reported(hand: AtHand, do: Any) -> None:
    document, levels = hand.hospital(), {"birth_date": 3, "sex": 0, "city": 1}
    things = hand.released(document, parameters={"levels": levels})
    assert things["release"]["result"]["summary"]["levels"] == levels
    found = do("report", document, things=things, parameters={"formats": ["pdf"]})[1]
    assert found["files"][0]["name"] == "report.en.pdf"
    with pytest.raises(NoSolution):
        do("run", document, parameters={"levels": {"birth_date": 0, "sex": 0, "city": 0}})


def test_reports_in_all_languages_and_formats(hand: AtHand, do: Any) -> None:
    document = hand.hospital()
    things = hand.released(document)
    task, found = do("report", document, things=things, parameters={"languages": ["es", "pt"], "formats": ["html", "xlsx"]})
    assert {file["name"] for file in found["files"]} == {f"report.{c}.{f}" for c in ("es", "pt") for f in ("html", "xlsx")}
    assert {path.name for path in task.folder.iterdir()} == {file["name"] for file in found["files"]}
    assert 'lang="pt"' in (task.folder / "report.pt.html").read_text()
    for path in Path(things["release"]["folder"]).glob("release.csv"):
        path.write_text("changed")
    with pytest.raises(InputError) as raised:
        do("report", document, things=things)
    assert raised.value.code == "stale-release"
    with pytest.raises(InputError) as raised:
        do("report", document, things={"release": None})
    assert raised.value.code == "no-release"


def test_a_release_does_not_depend_on_where_the_service_keeps_it(hand: AtHand, do: Any, tmp_path: Path) -> None:
    document = hand.hospital()
    things = hand.released(document)
    moved = tmp_path / "elsewhere"
    Path(things["release"]["folder"]).rename(moved)
    things["release"]["folder"] = str(moved)
    for thing in (*hand.sources.values(), *hand.uploads.values()):
        there = tmp_path / Path(thing["path"]).name
        if not there.exists():
            Path(thing["path"]).rename(there)
        thing["path"] = str(there)
    assert do("report", document, things=things)[1]["files"]


def test_a_release_is_evaluated_and_attacked(hand: AtHand, do: Any) -> None:
    document = hand.hospital()
    things = hand.released(document)
    people, other = hand.people(), hand.released({**document, "models": [{"k-anonymity": {"k": 2}}]})["release"]
    _, found = do("evaluate", document, things=things, parameters={"population": people, "queries": 100})
    assert {"ks", "queries", "journalist", "before", "after"} <= set(found)
    _, found = do("evaluate", document, things=things, parameters={"measures": ["subsets"]})
    assert found["subsets"][0]["before"]["singled_out"] > 0
    assert "ks" not in found
    job = "8" * 24
    things["jobs"] = {job: {"kind": "run", **other}}
    wanted = {"external": people, "identity": "name", "other": job, "match": {}}
    _, found = do("attack", document, things=things, parameters=wanted)
    assert {"homogeneity", "linkage", "releases"} <= {attack["name"] for attack in found["attacks"]}
    assert any(attack["remedies"] and set(attack["remedies"][0]) == {"en", "es", "pt"} for attack in found["attacks"])


def test_settings_are_estimated_compared_and_balanced(hand: AtHand, do: Any) -> None:
    document = hand.hospital()
    estimate = do("estimate", document, limits={"memory": 2_000_000_000})[1]
    assert (estimate["rows"], estimate["memory"]) == (ROWS, 1_000_000_000)
    _, found = do("compare", document, parameters={"grid": {"k": [2, 3], "method": ["lattice", "mondrian"]}})
    assert len(found["settings"]) == 4
    _, found = do("balance", document, parameters={"conditions": {"loss": 0.9}, "grid": {"k": [2, 3]}})
    assert found["chosen"] in ({"k": 2}, {"k": 3})


# The lattice


def test_all_nodes_and_one_of_them(hand: AtHand, do: Any) -> None:
    document = hand.hospital()
    task, head = do("explore", document)
    with pa.memory_map(str(task.folder / head["file"])) as file:
        nodes = pa.ipc.open_file(file).read_all()
    assert nodes.num_rows == head["nodes"] == np.prod(head["levels"])
    assert head["statuses"][0] == "optimal"
    best = nodes["status"].to_pylist().index(0)
    levels = [nodes[f"level({c})"][best].as_py() for c in head["columns"]]
    assert levels == head["optimal"]["levels"]
    jobs = {"jobs": {task.job: {"kind": "explore", "folder": str(task.folder), "result": head, "document": document}}}
    memory: dict[str, Any] = {}
    wanted = {"levels": levels, "exploration": task.job, "records": 4, "limit": 3}
    _, node = do("node", document, things=jobs, parameters=wanted, memory=memory)
    anew = do("node", document, parameters={**wanted, "exploration": None})[1]
    assert node == anew
    assert node["node"] == head["optimal"]
    assert len(node["classes"]) == 3
    assert node["released"] == head["optimal"]["classes"]
    assert sum(size * n for size, n in node["sizes"]) == ROWS
    assert [c["records"] for c in node["classes"]] == sorted(c["records"] for c in node["classes"])
    assert len(node["examples"]["rows"]) == 4
    assert {column: len(labels) for column, labels in node["labels"].items()} == {
        column: min(8, head["labels"][column][level]) for column, level in zip(head["columns"], levels, strict=True)
    }
    assert set(node["examples"]["columns"]) == {"birth_date", "sex", "city", "diagnosis"}
    kept = memory["exploration"][1]
    again = do("node", document, things=jobs, parameters={**wanted, "records": 0}, memory=memory)[1]
    assert "examples" not in again
    assert memory["exploration"][1] is kept
    do("node", {**document, "models": [{"k-anonymity": {"k": 2}}]}, parameters={"levels": levels}, memory=memory)
    assert memory["exploration"][1] is not kept
    with pytest.raises(InputError) as raised:
        do("node", document, parameters={"levels": [99, 0, 0]}, memory=memory)
    assert raised.value.code == "bad-node"
    with pytest.raises(InputError) as raised:
        do("explore", document, parameters={"most_nodes": 3})
    assert raised.value.code == "lattice-too-large"


def test_hierarchies_are_previewed_also_in_a_draft(hand: AtHand, do: Any) -> None:
    document, memory = hand.hospital(), dict[str, Any]()
    _, found = do("hierarchy", document, memory=memory)
    assert set(found["columns"]) == {"birth_date", "sex", "city"}
    assert [level["groups"] for level in found["columns"]["sex"]["levels"]] == [2, 1]
    assert len(memory["values"]) == 3
    assert do("hierarchy", document, memory=memory)[1] == found
    assert len(memory["values"]) == 3
    draft = {"source": document["source"], "columns": {"city": "quasi-identifier", "sex": {"role": "nonsense"}}}
    tree = {"tree": {"Spain": ["Madrid", "Bilbao"]}}
    _, found = do("hierarchy", draft, parameters={"column": "city", "description": tree, "values": 10}, memory=memory)
    city = found["columns"]["city"]
    assert sorted(city["rows"]) == [["Bilbao", "Spain"], ["Madrid", "Spain"]]
    assert city["uncovered"] == len(city["uncovered_values"]) > 0
    file = hand.upload(b"Madrid;Spain\n", "cities.csv")
    by_file = {"column": "city", "description": {"file": f"upload:{file}"}}
    assert do("hierarchy", draft, parameters=by_file)[1]["columns"]["city"]["values"] == 1
    for bad, code in (
        ({"column": "city", "description": {"file": "/etc/passwd"}}, "bad-reference"),
        ({"column": "x"}, "unknown-column"),
        ({"column": "city", "description": {"intervals": [5, 7]}}, "not-nested"),
    ):
        with pytest.raises(InputError) as raised:
            do("hierarchy", draft, parameters=bad)
        assert raised.value.code == code
    with pytest.raises(InputError) as raised:
        do("hierarchy", document, parameters={"column": "name"})
    assert raised.value.code == "identifier"


def test_all_problems_of_a_project_with_their_places(hand: AtHand, do: Any) -> None:
    document = hand.hospital()
    assert do("checks", document)[1] == {"problems": []}
    columns = {**document["columns"], "sex": "nonsense", "none": "sensitive"}
    _, found = do("checks", {**document, "columns": columns, "models": [{"k-anonymity": {"k": 0}}]})
    assert {p["fields"]["path"] for p in found["problems"]} >= {"columns.sex.role", "models[0].k-anonymity.k"}
    assert set(found["problems"][0]["message"]) == {"en", "es", "pt"}
    _, found = do("checks", {**document, "source": {"source": "7" * 24}})
    assert [p["code"] for p in found["problems"]] == ["unknown-reference"]
    _, found = do("checks", {**document, "columns": {**document["columns"], "none": "sensitive"}})
    assert [p["code"] for p in found["problems"]] == ["unknown-column"]


def test_who_is_alone_in_an_unfinished_project(hand: AtHand, do: Any) -> None:
    document = hand.hospital()
    roles = {name: spec if isinstance(spec, str) else spec["role"] for name, spec in document["columns"].items()}
    quasi = [name for name in patients().column_names if roles.get(name) == "quasi-identifier"]
    memory: dict[str, Any] = {}
    _, found = do("singled-out", document, memory=memory)
    assert (found["columns"], found["records"]) == (quasi, ROWS)
    counts = Counter(zip(*(patients()[name].to_pylist() for name in quasi), strict=True))
    assert found["singled_out"] == sum(n for n in counts.values() if n == 1)
    assert set(found["without"]) == set(quasi)
    unfinished = {
        "source": document["source"],
        "rest": "insensitive",
        "models": [{"k-anonymity": {"k": 0}}, {"nonsense": {}}],
        "columns": {
            **document["columns"],
            "name": "insensitive",
            "gone": "quasi-identifier",
            "cost": {"role": "sensitive", "operation": {"round": "x"}},
        },
    }
    _, found = do("singled-out", unfinished, memory=memory)
    named = {one["column"]: one for one in found["published"]}
    assert named["name"]["dangers"][0] == "content"
    assert set(named["name"]["reason"]) == {"en", "es", "pt"}
    assert "cost" not in named
    assert found["columns"] == quasi
    with pytest.raises(InputError) as raised:
        do("singled-out", {"columns": {}})
    assert raised.value.code == "missing-key"


def test_warnings_follow_who_knows_a_column(hand: AtHand, do: Any) -> None:
    """What only the person and the keeper know is no danger, and an allowance is taken for what it is."""
    document = hand.hospital()
    memory: dict[str, Any] = {}

    def dangers(allowance: float = 0, **said: Any) -> tuple[str, list[str]]:
        columns = {**document["columns"], "cost": {"role": "sensitive", **said}}
        _, found = do("singled-out", {**document, "columns": columns, "allowance": allowance}, memory=memory)
        (one,) = [one for one in found["published"] if one["column"] == "cost"]
        return one["known"], one["dangers"]

    assert dangers() == ("possibly", ["alone"])
    assert dangers(known="never") == ("never", [])
    assert dangers(known="never", operation={"round": 1}) == ("never", [])
    assert dangers(allowance=1) == ("possibly", [])
    assert dangers(known="possibly", operation={"round": 1}) == ("possibly", ["alone"])


def test_who_is_alone_in_one_of_several_tables(hand: AtHand, do: Any) -> None:
    document = hand.hospital()
    one = {"source": document["source"], "columns": {"sex": {"attribute": "gender"}}, "rest": "drop"}
    several = {
        "attributes": {"gender": {"role": "quasi-identifier"}},
        "models": document["models"],
        "tables": {"a": one, "b": {**one, "columns": {"sex": "insensitive"}}},
    }
    _, found = do("singled-out", several, parameters={"table": "a"})
    assert (found["columns"], found["singled_out"], found["published"]) == (["sex"], 0, [])
    _, found = do("singled-out", several, parameters={"table": "b"})
    assert (found["columns"], [one["column"] for one in found["published"]]) == ([], ["sex"])
    with pytest.raises(InputError) as raised:
        do("singled-out", several)
    assert raised.value.code == "unknown-table"


# Appointments, studies


def test_appointments_are_planned_and_given_out(hand: AtHand, do: Any) -> None:
    people = hand.table(generate_people(people=60))
    wanted = {"quasi_identifiers": ["sex", "postal_code"]}
    task, found = do("appointments", source=people, parameters={**wanted, "slots": {"slots": 5, "people": 60}})
    assert found["output"] == found["file"] == "appointments.csv"
    assert pyarrow.parquet.read_table(task.folder / found["rows"]).num_rows == 60
    calendar = {"places": ["A", "B"], "days": ["Monday"], "hours": ["9", "10"], "capacity": 20}
    task, found = do("appointments", source=people, parameters={**wanted, "slots": calendar, "compare": True})
    assert {planned["method"] for planned in found["methods"]} >= {"random", "best-fit"}
    assert list(task.folder.iterdir()) == []
    slots = hand.table(pa.table({"hour": ["9", "10"], "capacity": [30, 30]}), "slots.csv")
    _, found = do("appointments", source=people, parameters={**wanted, "slots": slots, "method": "random"})
    assert found["appointment"] == ["hour"]


def test_studies_need_their_data(hand: AtHand, do: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(InputError) as raised:
        do("study", parameters={"name": "ubb"})
    assert raised.value.code == "missing-data"
    with pytest.raises(InputError) as raised:
        do("study", parameters={"name": "ubb", "rows": 100})
    assert raised.value.code == "bad-parameter"
    task, found = do("study", parameters={"name": "unilab", "rows": 100})
    assert found["title"]["es"]
    assert found["files"]
    assert all((task.folder / "study" / name).is_file() for name in found["files"])


# Databases


@pytest.fixture
def schema() -> str:
    """An empty schema of the test server, with the patients in a table."""
    name = f"kinds_{next(NUMBERS)}"
    rows = patients()
    with postgresql.connect() as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS {name} CASCADE")
        connection.execute(f"CREATE SCHEMA {name}")
        listed = ", ".join(f'"{c}" text' for c in rows.column_names)
        connection.execute(f"CREATE TABLE {name}.people ({listed})")
        with connection.cursor().copy(f"COPY {name}.people FROM STDIN") as copy:
            for row in rows.to_pylist():
                copy.write_row(list(row.values()))
    return name


def in_database(hand: AtHand, schema: str, **output: Any) -> dict[str, Any]:
    """A document whose table and release are in PostgreSQL."""
    connection = hand.connection(postgresql.address(), "not needed")
    source = hand.on_connection(connection, table=f"{schema}.people")
    target = {"connection": connection, "table": f"{schema}.released", **output}
    return {**hand.hospital(output=target), "source": {"source": source}}


def test_a_database_is_a_source_and_a_sink(hand: AtHand, do: Any, schema: str) -> None:
    document = in_database(hand, schema)
    source = document["source"]["source"]
    assert do("test", parameters={"connection": document["output"]["connection"]})[1]["works"]
    listed = do("tables", parameters={"connection": document["output"]["connection"]})[1]["tables"]
    (table,) = (t for t in listed if t["full_name"] == f"{schema}.people")
    assert [c["name"] for c in table["columns"]] == patients(1).column_names
    assert do("inspect", source=source)[1]["rows"] == pyarrow.parquet.read_table(hand.files.copy(source)).num_rows == ROWS
    page = do("rows", source=source, parameters={"sort": "name", "descending": True, "limit": 3})[1]["rows"]
    assert page[0][0] == max(patients()["name"].to_pylist())
    assert do("checks", document)[1] == {"problems": []}
    assert do("explore", document)[1]["nodes"] == 16
    task, found = do("run", document)
    assert found["place"] == {"kind": "table", "connection": document["output"]["connection"], "table": f"{schema}.released"}
    with postgresql.connect() as connection:
        (count,) = connection.execute(f"SELECT count(*) FROM {schema}.released").fetchone() or (None,)
    assert count == found["summary"]["released"] == pyarrow.parquet.read_table(task.folder / "rows.parquet").num_rows
    things = {"release": {"folder": str(task.folder), "document": document, "result": found}}
    assert do("report", document, things=things)[1]["files"]
    assert do("evaluate", document, things=things)[1]["released"] == count
    with pytest.raises(InputError) as raised:
        do("run", document)
    assert raised.value.code == "output-exists"


def test_a_query_is_a_source(hand: AtHand, do: Any, schema: str) -> None:
    connection = hand.connection(postgresql.address())
    source = hand.on_connection(connection, query=f"SELECT sex, city FROM {schema}.people")
    assert do("rows", source=source, parameters={"limit": 1})[1]["columns"] == ["sex", "city"]


class Killed(BaseException):
    """What a process does not survive."""


@pytest.mark.parametrize("exists", ["fail", "replace"])
def test_a_second_attempt_takes_over_what_the_first_has_published(
    hand: AtHand, do: Any, schema: str, monkeypatch: pytest.MonkeyPatch, exists: str
) -> None:
    document, job = in_database(hand, schema, if_exists=exists), f"{next(NUMBERS):024x}"
    names = PostgreSQLStage.give_names

    def killed(self: PostgreSQLStage, evidence: Any) -> None:
        names(self, evidence)
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(PostgreSQLStage, "give_names", killed)
        with pytest.raises(Killed):
            hand.do("run", document, job=job)
    with postgresql.connect() as connection:
        (oid,) = connection.execute(f"SELECT '{schema}.released'::regclass::oid").fetchone() or (None,)
        (manifest,) = connection.execute(f"SELECT manifest FROM {schema}.released_manifest").fetchone() or (None,)
    task, found = do("run", document, job=job, attempt=2)
    assert set(found) == KEYS
    assert found["manifest"] == manifest
    assert velado.Release.from_dict(found["summary"]).evaluation.models[0].satisfied
    assert json.loads((task.folder / found["private"]["figures"]).read_text())["evaluation"]["rows"] == ROWS
    assert pyarrow.parquet.read_table(task.folder / found["private"]["rows"]).num_rows == found["summary"]["released"]
    with postgresql.connect() as connection:
        assert connection.execute(f"SELECT '{schema}.released'::regclass::oid").fetchone() == (oid,)
    things = {"release": {"folder": str(task.folder), "document": document, "result": found}}
    assert do("report", document, things=things)[1]["files"]
    if exists == "fail":
        # Another job does not take it for its own.
        with pytest.raises(InputError) as raised:
            do("run", document, attempt=2)
        assert raised.value.code == "output-exists"
    else:
        assert do("run", document, attempt=2)[1]["manifest"]["project"]["job"] != job


def test_a_second_attempt_publishes_where_the_first_did_not(hand: AtHand, do: Any, schema: str) -> None:
    document = in_database(hand, schema)
    assert do("run", document, attempt=2)[1]["summary"]["released"] > 0
    assert do("run", hand.hospital(), attempt=2)[1]["place"]["file"] == "release.csv"


# What becomes of results


@pytest.mark.both_stores
def test_results_are_taken_over_into_the_store(service: Service, hand: AtHand) -> None:
    source_id, document = hand.people(), None
    found = hand.do("inspect", source=source_id)[1]
    document = hand.hospital()
    released = hand.do("run", document)[1]
    with service.store.writing() as db:
        user = User(name="ana", roles=["steward"])
        db.add(user)
        db.flush()
        source = Source(user_id=user.id, name="people", kind="upload")
        project = Project(name="clinic", document=document)
        db.add_all([source, project])
        db.flush()
        first = Job(kind="inspect", user_id=user.id, source_id=source.id, result=found)
        second = Job(kind="run", user_id=user.id, project_id=project.id, version=1, result=released)
        db.add_all([first, second])
        db.flush()
        for job, result in ((first, found), (second, released)):
            finish = KINDS[job.kind].finish
            assert finish is not None
            finish(db, job, result)
    with service.store.reading() as db:
        kept = db.get(Source, source.id)
        assert kept is not None
        assert (kept.state, kept.rows, kept.copied) == ("ready", ROWS, True)
        assert kept.suggestion is not None
        assert kept.suggestion["document"]["rest"] == "drop"
        job = db.get(Job, second.id)
        assert job is not None
        assert job.result is not None
        release = db.get(Release, job.result["release"])
        assert release is not None
        assert (release.state, release.version, release.place["kind"]) == ("made", 1, "file")
        assert release.summary["released"] == released["summary"]["released"]
