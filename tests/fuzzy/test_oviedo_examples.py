"""The worked examples and some rows of the annex of the thesis (Oviedo), to the printed digits, errata corrected."""

import csv
import os
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from velado.fuzzy import (
    CMeans,
    FuzzyCardinality,
    FuzzyPartition,
    GlobalRecode,
    GustafsonKessel,
    cardinality,
    closeness,
    crisp,
    distributions,
    diversity,
    largest_q,
    posterior,
    product,
    q_anonymity,
    record_histograms,
    sigma_count,
    strongest,
    value_cardinality,
)

DATA = Path(os.environ.get("VELADO_DATA", Path(__file__).parents[3] / "shared" / "data"))
needs_data = pytest.mark.skipif(not (DATA / "casc").exists(), reason="the CASC data are not there (VELADO_DATA)")

AGES = [29, 22, 27, 43, 52, 47, 36, 32, 55, 56, 61, 67]
SALARIES = [3.5, 3.5, 5, 7, 7, 8, 9, 10, 9, 9, 10, 15]
ZIP = [0, 0, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1]
DISEASES = [
    "ulcer",
    "gastritis",
    "cancer",
    "gastritis",
    "flu",
    "bronchitis",
    "pneumonia",
    "cancer",
    "heart",
    "heart",
    "angina",
    "pneumonia",
]
AGE = FuzzyPartition.triangular([30, 42, 54, 66])
SALARY = FuzzyPartition.triangular([2, 5, 8, 11])


def codes(values):
    return np.unique(values, return_inverse=True)[1]


def five_classes():
    """The classes of table 3.2."""
    crossed = product([crisp(np.array(ZIP), 2), AGE.memberships(AGES), SALARY.memberships(SALARIES)])
    return crossed[
        :, [zip_ * 16 + age * 4 + salary for zip_, age, salary in [(0, 0, 0), (0, 0, 1), (1, 1, 2), (1, 2, 2), (1, 3, 3)]]
    ]


def test_examples_2_37_to_2_41_cardinalities():
    assert sigma_count(np.array([[0.1], [0.35], [0.4], [0], [0.3]])) == pytest.approx(1.15)
    a = np.array([[0.7], [0.6], [0.3], [0]])
    assert FuzzyCardinality.of(a).exactly(np.arange(5))[:, 0] == pytest.approx([0.3, 0.4, 0.6, 0.3, 0])
    assert (cardinality(a)[0], sigma_count(a)[0]) == (2, pytest.approx(1.6))


def test_example_2_25_crisp_closeness():
    classes = crisp(np.repeat([0, 1, 2], 3), 3)
    salary = record_histograms(codes([3, 4, 5, 6, 11, 8, 7, 9, 10]))
    found = closeness(classes, distributions(value_cardinality(classes, salary)), np.full(9, 1 / 9), ordered=True)
    assert found[[0, 3]].round(4).tolist() == [0.375, 0.1667]


def test_table_3_3_salaries():
    printed = [
        [0.5, 0.5, 0, 0],
        [0.5, 0.5, 0, 0],
        [0, 1, 0, 0],
        [0, 0.33, 0.67, 0],
        [0, 0.33, 0.67, 0],
        [0, 0, 1, 0],
        [0, 0, 0.67, 0.33],
        [0, 0, 0.33, 0.67],
        [0, 0, 0.67, 0.33],
        [0, 0, 0.67, 0.33],
        [0, 0, 0.33, 0.67],
        [0, 0, 0, 1],
    ]
    assert SALARY.memberships(SALARIES).round(2).tolist() == printed


def test_table_3_4_ages_with_rows_7_and_8_corrected():
    printed = [
        [1, 0, 0, 0],
        [1, 0, 0, 0],
        [1, 0, 0, 0],
        [0, 0.92, 0.08, 0],
        [0, 0.17, 0.83, 0],
        [0, 0.58, 0.42, 0],
        [0.5, 0.5, 0, 0],
        [0.83, 0.17, 0, 0],
        [0, 0, 0.92, 0.08],
        [0, 0, 0.83, 0.17],
        [0, 0, 0.42, 0.58],
        [0, 0, 0, 1],
    ]
    assert AGE.memberships(AGES).round(2).tolist() == printed


def test_table_3_5_q_anonymity_by_definition():
    classes = FuzzyCardinality.of(five_classes())
    by_class = [[0.5, 0.5, 0], [0.5, 0.5, 0.5], [0.583, 0.583, 0.333], [0.556, 0.556, 0.556], [0.611, 0.389, 0.056]]
    assert classes.at_least([1, 2, 3]).T.round(3).tolist() == by_class
    assert q_anonymity(classes, [1, 2, 3]).round(4).tolist() == [0.55, 0.5056, 0.2889]
    assert largest_q(classes) == 2


def test_table_3_9_q_anonymity():
    age = FuzzyPartition.trapezoidal([30, 36, 54, 60])
    classes = FuzzyCardinality.of(age.memberships([21, 24, 32, 36, 45, 56, 58, 62, 65]))
    assert q_anonymity(classes, [1, 2, 3, 4]).round(3).tolist() == [0.667, 0.667, 0.667, 0.222]
    assert classes.at_least(4).round(2).tolist() == [0, 0.33, 0.33]


