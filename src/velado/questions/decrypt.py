"""Restore encrypted columns for whoever has the key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from velado.errors import InputError
from velado.operations import decrypted, read_key
from velado.project.document import Output
from velado.tables import Recoded, Selection, Source, Table, Target, Translation, open_table, unknown_column
from velado.tables.publication.publish import published
from velado.values import ROOT


@dataclass(frozen=True)
class Decrypted:
    """A table whose encrypted columns were restored: how many different values of each. It names people again."""

    rows: int
    columns: dict[str, int]
    output: Path | None = None
    table: Any = None

    def as_dict(self) -> dict[str, Any]:
        """The JSON of ``velado decrypt``."""
        return {"rows": self.rows, "columns": self.columns, "output": None if self.output is None else str(self.output)}


def decrypt(
    data: Any, columns: Sequence[str] | Mapping[str, str], key: str, *, output: str | Path | None = None
) -> Decrypted:
    """Restore columns that ``operation: encrypt`` made; nothing is written unless every token opens.

    ``columns`` maps columns to their attributes where these have other names; ``key`` is ``env:VARIABLE`` or
    ``file:PATH``. Missing and suppressed cells stay as they are. Rows keep their order, other columns their values.
    """
    attributes = dict(columns) if isinstance(columns, Mapping) else {name: name for name in columns}
    if not attributes:
        raise InputError("no-column", "name the column to restore", hint="--column NAME")
    secret = read_key(key)
    target = Output(Path(output)) if output is not None else Output()
    with open_table(data) as table:
        _check(table, attributes, target.path)
        translations = tuple(_restored(table, name, attribute, secret) for name, attribute in attributes.items())
        recoded = Recoded((), Selection(), replaced=translations)
        counts = {t.column: sum(k not in (None, ROOT) for k in t.keys) for t in translations}
        if target.path is None:
            return Decrypted(table.rows(), counts, table=table.fetch(recoded))
        delimiter = "\t" if target.path.suffix.lower() in (".tsv", ".tab") else ","
        delimiter = table.dialect.delimiter if table.dialect and delimiter == "," else delimiter
        with published([target.path], private=[target.path]) as temporary:
            # Texts of the release carry their guarding apostrophes already.
            table.write(recoded, Target(temporary[0], delimiter, "keep", guard=False))
        return Decrypted(table.rows(), counts, target.path)


def _check(table: Table, columns: Mapping[str, str], output: Path | None) -> None:
    for name in columns:
        if name not in table.header:
            raise unknown_column(name, table.header, tuple(columns), table.source.name)
    read = Source.of(table.source).path
    if output is not None and read is not None and output.resolve() == read.resolve():
        raise InputError("output-is-input", "the output would replace the input", file=output)


def _restored(table: Table, name: str, attribute: str, key: bytes) -> Translation:
    cells = table.count([name]).dictionaries[0]
    tokens = [c for c in cells if c is not None and c != ROOT]
    values = dict(zip(tokens, decrypted(tokens, key, name, attribute), strict=True))
    labels = tuple(c if c is None else values.get(c, c) for c in cells)
    return Translation(name, cells, np.arange(len(cells)), labels)
