"""Write a table batch by batch."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

from velado.errors import InputError
from velado.progress import Progress
from velado.tables.duckdb.dialect import file_literal
from velado.tables.duckdb.errors import translate_error
from velado.tables.files import PIECE
from velado.tables.source import format_of
from velado.tables.sql.dialect import literal

IN_PLACE = "USE_TMP_FILE false"
"""A file that is there already is for the user only; a new one would be for everybody."""


def as_text(delimiter: str, header: bool = True) -> str:
    """How the engine writes every text table: quotes stand only where they are needed."""
    return f"FORMAT csv, DELIMITER {literal(delimiter)}, HEADER {'true' if header else 'false'}"


class TextWriter:
    """A text table to which Arrow batches are appended, by the engine: each cell is written as in a table of one piece."""

    def __init__(self, path: Path, delimiter: str, progress: Progress) -> None:
        import duckdb

        self._path, self._delimiter, self._progress = path, delimiter, progress
        self._piece = path.with_name(path.name + ".piece")
        self._connection = duckdb.connect(config={"threads": 1, "memory_limit": "256MB"})
        self._stream = open(path, "wb")  # noqa: SIM115

    def write_batch(self, batch: Any) -> None:
        """Write a batch; the first one below the names of the columns."""
        import duckdb
        import pyarrow as pa

        self._piece.touch(mode=0o600)
        form = as_text(self._delimiter, header=not self._stream.tell())
        try:
            with self._progress.interrupting(self._connection.interrupt):
                self._connection.register("batch", pa.Table.from_batches([batch]))
                self._connection.execute(f"COPY batch TO {literal(str(self._piece))} ({form}, {IN_PLACE})")
        except duckdb.Error as error:
            self._progress.check()
            raise translate_error(error, self._path.name) from None
        with open(self._piece, "rb") as piece:
            shutil.copyfileobj(piece, self._stream, PIECE)

    def close(self) -> None:
        """All batches are there, or none will come."""
        self._connection.close()
        self._piece.unlink(missing_ok=True)
        self._stream.close()


class Appender:
    """A file to which Arrow batches are appended; sorted at the end if rows must be in a fixed order.

    ``texts``: it takes nothing but texts.
    """

    def __init__(self, path: Path, delimiter: str, order: str, progress: Progress) -> None:
        self._path, self._delimiter, self._sorted = path, delimiter, order == "sorted"
        self._progress = progress
        self._kind = format_of(path)
        # What is sorted at the end is sorted by its type, and written by the engine.
        self.texts = self._kind == "csv" and not self._sorted
        if self._kind == "xlsx" or (self._kind == "arrow" and self._sorted):
            raise InputError("not-in-parts", "this format cannot take a table of this size in this order", file=path)
        self._unsorted = path.with_name(path.name + ".unsorted.parquet") if self._sorted else path
        self._writer: Any = None

    def append(self, batch: Any) -> None:
        """Write a batch."""
        if self._writer is None:
            self._writer = self._open(batch.schema)
        self._writer.write_batch(batch)

    def _open(self, schema: Any) -> Any:
        import pyarrow as pa
        import pyarrow.parquet

        if self._sorted or self._kind == "parquet":
            return pyarrow.parquet.ParquetWriter(self._unsorted, schema)
        if self._kind == "csv":
            return TextWriter(self._path, self._delimiter, self._progress)
        return pa.ipc.new_file(str(self._path), schema)

    def finish(self) -> None:
        """All batches are there."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        if self._sorted:
            self._sort()

    def close(self) -> None:
        """Let go of what is not finished."""
        if self._writer is not None:
            # After an error, such as a full disk, it can have the same one again.
            with suppress(OSError):
                self._writer.close()
        if self._sorted:
            self._unsorted.unlink(missing_ok=True)

    def _sort(self) -> None:
        """Sort on disk."""
        import duckdb

        format = "FORMAT parquet" if self._kind == "parquet" else as_text(self._delimiter)
        # What is beside a file that is being written is in a private folder.
        settings: dict[str, Any] = {"memory_limit": "512MB", "temp_directory": str(self._path.with_name("spilled"))}
        rows = f"SELECT * FROM read_parquet({file_literal(self._unsorted)}, hive_partitioning=false) ORDER BY ALL"
        try:
            with duckdb.connect(config=settings) as connection, self._progress.interrupting(connection.interrupt):
                connection.execute(f"COPY ({rows}) TO {literal(str(self._path))} ({format}, {IN_PLACE})")
        except duckdb.Error as error:
            self._progress.check()
            raise translate_error(error, self._path.name) from None
