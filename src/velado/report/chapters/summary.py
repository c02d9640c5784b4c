"""The first page: what was released, what holds, what risk is left, what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from velado.evaluation import shown
from velado.evaluation.risk import THRESHOLD
from velado.i18n import Language
from velado.models import MODELS, strength_of, title_of
from velado.models import Verdict as Judged
from velado.parameters import Choice, Number, Word
from velado.report.chapters.content import Cell, Table, Tile, Verdict
from velado.report.chapters.subject import Subject, clean, symbol

MUCH_SUPPRESSED = 0.1


def verdict(subject: Subject) -> Verdict:
    """The verdict on a release."""
    e, words = subject.evaluation, subject.words
    state = "open" if not e.models else "holds" if all(v.satisfied for v in e.models) else "fails"
    verified = (
        "Verified: the release was read back from its file, every model was checked on what the file holds, and the file is the one named in the manifest."
        if subject.pair.fuzzy is None
        else "Verified: the release was read back from its file, its classes are those that were judged, every crisp model was checked on what the file holds, every fuzzy one on the degrees of membership of these records, and the file is the one named in the manifest."
    )
    proof = (
        "Both tables were read and compared for this report; there is no manifest that says how the release was made."
        if subject.about.manifest is None
        else verified
    )
    return Verdict(
        state=state,
        headline=words.label("verdict", state),
        proof=words.say(proof),
        tiles=_tiles(subject),
        models=_models(subject) if e.models else None,
        words=tuple(_words(subject)),
        cautions=tuple(_cautions(subject)),
    )


def _tiles(subject: Subject) -> tuple[Tile, ...]:
    e, words = subject.evaluation, subject.words
    smallest = e.smallest_class
    return (
        Tile(words.say("Records released"), words.integer(e.released), words.say("of {n} records", n=words.integer(e.rows))),
        Tile(
            words.say("Records suppressed"),
            words.integer(e.suppressed),
            words.say("{share} of the records", share=words.percent(e.suppressed / max(e.rows, 1))),
        ),
        Tile(words.label("headline", "risk"), words.percent(e.risk.highest), words.say("1 in {n}", n=words.integer(smallest))),
        *_exposure_tiles(subject),
        Tile(words.label("headline", "loss"), words.percent(e.utility.loss), words.say("0% none, 100% all")),
    )


def _exposure_tiles(subject: Subject) -> tuple[Tile, ...]:
    """The risk by all that is published, beside that by quasi-identifiers."""
    joint, words = subject.evaluation.exposure, subject.words
    if joint is None:
        return ()
    if not joint.below and joint.private:
        share = shown.share_in_words(joint.alone_with_private, joint.people, words)
        return (Tile(words.label("headline", "exposed-all"), share, words.say("by what others could know: 0 %")),)
    share = shown.share_in_words(joint.below, joint.people, words)
    return (Tile(words.label("headline", "exposed"), share, shown.exposure_note(subject.figures["exposure"], words)),)


def _models(subject: Subject) -> Table:
    words = subject.words
    rows = []
    for v in subject.evaluation.models:
        mark = "✓ " + words.say("holds") if v.satisfied else "✗ " + words.say("fails")
        column = v.required.get("column")
        rows.append(
            (
                Cell(title_of(v.name).into(words.code)),
                Cell(clean(str(column)) if column else "–"),
                Cell(describe_required(subject, v)),
                Cell(describe_achieved(subject, v)),
                Cell(mark),
            )
        )
    header = ("model", "protects", "required", "achieved", "result")
    return subject.table(rows, "lllll", header, title=words.say("Privacy models"))


def describe_required(subject: Subject, v: Judged) -> str:
    """What a model requires: ``t ≤ 0.2 (hierarchical distance)``."""
    return required_in_words(v, subject.words)


def required_in_words(v: Judged, words: Language) -> str:
    """What a model requires, in a language."""
    wanted, options = [], []
    for name, value in v.required.items():
        strength, parameter = (strength_of(v.name, name), MODELS[v.name].parameters.get(name) if v.name in MODELS else None)
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


def describe_achieved(subject: Subject, v: Judged) -> str:
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
        words.say(
            "{released} of the {rows} records of {original} were released as {release}.",
            released=words.integer(e.released),
            rows=words.integer(e.rows),
            original=clean(about.original),
            release=clean(about.release),
        )
    ]
    share = words.percent(e.suppressed / max(e.rows, 1))
    if not e.suppressed:
        told[0] += " " + words.say("No record was suppressed.")
    elif e.starred:
        told[0] += " " + words.plural(
            "{n} record ({share}) was suppressed: it stands in the release as a row of *.",
            "{n} records ({share}) were suppressed; {starred} of them stand in the release as rows of *.",
            e.suppressed,
            share=share,
            starred=words.integer(e.starred),
        )
    else:
        told[0] += " " + words.plural(
            "{n} record ({share}) was suppressed: it is not in the release.",
            "{n} records ({share}) were suppressed: they are not in the release.",
            e.suppressed,
            share=share,
        )
    figures = subject.figures
    if risk := shown.risk_sentence(figures, words):
        told.append(risk)
    told.append(
        words.say(
            "Of the people released, alone with their quasi-identifier values: {before} ({share}) in the original, {after} in the release.",
            before=words.integer(e.risk.singled_out_before),
            share=words.percent(e.risk.singled_out_before / max(e.released, 1)),
            after=words.integer(e.risk.singled_out_after),
        )
    )
    if small := shown.small_groups_sentence(figures, words):
        told[-1] += " " + small
    if e.exposure is not None:
        told.append(" ".join(shown.exposure_sentences(figures["exposure"], words, clean)))
    told.append(shown.loss_sentence(figures, words, clean))
    return told


def _cautions(subject: Subject) -> list[str]:
    e, words, about = subject.evaluation, subject.words, subject.about
    found = [
        words.say(
            "The column {column} singles people out ({why}): up to {n} of {records}. The owner accepted the exposure.",
            column=clean(x.column),
            n=words.integer(max(x.few, x.singled_out_together)),
            records=words.integer(x.records),
            why=words.join_words([words.label("danger", d) for d in x.dangers]),
        )
        for x in e.published or ()
        if x.dangers
    ]
    protected = {v.required.get("column") for v in e.models}
    for column, measured in (e.after.sensitive if e.after else {}).items():
        if column not in protected:
            l = int(measured["l_distinct"])  # noqa: E741
            told = (
                "No model protects the sensitive column {column}, and in at least one class all records have the same value: whoever finds a person's class learns the value."
                if l <= 1
                else "No model protects the sensitive column {column}; its least diverse class has {l} different values."
            )
            found.append(words.say(told, column=clean(column), l=words.integer(l)))
    if e.risk.at_risk > 0:
        share, threshold = words.percent(e.risk.at_risk), words.percent(THRESHOLD)
        found.append(
            words.say(
                "{share} of the released records are in classes of fewer than 10 records (risk above {threshold}). For a public file, classes of 10 or more are customary.",
                share=share,
                threshold=threshold,
            )
        )
    if e.suppressed > MUCH_SUPPRESSED * e.rows:
        found.append(
            words.say(
                "{share} of the records were suppressed: figures computed from the release describe those who are left.",
                share=words.percent(e.suppressed / e.rows),
            )
        )
    same = [clean(c.name) for c in about.columns if c.role == "insensitive" and c.operation is None]
    if same:
        found.append(
            words.say(
                "Released as they are: {columns}. Make sure that nobody can link these columns with other knowledge.",
                columns=words.join_words(same),
            )
        )
    if about.part("output", "order") == "keep":
        found.append(words.say("The rows are in the order of the original: whoever has a list in that order can join the two."))
    if about.part("search", "gap"):
        found.append(words.say("The search was stopped by its time limit: a better recoding may exist."))
    return found
