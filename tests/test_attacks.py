"""Attacks: the tables of the UBB text, plain oracles on random tables, bad input, and the command."""

import itertools
import json
from collections import Counter, defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from conftest import Command
from harness.judge_hook import times
from random_tables import Small, small_tables
from velado import Hierarchy, InputError, KAnonymity, Lattice, Output, anonymize, attack
from velado.attacks import ATTACKS, MEASURES, Attack, releases
from velado.attacks.descriptions import figure_title
from velado.attacks.label_matching import narrower, relate_labels
from velado.models import MODELS, model_from
from velado.questions.adversary import side_by_side
from velado.questions.attack import RUN
from velado.tables import Counts

FEW = settings(max_examples=30, deadline=None)

# The UBB text


def rows(text: str) -> dict[str, list[str]]:
    header, *lines = [line.split(",") for line in text.strip().splitlines()]
    return {name: [line[i] for line in lines] for i, name in enumerate(header)}


ZIPS = ("05345", "05346", "05351", "05352")
TREES: dict[str, Any] = {
    "ethnicity": {"groups": {"persona": ["rapanui", "mapuche", "atacameño"]}},
    "sex": {"groups": {"no informado": ["femenino", "masculino"]}},
    "zip": {"rows": [[z, z[:4] + "0", z[:3] + "00"] for z in ZIPS]},
}
TABLE_10 = {
    "PT": {"ethnicity": [e for e in ("rapanui", "mapuche", "atacameño") for _ in ZIPS], "zip": list(ZIPS) * 3},
    "GT1": {"ethnicity": ["persona"] * 12, "zip": list(ZIPS) * 3},
    "GT2": {
        "ethnicity": [e for e in ("rapanui", "mapuche", "atacameño") for _ in ZIPS],
        "zip": ["05340", "05340", "05350", "05350"] * 3,
    },
}
GT1 = rows("""
ethnicity,birth,sex,zip,problem
persona,1965,masculino,05350,falta de aliento
persona,1965,masculino,05350,dolor de pecho
persona,1965,femenino,05340,dolor de ojo
persona,1965,femenino,05340,respiración sibilante
persona,1964,femenino,05340,obesidad
persona,1964,femenino,05340,dolor de pecho
persona,1964,masculino,05340,falta de aliento
persona,1965,femenino,05340,hipertensión
persona,1964,masculino,05340,obesidad
persona,1964,masculino,05340,fiebre
persona,1967,masculino,05340,vómitos
persona,1967,masculino,05340,dolor de espalda
""")
GT2 = rows("""
ethnicity,birth,sex,zip,problem
mapuche,[1960-1969],no informado,05351,falta de aliento
mapuche,[1960-1969],no informado,05351,dolor de pecho
mapuche,[1960-1969],no informado,05345,dolor de ojo
mapuche,[1960-1969],no informado,05345,respiración sibilante
mapuche,[1960-1969],no informado,05345,obesidad
mapuche,[1960-1969],no informado,05345,dolor de pecho
rapanui,[1960-1969],no informado,05345,falta de aliento
rapanui,[1960-1969],no informado,05346,hipertensión
rapanui,[1960-1969],no informado,05346,obesidad
rapanui,[1960-1969],no informado,05346,fiebre
rapanui,[1960-1969],no informado,05345,vómitos
rapanui,[1960-1969],no informado,05345,dolor de espalda
""")
TABLE_12 = rows("""
age,zip,problem
<50,053**,gripe
<50,053**,dolor de pecho
<50,053**,dolor de espalda
≥50,053**,obesidad
≥50,053**,vómitos
≥50,053**,vómitos
<50,054**,gripe
<50,054**,gripe
<50,054**,gripe
≥50,054**,vómitos
≥50,054**,dolor de espalda
≥50,054**,dolor de espalda
""")
TABLE_16 = rows("""
age,zip,problem,salary
40,0538*,úlceras gástricas,3
40,0538*,gastritis,4
40,0538*,cáncer de estómago,5
≥50,0647*,gastritis,6
≥50,0647*,gripe,11
≥50,0647*,bronquitis,8
30,0539*,bronquitis,7
30,0539*,neumonía,9
30,0539*,cáncer de estómago,10
""")
DISEASES = {
    "tree": {
        "respiratory": {"infection": ["gripe", "neumonía", "bronquitis"], "vascular": ["edema", "embolia"]},
        "digestive": {"stomach": ["úlceras gástricas", "cáncer de estómago", "gastritis"], "colon": ["colitis"]},
    }
}
QUASI = ["ethnicity", "birth", "sex", "zip"]


def table(columns: dict[str, list[str]]) -> pa.Table:
    return pa.table(columns)


def one(release: Any, quasi: list[str], sensitive: list[str], name: str, **more: Any) -> Attack:
    """The only outcome of one attack."""
    (found,) = attack(release, quasi, sensitive, only=[name], **more)
    return found


def birth_of(columns: dict[str, list[str]]) -> dict[str, list[str]]:
    """Table 11 without its birth dates."""
    return {name: values for name, values in columns.items() if name != "birth"}


