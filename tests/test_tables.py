"""Several tables: attributes that they share are treated alike, keys still match, all releases appear or none."""

import csv
import json
from collections import Counter

import pyarrow as pa
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import velado
from velado import InputError, Lattice, Project
from velado.errors import VerificationError
from velado.operations import OPERATIONS
from velado.tables.duckdb.table import DuckDBTable

KEY = "0f1e2d3c4b5a69788796a5b4c3d2e1f0a3c2e1f0192837465564738291a0bfce"
WRITE = DuckDBTable.write

PATIENTS = {
    "id": ["7", "8", "9", "10", "11", "12"],
    "age": ["31", "34", "38", "52", "57", "58"],
    "illness": ["flu", "asthma", "flu", "gout", "flu", "gout"],
}
VISITS = {
    "patient": ["7", "7", "9", "12", "12", "99"],
    "years": ["31", "31", "38", "58", "58", "40"],
    "day": ["2024-01-01", "2024-01-05", "2024-02-01", "2024-02-02", "2024-03-01", "2024-03-02"],
}
TOKEN = {"pseudonymize": {"key": "env:VELADO_KEY"}}
SHOWN = {"role": "insensitive", "exposure": "accepted"}
SPEC = {
    "name": "clinic",
    "attributes": {
        "person": {"role": "identifier", "operation": TOKEN},
        "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [5, 10, 50]}},
    },
    "models": [{"k-anonymity": {"k": 2}}],
    "joinable": ["person"],
    "tables": {
        "patients": {
            "source": "patients.csv",
            "columns": {"id": {"attribute": "person"}, "age": {}, "illness": "sensitive"},
            "output": {"path": "patients_out.csv", "order": "keep"},
        },
        "visits": {
            "source": "visits.csv",
            "columns": {"patient": {"attribute": "person"}, "years": {"attribute": "age"}, "day": SHOWN},
            "person": "rows",
            "output": {"path": "visits_out.csv", "order": "keep"},
        },
    },
}


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("VELADO_KEY", KEY)


