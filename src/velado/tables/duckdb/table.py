"""The embedded engine: DuckDB on files and on tables in memory."""

from __future__ import annotations

import math
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from velado.errors import InputError
from velado.tables.contract import Counts, Dealing, Recoded, Target, Translation
from velado.tables.duckdb.errors import translated
from velado.tables.duckdb.opening import Opened, as_pattern, inner_names, literal, open_source
from velado.tables.duckdb.types import FLOATS, cell, read_as
from velado.tables.files import free_memory
from velado.tables.formats.csv import Dialect
from velado.tables.formats.csv_fields import blanks_beside_quotes, column_bytes, row_count
from velado.tables.formats.xlsx import write_xlsx
from velado.tables.header import First, Header, csv_rows, sheet_rows
from velado.tables.identity import Identity
from velado.tables.publication.private import PrivateFolder
from velado.tables.source import Source
from velado.tables.sql.noise import noisy
from velado.values import ROOT, Text

MEMORY = 768_000_000
MOST_ENUM = 50_000
MOST_UNITS = 1 << 62
IN_PLACE = "USE_TMP_FILE false"
"""A file that is there already is for the user only; a new one would be for everybody."""
WIDE = 400
"""Columns above which the engine plans a statement with an expression for each of them too long."""
AT_ONCE = 100
VECTOR, VECTORS = 2048 * 16, 8
"""Bytes that the engine takes for a column at a time, and how many of them a statement needs."""
GUARDED = r"^'*[=+@\t\r-]"
GUARDED_AMONG = r"(^|\x1f)'*[=+@\t\r-]"
"""The same for cells that stand beside each other, with the character of code 31 between them."""
NUMBER = r"[+-]?[.,]?[0-9]+([.,][0-9]+)*([eE][+-]?[0-9]+)?"
"""A whole text that is a number. Every character has one place in it: matching takes linear time."""
ABSENT = "\x01missing\x01"
"""Stands for a missing value as a join key."""


