"""Projects, their versions, members and problems."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter(tags=["projects"])
