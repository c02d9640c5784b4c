"""Releases: who sees what of them, who downloads them, approval, withdrawal, reports."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

import stored_projects as at_hand
from velado.service.access.permissions import PROJECT_ROLES
from velado.service.releases import rows as release_rows
from velado.service.service import Service
from velado.service.store.tables import AuditLine, ChangedSetting, Job, Project, Release

Person = Callable[..., TestClient]
API = "/api/v1"


class People:
    """One person for every role of a project that has a release, and an auditor."""

    def __init__(self, service: Service, person: Person) -> None:
        self.service = service
        self.of = {role: person("steward") for role in PROJECT_ROLES}
        self.of |= {"auditor": person("auditor"), "stranger": person("steward")}
        self.ids = {role: at_hand.rows_of(client) for role, client in self.of.items()}
        self.project = at_hand.project(service, {self.ids[role]: role for role in PROJECT_ROLES})
        self.id = at_hand.release(service, self.project, self.ids["owner"])
        self.address = f"{API}/releases/{self.id}"

    def get(self, role: str, path: str = "", **params: Any) -> Any:
        return self.of[role].get(f"{self.address}{path}", params=params)

    def approval(self) -> None:
        """A second person must approve from now on."""
        at_hand.add(self.service, ChangedSetting(name="approval", value=True))

    def audited(self) -> list[tuple[str, str, dict[str, Any]]]:
        with self.service.store.reading() as db:
            lines = db.scalars(select(AuditLine).order_by(AuditLine.number))
            return [(line.action, line.subject, line.detail) for line in lines]


@pytest.fixture
def people(service: Service, person: Person) -> People:
    return People(service, person)


@pytest.mark.both_stores
def test_everybody_in_the_project_and_auditors_see_a_release(people: People) -> None:
    for role in (*PROJECT_ROLES, "auditor"):
        entry = people.get(role).json()
        assert (entry["id"], entry["state"], entry["summary"]["released"]) == (people.id, "made", 98), role
        assert entry["summary"]["notes"] == [{"code": "x", "message": "a note"}]
        assert entry["downloadable"] is (role != "auditor")
        for path in (f"{API}/releases", f"{API}/projects/{people.project}/releases"):
            assert [r["id"] for r in people.of[role].get(path).json()["items"]] == [people.id]
        assert people.get(role, "/manifest").json() == at_hand.MANIFEST
        assert people.get(role, "/evaluation", language="pt").json()["notes"][0]["message"] == "uma nota"
    assert people.get("stranger").status_code == 404
    assert people.of["stranger"].get(f"{API}/releases").json()["items"] == []


def test_an_auditor_gets_no_data_and_no_document(people: People) -> None:
    for path in ("/data", "/rows", "/classes"):
        assert people.get("auditor", path).status_code == 403, path
    assert people.of["auditor"].get(f"{API}/projects/{people.project}").status_code == 403
    assert people.get("auditor", "/evaluation", private=True).status_code == 403


def test_private_figures_are_for_owners_and_editors(people: People) -> None:
    for role in PROJECT_ROLES:
        allowed = role in ("owner", "editor")
        for path, found in (("/evaluation", {"secret": 1}), ("/manifest", {"private": 1})):
            answer = people.get(role, path, private=True)
            assert answer.status_code == (200 if allowed else 403), role
            assert not allowed or answer.json() == found
    read = [detail["what"] for action, subject, detail in people.audited() if action == "release.private"]
    assert read == ["evaluation", "manifest"] * 2


def test_distributions_are_told_like_reports_and_whole_ones_to_owners_and_editors(people: People) -> None:
    for role in (*PROJECT_ROLES, "auditor"):
        found = people.get(role, "/distributions").json()
        assert (found["records"], found["sizes"]) == (100, at_hand.SHAPE["sizes"]), role
        assert found["answers"]["age"][0]["after"] == {"kind": "label", "number": None, "label": "30-39", "records": 2}
        answer = people.get(role, "/distributions", private=True)
        assert answer.status_code == (200 if role in ("owner", "editor") else 403), role
    assert people.get("owner", "/distributions", private=True).json()["records"] == 102
    assert people.get("stranger", "/distributions").status_code == 404
    assert [detail for action, _, detail in people.audited() if action == "release.private"] == [{"what": "distributions"}] * 3
    people.approval()
    told = {role: people.get(role, "/distributions").status_code for role in (*PROJECT_ROLES, "auditor")}
    assert told == {"owner": 200, "editor": 200, "analyst": 200, "approver": 200, "reader": 409, "auditor": 200}


def test_data_are_a_stream_with_a_safe_name_and_a_line_in_the_log(people: People) -> None:
    with people.service.store.writing() as db:
        db.get_one(Project, people.project).name = 'Ñu "x"\r\nSet-Cookie: a=b/../..\\'
    answer = people.get("reader", "/data")
    assert answer.content == at_hand.DATA
    assert answer.headers["content-type"].startswith("text/csv")
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["content-length"] == str(len(at_hand.DATA))
    said = answer.headers["content-disposition"]
    assert said.startswith("attachment; filename=")
    assert "filename*=UTF-8''" in said
    assert said.isascii()
    assert "set-cookie" not in answer.headers
    assert people.audited() == [("release.download", people.id, {"bytes": len(at_hand.DATA), "project": people.project})]


@pytest.mark.both_stores
def test_with_approval_only_what_is_approved_is_given_out(people: People) -> None:
    people.approval()
    answer = people.get("reader", "/data")
    assert (answer.status_code, answer.json()["code"]) == (409, "not-approved")
    assert people.get("owner", "/data").status_code == 409
    assert people.get("reader").json()["downloadable"] is False
    assert people.get("reader", "/rows").status_code == people.get("reader", "/classes").status_code == 409
    assert people.get("owner", "/rows").status_code == people.get("analyst", "/classes").status_code == 200
    judged = people.of["approver"].post(f"{people.address}/approve").json()
    assert (judged["state"], judged["downloadable"]) == ("approved", True)
    assert people.get("reader", "/data").content == at_hand.DATA
    again = people.of["approver"].post(f"{people.address}/approve")
    assert (again.status_code, again.json()["code"]) == (409, "release-judged")
    assert ("release.approve", people.id, {"project": people.project}) in people.audited()


@pytest.mark.both_stores
def test_who_made_a_release_does_not_approve_it(people: People) -> None:
    own = at_hand.release(people.service, people.project, people.ids["approver"])
    answer = people.of["approver"].post(f"{API}/releases/{own}/approve")
    assert (answer.status_code, answer.json()["code"]) == (403, "own-release")
    # Also if the release says nothing of who made it, but the job does.
    with people.service.store.writing() as db:
        db.get_one(Release, own).user_id = people.ids["owner"]
    assert people.of["approver"].post(f"{API}/releases/{own}/approve").status_code == 403
    for role in ("owner", "editor", "analyst", "reader", "auditor"):
        assert people.of[role].post(f"{people.address}/approve").status_code == 403, role


@pytest.mark.both_stores
def test_a_withdrawn_release_is_nobodys(people: People) -> None:
    assert people.of["editor"].post(f"{people.address}/withdraw").status_code == 403
    answer = people.of["owner"].post(f"{people.address}/withdraw").json()
    assert (answer["state"], answer["notes"]) == ("withdrawn", [])
    for role in PROJECT_ROLES:
        refused = people.get(role, "/data")
        assert (refused.status_code, refused.json()["code"]) == (409, "release-withdrawn"), role
        assert people.get(role, "/rows").status_code == 409
        assert people.get(role, "/manifest").status_code == 200
    assert people.of["approver"].post(f"{people.address}/approve").status_code == 409
    assert people.of["approver"].post(f"{people.address}/withdraw").status_code == 409


def test_a_release_in_a_database_is_read_there_and_stays_there(people: People) -> None:
    place = {"kind": "table", "connection": "0" * 24, "table": "public.out"}
    id = at_hand.release(people.service, people.project, people.ids["owner"], place)
    answer = people.of["reader"].get(f"{API}/releases/{id}/data")
    assert (answer.status_code, answer.json()["code"]) == (409, "release-in-database")
    assert answer.json()["fields"]["table"] == "public.out"
    withdrawn = people.of["approver"].post(f"{API}/releases/{id}/withdraw?language=es").json()
    assert len(withdrawn["notes"]) == 1
    assert "base de datos" in withdrawn["notes"][0]


def test_a_release_of_several_tables_is_asked_for_one(people: People) -> None:
    place = {"tables": {"a": at_hand.PLACE, "b": {"kind": "table", "table": "t"}}}
    id = at_hand.release(people.service, people.project, people.ids["owner"], place)
    address = f"{API}/releases/{id}/data"
    reader = people.of["reader"]
    assert reader.get(address, params={"table": "a"}).content == at_hand.DATA
    assert reader.get(address, params={"table": "b"}).status_code == 409
    for table in ({}, {"table": "c"}):
        answer = reader.get(address, params=table)
        assert (answer.status_code, answer.json()["code"]) == (422, "unknown-table")


def test_rows_and_classes_are_paged(people: People) -> None:
    page = people.get("reader", "/rows", offset=1, limit=3).json()
    assert (page["columns"], page["total"], page["offset"]) == (["age", "sex"], 5, 1)
    assert [row[1] for row in page["rows"]] == ["b", "c", "d"]
    assert people.get("reader", "/rows", offset=9).json()["rows"] == []
    classes = people.get("owner", "/classes").json()
    assert classes["rows"] == [["30-39", "f", 2, 0.5], ["40-49", "m", 7, 1 / 7]]
    few = "fewer than 3"
    assert people.get("analyst", "/classes").json()["rows"] == [[None, None, few, None], ["40-49", "m", 7, 1 / 7]]
    by_risk = people.get("owner", "/classes", sort="risk").json()
    assert (by_risk["rows"], by_risk["total"]) == (classes["rows"][::-1], 2)
    assert people.get("owner", "/classes", sort="age", descending=True, limit=1).json()["rows"] == [classes["rows"][1]]
    # Where a small class would stand among the others is not told.
    for descending in (True, False):
        masked = people.get("analyst", "/classes", sort="records", descending=descending).json()["rows"]
        assert masked[0] == [None, None, few, None]
    assert people.get("owner", "/classes", sort="name").json()["code"] == "unknown-column"


def test_nobody_waits_to_write_while_a_page_is_read(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    """And a release that is withdrawn meanwhile is not given out."""
    read = release_rows.read_slice

    def withdrawn(*args: Any) -> Any:
        with people.service.store.writing() as db:
            db.get_one(Release, people.id).state = "withdrawn"
        return read(*args)

    assert people.get("reader", "/rows").status_code == 200
    monkeypatch.setattr(release_rows, "read_slice", withdrawn)
    answer = people.get("reader", "/rows")
    assert (answer.status_code, answer.json()["code"]) == (409, "release-withdrawn")
    assert [action for action, _, _ in people.audited()] == ["release.rows"]


def test_a_report_is_a_page_of_its_own(people: People) -> None:
    first = people.of["owner"].post(f"{people.address}/reports", json={"formats": ["html"], "languages": ["es"]})
    assert first.status_code == 202
    with people.service.store.reading() as db:
        job = db.get_one(Job, first.json()["job"])
        assert (job.kind, job.release_id, job.project_id) == ("report", people.id, people.project)
        assert job.parameters["languages"] == ["es"]
    assert people.of["owner"].post(f"{people.address}/reports", json={"formats": ["exe"]}).status_code == 422
    assert people.of["reader"].post(f"{people.address}/reports", json={}).status_code == 403
    assert people.get("reader", "/reports").json() == {"items": []}
    at_hand.report(people.service, people.project, people.ids["owner"], people.id, ("report.en.html", "report.en.pdf"))
    for role in (*PROJECT_ROLES, "auditor"):
        listed = people.get(role, "/reports").json()["items"]
        assert [(r["name"], r["format"], r["language"]) for r in listed] == [
            ("report.en.html", "html", "en"),
            ("report.en.pdf", "pdf", "en"),
        ]
        page = people.get(role, "/reports/report.en.html")
        assert page.text == "<html>report.en.html</html>"
        assert page.headers["content-security-policy"].startswith("sandbox;")
        assert "allow-scripts" not in page.headers["content-security-policy"]
        assert page.headers["content-disposition"] == "inline"
    pdf = people.get("reader", "/reports/report.en.pdf")
    assert pdf.headers["content-type"] == "application/pdf"
    assert pdf.headers["content-disposition"].startswith("attachment")
    saved = people.get("reader", "/reports/report.en.html", download=True)
    assert saved.headers["content-disposition"].startswith("attachment")
    for name in ("other.html", "..%2F..%2Fstudio.key", "private.json"):
        assert people.get("owner", f"/reports/{name}").status_code == 404


def test_readers_open_reports_of_what_is_given_out(people: People) -> None:
    at_hand.report(people.service, people.project, people.ids["owner"], people.id)
    before = ("owner", "editor", "analyst", "approver", "auditor")

    def opened() -> dict[str, int]:
        return {role: people.get(role, "/reports/report.en.html").status_code for role in (*before, "reader")}

    assert set(opened().values()) == {200}
    people.approval()
    assert opened() == {**dict.fromkeys(before, 200), "reader": 409}
    assert people.get("reader", "/reports/report.en.html", download=True).json()["code"] == "not-approved"
    people.of["approver"].post(f"{people.address}/approve")
    assert set(opened().values()) == {200}
    people.of["owner"].post(f"{people.address}/withdraw")
    assert opened() == {**dict.fromkeys(before, 200), "reader": 409}
    assert people.get("stranger", "/reports/report.en.html").status_code == 404


@pytest.mark.both_stores
def test_a_release_goes_with_its_files_and_reports(people: People) -> None:
    report = at_hand.report(people.service, people.project, people.ids["owner"], people.id)
    other = at_hand.release(people.service, people.project, people.ids["owner"])
    with people.service.store.reading() as db:
        made = db.get_one(Release, people.id).job_id
    assert people.of["editor"].delete(people.address).status_code == 403
    assert people.of["owner"].delete(people.address).status_code == 204
    assert people.get("owner").status_code == 404
    folders = {job for job, _, _ in people.service.files.attempts()}
    assert not folders & {report, made}
    with people.service.store.reading() as db:
        assert db.get(Job, made) is None
        assert db.get(Job, report) is None
        assert db.get(Release, other) is not None
    assert people.audited()[-1] == ("release.delete", people.id, {"project": people.project})
