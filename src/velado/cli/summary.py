"""A release in a few readable lines."""

from __future__ import annotations

from rich.table import Table

from velado import Release
from velado.cli.exposure import headline, headline_title, show_keys, show_narrowing
from velado.cli.fuzzy_summary import cautions
from velado.cli.terminal import out, plain, say, show_files, show_notes, translate
from velado.cli.verdicts import show_verdicts
from velado.sentences import Sentence


def show(release: Release) -> None:
    """Print what was done, what holds, what it cost and where the files are."""
    e, search = release.public_evaluation, release.search
    suppressed = e.suppressed / e.rows if e.rows else 0.0
    say(
        "[bold]{name}[/]: {released:,} of {rows:,} records released, {suppressed:,} suppressed ({share:.1%})",
        name=release.project,
        released=e.released,
        rows=e.rows,
        suppressed=e.suppressed,
        share=suppressed,
    )
    if search.objective == "given levels":
        say("levels as the project gives them")
    elif search.proven_optimal and search.objective == "height":
        say("smallest sum of levels proven ({seconds:.2f} s)", seconds=search.seconds)
    elif search.proven_optimal:
        say("optimum proven ({seconds:.2f} s)", seconds=search.seconds)
    elif search.gap is not None:
        say("best found within the budget; the optimum is at most {gap:.4g} better", gap=search.gap)
    else:
        say("found by a heuristic, no proof of optimality")
    if e.fuzzy is not None:
        say("{classes:,} fuzzy classes; the largest Q with a possibility of ½ is {q:,}", classes=e.fuzzy.classes, q=e.fuzzy.q)
        cautions(e)
    say()
    levels = _table("Recoding")
    levels.add_column(translate("column"))
    levels.add_column(translate("level"), justify="right")
    levels.add_column(translate("of"), justify="right")
    levels.add_column(translate("for example"))
    levels.add_column(translate("loss"), justify="right")
    # A release that was made in parts keeps neither its recoding nor its classes.
    heights = {} if release.found is None else {h.column: h.height for h in release.found.classes.frequency.hierarchies}
    examples = {} if release.found is None else dict(zip(heights, release.found.examples(), strict=True))
    for name, loss in e.utility.columns.items():
        level = release.levels.get(name)
        levels.add_row(
            plain(name),
            "–" if level is None else str(level),
            "–" if level is None else str(heights[name]),
            plain(examples.get(name) or ""),
            translate("{loss:.3f}", loss=loss),
        )
    out.print(levels)
    show_verdicts("Verified in what was written", e.models)
    say()
    r, u = e.risk, e.utility
    # Nothing that is shown depends on suppressed people but their number.
    released = Sentence(", of those released") if e.suppressed else ""
    cost = _table("Risk and cost", show_header=False)
    cost.add_row(
        translate("quasi-identifiers that one person has alone")
        if e.people
        else translate("records singled out by their quasi-identifiers"),
        translate(
            "{before:,} before, {after:,} after{released}",
            before=r.singled_out_before,
            after=r.singled_out_after,
            released=released,
        ),
    )
    if r.smaller_than_k_before is not None:
        cost.add_row(
            translate("people in groups smaller than k, once per group") if e.people else translate("… in groups smaller than k"),
            translate(
                "{before:,} before, {after:,} after{released}",
                before=r.smaller_than_k_before,
                after=r.smaller_than_k_after,
                released=released,
            ),
        )
    cost.add_row(headline_title("risk"), translate("{highest:.2%}  (average {average:.2%})", highest=r.highest, average=r.average))
    for what, figure in headline(e.exposure):
        cost.add_row(plain(what), figure)
    cost.add_row(
        translate("{title} (0 = none, 1 = all)", title=headline_title("loss")),
        translate("{loss:.4f}{released}", loss=u.loss, released=released),
    )
    if u.precision is not None:
        cost.add_row(
            translate("precision (1 = nothing generalized)"),
            translate("{precision:.4f}{released}", precision=u.precision, released=released),
        )
    cost.add_row(translate("classes, average size"), translate("{n:,}, {size:,.1f}", n=e.classes, size=u.average_class_size))
    out.print(cost)
    show_keys(e.exposure)
    show_narrowing(release.evaluation.exposure)
    show_notes(release.notes)
    show_files(release)
    if release.found is not None and release.found.minimal:
        say()
        nodes = "; ".join("(" + ", ".join(map(str, v)) + ")" for v in release.found.minimal)
        say("Minimal generalizations: {nodes}", nodes=nodes)


def _table(title: str, *, show_header: bool = True) -> Table:
    return Table(
        title=translate(title), title_justify="left", title_style="bold", box=None, pad_edge=False, show_header=show_header
    )
