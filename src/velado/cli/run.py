"""``velado run``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from velado import InputError, Project, run
from velado.cli import results, rows, warming
from velado.cli.terminal import JSON, print_json, progress
from velado.questions.rows import rows_before
from velado.sentences import Sentence


def command(
    project: Annotated[Path, typer.Argument(help="Project file (YAML or JSON).")],
    show: Annotated[
        int | None, typer.Option("--show", help="Print so many first rows before and after.", min=1)
    ] = None,
    json: JSON = False,
) -> None:
    """Run a project: find the best recoding, write the release, verify it."""
    if json and show is not None:
        raise InputError(
            "bad-option", "--show prints rows, and --json prints one JSON object and nothing else",
            hint="Leave one of them out.",
        )  # fmt: skip
    described = Project.load(project)
    tables = described.tables or {"": described}
    silent = [name for name, p in tables.items() if p.output.in_memory]
    if silent:
        message = (
            Sentence("the table '{table}' says no output path", table=silent[0])
            if silent[0]
            else Sentence("the project says no output path")
        )
        raise InputError("no-output", message, file=project, hint="output: {path: release.csv}")
    warming.begin("lattice" if all(p.method.name == "lattice" for p in tables.values()) else "mondrian")
    with progress() as report:
        before = {} if show is None else {name: rows_before(p, show) for name, p in tables.items()}
        release = run(described, report)
    if json:
        print_json(release.as_dict())
    else:
        results.show(release)
        for name, first in before.items():
            rows.show(tables[name], first, show or 0, name)
