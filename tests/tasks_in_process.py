"""Tasks made by hand, done in this process: a folder of a service, and what a job may use."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from velado.progress import Progress
from velado.samples import hospital
from velado.service.files import Files
from velado.service.jobs.kinds import KINDS
from velado.service.jobs.process import perform
from velado.service.jobs.task import Task, _secrets
from velado.service.secrets import Secrets
from velado.service.settings import load
from velado.service.store.tables import new_id

ROWS = 120
COLUMNS: dict[str, Any] = {
    "name": "identifier",
    "national_id": "identifier",
    "birth_date": {"role": "quasi-identifier", "type": "date", "format": "%Y-%m-%d", "hierarchy": {"dates": ["year", "decade"]}},
    "sex": "quasi-identifier",
    "city": "quasi-identifier",
    "diagnosis": {"role": "sensitive"},
}


class AtHand:
    """A service without a store: uploads, connections and secrets that tasks may name."""

    def __init__(self, folder: Path, monkeypatch: Any) -> None:
        monkeypatch.setenv("VELADO_STUDIO_FOLDER", str(folder))
        _secrets.cache_clear()
        self.settings = load(environment={}, folder=folder)
        self.secrets = Secrets.of(self.settings, make=True)
        self.files = Files(folder)
        self.sources: dict[str, Any] = {}
        self.uploads: dict[str, Any] = {}
        self.connections: dict[str, Any] = {}
        self.sealed: dict[str, str] = {}
        self.project = new_id()

    def upload(self, content: bytes, name: str) -> str:
        """A file that somebody sent."""
        id = new_id()
        self.files.upload(id).write_bytes(content)
        self.uploads[id] = {"path": str(self.files.upload(id)), "name": name}
        return id

    def source(self, content: bytes, name: str = "people.csv", **options: Any) -> str:
        """A source of a file."""
        upload = self.upload(content, name)
        id = new_id()
        self.sources[id] = {"kind": "upload", **self.uploads[upload], "options": options, "copy": str(self.files.copy(id))}
        return id

    def table(self, rows: pa.Table, name: str = "people.csv") -> str:
        """A source of a table, as CSV or Parquet."""
        sink = pa.BufferOutputStream()
        if name.endswith(".parquet"):
            pyarrow.parquet.write_table(rows, sink)
        else:
            pyarrow.csv.write_csv(rows, sink)
        return self.source(sink.getvalue().to_pybytes(), name)

    def connection(self, address: str, password: str | None = None) -> str:
        """A connection, its password sealed."""
        id = new_id()
        sealed = None if password is None else self.secrets.seal(password, f"connection:{id}")
        self.connections[id] = {"address": address, "sealed": sealed}
        return id

    def on_connection(self, connection: str, **place: str) -> str:
        """A source in a database."""
        id = new_id()
        self.sources[id] = {
            "kind": "connection",
            "connection": connection,
            **self.connections[connection],
            "place": place,
            "name": "people",
            "options": {},
            "copy": str(self.files.copy(id)),
        }
        return id

    def secret(self, name: str, text: str) -> None:
        """A key of the project."""
        self.sealed[name] = self.secrets.seal(text, f"project:{self.project}:{name}")

    def task(self, kind: str, document: Mapping[str, Any] | None = None, **more: Any) -> Task:
        """A task of a job that may use everything."""
        job, attempt = more.pop("job", None) or new_id(), more.pop("attempt", 1)
        things = {
            "sources": self.sources,
            "uploads": self.uploads,
            "connections": self.connections,
            "secrets": self.sealed,
            **more.pop("things", {}),
        }
        limits = {"memory": 8_000_000_000, "seconds": 60, "bytes": 10**9, "expanded_bytes": 10**9, **more.pop("limits", {})}
        folder = self.files.attempt(job, attempt)
        folder.mkdir()
        return Task(
            job,
            attempt,
            kind,
            folder,
            more.pop("parameters", {}),
            document,
            things,
            limits,
            KINDS[kind].work,
            self.project,
            more.pop("source", None),
        )

    def do(self, kind: str, document: Mapping[str, Any] | None = None, **more: Any) -> tuple[Task, dict[str, Any]]:
        """Do a job here; its task, and its result."""
        memory = more.pop("memory", {})
        task = self.task(kind, document, **more)
        KINDS[kind].parameters.model_validate(dict(task.parameters))
        return task, perform(task, Progress(), memory)

    def released(self, document: Mapping[str, Any], **more: Any) -> dict[str, Any]:
        """Run a project; the release as later tasks name it."""
        task, result = self.do("run", document, **more)
        return {"release": {"folder": str(task.folder), "document": document, "result": result, "place": result["place"]}}

    def people(self, rows: int = ROWS) -> str:
        """A source of some patients."""
        return self.table(patients(rows))

    def hospital(self, rows: int = ROWS, **more: Any) -> dict[str, Any]:
        """A document of a project about some patients."""
        return {
            "name": "patients",
            "source": {"source": self.people(rows)},
            "columns": COLUMNS,
            "rest": "drop",
            "models": [{"k-anonymity": {"k": 3}}],
            "method": {"lattice": {"suppression": 0.1}},
            **more,
        }


def patients(rows: int = ROWS) -> pa.Table:
    """Invented patients."""
    return hospital(rows)
