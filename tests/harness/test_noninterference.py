"""Nothing public depends on the cells of a suppressed person.

One suppressed person's cells are changed, and the project is run again. Whenever the release is the same, so is every
other public byte: the public manifest, what `velado run` prints, its JSON, the report. And where the recoding is given
and the person stays alone, the release *is* the same.
"""

import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from conftest import Command
from harness.judge import judge
from harness.projects import Case, random_case
from harness.quick import some
from harness.watching import WATCH, times

pytestmark = pytest.mark.faults
CHANGES = {
    "age": ["5", "19", "61", "72", "88", "99", "33"],
    "zip": ["20095", "99817", "55555", "10115"],
    "birth": ["1901-01-03", "1974-02-17", "1999-03-03"],
    "job": ["clerk", "judge", "smith"],
    "sex": ["f", "m", "x"],
    "ill": ["flu", "asthma", "cancer", "diabetes", "gout"],
    "cost": ["10", "20", "30", "100", "777"],
}
ALONE = {"age": "205", "zip": "99999", "birth": "1801-01-01", "sex": "alone"}
"""Values that share no class with others, below the highest level."""
DATES = re.compile(rb"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\+00:00| UTC|Z)?)?")


def public(folder: Path, main: Command, report: bool) -> dict[str, Any] | None:
    """Run the project; everything that others may see, without times. None if there is no release."""
    ended = main("run", "project.yaml")
    if ended.code:
        return None
    shown = {"stdout": re.sub(r"\d+\.\d+ s\b", "… s", ended.out), "stderr": re.sub(r"\d+\.\d+ s\b", "… s", ended.err)}
    manifest = json.loads((folder / "release.csv.manifest.json").read_text(encoding="utf-8"))
    manifest.pop("created")
    result = json.loads(json.dumps(WATCH.last.as_dict(), default=str))
    result.get("search", {}).pop("seconds", None)
    everything: dict[str, Any] = {
        "release": (folder / "release.csv").read_bytes(), "manifest": manifest, "json": result, **shown,
    }  # fmt: skip
    if report:
        assert main("report", "project.yaml", "--format", "html", "-o", "report.html").code == 0
        everything["report"] = DATES.sub(b"a date", (folder / "report.html").read_bytes())
    return everything


