"""Anonylitics: distribution-based Mondrian on Adult, and on a synthetic stand-in for the private CAOBA table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from velado.evaluation import Comparison, Pair, Setting
from velado.evaluation.comparison import balance
from velado.evaluation.kolmogorov import KEPT, KolmogorovSmirnov, kolmogorov_smirnov
from velado.frequency import FrequencyTable
from velado.methods import Mondrian, kernels_ready
from velado.models import KAnonymity
from velado.progress import Progress
from velado.project import Project
from velado.questions.compare import compare as compare_settings
from velado.release import count_table
from velado.report import charts
from velado.report.charts.trends import line_layers
from velado.report.formats import xlsx as workbook
from velado.report.formats.comparison import make_folder
from velado.samples.caoba import ROWS, caoba
from velado.schema import Column, Schema
from velado.sentences import Sentence
from velado.studies import anonylitics_memory as memory
from velado.studies.comparison import Compared, Result, all_or_nothing, compare, save
from velado.studies.data import check_there
from velado.tables import open_table

ADULT = ("age", "capital-gain", "capital-loss", "hours-per-week")
CAOBA = ("anhos_v", "num_hijos", "anho_nacimiento")
SMALL_K, LARGE_K = tuple(range(2, 21)), tuple(range(30, 101, 10))
SPLITS = ("distribution", "median")
PRIVATE = "the data are private: obtained on a synthetic stand-in"
DROPPED = "table 6 drops a 9: 0.999999999986504 was meant, which is the value obtained, cut after its last printed digit"
TABLE_6 = {"age": "0.999999833", "capital-gain": "0.99997873", "capital-loss": "1", "hours-per-week": "0.99999999986504"}
TABLE_9 = {
    "age": "0.000153054032166",
    "capital-gain": "0.999998300598",
    "capital-loss": "1",
    "hours-per-week": "3.75978494175e-185",
}
TABLE_7 = {"anhos_v": 1.0, "num_hijos": 0.99, "anho_nacimiento": 1.0}
TABLE_8 = {"anhos_v": 0.0, "num_hijos": 2e-228, "anho_nacimiento": 6.96e-118}


def p_value(numerator: int, records: int) -> float:
    """The study's p-value of two samples of so many records each: Stephens' approximation, as in SciPy in 2017.

    The statistic is given by its numerator: it is a whole number of records.
    """
    from scipy.stats import kstwobign

    root = np.sqrt(records / 2)
    return float(kstwobign.sf((root + 0.12 + 0.11 / root) * (numerator / records)))


@dataclass(frozen=True)
class Cut:
    """A table cut by Mondrian, and the test of every column."""

    pair: Pair

    @classmethod
    def of(cls, frequency: FrequencyTable, k: int, split: str, width: str = "std", progress: Progress | None = None) -> Cut:
        """Cut with the study's representative: the mode if it is unique, else the median without decimals."""
        searching = (progress or Progress()).part(0.0, 1.0, None if kernels_ready(frequency.rows) else "compile")
        found = Mondrian(split, "mode", width).search(frequency, [KAnonymity(k)], searching)
        return cls(Pair.of(found.classes, found.kept, found.covers, found.labels))

    @cached_property
    def tests(self) -> dict[str, KolmogorovSmirnov]:
        """Kolmogorov–Smirnov, column by column."""
        tested = {c: kolmogorov_smirnov(self.pair, j) for j, c in enumerate(self.pair.columns)}
        return {c: test for c, test in tested.items() if test is not None}

    def numerator(self, column: str) -> int:
        """The statistic times the number of records, a whole number."""
        return round(self.tests[column].statistic * self.pair.records)

    def p(self, column: str) -> float:
        """The study's p-value."""
        return p_value(self.numerator(column), self.pair.records)

    def shares(self, column: str) -> tuple[dict[float, float], dict[float, float]]:
        """The share of the records at every value of a column, before and after."""
        j = self.pair.columns.index(column)
        cover = self.pair.covers[j]
        assert cover.numbers is not None
        assert cover.bounds is not None
        before = zip(cover.numbers, self.pair.original.leaf_records[j], strict=True)
        after = zip(cover.bounds[:, 0], self.pair.label_records[j], strict=True)
        return _shares(before, self.pair.records), _shares(after, self.pair.records)


