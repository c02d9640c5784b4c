"""New rows beside an earlier release: recoded as it was, judged together with it, or nothing is published."""

from __future__ import annotations

import csv
import json
import random
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
import yaml

import velado
from conftest import Command
from servers import mariadb as maria
from servers import postgresql as server
from velado import Column, InputError, KAnonymity, Mondrian, NoSolution, Output, Project, apply, run
from velado.errors import VerificationError
from velado.methods import Fixed
from velado.models import AverageRisk, KMap, model_from
from velado.recoding import Recoding
from velado.release import Arrived
from velado.tables import open_table
from velado.tables.duckdb.stage import FileStage
from velado.tables.duckdb.table import DuckDBTable

pytestmark = pytest.mark.judged

QUASI = ("age", "zip")
COLUMNS = (
    Column("name", "identifier"),
    Column("age", "quasi-identifier", hierarchy={"intervals": [10, 100]}),
    Column("zip", "quasi-identifier", hierarchy={"mask": "right"}),
    Column("ill", "sensitive"),
    Column("ward", "insensitive", exposure="accepted"),
)
AGES = [str(age) for age in (21, 24, 28, 31, 35, 39, 44, 47)]
ZIPS = ["100", "101", "110", "115", "200"]
ILL = ["flu", "asthma", "angina", "lupus"]


def people(rows: int, seed: int, ages: Sequence[str] = AGES, ill: Sequence[str] = ILL) -> pa.Table:
    draw = random.Random(seed)
    return pa.table(
        {
            "name": [f"Person {seed}-{i}" for i in range(rows)],
            "age": [draw.choice(ages) for _ in range(rows)],
            "zip": [draw.choice(ZIPS) for _ in range(rows)],
            "ill": [draw.choice(ill) for _ in range(rows)],
            "ward": [draw.choice("AB") for _ in range(rows)],
        }
    )


def described(data: Any, *models: Any, **changes: Any) -> Project:
    # All values are there, so that the recoding knows them.
    given = {"method": Fixed({"age": 1, "zip": 1}), "name": "ward", **changes}
    return Project(data, COLUMNS, models or (KAnonymity(3),), **given)


# The oracle: plain Python on rows.


def label(row: dict[str, Any]) -> tuple[str, str]:
    first = int(row["age"]) // 10 * 10
    return f"{first}-{first + 9}", row["zip"][:2] + "*"


def sound(rows: Sequence[dict[str, Any]], everybody: Counter[str], k: int, l: int, t: float) -> bool:  # noqa: E741
    """Whether a class has k rows, l different illnesses, and a distribution of these near that of everybody."""
    own = Counter(row["ill"] for row in rows)
    size, all_rows = len(rows), sum(everybody.values())
    distance = sum(abs(own[v] / size - n / all_rows) for v, n in everybody.items()) / 2
    return size >= k and len(own) >= l and distance <= t + 1e-12


def expected(
    old: Iterable[dict[str, Any]],
    new: Iterable[dict[str, Any]],
    k: int,
    l: int = 1,  # noqa: E741
    t: float = 1.0,
) -> list[tuple[Any, ...]] | None:
    """The new rows that are released, as they are shown; None if what was released before breaks a model now."""
    before, arriving = defaultdict(list), defaultdict(list)
    for row in old:
        before[row["age"], row["zip"]].append(row)
    for row in new:
        arriving[label(row)].append(row)
    everybody = Counter(r["ill"] for rows in (*before.values(), *arriving.values()) for r in rows)
    shown = []
    for key in {*before, *arriving}:
        if sound(before[key] + arriving[key], everybody, k, l, t):
            shown += [(*key, r["ill"], r["ward"]) for r in arriving[key]]
        elif before[key] and not sound(before[key], everybody, k, l, t):
            return None
    return sorted(shown)


def shown(table: pa.Table) -> list[tuple[Any, ...]]:
    return sorted((r["age"], r["zip"], r["ill"], r["ward"]) for r in table.to_pylist())


