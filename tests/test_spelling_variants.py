"""Spelling variants are no diversity: models judge them as one value, unless the owner says otherwise."""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import oracle
from harness.judge_hook import times
from random_tables import Small, model_strategy, small_tables, velado_model
from test_mondrian import in_parts
from velado import (
    Column,
    DistinctDiversity,
    InputError,
    KAnonymity,
    Lattice,
    Mondrian,
    NoSolution,
    Output,
    Project,
    TCloseness,
    anonymize,
    attack,
    check,
    evaluate,
    inspect_table,
)
from velado.methods import Fixed
from velado.spelling_variants import SpellingVariants, fold_spelling

pytestmark = pytest.mark.judged

VARIANTS = {
    "case": ["HIV", "hiv", "Hiv"],
    "outer blanks": ["HIV", "HIV ", " HIV", "HIV\t", "HIV\N{NO-BREAK SPACE}"],
    "inner blanks": ["HIV positive", "HIV  positive", "HIV\N{NO-BREAK SPACE}positive"],
    "composed or not": ["Caf\N{LATIN SMALL LETTER E WITH ACUTE}", "Cafe\N{COMBINING ACUTE ACCENT}"],
    "composed, without case": ["É", "e\N{COMBINING ACUTE ACCENT}"],
    "full width": ["HIV", "\N{FULLWIDTH LATIN CAPITAL LETTER H}IV"],
    "sharp s": ["STRASSE", "straße"],
    "invisible": ["HIV", "HIV\N{ZERO WIDTH SPACE}", "\N{ZERO WIDTH NO-BREAK SPACE}HIV"],
    "ignorable": [
        "HIV",
        *(f"HIV{c}" for c in "\u3164\u115f\u1160\uffa0\u2800\ufe00\ufe0f\u034f\u180b\u180e\u180f\u17b4\u17b5"),
        *(f"HIV{c}" for c in "\U00013441\U00013442\U00016fe4\U0001d159"),
        *(f"H{c}IV" for c in "\u00ad\u061c\u2060\u2065\u206f\ufff0\U0001bca0\U0001d173\U000e0001\U000e0100\U000e01ef\U000e0fff"),
    ],
    "decimals": ["1", "1.0", "1.00", "+1", "1e0"],
    "decimals and nothing": ["1", "1.0\u3164", "\u20601.00"],
    "zeros": ["-0.0", "-0", "0", "0.0"],
    "decimal commas": ["1,5", "1,50"],
    "large numbers": ["1000000000000000000000000000000001", "1000000000000000000000000000000001.0"],
    "words for missing": [None, "NA", "n/a", "NULL", "nan", "missing", "?", ""],
}
NO_VARIANTS = {
    "letters": ["HIV", "HPV"],
    "accents": ["resume", "résumé"],
    "signs": ["A+", "A-", "A"],
    "codes": ["007", "7", "07"],
    "codes with decimals": ["01.0", "1.0"],
    "other numbers": ["1", "-1", "10", "0.1"],
    "nearly equal": ["1000000000000000000000000000000001", "1000000000000000000000000000000002"],
    "may be thousands": ["1,000", "1000"],
    "two notations": ["1.5", "1,5"],
    "none is an answer": [None, "none", "-"],
    "inner blanks that part words": ["in flu", "influ"],
}


@pytest.mark.parametrize("values", VARIANTS.values(), ids=VARIANTS)
def test_variants(values: list[str | None]) -> None:
    (group,) = SpellingVariants.among([*values, "700"]).groups
    assert set(group) == set(values)
    assert group[0] is None or group[0] == min(v for v in values if v is not None)


@pytest.mark.parametrize("values", NO_VARIANTS.values(), ids=NO_VARIANTS)
def test_no_variants(values: list[str | None]) -> None:
    assert not SpellingVariants.among(values)


@settings(max_examples=times(40, 500), deadline=None)
@given(st.text(max_size=12))
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold_spelling(fold_spelling(text)) == fold_spelling(text)
    for other in (f" {text}\t", unicodedata.normalize("NFD", text), unicodedata.normalize("NFKC", text)):
        assert fold_spelling(other) == fold_spelling(text)


# Against the oracle

WORDS = ["HIV", "hiv", "HIV ", " Flu", "flu", "FLU", "asthma", "Asthma"]
NUMBERS = ["1", "1.0", "2", "2.00", "0", "-0.0", "10"]


def plain_fold(values: list[str]) -> dict[str, str]:
    """What each value is folded to, told by its definition for these vocabularies."""

    def key(value: str) -> Any:
        try:
            return Fraction(value)
        except ValueError:
            return " ".join(value.lower().split())

    return {v: min(w for w in values if key(w) == key(v)) for v in values}


