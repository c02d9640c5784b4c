"""``velado studio user``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from getpass import getpass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from velado.cli.help import App
from velado.cli.language import translate_plain
from velado.cli.studio_service import CONFIG, FOLDER, actor, open_service
from velado.cli.terminal import JSON, names, print_json, say, table
from velado.errors import InputError
from velado.sentences import Sentence

if TYPE_CHECKING:
    from sqlalchemy.orm import Session as Db

    from velado.service.service import Service
    from velado.service.store.tables import User

app = App(help="Users of a service: who may sign in, and with which roles.", no_args_is_help=True)

NAME = Annotated[str, typer.Argument(help="Name of the user.")]
ROLES = Annotated[str, typer.Argument(help="Roles, separated by commas: administrator, steward, learner, auditor.")]
STDIN = Annotated[bool, typer.Option("--password-stdin", help="Read the password from standard input: its first line.")]
PIPED = "--password-stdin"


@app.command("add")
def add(
    name: NAME,
    roles: ROLES,
    full_name: Annotated[str, typer.Option(help="Full name.")] = "",
    email: Annotated[str, typer.Option(help="Address for mail.")] = "",
    password_stdin: STDIN = False,
    link: Annotated[
        bool, typer.Option("--link", help="Instead of a password: print a code by which the user sets one, once.")
    ] = False,
    config: CONFIG = None,
    folder: FOLDER = None,
    json: JSON = False,
) -> None:
    """Make a user; the password is asked for."""
    from velado.service.accounts import links, users

    password = None if link else _password(password_stdin)
    with _writing(config, folder) as (service, db):
        user = users.create(db, name, names(roles), password=password, full_name=full_name, email=email)
        _audit(db, service, "user.made", user, roles=user.roles)
        token = links.make_link(db, user, reset=True) if link else None
    _tell(user, token, json)


@app.command("list")
def list_users(config: CONFIG = None, folder: FOLDER = None, json: JSON = False) -> None:
    """List all users with their roles."""
    from sqlalchemy import select

    from velado.service.store.tables import User

    service = open_service(config, folder=folder)
    with service.store.reading() as db:
        found = list(db.scalars(select(User).order_by(User.name)))
    service.close()
    if json:
        print_json({"users": [_as_dict(user) for user in found]})
        return
    lines = [[u.name, ", ".join(u.roles), _state(u), _moment(u.seen)] for u in found]
    table("Users", lines, ("name", "roles", "state", "seen"))


@app.command("roles")
def roles(name: NAME, roles: ROLES, config: CONFIG = None, folder: FOLDER = None, json: JSON = False) -> None:
    """Give a user other roles; the user's sessions end."""
    from velado.service.accounts import users

    with _writing(config, folder) as (service, db):
        user = find_user(db, name)
        users.set_roles(db, user, names(roles))
        _audit(db, service, "user.roles", user, roles=user.roles)
    _tell(user, None, json)


@app.command("password")
def password(
    name: NAME,
    password_stdin: STDIN = False,
    link: Annotated[bool, typer.Option("--link", help="Instead: print a code by which the user sets a password, once.")] = False,
    config: CONFIG = None,
    folder: FOLDER = None,
    json: JSON = False,
) -> None:
    """Set a user's password, which is asked for; the user's sessions end."""
    from velado.service.accounts import links, users

    given = None if link else _password(password_stdin)
    with _writing(config, folder) as (service, db):
        user = find_user(db, name)
        token = None
        if given is None:
            token = links.make_link(db, user, reset=True)
        else:
            users.set_password(db, user, given)
        _audit(db, service, "user.link" if given is None else "user.password", user)
    _tell(user, token, json)


@app.command("deactivate")
def deactivate(name: NAME, config: CONFIG = None, folder: FOLDER = None, json: JSON = False) -> None:
    """Let a user in no longer: sessions end, tokens are of no use. What is the user's stays."""
    _set_active(name, False, config, folder, json)


@app.command("activate")
def activate(name: NAME, config: CONFIG = None, folder: FOLDER = None, json: JSON = False) -> None:
    """Let a user in again."""
    _set_active(name, True, config, folder, json)


@app.command("remove")
def remove(name: NAME, config: CONFIG = None, folder: FOLDER = None, json: JSON = False) -> None:
    """Delete a user with the user's uploads, connections and sources."""
    from velado.service.accounts import users
    from velado.service.sources.removal import remove_files

    with _writing(config, folder) as (service, db):
        user = find_user(db, name)
        removed = users.remove(db, service.files, user)
        _audit(db, service, "user.deleted", user, uploads=removed.uploads, sources=removed.sources)
    remove_files(service.files, removed.files)
    if json:
        print_json({"removed": user.id, "uploads": removed.uploads, "sources": removed.sources})
        return
    say("Removed {name}, with {uploads:,} upload(s).", name=user.name, uploads=removed.uploads)


def _set_active(name: str, active: bool, config: Path | None, folder: Path | None, json: bool) -> None:
    from velado.service.accounts import users

    with _writing(config, folder) as (service, db):
        user = find_user(db, name)
        users.set_active(db, user, active)
        _audit(db, service, "user.activated" if active else "user.deactivated", user)
    _tell(user, None, json)


@contextmanager
def _writing(config: Path | None, folder: Path | None) -> Iterator[tuple[Service, Db]]:
    """The service, and a transaction that is committed at the end."""
    service = open_service(config, folder=folder)
    try:
        with service.store.writing() as db:
            yield service, db
    finally:
        service.close()


def find_user(db: Db, name: str) -> User:
    """The user of a name that was typed."""
    from velado.service.accounts import users

    user = users.find(db, name)
    if user is None:
        raise InputError("no-user", Sentence("there is no user '{name}'", name=name))
    return user


def _audit(db: Db, service: Service, action: str, user: User, **detail: Any) -> None:
    from velado.service.admin import audit

    audit.append(db, service.secrets, actor(), action, user.id, **detail)


def _password(piped: bool) -> str:
    """The password from a pipe, or typed twice; never from the command line, where others see it."""
    if piped:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        hint = Sentence("Pipe it in and say {option}, or use --link.", option=PIPED)
        raise InputError("password-not-given", Sentence("there is nobody to ask for the password"), hint=hint)
    first = getpass(translate_plain("New password: "))
    if getpass(translate_plain("Once more: ")) != first:
        raise InputError("password-not-given", Sentence("the two are not the same"))
    return first


def _as_dict(user: User) -> dict[str, Any]:
    return {
        "id": user.id,
        "name": user.name,
        "full_name": user.full_name,
        "email": user.email,
        "roles": user.roles,
        "active": user.active,
        "local": user.password is not None,
        "provider": user.subject is not None,
        "created": user.created.isoformat(),
        "seen": None if user.seen is None else user.seen.isoformat(),
    }


def _state(user: User) -> Sentence:
    return Sentence("active") if user.active else Sentence("not active")


def _moment(moment: Any) -> str:
    return "–" if moment is None else f"{moment:%Y-%m-%d %H:%M}"


def _tell(user: User, token: str | None, json: bool) -> None:
    if json:
        print_json({**_as_dict(user), **({} if token is None else {"link": token})})
        return
    said = ", ".join(user.roles) or "–"
    say("[bold]{name}[/]: {roles} ({state})", name=user.name, roles=said, state=_state(user))
    if token is not None:
        say("This code sets a password, once: {token}", token=token)
