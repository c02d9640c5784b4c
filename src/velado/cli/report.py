"""``velado report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from velado import attack, write_report
from velado.cli.grid import tries
from velado.cli.language import current
from velado.cli.terminal import JSON, names, print_json, progress, say


@tries("k", "l", "t", "suppression")
def command(
    project: Annotated[Path, typer.Argument(help="Project file (YAML or JSON) whose release has been written.")],
    grid: dict[str, list[Any]],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder, or file such as report.html; beside the release if not given.")
    ] = None,
    format: Annotated[
        str, typer.Option("--format", help="Formats to write, separated by commas: html, pdf, xlsx.")
    ] = "html,pdf,xlsx",
    attacks: Annotated[bool, typer.Option("--attacks", help="Attack the release and tell what comes of it.")] = False,
    json: JSON = False,
) -> None:
    """Write the report of a release as HTML, PDF and XLSX; values of k, ℓ, t add a comparison with other settings."""
    with progress() as shown:
        files = write_report(
            project,
            output,
            language=current().code,
            formats=names(format),
            grid=grid or None,
            attacks=attack(project=project) if attacks else (),
            progress=shown,
        )
    if json:
        print_json({"project": str(project), "language": current().code, "files": [str(f) for f in files]})
        return
    for file in files:
        say("Report: {file}", file=file)
