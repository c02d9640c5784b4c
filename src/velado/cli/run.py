"""``velado run``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from velado import InputError, Project, run
from velado.cli import summary
from velado.cli.terminal import JSON, print_json, progress


def command(
    project: Annotated[Path, typer.Argument(help="Project file (YAML or JSON).")],
    json: JSON = False,
) -> None:
    """Run a project: find the best recoding, write the release, verify it."""
    described = Project.load(project)
    if described.output.path is None:
        raise InputError(
            "no-output", "the project says no output path", file=project, hint="output: {path: release.csv}"
        )
    with progress() as report:
        release = run(described, report)
    if json:
        print_json(release.as_dict())
    else:
        summary.show(release)
