"""DuckDB's errors in our words."""

from __future__ import annotations

import re

from velado.errors import InputError, disk_full
from velado.sentences import Sentence
from velado.tables.duckdb.types import BROKEN
from velado.tables.formats.csv import wrong_encoding
from velado.tables.formats.csv_fields import open_quote, ragged_row

LARGEST_LINE = 10_000_000
FULL = (
    "no space left",
    "file too large",
    "disk quota exceeded",
    "disk full",
    "could not write all bytes",
    "max_temp_directory_size",
)

HELD = ("Could not set lock on file", "Unique file handle conflict", "same database file with a different configuration")
BAD_SQL = ("Parser Error", "Binder Error", "Catalog Error")
NO_DATABASE = ("not a valid DuckDB database file", "storage version", "Serialization Error", "database is encrypted")


def translate_error(error: Exception, name: str, above: int = 0) -> BaseException:
    """The error that a user gets for one of DuckDB's about the table ``name``. No cell of the table is repeated.

    ``above``: lines of the file above those that DuckDB reads.
    """
    text = str(error)
    line = re.search(r"CSV Error on Line: (\d+)", text)
    number = int(line.group(1)) + above if line else "?"
    where = Sentence("line {line}", line=number) if line else Sentence("a line")
    counts = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text)
    if counts:
        wanted, found = map(int, counts.groups())
        return ragged_row(name, number, found, wanted)
    if "Maximum line size" in text:
        return InputError(
            "unreadable-file",
            Sentence("{where} is longer than the {most:,} bytes that a line may have", where=where, most=LARGEST_LINE),
            file=name,
            hint="Is a quote never closed, or does the file end its lines in an unusual way?",
        )
    if "unterminated quote" in text.lower():
        return open_quote(name, where)
    if "not utf-8" in text or "encoded" in text or "unicode" in text.lower():
        return wrong_encoding(name, "utf-8")
    if any(sign in text.lower() for sign in FULL):
        return disk_full()
    if any(sign in text for sign in HELD):
        return InputError(
            "table-locked",
            "somebody else has the database open; nothing was published",
            file=name,
            hint="Run again when the other program has closed it.",
        )
    if any(sign in text for sign in NO_DATABASE):
        return InputError("unreadable-file", Sentence("not a readable {kind} database", kind="DuckDB"), file=name)
    if "Permission denied" in text:
        return InputError("unwritable-output", "no permission to write there", hint="Choose another output path.")
    if "Out of Memory" in text:
        return InputError("out-of-memory", "the table needs more memory than the engine may use", file=name)
    if line or "CSV" in text:
        return InputError("unreadable-file", Sentence("{where} cannot be read as this dialect", where=where), file=name)
    if BROKEN in text:
        return InputError("unreadable-file", BROKEN, file=name)
    if "parquet" in text.lower():
        return InputError("unreadable-file", "not a readable Parquet file", file=name)
    # DuckDB's sentence may quote a cell: only what kind of error it was is told.
    kind = text.partition(":")[0] if re.match(r"[A-Z][A-Za-z ]+:", text) else type(error).__name__
    return InputError("engine-error", Sentence("the engine cannot do this ({kind})", kind=kind), file=name)


def bad_query(name: str) -> InputError:
    """The error for a query that the engine cannot run."""
    return InputError(
        "bad-query",
        "the query is no SQL that the engine understands, or names what is not there",
        file=name,
        hint="Try the query in the database first.",
    )
