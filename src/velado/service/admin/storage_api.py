"""What takes how much room, for administrators: bytes by user and kind, nothing about contents."""

from __future__ import annotations

from fastapi import APIRouter

from velado.service.admin import operations
from velado.service.admin.operations import CleanedAnswer, StorageAnswer
from velado.service.web.call import Called

router = APIRouter(tags=["storage"])


@router.get("/storage")
def get_storage(call: Called) -> StorageAnswer:
    """Bytes by user and kind, and what is free."""
    return operations.read_storage(call)


@router.post("/storage/clean")
def clean_storage(call: Called) -> CleanedAnswer:
    """Delete now what is past its time: uploads that nobody used for so many days, files without an owner, ended sessions."""
    return operations.clean_storage(call)
