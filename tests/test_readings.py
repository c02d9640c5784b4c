"""How people write numbers, dates and nothing at all: what a column is read as, and which hierarchy suggests itself."""

from __future__ import annotations

import random
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import velado.dates
from test_mondrian import in_parts, rows_of
from velado import (
    Column,
    InputError,
    KAnonymity,
    Lattice,
    Mondrian,
    Output,
    Project,
    anonymize,
    build_hierarchy,
    evaluate,
    inspect_table,
    run,
)
from velado.dates import day_format, language_of, read_date, read_in, whole_year, write_date
from velado.hierarchies.calendar import parse_dates
from velado.numbers import column_notation, notation_of, numbers_of
from velado.operations import Given, operation_from
from velado.recognition.hierarchies import BY_FREQUENCY, suggest_hierarchy
from velado.recognition.missing_markers import missing_marker, unmistakable_marker
from velado.recognition.types import Reading, reading_of

quick = settings(max_examples=100, deadline=None)


def reading(*values: str) -> Reading:
    return reading_of(dict.fromkeys(values, 1))


def suggested(name: str, values: Any) -> Any:
    amount = dict(values) if isinstance(values, dict) else dict.fromkeys(map(str, values), 1)
    read = reading_of(amount)
    return suggest_hierarchy(name, read, {v: n for v, n in amount.items() if v not in read.missing}).spec


# Two-digit years


@pytest.mark.parametrize(
    ("now", "digits", "year"),
    [(2026, 63, 1963), (2026, 26, 2026), (2026, 27, 1927), (2026, 0, 2000), (2000, 0, 2000), (2099, 99, 2099), (2100, 1, 2001)],
)
def test_two_digits_are_the_last_such_year(monkeypatch: Any, now: int, digits: int, year: int) -> None:
    monkeypatch.setattr(velado.dates, "this_year", lambda: now)
    assert whole_year(digits) == year
    # The plain way to say it: count back from now.
    assert year == next(y for y in range(now, now - 100, -1) if y % 100 == digits)


def test_two_digit_years_are_read_alike_everywhere(monkeypatch: Any, tmp_path: Path) -> None:
    """Hierarchies, order, distances and operations: 63 is 1963, though strptime says 2063."""
    monkeypatch.setattr(velado.dates, "this_year", lambda: 2026)
    values = ["05/06/63", "31/12/26", "01/01/27"]
    assert parse_dates("born", values, "%d/%m/%y") == [datetime(1963, 6, 5), datetime(2026, 12, 31), datetime(1927, 1, 1)]
    rows = build_hierarchy("born", {"dates": ["month", "year"]}, values, format="%d/%m/%y").rows()
    assert rows[0][:3] == ["01/01/27", "01/1927", "1927"]
    assert [row[0] for row in rows] == ["01/01/27", "05/06/63", "31/12/26"]
    key = tmp_path / "key"
    key.write_text("8d1f03c5e7a94b26" * 4)
    key.chmod(0o600)
    shift = operation_from({"shift": {"key": f"file:{key}", "days": [1, 1]}})
    labels = shift.labels(["31/12/26", "28/02/64"], Given("born", "born", format="%d/%m/%y"))  # type: ignore[attr-defined]
    assert labels == ["01/01/27", "29/02/64"]


# Formats of dates

NUMERIC = ["%Y-%m-%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%Y%m%d", "%d/%m/%Y %H:%M", "%Y-%m-%dT%H:%M:%S", "%d-%b-%Y", "%d %B %Y"]


@quick
@given(st.datetimes(datetime(1000, 1, 1), datetime(9999, 12, 31)), st.sampled_from(NUMERIC))
def test_dates_are_read_as_strptime_reads_them(moment: datetime, format: str) -> None:
    text = moment.strftime(format)
    assert read_date(text, format) == datetime.strptime(text, format)


@quick
@given(st.text("0123456789/-. T:", max_size=19), st.sampled_from(NUMERIC[:7]))
def test_what_strptime_refuses_is_refused(text: str, format: str) -> None:
    try:
        expected = datetime.strptime(text, format)
    except ValueError:
        expected = None
    assert read_date(text, format) == expected


