"""Hierarchies: every builder, every check, and what holds for all of them."""

import csv
import math
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from babel import Locale
from hypothesis import given, settings
from hypothesis import strategies as st

from velado import Column, Hierarchy, InputError, KAnonymity, Lattice, Mondrian, anonymize, build_hierarchy, evaluate
from velado.hierarchies import Cover
from velado.hierarchies.known_lists import brazilian_states, countries, fold_name, us_states
from velado.hierarchies.labels import interval_of
from velado.hierarchies.territories import REGIONS
from velado.methods import Fixed

quick = settings(max_examples=100, deadline=None)


def build(spec, values, **options):
    return build_hierarchy("column", spec, values, **options)


def rows(spec, values, **options):
    """The rows of a hierarchy without its root."""
    return build({**spec, "top": False}, values, **options).rows()


def error_of(code, spec, values, **options):
    """The error that a builder raises; all of them name the column and at most five values."""
    with pytest.raises(InputError) as caught:
        build(spec, values, **options)
    assert caught.value.code == code
    assert caught.value.column == "column"
    assert len(caught.value.values) <= 5
    return caught.value


def is_nested(rows):
    """Whether every level is a function of the one below it."""
    for level in range(1, len(rows[0])):
        parents = {}
        for row in rows:
            if parents.setdefault(row[level - 1], row[level]) != row[level]:
                return False
    return True


# --- Files ---


@pytest.mark.parametrize("delimiter", [";", ",", "\t", "|"])
@pytest.mark.parametrize("given", [False, True])
def test_file(tmp_path, delimiter, given):
    path = tmp_path / "jobs.csv"
    path.write_text("nurse;health;*\ndoctor;health;*\nclerk;office;*\n".replace(";", delimiter))
    spec = {"file": path, "delimiter": delimiter} if given else {"file": path}
    h = build(spec, ["clerk", "nurse"])
    assert h.rows() == [["nurse", "health", "*"], ["doctor", "health", "*"], ["clerk", "office", "*"]]
    assert (h.levels, h.height) == (3, 2)
    assert h.leaves == ("nurse", "doctor", "clerk"), "leaves that the data lack count as well"
    assert h.group_sizes(1).tolist() == [2, 1]
    assert h.label_of(1) == {"nurse": "health", "doctor": "health", "clerk": "office"}


def test_file_is_found_beside_the_project(tmp_path):
    (tmp_path / "sexes.csv").write_text("f;*\nm;*\n")
    assert build({"file": "sexes.csv"}, ["f"], folder=tmp_path).height == 1


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16"])
def test_file_encodings(tmp_path, encoding):
    path = tmp_path / "places.csv"
    path.write_bytes("Coruña;Galiza\nSão Paulo;SP\n".encode(encoding))
    spec = {"file": path} if encoding != "utf-16" else {"file": path, "encoding": encoding}
    assert build(spec, ["Coruña", "São Paulo"]).label_of(1)["São Paulo"] == "SP"


def test_file_with_quotes_and_lines_in_values(tmp_path):
    path = tmp_path / "h.csv"
    given = [["a;b", 'say "hi"', "*"], ["two\nlines", "x", "*"], ["line\u2028separator", "x", "*"]]
    with open(path, "w", newline="", encoding="utf-8") as out:
        csv.writer(out, delimiter=";").writerows(given)
    assert build({"file": path, "delimiter": ";"}, []).rows() == given


def test_file_has_an_empty_leaf_for_missing_values(tmp_path):
    path = tmp_path / "h.csv"
    path.write_text("a;A;*\n;unknown;*\n")
    assert build({"file": path}, ["a", None]).label_of(1) == {"a": "A", None: "unknown"}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "empty-hierarchy"),
        ("\n\n", "empty-hierarchy"),
        ("a;x;*\nb;*\n", "ragged-hierarchy"),
        ("a;x;*\na;y;*\n", "ambiguous-leaf"),
        ("a;x;u\nb;x;v\n", "not-nested"),
        ("b;x;*\n", "value-not-in-hierarchy"),
    ],
)
def test_bad_files(tmp_path, text, code):
    path = tmp_path / "h.csv"
    path.write_text(text)
    error = error_of(code, {"file": path, "delimiter": ";"}, ["a"])
    if code != "value-not-in-hierarchy":
        assert error.file == str(path)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"file": "nowhere.csv"}, "missing-file"),
        ({"file": "."}, "not-a-file"),
        ({"file": "h.csv", "encoding": "klingon"}, "wrong-encoding"),
        ({"file": "h.csv", "encoding": "utf-8"}, "wrong-encoding"),
        ({"file": "h.csv", "sheet": "x"}, "unknown-option"),
    ],
)
def test_files_that_cannot_be_read(tmp_path, options, code):
    (tmp_path / "h.csv").write_bytes("é;*\n".encode("latin-1"))
    error_of(code, options, ["é"], folder=tmp_path)


@pytest.mark.parametrize("delimiter", [";;", 5])
def test_a_delimiter_is_one_character(tmp_path, delimiter):
    (tmp_path / "h.csv").write_text("a;;*\n")
    with pytest.raises(InputError):
        build({"file": "h.csv", "delimiter": delimiter}, ["a"], folder=tmp_path)


# --- Intervals ---


def limits(h: Any, level: int) -> list[list[float]]:
    """What the labels of a level say."""
    return Cover.at_level(h, level).bounds.tolist()


