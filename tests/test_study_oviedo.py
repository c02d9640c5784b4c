"""The Oviedo study: worked examples, the annex pair by pair, chapter 4; its local minima against brute force."""

from __future__ import annotations

from dataclasses import replace
from itertools import product as combinations_of
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from velado.cli.study import LONG, shorten_comparison
from velado.errors import InputError
from velado.fuzzy import CMeans, GlobalRecode
from velado.progress import Progress, Step
from velado.studies import data_folder, oviedo
from velado.studies.comparison import Compared
from velado.studies.oviedo_chapter4 import INDEPENDENT, JOINT, chapter_4
from velado.studies.oviedo_codings import C_MEANS, GUSTAFSON_KESSEL, SEED, STARTS, Coded, Coder, original_partition, terciles
from velado.studies.oviedo_measures import PAIRS, SENSITIVE, Census, class_figures, measure_partition
from velado.studies.oviedo_minima import SETS, column_minima, joint_minima, settle
from velado.studies.oviedo_text import examples

DATA = data_folder()
needs_data = pytest.mark.skipif(
    not (DATA / "casc" / "cascrefmicrodata.csv").exists(), reason=f"the census data are not in {DATA} (set VELADO_DATA)"
)
FIGURES = ["Q", "k", "risk", "l10", "t10", "l12", "t12"]


@pytest.fixture(scope="module")
def census() -> Census:
    return Census.read(DATA)


@pytest.fixture(scope="module")
def coder(census: Census) -> Coder:
    return Coder(census)


@pytest.fixture(scope="module")
def printed() -> dict[str, oviedo.Published]:
    return {name: oviedo.read_published(DATA, first) for name, (first, _) in oviedo.CODINGS.items()}


# The worked examples


def test_worked_examples() -> None:
    """What agrees, what does not, and the figures of the errata to the digits of the specification."""
    found = {(c.configuration, c.figure): c for c in examples()}
    differing = {key for key, c in found.items() if c.agrees is False}
    assert differing == {
        ("one-sided triangle", "1.25 in (−∞; 1; 2)"),
        ("table 3.4", "individual 7"),
        ("table 3.4", "individual 8"),
        ("proposition 3.4", "Σ # of the ages' sets"),
        ("table 3.5", "476** × Baja × Bajo"),
        ("table 3.5", "476** × Baja × Medio"),
        ("table 3.5", "479** × Media × Alto"),
        ("table 3.5", "479** × Alta × Alto"),
        ("table 3.5", "479** × Muy Alta × Muy Alto"),
        ("table 3.5", "table"),
        ("table 3.9", "Adulto"),
        ("table 3.9", "table"),
        ("example 3.13", "μ(q) in Q1 … Q5"),
        ("example 3.13", "n(s, q, T*)"),
        ("theorem 3.15", "f(S | Q1)"),
        ("example 3.16", "#Q1 … #Q5"),
        ("example 3.16", "f(s | q*)"),
        ("example 3.18", "g(gastritis)"),
    }
    assert all(found[key].why for key in differing)
    assert found["table 3.4", "individual 7"].obtained == "0.5 0.5 0 0"
    assert found["table 3.4", "individual 8"].obtained == "0.83 0.17 0 0"
    assert found["table 3.5", "479** × Muy Alta × Muy Alto"].obtained == "0.61 0.39 0.06"
    assert found["table 3.5", "table"].obtained == "0.55 0.51 0.29"
    assert found["table 3.9", "table"].obtained == "0.67 0.67 0.67 0.22"
    assert found["example 2.25", "D[P2, Q]"].obtained == pytest.approx(1 / 6)
    assert found["example 3.16", "f(s | q*)"].obtained == pytest.approx(0.6111 / 2, abs=5e-5)
    assert found["example 3.19", "β"].obtained == pytest.approx(0.215247, abs=5e-7)
    salary = [found["example 3.22, salary", f"D of individual {i}"].obtained for i in (1, 2, 3, 4, 7, 8)]
    assert salary == pytest.approx([0.065278, 0.340278, 0.177778, 0.166667, 0.100694, 0.091667], abs=5e-7)
    disease = [found["example 3.22, disease", f"D of individual {i}"].obtained for i in (1, 2, 3, 4, 7, 8)]
    assert disease == pytest.approx([0.233333, 0.666667, 0.366667, 0.5, 0.333333, 0.2], abs=5e-7)


# The annex


def missed(name: str, pairs, printed, coded) -> dict[tuple[int, int], list[str]]:
    """The printed figures that do not come out, and figures where nothing is printed."""
    found = {}
    for pair in pairs:
        row, figures = printed[name][pair], coded(pair).figures
        wrong = [f for f in FIGURES if row.get(f) != figures.get(f)]
        if wrong:
            found[pair] = wrong
    return found


