"""The adversary itself, counted by hand, and what it finds in releases that init suggests unedited."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import yaml

import linkage_adversary
from conftest import Command
from exposure_tables import TABLES, places
from label_covers import covers, read_number, unguard
from linkage_adversary import (
    Key,
    Linking,
    Sheet,
    known_columns,
    link,
    owned,
    people_of,
    read_original,
    read_release,
    stated_k,
    unread,
)


def sheet(text: str) -> Sheet:
    """Rows of cells separated by ``|``; names first."""
    header, *rows = [[cell.strip() for cell in line.split("|")] for line in text.strip().splitlines()]
    return Sheet(header, {name: [row[i] for row in rows] for i, name in enumerate(header)})


def key(found: Linking, *columns: str) -> Key:
    return next(k for k in found.keys if k.columns == columns)


def test_labels_cover_what_they_say() -> None:
    ages = ["19", "20", "24", "29", "30", "", "Unknown"]
    cases: list[tuple[list[str], str, set[str], dict[str, Any]]] = [
        (ages, "20-29", {"20", "24", "29"}, {}),
        (ages, "[20, 30)", {"20", "24", "29"}, {}),
        (ages, "[20; 30]", {"20", "24", "29", "30"}, {}),
        (ages, "20..24", {"20", "24"}, {}),
        (ages, "<20", {"19"}, {}),
        (ages, ">=29", {"29", "30"}, {}),
        (ages, "29+", {"29", "30"}, {}),
        (ages, "*", set(ages), {}),
        (ages, "", {""}, {}),
        (ages, "20.0", {"20"}, {}),
        (ages, "20", {"19", "20", "24"}, {"operation": {"round": 10}}),
        (ages, "24", {"24", "29", "30"}, {"operation": {"top": 24}}),
        (["-9", "-5", "0"], "[-10, -5]", {"-9", "-5"}, {}),
        (["1,5", "1,9", "2"], "[1,5; 2)", {"1,5", "1,9"}, {}),
        (["$1,200", "$950"], "1000-1999", {"$1,200"}, {}),
        (["28001", "28013", "28930", "8013"], "280**", {"28001", "28013"}, {}),
        (["28001", "8013"], "08***", {"8013"}, {}),
        (["ab", "ac", "b"], "{ab, b}", {"ab", "b"}, {}),
        (["Houston, TX", "Austin, TX", "Reno, NV"], "TX", {"Houston, TX", "Austin, TX"}, {}),
        (["E11.9", "E11.2", "F10"], "E11", {"E11.9", "E11.2"}, {}),
        (["2020-01-31", "2020-02-01", "2021-05-06"], "2020-01", {"2020-01-31"}, {}),
        (["2020-01-31", "2020-02-01", "2021-05-06"], "2020", {"2020-01-31", "2020-02-01"}, {}),
        (["2020-01-31", "2020-02-01", "2021-05-06"], "2020-Q1", {"2020-01-31", "2020-02-01"}, {}),
        (["2019-12-31", "2020-02-01", "2021-05-06"], "2020-2029", {"2020-02-01", "2021-05-06"}, {}),
        (["31/01/2020", "01/02/2020", "06/05/2021"], "01/2020", {"31/01/2020"}, {"format": "%d/%m/%Y"}),
        (["2020-01-31", "2020-02-04"], "week of 2020-01-27", {"2020-01-31"}, {}),
        (["2020-01-31", "2020-02-04"], "2020-02-01..2020-02-09", {"2020-02-04"}, {}),
        (["a", "b", "c"], "ab", {"a", "b"}, {"hierarchy": {"groups": {"ab": ["a", "b"]}}}),
        (["a", "b", "c"], "top", {"a", "b"}, {"hierarchy": {"tree": {"top": {"low": ["a"], "b": None}, "c": None}}}),
        (["a", "b", "c"], "x", {"c"}, {"hierarchy": {"rows": [["a", "y"], ["b", "y"], ["c", "x"]]}}),
        (["a", "a", "b", "c"], "other", {"b", "c"}, {"hierarchy": {"frequency": [2]}}),
        (["OH", "Michigan", "TX"], "Midwest", {"OH", "Michigan"}, {"hierarchy": {"known": "us-states"}}),
        (["RS", "SP"], "Sul", {"RS"}, {"hierarchy": {"known": "brazilian-states"}}),
        (["PER", "FRA"], "Americas", {"PER", "FRA"}, {"hierarchy": {"known": "countries"}}),
        (["25-34", "35-44"], "25-34", {"25-34"}, {}),
    ]
    wrong = []
    for values, label, expected, settings in cases:
        # A second label keeps values that nothing covers from belonging to this one.
        found = {v for v, numbers in zip(values, covers(values, [label, "nobody"], settings), strict=True) if 0 in numbers}
        if found != expected:
            wrong.append((label, expected, found))
    assert not wrong


def test_labels_that_nobody_reads_stand_for_the_values_that_are_not_shown() -> None:
    found = covers(["Lima", "Ica", "Puno", ""], ["Lima", "provinces", "*", ""])
    assert found == [(0, 2), (1, 2), (1, 2), (2, 3)]


def test_cells_are_read_as_people_write_them() -> None:
    texts = {"1,234.5": "1234.5", "1.234,5": "1234.5", "3,5": "3.5", "$2K": "2000", "12 %": "12", "01.08": "1.08", "x": None}
    wrong = {t: read_number(t) for t, n in texts.items() if (None if n is None else float(n)) != _float(read_number(t))}
    assert not wrong
    assert [unguard(c) for c in ("'-x", "'tis", "-5")] == ["-x", "'tis", "-5"]


def _float(number: Any) -> float | None:
    return None if number is None else float(number)


def test_people_are_linked_by_hand_count() -> None:
    original = sheet("""
        age | zip   | pay
        21  | 28001 | 100
        22  | 28001 | 200
        23  | 28002 | 100
        31  | 28002 | 300
        35  | 28013 | 100
    """)
    released = sheet("""
        age   | zip   | pay
        20-29 | 2800* | 100
        20-29 | 2800* | 200
        20-29 | 2800* | 100
        30-39 | 280** | 300
        30-39 | 280** | 100
    """)
    found = link(original, released, {}, k=3)
    assert key(found, "age") == Key(("age",), linked=0, few=2, alone=0, below=2)
    # 2800* or 280** for the first four: five people; the last is under 280** only: two.
    assert key(found, "zip") == Key(("zip",), linked=0, few=1, alone=0, below=2)
    assert key(found, "pay") == Key(("pay",), linked=2, few=2, alone=2, below=2)
    # 21 and 23 with 100 fit two; 22 with 200, 31 with 300 and 35 with 100 fit one.
    assert key(found, "age", "pay") == Key(("age", "pay"), linked=3, few=5, alone=3, below=5)
    # 28001 or 28002 with 100 fit three (35 too); with 200 and 300 one; 28013 with 100 one.
    assert key(found, "zip", "pay") == Key(("zip", "pay"), linked=3, few=3, alone=3, below=5)
    assert found.by_size == {1: (2, 3), 2: (3, 5), 3: (3, 5)}  # alone: 22, 31 and 35
    assert found.below_by_size[1] == (2, 3)
    assert (found.people, found.released, found.linked, found.few, found.below) == (5, 5, 3, 5, 5)
    assert [k.columns for k in found.offenders(1)] == [("pay",)]


def test_suppressed_people_fit_nobody_and_stars_fit_everybody() -> None:
    original = sheet("a\nx\nx\ny\nz")
    assert link(original, sheet("a\nx\nx"), {}, k=2).few == 0
    found = link(original, sheet("a\nx\n*\n*\n*"), {}, k=4)
    assert key(found, "a") == Key(("a",), linked=0, few=2, alone=1, below=4)  # y and z fit three, x four


def test_declared_columns_are_left_alone_unless_everything_is_asked_for() -> None:
    original = sheet("id | age | lab | gone\n1 | 20 | 5.1 | a\n2 | 20 | 5.2 | b")
    released = sheet("id | age | lab\n* | 20 | 5.1\n* | 20 | 5.2")
    project = {"columns": {"age": "quasi-identifier", "lab": {"role": "sensitive", "known": "never"}}}
    assert known_columns(project, released) == ["age"]
    assert link(original, released, project, k=2).linked == 0
    assert link(original, released, project, k=2, everything=True).linked == 2
    project["columns"]["lab"]["known"] = "possibly"  # type: ignore[index]
    assert link(original, released, project, k=2).linked == 2


def test_people_with_several_rows_are_counted_once() -> None:
    original = sheet("who | state | term\na | NY | 1\na | NY | 2\na | NY | 3\nb | TX | 1\nc | TX | 1\nNA | TX | 1\nNA | TX | 2")
    released = sheet("state | term\nNY | 1\nNY | 2\nNY | 3\nTX | 1\nTX | 1\nTX | 1\nTX | 2")
    rows = link(original, released, {"person": "who"}, k=3)
    assert key(rows, "state") == Key(("state",))
    people = people_of(original, {"person": "who"})
    found = link(original, released, {"person": "who"}, k=3, people=people, owners=people)
    assert found.people == 5
    assert key(found, "state") == Key(("state",), linked=1, few=1, alone=1, below=1)
    copies = sheet("a | b\n1 | x\n1 | x\n1 | x\n2 | x")
    owners = people_of(copies, {}, copies_are_one=True)
    found = link(copies, copies, {}, k=2, people=owners, owners=owners)
    assert (found.people, key(found, "a").linked, key(found, "b").few) == (2, 2, 0)
    assert copies.without_copies().rows() == [("1", "x"), ("2", "x")]


def brute(original: Sheet, released: Sheet, columns: tuple[str, ...], k: int, people: Any, owners: Any) -> Key:
    """The same counts from the definition."""
    under = {}
    for name in columns:
        labels = released.columns[name]
        under[name] = [{labels[i] for i in found} for found in covers(original.columns[name], labels)]
    linked, few, alone, below = set(), set(), set(), set()
    for i, who in enumerate(people):
        fits = {o for j, o in enumerate(owners) if all(released.columns[n][j] in under[n][i] for n in columns)}
        linked |= {who} if len(fits) == 1 else set()
        few |= {who} if 0 < len(fits) < k else set()
    for j, who in enumerate(owners):
        alike = {o for i, o in enumerate(owners) if all(released.columns[n][i] == released.columns[n][j] for n in columns)}
        alone |= {who} if len(alike) == 1 else set()
        below |= {who} if len(alike) < k else set()
    return Key(columns, len(linked), len(few), len(alone), len(below))


def test_every_way_of_counting_agrees_with_the_definition(monkeypatch: pytest.MonkeyPatch) -> None:
    lot = Random(11)
    for attempt in range(60):
        n = lot.randrange(3, 40)
        cells = {
            "a": [str(lot.randrange(30)) for _ in range(n)],
            "b": [lot.choice("xyz") for _ in range(n)],
            "c": [str(lot.randrange(6)) for _ in range(n)],
        }
        original = Sheet(list(cells), cells)
        width = [lot.choice((5, 10, 15)) for _ in range(n)]
        shown = {
            "a": [f"{int(v) // w * w}-{int(v) // w * w + w - 1}" for v, w in zip(cells["a"], width, strict=True)],
            "b": [v if lot.random() < 0.9 else "*" for v in cells["b"]] if attempt % 2 else cells["b"],
            "c": [v if lot.random() < 0.9 else f"[{v}, 7)" for v in cells["c"]] if attempt % 3 else cells["c"],
        }
        kept = [lot.random() < 0.9 for _ in range(n)]
        released = Sheet(list(shown), shown).keep(kept)
        people = np.array([lot.randrange(max(n // 2, 1)) for _ in range(n)]) if attempt % 4 > 1 else np.arange(n)
        owners = people[np.array(kept)]
        if not len(owners):
            continue
        monkeypatch.setattr(linkage_adversary, "PAIRS_PER_KEY", attempt % 2 * 20_000)
        monkeypatch.setattr(linkage_adversary, "PAIRS_AT_ONCE", lot.choice((7, 1000)))
        found = link(original, released, {}, 3, people=people, owners=owners)
        keys = [c for size in (1, 2, 3) for c in itertools.combinations("abc", size)]
        assert found.keys == [brute(original, released, c, 3, people, owners) for c in keys], attempt
        assert found.together == found.keys[-1]


def test_of_very_many_keys_the_most_telling_are_tried() -> None:
    lot = Random(3)
    cells = {f"q{i}": [str(lot.randrange(2)) for _ in range(60)] for i in range(12)}
    cells["id"] = [str(i) for i in range(60)]
    table = Sheet(list(cells), cells)
    found = link(table, table, {}, k=5, most=120)
    assert (len(found.keys), found.untried) == (120, 13 + 78 + 286 - 120)
    assert all("id" in k.columns for k in found.keys[91:])
    assert found.linked == 60


def test_owners_are_those_of_the_rows_in_the_order_of_the_original() -> None:
    original = sheet("who | a\nx | 1\ny | 2\nx | 3")
    people = people_of(original, {"person": "who"})
    released, owners = owned(original, sheet("a\n3\n1"), sheet("a\n1\n*\n3"), people)
    assert (released.columns["a"], owners.tolist()) == (["1", "3"], [0, 0])
    with pytest.raises(ValueError, match="another release"):
        owned(original, sheet("a\n3\n2"), sheet("a\n1\n*\n3"), people)
    with pytest.raises(ValueError, match="2 rows"):
        owned(original, sheet("a\n3\n1"), sheet("a\n1\n3"), people)
    assert [stated_k({"models": m}) for m in ([{"k-anonymity": {"k": 7}}], {"k-anonymity": {"k": 3}}, None)] == [7, 3, 5]


def test_labels_that_the_adversary_does_not_read_are_named() -> None:
    original = sheet("age | town\n21 | Lima\n30 | Ica\n40 | Ica")
    aligned = sheet("age | town\n20-29 | Lima\n20-29 | provinces\n* | *")
    assert unread(original, aligned, {}) == {"age": [("30", "20-29")]}


# Releases of what init writes

KINDS = {"number": {"integer", "number", "intervals"}, "date": {"date", "dates"}}
"""Types and hierarchies of columns that were recognised."""


def release(main: Command, table: Path, project: dict[str, Any], name: str) -> Sheet:
    """Run a project that init wrote; read what it released."""
    ended = main("run", name, "--json")
    assert ended.code == 0, f"{table.name}: run ended with {ended.code}: {ended.err or ended.out}"
    return read_release(table.parent / project["output"]["path"], project)


def test_a_release_is_safe_only_if_every_column_that_others_know_is_recoded(main: Command, tmp_path: Path) -> None:
    table = places(tmp_path, 400)
    recoded = {"role": "quasi-identifier", "type": "number", "hierarchy": {"intervals": [1000, 10000]}}
    columns: dict[str, Any] = {
        "age": {"role": "quasi-identifier", "type": "integer", "hierarchy": {"intervals": [10, 20]}},
        "zip_population": recoded,
        "zip_median_income": recoded,
    }
    project = {
        "source": table.name,
        "columns": columns,
        "rest": "drop",
        "models": [{"k-anonymity": {"k": 5}}],
        "method": "mondrian",
        "output": {"path": "out.csv"},
    }
    figures = []
    for income in (recoded, {"role": "insensitive", "exposure": "accepted"}):
        columns["zip_median_income"] = income
        (tmp_path / "project.yaml").write_text(yaml.safe_dump(project, sort_keys=False), encoding="utf-8")
        found = link(read_original(table, project), release(main, table, project, "project.yaml"), project, k=5)
        figures.append((found.linked, found.few, found.below))
    assert figures[0] == (0, 0, 0)
    assert min(figures[1]) > 200


@pytest.mark.thorough
@pytest.mark.parametrize("make", TABLES, ids=lambda make: make.__name__)
def test_nobody_is_linked_by_what_init_suggests_unedited(make: Callable[[Path], Path], main: Command, tmp_path: Path) -> None:
    table, betrayal = make(tmp_path), TABLES[make]
    ended = main("init", table.name, "--output", "project.yaml")
    assert ended.code == 0, f"init ended with {ended.code}: {ended.err}"
    project = yaml.safe_load((tmp_path / "project.yaml").read_text(encoding="utf-8"))
    original, released = read_original(table, project), release(main, table, project, "project.yaml")
    # In the order of the original: whose each row is, and whether the adversary reads what stands there.
    aligned = linkage_adversary.aligned_project(project, "aligned.csv")
    (tmp_path / "aligned.yaml").write_text(yaml.safe_dump(aligned, sort_keys=False), encoding="utf-8")
    in_order = release(main, table, aligned, "aligned.yaml")
    if betrayal.copies and len(in_order) < len(original):
        original = original.without_copies()  # as the release is
    assert not unread(original, in_order, project), "the adversary is too weak"
    # Whoever has several rows is one person, whatever the project says.
    people = people_of(original, {"person": betrayal.person} if betrayal.person else project, betrayal.copies)
    released, owners = owned(original, released, in_order, people)
    # Where rows are copies init raises k, so that as many different people are alike as it takes without copies.
    k = 5 if betrayal.copies else stated_k(project)
    found = link(original, released, project, k, people=people, owners=owners)
    share = project.get("allowance", 0)
    problems = []
    if max(found.linked, found.few) > share * found.people or found.below > share * found.released:
        problems += [f"people are linked beyond the allowance of {share}:", *found.lines()]
        problems += [
            f"  betrayed by {n}: {linkage_adversary.column_settings(project, n)}" for n in betrayal.by if n in found.columns
        ]
    shown = [n for n in betrayal.kept if n in released.names and released.columns[n].count("*") <= len(released) / 2]
    if len(shown) < (betrayal.kept_least or len(betrayal.kept)):
        problems.append(f"hardly anything is left of {', '.join(n for n in betrayal.kept if n not in shown)}")
    for name, kind in betrayal.kinds:
        settings = linkage_adversary.column_settings(project, name)
        if settings.get("type") not in KINDS[kind] and not KINDS[kind] & set(settings.get("hierarchy") or ()):
            problems.append(f"{name} is no {kind} any more: {settings}")
    if betrayal.person is not None and project.get("person") != betrayal.person:
        problems.append(f"person: {project.get('person')} instead of {betrayal.person}")
    assert not problems, "\n".join([table.name, *problems])
