"""Open files and tables in memory for DuckDB."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
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
from velado.tables.formats.names import names_of
from velado.tables.formats.xlsx import read_xlsx
from velado.tables.source import Source
from velado.tables.sql.dialect import literal
from velado.tables.sql.table import inner_names

MIXED = "mixed"
"""What a column is called whose cells are of several kinds."""


@dataclass(frozen=True, repr=False)
class Opened(Discreet):
    """A relation in SQL with columns c0, c1, …, or an Arrow table to be registered, and its header.

    ``written`` are the names as the first line of a file says them, if it says any; ``text`` is the file that DuckDB reads
    where it is a text table; ``others`` are the types of columns that are not read.
    """

    header: list[str]
    relation: str | None = None
    table: Any = None
    dialect: Dialect | None = None
    text: Path | None = None
    written: tuple[str, ...] = ()
    others: Mapping[int, str] = field(default_factory=dict)


def open_source(source: Source, folder: Path, progress: Progress) -> Opened:
    """Open a source; ``folder`` is for temporary files."""
    kind = source.kind()
    if kind == "memory":
        return _in_memory(*_arrow_of(source.data), source.name, source.names)
    path = source.check_file()
    if kind == "parquet":
        return _parquet(path, source.names)
    if kind == "xlsx":
        table, header, written = read_xlsx(path, source)
        return Opened(header, table=table.rename_columns(inner_names(len(header))), written=tuple(written))
    if kind == "arrow":
        return _in_memory(read_arrow(path), {}, path, source.names)
    return _csv(source, path, folder, progress)


def _in_memory(table: Any, mixed: Mapping[int, str], name: Path | str, names: str) -> Opened:
    header = names_of([str(n) for n in table.schema.names], names, name)
    table, others = readable(table, name)
    return Opened(header, table=table.rename_columns(inner_names(len(header))), others={**others, **mixed})


def _arrow_of(data: Any) -> tuple[Any, dict[int, str]]:
    """A table in memory as Arrow; of columns that Arrow does not hold, their types, and nothing else."""
    import pyarrow as pa

    module, kind = type(data).__module__.split(".")[0], type(data).__name__
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data]), {}
    if isinstance(data, pa.Table):
        return data, {}
    if module == "polars" and kind in ("DataFrame", "LazyFrame"):
        frame = data.collect() if kind == "LazyFrame" else data
        return _of_columns((c.name, MIXED, partial(_of_polars, c)) for c in frame.get_columns())
    if module == "pandas" and kind == "DataFrame":
        return _of_columns(
            (str(name), MIXED if column.dtype == object else str(column.dtype), partial(_of_pandas, column))
            for name, column in data.items()
        )
    if isinstance(data, Mapping):
        if len({len(column) for column in data.values()}) > 1:
            raise InputError("unreadable-table", "the columns have different numbers of rows")
        return _of_columns((str(name), MIXED, partial(pa.array, column)) for name, column in data.items())
    raise InputError(
        "unknown-table",
        Sentence("cannot read a table from {kind}", kind=kind),
        hint="Give a path, or a pandas, Polars or Arrow table.",
    )


def _of_columns(columns: Iterable[tuple[str, str, Callable[[], Any]]]) -> tuple[Any, dict[int, str]]:
    """A table of columns, each with its name, its type and what makes an Arrow array of it, where it is one."""
    import pyarrow as pa

    names, arrays, others = [], [], {}
    for i, (name, kind, make) in enumerate(columns):
        names.append(name)
        try:
            arrays.append(make())
        except (pa.ArrowException, TypeError, ValueError):
            others[i] = kind
            arrays.append(None)
    rows = max((len(a) for a in arrays if a is not None), default=0)
    return pa.table([pa.nulls(rows) if a is None else a for a in arrays], names=names), others


def _of_polars(column: Any) -> Any:
    """A column of Polars; objects of Python are none of Arrow."""
    if str(column.dtype) == "Object":
        raise TypeError
    return column.to_arrow()


def _of_pandas(column: Any) -> Any:
    """A column of pandas; intervals and periods are known by their texts, and what is stored sparsely is written out."""
    import pyarrow as pa

    kind = str(getattr(column.dtype, "categories", column).dtype)
    if kind.startswith(("interval", "period")):
        # Arrow would store periods as numbers of their own: a month as those since 1970.
        column = column.map(str, na_action="ignore").astype(object)
    elif kind.startswith("Sparse"):
        column = column.sparse.to_dense()
    return pa.Array.from_pandas(column)


def _parquet(path: Path, rule: str) -> Opened:
    import pyarrow as pa
    import pyarrow.parquet

    try:
        header = list(pyarrow.parquet.read_schema(path).names)
    except (pa.ArrowException, OSError, ValueError, KeyError):
        raise InputError("unreadable-file", "not a readable Parquet file", file=path) from None
    return Opened(*_name_columns(header, rule, path, path))


def parquet_relation(path: Path, rule: str, name: str) -> tuple[list[str], str]:
    """The names of the columns of a Parquet file of our own, and the file in SQL; errors call it by another name."""
    import pyarrow.parquet

    return _name_columns(list(pyarrow.parquet.read_schema(path).names), rule, name, path)


def _name_columns(header: list[str], rule: str, name: Path | str, path: Path) -> tuple[list[str], str]:
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
