"""Nothing public depends on the cells of a suppressed person.

One suppressed person's cells are changed, and the project is run again. Whenever the release is the same, so is every
other public byte: the public manifest, what `velado run` prints, its JSON, the report. And where the recoding is given
and the person stays alone, the release *is* the same.

The same holds for every method and kind of release (`WORLDS`), and for every public output: release, manifest, summary,
JSON, HTML, PDF, XLSX, and what the service answers about a release to those who may not see records.
"""

import json
import random
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from conftest import Command
from harness.judge import judge
from harness.judge_hook import WATCH, times
from harness.projects import Case, random_case
from harness.quick_cases import some
from velado.report import report as reports
from velado.report.formats.pdf import _data
from velado.service.jobs.work.figures import classes_of, shape

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
    everything: dict[str, Any] = {"release": (folder / "release.csv").read_bytes(), "manifest": manifest, "json": result, **shown}
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
        suppressed = rng.choice(["drop", "asterisks"])
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
        people.append([f"Person-{i:05d}", age, rng.choice(["10115", "10117"]), "1974-02-17", "nurse", ill, cost, "Bonn 1"])
    people.insert(rng.randrange(60), ["Person-alone", "200", "99999", "1801-01-01", "nurse", "gout", "30", "Kiel 9"])
    columns = {
        "name": "identifier",
        "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [5, 10, 500]}},
        "zip": {"role": "quasi-identifier", "hierarchy": {"mask": "right"}},
        "birth": {"role": "quasi-identifier", "type": "date", "hierarchy": {"dates": ["year", "century"]}},
        "job": {"role": "quasi-identifier", "hierarchy": {"file": "jobs.csv"}},
        "ill": {"role": "sensitive", "hierarchy": {"tree": {"lungs": ["flu", "asthma"], "other": ["cancer", "diabetes", "gout"]}}},
        "cost": "sensitive",
        "city": {"role": "insensitive", "exposure": "accepted"},
    }
    project = {
        "name": "fixed",
        "source": "people.csv",
        "columns": columns,
        "models": [{"k-anonymity": {"k": 3}}, {model.split(" ")[0]: MODELS[model]}],
        "method": {"fixed": {"levels": {"age": 2, "zip": 1, "birth": 1, "job": 1}}},
        "output": {"path": "release.csv", "order": "sorted", "suppressed": suppressed},
    }
    jobs = {"nurse": "health", "doctor": "health", "smith": "craft", "baker": "craft"}
    return Case(header, people, project, {"jobs.csv": "".join(f"{job};{group};*\n" for job, group in jobs.items())})


CHANGES_OF_ONE = {
    "drop": (
        {"name": "Somebody-else", "city": "Nowhere 3"},
        {"age": "207", "zip": "77777"},
        {"ill": "cancer"},
        {"name": "X-99999", "age": "150", "zip": "88888", "birth": "1650-01-01", "ill": "asthma", "city": "Ulm 2"},
    ),
    "asterisks": (
        {"name": "Somebody-else", "city": "Nowhere 3"},
        {"ill": "flu", "cost": "10", "job": "smith"},
        {"name": "X-99999", "age": "150", "zip": "88888", "birth": "1650-01-01", "ill": "asthma", "city": "Ulm 2"},
    ),
}


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


Cells = Mapping[str, str]
PLAIN_MODELS = [{"k-anonymity": {"k": 3}}, {"distinct-diversity": {"l": 2, "column": "ill"}}]


@dataclass(frozen=True)
class World:
    """A table, what is done with it, and how one person's cells may change without changing the release.

    ``commands`` are run in their order; ``place`` is the person, ``releases`` the files that come out.
    """

    case: Case
    changes: Sequence[Cells]
    commands: Sequence[Sequence[str]] = (("run", "project.yaml"),)
    place: int = -1
    releases: Sequence[str] = ("release.csv",)
    suppressed: bool = True
    reports: bool = True
    shuffled: bool = False

    def write(self, folder: Path, cells: Cells) -> None:
        person = dict(zip(self.case.header, self.case.rows[self.place], strict=True))
        self.case.with_row(self.place, [*(person | dict(cells)).values()]).write(folder)


def of_method(method: str, settings: Mapping[str, Any], suppressed: str = "drop") -> World:
    """A person alone in every column, and a method that leaves them out."""
    case = fixed_case(7, "alpha-k", suppressed)
    place = next(i for i, row in enumerate(case.rows) if row[0] == "Person-alone")
    project = case.project | {"method": {method: dict(settings)}, "models": PLAIN_MODELS}
    return World(replace(case, project=project), CHANGES_OF_ONE[suppressed], place=place)


