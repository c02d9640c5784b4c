"""How Spark says what engines say differently."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence

from velado.tables.sql.dialect import SqlDialect
from velado.tables.types import ColumnType, Field

BITS = 52
TINY = 2.0**-53
MOST = 2**63 - 1


class SparkDialect(SqlDialect):
    """Texts are compared by their bytes, as Spark does unless a column has a collation.

    ``float_text`` names the function of the session that writes floats: Java's own text is not the shortest.
    """

    def __init__(self, kinds: Mapping[str, str] | None = None, float_text: str = "velado_float") -> None:
        """``kinds`` are Spark's own types of the columns."""
        self._kinds, self._float_text = kinds or {}, float_text

    def quote(self, name: str) -> str:
        """In backticks."""
        return "`" + name.replace("`", "``") + "`"

    def literal(self, text: str) -> str:
        """Backslashes mean more than themselves."""
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    def text(self, cell: str, type: ColumnType = ColumnType.TEXT) -> str:
        """Spark's own text; of floats as Python's ``repr`` writes them."""
        return f"{self._float_text}({cell})" if type is ColumnType.FLOAT else f"CAST({cell} AS STRING)"

    def cast(self, text: str, field: Field, changed: bool) -> str:
        """A text as a value of the column's type; changed values may need more room."""
        return f"CAST({text} AS {wide(field) if changed else self._kinds.get(field.name, wide(field))})"

    def hash(self, cells: Sequence[str]) -> str:
        """63 bits of xxHash; missing cells are told apart by where they are."""
        told = ", ".join(f"{cell}, isnull({cell})" for cell in cells)
        return f"(xxhash64({told}) & {MOST})"

    def about_distinct(self, cells: Sequence[str], relation: str) -> str:
        """HyperLogLog++, to about three per cent: Spark compiles a finer one for seconds."""
        return f"SELECT approx_count_distinct(struct({', '.join(cells)}), 0.03) FROM {relation}"

    def quotient(self, number: int, cell: str) -> str:
        """Division of whole numbers."""
        return f"CAST({number} AS BIGINT) DIV {cell}"

    def sum(self, cell: str) -> str:
        """A sum of 64 bits."""
        return f"CAST(sum({cell}) AS BIGINT)"

    def random(self) -> str:
        """Seeded from the system's randomness."""
        return f"rand({secrets.randbits(63)}L)"

    def sorted_by(self, names: Sequence[str]) -> str:
        """All columns of a result as what it is sorted by, missing values last."""
        return ", ".join(f"{i} ASC NULLS LAST" for i in range(1, len(names) + 1))

    def row_number(self) -> str:
        """A number of the row; rows have no order."""
        return "row_number() OVER (ORDER BY monotonically_increasing_id())"

    def unpivot(self, cells: Sequence[str]) -> str:
        """An array with the places of its values."""
        return f"posexplode(array({', '.join(cells)})) AS (i, v)"

    def among(self, cells: Sequence[str]) -> str:
        """Missing cells are left out."""
        return f"concat_ws(chr(31), {', '.join(cells)})"

    def matches(self, cell: str, pattern: str) -> str:
        """Java's regular expressions."""
        return f"{cell} RLIKE {self.literal(pattern)}"

    def is_all(self, cell: str, pattern: str) -> str:
        """From the first character to the last."""
        return f"{cell} RLIKE {self.literal(f'^(?:{pattern})$')}"

    def uniform(self, seed: str, row: str) -> str:
        """The first 13 hexadecimal digits of a SHA-256."""
        digest = f"sha2(concat({self.literal(seed)}, {row}), 256)"
        bits = f"CAST(conv(substr({digest}, 1, {BITS // 4}), 16, 10) AS DOUBLE)"
        return f"({bits} / CAST({float(2**BITS)!r} AS DOUBLE) + CAST({TINY!r} AS DOUBLE))"

    def number(self, text: str) -> str:
        """A double."""
        return f"CAST({text} AS DOUBLE)"

    def round(self, number: str, decimals: int) -> str:
        """Half away from zero."""
        return f"CAST(CAST({number} AS DECIMAL(38, {decimals})) AS STRING)"


def wide(field: Field) -> str:
    """The widest type of a family."""
    return {
        ColumnType.INTEGER: "BIGINT",
        ColumnType.DECIMAL: f"DECIMAL(38, {field.decimals})",
        ColumnType.FLOAT: "DOUBLE",
        ColumnType.DATE: "DATE",
        ColumnType.TIMESTAMP: "TIMESTAMP_NTZ",
        ColumnType.BOOLEAN: "BOOLEAN",
    }.get(field.type, "STRING")