@pytest.mark.parametrize(
    ("text", "format", "day"),
    [
        ("3-mar-2020", "%d-%b-%Y", date(2020, 3, 3)),
        ("3-ENE-2020", "%d-%b-%Y", date(2020, 1, 3)),
        ("15 Dez. 2020", "%d %b %Y", date(2020, 12, 15)),
        ("7 de março de 1981", "%d de %B de %Y", date(1981, 3, 7)),
        ("7 de SETIEMBRE de 1981", "%d de %B de %Y", date(1981, 9, 7)),
        ("1 foo 2020", "%d %b %Y", None),
        ("29/02/2021", "%d/%m/%Y", None),
        ("2021 200", "%Y %j", date(2021, 7, 19)),
    ],
)
def test_names_of_months(text: str, format: str, day: date | None) -> None:
    found = read_date(text, format)
    assert (None if found is None else found.date()) == day


@pytest.mark.parametrize(("language", "words"), [("en", "Jan Apr Dec"), ("es", "ene ABR dic"), ("pt", "jan abr dez set")])
def test_dates_are_written_in_the_language_of_their_column(language: str, words: str) -> None:
    values = [f"07-{word}-1981" for word in words.split()]
    assert language_of(values) == language
    for value in values:
        moment = read_date(value, "%d-%b-%Y")
        assert moment is not None
        assert write_date(moment, "%d-%b-%Y", language, value) == value


def test_several_formats() -> None:
    formats = ["%d/%m/%Y", "%Y-%m-%d"]
    values = ["31/12/1999", "2000-01-01", "1/2/1963"]
    assert parse_dates("x", values, formats) == [datetime(1999, 12, 31), datetime(2000, 1, 1), datetime(1963, 2, 1)]
    h = build_hierarchy("x", {"dates": ["day", "month", "year"]}, values, format=formats)
    assert h.rows()[0] == ["1/2/1963", "1963-02-01", "1963-02", "1963", "*"]
    assert h.scale is not None
    assert h.scale.between(*map(h.scale.text, h.scale.numbers[:2])) == "1963-02-01..1999-12-31"
    assert h.scale.limits("1963-02-01..1999-12-31") == tuple(h.scale.numbers[:2])
    with pytest.raises(InputError) as caught:
        parse_dates("x", ["1999/12/31"], formats)
    assert (caught.value.code, caught.value.values) == ("not-a-date", ["1999/12/31"])
    assert "'%d/%m/%Y' or '%Y-%m-%d'" in caught.value.message


def test_days_and_months_that_could_be_exchanged() -> None:
    """Values decide, or nobody does."""
    formats = ["%d/%m/%Y", "%m/%d/%Y"]
    assert parse_dates("x", ["25/12/2020", "12/25/2020", "05/05/2020"], formats) == [
        datetime(2020, 12, 25),
        datetime(2020, 12, 25),
        datetime(2020, 5, 5),
    ]
    with pytest.raises(InputError) as caught:
        parse_dates("x", ["25/12/2020", "01/02/2020"], formats)
    assert (caught.value.code, caught.value.values) == ("ambiguous-date", ["01/02/2020"])
    assert caught.value.hint
    shift = operation_from({"shift": {"key": "env:NOKEY", "days": [1, 1]}})
    assert read_in("01/02/2020", formats).ambiguous  # type: ignore[union-attr]
    assert shift.name == "shift"


def test_several_formats_in_a_project(tmp_path: Path) -> None:
    """Written, read, run with two methods, evaluated: every label is a well-defined range of days."""
    rng = random.Random(7)
    days = [date(1950, 1, 1) + timedelta(rng.randrange(20_000)) for _ in range(200)]
    texts = [d.strftime("%d/%m/%Y") if i % 2 else d.isoformat() for i, d in enumerate(days)]
    (tmp_path / "t.csv").write_text("born\n" + "\n".join(texts) + "\n")
    (tmp_path / "p.yaml").write_text(
        "velado: 1\nname: t\nsource: {path: t.csv}\ncolumns:\n"
        '  born: {role: quasi-identifier, type: date, format: ["%d/%m/%Y", "%Y-%m-%d"]}\n'
        "models: [{k-anonymity: {k: 5}}]\nmethod: {mondrian: {}}\noutput: {path: out.csv}\n"
    )
    project = Project.load(tmp_path / "p.yaml")
    assert project.columns[0].format == ("%d/%m/%Y", "%Y-%m-%d")
    assert project.as_dict()["columns"]["born"]["format"] == ["%d/%m/%Y", "%Y-%m-%d"]
    release = run(project)
    labels = (tmp_path / "out.csv").read_text().split()[1:]
    held = 0
    for label in set(labels):
        low, _, high = label.partition("..")
        first, last = date.fromisoformat(low), date.fromisoformat(high or low)
        held += sum(first <= d <= last for d in days)
        assert labels.count(label) == sum(first <= d <= last for d in days)
    assert held == 200
    again = evaluate(tmp_path / "t.csv", tmp_path / "out.csv", project=project)
    assert again.utility.loss == pytest.approx(release.evaluation.utility.loss)


