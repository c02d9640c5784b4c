"""What a plan makes of a table: translations, selections, stars, dealing, noise, orders; in memory and in every format."""

import csv
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from engines.engines import AS_IT_IS, EngineUnderTest, Row, needs, per_engine, per_place, recoded, rows_of, text, translation
from velado.tables import Capability, ColumnType, Dealing, Noise, Plan, Published, Selection, Slot, Translation

SEX = {"f": "woman", "m": "man", None: "not said"}
WORDS = {"x": "an x", "X": "an x", "x ": None, "1": "one", "1.0": "one", "01": "=SUM(A1)", "\u00e9": "e", None: "-"}


@pytest.fixture
def fetched(engine: EngineUnderTest, people: pa.Table, tmp_path: Path) -> Any:
    """What a plan makes of the people."""

    def fetch(plan: Plan, order: str = "keep", table: pa.Table = people) -> list[Row]:
        with engine.open(table, "memory", tmp_path) as opened:
            return rows_of(opened.fetch(plan, order))

    return fetch


def changed(**columns: Mapping[str | None, str | None]) -> Plan:
    return Plan(tuple(translation(name, labels) for name, labels in columns.items()), Selection())


def rows_published(engine: EngineUnderTest, published: Published) -> list[Row]:
    """The rows of what was published, read by anything but Velado."""
    if isinstance(published.path, str):
        return rows_of(engine.published(published.path.partition("#")[2]))
    return rows_of(published.table) if published.path is None else written(published.path)


def written(path: Path) -> list[Row]:
    """The rows of a file, read by anything but Velado."""
    match path.suffix:
        case ".parquet":
            return rows_of(pa.parquet.read_table(path))
        case ".arrow":
            return rows_of(pa.feather.read_table(path))
        case ".xlsx":
            import openpyxl

            rows = openpyxl.load_workbook(path).active.iter_rows(min_row=2, values_only=True)
            return [tuple(text(cell) for cell in row) for row in rows]
    with open(path, newline="", encoding="utf-8") as stream:
        return [tuple(cell or None for cell in row) for row in list(csv.reader(stream))[1:]]


# --- Translations


@per_engine
def test_a_translation_replaces_values_and_leaves_out_unknown_ones(people: pa.Table, fetched: Any) -> None:
    assert fetched(changed(sex=SEX)) == recoded(rows_of(people), {1: SEX})
    assert fetched(changed(sex=SEX, word=WORDS)) == recoded(rows_of(people), {0: WORDS, 1: SEX})
    without = {k: v for k, v in SEX.items() if k is not None}
    assert fetched(changed(sex=without)) == recoded(rows_of(people), {1: without})
    assert fetched(changed(sex={})) == []


@per_engine
def test_replaced_columns_lose_no_rows(people: pa.Table, fetched: Any) -> None:
    plan = Plan((), Selection(), replaced=(translation("word", WORDS),))
    assert fetched(plan) == [(WORDS.get(word), *rest) for word, *rest in rows_of(people)]


@per_engine
def test_a_translation_by_another_column(people: pa.Table, fetched: Any) -> None:
    pairs = sorted({(w, s) for w, s, _ in rows_of(people) if w is not None and s is not None})
    labels = tuple(f"{w}|{s}" for w, s in pairs)
    by = Translation("word", tuple(w for w, _ in pairs), np.arange(len(pairs)), labels, "sex", tuple(s for _, s in pairs))
    expected = [(f"{w}|{s}" if (w, s) in pairs else None, s, who) for w, s, who in rows_of(people)]
    assert fetched(Plan((), Selection(), replaced=(by,))) == expected


NUMBERS = pa.table(
    {
        "age": pa.array([31, 38, None, 127, 31], pa.int8()),
        "cost": pa.array([Decimal("1.50"), None, Decimal("9.99"), Decimal("0.10"), Decimal("1.50")]),
        "born": pa.array([date(1990, 1, 2), date(1981, 3, 4), date(1990, 1, 2), None, date(2000, 2, 29)]),
        "well": pa.array([True, False, None, True, False]),
    }
)


