"""Stages of servers: side tables that nobody else sees, or that nobody takes for a release, until all get their names."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from engines.engines import AS_IT_IS, EngineUnderTest, needs, per_server, recoded, rows_of, translation
from engines.test_plan import SEX
from engines.test_split import CODED, LABELS, PLACES, PLAN, halves, patients, write_parts
from velado import InputError
from velado.tables import Capability, Evidence, Plan, Selection, Session, Sink, Table, open_stage

__all__ = ["patients"]

EVIDENCE = Evidence('{"public": 1}', '{"private": 1}', '{"recoding": 1}', "Anonymized: it's k = 2")


@pytest.fixture
def session() -> Session:
    return Session()


@pytest.fixture
def table(engine: EngineUnderTest, people: pa.Table, tmp_path: Path, session: Session) -> Iterator[Table]:
    """The people in a session that the stage shares: one connection, one snapshot."""
    with engine.open(people, "table", tmp_path, session) as opened:
        yield opened


def names(engine: EngineUnderTest, sink: Sink) -> set[str]:
    """The tables of the server that have to do with a sink, and all that are not published."""
    assert sink.table is not None
    return {n for n in engine.listed() if n.startswith((sink.table, "velado_"))}


def content(engine: EngineUnderTest, sink: Sink) -> list[tuple[str | None, ...]]:
    assert sink.table is not None
    return rows_of(engine.published(sink.table))


@per_server
def test_written_where_it_lives_read_back_published(
    engine: EngineUnderTest, table: Table, session: Session, people: pa.Table, tmp_path: Path
) -> None:
    sink = engine.sink("table", tmp_path, evidence=True, own_manifest=tmp_path / "own.json")
    plan = Plan((translation("sex", SEX),), Selection(), dropped=("who",))
    expected = Counter(row[:2] for row in recoded(rows_of(people), {1: SEX}))
    with engine.stage([sink], session) as stage:
        (slot,) = stage.slots
        table.write(plan, slot)
        assert sink.table not in engine.listed(), "nothing has its name before it is published"
        with stage.read_back(slot, 100_000_000) as back:
            assert back.rows() == people.num_rows
            assert back.memory == 100_000_000
            assert list(back.header) == ["word", "sex"]
            assert Counter(rows_of(back.page(0, 999))) == expected
        assert slot.digest() is None
        (published,) = stage.publish([EVIDENCE])
    assert published.path == sink.name
    assert published.manifest == sink.name + "_manifest"
    assert published.private_manifest == tmp_path / "own.json"
    assert (tmp_path / "own.json").stat().st_mode & 0o777 == 0o600
    assert names(engine, sink) == {sink.table, f"{sink.table}_manifest"}
    assert Counter(content(engine, sink)) == expected
    assert engine.comment(sink.table) == EVIDENCE.comment


@per_server
def test_the_order_of_the_rows_is_not_that_of_the_source(
    engine: EngineUnderTest, table: Table, session: Session, people: pa.Table, tmp_path: Path
) -> None:
    found = []
    for _ in range(2):
        sink = engine.sink("table", tmp_path, order="shuffle")
        with engine.stage([sink], session) as stage:
            table.write(AS_IT_IS, stage.slots[0])
            stage.publish()
        found.append(content(engine, sink))
    assert found[0] != rows_of(people)
    assert found[0] != found[1]
    assert Counter(found[0]) == Counter(found[1]) == Counter(rows_of(people))


@per_server
def test_rows_from_elsewhere(engine: EngineUnderTest, people: pa.Table, tmp_path: Path) -> None:
    """From memory, and from another connection, in batches."""
    from engines.engines import DUCKDB

    for source in (DUCKDB, engine):
        sink = engine.sink("table", tmp_path)
        with source.open(people, "memory", tmp_path) as table, engine.stage([sink]) as stage:
            table.write(AS_IT_IS, stage.slots[0])
            with stage.read_back(stage.slots[0]) as back:
                assert back.rows() == people.num_rows
            stage.publish()
        assert Counter(content(engine, sink)) == Counter(rows_of(people))


@per_server
@pytest.mark.parametrize(("error", "old"), [(None, False), (None, True), (ZeroDivisionError, True), (KeyboardInterrupt, True)])
def test_without_publish_nothing_is_there(
    engine: EngineUnderTest, table: Table, session: Session, error: type[BaseException] | None, old: bool, tmp_path: Path
) -> None:
    sink = engine.sink("table", tmp_path, evidence=True, if_exists="replace", own_manifest=tmp_path / "own.json")
    if old:
        engine.put_as(pa.table({"old": ["release"]}), sink.table or "")
    try:
        with open_stage([sink], session) as stage:
            table.write(AS_IT_IS, stage.slots[0])
            if error is not None:
                raise error
    except (ZeroDivisionError, KeyboardInterrupt):
        pass
    table.close()
    assert names(engine, sink) == ({sink.table} if old else set())
    assert not old or content(engine, sink) == [("release",)]
    assert list(tmp_path.iterdir()) == []


@per_server
def test_a_table_that_is_there(engine: EngineUnderTest, people: pa.Table, tmp_path: Path) -> None:
    sink = engine.sink("table", tmp_path, evidence=True)
    engine.put_as(pa.table({"old": ["release"]}), sink.table or "")
    with pytest.raises(InputError) as caught:
        engine.stage([sink])
    assert caught.value.code == "output-exists"
    assert content(engine, sink) == [("release",)]
    replacing = replace(sink, if_exists="replace")
    for _ in range(2):
        session = Session()
        with engine.open(people, "table", tmp_path, session) as table, engine.stage([replacing], session) as stage:
            table.write(AS_IT_IS, stage.slots[0])
            stage.publish([EVIDENCE])
        assert len(content(engine, sink)) == people.num_rows
        assert names(engine, sink) == {sink.table, f"{sink.table}_manifest"}


@per_server
def test_two_runs_into_one_target(engine: EngineUnderTest, people: pa.Table, tmp_path: Path) -> None:
    sink = engine.sink("table", tmp_path)
    one, other = Session(), Session()
    with (
        engine.open(people, "table", tmp_path, one) as first,
        engine.open(people.slice(0, 7), "table", tmp_path, other) as second,
        engine.stage([sink], one) as winning,
        engine.stage([sink], other) as losing,
    ):
        first.write(AS_IT_IS, winning.slots[0])
        second.write(AS_IT_IS, losing.slots[0])
        winning.publish()
        with pytest.raises(InputError) as caught:
            losing.publish()
    assert caught.value.code == "output-exists"
    assert len(content(engine, sink)) == people.num_rows
    assert names(engine, sink) == {sink.table}


@per_server
def test_several_tables_are_published_together(engine: EngineUnderTest, people: pa.Table, tmp_path: Path) -> None:
    sinks = [engine.sink("table", tmp_path, name=n, evidence=True) for n in ("many_a", "many_b")]
    if not needs(engine, Capability.ATOMIC_MANY, lambda: engine.stage(sinks)):
        return
    session = Session()
    with engine.open(people, "table", tmp_path, session) as table, engine.stage(sinks, session) as stage:
        for slot in stage.slots:
            table.write(AS_IT_IS, slot)
        stage.publish([EVIDENCE, EVIDENCE])
    for sink in sinks:
        assert names(engine, sink) == {sink.table, f"{sink.table}_manifest"}
    # The second one is there meanwhile: the first does not appear, either.
    more = [replace(engine.sink("table", tmp_path, name="many_c"), if_exists="fail"), replace(sinks[1], evidence=False)]
    with pytest.raises(InputError), engine.stage(more):
        pass
    assert names(engine, more[0]) == set()


@per_server
def test_a_source_is_one_snapshot(engine: EngineUnderTest, people: pa.Table, tmp_path: Path) -> None:
    """What is written by others meanwhile is not seen, or noticed; never published unjudged."""
    session = Session()
    source = engine.put(people, "table", tmp_path)
    sink = engine.sink("table", tmp_path)
    with engine.engine.open(source, session) as table:
        table.engine = engine.engine
        before = table.rows()
        engine.change(source.table or "")
        # Another session of the same server may see it; then it is noticed.
        seen = table.rows()
        assert before == people.num_rows
        problem = None
        try:
            with engine.stage([sink], session) as stage:
                table.write(AS_IT_IS, stage.slots[0])
                table.check_unchanged()
                stage.publish()
        except InputError as error:
            problem = error.code
    if problem is None:
        assert seen == before
        assert Counter(content(engine, sink)) == Counter(rows_of(people))
    else:
        assert problem == "source-changed"
        assert sink.table not in engine.listed()


@per_server
def test_parts_written_are_the_whole_written(engine: EngineUnderTest, patients: pa.Table, tmp_path: Path) -> None:
    plan = Plan(
        (
            translation("age", {t: LABELS["age"](i) for i, t in enumerate(PLACES[0].keys)}, typed=True),
            translation("sex", {t: LABELS["sex"](i) for i, t in enumerate(PLACES[1].keys)}),
        ),
        Selection(),
        starred=PLAN.starred,
        dropped=PLAN.dropped,
    )
    if Capability.SPLIT not in engine.capabilities:
        pytest.skip("the engine solves parts where they lie: test_spread.py")
    session = Session()
    sinks = [engine.sink("table", tmp_path, name=n) for n in ("parts", "whole")]
    with engine.open(patients, "table", tmp_path, session) as table, engine.stage(sinks, session) as stage:
        with table.split(PLACES, CODED, PLAN, stage.slots[0]) as split:
            write_parts(split, halves(split.whole()))
        table.write(plan, stage.slots[1])
        assert stage.slots[0].fields == stage.slots[1].fields
        stage.publish()
    found, expected = (content(engine, sink) for sink in sinks)
    assert Counter(found) == Counter(expected)
    assert len(found) == patients.num_rows
