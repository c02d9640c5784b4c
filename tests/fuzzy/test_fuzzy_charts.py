"""Charts and report of fuzzy sets: lines where they belong, valid in three languages, and nobody's value in them."""

import csv
import json
from pathlib import Path
from typing import Any

import altair
import numpy as np
import openpyxl
import pyarrow as pa
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import velado
from harness.judge_hook import times
from velado import InputError, fuzzify
from velado.evaluation import Wanted, evaluate, judge
from velado.i18n import LANGUAGES, Language
from velado.methods import Fuzzy
from velado.models import QAnonymity
from velado.project import Project
from velado.report import report as reports
from velado.report import save_fuzzy_charts
from velado.report.chapters.subject import Subject
from velado.report.charts import fuzzy as charts
from velado.report.charts.drawing import Chart
from velado.report.charts.plane import Plane, across, isolines, summit
from velado.report.charts.surface import project_box, surface
from velado.report.formats.pdf import _data
from velado.report.report import content_of
from velado.sentences import Sentence

PLANTED = 9_876_543
EN = Language("en")


def people(rows: int = 300) -> pa.Table:
    rng = np.random.default_rng(1)
    return pa.table(
        {"age": rng.integers(20, 80, rows), "cost": rng.gamma(2, 900, rows).round(), "ill": rng.choice(list("abcd"), rows)}
    )


def seen(**parameters: Any) -> velado.questions.Fuzzification:
    return fuzzify(people(), ["age", "cost"], ["ill"], method=Fuzzy(**{"sets": 3, **parameters}))


def drawn(result: velado.questions.Fuzzification, words: Language) -> dict[str, Chart]:
    fuzzy, scales = result.found.fuzzy, result.scales
    plane = Plane.of(fuzzy, scales, 12)
    found = {
        "contours": charts.contours(plane, words),
        "surface": surface(plane, words),
        "regions": charts.regions({"one": plane, "other": plane}, words),
        "possibility": charts.possibility(result.evaluation.fuzzy, words),
    }
    for coding in fuzzy.codings:
        if len(coding.columns) == 1:
            found[coding.columns[0]] = charts.memberships(coding, fuzzy.names[coding.columns[0]], words, scales)
    return found


def shortened(spec: Any) -> Any:
    """The same description with a few rows of its data: these make no difference to its validity."""
    if isinstance(spec, dict):
        return {k: v[:2] if k == "values" else shortened(v) for k, v in spec.items()}
    return [shortened(x) for x in spec] if isinstance(spec, list) else spec


# Geometry


@settings(max_examples=times(30, 500), deadline=None)
@given(st.integers(2, 7), st.integers(2, 7), st.integers(0, 10**6), st.floats(0.05, 0.95))
def test_isolines_lie_where_heights_are_equal(rows: int, columns: int, seed: int, level: float) -> None:
    heights = np.random.default_rng(seed).random((rows, columns))
    found = isolines(heights, level)
    for line in found:
        for place in line:
            low, high = np.floor(place + 1e-9).astype(int), np.ceil(place - 1e-9).astype(int)
            share = np.abs(place - low).max()
            assert heights[tuple(low)] * (1 - share) + heights[tuple(high)] * share == pytest.approx(level, abs=1e-6)
    assert bool(found) == bool((heights > level).any() and (heights <= level).any())


def test_isolines_of_hills_are_closed_and_round() -> None:
    y, x = np.mgrid[0:81, 0:81] / 10.0
    two = np.maximum(1 - np.hypot(x - 2, y - 2), 1 - np.hypot(x - 6, y - 5))
    lines = isolines(two, 0.25)
    assert len(lines) == 2
    for line in lines:
        assert (line[0] == line[-1]).all()
        centre = np.array([2, 2]) if line[0][0] < 35 else np.array([5, 6])
        assert np.hypot(*(line / 10 - centre).T) == pytest.approx(0.75, abs=0.01)
    assert isolines(two, 2.0) == []


def test_near_patches_of_a_surface_are_drawn_last() -> None:
    plane = Plane.of(seen(joint=True).found.fuzzy, seen().scales, 12)
    patches = surface(plane, EN).spec["layer"][1]["data"]["values"]
    assert len(patches) == 4 * 12 * 12
    heights = plane.memberships.max(axis=-1)

    def corner(at: float, height: float) -> tuple[float, float]:
        return tuple(round(float(x), 4) for x in project_box(np.array(at), np.array(at), np.array(height)))

    assert corner(1.0, heights[-1, -1]) in [(p["u"], p["v"]) for p in patches[:4]]
    assert corner(0.0, heights[0, 0]) in [(p["u"], p["v"]) for p in patches[-4:]]