@pytest.mark.matrix(8)
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("k", "l", "t"), [(3, 1, 1.0), (5, 1, 1.0), (4, 3, 1.0), (2, 2, 0.45)], ids=["k3", "k5", "k4l3", "k2l2t"])
def test_the_same_rows_as_an_oracle_says(seed: int, k: int, l: int, t: float) -> None:  # noqa: E741
    models: list[Any] = [KAnonymity(k)]
    models += [model_from("distinct-diversity", {"l": l, "column": "ill"})] if l > 1 else []
    models += [model_from("t-closeness", {"t": t, "column": "ill", "distance": "equal"})] if t < 1 else []
    project = described(people(60, seed), *models)
    release = run(project)
    assert isinstance(release, velado.Release)
    new = people(25, 1000 + seed)
    wanted = expected(release.table.to_pylist(), new.to_pylist(), k, l, t)
    if not wanted:
        with pytest.raises(NoSolution) as caught:
            apply(release.recoding, new, release=release.table, project=project, unseen="suppress")
        assert caught.value.code in ("earlier-breaks", "nothing-arrives")
        return
    arrived = apply(release.recoding, new, release=release.table, project=project, unseen="suppress")
    assert shown(arrived.table) == wanted
    assert (arrived.rows, arrived.released, arrived.suppressed) == (25, len(wanted), 25 - len(wanted))
    together = Counter((r["age"], r["zip"]) for r in [*release.table.to_pylist(), *arrived.table.to_pylist()])
    assert arrived.classes == len(together)
    assert arrived.class_size["min"] == min(together.values()) >= k
    assert arrived.smallest_new == min(Counter(row[:2] for row in wanted).values())
    assert all(verdict.satisfied for verdict in arrived.models)
    assert set(arrived.table["name"].to_pylist()) == {"*"}