def test_table_10_rows_in_the_same_order_give_the_private_table_back() -> None:
    private, first, second = (table(TABLE_10[x]) for x in ("PT", "GT1", "GT2"))
    trees = {c: TREES[c] for c in ("ethnicity", "zip")}
    with_original, with_other = attack(
        first, ["ethnicity", "zip"], original=private, other=second, hierarchies=trees, only=["order"]
    )
    assert with_original.succeeded
    assert with_original.figures["in_order"] == 1
    assert with_other.succeeded
    wanted = {"k": 3, "other_k": 2, "combined_classes": 12, "smallest_combined": 1, "singled_out": 12}
    assert wanted.items() <= with_other.figures.items()
    assert (with_other.figures["exact_cells"], with_other.figures["exact_records"]) == (24, 12)
    pairs = set(zip(*TABLE_10["PT"].values(), strict=True))
    assert {tuple(e.labels.values()) for e in with_other.exposed} <= pairs
    assert [p.measure for p in with_other.prevented_by] == ["shuffle"]


def test_table_10_shuffled_rows_do_not() -> None:
    trees = {c: TREES[c] for c in ("ethnicity", "zip")}
    other = table(TABLE_10["GT2"]).take([7, 0, 11, 2, 9, 5, 1, 8, 3, 10, 6, 4])
    by_order, by_value = attack(
        table(TABLE_10["GT1"]), ["ethnicity", "zip"], other=other, hierarchies=trees, only=["order", "releases"]
    )
    assert not by_order.succeeded
    assert not by_value.succeeded
    assert by_value.figures["singled_out"] == 0


@pytest.mark.parametrize("order", [range(12), [5, 3, 11, 0, 7, 2, 9, 8, 1, 10, 4, 6]], ids=["kept", "shuffled"])
def test_table_11_linking_two_releases_gives_two_unique_tuples(order: Any) -> None:
    second = table(GT2).take(list(order))
    found = one(table(GT1), QUASI, ["problem"], "releases", other=second, hierarchies=TREES)
    assert found.succeeded
    wanted = {"k": 2, "other_k": 2, "smallest_combined": 1, "singled_out": 2, "linked": 10, "other_linked": 10}
    assert wanted.items() <= found.figures.items()
    assert [(*e.labels.values(), e.value, e.records) for e in found.exposed] == [
        ("rapanui", "1964", "masculino", "05345", "falta de aliento", 1),
        ("rapanui", "1965", "femenino", "05346", "hipertensión", 1),
    ]
    assert [p.measure for p in found.prevented_by] == ["same-or-coarser", "judge-the-combination"]


def test_table_11_a_coarser_second_release_gives_nothing_more() -> None:
    coarser = {**GT1, "birth": ["[1960-1969]"] * 12}
    found = one(table(GT1), QUASI, ["problem"], "releases", other=table(coarser))
    assert not found.succeeded
    assert found.figures["smallest_combined"] == 2


def test_table_12_homogeneity() -> None:
    found = one(table(TABLE_12), ["age", "zip"], ["problem"], "homogeneity")
    assert found.succeeded
    assert (found.figures["exposed_classes"], found.figures["exposed_records"]) == (1, 3)
    assert found.figures["exposed_share"] == 0.25
    (exposed,) = found.exposed
    assert (exposed.labels, exposed.value) == ({"age": "<50", "zip": "054**"}, "gripe")
    assert str(found.prevented_by[0]) == "{distinct-diversity: {l: 2, column: problem}}"


def test_table_13_background_knowledge() -> None:
    found = one(table(TABLE_12), ["age", "zip"], ["problem"], "background")
    assert found.succeeded
    wanted = {"certain_classes": 3, "certain_records": 9, "certain_without_knowledge": 3, "lowest_confidence": 0.5}
    assert wanted.items() <= found.figures.items()
    back = next(e for e in found.exposed if e.labels == {"age": "≥50", "zip": "054**"})
    assert (back.value, back.confidence, back.prior) == ("dolor de espalda", 1.0, pytest.approx(2 / 3))
    assert [str(p) for p in found.prevented_by] == [
        "{distinct-diversity: {l: 3, column: problem}}",
        "{recursive-diversity: {c: 2, l: 3, column: problem}}",
    ]


def test_table_16_similarity_by_tree_and_by_range() -> None:
    release, quasi, both = table(TABLE_16), ["age", "zip"], ["problem", "salary"]
    tree, numbers = attack(release, quasi, both, hierarchies={"problem": DISEASES}, only=["similarity"])
    assert (tree.column, numbers.column) == ("problem", "salary")
    assert (tree.figures["level_1_classes"], tree.figures["level_2_classes"]) == (1, 0)
    assert [(e.labels["age"], e.value) for e in tree.exposed] == [("40", "stomach")]
    assert [(e.labels["age"], e.value) for e in numbers.exposed] == [("40", "3–5")]
    # The distances of this class are 4/9 (tree) and 3/8 (order): the measure must lie just below.
    assert tree.prevented_by[0].parameters == {"t": 0.4444, "column": "problem", "distance": "hierarchical"}
    assert numbers.prevented_by[0].parameters == {"t": 0.3749, "column": "salary", "distance": "ordered"}


def test_limits_of_diversity_are_the_skewness_attack() -> None:
    """1,000 tests, 1 % positive; a class of 49 positives and one negative (UBB, before table 16)."""
    release = table({"age": ["30-39"] * 50 + ["40-49"] * 950, "test": ["+"] * 9 + ["-"] * 41 + ["+"] + ["-"] * 949})
    found = one(release, ["age"], ["test"], "skewness")
    assert found.exposed[0].value == "+"
    assert found.figures["largest_gain"] == pytest.approx(18)
    assert (found.exposed[0].confidence, found.exposed[0].prior) == (pytest.approx(0.18), pytest.approx(0.01))


