"""Invented tables that look like those which strangers bring: public files of courts, ships, polls and ministries.

Nobody in them exists: names are drawn by lot from lists of common names, numbers from a seeded generator. ``STRANGERS``
writes a table into a folder and gives its path; ``EXPECTED`` says what a careful reader would say of its columns.
"""

# ruff: noqa: SIM905  (lists of words read better as words)

from __future__ import annotations

import csv
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

ENGLISH_FIRST = (
    "james mary robert patricia john jennifer michael linda david elizabeth william barbara richard susan joseph "
    "jessica thomas sarah charles karen daniel lisa matthew nancy anthony betty mark sandra donald ashley steven emily "
    "andrew donna paul michelle joshua carol kenneth amanda kevin melissa brian deborah marcus keisha andre latoya"
).split()
ENGLISH_LAST = (
    "smith johnson williams jones davis miller wilson anderson taylor thomas moore jackson martin lee thompson white "
    "harris clark lewis robinson walker young allen king wright scott hill green adams nelson baker hall campbell "
    "mitchell carter roberts phillips evans turner parker collins edwards stewart morris murphy cook rogers morgan "
    "peterson cooper reed bailey bell kelly howard ward cox richardson watson brooks wood bennett gray hughes price"
).split()
SPANISH_FIRST = (
    "María José Juan Luis Carlos Ana Rosa Jorge Carmen Pedro Miguel Luisa Manuel Elena Víctor Julia César Patricia "
    "Ricardo Gladys Fernando Silvia Óscar Nelly Raúl Martha Eduardo Lucía Sergio Teresa Andrés Mónica Rodrigo Camila "
    "Cristóbal Javiera Matías Constanza Ignacio Valentina"
).split()
SPANISH_LAST = (
    "Quispe Flores Sánchez García Rodríguez Rojas Díaz Mamani Torres Ramos Gonzales Huamán Vásquez Castillo Mendoza "
    "Chávez Espinoza Gutiérrez Muñoz Soto Contreras Silva Sepúlveda Morales Fuentes Hernández Araya Reyes Núñez Tapia "
    "Valenzuela Figueroa Pizarro Riquelme Salazar Vega Campos Herrera Paredes Aguilar"
).split()
PORTUGUESE_FIRST = (
    "Maria José Ana João Antônio Francisco Carlos Paulo Pedro Lucas Luiz Marcos Luís Gabriel Rafael Francisca Márcia "
    "Adriana Juliana Fernanda Patrícia Aline Sandra Camila Amanda Bruna Jéssica Letícia Júlia Luciana Vanessa Mariana"
).split()
PORTUGUESE_LAST = (
    "Silva Santos Oliveira Souza Rodrigues Ferreira Alves Pereira Lima Gomes Costa Ribeiro Martins Carvalho Almeida "
    "Lopes Soares Fernandes Vieira Barbosa Rocha Dias Nascimento Andrade Moreira Nunes Marques Machado Mendes Freitas"
).split()
STREETS = "Main Oak Maple Cedar Washington Lake Hill Walnut Spring Park Elm Pine Sunset River Church Highland".split()


@dataclass(frozen=True)
class Expected:
    """What a careful reader says. ``identifiers`` must be called so; ``hidden`` must never be published as they are
    (identifier, or left out); ``quasi`` should be quasi-identifiers; ``sensitive`` sensitive; ``unit`` whose rows."""

    identifiers: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()
    quasi: frozenset[str] = frozenset()
    sensitive: frozenset[str] = frozenset()
    unit: tuple[str, str] | None = None


def expected(
    identifiers: str = "", hidden: str = "", quasi: str = "", sensitive: str = "", unit: tuple[str, str] | None = None
) -> Expected:
    """Names separated by ``|``."""
    named = [frozenset(n for n in names.split("|") if n) for names in (identifiers, hidden, quasi, sensitive)]
    return Expected(*named, unit)


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]], delimiter: str = ",", encoding: str = "utf-8") -> Path:
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(header)
        writer.writerows(rows)
    return path


def _day(lot: Random, first: int, last: int) -> date:
    start = date(first, 1, 1)
    return start + timedelta(days=lot.randrange((date(last, 12, 31) - start).days + 1))


def _digits(lot: Random, n: int) -> str:
    return "".join(lot.choice("0123456789") for _ in range(n))


def _weighted(lot: Random, choices: dict[Any, float]) -> Any:
    return lot.choices(list(choices), list(choices.values()))[0]


# ---------------------------------------------------------------------- numbers with check digits


def cpf(lot: Random) -> str:
    """A Brazilian CPF with its two check digits."""
    digits = [lot.randrange(10) for _ in range(9)]
    for n in (10, 11):
        rest = sum(d * w for d, w in zip(digits, range(n, 1, -1), strict=False)) * 10 % 11
        digits.append(rest % 10)
    text = "".join(map(str, digits))
    return f"{text[:3]}.{text[3:6]}.{text[6:9]}-{text[9:]}"


def rut(lot: Random) -> str:
    """A Chilean RUT with its check digit."""
    number = lot.randrange(5_000_000, 25_000_000)
    total = sum(int(d) * (2 + i % 6) for i, d in enumerate(reversed(str(number))))
    return f"{number:,}".replace(",", ".") + "-" + "0K987654321"[total % 11]


def luhn(lot: Random, start: str, length: int) -> str:
    """Digits that satisfy Luhn's rule, such as those of a card."""
    body = start + _digits(lot, length - len(start) - 1)
    total = 0
    for i, d in enumerate(reversed(body)):
        n = int(d) * (2 if i % 2 == 0 else 1)
        total += n - 9 if n > 9 else n
    return body + str(-total % 10)


def iban(lot: Random) -> str:
    """A Spanish IBAN (only its two check digits are right)."""
    account = _digits(lot, 20)
    return f"ES{98 - int(account + '142800') % 97:02d}{account}"


