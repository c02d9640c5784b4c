"""A release in a few readable lines."""

from __future__ import annotations

from rich.table import Table

from velado import Release
from velado.cli.fuzzy_summary import cautions
from velado.cli.terminal import out, plain, say, show_files, show_notes, told
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
        say(
            "{classes:,} fuzzy classes; the largest Q with a possibility of ½ is {q:,}",
            classes=e.fuzzy.classes,
            q=e.fuzzy.q,
        )
        cautions(e)
    say()
    levels = _table("Recoding")
    levels.add_column(told("column"))
    levels.add_column(told("level"), justify="right")
    levels.add_column(told("of"), justify="right")
    levels.add_column(told("for example"))
    levels.add_column(told("loss"), justify="right")
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
            told("{loss:.3f}", loss=loss),
        )
    out.print(levels)
    show_verdicts("Verified in what was written", e.models)
    say()
    r, u = e.risk, e.utility
    # Nothing that is shown depends on suppressed people but their number.
    released = Sentence(", of those released") if e.suppressed else ""
    cost = _table("Risk and cost", show_header=False)
    cost.add_row(
        told("quasi-identifiers that one person has alone")
        if e.people
        else told("records singled out by their quasi-identifiers"),
        told(
            "{before:,} before, {after:,} after{released}",
            before=r.singled_out_before,
            after=r.singled_out_after,
            released=released,
        ),
    )
    if r.smaller_than_k_before is not None:
        cost.add_row(
            told("people in groups smaller than k, once per group") if e.people else told("… in groups smaller than k"),
            told("{before:,} before, {after:,} after", before=r.smaller_than_k_before, after=r.smaller_than_k_after),
        )
    cost.add_row(
        told("highest risk of being re-identified"),
        told("{highest:.2%}  (average {average:.2%})", highest=r.highest, average=r.average),
    )
    cost.add_row(told("information lost (0 = none, 1 = all)"), told("{loss:.4f}", loss=u.loss))
    if u.precision is not None:
        cost.add_row(told("precision (1 = nothing generalized)"), told("{precision:.4f}", precision=u.precision))
    cost.add_row(told("classes, average size"), told("{n:,}, {size:,.1f}", n=e.classes, size=u.average_class_size))
    out.print(cost)
    show_notes(release.notes)
    show_files(release)
    if release.found is not None and release.found.minimal:
        say()
        nodes = "; ".join("(" + ", ".join(map(str, v)) + ")" for v in release.found.minimal)
        say("Minimal generalizations: {nodes}", nodes=nodes)


def _table(title: str, *, show_header: bool = True) -> Table:
    return Table(
        title=told(title), title_justify="left", title_style="bold", box=None, pad_edge=False, show_header=show_header
    )
