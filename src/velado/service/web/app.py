"""The application: resources under ``/api/v1``, one error shape, headers that keep browsers safe."""

from __future__ import annotations

from importlib import import_module

from fastapi import APIRouter, FastAPI

import velado
from velado.service.service import Service
from velado.service.web import problems

API = "/api/v1"
RESOURCES = (
    "session", "tokens", "uploads", "connections", "sources", "projects", "hierarchies", "jobs", "explorations", "releases", "results", "catalog", "users", "groups", "audit", "settings", "storage", "operation",
)  # fmt: skip
"""Modules of ``resources``, in the order of the reference."""


def create_app(service: Service) -> FastAPI:
    """The web application of a service."""
    app = FastAPI(
        title="Velado", version=velado.__version__, openapi_url=f"{API}/openapi.json", docs_url=None, redoc_url=None,
        description="Anonymize tables about people: optimal recoding, verified releases, and what they cost.",
    )  # fmt: skip
    app.state.service = service
    problems.install(app)
    api = APIRouter(prefix=API)
    for name in RESOURCES:
        module = import_module(f"velado.service.web.resources.{name}")
        api.include_router(module.router)
    app.include_router(api, responses=problems.DOCUMENTED)
    return app
