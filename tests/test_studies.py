"""The studies: every published figure, every promised file."""

from __future__ import annotations

import csv
import os
from collections import Counter
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from conftest import Command
from velado import InputError
from velado.i18n import language
from velado.report.charts import Chart
from velado.samples.ceara import cpf_is_valid
from velado.studies import data_folder, ubb, unilab
from velado.tables.publication.results import LISTING, results

DATA = data_folder()
needs_data = pytest.mark.skipif(
    not (DATA / "adult" / "adult.csv").exists(), reason=f"the Adult data are not in {DATA} (set VELADO_DATA)"
)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, Any]]:
    """What was drawn, by the names of the files."""
    found: dict[str, dict[str, Any]] = {}
    save = Chart.save

    def listen(chart: Chart, path: Path) -> None:
        found[path.stem] = chart.spec
        save(chart, path)

    monkeypatch.setattr(Chart, "save", listen)
    return found


@needs_data
def test_ubb_comes_out_exactly(tmp_path: Path, drawn: dict[str, dict[str, Any]]) -> None:
    result = ubb.study(DATA, tmp_path / "ubb", language="es")
    rows = [c for c in result.compared if c.configuration in ubb.configurations()]
    assert len(rows) == 24 * 17
    assert all(c.agrees for c in rows)
    assert result.unexplained_differences == []
    assert {c.configuration for c in result.differences} == {"table 5", "table 6"}
    assert {"table 4", "table 9", "table 10", "table 11", "table 12", "table 13"} < {c.configuration for c in result.compared}
    losses = [c for c in result.compared if c.figure == "loss"]
    assert max(abs(c.published - c.obtained) for c in losses) < 1e-8
    names = {"comparison.csv", "comparison.xlsx", *(f"{name}.png" for name in ubb.CHARTS)}
    assert {f.name for f in result.files} == names
    assert {"figure_11_loss", "figure_12_risk", "annex_mode_count"} < set(ubb.CHARTS)
    assert all(f.stat().st_size > 1000 for f in result.files)
    for name, (_, axis, title) in ubb.CHARTS.items():
        shown = drawn[name]
        assert shown["title"]["text"] == title.into("es") != title
        assert shown["title"]["subtitle"] == "Adult, ocho cuasi-identificadores, recodificación óptima"
        assert {p["layer"][0]["encoding"]["y"]["title"] for p in shown["hconcat"]} == {axis.into("es")} != {axis}


def test_charts_of_a_study_speak_its_language(main: Command, drawn: dict[str, dict[str, Any]]) -> None:
    assert main("study", "unilab", "--rows", "300", "--language", "pt").code == 0
    classes, diversity = drawn["classes_k2"], drawn["diversity_k2_l2"]
    assert classes["title"]["text"] == "Maiores classes de equivalência, k = 2"
    assert diversity["title"]["text"] == "Valores diferentes por classe, k = 2, ℓ = 2"
    words = language("pt")
    axes = [words.say("class, by size"), words.say("records")]
    x, y = (classes["layer"][0]["encoding"][axis] for axis in "xy")
    assert [x["axis"]["title"], y["title"]] == axes
    assert axes != ["class, by size", "records"]


@needs_data
def test_a_wrong_figure_would_be_seen() -> None:
    """The comparison can fail: another k does not give the published figures."""
    from velado import KAnonymity, Lattice
    from velado.evaluation import Pair

    frequency = ubb.load(DATA)
    row = next(r for r in ubb.read_published(DATA) if r["configuration"] == "k-anonymity k=5")
    found = Lattice().search(frequency, [KAnonymity(6)])
    pair = Pair.of(found.classes, found.kept, found.covers, found.labels)
    compared = ubb.figures(row, found.levels, pair, [KAnonymity(6)])
    assert {c.figure for c in compared if not c.agrees} >= {"loss", "suppressed", "smallest class"}


def test_unilab_files_and_figures(tmp_path: Path) -> None:
    folder = tmp_path / "unilab"
    result = unilab.study(DATA, folder, rows=3000, seed=11)
    names = {f"dados_covid-ce_{k}_{order}.csv" for k, order in unilab.PAIRS}
    assert len(names) == 7
    assert names <= {f.name for f in result.files}
    obtained = {(c.configuration, c.figure): c.obtained for c in result.compared}
    for k, order in unilab.PAIRS:
        with open(folder / f"dados_covid-ce_{k}_{order}.csv", encoding="utf-8", newline="") as stream:
            header, *rows = list(csv.reader(stream, delimiter=";"))
        assert header == ["nome", "cpf", "localidade", "data_nascimento", "raca_cor"]
        assert {(r[0], r[1]) for r in rows} == {("*", "*")}
        classes: dict[tuple[str, str], list[str]] = {}
        for r in rows:
            classes.setdefault((r[2], r[3]), []).append(r[4])
        assert min(map(len, classes.values())) >= k
        assert min(len(set(values)) for values in classes.values()) >= order
        name = f"k={k} ℓ={order}"
        assert obtained[name, "classes"] == len(classes)
        assert obtained[name, "suppressed"] == 3000 - len(rows)
        assert obtained[name, "average class size (released records / classes)"] == pytest.approx(len(rows) / len(classes))
        assert (folder / f"diversity_k{k}_l{order}.png").stat().st_size > 1000
    book = openpyxl.load_workbook(folder / "classes.xlsx")
    assert book.sheetnames == ["k=2", "k=4", "k=8"]
    for k in (2, 4, 8):
        sizes = [row[-1] for row in book[f"k={k}"].iter_rows(min_row=2, values_only=True)]
        assert sizes == sorted(sizes, reverse=True)
        assert sum(sizes) == 3000 - obtained[f"k={k}", "suppressed"]
        assert obtained[f"k={k}", "precision (depth = number of levels)"] >= 1 / 3 - 1e-12
        assert (folder / f"classes_k{k}.png").exists()


