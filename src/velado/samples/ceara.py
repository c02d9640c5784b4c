"""Invented people tested for COVID-19 in Ceará, Brazil, with the columns of a Brazilian health register."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from velado.samples.random_columns import curve, draw, fading, generator, iso_dates, join_columns, pad_zeros, pick, words

if TYPE_CHECKING:
    import pyarrow as pa

GIVEN_NAMES = words("""MARIA JOSÉ ANTÔNIO ANA FRANCISCO JOÃO FRANCISCA ANTÔNIA PAULO LUIZ CARLOS RAIMUNDO PEDRO
LUCAS ADRIANA JULIANA MARCOS FERNANDA GABRIEL PATRÍCIA RAFAEL ALINE DANIEL CAMILA MATEUS BRUNA FELIPE LETÍCIA CÍCERO
AMANDA TEREZA GUILHERME LARISSA DIEGO BEATRIZ THIAGO VITÓRIA EDUARDO SANDRA SEBASTIÃO RITA LEONARDO LUANA DAVI
HELENA ARTHUR ALICE LÚCIA MANOEL FÁTIMA SOCORRO APARECIDA VALDIR IVONE JÉSSICA""")
MOTHERS_SURNAMES = words("""SOUSA PEREIRA ALVES RODRIGUES GOMES RIBEIRO MARTINS CARVALHO BARBOSA MOREIRA FREITAS
MENDES CASTRO BEZERRA NUNES PINHEIRO MAIA BRITO MATOS PINTO SAMPAIO CAVALCANTE HOLANDA FARIAS FALCÃO GONDIM""")
FATHERS_SURNAMES = words("""SILVA SANTOS OLIVEIRA LIMA FERREIRA COSTA NASCIMENTO ARAÚJO ROCHA TEIXEIRA VIEIRA
MONTEIRO ALENCAR SALES AGUIAR XAVIER PAIVA BATISTA DUARTE COELHO LOPES TAVARES FEITOSA PONTES QUEIROZ VASCONCELOS""")

CITIES = {
    "FORTALEZA": (
        45.0,
        "ALDEOTA, MEIRELES, MONDUBIM, MESSEJANA, BARRA DO CEARÁ, JANGURUSSU, PASSARÉ, CENTRO, BOM JARDIM, VILA VELHA, "
        "GRANJA LISBOA, GRANJA PORTUGAL, PREFEITO JOSÉ WALTER, CONJUNTO CEARÁ, ANTÔNIO BEZERRA, BENFICA, FÁTIMA, COCÓ, "
        "PAPICU, PARANGABA, MARAPONGA, MONTESE, CARLITO PAMPLONA, PIRAMBU, JACARECANGA, VARJOTA, MUCURIPE, "
        "PRAIA DO FUTURO, EDSON QUEIROZ, CAMBEBA, SIQUEIRA, GENIBAÚ, SERRINHA, ITAPERI, RODOLFO TEÓFILO",
    ),
    "CAUCAIA": (7.5, "JUREMA, CENTRO, PARQUE POTIRA, ICARAÍ, CUMBUCO, TABAPUÁ, ARATURI, METRÓPOLE"),
    "JUAZEIRO DO NORTE": (6.5, "CENTRO, JOÃO CABRAL, TRIÂNGULO, SALESIANOS, LAGOA SECA, FRANCISCANOS, PIRAJÁ"),
    "MARACANAÚ": (5.5, "CENTRO, JEREISSATI, PAJUÇARA, TIMBÓ, ACARACUZINHO, INDUSTRIAL, NOVO ORIENTE"),
    "SOBRAL": (5.5, "CENTRO, JUNCO, SINHÁ SABÓIA, DOM EXPEDITO, TERRENOS NOVOS, DERBY, ALTO DO CRISTO"),
    "CRATO": (3.5, "CENTRO, SEMINÁRIO, PIMENTA, MURITI, VILA ALTA, SÃO MIGUEL"),
    "ITAPIPOCA": (3.0, "CENTRO, FAZENDINHA, BOA VISTA, VIOLETE, CRUZEIRO"),
    "MARANGUAPE": (3.0, "CENTRO, NOVO MARANGUAPE, PARQUE SANTA FÉ, GUABIRABA, OUTRA BANDA"),
    "IGUATU": (2.8, "CENTRO, PRADO, VENEZA, VILA CENTENÁRIO, JARDIM OÁSIS"),
    "QUIXADÁ": (2.5, "CENTRO, CAMPO NOVO, ALTO SÃO FRANCISCO, PLANALTO UNIVERSITÁRIO, CAMPO VELHO"),
    "PACATUBA": (2.3, "CENTRO, JEREISSATI II, PAVUNA, MONGUBA"),
    "AQUIRAZ": (2.2, "CENTRO, PRAINHA, PORTO DAS DUNAS, IGUAPE"),
    "QUIXERAMOBIM": (2.1, "CENTRO, MARAVILHA, JAIME LOPES, EDMILSON CORREIA"),
    "CANINDÉ": (2.0, "CENTRO, ALTO GUARAMIRANGA, IMACULADA CONCEIÇÃO, PALESTINA"),
    "RUSSAS": (2.0, "CENTRO, VILA RAMALHO, PLANALTO DA BELA VISTA, GUANABARA"),
    "TIANGUÁ": (1.8, "CENTRO, FREI GALVÃO, NENÊ PLÁCIDO, ESTÁDIO"),
    "CRATEÚS": (1.8, "CENTRO, SÃO VICENTE, VENÂNCIOS, FÁTIMA I"),
    "ARACATI": (1.5, "CENTRO, CANOA QUEBRADA, MAJORLÂNDIA, PEDREGAL"),
}

RACES = {"PARDA": 68, "BRANCA": 22, "PRETA": 6, "AMARELA": 3, "INDÍGENA": 1}
BIRTH_YEARS = np.arange(1925, 2025)
PEOPLE_BY_BIRTH_YEAR = {1925: 0.03, 1940: 0.4, 1955: 1.0, 1970: 1.6, 1985: 2.0, 1995: 1.9, 2005: 1.3, 2015: 0.9, 2024: 0.7}

CEARA_REGION = 3
REPEATED = 33_333_333
CPF = re.compile(r"[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}")


def covid_ceara(rows: int = 10_000, seed: int = 2025) -> pa.Table:
    """Invented people of Ceará as text columns; the same rows and seed give the same table.

    >>> covid_ceara(3).column_names
    ['nome', 'cpf', 'localidade', 'data_nascimento', 'raca_cor']
    """
    import pyarrow as pa

    rng = generator(seed)
    return pa.table(
        {
            "nome": _names(rng, rows),
            "cpf": _cpfs(rng, rows),
            "localidade": _places(rng, rows),
            "data_nascimento": _birth_dates(rng, rows),
            "raca_cor": pick(list(RACES), draw(rng, list(RACES.values()), rows)),
        }
    )


def cpf_is_valid(cpf: str) -> bool:
    """Whether a text is a CPF, ddd.ddd.ddd-dd, with right check digits; eleven equal digits are never one.

    >>> cpf_is_valid("123.456.789-09"), cpf_is_valid("123.456.789-00"), cpf_is_valid("333.333.333-33")
    (True, False, False)
    """
    if not CPF.fullmatch(cpf):
        return False
    digits = [int(c) for c in cpf if c.isdigit()]
    number = int("".join(map(str, digits[:9])))
    return len(set(digits)) > 1 and int(_check_digits(np.array([number]))[0]) == 10 * digits[9] + digits[10]


def _check_digits(numbers: np.ndarray) -> np.ndarray:
    """The two check digits of nine-digit numbers, as one number: weighted sums modulo 11, where ten counts as zero."""
    digits = numbers[:, None] // 10 ** np.arange(8, -1, -1) % 10
    first = 10 * (digits @ np.arange(10, 1, -1)) % 11 % 10
    second = 10 * (digits @ np.arange(11, 2, -1) + 2 * first) % 11 % 10
    return np.asarray(10 * first + second)


def _cpfs(rng: np.random.Generator, rows: int) -> pa.Array:
    """Distinct valid CPFs whose ninth digit names the fiscal region of Ceará."""
    stem = rng.choice(10**8 - 1, size=rows, replace=False)
    stem += stem >= REPEATED
    number = 10 * stem + CEARA_REGION
    thousands = [number // 10**6, number // 1000 % 1000, number % 1000]
    return join_columns(
        join_columns(*(pad_zeros(part, 3) for part in thousands), by="."), pad_zeros(_check_digits(number), 2), by="-"
    )


def _names(rng: np.random.Generator, rows: int) -> pa.Array:
    """A given name and the surnames of mother and father."""
    lists = (GIVEN_NAMES, MOTHERS_SURNAMES, FATHERS_SURNAMES)
    return join_columns(*(pick(names, draw(rng, fading(len(names)), rows)) for names in lists), by=" ")


def _places(rng: np.random.Generator, rows: int) -> pa.Array:
    """Places as bairro/cidade/estado."""
    places: list[str] = []
    weights: list[float] = []
    for city, (weight, listed) in CITIES.items():
        districts = listed.split(", ")
        shares = fading(len(districts))
        places += [f"{district}/{city}/CE" for district in districts]
        weights += list(weight * shares / shares.sum())
    return pick(places, draw(rng, weights, rows))


def _birth_dates(rng: np.random.Generator, rows: int) -> pa.Array:
    """Birth dates as dd/mm/aaaa, evenly spread over each year."""
    import pyarrow.compute as pc

    year = BIRTH_YEARS[draw(rng, curve(PEOPLE_BY_BIRTH_YEAR, BIRTH_YEARS), rows)]
    start, end = ((year + shift - 1970).astype("datetime64[Y]").astype("datetime64[D]") for shift in (0, 1))
    day = start + np.floor(rng.random(rows) * (end - start).astype(np.int64)).astype(np.int64)
    return pc.replace_substring_regex(iso_dates(day), r"(\d+)-(\d+)-(\d+)", r"\3/\2/\1")
