"""The chapters about the release itself: what it is, its classes, its privacy, its risk, how it was made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from velado.attacks import ATTACKS
from velado.evaluation import Pair
from velado.evaluation.risk import THRESHOLD, Risk, required_size
from velado.frequency import Sensitive
from velado.i18n import Language
from velado.methods import METHODS, OBJECTIVES
from velado.models import FUZZY, MODELS, figure_title, larger_is_safer, model_from, title_of
from velado.models import Verdict as Judged
from velado.report import charts
from velado.report.chapters.content import Beside, Block, Cell, Picture, Pictures, Section, Table
from velado.report.chapters.subject import Subject, clean, digits_of, limit_in_words
from velado.report.chapters.summary import required
from velado.schema import Column
from velado.sentences import Sentence

TOP = 20
ATTACK_FIGURES = (
    "few_alone",
    "singled_out_alone",
    "singled_out_together",
    "exposed_share",
    "exposed_records",
    "exposed_people",
    "matched",
    "unique",
    "highest_confidence",
    "mean_confidence",
    "best_guess",
    "largest_gain",
    "in_order",
    "chance",
    "smallest_combined",
    "singled_out",
)
SHARES = ("exposed_share", "highest_confidence", "mean_confidence", "best_guess", "in_order", "chance")
MOST_FIGURES = 4
TERMS = (
    "quasi-identifier",
    "sensitive",
    "class",
    "generalization",
    "suppression",
)
FIGURE_TERMS = ("risk", "loss", "precision", "manifest")


def release(subject: Subject) -> Section:
    """What was released, from what, with what."""
    e, words, about = subject.evaluation, subject.words, subject.about
    facts = [
        ("release.project", Cell(clean(about.name))),
        ("release.input", Cell(clean(about.original))),
        ("release.output", Cell(clean(about.release))),
        ("release.rows", subject.count(e.rows)),
        ("release.released", subject.count(e.released)),
        ("release.suppressed", subject.count(e.suppressed)),
    ]
    if about.created is not None:
        facts.insert(1, ("release.created", Cell(words.date(about.created))))
        facts.append(("release.order", Cell(words.label("order", str(about.part("output", "order"))))))
        versions = about.part("versions") or {}
        facts.append(("release.versions", Cell(", ".join(f"{name} {version}" for name, version in versions.items()))))
    blocks = [subject.table([(subject.text(key), cell) for key, cell in facts], "ll")]
    digest = about.part("output", "sha256")
    if digest:
        blocks.append(subject.table([(subject.text("release.output-sha"), Cell(str(digest)))], "lc"))
    if about.columns:
        blocks.append(_columns(subject))
    return Section("release", words.text("release.title"), (), tuple(blocks))


def _columns(subject: Subject) -> Table:
    words = subject.words
    rows = []
    for column in subject.about.columns:
        rule = column.role in ("quasi-identifier", "sensitive")
        rows.append(
            (
                Cell(clean(column.name)),
                Cell(words.label("role", column.role)),
                Cell(_fate(subject, column)),
                Cell(words.label("missing-rule", column.missing) if rule else "–"),
            )
        )
    header = ("head.column", "head.role", "head.fate", "head.missing")
    return subject.table(rows, "llll", header, title=words.text("release.columns"))


def _fate(subject: Subject, column: Column) -> str:
    operation = None if column.operation is None else column.operation.name
    level, height = subject.levels.get(column.name), subject.heights.get(column.name, 0)
    return fate_in_words(column.role, operation, level, height, subject.pair.fuzzy is not None, subject.words)


def fate_in_words(
    role: str, operation: str | None, level: float | None, height: int, fuzzy: bool, words: Language
) -> str:
    """What became of a column in the release."""
    if operation is not None:
        return words.text(f"operated.{operation}")
    if role == "identifier":
        return words.text("operated.suppress")
    if role != "quasi-identifier":
        return words.text("fate.same")
    if fuzzy:
        return words.text("fate.fuzzy")
    if level is None or level != int(level):
        return words.text("fate.local")
    key = "fate.detail" if level == 0 else "fate.top" if level == height else "fate.level"
    return words.text(key, level=int(level), height=height)


def classes(subject: Subject) -> Section:
    """How many classes there are, and how large."""
    e, words = subject.evaluation, subject.words
    sizes = subject.pair.shown_sizes
    rows = [
        (subject.text("classes.count"), subject.count(e.classes)),
        (subject.text("classes.min"), subject.count(int(e.class_size["min"]))),
        (subject.text("classes.mean"), subject.figure(e.class_size["mean"], 1)),
        (subject.text("classes.max"), subject.count(int(e.class_size["max"]))),
    ]
    top = min(TOP, len(sizes))
    drawn = (
        Picture(words.text("chart.classes"), charts.class_histogram(sizes, words)),
        Picture(words.text("chart.top-classes", n=words.integer(top)), charts.top_classes(sizes, words, TOP)),
    )
    lead = (words.text("classes.lead"),)
    return Section("equivalence", words.text("classes.title"), lead, (subject.table(rows, "lr"), Pictures(drawn)))


def privacy(subject: Subject) -> Section:
    """What every model measures, before and after, per sensitive column."""
    e, words = subject.evaluation, subject.words
    assert e.before is not None
    assert e.after is not None
    header = ("head.measure", "before", "after", "head.safer")
    larger, smaller = subject.text("safer.larger"), subject.text("safer.smaller")
    k = (subject.text("measure.k"), subject.count(e.before.k), subject.count(e.after.k), larger)
    blocks: list[Block] = []
    charted = {s.column: s for s in subject.pair.shown.frequency.sensitive if not s.others}
    for i, (column, before) in enumerate(e.before.sensitive.items()):
        after = e.after.sensitive[column]
        rows = [k] if i == 0 else []
        for name in before:
            label = Cell(figure_title(name, e.after.l).into(words.code))
            cells = (subject.figure(before[name]), subject.figure(after[name]))
            rows.append((label, *cells, larger if larger_is_safer(name) else smaller))
        title = words.text("privacy.sensitive", column=clean(column))
        table = subject.table(rows, "lrrl", header, title=title)
        if column in charted:
            values = distinct_values(subject.pair, charted[column])
            chart = charts.diversity_histogram(values, clean(column), words)
            blocks.append(Beside(table, Picture(words.text("chart.diversity", column=clean(column)), chart)))
        else:
            blocks.append(table)
    if not blocks:
        blocks.append(subject.table([k], "lrrl", header, note=words.text("privacy.no-sensitive")))
    return Section("privacy", words.text("privacy.title"), (words.text("privacy.lead"),), tuple(blocks))


def distinct_values(pair: Pair, column: Sensitive) -> np.ndarray:
    """How many different values of a sensitive column each class has."""
    released = pair.shown
    inside = (released.values >= column.first) & (released.values < column.first + column.width)
    ends = np.concatenate([[0], np.cumsum(inside)])
    return np.asarray(ends[released.start[1:]] - ends[released.start[:-1]])


def risk(subject: Subject) -> Section:
    """The risk of being re-identified, before and after."""
    e, words = subject.evaluation, subject.words
    threshold = words.percent(THRESHOLD)
    before = e.before.risk if e.before else None

    def both(key: str, figure: Callable[[Risk], float], **values: str) -> tuple[Cell, ...]:
        shares = (None if r is None else figure(r) for r in (before, e.risk))
        return (subject.text(key, **values), *map(subject.percent, shares))

    rows: list[tuple[Cell, ...]] = [
        both("risk.highest", lambda r: r.highest),
        both("risk.average", lambda r: r.average),
        both("risk.at-risk", lambda r: r.at_risk, threshold=threshold),
        (
            subject.text("risk.singled-out"),
            subject.count(e.risk.singled_out_before),
            subject.count(e.risk.singled_out_after),
        ),
    ]
    k = required_size([model_from(v.name, v.required) for v in e.models])
    if k is not None and e.risk.smaller_than_k_before is not None:
        counts = (subject.count(e.risk.smaller_than_k_before), subject.count(e.risk.smaller_than_k_after))
        rows.append((subject.text("risk.smaller-than-k", k=words.integer(k)), *counts))
    nothing = Cell("–")
    if e.journalist:
        j = e.journalist
        rows += [
            (subject.text("risk.journalist-highest"), nothing, subject.percent(j.highest)),
            (subject.text("risk.journalist-average"), nothing, subject.percent(j.average)),
            (subject.text("risk.journalist-at-risk", threshold=threshold), nothing, subject.percent(j.at_risk)),
        ]
    if e.individual:
        means = (subject.percent(e.individual[x].mean, 2) for x in ("before", "after"))
        rows.append((subject.text("risk.individual"), *means))
    if e.uniqueness:
        for model in ("zayatz", "pitman", "snb", "dankar"):
            shares = (subject.percent(getattr(e.uniqueness[x], model), 2) for x in ("before", "after"))
            rows.append((subject.text("risk.uniqueness", model=model.capitalize()), *shares))
    note = "" if e.journalist else words.text("risk.no-journalist")
    people = subject.pair.people
    alone = subject.pair.original.counts if people is None else people.before
    chart = charts.risk_distribution(alone, subject.pair.exposed, words)
    table = subject.table(rows, "lrr", ("head.measure", "before", "after"), note=note)
    block = Beside(table, Picture(words.text("chart.risk"), chart))
    return Section("risk", words.text("risk.title"), (words.text("risk.lead"),), (block,))


def published(subject: Subject) -> Section | None:
    """Other published columns: how far they single people out. Those that do come first."""
    words, exposures = subject.words, subject.evaluation.published
    if not exposures:
        return None
    rows = []
    for e in sorted(exposures, key=lambda e: not e.dangers):
        dangers = ", ".join(words.label("danger", name) for name in e.dangers)
        rows.append(
            (
                Cell(clean(e.column)),
                Cell(words.label("role", e.role)),
                subject.count(e.records),
                subject.count(e.singled_out),
                subject.count(e.few),
                subject.count(e.singled_out_together),
                Cell(dangers or "–"),
            )
        )
    header = ("head.column", "head.role", "head.with-value", "head.alone", "head.few", "head.together", "head.danger")
    table = subject.table(rows, "llrrrrl", header)
    return Section("published", words.text("published.title"), (words.text("published.lead"),), (table,))


def attacks(subject: Subject) -> Section | None:
    """Attacks that were tried on the release; only figures are told, no class and no value."""
    if not subject.attacks:
        return None
    words = subject.words
    rows = []
    for a in subject.attacks:
        name = Sentence(ATTACKS[a.name].declaration.title).into(words.code)
        column = getattr(a, "column", None)
        rows.append(
            (
                Cell(f"{name}: {clean(column)}" if column else name),
                subject.text("attacks.succeeded" if a.succeeded else "attacks.failed"),
                Cell(_figures(subject, a.figures) or "–"),
                Cell("; ".join(_prevention(subject, p) for p in a.prevented_by) or "–"),
            )
        )
    table = subject.table(rows, "llll", ("head.attack", "head.result", "head.figures", "head.prevented"))
    return Section("attacks", words.text("attacks.title"), (words.text("attacks.lead"),), (table,))


def _figures(subject: Subject, figures: Mapping[str, Any]) -> str:
    """The main figures of an attack; all of them if none of those is there."""
    words = subject.words
    numbers = {n: float(x) for n, x in figures.items() if isinstance(x, (int, float, np.number))}
    chosen = [n for n in ATTACK_FIGURES if n in numbers][:MOST_FIGURES] or list(numbers)
    return "; ".join(
        f"{words.label('attack-figure', n)} {words.percent(numbers[n]) if n in SHARES else _value(numbers[n], words)}"
        for n in chosen
    )


def _prevention(subject: Subject, prevention: Any) -> str:
    if isinstance(prevention, str):
        return title_of(prevention).into(subject.words.code)
    told = []
    if prevention.model:
        wanted = required(subject, Judged(prevention.model, prevention.parameters, None, False))
        told.append(f"{title_of(prevention.model).into(subject.words.code)} ({wanted})")
    if prevention.measure:
        told.append(subject.words.label("prevention", prevention.measure))
    return ", ".join(told)


def method(subject: Subject) -> Section | None:
    """How the recoding was found, and whether it is proven to be the best."""
    words, about = subject.words, subject.about
    chosen = about.part("method")
    if not chosen:
        return None
    ((name, parameters),) = chosen.items()
    search = about.part("search") or {}
    rows = [(subject.text("method.name"), _said(subject, METHODS[name].declaration.title))]
    for key, value in parameters.items():
        rows.append((Cell(words.label("parameter", key)), Cell(parameter_in_words(key, value, words))))
    told = proof_in_words(name, search, words)
    return Section("method", words.text("method.title"), (told,), (subject.table(rows, "ll"),))


def proof_in_words(method: str, search: Mapping[str, Any], words: Language) -> str:
    """Whether the recoding that a method found is proven to be the best."""
    if method in ("fixed", "fuzzy"):
        return words.text(f"method.{method}")
    if search.get("proven_optimal"):
        return words.text("method.optimal")
    if search.get("gap") is not None:
        return words.text("method.gap", gap=words.number(search["gap"]))
    return words.text("method.heuristic")


def parameter_in_words(key: str, value: Any, words: Language) -> str:
    """A parameter of a method as people read it."""
    if key == "suppression":
        return limit_in_words(value, words)
    if key == "objective":
        return Sentence(OBJECTIVES[str(value)].title).into(words.code)
    if isinstance(value, Mapping):
        parts = (f"{clean(str(k))} {_value(x, words)}" for k, x in value.items())
        return "; ".join(parts) or words.text("none")
    return _value(value, words)


def _value(value: Any, words: Language) -> str:
    if value is None:
        return words.text("none")
    if isinstance(value, (bool, np.bool_)):
        return words.text("yes" if value else "no")
    if isinstance(value, (list, tuple)):
        return ", ".join(_value(x, words) for x in value)
    if isinstance(value, (int, float, np.number)):
        return words.number(float(value), digits_of(float(value)))
    return clean(str(value))


def _said(subject: Subject, text: str) -> Cell:
    return Cell(Sentence(text).into(subject.words.code))


def glossary(subject: Subject) -> Section:
    """The terms of the report."""
    words = subject.words
    fuzzy = subject.pair.fuzzy is not None
    terms = (*TERMS, "fuzzy-set") if fuzzy else TERMS
    rows = [(subject.text(f"term.{t}"), subject.text(f"meaning.{t}")) for t in terms]
    for model in MODELS.values():
        if fuzzy or model.basis != FUZZY:
            about = model.declaration
            rows.append((_said(subject, about.title), _said(subject, about.meaning)))
    rows += [(subject.text(f"term.{t}"), subject.text(f"meaning.{t}")) for t in FIGURE_TERMS]
    return Section("glossary", words.text("glossary.title"), (), (subject.table(rows, "ll"),))
