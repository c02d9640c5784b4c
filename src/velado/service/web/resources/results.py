"""Results of comparisons and appointment plans."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter(tags=["results"])
