"""Numbers as texts: one notation for a whole column, in every place that reads it."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from test_mondrian import in_parts
from velado import (
    Column,
    InputError,
    KAnonymity,
    Lattice,
    Mondrian,
    Output,
    TCloseness,
    anonymize,
    build_hierarchy,
    check,
    evaluate,
    inspect_table,
)
from velado.hierarchies.labels import intervals_of
from velado.numbers import COMMA, POINT, Notation, column_notation, notation_of, numbers_of
from velado.operations import Given, operation_from

NARROW = "\N{NARROW NO-BREAK SPACE}"
READ = [
    (["34", "-7", "+2"], [34, -7, 2]),
    (["1.5", "2"], [1.5, 2]),
    (["1.000", "2"], [1, 2]),
    (["1,5", "2"], [1.5, 2]),
    (["1,000", "2.5"], [1000, 2.5]),
    (["1,234,567"], [1234567]),
    (["1,234,567.25", "1,000"], [1234567.25, 1000]),
    (["1,000", "2,5"], [1, 2.5]),
    (["1.234.567", "1.000"], [1234567, 1000]),
    (["1.234,50", "1.000"], [1234.5, 1000]),
    (["1.234", "0,5"], [1234, 0.5]),
    (["0,123", "1,234"], [0.123, 1.234]),
    (["1234,567"], [1234.567]),
    (["1 000", f"12{NARROW}345", "7"], [1000, 12345, 7]),
    (["1\N{NO-BREAK SPACE}000,5"], [1000.5]),
    (["1e3", "1.5E-2"], [1000, 0.015]),
    ([".5", "5."], [0.5, 5]),
    ([" 3 "], [3]),
]
UNREADABLE = {
    "only one sign": (["1,000", "2,500", "7"], "ambiguous-number", ["1,000", "2,500"]),
    "both signs": (["1,234", "1.234"], "ambiguous-number", ["1,234"]),
    "two decimal signs": (["1.5", "2.5", "3,5"], "not-a-number", ["3,5"]),
    "words": (["1", "many", "few"], "not-a-number", ["many", "few"]),
    "two digits": (["1,00,000"], "not-a-number", ["1,00,000"]),
    "a leading zero group": (["0,123.5"], "not-a-number", ["0,123.5"]),
    "mixed signs for thousands": (["1.234 567,5"], "not-a-number", ["1.234 567,5"]),
    "an underscore": (["1_000"], "not-a-number", ["1_000"]),
    "not finite": (["inf", "nan", "1e999"], "not-a-number", ["inf", "nan", "1e999"]),
    "other digits": (["٣"], "not-a-number", ["٣"]),
}


@pytest.mark.parametrize(("values", "expected"), READ, ids=str)
def test_a_column_is_read_in_one_notation(values: list[str], expected: list[float]) -> None:
    assert numbers_of(values) == expected


@pytest.mark.parametrize(("values", "code", "named"), UNREADABLE.values(), ids=UNREADABLE)
def test_what_cannot_be_read_is_named(values: list[str], code: str, named: list[str]) -> None:
    assert notation_of(values) is None
    with pytest.raises(InputError) as caught:
        column_notation("x", values)
    assert (caught.value.code, caught.value.column, caught.value.values) == (code, "x", named)
    assert caught.value.hint


@settings(max_examples=200, deadline=None)
@given(
    numbers=st.lists(st.decimals(-(10**9), 10**9, places=2), min_size=1, max_size=8),
    point=st.booleans(),
    sign=st.sampled_from(["", "t", " ", NARROW]),
)
def test_written_numbers_are_read_again(numbers: list[Decimal], point: bool, sign: str) -> None:
    """Two decimals leave no doubt, whatever groups the thousands."""
    assume(not point or sign in ("", "t"))
    signs = {"t": "," if point else "."}
    texts = []
    for number in numbers:
        whole, rest = f"{number:,.2f}".split(".")
        texts.append(whole.replace(",", signs.get(sign, sign)) + ("." if point else ",") + rest)
    assert notation_of(texts) == (POINT if point else COMMA)
    assert numbers_of(texts) == [float(n) for n in numbers]


def test_long_digits_are_matched_at_once() -> None:
    assert notation_of(["1" * 100_000 + "x"]) is None
    assert notation_of(["1," + "111," * 30_000 + "x"]) is None


# The same reading everywhere

AMBIGUOUS = ["1,000", "2,500", "1,000", "2,500"]


def test_thousands_in_hierarchies() -> None:
    h = build_hierarchy("pay", {"intervals": [1000]}, ["1,200", "950.5"])
    assert h.rows() == [["950.5", "[0, 1000)", "*"], ["1,200", "[1000, 2000)", "*"]]
    h = build_hierarchy("pay", {"intervals": [1, 2]}, ["1,200", "9,55"])
    assert h.rows() == [["1,200", "[1; 2)", "[0; 2)", "*"], ["9,55", "[9; 10)", "[8; 10)", "*"]]
    h = build_hierarchy("pay", {"intervals": [0.5]}, ["1,200", "9,55"])
    assert h.rows()[1] == ["9,55", "[9,5; 10)", "*"]
    with pytest.raises(InputError) as caught:
        build_hierarchy("pay", {"intervals": [1000]}, AMBIGUOUS[:2])
    assert caught.value.code == "ambiguous-number"


@pytest.mark.parametrize("kind", ["integer", "number"])
def test_thousands_in_types(kind: str) -> None:
    with pytest.raises(InputError) as caught:
        anonymize(pa.table({"pay": AMBIGUOUS}), [Column("pay", "quasi-identifier", type=kind)], [KAnonymity(2)])
    assert caught.value.code == "ambiguous-number"
    table = pa.table({"pay": ["1.200.000", "1.000", "2.000", "1.500"]})
    release = anonymize(table, [Column("pay", "quasi-identifier", type=kind)], [KAnonymity(2)], Mondrian())
    assert sorted(set(release.table.column("pay").to_pylist())) == ["1000-1500", "2000-1200000"]


def test_thousands_in_operations() -> None:
    def labels(spec: object, values: list[str]) -> list[str]:
        return list(operation_from(spec).labels(values, Given("pay", "pay", "insensitive")))  # type: ignore[attr-defined]

    assert labels({"round": 100}, ["1,249", "80.5"]) == ["1200", "100"]
    assert labels({"round": 0.5}, ["1.249,30", "0,7"]) == ["1249,5", "0,5"]
    assert labels({"top": 1000}, ["1.249,30", "999,5"]) == ["1000", "999,5"]
    for spec in ({"round": 10}, {"top": 90}):
        with pytest.raises(InputError) as caught:
            labels(spec, AMBIGUOUS)
        assert caught.value.code == "ambiguous-number"


def test_labels_of_a_release_are_read_in_the_notation_of_the_column(tmp_path: Path) -> None:
    """1,125 is a little more than one in this column, in its intervals as well."""
    original = tmp_path / "original.csv"
    original.write_text("weight;n\n" + "".join(f"{x};1\n" for x in ("1,125", "1,5", "2,375", "2,25") * 2), "utf-8")
    column = Column("weight", "quasi-identifier", type="number")
    release = anonymize(
        original, [column, Column("n", "insensitive")], [KAnonymity(4)], Mondrian(), output=tmp_path / "release.csv"
    )
    assert set(release.found.covers[0].labels) == {"[1,125; 1,5]", "[2,25; 2,375]"}  # type: ignore[union-attr]
    measured = evaluate(original, tmp_path / "release.csv", ["weight"]).aggregates["weight"]  # type: ignore[index]
    assert (measured.before.min, measured.after.min, measured.after.max) == (1.125, 1.125, 2.375)
    assert [i.low for i in intervals_of(["1,125-1,5", "2,250"], COMMA) if i] == [1.125, 2.25]
    assert intervals_of(["1,125-2,250"]) == [None]


WHOLE_LIMIT = st.integers(0, 10**15).map(str) | st.sampled_from(["0", "007", "1,5", "1.000", "-3", "x", ""])
LABEL = st.tuples(WHOLE_LIMIT, WHOLE_LIMIT).map("-".join) | st.sampled_from(["*", "7", "1,125", "[1.5, 2)", ">= 5"])


@given(st.lists(LABEL, max_size=5), st.sampled_from([None, POINT, COMMA]))
def test_intervals_of_whole_numbers_are_read_as_all_others(names: list[str], notation: Notation | None) -> None:
    """They have a short way of their own, because a release may have very many of them."""
    quick = intervals_of(names, notation)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("velado.hierarchies.labels.WHOLE", re.compile("(?!)"))
        assert quick == intervals_of(names, notation)


def test_inspection_knows_what_is_a_number() -> None:
    table = pa.table({"pay": AMBIGUOUS, "cost": ["1,000", "2.5", "3", "4"], "code": ["007", "1", "2", "3"]})
    assert {c.name: c.type for c in inspect_table(table).columns} == {"pay": "text", "cost": "number", "code": "text"}


# The order of sensitive values


def closeness(values: list[str | None], t: float = 1, **options: Any) -> float:
    """The ordered t that two classes of equal size have."""
    half = len(values) // 2
    table = pa.table({"q": ["a"] * half + ["b"] * half, "s": pa.array(values, pa.string())})
    columns = [Column("q", "quasi-identifier"), Column("s", "sensitive", **options)]
    release = anonymize(table, columns, [TCloseness(t, "s", "ordered")], Lattice(suppression=0))
    (verdict,) = release.evaluation.models
    assert release.recoding is not None
    assert release.recoding.levels == {"q": 0}
    return float(verdict.achieved)


def test_numbers_are_ordered_by_value() -> None:
    """9 and 10 are neighbours, 10 and 100 are: a class of the two smallest is far from one of the two largest."""
    assert closeness(["9", "10", "100", "1,000.5"]) == pytest.approx(1 / 3)
    assert closeness(["9", "100", "10", "1,000.5"]) == pytest.approx(1 / 6)
    assert closeness(["9,5", "10,5", "1.000", "100"]) == pytest.approx(1 / 3)


def test_dates_are_ordered_by_day() -> None:
    days = ["31/01/2020", "01/02/2020", "15/03/2020", "02/04/2020"]
    assert closeness(days, type="date", format="%d/%m/%Y") == pytest.approx(1 / 3)
    with pytest.raises(InputError) as caught:
        closeness(days)
    assert caught.value.code == "no-order", "as texts 31/01 comes last"
    assert closeness(["2020-01-31", "2020-02-01", "2020-03-15", "2020-04-02"]) == pytest.approx(1 / 3)


def test_texts_have_the_order_that_is_declared() -> None:
    words = ["mild", "moderate", "severe", "critical"]
    assert closeness(words, hierarchy={"order": words}) == pytest.approx(1 / 3)
    assert closeness([*words[:3], None], hierarchy={"order": words}) == pytest.approx(1 / 3), "missing comes last"
    assert closeness(words, hierarchy={"order": [words[i] for i in (0, 2, 1, 3)]}) == pytest.approx(1 / 6)
    with pytest.raises(InputError) as caught:
        closeness(words)
    assert (caught.value.code, caught.value.column) == ("no-order", "s")
    assert "hierarchy: {order: [" in caught.value.hint
    assert "critical" not in str(caught.value)
    table = pa.table({"q": ["a", "a", "b", "b"], "s": words})
    assert check(table, ["q"], ["s"]).sensitive["s"]["t_ordered"] is None
    declared = check(table, ["q"], ["s"], trees={"s": {"order": words}}).sensitive["s"]
    assert declared["t_ordered"] == pytest.approx(1 / 3)


def test_missing_is_last() -> None:
    assert closeness(["1", "20", "3", None]) == pytest.approx(1 / 6)


@pytest.mark.parametrize("word", ["many", "0x1F", "2020-01-01", "< 5"])
def test_numbers_among_words_have_no_order(word: str) -> None:
    with pytest.raises(InputError) as caught:
        closeness(["9", "10", "100", word])
    assert (caught.value.code, caught.value.column, caught.value.values) == ("not-a-number", "s", [word])
    assert "missing" in caught.value.hint
    assert "distance: equal" in caught.value.hint
    table = pa.table({"q": ["a", "a", "b", "b"], "s": ["9", "10", "100", word]})
    measured = check(table, ["q"], ["s"]).sensitive["s"]
    assert measured["t_ordered"] is None
    assert measured["t_equal"] == pytest.approx(0.5)


def test_ambiguous_numbers_have_no_order() -> None:
    with pytest.raises(InputError) as caught:
        closeness(AMBIGUOUS)
    assert caught.value.code == "ambiguous-number"


def test_no_order_is_shown_as_a_dash(tmp_path: Path, main) -> None:
    path = tmp_path / "t.csv"
    path.write_text("q,s\na,9\na,10\nb,100\nb,many\n", encoding="utf-8")
    ended = main("check", path, "--qi", "q", "--sensitive", "s")
    assert "t-closeness, ordered distance" in ended.out
    assert "– (the values have no order)" in ended.out
    release = tmp_path / "r.csv"
    anonymize(path, [Column("q", "quasi-identifier"), Column("s", "sensitive")], [KAnonymity(2)], output=Output(release))
    assert evaluate(path, release, ["q"], ["s"]).after.sensitive["s"]["t_ordered"] is None  # type: ignore[union-attr]


# Two zeros


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()])
@pytest.mark.parametrize("method", [Lattice(suppression=0.5), Mondrian()])
def test_a_negative_zero_is_zero(tmp_path: Path, kind: pa.DataType, method: Lattice | Mondrian) -> None:
    """They are equal, so an engine groups them together, but they are written differently."""
    zeros = [0.0, -0.0, 0.0, -0.0, 1.5, 1.5]
    table = pa.table({"x": pa.array(zeros, kind), "s": pa.array(zeros[::-1], kind), "n": pa.array(zeros, kind)})
    columns = [Column("x", "quasi-identifier", type="number"), Column("s", "sensitive"), Column("n", "insensitive")]
    output = Output(tmp_path / "out.csv", order="sorted")
    release = anonymize(table, columns, [KAnonymity(2)], method, output=output)
    assert release.evaluation.released == 6
    assert "-0" not in (tmp_path / "out.csv").read_text(encoding="utf-8")
    assert check(table, ["x"], ["s"]).sensitive["s"]["l_distinct"] == 1


def test_a_negative_zero_in_parts(tmp_path: Path) -> None:
    table = pa.table({"x": [0.0, -0.0, 1.5, 2.5] * 6, "s": ["a", "b"] * 12})
    with in_parts(2):
        release = anonymize(
            table,
            [Column("x", "quasi-identifier", type="number"), Column("s", "sensitive")],
            [KAnonymity(2)],
            Mondrian(),
            output=tmp_path / "out.csv",
        )
    assert release.found is None
    assert release.evaluation.released == 24
