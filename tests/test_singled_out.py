"""Who is alone before anything is recoded, counted again by hand."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from velado import Column, InputError
from velado.questions import singled_out as module
from velado.questions.singled_out import singled_out

CELLS = st.sampled_from(["1", "2", "3", None])
ROWS = st.lists(st.tuples(CELLS, CELLS, CELLS, st.sampled_from("abc")), min_size=1, max_size=14)
NAMES = ("x", "y", "z", "who")


def table(rows: list[tuple[Any, ...]]) -> pa.Table:
    return pa.table({name: pa.array([row[i] for row in rows], pa.string()) for i, name in enumerate(NAMES)})


def alone(rows: list[tuple[Any, ...]], columns: list[str], below: int = 2) -> int:
    """Records in groups of fewer than so many records."""
    places = [NAMES.index(name) for name in columns]
    sizes = Counter(tuple(row[i] for i in places) for row in rows)
    return sum(n for n in sizes.values() if n < below)


def people_alone(rows: list[tuple[Any, ...]], columns: list[str], below: int = 2) -> int:
    """People who have a row in a group of fewer than so many people."""
    places = [NAMES.index(name) for name in columns]
    groups: dict[Any, set[str]] = {}
    for row in rows:
        groups.setdefault(tuple(row[i] for i in places), set()).add(row[3])
    return len({who for people in groups.values() if len(people) < below for who in people})


@given(ROWS)
def test_records_are_counted(rows: list[tuple[Any, ...]]) -> None:
    found = singled_out(table(rows), ["x", "y", "z"], k=3)
    assert (found.records, found.singled_out) == (len(rows), alone(rows, ["x", "y", "z"]))
    assert found.few == alone(rows, ["x", "y", "z"], 3)
    for name in "xyz":
        assert found.without[name] == alone(rows, [c for c in "xyz" if c != name])
    pairs = {tuple(pair): alone(rows, list(pair)) for pair in itertools.combinations("xyz", 2)}
    assert {c.columns: c.singled_out for c in found.combinations} == pairs
    assert [c.singled_out for c in found.combinations] == sorted(pairs.values(), reverse=True)


@given(ROWS)
def test_people_are_counted_where_they_have_several_rows(rows: list[tuple[Any, ...]]) -> None:
    found = singled_out(table(rows), ["x", "y"], k=3, person="who")
    several = len({row[3] for row in rows}) < len(rows)
    assert found.people is several
    if several:
        assert found.records == len({row[3] for row in rows})
        assert found.singled_out == people_alone(rows, ["x", "y"])
        assert found.few == people_alone(rows, ["x", "y"], 3)


@given(ROWS)
def test_large_tables_are_counted_in_parts(rows: list[tuple[Any, ...]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "AT_ONCE", 2)
        found = singled_out(table(rows), ["x", "y"], k=3)
    assert (found.records, found.singled_out) == (len(rows), alone(rows, ["x", "y"]))
    assert found.few == alone(rows, ["x", "y"], 3)


def test_without_quasi_identifiers_all_are_alike() -> None:
    found = singled_out(table([("1", "1", "1", "a")] * 3), [])
    assert (found.records, found.singled_out, found.few, found.without) == (3, 0, 0, {})


def test_a_column_that_is_not_there_is_an_error() -> None:
    with pytest.raises(InputError, match="no such column"):
        singled_out(table([("1", "1", "1", "a")]), ["none"])


def test_a_person_who_is_not_said_is_a_row() -> None:
    assert not singled_out(table([("1", "1", "1", "a")]), ["x"], person="none").people


def published() -> pa.Table:
    numbers = range(100)
    return pa.table(
        {
            "cost": pa.array([str(1000 + i) for i in numbers]),
            "group": pa.array([str(i % 4) for i in numbers]),
            "mail": pa.array([f"ana{i % 20}@example.org" for i in numbers]),
            "name": pa.array([str(i) for i in numbers]),
        }
    )


def test_published_columns_that_single_people_out_are_named() -> None:
    columns = [Column("cost", "sensitive"), Column("group", "insensitive"), Column("mail", "insensitive")]
    found = {e.column: e for e in singled_out(published(), ["group"], columns, k=5).published}
    assert (found["cost"].dangers, found["cost"].singled_out, found["cost"].records) == (("alone",), 100, 100)
    assert found["group"].dangers == ()
    assert found["mail"].dangers == ("content",)


def test_columns_are_judged_as_they_would_be_published() -> None:
    rounded = Column("cost", "sensitive", operation={"round": 50})
    accepted = Column("mail", "insensitive", exposure="accepted")
    hidden = Column("name", "identifier")
    broken = Column("group", "insensitive", operation={"substitute": {"map": {"0": "a"}}})
    found = {e.column: e for e in singled_out(published(), [], [rounded, accepted, hidden, broken], k=5).published}
    assert set(found) == {"cost", "mail"}
    assert found["cost"].dangers == ()
    assert found["mail"].accepted
    masked = Column("mail", "insensitive", operation={"mask": {"keep": 1}})
    (judged,) = singled_out(published(), [], [masked], k=5).published
    assert judged.dangers == ()
    (people,) = singled_out(published(), [], [Column("cost", "sensitive")], k=5, person="group").published
    assert (people.people, people.records, people.singled_out) == (True, 4, 4)
