"""The engines under test. A later engine is one more entry of `ENGINES_UNDER_TEST`; the bodies stay as they are."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from velado import InputError
from velado.tables import (
    ENGINES,
    Capability,
    Counts,
    Engine,
    Plan,
    Selection,
    Session,
    Sink,
    Source,
    Stage,
    Table,
    Translation,
)

AS_IT_IS = Plan((), Selection())

Row = tuple[str | None, ...]


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

    def stage(self, sinks: Sequence[Sink], session: Session | None = None) -> Stage:
        return self.engine.stage(sinks, session or Session())


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


def _file(table: pa.Table, kind: str, folder: Path) -> Source:
    return Source(data=table) if kind == "memory" else Source(path=save(table, folder / f"in.{kind}"))


def _file_sink(kind: str, folder: Path, options: Mapping[str, Any]) -> Sink:
    name = options.get("name", "out")
    path = None if kind == "memory" else folder / f"{name}.{kind}"
    return Sink(path=path, **{k: v for k, v in options.items() if k != "name"})


DUCKDB = EngineUnderTest(
    "duckdb",
    sources=("memory", "parquet", "arrow", "csv", "xlsx"),
    typed=("memory", "parquet", "arrow"),
    sinks=("memory", "csv", "parquet", "arrow", "xlsx"),
    put=_file,
    target=_file_sink,
)
ENGINES_UNDER_TEST = (DUCKDB,)

per_engine = pytest.mark.parametrize("engine", ENGINES_UNDER_TEST, ids=lambda e: e.name)


def per_place(kinds: str) -> Any:
    """Parametrize by engine and by each of its ``sources``, ``typed`` or ``sinks``."""
    places = [(e, kind) for e in ENGINES_UNDER_TEST for kind in getattr(e, kinds)]
    return pytest.mark.parametrize(("engine", "kind"), places, ids=[f"{e.name}-{kind}" for e, kind in places])


def needs(engine: EngineUnderTest, capability: Capability, work: Callable[[], Any]) -> bool:
    """Whether the engine can do something; what it does not declare raises `engine-cannot` and nothing else."""
    if capability in engine.capabilities:
        return True
    with pytest.raises(InputError) as caught:
        work()
    assert caught.value.code == "engine-cannot"
    assert caught.value.hint
    return False


# The slow twin: plain Python over the rows


def rows_of(table: pa.Table, columns: Sequence[str] | None = None) -> list[Row]:
    """The rows of an Arrow table as tuples of Python's own texts of the cells; empty texts are missing."""
    names = columns if columns is not None else table.column_names
    cells = [[text(cell) for cell in table.column(name).to_pylist()] for name in names]
    return list(zip(*cells, strict=True)) if cells else [()] * table.num_rows


def text(cell: Any) -> str | None:
    """The canonical text of a cell of Python, by the rules of docs/reference/types.md."""
    from datetime import datetime

    if cell is None or cell == "":
        return None
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return repr(cell + 0.0)
    if isinstance(cell, datetime):
        shown = cell.isoformat(" ", "microseconds")
        return shown.rstrip("0").removesuffix(".")
    return str(cell)


def counted(counts: Counts) -> Counter[Row]:
    """What an engine counted, as a Counter; every combination stands in one place."""
    found: Counter[Row] = Counter()
    columns = [[d[c] for c in codes] for d, codes in zip(counts.dictionaries, counts.codes, strict=True)]
    for *row, n in zip(*columns, counts.counts.tolist(), strict=True):
        assert tuple(row) not in found, "a combination is counted in two places"
        assert n > 0
        found[tuple(row)] = n
    for dictionary in counts.dictionaries:
        assert len(set(dictionary)) == len(dictionary)
    return found


def translation(column: str, labels: Mapping[str | None, str | None], **options: Any) -> Translation:
    """What becomes of each value."""
    shown = tuple(dict.fromkeys(labels.values()))
    codes = np.array([shown.index(label) for label in labels.values()], dtype=np.int32)
    return Translation(column, tuple(labels), codes, shown, **options)


def recoded(rows: Sequence[Row], places: Mapping[int, Mapping[str | None, str | None]]) -> list[Row]:
    """Rows with some columns translated; rows with a value that a translation does not know are left out."""
    known = [row for row in rows if all(row[i] in labels for i, labels in places.items())]
    return [tuple(places[i][cell] if i in places else cell for i, cell in enumerate(row)) for row in known]