def test_examples_3_13_to_3_18_posterior():
    memberships = five_classes()
    histograms = record_histograms(codes(DISEASES))
    gastritis = sorted(set(DISEASES)).index("gastritis")
    assert memberships[3].round(4).tolist() == [0, 0, 0.6111, 0.0556, 0]
    assert value_cardinality(memberships, histograms)[:, gastritis].tolist() == [1, 1, 1, 0, 0]
    assert posterior(memberships, histograms).toarray()[3, gastritis] == 1


def test_example_3_19_posterior_of_groups():
    sizes = np.array([[10, 15, 25], [5, 5, 15], [15, 5, 5], [10, 10, 30], [10, 5, 10]])
    memberships = FuzzyPartition.triangular([20, 23, 26]).memberships([21, 22, 23, 24, 25])
    assert cardinality(memberships, sizes.sum(axis=1)).tolist() == [50, 100, 25]
    assert value_cardinality(memberships, csr_array(sizes)).tolist() == [[10, 15, 25], [30, 20, 50], [10, 5, 10]]
    found = posterior(memberships, csr_array(sizes)).toarray()[0]
    g = np.array([100 / 7, 75 / 4, 100 / 3])
    assert found == pytest.approx(g / g.sum())
    assert found[0].round(6) == 0.215247


def test_example_3_22_closeness_of_individuals():
    age = FuzzyPartition.trapezoidal([25, 30, 35, 40]).memberships([29, 22, 27, 43, 52, 47, 30, 36, 32])
    salary = record_histograms(codes([3, 4, 5, 6, 11, 8, 7, 9, 10]))
    of_salary = distributions(value_cardinality(age, salary))
    distances = closeness(age, of_salary, np.full(9, 1 / 9), ordered=True)
    printed = [0.065278, 0.340278, 0.177778, 0.166667, 0.166667, 0.166667, 0.100694, 0.091667, 0.100694]
    assert distances.round(6).tolist() == printed
    disease = record_histograms(
        codes(["ulcer", "gastritis", "cancer", "gastritis", "flu", "bronchitis", "bronchitis", "pneumonia", "cancer"])
    )
    distances = closeness(age, distributions(value_cardinality(age, disease)), np.full(6, 1 / 6))
    printed = [0.233333, 0.666667, 0.366667, 0.5, 0.5, 0.5, 0.333333, 0.2, 0.333333]
    assert distances.round(6).tolist() == printed
    assert diversity(value_cardinality(age, disease)).tolist() == [2, 4, 3]


# The annex: pairs of columns of the CASC data. Start and stop are those of the thesis's software.

DRAWN = [0.95012928514718, 0.23113851357429, 0.60684258354179, 0.48598246870930, 0.89129896614890, 0.76209683302739]


def published(table):
    with open(DATA / "golden" / "oviedo" / f"T5_{table}.csv", encoding="utf-8") as stream:
        return {(int(r["a"]), int(r["b"])): r for r in csv.DictReader(stream)}


@pytest.fixture(scope="module")
def casc():
    return np.loadtxt(DATA / "casc" / "cascrefmicrodata.csv", delimiter=",", skiprows=1)


def start_of(points):
    drawn = np.array(DRAWN[: 3 * points.shape[1]]).reshape(-1, 3).T
    middle = points.mean(axis=0)
    return middle + 2 * np.abs(points - middle).max(axis=0) * (drawn - 0.5)


def as_printed(memberships, casc, table, pair):
    row = published(table)[pair]
    sizes = np.bincount(strongest(memberships))
    assert max(1, largest_q(FuzzyCardinality.of(memberships))) == float(row["Q"])
    assert sizes[sizes > 0].min() == float(row["k"])
    row = published(table + 1)[pair]
    for column in (10, 12):
        found = value_cardinality(memberships, record_histograms(codes(casc[:, column - 1])))
        there = found >= 1
        assert diversity(found).min() == float(row[f"l{column}"])
        distances = closeness(memberships, distributions(there), there.sum(axis=0) / there.sum(), ordered=True)
        assert distances.min() == pytest.approx(float(row[f"t{column}"]), abs=5.1e-5)


@needs_data
@pytest.mark.parametrize(
    ("method", "table"), [(CMeans, 11), (GustafsonKessel, 9)], ids=["tables 5.11 and 5.12", "tables 5.9 and 5.10"]
)
@pytest.mark.parametrize("pair", [(1, 2), (1, 4), (3, 9), (5, 11), (6, 13), (8, 13)])
def test_joint_fuzzy_clustering(casc, method, table, pair):
    points = casc[:, [pair[0] - 1, pair[1] - 1]]
    found = method(3, tolerance=1e-4, stop="rise").fit(points, start=start_of(points))
    assert found.converged
    assert found.regularized == ()
    as_printed(found.memberships, casc, table, pair)


@needs_data
@pytest.mark.parametrize("pair", [(1, 2), (2, 3), (1, 8)])
def test_tables_5_5_and_5_6_independent_fuzzy_clustering(casc, pair):
    columns = [casc[:, [i - 1]] for i in pair]
    crossed = product([CMeans(3, tolerance=1e-4, stop="rise").fit(x, start=start_of(x)).memberships for x in columns])
    as_printed(crossed, casc, 5, pair)


@needs_data
@pytest.mark.parametrize("pair", [(1, 2), (4, 7), (9, 13)])
def test_table_5_3_global_recode(casc, pair):
    first, second = (GlobalRecode(3, "equalAmount", "lowest").fit(casc[:, i - 1]).labels for i in pair)
    sizes = np.bincount((3 * first + second)[(first >= 0) & (second >= 0)])
    assert sizes[sizes > 0].min() == float(published(3)[pair]["k"])
