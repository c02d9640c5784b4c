"""Whoever cancels a call ends the statement that is running, at once, and nothing is left of it."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from engines.engines import AS_IT_IS, EngineUnderTest, per_engine, translation
from velado import Cancelled, InputError, Progress
from velado.tables import Capability, Plan, Selection, Session, Slot, Table, Translation

MANY = 100_000
SOON = 60.0
"""Seconds: generous, for machines that do other things, and less than the statements would take on any."""

SAME = pa.table({"a": pa.array(["x"] * MANY), "b": pa.array(["y"] * MANY)})
ENDLESS = Translation("a", ("x",) * MANY, np.zeros(MANY, dtype=np.int32), ("label",))
"""Every row has every key: ten thousand million rows."""


def fetch(engine: EngineUnderTest, table: Table, folder: Path) -> Any:
    return table.fetch(Plan((ENDLESS,), Selection()), "sorted")


def split(engine: EngineUnderTest, table: Table, folder: Path) -> Any:
    sink = engine.sink("parquet", folder)
    return table.split((ENDLESS,), (), Plan((), Selection()), Slot(sink, sink.path))


def write(kind: str) -> Callable[..., Any]:
    def into(engine: EngineUnderTest, table: Table, folder: Path) -> Any:
        with engine.stage([engine.sink(kind, folder, evidence=True)]) as stage:
            table.write(Plan((ENDLESS,), Selection()), stage.slots[0])
            raise AssertionError("it was not cancelled")

    into.__name__ = f"write-{kind}"
    return into


def cancelled_soon(progress: Progress, begun: float = 0.4) -> list[float]:
    """When it was cancelled, as soon as it was."""
    at: list[float] = []

    def cancel() -> None:
        at.append(time.monotonic())
        progress.cancel()

    threading.Timer(begun, cancel).start()
    return at


@per_engine
@pytest.mark.parametrize(
    "verb", [fetch, split, write("memory"), write("csv"), write("parquet"), write("arrow"), write("xlsx")], ids=lambda v: v.__name__
)
def test_cancel_ends_a_long_statement(engine: EngineUnderTest, verb: Callable[..., Any], tmp_path: Path) -> None:
    if Capability.INTERRUPT not in engine.capabilities or (verb is split and Capability.SPLIT not in engine.capabilities):
        return
    progress = Progress()
    out = tmp_path / "out"
    out.mkdir()
    with engine.open(SAME, "memory", tmp_path, Session(progress, scratch=out)) as table:
        at = cancelled_soon(progress)
        with pytest.raises(Cancelled):
            verb(engine, table, out)
        assert at, "the statement ended before anybody cancelled it"
        assert time.monotonic() - at[0] < SOON
    assert [p.name for p in out.iterdir() if p.name != "out.parquet" or verb is not split] == []
    assert not list(out.rglob(".velado-*"))


VERBS: dict[str, Callable[[Table], Any]] = {
    "rows": lambda table: table.rows(),
    "distinct": lambda table: table.distinct(["a"]),
    "count": lambda table: table.count(["a"]),
    "amounts": lambda table: list(table.amounts(["a"])),
    "lacks": lambda table: table.lacks("a"),
    "groups": lambda table: table.groups([["a"]], [2]),
    "repeats": lambda table: table.repeats("a"),
    "shares": lambda table: table.shares(["a"], "b"),
    "members": lambda table: table.members(["a"], "b"),
    "count_constant_rows": lambda table: table.count_constant_rows("*"),
    "unseen": lambda table: table.unseen(Plan((translation("a", {}),), Selection())),
    "fetch": lambda table: table.fetch(AS_IT_IS),
    "page": lambda table: table.page(0, 1),
    "text_batches": lambda table: table.text_batches().read_all(),
}


def is_cancelled(verb: Callable[[Table], Any], table: Table) -> bool:
    try:
        verb(table)
    except Cancelled:
        return True
    return False


@per_engine
def test_no_verb_begins_after_cancel(engine: EngineUnderTest, tmp_path: Path) -> None:
    progress = Progress()
    with engine.open(SAME.slice(0, 3), "memory", tmp_path, Session(progress)) as table:
        assert [name for name, verb in VERBS.items() if is_cancelled(verb, table)] == []
        progress.cancel()
        assert [name for name, verb in VERBS.items() if not is_cancelled(verb, table)] == []


@per_engine
def test_nothing_is_opened_after_cancel(engine: EngineUnderTest, tmp_path: Path) -> None:
    progress = Progress()
    progress.cancel()
    with pytest.raises(Cancelled):
        engine.open(SAME, "memory", tmp_path, Session(progress, scratch=tmp_path))
    assert list(tmp_path.iterdir()) == []


@per_engine
def test_interrupt_alone_ends_one_statement(engine: EngineUnderTest, tmp_path: Path) -> None:
    """The table is there for other statements, unless its transaction, and with it the snapshot, is over."""
    if Capability.INTERRUPT not in engine.capabilities:
        return
    with engine.open(SAME, "memory", tmp_path) as table:
        over = threading.Event()

        def insist() -> None:
            """Between two statements there is nothing to end."""
            while not over.wait(0.4):
                table.interrupt()

        insisting = threading.Thread(target=insist)
        insisting.start()
        began = time.monotonic()
        try:
            with pytest.raises(InputError):
                fetch(engine, table, tmp_path)
        finally:
            over.set()
            insisting.join()
        assert time.monotonic() - began < SOON
        if engine.name != "postgresql":
            assert table.rows() == MANY
        else:
            with pytest.raises(InputError):
                table.rows()