def quoted(name: str) -> str:
    """A column name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def open_table(source: Any, folder: Path | None = None, beside: Path | None = None) -> DuckDBTable:
    """Open a file (CSV, TSV, Parquet, XLSX, Arrow) or a pandas, Polars or Arrow table.

    A relative path is one in ``folder``. Temporary files are kept ``beside`` the output, where there is one.
    """
    return DuckDBTable(Source.of(source, folder), beside)


class DuckDBTable:
    """A table read by DuckDB; nothing is loaded before it is asked for.

    Memory is bounded by ``memory`` and the number of distinct combinations counted: sorting (the
    shuffle) spills to a private temporary folder, beside the output where there is one.
    """

    def __init__(self, source: Source, beside: Path | None = None) -> None:
        import duckdb

        self.source = source
        self.memory = MEMORY
        self._registered = 0
        self._identity: Identity | None = None
        self._private = PrivateFolder.beside(beside)
        self._temporary = self._private.path
        # The engine's own default is a folder in the working directory, open to everybody.
        settings = {"memory_limit": f"{MEMORY}B", "temp_directory": str(self._temporary / "spilled")}
        self.connection = duckdb.connect(config={**settings, "preserve_insertion_order": "false"})
        try:
            self._identity = None if source.path is None else Identity.of(source.check_file())
            self._lock(source.path)
            opened = open_source(source, self._temporary)
            self.header = Header(opened.header, self._first_rows(opened))
            self.dialect = opened.dialect
            relation = opened.relation or self._register(opened.table)
            kinds = [row[1] for row in self._run(f"DESCRIBE SELECT * FROM {relation}").fetchall()]
            self.types = {n: read_as(kind, n, source.name) for n, kind in zip(self.header, kinds, strict=True)}
            if opened.text is not None and opened.dialect is not None:
                self._check_quotes(opened.text, opened.dialect, relation)
                self._check_rows(opened.text, opened.dialect, relation)
        except BaseException:
            self.close()
            raise
        self._inner = dict(zip(self.header, inner_names(len(self.header)), strict=True))
        self._source = relation
        self._cells = self._with_missing(kinds)
        self._relation = self._of(self.header)
        if len(self.header) > WIDE:
            self._make_room()

    def _lock(self, path: Path | None) -> None:
        """From now on the engine reaches its source and its private folder, and no other file."""
        files = [] if path is None else [str(path.absolute()), as_pattern(path.absolute())]
        for name, values in (
            ("allowed_paths", files),
            ("allowed_directories", [str(self._temporary)]),
            ("allowed_configs", ["memory_limit", "preserve_insertion_order", "threads"]),
        ):
            self._run(f"SET {name} = [{', '.join(map(literal, values))}]")
        for setting in (
            # What a time with a zone is called must not depend on the machine.
            "TimeZone = 'UTC'",
            "python_enable_replacements = false",
            "enable_external_access = false",
            "lock_configuration = true",
        ):
            self._run(f"SET {setting}")

    def _check_quotes(self, text: Path, dialect: Dialect, relation: str) -> None:
        """DuckDB drops blanks between a delimiter and a quote, others keep them: where they differ the file is refused."""
        if not blanks_beside_quotes(text, dialect):
            return
        sums = ", ".join(f"sum(strlen({c}))" for c in inner_names(len(self.header)))
        here = self._run(f"SELECT {sums} FROM {relation}").fetchall()[0]
        for name, found, other in zip(self.header, here, column_bytes(text, dialect), strict=True):
            if (found or 0) != other:
                raise InputError(
                    "unreadable-file", "blanks stand between a delimiter and a quote, and it is not clear whether they "
                    "belong to the value", file=self.source.path, column=name,
                    hint="Remove these blanks, or name another quote character.",
                )  # fmt: skip

    def _check_rows(self, text: Path, dialect: Dialect, relation: str) -> None:
        """After a name with a line break DuckDB may take all lines for one."""
        if not any(c in name for name in self.header for c in "\r\n"):
            return
        if self._run(f"SELECT count(*) FROM {relation}").fetchall()[0][0] != row_count(text, dialect):
            raise InputError(
                "unreadable-file", "the name of a column has a line break, and lines end in another way",
                file=self.source.path, hint="Take the line break out of the name.",
            )  # fmt: skip

    def _first_rows(self, opened: Opened) -> First | None:
        """Rows below the first line where that holds the header."""
        if opened.dialect is not None:
            path, dialect = self.source.check_file(), opened.dialect
            return lambda: csv_rows(path, dialect)
        return (lambda: sheet_rows(opened.table)) if self.source.kind() == "xlsx" else None

    def _with_missing(self, kinds: Sequence[str]) -> dict[str, str]:
        """Per column its cells: texts that stand for a missing value become NULL; equal values are written alike."""
        markers = ", ".join(literal(m) for m in dict.fromkeys(("", *(self.source.missing or ()))))
        if self.dialect is not None and not self.source.missing:
            # Empty fields of a text table are missing already.
            markers = ""
        return {
            name: cell(c, kind, self.types[name], markers)
            for (name, c), kind in zip(self._inner.items(), kinds, strict=True)
        }

    def _of(self, columns: Sequence[str]) -> str:
        """The relation with these columns: planning takes its time for every column that is in it."""
        cells = ", ".join(self._cells[c] for c in dict.fromkeys(columns))
        return f"(SELECT {cells} FROM {self._source})" if cells else self._source

    def _make_room(self) -> None:
        """Rows of many columns need more memory, and as much again for every thread."""
        needed = len(self.header) * VECTOR * VECTORS
        self.limit(min(max(MEMORY, 2 * needed), max(MEMORY, free_memory() // 2)))
        self._run(f"SET threads = {max(1, min(os.cpu_count() or 1, self.memory // (2 * needed)))}")

    # Asking

    def rows(self) -> int:
        """Number of rows."""
        return int(self._run(f"SELECT count(*) FROM {self._source}").fetchall()[0][0])

    def distinct(self, columns: Sequence[str]) -> int:
        """About how many combinations of the columns' values there are."""
        cells = ", ".join(self._inner[c] for c in columns)
        found = self._run(f"SELECT approx_count_distinct(hash({cells})) FROM {self._of(columns)}").fetchall()
        return int(found[0][0])

    def count(self, columns: Sequence[str], lot: tuple[int, int] = (0, 1), by: Sequence[str] = ()) -> Counts:
        """How often each combination of the columns' values (as text) occurs.

        Of ``lot`` (i, n) only the combinations whose hash of the columns ``by`` is i modulo n.
        """
        cells = ", ".join(f"{self._inner[c]} AS k{i}" for i, c in enumerate(columns))
        keys = ", ".join(f"k{i}" for i in range(len(columns)))
        chosen = f"WHERE hash({', '.join(self._inner[c] for c in by)}) % {lot[1]} = {lot[0]}" if lot[1] > 1 else ""
        relation = self._of([*columns, *by])
        table = self._arrow(
            f"SELECT {keys}, count(*) AS n FROM (SELECT {cells} FROM {relation} {chosen}) GROUP BY {keys}"
            if columns
            else f"SELECT count(*) AS n FROM {self._source}"
        )
        return self._counts(table, columns)

    def lacks(self, column: str) -> bool:
        """Whether a row has no value in the column."""
        found = self._run(f"SELECT count(*) > count({self._inner[column]}) FROM {self._of([column])}").fetchall()
        return bool(found[0][0])

    def repeats(self, column: str) -> bool:
        """Whether a value of the column stands in several rows, or a row has none."""
        cell = self._inner[column]
        found = self._run(f"SELECT count(DISTINCT {cell}) < count(*) FROM {self._of([column])}").fetchall()
        return bool(found[0][0])

    def shares(self, columns: Sequence[str], person: str) -> tuple[Counts, int]:
        """The people of each combination, each person shared out evenly over their rows; counted in so many units.

        The sum over the rows of a group is never more than the number of different people in it.
        """
        who = self._inner[person]
        owned = f"SELECT {who} AS who, count(*) AS n FROM {self._of([person])} GROUP BY who"
        found = self._run(f"SELECT n, count(*) FROM ({owned}) GROUP BY n").fetchall()
        unit = common_unit([n for n, _ in found], sum(people for _, people in found))
        cells = ", ".join(f"{self._inner[c]} AS k{i}" for i, c in enumerate(columns))
        keys = ", ".join(f"k{i}" for i in range(len(columns)))
        table = self._arrow(
            f"SELECT {keys}, CAST(sum(share) AS BIGINT) AS n FROM (SELECT {cells}, {unit} // o.n AS share "
            f"FROM {self._of([*columns, person])} AS p JOIN ({owned}) AS o ON p.{who} = o.who) GROUP BY {keys}"
        )
        return self._counts(table, columns), unit

    def members(self, columns: Sequence[str], person: str) -> tuple[Counts, np.ndarray]:
        """Each combination with each person in it: counts of rows, and a number that stands for the person.

        Two people could get the same number, by a chance of one in 2⁶⁴: then one is counted too few.
        """
        cells = ", ".join(f"{self._inner[c]} AS k{i}" for i, c in enumerate(columns))
        keys = ", ".join(f"k{i}" for i in range(len(columns)))
        table = self._arrow(
            f"SELECT {keys}, count(*) AS n, who FROM (SELECT {cells}, hash({self._inner[person]}) AS who "
            f"FROM {self._of([*columns, person])}) GROUP BY {keys}, who"
        )
        return self._counts(table, columns), table.column("who").to_numpy()

    def _counts(self, table: Any, columns: Sequence[str]) -> Counts:
        """The columns of a GROUP BY and the counts behind them."""
        dictionaries, codes = [], []
        for i in range(len(columns)):
            encoded = table.column(i).combine_chunks().dictionary_encode(null_encoding="encode")
            dictionaries.append(self._texts(encoded.dictionary))
            codes.append(encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32, copy=False))
        counts = table.column(len(columns)).to_numpy().astype(np.int64, copy=False)
        return Counts(tuple(columns), tuple(dictionaries), tuple(codes), counts)

    def amounts(self, columns: Sequence[str]) -> Iterator[tuple[str, dict[Text, int]]]:
        """How often each value (as text) of each column occurs; of many columns several in one pass."""
        if len(columns) <= WIDE:
            for name in columns:
                counts = self.count([name])
                values = (counts.dictionaries[0][code] for code in counts.codes[0])
                yield name, dict(zip(values, counts.counts.tolist(), strict=True))
            return
        for first in range(0, len(columns), AT_ONCE):
            chunk = columns[first : first + AT_ONCE]
            cells = ", ".join(f"CAST({self._inner[c]} AS VARCHAR)" for c in chunk)
            rows = self._run(
                f"SELECT i, v, count(*) FROM (SELECT unnest(range({len(chunk)})) AS i, unnest([{cells}]) AS v "
                f"FROM {self._of(chunk)}) GROUP BY i, v"
            ).fetchall()
            found: list[dict[Text, int]] = [{} for _ in chunk]
            for i, value, n in rows:
                found[i][value] = n
            yield from zip(chunk, found, strict=True)

    def _texts(self, values: Any) -> tuple[Text, ...]:
        """The values of a dictionary as the engine writes them."""
        import pyarrow as pa

        if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
            return tuple(values.to_pylist())
        name = self._register(pa.table({"place": pa.array(range(len(values))), "value": values}))
        return tuple(
            row[0] for row in self._run(f"SELECT CAST(value AS VARCHAR) FROM {name} ORDER BY place").fetchall()
        )

    def filled(self, value: str) -> int:
        """How many rows show the value in every column."""
        # With thousands of columns the engine takes minutes to plan as many conditions joined by AND.
        cells = ", ".join(f"coalesce(CAST({c} AS VARCHAR) = {literal(value)}, false)" for c in self._inner.values())
        return int(self._run(f"SELECT count(*) FROM {self._relation} WHERE least({cells})").fetchall()[0][0])

    def unseen(self, recoded: Recoded) -> dict[str, list[str]]:
        """Per translated column, up to five values that its translation does not know."""
        found = {}
        for translation in recoded.translations:
            known = self._keys(translation)
            cell = self._key(translation)
            rows = self._run(
                f"SELECT DISTINCT {cell} AS v FROM {self._of([translation.column])} AS p ANTI JOIN {known} AS k ON {cell} = k.key "
                f"ORDER BY v LIMIT 5"
            ).fetchall()
            if rows:
                found[translation.column] = ["(missing)" if r[0] in (None, ABSENT) else r[0] for r in rows]
        return found

    # Writing

    def write(self, recoded: Recoded, target: Target) -> None:
        """Write the recoded table in the format of the target's suffix."""
        kind = Source(path=target.path).kind()
        guard = target.guard and kind in ("csv", "xlsx")
        unordered = target.order == "shuffle" and not recoded.noise
        self._run(f"SET preserve_insertion_order = {'false' if unordered else 'true'}")
        query = self._query(recoded, target.order, guard, plain=kind == "xlsx")
        if kind in ("csv", "parquet"):
            self.copy(query, target)
        elif kind == "xlsx":
            header = [name for name in self.header if name not in recoded.dropped]
            write_xlsx(target.path, self._batches(query), header)
        else:
            import pyarrow as pa

            batches = self._batches(query)
            with pa.OSFile(str(target.path), "wb") as sink, pa.ipc.new_file(sink, batches.schema) as writer:
                for batch in batches:
                    writer.write_batch(batch)

    def copy(self, query: str, target: Target) -> None:
        """Write what a query gives as CSV or Parquet: into the private folder, as the engine reaches no other."""
        written = self._temporary / "written"
        written.touch(mode=0o600)
        csv = Source(path=target.path).kind() == "csv"
        form = f"FORMAT csv, DELIMITER {literal(target.delimiter)}, HEADER true" if csv else "FORMAT parquet"
        self._run(f"COPY ({query}) TO {literal(str(written))} ({form}, {IN_PLACE})")
        shutil.move(written, target.path)

    def fetch(self, recoded: Recoded, order: str = "keep") -> Any:
        """The recoded table as an Arrow table."""
        self._run("SET preserve_insertion_order = true")
        return self._arrow(self._query(recoded, order, guard=False))

    def _query(self, recoded: Recoded, order: str, guard: bool, plain: bool = False) -> str:
        """Join each translated column with its table; keep the selected combinations.

        Labels are ENUMs until the end: the shuffle then sorts bytes instead of texts. ``plain`` writes known
        values as text unless they are whole numbers, for formats that would write 1.0 as 1.
        """
        translated = {t.column: i for i, t in enumerate(recoded.translations)}
        star = recoded.selection.star
        starring = star and recoded.selection.kept is not None
        inner, outer, tables = [], [], []
        for t, i in zip(recoded.translations, range(len(translated)), strict=True):
            join = "LEFT JOIN" if star else "JOIN"
            named = self._labels(t, guard) if recoded.selection.shown is None else self._codes(t)
            tables.append(f"{join} {named} AS t{i} ON {self._key(t)} = t{i}.key")
        chunks = _chunks(recoded.translations)
        selected = ""
        dealing = recoded.selection.dealing
        if recoded.selection.kept is not None:
            kept = self._kept(recoded, chunks, guard)
            on = " AND ".join(
                f"({' + '.join(f't{i}.code * {s}' for i, s in chunk) or '0'}) = s.k{n}"
                for n, chunk in enumerate(chunks)
            )
            if dealing is not None:
                on += " AND p.velado_nth BETWEEN s.first_nth AND s.last_nth" + (
                    " AND p.velado_by = s.by_code" if dealing.by else ""
                )
            selected = f"{'LEFT JOIN' if star else 'JOIN'} {kept} AS s ON {on or 'true'}"
        known = dict(recoded.known)
        risky = self._risky(recoded) if guard else set()
        joins, replaced = self._replaced(recoded, guard)
        tables += joins
        for name in self.header:
            if name in recoded.dropped:
                continue
            column = self._inner[name]
            if name in recoded.starred:
                outer.append(f"{literal(ROOT)} AS {quoted(name)}")
                continue
            text = self.types[name] == "VARCHAR"
            cell, shown = f"p.{column}", column
            if name in translated:
                place = "t{}.label" if recoded.selection.shown is None else "s.l{}"
                cell, shown = place.format(translated[name]), f"CAST({column} AS VARCHAR)"
            elif name in replaced:
                cell, shown = replaced[name]
            elif text:
                if 0 < len(known.get(name, ())) <= MOST_ENUM:
                    cell = f"CAST(p.{column} AS {self._enum(known[name])})"
                    shown = f"CAST({column} AS VARCHAR)"
                if name in risky:
                    shown = guarded_cell(shown)
            elif plain and "INT" not in self.types[name] and (name in known or self.types[name] not in FLOATS):
                shown = f"CAST({column} AS VARCHAR)"
            if starring:
                cell = f"CASE WHEN s.k0 IS NULL THEN {literal(ROOT)} ELSE CAST({cell} AS VARCHAR) END"
            inner.append(f"{cell} AS {column}")
            outer.append(f"{shown} AS {quoted(name)}")
        inner = inner or ["1 AS velado_nothing"]
        rows = f"SELECT {', '.join(inner)}"
        relation = self._relation
        if order == "keep" or recoded.noise:
            relation = f"(SELECT *, row_number() OVER () AS velado_row FROM {relation})"
        if dealing is not None:
            relation = self._dealt(relation, recoded.translations, dealing)
        body = f"{rows} FROM {relation} AS p {' '.join(tables)} {selected}"
        body += {"keep": " ORDER BY p.velado_row", "shuffle": " ORDER BY random()"}.get(order, "")
        query = f"SELECT {', '.join(outer)} FROM ({body})"
        return query + " ORDER BY ALL" if order == "sorted" else query

    def _dealt(self, relation: str, translations: Sequence[Translation], dealing: Dealing) -> str:
        """The rows numbered at random among those that are alike; values with the same code are alike, too."""
        alike, code, join = [self._key(t) for t in translations], "", ""
        if dealing.by is not None:
            join = f"JOIN {self._codes(dealing.by)} AS d ON {self._key(dealing.by)} = d.key"
            alike, code = [*alike, "d.code"], ", d.code AS velado_by"
        nth = f"row_number() OVER (PARTITION BY {', '.join(alike)} ORDER BY velado_dice) AS velado_nth"
        return f"(SELECT p.*{code}, {nth} FROM (SELECT *, random() AS velado_dice FROM {relation}) AS p {join})"

    def _risky(self, recoded: Recoded) -> set[str]:
        """The columns of texts that a spreadsheet might take for formulas; of a few columns, all."""
        texts = [n for n in self.header if self.types[n] == "VARCHAR" and n not in (*recoded.starred, *recoded.dropped)]
        if len(texts) <= WIDE:
            return set(texts)
        chunks = [texts[first : first + AT_ONCE] for first in range(0, len(texts), AT_ONCE)]
        # All cells of some columns as one text: cheaper than a pattern for every column.
        joined = [f"concat_ws(chr(31), {', '.join(self._inner[n] for n in chunk)})" for chunk in chunks]
        some = ", ".join(f"bool_or(regexp_matches({cells}, {literal(GUARDED_AMONG)}))" for cells in joined)
        flagged = self._run(f"SELECT {some} FROM {self._of(texts)}").fetchall()[0]
        found = set()
        for chunk in (c for c, flag in zip(chunks, flagged, strict=True) if flag):
            each = ", ".join(f"bool_or({_formula(self._inner[n])})" for n in chunk)
            flags = self._run(f"SELECT {each} FROM {self._of(chunk)}").fetchall()[0]
            found |= {n for n, flag in zip(chunk, flags, strict=True) if flag}
        return found

    def _replaced(self, recoded: Recoded, guard: bool) -> tuple[list[str], dict[str, tuple[str, str]]]:
        """Joins for the columns that the selection does not look at; per column its cell and how that is shown."""
        joins, cells = [], {}
        sums = {n.column: n for n in recoded.noise}
        for i, t in enumerate([*recoded.replaced, *(n.numbers for n in recoded.noise)]):
            noise, cell = sums.get(t.column), f"r{i}.label"
            on = f"{self._key(t)} = r{i}.key"
            if t.by is not None:
                on += f" AND CAST(p.{self._inner[t.by]} AS VARCHAR) = r{i}.other"
            joins.append(f"LEFT JOIN {self._labels(t, guard and noise is None)} AS r{i} ON {on}")
            if noise is not None:
                cell = noisy(noise, f"CAST({cell} AS VARCHAR)", "p.velado_row")
            typed = t.typed and not recoded.selection.star
            shown = f"CAST({self._inner[t.column]} AS VARCHAR)"
            cells[t.column] = (cell, f"CAST({shown} AS {_wide(self.types[t.column])})" if typed else shown)
        return joins, cells

    def _key(self, t: Translation) -> str:
        cell = f"CAST(p.{self._inner[t.column]} AS VARCHAR)"
        return f"coalesce({cell}, {literal(ABSENT)})" if None in t.keys else cell

    def _keys(self, t: Translation) -> str:
        import pyarrow as pa

        return self._register(pa.table({"key": pa.array([ABSENT if k is None else k for k in t.keys], pa.string())}))

    def _codes(self, t: Translation) -> str:
        """A table key → code."""
        import pyarrow as pa

        keys = pa.array([ABSENT if k is None else k for k in t.keys], pa.string())
        return self._register(pa.table({"key": keys, "code": pa.array(t.codes.astype(np.int64))}))

    def _labels(self, t: Translation, guard: bool) -> str:
        """A table key → label (an ENUM where that is small) and code."""
        import pyarrow as pa

        labels = guarded(t.labels, guard)
        keys = pa.array([ABSENT if k is None else k for k in t.keys], pa.string())
        name = self._register(pa.table({"key": keys, "label": pa.array([labels[c] for c in t.codes], pa.string()),
                                        "code": pa.array(t.codes.astype(np.int64)),
                                        **({"other": pa.array(t.others, pa.string())} if t.by else {})}))  # fmt: skip
        present = list(dict.fromkeys(x for x in labels if x is not None))
        made = f"{name}_labels"
        cast = f"CAST(label AS {self._enum(present)}) AS label" if 0 < len(present) <= MOST_ENUM else "label"
        other = ", other" if t.by else ""
        self._run(f"CREATE TEMP TABLE {made} AS SELECT key, {cast}, code{other} FROM {name}")
        return made

    def _enum(self, words: Sequence[Text]) -> str:
        """A type whose values are these words."""
        import pyarrow as pa

        listed = self._register(pa.table({"word": pa.array([w for w in words if w is not None], pa.string())}))
        self._run(f"CREATE TYPE {listed}_enum AS ENUM (SELECT word FROM {listed})")
        return f"{listed}_enum"

    def _kept(self, recoded: Recoded, chunks: list[list[tuple[int, int]]], guard: bool) -> str:
        """A table of the kept combinations as keys k0, k1, …, with their labels l0, l1, … where they have their own."""
        import pyarrow as pa

        selection = recoded.selection
        assert selection.kept is not None
        kept = selection.kept
        columns: dict[str, Any] = {}
        for n, chunk in enumerate(chunks):
            key = np.zeros(len(kept), dtype=np.int64)
            for i, stride in chunk:
                key += kept[:, i].astype(np.int64) * stride
            columns[f"k{n}"] = pa.array(key)
        dealing = selection.dealing
        if dealing is not None:
            columns |= {"first_nth": pa.array(dealing.first), "last_nth": pa.array(dealing.last)}
            if dealing.codes is not None:
                columns["by_code"] = pa.array(dealing.codes.astype(np.int64))
        keys = ", ".join(columns)
        if selection.shown is None:
            return self._register(pa.table(columns or {"k0": pa.array([0])}))
        enums = []
        for i, t in enumerate(recoded.translations):
            labels = pa.array(guarded(t.labels, guard), pa.string())
            shown = pa.array(selection.shown[:, i].astype(np.int32, copy=False))
            columns[f"l{i}"] = pa.DictionaryArray.from_arrays(shown, labels).cast(pa.string())
            present = list(dict.fromkeys(x for x in guarded(t.labels, guard) if x is not None))
            enums.append(f"CAST(l{i} AS {self._enum(present)}) AS l{i}" if 0 < len(present) <= MOST_ENUM else f"l{i}")
        texts = self._register(pa.table(columns))
        self._run(f"CREATE TEMP TABLE {texts}_kept AS SELECT {keys}, {', '.join(enums)} FROM {texts}")
        return f"{texts}_kept"

    # Plumbing

    def check_unchanged(self) -> None:
        """Raise if the source is not what it was when it was opened."""
        if self._identity is not None:
            self._identity.check()

    def fingerprint(self) -> str | None:
        """SHA-256 of the input file as it was read; None for tables in memory."""
        return None if self._identity is None else self._identity.digest()

    def limit(self, memory: int) -> None:
        """Use no more memory than this many bytes."""
        self.memory = memory
        self._run(f"SET memory_limit = '{memory}B'")

    def close(self) -> None:
        """Close the connection and remove temporary files."""
        self.connection.close()
        self._private.remove()

    def __enter__(self) -> DuckDBTable:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _register(self, table: Any) -> str:
        self._registered += 1
        name = f"velado_{self._registered}"
        self.connection.register(name, table)
        return name

    def _arrow(self, query: str) -> Any:
        import duckdb

        try:
            return self.connection.sql(query).to_arrow_table()
        except duckdb.Error as error:
            raise self._problem(error) from None

    def _batches(self, query: str) -> Any:
        import duckdb
        import pyarrow as pa

        def rows(reader: Any) -> Any:
            try:
                yield from reader
            except duckdb.Error as error:
                raise self._problem(error) from None

        try:
            reader = self.connection.sql(query).to_arrow_reader(100_000)
        except duckdb.Error as error:
            raise self._problem(error) from None
        return pa.RecordBatchReader.from_batches(reader.schema, rows(reader))

    def _problem(self, error: Exception) -> BaseException:
        """The error that a user gets: a source that changed explains every other."""
        self.check_unchanged()
        return translated(error, self.source.name)

    def _run(self, query: str) -> Any:
        import duckdb

        try:
            return self.connection.execute(query)
        except duckdb.Error as error:
            raise self._problem(error) from None