# ---------------------------------------------------------------------- courts and police


def compas(folder: Path, rows: int = 1500) -> Path:
    """Scores of a court: names in three columns, case numbers, dates of birth, charges."""
    lot = Random(1)
    charges = [
        "Battery",
        "Possession of Cocaine",
        "Driving Under The Influence",
        "Grand Theft in the 3rd Degree",
        "arrest case no charge",
        "Felony Driving While Lic Suspd",
        "Aggravated Assault w/Firearm",
        "Petit Theft",
        "Possess Cannabis/20 Grams Or Less",
        "Burglary Unoccupied Dwelling",
        "Resist/Obstruct W/O Violence",
        "Crim Use of Personal ID Info",
        "Uttering a Forged Instrument",
        "Tampering With Physical Evidence",
        "Susp Drivers Lic 1st Offense",
        "Viol Injunct Domestic Violence",
    ]
    header = (
        "id name first last compas_screening_date sex dob age age_cat race juv_fel_count decile_score juv_misd_count "
        "juv_other_count priors_count days_b_screening_arrest c_jail_in c_jail_out c_case_number c_offense_date "
        "c_charge_degree c_charge_desc is_recid r_case_number r_offense_date r_charge_desc type_of_assessment "
        "score_text in_custody out_custody start end event two_year_recid"
    ).split()
    written, number = [], 0
    for _ in range(rows):
        number += lot.choice((1, 1, 1, 2))
        first, last = lot.choice(ENGLISH_FIRST), lot.choice(ENGLISH_LAST)
        born, screened = _day(lot, 1946, 1996), _day(lot, 2013, 2014)
        age = screened.year - born.year
        jailed = screened - timedelta(days=lot.randrange(1, 40))
        out = jailed + timedelta(days=lot.randrange(1, 90))
        clock = [f"{lot.randrange(24):02d}:{lot.randrange(60):02d}:{lot.randrange(60):02d}" for _ in range(2)]
        again = lot.random() < 0.45
        court = lot.choice(("CF10A", "MM10A", "MM20A", "CF10A"))
        later = screened + timedelta(days=lot.randrange(700))
        decile = lot.randrange(1, 11)
        written.append(
            [
                number,
                f"{first} {last}",
                first,
                last,
                screened,
                _weighted(lot, {"Male": 80, "Female": 20}),
                born,
                age,
                "Less than 25" if age < 25 else "Greater than 45" if age > 45 else "25 - 45",
                _weighted(lot, {"African-American": 51, "Caucasian": 34, "Hispanic": 9, "Other": 5, "Asian": 1}),
                _weighted(lot, {0: 96, 1: 3, 2: 1}),
                decile,
                _weighted(lot, {0: 95, 1: 4, 2: 1}),
                _weighted(lot, {0: 94, 1: 4, 2: 2}),
                min(lot.randrange(30), lot.randrange(30)),
                lot.randrange(-40, 30),
                f"{jailed} {clock[0]}",
                f"{out} {clock[1]}",
                f"13{_digits(lot, 6)}{court}",
                jailed,
                lot.choice("FFM"),
                lot.choice(charges),
                int(again),
                f"14{_digits(lot, 6)}{court}" if again else "",
                later if again else "",
                lot.choice(charges) if again else "",
                "Risk of Recidivism",
                "Low" if decile < 5 else "Medium" if decile < 8 else "High",
                jailed,
                out,
                lot.randrange(60),
                lot.randrange(60, 1100),
                int(again),
                int(again),
            ]
        )
    return _write(folder / "compas.csv", header, written)


def _address(lot: Random) -> str:
    kind = lot.choice(("St", "Ave", "Rd", "Dr", "Blvd", "Ln"))
    number = lot.randrange(1, 9900)
    return f"{number} {lot.choice(('', '', 'N ', 'W ', 'S '))}{lot.choice(STREETS)} {kind}"


def killings(folder: Path, rows: int = 460) -> Path:
    """People killed by the police: names, street addresses, coordinates, census tracts."""
    lot = Random(2)
    states = ["AL", "LA", "CA", "TX", "FL", "OH", "AZ", "NY", "GA", "WA", "OK", "CO", "NC", "IL", "TN", "PA"]
    towns = [
        f"{a}{b}"
        for a in ("Mill", "Pine", "Oak", "River", "Clear", "Fair", "Lake", "Green", "Brook", "Spring")
        for b in ("ville", "field", "ton", "brook", "wood", " City", "port", "view", "dale", "burg")
    ]
    header = (
        "name age gender raceethnicity month day year streetaddress city state latitude longitude state_fp county_fp "
        "tract_ce geo_id county_id namelsad lawenforcementagency cause armed pop share_white p_income h_income urate"
    ).split()
    written = []
    for _ in range(rows):
        town, fp, county, tract = (lot.choice(towns), lot.randrange(1, 56), lot.randrange(1, 120), lot.randrange(100, 99999))
        written.append(
            [
                f"{lot.choice(ENGLISH_FIRST).title()} {lot.choice(('', '', '', 'Lee ', 'J. '))}{lot.choice(ENGLISH_LAST).title()}",
                lot.randrange(16, 78),
                _weighted(lot, {"Male": 95, "Female": 5}),
                _weighted(lot, {"White": 50, "Black": 29, "Hispanic/Latino": 14, "Unknown": 3, "Asian/Pacific Islander": 2}),
                lot.choice(("January", "February", "March", "April", "May", "June")),
                lot.randrange(1, 29),
                2015,
                _address(lot),
                town,
                lot.choice(states),
                f"{lot.uniform(25, 48):.7f}",
                f"{lot.uniform(-123, -70):.7f}",
                fp,
                county,
                tract,
                f"{fp}{county:03d}{tract:06d}",
                f"{fp}{county:03d}",
                f"Census Tract {tract / 100:.2f}",
                f"{town} Police Department",
                _weighted(lot, {"Gunshot": 88, "Taser": 6, "Death in custody": 3, "Struck by vehicle": 3}),
                _weighted(lot, {"No": 22, "Firearm": 50, "Knife": 15, "Vehicle": 4, "Other": 5, "Disputed": 4}),
                lot.randrange(800, 12000),
                f"{lot.uniform(0, 99):.1f}",
                lot.randrange(5000, 60000),
                lot.randrange(10000, 140000),
                f"{lot.uniform(0.01, 0.4):.9f}",
            ]
        )
    return _write(folder / "killings.csv", header, written)