def spelled(table: Small, data: st.DataObject, words: list[str]) -> Small:
    """The same table with other sensitive values."""
    rows = [{**row, "s0": data.draw(st.sampled_from(words))} for row in table.rows]
    return replace(table, rows=rows, sensitive=["s0"])


def columns_of(table: Small, **options: str) -> list[Column]:
    return [*table.columns()[: len(table.qi)], Column("s0", "sensitive", exposure="accepted", **options)]


FLAT = model_strategy().filter(lambda m: m.get("distance") != "hierarchical")


@settings(max_examples=times(30, 500), deadline=None)
@given(
    table=small_tables(),
    words=st.sampled_from([WORDS, NUMBERS]),
    models=st.lists(FLAT, min_size=1, max_size=2),
    limit=st.sampled_from([0.0, 0.3, 1.0]),
    distinct=st.booleans(),
    data=st.data(),
)
def test_models_are_judged_on_folded_values(
    table: Small, words: list[str], models: list[dict], limit: float, distinct: bool, data: st.DataObject
) -> None:
    """Search, verification and check; what is published stays as it was spelled."""
    table = spelled(table, data, words)
    assume(words is NUMBERS or not any(m.get("distance") == "ordered" for m in models))
    fold = {v: v for v in words} if distinct else plain_fold([row["s0"] for row in table.rows])
    judged = [{**row, "s0": fold[row["s0"]]} for row in table.rows]
    expected = oracle.brute_force(judged, table.qi, table.hierarchies, models, {}, "loss", limit)
    columns = columns_of(table, variants="distinct" if distinct else "fold")
    try:
        release = anonymize(table.arrow(), columns, [velado_model(m) for m in models], Lattice(suppression=limit))
    except NoSolution:
        assert expected is None
        return
    assert expected is not None
    assert release.found is not None
    assert release.found.levels == expected[1]
    published = release.table.to_pylist()
    assert Counter(r["s0"] for r in published) <= Counter(r["s0"] for r in table.rows)
    found: dict[tuple, list[dict]] = {}
    for row in published:
        found.setdefault(tuple(row[c] for c in table.qi), []).append({**row, "s0": fold[row["s0"]]})
    for model, verdict in zip(models, release.evaluation.models, strict=True):
        assert all(oracle.satisfies(model, c, judged, {}) for c in found.values())
        figure = oracle.worst(model, [oracle.figure(model, c, judged, {}) for c in found.values()])
        achieved = tuple(verdict.achieved.values()) if isinstance(verdict.achieved, dict) else verdict.achieved
        assert achieved == pytest.approx(figure)
    measured = check(release.table, table.qi, ["s0"], variants=columns[-1].variants).sensitive["s0"]
    assert measured["l_distinct"] == min(len({r["s0"] for r in c}) for c in found.values())


@pytest.mark.parametrize(
    ("method", "suppressed"),
    [
        (Lattice(suppression=1), "drop"),
        (Lattice(suppression=1), "asterisks"),
        (Mondrian(), "drop"),
        (Mondrian(relaxed=True), "drop"),
    ],
)
def test_methods_and_outputs(tmp_path: Path, method: Any, suppressed: str) -> None:
    ages = [str(20 + i) for i in range(24)]
    ill = ["HIV", "hiv", "HIV ", "flu", "Flu", "cancer"] * 4
    table = pa.table({"age": ages, "ill": ill})
    columns = [Column("age", "quasi-identifier", type="integer", hierarchy={"intervals": [4, 8, 24]}), Column("ill", "sensitive")]
    output = Output(tmp_path / "out.csv", suppressed=suppressed, order="sorted")
    release = anonymize(table, columns, [DistinctDiversity(3, "ill")], method, output=output)
    measured = check(tmp_path / "out.csv", ["age"], ["ill"])
    assert measured.sensitive["ill"]["l_distinct"] >= (3 if suppressed == "drop" else 1)
    assert [v.achieved for v in release.evaluation.models] == [3]
    assert set(pa.csv.read_csv(tmp_path / "out.csv").column("ill").to_pylist()) - {"*"} <= set(ill)
    raw = anonymize(table, [columns[0], replace(columns[1], variants="distinct")], [DistinctDiversity(3, "ill")], method)
    assert raw.evaluation.classes > release.evaluation.classes


def test_records_that_are_alike_but_for_their_spelling_are_dealt_out() -> None:
    """Equal ages, parted by relaxed cuts: every class gets as many of each value as was planned, however spelled."""
    table = pa.table({"age": ["30"] * 20 + ["31"] * 10, "ill": ["HIV", "hiv", "HIV ", "flu", "Flu"] * 6})
    columns = [Column("age", "quasi-identifier", type="integer"), Column("ill", "sensitive")]
    release = anonymize(table, columns, [KAnonymity(7), DistinctDiversity(2, "ill")], Mondrian(relaxed=True))
    assert "30-31" in release.table.column("age").to_pylist()
    assert [v.achieved for v in release.evaluation.models] == [release.evaluation.class_size["min"], 2]
    assert Counter(release.table.column("ill").to_pylist()) == Counter(table.column("ill").to_pylist())


