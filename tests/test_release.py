"""Releases end to end: what is written satisfies its models, nothing else gets out, and failures publish nothing."""

import csv
import hashlib
import hmac
import json
import re
from collections import Counter, defaultdict
from dataclasses import replace

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
import velado
from harness.judge_hook import times
from velado import (
    Column,
    DistinctDiversity,
    InputError,
    KAnonymity,
    Lattice,
    NoSolution,
    Output,
    Project,
    anonymize,
    build_hierarchy,
)
from velado.errors import VerificationError
from velado.methods import Fixed
from velado.models import AlphaK, model_from
from velado.recoding import Recoding
from velado.release.manifest import made_from
from velado.tables import Plan, Selection, open_table
from velado.tables.duckdb.table import DuckDBTable

pytestmark = pytest.mark.judged

HIERARCHIES = {"age": {"intervals": [5, 10, 20]}, "zip": {"mask": "right"}, "sex": None}
QUASI = list(HIERARCHIES)
COLUMNS = [
    Column("name", "identifier"),
    *(Column(name, "quasi-identifier", hierarchy=spec) for name, spec in HIERARCHIES.items()),
    Column("ill", "sensitive"),
    Column("cost", "insensitive", exposure="accepted"),
]
PEOPLE = pa.table(
    {
        "name": ["Ana Abreu", "Bruno Brito", "Carla Castro", "Davi Dias", "Eva Egas", "Frei Faro", "Gil Góis", "Ivo Iria"],
        "age": ["31", "34", "33", "52", "57", "52", "51", "90"],
        "zip": ["4071", "4079", "4071", "4085", "4085", "4089", "4081", "9999"],
        "sex": ["f", "m", "f", "m", "m", "m", "m", "f"],
        "ill": ["flu", "flu", "asthma", "asthma", "flu", "angina", "flu", "lupus"],
        "cost": ["10.5", "20.25", "30", "40", "50.125", "60", "70", "81.75"],
    }
)
LEVELS = {"age": 2, "zip": 2, "sex": 1}
"""At these levels there are classes of 3 and 4 records, and one record is alone."""


def records(table):
    return table.to_pylist()


def read(path, delimiter=","):
    with open(path, newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream, delimiter=delimiter))


def multiset(rows):
    return Counter(frozenset(row.items()) for row in rows)


def classes(rows, quasi=QUASI):
    found = defaultdict(list)
    for row in rows:
        found[tuple(row[column] for column in quasi)].append(row)
    return found


def release_people(output=None, columns=COLUMNS, models=None, method=None, data=PEOPLE, **options):
    return anonymize(data, columns, models or [KAnonymity(3)], method or Fixed(LEVELS), output=output, **options)


def csv_of(table, path):
    with open(path, "w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows([table.column_names, *zip(*table.to_pydict().values(), strict=True)])
    return path


# --- Any table, any models: recounted in plain Python ---

MODELS = [
    {"name": "k-anonymity", "k": 2},
    {"name": "k-anonymity", "k": 3},
    {"name": "distinct-diversity", "l": 2, "column": "ill"},
    {"name": "entropy-diversity", "l": 1.5, "column": "ill"},
    {"name": "recursive-diversity", "c": 2, "l": 2, "column": "ill"},
    {"name": "t-closeness", "t": 0.3, "column": "ill", "distance": "equal"},
    {"name": "t-closeness", "t": 0.4, "column": "drug", "distance": "ordered"},
    {"name": "delta-disclosure", "delta": 1.3, "column": "ill"},
    {"name": "beta-likeness", "beta": 0.9, "column": "drug"},
    {"name": "alpha-k", "alpha": 0.7, "k": 2, "column": "drug"},
    {"name": "distinct-diversity", "l": 2, "column": "drug", "strict": ["ill"]},
    {"name": "alpha-k", "alpha": 0.8, "k": 2, "column": "drug", "strict": ["ill"]},
]


def model_of(given):
    """The product's model of the oracle's description."""
    arguments = {key: value for key, value in given.items() if key != "name"}
    if "strict" in arguments:
        arguments["strict"] = True
    return model_from(given["name"], arguments)


ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "age": st.sampled_from(["3", "7", "12", "18", "35"]),
            "zip": st.sampled_from(["10", "11", "20"]),
            "ill": st.sampled_from(["a", "b", "c"]),
            "drug": st.sampled_from(["1", "2", "10"]),
        }
    ),
    min_size=2,
    max_size=24,
)


