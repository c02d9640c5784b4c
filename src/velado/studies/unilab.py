"""UNILAB: k-anonymity and ℓ-diversity on COVID data of Ceará (synthetic: the real file is not public)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from velado.evaluation import Pair, precision
from velado.frequency import Classes, FrequencyTable
from velado.methods import Fixed
from velado.models import DistinctDiversity, KAnonymity, PrivacyModel, judge_classes
from velado.progress import Progress
from velado.project import Output
from velado.release import anonymize, count_table
from velado.report import charts
from velado.report.formats import xlsx as workbook
from velado.report.formats.comparison import make_folder
from velado.samples import covid_ceara
from velado.schema import Column, Schema
from velado.sentences import Sentence
from velado.studies.comparison import Compared, Result, all_or_nothing, compare, save
from velado.tables import open_table

COLUMNS = (
    Column("nome", "identifier"),
    Column("cpf", "identifier"),
    Column("localidade", "quasi-identifier", hierarchy={"path": "/", "top": False}),
    Column(
        "data_nascimento", "quasi-identifier", type="date", format="%d/%m/%Y", hierarchy={"dates": ["month", "year"], "top": False}
    ),
    Column("raca_cor", "sensitive"),
)
SENSITIVE = "raca_cor"
PAIRS = tuple((k, order) for k in (2, 4, 8) for order in (2, 3, 4) if order <= k)


@dataclass(frozen=True)
class Node:
    """A node of the lattice with the classes that satisfy the models."""

    levels: tuple[int, ...]
    classes: Classes
    kept: np.ndarray
    precision: float
    precision_levels: float

    @property
    def suppressed_records(self) -> int:
        """Records in classes that are not kept."""
        return int(self.classes.sizes[~self.kept].sum())


def judge(
    frequency: FrequencyTable, levels: Sequence[int], models: Sequence[PrivacyModel], progress: Progress | None = None
) -> Node:
    """A node, its violating classes suppressed."""
    (progress or Progress()).check()
    classes = Classes.at_levels(frequency, levels)
    kept, _ = judge_classes(models, frequency.sensitive, classes)
    pair = Pair.at_levels(classes, levels, kept)
    both = [precision(pair, depth) or 0.0 for depth in ("highest", "levels")]
    return Node(tuple(levels), classes, kept, *both)


def minimal(frequency: FrequencyTable, k: int, progress: Progress | None = None) -> Node:
    """Step 1: the smallest level sum without suppression, ties by precision, then lexicographically.

    Where even the most general node has small classes, those are suppressed there.
    """
    heights = [h.height for h in frequency.hierarchies]
    every = itertools.product(*(range(h + 1) for h in heights))
    nodes = [judge(frequency, v, [KAnonymity(k)], progress) for v in every]
    whole = [n for n in nodes if not n.suppressed_records]
    if not whole:
        return nodes[-1]
    return min(whole, key=lambda n: (sum(n.levels), -n.precision_levels, n.levels))


def diversify(
    frequency: FrequencyTable, start: Node, k: int, order: int, progress: Progress | None = None
) -> tuple[Node, str] | None:
    """Step 2: suppress classes with fewer than ℓ values, or generalize further, whichever loses less precision.

    None if that leaves nothing: the hierarchies do not end in *, and a few records can all be alone in their classes.
    """
    heights = [h.height for h in frequency.hierarchies]
    ranges = (range(level, h + 1) for level, h in zip(start.levels, heights, strict=True))
    models = [KAnonymity(k), DistinctDiversity(order, SENSITIVE)]
    nodes = [n for n in (judge(frequency, v, models, progress) for v in itertools.product(*ranges)) if n.kept.any()]
    if not nodes:
        return None
    best = min(nodes, key=lambda n: (-n.precision_levels, sum(n.levels), n.levels))
    if best.levels != start.levels:
        return best, "generalized further" + (f", {best.suppressed_records} suppressed" if best.suppressed_records else "")
    added = best.suppressed_records - start.suppressed_records
    return best, f"suppressed {added} more" if added else "nothing to do"


@all_or_nothing
def study(
    data: Path, folder: Path, progress: Progress | None = None, rows: int = 10_000, seed: int = 2025, language: str = "en", **_: Any
) -> Result:
    """All seven (k, ℓ) releases with their measures, sheets and histograms, which speak the language."""
    begin = (progress or Progress()).through(generate=1, count=1, study=8)
    begin("generate")
    source = covid_ceara(rows, seed)
    begin("count")
    with open_table(source) as table:
        frequency = count_table(table, Schema(COLUMNS))
    make_folder(folder)
    original = folder / "dados_covid-ce.csv"
    import pyarrow.csv

    pyarrow.csv.write_csv(source, original, pyarrow.csv.WriteOptions(delimiter=";", quoting_style="needed"))
    files, compared = [original], []
    sheets = {}
    studying, done = begin("study"), 0
    for k in dict.fromkeys(k for k, _ in PAIRS):
        node = minimal(frequency, k, studying)
        compared += _measures(f"k={k}", frequency, node)
        sizes = node.classes.sizes[node.kept]
        if len(sizes):
            sheets[f"k={k}"] = (frequency.columns, _labels(frequency, node), sizes)
            chart = folder / f"classes_k{k}.png"
            title = Sentence("Largest equivalence classes, k = {k}", k=k)
            charts.largest_classes(chart, sizes, title, language=language)
            files.append(chart)
        for order in (order for kk, order in PAIRS if kk == k):
            part = studying.of(done, len(PAIRS))
            files += _release(frequency, original, folder, node, k, order, compared, language, part)
            done += 1
    if sheets:
        workbook.class_sizes(folder / "classes.xlsx", sheets)
        files.append(folder / "classes.xlsx")
    files += save(folder, compared)
    studying.at(1.0)
    notes = (
        Sentence(
            "The data are synthetic ({records:,} records, seed {seed}); the brief publishes no figures.", records=rows, seed=seed
        ),
        Sentence(
            "Precision is given with both depths: the highest level (Sweeney) and the number of levels (the brief's wording, "
            "which cannot fall below 1/3)."
        ),
        Sentence("Minimal generalization = smallest sum of levels; ties by precision, then lexicographically."),
    )
    return Result(Sentence("UNILAB: k and ℓ on COVID data of Ceará"), tuple(compared), notes, tuple(files))


def _measures(name: str, frequency: FrequencyTable, node: Node) -> list[Compared]:
    kept = node.classes.sizes[node.kept]
    figures = {
        "levels": ", ".join(f"{c} {x}" for c, x in zip(frequency.columns, node.levels, strict=True)),
        "precision (depth = highest level)": node.precision,
        "precision (depth = number of levels)": node.precision_levels,
        "average class size (released records / classes)": float(kept.mean()) if len(kept) else None,
        "average class size (all records / classes)": frequency.records / len(kept) if len(kept) else None,
        "classes": len(kept),
        "suppressed": node.suppressed_records,
    }
    return [compare(name, figure, None, value) for figure, value in figures.items()]


def _labels(frequency: FrequencyTable, node: Node) -> list[list[str | None]]:
    members = frequency.codes[node.classes.rows[node.kept]]
    parts = [
        [h.labels[x][g] for g in h.maps[x][members[:, j]]]
        for j, (h, x) in enumerate(zip(frequency.hierarchies, node.levels, strict=True))
    ]
    return [list(row) for row in zip(*parts, strict=True)]


def _release(
    frequency: FrequencyTable,
    original: Path,
    folder: Path,
    start: Node,
    k: int,
    order: int,
    compared: list[Compared],
    language: str,
    progress: Progress,
) -> list[Path]:
    name = f"k={k} ℓ={order}"
    found = diversify(frequency, start, k, order, progress)
    if found is None:
        compared.append(compare(name, "ℓ step", None, "nothing released: no class has k records and ℓ values"))
        return []
    node, action = found
    compared += [compare(name, "ℓ step", None, action), *_measures(name, frequency, node)]
    path = folder / f"dados_covid-ce_{k}_{order}.csv"
    levels = dict(zip(frequency.columns, node.levels, strict=True))
    models = [KAnonymity(k), DistinctDiversity(order, SENSITIVE)]
    release = anonymize(
        str(original), COLUMNS, models, Fixed(levels), output=Output(path=path, delimiter=";"), progress=progress.part(0.2, 0.9)
    )
    chart = folder / f"diversity_k{k}_l{order}.png"
    distinct = np.diff(node.classes.start)[node.kept]
    title = Sentence("Different values per class, k = {k}, ℓ = {order}", k=k, order=order)
    charts.diversity(chart, distinct, title, SENSITIVE, language)
    assert release.manifest_path is not None
    return [path, Path(release.manifest_path), chart]
