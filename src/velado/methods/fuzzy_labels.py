"""From memberships to what a fuzzy release shows: labels, the classes that they make, and what they stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from velado.frequency import Classes, FrequencyTable, in_order
from velado.fuzzy import product, strongest
from velado.fuzzy.classes import Fuzzified, FuzzyClasses
from velado.fuzzy.coding import Coding
from velado.hierarchies import Cover
from velado.methods.axes import Axis
from velado.methods.representatives import range_cover, reach
from velado.models import PrivacyModel, Verdict, crisp_models, fuzzy_verdicts, judge_classes
from velado.results import Discreet
from velado.values import ROOT


@dataclass(frozen=True, repr=False)
class Labelled(Discreet):
    """A frequency table whose rows got labels.

    ``memberships`` are those of the rows in the sets of each coding, ``names`` what the sets are called in each column;
    ``inside`` tells the classes whose rows belong to a set at all (outliers do not); ``degrees`` how many decimals of the
    memberships are written, if any.
    """

    frequency: FrequencyTable
    codings: tuple[Coding, ...]
    memberships: tuple[np.ndarray, ...]
    names: Mapping[str, tuple[str, ...]]
    classes: Classes
    covers: tuple[Cover, ...]
    labels: np.ndarray
    inside: np.ndarray
    degrees: int | None

    @classmethod
    def of(
        cls,
        frequency: FrequencyTable,
        codings: Sequence[Coding],
        memberships: Sequence[np.ndarray],
        names: Mapping[str, tuple[str, ...]],
        degrees: int | None,
    ) -> Labelled:
        """Label the rows, and group those that show the same."""
        covers, codes = [], np.empty((frequency.rows, len(frequency.hierarchies)), dtype=np.int64)
        for j, h in enumerate(frequency.hierarchies):
            (own,) = (m for m, c in zip(memberships, codings, strict=True) if h.column in c.columns)
            texts, codes[:, j] = labels_of(own, names[h.column], degrees)
            axis = Axis.of(h)
            covers.append(range_cover(axis, texts, *reach(axis, frequency.codes[:, j], codes[:, j], len(texts))))
        _, number = np.unique(codes, axis=0, return_inverse=True)
        class_of, first = in_order(number.reshape(-1))
        classes = Classes.from_ids(frequency, class_of, len(first))
        inside = np.all([m.any(axis=1) for m in memberships], axis=0)[classes.rows]
        return cls(frequency, tuple(codings), tuple(memberships), names, classes, tuple(covers), codes[first], inside, degrees)

    def judge(self, models: Sequence[PrivacyModel]) -> tuple[np.ndarray, list[Verdict]]:
        """The classes that satisfy the crisp models, and the verdicts of the fuzzy ones on what is left."""
        crisp = crisp_models(models)
        kept, _ = judge_classes(crisp, self.frequency.judged_columns, self.classes)
        kept &= self.inside
        asked = len(crisp) < len(models) and kept.any()
        return kept, fuzzy_verdicts(models, self._fuzzy(kept)) if asked else []

    def fuzzify(self, kept: np.ndarray) -> Fuzzified:
        """The fuzzy side of the kept classes."""
        rows = kept[self.classes.class_of]
        memberships = tuple(m[rows] for m in self.memberships)
        return Fuzzified(self.codings, memberships, self.names, self._fuzzy(kept), self.degrees)

    def _fuzzy(self, kept: np.ndarray) -> FuzzyClasses:
        crossed = self.memberships[0] if len(self.memberships) == 1 else product(self.memberships)
        return FuzzyClasses.of(self.frequency, crossed, kept[self.classes.class_of])


def labels_of(memberships: np.ndarray, names: Sequence[str], degrees: int | None = None) -> tuple[tuple[str, ...], np.ndarray]:
    """The different labels, and which of them each row gets: the name of its strongest set (of equal ones the first).

    With ``degrees`` the names of all sets whose degree, rounded to so many decimals, is above 0, the strongest first; the
    strongest alone where none is. Rows that belong to no set get ``*``.
    """
    most = np.where(memberships.any(axis=1), strongest(memberships), -1)
    if degrees is None:
        used, codes = np.unique(most, return_inverse=True)
        return tuple(ROOT if i < 0 else names[i] for i in used), codes.reshape(-1)
    rounded = np.round(memberships * 10**degrees).astype(np.int64)
    alone = np.where(rounded.any(axis=1), -1, most)
    shown, codes = np.unique(np.column_stack([alone, rounded]), axis=0, return_inverse=True)
    return tuple(_text(row[1:], int(row[0]), names, degrees) for row in shown), codes.reshape(-1)


def _text(rounded: np.ndarray, alone: int, names: Sequence[str], degrees: int) -> str:
    sets = [i for i in np.argsort(-rounded, kind="stable") if rounded[i] > 0] or [alone]
    if sets == [-1]:
        return ROOT
    return "; ".join(f"{names[i]} {rounded[i] / 10**degrees:.{degrees}f}" for i in sets)
