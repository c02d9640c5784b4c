"""Restore encrypted columns for whoever has the key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from velado.errors import InputError
from velado.operations import decrypt_tokens, read_key
from velado.progress import Progress
from velado.project import Output, output_of
from velado.project.arguments import names_of
from velado.results import UNSAID, Result
from velado.tables import Plan, Selection, Session, Sink, Table, Translation, in_kind_of, open_stage, open_table, unknown_column
from velado.values import ROOT


@dataclass(frozen=True, repr=False)
class Decrypted(Result):
    """A table whose encrypted columns were restored: how many different values of each. It names people again."""

    SCHEMA: ClassVar[str] = "velado-decrypted-1"
    rows: int
    columns: dict[str, int]
    output: Path | str | None = None
    table: Any = field(default=None, metadata=UNSAID)

    def summary(self) -> dict[str, Any]:
        """The records, and how many different values of each column were restored."""
        return {"rows": self.rows, **{f"values of {name}": count for name, count in self.columns.items()}}


def decrypt(
    data: Any,
    columns: str | Sequence[str] | Mapping[str, str],
    key: str,
    *,
    output: str | Path | Mapping[str, Any] | Output | None = None,
    progress: Progress | None = None,
) -> Decrypted:
    """Restore columns that ``operation: encrypt`` made; nothing is written unless every token opens.

    ``columns`` maps columns to their attributes where these have other names; ``key`` is ``env:VARIABLE`` or
    ``file:PATH``. Missing and suppressed cells stay as they are. Rows keep their
    order, except in databases, other columns their values.
    """
    attributes = dict(columns) if isinstance(columns, Mapping) else {name: name for name in names_of(columns)}
    if not attributes:
        raise InputError("no-column", "name the column to restore", hint="--column NAME")
    secret = read_key(key)
    # Texts of the release carry their guarding apostrophes already.
    target = replace(output_of(output), guard=False)
    target = target if target.database is not None else replace(target, order="keep")
    follow = (progress or Progress()).through(open=1, decrypt=4, write=4, publish=1)
    session = Session(follow("open"), scratch=target.scratch)
    with open_table(data, session=session) as table:
        sink = target.sink(None if table.dialect is None else table.dialect.delimiter)
        _check(table, attributes, sink)
        follow("decrypt")
        translations = tuple(_decrypt_column(table, name, attribute, secret) for name, attribute in attributes.items())
        plan = Plan((), Selection(), replaced=translations)
        counts = {t.column: sum(k not in (None, ROOT) for k in t.keys) for t in translations}
        with open_stage([replace(sink, evidence=False, private=True)], session) as stage:
            follow("write")
            table.write(plan, stage.slots[0])
            table.check_unchanged()
            rows = table.rows()
            follow("publish")
            (published,) = stage.publish()
        return Decrypted(rows, counts, published.path, in_kind_of(table.source.data, published.table))


def _check(table: Table, columns: Mapping[str, str], sink: Sink) -> None:
    for name in columns:
        if name not in table.header:
            raise unknown_column(name, table.header, tuple(columns), table.name)
    if sink.replaces(table.source):
        raise InputError("output-is-input", "the output would replace the input", file=sink.name)


def _decrypt_column(table: Table, name: str, attribute: str, key: bytes) -> Translation:
    cells = table.count([name]).dictionaries[0]
    tokens = [c for c in cells if c is not None and c != ROOT]
    values = dict(zip(tokens, decrypt_tokens(tokens, key, name, attribute), strict=True))
    labels = tuple(c if c is None else values.get(c, c) for c in cells)
    return Translation(name, cells, np.arange(len(cells)), labels)
