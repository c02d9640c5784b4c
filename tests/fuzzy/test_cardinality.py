"""Cardinalities against plain twins; weighted rows are repeated rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzzy import fuzzy_oracle
from velado.errors import InputError
from velado.fuzzy import FuzzyCardinality, cardinality, record_histograms, sigma_count, value_cardinality

degrees = st.sampled_from([0, 0.1, 0.2, 0.25, 0.4, 0.5, 0.6, 0.75, 0.8, 0.9, 1]) | st.floats(0, 1)
tables = st.integers(1, 3).flatmap(
    lambda classes: st.lists(
        st.tuples(st.lists(degrees, min_size=classes, max_size=classes), st.integers(1, 4)), min_size=1, max_size=12
    )
)


@settings(deadline=None)
@given(tables)
def test_all_cardinalities_follow_their_definitions_with_counts(table):
    memberships = np.array([row for row, _ in table])
    counts = np.array([count for _, count in table])
    repeated = np.repeat(memberships, counts, axis=0)
    found = FuzzyCardinality.of(memberships, counts)
    k = np.arange(counts.sum() + 1)
    assert found.records == counts.sum()
    assert sigma_count(memberships, counts) == pytest.approx(repeated.sum(axis=0))
    for i, column in enumerate(repeated.T):
        assert found.exactly(k)[:, i].tolist() == [fuzzy_oracle.exactly(column, n) for n in k]
        assert found.at_least(k)[:, i] == pytest.approx([fuzzy_oracle.at_least(column, n) for n in k], abs=1e-15)
        # The possibility of "at least" is the largest of those of all larger numbers.
        assert found.at_least(k)[:, i] == pytest.approx([max(fuzzy_oracle.exactly(column, n) for n in k[first:]) for first in k])
        near_half = (np.abs(column - 0.5) < 1e-9) & (column != 0.5)
        if not near_half.any():
            assert cardinality(memberships, counts)[i] == fuzzy_oracle.cardinality(column)


@settings(deadline=None)
@given(tables, st.integers(0, 99))
def test_the_order_of_rows_does_not_matter(table, seed):
    memberships = np.array([row for row, _ in table])
    counts = np.array([count for _, count in table])
    order = np.random.default_rng(seed).permutation(len(counts))
    k = np.arange(counts.sum() + 3)
    before, after = FuzzyCardinality.of(memberships, counts), FuzzyCardinality.of(memberships[order], counts[order])
    assert (before.at_least(k) == after.at_least(k)).all()
    assert (cardinality(memberships, counts) == cardinality(memberships[order], counts[order])).all()


@settings(deadline=None)
@given(tables, st.integers(0, 99))
def test_cardinality_of_each_sensitive_value(table, seed):
    memberships = np.array([row for row, _ in table])
    codes = np.random.default_rng(seed).integers(0, 4, len(memberships))
    found = value_cardinality(memberships, record_histograms(codes, 4))
    for i in range(memberships.shape[1]):
        for s in range(4):
            assert found[i, s] == cardinality(np.append(memberships[codes == s, i], 0)[:, None])[0]


def test_half_does_not_depend_on_rounding():
    nearly = np.array([[(0.15 - 0.1) / (0.2 - 0.1)], [0.1]])
    assert nearly[0, 0] != 0.5
    assert cardinality(nearly).tolist() == cardinality(np.array([[0.5], [0.1]])).tolist() == [1]


def test_beyond_the_last_and_empty():
    found = FuzzyCardinality.of(np.array([[0.0, 1.0], [0.0, 1.0]]))
    assert found.at_least([0, 1, 2, 3]).tolist() == [[1, 1], [0, 1], [0, 1], [0, 0]]
    assert cardinality(np.array([[0.0, 1.0], [0.0, 1.0]])).tolist() == [0, 2]


def test_the_possibility_never_rises():
    memberships = np.random.default_rng(0).dirichlet(np.full(4, 0.3), 500)
    possibility = FuzzyCardinality.of(memberships, np.random.default_rng(1).integers(1, 9, 500)).at_least(np.arange(2500))
    assert (np.diff(possibility, axis=0) <= 0).all()


@pytest.mark.parametrize("counts", [[1], [1, 0], [1, -2], [1.5, 2.0], [[1, 2]]])
def test_bad_counts_are_refused(counts):
    with pytest.raises(InputError) as error:
        sigma_count(np.zeros((2, 2)), np.array(counts))
    assert error.value.code == "bad-counts"
