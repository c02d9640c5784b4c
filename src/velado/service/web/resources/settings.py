"""Settings that change while the service runs."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter(tags=["settings"])
