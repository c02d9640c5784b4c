"""Accounts, tokens, members and administration, as people use them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from servers.studio import Studio, until
from studio import browser_helpers


def test_an_administrator_lets_somebody_in(look: Callable[..., Any], studio: Studio) -> None:
    """A user is made, gets a link, sets a password, is given another role, and is locked out."""
    root = look("root", "administrator")
    root.goto(f"{studio.address}/administration")
    assert root.url.endswith("/administration/users")
    root.fill("#user-name", "norberta")
    root.get_by_role("button", name="Make the user").click()
    address = root.locator("#link-text").inner_text()
    assert browser_helpers.axe(root) == []
    norberta = look("")
    norberta.goto(address)
    norberta.fill("#password", "short")
    norberta.get_by_role("button").last.click()
    norberta.wait_for_selector(".notice.bad")
    norberta.fill("#password", "seven green llamas")
    norberta.get_by_role("button", name="Set it and sign in").click()
    norberta.wait_for_url(f"{studio.address}/")
    norberta.goto(f"{studio.address}/administration/users")
    assert norberta.locator("h1").inner_text() == "You may not do this"
    root.goto(f"{studio.address}/administration/users")
    row = root.locator("tr", has_text="norberta")
    row.get_by_label("auditor (norberta)").check()
    root.wait_for_selector("#said .notice")
    row.get_by_role("button", name="Lock out (norberta)").click()
    root.wait_for_selector("tr:has-text('norberta') .badge:has-text('not active')")
    norberta.goto(f"{studio.address}/projects")
    assert "/sign-in" in norberta.url


def test_groups_settings_storage_jobs_and_the_log(
    look: Callable[..., Any], studio: Studio, api: Any, hospital: dict[str, str]
) -> None:
    api.post("/sources", {"name": "Newest", "sample": "hospital", "rows": 40})
    root = look("root", "administrator")
    root.goto(f"{studio.address}/administration/groups")
    root.fill("#group-name", "Ward")
    root.get_by_role("button", name="Make the group").click()
    root.wait_for_selector("h2:has-text('Ward')")
    root.get_by_label("Name of a user").fill("ana")
    root.get_by_role("button", name="Add (Ward)").click()
    root.wait_for_selector("li:has-text('ana')")
    root.goto(f"{studio.address}/administration/settings")
    root.fill("#set-retention_days", "12")
    root.get_by_role("button", name="Save").click()
    root.wait_for_selector("tr:has-text('uploads are deleted') .badge")
    root.fill("#set-retention_days", "many")
    root.get_by_role("button", name="Save").click()
    root.wait_for_selector("#refused[open]")
    assert "retention_days" in root.locator("#refused").inner_text()
    root.keyboard.press("Escape")
    assert root.input_value("#set-retention_days") == "many"
    for section, shown in (("storage", "ana"), ("jobs", "Looking at a table"), ("audit?verify=true", "The chain is whole")):
        root.goto(f"{studio.address}/administration/{section}")
        assert shown in root.locator("#main").inner_text()
        assert browser_helpers.axe(root) == []
    root.fill("#action", "settings")
    root.get_by_role("button", name="Search").click()
    root.wait_for_url("**action=settings**")
    actions = root.locator("tbody td:nth-child(4)").all_inner_texts()
    assert set(actions) == {"settings.changed"}
    # An administrator sees that there is a project of somebody, and no record of it.
    assert root.goto(f"{studio.address}/projects/{hospital['project']}/data").status == 404


def test_an_auditor_sees_the_log_only(look: Callable[..., Any], studio: Studio) -> None:
    page = look("aldo", "auditor")
    page.goto(f"{studio.address}/administration")
    assert page.url.endswith("/administration/audit")
    assert page.locator(".tabs a").all_inner_texts() == ["Audit log"]


def test_tokens_are_shown_once(look: Callable[..., Any], studio: Studio) -> None:
    from velado.client import Client

    page = look("tina", "steward")
    page.goto(f"{studio.address}/account")
    page.fill("#token-name", "pipeline")
    page.get_by_role("button", name="Make the token").click()
    token = page.locator("#token-text").inner_text()
    with Client(studio.address, token) as client:
        assert client.get("/session")["name"] == "tina"
        page.goto(f"{studio.address}/account")
        assert token not in page.content()
        page.get_by_role("button", name="Revoke pipeline").click()
        page.wait_for_selector("#said .notice")
        with pytest.raises(Exception, match="sign"):
            client.get("/session")
    assert browser_helpers.axe(page) == []


def test_members_come_and_go(look: Callable[..., Any], studio: Studio, api: Any, hospital: dict[str, str]) -> None:
    project = api.post("/projects", {"name": "Shared", "copy_of": hospital["project"]})["id"]
    studio.user("ottokar", "steward")
    page = look()
    page.goto(f"{studio.address}/projects/{project}/members")
    page.fill("#member-name", "ottokar")
    page.get_by_role("button", name="Add", exact=True).click()
    page.wait_for_selector("td:has-text('otto')")
    page.get_by_label("Role of ottokar").select_option("editor")
    wanted = {"ana": "owner", "ottokar": "editor"}
    members = f"/projects/{project}/members"
    until(lambda: {m["name"]: m["role"] for m in api.get(members)["items"]} == wanted)
    page.fill("#member-name", "nobody of this name")
    page.get_by_role("button", name="Add", exact=True).click()
    page.wait_for_selector("#refused[open]")
    page.keyboard.press("Escape")
    page.fill("#secret", "ward")
    page.get_by_role("button", name="Keep the key").click()
    page.wait_for_selector("td:has-text('ward')")
    assert [s["name"] for s in api.get(f"/projects/{project}/secrets")["items"]] == ["ward"]
    page.get_by_role("button", name="Take out ottokar").click()
    page.wait_for_selector("td:has-text('otto')", state="detached")
    assert browser_helpers.axe(page) == []
