"""Engines read, count, recode and write tables where the data live."""

from velado.tables.contract import Counts, Dealing, Noise, Recoded, Selection, Table, Target, Translation
from velado.tables.duckdb.table import DuckDBTable, open_table
from velado.tables.header import Header, unknown_column
from velado.tables.source import Source

__all__ = [
    "Counts",
    "Dealing",
    "DuckDBTable",
    "Header",
    "Noise",
    "Recoded",
    "Selection",
    "Source",
    "Table",
    "Target",
    "Translation",
    "open_table",
    "unknown_column",
]
