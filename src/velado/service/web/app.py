"""The application: resources under ``/api/v1``, one error shape, headers that keep browsers safe."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi

import velado
from velado.service.service import Service
from velado.service.web import pages, problems
from velado.service.web.security import Security

API = "/api/v1"
RESOURCES = (
    "accounts.session_api",
    "accounts.tokens_api",
    "sources.uploads_api",
    "connections.api",
    "sources.api",
    "projects.api",
    "projects.hierarchies_api",
    "jobs.api",
    "explorations.api",
    "releases.api",
    "comparisons.api",
    "plans.api",
    "web.catalog_api",
    "accounts.users_api",
    "accounts.groups_api",
    "admin.audit_api",
    "admin.settings_api",
    "admin.storage_api",
    "admin.health_api",
)
"""Modules of the service with routes, in the order of the reference."""


def create_app(service: Service, *pages: APIRouter) -> FastAPI:
    """The web application of a service; ``pages`` are for people, and come after the resources."""
    app = _application()
    for router in pages:
        app.include_router(router)
    app.state.service = service
    app.add_middleware(Security, settings=service.settings)
    return app


def description() -> dict[str, Any]:
    """The OpenAPI document, without any service."""
    return _application().openapi()


def _application() -> FastAPI:
    app = FastAPI(
        title="Velado",
        version=velado.__version__,
        openapi_url=f"{API}/openapi.json",
        docs_url=None,
        redoc_url=None,
        description="Anonymize tables about people: optimal recoding, verified releases, and what they cost.",
    )
    problems.install(app)
    api = APIRouter(prefix=API)
    for name in RESOURCES:
        module = import_module(f"velado.service.{name}")
        api.include_router(module.router)
    app.include_router(api, responses=problems.DOCUMENTED)
    app.include_router(pages.router)
    app.openapi = lambda: _openapi_document(app)  # type: ignore[method-assign]
    return app


def _openapi_document(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document, with the shape of problems and the two ways to say who asks."""
    if app.openapi_schema is None:
        document = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        parts = document.setdefault("components", {})
        parts.setdefault("schemas", {}).update(problems.schemas())
        parts["securitySchemes"] = {
            "token": {"type": "http", "scheme": "bearer"},
            "session": {"type": "apiKey", "in": "cookie", "name": "__Host-velado"},
        }
        for item in document["paths"].values():
            for operation in item.values():
                first, _, rest = operation.get("description", "").partition("\n")
                operation["summary"], operation["description"] = first.rstrip("."), rest.strip()
        document["security"] = [{"token": []}, {"session": []}]
        app.openapi_schema = document
    return app.openapi_schema