def riots(folder: Path, rows: int = 300) -> Path:
    """Deaths of riots: LAST, First in one column, blocks of streets, longitude and latitude with a short name."""
    lot = Random(3)
    header = [
        "Full Name",
        "Age",
        "Gender",
        "Race",
        "Date of death",
        "Cause of death",
        "Address",
        "Neighborhood",
        "lon",
        "lat",
        "Story",
    ]
    hoods = [
        "Westlake",
        "Koreatown",
        "Hyde Park",
        "Watts",
        "Florence",
        "Pico-Union",
        "Mid-City",
        "Green Meadows",
        "Exposition Park",
    ]
    written = []
    for _ in range(rows):
        first, last, street = lot.choice(ENGLISH_FIRST).title(), lot.choice(ENGLISH_LAST).upper(), lot.choice(STREETS)
        written.append(
            [
                f"{last}, {first}",
                lot.randrange(14, 80),
                _weighted(lot, {"Male": 85, "Female": 15}),
                _weighted(lot, {"Black": 45, "Latino": 30, "White": 20, "Asian": 5}),
                _day(lot, 1992, 1992).strftime("%m/%d/%Y"),
                _weighted(lot, {"Gunshot": 60, "Fire": 10, "Vehicle": 20, "Assault": 10}),
                f"{lot.randrange(1, 90)}00 block of {street} Avenue",
                lot.choice(hoods),
                f"{-118 - lot.random() / 2:.6f}",
                f"{33.8 + lot.random() / 3:.6f}",
                f"{first} was found near {street} Avenue at {lot.randrange(1, 12)} o'clock by a {lot.choice(('neighbor', 'driver', 'guard'))} "
                f"who called for help, but {lot.choice(('he', 'she'))} died on the way to the hospital {lot.randrange(1, 60)} minutes later.",
            ]
        )
    return _write(folder / "riots.csv", header, written)


def incidents(folder: Path, rows: int = 2000) -> Path:
    """Reported crimes: numbers of cases, blocks, projected and geographic coordinates, a pair of both."""
    lot = Random(4)
    header = [
        "ID",
        "Case Number",
        "Date",
        "Block",
        "IUCR",
        "Primary Type",
        "Location Description",
        "Arrest",
        "Beat",
        "Ward",
        "Community Area",
        "X Coordinate",
        "Y Coordinate",
        "Year",
        "Latitude",
        "Longitude",
        "Location",
    ]
    written = []
    for _ in range(rows):
        lat, lon = f"{lot.uniform(41.6, 42):.9f}", f"{lot.uniform(-87.9, -87.5):.9f}"
        when = _day(lot, 2015, 2019)
        written.append(
            [
                lot.randrange(10_000_000, 12_000_000),
                f"H{lot.choice('XYZ')}{_digits(lot, 6)}",
                when.strftime("%m/%d/%Y"),
                f"{lot.randrange(1, 120):03d}XX {lot.choice('NSEW')} {lot.choice(STREETS).upper()} {lot.choice(('ST', 'AVE', 'BLVD'))}",
                lot.choice(("0486", "0820", "0890", "1320", "2820", "0460", "041A")),
                _weighted(lot, {"THEFT": 30, "BATTERY": 30, "NARCOTICS": 15, "ASSAULT": 15, "ROBBERY": 10}),
                lot.choice(("STREET", "RESIDENCE", "APARTMENT", "SIDEWALK", "ALLEY")),
                lot.choice(("true", "false", "false")),
                f"{lot.randrange(1, 26):02d}{lot.randrange(1, 4)}{lot.randrange(1, 5)}",
                lot.randrange(1, 51),
                lot.randrange(1, 78),
                lot.randrange(1_140_000, 1_205_000),
                lot.randrange(1_813_000, 1_951_000),
                when.year,
                lat,
                lon,
                f"({lat}, {lon})",
            ]
        )
    return _write(folder / "incidents.csv", header, written)


# ---------------------------------------------------------------------- a ship


def titanic(folder: Path, rows: int = 891) -> Path:
    """Passengers: "Last, Mr. First", tickets and cabins that several share."""
    lot = Random(5)
    header = "PassengerId Survived Pclass Name Sex Age SibSp Parch Ticket Fare Cabin Embarked".split()
    tickets = [
        lot.choice(("", "", "", "PC ", "A/5 ", "C.A. ", "STON/O 2. ")) + str(lot.randrange(2000, 370000)) for _ in range(690)
    ]
    fares = [f"{lot.uniform(5, 90):.4f}" for _ in range(250)]
    written = []
    for n in range(1, rows + 1):
        female = lot.random() < 0.35
        title = lot.choice(("Mrs.", "Miss.")) if female else lot.choice(("Mr.", "Mr.", "Master."))
        middle = lot.choice(("", "", " " + lot.choice(ENGLISH_FIRST).title()))
        written.append(
            [
                n,
                lot.randrange(2),
                lot.choice((1, 2, 3, 3)),
                f"{lot.choice(ENGLISH_LAST).title()}, {title} {lot.choice(ENGLISH_FIRST).title()}{middle}",
                "female" if female else "male",
                "" if lot.random() < 0.2 else lot.choice((lot.randrange(1, 75), lot.randrange(15, 45))),
                _weighted(lot, {0: 68, 1: 23, 2: 4, 3: 3, 4: 2}),
                _weighted(lot, {0: 76, 1: 13, 2: 9, 3: 2}),
                lot.choice(tickets),
                lot.choice(fares),
                f"{lot.choice('ABCDE')}{lot.randrange(1, 120)}" if lot.random() < 0.25 else "",
                _weighted(lot, {"S": 72, "C": 19, "Q": 9}),
            ]
        )
    return _write(folder / "titanic.csv", header, written)