@pytest.mark.thorough
@needs_data
def test_independent_codings_of_all_pairs(coder: Coder, printed: dict) -> None:
    """Tables 5.1 to 5.6 for all 55 pairs; of table 5.2 one figure lacks its last digit."""
    assert len(PAIRS) == 55
    assert not missed("independent fuzzy", PAIRS, printed, coder.independent_fuzzy)
    assert not missed("global recode", PAIRS, printed, coder.global_recode)
    k_means = printed["independent k-means"]
    wrong = missed("independent k-means", PAIRS, printed, lambda pair: coder.independent_k_means(pair, k_means[pair]))
    assert wrong == {(6, 11): ["t12"]}
    assert sum("l10" in row for row in k_means.values()) == 47


@needs_data
def test_joint_c_means(coder: Coder, printed: dict) -> None:
    """Tables 5.11 and 5.12 of every second pair, all figures."""
    assert not missed("joint c-means", PAIRS[::2], printed, lambda pair: coder.joint_fuzzy(pair, C_MEANS))


@needs_data
def test_gustafson_kessel(coder: Coder, printed: dict) -> None:
    """Tables 5.9 and 5.10 of every fifth pair: everything but risks that contradict the rest of their row."""
    wrong = missed("Gustafson–Kessel", PAIRS[::5], printed, lambda pair: coder.joint_fuzzy(pair, GUSTAFSON_KESSEL))
    assert wrong == {pair: ["risk"] for pair in ((1, 2), (2, 8), (4, 8), (5, 7))}


@needs_data
def test_joint_k_means(coder: Coder, printed: dict) -> None:
    """Tables 5.7 and 5.8 of some pairs: the printed figures are those of a local minimum, not always of the best."""
    rows = printed["joint k-means"]
    pairs = ((1, 2), (3, 9), (4, 5), (7, 13), (8, 13), (11, 13))
    coded = {pair: coder.joint_k_means(pair, rows[pair]) for pair in pairs}
    assert not missed("joint k-means", pairs, printed, coded.get)
    assert {c.best for c in coded.values()} == {True, False}
    assert not coded[8, 13].best


@needs_data
def test_the_conventions_are_needed(census: Census, printed: dict) -> None:
    """Each of the original's peculiarities changes a printed figure, so the comparison can fail."""
    points = census.columns(1, 4)
    stopped = original_partition(C_MEANS, points)
    finished = CMeans(SETS, tolerance=1e-10).fit(points).memberships
    row = printed["joint c-means"][1, 4]
    assert measure_partition(stopped, census.histograms, fuzzy=True)["t10"] == row["t10"]
    assert measure_partition(finished, census.histograms, fuzzy=True)["t10"] != row["t10"]

    values = census.columns(3)[:, 0]
    exact = GlobalRecode(SETS, "equalAmount", "lowest").fit(values).labels
    assert np.flatnonzero(exact != terciles(values)).tolist() == [768]

    coded = Coder(census).global_recode((2, 4))
    assert coded.figures["t10"] == printed["global recode"][2, 4]["t10"] != coded.correct["t10"]
    assert coded.figures["k"] == coded.correct["k"]


@needs_data
def test_the_sensitive_columns(census: Census) -> None:
    """The erratum: by the thesis's list they would have a different value in every record."""
    assert [census.names[s - 1] for s in SENSITIVE] == ["PEARNVAL", "WSALVAL"]
    assert [h.shape[1] for h in census.histograms.values()] == [379, 360]
    for name in ("PTOTVAL", "TAXINC"):
        assert len(np.unique(census.values[:, census.names.index(name)])) == len(census.values) == 1080


