"""The chapter about fuzzy sets: the sets, the possible sizes of their classes, fuzzy beside crisp measures."""

from __future__ import annotations

from velado.evaluation.fuzzy import FEW, FuzzyMeasures, PartitionMeasures
from velado.report.chapters.content import Beside, Block, Cell, Picture, Pictures, Section, Table
from velado.report.chapters.subject import Subject, clean
from velado.report.charts import fuzzy as charts
from velado.report.charts.plane import Plane
from velado.report.charts.surface import surface


def fuzzy(subject: Subject) -> Section | None:
    """Fuzzy sets of a release that has them."""
    measures, words = subject.evaluation.fuzzy, subject.words
    if measures is None:
        return None
    lead = [
        words.say(
            "Numbers were replaced by the names of fuzzy sets. A person belongs to several sets, each to a degree between 0 and 1, and is shown under the one to which they belong most. Fuzzy measures are those of the degrees; crisp measures are those of the names in the release."
        )
    ]
    for p in measures.partitions:
        columns = words.join_words([clean(c) for c in p.columns])
        if p.converged is False:
            lead.append(
                words.say(
                    "The search for the sets of {columns} stopped before it came to rest: other sets may fit the data better.",
                    columns=columns,
                )
            )
        if p.regularized:
            lead.append(
                words.say(
                    "The values of {columns} lie on a line in {n} set(s): their covariance was regularized.",
                    columns=columns,
                    n=words.integer(len(p.regularized)),
                )
            )
    blocks: list[Block] = [_sets(subject, p) for p in measures.partitions]
    drawn = _pictures(subject, measures)
    if drawn:
        blocks.append(Pictures(drawn))
    curve = Picture(words.say("Q-anonymity"), charts.possibility(measures, words))
    blocks.append(Beside(_measures(subject, measures), curve))
    return Section("fuzzy", words.say("Fuzzy sets"), tuple(lead), tuple(blocks))


def _sets(subject: Subject, partition: PartitionMeasures) -> Table:
    words = subject.words
    drawn = any(s.corners for s in partition.sets)
    known = drawn or any(s.centre for s in partition.sets)
    rows = []
    for s in partition.sets:
        if s.corners:
            where = Cell("; ".join(words.number(x) for x in s.corners))
        else:
            where = Cell("; ".join(_number(subject, x) for x in s.centre.values()) if s.centre else "–")
        figures = (subject.figure(s.sigma_count, 1), subject.count(s.cardinality), subject.count(s.records))
        rows.append((Cell(clean(" / ".join(s.name.values()))), *((where,) if known else ()), *figures))
    place = ("corners" if drawn else "centre",) if known else ()
    header = ("set", *place, "σ-count", "non-fuzzy cardinality", "records shown under it")
    hidden = known and not all(s.centre or s.corners for s in partition.sets)
    title = words.say("Sets of {columns}", columns=words.join_words([clean(c) for c in partition.columns]))
    note = words.say("The centre of a set of fewer than {n} records is not shown.", n=FEW) if hidden else ""
    return subject.table(rows, "l" + "r" * (len(header) - 1), header, title=title, note=note)


def _number(subject: Subject, x: float | str) -> str:
    return x if isinstance(x, str) else subject.figure(x, 2).text


def _pictures(subject: Subject, measures: FuzzyMeasures) -> tuple[Picture, ...]:
    """Charts of sets that may be shown: drawn ones, and learned ones if nobody is suppressed and none of them is small."""
    released, words = subject.pair.fuzzy, subject.words
    assert released is not None
    known = all(c.is_known for c in released.codings)
    if not known or not all(s.centre or s.corners for p in measures.partitions for s in p.sets):
        return ()
    scales = {h.column: h.scale for h in subject.pair.original.hierarchies if h.scale is not None}
    drawn = [
        Picture(clean(c.columns[0]), charts.memberships(c, released.names[c.columns[0]], words, scales))
        for c in released.codings
        if len(c.columns) == 1
    ]
    columns = [clean(c) for coding in released.codings for c in coding.columns]
    if len(columns) == 2:
        named = dict(zip("xy", columns, strict=True))
        plane = Plane.of(released, scales)
        drawn.append(Picture(words.say("{x} and {y}: membership from above", **named), charts.contours(plane, words)))
        drawn.append(
            Picture(
                words.say("{x} and {y}: strongest membership", **named), surface(Plane.of(released, scales, 26), words, 330, 270)
            )
        )
    return tuple(drawn)


def _measures(subject: Subject, measures: FuzzyMeasures) -> Table:
    e, words = subject.evaluation, subject.words
    nothing = Cell("–")
    k = int(e.class_size["min"])
    rows = [
        (subject.say("classes"), subject.count(measures.classes), subject.count(e.classes)),
        (
            subject.say("smallest class (non-fuzzy cardinality; records)"),
            subject.count(int(measures.cardinality["smallest"])),
            subject.count(k),
        ),
        (subject.say("anonymity: largest Q with a possibility of ½; k"), subject.count(measures.q), subject.count(k)),
    ]
    for column, s in measures.sensitive.items():
        crisp = e.after.sensitive.get(column, {}) if e.after else {}

        def say(template: str, of: str = column) -> Cell:
            return subject.say(template, column=clean(of))

        rows += [
            (say("{column}: ℓ-diversity, fewest values of a class"), subject.count(s.l), subject.count(crisp.get("l_distinct"))),
            (say("{column}: t-closeness, equal distance: largest t"), subject.figure(s.t), subject.figure(crisp.get("t_equal"))),
            (
                say("{column}: the same, smallest distance (figure of the Oviedo thesis; protects nobody)"),
                subject.figure(s.t_smallest),
                nothing,
            ),
            (
                say("{column}: t-closeness, ordered distance: largest t"),
                subject.figure(s.t_ordered),
                subject.figure(crisp.get("t_ordered")),
            ),
            (
                say("{column}: surest belief of somebody who knows the column's distribution"),
                subject.percent(s.posterior) if s.posterior == s.posterior else nothing,
                nothing,
            ),
        ]
    header = ("measure", "fuzzy", "crisp")
    note = (
        ""
        if measures.robust
        else words.say("Some people have no membership of ½ or more: they belong nowhere clearly, and no class counts them.")
    )
    return subject.table(rows, "lrr", header, title=words.say("Fuzzy and crisp measures"), note=note)
