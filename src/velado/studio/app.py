"""The application of a service with the pages of Studio."""

from __future__ import annotations

from importlib import import_module

from fastapi import APIRouter, FastAPI

from velado.service.service import Service
from velado.service.settings import load
from velado.service.web import app as service_app
from velado.service.web import serving
from velado.studio import assets
from velado.studio.request import PageRoute

FACTORY = "velado.studio.app:from_environment"
PAGES = (
    "start",
    "new",
    "imports",
    "projects",
    "tables",
    "connections",
    "data",
    "columns",
    "hierarchies",
    "privacy",
    "run",
    "explore",
    "result",
    "utility",
    "risk",
    "attack",
    "compare",
    "publish",
    "file",
    "history",
    "members",
    "jobs",
    "account",
    "administration",
    "help",
    "design",
    "not_found",
)
"""Modules of ``pages``; the last one answers what no other does."""


def create_app(service: Service) -> FastAPI:
    """Resources and pages."""
    return service_app.create_app(service, assets.router, router())


def from_environment() -> FastAPI:
    """The application of a process that another one started: all settings stand in the environment."""
    serving.log_to_stderr()
    return create_app(Service.open(load()))


def router() -> APIRouter:
    """All pages."""
    pages = APIRouter(include_in_schema=False, route_class=PageRoute)
    for name in PAGES:
        pages.include_router(import_module(f"velado.studio.pages.{name}").router)
    return pages
