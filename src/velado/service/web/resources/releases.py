"""Verified releases: evaluation, manifest, classes, data, reports."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter(tags=["releases"])
