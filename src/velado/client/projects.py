"""Run a project file on a service: its table and files are sent, the release and its evidence are fetched."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from velado.client.client import Client
from velado.errors import InputError, unwritable
from velado.operations.keys import read_key
from velado.progress import Progress
from velado.project import Project
from velado.project.references import What, walk
from velado.project.yaml_file import read_yaml
from velado.results import Discreet
from velado.tables.address import is_database
from velado.tables.source import is_elsewhere

WRITING = ("order", "suppressed", "guard", "delimiter")
"""What a project says of how its release is written, and the service takes over."""


def run_there(client: Client, project: str | Path, progress: Progress | None = None) -> dict[str, Any]:
    """Send a project, run it on the service, and fetch what it would have written here: the JSON of the release.

    The files appear where ``velado run`` would put them. Cancelling ends the run on the service, too.
    """
    described = Project.load(project)
    if described.tables:
        raise InputError(
            "several-tables",
            "a project of several tables is run here, or sent and followed in the browser",
            file=project,
            hint="Leave out --server.",
        )
    follow = (progress or Progress()).through(send=2, run=10, fetch=1)
    there = send_project(client, project, follow("send"))
    job = client.submit("run", project=there)
    ended = client.follow(str(job["id"]), follow("run"))
    follow("fetch")
    return _fetch(client, there, str(ended["id"]), described)


def send_project(client: Client, project: str | Path, progress: Progress | None = None) -> str:
    """Send a project file with all that it reads; the id that it has on the service.

    A project of the same name that is yours gets a new version. Keys of operations are sent as secrets of the project.
    """
    path = Path(project)
    Project.load(path)
    data = read_yaml(path)
    sending = _Sending(client, path.parent, progress or Progress())
    document = walk(data, sending.visit)
    name = str(data.get("name") or path.stem)
    id = _save_project(client, name, document)
    for secret, key in sending.secrets.items():
        client.put(f"/projects/{id}/secrets/{secret}", {"key": key})
    return id


@dataclass(repr=False)
class _Sending(Discreet):
    """What of a project file was sent already."""

    client: Client
    folder: Path
    progress: Progress
    uploads: dict[Path, str] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)

    def visit(self, what: What, value: Any) -> Any:
        """What the service has in the place of a path or a key."""
        return {"source": self._source, "output": self._output, "file": self._file, "key": self._key}[what](value)

    def _source(self, value: Any) -> dict[str, Any]:
        options = {"path": value} if isinstance(value, str) else dict(value)
        path, missing = options.pop("path", None), options.pop("missing", None)
        if not isinstance(path, str) or is_database(path) or is_elsewhere(path):
            raise InputError(
                "not-here",
                "the table is in a database or elsewhere, and the service reaches it by a connection of its own",
                hint="Make a connection and a source on the service, and name the source in the project there.",
            )
        place = {key: options.pop(key) for key in ("table",) if key in options}
        made = self.client.post("/sources", {"name": Path(path).name, "upload": self._send_file(path), "options": options, **place})
        return {"source": made["id"], **({} if missing is None else {"missing": missing})}

    def _output(self, value: Any) -> dict[str, Any]:
        options = {"path": value} if isinstance(value, str) else dict(value)
        path = options.get("path")
        if not isinstance(path, str) or is_database(path) or is_elsewhere(path):
            raise InputError(
                "not-here",
                "the release goes to a database or elsewhere, and the service reaches it by a connection of its own",
                hint="Name a connection in the project on the service.",
            )
        suffix = Path(path).suffix.removeprefix(".").lower()
        kept = {key: options[key] for key in WRITING if key in options}
        return {"format": {"tab": "tsv", "feather": "arrow"}.get(suffix, suffix), **kept}

    def _file(self, value: Any) -> str:
        return f"upload:{self._send_file(str(value))}"

    def _send_file(self, path: str) -> str:
        file = (self.folder / path).resolve()
        if file not in self.uploads:
            self.uploads[file] = self.client.upload(file, self.progress)
        return self.uploads[file]

    def _key(self, value: Any) -> str:
        key = read_key(str(value), self.folder).hex()
        name = next((n for n, k in self.secrets.items() if k == key), f"key-{len(self.secrets) + 1}")
        self.secrets[name] = key
        return f"secret:{name}"


def _save_project(client: Client, name: str, document: Mapping[str, Any]) -> str:
    """The id of the project of this name with this document."""
    after: dict[str, Any] = {}
    while True:
        listed = client.get("/projects", **after)
        for one in listed["items"]:
            if one["name"] == name and "owner" in one["roles"]:
                client.put(f"/projects/{one['id']}", {"document": document}, version=one["version"])
                return str(one["id"])
        if not listed.get("next"):
            return str(client.post("/projects", {"name": name, "document": document})["id"])
        after = {"after": listed["next"]}


def _fetch(client: Client, project: str, job: str, described: Project) -> dict[str, Any]:
    """Write the release and its public manifest; what the release says of itself."""
    releases = client.get(f"/projects/{project}/releases")["items"]
    release = next((one for one in releases if one["job"] == job), None)
    if release is None:
        raise InputError("no-release", "the service has no release of this run", hint="Look at the project there.")
    files = described.output.sink().files
    found = client.get(f"/releases/{release['id']}")
    client.download(f"/releases/{release['id']}/data", files["release"])
    manifest = files["manifest"]
    try:
        manifest.write_text(
            json.dumps(client.get(f"/releases/{release['id']}/manifest"), indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
        )
    except OSError as error:
        raise unwritable(error, manifest) from None
    summary = {**found["summary"], "output": str(files["release"]), "manifest": str(manifest)}
    return {**summary, "server": {"project": project, "release": release["id"], "job": job}}
