"""Where tables live: engines count, recode and write them there."""

from velado.tables.address import Address, TableName
from velado.tables.contract import (
    Capability,
    Cut,
    Engine,
    Evidence,
    Identity,
    Part,
    PartCount,
    PartMarginal,
    Published,
    Slot,
    Solved,
    Split,
    Spread,
    Stage,
    Table,
)
from velado.tables.counts import NOBODY, Counts, Groups
from velado.tables.header import Header, unknown_column
from velado.tables.kinds import in_kind_of
from velado.tables.listing import Listed
from velado.tables.plan import Dealing, Noise, Plan, Selection, Translation
from velado.tables.registry import ENGINES, check_sinks, engine_of, list_tables, open_stage, open_table
from velado.tables.session import MEMORY, Session
from velado.tables.sink import IF_EXISTS, ORDERS, Sink, delimiter_of
from velado.tables.source import Source
from velado.tables.types import ColumnType, Field

__all__ = [
    "ENGINES",
    "IF_EXISTS",
    "MEMORY",
    "NOBODY",
    "ORDERS",
    "Address",
    "Capability",
    "ColumnType",
    "Counts",
    "Cut",
    "Dealing",
    "Engine",
    "Evidence",
    "Field",
    "Groups",
    "Header",
    "Identity",
    "Listed",
    "Noise",
    "Part",
    "PartCount",
    "PartMarginal",
    "Plan",
    "Published",
    "Selection",
    "Session",
    "Sink",
    "Slot",
    "Solved",
    "Source",
    "Split",
    "Spread",
    "Stage",
    "Table",
    "TableName",
    "Translation",
    "check_sinks",
    "delimiter_of",
    "engine_of",
    "in_kind_of",
    "list_tables",
    "open_stage",
    "open_table",
    "unknown_column",
]
