"""``velado validate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from velado import InputError, Project, VeladoError
from velado.cli.language import current
from velado.cli.terminal import JSON, print_json, say


def command(project: Annotated[Path, typer.Argument(help="Project file (YAML or JSON).")], json: JSON = False) -> None:
    """Say all that is wrong with a project file, its table included; nothing is written."""
    problems, code = Project.check(project), current().code
    if json:
        listed = [{"path": problem.path, **problem.as_dict(code)["error"]} for problem in problems]
        print_json({"file": str(project), "valid": not problems, "problems": listed})
    else:
        for problem in problems:
            _show(problem)
        if problems:
            say("[bold]{file}[/]: {count:,} problem(s)", file=project, count=len(problems))
        else:
            say("[bold]{file}[/]: no problems found", file=project)
    if problems:
        raise typer.Exit(InputError.exit_code)


def _show(problem: VeladoError) -> None:
    """The place, what is wrong, and the way out."""
    message, _, hint = problem.text(current().code).partition("\n")
    say("[bold red]{path}[/]", path=problem.path or "–")
    say("  {message}", message=message)
    if hint:
        say("  [dim]{hint}[/]", hint=hint)