NEW = {
    "age": {"31": "34", "38": "34", "127": "100", None: None},
    "cost": {"1.50": "1.75", "9.99": "0.00", "0.10": "0.10", None: "1.00"},
    "born": {"1990-01-02": "1990-01-01", "1981-03-04": "1980-01-01", "2000-02-29": "2000-02-29", None: None},
    "well": {"true": "true", "false": "true", None: "false"},
}
WIDER = {**NEW, "age": {"31": "300", "38": "-70000", "127": None}, "cost": {"1.50": "1000000.00", "9.99": "-0.01"}}


@per_engine
def test_typed_labels_are_values_of_the_columns_type(engine: EngineUnderTest, tmp_path: Path) -> None:
    plan = Plan(tuple(translation(c, labels, typed=True) for c, labels in NEW.items()), Selection())
    slot = Slot(engine.sink("memory", tmp_path, order="keep"))
    with engine.open(NUMBERS, "memory", tmp_path) as table:
        table.write(plan, slot)
        assert slot.fields == table.columns
        own = table.fetch(AS_IT_IS).schema.types
        as_texts = table.fetch(replace(plan, translations=tuple(replace(t, typed=False) for t in plan.translations)))
    assert slot.table is not None
    assert slot.table.schema.types == own
    assert rows_of(slot.table) == rows_of(as_texts) == recoded(rows_of(NUMBERS), dict(enumerate(NEW.values())))
    assert all(pa.types.is_string(f.type) for f in as_texts.schema)


@per_engine
def test_what_replaces_values_may_need_more_room(engine: EngineUnderTest, tmp_path: Path) -> None:
    """Operations make numbers that the column could not hold: it gets as wide as its type gets."""
    replaced = tuple(translation(c, labels, typed=True) for c, labels in WIDER.items())
    with engine.open(NUMBERS, "memory", tmp_path) as table:
        found = table.fetch(Plan((), Selection(), replaced=replaced))
    assert rows_of(found) == [
        tuple(labels.get(cell) for labels, cell in zip(WIDER.values(), row, strict=True)) for row in rows_of(NUMBERS)
    ]
    assert pa.types.is_integer(found.schema.field("age").type)
    assert pa.types.is_decimal(found.schema.field("cost").type)
    assert found.schema.field("cost").type.scale == 2


@per_engine
def test_typed_labels_that_do_not_change_keep_the_exact_type(engine: EngineUnderTest, tmp_path: Path) -> None:
    same = Plan((translation("age", {v: v for v in ("31", "38", "127", None)}, typed=True),), Selection())
    with engine.open(NUMBERS, "memory", tmp_path) as table:
        found = table.fetch(same)
        assert found.schema.types == table.fetch(AS_IT_IS).schema.types
    assert found.schema.field("age").type == (pa.int8() if engine.files or engine.name == "spark" else pa.int16())
    assert rows_of(found) == rows_of(NUMBERS)


@per_place("sources")
def test_no_value_is_taken_for_a_missing_one(engine: EngineUnderTest, kind: str, tmp_path: Path) -> None:
    """Whatever stands for missing values inside an engine may stand in a table, too."""
    odd = ["(missing)", "missing", "NULL", "None", "nan", "\u2400", "x"]
    odd += [] if kind == "xlsx" else ["\x01missing\x01", "\x01", "\x1f"]
    cells = [*odd, None, ""]
    table = pa.table({"cell": pa.array(cells), "row": pa.array([f"r{i}" for i in range(len(cells))])})
    labels = {**{word: f"label {i}" for i, word in enumerate(odd)}, None: "none"}
    with engine.open(table, kind, tmp_path) as opened:
        assert rows_of(opened.fetch(changed(cell=labels))) == recoded(rows_of(table), {0: labels})
        few = {"x": "x", None: "none"}
        assert rows_of(opened.fetch(changed(cell=few))) == recoded(rows_of(table), {0: few})
        assert opened.unseen(changed(cell=labels)) == {}
        assert set(opened.unseen(changed(cell={k: "" for k in labels if k != odd[-1]}))["cell"]) == {odd[-1]}


# --- Selections


def coded(labels: Mapping[str | None, str | None]) -> dict[str | None, int]:
    shown = list(dict.fromkeys(labels.values()))
    return {value: shown.index(label) for value, label in labels.items()}