def test_in_parts(tmp_path: Path) -> None:
    table = pa.table({"age": [str(i) for i in range(24)], "ill": ["HIV", "hiv", "flu", "FLU"] * 6})
    columns = [Column("age", "quasi-identifier", type="integer"), Column("ill", "sensitive")]
    with in_parts(3):
        release = anonymize(table, columns, [DistinctDiversity(2, "ill")], Mondrian(), output=tmp_path / "out.csv")
    assert release.found is None
    assert release.evaluation.class_size["min"] >= 3, "two spellings of one value are not two values"
    assert [n.code for n in release.notes] == ["variants-folded"]


def test_the_tree_of_a_representative() -> None:
    tree = {"tree": {"infection": ["HIV", "hiv", "flu"], "chronic": ["asthma"]}}
    table = pa.table({"q": ["a", "a", "b", "b"], "s": ["HIV", "asthma", "hiv", "asthma"]})
    assert check(table, ["q"], ["s"], trees={"s": tree}).sensitive["s"]["t_hierarchical"] == 0
    assert check(table, ["q"], ["s"], trees={"s": tree}, variants="distinct").sensitive["s"]["t_hierarchical"] > 0


@pytest.mark.parametrize(
    "model", [{"beta-likeness": {"beta": 1, "column": "ill"}}, {"delta-disclosure": {"delta": 1, "column": "ill"}}]
)
def test_models_that_compare_with_the_input_judge_the_value_and_not_its_spelling(model: dict[str, Any]) -> None:
    """One class writes HIV and the other hiv: a spelling is far more frequent than in the input, the value is not."""
    people = pa.table({"x": ["a"] * 4 + ["b"] * 12, "ill": ["HIV", "HIV", "flu", "flu", *["hiv", "hiv", "flu", "flu"] * 3]})
    columns = {"x": "quasi-identifier", "ill": {"role": "sensitive", "variants": "fold"}}
    method = {"fixed": {"levels": {"x": 0}, "suppression": 0}}
    release = anonymize(people, columns, [model], method)
    assert release.evaluation.models[0].achieved == pytest.approx(0)
    columns["ill"]["variants"] = "distinct"
    with pytest.raises(NoSolution):
        anonymize(people, columns, [model], method)


def test_words_for_missing_are_one_value_with_it_and_leave_numbers_in_order() -> None:
    values = pa.array(["1", "20", "3", "NA", None, "n/a"], pa.string())
    table = pa.table({"q": ["a"] * 3 + ["b"] * 3, "s": values})
    measured = check(table, ["q"], ["s"])
    assert measured.sensitive["s"]["l_distinct"] == 1
    assert measured.sensitive["s"]["t_ordered"] is not None
    assert measured.variants == {"s": {"values": 1, "spellings": 3}}
    assert check(table, ["q"], ["s"], variants="distinct").sensitive["s"]["t_ordered"] is None


# What is said


PEOPLE = pa.table({"q": list("aaaabbbbcc"), "ill": ["HIV", "hiv", "flu", "flu", "HIV", "flu", "hiv", "flu", "Asthma", "asthma"]})
COLUMNS = [Column("q", "quasi-identifier"), Column("ill", "sensitive")]


def test_a_run_says_what_was_folded_but_no_value() -> None:
    release = anonymize(PEOPLE, COLUMNS, [DistinctDiversity(2, "ill")], Fixed({"q": 0}))
    assert release.evaluation.suppressed == 2
    note, suppressed = release.notes
    assert (note.code, note.column) == ("variants-folded", "ill")
    assert suppressed.code == "much-suppressed"
    assert "2 spellings of 1 value(s)" in note.message, "those of suppressed people do not count"
    assert not any(word.casefold() in str(note).casefold() for word in ("hiv", "asthma", "flu"))
    assert release.as_dict()["notes"] == [note.as_dict(), suppressed.as_dict()]
    distinct = [COLUMNS[0], Column("ill", "sensitive", variants="distinct")]
    assert anonymize(PEOPLE, distinct, [DistinctDiversity(2, "ill")], Fixed({"q": 0}, suppression=0.5)).notes == ()


def test_without_variants_nothing_is_said() -> None:
    notes = anonymize(PEOPLE.slice(2, 2), COLUMNS, [KAnonymity(2)], Fixed({"q": 0})).notes
    assert [n.code for n in notes] == ["unprotected"]


