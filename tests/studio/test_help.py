"""The glossary: complete, in three languages, found from every term."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import velado
from servers.studio import Studio
from studio import browser_helpers
from velado.studio.words import LANGUAGES, Words, glossary, keys

ROOT = Path(__file__).parents[2]
STUDIO = ROOT / "src" / "velado" / "studio"


@pytest.mark.lint
def test_every_term_has_three_languages_and_leads_to_others_that_exist() -> None:
    for language in LANGUAGES:
        said = Words(language).terms()
        assert len(said) == len(glossary())
        assert all(term.title and term.meaning.endswith((".", "*")) for term in said)
        assert all(other in glossary() for term in said for other in term.see)
        assert len({term.title for term in said}) == len(said), "two entries have the same title"
    named = [name for key, entry in glossary().items() for name in (key, *entry.get("also", ()))]
    assert len(named) == len(set(named)) == len(keys())


@pytest.mark.lint
def test_what_is_translated_differs_from_english() -> None:
    for key in glossary():
        said = {code: Words(code).term(key) for code in LANGUAGES}
        assert len({term.meaning for term in said.values()}) == 3, key


@pytest.mark.lint
def test_everything_that_the_product_names_is_explained() -> None:
    named = {kind: {e["name"] for e in velado.catalog()[kind]} for kind in ("models", "methods", "attacks")}
    assert all(named.values())
    assert {kind: names - set(keys()) for kind, names in named.items() if not names <= set(keys())} == {}


@pytest.mark.lint
def test_the_catalog_is_part_of_it() -> None:
    said = {f"{kind}.{entry['name']}": entry["meaning"] for kind, entries in velado.catalog("pt").items() for entry in entries}
    assert len(said) > 50
    assert {name: meaning for name, meaning in said.items() if Words("pt").term(name).meaning != meaning} == {}


@pytest.mark.lint
def test_pages_name_terms_that_exist() -> None:
    used = {
        (file.name, key)
        for file in (STUDIO / "templates").glob("*.html")
        for key in re.findall(r"""(?:parts\.help\(|\bterm=)["']([a-z0-9-]+)["'] *[,)]""", file.read_text("utf-8"))
    }
    assert {one for one in used if one[1] not in keys()} == set()


@pytest.mark.lint
def test_the_page_of_the_documentation_is_the_glossary() -> None:
    """Otherwise: python docs/write_glossary.py."""
    spec = importlib.util.spec_from_file_location("write_glossary", ROOT / "docs" / "write_glossary.py")
    assert spec is not None
    assert spec.loader is not None
    writer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(writer)
    assert writer.PAGE.read_text("utf-8") == writer.page()


def test_terms_are_searched_and_read(look: Callable[..., Any], studio: Studio) -> None:
    page = look()
    page.goto(f"{studio.address}/help")
    assert page.locator("dl > div").count() == len(glossary())
    page.get_by_role("searchbox").press_sequentially("homog")
    page.wait_for_url("**/help?q=homog")
    page.get_by_text("No such term").wait_for(state="detached")
    shown = page.locator("dl > div dt").all_inner_texts()
    assert "homogeneity attack" in shown
    assert len(shown) < 5
    assert browser_helpers.axe(page) == []
    page.get_by_role("link", name="homogeneity attack").click()
    page.locator("h1", has_text="homogeneity attack").wait_for()
    page.get_by_role("link", name="ℓ-diversity").first.wait_for()
    assert browser_helpers.axe(page) == []


def test_nothing_found_is_said(look: Callable[..., Any], studio: Studio) -> None:
    page = look(language="es")
    page.goto(f"{studio.address}/help?q=zzz<b>")
    page.get_by_role("heading", name="No hay tal término").wait_for()
    assert "zzz<b>" in page.locator("#main").inner_text()
    assert browser_helpers.axe(page) == []
    page.goto(f"{studio.address}/help/no-such-term")
    assert page.locator(".notice").count() >= 1


def test_a_question_mark_explains_its_term(look: Callable[..., Any], studio: Studio) -> None:
    page = look()
    page.goto(f"{studio.address}/design")
    page.get_by_role("button", name="What is k-anonymity?").first.press("Enter")
    page.get_by_role("link", name="More").first.click()
    page.wait_for_url("**/help/k-anonymity")
