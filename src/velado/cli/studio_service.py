"""What the commands of ``velado studio`` share: how they find the service on this machine."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from velado.service.service import Service
    from velado.service.settings import Settings

CONFIG = Annotated[Path | None, typer.Option(help="File of settings (TOML); else that of VELADO_STUDIO_CONFIG.")]
FOLDER = Annotated[Path | None, typer.Option(help="Folder of the service's data.")]


def settings_of(config: Path | None, **given: Any) -> Settings:
    """The settings from options, environment and file."""
    from velado.service.settings import load

    return load(config, **given)


def open_service(config: Path | None, **given: Any) -> Service:
    """The service of the settings, which must be there and up to date."""
    from velado.service.service import Service

    return Service.open(settings_of(config, **given))


def actor() -> str:
    """Who administers from this terminal, as the audit log says it."""
    return f"cli:{getpass.getuser()}"
