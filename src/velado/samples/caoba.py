"""Invented customers of a bank, with the columns of the private CAOBA table of the Anonylitics thesis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from velado.samples.random_columns import curve, draw, draw_given, fading, generator, join_columns, pad_zeros, pick

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = 493_399
YEAR = 2017
PERSONS = ("NATURAL", "JURIDICA")
COMPANIES = 0.04
DOCUMENTS = {"CC": 955, "CE": 25, "TI": 12, "PA": 8}
BIRTH_YEARS = np.arange(1900, 2013)
CUSTOMERS_BY_BIRTH_YEAR = {
    1900: 0.0004,
    1915: 0.002,
    1925: 0.02,
    1935: 0.15,
    1945: 0.5,
    1955: 1.1,
    1965: 1.7,
    1975: 2.2,
    1985: 2.6,
    1992: 1.9,
    1997: 0.6,
    2000: 0.12,
    2005: 0.03,
    2012: 0.01,
}
COMPANIES_BY_YEAR = {1900: 0.001, 1940: 0.03, 1970: 0.3, 1990: 1.0, 2005: 1.6, 2012: 2.0}
FADES = 11.0
"""Years after which the number of customers who have stayed that long has fallen to a third."""
LONGEST = 62
CHILDREN = 17
CHILDLESS = {0: 1.0, 18: 1.0, 25: 0.9, 40: 0.68, 60: 0.64, 117: 0.62}
"""Share of people without children (as the bank knows), by age."""
NEXT_CHILD = 0.65
INCOME = {18: 13.4, 30: 14.3, 50: 14.6, 70: 14.1, 117: 13.8}
"""Logarithm of the median monthly income in pesos, by age."""
STUDIES = ("PRIMARIA", "BACHILLERATO", "TECNICO", "UNIVERSITARIO", "ESPECIALIZACION", "MAESTRIA", "DOCTORADO")
STUDIES_WEIGHTS = (9, 31, 22, 26, 8, 3, 0.4)
SEGMENTS = 14
CITIES = {
    "BOGOTA": ("CUNDINAMARCA", 34),
    "MEDELLIN": ("ANTIOQUIA", 15),
    "CALI": ("VALLE DEL CAUCA", 11),
    "BARRANQUILLA": ("ATLANTICO", 7),
    "BUCARAMANGA": ("SANTANDER", 5),
    "CARTAGENA": ("BOLIVAR", 4.5),
    "CUCUTA": ("NORTE DE SANTANDER", 3),
    "PEREIRA": ("RISARALDA", 3),
    "IBAGUE": ("TOLIMA", 2.6),
    "SANTA MARTA": ("MAGDALENA", 2.4),
    "MANIZALES": ("CALDAS", 2.3),
    "VILLAVICENCIO": ("META", 2.2),
    "SOACHA": ("CUNDINAMARCA", 1.8),
    "BELLO": ("ANTIOQUIA", 1.5),
    "PALMIRA": ("VALLE DEL CAUCA", 1.1),
    "ARMENIA": ("QUINDIO", 1.4),
    "NEIVA": ("HUILA", 1.3),
    "PASTO": ("NARINO", 1.2),
    "TUNJA": ("BOYACA", 0.8),
    "POPAYAN": ("CAUCA", 0.7),
    "LETICIA": ("AMAZONAS", 0.05),
}
ABROAD = {"MIAMI": ("FLORIDA", "ESTADOS UNIDOS", 0.3), "MADRID": ("MADRID", "ESPANA", 0.2), "QUITO": ("PICHINCHA", "ECUADOR", 0.1)}
FIRST_DOCUMENT, DIGITS = 9_000_000_000, 10**9


def caoba(rows: int = ROWS, seed: int = 2017) -> pa.Table:
    """Invented customers as text columns; the same rows and seed give the same table.

    What the thesis says of the real table holds: names and order of the columns, number of records, more than 70 % of
    the customers without children, years of birth and of the contract less uneven, some 6,000 records singled out by
    the three numbers. Everything else is made up.

    >>> caoba(3).column_names[:6]
    ['num_doc', 'tipo_doc', 'tipo_persona', 'anhos_v', 'num_hijos', 'anho_nacimiento']
    """
    import pyarrow as pa

    rng = generator(seed)
    company = rng.random(rows) < COMPANIES
    born = _years(rng, company)
    age = YEAR - born
    children = np.where(company, 0, _children(rng, age))
    document = np.where(company, len(DOCUMENTS), draw(rng, list(DOCUMENTS.values()), rows))
    studies = draw(rng, STUDIES_WEIGHTS, rows)
    city, department, country = _places(rng, rows)
    return pa.table(
        {
            "num_doc": pad_zeros(FIRST_DOCUMENT + rng.choice(DIGITS, size=rows, replace=False), 10),
            "tipo_doc": pick([*DOCUMENTS, "NIT"], document),
            "tipo_persona": pick(PERSONS, company.astype(np.int64)),
            "anhos_v": pad_zeros(_years_bound(rng, age, company), 1),
            "num_hijos": pad_zeros(children, 1),
            "anho_nacimiento": pad_zeros(born, 4),
            "valor_ingresos": _incomes(rng, age, company),
            "nivel_academico": pick(STUDIES, studies, missing=company),
            "segmento": join_columns(pick(["S"], np.zeros(rows, dtype=np.int64)), _segments(rng, rows), by=""),
            "ciudad": city,
            "depto": department,
            "pais": country,
        }
    )


def _years(rng: np.random.Generator, company: np.ndarray) -> np.ndarray:
    """Years of birth of people, of foundation of companies."""
    weights = np.stack([curve(anchors, BIRTH_YEARS) for anchors in (CUSTOMERS_BY_BIRTH_YEAR, COMPANIES_BY_YEAR)])
    return np.asarray(BIRTH_YEARS[draw_given(rng, weights, company.astype(np.int64))])


def _years_bound(rng: np.random.Generator, age: np.ndarray, company: np.ndarray) -> np.ndarray:
    """Years of the contract: many new customers, few old ones; people from 14 on, companies from their foundation."""
    years = np.arange(LONGEST + 1)
    longest = np.clip(np.where(company, age, age - 14), 0, LONGEST)
    weights = np.where(years <= years[:, None], np.exp(-years / FADES), 0.0)
    return draw_given(rng, weights, longest)


def _children(rng: np.random.Generator, age: np.ndarray) -> np.ndarray:
    """None for most; every further child is less likely than the one before."""
    ages = np.arange(int(age.max()) + 1)
    none = curve(CHILDLESS, ages)
    some = NEXT_CHILD ** np.arange(CHILDREN)
    weights = np.column_stack([none, np.outer(1 - none, some / some.sum())])
    return draw_given(rng, weights, age)


def _incomes(rng: np.random.Generator, age: np.ndarray, company: np.ndarray) -> pa.Array:
    """Log-normal incomes in thousands of pesos; companies earn more."""
    median = curve(INCOME, np.arange(int(age.max()) + 1))[age] + np.where(company, 2.5, 0.0)
    pesos = np.exp(median + 0.7 * rng.standard_normal(len(age)))
    return pad_zeros(1000 * np.rint(pesos / 1000).astype(np.int64), 1)


def _segments(rng: np.random.Generator, rows: int) -> pa.Array:
    return pad_zeros(1 + draw(rng, fading(SEGMENTS), rows), 2)


def _places(rng: np.random.Generator, rows: int) -> tuple[pa.Array, pa.Array, pa.Array]:
    """Cities with their department and country."""
    places = [(c, d, "COLOMBIA", w) for c, (d, w) in CITIES.items()] + [(c, *rest) for c, rest in ABROAD.items()]
    city, department, country, weight = zip(*places, strict=True)
    at = draw(rng, weight, rows)
    return pick(city, at), pick(department, at), pick(country, at)