def test_intervals_of_whole_numbers():
    h = build({"intervals": [5, 10, 20]}, ["34", "37", "52", "9"])
    assert h.rows() == [
        ["9", "5-9", "0-9", "0-19", "*"],
        ["34", "30-34", "30-39", "20-39", "*"],
        ["37", "35-39", "30-39", "20-39", "*"],
        ["52", "50-54", "50-59", "40-59", "*"],
    ]
    assert limits(h, 1) == [[5, 9], [30, 34], [35, 39], [50, 54]]
    assert limits(h, 0) == [[9, 9], [34, 34], [37, 37], [52, 52]]
    assert np.isnan(limits(h, h.height)).all()


@pytest.mark.parametrize("spec", [5, [5], {"widths": [5]}, {"widths": 5}, {"widths": [5], "origin": 0}])
def test_ways_to_write_one_width(spec):
    assert rows({"intervals": spec}, ["7"]) == [["7", "5-9"]]


def test_origin():
    assert rows({"intervals": {"widths": [10, 20], "origin": 18}}, ["17", "18", "27", "28"]) == [
        ["17", "[8, 17]", "[-2, 17]"],
        ["18", "[18, 27]", "[18, 37]"],
        ["27", "[18, 27]", "[18, 37]"],
        ["28", "[28, 37]", "[18, 37]"],
    ]


def test_cuts():
    h = build({"intervals": {"cuts": [[0, 18, 65], [18]]}}, ["-3", "0", "17", "18", "64", "65", "99"])
    assert [row[1:] for row in h.rows()] == [
        ["<0", "<18", "*"],
        ["0-17", "<18", "*"],
        ["0-17", "<18", "*"],
        ["18-64", ">=18", "*"],
        ["18-64", ">=18", "*"],
        [">=65", ">=18", "*"],
        [">=65", ">=18", "*"],
    ]
    numbers = h.scale.numbers
    assert limits(h, 1) == [[numbers.min(), 0], [0, 17], [18, 64], [65, numbers.max()]]
    assert rows({"intervals": {"cuts": [18, 65]}}, ["20"]) == [["20", "18-64"]]


def test_cuts_that_end_without_any():
    h = build({"intervals": {"cuts": [[18], []]}}, ["3", "40"])
    assert h.label_of(1) == {"3": "<18", "40": ">=18"}
    assert len(h.labels[2]) == 1


def test_intervals_of_width_one():
    assert rows({"intervals": [1]}, ["-3", "0", "7"]) == [["-3", "-3"], ["0", "0"], ["7", "7"]]


def test_intervals_of_negative_numbers():
    assert rows({"intervals": [10]}, ["-15", "-10", "-1", "0", "9"]) == [
        ["-15", "[-20, -11]"],
        ["-10", "[-10, -1]"],
        ["-1", "[-10, -1]"],
        ["0", "[0, 9]"],
        ["9", "[0, 9]"],
    ]


def test_intervals_of_real_numbers():
    assert rows({"intervals": [2, 4]}, ["1.5", "2.0", "3.5", "-0.5"]) == [
        ["-0.5", "[-2, 0)", "[-4, 0)"],
        ["1.5", "[0, 2)", "[0, 4)"],
        ["2.0", "[2, 4)", "[0, 4)"],
        ["3.5", "[2, 4)", "[0, 4)"],
    ]


def test_intervals_of_real_width():
    h = build({"intervals": [0.1, 0.5], "top": False}, ["0.3", "0.7", "-0.25", "3.5"])
    assert h.rows() == [
        ["-0.25", "[-0.3, -0.2)", "[-0.5, 0)"],
        ["0.3", "[0.3, 0.4)", "[0, 0.5)"],
        ["0.7", "[0.7, 0.8)", "[0.5, 1)"],
        ["3.5", "[3.5, 3.6)", "[3.5, 4)"],
    ]
    np.testing.assert_allclose(limits(h, 1), [[-0.3, -0.2], [0.3, 0.4], [0.7, 0.8], [3.5, 3.6]])


@pytest.mark.parametrize("spec", [[2.5], [0.5], {"widths": [5], "origin": 0.5}, {"cuts": [2.5, 4.5]}, {"cuts": [0.5, 6.25]}])
def test_whole_numbers_in_intervals_with_fractions(spec):
    """Whatever the label looks like, the bounds hold the values and the label names no number type."""
    values = [str(i) for i in range(-3, 9)]
    h = build({"intervals": spec}, values)
    for value in values:
        group = h.maps[1][h.code[value]]
        low, high = limits(h, 1)[group]
        assert low <= int(value) <= high
        assert "float" not in h.labels[1][group]
        low, high = shown(h.labels[1][group])
        assert low <= int(value) <= high


def shown(label):
    """The limits that a label shows."""
    if label.startswith("<"):
        return -math.inf, float(label[1:])
    if label.startswith(">="):
        return float(label[2:]), math.inf
    if label.startswith("["):
        low, high = label.strip("[)]").split(", ")
        return float(low), float(high)
    low, dash, high = label[1:].partition("-")
    return float(label[0] + low), float(high if dash else label)


def test_different_texts_of_a_number_are_different_leaves():
    h = build({"intervals": [5]}, ["3", "3.0", "03"])
    assert len(h.leaves) == 3
    assert set(h.label_of(1).values()) == {"0-4"}


@pytest.mark.parametrize("values", [["x", "3"], ["nan"], ["inf"], ["1.23,5"], [""], ["1-2"]])
def test_values_that_are_not_numbers(values):
    assert error_of("not-a-number", {"intervals": [5]}, values).values == values[:1]


def test_at_most_five_values_that_are_not_numbers():
    error = error_of("not-a-number", {"intervals": [5]}, list("abcdefgh"))
    assert error.values == list("abcde")
    assert "8 value(s)" in error.message