# ---------------------------------------------------------------------- open data of Peru, Chile, Brazil and Colombia

PERU = {
    "LIMA": {"LIMA": ("LIMA", "ATE", "COMAS", "SAN JUAN DE LURIGANCHO", "BREÑA"), "CAÑETE": ("IMPERIAL", "MALA")},
    "AMAZONAS": {"BAGUA": ("BAGUA", "IMAZA", "ARAMANGO"), "CHACHAPOYAS": ("CHACHAPOYAS", "LEVANTO")},
    "ÁNCASH": {"SANTA": ("CHIMBOTE", "NUEVO CHIMBOTE", "COISHCO"), "HUARAZ": ("HUARAZ", "INDEPENDENCIA")},
    "PIURA": {"PIURA": ("PIURA", "CASTILLA", "CATACAOS"), "SULLANA": ("SULLANA", "BELLAVISTA", "MARCAVELICA")},
}


def peru(folder: Path, rows: int = 2000) -> Path:
    """Deaths, in Latin-1 with ``;`` and ``dd/mm/yyyy``; UBIGEO has lost its leading zeros."""
    lot = Random(6)
    codes = {}
    for i, (region, provinces) in enumerate(PERU.items()):
        for j, (province, districts) in enumerate(provinces.items(), 1):
            for k, district in enumerate(districts, 1):
                codes[region, province, district] = int(f"{(15, 1, 2, 20)[i]:02d}{j:02d}{k:02d}")
    places = list(codes)
    header = [
        "FECHA_CORTE",
        "UUID",
        "FECHA_FALLECIMIENTO",
        "EDAD_DECLARADA",
        "SEXO",
        "CLASIFICACION_DEF",
        "DEPARTAMENTO",
        "PROVINCIA",
        "DISTRITO",
        "UBIGEO",
        "ESTADO CIVIL",
        "GRADO_INSTRUCCION",
    ]
    written = []
    for _ in range(rows):
        place = lot.choice(places)
        written.append(
            [
                "20/02/2022",
                str(uuid.UUID(int=lot.getrandbits(128), version=4)),
                _day(lot, 2020, 2021).strftime("%d/%m/%Y"),
                min(99, max(0, int(lot.gauss(66, 15)))),
                _weighted(lot, {"MASCULINO": 64, "FEMENINO": 36}),
                _weighted(
                    lot, {"Criterio virológico": 50, "Criterio SINADEF": 25, "Criterio radiológico": 15, "Criterio clínico": 10}
                ),
                *place,
                codes[place],
                lot.choice(("SOLTERO/A", "CASADO/A", "VIUDO/A", "DIVORCIADO/A", "NO REGISTRADO")),
                lot.choice(
                    ("PRIMARIA COMPLETA", "SECUNDARIA COMPLETA", "SUPERIOR UNIV. COMP.", "NINGÚN NIVEL / ILETRADO", "IGNORADO")
                ),
            ]
        )
    return _write(folder / "peru.csv", header, written, ";", "latin-1")


def chile(folder: Path, rows: int = 800) -> Path:
    """Staff of a town, in Latin-1: RUT, names in three columns, posts, ``$628.030``."""
    lot = Random(7)
    header = [
        "RUT",
        "Paterno",
        "Materno",
        "Nombres",
        "Estamento",
        "Cargo",
        "Región",
        "Comuna",
        "Fecha de inicio",
        "Fecha_Nac",
        "Sueldo bruto",
        "Horas extra",
        "Observaciones",
    ]
    posts = [
        "AUXILIAR DE SERVICIO",
        "ADMINISTRATIVO",
        "JEFE DE DEPARTAMENTO",
        "INSPECTOR MUNICIPAL",
        "CONDUCTOR",
        "SECRETARIA",
        "ABOGADO",
        "INGENIERO CIVIL",
        "TÉCNICO EN ENFERMERÍA",
        "MÉDICO GENERAL",
        "DIRECTOR DE OBRAS",
        "CAJERA",
    ]
    written = []
    for _ in range(rows):
        names = f"{lot.choice(SPANISH_FIRST)} {lot.choice(SPANISH_FIRST)}".upper()
        written.append(
            [
                rut(lot),
                lot.choice(SPANISH_LAST).upper(),
                lot.choice(SPANISH_LAST).upper(),
                names,
                lot.choice(("PROFESIONAL", "TÉCNICO", "AUXILIAR", "DIRECTIVO")),
                lot.choice(posts),
                lot.choice(("Región de Ñuble", "Región del Biobío")),
                lot.choice(("Chillán", "San Carlos", "Concepción", "Coronel", "Tomé", "Bulnes")),
                _day(lot, 2005, 2021).strftime("%d/%m/%Y"),
                _day(lot, 1955, 1999).strftime("%d-%m-%Y"),
                "$" + f"{lot.randrange(350, 4200) * 1000 + lot.randrange(1000):,}".replace(",", "."),
                lot.choice((0, 0, 0, 5, 10, 20, 40)),
                lot.choice(
                    (
                        "Sin observaciones",
                        "",
                        "",
                        f"Reemplaza a la señora {lot.choice(SPANISH_LAST)} hasta el {lot.randrange(1, 29)} de marzo",
                    )
                ),
            ]
        )
    return _write(folder / "chile.csv", header, written, ";", "latin-1")


