"""``velado appointments`` as people and programs use it."""

import itertools
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import typer

import velado
from conftest import Command
from velado.appointments import PLANNERS
from velado.appointments.tables.groups import Groups
from velado.cli.appointments import app, shorten_vector
from velado.tables import Counts

PEOPLE = "zip,gender,age\n" + "".join(
    f"{line}\n" * n for line, n in {"88888,male,20": 4, "11111,male,25": 4, "11111,female,25": 5, "88888,female,25": 2}.items()
)
SLOTS = "center,hour,capacity\nA,9,4\nA,13,2\nB,9,4\nB,13,3\nC,13,2\n"
QI = ("--qi", "zip,gender,age")


@pytest.fixture
def tables(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "slots.csv").write_text(SLOTS)


@pytest.mark.parametrize("name", ["assign", "compare", "generate", "k"])
def test_every_option_is_documented(name: str) -> None:
    group = typer.main.get_command(app)
    reference = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"
    text = reference.read_text(encoding="utf-8").partition("## velado appointments")[2]
    options = [o for p in group.commands[name].params for o in (*p.opts, *p.secondary_opts) if o.startswith("-")]
    assert [o for o in options if f"`{o}`" not in text] == []


@pytest.mark.parametrize("name", PLANNERS)
def test_every_planner_is_documented_and_refuses_nonsense(name: str) -> None:
    page = Path(__file__).parents[2] / "docs" / "how-to" / "appointments.md"
    assert f"| `{name}` |" in page.read_text(encoding="utf-8")
    for parameter in PLANNERS[name].parameters:
        for bad in (-1, "x", True, float("nan")):
            with pytest.raises(velado.InputError) as caught:
                PLANNERS[name](**{parameter: bad})
            assert caught.value.code == "bad-parameter"


def test_assign_for_people(tables, main: Command, tmp_path: Path) -> None:
    ended = main("appointments", "assign", "people.csv", "slots.csv", *QI, "-o", "out.csv", "--show", 9)
    assert (ended.code, ended.err) == (0, "")
    for expected in ("15 people in 4 quasi-identifier groups, 5 slots with 15 places", "(0, 2, 1, 2)", "Keep it private"):
        assert expected in ended.out
    lines = [line.split() for line in ended.out.splitlines()]
    assert ["2", "88888", "female", "25"] in [line[:4] for line in lines]
    # The same number for the two parts of the group that is split: readable without colours.
    assert [line[0] for line in lines if line[1:4] == ["11111", "female", "25"]] == ["1", "1"]
    assert "\x1b" not in ended.out
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 16


def test_groups_of_one_size_are_shown_in_the_order_of_their_values() -> None:
    """Engines count in any order."""
    sexes, hours = ("m", "f", None), ("9", "10")
    rows = [(0, 1, 2), (1, 0, 2), (1, 1, 2), (2, 0, 1), (0, 0, 2)]
    for order in itertools.permutations(rows):
        codes = np.array(order).T
        counts = Counts(("sex", "hour"), (sexes, hours), (codes[0], codes[1]), codes[2])
        assert Groups("t", ("sex",), ("hour",), counts).smallest(4) == [
            (1, (None, "9"), 1),
            (2, ("f", "10"), 2),
            (2, ("f", "9"), 2),
            (3, ("m", "10"), 2),
        ]


def test_assign_json(tables, shell: Command) -> None:
    ended = shell("appointments", "assign", "people.csv", "slots.csv", *QI, "-o", "out.csv", "--method", "exact", "--json")
    assert (ended.code, ended.err) == (0, "")
    shown = ended.json
    assert list(shown) == ["schema", "people", "groups", "slots", "places", "required", "base", "methods", "chosen", "output"]
    assert (shown["chosen"], shown["output"]) == ("exact", "out.csv")
    fields = ["method", "k", "vector", "rank", "improvement", "seconds", "proven", "optimal", "bound"]
    assert [list(m) for m in shown["methods"]] == [fields] * 3


def test_who_is_alone_is_marked(tables, main: Command) -> None:
    main("appointments", "assign", "people.csv", "slots.csv", *QI, "-o", "out.csv", "--method", "random")
    ended = main("appointments", "k", "out.csv", *QI, "--appointment", "center,hour", "--show", 12, "--language", "es")
    assert "(9, 3)" in ended.out
    assert ended.out.count("! a solas") == 9


@pytest.mark.parametrize("language", ["en", "es", "pt"])
def test_compare_and_its_chart(language: str, tables, main: Command, tmp_path: Path) -> None:
    options = ("--chart", "vectors.svg", "--language", language, "--seconds", 5)
    ended = main("appointments", "compare", "people.csv", "slots.csv", *QI, *options)
    assert ended.code == 0
    words = {"en": "optimal", "es": "óptimo", "pt": "ótimo"}
    assert words[language] in ended.out
    assert ("0.8896" if language == "en" else "0,8896") in ended.out
    assert "vectors.svg" in ended.out
    assert "Chart" not in ended.out
    drawn = (tmp_path / "vectors.svg").read_text(encoding="utf-8")
    assert {"en": "best fit (k = 2)", "es": "mejor ajuste (k = 2)", "pt": "melhor ajuste (k = 2)"}[language] in drawn


def test_compare_json(tables, main: Command) -> None:
    shown = main("appointments", "compare", "people.csv", "slots.csv", *QI, "--methods", "heuristic", "--json").json
    assert [m["method"] for m in shown["methods"]] == ["random", "heuristic"]
    assert (shown["chosen"], shown["output"]) == (None, None)


