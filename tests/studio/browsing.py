"""A real Chromium that looks at Studio, and what must hold for every page that it sees."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from servers.studio import Studio

ROOT = Path(__file__).parents[2]
WAIT = 30_000


def chromium() -> str | None:
    """Where the browser is."""
    named = os.environ.get("VELADO_CHROMIUM")
    return named or next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@contextmanager
def browser() -> Iterator[Any]:
    """A browser without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"])
        yield found
        found.close()


class Watch:
    """What a page does that it must not: requests to elsewhere, violations of the policy, errors of scripts."""

    def __init__(self, page: Any, address: str) -> None:
        self.wrong: list[str] = []
        self._host = urlsplit(address).netloc
        page.on("request", self._request)
        page.on("pageerror", lambda error: self.wrong.append(f"script: {error}"))
        page.on("console", self._console)

    def _request(self, request: Any) -> None:
        url = urlsplit(request.url)
        if url.scheme in ("http", "https", "ws", "wss") and url.netloc != self._host:
            self.wrong.append(f"outside request: {request.url}")

    def _console(self, message: Any) -> None:
        if "Content Security Policy" in message.text or "content-security-policy" in message.text.lower():
            self.wrong.append(f"policy: {message.text}")


def link(studio: Studio, name: str = "ana", *roles: str) -> str:
    """An address that signs a user in, who is made if there is none."""
    from velado.service.accounts import users
    from velado.service.accounts.links import make_link
    from velado.service.service import Service
    from velado.service.settings import load

    service = Service.open(load(environment=studio.environment))
    with service.store.writing() as db:
        user = users.find(db, name) or users.create(db, name, roles or ("steward",))
        token = make_link(db, user)
    service.close()
    return f"{studio.address}/link/{token}"


def axe(page: Any) -> list[str]:
    """What axe finds wrong with a page as it is shown now: WCAG 2.2 A and AA, and good practice."""
    from axe_playwright_python.sync_playwright import Axe

    # The sticky bar covers what is scrolled below it: that is no finding.
    page.evaluate("scrollTo(0, 0)")
    found = Axe().run(
        page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
    )
    return [
        f"{one['id']}: {one['help']}: {[node['target'] for node in one['nodes']][:4]}"
        for one in found.response["violations"]
    ]