def _shares(counted: Any, records: int) -> dict[float, float]:
    found: dict[float, float] = {}
    for value, n in counted:
        found[float(value)] = found.get(float(value), 0.0) + float(n) / records
    return {value: found[value] for value in sorted(found) if found[value]}


def project(source: Any, columns: Sequence[str]) -> Project:
    """The study's project: k-anonymity by the distribution split, widths relative to the standard deviation."""
    described = tuple(Column(c, "quasi-identifier", type="integer") for c in columns)
    return Project(source, described, (KAnonymity(2),), Mondrian("distribution", "mode", "std"), rest="drop")


def adult(data: Path) -> str:
    """The path of the Adult data."""
    path = data / "adult-uci" / "adult.csv"
    check_there(path, Sentence("the Adult data of the study"))
    return str(path)


def count_project(described: Project) -> FrequencyTable:
    """The frequency table of a project."""
    with open_table(described.source) as table:
        return count_table(table, Schema(described.columns))


def compare_printed(configuration: str, column: str, text: str, obtained: float, why: str = "") -> Compared:
    """Compare with a printed number: half a unit of its last digit is allowed."""
    digits = text.lower().partition("e")
    decimals = len(digits[0].partition(".")[2]) - int(digits[2] or 0)
    return compare(configuration, f"p of {column}", float(text), obtained, 0.5 * 10.0**-decimals, why)


def beside(configuration: str, figure: str, published: Any, obtained: Any) -> Compared:
    """A published figure of the private data beside that of the stand-in: they cannot be compared."""
    return Compared(configuration, figure, published, obtained, None, PRIVATE)


def details(configuration: str, cut: Cut) -> list[Compared]:
    """What the tables do not print: leaves, numerators, and our own p-values."""
    found = [compare(configuration, "leaves", None, cut.pair.released.count)]
    for column, test in cut.tests.items():
        found.append(compare(configuration, f"D·n of {column}", None, cut.numerator(column)))
        found.append(compare(configuration, f"p of {column}, our asymptotic one", None, test.p))
    return found


def adult_tables(frequency: FrequencyTable, cuts: Mapping[str, Cut]) -> list[Compared]:
    """Tables 5, 6 and 9, and what the text's own wording would give."""
    after = int((cuts["distribution"].pair.sizes == 1).sum())
    found = [
        compare("table 5, Adult", "records singled out before", 3811, frequency.singled_out),
        compare("table 5, Adult", "records singled out after", 0, after),
        compare("table 5, Adult", "distinct rows of the four columns", None, frequency.rows),
    ]
    for name, split, table in (("table 6, Adult", "distribution", TABLE_6), ("table 9, Adult", "median", TABLE_9)):
        cut = cuts[split]
        found += [
            compare_printed(f"{name}, {split}", c, text, cut.p(c), DROPPED if text == TABLE_6["hours-per-week"] else "")
            for c, text in table.items()
        ]
        found += details(f"{name}, {split}", cut)
    worded = Cut.of(frequency, 2, "distribution", "range")
    name = "table 6 as the text words it (width: range)"
    return [*found, *(compare(name, f"p of {c}", None, worded.p(c)) for c in ADULT), *details(name, worded)]


def caoba_tables(frequency: FrequencyTable, cuts: Mapping[str, Cut]) -> list[Compared]:
    """Tables 5, 7 and 8 on the stand-in."""
    after = int((cuts["distribution"].pair.sizes == 1).sum())
    found = [
        beside("table 5, CAOBA (synthetic)", "records singled out before", 6230, frequency.singled_out),
        beside("table 5, CAOBA (synthetic)", "records singled out after", 0, after),
    ]
    for number, split, table in ((7, "distribution", TABLE_7), (8, "median", TABLE_8)):
        name = f"table {number}, CAOBA (synthetic), {split}"
        found += [beside(name, f"p of {c}", p, cuts[split].p(c)) for c, p in table.items()]
        found.append(compare(name, "leaves", None, cuts[split].pair.released.count))
    return found