def test_conditions_from_options(main: Command, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("id,age,area,home,keeps\n1,30,n,a,\n2,30,n,,\n3,30,s,,\n4,40,n,a,\n5,40,s,,t\n")
    (tmp_path / "slots.csv").write_text("slot,zone,room\nr,n,3\nt,s,3\n")
    (tmp_path / "may.csv").write_text("id,slot\n" + "".join(f"{i},{s}\n" for i in range(1, 6) for s in "rt"))
    ended = main(
        "appointments",
        "assign",
        "people.csv",
        "slots.csv",
        "--qi",
        "age",
        "-o",
        "out.csv",
        "--capacity",
        "room",
        "--slot",
        "slot",
        "--id",
        "id",
        "--household",
        "home",
        "--fixed",
        "keeps",
        "--match",
        "area=zone",
        "--admissible",
        "may.csv",
        "--json",
    )
    assert ended.code == 0, ended.err
    assert (tmp_path / "out.csv").read_text().splitlines() == [
        "id,age,area,home,slot,zone",
        "1,30,n,a,r,n",
        "2,30,n,,r,n",
        "3,30,s,,t,s",
        "4,40,n,a,r,n",
        "5,40,s,,t,s",
    ]


def test_k_of_several_tables(main: Command, tmp_path: Path) -> None:
    for number, sizes in enumerate([(2, 3), (5,), (1, 4)]):
        ages = [age for age, n in enumerate(sizes) for _ in range(n)]
        velado.appointments.save_table(pa.table({"age": ages}), tmp_path / f"t{number}.csv")
    ended = main("appointments", "k", "t0.csv", "t1.csv", "t2.csv", "--qi", "age", "--json")
    assert [t["k"] for t in ended.json["tables"]] == [2, 5, 1]
    assert ended.json["k"] == {"mean": 8 / 3, "min": 1, "max": 5}
    assert ended.json["tables"][0] == {"table": "t0.csv", "people": 5, "groups": 2, "k": 2, "vector": {"2": 1, "3": 1}, "rank": "5"}
    assert "k: mean 2.67, smallest 1, largest 5" in main("appointments", "k", "t0.csv", "t1.csv", "t2.csv", "--qi", "age").out


def test_generate(main: Command, tmp_path: Path) -> None:
    ended = main("appointments", "generate", ".", "--tables", 2, "--people", 60, "--slots", 3, "--format", "parquet", "--json")
    assert ended.json["files"] == ["people0.parquet", "slots0.parquet", "people1.parquet", "slots1.parquet"]
    for number in (0, 1):
        names = (tmp_path / f"{n}{number}.parquet" for n in ("people", "slots"))
        assert velado.appointments.assign_appointments(*names, ["age", "sex"], slot="slot").people == 60
    refused = main("appointments", "generate", ".", "--tables", 2, "--format", "parquet")
    assert (refused.code, "--force" in refused.err) == (2, True)
    assert main("appointments", "generate", ".", "--tables", 2, "--format", "parquet", "--force").code == 0
    assert main("appointments", "generate", ".", "--people", -1).code == 2
    assert main("appointments", "generate", ".", "--format", "doc").code == 2
    assert not list(tmp_path.glob("people.*"))


@pytest.mark.parametrize(
    ("options", "code", "exit_code"),
    [
        (("--k", 3), "group-too-small", 1),
        (("--k", 2, "--method", "heuristic"), "no-assignment", 1),
        (("--method", "magic"), "unknown-method", 2),
        (("--method", "random", "--seconds", 3), "unknown-parameter", 2),
        (("--match", "zip"), "bad-option", 2),
        (("--capacity", "places"), "unknown-column", 2),
        (("--language", "fr"), "unknown-language", 2),
    ],
)
def test_errors_write_nothing(options: tuple, code: str, exit_code: int, tables, main: Command, tmp_path: Path) -> None:
    ended = main("appointments", "assign", "people.csv", "slots.csv", *QI, "-o", "out.csv", "--json", *options)
    assert (ended.code, json.loads(ended.out)["error"]["code"]) == (exit_code, code)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["people.csv", "slots.csv"]


def test_long_vectors_are_shortened() -> None:
    assert shorten_vector(velado.appointments.AnonymityVector((0, 2, 1, 2))) == "(0, 2, 1, 2)"
    long = velado.appointments.AnonymityVector((*(0,) * 20, 1234, *range(1, 50)))
    assert shorten_vector(long) == "(0 × 20, 1234, 1, 2, 3, 4, 5, 6, …)"
    assert shorten_vector(velado.appointments.AnonymityVector(range(1, 20))) == "(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …)"


def test_a_chart_of_another_format_is_refused(tables, main: Command) -> None:
    ended = main("appointments", "compare", "people.csv", "slots.csv", *QI, "--methods", "random", "--chart", "v.doc")
    assert (ended.code, ".svg or .png" in ended.err) == (2, True)


def test_the_chart_is_valid_and_complete() -> None:
    import altair

    from velado.i18n import language
    from velado.report.formats.appointments import vectors

    people = pa.table({"age": [a for a in range(60) for _ in range(a % 30 + 1)]})
    slots = pa.table({"hour": list(range(20)), "capacity": [60] * 20})
    planning = velado.appointments.compare_planners(people, slots, ["age"], ["heuristic", "best-fit"])
    spec = vectors(planning, language("en")).spec
    altair.VConcatChart.from_dict(spec)
    for panel, vector in zip(spec["vconcat"], [planning.base, *(p.vector for p in planning.methods)], strict=True):
        rows = panel["data"]["values"]
        assert sum(row["y"] for row in rows) == pytest.approx(1)
        assert sum(int(row["text"]) for row in rows) == sum(vector.counts)
        assert panel["title"]["text"].endswith(f"(k = {vector.k})")