def test_a_plane_holds_the_memberships_of_its_points() -> None:
    for parameters in ({}, {"joint": True}, {"partition": "gustafson-kessel", "joint": True}, {"partition": "global-recode"}):
        fuzzy = seen(**parameters).found.fuzzy
        plane = Plane.of(fuzzy, {}, 10)
        assert plane.memberships.sum(axis=-1) == pytest.approx(1)
        assert plane.memberships.shape[-1] == len(plane.names) == (3 if "joint" in parameters else 9)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 9), st.integers(1, 30), st.integers(1, 9), st.integers(1, 30))
def test_a_name_stands_in_the_middle(top: int, high: int, left: int, wide: int) -> None:
    inside = np.zeros((top + high + 5, left + wide + 5))
    inside[top : top + high, left : left + wide] = 1
    row, column = summit(inside)
    assert abs(row - (top + (high - 1) / 2)) <= 0.5
    assert abs(column - (left + (wide - 1) / 2)) <= 0.5


def test_the_middle_of_an_oblong_is_not_at_its_end() -> None:
    plane = Plane.of(seen().found.fuzzy, {}, 10)
    inside = np.zeros((40, 40), dtype=bool)
    inside[5:14, 3:38] = True
    assert plane.middle(inside) == (9, 20)
    inside[6:] = False
    assert plane.middle(inside) is None


# Charts


@pytest.mark.parametrize("parameters", [{"joint": True}, {"sets": 6, "partition": "global-recode"}], ids=str)
def test_charts_are_valid(parameters: dict) -> None:
    for chart in drawn(seen(**parameters), EN).values():
        altair.Chart.from_dict(shortened(json.loads(json.dumps(chart.vega_spec))), validate=True)


@pytest.mark.parametrize("code", LANGUAGES)
def test_charts_speak_every_language(code: str) -> None:
    words = Language(code)
    result = seen(language=code)
    shown = {name: json.dumps(chart.spec, ensure_ascii=False) for name, chart in drawn(result, words).items()}
    for name in ("contours", "surface", "age"):
        assert f'"{words.say("membership")}"' in shown[name]
    assert f'"{words.say("possibility")}"' in shown["possibility"]
    assert all(f'"{words.label("fuzzy-set", "middle")}"' in shown[name] for name in ("contours", "regions", "age"))
    assert f'"{words.number(0.7)}"' in shown["contours"]


def test_dates_have_an_axis_of_dates() -> None:
    table = pa.table({"born": [f"{1940 + i}-06-15" for i in range(60)]})
    columns = [velado.Column("born", "quasi-identifier", type="date")]
    found = velado.anonymize(table, columns, [velado.KAnonymity(2)], Fuzzy(sets=3)).found
    scales = {"born": found.classes.frequency.hierarchies[0].scale}
    chart = charts.memberships(found.fuzzy.codings[0], found.fuzzy.names["born"], EN, scales)
    axis = chart.spec["layer"][0]["encoding"]["x"]
    assert axis["type"] == "temporal"
    year = [np.datetime64(int(x), "ms").astype(object).year for x in axis["scale"]["domain"]]
    assert 1930 < year[0] < 1950 < 1990 < year[1] < 2015
    assert chart.svg().startswith("<svg")


def test_an_axis_does_not_end_at_the_extremes() -> None:
    table = pa.table({"age": [*range(20, 80), PLANTED], "cost": list(range(61))})
    for partition in ("c-means", "k-means", "global-recode"):
        coding = fuzzify(table, ["age"], method=Fuzzy(partition, sets=2)).found.fuzzy.codings[0]
        assert across(coding, "age", {}).high != PLANTED


def test_one_interval_is_drawn() -> None:
    """Breaks that coincide leave fewer intervals than were asked for."""
    table = pa.table({"gain": [0] * 290 + list(range(1, 11))})
    fuzzy = fuzzify(table, ["gain"], method=Fuzzy("global-recode", sets=3)).found.fuzzy
    assert fuzzy.codings[0].sets == 1
    altair.Chart.from_dict(shortened(charts.memberships(fuzzy.codings[0], fuzzy.names["gain"], EN, {}).vega_spec))


