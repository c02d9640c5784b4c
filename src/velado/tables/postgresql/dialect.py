"""How PostgreSQL says what engines say differently."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from velado.tables.sql.dialect import SqlDialect, literal
from velado.tables.types import ColumnType, Field

BITS = 52
TINY = 2.0**-53
MOST = 2**63 - 1
ONE_OF, ENOUGH = 64, 1000
"""One of so many combinations is counted for an estimate, if these are enough."""


class PostgreSQLDialect(SqlDialect):
    """Texts are compared by their bytes: collation "C"."""

    def __init__(self, kinds: Mapping[str, str] | None = None) -> None:
        """``kinds`` are the server's own types of the columns."""
        self._kinds = kinds or {}

    def literal(self, text: str) -> str:
        """Also where a server takes backslashes for more than they are."""
        return literal(text) if "\\" not in text else "E" + literal(text.replace("\\", "\\\\"))

    def text(self, cell: str, type: ColumnType = ColumnType.TEXT) -> str:
        """The server's own text; of floats as Python's ``repr`` writes them."""
        if type is ColumnType.FLOAT:
            return f'({_float_text(cell)} COLLATE "C")'
        said = f"CAST({cell} AS text)"
        return said if type is ColumnType.TEXT else f'{said} COLLATE "C"'

    def cast(self, text: str, field: Field, changed: bool) -> str:
        """A text as a value of the column's type; changed values may need more room."""
        return f"CAST({text} AS {wide(field) if changed else self._kinds.get(field.name, wide(field))})"

    def missing_as(self, cell: str, markers: Sequence[str]) -> str:
        """One marker has a function of its own, which is faster."""
        return f"nullif({cell}, {self.literal(markers[0])})" if len(markers) == 1 else super().missing_as(cell, markers)

    def hash(self, cells: Sequence[str]) -> str:
        """63 bits of the server's hash of a row: the same within a transaction."""
        return f"(hash_record_extended(ROW({', '.join(cells)}), 0) & {MOST})"

    def about_distinct(self, cells: Sequence[str], relation: str) -> str:
        """Of many combinations only those whose hash is divisible by some number are counted."""
        exact = f"SELECT count(*) FROM (SELECT DISTINCT {', '.join(cells)} FROM {relation}) AS d"
        chosen = f"SELECT {self.hash(cells)} AS h FROM {relation}"
        some = f"SELECT count(DISTINCT h) AS n FROM ({chosen}) AS c WHERE h % {ONE_OF} = 0"
        return f"SELECT CASE WHEN s.n < {ENOUGH} THEN ({exact}) ELSE s.n * {ONE_OF} END FROM ({some}) AS s"

    def quotient(self, number: int, cell: str) -> str:
        """Division of whole numbers."""
        return f"CAST({number} AS bigint) / {cell}"

    def sum(self, cell: str) -> str:
        """A sum of 64 bits."""
        return f"CAST(sum({cell}) AS bigint)"

    def random(self) -> str:
        """Seeded by the server from the system's randomness in every session."""
        return "random()"

    def unpivot(self, cells: Sequence[str]) -> str:
        """Two arrays unnested side by side."""
        numbers = ", ".join(map(str, range(len(cells))))
        return f"unnest(ARRAY[{numbers}]) AS i, unnest(ARRAY[{', '.join(cells)}]) AS v"

    def among(self, cells: Sequence[str]) -> str:
        """Missing cells are left out."""
        return f"concat_ws(chr(31), {', '.join(cells)})"

    def matches(self, cell: str, pattern: str) -> str:
        """Advanced regular expressions."""
        return f"{cell} ~ {self.literal(pattern)}"

    def is_all(self, cell: str, pattern: str) -> str:
        """From the first character to the last."""
        return f"{cell} ~ {self.literal(f'^(?:{pattern})$')}"

    def uniform(self, seed: str, row: str) -> str:
        """The first 13 hexadecimal digits of a SHA-256."""
        digest = f"encode(sha256(convert_to({self.literal(seed)} || {row}, 'UTF8')), 'hex')"
        bits = f"CAST(CAST('x' || substr({digest}, 1, {BITS // 4}) AS bit({BITS})) AS bigint)"
        return f"({bits} / CAST({float(2**BITS)!r} AS double precision) + {TINY!r})"

    def number(self, text: str) -> str:
        """A double."""
        return f"CAST({text} AS double precision)"

    def round(self, number: str, decimals: int) -> str:
        """Half away from zero."""
        return f"CAST(CAST({number} AS numeric(38, {decimals})) AS text)"


def _float_text(cell: str) -> str:
    """The shortest text that denotes a float.

    The server's own has a digit more where only a neighbour's half way is that short; and it has an exponent from 10 to the
    15th on (6th for 32 bits), not from the 16th on.
    """
    own = f"CAST({cell} AS text)"
    digits = f"length(ltrim(translate(split_part({own}, 'e', 1), '-.', ''), '0'))"
    shorter = f"CASE pg_column_size({cell}) WHEN 4 THEN to_char({cell}, '9.9999999EEEE') ELSE to_char({cell}, '9.999999999999999EEEE') END"
    same = f"CASE pg_column_size({cell}) WHEN 4 THEN CAST({shorter} AS real) ELSE CAST({shorter} AS double precision) END"
    best = f"CASE WHEN {digits} = CASE pg_column_size({cell}) WHEN 4 THEN 9 ELSE 17 END AND {same} = {cell} THEN ltrim({shorter}) ELSE {own} END"
    plain = "CAST(CAST(f.t AS numeric) AS text)"
    return (
        "(SELECT CASE WHEN f.t IS NULL THEN NULL WHEN f.t = 'NaN' THEN 'nan' "
        "WHEN f.t LIKE '%Infinity' THEN replace(f.t, 'Infinity', 'inf') "
        f"WHEN f.t ~ 'e([+](0[0-9]|1[0-5])|-0[1-4])$' OR f.t !~ 'e' THEN CASE WHEN {plain} LIKE '%.%' THEN {plain} ELSE {plain} || '.0' END "
        f"ELSE f.t END FROM (SELECT CASE WHEN {own} ~ '[a-df-z]' THEN {own} ELSE {best} END AS t) AS f)"
    )


def wide(field: Field) -> str:
    """The server's type for changed values of a column: as wide as the type's family gets."""
    return f"numeric(38, {field.decimals})" if field.type is ColumnType.DECIMAL else WIDE[field.type]


WIDE = {
    ColumnType.TEXT: "text",
    ColumnType.INTEGER: "bigint",
    ColumnType.FLOAT: "double precision",
    ColumnType.DATE: "date",
    ColumnType.TIMESTAMP: "timestamp",
    ColumnType.BOOLEAN: "boolean",
}
