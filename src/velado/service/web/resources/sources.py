"""Tables to work on, their rows and columns."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter(tags=["sources"])
