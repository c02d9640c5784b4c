"""Invented people and slots for experiments (UCM, sections 4.1, 4.2 and chapter 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from velado.errors import InputError
from velado.parameters import Choice, Number, Parameter, check
from velado.sentences import Sentence

if TYPE_CHECKING:
    import pyarrow as pa

SPAIN_2015 = (
    2_256_137,
    2_484_228,
    2_307_748,
    2_152_888,
    2_318_277,
    2_637_741,
    3_267_325,
    3_948_602,
    3_888_532,
    3_690_385,
    3_409_097,
    2_978_760,
    2_508_107,
    2_357_956,
    1_949_490,
    1_553_295,
    1_425_513,
    854_988,
    356_755,
    94_038,
)
"""Residents of Spain on 1 January 2015 by age: 0 to 4, 5 to 9, …, 95 and more (UCM, figure 14; INE, provisional)."""
SPAIN_2015_BY_SEX = {"man": 22_820_775, "woman": 23_619_089}
"""The same by sex (UCM, figure 15). The text gives no ages by sex: here they are independent."""
OLDEST = 100
FIRST_POSTAL_CODE = 28_000
HOURS = 8
"""Slots of a place on a day, from 9 o'clock on."""


@dataclass(frozen=True)
class PeopleLike:
    """What invented people are like.

    ``ages``: uniform between the youngest and the oldest, or as in Spain on 1 January 2015, in five-year groups, the ages
    of a group alike (95 and more: 95 to 100).
    """

    people: int = 100
    ages: str = "uniform"
    sex: str = "both"
    youngest: int = 0
    oldest: int = OLDEST
    postal_codes: int = 3
    seed: int = 0
    name: ClassVar[str] = Sentence("people")
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "people": Number("how many", low=1, high=100_000_000, integer=True),
        "ages": Choice("distribution of the ages", ("uniform", "spain-2015")),
        "sex": Choice("whom to invent", ("both", "man", "woman")),
        "youngest": Number("lowest age", low=0, high=OLDEST, integer=True, unit="years"),
        "oldest": Number("highest age", low=0, high=OLDEST, integer=True, unit="years"),
        "postal_codes": Number("number of postal codes", low=1, high=70_000, integer=True),
        "seed": Number("seed of the draws", low=0, integer=True, expert=True),
    }

    def __post_init__(self) -> None:
        check(self)
        check_range("youngest", self.youngest, "oldest", self.oldest)


def generate_people(table: int = 0, **like: int | str) -> pa.Table:
    """Invented people: id, age, sex, postal_code. ``table`` tells several tables of one seed apart.

    Parameters as in `PeopleLike`.

    >>> generate_people(people=3, postal_codes=1)["postal_code"].to_pylist()
    ['28000', '28000', '28000']
    """
    import pyarrow as pa

    wanted = PeopleLike(**like)  # type: ignore[arg-type]
    rng = np.random.Generator(np.random.PCG64([wanted.seed, table]))
    ages = np.arange(wanted.youngest, wanted.oldest + 1)
    weights = np.ones(len(ages)) if wanted.ages == "uniform" else _spanish(ages)
    sexes = list(SPAIN_2015_BY_SEX) if wanted.sex == "both" else [wanted.sex]
    shares = np.array([SPAIN_2015_BY_SEX[s] if wanted.ages != "uniform" else 1 for s in sexes], dtype=float)
    postal_codes = [f"{FIRST_POSTAL_CODE + i:05d}" for i in range(wanted.postal_codes)]
    return pa.table(
        {
            "id": pa.array(np.arange(wanted.people)),
            "age": pa.array(rng.choice(ages, wanted.people, p=weights / weights.sum())),
            "sex": pa.array(sexes).take(pa.array(rng.choice(len(sexes), wanted.people, p=shares / shares.sum()))),
            "postal_code": pa.array(postal_codes).take(pa.array(rng.integers(0, len(postal_codes), wanted.people))),
        }
    )


def _spanish(ages: np.ndarray) -> np.ndarray:
    group = np.minimum(ages // 5, len(SPAIN_2015) - 1)
    ages_in_group = np.full(len(SPAIN_2015), 5)
    ages_in_group[-1] = OLDEST - 5 * (len(SPAIN_2015) - 1) + 1
    return np.asarray((np.array(SPAIN_2015) / ages_in_group)[group])


@dataclass(frozen=True)
class SlotsLike:
    """What invented slots are like: how many, their capacities, and for how many people there must be places."""

    slots: int = 5
    people: int = 100
    lowest: int = 10
    highest: int = 25
    seed: int = 0
    name: ClassVar[str] = Sentence("slots")
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "slots": Number("how many", low=1, high=10_000_000, integer=True),
        "people": Number("people who need a place", low=0, high=100_000_000, integer=True),
        "lowest": Number("lowest capacity", low=0, high=100_000_000, integer=True),
        "highest": Number("highest capacity", low=1, high=100_000_000, integer=True),
        "seed": Number("seed of the draws", low=0, integer=True, expert=True),
    }

    def __post_init__(self) -> None:
        check(self)
        check_range("lowest", self.lowest, "highest", self.highest)


def generate_slots(table: int = 0, **like: int) -> pa.Table:
    """Invented slots with places for everybody: slot, place, hour, capacity. Parameters as in `SlotsLike`.

    Capacities are uniform. If the slots could not hold everybody even at the highest capacity, there are more slots; if
    places are lacking then, slots in random order get the highest capacity until there are enough.

    >>> sum(generate_slots(slots=2, people=100, lowest=10, highest=25)["capacity"].to_pylist())
    100
    """
    import pyarrow as pa

    wanted = SlotsLike(**like)
    rng = np.random.Generator(np.random.PCG64([wanted.seed, table]))
    count = max(wanted.slots, -(-wanted.people // wanted.highest))
    capacities = rng.integers(wanted.lowest, wanted.highest, count, endpoint=True)
    order = rng.permutation(count)
    gained = np.cumsum(wanted.highest - capacities[order])
    lacking = wanted.people - int(capacities.sum())
    if lacking > 0:
        capacities[order[: int(np.searchsorted(gained, lacking)) + 1]] = wanted.highest
    number = np.arange(count)
    return pa.table(
        {
            "slot": pa.array([f"S{i + 1}" for i in number.tolist()]),
            "place": pa.array([f"place {i // HOURS + 1}" for i in number.tolist()]),
            "hour": pa.array([f"{9 + i % HOURS:02d}:00" for i in number.tolist()]),
            "capacity": pa.array(capacities),
        }
    )


def check_range(low: str, lowest: int, high: str, highest: int) -> None:
    """The first of two parameters may not be above the second."""
    if lowest > highest:
        raise InputError(
            "bad-parameter",
            Sentence(
                "'{low}' ({lowest}) must not be above '{high}' ({highest})", low=low, lowest=lowest, high=high, highest=highest
            ),
        )
