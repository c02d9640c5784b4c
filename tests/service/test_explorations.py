"""Explorations: their nodes as arrays and as JSON, paths, one node, and the release of a node."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

import stored_projects as at_hand
from servers.studio import WAIT
from velado.service.explorations import api as resource
from velado.service.explorations import nodes as explorations
from velado.service.jobs import queue
from velado.service.service import Service
from velado.service.store.tables import AuditLine, Job, Project

Person = Callable[..., TestClient]
API = "/api/v1"
ARROW = "application/vnd.apache.arrow.file"


class People:
    """An owner and an analyst of a project with an exploration."""

    def __init__(self, service: Service, person: Person) -> None:
        self.service = service
        self.owner, self.analyst, self.stranger = person("steward"), person("steward"), person("steward")
        members = {at_hand.rows_of(self.owner): "owner", at_hand.rows_of(self.analyst): "analyst"}
        self.project = at_hand.project(service, members)
        self.id = at_hand.exploration(service, self.project, at_hand.rows_of(self.owner))
        self.address = f"{API}/explorations/{self.id}"


@pytest.fixture
def people(service: Service, person: Person) -> People:
    return People(service, person)


def levels(answer: Any) -> list[list[int]]:
    assert answer.status_code == 200, answer.text
    return [node["levels"] for node in answer.json()["items"]]


@pytest.mark.both_stores
def test_the_head_tells_what_was_explored(people: People) -> None:
    listed = people.owner.get(f"{API}/projects/{people.project}/explorations").json()["items"]
    assert [(e["id"], e["nodes"], e["state"], e["counts"]["satisfying"]) for e in listed] == [(people.id, 6, "done", 2)]
    head = people.owner.get(people.address).json()
    assert (head["columns"], head["levels"], head["optimal"], head["masked"]) == (["age", "sex"], [3, 2], [1, 1], False)
    assert people.analyst.get(people.address).json()["masked"] is True
    assert people.stranger.get(people.address).status_code == 404


def test_an_exploration_that_is_not_done_has_no_nodes(people: People) -> None:
    id = at_hand.job(people.service, "explore", people.project, at_hand.rows_of(people.owner), state="running")
    answer = people.owner.get(f"{API}/explorations/{id}/nodes")
    assert (answer.status_code, answer.json()["code"], answer.json()["fields"]["state"]) == (409, "job-not-done", "running")
    other = at_hand.job(people.service, "run", people.project, at_hand.rows_of(people.owner), {})
    assert people.owner.get(f"{API}/explorations/{other}").status_code == 404


def test_nodes_are_listed_filtered_and_sorted(people: People) -> None:
    def ask(**params: Any) -> Any:
        return people.owner.get(f"{people.address}/nodes", params=params)

    assert levels(ask()) == [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]]
    assert levels(ask(status="optimal")) == [[1, 1]]
    assert levels(ask(status="satisfying", sort="objective")) == [[1, 1], [2, 0]]
    assert levels(ask(status=["minimal", "over-limit"])) == [[1, 1], [2, 1]]
    # Ties by objective, height and vector; nodes without the figure come last.
    assert levels(ask(sort="k")) == [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]]
    assert levels(ask(sort="smallest")) == [[2, 0], [0, 1], [1, 0], [1, 1], [2, 1], [0, 0]]
    assert levels(ask(sort="suppressed", top=2)) == [[2, 1], [2, 0]]
    first = ask(limit=4).json()
    assert (len(first["items"]), first["next"]) == (4, "4")
    assert levels(ask(limit=4, after="4")) == [[2, 0], [2, 1]]
    node = ask(status="optimal").json()["items"][0]
    assert (node["suppressed"], node["share"], node["reached"]) == (2, 0.02, {"k-anonymity": 2})
    assert '"largest":9,' in ask(status="optimal").text
    for wrong, path in (({"status": "best"}, "status"), ({"sort": "beauty"}, "sort")):
        answer = ask(**wrong)
        assert (answer.status_code, answer.json()["code"], answer.json()["fields"]["path"]) == (422, "bad-option", path)


def test_an_analyst_sees_no_small_counts(people: People) -> None:
    few = "fewer than 3"
    nodes = people.analyst.get(f"{people.address}/nodes").json()["items"]
    assert [n["suppressed"] for n in nodes] == [100, 60, 40, few, few, 0]
    assert [n["share"] for n in nodes][3:] == [few, few, 0.0]
    assert [n["k"] for n in nodes] == [few, few, few, few, few, 100]
    assert [n["smallest"] for n in nodes] == [None, 3, 3, 4, few, 100]
    assert [n["highest_risk"] for n in nodes][4] == few
    assert [n["achieved"]["k-anonymity"] for n in nodes][4] == few
    assert [n["reached"]["k-anonymity"] for n in nodes] == [few, few, few, few, few, 100]
    # Nor what tells of them: by losses and means of the others.
    for name, rest in (("loss", 0.9), ("objective", 0.9), ("average", 100), ("average_risk", 0.01), ("largest", 100)):
        assert [n[name] for n in nodes][3:] == [None, None, rest], name
    assert [n["average"] for n in nodes][1:3] == [5.0, 5.0]


def test_one_class_tells_how_many_are_not_in_it() -> None:
    table = at_hand.nodes()
    ones = table.set_column(table.column_names.index("classes"), "classes", pa.array([0, 3, 4, 1, 6, 1], pa.int64()))
    told = explorations.redact_nodes(ones).to_pylist()
    assert [told[3][name] for name in ("smallest", "highest_risk", "achieved(k-anonymity)")] == [None] * 3
    assert told[5]["smallest"] == 100
    average = ones.append_column("achieved(average-risk)", pa.array([0.1] * 6))
    told = explorations.redact_nodes(average)["achieved(average-risk)"].to_pylist()
    assert (told[3], told[5]) == (None, 0.1)


def test_arrays_are_the_file_itself_and_are_known_by_their_tag(people: People) -> None:
    answer = people.owner.get(f"{people.address}/nodes", headers={"Accept": ARROW})
    assert answer.headers["content-type"] == ARROW
    assert answer.headers["cache-control"].startswith("private")
    assert answer.content == (people.service.files.attempt(people.id, 1) / "nodes.arrow").read_bytes()
    assert people.owner.get(f"{people.address}/nodes", params={"format": "arrow"}).content == answer.content
    again = people.owner.get(f"{people.address}/nodes", headers={"Accept": ARROW, "If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    masked = people.analyst.get(f"{people.address}/nodes", headers={"Accept": ARROW, "If-None-Match": answer.headers["etag"]})
    assert masked.status_code == 200
    table = pa.ipc.open_file(masked.content).read_all()
    assert table["suppressed"].to_pylist() == [100, 60, 40, None, None, 0]
    assert table["share"].null_count == 2
    assert table["average"].to_pylist()[3:] == [None, None, 100.0]
    assert table["k"].null_count == 5


def test_masked_arrays_are_made_part_by_part(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = explorations.redact_nodes(at_hand.nodes())
    sizes: list[int] = []

    def noted(table: pa.Table) -> pa.Table:
        sizes.append(table.num_rows)
        return redact_nodes(table)

    redact_nodes = explorations.redact_nodes
    monkeypatch.setattr(explorations, "redact_nodes", noted)
    monkeypatch.setattr(explorations, "BATCH", 4)
    answer = people.analyst.get(f"{people.address}/nodes", params={"format": "arrow"})
    found = pa.ipc.open_file(answer.content)
    assert (found.num_record_batches, found.read_all().equals(whole, check_metadata=True)) == (2, True)
    assert sorted(sizes) == [0, 2, 4]


def test_nodes_between_levels_and_below_limits(people: People) -> None:
    def ask(who: TestClient = people.owner, **params: Any) -> Any:
        return who.get(f"{people.address}/nodes", params=params)

    assert ask(limit=2, status="failing").json()["total"] == 3
    assert levels(ask(loss=0.4)) == [[1, 1], [2, 0]]
    assert levels(ask(suppressed=2, sort="suppressed", descending=True)) == [[1, 1], [2, 0], [2, 1]]
    assert levels(ask(lowest="1,0", highest="2,0")) == [[1, 0], [2, 0]]
    assert levels(ask(levels=["2,1", "0,0", "2,1"])) == [[0, 0], [2, 1]]
    assert levels(ask(levels=["2,1", "0,0"], descending=True)) == [[2, 1], [0, 0]]
    # The largest first, nodes without the figure last all the same.
    assert levels(ask(sort="loss", descending=True)) == [[2, 1], [2, 0], [1, 1], [0, 0], [0, 1], [1, 0]]
    # A filter tells no more than the figures do.
    assert levels(ask(people.analyst, loss=0.4)) == []
    assert levels(ask(people.analyst, suppressed=2)) == [[2, 1]]
    for wrong in ("lowest", "highest", "levels"):
        answer = ask(**{wrong: "9,9"})
        assert (answer.status_code, answer.json()["fields"]["path"]) == (422, wrong)


def test_arrays_for_browsers(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explorations, "BATCH", 4)
    address = f"{people.address}/nodes?format=columns"
    answer = people.owner.get(address)
    found, items = answer.json(), people.owner.get(f"{people.address}/nodes").json()["items"]
    assert (found["nodes"], found["columns"], found["sizes"], found["small"]) == (6, ["age", "sex"], [3, 2], {})
    assert list(zip(*found["levels"].values(), strict=True)) == [tuple(item["levels"]) for item in items]
    assert [found["statuses"][code] for code in found["status"]] == [item["status"] for item in items]
    assert (found["minimal"], found["height"]) == ([0, 0, 0, 1, 0, 0], [0, 1, 1, 2, 2, 3])
    for name, told in found["figures"].items():
        figure, _, model = name.rstrip(")").partition("(")
        said = [item[figure][model] if model else item[figure] for item in items]
        assert told == [None if x is None else float(f"{x:.6g}") for x in said], name
    assert "0.333333," in answer.text
    assert "[100,60,40,2,1,0]" in answer.text
    some = people.owner.get(f"{address}&figure=loss&figure=status").json()
    assert (set(some["figures"]), some["status"], some["levels"]) == ({"loss"}, found["status"], {})
    assert "height" not in some
    wrong = people.owner.get(f"{address}&figure=beauty")
    assert (wrong.status_code, wrong.json()["fields"]["path"]) == (422, "figure")


def test_arrays_for_browsers_are_masked_and_known_by_their_tag(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    address = f"{people.address}/nodes?format=columns"
    told = people.analyst.get(address).json()
    items = people.analyst.get(f"{people.address}/nodes").json()["items"]
    for name, told_of in told["figures"].items():
        figure, _, model = name.rstrip(")").partition("(")
        said = [item[figure][model] if model else item[figure] for item in items]
        assert [isinstance(x, str) for x in said] == [bool(x) for x in told["small"].get(name, [0] * 6)], name
        assert told_of == [None if x is None or isinstance(x, str) else float(f"{x:.6g}") for x in said], name
    for packing in ("identity", "gzip"):
        monkeypatch.setattr(resource, "WORTH_PACKING", 0)
        answer = people.owner.get(address, headers={"Accept-Encoding": packing})
        assert answer.headers.get("content-encoding", "identity") == packing
        assert answer.json()["nodes"] == 6
        same = {"Accept-Encoding": packing, "If-None-Match": answer.headers["etag"]}
        assert people.owner.get(address, headers=same).status_code == 304
        assert people.analyst.get(address, headers=same).status_code == 200
        assert "Accept-Encoding" in answer.headers["vary"]


def test_no_figure_is_null_as_the_job_writes_it() -> None:
    table = at_hand.nodes()
    for name in ("largest", "loss"):
        filled = table[name].fill_null(float("nan"))
        table = table.set_column(table.column_names.index(name), name, filled)
    first, *_, last = explorations.rows(table, at_hand.HEAD)
    assert (first["largest"], first["loss"], last["largest"], last["loss"]) == (None, None, 100, 0.9)
    ranked = explorations.select_nodes(table, at_hand.HEAD, explorations.Filter(), "loss", None, descending=True)
    assert ranked["height"].to_pylist() == [3, 2, 2, 0, 1, 1]


def test_numbers_are_rounded_to_significant_digits() -> None:
    numbers = [0.0, 0.3, 1 / 3, 2 / 3e-9, 123456789.5, -1.23456789e-12, 1.0, 999999.96]
    told = explorations._round_digits(np.array([*numbers, np.nan, np.inf]))
    assert told[:-2].tolist() == [float(f"{x:.6g}") for x in numbers]
    assert explorations._json_numbers(pa.chunked_array([[1.5, None, float("nan"), float("inf")]]), False) == b"1.5,null,null,null"


def test_another_method_and_one_of_several_tables_are_explored(service: Service, person: Person) -> None:
    owner = person("steward")
    mine = at_hand.rows_of(owner)
    table = {"source": {"source": at_hand.source(service, mine)}, "columns": {"age": "quasi-identifier"}}
    for document, where in (
        ({"method": "mondrian", **table}, None),
        ({"method": "mondrian", "tables": {"a": table, "b": table}}, "b"),
    ):
        project = at_hand.project(service, {mine: "owner"}, document)
        lattice = {"lattice": {"suppression": 0.1}}
        parameters = {"method": lattice, **({"table": where} if where else {})}
        answer = owner.post(f"{API}/jobs", json={"kind": "explore", "project": project, "parameters": parameters})
        assert answer.status_code == 202, answer.text
        with service.store.reading() as db:
            job = db.get_one(Job, answer.json()["id"])
            made = (job.document or {})["tables"]["b"] if where else job.document or {}
            assert (made["method"], db.get_one(Project, project).document) == (lattice, document)
        done = at_hand.exploration(service, project, mine, document=job.document, parameters=parameters)
        with service.store.writing() as db:
            row = db.get_one(Job, done)
            row.result = {**(row.result or {}), "table": where, "method": "lattice"}
        told = owner.get(f"{API}/explorations/{done}").json()
        assert (told["table"], told["method"]) == (where, "lattice")
        id = owner.post(f"{API}/explorations/{done}/nodes/1,0/release").json()["job"]
        with service.store.reading() as db:
            released = db.get_one(Job, id).document or {}
        fixed = {"fixed": {"levels": {"age": 1, "sex": 0}, "suppression": "5 records"}}
        assert (released["tables"]["b"] if where else released)["method"] == fixed
        assert not where or (released["method"], released["tables"]["a"]) == ("mondrian", table)
    wrong = {"kind": "explore", "project": project, "parameters": {"method": "lattice", "table": "c"}}
    assert owner.post(f"{API}/jobs", json=wrong).json()["code"] == "unknown-table"


def test_a_path_has_a_distance_vector(people: People) -> None:
    found = people.owner.get(f"{people.address}/path", params={"end": "2,1"}).json()
    assert (found["vector"], found["length"], found["paths"], found["comparable"]) == ([2, 1], 3, 3, True)
    assert found["nodes"] == [[0, 0], [1, 0], [2, 0], [2, 1]]
    back = people.owner.get(f"{people.address}/path", params={"start": "2,0", "end": "0,1"}).json()
    assert (back["vector"], back["comparable"]) == ([-2, 1], False)


@pytest.mark.parametrize("vector", ["", "1", "1,2,0", "3,0", "-1,0", "1,x", "1,0,", "²,0", "1" * 30 + ",0"])
def test_a_node_that_is_none_is_refused(people: People, vector: str) -> None:
    answer = people.owner.get(f"{people.address}/path", params={"end": vector})
    assert (answer.status_code, answer.json()["code"], answer.json()["fields"]["path"]) == (422, "bad-node", "end")
    if vector:
        assert people.owner.post(f"{people.address}/nodes/{vector}/release").status_code == 422


NODE: dict[str, Any] = {
    "node": {
        "levels": [1, 1],
        "classes": 6,
        "suppressed": 2,
        "share": 0.02,
        "k": 2,
        "smallest": 4,
        "reached": {"k-anonymity": 2},
        "achieved": {},
    },
    "columns": ["age", "sex"],
    "sizes": [[1, 2], [2, 3], [9, 1]],
    "classes": [
        {"labels": {"age": "30-39", "sex": "f"}, "records": 1, "risk": 1.0, "sensitive": {}},
        {"labels": {"age": "40-49", "sex": "f"}, "records": 9, "risk": 0.1, "sensitive": {}},
    ],
    "examples": {"columns": ["age"], "rows": [["34"]]},
}


def answered(
    service: Service, ask: Callable[[], Any], result: dict[str, Any], error: dict[str, Any] | None = None
) -> tuple[Any, Job]:
    """Ask, and let a worker of our own answer the question."""
    found: list[Job] = []

    def work() -> None:
        until = time.monotonic() + WAIT
        while not found and time.monotonic() < until:
            with service.store.writing() as db:
                job = queue.claim(db, service.settings, "test", quick=True)
                if job is not None:
                    found.append(job)
                    how: dict[str, Any] = {"result": result} if error is None else {"error": error}
                    queue.finish(db, "test", job.id, job.attempt, "failed" if error else "done", **how)
            time.sleep(0.01)

    thread = threading.Thread(target=work)
    thread.start()
    answer = ask()
    thread.join()
    return answer, found[0]


@pytest.mark.both_stores
def test_a_node_is_asked_of_a_warm_process(people: People) -> None:
    address = f"{people.address}/nodes/1,1"
    answer, job = answered(people.service, lambda: people.owner.get(address, params={"records": 3}), NODE)
    assert answer.json() == NODE
    assert (job.kind, job.quick, job.project_id, job.version) == ("node", True, people.project, 1)
    assert (job.parameters["levels"], job.parameters["exploration"], job.parameters["records"]) == ([1, 1], people.id, 3)
    with people.service.store.reading() as db:
        lines = [(line.action, line.detail["rows"]) for line in db.scalars(select(AuditLine))]
    assert lines == [("records.read", 3)]


def test_a_node_for_an_analyst_is_masked(people: People) -> None:
    address = f"{people.address}/nodes/1,1"
    assert people.analyst.get(address, params={"records": 3}).status_code == 403
    answer, _ = answered(people.service, lambda: people.analyst.get(address), NODE)
    found, few = answer.json(), "fewer than 3"
    assert "examples" not in found
    # Sizes would add up to all but those that are suppressed.
    assert not {"sizes", "total", "released"} & set(found)
    assert found["classes"] == [{"labels": NODE["classes"][1]["labels"]}]
    assert (found["node"]["suppressed"], found["node"]["k"], found["node"]["smallest"]) == (few, few, 4)
    assert found["node"]["reached"] == {"k-anonymity": few}
    assert found["node"].get("share") in (None, few)
    more = {**NODE, "node": {**NODE["node"], "suppressed": 4}}
    found = answered(people.service, lambda: people.analyst.get(address), more)[0].json()
    assert found["sizes"] == [[few, 5], [9, 1]]
    assert [(c["records"], c.get("risk"), c.get("labels")) for c in found["classes"]] == [
        (few, None, None),
        (9, 0.1, NODE["classes"][1]["labels"]),
    ]


def test_a_node_that_fails_shows_an_analyst_no_values(people: People) -> None:
    said = {"en": "2 value(s) are no numbers, with k=2", "es": "2 valores"}
    kept = {
        "code": "not-a-number",
        "message": said,
        "hint": {"en": "Mend 2."},
        "column": "age",
        "values": ["García"],
        "fields": {"path": "columns.age", "count": 2, "given": "García", "reached": {"k": 1}},
    }
    failing = {**kept, "others": [kept]}
    address = f"{people.address}/nodes/1,1"
    seen, _ = answered(people.service, lambda: people.owner.get(address), {}, error=failing)
    assert (seen.status_code, seen.json()["fields"]["values"], seen.json()["fields"]["count"]) == (422, ["García"], 2)
    told, _ = answered(people.service, lambda: people.analyst.get(address), {}, error=failing)
    assert (told.status_code, told.json()["code"], told.json()["column"]) == (422, "not-a-number", "age")
    assert "García" not in told.text
    for part in (told.json(), *told.json()["others"]):
        assert part["fields"] == {"path": "columns.age"}
        assert (part["message"], part["hint"]) == ("<3 value(s) are no numbers, with k=2", "Mend <3.")
    checks = f"{API}/projects/{people.project}/checks"
    told, _ = answered(people.service, lambda: people.analyst.get(checks), {}, error=failing)
    assert (told.status_code, "García" in told.text) == (422, False)


@pytest.mark.both_stores
def test_checks_are_asked_once_for_a_version(people: People) -> None:
    told = {
        "code": "missing-key",
        "message": {"en": "no source", "es": "sin fuente", "pt": "sem fonte"},
        "fields": {"path": "source"},
    }
    valued = {**told, "code": "value-not-in-hierarchy", "values": ["García"], "fields": {"path": "columns.age", "value": "García"}}
    address = f"{API}/projects/{people.project}/checks"
    answer, job = answered(
        people.service, lambda: people.owner.get(address, params={"language": "es"}), {"problems": [told, valued]}
    )
    found = answer.json()
    assert (found["ready"], found["version"], job.kind) == (False, 1, "checks")
    assert [(p["message"], p["fields"]["path"]) for p in found["problems"]] == [
        ("sin fuente", "source"),
        ("sin fuente", "columns.age"),
    ]
    assert found["problems"][1]["fields"]["values"] == ["García"]
    again = people.analyst.get(address)
    assert [p["message"] for p in again.json()["problems"]] == ["no source", "no source"]
    assert "García" not in again.text
    with people.service.store.reading() as db:
        assert len(db.scalars(select(Job).where(Job.kind == "checks")).all()) == 1
    people.owner.put(f"{API}/projects/{people.project}/secrets/key", json={})
    answer, _ = answered(people.service, lambda: people.owner.get(address), {"problems": []})
    assert answer.json()["ready"] is True


@pytest.mark.both_stores
def test_a_node_is_released_as_it_was_explored(people: People) -> None:
    answer = people.owner.post(f"{people.address}/nodes/1,0/release")
    assert answer.status_code == 202
    assert answer.headers["location"] == f"{API}/jobs/{answer.json()['job']}"
    with people.service.store.reading() as db:
        job = db.get_one(Job, answer.json()["job"])
        assert (job.kind, job.state, job.version, job.quick) == ("run", "queued", 1, False)
        assert job.document == {"velado": 1, "method": {"fixed": {"levels": {"age": 1, "sex": 0}, "suppression": "5 records"}}}
    assert people.analyst.post(f"{people.address}/nodes/1,0/release").status_code == 403
    assert people.stranger.post(f"{people.address}/nodes/1,0/release").status_code == 404


def test_an_old_exploration_brings_no_table_back(service: Service, person: Person) -> None:
    owner, editor = person("steward"), person("steward")
    mine = at_hand.rows_of(owner)
    document = {"source": {"source": at_hand.source(service, mine)}}
    project = at_hand.project(service, {mine: "owner", at_hand.rows_of(editor): "editor"}, document)
    id = at_hand.exploration(service, project, mine, document=document)
    assert editor.post(f"{API}/explorations/{id}/nodes/1,0/release").status_code == 202
    with service.store.writing() as db:
        db.get_one(Project, project).document = {"velado": 1}
    answer = editor.post(f"{API}/explorations/{id}/nodes/1,0/release")
    assert (answer.status_code, answer.json()["code"]) == (422, "unknown-reference")
    assert owner.post(f"{API}/explorations/{id}/nodes/1,0/release").status_code == 202


@pytest.mark.both_stores
def test_comparisons_are_listed_and_masked(people: People) -> None:
    evaluation = {"rows": 100, "suppressed": 2, "utility": {"loss": 0.4}}
    result = {"parameters": ["k"], "settings": [{"parameters": {"k": 5}, "evaluation": evaluation}]}
    id = at_hand.job(
        people.service, "compare", people.project, at_hand.rows_of(people.owner), result, parameters={"grid": {"k": [5]}}
    )
    listed = people.owner.get(f"{API}/projects/{people.project}/comparisons").json()["items"]
    assert [(c["id"], c["kind"], c["parameters"]) for c in listed] == [(id, "compare", {"grid": {"k": [5]}})]
    assert people.owner.get(f"{API}/comparisons/{id}").json()["result"] == result
    found = people.analyst.get(f"{API}/comparisons/{id}").json()["result"]["settings"][0]
    assert found["evaluation"] == {"rows": 100, "suppressed": "fewer than 3"}
    assert people.stranger.get(f"{API}/comparisons/{id}").status_code == 404
    assert people.owner.get(f"{API}/comparisons/{people.id}").status_code == 404


@pytest.mark.both_stores
def test_a_plan_is_downloaded_by_who_made_it(service: Service, person: Person) -> None:
    me, other = person("steward"), person("steward")
    source = at_hand.source(service, at_hand.rows_of(me))
    id = at_hand.job(service, "appointments", None, at_hand.rows_of(me), {"k": 3, "file": "appointments.csv"}, source_id=source)
    (service.files.attempt(id, 1) / "appointments.csv").write_text("name,slot\n")
    assert [p["id"] for p in me.get(f"{API}/plans").json()["items"]] == [id]
    assert other.get(f"{API}/plans").json()["items"] == []
    assert me.get(f"{API}/plans/{id}").json()["result"]["k"] == 3
    answer = me.get(f"{API}/plans/{id}/appointments")
    assert (answer.text, answer.headers["cache-control"]) == ("name,slot\n", "no-store")
    assert other.get(f"{API}/plans/{id}").status_code == other.get(f"{API}/plans/{id}/appointments").status_code == 404
    with service.store.reading() as db:
        assert [(x.action, x.detail) for x in db.scalars(select(AuditLine))] == [("plan.download", {"bytes": 10})]


def test_the_catalog_is_told_in_a_language_and_known_by_its_tag(person: Person) -> None:
    me = person("learner")
    found = me.get(f"{API}/catalog", params={"language": "es"})
    titles = {m["name"]: m["title"] for m in found.json()["models"]}
    assert titles["entropy-diversity"] == "ℓ-diversidad por entropía"
    assert me.get(f"{API}/catalog", headers={"If-None-Match": found.headers["etag"]}).status_code == 200
    again = me.get(f"{API}/catalog", params={"language": "es"}, headers={"If-None-Match": found.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert next(m["name"] for m in me.get(f"{API}/catalog/methods").json()) == "lattice"
    assert me.get(f"{API}/catalog/nothing").status_code == 404
    assert me.get(f"{API}/schema").json()["$id"] == "velado-project-1"
    assert "k" in str(me.get(f"{API}/schema", params={"part": "models.k-anonymity"}).json())
    assert me.get(f"{API}/schema", params={"part": "models.x"}).status_code == 422
    samples = me.get(f"{API}/samples", params={"language": "pt"}).json()["items"]
    assert ("hospital", 5000) in [(s["name"], s["rows"]) for s in samples]
    assert "hospital, com" in samples[0]["title"]