@pytest.mark.parametrize(
    "spec", [[5, 12], [10, 5], [5, 5], {"widths": [3, 10], "origin": 1}, {"cuts": [[0, 10], [5]]}, {"cuts": [[0], [0, 10]]}]
)
def test_intervals_must_be_nested(spec):
    assert "level 2" in error_of("not-nested", {"intervals": spec}, ["3"]).message


@pytest.mark.parametrize(
    "spec",
    [
        [],
        None,
        "5",
        [0],
        [-5],
        ["5"],
        [True],
        [math.nan],
        [math.inf],
        {},
        {"width": [5]},
        {"widths": [5], "cuts": [5]},
        {"widths": [5], "origin": "x"},
        {"cuts": []},
        {"cuts": "5"},
        {"cuts": [5, 3]},
        {"cuts": [3, 3]},
        {"cuts": ["a"]},
    ],
)
def test_bad_intervals(spec):
    error_of("bad-hierarchy", {"intervals": spec}, ["3"])


WIDTHS = st.tuples(st.integers(1, 30), st.lists(st.integers(2, 6), max_size=3)).map(
    lambda given: [given[0] * math.prod(given[1][:i]) for i in range(len(given[1]) + 1)]
)


@quick
@given(st.sets(st.integers(-10_000, 10_000), min_size=1, max_size=40), WIDTHS, st.integers(-50, 50))
def test_intervals_hold_their_values(numbers, widths, origin):
    h = build({"intervals": {"widths": widths, "origin": origin}}, [str(n) for n in numbers])
    assert is_nested(h.rows())
    for number in numbers:
        leaf = h.code[str(number)]
        for level, width in enumerate(widths, start=1):
            group = h.maps[level][leaf]
            low, high = limits(h, level)[group]
            assert low <= number <= high
            assert (high - low + 1, (low - origin) % width) == (width, 0)
            assert shown(h.labels[level][group]) == (low, high)


@quick
@given(st.sets(st.decimals(-100, 100, places=3), min_size=1, max_size=20), st.sampled_from([0.1, 0.25, 0.3, 0.7, 2.5]))
def test_intervals_hold_real_numbers(numbers, width):
    values = [str(n) for n in numbers]
    h = build({"intervals": [width, 3 * width], "top": False}, values)
    assert is_nested(h.rows())
    for value in values:
        for level in (1, 2):
            low, high = limits(h, level)[h.maps[level][h.code[value]]]
            assert low - 1e-9 <= float(value) <= high + 1e-9


@quick
@given(st.sets(st.integers(-30, 30), min_size=1, max_size=20), st.sets(st.integers(-30, 30), min_size=1, max_size=6))
def test_cuts_hold_their_values(numbers, cuts):
    h = build({"intervals": {"cuts": sorted(cuts)}}, [str(n) for n in numbers])
    for number in numbers:
        group = h.maps[1][h.code[str(number)]]
        low, high = limits(h, 1)[group]
        assert low <= number <= high
        inside = interval_of(h.labels[1][group])
        if inside is not None:
            through = [cut for cut in cuts if inside.holds(np.array([cut - 1, cut])).all()]
            assert not through, "no cut runs through an interval"


# --- Masks ---


def test_mask_right():
    assert rows({"mask": "right"}, ["4071", "4085", "9"]) == [
        ["4071", "407*", "40**", "4***"],
        ["4085", "408*", "40**", "4***"],
        ["9", "9***", "9***", "9***"],
    ]


def test_mask_left():
    assert rows({"mask": "left"}, ["abc", "zbc", "c"]) == [["abc", "*bc", "**c"], ["c", "**c", "**c"], ["zbc", "*bc", "**c"]]


def test_mask_hide():
    assert rows({"mask": {"hide": [2, 4]}}, ["abcde", "x"]) == [["abcde", "abc**", "a****"], ["x", "x****", "x****"]]
    assert rows({"mask": {"side": "left", "hide": [1, 9]}}, ["abc"]) == [["abc", "*bc", "***"]]


def test_masks_do_not_tell_the_length():
    h = build({"mask": "right"}, ["4", "40", "4071"])
    assert {len(label) for label in h.labels[1]} == {4}
    assert len(h.labels[2]) == 2
    assert h.labels[-1] == ("4***",)


@pytest.mark.parametrize(
    "spec",
    ["up", 5, None, {"side": "up"}, {"hide": 2}, {"hide": [2, 1]}, {"hide": [0]}, {"hide": [1, 1]}, {"hide": ["1"]}, {"x": 1}],
)
def test_bad_masks(spec):
    error_of("bad-hierarchy", {"mask": spec}, ["abc"])


@quick
@given(st.sets(st.text("ab*é", max_size=5), min_size=1, max_size=12), st.sampled_from(["left", "right"]))
def test_masks_are_nested(values, side):
    h = build({"mask": side}, sorted(values))
    assert is_nested(h.rows())
    longest = max(map(len, values))
    assert all(len(label) == longest for level in h.labels[1:-1] for label in level)


# --- Dates ---

UNITS = ["month", "quarter", "year", "five-years", "decade", "century"]


def test_dates_with_all_units():
    assert rows({"dates": UNITS}, ["1981-03-07", "1999-12-31", "2020-01-01"]) == [
        ["1981-03-07", "1981-03", "1981-Q1", "1981", "1980-1984", "1980-1989", "1900-1999"],
        ["1999-12-31", "1999-12", "1999-Q4", "1999", "1995-1999", "1990-1999", "1900-1999"],
        ["2020-01-01", "2020-01", "2020-Q1", "2020", "2020-2024", "2020-2029", "2000-2099"],
    ]