def differences(one: Any, other: Any, where: str = "") -> list[str]:
    """Where two things differ, to the point."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys = {**one, **other}
        return [d for k in keys for d in differences(one.get(k, "absent"), other.get(k, "absent"), f"{where}/{k}")]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [d for i, (a, b) in enumerate(zip(one, other, strict=True)) for d in differences(a, b, f"{where}/{i}")]
    if isinstance(one, str | bytes) and isinstance(other, type(one)) and one != other:
        lines = zip(one.splitlines(), other.splitlines(), strict=False)
        return [f"{where}: {a!r:.120} ≠ {b!r:.120}" for a, b in lines if a != b][:3] or [f"{where}: another length"]
    return [] if one == other else [f"{where}: {one!r:.80} ≠ {other!r:.80}"]


def suppressed_rows(case: Case, folder: Path) -> list[int]:
    return judge(case.project, folder, folder / "release.csv").suppressed_rows or []


def changes_of(case: Case, place: int, rng: random.Random) -> list[tuple[str, list[str]]]:
    """The row of one person with other cells: one column at a time, then several."""
    row = case.rows[place]
    found = []

    def changed(**cells: str) -> list[str]:
        return [cells.get(name, cell) for name, cell in zip(case.header, row, strict=True)]

    found.append(("identifier", changed(name="Someone-else-77777")))
    found.append(("insensitive", changed(city="Nowhere 1")))
    for name in case.header:
        if name in CHANGES:
            found.append((name, changed(**{name: rng.choice([v for v in CHANGES[name] if v not in row])})))
    several = {n: rng.choice(CHANGES[n]) for n in case.header if n in CHANGES and rng.random() < 0.6}
    found.append(("several", changed(name="Another-88888", **several)))
    return found


def interference(
    case: Case, folder: Path, main: Command, rng: random.Random, tried: int, report: bool, seen: Counter[str]
) -> list[str]:
    """Change suppressed people of a case; what else changed although the release is the same."""
    case.write(folder)
    before = public(folder, main, report)
    people = suppressed_rows(case, folder) if before is not None else []
    if before is None or not people:
        return []
    seen["cases"] += 1
    seen["reports"] += report
    leaks = []
    for _ in range(tried):
        place = rng.choice(people)
        what, row = rng.choice(changes_of(case, place, rng))
        case.with_row(place, row).write(folder)
        after = public(folder, main, report)
        seen["tried"] += 1
        if after is None or after["release"] != before["release"]:
            continue
        seen["same release"] += 1
        seen[what] += 1
        leaks += [f"{what}: {d}" for d in differences(before, after)]
    return leaks


def test_nothing_public_depends_on_the_cells_of_suppressed_people(tmp_path: Path, main: Command) -> None:
    """Random projects of several methods and models, suppressed records dropped or starred."""
    seen: Counter[str] = Counter()
    leaks = []
    for seed in range(times(7, 140)):
        rng = random.Random(seed)
        method = rng.choice(["lattice", "lattice", "datafly"])
        suppressed = rng.choice(["drop", "star"])
        case = random_case(1000 + seed, method=method, path="release.csv", order="sorted", suppressed=suppressed)
        case.project["method"][method]["suppression"] = rng.choice([0.3, 0.5])
        found = interference(case, tmp_path, main, rng, 3, False, seen)
        leaks += [f"seed {seed}, {method}, {suppressed}: {leak}" for leak in found]
    assert seen["same release"] >= times(7, 140), seen
    assert seen["cases"] >= times(7, 140) // 2, seen
    assert not leaks, f"{len(leaks)} leaks:\n" + "\n".join(leaks[:40])


MODELS: dict[str, dict[str, Any]] = {
    "t-closeness": {"t": 0.45, "column": "ill"},
    "t-closeness hierarchical": {"t": 0.45, "column": "ill", "distance": "hierarchical"},
    "t-closeness ordered": {"t": 0.45, "column": "cost", "distance": "ordered"},
    "delta-disclosure": {"delta": 2.5, "column": "ill"},
    "beta-likeness": {"beta": 3, "column": "ill"},
    "entropy-diversity": {"l": 1.5, "column": "ill"},
    "distinct-diversity": {"l": 2, "column": "ill"},
    "recursive-diversity": {"c": 4, "l": 2, "column": "ill"},
    "alpha-k": {"alpha": 0.8, "k": 2, "column": "ill"},
}


def fixed_case(seed: int, model: str, suppressed: str) -> Case:
    """Everybody in large classes but one, who is alone in every column: levels are given."""
    rng = random.Random(seed)
    header = ["name", "age", "zip", "birth", "job", "ill", "cost", "city"]
    people = []
    for i in range(60):
        ill = ["flu", "asthma", "cancer", "diabetes", "gout"][i % 5]
        cost = ["10", "20", "30"][i % 3]
        age = rng.choice(["31", "33", "38"] if i % 2 else ["42", "45"])
        people.append(
            [f"Person-{i:05d}", age, rng.choice(["10115", "10117"]), "1974-02-17", "nurse", ill, cost, "Bonn 1"]
        )
    people.insert(rng.randrange(60), ["Person-alone", "200", "99999", "1801-01-01", "nurse", "gout", "30", "Kiel 9"])
    columns = {
        "name": "identifier",
        "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [5, 10, 500]}},
        "zip": {"role": "quasi-identifier", "hierarchy": {"mask": "right"}},
        "birth": {"role": "quasi-identifier", "type": "date", "hierarchy": {"dates": ["year", "century"]}},
        "job": {"role": "quasi-identifier", "hierarchy": {"file": "jobs.csv"}},
        "ill": {
            "role": "sensitive",
            "hierarchy": {"tree": {"lungs": ["flu", "asthma"], "other": ["cancer", "diabetes", "gout"]}},
        },
        "cost": "sensitive",
        "city": {"role": "insensitive", "published": "knowingly"},
    }
    project = {
        "name": "fixed", "source": "people.csv", "columns": columns,
        "models": [{"k-anonymity": {"k": 3}}, {model.split(" ")[0]: MODELS[model]}],
        "method": {"fixed": {"levels": {"age": 2, "zip": 1, "birth": 1, "job": 1}}},
        "output": {"path": "release.csv", "order": "sorted", "suppressed": suppressed},
    }  # fmt: skip
    jobs = {"nurse": "health", "doctor": "health", "smith": "craft", "baker": "craft"}
    return Case(header, people, project, {"jobs.csv": "".join(f"{job};{group};*\n" for job, group in jobs.items())})


CHANGES_OF_ONE = {
    "drop": (
        {"name": "Somebody-else", "city": "Nowhere 3"}, {"age": "207", "zip": "77777"}, {"ill": "cancer"},
        {"name": "X-99999", "age": "150", "zip": "88888", "birth": "1650-01-01", "ill": "asthma", "city": "Ulm 2"},
    ),
    "star": (
        {"name": "Somebody-else", "city": "Nowhere 3"}, {"ill": "flu", "cost": "10", "job": "smith"},
        {"name": "X-99999", "age": "150", "zip": "88888", "birth": "1650-01-01", "ill": "asthma", "city": "Ulm 2"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("model", some(MODELS, "t-closeness"))
def test_where_the_recoding_stays_everything_stays(tmp_path: Path, main: Command, model: str) -> None:
    """A person alone is changed in every way that leaves them alone: release, manifest, output and JSON are the same."""
    seen = 0
    for suppressed, changes in CHANGES_OF_ONE.items():
        case = fixed_case(len(model), model, suppressed)
        case.write(tmp_path)
        before = public(tmp_path, main, False)
        assert before is not None
        (place,) = suppressed_rows(case, tmp_path)
        assert case.rows[place][0] == "Person-alone"
        alone = dict(zip(case.header, case.rows[place], strict=True))
        leaks = []
        for cells in changes[-times(2, len(changes)) :]:
            case.with_row(place, [*(alone | cells).values()]).write(tmp_path)
            after = public(tmp_path, main, False)
            assert after is not None
            leaks += [f"{suppressed}, {cells}: {d}" for d in differences(before, after)]
            seen += 1
        assert not leaks, f"{len(leaks)} leaks:\n" + "\n".join(leaks[:20])
    assert seen == times(4, 7)


def test_json_on_the_terminal_is_what_the_run_returns(tmp_path: Path, main: Command) -> None:
    """The tests above look at the latter."""
    fixed_case(1, "alpha-k", "drop").write(tmp_path)
    shown = main("run", "project.yaml", "--json").json
    assert shown == json.loads(json.dumps(WATCH.last.as_dict(), default=str))


def test_reports_do_not_depend_on_suppressed_people(tmp_path: Path, main: Command) -> None:
    case = fixed_case(3, "t-closeness", "drop")
    case.write(tmp_path)
    before = public(tmp_path, main, True)
    assert before is not None
    (place,) = suppressed_rows(case, tmp_path)
    alone = dict(zip(case.header, case.rows[place], strict=True))
    cells = {"name": "X-99999", "age": "150", "zip": "88888", "birth": "1650-01-01", "ill": "cancer", "cost": "10"}
    case.with_row(place, [*(alone | cells).values()]).write(tmp_path)
    after = public(tmp_path, main, True)
    assert after is not None
    leaks = differences(before["report"], after["report"], "report")
    assert not leaks, f"{len(leaks)} leaks:\n" + "\n".join(leaks)
