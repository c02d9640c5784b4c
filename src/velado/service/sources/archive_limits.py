"""Packed files, before anything unpacks them: how much they would become."""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from pathlib import Path

from velado.errors import InputError
from velado.service.settings import GB
from velado.tables.source import format_of

MOST = 50 * GB
"""Bytes, where nothing else is said."""
MOST_ENTRIES = 10_000
"""Parts of a workbook; one of a thousand sheets has about two thousand."""
MOST_RATIO = 1000
"""How many times larger than packed a part may be: what zlib reaches with nothing but zeros."""
MOST_CELLS = 100
"""Cells of a Parquet file for each of its bytes; a table of one value has some hundreds, one of people a few."""
SMALL = 50_000_000
"""Bytes that nobody minds, whatever they were packed to."""
NESTED = (".zip", ".xlsx", ".gz", ".bz2", ".xz", ".7z", ".zst")


def check_expansion(path: Path, format: str | None = None, most: int = MOST) -> None:
    """Raise `expands-too-much` if a file holds more than ``most`` bytes unpacked, or is packed to hide how much.

    Text tables are read as they are: Velado unpacks none, and a packed one is no text. What a workbook or a Parquet file says of
    itself may be a lie; readers stop where it ends, and the job has a limit of memory.
    """
    format = format or format_of(path)
    if format == "xlsx":
        _check_zip(path, most)
    elif format == "parquet":
        _check_parquet(path, most)
    elif format == "arrow":
        _check_arrow(path, most)
    elif os.path.getsize(path) > most:
        raise too_much(most)


def too_much(most: int) -> InputError:
    """The error for a file that would become too large."""
    return InputError(
        "expands-too-much",
        "the file is packed, and unpacked it would be larger than allowed",
        fields={"limit": most},
        hint="Send the table as CSV or Parquet. An administrator can raise the limit (setting expanded_bytes).",
    )


def _check_zip(path: Path, most: int) -> None:
    try:
        with zipfile.ZipFile(path) as packed:
            entries = packed.infolist()
            if len(entries) > MOST_ENTRIES:
                raise too_much(most)
            whole = 0
            for entry in entries:
                whole += entry.file_size
                large = entry.file_size > SMALL and entry.file_size > MOST_RATIO * max(entry.compress_size, 1)
                if whole > most or large or entry.filename.lower().endswith(NESTED):
                    raise too_much(most)
            # Entries that share their bytes are the trick of the bombs that are small and flat.
            if sum(e.compress_size for e in entries) > os.path.getsize(path):
                raise too_much(most)
    except (zipfile.BadZipFile, OSError, zlib.error, NotImplementedError, UnicodeDecodeError):
        # It is no workbook: its reader says so.
        return


def _check_parquet(path: Path, most: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    try:
        found = pyarrow.parquet.ParquetFile(path).metadata
    except (pa.ArrowException, OSError, ValueError, KeyError):
        return
    columns = [
        found.row_group(group).column(column) for group in range(found.num_row_groups) for column in range(found.num_columns)
    ]
    # A column of one value says few bytes for any number of rows: what matters is the table.
    cells = found.num_rows * found.num_columns
    large = cells > SMALL and cells > MOST_CELLS * os.path.getsize(path)
    if sum(c.total_uncompressed_size for c in columns) > most or cells > most or large:
        raise too_much(most)


def _check_arrow(path: Path, most: int) -> None:
    import pyarrow as pa

    from velado.tables.formats.arrow import unpacked_size

    try:
        with pa.memory_map(str(path)) as mapped:
            size = unpacked_size(mapped.read_buffer())
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, IndexError, struct.error):
        return
    if size > most:
        raise too_much(most)
