"""Learning utility: does a classifier trained on the release still predict the original? (``measures.md`` §3)

Needs scikit-learn (``pip install 'velado[learning]'``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from velado.errors import InputError, missing_package
from velado.evaluation.pair import Pair
from velado.hierarchies import Cover
from velado.progress import Progress
from velado.results import Discreet
from velado.sentences import Sentence
from velado.values import Text

FOLDS = 3
MOST_RECORDS = 10_000
MOST_DENSE = 500


@dataclass(frozen=True)
class Score:
    """Cross-validated accuracy and area under the ROC curve (each value against the rest, mean over values)."""

    accuracy: float
    auc: float | None


@dataclass(frozen=True, repr=False)
class Learning(Discreet):
    """How well a column is predicted from the quasi-identifiers.

    Every classifier is trained twice in each fold, on the original records and on what was released of them, and
    tested on the original records of the held-out fold, suppressed ones too, described in the terms that it was
    trained on. ``majority`` is the accuracy of always saying the most frequent value. ``records`` is how many
    were drawn.
    """

    NAMES: ClassVar[tuple[str, ...]] = ("target",)
    target: str
    records: int
    folds: int
    seed: int
    majority: float
    original: dict[str, Score]
    released: dict[str, Score]


@dataclass(frozen=True, repr=False)
class Outcome(Discreet):
    """The column to predict: its values, and how often each occurs with each distinct original row."""

    NAMES: ClassVar[tuple[str, ...]] = ("column",)
    column: str
    labels: tuple[Text, ...]
    rows: np.ndarray
    values: np.ndarray
    counts: np.ndarray


def _classifiers(seed: int) -> dict[str, Callable[[], Any]]:
    try:
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.linear_model import LogisticRegression
    except ImportError:
        raise missing_package("no-learning", "learning utility needs one more package", "learning") from None
    return {
        Sentence("logistic regression"): lambda: LogisticRegression(max_iter=200, tol=1e-3, random_state=seed),
        Sentence("random forest"): lambda: RandomForestClassifier(100, min_samples_leaf=2, random_state=seed, n_jobs=-1),
    }


def known_classes(pair: Pair) -> np.ndarray:
    """What became of every record; an error where nobody knows."""
    if pair.class_of is None:
        raise InputError(
            "rows-not-matched",
            "learning utility needs to know which released class each original record went to; "
            "labels of this release overlap, or parts of classes were suppressed",
            hint="Name the project that made the release, if that was not relaxed Mondrian, which draws lots.",
        )
    return pair.class_of


def learning_utility(pair: Pair, outcome: Outcome, seed: int = 0, progress: Progress | None = None) -> Learning:
    """Train and test; quasi-identifiers other than the outcome are the features."""
    progress = progress or Progress()
    classifiers = _classifiers(seed)
    class_of = known_classes(pair)
    columns = [j for j, c in enumerate(pair.covers) if c.column != outcome.column]
    if not columns:
        raise InputError("no-features", "there is no quasi-identifier left to predict from", column=outcome.column)
    rng = np.random.default_rng(seed)
    rows, values = _draw_records(outcome, rng)
    if len(np.unique(values)) < 2:
        raise InputError("one-value", "the column has only one value: nothing to predict", column=outcome.column)
    codes = pair.original.codes[rows]
    before = _table([(_leaf_features(pair.covers[j]), codes[:, j]) for j in columns])
    place = class_of[rows]
    kept = place >= 0
    after = _table([_released_features(pair, j, codes[:, j], place) for j in columns])
    fold = _folds(values, rng)
    scores: dict[str, list[list[tuple[float, float | None]]]] = {}
    for name, make in classifiers.items():
        scores[name] = [[], []]
        for held in range(FOLDS):
            train, test = fold != held, fold == held
            for which, (features, used) in enumerate(((before, train), (after, train & kept))):
                fitted = sum(len(s) for both in scores.values() for s in both)
                progress.at(fitted, 2 * FOLDS * len(classifiers))
                scores[name][which].append(_score(make(), features[used], values[used], features[test], values[test]))
    most = np.bincount(values).max() / len(values)
    both = [{name: _mean(s[which]) for name, s in scores.items()} for which in (0, 1)]
    return Learning(outcome.column, len(rows), FOLDS, seed, float(most), *both)


def _draw_records(outcome: Outcome, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """At most `MOST_RECORDS` records: their rows and values, in random order."""
    entries = np.repeat(np.arange(len(outcome.counts)), outcome.counts)
    entries = rng.permutation(entries)[:MOST_RECORDS]
    return outcome.rows[entries], outcome.values[entries]


def _folds(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Stratified: each value's records are dealt out in turn."""
    fold = np.empty(len(values), dtype=np.int64)
    for value in np.unique(values):
        members = rng.permutation(np.flatnonzero(values == value))
        fold[members] = (np.arange(len(members)) + rng.integers(FOLDS)) % FOLDS
    return fold