@pytest.mark.parametrize("represent", ["interval", "mode"])
def test_single_days_are_written_like_all_labels(tmp_path: Path, represent: str) -> None:
    """One day in two formats is one day, and is shown in the one way of the column."""
    days = ["01/02/1963", "1963-02-01"] * 4 + ["05/06/1970"] * 3 + ["1971-01-01", "2/1/1971"] * 2
    (tmp_path / "t.csv").write_text("\n".join(["born", *days]) + "\n")
    column = Column("born", "quasi-identifier", type="date", format=["%d/%m/%Y", "%Y-%m-%d"])
    method = Mondrian(represent=represent)
    project = Project(tmp_path / "t.csv", (column,), (KAnonymity(5),), method, Output(tmp_path / "out.csv"))
    release = run(project)
    shown = sorted((tmp_path / "out.csv").read_text().split()[1:])
    rest = "1970-06-05..1971-01-02" if represent == "interval" else "1970-06-05"
    assert shown == ["1963-02-01"] * 8 + [rest] * 7
    assert release.evaluation.released == 15
    if represent == "interval":
        again = evaluate(tmp_path / "t.csv", tmp_path / "out.csv", project=project)
        assert again.utility.loss == pytest.approx(release.evaluation.utility.loss)


@pytest.mark.parametrize("format", [[], ["%d/%m/%Y", 5], ["%d/%m/%Y", "%d/%m/%Y"], ["%d%d"], 5, {"a": 1}])
def test_bad_lists_of_formats(format: Any) -> None:
    with pytest.raises(InputError) as caught:
        Column("born", "quasi-identifier", type="date", format=format)
    assert caught.value.code == "bad-format"


def test_one_format_in_a_list_is_that_format() -> None:
    assert Column("born", "quasi-identifier", format=["%Y"]).format == "%Y"


def test_times_are_kept_with_a_format() -> None:
    """Two times of a day are two places, and an interval names both."""
    values = ["01/02/2020 10:30", "01/02/2020 15:00", "03/02/2020 00:00"]
    h = build_hierarchy("seen", {"dates": ["day"]}, values, format="%d/%m/%Y %H:%M")
    assert [row[1] for row in h.rows()] == ["01/02/2020", "01/02/2020", "03/02/2020"]
    assert h.scale is not None
    assert h.scale.between(*map(h.scale.text, h.scale.numbers[:2])) == "2020-02-01 10:30:00..2020-02-01 15:00:00"
    assert day_format(["%d/%m/%Y %H:%M"]) == "%d/%m/%Y"


# Numbers


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["$628.030", "$1.200.000", "$950"], [628030, 1200000, 950]),
        (["$628.030"], [628030]),
        (["$1,000", "$2,500"], [1000, 2500]),
        (["R$ 1.234,50", "R$ 3"], [1234.5, 3]),
        (["€ 3,50", "7 €", "12"], [3.5, 7, 12]),
        (["S/. 1,200.50", "S/. 3"], [1200.5, 3]),
        (["CLP 12.000", "CLP 500"], [12000, 500]),
        (["3K", "1.5M", "500", "2k"], [3000, 1500000, 500, 2000]),
        (["10 mil", "2,5 mil"], [10000, 2500]),
        (["12 %", "13.5%"], [12, 13.5]),
        (["-$5.50", "$-3"], [-5.5, -3]),
        (["US$ 3K", "US$ 1"], [3000, 1]),
    ],
)
def test_numbers_with_something_beside_them(values: list[str], expected: list[float]) -> None:
    assert numbers_of(values) == expected


