"""What takes how much room."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter(tags=["storage"])
