"""Where a problem of a project is mended: the page and the place on it, from the path that the problem has in the document."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from velado.sentences import Sentence
from velado.service.web.problems import ProblemPart
from velado.studio.project_page import ProjectPage
from velado.studio.request import with_query
from velado.studio.views.steps import STEPS

PAGES = {
    "source": "data",
    "columns": "columns",
    "rest": "columns",
    "person": "columns",
    "household": "columns",
    "variants": "columns",
    "models": "privacy",
    "method": "privacy",
    "protection": "privacy",
    "allowance": "privacy",
    "output": "publish",
    "attributes": "columns",
    "joinable": "columns",
    "tables": "data",
}
NUMBER = re.compile(r"^models\[(\d+)\]")


class FixPage(NamedTuple):
    """A page that mends a problem."""

    title: Sentence
    address: str


def find_fix_page(work: ProjectPage, problem: ProblemPart) -> FixPage | None:
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
            step, page = "hierarchies", "hierarchy"
    if step is None or page is None:
        return None
    address = work.address(page)
    if table is not None:
        address = with_query(address, table=table)
    return FixPage(STEPS[step], with_query(address, **query) + anchor)


def _table(work: ProjectPage, path: str) -> tuple[str | None, str]:
    """The table that a path is about, and the path in it."""
    for name in _longest(work.tables):
        if path.startswith(f"tables.{name}."):
            return name, path.removeprefix(f"tables.{name}.")
    return None, path


def _column(work: ProjectPage, table: str | None, path: str) -> str | None:
    if not path.startswith("columns."):
        return None
    part = work.document.table(table) if table is not None else work.part
    rest, listed = path.removeprefix("columns."), part.columns
    return next((name for name in _longest(listed) if rest == name or rest.startswith(f"{name}.")), None)


def _longest(names: Iterable[str]) -> list[str]:
    """Names with dots in them before those that they begin with."""
    return sorted(map(str, names), key=len, reverse=True)
