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
    lead = [words.text("fuzzy.lead")]
    for p in measures.partitions:
        columns = words.listed([clean(c) for c in p.columns])
        if p.converged is False:
            lead.append(words.text("fuzzy.not-converged", columns=columns))
        if p.regularized:
            lead.append(words.text("fuzzy.regularized", columns=columns, n=words.integer(len(p.regularized))))
    blocks: list[Block] = [_sets(subject, p) for p in measures.partitions]
    drawn = _pictures(subject, measures)
    if drawn:
        blocks.append(Pictures(drawn))
    curve = Picture(words.text("fuzzy.q-curve"), charts.possibility(measures, words))
    blocks.append(Beside(_measures(subject, measures), curve))
    return Section("fuzzy", words.text("fuzzy.title"), tuple(lead), tuple(blocks))


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
    place = ("fuzzy.corners" if drawn else "fuzzy.centre",) if known else ()
    header = ("fuzzy.set", *place, "fuzzy.sigma", "fuzzy.cardinality", "fuzzy.records")
    hidden = known and not all(s.centre or s.corners for s in partition.sets)
    title = words.text("fuzzy.sets-of", columns=words.listed([clean(c) for c in partition.columns]))
    note = words.text("fuzzy.centre-hidden", n=FEW) if hidden else ""
    return subject.table(rows, "l" + "r" * (len(header) - 1), header, title=title, note=note)


def _number(subject: Subject, x: float | str) -> str:
    return x if isinstance(x, str) else subject.figure(x, 2).text


def _pictures(subject: Subject, measures: FuzzyMeasures) -> tuple[Picture, ...]:
    """Charts of sets that may be shown: drawn ones, and learned ones if none of them is small."""
    released, words = subject.pair.fuzzy, subject.words
    assert released is not None
    if not all(s.centre or s.corners for p in measures.partitions for s in p.sets):
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
        drawn.append(Picture(words.text("fuzzy.contours", **named), charts.contours(plane, words)))
        drawn.append(
            Picture(words.text("fuzzy.surface", **named), surface(Plane.of(released, scales, 26), words, 330, 270))
        )
    return tuple(drawn)


def _measures(subject: Subject, measures: FuzzyMeasures) -> Table:
    e, words = subject.evaluation, subject.words
    nothing = Cell("–")
    k = int(e.class_size["min"])
    rows = [
        (subject.text("fuzzy.classes"), subject.count(measures.classes), subject.count(e.classes)),
        (subject.text("fuzzy.smallest"), subject.count(int(measures.cardinality["smallest"])), subject.count(k)),
        (subject.text("fuzzy.q"), subject.count(measures.q), subject.count(k)),
    ]
    for column, s in measures.sensitive.items():
        crisp = e.after.sensitive.get(column, {}) if e.after else {}

        def line(key: str, of: str = column) -> Cell:
            return subject.text(f"fuzzy.{key}", column=clean(of))

        rows += [
            (line("l"), subject.count(s.l), subject.count(crisp.get("l_distinct"))),
            (line("t"), subject.figure(s.t), subject.figure(crisp.get("t_equal"))),
            (line("t_smallest"), subject.figure(s.t_smallest), nothing),
            (line("t_ordered"), subject.figure(s.t_ordered), subject.figure(crisp.get("t_ordered"))),
            (line("posterior"), subject.percent(s.posterior) if s.posterior == s.posterior else nothing, nothing),
        ]
    header = ("head.measure", "fuzzy.fuzzy", "fuzzy.crisp")
    note = "" if measures.robust else words.text("fuzzy.not-robust")
    return subject.table(rows, "lrr", header, title=words.text("fuzzy.measures"), note=note)