# Against a plain oracle


def released(small: Small, seed: int) -> tuple[list[dict[str, str]], tuple[int, ...]]:
    """The table at a random node of its lattice."""
    rng = np.random.default_rng(seed)
    levels = tuple(int(rng.integers(0, len(small.hierarchies[c][0]))) for c in small.qi)
    recoded = [
        {**row, **dict(zip(small.qi, oracle.recode(row, small.qi, small.hierarchies, levels), strict=True))} for row in small.rows
    ]
    # A fully generalized row is a suppressed one, unless all are.
    return recoded, levels


def arrow(records: list[dict[str, str]], columns: list[str]) -> pa.Table:
    return pa.table({c: [r[c] for r in records] for c in columns})


def grouped(records: list[dict[str, str]], qi: list[str]) -> dict[tuple[str, ...], Counter]:
    found: dict[tuple[str, ...], Counter] = defaultdict(Counter)
    for record in records:
        found[tuple(record[c] for c in qi)][record["s0"]] += 1
    return dict(found)


def surer(confidence: Fraction, wanted: float) -> bool:
    return confidence == 1 if wanted == 1 else confidence > Fraction(wanted).limit_denominator(1000)


def check_exposed(found: Attack, records: list[dict[str, str]], small: Small, wanted: set[tuple[str, ...]]) -> None:
    """The exposed classes are the right ones, and each model that would have prevented the attack refuses them."""
    assert found.succeeded == bool(wanted) == bool(found.exposed)
    shown = {tuple(str(e.labels[c]) for c in small.qi) for e in found.exposed}
    assert len(shown) == min(len(wanted), 10)
    assert shown <= wanted
    for prevention in (p for p in found.prevented_by if p.model is not None):
        model = {"name": prevention.model, **prevention.parameters, "base": 2, "every": False, "enhanced": False}
        model.setdefault("distance", "equal")
        model_from(str(prevention.model), prevention.parameters)
        for key in wanted:
            members = [r for r in records if tuple(r[c] for c in small.qi) == key]
            assert not oracle.satisfies(model, members, records, small.trees)


@FEW
@given(small_tables(), st.integers(0, 99), st.sampled_from([1.0, 0.5, 0.7]), st.integers(1, 3), st.sampled_from([1.5, 2, 3]))
def test_attacks_on_classes_agree_with_the_oracle(small: Small, seed: int, confidence: float, know: int, factor: float) -> None:
    records, _ = released(small, seed)
    classes = grouped(records, small.qi)
    whole = Counter(r["s0"] for r in records)
    n = len(records)
    found = attack(
        arrow(records, [*small.qi, "s0"]),
        small.qi,
        ["s0"],
        hierarchies={"s0": Hierarchy.from_rows("s0", small.trees["s0"])},
        confidence=confidence,
        know=know,
        factor=factor,
    )
    by_name = {a.name: a for a in found}
    if len(classes) > 1 and any(set(key) == {"*"} for key in classes):
        return

    def size(keys: Any) -> int:
        return sum(classes[key].total() for key in keys)

    def figures(name: str, keys: set) -> None:
        a = by_name[name]
        assert (a.figures["classes"], a.figures["records"]) == (len(classes), n)
        assert (a.figures["exposed_classes"], a.figures["exposed_records"]) == (len(keys), size(keys))
        check_exposed(a, records, small, keys)

    top = {key: Fraction(max(c.values()), c.total()) for key, c in classes.items()}
    figures("homogeneity", {key for key, p in top.items() if surer(p, confidence)})
    assert by_name["homogeneity"].figures["best_guess"] == pytest.approx(sum(max(c.values()) for c in classes.values()) / n)

    best: dict[tuple[str, ...], Fraction] = {}
    for key, c in classes.items():
        # Whatever the attacker rules out, and whatever value is left.
        ways = [
            Fraction(c[value], c.total() - sum(c[x] for x in gone))
            for value in c
            for many in range(min(know, len(c) - 1) + 1)
            for gone in itertools.combinations([x for x in c if x != value], many)
        ]
        best[key] = max(ways)
    figures("background", {key for key, p in best.items() if surer(p, confidence)})
    assert by_name["background"].figures["certain_classes"] == sum(p == 1 for p in best.values())
    mean = sum(p * classes[key].total() for key, p in best.items()) / n
    assert by_name["background"].figures["mean_confidence"] == pytest.approx(float(mean))

    gains = {key: max(Fraction(c[v], c.total()) / Fraction(whole[v], n) for v in c) for key, c in classes.items()}
    figures("skewness", {key for key, g in gains.items() if g > Fraction(factor)})
    assert by_name["skewness"].figures["largest_gain"] == pytest.approx(float(max(gains.values())))

    alike = set()
    for key, c in classes.items():
        for level in range(1, len(small.trees["s0"][0])):
            groups = {oracle.path(small.trees["s0"], v)[level] for v in c}
            everybody = {oracle.path(small.trees["s0"], v)[level] for v in whole}
            if len(c) > 1 and len(groups) == 1 and len(everybody) > 1:
                alike.add(key)
    figures("similarity", alike)