@pytest.mark.parametrize(
    ("pattern", "value", "month"),
    [
        ("%d/%m/%Y", "07/03/1981", "03/1981"),
        ("%m/%d/%Y", "03/07/1981", "03/1981"),
        ("%Y%m%d", "19810307", "1981-03"),
        ("%d.%m.%Y", "7.3.1981", "03/1981"),
        ("%Y-%m-%d %H:%M:%S", "1981-03-07 10:00:00", "1981-03"),
        (None, "1981-03-07", "1981-03"),
    ],
)
def test_date_formats(pattern, value, month):
    assert rows({"dates": ["month", "year"]}, [value], format=pattern) == [[value, month, "1981"]]


def test_weeks():
    values = ["2024-12-29", "2024-12-30", "2025-01-05"]
    assert [row[1] for row in rows({"dates": "week"}, values)] == ["week of 2024-12-23", "week of 2024-12-30", "week of 2024-12-30"]
    error = error_of("not-nested", {"dates": ["week", "year"]}, values)
    assert error.values == ["week of 2024-12-30"]


def test_leap_days_and_dates_that_do_not_exist():
    assert rows({"dates": ["year"]}, ["2024-02-29"]) == [["2024-02-29", "2024"]]
    wrong = ["2023-02-29", "31/12/2020", "2020", "yesterday", "2020-13-01", "2020-00-10"]
    error = error_of("not-a-date", {"dates": ["year"]}, ["2020-01-01", *wrong])
    assert error.values == wrong[:5]


@pytest.mark.parametrize("spec", [[], None, 5, ["fortnight"], [1], [["year"]], {"year": 1}])
def test_bad_dates(spec):
    error_of("bad-hierarchy", {"dates": spec}, ["2020-01-01"])


@quick
@given(st.sets(st.dates(date(1000, 1, 1), date(2999, 12, 31)), min_size=1, max_size=20))
def test_dates_are_nested(days):
    values = [day.isoformat() for day in days]
    h = build({"dates": UNITS}, values)
    assert is_nested(h.rows())
    for day, value in zip(days, values, strict=True):
        labels = dict(zip(UNITS, (h.label_of(level + 1)[value] for level in range(len(UNITS))), strict=True))
        assert labels["year"] == str(day.year)
        first, last = labels["decade"].split("-")
        assert int(first) <= day.year <= int(last) == int(first) + 9
    weeks = build({"dates": ["week"]}, values).label_of(1)
    for day in days:
        monday = day - timedelta(days=day.weekday())
        assert weeks[day.isoformat()] == f"week of {monday.isoformat()}"


# --- Paths ---


def test_path():
    assert rows({"path": "/"}, ["Centro/Sobral/CE", "Derby/Sobral/CE", "Crato/CE", "PE"]) == [
        ["Centro/Sobral/CE", "Sobral/CE", "CE"],
        ["Crato/CE", "Crato/CE", "CE"],
        ["Derby/Sobral/CE", "Sobral/CE", "CE"],
        ["PE", "PE", "PE"],
    ]


def test_path_with_the_most_specific_part_on_the_right():
    spec = {"path": {"separator": " > ", "specific": "right"}}
    assert rows(spec, ["ES > Asturias > Oviedo", "ES > Asturias", "PT"]) == [
        ["ES > Asturias", "ES > Asturias", "ES"],
        ["ES > Asturias > Oviedo", "ES > Asturias", "ES"],
        ["PT", "PT", "PT"],
    ]


@pytest.mark.parametrize("spec", ["", None, 5, {"separator": ""}, {"specific": "up"}, {"x": 1}])
def test_bad_paths(spec):
    error_of("bad-hierarchy", {"path": spec}, ["a/b"])


@quick
@given(st.sets(st.text("ab/", max_size=7), min_size=1, max_size=12), st.sampled_from(["left", "right"]))
def test_paths_are_nested(values, specific):
    assert is_nested(build({"path": {"separator": "/", "specific": specific}}, sorted(values)).rows())


# --- Trees and groups ---


def test_tree():
    spec = {"tree": {"heart": ["angina", "infarct"], "lung": ["asthma"]}}
    h = build(spec, ["angina"])
    assert h.rows() == [["angina", "heart", "*"], ["infarct", "heart", "*"], ["asthma", "lung", "*"]]
    assert build({"tree": {"*": spec["tree"]}}, ["angina"]).rows() == h.rows(), "the root may be written"


def test_tree_of_unequal_depth():
    spec = {"tree": {"heart": ["angina"], "lung": {"lower": ["asthma", "bronchitis"], "flu": None}, "none": []}}
    assert rows(spec, []) == [
        ["angina", "angina", "heart"],
        ["asthma", "lower", "lung"],
        ["bronchitis", "lower", "lung"],
        ["flu", "flu", "lung"],
        ["none", "none", "none"],
    ]


def test_tree_of_numbers():
    assert rows({"tree": {"low": [1, 2], "high": [10]}}, ["1", "10"])[0] == ["1", "low"]


@pytest.mark.parametrize("spec", [{}, [], None, "a", {"a": [None]}, {"a": [[]]}, {"*": None}, {"*": []}])
def test_bad_trees(spec):
    with pytest.raises(InputError) as caught:
        build({"tree": spec}, ["a"])
    assert caught.value.column == "column"


def test_groups():
    spec = {"office": ["clerk", "manager"], "field": ["nurse"]}
    assert rows({"groups": spec}, ["clerk"]) == [["clerk", "office"], ["manager", "office"], ["nurse", "field"]]
    assert rows({"groups": [spec, {"work": ["office", "field"]}]}, ["clerk"])[2] == ["nurse", "field", "work"]
    assert rows({"groups": {"one": 1, "word": "x"}}, ["1"]) == [["1", "one"], ["x", "word"]]


