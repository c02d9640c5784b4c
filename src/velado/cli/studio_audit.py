"""``velado studio audit``."""

from __future__ import annotations

import json as text
from datetime import UTC, datetime
from typing import Annotated

import typer

from velado.cli.help import App
from velado.cli.studio_service import CONFIG, FOLDER, open_service
from velado.cli.terminal import JSON, print_json, say, table

app = App(help="The audit log of a service: who did what with which thing.", no_args_is_help=True)


@app.command("list")
def list_lines(
    limit: Annotated[int, typer.Option(min=1, help="Lines that are shown.")] = 50,
    actor: Annotated[str | None, typer.Option(help="Only what this one did: an id, or cli:NAME.")] = None,
    action: Annotated[str | None, typer.Option(help="Only this action, such as user.roles, or all of a kind: user.")] = None,
    subject: Annotated[str | None, typer.Option(help="Only what was done with the thing of this id.")] = None,
    since: Annotated[datetime | None, typer.Option(help="Only from this moment on, in UTC.")] = None,
    config: CONFIG = None,
    folder: FOLDER = None,
    json: JSON = False,
) -> None:
    """List lines of the audit log, the newest first."""
    from velado.service.admin import audit

    service = open_service(config, folder=folder)
    moment = None if since is None else since.replace(tzinfo=UTC)
    with service.store.reading() as db:
        found = audit.page(db, limit, actor=actor, action=action, subject=subject, since=moment)
    service.close()
    if json:
        keys = ("number", "created", "actor", "action", "subject", "detail", "hash")
        print_json({"lines": [{key: getattr(line, key) for key in keys} for line in found]})
        return
    lines = [[str(x.number), x.created[:19], x.actor, x.action, x.subject, text.dumps(x.detail) if x.detail else ""] for x in found]
    table("Audit log", lines, ("line", "time", "actor", "action", "subject", "detail"))


@app.command("verify")
def verify(
    head: Annotated[
        str | None, typer.Option(help="A hash that an earlier check said: also find out whether it is still there.")
    ] = None,
    config: CONFIG = None,
    folder: FOLDER = None,
    json: JSON = False,
) -> None:
    """Follow the chain of the audit log; exit code 1 if a line was changed, moved or taken out."""
    from velado.service.admin import audit

    service = open_service(config, folder=folder)
    seen = head is None
    with service.store.reading() as db:
        found = audit.verify(db, service.secrets)
        if head is not None:
            seen = audit.has(db, head)
    service.close()
    intact = found.broken is None and seen
    if json:
        shown = {"intact": intact, "lines": found.lines, "broken": found.broken, "head": found.head}
        print_json({**shown, **({} if head is None else {"head_found": seen})})
    elif found.broken is not None:
        say(
            "The log is broken at line {line:,}: it was changed, moved or taken away, or one before it was taken out.",
            line=found.broken,
        )
    elif not seen:
        say("The last lines were taken away: none has the hash {head}.", head=head)
    else:
        say("{lines:,} line(s), all as they were written. Keep the hash of the last: {head}", lines=found.lines, head=found.head)
    if not intact:
        raise typer.Exit(1)
