"""What holds for every page: the way in, languages, themes, what is refused, the design system, budgets."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import pytest

from servers.studio import Studio
from studio import browser_helpers
from velado.i18n.language import LANGUAGES
from velado.studio.request import Form, own_address, templates, with_query
from velado.studio.words import Words, glossary

ASSETS = files("velado.studio").joinpath("assets")
PASSWORD = "three blue herons"
SOURCES = {name: templates().loader.get_source(templates(), name)[0] for name in templates().list_templates()}  # type: ignore[union-attr]


# Without a browser


@pytest.mark.lint
def test_scripts_stay_small() -> None:
    scripts = {file.name: file.read_text() for file in ASSETS.iterdir() if file.name.endswith(".js")}
    assert {"live.js", "chart.js"} <= set(scripts)
    assert sum(len(text.encode()) for text in scripts.values()) <= 80_000
    assert {name for name, text in scripts.items() if text.count("\n") > 300} == set()


POLICY = {
    "inline style or handler": re.compile(r"<[^>]*\s(?:style|on[a-z]+)="),
    "inline script": re.compile(r"<script(?![^>]*(?:\bsrc=|application/json))[^>]*>"),
    "from elsewhere": re.compile(r"""(?:src|href|action)=["']?(?:https?:)?//"""),
}


def offences(text: str) -> list[str]:
    """What the policy forbids and a template has."""
    return [f"{what}: {found}" for what, forbidden in POLICY.items() for found in forbidden.findall(text)]


@pytest.mark.lint
def test_templates_obey_the_policy() -> None:
    """No inline style, script or handler; nothing from elsewhere."""
    assert len(SOURCES) > 50
    assert [f"{name}: {what}" for name, text in SOURCES.items() for what in offences(text)] == []
    forbidden = (
        "<b style='x'>",
        "<b onclick='x'>",
        "<script>",
        "<script type='module'>",
        "<img src='https://x'>",
        '<a href="//x">',
    )
    assert [text for text in forbidden if len(offences(text)) != 1] == []
    allowed = ("<script src='x'>", "<script type='application/json'>", "<a href='/x'>", "<b>one style=x</b>")
    assert [text for text in allowed if offences(text)] == []


@pytest.mark.lint
def test_colours_stand_in_the_tokens_only() -> None:
    styles = {file.name: file.read_text() for file in ASSETS.iterdir() if file.name.endswith(".css")}
    raw = re.compile(r"#[0-9a-fA-F]{3,8}\b(?![^{}]*\{)|\brgba?\(|\bhsla?\(")
    assert {name: raw.findall(text) for name, text in styles.items() if name != "tokens.css" and raw.search(text)} == {}


@pytest.mark.lint
def test_every_term_that_is_explained_is_in_the_glossary() -> None:
    used = {key for text in SOURCES.values() for key in re.findall(r"""(?:help\(|term=)["']([a-z][a-z-]*[a-z])["']""", text)}
    assert len(used) > 20
    assert used - set(glossary()) == set()
    for code in LANGUAGES:
        assert all(Words(code).term(key).title and Words(code).term(key).meaning for key in glossary())


def test_forms_and_addresses() -> None:
    form = Form([("a", " 1 "), ("a", "2"), ("b.x", "3")])
    assert (form.text("a"), form.all("a"), form.under("b"), "c" in form) == ("2", [" 1 ", "2"], {"x": "3"}, False)
    assert with_query("/x?a=1&b=2", a=None, c="ñ") == "/x?b=2&c=%C3%B1"
    outside = ("https://x.example", "//x.example", "/\\x.example", "javascript:alert(1)", "x", "", "/a\nb")
    assert [own_address(address) for address in (*outside, "/projects?x=1")] == ["/"] * len(outside) + ["/projects?x=1"]


# With a browser


@pytest.mark.quick
def test_signing_in_leads_where_one_wanted_to_go(look: Callable[..., Any], studio: Studio) -> None:
    from velado.service.accounts import users

    with studio.service.store.writing() as db:
        users.create(db, "berta", ("steward",), password=PASSWORD)
    page = look("", language="es")
    page.goto(f"{studio.address}/projects?after=x")
    assert page.url.startswith(f"{studio.address}/sign-in?next=")
    assert page.locator("h1").inner_text() == "Iniciar sesión"
    page.fill("#name", "berta")
    page.fill("#password", "not this one")
    page.keyboard.press("Enter")
    page.wait_for_selector(".notice.bad")
    assert "contraseña" in page.locator(".notice.bad").inner_text()
    assert browser_helpers.axe(page) == []
    page.fill("#name", "berta")
    page.fill("#password", PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{studio.address}/projects?after=x")
    page.goto(f"{studio.address}/account")
    page.get_by_role("button", name="Cerrar sesión").click()
    page.wait_for_url(f"{studio.address}/sign-in")
    page.goto(f"{studio.address}/projects")
    assert "/sign-in" in page.url


def test_language_and_theme_are_kept(look: Callable[..., Any], studio: Studio) -> None:
    page = look("carla")
    page.goto(studio.address)
    page.select_option("#choose-language", "pt")
    page.wait_for_selector("html[lang=pt]")
    page.goto(f"{studio.address}/account")
    assert page.locator("h1").inner_text() == "Sua conta"
    page.get_by_text("escuro").click()
    page.get_by_role("button", name="Salvar").first.click()
    page.wait_for_selector("html[data-theme=dark]")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == "rgb(18, 22, 29)"


def test_what_does_not_exist_is_told_on_a_page(look: Callable[..., Any], studio: Studio) -> None:
    page = look("ana", language="pt")
    for address in ("/nowhere", f"/projects/{'0' * 24}/columns", "/static/x/nothing.css"):
        answer = page.goto(studio.address + address)
        assert answer.status == 404
    page.goto(f"{studio.address}/nowhere")
    assert page.locator("h1").inner_text() == "Não existe essa página, ou ela não é sua"
    assert browser_helpers.axe(page) == []


def test_the_design_system_is_shown(look: Callable[..., Any], studio: Studio) -> None:
    page = look("ana")
    page.goto(f"{studio.address}/design")
    page.locator("velado-chart").scroll_into_view_if_needed()
    page.wait_for_selector("velado-chart[data-drawn] svg")
    page.get_by_role("button", name="What is k-anonymity?").first.click()
    page.locator("[popover]:popover-open").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Open").click()
    page.locator("dialog[open]").wait_for()
    page.keyboard.press("Escape")
    page.fill("#d-slide-number", "42")
    assert page.input_value("#d-slide") == "42"
    assert browser_helpers.axe(page) == []


def test_forged_forms_are_refused(look: Callable[..., Any], studio: Studio, api: Any, hospital: dict[str, str]) -> None:
    page = look()
    address = f"{studio.address}/projects/{hospital['project']}/undo"
    for headers in ({}, {"Origin": "https://elsewhere.example"}):
        answer = page.request.post(address, form={"csrf": "0" * 64}, headers=headers)
        assert answer.status == 403
    version = api.get(f"/projects/{hospital['project']}")["version"]
    assert version == 2
