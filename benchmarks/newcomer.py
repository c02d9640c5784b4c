"""Studio tried by a new user: from the start of ``velado studio`` to a verified release of a table of one's own.

    python benchmarks/newcomer.py [--tables csv parquet postgresql demo] [--rows 5000] [--large 1000000] [--warm] [--privacy]

A CSV file (Spanish headers, semicolons, decimal commas, messy cells), a Parquet file of a million rows, a table of a
PostgreSQL server of its own, and the demo. For each, Studio starts in an empty folder (with nothing compiled, unless
``--warm``), a real Chromium in a new profile opens the link that it says, and clicks what a person sees, by the words on it: the
shortest way, or with ``--privacy`` over the page of the models. Prints one line of JSON for each table:

``seconds``   of the machine, from the start of the command until the page shows the verified release; ``steps``: the same in parts
``actions``   clicks, choices and fields filled in until then
``estimate``  seconds, and ``THINKING`` for each action: nobody was watched
``handed``    two clicks more: seconds until the file is there. It must have the digest, the rows and the k that the pages say,
              and hold no value of an identifier
``processor`` seconds of the processors that Studio took until it was ended: its web process, worker and jobs, not the browser
``load``      of the machine at the start and at the end

The installation (``make studio`` makes it when there is none) and the start of the browser are not measured. The server is
reached by its socket, which the setting ``local_sockets`` allows; the setting changes nothing else.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import duckdb

# Without this folder, whose studio.py is another one than the tests'.
sys.path.pop(0)
sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from servers import postgresql
from servers.studio import VELADO
from studio import browser_helpers

TABLES = ("csv", "parquet", "postgresql", "demo")
THINKING = 4
SHORT, LONGEST = 60_000, 1_200_000
K = 5

# The columns and their roles, as the page of the columns shows them.
ROLE = re.compile("^Role of ")
ROLES = """all => all.map(one => [one.ariaLabel.replace("Role of ", ""), one.selectedOptions[0].text])"""

# What the release must not show, and what must be among the columns that it is k-anonymous on, by table.
IDENTIFIERS = {
    "csv": ("NHC", "Nombre y apellidos", "DNI"),
    "parquet": ("employee_id", "full_name", "email"),
    "postgresql": ("patient_id", "full_name", "ssn"),
    "demo": ("name", "national_id"),
}
QUASI = {
    "csv": ("Fecha nacimiento", "Sexo", "Código postal", "Fecha ingreso"),
    "parquet": ("birth_date", "sex", "postcode", "department"),
    "postgresql": ("birth_date", "sex", "zip", "admitted"),
    "demo": ("birth_date", "sex", "postal_code"),
}

STAFF = """SELECT 1000000 + i AS employee_id, {first} || ' ' || {last} AS full_name, 'user' || i || '@example.com' AS email,
    DATE '1955-01-01' + CAST(floor(random() * 18000) AS INTEGER) AS birth_date, {sex} AS sex,
    lpad(CAST(1000 + CAST(floor(random() * random() * 900) AS INTEGER) * 10 AS VARCHAR), 5, '0') AS postcode,
    {department} AS department, CASE WHEN random() > 0.02 THEN {diagnosis} END AS diagnosis,
    round(exp(10 + random() * 1.2), 2) AS salary
    FROM range({rows}) numbers(i)"""
ADMISSIONS = """CREATE TABLE admissions AS SELECT i AS patient_id, {first} || ' ' || {last} AS full_name,
    lpad((i % 800 + 100)::text, 3, '0') || '-' || lpad((i % 90 + 10)::text, 2, '0') || '-' || lpad(i::text, 4, '0') AS ssn,
    DATE '1930-01-01' + floor(random() * 33000)::int AS birth_date, {sex} AS sex,
    lpad((2100 + floor(random() * 40) * 10)::text, 5, '0') AS zip,
    TIMESTAMP '2024-01-01' + random() * INTERVAL '600 days' AS admitted, {diagnosis} AS diagnosis,
    round((100 + random() * 9000)::numeric, 2) AS cost
    FROM generate_series(1, {rows}) numbers(i)"""
WORDS = {
    "first": ["Anna", "Ben", "Carla", "David", "Eva", "Finn", "Grace", "Hugo"],
    "last": ["Smith", "Jones", "Brown", "Miller", "Lopez", "Meyer", "Rossi", "Novak", "Dubois"],
    "sex": "FM",
    "department": ["Sales", "IT", "HR", "Finance", "Operations", "Legal"],
    "diagnosis": ["Diabetes", "Asthma", "Cancer", "Depression", "Hypertension", "Influenza"],
}


class Person:
    """Somebody in front of a page, who is counted and timed."""

    def __init__(self, page: Any, began: float) -> None:
        self.page = page
        self.actions: list[str] = []
        self.steps: dict[str, float] = {}
        self._last = began

    def lap(self, name: str) -> None:
        """The time since the step before."""
        now = time.perf_counter()
        self.steps[name] = round(now - self._last, 2)
        self._last = now

    def click(self, what: Any, name: str) -> None:
        self.actions.append(f"click {name}")
        what.click()

    def press(self, name: str, within: Any = None) -> None:
        """Click the first button or link that says this."""
        found = (within or self.page).get_by_role("button", name=name, exact=True)
        self.click(found.or_((within or self.page).get_by_role("link", name=name, exact=True)).first, name)

    def step(self, name: str) -> None:
        """Click a step of the project, at the side. Its link also says how far it is."""
        self.click(self.page.get_by_role("link", name=re.compile(rf"^\W*{name}\b")).first, name)
        self.see(name)

    def fill(self, name: str, text: str) -> None:
        self.actions.append(f"fill {name}")
        self.page.get_by_label(name, exact=True).fill(text)

    def send(self, path: Path) -> None:
        """Choose a file in the window of the system."""
        with self.page.expect_file_chooser() as found:
            self.click(self.page.get_by_text("Choose a file", exact=True), "Choose a file")
        self.actions.append("choose the file")
        found.value.set_files(path)

    def see(self, heading: str) -> None:
        """Wait for the page of this name."""
        self.page.get_by_role("heading", name=heading, exact=True, level=1).wait_for(timeout=LONGEST)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--tables", nargs="+", choices=TABLES, default=TABLES)
    options.add_argument("--rows", type=int, default=5000, help="of the CSV file and of the table of the server")
    options.add_argument("--large", type=int, default=1_000_000, help="rows of the Parquet file")
    options.add_argument("--warm", action="store_true", help="with the kernels that are compiled already")
    options.add_argument("--privacy", action="store_true", help="look at the page of the models on the way")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as made, browser_helpers.browser() as browser:
        folder = Path(made)
        for table in given.tables:
            rows, choose = made_table(table, folder, given)
            try:
                found = tried(browser, folder / table, table, choose, given)
            finally:
                if table == "postgresql":
                    postgresql.connect().execute("DROP TABLE admissions")
            assert found["rows"] == rows, found
            print(json.dumps(found, ensure_ascii=False), flush=True)


def made_table(table: str, folder: Path, given: argparse.Namespace) -> tuple[int, Callable[[Person], None]]:
    """The table, and how a person chooses it on the page of tables."""
    if table == "csv":
        write_admissions(folder / "ingresos.csv", given.rows)
        return given.rows, lambda person: person.send(folder / "ingresos.csv")
    if table == "parquet":
        words = {name: f"list_extract({list(of)}, 1 + CAST(floor(random() * {len(of)}) AS INTEGER))" for name, of in WORDS.items()}
        with duckdb.connect() as connection:
            connection.execute("SELECT setseed(0.3)")
            query = STAFF.format(rows=given.large, **words)
            connection.execute(f"COPY ({query}) TO '{folder / 'staff.parquet'}' (FORMAT parquet)")
        return given.large, lambda person: person.send(folder / "staff.parquet")
    if table == "postgresql":
        words = {name: f"(ARRAY{list(of)})[1 + floor(random() * {len(of)})::int]" for name, of in WORDS.items()}
        with postgresql.connect() as connection:
            connection.execute("SELECT setseed(0.3)")
            connection.execute(ADMISSIONS.format(rows=given.rows, **words))
            connection.execute("ANALYZE admissions")
        return given.rows, connect
    return 5000, lambda person: None


def connect(person: Person) -> None:
    """Name a server, and choose its table."""
    person.press("New connection")
    person.fill("Name", "Clinic")
    person.fill("Address", postgresql.address())
    person.fill("Password", "secret")
    person.press("Connect")
    row = person.page.get_by_role("row", name="admissions")
    # What is read aloud also names the table.
    person.click(row.get_by_role("button", name="Use this table"), "Use this table")


def write_admissions(path: Path, rows: int) -> None:
    """What a hospital in Spain exports, as its programs and people leave it."""
    chance = random.Random(7)
    first = [
        "Ana",
        "Luis",
        "Marta",
        "Jorge",
        "Lucía",
        "Pedro",
        "Carmen",
        "Iván",
        "Sofía",
        "Raúl",
        "Elena",
        "Tomás",
        "Núria",
        "Hugo",
        "Alba",
        "Óscar",
    ]
    last = [
        "García",
        "López",
        "Pérez",
        "Sánchez",
        "Romero",
        "Díaz",
        "Moreno",
        "Ruiz",
        "Ibáñez",
        "Núñez",
        "Vidal",
        "Soler",
        "Castro",
        "Ortega",
    ]
    towns = ["Valencia", "Torrent", "Gandia", "Paterna", "Sagunt", "Alzira"]
    diagnoses = ["J18.9", "I10", "E11.9", "C50.9", "F32.1", "K35.8", "S72.0", "N39.0", "O80", "I21.9", "J45.9", "M54.5"]
    usual = (8, 20, 16, 3, 6, 5, 4, 9, 7, 3, 8, 11)

    def messy(value: str, share: float, *others: str) -> str:
        return chance.choice(others) if chance.random() < share else value

    with open(path, "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, delimiter=";")
        out.writerow(
            [
                "NHC",
                "Nombre y apellidos",
                "DNI",
                "Fecha nacimiento",
                "Sexo",
                "Código postal",
                "Municipio",
                "Fecha ingreso",
                "Diagnóstico",
                "Días estancia",
                "Importe (€)",
            ]
        )
        for number in range(rows):
            born = date(1930, 1, 1) + timedelta(days=chance.randrange(33000))
            came = date(2023, 1, 1) + timedelta(days=chance.randrange(700))
            town = chance.randrange(len(towns))
            out.writerow(
                [
                    500000 + number,
                    f"{chance.choice(first)} {chance.choice(last)} {chance.choice(last)}",
                    f"{chance.randrange(10**7, 10**8)}{chance.choice('TRWAGMYFPDXBNJZSQVHLCKE')}",
                    messy(f"{born:%d/%m/%Y}", 0.01, "", "s/d", born.isoformat()),
                    messy(chance.choice("HM"), 0.02, "", "h", "m ", "Mujer"),
                    messy(f"46{town * 3 + chance.randrange(3):03}", 0.005, ""),
                    towns[town],
                    f"{came:%d/%m/%Y}",
                    messy(chance.choices(diagnoses, usual)[0], 0.01, ""),
                    chance.randrange(1, 30),
                    messy(f"{chance.lognormvariate(7, 0.8):.2f}".replace(".", ","), 0.01, "", "-", "N/A"),
                ]
            )


def tried(browser: Any, folder: Path, table: str, choose: Callable[[Person], None], given: argparse.Namespace) -> dict[str, Any]:
    """What it takes to get from nothing to a release of this table."""
    folder.mkdir()
    load, before = [os.getloadavg()[0]], processor()
    context = browser.new_context(viewport={"width": 1280, "height": 900}, locale="en")
    began = time.perf_counter()
    with studio(folder, warm=given.warm) as link:
        page = context.new_page()
        page.set_default_timeout(SHORT)
        person = Person(page, began)
        person.lap("start")
        page.goto(link)
        person.lap("first page")
        if table == "demo":
            person.press("Try the demo")
        else:
            person.press("Choose a table")
            choose(person)
        person.see("Columns")
        person.lap("table looked at")
        named = {name for name, role in page.get_by_label(ROLE).evaluate_all(ROLES) if role == "quasi-identifier"}
        assert named >= set(QUASI[table]), f"quasi-identifiers: {named}"
        if given.privacy:
            person.step("Privacy")
            person.press("To the run")
            person.see("Run")
        else:
            person.step("Run")
        person.lap("to the run")
        person.press("Start the run")
        main = page.get_by_role("main")
        ended = main.get_by_text(re.compile(r"^\W*Verified$")).or_(main.get_by_role("alert"))
        ended.first.wait_for(timeout=LONGEST)
        assert main.get_by_role("row", name=f"k ≥ {K}").get_by_text("holds").is_visible(), main.inner_text()
        person.lap("run")
        seconds, actions = time.perf_counter() - began, list(person.actions)
        handed = downloaded(person, folder, sorted(named), IDENTIFIERS[table])
        context.close()
    load.append(os.getloadavg()[0])
    return {
        "table": table,
        "rows": handed.pop("of"),
        "seconds": round(seconds, 1),
        "steps": person.steps,
        "actions": len(actions),
        "estimate": round(seconds + THINKING * len(actions), 1),
        "handed": handed,
        "processor": round(processor() - before, 1),
        "clicked": actions,
        "warm": given.warm,
        "load": [round(one, 1) for one in load],
    }


def downloaded(person: Person, folder: Path, quasi: list[str], identifiers: tuple[str, ...]) -> dict[str, Any]:
    """Hand the release out, and hold the file against what the pages say of it."""
    began = time.perf_counter()
    person.press("Publish", person.page.get_by_role("main"))
    person.see("Publish")
    main = person.page.get_by_role("main")
    text = main.inner_text()
    assert re.search(r"\bverified\b", text), text
    with person.page.expect_download(timeout=LONGEST) as found:
        person.press("Download the data")
    path = folder / ("download" + Path(found.value.suggested_filename).suffix)
    found.value.save_as(path)
    seconds = time.perf_counter() - began
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert digest in text, f"the page names another digest than {digest}"
    released, of = (int(one.replace(",", "")) for one in re.search(r"([\d,]+) of ([\d,]+)", text).groups())  # type: ignore[union-attr]
    rows, smallest, shown = figures(path, quasi, identifiers)
    assert rows == released, f"{rows} rows, the page says {released}"
    assert smallest >= K, f"a class of {smallest}"
    assert not shown, f"the release shows {shown}"
    return {
        "seconds": round(seconds, 1),
        "file": found.value.suggested_filename,
        "bytes": path.stat().st_size,
        "released": released,
        "of": of,
        "k": smallest,
    }


def figures(path: Path, quasi: list[str], identifiers: tuple[str, ...]) -> tuple[int, int, list[str]]:
    """Rows of a file, its smallest class, and the identifiers that have other values than ``*``."""
    read = f"read_csv('{path}', all_varchar = true)" if path.suffix == ".csv" else f"'{path}'"
    with duckdb.connect() as connection:

        def asked(query: str) -> list[Any]:
            return connection.execute(query).fetchall()

        columns = {row[0] for row in asked(f"DESCRIBE SELECT * FROM {read}")}
        keys = ", ".join(f'"{name}"' for name in quasi)
        rows, smallest = asked(f"SELECT sum(n), min(n) FROM (SELECT count(*) AS n FROM {read} GROUP BY {keys})")[0]
        shown = [
            name for name in identifiers if name in columns and asked(f"""SELECT 1 FROM {read} WHERE "{name}" <> '*' LIMIT 1""")
        ]
    return int(rows), int(smallest), shown


def processor() -> float:
    """Seconds of the processors of all processes that have been started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@contextmanager
def studio(folder: Path, *, warm: bool) -> Iterator[str]:
    """Velado Studio for one person in an empty folder; the link that it says."""
    told = {"VELADO_LANGUAGE": "en", "VELADO_STUDIO_LOCAL_SOCKETS": "true"}
    if not warm:
        told["NUMBA_CACHE_DIR"] = str(folder / "kernels")
    usual = {name: value for name, value in os.environ.items() if not name.startswith("VELADO_")}
    command = [str(VELADO), "studio", "--no-browser", "--port", "0", "--folder", str(folder / "data")]
    with open(folder / "log", "w") as log:
        process = subprocess.Popen(command, env={**usual, **told}, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        assert process.stdout is not None
        found = next((one for line in process.stdout for one in re.findall(r"http\S+/link/\S+", line)), None)
        assert found, (folder / "log").read_text()
        yield found
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


if __name__ == "__main__":
    main()
