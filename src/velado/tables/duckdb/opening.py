"""Open files and tables in memory for DuckDB."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from velado.errors import InputError
from velado.progress import Progress
from velado.results import Discreet
from velado.sentences import Sentence
from velado.tables.duckdb.dialect import file_literal
from velado.tables.duckdb.errors import LARGEST_LINE
from velado.tables.duckdb.types import readable
from velado.tables.formats.arrow import read_arrow
from velado.tables.formats.csv import Dialect, sniff
from velado.tables.formats.csv_fields import check_fields
from velado.tables.formats.csv_lines import plain_text
from velado.tables.formats.names import names_of, numbered
from velado.tables.formats.xlsx import read_xlsx
from velado.tables.source import Source
from velado.tables.sql.dialect import literal
from velado.tables.sql.table import inner_names


@dataclass(frozen=True, repr=False)
class Opened(Discreet):
    """A relation in SQL with columns c0, c1, …, or an Arrow table to be registered, and its header.

    ``written`` are the names as the first line of a file says them, if it says any; ``text`` is the file that DuckDB reads
    where it is a text table.
    """

    header: list[str]
    relation: str | None = None
    table: Any = None
    dialect: Dialect | None = None
    text: Path | None = None
    written: tuple[str, ...] = ()


def open_source(source: Source, folder: Path, progress: Progress) -> Opened:
    """Open a source; ``folder`` is for temporary files."""
    kind = source.kind()
    if kind == "memory":
        return _in_memory(_arrow_of(source.data), source.name, source.names)
    path = source.check_file()
    if kind == "parquet":
        return _parquet(path, source.names)
    if kind == "xlsx":
        table, header, written = read_xlsx(path, source)
        return Opened(header, table=table.rename_columns(inner_names(len(header))), written=tuple(written))
    if kind == "arrow":
        return _in_memory(read_arrow(path), path, source.names)
    return _csv(source, path, folder, progress)


def _in_memory(table: Any, name: Path | str, names: str) -> Opened:
    header = names_of([str(n) for n in table.schema.names], names, name)
    table = readable(table, name)
    return Opened(header, table=table.rename_columns(inner_names(len(header))))


def _arrow_of(data: Any) -> Any:
    import pyarrow as pa

    module, kind = type(data).__module__.split(".")[0], type(data).__name__
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if isinstance(data, pa.Table):
        return data
    if module == "polars" and kind in ("DataFrame", "LazyFrame"):
        return (data.collect() if kind == "LazyFrame" else data).to_arrow()
    if module == "pandas" and kind == "DataFrame":
        names = [str(c) for c in data.columns]
        named = data.set_axis(numbered(names) if len(set(names)) < len(names) else names, axis=1)
        try:
            return pa.Table.from_pandas(named, preserve_index=False).rename_columns(names)
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise InputError(
                "unreadable-table", Sentence("a column mixes kinds of values: {why}", why=error.args[-1]),
                hint="Convert the column to one type, for example text.",
            ) from None  # fmt: skip
    raise InputError(
        "unknown-table",
        Sentence("cannot read a table from {kind}", kind=kind),
        hint="Give a path, or a pandas, Polars or Arrow table.",
    )


def _parquet(path: Path, rule: str) -> Opened:
    import pyarrow as pa
    import pyarrow.parquet

    try:
        header = list(pyarrow.parquet.read_schema(path).names)
    except (pa.ArrowException, OSError, ValueError, KeyError):
        raise InputError("unreadable-file", "not a readable Parquet file", file=path) from None
    return Opened(*_named(header, rule, path, path))


def parquet_relation(path: Path, rule: str, name: str) -> tuple[list[str], str]:
    """The names of the columns of a Parquet file of our own, and the file in SQL; errors call it by another name."""
    import pyarrow.parquet

    return _named(list(pyarrow.parquet.read_schema(path).names), rule, name, path)


def _named(header: list[str], rule: str, name: Path | str, path: Path) -> tuple[list[str], str]:
    header = names_of(header, rule, name)
    names = ", ".join(inner_names(len(header)))
    return header, f"read_parquet({file_literal(path)}, hive_partitioning=false) AS f({names})"


def _csv(source: Source, path: Path, folder: Path, progress: Progress) -> Opened:
    delimiter = source.delimiter
    if delimiter is None and path.suffix.lower() in (".tsv", ".tab"):
        delimiter = "\t"
    dialect = sniff(path, delimiter, source.quote, source.encoding, source.header, source.skip, source.names)
    plain = plain_text(path, dialect, folder, progress)
    check_fields(plain.path, path, dialect, progress)
    names = ", ".join(f"{n}: 'VARCHAR'" for n in inner_names(len(dialect.header)))
    # Told that lines end in two characters it reads them wrongly; it finds that out itself.
    end = f"new_line={literal(plain.end.encode('unicode_escape').decode())}, " if len(plain.end) == 1 else ""
    relation = (
        f"read_csv({file_literal(plain.path)}, delim={literal(dialect.delimiter)}, quote={literal(dialect.quote)}, "
        f"escape={literal(dialect.quote)}, header={'true' if dialect.written else 'false'}, auto_detect=false, {end}columns={{{names}}}, "
        f"hive_partitioning=false, compression='none', nullstr='', strict_mode=true, null_padding=false, ignore_errors=false, max_line_size={LARGEST_LINE})"
    )
    return Opened(list(dialect.header), relation, dialect=dialect, text=plain.path, written=dialect.written)
