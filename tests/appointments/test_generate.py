"""Invented people and slots are as the thesis describes them."""

import numpy as np
import pytest

from velado import InputError
from velado.appointments import generate_people, generate_slots
from velado.appointments.tables.generate import SPAIN_2015, SPAIN_2015_BY_SEX


def test_the_figures_of_the_thesis_add_up() -> None:
    # Figure 14 prints a total of 46,439,864; its rows are rounded estimates.
    assert abs(sum(SPAIN_2015) - 46_439_864) < 10
    assert sum(SPAIN_2015_BY_SEX.values()) == 46_439_864


def test_uniform_ages() -> None:
    people = generate_people(people=20_000, youngest=20, oldest=29, postal_codes=4, seed=1)
    assert people.column_names == ["id", "age", "sex", "postal_code"]
    assert people["id"].to_pylist() == list(range(20_000))
    ages = np.bincount(people["age"].to_numpy(), minlength=30)
    assert ages[:20].sum() == 0
    assert (np.abs(ages[20:] - 2000) < 250).all()
    assert set(people["postal_code"].to_pylist()) == {"28000", "28001", "28002", "28003"}
    assert abs(people["sex"].to_pylist().count("man") - 10_000) < 400


def test_ages_and_sexes_of_spain() -> None:
    people = generate_people(people=200_000, ages="spain-2015", seed=2)
    ages = people["age"].to_numpy()
    shares = np.bincount(np.minimum(ages // 5, 19), minlength=20) / len(ages)
    assert np.abs(shares - np.array(SPAIN_2015) / sum(SPAIN_2015)).max() < 0.003
    assert ages.max() == 100
    men = people["sex"].to_pylist().count("man") / len(ages)
    assert abs(men - SPAIN_2015_BY_SEX["man"] / sum(SPAIN_2015_BY_SEX.values())) < 0.005


def test_a_range_of_ages_keeps_their_proportions() -> None:
    ages = generate_people(people=100_000, ages="spain-2015", youngest=38, oldest=41, sex="woman")["age"].to_numpy()
    assert set(ages.tolist()) == {38, 39, 40, 41}
    younger = (ages < 40).mean()
    assert abs(younger - SPAIN_2015[7] / (SPAIN_2015[7] + SPAIN_2015[8])) < 0.01


def test_one_sex_only() -> None:
    assert set(generate_people(people=50, sex="woman")["sex"].to_pylist()) == {"woman"}


def test_seeds_and_tables_differ() -> None:
    same = [generate_people(1, people=50, seed=3) for _ in range(2)]
    assert same[0].equals(same[1])
    assert not same[0].equals(generate_people(2, people=50, seed=3))
    assert not same[0].equals(generate_people(1, people=50, seed=4))


@pytest.mark.parametrize(
    ("slots", "people", "lowest", "highest"), [(5, 100, 10, 25), (5, 125, 10, 25), (2, 100, 1, 7), (9, 0, 0, 3), (1, 30, 30, 30)]
)
def test_there_are_places_for_everybody(slots: int, people: int, lowest: int, highest: int) -> None:
    for seed in range(30):
        made = generate_slots(slots=slots, people=people, lowest=lowest, highest=highest, seed=seed)
        capacities = made["capacity"].to_numpy()
        assert capacities.sum() >= people
        assert capacities.min() >= lowest
        assert capacities.max() <= highest
        # More slots than asked for only where these could not hold everybody.
        assert len(capacities) == max(slots, -(-people // highest))
        assert len({tuple(row.values()) for row in made.select(["place", "hour"]).to_pylist()}) == len(capacities)


@pytest.mark.parametrize(
    "bad",
    [
        {"people": 0},
        {"ages": "old"},
        {"sex": "x"},
        {"youngest": 50, "oldest": 40},
        {"oldest": 101},
        {"postal_codes": 0},
        {"seed": -1},
    ],
)
def test_people_refuse_nonsense(bad: dict[str, int]) -> None:
    with pytest.raises(InputError) as caught:
        generate_people(**bad)
    assert caught.value.code == "bad-parameter"


@pytest.mark.parametrize("bad", [{"slots": 0}, {"people": -1}, {"lowest": 5, "highest": 4}, {"highest": 0}, {"lowest": 1.5}])
def test_slots_refuse_nonsense(bad: dict[str, int]) -> None:
    with pytest.raises(InputError) as caught:
        generate_slots(**bad)
    assert caught.value.code == "bad-parameter"
