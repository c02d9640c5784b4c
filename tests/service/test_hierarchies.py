"""Hierarchies over HTTP: built from the table, previewed without saving, without values for who may not read records."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select

import stored_projects as at_hand
from service.inline_worker import Inline
from service.test_sources import API, SECRETS, make, people, ready, share, upload
from velado.service.service import Service
from velado.service.store.tables import AuditLine, Job, JobLine, Project, Version

Lasting = tuple[Service, Callable[..., TestClient]]
COLUMNS: dict[str, Any] = {
    "name": "identifier",
    "age": {"role": "quasi-identifier", "type": "integer", "hierarchy": {"intervals": [20, 40]}},
    "city": {"role": "quasi-identifier", "hierarchy": {"groups": {"north": ["Bilbao"], "south": ["Sevilla"]}}},
    "diagnosis": {"role": "sensitive", "hierarchy": {"tree": {"lungs": ["Asthma", "Cold", "Flu"], "other": ["Angina", "Lupus"]}}},
}


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
    assert masked["diagnosis"] == {"column": "diagnosis"}
    assert masked["age"]["levels"][0]["fewest"] == "fewer than 3"
    assert analyst.get(f"{place}/diagnosis", params={"values": 100}).json().get("rows") is None


def test_a_page_that_is_looked_at_again_writes_nothing(lasting: Lasting, shared: tuple[TestClient, TestClient, str]) -> None:
    (service, _), (owner, analyst, place) = lasting, shared
    project = place.removesuffix("/hierarchies")
    addresses = (place, f"{place}/age", f"{project}/checks", f"{project}/singled-out", project, f"{project}/versions/1")
    answers = [[who.get(one).json() for one in addresses] for who in (owner, analyst)]
    with service.store.reading() as db:
        job = db.scalars(select(Job.id).where(Job.project_id == project.rpartition("/")[2])).first()
    result = owner.get(f"{API}/jobs/{job}/result").json()

    def written() -> list[int]:
        with service.store.reading() as db:
            return [db.scalar(select(func.count()).select_from(table)) or 0 for table in (Job, JobLine, AuditLine, Version)]

    before = written()
    assert [[who.get(one).json() for one in addresses] for who in (owner, analyst)] == answers
    assert owner.get(f"{API}/jobs/{job}/result").json() == result
    assert written() == before


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


@pytest.mark.parametrize("file", ["/etc/passwd", "../../studio.key", "upload:../../studio.key", "https://evil.example/x.csv"])
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


def test_errors_show_an_analyst_no_values(lasting: Lasting, shared: tuple[TestClient, TestClient, str]) -> None:
    (service, _), (owner, analyst, place) = lasting, shared
    seen = owner.post(f"{place}/diagnosis/preview", json={"description": {"intervals": [5]}}).json()
    assert set(seen["fields"]["values"]) & {"Angina", "Asthma", "Cold", "Flu", "Lupus"}
    with service.store.reading() as db:
        source = db.get(Project, place.split("/")[-2]).document["source"]["source"]  # type: ignore[union-attr]
    columns = {**COLUMNS, "diagnosis": {"role": "sensitive", "hierarchy": {"intervals": [5]}}}
    roles = {f"u{owner.user_id}": "owner", f"u{analyst.user_id}": "analyst"}  # type: ignore[attr-defined]
    wrong = f"{API}/projects/{share(service, source, columns, **roles)}/hierarchies"
    told = analyst.get(wrong)
    assert told.json()["columns"]["diagnosis"] == {"problem": {"code": seen["code"], "column": "diagnosis"}}
    one = analyst.get(f"{wrong}/diagnosis")
    assert (one.status_code, one.json()["code"]) == (422, seen["code"])
    assert not [s for s in (*SECRETS, *seen["fields"]["values"]) if s in told.text + one.text]
    assert set(one.json()["fields"]) <= {"path"}


@pytest.mark.parametrize("column", ["age", "diagnosis"])
@pytest.mark.parametrize(
    "asked",
    [
        {"description": {"rows": [["Lupus", "*"]]}},
        {"description": {"tree": {"x": ["Lupus"]}}},
        {"description": {"groups": {"x": ["Lupus"]}}},
        {"description": {"order": ["Lupus", "Flu"]}},
        {"description": {"frequency": {"least": [2], "name": "Lupus"}}},
        {"description": {"known": "countries"}},
        {"description": {"path": "/"}},
        {"description": {"mask": "right"}},
        {"description": {"prefix": [3]}},
        {"description": {"dates": ["month"]}},
        {"description": {"intervals": [10]}},
        {"description": {"intervals": {"cuts": [[4096.5]]}}},
        {"description": {"intervals": {"widths": [10], "origin": 3}}},
        {"format": "01/02/2020"},
        {"description": {"mask": "right"}, "format": "%Y"},
    ],
    ids=str,
)
def test_an_analyst_does_not_ask_for_values(lasting: Lasting, column: str, asked: dict[str, Any]) -> None:
    service, person = lasting
    analyst = person("steward")
    project = at_hand.project(service, {at_hand.rows_of(analyst): "analyst"}, {"columns": COLUMNS})
    if "description" in asked:
        answer = analyst.post(f"{API}/projects/{project}/hierarchies/{column}/preview", json=asked)
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
    # Nor as a job, which would tell the same.
    body = {"kind": "hierarchy", "project": project, "parameters": {"column": column, **asked}}
    submitted = analyst.post(f"{API}/jobs", json=body)
    assert submitted.status_code == 403, submitted.text
    old = at_hand.job(service, "hierarchy", project, at_hand.rows_of(analyst), state="failed", parameters=body["parameters"])
    assert analyst.post(f"{API}/jobs/{old}/retry").status_code == 403
    with service.store.reading() as db:
        assert list(db.scalars(select(Job.id).where(Job.project_id == project))) == [old]


def test_an_analyst_does_not_ask_who_is_in_the_table(lasting: Lasting) -> None:
    service, person = lasting
    analyst = person("steward")
    project = at_hand.project(service, {at_hand.rows_of(analyst): "analyst"}, {"columns": COLUMNS})
    release = at_hand.release(service, project, at_hand.rows_of(analyst))
    guesses = make(analyst, upload=upload(analyst, b"who,age\nZeferina,30\n"))["id"]
    # Links are told right or wrong by the original: a table of one name would ask whether it is there.
    body = {"kind": "attack", "release": release, "parameters": {"external": guesses, "identity": "name"}}
    assert analyst.post(f"{API}/jobs", json=body).status_code == 403
    del body["parameters"]["identity"]  # type: ignore[attr-defined]
    assert analyst.post(f"{API}/jobs", json=body).status_code == 202


def test_an_analyst_sees_what_is_saved(shared: tuple[TestClient, TestClient, str]) -> None:
    owner, analyst, place = shared
    assert analyst.get(f"{place}/age").json()["levels"][-1]["groups"] == 1
    assert analyst.get(f"{place}/diagnosis").json() == {"column": "diagnosis"}
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
    tried = owner.post(f"{place}/age/preview", json={"description": {"intervals": [10]}, "values": 1, "offset": 1}).json()
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


def test_a_hierarchy_as_a_file_has_no_formulas(lasting: Lasting, worker: Inline) -> None:
    service, person = lasting
    owner = person("steward")
    id = make(owner, upload=upload(owner, b"x,n\n=1+1,1\n@cmd,2\n-5,3\nflu,4\n"))["id"]
    ready(owner, id)
    columns = {"x": {"role": "quasi-identifier", "hierarchy": {"frequency": [1]}}}
    project = share(service, id, columns, **{f"u{owner.user_id}": "owner"})  # type: ignore[attr-defined]
    place = f"{API}/projects/{project}/hierarchies/x/file"
    first = [{line.split(";")[0] for line in owner.get(place, params=given).text.split()} for given in ({}, {"guard": False})]
    assert first == [{"'=1+1", "'@cmd", "-5", "flu"}, {"=1+1", "@cmd", "-5", "flu"}]
