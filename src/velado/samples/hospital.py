"""Invented hospital patients, whose diagnosis depends on sex and age as it does in life."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from velado.samples.diagnoses import LEAVES, PROFILES
from velado.samples.random_columns import (
    curve,
    draw,
    draw_given,
    fading,
    generator,
    iso_dates,
    join_columns,
    pad_zeros,
    pick,
    words,
)

if TYPE_CHECKING:
    import pyarrow as pa

TODAY = np.datetime64("2026-01-01")
YEAR = 365.2425
AGES = np.arange(101)
PATIENTS_BY_AGE = {0: 3.0, 2: 1.2, 10: 0.6, 18: 0.8, 32: 1.5, 45: 1.2, 60: 1.8, 75: 2.4, 85: 1.5, 95: 0.25, 100: 0.03}
FEMALE_SHARE = {0: 0.48, 18: 0.5, 30: 0.6, 45: 0.52, 65: 0.48, 80: 0.56, 100: 0.75}
SEXES = ["female", "male"]
MISSING_SHARE = 0.005

MARITAL = {
    "single": {18: 1.0, 25: 0.93, 35: 0.5, 50: 0.22, 70: 0.09, 100: 0.07},
    "married": {18: 0.0, 25: 0.065, 35: 0.45, 50: 0.62, 70: 0.66, 85: 0.4, 100: 0.12},
    "divorced": {18: 0.0, 25: 0.005, 35: 0.05, 50: 0.14, 70: 0.09, 100: 0.02},
    "widowed": {18: 0.0, 35: 0.002, 50: 0.02, 70: 0.16, 85: 0.48, 100: 0.8},
}

CHECK_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"
FIRST_ID, IDS = 90_000_000, 10_000_000

FEMALE_NAMES = words("""María Carmen Ana Lucía Isabel Laura Cristina Marta Elena Pilar Rosa Sara Paula Teresa Julia
Alba Irene Silvia Nuria Beatriz Rocío Inés Clara Noelia Eva Olga Amparo Begoña Lourdes Valeria""")
MALE_NAMES = words("""Antonio José Manuel Francisco David Juan Javier Daniel Carlos Jesús Alejandro Miguel Rafael
Pedro Pablo Ángel Sergio Fernando Jorge Luis Alberto Álvaro Diego Adrián Raúl Iván Rubén Óscar Andrés Hugo""")
SURNAMES = words("""García Rodríguez González Fernández López Martínez Sánchez Pérez Gómez Martín Jiménez Hernández
Ruiz Díaz Moreno Muñoz Álvarez Romero Gutiérrez Alonso Navarro Torres Domínguez Ramos Vázquez Gil Serrano Blanco
Molina Morales Suárez Ortega Delgado Castro Ortiz Rubio Marín Sanz Iglesias Núñez Medina Garrido Cortés Castillo
Santos Lozano Guerrero Cano Prieto Méndez Cruz Calvo Gallego Vidal León Herrera Peña Márquez Cabrera Flores""")


class City(NamedTuple):
    """A city whose postal codes follow one another, common ones first."""

    first_code: int
    codes: int
    weight: float


CITIES = {
    "Madrid": City(28001, 55, 26),
    "Barcelona": City(8001, 42, 18),
    "Valencia": City(46001, 26, 11),
    "Sevilla": City(41001, 20, 10),
    "Zaragoza": City(50001, 22, 9),
    "Palma": City(7001, 15, 6),
    "Bilbao": City(48001, 15, 5),
    "Alicante": City(3001, 16, 5),
    "Vitoria-Gasteiz": City(1001, 15, 4),
    "Almería": City(4001, 9, 3),
    "Burgos": City(9001, 7, 2),
    "Albacete": City(2001, 8, 1),
}

DIAGNOSES = {chapter: {group: list(diagnoses) for group, diagnoses in groups.items()} for chapter, groups in PROFILES.items()}
"""Every diagnosis in its group and chapter: chapter -> group -> diagnoses."""


def hospital(rows: int = 5000, seed: int = 2026) -> pa.Table:
    """Invented patients as text columns; the same rows and seed give the same table.

    >>> hospital(3).column_names[:4]
    ['name', 'national_id', 'birth_date', 'sex']
    """
    import pyarrow as pa

    rng = generator(seed)
    age = draw(rng, curve(PATIENTS_BY_AGE, AGES), rows)
    female = curve(FEMALE_SHARE, AGES)
    sex = draw_given(rng, np.stack([female, 1 - female], axis=1), age)
    diagnosis = draw_given(rng, _diagnosis_weights(), 2 * age + sex)
    postal_code, city = _places(rng, rows)
    return pa.table(
        {
            "name": _names(rng, sex),
            "national_id": _national_ids(rng, rows),
            "birth_date": iso_dates(TODAY - np.floor((age + rng.random(rows)) * YEAR).astype(np.int64)),
            "sex": pick(SEXES, sex),
            "postal_code": postal_code,
            "city": city,
            "marital_status": _marital_statuses(rng, age),
            "diagnosis": pick(list(LEAVES), diagnosis),
            "cost": _costs(rng, diagnosis),
        }
    )


def _diagnosis_weights() -> np.ndarray:
    """One line of diagnosis weights for each age and sex, in the order of 2 * age + sex."""
    weights = np.empty((len(AGES), 2, len(LEAVES)))
    for leaf, p in enumerate(LEAVES.values()):
        shape = np.interp(AGES, [p.youngest, p.peak, p.oldest], [0, 1, 0])
        weights[:, :, leaf] = np.outer(shape, [p.female, p.male])
    return weights.reshape(-1, len(LEAVES))


def _names(rng: np.random.Generator, sex: np.ndarray) -> pa.Array:
    """A given name that fits the sex, and two surnames."""
    given = sex * len(FEMALE_NAMES) + draw(rng, fading(len(FEMALE_NAMES)), len(sex))
    surnames = [pick(SURNAMES, draw(rng, fading(len(SURNAMES)), len(sex))) for _ in range(2)]
    return join_columns(pick(FEMALE_NAMES + MALE_NAMES, given), *surnames, by=" ")


def _national_ids(rng: np.random.Generator, rows: int) -> pa.Array:
    """Distinct numbers that all begin with 9, with the check letter of their remainder by 23."""
    numbers = FIRST_ID + rng.choice(IDS, size=rows, replace=False)
    return join_columns(pad_zeros(numbers, 8), pick(list(CHECK_LETTERS), numbers % len(CHECK_LETTERS)), by="")


def _places(rng: np.random.Generator, rows: int) -> tuple[pa.Array, pa.Array]:
    """Postal codes and the cities that they belong to."""
    city = draw(rng, [c.weight for c in CITIES.values()], rows)
    code = np.zeros(rows, dtype=np.int64)
    for number, place in enumerate(CITIES.values()):
        here = np.flatnonzero(city == number)
        code[here] = place.first_code + draw(rng, fading(place.codes), len(here))
    return pad_zeros(code, 5), pick(list(CITIES), city)


def _marital_statuses(rng: np.random.Generator, age: np.ndarray) -> pa.Array:
    """Marital statuses that fit the age, a few of them missing."""
    weights = np.stack([curve(anchors, AGES) for anchors in MARITAL.values()], axis=1)
    return pick(list(MARITAL), draw_given(rng, weights, age), missing=rng.random(len(age)) < MISSING_SHARE)


def _costs(rng: np.random.Generator, diagnosis: np.ndarray) -> pa.Array:
    """Log-normal costs in euros around the median of the diagnosis."""
    median, spread = np.array([(p.cost, p.spread) for p in LEAVES.values()]).T
    euros = median[diagnosis] * np.exp(spread[diagnosis] * rng.standard_normal(len(diagnosis)))
    cents = np.rint(100 * euros).astype(np.int64)
    return join_columns(pad_zeros(cents // 100, 1), pad_zeros(cents % 100, 2), by=".")