@dataclass(frozen=True)
class Balanced:
    """The p-values of all columns for every k."""

    comparison: Comparison
    records: int

    @classmethod
    def of(cls, described: Project, records: int, progress: Progress | None = None) -> Balanced:
        """Try k = 2 … 20 and 30 … 100 on one frequency table."""
        return cls(compare_settings(described, {"k": [*SMALL_K, *LARGE_K]}, progress=progress), records)

    @cached_property
    def p(self) -> dict[int, dict[str, float]]:
        """By k, the study's p-value of every column."""
        found = {}
        for s in self.comparison.solved:
            found[int(s.parameters["k"])] = {
                c: p_value(round(test.statistic * self.records), self.records) for c, test in _tests(s).items()
            }
        return found

    @property
    def largest(self) -> int:
        """The largest k of 2 … 20 with which every distribution is kept, by the study's p-values."""
        kept = [k for k in SMALL_K if k in self.p and min(self.p[k].values()) >= KEPT]
        return max(kept, default=0)

    @property
    def chosen_k(self) -> int:
        """The k that ``velado balance --ks 0.95`` chooses, by our p-values."""
        small = [s for s in self.comparison.settings if s.parameters["k"] in SMALL_K]
        return int(balance(replace(self.comparison, settings=tuple(small)), {"ks": KEPT}).chosen.parameters["k"])

    def draw(self, folder: Path, number: int, name: str) -> list[Path]:
        """Both panels of figure 23 or 24."""
        files = []
        for part, ks in (("a", SMALL_K), ("b", LARGE_K)):
            shown = [k for k in ks if k in self.p]
            series = {c: [(float(k), self.p[k][c]) for k in shown] for c in self.p[shown[0]]} if shown else {}
            series[f"kept from {KEPT}"] = [(float(ks[0]), KEPT), (float(ks[-1]), KEPT)]
            files.append(folder / f"figure_{number}{part}_p_by_k.png")
            title = f"Figure {number} ({part}): Kolmogorov–Smirnov p-value by k, {name}"
            charts.curves(files[-1], series, "k", "p", title, "distribution split; p before and after, column by column")
        return files

    def rows(self) -> tuple[list[str], list[list[Any]]]:
        """The figure as a table."""
        columns = list(next(iter(self.p.values()), {}))
        header = ["k", "classes", *(f"p {c}" for c in columns), *(f"p {c}, our asymptotic one" for c in columns)]
        lines = []
        for s in self.comparison.solved:
            assert s.evaluation is not None
            k, tests = int(s.parameters["k"]), _tests(s)
            p = [*(self.p[k][c] for c in columns), *(tests[c].p for c in columns)]
            lines.append([k, s.evaluation.classes, *p])
        return header, lines


def _tests(setting: Setting) -> Mapping[str, KolmogorovSmirnov]:
    assert setting.evaluation is not None
    return setting.evaluation.ks or {}


def figure_22(folder: Path, letter: str, cuts: Mapping[str, Cut], column: str, name: str) -> Path:
    """The distribution of a column: original, and after both splits."""
    path = folder / f"figure_22{letter}_{column}.png"
    series = {"original": cuts["median"].shares(column)[0]}
    series |= {f"{split} split": cuts[split].shares(column)[1] for split in reversed(SPLITS)}
    title = f"Figure 22 ({letter}): distribution of {column}, {name}, k = 2"
    points = {label: list(shares.items()) for label, shares in series.items()}
    charts.curves(path, points, column, "share of the records", title)
    return path


def figure_25(folder: Path, cut: Cut) -> Path:
    """The distributions of the stand-in, each with its own scale."""
    parts = []
    for column in ("anho_nacimiento", "anhos_v", "num_hijos"):
        part = line_layers({column: list(cut.shares(column)[0].items())}, column, "share of the records")
        for layer in part["layer"]:
            layer["encoding"]["x"]["axis"]["format"] = "d"  # years have no thousands
        parts.append({"width": 230, "height": 220, **part})
    path = folder / "figure_25_distributions.png"
    spec = {"padding": 8, "hconcat": parts, "resolve": {"scale": {"color": "independent"}}}
    charts.Chart(spec).with_title("Figure 25: the columns of CAOBA (synthetic)", PRIVATE).save(path)
    return path


