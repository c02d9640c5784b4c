"""The nodes of a lattice, of which there may be millions: the rules of the table on the columns of an Arrow table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from velado.models import PEOPLE, RELEASED
from velado.service.access.redaction.conditions import tells, tells_of_few
from velado.service.access.redaction.rules import FEWER, SMALL
from velado.service.access.redaction.table import NODE_BY_RELEASED, NODE_BY_SMALLEST, NODE_COUNTS, NODE_TOLD_BY


def redact_nodes(table: pa.Table) -> pa.Table:
    """The nodes with nulls in the place of counts of one or two people, and of what tells of them.

    Columns ``small(…)`` say which they are, since there are other nulls, too: where one or two records are suppressed, figures
    that have the number of the released ones in them.
    """
    small = {name: _small(table[name]) for name in NODE_COUNTS.split() if name in table.column_names}
    for name in table.column_names:
        figure, _, model = name.partition("(")
        if figure in ("achieved", "reached") and tells(model) in (PEOPLE, RELEASED):
            # Of the released classes, and of all of them: the smallest gives the others away.
            small[name] = small["smallest" if figure == "achieved" else "k"]
    small |= {name: small[count] for name, count in NODE_TOLD_BY.items() if count in small and name in table.column_names}
    for name, where in (*small.items(), *_revealing_figures(table)):
        column = table[name]
        hidden = pc.if_else(where, pa.scalar(None, column.type), column)
        table = table.set_column(table.column_names.index(name), name, hidden)
    for name, where in small.items():
        table = table.append_column(f"small({name})", where)
    return table.replace_schema_metadata({**(table.schema.metadata or {}), b"velado.small": FEWER.encode()})


def _revealing_figures(table: pa.Table) -> Iterator[tuple[str, Any]]:
    """Figures by which the number of suppressed records is known, and the nodes where it is one or two."""
    few = _small(table["suppressed"])
    alone = pc.and_(few, pc.invert(pc.fill_null(pc.greater_equal(table["classes"], 2), False)))
    for name in table.column_names:
        figure, _, model = name.partition("(")
        if figure in NODE_BY_RELEASED or (figure in ("achieved", "reached") and tells_of_few(figure, model)):
            yield name, few
        elif figure in NODE_BY_SMALLEST:
            yield name, alone


def _small(column: Any) -> Any:
    return pc.fill_null(pc.and_(pc.greater(column, 0), pc.less(column, SMALL)), False)