@settings(max_examples=times(30), deadline=None)
@given(ROWS, st.lists(st.sampled_from(MODELS), min_size=1, max_size=3), st.sampled_from([0, 0.2, 1]))
def test_releases_satisfy_their_models_when_they_are_counted_again(rows, models, suppression):
    quasi = ["age", "zip"]
    hierarchies = {name: build_hierarchy(name, HIERARCHIES[name], sorted({row[name] for row in rows})) for name in quasi}
    trees = {name: h.rows() for name, h in hierarchies.items()}
    columns = [Column(name, "quasi-identifier", hierarchy=HIERARCHIES[name]) for name in quasi]
    columns += [Column(name, "sensitive", exposure="accepted") for name in ("ill", "drug")]
    try:
        release = anonymize(pa.Table.from_pylist(rows), columns, [model_of(m) for m in models], Lattice(suppression=suppression))
    except NoSolution:
        assert not oracle.feasible_nodes(rows, quasi, trees, models, {}, suppression)
        return
    released = records(release.table)
    for members in classes(released, quasi).values():
        assert all(oracle.satisfies(model, members, rows, {}) for model in models)
    assert release.evaluation.released == len(released)
    assert release.evaluation.released + release.evaluation.suppressed == len(rows)
    assert release.evaluation.suppressed <= suppression * len(rows) + 1e-9
    # Every record whose class satisfies the models is there, recoded, and no other.
    labels = {name: h.label_of(release.levels[name]) for name, h in hierarchies.items()}
    recoded = [{**row, **{name: labels[name][row[name]] for name in quasi}} for row in rows]
    kept = [
        row
        for members in classes(recoded, quasi).values()
        if all(oracle.satisfies(model, members, rows, {}) for model in models)
        for row in members
    ]
    assert multiset(released) == multiset(kept)


@pytest.mark.thorough
@settings(max_examples=25, deadline=None)
@given(ROWS, st.sampled_from([2, 3]))
def test_a_release_needs_no_second_treatment(rows, k):
    models = [KAnonymity(k)]
    columns = [Column(name, "quasi-identifier", hierarchy=HIERARCHIES[name]) for name in ("age", "zip")]
    columns += [Column("ill", "sensitive", exposure="accepted"), Column("drug", "insensitive", exposure="accepted")]
    try:
        once = anonymize(pa.Table.from_pylist(rows), columns, models)
    except NoSolution:
        assert len(rows) < k
        return
    again = [replace(column, hierarchy=None) for column in columns]
    twice = anonymize(once.table, again, models, Fixed({"age": 0, "zip": 0}, suppression=0))
    assert twice.evaluation.suppressed == 0
    assert multiset(records(twice.table)) == multiset(records(once.table))


@pytest.mark.parametrize("suppressed", ["drop", "asterisks"])
def test_a_release_of_missing_and_starred_cells_can_be_treated_again(suppressed):
    table = pa.table({"q": ["a", "a", None, None, "b", "c"], "s": list("uvwxyz")})
    columns = [Column("q", "quasi-identifier"), Column("s", "sensitive")]
    output = Output(suppressed=suppressed)
    once = anonymize(table, columns, [KAnonymity(2)], Fixed({"q": 0}), output=output)
    twice = anonymize(once.table, columns, [KAnonymity(2)], Fixed({"q": 0}), output=output)
    assert multiset(records(twice.table)) == multiset(records(once.table))


def test_stars_of_the_data_and_stars_of_the_suppression_do_not_get_in_each_others_way():
    """A release with three starred records is treated again: two more are starred, and the run says so."""
    table = pa.table({"q": ["*", "*", "*", "a", "a"], "s": ["*", "*", "*", "u", "v"]})
    columns = [Column("q", "quasi-identifier"), Column("s", "sensitive")]
    release = anonymize(table, columns, [KAnonymity(3)], Fixed({"q": 0}), output=Output(suppressed="asterisks"))
    assert multiset(records(release.table)) == multiset([{"q": "*", "s": "*"}] * 5)


