"""The embedded engine: DuckDB on files and on tables in memory."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from velado.engines.base import Counts, Recoded, Target, Translation
from velado.engines.files import free_memory
from velado.engines.kinds import FLOATS, cell, read_as
from velado.engines.leftovers import mine, owned_name, remove, sweep
from velado.engines.messages import translated
from velado.engines.opening import inner_names, literal, open_source
from velado.engines.randomness import noisy
from velado.engines.source import Source
from velado.engines.spreadsheet import write_xlsx
from velado.errors import InputError
from velado.values import ROOT, Text

MEMORY = 768_000_000
MOST_ENUM = 50_000
WIDE = 400
"""Columns above which the engine plans a statement with an expression for each of them too long."""
AT_ONCE = 100
VECTOR, VECTORS = 2048 * 16, 8
"""Bytes that the engine takes for a column at a time, and how many of them a statement needs."""
PREFIX = ".velado-"
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
        self._temporary = self._private_folder(beside)
        # The engine's own default is a folder in the working directory, open to everybody.
        settings = {"memory_limit": f"{MEMORY}B", "temp_directory": str(self._temporary / "spilled")}
        self.connection = duckdb.connect(config={**settings, "preserve_insertion_order": "false"})
        try:
            opened = open_source(source, self._temporary)
            self.header = opened.header
            self.dialect = opened.dialect
            relation = opened.relation or self._register(opened.table)
            # What a time with a zone is called must not depend on the machine.
            self._run("SET TimeZone = 'UTC'")
            kinds = [row[1] for row in self._run(f"DESCRIBE SELECT * FROM {relation}").fetchall()]
            self.types = {n: read_as(kind, n, source.name) for n, kind in zip(self.header, kinds, strict=True)}
        except BaseException:
            self.close()
            raise
        self._inner = dict(zip(self.header, inner_names(len(self.header)), strict=True))
        self._source = relation
        self._cells = self._with_missing(kinds)
        self._relation = self._of(self.header)
        if len(self.header) > WIDE:
            self._make_room()

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
        path = literal(str(target.path))
        if kind == "csv":
            self._run(f"COPY ({query}) TO {path} (FORMAT csv, DELIMITER {literal(target.delimiter)}, HEADER true)")
        elif kind == "parquet":
            self._run(f"COPY ({query}) TO {path} (FORMAT parquet)")
        elif kind == "xlsx":
            header = [name for name in self.header if name not in recoded.dropped]
            write_xlsx(target.path, self._batches(query), header)
        else:
            import pyarrow as pa

            batches = self._batches(query)
            with pa.OSFile(str(target.path), "wb") as sink, pa.ipc.new_file(sink, batches.schema) as writer:
                for batch in batches:
                    writer.write_batch(batch)

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
        inner, outer, tables = [], [], []
        for t, i in zip(recoded.translations, range(len(translated)), strict=True):
            join = "LEFT JOIN" if star is not None else "JOIN"
            named = self._labels(t, guard) if recoded.selection.shown is None else self._codes(t)
            tables.append(f"{join} {named} AS t{i} ON {self._key(t)} = t{i}.key")
        chunks = _chunks(recoded.translations)
        selected, numbered = "", ""
        dealing = recoded.selection.dealing
        if dealing is not None:
            alike = [self._key(t) for t in (*recoded.translations, *([dealing.by] if dealing.by else []))]
            numbered = f", row_number() OVER (PARTITION BY {', '.join(alike)} ORDER BY velado_dice) AS velado_nth"
            if dealing.by is not None:
                tables.append(f"JOIN {self._codes(dealing.by)} AS d ON {self._key(dealing.by)} = d.key")
        if recoded.selection.kept is not None:
            kept = self._kept(recoded, chunks, guard)
            on = " AND ".join(
                f"({' + '.join(f't{i}.code * {s}' for i, s in chunk) or '0'}) = s.k{n}"
                for n, chunk in enumerate(chunks)
            )
            if dealing is not None:
                on += " AND p.velado_nth BETWEEN s.first_nth AND s.last_nth" + (
                    " AND d.code = s.by_code" if dealing.by else ""
                )
            selected = f"{'LEFT JOIN' if star is not None else 'JOIN'} {kept} AS s ON {on or 'true'}"
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
            if star is not None and name in star and recoded.selection.kept is not None:
                cell = f"CASE WHEN s.k0 IS NULL THEN {literal(ROOT)} ELSE CAST({cell} AS VARCHAR) END"
            inner.append(f"{cell} AS {column}")
            outer.append(f"{shown} AS {quoted(name)}")
        inner = inner or ["1 AS velado_nothing"]
        rows = f"SELECT {', '.join(inner)}"
        relation = self._relation
        if order == "keep" or recoded.noise:
            relation = f"(SELECT *, row_number() OVER () AS velado_row FROM {relation})"
        if numbered:
            relation = f"(SELECT *{numbered} FROM (SELECT *, random() AS velado_dice FROM {relation}) AS p)"
        body = f"{rows} FROM {relation} AS p {' '.join(tables)} {selected}"
        body += {"keep": " ORDER BY p.velado_row", "shuffle": " ORDER BY random()"}.get(order, "")
        query = f"SELECT {', '.join(outer)} FROM ({body})"
        return query + " ORDER BY ALL" if order == "sorted" else query

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
            typed = t.typed and t.column not in (recoded.selection.star or ())
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

    def fingerprint(self) -> str | None:
        """SHA-256 of the input file; None for tables in memory."""
        if self.source.path is None:
            return None
        with open(self.source.path, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()

    def limit(self, memory: int) -> None:
        """Use no more memory than this many bytes."""
        self.memory = memory
        self._run(f"SET memory_limit = '{memory}B'")

    def close(self) -> None:
        """Close the connection and remove temporary files."""
        self.connection.close()
        remove(self._temporary)

    def __enter__(self) -> DuckDBTable:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @staticmethod
    def _private_folder(beside: Path | None) -> Path:
        """A new folder that only this user may read, in the given one if that can be written to."""
        for folder in (beside, Path(tempfile.gettempdir())):
            if folder is None or not os.access(folder, os.W_OK):
                continue
            sweep(folder, PREFIX)
            # The name is known before the folder is there: an interruption cannot leave it behind.
            made = folder / owned_name(PREFIX, secrets.token_hex(4))
            mine.add(made)
            try:
                made.mkdir(mode=0o700)
            except OSError:
                mine.discard(made)
            else:
                return made
        raise InputError(
            "unwritable-output", "there is no folder for temporary files", file=tempfile.gettempdir(),
            hint="Set the environment variable TMPDIR to a folder that can be written to.",
        )  # fmt: skip

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
            raise translated(error, self.source.name) from None

    def _batches(self, query: str) -> Any:
        import duckdb

        try:
            return self.connection.sql(query).to_arrow_reader(100_000)
        except duckdb.Error as error:
            raise translated(error, self.source.name) from None

    def _run(self, query: str) -> Any:
        import duckdb

        try:
            return self.connection.execute(query)
        except duckdb.Error as error:
            raise translated(error, self.source.name) from None


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
