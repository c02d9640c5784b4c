"""Weighted draws and text columns that the sample tables share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

STEPS = 2**32


def generator(seed: int) -> np.random.Generator:
    """The random generator of a seed, the same with every NumPy default."""
    return np.random.Generator(np.random.PCG64(seed))


def words(text: str) -> list[str]:
    """The words of a text, in their order."""
    return text.split()


def draw(rng: np.random.Generator, weights: Sequence[float] | np.ndarray, rows: int) -> np.ndarray:
    """Positions drawn in proportion to their weights."""
    return draw_given(rng, np.asarray(weights, dtype=float)[None, :], np.zeros(rows, dtype=np.int64))


def draw_given(rng: np.random.Generator, weights: np.ndarray, group: np.ndarray) -> np.ndarray:
    """One position per row, drawn with the weights of the row's group (one line of weights per group).

    The cumulative weights of all groups form one increasing sequence, so that one binary search
    serves every row. Draws are multiples of 2^-32: adding the group number to them is exact.
    """
    cumulative = np.cumsum(weights, axis=1)
    cumulative /= cumulative[:, -1:]
    ladder = (cumulative + np.arange(len(weights))[:, None]).ravel()
    height = group + rng.integers(0, STEPS, size=len(group)) / STEPS
    return np.asarray(np.searchsorted(ladder, height, side="right") - group * weights.shape[1])


def fading(count: int) -> np.ndarray:
    """Weights that fall with the square root of the rank: a few common values, many rarer ones."""
    return 1 / np.sqrt(np.arange(1, count + 1))


def curve(anchors: Mapping[int, float], at: np.ndarray) -> np.ndarray:
    """The broken line through the anchors, read at some places."""
    return np.asarray(np.interp(at, list(anchors), list(anchors.values())))


def pick(values: Sequence[str], positions: np.ndarray, missing: np.ndarray | None = None) -> pa.Array:
    """A text column of the values at some positions, null where missing."""
    import pyarrow as pa

    return pa.array(values, pa.string()).take(pa.array(positions, mask=missing))


def pad_zeros(numbers: np.ndarray, width: int) -> pa.Array:
    """A text column of whole numbers with leading zeros."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.utf8_lpad(pa.array(numbers).cast(pa.string()), width, "0")


def join_columns(*columns: pa.Array, by: str) -> pa.Array:
    """A text column of the columns' texts side by side."""
    import pyarrow.compute as pc

    return pc.binary_join_element_wise(*columns, by)


def iso_dates(days: np.ndarray) -> pa.Array:
    """A text column of dates as YYYY-MM-DD."""
    import pyarrow as pa

    return pa.array(days.astype("datetime64[D]")).cast(pa.string())