@FEW
@given(small_tables(most_rows=12), st.integers(0, 99), st.booleans())
def test_linkage_agrees_with_the_oracle(small: Small, seed: int, generalized: bool) -> None:
    records, levels = released(small, seed)
    if any({r[c] for c in small.qi} == {"*"} for r in records):
        return
    rng = np.random.default_rng(seed)
    number = {c: int(rng.integers(0, level + 1)) if generalized else 0 for c, level in zip(small.qi, levels, strict=True)}
    people = [{c: small.hierarchies[c][int(rng.integers(0, len(small.hierarchies[c])))][0] for c in small.qi} for _ in range(9)]
    shown = [{c: oracle.path(small.hierarchies[c], p[c])[number[c]] for c in small.qi} for p in people]

    def leaves(column: str, level: int, label: str) -> set[str]:
        return {row[0] for row in small.hierarchies[column] if row[level] == label}

    def fits(person: dict[str, str], record: dict[str, str]) -> bool:
        return all(leaves(c, number[c], person[c]) & leaves(c, level, record[c]) for c, level in zip(small.qi, levels, strict=True))

    candidates = [[r for r in records if fits(person, r)] for person in shown]
    confidence = [Fraction(1, len(c)) for c in candidates if c]
    trees = {c: Hierarchy.from_rows(c, small.hierarchies[c]) for c in small.qi}
    external = pa.table({f"their {c}": [p[c] for p in shown] for c in small.qi})
    match = {c: f"their {c}" for c in small.qi}
    identity, value = attack(
        arrow(records, [*small.qi, "s0"]), small.qi, ["s0"], external=external, match=match, hierarchies=trees, only=["linkage"]
    )
    f = identity.figures
    assert (f["people"], f["matched"]) == (9, len(confidence))
    assert f["unique"] == sum(len(c) == 1 for c in candidates)
    assert identity.succeeded == (f["unique"] > 0)
    assert f["expected_correct"] == pytest.approx(float(sum(confidence)))
    assert f["highest_confidence"] == pytest.approx(float(max(confidence, default=0)))
    values = [Counter(r["s0"] for r in c) for c in candidates if c]
    assert value.figures["disclosed"] == sum(len(v) == 1 for v in values)
    guesses = [Fraction(max(v.values()), v.total()) for v in values]
    assert value.figures["mean_confidence"] == pytest.approx(float(sum(guesses) / len(guesses)) if guesses else 0)
    assert all(e.value is not None for e in value.exposed)


def test_links_are_checked_against_the_truth() -> None:
    original = pa.table({"id": ["1", "2", "3", "4", "5"], "age": ["31", "38", "52", "57", "71"], "ill": list("abcde")})
    release = pa.table({"age": ["30-39", "30-39", "50-59", "50-59", "70-79"], "ill": list("abcde")})
    # Person 2 moved to another class, person 9 is a stranger who fits the class of one.
    external = pa.table({"id": ["1", "2", "5", "9"], "years": ["31", "55", "71", "75"]})
    found, _ = attack(
        release, ["age"], ["ill"], original=original, external=external, match={"age": "years"}, identity="id", only=["linkage"]
    )
    wanted = {"people": 4, "matched": 4, "unique": 2, "known": 3, "correct": 2, "unique_correct": 1, "expected_true": 1.5}
    assert wanted.items() <= found.figures.items()
    assert found.exposed[0].labels == {"age": "70-79"}
    assert [p.model for p in found.prevented_by] == ["k-anonymity", None]
    assert found.prevented_by[0].parameters == {"k": 2}
    surer = one(release.drop_columns("ill"), ["age"], [], "linkage", external=external, match={"age": "years"}, confidence=0.4)
    assert surer.figures["exposed_people"] == 4
    assert surer.prevented_by[0].parameters == {"k": 3}


def test_what_the_external_table_does_not_know_fits_everything() -> None:
    release = pa.table({"age": ["30-39", "30-39", "50-59"]})
    found = one(release, ["age"], [], "linkage", external=pa.table({"age": [None, "52"]}))
    assert (found.figures["matched"], found.figures["unique"]) == (2, 1)
    assert found.figures["expected_correct"] == pytest.approx(1 + 1 / 3)


def test_hierarchies_are_built_for_people_whom_the_original_does_not_have() -> None:
    """Only the hierarchy says that a day in March is in the first quarter."""
    original = pa.table({"birth": ["1965-01-14", "1965-02-20", "1966-05-01"]})
    release = pa.table({"birth": ["1965-Q1", "1965-Q1", "1966-Q2"]})
    external = pa.table({"birth": ["1965-03-03", "1966-06-30", "1967-01-01"]})
    quarters = {"birth": {"dates": ["quarter"]}}
    for known in (original, None):
        found = one(release, ["birth"], [], "linkage", external=external, original=known, hierarchies=quarters)
        assert (found.figures["matched"], found.figures["unique"]) == (2, 1)


# Two releases: nothing is claimed that does not hold in every world


def worlds(a: list[Any], b: list[Any], fits: Any, population: int) -> list[list[tuple[int, int]]]:
    """Every way in which records of two releases can be the same people: partial matchings that leave nobody over."""
    found: list[list[tuple[int, int]]] = []

    def extend(i: int, free: frozenset[int], chosen: list[tuple[int, int]]) -> None:
        if i == len(a):
            if len(a) + len(b) - len(chosen) <= population:
                found.append(chosen)
            return
        extend(i + 1, free, chosen)
        for j in free:
            if fits(a[i], b[j]):
                extend(i + 1, free - {j}, [*chosen, (i, j)])

    extend(0, frozenset(range(len(b))), [])
    return found


