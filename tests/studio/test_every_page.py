"""Every page in Chromium, in two languages, light and dark, wide and narrow: no English left, nothing that axe or the policy minds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from servers.studio import Studio
from studio import browser_helpers
from studio.page_addresses import ADDRESSES, NOT_SPEECH, address_of, visitor
from test_speech import english
from velado.studio.views.steps import STEPS

LOOKS = (("es", 1280, False), ("pt", 390, True))
TEXTS = """(no_speech) => {
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
    while (walk.nextNode()) {
        const parent = walk.currentNode.parentElement, text = walk.currentNode.data.trim();
        if (text && !parent.closest(no_speech)) found.push(text);
    }
    for (const e of document.querySelectorAll("[aria-label], [title], [placeholder]"))
        for (const a of ["aria-label", "title", "placeholder"]) if (e.hasAttribute(a) && !e.closest("[aria-hidden=true]")) found.push(e.getAttribute(a));
    return found;
}"""

Pages = Callable[..., browser_helpers.Watch]


@pytest.fixture(scope="module")
def pages(windows: browser_helpers.Windows) -> Iterator[Pages]:
    """One page for each look and visitor, in which all addresses are opened one after the other."""
    opened: dict[tuple[Any, ...], browser_helpers.Watch] = {}

    def page_of(name: str, role: str, language: str, width: int, dark: bool) -> browser_helpers.Watch:
        key = (name, language)
        if key not in opened:
            page = windows.open(name, role, language=language, width=width, dark=dark)
            opened[key] = browser_helpers.Watch(page, windows.studio.address)
        return opened[key]

    yield page_of
    for watch in opened.values():
        windows.close(watch.page)


@pytest.mark.parametrize("path", ADDRESSES)
def test_every_page(path: str, pages: Pages, studio: Studio, ids: dict[str, str]) -> None:
    for language, width, dark in LOOKS:
        watch = pages(*visitor(path), language, width, dark)
        page = watch.page
        answer = page.goto(studio.address + address_of(path, ids))
        assert answer.status == 200, path
        browser_helpers.still(page)
        assert page.locator("html").get_attribute("lang") == language
        said = page.evaluate(TEXTS, ", ".join(NOT_SPEECH))
        assert {text: found for text in said if (found := english(text, language))} == {}
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        browser_helpers.still(page)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        if path.removeprefix("/projects/{id}/") in STEPS:
            here = page.locator(".steps [aria-current=step]").bounding_box()
            assert 0 <= here["x"] < width
        assert browser_helpers.axe(page) == []
        assert watch.wrong == []