def test_risks_that_three_classes_can_have() -> None:
    """Against the sizes themselves: nobody, or whole classes."""
    assert oviedo.possible_risks(221) == {0, 221} | {221 + a for a in range(221, 319)}
    for k, records in ((3, 30), (5, 31)):
        for risk in oviedo.possible_risks(k, records):
            labels = (np.repeat([0, 1, 2], (k, a, records - k - a)) for a in range(k, (records - k) // 2 + 1))
            assert risk in {class_figures(sizes)["risk"] for sizes in labels}


# Chapter 4


@needs_data
def test_chapter_4_follows_from_the_printed_annex(printed: dict) -> None:
    """From the printed tables all of chapter 4 comes out but three means' last digits."""
    annex = {name: {pair: Coded(row, row) for pair, row in rows.items()} for name, rows in printed.items()}
    assert set(annex) == {*INDEPENDENT, *JOINT}
    compared = [c for c in chapter_4(annex) if c.agrees is not None]
    assert len(compared) == 6 + 7 + 6 + 2 + 7 + 7 + 2
    differing = {(c.configuration.split(",")[0], c.figure): (c.published, c.obtained) for c in compared if not c.agrees}
    assert set(differing) == {("table 4.3", "k"), ("table 4.3", "records at risk"), ("table 4.6", "k")}
    for published, obtained in differing.values():
        apart = np.array(published.split(), float) - np.array(obtained.split(), float)
        assert np.abs(apart).max() < 0.0101


# The study as a whole


@pytest.mark.thorough
@needs_data
def test_study_of_some_pairs(tmp_path: Path) -> None:
    """Every difference is explained; counts and figures without the bugs stand beside the print."""
    seen: list[Step] = []
    pairs = ((1, 2), (2, 4), (6, 11))
    result = oviedo.study(DATA, tmp_path, Progress(seen.append), pairs=pairs, starts=10)
    assert result.unexplained_differences == []
    assert {f.name for f in result.files} == {
        "comparison.csv",
        "comparison.xlsx",
        "figure_3_1_salary.png",
        "figures_4_8_to_4_13.png",
    }
    assert all(f.stat().st_size > 1000 for f in result.files)
    found = {(c.configuration, c.figure): c for c in result.compared}
    assert found["table 5.11, joint c-means", "Q"].obtained == "3 of 3 pairs"
    assert found["table 5.9, Gustafson–Kessel", "records at risk"].obtained == "2 of 3 pairs"
    assert found["table 5.9, pairs", "1-2: records at risk"].why == oviedo.IMPOSSIBLE
    assert found["table 5.2, pairs", "6-11: t of WSALVAL"].why == oviedo.DROPPED
    bug, correct = (found["table 5.4, pairs", f"2-4: t of PEARNVAL{x}"] for x in ("", ", without the bugs"))
    assert bug.agrees is True
    assert correct.obtained != bug.published
    ours = found["table 5.12, pairs", "1-2: t of PEARNVAL, the largest, by real frequencies"]
    assert ours.obtained > found["table 5.12, pairs", "1-2: t of PEARNVAL"].obtained
    assert not any(c.configuration.startswith("table 4") for c in result.compared)
    assert list(dict.fromkeys(step.stage for step in seen)) == ["read", "study", "draw"]
    assert {step.total for step in seen if step.total} == {len(oviedo.CODINGS) * len(pairs)}


def test_missing_data(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not there") as failed:
        oviedo.study(tmp_path / "nowhere", tmp_path / "out")
    assert failed.value.code == "missing-data"
    assert not (tmp_path / "out").exists()


def test_long_configurations_are_shortened_on_the_screen() -> None:
    figure = Compared("long", "f", 1, 1, True)
    short = [Compared("short", "f", 1, 1, True)] * LONG
    long = [figure] * LONG + [replace(figure, obtained=2, agrees=False)]
    shown = list(shorten_comparison([*short, *long]))
    assert shown[:LONG] == short
    assert [c.agrees for c in shown[LONG:]] == [False, None]
    assert shown[-1].figure == f"… {LONG} agree, see comparison.csv"


# Local minima


def sum_of_squares(points: np.ndarray, labels: np.ndarray) -> float:
    return sum(((points[labels == i] - points[labels == i].mean(axis=0)) ** 2).sum() for i in set(labels.tolist()))


def improved_by_a_move(points: np.ndarray, labels: np.ndarray) -> bool:
    """Whether moving one point, of a set that keeps another, makes the sum of squares smaller."""
    now = sum_of_squares(points, labels)
    for i, j in combinations_of(range(len(points)), range(SETS)):
        if (labels == labels[i]).sum() > 1:
            moved = labels.copy()
            moved[i] = j
            if sum_of_squares(points, moved) < now * (1 - 1e-9) - 1e-9:
                return True
    return False


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 60), min_size=4, max_size=6, unique=True))
def test_column_minima_are_all_there_are(values: list[int]) -> None:
    """Against all ways to give three labels to the points."""
    points = np.array(values, dtype=float)
    expected = {}
    for labels in combinations_of(range(SETS), repeat=len(points)):
        array = np.array(labels)
        # Of the six ways to number the same sets only one.
        if list(dict.fromkeys(labels)) == list(range(SETS)) and not improved_by_a_move(points[:, None], array):
            order = np.argsort([points[array == i].mean() for i in range(SETS)])
            expected[tuple(np.argsort(order)[array].tolist())] = sum_of_squares(points[:, None], array)
    found = column_minima(points)
    assert {tuple(m.labels.tolist()): pytest.approx(m.objective, abs=1e-6) for m in found} == expected
    assert [m.objective for m in found] == sorted(m.objective for m in found)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_settled_partitions_are_not_improved_by_a_move(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 40, (14, 2)).astype(float)
    labels = np.r_[np.arange(SETS), rng.integers(0, SETS, 11)]
    settled = settle(points, labels)
    assert set(settled.labels.tolist()) == set(range(SETS))
    assert settled.labels[0] == 0
    assert settled.objective == pytest.approx(sum_of_squares(points, settled.labels))
    assert settled.objective <= sum_of_squares(points, labels) + 1e-9
    assert not improved_by_a_move(points, settled.labels)


@needs_data
def test_joint_minima_are_reproducible(census: Census) -> None:
    points = census.columns(1, 3)
    first, again = (joint_minima(points, STARTS // 10, SEED) for _ in range(2))
    assert [m.labels.tolist() for m in first] == [m.labels.tolist() for m in again]
    assert [m.objective for m in first] == sorted({m.objective for m in first})