@pytest.mark.thorough
@pytest.mark.parametrize("rows", [100, 300])
def test_unilab_of_few_records(tmp_path: Path, rows: int) -> None:
    """Where no class has k records and ℓ values nothing is released, and the study says so."""
    result = unilab.study(DATA, tmp_path, rows=rows)
    obtained = {(c.configuration, c.figure): c.obtained for c in result.compared}
    for k, order in unilab.PAIRS:
        path, name = tmp_path / f"dados_covid-ce_{k}_{order}.csv", f"k={k} ℓ={order}"
        assert path.exists() == (not obtained[name, "ℓ step"].startswith("nothing released"))
        assert path.exists() == ((name, "classes") in obtained)
    assert all(f.exists() for f in result.files)
    released = [pair for pair in unilab.PAIRS if (tmp_path / "dados_covid-ce_{}_{}.csv".format(*pair)).exists()]
    assert 0 < len(released) < 7


@pytest.mark.thorough
def test_a_study_never_replaces_a_file_that_it_did_not_write(tmp_path: Path, main: Command) -> None:
    mine = tmp_path / "dados_covid-ce.csv"
    mine.write_text("mine")
    before = sorted(tmp_path.iterdir())
    args = ("study", "unilab", "--data", ".", "-o", ".", "--rows", "100", "--json")
    ended = main(*args)
    assert (ended.code, ended.json["error"]["code"], ended.json["error"]["values"]) == (2, "file-exists", [mine.name])
    assert "--force" in ended.err
    assert (mine.read_text(), sorted(tmp_path.iterdir())) == ("mine", before)
    mine.unlink()
    assert main(*args).code == 0
    assert main(*args).code == 0, "its own files are replaced"
    (tmp_path / "comparison.csv").write_text("corrected by hand")
    ended = main(*args)
    assert (ended.code, ended.json["error"]["values"]) == (2, ["comparison.csv"])
    assert main(*args, "--force").code == 0
    assert (tmp_path / "comparison.csv").read_text() != "corrected by hand"
    assert main(*args).code == 0


@pytest.mark.parametrize("listing", ["{}", "[1]", "not JSON", '{"files": 3}'])
def test_a_listing_that_is_something_else(tmp_path: Path, listing: str) -> None:
    (tmp_path / LISTING).write_text(listing)
    with pytest.raises(InputError) as problem, results(tmp_path, ["a.txt"]):
        pytest.fail("nothing may be written")
    assert (problem.value.code, problem.value.values) == ("file-exists", [LISTING])
    with results(tmp_path, ["a.txt"], force=True) as (place,):
        place.write_text("ours")
    assert (tmp_path / "a.txt").read_text() == "ours"
    with results(tmp_path, ["b.txt"]) as (place,):
        place.write_text("ours, too")
    with results(tmp_path, ["a.txt", "b.txt"]) as places:
        for place in places:
            place.write_text("new")
    assert {(tmp_path / name).read_text() for name in ("a.txt", "b.txt")} == {"new"}


def test_the_demonstration_never_replaces_another_table(tmp_path: Path, main: Command) -> None:
    (tmp_path / "patients.csv").write_text("name,age\n")
    ended = main("demo", "--folder", ".", "--json")
    assert (ended.code, ended.json["error"]["code"]) == (2, "file-exists")
    assert (tmp_path / "patients.csv").read_text() == "name,age\n"


def test_unilab_minimal_node_is_the_smallest_sum(tmp_path: Path) -> None:
    """With many records even finer nodes satisfy; then ties go to precision and order, and nothing is suppressed."""
    import pyarrow as pa

    from velado.release import count_table
    from velado.schema import Schema
    from velado.tables import open_table

    rows = [("A/X/CE", "01/02/1980"), ("B/X/CE", "03/02/1980"), ("A/X/CE", "05/03/1980"), ("B/X/CE", "07/03/1980")]
    table = pa.table(
        {
            "nome": list("abcd"),
            "cpf": list("1234"),
            "localidade": [r[0] for r in rows],
            "data_nascimento": [r[1] for r in rows],
            "raca_cor": ["PARDA", "BRANCA", "PRETA", "PARDA"],
        }
    )
    with open_table(table) as opened:
        frequency = count_table(opened, Schema(unilab.COLUMNS))
    node = unilab.minimal(frequency, 2)
    assert node.levels == (0, 2)
    assert node.suppressed_records == 0
    found = unilab.diversify(frequency, node, 2, 2)
    assert found is not None
    after, action = found
    assert (after.levels, action) == ((0, 2), "nothing to do")


def test_synthetic_people_are_not_random_noise() -> None:
    from velado.samples import covid_ceara

    table = covid_ceara(2000, seed=3)
    assert all(cpf_is_valid(c) for c in table.column("cpf").to_pylist())
    assert Counter(table.column("raca_cor").to_pylist()).most_common(1)[0][0] == "PARDA"


def test_the_data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VELADO_DATA", "somewhere")
    assert data_folder() == Path("somewhere")
    assert data_folder(Path("here")) == Path("here")
    monkeypatch.delenv("VELADO_DATA")
    assert data_folder() == Path(os.path.join("..", "shared", "data"))
