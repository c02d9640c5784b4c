"""Hierarchies over HTTP: built from the table, previewed without saving, without values for who may not read records."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from service.inline import Inline
from service.test_sources import API, SECRETS, make, people, ready, share, upload
from velado.service.service import Service

People = Callable[..., TestClient]
COLUMNS: dict[str, Any] = {
    "name": "identifier",
    "age": {"role": "quasi-identifier", "type": "integer", "hierarchy": {"intervals": [20, 40]}},
    "city": {"role": "quasi-identifier", "hierarchy": {"groups": {"north": ["Bilbao"], "south": ["Sevilla"]}}},
    "diagnosis": {"role": "sensitive", "hierarchy": {"tree": {"lungs": ["Asthma", "Cold", "Flu"], "other": ["Angina", "Lupus"]}}},
}  # fmt: skip
pytestmark = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)


@pytest.fixture
def shared(
    service: Service, person: People, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[TestClient, TestClient, str]]:
    """An owner, an analyst, and the address of the hierarchies of their project."""
    owner, analyst = person("steward"), person("steward")
    with Inline(service, monkeypatch):
        id = make(owner, upload=upload(owner, people()))["id"]
        ready(owner, id)
        roles = {f"u{owner.user_id}": "owner", f"u{analyst.user_id}": "analyst"}  # type: ignore[attr-defined]
        yield owner, analyst, f"{API}/projects/{share(service, id, COLUMNS, **roles)}/hierarchies"


def test_all_columns(shared: tuple[TestClient, TestClient, str]) -> None:
    owner, analyst, place = shared
    found = owner.get(place).json()["columns"]
    assert set(found) == {"age", "city", "diagnosis"}
    assert [level["groups"] for level in found["age"]["levels"]][-1] == 1
    assert found["city"]["uncovered_values"] == ["Madrid"]
    told = analyst.get(place)
    assert told.status_code == 200, told.text
    assert not [s for s in SECRETS if s in told.text]
    masked = told.json()["columns"]
    assert masked["city"]["uncovered"] == 1
    assert "Madrid" not in json.dumps(masked["city"].get("uncovered_values", ""))
    assert "examples" not in masked["diagnosis"]["levels"][0]
    assert masked["age"]["levels"][0]["fewest"] == "fewer than 3"
    assert analyst.get(f"{place}/diagnosis", params={"values": 100}).json().get("rows") is None


def test_one_column_with_its_values(shared: tuple[TestClient, TestClient, str]) -> None:
    owner, _, place = shared
    found = owner.get(f"{place}/diagnosis", params={"values": 100}).json()
    assert "Lupus" in json.dumps(found["rows"])
    hidden = owner.get(f"{place}/name")
    assert (hidden.status_code, hidden.json()["code"]) == (422, "identifier")
    assert owner.get(f"{place}/nothing'; --").json()["code"] == "unknown-column"


def test_previews_are_not_saved(shared: tuple[TestClient, TestClient, str]) -> None:
    owner, _, place = shared
    before = owner.get(place).json()
    preview = owner.post(f"{place}/age/preview", json={"description": {"intervals": [10, 50]}})
    assert preview.status_code == 200, preview.text
    assert [level["groups"] for level in preview.json()["levels"]] != [
        level["groups"] for level in before["columns"]["age"]["levels"]
    ]
    assert owner.get(place).json() == before
    wrong = owner.post(f"{place}/age/preview", json={"description": {"nothing": 1}})
    assert wrong.status_code == 422


@pytest.mark.parametrize(
    "file", ["/etc/passwd", "../../studio.key", "upload:../../studio.key", "https://evil.example/x.csv"]
)
def test_previews_read_no_file_of_the_server(shared: tuple[TestClient, TestClient, str], file: str) -> None:
    owner, _, place = shared
    answer = owner.post(f"{place}/city/preview", json={"description": {"file": file}})
    assert (answer.status_code, answer.json()["code"]) == (422, "bad-reference")
    assert "root:" not in answer.text


def test_previews_read_no_file_of_others(shared: tuple[TestClient, TestClient, str], person: People) -> None:
    owner, _, place = shared
    other = upload(person("steward"), b"Madrid;centre\nBilbao;north\nSevilla;south\n", "cities.csv")
    answer = owner.post(f"{place}/city/preview", json={"description": {"file": f"upload:{other}"}})
    assert (answer.status_code, answer.json()["code"]) == (422, "unknown-reference")
    mine = upload(owner, b"Madrid;centre\nBilbao;north\nSevilla;south\n", "cities.csv")
    assert owner.post(f"{place}/city/preview", json={"description": {"file": f"upload:{mine}"}}).status_code == 200


def test_others_do_not_see_them(shared: tuple[TestClient, TestClient, str], person: People) -> None:
    _, _, place = shared
    stranger = person("steward")
    assert stranger.get(place).status_code == 404
    assert stranger.post(f"{place}/age/preview", json={"description": {}}).status_code == 404