@pytest.mark.parametrize(
    "values",
    [
        ["$5", "€5"],
        ["12 %", "13"],
        ["$1.000", "$1.50"],
        ["32M", "45F"],
        ["$", "5"],
        ["5 apples"],
        ["--$5"],
        ["1" * 70 + "K"],
        ["KWD 1.250"],
        ["$1.5", "$1,5"],
    ],
)
def test_what_has_no_single_reading(values: list[str]) -> None:
    assert notation_of(values) is None
    with pytest.raises(InputError) as caught:
        column_notation("x", values)
    assert caught.value.code == "not-a-number"


@quick
@given(
    numbers=st.lists(st.decimals(-(10**9), 10**9, places=2), min_size=1, max_size=8),
    point=st.booleans(),
    form=st.sampled_from(["$%", "R$ %", "% €", "% %%", "%", "EUR %"]),
)
def test_marked_numbers_are_read_again(numbers: list[Decimal], point: bool, form: str) -> None:
    texts = []
    for number in numbers:
        shown = f"{abs(number):,.2f}" if point else f"{abs(number):,.2f}".translate(str.maketrans(",.", ".,"))
        texts.append(("-" if number < 0 else "") + form.replace("%", shown, 1).replace("%%", "%"))
    assert numbers_of(texts) == [float(n) for n in numbers]


def test_marked_numbers_in_hierarchies_and_operations() -> None:
    h = build_hierarchy("pay", {"intervals": [500000, 1000000]}, ["$628.030", "$1.200.000"])
    assert h.rows() == [["$628.030", "500000-999999", "0-999999", "*"], ["$1.200.000", "1000000-1499999", "1000000-1999999", "*"]]

    def labels(spec: Any, *values: str) -> list[str]:
        return list(operation_from(spec).labels(values, Given("pay", "pay", "insensitive")))  # type: ignore[attr-defined]

    assert labels({"round": 1000}, "$628.030", "$1.249.700") == ["$628000", "$1250000"]
    assert labels({"top": 1000000}, "$628.030", "$1.249.700") == ["$628.030", "$1000000"]
    assert labels({"round": 10}, "12 %", "17,5 %") == ["10 %", "20 %"]
    assert labels({"round": 1000}, "3.4K", "500") == ["3000", "0"]


def test_marked_numbers_in_a_release(tmp_path: Path) -> None:
    """Mondrian cuts them as numbers, and evaluation reads what was written."""
    pay = [f"${x:,}".replace(",", ".") for x in range(100_000, 2_100_000, 50_000)]
    (tmp_path / "t.csv").write_text("pay\n" + "\n".join(pay) + "\n")
    column = Column("pay", "quasi-identifier", type="number")
    release = anonymize(tmp_path / "t.csv", [column], [KAnonymity(10)], Mondrian(), output=tmp_path / "out.csv")
    labels = set((tmp_path / "out.csv").read_text().split()[1:])
    assert labels == {"100000-550000", "600000-1050000", "1100000-1550000", "1600000-2050000"}
    measured = evaluate(tmp_path / "t.csv", tmp_path / "out.csv", ["pay"])
    assert measured.aggregates["pay"].before.max == 2_050_000  # type: ignore[index]
    assert measured.utility.loss == pytest.approx(release.evaluation.utility.loss)


# Types and markers


@pytest.mark.parametrize(
    ("values", "type", "format"),
    [
        (["1", "-7"], "integer", None),
        (["1", "2.5"], "number", None),
        (["$628.030", "$1.000"], "number", None),
        (["3K", "500"], "number", None),
        (["007", "1"], "text", None),
        (["31/12/1999", "1/2/1963"], "date", "%d/%m/%Y"),
        (["12/31/1999", "1/2/1963"], "date", "%m/%d/%Y"),
        (["31/12/99", "1/2/63"], "date", "%d/%m/%y"),
        (["3-mar-2020", "15-DIC-2021"], "date", "%d-%b-%Y"),
        (["3 de março de 2020"], "date", "%d de %B de %Y"),
        (["20200131", "19991231"], "date", "%Y%m%d"),
        (["20200131", "12345678"], "integer", None),
        (["2020-01-31T10:00:00"], "date", "%Y-%m-%dT%H:%M:%S"),
        (["31/01/2020 10:30", "1/2/2020 9:00"], "date", "%d/%m/%Y %H:%M"),
        (["2020-01-31 10:00:00", "2020-01-31"], "date", ("%Y-%m-%d", "%Y-%m-%d %H:%M:%S")),
        (["31/12/1999", "2020-01-31"], "date", ("%Y-%m-%d", "%d/%m/%Y")),
        (["12/25/1999", "1/2/1963 10:30"], "date", ("%m/%d/%Y", "%m/%d/%Y %H:%M")),
        (["25/12/2020", "12/25/2020"], "text", None),
        (["25/12/2020", "12/25/2020 10:00"], "text", None),
        (["1.200", "12.500", "950"], "text", None),
        (["1,000", "2,500"], "text", None),
        (["Soltero/a", "Casado/a"], "text", None),
        (["1", "x"], "text", None),
    ],
)
def test_types(values: list[str], type: str, format: Any) -> None:
    found = reading(*values)
    assert (found.type, found.format) == (type, format)


