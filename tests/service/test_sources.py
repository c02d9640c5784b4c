"""Sources: from uploads, samples and databases; profiles, pages of rows, who sees what, deletion with every copy."""

from __future__ import annotations

import io
import json
import logging
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from servers.studio import until
from service.inline_worker import Inline
from velado.errors import InputError
from velado.service.service import Service
from velado.service.sources.archive_limits import check_expansion
from velado.service.store.tables import AuditLine, Job, Member, Project, Source, Upload
from velado.tables import pages as paging
from velado.tables.pages import Wanted, read_page

People = Callable[..., TestClient]
API = "/api/v1"
SECRETS = ["Zeferina", "99887766Z", "Lupus"]
"""An identifier's name, its number, and a rare diagnosis: planted."""


def people(rows: int = 60) -> bytes:
    """A table in which one person is alone with everything."""
    lines = ["name,national_id,age,sex,city,diagnosis"]
    for i in range(rows):
        city = ("Bilbao", "Madrid", "Sevilla")[i % 3]
        sick = ("Flu", "Asthma", "Angina", "Cold")[i % 4]
        lines.append(f"Ana Perez {i},{10000000 + i}X,{20 + i % 5 * 10},{'fm'[i % 2]},{city},{sick}")
    lines.append("Zeferina Quintana,99887766Z,97,f,Madrid,Lupus")
    return ("\n".join(lines) + "\n").encode()


@pytest.fixture
def worker(service: Service, monkeypatch: pytest.MonkeyPatch) -> Iterator[Inline]:
    """Jobs are done while the test goes on."""
    with Inline(service, monkeypatch) as inline:
        yield inline


def upload(client: TestClient, data: bytes, name: str = "people.csv") -> str:
    id = str(client.post(f"{API}/uploads", json={"name": name, "bytes": len(data)}).json()["id"])
    answer = client.patch(f"{API}/uploads/{id}", content=data, headers={"Upload-Offset": "0"})
    assert answer.json()["state"] == "complete"
    return id


def make(client: TestClient, **body: Any) -> dict[str, Any]:
    answer = client.post(f"{API}/sources", json={"name": "people", **body})
    assert answer.status_code == 201, answer.text
    assert answer.json()["job"]
    return dict(answer.json())


def ready(client: TestClient, id: str) -> dict[str, Any]:
    def inspected() -> Any:
        found = client.get(f"{API}/sources/{id}").json()
        return found["state"] != "new" and found

    return dict(until(inspected))


def share(service: Service, source: str, columns: Any = None, **roles: str) -> str:
    """A project that names a source, with members by user id."""
    document = {"source": {"source": source}, **({"columns": columns} if columns else {})}
    with service.store.writing() as db:
        project = Project(name="shared", document=document)
        db.add(project)
        db.flush()
        owner = {db.get_one(Source, source).user_id: "owner"}
        for user, role in (owner | {user.removeprefix("u"): role for user, role in roles.items()}).items():
            db.add(Member(project_id=project.id, user_id=user, role=role))
    return project.id


def logged(caplog: pytest.LogCaptureFixture) -> str:
    """What the service itself wrote to the log; clients of the tests log their own addresses."""
    return " ".join(record.getMessage() for record in caplog.records if record.name.startswith("velado"))