# --- Columns and rows of the output ---


@pytest.mark.parametrize("where", ["memory", "csv"])
def test_columns_keep_their_order_and_identifiers_are_starred(tmp_path, where):
    path = tmp_path / "out.csv" if where == "csv" else None
    release = release_people(path)
    rows = read(path) if path else records(release.table)
    assert list(rows[0]) == PEOPLE.column_names
    assert len(rows) == 7
    assert {row["name"] for row in rows} == {"*"}
    assert {row["sex"] for row in rows} == {"*"}
    assert {row["age"] for row in rows} == {"30-39", "50-59"}
    assert {row["zip"] for row in rows} == {"40**"}
    assert Counter(row["ill"] for row in rows) == Counter({"flu": 4, "asthma": 2, "angina": 1})
    assert all(len(members) >= 3 for members in classes(rows).values())


@pytest.mark.parametrize("where", ["memory", "csv", "parquet", "xlsx", "arrow"])
def test_a_dropped_identifier_is_no_column(tmp_path, where):
    path = None if where == "memory" else tmp_path / f"out.{where}"
    columns = [Column("name", "identifier", operation="drop"), *COLUMNS[1:]]
    release = release_people(path, columns)
    with open_table(path or release.table) as table:
        assert table.header == PEOPLE.column_names[1:]
        assert table.rows() == 7


def test_columns_may_be_described_in_any_order():
    release = release_people(columns=COLUMNS[::-1])
    assert release.table.column_names == PEOPLE.column_names
    assert release.levels == LEVELS


def test_the_rest_is_dropped_kept_or_refused():
    some = COLUMNS[1:5]
    assert release_people(columns=some, rest="drop").table.column_names == [*QUASI, "ill"]
    wards = PEOPLE.select([*QUASI, "ill"]).append_column("ward", pa.array(["east", "west"] * 4))
    kept = release_people(data=wards, columns=some, rest="insensitive").table
    assert kept.column_names == wards.column_names
    assert set(kept.column("ward").to_pylist()) == {"east", "west"}
    with pytest.raises(InputError) as caught:
        release_people(columns=some, rest="insensitive")
    assert (caught.value.code, caught.value.column) == ("identifier-in-disguise", "name")
    assert "Ana Abreu" not in str(caught.value)
    with pytest.raises(InputError) as caught:
        release_people(columns=some)
    assert caught.value.code == "column-without-role"
    assert "name, cost" in caught.value.message


def test_a_column_described_twice_is_refused():
    with pytest.raises(InputError) as caught:
        release_people(columns=[*COLUMNS, Column("name", "insensitive")])
    assert caught.value.column == "name"


@pytest.mark.parametrize("where", ["memory", "csv", "parquet", "xlsx"])
def test_suppressed_records_may_stay_as_stars(tmp_path, where):
    path = None if where == "memory" else tmp_path / f"out.{where}"
    release = release_people(Output(path, suppressed="asterisks", order="keep"))
    with open_table(path or release.table) as table:
        rows = table.fetch(Plan((), Selection()), order="keep").to_pylist()
    assert (release.evaluation.released, release.evaluation.suppressed, len(rows)) == (7, 1, 8)
    assert rows[-1] == {"name": "*", "age": "*", "zip": "*", "sex": "*", "ill": "*", "cost": "*"}
    assert all(row["ill"] != "*" for row in rows[:-1])
    assert all(len(members) >= 3 for members in classes(rows[:-1]).values())


def test_no_row_numbers_survive(tmp_path):
    frame = PEOPLE.to_pandas().set_axis([f"row-{i}" for i in range(100, 108)], axis=0)
    release = release_people(tmp_path / "out.csv", data=frame)
    assert list(read(tmp_path / "out.csv")[0]) == PEOPLE.column_names
    assert "row-10" not in (tmp_path / "out.csv").read_text() + json.dumps(release.manifest)