def _leaf_features(cover: Cover) -> np.ndarray:
    """One row per leaf: a number on 0…1, or one indicator per leaf."""
    return np.eye(len(cover.hierarchy.leaves)) if cover.numbers is None else _scale(cover, cover.numbers)[:, None]


def _label_features(cover: Cover) -> np.ndarray:
    """One row per label: its midpoint on 0…1, or one indicator per label."""
    return np.eye(len(cover.labels)) if cover.bounds is None else _scale(cover, cover.bounds.mean(axis=1))[:, None]


def _released_features(pair: Pair, j: int, leaves: np.ndarray, place: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Features and the row of each record: its label, or for suppressed ones the mean of the labels above its leaf."""
    cover = pair.covers[j]
    labels = _label_features(cover)
    above = np.zeros((len(cover.hierarchy.leaves), labels.shape[1]))
    times = np.zeros(len(above))
    for i, features in enumerate(labels):
        above[cover.under(i)] += features
        times[cover.under(i)] += 1
    above /= np.maximum(times, 1)[:, None]
    known = np.append(pair.labels[:, j], 0)[place]
    return np.vstack([labels, above]), np.where(place >= 0, known, len(labels) + leaves)


def _scale(cover: Cover, numbers: np.ndarray) -> np.ndarray:
    """Numbers of a numeric column on 0…1; those that say nothing in the middle."""
    assert cover.numbers is not None
    low, high = np.nanmin(cover.numbers), np.nanmax(cover.numbers)
    return np.asarray(np.nan_to_num((numbers - low) / max(high - low, 1e-12), nan=0.5))


def _table(features: list[tuple[np.ndarray, np.ndarray]]) -> Any:
    """The features of all records; sparse if there are many."""
    from scipy import sparse

    table = sparse.hstack([sparse.csr_array(f)[rows] for f, rows in features], format="csr")
    return table.toarray() if table.shape[1] <= MOST_DENSE else table


def _score(model: Any, x: Any, y: np.ndarray, x_test: Any, y_test: np.ndarray) -> tuple[float, float | None]:
    from sklearn.metrics import roc_auc_score

    if len(np.unique(y)) < 2:
        only = y[0] if len(y) else -1
        return float((y_test == only).mean()), None
    model.fit(x, y)
    accuracy = float((model.predict(x_test) == y_test).mean())
    shares = model.predict_proba(x_test)
    areas = [
        roc_auc_score(y_test == value, shares[:, i])
        for i, value in enumerate(model.classes_)
        if 0 < (y_test == value).sum() < len(y_test)
    ]
    return accuracy, float(np.mean(areas)) if areas else None


def _mean(scores: list[tuple[float, float | None]]) -> Score:
    areas = [a for _, a in scores if a is not None]
    return Score(float(np.mean([a for a, _ in scores])), float(np.mean(areas)) if len(areas) == len(scores) else None)
