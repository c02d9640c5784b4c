"""People and slots in, appointments out: every condition holds in what was written, and bad input writes nothing."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import velado
from velado import InputError, NoSolution, Output
from velado.appointments.tables import publish as publishing
from velado.appointments.tables.people import People
from velado.appointments.tables.slots import Slots
from velado.appointments.tables.units import Units
from velado.errors import VerificationError

THESIS = {
    "zip": [
        "88888",
        "11111",
        "11111",
        "88888",
        "88888",
        "11111",
        "11111",
        "11111",
        "11111",
        "88888",
        "11111",
        "11111",
        "88888",
        "88888",
        "11111",
    ],
    "gender": [
        "male",
        "male",
        "female",
        "female",
        "male",
        "female",
        "female",
        "male",
        "female",
        "female",
        "male",
        "female",
        "male",
        "male",
        "male",
    ],
    "age": [
        "20-25",
        "25-30",
        "25-30",
        "25-30",
        "20-25",
        "25-30",
        "25-30",
        "25-30",
        "25-30",
        "25-30",
        "25-30",
        "25-30",
        "20-25",
        "20-25",
        "25-30",
    ],
}
"""Table 1 of the thesis."""
CENTERS = {"center": list("AABBC"), "hour": [9, 13, 9, 13, 13], "capacity": [4, 2, 4, 3, 2]}
"""Table 5."""
QI = ["zip", "gender", "age"]


def small(**columns: Any) -> pa.Table:
    """Six people in two groups."""
    return pa.table({"id": [f"p{i}" for i in range(6)], "age": [30, 30, 30, 40, 40, 40], **columns})


def slots(capacities: list[Any], **columns: Any) -> pa.Table:
    return pa.table({"slot": [f"s{i}" for i in range(len(capacities))], "capacity": capacities, **columns})


def cells(table: pa.Table, columns: list[str]) -> Counter:
    return Counter(zip(*(table[c].to_pylist() for c in columns), strict=True))


# The example of the thesis


@pytest.mark.parametrize("method", ["best-fit", "exact"])
def test_the_example_of_the_thesis(method: str) -> None:
    planning = velado.appointments.assign_appointments(pa.table(THESIS), pa.table(CENTERS), QI, method)
    assert planning.base.counts == (0, 1, 0, 2, 1)
    assert planning["heuristic"].vector.counts == (2, 3, 1, 1)
    assert planning[method].vector.counts == (0, 2, 1, 2)
    given = planning.table
    assert given.column_names == [*QI, "center", "hour"]
    assert given.select(QI).to_pydict() == THESIS
    assert sorted(cells(given, [*QI, "center", "hour"]).values()) == [2, 2, 3, 4, 4]
    places = {(c, h): n for c, h, n in zip(*CENTERS.values(), strict=True)}
    assert all(n <= places[slot] for slot, n in cells(given, ["center", "hour"]).items())


def test_what_a_planning_says() -> None:
    shown = velado.appointments.assign_appointments(pa.table(THESIS), pa.table(CENTERS), QI, "exact").as_dict()
    assert (shown["people"], shown["groups"], shown["slots"], shown["places"]) == (15, 4, 5, 15)
    assert shown["base"] == {"k": 2, "vector": {"2": 1, "4": 2, "5": 1}, "rank": "154"}
    assert [m["method"] for m in shown["methods"]] == ["random", "heuristic", "exact"]
    exact = shown["methods"][-1]
    assert (exact["k"], exact["vector"], exact["rank"], exact["optimal"]) == (2, {"2": 2, "3": 1, "4": 2}, "144", True)
    drawn = int(shown["methods"][0]["rank"])
    assert exact["improvement"] == pytest.approx((144 - drawn) / 154)


def test_compare_gives_nothing_out_and_leaves_out_what_does_not_apply() -> None:
    planning = velado.appointments.compare_planners(pa.table(THESIS), pa.table(CENTERS), QI, options={"seconds": 5, "trials": 3})
    assert [p.method for p in planning.methods] == ["random", "heuristic", "best-fit", "exact"]
    assert (planning.chosen, planning.table, planning.output) == (None, None, None)
    limited = velado.appointments.compare_planners(
        small(zone=["a"] * 6), slots([3, 3], zone_of=["a", "a"]), ["age"], slot="slot", match={"zone": "zone_of"}
    )
    assert "heuristic" in [p.method for p in limited.methods]  # every slot matches: nothing restricts anybody
    limited = velado.appointments.compare_planners(small(), slots([3, 3]), ["age"], ["best-fit"], household="id", fixed=None)
    assert [p.method for p in limited.methods] == ["random", "best-fit"]


def test_a_method_that_finds_nothing_says_why() -> None:
    planning = velado.appointments.compare_planners(
        pa.table({"age": [1] * 10 + [2] * 10}), slots([7, 13]), ["age"], ["heuristic", "best-fit", "exact"], k=4
    )
    assert planning["heuristic"].vector is not None
    assert "reaches groups of 3 only" in planning["best-fit"].reason
    assert planning["exact"].assignment is None
    assert planning.as_dict()["methods"][2].keys() == {"method", "reason"}


# Sources and targets


@pytest.mark.parametrize("make", [pa.table, pd.DataFrame, pl.DataFrame], ids=["arrow", "pandas", "polars"])
def test_tables_in_memory(make: Any) -> None:
    planning = velado.appointments.assign_appointments(make(THESIS), make(CENTERS), QI)
    assert planning["best-fit"].vector.counts == (0, 2, 1, 2)
    assert planning.table["hour"].to_pylist().count(9) == 8


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "xlsx", "arrow"])
def test_files_of_every_format(suffix: str, tmp_path: Path) -> None:
    people, places, out = (tmp_path / f"{n}.{suffix}" for n in ("people", "slots", "out"))
    velado.appointments.save_table(pa.table({**THESIS, "=note": ["=1+1", None, "x;y"] * 5}), people)
    velado.appointments.save_table(pa.table(CENTERS), places)
    planning = velado.appointments.assign_appointments(people, places, QI, output=out)
    assert (planning.table, planning.output) == (None, out)
    groups = velado.appointments.anonymity_groups(out, QI, ["center", "hour"])
    assert groups.vector == planning["best-fit"].vector
    assert groups.base == planning.base
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(p.name for p in (people, places, out))


def test_the_delimiter_of_the_people_is_kept(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age;zip\n30;1\n30;1\n")
    velado.appointments.assign_appointments(tmp_path / "people.csv", slots([2]), ["age"], output=tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "age;zip;slot\n30;1;s0\n30;1;s0\n"


def test_the_seed_decides_who_of_a_group_gets_which_slot() -> None:
    people, places = pa.table({"age": [1] * 40}), slots([20, 20])
    first, again, other = (velado.appointments.assign_appointments(people, places, ["age"], seed=s).table for s in (1, 1, 2))
    assert first.equals(again)
    assert first["slot"].to_pylist() != other["slot"].to_pylist()
    # Neither the first nor the last half of the table goes to one slot.
    assert 3 < first["slot"].to_pylist()[:20].count("s0") < 17


def test_people_without_a_value_are_a_group_of_their_own() -> None:
    planning = velado.appointments.assign_appointments(pa.table({"age": [1, None, None, 1, 1]}), slots([2, 3]), ["age"])
    assert planning.base.counts == (0, 1, 1) == planning["best-fit"].vector.counts


# Conditions


def test_fixed_appointments_are_kept_and_their_column_replaced() -> None:
    people = small(slot=["s1", None, None, None, "s0", None])
    given = velado.appointments.assign_appointments(people, slots([3, 3]), ["age"], fixed="slot").table
    assert given.column_names == ["id", "age", "slot"]
    assert given["slot"].to_pylist() == ["s1"] * 3 + ["s0"] * 3


def test_households_stay_together() -> None:
    people = small(home=["a", "b", None, "a", "b", None])
    planning = velado.appointments.assign_appointments(people, slots([2, 4]), ["age"], household="home")
    at = planning.table["slot"].to_pylist()
    assert (at[0], at[1]) == (at[3], at[4])
    assert planning["best-fit"].vector.k >= 1


def test_columns_that_must_agree() -> None:
    places = slots([3, 2, 2], zone=["north", "south", "south"])
    people = small(area=["north", "south", "north", "south", "south", "north"])
    given = velado.appointments.assign_appointments(people, places, ["age"], slot="slot", match={"area": "zone"}).table
    assert given["area"].to_pylist() == given["zone"].to_pylist()


def test_admissible_slots_from_a_table() -> None:
    listed = pa.table({"id": ["p0", "p0", "p1", "p2", "p3", "p4", "p5"], "slot": ["s0", "s1", "s1", "s1", "s0", "s0", "s0"]})
    planning = velado.appointments.assign_appointments(small(), slots([3, 3]), ["age"], identifier="id", admissible=listed)
    assert planning.table["slot"].to_pylist() == ["s1"] * 3 + ["s0"] * 3
    assert [p.method for p in planning.methods] == ["random", "best-fit"]


def test_a_fixed_appointment_counts_even_where_it_is_not_admissible() -> None:
    places = slots([4, 3], zone=["north", "south"])
    people = small(area=["south"] * 3 + ["north"] * 3, keeps=["s0", None, None, None, None, None])
    conditions = {"slot": "slot", "match": {"area": "zone"}, "fixed": "keeps"}
    given = velado.appointments.assign_appointments(people, places, ["age"], **conditions).table
    assert given["slot"].to_pylist() == ["s0", "s1", "s1", "s0", "s0", "s0"]


def reasons_against(people: pa.Table, zones: list[str], capacities: list[int]) -> set[str]:
    """Why a table is refused before anybody plans."""
    found = set()
    homes: dict[Any, list[dict[str, Any]]] = {}
    for person in people.to_pylist():
        homes.setdefault(person["home"] or person["id"], []).append(person)
        if person["keeps"] is None and person["area"] not in zones:
            found.add("no-admissible-slot")
    for members in homes.values():
        kept = {p["keeps"] for p in members} - {None}
        if len(kept) > 1:
            found.add("household-apart")
        if not kept and len({p["area"] for p in members}) > 1:
            found.add("no-admissible-slot")
    if people.num_rows > sum(capacities):
        found.add("not-enough-capacity")
    return found


@given(st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_everything_holds_in_random_tables(seed: int) -> None:
    """All conditions together, recounted from the table with plain Python."""
    rng = np.random.default_rng(seed)
    n, r = int(rng.integers(2, 25)), int(rng.integers(1, 5))
    zones = [f"z{i}" for i in rng.integers(0, 2, r)]
    capacities = [int(c) for c in rng.integers(0, n, r)]
    people = pa.table(
        {
            "id": [str(i) for i in range(n)],
            "age": [int(a) for a in rng.integers(0, 4, n)],
            "area": [str(zones[int(i)]) for i in rng.integers(0, r, n)],
            "home": [None if rng.random() < 0.6 else f"h{int(rng.integers(0, 5))}" for _ in range(n)],
            "keeps": [None if rng.random() < 0.9 else f"s{int(rng.integers(0, r))}" for _ in range(n)],
        }
    )
    method = ["best-fit", "random"][seed % 2]
    conditions = {"slot": "slot", "match": {"area": "zone"}, "household": "home", "fixed": "keeps", "identifier": "id"}
    places, reasons = slots(capacities, zone=zones), reasons_against(people, zones, capacities)
    if reasons:
        with pytest.raises((InputError, NoSolution)) as caught:
            velado.appointments.assign_appointments(people, places, ["age"], method, **conditions)
        assert caught.value.code in reasons
        return
    try:
        planning = velado.appointments.assign_appointments(people, places, ["age"], method, **conditions)
    except NoSolution as error:
        if "exact" not in error.hint:  # else it says that it may be the heuristic that fails
            with pytest.raises(NoSolution):
                velado.appointments.assign_appointments(people, places, ["age"], "exact", **conditions)
        return
    given = planning.table.to_pylist()
    assert [p["id"] for p in given] == people["id"].to_pylist()
    used = Counter(p["slot"] for p in given)
    assert all(used[f"s{i}"] <= c for i, c in enumerate(capacities))
    keeps = people["keeps"].to_pylist()
    led = {p["home"] for p, k in zip(given, keeps, strict=True) if k is not None}
    for person, kept in zip(given, keeps, strict=True):
        assert kept in (None, person["slot"])
        if kept is None and (person["home"] is None or person["home"] not in led):
            assert person["area"] == person["zone"]
    homes = {(p["home"], p["slot"]) for p in given if p["home"] is not None}
    assert len(homes) == len({h for h, _ in homes})
    sizes = Counter((p["age"], p["slot"]) for p in given)
    assert velado.appointments.AnonymityVector.of_sizes(list(sizes.values())) == planning[method].vector


def test_people_who_are_alike_are_one_kind() -> None:
    places = Slots.read(slots([10, 10]))
    people = small(home=["a", "a", "b", "b", "c", "c"])
    alone = Units.of(People.read(people, places, ["age"]), places)
    assert alone.problem.units.tolist() == [3, 3]
    assert alone.problem.is_plain
    homes = Units.of(People.read(people, places, ["age"], household="home"), places)
    assert sorted(zip(homes.problem.unit_people.tolist(), homes.problem.units.tolist(), strict=True)) == [(2, 1)] * 3
    assert homes.problem.sizes.tolist() == [3, 3]


# Bad input: an error that says what to do, and nothing written

BAD: dict[str, tuple[Any, Any, dict[str, Any], str]] = {
    "not enough places": (small(), slots([2, 3]), {}, "not-enough-capacity"),
    "negative capacity": (small(), slots([-1, 9]), {}, "bad-capacity"),
    "fractional capacity": (small(), slots([2.5, 9]), {}, "bad-capacity"),
    "capacity in words": (small(), slots(["many", "9"]), {}, "bad-capacity"),
    "missing capacity": (small(), slots([None, 9]), {}, "bad-capacity"),
    "infinite capacity": (small(), slots([float("inf"), 9.0]), {}, "bad-capacity"),
    "capacity as programmers write it": (small(), slots(["1_0", "9"]), {}, "bad-capacity"),
    "capacity in other digits": (small(), slots(["٣", "9"]), {}, "bad-capacity"),
    "more places than people on earth": (small(), slots([10**15, 9]), {}, "bad-capacity"),
    "no capacity column": (small(), pa.table({"slot": ["a"]}), {}, "unknown-column"),
    "only a capacity": (small(), pa.table({"capacity": [9]}), {}, "no-slot-column"),
    "a slot twice": (small(), pa.table({"slot": ["a", "a"], "capacity": [3, 3]}), {}, "duplicate-slot"),
    "no slots": (small(), slots([]), {}, "no-rows"),
    "no people": (small().slice(0, 0), slots([9]), {}, "no-rows"),
    "unknown column": (small(), slots([9]), {"quasi_identifiers": ["agee"]}, "unknown-column"),
    "no quasi-identifier": (small(), slots([9]), {"quasi_identifiers": []}, "no-quasi-identifier"),
    "unknown fixed slot": (small(keeps=["s7"] + [None] * 5), slots([9]), {"fixed": "keeps"}, "unknown-slot"),
    "fixed by a quasi-identifier": (
        small(keeps=["s0"] * 6),
        slots([9]),
        {"quasi_identifiers": ["keeps"], "fixed": "keeps"},
        "two-roles",
    ),
    "fixed by the identifier": (small(), slots([9]), {"identifier": "id", "fixed": "id"}, "two-roles"),
    "unnamed slots": (small(keeps=["s0"] + [None] * 5), slots([9], hour=[9]), {"fixed": "keeps"}, "no-slot-name"),
    "ids twice": (small(nr=[1, 1, 2, 3, 4, 5]), slots([9]), {"identifier": "nr"}, "duplicate-id"),
    "no id": (small(nr=[1, None, 2, 3, 4, 5]), slots([9]), {"identifier": "nr"}, "missing-id"),
    "admissible without ids": (small(), slots([9]), {"admissible": small()}, "no-id"),
    "unknown admissible slot": (
        small(),
        slots([9]),
        {"identifier": "id", "admissible": pa.table({"id": ["p0"], "slot": ["s9"]})},
        "unknown-slot",
    ),
    "a line without a slot": (
        small(),
        slots([9]),
        {"identifier": "id", "admissible": pa.table({"id": ["p0"], "slot": pa.array([None], pa.string())})},
        "unknown-slot",
    ),
    "unknown person": (
        small(),
        slots([9]),
        {"identifier": "id", "admissible": pa.table({"id": ["p9"], "slot": ["s0"]})},
        "unknown-person",
    ),
    "nowhere to go": (
        small(),
        slots([9]),
        {"identifier": "id", "admissible": pa.table({"id": ["p0"], "slot": ["s0"]})},
        "no-admissible-slot",
    ),
    "no such zone": (small(), slots([9], zone=[50]), {"slot": "slot", "match": {"age": "zone"}}, "no-admissible-slot"),
    "household apart": (
        small(home=["a"] * 6, keeps=["s0", "s1"] + [None] * 4),
        slots([9, 9]),
        {"household": "home", "fixed": "keeps"},
        "household-apart",
    ),
    "household nowhere": (
        small(home=["a"] * 6, area=["x"] * 3 + ["y"] * 3),
        slots([9, 9], zone=["x", "y"]),
        {"slot": "slot", "household": "home", "match": {"area": "zone"}},
        "no-admissible-slot",
    ),
    "the same column": (small(slot=["s0"] * 6), slots([9]), {}, "duplicate-column"),
    "unknown method": (small(), slots([9]), {"method": "magic"}, "unknown-method"),
    "unknown parameter": (small(), slots([9]), {"method": {"random": {"seconds": 3}}}, "unknown-parameter"),
    "not for findSlots": (small(home=["a"] * 6), slots([9]), {"method": "heuristic", "household": "home"}, "plain-only"),
    "bad k": (small(), slots([9]), {"k": 0}, "bad-parameter"),
    "a group too small": (small(), slots([9]), {"k": 4}, "group-too-small"),
    "k out of reach": (small(), slots([2, 2, 2]), {"k": 3}, "no-assignment"),
    "fixed slot too full": (small(keeps=["s0"] * 6), slots([2, 9]), {"fixed": "keeps"}, "no-assignment"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_writes_nothing(case: str, tmp_path: Path) -> None:
    people, places, given, code = BAD[case]
    options = {"quasi_identifiers": ["age"], "output": tmp_path / "out.csv", **given}
    with pytest.raises((InputError, NoSolution)) as caught:
        velado.appointments.assign_appointments(people, places, **options)
    assert caught.value.code == code
    assert not list(tmp_path.iterdir())
    # Messages may show slots and capacities, never who somebody is.
    assert not [v for v in ("p0", "p9") if v in str(caught.value)]


def test_how_many_are_missing(tmp_path: Path) -> None:
    velado.appointments.save_table(slots([2, 3]), tmp_path / "slots.csv")
    with pytest.raises(InputError, match="1 of 6 people get no appointment") as caught:
        velado.appointments.assign_appointments(small(), tmp_path / "slots.csv", ["age"])
    assert caught.value.file is not None
    assert caught.value.file.endswith("slots.csv")


def test_a_number_may_be_written_as_tables_write_it() -> None:
    assert Slots.read(slots(["3.0", " 3 ", "1e3", "0"])).capacities.tolist() == [3, 3, 1000, 0]


def test_names_of_slots_that_occur_twice() -> None:
    hours = pa.table({"slot": ["a", "a"], "hour": [9, 10], "capacity": [3, 3]})
    assert len(Slots.read(hours)) == 2
    with pytest.raises(InputError) as caught:
        Slots.read(hours, name="slot")
    assert (caught.value.column, caught.value.hint) == ("slot", "Every slot needs a name of its own.")


@pytest.mark.parametrize("method", ["random", "best-fit", "exact"])
def test_full_slots_are_named(method: str) -> None:
    """Three keep the first slot, and a fourth comes along with one of them."""
    people = small(home=["a", None, None, "a", None, None], keeps=["s0"] * 3 + [None] * 3)
    conditions = {"household": "home", "fixed": "keeps"}
    assert velado.appointments.assign_appointments(people, slots([4, 9]), ["age"], method, **conditions).people == 6
    with pytest.raises(NoSolution) as caught:
        velado.appointments.assign_appointments(people, slots([3, 9]), ["age"], method, **conditions)
    assert caught.value.values == ["s0"]


@pytest.mark.parametrize("method", ["random", "best-fit", "exact"])
def test_a_household_that_is_larger_than_every_slot(method: str) -> None:
    with pytest.raises(NoSolution) as caught:
        velado.appointments.assign_appointments(small(home=["a"] * 6), slots([5, 5]), ["age"], method, household="home")
    assert "fit into none of their admissible slots" in str(caught.value)


def test_the_output_may_not_be_the_input(tmp_path: Path) -> None:
    for name in ("people.csv", "slots.csv"):
        velado.appointments.save_table(small() if name == "people.csv" else slots([9]), tmp_path / name)
    before = (tmp_path / "slots.csv").read_bytes()
    with pytest.raises(InputError) as caught:
        velado.appointments.assign_appointments(
            tmp_path / "people.csv", tmp_path / "slots.csv", ["age"], output=tmp_path / "slots.csv"
        )
    assert caught.value.code == "output-is-input"
    assert (tmp_path / "slots.csv").read_bytes() == before


# Verification: whatever goes wrong while writing, nothing is published


def swapped(table: pa.Table) -> pa.Table:
    return table.set_column(table.column_names.index("slot"), "slot", table["slot"].take(pa.array([5, 1, 2, 3, 4, 0])))


DAMAGE = {
    "rows lost": lambda t: t.slice(0, 4),
    "a column lost": lambda t: t.drop_columns(["age"]),
    "slots changed": swapped,
    "quasi-identifiers changed": lambda t: t.set_column(1, "age", pa.array([1, 2, 3, 4, 5, 6])),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_found(damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = publishing.write_rows
    monkeypatch.setattr(publishing, "write_rows", lambda t, path, delimiter: write(DAMAGE[damage](t), path, delimiter))
    with pytest.raises(VerificationError):
        velado.appointments.assign_appointments(small(), slots([3, 3]), ["age"], output=tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"capacities": np.array([2, 4])}, "more people than places"),
        ({"fixed": np.array([-1, -1, -1, -1, -1, 0])}, "fixed appointment"),
        ({"household": np.array([0, -1, -1, 0, -1, -1])}, "household"),
        ({"slot_sets": np.array([[True, False]])}, "not admissible"),
    ],
)
def test_every_condition_is_verified(change: dict[str, np.ndarray], reason: str) -> None:
    """The assignment is planned without a condition that the verification then asks for."""
    places = Slots.read(slots([3, 3]))
    people = People.read(small(), places, ["age"])
    units = Units.of(people, places)
    assignment = velado.appointments.BestFit().assign(units.problem)
    assert units.slots_of_people(assignment, 0).tolist() == [0, 0, 0, 1, 1, 1]
    if "capacities" in change:
        places = replace(places, **change)
    else:
        people = replace(people, **change)
    with pytest.raises(VerificationError, match=reason):
        publishing.give_out(people, places, units, assignment, 0, Output())


def test_values_of_a_column_that_is_not_about_slots_are_not_shown() -> None:
    with pytest.raises(InputError) as caught:
        velado.appointments.assign_appointments(small(keeps=["Ada", *[None] * 5]), slots([9]), ["age"], fixed="keeps", slot="slot")
    assert "Ada" not in str(caught.value)
    with pytest.raises(InputError, match="'s7'"):
        velado.appointments.assign_appointments(
            small(keeps=["s7", "s0", *[None] * 4]), slots([9]), ["age"], fixed="keeps", slot="slot"
        )
