"""What an engine does not declare is refused with a way out; nothing is silently missing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from test_mondrian import in_parts
from velado import Column, InputError, KAnonymity, Mondrian, Output, Project, run
from velado.tables import Capability
from velado.tables.duckdb import DuckDBEngine

PEOPLE = pa.table({"age": [str(20 + i % 40) for i in range(100)], "cost": [str(i % 7) for i in range(100)]})
AGE = Column("age", "quasi-identifier", type="integer", hierarchy={"intervals": [10, 40]})
COST = Column("cost", "insensitive", exposure="accepted")
NOISY = Column("cost", "insensitive", operation={"noise": {"scale": 1}})


def several(folder: Path) -> Any:
    tables = {n: Project(PEOPLE, (AGE, COST), (KAnonymity(2),), output=Output(folder / f"{n}.csv")) for n in "ab"}
    return run(Project.of_tables(tables))


def parts(folder: Path) -> Any:
    with in_parts(5):
        return run(Project(PEOPLE, (AGE, COST), (KAnonymity(2),), Mondrian(), Output(folder / "out.csv")))


def single(folder: Path, cost: Column = COST, order: str = "shuffle") -> Any:
    return run(Project(PEOPLE, (AGE, cost), (KAnonymity(2),), output=Output(folder / "out.csv", order=order)))


NEEDING: dict[Capability, Callable[[Path], Any]] = {
    Capability.ORDERED: lambda folder: single(folder, order="keep"),
    Capability.ROW_NOISE: lambda folder: single(folder, NOISY),
    Capability.SPLIT: parts,
    Capability.ATOMIC_MANY: several,
}


@pytest.mark.parametrize("capability", NEEDING, ids=lambda c: c.name)
def test_what_the_engine_cannot_do_is_said(capability: Capability, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    NEEDING[capability](tmp_path)
    for made in tmp_path.iterdir():
        made.unlink()
    monkeypatch.setattr(DuckDBEngine, "capabilities", DuckDBEngine.capabilities - {capability})
    with pytest.raises(InputError) as caught:
        NEEDING[capability](tmp_path)
    assert caught.value.code == "engine-cannot"
    assert capability.value in caught.value.message
    assert caught.value.hint
    assert list(tmp_path.iterdir()) == []