@pytest.mark.parametrize("kind", ["path", "text", "mapping", "pandas", "polars", "arrow"])
def test_every_kind_of_input_gives_the_same_release(tmp_path, kind):
    path = csv_of(PEOPLE, tmp_path / "people.csv")
    data = {
        "path": path,
        "text": str(path),
        "mapping": {"path": path, "delimiter": ","},
        "pandas": PEOPLE.to_pandas(),
        "polars": pl.from_arrow(PEOPLE),
        "arrow": PEOPLE,
    }[kind]
    found = release_people(Output(order="sorted"), data=data).table
    found = pa.table(found) if kind in ("pandas", "polars") else found
    assert found.to_pydict() == release_people(Output(order="sorted")).table.to_pydict()


def test_the_input_is_not_touched(tmp_path):
    path = csv_of(PEOPLE, tmp_path / "people.csv")
    before = path.read_bytes()
    release_people(tmp_path / "out.csv", data=path)
    with pytest.raises(InputError) as caught:
        release_people(path, data=path)
    assert caught.value.code == "output-is-input"
    assert path.read_bytes() == before


def test_no_solution_writes_nothing(tmp_path):
    with pytest.raises(NoSolution) as caught:
        release_people(tmp_path / "out.csv", models=[KAnonymity(9)], method=Lattice())
    assert caught.value.exit_code == 1
    with pytest.raises(NoSolution):
        release_people(tmp_path / "out.csv", models=[KAnonymity(8)])
    assert list(tmp_path.iterdir()) == []


# --- Several sensitive columns ---

CLINIC = pa.table(
    {
        "q": list("aaaabbbb"),
        "ill": ["flu", "flu", "flu", "asthma", "flu", "flu", "asthma", "asthma"],
        "drug": ["x", "y", "x", "x", "x", "y", "x", "y"],
    }
)
CLINIC_COLUMNS = [Column("q", "quasi-identifier"), Column("ill", "sensitive"), Column("drug", "sensitive")]


def test_every_sensitive_column_is_protected_by_its_models():
    lonely = pa.concat_tables([CLINIC, pa.table({"q": ["c"] * 2, "ill": ["flu", "asthma"], "drug": ["x", "x"]})])
    models = [DistinctDiversity(2, "ill"), DistinctDiversity(2, "drug")]
    release = anonymize(lonely, CLINIC_COLUMNS, models, Fixed({"q": 0}))
    assert Counter(release.table.column("q").to_pylist()) == Counter({"a": 4, "b": 4})


def test_strict_joins_the_other_sensitive_columns():
    """In class a, whoever takes y has flu: two drugs and two illnesses, yet not strictly diverse."""
    loose = anonymize(CLINIC, CLINIC_COLUMNS, [DistinctDiversity(2, "ill")], Fixed({"q": 0}))
    assert loose.evaluation.suppressed == 0
    strict = anonymize(CLINIC, CLINIC_COLUMNS, [DistinctDiversity(2, "ill", strict=True)], Fixed({"q": 0}))
    assert set(strict.table.column("q").to_pylist()) == {"b"}
    assert strict.evaluation.suppressed == 4


def test_strict_alpha_k_counts_every_part():
    """Each class has five records, but in class a nobody else has the cancer of the one who does."""
    people = pa.table({"q": list("aaaaabbbbb"), "ill": ["flu"] * 4 + ["cancer"] + ["flu"] * 5, "drug": list("xxyyzxxxyy")})
    loose = anonymize(people, CLINIC_COLUMNS, [AlphaK(1, 2, "drug")], Fixed({"q": 0}))
    assert loose.evaluation.suppressed == 0
    strict = anonymize(people, CLINIC_COLUMNS, [AlphaK(1, 2, "drug", strict=True)], Fixed({"q": 0}))
    assert set(strict.table.column("q").to_pylist()) == {"b"}
    assert [v.achieved for v in strict.evaluation.models] == [{"k": 5, "alpha": 0.6}]