@per_engine
@pytest.mark.parametrize("star", [False, True])
def test_kept_combinations(people: pa.Table, fetched: Any, star: bool) -> None:
    plan = changed(word=WORDS, sex=SEX)
    kept = np.array([[0, 0], [1, 2], [2, 1]])
    codes = coded(WORDS), coded(SEX)
    wanted = {tuple(row) for row in kept.tolist()}
    expected = []
    for word, sex, who in rows_of(people):
        if (codes[0].get(word), codes[1].get(sex)) in wanted:
            expected.append((WORDS[word], SEX[sex], who))
        elif star:
            expected.append(("*", "*", "*"))
    assert fetched(replace(plan, selection=Selection(kept, star))) == expected


@per_engine
@pytest.mark.parametrize("star", [False, True])
def test_nothing_is_kept(people: pa.Table, fetched: Any, star: bool) -> None:
    plan = replace(changed(sex=SEX), selection=Selection(np.zeros((0, 1), dtype=np.int64), star))
    assert fetched(plan) == [("*", "*", "*")] * (people.num_rows if star else 0)


@per_engine
def test_shown_labels_of_combinations(people: pa.Table, fetched: Any) -> None:
    """A combination shows other labels than those of its own codes: local recoding."""
    plan = changed(word=WORDS, sex=SEX)
    kept, shown = np.array([[0, 0], [0, 1], [2, 1]]), np.array([[2, 2], [0, 1], [1, 0]])
    words, sexes = list(dict.fromkeys(WORDS.values())), list(dict.fromkeys(SEX.values()))
    label = {tuple(k): (words[a], sexes[b]) for k, (a, b) in zip(kept.tolist(), shown.tolist(), strict=True)}
    codes = coded(WORDS), coded(SEX)
    expected = [
        (*label[combination], who)
        for word, sex, who in rows_of(people)
        if (combination := (codes[0].get(word), codes[1].get(sex))) in label
    ]
    assert fetched(replace(plan, selection=Selection(kept, shown=shown))) == expected


@per_engine
def test_a_selection_over_very_many_columns(engine: EngineUnderTest, tmp_path: Path) -> None:
    """More combinations of codes than 64 bits can number."""
    names = [f"n{i}" for i in range(40)]
    table = pa.table({n: pa.array([f"{(r * (i + 1)) % 5}" for r in range(30)]) for i, n in enumerate(names)})
    same = {str(v): str(v) for v in range(5)}
    kept = np.array([[r * (i + 1) % 5 for i in range(40)] for r in (1, 3)])
    plan = Plan(tuple(translation(n, same) for n in names), Selection(kept))
    with engine.open(table, "memory", tmp_path) as opened:
        assert rows_of(opened.fetch(plan)) == [row for row in rows_of(table) if row[0] in ("1", "3")]


# --- Dealing


