"""Anonymity vectors: order, ranks by counting against enumeration, the figures of the UCM thesis (section 2.5)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle_appointments import all_vectors, partitions
from velado.appointments.anonymity_vectors import AnonymityVector, difference, distance, improvement, number_of_vectors
from velado.appointments.integer_partitions import partition_numbers, with_parts_of_at_least
from velado.errors import InputError

BASE = AnonymityVector((2, 3, 2, 4))
DRAWN = AnonymityVector((24, 3))
SOLVED = AnonymityVector((9, 4, 3, 1))
BETTER = AnonymityVector((2, 6, 4, 1))


def test_order_for_four_people():
    expected = [(4,), (2, 1), (1, 0, 1), (0, 2), (0, 0, 0, 1)]
    assert [v.counts for v in all_vectors(4)] == expected


@pytest.mark.parametrize("population", range(1, 15))
def test_ranks_are_places_in_the_list_of_all_vectors(population):
    vectors = all_vectors(population)
    assert [v.rank for v in vectors] == list(range(len(vectors)))
    assert number_of_vectors(population) == len(vectors)


def test_ranks_of_a_larger_population():
    vectors = all_vectors(30)
    assert len(vectors) == 5604
    for place in range(0, len(vectors), 97):
        assert vectors[place].rank == place


def test_the_ranks_of_the_thesis_counted_from_0():
    assert [v.rank for v in (BASE, DRAWN, SOLVED, BETTER)] == [3157, 7, 641, 3044]


def test_improvements_of_the_thesis():
    assert float(improvement(SOLVED, DRAWN, BASE)) == pytest.approx(0.2008, abs=5e-5)
    assert float(improvement(BETTER, DRAWN, BASE)) == pytest.approx(0.9620, abs=5e-5)
    assert improvement(DRAWN, SOLVED, BASE) == -improvement(SOLVED, DRAWN, BASE)


def test_distance_of_the_thesis():
    first, second = AnonymityVector((0, 2, 0, 0)), AnonymityVector((2, 1, 0, 0))
    assert difference(first, second) == 2
    assert difference(second, first) == -2
    assert distance(first, second) == distance(second, first) == 2


def test_no_improvement_on_a_base_of_lone_people():
    lone = AnonymityVector((5,))
    with pytest.raises(InputError) as raised:
        improvement(lone, lone, lone)
    assert raised.value.code == "worst-base"


@pytest.mark.parametrize("base", [(5,), (0, 3)])
def test_only_vectors_of_one_population_are_compared(base):
    with pytest.raises(InputError) as raised:
        improvement(AnonymityVector((1, 2)), AnonymityVector((0, 3)), AnonymityVector(base))
    assert raised.value.code == "different-populations"


def test_ten_thousand_people():
    vector = AnonymityVector.of_sizes([10_000])
    assert vector.rank == number_of_vectors(10_000) - 1
    assert str(number_of_vectors(10_000)).startswith("361672513256362")
    assert len(str(number_of_vectors(10_000))) == 107
    assert AnonymityVector((10_000,)).rank == 0


def test_partition_numbers():
    numbers = partition_numbers(1000)
    assert numbers[:12] == [1, 1, 2, 3, 5, 7, 11, 15, 22, 30, 42, 56]
    assert numbers[100] == 190_569_292
    assert numbers[1000] == 24_061_467_864_032_622_473_692_149_727_991


@pytest.mark.parametrize("j", range(1, 21))
def test_partitions_into_large_parts(j):
    for n in range(-2, 20):
        falling = [n + j - i for i in range(1, j + 1)]
        counted = with_parts_of_at_least(falling) - with_parts_of_at_least(falling[:-1])
        assert counted == sum(1 for _ in partitions(n, j))


sizes = st.lists(st.integers(1, 40), min_size=1, max_size=12)


@given(sizes, st.randoms(use_true_random=False))
def test_ranks_follow_the_order(parts, random):
    other = list(parts)
    for _ in range(random.randint(1, 3)):
        merged = [random.choice(other)]
        other.remove(merged[0])
        other += [merged[0] - 1, 1] if merged[0] > 1 else merged
    first, second = AnonymityVector.of_sizes(parts), AnonymityVector.of_sizes(other)
    assert (first < second) == (first.rank > second.rank)
    assert (first == second) == (first.rank == second.rank)
    assert 0 <= first.rank < number_of_vectors(first.population)


@given(sizes)
def test_normal_form(parts):
    vector = AnonymityVector.of_sizes(parts)
    assert vector == AnonymityVector((*vector.counts, 0, 0))
    assert vector.population == sum(parts)
    assert vector.k == min(parts)
