"""Commands on tables of a real PostgreSQL server: what users type, what they see, and what they never see."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml

from case_loop import failures
from conftest import VELADO, Command
from servers import postgresql as server
from velado import InputError, Project, anonymize, decrypt
from velado.appointments import assign_appointments, generate_people, generate_slots, save_table
from velado.questions import DatabaseTables, list_tables
from velado.tables import Address, open_table

SECRET = "s3cret word!"
QI = "birth_date,sex,postal_code"


@pytest.fixture(scope="module")
def clinic(patients: pa.Table) -> Iterator[str]:
    """A database with the patients, a user who needs a password, and one with few rights; its address."""
    with server.connect() as c:
        c.execute("DROP DATABASE IF EXISTS clinic")
        c.execute("CREATE DATABASE clinic")
        for user in ("reader", "needs_password", "nobody_special"):
            c.execute(f"DROP ROLE IF EXISTS {user}")
            c.execute(f"CREATE ROLE {user} LOGIN PASSWORD '{SECRET}'")
        rules = Path(server.folder()) / "pg_hba.conf"
        before = rules.read_text()
        rules.write_text("local all needs_password scram-sha-256\n" + before)
        c.execute("SELECT pg_reload_conf()")
    address = server.address(database="clinic")
    save_table(patients, f"{address}#patients")
    with server.connect(database="clinic") as c:
        c.execute("CREATE SCHEMA safe")
        c.execute("CREATE VIEW public.women AS SELECT * FROM patients WHERE sex = 'female'")
        c.execute("GRANT SELECT ON patients TO reader, needs_password")
        c.execute("GRANT CREATE, USAGE ON SCHEMA safe TO reader")
        c.execute("ANALYZE")
    yield address
    rules.write_text(before)
    with server.connect() as c:
        c.execute("SELECT pg_reload_conf()")
        c.execute("DROP DATABASE clinic WITH (FORCE)")
        for user in ("reader", "needs_password", "nobody_special"):
            c.execute(f"DROP ROLE {user}")


@pytest.fixture
def clean(clinic: str) -> Iterator[str]:
    """The same, and afterwards nothing is left of what a test wrote."""
    yield clinic
    with server.connect(database="clinic") as c:
        for schema in ("public", "safe"):
            rows = c.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s", [schema])
            for name in {name for (name,) in rows} - ({"patients"} if schema == "public" else set()):
                c.execute(f'DROP TABLE {schema}."{name}" CASCADE')


def as_user(address: str, user: str) -> str:
    return address.replace("postgres@", f"{user}@")


def names(schema: str = "public") -> set[str]:
    with server.connect(database="clinic") as c:
        return {name for (name,) in c.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s", [schema])}


# Looking at tables


@pytest.mark.postgresql
def test_tables(clinic: str, main: Command) -> None:
    ended = main("tables", clinic)
    assert ended.code == 0
    assert "public.patients" in ended.out
    assert "public.women" in ended.out
    assert "birth_date" in ended.out
    assert f"velado inspect '{clinic}#public.patients'" in ended.out
    listed = main("tables", clinic, "--json").json
    assert listed["schema"] == "velado-tables-1"
    people = next(t for t in listed["tables"] if t["name"] == "patients")
    assert (people["schema"], people["kind"], people["rows"]) == ("public", "table", 400)
    assert {"name": "sex", "type": "text"} in people["columns"]
    assert people["bytes"] > 0
    assert next(t for t in listed["tables"] if t["name"] == "women")["kind"] == "view"
    assert DatabaseTables.from_dict(listed) == list_tables(clinic)
    assert repr(list_tables(clinic)) == f"<DatabaseTables tables: {len(listed['tables'])}>"
    spanish = main("tables", clinic, "--language", "es").out
    assert "tabla" in spanish
    assert "vista" in spanish
    assert "rows" not in spanish


@pytest.mark.postgresql
def test_looking_at_a_table(clinic: str, main: Command) -> None:
    table = f"{clinic}#public.patients"
    seen = main("inspect", table)
    assert "400 records, 9 columns" in seen.out
    assert f"velado init '{table}'" in seen.out
    assert "registros" in main("inspect", table, "--language", "es").out
    assert main("inspect", table, "--json").json["rows"] == 400
    checked = main("check", table, "--qi", QI, "--sensitive", "diagnosis", "--json").json
    assert checked["rows"] == 400
    assert main("check", f"{clinic}#women", "--qi", "sex").code == 0
    assert main("appointments", "k", table, "--qi", "sex", "--json").json["tables"][0]["people"] == 400
    assert main("fuzzy", table, "--qi", "cost", "--json").code == 0


@pytest.mark.postgresql
def test_options_of_text_tables(clinic: str, main: Command, tmp_path: Path, patients_csv: str) -> None:
    table = f"{clinic}#patients"
    for option in (["--delimiter", ";"], ["--skip", "1"], ["--no-header"], ["--encoding", "latin-1"]):
        ended = main("inspect", table, *option, "--json")
        assert ended.code == 2
        assert ended.json["error"]["code"] == "bad-option"
        assert option[0] in ended.json["error"]["message"]
    (tmp_path / "p.csv").write_text(patients_csv.replace(",", ";"), encoding="utf-8")
    ended = main("evaluate", "p.csv", table, "--qi", "sex", "--delimiter", ";", "--json")
    assert ended.json["rows"] == ended.json["released"] == 400
    marked = main("inspect", table, "--missing", "female", "--json").json
    assert next(c["missing"] for c in marked["columns"] if c["name"] == "sex") > 0


# From a table to a verified one


@pytest.mark.postgresql
def test_init_run_and_everything_after(clean: str, main: Command, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    ended = main("init", f"{clean}#public.patients", "-o", "deep/clinic.yaml")
    assert ended.code == 0, ended.err
    described = yaml.safe_load((tmp_path / "deep" / "clinic.yaml").read_text(encoding="utf-8"))
    assert described["source"] == {"database": clean, "table": "public.patients"}
    assert described["output"] == {"database": clean, "table": "public.patients_anonymous"}
    assert main("validate", "deep/clinic.yaml").code == 0
    ran = main("run", "deep/clinic.yaml", "--show", "2")
    assert ran.code == 0, ran.err
    where = re.sub(r"\?.*", "", clean)
    assert f"Release:  {where}#public.patients_anonymous\n" in ran.out
    assert f"Manifest: {where}#public.patients_anonymous_manifest\n" in ran.out
    assert "Private:" not in ran.out
    assert {"patients_anonymous", "patients_anonymous_manifest"} <= names()
    again = main("run", "deep/clinic.yaml", "--json")
    assert (again.code, again.json["error"]["code"]) == (2, "output-exists")
    described["output"] |= {"if_exists": "replace", "manifest": "private.json"}
    (tmp_path / "deep" / "clinic.yaml").write_text(yaml.safe_dump(described, sort_keys=False), encoding="utf-8")
    replaced = main("run", "deep/clinic.yaml", "--json")
    assert replaced.json["output"] == f"{where}#public.patients_anonymous"
    assert (tmp_path / "deep" / "private.json").exists()
    for command in ("evaluate", "attack"):
        assert main(command, "--project", "deep/clinic.yaml", "--json").code == 0
    assert main("estimate", "deep/clinic.yaml").code == 0
    assert main("compare", "deep/clinic.yaml", "--k", "2..3", "--json").code == 0
    report = main("report", "deep/clinic.yaml", "--format", "html", "--json")
    assert report.code == 0, report.err
    assert (tmp_path / "deep" / "patients_anonymous_report.html").exists()


@pytest.mark.postgresql
def test_init_without_a_name_writes_here(clean: str, main: Command, tmp_path: Path) -> None:
    assert main("init", f"{clean}#patients").code == 0
    assert (tmp_path / "patients.yaml").exists()
    assert main("run", "patients.yaml").code == 0
    assert main("init", f"{clean}#patients").code == 2
    spanish = main("init", f"{clean}#patients", "--force", "--language", "pt")
    assert spanish.code == 0
    assert "if_exists: replace" in (tmp_path / "patients.yaml").read_text(encoding="utf-8")


@pytest.mark.postgresql
def test_the_variable_of_a_password_is_kept(clinic: str, main: Command, tmp_path: Path, monkeypatch: Any) -> None:
    address = as_user(clinic, "needs_password:${CLINIC}")
    ended = main("inspect", f"{address}#patients", "--json")
    assert (ended.code, ended.json["error"]["code"]) == (2, "no-password")
    assert "CLINIC" in ended.err
    monkeypatch.setenv("CLINIC", SECRET)
    assert main("init", f"{address}#patients").code == 0
    text = (tmp_path / "patients.yaml").read_text(encoding="utf-8")
    assert "needs_password:${CLINIC}@" in text
    assert SECRET not in text
    monkeypatch.setenv("CLINIC", "wrong" + SECRET)
    ended = main("inspect", f"{address}#patients", "--json")
    assert (ended.code, ended.json["error"]["code"]) == (2, "login-refused")
    assert SECRET not in ended.out + ended.err


@pytest.mark.postgresql
@pytest.mark.quick
def test_explore_and_several_tables(clean: str, main: Command, tmp_path: Path) -> None:
    columns = {
        "sex": "quasi-identifier",
        "postal_code": {"role": "quasi-identifier", "hierarchy": {"mask": "right"}},
        "diagnosis": "sensitive",
    }
    shared = {"models": [{"k-anonymity": {"k": 5}}], "method": {"lattice": {"suppression": 0.1}}}
    one = {"source": f"{clean}#patients", "columns": columns, "rest": "drop", **shared}
    project = {**one, "output": f"{clean}#safe.people"}
    (tmp_path / "one.yaml").write_text(yaml.safe_dump(project), encoding="utf-8")
    explored = main("explore", "one.yaml", "--json").json
    assert explored["rows"] == 400
    assert main("run", "one.yaml").code == 0
    assert names("safe") == {"people", "people_manifest"}
    tables = {
        name: {"source": f"{clean}#{name}", "columns": columns, "rest": "drop", "output": f"{clean}#safe.{name}"}
        for name in ("patients", "women")
    }
    (tmp_path / "two.yaml").write_text(yaml.safe_dump({"tables": tables, **shared}), encoding="utf-8")
    ended = main("run", "two.yaml")
    assert ended.code == 0, ended.err
    assert {"patients", "women"} <= names("safe")


@pytest.mark.postgresql
def test_a_release_replaces_nothing_that_is_read(clean: str, main: Command, tmp_path: Path) -> None:
    columns = {"sex": "quasi-identifier"}
    for table in ("patients", "public.patients"):
        output = {"database": clean, "table": table, "if_exists": "replace"}
        project = {
            "source": f"{clean}#patients",
            "columns": columns,
            "rest": "drop",
            "models": [{"k-anonymity": {"k": 2}}],
            "output": output,
        }
        (tmp_path / "p.yaml").write_text(yaml.safe_dump(project), encoding="utf-8")
        ended = main("run", "p.yaml", "--json")
        assert (ended.code, ended.json["error"]["code"]) == (2, "output-is-input")
    tables = {
        name: {"source": f"{clean}#patients", "columns": columns, "rest": "drop", "output": f"{clean}#{name}"}
        for name in ("a", "a_manifest")
    }
    (tmp_path / "p.yaml").write_text(yaml.safe_dump({"tables": tables, "models": [{"k-anonymity": {"k": 2}}]}), encoding="utf-8")
    ended = main("run", "p.yaml", "--json")
    assert ended.json["error"]["code"] == "output-is-input"
    assert names() == {"patients"}


@pytest.mark.postgresql
def test_from_a_file_and_to_a_file(clean: str, tmp_path: Path, patients: pa.Table) -> None:
    columns = {"sex": "quasi-identifier", "diagnosis": "sensitive"}
    models = {"k-anonymity": {"k": 5}}
    there = anonymize(patients, columns, models, output=f"{clean}#safe.people", rest="drop")
    back = anonymize(f"{clean}#safe.people", columns, models, output=tmp_path / "back.csv")
    assert there.public_evaluation.released == back.public_evaluation.released == 400
    assert "output" in repr(there) or there.output


@pytest.mark.thorough
def test_a_release_elsewhere_has_its_report(main: Command, write_project: Any, tmp_path: Path) -> None:
    write_project(output={"path": "memory://clinic/release.csv"})
    assert main("run", "project.yaml").code == 0
    assert main("evaluate", "--project", "project.yaml").code == 0
    ended = main("report", "project.yaml", "--format", "html")
    assert ended.code == 0, ended.err
    assert (tmp_path / "release_report.html").exists()
    write_project(output={"path": "memory://clinic/nothing.csv"})
    ended = main("report", "project.yaml", "--json")
    assert ended.json["error"]["code"] == "no-manifest"


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("duckdb", marks=pytest.mark.thorough)])
def test_tables_of_files(kind: str, main: Command, patients: pa.Table, tmp_path: Path) -> None:
    save_table(patients, f"{kind}:///{tmp_path / 'clinic'}.{kind}#patients")
    assert "velado inspect 'clinic." + kind + "#patients'" in main("tables", f"clinic.{kind}").out
    assert main("inspect", f"clinic.{kind}#patients", "--json").json["rows"] == 400
    assert main("inspect", f"clinic.{kind}#patients", "--skip", "1").code == 2
    assert main("init", f"clinic.{kind}#patients", "-o", f"{kind}.yaml").code == 0
    assert main("run", f"{kind}.yaml").code == 0
    assert main("report", f"{kind}.yaml", "--format", "html").code == 0
    assert "patients_anonymous" in main("tables", f"{kind}:///clinic.{kind}").out
    given = ("appointments", "generate", f"{kind}:///made.{kind}", "--people", "40")
    assert main(*given).code == 0
    assign = ("appointments", "assign", f"made.{kind}#people", f"made.{kind}#slots", "--qi", "sex")
    ended = main(*assign, "-o", f"made.{kind}#given")
    assert ended.code == 0, ended.err


# Encrypted columns


@pytest.mark.postgresql
def test_decrypt(clean: str, main: Command, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("VELADO_KEY", "8c1d6f0b5e2a97c34410fe6db2a8539c7e05d1f46ab9283c0d7fe1a264b85390")
    project = {
        "protection": "operations",
        "source": f"{clean}#patients",
        "columns": {"national_id": {"role": "identifier", "operation": {"encrypt": {"key": "env:VELADO_KEY"}}}},
        "rest": "drop",
        "output": f"{clean}#coded",
    }
    (tmp_path / "light.yaml").write_text(yaml.safe_dump(project), encoding="utf-8")
    assert main("run", "light.yaml").code == 0
    args = ("decrypt", f"{clean}#coded", "--column", "national_id", "--key", "env:VELADO_KEY", "-o", f"{clean}#plain")
    assert main(*args, "--json").json["output"].endswith("#plain")
    ended = main(*args, "--json")
    assert ended.json["error"]["code"] == "output-exists"
    assert main(*args, "--replace").code == 0
    with server.connect(database="clinic") as c:
        same = c.execute("SELECT count(*) FROM patients JOIN plain USING (national_id)").fetchone()
    assert same == (400,)
    with pytest.raises(InputError, match="replace the input"):
        decrypt(f"{clean}#coded", "national_id", "env:VELADO_KEY", output=f"{clean}#coded")


# Appointments


@pytest.mark.postgresql
def test_appointments(clean: str, main: Command, tmp_path: Path) -> None:
    ended = main("appointments", "generate", f"{clean}#safe", "--people", "120", "--json")
    assert ended.json["files"] == [f"{re.sub(r'[?].*', '', clean)}#safe.{n}" for n in ("people", "slots")]
    assert names("safe") == {"people", "slots"}
    assert main("appointments", "generate", f"{clean}#safe", "--json").json["error"]["code"] == "output-exists"
    assert main("appointments", "generate", f"{clean}#safe", "--people", "120", "--force").code == 0
    people, slots, target = (f"{clean}#safe.{n}" for n in ("people", "slots", "given"))
    with server.connect(database="clinic") as c:
        c.execute(
            "CREATE TABLE safe.may AS SELECT p.id, s.slot FROM safe.people p, safe.slots s WHERE s.slot <> 'S1' OR p.id % 2 = 0"
        )
        c.execute("ALTER TABLE safe.people ADD COLUMN home integer")
        c.execute("UPDATE safe.people SET home = id / 2 WHERE id < 20")
    args = ("appointments", "assign", people, slots, "--qi", "sex", "--id", "id", "--household", "home", "--slot", "slot")
    told = main(*args, "--admissible", f"{clean}#safe.may", "-o", target, "--show", "2")
    assert told.code == 0, told.err
    assert f"{re.sub(r'[?].*', '', clean)}#safe.given" in told.out
    with server.connect(database="clinic") as c:
        one = "SELECT count(*) FROM safe.given g LEFT JOIN safe.may m USING (id, slot) WHERE m.id IS NULL"
        apart = "SELECT count(*) FROM (SELECT home FROM safe.given WHERE home IS NOT NULL GROUP BY home HAVING count(DISTINCT slot) > 1) x"
        full = "SELECT count(*) FROM (SELECT slot FROM safe.given GROUP BY slot HAVING count(*) > (SELECT capacity FROM safe.slots s WHERE s.slot = given.slot)) x"
        assert [c.execute(q).fetchone() for q in (one, apart, full)] == [(0,)] * 3
        assert c.execute("SELECT count(*), count(DISTINCT id) FROM safe.given").fetchone() == (120, 120)
    assert main(*args, "-o", target, "--json").json["error"]["code"] == "output-exists"
    first = main(*args, "-o", target, "--replace", "--json").json
    assert first["output"] == f"{re.sub(r'[?].*', '', clean)}#safe.given"
    # The order in which a server gives rows means nothing.
    with server.connect(database="clinic") as c:
        before = c.execute("SELECT id, slot FROM safe.given ORDER BY id").fetchall()
        c.execute("UPDATE safe.people SET age = age WHERE id < 60")
    assert main(*args, "-o", target, "--replace").code == 0
    with server.connect(database="clinic") as c:
        assert c.execute("SELECT id, slot FROM safe.given ORDER BY id").fetchall() == before
    assert main("appointments", "compare", people, slots, "--qi", "sex", "--json").code == 0
    refused = main(*args, "-o", people, "--replace", "--json")
    assert refused.json["error"]["code"] == "output-is-input"
    assert main(*args, "-o", "given.csv").code == 0
    assert len((tmp_path / "given.csv").read_text().splitlines()) == 121


@pytest.mark.postgresql
def test_appointments_from_memory_to_a_table(clean: str) -> None:
    people, slots = generate_people(people=50), generate_slots(people=50)
    planning = assign_appointments(people, slots, ["sex"], output={"database": clean, "table": "given"})
    assert planning.table is None
    with open_table(f"{clean}#given") as table:
        assert table.rows() == 50


@pytest.mark.postgresql
def test_appointments_are_verified_whatever_their_order(clean: str, monkeypatch: Any) -> None:
    from velado.errors import VerificationError
    from velado.tables.postgresql.stage import PostgreSQLStage

    people, slots = generate_people(people=50), generate_slots(people=50)
    made = PostgreSQLStage.open_side

    def spoiled(self: Any, slot: Any, session: Any) -> Any:
        self.connection.run(f"UPDATE {slot.side} SET slot = 'S1' WHERE id = (SELECT min(id) FROM {slot.side} WHERE slot <> 'S1')")
        return made(self, slot, session)

    monkeypatch.setattr(PostgreSQLStage, "open_side", spoiled)
    with pytest.raises(VerificationError):
        assign_appointments(people, slots, ["sex"], output=f"{clean}#given")
    assert "given" not in names()


# What goes wrong


@pytest.mark.postgresql
@pytest.mark.parametrize("language", ["en", "es", "pt"])
def test_what_goes_wrong(clinic: str, main: Command, language: str) -> None:
    nothing = ("--language", language, "--json")
    for address, code in (
        (f"{clinic}#nothing", "unknown-table"),
        (f"{clinic}#no.such", "unknown-table"),
        (clinic, "no-table"),
        (f"{clinic}#a.b.c.d", "bad-table"),
        (f"{clinic.replace('/clinic', '/klinik')}#patients", "unknown-database"),
        (f"{as_user(clinic, 'nobody_special')}#patients", "no-right"),
        ("postgresql://127.0.0.1:1/clinic#patients", "no-server"),
        (f"{clinic.replace('postgresql', 'oracle')}#patients", "no-such-engine"),
    ):
        ended = main("inspect", address, *nothing)
        assert (ended.code, ended.json["error"]["code"]) == (2, code), address
        assert ended.json["error"]["hint"]


@pytest.mark.postgresql
def test_few_rights(clean: str, main: Command, tmp_path: Path) -> None:
    """SELECT on the source, TEMPORARY, and CREATE in one schema are enough."""
    own = as_user(clean, "reader")
    project = {
        "source": f"{own}#patients",
        "columns": {"sex": "quasi-identifier", "diagnosis": "sensitive"},
        "rest": "drop",
        "models": [{"k-anonymity": {"k": 5}}],
        "output": f"{own}#safe.people",
    }
    (tmp_path / "p.yaml").write_text(yaml.safe_dump(project), encoding="utf-8")
    ended = main("run", "p.yaml")
    assert ended.code == 0, ended.err
    assert main("tables", own).code == 0
    (tmp_path / "p.yaml").write_text(yaml.safe_dump({**project, "output": f"{own}#public.people"}), encoding="utf-8")
    refused = main("run", "p.yaml", "--json")
    assert (refused.code, refused.json["error"]["code"]) == (2, "no-right")
    assert names() == {"patients"}


# Passwords


ADDRESSES = [
    "postgresql://ana:s3cret@db/clinic#patients",
    "postgresql://ana:s3cret@db/clinic",
    "mysql://ana:s3cret@db/clinic#x",
    "mysql+pymysql://ana:s3cret@db/clinic#x",
    "postgresql://ana@db/clinic?password=s3cret#x",
    "s3://key:s3cret@bucket/people.csv",
    "https://ana:s3cret@host/people.parquet",
    "postgresql:/ana:s3cret@db/clinic",
    "postgresql://ana:p@s3cret@db/clinic#x",
    "oracle://ana:s3cret@db/x",
]
COMMANDS = [
    "inspect ADDRESS",
    "init ADDRESS -o p.yaml",
    "check ADDRESS --qi a",
    "tables ADDRESS",
    "evaluate patients.csv ADDRESS --qi sex",
    "attack patients.csv --qi sex --original ADDRESS",
    "decrypt patients.csv --column sex --key env:VELADO_KEY -o ADDRESS",
    "fuzzy patients.csv --qi cost -o ADDRESS",
    "appointments assign patients.csv ADDRESS --qi sex -o x.csv",
    "appointments generate ADDRESS",
    "inspect patients.csv ADDRESS",
    "run project.yaml",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_no_password_is_told(
    main: Command, write_project: Any, tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check(address: str) -> None:
        if command.startswith("run "):
            write_project(source={"database": address, "table": "x"})
        before = set(tmp_path.rglob("*"))
        for more in ([], ["--json"] if not command.startswith("init ") else ["--language", "es"]):
            ended = main(*command.replace("ADDRESS", address).split(), *more)
            assert ended.code == 2
            assert "s3cret" not in ended.out + ended.err
            assert "Traceback" not in ended.err
        assert set(tmp_path.rglob("*")) == before

    monkeypatch.setenv("VELADO_KEY", "8c1d6f0b5e2a97c34410fe6db2a8539c7e05d1f46ab9283c0d7fe1a264b85390")
    write_project()
    assert failures(check, ADDRESSES) == []


def typed(args: list[str], folder: Path, environment: dict[str, str], password: str) -> tuple[int, str]:
    """Run a command on a terminal, type a password whenever one is asked for; exit code and all that was shown."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.execve(VELADO, [str(VELADO), *args], environment)
    shown, until, asked = b"", time.monotonic() + 60, 0
    while time.monotonic() < until:
        ready, _, _ = select.select([terminal], [], [], 1)
        if not ready:
            continue
        try:
            piece = os.read(terminal, 4096)
        except OSError:
            break
        if not piece:
            break
        shown += piece
        if shown.count(b"needs_password@/clinic: ") > asked:
            asked += 1
            os.write(terminal, f"{password}\n".encode())
    _, status = os.waitpid(child, 0)
    os.close(terminal)
    return os.waitstatus_to_exitcode(status), shown.decode(errors="replace")


