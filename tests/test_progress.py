"""Progress: one share that never goes back, stages in three languages, and an end within a second that leaves nothing."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import velado
from conftest import Command
from velado.appointments import BestFit, Exact, FindSlots, RandomSlots, assign_appointments, compare_planners
from velado.appointments.problem import Problem
from velado.attacks.base import Attacker
from velado.attacks.order import order
from velado.attacks.records import Records
from velado.errors import Cancelled
from velado.evaluation import MEASURES, Outcome, Pair, Wanted, evaluate
from velado.evaluation.learning import learning_utility
from velado.evaluation.uniqueness import uniqueness
from velado.frequency import FrequencyTable
from velado.fuzzy import CMeans, GustafsonKessel, KMeans
from velado.hierarchies import Cover, Hierarchy
from velado.i18n import LANGUAGES
from velado.i18n.labels import LABELS
from velado.methods import Datafly, Fixed, Fuzzy, Incognito, Lattice, Mondrian, Samarati
from velado.models import DistinctDiversity, KAnonymity
from velado.progress import Progress, Step
from velado.release import count_table
from velado.report.formats.comparison import save_comparison
from velado.report.formats.fuzzy_charts import save_fuzzy_charts
from velado.report.report import write_report
from velado.samples import hospital
from velado.schema import Column, Schema
from velado.sentences import Sentence, translations
from velado.studies import anonylitics, data_folder, oviedo, ubb, ucm, unilab
from velado.tables import open_table

SOURCE = Path(velado.__file__).parent
DATA = data_folder()
GENEROUS = 5.0
"""Seconds within which a cancelled call has ended; one is meant, but other processes are at work, too."""


# The object itself


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(-1, 2)), max_size=30))
def test_the_share_never_goes_back(parts: list[tuple[float, float, float]]) -> None:
    seen: list[Step] = []
    progress = Progress(seen.append)
    for low, high, done in parts:
        progress.part(min(low, high), max(low, high)).at(done)
    shares = [step.share for step in seen]
    assert shares == sorted(shares)
    assert all(0 <= share <= 1 for share in shares)
    assert len(seen) == len(parts)


@given(st.integers(1, 5), st.integers(1, 5))
def test_parts_of_parts_make_the_whole(outer: int, inner: int) -> None:
    seen: list[Step] = []
    progress = Progress(seen.append)
    for i in range(outer):
        whole = progress.of(i, outer, "study")
        for j in range(inner):
            whole.of(j, inner).at(1.0)
            assert progress.step.share == pytest.approx((i + (j + 1) / inner) / outer)
    assert {step.stage for step in seen} == {"study"}


def test_stages_one_after_the_other() -> None:
    seen: list[Step] = []
    begin = Progress(seen.append).through(count=1, search=3)
    begin("count").at(1, 2)
    begin("search").at(5, 10)
    assert [step.as_dict() for step in seen] == [
        {"stage": "count", "share": 0.0, "done": None, "total": None},
        {"stage": "count", "share": 0.125, "done": 1, "total": 2},
        {"stage": "search", "share": 0.25, "done": None, "total": None},
        {"stage": "search", "share": 0.625, "done": 5, "total": 10},
    ]


def test_cancelling_from_another_thread() -> None:
    progress = Progress()
    thread = threading.Thread(target=progress.part(0.0, 0.5).cancel)
    thread.start()
    thread.join()
    assert progress.cancelled
    for call in (progress.check, lambda: progress.at(0.1), lambda: progress.of(0, 2)):
        with pytest.raises(Cancelled):
            call()
    with pytest.raises(Cancelled), progress.interrupting(pytest.fail):
        pytest.fail("work that was cancelled before has begun")


def test_interrupts_are_called_only_meanwhile() -> None:
    called: list[str] = []
    progress = Progress()
    with progress.interrupting(lambda: called.append("over")):
        pass
    with progress.interrupting(lambda: called.append("outer")):
        with progress.part(0.0, 0.5).interrupting(lambda: called.append("inner")):
            progress.cancel()
        assert called == ["outer", "inner"]
    progress.cancel()
    assert called == ["outer", "inner"]


def test_what_the_watcher_raises_ends_the_call() -> None:
    def watch(step: Step) -> None:
        if step.share > 0.4:
            raise KeyError(step.stage)

    progress = Progress(watch)
    progress.at(0.1)
    with pytest.raises(KeyError):
        progress.at(0.5)
    assert not progress.cancelled
    with pytest.raises(KeyError), progress.interrupting(pytest.fail):
        progress.at(0.6)


def test_nobody_watches() -> None:
    progress = Progress()
    progress.at(0.5)
    assert (progress.step.share, progress.cancelled) == (0.5, False)


# Words


def test_every_stage_has_words_in_three_languages_and_every_word_is_used() -> None:
    told = LABELS["stage"]
    used: set[str] = set()
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for weights in re.findall(r"\.through\((.*?)\)\n", text):
            used |= set(re.findall(r"(\w+)=", weights))
        used |= set(re.findall(r'(?:\.part\([^"\n]+, |(?<!kernel_warmup\.)begin\(|Step\()"(\w+)"', text))
        used |= set(re.findall(r'kernels_ready\(\S*\) else "(\w+)"', text))
        used |= set(re.findall(r'"(\w+)" if (?:kernels_ready|name ==)', text))
    used -= {"utility", "privacy", "aggregates", "ks", "queries", "learning", "risk", "fuzzy", "subsets"}  # parts of an evaluation
    assert used == set(told)
    for key, english in told.items():
        assert [Step(key, 0.0).text(code) for code in LANGUAGES] == [Sentence(english).into(code) for code in LANGUAGES]
        assert set(translations()[english]) == set(LANGUAGES) - {"en"}, key


# Small inputs


@cache
def patients() -> FrequencyTable:
    columns = [
        Column("birth_date", "quasi-identifier", type="date", hierarchy={"dates": ["year", "decade"]}),
        Column("sex", "quasi-identifier"),
        Column("postal_code", "quasi-identifier", hierarchy={"mask": "right"}),
        Column("diagnosis", "sensitive"),
    ]
    with open_table(hospital(300)) as table:
        return count_table(table, Schema(columns))


@cache
def costs() -> FrequencyTable:
    people = pa.table({"age": [str(20 + i * i % 61) for i in range(200)], "cost": [str(i * 7 % 101) for i in range(200)]})
    with open_table(people) as table:
        return count_table(table, Schema([Column(c, "quasi-identifier", type="integer") for c in people.column_names]))


@cache
def pair() -> Pair:
    found = Lattice().search(patients(), [KAnonymity(5)])
    return Pair.of(found.classes, found.kept, found.covers, found.labels)


def outcome() -> Outcome:
    rows = np.arange(patients().rows)
    return Outcome("ill", ("a", "b"), rows, rows % 2, np.ones(len(rows), dtype=np.int64))


def problem(people: int, low: int, high: int, seed: int = 1) -> Problem:
    """Groups and slots of random sizes, with just enough places."""
    rng = np.random.default_rng(seed)
    sizes, capacities = (rng.integers(low, high + 1, people // low + 1) for _ in range(2))
    sizes = sizes[: int(np.searchsorted(np.cumsum(sizes), people)) + 1]
    capacities = capacities[: int(np.searchsorted(np.cumsum(capacities), sizes.sum())) + 1]
    return Problem.plain(sizes, capacities)


def appointments() -> tuple[pa.Table, pa.Table]:
    people = pa.table({"zip": [f"280{i * i % 23:02d}" for i in range(120)]})
    return people, pa.table({"hour": list(range(9, 19)), "capacity": [9, 17, 12, 12, 8, 14, 20, 11, 9, 10]})


def records() -> Records:
    rows = np.arange(300)
    labels = tuple(str(i) for i in range(7))
    return Records(("age",), (labels,), rows[:, None] % 7, rows * 0, ((),), rows * 0 + 1, rows < 0)


def cover() -> Cover:
    return Cover.at_level(Hierarchy.from_rows("age", [[str(i), "*"] for i in range(7)]), 0)


Call = Callable[[Path, Progress], Any]
SEARCHES: dict[str, Any] = {
    "lattice": Lattice(),
    "minimal": Lattice(minimal=True),
    "samarati": Samarati(0.1),
    "incognito": Incognito(0.1),
    "datafly": Datafly(),
    "mondrian": Mondrian(),
    "relaxed": Mondrian(relaxed=True, split="distribution"),
    "fixed": Fixed({"birth_date": 3, "sex": 0, "postal_code": 3}),
}
PARTITIONS = {name: Fuzzy(name, sets=3) for name in ("c-means", "gustafson-kessel", "k-means", "global-recode")}
PLANNERS = {p.name: p for p in (RandomSlots(), FindSlots(), BestFit(trials=40), Exact(seconds=5, workers=1))}
CALLS: dict[str, Call] = {
    **{n: lambda _, p, m=m: m.search(patients(), [KAnonymity(3)], p) for n, m in SEARCHES.items()},
    **{n: lambda _, p, m=m: m.search(costs(), [], p) for n, m in PARTITIONS.items()},
    "auto": lambda _, p: Fuzzy().search(costs(), [KAnonymity(2)], p),
    "joint": lambda _, p: Fuzzy(joint=True, sets=3).search(costs(), [], p),
    **{n: lambda _, p, m=m: m.assign(problem(120, 5, 20), p) for n, m in PLANNERS.items()},
    "evaluate": lambda _, p: evaluate(pair(), [KAnonymity(5)], (), Wanted(MEASURES, fraction=0.1), p),
    "learning": lambda _, p: evaluate(pair(), [KAnonymity(5)], (), Wanted(outcome=outcome()), p),
    "assign": lambda folder, p: assign_appointments(*appointments(), ["zip"], output=folder / "out.csv", progress=p),
    "assign in memory": lambda _, p: assign_appointments(*appointments(), ["zip"], "heuristic", progress=p),
    "planners": lambda _, p: compare_planners(
        *appointments(), ["zip"], options={"trials": 20, "seconds": 5, "workers": 1}, progress=p
    ),
    "order": lambda _, p: order(records(), records(), [cover()], Attacker(1, 1.0, 2.0, 0), p),
}
FIRST = {"assign": ["read", "plan", "assign", "improve", "write", "verify"], "planners": ["read", "plan", "assign"]}

SLOW = {"learning": 4, "assign": 8, "auto": 6, "planners": 6}
"""Steps at which these are cancelled."""


def followed(call: Call, folder: Path) -> list[Step]:
    seen: list[Step] = []
    call(folder, Progress(seen.append))
    shares = [step.share for step in seen]
    assert shares == sorted(shares)
    assert 0.9 <= shares[-1] <= 1
    assert shares[0] <= 0.2
    for step in seen:
        assert step.stage in LABELS["stage"]
        assert step.total is None or 0 <= (step.done or 0) <= step.total
    return seen


def files(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def children() -> set[str]:
    tasks = Path("/proc/self/task")
    return {pid for task in tasks.glob("*/children") for pid in task.read_text().split()}


def ends_at(call: Call, folder: Path, number: int) -> bool:
    """Cancel when step ``number`` comes: nothing is left behind. False if it never came."""
    steps: list[Step] = []

    def watch(step: Step) -> None:
        steps.append(step)
        if len(steps) == number:
            progress.cancel()

    progress = Progress(watch)
    before, threads, processes = files(folder), set(threading.enumerate()), children()
    try:
        call(folder, progress)
    except Cancelled:
        assert len(steps) == number, "work went on after it was cancelled"
        assert files(folder) == before
        assert threads_left(threads) == set()
        assert children() <= processes
        return True
    assert len(steps) < number
    return False


def threads_left(before: set[threading.Thread]) -> set[threading.Thread]:
    """Threads that are still there a moment later; pools of libraries end theirs by themselves."""
    end = time.monotonic() + 5
    while True:
        found = {t for t in threading.enumerate() if t not in before and t.is_alive()}
        if not found or time.monotonic() > end:
            return found
        time.sleep(0.02)


def some(steps: int, cap: int) -> list[int]:
    """All numbers of steps, or so many of them: the first, the last, and others between."""
    return sorted({int(x) for x in np.linspace(1, steps, min(steps, cap)).round()})


@pytest.mark.matrix(6)
@pytest.mark.parametrize("name", CALLS)
def test_shares_and_cancelling_at_every_step(name: str, tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    whole.mkdir()
    steps = followed(CALLS[name], whole)
    stages = list(dict.fromkeys(step.stage for step in steps))
    assert stages[: len(FIRST.get(name, []))] == FIRST.get(name, [])
    folder = tmp_path / "cancelled"
    folder.mkdir()
    for number in some(len(steps), SLOW.get(name, 12)):
        assert ends_at(CALLS[name], folder, number) or number > len(steps) // 2


def test_uniqueness_and_learning_alone() -> None:
    with pytest.raises(Cancelled):
        uniqueness(np.repeat([1, 2, 3, 5], [50, 20, 10, 4]), 0.05, cancelled())
    with pytest.raises(Cancelled):
        learning_utility(pair(), outcome(), 0, cancelled())


def cancelled() -> Progress:
    progress = Progress()
    progress.cancel()
    return progress


# Reports and studies


@pytest.fixture
def released(write_project: Callable[..., Path], main: Command) -> Path:
    """A project that has been run."""
    project = write_project()
    assert main("run", project).code == 0
    return project


@pytest.mark.thorough
def test_the_report(released: Path, tmp_path: Path) -> None:
    for formats, grid in ((("html", "pdf", "xlsx"), None), (("html",), {"k": [2, 5]})):

        def call(folder: Path, progress: Progress) -> Any:
            return write_report(released, folder, formats=formats, grid=grid, progress=progress)  # noqa: B023

        steps = followed(call, tmp_path / "whole")
        stages = list(dict.fromkeys(step.stage for step in steps))
        expected = ["read", *(["count", "compare"] if grid else []), "measure", "report", "draw"]
        assert [s for s in stages if s in expected] == [*(["read", "compare", "count"] if grid else ["read"]), *expected[-3:]]
        folder = tmp_path / "cancelled"
        folder.mkdir(exist_ok=True)
        for number in some(len(steps), 5):
            assert ends_at(call, folder, number)


def test_charts_of_comparisons_and_fuzzy_sets(released: Path, tmp_path: Path) -> None:
    comparison = velado.compare(released, {"k": [2, 5]})
    people = pa.table({"age": [str(20 + i * i % 61) for i in range(200)]})
    result = velado.fuzzify(people, ["age"])
    calls: list[Call] = [
        lambda folder, progress: save_comparison(comparison, folder, progress=progress),
        lambda folder, progress: save_fuzzy_charts(result, folder / "charts", progress=progress),
    ]
    for i, call in enumerate(calls):
        steps = followed(call, tmp_path / f"whole{i}")
        assert {step.stage for step in steps} == {"draw"}
        for number in some(len(steps), 3):
            assert ends_at(call, tmp_path / f"cancelled{i}", number)


STUDIES: dict[str, Call] = {
    "unilab": lambda folder, p: unilab.study(DATA, folder / "new" / "study", p, rows=500),
    "ucm": lambda folder, p: ucm.study(DATA, folder / "study", p, runs=1),
    "oviedo": lambda folder, p: oviedo.study(DATA, folder / "study", p, pairs=((1, 2),), starts=3),
    "ubb": lambda folder, p: ubb.study(DATA, folder / "study", p),
    "anonylitics": lambda folder, p: anonylitics.study(DATA, folder / "study", p, rows=2000),
}


WHOLE = ("unilab", "ucm")
"""Studies that are quick enough to be followed to their end; the others are only cancelled at their first steps."""


@pytest.mark.thorough
@pytest.mark.parametrize("name", STUDIES)
def test_studies(name: str, tmp_path: Path) -> None:
    if name in ("oviedo", "ubb", "anonylitics") and not DATA.exists():
        pytest.skip("the data are not there")
    numbers = [1, 5]
    if name in WHOLE:
        steps = followed(STUDIES[name], tmp_path / "whole")
        assert "study" in {step.stage for step in steps}
        numbers = some(len(steps) - len(steps) // 8, 3)
    folder = tmp_path / "cancelled"
    folder.mkdir()
    (folder / "kept.txt").write_text("not the study's")
    for number in numbers:
        assert ends_at(STUDIES[name], folder, number)
        assert [path.name for path in folder.iterdir()] == ["kept.txt"]


# Large inputs: whatever is at work when somebody else cancels comes back


def numbers(column: str, leaves: int, widths: Iterator[int] | tuple[int, ...] = (10, 100)) -> Hierarchy:
    return Hierarchy.from_rows(column, [[str(i), *(str(i // w * w) + "+" for w in widths), "*"] for i in range(leaves)])


def large(rows: int, leaves: int, columns: int, widths: tuple[int, ...] = (10, 100)) -> FrequencyTable:
    rng = np.random.default_rng(5)
    codes = rng.integers(0, leaves, (rows, columns)).astype(np.int32)
    hierarchies = tuple(numbers(f"c{j}", leaves, widths) for j in range(columns))
    return FrequencyTable(hierarchies, codes, np.ones(rows, dtype=np.int64))


def ordered(rows: int, leaves: int) -> FrequencyTable:
    people = pa.table({c: pa.array(np.random.default_rng(i).integers(0, leaves, rows)) for i, c in enumerate("ab")})
    with open_table(people) as table:
        return count_table(table, Schema([Column(c, "quasi-identifier", type="integer") for c in "ab"]))


def latency(call: Callable[[Progress], Any], after: float) -> float | None:
    """Seconds from cancelling to the end of a call; None if it was over before."""
    progress, asked = Progress(), []

    def cancel() -> None:
        asked.append(time.monotonic())
        progress.cancel()

    threads, timer = set(threading.enumerate()), threading.Timer(after, cancel)
    timer.start()
    try:
        call(progress)
    except Cancelled:
        ended = time.monotonic()
        timer.join()
        assert {t for t in threading.enumerate() if t.is_alive()} <= threads
        return ended - asked[0]
    finally:
        timer.cancel()
        timer.join()
    return None


LONG: dict[str, Callable[[], Callable[[Progress], Any]]] = {
    "lattice": lambda: (lambda f: lambda p: Lattice(0.01).search(f, [KAnonymity(5)], p))(large(300_000, 300, 6, (2, 10, 50))),
    "incognito": lambda: (lambda f: lambda p: Incognito().search(f, [KAnonymity(50)], p))(large(300_000, 300, 6)),
    "samarati": lambda: (lambda f: lambda p: Samarati().search(f, [KAnonymity(50)], p))(large(300_000, 300, 6)),
    "minimal": lambda: (lambda f: lambda p: Lattice(minimal=True).search(f, [KAnonymity(50)], p))(large(300_000, 300, 5)),
    "mondrian": lambda: (lambda f: lambda p: Mondrian("distribution").search(f, [KAnonymity(2)], p))(ordered(400_000, 100_000)),
    "c-means": lambda: (lambda x: lambda p: CMeans(9, tolerance=1e-15).fit(x, progress=p))(
        np.random.default_rng(1).random((400_000, 3))
    ),
    "gustafson-kessel": lambda: (lambda x: lambda p: GustafsonKessel(9, tolerance=1e-15).fit(x, progress=p))(
        np.random.default_rng(1).random((400_000, 3))
    ),
    "k-means": lambda: (lambda x: lambda p: KMeans(30).fit(x, progress=p))(np.random.default_rng(1).random((400_000, 3))),
    "random": lambda: (lambda x: lambda p: [RandomSlots(i).assign(x, p) for i in range(100)])(problem(3_000_000, 20, 200)),
    "heuristic": lambda: (lambda x: lambda p: [FindSlots().assign(x, p) for _ in range(100)])(problem(3_000_000, 2, 20)),
    "best-fit": lambda: (lambda x: lambda p: BestFit(10**6).assign(x, p))(problem(1_000_000, 20, 200)),
    "best-fit, repacking": lambda: (lambda x: lambda p: BestFit(10**7).assign(x, p))(problem(3000, 20, 200)),
    "exact, arc flow": lambda: (lambda x: lambda p: Exact(600).assign(x, p))(problem(30_000, 50, 400)),
    "exact, cells": lambda: (lambda x: lambda p: Exact(600).assign(x, p))(problem(30_000, 1000, 4000)),
    "exact, small": lambda: (lambda x: lambda p: Exact(600).assign(x, p))(problem(1000, 20, 200)),
}


@pytest.mark.matrix(2)
@pytest.mark.parametrize("name", LONG)
def test_cancelling_in_the_middle_of_long_work(name: str) -> None:
    call = LONG[name]()
    # Kernels are loaded, or compiled, before: that takes seconds and cannot be interrupted.
    for method in (Lattice(0.0), Mondrian()):
        method.search(costs(), [KAnonymity(2)])
    if name == "lattice":
        call(Progress())  # also the kernel of the sweep
    waited = latency(call, 0.7)
    print(f"{name}: ended {waited} s later")
    assert waited is None or waited < GENEROUS


def test_models_of_values_are_cancelled_too() -> None:
    rng = np.random.default_rng(2)
    with open_table(pa.table({"a": rng.integers(0, 3000, 200_000), "s": rng.integers(0, 500, 200_000)})) as table:
        columns = [Column("a", "quasi-identifier", type="integer"), Column("s", "sensitive")]
        frequency = count_table(table, Schema(columns))
    waited = latency(lambda p: Mondrian("balanced").search(frequency, [DistinctDiversity(3, "s")], p), 0.2)
    assert waited is None or waited < GENEROUS