def releases_of(small: Small, first: list[dict[str, str]], second: list[dict[str, str]]) -> Attack:
    """The attack itself, without reading tables."""
    columns = [*small.qi, "s0"]
    counted = []
    for records in (first, second):
        cells = [pa.array([r[c] for r in records]).dictionary_encode() for c in columns]
        words = tuple(tuple(cell.dictionary.to_pylist()) for cell in cells)
        codes = tuple(cell.indices.to_numpy() for cell in cells)
        counted.append(Counts(tuple(columns), words, codes, np.ones(len(records), dtype=np.int64)))
    a, b = side_by_side(counted, small.qi)
    trees = [Hierarchy.from_rows(c, small.hierarchies[c]) for c in small.qi]
    covers = [relate_labels(c, a.labels[j], b.labels[j], trees[j]) for j, c in enumerate(small.qi)]
    return releases(a, b, covers, trees, len(small.rows))


@settings(max_examples=times(40, 500), deadline=None)
@given(small_tables(most_rows=5), st.integers(0, 10**6))
def test_releases_claim_only_what_holds_in_every_world(small: Small, seed: int) -> None:
    rng = np.random.default_rng(seed)
    (first, levels), (second, other_levels) = released(small, seed), released(small, seed + 1)
    hide = rng.random() < 0.4
    first = [r for r in first if not (hide and rng.random() < 0.2)]
    second = [r for r in second if not (hide and rng.random() < 0.2)]
    if not first or not second or any({r[c] for c in small.qi} == {"*"} for r in (*first, *second)):
        return
    trees = small.hierarchies

    def leaves(column: str, level: int, label: str) -> set[str]:
        return {row[0] for row in trees[column] if row[level] == label}

    def fits(x: dict[str, str], y: dict[str, str]) -> bool:
        both = zip(small.qi, levels, other_levels, strict=True)
        return x["s0"] == y["s0"] and all(leaves(c, p, x[c]) & leaves(c, q, y[c]) for c, p, q in both)

    def key(r: dict[str, str]) -> tuple[str, ...]:
        return tuple(r[c] for c in small.qi)

    found = releases_of(small, first, second)
    every = worlds(first, second, fits, len(small.rows))
    assert every
    sizes = [Counter((key(first[i]), key(second[j])) for i, j in world) for world in every]
    pairs = set().union(*sizes)
    alone = {p for p in pairs if all(s[p] == 1 for s in sizes)}
    certain = {p: max(s[p] for s in sizes) for p in pairs if all(s[p] for s in sizes)}
    f = found.figures
    assert f["singled_out"] <= len(alone)
    assert f["smallest_combined"] >= min([*certain.values(), f["k"], f["other_k"]])
    assert f["smallest_combined"] == min(f["k"], f["other_k"]) or found.succeeded
    cells = defaultdict(list)
    for i, r in enumerate(first):
        cells[key(r), r["s0"]].append(i)
    linked = 0
    for members in cells.values():
        places = [{key(second[j]) for i, j in world if i in members} for world in every]
        all_there = all(sum(i in members for i, _ in world) == len(members) for world in every)
        linked += len(members) if all_there and len(set().union(*places)) == 1 else 0
    assert f["linked"] <= linked
    if len(every) == 1 and len(first) == len(second) == len(small.rows):
        # One world only, by the definition itself: bounds that meet find every record of a cell with one way out.
        assert f["singled_out"] >= sum(
            s == 1 and all(sum(fits(first[i], y) for y in second) == 1 for i, r in enumerate(first) if key(r) == p[0])
            for p, s in sizes[0].items()
        )


def test_bounds_are_propagated() -> None:
    """a fits b and c, d fits b only: so d is b, and then a is c."""
    trees = {"x": {"rows": [["1", "1-2"], ["2", "1-2"], ["3", "3"]]}}
    first = pa.table({"x": ["1-2", "2"], "ill": ["flu", "flu"]})
    second = pa.table({"x": ["1", "2"], "ill": ["flu", "flu"]})
    found = one(first, ["x"], ["ill"], "releases", other=second, hierarchies=trees)
    assert (found.figures["linked"], found.figures["singled_out"]) == (2, 2)


# Order of rows


def patients_released(patients: pa.Table, **output: Any) -> pa.Table:
    from velado import Column

    columns = [
        Column("birth_date", "quasi-identifier", type="date", hierarchy={"dates": ["year", "decade"]}),
        Column("sex", "quasi-identifier"),
        Column("diagnosis", "sensitive"),
    ]
    release = anonymize(patients, columns, [KAnonymity(3)], Lattice(suppression=0.1), rest="drop", output=Output(**output))
    assert release.evaluation.suppressed > 0
    assert release.table is not None
    return release.table


