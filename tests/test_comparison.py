"""Comparing settings and finding the strongest that keeps utility."""

import csv
import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.judge_hook import times
from random_tables import Small, small_tables
from velado import Column, DistinctDiversity, InputError, KAnonymity, Lattice, NoSolution, Project, anonymize, balance, compare
from velado.evaluation import Comparison, Setting
from velado.questions.grid import values
from velado.report import save_comparison

AGES = pa.table({"age": [str(a) for a in (21, 22, 25, 31, 31, 38, 52, 52, 57, 58)], "ill": list("ababcabcab")})
COLUMNS = (Column("age", "quasi-identifier", hierarchy={"intervals": [10, 20, 100]}), Column("ill", "sensitive"))


def project(*models: Any, **changes: Any) -> Project:
    return Project(AGES, COLUMNS, models or (KAnonymity(2),), **changes)


@pytest.mark.thorough
@settings(max_examples=times(25), deadline=None)
@given(
    table=small_tables(),
    ks=st.sets(st.integers(2, 6), min_size=1, max_size=2),
    limits=st.sets(st.sampled_from([0.0, 0.3, 1.0]), min_size=1, max_size=2),
)
def test_every_setting_equals_a_run_of_its_own(table: Small, ks: set[int], limits: set[float]) -> None:
    described = Project(table.arrow(), tuple(table.columns()), (KAnonymity(2),))
    compared = compare(described, {"k": sorted(ks), "suppression": sorted(limits)})
    assert [tuple(s.parameters.values()) for s in compared.settings] == list(itertools.product(sorted(ks), sorted(limits)))
    for s in compared.settings:
        k, limit = s.parameters["k"], s.parameters["suppression"]
        try:
            release = anonymize(table.arrow(), table.columns(), [KAnonymity(k)], Lattice(suppression=limit))
        except NoSolution as error:
            reason = error.message
        else:
            reason = None
        assert s.reason == reason
        if reason is not None:
            assert s.evaluation is None
            continue
        assert s.evaluation is not None
        assert s.levels == release.levels
        assert s.evaluation.utility == release.evaluation.utility
        assert s.evaluation.risk == release.evaluation.risk
        assert s.evaluation.suppressed == release.evaluation.suppressed
        assert s.evaluation.models == release.evaluation.models


def test_the_frontier_is_what_no_other_setting_beats() -> None:
    compared = compare(project(), {"k": [2, 3, 4, 5, 6], "suppression": [0.0, 0.5, 1.0]})
    points = {s.name: (s.evaluation.risk.average, s.evaluation.utility.loss) for s in compared.solved if s.evaluation}
    for s in compared.solved:
        risk, loss = points[s.name]
        beaten = any((r <= risk and x < loss) or (r < risk and x <= loss) for r, x in points.values())
        assert s.efficient is not beaten
    first = compared.solved[0]
    assert first.evaluation is not None
    worse = replace(first.evaluation, utility=replace(first.evaluation.utility, loss=0.9))
    both = Comparison.of(["k"], [first, Setting({"k": 99}, worse), Setting({"k": 100}, reason="none")])
    assert [s.efficient for s in both.settings] == [True, False, False]


def test_methods_and_models_are_varied() -> None:
    compared = compare(
        project(KAnonymity(2), DistinctDiversity(2, "ill")), {"l": [2, 3], "method": ["lattice", "datafly", "samarati"]}
    )
    assert [s.name for s in compared.settings][:2] == ["l=2, method=lattice", "l=2, method=datafly"]
    for s in compared.solved:
        assert s.evaluation is not None
        diversity = next(v for v in s.evaluation.models if v.name == "distinct-diversity")
        assert diversity.required["l"] == s.parameters["l"] <= diversity.achieved


def test_k_is_added_where_no_model_has_it() -> None:
    compared = compare(project(DistinctDiversity(2, "ill")), {"k": [3]})
    (setting,) = compared.settings
    assert setting.evaluation is not None
    assert {v.name for v in setting.evaluation.models} == {"k-anonymity", "distinct-diversity"}
    assert setting.evaluation.class_size["min"] >= 3


def test_settings_without_solution_keep_their_place() -> None:
    compared = compare(project(), {"k": [2, 11]})
    assert compared.settings[1].evaluation is None
    assert "only 10" in str(compared.settings[1].reason)
    assert compared.settings[1].figures() == {"k": 11, "reason": compared.settings[1].reason}


def test_balance_is_the_strongest_that_meets_the_conditions() -> None:
    grid = {"k": range(2, 11)}
    evidence = compare(project(), grid)
    for limit in (0.25, 0.4, 0.7):
        good = [s for s in evidence.solved if s.evaluation and s.evaluation.utility.loss <= limit]
        chosen = balance(project(), {"loss": limit}, grid)
        assert chosen.chosen.parameters["k"] == max(s.parameters["k"] for s in good)
        assert set(chosen.failed) == {s.name for s in evidence.settings} - {s.name for s in good}
        assert [s.parameters for s in chosen.comparison.settings] == [s.parameters for s in evidence.settings]


def test_balance_of_several_conditions() -> None:
    result = balance(project(), {"loss": 0.9, "suppressed": 0.0, "precision": 0.3, "query-error": 5.0}, {"k": range(2, 8)})
    e = result.chosen.evaluation
    assert e is not None
    assert e.suppressed == 0
    assert e.utility.precision is not None
    assert e.utility.precision >= 0.3
    assert e.queries is not None
    assert e.queries.mean <= 5.0


