"""Columns of all tables of a project, what is said of each, and saying something of several at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from velado.service.errors import NotFound
from velado.studio.work import Change, Work


class Place(NamedTuple):
    """A column of a table; None: of the only one."""

    table: str | None
    column: str

    @property
    def text(self) -> str:
        """The place as people read it, and as forms send it."""
        return self.column if self.table is None else f"{self.table}: {self.column}"


def columns_of(part: Mapping[str, Any]) -> dict[str, Any]:
    """The columns that a part of a document lists."""
    found = part.get("columns")
    return dict(found) if isinstance(found, Mapping) else {}


def column_of(work: Work, name: str) -> dict[str, Any]:
    """What is said of a column, with what it shares with others."""
    own = columns_of(work.part)[name]
    own = dict(own) if isinstance(own, Mapping) else {"role": own}
    shared = (work.document.get("attributes") or {}).get(str(own.get("attribute", name)))
    return {**(shared if isinstance(shared, Mapping) else {}), **own}


def spec_of(work: Work, column: str) -> dict[str, Any]:
    """What is said of a column that can have a hierarchy."""
    if column not in columns_of(work.part) or column_of(work, column).get("role") in (None, "identifier"):
        raise NotFound()
    return column_of(work, column)


def every(work: Work) -> list[tuple[Place, dict[str, Any]]]:
    """All columns of all tables."""
    tables = work.document.get("tables") or {None: work.document}
    found = []
    for table, part in tables.items():
        for name, said in columns_of(part).items():
            own = dict(said) if isinstance(said, Mapping) else {"role": said}
            shared = (work.document.get("attributes") or {}).get(str(own.get("attribute", name)))
            found.append((Place(table, name), {**(shared if isinstance(shared, Mapping) else {}), **own}))
    return found


def together(work: Work, column: str) -> list[Place]:
    """A column, and those of other tables that are of the same attribute: they must be described alike."""
    own = column_of(work, column)
    attribute = own.get("attribute", column)
    here = Place(work.table, column)
    same = [
        place for place, spec in every(work)
        if place.table != work.table and spec.get("attribute", place.column) == attribute and spec.get("role") == own.get("role")
    ]  # fmt: skip
    return [here, *same]


def others(work: Work, column: str) -> list[Place]:
    """Columns that could use the same hierarchy."""
    taken = set(together(work, column))
    return [
        place for place, spec in every(work) if place not in taken and spec.get("role") in ("quasi-identifier", "sensitive")
    ]  # fmt: skip


def putting(work: Work, places: list[Place], said: Mapping[str, Any]) -> Change:
    """A change that says something of columns; None takes it away. What columns share is said of what they share."""

    def put(document: dict[str, Any]) -> None:
        for place in places:
            columns = document["columns"] if place.table is None else document["tables"][place.table]["columns"]
            own = columns[place.column]
            own = dict(own) if isinstance(own, Mapping) else {"role": own}
            shared = (document.get("attributes") or {}).get(str(own.get("attribute", place.column)))
            target = shared if isinstance(shared, dict) and "hierarchy" not in own else own
            for key, value in said.items():
                target.pop(key, None)
                if value is not None:
                    target[key] = value
            if target is own:
                columns[place.column] = own

    return put
