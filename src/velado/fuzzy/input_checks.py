"""Numbers as fuzzy methods need them: finite, as float64; anything else is refused."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from velado.errors import InputError

FARTHEST = 1e100
"""Squares, and sums of many, stay finite."""


def checked_values(values: Sequence[float] | np.ndarray, column: str | None = None) -> np.ndarray:
    """The values of one column."""
    return checked_points(values, (column,))[:, 0]


def checked_points(
    points: Sequence[float] | Sequence[Sequence[float]] | np.ndarray, columns: Sequence[str | None] = ()
) -> np.ndarray:
    """Rows × columns; a vector is one column."""
    try:
        matrix = np.asarray(points, dtype=float)
    except (TypeError, ValueError):
        raise InputError(
            "not-a-number",
            "fuzzy methods need numbers",
            column=columns[0] if len(columns) == 1 else None,
            hint="Only columns of numbers can be partitioned; leave the others to a hierarchy.",
        ) from None
    matrix = matrix[:, None] if matrix.ndim == 1 else matrix
    if matrix.ndim != 2 or not matrix.size:
        raise InputError("no-rows", "there are no numbers to partition")
    bad = ~np.isfinite(matrix).all(axis=0)
    if bad.any():
        raise InputError(
            "not-finite",
            "missing or infinite numbers have no membership in a fuzzy set",
            column=name_of(columns, int(bad.argmax())),
            hint="Suppress these records or replace the values first.",
        )
    check_size(matrix, columns)
    return matrix


def check_size(points: np.ndarray, columns: Sequence[str | None] = ()) -> None:
    """Distances between the points must be finite."""
    far = ~(np.abs(points) < FARTHEST).all(axis=0)
    if far.any():
        raise InputError(
            "too-large-numbers",
            "distances between these numbers are beyond floating point",
            column=name_of(columns, int(far.argmax())),
            hint="Give them in larger units.",
        )


def checked_counts(counts: Sequence[int] | np.ndarray | None, rows: int) -> np.ndarray:
    """Records of each row; 1 each if there are no counts."""
    if counts is None:
        return np.ones(rows, dtype=np.int64)
    checked = np.asarray(counts)
    if checked.shape != (rows,) or not np.issubdtype(checked.dtype, np.integer) or (checked < 1).any():
        raise InputError("bad-counts", "counts must be whole numbers of 1 or more, one for each row")
    return checked.astype(np.int64)


def name_of(columns: Sequence[str | None], number: int) -> str | None:
    """The name of a column, if names are known."""
    return columns[number] if number < len(columns) else None
