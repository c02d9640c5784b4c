"""Hierarchies over HTTP: built from the table, previewed without saving, without values for who may not read records."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

import projects_at_hand as at_hand
from service.inline import Inline
from service.test_sources import API, SECRETS, make, people, ready, share, upload
from velado.service.errors import Forbidden
from velado.service.previews import check_preview
from velado.service.service import Service

Lasting = tuple[Service, Callable[..., TestClient]]
COLUMNS: dict[str, Any] = {
    "name": "identifier",
    "age": {"role": "quasi-identifier", "type": "integer", "hierarchy": {"intervals": [20, 40]}},
    "city": {"role": "quasi-identifier", "hierarchy": {"groups": {"north": ["Bilbao"], "south": ["Sevilla"]}}},
    "diagnosis": {"role": "sensitive", "hierarchy": {"tree": {"lungs": ["Asthma", "Cold", "Flu"], "other": ["Angina", "Lupus"]}}},
}  # fmt: skip


@pytest.fixture(scope="module")
def worker(lasting: Lasting) -> Iterator[Inline]:
    with pytest.MonkeyPatch.context() as patch, Inline(lasting[0], patch) as inline:
        yield inline


@pytest.fixture(scope="module")
def shared(lasting: Lasting, worker: Inline) -> tuple[TestClient, TestClient, str]:
    """An owner, an analyst, and the address of the hierarchies of their project, which no test changes."""
    service, person = lasting
    owner, analyst = person("steward"), person("steward")
    id = make(owner, upload=upload(owner, people()))["id"]
    ready(owner, id)
    roles = {f"u{owner.user_id}": "owner", f"u{analyst.user_id}": "analyst"}  # type: ignore[attr-defined]
    return owner, analyst, f"{API}/projects/{share(service, id, COLUMNS, **roles)}/hierarchies"


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
    assert found["city"]["uncovered"] == 1
    assert not [key for one in masked.values() for key in one if key.startswith(("unused", "uncovered"))]
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


def test_previews_read_no_file_of_others(lasting: Lasting, shared: tuple[TestClient, TestClient, str]) -> None:
    (_, person), (owner, _, place) = lasting, shared
    other = upload(person("steward"), b"Madrid;centre\nBilbao;north\nSevilla;south\n", "cities.csv")
    answer = owner.post(f"{place}/city/preview", json={"description": {"file": f"upload:{other}"}})
    assert (answer.status_code, answer.json()["code"]) == (422, "unknown-reference")
    mine = upload(owner, b"Madrid;centre\nBilbao;north\nSevilla;south\n", "cities.csv")
    assert owner.post(f"{place}/city/preview", json={"description": {"file": f"upload:{mine}"}}).status_code == 200


def test_errors_show_an_analyst_no_values(shared: tuple[TestClient, TestClient, str]) -> None:
    owner, analyst, place = shared
    wrong = {"description": {"intervals": [5]}}
    seen = owner.post(f"{place}/diagnosis/preview", json=wrong)
    assert set(seen.json()["fields"]["values"]) & {"Angina", "Asthma", "Cold", "Flu", "Lupus"}
    told = analyst.post(f"{place}/diagnosis/preview", json=wrong)
    assert (told.status_code, told.json()["code"]) == (422, seen.json()["code"])
    assert not [s for s in (*SECRETS, *seen.json()["fields"]["values"]) if s in told.text]
    assert set(told.json()["fields"]) <= {"path"}


@pytest.mark.parametrize(
    "description",
    [
        {"rows": [["Lupus", "*"]]}, {"tree": {"x": ["Lupus"]}}, {"groups": {"x": ["Lupus"]}}, {"order": ["Lupus", "Flu"]},
        {"file": "upload:0"}, {"frequency": {"least": [2], "name": "Lupus"}}, {"known": "countries"}, {"path": "Lupus"},
        {"path": {"separator": "upu"}}, {"mask": "right", "rows": [["Lupus", "*"]]},
    ],
)  # fmt: skip
def test_an_analyst_does_not_ask_for_values(lasting: Lasting, description: dict[str, Any]) -> None:
    service, person = lasting
    analyst = person("steward")
    project = at_hand.project(service, {at_hand.rows_of(analyst): "analyst"}, {"columns": COLUMNS})
    asked = {"column": "diagnosis", "description": description}
    answer = analyst.post(f"{API}/projects/{project}/hierarchies/diagnosis/preview", json={"description": description})
    wanted = (422, "bad-reference") if "file" in description else (403, "forbidden")
    assert (answer.status_code, answer.json()["code"]) == wanted
    with pytest.raises(Forbidden):
        check_preview({"columns": COLUMNS}, asked)
    # Nor as a job, which would tell the same.
    submitted = analyst.post(f"{API}/jobs", json={"kind": "hierarchy", "project": project, "parameters": asked})
    assert submitted.status_code == 403, submitted.text
    assert analyst.get(f"{API}/jobs").json()["items"] == []


def test_an_analyst_previews_columns_of_the_project(shared: tuple[TestClient, TestClient, str]) -> None:
    owner, analyst, place = shared
    masks = {"description": {"mask": "right"}}
    told = analyst.post(f"{place}/diagnosis/preview", json=masks)
    assert told.status_code == 200, told.text
    assert not {"unused", "uncovered", "uncovered_records"} & set(told.json())
    assert analyst.post(f"{place}/age/preview", json={"description": {"intervals": [10]}}).status_code == 200
    for column in ("name", "elsewhere"):
        assert analyst.post(f"{place}/{column}/preview", json=masks).status_code == 403, column
    assert owner.post(f"{place}/city/preview", json={"description": {"rows": [["Lima", "*"]]}}).json()["unused"] == 1


def test_others_do_not_see_them(lasting: Lasting, shared: tuple[TestClient, TestClient, str]) -> None:
    _, _, place = shared
    stranger = lasting[1]("steward")
    assert stranger.get(place).status_code == 404
    assert stranger.post(f"{place}/age/preview", json={"description": {}}).status_code == 404


def test_values_come_with_their_records_and_what_is_drawn(shared: tuple[TestClient, TestClient, str]) -> None:
    owner, analyst, place = shared
    cities = owner.get(f"{place}/city", params={"values": 100}).json()
    ages = owner.get(f"{place}/age", params={"values": 2, "offset": 1}).json()
    assert len(cities["records"]) == len(cities["rows"]) == cities["total"] == 2
    assert cities["outline"][-1] == [2]
    assert cities["distribution"] is None
    assert sum(ages["distribution"]["records"]) == ages["levels"][-1]["most"]
    assert ages["rows"] == owner.get(f"{place}/age", params={"values": 100}).json()["rows"][1:3]
    tried = owner.post(
        f"{place}/age/preview", json={"description": {"intervals": [10]}, "values": 1, "offset": 1}
    ).json()
    assert [row[0] for row in tried["rows"]] == [ages["rows"][0][0]]
    assert len(owner.get(place, params={"values": 1}).json()["columns"]["age"]["rows"]) == 1
    for told in (analyst.get(f"{place}/age", params={"values": 5}), analyst.get(place, params={"values": 1})):
        assert not [key for key in ("outline", "records", "distribution", "rows") if f'"{key}"' in told.text]


def test_dates_are_tried_in_a_format(lasting: Lasting, worker: Inline) -> None:
    service, person = lasting
    owner, analyst = person("steward"), person("steward")
    id = make(owner, upload=upload(owner, b"day,n\n01/02/2020,1\n03/02/2020,2\n05/06/2021,3\n"))["id"]
    ready(owner, id)
    roles = {f"u{owner.user_id}": "owner", f"u{analyst.user_id}": "analyst"}  # type: ignore[attr-defined]
    columns = {"day": {"role": "quasi-identifier", "type": "date", "format": "%m/%d/%Y"}}
    place = f"{API}/projects/{share(service, id, columns, **roles)}/hierarchies/day/preview"
    months = {"description": {"dates": ["month"]}, "values": 10}
    assert len(owner.post(place, json=months).json()["rows"]) == 3
    assert owner.post(place, json=months).json()["levels"][1]["groups"] == 3
    assert owner.post(place, json={**months, "format": "%d/%m/%Y"}).json()["levels"][1]["groups"] == 2
    # A format can be a value.
    assert analyst.post(place, json={**months, "format": "01/02/2020"}).status_code == 403


def test_a_hierarchy_is_a_file(shared: tuple[TestClient, TestClient, str]) -> None:
    owner, analyst, place = shared
    found = owner.get(f"{place}/diagnosis/file")
    assert found.headers["content-type"].startswith("text/csv")
    assert found.headers["content-disposition"].startswith("attachment")
    rows = owner.get(f"{place}/diagnosis", params={"values": 100}).json()["rows"]
    assert found.text == "".join(";".join(row) + "\n" for row in rows)
    assert owner.get(f"{place}/diagnosis/file", params={"delimiter": ","}).text == found.text.replace(";", ",")
    assert analyst.get(f"{place}/diagnosis/file").status_code == 403
