"""Engines read, count, recode and write tables where the data live."""

from velado.engines.base import Counts, Dealing, Noise, Recoded, Selection, Table, Target, Translation
from velado.engines.duckdb import DuckDBTable, open_table
from velado.engines.header import Header, unknown_column
from velado.engines.source import Source

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
