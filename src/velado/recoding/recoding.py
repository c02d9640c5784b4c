"""Full-domain recodings with suppression."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from velado.engines import Recoded, Selection, Table, Translation, open_table
from velado.errors import InputError
from velado.frequency import Classes, Sensitive
from velado.values import Text

VERSION = 1


@dataclass(frozen=True)
class ColumnRecoding:
    """Every known value of a column and its label at the chosen level."""

    name: str
    level: int
    values: tuple[Text, ...]
    codes: np.ndarray
    labels: tuple[Text, ...]


@dataclass(frozen=True)
class Applied:
    """A table after a recoding: what was kept, how many records were not, and values never seen before."""

    table: Any
    kept: int
    suppressed: int
    unseen: dict[str, list[str]]


@dataclass(frozen=True)
class Recoding:
    """Levels per column and the classes that may be released.

    ``kept`` lists the released classes as group codes, one row each. A row whose values are unknown or
    whose class was not released is suppressed, and a column that the release did not have is left out: re-applying
    to new rows fails closed.
    """

    columns: tuple[ColumnRecoding, ...]
    kept: np.ndarray
    identifiers: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        classes: Classes,
        levels: Sequence[int],
        kept: np.ndarray,
        identifiers: Sequence[str],
        dropped: Sequence[str],
        passed: Sequence[str],
    ) -> Recoding:
        """The recoding of a lattice node and its released classes."""
        frequency = classes.frequency
        columns = tuple(
            ColumnRecoding(h.column, int(level), h.leaves, h.maps[level].astype(np.int64), h.labels[level])
            for h, level in zip(frequency.hierarchies, levels, strict=True)
        )
        members = frequency.codes[classes.rows[kept]]
        groups = np.array([c.codes[members[:, j]] for j, c in enumerate(columns)], dtype=np.int64)
        groups = groups.T.reshape(int(kept.sum()), len(columns))
        ordered = groups[np.lexsort(groups.T[::-1])] if len(columns) else groups
        return cls(columns, ordered, tuple(identifiers), tuple(dropped), tuple(passed))

    @property
    def levels(self) -> dict[str, int]:
        """Level of each quasi-identifier."""
        return {c.name: c.level for c in self.columns}

    def recoded(self, suppressed: str = "drop", sensitive: Sequence[Sensitive] = ()) -> Recoded:
        """The recoding as an engine applies it; ``sensitive`` columns pass unless their record is starred."""
        known = {s.column: s.labels for s in sensitive}
        star = (*(c.name for c in self.columns), *known) if suppressed == "star" else None
        return Recoded(
            tuple(Translation(c.name, c.values, c.codes, c.labels) for c in self.columns),
            Selection(self.kept, star),
            self.identifiers,
            self.dropped,
            tuple(known.items()),
        )

    def apply(self, rows: Any) -> Applied:
        """Recode new rows: a path, or a pandas, Polars or Arrow table (returned in kind).

        >>> import pyarrow as pa
        >>> from velado import Column, KAnonymity, anonymize
        >>> people = pa.table({"age": ["31", "38", "52", "57"], "ill": ["a", "b", "a", "b"]})
        >>> columns = [Column("age", "quasi-identifier", hierarchy={"intervals": [10]}), Column("ill", "sensitive")]
        >>> release = anonymize(people, columns, [KAnonymity(2)])
        >>> applied = release.recoding.apply(pa.table({"age": ["38", "99"], "ill": ["a", "c"]}))
        >>> applied.table.column("age").to_pylist(), applied.suppressed, applied.unseen
        (['30-39'], 1, {'age': ['99']})
        """
        table = open_table(rows)
        try:
            lacking = [c.name for c in self.columns if c.name not in table.header]
            if lacking:
                raise InputError("unknown-column", "the new rows lack recoded columns: " + ", ".join(lacking))
            return self._apply(table, rows)
        finally:
            table.close()

    def _apply(self, table: Table, given: Any) -> Applied:
        had = {*(c.name for c in self.columns), *self.identifiers, *self.passed}
        recoded = replace(self.recoded(), dropped=tuple(name for name in table.header if name not in had))
        result = table.fetch(recoded)
        kept, total = result.num_rows, table.rows()
        unseen = table.unseen(recoded)
        module = type(given).__module__.split(".")[0]
        if module == "pandas":
            result = result.to_pandas()
        elif module == "polars":
            import polars

            result = polars.from_arrow(result)
        return Applied(result, kept, total - kept, unseen)

    # Saving

    def as_dict(self) -> dict[str, Any]:
        """The whole recoding, JSON-ready."""
        return {
            "velado-recoding": VERSION,
            "columns": [
                {
                    "name": c.name,
                    "level": c.level,
                    "values": list(c.values),
                    "codes": c.codes.tolist(),
                    "labels": list(c.labels),
                }
                for c in self.columns
            ],
            "kept": self.kept.tolist(),
            "identifiers": list(self.identifiers),
            "dropped": list(self.dropped),
            "passed": list(self.passed),
        }

    def save(self, path: str | Path) -> None:
        """Write to a JSON file. It lists the original values of the quasi-identifiers: keep it private."""
        Path(path).write_text(json.dumps(self.as_dict(), ensure_ascii=False), encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Recoding:
        """Read what `save` wrote."""
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
            if data.get("velado-recoding") != VERSION:
                raise InputError("not-a-recoding", "this is not a recoding of this version", file=path)
            columns = tuple(
                ColumnRecoding(
                    c["name"], c["level"], tuple(c["values"]), np.array(c["codes"], dtype=np.int64), tuple(c["labels"])
                )
                for c in data["columns"]
            )
            kept = np.array(data["kept"], dtype=np.int64).reshape(-1, len(columns))
            return cls(columns, kept, tuple(data["identifiers"]), tuple(data["dropped"]), tuple(data["passed"]))
        except FileNotFoundError:
            raise InputError("missing-file", "file not found", file=path) from None
        except (ValueError, KeyError, AttributeError):
            raise InputError("not-a-recoding", "this is not a saved recoding", file=path) from None

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the recoding."""
        return hashlib.sha256(json.dumps(self.as_dict(), sort_keys=True).encode()).hexdigest()