# A project file, a saved recoding, new rows: the files of most tests.


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A release with its recoding, and 40 new rows."""
    pyarrow.csv.write_csv(people(200, 1), tmp_path / "people.csv")
    pyarrow.csv.write_csv(people(40, 2), tmp_path / "new.csv")
    project = {
        "name": "ward",
        "source": "people.csv",
        "columns": {
            "name": "identifier",
            "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [10, 100]}},
            "zip": {"role": "quasi-identifier", "hierarchy": {"mask": "right"}},
            "ill": "sensitive",
            "ward": {"role": "insensitive", "exposure": "accepted"},
        },
        "models": [{"k-anonymity": {"k": 3}}],
        "method": {"fixed": {"levels": {"age": 1, "zip": 1}}},
        "output": {"path": "release.csv", "recoding": "recoding.json"},
    }
    (tmp_path / "ward.yaml").write_text(yaml.safe_dump(project))
    run(tmp_path / "ward.yaml")
    return tmp_path


def rows_of(path: Path) -> list[dict[str, str]]:
    with open(path, newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def there(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() if file.is_file() else b"" for file in folder.iterdir()}


def add(path: Path, *rows: str) -> None:
    path.write_text(path.read_text() + "".join(f"{row}\n" for row in rows))


def test_a_saved_recoding_knows_its_project(folder: Path, main: Command) -> None:
    ended = main("apply", folder / "recoding.json", folder / "new.csv", "-o", folder / "more.csv", "--json")
    assert (ended.code, ended.err) == (0, "")
    found = ended.json
    assert (found["rows"], found["released"], found["earlier"]) == (40, 40, 200)
    assert found["models"] == [
        {"name": "k-anonymity", "required": {"k": 3}, "achieved": found["class_size"]["min"], "satisfied": True}
    ]
    old, new = rows_of(folder / "release.csv"), rows_of(folder / "more.csv")
    wanted = expected(old, rows_of(folder / "new.csv"), 3)
    assert sorted((r["age"], r["zip"], r["ill"], r["ward"]) for r in new) == wanted
    manifest = json.loads((folder / "more.csv.manifest.json").read_text())
    first = json.loads((folder / "release.csv.manifest.json").read_text())
    assert manifest["earlier"] == [{"name": "release.csv", "sha256": first["output"]["sha256"]}]
    assert manifest["together"]["records"] == 240
    assert (manifest["released"], manifest["suppressed"], manifest["protection"]) == (40, 0, "applied")
    assert "Person" not in json.dumps(manifest)


def test_folders_may_be_moved_together(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    moved = tmp_path_factory.mktemp("elsewhere") / "moved"
    folder.rename(moved)
    assert apply(moved / "recoding.json", moved / "new.csv", output=moved / "more.csv").released == 40


def test_the_project_may_be_given_and_replaces_the_saved_one(folder: Path, main: Command) -> None:
    stronger = yaml.safe_load((folder / "ward.yaml").read_text()) | {"models": [{"k-anonymity": {"k": 180}}]}
    (folder / "stronger.yaml").write_text(yaml.safe_dump(stronger))
    before = there(folder)
    ended = main(
        "apply", folder / "recoding.json", folder / "new.csv", "-o", folder / "more.csv", "--project", folder / "stronger.yaml"
    )
    assert ended.code == 1
    assert there(folder) == before


def test_a_recoding_of_the_first_version_needs_a_project(folder: Path) -> None:
    data = json.loads((folder / "recoding.json").read_text())
    del data["project"]
    (folder / "recoding.json").write_text(json.dumps({**data, "velado-recoding": 1}))
    with pytest.raises(InputError) as caught:
        apply(folder / "recoding.json", folder / "new.csv")
    assert caught.value.code == "no-project"
    arrived = apply(folder / "recoding.json", folder / "new.csv", project=folder / "ward.yaml")
    assert arrived.table.num_rows == 40


def test_a_third_lot_of_rows_is_judged_with_both_before(folder: Path) -> None:
    pyarrow.csv.write_csv(people(30, 3), folder / "third.csv")
    apply(folder / "recoding.json", folder / "new.csv", output=folder / "more.csv")
    arrived = apply(folder / "recoding.json", folder / "third.csv", release=[folder / "release.csv", folder / "more.csv"])
    assert (arrived.earlier, arrived.released) == (240, 30)
    files = [*rows_of(folder / "release.csv"), *rows_of(folder / "more.csv"), *arrived.table.to_pylist()]
    assert arrived.class_size["min"] == min(Counter((r["age"], r["zip"]) for r in files).values())


def test_tables_come_back_in_kind(folder: Path) -> None:
    arrived = apply(folder / "recoding.json", people(20, 4).to_pandas(), release=folder / "release.csv")
    assert isinstance(arrived.table, pd.DataFrame)


def test_other_formats_and_a_star_for_the_suppressed(folder: Path) -> None:
    new = people(20, 5)
    rare = pa.table({"name": ["Rare"], "age": ["21"], "zip": ["200"], "ill": ["flu"], "ward": ["A"]})
    old = [r for r in rows_of(folder / "release.csv") if not (r["age"] == "20-29" and r["zip"] == "20*")]
    with open(folder / "release.csv", "w", newline="") as stream:
        writer = csv.DictWriter(stream, old[0])
        writer.writeheader()
        writer.writerows(old)
    new = pa.concat_tables([new.filter(pa.compute.not_equal(new["zip"], "200")), rare])
    pq.write_table(new, folder / "new.parquet")
    output = Output(folder / "more.parquet", suppressed="asterisks")
    arrived = apply(folder / "recoding.json", folder / "new.parquet", output=output)
    written = pq.read_table(folder / "more.parquet").to_pylist()
    assert (arrived.suppressed, len(written)) == (1, new.num_rows)
    assert [set(r.values()) for r in written].count({"*"}) == 1
    # Rows of * that were published before are nobody's.
    again = apply(folder / "recoding.json", folder / "new.csv", release=[folder / "release.csv", folder / "more.parquet"])
    assert again.earlier == len(old) + arrived.released


@pytest.mark.parametrize("ending", ["parquet", "csv", "xlsx"])
def test_columns_keep_their_types(tmp_path: Path, ending: str) -> None:
    draw = random.Random(1)

    def visits(rows: int) -> pa.Table:
        return pa.table(
            {
                "age": pa.array([draw.choice([31, 35, 40]) for _ in range(rows)], pa.int64()),
                "day": pa.array([date(2026, draw.choice([1, 2]), draw.randint(1, 9)) for _ in range(rows)], pa.date32()),
                "cost": pa.array([draw.choice([1.5, 2.0, 10.25]) for _ in range(rows)], pa.float64()),
            }
        )

    day = Column("day", "quasi-identifier", type="date", hierarchy={"dates": ["month", "year"]})
    columns = (Column("age", "quasi-identifier", type="integer"), day, Column("cost", "sensitive"))
    models = (KAnonymity(2), model_from("t-closeness", {"t": 0.9, "column": "cost", "distance": "ordered"}))
    output = Output(tmp_path / f"release.{ending}")
    project = Project(visits(200), columns, models, Fixed({"age": 0, "day": 1}), output)
    release = run(project)
    assert isinstance(release, velado.Release)
    new = visits(60)
    arrived = apply(release.recoding, new, project=project, output=tmp_path / f"more.{ending}")
    assert (arrived.released, arrived.earlier) == (60, 200)
    if ending == "parquet":
        table = pq.read_table(tmp_path / "more.parquet")
        assert [str(f.type) for f in table.schema] == ["int64", "string", "double"]
        wanted = [(r["age"], r["day"].strftime("%Y-%m"), r["cost"]) for r in new.to_pylist()]
        assert sorted(tuple(r.values()) for r in table.to_pylist()) == sorted(wanted)
    # What was applied can be an earlier release itself.
    both = [tmp_path / f"release.{ending}", tmp_path / f"more.{ending}"]
    assert apply(release.recoding, visits(20), release=both, project=project).earlier == 260


def test_texts_that_look_like_formulas_are_the_same_values(tmp_path: Path) -> None:
    old = pa.table({"plan": ["=1+1", "=1+1", "-x", "-x"] * 3, "ill": ["=a", "b"] * 6})
    columns = (Column("plan", "quasi-identifier"), Column("ill", "sensitive"))
    models = (KAnonymity(2), model_from("distinct-diversity", {"l": 2, "column": "ill"}))
    project = Project(old, columns, models, Fixed({"plan": 0}), Output(tmp_path / "release.csv"))
    release = run(project)
    assert isinstance(release, velado.Release)
    arrived = apply(release.recoding, old.slice(0, 4), project=project, output=tmp_path / "more.csv")
    assert (arrived.classes, arrived.class_size["min"], arrived.models[1].achieved) == (2, 8, 2)
    assert "'=1+1" in (tmp_path / "more.csv").read_text()


# Values that the recoding does not know.


def test_unseen_values_are_refused_with_their_columns_and_a_way_out(folder: Path, main: Command) -> None:
    add(folder / "new.csv", *(f'"Secret Name {age}x","{age}","100","flu","A"' for age in range(60, 70)), '"X","21",,"flu","B"')
    before = there(folder)
    ended = main("apply", folder / "recoding.json", folder / "new.csv", "-o", folder / "more.csv")
    assert ended.code == 2
    assert "11 of 51 new rows" in ended.err
    assert "column 'age': 60, 61, 62, 63, 64" in ended.err
    assert "column 'zip': (missing)" in ended.err
    assert "65" not in ended.err
    assert "--unseen suppress" in ended.err
    assert "Secret" not in ended.err
    assert there(folder) == before


def test_rows_with_unseen_values_can_be_suppressed(folder: Path, main: Command) -> None:
    add(folder / "new.csv", '"X","99","100","flu","A"', '"Y","21","999","cholera","B"')
    ended = main("apply", folder / "recoding.json", folder / "new.csv", "-o", folder / "more.csv", "--unseen", "suppress", "--json")
    assert ended.code == 0
    found = ended.json
    assert (found["rows"], found["released"], found["suppressed"], found["unplaced"]) == (42, 40, 2, 2)
    assert found["unseen"] == {"age": ["99"], "zip": ["999"]}
    # What everybody may read depends on suppressed rows by their number only.
    public = (folder / "more.csv.manifest.json").read_text()
    assert "cholera" not in public
    assert "99" not in json.dumps(json.loads(public)["together"])


def test_values_can_be_placed_by_the_hierarchies(folder: Path) -> None:
    add(folder / "new.csv", '"X","26","100","flu","A"', '"Y","33","109","flu","B"')
    with pytest.raises(InputError, match="26"):
        apply(folder / "recoding.json", folder / "new.csv")
    arrived = apply(folder / "recoding.json", folder / "new.csv", unseen="place")
    assert shown(arrived.table) == expected(rows_of(folder / "release.csv"), rows_of(folder / "new.csv"), 3)
    assert arrived.released == 42


def test_values_that_the_hierarchies_do_not_place_either_are_refused(folder: Path) -> None:
    add(folder / "new.csv", '"X","young","100","flu","A"')
    with pytest.raises(InputError) as caught:
        apply(folder / "recoding.json", folder / "new.csv", unseen="place")
    assert (caught.value.code, caught.value.fields["unseen"]) == ("unseen-values", {"age": ["young"]})


# Models that new rows break.


def lonely(folder: Path) -> None:
    """The earlier release loses a class, and one new row would be alone in it."""
    old = [r for r in rows_of(folder / "release.csv") if not (r["age"] == "20-29" and r["zip"] == "20*")]
    with open(folder / "release.csv", "w", newline="") as stream:
        writer = csv.DictWriter(stream, old[0])
        writer.writeheader()
        writer.writerows(old)
    new = [r for r in rows_of(folder / "new.csv") if label(r) != ("20-29", "20*")]
    new.append({"name": "Lone Ly", "age": "24", "zip": "200", "ill": "lupus", "ward": "A"})
    with open(folder / "new.csv", "w", newline="") as stream:
        writer = csv.DictWriter(stream, new[0])
        writer.writeheader()
        writer.writerows(new)


def test_new_rows_that_break_a_model_are_suppressed_within_the_limit(folder: Path, main: Command) -> None:
    lonely(folder)
    before = there(folder)
    line = ("apply", folder / "recoding.json", folder / "new.csv", "-o", folder / "more.csv", "--suppression")
    ended = main(*line, "0")
    assert ended.code == 1
    assert "k-anonymity" in ended.err
    assert "at most 0 may be" in ended.err
    assert there(folder) == before
    ended = main(*line, "1 record", "--json")
    assert (ended.code, ended.json["suppressed"]) == (0, 1)
    assert not any(r["age"] == "20-29" and r["zip"] == "20*" for r in rows_of(folder / "more.csv"))


def test_an_error_in_json_tells_what_would_do(folder: Path, main: Command) -> None:
    lonely(folder)
    ended = main("apply", folder / "recoding.json", folder / "new.csv", "-o", folder / "more.csv", "--suppression", "0", "--json")
    error = ended.json["error"]
    assert (ended.code, error["code"], error["fields"]["failing"]) == (1, "arriving-suppressed", ["k-anonymity"])
    assert error["fields"]["nearest"]["suppressed"] == 1


def test_nothing_is_published_where_no_row_can_be(folder: Path, main: Command) -> None:
    lonely(folder)
    lines = (folder / "new.csv").read_text().splitlines()
    (folder / "new.csv").write_text(f"{lines[0]}\n{lines[-1]}\n")
    before = there(folder)
    ended = main("apply", folder / "recoding.json", folder / "new.csv", "-o", folder / "more.csv", "--json")
    assert (ended.code, ended.json["error"]["code"]) == (1, "nothing-arrives")
    assert there(folder) == before


def test_a_distribution_that_moves_away_from_the_earlier_release() -> None:
    """Nobody takes rows back: if old classes are far from the distribution of old and new rows, nothing is published."""
    old = pa.table({"age": ["21"] * 4 + ["31"] * 4, "ill": ["flu", "lupus"] * 4})
    columns = (Column("age", "quasi-identifier"), Column("ill", "sensitive"))
    close = model_from("t-closeness", {"t": 0.2, "column": "ill", "distance": "equal"})
    project = Project(old, columns, (KAnonymity(2), close), Fixed({"age": 0}))
    release = run(project)
    assert isinstance(release, velado.Release)
    same = pa.table({"age": ["21"] * 4, "ill": ["flu", "lupus"] * 2})
    assert apply(release.recoding, same, release=release.table, project=project).released == 4
    other = pa.table({"age": ["21"] * 40, "ill": ["flu"] * 40})
    with pytest.raises(NoSolution) as caught:
        apply(release.recoding, other, release=release.table, project=project)
    assert caught.value.code == "earlier-breaks"
    assert caught.value.fields["failing"] == ["t-closeness"]


def test_models_of_the_whole_are_judged_on_old_and_new_rows() -> None:
    project = described(people(60, 1), AverageRisk(0.2), method=Fixed({"age": 1, "zip": 2}))
    release = run(project)
    assert isinstance(release, velado.Release)
    arrived = apply(release.recoding, people(20, 2), release=release.table, project=project, unseen="suppress")
    both = [*release.table.to_pylist(), *arrived.table.to_pylist()]
    classes = Counter((r["age"], r["zip"]) for r in both)
    assert arrived.models[0].achieved == pytest.approx(len(classes) / len(both))


def test_populations_are_counted_by_the_labels_of_the_recoding(tmp_path: Path) -> None:
    pyarrow.csv.write_csv(people(300, 9).select(["age", "zip"]), tmp_path / "population.csv")
    model = KMap(k=3, population=str(tmp_path / "population.csv"))
    project = described(people(60, 1), model)
    release = run(project)
    assert isinstance(release, velado.Release)
    arrived = apply(release.recoding, people(20, 2), release=release.table, project=project, unseen="suppress")
    population = Counter(label(r) for r in people(300, 9).to_pylist())
    shown_classes = {(r["age"], r["zip"]) for r in [*release.table.to_pylist(), *arrived.table.to_pylist()]}
    assert arrived.models[0].achieved == min(population[c] for c in shown_classes)


# New rows by themselves.


def test_small_classes_among_the_new_rows_are_told_and_can_be_asked_for(folder: Path, main: Command) -> None:
    new = rows_of(folder / "new.csv")
    sizes = Counter(map(label, new))
    assert min(sizes.values()) < 3
    ended = main("apply", folder / "recoding.json", folder / "new.csv", "-o", folder / "more.csv")
    assert "whoever knows that a person is among the new rows" in ended.err + ended.out
    ended = main("apply", folder / "recoding.json", folder / "new.csv", "-o", folder / "more.csv", "--alone", "--json")
    assert ended.code == 0
    found = ended.json
    assert found["released"] == sum(n for n in sizes.values() if n >= 3)
    assert found["smallest_new"] >= 3
    assert "small-among-new" not in [note["code"] for note in found.get("notes", [])]


# Other columns, operations, local recodings.


def test_identifiers_in_disguise_are_refused(folder: Path) -> None:
    new = people(300, 7)
    tokens = pa.array([f"Q{i:05}" for i in range(300)])
    pyarrow.csv.write_csv(new.set_column(new.column_names.index("ill"), "ill", tokens), folder / "new.csv")
    before = there(folder)
    with pytest.raises(InputError) as caught:
        apply(folder / "recoding.json", folder / "new.csv", output=folder / "more.csv")
    assert (caught.value.code, caught.value.column) == ("identifier-in-disguise", "ill")
    assert there(folder) == before


def test_a_value_that_is_rare_among_few_new_rows_only_is_not_refused(folder: Path) -> None:
    pyarrow.csv.write_csv(people(4, 8), folder / "few.csv")
    assert apply(folder / "recoding.json", folder / "few.csv").rows == 4


def test_operations_are_applied_to_new_rows(tmp_path: Path) -> None:
    key = tmp_path / "key"
    velado.operations.create_key(key)
    columns = (
        Column("name", "identifier", operation={"pseudonymize": {"key": f"file:{key}"}}),
        *COLUMNS[1:3],
        Column(
            "ill", "sensitive", operation={"substitute": {"map": dict(zip(ILL, ["cold", "cold", "heart", "heart"], strict=True))}}
        ),
        COLUMNS[4],
    )
    project = Project(people(80, 1), columns, (KAnonymity(2),), Fixed({"age": 1, "zip": 1}))
    release = run(project)
    assert isinstance(release, velado.Release)
    new = people(80, 1).slice(0, 30)
    arrived = apply(release.recoding, new, release=release.table, project=project)
    assert set(arrived.table["ill"].to_pylist()) <= {"cold", "heart"}
    # The same person has the same token in both.
    assert set(arrived.table["name"].to_pylist()) <= set(release.table["name"].to_pylist())
    assert arrived.released == 30 - arrived.suppressed


def test_local_recodings_know_the_combinations_that_were_released() -> None:
    old = people(120, 1)
    project = described(old, method=Mondrian())
    release = run(project)
    assert isinstance(release, velado.Release)
    known = {(r["age"], r["zip"]) for r in old.to_pylist()}
    new = people(40, 2)
    inside = [r for r in new.to_pylist() if (r["age"], r["zip"]) in known]
    arrived = apply(release.recoding, new, release=release.table, project=project, unseen="suppress")
    assert (arrived.released, arrived.unplaced) == (len(inside), 40 - len(inside))
    both = [*release.table.to_pylist(), *arrived.table.to_pylist()]
    assert min(Counter((r["age"], r["zip"]) for r in both).values()) == arrived.class_size["min"] >= 3


def test_a_local_recoding_refuses_combinations_that_it_does_not_know() -> None:
    old = pa.table({"age": ["1", "1", "2", "2"], "zip": ["5", "5", "6", "6"]})
    columns = tuple(Column(name, "quasi-identifier", type="integer") for name in ("age", "zip"))
    project = Project(old, columns, (KAnonymity(2),), Mondrian())
    release = run(project)
    assert isinstance(release, velado.Release)
    with pytest.raises(InputError, match="combinations of values were not in the release") as caught:
        apply(release.recoding, pa.table({"age": ["1"], "zip": ["6"]}), release=release.table, project=project)
    assert caught.value.code == "unseen-values"


# Wrong input: nothing is written.


def refused(folder: Path, code: str, data: Any = "new.csv", **changes: Any) -> InputError:
    before = there(folder)
    given = {"output": folder / "more.csv", **changes}
    with pytest.raises(InputError) as caught:
        apply(folder / "recoding.json", folder / data if isinstance(data, str) else data, **given)
    assert caught.value.code == code
    assert there(folder) == before
    return caught.value


def test_an_output_that_would_replace_what_is_read(folder: Path) -> None:
    for name in ("release.csv", "new.csv"):
        refused(folder, "output-is-input", output=folder / name)
    (folder / "recoding.json").rename(folder / "r.csv.manifest.json")
    before = there(folder)
    with pytest.raises(InputError, match="replace"):
        apply(folder / "r.csv.manifest.json", folder / "new.csv", output=folder / "r.csv")
    assert there(folder) == before


def test_a_release_that_the_recoding_did_not_make(folder: Path) -> None:
    error = refused(folder, "not-corresponding", release=folder / "people.csv")
    assert error.column == "age"


def test_a_release_that_lacks_a_column(folder: Path) -> None:
    pyarrow.csv.write_csv(pa.table({"age": ["20-29"], "ill": ["flu"], "ward": ["A"]}), folder / "other.csv")
    assert refused(folder, "unknown-column", release=folder / "other.csv").column == "zip"


def test_a_release_that_is_not_there(folder: Path) -> None:
    (folder / "release.csv").unlink()
    refused(folder, "no-release")


def test_new_rows_that_lack_a_column_or_have_one_more(folder: Path) -> None:
    refused(folder, "unknown-column", people(9, 3).drop_columns(["zip"]))
    refused(folder, "column-without-role", people(9, 3).append_column("email", pa.array(["a@b.c"] * 9)))


def test_a_table_without_rows(folder: Path) -> None:
    refused(folder, "no-rows", people(0, 3))


def test_people_who_have_several_rows(folder: Path) -> None:
    project = yaml.safe_load((folder / "ward.yaml").read_text()) | {"person": "name"}
    assert "velado run" in refused(folder, "not-on-people", project={**project, "source": "new.csv"}).hint


def test_a_project_with_other_quasi_identifiers(folder: Path) -> None:
    project = yaml.safe_load((folder / "ward.yaml").read_text())
    project["columns"]["ward"] = "quasi-identifier"
    refused(folder, "not-corresponding", project=project)


@pytest.mark.parametrize(
    "option", [{"unseen": "ignore"}, {"suppression": 3}, {"suppression": "many"}], ids=["unseen", "share", "text"]
)
def test_options_that_do_not_exist(folder: Path, option: dict[str, Any]) -> None:
    refused(folder, "bad-option", **option)


# Failures leave nothing.


def test_what_was_written_is_judged_with_the_earlier_release(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that writes other rows than were planned is found out."""
    write = DuckDBTable.write

    def twisted(self: Any, plan: Any, into: Any) -> None:
        write(self, plan, into)
        lines = into.path.read_text().splitlines()
        into.path.write_text("\n".join([lines[0], *lines[2:], lines[1].replace("20*", "10*").replace("11*", "10*")]) + "\n")

    before = there(folder)
    monkeypatch.setattr(DuckDBTable, "write", twisted)
    pyarrow.csv.write_csv(people(40, 2).filter(pa.compute.equal(people(40, 2)["zip"], "200")), folder / "new.csv")
    before = there(folder)
    with pytest.raises(VerificationError):
        apply(folder / "recoding.json", folder / "new.csv", output=folder / "more.csv")
    assert there(folder) == before