def test_strength_is_k_then_l_then_small_t() -> None:
    def stronger(a: dict[str, Any], b: dict[str, Any]) -> bool:
        return Setting(a).strength > Setting(b).strength

    assert stronger({"k": 3, "l": 2}, {"k": 2, "l": 9})
    assert stronger({"k": 3, "l": 3}, {"k": 3, "l": 2})
    assert stronger({"k": 3, "t": 0.1}, {"k": 3, "t": 0.2})
    assert stronger({"c": 2}, {"c": 4})


def test_ks_keeps_a_column_that_is_not_recoded() -> None:
    twice = pa.table({"age": ["20", "20", "30", "30", "40", "40"], "sex": list("fmfmfm")})
    columns = (Column("age", "quasi-identifier", hierarchy={"intervals": [10, 100]}), Column("sex", "quasi-identifier"))
    result = balance(Project(twice, columns, (KAnonymity(2),)), {"ks": 0.95}, {"k": [2, 3]})
    assert result.chosen.parameters == {"k": 2}
    assert result.chosen.evaluation is not None
    assert result.chosen.evaluation.ks is not None
    assert result.chosen.evaluation.ks["age"].by == "value"


@pytest.mark.parametrize(
    ("conditions", "grid", "code"),
    [
        ({}, None, "no-condition"),
        ({"beauty": 1}, None, "unknown-condition"),
        ({"loss": 0.5}, {"m": [2]}, "unknown-parameter"),
        ({"loss": 0.5}, {"k": []}, "empty-grid"),
        ({"loss": 0.5}, {"t": [0.2]}, "no-such-parameter"),
        ({"loss": 0.5}, {"k": [1]}, "bad-parameter"),
        ({"loss": 0.5}, {"method": ["magic"]}, "unknown-method"),
    ],
)
def test_bad_questions(conditions: dict[str, float], grid: Any, code: str) -> None:
    with pytest.raises(InputError) as caught:
        balance(project(), conditions, grid)
    assert caught.value.code == code


def test_ks_needs_a_numeric_column() -> None:
    words = Project(pa.table({"city": list("aabb")}), (Column("city", "quasi-identifier"),), (KAnonymity(2),))
    with pytest.raises(InputError) as caught:
        balance(words, {"ks": 0.95})
    assert caught.value.code == "no-numeric-column"


def test_no_balance_says_what_comes_nearest() -> None:
    with pytest.raises(NoSolution) as caught:
        balance(project(), {"loss": 0.0}, {"k": [5, 6]})
    assert caught.value.code == "no-balance"
    assert "the best is" in caught.value.hint
    assert "k=5" in caught.value.hint


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2..5", [2, 3, 4, 5]),
        ("2,5,10", [2, 5, 10]),
        ("5..20:5,7", [5, 10, 15, 20, 7]),
        ("0.1..0.5:0.1", [0.1, 0.2, 0.3, 0.4, 0.5]),
        ("3,3", [3]),
    ],
)
def test_ranges(text: str, expected: list[float]) -> None:
    assert values("k", text) == expected


@pytest.mark.parametrize("text", ["", "x", "5..2", "2..", "2..5:0", "2..5:-1", "nan", "inf", "1..1e9", "2:3"])
def test_bad_ranges(text: str) -> None:
    with pytest.raises(InputError) as caught:
        values("k", text)
    assert caught.value.code == "bad-option"


def test_saved_comparison(tmp_path: Path) -> None:
    compared = compare(project(), {"k": [2, 3, 11]})
    files = save_comparison(compared, tmp_path / "made" / "here", "es")
    with open(files[0], encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["k"] for row in rows] == ["2", "3", "11"]
    assert float(rows[0]["loss"]) == compared.solved[0].evaluation.utility.loss  # type: ignore[union-attr]
    sheet = openpyxl.load_workbook(files[1]).active
    assert sheet.max_row == 4
    assert {f.suffix for f in files} == {".csv", ".xlsx", ".png"}
    assert all(f.stat().st_size > 100 for f in files)


def test_an_unwritable_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError) as caught:
        save_comparison(Comparison.of(["k"], []), tmp_path / "file")
    assert caught.value.code == "unwritable-output"


def test_command_line(main: Any, write_project: Any, tmp_path: Path) -> None:
    path = write_project(output={"path": "out.csv"})
    ended = main("compare", path, "--k", "2..4", "--json")
    assert ended.code == 0
    assert [s["parameters"]["k"] for s in ended.json["settings"]] == [2, 3, 4]
    assert not (tmp_path / "out.csv").exists()
    shown = main("compare", path, "--k", "2..4").out
    assert shown.count("k=") == 3
    assert "highest risk" in shown
    chosen = main("balance", path, "--suppressed", "0.1", "--k", "2..4", "--json")
    assert chosen.json["chosen"] == {"k": 4}
    assert "is the strongest of 3 settings" in main("balance", path, "--suppressed", "0.1", "--k", "2..4").out
    failed = main("balance", path, "--loss", "0", "--k", "2,3")
    assert failed.code == 1
    assert main("compare", path).code == 2
    assert main("compare", path, "--k", "0").code == 2