@pytest.mark.both_stores
def test_from_upload_to_rows(service: Service, person: People, worker: Inline) -> None:
    steward = person("steward")
    source = make(steward, upload=upload(steward, people()))
    found = ready(steward, source["id"])
    assert (found["state"], found["rows"], found["kind"]) == ("ready", 61, "upload")
    assert [c["name"] for c in found["columns"]] == ["name", "national_id", "age", "sex", "city", "diagnosis"]
    profile = steward.get(f"{API}/sources/{source['id']}/profile", params={"language": "es"}).json()
    assert {c["name"]: c["type"] for c in profile["columns"]}["age"] == "integer"
    assert isinstance(profile["columns"][0]["reason"], str)
    suggestion = steward.get(f"{API}/sources/{source['id']}/suggestion").json()
    assert suggestion["document"]["source"]["source"] == source["id"]
    rows = f"{API}/sources/{source['id']}/rows"
    first = steward.get(rows, params={"limit": 5}).json()
    assert (len(first["rows"]), first["total"], first["columns"][2]) == (5, 61, "age")
    oldest = steward.get(rows, params={"sort": "age", "descending": True, "limit": 1}).json()
    assert oldest["rows"][0][0] == "Zeferina Quintana"
    some = steward.get(rows, params=[("where", "city=Madrid"), ("where", "sex=f")]).json()
    assert some["total"] == 11
    assert {(row[4], row[3]) for row in some["rows"]} == {("Madrid", "f")}
    assert steward.get(rows, params={"offset": 1000}).json()["rows"] == []
    with service.store.reading() as db:
        lines = list(db.scalars(select(AuditLine).where(AuditLine.action == "records.read")))
    assert [(line.subject, line.detail["limit"]) for line in lines][:1] == [(source["id"], 5)]
    assert len(lines) == 4
    assert not [s for s in SECRETS if s in str([(line.subject, line.detail) for line in lines])]


def test_options_are_read_again(person: People, worker: Inline) -> None:
    steward = person("steward")
    data = b"a;b\n1;2\n3;4\n5;6\n7;8\n"
    source = make(steward, upload=upload(steward, data), options={"delimiter": ","})
    assert len(ready(steward, source["id"])["columns"]) == 1
    answer = steward.put(f"{API}/sources/{source['id']}", json={"options": {"delimiter": ";"}})
    assert answer.json()["state"] == "new"
    assert [c["name"] for c in ready(steward, source["id"])["columns"]] == ["a", "b"]
    renamed = steward.put(f"{API}/sources/{source['id']}", json={"name": "other"}).json()
    assert (renamed["name"], renamed["state"]) == ("other", "ready")


def test_what_was_wrong_can_be_mended(person: People, worker: Inline, monkeypatch: pytest.MonkeyPatch) -> None:
    """A problem says all that its mending needs: the lines, the tables of a database, the sheets of a workbook."""
    steward = person("steward")
    lines = [f"{i},{i % 3}" + (",9" if i in (7, 11) else "") for i in range(30)]
    ragged = make(steward, upload=upload(steward, "\n".join(["a,b", *lines]).encode()))
    problem = ready(steward, ragged["id"])["problem"]
    assert (problem["code"], [one["line"] for one in problem["fields"]["lines"]]) == ("ragged-row", [9, 13])
    database = make(steward, upload=upload(steward, sqlite("people", "visits"), "clinic.sqlite"))
    assert ready(steward, database["id"])["problem"]["fields"]["tables"] == ["people", "visits"]
    # The judge of releases reads files by their suffix, which uploads have not.
    monkeypatch.setattr("velado.service.jobs.work.inspect.TRIED", 0)
    book = make(steward, upload=upload(steward, workbook("first", "second"), "book.xlsx"))
    assert ready(steward, book["id"])["problem"] is None
    assert steward.get(f"{API}/sources/{book['id']}/profile").json()["sheets"] == ["first", "second"]


def test_a_project_reads_missing_values_as_suggested(person: People, worker: Inline) -> None:
    steward = person("steward")
    data = "age,city\n" + "".join(f"{'?' if i % 20 == 0 else 20 + i % 30},{'ab'[i % 2]}\n" for i in range(60))
    source = make(steward, upload=upload(steward, data.encode()))
    assert ready(steward, source["id"])["problem"] is None
    made = steward.post(f"{API}/projects", json={"source": source["id"]}).json()
    assert made["document"]["source"] == {"source": source["id"], "missing": ["?"]}


def sqlite(*tables: str) -> bytes:
    import sqlite3

    with sqlite3.connect(":memory:") as database:
        for table in tables:
            database.execute(f"CREATE TABLE {table} (id INTEGER, age INTEGER)")
            database.executemany(f"INSERT INTO {table} VALUES (?, ?)", [(i, i % 9) for i in range(30)])
    return bytes(database.serialize())