def common_unit(sizes: Sequence[int], people: int) -> int:
    """A unit that can be divided by every one of some numbers, or by many of them, and still be summed over all people.

    >>> common_unit([1, 2, 3], 1000)
    6
    """
    unit = 1
    for size in sorted(sizes):
        if math.lcm(unit, size) * max(people, 1) < MOST_UNITS:
            unit = math.lcm(unit, size)
    return unit


def _wide(kind: str) -> str:
    """The type for changed values of a column: as wide as its family gets."""
    if kind.startswith("DECIMAL"):
        return re.sub(r"\(\d+", "(38", kind)
    if kind == "FLOAT":
        return "DOUBLE"
    return "BIGINT" if "INT" in kind and "HUGE" not in kind else kind


def guarded_cell(cell: str) -> str:
    """A text cell in SQL that gets an apostrophe where a spreadsheet would take it for a formula."""
    return f"CASE WHEN {_formula(cell)} THEN chr(39) || {cell} ELSE {cell} END"


def _formula(cell: str) -> str:
    return f"regexp_matches({cell}, {literal(GUARDED)}) AND NOT regexp_full_match({cell}, {literal(NUMBER)})"


def guarded(labels: Sequence[Text], guard: bool) -> list[Text]:
    """Labels that a spreadsheet would take for formulas get an apostrophe."""
    risky = [x is not None and re.match(GUARDED, x) and not re.fullmatch(NUMBER, x) for x in labels]
    return [f"'{x}" if guard and r else x for x, r in zip(labels, risky, strict=True)]


def _chunks(translations: Sequence[Translation]) -> list[list[tuple[int, int]]]:
    """Columns with strides, in groups whose mixed-radix keys fit 62 bits."""
    chunks: list[list[tuple[int, int]]] = []
    domain = 1 << 63
    for i, t in enumerate(translations):
        size = int(t.codes.max(initial=0)) + 1
        if domain * size >= 1 << 62:
            chunks.append([])
            domain = 1
        chunks[-1].append((i, domain))
        domain *= size
    return chunks
