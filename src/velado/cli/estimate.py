"""``velado estimate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from velado import estimate
from velado.cli.terminal import JSON, print_json, progress, table


def command(
    project: Annotated[Path, typer.Argument(help="Project file (YAML or JSON).")],
    json: JSON = False,
) -> None:
    """Say beforehand how many distinct rows a project has, what memory they need, and how it will be solved."""
    with progress() as report:
        result = estimate(project, report)
    if json:
        print_json(result.as_dict())
        return
    lines = [
        ("records", f"{result.rows:,}"),
        ("distinct quasi-identifier rows, about", f"{result.distinct:,}"),
        ("memory that they need, about", _size(result.needed)),
        ("memory that may be used", _size(result.memory)),
        ("method", f"{result.method}, {result.how}"),
    ]
    if result.thesis_levels is not None:
        lines.append(("formula (6) of the Anonylitics thesis: levels", f"{result.thesis_levels:.2f}"))
    if result.thesis_size is not None:
        lines.append(("formula (7): size of the data times levels", _size(result.thesis_size)))
    table("Estimate", lines)


def _size(count: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:,.1f} {unit}"
    return f"{count} bytes"