def brazil(folder: Path, rows: int = 900) -> Path:
    """Beneficiaries, in Latin-1: names with particles, CPF, NIS, CEP, race and colour, ``1.234,50``."""
    lot = Random(8)
    header = [
        "nome_beneficiario",
        "nu_cpf",
        "nis",
        "dt_nasc",
        "sexo",
        "raca_cor",
        "escolaridade",
        "situacao",
        "uf",
        "municipio",
        "bairro",
        "endereco",
        "cep",
        "telefone",
        "cargo",
        "vl_renda_familiar",
        "qtd_pessoas_domicilio",
        "religiao",
    ]
    towns = {"CE": ("Fortaleza", "Sobral", "Redenção"), "SP": ("São Paulo", "Campinas"), "BA": ("Salvador", "Ilhéus")}
    written = []
    for _ in range(rows):
        state = lot.choice(list(towns))
        name = " ".join(
            (
                lot.choice(PORTUGUESE_FIRST),
                lot.choice(PORTUGUESE_FIRST),
                lot.choice(("de", "da", "dos", "do")),
                lot.choice(PORTUGUESE_LAST),
                lot.choice(PORTUGUESE_LAST),
            )
        )
        money = f"{lot.randrange(0, 4000):,}".replace(",", ".")
        written.append(
            [
                name,
                cpf(lot),
                "1" + _digits(lot, 10),
                _day(lot, 1940, 2005).strftime("%d/%m/%Y"),
                lot.choice("MF"),
                _weighted(lot, {"Parda": 47, "Branca": 43, "Preta": 8, "Amarela": 1, "Indígena": 1}),
                lot.choice(
                    ("Fundamental incompleto", "Fundamental completo", "Médio completo", "Superior completo", "Sem instrução")
                ),
                lot.choice(("Ativo", "Suspenso", "Cancelado")),
                state,
                lot.choice(towns[state]),
                lot.choice(("Centro", "Aldeota", "Benfica", "Messejana", "Itaim", "Barra", "Pituba", "Montese")),
                f"{lot.choice(('Rua', 'Av.', 'Travessa', 'R.'))} {lot.choice(PORTUGUESE_LAST)} {lot.choice(PORTUGUESE_LAST)}, {lot.randrange(1, 3000)}",
                f"{lot.randrange(60000, 61999)}-{lot.randrange(0, 999):03d}",
                f"({lot.choice((85, 88, 11, 71))}) 9{_digits(lot, 4)}-{_digits(lot, 4)}",
                lot.choice(("Pedreiro", "Doméstica", "Agricultor", "Vendedor", "Professora", "Desempregado")),
                f"{money},{lot.randrange(100):02d}",
                lot.randrange(1, 9),
                lot.choice(("Católica", "Evangélica", "Espírita", "Sem religião", "Candomblé")),
            ]
        )
    return _write(folder / "brazil.csv", header, written, ";", "latin-1")


def colombia(folder: Path, rows: int = 1500) -> Path:
    """Cases of a disease: names of columns are sentences, numbers of cases count up, codes beside names."""
    lot = Random(9)
    header = [
        "fecha reporte web",
        "ID de caso",
        "Código DIVIPOLA departamento",
        "Nombre departamento",
        "Nombre municipio",
        "Edad",
        "Unidad de medida de edad",
        "Sexo",
        "Tipo de contagio",
        "Ubicación del caso",
        "Estado",
        "Código ISO del país",
        "Recuperado",
        "Fecha de inicio de síntomas",
        "Pertenencia étnica",
        "Dirección",
        "Cédula",
    ]
    places = {
        11: ("BOGOTA", ("BOGOTA",)),
        5: ("ANTIOQUIA", ("MEDELLIN", "BELLO", "ITAGUI", "ENVIGADO")),
        76: ("VALLE", ("CALI", "PALMIRA", "TULUA", "BUGA")),
        8: ("ATLANTICO", ("BARRANQUILLA", "SOLEDAD")),
    }
    written = []
    for n in range(rows):
        code = lot.choice(list(places))
        region, towns = places[code]
        began = _day(lot, 2020, 2020)
        written.append(
            [
                f"{began + timedelta(days=5)} 00:00:00",
                10_000 + n * 3 + lot.randrange(3),
                code,
                region,
                lot.choice(towns),
                lot.randrange(0, 95),
                1,
                lot.choice("FM"),
                _weighted(lot, {"Comunitaria": 60, "Relacionado": 25, "En estudio": 10, "Importado": 5}),
                _weighted(lot, {"Casa": 90, "Hospital": 6, "Hospital UCI": 2, "Fallecido": 2}),
                _weighted(lot, {"Leve": 92, "Moderado": 4, "Grave": 2, "Fallecido": 2}),
                _weighted(lot, {"": 97, "724": 2, "840": 1}),
                _weighted(lot, {"Recuperado": 96, "Fallecido": 4}),
                f"{began} 00:00:00",
                _weighted(lot, {6: 95, 5: 3, 1: 2}),
                f"{lot.choice(('Calle', 'Carrera', 'Cra.', 'Cl.'))} {lot.randrange(1, 180)} # {lot.randrange(1, 120)}-{lot.randrange(1, 99)}",
                lot.randrange(10_000_000, 80_000_000),
            ]
        )
    return _write(folder / "colombia.csv", header, written)


# ---------------------------------------------------------------------- surveys


