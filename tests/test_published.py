"""Published columns that are not quasi-identifiers: identifiers in disguise are refused."""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from velado import Column, DistinctDiversity, InputError, KAnonymity, Project, anonymize, run
from velado.evaluation.exposure import Exposure, association
from velado.methods import Fixed

pytestmark = pytest.mark.judged

QUASI = {"age": {"role": "quasi-identifier", "hierarchy": {"intervals": [10, 20]}}, "sex": "quasi-identifier"}


def people(rows: int = 600, seed: int = 1) -> dict[str, list[str]]:
    """Six hundred invented people."""
    lot = Random(seed)
    table: dict[str, list[str]] = defaultdict(list)
    for i in range(rows):
        district = lot.randrange(12)
        schooling = lot.randrange(5)
        age = lot.randrange(20, 70)
        table["age"].append(str(age))
        table["sex"].append(lot.choice("fm"))
        table["zip"].append(str(4000 + district // 3))
        table["district"].append(f"D{district}")
        table["school"].append("abcde"[schooling])
        table["school_code"].append(str(schooling))
        table["age_group"].append("young" if age < 35 else "middle" if age < 55 else "old")
        table["name"].append(f"N{lot.randrange(400)}")
        table["household"].append(f"H{i // 3}")
        table["ill"].append(lot.choice(["flu", "asthma", "gout"]))
        table["salary"].append(str(lot.randrange(10_000, 90_000)))
    return dict(table)


def project(columns: dict[str, Any], table: dict[str, list[str]] | None = None, **more: Any) -> Project:
    table = people() if table is None else table
    chosen = {name: table[name] for name in columns}
    data = {"source": pa.table(chosen), "columns": columns, "models": [{"k-anonymity": {"k": 5}}], **more}
    return Project.from_dict(data)


def refused(**columns: Any) -> InputError:
    more = columns.pop("more", {})
    with pytest.raises(InputError) as error:
        run(project({**QUASI, **columns}, **more))
    assert error.value.code == "identifier-in-disguise"
    return error.value


def test_a_column_of_many_values_is_refused_whatever_its_role() -> None:
    for role in ("insensitive", "sensitive"):
        for name in ("name", "salary", "household"):
            error = refused(**{name: role})
            assert error.column == name
            assert "fewer than 5 share" in error.message
            assert "exposure: accepted" in error.hint
            assert "alone" in error.as_dict()["error"]["fields"]["columns"][name]


def test_all_of_them_are_named_at_once_and_no_value_of_theirs() -> None:
    error = refused(name="insensitive", ill="sensitive", salary="sensitive")
    assert list(error.fields["columns"]) == ["name", "salary"]
    text = str(error)
    assert "'name'" in text
    assert "'salary'" in text
    assert not any(value in text for value in people()["name"] if len(value) > 2)


def test_the_ways_out() -> None:
    table = people()
    assert run(project({**QUASI, "name": {"role": "insensitive", "exposure": "accepted"}})).notes[0].code == "singles-out"
    assert run(project({**QUASI, "salary": {"role": "sensitive", "operation": {"round": 10000}}})).output is None
    released = run(project({**QUASI, "name": {"role": "identifier"}}, person="rows"))
    assert set(released.table.column("name").to_pylist()) == {"*"}
    assert len(table["age"]) == released.evaluation.rows


def test_an_insensitive_column_may_not_tell_records_of_a_class_apart() -> None:
    table = people()
    lot = Random(5)
    table["hours"] = [str(lot.randrange(60)) for _ in table["age"]]
    with pytest.raises(InputError, match="with the released quasi-identifiers"):
        run(project({**QUASI, "hours": "insensitive"}, table, method={"mondrian": {}}))
    with pytest.raises(InputError, match="with the released quasi-identifiers"):
        run(project({**QUASI, "hours": "sensitive"}, table, method={"mondrian": {}}))
    # What only the person knows may differ within a class.
    private = {"role": "sensitive", "known": "never"}
    release = run(project({**QUASI, "hours": private}, table, method={"mondrian": {}}))
    (found,) = release.evaluation.published
    assert found.singled_out_together > 0.2 * found.records
    assert not found.dangers


def test_near_copies_of_what_was_generalized_are_refused() -> None:
    hidden = {"role": "quasi-identifier", "hierarchy": {"groups": {"all": list("abcde")}}}
    levels = {"school": 1, "age": 1, "sex": 0, "zip": 0}
    error = refused(
        school=hidden,
        zip="quasi-identifier",
        school_code="insensitive",
        more={"method": {"fixed": {"levels": levels, "suppression": 0.5}}},
    )
    assert "nearly a copy of 'school'" in error.message


@pytest.mark.parametrize("of", [lambda n: 7 * n + 3, lambda n: 90_000 - n, lambda n: (n * 7919) % 10_007])
def test_copies_of_rare_values_are_refused_whatever_their_owner_says(of) -> None:
    """Up, down, or by a rule that nobody sees: three people each have one number."""
    numbers = [100 + 13 * (i // 3) for i in range(600)]
    table = {"zip_population": list(map(str, numbers)), "zip_income": [str(of(n)) for n in numbers]}
    columns = {"zip_population": {"role": "quasi-identifier", "type": "integer"}}
    columns["zip_income"] = {"role": "sensitive", "known": "never"}
    with pytest.raises(InputError) as caught:
        run(project(columns, table, models=[{"k-anonymity": {"k": 6}}], method={"mondrian": {}}))
    assert caught.value.fields["columns"] == {"zip_income": ["copy"]}


def test_near_copies_are_named() -> None:
    columns = {**QUASI, "school": "quasi-identifier", "school_code": "sensitive", "age_group": "sensitive"}
    release = run(project(columns, people(3000), models=[{"k-anonymity": {"k": 2}}]))
    copies = {e.column: e.copies for e in release.evaluation.published}
    assert copies == {"school_code": ("school",), "age_group": ("age",)}
    assert [(n.code, n.column) for n in release.notes][:2] == [("near-copy", "school_code"), ("near-copy", "age_group")]


@pytest.mark.parametrize("codes", [["1"] * 10, ["1", "2"] * 5, list("3456789xyz")])
def test_copies_are_found_among_released_records_only(codes: list[str]) -> None:
    table = pa.table({"school": ["a", "b"] * 40 + list("cdefghijkl"), "code": ["1", "2"] * 40 + codes})
    columns = [Column("school", "quasi-identifier"), Column("code", "sensitive", exposure="accepted")]
    release = anonymize(table, columns, [KAnonymity(5)], Fixed({"school": 0}, suppression=0.5))
    assert release.evaluation.suppressed == 10
    assert release.evaluation.published[0].copies == ("school",)
    assert [n.code for n in release.notes] == ["near-copy", "unprotected"]


def test_a_date_of_birth_beside_an_age_category() -> None:
    lot = Random(2)
    days = [f"{lot.randrange(1, 29):02}/{lot.randrange(1, 13):02}/{lot.randrange(1940, 2000)}" for _ in range(700)]
    ages = ["old" if int(d[-4:]) < 1960 else "middle" if int(d[-4:]) < 1980 else "young" for d in days]
    born = {"role": "quasi-identifier", "type": "date", "format": "%d/%m/%Y", "hierarchy": {"dates": ["year", "decade"]}}
    # Decades tell the category as well: it is named, and harmless.
    release = run(project({"born": born, "age": "insensitive"}, {"born": days, "age": ages}))
    assert [(n.code, n.column) for n in release.notes] == [("near-copy", "age")]
    with pytest.raises(InputError, match="fewer than 5 share"):
        run(project({"age": "quasi-identifier", "born": "insensitive"}, {"born": days, "age": ages}))


def test_a_district_beside_its_province() -> None:
    assert "'zip'" in refused(zip="quasi-identifier", district="insensitive").message


def test_sensitive_columns_without_a_model_are_named() -> None:
    columns = [Column("age", "quasi-identifier", hierarchy={"intervals": [20]}), Column("ill", "sensitive")]
    table = pa.table({name: people()[name] for name in ("age", "ill")})
    unprotected = anonymize(table, columns, [KAnonymity(5)])
    assert [(n.code, n.column) for n in unprotected.notes] == [("unprotected", "ill")]
    assert not anonymize(table, columns, [KAnonymity(5), DistinctDiversity(2, "ill")]).notes


def recounted(rows: list[dict[str, str]], quasi: list[str], column: str, k: int) -> tuple[int, ...]:
    """A plain recount of what was written."""
    present = [row for row in rows if row[column]]
    alone = Counter(row[column] for row in present)
    together = Counter((*(row[q] for q in quasi), row[column]) for row in present)
    return (
        len(present),
        sum(n == 1 for n in alone.values()),
        sum(n for n in alone.values() if n < k),
        sum(n == 1 for n in together.values()),
        sum(n for n in together.values() if n < k),
    )


@pytest.mark.parametrize("suppressed", ["drop", "asterisks"])
@pytest.mark.parametrize("method", [{"lattice": {"suppression": 0.1}}, {"mondrian": {}}, {"mondrian": {"memory": "1MB"}}])
def test_the_figures_are_those_of_the_file(tmp_path: Path, method: dict[str, Any], suppressed: str) -> None:
    table = people(1500)
    lot = Random(3)
    table["ward"] = [lot.choice(["", "*", "a", "b", *map(str, range(40))]) for _ in table["age"]]
    columns = {**QUASI, "zip": "quasi-identifier", "ill": "sensitive", "ward": {"role": "insensitive", "exposure": "accepted"}}
    with (tmp_path / "people.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*(table[name] for name in columns), strict=True))
    data = {
        "source": "people.csv",
        "columns": columns,
        "models": [{"k-anonymity": {"k": 5}}],
        "method": method,
        "output": {"path": "out.csv", "suppressed": suppressed},
    }
    release = run(Project.from_dict(data, tmp_path))
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["ill"] != "*"]
    starred = suppressed == "asterisks" and release.evaluation.suppressed
    for e in release.public_evaluation.published:
        kept = [row for row in rows if not (starred and row[e.column] == "*")]
        expected = recounted(kept, ["age", "sex", "zip"], e.column, 5)
        assert (e.records, e.singled_out, e.few, e.singled_out_together, e.few_together) == expected
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text(encoding="utf-8"))
    assert [e["column"] for e in manifest["evaluation"]["published"]] == ["ill", "ward"]


def test_people_of_several_rows_are_counted_once() -> None:
    """A value in six rows of one person is that person's alone."""
    who = [f"p{i // 6}" for i in range(600)]
    table = {
        "who": who,
        "age": [str(20 + int(w[1:]) % 40) for w in who],
        "token": [f"t{w}" for w in who],
        "ward": [f"w{int(w[1:]) // 25}" for w in who],
    }
    columns = {"who": "identifier", "age": QUASI["age"], "ward": "insensitive"}
    release = run(project(columns, table, person="who"))
    (ward,) = release.evaluation.published
    assert (ward.records, ward.singled_out, ward.few) == (100, 0, 0)
    with pytest.raises(InputError) as error:
        run(project({**columns, "token": "insensitive"}, table, person="who"))
    assert "alone" in error.value.fields["columns"]["token"]


def test_nothing_is_written_when_a_column_is_refused(tmp_path: Path) -> None:
    bad = project({**QUASI, "name": "insensitive"}, output={"path": str(tmp_path / "out.csv")})
    with pytest.raises(InputError):
        run(bad)
    assert not list(tmp_path.iterdir())


def test_several_tables_and_parts_refuse_too(tmp_path: Path) -> None:
    good = project({**QUASI, "ill": "sensitive"}, output={"path": str(tmp_path / "a.csv")})
    bad = project({**QUASI, "name": "insensitive"}, output={"path": str(tmp_path / "b.csv")})
    with pytest.raises(InputError, match="singles people out"):
        run(Project.of_tables({"a": good, "b": bad}))
    with pytest.raises(InputError, match="singles people out"):
        run(project({**QUASI, "name": "insensitive"}, people(3000), method={"mondrian": {"memory": "1MB"}}))
    assert not list(tmp_path.iterdir())


def test_a_light_project_says_what_singles_out() -> None:
    light = {"age": {"operation": {"round": 10}}, "name": "insensitive", "ill": "sensitive"}
    table = {name: people()[name] for name in light}
    release = run(Project.from_dict({"protection": "operations", "source": pa.table(table), "columns": light}))
    assert [(n.code, n.column) for n in release.notes] == [("singles-out", "name")]


def test_published_is_for_columns_that_pass_through() -> None:
    for role in ("identifier", "quasi-identifier"):
        with pytest.raises(InputError, match="pass through"):
            Column("x", role, exposure="accepted")
    with pytest.raises(InputError, match="accepted"):
        Column("x", "sensitive", exposure="gladly")
    kept = project({**QUASI, "ill": {"role": "sensitive", "exposure": "accepted"}}).as_dict()
    assert kept["columns"]["ill"] == {"role": "sensitive", "exposure": "accepted"}


CODES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(1, 3)), min_size=1, max_size=30)


@given(CODES, st.booleans())
def test_association_record_by_record(rows: list[tuple[int, int, int]], ordered: bool) -> None:
    """Each record is guessed by hand from the others."""
    records = [(x, y) for x, y, n in rows for _ in range(n)]
    right = 0
    for i, (x, y) in enumerate(records):
        others = Counter(b for j, (a, b) in enumerate(records) if j != i and a == x)
        if others:
            right += others[y] >= 1 and others[y] >= max(others.values())
        elif ordered:
            before, behind = ([a for a, _ in records if a < x], [a for a, _ in records if a > x])
            near = [max(before)] if before else []
            near += [min(behind)] if behind else []
            right += any(_commonest([b for a, b in records if a == n]) == y for n in near)
    base = max(Counter(y for _, y in records).values())
    expected = 0.0 if base == len(records) else (right - base) / (len(records) - base)
    x, y, n = (np.array(column) for column in zip(*rows, strict=True))
    order = np.arange(5) if ordered else None
    assert association(x, y, n, order) == pytest.approx(expected)


def _commonest(values: list[int]) -> int:
    counts = Counter(values)
    return min(counts, key=lambda v: (-counts[v], v))


def test_dangers_by_their_thresholds() -> None:
    for role in ("insensitive", "sensitive"):
        assert Exposure("c", role, 5, 100, 0, 20, 20, 20, allowance=0.2).dangers == ()
        assert Exposure("c", role, 5, 100, 0, 1, 0, 0).dangers == ("alone",)
        assert Exposure("c", role, 5, 100, 0, 21, 0, 0, allowance=0.2).dangers == ("alone",)
        assert Exposure("c", role, 5, 100, 0, 0, 1, 1).dangers == ("together",)
        assert Exposure("c", role, 5, 100, 0, 0, 9, 9, few_known=9).dangers == ()
        assert Exposure("c", role, 5, 100, 0, 100, 100, 100, known="never").dangers == ()
        assert Exposure("c", role, 5, 100, 0, 0, 0, 1, known="never", copies=("zip",)).dangers == ("copy",)
    assert Exposure("c", "sensitive", 5, 100, 0, 0, 0, 0, content="personal names").dangers == ("content",)
    assert Exposure("c", "insensitive", 5, 0, 0, 0, 0, 0).dangers == ()
    assert Exposure("c", "insensitive", 5, 19, 18, 19, 19, 19).dangers == ()
    assert Exposure("c", "insensitive", 5, 19, 19, 19, 19, 19).dangers == ("alone",)
    assert Exposure("c", "sensitive", 5, 19, 19, 19, 19, 19).dangers == ()


def test_few_values_and_names_of_columns_tell_enough() -> None:
    """Nineteen addresses among a thousand people, or ids of fifty patients who have twenty rows each."""
    table = people(1000)
    table["contact"] = [f"p{i}@mail.example" if i < 19 else "" for i in range(1000)]
    table["patient_id"] = [str(i % 50) for i in range(1000)]
    for name, role in (("contact", "sensitive"), ("contact", "insensitive"), ("patient_id", "sensitive")):
        with pytest.raises(InputError) as error:
            run(project({**QUASI, name: role}, table))
        assert error.value.fields["columns"][name][0] == "content"


def test_a_light_project_looks_at_quasi_identifiers_too() -> None:
    light = {"age": {"operation": {"round": 10}}, "name": "quasi-identifier"}
    table = {name: people()[name] for name in light}
    release = run(Project.from_dict({"protection": "operations", "source": pa.table(table), "columns": light}))
    assert [(n.code, n.column) for n in release.notes] == [("singles-out", "name")]
