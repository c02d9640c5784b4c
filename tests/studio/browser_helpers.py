"""A real Chromium that looks at Studio, and what must hold for every page that it sees."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from servers.studio import WAIT as SECONDS
from servers.studio import Studio

WAIT = SECONDS * 1000
AXE = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    # What is right about a page is not written down.
    "resultTypes": ["violations"],
}
STILL = """() => {
    const away = (one) => { const {top, bottom} = one.getBoundingClientRect(); return !one.checkVisibility() || top > innerHeight || bottom <= 0; };
    return document.readyState === "complete" && !document.body.classList.contains("busy")
        && !document.querySelector("[data-load], [aria-busy=true], :not(:defined), velado-lattice:not([data-drawn])")
        && [...document.querySelectorAll("velado-chart:not(:has(svg))")].every(away);
}"""
"""Everything is loaded, parts that come later too, charts in sight are drawn, and nothing is on its way."""
STAY = """{ const usual = setTimeout; window.setTimeout = (what, after, ...more) => (after === 6000 ? 0 : usual(what, after, ...more)); }"""
"""What a page says goes after six seconds: on a busy machine before anybody has looked."""


def chromium() -> str | None:
    """Where the browser is."""
    named = os.environ.get("VELADO_CHROMIUM")
    return named or next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@contextmanager
def browser() -> Iterator[Any]:
    """A browser without a window. Whatever it waits for may take its time."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=WAIT)
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"])
        yield found
        found.close()


class Windows:
    """Windows of a browser, one for each look. They are used again: what a page has loaded is there, nothing else of it is."""

    def __init__(self, browser: Any, studio: Studio) -> None:
        self.browser, self.studio = browser, studio
        self._free: dict[tuple[Any, ...], list[Any]] = {}
        self._how: dict[Any, tuple[Any, ...]] = {}

    def open(
        self, name: str = "ana", *roles: str, language: str = "en", width: int = 1280, dark: bool = False, scripts: bool = True
    ) -> Any:
        """An empty page of somebody who has signed in, and who is made if there is none; without a name nobody has signed in."""
        how = (language, width, dark, scripts)
        free = self._free.setdefault(how, [])
        context = free.pop() if free else self._new(*how)
        self._how[context] = how
        for key, value in self.studio.cookies(name, *roles).items() if name else ():
            context.add_cookies([{"name": key, "value": value, "url": self.studio.address}])
        return context.new_page()

    def close(self, page: Any) -> None:
        """Close a page, and whatever else was opened beside it."""
        context = page.context
        if page.url.startswith("http"):
            page.evaluate("localStorage.clear()")
        for one in context.pages:
            one.close()
        context.unroute_all()
        context.clear_cookies()
        self._free[self._how[context]].append(context)

    def _new(self, language: str, width: int, dark: bool, scripts: bool) -> Any:
        made = self.browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if dark else "light",
            locale=language,
            java_script_enabled=scripts,
        )
        made.set_default_timeout(WAIT)
        made.add_init_script(STAY)
        return made


class Watch:
    """What a page does that it must not: requests to elsewhere, violations of the policy, errors of scripts."""

    def __init__(self, page: Any, address: str) -> None:
        self.page = page
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
        if "content security policy" in message.text.lower().replace("-", " "):
            self.wrong.append(f"policy: {message.text}")


def still(page: Any) -> None:
    """Wait until nothing is on its way."""
    page.wait_for_function(STILL)


def axe(page: Any) -> list[str]:
    """What axe finds wrong with a page as it is shown now: WCAG 2.2 A and AA, and good practice."""
    from axe_playwright_python.base import AXE_SCRIPT

    # The sticky bar covers what is scrolled below it: that is no finding.
    page.evaluate("scrollTo(0, 0)")
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    found = page.evaluate("(options) => axe.run(options)", AXE)
    return [f"{one['id']}: {one['help']}: {[node['target'] for node in one['nodes']][:4]}" for one in found["violations"]]