def survey(folder: Path, rows: int = 1200) -> Path:
    """A household survey with 119 columns: two ids, a weight, a dozen demographic columns, a hundred answers."""
    lot = Random(10)
    about = [
        "folio",
        "id_hogar",
        "factor_expansion",
        "region",
        "comuna",
        "zona",
        "sexo",
        "edad",
        "estado_civil",
        "nivel_educacional",
        "ocupacion",
        "nacionalidad",
        "pueblo_indigena",
        "n_personas_hogar",
        "ingreso_hogar",
        "religion",
        "correo",
        "fecha_entrevista",
    ]
    answers = [f"p{n}" for n in range(1, 119 - len(about) + 1)]
    scales: list[Sequence[Any]] = [
        ("Muy de acuerdo", "De acuerdo", "Ni de acuerdo ni en desacuerdo", "En desacuerdo", "Muy en desacuerdo", "No sabe"),
        (1, 2, 3, 4, 5, 99),
        ("Sí", "No"),
        tuple(range(11)),
    ]
    written, household, left = [], 0, 0
    for n in range(rows):
        if not left:
            household, left = household + lot.choice((1, 2, 3)), lot.choice((1, 1, 2, 3, 4))
            place = (
                lot.randrange(1, 17),
                lot.choice([f"{r:02d}{c}" for r in (1, 5, 8, 13) for c in (101, 102, 110, 201, 301)]),
                lot.choice(("Urbano", "Rural")),
            )
        left -= 1
        written.append(
            [
                f"F{100_000 + n * 7 % 99_991}",
                f"H{household:05d}",
                f"{lot.uniform(80, 2400):.4f}",
                *place,
                lot.choice(("Hombre", "Mujer")),
                lot.randrange(18, 92),
                lot.choice(("Casado/a", "Soltero/a", "Viudo/a", "Separado/a", "Conviviente civil")),
                lot.choice(("Básica incompleta", "Básica completa", "Media completa", "Técnica", "Universitaria", "Postgrado")),
                lot.choice(("Profesor", "Obrero", "Comerciante", "Empleado público", "Dueña de casa", "Estudiante", "Jubilado")),
                _weighted(lot, {"Chilena": 92, "Venezolana": 4, "Peruana": 3, "Haitiana": 1}),
                _weighted(lot, {"Ninguno": 88, "Mapuche": 10, "Aymara": 2}),
                lot.randrange(1, 8),
                lot.randrange(200, 3000) * 1000,
                lot.choice(("Católica", "Evangélica", "Ninguna", "Otra")),
                f"{lot.choice(SPANISH_FIRST).lower()}{lot.randrange(9999)}@correo.example" if lot.random() < 0.6 else "",
                _day(lot, 2022, 2022).strftime("%d/%m/%Y"),
                *(lot.choice(scales[i % len(scales)]) for i in range(len(answers))),
            ]
        )
    return _write(folder / "survey.csv", [*about, *answers], written)


def poll(folder: Path, rows: int = 1000) -> Path:
    """A web poll: whole questions as names of columns, an id of the respondent, one open answer, an IP address."""
    lot = Random(11)
    header = [
        "RespondentID",
        "How often do you travel by plane?",
        "Is it rude to recline your seat on a plane?",
        "How tall are you?",
        "Do you have any children under 18?",
        "Why do you think so?",
        "Gender",
        "Age",
        "Household Income",
        "Education",
        "Location (Census Region)",
        "StartDate",
        "ip",
    ]
    thoughts = (
        "I think",
        "It seems to me",
        "My wife says",
        "Honestly",
        "After many flights I believe",
        "As a teacher in a small town I feel",
    )
    reasons = (
        "people should be kind",
        "the seats are far too small",
        "nobody sleeps upright",
        "it depends on how long the flight is",
        "rules are rules",
    )
    written = []
    for n in range(rows):
        written.append(
            [
                3_430_000_000 + n * 911 + lot.randrange(900),
                lot.choice(("Never", "Once a year or less", "Once a month or less")),
                lot.choice(("No", "Somewhat", "Very")),
                lot.choice(("5'4\"", "5'8\"", "5'11\"", "6'0\"", "6'2\"")),
                lot.choice(("Yes", "No")),
                f"{lot.choice(thoughts)} {lot.choice(reasons)}, and {lot.choice(reasons)} when row {lot.randrange(1, 60)} is full."
                if lot.random() < 0.8
                else "",
                lot.choice(("Male", "Female")),
                lot.choice(("18-29", "30-44", "45-60", "> 60")),
                lot.choice(("$0 - $24,999", "$25,000 - $49,999", "$50,000 - $99,999", "$100,000 - $149,999", "150000")),
                lot.choice(("High school degree", "Bachelor degree", "Graduate degree", "Some college or Associate degree")),
                lot.choice(("Pacific", "Mountain", "South Atlantic", "New England", "Middle Atlantic")),
                f"{_day(lot, 2018, 2018).strftime('%m/%d/%Y')}",
                f"{lot.randrange(1, 223)}.{lot.randrange(256)}.{lot.randrange(256)}.{lot.randrange(1, 255)}",
            ]
        )
    return _write(folder / "poll.csv", header, written)


# ---------------------------------------------------------------------- tables of teaching


def student(folder: Path, rows: int = 395) -> Path:
    """Pupils: thirty-three columns, most of them codes from 1 to 5 or yes and no."""
    lot = Random(12)
    header = (
        "school sex age address famsize Pstatus Medu Fedu Mjob Fjob reason guardian traveltime studytime failures schoolsup famsup paid "
        "activities nursery higher internet romantic famrel freetime goout Dalc Walc health absences G1 G2 G3"
    ).split()
    jobs = ("teacher", "health", "services", "at_home", "other")
    written = []
    for _ in range(rows):
        grade = lot.randrange(4, 19)
        written.append(
            [
                lot.choice(("GP", "GP", "MS")),
                lot.choice("FM"),
                lot.randrange(15, 22),
                lot.choice("UUR"),
                lot.choice(("GT3", "LE3")),
                lot.choice("TTTA"),
                lot.randrange(5),
                lot.randrange(5),
                lot.choice(jobs),
                lot.choice(jobs),
                lot.choice(("course", "home", "reputation", "other")),
                lot.choice(("mother", "father", "other")),
                lot.randrange(1, 5),
                lot.randrange(1, 5),
                _weighted(lot, {0: 79, 1: 13, 2: 4, 3: 4}),
                *(lot.choice(("yes", "no")) for _ in range(8)),
                *(lot.randrange(1, 6) for _ in range(6)),
                min(lot.randrange(40), lot.randrange(40)),
                grade,
                min(20, grade + lot.randrange(3)),
                min(20, grade + lot.randrange(3)),
            ]
        )
    return _write(folder / "student.csv", header, written, ";")


