"""The chapters about the release itself: what it is, its classes, its privacy, its risk, how it was made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from velado.attacks import ATTACKS
from velado.evaluation import Pair, shown
from velado.evaluation.risk import THRESHOLD, required_size
from velado.frequency import Sensitive
from velado.i18n import Language
from velado.methods import METHODS, OBJECTIVES
from velado.models import FUZZY, MODELS, figure_title, larger_is_safer, model_from, title_of
from velado.models import Verdict as Judged
from velado.report import charts
from velado.report.chapters.content import Beside, Block, Cell, Picture, Pictures, Section, Table
from velado.report.chapters.subject import Subject, clean, digits_of, limit_in_words
from velado.report.chapters.summary import describe_required
from velado.schema import Column
from velado.sentences import Sentence

TOP = 20
ATTACK_FIGURES = (
    "few_alone",
    "singled_out_alone",
    "singled_out_together",
    "few_by_all",
    "singled_out_by_all",
    "if_known",
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
    (
        Sentence("quasi-identifier"),
        Sentence("A column that others may know about a person and link with outside knowledge, such as age or place."),
    ),
    (Sentence("sensitive attribute"), Sentence("What must not be learnt about a person, such as a diagnosis.")),
    (Sentence("equivalence class"), Sentence("The released records that share all quasi-identifier values.")),
    (
        Sentence("generalization"),
        Sentence("Replacing a value by a coarser one: 34 by 30–39. The level says how coarse; 0 is the value itself."),
    ),
    (Sentence("suppression"), Sentence("Leaving a record out, or showing * instead of its values.")),
)
FUZZY_TERM = (
    Sentence("fuzzy set"),
    Sentence(
        'A set to which a value belongs to a degree between 0 and 1, for instance to "low" with 0.7 and to "middle" with 0.3. The degrees of a value add up to 1.'
    ),
)
FIGURE_TERMS = (
    (
        Sentence("re-identification risk"),
        Sentence(
            "The chance to pick the record of a person who is known to be in the release: 1 divided by the size of the class."
        ),
    ),
    (Sentence("loss"), Sentence("The share of the detail of the quasi-identifiers that recoding removed: 0 none, 1 all.")),
    (Sentence("precision"), Sentence("1 minus the mean of level divided by highest level over all cells.")),
    (Sentence("manifest"), Sentence("The file beside a release that tells how it was made, without any value of a person.")),
)


def release(subject: Subject) -> Section:
    """What was released, from what, with what."""
    e, words, about = subject.evaluation, subject.words, subject.about
    facts = [
        (subject.say("project"), Cell(clean(about.name))),
        (subject.say("input"), Cell(clean(about.original))),
        (subject.say("release"), Cell(clean(about.release))),
        (subject.say("records of the input"), subject.count(e.rows)),
        (subject.say("records released"), subject.count(e.released)),
        (subject.say("records suppressed"), subject.count(e.suppressed)),
    ]
    if about.day is not None:
        facts.insert(1, (subject.say("created"), Cell(words.date(about.day))))
        facts.append((subject.say("order of the rows"), Cell(words.label("order", str(about.part("output", "order"))))))
        versions = about.part("versions") or {}
        facts.append((subject.say("made with"), Cell(", ".join(f"{name} {version}" for name, version in versions.items()))))
    blocks = [subject.table(facts, "ll")]
    digest = about.part("output", "sha256")
    if digest:
        blocks.append(subject.table([(subject.say("SHA-256 of the release"), Cell(str(digest)))], "lc"))
    if about.columns:
        blocks.append(_columns(subject))
    return Section("release", words.say("The release"), (), tuple(blocks))


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
    header = ("column", "role", "in the release", "missing values")
    return subject.table(rows, "llll", header, title=words.say("Columns"))


def _fate(subject: Subject, column: Column) -> str:
    operation = None if column.operation is None else column.operation.name
    level, height = subject.levels.get(column.name), subject.heights.get(column.name, 0)
    return fate_in_words(column.role, operation, level, height, subject.pair.fuzzy is not None, subject.words)


def fate_in_words(role: str, operation: str | None, level: float | None, height: int, fuzzy: bool, words: Language) -> str:
    """What became of a column in the release."""
    if operation is not None:
        return words.label("operated", operation)
    if role == "identifier":
        return words.say("replaced by *")
    if role != "quasi-identifier":
        return words.say("as it is")
    if fuzzy:
        return words.say("replaced by the names of fuzzy sets")
    if level is None or level != int(level):
        return words.say("generalized, differently from class to class")
    told = (
        "at full detail: level 0 of {height}"
        if level == 0
        else "fully generalized: level {level} of {height}"
        if level == height
        else "generalized: level {level} of {height}"
    )
    return words.say(told, level=int(level), height=height)


def classes(subject: Subject) -> Section:
    """How many classes there are, and how large."""
    e, words = subject.evaluation, subject.words
    sizes = subject.pair.shown_sizes
    rows = [
        (subject.say("classes"), subject.count(e.classes)),
        (subject.say("smallest class"), subject.count(int(e.class_size["min"]))),
        (subject.say("average class size"), subject.figure(e.class_size["mean"], 1)),
        (subject.say("largest class"), subject.count(int(e.class_size["max"]))),
    ]
    top = min(TOP, len(sizes))
    drawn = (
        Picture(words.say("Classes by size"), charts.class_histogram(sizes, words)),
        Picture(words.say("The {n} largest classes", n=words.integer(top)), charts.top_classes(sizes, words, TOP)),
    )
    lead = (
        words.say(
            "An equivalence class is the set of released records that share all quasi-identifier values. The smaller the class, the higher the risk of its records."
        ),
    )
    return Section("equivalence", words.say("Equivalence classes"), lead, (subject.table(rows, "lr"), Pictures(drawn)))


def privacy(subject: Subject) -> Section:
    """What every model measures, before and after, per sensitive column."""
    e, words = subject.evaluation, subject.words
    assert e.before is not None
    assert e.after is not None
    header = ("measure", "before", "after", "safer if")
    larger, smaller = subject.say("larger"), subject.say("smaller")
    k = (subject.say("k-anonymity: k"), subject.count(e.before.k), subject.count(e.after.k), larger)
    blocks: list[Block] = []
    charted = {s.column: s for s in subject.pair.visible_classes.frequency.sensitive if not s.others}
    for i, (column, before) in enumerate(e.before.sensitive.items()):
        after = e.after.sensitive[column]
        rows = [k] if i == 0 else []
        for name in before:
            label = Cell(figure_title(name, e.after.l).into(words.code))
            cells = (subject.figure(before[name]), subject.figure(after[name]))
            rows.append((label, *cells, larger if larger_is_safer(name) else smaller))
        title = words.say("Sensitive column: {column}", column=clean(column))
        table = subject.table(rows, "lrrl", header, title=title)
        if column in charted:
            values = distinct_values(subject.pair, charted[column])
            chart = charts.diversity_histogram(values, clean(column), words)
            blocks.append(Beside(table, Picture(words.say("Different values of {column}", column=clean(column)), chart)))
        else:
            blocks.append(table)
    if not blocks:
        blocks.append(subject.table([k], "lrrl", header, note=words.say("No column is declared sensitive.")))
    return Section(
        "privacy",
        words.say("Privacy before and after"),
        (
            words.say(
                "What the table had before and has after, each figure being that of its worst class. A dash means that no value is enough."
            ),
        ),
        tuple(blocks),
    )


def distinct_values(pair: Pair, column: Sensitive) -> np.ndarray:
    """How many different values of a sensitive column each class has."""
    released = pair.visible_classes
    inside = (released.values >= column.first) & (released.values < column.first + column.width)
    ends = np.concatenate([[0], np.cumsum(inside)])
    return np.asarray(ends[released.start[1:]] - ends[released.start[:-1]])


def risk(subject: Subject) -> Section:
    """The risk of being re-identified, before and after."""
    e, words = subject.evaluation, subject.words
    threshold = words.percent(THRESHOLD)
    k = required_size([model_from(v.name, v.required) for v in e.models])
    rows: list[tuple[Cell, ...]] = []
    for one in shown.risk_figures(e.before.risk if e.before else None, e.risk, k, THRESHOLD, words):
        cell = subject.percent if one.is_share else subject.count
        rows.append((Cell(one.title), cell(one.before), cell(one.after)))
    nothing = Cell("–")
    if e.journalist:
        j = e.journalist
        rows += [
            (subject.say("journalist risk, highest"), nothing, subject.percent(j.highest)),
            (subject.say("journalist risk, average"), nothing, subject.percent(j.average)),
            (subject.say("journalist risk, records above {threshold}", threshold=threshold), nothing, subject.percent(j.at_risk)),
        ]
    if e.individual:
        means = (subject.percent(e.individual[x].mean, 2) for x in ("before", "after"))
        rows.append((subject.say("individual risk (Franconi–Polettini), average"), *means))
    if e.uniqueness:
        for model in ("zayatz", "pitman", "snb", "dankar"):
            shares = (subject.percent(getattr(e.uniqueness[x], model), 2) for x in ("before", "after"))
            rows.append((subject.say("unique in the population ({model})", model=model.capitalize()), *shares))
    note = "" if e.journalist else words.say("No population table was given: the journalist's risk is at most the prosecutor's.")
    people = subject.pair.people
    alone = subject.pair.original.counts if people is None else people.before
    chart = charts.risk_distribution(alone, subject.pair.risk_sizes, words)
    table = subject.table(rows, "lrr", ("measure", "before", "after"), note=note)
    block = Beside(table, Picture(words.say("Records by class size (and highest risk)"), chart))
    return Section(
        "risk",
        words.say("Re-identification risk"),
        (
            words.say(
                "Prosecutor: knows that the person is in the release. Marketer: wants as many records as possible. Journalist: knows only a population of which the release is a part. The risk of a record is 1 divided by the size of its class."
            ),
        ),
        (block,),
    )


def published_columns(subject: Subject) -> Section | None:
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
                subject.count(e.few_together),
                Cell(dangers or "–"),
            )
        )
    header = (
        "column",
        "role",
        "with a value",
        "alone with it",
        "shared by fewer than k",
        "fewer than k with the quasi-identifiers",
        "danger",
    )
    table = subject.table(rows, "llrrrrl", header)
    blocks = (table, *_keys(subject))
    return Section(
        "published",
        words.say("Other published columns"),
        (
            words.say(
                "Columns that are not quasi-identifiers pass through. How many records have a value that nobody else has, or that fewer than k have, and how many are in groups smaller than k by the value and the released quasi-identifiers."
            ),
        ),
        blocks,
    )


def _keys(subject: Subject) -> list[Table]:
    """How many columns it takes to find fewer than k people, and which ones find the most."""
    joint, words = subject.evaluation.exposure, subject.words
    if joint is None or joint.keys is None or joint.keys_with_private is None or not joint.below_with_private:
        return []
    rows = [
        (Cell(words.label("keys", name)), subject.count(joint.keys[name]), subject.count(joint.keys_with_private[name]))
        for name in joint.keys
    ]
    note = shown.sample_note(subject.figures["exposure"], words)
    found = [
        subject.table(
            rows,
            "lrr",
            ("columns that are enough to find fewer than k", "people, by what others could know", "by everything published"),
            note=note,
        )
    ]
    known = [s for s in joint.sets if not set(s.columns) & set(joint.private)]
    if known and joint.below:
        sets = [(Cell(" + ".join(map(clean, s.columns))), subject.count(s.alone), subject.count(s.below)) for s in known]
        found.append(subject.table(sets, "lrr", ("column", "alone with it", "shared by fewer than k")))
    return found


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
                subject.say("succeeded" if a.succeeded else "failed¦attack"),
                Cell(_figures(subject, a.figures) or "–"),
                Cell("; ".join(_prevention(subject, p) for p in a.prevented_by) or "–"),
            )
        )
    table = subject.table(rows, "llll", ("attack", "result", "figures", "prevented by"))
    return Section(
        "attacks", words.say("Attacks tried"), (words.say("What an adversary would gain from the release, tried on it."),), (table,)
    )


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
        wanted = describe_required(subject, Judged(prevention.model, prevention.parameters, None, False))
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
    rows = [(subject.say("method"), subject.say(METHODS[name].declaration.title))]
    for key, value in parameters.items():
        rows.append((Cell(words.label("parameter", key)), Cell(parameter_in_words(key, value, words))))
    told = proof_in_words(name, search, words)
    return Section("method", words.say("Method and search"), (told,), (subject.table(rows, "ll"),))


def proof_in_words(method: str, search: Mapping[str, Any], words: Language) -> str:
    """Whether the recoding that a method found is proven to be the best."""
    if method == "fixed":
        return words.say("The levels are those that the project gives; nothing was searched for.")
    if method == "fuzzy":
        return words.say(
            "The sets are those of the best of several starts; fewer or other sets may lose more or less. There is no proof that the recoding is optimal."
        )
    if search.get("proven_optimal"):
        return words.say(
            "The recoding is optimal, and this is proven: no other recoding that satisfies the models within the suppression limit is better by the objective."
        )
    if search.get("gap") is not None:
        return words.say(
            "The recoding is the best that was found in the time given. The optimum is at most {gap} better by the objective.",
            gap=words.number(search["gap"]),
        )
    return words.say("The recoding was found by a heuristic: there is no proof that it is optimal.")


def parameter_in_words(key: str, value: Any, words: Language) -> str:
    """A parameter of a method as people read it."""
    if key == "suppression":
        return limit_in_words(value, words)
    if key == "objective":
        return Sentence(OBJECTIVES[str(value)].title).into(words.code)
    if isinstance(value, Mapping):
        parts = (f"{clean(str(k))} {_value(x, words)}" for k, x in value.items())
        return "; ".join(parts) or words.say("none¦setting")
    return _value(value, words)


def _value(value: Any, words: Language) -> str:
    if value is None:
        return words.say("none¦setting")
    if isinstance(value, (bool, np.bool_)):
        return words.say("yes" if value else "no")
    if isinstance(value, (list, tuple)):
        return ", ".join(_value(x, words) for x in value)
    if isinstance(value, (int, float, np.number)):
        return words.number(float(value), digits_of(float(value)))
    return clean(str(value))


def glossary(subject: Subject) -> Section:
    """The terms of the report."""
    words = subject.words
    fuzzy = subject.pair.fuzzy is not None
    models = [m.declaration for m in MODELS.values() if fuzzy or m.basis != FUZZY]
    terms = (*TERMS, *([FUZZY_TERM] if fuzzy else []), *((m.title, m.meaning) for m in models), *FIGURE_TERMS)
    rows = [(subject.say(title), subject.say(meaning)) for title, meaning in terms]
    return Section("glossary", words.say("Terms"), (), (subject.table(rows, "ll"),))
