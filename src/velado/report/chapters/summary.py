"""The first page: what was released, what holds, what risk is left, what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from velado.evaluation.risk import THRESHOLD, required_size
from velado.i18n import Language
from velado.models import MODELS, model_from, strength_of, title_of
from velado.models import Verdict as Judged
from velado.parameters import Choice, Number, Word
from velado.report.chapters.content import Cell, Table, Tile, Verdict
from velado.report.chapters.subject import Subject, clean, symbol

MUCH_SUPPRESSED = 0.1


def verdict(subject: Subject) -> Verdict:
    """The verdict on a release."""
    e, words = subject.evaluation, subject.words
    state = "open" if not e.models else "holds" if all(v.satisfied for v in e.models) else "fails"
    verified = "verdict.verified" if subject.pair.fuzzy is None else "verdict.verified-fuzzy"
    proof = "verdict.measured" if subject.about.manifest is None else verified
    return Verdict(
        state=state,
        headline=words.text(f"verdict.{state}"),
        proof=words.text(proof),
        tiles=_tiles(subject),
        models=_models(subject) if e.models else None,
        words=tuple(_words(subject)),
        cautions=tuple(_cautions(subject)),
    )


def _tiles(subject: Subject) -> tuple[Tile, ...]:
    e, words = subject.evaluation, subject.words
    smallest = e.smallest_class
    return (
        Tile(words.text("tile.released"), words.integer(e.released), words.text("of-records", n=words.integer(e.rows))),
        Tile(
            words.text("tile.suppressed"),
            words.integer(e.suppressed),
            words.text("share-of-records", share=words.percent(e.suppressed / max(e.rows, 1))),
        ),
        Tile(
            words.text("tile.risk"),
            words.percent(e.risk.highest),
            words.text("one-in", n=words.integer(smallest)),
        ),
        Tile(words.text("tile.loss"), words.percent(e.utility.loss), words.text("tile.loss-note")),
    )


def _models(subject: Subject) -> Table:
    words = subject.words
    rows = []
    for v in subject.evaluation.models:
        mark = "✓ " + words.text("holds") if v.satisfied else "✗ " + words.text("fails")
        column = v.required.get("column")
        rows.append(
            (
                Cell(title_of(v.name).into(words.code)),
                Cell(clean(str(column)) if column else "–"),
                Cell(required(subject, v)),
                Cell(achieved(subject, v)),
                Cell(mark),
            )
        )
    header = ("head.model", "head.protects", "head.required", "head.achieved", "head.result")
    return subject.table(rows, "lllll", header, title=words.text("verdict.models"))


def required(subject: Subject, v: Judged) -> str:
    """What a model requires: ``t ≤ 0.2 (hierarchical distance)``."""
    return required_in_words(v, subject.words)


def required_in_words(v: Judged, words: Language) -> str:
    """What a model requires, in a language."""
    wanted, options = [], []
    for name, value in v.required.items():
        strength, parameter = (
            strength_of(v.name, name),
            MODELS[v.name].parameters.get(name) if v.name in MODELS else None,
        )
        if strength is not None:
            wanted.append(f"{strength.symbol} {strength.relation} {words.number(value)}")
        elif value is True:
            options.append(words.label("option", name))
        elif isinstance(parameter, Choice) and isinstance(value, str):
            options.append(words.label("option", value))
        elif isinstance(parameter, Number):
            options.append(f"{words.label('parameter', name)} {words.number(value)}")
        elif isinstance(parameter, Word) and value is not None:
            options.append(clean(str(value)))
    return ", ".join(wanted) + (f" ({', '.join(options)})" if options else "")


def achieved(subject: Subject, v: Judged) -> str:
    """What the worst class reaches."""
    return achieved_in_words(v, subject.words)


def achieved_in_words(v: Judged, words: Language) -> str:
    """What the worst class reaches, in a language."""
    given: Mapping[str, Any] = v.achieved if isinstance(v.achieved, Mapping) else {}
    if not given:
        names = [n for n in v.required if strength_of(v.name, n)]
        given = {names[0]: v.achieved} if names else {}
    found = {k: x for k, x in given.items() if x is not None and abs(x) != float("inf")}
    told = []
    for name, figure in found.items():
        strength = strength_of(v.name, name)
        sign = "=" if v.exact or strength is None else strength.relation
        told.append(f"{symbol(name)} {sign} {words.number(figure)}")
    return ", ".join(told) or "–"


def _words(subject: Subject) -> list[str]:
    e, words, about = subject.evaluation, subject.words, subject.about
    told = [
        words.text(
            "words.released",
            released=words.integer(e.released),
            rows=words.integer(e.rows),
            original=clean(about.original),
            release=clean(about.release),
        )
    ]
    share = words.percent(e.suppressed / max(e.rows, 1))
    if not e.suppressed:
        told[0] += " " + words.text("words.none-suppressed")
    elif e.starred:
        told[0] += " " + words.plural("words.starred", e.suppressed, share=share, starred=words.integer(e.starred))
    else:
        told[0] += " " + words.plural("words.suppressed", e.suppressed, share=share)
    smallest = e.smallest_class
    if smallest > 1:
        risks = {"highest": words.percent(e.risk.highest), "average": words.percent(e.risk.average)}
        told.append(words.plural("words.risk", smallest - 1, **risks))
    elif e.risk.singled_out_after:
        told.append(words.text("words.unique", n=words.integer(e.risk.singled_out_after)))
    told.append(
        words.text(
            "words.singled-out",
            before=words.integer(e.risk.singled_out_before),
            share=words.percent(e.risk.singled_out_before / max(e.released, 1)),
            after=words.integer(e.risk.singled_out_after),
        )
    )
    k = required_size([model_from(v.name, v.required) for v in e.models])
    if k is not None and e.risk.smaller_than_k_before is not None:
        told[-1] += " " + words.text(
            "words.smaller-than-k",
            k=words.integer(k),
            before=words.integer(e.risk.smaller_than_k_before),
            after=words.integer(e.risk.smaller_than_k_after),
        )
    worst = sorted(((x, name) for name, x in e.utility.columns.items() if x > 0), reverse=True)[:3]
    if worst:
        listed = words.listed([f"{clean(name)} ({words.percent(x)})" for x, name in worst])
        told.append(words.text("words.loss", loss=words.percent(e.utility.loss), columns=listed))
    else:
        told.append(words.text("words.no-loss"))
    return told


def _cautions(subject: Subject) -> list[str]:
    e, words, about = subject.evaluation, subject.words, subject.about
    found = [
        words.text(
            "caution.published", column=clean(x.column), n=words.integer(max(x.few, x.singled_out_together)),
            records=words.integer(x.records), why=words.listed([words.label("danger", d) for d in x.dangers]),
        )
        for x in e.published or ()
        if x.dangers
    ]  # fmt: skip
    protected = {v.required.get("column") for v in e.models}
    for column, measured in (e.after.sensitive if e.after else {}).items():
        if column not in protected:
            l = int(measured["l_distinct"])  # noqa: E741
            key = "caution.homogeneous" if l <= 1 else "caution.unprotected"
            found.append(words.text(key, column=clean(column), l=words.integer(l)))
    if e.risk.at_risk > 0:
        share, threshold = words.percent(e.risk.at_risk), words.percent(THRESHOLD)
        found.append(words.text("caution.risk", share=share, threshold=threshold))
    if e.suppressed > MUCH_SUPPRESSED * e.rows:
        found.append(words.text("caution.suppressed", share=words.percent(e.suppressed / e.rows)))
    same = [clean(c.name) for c in about.columns if c.role == "insensitive" and c.operation is None]
    if same:
        found.append(words.text("caution.insensitive", columns=words.listed(same)))
    if about.part("output", "order") == "keep":
        found.append(words.text("caution.order"))
    if about.part("search", "gap"):
        found.append(words.text("caution.gap"))
    return found