def workbook(*sheets: str) -> bytes:
    import xlsxwriter

    written = io.BytesIO()
    with xlsxwriter.Workbook(written) as book:
        for name in sheets:
            sheet = book.add_worksheet(name)
            sheet.write_row(0, 0, ["id", "age"])
            for i in range(1, 30):
                sheet.write_row(i, 0, [i, i % 9])
    return written.getvalue()


def test_who_uses_a_source(service: Service, person: People) -> None:
    steward, other = person("steward"), person("steward")
    source = make(steward, sample="hospital", rows=50)
    uses = f"{API}/sources/{source['id']}/projects"
    assert steward.get(uses).json()["items"] == []
    project = share(service, source["id"])
    assert steward.get(uses).json()["items"] == [{"id": project, "name": "shared"}]
    assert other.get(uses).status_code == 404


def test_samples_are_for_learners(person: People, worker: Inline) -> None:
    learner = person("learner")
    source = make(learner, sample="hospital", rows=200)
    assert ready(learner, source["id"])["rows"] == 200
    assert learner.get(f"{API}/sources/{source['id']}/rows").status_code == 200
    refused = learner.post(f"{API}/sources", json={"name": "x", "upload": "0" * 24})
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"upload": "0" * 24, "sample": "hospital"},
        {"sample": "../../etc/passwd"},
        {"sample": "hospital", "query": "SELECT 1"},
        {"sample": "hospital", "options": {"path": "/etc/passwd"}},
        {"sample": "hospital", "options": {"delimiter": ";"}},
        {"sample": "hospital", "path": "/etc/passwd"},
        {"connection": "0" * 24, "table": "people", "options": {"database": "sqlite:///etc/x"}},
        {"sample": "hospital", "options": {"encoding": "../x"}},
        {"sample": "hospital", "rows": 10**12},
    ],
)
def test_wrong_bodies(person: People, body: dict[str, Any]) -> None:
    answer = person("steward").post(f"{API}/sources", json={"name": "x", **body})
    assert answer.status_code == 422, answer.text
    assert answer.json()["code"]


def test_only_own_uploads_and_connections(person: People) -> None:
    id = upload(person("steward"), people())
    other = person("steward")
    assert other.post(f"{API}/sources", json={"name": "x", "upload": id}).status_code == 404
    assert other.post(f"{API}/sources", json={"name": "x", "upload": "../../x"}).status_code == 404
    assert other.post(f"{API}/sources", json={"name": "x", "connection": id, "table": "t"}).status_code == 404
    begun = other.post(f"{API}/uploads", json={"name": "a.csv", "bytes": 5}).json()["id"]
    answer = other.post(f"{API}/sources", json={"name": "x", "upload": begun})
    assert (answer.status_code, answer.json()["code"]) == (409, "upload-not-complete")


def test_not_ready(person: People) -> None:
    steward = person("steward")
    id = make(steward, sample="hospital")["id"]
    for what in ("profile", "suggestion", "rows"):
        answer = steward.get(f"{API}/sources/{id}/{what}")
        assert (answer.status_code, answer.json()["code"]) == (409, "source-not-ready")


@pytest.mark.both_stores
def test_who_sees_what(service: Service, person: People, worker: Inline) -> None:
    """Owner, members by their roles, everybody else: it does not exist."""
    owner, editor, analyst, reader, stranger = (person("steward") for _ in range(5))
    learner, administrator = person("learner"), person("administrator")
    id = make(owner, upload=upload(owner, people()))["id"]
    ready(owner, id)
    ids = {
        f"u{client.user_id}": role  # type: ignore[attr-defined]
        for client, role in ((editor, "editor"), (analyst, "analyst"), (reader, "reader"), (learner, "editor"))
    }
    share(service, id, **ids)
    expected = {  # source, profile, rows, delete
        editor: (200, 200, 200, 403),
        analyst: (200, 200, 403, 403),
        reader: (403, 403, 403, 403),
        learner: (200, 200, 403, 403),
        stranger: (404, 404, 404, 404),
        administrator: (404, 404, 404, 404),
    }
    for client, wanted in expected.items():
        got = [client.get(f"{API}/sources/{id}{what}").status_code for what in ("", "/profile", "/rows")]
        assert (*got, client.delete(f"{API}/sources/{id}").status_code) == wanted
    nothing = stranger.get(f"{API}/sources/{'0' * 24}")
    assert stranger.get(f"{API}/sources/{id}").json() == nothing.json()
    assert stranger.get(f"{API}/sources").json()["items"] == []