def test_groups_must_be_nested():
    twice = error_of("not-nested", {"groups": {"a": ["x"], "b": ["x"]}}, ["x"])
    assert twice.values == ["x"]
    assert "level 1" in twice.message
    lost = error_of("not-nested", {"groups": [{"a": ["x"], "b": ["y"]}, {"c": ["a"]}]}, ["x"])
    assert lost.values == ["b"]
    assert "level 2" in lost.message


@pytest.mark.parametrize("spec", [[], None, "a", ["a"], {"a": None}, {"a": [None]}, {"a": [["x"]]}, {}])
def test_bad_groups(spec):
    with pytest.raises(InputError) as caught:
        build({"groups": spec}, ["x"])
    assert caught.value.column == "column"


# --- What a description may say ---


def test_without_a_description_values_are_kept_or_hidden():
    assert build(None, ["b", "a"]).rows() == [["b", "*"], ["a", "*"]]


def test_top():
    assert build({"path": "/"}, ["a/b", "c/d"]).labels[-1] == ("*",)
    assert build({"path": "/", "top": False}, ["a/b", "c/d"]).labels[-1] == ("b", "d")


@pytest.mark.parametrize(
    ("spec", "code"),
    [
        ([5], "bad-hierarchy"),
        ("mask", "bad-hierarchy"),
        ({}, "bad-hierarchy"),
        ({"interval": [5]}, "bad-hierarchy"),
        ({"intervals": [5], "mask": "right"}, "bad-hierarchy"),
        ({"intervals": [5], "delimiter": ";"}, "unknown-option"),
    ],
)
def test_bad_descriptions(spec, code):
    error_of(code, spec, ["5"])


def test_a_misspelt_builder_gets_a_hint():
    assert "intervals" in error_of("bad-hierarchy", {"interval": [5]}, ["5"]).hint


# --- Checks ---


def test_every_value_must_be_covered():
    error = error_of("value-not-in-hierarchy", {"groups": {"a": ["x"]}}, ["x", *"abcdefg"])
    assert error.values == list("abcde")
    assert "level 0" in error.message
    assert "7 value(s)" in error.message


def test_a_ready_hierarchy_must_cover_the_values_too():
    ready = Hierarchy.from_rows("column", [["a", "*"]])
    assert build(ready, ["a"]) is ready
    assert error_of("value-not-in-hierarchy", ready, ["a", "b"]).values == ["b"]


def test_levels_must_be_nested():
    given = [[str(i), f"g{i // 2}", f"h{i}", "*"] for i in range(20)]
    with pytest.raises(InputError) as caught:
        Hierarchy.from_rows("column", given)
    assert caught.value.code == "not-nested"
    assert caught.value.column == "column"
    assert caught.value.values == [f"g{i}" for i in range(5)]
    assert "level 2" in caught.value.message
    assert "level 1" in caught.value.message


def test_leaves_must_be_unambiguous():
    assert Hierarchy.from_rows("c", [["a", "x"], ["a", "x"]]).rows() == [["a", "x"]], "a repeated row does no harm"
    with pytest.raises(InputError) as caught:
        Hierarchy.from_rows("column", [*([str(i), "x"] for i in range(9)), *([str(i), "y"] for i in range(9))])
    assert (caught.value.code, caught.value.values) == ("ambiguous-leaf", list("01234"))


def test_rows_must_be_equally_long():
    with pytest.raises(InputError) as caught:
        Hierarchy.from_rows("column", [["a", "x", "*"], *([c, "*"] for c in "bcdefgh")])
    assert (caught.value.code, caught.value.values) == ("ragged-hierarchy", list("bcdef"))


def test_a_hierarchy_has_rows():
    with pytest.raises(InputError) as caught:
        Hierarchy.from_rows("column", [])
    assert (caught.value.code, caught.value.column) == ("empty-hierarchy", "column")


ROWS = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(st.sampled_from("abc"), min_size=width, max_size=width), min_size=1, max_size=6)
)


@quick
@given(ROWS)
def test_hierarchies_are_accepted_if_and_only_if_they_are_nested(given):
    ambiguous = len({row[0] for row in given}) != len({tuple(row) for row in given})
    if ambiguous or not is_nested(given):
        with pytest.raises(InputError) as caught:
            Hierarchy.from_rows("column", given)
        assert caught.value.code == ("ambiguous-leaf" if ambiguous else "not-nested")
        return
    h = Hierarchy.from_rows("column", given)
    assert h.rows() == [list(row) for row in dict.fromkeys(map(tuple, given))]
    for level in range(1, h.levels):
        assert (h.parents(level)[h.maps[level - 1]] == h.maps[level]).all()
        assert h.group_sizes(level).sum() == len(h.leaves)


# --- Leading zeros, prefixes, parts of paths ---


def test_mask_puts_leading_zeros_back():
    spec = {"mask": {"side": "right", "fill": 5}}
    assert rows(spec, ["3104", "28013", "AB"]) == [
        ["28013", "2801*", "280**", "28***", "2****"],
        ["3104", "0310*", "031**", "03***", "0****"],
        ["AB", "AB***", "AB***", "AB***", "A****"],
    ]
    assert rows({"mask": {"side": "left", "fill": 3, "hide": [1]}}, ["7", "123"]) == [["123", "*23"], ["7", "*07"]]


@pytest.mark.parametrize("spec", [{"fill": 4}, {"fill": 0}, {"fill": True}, {"fill": "5"}, {"fill": 101}, {"fil": 5}])
@pytest.mark.parametrize("kind", ["mask", "prefix"])
def test_bad_fills(kind, spec):
    error_of("bad-hierarchy", {kind: {**spec, **({"lengths": [2]} if kind == "prefix" else {})}}, ["28013"])


