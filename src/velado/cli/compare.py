"""``velado compare``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from velado import compare
from velado.cli import kernel_warmup
from velado.cli.grid import ALL, tries
from velado.cli.language import current, translate_plain
from velado.cli.terminal import FORCE, JSON, percent, print_json, progress, say, table
from velado.evaluation import Comparison
from velado.report import save_comparison
from velado.sentences import Sentence


@tries(*ALL)
def command(
    project: Annotated[Path, typer.Argument(help="Project file (YAML or JSON).")],
    grid: dict[str, list[Any]],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for the table (CSV, XLSX) and charts (PNG).")
    ] = None,
    force: FORCE = False,
    json: JSON = False,
) -> None:
    """Try many settings on one reading of the table: loss, risk, suppressed records and class sizes of each."""
    kernel_warmup.begin("lattice")
    with progress() as report:
        result = compare(project, grid, progress=report.part(0.0, 0.8))
        drawing = report.part(0.8, 1.0)
        files = []
        if output is not None:
            files = save_comparison(result, output, current().code, force=force, progress=drawing)
    if json:
        print_json({**result.as_dict(), "files": [str(f) for f in files]})
        return
    show(result)
    if files:
        say()
        say("Files: {folder} ({names})", folder=output, names=", ".join(f.name for f in files))


def show(result: Comparison, marked: str | None = None) -> None:
    """One line per setting; the marked one with an arrow, efficient ones with a star."""
    lines: list[tuple[Any, ...]] = []
    for s in result.settings:
        e = s.evaluation
        mark = "→" if s.name == marked else "*" if s.efficient else ""
        if e is None:
            lines.append((s.name, mark, None))
            continue
        levels = " ".join(map(str, (s.levels or {}).values()))
        share = translate_plain("{n:,} ({share:.1%})", n=e.suppressed, share=e.suppressed / e.rows)
        risk = (percent(e.risk.highest), percent(e.risk.average), percent(e.risk.at_risk, 1))
        lines.append((s.name, mark, e.utility.loss, *risk, share, e.classes, e.class_size["mean"], levels))
    header = (
        Sentence("setting"),
        "",
        Sentence("loss"),
        Sentence("highest risk"),
        Sentence("average"),
        Sentence("at risk"),
        Sentence("suppressed"),
        Sentence("classes"),
        Sentence("mean size"),
        Sentence("levels"),
    )
    table("Settings (* = no other setting has both less risk and less loss)", lines, header)
    without = [s for s in result.settings if s.evaluation is None]
    if without:
        say()
    for s in without:
        say("[bold]{name}[/]: {why}", name=s.name, why=Sentence(s.reason or ""))
