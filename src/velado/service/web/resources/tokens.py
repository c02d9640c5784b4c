"""Named, scoped tokens of programs."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter(tags=["tokens"])
