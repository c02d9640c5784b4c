"""``velado studio``."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated

import typer

from velado.cli import signals
from velado.cli.help import App
from velado.cli.terminal import say
from velado.errors import EXTRAS, missing_package
from velado.sentences import Sentence

if any(find_spec(name) is None for name, extra in EXTRAS.items() if extra == "studio"):
    raise missing_package("no-studio", Sentence("the service needs further packages"), "studio")

from velado.cli import studio_audit, studio_storage, studio_token, studio_user
from velado.cli.studio_service import CONFIG, FOLDER, open_service, settings_of

app = App(help="Velado in the browser and as a service: for one person at once, or for a team.", invoke_without_command=True)
app.add_typer(studio_user.app, name="user")
app.add_typer(studio_token.app, name="token")
app.add_typer(studio_audit.app, name="audit")
app.add_typer(studio_storage.app, name="storage")

PORT = Annotated[int | None, typer.Option(help="Port at which it listens; 0: any that is free.", min=0, max=65535)]


@app.callback()
def studio(
    context: typer.Context,
    config: CONFIG = None,
    folder: FOLDER = None,
    port: PORT = None,
    browser: Annotated[bool, typer.Option(help="Open the browser.")] = True,
) -> None:
    """Start Velado in the browser, for you alone, on this machine."""
    if context.invoked_subcommand is not None:
        return
    from velado.service.single_user import run
    from velado.studio.app import create_app

    signals.finish()
    run(settings_of(config, folder=folder, port=port), create_app, browser=browser, told=_print_address)


@app.command("serve")
def serve(
    config: CONFIG = None,
    folder: FOLDER = None,
    port: PORT = None,
    host: Annotated[str | None, typer.Option(help="Address at which it listens.")] = None,
    processes: Annotated[int, typer.Option(help="Web processes that share the work.", min=1, max=64)] = 1,
) -> None:
    """Answer requests of a team; 'velado studio worker' does the work."""
    from velado.service.service import Service
    from velado.service.web import serving
    from velado.studio.app import FACTORY, create_app

    settings = settings_of(config, folder=folder, port=port, host=host)
    service = Service.open(settings, make=True)
    listening = serving.listen(settings)
    signals.finish()
    address = settings.url or serving.address_of(listening)
    if processes == 1:
        serving.serve(service, create_app, listening, lambda: say("Velado answers at {address}", address=address))
        service.close()
    else:
        service.close()
        say("Velado answers at {address}", address=address)
        serving.serve_many(settings, FACTORY, listening, processes)


@app.command("worker")
def worker(
    config: CONFIG = None,
    folder: FOLDER = None,
    jobs: Annotated[int | None, typer.Option(help="Jobs that run at once.", min=1, max=256)] = None,
) -> None:
    """Do the work of a service: as many workers as you like, on machines that share its database and folder."""
    from velado.service.jobs.worker import run

    service = open_service(config, folder=folder, jobs_at_once=jobs)
    signals.finish()
    run(service)
    service.close()


@app.command("upgrade")
def upgrade(config: CONFIG = None, folder: FOLDER = None) -> None:
    """Bring the database of a service up to date; make a backup first."""
    from velado.service.service import Service

    Service.open(settings_of(config, folder=folder), make=True).close()
    say("The database is up to date.")


def _print_address(address: str, link: str) -> None:
    """Where it is; the link signs in once."""
    say("Velado Studio is at {address}", address=address)
    say("This link signs you in, once: {link}", link=link)
    say("Ctrl-C ends it.")