@pytest.mark.parametrize("verb", ["read_back", "publish"])
def test_a_failure_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    def fail(*args: Any, **options: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(FileStage, verb, fail)
    before = there(folder)
    with pytest.raises(KeyboardInterrupt):
        apply(folder / "recoding.json", folder / "new.csv", output=folder / "more.csv")
    assert there(folder) == before


@pytest.mark.faults
def test_a_kill_leaves_nothing_that_has_a_name(folder: Path, environment: dict[str, str]) -> None:
    before = there(folder)
    code = (
        "import os, signal, sys, velado\n"
        "from velado.tables.duckdb.stage import FileStage\n"
        "FileStage.publish = lambda *a: os.kill(os.getpid(), signal.SIGKILL)\n"
        "velado.apply('recoding.json', 'new.csv', output='more.csv')\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=folder, env=environment, timeout=120)
    assert ended.returncode == -signal.SIGKILL
    assert {n: b for n, b in there(folder).items() if not n.startswith(".velado-")} == before
    assert apply(folder / "recoding.json", folder / "new.csv", output=folder / "more.csv").released == 40
    assert set(there(folder)) == {*before, "more.csv", "more.csv.manifest.json", "more.csv.private.json"}


def test_an_earlier_release_that_changes_meanwhile(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = DuckDBTable.write

    def meanwhile(self: Any, plan: Any, into: Any) -> None:
        write(self, plan, into)
        (folder / "release.csv").write_text((folder / "release.csv").read_text() + '*,"20-29","10*",flu,A\n')

    monkeypatch.setattr(DuckDBTable, "write", meanwhile)
    with pytest.raises(InputError) as caught:
        apply(folder / "recoding.json", folder / "new.csv", output=folder / "more.csv")
    assert caught.value.code == "source-changed"
    assert not (folder / "more.csv").exists()


# Words.


def test_everything_is_told_in_spanish(folder: Path, main: Command) -> None:
    line = ("apply", folder / "recoding.json", folder / "new.csv", "-o", folder / "more.csv", "--language", "es")
    ended = main(*line)
    assert ended.code == 0
    assert "40 de 40 filas nuevas publicadas, 0 suprimidas" in ended.out
    assert "Verificado en las filas antiguas y nuevas juntas" in ended.out
    add(folder / "new.csv", '"X","99","100","flu","A"')
    ended = main(*line)
    assert ended.code == 2
    assert "la recodificación no sabe qué hacer con 1 de 41 filas nuevas; columna 'age': 99" in ended.err


def test_a_result_is_read_back_and_shows_no_value(folder: Path) -> None:
    add(folder / "new.csv", '"X","99","100","flu","A"')
    arrived = apply(folder / "recoding.json", folder / "new.csv", unseen="suppress")
    again = Arrived.from_dict(json.loads(json.dumps(arrived.as_dict())))
    assert again.as_dict() == arrived.as_dict()
    assert again.unseen == {"age": ["99"]}
    assert "99" not in repr(arrived)


def test_saved_recodings_are_the_same_with_their_project(folder: Path) -> None:
    loaded = Recoding.load(folder / "recoding.json")
    assert loaded.project is not None
    assert loaded.project["document"]["models"] == [{"k-anonymity": {"k": 3}}]
    assert "Person" not in (folder / "recoding.json").read_text()
    assert loaded.apply(folder / "new.csv").kept == 40


# Databases.


@pytest.fixture
def database(folder: Path) -> Iterator[str]:
    """A PostgreSQL database with the same tables."""
    with server.connect() as c:
        c.execute("DROP DATABASE IF EXISTS wards WITH (FORCE)")
        c.execute("CREATE DATABASE wards")
    yield server.address(database="wards")
    with server.connect() as c:
        c.execute("DROP DATABASE wards WITH (FORCE)")


def test_a_database_gives_the_same_as_files(folder: Path, database: str, main: Command) -> None:
    from velado.appointments import save_table

    lonely(folder)
    save_table(pyarrow.csv.read_csv(folder / "new.csv", convert_options=TEXTS), f"{database}#new")
    save_table(pyarrow.csv.read_csv(folder / "release.csv", convert_options=TEXTS), f"{database}#release")
    line = ("--suppression", "0.1", "--json")
    here = main("apply", folder / "recoding.json", folder / "new.csv", "-o", folder / "more.csv", *line)
    there_too = main(
        "apply", folder / "recoding.json", f"{database}#new", "--release", f"{database}#release", "-o", f"{database}#more", *line
    )
    assert (here.code, there_too.code) == (0, 0), there_too.err
    places = ("output", "manifest", "manifest_path")
    assert {k: v for k, v in here.json.items() if k not in places} == {k: v for k, v in there_too.json.items() if k not in places}
    with server.connect(database="wards") as c:
        found = c.execute("SELECT name, age, zip, ill, ward FROM more").fetchall()
    assert sorted(found) == sorted(tuple(r.values()) for r in rows_of(folder / "more.csv"))


def test_nothing_is_left_in_a_database_where_a_model_breaks(folder: Path, database: str, main: Command) -> None:
    from velado.appointments import save_table

    lonely(folder)
    save_table(pyarrow.csv.read_csv(folder / "new.csv", convert_options=TEXTS), f"{database}#new")
    ended = main("apply", folder / "recoding.json", f"{database}#new", "-o", f"{database}#more", "--suppression", "0")
    assert ended.code == 1
    with server.connect(database="wards") as c:
        tables = {n for (n,) in c.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")}
    assert tables == {"new"}


def test_another_engine_gives_the_same(folder: Path) -> None:
    from velado.appointments import save_table

    place = maria.server()
    with place.connect() as c, c.cursor() as cursor:
        cursor.execute("DROP DATABASE IF EXISTS wards")
        cursor.execute("CREATE DATABASE wards")
    database = place.address(database="wards")
    lonely(folder)
    save_table(pyarrow.csv.read_csv(folder / "new.csv", convert_options=TEXTS), f"{database}#new")
    here = apply(folder / "recoding.json", folder / "new.csv", suppression=0.1)
    target = f"{database}#more"
    elsewhere = apply(folder / "recoding.json", f"{database}#new", output=target, suppression=0.1)
    same = ("released", "suppressed", "classes", "class_size", "smallest_new", "models", "published")
    assert [getattr(here, name) for name in same] == [getattr(elsewhere, name) for name in same]
    with open_table(target) as table:
        found = sorted(zip(*table.text_batches().read_all().to_pydict().values(), strict=True))
    assert found == sorted(tuple(r.values()) for r in here.table.to_pylist())


TEXTS = pyarrow.csv.ConvertOptions(column_types={name: pa.string() for name in ("name", "age", "zip", "ill", "ward")})
