"""c-means, Gustafson–Kessel and k-means: against plain twins, with counts, and on bad input."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzzy import fuzzy_oracle
from velado.errors import InputError
from velado.fuzzy import CMeans, GustafsonKessel, KMeans, strongest

METHODS = [CMeans, GustafsonKessel, KMeans]


def clouds(seed, rows, columns, sets):
    rng = np.random.default_rng(seed)
    middle = rng.uniform(0, 10, (sets, columns))
    return middle[np.arange(rows) % sets] + rng.normal(0, 1, (rows, columns))


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(2, 4), st.sampled_from([2.0, 1.5, 3.0]))
def test_c_means_is_the_naive_one(seed, columns, sets, fuzzifier):
    x = clouds(seed, 30, columns, sets)
    start = x[:sets]
    found = CMeans(sets, scaled=False, fuzzifier=fuzzifier, tolerance=1e-6, iterations=60).fit(x, start=start)
    centres, memberships, iterations = fuzzy_oracle.c_means(x.tolist(), start.tolist(), fuzzifier, 1e-6, 60)
    order = sorted(range(sets), key=lambda i: centres[i])
    assert found.iterations == iterations
    assert found.centres == pytest.approx(np.array(centres)[order], abs=1e-8)
    assert found.memberships == pytest.approx(np.array(memberships)[:, order], abs=1e-8)
    squares = ((x[:, None] - found.centres[None]) ** 2).sum(axis=2)
    assert found.objective == pytest.approx((found.memberships**fuzzifier * squares).sum())


def naive_gustafson_kessel(x, v, tolerance, most):
    d2 = ((x[:, None] - v[None]) ** 2).sum(axis=2)
    u = (1 / d2) / (1 / d2).sum(axis=1, keepdims=True)
    for _ in range(most):
        v = np.array([np.average(x, axis=0, weights=u[:, i] ** 2) for i in range(len(v))])
        d2 = np.empty_like(u)
        for i in range(len(v)):
            f = np.cov(x.T, aweights=u[:, i] ** 2, bias=True).reshape(x.shape[1], -1)
            a = np.linalg.det(f) ** (1 / x.shape[1]) * np.linalg.inv(f)
            d2[:, i] = [(row - v[i]) @ a @ (row - v[i]) for row in x]
        new = (1 / d2) / (1 / d2).sum(axis=1, keepdims=True)
        if np.abs(new - u).max() <= tolerance:
            return v, new
        u = new
    return v, u


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10**6), st.integers(2, 3))
def test_gustafson_kessel_is_the_naive_one(seed, columns):
    x = clouds(seed, 60, columns, 3)
    found = GustafsonKessel(3, scaled=False, iterations=30).fit(x, start=x[:3])
    centres, memberships = naive_gustafson_kessel(x, x[:3] + 1e-13, 1e-5, 30)
    order = np.lexsort(centres.T[::-1])
    assert found.centres == pytest.approx(centres[order], abs=1e-6)
    assert found.memberships == pytest.approx(memberships[:, order], abs=1e-6)
    assert found.regularized == ()


def test_with_one_column_gustafson_kessel_is_c_means():
    x = clouds(1, 50, 1, 3)
    options = {"sets": 3, "tolerance": 1e-9}
    one, other = CMeans(**options).fit(x, start=x[:3]), GustafsonKessel(**options).fit(x, start=x[:3])
    assert one.memberships == pytest.approx(other.memberships, abs=1e-7)


@settings(deadline=None, max_examples=30)
@given(st.sampled_from(METHODS), st.integers(0, 10**6), st.integers(1, 2))
def test_counts_are_repeated_rows(method, seed, columns):
    x = clouds(seed, 20, columns, 3)
    counts = np.random.default_rng(seed).integers(1, 5, len(x))
    weighted = method(3).fit(x, counts, start=x[:3])
    repeated = method(3).fit(np.repeat(x, counts, axis=0), start=x[:3])
    assert weighted.iterations == repeated.iterations
    assert weighted.centres == pytest.approx(repeated.centres, abs=1e-7)
    assert np.repeat(weighted.memberships, counts, axis=0) == pytest.approx(repeated.memberships, abs=1e-7)
    assert weighted.objective == pytest.approx(repeated.objective)


@settings(deadline=None, max_examples=30)
@given(st.sampled_from(METHODS), st.integers(0, 10**6))
def test_what_holds_for_every_method(method, seed):
    x = clouds(seed, 40, 2, 3)
    found = method(3, seed=seed).fit(x)
    assert found.memberships.sum(axis=1) == pytest.approx(1)
    assert (found.memberships >= 0).all()
    assert found.converged
    assert found.centres.tolist() == sorted(found.centres.tolist())
    assert found.memberships_of(x) == pytest.approx(found.memberships, abs=1e-9)
    # The same again with the same seed; rows in another order; other units.
    again = method(3, seed=seed).fit(x)
    assert (again.memberships == found.memberships).all()
    order = np.random.default_rng(seed).permutation(len(x))
    start = x[:3]
    given_, shuffled = method(3).fit(x, start=start), method(3).fit(x[order], start=start)
    assert shuffled.memberships == pytest.approx(given_.memberships[order], abs=1e-6)
    rescaled = method(3).fit(x * [1000, 0.001] + [5, -7], start=start * [1000, 0.001] + [5, -7])
    assert rescaled.memberships == pytest.approx(given_.memberships, abs=1e-6)


def test_the_best_of_all_restarts_is_taken():
    x = clouds(3, 90, 2, 9)
    runs = [KMeans(9, restarts=r).fit(x).objective for r in (1, 2, 5, 20)]
    assert runs == sorted(runs, reverse=True)
    assert runs[0] > runs[-1] * (1 + 1e-3)


def test_k_means_finds_the_best_partition_of_a_few_points():
    x = np.array([0.0, 1, 2, 10, 11, 30, 31, 33])
    best = math.inf
    for labels in itertools.product(range(3), repeat=len(x)):
        groups = [x[np.array(labels) == i] for i in range(3)]
        if all(len(g) for g in groups):
            best = min(best, sum(((g - g.mean()) ** 2).sum() for g in groups))
    found = KMeans(3, scaled=False).fit(x)
    assert found.objective == pytest.approx(best)
    assert strongest(found.memberships).tolist() == [0, 0, 0, 1, 1, 2, 2, 2]


def test_k_means_fills_sets_that_lost_their_points():
    found = KMeans(3).fit([0.0, 1, 2, 3, 100], start=[[0.0], [500], [900]])
    assert found.memberships.sum(axis=0).min() >= 1
    assert found.converged


def test_a_point_on_a_centre_belongs_to_it():
    found = CMeans(2, fuzzifier=1.1).fit([0.0, 0, 0, 5, 5, 5])
    assert found.memberships == pytest.approx(np.repeat([[1, 0], [0, 1]], 3, axis=0))


@pytest.mark.parametrize("method", [CMeans, GustafsonKessel])
def test_a_set_to_which_nobody_belongs_keeps_its_centre(method):
    found = method(2, fuzzifier=1.01).fit([0.0, 1, 9, 10], start=[[0.0], [1e6]])
    assert found.centres.ravel() == pytest.approx([5, 1e6])
    assert found.memberships == pytest.approx(np.repeat([[1, 0]], 4, axis=0))
    assert found.converged


@pytest.mark.parametrize("method", METHODS)
def test_chunks_make_no_difference(method, monkeypatch):
    x = clouds(5, 200, 2, 3)
    x = x[np.argsort(x[:, 0])]
    whole = method(3).fit(x, start=x[[0, 100, 199]])
    monkeypatch.setattr("velado.fuzzy.clustering.CHUNK_CELLS", 30)
    parts = method(3).fit(x, start=x[[0, 100, 199]])
    assert parts.iterations == whole.iterations
    assert parts.memberships == pytest.approx(whole.memberships, abs=1e-9)


@pytest.mark.parametrize("extreme", [1e8, 1e12])
@pytest.mark.parametrize("method", METHODS)
def test_beside_an_extreme_value_the_others_keep_their_sets(method, extreme):
    x = np.append(np.random.default_rng(0).integers(18, 90, 300), extreme)
    above, below = method(3).fit(x), method(3).fit(-x)
    assert below.centres.ravel() == pytest.approx(-above.centres[::-1].ravel(), rel=1e-3)
    assert below.memberships == pytest.approx(above.memberships[:, ::-1], abs=1e-3)
    assert below.memberships_of(-x[:, None]) == pytest.approx(below.memberships, abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_points_that_no_distance_tells_apart_are_one(method):
    with pytest.raises(InputError, match="2 different points") as error:
        method(3).fit([1.0, 2, 3, 4, 1e20])
    assert error.value.code == "too-few-points"
    assert "extreme number" in str(error.value)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("method", METHODS)
def test_numbers_whose_distances_overflow_are_refused(method):
    for scaled, points, start in (
        (False, [0.0, 1, 2, 1e200], None),
        (True, [-1e308, 0, 1, 1e308], None),
        (True, [0.0, 1, 2, 3], [[0.0], [1e200]]),
    ):
        with pytest.raises(InputError) as error:
            method(2, scaled=scaled).fit(points, start=start)
        assert error.value.code == "too-large-numbers"


def test_unfinished_iterations_are_reported():
    found = CMeans(3, iterations=2).fit(clouds(0, 50, 2, 3), start=clouds(1, 3, 2, 3))
    assert (found.iterations, found.converged) == (2, False)


def test_stopping_at_the_largest_rise_comes_no_later():
    x = clouds(8, 60, 2, 3)
    every, rises = (CMeans(3, tolerance=1e-3, stop=stop).fit(x, start=x[:3]) for stop in ("change", "rise"))
    assert rises.iterations <= every.iterations
    with pytest.raises(InputError):
        CMeans(3, stop="fall")


def test_a_singular_covariance_is_regularized_and_reported():
    x = np.linspace(0, 1, 30)
    found = GustafsonKessel(2).fit(np.column_stack([x, 2 * x]))
    assert found.regularized == (0, 1)
    assert np.isfinite(found.memberships).all()
    assert found.memberships.sum(axis=1) == pytest.approx(1)
    cloud = np.concatenate([np.column_stack([x, x]), [[5, 5], [5.2, 6], [6, 5.1], [6.1, 6.2]]])
    assert GustafsonKessel(2).fit(cloud, start=[[0.5, 0.5], [5.6, 5.6]]).regularized == ()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("points", "code", "column"),
    [
        ([[1, 2], [1, 3], [1, 4]], "constant-column", "age"),
        ([[1, 2], [1, 2], [3, 4], [3, 4]], "too-few-points", None),
        ([[1, 2], [math.nan, 3], [4, 5]], "not-finite", "age"),
        ([[1, 2], [3, math.inf], [4, 5]], "not-finite", "income"),
        ([[1, 2], [3, 1e200], [4, 5]], "too-large-numbers", "income"),
        ([["a", "b"], ["c", "d"], ["e", "f"]], "not-a-number", None),
        (np.zeros((0, 2)), "no-rows", None),
    ],
)
def test_bad_points_are_refused(method, points, code, column):
    with pytest.raises(InputError) as error:
        method(3).fit(points, columns=("age", "income"))
    assert (error.value.code, error.value.column) == (code, column)


@pytest.mark.parametrize("method", METHODS)
def test_bad_starts_and_counts_are_refused(method):
    x = clouds(0, 10, 2, 3)
    for start in (x[:2], x[:3, :1], x[:3] * np.nan):
        with pytest.raises(InputError):
            method(3).fit(x, start=start)
    with pytest.raises(InputError, match="counts"):
        method(3).fit(x, counts=np.zeros(10, dtype=int))


@pytest.mark.parametrize("method", METHODS)
def test_every_parameter_refuses_nonsense(method):
    for name in method.parameters:
        for value in (None, "much", -1, math.nan):
            with pytest.raises(InputError) as error:
                method(**{name: value})
            assert error.value.code == "bad-parameter"
