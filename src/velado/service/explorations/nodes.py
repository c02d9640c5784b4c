"""Explorations as the web process reads them: the head in the store, all nodes in an Arrow file that the job wrote.

Who may not read records gets figures in which small counts are gone, and with them what tells of them: the share of
suppressed records, the highest risk.
"""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from velado.errors import suggest
from velado.questions.exploration import PLAIN, SORTS, STATUSES, Levels
from velado.sentences import Sentence
from velado.service.access.redaction import FEWER
from velado.service.access.redaction.nodes import redact_nodes
from velado.service.errors import Invalid, NotFound
from velado.service.projects.document import Document

FILE = "nodes.arrow"
BATCH = 10_000
"""Nodes that are masked at once."""


def table_of(folder: Path, *, masked: bool) -> pa.Table:
    """All nodes, in lexicographic order; nothing is read before it is looked at."""
    try:
        found = pa.ipc.open_file(pa.memory_map(str(folder / FILE))).read_all()
    except (OSError, pa.ArrowInvalid):
        raise NotFound() from None
    return redact_nodes(found) if masked else found


def mask_blocks(table: pa.Table) -> Iterator[bytes]:
    """The Arrow file of the nodes without small counts, part by part: only one part is in memory at a time."""
    sent = _Sent()
    with pa.ipc.new_file(pa.PythonFile(sent, "w"), redact_nodes(table.slice(0, 0)).schema) as writer:
        for first in range(0, table.num_rows, BATCH):
            writer.write_table(redact_nodes(table.slice(first, BATCH)))
            yield sent.take()
    yield sent.take()


class _Sent(io.RawIOBase):
    """Takes what is written until it is sent."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        self._parts.append(bytes(data))
        return len(self._parts[-1])

    def take(self) -> bytes:
        """What was written since it was asked for last."""
        parts, self._parts = self._parts, []
        return b"".join(parts)


@dataclass(frozen=True)
class Filter:
    """Which nodes are wanted: with one of the statuses, at most so much loss and so many suppressed records, no level below
    ``lowest`` and none above ``highest``, or exactly the ``nodes`` that are named. A figure that is hidden is not at most
    anything."""

    status: Sequence[str] = ()
    loss: float | None = None
    suppressed: int | None = None
    lowest: Levels | None = None
    highest: Levels | None = None
    nodes: Sequence[Levels] | None = None


def select_nodes(
    table: pa.Table, head: Mapping[str, Any], wanted: Filter, sort: str, top: int | None, *, descending: bool = False
) -> pa.Table:
    """The nodes that are wanted, in order; satisfying ones include the minimal ones and the optimal one.

    Nodes without the figure by which they are sorted come last, ties by objective, height and level vector.
    """
    _check_words((*((w, STATUSES, "status") for w in wanted.status), (sort, SORTS, "sort")))
    table = table.append_column("number", pa.array(np.arange(table.num_rows)))
    if wanted.nodes is not None:
        table = table.take(pa.array(sorted(_number(one, head) for one in set(wanted.nodes)), pa.int64()))
    masks = list(_masks(table, head, wanted))
    if masks:
        table = table.filter(reduce(pc.and_, masks))
    if sort != "levels":
        keys = dict.fromkeys((sort, "objective", "height", "number"))
        table = table.sort_by([(key, "descending" if descending and key == sort else "ascending") for key in keys])
    elif descending:
        table = table.sort_by([("number", "descending")])
    return table if top is None else table.slice(0, top)


def _check_words(words: Iterable[tuple[str, Sequence[str], str]]) -> None:
    """Raise for a word that is none of those that are known."""
    for word, known, path in words:
        if word not in known:
            message = Sentence("'{word}' is none of: {known}", word=word, known=list(known))
            raise Invalid("bad-option", message, hint=suggest(word, known), fields={"path": path})


def _number(levels: Levels, head: Mapping[str, Any]) -> int:
    return int(np.ravel_multi_index(levels, tuple(head["levels"])))


def _masks(table: pa.Table, head: Mapping[str, Any], wanted: Filter) -> Iterator[Any]:
    """What each condition leaves of the nodes."""
    if wanted.status:
        yield reduce(pc.or_, (_having(table, word) for word in wanted.status))
    for name, most in (("loss", wanted.loss), ("suppressed", wanted.suppressed)):
        if most is not None:
            yield pc.less_equal(table[name], most)
    for bound, holds in ((wanted.lowest, pc.greater_equal), (wanted.highest, pc.less_equal)):
        for column, level in zip(head["columns"], bound or (), strict=False):
            yield holds(table[f"level({column})"], level)


def _having(table: pa.Table, status: str) -> Any:
    if status == "minimal":
        return table["minimal"]
    number = STATUSES.index(status)
    return pc.less_equal(table["status"], number) if status == "satisfying" else pc.equal(table["status"], number)


PARTS = ("levels", "height", "status", "minimal")
"""What is told of nodes beside figures."""
DIGITS = 6
"""Significant digits of figures in arrays of JSON."""


def parts_of(table: pa.Table, wanted: Sequence[str]) -> tuple[str, ...]:
    """The arrays that are asked for, in the order of the table; none named: all of them."""
    figures = [name for name in table.column_names if name not in PARTS and not name.startswith(("level(", "small("))]
    known = (*PARTS, *figures)
    _check_words((word, known, "figure") for word in wanted)
    return tuple(name for name in known if not wanted or name in wanted)


def column_pieces(table: pa.Table, head: Mapping[str, Any], parts: Sequence[str], *, masked: bool) -> Iterator[bytes]:
    """All nodes as one JSON object of arrays, piece by piece: only one piece is in memory at a time."""
    seen = redact_nodes if masked else lambda batch: batch
    small = [c.removeprefix("small(")[:-1] for c in seen(table.slice(0, 0)).column_names if c.startswith("small(")]
    whole = frozenset(head.get("whole", ()))

    def array(name: str) -> Iterator[bytes]:
        yield b"["
        for first in range(0, table.num_rows, BATCH):
            yield (b"," if first else b"") + _json_numbers(seen(table.slice(first, BATCH))[name], name in whole)
        yield b"]"

    about = {"nodes": table.num_rows, "columns": head["columns"], "sizes": head["levels"], "statuses": STATUSES}
    yield json.dumps(about, ensure_ascii=False)[:-1].encode()
    for part in parts:
        if part in PARTS[1:]:
            yield b',"%s":' % part.encode()
            yield from array(part)
    groups = {
        "levels": {c: f"level({c})" for c in head["columns"]} if "levels" in parts else {},
        "figures": {name: name for name in parts if name not in PARTS},
        "small": {name: f"small({name})" for name in parts if name in small},
    }
    for group, names in groups.items():
        yield b',"%s":{' % group.encode()
        for i, (key, name) in enumerate(names.items()):
            yield (b"," if i else b"") + json.dumps(key, ensure_ascii=False).encode() + b":"
            yield from array(name)
        yield b"}"
    yield b"}"


def _json_numbers(column: Any, whole: bool) -> bytes:
    """The numbers of an array without its brackets, rounded; null for what is not there or is hidden."""
    whole = whole or not pa.types.is_floating(column.type)
    numbers = column.cast(pa.float64()).to_numpy()
    if not whole:
        numbers = _round_digits(numbers)
    there = np.isfinite(numbers)
    if whole and there.all():
        cells: list[Any] = numbers.astype(np.int64).tolist()
    else:
        cells = [(int(x) if whole else x) if ok else None for x, ok in zip(numbers.tolist(), there.tolist(), strict=True)]
    return json.dumps(cells, separators=(",", ":"))[1:-1].encode()


def _round_digits(numbers: np.ndarray) -> np.ndarray:
    """Numbers with `DIGITS` significant digits, each the nearest one to its decimal: it is written with no more digits."""
    with np.errstate(divide="ignore", invalid="ignore"):
        places = DIGITS - 1 - np.floor(np.log10(np.abs(numbers)))
        factor = 10.0 ** np.clip(np.abs(places), 0, 300)
        found = np.where(places >= 0, np.round(numbers * factor) / factor, np.round(numbers / factor) * factor)
    return np.where(numbers == 0, 0.0, found)


def compress(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Pieces as a stream of gzip."""
    packing = zlib.compressobj(level=5, wbits=31)
    for piece in pieces:
        if done := packing.compress(piece):
            yield done
    yield packing.flush()


