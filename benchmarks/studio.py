"""The service under load: 20 users at once read while two jobs run; uploads with constant memory; pages of 10⁶ rows.

    python benchmarks/studio.py [--users 20] [--seconds 20] [--store sqlite|postgresql] [--upload 1000]

The service runs as a team runs it (one web process, one worker), the load comes from this process, over the loopback, for a
bounded time.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from servers.studio import Studio
from velado.client import Client
from velado.samples import hospital

READS = (
    "/projects/{project}",
    "/sources/{source}/rows?offset={offset}&limit=50",
    "/sources/{source}/profile",
    "/jobs?limit=20",
    "/releases/{release}",
    "/releases/{release}/evaluation",
    "/projects",
    "/catalog/models",
    "/session",
)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--users", type=int, default=20)
    options.add_argument("--seconds", type=float, default=20)
    options.add_argument("--rows", type=int, default=1_000_000)
    options.add_argument("--upload", type=int, default=1000, help="MB")
    options.add_argument("--store", choices=("sqlite", "postgresql"), default="sqlite")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        settings: dict[str, Any] = {"jobs_per_user": 2, "jobs_at_once": 2}
        if given.store == "postgresql":
            from servers import postgresql

            with postgresql.connect() as connection:
                connection.execute("CREATE DATABASE studio")
            settings["database"] = postgresql.address(database="studio")
        studio = Studio(Path(folder) / "studio", **settings)
        try:
            studio.start_web()
            studio.start_worker()
            measure(studio, Path(folder), given)
        finally:
            studio.stop()


def measure(studio: Studio, folder: Path, given: argparse.Namespace) -> None:
    tokens = [studio.user(f"user{i}", "steward") for i in range(given.users)]
    clients = [Client(studio.address, token) for token in tokens]
    if given.upload:
        upload(studio, clients[0], folder, given.upload)
    if given.rows:
        pages(clients[0], folder, given.rows)
    places = [prepared(client) for client in clients]
    print(f"{len(places)} users have a source, a project and a release", flush=True)
    for name, busy in (("idle", False), ("while two jobs run", True)):
        jobs = [heavy(clients[i], places[i]) for i in range(2)] if busy else []
        times = load(clients, places, given.seconds)
        running = [c.get(f"/jobs/{job}")["state"] for c, job in zip(clients, jobs, strict=False)]
        flat = sorted(t for found in times.values() for t in found)
        print(
            f"{name}: {len(flat) / given.seconds:.0f} reads/s, p50 {at(flat, 0.5):.0f} ms, p95 {at(flat, 0.95):.0f} ms, "
            f"p99 {at(flat, 0.99):.0f} ms, most {flat[-1]:.0f} ms; jobs {running}; web {memory(studio):.0f} MB",
            flush=True,
        )
        for path, found in times.items():
            print(f"    {path}: p50 {statistics.median(found):.0f} ms, p95 {at(sorted(found), 0.95):.0f} ms")
        for client, job, state in zip(clients, jobs, running, strict=False):
            if state == "running":
                client.post(f"/jobs/{job}/cancel")


def upload(studio: Studio, client: Client, folder: Path, megabytes: int) -> None:
    path, piece = folder / "large.csv", b"name;value\n" * 100_000
    with open(path, "wb") as file:
        for _ in range(megabytes * 1_000_000 // len(piece)):
            file.write(piece)
    before, most, done = memory(studio), [0.0], threading.Event()

    def watch() -> None:
        while not done.wait(0.05):
            most[0] = max(most[0], memory(studio))

    watcher = threading.Thread(target=watch)
    watcher.start()
    begin = time.perf_counter()
    id = client.upload(path)
    seconds = time.perf_counter() - begin
    done.set()
    watcher.join()
    client.delete(f"/uploads/{id}")
    path.unlink()
    print(f"upload of {megabytes} MB: {seconds:.1f} s; web {before:.0f} MB before, {most[0]:.0f} MB at most", flush=True)


def pages(client: Client, folder: Path, rows: int) -> None:
    import pyarrow.csv

    path = folder / "people.csv"
    pyarrow.csv.write_csv(hospital(rows), path)
    source = client.post("/sources", {"name": "people", "upload": client.upload(path)})
    begin = time.perf_counter()
    client.follow(source["job"])
    print(f"{rows:,} rows inspected and copied: {time.perf_counter() - begin:.1f} s", flush=True)
    for what, query in (
        ("first", ""),
        ("in the middle", f"offset={rows // 2}"),
        ("sorted", f"sort=birth_date&offset={rows // 2}"),
        ("filtered", "where=city=Madrid"),
    ):
        times = []
        for _ in range(10):
            begin = time.perf_counter()
            client.get(f"/sources/{source['id']}/rows?limit=50&{query}")
            times.append(1000 * (time.perf_counter() - begin))
        print(f"    a page of 50 rows, {what}: {statistics.median(times):.0f} ms", flush=True)


def prepared(client: Client) -> dict[str, str]:
    source = client.post("/sources", {"name": "patients", "sample": "hospital", "rows": 2000})
    client.follow(source["job"])
    project = client.post("/projects", {"name": "patients", "source": source["id"]})
    document = {**project["document"], "method": {"lattice": {"suppression": 0.1}}}
    client.put(f"/projects/{project['id']}", {"document": document}, version=project["version"])
    release = client.follow(client.submit("run", project=project["id"])["id"])["release"]
    return {"source": source["id"], "project": project["id"], "release": release}


def heavy(client: Client, place: dict[str, str]) -> str:
    """A job that keeps a core busy for longer than the measurement."""
    grid = {"k": list(range(2, 200)), "suppression": [0.01 * i for i in range(10)]}
    job = client.submit("compare", {"grid": grid, "measures": ["ks", "queries", "privacy"]}, project=place["project"])["id"]
    while client.get(f"/jobs/{job}")["state"] == "queued":
        time.sleep(0.1)
    time.sleep(2)
    return str(job)


def load(clients: list[Client], places: list[dict[str, str]], seconds: float) -> dict[str, list[float]]:
    """Every user reads something, thinks for a while, reads the next."""
    times: dict[str, list[float]] = {path: [] for path in READS}
    end = time.monotonic() + seconds

    def use(number: int) -> None:
        turn = number
        while time.monotonic() < end:
            path = READS[turn % len(READS)]
            begin = time.perf_counter()
            clients[number].get(path.format(**places[number], offset=(turn * 50) % 1950))
            times[path].append(1000 * (time.perf_counter() - begin))
            turn += 1
            time.sleep(0.2)

    users = [threading.Thread(target=use, args=[i]) for i in range(len(clients))]
    for user in users:
        user.start()
    for user in users:
        user.join()
    return times


def at(ordered: list[float], share: float) -> float:
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def memory(studio: Studio) -> float:
    assert studio.web is not None
    pages = int(Path(f"/proc/{studio.web.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    main()
