"""What an engine under test is, and how tables become files without Velado."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from velado.tables import ENGINES, Capability, Engine, Session, Sink, Source, Stage, Table, open_stage


@dataclass(frozen=True)
class EngineUnderTest:
    """An engine, and how a test puts a table where it reads one.

    ``sources`` and ``typed`` are kinds of places: all, and those that keep the types of columns. ``sinks`` are kinds of
    places that it writes. ``put`` makes a source from an Arrow table.
    """

    name: str
    sources: tuple[str, ...]
    typed: tuple[str, ...]
    sinks: tuple[str, ...]
    put: Callable[[pa.Table, str, Path], Source]
    target: Callable[[str, Path, Mapping[str, Any]], Sink]
    published: Callable[[str], pa.Table] = lambda name: pa.table({})
    """The rows of a table of a server, by the driver alone; the next ones likewise: all names of tables, the comment of a
    table, a table made, rows added, changed and removed in one."""
    listed: Callable[[], set[str]] = set
    comment: Callable[[str], str] = str
    put_as: Callable[[pa.Table, str], None] = lambda table, name: None
    change: Callable[[str], None] = lambda name: None

    @property
    def engine(self) -> Engine:
        return ENGINES[self.name]()

    @property
    def capabilities(self) -> frozenset[Capability]:
        return self.engine.capabilities

    def open(self, table: pa.Table, kind: str, folder: Path, session: Session | None = None) -> Table:
        """An Arrow table, put into a place of the kind and opened there."""
        return self.engine.open(self.put(table, kind, folder), session or Session())

    def sink(self, kind: str, folder: Path, **options: Any) -> Sink:
        return self.target(kind, folder, options)

    @property
    def files(self) -> bool:
        """Whether its tables are files."""
        return "csv" in self.sources

    def stage(self, sinks: Sequence[Sink], session: Session | None = None) -> Stage:
        return open_stage(sinks, session or Session())


def save(table: pa.Table, path: Path) -> Path:
    """An Arrow table as a file, written by anything but Velado."""
    rows = [table.column_names, *zip(*table.to_pydict().values(), strict=True)]
    match path.suffix:
        case ".parquet":
            pa.parquet.write_table(table, path)
        case ".arrow":
            pa.feather.write_feather(table, path)
        case ".xlsx":
            book = openpyxl.Workbook()
            for row in rows:
                book.active.append(row)
            book.save(path)
        case _:
            with open(path, "w", newline="", encoding="utf-8") as out:
                csv.writer(out).writerows(rows)
    return path


def file_source(table: pa.Table, kind: str, folder: Path) -> Source:
    return Source(data=table) if kind == "memory" else Source(path=save(table, folder / f"in.{kind}"))


def file_sink(kind: str, folder: Path, options: Mapping[str, Any]) -> Sink:
    name = options.get("name", "out")
    path = None if kind == "memory" else folder / f"{name}.{kind}"
    return Sink(path=path, **{k: v for k, v in options.items() if k != "name"})
