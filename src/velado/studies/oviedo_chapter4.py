"""Chapter 4 of the Oviedo thesis: which coding protects best, summed up over all pairs of columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from velado.studies.comparison import Compared
from velado.studies.oviedo_codings import Coded
from velado.studies.oviedo_measures import DIGITS, TITLES, Figures, Pair
from velado.studies.oviedo_text import row

Annex = Mapping[str, Mapping[Pair, Coded]]
"""By coding, the pairs."""
Rows = Mapping[str, Sequence[float]]
"""By criterion, a number for every coding."""

INDEPENDENT = ("independent k-means", "global recode", "independent fuzzy")
JOINT = ("joint k-means", "Gustafson–Kessel", "joint c-means")
SMALLER_IS_BETTER = ("risk", "t10", "t12", "T10", "T12")
SINGLED_OUT: Pair = (2, 5)
"""Left out of table 4.2: no coding reaches k = 2."""

TABLE_4_1 = {
    "k": (45, 102, 44),
    "risk": (165, 313, 170),
    "l10": (34, 73, 29),
    "t10": (0.0645, 0.019, 0.0305),
    "l12": (34, 71, 29),
    "t12": (0.0629, 0.0255, 0.0279),
}
TABLE_4_2 = {"k": (8, 42, 7), "risk": (8, 37, 9), "l10": (7, 48, 1), "t10": (2, 42, 10), "l12": (7, 48, 1), "t12": (2, 42, 10)}
TABLE_4_3 = {"k": (15.24, 46.89, 52.67, 8.17, 15.23, 45.89), "risk": (229.53, 151.72, 124.33, 79.11, 248.49, 177.7)}
TABLE_4_4 = {
    "k": (165, 221, 334),
    "risk": (165, 162, 0),
    "Q": (199, 319),
    "l10": (99, 106, 131),
    "t10": (0.0091, 0.0035, 0.0127),
    "l12": (98, 102, 128),
    "t12": (0.0104, 0.0032, 0.0101),
}
TABLE_4_5 = {
    "k": (14, 10, 32),
    "risk": (27, 19, 34),
    "Q": (8, 47),
    "l10": (30, 9, 18),
    "t10": (0, 43, 12),
    "l12": (29, 10, 18),
    "t12": (0, 43, 12),
}
TABLE_4_6 = {
    "k": (213.62, 100.27, 200.78, 107.05, 278.42, 23.78),
    "risk": (164.42, 189.36, 236.78, 257.83, 109.22, 107.9),
    "Q": (184.36, 99.3, 262.29, 47.63),
    "l10": (97.73, 41.88, 89.55, 32.54, 109.56, 10.7),
    "t10": (0.0867, 0.0827, 0.0049, 0.0042, 0.0129, 0.0115),
    "l12": (93.76, 37.42, 86.13, 30.96, 104.6, 10.19),
    "t12": (0.0879, 0.0841, 0.0047, 0.004, 0.0122, 0.0107),
}
TABLE_4_7 = {"l10": (33, 24), "l12": (34, 25)}

ROUNDING = "a mean is rounded wrongly in its last digit"
RISK = "the printed numbers at risk of table 5.9 contradict its classes"
ALIGNED = "with labels beside their own records the advantage of global recode disappears: it came from the bugs"
OURS = "by the largest distance and real frequencies, as t-closeness is defined"


def chapter_4(annex: Annex) -> list[Compared]:
    """Tables 4.1 to 4.7 from the obtained figures, and what remains of them without the bugs and by our t."""
    of = {name: {pair: coded.figures for pair, coded in pairs.items()} for name, pairs in annex.items()}
    correct = {name: {pair: coded.correct for pair, coded in pairs.items()} for name, pairs in annex.items()}
    first, second = ([of[name] for name in names] for names in (INDEPENDENT, JOINT))
    compared: list[Compared] = []
    for table, codings, rows in (("table 4.1", first, TABLE_4_1), ("table 4.4", second, TABLE_4_4)):
        example = [pairs[1, 2] for pairs in codings]
        compared += _rows(table, rows, {c: [f[c] for f in example if c in f] for c in rows}, DIGITS, RISK)
    compared += _rows("table 4.2, best codings", TABLE_4_2, _wins(first, TABLE_4_2, SINGLED_OUT), 0)
    right = [correct[name] for name in INDEPENDENT]
    compared += _beside("table 4.2 without the bugs", _wins(right, ("t10", "t12"), SINGLED_OUT), ALIGNED)
    compared += _beside("table 4.2 by our definition", _wins(right, ("T10", "T12"), SINGLED_OUT), OURS)
    compared += _rows("table 4.3, means and distances", TABLE_4_3, _means(first, TABLE_4_3), 2)
    compared += _rows("table 4.5, best codings", TABLE_4_5, _wins(second, TABLE_4_5), 0, RISK)
    compared += _beside("table 4.5 by our definition", _wins(second, ("T10", "T12")), OURS)
    compared += _rows("table 4.6, means and distances", TABLE_4_6, _means(second, TABLE_4_6), 2, RISK)
    return [*compared, *_rows("table 4.7, best of two codings", TABLE_4_7, _wins(second[::2], TABLE_4_7), 0)]


def _rows(table: str, published: Rows, obtained: Rows, digits: int, risk: str = ROUNDING) -> list[Compared]:
    return [
        row(table, TITLES[c], p, obtained[c], DIGITS if c.startswith("t") else digits, risk if c == "risk" else ROUNDING)
        for c, p in published.items()
    ]


def _beside(table: str, obtained: Rows, why: str) -> list[Compared]:
    """Numbers for which nothing is printed."""
    return [Compared(table, TITLES[c], None, " ".join(map(str, numbers)), None, why) for c, numbers in obtained.items()]


def _compare_codings(
    codings: Sequence[Mapping[Pair, Figures]], criterion: str, without: Pair | None = None
) -> list[dict[Pair, tuple[float, float]]]:
    """For every coding that has the criterion: by pair, its figure and its distance to the best coding."""
    best: dict[Pair, float] = {}
    better = min if criterion in SMALLER_IS_BETTER else max
    for pairs in codings:
        for pair, figures in pairs.items():
            if criterion in figures and pair != without:
                best[pair] = better(best.get(pair, figures[criterion]), figures[criterion])
    having = [pairs for pairs in codings if any(criterion in figures for figures in pairs.values())]
    return [
        {p: (pairs[p][criterion], abs(pairs[p][criterion] - b)) for p, b in best.items() if criterion in pairs[p]}
        for pairs in having
    ]


def _wins(
    codings: Sequence[Mapping[Pair, Figures]], criteria: Sequence[str] | Rows, without: Pair | None = None
) -> dict[str, list[float]]:
    """In how many pairs each coding is the best, or one of them."""
    return {
        c: [sum(distance == 0 for _, distance in pairs.values()) for pairs in _compare_codings(codings, c, without)]
        for c in criteria
    }


def _means(codings: Sequence[Mapping[Pair, Figures]], criteria: Rows) -> dict[str, list[float]]:
    """The mean of each coding over all pairs, and its mean distance to the best where it is not."""
    found: dict[str, list[float]] = {}
    for c in criteria:
        found[c] = []
        for pairs in _compare_codings(codings, c):
            distances = [distance for _, distance in pairs.values() if distance]
            found[c] += [float(np.mean([figure for figure, _ in pairs.values()])), float(np.mean(distances))]
    return found
