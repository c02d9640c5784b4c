"""``velado studio token``."""

from __future__ import annotations

from typing import Annotated

import typer

from velado.cli.help import App
from velado.cli.studio_service import CONFIG, FOLDER, actor, open_service
from velado.cli.studio_user import find_user
from velado.cli.terminal import JSON, names, print_json, say, table
from velado.errors import InputError
from velado.sentences import Sentence

app = App(help="Tokens of programs that use a service.", no_args_is_help=True)

USER = Annotated[str, typer.Argument(help="Name of the user whose it is.")]


@app.command("add")
def add(
    user: USER,
    name: Annotated[str, typer.Argument(help="What it is for.")],
    scopes: Annotated[str, typer.Option(help="What it may do, separated by commas: read, run, records, download, manage.")],
    days: Annotated[int, typer.Option(min=1, help="Days for which it is valid.")] = 90,
    config: CONFIG = None,
    folder: FOLDER = None,
    json: JSON = False,
) -> None:
    """Make a token; it is shown once, and never allows more than its user may do."""
    from velado.service.accounts import tokens
    from velado.service.admin import audit

    service = open_service(config, folder=folder)
    with service.store.writing() as db:
        owner = find_user(db, user)
        until = tokens.checked_days(service.store.live(db), days)
        token, text = tokens.make(db, owner, name, names(scopes), until)
        audit.append(db, service.secrets, actor(), "token.made", token.id, scopes=token.scopes, days=days)
    service.close()
    if json:
        print_json({"id": token.id, "scopes": token.scopes, "expires": token.expires.isoformat(), "token": text})
        return
    say("{token}", token=text)
    say("It is not shown again. Valid until {day}.", day=f"{token.expires:%Y-%m-%d}")


@app.command("list")
def list_tokens(
    user: Annotated[str | None, typer.Argument(help="Name of the user whose they are; else those of all.")] = None,
    config: CONFIG = None,
    folder: FOLDER = None,
    json: JSON = False,
) -> None:
    """List tokens: whose, what they may do, when they end and were used last."""
    from sqlalchemy import select

    from velado.service.store.tables import Token, User

    service = open_service(config, folder=folder)
    wanted = select(Token, User.name).join(User, User.id == Token.user_id).order_by(User.name, Token.created)
    with service.store.reading() as db:
        if user is not None:
            wanted = wanted.where(User.id == find_user(db, user).id)
        found = [(token, owner) for token, owner in db.execute(wanted)]
    service.close()
    if json:
        shown = [
            {
                "id": t.id,
                "user": owner,
                "name": t.name,
                "scopes": t.scopes,
                "expires": t.expires.isoformat(),
                "used": None if t.used is None else t.used.isoformat(),
            }
            for t, owner in found
        ]
        print_json({"tokens": shown})
        return
    lines = [
        [t.id, owner, t.name, ", ".join(t.scopes), f"{t.expires:%Y-%m-%d}", "–" if t.used is None else f"{t.used:%Y-%m-%d}"]
        for t, owner in found
    ]
    table("Tokens", lines, ("token", "user", "name", "scopes", "valid until", "used"))


@app.command("revoke")
def revoke(
    id: Annotated[str, typer.Argument(help="The token's id, as 'velado studio token list' shows it.")],
    config: CONFIG = None,
    folder: FOLDER = None,
    json: JSON = False,
) -> None:
    """Make a token useless at once."""
    from velado.service.accounts import tokens
    from velado.service.admin import audit
    from velado.service.store.tables import Token

    service = open_service(config, folder=folder)
    with service.store.writing() as db:
        token = db.get(Token, id)
        if token is None:
            raise InputError("no-token", Sentence("there is no token of this id"))
        tokens.revoke(db, token)
        audit.append(db, service.secrets, actor(), "token.revoked", id)
    service.close()
    if json:
        print_json({"revoked": id})
        return
    say("The token is of no use any more.")
