"""What all processes of a service share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from velado.results import Discreet
from velado.service.admin import audit
from velado.service.files import Files
from velado.service.secrets import Secrets
from velado.service.settings import Settings
from velado.service.store import Store

UNSEALED = "0001"
"""The version of the store in which it was not sealed where the audit log ends."""


@dataclass(frozen=True, repr=False)
class Service(Discreet):
    """Settings, store, files and secrets of one service."""

    settings: Settings
    store: Store
    files: Files
    secrets: Secrets

    @classmethod
    def open(cls, settings: Settings, *, make: bool = False) -> Self:
        """The service of the settings; ``make`` makes folder, key and tables where there are none."""
        settings.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        secrets = Secrets.of(settings, make=make)
        store = Store(settings)
        if make:
            if store.upgrade() == UNSEALED:
                with store.writing() as db:
                    audit.seal(db, secrets)
        else:
            store.check()
        return cls(settings, store, Files(settings.folder), secrets)

    def close(self) -> None:
        """Let go of the store."""
        self.store.close()
