"""The parts of the suite. Every test is in one: the one that it is marked with, or that its engine or store says, or `quick`.

`make lint` runs the part `lint`, `make test` the part `quick`, `make test-all` all of them. A test of another part that is
marked `quick` as well runs in `make test`, too, and is not run again by `make test-all`. Of a test that is marked
`matrix(n)` so many cases are quick, and the others thorough. Property tests draw few examples in `make test`, and run again
with more in `make test-all`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

PARTS = {
    "lint": "static: what files, pages and sentences say",
    "engines": "tables that live in PostgreSQL, MariaDB or Spark",
    "stores": "the service on PostgreSQL",
    "browser": "Studio in a real Chromium",
    "faults": "kills, full disks, planted identifiers, mutated input, the judge behind everything",
    "docs": "pages of the documentation, run from top to bottom",
    "thorough": "oracles, matrices and studies that take their time",
}
QUICK = "quick"
ENGINES = ("postgresql", "mariadb", "spark")


def mark(items: Iterable[pytest.Item]) -> None:
    """Say which part each test is in."""
    matrices: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("matrix") is not None:
            matrices[item.nodeid.partition("[")[0]].append(item)
    for cases in matrices.values():
        _mark_matrix(cases)
    for item in items:
        _mark(item)


def _mark_matrix(cases: list[pytest.Item]) -> None:
    """Cases along the diagonal are quick: as far from each other as can be, and not all in one row or column."""
    marker = cases[0].get_closest_marker("matrix")
    wanted = min(marker.args[0] if marker else 1, len(cases))
    step = len(cases) // wanted
    chosen = {i * len(cases) // wanted + i % step for i in range(wanted)}
    for i, case in enumerate(cases):
        if i not in chosen:
            case.add_marker("thorough")


def _mark(item: pytest.Item) -> None:
    parameters: dict[str, Any] = getattr(getattr(item, "callspec", None), "params", {})
    engine = getattr(parameters.get("engine"), "name", "")
    if engine in ENGINES:
        item.add_marker(engine)
    if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
        item.add_marker("property")
    marked = {one.name for one in item.iter_markers()}
    if not marked & PARTS.keys():
        if marked & set(ENGINES):
            item.add_marker("engines")
        elif parameters.get("settings") == "postgresql":
            item.add_marker("stores")
        else:
            item.add_marker(QUICK)
    item.user_properties.append(("part", part_of(item)))


def part_of(item: pytest.Item) -> str:
    """The part that a test is in, for reports."""
    marked = {one.name for one in item.iter_markers()}
    return next((name for name in PARTS if name in marked), QUICK)


def wrong(items: list[pytest.Item]) -> Iterator[str]:
    """Tests that would run twice, or not where they are looked for."""
    for item in items:
        found = sorted({one.name for one in item.iter_markers()} & PARTS.keys())
        if len(found) > 1:
            yield f"{item.nodeid} is in several parts: {', '.join(found)}"
        if found == ["lint"] and "mark.lint" not in _text(item.path):
            yield f"{item.nodeid}: make lint finds the files of its tests by the words mark.lint"


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")
