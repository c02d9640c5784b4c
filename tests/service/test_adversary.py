"""Who may not read records, with all questions that they may ask; who sends what is too large; who asks for everything.

The analyst is an adversary who bisects. Two services differ in one person's name and salary, and in nothing else: whatever the
analyst asks, both answer the same. So no sequence of questions, however clever, tells one from the other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

import stored_projects as at_hand
from service.conftest import on_sqlite, opened, people_of
from service.inline_worker import Inline
from service.test_permissions import NO_ID, TABLE
from service.test_sources import API, make, ready, upload
from velado.service.access.permissions import PROJECT
from velado.service.errors import TooMany
from velado.service.jobs import waiting
from velado.service.jobs.kinds import KINDS

PLANTED = (("Zeferina", "4097.25"), ("Domitila", "9126.75"))
"""The person in each of the two services: nobody else's salary lies between the two."""
COLUMNS: dict[str, Any] = {
    "name": "identifier",
    "age": {"role": "quasi-identifier", "type": "integer", "hierarchy": {"intervals": [10, 40]}},
    "sex": {"role": "quasi-identifier"},
    "salary": {
        "role": "sensitive",
        "exposure": "accepted",
        "type": "number",
        "hierarchy": {"intervals": {"cuts": [[2000, 10000]]}},
    },
}
MODELS = [{"k-anonymity": {"k": 3}}, {"distinct-diversity": {"l": 2, "column": "salary"}}]
CUTS = ("1500", "4097.2", "4097.3", "6000", "9126.7", "9126.8", "9500")
TRIED: list[dict[str, Any]] = [
    *({"intervals": {"cuts": [[float(cut)]]}} for cut in CUTS),
    *({"intervals": {"widths": [5000], "origin": float(cut)}} for cut in CUTS),
    {"intervals": [1000]},
    {"intervals": [0.5]},
    {"mask": "right"},
    {"mask": "left"},
    {"prefix": [1]},
    {"path": "."},
    {"dates": ["year"]},
    {"frequency": [2]},
    {"order": ["4097.25"]},
    {"groups": {"x": ["4097.25"]}},
    {"tree": {"x": ["Zeferina"]}},
    {"rows": [["Zeferina", "*"]]},
]


def table(person: tuple[str, str]) -> bytes:
    """Sixty people; salaries of all but one are below 1500."""
    rows = [f"Ana {n},{20 + n % 40},{'fm'[n % 2]},{1000 + 50 * (n % 10)}" for n in range(59)]
    return "\n".join(["name,age,sex,salary", *rows[:30], f"{person[0]},33,f,{person[1]}", *rows[30:], ""]).encode()


