"""Explorations as the web process reads them: the head in the store, all nodes in an Arrow file that the job wrote.

Who may not read records gets figures in which small counts are gone, and with them what tells of them: the share of
suppressed records, the highest risk.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from velado.errors import suggest
from velado.questions.exploration import PLAIN, SORTS, STATUSES, Levels
from velado.sentences import Sentence
from velado.service.blurring import FEWER, SMALL
from velado.service.errors import Invalid, NotFound
from velado.service.masking import AVERAGE, BY_RELEASED, BY_SMALLEST, OF_PEOPLE

FILE = "nodes.arrow"
BATCH = 10_000
"""Nodes that are masked at once."""
SMALL_COUNTS = ("suppressed", "smallest", "largest", "average", "k")
TOLD_BY: Mapping[str, str] = {"share": "suppressed", "highest_risk": "smallest", "average_risk": "average"}
"""Figures that give a count away."""


def table_of(folder: Path, *, masked: bool) -> pa.Table:
    """All nodes, in lexicographic order; nothing is read before it is looked at."""
    try:
        found = pa.ipc.open_file(pa.memory_map(str(folder / FILE))).read_all()
    except (OSError, pa.ArrowInvalid):
        raise NotFound() from None
    return without_small(found) if masked else found


def without_small(table: pa.Table) -> pa.Table:
    """The nodes with nulls in the place of counts of one or two people, and of what tells of them.

    Columns ``small(…)`` say which they are, since there are other nulls, too: where one or two records are suppressed, figures
    that have the number of the released ones in them.
    """
    small = {name: _small(table[name]) for name in SMALL_COUNTS if name in table.column_names}
    for name in table.column_names:
        model = name.partition("(")[2].rstrip(")").partition(" ")[0]
        if name.startswith(("achieved(", "reached(")) and model in OF_PEOPLE:
            # Of the released classes, and of all of them: the smallest gives the others away.
            small[name] = small["smallest" if name.startswith("achieved(") else "k"]
    small |= {name: small[count] for name, count in TOLD_BY.items() if count in small and name in table.column_names}
    for name, where in (*small.items(), *_telling(table)):
        column = table[name]
        hidden = pc.if_else(where, pa.scalar(None, column.type), column)
        table = table.set_column(table.column_names.index(name), name, hidden)
    for name, where in small.items():
        table = table.append_column(f"small({name})", where)
    return table.replace_schema_metadata({**(table.schema.metadata or {}), b"velado.small": FEWER.encode()})


def _telling(table: pa.Table) -> Iterator[tuple[str, Any]]:
    """Figures by which the number of suppressed records is known, and the nodes where it is one or two."""
    few = _small(table["suppressed"])
    alone = pc.and_(few, pc.invert(pc.fill_null(pc.greater_equal(table["classes"], 2), False)))
    for name in table.column_names:
        figure, _, model = name.partition("(")
        if figure in BY_RELEASED or (figure == "achieved" and model.startswith(AVERAGE)):
            yield name, few
        elif figure in BY_SMALLEST:
            yield name, alone


def _small(column: Any) -> Any:
    return pc.fill_null(pc.and_(pc.greater(column, 0), pc.less(column, SMALL)), False)


def masked_blocks(table: pa.Table) -> Iterator[bytes]:
    """The Arrow file of the nodes without small counts, part by part: only one part is in memory at a time."""
    sent = _Sent()
    with pa.ipc.new_file(pa.PythonFile(sent, "w"), without_small(table.slice(0, 0)).schema) as writer:
        for first in range(0, table.num_rows, BATCH):
            writer.write_table(without_small(table.slice(first, BATCH)))
            yield sent.taken()
    yield sent.taken()


class _Sent(io.RawIOBase):
    """Takes what is written until it is sent."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        self._parts.append(bytes(data))
        return len(self._parts[-1])

    def taken(self) -> bytes:
        """What was written since it was asked for last."""
        parts, self._parts = self._parts, []
        return b"".join(parts)


def chosen(table: pa.Table, status: Sequence[str], sort: str, top: int | None) -> pa.Table:
    """The nodes with one of the statuses, in order; satisfying ones include the minimal ones and the optimal one.

    Nodes without the figure by which they are sorted come last, ties by objective, height and level vector.
    """
    for word, known, path in (*((w, STATUSES, "status") for w in status), (sort, SORTS, "sort")):
        if word not in known:
            message = Sentence("'{word}' is none of: {known}", word=word, known=list(known))
            raise Invalid("bad-option", message, hint=suggest(word, known), fields={"path": path})
    table = table.append_column("number", pa.array(np.arange(table.num_rows)))
    if status:
        mask = _having(table, status[0])
        for word in status[1:]:
            mask = pc.or_(mask, _having(table, word))
        table = table.filter(mask)
    if sort != "levels":
        keys = dict.fromkeys((sort, "objective", "height", "number"))
        table = table.sort_by([(key, "ascending") for key in keys])
    return table if top is None else table.slice(0, top)


def _having(table: pa.Table, status: str) -> Any:
    if status == "minimal":
        return table["minimal"]
    number = STATUSES.index(status)
    return pc.less_equal(table["status"], number) if status == "satisfying" else pc.equal(table["status"], number)


def rows(table: pa.Table, head: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Nodes as JSON; what is too small to be told is a text."""
    columns, whole = head["columns"], frozenset(head.get("whole", ()))
    found = []
    for row in table.to_pylist():
        told = {
            name: FEWER
            if row.get(f"small({name})")
            else int(value)
            if name in whole and isinstance(value, float)
            else value
            for name, value in row.items()
        }
        found.append({
            "levels": [row[f"level({c})"] for c in columns], "height": row["height"], "minimal": bool(row["minimal"]),
            "status": STATUSES[row["status"]], **{name: told.get(name) for name in PLAIN},
            "achieved": _of(told, "achieved("), "reached": _of(told, "reached("),
        })  # fmt: skip
    return found


def _of(row: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    return {name[len(prefix) : -1]: value for name, value in row.items() if name.startswith(prefix)}


def vector(text: str, head: Mapping[str, Any], path: str = "levels") -> Levels:
    """A level vector such as ``1,0,2`` of the lattice."""
    parts = text.split(",")
    sizes = head["levels"]
    fits = len(parts) == len(sizes) and all(
        p.isascii() and p.isdecimal() and len(p) < 6 and int(p) < n for p, n in zip(parts, sizes, strict=True)
    )
    if not fits:
        ranges = ", ".join(f"{c} 0–{n - 1}" for c, n in zip(head["columns"], sizes, strict=True))
        raise Invalid(
            "bad-node", "the lattice has no such node",
            hint=Sentence("A node has the level of each column: {ranges}.", ranges=ranges), fields={"path": path},
        )  # fmt: skip
    return tuple(map(int, parts))


def fixed(document: Mapping[str, Any], head: Mapping[str, Any], levels: Levels) -> dict[str, Any]:
    """The document that releases a node: its levels, and no more suppressed records than the exploration allowed."""
    chosen = dict(zip(head["columns"], levels, strict=True))
    return {**document, "method": {"fixed": {"levels": chosen, "suppression": f"{int(head['limit'])} records"}}}
