"""The study of the UCM text: every worked figure, and small versions of its tables 7 and 8."""

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from velado.studies import ucm
from velado.studies.ucm_text import CAPACITIES, SIZES, share_with_k, worked_figures


def test_the_worked_figures_come_out_or_are_explained() -> None:
    figures = {(c.configuration, c.figure): c for c in worked_figures()}
    assert [c for c in figures.values() if c.agrees is False and not c.why] == []
    wrong = [c.figure for c in figures.values() if c.agrees is False]
    assert len(wrong) == 8
    assert figures["table 3", "vector"].obtained == "(9, 3)"
    assert figures["table 3", "share of random assignments with k = 1, %"].obtained == 99.9857
    assert figures["tables 4 and 5", "vector of findSlots"].obtained == "(2, 3, 1, 1)"
    ranks = [c.obtained for c in figures.values() if c.figure.startswith("pos")]
    assert ranks == [3157, 7, 641, 3044]


def test_the_share_is_that_of_all_assignments() -> None:
    """Everybody and every place one by one."""
    sizes, capacities = (3, 2, 2), (2, 3, 2)
    groups = [g for g, n in enumerate(sizes) for _ in range(n)]
    places = [s for s, n in enumerate(capacities) for _ in range(n)]
    good = total = 0
    for order in set(permutations(places)):
        cells: dict[tuple[int, int], int] = {}
        for group, place in zip(groups, order, strict=True):
            cells[group, place] = cells.get((group, place), 0) + 1
        good += min(cells.values()) >= 2
        total += 1
    assert share_with_k(sizes, capacities, 2) == pytest.approx(good / total)
    assert share_with_k(sizes, capacities, 1) == 1
    assert share_with_k(SIZES, CAPACITIES, 6) == 0


def test_draws_are_what_they_are_said_to_be() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        problem = ucm.draw(100, rng)
        assert problem.sizes.sum() == 100
        assert (problem.sizes[:-1] >= 2).all()
        assert (problem.sizes <= 10).all()
        assert ((problem.capacities >= 10) & (problem.capacities <= 50)).all()
        assert problem.capacities.sum() >= 100 > problem.capacities[:-1].sum()


def test_tables_7_and_8(tmp_path: Path) -> None:
    result = ucm.study(Path("nowhere"), tmp_path, runs=3)
    assert result.unexplained_differences == []
    gains = {c.figure: c.obtained for c in result.compared if c.configuration == "table 7"}
    assert len(gains) == 20
    for n in ucm.TABLE_7:
        optimum, heuristic = gains[f"{n} people: optimum over random"], gains[f"{n} people: heuristic over random"]
        assert optimum - heuristic == pytest.approx(gains[f"{n} people: optimum over heuristic"], abs=2e-5)
        assert gains[f"{n} people: optimum over heuristic"] >= gains[f"{n} people: optimum over best-fit"] >= 0
    ks = {c.figure: c.obtained for c in result.compared if c.configuration == "table 8"}
    for n in ucm.TABLE_8:
        assert ks[f"{n} people: k, optimum"] >= ks[f"{n} people: k, best-fit"] >= ks[f"{n} people: k, heuristic"] - 1e-9
    assert {p.name for p in tmp_path.iterdir()} == {"comparison.csv", "comparison.xlsx", "velado-files.json"}
