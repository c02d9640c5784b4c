"""Releases and questions: followed from the first stage to the last, and cancelled at every one of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import velado
from test_mondrian import in_parts
from velado import Cancelled, Column, KAnonymity, Lattice, Mondrian, Output, Progress, Project
from velado.progress import Step
from velado.samples import hospital

GENEROUS = 5.0
"""Seconds within which a cancelled call has ended; one is meant, but other processes are at work, too."""
MOST_STEPS = 8
PEOPLE = hospital(120)
QI = ("sex", "postal_code", "birth_date")
AGES = pa.table({"age": [str(20 + i % 40) for i in range(200)], "ill": ["flu", "hiv"] * 100})
AGE = Column("age", "quasi-identifier", type="integer", hierarchy={"intervals": [5, 10, 40]})
ILL = Column("ill", "sensitive")

Call = Callable[[Path, Progress], Any]


def columns() -> list[Column]:
    return [
        Column("name", "identifier"),
        Column("national_id", "identifier"),
        Column("birth_date", "quasi-identifier", type="date", hierarchy={"dates": ["year", "decade"]}),
        Column("sex", "quasi-identifier"),
        Column("postal_code", "quasi-identifier", hierarchy={"mask": "right"}),
        Column("city", "insensitive", exposure="accepted"),
        Column("marital_status", "insensitive", exposure="accepted"),
        Column("diagnosis", "sensitive"),
        Column("cost", "insensitive", exposure="accepted"),
    ]


def project(folder: Path, **changes: Any) -> Project:
    given = {"models": (KAnonymity(3),), "method": Lattice(suppression=0.2), "output": Output(folder / "out.csv")}
    return Project(PEOPLE, tuple(columns()), name="patients", **{**given, **changes})


def run(folder: Path, progress: Progress) -> Any:
    return velado.run(project(folder), progress)


def run_in_memory(folder: Path, progress: Progress) -> Any:
    return velado.run(project(folder, output=Output()), progress)


def run_light(folder: Path, progress: Progress) -> Any:
    roles = tuple(Column(n, "identifier" if n == "name" else "insensitive") for n in PEOPLE.column_names)
    return velado.run(Project(PEOPLE, roles, protection="operations", output=Output(folder / "out.parquet")), progress)


def run_in_parts(folder: Path, progress: Progress) -> Any:
    described = Project(AGES, (AGE, ILL), (KAnonymity(3),), Mondrian(), Output(folder / "out.csv"))
    with in_parts(5):
        return velado.run(described, progress)


def run_several(folder: Path, progress: Progress) -> Any:
    tables = {
        "one": Project(AGES, (AGE, ILL), (KAnonymity(3),), output=Output(folder / "one.csv")),
        "two": Project(AGES.slice(0, 150), (AGE, ILL), (KAnonymity(3),), output=Output(folder / "two.csv")),
    }
    return velado.run(Project.of_tables(tables), progress)


def anonymize(folder: Path, progress: Progress) -> Any:
    return velado.anonymize(AGES, [AGE, ILL], [KAnonymity(3)], Mondrian(represent="median"), progress=progress)


@cache
def released() -> pa.Table:
    return velado.anonymize(AGES, [AGE, ILL], [KAnonymity(3)]).table


def attack(folder: Path, progress: Progress) -> Any:
    return velado.attack(released(), ["age"], ["ill"], original=AGES, progress=progress)


def evaluate(folder: Path, progress: Progress) -> Any:
    return velado.evaluate(AGES, released(), ["age"], ["ill"], queries=50, progress=progress)


def evaluate_again(folder: Path, progress: Progress) -> Any:
    """A release of medians, whose classes are made again."""
    described = Project(AGES, (AGE, ILL), (KAnonymity(3),), Mondrian(represent="median"))
    release = velado.run(described).table
    return velado.evaluate(None, release, project=described, progress=progress)


def decrypt(folder: Path, progress: Progress) -> Any:
    key = folder.parent / "key"
    if not key.exists():
        velado.operations.create_key(key)
    roles = (Column("age", operation={"encrypt": {"key": f"file:{key}"}}), Column("ill", "insensitive"))
    tokens = velado.run(Project(AGES, roles, protection="operations")).table
    return velado.decrypt(tokens, ["age"], f"file:{key}", output=folder / "plain.csv", progress=progress)


def apply(folder: Path, progress: Progress) -> Any:
    recoding = velado.anonymize(AGES, [AGE, ILL], [KAnonymity(3)]).recoding
    assert recoding is not None
    return recoding.apply(AGES, progress)


def apply_beside(folder: Path, progress: Progress) -> Any:
    described = Project(AGES, (AGE, ILL), (KAnonymity(3),))
    release = velado.run(described)
    assert isinstance(release, velado.Release)
    return velado.apply(
        release.recoding, AGES.slice(0, 50), release=release.table, project=described, output=folder / "new.csv", progress=progress
    )


CALLS: dict[str, tuple[Call, list[str]]] = {
    "run": (run, ["open", "fit", "count", "search", "write", "verify", "measure", "publish"]),
    "run in memory": (run_in_memory, ["open", "fit", "count", "search", "write", "verify", "measure", "publish"]),
    "run light": (run_light, ["open", "fit", "treat", "write", "verify", "publish"]),
    "run in parts": (run_in_parts, ["open", "fit", "count", "split", "solve", "verify", "publish"]),
    "run several": (run_several, ["open", "fit", "count", "search", "write", "verify", "measure", "publish"]),
    "anonymize": (anonymize, ["open", "fit", "count", "search", "write", "verify", "measure", "publish"]),
    "check": (lambda f, p: velado.check(PEOPLE, QI, ["diagnosis"], progress=p), ["open", "count", "measure"]),
    "inspect": (lambda f, p: velado.inspect_table(PEOPLE, p), ["open", "inspect", "combine"]),
    "estimate": (lambda f, p: velado.estimate(project(f), p), ["open", "count"]),
    "hierarchy": (lambda f, p: velado.questions.project_hierarchy(project(f), "sex", p), ["open", "count"]),
    "compare": (lambda f, p: velado.compare(project(f), {"k": [2, 3, 4]}, progress=p), ["open", "count", "compare"]),
    "balance": (lambda f, p: velado.balance(project(f), {"loss": 0.9}, {"k": [2, 3]}, progress=p), ["open", "count", "compare"]),
    "attack": (attack, ["open", "attack"]),
    "evaluate": (evaluate, ["open", "count", "measure"]),
    "evaluate again": (evaluate_again, ["open", "count", "measure"]),
    "decrypt": (decrypt, ["open", "decrypt", "write", "publish"]),
    "fuzzify": (lambda f, p: velado.fuzzify(AGES, ["age"], ["ill"], progress=p), ["open", "count", "partition", "measure"]),
    "apply": (apply, ["apply"]),
    "apply beside a release": (apply_beside, ["open", "fit", "count", "write", "verify", "publish"]),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    return made


def followed(call: Call, folder: Path) -> list[Step]:
    seen: list[Step] = []
    call(folder, Progress(seen.append))
    return seen


def stages_of(steps: list[Step]) -> list[str]:
    """The stages in their order; finer ones inside a stage may come and go."""
    return list(dict.fromkeys(step.stage for step in steps))


@pytest.mark.matrix(6)
@pytest.mark.parametrize("name", CALLS)
def test_stages_come_in_order_and_the_share_never_goes_back(name: str, folder: Path) -> None:
    call, stages = CALLS[name]
    steps = followed(call, folder)
    assert [stage for stage in stages_of(steps) if stage in stages] == stages
    shares = [step.share for step in steps]
    assert shares == sorted(shares)
    assert 0 <= shares[0] < 0.2
    assert shares[-1] > 0.5 or len(stages) <= 2
    assert all(step.done <= step.total for step in steps if step.total is not None and step.done is not None)


@pytest.mark.matrix(5)
@pytest.mark.parametrize("name", CALLS)
def test_cancelled_at_every_step_nothing_is_left(name: str, folder: Path) -> None:
    call, _ = CALLS[name]
    total = len(followed(call, folder))
    for made in folder.iterdir():
        made.unlink()
    for number in sorted({*range(min(total, MOST_STEPS)), *np.linspace(0, total - 1, MOST_STEPS).astype(int).tolist()}):
        assert len(until(call, folder, number)) == number + 1, "nothing goes on after a cancel"
        assert list(folder.iterdir()) == []


def until(call: Call, folder: Path, number: int) -> list[Step]:
    """The steps of a call that is cancelled when the step of a number comes."""
    came: list[Step] = []

    def watch(step: Step) -> None:
        came.append(step)
        if len(came) == number + 1:
            progress.cancel()

    progress = Progress(watch)
    with pytest.raises(Cancelled):
        call(folder, progress)
    return came


def test_an_old_release_stays_when_the_next_run_is_cancelled(folder: Path) -> None:
    run(folder, Progress())
    before = {p.name: p.read_bytes() for p in folder.iterdir()}
    progress = Progress(lambda step: progress.cancel() if step.stage == "publish" else None)
    with pytest.raises(Cancelled):
        run(folder, progress)
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == before


def test_who_cancels_after_the_end_changes_nothing(folder: Path) -> None:
    progress = Progress()
    release = run(folder, progress)
    progress.cancel()
    assert release.output is not None
    assert release.output.exists()


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three million rows, nearly all of them different: counting them takes the engine seconds."""
    rng = np.random.default_rng(1)
    path = tmp_path_factory.mktemp("large") / "large.parquet"
    table = pa.table({f"c{i}": rng.integers(0, 1000, 3_000_000) for i in range(6)})
    pq.write_table(table, path)
    return path