def spelled(suppressed: str) -> World:
    """Released people spell their values in two ways, the one who is left out in a third; costs have an order without them."""
    world = of_method("fixed", {"levels": {"age": 2, "zip": 1, "birth": 1, "job": 1}}, suppressed)
    ways = {"gout": ["gout", "Gout"]}
    header = world.case.header
    rows = []
    for number, row in enumerate(world.case.rows):
        cells = dict(zip(header, row, strict=True))
        # Only what many people have is named in a report.
        cells["ill"] = ways.get(cells["ill"], ["flu", "Flu"])[number // 5 % 2]
        cells["cost"] = [cells["cost"], f"{cells['cost']}.0"][number // 3 % 2]
        rows.append([*cells.values()])
    columns = world.case.project["columns"] | {"ill": "sensitive"}
    case = replace(world.case, rows=rows, project=world.case.project | {"columns": columns})
    changes = ({"ill": "FLU"}, {"ill": "GOUT", "cost": "+10"}, {"cost": "no number"}, {"ill": "Aids"})
    return replace(world, case=case, changes=changes)


def fuzzy(models: Sequence[Any] = PLAIN_MODELS, **settings: Any) -> World:
    """Young and poor or old and rich, but for one who is young and rich."""
    rng = random.Random(3)
    header = ["name", "age", "income", "ill"]
    rows = []
    for i in range(60):
        age, income = (rng.choice([21, 23, 26, 28]), 1000) if i % 2 else (rng.choice([61, 64, 66]), 5000)
        rows.append([f"Person-{i}", str(age), str(income + rng.choice([0, 50, 110])), ["flu", "gout", "asthma"][i % 3]])
    rows.append(["Person-alone", "24", "5050", "gout"])
    number = {"role": "quasi-identifier", "type": "integer"}
    project = {
        "name": "fuzzy",
        "source": "people.csv",
        "columns": {"name": "identifier", "age": number, "income": number, "ill": "sensitive"},
        "models": list(models),
        "method": {"fuzzy": {"sets": 2, "suppression": 0.1, **settings}},
        "output": {"path": "release.csv", "order": "sorted"},
    }
    changes = ({"age": "25"}, {"age": "22", "income": "5075"}, {"ill": "Aids"}, {"age": "29", "ill": "flu"})
    return World(Case(header, rows, project), changes)


def unseen(method: Mapping[str, Any] | None) -> World:
    """Nobody is left out, but columns are: what stands there changes nothing. Without a method the release is light."""
    case = fixed_case(5, "alpha-k", "drop")
    names = {"name": "identifier"} | {c: {"operation": "drop"} for c in ("zip", "birth", "city")}
    if method is None:
        project = {"protection": "operations", "columns": {"name": {"operation": "suppress"}, **names}, "rest": "insensitive"}
        project["columns"]["name"] = {"operation": "suppress"}
    else:
        kept = {c: case.project["columns"][c] for c in ("age", "job", "ill")}
        project = {"columns": {"name": "identifier", **kept}, "rest": "drop", "models": PLAIN_MODELS, "method": dict(method)}
    project |= {"name": "unseen", "source": "people.csv", "output": {"path": "release.csv", "order": "sorted"}}
    changes = ({"name": "X-99999", "zip": "88888", "birth": "1650-01-01", "city": "Ulm 2"},)
    light = method is None
    return World(replace(case, project=project), changes, place=3, suppressed=False, reports=not light)


def several() -> World:
    """Two tables in one project; one person of the first is left out."""
    world = of_method("fixed", {"levels": {"age": 2, "zip": 1, "birth": 1, "job": 1}})
    one = {k: v for k, v in world.case.project.items() if k != "name"}
    visits = "visit,kind\n" + "".join(f"2020-0{i % 3 + 1}-01,{'ab'[i % 2]}\n" for i in range(40))
    two = {
        "source": "visits.csv",
        "models": [{"k-anonymity": {"k": 2}}],
        "method": {"lattice": {}},
        "columns": {"visit": {"role": "quasi-identifier", "type": "date", "hierarchy": {"dates": ["year"]}}, "kind": "sensitive"},
        "output": {"path": "two.csv", "order": "sorted"},
    }
    project = {"name": "several", "tables": {"one": one, "two": two}}
    case = replace(world.case, project=project, files=world.case.files | {"visits.csv": visits})
    return replace(world, case=case, releases=("release.csv", "two.csv"), reports=False)


def arriving() -> World:
    """Rows that come later, of whom one has values that nobody had."""
    first = of_method("fixed", {"levels": {"age": 2, "zip": 1, "birth": 1, "job": 1}}).case
    output = first.project["output"] | {"recoding": "recoding.json"}
    project = first.project | {"source": "first.csv", "output": output | {"path": "first_release.csv"}}
    known = [[f"Later-{i}", *row[1:]] for i, row in enumerate(first.rows) if row[0] != "Person-alone"][:20]
    alone = ["Person-alone", "31", "77777", "1974-02-17", "nurse", "gout", "30", "Kiel 9"]
    later = Case(first.header, [*known, alone], project)
    case = replace(later, files={**first.files, "first.csv": first.text()})
    commands = (
        ("run", "project.yaml"),
        ("apply", "recoding.json", "people.csv", "--output", "release.csv", "--unseen", "suppress"),
    )
    changes = ({"name": "X", "zip": "66666"}, {"zip": "66666", "ill": "flu", "cost": "10"}, {"birth": "1650-01-01"})
    return World(case, changes, commands, reports=False, shuffled=True)


Q = [*PLAIN_MODELS, {"q-anonymity": {"q": 3}}, {"fuzzy-t-closeness": {"t": 0.9, "column": "ill"}}]
WORLDS: dict[str, Callable[[], World]] = {
    "lattice": lambda: of_method("lattice", {"suppression": 0.05}),
    "lattice, starred": lambda: of_method("lattice", {"suppression": 0.05}, "asterisks"),
    "datafly": lambda: of_method("datafly", {"suppression": 0.05}),
    "samarati": lambda: of_method("samarati", {"suppression": 0.05}),
    "incognito": lambda: of_method("incognito", {"suppression": 0.05}),
    "spellings": lambda: spelled("drop"),
    "spellings, starred": lambda: spelled("asterisks"),
    "fuzzy": fuzzy,
    "fuzzy, models of its own": lambda: fuzzy(Q, joint=True, sets=3),
    "fuzzy, degrees": lambda: fuzzy(degrees=1, sets=2),
    "fuzzy, jointly": lambda: fuzzy(joint=True, sets=3),
    "fuzzy, Gustafson-Kessel": lambda: fuzzy(partition="gustafson-kessel"),
    "fuzzy, k-means": lambda: fuzzy(partition="k-means"),
    "fuzzy, global recode": lambda: fuzzy(partition="global-recode"),
    "fuzzy, drawn": lambda: fuzzy(Q, breakpoints={"age": [30, 60], "income": [2000, 4000]}),
    "mondrian": lambda: unseen({"mondrian": {}}),
    "light": lambda: unseen(None),
    "several tables": several,
    "apply": arriving,
}


def all_public(world: World, folder: Path, main: Command, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """All that others may see of what a world's commands make, without times."""
    seen: dict[str, Any] = {}
    for command in world.commands:
        ended = main(*command)
        assert ended.code == 0, ended.err
        if command[0] == "run":  # What `apply` says of values that it does not know is the owner's.
            seen["stdout"] = re.sub(r"\d+\.\d+ s\b", "… s", ended.out)
            seen["stderr"] = re.sub(r"\d+\.\d+ s\b", "… s", ended.err)
    for name in world.releases:
        rows = (folder / name).read_bytes().splitlines()
        seen[name] = b"\n".join(sorted(rows) if world.shuffled else rows)
        seen[f"{name} manifest"] = json.loads((folder / f"{name}.manifest.json").read_text(encoding="utf-8"))
        seen[f"{name} manifest"].pop("created")
        if world.shuffled:
            seen[f"{name} manifest"]["output"].pop("sha256")
    made = WATCH.last.tables if "tables" in world.case.project else {"": WATCH.last}
    for name, release in made.items():
        seen[f"json {name}"] = json.loads(json.dumps(release.as_dict(), default=str))
        seen[f"json {name}"].get("search", {}).pop("seconds", None)
        if getattr(release, "pair", None) is not None:
            figures = classes_of(release)
            seen[f"shape {name}"] = json.loads(json.dumps(shape(release)["public"], default=str))
            seen[f"classes {name}"] = str((figures.texts, figures.codes, figures.sizes, figures.sensitive))
    if world.reports:
        seen |= reports_of(folder, main, monkeypatch)
    return seen


def reports_of(folder: Path, main: Command, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The report as HTML, what the PDF is set from, and the sheets of the workbook."""
    set_from: list[Any] = []

    def pdf(content: Any, *_: Any) -> bytes:
        set_from.append(_data(content))
        return b"%PDF-"

    with monkeypatch.context() as patch:
        patch.setattr(reports, "pdf", pdf)
        ended = main("report", "project.yaml", "-o", "report.html")
    assert ended.code == 0, ended.err
    with zipfile.ZipFile(folder / "report.xlsx") as sheets:
        cells = {n: DATES.sub(b"a date", sheets.read(n)) for n in sheets.namelist() if not n.startswith("docProps")}
    html = DATES.sub(b"a date", (folder / "report.html").read_bytes())
    return {"html": html, "pdf": json.loads(json.dumps(set_from[0], default=str)), "xlsx": cells}


@pytest.mark.parametrize("name", some(WORLDS, "apply"))
def test_every_method_and_every_public_output(tmp_path: Path, main: Command, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    world = WORLDS[name]()
    world.write(tmp_path, {})
    before = all_public(world, tmp_path, main, monkeypatch)
    assert (suppressed_of(before, world) > 0) == world.suppressed
    same, leaks = 0, []
    for cells in world.changes:
        world.write(tmp_path, cells)
        after = all_public(world, tmp_path, main, monkeypatch)
        if any(after[r] != before[r] for r in world.releases):
            continue
        same += 1
        leaks += [f"{cells}: {d}" for d in differences(before, after)]
    assert same >= 1, "the release was never the same"
    assert not leaks, f"{len(leaks)} leaks:\n" + "\n".join(leaks[:40])


def suppressed_of(seen: Mapping[str, Any], world: World) -> int:
    """How many are left out of the first release."""
    manifest = seen[f"{world.releases[0]} manifest"]
    figures = manifest.get("evaluation", manifest)
    return int(figures.get("suppressed", 0))
