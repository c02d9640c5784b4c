"""A sensitive column: its values, spelling variants being one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np

from velado.errors import InputError
from velado.frequency.sensitive_order import order_values, sort_values
from velado.hierarchies import Hierarchy
from velado.hierarchies.build import missing_values
from velado.results import Discreet
from velado.schema import Column, Schema
from velado.schema.values import column_hierarchy, values_of
from velado.spelling_variants import NO_VARIANTS, SpellingVariants, variants_of
from velado.tables.counts import Counts
from velado.values import Text


@dataclass(frozen=True, repr=False)
class Sensitive(Discreet):
    """A sensitive column in the histograms.

    Its values take ``first … first + segments·width − 1``. There is one segment, unless the column is
    judged strictly (Machanavajjhala et al.): then each combination of the ``others`` has its own.
    ``expected`` is the distribution in the whole input; ``tree`` serves the hierarchical distance. Spelling ``variants``
    are one value: the label that stands for all of them. ``disorder`` says why the labels are in no meaningful order.
    ``described`` is what the project says of the column.
    With a ``unit`` this is no column: its one value counts the people of a row, in so many units each.
    """

    NAMES: ClassVar[tuple[str, ...]] = ("column",)
    column: str
    labels: tuple[Text, ...]
    tree: Hierarchy | None = None
    others: tuple[str, ...] = ()
    other_labels: tuple[tuple[Text, ...], ...] = ()
    first: int = 0
    expected: np.ndarray = field(default_factory=lambda: np.zeros(0))
    variants: SpellingVariants = NO_VARIANTS
    disorder: InputError | None = None
    unit: int = 0
    described: Column | None = None

    @cached_property
    def number(self) -> dict[Text, int]:
        """The number of every spelling of every value."""
        number = {label: i for i, label in enumerate(self.labels)}
        spelled = {spelling: number[label] for spelling, label in self.variants.labels.items() if label in number}
        return number | spelled

    @property
    def width(self) -> int:
        """Number of different values."""
        return len(self.labels)

    @property
    def segments(self) -> int:
        """Number of combinations of the other columns' values."""
        return int(np.prod([len(labels) for labels in self.other_labels], dtype=np.int64))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that an engine must count together."""
        return (*self.others, self.column)

    def restrict(self, spelled: Iterable[Text], first: int) -> Sensitive:
        """The column as if the input had held these spellings only, at another place in the histograms.

        What stands for variants, the order and whether there is one come from them alone; which are variants stays as it was.
        """
        assert self.described is not None
        values = sorted(spelled, key=lambda v: (v is None, v or ""))
        tree = self.tree
        if tree is not None:
            held = np.zeros(len(tree.leaves), dtype=bool)
            held[tree.encode(values)] = True
            tree = tree.only(held)
        return replace(sensitive_column(self.described, values, tree, self.variants.within(values)), first=first)

    def encode(self, counts: Counts) -> np.ndarray:
        """Histogram values of the rows of a GROUP BY."""
        codes = np.zeros(len(counts.counts), dtype=np.int64)
        for name, labels in zip(self.columns, (*self.other_labels, self.labels), strict=True):
            number = self.number if name == self.column else {label: i for i, label in enumerate(labels)}

            def lookup(values: Sequence[Text], number: dict[Text, int] = number, name: str = name) -> np.ndarray:
                unknown = [v for v in values if v not in number]
                if unknown:
                    raise InputError("unseen-value", "sensitive values that the input did not contain", column=name)
                return np.array([number[v] for v in values], dtype=np.int64)

            codes = codes * len(labels) + counts.encode_column(name, lookup)
        return self.first + codes


def sensitive_column(
    column: Column, values: Sequence[Text], tree: Hierarchy | None, variants: SpellingVariants | None = None
) -> Sensitive:
    """A sensitive column with these values: its spelling variants, which are looked for, and the order of what is left."""
    variants = variants_of(values, column.variants) if variants is None else variants
    label = variants.labels
    left = list(dict.fromkeys(label.get(v, v) for v in values))
    spelled = [v for v in values if v is not None and label.get(v, v) is not None]
    try:
        labels, disorder = order_values(column, left, spelled, tree), None
    except InputError as error:
        labels, disorder = sort_values(left), error
    return Sensitive(column.name, tuple(labels), tree, variants=variants, disorder=disorder, described=column)


def sensitive_of(schema: Schema, columns: tuple[str, ...], counts: Counts, folder: Path | None) -> Sensitive:
    """A sensitive column, with those that it is counted together with, as it occurs in a count."""
    *others, name = columns
    values = {c: values_of([counts], c) for c in columns}
    column = schema[name]
    if column.missing == "reject" and None in values[name]:
        raise missing_values(name)
    tree = None if column.hierarchy is None else column_hierarchy(column, values[name], folder)
    found = sensitive_column(column, list(values[name]), tree)
    return replace(found, others=tuple(others), other_labels=tuple(tuple(sort_values(list(values[c]))) for c in others))