def bank(folder: Path, rows: int = 2000) -> Path:
    """Clients of a bank: job, marital status, balance, day and month of the last call."""
    lot = Random(13)
    header = "age job marital education default balance housing loan contact day month duration campaign pdays previous poutcome y".split()
    written = [
        [
            min(95, max(18, int(lot.gauss(41, 10)))),
            lot.choice(
                ("management", "technician", "blue-collar", "admin.", "services", "retired", "unemployed", "student", "housemaid")
            ),
            lot.choice(("married", "single", "divorced")),
            lot.choice(("primary", "secondary", "tertiary", "unknown")),
            _weighted(lot, {"no": 98, "yes": 2}),
            int(lot.gauss(1300, 2500)),
            lot.choice(("yes", "no")),
            _weighted(lot, {"no": 84, "yes": 16}),
            lot.choice(("cellular", "telephone", "unknown")),
            lot.randrange(1, 32),
            lot.choice(("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")),
            int(lot.expovariate(1 / 260)),
            min(lot.randrange(1, 30), lot.randrange(1, 8)),
            _weighted(lot, {-1: 82, 92: 6, 182: 6, 371: 6}),
            _weighted(lot, {0: 82, 1: 8, 2: 6, 3: 4}),
            lot.choice(("unknown", "failure", "success", "other")),
            _weighted(lot, {"no": 88, "yes": 12}),
        ]
        for _ in range(rows)
    ]
    return _write(folder / "bank.csv", header, written, ";")


def adult(folder: Path, rows: int = 2000) -> Path:
    """A census table as the machine learners know it: fourteen columns, a survey weight, ``?`` for missing."""
    lot = Random(14)
    header = (
        "age workclass fnlwgt education education-num marital-status occupation relationship race sex capital-gain capital-loss "
        "hours-per-week native-country income"
    ).split()
    levels = ("Preschool", "7th-8th", "9th", "11th", "HS-grad", "Some-college", "Assoc-voc", "Bachelors", "Masters", "Doctorate")
    written = []
    for _ in range(rows):
        level = lot.randrange(len(levels))
        written.append(
            [
                lot.randrange(17, 90),
                lot.choice(("Private", "Private", "Self-emp-not-inc", "Local-gov", "State-gov", "?")),
                lot.randrange(12_000, 900_000),
                levels[level],
                level + 1,
                lot.choice(("Never-married", "Married-civ-spouse", "Divorced", "Widowed", "Separated")),
                lot.choice(
                    ("Adm-clerical", "Exec-managerial", "Handlers-cleaners", "Prof-specialty", "Sales", "Craft-repair", "?")
                ),
                lot.choice(("Husband", "Wife", "Own-child", "Not-in-family", "Unmarried")),
                _weighted(lot, {"White": 85, "Black": 10, "Asian-Pac-Islander": 3, "Other": 2}),
                lot.choice(("Male", "Female")),
                lot.choice((2174, 7298, 15024)) if lot.random() < 0.08 else 0,
                lot.choice((1902, 1977)) if lot.random() < 0.04 else 0,
                lot.choice((40, 40, 40, 50, 35, 60, lot.randrange(1, 99))),
                _weighted(lot, {"United-States": 90, "Mexico": 5, "Philippines": 2, "Germany": 2, "?": 1}),
                lot.choice(("<=50K", "<=50K", "<=50K", ">50K")),
            ]
        )
    return _write(folder / "adult_like.csv", header, written)


# ---------------------------------------------------------------------- people with several rows, and things they own


def visits(folder: Path, rows: int = 1500) -> Path:
    """Visits to a clinic: patients come several times; notes, codes of diagnoses, what it cost."""
    lot = Random(15)
    header = [
        "patient",
        "mrn",
        "visit_date",
        "gender",
        "birthdate",
        "zip",
        "ward",
        "icd10",
        "diagnosis",
        "cost",
        "language",
        "average_stay",
        "doctor_email",
        "notes",
    ]
    illnesses = {
        "J45.9": "Asthma",
        "E11.9": "Type 2 diabetes",
        "I10": "Hypertension",
        "F32.1": "Depression",
        "B20": "HIV disease",
        "C50.9": "Breast cancer",
        "M54.5": "Low back pain",
        "K35.8": "Acute appendicitis",
        "O80": "Normal delivery",
        "S52.5": "Fracture of radius",
    }
    people = [
        (
            f"{lot.choice(ENGLISH_LAST).title()}, {lot.choice(ENGLISH_FIRST).title()}",
            f"MRN{_digits(lot, 7)}",
            lot.choice(("F", "M")),
            _day(lot, 1935, 2015),
            lot.choice([f"021{n:02d}" for n in range(8, 42)]),
            lot.choice(("English", "English", "Spanish", "Portuguese")),
        )
        for _ in range(500)
    ]
    doctors = [f"{lot.choice(ENGLISH_FIRST)}.{lot.choice(ENGLISH_LAST)}@clinic.example" for _ in range(25)]
    written = []
    for _ in range(rows):
        name, mrn, gender, born, zipped, language = lot.choice(people)
        code = lot.choice(list(illnesses))
        written.append(
            [
                name,
                mrn,
                _day(lot, 2021, 2022),
                gender,
                born,
                zipped,
                lot.choice(("A1", "A2", "B1", "ICU")),
                code,
                illnesses[code],
                f"{lot.lognormvariate(6, 1):.2f}",
                language,
                f"{lot.uniform(1, 9):.1f}",
                lot.choice(doctors),
                f"Patient {name.split(',')[0]} came {lot.choice(('alone', 'with a relative', 'by ambulance'))}, reports pain since {lot.randrange(2, 20)} days, "
                f"was sent home after {lot.randrange(1, 9)} hours with a prescription and will be called again.",
            ]
        )
    return _write(folder / "visits.csv", header, written)


