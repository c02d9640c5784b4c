"""The chapters about what it cost: utility, answers from the release, other settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from velado.evaluation import Comparison, Evaluation, Setting
from velado.evaluation.kolmogorov import KEPT
from velado.evaluation.shown import UTILITY, utility_title
from velado.i18n import Language
from velado.i18n.labels import LABELS
from velado.parameters import records_of
from velado.report import charts
from velado.report.chapters.content import Beside, Block, Cell, Picture, Pictures, Section, Table
from velado.report.chapters.disclosure import Share, Shown, distribution, sensitive_distribution
from velado.report.chapters.disclosure import answers as disclosed
from velado.report.chapters.subject import Subject, clean, limit_in_words, parameter_label, symbol

BY_COLUMN = ("loss", "precision", "generalized_loss", "entropy")


def utility(subject: Subject) -> Section:
    """Overall, per column, and the distributions."""
    e, words, pair = subject.evaluation, subject.words, subject.pair
    measured = [(n, getattr(e.utility, n), digits) for n, digits in UTILITY.items()]
    rows = [(Cell(utility_title(n, words)), subject.figure(x, digits)) for n, x, digits in measured if x is not None]
    overall = subject.table(rows, "lr", title=words.say("Overall"))
    lines = []
    for name, column in e.columns.items():
        level, height = subject.levels.get(name), subject.heights.get(name, 0)
        shown = Cell("–" if level is None else f"{words.number(level, 1)} / {height}")
        figures = (subject.figure(getattr(column, n), 3) for n in BY_COLUMN)
        values = Cell(f"{words.integer(column.values_before)} → {words.integer(column.values_after)}")
        lines.append((Cell(clean(name)), shown, *figures, values))
    header = ("column", "level", *(LABELS["short"][n] for n in BY_COLUMN), "different values")
    known = [(clean(n), x, subject.heights[n]) for n, x in subject.levels.items() if x is not None]
    levels = Picture(words.say("Level of each column"), charts.levels(known, words))
    blocks: list[Block] = [Beside(overall, levels) if known else overall]
    blocks.append(subject.table(lines, "lrrrrrr", header, title=words.say("By quasi-identifier")))
    drawn = [_picture(subject, name, distribution(pair, j, subject.limits)) for j, name in enumerate(pair.columns)]
    for s in pair.original.sensitive:
        shares = sensitive_distribution(pair, s, subject.limits)
        if not s.others and sum(x.kind == "label" for x in shares) > 1:
            drawn.append(_picture(subject, s.column, shares))
    title, note = (
        words.say("Distributions before and after"),
        words.say(
            "Shares of all records under each released label. Rare labels and records that are not released are joined in bars of their own. Where labels overlap or stand for other values, numbers, dates and ordered values are counted in ranges, a released interval where its middle is, and categories at the level of the hierarchy that holds all labels."
        ),
    )
    blocks.append(Pictures(tuple(drawn), title, note))
    centred = any(not np.isnan(cover.points).all() for cover in pair.covers if len(cover.labels))
    lead = (
        words.say("0 means that nothing was lost, unless stated otherwise. Suppressed records count as fully generalized."),
        *(
            [
                words.say(
                    "A mode, mean or median counts as all values of its class: losses are about what it stands for, answers and distributions about what it shows."
                )
            ]
            if centred
            else []
        ),
    )
    return Section("utility", words.say("Utility: what it cost"), lead, tuple(blocks))


def _picture(subject: Subject, name: str, shares: list[Share]) -> Picture:
    words, n = subject.words, max(subject.pair.records, 1)
    pairs = [
        charts.Pairing(subject.label(s.label) if s.kind == "label" else words.label("share", s.kind), s.before / n, s.after / n)
        for s in shares
    ]
    return Picture(clean(name), charts.before_after(pairs, words.say("share of all records"), words))


def answers(subject: Subject) -> Section | None:
    """What analysts get from the release instead of from the original."""
    e, words = subject.evaluation, subject.words
    blocks: list[Block] = [_aggregates(subject, name) for name in e.aggregates or {}]
    if e.ks:
        rows = [
            (
                Cell(clean(name)),
                subject.figure(test.statistic),
                _p_value(subject, test.p),
                subject.say("yes" if test.kept else "no"),
                Cell(words.label("compared-by", test.by)),
            )
            for name, test in e.ks.items()
        ]
        header = (words.say("column"), "D", "p", words.say("distribution kept"), words.say("compared by"))
        note = words.say(
            "D is the largest distance between the two distributions. p is a p-value, not a confidence: by the convention used here a distribution counts as kept if p ≥ {kept}.",
            kept=words.number(KEPT, 2),
        )
        blocks.append(Table(tuple(rows), "lrrll", header, words.say("Kolmogorov–Smirnov test"), note))
    if e.queries:
        q = e.queries
        found = [
            (subject.say("relative error, mean"), subject.percent(q.mean)),
            (subject.say("relative error, median"), subject.percent(q.median)),
        ]
        note = words.say(
            "{n} random COUNT queries over one to three quasi-identifiers, answered from the release (seed {seed}): relative error of the answer. A released label counts with the share of its values that a query asks for, as if they were equally frequent.",
            n=words.integer(q.queries),
            seed=q.seed,
        )
        blocks.append(subject.table(found, "lr", title=words.say("COUNT queries"), note=note))
    if e.learning:
        blocks.append(_learning(subject, e.learning))
    return Section("answers", words.say("Answers from the release"), (), tuple(blocks)) if blocks else None


def _p_value(subject: Subject, p: float) -> Cell:
    least = 0.0001
    return Cell("<" + subject.words.number(least), p, "0.0000") if p < least else subject.figure(p)


def _aggregates(subject: Subject, name: str) -> Table:
    """Numbers of the original appear only where enough records have them; else the label above them."""
    words, pair = subject.words, subject.pair
    assert subject.evaluation.aggregates is not None
    told = disclosed(pair, pair.columns.index(name), subject.evaluation.aggregates[name], subject.limits)
    rows = [
        (
            Cell(words.label("answers", x.name)),
            _answer_cell(subject, x.before, 2 if x.name.startswith("mean") else 4),
            _answer_cell(subject, x.after, 2),
        )
        for x in told
        if x.name != "mode-suppressed"
    ]
    title = words.say("Numeric column: {column}", column=clean(name))
    return subject.table(rows, "lrr", ("answer", "before", "after"), title=title)


def _answer_cell(subject: Subject, shown: Shown, digits: int) -> Cell:
    """An answer as a cell: a mode with how many records have it."""
    words = subject.words
    if shown.kind == "hidden":
        return subject.say("not shown (small group)")
    if shown.kind == "label" and shown.records is None:
        return subject.say("in {label}", label=subject.label(shown.label))
    cell = Cell(subject.label(shown.label)) if shown.kind == "label" else subject.figure(shown.number, digits)
    if shown.records is None:
        return cell
    return Cell(words.say("{value} ({n} records)", value=cell.text, n=words.integer(shown.records)))


def _learning(subject: Subject, learning: Any) -> Table:
    words = subject.words
    rows = []
    for name, before in learning.original.items():
        after = learning.released[name]
        scores = (before.accuracy, after.accuracy, before.auc, after.auc)
        rows.append((Cell(clean(name)), *(subject.figure(x, 3) for x in scores)))
    accuracy, before_, after_ = words.say("accuracy"), words.say("before"), words.say("after")
    header = (words.say("classifier"), *(f"{m}, {t}" for m in (accuracy, "AUC") for t in (before_, after_)))
    note = words.say(
        "Cross-validated on original records ({folds} folds); always guessing the most frequent value gives {majority}.",
        folds=learning.folds,
        majority=words.number(learning.majority, 3),
    )
    return Table(tuple(rows), "lrrrr", header, words.say("Predicting {column}", column=clean(learning.target)), note)


FIGURES: dict[str, Callable[[Evaluation], float]] = {
    "loss": lambda e: e.utility.loss,
    "risk_highest": lambda e: e.risk.highest,
    "suppressed": lambda e: e.suppressed / max(e.rows, 1),
    "average_class": lambda e: float(e.class_size.get("mean", 0.0)),
}
SHARES = ("risk_highest", "suppressed")
MOST_SERIES = 6


def trade_off(subject: Subject) -> Section | None:
    """Curves, frontier and table of other settings."""
    if subject.comparison is None or not subject.comparison.settings:
        return None
    words = subject.words
    drawn = trade_off_pictures(subject.comparison, subject.words, subject.evaluation)
    blocks: list[Block] = [Pictures(tuple(drawn.values()))] if drawn else []
    blocks.append(_settings(subject))
    return Section(
        "trade-off",
        words.say("Trade-off: other settings"),
        (
            words.say(
                "The same table with other parameters. Settings marked with * are efficient: no other has both less average risk and less loss."
            ),
        ),
        tuple(blocks),
    )


def trade_off_pictures(comparison: Comparison, words: Language, this: Evaluation | None = None) -> dict[str, Picture]:
    """A chart of each figure against the first numeric parameter, and risk against loss."""
    solved = [(s, s.evaluation) for s in comparison.settings if s.evaluation is not None]
    axis = next((p for p in comparison.parameters if _numeric([s for s, _ in solved], p)), None)
    drawn: dict[str, Picture] = {}
    if axis is not None:
        series: dict[str, list[tuple[float, Evaluation]]] = {}
        for s, e in solved:
            others = ", ".join(_setting_text(words, k, v) for k, v in s.parameters.items() if k != axis)
            series.setdefault(others, []).append((float(s.parameters[axis]), e))
        shown = dict(list(series.items())[:MOST_SERIES])
        for name, figure in FIGURES.items():
            points = {label: sorted((x, figure(e)) for x, e in group) for label, group in shown.items()}
            title = words.label("figure", name)
            chart = charts.lines(points, parameter_label(words, axis), title, words, percent=name in SHARES)
            drawn[name] = Picture(title[:1].upper() + title[1:], chart)
        tests = _tests(next(iter(shown.values())), words) if len(shown) == 1 else {}
        if tests:
            title = words.say("Kolmogorov–Smirnov p-value")
            drawn["ks"] = Picture(title, charts.lines(tests, parameter_label(words, axis), "p", words))
    if len(solved) > 1:
        marks = [
            charts.Point(
                ", ".join(_setting_text(words, k, v) for k, v in s.parameters.items() if axis in (None, k)),
                e.risk.average,
                e.utility.loss,
                "efficient" if s.efficient else "other",
            )
            for s, e in solved
        ]
        if this is not None:
            marks.append(charts.Point("", this.risk.average, this.utility.loss, "this"))
        drawn["frontier"] = Picture(words.say("Risk and loss"), charts.frontier(marks, words))
    return drawn


def _tests(points: list[tuple[float, Evaluation]], words: Language) -> dict[str, list[tuple[float, float]]]:
    """The p-value of every numeric column that all settings have, and the limit from which a distribution is kept."""
    common = set.intersection(*(set(e.ks or {}) for _, e in points)) if points else set()
    found = {clean(c): sorted((x, e.ks[c].p) for x, e in points if e.ks) for c in sorted(common)}
    ends = [min(x for x, _ in points), max(x for x, _ in points)] if points else []
    return {**dict(list(found.items())[: MOST_SERIES - 1]), f"p = {words.number(KEPT)}": [(x, KEPT) for x in ends]} if found else {}


def _numeric(settings: list[Setting], parameter: str) -> bool:
    values = {s.parameters.get(parameter) for s in settings}
    return len(values) > 1 and all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values)


def _setting_text(words: Language, name: str, value: Any) -> str:
    if name == "suppression":
        return words.say("suppression ≤ {share}", share=limit_in_words(value, words))
    shown = words.number(value) if isinstance(value, (int, float)) else str(value)
    return shown if name == "method" else f"{symbol(name)} = {shown}"


def _settings(subject: Subject) -> Table:
    words, comparison = subject.words, subject.comparison
    assert comparison is not None
    names = comparison.parameters
    rows = []
    for s in comparison.settings:
        e = s.evaluation
        given = [_parameter_cell(subject, n, s.parameters.get(n)) for n in names]
        if e is None:
            rows.append((*given, Cell(""), subject.say("no solution"), *(Cell("–") for _ in range(5))))
            continue
        rows.append(
            (
                *given,
                Cell("*" if s.efficient else ""),
                subject.figure(e.utility.loss, 3),
                subject.percent(e.risk.highest),
                subject.percent(e.risk.average),
                subject.percent(e.suppressed / max(e.rows, 1)),
                subject.count(e.classes),
                subject.figure(float(e.class_size.get("mean", 0)), 1),
            )
        )
    figures = ("loss", "risk_highest", "risk_average", "suppressed", "classes", "average_class")
    header = (*(parameter_label(words, n) for n in names), "", *(words.label("figure", f) for f in figures))
    return Table(tuple(rows), "l" * len(names) + "lrrrrrr", header)


def _parameter_cell(subject: Subject, name: str, value: Any) -> Cell:
    if name == "suppression":
        counted = records_of(value) is not None
        return Cell(limit_in_words(value, subject.words)) if counted else subject.percent(value)
    return subject.figure(value) if isinstance(value, (int, float)) else Cell(str(value))
