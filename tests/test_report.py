"""Reports: complete in three languages, self-contained, and without a value that belongs to a small group."""

import csv
import json
import re
import shutil
import subprocess
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import openpyxl
import pyarrow as pa
import pytest
import yaml

import velado
from conftest import Command
from velado.errors import InputError
from velado.evaluation import MEASURES, Comparison, Pair, Setting, Wanted, evaluate, public
from velado.frequency import Classes
from velado.hierarchies import Hierarchy
from velado.i18n import LANGUAGES, Language, language
from velado.models import KAnonymity, judge_classes
from velado.project import Project
from velado.release import count_table
from velado.report import charts
from velado.report import report as reports
from velado.report.chapters import disclosure
from velado.report.chapters.content import Cell, Content
from velado.report.chapters.subject import About, Subject, clean
from velado.report.charts import bars, drawing, trends
from velado.report.charts.drawing import Chart, Drawn, Studio
from velado.report.formats.html import html
from velado.report.formats.pdf import _data
from velado.report.report import content_of, render, write_report
from velado.sentences import CONTEXT

SCRIPT = "<script>alert(1)</script>"
FORMULA = '=HYPERLINK("evil")'
ODD = 'odd<b>&"column'
PLANTED = {
    "name": "Zyxwvut Planted",
    "national_id": "99999998Q",
    "birth_date": "1903-04-05",
    "postal_code": "99123",
    "age": "122",
    "diagnosis": "Planted disease",
}
EN = Language("en")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory, patients: pa.Table) -> Path:
    """A released project with hostile names and labels, and one record that nobody must find in a report."""
    folder = tmp_path_factory.mktemp("report")
    rows = patients.to_pylist()
    for i, row in enumerate(rows):
        row["age"] = str(2026 - int(row["birth_date"][:4]))
        row[ODD] = (SCRIPT, FORMULA, "plain")[i % 3]
    rows[7] |= PLANTED
    with open(folder / "patients.csv", "w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    project = {
        "name": f"patients {SCRIPT}",
        "source": "patients.csv",
        "columns": {
            "name": "identifier",
            "national_id": {"role": "identifier", "operation": "drop"},
            "birth_date": {"role": "quasi-identifier", "hierarchy": {"dates": ["year", "decade"]}},
            "age": {"role": "quasi-identifier", "type": "integer", "hierarchy": {"intervals": [20, 40]}},
            "sex": "quasi-identifier",
            "postal_code": {"role": "quasi-identifier", "hierarchy": {"mask": "right"}},
            ODD: "quasi-identifier",
            "diagnosis": "sensitive",
            "cost": {"role": "insensitive", "exposure": "accepted"},
        },
        "rest": "drop",
        "models": [{"k-anonymity": {"k": 5}}, {"distinct-diversity": {"l": 2, "column": "diagnosis"}}],
        "method": {"lattice": {"suppression": 0.1}},
        "output": "out.csv",
    }
    (folder / "project.yaml").write_text(yaml.safe_dump(project, sort_keys=False), encoding="utf-8")
    velado.run(folder / "project.yaml")
    return folder


@pytest.fixture(scope="session")
def subject(folder: Path) -> Subject:
    project = Project.load(folder / "project.yaml")
    manifest, private, release = reports.manifests_of(project)
    whole, about, _ = reports._read(project, manifest, private, release)
    pair = public(whole)
    _, verdicts = judge_classes(project.models, pair.released.frequency.sensitive, pair.released)
    return Subject(pair, evaluate(pair, project.models, verdicts, Wanted(MEASURES)), about, EN)


@pytest.fixture(scope="session")
def written(folder: Path) -> dict[str, Path]:
    """The three files, in Spanish."""
    files = write_report(folder / "project.yaml", folder / "report.html", language="es")
    return {f.suffix: f for f in files}


def in_language(subject: Subject, code: str, **more: Any) -> Content:
    return content_of(replace(subject, words=Language(code), **more))


def page_of(content: Content) -> str:
    """The page with empty drawings."""
    return html(content, [Drawn("<svg ></svg>", None) for _ in content.pictures])


def texts_of(content: Content) -> str:
    """All that a report says: what the document is made from, the charts, and the class list."""
    specs = [p.chart.spec for p in content.pictures]
    lists = list(content.classes.figures.rows())
    return json.dumps([_data(content), specs, lists], ensure_ascii=False)


def sheet_texts(path: Path) -> list[Any]:
    book = openpyxl.load_workbook(path)
    return [cell for sheet in book for row in sheet.iter_rows() for cell in row if cell.value is not None]