@pytest.mark.parametrize("kind", ["mask", "prefix"])
def test_a_fill_that_is_too_short_says_what_would_do(kind):
    spec = {kind: {"fill": 4, **({"lengths": [2]} if kind == "prefix" else {})}}
    error = error_of("bad-hierarchy", spec, ["28013", "1"])
    assert error.values == ["28013"]
    assert "fill: 5" in error.hint


def test_prefixes():
    assert rows({"prefix": {"lengths": [4, 2], "fill": 6}}, ["150101", "10205"]) == [
        ["10205", "0102", "01"],
        ["150101", "1501", "15"],
    ]
    assert rows({"prefix": [4, 3, 1]}, ["E11.9", "E11", "J4"]) == [
        ["E11", "E11", "E11", "E"],
        ["E11.9", "E11", "E11", "E"],
        ["J4", "J4", "J4", "J"],
    ]


@pytest.mark.parametrize("spec", [[], None, "4", [2, 4], [2, 2], [0], [1.5], {"lengths": [2], "side": "left"}, {"fill": 5}])
def test_bad_prefixes(spec):
    error_of("bad-hierarchy", {"prefix": spec}, ["ab"])


@quick
@given(
    st.sets(st.text("aE1.-/ ", min_size=1, max_size=6), min_size=1, max_size=20),
    st.sets(st.integers(1, 7), min_size=1).map(lambda found: sorted(found, reverse=True)),
)
def test_prefixes_are_nested(values, lengths):
    h = build({"prefix": lengths}, sorted(values))
    assert is_nested(h.rows())
    for level, length in enumerate(lengths, start=1):
        for value, label in h.label_of(level).items():
            assert value.startswith(label)
            assert 0 < len(label) <= length


def test_paths_keep_what_is_asked_for():
    spec = {"path": {"separator": "-", "specific": "right", "keep": [3, 1]}}
    assert rows(spec, ["92-33-14-01"]) == [["92-33-14-01", "92-33-14", "92"]]
    assert rows({"path": ", "}, ["Houston, TX", "Rye, NY"]) == [["Houston, TX", "TX"], ["Rye, NY", "NY"]]


@pytest.mark.parametrize("keep", [[1, 2], [0], "1", [1, 1], ["a"]])
def test_bad_parts_of_paths(keep):
    error_of("bad-hierarchy", {"path": {"separator": "/", "keep": keep}}, ["a/b"])


# --- Known lists ---


def test_countries_in_three_languages_and_codes():
    values = ["Peru", "Perú", "Alemania", "Alemanha", "DE", "DEU", "United-States", "EE.UU.", "Trinidad y Tobago", "Côte d’Ivoire"]
    h = build({"known": "countries"}, values)
    assert h.label_of(1)["DEU"] == "Western Europe"
    assert {h.label_of(2)[v] for v in ("Alemania", "Alemanha", "DE")} == {"Europe"}
    assert {h.label_of(2)[v] for v in ("Peru", "Perú", "United-States", "EE.UU.", "Trinidad y Tobago")} == {"Americas"}
    spanish = build({"known": {"list": "countries", "language": "es", "levels": ["continent"]}}, values)
    assert spanish.label_of(1)["Peru"] == "América"
    assert spanish.levels == 3


def test_every_country_has_one_region():
    """Each ISO code is listed once, and no name in any language means two countries of different regions."""
    listed = [code for parts in REGIONS.values() for codes in parts.values() for code in codes.split()]
    assert len(listed) == len(set(listed)) == 249
    continent = {code: c for c, parts in REGIONS.items() for codes in parts.values() for code in codes.split()}
    english = Locale("en").territories
    members = countries("en")
    for language in ("en", "es", "pt"):
        for code, name in Locale(language).territories.items():
            if code in continent:
                assert members[fold_name(name)][1] == english[continent[code]], name


def test_states():
    us = build({"known": "us-states"}, ["TX", "Texas", "new york", "HI"])
    assert us.label_of(1) == {
        "HI": "Pacific",
        "TX": "West South Central",
        "Texas": "West South Central",
        "new york": "Middle Atlantic",
    }
    assert us.label_of(2)["Texas"] == "South"
    brazil = build({"known": "brazilian-states"}, ["SP", "Ceará", "ceara"])
    assert brazil.label_of(1) == {"SP": "Sudeste", "Ceará": "Nordeste", "ceara": "Nordeste"}
    assert len([m for m in us_states("en") if len(m) == 2]) == 51
    assert len([m for m in brazilian_states("en") if len(m) == 2]) == 27


def test_values_that_a_list_does_not_have():
    error = error_of("value-not-in-hierarchy", {"known": "countries"}, ["Peru", "Atlantis"])
    assert error.values == ["Atlantis"]
    assert "others" in error.hint
    h = build({"known": {"list": "countries", "others": "elsewhere"}}, ["Peru", "Atlantis"])
    assert [h.label_of(level)["Atlantis"] for level in (1, 2)] == ["elsewhere", "elsewhere"]


@pytest.mark.parametrize(
    "spec",
    [
        "planets",
        None,
        5,
        {},
        {"list": "countries", "language": "fr"},
        {"list": "countries", "others": ""},
        {"list": "countries", "x": 1},
        {"list": "countries", "levels": ["continent", "region"]},
        {"list": "countries", "levels": []},
        {"list": "us-states", "levels": ["continent"]},
    ],
)
def test_bad_known_lists(spec):
    error_of("bad-hierarchy", {"known": spec}, ["Peru"])


# --- Rare values ---


