"""The embedded engine: DuckDB on files and on tables in memory."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from velado.engines.base import Counts, Recoded, Selection, Target, Translation
from velado.engines.dialect import DUCKDB_ENCODINGS, Dialect, check_header, sniff, wrong_encoding
from velado.engines.source import Source
from velado.engines.spreadsheet import read_xlsx, write_xlsx
from velado.errors import InputError
from velado.values import ROOT

MEMORY = "768MB"
MOST_ENUM = 50_000
GUARDED = r"^'*[=+@\t\r-]"
ABSENT = "\x01missing\x01"
"""Stands for a missing value as a join key."""


def quoted(name: str) -> str:
    """A column name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def open_table(source: Any, folder: Path | None = None) -> DuckDBTable:
    """Open a file (CSV, TSV, Parquet, XLSX, Arrow) or a pandas, Polars or Arrow table."""
    return DuckDBTable(Source.of(source, folder))


class DuckDBTable:
    """A table read by DuckDB; nothing is loaded before it is asked for.

    Memory is bounded by ``MEMORY`` and the number of distinct combinations counted: sorting (the
    shuffle) spills to a temporary directory beside the output.
    """

    def __init__(self, source: Source) -> None:
        import duckdb

        self.source = source
        self.dialect: Dialect | None = None
        self._temporary: Path | None = None
        self._registered = 0
        self.connection = duckdb.connect(config={"memory_limit": MEMORY, "preserve_insertion_order": "false"})
        try:
            self._relation = self._open()
            described = self._run(f"DESCRIBE SELECT * FROM {self._relation}").fetchall()
        except BaseException:
            self.close()
            raise
        self.header: list[str] = [row[0] for row in described]
        self.types: dict[str, str] = {row[0]: row[1] for row in described}

    # Opening

    def _open(self) -> str:
        kind = self.source.kind()
        if kind == "memory":
            return self._open_memory()
        path = self.source.check_file()
        if kind == "parquet":
            relation = f"read_parquet({literal(str(path))})"
            names = [r[0] for r in self._run(f"SELECT name FROM parquet_schema({literal(str(path))})").fetchall()[1:]]
            check_header(names, path)
            return relation
        if kind == "xlsx":
            data, header = read_xlsx(path, self.source.sheet)
            check_header(header, path)
            return self._register_text(data.rename_columns(header))
        if kind == "arrow":
            import pyarrow.feather

            try:
                return self._register_text(pyarrow.feather.read_table(path))
            except pyarrow.ArrowInvalid as error:
                raise InputError("unreadable-file", f"not an Arrow file: {error}", file=path) from None
        return self._open_csv(path)

    def _open_memory(self) -> str:
        import pyarrow as pa

        data = self.source.data
        module = type(data).__module__.split(".")[0]
        if module == "pandas":
            header = [str(c) for c in data.columns]
            check_header(header, self.source.name)
            data = pa.Table.from_pandas(data.set_axis(header, axis=1), preserve_index=False)
        elif module == "polars":
            data = data.to_arrow()
        elif not isinstance(data, (pa.Table, pa.RecordBatch)):
            raise InputError(
                "unknown-table", f"cannot read a table from {type(data).__name__}",
                hint="Give a path, or a pandas, Polars or Arrow table.",
            )  # fmt: skip
        check_header(data.schema.names, self.source.name)
        return self._register_text(data)

    def _register_text(self, table: Any) -> str:
        name = self._register(table)
        return self._with_missing(name, table.schema.names)

    def _with_missing(self, relation: str, names: Sequence[str]) -> str:
        """Missing markers become NULL where the reader cannot do it itself."""
        markers = ", ".join(literal(m) for m in ("", *(self.source.missing or ())))
        described = self._run(f"DESCRIBE SELECT * FROM {relation}").fetchall()
        cells = [
            f"CASE WHEN {quoted(n)} IN ({markers}) THEN NULL ELSE {quoted(n)} END AS {quoted(n)}"
            if t == "VARCHAR"
            else quoted(n)
            for n, t, *_ in described
        ]
        return f"(SELECT {', '.join(cells)} FROM {relation})"

    def _open_csv(self, path: Path) -> str:
        delimiter = self.source.delimiter
        if delimiter is None and path.suffix.lower() in (".tsv", ".tab"):
            delimiter = "\t"
        dialect = sniff(path, delimiter, self.source.quote, self.source.encoding)
        self.dialect = dialect
        encoding = DUCKDB_ENCODINGS.get(dialect.encoding)
        if encoding is None:
            path, encoding = self._transcode(path, dialect.encoding), "utf-8"
        missing = ", ".join(literal(m) for m in dict.fromkeys(("", *(self.source.missing or ()))))
        names = ", ".join(f"{literal(n)}: 'VARCHAR'" for n in dialect.header)
        return (
            f"read_csv({literal(str(path))}, delim={literal(dialect.delimiter)}, quote={literal(dialect.quote)}, "
            f"escape={literal(dialect.quote)}, header=true, auto_detect=false, columns={{{names}}}, "
            f"nullstr=[{missing}], encoding={literal(encoding)}, strict_mode=true, null_padding=false, "
            f"ignore_errors=false, max_line_size=10000000)"
        )

    def _transcode(self, path: Path, encoding: str) -> Path:
        """A UTF-8 copy of a file in an encoding that DuckDB cannot read."""
        copy = self._folder() / "utf8.csv"
        try:
            with (
                open(path, encoding=encoding, newline="") as read,
                open(copy, "w", encoding="utf-8", newline="") as write,
            ):
                shutil.copyfileobj(read, write, 1 << 20)
        except UnicodeDecodeError as error:
            raise wrong_encoding(self.source.name, encoding, error.start) from None
        return copy

    # Asking

    def rows(self) -> int:
        """Number of rows."""
        return int(self._run(f"SELECT count(*) FROM {self._relation}").fetchall()[0][0])

    def count(self, columns: Sequence[str]) -> Counts:
        """How often each combination of the columns' values (as text) occurs."""
        cells = ", ".join(f"CAST({quoted(c)} AS VARCHAR) AS c{i}" for i, c in enumerate(columns))
        keys = ", ".join(f"c{i}" for i in range(len(columns)))
        table = self._arrow(
            f"SELECT {keys}, count(*) AS n FROM (SELECT {cells} FROM {self._relation}) GROUP BY {keys}"
            if columns
            else f"SELECT count(*) AS n FROM {self._relation}"
        )
        dictionaries, codes = [], []
        for i in range(len(columns)):
            encoded = table.column(i).combine_chunks().dictionary_encode(null_encoding="encode")
            dictionaries.append(tuple(encoded.dictionary.to_pylist()))
            codes.append(encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32))
        counts = table.column(len(columns)).to_numpy().astype(np.int64)
        return Counts(tuple(columns), tuple(dictionaries), tuple(codes), counts)

    def unseen(self, recoded: Recoded) -> dict[str, list[str]]:
        """Per translated column, up to five values that its translation does not know."""
        found = {}
        for translation in recoded.translations:
            known = self._keys(translation)
            cell = _key(translation)
            rows = self._run(
                f"SELECT DISTINCT {cell} AS v FROM {self._relation} AS p ANTI JOIN {known} AS k ON {cell} = k.key "
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
        self._run(f"SET temp_directory = {literal(str(self._folder(target.path.parent)))}")
        self._run(f"SET preserve_insertion_order = {'false' if target.order == 'shuffle' else 'true'}")
        query = self._query(recoded, target.order, guard)
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

    def _query(self, recoded: Recoded, order: str, guard: bool) -> str:
        """Join each translated column with its table; keep the selected combinations.

        Labels are ENUMs until the end: the shuffle then sorts bytes instead of texts.
        """
        translated = {t.column: i for i, t in enumerate(recoded.translations)}
        star = recoded.selection.star
        inner, outer, tables = [], [], []
        for t, i in zip(recoded.translations, range(len(translated)), strict=True):
            join = "LEFT JOIN" if star is not None else "JOIN"
            tables.append(f"{join} {self._labels(t, guard)} AS t{i} ON {_key(t)} = t{i}.key")
        chunks = _chunks(recoded.translations)
        selected = ""
        if recoded.selection.kept is not None:
            kept = self._kept(recoded.selection, chunks)
            on = " AND ".join(
                f"({' + '.join(f't{i}.code * {s}' for i, s in chunk) or '0'}) = s.k{n}"
                for n, chunk in enumerate(chunks)
            )
            selected = f"{'LEFT JOIN' if star is not None else 'JOIN'} {kept} AS s ON {on or 'true'}"
        for name in self.header:
            if name in recoded.dropped:
                continue
            column = quoted(name)
            text = name in translated or self.types[name] == "VARCHAR"
            if name in recoded.starred:
                cell, shown = literal(ROOT), column
            elif name in translated:
                cell, shown = f"t{translated[name]}.label", f"CAST({column} AS VARCHAR)"
            else:
                cell, shown = f"p.{column}", column
                if guard and text:
                    shown = (
                        f"CASE WHEN regexp_matches({column}, {literal(GUARDED)}) AND TRY_CAST({column} AS DOUBLE) IS NULL "
                        f"THEN '''' || {column} ELSE {column} END"
                    )
            if star is not None and name in star and recoded.selection.kept is not None:
                cell = f"CASE WHEN s.k0 IS NULL THEN {literal(ROOT)} ELSE CAST({cell} AS VARCHAR) END"
            inner.append(f"{cell} AS {column}")
            outer.append(f"{shown} AS {column}")
        rows = f"SELECT {', '.join(inner)}"
        if order == "keep":
            numbered = f"(SELECT *, row_number() OVER () AS velado_row FROM {self._relation})"
            body = f"{rows} FROM {numbered} AS p {' '.join(tables)} {selected} ORDER BY p.velado_row"
        else:
            body = f"{rows} FROM {self._relation} AS p {' '.join(tables)} {selected}"
            if order == "shuffle":
                body += " ORDER BY random()"
        query = f"SELECT {', '.join(outer)} FROM ({body})"
        return query + " ORDER BY ALL" if order == "sorted" else query

    def _keys(self, t: Translation) -> str:
        import pyarrow as pa

        return self._register(pa.table({"key": pa.array([ABSENT if k is None else k for k in t.keys], pa.string())}))

    def _labels(self, t: Translation, guard: bool) -> str:
        """A table key → label (an ENUM where that is small) and code."""
        import re

        import pyarrow as pa

        def shown(label: str | None) -> str | None:
            risky = label is not None and guard and re.match(GUARDED, label) and not _is_number(label)
            return f"'{label}" if risky else label

        labels = [shown(x) for x in t.labels]
        keys = pa.array([ABSENT if k is None else k for k in t.keys], pa.string())
        name = self._register(pa.table({"key": keys, "label": pa.array([labels[c] for c in t.codes], pa.string()),
                                        "code": pa.array(t.codes.astype(np.int64))}))  # fmt: skip
        present = list(dict.fromkeys(x for x in labels if x is not None))
        made = f"{name}_labels"
        cast = "label"
        if 0 < len(present) <= MOST_ENUM:
            words = self._register(pa.table({"word": pa.array(present, pa.string())}))
            self._run(f"CREATE TYPE {made}_enum AS ENUM (SELECT word FROM {words})")
            cast = f"CAST(label AS {made}_enum) AS label"
        self._run(f"CREATE TEMP TABLE {made} AS SELECT key, {cast}, code FROM {name}")
        return made

    def _kept(self, selection: Selection, chunks: list[list[tuple[int, int]]]) -> str:
        import pyarrow as pa

        assert selection.kept is not None
        kept = selection.kept.astype(np.int64)
        columns = {}
        for n, chunk in enumerate(chunks):
            key = np.zeros(len(kept), dtype=np.int64)
            for i, stride in chunk:
                key += kept[:, i] * stride
            columns[f"k{n}"] = pa.array(key)
        return self._register(pa.table(columns or {"k0": pa.array([0])}))

    # Plumbing

    def fingerprint(self) -> str | None:
        """SHA-256 of the input file; None for tables in memory."""
        if self.source.path is None:
            return None
        with open(self.source.path, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()

    def close(self) -> None:
        """Close the connection and remove temporary files."""
        self.connection.close()
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)
            self._temporary = None

    def __enter__(self) -> DuckDBTable:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _folder(self, beside: Path | None = None) -> Path:
        if self._temporary is None:
            writable = beside is not None and os.access(beside, os.W_OK)
            self._temporary = Path(tempfile.mkdtemp(prefix=".velado-", dir=beside if writable else None))
        return self._temporary

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
            raise self._error(error) from None

    def _batches(self, query: str) -> Any:
        import duckdb

        try:
            return self.connection.sql(query).to_arrow_reader(100_000)
        except duckdb.Error as error:
            raise self._error(error) from None

    def _run(self, query: str) -> Any:
        import duckdb

        try:
            return self.connection.execute(query)
        except duckdb.Error as error:
            raise self._error(error) from None

    def _error(self, error: Exception) -> BaseException:
        """DuckDB's error in our words."""
        import re

        text = str(error)
        name = self.source.name
        if "INTERRUPT" in text or "Interrupted" in text:
            return KeyboardInterrupt()
        line = re.search(r"CSV Error on Line: (\d+)", text)
        where = f"line {line.group(1)}" if line else "a line"
        counts = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text)
        if counts:
            wanted, got = counts.groups()
            return InputError(
                "ragged-row", f"{where} has {got} fields, the header has {wanted}", file=name,
                hint="Mend that line, or name the delimiter and the quote character of the file.",
            )  # fmt: skip
        if "unterminated quote" in text.lower() or "Value with unterminated quote" in text:
            return InputError("ragged-row", f"{where} has a quote that is never closed", file=name)
        if "encoded" in text or "unicode" in text.lower() or "utf-8" in text.lower():
            return wrong_encoding(name, self.dialect.encoding if self.dialect else "UTF-8")
        if "No space left" in text or "File too large" in text or ("disk" in text.lower() and "full" in text.lower()):
            return InputError(
                "disk-full", "the disk is full; nothing was published", hint="Free space, or write elsewhere."
            )
        if line or "CSV" in text:
            return InputError("unreadable-file", f"{where} cannot be read: {text.splitlines()[0]}", file=name)
        if "Parquet" in text or "parquet" in text:
            return InputError("unreadable-file", "not a readable Parquet file", file=name)
        if "Permission denied" in text:
            return InputError("unwritable-output", "no permission to write there", hint="Choose another output path.")
        return InputError("engine-error", text.splitlines()[0])


def _key(t: Translation) -> str:
    cell = f"CAST({quoted(t.column)} AS VARCHAR)"
    return f"coalesce({cell}, {literal(ABSENT)})" if None in t.keys else cell


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _chunks(translations: Sequence[Translation]) -> list[list[tuple[int, int]]]:
    """Columns with strides, in groups whose mixed-radix keys fit 62 bits."""
    chunks: list[list[tuple[int, int]]] = []
    domain = 1 << 63
    for i, t in enumerate(translations):
        size = max(len(t.labels), 1)
        if domain * size >= 1 << 62:
            chunks.append([])
            domain = 1
        chunks[-1].append((i, domain))
        domain *= size
    return chunks
