"""Every page in three languages, light and dark, wide and narrow: no English left, nothing that axe or the policy minds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pytest

from servers.studio import Studio
from studio import browsing
from test_speech import english
from velado.studio.app import PAGES
from velado.studio.steps import STEPS

NOT_SPEECH = "code, pre, textarea, td.cell, .value, [translate=no], option[value], script, .vega-tooltip, dd[lang], [aria-hidden=true]"
"""Elements whose texts are data or code."""
TEXTS = f"""() => {{
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
    while (walk.nextNode()) {{
        const parent = walk.currentNode.parentElement, text = walk.currentNode.data.trim();
        if (text && !parent.closest("{NOT_SPEECH}")) found.push(text);
    }}
    for (const e of document.querySelectorAll("[aria-label], [title], [placeholder]"))
        for (const a of ["aria-label", "title", "placeholder"]) if (e.hasAttribute(a) && !e.closest("[aria-hidden=true]")) found.push(e.getAttribute(a));
    return found;
}}"""
ELSEWHERE = {"/sign-in", "/password/{token}", "/{rest:path}", "/projects/{id}", "/administration"}
"""Pages that lead on, or that other tests look at."""


def routes(router: Any) -> Iterator[str]:
    """The addresses of a router that are looked at."""
    for route in router.routes:
        if hasattr(route, "methods"):
            if "GET" in route.methods and not _downloads(route):
                yield route.path
        else:
            yield from routes(getattr(route, "router", None) or route.original_router)


def _downloads(route: Any) -> bool:
    return bool(getattr(route, "response_class", None)) and route.path.rsplit("/", 1)[-1] in (
        "export",
        "download",
        "table.csv",
    )


ADDRESSES = sorted(
    {path for name in PAGES for path in routes(import_module(f"velado.studio.pages.{name}").router)} - ELSEWHERE
)


@pytest.fixture(scope="session")
def ids(api: Any, hospital: dict[str, str]) -> dict[str, str]:
    """What stands for the names in addresses; jobs of all kinds have ended in the project."""
    project = hospital["project"]
    found = {"explore": {"project": project}, "attack": {"release": hospital["release"]}}
    jobs = {kind: api.submit(kind, **about)["id"] for kind, about in found.items()}
    jobs["compare"] = api.submit("compare", {"grid": {"k": [2, 5]}}, project=project)["id"]
    for job in jobs.values():
        api.follow(job)
    connection = api.post("/connections", {"name": "Nowhere", "address": "postgresql://ana@localhost:1/nothing"})
    return {
        **hospital, **jobs, "connection": connection["id"], "column": "birth_date", "key": "k-anonymity", "job": hospital["job"],
    }  # fmt: skip


def address_of(path: str, ids: dict[str, str]) -> str:
    """An address with ids for names."""
    owner = "project" if path.startswith("/projects") else path.split("/")[1].removesuffix("s")
    owner = {"table": "source"}.get(owner, owner)
    return path.replace("{id}", ids.get(owner, "")).replace(":path}", "}").format(**ids) if "{" in path else path


@pytest.mark.parametrize("path", ADDRESSES)
def test_every_page(path: str, look: Callable[..., Any], studio: Studio, ids: dict[str, str]) -> None:
    user, roles = ("root", ("administrator",)) if path.startswith("/administration") else ("ana", ("steward",))
    for language, width, dark in (("es", 1280, False), ("pt", 390, True)):
        page = look(user, *roles, language=language, width=width, dark=dark)
        answer = page.goto(studio.address + address_of(path, ids))
        assert answer.status == 200, path
        page.wait_for_load_state("networkidle")
        assert page.locator("html").get_attribute("lang") == language
        left = {text: found for text in page.evaluate(TEXTS) if (found := english(text, language))}
        assert left == {}
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        if path.removeprefix("/projects/{id}/") in STEPS:
            here = page.locator(".steps [aria-current=step]").bounding_box()
            assert 0 <= here["x"] < width
        assert browsing.axe(page) == []
        page.context.close()
