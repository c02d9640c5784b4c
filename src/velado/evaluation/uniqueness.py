"""Population uniqueness: how many records are unique in the population that a sample was drawn from.

Notation: a sample of n records in u classes, s_j of them of size j, drawn with sampling fraction π from
a population of N = n/π records. Every model estimates S, the records that are unique in the population.
Time and memory depend on the number of distinct class sizes only, once they are counted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from velado.errors import InputError
from velado.progress import Progress
from velado.sentences import Sentence

PITMAN_UP_TO = 0.1


@dataclass(frozen=True)
class Uniqueness:
    """Estimated share of the population's records that are unique in it, by model.

    A model without a solution for this sample has ``None``. ``chosen`` names the model behind ``dankar``;
    it is ``None`` where no model is needed (no sample uniques, or the sample is the population).
    """

    fraction: float
    sample_uniques: int
    zayatz: float | None
    pitman: float | None
    snb: float | None
    dankar: float | None
    chosen: str | None
    population: int

    @property
    def population_uniques(self) -> float | None:
        """Estimated number of records that are unique in the population, by Dankar's choice."""
        return None if self.dankar is None else self.dankar * self.population


def uniqueness(sizes: np.ndarray, fraction: float, progress: Progress | None = None) -> Uniqueness:
    """Population uniqueness estimated from the class sizes of a sample and its sampling fraction.

    Without sample uniques every estimate is 0; with fraction 1 the sample is the population.

    >>> estimate = uniqueness(np.repeat([1, 2, 3, 5], [50, 20, 10, 4]), 0.2)
    >>> estimate.chosen, round(estimate.dankar, 4), round(estimate.population_uniques)
    ('snb', 0.0889, 62)
    """
    progress = progress or Progress()
    progress.at(0.0)
    if not 0 < fraction <= 1:
        raise InputError(
            "bad-parameter", Sentence("the sampling fraction must be above 0 and at most 1, got {fraction!r}", fraction=fraction)
        )
    size, count = np.unique(np.asarray(sizes, dtype=np.int64), return_counts=True)
    size, count = size.astype(float), count.astype(float)
    records = int(size @ count)
    population = round(records / fraction)
    uniques = int(_count_of(1, size, count))
    if not uniques or population == records:
        share = uniques / records if records else 0.0
        return Uniqueness(fraction, uniques, share, share, share, share, None, population)
    zayatz = _zayatz(size, count, population)
    pitman = _pitman(size, count, population, progress)
    snb = _snb(size, count, fraction, progress)
    dankar, chosen = _dankar(zayatz, pitman, snb, fraction)
    return Uniqueness(fraction, uniques, zayatz, pitman, snb, dankar, chosen, population)


def _dankar(zayatz: float, pitman: float | None, snb: float | None, fraction: float) -> tuple[float, str]:
    """Choice of a model (Dankar, El Emam, Neisa & Roffey 2012, BMC Med. Inform. Decis. Mak. 12:66).

    π ≤ 0.1: Pitman. π > 0.1: the smaller of SNB and Zayatz. Zayatz where the model meant has no solution.
    """
    if fraction <= PITMAN_UP_TO:
        return (zayatz, "zayatz") if pitman is None else (pitman, "pitman")
    return (zayatz, "zayatz") if snb is None or zayatz < snb else (snb, "snb")


def _zayatz(size: np.ndarray, count: np.ndarray, population: int) -> float:
    """Zayatz (1991): S = s_1·P(F=1 | f=1)/π by Bayes' rule, the class sizes of the sample as the prior.

    P(f=1 | F=j) is hypergeometric: j·(n/N)·(N−n)!/(N−n−j+1)!·(N−j)!/(N−1)!.
    """
    records = float(size @ count)
    rest, others = population - records, size - 1
    possible = others <= rest
    size, count, others = size[possible], count[possible], others[possible]
    drawn_once = size * np.exp(_log_gamma_step(rest - others + 1, others) - _log_gamma_step(population - others, others))
    uniques = _count_of(1, size, count)
    return float(uniques / records * uniques / (count @ drawn_once))