@pytest.mark.parametrize(
    "marker",
    [
        "Unknown",
        "NO REGISTRADO",
        "No Registrado",
        "IGNORADO",
        "#NULO#",
        "N/D",
        "S/D",
        "Sin dato",
        "Não informado",
        ".",
        "-",
        "?",
        "NA",
    ],
)
@pytest.mark.parametrize("values", [[*map(str, range(40))], [f"{d:02d}/07/1981" for d in range(1, 29)]], ids=["numbers", "dates"])
def test_what_stands_for_a_missing_value_does_not_change_the_type(marker: str, values: list[str]) -> None:
    plain = reading(*values)
    found = reading_of({**dict.fromkeys(values, 2), marker: 30})
    assert (found.type, found.format, found.missing) == (plain.type, plain.format, (marker,))
    assert found.type != "text"


def test_impossible_dates_are_missing() -> None:
    assert missing_marker("99/99/9999")
    assert missing_marker("00/00/0000")
    assert reading("31/12/2001", "99/99/9999").missing == ("99/99/9999",)
    assert reading("2001-12-31", "0000-00-00").missing == ("0000-00-00",)
    for possible in ("9/9/99", "09/09/1999", "9/9/9999", "11/11/1111", "0", "99"):
        assert not missing_marker(possible)
    assert reading("9/9/99", "31/12/70").missing == ()


def test_one_odd_value_is_set_apart() -> None:
    numbers = dict.fromkeys(map(str, range(60)), 2)
    for odd in ("90+", "<18", "12O", "1990s", "01.08"):
        found = reading_of({**numbers, odd: 1})
        assert (found.type, found.missing) == ("integer", (odd,))
        # What stands once may be about one person.
        assert ("1 value(s) that are no numbers" in found.note, odd in found.note) == (True, False)
    found = reading_of({**numbers, "retired": 9})
    assert (found.type, found.missing, "('retired')" in found.note) == ("integer", ("retired",), True)
    dates = dict.fromkeys((f"{d:02d}/{m:02d}/1981" for d in range(1, 29) for m in range(1, 13)), 1)
    for odd, records in {"31/02/1981": 1, "11/05/1193": 1, "Asintomático": 90}.items():
        found = reading_of({**dates, odd: records})
        assert (found.type, found.format, found.missing) == ("date", "%d/%m/%Y", (odd,))


def test_what_may_name_somebody_is_not_set_apart() -> None:
    """It would have to stand in the project file: the column is a text, and the note does not name it."""
    found = reading(*map(str, range(60)), "Perez")
    assert (found.type, found.missing, "Perez" in found.note) == ("text", (), False)
    assert "nearly all values are numbers, but 1 value(s) not" in found.note
    many = {**dict.fromkeys(map(str, range(60)), 1), **dict.fromkeys(("a", "b", "c", "d", "e", "f"), 9)}
    assert reading_of(many).type == "text", "categories beside numbers are no odd values"
    assert not reading("a", "b", *map(str, range(5))).note


def test_markers_in_texts() -> None:
    """Only those that mean nothing else."""
    assert reading("red", "blue", "NO REGISTRADO", "Ignorado", "#NULO#", "Unknown", "-", "none", "NA", "na").missing == (
        "NO REGISTRADO",
        "Ignorado",
        "#NULO#",
        "NA",
    )
    assert not unmistakable_marker("Nulo"), "a vote may be void"
    assert reading("?").type == "text"


