"""A plan as one query: each translated column joined with its table, the selected combinations kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from velado.results import Discreet
from velado.tables.formats.formulas import GUARDED, GUARDED_AMONG, NUMBER, guard_formulas
from velado.tables.plan import Plan, Translation
from velado.tables.sql.dialect import SqlDialect
from velado.tables.sql.noise import noisy
from velado.tables.sql.table import AT_ONCE, WIDE, SqlTable
from velado.tables.types import ColumnType, Field
from velado.values import ROOT

ROW, NTH, BY, DICE, PLACE = "velado_row", "velado_nth", "velado_by", "velado_dice", "velado_place"
"""Columns beside those of the table: the place of a row, its number among rows that are alike, its code, a random number,
its place in the result."""


@dataclass(frozen=True, repr=False)
class PlanQuery(Discreet):
    """The query of a plan. ``guard``: texts that look like formulas get an apostrophe; ``texts``: columns that are written as
    texts although they have another type, because the format does not hold all their values."""

    table: SqlTable
    plan: Plan
    order: str = "keep"
    guard: bool = False
    texts: frozenset[str] = frozenset()

    @property
    def sql(self) -> SqlDialect:
        """How the engine speaks."""
        return self.table.sql

    @cached_property
    def result_fields(self) -> tuple[Field, ...]:
        """The columns of the result with their types."""
        changed = {t.column: t for t in (*self.plan.translations, *self.plan.replaced)}
        changed |= {n.column: n.numbers for n in self.plan.noise}
        found = []
        for column in self.table.columns:
            if column.name in self.plan.dropped:
                continue
            text = (
                self._starring
                or column.name in self.plan.starred
                or column.name in self.texts
                or (column.name in changed and not changed[column.name].typed)
            )
            found.append(Field(column.name, ColumnType.TEXT) if text else column)
        return tuple(found)

    @property
    def _starring(self) -> bool:
        """Whether rows are kept as rows of ``*``: then every column is text."""
        return self.plan.selection.star and self.plan.selection.kept is not None

    def text(self) -> str:
        """The query."""
        plan, selection = self.plan, self.plan.selection
        join = "LEFT JOIN" if selection.star else "JOIN"
        tables = [
            f"{join} {self._labels(t) if selection.shown is None else self._codes(t)} AS t{i} "
            f"ON {self.table.key(t)} = t{i}.velado_key"
            for i, t in enumerate(plan.translations)
        ]
        joins, replaced = self._replacements()
        cells = {t.column: self._label_cell(i, t) for i, t in enumerate(plan.translations)} | replaced
        inner, outer = [], []
        for field in self.table.columns:
            if field.name in plan.dropped:
                continue
            if field.name in plan.starred:
                outer.append(f"{self.sql.literal(ROOT)} AS {self.sql.quote(field.name)}")
                continue
            column = self.table.inner[field.name]
            cell, shown = cells.get(field.name) or self._plain_cell(field)
            if self._starring:
                shown_as = ColumnType.TEXT if field.name in cells else field.type
                cell = f"CASE WHEN s.k0 IS NULL THEN {self.sql.literal(ROOT)} ELSE {self.sql.text(cell, shown_as)} END"
            inner.append(f"{cell} AS {column}")
            outer.append(f"{shown} AS {self.sql.quote(field.name)}")
        place = {"keep": f"p.{ROW}", "shuffle": self.sql.random()}.get(self.order)
        if place is not None and not self.sql.sorts_inside:
            inner.append(f"{place} AS {PLACE}")
        body = f"SELECT {self.sql.in_order}{', '.join(inner or ['1 AS velado_nothing'])} FROM {self._rows()} "
        body += " ".join([*tables, *joins, self._selection_join(join)])
        if place is not None and self.sql.sorts_inside:
            body += f" ORDER BY {place}"
        if self.order == "sorted":
            body += self.sql.apart
        query = f"SELECT {', '.join(outer)} FROM ({body}) AS q"
        if place is not None and not self.sql.sorts_inside:
            return f"{query} ORDER BY {PLACE}"
        by_all = self.sql.sorted_by([f.name for f in self.result_fields])
        return f"{query} ORDER BY {by_all}" if self.order == "sorted" else query

    def _rows(self) -> str:
        """The rows, numbered where their places are needed, dealt out where equal ones are parted."""
        plain = self.table.of(self.table.header, "p")
        if self.order == "keep" or self.plan.noise:
            plain = f"(SELECT p.*, {self.sql.row_number()} AS {ROW} FROM {plain}) AS p"
        return plain if self.plan.selection.dealing is None else self._deal_rows(plain)

    def _deal_rows(self, relation: str) -> str:
        """The rows numbered at random among those that are alike; values with the same code are alike, too."""
        dealing = self.plan.selection.dealing
        assert dealing is not None
        alike, code, join = [self.table.key(t) for t in self.plan.translations], "", ""
        if dealing.by is not None:
            join = f"JOIN {self._codes(dealing.by)} AS d ON {self.table.key(dealing.by)} = d.velado_key"
            alike, code = [*alike, "d.code"], f", d.code AS {BY}"
        nth = f"row_number() OVER (PARTITION BY {', '.join(alike)} ORDER BY {DICE}) AS {NTH}"
        diced = f"(SELECT p.*, {self.sql.random()} AS {DICE} FROM {relation}) AS p"
        return f"(SELECT p.*{code}, {nth} FROM {diced} {join}) AS p"

    # Cells

    def _label_cell(self, i: int, t: Translation) -> tuple[str, str]:
        """A recoded column: its cell, and how that is shown. Labels stay compact until the end, for the sort."""
        cell = f"t{i}.label" if self.plan.selection.shown is None else f"s.l{i}"
        new = self.table.field(t.column).single and not set(t.labels) <= set(t.keys)
        return cell, self._cast(t, changed=new)

    def _cast(self, t: Translation, changed: bool) -> str:
        column = self.table.inner[t.column]
        shown = self.sql.text(column)
        if not t.typed or self._starring or t.column in self.texts:
            return shown
        return self.sql.cast(shown, self.table.field(t.column), changed)

    def _plain_cell(self, field: Field) -> tuple[str, str]:
        """A column that stays as it is."""
        column = self.table.inner[field.name]
        cell, shown = f"p.{column}", column
        if field.type is not ColumnType.TEXT:
            return cell, self.sql.text(column, field.type) if field.name in self.texts else column
        words = self._known_words.get(field.name, ())
        if words:
            cell, shown = self.table.compact(cell, words), self.sql.text(column)
        return cell, guard_cell(self.sql, shown) if field.name in self._risky else shown

    @cached_property
    def _known_words(self) -> dict[str, Any]:
        return dict(self.plan.known)

    @cached_property
    def _risky(self) -> set[str]:
        """The columns of texts that a spreadsheet might take for formulas; of a few columns, all."""
        if not self.guard:
            return set()
        gone = {*self.plan.starred, *self.plan.dropped}
        texts = [n for n in self.table.texts() if n not in gone]
        if len(texts) <= WIDE:
            return set(texts)
        inner, sql = self.table.inner, self.sql
        chunks = [texts[first : first + AT_ONCE] for first in range(0, len(texts), AT_ONCE)]
        # All cells of some columns as one text: cheaper than a pattern for every column.
        joined = [sql.among([inner[n] for n in chunk]) for chunk in chunks]
        some = ", ".join(_any(sql.matches(cells, GUARDED_AMONG)) for cells in joined)
        flagged = self.table.ask(f"SELECT {some} FROM {self.table.of(texts)}")[0]
        found = set()
        for chunk in (c for c, flag in zip(chunks, flagged, strict=True) if flag):
            each = ", ".join(_any(_formula(sql, inner[n])) for n in chunk)
            flags = self.table.ask(f"SELECT {each} FROM {self.table.of(chunk)}")[0]
            found |= {n for n, flag in zip(chunk, flags, strict=True) if flag}
        return found

    def _replacements(self) -> tuple[list[str], dict[str, tuple[str, str]]]:
        """Joins for the columns that the selection does not look at; per column its cell and how that is shown."""
        joins, cells = [], {}
        sums = {n.column: n for n in self.plan.noise}
        for i, t in enumerate([*self.plan.replaced, *(n.numbers for n in self.plan.noise)]):
            noise, cell = sums.get(t.column), f"r{i}.label"
            on = f"{self.table.key(t)} = r{i}.velado_key"
            if t.by is not None:
                on += f" AND {self.table.text_of(t.by, f'p.{self.table.inner[t.by]}')} = r{i}.other"
            joins.append(f"LEFT JOIN {self._labels(t, self.guard and noise is None)} AS r{i} ON {on}")
            if noise is not None:
                cell = noisy(self.sql, noise, self.sql.text(cell), f"p.{ROW}")
            cells[t.column] = (cell, self._cast(t, changed=True))
        return joins, cells

    # Small tables

    def _codes(self, t: Translation) -> str:
        """A table key → code."""
        import pyarrow as pa

        return self.table.lookup({"velado_key": self.table.key_values(t), "code": pa.array(t.codes.astype(np.int64))})

    def _labels(self, t: Translation, guard: bool | None = None) -> str:
        """A table key → label and code."""
        import pyarrow as pa

        labels = guard_formulas(t.labels, self.guard if guard is None else guard)
        columns = {
            "velado_key": self.table.key_values(t),
            "label": pa.array([labels[c] for c in t.codes], pa.string()),
            "code": pa.array(t.codes.astype(np.int64)),
            **({"other": pa.array(t.others, pa.string())} if t.by else {}),
        }
        return self.table.compact_lookup(self.table.lookup(columns), {"label": labels})

    @cached_property
    def _chunks(self) -> list[list[tuple[int, int]]]:
        """Columns with strides, in groups whose mixed-radix keys fit 62 bits."""
        chunks: list[list[tuple[int, int]]] = []
        domain = 1 << 63
        for i, t in enumerate(self.plan.translations):
            size = int(t.codes.max(initial=0)) + 1
            if domain * size >= 1 << 62:
                chunks.append([])
                domain = 1
            chunks[-1].append((i, domain))
            domain *= size
        return chunks

    def _selection_join(self, join: str) -> str:
        """The join with the kept combinations."""
        selection = self.plan.selection
        if selection.kept is None:
            return ""
        on = [f"({' + '.join(f't{i}.code * {s}' for i, s in chunk) or '0'}) = s.k{n}" for n, chunk in enumerate(self._chunks)]
        if selection.dealing is not None:
            on.append(f"p.{NTH} BETWEEN s.first_nth AND s.last_nth")
            if selection.dealing.by is not None:
                on.append(f"p.{BY} = s.by_code")
        return f"{join} {self._selection_lookup()} AS s ON {' AND '.join(on) or 'true'}"

    def _selection_lookup(self) -> str:
        """A table of the kept combinations as keys k0, k1, …, with their labels l0, l1, … where they have their own."""
        import pyarrow as pa

        selection = self.plan.selection
        assert selection.kept is not None
        kept = selection.kept
        columns: dict[str, Any] = {}
        for n, chunk in enumerate(self._chunks):
            key = np.zeros(len(kept), dtype=np.int64)
            for i, stride in chunk:
                key += kept[:, i].astype(np.int64) * stride
            columns[f"k{n}"] = pa.array(key)
        dealing = selection.dealing
        if dealing is not None:
            columns |= {"first_nth": pa.array(dealing.first), "last_nth": pa.array(dealing.last)}
            if dealing.codes is not None:
                columns["by_code"] = pa.array(dealing.codes.astype(np.int64))
        if selection.shown is None:
            return self.table.lookup(columns or {"k0": pa.array([0])})
        words: dict[str, Sequence[str | None]] = {}
        for i, t in enumerate(self.plan.translations):
            labels = guard_formulas(t.labels, self.guard)
            shown = pa.array(selection.shown[:, i].astype(np.int32, copy=False))
            columns[f"l{i}"] = pa.DictionaryArray.from_arrays(shown, pa.array(labels, pa.string())).cast(pa.string())
            words[f"l{i}"] = labels
        return self.table.compact_lookup(self.table.lookup(columns), words)


def guard_cell(sql: SqlDialect, cell: str) -> str:
    """A text cell that gets an apostrophe where a spreadsheet would take it for a formula."""
    apostrophe = sql.literal("'")
    return f"CASE WHEN {_formula(sql, cell)} THEN {apostrophe} || {cell} ELSE {cell} END"


def _formula(sql: SqlDialect, cell: str) -> str:
    return f"{sql.matches(cell, GUARDED)} AND NOT {sql.is_all(cell, NUMBER)}"


def _any(condition: str) -> str:
    return f"max(CASE WHEN {condition} THEN 1 ELSE 0 END)"
