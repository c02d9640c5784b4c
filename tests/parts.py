"""The parts of the suite. Every test is in one: the one that it is marked with, or that its engine or store says, or `quick`.

`make lint` runs the part `lint`, `make test` the part `quick`, `make test-all` all of them. A test of another part that is
marked `quick` as well runs in `make test`, too, and is not run again by `make test-all`.
"""

from __future__ import annotations

from collections.abc import Iterator
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


def mark(item: pytest.Item) -> None:
    """Say which part a test is in."""
    parameters: dict[str, Any] = getattr(getattr(item, "callspec", None), "params", {})
    engine = getattr(parameters.get("engine"), "name", "")
    if engine in ENGINES:
        item.add_marker(engine)
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
    """Tests that are in several parts: one of them would run twice, or not where it is looked for."""
    for item in items:
        found = sorted({one.name for one in item.iter_markers()} & PARTS.keys())
        if len(found) > 1:
            yield f"{item.nodeid} is in several parts: {', '.join(found)}"