def test_day_and_month_that_nobody_tells_apart() -> None:
    found = reading("01/02/1963", "03/04/1970")
    assert (found.type, found.format) == ("date", "%d/%m/%Y")
    assert "day and month" in found.note


# Suggestions


@pytest.mark.parametrize(
    ("name", "values", "spec"),
    [
        ("age", range(17, 91), {"intervals": [5, 10, 20]}),
        ("year", range(1950, 2009), {"intervals": [5, 10, 20]}),
        ("score", range(2, 1000, 7), {"intervals": [100, 200, 400]}),
        ("flag", [0, 1], None),
        ("tipo", range(1, 10), None),
        ("age", range(15, 23), {"intervals": [2, 10]}),
        ("estado", ["Soltero/a", "Casado/a", "Viudo/a", "Divorciado/a"], None),
        ("city", [f"{c}, {s}" for c in ("Ham", "Lee", "Rye") for s in ("TX", "CA")], {"path": ", "}),
        (
            "code",
            [f"9{a}-3{b}-1{c}-0{d}" for a in "23" for b in "34" for c in "12" for d in "12"],
            {"path": {"separator": "-", "specific": "right"}},
        ),
        ("ubigeo", ["10101", "10102", "150101", "150102", "150201", "240101"], {"prefix": {"lengths": [4, 2], "fill": 6}}),
        ("zip", ["2138", "2139", "28013", "28041", "90210", "90211"], {"mask": {"side": "right", "hide": [1, 2], "fill": 5}}),
        ("diagnosis", ["E11.0", "E11.9", "E10.1", "J45.0", "J45.1", "I10"], {"prefix": [3, 1]}),
        (
            "pais",
            ["Perú", "Chile", "Alemania", "Francia", "Japón", "Brasil"],
            {"known": {"list": "countries", "levels": ["region"], "language": "es"}},
        ),
        (
            "country",
            {"Peru": 9, "Chile": 9, "Mexico": 9, "France": 9, "Atlantis": 1, "Brazil": 9},
            {"known": {"list": "countries", "others": "other"}},
        ),
        ("country", ["Peru", "Guatemala", "Germany", "Italy", "Cuba"], {"known": {"list": "countries", "levels": ["continent"]}}),
        ("state", ["TX", "CA", "OR", "NY", "NJ", "FL", "GA"], {"known": "us-states"}),
        ("uf", ["SP", "RJ", "BA", "CE", "RS", "PR"], {"known": "brazilian-states"}),
        ("direction", ["NE", "SE", "NO", "SO"], None),
        ("color", ["red", "green", "blue", "black"], None),
        ("only", ["x"], None),
    ],
    ids=str,
)
def test_suggestions(name: str, values: Any, spec: Any) -> None:
    assert suggested(name, values) == spec


def days_from(first: date, step: int, many: int) -> list[str]:
    return [(first + timedelta(i * step)).isoformat() for i in range(many)]


@pytest.mark.parametrize(
    ("values", "units"),
    [
        (days_from(date(2024, 1, 3), 2, 45), ["week"]),
        (days_from(date(2024, 1, 3), 7, 100), ["month", "quarter", "year"]),
        (days_from(date(1930, 1, 3), 30, 900), ["month", "year", "five-years", "decade"][1:]),
        (days_from(date(1930, 1, 3), 5, 5000), ["month", "year", "five-years", "decade"]),
        ([f"2024-01-{d:02d} {h:02d}:00:00" for d in range(1, 29) for h in range(5)], ["day", "week"]),
        (["2024-01-01", "2025-01-01"], None),
    ],
    ids=str,
)
def test_dates_are_fitted_to_their_span(values: list[str], units: list[str] | None) -> None:
    assert suggested("seen", values) == (None if units is None else {"dates": units})


def test_incomes_get_intervals_that_grow() -> None:
    rng = random.Random(3)
    spec = suggested("income", [round(rng.lognormvariate(9, 2)) for _ in range(2000)])
    fine, coarse = spec["intervals"]["cuts"]
    assert set(coarse) < set(fine)
    assert {1000, 2000, 5000, 10000} <= set(fine)


