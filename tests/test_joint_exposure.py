"""Joint exposure: against brute force, and as runs judge and tell it."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle_exposure as oracle
from velado import Column, KAnonymity, anonymize
from velado.errors import InputError
from velado.evaluation import joint_exposure
from velado.evaluation.joint_exposure import Asked, margin, narrowing
from velado.release.column_exposure import expose
from velado.release.count_joint_exposure import expose_jointly, expose_rows
from velado.tables import Counts, Groups, open_table

NAMES = ("a", "b", "c", "d", "e")
QUASI = NAMES[:2]
cell = st.sampled_from(["x", "y", "z", None])
tables = st.lists(st.tuples(cell, cell, cell, cell, cell), min_size=1, max_size=24)
ROLES = {"c": "insensitive", "d": "insensitive", "e": "sensitive"}


def columns(published: str = "", never: str = "e") -> list[Column]:
    return [
        Column(name, role, known="never" if name in never else "possibly", exposure="accepted" if name in published else "")
        for name, role in ROLES.items()
    ]


def as_table(rows: list[tuple[str | None, ...]]) -> pa.Table:
    return pa.table({name: pa.array([r[i] for r in rows], pa.string()) for i, name in enumerate(NAMES)})


@pytest.mark.property
@given(tables, st.integers(2, 5), st.booleans())
def test_counted_where_the_table_lies_as_by_brute_force(rows, k, accepted) -> None:
    everybody = list(range(1, len(rows) + 1))
    sizes = np.array([*Counter(r[:2] for r in rows).values()])
    with open_table(as_table(rows)) as table:
        known = Groups.of(sizes, k)
        found = expose(table, QUASI, columns("d" if accepted else ""), k, known)
        joint = expose_jointly(table, QUASI, found, known, k)
    shown = [i for i in range(2) if len({r[i] for r in rows}) > 1]
    assert (joint.alone, joint.below) == oracle.small(rows, everybody, [*shown, 2, 3], k)
    assert (joint.alone_with_private, joint.below_with_private) == oracle.small(rows, everybody, [*shown, 2, 3, 4], k)
    assert joint.judged == oracle.small(rows, everybody, [*shown, 2] if accepted else [*shown, 2, 3], k)[1]
    assert joint.below_known == oracle.small(rows, everybody, [0, 1], k)[1]
    assert joint.keys == oracle.keys(rows, everybody, [*shown, 2, 3], k)
    assert joint.keys_with_private == oracle.keys(rows, everybody, [*shown, 2, 3, 4], k)
    for one in joint.sets:
        chosen = [NAMES.index(name) for name in one.columns]
        assert (one.alone, one.below) == oracle.small(rows, everybody, chosen, k)


@pytest.mark.property
@given(tables, st.integers(2, 4), st.data())
def test_people_with_several_rows_as_by_brute_force(rows, k, data) -> None:
    people = data.draw(st.lists(st.integers(0, 6), min_size=len(rows), max_size=len(rows)))
    dictionaries, codes = [], []
    for i in range(len(NAMES)):
        values = sorted({r[i] for r in rows}, key=str)
        dictionaries.append(tuple(values))
        codes.append(np.array([values.index(r[i]) for r in rows], dtype=np.int32))
    counted = Counts(NAMES, tuple(dictionaries), tuple(codes), np.ones(len(rows), dtype=np.int64))
    with open_table(as_table(rows)) as table:
        found = expose(table, QUASI, columns(), k, Groups(len(rows), 0, 0, 1))
    joint = expose_rows(counted, np.array(people), QUASI, found, k)
    shown = [i for i in range(2) if len({r[i] for r in rows}) > 1]
    assert (joint.alone, joint.below) == oracle.small(rows, people, [*shown, 2, 3], k)
    assert joint.keys == oracle.keys(rows, people, [*shown, 2, 3], k)
    assert joint.keys_with_private == oracle.keys(rows, people, [*shown, 2, 3, 4], k)
    assert sum(joint.keys.values()) == joint.people


def test_people_are_told_apart_by_every_digit_of_their_number() -> None:
    """Engines number people by hashes of 64 bits, without a sign: as floating-point numbers these two would be one."""
    rows = Counts(("a",), (("x", "y"),), (np.array([0, 0, 1], dtype=np.int32),), np.ones(3, dtype=np.int64))
    joint = expose_rows(rows, np.array([2**63 + 1, 2**63 + 2, 5], dtype=np.uint64), ["a"], [], 2)
    assert (joint.alone, joint.people) == (1, 3)


@pytest.mark.property
@given(st.lists(st.tuples(cell, cell, cell), min_size=1, max_size=20))
def test_narrowing_as_by_brute_force(rows) -> None:
    labels, values, cells = ([str(r[i]) for r in rows] for i in range(3))
    codes = [np.unique(x, return_inverse=True)[1] for x in (labels, values, cells)]
    found = list(narrowing("c", codes[2], [("q", codes[0], codes[1])], np.ones(len(rows), dtype=np.int64)))
    left, one, hidden = oracle.narrowed(labels, values, cells)
    if not hidden:
        assert not found
    else:
        assert found[0].left == pytest.approx(left)
        assert (found[0].one_left, found[0].hidden) == (one, hidden)


def test_what_chance_narrows_is_the_average_of_all_deals_whatever_the_order() -> None:
    labels, values, cells = [0, 0, 0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 2, 0, 0, 1], [0, 0, 1, 1, 2, 5, 5, 6]
    deals = list(itertools.product(itertools.permutations(cells[:5]), itertools.permutations(cells[5:])))
    alone = sum(oracle.narrowed(labels, values, [*a, *b])[1] for a, b in deals) / len(deals)
    given = [np.array(x) for x in (labels, values, cells, np.ones(8))]
    assert joint_exposure._alike_by_chance(*given) == pytest.approx(alone)
    # Two people of each row: as if every row stood there twice.
    twice = joint_exposure._alike_by_chance(*(np.repeat(x, 2) for x in given))
    assert joint_exposure._alike_by_chance(*given[:3], np.full(8, 2)) == twice
    orders = [np.random.default_rng(i).permutation(8) for i in range(5)]
    assert len({joint_exposure._alike_by_chance(*(x[o] for x in given)) for o in orders}) == 1


def test_a_sample_of_people_is_asked_against_everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the order of the rows, and whether they are counted in one go or in lots."""
    rng = np.random.default_rng(3)
    rows = [tuple(str(x) for x in rng.integers(0, (9, 9, 6, 4, 3))) for _ in range(3000)]
    exact = _joint(rows)
    monkeypatch.setattr(joint_exposure, "SAMPLED", 600)
    monkeypatch.setattr("velado.release.count_joint_exposure.EXACT", 100)
    sampled = _joint(rows)
    assert sampled.sampled == 600
    assert 0 < sampled.error < 0.05
    assert exact.sampled is None
    assert _joint(rows[::-1]) == sampled
    monkeypatch.setattr("velado.release.count_joint_exposure.CELLS", 2000)
    lots = _joint(rows)
    for found in (sampled, lots):
        # Figures of all columns are counted, never estimated.
        assert (found.alone, found.below) == (exact.alone, exact.below)
        for name, n in exact.keys.items():
            assert abs(found.keys[name] - n) / exact.people <= 2 * found.error


