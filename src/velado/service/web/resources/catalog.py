"""Everything that describes itself."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter(tags=["catalog"])
