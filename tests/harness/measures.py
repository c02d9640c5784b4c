"""The privacy models of one class, from their definitions, in whole numbers and exact fractions.

A class is given by how often it has each sensitive value, the whole input likewise. Only entropies and logarithms are
not rational: they are computed with fifty digits and compared with the documented tolerance.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache

from harness.reading import Cell

Tally = Mapping[Cell, int]
Figure = Fraction | Decimal | int | None
"""What a class reaches; None is infinite."""
TOLERANCE = Fraction(1, 10**12)
DIGITS = 50


def exact(parameter: object) -> Fraction:
    """The number that a parameter is written as: 0.1 is one tenth."""
    return Fraction(str(parameter))


@cache
def ln(n: int) -> Decimal:
    with localcontext() as context:
        context.prec = DIGITS
        return Decimal(n).ln()


def ln_of(ratio: Fraction) -> Decimal:
    with localcontext() as context:
        context.prec = DIGITS
        return ln(ratio.numerator) - ln(ratio.denominator)


def entropy(tally: Tally) -> Decimal:
    with localcontext() as context:
        context.prec = DIGITS
        n = sum(tally.values())
        return ln(n) - sum((c * ln(c) for c in tally.values()), Decimal(0)) / n


def recursive(tally: Tally, rank: int) -> Figure:
    """The most frequent value against those from a rank on."""
    sizes = sorted(tally.values(), reverse=True)
    return None if len(sizes) < rank else Fraction(sizes[0], sum(sizes[rank - 1 :]))


def distance_equal(tally: Tally, whole: Tally) -> Fraction:
    n, total = sum(tally.values()), sum(whole.values())
    own = sum(abs(c * total - whole[v] * n) for v, c in tally.items())
    absent = n * (total - sum(whole[v] for v in tally))
    return Fraction(own + absent, 2 * n * total)


def distance_ordered(tally: Tally, whole: Tally, order: Sequence[Cell]) -> Fraction:
    if len(order) < 2:
        return Fraction(0)
    n, total = sum(tally.values()), sum(whole.values())
    work = carried = 0
    for value in order[:-1]:
        carried += tally.get(value, 0) * total - whole[value] * n
        work += abs(carried)
    return Fraction(work, n * total * (len(order) - 1))


def distance_in_tree(tally: Tally, whole: Tally, chains: Mapping[Cell, Sequence[Cell]]) -> Fraction:
    """What is moved below each inner node, at the height of the node."""
    n, total = sum(tally.values()), sum(whole.values())
    height = len(next(iter(chains.values()))) - 1
    surplus: dict[Cell, int] = {v: tally.get(v, 0) * total - c * n for v, c in whole.items()}
    cost = 0
    for level in range(1, height + 1):
        parents = {chains[v][level - 1]: chains[v][level] for v in whole}
        moved: dict[Cell, list[int]] = defaultdict(list)
        for node, left in surplus.items():
            moved[parents[node]].append(left)
        for parts in moved.values():
            cost += level * min(sum(x for x in parts if x > 0), -sum(x for x in parts if x < 0))
        surplus = {node: sum(parts) for node, parts in moved.items()}
    return Fraction(cost, n * total * height) if height else Fraction(0)


def ratios(tally: Tally, whole: Tally) -> dict[Cell, Fraction]:
    """Share in the class by share in the whole input."""
    n, total = sum(tally.values()), sum(whole.values())
    return {v: Fraction(c * total, n * whole[v]) for v, c in tally.items()}


def largest_logarithm(tally: Tally, whole: Tally, base: object) -> Decimal:
    with localcontext() as context:
        context.prec = DIGITS
        scale = Decimal(1) if base == "e" else ln(2)
        return max(abs(ln_of(r)) / scale for r in ratios(tally, whole).values())


def delta_holds(tally: Tally, whole: Tally, delta: Fraction, base: object) -> bool:
    if base != "e" and delta.denominator == 1:
        # Powers of two are exact, and equality is not below.
        bound = Fraction(2) ** delta.numerator
        return all(1 / bound < r < bound for r in ratios(tally, whole).values())
    return Fraction(largest_logarithm(tally, whole, base)) < delta + TOLERANCE


def beta_holds(tally: Tally, whole: Tally, beta: Fraction, enhanced: bool) -> bool:
    total = sum(whole.values())
    for value, ratio in ratios(tally, whole).items():
        bound = beta
        if enhanced:
            bound = min(beta, Fraction(-ln_of(Fraction(whole[value], total))))
        if ratio > 1 and ratio - 1 > bound + TOLERANCE:
            return False
    return True


def largest_gain(tally: Tally, whole: Tally) -> Fraction:
    return max(Fraction(0), max(ratios(tally, whole).values()) - 1)
