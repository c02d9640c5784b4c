"""Rows of our own copy of a table, a page at a time: sorted, filtered, counted by DuckDB, within small limits.

The copy is a Parquet file of texts that a job of ours has written; nothing that a user sent is parsed here. The engine reads
files of one folder only, writes none, and forgets what it has read.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import duckdb

from velado.errors import InputError, suggest
from velado.results import Discreet
from velado.sentences import Sentence

MOST = 500
"""Rows of a page."""
SECONDS = 10.0
THREADS = 2
MEMORY = "512MB"
ROW = "file_row_number"
_engines: dict[Path, duckdb.DuckDBPyConnection] = {}
_lock = threading.Lock()


@dataclass(frozen=True, repr=False)
class Wanted(Discreet):
    """The page that somebody wants. ``where``: columns and the text that they must have, empty for a missing value.

    ``types`` and ``formats`` are those of the profile, so that numbers and dates are sorted as such.
    """

    NAMES: ClassVar[tuple[str, ...]] = ("offset", "limit", "descending")
    offset: int = 0
    limit: int = 100
    sort: str | None = None
    descending: bool = False
    where: Sequence[tuple[str, str]] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    formats: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, repr=False)
class Page(Discreet):
    """Rows of a table, cells as texts or None, and how many rows there are in all."""

    NAMES: ClassVar[tuple[str, ...]] = ("total",)
    columns: tuple[str, ...]
    rows: list[list[str | None]]
    total: int


def read_page(copy: Path, names: Sequence[str], wanted: Wanted) -> Page:
    """A page of a copy. ``names`` are those of its columns: the engine calls some otherwise that differ by case only."""
    for name in (wanted.sort, *(column for column, _ in wanted.where)):
        if name is not None:
            check_column(name, names)
    with _asking(copy) as engine:
        columns = [d[0] for d in engine.execute(f"SELECT * EXCLUDE {ROW} FROM {_table(copy)} LIMIT 0").description or ()]
        wanted = _as_called(wanted, dict(zip(names, columns, strict=True)))
        condition, values = _condition(wanted.where)
        total = _number(engine, f"SELECT count(*) FROM {_table(copy)} WHERE {condition}", values)
        rows = engine.execute(*_page(copy, columns, wanted, total)).fetchall() if wanted.offset < total else []
        return Page(tuple(names), [[None if cell is None else str(cell) for cell in row] for row in rows], total)


def parse_where(texts: Sequence[str], columns: Sequence[str]) -> list[tuple[str, str]]:
    """Filters from ``column=value``; names may hold the sign, and then the longest that there is counts."""
    found = []
    for text in texts:
        names = [name for name in columns if text.startswith(f"{name}=")]
        if not names:
            check_column(text.partition("=")[0], columns, "where")
            raise InputError("bad-filter", "a filter is a column, '=' and a value", fields={"path": "where"})
        name = max(names, key=len)
        found.append((name, text[len(name) + 1 :]))
    return found


def check_column(name: str, columns: Sequence[str], path: str = "sort") -> None:
    """Raise unless there is a column of this name."""
    if name not in columns:
        raise InputError(
            "unknown-column", "the table has no such column", column=name, hint=suggest(name, columns), fields={"path": path}
        )


def _as_called(wanted: Wanted, called: Mapping[str, str]) -> Wanted:
    """A wish with the engine's names of columns."""
    return replace(
        wanted,
        sort=None if wanted.sort is None else called[wanted.sort],
        where=[(called[column], value) for column, value in wanted.where],
        types={called[name]: kind for name, kind in wanted.types.items() if name in called},
        formats={called[name]: format for name, format in wanted.formats.items() if name in called},
    )


