"""k and risk count people, not rows, wherever a person may have several rows."""

from __future__ import annotations

import csv
import json
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import velado
from velado import Column, InputError, KAnonymity, Lattice, Mondrian, NoSolution, Output, Project, anonymize, run
from velado.tables.sql.table import common_unit

pytestmark = pytest.mark.judged

AGE = Column("age", "quasi-identifier", hierarchy={"intervals": [10, 20]})
ZIP = Column("zip", "quasi-identifier", hierarchy={"mask": "right"})
WHO = Column("who", "identifier", operation={"pseudonymize": {"key": "env:VELADO_TEST_KEY"}})
ILL = Column("ill", "sensitive")


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VELADO_TEST_KEY", "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0")


def visits(seed: int, rows: int = 60, people: int = 18) -> pa.Table:
    """Visits of people, whose age and place may differ from visit to visit."""
    rng = random.Random(seed)
    who = [f"p{rng.randrange(people)}" for _ in range(rows)]
    return pa.table(
        {
            "who": who,
            "age": [str(20 + (hash_of(w) + rng.choice([0, 0, 0, 9])) % 50) for w in who],
            "zip": [f"1{hash_of(w) % 3}{rng.randrange(2)}" for w in who],
            "ill": [rng.choice(["flu", "hiv", "none"]) for _ in who],
        }
    )


def hash_of(text: str) -> int:
    return sum(map(ord, text)) * 7


def people_by_class(table: pa.Table, quasi: list[str] = ["age", "zip"], who: str = "who") -> dict[Any, set[str]]:  # noqa: B006
    found = defaultdict(set)
    for row in table.to_pylist():
        if row[quasi[0]] != "*" or row[who] != "*":
            found[tuple(row[c] for c in quasi)].add(row[who])
    return found


def test_three_rows_of_one_person_are_no_class_of_three() -> None:
    table = pa.table({"who": ["a", "a", "a", "b", "c", "d"], "age": ["31"] * 3 + ["52"] * 3, "ill": list("xyzxyz")})
    columns = [WHO, Column("age", "quasi-identifier", hierarchy={"groups": {"young": ["31"], "old": ["52"]}}), ILL]
    release = anonymize(table, columns, [KAnonymity(3)], Lattice(suppression=0.5), person="who")
    assert release.table.column("age").to_pylist() == ["52"] * 3
    assert release.as_dict()["models"][0]["achieved"] >= 3
    assert anonymize(table, columns, [KAnonymity(3)], person="rows").levels == {"age": 0}


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10_000),
    k=st.integers(2, 5),
    limit=st.sampled_from([0.0, 0.2, 1.0]),
    method=st.sampled_from(["lattice", "mondrian", "mode"]),
    star=st.booleans(),
)
def test_every_class_has_k_people_in_what_was_written(seed: int, k: int, limit: float, method: str, star: bool) -> None:
    table = visits(seed)
    chosen: Any = Lattice(suppression=limit)
    if method != "lattice":
        chosen = Mondrian(represent="mode" if method == "mode" else "interval")
    output = Output(suppressed="asterisks" if star else "drop")
    project = Project(table, (WHO, AGE, ZIP, ILL), (KAnonymity(k),), chosen, output, person="who")
    release = run(project)
    found = people_by_class(release.table)
    assert min(map(len, found.values())) >= k
    smallest, shown = min(map(len, found.values())), release.as_dict()
    assert shown["models"][0]["achieved"] == smallest
    assert shown["people"] == {"count": len(set().union(*found.values())), "smallest_class": smallest}
    assert shown["risk"]["highest"] == 1 / smallest
    assert shown["risk"]["average"] == pytest.approx(len(found) / sum(map(len, found.values())))
    before = people_by_class(table)
    assert release.evaluation.risk.singled_out_before == sum(len(p) == 1 for p in before.values())
    assert not shown["search"]["proven_optimal"]


def test_one_row_each_is_what_it_was_before() -> None:
    table = visits(1).append_column("row", pa.array([str(i) for i in range(60)]))
    columns = [Column("row", "identifier"), Column("who", "insensitive", exposure="accepted"), AGE, ZIP, ILL]
    with_people = anonymize(table, columns, [KAnonymity(3)], person="row")
    assert with_people.as_dict() | {"search": 0} == anonymize(table, columns, [KAnonymity(3)]).as_dict() | {"search": 0}
    assert with_people.search.proven_optimal