def test_rare_values_are_put_together():
    records = {"A": 80, "B": 20, "C": 3, "D": 3, None: 7}
    h = build({"frequency": [10, 50]}, records)
    assert h.rows() == [
        ["A", "A", "A", "*"],
        ["B", "B", "other 2", "*"],
        ["C", "other 1", "other 2", "*"],
        ["D", "other 1", "other 2", "*"],
        ["", "", "", "*"],
    ]
    one = build({"frequency": {"least": [10], "name": "rare"}, "top": False}, {"A": 10, "B": 9})
    assert one.rows() == [["A", "A"], ["B", "rare"]]
    error_of("records-unknown", {"frequency": [10]}, ["A"])


@pytest.mark.parametrize("spec", [[], 5, "5", [0], [10, 5], [5, 5], [1.5], {"least": [5], "name": ""}, {"least": [5], "x": 1}, {}])
def test_bad_frequencies(spec):
    error_of("bad-hierarchy", {"frequency": spec}, {"A": 1})


@quick
@given(
    st.dictionaries(st.sampled_from([*"abcdef", "other", "other 1", "other 2"]), st.integers(1, 40), min_size=1),
    st.sets(st.integers(1, 45), min_size=1, max_size=3).map(sorted),
)
def test_frequencies_are_nested(records, least):
    """A value is itself as long as it has enough records and is not named like a group."""
    h = build({"frequency": least}, records)
    assert is_nested(h.rows())
    for level, fewest in enumerate(least, start=1):
        names = ["other"] if len(least) == 1 else [f"other {i}" for i in range(1, len(least) + 1)]
        for value, label in h.label_of(level).items():
            assert label == (value if records[value] >= fewest and value not in names else names[level - 1])


def test_rare_values_of_a_release_are_counted_in_the_table():
    table = pa.table({"town": ["A"] * 6 + ["B"] * 6 + ["C"] * 2 + ["D"] * 2})
    columns = [Column("town", "quasi-identifier", hierarchy={"frequency": [5]})]
    release = anonymize(table, columns, [KAnonymity(4)], Lattice(suppression=0))
    assert sorted(release.table.column("town").to_pylist()) == ["A"] * 6 + ["B"] * 6 + ["other"] * 4
    again = evaluate(table, release.table, ["town"], hierarchies={"town": {"frequency": [5]}})
    assert again.utility.loss == pytest.approx(release.evaluation.utility.loss)


# --- One style of labels ---


@pytest.mark.parametrize("method", [Fixed({"t": 1}), Mondrian()])
def test_labels_of_negative_numbers_have_one_style(tmp_path, method):
    """No label begins with a sign, so none is guarded, and what is written is read back as it was."""
    (tmp_path / "t.csv").write_text("t\n" + "\n".join(map(str, range(-12, 12))) + "\n")
    columns = [Column("t", "quasi-identifier", type="integer", hierarchy={"intervals": [6, 12]})]
    release = anonymize(tmp_path / "t.csv", columns, [KAnonymity(6)], method, output=tmp_path / "out.csv")
    labels = set((tmp_path / "out.csv").read_text().replace('"', "").split("\n")[1:-1])
    assert labels == {"[-12, -7]", "[-6, -1]", "[0, 5]", "[6, 11]"}
    again = evaluate(tmp_path / "t.csv", tmp_path / "out.csv", ["t"])
    assert again.utility.loss == pytest.approx(release.evaluation.utility.loss)
    assert (again.aggregates["t"].after.min, again.aggregates["t"].after.max) == (-12, 11)


def test_labels_of_negative_numbers_with_decimal_commas():
    assert rows({"intervals": [2]}, ["-1,0", "3,0"]) == [["-1,0", "[-2; -1]"], ["3,0", "[2; 3]"]]


# --- Missing values ---

SPECS = {
    "none": None,
    "intervals": {"intervals": [5, 10]},
    "one interval": {"intervals": [1000]},
    "cuts": {"intervals": {"cuts": [20]}},
    "mask": {"mask": "right"},
    "path": {"path": "/"},
    "prefix": {"prefix": [1]},
    "known": {"known": {"list": "countries", "others": "other"}},
    "dates": {"dates": ["month", "year"]},
    "tree": {"tree": {"a": ["11", "12"], "b": ["93"]}},
    "groups": {"groups": {"all": ["11", "12", "93"]}},
}
FORMATS = {"dates": "%y"}


@pytest.mark.parametrize("name", SPECS)
def test_missing_is_a_group_of_its_own_until_the_root(name):
    values = ["11", "12", "93"]
    h = build(SPECS[name], [*values, None], format=FORMATS.get(name))
    for level in range(h.height):
        group = h.maps[level][h.code[None]]
        assert h.labels[level][group] is None
        assert h.group_sizes(level)[group] == 1
    assert h.labels[-1] == ("*",), "at the root missing values are like all others"
    assert set(h.maps[-1]) == {0}


@pytest.mark.parametrize("name", SPECS)
def test_a_column_may_be_missing_altogether(name):
    h = build(SPECS[name], [None, None], format=FORMATS.get(name))
    assert h.encode([None]).tolist() == [h.code[None]]
    assert len(h.labels[-1]) == 1, "the highest level is one group"


def test_intervals_of_missing_values_have_no_bounds():
    h = build({"intervals": [5]}, ["3", None, "12"])
    for level in (0, 1):
        group = h.maps[level][h.code[None]]
        assert np.isnan(limits(h, level)[group]).all()
        assert len(limits(h, level)) == len(h.labels[level])


def test_a_missing_value_can_be_generalized_away():
    """One missing age among others in one interval: at the root the table is 2-anonymous without suppression."""
    columns = [Column("age", "quasi-identifier", hierarchy={"intervals": [100]})]
    release = anonymize(pa.table({"age": ["31", "32", None]}), columns, [KAnonymity(2)], Lattice(suppression=0))
    assert release.table.column("age").to_pylist() == ["*", "*", "*"]


