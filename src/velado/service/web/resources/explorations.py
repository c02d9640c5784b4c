"""Every node of a project's lattice."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter(tags=["explorations"])