# Languages


@pytest.mark.parametrize(
    ("code", "number", "percent", "small", "date"),
    [
        ("en", "1,234.5", "7.2%", "<0.1%", "5 March 2026"),
        ("es", "1.234,5", "7,2\u202f%", "<0,1\u202f%", "5 de marzo de 2026"),
        ("pt", "1.234,5", "7,2%", "<0,1%", "5 de março de 2026"),
    ],
)
def test_numbers_and_dates(code: str, number: str, percent: str, small: str, date: str) -> None:
    from datetime import date as day

    words = language(code)
    assert words.number(1234.5, 2) == number
    assert words.percent(0.0724) == percent
    assert words.percent(0.00001) == small
    assert words.date(day(2026, 3, 5)) == date
    assert words.integer(None) == words.percent(None) == "–"
    assert words.number(-0.00001, 2) == "0"
    assert words.number(-3) == "−3"


def test_unknown_language(folder: Path) -> None:
    with pytest.raises(InputError) as caught:
        write_report(folder / "project.yaml", language="fr")
    assert caught.value.code == "unknown-language"


def test_unknown_names_stay_as_they_are() -> None:
    assert Language("es").label("attack", "unheard-of") == "unheard-of"


# Content


@pytest.mark.parametrize("code", LANGUAGES)
def test_content_is_complete(subject: Subject, code: str) -> None:
    content = in_language(subject, code)
    names = [s.name for s in content.sections]
    assert names == ["release", "equivalence", "privacy", "risk", "utility", "answers", "method", "glossary"]
    assert content.verdict.state == "holds"
    assert len(content.verdict.tiles) == 4
    assert len(content.verdict.words) == 4
    page = page_of(content)
    assert f'<html lang="{code}">' in page
    shown = re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL) + texts_of(content)
    assert CONTEXT not in shown
    assert "{" not in re.sub(r"<[^>]*>", "", shown.partition("</html>")[0])
    e = subject.evaluation
    for number in (e.rows, e.released, e.suppressed, e.classes):
        assert Language(code).integer(number) in page
    for name in (*subject.pair.columns, "diagnosis", "cost", "name", "national_id"):
        assert Cell(name) in [row[0] for table in content.sections[0].tables for row in table.rows]


def test_languages_say_the_same_in_other_words(subject: Subject) -> None:
    pages = [page_of(in_language(subject, code)) for code in LANGUAGES]
    assert len({len(re.findall(r"<t[hd]", page)) for page in pages}) == 1
    titles = [{s.title for s in in_language(subject, code).sections} for code in LANGUAGES]
    assert not titles[0] & titles[1]
    assert not titles[0] & titles[2]


def test_the_verdict_says_what_holds_and_warns(subject: Subject) -> None:
    verdict = in_language(subject, "en").verdict
    assert verdict.models is not None
    rows = [[cell.text for cell in row] for row in verdict.models.rows]
    assert [row[:3] for row in rows] == [["k-anonymity", "–", "k ≥ 5"], ["distinct ℓ-diversity", "diagnosis", "ℓ ≥ 2"]]
    assert all(row[4] == "✓ holds" for row in rows)
    assert any("cost" in text for text in verdict.cautions)
    unprotected = replace(subject.evaluation, models=subject.evaluation.models[:1])
    assert any("diagnosis" in text for text in in_language(subject, "en", evaluation=unprotected).verdict.cautions)
    broken = replace(subject.evaluation, models=(replace(subject.evaluation.models[0], satisfied=False),))
    failed = in_language(subject, "en", evaluation=broken).verdict
    assert failed.state == "fails"
    assert failed.models is not None
    assert failed.models.rows[0][4].text == "✗ fails"


def test_every_model_shows_what_it_requires_and_reaches(subject: Subject) -> None:
    from velado.models import Verdict
    from velado.report.chapters.summary import describe_achieved, describe_required

    spanish = replace(subject, words=Language("es"))
    t = Verdict("t-closeness", {"t": 0.25, "column": "x", "distance": "ordered", "strict": True}, 0.125, True)
    assert describe_required(spanish, t) == "t ≤ 0,25 (distancia ordenada, estricto)"
    assert describe_achieved(spanish, t) == "t = 0,125"
    recursive = Verdict("recursive-diversity", {"c": 4, "l": 3, "column": "x", "strict": False}, 2.5, True)
    assert (describe_required(subject, recursive), describe_achieved(subject, recursive)) == ("c < 4, ℓ = 3", "c = 2.5")
    both = Verdict("alpha-k", {"alpha": 0.5, "k": 2, "column": "x"}, {"k": 5, "alpha": 0.25}, True)
    assert (describe_required(subject, both), describe_achieved(subject, both)) == ("α ≤ 0.5, k ≥ 2", "k = 5, α = 0.25")
    endless = Verdict("beta-likeness", {"beta": 2.0, "column": "x"}, float("inf"), False)
    assert describe_achieved(subject, endless) == "–"