@pytest.mark.parametrize("suppressed", ["drop", "asterisks"])
@pytest.mark.parametrize("order", ["keep", "shuffle", "sorted"])
def test_order_of_rows_is_found_out(patients: pa.Table, order: str, suppressed: str) -> None:
    release = patients_released(patients, order=order, suppressed=suppressed)
    hierarchies = {"birth_date": {"dates": ["year", "decade"]}}
    found = one(release, ["birth_date", "sex"], ["diagnosis"], "order", original=patients, hierarchies=hierarchies)
    assert found.succeeded == (order == "keep")
    assert found.figures["left_out"] == (len(patients) - len(release))
    assert (found.figures["left_out"] > 0) == (suppressed == "drop")
    if order == "keep":
        assert found.figures["in_order"] == 1
        assert str(found.prevented_by[0]) == "random order of rows"
    else:
        assert found.figures["in_order"] < 0.5


def test_releases_of_different_length_are_not_joined_by_row() -> None:
    found = one(pa.table({"x": ["1", "1"]}), ["x"], [], "order", other=pa.table({"x": ["1", "1", "1"]}))
    assert (found.succeeded, found.figures) == (False, {"rows": 2, "other_rows": 3})


# What labels say


@settings(max_examples=times(35, 500), deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4)), min_size=1, max_size=6),
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4)), min_size=1, max_size=6),
)
def test_intervals_fit_if_they_have_a_number_in_common(left: list, right: list) -> None:
    def label(low: int, width: int) -> str:
        return f"{low}-{low + width}" if width else str(low)

    labels, values = sorted({label(*x) for x in left}), sorted({label(*x) for x in right})

    def members(text: str) -> set[int]:
        low, _, high = text.partition("-")
        return set(range(int(low), int(high or low) + 1))

    cover = relate_labels("x", labels, values)
    for i, a in enumerate(labels):
        inside = cover.members(i)
        assert [bool(x) for x in inside] == [bool(members(a) & members(b)) for b in values]


@pytest.mark.parametrize(
    ("label", "value", "fit"),
    [
        ("053**", "05345", True),
        ("053**", "05445", False),
        ("05345", "053**", True),
        ("05***", "053**", True),
        ("*", "anything", True),
        ("anything", "*", True),
        ("[20,30[", "30-39", False),
        ("[20,30]", "30-39", True),
        (">=50", "40-49", False),
        ("{a, b}", "a", True),
        ("a", "{a, b}", True),
        ("1990-03", "1990-03-14", True),
        ("same", "same", True),
    ],
)
def test_labels_are_read_as_what_they_say(label: str, value: str, fit: bool) -> None:
    cover = relate_labels("x", [label, "other"], [value, "other"])
    assert cover.members(0)[0] == fit
    assert not cover.members(1)[0] or value == "*"


def test_the_narrower_label_is_shown() -> None:
    tree = Hierarchy.from_rows("zip", [["05345", "05340"], ["05346", "05340"], ["05351", "05350"]])
    pairs = [("05340", "05346"), ("05351", "05350"), ("05340", "05340")]
    shown, exact = narrower(pairs, tree)
    assert (shown, exact.tolist()) == (["05346", "05351", "05340"], [True, True, False])
    shown, exact = narrower([("30-39", "34"), ("30-39", "20-59"), ("053**", "0534*"), ("*", "a")])
    assert (shown, exact.tolist()) == (["34", "30-39", "0534*", "a"], [True, False, False, True])


# Bad input


def code(*args: Any, **more: Any) -> InputError:
    with pytest.raises(InputError) as caught:
        attack(*args, **more)
    return caught.value


SMALL = pa.table({"age": ["30-39", "30-39"], "ill": ["flu", "asthma"]})


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ({"only": ["homogenity"]}, "unknown-attack"),
        ({"only": ["linkage"]}, "attack-needs"),
        ({"only": ["order"]}, "attack-needs"),
        ({"only": ["releases"]}, "attack-needs"),
        ({"only": ["similarity"]}, "attack-needs"),
        ({"match": {"age": "years"}}, "attack-needs"),
        ({"identity": "id"}, "attack-needs"),
        ({"know": 0}, "bad-parameter"),
        ({"confidence": 1.5}, "bad-parameter"),
        ({"confidence": 0.0}, "bad-parameter"),
        ({"factor": 1.0}, "bad-parameter"),
        ({"external": SMALL, "match": {"agee": "age"}}, "unknown-column"),
        ({"external": SMALL.slice(0, 0)}, "no-rows"),
        ({"external": pa.table({"age": ["young"]})}, None),
        ({"original": pa.table({"age": ["51", "38"], "ill": ["flu", "asthma"]})}, "not-corresponding"),
        ({"original": pa.table({"age": ["31", "38"], "ill": ["flu", "flu"]})}, "not-corresponding"),
        ({"other": pa.table({"age": ["30-39", "40-49"], "ill": ["flu", "asthma"]})}, "not-corresponding"),
        ({"other": pa.table({"age": ["30-39", "30-39"], "ill": ["flu", "flu"]})}, "not-corresponding"),
        ({"other": pa.table({"age": ["30-39", "30-39"]})}, "unknown-column"),
        ({"other": SMALL.slice(0, 0)}, "empty-release"),
    ],
    ids=str,
)
def test_bad_input_is_named(arguments: dict[str, Any], wanted: str | None) -> None:
    if wanted is None:
        assert attack(SMALL, ["age"], ["ill"], **arguments)[-1].figures["matched"] == 0
    else:
        assert code(SMALL, ["age"], ["ill"], **arguments).code == wanted


