"""What commands that talk to a service share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from velado.cli.language import current

if TYPE_CHECKING:
    from velado.client import Client

SERVER = Annotated[
    str | None, typer.Option(help="Address of a service that does it, such as https://velado.example.", metavar="URL")
]
TOKEN = Annotated[
    str | None, typer.Option(help="Token for the service; better in VELADO_TOKEN, where nobody sees it.", metavar="TOKEN")
]


def client_of(server: str, token: str | None) -> Client:
    """A client that speaks the user's language."""
    from velado.client import Client

    return Client(server, token, language=current().code)