def rows(table: pa.Table, head: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Nodes as JSON; what is too small to be told is a text."""
    columns, whole = head["columns"], frozenset(head.get("whole", ()))
    found = []
    for row in table.to_pylist():
        told = {name: FEWER if row.get(f"small({name})") else _json_figure(value, name in whole) for name, value in row.items()}
        found.append(
            {
                "levels": [row[f"level({c})"] for c in columns],
                "height": row["height"],
                "minimal": bool(row["minimal"]),
                "status": STATUSES[row["status"]],
                **{name: told.get(name) for name in PLAIN},
                "achieved": _of(told, "achieved("),
                "reached": _of(told, "reached("),
            }
        )
    return found


def _json_figure(value: Any, whole: bool) -> Any:
    """A figure; null where there is none, which stands as NaN in the file."""
    if not isinstance(value, float):
        return value
    if value != value:
        return None
    return int(value) if whole else value


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
            "bad-node",
            "the lattice has no such node",
            hint=Sentence("A node has the level of each column: {ranges}.", ranges=ranges),
            fields={"path": path},
        )
    return tuple(map(int, parts))


def with_fixed_levels(document: Mapping[str, Any], head: Mapping[str, Any], levels: Levels) -> dict[str, Any]:
    """The document that releases a node: its levels, and no more suppressed records than the exploration allowed."""
    chosen = dict(zip(head["columns"], levels, strict=True))
    method = {"fixed": {"levels": chosen, "suppression": f"{int(head['limit'])} records"}}
    return with_method(document, head.get("table"), method)


def with_method(document: Mapping[str, Any], table: str | None, method: Any) -> dict[str, Any]:
    """A document with another method, of one of its tables if it has several."""
    found = Document(dict(document)).copy()
    if found.is_several and table not in found.tables:
        hint = suggest(table or "", list(found.tables))
        raise Invalid("unknown-table", "which table of the project?", hint=hint, fields={"path": "table"})
    found.table(table if found.is_several else None).put("method", method)
    return found.as_dict()
