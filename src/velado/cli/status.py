"""``velado status``."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer
from rich.table import Table

from velado.cli.language import current
from velado.cli.server import TOKEN, client_of
from velado.cli.terminal import JSON, out, plain, print_json, say, translate
from velado.errors import InputError
from velado.i18n import language
from velado.sentences import Sentence

VARIABLE = "VELADO_SERVER"
STATES = {
    "queued": Sentence("waiting"),
    "running": Sentence("running"),
    "done": Sentence("done"),
    "failed": Sentence("failed"),
    "cancelled": Sentence("cancelled"),
}


def command(
    job: Annotated[str | None, typer.Argument(help="A job; without it, the latest of yours are listed.")] = None,
    server: Annotated[str | None, typer.Option(help="Address of the service; else that of VELADO_SERVER.", metavar="URL")] = None,
    token: TOKEN = None,
    cancel: Annotated[bool, typer.Option("--cancel", help="End the job.")] = False,
    json: JSON = False,
) -> None:
    """Say how far jobs of a service have come."""
    server = server or os.environ.get(VARIABLE)
    if server is None:
        raise InputError("no-server", "which service?", hint="--server https://velado.example")
    if cancel and job is None:
        raise InputError("bad-option", "--cancel needs a job")
    with client_of(server, token) as client:
        if cancel:
            client.post(f"/jobs/{job}/cancel")
        found = client.get("/jobs") if job is None else client.get(f"/jobs/{job}")
    if json:
        print_json(found)
        return
    listed = found["items"] if job is None else [found]
    if not listed:
        say("No jobs.")
        return
    _show(listed)
    error = None if job is None else found.get("error")
    if error:
        say()
        say("[bold red]{message}[/]", message=error.get("message", error.get("code", "")))
        if error.get("hint"):
            say("{hint}", hint=error["hint"])


def _show(jobs: list[dict[str, Any]]) -> None:
    shown = Table(box=None, pad_edge=False)
    for name in ("job", "kind", "state", "stage", "begun"):
        shown.add_column(translate(name))
    for one in jobs:
        step = (one.get("step") or {}) if one["state"] == "running" else {}
        stage = language(current().code).label("stage", step["stage"]) if step.get("stage") else ""
        share = f" {100 * step['share']:.0f} %" if stage else ""
        started = str(one.get("started") or "")[:19].replace("T", " ")
        shown.add_row(plain(one["id"]), plain(one["kind"]), translate(STATES[one["state"]]), plain(stage + share), plain(started))
    out.print(shown)
