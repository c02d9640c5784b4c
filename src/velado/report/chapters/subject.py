"""What a report is about, and how its figures become cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from velado.evaluation import Comparison, Evaluation, Pair
from velado.hierarchies import Cover
from velado.i18n import Language
from velado.models import strengths
from velado.parameters import records_of
from velado.report.chapters.content import Cell, Table
from velado.report.chapters.disclosure import Limits
from velado.results import Discreet
from velado.schema import Column
from velado.values import Text


@dataclass(frozen=True, repr=False)
class About(Discreet):
    """Where the two tables come from. Names are names of files, never paths.

    ``columns`` are all columns of the original; ``manifest`` is that of a verified release.
    """

    NAMES: ClassVar[tuple[str, ...]] = ("name",)
    name: str
    original: str
    release: str
    columns: tuple[Column, ...] = ()
    manifest: Mapping[str, Any] | None = None

    @property
    def day(self) -> date | None:
        """The day of the release."""
        return None if self.manifest is None else date.fromisoformat(self.manifest["created"][:10])

    def part(self, *names: str) -> Any:
        """A part of the manifest; None where it is not there."""
        found: Any = self.manifest
        for name in names:
            found = found.get(name) if isinstance(found, Mapping) else None
        return found


@dataclass(frozen=True, repr=False)
class Subject(Discreet):
    """Everything that the sections of a report are made from."""

    pair: Pair
    evaluation: Evaluation
    about: About
    words: Language
    comparison: Comparison | None = None
    attacks: Sequence[Any] = field(default=())

    @cached_property
    def figures(self) -> dict[str, Any]:
        """The evaluation as results write it."""
        return self.evaluation.as_dict()

    @cached_property
    def limits(self) -> Limits:
        """What may be shown."""
        return Limits.of(self.evaluation)

    @cached_property
    def levels(self) -> dict[str, float | None]:
        """The level of each quasi-identifier: a mean where it differs between classes, None where there is none."""
        return levels_of(self.pair, self.about.part("recoding", "levels") or {})

    @cached_property
    def heights(self) -> dict[str, int]:
        """The highest level of each quasi-identifier."""
        return {c.column: c.hierarchy.height for c in self.pair.covers}

    # Cells

    def say(self, template: str, /, **places: Any) -> Cell:
        """A sentence in the language."""
        return Cell(self.words.say(template, **places))

    def count(self, number: int | None) -> Cell:
        """A whole number."""
        return Cell(self.words.integer(number), number, "#,##0")

    def figure(self, number: float | None, digits: int = 4) -> Cell:
        """A number, large ones with fewer decimals; a dash where there is none."""
        digits = digits_of(number, digits)
        return Cell(self.words.number(number, digits), number, "#,##0." + "#" * digits if digits else "#,##0")

    def percent(self, share: float | None, digits: int = 1) -> Cell:
        """A share."""
        return Cell(self.words.percent(share, digits), share, "0." + "0" * digits + "%")

    def label(self, label: Text) -> str:
        """A label of the release in one line."""
        return self.words.say("(missing)") if label is None else clean(label)

    def table(self, rows: Sequence[Sequence[Cell]], align: str, header: Sequence[str] = (), **more: str) -> Table:
        """A table with its header in English."""
        return Table(tuple(map(tuple, rows)), align, tuple(self.words.say(h) if h else "" for h in header), **more)


def digits_of(number: float | None, digits: int = 4) -> int:
    """How many decimals a number is written with: large ones have fewer."""
    return min(digits, 4 if number is None or abs(number) < 10 else 2 if abs(number) < 1000 else 1)


def clean(text: str) -> str:
    """A text in one line, without characters that a page or a sheet cannot hold."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def limit_in_words(limit: float | str, words: Language) -> str:
    """A suppression limit: a share, or a number of records."""
    records = records_of(limit)
    if records is None:
        return words.percent(float(limit))
    return words.say("records: {records}", records=words.integer(records))


def symbol(parameter: str) -> str:
    """How a parameter of a model is written."""
    known = strengths().get(parameter)
    return parameter if known is None else known.symbol


def parameter_label(words: Language, name: str) -> str:
    """What a parameter of a grid is called."""
    return symbol(name) if name in strengths() else words.label("parameter", name)


def levels_of(pair: Pair, given: Mapping[str, float]) -> dict[str, float | None]:
    """The level of each quasi-identifier as it is given, else as the labels say it."""
    found = {c.column: _level(c, n) for c, n in zip(pair.covers, pair.label_records, strict=True)}
    return {name: given.get(name, level) for name, level in found.items()}


def _level(cover: Cover, records: np.ndarray) -> float | None:
    used = cover.levels[records > 0]
    if not len(used) or (used < 0).any():
        return None
    return float(used[0]) if (used == used[0]).all() else float(np.average(cover.levels, weights=records))
