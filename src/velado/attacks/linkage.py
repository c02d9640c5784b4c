"""The linkage attack: an external table with names is joined to the release through the quasi-identifiers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from velado.attacks.base import Attack, Attacker, Exposed, Histogram, Prevention, knowing, labels_of, share, worst
from velado.declarations import declare
from velado.evaluation.matching import fitting
from velado.frequency import Classes, FrequencyTable, Sensitive
from velado.hierarchies import Cover
from velado.progress import Progress
from velado.results import Discreet


@dataclass(frozen=True, repr=False)
class Truth(Discreet):
    """People who are in the external table and in the original: their row in each.

    ``own_rows`` and ``own_classes`` are the pairs (original row, released class) in which a record can be.
    """

    external_row: np.ndarray
    original_row: np.ndarray
    own_rows: np.ndarray
    own_classes: np.ndarray
    originals: int


@dataclass(frozen=True, repr=False)
class Links(Discreet):
    """Each distinct row of the external table and the classes whose labels fit it."""

    classes: Classes
    external: FrequencyTable
    rows: np.ndarray
    found: np.ndarray

    @classmethod
    def between(
        cls, classes: Classes, external: FrequencyTable, covers: Sequence[Cover], progress: Progress | None = None
    ) -> Links:
        """``covers`` say, per column, which external values are under each released label."""
        labels = classes.frequency.codes[classes.rows].astype(np.int64)
        return cls(classes, external, *fitting(external.codes, covers, labels, progress))

    @cached_property
    def candidates(self) -> np.ndarray:
        """Released records that can be the person's, per external row."""
        sizes = self.classes.sizes[self.found]
        return np.bincount(self.rows, weights=sizes, minlength=self.external.rows).astype(np.int64)

    @cached_property
    def matrix(self) -> Any:
        """External rows × classes, 1 where they fit."""
        return _pairs(self.rows, self.found, (self.external.rows, self.classes.count))


def _pairs(rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> Any:
    from scipy.sparse import csr_array

    return csr_array((np.ones(len(rows), dtype=np.int64), (rows, columns)), shape=shape)


@declare(
    title="linkage with an external table",
    meaning="People of the external table are looked up by their quasi-identifiers.",
    parameters=knowing("confidence"),
)
def linkage(links: Links, attacker: Attacker, truth: Truth | None = None) -> Attack:
    """Who can be found: a person's candidates are the records of all classes whose labels fit the person's values.

    One of n candidates is the right one with confidence 1/n; ``expected_correct`` adds that up over all people with
    a candidate, as if all of them were in the release. With the ``truth``: how many people's own record is among
    their candidates, how many links to a single record are right, and the sum of the confidences of right links.
    O(external rows), plus the pairs that fit where labels overlap.
    """
    people = links.external.counts
    candidates = links.candidates
    matched = candidates > 0
    sure = np.divide(1.0, candidates, out=np.zeros(len(candidates)), where=matched)
    open_ = attacker.succeeds(sure)
    linked = int(people[matched].sum())
    expected = float((sure * people).sum())
    figures: dict[str, int | float] = {
        "people": int(people.sum()),
        "matched": linked,
        "unique": int(people[candidates == 1].sum()),
        "exposed_people": int(people[open_].sum()),
        "highest_confidence": float(sure.max(initial=0.0)),
        "mean_confidence": expected / linked if linked else 0.0,
        "expected_correct": expected,
    }
    if truth is not None:
        figures |= _truth_figures(links, truth, sure)
    prevented: tuple[Prevention, ...] = ()
    if open_.any():
        k = max(2, math.ceil(1 / attacker.confidence - 1e-9))
        prevented = (Prevention("k-anonymity", {"k": k}), Prevention(measure="suppress-small-classes"))
    exposed = tuple(
        Exposed(labels_of(links.classes, c), int(links.classes.sizes[c]), float(sure[row]))
        for c, row in _classes(links, open_, sure)
    )
    return Attack("linkage", bool(open_.any()), figures, exposed, prevented, against="external")


def _truth_figures(links: Links, truth: Truth, sure: np.ndarray) -> dict[str, int | float]:
    own = _pairs(truth.own_rows, truth.own_classes, (truth.originals, links.classes.count))
    meet = links.matrix[truth.external_row].multiply(own[truth.original_row])
    right = np.asarray(meet.sum(axis=1)).ravel() > 0
    alone = links.candidates[truth.external_row] == 1
    return {
        "known": len(truth.external_row),
        "correct": int(right.sum()),
        "unique_correct": int((right & alone).sum()),
        "expected_true": float(sure[truth.external_row][right].sum()),
    }


def disclosure(links: Links, attribute: Sensitive, attacker: Attacker) -> Attack:
    """What the linked people's sensitive value is: certain where all candidates share it, else the best guess."""
    classes, people = links.classes, links.external.counts
    values = Histogram.build(classes, attribute)
    from scipy.sparse import csr_array

    histograms = csr_array((values.count, (values.of, values.value)), shape=(classes.count, attribute.width))
    together = (links.matrix @ histograms).tocsr()
    matched = links.candidates > 0
    best = np.asarray(together.max(axis=1).todense()).ravel()
    value = np.asarray(together.argmax(axis=1)).ravel()
    sure = np.divide(best, links.candidates, out=np.zeros(len(best)), where=matched)
    open_ = attacker.succeeds(sure)
    linked = int(people[matched].sum())
    prevented: tuple[Prevention, ...] = ()
    if open_.any():
        k = max(2, int(classes.sizes.min()))
        prevented = (
            Prevention("distinct-diversity", {"l": 2, "column": attribute.column})
            if attacker.confidence == 1
            else Prevention("alpha-k", {"alpha": attacker.confidence, "k": k, "column": attribute.column}),
        )
    exposed = tuple(
        Exposed(
            labels_of(classes, c),
            int(classes.sizes[c]),
            float(sure[row]),
            attribute.labels[value[row]],
            float(attribute.expected[value[row]]),
        )
        for c, row in _classes(links, open_, sure)
    )
    return Attack(
        "linkage",
        bool(open_.any()),
        {
            "people": int(people.sum()),
            "matched": linked,
            "disclosed": int(people[matched & (best == links.candidates)].sum()),
            "exposed_people": int(people[open_].sum()),
            "exposed_share": share(int(people[open_].sum()), int(people.sum())),
            "mean_confidence": float((sure * people).sum() / linked) if linked else 0.0,
        },
        exposed,
        prevented,
        attribute.column,
        "external",
    )


def _classes(links: Links, open_: np.ndarray, sure: np.ndarray) -> list[tuple[int, int]]:
    """The classes of exposed people, the surest first, each with the external row that is the surest of it."""
    pairs = np.flatnonzero(open_[links.rows])
    order = np.lexsort((links.rows[pairs], links.found[pairs], -sure[links.rows[pairs]]))
    pairs = pairs[order]
    _, first = np.unique(links.found[pairs], return_index=True)
    chosen = pairs[np.sort(first)]
    numbers = worst(np.ones(len(chosen), dtype=bool), sure[links.rows[chosen]], links.classes.sizes[links.found[chosen]])
    return [(int(links.found[chosen[i]]), int(links.rows[chosen[i]])) for i in numbers]