def _pitman(size: np.ndarray, count: np.ndarray, population: int, progress: Progress) -> float | None:
    """Pitman's sampling formula fitted by maximum likelihood (Hoshino 2001, J. Off. Stat. 17:499).

    S/N is the exact expectation Γ(θ+1)·Γ(θ+α+N−1)/(Γ(θ+α)·Γ(θ+N)). The usual S = N^α·Γ(θ+1)/Γ(θ+α) is its
    limit for N much larger than θ, and may exceed N when it is not.
    """
    fit = _pitman_fit(size, count, progress)
    if fit is None:
        return None
    alpha, theta = fit
    step = 1 - alpha
    share = np.exp(_log_gamma_step(theta + alpha, step) - _log_gamma_step(theta + population - step, step))
    return float(share)


def _pitman_fit(size: np.ndarray, count: np.ndarray, progress: Progress | None = None) -> tuple[float, float] | None:
    """(α, θ) of highest likelihood, or None where the likelihood has no maximum.

    The logarithm of the likelihood is, up to a constant, Σ_{0<i<u} ln(θ+iα) − Σ_{0<i<n} ln(θ+i)
    + Σ_j s_j Σ_{0<i<j} ln(i−α), with θ > −α if α ≥ 0 and θ > (u−1)|α| if α < 0 (a finite number of cells,
    of which θ/|α| exist). θ is solved for each α, then α.
    """
    from scipy.optimize import brentq

    progress = progress or Progress()
    records, classes = float(size @ count), float(count.sum())
    if classes == records:
        return None

    def excess_to_theta(excess: float, alpha: float) -> float:
        return excess - (alpha if alpha > 0 else alpha * (classes - 1))

    def slope_theta(log_excess: float, alpha: float) -> float:
        progress.check()
        excess = math.exp(log_excess)
        theta = excess_to_theta(excess, alpha)
        return _pitman_sums(excess, theta, alpha, classes)[0] - float(_harmonic(theta + 1, records - 1))

    def best_excess(alpha: float) -> float:
        return math.exp(brentq(slope_theta, -60, 80, args=(alpha,), xtol=1e-13))

    def slope_alpha(alpha: float) -> float:
        excess = best_excess(alpha)
        theta = excess_to_theta(excess, alpha)
        return _pitman_sums(excess, theta, alpha, classes)[1] - float(count @ _harmonic(1 - alpha, size - 1))

    high = 1 - 1e-12
    for low in (0.9, 0.5, 0.0, -1.0, -10.0, -100.0, -1000.0):
        if slope_alpha(low) > 0:
            alpha = float(brentq(slope_alpha, low, high, xtol=1e-13))
            return alpha, excess_to_theta(best_excess(alpha), alpha)
        high = low
    return None


def _pitman_sums(excess: float, theta: float, alpha: float, classes: float) -> tuple[float, float]:
    """Σ 1/(θ+iα) and Σ i/(θ+iα) for 0 < i < u; ``excess`` is the smallest θ+iα."""
    last = classes - 1
    if abs(alpha) * classes < 1e-4 * theta:
        ratio = alpha / theta
        first, second, third = last * classes / 2, last * classes * (2 * last + 1) / 6, (last * classes / 2) ** 2
        return (last - ratio * (first - ratio * second)) / theta, (first - ratio * (second - ratio * third)) / theta
    reciprocals = float(_harmonic(excess / abs(alpha), last)) / abs(alpha)
    return reciprocals, (last - theta * reciprocals) / alpha


def _snb(size: np.ndarray, count: np.ndarray, fraction: float, progress: Progress) -> float | None:
    """Slide negative binomial (Chen & Keller-McNulty 1998, J. Off. Stat. 14:79): S = K·β^α."""
    records, once, twice = float(size @ count), _count_of(1, size, count), _count_of(2, size, count)
    classes = _population_classes(size, count, fraction)
    if not twice:
        return once / records if math.isclose(once, classes * fraction, rel_tol=1e-9) else None
    fit = _snb_fit(once / (classes * fraction), twice / once, fraction, progress)
    if fit is None:
        return None
    alpha, log_beta = fit
    share = classes * fraction / records * math.exp(alpha * log_beta)
    return share if share <= 1 else None