@settings(max_examples=40, deadline=None, derandomize=True)
@given(sizes=st.lists(st.integers(1, 500), min_size=1, max_size=40), people=st.integers(1, 10**9))
def test_shares_never_count_too_many_people(sizes: list[int], people: int) -> None:
    unit = common_unit(sizes, people)
    assert unit * people < 2**63
    for size in sizes:
        assert size * (unit // size) <= unit


def test_the_bound_is_exact_where_people_stay_together() -> None:
    """A person whose rows are all in one class counts as one."""
    table = pa.table({"who": ["a"] * 2 + ["b"] * 3 + ["c"] * 7, "age": ["31"] * 12})
    with velado.tables.open_table(table) as opened:
        counts, unit = opened.shares(["age"], "who")
    assert counts.counts.tolist() == [3 * unit]


def asked(**changes: Any) -> InputError:
    options: dict[str, Any] = {"columns": [WHO, AGE, ZIP, ILL], "models": [KAnonymity(2)]} | changes
    with pytest.raises(InputError) as error:
        anonymize(options.pop("data", visits(3)), **options)
    return error.value


def test_an_identifier_that_repeats_is_asked_about() -> None:
    error = asked()
    assert (error.code, error.column) == ("repeated-identifier", "who")
    assert "person: rows" in error.hint
    assert not any(f"p{i}" in str(error) for i in range(18))
    # Another identifier that tells all rows apart answers the question.
    table = visits(3).append_column("row", pa.array([str(i) for i in range(60)]))
    anonymize(table, [Column("row", "identifier"), WHO, AGE, ZIP, ILL], [KAnonymity(2)])


def test_what_cannot_be_counted_is_refused() -> None:
    assert asked(person="nobody").code == "unknown-column"
    assert asked(person="who", household="zip").code == "bad-project"
    assert asked(household="rows").code == "bad-project"
    assert asked(person="who", method=Mondrian(relaxed=True)).code == "not-dividable"
    assert asked(person="who", models=[velado.models.AlphaK(0.9, 2, "ill", strict=True)]).code == "not-on-people"
    assert asked(data=with_holes(visits(3), every=1), person="who").code == "missing-values"


def with_holes(table: pa.Table, every: int) -> pa.Table:
    """The table without every third (second, …) name."""
    names = [None if i % every == 0 else who for i, who in enumerate(table.column("who").to_pylist())]
    return table.set_column(0, "who", pa.array(names, pa.string()))


@pytest.mark.parametrize("method", [velado.methods.Lattice(suppression=0.2), Mondrian()])
def test_rows_that_do_not_say_whose_they_are_hide_nobody(method: Any) -> None:
    table = with_holes(visits(3, 300, 70), every=3)
    release = anonymize(table, [WHO, AGE, ZIP, ILL], [KAnonymity(4)], method, person="who")
    found = people_by_class(release.table)
    assert min(len(people - {None}) for people in found.values()) == release.evaluation.people["smallest_class"] >= 4
    assert any(None in people for people in found.values())


def test_names_that_are_missing_do_not_repeat() -> None:
    table = visits(3, 60, 18).set_column(0, "who", pa.array([None if i % 3 == 0 else str(i) for i in range(60)]))
    assert anonymize(table, [WHO, AGE, ZIP, ILL], [KAnonymity(2)]).evaluation.people is None
    # They do not tell rows apart either.
    names = visits(3).append_column("card", table.column("who"))
    error = asked(data=names, columns=[Column("card", "identifier"), WHO, AGE, ZIP, ILL])
    assert (error.code, error.column) == ("repeated-identifier", "who")


def test_more_people_than_there_are() -> None:
    with pytest.raises(NoSolution, match="classes of 40 people, but the table has only 18"):
        anonymize(visits(3), [WHO, AGE, ZIP, ILL], [KAnonymity(40)], person="who")


@pytest.mark.thorough
def test_command_report_evaluation_and_check_agree(tmp_path: Path, main: Any) -> None:
    table = visits(5, rows=300, people=70)
    with open(tmp_path / "visits.csv", "w", newline="") as out:
        rows = csv.writer(out)
        rows.writerow(table.column_names)
        rows.writerows(zip(*(c.to_pylist() for c in table.columns), strict=True))
    project = {
        "source": "visits.csv",
        "household": "who",
        "columns": {
            "who": {"role": "identifier", "operation": {"pseudonymize": {"key": "env:VELADO_TEST_KEY"}}},
            "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [10, 20]}},
            "zip": {"role": "quasi-identifier", "hierarchy": {"mask": "right"}},
            "ill": "sensitive",
        },
        "models": [{"k-anonymity": {"k": 4}}],
        "method": {"lattice": {"suppression": 0.2}},
        "output": "out.csv",
    }
    (tmp_path / "p.yaml").write_text(yaml.safe_dump(project))
    assert Project.load(tmp_path / "p.yaml").as_dict()["household"] == "who"
    ran = main("run", "p.yaml", "--json")
    assert ran.code == 0, ran.err
    smallest = ran.json["people"]["smallest_class"]
    with open(tmp_path / "out.csv", newline="") as stream:
        found = people_by_class(pa.Table.from_pylist(list(csv.DictReader(stream))))
    assert smallest == min(map(len, found.values())) >= 4
    evaluated = main("evaluate", "--project", "p.yaml", "--json").json
    assert evaluated["people"] == ran.json["people"]
    assert evaluated["risk"]["highest"] == ran.json["risk"]["highest"]
    checked = main("check", "out.csv", "--qi", "age,zip", "--sensitive", "ill", "--person", "who", "--json")
    assert checked.json["k"] == smallest, checked.err
    compared = main("compare", "p.yaml", "--k", "4", "--json").json
    assert json.dumps(smallest) in json.dumps(compared)
    assert main("report", "p.yaml", "--format", "html").code == 0
