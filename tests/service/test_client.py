"""The client and the commands that use it: what a run here gives, a run there gives, too."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.csv
import pytest
import yaml

from conftest import PROJECT, Command
from servers import studio
from velado import Progress, run
from velado.client import Client, ServiceError, run_there
from velado.client import client as inner
from velado.errors import Cancelled, InputError, NoSolution
from velado.samples import hospital


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[studio.Studio]:
    with studio.running(tmp_path_factory.mktemp("client") / "studio", copying=True) as found:
        yield found


@pytest.fixture(scope="module")
def token(running: studio.Studio) -> str:
    return running.user("ana", "steward")


@pytest.fixture
def client(running: studio.Studio, token: str) -> Iterator[Client]:
    with Client(running.address, token) as found:
        yield found


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    pyarrow.csv.write_csv(hospital(200), "patients.csv")
    Path("sex.csv").write_text("female;*\nmale;*\n")
    columns = {**PROJECT["columns"], "sex": {"role": "quasi-identifier", "hierarchy": {"file": "sex.csv", "delimiter": ";"}}}
    described = {**PROJECT, "columns": columns, "output": {"path": "out.csv", "order": "sorted"}}
    Path("project.yaml").write_text(yaml.safe_dump(described))
    return tmp_path / "project.yaml"


def test_a_run_there_gives_what_a_run_here_gives(client: Client, project: Path) -> None:
    seen: list[str] = []
    there = run_there(client, project, Progress(lambda step: seen.append(step.stage)))
    fetched = Path("out.csv").read_text()
    manifest = json.loads(Path("out.csv.manifest.json").read_text())
    here: Any = run(project)
    assert Path("out.csv").read_text() == fetched
    assert (there["levels"], there["released"], there["class_size"]["min"]) == (
        here.levels,
        here.evaluation.released,
        here.as_dict()["class_size"]["min"],
    )
    assert there["project"] == "patients"
    assert manifest["output"]["sha256"] if "output" in manifest else manifest
    assert {"send", "fetch"} <= set(seen)
    # The second time the project gets a new version, and is no other one.
    before = len(client.get("/projects")["items"])
    run_there(client, project)
    assert len(client.get("/projects")["items"]) == before


def test_the_command_runs_there(
    running: studio.Studio, token: str, project: Path, main: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VELADO_TOKEN", token)
    ended = main("run", "project.yaml", "--server", running.address, "--json")
    assert ended.code == 0, ended.err
    told = json.loads(ended.out)
    assert Path(told["output"]).exists()
    assert set(told["server"]) == {"project", "release", "job"}
    listed = main("status", "--server", running.address)
    assert listed.code == 0
    assert told["server"]["job"] in listed.out
    one = main("status", told["server"]["job"], "--server", running.address, "--json")
    assert json.loads(one.out)["state"] == "done"
    spanish = main("status", "--server", running.address, "--language", "es")
    assert "hecho" in spanish.out


def test_no_solution_and_bad_projects_are_told_as_here(client: Client, project: Path) -> None:
    described = yaml.safe_load(project.read_text())
    project.write_text(
        yaml.safe_dump(
            {
                **described,
                "models": [{"k-anonymity": {"k": 150}}],
                "method": {"lattice": {"suppression": 0}},
                "columns": {
                    **described["columns"],
                    "birth_date": {"role": "quasi-identifier", "hierarchy": {"dates": ["year"], "top": False}},
                },
            }
        )
    )
    with pytest.raises(NoSolution):
        run_there(client, project)
    assert not Path("out.csv").exists()
    project.write_text(yaml.safe_dump({**described, "source": {"path": "nothing.csv"}}))
    with pytest.raises(InputError, match=r"nothing\.csv"):
        run_there(client, project)


def test_keys_go_as_secrets_and_come_back_in_no_answer(client: Client, project: Path, tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("c0ffee" * 10 + "c0ff")
    key.chmod(0o600)
    described = yaml.safe_load(project.read_text())
    described["name"] = "with a key"
    described["columns"]["national_id"] = {"role": "identifier", "operation": {"pseudonymize": {"key": "file:key"}}}
    project.write_text(yaml.safe_dump(described))
    there = run_there(client, project)
    fetched = Path("out.csv").read_text()
    run(project)
    assert Path("out.csv").read_text() == fetched
    for path in ("", "/secrets", "/file", "/versions", "/checks"):
        answer = client._request("GET", f"/projects/{there['server']['project']}{path}").text
        assert "c0ffee" not in answer


def test_a_cancelled_run_ends_there_too(client: Client, project: Path) -> None:
    progress = Progress()
    jobs: list[str] = []
    submit = client.submit

    def submitted(*given: Any, **about: Any) -> dict[str, Any]:
        job = submit(*given, **about)
        jobs.append(job["id"])
        progress.cancel()
        return job

    client.submit = submitted  # type: ignore[method-assign]
    with pytest.raises(Cancelled):
        run_there(client, project, progress)
    studio.until(lambda: client.get(f"/jobs/{jobs[0]}")["state"] in ("cancelled", "done"))
    assert not Path("out.csv").exists()


def test_an_upload_goes_on_after_a_broken_connection(client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "large.csv"
    path.write_bytes(b"a;b\n" * 100_000)
    monkeypatch.setattr(inner, "CHUNK", 50_000)
    request, broken = client._request, []

    def breaking(method: str, address: str, **options: Any) -> Any:
        if method == "PATCH" and len(broken) < 2 and options["headers"]["Upload-Offset"] != "0":
            broken.append(address)
            raise inner.unreachable(ConnectionError())
        return request(method, address, **options)

    client._request = breaking  # type: ignore[method-assign]
    id = client.upload(path)
    found = client.get(f"/uploads/{id}")
    assert (found["state"], found["bytes"], len(broken)) == ("complete", 400_000, 2)


def test_what_is_refused_says_code_and_hint(running: studio.Studio, client: Client) -> None:
    with pytest.raises(ServiceError) as error:
        client.get("/projects/000000000000000000000000")
    assert (error.value.status, error.value.code) == (404, "not-found")
    with Client(running.address, "velado_wrong", language="es") as wrong, pytest.raises(ServiceError, match="inicie sesión"):
        wrong.get("/projects")


@pytest.mark.parametrize("url", ["http://velado.example", "ftp://127.0.0.1", "velado.example", ""])
def test_a_token_goes_only_where_nobody_listens(url: str) -> None:
    with pytest.raises(InputError) as error:
        Client(url, "velado_x")
    assert error.value.code == "bad-server"


def test_a_service_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inner, "TRIES", 1)
    monkeypatch.delenv("VELADO_TOKEN", raising=False)
    with Client("http://127.0.0.1:9", "velado_x") as client, pytest.raises(InputError) as error:
        client.get("/session")
    assert error.value.code == "no-service"
    with pytest.raises(InputError, match="token"):
        Client("http://127.0.0.1:9")