@pytest.mark.parametrize("where", ["csv", "xlsx"])
def test_strict_models_are_verified_from_what_was_written(tmp_path, where):
    path = tmp_path / f"out.{where}"
    models = [KAnonymity(2), DistinctDiversity(2, "ill", strict=True), DistinctDiversity(2, "drug", strict=True)]
    output = Output(path, suppressed="asterisks")
    release = anonymize(CLINIC, CLINIC_COLUMNS, models, Fixed({"q": 0}), output=output)
    assert [(v.name, v.satisfied) for v in release.evaluation.models] == [(m.name, True) for m in models]
    assert [v.achieved for v in release.evaluation.models] == [4, 2, 2]


def test_a_model_needs_a_sensitive_column():
    with pytest.raises(InputError) as caught:
        release_people(models=[DistinctDiversity(2, "cost")])
    assert (caught.value.code, caught.value.column) == ("not-sensitive", "cost")


# --- The manifest ---

SHA256 = re.compile(r"[0-9a-f]{64}")


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def manifest(tmp_path):
    """The manifest of a release from file to file, as it was written."""
    path = csv_of(PEOPLE, tmp_path / "people.csv")
    release = release_people(tmp_path / "out.csv", data=path)
    assert release.manifest_path == tmp_path / "out.csv.manifest.json"
    text = release.manifest_path.read_text(encoding="utf-8")
    assert json.loads(text) == json.loads(json.dumps(release.manifest))
    return json.loads(text)


def test_the_manifest_has_the_hash_of_the_output_and_no_other(manifest, tmp_path):
    assert manifest["input"] == {"name": "people.csv", "rows": 8}
    assert manifest["output"]["sha256"] == sha256(tmp_path / "out.csv")
    assert len(SHA256.findall(json.dumps(manifest))) == 1


def test_the_private_manifest_has_digests_under_its_key(manifest, tmp_path):
    path = tmp_path / "out.csv.private.json"
    assert path.stat().st_mode & 0o777 == 0o600
    private = json.loads(path.read_text(encoding="utf-8"))
    key = bytes.fromhex(private["key"])
    digest = hmac.new(key, sha256(tmp_path / "people.csv").encode(), "sha256").hexdigest()
    assert private["digests"]["input"] == digest
    assert sha256(tmp_path / "people.csv") not in path.read_text(encoding="utf-8")
    assert private["output"]["sha256"] == sha256(tmp_path / "out.csv")
    assert private["evaluation"]["rows"] == 8
    again = release_people(tmp_path / "out.csv", data=tmp_path / "people.csv").private_manifest
    assert again["key"] != private["key"]
    assert again["digests"]["input"] != private["digests"]["input"]


def test_the_manifest_has_versions_models_and_results(manifest):
    assert manifest["versions"]["velado"] == velado.__version__
    assert {"python", "numpy", "duckdb"} <= set(manifest["versions"])
    assert manifest["models"] == [{"k-anonymity": {"k": 3}}]
    assert manifest["method"]["fixed"]["levels"] == LEVELS
    assert manifest["recoding"]["levels"] == LEVELS
    assert manifest["recoding"]["classes"] == 2
    assert manifest["evaluation"]["released"] == 7
    assert manifest["columns"]["name"]["role"] == "identifier"


def test_the_manifest_has_no_original_values(manifest):
    text = json.dumps(manifest, ensure_ascii=False)
    for name in PEOPLE.column("name").to_pylist():
        assert name not in text
    for column in ("zip", "ill"):
        for value in set(PEOPLE.column(column).to_pylist()):
            assert f'"{value}"' not in text


@pytest.mark.parametrize("where", ["file", "memory"])
@pytest.mark.parametrize(
    "change",
    [
        {"columns": (Column("name", "identifier", operation="drop"), *COLUMNS[1:])},
        {"columns": (COLUMNS[0], replace(COLUMNS[1], hierarchy={"intervals": [5, 10]}), *COLUMNS[2:])},
        {"models": (KAnonymity(2),)},
        {"method": Fixed({"age": 3, "zip": 2, "sex": 1})},
        {"rest": "drop"},
        {"output": Output(suppressed="asterisks")},
    ],
    ids=["operation", "hierarchy", "model", "method", "rest", "output"],
)
def test_the_hash_of_the_project_tells_projects_apart(tmp_path, where, change):
    data = PEOPLE if where == "memory" else csv_of(PEOPLE, tmp_path / "people.csv")
    project = Project(data, tuple(COLUMNS), (KAnonymity(3),), Fixed(LEVELS))
    assert made_from(release_people(data=data).private_manifest, "project", project.digest())
    assert replace(project, **change).digest() != project.digest()