def test_of_people_who_are_drawn_all_rows_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody with many rows is no likelier to be drawn than others, and their smallest key is over all of them."""
    lot = np.random.default_rng(5)
    people = np.repeat(np.arange(1, 901), lot.integers(1, 5, 900))
    codes = tuple(lot.integers(0, n, len(people)).astype(np.int32) for n in (9, 9, 6, 4, 3))
    dictionaries = tuple(tuple(map(str, range(n))) for n in (9, 9, 6, 4, 3))
    rows = Counts(NAMES, dictionaries, codes, np.ones(len(people), dtype=np.int64))
    with open_table(as_table([("x",) * 5] * 30)) as table:
        found = expose(table, QUASI, columns(), 4, Groups(30, 0, 0, 1))
    exact = expose_rows(rows, people, QUASI, found, 4)
    monkeypatch.setattr(joint_exposure, "SAMPLED", 500)
    monkeypatch.setattr("velado.release.count_joint_exposure.EXACT", 100)
    sampled = expose_rows(rows, people, QUASI, found, 4)
    assert sampled.sampled == 500
    for name, n in exact.keys.items():
        assert abs(sampled.keys[name] - n) / exact.people <= 2 * sampled.error


def _joint(rows: list[tuple[str, ...]], k: int = 4) -> joint_exposure.JointExposure:
    known = Groups.of(np.array([*Counter(r[:2] for r in rows).values()]), k)
    with open_table(as_table(rows)) as table:
        return expose_jointly(table, QUASI, expose(table, QUASI, columns(), k, known), known, k)


def test_asked_in_parts_as_at_once() -> None:
    rows = Counts(
        ("a", "b"), (("x", "y"), ("u", "v", "w")), (np.array([0, 0, 1, 1]), np.array([0, 1, 1, 2])), np.array([3, 1, 2, 1])
    )
    whole = Asked(rows, (), ("a", "b"), 3)
    whole.add(rows)
    parts = Asked(rows, (), ("a", "b"), 3)
    for some in (slice(0, 1), slice(1, 4)):
        codes = tuple(c[some] for c in rows.codes)
        # Dictionaries of a part have other places, and not every value.
        used = [np.unique(c) for c in codes]
        parts.add(
            Counts(
                rows.names,
                tuple(tuple(d[i] for i in u) for d, u in zip(rows.dictionaries, used, strict=True)),
                tuple(np.searchsorted(u, c) for u, c in zip(used, codes, strict=True)),
                rows.counts[some],
            )
        )
    assert whole.answer(7) == parts.answer(7)
    assert whole.answer(7).keys == {"1": 1, "2": 3, "3": 0, "more": 0, "never": 3}


def test_the_error_of_a_share() -> None:
    # Clopper and Pearson: 0 of 20 is at most 1 - 0.025^(1/20).
    assert margin(0, 20) == pytest.approx((1 - 0.025 ** (1 / 20)) / 2)
    assert margin(20, 20) == pytest.approx(margin(0, 20))


# --- As runs judge it

AGES = [str(20 + i % 3) for i in range(60)]
WARDS = [str(i // 3 % 2) for i in range(60)]


def people(**more: list[Any]) -> pa.Table:
    return pa.table({"age": AGES, "ill": [("flu", "asthma", "gout")[i % 5 % 3] for i in range(60)], **more})


ROLE = {"age": "quasi-identifier", "ill": "sensitive"}
K5 = [KAnonymity(5)]


def test_what_only_the_person_knows_goes_out_with_its_figure() -> None:
    release = anonymize(people(), ROLE, K5)
    joint = release.public_evaluation.exposure
    assert joint is not None
    assert (joint.columns, joint.private) == (("age",), ("ill",))
    assert (joint.below, joint.alone) == (0, 0)
    assert joint.below_with_private > 0
    assert json.loads(json.dumps(release.as_dict()))["exposure"]["share_alone_with_private"] == (joint.alone_with_private / 60)


@pytest.mark.parametrize(
    ("column", "danger"),
    [
        ([str(i) for i in range(60)], "alone"),
        ([str(i // 4) for i in range(60)], "alone"),
        ([str(i // 3 % 5) for i in range(60)], "together"),
    ],
)
@pytest.mark.parametrize("role", ["sensitive", "insensitive"])
def test_what_others_could_know_stops_the_run_whatever_its_role(column, danger, role) -> None:
    with pytest.raises(InputError) as caught:
        anonymize(people(rank=column), {**ROLE, "rank": role}, K5)
    assert caught.value.code == "identifier-in-disguise"
    assert danger in caught.value.fields["columns"]["rank"]
    assert "known: never" in str(caught.value.hint)
    for accepted in ({"known": "never"}, {"exposure": "accepted"}):
        release = anonymize(people(rank=column), {**ROLE, "rank": {"role": role, **accepted}}, K5)
        assert release.public_evaluation.exposure.below_with_private > 0
    if danger != "alone":
        assert anonymize(people(rank=column), {**ROLE, "rank": "quasi-identifier"}, K5).public_evaluation.released


def test_two_columns_may_single_out_only_together() -> None:
    """Each parts a class of 20 into halves; both together into quarters of fewer than k."""
    one, other = [str(i // 3 % 2) for i in range(60)], [str(i // 6 % 2) for i in range(60)]
    k = [KAnonymity(8)]
    for name, column in (("one", one), ("other", other)):
        assert anonymize(people(**{name: column}), {**ROLE, name: "insensitive"}, k).public_evaluation.released == 60
    both = {**ROLE, "one": "insensitive", "other": "insensitive"}
    with pytest.raises(InputError) as caught:
        anonymize(people(one=one, other=other), both, k)
    assert caught.value.fields["columns"] == {"one": ["joint"], "other": ["joint"]}
    release = anonymize(people(one=one, other=other), both, k, allowance=1.0)
    joint = release.public_evaluation.exposure
    assert joint.below == joint.judged == 60
    assert joint.keys["3"] == 60
    half = {**both, "other": {"role": "insensitive", "exposure": "accepted"}}
    joint = anonymize(people(one=one, other=other), half, k).public_evaluation.exposure
    assert (joint.below, joint.judged, joint.accepted) == (60, 0, ("other",))


def test_an_allowance_is_a_share_of_the_people() -> None:
    rank = [str(i // 3 % 2) for i in range(60)]
    rank[0] = "9"
    columns = {**ROLE, "rank": "insensitive"}
    with pytest.raises(InputError):
        anonymize(people(rank=rank), columns, K5, allowance=0.01)
    release = anonymize(people(rank=rank), columns, K5, allowance=0.02)
    assert release.public_evaluation.exposure.alone == 1
    for wrong in (-0.1, 1.5, True, "much"):
        with pytest.raises(InputError) as caught:
            anonymize(people(rank=rank), columns, K5, allowance=wrong)  # type: ignore[arg-type]
        assert caught.value.code == "bad-allowance"
