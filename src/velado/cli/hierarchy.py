"""``velado hierarchy``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from velado import project_hierarchy
from velado.cli.terminal import out


def command(
    project: Annotated[Path, typer.Argument(help="Project file.")],
    column: Annotated[str, typer.Argument(help="Column whose hierarchy is wanted.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write; standard output if not given.")
    ] = None,
    delimiter: Annotated[str, typer.Option(help="Delimiter of the hierarchy file.")] = ";",
) -> None:
    """Export the hierarchy of a column as a file: leaf;level 1;…;*."""
    hierarchy = project_hierarchy(project, column)
    if output is None:
        sys.stdout.write("\n".join(delimiter.join(row) for row in hierarchy.rows()) + "\n")
    else:
        hierarchy.save(output, delimiter)
        out.print(f"Wrote {output}: {len(hierarchy.leaves):,} values, {hierarchy.levels} levels")