def policies(folder: Path, rows: int = 700) -> Path:
    """Customers of an insurer: phones, cards, IBAN, plates, addresses of machines, hashes, links."""
    lot = Random(16)
    header = [
        "customer",
        "phone",
        "email",
        "card",
        "iban",
        "plate",
        "policy_no",
        "ip_address",
        "mac",
        "user_hash",
        "profile",
        "device",
        "dob",
        "gender",
        "city",
        "occupation",
        "premium",
        "claims",
        "loyalty",
    ]
    written = []
    for _ in range(rows):
        first, last = lot.choice(ENGLISH_FIRST), lot.choice(ENGLISH_LAST)
        written.append(
            [
                f"{first.title()} {last.title()}",
                f"+1 {lot.choice((212, 305, 415, 617))}-{lot.randrange(200, 999)}-{_digits(lot, 4)}",
                f"{first}.{last}{lot.randrange(99)}@mail.example",
                luhn(lot, lot.choice(("4", "51")), 16),
                iban(lot),
                f"{_digits(lot, 4)} {''.join(lot.choice('BCDFGHJKLMNPRSTVWXYZ') for _ in range(3))}",
                f"POL-{lot.randrange(2015, 2023)}-{_digits(lot, 6)}",
                f"10.{lot.randrange(256)}.{lot.randrange(256)}.{lot.randrange(256)}",
                ":".join(f"{lot.randrange(256):02x}" for _ in range(6)),
                f"{lot.getrandbits(256):064x}",
                f"https://social.example/{first}{_digits(lot, 5)}",
                f"{lot.getrandbits(64):016X}",
                _day(lot, 1940, 2003),
                lot.choice(("male", "female", "other")),
                lot.choice(("Boston", "Miami", "New York", "Oakland", "Cambridge")),
                lot.choice(("Engineer", "Nurse", "Teacher", "Clerk", "Driver", "Retired")),
                f"{lot.uniform(120, 2600):.2f}",
                lot.choice((0, 0, 0, 1, 2)),
                lot.choice(("gold", "silver", "none")),
            ]
        )
    return _write(folder / "policies.csv", header, written)


STRANGERS: dict[str, Callable[[Path], Path]] = {
    make.__name__: make
    for make in (
        compas,
        killings,
        riots,
        incidents,
        titanic,
        peru,
        chile,
        brazil,
        colombia,
        survey,
        poll,
        student,
        bank,
        adult,
        visits,
        policies,
    )
}
"""Writes the table into a folder and gives its path; the same bytes every time."""

EXPECTED: dict[str, Expected] = {
    "compas": expected(
        "id|name|first|last|c_case_number|r_case_number", "c_jail_in|c_jail_out", "sex|age|race|dob", "c_charge_desc|r_charge_desc"
    ),
    "killings": expected(
        "name|streetaddress|latitude|longitude", "geo_id|tract_ce|namelsad", "age|gender|raceethnicity|state|city", "cause"
    ),
    "riots": expected("Full Name|Address|lon|lat|Story", "", "Age|Gender|Race|Neighborhood|Date of death", "Cause of death"),
    "incidents": expected("ID|Case Number|Block|X Coordinate|Y Coordinate|Latitude|Longitude|Location", "", "Date|Community Area"),
    "titanic": expected("PassengerId|Name|Ticket", "Cabin", "Sex|Age"),
    "peru": expected(
        "UUID", "", "FECHA_FALLECIMIENTO|EDAD_DECLARADA|SEXO|DEPARTAMENTO|PROVINCIA|DISTRITO|UBIGEO|ESTADO CIVIL|GRADO_INSTRUCCION"
    ),
    "chile": expected("RUT|Paterno|Materno|Nombres|Observaciones", "", "Cargo|Comuna|Fecha_Nac", "Sueldo bruto", ("person", "RUT")),
    "brazil": expected(
        "nome_beneficiario|nu_cpf|nis|endereco|telefone",
        "",
        "dt_nasc|sexo|raca_cor|escolaridade|uf|municipio|bairro|cep|cargo",
        "vl_renda_familiar|religiao",
    ),
    "colombia": expected("ID de caso|Dirección|Cédula", "", "Nombre departamento|Nombre municipio|Edad|Sexo|Pertenencia étnica"),
    "survey": expected(
        "folio|id_hogar|correo",
        "factor_expansion",
        "comuna|sexo|edad|estado_civil|nivel_educacional|ocupacion|nacionalidad",
        "ingreso_hogar|religion",
        ("household", "id_hogar"),
    ),
    "poll": expected(
        "RespondentID|Why do you think so?|ip", "", "Gender|Age|Education|Location (Census Region)", "Household Income"
    ),
    "student": expected("", "", "sex|age|address|famsize|Mjob|Fjob"),
    "bank": expected("", "", "age|job|marital|education", "balance"),
    "adult": expected(
        "",
        "fnlwgt",
        "age|workclass|education|marital-status|occupation|race|sex|native-country",
        "income|capital-gain|capital-loss",
    ),
    "visits": expected(
        "patient|mrn|notes|doctor_email", "", "gender|birthdate|zip|visit_date", "diagnosis|icd10|cost", ("person", "mrn")
    ),
    "policies": expected(
        "customer|phone|email|card|iban|plate|policy_no|ip_address|mac|user_hash|profile|device",
        "",
        "dob|gender|city|occupation",
        "premium",
    ),
}
"""What a careful reader says of each table's columns."""