def write_csv(path, table):
    with open(path, "w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows([list(table), *zip(*table.values(), strict=True)])


def read(path):
    with open(path, newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def changed(table=None, column=None, drop=(), **changes):
    """The project with other keys at the top, in a table, or in a column of it; None takes a key away."""
    spec = json.loads(json.dumps(SPEC))
    place = spec
    if table is not None:
        place = spec["tables"][table]
    if column is not None:
        place = place["columns"][column]
    for name, value in changes.items():
        place[name] = value
        if value is None:
            del place[name]
    return spec


@pytest.fixture
def clinic(tmp_path):
    """Write the tables and the project."""

    def write(spec=SPEC):
        write_csv(tmp_path / "patients.csv", PATIENTS)
        write_csv(tmp_path / "visits.csv", VISITS)
        (tmp_path / "clinic.yaml").write_text(yaml.safe_dump(spec, sort_keys=False), encoding="utf-8")
        return tmp_path / "clinic.yaml"

    return write


def in_memory(spec=SPEC, **tables):
    data = {"patients": pa.table(PATIENTS), "visits": pa.table(VISITS), **tables}
    spec = json.loads(json.dumps(spec))
    for name, table in spec["tables"].items():
        table["source"] = data[name]
        table["output"] = {"order": "keep"}
    return velado.run(Project.from_dict(spec))


def refused(code, spec, **tables):
    with pytest.raises(InputError) as caught:
        in_memory(spec, **tables)
    assert caught.value.code == code
    return caught.value


# --- The same value becomes the same in all tables ---


def test_a_project_of_several_tables(clinic, tmp_path, main):
    clinic()
    ended = main("run", "clinic.yaml", "--json")
    assert ended.code == 0, ended.err
    shown = ended.json
    assert list(shown["tables"]) == ["patients", "visits"]
    for name, release in shown["tables"].items():
        assert release["project"] == f"clinic/{name}"
        assert release["models"][0]["satisfied"]
        assert release["class_size"]["min"] >= 2
    assert shown["joined"] == [{"attribute": "person", "tables": ["patients", "visits"], "matching": 3}]
    patients, visits = read(tmp_path / "patients_out.csv"), read(tmp_path / "visits_out.csv")
    token = dict(zip(PATIENTS["id"], (row["id"] for row in patients), strict=True))
    released = [row["patient"] for row in visits]
    assert released[:2] == [token["7"]] * 2
    assert released[2:5] == [token["9"], token["12"], token["12"]]
    assert not set(released) & set(VISITS["patient"])
    assert shown["tables"]["patients"]["levels"]["age"] == shown["tables"]["visits"]["levels"]["years"]
    assert {row["years"] for row in visits} <= {row["age"] for row in patients}
    for name in ("patients", "visits"):
        text = (tmp_path / f"{name}_out.csv.manifest.json").read_text()
        assert KEY not in text
        assert json.loads(text)["project"]["name"] == f"clinic/{name}"


def test_the_terminal_shows_every_table(clinic, main):
    clinic()
    ended = main("run", "clinic.yaml")
    assert ended.code == 0
    for words in ("clinic/patients", "clinic/visits", "Joinable", "person", "in each table alone"):
        assert words in ended.out


@pytest.mark.thorough
@settings(max_examples=12, deadline=None)
@given(
    st.lists(st.sampled_from([str(i) for i in range(12)]), min_size=1, max_size=20),
    st.lists(st.sampled_from([str(i) for i in range(6, 18)]), min_size=1, max_size=20),
    st.sampled_from(["encrypt", "pseudonymize"]),
)
def test_joins_are_those_of_the_originals(one, other, operation):
    spec = {
        "protection": "operations",
        "joinable": ["person"],
        "tables": {
            "a": {"columns": {"x": {"attribute": "person", "operation": {operation: "env:VELADO_KEY"}}}},
            "b": {"columns": {"y": {"attribute": "person", "operation": {operation: "env:VELADO_KEY"}}}},
        },
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VELADO_KEY", KEY)
        releases = in_memory(spec, a=pa.table({"x": one}), b=pa.table({"y": other}))
    x, y = releases["a"].table.column("x").to_pylist(), releases["b"].table.column("y").to_pylist()
    pairs = Counter((i, j) for i, v in enumerate(one) for j, w in enumerate(other) if v == w)
    assert Counter((i, j) for i, v in enumerate(x) for j, w in enumerate(y) if v == w) == pairs
    assert releases.joined[0].matching == len(set(one) & set(other))


def test_tokens_of_different_attributes_do_not_match():
    spec = changed("visits", "patient", attribute="guest")
    spec["attributes"]["guest"] = spec["attributes"]["person"]
    spec["joinable"] = []
    releases = in_memory(spec)
    patients = set(releases["patients"].table.column("id").to_pylist())
    assert not patients & set(releases["visits"].table.column("patient").to_pylist())


def test_attributes_are_those_of_their_names_if_nothing_is_said():
    spec = {
        "protection": "operations",
        "joinable": ["k"],
        "tables": {n: {"columns": {"k": {"operation": TOKEN}}} for n in ("a", "b")},
    }
    releases = in_memory(spec, a=pa.table({"k": ["1", "2"]}), b=pa.table({"k": ["2", "3"]}))
    assert releases.joined[0].matching == 1


def test_several_columns_of_a_table_may_be_of_one_attribute():
    columns = {"child": {"attribute": "person", "operation": TOKEN}, "mother": {"attribute": "person", "operation": TOKEN}}
    spec = {
        "protection": "operations",
        "joinable": ["person"],
        "tables": {"family": {"columns": columns}, "people": {"columns": {"person": {"operation": TOKEN}}}},
    }
    family = pa.table({"child": ["1", "2"], "mother": ["3", "1"]})
    releases = in_memory(spec, family=family, people=pa.table({"person": ["1", "3", "4"]}))
    shown = releases["family"].table
    assert shown.column("child").to_pylist()[0] == shown.column("mother").to_pylist()[1]
    assert releases.joined[0].matching == 2


def test_dates_of_a_person_move_alike_in_all_tables():
    shift = {"shift": {"key": "env:VELADO_KEY", "by": "p", "days": [-99, 99]}}
    tables = {n: {"columns": {"p": {"operation": TOKEN}, n: {"operation": shift}}} for n in ("born", "seen")}
    spec = {"protection": "operations", "tables": tables}
    dates = {n: pa.table({"p": ["1", "2"], n: ["2024-05-05", "2024-05-05"]}) for n in ("born", "seen")}
    releases = in_memory(spec, **dates)
    born, seen = (releases[n].table.column(n).to_pylist() for n in ("born", "seen"))
    assert born == seen
    assert born[0] != born[1]


def test_a_table_may_be_light_beside_one_with_models():
    spec = changed("visits", protection="operations", columns={"patient": {"attribute": "person"}, "day": "insensitive"})
    releases = in_memory(spec, visits=pa.table(VISITS).drop_columns(["years"]))
    assert releases["patients"].evaluation.models[0].satisfied
    assert releases["visits"].as_dict()["protection"] == "operations"
    assert releases.joined[0].matching == 3


# --- Shared quasi-identifiers: the same level everywhere ---


def test_a_table_follows_the_one_that_needs_more():
    """Alone, the patients would stay at level 2 (30-39, 50-59); the visits need 50 years."""
    alone = velado.run(
        Project.from_dict(
            {"source": pa.table(PATIENTS), "rest": "drop", "models": SPEC["models"], "columns": {"age": SPEC["attributes"]["age"]}}
        )
    )
    assert alone.levels == {"age": 2}
    releases = in_memory(changed(method={"lattice": {"suppression": 0}}))
    assert (releases["patients"].levels, releases["visits"].levels) == ({"age": 3}, {"years": 3})
    assert set(releases["patients"].table.column("age").to_pylist()) == {"0-49", "50-99"}
    assert not releases["patients"].search.proven_optimal
    assert releases["visits"].search.proven_optimal


ROWS = st.lists(
    st.tuples(st.sampled_from(["3", "7", "12", "18", "35", "61"]), st.sampled_from(["10", "11", "20"])), min_size=4, max_size=16
)


@settings(max_examples=12, deadline=None)
@given(ROWS, ROWS, st.sampled_from(["lattice", "datafly"]), st.sampled_from([0, 0.3]))
def test_shared_levels_agree_and_models_hold(one, other, method, suppression):
    hierarchies = {"age": {"intervals": [5, 10, 50]}, "zip": {"mask": "right"}}
    quasi = {c: {"role": "quasi-identifier", "hierarchy": h} for c, h in hierarchies.items()}
    spec = {
        "models": [{"k-anonymity": {"k": 2}}],
        "method": {method: {"suppression": suppression}},
        "joinable": ["age"],
        "tables": {"a": {"columns": quasi}, "b": {"columns": {**quasi, "zip": {**quasi["zip"], "attribute": "other"}}}},
    }
    tables = {n: pa.table({"age": [r[0] for r in rows], "zip": [r[1] for r in rows]}) for n, rows in (("a", one), ("b", other))}
    releases = in_memory(spec, **tables)
    assert releases["a"].levels["age"] == releases["b"].levels["age"]
    for name, table in tables.items():
        classes = Counter(zip(*releases[name].table.to_pydict().values(), strict=True))
        assert min(classes.values()) >= 2
        free = velado.run(
            Project.from_dict({**spec["tables"][name], **{k: spec[k] for k in ("models", "method")}, "source": table})
        )
        assert releases[name].levels["age"] >= free.levels["age"] or method == "datafly" or suppression
        assert len(table) - sum(classes.values()) <= suppression * len(table)


def test_the_hierarchy_of_a_shared_attribute_is_built_from_the_values_of_all_tables():
    """Alone, one table would be masked in two steps and the other in three."""
    quasi = {"role": "quasi-identifier", "hierarchy": {"mask": "right"}}
    spec = {"models": SPEC["models"], "joinable": ["z"], "tables": {n: {"columns": {"z": quasi}} for n in ("a", "b")}}
    releases = in_memory(spec, a=pa.table({"z": ["12", "13"]}), b=pa.table({"z": ["123", "124"]}))
    assert releases["a"].levels == releases["b"].levels


@pytest.mark.parametrize("levels", [{"age": 2}, {"age": 3}])
def test_fixed_levels_must_be_the_same(levels):
    spec = changed("patients", method={"fixed": {"levels": levels}})
    spec["tables"]["visits"]["method"] = {"fixed": {"levels": {"years": 3}}}
    if levels == {"age": 3}:
        assert in_memory(spec)["patients"].levels == levels
    else:
        assert "age: 3" in refused("attribute-differs", spec).hint


def test_local_recoding_has_no_joinable_quasi_identifiers():
    spec = changed(method="mondrian")
    assert in_memory(spec).joined[0].attribute == "person"
    spec["joinable"] = ["person", "age"]
    refused("not-joinable", spec)


# --- Bad projects ---


def test_an_attribute_must_be_described_alike():
    other = {"encrypt": {"key": "env:VELADO_KEY"}}
    for column, change in (
        ("patient", {"operation": other}),
        ("patient", {"operation": "suppress"}),
        ("patient", {"operation": {"pseudonymize": {"key": "env:VELADO_KEY", "length": 20}}}),
        ("patient", {"role": "insensitive"}),
        ("years", {"hierarchy": {"intervals": [10]}}),
        ("years", {"type": "integer"}),
        ("years", {"missing": "reject"}),
    ):
        error = refused("attribute-differs", changed("visits", column, **change))
        assert error.column == column
        assert next(iter(change)) in error.message


def test_a_quasi_identifier_cannot_be_recoded_here_and_published_there():
    spec = changed(
        "visits",
        protection="operations",
        columns={"patient": {"attribute": "person"}, "years": {"attribute": "age", "role": "quasi-identifier", "hierarchy": None}},
    )
    spec["attributes"]["age"]["hierarchy"] = None
    assert "protection" in refused("attribute-differs", spec).message


@pytest.mark.parametrize("name", [n for n, kind in OPERATIONS.items() if n in ("suppress", "drop", "noise")])
def test_what_is_erased_or_drawn_anew_cannot_be_joinable(name):
    operation = {"noise": {"scale": 1}} if name == "noise" else name
    columns = {"k": {"operation": operation}, "x": "insensitive"}
    spec = {"protection": "operations", "joinable": ["k"], "tables": {n: {"columns": columns} for n in ("a", "b")}}
    tables = {n: pa.table({"k": ["1", "2"], "x": ["a", "b"]}) for n in ("a", "b")}
    assert name in refused("not-joinable", spec, **tables).message
    del spec["joinable"]
    in_memory(spec, **tables)


def test_values_that_become_the_same_cannot_be_joinable():
    for operation, ok in (({"mask": 1}, False), ({"round": 10}, False), ({"round": 1}, True)):
        columns = {"k": {"role": "insensitive", "operation": operation}}
        spec = {"protection": "operations", "joinable": ["k"], "tables": {n: {"columns": columns} for n in ("a", "b")}}
        tables = {"a": pa.table({"k": ["11", "20"]}), "b": pa.table({"k": ["12", "30"]})}
        if ok:
            assert in_memory(spec, **tables).joined[0].matching == 0
        else:
            refused("not-joinable", spec, **tables)


BAD = {
    "an unknown attribute": (changed(joinable=["persons"]), "not-joinable"),
    "an attribute of one table": (changed(joinable=["day"]), "not-joinable"),
    "joinable is a word": (changed(joinable="person"), "bad-project"),
    "a source at the top": (changed(source="patients.csv"), "bad-project"),
    "columns at the top": (changed(columns={"x": "identifier"}), "bad-project"),
    "an output at the top": (changed(output="out.csv"), "bad-project"),
    "no tables": (changed(tables={}), "missing-key"),
    "tables are a list": (changed(tables=[]), "bad-project"),
    "an unknown key of a table": (changed("visits", keys="x"), "unknown-key"),
    "an unknown key of an attribute": (changed(attributes={"person": {"rolle": "identifier"}}), "unknown-key"),
    "a column without role": (changed("visits", columns={"patient": {}, "years": {"attribute": "age"}}), "column-without-role"),
    "a key in the project": (changed("visits", "patient", operation={"encrypt": KEY}), "key-in-project"),
    "no models": (changed(models=None), "missing-key"),
    "one output of two": (changed("visits", output=None), "no-output"),
    "the same output": (changed("visits", output="patients_out.csv"), "output-is-input"),
    "another table's source": (changed("patients", output="visits.csv"), "output-is-input"),
    "a table that is not there": (changed("visits", source="nothing.csv"), "missing-file"),
    "a key that is not there": (
        changed(attributes={**SPEC["attributes"], "person": {"role": "identifier", "operation": {"encrypt": "env:NOT_SET"}}}),
        "no-key",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_projects_write_nothing(clinic, tmp_path, main, case):
    spec, code = BAD[case]
    clinic(spec)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    ended = main("run", "clinic.yaml", "--json")
    assert (ended.code, ended.json["error"]["code"]) == (2, code)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before
    assert KEY not in ended.out + ended.err


def test_errors_name_the_table():
    assert "table 'visits'" in refused("column-without-role", changed("visits", columns={"day": {}})).message


@pytest.mark.parametrize("command", [["compare", "--k", "2..3"], ["hierarchy", "age"]])
def test_commands_for_one_table_say_so(clinic, main, command):
    clinic()
    ended = main(command[0], "clinic.yaml", *command[1:])
    assert ended.code == 2
    assert "several tables" in ended.err


def test_one_table_of_a_project_can_be_taken_out(clinic, tmp_path, main):
    clinic()
    assert main("run", "clinic.yaml").code == 0
    project = Project.load(tmp_path / "clinic.yaml")
    evaluation = velado.evaluate(None, None, project=project.tables["patients"])
    assert evaluation.models[0].satisfied


def test_a_project_survives_being_saved(clinic, tmp_path):
    project = Project.load(clinic())
    project.save(tmp_path / "again.yaml")
    again = Project.load(tmp_path / "again.yaml")
    assert again.digest() == project.digest()
    assert (list(again.tables), again.joinable) == (["patients", "visits"], ("person",))
    assert again.tables["visits"].columns == project.tables["visits"].columns
    assert again.tables["visits"].method == Lattice()


# --- All releases or none ---


def test_no_solution_for_one_table_publishes_none(clinic, tmp_path, main):
    spec = changed("visits", models=[{"k-anonymity": {"k": 7}}])
    clinic(spec)
    ended = main("run", "clinic.yaml", "--json")
    assert ended.code == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["clinic.yaml", "patients.csv", "visits.csv"]


@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError])
def test_a_failure_in_the_second_table_publishes_none(clinic, tmp_path, monkeypatch, failure):
    def write(table, recoded, target):
        WRITE(table, recoded, target)
        if "visits" in target.path.name:
            raise failure

    monkeypatch.setattr(DuckDBTable, "write", write)
    with pytest.raises(KeyboardInterrupt if failure is KeyboardInterrupt else InputError):
        velado.run(clinic())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["clinic.yaml", "patients.csv", "visits.csv"]


def test_an_earlier_release_survives(clinic, tmp_path, monkeypatch):
    project = clinic()
    velado.run(project)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    monkeypatch.setattr(DuckDBTable, "write", lambda table, recoded, target: target.path.write_text("x\n1\n"))
    with pytest.raises(VerificationError):
        velado.run(project)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


def test_tokens_that_do_not_match_are_noticed(clinic, tmp_path, monkeypatch):
    """The visits get tokens of another key, consistently in plan and output: only the join shows it."""
    monkeypatch.setenv("OTHER", KEY[::-1])
    project = Project.load(clinic())
    visits = project.tables["visits"]
    other = velado.Column("patient", "identifier", operation={"pseudonymize": {"key": "env:OTHER"}}, attribute="person")
    broken = {**project.tables, "visits": Project(**{**vars(visits), "columns": (other, *visits.columns[1:])})}
    monkeypatch.setattr("velado.release.run_tables.check_plans", lambda *_: None)
    with pytest.raises(VerificationError) as caught:
        velado.run(Project(**{**vars(project), "tables": broken}))
    assert "person" in str(caught.value)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["clinic.yaml", "patients.csv", "visits.csv"]


def test_plans_that_differ_are_noticed(clinic, monkeypatch):
    monkeypatch.setenv("OTHER", KEY[::-1])
    project = Project.load(clinic())
    visits = project.tables["visits"]
    other = velado.Column("patient", "identifier", operation={"pseudonymize": {"key": "env:OTHER"}}, attribute="person")
    broken = {**project.tables, "visits": Project(**{**vars(visits), "columns": (other, *visits.columns[1:])})}
    with pytest.raises(InputError) as caught:
        velado.run(Project(**{**vars(project), "tables": broken}))
    assert caught.value.code == "attribute-differs"
