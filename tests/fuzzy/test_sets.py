"""Fuzzy sets, partitions of a column, memberships of crossed columns."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from velado.errors import InputError
from velado.fuzzy import FuzzyPartition, FuzzySet, PartitionCheck, check_partition, crisp, product, strongest

INF = math.inf
numbers = st.integers(-1000, 1000)
breakpoints = st.lists(numbers, min_size=2, max_size=8, unique=True).map(sorted)


def plain(a, b, c, d, x):
    """The membership function of a trapezoid, by cases."""
    if b <= x <= c:
        return 1.0
    if a < x < b:
        return (x - a) / (b - a)
    if c < x < d:
        return (d - x) / (d - c)
    return 0.0


@pytest.mark.parametrize(
    ("made", "corners"),
    [
        (FuzzySet.triangular(2, 5, 8), (2, 5, 5, 8)),
        (FuzzySet.falling(1, 2), (-INF, -INF, 1, 2)),
        (FuzzySet.rising(8, 11), (8, 11, INF, INF)),
        (FuzzySet(0, 1, 2, 3), (0, 1, 2, 3)),
    ],
)
def test_membership_by_cases(made, corners):
    x = np.linspace(-3, 15, 181)
    assert made.membership(x) == pytest.approx([plain(*corners, v) for v in x], abs=1e-12)


@settings(deadline=None)
@given(breakpoints, st.lists(st.floats(-2000, 2000), min_size=1, max_size=20))
def test_triangles_sum_to_one_and_are_normal_and_robust(peaks, x):
    partition = FuzzyPartition.triangular(peaks)
    memberships = partition.memberships([*x, *peaks])
    assert len(partition.sets) == len(peaks)
    assert check_partition(memberships) == PartitionCheck(True, True, True)
    assert ((memberships > 0).sum(axis=1) <= 2).all()


@settings(deadline=None)
@given(breakpoints.filter(lambda p: len(p) % 2 == 0), st.lists(st.floats(-2000, 2000), min_size=1, max_size=20))
def test_trapezoids_sum_to_one(corners, x):
    partition = FuzzyPartition.trapezoidal(corners)
    memberships = partition.memberships([*x, *corners])
    assert len(partition.sets) == len(corners) // 2 + 1
    assert check_partition(memberships) == PartitionCheck(True, True, True)
    for i, s in enumerate(partition.sets):
        assert memberships[: len(x), i] == pytest.approx([plain(s.a, s.b, s.c, s.d, v) for v in x], abs=1e-9)


@pytest.mark.parametrize(
    "corners",
    [
        (5, 2, 2, 8),
        (2, 2, 3, 4),
        (1, 2, 3, 3),
        (1, 3, 2, 4),
        (0, math.nan, 2, 3),
        (-INF, 0, 1, 2),
        (0, 1, 2, INF),
        (-INF, -INF, -INF, 3),
        (INF, INF, INF, INF),
    ],
)
def test_corners_out_of_order_are_refused(corners):
    with pytest.raises(InputError) as error:
        FuzzySet(*corners)
    assert error.value.code == "bad-breakpoints"


@pytest.mark.parametrize("points", [[30, 20, 40, 50], [30, 30], [30], [], [1, math.nan], [1, INF], ["young", "old"], [1, None]])
@pytest.mark.parametrize("build", [FuzzyPartition.triangular, FuzzyPartition.trapezoidal])
def test_bad_breakpoints_are_refused(build, points):
    with pytest.raises(InputError) as error:
        build(points, "age")
    assert (error.value.code, error.value.column) == ("bad-breakpoints", "age")


def test_trapezoids_need_pairs():
    with pytest.raises(InputError, match="even number"):
        FuzzyPartition.trapezoidal([1, 2, 3])


@pytest.mark.parametrize(
    "sets",
    [
        (),
        (FuzzySet.falling(1, 2),),
        (FuzzySet.falling(1, 2), FuzzySet.rising(1.5, 2)),
        (FuzzySet.falling(1, 2), FuzzySet.triangular(1, 2, 3)),
        (FuzzySet.falling(1, 2), FuzzySet.rising(1, 2), FuzzySet.triangular(5, 6, 7)),
    ],
)
def test_sets_that_do_not_sum_to_one_are_refused(sets):
    with pytest.raises(InputError) as error:
        FuzzyPartition(sets, "age")
    assert (error.value.code, error.value.column) == ("not-a-partition", "age")


def test_values_without_membership_are_refused():
    partition = FuzzyPartition.triangular([1, 2], "age")
    for values, code in ([1.0, math.nan], "not-finite"), (["a"], "not-a-number"):
        with pytest.raises(InputError) as error:
            partition.memberships(values)
        assert (error.value.code, error.value.column) == (code, "age")


def test_a_normal_partition_need_not_be_robust():
    """The thesis calls it evident that it is."""
    assert check_partition(np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.4, 0.3, 0.3]])) == PartitionCheck(True, True, False)
    assert check_partition(np.array([[0.9, 0.1], [0.2, 0.8]])) == PartitionCheck(True, False, True)
    assert check_partition(np.array([[1, 0.1], [0, 1]])) == PartitionCheck(False, True, True)


@settings(deadline=None)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=3), st.integers(0, 99))
def test_crossed_memberships_multiply(widths, seed):
    rng = np.random.default_rng(seed)
    columns = [rng.dirichlet(np.ones(c), 5) for c in widths]
    crossed = product(columns)
    assert crossed.sum(axis=1) == pytest.approx(1)
    for number, sets in enumerate(np.ndindex(*widths)):
        assert crossed[:, number] == pytest.approx(math.prod(m[:, i] for m, i in zip(columns, sets, strict=True)))


def test_too_many_classes_are_refused():
    with pytest.raises(InputError, match="too many") as error:
        product([np.ones((10, 100))] * 6)
    assert error.value.code == "too-many-classes"


def test_crisp_memberships_and_back():
    labels = np.array([2, 0, 1, 0, -1])
    memberships = crisp(labels, 3)
    assert memberships.tolist() == [[0, 0, 1], [1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 0, 0]]
    assert strongest(memberships[:4]).tolist() == labels[:4].tolist()
    assert strongest(np.array([[0.4, 0.4, 0.2]])).tolist() == [0]


@settings(deadline=None)
@given(st.integers(1, 500), st.integers(1, 200), st.sampled_from([10, 100, 7]))
def test_halfway_between_two_peaks_the_lower_set_is_the_strongest(low, half, unit):
    partition = FuzzyPartition.triangular([low / unit, (low + 2 * half) / unit])
    assert strongest(partition.memberships([(low + half) / unit])).tolist() == [0]
