"""DuckDB's errors in our words."""

from __future__ import annotations

import re

from velado.engines.dialect import wrong_encoding
from velado.engines.kinds import BROKEN
from velado.errors import InputError


def translated(error: Exception, name: str) -> BaseException:
    """The error that a user gets for one of DuckDB's about the table ``name``. No cell of the table is repeated."""
    text = str(error)
    line = re.search(r"CSV Error on Line: (\d+)", text)
    where = f"line {line.group(1)}" if line else "a line"
    counts = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text)
    if counts:
        wanted, got = counts.groups()
        return InputError(
            "ragged-row", f"{where} has {got} fields, the header has {wanted}", file=name,
            hint="Mend that line, or name the delimiter and the quote character of the file.",
        )  # fmt: skip
    if "unterminated quote" in text.lower():
        return InputError("ragged-row", f"{where} has a quote that is never closed", file=name)
    if "not utf-8" in text or "encoded" in text or "unicode" in text.lower():
        return wrong_encoding(name, "utf-8")
    full = ("No space left", "File too large", "disk full", "max_temp_directory_size")
    if any(sign.lower() in text.lower() for sign in full):
        return InputError(
            "disk-full", "the disk is full; nothing was published", hint="Free space, or write elsewhere."
        )
    if "Permission denied" in text:
        return InputError("unwritable-output", "no permission to write there", hint="Choose another output path.")
    if "Out of Memory" in text:
        return InputError("out-of-memory", "the table needs more memory than the engine may use", file=name)
    if line or "CSV" in text:
        return InputError("unreadable-file", f"{where} cannot be read as this dialect", file=name)
    if BROKEN in text:
        return InputError("unreadable-file", BROKEN, file=name)
    if "parquet" in text.lower():
        return InputError("unreadable-file", "not a readable Parquet file", file=name)
    # The engine's own words may repeat cells.
    return InputError("engine-error", f"the engine cannot do this ({type(error).__name__})", file=name)
