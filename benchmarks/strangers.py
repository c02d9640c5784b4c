"""Strangers' tables through ``velado init`` and ``velado run``, unedited, and how many people an adversary finds in the releases.

    python benchmarks/strangers.py FOLDER [--json FILE] [--only NAME ...]

FOLDER has CSV files that nobody here made; ``SOURCES`` says which ones the figures of README.md are about and where they were
got. They are not part of the project. Every table is copied into a folder of its own, where both commands run in processes of
their own. Then tests/linkage_adversary.py, which imports nothing of Velado, plays the adversary. One line per table:

``kept``     columns of the release that show anything, of all columns of the table; ``qi``: quasi-identifiers among them
``loss``     of ``velado run --json``, over its quasi-identifiers; ``supp``: records suppressed
``seconds``  of init and of run, by the clock
``people``   rows, or people where the project or ``PERSON`` names the column that says whose rows they are
``linked``   people who fit one released person by 1, by at most 2, by at most 3 columns, and by all together, that others know
             or could know (all that are published and not declared ``known: never``)
``few``      the same for people who fit fewer than k (and at least one)
``below``    released people in groups below k on all of these columns together
``all``      linked and few by at most 3 columns when every published column counts, whatever is declared
``copies``   rows that are equal to another one in all columns but those in which every row has a value of its own
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import yaml

# Without this folder: the tests have a module of the same name.
sys.path.pop(0)
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import linkage_adversary
from linkage_adversary import Linking, Sheet

RDATASETS = "github:vincentarelbundock/Rdatasets csv/"
FIVETHIRTYEIGHT = "github:fivethirtyeight/data "
SOURCES = {
    "attrition": "github:mkariithi/HRdataIBM WA_Fn-UseC_-HR-Employee-Attrition.csv",
    "baseball_people": RDATASETS + "Lahman/People.csv",
    "chile": RDATASETS + "carData/Chile.csv",
    "congress_terms": FIVETHIRTYEIGHT + "congress-age/congress-terms.csv",
    "covid_testing": RDATASETS + "medicaldata/covid_testing.csv",
    "cps1988": RDATASETS + "AER/CPS1988.csv",
    "doctor_visits": RDATASETS + "AER/DoctorVisits.csv",
    "flchain": RDATASETS + "survival/flchain.csv",
    "flying_etiquette": FIVETHIRTYEIGHT + "flying-etiquette-survey/flying-etiquette.csv",
    "german_credit": "github:vibhor98/German-Credit-Dataset german_credit_data.csv",
    "heart": "github:ASJTHILAK/Heart-Disease-Prediction heart.csv",
    "hmda": RDATASETS + "AER/HMDA.csv",
    "masculinity": FIVETHIRTYEIGHT + "masculinity-survey/raw-responses.csv",
    "nhefs": RDATASETS + "causaldata/nhefs.csv",
    "nonvoters": FIVETHIRTYEIGHT + "non-voters/nonvoters_data.csv",
    "police_killings": FIVETHIRTYEIGHT + "police-killings/police_killings.csv",
    "stroke": "github:ThinhLe881/stroke-prediction healthcare-stroke-dataset.csv",
    "ten_mile_race": RDATASETS + "mosaicData/TenMileRace.csv",
    "titanic": "github:mwaskom/seaborn-data titanic.csv",
    "yrbss": RDATASETS + "openintro/yrbss.csv",
}
PERSON = {"congress_terms": "bioguide", "covid_testing": "subject_id"}
"""Whose rows these are, whatever the project says: figures before and after a change must be about the same people."""
COPIES_ARE_ONE = ("heart",)
"""Tables in which equal rows are taken for one person: so many equal measurements do not happen by chance."""
VELADO = [sys.executable, "-c", "from velado.cli import main; main()"]
LONGEST = 900


class Stopped(Exception):
    """A command ended without what it was asked for."""


def velado(folder: Path, *args: str) -> tuple[str, float]:
    """What a command said, and its seconds."""
    begin = time.perf_counter()
    try:
        ended = subprocess.run([*VELADO, *args], cwd=folder, capture_output=True, encoding="utf-8", timeout=LONGEST, check=False)
    except subprocess.TimeoutExpired as error:
        raise Stopped(f"{args[0]}: more than {LONGEST} s") from error
    if ended.returncode:
        raise Stopped(f"{args[0]} ended with {ended.returncode}: {' '.join(ended.stderr.split())[:300]}")
    return ended.stdout, time.perf_counter() - begin


def copies(original: Sheet) -> int:
    """Rows beyond the first of each kind, without columns in which every row has a value of its own."""
    names = [n for n in original.names if len(set(original.columns[n])) < len(original)]
    rows = list(zip(*(original.columns[n] for n in names), strict=True))
    return len(rows) - len(set(rows))


def measure(table: Path, folder: Path) -> dict[str, Any]:
    """One table through both commands, and the adversary behind it."""
    shutil.copy(table, folder / table.name)
    said, init_seconds = velado(folder, "init", table.name, "--output", "project.yaml")
    project = yaml.safe_load((folder / "project.yaml").read_text(encoding="utf-8"))
    said, run_seconds = velado(folder, "run", "project.yaml", "--json")
    answer = json.loads(said)
    original = linkage_adversary.read_original(folder / table.name, project)
    released = linkage_adversary.read_release(folder / project["output"]["path"], project)
    known_person = {"person": PERSON[table.stem]} if table.stem in PERSON else project
    people = linkage_adversary.people_of(original, known_person, table.stem in COPIES_ARE_ONE)
    aligned = linkage_adversary.aligned_project(project, "aligned.csv")
    (folder / "aligned.yaml").write_text(yaml.safe_dump(aligned, sort_keys=False), encoding="utf-8")
    velado(folder, "run", "aligned.yaml")
    in_order = linkage_adversary.read_release(folder / "aligned.csv", aligned)
    unread = linkage_adversary.unread(original, in_order, project)
    released, owners = linkage_adversary.owned(original, released, in_order, people)
    k = linkage_adversary.stated_k(project)
    begin = time.perf_counter()
    found = linkage_adversary.link(original, released, project, k, people=people, owners=owners)
    everything = found
    if found.columns != linkage_adversary.known_columns(project, released, everything=True):
        everything = linkage_adversary.link(original, released, project, k, True, people, owners)
    shown = linkage_adversary.known_columns(project, released, everything=True)
    roles = {n: linkage_adversary.column_settings(project, n).get("role") for n in shown}
    return {
        "rows": len(original),
        "columns": len(original.names),
        "kept": len(shown),
        "roles": roles,
        "qi": sum(role == "quasi-identifier" for role in roles.values()),
        "person": project.get("person") or project.get("household"),
        "allowance": project.get("allowance", 0),
        "k": k,
        "loss": answer["utility"]["loss"],
        "losses": answer["utility"]["columns"],
        "suppressed": answer["suppressed"],
        "highest_risk": answer["risk"]["highest"],
        "method": next(iter(project["method"])) if isinstance(project.get("method"), dict) else project.get("method"),
        "init_seconds": round(init_seconds, 2),
        "run_seconds": round(run_seconds, 2),
        "copies": copies(original),
        "unread": unread,
        "known": _figures(found),
        "everything": _figures(everything),
        "linking_seconds": round(time.perf_counter() - begin, 2),
    }


def _figures(found: Linking) -> dict[str, Any]:
    return {
        "columns": found.columns,
        "people": found.people,
        "released": found.released,
        "by_size": found.by_size,
        "below_by_size": found.below_by_size,
        "untried": found.untried,
        "below": found.below,
        "together": [found.together.linked, found.together.few, found.together.alone, found.together.below],
        "worst": [str(key) for key in found.offenders(6)],
    }


HEADER = (
    f"{'table':<17}{'rows':>7}{'cols':>5}{'kept':>5}{'qi':>4}{'loss':>7}{'supp':>6}{'init s':>8}{'run s':>7}{'people':>8}  "
    f"{'linked by 1/2/3/all columns':<28}{'few by 1/2/3/all columns':<28}{'below':>6}  {'all: linked/few':<16}{'copies':>7}"
)


def line(name: str, figures: dict[str, Any]) -> str:
    if "stopped" in figures:
        return f"{name:<17}{figures['stopped']}"
    known, everything = figures["known"], figures["everything"]
    linked, few = (
        "/".join(str(n) for n in [*(sizes[i] for sizes in known["by_size"].values()), known["together"][i]]) for i in (0, 1)
    )
    most = [max((sizes[i] for sizes in everything["by_size"].values()), default=0) for i in (0, 1)]
    return (
        f"{name:<17}{figures['rows']:>7}{figures['columns']:>5}{figures['kept']:>5}{figures['qi']:>4}{figures['loss']:>7.3f}"
        f"{figures['suppressed']:>6}{figures['init_seconds']:>8.1f}{figures['run_seconds']:>7.1f}{known['people']:>8}  "
        f"{linked:<28}{few:<28}{known['below']:>6}  {f'{most[0]}/{most[1]}':<16}{figures['copies']:>7}"
    )


def summary(all_figures: dict[str, dict[str, Any]]) -> str:
    good = [f for f in all_figures.values() if "stopped" not in f]
    if not good:
        return "no release"
    people = sum(f["known"]["people"] for f in good)
    linked, few = (sum(max((s[i] for s in f["known"]["by_size"].values()), default=0) for f in good) for i in (0, 1))
    return (
        f"{len(good)} releases of {len(all_figures)} tables; median loss {statistics.median(f['loss'] for f in good):.3f}; "
        f"columns kept {sum(f['kept'] for f in good)} of {sum(f['columns'] for f in good)}; by at most three columns {linked} of "
        f"{people} people linked, {few} among few; releases in which somebody is among few: "
        f"{sum(f['known']['below'] > 0 for f in good)}; seconds {sum(f['init_seconds'] + f['run_seconds'] for f in good):.0f}"
    )


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("folder", type=Path)
    ask.add_argument("--json", type=Path, help="write all figures there")
    ask.add_argument("--only", nargs="+", default=[], help="names of tables")
    given = ask.parse_args()
    tables = [t for t in sorted(given.folder.glob("*.csv")) if not given.only or t.stem in given.only]
    for table in tables:
        print(f"{table.stem:<17}{SOURCES.get(table.stem, 'not in the list')}")
    print(f"\n{HEADER}", flush=True)
    found: dict[str, dict[str, Any]] = {}
    for table in tables:
        with tempfile.TemporaryDirectory() as folder:
            try:
                found[table.stem] = measure(table, Path(folder))
            except (Stopped, ValueError) as stopped:
                found[table.stem] = {"stopped": str(stopped)}
        print(line(table.stem, found[table.stem]), flush=True)
        if weak := found[table.stem].get("unread"):
            print(f"{'':<17}the adversary does not read {weak}")
        if given.json:
            given.json.write_text(json.dumps(found, indent=1, ensure_ascii=False), encoding="utf-8")
    print(f"\n{summary(found)}")


if __name__ == "__main__":
    main()
