"""Q-anonymity, fuzzy ℓ-diversity, posterior and t-closeness against plain twins."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from fuzzy import fuzzy_oracle
from random_tables import small_tables
from velado.errors import InputError
from velado.fuzzy import (
    AGGREGATIONS,
    FuzzyCardinality,
    closeness,
    column_histograms,
    crisp,
    distributions,
    diversity,
    largest_q,
    posterior,
    q_anonymity,
    record_histograms,
    value_cardinality,
)


@st.composite
def fuzzy_tables(draw):
    """Memberships of distinct rows, and a histogram of a sensitive column for each."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    rows, classes, values = draw(st.integers(1, 8)), draw(st.integers(1, 4)), draw(st.integers(1, 4))
    steps = rng.multinomial(4, np.ones(classes) / classes, rows) / 4
    memberships = steps if draw(st.booleans()) else rng.dirichlet(np.full(classes, 0.4), rows)
    histograms = rng.integers(0, 3, (rows, values))
    histograms[np.arange(rows), rng.integers(0, values, rows)] += 1
    return memberships, histograms


def records_of(memberships, histograms):
    """One row per record: its memberships, its value."""
    row, value = np.nonzero(histograms)
    repeat = histograms[row, value]
    return memberships[np.repeat(row, repeat)], np.repeat(value, repeat), np.repeat(row, repeat)


OPERATORS = {
    "mean": lambda x: sum(x) / len(x),
    "minimum": min,
    "maximum": max,
    "product": math.prod,
    "median": lambda x: (sorted(x)[(len(x) - 1) // 2] + sorted(x)[len(x) // 2]) / 2,
}


@settings(deadline=None)
@given(fuzzy_tables(), st.sampled_from(sorted(AGGREGATIONS)), st.floats(0.05, 1))
def test_q_anonymity_and_the_largest_q(table, aggregation, possibility):
    memberships, histograms = table
    counts = histograms.sum(axis=1)
    repeated = np.repeat(memberships, counts, axis=0)
    expected = [
        OPERATORS[aggregation]([fuzzy_oracle.at_least(column, k) for column in repeated.T]) for k in range(1, len(repeated) + 1)
    ]
    classes = FuzzyCardinality.of(memberships, counts)
    assert q_anonymity(classes, np.arange(1, len(repeated) + 1), aggregation) == pytest.approx(expected, abs=1e-12)
    largest = max((k for k, x in enumerate(expected, start=1) if x >= possibility - 1e-12), default=0)
    if not any(abs(x - possibility) < 1e-9 for x in expected):
        assert largest_q(classes, possibility, aggregation) == largest


def test_every_aggregation_is_one():
    assert set(OPERATORS) == set(AGGREGATIONS)
    x = np.random.default_rng(0).random((50, 4))
    for operator in AGGREGATIONS.values():
        assert (operator(np.zeros(4)), operator(np.ones(4))) == (0, 1)
        assert (operator(x, axis=-1) <= operator(np.minimum(x + 0.1, 1), axis=-1)).all()
    with pytest.raises(InputError, match="aggregation"):
        q_anonymity(FuzzyCardinality.of(x), 1, "average")


def test_q_anonymity_of_crisp_classes_is_their_size():
    labels = np.repeat([0, 1, 2], [5, 3, 7])
    assert largest_q(FuzzyCardinality.of(crisp(labels, 3)), 1, "minimum") == 3
    assert largest_q(FuzzyCardinality.of(crisp(labels, 3)), 0.5, "mean") == 5


@settings(deadline=None)
@given(fuzzy_tables())
def test_diversity_counts_the_values_with_a_member(table):
    memberships, histograms = table
    records, values, _ = records_of(memberships, histograms)
    found = diversity(value_cardinality(memberships, csr_array(histograms)))
    for i in range(memberships.shape[1]):
        assert found[i] == len({v for m, v in zip(records[:, i], values, strict=True) if m >= 0.5 - 1e-12})


@settings(deadline=None)
@given(fuzzy_tables())
def test_posterior_follows_its_definition(table):
    memberships, histograms = table
    records, values, row_of = records_of(memberships, histograms)
    shares = [dict(enumerate(h / h.sum())) for h in histograms[row_of]]
    found = posterior(memberships, csr_array(histograms)).toarray()
    for record in np.unique(row_of, return_index=True)[1]:
        row = row_of[record]
        for s in np.flatnonzero(histograms[row]):
            expected = fuzzy_oracle.posterior(records.tolist(), shares, values.tolist(), record, s)
            assert found[row, s] == pytest.approx(expected, nan_ok=True)


def test_nobody_in_any_class_means_no_posterior():
    found = posterior(np.array([[0.4, 0.3, 0.3]]), record_histograms(np.array([0])))
    assert np.isnan(found.toarray()).all()


@settings(deadline=None)
@given(fuzzy_tables(), st.booleans())
def test_closeness_is_the_distance_of_the_mixture(table, ordered):
    memberships, histograms = table
    weights = value_cardinality(memberships, csr_array(histograms))
    expected = histograms.sum(axis=0) / histograms.sum()
    found = closeness(memberships, distributions(weights), expected, ordered)
    known = [i for i in range(len(weights)) if weights[i].sum()]
    for x, degrees in enumerate(memberships):
        total = sum(degrees[i] for i in known)
        if total == 0:
            assert found[x] == 1
            continue
        mixture = sum(degrees[i] / total * weights[i] / weights[i].sum() for i in known)
        r = mixture - expected
        if ordered:
            distance = sum(abs(sum(r[: i + 1])) for i in range(len(r) - 1)) / max(len(r) - 1, 1)
        else:
            distance = sum(abs(r)) / 2
        assert found[x] == pytest.approx(distance, abs=1e-12)


def test_closeness_in_chunks_is_the_same():
    rng = np.random.default_rng(4)
    memberships = rng.dirichlet(np.ones(3), 3000)
    p, q = rng.dirichlet(np.ones(1000), 3), rng.dirichlet(np.ones(1000))
    whole = np.abs(np.cumsum(memberships @ p - q, axis=1)).sum(axis=1) / 999
    assert closeness(memberships, p, q, ordered=True) == pytest.approx(whole)


@settings(deadline=None, max_examples=20)
@given(small_tables(sensitive=2), st.integers(0, 99))
def test_a_frequency_table_and_its_records_agree(table, seed):
    frequency = table.frequency()
    rng = np.random.default_rng(seed)
    degrees = rng.dirichlet(np.full(3, 0.3), frequency.rows)
    labels = [[h.leaves[c] for h, c in zip(frequency.hierarchies, row, strict=True)] for row in frequency.codes]
    number = {tuple(row): i for i, row in enumerate(labels)}
    row_of = np.array([number[tuple(r[c] for c in frequency.columns)] for r in table.rows])
    for attribute in frequency.sensitive:
        code = {label: i for i, label in enumerate(attribute.labels)}
        codes = np.array([code[r[attribute.column]] for r in table.rows])
        grouped = column_histograms(frequency, attribute.column)
        single = record_histograms(codes, attribute.width)
        assert (value_cardinality(degrees, grouped) == value_cardinality(degrees[row_of], single)).all()
        assert np.asarray(grouped.sum(axis=1)).tolist() == frequency.counts.tolist()
