"""``velado studio storage``."""

from __future__ import annotations

from velado.cli.help import App
from velado.cli.studio_service import CONFIG, FOLDER, actor, open_service
from velado.cli.tables import size
from velado.cli.terminal import JSON, print_json, say, table
from velado.sentences import Sentence

app = App(help="What the files of a service take, and what of it can go.", no_args_is_help=True)


@app.command("show")
def show(config: CONFIG = None, folder: FOLDER = None, json: JSON = False) -> None:
    """Show how many bytes the things of each user take, and how many are free."""
    from sqlalchemy import select

    from velado.service.admin import storage_usage
    from velado.service.store.tables import User

    service = open_service(config, folder=folder)
    with service.store.reading() as db:
        names = {row.id: row.name for row in db.execute(select(User.id, User.name))}
        found = storage_usage.by_user(db, service.files)
        promised = storage_usage.announced_bytes(db, service.files)
    free = service.files.free()
    service.close()
    if json:
        users = [{**one._asdict(), "name": names.get(one.user or ""), "bytes": one.bytes} for one in found]
        print_json({"users": users, "bytes": sum(one.bytes for one in found), "promised": promised, "free": free})
        return
    lines = [
        [names.get(one.user or "", Sentence("nobody")), *map(size, (one.uploads, one.copies, one.jobs, one.documents, one.bytes))]
        for one in found
    ]
    if lines:
        table("Storage", lines, ("user", "uploads", "copies", "results", "documents", "in all"))
    say("{free} are free on the disk; {promised} are announced and still to come.", free=size(free), promised=size(promised))


@app.command("clean")
def clean(config: CONFIG = None, folder: FOLDER = None, json: JSON = False) -> None:
    """Delete what is past its time: uploads that nobody used for so many days, files without an owner, ended sessions."""
    from velado.service.admin import retention

    service = open_service(config, folder=folder)
    found = retention.clean(service, actor())
    service.close()
    if json:
        print_json(found.as_dict())
        return
    say(
        "Deleted: {sources:,} table(s), {uploads:,} other upload(s), {orphans:,} file(s) without an owner, {sessions:,} session(s), "
        "{tokens:,} token(s). {freed} are free again.",
        sources=found.sources,
        uploads=found.uploads,
        orphans=found.orphans,
        sessions=found.sessions,
        tokens=found.tokens,
        freed=size(found.bytes),
    )