LONG: dict[str, Callable[[Path, Path, Progress], Any]] = {
    "check": lambda large, folder, p: velado.check(large, ["c0", "c1", "c2", "c3"], ["c4"], progress=p),
    "inspect": lambda large, folder, p: velado.inspect_table(large, p),
    "run": lambda large, folder, p: velado.run(
        Project(
            large,
            tuple(Column(f"c{i}", "quasi-identifier", hierarchy={"intervals": [100]}, type="integer") for i in range(4)),
            (KAnonymity(2),),
            Lattice(suppression=1),
            Output(folder / "out.csv"),
            rest="insensitive",
        ),
        p,
    ),
}


@pytest.mark.parametrize("name", LONG)
def test_a_long_statement_is_interrupted(name: str, large: Path, folder: Path) -> None:
    begun = threading.Event()
    progress = Progress(lambda step: begun.set() if step.stage in ("count", "inspect") else None)
    asked: list[float] = []

    def ask() -> None:
        begun.wait()
        asked.append(time.monotonic())
        progress.cancel()

    thread = threading.Thread(target=ask)
    thread.start()
    with pytest.raises(Cancelled):
        LONG[name](large, folder, progress)
    ended = time.monotonic()
    thread.join()
    assert ended - asked[0] < GENEROUS
    assert list(folder.iterdir()) == []
    assert [p.name for p in large.parent.iterdir()] == [large.name]