def test_texts_without_structure_are_grouped_by_frequency() -> None:
    amount = {f"job {chr(97 + i)}{'x' * (i % 5)}": 2000 // (i + 1) for i in range(26)}
    found = suggest_hierarchy("job", reading_of(amount), amount)
    assert found.reason == BY_FREQUENCY
    assert list(found.spec) == ["frequency"]
    built = build_hierarchy("job", found.spec, amount)
    for level, least in enumerate(found.spec["frequency"], start=1):
        kept = {v for v, label in built.label_of(level).items() if label == v}
        assert kept == {v for v, n in amount.items() if n >= least}


CELLS = st.one_of(
    st.integers(-1000, 10**6).map(str),
    st.integers(0, 1).map(str),
    st.decimals(-100, 10**4, places=2).map(str),
    st.dates(date(1900, 1, 1), date(2030, 1, 1)).map(str),
    st.dates(date(1900, 1, 1), date(2030, 1, 1)).map(lambda d: d.strftime("%d/%m/%y")),
    st.tuples(st.sampled_from("ABC"), st.sampled_from(["TX", "CA"])).map(", ".join),
    st.tuples(*[st.sampled_from(["10", "20", "30"])] * 3).map("-".join),
    st.sampled_from(["Peru", "Brasil", "France", "US", "JP", "Chile", "nowhere"]),
    st.from_regex(r"[A-Z][0-9]{2}(\.[0-9])?", fullmatch=True),
    st.from_regex(r"[0-9]{5}", fullmatch=True),
    st.text("ab/-., x19", min_size=1, max_size=6),
    st.sampled_from(["NO REGISTRADO", "-", "?"]),
)


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(*(st.dictionaries(kind, st.integers(1, 500), min_size=1, max_size=60) for kind in CELLS.branches))  # type: ignore[attr-defined]
    | st.dictionaries(CELLS, st.integers(1, 500), min_size=1, max_size=20),
    st.sampled_from(["age", "zip", "code", "ubigeo", "country", "state", "x"]),
)
def test_what_is_suggested_can_be_built(amount: dict[str, int], name: str) -> None:
    """For any column: it is built from the same values, covers them, is nested, and no level repeats another."""
    read = reading_of(amount)
    present = {v: n for v, n in amount.items() if v not in read.missing} or amount
    found = suggest_hierarchy(name, read, present)
    h = build_hierarchy(name, found.spec, present, format=read.format)
    assert set(h.leaves) == set(present)
    groups = [len(labels) for labels in h.labels]
    if found.spec is not None:
        assert groups == sorted(set(groups), reverse=True), "every level merges something"
        assert groups[-2] > 1
    for level in range(1, h.levels):
        below, above = h.label_of(level - 1), h.label_of(level)
        assert len({(below[v], above[v]) for v in present}) == groups[level - 1]


def test_an_inspected_table_runs(tmp_path: Path) -> None:
    """What inspect suggests is what a project takes: formats, markers, hierarchies."""
    rng = random.Random(5)
    days = [date(1930, 1, 1) + timedelta(rng.randrange(25_000)) for _ in range(400)]
    table = pa.table(
        {
            "birth": [
                "IGNORADO" if i % 50 == 0 else d.strftime("%d/%m/%Y") if i % 2 else d.isoformat() for i, d in enumerate(days)
            ],
            "city": [rng.choice(["Ham, TX", "Lee, TX", "Rye, NY", "Bath, NY"]) for _ in days],
            "zip": [rng.choice(["2138", "2139", "28013", "90210"]) for _ in days],
        }
    )
    seen = {c.name: c for c in inspect_table(table).columns}
    assert seen["birth"].markers == ("IGNORADO",)
    assert seen["birth"].format == ("%Y-%m-%d", "%d/%m/%Y")
    columns = [Column(c.name, "quasi-identifier", type=c.type, format=c.format, hierarchy=c.hierarchy) for c in seen.values()]
    cleaned = table.set_column(0, "birth", [[None if v == "IGNORADO" else v for v in table["birth"].to_pylist()]])
    release = anonymize(cleaned, columns, [KAnonymity(5)], Lattice(suppression=0.1))
    assert release.evaluation.released >= 360


# Words that YAML takes for something else