def _snb_fit(once: float, ratio: float, fraction: float, progress: Progress | None = None) -> tuple[float, float] | None:
    """(α, ln β) of the classes' sizes 1 + NB(α, β), from ``once`` = s_1/(K·π) and ``ratio`` = s_2/s_1, or None.

    With z = (1−π)(1−β) and w = 1−z the sample is expected to have
    s_1 = K·π·(β/w)^α·(1 + αz/w) and s_2 = K·(π²/2)·α(1−β)·β^α·(2 − (1−α)z)/w^(α+2).
    Their ratio is a quadratic in α with one positive root, which leaves the first as an equation in β. It
    rises with β (seen numerically for all π and ratios, not proven), so it has one root or none.
    """
    from scipy.optimize import brentq

    progress = progress or Progress()

    def solve(logit: float) -> tuple[float, float, float]:
        log_beta, rest = -float(np.logaddexp(0, -logit)), math.exp(-np.logaddexp(0, logit))
        beta = math.exp(log_beta)
        z, w = (1 - fraction) * rest, fraction + (1 - fraction) * beta
        factor = 2 * ratio / fraction * w
        square, linear, constant = rest * z, rest * (2 - z) - factor * z, factor * w
        root = math.hypot(linear, 2 * math.sqrt(square * constant))
        alpha = 2 * constant / (linear + root) if linear > 0 else (root - linear) / (2 * square)
        log_beta_w = math.log1p(-fraction * rest / w) if beta > 0.5 else log_beta - math.log(w)
        return alpha, log_beta, alpha * log_beta_w + math.log1p(alpha * z / w) - math.log(once)

    def gap(logit: float) -> float:
        progress.check()
        return solve(logit)[2]

    low, high = -1e8, 30.0
    if not gap(low) < 0 < gap(high):
        return None
    return solve(brentq(gap, low, high, xtol=1e-12, maxiter=500))[:2]


def _population_classes(size: np.ndarray, count: np.ndarray, fraction: float) -> float:
    """K, the classes of the population: Shlosser's estimator as modified by Haas & Stokes (1998, JASA 93:1475)."""
    q = fraction
    unseen = np.exp(size * math.log1p(-q))
    unseen_squared = np.exp(size * math.log1p(-q * q))
    once = size * unseen / (1 - q) * q
    once_squared = size * unseen_squared / (1 - q * q) * q * q
    factor = (count @ once_squared) / (count @ (unseen_squared - unseen)) * ((count @ unseen) / (count @ once)) ** 2
    return float(count.sum() + _count_of(1, size, count) * factor)


def _count_of(wanted: int, size: np.ndarray, count: np.ndarray) -> float:
    return float(count[size == wanted].sum())


def _harmonic(x: float | np.ndarray, terms: float | np.ndarray) -> np.ndarray:
    """Σ_{0≤i<terms} 1/(x+i) = ψ(x+terms) − ψ(x), without cancellation for large x."""
    from scipy.special import digamma

    large = np.maximum(x, 50.0)
    end = large + terms
    expansion = (
        np.log1p(terms / large)
        - (1 / end - 1 / large) / 2
        - (end**-2 - large**-2) / 12
        + (end**-4 - large**-4) / 120
        - (end**-6 - large**-6) / 252
    )
    return np.asarray(np.where(np.greater(x, 50), expansion, digamma(x + terms) - digamma(x)))


def _log_gamma_step(x: float | np.ndarray, step: float | np.ndarray) -> np.ndarray:
    """ln Γ(x+step) − ln Γ(x) for step ≥ 0, without cancellation for large x (Stirling's series)."""
    from scipy.special import gammaln

    large = np.maximum(x, 50.0)
    end = large + step
    expansion = (
        (large - 0.5) * np.log1p(step / large)
        + step * (np.log(end) - 1)
        + (1 / end - 1 / large) / 12
        - (end**-3 - large**-3) / 360
        + (end**-5 - large**-5) / 1260
    )
    return np.asarray(np.where(np.greater(x, 50), expansion, gammaln(x + step) - gammaln(x)))
