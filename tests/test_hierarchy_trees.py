"""Hierarchies as nested trees, at a glance, and drawn."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Command
from random_tables import random_hierarchy
from velado import InputError
from velado.hierarchies import Branch, Hierarchy, branches, build, build_preview, described, distribution_of, outline
from velado.i18n import Language
from velado.report.charts.tree import tree
from velado.report.formats.hierarchy import save_hierarchy_chart

ILL = {"*": {"lung": ["flu", "asthma"], "heart": ["angina"]}}


@st.composite
def hierarchies(draw: st.DrawFn, leaves: int = 12) -> Hierarchy:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = random_hierarchy(rng, "c", draw(st.integers(1, leaves)), draw(st.integers(1, 4)), draw(st.booleans()))
    rng.shuffle(rows)
    found = Hierarchy.from_rows("c", rows)
    return found.with_missing() if draw(st.booleans()) else found


# As a tree


@given(hierarchy=hierarchies())
def test_a_tree_and_its_hierarchy_are_inverse(hierarchy: Hierarchy) -> None:
    written = hierarchy.as_tree()
    read = Hierarchy.from_tree("c", json.loads(json.dumps(written)))
    assert sorted(read.rows()) == sorted(hierarchy.rows())
    assert (None in read.code) == (None in hierarchy.code)
    assert read.as_tree() == written
    read._check_nested(None)


def plain_tree(rows: list[list[str]]) -> Any:
    """From the definition: rows that end alike belong together."""
    if len(rows[0]) == 1:
        return [row[0] for row in rows]
    groups: dict[str, list[list[str]]] = {}
    for row in rows:
        groups.setdefault(row[-1], []).append(row[:-1])
    return {name: plain_tree(below) for name, below in groups.items()}


@given(hierarchy=hierarchies())
def test_a_tree_holds_what_the_rows_say(hierarchy: Hierarchy) -> None:
    def sets(node: Any) -> Any:
        return {k: sets(v) for k, v in node.items()} if isinstance(node, dict) else sorted(node)

    assert sets(hierarchy.as_tree()) == sets(plain_tree(hierarchy.rows()))


def test_the_tree_is_what_the_builder_reads() -> None:
    built = build("ill", {"tree": ILL}, ["flu"])
    assert sorted(built.rows()) == sorted(Hierarchy.from_tree("ill", ILL).rows())


@pytest.mark.parametrize(
    ("broken", "code"),
    [
        ({}, "bad-hierarchy"),
        ([], "bad-hierarchy"),
        ("flu", "bad-hierarchy"),
        (None, "bad-hierarchy"),
        ({"lung": {}}, "bad-hierarchy"),
        ({"lung": ["flu"], "heart": []}, "bad-hierarchy"),
        ({"lung": "flu"}, "bad-hierarchy"),
        ({"lung": ["flu", ["asthma"]]}, "bad-hierarchy"),
        ({"lung": [True]}, "bad-hierarchy"),
        ({"lung": ["flu"], "heart": {"muscle": ["angina"]}}, "ragged-hierarchy"),
        ({"lung": ["flu"], "heart": ["flu"]}, "ambiguous-leaf"),
        ({"lung": ["flu", "flu"]}, "ambiguous-leaf"),
        ({"a": {"same": ["flu"]}, "b": {"same": ["angina"]}}, "not-nested"),
    ],
    ids=str,
)
def test_what_is_no_tree_is_refused(broken: Any, code: str) -> None:
    with pytest.raises(InputError) as error:
        Hierarchy.from_tree("ill", broken)
    assert error.value.code == code
    assert error.value.column == "ill"


# At a glance


@given(hierarchy=hierarchies(), seed=st.integers(0, 2**32 - 1))
def test_a_preview_counts_groups_values_and_records(hierarchy: Hierarchy, seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = {leaf: int(rng.integers(1, 9)) for leaf in hierarchy.leaves if rng.random() < 0.7} | {"new": 3, "newer": 4}
    seen = hierarchy.preview(data)
    assert (seen.uncovered, seen.uncovered_records, seen.uncovered_examples) == (2, 7, ("new", "newer"))
    assert seen.unused == len(hierarchy.leaves) - (len(data) - 2)
    for level, row in enumerate(seen.levels):
        labels = hierarchy.label_of(level)
        groups = Counter(labels.values())
        records: Counter[str | None] = Counter()
        for value, n in data.items():
            if value in labels:
                records[labels[value]] += n
        assert (row.level, row.groups) == (level, len(groups))
        assert (row.smallest, row.largest) == (min(groups.values()), max(groups.values()))
        assert (row.fewest, row.most) == (min(records.values(), default=0), max(records.values(), default=0))
        assert set(row.examples) <= set(groups)
    assert hierarchy.preview().unused is None
    json.dumps(seen.as_dict())


def test_uncovered_values_are_told_before_they_are_refused() -> None:
    spec = {"groups": {"<b>north</b>": ["Burgos"], "south": ["Cádiz", "Málaga"]}}
    with pytest.raises(InputError):
        build("city", spec, ["Burgos", "Roma"])
    seen = build_preview("city", spec, {"Burgos": 5, "Roma": 2, None: 1})
    assert seen.uncovered_examples == ("Roma",)
    assert "1 value(s) of the data are not in the hierarchy, for example: Roma" in str(seen)
    assert "1 valor(es) de los datos no están en la jerarquía, por ejemplo: Roma" in seen.text("es")
    assert "(ausente)" in seen.text("pt")
    # A bare object at a prompt shows no value.
    assert repr(seen) == "<HierarchyPreview column: city, groups: 4 3 1, uncovered: 1>"
    page = seen._repr_html_()
    assert "&lt;b&gt;north" in page
    assert "<b>" not in page


# Drawn


def ends(branch: Branch) -> int:
    return 1 if not branch.children else sum(map(ends, branch.children))


def total(branch: Branch) -> int:
    """Values under a branch, those that are not shown included."""
    return branch.values if not branch.children else sum(map(total, branch.children))


@given(hierarchy=hierarchies(leaves=60), most=st.integers(1, 40))
def test_what_is_cut_is_counted(hierarchy: Hierarchy, most: int) -> None:
    root = branches(hierarchy, most)
    assert total(root) == root.values == len(hierarchy.leaves)
    # At least one child of every group is shown, so that only few groups can be too many.
    thinnest = branches(hierarchy, 1)
    assert ends(root) <= max(most, ends(thinnest))
    whole = branches(hierarchy, 10**6)
    assert ends(whole) == len(hierarchy.leaves)
    if ends(whole) <= most:
        assert root == whole


def test_a_highest_level_of_several_groups_hangs_from_the_column() -> None:
    several = Hierarchy.from_tree("ill", ILL["*"])
    root = branches(several)
    assert (root.label, [b.label for b in root.children]) == ("ill", ["lung", "heart"])
    shown = texts(tree(several, Language("en")).spec)
    assert "*" not in shown
    assert ("level 1" in shown, "level 2" in shown) == (True, False)
    assert branches(Hierarchy.from_tree("ill", ILL)).label == "*"


def texts(spec: dict[str, Any]) -> list[str]:
    return [row["text"] for layer in spec["layer"] for row in layer["data"]["values"] if "text" in row]


@pytest.mark.parametrize(("code", "more"), [("en", "… {} more"), ("es", "… {} más"), ("pt", "… mais {}")])
def test_a_drawn_tree_names_up_to_a_hundred_values(code: str, more: str) -> None:
    small = build("age", {"intervals": [5, 20]}, [str(n) for n in range(100)])
    shown = texts(tree(small, Language(code)).spec)
    assert {str(n) for n in range(100)} < set(shown)
    large = build("age", {"intervals": [100, 1000]}, [str(n) for n in range(1000)])
    shown = texts(tree(large, Language(code)).spec)
    assert len(shown) < 200
    hidden = 100 - sum(x.isdigit() and int(x) < 100 for x in shown)
    assert more.format(hidden) in shown


def test_no_labels_overlap() -> None:
    spec = tree(build("age", {"intervals": [5, 20]}, [str(n) for n in range(100)]), Language("en")).spec
    named = spec["layer"][1]["data"]["values"]
    places = sorted((row["x"], row["y"]) for row in named)
    for (x, y), (x2, y2) in itertools.pairwise(places):
        assert x != x2 or y2 - y >= 1
    assert max(row["x"] for row in named) < spec["width"]


def test_a_chart_is_written_and_bad_suffixes_are_refused(tmp_path: Path) -> None:
    hierarchy = Hierarchy.from_tree("ill", {"*": {"<script>": ["flu"], "heart": ["angina"]}})
    text = save_hierarchy_chart(hierarchy, tmp_path / "ill.svg").read_text(encoding="utf-8")
    assert {"flu", "angina", "heart", "level 2"} <= set(re.findall(r">([^<>]+)</text>", text))
    assert "<script>" not in text
    with pytest.raises(InputError, match="a chart is written as"):
        save_hierarchy_chart(hierarchy, tmp_path / "ill.gif")
    assert [p.name for p in tmp_path.iterdir()] == ["ill.svg"]


# The command


def test_the_command_shows_previews_and_trees(write_project, main: Command, tmp_path: Path) -> None:
    write_project(columns={"postal_code": {"role": "quasi-identifier", "hierarchy": {"mask": {"hide": [3]}}}})
    seen = main("hierarchy", "project.yaml", "postal_code", "--preview", "--language", "es")
    assert seen.code == 0
    assert "valores por grupo" in seen.out
    drawn = main("hierarchy", "project.yaml", "sex", "--tree", "--chart", "sex.svg")
    assert "── female" in drawn.out
    assert "Wrote sex.svg" in drawn.out
    assert (tmp_path / "sex.svg").exists()
    assert main("hierarchy", "project.yaml", "sex", "--tree", "--json").json["tree"] == {"*": ["female", "male"]}
    # Without them the hierarchy is written as ever.
    assert main("hierarchy", "project.yaml", "sex").out == "female;*\nmale;*\n"


def test_a_preview_tells_what_a_run_would_refuse(write_project, main: Command) -> None:
    write_project(columns={"sex": {"role": "quasi-identifier", "hierarchy": {"groups": {"person": ["female"]}}}})
    assert main("hierarchy", "project.yaml", "sex", "--tree").code == 2
    seen = main("hierarchy", "project.yaml", "sex", "--preview")
    assert seen.code == 0
    assert "not in the hierarchy, for example: male" in seen.out


def test_identifiers_are_not_previewed(write_project, main: Command) -> None:
    write_project()
    ended = main("hierarchy", "project.yaml", "name", "--preview")
    assert ended.code == 2
    assert "identifiers are not generalized and not shown" in ended.err


@given(hierarchy=hierarchies(), kind=st.sampled_from(["tree", "groups", "rows"]))
def test_a_hierarchy_is_described_by_its_values(hierarchy: Hierarchy, kind: str) -> None:
    written = json.loads(json.dumps(described(hierarchy, kind)))
    built = build("c", written, list(hierarchy.leaves))
    assert sorted(built.with_root().rows()) == sorted(hierarchy.with_root().rows())


def test_a_place_of_missing_values_is_described() -> None:
    found = Hierarchy.from_rows("c", [["a", "known", "*"], [None, "unknown", "*"], ["*", "unknown", "*"]])
    assert described(found) == {"rows": [["a", "known"], [None, "unknown"], ["*", "unknown"]]}
    assert build("c", described(found), list(found.leaves)).rows() == found.rows()


# What is chosen by


@given(hierarchy=hierarchies())
def test_an_outline_has_all_groups_side_by_side(hierarchy: Hierarchy) -> None:
    found = outline(hierarchy)
    for level, sizes in enumerate(found):
        assert sizes is not None
        assert Counter(sizes) == Counter(hierarchy.group_sizes(level).tolist())
    for below, above in itertools.pairwise(found):
        # Where a group ends, so does one of those below it.
        assert set(itertools.accumulate(above or ())) <= set(itertools.accumulate(below or ()))
    assert outline(hierarchy, 0) == [None] * hierarchy.levels


@given(values=st.dictionaries(st.floats(-1e6, 1e6).map(lambda x: round(x, 2)), st.integers(1, 50), min_size=1, max_size=200))
def test_a_distribution_has_all_records(values: dict[float, int]) -> None:
    found = distribution_of({repr(value): records for value, records in values.items()} | {None: 3})  # type: ignore[arg-type]
    assert found is not None
    assert (found.low, found.high) == (min(values), max(values))
    assert sum(found.records) == sum(values.values())
    assert len(found.records) <= 121
    for place, records in enumerate(found.records):
        inside = [n for v, n in values.items() if place == int((v - found.start) / found.width + 1e-9)]
        assert records == sum(inside)
    for percent, value in enumerate(found.percentiles, start=1):
        smaller = sum(n for v, n in values.items() if v <= value) * 100
        assert smaller >= percent * sum(values.values())
        assert value in values


@pytest.mark.parametrize("values", [{}, {"a": 1}, {"1": 1, "x": 2}, {None: 4}])
def test_other_values_have_no_distribution(values: dict[Any, int]) -> None:
    assert distribution_of(values) is None
