"""Slow plain twins of velado.fuzzy, record by record, from the definitions."""

from __future__ import annotations

import math
from collections.abc import Sequence


def ordered(degrees: Sequence[float]) -> list[float]:
    """μ(0) = 1, the memberships in descending order, μ(n+1) = 0."""
    return [1.0, *sorted(degrees, reverse=True), 0.0]


def last_pair(degrees: Sequence[float]) -> int:
    """j = max{s : μ(s−1) + μ(s) > 1}, 0 for an empty set."""
    mu = ordered(degrees)
    return max((s for s in range(1, len(degrees) + 1) if mu[s - 1] + mu[s] > 1), default=0)


def exactly(degrees: Sequence[float], k: int) -> float:
    mu = ordered(degrees)
    return min(mu[k], 1 - mu[k + 1])


def at_least(degrees: Sequence[float], k: int) -> float:
    mu, j = ordered(degrees), last_pair(degrees)
    return mu[k] if k >= j else max(1 - mu[j], mu[j])


def cardinality(degrees: Sequence[float]) -> int:
    j = last_pair(degrees)
    return 0 if j == 0 else j if ordered(degrees)[j] >= 0.5 else j - 1


def posterior(memberships: list[list[float]], shares: list[dict[str, float]], values: list[str], row: int, s: str) -> float:
    """β(q, s) from records (memberships, value); ``shares[row]`` is f(·|q)."""
    classes = range(len(memberships[0]))

    def of(i: int, value: str | None = None) -> int:
        return cardinality([m[i] for m, v in zip(memberships, values, strict=True) if value in (None, v)])

    def g(value: str) -> float:
        weights = [memberships[row][i] for i in classes]
        number = sum(w * of(i, value) for i, w in zip(classes, weights, strict=True))
        share = sum(w * of(i, value) / max(of(i), 1) for i, w in zip(classes, weights, strict=True))
        return number * shares[row].get(value, 0.0) / share if share else 0.0

    total = sum(g(value) for value in set(values))
    return g(s) / total if total else math.nan


def c_means(
    points: list[list[float]], start: list[list[float]], m: float, tolerance: float, most: int
) -> tuple[list[list[float]], list[list[float]], int]:
    """Centres, memberships (rows × sets), iterations; points as they are."""
    centres, before = start, [[0.0] * len(start) for _ in points]
    for iteration in range(1, most + 1):
        now = []
        for x in points:
            squares = [max(math.dist(x, v) ** 2, 1e-30) for v in centres]
            now.append([1 / sum((a / b) ** (1 / (m - 1)) for b in squares) for a in squares])
        change = max(abs(a - b) for new, old in zip(now, before, strict=True) for a, b in zip(new, old, strict=True))
        if change <= tolerance or iteration == most:
            return centres, now, iteration
        before = now
        centres = [
            [
                sum(u[i] ** m * x[d] for u, x in zip(now, points, strict=True)) / sum(u[i] ** m for u in now)
                for d in range(len(points[0]))
            ]
            for i in range(len(start))
        ]
    raise AssertionError
