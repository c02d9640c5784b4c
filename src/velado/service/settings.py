"""The settings of a service: one list, from which the file, the environment variables and the reference are made.

A setting comes from the environment (``VELADO_STUDIO_PORT``), else from a TOML file (``port = 8080``), else it has its
default. Those that are ``live`` can also be changed by an administrator while the service runs.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar

from velado.errors import InputError, reason, suggest
from velado.results import Discreet
from velado.sentences import Sentence

PREFIX = "VELADO_STUDIO_"
MB, GB = 1_000_000, 1_000_000_000
MOST, MOST_BYTES = 1_000_000, 10**15
"""No setting is larger: days and hours must make a date, sizes a number of the database."""


def usual_folder() -> Path:
    """Where the service keeps its data if nothing else is said: the user's own folder for data."""
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(home) / "velado-studio"


def _setting(default: Any, *, help: str, low: float | None = None, live: bool = False, secret: bool = False) -> Any:
    metadata = {"help": help, "low": low, "live": live, "secret": secret}
    if callable(default):
        return field(default_factory=default, metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, repr=False, kw_only=True)
class Settings(Discreet):
    """Everything that can be set. Sizes are bytes; in the file and in the environment also ``2 GB``."""

    NAMES: ClassVar[tuple[str, ...]] = ("host",)

    folder: Path = _setting(usual_folder, help="Folder of uploads, releases, the SQLite database and the key")
    database: str = _setting("", help="Address of the store, such as postgresql://velado@db/velado; empty: SQLite in the folder")
    database_password: str = _setting("", help="Password of the store's user", secret=True)
    key: str = _setting("", help="The key of all secrets, 64 hexadecimal digits; empty: the key file", secret=True)
    key_file: Path = _setting(Path("studio.key"), help="File of the key, readable by its owner only; relative to the folder")
    host: str = _setting("127.0.0.1", help="Address at which the web process listens")
    port: int = _setting(8788, help="Port at which the web process listens; 0: any that is free", low=0)
    url: str = _setting("", help="Address under which browsers reach the service, such as https://velado.example")
    proxies: str = _setting("127.0.0.1", help="Addresses of reverse proxies whose X-Forwarded-For is believed, comma-separated")
    language: str = _setting("en", help="Language for who has chosen none: en, es or pt")

    session_hours: int = _setting(12, help="Hours after which one must sign in again", low=1, live=True)
    session_idle_minutes: int = _setting(60, help="Minutes without a request after which a session ends", low=1, live=True)
    token_days: int = _setting(365, help="Days for which a token may be valid at most", low=1, live=True)
    sign_in_attempts: int = _setting(5, help="Failed attempts after which signing in is held up", low=1, live=True)
    sign_in_minutes: int = _setting(15, help="Minutes for which signing in is held up", low=1, live=True)
    approval: bool = _setting(False, help="A second person must approve a release before it can be downloaded", live=True)
    retention_days: int = _setting(30, help="Days after their last use when uploads are deleted; 0: never", low=0, live=True)

    upload_bytes: int = _setting(10 * GB, help="Largest upload", low=1, live=True)
    user_bytes: int = _setting(
        50 * GB, help="Bytes that the files of one user may take, and as many again versions and results", low=1, live=True
    )
    learner_bytes: int = _setting(1 * GB, help="The same for a user who is no steward", low=1, live=True)
    free_bytes: int = _setting(1 * GB, help="Bytes of the disk that stay free", low=0, live=True)
    expanded_bytes: int = _setting(50 * GB, help="Bytes that a packed file may hold unpacked", low=1, live=True)
    local_sockets: bool = _setting(
        False, help="Connections may use sockets of this machine, where servers may trust the service's own account"
    )
    body_bytes: int = _setting(8 * MB, help="Largest body of a request that is no upload", low=1000)
    upload_idle_seconds: int = _setting(30, help="Seconds without a byte after which an upload is cut", low=1)

    jobs_at_once: int = _setting(2, help="Jobs that a worker runs at once", low=1)
    jobs_per_user: int = _setting(2, help="Jobs of one user that run at once", low=1, live=True)
    jobs_queued: int = _setting(50, help="Jobs of one user that may wait", low=1, live=True)
    learner_jobs: int = _setting(
        1, help="Jobs of a user who is no steward that run at once, if jobs_per_user is not less", low=1, live=True
    )
    learner_jobs_queued: int = _setting(
        10, help="Jobs of a user who is no steward that may wait, if jobs_queued is not less", low=1, live=True
    )
    job_memory: int = _setting(8 * GB, help="Bytes of memory that a job may use", low=100 * MB, live=True)
    job_seconds: int = _setting(6 * 3600, help="Seconds that a job may take", low=1, live=True)
    job_bytes: int = _setting(50 * GB, help="Bytes of the largest file that a job may write", low=MB, live=True)
    lease_seconds: int = _setting(30, help="Seconds without a sign of life after which another worker takes a job over", low=2)
    explorers: int = _setting(3, help="Projects and tables that are kept ready in memory for questions, least used go first", low=0)
    explorer_idle_seconds: int = _setting(900, help="Seconds after which an unused one is let go of", low=1)
    study_folder: str = _setting("", help="Folder of the data of the studies; empty: studies that need data are refused")

    oidc_issuer: str = _setting("", help="Issuer of an OpenID Connect provider, such as https://login.example/realms/clinic")
    oidc_client: str = _setting("", help="Client id at the provider")
    oidc_secret: str = _setting("", help="Client secret at the provider", secret=True)
    oidc_roles: str = _setting("steward", help="Roles of who signs in through the provider for the first time, comma-separated")
    oidc_scope: str = _setting("openid profile email", help="Scopes that are asked for")

    @property
    def sqlite(self) -> bool:
        """Whether the store is a file in the folder."""
        return not self.database

    @property
    def secure(self) -> bool:
        """Whether browsers come by TLS: then cookies are for TLS only."""
        return self.url.startswith("https://")

    @property
    def key_path(self) -> Path:
        """Where the key file is."""
        return self.folder / self.key_file

    def with_live(self, changed: Mapping[str, Any]) -> Settings:
        """With what an administrator changed."""
        return replace(self, **{k: v for k, v in changed.items() if k in LIVE})


