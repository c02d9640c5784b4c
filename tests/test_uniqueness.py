"""Population uniqueness and individual risk against plain oracles."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from case_loop import failures
from velado.errors import InputError
from velado.evaluation.individual import IndividualRisk, higher_risk, individual_risk, summarize
from velado.evaluation.uniqueness import _dankar, _pitman_fit, _pitman_sums, _population_classes, _snb_fit, uniqueness

FLAT = {1: 50, 2: 20, 3: 10, 5: 4}
SKEWED = {1: 800, 2: 150, 3: 60, 4: 30, 7: 20, 15: 10, 60: 5, 400: 1}
UNIFORM = {1: 94, 2: 13, 3: 1}
TABLES = [FLAT, SKEWED, UNIFORM, {1: 3, 2: 1}, {1: 30, 2: 1, 90: 1}]


def sizes_of(table):
    return np.repeat(list(table), list(table.values()))


def arrays_of(table):
    return np.array(list(table), dtype=float), np.array(list(table.values()), dtype=float)


def zayatz_oracle(table, fraction):
    records = sum(size * count for size, count in table.items())
    population = round(records / fraction)
    everything = math.comb(population, records)

    def drawn_once(size):
        return Fraction(size * math.comb(population - size, records - 1), everything)

    unique = table[1] * drawn_once(1) / sum(count * drawn_once(size) for size, count in table.items())
    return float(table[1] * unique / records)


def test_zayatz_is_bayes_with_hypergeometric_draws():
    def check(table, fraction):
        assert uniqueness(sizes_of(table), fraction).zayatz == pytest.approx(zayatz_oracle(table, fraction), rel=1e-10)

    assert failures(check, product(TABLES, [0.01, 0.1, 0.35, 0.9, 0.99])) == []


def test_zayatz_keeps_its_digits_in_a_population_of_a_hundred_millions():
    table = {1: 500, 2: 100, 30: 10}
    assert uniqueness(sizes_of(table), 1e-5).zayatz == pytest.approx(zayatz_oracle(table, 1e-5), rel=1e-10)


@pytest.mark.parametrize(
    ("table", "fraction", "zayatz", "pitman"),
    [
        (FLAT, 0.01, 0.12918676825802108, 7.044887750124422e-5),
        (FLAT, 0.1, 0.14457833435674727, 0.01709742408445124),
        (SKEWED, 0.01, 0.1467251129848529, 0.10294732709893611),
        (SKEWED, 0.05, 0.17377388068227542, 0.15718075057766118),
        (SKEWED, 0.5, 0.2645461833053887, 0.2879620283066049),
    ],
)
def test_figures_measured_with_arx_3_9_2(table, fraction, zayatz, pitman):
    estimate = uniqueness(sizes_of(table), fraction)
    alpha, theta = _pitman_fit(*arrays_of(table))
    # ARX takes the limit for N much larger than θ instead of the exact expectation.
    limit = math.exp(math.lgamma(theta + 1) - math.lgamma(theta + alpha) + (alpha - 1) * math.log(estimate.population))
    assert estimate.zayatz == pytest.approx(zayatz, rel=1e-9)
    assert limit == pytest.approx(pitman, rel=1e-7)


def pitman_slopes(table, alpha, theta):
    records, classes = sum(j * c for j, c in table.items()), sum(table.values())
    by_theta = sum(1 / (theta + i * alpha) for i in range(1, classes)) - sum(1 / (theta + i) for i in range(1, records))
    by_alpha = sum(i / (theta + i * alpha) for i in range(1, classes)) - sum(
        count / (i - alpha) for size, count in table.items() for i in range(1, size)
    )
    return by_theta, by_alpha


def pitman_likelihood(table, alpha, theta):
    records, classes = sum(j * c for j, c in table.items()), sum(table.values())
    return (
        sum(math.log(theta + i * alpha) for i in range(1, classes))
        - sum(math.log(theta + i) for i in range(1, records))
        + sum(count * math.log(i - alpha) for size, count in table.items() for i in range(1, size))
    )


NEARLY_EWENS = {1: 102, 2: 49, 3: 34, 4: 24, 5: 19, 6: 16, 8: 24, 12: 26, 20: 20, 40: 8}


@pytest.mark.parametrize("table", [FLAT, SKEWED, NEARLY_EWENS, {1: 30, 2: 1, 90: 1}])
def test_pitman_fit_is_a_maximum_of_the_likelihood(table):
    alpha, theta = _pitman_fit(*arrays_of(table))
    assert pitman_slopes(table, alpha, theta) == pytest.approx((0, 0), abs=1e-6)
    best = pitman_likelihood(table, alpha, theta)
    for other_alpha in (alpha - 0.05, alpha - 1e-3, alpha, min(alpha + 1e-3, 0.999), min(alpha + 0.05, 0.999)):
        lowest = -other_alpha if other_alpha > 0 else -other_alpha * (sum(table.values()) - 1)
        for other_theta in (theta * 0.8, theta * 0.999, theta * 1.001, theta * 1.3, lowest + 1):
            if other_theta > lowest:
                assert pitman_likelihood(table, other_alpha, other_theta) <= best + 1e-9


def test_pitman_sums_pass_through_zero_without_losing_digits():
    def check(alpha):
        theta, classes = 100.0, 200
        expected = [sum(i**power / (theta + i * alpha) for i in range(1, classes)) for power in (0, 1)]
        excess = theta + alpha * (1 if alpha > 0 else classes - 1)
        assert _pitman_sums(excess, theta, alpha, float(classes)) == pytest.approx(expected, rel=1e-11)

    assert failures(check, [-0.4, -1e-3, -4e-5, -1e-9, 0.0, 1e-9, 4e-5, 6e-5, 1e-3, 0.9]) == []


def test_pitman_share_is_the_chance_that_no_later_record_joins_the_first():
    def check(table, fraction):
        estimate = uniqueness(sizes_of(table), fraction)
        alpha, theta = _pitman_fit(*arrays_of(table))
        alone = math.prod((theta + alpha + i - 1) / (theta + i) for i in range(1, estimate.population))
        assert estimate.pitman == pytest.approx(alone, rel=1e-9)

    assert failures(check, product([FLAT, SKEWED], [0.1, 0.6])) == []


def test_pitman_without_a_maximum_has_no_figure():
    assert _pitman_fit(*arrays_of(UNIFORM)) is None
    heights = [pitman_likelihood(UNIFORM, -cells, 460 * cells) for cells in (1, 10, 100, 1000)]
    assert heights == sorted(heights)
    assert uniqueness(sizes_of(UNIFORM), 0.05).pitman is None


def shlosser_oracle(table, q):
    def total(term):
        return sum(count * term(size) for size, count in table.items())

    first = total(lambda i: i * q**2 * (1 - q**2) ** (i - 1)) / total(lambda i: (1 - q) ** i * ((1 + q) ** i - 1))
    second = total(lambda i: (1 - q) ** i) / total(lambda i: i * q * (1 - q) ** (i - 1))
    return sum(table.values()) + table[1] * first * second**2


def test_population_classes_by_the_modified_shlosser_estimator():
    def check(table, q):
        expected = float(shlosser_oracle(table, q))
        assert _population_classes(*arrays_of(table), float(q)) == pytest.approx(expected, rel=1e-9)

    assert failures(check, product(TABLES, [Fraction(1, 100), Fraction(1, 5), Fraction(9, 10)])) == []


def sampled_once_and_twice(alpha, log_beta, fraction):
    """P(f=1) and P(f=2) of a class of 1 + NB(α, β) records of which each is drawn with the given probability."""
    others = np.arange(60000.0)
    log_combinations = np.concatenate([[0.0], np.cumsum(np.log((alpha + others[:-1]) / (others[:-1] + 1)))])
    weight = np.exp(log_combinations + alpha * log_beta + others * math.log(-math.expm1(log_beta)))
    size = others + 1
    once = size * fraction * (1 - fraction) ** others
    twice = size * others / 2 * fraction**2 * (1 - fraction) ** (others - 1)
    return weight @ once, weight @ twice


@pytest.mark.parametrize(("table", "fraction"), [(FLAT, 0.2), (FLAT, 0.01), (SKEWED, 0.05), (SKEWED, 0.9), (UNIFORM, 0.5)])
def test_slide_negative_binomial_expects_the_sample(table, fraction):
    size, count = arrays_of(table)
    classes = _population_classes(size, count, fraction)
    alpha, log_beta = _snb_fit(table[1] / (classes * fraction), table[2] / table[1], fraction)
    once, twice = sampled_once_and_twice(alpha, log_beta, fraction)
    assert (classes * once, classes * twice) == pytest.approx((table[1], table[2]), rel=1e-8)
    estimate = uniqueness(sizes_of(table), fraction)
    assert estimate.snb * (size @ count) / fraction == pytest.approx(classes * math.exp(alpha * log_beta), rel=1e-9)


def test_slide_negative_binomial_finds_the_parameters_behind_exact_moments():
    def check(alpha, beta, fraction):
        once, twice = sampled_once_and_twice(alpha, math.log(beta), fraction)
        assert _snb_fit(once / fraction, twice / once, fraction) == pytest.approx((alpha, math.log(beta)), rel=1e-6)

    assert failures(check, product([0.05, 0.7, 4.0], [0.02, 0.4, 0.95], [0.01, 0.2, 0.9])) == []


def test_slide_negative_binomial_without_a_solution_has_no_figure():
    assert uniqueness(np.array([1, 1, 5]), 0.3).snb is None
    assert _snb_fit(1e6, 0.1, 0.5) is None


def drawn(population_sizes, fraction, seed):
    """Class sizes of a random sample of a population, and the share of its records that are unique."""
    records = int(population_sizes.sum())
    sample = np.random.default_rng(seed).multivariate_hypergeometric(
        population_sizes, round(records * fraction), method="marginals"
    )
    return sample[sample > 0], (population_sizes == 1).sum() / records


def test_pitman_recovers_the_uniqueness_of_cells_with_gamma_weights():
    random = np.random.default_rng(7)
    weights = random.gamma(0.3, size=50000)
    sample, truth = drawn(random.multinomial(60000, weights / weights.sum()), 0.1, 8)
    estimate = uniqueness(sample, 0.1)
    assert estimate.chosen == "pitman"
    assert estimate.dankar == pytest.approx(truth, rel=0.1)


def test_slide_negative_binomial_recovers_the_uniqueness_of_its_own_population():
    population = 1 + np.random.default_rng(9).negative_binomial(0.8, 0.3, size=20000)
    sample, truth = drawn(population, 0.5, 10)
    estimate = uniqueness(sample, 0.5)
    assert estimate.snb == pytest.approx(truth, rel=0.1)
    assert estimate.dankar == min(estimate.snb, estimate.zayatz)


def test_dankars_choice():
    chosen = {
        (0.3, 0.2, 0.1, 0.1): (0.2, "pitman"),
        (0.1, 0.2, 0.3, 0.02): (0.2, "pitman"),
        (0.3, None, 0.1, 0.1): (0.3, "zayatz"),
        (0.3, 0.2, 0.1, 0.1001): (0.1, "snb"),
        (0.3, 0.2, 0.4, 0.5): (0.3, "zayatz"),
        (0.3, 0.2, None, 0.5): (0.3, "zayatz"),
    }
    assert {given: _dankar(*given) for given in chosen} == chosen


def test_the_whole_population_needs_no_model():
    estimate = uniqueness(sizes_of(FLAT), 1)
    assert estimate.chosen is None
    assert {estimate.zayatz, estimate.pitman, estimate.snb, estimate.dankar} == {50 / 140}
    assert estimate.population == 140
    assert estimate.population_uniques == pytest.approx(50)


@pytest.mark.parametrize("sizes", [[], [2, 2, 7]])
def test_without_sample_uniques_nothing_is_unique(sizes):
    estimate = uniqueness(np.array(sizes, dtype=np.int64), 0.1)
    assert (estimate.zayatz, estimate.pitman, estimate.snb, estimate.dankar) == (0, 0, 0, 0)
    assert estimate.sample_uniques == 0
    assert estimate.population == 10 * sum(sizes)


@pytest.mark.parametrize("fraction", [0.05, 0.25])
def test_a_sample_of_uniques_comes_from_a_population_of_uniques(fraction):
    estimate = uniqueness(np.ones(40, dtype=np.int64), fraction)
    assert (estimate.zayatz, estimate.pitman, estimate.snb, estimate.dankar) == pytest.approx((1, None, 1, 1))
    assert estimate.population_uniques == pytest.approx(40 / fraction)


@pytest.mark.parametrize("fraction", [0, -0.1, 1.0001, math.nan, math.inf])
def test_a_fraction_outside_its_range_is_refused(fraction):
    with pytest.raises(InputError, match="sampling fraction") as caught:
        uniqueness(np.array([1, 2]), fraction)
    assert caught.value.code == "bad-parameter"


def test_shares_stay_shares_whatever_the_fraction():
    random = np.random.default_rng(3)
    for sizes in (random.zipf(1.5, 300).clip(max=10000), random.geometric(0.4, 300), random.integers(1, 9, 50)):
        for fraction in (1e-6, 1e-3, 0.1, 0.5, 0.999):
            estimate = uniqueness(sizes, fraction)
            for share in (estimate.zayatz, estimate.pitman, estimate.snb, estimate.dankar):
                assert share is None or 0 <= share <= 1


def risk_by_recurrence(f, p):
    """p·∫ y^(f−1)/(p+(1−p)y) dy over 0..1, step by step from f = 1 with digits to spare."""
    with localcontext() as context:
        context.prec = 60 + 14 * f
        p = Decimal(p)
        integral = -p.ln() / (1 - p)
        for step in range(1, f):
            integral = (1 / Decimal(step) - p * integral) / (1 - p)
        return float(p * integral)


def risk_by_sum(f, p):
    """E[1/F | f] with P(F=h | f) = C(h−1, f−1)·p^f·(1−p)^(h−f)."""
    chance, result = p**f, 0.0
    for h in range(f, 20000):
        result += chance / h
        chance *= h / (h - f + 1) * (1 - p)
    return result


def test_individual_risk_of_singles_and_pairs_in_closed_form():
    def check(p):
        one, two = individual_risk(np.array([1, 2]), np.array([1 / p, 2 / p]))
        assert one == pytest.approx(p / (1 - p) * math.log(1 / p), rel=1e-12)
        assert two == pytest.approx((p * math.log(p) + 1 - p) * p / (1 - p) ** 2, rel=1e-12)

    assert failures(check, [0.01, 0.2, 0.5, 0.501, 0.9]) == []


def test_individual_risk_is_the_expected_reciprocal_of_the_population_frequency():
    def check(f, p):
        assert individual_risk(np.array([f]), np.array([f / p]))[0] == pytest.approx(risk_by_sum(f, p), rel=1e-9)

    assert failures(check, product([1, 2, 3, 4, 10, 29, 30, 40], [0.02, 0.3, 0.5, 0.7, 0.99])) == []


def test_individual_risk_keeps_its_digits_at_both_ends():
    def check(f, power):
        tiny, near_one = 2.0**-power, 1 - 2.0**-power
        risks = individual_risk(np.array([f, f]), np.array([f / tiny, f / near_one]))
        effective = f / (f / near_one)
        assert risks[0] == pytest.approx(risk_by_recurrence(f, tiny), rel=1e-12)
        assert risks[1] == pytest.approx(risk_by_recurrence(f, effective), rel=1e-12)

    assert failures(check, product([1, 2, 3, 7, 29, 30, 31, 100], [1, 10, 30, 40])) == []


def test_individual_risk_of_a_full_count_is_the_reciprocal():
    risks = individual_risk(np.array([1, 3, 500, 10**7]), np.array([1.0, 2.0, 500.0, 0.0]))
    assert risks == pytest.approx([1, 1 / 3, 1 / 500, 1e-7], rel=1e-14)


def test_individual_risk_of_a_large_class_is_near_the_reciprocal_of_its_weights():
    assert individual_risk(np.array([10**6]), np.array([1e9]))[0] == pytest.approx(1e-9, rel=1e-5)


def test_higher_risk_equals_the_expanded_records():
    def check(seed, c):
        random = np.random.default_rng(seed)
        records = random.integers(1, 6, 40 + seed)
        risks = random.choice([0.01, 0.02, 0.05, 0.08, 0.09, 0.3, 1.0], len(records), p=[0.3, 0.2, 0.2, 0.1, 0.1, 0.05, 0.05])
        expanded = np.repeat(risks, records)
        limit = np.median(expanded) + c * 1.4826 * np.median(np.abs(expanded - np.median(expanded)))
        expected = (expanded > limit).sum(), ((expanded > limit) & (expanded > 0.1)).sum()
        assert higher_risk(risks, records, c) == expected

    assert failures(check, product(range(8), (0.5, 2.0))) == []


def test_higher_risk_of_nothing_is_nothing():
    assert higher_risk(np.array([]), np.array([])) == (0, 0)
    assert summarize(np.array([], dtype=np.int64), np.array([])) == IndividualRisk(0, 0, 0, 0, 0)


def test_summary_counts_records_not_classes():
    sizes, weights = np.array([1, 2, 30, 31, 32]), np.array([1.0, 40.0, 3000.0, 3100.0, 3200.0])
    risks = individual_risk(sizes, weights)
    summary = summarize(sizes, weights)
    assert summary.highest == 1
    assert summary.expected_reidentifications == pytest.approx(sum(np.repeat(risks, sizes)))
    assert summary.mean == pytest.approx(np.repeat(risks, sizes).mean())
    assert (summary.higher, summary.higher_and_above_threshold) == (3, 1)
