"""A release in a few readable lines."""

from __future__ import annotations

from rich.table import Table

from velado import Release
from velado.cli.fuzzy_summary import cautions
from velado.cli.terminal import out, plain, say, show_files, show_notes
from velado.cli.verdicts import show_verdicts


def show(release: Release) -> None:
    """Print what was done, what holds, what it cost and where the files are."""
    e, search = release.public_evaluation, release.search
    suppressed = e.suppressed / e.rows if e.rows else 0.0
    say(
        f"[bold]{plain(release.project)}[/]: {e.released:,} of {e.rows:,} records released, {e.suppressed:,} suppressed ({suppressed:.1%})"
    )
    if search.objective == "given levels":
        found = "levels as the project gives them"
    elif search.proven_optimal:
        what = "smallest sum of levels" if search.objective == "height" else "optimum"
        found = f"{what} proven ({search.seconds:.2f} s)"
    elif search.gap is not None:
        found = f"best found within the budget; the optimum is at most {search.gap:.4g} better"
    else:
        found = "found by a heuristic, no proof of optimality"
    say(found)
    if e.fuzzy is not None:
        say(f"{e.fuzzy.classes:,} fuzzy classes; the largest Q with a possibility of ½ is {e.fuzzy.q:,}")
        cautions(e)
    say()
    levels = Table(title="Recoding", title_justify="left", title_style="bold", box=None, pad_edge=False)
    levels.add_column("column")
    levels.add_column("level", justify="right")
    levels.add_column("of", justify="right")
    levels.add_column("for example")
    levels.add_column("loss", justify="right")
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
            f"{loss:.3f}",
        )
    out.print(levels)
    show_verdicts("Verified in what was written", e.models)
    say()
    r, u = e.risk, e.utility
    # Nothing that is shown depends on suppressed people but their number.
    released = ", of those released" if e.suppressed else ""
    cost = Table(
        title="Risk and cost", title_justify="left", title_style="bold", box=None, pad_edge=False, show_header=False
    )
    cost.add_row(
        "quasi-identifiers that one person has alone" if e.people else "records singled out by their quasi-identifiers",
        f"{r.singled_out_before:,} before, {r.singled_out_after:,} after" + released,
    )
    if r.smaller_than_k_before is not None:
        cost.add_row(
            "people in groups smaller than k, once per group" if e.people else "… in groups smaller than k",
            f"{r.smaller_than_k_before:,} before, {r.smaller_than_k_after:,} after",
        )
    cost.add_row("highest risk of being re-identified", f"{r.highest:.2%}  (average {r.average:.2%})")
    cost.add_row("information lost (0 = none, 1 = all)", f"{u.loss:.4f}")
    if u.precision is not None:
        cost.add_row("precision (1 = nothing generalized)", f"{u.precision:.4f}")
    cost.add_row("classes, average size", f"{e.classes:,}, {u.average_class_size:,.1f}")
    out.print(cost)
    show_notes(release.notes)
    show_files(release)
    if release.found is not None and release.found.minimal:
        say()
        say("Minimal generalizations: " + "; ".join("(" + ", ".join(map(str, v)) + ")" for v in release.found.minimal))