def test_analysts_see_nobody(service: Service, person: People, worker: Inline, caplog: pytest.LogCaptureFixture) -> None:
    """Planted identifiers and a rare diagnosis are in no answer, log line or audit row."""
    owner, analyst = person("steward"), person("steward")
    with caplog.at_level(logging.DEBUG):
        id = make(owner, upload=upload(owner, people()))["id"]
        ready(owner, id)
        share(service, id, **{f"u{analyst.user_id}": "analyst"})  # type: ignore[attr-defined]
        answers = [
            analyst.get(f"{API}/sources/{id}{what}").text
            for what in ("", "/profile", "/suggestion", "/rows", "/rows?where=name=Zeferina Quintana", "/rows?sort=x")
        ]
    told = " ".join(answers)
    assert not [s for s in SECRETS if s in told]
    profile = json.loads(answers[1])
    by_name = {c["name"]: c for c in profile["columns"]}
    assert by_name["age"]["singled_out"] == "fewer than 3"
    assert by_name["diagnosis"]["singled_out"] == "fewer than 3"
    assert "reason" not in by_name["name"]
    assert not [s for s in SECRETS if s in logged(caplog)]
    with service.store.reading() as db:
        assert not [s for s in SECRETS if s in str([(x.subject, x.detail) for x in db.scalars(select(AuditLine))])]
        # The store itself holds no record.
        results = str([(job.result, job.error, job.step) for job in db.scalars(select(Job))])
    assert not [s for s in SECRETS if s in results]


def test_malformed_tables_tell_nothing(service: Service, person: People, worker: Inline, caplog: pytest.LogCaptureFixture) -> None:
    owner, analyst = person("steward"), person("steward")
    broken = people() + b'"Zeferina,99887766Z,1\n,,,,,,,,,Lupus\n'
    with caplog.at_level(logging.DEBUG):
        id = make(owner, upload=upload(owner, broken))["id"]
        found = ready(owner, id)
        assert found["state"] == "failed"
        assert found["problem"]["code"]
        share(service, id, **{f"u{analyst.user_id}": "analyst"})  # type: ignore[attr-defined]
        told = analyst.get(f"{API}/sources/{id}").text + analyst.get(f"{API}/jobs/{found['job']}").text
    assert not [s for s in SECRETS if s in told + logged(caplog)]
    assert str(service.settings.folder) not in json.dumps(found)


def test_a_table_without_header_names_nobody(service: Service, person: People, worker: Inline) -> None:
    owner, analyst = person("steward"), person("steward")
    data = people().partition(b"\n")[2]
    data = data.splitlines(keepends=True)[-1] + data
    id = make(owner, upload=upload(owner, data))["id"]
    found = ready(owner, id)
    assert found["state"] == "ready", found["problem"]
    assert found["columns"][0]["name"] == "Zeferina Quintana"
    share(service, id, **{f"u{analyst.user_id}": "analyst"})  # type: ignore[attr-defined]
    answers = [analyst.get(f"{API}/sources/{id}{what}") for what in ("", "/profile", "/suggestion")]
    assert [answer.status_code for answer in answers] == [200, 200, 200]
    assert not [s for s in SECRETS if s in " ".join(answer.text for answer in answers)]


@pytest.mark.both_stores
def test_deleted_with_every_copy(service: Service, person: People, worker: Inline) -> None:
    steward = person("steward")
    file = upload(steward, people())
    id, other = make(steward, upload=file)["id"], make(steward, upload=file)["id"]
    ready(steward, id), ready(steward, other)
    assert service.files.copy(id).exists()
    assert steward.delete(f"{API}/sources/{id}").status_code == 204
    assert not service.files.copy(id).exists()
    assert service.files.upload(file).exists()
    assert steward.delete(f"{API}/sources/{other}").status_code == 204
    assert steward.get(f"{API}/sources/{id}").status_code == 404
    left = [path for path in service.files.folder.rglob("*") if path.is_file() and b"Zeferina" in path.read_bytes()]
    assert left == []
    with service.store.reading() as db:
        assert db.get(Upload, file) is None
        assert list(db.scalars(select(Job))) == []
        assert "source.delete" in set(db.scalars(select(AuditLine.action)))