# --- Recodings: save, load, apply ---


@pytest.fixture(scope="module")
def recoding():
    return release_people().recoding


def test_a_saved_recoding_is_the_same(tmp_path, recoding):
    recoding.save(tmp_path / "recoding.json")
    again = Recoding.load(tmp_path / "recoding.json")
    assert again.as_dict() == recoding.as_dict()
    assert again.digest == recoding.digest
    assert (again.levels, again.identifiers) == (LEVELS, ("name",))
    assert again.apply(PEOPLE).table.equals(recoding.apply(PEOPLE).table)


def test_a_recoding_is_saved_with_the_output(tmp_path):
    release = release_people(Output(tmp_path / "out.csv", recoding=tmp_path / "recoding.json"))
    digest = Recoding.load(tmp_path / "recoding.json").digest
    assert made_from(release.private_manifest, "recoding", digest)
    assert (tmp_path / "recoding.json").stat().st_mode & 0o777 == 0o600


def test_a_recoding_has_no_identifiers(recoding):
    text = json.dumps(recoding.as_dict(), ensure_ascii=False)
    assert not any(name in text for name in PEOPLE.column("name").to_pylist())


def test_applied_to_the_same_rows_it_gives_the_same_release(recoding):
    released = release_people(Output(order="keep")).table
    applied = recoding.apply(PEOPLE)
    assert applied.table.to_pydict() == released.to_pydict()
    assert (applied.kept, applied.suppressed, applied.unseen) == (7, 1, {})


def new_rows(**cells):
    row = {"name": "Nova Neves", "age": "31", "zip": "4071", "sex": "m", "ill": "gout", "cost": "1"}
    return pa.table({name: cells.get(name, [value] * len(next(iter(cells.values())))) for name, value in row.items()})


def test_new_rows_are_recoded_or_suppressed(recoding):
    # 31 and 52 are in released classes; 90 is known, but its class was not released; 66 was never seen.
    applied = recoding.apply(new_rows(age=["31", "90", "52", "66"]))
    assert applied.table.column("age").to_pylist() == ["30-39", "50-59"]
    assert applied.table.column("name").to_pylist() == ["*", "*"]
    assert applied.table.column("zip").to_pylist() == ["40**", "40**"]
    assert (applied.kept, applied.suppressed, applied.unseen) == (2, 2, {"age": ["66"]})


def test_known_values_in_a_combination_that_was_not_released_are_suppressed(recoding):
    applied = recoding.apply(new_rows(zip=["9999", "4071"]))
    assert (applied.kept, applied.suppressed, applied.unseen) == (1, 1, {})


def test_unseen_values_are_reported_five_at_most(recoding):
    applied = recoding.apply(new_rows(age=[str(i) for i in range(60, 80)], sex=["x"] * 20))
    assert applied.unseen == {"age": ["60", "61", "62", "63", "64"], "sex": ["x"]}
    assert applied.kept == 0


def test_missing_values_that_were_never_seen_are_suppressed(recoding):
    applied = recoding.apply(new_rows(age=["31", None]))
    assert (applied.kept, applied.suppressed, applied.unseen) == (1, 1, {"age": ["(missing)"]})


def test_missing_values_that_were_seen_are_recoded():
    table = pa.table({"q": ["a", "a", None, None]})
    recoding = anonymize(table, [Column("q", "quasi-identifier")], [KAnonymity(2)], Fixed({"q": 0})).recoding
    applied = recoding.apply(pa.table({"q": [None, "a", "b"]}))
    assert applied.table.column("q").to_pylist() == [None, "a"]
    assert applied.unseen == {"q": ["b"]}


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.Table])
def test_tables_come_back_in_kind(recoding, kind):
    rows = {pd.DataFrame: PEOPLE.to_pandas, pl.DataFrame: lambda: pl.from_arrow(PEOPLE), pa.Table: lambda: PEOPLE}
    assert isinstance(recoding.apply(rows[kind]()).table, kind)


