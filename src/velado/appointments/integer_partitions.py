"""Partitions of integers, counted exactly and never listed: what ranks of anonymity vectors are made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from math import isqrt


def partition_numbers(most: int) -> list[int]:
    """p(0), …, p(most): in how many ways each number is a sum of positive parts, order aside.

    Euler's pentagonal number theorem, p(n) = Σ_{i≥1} (−1)^{i+1} (p(n − i(3i−1)/2) + p(n − i(3i+1)/2)): O(most^1.5)
    additions. Andrews, *The theory of partitions*, 1976, corollary 1.8.

    >>> partition_numbers(6)
    [1, 1, 2, 3, 5, 7, 11]
    """
    pentagonal = [(i * (3 * i + sign) // 2, i % 2 == 1) for i in range(1, isqrt(most) + 2) for sign in (-1, 1)]
    numbers = [1]
    for n in range(1, most + 1):
        total = 0
        for back, add in pentagonal:
            if back > n:
                break
            total = total + numbers[n - back] if add else total - numbers[n - back]
        numbers.append(total)
    return numbers


def with_parts_of_at_least(wanted: Sequence[int]) -> int:
    """Σ_j P_{≥j}(wanted[j−1]), j = 1, 2, …, where P_{≥j}(n) counts the partitions of n into parts of j or more.

    P_{≥j}(0) = 1 and P_{≥j}(n) = 0 for n < 0. ``wanted`` must not increase. Up to j = √n from one j to the next by
    P_{≥j+1}(n) = P_{≥j}(n) − P_{≥j}(n − j); beyond, a partition has few parts, and with p_m(n) partitions of n into
    exactly m parts P_{≥j}(n) = Σ_m p_m(n − m(j−1)). Both take O(n^1.5) additions, n = wanted[0].
    """
    reachable = [n for n in wanted if n >= 0]
    if not reachable:
        return 0
    turn = isqrt(reachable[0]) + 1
    small, large = reachable[:turn], reachable[turn:]
    total = 0
    table = partition_numbers(reachable[0])
    for j, n in enumerate(small, 1):
        total += table[n]
        if j < len(small):
            table = table[:j] + [after - before for after, before in zip(table[j:], table, strict=False)]
    if large:
        for m, exactly in zip(count(), _exactly(large[0]), strict=False):
            places = [n - m * (j - 1) for j, n in enumerate(large, turn + 1)]
            found = [exactly[n] for n in places if n >= 0]
            if not found:
                break
            total += sum(found)
    return total


def _exactly(most: int) -> Iterator[list[int]]:
    """For m = 0, 1, 2, … the numbers of partitions of 0, …, most into exactly m parts: p_m(n) = p_{m−1}(n−1) + p_m(n−m)."""
    parts = [1] + [0] * most
    for m in count(1):
        yield parts
        parts = [0, *parts[:-1]]
        for n in range(m, most + 1):
            parts[n] += parts[n - m]
