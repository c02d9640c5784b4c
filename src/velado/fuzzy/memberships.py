"""Matrices of memberships, rows × fuzzy classes: crossed, made crisp, checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from velado.errors import InputError
from velado.sentences import Sentence

TOLERANCE = 1e-9
MOST_CELLS = 1 << 27


@dataclass(frozen=True)
class PartitionCheck:
    """What memberships are, as a partition.

    ``sums_to_one``: every row does. ``normal``: every class has a row with membership 1. ``robust``: every row has a
    class with membership of at least ½. Partitions learned by clustering are seldom normal; crossed ones are often not
    robust.
    """

    sums_to_one: bool
    normal: bool
    robust: bool


def check_partition(memberships: np.ndarray) -> PartitionCheck:
    """Which properties a partition has on the rows of a table."""
    return PartitionCheck(
        bool(np.allclose(memberships.sum(axis=1), 1, rtol=0, atol=TOLERANCE) and (memberships >= 0).all()),
        bool((memberships.max(axis=0) >= 1 - TOLERANCE).all()),
        bool((memberships.max(axis=1) >= 0.5 - TOLERANCE).all()),
    )


def product(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Memberships in the classes of several columns crossed: they multiply; the last column's sets vary fastest."""
    classes = int(np.prod([m.shape[1] for m in columns], dtype=object))
    if len(columns[0]) * classes > MOST_CELLS:
        raise InputError(
            "too-many-classes",
            Sentence("{rows} rows × {classes} fuzzy classes are too many", rows=len(columns[0]), classes=classes),
            hint="Use fewer sets per column, fewer columns, or partition the columns jointly.",
        )
    return reduce(lambda left, right: (left[:, :, None] * right[:, None, :]).reshape(len(left), -1), columns)


def crisp(labels: np.ndarray, classes: int) -> np.ndarray:
    """Memberships 0 and 1 of rows that belong to one class each; label −1 belongs to none."""
    return np.asarray(np.asarray(labels)[:, None] == np.arange(classes), dtype=float)


def public_memberships(memberships: np.ndarray, degrees: int | None) -> np.ndarray:
    """What a release shows of memberships: the strongest set alone, or with ``degrees`` so many decimals of all."""
    alone = crisp(strongest(memberships), memberships.shape[1])
    if degrees is None:
        return alone
    rounded = np.round(memberships, degrees)
    total = rounded.sum(axis=1, keepdims=True)
    return np.where(total > 0, rounded / np.where(total > 0, total, 1), alone)


def strongest(memberships: np.ndarray) -> np.ndarray:
    """The class to which each row belongs most; of equal ones (within 1e-9: rounding must not decide) the first."""
    near = memberships >= memberships.max(axis=1, keepdims=True) - TOLERANCE
    return np.asarray(near.argmax(axis=1))
