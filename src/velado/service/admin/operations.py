"""What administrators and auditors do: read the audit log and check it, change settings, look at storage and clean it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, RootModel
from pydantic.config import JsonDict
from sqlalchemy import select
from sqlalchemy.orm import Session as Db

from velado.errors import Problems, suggest
from velado.sentences import Sentence, into
from velado.service.accounts import oidc
from velado.service.admin import audit, retention, storage_usage
from velado.service.errors import Invalid
from velado.service.settings import KNOWN, LIVE, Settings, highest, parse
from velado.service.store.tables import ChangedSetting, User
from velado.service.unit_of_work import UnitOfWork
from velado.service.web.schemas import Listed

Value = Annotated[str, Field(max_length=200)] | int | bool | None


class Line(BaseModel):
    """Who did what with which thing. ``actor`` and ``subject`` are ids."""

    number: int
    created: str
    actor: str
    action: str
    subject: str
    detail: dict[str, Any]
    hash: str


class Checked(BaseModel):
    """What the check found. ``broken``: the first line that was changed, before which one was taken out or moved, or that was
    taken away with all after it.

    Keep ``head`` elsewhere: who puts an older state of the whole database back is noticed only by who knows it.
    """

    intact: bool
    lines: int
    broken: int | None
    head: str = Field(description="The hash of the last line that is as it was written")


class SettingShown(BaseModel):
    """A setting. ``usual`` is what it is if nobody changes it here: from the file, the environment, or the default."""

    name: str
    help: str
    kind: str
    low: float | None
    default: bool | int | str
    usual: bool | int | str
    value: bool | int | str
    changed: bool


class SettingsShown(BaseModel):
    """All settings that can be changed while the service runs."""

    settings: list[SettingShown]


def _setting_schema(name: str) -> JsonDict:
    """What a setting may be, for the description of the REST interface."""
    low = KNOWN[name].metadata["low"]
    plain: JsonDict = {"type": "boolean"} if low is None else {"type": "integer", "minimum": low, "maximum": highest(name)}
    return {"anyOf": [plain, {"type": "null"}], "description": KNOWN[name].metadata["help"]}


class SettingsChange(RootModel[dict[Annotated[str, Field(max_length=60)], Value]]):
    """New values by name, sizes also such as `2 GB`; null: as in the file."""

    model_config = ConfigDict(
        json_schema_extra={
            "properties": {name: _setting_schema(name) for name in LIVE},
            "additionalProperties": False,
            "propertyNames": {},
        }
    )


class OidcTested(BaseModel):
    """What a look at the provider of OpenID Connect found: each step, and whether it went well."""

    works: bool
    steps: dict[str, bool]
    problem: str = ""


class UsageAnswer(BaseModel):
    """Bytes of a user's things; ``documents`` are versions of projects, and what jobs keep in the store. Without a user: of things
    whose owner is gone."""

    user: str | None
    name: str | None
    uploads: int
    copies: int
    jobs: int
    documents: int
    bytes: int


class StorageAnswer(BaseModel):
    """Bytes of all things by user, and what is free on the disk; ``keep_free`` stays so."""

    users: list[UsageAnswer]
    bytes: int
    promised: int
    free: int
    keep_free: int


class CleanedAnswer(BaseModel):
    """What was deleted."""

    sources: int
    uploads: int
    orphans: int
    sessions: int
    tokens: int
    sign_ins: int
    bytes: int


def list_lines(
    work: UnitOfWork,
    limit: int = 100,
    after: int | None = None,
    *,
    actor: str | None = None,
    action: str | None = None,
    subject: str | None = None,
    since: datetime | None = None,
) -> Listed[Line]:
    """Lines of the log, the newest first."""
    work.caller.require("audit.read")
    with work.reading() as db:
        found = audit.page(db, limit + 1, before=after, actor=actor, action=action, subject=subject, since=since and _utc(since))
    shown = [Line.model_validate(line, from_attributes=True) for line in found[:limit]]
    return Listed(items=shown, next=str(shown[-1].number) if len(found) > limit else None)


def verify_log(work: UnitOfWork) -> Checked:
    """Follow the chain of hashes from the first line to the last."""
    work.caller.require("audit.read")
    with work.reading() as db:
        found = audit.verify(db, work.service.secrets)
    return Checked(intact=found.broken is None, lines=found.lines, broken=found.broken, head=found.head)


def _utc(moment: datetime) -> datetime:
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        # The first and the last day of the calendar, in another zone.
        return moment.replace(tzinfo=UTC)


def read_settings(work: UnitOfWork) -> SettingsShown:
    """The settings that can be changed while the service runs."""
    work.caller.require("settings.manage")
    with work.reading() as db:
        return _describe_settings(work, db)


def change_settings(work: UnitOfWork, body: SettingsChange) -> SettingsShown:
    """Change settings; all of them, or none if one is wrong."""
    work.caller.require("settings.manage")
    problems, wanted = Problems(), {}
    for name, value in body.root.items():
        with problems.at():
            wanted[name] = _parse_setting(name, value)
    problems.raise_if_any()
    with work.writing() as db:
        for name, value in wanted.items():
            row = db.get(ChangedSetting, name)
            if value is None and row is not None:
                db.delete(row)
            elif value is not None and row is not None:
                row.value = value
            elif value is not None:
                db.add(ChangedSetting(name=name, value=value))
        if wanted:
            work.audit(db, "settings.changed", "", settings={n: v for n, v in wanted.items() if isinstance(v, (int, bool))})
        db.flush()
        return _describe_settings(work, db)


def test_oidc(work: UnitOfWork) -> OidcTested:
    """Ask the provider of OpenID Connect for what signing in needs."""
    work.caller.require("settings.manage")
    steps, error = oidc.look(work.service.settings)
    return OidcTested(works=error is None, steps=steps, problem="" if error is None else into(error.message, work.language))


def _parse_setting(name: str, value: Any) -> Any:
    if name not in LIVE:
        shown = name[:60]
        message = Sentence("there is no setting '{name}' that changes while the service runs", name=shown)
        hint = Sentence("It stands in the file of settings.") if name in KNOWN else suggest(shown, LIVE)
        raise Invalid("unknown-setting", message, hint=hint, fields={"path": shown})
    return None if value is None else parse(name, value)


def _describe_settings(work: UnitOfWork, db: Db) -> SettingsShown:
    usual, now, default = work.service.settings, work.settings(db), Settings()
    return SettingsShown(
        settings=[
            SettingShown(
                name=name,
                help=Sentence(KNOWN[name].metadata["help"]).into(work.language),
                kind=str(KNOWN[name].type),
                low=KNOWN[name].metadata["low"],
                default=getattr(default, name),
                usual=getattr(usual, name),
                value=getattr(now, name),
                changed=db.get(ChangedSetting, name) is not None,
            )
            for name in LIVE
        ]
    )


def read_storage(work: UnitOfWork) -> StorageAnswer:
    """Bytes by user and kind, and what is free."""
    work.caller.require("storage.manage")
    files = work.service.files
    with work.reading() as db:
        names = {row.id: row.name for row in db.execute(select(User.id, User.name))}
        found = storage_usage.by_user(db, files)
        promised, keep = storage_usage.announced_bytes(db, files), work.settings(db).free_bytes
    users = [UsageAnswer(**one._asdict(), name=names.get(one.user or ""), bytes=one.bytes) for one in found]
    total = sum(one.bytes for one in found)
    return StorageAnswer(users=users, bytes=total, promised=promised, free=files.free(), keep_free=keep)


def clean_storage(work: UnitOfWork) -> CleanedAnswer:
    """Delete now what is past its time: uploads that nobody used for so many days, files without an owner, ended sessions."""
    work.caller.require("storage.manage")
    return CleanedAnswer(**retention.clean(work.service, work.caller.id).as_dict())