@pytest.mark.thorough
def test_files(tmp_path: Path) -> None:
    result = seen()
    beside = {name: seen(partition=name) for name in ("k-means", "c-means")}
    files = save_fuzzy_charts(result, tmp_path / "all", language="pt", beside=beside)
    names = ["sets_age", "sets_cost", "q_anonymity", "contours", "surface", "partitions"]
    assert [f.stem for f in files] == names
    assert all(f.read_bytes().startswith(b"\x89PNG") for f in files)
    for suffix, start, one in (("svg", b"<svg", seen(joint=True)), ("pdf", b"%PDF", result)):
        (file,) = save_fuzzy_charts(one, tmp_path / f"one.{suffix}")
        assert file.read_bytes().startswith(start)
    (file,) = save_fuzzy_charts(seen(sets=6), tmp_path / "six.svg")
    assert file.read_text("utf-8").count("rather low") == 2, "each column has a legend of its own"
    with pytest.raises(InputError) as caught:
        save_fuzzy_charts(result, tmp_path / "one.gif")
    assert caught.value.code == "unknown-format"
    with pytest.raises(InputError) as caught:
        save_fuzzy_charts(result, tmp_path / "nowhere" / "one.svg")
    assert caught.value.code == "unwritable-output"
    three = people().append_column("third", pa.array(range(300)))
    joint = fuzzify(three, ["age", "cost", "third"], method=Fuzzy(sets=3, joint=True))
    with pytest.raises(InputError) as caught:
        save_fuzzy_charts(joint, tmp_path / "three.svg")
    assert caught.value.code == "not-drawable"
    assert [f.stem for f in save_fuzzy_charts(joint, tmp_path / "three")] == ["q_anonymity"]


# The report


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fuzzy project, released, in which one person's cost would give them away."""
    folder = tmp_path_factory.mktemp("fuzzy")
    rows = people().to_pylist()
    rows[5]["cost"] = PLANTED
    with open(folder / "people.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return folder


def released(folder: Path, method: dict[str, Any]) -> Path:
    project = {
        "source": "people.csv",
        "columns": {c: {"role": "quasi-identifier", "type": "number"} for c in ("age", "cost")} | {"ill": "sensitive"},
        "models": [{"k-anonymity": {"k": 5}}, {"q-anonymity": {"q": 2, "possibility": 0.1}}],
        "method": {"fuzzy": {"sets": 2, "suppression": 0.3, **method}},
        "output": "out.csv",
    }
    (folder / "project.yaml").write_text(yaml.safe_dump(project), encoding="utf-8")
    velado.run(folder / "project.yaml")
    return folder / "project.yaml"


def contents(project: Path) -> dict[str, str]:
    """All that the report says, in every language."""
    loaded = Project.load(project)
    manifest, private, release = reports.manifests_of(loaded)
    pair, about, _ = reports._read(loaded, manifest, private, release)
    evaluation = evaluate(pair, loaded.models, judge(pair, loaded.models), Wanted(("privacy",)))
    told = {}
    for code in LANGUAGES:
        content = content_of(Subject(pair, evaluation, about, Language(code)))
        told[code] = json.dumps([_data(content), [p.chart.spec for p in content.pictures]], ensure_ascii=False)
    return told


TOLD = (
    "Fuzzy sets",
    "Numbers were replaced by the names of fuzzy sets. A person belongs to several sets, each to a degree between 0 and 1, and is shown under the one to which they belong most. Fuzzy measures are those of the degrees; crisp measures are those of the names in the release.",
    "Fuzzy and crisp measures",
    "Q-anonymity",
    "Verified: the release was read back from its file, its classes are those that were judged, every crisp model was checked on what the file holds, every fuzzy one on the degrees of membership of these records, and the file is the one named in the manifest.",
)


@pytest.mark.parametrize(
    ("method", "pictures"),
    [
        ({}, False),
        ({"joint": True}, True),
        ({"partition": "global-recode"}, False),
        ({"breakpoints": {"age": [30, 60], "cost": [1000, 3000]}}, True),
    ],
    ids=str,
)
def test_the_report_tells_the_sets_and_nobodys_value(method: dict, pictures: bool, folder: Path) -> None:
    """A set with few records (that of the planted cost) has no centre and no picture; sets drawn by hand are no secret."""
    for code, text in contents(released(folder, method)).items():
        words = Language(code)
        assert [told for told in TOLD if json.dumps(words.say(told), ensure_ascii=False)[1:-1] not in text] == []
        assert Sentence(QAnonymity.declaration.title).into(code) in text
        assert (words.say("{x} and {y}: membership from above", x="age", y="cost") in text) == pictures
        for shape in (f"{PLANTED}", f"{PLANTED:,}", f"{PLANTED:,}".replace(",", ".")):
            assert shape not in text
    assert str(PLANTED) not in (folder / "out.csv.manifest.json").read_text(encoding="utf-8")


def test_the_files_of_the_report(folder: Path) -> None:
    project = released(folder, {"breakpoints": {"age": [30, 60], "cost": [1000, 3000]}})
    page, book = velado.write_report(project, folder / "report.html", formats=["html", "xlsx"])
    assert '<section id="fuzzy">' in page.read_text(encoding="utf-8")
    cells = [c.value for row in openpyxl.load_workbook(book)[EN.label("sheet", "fuzzy")].iter_rows() for c in row]
    measures = velado.evaluate(None, None, project=project, measures=()).fuzzy
    assert measures.partitions[0].sets[0].records in cells
    assert measures.sensitive["ill"].t in cells