def test_an_external_table_with_other_names_says_which_and_how() -> None:
    error = code(SMALL, ["age"], ["ill"], external=pa.table({"ages": ["31"], "name": ["Ana"]}))
    assert (error.code, error.column) == ("unknown-column", "age")
    assert "'ages'" in error.hint
    assert "--match age=" in error.hint


def test_labels_that_nobody_can_read_ask_for_a_hierarchy() -> None:
    error = code(table(GT1), QUASI, ["problem"], other=table(GT2), only=["releases"])
    assert (error.code, error.column, error.values) == ("not-corresponding", "ethnicity", ["persona"])
    assert "--hierarchy" in error.hint


def test_an_empty_release_gives_nothing_to_attack() -> None:
    assert code(SMALL.slice(0, 0), ["age"], ["ill"]).code == "empty-release"
    assert code(pa.table({"age": ["*", "*"], "ill": ["*", "*"]}), ["age"], ["ill"]).code == "empty-release"


def test_a_release_alone_gives_nothing_to_try() -> None:
    assert code(SMALL.select(["age"]), ["age"]).code == "attack-needs"
    assert code(None, ["age"]).code == "no-table"


def test_names_that_occur_twice_are_no_identity_and_are_not_shown() -> None:
    original = pa.table({"id": ["Ana", "Ana"], "age": ["31", "38"], "ill": ["flu", "asthma"]})
    external = pa.table({"id": ["Ana", "Eva"], "age": ["31", "38"]})
    error = code(SMALL, ["age"], ["ill"], original=original, external=external, identity="id")
    assert (error.code, error.column) == ("not-an-identity", "id")
    assert "Ana" not in str(error)
    assert code(SMALL, ["age"], original=original.drop_columns("id"), external=external, identity="id").column == "id"


# The registry and the command


def everything() -> tuple[Attack, ...]:
    """An outcome of every attack."""
    original = pa.table({"id": list("1234"), "age": ["31", "38", "52", "57"], "ill": list("aabb"), "cost": list("1289")})
    release = pa.table({"age": ["30-39", "30-39", "50-59", "50-59"], "ill": list("aabb"), "cost": list("1289")})
    return attack(
        release,
        ["age"],
        ["ill", "cost"],
        original=original,
        external=original,
        other=release,
        identity="id",
        hierarchies={"ill": {"groups": {"letters": ["a", "b"]}}},
    )


def test_every_attack_is_registered_runs_and_can_be_shown() -> None:
    found = everything()
    assert set(RUN) == set(ATTACKS) == {a.name for a in found}
    for a in found:
        assert json.loads(json.dumps(a.as_dict()))["name"] == a.name
        assert all(figure_title(name) for name in a.figures)
        assert a.succeeded == bool(a.prevented_by)
        assert all(p.model in MODELS or p.measure in MEASURES for p in a.prevented_by)


def write(folder: Any, **tables: dict[str, list[str]]) -> None:
    for name, columns in tables.items():
        lines = [",".join(columns), *(",".join(row) for row in zip(*columns.values(), strict=True))]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_the_command_says_what_was_tried_and_what_helps(main: Command, tmp_path: Any) -> None:
    write(tmp_path, release=TABLE_12)
    ended = main("attack", "release.csv", "--qi", "age,zip", "--sensitive", "problem", "--only", "homogeneity")
    assert (ended.code, ended.err) == (0, "")
    lines = [" ".join(line.split()) for line in ended.out.splitlines()]
    for wanted in (
        "Homogeneity: problem – succeeds",
        "Whoever is in a class has the value that its records share.",
        "records exposed 3",
        "share exposed 25.0%",
        "<50 054** 3 100.0% gripe 33.3%",
        "Prevented by {distinct-diversity: {l: 2, column: problem}}",
    ):
        assert wanted in lines


def test_only_what_the_table_reaches_is_recommended() -> None:
    """A column of two values has no three; knowing that it is not the one tells the other, in every release."""
    ages = ["<50"] * 4 + [">=50"] * 4
    release = pa.table({"age": ages, "sex": ["f", "m"] * 4, "ill": ["a", "b", "c", "a"] * 2})
    two, three = (a for a in attack(release, ["age"], ["sex", "ill"], only=["background"]))
    assert (two.succeeded, two.expected, [p.measure for p in two.prevented_by]) == (True, True, ["leave-out"])
    assert not three.succeeded or {p.parameters["l"] for p in three.prevented_by} == {3}
    alone = attack(pa.table({"age": ages, "ill": ["a"] * 8}), ["age"], ["ill"], only=["homogeneity"])[0]
    assert (alone.succeeded, alone.expected) == (True, True)
    half = pa.table({"age": ages, "ill": ["a"] * 5 + ["b"] * 3})
    weak, strong = (attack(half, ["age"], ["ill"], only=["homogeneity"], confidence=c)[0] for c in (0.5, 0.7))
    assert weak.expected, "five of eight have it: no class size makes that one in two"
    assert (strong.expected, strong.prevented_by[0].parameters["alpha"]) == (False, 0.7)