def test_missing_values_are_released_as_missing_below_the_root():
    columns = [Column("age", "quasi-identifier", hierarchy={"intervals": [10]})]
    table = pa.table({"age": ["31", "32", None, None]})
    release = anonymize(table, columns, [KAnonymity(2)], Fixed({"age": 1}))
    assert sorted(release.table.column("age").to_pylist(), key=str) == ["30-39", "30-39", None, None]


@pytest.mark.parametrize("name", SPECS)
def test_missing_values_can_be_refused(name):
    error_of("missing-values", SPECS[name], ["11", None], missing="reject")
    assert None not in build(SPECS[name], ["11"], missing="reject", format=FORMATS.get(name)).leaves


# --- Export and import ---


@pytest.mark.parametrize("delimiter", [";", ",", "\t"])
@pytest.mark.parametrize("name", SPECS)
def test_export_and_import(tmp_path, name, delimiter):
    values = ["11", "12", "93"]
    h = build(SPECS[name], values, format=FORMATS.get(name))
    h.save(tmp_path / "h.csv", delimiter)
    again = build({"file": tmp_path / "h.csv", "delimiter": delimiter}, values)
    assert (again.labels, [m.tolist() for m in again.maps]) == (h.labels, [m.tolist() for m in h.maps])


def test_export_and_import_of_missing_values(tmp_path):
    h = build({"intervals": [5, 10]}, ["3", "12", None])
    h.save(tmp_path / "h.csv")
    again = build({"file": tmp_path / "h.csv"}, ["3", "12", None])
    assert again.labels == h.labels


def test_exported_files_are_read_without_naming_the_delimiter(tmp_path):
    given = [["Silva, Ana, Rui", "a, b, c", "*"], ["Costa, Eva, Ivo", "d, e, f", "*"]]
    Hierarchy.from_rows("column", given).save(tmp_path / "h.csv")
    assert build({"file": tmp_path / "h.csv"}, []).rows() == given


LEAVES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00\ufeff"), min_size=1, max_size=6)


@quick
@given(st.dictionaries(LEAVES, st.sampled_from(["x", "a b", 'q"', ";", "é"]), min_size=1, max_size=8))
def test_export_and_import_of_any_text(tmp_path_factory, parents):
    path = tmp_path_factory.mktemp("hierarchy") / "h.csv"
    given = [[leaf, parent, "*"] for leaf, parent in parents.items()]
    Hierarchy.from_rows("column", given).save(path)
    assert build({"file": path, "delimiter": ";"}, list(parents)).rows() == given


# --- Times


def test_times_without_a_format_are_canonical_texts():
    values = ["2020-01-02 03:04:05", "2020-01-02 00:00:00", "2020-02-01 23:59:59.999999", "2020-01-01"]
    assert rows({"dates": ["month", "year"]}, values) == [
        ["2020-01-01", "2020-01", "2020"],
        ["2020-01-02 00:00:00", "2020-01", "2020"],
        ["2020-01-02 03:04:05", "2020-01", "2020"],
        ["2020-02-01 23:59:59.999999", "2020-02", "2020"],
    ]
    for value in ("2020-01-02 03:04:05", "2020-01-02 03:04:05+00"):
        assert rows({"dates": ["week"]}, [value]) == [[value, "week of 2019-12-30"]]


def test_texts_that_are_no_canonical_times():
    wrong = ["2020-01-02T03:04:05", "2020-01-02 03:04", "2020-01-02 25:00:00", "2020-01-02 03:04:05+01", "20200102"]
    error = error_of("not-a-date", {"dates": ["year"]}, ["2020-01-01", *wrong])
    assert sorted(error.values) == sorted(wrong)
    with pytest.raises(InputError) as caught:
        build({"dates": ["year"]}, ["2020-01-02 03:04:05"], format="%Y-%m-%d")
    assert caught.value.code == "not-a-date", "a format that is given is the only one"


def test_labels_of_times():
    """All midnights: days. Else every label is a time, and its limits hold what it was made of."""
    days = build({"dates": ["year"]}, ["2020-01-02 00:00:00", "2020-01-05 00:00:00"]).scale
    assert days.between(*map(days.text, days.numbers)) == "2020-01-02..2020-01-05"
    assert days.limits("2020-01-02..2020-01-05") == tuple(days.numbers)
    times = build({"dates": ["year"]}, ["2020-01-02 00:00:00", "2020-01-05 06:30:00.123456"]).scale
    low, high = times.numbers
    assert times.between(times.text(low), times.text(high)) == "2020-01-02 00:00:00..2020-01-05 06:30:00.123"
    first, last = times.limits(times.between(times.text(low), times.text(high)))
    assert first <= low < high <= last < high + 1e-7
    assert times.text((low + high) / 2) == "2020-01-03 15:15:00.062"
    assert times.limits("2020-01-02..soon") is None


@given(st.lists(st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 30)), min_size=1, max_size=10, unique=True))
def test_times_keep_their_order(moments):
    values = [m.isoformat(" ", "microseconds").rstrip("0").rstrip(".") for m in moments]
    h = build({"dates": ["year"]}, values)
    assert list(h.leaves) == sorted(values)
    assert (np.diff(h.scale.numbers) >= 0).all()
    for number, leaf in zip(h.scale.numbers, h.leaves, strict=True):
        shown = datetime.fromisoformat(h.scale.text(number))
        assert abs((shown - datetime.fromisoformat(leaf)).total_seconds()) <= 0.00052 or h.scale.whole
