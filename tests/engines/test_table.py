"""The verbs of a table: counting, asking, looking. Expected values come from plain Python over the rows."""

import hashlib
from collections import Counter
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.engines import AS_IT_IS, EngineUnderTest, counted, per_engine, per_file_engine, per_place, rows_of, save, translation
from harness.judge_hook import times
from velado import InputError
from velado.tables import NOBODY, Capability, Groups, Plan, Selection, Session, Slot, Source

COLUMNS = [["word"], ["sex"], ["word", "sex"], ["sex", "word", "who"]]

TYPED = pa.table(
    {
        "whole": pa.array([1, -7, None, 1, 2**40], pa.int64()),
        "small": pa.array([1, -128, None, 1, 127], pa.int8()),
        "real": pa.array([1.0, -0.0, 0.1, None, 1e300], pa.float64()),
        "amount": pa.array([Decimal("1.00"), Decimal("-0.50"), None, Decimal("1.00"), Decimal("99999.99")]),
        "day": pa.array([date(2020, 1, 2), None, date(1, 1, 1), date(2020, 1, 2), date(9999, 12, 31)]),
        "moment": pa.array(
            [datetime(2020, 1, 2), datetime(2020, 1, 2, 3, 4, 5), datetime(1960, 2, 29, 1, 2, 3, 400), None, None],
            pa.timestamp("us"),
        ),
        "truth": pa.array([True, False, None, True, True]),
    }
)


# --- Columns


@per_place("typed")
def test_columns_have_names_and_types(engine: EngineUnderTest, kind: str, tmp_path: Path) -> None:
    with engine.open(TYPED, kind, tmp_path) as table:
        assert list(table.header) == [f.name for f in table.columns] == TYPED.column_names
        names = {f.name: f.type.value for f in table.columns}
        assert names == {
            "whole": "integer",
            "small": "integer",
            "real": "float",
            "amount": "decimal",
            "day": "date",
            "moment": "timestamp",
            "truth": "boolean",
        }
        assert table.field("amount").decimals == 2
        assert table.type_of("day") is table.field("day").type


# --- Rows, distinct, count


@per_place("sources")
def test_rows(engine: EngineUnderTest, kind: str, people: pa.Table, tmp_path: Path) -> None:
    with engine.open(people, kind, tmp_path) as table:
        assert table.rows() == people.num_rows


@per_place("sources")
def test_counts_are_bytewise(engine: EngineUnderTest, kind: str, people: pa.Table, tmp_path: Path) -> None:
    """Capitals, blanks, NFC and NFD, 1 and 1.0 and 01 are different values, as their bytes are."""
    with engine.open(people, kind, tmp_path) as table:
        for columns in COLUMNS:
            assert counted(table.count(columns)) == Counter(rows_of(people, columns))
        assert table.count(["sex"]).names == ("sex",)
        assert counted(table.count([])) == Counter({(): people.num_rows})


@per_place("typed")
def test_counts_of_typed_columns_are_canonical_texts(engine: EngineUnderTest, kind: str, tmp_path: Path) -> None:
    with engine.open(TYPED, kind, tmp_path) as table:
        for name in TYPED.column_names:
            assert counted(table.count([name])) == Counter(rows_of(TYPED, [name])), name
        assert counted(table.count(TYPED.column_names)) == Counter(rows_of(TYPED))


ANY_TEXT = (
    st.none() | st.sampled_from(["a", "A", "a ", "\u00e9", "e\u0301", "1", "1.0", "01"]) | st.text("abE\u00c9\u0301 01", max_size=3)
)


@per_engine
def test_counts_of_any_table(engine: EngineUnderTest) -> None:
    """Small tables; few larger ones of Spark, which takes seconds for each."""
    spark = engine.name == "spark"
    any_row = st.tuples(ANY_TEXT, st.none() | st.booleans())
    tables = st.lists(any_row, max_size=20)

    @settings(max_examples=times(3 if spark else 20))
    @given(st.just([]) | st.lists(any_row, min_size=40, max_size=80) if spark else tables)
    def check(rows: list[tuple[str | None, bool | None]]) -> None:
        table = pa.table({"a": pa.array([a for a, _ in rows], pa.string()), "b": pa.array([b for _, b in rows], pa.bool_())})
        with engine.open(table, "memory", Path()) as opened:
            assert counted(opened.count(["a", "b"])) == Counter(rows_of(table))
            assert counted(opened.count(["b"])) == Counter(rows_of(table, ["b"]))

    check()