def test_a_file_can_be_recoded(tmp_path, recoding):
    assert recoding.apply(csv_of(PEOPLE, tmp_path / "people.csv")).kept == 7


def test_dropped_columns_stay_dropped():
    release = release_people(columns=[Column("name", "identifier", operation="drop"), *COLUMNS[1:]])
    assert release.recoding.apply(PEOPLE).table.column_names == PEOPLE.column_names[1:]


def test_new_rows_must_have_the_recoded_columns(recoding):
    with pytest.raises(InputError) as caught:
        recoding.apply(PEOPLE.drop_columns(["zip"]))
    assert caught.value.code == "unknown-column"
    assert "zip" in caught.value.message


def test_columns_that_the_recoding_does_not_know_do_not_pass(recoding):
    """No column has a role by default: one that the release did not have is refused or left out."""
    rows = PEOPLE.append_column("email", pa.array([f"person{i}@example.org" for i in range(8)]))
    assert "email" not in recoding.apply(rows).table.column_names


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (None, "missing-file"),
        ("", "not-a-recoding"),
        ("{}", "not-a-recoding"),
        ("[]", "not-a-recoding"),
        ('{"velado-recoding": 1}', "not-a-recoding"),
        ('{"velado-recoding": 99}', "not-a-recoding"),
    ],
)
def test_what_is_not_a_recoding(tmp_path, text, code):
    path = tmp_path / "recoding.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputError) as caught:
        Recoding.load(path)
    assert caught.value.code == code


# --- Verification fails closed ---

WRITE = DuckDBTable.write


def change_file(change):
    """Write as usual, then change the rows of the file."""

    def write(table, recoded, target):
        WRITE(table, recoded, target)
        with open(target.path, newline="", encoding="utf-8") as stream:
            header, *rows = csv.reader(stream)
        header, rows = change(header, rows)
        with open(target.path, "w", newline="", encoding="utf-8") as out:
            csv.writer(out).writerows([header, *rows])

    return write


def unrecoded(table, recoded, target):
    """The identity: the rows as they came, identifiers starred."""
    WRITE(table, Plan((), Selection(), recoded.starred), target)


def no_file(table, recoded, target):
    pass


def empty_file(table, recoded, target):
    target.path.write_text("")


BROKEN_WRITERS = {
    "identity": unrecoded,
    "ages as they came": change_file(lambda header, rows: (header, [[r[0], str(i), *r[2:]] for i, r in enumerate(rows)])),
    "a row twice": change_file(lambda header, rows: (header, [*rows, rows[0]])),
    "a row lost": change_file(lambda header, rows: (header, rows[1:])),
    "a row split off": change_file(lambda header, rows: (header, [[rows[0][0], "31", *rows[0][2:]], *rows[1:]])),
    "an identifier": change_file(lambda header, rows: (header, [["Ana Abreu", *rows[0][1:]], *rows[1:]])),
    "all identifiers": change_file(lambda header, rows: (header, [["Ana Abreu", *row[1:]] for row in rows])),
    "other sensitive values": change_file(lambda header, rows: (header, [[*r[:4], "gout", r[5]] for r in rows])),
    "one sensitive value": change_file(lambda header, rows: (header, [[*r[:4], "flu", r[5]] for r in rows])),
    "another header": change_file(lambda header, rows: (["person", *header[1:]], rows)),
    "a column more": change_file(lambda header, rows: ([*header, "row"], [[*r, str(i)] for i, r in enumerate(rows)])),
    "a column less": change_file(lambda header, rows: (header[1:], [row[1:] for row in rows])),
    "a field more in a row": change_file(lambda header, rows: (header, [[*rows[0], "x"], *rows[1:]])),
    "header only": change_file(lambda header, rows: (header, [])),
    "an empty file": empty_file,
    "no file": no_file,
}