def test_other_settings_and_attacks_have_chapters(subject: Subject) -> None:
    settings = [Setting({"k": k, "suppression": s}, subject.evaluation) for k in (2, 5, 9) for s in (0.1, 1.0)]
    comparison = Comparison.of(("k", "suppression"), [*settings, Setting({"k": 99, "suppression": 1.0}, reason="no")])
    attack = SimpleNamespace(
        name="homogeneity",
        succeeded=True,
        figures={"exposed_records": 3, "odd_figure": 0.5, "secret": PLANTED["name"]},
        prevented_by=(SimpleNamespace(model="distinct-diversity", parameters={"l": 2, "column": "x"}, measure=None),),
    )
    strange = SimpleNamespace(name="order", succeeded=False, figures={"odd_figure": 7}, prevented_by=())
    content = in_language(subject, "pt", comparison=comparison, attacks=(attack, strange))
    chapters = {s.name: s for s in content.sections}
    assert [p.title for p in chapters["trade-off"].pictures][-1] == "Risco e perda"
    assert len(chapters["trade-off"].pictures) == 5
    assert len(chapters["trade-off"].tables[0].rows) == 7
    assert "sem solução" in [cell.text for cell in chapters["trade-off"].tables[0].rows[-1]]
    told = [[cell.text for cell in row] for row in chapters["attacks"].tables[0].rows]
    assert told[0] == ["homogeneidade", "com sucesso", "registros expostos 3", "ℓ-diversidade distinta (ℓ ≥ 2)"]
    assert told[1] == ["ordem das linhas", "sem sucesso", "odd_figure 7", "–"]


def test_the_method_says_whether_the_recoding_is_proven(subject: Subject) -> None:
    def told(method: str, **search: Any) -> str:
        manifest = dict(subject.about.manifest or {}, method={method: {"suppression": 0.1}}, search=search)
        content = in_language(subject, "en", about=replace(subject.about, manifest=manifest))
        return next(s for s in content.sections if s.name == "method").lead[0]

    assert "proven" in told("lattice", proven_optimal=True, gap=0.0)
    assert "at most 0.25" in told("lattice", proven_optimal=False, gap=0.25)
    assert "heuristic" in told("datafly", proven_optimal=False, gap=None)
    assert "nothing was searched" in told("fixed", proven_optimal=False, gap=None)


# What must not be in a report


