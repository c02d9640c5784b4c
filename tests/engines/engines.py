"""The engines under test. A later engine is one more entry of `ENGINES_UNDER_TEST`; the bodies stay as they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from engines.engine_under_test import EngineUnderTest, file_sink, file_source, save
from engines.mariadb import MARIADB
from engines.postgresql import POSTGRESQL
from engines.spark import SPARK
from velado import InputError
from velado.tables import Capability, Counts, Plan, Selection, Translation

__all__ = ["EngineUnderTest", "save"]

AS_IT_IS = Plan((), Selection())

Row = tuple[str | None, ...]


DUCKDB = EngineUnderTest(
    "duckdb",
    sources=("memory", "parquet", "arrow", "csv", "xlsx"),
    typed=("memory", "parquet", "arrow"),
    sinks=("memory", "csv", "parquet", "arrow", "xlsx"),
    put=file_source,
    target=file_sink,
)
ENGINES_UNDER_TEST = (DUCKDB, POSTGRESQL, MARIADB, SPARK)
SERVERS = tuple(e for e in ENGINES_UNDER_TEST if not e.files)

per_engine = pytest.mark.parametrize("engine", ENGINES_UNDER_TEST, ids=lambda e: e.name)
per_splitting_engine = pytest.mark.parametrize(
    "engine", [e for e in ENGINES_UNDER_TEST if Capability.SPLIT in e.capabilities], ids=lambda e: e.name
)
per_spreading_engine = pytest.mark.parametrize(
    "engine", [e for e in ENGINES_UNDER_TEST if Capability.SPREAD in e.capabilities], ids=lambda e: e.name
)
per_file_engine = pytest.mark.parametrize("engine", [e for e in ENGINES_UNDER_TEST if e.files], ids=lambda e: e.name)
per_server = pytest.mark.parametrize("engine", SERVERS, ids=lambda e: e.name)


def per_place(kinds: str, files: bool = False) -> Any:
    """Parametrize by engine and by each of its ``sources``, ``typed`` or ``sinks``; ``files``: only engines of files."""
    places = [(e, kind) for e in ENGINES_UNDER_TEST if e.files or not files for kind in getattr(e, kinds)]
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
