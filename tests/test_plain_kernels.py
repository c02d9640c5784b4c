"""Kernels as they are written give what their compiled form gives, bit by bit, and serve until that is there."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from random_tables import Small, model_strategy, small_tables, velado_model
from velado import Lattice, Mondrian, NoSolution
from velado.kernels import compile_cache, compiler, grouping, lattice, measures, mondrian, survey
from velado.methods import Method
from velado.methods import survey as surveys
from velado.models import judge_classes

KERNELS = [x for m in (grouping, lattice, measures, mondrian, survey) for x in vars(m).values() if isinstance(x, compiler.Kernel)]
LATTICES = st.builds(
    Lattice,
    suppression=st.sampled_from([0.0, 0.1, 1.0]),
    objective=st.sampled_from(["loss", "discernibility", "average-class-size"]),
)
CUTS = st.builds(
    Mondrian, split=st.sampled_from(["balanced", "median", "distribution"]), width=st.sampled_from(["values", "range", "std"])
)


@contextmanager
def nothing_compiled() -> Iterator[pytest.MonkeyPatch]:
    """By this process or on disk."""
    with pytest.MonkeyPatch.context() as patch:
        for kernel in KERNELS:
            patch.setattr(kernel, "_compiled", None)
        patch.setattr(compiler, "compiled_before", lambda *_: False)
        patch.setattr(compiler, "_spent", 0.0)
        yield patch


def released(method: Method, table: Small, models: list[Any]) -> Any:
    frequency = table.frequency(models)
    try:
        found = method.search(frequency, models)
    except NoSolution as error:
        return error.message
    _, verdicts = judge_classes(models, frequency.judged_columns, found.classes)
    figures = [repr(v.achieved) for v in verdicts]
    return found.classes.class_of.tolist(), found.kept.tolist(), found.levels, repr(found.search.value), figures


@pytest.mark.thorough
@settings(max_examples=60, deadline=None)
@given(table=small_tables(), described=st.lists(model_strategy(), min_size=1, max_size=3), method=LATTICES | CUTS)
def test_both_forms_give_the_same(table: Small, described: list[dict[str, Any]], method: Method) -> None:
    models = [velado_model(m) for m in described]
    compiled = released(method, table, models)
    with nothing_compiled():
        plain = released(method, table, models)
        assert all(kernel._compiled is None for kernel in KERNELS), "nothing small is compiled"
    assert plain == compiled


@settings(max_examples=20, deadline=None)
@given(
    table=small_tables(),
    described=st.lists(model_strategy(), min_size=1, max_size=3),
    objective=st.sampled_from(["loss", "entropy", "discernibility", "average-class-size"]),
)
def test_both_forms_survey_the_same(table: Small, described: list[dict[str, Any]], objective: str) -> None:
    models = [velado_model(m) for m in described]
    frequency = table.frequency(models)

    def surveyed() -> str:
        found = surveys.survey(frequency, models, objective)
        told = [figure.values.tolist() for part in (*found.achieved, *found.reached) for figure in part.values()]
        arrays = (getattr(found, name).tolist() for name in ("objective", "loss", "kept", "classes", "least", "people"))
        return repr([*arrays, told])

    compiled = surveyed()
    with nothing_compiled():
        plain = surveyed()
        assert all(kernel._compiled is None for kernel in KERNELS), "nothing small is compiled"
    assert plain == compiled


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 1000)), max_size=60, unique_by=lambda pair: pair[1]))
def test_rows_are_sorted_by_rank_and_number(pairs: list[tuple[int, int]]) -> None:
    n = len(pairs)
    data = np.array([[rank] for rank, _ in pairs], dtype=np.int32).reshape(n, 1)
    rows = np.array([number for _, number in pairs], dtype=np.int64)
    order = np.arange(n)
    mondrian._sort_rows(data, rows, 0, order, np.empty(n, dtype=np.int64), n)
    assert [pairs[i] for i in order] == sorted(pairs)


def test_when_a_kernel_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[str] = []
    double = compiler.Kernel(lambda n: used.append("plain"), {}, False, lambda n: n)  # type: ignore[func-returns-value]
    monkeypatch.setattr(double, "_compile", lambda: lambda n: used.append("compiled"))
    monkeypatch.setattr(compiler, "_spent", 0.0)
    monkeypatch.setattr(compiler, "_patience", 5.0)
    monkeypatch.setattr(compiler, "compiled_before", lambda *_: False)
    double(3)
    assert used == ["plain"]
    assert 0 < compiler._spent < 5
    monkeypatch.setattr(compiler, "_spent", 5.0)
    double(3)
    assert used == ["plain", "compiled"], "patience is over"
    double._compiled = None
    monkeypatch.setattr(compiler, "_spent", 0.0)
    double(compiler.LARGEST + 1)
    assert used[2:] == ["compiled"], "a large call"
    double(3)
    assert used[3:] == ["compiled"], "it is there now"
    double._compiled, double._looked = None, -np.inf
    monkeypatch.setattr(compiler, "compiled_before", lambda *_: True)
    double(3)
    assert used[4:] == ["compiled"], "another process has compiled it"


def test_one_process_compiles(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(compile_cache, "CACHE_FOLDER", tmp_path)
    assert not compile_cache.being_compiled()
    assert compile_cache.begin_compiling()
    assert compile_cache.being_compiled()
    assert not compile_cache.begin_compiling()
    long_ago = time.time() - compile_cache.ABANDONED - 1
    os.utime(tmp_path / "compiling", (long_ago, long_ago))
    assert not compile_cache.being_compiled()
    assert compile_cache.begin_compiling(), "the other one was killed"
    compile_cache.end_compiling()
    assert not compile_cache.being_compiled()


@pytest.mark.matrix(1)
@pytest.mark.parametrize("words", [[b""], [b"."]])
def test_the_second_process_ends_with_an_interrupted_command(words: list[bytes], tmp_path: Path) -> None:
    """After one that came to its end it goes on."""
    command = [sys.executable, "-m", "velado.release.warm", "--with-parent", "lattice"]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    second = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment)
    assert second.stdin is not None
    try:
        second.stdin.write(words[0])
        second.stdin.close()
        if words[0]:
            deadline = time.monotonic() + 60
            while not list(tmp_path.rglob("*.nbi")) and time.monotonic() < deadline:
                time.sleep(0.2)
            assert list(tmp_path.rglob("compiling"))
            assert second.poll() is None
        else:
            assert second.wait(60) == 0
            assert not list(tmp_path.rglob("*.nbi")), "it left before it had compiled anything"
            assert not list(tmp_path.rglob("compiling"))
    finally:
        second.kill()
        second.wait()


def test_when_all_is_compiled_no_command_starts_a_second_process() -> None:
    """All that commands look for is compiled: one kernel less, and every command of every day would start one."""
    code = "from velado.release.warm import compile_all; compile_all(); from velado.cli import kernel_warmup; kernel_warmup.begin(); print(kernel_warmup._helpers)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"