@pytest.mark.postgresql
@pytest.mark.skipif(sys.platform == "win32", reason="no terminals of this kind")
def test_a_password_is_asked_for_on_a_terminal(clinic: str, tmp_path: Path, environment: dict[str, str]) -> None:
    table = f"{as_user(clinic, 'needs_password')}#patients"
    code, shown = typed(["init", table, "--yes", "--language", "es"], tmp_path, environment, SECRET)
    assert code == 0, shown
    assert shown.count("Contraseña de postgresql://needs_password@/clinic: ") == 1
    assert SECRET not in shown
    assert Project.load(tmp_path / "patients.yaml").columns
    assert SECRET not in (tmp_path / "patients.yaml").read_text(encoding="utf-8")
    code, shown = typed(["inspect", table], tmp_path, environment, "wrong")
    assert code == 2
    assert "Password of" in shown
    assert "refuses" in shown


@pytest.mark.postgresql
def test_nobody_is_asked_without_a_terminal(clinic: str, shell: Command) -> None:
    ended = shell("inspect", f"{as_user(clinic, 'needs_password')}#patients", "--json", input="")
    assert (ended.code, json.loads(ended.out)["error"]["code"]) == (2, "login-refused")
    assert "Password of" not in ended.out + ended.err


def test_addresses_of_one_database() -> None:
    one, other = (Address.parse(f"postgresql://{u}@db/clinic{o}") for u, o in (("a", ""), ("b", "?sslmode=require")))
    assert one.is_at(other)
    assert not one.is_at(Address.parse("postgresql://a@db/other"))
    assert not one.is_at(None)