KNOWN = {f.name: f for f in fields(Settings)}
LIVE = tuple(name for name, f in KNOWN.items() if f.metadata["live"])
"""Settings that an administrator changes while the service runs."""


def load(file: Path | str | None = None, environment: Mapping[str, str] | None = None, **given: Any) -> Settings:
    """The settings from ``given`` values, the environment and a TOML file, in this order."""
    environment = os.environ if environment is None else environment
    file = file or environment.get(f"{PREFIX}CONFIG")
    found = _of_file(Path(file)) if file else {}
    for name in KNOWN:
        if f"{PREFIX}{name.upper()}" in environment:
            found[name] = parse(name, environment[f"{PREFIX}{name.upper()}"])
    found |= {name: parse(name, value) for name, value in given.items() if value is not None}
    settings = Settings(**found)
    return replace(settings, folder=settings.folder.expanduser().resolve())


def _of_file(path: Path) -> dict[str, Any]:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError("no-settings", Sentence("cannot read the settings: {why}", why=reason(error)), file=path) from None
    except ValueError:
        raise InputError("bad-settings", "the settings are no TOML", file=path) from None
    try:
        return {name: parse(name, value) for name, value in data.items()}
    except InputError as error:
        error.file = str(path)
        raise


def parse(name: str, value: Any) -> Any:
    """The value of a setting, from a text or as it is; the error names the setting, and no secret."""
    if name not in KNOWN:
        raise InputError("unknown-setting", Sentence("there is no setting '{name}'", name=name), hint=suggest(name, KNOWN))
    wanted = KNOWN[name]
    kind = {"Path": Path, "str": str, "int": int, "bool": bool}[str(wanted.type)]
    try:
        parsed = _as(kind, value)
    except (ValueError, TypeError, KeyError, OverflowError):
        message = Sentence("the setting {name} must be {kind}", name=name, kind=WORDS[kind])
        raise InputError("bad-setting", message, fields={"path": name}) from None
    low = wanted.metadata["low"]
    if low is not None and parsed < low:
        message = Sentence("the setting {name} must be at least {low}, got {value}", name=name, low=low, value=parsed)
        raise InputError("bad-setting", message, fields={"path": name})
    high = highest(name)
    if low is not None and parsed > high:
        message = Sentence("the setting {name} must be at most {high}", name=name, high=high)
        raise InputError("bad-setting", message, fields={"path": name})
    return parsed


def highest(name: str) -> int:
    """The largest value of a setting that is a number."""
    return MOST_BYTES if name.endswith(("bytes", "memory")) else MOST


WORDS: Mapping[type, Sentence] = {
    Path: Sentence("a path"),
    str: Sentence("a text"),
    int: Sentence("a whole number"),
    bool: Sentence("true or false"),
}
UNITS = {"KB": 1000, "MB": MB, "GB": GB, "TB": 1000 * GB}


def _as(kind: type, value: Any) -> Any:
    if kind is bool:
        return value if isinstance(value, bool) else {"true": True, "1": True, "false": False, "0": False}[str(value).lower()]
    if kind is int:
        if isinstance(value, (bool, float)):
            raise ValueError
        text = str(value).strip().upper()
        unit = next((u for u in UNITS if text.endswith(u)), None)
        return int(text) if unit is None else int(float(text.removesuffix(unit)) * UNITS[unit])
    if kind is str and not isinstance(value, str):
        raise ValueError
    return kind(value)