def test_projects_are_told_that_a_source_is_gone(service: Service, person: People, worker: Inline) -> None:
    steward = person("steward")
    id = make(steward, upload=upload(steward, people()))["id"]
    ready(steward, id)
    columns = {"age": "quasi-identifier", "sex": "quasi-identifier"}
    project = share(service, id, columns, **{f"u{steward.user_id}": "owner"})  # type: ignore[attr-defined]
    steward.delete(f"{API}/sources/{id}")
    problems = steward.get(f"{API}/projects/{project}/checks").json()
    assert "unknown-reference" in json.dumps(problems)


def test_an_upload_in_use_stays(person: People) -> None:
    steward = person("steward")
    file = upload(steward, people())
    make(steward, upload=file)
    answer = steward.delete(f"{API}/uploads/{file}")
    assert (answer.status_code, answer.json()["code"]) == (409, "upload-in-use")


# Attacks

NASTY = ['a"b', "a'b", "x; DROP TABLE t; --", "a=b", "a", "Ä ö", "*", 'c"", (SELECT 1) AS "d', "file_row_number()"]


def copy_of(path: Path, table: pa.Table) -> Path:
    pq.write_table(table, path)
    return path


@pytest.mark.parametrize("name", NASTY)
def test_names_of_columns_are_only_names(tmp_path: Path, name: str) -> None:
    copy = copy_of(tmp_path / f"{'0' * 24}.parquet", pa.table({name: ["2", "10", "1"], "other": ["x", "y", "z"]}))
    names = [name, "other"]
    page = read_page(copy, names, Wanted(sort=name, types={name: "integer"}))
    assert [row[0] for row in page.rows] == ["1", "2", "10"]
    filters = paging.parse_where([f"{name}=10"], names)
    assert read_page(copy, names, Wanted(where=filters)).rows == [["10", "y"]]
    assert page.columns == (name, "other")


def test_columns_that_differ_by_case(tmp_path: Path) -> None:
    copy = copy_of(tmp_path / f"{'0' * 24}.parquet", pa.table({"A": ["1", "2"], "a": ["4", "3"]}))
    page = read_page(copy, ["A", "a"], Wanted(sort="a"))
    assert (page.columns, page.rows) == (("A", "a"), [["2", "3"], ["1", "4"]])


@pytest.mark.parametrize("offset", [0, 3, 7, 9])
@pytest.mark.parametrize("descending", [False, True])
def test_pages_are_slices_of_the_sorted_table(tmp_path: Path, offset: int, descending: bool) -> None:
    cells = ["3", None, "1", "2", None, "2", "10", "x", "1", "3"]
    copy = copy_of(tmp_path / f"{'0' * 24}.parquet", pa.table({"n": cells, "i": [str(i) for i in range(10)]}))
    every = read_page(copy, ["n", "i"], Wanted(sort="n", descending=descending, types={"n": "integer"})).rows
    assert [row[0] for row in every][-2:] == [None, None]
    numbers = [float(row[0]) for row in every if row[0] not in (None, "x")]
    assert numbers == sorted(numbers, reverse=descending)
    some = Wanted(offset, 3, "n", descending, types={"n": "integer"})
    assert read_page(copy, ["n", "i"], some).rows == every[offset : offset + 3]