@pytest.mark.parametrize("writer", BROKEN_WRITERS)
def test_what_was_not_written_right_is_not_published(tmp_path, monkeypatch, writer):
    monkeypatch.setattr(DuckDBTable, "write", BROKEN_WRITERS[writer])
    path = tmp_path / "out.csv"
    models = [KAnonymity(3), DistinctDiversity(2, "ill")]
    output = Output(path, recoding=tmp_path / "recoding.json")
    with pytest.raises(VerificationError) as caught:
        release_people(output, models=models)
    assert caught.value.code == "verification-failed"
    assert caught.value.exit_code == 70
    assert list(tmp_path.iterdir()) == []


def test_the_broken_writers_are_the_reason(tmp_path, monkeypatch):
    """The same run passes when the writer changes nothing, so that the tests above mean something."""
    monkeypatch.setattr(DuckDBTable, "write", change_file(lambda header, rows: (header, rows)))
    release_people(tmp_path / "out.csv", models=[KAnonymity(3), DistinctDiversity(2, "ill")])
    assert len(read(tmp_path / "out.csv")) == 7


def test_an_earlier_release_survives_a_failure(tmp_path, monkeypatch):
    path = tmp_path / "out.csv"
    release_people(path)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    monkeypatch.setattr(DuckDBTable, "write", unrecoded)
    with pytest.raises(VerificationError):
        release_people(path)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


def test_stars_do_not_hide_a_violation(tmp_path, monkeypatch):
    """With suppressed records as stars, a record of its own class is found all the same."""
    broken = change_file(lambda header, rows: (header, [[rows[0][0], "31", *rows[0][2:]], *rows[1:]]))
    monkeypatch.setattr(DuckDBTable, "write", broken)
    with pytest.raises(VerificationError):
        release_people(Output(tmp_path / "out.csv", suppressed="asterisks", order="keep"))
    assert list(tmp_path.iterdir()) == []


def test_rows_in_memory_are_verified_too(monkeypatch):
    def unrecoded_rows(table, recoded, into):
        WRITE(table, Plan((), Selection(), recoded.starred), into)

    monkeypatch.setattr(DuckDBTable, "write", unrecoded_rows)
    with pytest.raises(VerificationError):
        release_people()


def test_a_crash_while_writing_leaves_nothing(tmp_path, monkeypatch):
    def crash(table, recoded, target):
        WRITE(table, recoded, target)
        raise KeyboardInterrupt

    monkeypatch.setattr(DuckDBTable, "write", crash)
    with pytest.raises(KeyboardInterrupt):
        release_people(tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


# --- Project objects and files give the same ---


def test_a_project_file_gives_the_same_release(tmp_path):
    path = csv_of(PEOPLE, tmp_path / "people.csv")
    output = Output(tmp_path / "out.csv", order="sorted")
    project = Project(path, tuple(COLUMNS), (KAnonymity(3),), Fixed(LEVELS), output)
    project.save(tmp_path / "project.yaml")
    from_object = velado.run(project)
    bytes_of_object = output.path.read_bytes()
    from_file = velado.run(tmp_path / "project.yaml")
    assert output.path.read_bytes() == bytes_of_object
    assert from_file.recoding.digest == from_object.recoding.digest
    assert from_file.manifest["output"]["sha256"] == sha256(output.path)


def test_the_json_of_a_release(tmp_path):
    shown = release_people(tmp_path / "out.csv", method=Lattice(minimal=True)).as_dict()
    assert json.loads(json.dumps(shown)) == shown
    assert shown["rows"] == shown["released"] + shown["suppressed"] == 8
    rows = read(tmp_path / "out.csv")
    sizes = [len(members) for members in classes(rows).values()]
    assert shown["classes"] == len(sizes)
    assert shown["class_size"] == {"min": min(sizes), "max": max(sizes), "mean": sum(sizes) / len(sizes)}
    assert shown["models"] == [{"name": "k-anonymity", "required": {"k": 3}, "achieved": min(sizes), "satisfied": True}]
    assert shown["search"]["proven_optimal"]
    assert (shown["output"], shown["manifest"]) == (str(tmp_path / "out.csv"), str(tmp_path / "out.csv.manifest.json"))
