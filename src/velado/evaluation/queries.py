"""Error of random COUNT queries answered from the release (``measures.md`` §3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from velado.evaluation.pair import Pair
from velado.hierarchies import Cover
from velado.progress import Progress

MOST_COLUMNS = 3
SELECTIVITY = 0.3
CHUNK = 20_000_000


@dataclass(frozen=True)
class QueryError:
    """Relative error |estimate − truth|/truth over random COUNT queries.

    Each query asks for ranges of the ordered values of one to three quasi-identifiers around a random record of
    the original, so its true answer is never 0. A released label counts with the share of its values that the
    query asks for (uniform assumption), a mode or mean as the value that it shows; suppressed records are not in the release and count as missing.
    """

    queries: int
    mean: float
    median: float
    seed: int


def query_error(pair: Pair, queries: int = 1000, seed: int = 0, progress: Progress | None = None) -> QueryError | None:
    """Ask ``queries`` random queries; None without quasi-identifiers or records."""
    progress = progress or Progress()
    original = pair.original
    m = len(pair.covers)
    if not m or not pair.records:
        return None
    rng = np.random.default_rng(seed)
    anchors = original.codes[rng.choice(original.rows, queries, p=original.counts / original.records)]
    asked = np.argsort(rng.random((queries, m)), axis=1) < rng.integers(1, min(MOST_COLUMNS, m) + 1, queries)[:, None]
    shifts = rng.random((queries, m))
    truth, estimate = np.zeros(queries), np.zeros(queries)
    widest = max(original.rows, pair.released.count, *(len(h.leaves) for h in original.hierarchies))
    step = max(1, CHUNK // widest)
    for first in range(0, queries, step):
        progress.at(first, queries)
        part = slice(first, first + step)
        inside = [_range(cover, anchors[part, j], shifts[part, j]) for j, cover in enumerate(pair.covers)]
        shares = [_shares(cover, within) for cover, within in zip(pair.covers, inside, strict=True)]
        truth[part] = _sum(inside, original.codes, original.counts, asked[part])
        estimate[part] = _sum(shares, pair.labels, pair.sizes, asked[part])
    errors = np.abs(estimate - truth) / truth
    return QueryError(queries, float(errors.mean()), float(np.median(errors)), seed)


def _range(cover: Cover, anchors: np.ndarray, shifts: np.ndarray) -> np.ndarray:
    """Which leaves each query would ask for: a range that contains the anchor's leaf."""
    leaves = len(cover.hierarchy.leaves)
    rank = np.arange(leaves)
    if cover.numbers is not None:
        rank = np.argsort(np.argsort(np.nan_to_num(cover.numbers, nan=np.inf), kind="stable"), kind="stable")
    width = max(1, round(leaves * SELECTIVITY))
    first = (rank[anchors] - np.floor(shifts * width))[:, None]
    return np.asarray((rank >= first) & (rank < first + width))


def _shares(cover: Cover, within: np.ndarray) -> np.ndarray:
    """Which share of each released label every query asks for."""
    shares = np.asarray(cover.sums(within) / cover.sizes)
    points = np.flatnonzero(~np.isnan(cover.points))
    if len(points) and cover.hierarchy.scale is not None:
        numbers = cover.hierarchy.scale.numbers
        low = np.where(within & ~np.isnan(numbers), numbers, np.inf).min(axis=1, initial=np.inf)
        high = np.where(within & ~np.isnan(numbers), numbers, -np.inf).max(axis=1, initial=-np.inf)
        shown = cover.points[points]
        shares[:, points] = (shown >= low[:, None]) & (shown <= high[:, None])
    return shares


def _sum(inside: list[np.ndarray], codes: np.ndarray, counts: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """Σ over rows of the counts times, for every column asked for, the share of the row's code."""
    total = np.repeat(counts[None, :].astype(float), len(asked), axis=0)
    for j, share in enumerate(inside):
        rows = np.flatnonzero(asked[:, j])
        total[rows] *= share[np.ix_(rows, codes[:, j])]
    return np.asarray(total.sum(axis=1))
