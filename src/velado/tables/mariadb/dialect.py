"""How MariaDB and MySQL say what engines say differently."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from velado.tables.sql.dialect import SqlDialect
from velado.tables.types import ColumnType, Field

BITS = 52
TINY = 2.0**-53
BETWEEN = "CHAR(31 USING utf8mb4)"


class MariaDBDialect(SqlDialect):
    """Texts are compared by their bytes: the collation of the connection, which literals have, and of every cell.

    ``kinds`` are the server's own types of the columns; ``dice`` is an expression for random bytes.
    """

    # Rows first, then a look into each small table: no time is spent on other ways, of which there are very many.
    in_order = "STRAIGHT_JOIN "
    # Sorting is faster than one large table of hashes.
    many_groups = "SQL_BIG_RESULT "
    # MariaDB 10.11 sorts by IS NULL of a computed cell wrongly where it sorts by columns of several tables.
    apart = f" LIMIT {2**64 - 1}"

    def __init__(self, bytewise: str, dice: str, kinds: Mapping[str, str] | None = None) -> None:
        self.bytewise, self.dice, self.kinds = bytewise, dice, kinds or {}

    def text(self, cell: str, type: ColumnType = ColumnType.TEXT) -> str:
        """The server's own text; of floats as Python's ``repr`` writes them, of times without zeros at the end."""
        if type is ColumnType.TEXT:
            return cell
        if type is ColumnType.BOOLEAN:
            return f"CASE WHEN {cell} = 0 THEN 'false' WHEN {cell} <> 0 THEN 'true' END"
        said = f"CAST({cell} AS CHAR)"
        if type is ColumnType.TIMESTAMP:
            short = f"TRIM(TRAILING '.' FROM TRIM(TRAILING '0' FROM {said}))"
            return f"CASE WHEN {said} LIKE '%.%' THEN {short} ELSE {said} END"
        return said if type is not ColumnType.FLOAT else self._float(cell, said)

    def _float(self, cell: str, said: str) -> str:
        """The server writes the same digits with other exponents."""
        decimals = f"SUBSTRING_INDEX({said}, '.', -1)"
        digits = f"TRIM(LEADING '0' FROM {decimals})"
        power = f"(LENGTH({decimals}) - LENGTH({digits}) + 1)"
        behind = f"CASE WHEN LENGTH({digits}) > 1 THEN CONCAT('.', SUBSTRING({digits}, 2)) ELSE '' END"
        sign = f"CASE WHEN {cell} < 0 THEN '-' ELSE '' END"
        small = f"CONCAT({sign}, LEFT({digits}, 1), {behind}, 'e-', LPAD({power}, 2, '0'))"
        return (
            f"CASE WHEN {said} LIKE '%e-_' THEN REPLACE({said}, 'e-', 'e-0') WHEN {said} LIKE '%e-%' THEN {said} "
            f"WHEN {said} LIKE '%e15' THEN CAST(CAST({said} AS DECIMAL(20, 1)) AS CHAR) "
            f"WHEN {said} LIKE '%e%' THEN REPLACE({said}, 'e', 'e+') "
            f"WHEN {cell} <> 0 AND ABS({cell}) < 1e-4 THEN {small} "
            f"WHEN {said} LIKE '%.%' THEN {said} ELSE CONCAT({said}, '.0') END"
        )

    def float_to_double(self, cell: str) -> str:
        """A float of 32 bits as the double with its shortest text: the server itself shows six digits of it."""
        double = f"({cell} + 0e0)"
        power = f"FLOOR(LOG10(ABS({double})))"
        tries = [f"CAST({cell} AS CHAR)"]
        tries += [f"CONCAT(ROUND({double} / POW(10, {power}), {n}), 'e', {power})" for n in (6, 7, 8)]
        whens = " ".join(f"WHEN CAST({t} AS FLOAT) = {cell} THEN CAST({t} AS DOUBLE)" for t in tries)
        return f"CASE WHEN {cell} = 0 THEN 0e0 {whens} ELSE {double} END"

    def cast(self, text: str, field: Field, changed: bool) -> str:
        """A text as a value of the family of the column's type; the table that is written has the type itself."""
        match field.type:
            case ColumnType.INTEGER:
                unsigned = "unsigned" in self.kinds.get(field.name, "")
                return f"CAST({text} AS {'UNSIGNED' if unsigned else 'SIGNED'})"
            case ColumnType.DECIMAL:
                return f"CAST({text} AS DECIMAL(38, {field.decimals}))"
            case ColumnType.FLOAT:
                return f"CAST({text} AS DOUBLE)"
            case ColumnType.DATE:
                return f"CAST({text} AS DATE)"
            case ColumnType.TIMESTAMP:
                return f"CAST({text} AS DATETIME(6))"
            case ColumnType.BOOLEAN:
                return f"CASE {text} WHEN 'true' THEN 1 WHEN 'false' THEN 0 END"
            case _:
                return text

    def missing_as(self, cell: str, markers: Sequence[str]) -> str:
        """One marker is the usual case, which the server does faster."""
        return f"NULLIF({cell}, {self.literal(markers[0])})" if len(markers) == 1 else super().missing_as(cell, markers)

    def hash(self, cells: Sequence[str]) -> str:
        """63 bits of an MD5."""
        texts = ", ".join(f"COALESCE(CAST({c} AS CHAR), CHAR(30 USING utf8mb4))" for c in cells)
        return f"CAST(CAST(CONV(LEFT(MD5(CONCAT_WS({BETWEEN}, {texts})), 16), 16, 10) AS UNSIGNED) >> 1 AS SIGNED)"

    def about_distinct(self, cells: Sequence[str], relation: str) -> str:
        """Counted: there is no estimate without statistics, which may be old."""
        return f"SELECT count(*) FROM (SELECT {self.many_groups}1 FROM {relation} GROUP BY {', '.join(cells)}) AS d"

    def quotient(self, number: int, cell: str) -> str:
        """Division of whole numbers."""
        return f"{number} DIV {cell}"

    def sum(self, cell: str) -> str:
        """A sum of 64 bits."""
        return f"CAST(sum({cell}) AS SIGNED)"

    def random(self) -> str:
        """Never RAND(), whose numbers can be told from a few of them."""
        return self.dice

    def sorted_by(self, names: Sequence[str]) -> str:
        """Missing values would be first."""
        return ", ".join(f"{self.quote(n)} IS NULL, {self.quote(n)}" for n in names)

    def row_number(self) -> str:
        """As rows are read: window functions sort them first, by whatever comes to hand."""
        return "CAST((@velado_row := COALESCE(@velado_row, 0) + 1) AS UNSIGNED)"

    def unpivot(self, cells: Sequence[str]) -> str:
        """There is no such thing: `MariaDBTable.amounts` does without."""
        raise NotImplementedError

    def among(self, cells: Sequence[str]) -> str:
        """Missing cells are left out."""
        return f"CONCAT_WS({BETWEEN}, {', '.join(cells)})"

    def matches(self, cell: str, pattern: str) -> str:
        """PCRE, or ICU in MySQL."""
        return f"{cell} REGEXP {self.literal(pattern)}"

    def is_all(self, cell: str, pattern: str) -> str:
        """From the first character to the last."""
        return f"{cell} REGEXP {self.literal(f'^(?:{pattern})$')}"

    def uniform(self, seed: str, row: str) -> str:
        """The first 13 hexadecimal digits of a SHA-256."""
        digest = f"SHA2(CONCAT({self.literal(seed)}, {row}), 256)"
        return f"(CAST(CONV(LEFT({digest}, {BITS // 4}), 16, 10) AS UNSIGNED) / {float(2**BITS)!r} + {TINY!r})"

    def number(self, text: str) -> str:
        """A double."""
        return f"CAST({text} AS DOUBLE)"

    def round(self, number: str, decimals: int) -> str:
        """Half away from zero."""
        return f"CAST(CAST({number} AS DECIMAL(38, {decimals})) AS CHAR)"
