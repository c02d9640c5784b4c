"""``velado balance``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from velado import balance
from velado.cli import kernel_warmup
from velado.cli.compare import show
from velado.cli.grid import ALL, tries
from velado.cli.language import current, translate_plain
from velado.cli.terminal import FORCE, JSON, print_json, progress, say
from velado.evaluation import CONDITIONS
from velado.report import save_comparison
from velado.sentences import Sentence, join_sentences


@tries(*ALL)
def command(
    project: Annotated[Path, typer.Argument(help="Project file (YAML or JSON).")],
    grid: dict[str, list[Any]],
    ks: Annotated[float | None, typer.Option(min=0, max=1, help=CONDITIONS["ks"].help)] = None,
    loss: Annotated[float | None, typer.Option(min=0, max=1, help=CONDITIONS["loss"].help)] = None,
    precision: Annotated[float | None, typer.Option(min=0, max=1, help=CONDITIONS["precision"].help)] = None,
    suppressed: Annotated[float | None, typer.Option(min=0, max=1, help=CONDITIONS["suppressed"].help)] = None,
    query_error: Annotated[float | None, typer.Option(min=0, help=CONDITIONS["query-error"].help)] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for the evidence: table (CSV, XLSX) and charts (PNG).")
    ] = None,
    force: FORCE = False,
    json: JSON = False,
) -> None:
    """Find the strongest setting that still keeps the utility asked for; default k = 2 to 20."""
    limits = {"ks": ks, "loss": loss, "precision": precision, "suppressed": suppressed, "query-error": query_error}
    conditions = {name: limit for name, limit in limits.items() if limit is not None}
    kernel_warmup.begin("lattice")
    with progress() as report:
        drawing = report.part(0.8, 1.0)
        result = balance(project, conditions, grid or None, progress=report.part(0.0, 0.8))
        files = []
        if output is not None:
            files = save_comparison(result.comparison, output, current().code, force=force, progress=drawing)
    if json:
        print_json({**result.as_dict(), "files": [str(f) for f in files]})
        return
    wanted = ", ".join(
        translate_plain("{name} {sign} {limit:g}", name=Sentence(name), sign="≥" if CONDITIONS[name].at_least else "≤", limit=limit)
        for name, limit in conditions.items()
    )
    say(
        "[bold]{name}[/] is the strongest of {n} settings with {conditions}",
        name=result.chosen.name,
        n=len(result.comparison.settings),
        conditions=wanted,
    )
    show(result.comparison, result.chosen.name)
    stronger = [s.name for s in result.comparison.settings if s.strength > result.chosen.strength]
    if stronger:
        nearest = min(stronger, key=lambda name: next(s.strength for s in result.comparison.settings if s.name == name))
        say()
        say("The next stronger one fails: {name} ({why})", name=nearest, why=join_sentences(", ", result.failed[nearest]))
    if files:
        say()
        say("Files: {folder} ({names})", folder=output, names=", ".join(f.name for f in files))
