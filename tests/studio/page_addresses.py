"""The addresses of all pages, and a project that has something to show on each of them."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from velado.client import Client
from velado.studio.app import PAGES

ELSEWHERE = {
    "/sign-in",
    "/password/{token}",
    "/{rest:path}",
    "/projects/{id}",
    "/projects/{id}/run/estimate",
    "/projects/{id}/privacy/original",
    "/administration",
}
"""Pages that lead on, or that other tests look at."""
QUERIES = {
    "/new/ready": "source={source}",
    "/projects/{id}/column": "column={column}",
    "/projects/{id}/hierarchy": "column={column}",
    "/projects/{id}/column/assumed": "column={column}",
}
"""What pages must be told beside their address, lest they lead on."""
FILES = ("export", "download", "table.csv")
NOT_SPEECH = (
    "code",
    "pre",
    "textarea",
    "td.cell",
    ".value",
    "[translate=no]",
    "option[value]",
    "script",
    ".vega-tooltip",
    "dd[lang]",
    "[aria-hidden=true]",
)
"""Elements whose texts are data or code."""


def _routes(router: Any) -> Iterator[str]:
    """The addresses of a router that are looked at."""
    for route in router.routes:
        if hasattr(route, "methods"):
            if "GET" in route.methods and route.path.rsplit("/", 1)[-1] not in FILES:
                yield route.path
        else:
            yield from _routes(getattr(route, "router", None) or route.original_router)


ADDRESSES = sorted({path for name in PAGES for path in _routes(import_module(f"velado.studio.pages.{name}").router)} - ELSEWHERE)


def make_ids(api: Client, hospital: dict[str, str]) -> dict[str, str]:
    """What stands for the names in addresses; jobs of all kinds have ended in the project."""
    project = hospital["project"]
    jobs = {
        "explore": api.submit("explore", project=project),
        "attack": api.submit("attack", release=hospital["release"]),
        "compare": api.submit("compare", {"grid": {"k": [2, 5]}}, project=project),
    }
    for job in jobs.values():
        api.follow(job["id"])
    connection = api.post("/connections", {"name": "Nowhere", "address": "postgresql://ana@localhost:1/nothing"})
    return {
        **{kind: job["id"] for kind, job in jobs.items()},
        **hospital,
        "connection": connection["id"],
        "column": "birth_date",
        "key": "k-anonymity",
    }


def address_of(path: str, ids: dict[str, str]) -> str:
    """An address with ids for names."""
    owner = "project" if path.startswith("/projects") else path.split("/")[1].removesuffix("s")
    owner = {"table": "source"}.get(owner, owner)
    whole = f"{path}?{QUERIES[path]}" if path in QUERIES else path
    return whole.replace("{id}", ids.get(owner, "")).replace(":path}", "}").format(**ids)


def visitor(path: str) -> tuple[str, str]:
    """Who may look at a page, and their role."""
    return ("root", "administrator") if path.startswith("/administration") else ("ana", "steward")
