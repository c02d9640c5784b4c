"""Recodings, full-domain and local, with suppression."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from velado.errors import InputError
from velado.frequency import Classes, FrequencyTable, Portions, Sensitive, distinct_rows
from velado.hierarchies import Cover
from velado.progress import Progress
from velado.results import Discreet
from velado.sentences import Sentence
from velado.tables import ColumnType, Counts, Dealing, Field, Plan, Selection, Session, Table, Translation, open_table
from velado.tables.files import not_found
from velado.values import Text

VERSION = 2
READ = (1, 2)
"""Versions that are read: the first did not hold the project."""
UNKNOWN = -1
"""In the place of a label: the recoding does not say what becomes of the combination."""
PIECE = 100_000


@dataclass(frozen=True, repr=False)
class ColumnRecoding(Discreet):
    """Every known value of a column with its code, and the labels that may be shown.

    Full-domain: the code is that of the label at ``level``. Local: the code is the value's own, ``level`` is None.
    """

    NAMES: ClassVar[tuple[str, ...]] = ("name",)
    name: str
    level: int | None
    values: tuple[Text, ...]
    codes: np.ndarray
    labels: tuple[Text, ...]

    def encode(self, values: Sequence[Text]) -> np.ndarray:
        """The code of each value, `UNKNOWN` of those that are not known."""
        code = dict(zip(self.values, self.codes.tolist(), strict=True))
        return np.array([code.get(v, UNKNOWN) for v in values], dtype=np.int64)

    def of_type(self, field: Field) -> bool:
        """Whether every label is a value of a column of this type."""
        values = set(self.values)
        own = all(x is None or x in values or field.canonical(x) == x for x in self.labels)
        return own and field.type is not ColumnType.TEXT and not self.level


@dataclass(frozen=True, repr=False)
class Applied(Discreet):
    """A table after a recoding: what was kept, how many records were not, and values never seen before."""

    table: Any
    kept: int
    suppressed: int
    unseen: dict[str, list[str]]


Others = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
"""Columns that are not recoded: identifiers, dropped ones, those that pass."""


@dataclass(frozen=True, repr=False)
class Recoding(Discreet):
    """What becomes of every combination of quasi-identifier values.

    ``kept`` lists the combinations of codes that are released, one row each; ``shown`` gives the labels of each of them
    where these do not follow column by column from the codes (local recoding). A row whose values are unknown or
    whose combination was not released is suppressed, and a column that the release did not have is left out:
    re-applying to new rows fails closed. ``project`` is the one that it comes from, where it was saved with the recoding:
    what its file holds (``document``), and the ``folder`` of its paths.
    """

    columns: tuple[ColumnRecoding, ...]
    kept: np.ndarray
    identifiers: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()
    shown: np.ndarray | None = None
    dealing: Dealing | None = None
    project: Mapping[str, Any] | None = None

    @classmethod
    def at_levels(cls, classes: Classes, levels: Sequence[int], kept: np.ndarray, others: Others) -> Recoding:
        """The recoding of a lattice node and its released classes."""
        frequency = classes.frequency
        recoded = tuple(
            ColumnRecoding(h.column, int(level), h.leaves, h.maps[level].astype(np.int64), h.labels[level])
            for h, level in zip(frequency.hierarchies, levels, strict=True)
        )
        _, labels = classes.labels_at(levels)
        groups = labels[kept]
        ordered = groups[np.lexsort(groups.T[::-1])] if len(recoded) else groups
        return cls(recoded, ordered, *others)

    @classmethod
    def local(cls, classes: Classes, kept: np.ndarray, covers: Sequence[Cover], labels: np.ndarray, others: Others) -> Recoding:
        """The recoding of classes that each have labels of their own."""
        frequency = classes.frequency
        rows, dealing = np.flatnonzero(kept[classes.class_of]), None
        if frequency.undivided is not None:
            rows, dealing = _deal_records(frequency, kept[classes.class_of])
        class_of = classes.class_of[rows]
        shown = np.empty((len(rows), len(covers)), dtype=np.int32)
        recoded = []
        for j, cover in enumerate(covers):
            place = {text: i for i, text in enumerate(dict.fromkeys(cover.labels))}
            codes = np.array([place[text] for text in cover.labels], dtype=np.int32)
            shown[:, j] = codes[labels[:, j]][class_of]
            leaves = cover.hierarchy.leaves
            recoded.append(ColumnRecoding(cover.column, None, leaves, np.arange(len(leaves)), tuple(place)))
        return cls(tuple(recoded), frequency.codes[rows], *others, shown, dealing)

    def summary(self) -> dict[str, Any]:
        """The columns and their levels, and how many combinations are released."""
        shown = {c.name: "local" if c.level is None else f"level {c.level}" for c in self.columns}
        return {**shown, "combinations": len(self.kept)}

    @property
    def levels(self) -> dict[str, int]:
        """Level of each quasi-identifier of a full-domain recoding."""
        return {c.name: c.level for c in self.columns if c.level is not None}

    def plan(self, suppressed: str = "drop", sensitive: Sequence[Sensitive] = (), typed: Collection[str] = ()) -> Plan:
        """The recoding as an engine applies it; ``sensitive`` columns pass unless their record is starred.

        Labels of ``typed`` columns are values of the column's own type.
        """
        known = {s.column: tuple(s.number) for s in sensitive}
        return Plan(
            tuple(Translation(c.name, c.values, c.codes, c.labels, typed=c.name in typed) for c in self.columns),
            Selection(self.kept, suppressed == "asterisks", self.shown, self.dealing),
            self.identifiers,
            self.dropped,
            tuple(known.items()),
        )

    def label_codes(self, counts: Counts) -> np.ndarray:
        """The labels of each combination that was counted, codes into those of each column; `UNKNOWN` if it has none.

        Full-domain recoding says what becomes of every combination of known values, local recoding only of released ones.
        """
        values = [counts.encode_column(c.name, c.encode) for c in self.columns]
        codes = np.array(values, dtype=np.int64).reshape(len(values), len(counts.counts)).T
        known = (codes != UNKNOWN).all(axis=1)
        if self.shown is not None:
            both = np.concatenate([self.kept, codes[known]]).T
            _, row_of = distinct_rows(both, [len(c.values) for c in self.columns])
            place = np.full(int(row_of.max(initial=-1)) + 1, UNKNOWN)
            place[row_of[: len(self.kept)]] = np.arange(len(self.kept))
            place = place[row_of[len(self.kept) :]]
            codes[known] = np.where((place != UNKNOWN)[:, None], self.shown[place], UNKNOWN)
        return np.where((codes != UNKNOWN).all(axis=1)[:, None], codes, UNKNOWN)

    def releasing(self, classes: np.ndarray) -> Recoding:
        """The recoding that releases these classes instead, given by the codes of their labels, one row each."""
        if self.shown is None:
            return replace(self, kept=classes)
        both = np.concatenate([classes, self.shown]).T
        _, row_of = distinct_rows(both, [len(c.labels) for c in self.columns])
        chosen = np.isin(row_of[len(classes) :], row_of[: len(classes)])
        return replace(self, kept=self.kept[chosen], shown=self.shown[chosen])

    def unseen(self, counts: Counts) -> dict[str, list[Text]]:
        """Per column, the values that were counted and that the recoding does not know, missing ones last."""
        found = {}
        for c in self.columns:
            place = counts.names.index(c.name)
            used = np.unique(counts.codes[place][counts.counts > 0])
            known = set(c.values)
            strange = {v for v in (counts.dictionaries[place][i] for i in used) if v not in known}
            if strange:
                found[c.name] = sorted(strange, key=lambda v: (v is None, v or ""))
        return found

    def apply(self, rows: Any, progress: Progress | None = None) -> Applied:
        """Recode new rows: a path, or a pandas, Polars, Arrow or Spark table (returned in kind).

        >>> import pyarrow as pa
        >>> from velado import Column, KAnonymity, anonymize
        >>> people = pa.table({"age": ["31", "38", "52", "57"], "ill": ["a", "b", "a", "b"]})
        >>> columns = [Column("age", "quasi-identifier", hierarchy={"intervals": [10]}), Column("ill", "sensitive")]
        >>> release = anonymize(people, columns, [KAnonymity(2)])
        >>> applied = release.recoding.apply(pa.table({"age": ["38", "99"], "ill": ["a", "c"]}))
        >>> applied.table.column("age").to_pylist(), applied.suppressed, applied.unseen
        (['30-39'], 1, {'age': ['99']})
        """
        self.check_general()
        progress = (progress or Progress()).part(0, 1, "apply")
        progress.at(0)
        table = open_table(rows, session=Session(progress))
        try:
            lacking = [c.name for c in self.columns if c.name not in table.header]
            if lacking:
                raise InputError("unknown-column", Sentence("the new rows lack recoded columns: {columns}", columns=lacking))
            return self._apply(table)
        finally:
            table.close()

    def _apply(self, table: Table) -> Applied:
        had = {*(c.name for c in self.columns), *self.identifiers, *self.passed}
        typed = [c.name for c in self.columns if c.of_type(table.field(c.name))]
        plan = replace(self.plan(typed=typed), dropped=tuple(name for name in table.header if name not in had))
        result, kept = table.recode(plan)
        total, unseen = table.rows(), table.unseen(plan)
        return Applied(result, kept, total - kept, unseen)

    def check_general(self) -> None:
        """Raise if the recoding says nothing of other records."""
        if self.dealing is not None:
            raise InputError(
                "not-reusable",
                "this recoding parts records that are alike, so it fits no other records",
                hint="Take a method that treats equal records equally, for instance mondrian with relaxed: false.",
            )

    # Saving

    def as_dict(self) -> dict[str, Any]:
        """The whole recoding, JSON-ready."""
        return {
            "velado-recoding": VERSION,
            "columns": [
                {"name": c.name, "level": c.level, "values": list(c.values), "codes": c.codes.tolist(), "labels": list(c.labels)}
                for c in self.columns
            ],
            "kept": self.kept.tolist(),
            **({} if self.shown is None else {"shown": self.shown.tolist()}),
            "identifiers": list(self.identifiers),
            "dropped": list(self.dropped),
            "passed": list(self.passed),
            **({} if self.project is None else {"project": dict(self.project)}),
        }

    def save(self, path: str | Path) -> None:
        """Write to a JSON file. It lists the original values of the quasi-identifiers: keep it private."""
        Path(path).write_text(self.text(), encoding="utf-8")

    def text(self) -> str:
        """What `save` writes."""
        self.check_general()
        return json.dumps(self.as_dict(), ensure_ascii=False)

    @classmethod
    def load(cls, path: str | Path) -> Recoding:
        """Read what `save` wrote."""
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
            if data.get("velado-recoding") not in READ:
                raise InputError("not-a-recoding", "this is not a recoding of this version", file=path)
            columns = tuple(
                ColumnRecoding(c["name"], c["level"], tuple(c["values"]), np.array(c["codes"], dtype=np.int64), tuple(c["labels"]))
                for c in data["columns"]
            )
            kept = np.array(data["kept"], dtype=np.int64).reshape(-1, len(columns))
            shown = np.array(data["shown"], dtype=np.int64).reshape(kept.shape) if "shown" in data else None
            named = (tuple(data["identifiers"]), tuple(data["dropped"]), tuple(data["passed"]))
            return cls(columns, kept, *named, shown, project=_locate_project(data.get("project"), Path(path)))
        except FileNotFoundError:
            raise not_found(Path(path)) from None
        except (ValueError, KeyError, AttributeError, TypeError):
            raise InputError("not-a-recoding", "this is not a saved recoding", file=path) from None

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the recoding."""
        digest = hashlib.sha256()
        for c in self.columns:
            digest.update(json.dumps([c.name, c.level, c.values, c.codes.tolist(), c.labels]).encode())
        dealt = () if self.dealing is None else (self.dealing.first, self.dealing.last, self.dealing.codes)
        for rows in (self.kept, self.shown, *dealt):
            if rows is None:
                digest.update(b"-")
                continue
            # In pieces: all of it as wide numbers may need more memory than anything before.
            for first in range(0, len(rows), PIECE):
                digest.update(np.ascontiguousarray(rows[first : first + PIECE], dtype="<i8").data)
        digest.update(json.dumps([self.identifiers, self.dropped, self.passed]).encode())
        return digest.hexdigest()


def _locate_project(project: Any, path: Path) -> dict[str, Any] | None:
    """The project in a saved recoding; its folder is told from that of the recoding."""
    if project is None:
        return None
    return {"folder": str(path.parent / project["folder"]), "document": dict(project["document"])}


def _deal_records(divided: FrequencyTable, kept: np.ndarray) -> tuple[np.ndarray, Dealing]:
    """The rows of the kept portions of a divided table, and how records that are alike are shared out."""
    portions = Portions.of(divided)
    chosen = kept[portions.rows]
    first, last, rows = portions.first[chosen], portions.last[chosen], portions.rows[chosen]
    if not divided.sensitive:
        return rows, Dealing(first, last)
    (sensitive,) = divided.sensitive
    spellings = tuple(sensitive.number)
    values = Translation(sensitive.column, spellings, np.array([*sensitive.number.values()]), spellings)
    return rows, Dealing(first, last, values, portions.values[chosen] - sensitive.first)
