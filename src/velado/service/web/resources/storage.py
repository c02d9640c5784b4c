"""What takes how much room, for administrators: bytes by user and kind, nothing about contents."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel
from sqlalchemy import select

from velado.service import retention, usage
from velado.service.store.tables import User
from velado.service.web.call import Called

router = APIRouter(tags=["storage"])


class UsageAnswer(BaseModel):
    """Bytes of a user's things. Without a user: of things whose owner is gone."""

    user: str | None
    name: str | None
    uploads: int
    copies: int
    jobs: int
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


@router.get("/storage")
def get_storage(call: Called) -> StorageAnswer:
    """Bytes by user and kind, and what is free."""
    call.caller.require("storage.manage")
    files = call.service.files
    with call.reading() as db:
        names = {row.id: row.name for row in db.execute(select(User.id, User.name))}
        found = usage.by_user(db, files)
        promised, keep = usage.promised(db, files), call.settings(db).free_bytes
    users = [UsageAnswer(**one._asdict(), name=names.get(one.user or ""), bytes=one.bytes) for one in found]
    total = sum(one.bytes for one in found)
    return StorageAnswer(users=users, bytes=total, promised=promised, free=files.free(), keep_free=keep)


@router.post("/storage/clean")
def clean_storage(call: Called) -> CleanedAnswer:
    """Delete now what is past its time: uploads that nobody used for so many days, files without an owner, ended sessions."""
    call.caller.require("storage.manage")
    return CleanedAnswer(**retention.clean(call.service, call.caller.id).as_dict())
