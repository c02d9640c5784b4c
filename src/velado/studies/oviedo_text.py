"""The worked examples of the Oviedo text: small tables with printed figures, recomputed; their errata explained."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from velado.fuzzy import (
    FuzzyCardinality,
    FuzzyPartition,
    FuzzySet,
    cardinality,
    closeness,
    crisp,
    distributions,
    posterior,
    product,
    q_anonymity,
    record_histograms,
    sigma_count,
    value_cardinality,
)
from velado.studies.comparison import Compared, compare

ZIP = (47677, 47602, 47678, 47905, 47929, 47906, 47973, 47607, 47906, 47925, 47923, 47923)
AGE = (29, 22, 27, 43, 52, 47, 36, 32, 55, 56, 61, 67)
SALARY = (3.5, 3.5, 5, 7, 7, 8, 9, 10, 9, 9, 10, 15)
DISEASE = (
    "úlceras gástricas",
    "gastritis",
    "cáncer de estómago",
    "gastritis",
    "gripe",
    "bronquitis",
    "neumonía",
    "cáncer de estómago",
    "ataque al corazón",
    "ataque al corazón",
    "angina de pecho",
    "neumonía",
)
"""Table 3.1; tables 2.1 and 2.3 have the same ages and diseases."""

TABLE_3_3 = (
    (0.5, 0.5, 0, 0),
    (0.5, 0.5, 0, 0),
    (0, 1, 0, 0),
    (0, 0.33, 0.67, 0),
    (0, 0.33, 0.67, 0),
    (0, 0, 1, 0),
    (0, 0, 0.67, 0.33),
    (0, 0, 0.33, 0.67),
    (0, 0, 0.67, 0.33),
    (0, 0, 0.67, 0.33),
    (0, 0, 0.33, 0.67),
    (0, 0, 0, 1),
)
TABLE_3_4 = (
    (1, 0, 0, 0),
    (1, 0, 0, 0),
    (1, 0, 0, 0),
    (0, 0.92, 0.08, 0),
    (0, 0.17, 0.83, 0),
    (0, 0.58, 0.42, 0),
    (0.25, 0.75, 0, 0),
    (0.75, 0.25, 0, 0),
    (0, 0, 0.92, 0.08),
    (0, 0, 0.83, 0.17),
    (0, 0, 0.42, 0.58),
    (0, 0, 0, 1),
)
TABLE_3_5 = {
    "476** × Baja × Bajo": (0.75, 0.5, 0.33),
    "476** × Baja × Medio": (0.75, 0.5, 0.33),
    "479** × Media × Alto": (0.67, 0.67, 0.58),
    "479** × Alta × Alto": (0.67, 0.67, 0.67),
    "479** × Muy Alta × Muy Alto": (1, 0.58, 0.58),
}
CLASSES_3_2 = (0, 1, 22, 26, 31)
"""The five classes of table 3.2 among the 2 × 4 × 4 crossed ones."""
TABLE_3_9 = {"Joven": (0.67, 0.67, 0.67, 0), "Adulto": (0.67, 0.67, 0.67, 0), "Edad Avanzada": (0.67, 0.67, 0.67, 0.33)}
TABLE_3_12 = {21: (10, 15, 25), 22: (5, 5, 15), 23: (15, 5, 5), 24: (10, 10, 30), 25: (10, 5, 10)}
"""People by age with gastritis, ulcer, cancer of the stomach."""

AGES_9 = (29, 22, 27, 43, 52, 47, 30, 36, 32)
SALARIES_9 = (3, 4, 5, 6, 11, 8, 7, 9, 10)
DISEASES_9 = (
    "úlcera gástrica",
    "gastritis",
    "cáncer de estómago",
    "gastritis",
    "gripe",
    "bronquitis",
    "bronquitis",
    "neumonía",
    "cáncer de estómago",
)
"""Tables 2.6 and 3.13."""
BLOCKS_2_7 = (0, 0, 0, 1, 1, 1, 2, 2, 2)
SALARY_3_22 = (0.065278, 0.34028, 0.17778, 0.16667, 0.16667, 0.16667, 0.10069, 0.091667, 0.10069)
DISEASE_3_22 = (0.23333, 0.66667, 0.36667, 0.5, 0.5, 0.5, 0.33333, 0.2, 0.33333)

ROUNDED = "computed from memberships rounded to two digits"
NOT_ADDITIVE = "the non-fuzzy cardinality is not additive: the statement does not hold"
AGES_36_32 = "ages 36 and 32 lie between the peaks 30 and 42: the printed memberships are those of 39 and 33"
POSSIBILITY = "by (2.9) from the memberships of tables 3.3 and 3.4; the printed row does not follow from them"
OTHER_PERSON = "the printed sum takes the memberships of individual 2, not those of q"
SMALLEST = "the thesis takes the smallest; t-closeness (principle 2.22) asks for the largest"


def examples() -> list[Compared]:
    """Every printed figure of the worked examples that can be computed."""
    return [*_chapter_2(), *_partitions(), *_anonymity(), *_beliefs(), *_posterior(), *_closeness()]


def row(
    configuration: str, figure: str, published: Sequence[float], obtained: Iterable[float], digits: int, why: str = ""
) -> Compared:
    """Compare a row of numbers to so many decimals."""
    found = np.asarray(list(obtained), dtype=float)
    agrees = bool((np.abs(found - published) <= 0.5 * 10.0**-digits + 1e-9).all())
    before, after = (" ".join(f"{x:g}" for x in numbers) for numbers in (published, found.round(digits) + 0.0))
    return Compared(configuration, figure, before, after, agrees, "" if agrees else why)


def codes(values: Sequence[str] | Sequence[float]) -> np.ndarray:
    """The number of each value among the different ones, ascending."""
    return np.unique(np.asarray(values), return_inverse=True)[1]


def salary() -> FuzzyPartition:
    """Example 3.5: Bajo, Medio, Alto, Muy Alto."""
    return FuzzyPartition.triangular([2, 5, 8, 11], "Salario")


def age() -> FuzzyPartition:
    """Example 3.5: Baja, Media, Alta, Muy Alta."""
    return FuzzyPartition.triangular([30, 42, 54, 66], "Edad")


def classes_3_2() -> np.ndarray:
    """Memberships of the twelve individuals in the five classes of table 3.2."""
    zips = crisp(np.array([0 if z < 47900 else 1 for z in ZIP]), 2)
    return product([zips, age().memberships(AGE), salary().memberships(SALARY)])[:, CLASSES_3_2]


def _chapter_2() -> list[Compared]:
    blocks, by_salary = crisp(np.array(BLOCKS_2_7), 3), record_histograms(codes(SALARIES_9))
    distance = closeness(blocks, distributions(value_cardinality(blocks, by_salary)), np.full(9, 1 / 9), ordered=True)
    a = np.array([[0.7], [0.6], [0.3], [0.0]])
    groups = crisp(np.array([0 if x <= 32 else 1 if x <= 52 else 2 for x in AGE]), 3)
    distinct = value_cardinality(groups, record_histograms(codes(DISEASE))) > 0
    rising = "the printed formula (x − a)/(b − a) rises; from 1 at a to 0 at b it is (b − x)/(b − a)"
    return [
        compare("example 2.10", "k", 4, int(cardinality(groups).min())),
        compare("example 2.19", "ℓ", 3, int(distinct.sum(axis=1).min())),
        compare("example 2.25", "D[P1, Q]", 0.375, float(distance[0]), 5e-4),
        compare("example 2.25", "D[P2, Q]", 0.167, float(distance[3]), 5e-4),
        compare("one-sided triangle", "1.25 in (−∞; 1; 2)", 0.25, float(FuzzySet.falling(1, 2).membership([1.25])[0]), 0, rising),
        compare("example 2.37", "σ-count", 1.15, float(sigma_count(np.array([[0.1], [0.35], [0.4], [0], [0.3]]))[0]), 1e-9),
        row("example 2.40", "|A| = 0 … 4", (0.3, 0.4, 0.6, 0.3, 0), FuzzyCardinality.of(a).exactly(np.arange(5))[:, 0], 9),
        compare("example 2.40", "non-fuzzy cardinality", 2, int(cardinality(a)[0])),
        compare("example 2.41", "σ-count", 1.6, float(sigma_count(a)[0]), 1e-9),
    ]


def _partitions() -> list[Compared]:
    """Tables 3.3 and 3.4, proposition 3.4, example 3.7."""
    found = []
    for name, table, degrees in (
        ("table 3.3", TABLE_3_3, salary().memberships(SALARY)),
        ("table 3.4", TABLE_3_4, age().memberships(AGE)),
    ):
        found += [row(name, f"individual {i + 1}", published, degrees[i], 2, AGES_36_32) for i, published in enumerate(table)]
    total = int(cardinality(age().memberships(AGE)).sum())
    found.append(compare("proposition 3.4", "Σ # of the ages' sets", len(AGE), total, 0, NOT_ADDITIVE))
    found.append(compare("example 3.7", "individual 1 in 476** × Baja × Bajo", 0.5, float(classes_3_2()[0, 0]), 1e-9))
    return found


def _anonymity() -> list[Compared]:
    """Tables 3.5, 3.7 and 3.9."""
    counted = FuzzyCardinality.of(classes_3_2())
    possible = counted.at_least(np.arange(1, 4))
    found = [row("table 3.5", c, p, possible[:, i], 2, POSSIBILITY) for i, (c, p) in enumerate(TABLE_3_5.items())]
    means = "the printed means are those of the printed rows"
    found.append(row("table 3.5", "table", (0.77, 0.58, 0.49), q_anonymity(counted, np.arange(1, 4)), 2, means))
    ages = (21, 24, 32, 36, 45, 56, 58, 62, 65)
    found.append(compare("table 3.7", "k", 3, int(np.bincount(np.searchsorted((35, 57), ages)).min())))
    counted = FuzzyCardinality.of(FuzzyPartition.trapezoidal([30, 36, 54, 60]).memberships(ages))
    possible = counted.at_least(np.arange(1, 5))
    adult = "ages 32 and 58 belong to Adulto by 0.33 each: it has five members"
    found += [row("table 3.9", c, p, possible[:, i], 2, adult) for i, (c, p) in enumerate(TABLE_3_9.items())]
    found.append(row("table 3.9", "table", (0.67, 0.67, 0.67, 0.11), q_anonymity(counted, np.arange(1, 5)), 2, adult))
    return found


def _beliefs() -> list[Compared]:
    """Examples 3.13, 3.16 and 3.18: what is known of individual 4 (q = 47905 × 43 × 7); theorem 3.15."""
    memberships, disease = classes_3_2(), codes(DISEASE)
    histograms = record_histograms(disease)
    of_value, of_class = value_cardinality(memberships, histograms), cardinality(memberships)
    gastritis, q = of_value[:, disease[3]], memberships[3]
    share = float(q @ (gastritis / of_class))
    belief = float(posterior(memberships, histograms)[[3], [disease[3]]][0])
    table = "with the memberships of table 3.4 that individual 7 really has, 0.5 in Media, Q3 has 2 elements"
    return [
        row("example 3.13", "μ(q) in Q1 … Q5", (0, 0, 0.6164, 0.0536, 0), q, 4, ROUNDED),
        row("example 3.13", "#(Q1 … Q5 ∩ gastritis)", (1, 1, 1, 0, 0), gastritis, 0),
        compare("example 3.13", "n(s, q, T*)", 0.6164, float(q @ gastritis), 5e-5, ROUNDED),
        compare("theorem 3.15", "f(S | Q1)", 1.0, float(of_value[0].sum() / of_class[0]), 0, NOT_ADDITIVE),
        row("example 3.16", "#Q1 … #Q5", (1, 2, 3, 3, 1), of_class, 0, table),
        compare("example 3.16", "f(s | q*)", 0.75, share, 5e-3, OTHER_PERSON),
        compare("example 3.18", "g(gastritis)", 0.82187, float(q @ gastritis) / share, 5e-6, OTHER_PERSON),
        compare("example 3.18", "β", 1.0, belief, 1e-9),
    ]


def _posterior() -> list[Compared]:
    """Example 3.19: the posterior of somebody of 21."""
    from scipy.sparse import csr_array

    memberships = FuzzyPartition.triangular([20, 23, 26]).memberships(list(TABLE_3_12))
    histograms = csr_array(np.array(list(TABLE_3_12.values())))
    of_class = cardinality(memberships, np.asarray(histograms.sum(axis=1)))
    of_value = value_cardinality(memberships, histograms)
    counts = np.array(TABLE_3_12[21])
    g = (memberships[0] @ of_value) * (counts / counts.sum()) / (memberships[0] @ (of_value / of_class[:, None]))
    published = ((10, 15, 25), (30, 20, 50), (10, 5, 10))
    return [
        row("example 3.19", "#Q1 #Q2 #Q3", (50, 100, 25), of_class, 0),
        *(row("example 3.19", f"#(Q{i + 1} ∩ s)", published[i], of_value[i], 0) for i in range(3)),
        *(
            compare("example 3.19", f"g({s})", p, float(x), 1e-9)
            for s, p, x in zip("guc", (100 / 7, 75 / 4, 100 / 3), g, strict=True)
        ),
        compare("example 3.19", "β", 0.2152, float(posterior(memberships, histograms)[[0], [0]][0]), 5e-5),
    ]


def _closeness() -> list[Compared]:
    """Example 3.22: the distance of every individual; in the text all values of the table are equally likely."""
    memberships = FuzzyPartition.trapezoidal([25, 30, 35, 40]).memberships(AGES_9)
    found = []
    for name, values, published, ordered in (
        ("salary", SALARIES_9, SALARY_3_22, True),
        ("disease", DISEASES_9, DISEASE_3_22, False),
    ):
        histograms = record_histograms(codes(values))
        has = value_cardinality(memberships, histograms) >= 1
        uniform = np.full(has.shape[1], 1 / has.shape[1])
        distance = closeness(memberships, distributions(has), uniform, ordered)
        example = f"example 3.22, {name}"
        found += [compare(example, f"D of individual {i + 1}", p, float(distance[i]), 5e-6) for i, p in enumerate(published)]
        found += [
            compare(example, "t, the smallest", min(published), float(distance.min()), 5e-6),
            Compared(example, "t, the largest (our definition)", None, float(distance.max()), None, SMALLEST),
        ]
    return found