def test_sql_in_sort_and_where(person: People, worker: Inline) -> None:
    steward = person("steward")
    id = make(steward, upload=upload(steward, people()))["id"]
    ready(steward, id)
    rows = f"{API}/sources/{id}/rows"
    for query in (
        {"sort": 'age"; DROP TABLE x; --'},
        {"sort": "(SELECT 1)"},
        {"where": "1=1 OR true"},
        {"where": "age"},
        {"sort": "age, name"},
        {"where": "read_csv('/etc/passwd')=1"},
    ):
        answer = steward.get(rows, params=query)
        assert (answer.status_code, answer.json()["code"]) in ((422, "unknown-column"), (422, "bad-filter"))
    assert steward.get(rows, params={"where": "city=' OR ''='"}).json()["total"] == 0
    assert steward.get(rows, params={"limit": 501}).status_code == 422
    assert steward.get(rows, params={"offset": -1}).status_code == 422


def test_the_engine_reads_nothing_else(tmp_path: Path) -> None:
    import duckdb

    copy = copy_of(tmp_path / f"{'0' * 24}.parquet", pa.table({"a": ["1"]}))
    read_page(copy, ["a"], Wanted())
    engine = paging._engine(tmp_path).cursor()
    for query in (
        "SELECT * FROM read_csv('/etc/passwd')",
        f"COPY (SELECT 1) TO '{tmp_path.parent}/x.csv'",
        "SET enable_external_access = true",
        "ATTACH '/tmp/x.db'",
        "INSTALL httpfs",
    ):
        with pytest.raises(duckdb.Error):
            engine.execute(query)


class Often:
    """A timer that does not stop: on a busy machine the first time may be before the query that is slow."""

    def __init__(self, seconds: float, interrupt: Callable[[], None]) -> None:
        self._interrupt, self._over = interrupt, threading.Event()
        self._thread = threading.Thread(target=self._go)

    def start(self) -> None:
        self._thread.start()

    def cancel(self) -> None:
        self._over.set()
        self._thread.join()

    def _go(self) -> None:
        while not self._over.wait(0.02):
            self._interrupt()


def test_too_slow_a_page_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from velado.errors import InputError

    monkeypatch.setattr(paging.threading, "Timer", Often)
    cells = pa.array(range(3_000_000)).cast(pa.string())
    copy = copy_of(tmp_path / f"{'0' * 24}.parquet", pa.table({"a": cells}))
    with pytest.raises(InputError) as given_up:
        read_page(copy, ["a"], Wanted(sort="a", offset=1_500_000))
    assert given_up.value.code in ("page-too-slow", "page-too-large")


def test_a_bomb_is_not_unpacked(service: Service, person: People, monkeypatch: pytest.MonkeyPatch) -> None:
    steward = person("steward")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/worksheets/sheet1.xml", b"0" * 100_000_000)
    inline = Inline(service, monkeypatch)
    object.__setattr__(service, "settings", __import__("dataclasses").replace(service.settings, expanded_bytes=10_000_000))
    id = make(steward, upload=upload(steward, packed.getvalue(), "bomb.xlsx"))["id"]
    inline.work()
    found = steward.get(f"{API}/sources/{id}").json()
    assert found["state"] == "failed"
    assert found["problem"]["code"] == "expands-too-much"


def test_a_small_parquet_file_of_many_rows_is_not_read(tmp_path: Path) -> None:
    """A few kilobytes that say a thousand million rows took all memory of a job before it was stopped."""
    path = tmp_path / "rows.parquet"
    for millions in (40, 60):
        rows = pa.table({"x": np.zeros(millions * 1_000_000, dtype=np.int8)})
        pq.write_table(rows, path, row_group_size=len(rows), write_statistics=False, data_page_size=1 << 30)
        if millions == 40:
            check_expansion(path)
    assert path.stat().st_size < 200_000
    with pytest.raises(InputError) as error:
        check_expansion(path)
    assert error.value.code == "expands-too-much"


def test_a_source_that_is_gone_from_the_disk(service: Service, person: People, worker: Inline) -> None:
    steward = person("steward")
    id = make(steward, upload=upload(steward, people()))["id"]
    ready(steward, id)
    service.files.copy(id).unlink()
    answer = steward.get(f"{API}/sources/{id}/rows")
    assert (answer.status_code, answer.json()["code"]) == (409, "no-copy")
    with service.store.reading() as db:
        assert db.get(Source, id) is not None