@per_engine
def test_lots_share_the_combinations_out(engine: EngineUnderTest, people: pa.Table, tmp_path: Path) -> None:
    """Every combination is in one lot, whole, and rows with the same ``by`` are in the same lot."""
    columns, by = ["word", "sex"], ["sex", "who"]
    with engine.open(people, "memory", tmp_path) as table:
        lots = [counted(table.count(columns, (i, 3), columns)) for i in range(3)]
        assert sum(lots, Counter()) == Counter(rows_of(people, columns))
        assert sum(len(lot) for lot in lots) == len(set(rows_of(people, columns)))
        lots = [counted(table.count([*by, "word"], (i, 3), by)) for i in range(3)]
        assert sum(lots, Counter()) == Counter(rows_of(people, [*by, "word"]))
        heads = [{row[:2] for row in lot} for lot in lots]
        assert not heads[0] & heads[1] | heads[1] & heads[2] | heads[0] & heads[2]
        assert sum(bool(lot) for lot in lots) > 1


@per_engine
def test_distinct_is_about_right(engine: EngineUnderTest, people: pa.Table, tmp_path: Path) -> None:
    many = pa.table({"n": pa.array(range(20_000)), "half": pa.array([i // 2 for i in range(20_000)])})
    with engine.open(many, "memory", tmp_path) as table:
        assert abs(table.distinct(["n"]) - 20_000) < 4_000
        assert abs(table.distinct(["half"]) - 10_000) < 2_000
        assert abs(table.distinct(["n", "half"]) - 20_000) < 4_000
    with engine.open(people, "memory", tmp_path) as table:
        assert abs(table.distinct(["sex"]) - 3) <= 1


@per_engine
def test_amounts_of_every_column(engine: EngineUnderTest, people: pa.Table, tmp_path: Path) -> None:
    with engine.open(people, "memory", tmp_path) as table:
        found = dict(table.amounts(people.column_names))
    for name in people.column_names:
        assert found[name] == Counter(cell for (cell,) in rows_of(people, [name]))


@per_engine
def test_amounts_of_very_many_columns(engine: EngineUnderTest, tmp_path: Path) -> None:
    wide = pa.table({f"n{i}": pa.array([i % 3, None, i % 2], pa.int64()) for i in range(450)})
    with engine.open(wide, "memory", tmp_path) as table:
        found = dict(table.amounts(wide.column_names))
    assert list(found) == wide.column_names
    assert all(found[n] == Counter(cell for (cell,) in rows_of(wide, [n])) for n in wide.column_names)


# --- Missing and repeated values, people


@per_place("sources")
def test_lacks_and_repeats(engine: EngineUnderTest, kind: str, tmp_path: Path) -> None:
    cells = {"alone": ["a", "A", "a "], "gap": ["a", None, "b"], "gaps": ["a", None, None], "twice": ["a", "b", "a"]}
    table = pa.table({name: pa.array(column, pa.string()) for name, column in cells.items()})
    with engine.open(table, kind, tmp_path) as opened:
        for name, column in cells.items():
            assert opened.lacks(name) is (None in column)
            values = [v for v in column if v is not None]
            assert opened.repeats(name) is (len(set(values)) < len(values))


@per_engine
@pytest.mark.parametrize("lots", [1, 3])
@pytest.mark.parametrize("besides", [None, "*"])
def test_groups_of_rows_that_are_alike(
    engine: EngineUnderTest, lots: int, besides: str | None, people: pa.Table, tmp_path: Path
) -> None:
    combinations = [["word"], ["sex"], ["sex", "word"], ["word", "sex"], ["sex", "word", "who"]]
    with engine.open(people, "memory", tmp_path) as table:
        for lacking in (False, True):
            expected = []
            for columns in combinations:
                rows = [r for r in rows_of(people, columns) if (lacking if r[-1] is None else r[-1] != besides)]
                sizes = Counter(rows).values()
                few = sum(n for n in sizes if n < 4)
                expected.append(Groups(len(rows), sum(n == 1 for n in sizes), few, len(sizes)))
            assert table.groups(combinations, [4] * 5, besides, lots, lacking) == expected
        assert table.groups([], []) == []


@per_engine
def test_shares_of_people(engine: EngineUnderTest, people: pa.Table, tmp_path: Path) -> None:
    own = Counter(who for (who,) in rows_of(people, ["who"]))
    expected: dict[tuple[str | None, ...], Fraction] = {}
    for word, sex, who in rows_of(people):
        expected[word, sex] = expected.get((word, sex), Fraction(0)) + Fraction(1, own[who])
    with engine.open(people, "memory", tmp_path) as table:
        counts, unit = table.shares(["word", "sex"], "who")
    assert {row: Fraction(n, unit) for row, n in counted(counts).items()} == expected


@per_engine
def test_rows_that_do_not_say_whose_they_are(engine: EngineUnderTest, tmp_path: Path) -> None:
    table = pa.table({"sex": ["f", "f", "f", "m", "m", "x"], "who": ["a", "a", None, "b", None, None]})
    with engine.open(table, "memory", tmp_path) as opened:
        counts, unit = opened.shares(["sex"], "who")
        members, numbers = opened.members(["sex"], "who")
    people = dict(zip((counts.dictionaries[0][code] for code in counts.codes[0]), counts.counts.tolist(), strict=True))
    assert people == {"f": unit, "m": unit, "x": 0}
    sexes = [members.dictionaries[0][code] for code in members.codes[0]]
    found = sorted(zip(sexes, (numbers == NOBODY).tolist(), members.counts.tolist(), strict=True))
    assert found == [("f", False, 2), ("f", True, 1), ("m", False, 1), ("m", True, 1), ("x", True, 1)]


@per_engine
def test_members_of_combinations(engine: EngineUnderTest, people: pa.Table, tmp_path: Path) -> None:
    with engine.open(people, "memory", tmp_path) as table:
        counts, numbers = table.members(["sex"], "who")
    sexes = [counts.dictionaries[0][code] for code in counts.codes[0]]
    assert len(np.unique(numbers)) == len(set(people.column("who").to_pylist()))
    expected: dict[str | None, list[int]] = {}
    for (sex, _), n in Counter(rows_of(people, ["sex", "who"])).items():
        expected.setdefault(sex, []).append(n)
    found: dict[str | None, list[int]] = {}
    for sex, n in zip(sexes, counts.counts.tolist(), strict=True):
        found.setdefault(sex, []).append(n)
    assert {k: sorted(v) for k, v in found.items()} == {k: sorted(v) for k, v in expected.items()}


@per_engine
def test_filled_rows(engine: EngineUnderTest, tmp_path: Path) -> None:
    table = pa.table({"a": ["*", "*", None, "x", "*"], "b": ["*", "x", "*", "x", "*"]})
    with engine.open(table, "memory", tmp_path) as opened:
        assert opened.count_constant_rows("*") == 2
        assert opened.count_constant_rows("x") == 1
        assert opened.count_constant_rows("it's") == 0
    with engine.open(pa.table({"n": pa.array([7, 7, 70])}), "memory", tmp_path) as opened:
        assert opened.count_constant_rows("7") == 2


@per_place("sources")
def test_unseen_values(engine: EngineUnderTest, kind: str, people: pa.Table, tmp_path: Path) -> None:
    words = {word for (word,) in rows_of(people, ["word"]) if word is not None}
    few = Plan((translation("word", dict.fromkeys(words - {"x ", "e\u0301"}, "w")),), Selection())
    all_of_them = Plan((translation("word", dict.fromkeys([*words, None], "w")),), Selection())
    none = Plan((translation("word", {}), translation("sex", {None: "?", "f": "F", "m": "M"})), Selection())
    with engine.open(people, kind, tmp_path) as table:
        assert set(table.unseen(few)["word"]) == {"x ", "e\u0301", "(missing)"}
        assert table.unseen(all_of_them) == {}
        found = table.unseen(none)
        assert list(found) == ["word"]
        assert len(found["word"]) == 5


# --- Looking


@per_place("sources")
def test_pages(engine: EngineUnderTest, kind: str, people: pa.Table, tmp_path: Path) -> None:
    rows = rows_of(people)
    with engine.open(people, kind, tmp_path) as table:
        assert rows_of(table.page(0, 10)) == rows[:10]
        assert rows_of(table.page(100, 10)) == rows[100:]
        by_who = sorted(rows, key=lambda row: row[2])
        assert rows_of(table.page(5, 20, sort="who")) == by_who[5:25]
        assert rows_of(table.page(0, 500, where={"sex": None, "word": "x "})) == [r for r in rows if r[1] is None and r[0] == "x "]
        assert table.page(0, 500, where={"word": "it's"}).num_rows == 3
        last = table.page(0, 500, sort="sex").column("sex").to_pylist()
        assert last == sorted(last, key=lambda s: (s is None, s or "")), "missing values are last"
        down = table.page(0, 500, sort="sex", descending=True).column("sex").to_pylist()
        assert down == [*(s for s in reversed(last) if s is not None), *(s for s in last if s is None)], "also then"


@per_place("typed")
def test_pages_of_typed_columns_are_texts(engine: EngineUnderTest, kind: str, tmp_path: Path) -> None:
    with engine.open(TYPED, kind, tmp_path) as table:
        assert table.page(0, 9).to_pylist() == [dict(zip(TYPED.column_names, row, strict=True)) for row in rows_of(TYPED)]
        sorted_by = table.page(0, 9, sort="whole").column("whole").to_pylist()
        assert sorted_by == ["-7", "1", "1", str(2**40), None], "numbers are sorted as numbers"
        assert table.page(0, 9, where={"amount": "1.00"}).num_rows == 2


@per_place("typed")
def test_all_rows_are_shown_as_pages_show_them(engine: EngineUnderTest, kind: str, tmp_path: Path) -> None:
    with engine.open(TYPED, kind, tmp_path) as table:
        shown = table.text_batches().read_all()
        assert {str(field.type) for field in shown.schema} == {"string"}
        assert sorted(map(repr, shown.to_pylist())) == sorted(map(repr, table.page(0, 99).to_pylist()))
        if Capability.ORDERED in engine.capabilities:
            assert shown.to_pylist() == table.page(0, 99).to_pylist()


# --- Identity, size, limits, the end


@per_place("sources")
def test_identity(engine: EngineUnderTest, kind: str, people: pa.Table, tmp_path: Path) -> None:
    source = engine.put(people, kind, tmp_path)
    with engine.engine.open(source, Session()) as table:
        table.check_unchanged()
        if source.database is not None:
            assert table.fingerprint()
            assert (table.size() or 0) > 0 or source.data is not None
            return
        if source.path is None:
            assert table.identity() is None
            assert table.fingerprint() is None
            assert table.size() is None
            return
        data = source.path.read_bytes()
        assert table.fingerprint() == hashlib.sha256(data).hexdigest()
        assert table.size() == len(data)
        source.path.write_bytes(data + b" ")
        with pytest.raises(InputError) as caught:
            table.check_unchanged()
        assert caught.value.code == "source-changed"
        with pytest.raises(InputError):
            table.fingerprint()


@per_file_engine
def test_a_source_that_changes_back_has_changed(engine: EngineUnderTest, people: pa.Table, tmp_path: Path) -> None:
    path = save(people, tmp_path / "in.parquet")
    data = path.read_bytes()
    with engine.engine.open(Source(path=path), Session()) as table:
        path.write_bytes(b"other")
        path.write_bytes(data)
        with pytest.raises(InputError) as caught:
            table.check_unchanged()
    assert caught.value.code == "source-changed"


@per_engine
def test_the_limit_of_memory(engine: EngineUnderTest, people: pa.Table, tmp_path: Path) -> None:
    with engine.open(people, "memory", tmp_path, Session(memory=100_000_000)) as table:
        assert table.memory == 100_000_000
        table.limit(200_000_000)
        assert table.memory == 200_000_000
        assert table.rows() == people.num_rows


@per_place("sources")
def test_a_closed_table_leaves_nothing_behind(engine: EngineUnderTest, kind: str, people: pa.Table, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    with engine.open(people, kind, tmp_path, Session(scratch=scratch)) as table:
        table.count(["word"])
        table.fetch(AS_IT_IS)
    assert list(scratch.iterdir()) == []
    before = sorted(p.name for p in tmp_path.iterdir())
    with pytest.raises(ZeroDivisionError), engine.open(people, kind, tmp_path, Session(scratch=scratch)):
        raise ZeroDivisionError
    assert list(scratch.iterdir()) == []
    assert sorted(p.name for p in tmp_path.iterdir()) == before


@per_engine
def test_what_is_not_declared_is_refused(engine: EngineUnderTest) -> None:
    for capability in Capability:
        if capability in engine.capabilities:
            engine.engine.require(capability)
        else:
            with pytest.raises(InputError) as caught:
                engine.engine.require(capability)
            assert caught.value.code == "engine-cannot"


def test_an_engine_that_can_nothing_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from engines.engines import DUCKDB

    poor = DUCKDB.engine
    object.__setattr__(poor, "capabilities", frozenset())
    for capability in Capability:
        with pytest.raises(InputError) as caught:
            poor.require(capability)
        assert caught.value.code == "engine-cannot"
        assert capability.value in caught.value.message
        assert caught.value.hint


@per_engine
def test_a_table_written_into_memory_is_the_table(engine: EngineUnderTest, people: pa.Table, tmp_path: Path) -> None:
    slot = Slot(engine.sink("memory", tmp_path, order="keep"))
    with engine.open(people, "memory", tmp_path) as table:
        table.write(AS_IT_IS, slot)
        assert slot.table is not None
        assert rows_of(slot.table) == rows_of(table.fetch(AS_IT_IS)) == rows_of(people)
        assert slot.fields == table.columns
        assert slot.digest() is None
