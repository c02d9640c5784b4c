"""Global recode against NumPy on repeated rows, and what becomes of outliers."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from velado.errors import InputError
from velado.fuzzy import GlobalRecode

columns = st.lists(st.tuples(st.integers(1, 60), st.integers(1, 4)), min_size=2, max_size=25).filter(
    lambda rows: len({value for value, _ in rows}) > 1
)


def plain_labels(values, breaks, closed):
    labels = []
    for x in values:
        inside = [i for i in range(len(breaks) - 1) if breaks[i] < x <= breaks[i + 1]]
        labels.append(0 if closed and x == breaks[0] else inside[0] if inside else -1)
    return labels


@settings(deadline=None)
@given(columns, st.integers(2, 5), st.sampled_from(["equidistant", "logEqui", "equalAmount"]), st.sampled_from(["keep", "lowest"]))
def test_breaks_and_labels(rows, intervals, method, outliers):
    values, counts = np.array([v for v, _ in rows], dtype=float), np.array([c for _, c in rows])
    repeated = np.repeat(values, counts)
    found = GlobalRecode(intervals, method, outliers).fit(values, counts)
    low, high = repeated.min(), repeated.max()
    expected = {
        "equidistant": np.linspace(low, high, intervals + 1),
        "logEqui": np.exp(np.linspace(np.log(low), np.log(high), intervals + 1)),
        "equalAmount": np.quantile(repeated, np.linspace(0, 1, intervals + 1)),
    }[method]
    distinct = [expected[0], *(b for a, b in pairwise(expected) if b - a > 1e-9)]
    assert found.breaks == pytest.approx(distinct)
    assert found.number == len(distinct) - 1
    assert found.labels.tolist() == plain_labels(values, found.breaks, outliers == "keep")
    assert ((found.labels == -1) == (values == low)).all() if outliers == "lowest" else (found.labels >= 0).all()
    assert (found.labels_of(values) == found.labels).all()


@settings(deadline=None)
@given(columns, st.sampled_from(["equidistant", "logEqui", "equalAmount"]), st.sampled_from(["keep", "lowest", "fences"]))
def test_counts_are_repeated_rows(rows, method, outliers):
    values, counts = np.array([v for v, _ in rows]), np.array([c for _, c in rows])
    recode = GlobalRecode(3, method, outliers)
    weighted, repeated = recode.fit(values, counts), recode.fit(np.repeat(values, counts))
    assert (weighted.breaks == repeated.breaks).all()
    assert (np.repeat(weighted.labels, counts) == repeated.labels).all()


def test_rounding_makes_no_interval_of_its_own():
    """0.6 · 5 is not 3 in floating point."""
    assert GlobalRecode(5).fit([1, 1, 1, 1, 2, 2]).breaks.tolist() == [1, 2]


def test_outliers_beyond_the_fences_are_left_out_and_do_not_count():
    values = np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 1000])
    kept, left = (GlobalRecode(2, "equidistant", x).fit(values) for x in ("keep", "fences"))
    assert kept.labels.tolist() == [0] * 9 + [1]
    assert left.labels.tolist() == [0] * 5 + [1] * 4 + [-1]
    assert left.labels_of([0, 1, 5, 9, 10]).tolist() == [-1, 0, 0, 1, -1]
    within = np.arange(1, 21)
    amounts = GlobalRecode(3, "equalAmount", "fences").fit([-1000, *within], counts=np.array([3] + [1] * 20))
    assert amounts.labels.tolist() == [-1, *GlobalRecode(3).fit(within).labels]
    # The quartiles are the same: there is no spread to judge by.
    assert (GlobalRecode(2, "equidistant", "fences").fit([0, 0, 0, 0, 0, 0, 0, 0, 9, 1]).labels >= 0).all()


@pytest.mark.parametrize(
    ("method", "values", "code"),
    [
        ("equalAmount", [5, 5, 5], "constant-column"),
        ("equidistant", [5, 5], "constant-column"),
        ("logEqui", [0, 1, 2], "not-positive"),
        ("logEqui", [-3, 1, 2], "not-positive"),
        ("equalAmount", [1, np.nan], "not-finite"),
        ("equalAmount", ["a", "b"], "not-a-number"),
        ("equalAmount", [], "no-rows"),
    ],
)
def test_bad_columns_are_refused(method, values, code):
    with pytest.raises(InputError) as error:
        GlobalRecode(3, method).fit(values, column="income")
    assert error.value.code == code
    assert code == "no-rows" or error.value.column == "income"


@pytest.mark.parametrize("bad", [{"intervals": 1}, {"intervals": 2.5}, {"method": "best"}, {"outliers": "none"}])
def test_bad_parameters_are_refused(bad):
    with pytest.raises(InputError) as error:
        GlobalRecode(**bad)
    assert error.value.code == "bad-parameter"
