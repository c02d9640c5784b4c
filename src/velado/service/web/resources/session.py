"""Sign in and out, who am I."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter(tags=["session"])