YAML = """
velado: 1
name: t
source: {path: t.csv}
columns:
  answer: {role: quasi-identifier, hierarchy: {groups: {said: [yes, no], "other": [on, 1.50, 007, 2020-01-01]}, top: false}}
  no: {role: quasi-identifier, hierarchy: {tree: {yes: {off: [1, true]}, other: }}}
  size: {role: quasi-identifier, hierarchy: {order: [no, yes]}}
  sure: {role: quasi-identifier, hierarchy: {rows: [[yes, 1], [no, ~]]}}
  age: {role: quasi-identifier, hierarchy: {intervals: [5, 10]}}
models: [{k-anonymity: {k: 2}}]
"""


def test_values_of_hierarchies_are_the_texts_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(YAML)
    columns = {c.name: c for c in Project.load(tmp_path / "p.yaml").columns}
    assert columns["answer"].hierarchy == {
        "groups": {"said": ["yes", "no"], "other": ["on", "1.50", "007", "2020-01-01"]},
        "top": False,
    }
    assert columns["no"].hierarchy == {"tree": {"yes": {"off": ["1", "true"]}, "other": None}}
    assert columns["size"].hierarchy == {"order": ["no", "yes"]}
    assert columns["sure"].hierarchy == {"rows": [["yes", "1"], ["no", None]]}
    assert columns["age"].hierarchy == {"intervals": [5, 10]}
    h = build_hierarchy("answer", columns["answer"].hierarchy, ["no", "yes", "1.50"])
    assert h.label_of(1)["no"] == "said"


def test_texts_of_several_tables_and_attributes(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(
        "velado: 1\nname: t\nattributes:\n  ok: {role: quasi-identifier, hierarchy: {groups: {said: [yes, no]}}}\n"
        "tables:\n  a: {source: {path: a.csv}, columns: {ok: {}}, models: [{k-anonymity: {k: 2}}]}\n"
        "  b: {source: {path: b.csv}, columns: {ok: {}, x: {role: quasi-identifier, hierarchy: {order: [off, on]}}}, models: [{k-anonymity: {k: 2}}]}\n"
    )
    tables = Project.load(tmp_path / "p.yaml").tables
    assert tables["a"].columns[0].hierarchy == {"groups": {"said": ["yes", "no"]}}
    assert tables["b"].columns[1].hierarchy == {"order": ["off", "on"]}


# Rare values where a table is counted in other ways


def test_rare_values_in_parts(tmp_path: Path) -> None:
    """A table that is counted column by column has the same groups."""
    rng = random.Random(2)
    towns = rng.choices("ABCDEFGH", [40, 20, 10, 5, 3, 2, 1, 1], k=300)
    table = pa.table({"town": towns, "age": [str(rng.randrange(20, 60)) for _ in towns]})
    columns = [
        Column("town", "quasi-identifier", hierarchy={"frequency": [20, 60]}),
        Column("age", "quasi-identifier", type="integer"),
    ]
    whole = anonymize(table, columns, [KAnonymity(5)], Mondrian(), output=Output(tmp_path / "a.csv", order="sorted"))
    with in_parts(2):
        parts = anonymize(table, columns, [KAnonymity(5)], Mondrian(), output=Output(tmp_path / "b.csv", order="sorted"))
    assert parts.found is None
    assert whole.evaluation.utility.loss == pytest.approx(parts.evaluation.utility.loss)
    assert rows_of(tmp_path / "a.csv") == rows_of(tmp_path / "b.csv")
    assert "other 1" in (tmp_path / "b.csv").read_text()


def test_rare_values_of_several_tables_are_counted_together(tmp_path: Path) -> None:
    """A town that is rare in each table may be frequent in both."""
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("town\n" + "\n".join(["X"] * 6 + ["Y"] * 3 + [f"{name}1", f"{name}2"]) + "\n")
    (tmp_path / "p.yaml").write_text(
        "velado: 1\nname: t\nattributes:\n  town: {role: quasi-identifier, hierarchy: {frequency: [5]}}\ntables:\n"
        + "".join(
            f"  {t}: {{source: {{path: {t}.csv}}, columns: {{town: {{}}}}, models: [{{k-anonymity: {{k: 2}}}}], "
            f"method: {{lattice: {{suppression: 0}}}}, output: {{path: {t}_out.csv}}}}\n"
            for t in "ab"
        )
    )
    run(Project.load(tmp_path / "p.yaml"))
    for name in "ab":
        labels = sorted((tmp_path / f"{name}_out.csv").read_text().split()[1:])
        assert labels == ["X"] * 6 + ["Y"] * 3 + ["other"] * 2
