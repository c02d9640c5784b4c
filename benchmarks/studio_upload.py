"""How fast the service takes a large file, and in how much memory: ``python benchmarks/studio_upload.py [GB]``.

Starts ``velado studio serve`` on a free port with a folder of its own, sends one file by PATCH in one request and in pieces of
8 MB, and pages through a table of a million rows. Everything on loopback; figures depend on the disk.
"""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from velado.service.accounts import tokens
from velado.service.permissions import SCOPES
from velado.service.service import Service
from velado.service.settings import load
from velado.service.store.tables import Source, User

MB = 1 << 20
PIECE = bytes(range(256)) * 4096
API = "/api/v1"


class Client:
    """One kept connection with a token."""

    def __init__(self, port: int, token: str) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self.headers = {"Authorization": f"Bearer {token}"}

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> dict[str, object]:
        """The JSON of an answer."""
        sent = json.dumps(body) if isinstance(body, dict) else body
        more = {"Content-Type": "application/json"} if isinstance(body, dict) else {}
        self.connection.request(method, API + path, sent, {**self.headers, **more, **headers})  # type: ignore[arg-type]
        answer = self.connection.getresponse()
        found = json.loads(answer.read() or b"{}")
        if answer.status >= 300:
            raise SystemExit(f"{answer.status}: {found}")
        return dict(found)


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[tuple[int, int]]:
    """A server; its port and process id."""
    command = [sys.executable, "-m", "velado", "studio", "serve", "--folder", str(folder), "--port", "0"]
    velado = shutil.which("velado", path=str(Path(sys.executable).parent))
    command = [velado, *command[3:]] if velado else command
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        try:
            yield int(line.rstrip().rpartition(":")[2].split("/")[0]), process.pid
        finally:
            process.terminate()


def memory(pid: int, what: str = "VmRSS") -> float:
    """MB of a process."""
    text = Path(f"/proc/{pid}/status").read_text()
    return int(next(x for x in text.splitlines() if x.startswith(what)).split()[1]) / 1024


def work(pid: int) -> float:
    """Seconds of processor time of a process."""
    parts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


class Watch(threading.Thread):
    """The largest memory of a process while something happens."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid, self.most, self.stop = pid, 0.0, threading.Event()

    def run(self) -> None:
        """Look every 20 ms."""
        while not self.stop.wait(0.02):
            self.most = max(self.most, memory(self.pid))


def send(client: Client, size: int, piece: int | None) -> float:
    """Send a file; seconds until it is complete."""
    began = time.perf_counter()
    id = client.ask("POST", "/uploads", {"name": "large.csv", "bytes": size})["id"]
    offset = 0
    while offset < size:
        length = size - offset if piece is None else min(piece, size - offset)
        body = (PIECE[: min(len(PIECE), length - done)] for done in range(0, length, len(PIECE)))
        found = client.ask(
            "PATCH", f"/uploads/{id}", body, **{"Upload-Offset": str(offset), "Content-Length": str(length)}
        )
        offset = int(str(found["offset"]))
    seconds = time.perf_counter() - began
    expected = hashlib.sha256()
    for done in range(0, size, len(PIECE)):
        expected.update(PIECE[: min(len(PIECE), size - done)])
    assert found["sha256"] == expected.hexdigest()
    client.ask("DELETE", f"/uploads/{id}")
    return seconds


def table(service: Service, owner: str, rows: int = 1_000_000) -> str:
    """A source of a million rows and ten columns, as an inspection leaves it."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(1)
    data = pa.table({f"c{i}": pa.array(rng.integers(0, 10 ** (i % 6 + 1), rows)).cast(pa.string()) for i in range(10)})
    with service.store.writing() as db:
        columns = [{"name": name, "type": "text"} for name in data.column_names]
        profile = {"columns": [{"name": name, "type": "integer", "format": None} for name in data.column_names]}
        source = Source(
            user_id=owner, name="large", kind="upload", state="ready", rows=rows, columns=columns, profile=profile, copied=True
        )  # fmt: skip
        db.add(source)
        db.flush()
    pq.write_table(data, service.files.copy(source.id), row_group_size=100_000, compression="zstd")
    return source.id


def pages(client: Client, source: str, query: str) -> tuple[float, float]:
    """Milliseconds of a page: median and the slowest of 20."""
    took = []
    for i in range(20):
        began = time.perf_counter()
        client.ask("GET", f"/sources/{source}/rows?limit=100&offset={i * 49_000}{query}")
        took.append(1000 * (time.perf_counter() - began))
    return statistics.median(took), max(took)


def main() -> None:
    """Measure and print."""
    print(f"load of the machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    size = int(float(sys.argv[1] if len(sys.argv) > 1 else 1) * 1024 * MB)
    folder = Path(tempfile.mkdtemp(prefix="velado-bench-"))
    try:
        service = Service.open(load(environment={}, folder=folder), make=True)
        with service.store.writing() as db:
            user = User(name="bench", roles=["steward"])
            db.add(user)
            db.flush()
            _, token = tokens.make(db, user, "bench", tuple(SCOPES), 1)
        source = table(service, user.id)
        with serving(folder) as (port, pid):
            client = Client(port, token)
            client.ask("GET", "/uploads")
            send(client, 8 * MB, None)
            for name, piece in (("in one request", None), ("in pieces of 8 MB", 8 * MB)):
                before, worked, watch = memory(pid), work(pid), Watch(pid)
                watch.start()
                seconds = send(client, size, piece)
                watch.stop.set()
                print(
                    f"{size / MB:,.0f} MB {name}: {seconds:.1f} s, {size / MB / seconds:,.0f} MB/s; {work(pid) - worked:.1f} s of a processor; "
                    f"server {before:.0f} MB before, {watch.most:.0f} MB at most, {memory(pid):.0f} MB after"
                )
            for name, query in (("unsorted", ""), ("sorted", "&sort=c5"), ("filtered", "&where=c1=12")):
                median, most = pages(client, source, query)
                print(f"page of 10^6 rows x 10 columns, {name}: {median:.0f} ms, slowest of 20 {most:.0f} ms")
            print(f"server {memory(pid):.0f} MB, at most {memory(pid, 'VmHWM'):.0f} MB")
        service.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