@pytest.fixture(scope="module")
def analysts(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """For each of the two services, the analyst's whole conversation with it."""
    found = []
    for planted in PLANTED:
        with (
            opened(on_sqlite(tmp_path_factory.mktemp("world") / "studio")) as service,
            pytest.MonkeyPatch.context() as patch,
            Inline(service, patch),
        ):
            person = people_of(service)
            owner, analyst = person("steward", name="olga"), person("steward", name="ana")
            source = make(owner, upload=upload(owner, table(planted)))["id"]
            ready(owner, source)
            members = {at_hand.rows_of(owner): "owner", at_hand.rows_of(analyst): "analyst"}
            document = {
                "source": {"source": source},
                "columns": COLUMNS,
                "models": MODELS,
                "method": {"lattice": {"suppression": 0.1}},
            }
            project = at_hand.project(service, members, document)
            run = submit(owner, "run", project=project)
            assert run[0] == "done", run
            guesses = make(analyst, upload=upload(analyst, b"name,age,sex\nZeferina,33,f\n"))["id"]
            ready(analyst, guesses)
            found.append(conversation(analyst, project, source, guesses))
    return found


def submit(who: TestClient, kind: str, parameters: Any = None, **about: str) -> tuple[str, Any]:
    """A job: how it ended, and what is told of it."""
    answer = who.post(f"{API}/jobs", json={"kind": kind, "parameters": parameters or {}, **about})
    if answer.status_code != 202:
        return str(answer.status_code), answer.json()
    id = answer.json()["id"]
    job = who.get(f"{API}/jobs/{id}", params={"wait": 30}).json()
    log = [line["text"] for line in who.get(f"{API}/jobs/{id}/log").json()["items"]]
    return job["state"], [job["error"], log, who.get(f"{API}/jobs/{id}/result").json(), {"job": id}]


def conversation(who: TestClient, project: str, source: str, guesses: str) -> dict[str, Any]:
    """All that an analyst may ask of a project, with parameters of their own choice, and all answers."""
    told: dict[str, Any] = {}
    here = f"{API}/projects/{project}"
    for place in (
        here,
        f"{here}/versions",
        f"{here}/versions/1",
        f"{here}/versions/2",
        f"{here}/file",
        f"{here}/file?format=json",
        f"{here}/checks",
        f"{here}/singled-out",
        f"{here}/hierarchies?values=20",
        *(f"{here}/hierarchies/{c}?values=100" for c in COLUMNS),
        f"{here}/hierarchies/salary/file",
        f"{API}/sources/{source}",
        f"{API}/sources/{source}/profile",
        f"{API}/sources/{source}/suggestion",
        f"{API}/sources/{source}/rows",
        f"{here}/releases",
        f"{API}/jobs",
    ):
        told[place] = who.get(place).text
    for column in COLUMNS:
        for tried in TRIED:
            answer = who.post(f"{here}/hierarchies/{column}/preview", json={"description": tried, "values": 10})
            told[f"preview {column} {tried}"] = (answer.status_code, answer.text)
            told[f"job {column} {tried}"] = submit(who, "hierarchy", {"column": column, "description": tried}, project=project)
        told[f"format {column}"] = submit(who, "hierarchy", {"column": column, "format": "4097.25"}, project=project)
    asked = {
        "estimate": {},
        "checks": {},
        "singled-out": {},
        "run": {},
        "explore": {},
        "compare": {"grid": {"k": [2, 3], "suppression": [0, 0.1]}},
        "balance": {"conditions": {"loss": 0.9}},
    }
    for kind, parameters in asked.items():
        told[kind] = submit(who, kind, parameters, project=project)
    exploration = told["explore"][1][-1]["job"]
    nodes = f"{API}/explorations/{exploration}"
    for place in (
        nodes,
        f"{nodes}/nodes",
        f"{nodes}/nodes?format=columns",
        *(f"{nodes}/nodes/{a},{b}" for a in range(3) for b in (0, 1)),
    ):
        told[place] = who.get(place).text
    release = who.get(f"{here}/releases").json()["items"][0]["id"]
    # Not the order of rows: releases are shuffled, each in another way.
    attacks = ["lookup", "homogeneity", "background", "skewness", "similarity"]
    for confidence in (0.1, 0.5, 1):
        told["attack" if confidence == 1 else f"attack {confidence}"] = submit(
            who, "attack", {"only": attacks, "confidence": confidence}, release=release
        )
    told["link"] = submit(who, "attack", {"external": guesses, "only": ["linkage"]}, release=release)
    told["who"] = submit(who, "attack", {"external": guesses, "identity": "name"}, release=release)
    return told


MOVING = re.compile(
    r"[0-9a-f]{24,64}|\d{4}-\d\d-\d\d[T ][\d:.]+(?:Z|\+00:00)?|(?<=seconds)\W+[\d.e-]+|(?<=memory)\W+\d+|(?<=needed)\W+\d+"
)
"""Ids, times, and what a machine measured of itself."""


def still(answers: dict[str, Any]) -> dict[str, str]:
    return {MOVING.sub("…", key): MOVING.sub("…", json.dumps(answer)) for key, answer in answers.items()}


@pytest.mark.faults
def test_no_question_tells_a_salary_or_a_name(analysts: list[dict[str, Any]]) -> None:
    one, other = map(still, analysts)
    assert one.keys() == other.keys()
    assert [key for key in one if one[key] != other[key]] == []


@pytest.mark.faults
def test_the_analyst_asks_all_that_an_analyst_may(analysts: list[dict[str, Any]]) -> None:
    """A new kind of job that an analyst may submit must be asked here, too."""
    may = {name for name, kind in KINDS.items() if kind.about in ("project", "release") and "analyst" in PROJECT[kind.action]}
    assert may == {"estimate", "explore", "compare", "balance", "attack", "checks", "hierarchy", "singled-out", "node"}
    ended = {key: answer[0] for key, answer in analysts[0].items() if key in may}
    assert set(ended.values()) == {"done"}, ended
    assert {analysts[0][key][0] for key in ("run", "who")} == {"403"}
    assert {answer[0] for key, answer in analysts[0].items() if key.startswith(("preview", "job", "format"))} == {403, "403"}


# Somebody who was suppressed


def table_of_ill(ill: str) -> bytes:
    """Sixty people, of whom one is too old to be released; only the young have asthma."""
    rows = [
        f"Ana {n},{20 + n % 40},{'fm'[n % 2]},{'asthma' if n % 40 < 10 and n % 3 else ('flu', 'gout')[n // 2 % 2]}"
        for n in range(59)
    ]
    return "\n".join(["name,age,sex,ill", *rows[:30], f"Zoe,99,f,{ill}", *rows[30:], ""]).encode()


def asked_of_suppressed(who: TestClient, project: str) -> dict[str, Any]:
    """What an analyst may ask of a release, and of nodes at which one person is suppressed."""
    here = f"{API}/projects/{project}"
    release = who.get(f"{here}/releases").json()["items"][0]["id"]
    told: dict[str, Any] = {
        f"attack {confidence}": submit(
            who, "attack", {"only": ["homogeneity", "background", "skewness"], "confidence": confidence}, release=release
        )
        for confidence in (0.3, 1)
    }
    told["factor"] = submit(who, "attack", {"only": ["skewness"], "factor": 1.1}, release=release)
    told["explore"] = submit(who, "explore", {}, project=project)
    nodes = f"{API}/explorations/{told['explore'][1][-1]['job']}"
    # Age in tens or in forties: Zoe is alone in both.
    told["list"] = [one for one in who.get(f"{nodes}/nodes").json()["items"] if one["levels"][0] in (1, 2)]
    columns = who.get(f"{nodes}/nodes?format=columns").json()
    told["columns"] = {name: each[2:6] for name, each in columns.items() if isinstance(each, list) and len(each) == 8}
    told |= {f"node {a},{b}": who.get(f"{nodes}/nodes/{a},{b}").text for a in (1, 2) for b in (0, 1)}
    return told


@pytest.mark.faults
def test_no_attack_and_no_node_tells_what_a_suppressed_person_has(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Beside the release, a share in the whole table, or a distance to it, is an equation for who is not released."""
    found = []
    columns = {name: COLUMNS[name] for name in ("name", "age", "sex")} | {"ill": "sensitive"}
    for ill in ("flu", "gout"):
        with (
            opened(on_sqlite(tmp_path_factory.mktemp("world") / "studio")) as service,
            pytest.MonkeyPatch.context() as patch,
            Inline(service, patch),
        ):
            person = people_of(service)
            owner, analyst = person("steward"), person("steward")
            source = make(owner, upload=upload(owner, table_of_ill(ill)))["id"]
            ready(owner, source)
            document = {
                "source": {"source": source},
                "columns": columns,
                "method": {"lattice": {"suppression": 0.1}},
                "models": [{"k-anonymity": {"k": 3}}, {"t-closeness": {"t": 0.9, "column": "ill"}}],
            }
            members = {at_hand.rows_of(owner): "owner", at_hand.rows_of(analyst): "analyst"}
            project = at_hand.project(service, members, document)
            assert submit(owner, "run", project=project)[0] == "done"
            found.append(asked_of_suppressed(analyst, project))
    attacks = found[0]["attack 0.3"][1][2]["attacks"]
    assert {one["name"] for one in attacks if one["succeeded"]} >= {"homogeneity", "skewness"}
    assert found[0]["factor"][0] == "403"
    assert all(node["suppressed"] == "fewer than 3" for node in found[0]["list"])
    one, other = ({key: still({key: answer}) for key, answer in each.items() if key != "explore"} for each in found)
    assert [key for key in one if one[key] != other[key]] == []
    best = [each["explore"][1][2]["optimal"] for each in found]
    assert best[0] == best[1]


# What it costs

SMALL_BODY = 10_000
HOSTILE = {
    "large": b'{"name": "' + b"x" * SMALL_BODY + b'"}',
    "deep": b"[" * (SMALL_BODY - 1),
    "deep objects": b'{"a":' * (SMALL_BODY // 6),
    "many": b"[" + b"0," * (SMALL_BODY // 2 - 2) + b"0]",
    "no JSON": b"\xff" * 5000,
    "numbers": b'{"name": ' + b"9" * 9000 + b"}",
}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Callable[..., TestClient]]]:
    """A service that takes small bodies only, so that the largest one costs little to send."""
    from dataclasses import replace

    settings = replace(on_sqlite(tmp_path_factory.mktemp("small") / "studio"), body_bytes=SMALL_BODY)
    with opened(settings) as service:
        yield service, people_of(service)


@pytest.mark.parametrize("body", HOSTILE)
def test_every_body_is_bounded(small: tuple[Any, Callable[..., TestClient]], body: str) -> None:
    """On every address that takes one: from nobody, a learner, and readers of a project."""
    service, person = small
    learner, reader = person("learner"), person("steward")
    nobody = TestClient(learner.app, base_url="http://127.0.0.1")
    project = at_hand.project(service, {at_hand.rows_of(reader): "reader", at_hand.rows_of(learner): "reader"})
    before = stored(service)
    found = {}
    for route in (one for one in TABLE if one.split()[0] in ("POST", "PUT", "PATCH", "DELETE") and "uploads/{" not in one):
        method, path = route.split()
        address = f"{API}{path}".replace("{id}", project if path.startswith("/projects") else NO_ID)
        address = re.sub(r"\{\w+\}", "x", address)
        for who in (nobody, learner, reader):
            answer = who.request(
                method, address, content=HOSTILE[body], headers={"Content-Type": "application/json", "If-Match": "*"}
            )
            if answer.status_code >= 500 or (body == "large" and answer.status_code != 413):
                found[route] = answer.status_code
    assert found == {}
    assert stored(service) - before < 100_000


def stored(service: Any) -> int:
    """Bytes of the folder of a service."""
    return sum(path.stat().st_size for path in service.settings.folder.rglob("*") if path.is_file() and "-wal" not in path.name)


# Whoever asks for everything


def test_one_user_does_not_have_all_places_to_wait() -> None:
    from contextlib import ExitStack

    with ExitStack() as held:
        for _ in range(waiting.WAITING_OF_ONE):
            held.enter_context(waiting._place("lea"))
        with pytest.raises(TooMany), waiting._place("lea"):
            pass
        with waiting._place("eva"):
            pass
    assert not waiting._waiting
    assert waiting.WAITING >= 3 * waiting.WAITING_OF_ONE