@all_or_nothing
def study(data: Path, folder: Path, progress: Progress | None = None, rows: int = ROWS, seed: int = 2017, **_: Any) -> Result:
    """Tables 5 to 10, figures 22 to 26, 28 and 29."""
    real = project(adult(data), ADULT)
    make_folder(folder)
    studying = (progress or Progress()).part(0.0, 1.0, "study")
    studying.at(0.0)
    frequency = count_project(real)
    cuts = {split: Cut.of(frequency, 2, split, progress=studying.part(0.05, 0.1)) for split in SPLITS}
    compared = adult_tables(frequency, cuts)
    files = [figure_22(folder, "a", cuts, "age", "Adult")]
    balanced = Balanced.of(real, frequency.records, studying.part(0.15, 0.3))
    compared += _figure_23(balanced)
    files += balanced.draw(folder, 23, "Adult")

    studying.part(0.3, 0.35, "generate").at(0.0)
    table = caoba(rows, seed).select(list(CAOBA))
    studying.at(0.35)
    invented = project(table, CAOBA)
    frequency = count_project(invented)
    cuts = {split: Cut.of(frequency, 2, split, progress=studying.part(0.36, 0.4)) for split in SPLITS}
    compared += caoba_tables(frequency, cuts)
    files += [figure_22(folder, "b", cuts, "anhos_v", "CAOBA (synthetic)"), figure_25(folder, cuts["median"])]
    stand_in = Balanced.of(invented, frequency.records, studying.part(0.4, 0.7))
    compared.append(beside("figure 24, CAOBA (synthetic)", "largest k that keeps all distributions", 10, stand_in.largest))
    files += stand_in.draw(folder, 24, "CAOBA (synthetic)")

    measured = memory.costs(table, CAOBA, studying.part(0.7, 0.95, "measure"))
    compared += [*memory.formulas(), *memory.compare_costs(measured)]
    files += memory.draw(folder, measured)
    book = folder / "p_by_k.xlsx"
    workbook.table(book, {"figure 23, Adult": balanced.rows(), "figure 24, CAOBA (synthetic)": stand_in.rows()})
    files += [book, *save(folder, compared)]
    studying.at(1.0)
    return Result(Sentence("Anonylitics: distribution-based Mondrian"), tuple(compared), _notes(rows, seed), tuple(files))


def _figure_23(balanced: Balanced) -> list[Compared]:
    name = "figure 23, Adult"
    broken = {c: p for c, p in balanced.p[6].items() if p < KEPT}
    return [
        compare(name, "largest k that keeps all distributions", 5, balanced.largest),
        compare(name, "the same by velado balance --ks 0.95", 5, balanced.chosen_k),
        *(compare(name, f"p of {c} for k = 6, no longer kept", None, p) for c, p in broken.items()),
    ]


def _notes(rows: int, seed: int) -> tuple[str, ...]:
    return (
        Sentence(
            "The text says that the column with the largest normalized range is cut; the printed figures come out with the "
            "range divided by the standard deviation inside the part (width: std). Both are shown."
        ),
        Sentence(
            "The printed p-values are those of SciPy in 2017, kstwobign.sf((e + 0.12 + 0.11/e)·D) with e = √(n/2); ours, as "
            "SciPy computes it today, differs a little, most in the far tail. It is a p-value: 0.95 is a convention of the thesis, not a "
            "level of significance or confidence."
        ),
        Sentence(
            "CAOBA is private. Its stand-in is synthetic ({records:,} records, seed {seed}): figures of tables 5, 7 and 8 and of "
            "figures 22 (b), 24 and 25 stand beside the published ones, but nothing follows from a comparison.",
            records=rows,
            seed=seed,
        ),
        Sentence(
            "Figures 26, 28 and 29 were measured by the thesis with its program on its machine. Ours have the same layout: one "
            "row per record in memory, as the thesis holds them, and, where the thesis shows Rothko-D, records "
            "counted where the data live. Copies of a table have the same distinct rows: only reading them takes longer."
        ),
        Sentence(
            "Table 10 comes out with {bytes} bytes per record and without rounding formula (6).", bytes=memory.BYTES_PER_RECORD
        ),
    )
