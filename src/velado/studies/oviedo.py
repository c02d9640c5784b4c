"""Oviedo: anonymity with fuzzy sets, on the census table of the CASC project."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from velado.evaluation.individual import higher_risk
from velado.progress import Progress
from velado.report.formats.comparison import make_folder
from velado.sentences import Sentence
from velado.studies.comparison import Compared, Result, all_or_nothing, compare, save
from velado.studies.oviedo_chapter4 import Annex, chapter_4
from velado.studies.oviedo_codings import C_MEANS, GUSTAFSON_KESSEL, STARTS, Coded, Coder
from velado.studies.oviedo_figures import draw
from velado.studies.oviedo_measures import PAIRS, SENSITIVE, TITLES, Census, Pair, read_rows
from velado.studies.oviedo_text import examples

Published = dict[Pair, dict[str, float]]
CODINGS: dict[str, tuple[int, Callable[[Coder, Pair, Mapping[str, float]], Coded]]] = {
    "independent k-means": (1, Coder.independent_k_means),
    "global recode": (3, lambda coder, pair, _: coder.global_recode(pair)),
    "independent fuzzy": (5, lambda coder, pair, _: coder.independent_fuzzy(pair)),
    "joint k-means": (7, Coder.joint_k_means),
    "Gustafson–Kessel": (9, lambda coder, pair, _: coder.joint_fuzzy(pair, GUSTAFSON_KESSEL)),
    "joint c-means": (11, lambda coder, pair, _: coder.joint_fuzzy(pair, C_MEANS)),
}
"""The number of the first of the two annex tables of each coding, and how a pair is coded."""
DROPPED = "the print drops the fourth decimal"
IMPOSSIBLE = "no three classes with the printed k have so many records at risk"
OTHER_RUN = "the classes that give the printed Q, k, ℓ and t have other records at risk: the figure is of another run"
ELSEWHERE = "random start: none of the local minima that were reached gives it"


def read_published(data: Path, number: int) -> Published:
    """The printed figures of a coding: annex tables ``number`` and the next; without what is left out."""
    found: Published = {}
    for table in (number, number + 1):
        header, *rows = read_rows(data / "golden" / "oviedo" / f"T5_{table}.csv")
        for a, b, *cells in rows:
            figures = {name: float(cell) for name, cell in zip(header[2:], cells, strict=True) if cell}
            whole = {name: int(figure) for name, figure in figures.items() if not name.startswith("t")}
            found.setdefault((int(a), int(b)), {}).update(figures | whole)
    return found


def code(census: Census, printed: Mapping[str, Published], pairs: Sequence[Pair], starts: int, progress: Progress) -> Annex:
    """All codings of the pairs."""
    coder = Coder(census, starts, progress)
    annex: dict[str, dict[Pair, Coded]] = {}
    for i, (name, (_, coded)) in enumerate(CODINGS.items()):
        annex[name] = {}
        for j, pair in enumerate(pairs):
            progress.at(i * len(pairs) + j, len(CODINGS) * len(pairs))
            annex[name][pair] = coded(coder, pair, printed[name][pair])
    return annex


def annex_tables(annex: Annex, printed: Mapping[str, Published]) -> list[Compared]:
    """Tables 5.1 to 5.12: how many pairs come out, and all of them."""
    compared: list[Compared] = []
    for name, pairs in annex.items():
        first = CODINGS[name][0]
        best = [coded.best for coded in pairs.values() if coded.best is not None]
        if best:
            compared.append(_count(f"table 5.{first}, {name}", "pairs that come out at the best minimum", best))
        for table, columns in ((first, ("Q", "k", "risk")), (first + 1, [f"{c}{s}" for s in SENSITIVE for c in "lt"])):
            details: list[Compared] = []
            for column in columns:
                figures = [_figure(name, table, pair, coded, printed[name], column) for pair, coded in pairs.items()]
                agree = [c.agrees for c in figures if c.published is not None]
                if agree:
                    compared.append(_count(f"table 5.{table}, {name}", TITLES[column], agree))
                details += [c for c in figures if (c.published, c.obtained) != (None, None)]
                details += [c for pair, coded in pairs.items() for c in _correct(table, pair, coded, column)]
            compared += details
    return compared


def _figure(name: str, table: int, pair: Pair, coded: Coded, printed: Published, column: str) -> Compared:
    figure, obtained = printed[pair].get(column), coded.figures.get(column)
    why = _why(name, column, figure, obtained, printed[pair])
    return compare(f"table 5.{table}, pairs", _title(pair, column), figure, obtained, why=why)


def _correct(table: int, pair: Pair, coded: Coded, column: str) -> list[Compared]:
    """What the same coding gives without the bugs of the original, and t by our definition."""
    found = {}
    if coded.correct.get(column) != coded.figures.get(column):
        found[f"{_title(pair, column)}, without the bugs"] = coded.correct.get(column)
    ours = column.replace("t", "T")
    if ours != column and ours in coded.correct:
        found[_title(pair, ours)] = coded.correct[ours]
    return [compare(f"table 5.{table}, pairs", figure, None, obtained) for figure, obtained in found.items()]


def _title(pair: Pair, column: str) -> str:
    return f"{pair[0]}-{pair[1]}: {TITLES[column]}"


def _count(table: str, figure: str, agree: Sequence[bool | None]) -> Compared:
    return compare(table, figure, None, f"{sum(map(bool, agree))} of {len(agree)} pairs")


def _why(name: str, column: str, figure: float | None, obtained: float | None, row: Mapping[str, float]) -> str:
    """Why a printed figure does not come out; nothing if we do not know."""
    if figure is None or obtained is None:
        return ""
    if name == "Gustafson–Kessel" and column == "risk":
        return OTHER_RUN if figure in possible_risks(int(row["k"])) else IMPOSSIBLE
    if "k-means" in name:
        return DROPPED if figure == float(f"{obtained:.5f}"[:5]) else ELSEWHERE
    return ""


def possible_risks(k: int, records: int = 1080) -> set[int]:
    """How many records can be at risk if the smallest of three classes has k."""
    others = np.arange(k, (records - k) // 2 + 1)
    sizes = (np.array([k, a, records - k - a]) for a in others)
    return {higher_risk(1 / three, three)[0] for three in sizes}


@all_or_nothing
def study(
    data: Path, folder: Path, progress: Progress | None = None, pairs: Sequence[Pair] = PAIRS, starts: int = STARTS, **_: Any
) -> Result:
    """The worked examples, the annex, and chapter 4, which sums it up over all pairs."""
    begin = (progress or Progress()).through(read=1, study=90, draw=9)
    begin("read")
    census = Census.read(data)
    printed = {name: read_published(data, first) for name, (first, _) in CODINGS.items()}
    make_folder(folder)
    compared = examples()
    annex = code(census, printed, pairs, starts, begin("study"))
    if set(pairs) == set(PAIRS):
        compared += chapter_4(annex)
    compared += annex_tables(annex, printed)
    drawing = begin("draw")
    files = [*draw(folder, census, drawing), *save(folder, compared)]
    drawing.at(1.0)
    return Result(Sentence("Oviedo: anonymity with fuzzy sets"), tuple(compared), _notes(starts), tuple(files))


def _notes(starts: int) -> tuple[str, ...]:
    return (
        Sentence(
            "Pairs are columns of the data file, not of the thesis's list: the sensitive columns 10 and 12 are PEARNVAL and "
            "WSALVAL. The text says PTOTVAL and TAXINC, which have a different value in every record."
        ),
        Sentence(
            "t is the smallest distance, as the thesis takes it, over values that count once per class. Principle 2.22 "
            "asks for the largest: that is given too, with real frequencies, as our definition."
        ),
        Sentence(
            "Fuzzy partitions come out with the toolbox's fixed start (uniform numbers r, centres mean + 2·max|x − mean|·(r − ½)) "
            "and its stop: no membership rises by more than 1e-4."
        ),
        Sentence(
            "Tables 5.2 and 5.4 come out only with bugs of the original: t sees only the first n class numbers if n classes have "
            "records, and in table 5.4 the labels left after dropping records stand beside the first records. Terciles "
            "of table 5.3 are rounded to whole numbers. The figures without bugs stand beside them."
        ),
        Sentence(
            "The thesis's k-means starts at random: of all local minima of single columns (5.1, 5.2), and of those that "
            "{starts} random starts reach for pairs (5.7, 5.8), the one that fits the print best is shown.",
            starts=starts,
        ),
        Sentence(
            "Table 4.2 concludes that global recode has the smallest t. With labels that stand beside their own records that "
            "advantage disappears; with the largest distance it is there."
        ),
    )