def _page(copy: Path, columns: Sequence[str], wanted: Wanted, total: int) -> tuple[str, list[Any]]:
    """The query of a page: first which rows, by their numbers, then all of their cells."""
    condition, values = _condition(wanted.where)
    listed = ", ".join(f"t.{quote_name(name)}" for name in columns)
    if wanted.sort is None and not wanted.where:
        first, last = wanted.offset, wanted.offset + wanted.limit
        return (f"SELECT {listed} FROM {_table(copy)} t WHERE {ROW} >= {first} AND {ROW} < {last} ORDER BY {ROW}", [])
    count = min(wanted.limit, total - wanted.offset)
    # From the nearer end, since fewer rows have to be kept.
    behind = total - wanted.offset - count
    backwards = wanted.offset > behind
    keys, key_values = _keys(wanted)
    order = ", ".join([f"k{i} {_way(wanted.descending != backwards, backwards)}" for i in range(len(keys))])
    order = ", ".join(filter(None, [order, f"n {'DESC' if backwards else 'ASC'}"]))
    named = "".join(f", {key} AS k{i}" for i, key in enumerate(keys))
    chosen = (
        f"SELECT n, row_number() OVER (ORDER BY {order}) AS place FROM "
        f"(SELECT {ROW} AS n{named} FROM {_table(copy)} WHERE {condition} "
        f"ORDER BY {order} LIMIT {count} OFFSET {behind if backwards else wanted.offset})"
    )
    return (
        f"SELECT {listed} FROM {_table(copy)} t JOIN ({chosen}) c ON t.{ROW} = c.n "
        f"ORDER BY c.place {'DESC' if backwards else 'ASC'}",
        key_values + values,
    )


def _way(descending: bool, backwards: bool) -> str:
    """The direction of an order; missing values stand at the end, whichever direction is asked for."""
    return f"{'DESC' if descending else 'ASC'} NULLS {'FIRST' if backwards else 'LAST'}"


def _keys(wanted: Wanted) -> tuple[list[str], list[Any]]:
    """What rows are sorted by: numbers as numbers, dates as dates, then the text."""
    if wanted.sort is None:
        return [], []
    name, kind, format = quote_name(wanted.sort), wanted.types.get(wanted.sort), wanted.formats.get(wanted.sort)
    if kind in ("integer", "number"):
        return [f"TRY_CAST({name} AS DOUBLE)", name], []
    if kind == "date" and isinstance(format, str):
        return [f"try_strptime({name}, ?)", name], [format]
    return [name], []


def _condition(where: Sequence[tuple[str, str]]) -> tuple[str, list[Any]]:
    parts = [f"{quote_name(column)} = ?" if value else f"coalesce({quote_name(column)}, '') = ?" for column, value in where]
    return " AND ".join(parts) or "true", [value for _, value in where]


def quote_name(name: str) -> str:
    """The name of a column in a query."""
    return '"' + name.replace('"', '""') + '"'


def _table(copy: Path) -> str:
    path = str(copy).replace("'", "''")
    return f"read_parquet('{path}', {ROW} = true)"


def _number(engine: duckdb.DuckDBPyConnection, query: str, values: list[Any]) -> int:
    found = engine.execute(query, values).fetchone()
    return int(found[0]) if found else 0


@contextmanager
def _asking(copy: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A cursor that is interrupted when it takes too long; what goes wrong tells nothing of the table."""
    if not copy.is_file():
        raise InputError("no-copy", "there is no copy of the table to page through", hint="Inspect the source again.")
    with _engine(copy.parent).cursor() as cursor:
        late = threading.Timer(SECONDS, cursor.interrupt)
        late.start()
        try:
            yield cursor
        except duckdb.InterruptException:
            raise InputError("page-too-slow", "the page took too long", hint="Sort or filter by another column.") from None
        except duckdb.OutOfMemoryException:
            raise InputError("page-too-large", "the table is too large to sort it so", hint="Filter it first.") from None
        except duckdb.Error as error:
            message = Sentence("the copy of the table cannot be read: {kind}", kind=type(error).__name__)
            raise InputError("no-copy", message, hint="Inspect the source again.") from None
        finally:
            late.cancel()


def _engine(folder: Path) -> duckdb.DuckDBPyConnection:
    """One engine for each folder of copies, which it cannot leave."""
    with _lock:
        found = _engines.get(folder)
        if found is None:
            found = duckdb.connect(
                ":memory:",
                config={
                    "threads": THREADS,
                    "memory_limit": MEMORY,
                    "temp_directory": "",
                    "enable_external_file_cache": False,
                    "autoinstall_known_extensions": False,
                    "autoload_known_extensions": False,
                },
            )
            inside = str(folder).replace("'", "''")
            found.execute(f"SET allowed_directories = ['{inside}']")
            found.execute("SET enable_external_access = false")
            found.execute("SET lock_configuration = true")
            _engines[folder] = found
        return found