@settings(max_examples=40, deadline=None)
@given(small=small_tables(most_rows=20), know=st.integers(1, 3), confidence=st.sampled_from([0.3, 0.6, 1.0]))
def test_what_is_recommended_holds_for_everybody_in_one_class(small: Small, know: int, confidence: float) -> None:
    table = pa.table({c: [row[c] for row in small.rows] for c in [*small.qi, "s0"]})
    records = [{**row} for row in small.rows]
    for found in attack(table, small.qi, ["s0"], know=know, confidence=confidence):
        models = [p for p in found.prevented_by if p.model is not None]
        for p in models:
            described = {"name": p.model, "base": 2, "every": False, "enhanced": False, "distance": "equal"}
            assert oracle.satisfies({**described, **p.parameters}, records, records, {})
        assert found.expected == (not found.succeeded or not (models or found.name in ("order", "releases", "linkage")))


def test_the_command_begins_with_what_to_act_on(main: Command, tmp_path: Any) -> None:
    write(tmp_path, release=TABLE_12 | {"sex": ["f", "m"] * 6})
    ended = main("attack", "release.csv", "--qi", "age,zip", "--sensitive", "problem,sex", "--only", "homogeneity,background")
    summary, _ = ended.out.split("In detail:")
    act, expected = summary.split("Expected of every release of this table")
    assert act.startswith("Act on this")
    assert "Homogeneity: problem" in act
    assert "{distinct-diversity: {l: 2, column: problem}}" in act
    assert "Background knowledge: sex" in expected
    assert "leaving the column out" in expected
    assert "l: 3, column: sex" not in ended.out


def test_the_command_gives_one_json_object(main: Command, tmp_path: Any) -> None:
    write(tmp_path, gt1=GT1, gt2=GT2)
    for column in ("ethnicity", "sex"):
        (group, members), *_ = TREES[column]["groups"].items()
        (tmp_path / f"{column}.csv").write_text("".join(f"{m};{group}\n" for m in members), encoding="utf-8")
    (tmp_path / "zip.csv").write_text("".join(f"{z};{z[:4]}0\n" for z in ZIPS), encoding="utf-8")
    trees = [x for c in ("ethnicity", "sex", "zip") for x in ("--hierarchy", f"{c}={c}.csv")]
    arguments = ("gt1.csv", "--other", "gt2.csv", "--qi", ",".join(QUASI), "--sensitive", "problem", *trees)
    ended = main("attack", *arguments, "--only", "releases", "--json")
    (found,) = ended.json["attacks"]
    assert list(found) == ["name", "succeeded", "figures", "exposed", "prevented_by", "column", "against", "expected"]
    assert (found["succeeded"], found["figures"]["singled_out"]) == (True, 2)
    assert found["exposed"][0]["labels"]["zip"] == "05345"


def test_the_command_never_shows_who_was_found(main: Command, tmp_path: Any) -> None:
    people = {"name": ["Ana Souza", "Eva Lima"], "postcode": ["05345", "05411"], "years": ["71", "38"]}
    write(tmp_path, release={"zip": ["053**", "054**", "054**"], "age": ["70-79", "30-39", "30-39"]}, people=people)
    arguments = ("attack", "release.csv", "--qi", "zip,age", "--external", "people.csv", "--match", "zip=postcode")
    ended = main(*arguments, "--match", "age=years")
    assert "people with one candidate only 1" in " ".join(ended.out.split())
    assert "053**" in ended.out
    assert not any(x in ended.out for column in people.values() for x in column)
    bad = main(*arguments)
    assert bad.code == 2
    assert "people.csv, column 'age': the external table has no such column" in bad.err
    assert main(*arguments, "--match", "age").code == 2


def test_all_columns_together_find_whom_each_alone_does_not(tmp_path: Any) -> None:
    """Days and hours are shared by many, both of them by nobody; of what only the person and the keeper know nobody looks people up."""
    shown = {"sex": ["f"] * 36, "day": [f"day {i // 6}" for i in range(36)], "hour": [f"hour {i % 6}" for i in range(36)]}
    write(tmp_path, release={**shown, "ill": [f"illness {i // 4}" for i in range(36)]})
    columns = {
        "sex": "quasi-identifier",
        "day": "insensitive",
        "hour": "insensitive",
        "ill": {"role": "sensitive", "known": "never"},
    }
    about = {"source": {"path": str(tmp_path / "release.csv")}, "columns": columns, "models": [{"k-anonymity": {"k": 5}}]}
    found = {a.column: a for a in attack(tmp_path / "release.csv", project=about, only=["lookup"])}
    assert {name: a.succeeded for name, a in found.items()} == {"day": False, "hour": False, "ill": False, None: True}
    assert found[None].figures == {"records": 36, "singled_out_by_all": 36, "few_by_all": 36, "if_known": 36}
    assert found["ill"].figures["if_known"] == 0
    assert "if_known" not in found["day"].figures
    alone = attack(pa.table({name: shown[name] for name in ("sex", "day")}), ["sex"], only=["lookup"])
    assert [a.column for a in alone] == ["day"]


def test_a_project_gives_original_release_and_roles(write_project: Any, main: Command) -> None:
    write_project(output={"path": "out.csv", "order": "keep"})
    assert main("run", "project.yaml").code == 0
    found = main("attack", "--project", "project.yaml", "--json").json["attacks"]
    by_name = {a["name"]: a for a in found}
    assert set(by_name) == {"lookup", "homogeneity", "background", "skewness", "order"}
    assert by_name["order"]["succeeded"]
    assert by_name["order"]["figures"]["in_order"] == 1
    error = main("attack", "out.csv", "--project", "project.yaml", "--qi", "sex").err
    assert "the project already says roles" in error
