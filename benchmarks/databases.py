"""Push-down: a run inside a database server beside what the server alone needs to group and to make a table of that size.

    python benchmarks/databases.py [--engine postgresql|mariadb] [--rows 10000000] [--part run|parts] [--memory 1GB]

Starts a private server (as the tests do). ``run``: a lattice search over 5 quasi-identifiers of few different combinations.
``parts``: Mondrian over 6 quasi-identifiers that are nearly all different, in parts. *wire*: bytes that went through
the client's socket, both ways, counted by a relay; *client*: peak memory of the process that runs Velado.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

CLIENT = """
import json, resource, sys, time
import velado
began = time.perf_counter()
release = velado.run(json.loads(sys.argv[1]))
print(json.dumps({"seconds": time.perf_counter() - began, "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
                  "classes": release.evaluation.classes, "suppressed": release.evaluation.suppressed,
                  "loss": release.evaluation.utility.loss, "search": release.search.seconds}))
"""


class PostgreSQL:
    """A private PostgreSQL."""

    def __init__(self) -> None:
        from servers import postgresql

        self._server = postgresql
        self.socket = Path(postgresql.folder()) / ".s.PGSQL.5432"

    def address(self, folder: str) -> str:
        """Through the relay in a folder."""
        return f"postgresql://postgres@/postgres?host={folder}"

    def run(self, *statements: str) -> float:
        """Seconds that statements take, by the driver alone."""
        with self._server.connect() as connection:
            began = time.perf_counter()
            for statement in statements:
                connection.execute(statement)
            return time.perf_counter() - began

    def one(self, query: str) -> Any:
        with self._server.connect() as connection:
            return (connection.execute(query).fetchone() or (None,))[0]

    def fill(self, rows: int, distinct: bool) -> None:
        r = "floor(random() * {})::integer".format
        wide = f"{r(5000)} AS a, {r(1000)} AS b, {r(1000)} AS c, {r(1000)} AS d, {r(100)} AS e, {r(100)} AS f"
        few = (
            f"20 + {r(60)} AS age, (ARRAY['f', 'm'])[1 + {r(2)}] AS sex, (10000 + {r(20)})::text AS zip, {r(6)} AS education, "
            f"{r(4)} AS marital"
        )
        ill = f"(ARRAY['flu', 'cold', 'hiv', 'ms', 'asthma'])[1 + {r(5)}] AS ill"
        note = f"'note ' || {r(50)} AS note"
        self.run(
            f"CREATE TABLE people AS SELECT {wide if distinct else few}, {ill}, {note} FROM generate_series(1, {rows})",
            "VACUUM ANALYZE people",
        )

    def size(self, table: str) -> int:
        return int(self.one(f"SELECT pg_table_size('{table}')"))


class MariaDB:
    """A private MariaDB."""

    def __init__(self) -> None:
        from servers.mariadb import Server

        self._server = Server("--innodb-buffer-pool-size=2G")
        self._server.ask("CREATE DATABASE clinic CHARACTER SET utf8mb4")
        self.socket = self._server.socket

    def address(self, folder: str) -> str:
        return f"mariadb://root@localhost/clinic?unix_socket={folder}/.s.PGSQL.5432"

    def run(self, *statements: str) -> float:
        with self._server.connect(database="clinic") as connection, connection.cursor() as cursor:
            began = time.perf_counter()
            for statement in statements:
                cursor.execute(statement)
                cursor.fetchall()
            return time.perf_counter() - began

    def one(self, query: str) -> Any:
        with self._server.connect(database="clinic") as connection, connection.cursor() as cursor:
            cursor.execute(query)
            return (cursor.fetchone() or (None,))[0]

    def fill(self, rows: int, distinct: bool) -> None:
        r = "floor(rand() * {})".format
        whole = "CAST({} AS SIGNED)".format
        wide = ", ".join(f"{whole(r(n))} AS {c}" for c, n in zip("abcdef", (5000, 1000, 1000, 1000, 100, 100), strict=True))
        few = (
            f"{whole('20 + ' + r(60))} AS age, elt(1 + {r(2)}, 'f', 'm') AS sex, CAST(10000 + {r(20)} AS CHAR(5)) AS zip, "
            f"{whole(r(6))} AS education, {whole(r(4))} AS marital"
        )
        ill = f"elt(1 + {r(5)}, 'flu', 'cold', 'hiv', 'ms', 'asthma') AS ill"
        note = f"concat('note ', {r(50)}) AS note"
        self.run(
            f"CREATE TABLE people AS SELECT {wide if distinct else few}, {ill}, {note} FROM seq_1_to_{rows}", "ANALYZE TABLE people"
        )

    def size(self, table: str) -> int:
        return int(
            self.one(
                f"SELECT data_length FROM information_schema.tables WHERE table_name = '{table}' AND table_schema = database()"
            )
        )


class Relay:
    """A socket in a folder that hands everything on to another, and counts."""

    def __init__(self, target: Path) -> None:
        self.folder = tempfile.mkdtemp(prefix="velado-relay-")
        self.bytes = 0
        self._target = target
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(f"{self.folder}/.s.PGSQL.5432")
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            client, _ = self._listener.accept()
            server = socket.socket(socket.AF_UNIX)
            server.connect(str(self._target))
            for a, b in ((client, server), (server, client)):
                threading.Thread(target=self._hand_on, args=(a, b), daemon=True).start()

    def _hand_on(self, a: socket.socket, b: socket.socket) -> None:
        try:
            while data := a.recv(1 << 18):
                self.bytes += len(data)
                b.sendall(data)
        except OSError:
            pass
        for one in (a, b):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


def project(address: str, part: str, memory: str) -> dict[str, Any]:
    few = {
        "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [5, 10, 20]}},
        "sex": "quasi-identifier",
        "zip": {"role": "quasi-identifier", "hierarchy": {"mask": "right"}},
        "education": {"role": "quasi-identifier", "hierarchy": {"intervals": [3]}},
        "marital": "quasi-identifier",
    }
    many = {c: {"role": "quasi-identifier", "type": "integer"} for c in "abcdef"}
    return {
        "source": {"database": address, "table": "people"},
        "columns": {
            **(few if part == "run" else many),
            "ill": "sensitive",
            "note": {"role": "insensitive", "exposure": "accepted"},
        },
        "models": [{"k-anonymity": {"k": 500 if part == "run" else 10}}],
        "method": {"lattice": {"suppression": 0.02}} if part == "run" else {"mondrian": {"split": "median", "memory": memory}},
        "output": {"database": address, "table": "released", "if_exists": "replace"},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", default="postgresql", choices=["postgresql", "mariadb"])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--part", default="run", choices=["run", "parts"])
    parser.add_argument("--memory", default="1GB")
    chosen = parser.parse_args()
    server = {"postgresql": PostgreSQL, "mariadb": MariaDB}[chosen.engine]()
    began = time.perf_counter()
    server.fill(chosen.rows, chosen.part == "parts")
    print(
        f"{chosen.engine}, {chosen.rows:,} rows, {server.size('people') / 1e6:,.0f} MB, made in {time.perf_counter() - began:.1f} s",
        flush=True,
    )
    keys = "age, sex, zip, education, marital" if chosen.part == "run" else "a, b, c, d, e, f"
    grouping = server.run(f"SELECT count(*) FROM (SELECT {keys}, ill, count(*) AS n FROM people GROUP BY {keys}, ill) AS g")
    making = server.run("CREATE TABLE copied AS SELECT * FROM people", "DROP TABLE copied")
    print(f"server alone: GROUP BY {grouping:.1f} s, CREATE TABLE AS {making:.1f} s; load {os.getloadavg()[0]:.1f}", flush=True)
    relay = Relay(server.socket)
    given = project(server.address(relay.folder), chosen.part, chosen.memory)
    done = subprocess.run([sys.executable, "-c", CLIENT, json.dumps(given)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    found = json.loads(done.stdout)
    print(
        f"velado: {found['seconds']:.1f} s ({found['seconds'] / (grouping + making):.2f} times the server alone), client {found['memory'] / 1e6:,.0f} MB, "
        f"wire {relay.bytes / 1e6:,.1f} MB ({relay.bytes / server.size('people'):.1%} of the table), classes {found['classes']:,}, suppressed {found['suppressed']:,}, loss {found['loss']:.4f}, search {found['search']:.1f} s"
    )
    print(f"other load {os.getloadavg()[0]:.1f}, children {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000:,.0f} MB")


if __name__ == "__main__":
    main()
