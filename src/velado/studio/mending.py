"""Where a problem of a project is mended: the page and the place on it, from the path that the problem has in the document."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple
from urllib.parse import quote

from velado.sentences import Sentence
from velado.service.web.problems import ProblemPart
from velado.studio.steps import STEPS
from velado.studio.visit import with_query
from velado.studio.work import Work

PAGES = {
    "source": "data", "columns": "columns", "rest": "columns", "person": "columns", "household": "columns", "twins": "columns",
    "models": "privacy", "method": "privacy", "anonymization": "privacy", "output": "publish", "attributes": "columns", "joinable": "columns",
    "tables": "data",
}  # fmt: skip
NUMBER = re.compile(r"^models\[(\d+)\]")


class Place(NamedTuple):
    """A page that mends a problem."""

    title: Sentence
    address: str


def place_of(work: Work, problem: ProblemPart) -> Place | None:
    """Where a problem is mended; None if nothing says where."""
    path = str((problem.fields or {}).get("path") or "")
    table, path = _table(work, path)
    step = PAGES.get(re.split(r"[.\[]", path, maxsplit=1)[0]) if path else None
    column = _column(work, table, path) or problem.column
    query: dict[str, Any] = {}
    anchor = ""
    if step == "privacy":
        found = NUMBER.match(path)
        anchor = f"#model-{found[1]}" if found else f"#{re.split(r'[.[]', path, maxsplit=1)[0]}"
    page = step
    if column is not None and step in (None, "columns"):
        step, page, query = "columns", "column", {"column": column}
        if ".hierarchy" in path:
            step, page, query = "hierarchies", f"hierarchies/{quote(column)}", {}
    if step is None or page is None:
        return None
    address = work.address(page)
    if table is not None:
        address = with_query(address, table=table)
    return Place(STEPS[step], with_query(address, **query) + anchor)


def _table(work: Work, path: str) -> tuple[str | None, str]:
    """The table that a path is about, and the path in it."""
    for name in _longest(work.tables):
        if path.startswith(f"tables.{name}."):
            return name, path.removeprefix(f"tables.{name}.")
    return None, path


def _column(work: Work, table: str | None, path: str) -> str | None:
    if not path.startswith("columns."):
        return None
    part = work.document["tables"][table] if table is not None else work.part
    rest = path.removeprefix("columns.")
    listed = part.get("columns") or {}
    return next((name for name in _longest(listed) if rest == name or rest.startswith(f"{name}.")), None)


def _longest(names: Iterable[str]) -> list[str]:
    """Names with dots in them before those that they begin with."""
    return sorted(map(str, names), key=len, reverse=True)
