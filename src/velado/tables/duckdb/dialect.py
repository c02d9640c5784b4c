"""How DuckDB says what engines say differently."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from velado.tables.sql.dialect import SqlDialect, literal
from velado.tables.types import ColumnType, Field

BITS = 52
TINY = 2.0**-53


def file_literal(path: Path | str) -> str:
    """The path of one file in SQL: DuckDB takes ``[1]``, ``*`` and ``?`` for patterns, which may match other files."""
    return literal(as_pattern(Path(path).absolute()))


def as_pattern(path: Path | str) -> str:
    """The pattern that only this path matches."""
    return re.sub(r"[\[*?]", r"[\g<0>]", str(path))


class DuckDBDialect(SqlDialect):
    """``kinds`` are the engine's own types of the columns."""

    sorts_inside = True

    def __init__(self, kinds: Mapping[str, str] | None = None) -> None:
        self._kinds = kinds or {}

    def text(self, cell: str, type: ColumnType = ColumnType.TEXT) -> str:
        """The canonical text of a cell: DuckDB's own."""
        return f"CAST({cell} AS VARCHAR)"

    def cast(self, text: str, field: Field, changed: bool) -> str:
        """A text as a value of the column's own type; changed values may need more room."""
        kind = self._kinds[field.name]
        return f"CAST({text} AS {wide(kind) if changed else kind})"

    def hash(self, cells: Sequence[str]) -> str:
        """A number of 64 bits."""
        return f"hash({', '.join(cells)})"

    def about_distinct(self, cells: Sequence[str], relation: str) -> str:
        """HyperLogLog."""
        return f"SELECT approx_count_distinct({self.hash(cells)}) FROM {relation}"

    def quotient(self, number: int, cell: str) -> str:
        """Whole division."""
        return f"{number} // {cell}"

    def sum(self, cell: str) -> str:
        """A sum of 64 bits."""
        return f"CAST(sum({cell}) AS BIGINT)"

    def random(self) -> str:
        """Seeded by the system."""
        return "random()"

    def all_true(self, conditions: Sequence[str]) -> str:
        """With thousands of columns DuckDB takes minutes to plan as many conditions joined by AND."""
        return f"least({', '.join(conditions)})"

    def unpivot(self, cells: Sequence[str]) -> str:
        """Two lists unnested side by side."""
        return f"unnest(range({len(cells)})) AS i, unnest([{', '.join(cells)}]) AS v"

    def among(self, cells: Sequence[str]) -> str:
        """Missing cells are left out."""
        return f"concat_ws(chr(31), {', '.join(cells)})"

    def matches(self, cell: str, pattern: str) -> str:
        """RE2."""
        return f"regexp_matches({cell}, {literal(pattern)})"

    def is_all(self, cell: str, pattern: str) -> str:
        """RE2."""
        return f"regexp_full_match({cell}, {literal(pattern)})"

    def uniform(self, seed: str, row: str) -> str:
        """The first 13 hexadecimal digits of a SHA-256."""
        digest = f"sha256({literal(seed)} || {row})"
        return f"(CAST('0x' || substr({digest}, 1, {BITS // 4}) AS UBIGINT) / {float(2**BITS)!r} + {TINY!r})"

    def number(self, text: str) -> str:
        """A double."""
        return f"CAST({text} AS DOUBLE)"

    def round(self, number: str, decimals: int) -> str:
        """Half away from zero."""
        return f"CAST(CAST({number} AS DECIMAL(38, {decimals})) AS VARCHAR)"


def wide(kind: str) -> str:
    """The type for changed values of a column: as wide as its family gets."""
    if kind.startswith("DECIMAL"):
        return re.sub(r"\(\d+", "(38", kind)
    if kind == "FLOAT":
        return "DOUBLE"
    return "BIGINT" if column_type(kind) is ColumnType.INTEGER and "HUGE" not in kind else kind


def column_type(kind: str) -> ColumnType:
    """The type of a column by DuckDB's own."""
    if kind.startswith("DECIMAL("):
        return ColumnType.DECIMAL
    if kind in ("FLOAT", "DOUBLE"):
        return ColumnType.FLOAT
    if "INT" in kind:
        return ColumnType.INTEGER
    return {"BOOLEAN": ColumnType.BOOLEAN, "DATE": ColumnType.DATE, "VARCHAR": ColumnType.TEXT}.get(kind, ColumnType.TIMESTAMP)


def field_of(name: str, kind: str) -> Field:
    """A column by its name and DuckDB's type of it."""
    found = column_type(kind)
    decimals = int(kind[:-1].rpartition(",")[2]) if found is ColumnType.DECIMAL else 0
    return Field(name, found, decimals, kind == "FLOAT")
