"""Files, sent in pieces."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter(tags=["uploads"])
