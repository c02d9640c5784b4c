"""Seconds of a search are those of the search, not of compiling."""

from __future__ import annotations

from types import SimpleNamespace

import numba
import pytest

from velado.methods import clock

START, END = SimpleNamespace(is_start=True), SimpleNamespace(is_start=False)


@pytest.fixture
def seconds(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time that it is; tests put it on."""
    now = [0.0]
    monkeypatch.setattr(clock, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    monkeypatch.setattr(clock, "_COMPILING", clock._Compiling())
    monkeypatch.setattr(clock, "_listening", True)
    return now


def test_compiling_does_not_count(seconds: list[float]) -> None:
    watch = clock.Clock()
    compiling = clock._COMPILING
    seconds[0] = 1.0
    compiling.notify(START)
    seconds[0] = 11.0
    assert watch.seconds == 1.0, "nor does what is still being compiled"
    # Kernels that call others compile these; another thread waits for the lock meanwhile.
    compiling.notify(START)
    seconds[0] = 31.0
    compiling.notify(END)
    seconds[0] = 41.0
    compiling.notify(END)
    seconds[0] = 43.0
    assert watch.seconds == 3.0
    assert clock.Clock().seconds == 0.0
    compiling.notify(END)
    assert watch.seconds == 3.0, "an end whose beginning nobody heard"


def test_numba_tells_when_it_compiles() -> None:
    clock.Clock()
    before = clock._COMPILING.seconds
    assert numba.njit(lambda x: 3 * x + 1)(2) == 7
    assert clock._COMPILING.seconds > before
    assert clock._COMPILING._depth == 0
