"""``velado run``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from velado import InputError, Project, run
from velado.cli import kernel_warmup, results, rows
from velado.cli.server import SERVER, TOKEN, client_of
from velado.cli.terminal import JSON, print_json, progress, say
from velado.questions.rows import rows_before
from velado.sentences import Sentence


def command(
    project: Annotated[Path, typer.Argument(help="Project file (YAML or JSON).")],
    show: Annotated[int | None, typer.Option("--show", help="Print so many first rows before and after.", min=1)] = None,
    server: SERVER = None,
    token: TOKEN = None,
    json: JSON = False,
) -> None:
    """Run a project: find the best recoding, write the release, verify it."""
    if json and show is not None:
        raise InputError(
            "bad-option", "--show prints rows, and --json prints one JSON object and nothing else", hint="Leave one of them out."
        )
    if server is not None:
        _run_there(project, server, token, show, json)
        return
    described = Project.load(project)
    tables = described.tables or {"": described}
    silent = [name for name, p in tables.items() if p.output.in_memory or p.output.is_frame]
    if silent:
        message = (
            Sentence("the table '{table}' says no output path", table=silent[0])
            if silent[0]
            else Sentence("the project says no output path")
        )
        raise InputError("no-output", message, file=project, hint="output: {path: release.csv}")
    kernel_warmup.begin("lattice" if all(p.method.name == "lattice" for p in tables.values()) else "mondrian")
    with progress() as report:
        before = {} if show is None else {name: rows_before(p, show) for name, p in tables.items()}
        release = run(described, report)
    if json:
        print_json(release.as_dict())
    else:
        results.show(release)
        for name, first in before.items():
            rows.show(tables[name], first, show or 0, name)


def _run_there(project: Path, server: str, token: str | None, show: int | None, json: bool) -> None:
    """Send the project to a service, follow the run, fetch the release."""
    from velado.client import run_there

    if show is not None:
        raise InputError("bad-option", "--show prints rows, and with --server they are elsewhere", hint="Leave one of them out.")
    with client_of(server, token) as client, progress() as report:
        found = run_there(client, project, report)
    if json:
        print_json(found)
        return
    say(
        "[bold]{name}[/]: {released:,} of {rows:,} records released, verified by the service",
        name=found["project"],
        released=found["released"],
        rows=found["rows"],
    )
    say("Release: {path}", path=found["output"])
    say("Manifest: {path}", path=found["manifest"])