@per_engine
def test_dealing_shares_equal_rows_out_at_random(engine: EngineUnderTest, tmp_path: Path) -> None:
    """So many rows of each combination as were asked for; which of them is chance."""
    n = 60
    table = pa.table({"q": pa.array(["a", "b"] * (n // 2)), "row": pa.array([str(i) for i in range(n)])})
    t = Translation("q", ("a", "b"), np.array([0, 1]), ("first", "second", "third"))
    dealing = Dealing(np.array([1, 11, 5]), np.array([10, 25, 30]))
    selection = Selection(np.array([[0], [0], [1]]), shown=np.array([[0], [1], [2]]), dealing=dealing)
    drawn = []
    with engine.open(table, "memory", tmp_path) as opened:
        for _ in range(2):
            rows = rows_of(opened.fetch(Plan((t,), selection)))
            assert Counter(label for label, _ in rows) == {"first": 10, "second": 15, "third": 26}
            assert len({row for _, row in rows}) == len(rows), "nobody is dealt twice"
            assert all((label == "third") == (int(row or 0) % 2 == 1) for label, row in rows)
            drawn.append(frozenset(row for label, row in rows if label == "first"))
    assert drawn[0] != drawn[1], "the same rows twice: one chance in 30 million"


@per_engine
def test_dealing_by_a_column(engine: EngineUnderTest, tmp_path: Path) -> None:
    ill = ["flu", "cold", "cold", None] * 10
    table = pa.table({"q": pa.array(["a"] * 40), "ill": pa.array(ill), "row": pa.array([str(i) for i in range(40)])})
    t = Translation("q", ("a",), np.array([0]), ("one", "two"))
    by = Translation("ill", ("flu", "cold", None), np.array([0, 1, 0]), ("x", "y"))
    # Of 20 rows with code 0 (flu or missing) 5 and 15, of 20 with code 1 all.
    dealing = Dealing(np.array([1, 6, 1]), np.array([5, 20, 20]), by, np.array([0, 0, 1]))
    plan = Plan((t,), Selection(np.array([[0], [0], [0]]), shown=np.array([[0], [1], [1]]), dealing=dealing))
    with engine.open(table, "memory", tmp_path) as opened:
        rows = rows_of(opened.fetch(plan))
    assert Counter((label, cell == "cold") for label, cell, _ in rows) == {("one", False): 5, ("two", False): 15, ("two", True): 20}
    assert len({row for *_, row in rows}) == 40


# --- Columns set to *, left out, known


@per_engine
def test_starred_and_dropped_columns(people: pa.Table, fetched: Any) -> None:
    plan = replace(changed(sex=SEX), starred=("who",), dropped=("word",))
    assert fetched(plan) == [(SEX[sex], "*") for _, sex, _ in rows_of(people)]


@per_engine
def test_known_columns_stay_as_they_are(people: pa.Table, fetched: Any) -> None:
    known = tuple((n, tuple(dict.fromkeys(people.column(n).to_pylist()))) for n in ("word", "who"))
    assert fetched(replace(AS_IT_IS, known=known)) == rows_of(people)


@per_place("sinks")
def test_the_fields_of_what_was_written(engine: EngineUnderTest, kind: str, tmp_path: Path) -> None:
    plan = Plan((translation("age", {"31": "30-39", "38": "30-39", "127": "*", None: None}),), Selection())
    with engine.open(NUMBERS, "memory", tmp_path) as table, engine.stage([engine.sink(kind, tmp_path, order="keep")]) as stage:
        table.write(replace(plan, dropped=("well",), starred=("born",)), stage.slots[0])
        fields = {f.name: f.type for f in stage.slots[0].fields}
    cost = ColumnType.TEXT if kind == "xlsx" else ColumnType.DECIMAL
    assert fields == {"age": ColumnType.TEXT, "cost": cost, "born": ColumnType.TEXT}


# --- Noise


def noise(seed: str, distribution: str = "laplace", **options: Any) -> Noise:
    numbers = {str(i): str(i) for i in range(100)}
    return Noise(translation("n", numbers), distribution, options.pop("scale", 5.0), seed, **options)


@per_engine
@pytest.mark.parametrize("distribution", ["laplace", "normal"])
def test_noise_follows_from_seed_and_row(engine: EngineUnderTest, distribution: str, tmp_path: Path) -> None:
    table = pa.table({"n": pa.array([i % 100 for i in range(2000)]), "who": pa.array([str(i) for i in range(2000)])})

    def drawn(seed: str, order: str = "keep", **options: Any) -> list[Row]:
        with engine.open(table, "memory", tmp_path) as opened:
            plan = Plan((), Selection(), noise=(noise(seed, distribution, **options),))
            return rows_of(opened.fetch(plan, order))

    if not needs(engine, Capability.ROW_NOISE, lambda: engine.engine.require(Capability.ROW_NOISE)):
        return
    once = drawn("a", decimals=2)
    assert once == drawn("a", decimals=2)
    assert Counter(once) == Counter(drawn("a", "shuffle", decimals=2)), "the noise of a row goes with it"
    assert sum(x != y for x, y in zip(once, drawn("b", decimals=2), strict=True)) > 1900
    assert all(len((cell or "").partition(".")[2]) == 2 for cell, _ in once)
    moved = np.array([float(cell or 0) - i % 100 for i, (cell, _) in enumerate(once)])
    assert abs(moved.mean()) < 1
    spread = 5 * np.sqrt(2) if distribution == "laplace" else 5
    assert abs(moved.std() / spread - 1) < 0.15
    assert all("." not in (cell or "") for cell, _ in drawn("a"))
    assert all("," in (cell or "") for cell, _ in drawn("a", decimals=1, comma=True))


@per_engine
def test_missing_values_get_no_noise(engine: EngineUnderTest, tmp_path: Path) -> None:
    table = pa.table({"n": pa.array([1, None, 3]), "who": pa.array(["a", "b", "c"])})
    with engine.open(table, "memory", tmp_path) as opened:
        rows = rows_of(opened.fetch(Plan((), Selection(), noise=(noise("a"),))))
    assert [cell is None for cell, _ in rows] == [False, True, False]


# --- Orders, in every format


@per_place("sinks")
@pytest.mark.parametrize("order", ["keep", "sorted", "shuffle"])
def test_orders(engine: EngineUnderTest, kind: str, order: str, people: pa.Table, tmp_path: Path) -> None:
    expected = recoded(rows_of(people), {1: SEX})

    def write(name: str) -> list[Row]:
        sink = engine.sink(kind, tmp_path, name=name, order=order, guard=False)
        with engine.open(people, "memory", tmp_path) as table, engine.stage([sink]) as stage:
            table.write(changed(sex=SEX), stage.slots[0])
            (published,) = stage.publish()
        return rows_published(engine, published)

    if order == "keep" and not needs(engine, Capability.ORDERED, lambda: engine.engine.require(Capability.ORDERED)):
        return
    found = write("out")
    assert Counter(found) == Counter(expected)
    if order == "keep":
        assert found == expected
    elif order == "sorted":
        assert found == sorted(expected, key=lambda row: [(cell is None, (cell or "").encode()) for cell in row])
        if kind in ("csv", "parquet", "arrow"):
            write("again")
            assert (tmp_path / f"again.{kind}").read_bytes() == (tmp_path / f"out.{kind}").read_bytes()
    else:
        assert found != expected
        assert found != write("again")


@per_place("sinks")
def test_typed_columns_in_every_format(engine: EngineUnderTest, kind: str, tmp_path: Path) -> None:
    """What is read back is what was in the table, text by text and type by type."""
    with engine.open(NUMBERS, "memory", tmp_path) as table, engine.stage([engine.sink(kind, tmp_path, order="keep")]) as stage:
        (slot,) = stage.slots
        table.write(AS_IT_IS, slot)
        with stage.read_back(slot) as back:
            assert rows_of(back.page(0, 9)) == rows_of(NUMBERS)
            if kind != "csv":
                assert [f.type for f in back.columns] == [f.type for f in slot.fields]


@per_engine
def test_sorted_numbers_are_sorted_as_numbers(engine: EngineUnderTest, tmp_path: Path) -> None:
    table = pa.table({"n": pa.array([10, 9, None, -1, 100])})
    with engine.open(table, "memory", tmp_path) as opened:
        assert opened.fetch(AS_IT_IS, "sorted").column("n").to_pylist() == [-1, 9, 10, 100, None]


@per_place("sinks")
def test_formulas_are_guarded_where_spreadsheets_read(engine: EngineUnderTest, kind: str, tmp_path: Path) -> None:
    cells = ["=1+1", "+a", "-5", "@x", "'=1", "plain", "-", "+351 912"]
    table = pa.table({"cell": pa.array(cells), "sex": pa.array(["f"] * len(cells))})
    with engine.open(table, "memory", tmp_path) as opened:
        for guard in (True, False):
            sink = engine.sink(kind, tmp_path, name=f"out{guard}", order="keep", guard=guard)
            with engine.stage([sink]) as stage:
                opened.write(changed(sex={"f": "=f"}), stage.slots[0])
                (published,) = stage.publish()
            found = rows_published(engine, published)
            if guard and kind in ("csv", "xlsx"):
                guarded = ["'=1+1", "'+a", "-5", "'@x", "''=1", "plain", "'-", "'+351 912"]
                assert found == [(cell, "'=f") for cell in guarded]
            elif engine.name == "spark":
                # Files of a table have no order.
                assert sorted(found) == sorted((cell, "=f") for cell in cells)
            else:
                assert found == [(cell, "=f") for cell in cells]