def test_no_value_of_a_small_group_is_shown(subject: Subject, written: dict[str, Path], folder: Path) -> None:
    with open(folder / "patients.csv", encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    with open(folder / "out.csv", encoding="utf-8", newline="") as stream:
        released = {value for row in csv.DictReader(stream) for value in row.values()}
    secret = {row[c] for row in rows for c in ("name", "national_id", "birth_date")} - released
    secret |= set(PLANTED.values()) - {PLANTED["age"]}
    diagnoses = Counter(row["diagnosis"] for row in rows)
    rare = {name for name, count in diagnoses.items() if count < 10}
    assert rare & released
    secret |= rare
    assert len(secret) > 1000
    page = written[".html"].read_text(encoding="utf-8")
    sheets = "\n".join(str(cell.value) for cell in sheet_texts(written[".xlsx"]))
    document = "".join(texts_of(in_language(subject, code)) for code in LANGUAGES)
    if shutil.which("pdftotext"):
        document += subprocess.run(["pdftotext", written[".pdf"], "-"], capture_output=True, encoding="utf-8").stdout
    for text in (page, sheets, document):
        assert [s for s in secret if s in text] == []
        assert not re.search(rf"(?<![\w.,]){PLANTED['age']}(?![\w.,])", re.sub(r"[0-9a-f]{64}|<svg.*?</svg>", "", text))


def test_the_planted_age_is_shown_by_its_label_only(subject: Subject) -> None:
    answers = next(s for s in in_language(subject, "en").sections if s.name == "answers").tables
    table = next(t for t in answers if "age" in t.title)
    maximum = next(row for row in table.rows if row[0].text == "maximum")
    assert maximum[1].text.startswith(("in ", "not shown"))
    # One record was suppressed: the mean of all would tell its age, that of the released people does not.
    assert subject.evaluation.suppressed == subject.pair.lost == 1
    shown = next(row for row in table.rows if row[0].text.startswith("mean"))[1]
    numbers, counts = subject.pair.known_numbers(subject.pair.columns.index("age"))
    assert counts.sum() == subject.evaluation.released
    assert shown.value == pytest.approx((numbers * counts).sum() / counts.sum())


def test_formula_like_labels_are_inert(written: dict[str, Path]) -> None:
    cells = sheet_texts(written[".xlsx"])
    assert {cell.data_type for cell in cells} <= {"s", "n"}
    assert any(str(cell.value).lstrip("'") == FORMULA for cell in cells)


def test_labels_and_names_are_escaped(written: dict[str, Path]) -> None:
    page = written[".html"].read_text(encoding="utf-8")
    assert "<script" not in page.lower()
    assert "alert(1)" in page
    assert "<b>" not in page
    assert "odd&lt;b&gt;" in page


def test_html_is_self_contained(written: dict[str, Path]) -> None:
    page = written[".html"].read_text(encoding="utf-8")
    outside = set(re.findall(r"https?://[^\s\"'<>]+", page))
    assert outside <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert not re.search(r"<(link|iframe|object|embed|img)\b|@import|url\((?!#)|\bsrc=|\son\w+=", page, re.IGNORECASE)
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert page.count("<svg ") == page.count('role="img"') > 8


def test_nothing_names_the_machine(written: dict[str, Path], folder: Path) -> None:
    for path in written.values():
        assert str(folder).encode() not in path.read_bytes()
    assert str(folder) not in "".join(str(cell.value) for cell in sheet_texts(written[".xlsx"]))


def test_the_page_is_in_its_language(written: dict[str, Path], subject: Subject) -> None:
    page = written[".html"].read_text(encoding="utf-8")
    assert "Informe de privacidad" in page
    assert "Privacy report" not in page
    assert Language("es").percent(subject.evaluation.utility.loss) in page
    assert written[".pdf"].read_bytes().startswith(b"%PDF-")
    book = openpyxl.load_workbook(written[".xlsx"])
    assert book.sheetnames[:2] == ["Resumen", "Tamaños de clase"]
    assert book["Tamaños de clase"]["A1"].value == "clase"
    heads = [cell.value for cell in book["Tamaños de clase"][1]]
    sizes = [row[heads.index("registros")] for row in book["Tamaños de clase"].iter_rows(min_row=2, values_only=True)]
    assert sizes == sorted(subject.pair.sizes.tolist(), reverse=True)
    assert heads[-1] == "diagnosis: mayor proporción"


def test_the_workbook_lists_the_figures_of_all_classes_from_the_release_alone(
    written: dict[str, Path], subject: Subject, folder: Path
) -> None:
    """Somebody who has only the release counts the same, so nothing of the suppressed record is in it."""
    assert subject.evaluation.suppressed == 1
    with open(folder / "out.csv", encoding="utf-8", newline="") as stream:
        released = [row for row in csv.DictReader(stream) if row["sex"] != "*"]
    everybody = Counter(row["diagnosis"] for row in released)
    classes: dict[tuple[str, ...], Counter[str]] = {}
    for row in released:
        label = tuple(clean(row[c].removeprefix("'")) for c in subject.pair.columns)
        classes.setdefault(label, Counter())[row["diagnosis"]] += 1
    sheet = openpyxl.load_workbook(written[".xlsx"])["Tamaños de clase"]
    heads = [cell.value for cell in sheet[1]]
    width = len(subject.pair.columns)
    rows = list(sheet.iter_rows(min_row=2, values_only=True))
    assert {row[1 : width + 1] for row in rows} == set(classes)
    for row in rows:
        ill = classes[row[1 : width + 1]]
        n = ill.total()
        over = sum(max(0.0, count / n - everybody[x] / len(released)) for x, count in ill.items())
        shown = dict(zip(heads, row, strict=True))
        assert shown["registros"] == n
        assert shown["riesgo"] == pytest.approx(1 / n)
        assert shown["diagnosis: ℓ distinta"] == len(ill)
        assert shown["diagnosis: t uniforme"] == pytest.approx(over)
        assert shown["diagnosis: mayor proporción"] == pytest.approx(max(ill.values()) / n)


# What of the original may be shown


def pair_of(values: list[str], levels: list[int], spec: Any = None, keep: Any = None) -> Pair:
    """The pair of one column at a level, classes of fewer than two records suppressed."""
    from velado.schema import Column, Schema
    from velado.tables import open_table

    column = Column("x", "quasi-identifier", hierarchy=spec)
    with open_table(pa.table({"x": values})) as table:
        frequency = count_table(table, Schema([column]))
    classes = Classes.at_levels(frequency, levels)
    return Pair.at_levels(classes, levels, classes.sizes >= 2 if keep is None else keep(classes))


LIMITS = disclosure.Limits(10, 10, 5)


def test_distributions_have_released_labels_only() -> None:
    pair = public(pair_of(["a"] * 30 + ["b"] * 12 + ["c"] * 3 + ["secret"], [0]))
    shares = disclosure.distribution(pair, 0, LIMITS)
    assert [(s.label, s.kind) for s in shares] == [("a", "label"), ("b", "label"), (None, "other"), (None, "not-released")]
    assert [s.after for s in shares] == [30, 12, 3, 1]
    # Of the one suppressed record nothing is told but that there is one: what is counted are released people.
    assert [s.before for s in shares] == [30, 12, 3, 1]
    nothing_lost = disclosure.distribution(pair_of(["a"] * 31 + ["b"] * 12, [0]), 0, LIMITS)
    assert [(s.before, s.after) for s in nothing_lost] == [(31, 31), (12, 12)]


def test_rare_sensitive_values_are_joined() -> None:
    from velado.schema import Column, Schema
    from velado.tables import open_table

    people = pa.table({"x": ["a"] * 40 + ["b"], "ill": ["flu"] * 30 + ["cold"] * 8 + ["rare"] * 2 + ["secret"]})
    with open_table(people) as table:
        frequency = count_table(table, Schema([Column("x", "quasi-identifier"), Column("ill", "sensitive")]))
    classes = Classes.at_levels(frequency, [0])
    pair = Pair.at_levels(classes, [0], classes.sizes >= 2)
    pair = public(replace(pair, spelled={"ill": {"flu", "cold", "rare"}}))
    shares = disclosure.sensitive_distribution(pair, pair.original.sensitive[0], LIMITS)
    assert [(s.label, s.before, s.after) for s in shares] == [("flu", 30, 30), (None, 10, 10), (None, 1, 1)]


def test_one_or_two_others_are_not_counted_alone() -> None:
    limits = disclosure.Limits(3, 3, 3)
    kept = {"keep": lambda classes: classes.sizes > 0}
    shares = disclosure.distribution(pair_of(["a"] * 30 + ["b"] * 12 + ["c"] * 2, [0], **kept), 0, limits)
    assert [(s.label, s.kind, s.after) for s in shares] == [("a", "label", 30), (None, "other", 14)]
    alone = disclosure.distribution(pair_of(["a"] * 30 + ["b"] * 12 + ["c"], [0], **kept), 0, disclosure.Limits(1, 1, 1))
    assert [s.after for s in alone] == [30, 12, 1]


def test_many_labels_are_joined() -> None:
    pair = pair_of([f"v{i}" for i in range(40) for _ in range(10 + i)], [0])
    shares = disclosure.distribution(pair, 0, LIMITS)
    assert len(shares) == disclosure.MOST_LABELS
    assert shares[0].label == "v39"
    assert shares[-1].kind == "other"
    assert sum(s.after for s in shares) == pair.records


def test_overlapping_labels_are_counted_in_ranges() -> None:
    from velado.frequency import FrequencyTable
    from velado.release.read_back import release_frequency

    pair = pair_of([str(x) for x in range(1, 9) for _ in range(10)], [0])
    labels = ("1-3", "2-4", "5-6", "7-8")
    counts = velado.tables.Counts(("x",), (labels,), (np.arange(4),), np.full(4, 20))
    released: FrequencyTable = release_frequency(pair.original, [counts])
    shares = disclosure.distribution(Pair.between(pair.original, released), 0, LIMITS)
    # The middles are 2, 3, 5.5 and 7.5; nothing tells the lowest and the highest value.
    assert [(s.label, s.before, s.after) for s in shares] == [
        ("<3", 20, 20),
        ("3 ≤ … < 4", 10, 20),
        ("4 ≤ … < 5", 10, 0),
        ("5 ≤ … < 6", 10, 20),
        ("6 ≤ … < 7", 10, 0),
        (">=7", 20, 20),
    ]
    wide = velado.tables.Counts(("x",), (("1-6", "3-8"),), (np.arange(2),), np.full(2, 40))
    shares = disclosure.distribution(Pair.between(pair.original, release_frequency(pair.original, [wide])), 0, LIMITS)
    assert [(s.label, s.before, s.after) for s in shares] == [("<5", 40, 40), (">=5", 40, 40)], "as wide as the labels"


def test_numbers_of_the_original_need_enough_records() -> None:
    values = ["21"] * 12 + ["22"] * 3 + ["35"] * 9 + ["99"]
    pair = pair_of(values, [1], {"intervals": [10, 100]})
    assert disclosure.original_number(pair, 0, 21.0, LIMITS) == disclosure.Shown(21.0)
    assert disclosure.original_number(pair, 0, 35.0, LIMITS).label == "30-39"
    assert disclosure.original_number(pair, 0, 99.0, LIMITS) == disclosure.HIDDEN


def test_open_intervals_hide_the_limits_of_the_original() -> None:
    rows = [[str(x), "<50" if x < 50 else ">=50", "*"] for x in range(20, 91)]
    spec = Hierarchy.from_rows("x", rows)
    pair = pair_of([str(x) for x in range(20, 91) for _ in range(2)], [1], spec)
    assert disclosure.open_ends(pair, 0) == (True, True)
    evaluation = evaluate(pair, (), (), Wanted(MEASURES))
    content = content_of(Subject(pair, evaluation, About("x", "a.csv", "b.csv"), EN))
    table = next(t for s in content.sections for t in s.tables if "x" in t.title and s.name == "answers")
    cells = {row[0].text: row[2].text for row in table.rows}
    assert {cells["minimum"], cells["maximum"], cells["mean (by interval midpoint)"]} == {"not shown (small group)"}
    assert "90" not in json.dumps([[c.text for c in row] for row in table.rows])


def test_small_classes_are_listed_only_if_the_models_allow_them(subject: Subject) -> None:
    promised = disclosure.Limits.of(subject.evaluation)
    assert (promised.listed, disclosure.guaranteed_size(subject.evaluation.models)) == (5, 5)
    free = replace(subject.evaluation, models=())
    assert disclosure.Limits.of(free).listed == 10
    content = in_language(subject, "en", evaluation=free)
    small = [row for row in content.classes.figures.rows() if row["records"] < 10]
    assert small
    assert {x for row in small for x in row["labels"].values()} == {"not shown (small group)"}
    assert {x for row in small for figures in row["sensitive"].values() for x in figures.values()} == {None}
    assert content.verdict.state == "open"
    assert content.verdict.models is None


# Charts


def test_bins_of_class_sizes() -> None:
    found = bars.bins(np.array([5, 9, 10, 60, 1340]))
    assert [(b.label(EN), b.classes) for b in found] == [
        ("5–9", 2),
        ("10–19", 1),
        ("20–49", 0),
        ("50–99", 1),
        ("100–199", 0),
        ("200–499", 0),
        ("500–999", 0),
        ("1,000–1,999", 1),
    ]
    assert sum(b.records for b in found) == 1424
    wide = bars.bins(np.array([1, 10_000_000]))
    assert len(wide) == bars.MOST_BARS
    assert wide[-1].label(Language("es")) == "≥ 2.000"
    assert sum(b.classes for b in wide) == 2
    assert bars.bins(np.zeros(0, dtype=int)) == []


def rows_of(chart: Chart) -> list[dict[str, Any]]:
    return chart.spec["data"]["values"]


def names_of(chart: Chart) -> list[Any]:
    return chart.spec["params"][0]["value"]


def test_histograms() -> None:
    sizes = np.array([7, 3, 3, 12])
    assert [r["y"] for r in rows_of(charts.top_classes(sizes, EN, 3))] == [12, 7, 3]
    assert [r["y"] for r in rows_of(charts.class_histogram(sizes, EN))] == [2, 1, 1]
    found = charts.diversity_histogram(np.array([1, 1, 3]), "ill", Language("pt"))
    assert ([r["y"] for r in rows_of(found)], names_of(found)) == ([2, 0, 1], ["1", "2", "3"])
    title = found.spec["layer"][0]["encoding"]["x"]["axis"]["title"]
    assert title == "valores distintos de ill em uma classe"


def test_before_and_after_differ_without_colour() -> None:
    chart = charts.before_after([charts.Pairing("a" * 80, 0.5, 0.25)], "share", Language("es"))
    assert [(r["series"], r["text"]) for r in rows_of(chart)] == [("antes", "50\u202f%"), ("después", "25\u202f%")]
    assert len(names_of(chart)[0]) <= 2
    assert names_of(chart)[0][-1].endswith("…")
    scale = chart.spec["layer"][0]["encoding"]["color"]["scale"]
    light, dark = (sum(int(c[i : i + 2], 16) for i in (1, 3, 5)) for c in scale["range"])
    assert light - dark > 200


def test_risk_distribution_has_shares_of_both_tables() -> None:
    rows = rows_of(charts.risk_distribution(np.array([1, 1, 2]), np.array([4, 12]), EN))
    before, after = ([r["x"] for r in rows if r["series"] == s] for s in ("before", "after"))
    assert (before[:2], sum(before)) == ([0.5, 0.5], 1.0)
    assert (after[2], after[4], sum(after)) == (0.25, 0.75, 1.0)


def test_levels_stand_in_the_outline_of_their_height() -> None:
    rows = rows_of(charts.levels([("age", 3, 4), ("place", 1.5, 2)], Language("es")))
    assert [(r["level"], r["height"], r["text"]) for r in rows] == [(3, 4, "3 / 4"), (1.5, 2, "1,5 / 2")]


def test_lines_differ_in_shape_and_dash() -> None:
    spec = charts.lines({"a": [(1, 2)], "b": [(1, 3)]}, "k", "loss", EN).spec
    line, marks = (layer["encoding"] for layer in spec["layer"])
    assert len({str(d) for d in line["strokeDash"]["scale"]["range"]}) == 2
    assert len(set(marks["shape"]["scale"]["range"])) == 2
    assert spec["layer"][0]["encoding"]["x"]["title"] == "k"


def test_the_frontier_names_a_few_efficient_settings() -> None:
    points = [charts.Point(f"k = {k}", 1 / k, k / 50, "efficient") for k in range(2, 26)]
    points += [charts.Point("worse", 0.4, 0.9, "other"), charts.Point("", 0.2, 0.1, "this")]
    chart = charts.frontier(points, EN)
    named = [r["text"] for r in rows_of(chart) if r["text"]]
    assert {"k = 2", "k = 25"} <= set(named)
    assert len(named) <= trends.MOST_NAMES + 1
    assert rows_of(chart)[-1]["kind"] == "this release"


def test_chart_files(tmp_path: Path) -> None:
    charts.largest_classes(tmp_path / "a.svg", np.array([1200, 3]), "Title", language="es")
    svg = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert "1.200" in svg
    assert "2 mayores de 2 clases" in svg
    charts.panels(tmp_path / "b.png", {"k": [(2, 0.1), (5, 0.2)], "t": [(0.1, 0.3)]}, "loss", "Title", "sub")
    assert (tmp_path / "b.png").read_bytes().startswith(b"\x89PNG")


def test_charts_are_valid_vega_lite(subject: Subject) -> None:
    import altair
    import jsonschema

    settings = [Setting({"k": k}, subject.evaluation) for k in (2, 5)]
    content = in_language(subject, "en", comparison=Comparison.of(("k",), settings))
    assert len(content.pictures) >= 15
    for picture in content.pictures:
        altair.Chart.from_dict(picture.chart.vega_spec)
    with pytest.raises(jsonschema.ValidationError):
        altair.Chart.from_dict({"mark": "bar", "encoding": {"x": {"feild": "a"}}})


def test_charts_use_large_letters() -> None:
    sizes = re.findall(r'"(\w*[fF]ontSize)": (\d+)', json.dumps(drawing.THEME))
    assert sizes
    assert all(int(size) >= 11 for _, size in sizes)


def test_a_chart_is_drawn_once_and_a_bad_one_is_an_error() -> None:
    chart = charts.levels([("<b>", 0, 1)], EN)
    with Studio(pdf=True) as studio:
        first, second, bad = studio.draw([chart, chart, Chart({"mark": 3})])
        assert first is second
        assert first.result().pdf.startswith(b"%PDF")
        assert "&lt;b&gt;" in first.result().svg
        with pytest.raises(RuntimeError, match="could not be drawn"):
            bad.result()
    assert studio.process.returncode is not None


def test_drawings_in_one_page_have_ids_of_their_own() -> None:
    svg = '<svg class="marks"><clipPath id="clip0"/><g clip-path="url(#clip0)"/></svg>'
    shown = drawing.inline(svg, 4, 'a "title"')
    assert 'id="c4-clip0"' in shown
    assert "url(#c4-clip0)" in shown
    assert 'aria-label="a &quot;title&quot;"' in shown


# Files


def code_of(*args: Any, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        write_report(*args, **options)
    return caught.value.code


def test_a_report_needs_the_release_as_it_was_written(folder: Path, tmp_path: Path) -> None:
    for name in ("patients.csv", "project.yaml", "out.csv", "out.csv.manifest.json", "out.csv.private.json"):
        shutil.copy(folder / name, tmp_path / name)
    project, release, manifest = (tmp_path / n for n in ("project.yaml", "out.csv", "out.csv.manifest.json"))
    kept = manifest.read_bytes()
    manifest.write_text("{}")
    assert code_of(project) == "no-manifest"
    manifest.unlink()
    assert code_of(project) == "no-manifest"
    manifest.write_bytes(kept)
    text = release.read_bytes()
    release.write_bytes(text + b"\n")
    assert code_of(project) == "stale-release"
    release.write_bytes(text)
    table = (tmp_path / "patients.csv").read_bytes()
    (tmp_path / "patients.csv").write_bytes(table + table.splitlines(keepends=True)[-1])
    assert code_of(project, formats=("xlsx",)) == "stale-release"
    (tmp_path / "patients.csv").write_bytes(table)
    project.write_text(project.read_text().replace("k: 5", "k: 4"))
    assert code_of(project) == "stale-release"
    release.unlink()
    assert code_of(project) == "no-release"
    assert not list(tmp_path.glob("*report*"))


def test_formats_and_paths(folder: Path, tmp_path: Path) -> None:
    project = folder / "project.yaml"
    assert code_of(project, formats=("docx",)) == "unknown-report-format"
    assert code_of(project, formats=()) == "unknown-report-format"
    (tmp_path / "file").write_text("")
    assert code_of(project, tmp_path / "file" / "folder") == "unwritable-output"
    assert code_of(project, tmp_path / "absent" / "report.html") == "unwritable-output"
    paths = reports.report_paths(tmp_path / "a.b.html", "out", ("pdf", "html"))
    assert [p.name for p in paths] == ["a.b.html", "a.b.pdf"]
    assert [p.name for p in reports.report_paths(tmp_path, "out", ("xlsx",))] == ["out_report.xlsx"]


def test_a_report_replaces_nothing_of_the_project(folder: Path, tmp_path: Path) -> None:
    project = Project.load(folder / "project.yaml")
    workbook = replace(project, output=velado.Output(path=tmp_path / "out.xlsx"))
    with pytest.raises(InputError) as caught:
        reports._check_paths(workbook, reports.report_paths(tmp_path / "out.html", "x", ("html", "xlsx")))
    assert caught.value.code == "output-is-input"


def test_all_files_or_none(subject: Subject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> bytes:
        raise RuntimeError("no")

    monkeypatch.setattr(reports, "pdf", broken)
    with pytest.raises(RuntimeError):
        render([tmp_path / "r.html", tmp_path / "r.pdf", tmp_path / "r.xlsx"], subject.pair, subject.evaluation, subject.about)
    assert list(tmp_path.iterdir()) == []


def test_any_pair_of_tables_has_a_report(tmp_path: Path) -> None:
    pair = pair_of(["a"] * 30 + ["b"] * 12 + ["secret"], [0])
    evaluation = evaluate(pair, [KAnonymity(2)])
    render([tmp_path / "r.html"], pair, evaluation, About("pair", "a.csv", "b.csv"), "pt")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "não há manifesto" in page
    assert "secret" not in page


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setattr(drawing, "find_spec", lambda name: None)
    with pytest.raises(InputError) as caught:
        Studio(pdf=False)
    assert (caught.value.code, caught.value.hint) == ("no-charts", "pip install 'velado[report]'")
    for name, call in (("jinja2", lambda: html(None, [])), ("typst", lambda: reports.pdf(None, []))):  # type: ignore[arg-type]
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(InputError) as caught:
            call()
        assert caught.value.code == "no-report"


def test_command(folder: Path, main: Command) -> None:
    ended = main(
        "report",
        folder / "project.yaml",
        "-o",
        folder / "by_command",
        "--format",
        "html",
        "--language",
        "pt",
        "--k",
        "3,8",
        "--attacks",
        "--json",
    )
    assert ended.code == 0
    assert [Path(f).name for f in ended.json["files"]] == ["out_report.html"]
    page = (folder / "by_command" / "out_report.html").read_text(encoding="utf-8")
    assert "Compromisso: outras configurações" in page
    assert "Ataques testados" in page
    assert main("report", folder / "project.yaml", "--format", "odt").code == 2
