"""Hierarchies of a project's columns, built and previewed."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter(tags=["hierarchies"])