def test_evaluate_and_attack_fold_as_well(tmp_path: Path) -> None:
    release = pa.table({"q": ["*"] * 4, "ill": ["HIV", "hiv", "HIV", "HIV "]})
    original = release.set_column(0, "q", pa.array(list("abcd")))
    assert evaluate(original, release, ["q"], ["ill"]).after.sensitive["ill"]["l_distinct"] == 1  # type: ignore[union-attr]
    raw = evaluate(original, release, ["q"], ["ill"], variants="distinct")
    assert raw.after.sensitive["ill"]["l_distinct"] == 3  # type: ignore[union-attr]
    found = {a.name: a for a in attack(release, ["q"], ["ill"])}
    assert found["homogeneity"].succeeded


PROJECT: dict[str, Any] = {
    "source": "people.csv",
    "columns": {"q": "quasi-identifier", "ill": {"role": "sensitive"}},
    "models": [{"distinct-diversity": {"l": 2, "column": "ill"}}],
    "output": "out.csv",
}


@pytest.mark.parametrize(
    ("top", "own", "expected"),
    [(None, None, "fold"), ("distinct", None, "distinct"), (None, "distinct", "distinct"), ("distinct", "fold", "fold")],
)
def test_the_rule_of_a_project(top: str | None, own: str | None, expected: str) -> None:
    ill = {"role": "sensitive", **({"variants": own} if own else {})}
    data = {**PROJECT, "columns": {"q": "quasi-identifier", "ill": ill}, **({"variants": top} if top else {})}
    project = Project.from_dict(data)
    assert [c.variants for c in project.columns] == ["fold", expected]
    assert [c.variants for c in Project.from_dict(project.as_dict()).columns] == ["fold", expected]
    tables = {"one": {**PROJECT, "output": "1.csv"}}
    several = Project.from_dict({"tables": tables, "variants": "distinct"})
    assert several.tables["one"].columns[1].variants == "distinct"


@pytest.mark.parametrize(
    "change", [{"variants": "both"}, {"columns": {"q": {"role": "quasi-identifier", "variants": "distinct"}}}, {"variants": True}]
)
def test_bad_rules(change: dict) -> None:
    with pytest.raises(InputError) as caught:
        Project.from_dict({**PROJECT, **change})
    assert caught.value.code == "bad-variants"


def test_strict_parts_are_those_that_are_published() -> None:
    """The other columns join the quasi-identifiers, and these are told apart as they are written."""
    table = pa.table({"q": ["a"] * 4, "s": ["1", "2", "1", "2"], "t": ["x", "x", "X", "X"]})
    columns = [Column("q", "quasi-identifier"), Column("s", "sensitive"), Column("t", "sensitive")]
    release = anonymize(table, columns, [DistinctDiversity(2, "s", strict=True), TCloseness(0, "s", strict=True)])
    assert release.evaluation.released == 4


# Inspection


def test_inspection_lists_variants(tmp_path: Path, main) -> None:
    path = tmp_path / "people.csv"
    names = [f"{a}{b}" for a in ("Ann", "ANN") for b in range(6)]
    ill = ["HIV", "hiv", "flu", "", "NA", "flu"] * 2
    path.write_text("name,ill,sex\n" + "".join(f"{n},{i},f\n" for n, i in zip(names, ill, strict=True)), "utf-8")
    name, illness, sex = inspect_table(path).columns
    assert (name.role, name.variants.groups, name.variants.examples) == ("identifier", 6, ())
    assert (illness.variants.groups, illness.variants.spellings) == (2, 4)
    assert illness.variants.examples == (("HIV", "hiv"), (None, "NA"))
    assert sex.variants.groups == 0
    shown = main("inspect", path).out
    assert "ill: 4 spellings of 2 values: 'HIV' = 'hiv'; (missing) = 'NA'" in shown
    assert "Ann0" not in shown
    listed = main("inspect", path, "--json").json["columns"]
    assert listed[1]["variants"] == {"groups": 2, "spellings": 4, "examples": [["HIV", "hiv"], [None, "NA"]]}
    assert listed[0]["variants"] == {"groups": 6, "spellings": 12, "examples": []}


def test_check_says_what_was_folded(tmp_path: Path, main) -> None:
    path = tmp_path / "t.csv"
    path.write_text("q,s\na,HIV\na,hiv\nb,flu\nb,HIV\n", encoding="utf-8")
    asked = ("check", path, "--qi", "q", "--sensitive", "s")
    assert main(*asked, "--json").json["variants"] == {"s": {"values": 1, "spellings": 2}}
    assert "2 spellings of 1 value(s) were judged as one value each" in main(*asked).out
    assert main(*asked, "--json").json["sensitive"]["s"]["l_distinct"] == 1
    assert main(*asked, "--variants", "distinct", "--json").json["sensitive"]["s"]["l_distinct"] == 2
    assert main(*asked, "--variants", "no").code == 2
