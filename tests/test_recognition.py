"""What columns hold: every recogniser on invented values, what must not be called an identifier, and whole tables."""

from __future__ import annotations

import string
import subprocess
import sys
import uuid
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
import stdnum.ar.cuit
import stdnum.ec.ci
import stdnum.es.dni
import stdnum.fr.nir
import stdnum.gb.nhs
import stdnum.it.codicefiscale
import stdnum.mx.curp
import stdnum.nl.bsn
import stdnum.pl.pesel
import stdnum.se.personnummer
from hypothesis import given
from hypothesis import strategies as st

import unknown_tables
from case_loop import failures
from unknown_tables import EXPECTED, STRANGERS
from velado import inspect_table
from velado.questions import Inspection
from velado.recognition.contents import content_of
from velado.recognition.contents.sample import SAMPLED, Sample
from velado.recognition.hierarchies import suggest_hierarchy
from velado.recognition.names import IDENTIFYING, KNOWN, PRECEDENCE, PRIVATE, topic_of, words_of
from velado.recognition.roles import QUASI, SAID, SuggestedRole, role_of
from velado.recognition.types import reading_of
from velado.recognition.units import unit_of
from velado.recognition.vocabulary import PHRASES, WORDS

LOT = Random(20)


@pytest.fixture(autouse=True)
def same_lot() -> None:
    """Every test draws the same values, whichever ran before it."""
    LOT.seed(20)


def kind(name: str, values: list[str], records: int = 1) -> str | None:
    """What the values are, each in so many records."""
    found = content_of(name, dict.fromkeys(values, records))
    return found.kind if found else None


def suggested(name: str, amount: dict[str, int], rows: int | None = None) -> SuggestedRole:
    return role_of(name, reading_of(amount), amount, rows or sum(amount.values()))


def digits(n: int) -> str:
    return "".join(LOT.choice(string.digits) for _ in range(n))


# ---------------------------------------------------------------------- names of people

FULL = {
    "english": [
        f"{f.title()} {n.title()}" for f, n in zip(unknown_tables.ENGLISH_FIRST, unknown_tables.ENGLISH_LAST, strict=False)
    ],
    "last, first": [
        f"{n.upper()}, {f.title()}" for f, n in zip(unknown_tables.ENGLISH_FIRST, unknown_tables.ENGLISH_LAST, strict=False)
    ],
    "titles": [
        f"{n.title()}, Mrs. {f.title()} (Ann Brown)"
        for f, n in zip(unknown_tables.ENGLISH_FIRST, unknown_tables.ENGLISH_LAST, strict=False)
    ],
    "spanish": [
        f"{f} {a} {b}"
        for f, a, b in zip(
            unknown_tables.SPANISH_FIRST, unknown_tables.SPANISH_LAST, reversed(unknown_tables.SPANISH_LAST), strict=True
        )
    ],
    "particles": [
        f"{f} {p} {n}"
        for f, p, n in zip(
            unknown_tables.PORTUGUESE_FIRST, ["da", "de", "dos", "do"] * 8, unknown_tables.PORTUGUESE_LAST, strict=False
        )
    ],
    "surname first": [
        f"{n} {f}".upper() for f, n in zip(unknown_tables.PORTUGUESE_FIRST, unknown_tables.PORTUGUESE_LAST, strict=False)
    ],
    "german": [
        "Hans Müller",
        "Petra Schmidt",
        "Jürgen Weber",
        "Sabine Fischer",
        "Klaus von Braun",
        "Ute Schneider",
        "Wolfgang Becker",
        "Heike Wagner",
    ],
    "french": [
        "Jean Dupont",
        "Marie Lefebvre",
        "Pierre Moreau",
        "Camille Laurent",
        "Michel Rousseau",
        "Sylvie Girard",
        "Luc Mercier",
        "Anne Fournier",
    ],
    "italian": [
        "Giuseppe Rossi",
        "Maria Russo",
        "Antonio Ferrari",
        "Lucia Esposito",
        "Marco Bianchi",
        "Paola Romano",
        "Luca Ricci",
        "Elena Greco",
    ],
    "dutch": [
        "Jan van der Berg",
        "Pieter de Vries",
        "Anna Jansen",
        "Kees Bakker",
        "Willem Visser",
        "Sanne Smit",
        "Bram Mulder",
        "Eva de Boer",
    ],
}


def test_full_names_whatever_the_column_is_called() -> None:
    found = {way: (kind("value", names), kind("V17", names, 40)) for way, names in FULL.items()}
    assert found == dict.fromkeys(FULL, ("full names", "full names"))


def test_single_names() -> None:
    lists = ("ENGLISH_FIRST", "ENGLISH_LAST", "SPANISH_FIRST", "SPANISH_LAST", "PORTUGUESE_FIRST")
    found = {name: kind("value", [n.lower() for n in getattr(unknown_tables, name)], 5) for name in lists}
    assert found == dict.fromkeys(lists, "personal names")


NO_NAMES = {
    "cities": "New York|Los Angeles|Chicago|Houston|Phoenix|Philadelphia|San Antonio|San Diego|Dallas|San Jose|Austin|Jacksonville|Fort Worth|Columbus|Charlotte|Seattle|Denver|Washington|Nashville|Boston|El Paso|Portland|Las Vegas|Memphis|Detroit|Baltimore|Milwaukee|Tucson|Atlanta|Omaha|Miami|Virginia Beach|Tampa|Arlington|Wichita|Orlando|Lincoln|Santa Ana|Saint Paul|Tulsa|Madison",
    "cities of Spain": "Madrid|Valencia|Sevilla|Zaragoza|Palma|Bilbao|Córdoba|Vigo|Vitoria|Granada|Oviedo|Jerez|Burgos|Salamanca|León|Toledo|Lugo|Cádiz|Jaén|Melilla",
    "cities of Brazil": "São Paulo|Salvador|Fortaleza|Recife|Natal|Teresina|João Pessoa|Londrina|Santos|Sobral|Vitória|Palmas|Redenção|Campinas|Curitiba|Belém",
    "districts": "LIMA|ATE|COMAS|SAN JUAN DE LURIGANCHO|MIRAFLORES|SAN ISIDRO|LA VICTORIA|BARRANCO|JESUS MARIA|LINCE|SAN BORJA|LOS OLIVOS|SANTA ANITA|LURIN",
    "countries": "Argentina|Georgia|Jordan|Israel|Chad|Cuba|Kenya|India|China|France|Ireland|England|Holand-Netherlands|Columbia|Peru|Jamaica",
    "diagnoses": "Asthma|Parkinson disease|Crohn disease|Hodgkin lymphoma|Addison disease|Pneumonia|Migraine|Gout|Lupus|Stroke|Hepatitis B|Low back pain",
    "occupations": "Baker|Cook|Carpenter|Teacher|Nurse|Doctor|Lawyer|Driver|Farmer|Fisher|Miner|Potter|Weaver|Butcher|Barber|Clerk|Engineer|Painter",
    "oficios": "Abogado|Médico|Enfermera|Profesor|Ingeniero|Albañil|Pintor|Carpintero|Cocinero|Chofer|Secretaria|Pastor|Sastre|Ama de casa|Jubilado",
    "months": "January|February|March|April|May|June|July|August|September|October|November|December",
    "meses": "enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre",
    "products": "Laptop|Phone|Tablet|Monitor|Keyboard|Mouse|Printer|Camera|Speaker|Charger|Cable|Desk|Chair|Lamp|Mirror|Carpet",
    "cars": "Ford|Toyota|Honda|Chevrolet|Mercedes|Lincoln|Chrysler|Dodge|Audi|Fiat|Renault|Peugeot|Nissan|Mazda|Austin|Volvo|Jaguar",
    "states": "Alabama|Arizona|Arkansas|Colorado|Delaware|Florida|Georgia|Indiana|Kansas|Louisiana|Maryland|Montana|Nevada|Texas|Virginia|Washington",
    "charges": "Battery|Possession of Cocaine|Grand Theft in the 3rd Degree|arrest case no charge|Petit Theft|Burglary Unoccupied Dwelling|Disorderly Conduct|Criminal Mischief",
    "colours": "black|white|green|blue|red|orange|purple|brown|gray|violet|amber|ruby",
}


def test_other_words_are_no_names() -> None:
    words = {what: text.split("|") for what, text in NO_NAMES.items()}
    found = {what: (kind("value", values), kind("value", values, 40)) for what, values in words.items()}
    assert found == dict.fromkeys(NO_NAMES, (None, None))


def test_few_categories_are_no_names() -> None:
    """A handful of words, each in many records, are a category, even if some are names."""
    assert kind("ward", ["Victoria", "Elizabeth", "Florence"], 100) is None


def test_names_by_few_people() -> None:
    assert kind("who", ["Ana López", "Luis Pérez", "Rosa Díaz", "Juan Mora"]) == "full names"


# ---------------------------------------------------------------------- signs

SIGNS = {
    "e-mail addresses": lambda: f"{LOT.choice(unknown_tables.ENGLISH_FIRST)}.{digits(3)}@mail.example",
    "links": lambda: f"https://people.example/{digits(6)}",
    "UUIDs": lambda: str(uuid.UUID(int=LOT.getrandbits(128), version=4)).upper(),
    "IP addresses": lambda: ".".join(str(LOT.randrange(256)) for _ in range(4)),
    "MAC addresses": lambda: "-".join(f"{LOT.randrange(256):02X}" for _ in range(6)),
    "hashes": lambda: f"{LOT.getrandbits(160):040x}",
    "machine codes": lambda: "".join(LOT.choice(string.ascii_letters + string.digits) for _ in range(22)),
    "coordinates": lambda: f"({LOT.uniform(-55, 40):.5f}, {LOT.uniform(-120, -30):.5f})",
    "account numbers (IBAN)": lambda: unknown_tables.iban(LOT),
    "card numbers": lambda: unknown_tables.luhn(LOT, LOT.choice(("4", "52", "34", "6011")), 16),
    "phone numbers": lambda: f"+{LOT.choice(('34 6', '51 9', '55 85 9', '49 30 1'))}{digits(2)} {digits(3)} {digits(3)}",
    "record numbers": lambda: f"{digits(2)}-{digits(6)}CF{digits(2)}A",
    "street addresses": lambda: (
        f"{LOT.randrange(1, 9000)} {LOT.choice(unknown_tables.STREETS)} {LOT.choice(('St', 'Ave', 'Rd.', 'Lane'))}"
    ),
    "free text": lambda: (
        f"She said that {LOT.choice(unknown_tables.STREETS)} was closed since {digits(2)} days and went {digits(3)} steps home"
    ),
}


def test_recognised_by_their_look_alone() -> None:
    def check(what: str) -> None:
        values = [SIGNS[what]() for _ in range(60)]
        assert kind("V4", values) == what
        found = suggested("V4", dict.fromkeys(values, 1))
        assert found.role == "identifier"
        assert what in found.reason
        assert not any(v in found.reason for v in values)

    assert failures(check, SIGNS) == []


def test_ipv6() -> None:
    assert kind("x", [":".join(f"{LOT.getrandbits(16):x}" for _ in range(8)) for _ in range(20)]) == "IP addresses"
    assert kind("x", [f"fe80::{LOT.getrandbits(16):x}:{LOT.getrandbits(16):x}" for _ in range(20)]) == "IP addresses"


def test_a_few_among_others_are_enough() -> None:
    assert (
        kind("contact", [SIGNS["e-mail addresses"]() for _ in range(10)] + [f"desk {n}" for n in range(30)]) == "e-mail addresses"
    )


ADDRESSES = (
    lambda: f"Calle {LOT.randrange(90)} # {LOT.randrange(90)}-{LOT.randrange(99)}",
    lambda: f"Cra. {LOT.randrange(90)} No. {LOT.randrange(90)}-{LOT.randrange(99)}",
    lambda: f"Av. Brasil, {LOT.randrange(900)}",
    lambda: f"Rua {LOT.choice(unknown_tables.PORTUGUESE_LAST)}, {LOT.randrange(900)} apto {LOT.randrange(50)}",
    lambda: f"Jr. {LOT.choice(unknown_tables.SPANISH_LAST)} {LOT.randrange(900)}",
    lambda: f"{LOT.randrange(1, 99)}00 block of {LOT.choice(unknown_tables.STREETS)} Ave",
    lambda: f"{LOT.randrange(1, 99)}, rue de {LOT.choice(('Paris', 'Lyon', 'Nice'))} {LOT.randrange(90)}",
    lambda: f"Via {LOT.choice(('Roma', 'Dante', 'Verdi'))} {LOT.randrange(900)}",
    lambda: f"{LOT.choice(('Haupt', 'Berg', 'Wald'))}straße {LOT.randrange(900)}",
)


def test_addresses_of_many_countries() -> None:
    drawn = [[address() for _ in range(30)] for address in ADDRESSES]
    assert [values[0] for values in drawn if kind("V9", values) != "street addresses"] == []


def test_categories_are_no_addresses() -> None:
    assert kind("V9", ["STREET", "RESIDENCE", "APARTMENT", "SIDEWALK", "ALLEY", "PARKING LOT"], 100) is None
    assert suggested("address", {"U": 300, "R": 95}).role == "quasi-identifier"


def test_single_coordinates_by_name() -> None:
    names = ("latitude", "lon", "X Coordinate", "coord_y", "latitud", "long", "utm_este")
    exact = {f"{LOT.uniform(-33.9, -33.1):.6f}": 1 for _ in range(200)}
    metres = {str(LOT.randrange(300_000, 400_000)): 1 for _ in range(200)}
    rounded = {f"{-33 + n / 10:.1f}": 40 for n in range(6)}
    found = {n: (suggested(n, exact).content, suggested(n, metres).content, suggested(n, rounded).role) for n in names}
    assert found == dict.fromkeys(names, ("coordinates", "coordinates", "quasi-identifier"))
    assert suggested("ratio", exact).role == ""


def test_coordinates_in_one_value() -> None:
    ways = ("POINT (-70.6{} -33.4)", "SRID=4326;POINT(-70.6{} -33.4)", "-12.04{}, -77.02841", "40°26'4{}\"N")
    found = {way: kind("V1", [way.format(n) for n in range(100, 130)]) for way in ways}
    assert found == dict.fromkeys(ways, "coordinates")


def test_long_values_take_no_time() -> None:
    """Patterns do not try every way of reading a long text."""
    for text in ("and st " * 3000, "a@" * 9000, "1,2 " * 4000, "x:" * 9000):
        content_of("V1", {f"{text}{n}": 1 for n in range(50)})


def test_plates_need_a_name() -> None:
    plates = [f"{digits(4)} {''.join(LOT.choice('BCDFGHJKL') for _ in range(3))}" for _ in range(50)]
    assert kind("placa", plates) == "vehicle plates"
    assert suggested("placa", {"yes": 40, "no": 60}).role == ""


# ---------------------------------------------------------------------- numbers with check digits


def _dni() -> str:
    number = digits(8)
    return number + stdnum.es.dni.calc_check_digit(number)


def _dated(first: int = 40, last: int = 99) -> str:
    return f"{LOT.randrange(first, last):02d}{LOT.randrange(1, 13):02d}{LOT.randrange(1, 29):02d}"


def _letters(n: int) -> str:
    return "".join(LOT.choice("BCDFGLMNPRST") for _ in range(n))


def _nhs() -> str:
    while True:
        number = f"{LOT.randrange(1, 10)}{digits(9)}"
        if stdnum.gb.nhs.is_valid(number):
            return f"{number[:3]} {number[3:6]} {number[6:]}"


def _bsn() -> str:
    while True:
        number = digits(9)
        if stdnum.nl.bsn.is_valid(number):
            return number


def _cuit() -> str:
    while True:
        number = f"20{digits(8)}"
        text = number + stdnum.ar.cuit.calc_check_digit(number)
        if stdnum.ar.cuit.is_valid(text):
            return f"{text[:2]}-{text[2:10]}-{text[10]}"


def _cedula() -> str:
    number = f"{LOT.randrange(1, 25):02d}{LOT.randrange(6)}{digits(6)}"
    return next(number + d for d in string.digits if stdnum.ec.ci.is_valid(number + d))


def _curp() -> str:
    number = f"{LOT.choice('BCDG')}{LOT.choice('AEIO')}{_letters(2)}{_dated()}{LOT.choice('HM')}DF{_letters(3)}0"
    return number + stdnum.mx.curp.calc_check_digit(number)


def _fiscale() -> str:
    number = f"{_letters(6)}{LOT.randrange(40, 99)}{LOT.choice('ABCDEHLMPRST')}{LOT.randrange(1, 29):02d}H{LOT.randrange(100, 999)}"
    return number + stdnum.it.codicefiscale.calc_check_digit(number)


def _nir() -> str:
    number = f"{LOT.choice('12')}{LOT.randrange(40, 99)}{LOT.randrange(1, 13):02d}{LOT.randrange(10, 90)}{digits(6)}"
    return number + stdnum.fr.nir.calc_check_digits(number)


def _pesel() -> str:
    number = f"{_dated()}{digits(4)}"
    return number + stdnum.pl.pesel.calc_check_digit(number)


def _personnummer() -> str:
    number = f"{_dated()}-{digits(3)}"
    return next(number + d for d in string.digits if stdnum.se.personnummer.is_valid(number + d))


IDS = {
    "CPF (Brazil)": lambda: unknown_tables.cpf(LOT),
    "RUT (Chile)": lambda: unknown_tables.rut(LOT),
    "DNI, NIE or NIF (Spain)": _dni,
    "CUIT (Argentina)": _cuit,
    "CURP (Mexico)": _curp,
    "cédula (Ecuador)": _cedula,
    "SSN (United States)": lambda: f"{LOT.randrange(100, 665)}-{LOT.randrange(10, 99)}-{LOT.randrange(1000, 9999)}",
    "NHS number (United Kingdom)": _nhs,
    "codice fiscale (Italy)": _fiscale,
    "NIR (France)": _nir,
    "PESEL (Poland)": _pesel,
    "BSN (Netherlands)": _bsn,
    "personnummer (Sweden)": _personnummer,
}


def test_national_ids_by_their_check_digits() -> None:
    def check(what: str) -> None:
        values = [IDS[what]() for _ in range(80)]
        assert kind("V2", values) == f"national ids: {what}"
        mistyped = [v if i % 12 else v[:-1] + ("0" if v[-1] != "0" else "1") for i, v in enumerate(values)]
        assert kind("V2", mistyped) == f"national ids: {what}", "a few are mistyped"

    assert failures(check, IDS) == []


def test_bare_cpf() -> None:
    assert (
        kind("V2", [unknown_tables.cpf(LOT).replace(".", "").replace("-", "") for _ in range(50)]) == "national ids: CPF (Brazil)"
    )


def test_ids_without_check_digits_by_name() -> None:
    """A Peruvian DNI is eight digits."""
    numbers = {str(LOT.randrange(10_000_000, 80_000_000)): 2 for _ in range(200)}
    assert suggested("DNI", numbers).role == "identifier"


def test_local_phones() -> None:
    brazil = [f"({LOT.choice((85, 11, 71))}) 9{LOT.randrange(6, 10)}{digits(3)}-{digits(4)}" for _ in range(50)]
    assert kind("V3", brazil) == "phone numbers"
    spain = [f"6{digits(2)} {digits(3)} {digits(3)}" for _ in range(50)]
    assert kind("V3", spain) == "phone numbers"
    bare = [f"9{digits(8)}" for _ in range(50)]
    assert kind("celular", bare) == "phone numbers"
    assert kind("V3", bare) is None


@given(st.integers(5, 19), st.integers(12, 120), st.randoms(use_true_random=False))
def test_digits_by_lot_are_no_ids(length: int, n: int, lot: Random) -> None:
    """One number in ten passes a check by chance: that must not make an id of a column."""
    values = [lot.choice("123456789") + "".join(lot.choice(string.digits) for _ in range(length - 1)) for _ in range(n)]
    assert kind("amount_7", values) is None


@given(
    st.sampled_from([(3, 3, 4), (2, 3, 3), (4, 4, 4), (2, 2, 2, 2), (5, 3), (3, 3, 3)]),
    st.sampled_from(" -."),
    st.integers(15, 80),
    st.randoms(use_true_random=False),
)
def test_groups_of_digits_by_lot_are_neither_ids_nor_phones(shape, sign, n, lot) -> None:
    values = [sign.join("".join(lot.choice(string.digits) for _ in range(k)) for k in shape) for _ in range(n)]
    found = kind("V8", values) or ""
    assert not found.startswith("national ids")
    assert found != "phone numbers"


HARMLESS = {
    "icd": lambda lot: f"{lot.choice('ABCDEFGHIJKLM')}{lot.randrange(100):02d}.{lot.randrange(10)}",
    "date": lambda lot: f"{lot.randrange(1, 29):02d}/{lot.randrange(1, 13):02d}/{lot.randrange(1930, 2020)}",
    "iso date": lambda lot: f"{lot.randrange(1930, 2020)}-{lot.randrange(1, 13):02d}-{lot.randrange(1, 29):02d} 10:00:00",
    "amount": lambda lot: f"{lot.uniform(1, 90000):.2f}",
    "money": lambda lot: f"$ {lot.randrange(1, 9)}.{lot.randrange(1000):03d}.{lot.randrange(1000):03d}",
    "thousands": lambda lot: (
        f"{lot.randrange(1, 999)},{lot.randrange(1000):03d},{lot.randrange(1000):03d},{lot.randrange(1000):03d}"
    ),
    "zip": lambda lot: f"{lot.randrange(1000, 99950):05d}",
    "age": lambda lot: str(lot.randrange(100)),
    "year": lambda lot: str(lot.randrange(1930, 2024)),
    "percent": lambda lot: f"{lot.randrange(100)}.{lot.randrange(10)}%",
    "interval": lambda lot: f"{lot.randrange(0, 50) * 2}-{lot.randrange(50, 90)}",
    "time": lambda lot: f"{lot.randrange(24):02d}:{lot.randrange(60):02d}",
    "code": lambda lot: f"{lot.choice('ABC')}{lot.randrange(9)}",
    "answer": lambda lot: lot.choice(("Muy de acuerdo", "De acuerdo", "En desacuerdo", "No sabe / no responde")),
}


@given(st.sampled_from(sorted(HARMLESS)), st.integers(30, 300), st.randoms(use_true_random=False))
def test_dates_amounts_and_codes_are_no_ids(what: str, n: int, lot: Random) -> None:
    amount: dict[str, int] = {}
    for _ in range(n):
        value = HARMLESS[what](lot)
        amount[value] = amount.get(value, 0) + 1
    assert content_of("V5", amount) is None


@given(st.dictionaries(st.text(max_size=30), st.integers(1, 9), max_size=60), st.text(max_size=20))
def test_any_text_has_an_answer(amount: dict[str, int], name: str) -> None:
    found = suggested(name, amount)
    assert found.role in ("identifier", "quasi-identifier", "sensitive", "insensitive", "")
    assert found.reason
    assert found == suggested(name, dict(reversed(amount.items()))), "the order of values does not matter"
    shown = found.reason.lower()
    assert not any(v.lower() in shown for v in amount if len(v) > 14), "reasons show no values"


def test_sample_is_bounded_and_the_same_in_any_order() -> None:
    values = [f"{n:x}" for n in range(300_000)]
    sample = Sample.of("x", dict.fromkeys(values, 1))
    assert SAMPLED / 2 < len(sample.values) < SAMPLED * 2
    assert (sample.distinct, sample.records) == (300_000, 300_000)
    assert sample == Sample.of("x", dict.fromkeys(reversed(values), 1))


# ---------------------------------------------------------------------- names of columns

TOPICS = {
    "age": "age edad Idade PATIENT_AGE age_cat EDAD_DECLARADA ageGroup",
    "sex": "sex Sexo GENDER genero",
    "birth": "dob dt_nasc fecha_nac FechaNacimiento birthDate date_of_birth data_nascimento year_of_birth",
    "postal": "zip zipcode postal_code cep codigo_postal CP",
    "place": "city Comuna bairro municipio UBIGEO distrito departamento homeState county_id cod_mun Nombre_municipio state_fp",
    "country": "country pais native-country Nacionalidad país",
    "race": "race raca_cor raça ethnicity pertenencia_étnica raceethnicity",
    "marital": "marital-status estado_civil ESTADO_CIVIL",
    "education": "education escolaridade nivel_educacional Medu GRADO_INSTRUCCION",
    "occupation": "occupation cargo puesto ocupación profissão workclass Mjob",
    "income": "income salary sueldo renda vl_renda_familiar household_income balance cost saldo",
    "health": "diagnosis diagnóstico ICD10 cause_of_death Cause tipo_de_contagio",
    "crime": "is_recid c_charge_desc delito arrest",
    "religion": "religion religião",
    "e-mail": "email e-mail correo doctor_email",
    "phone": "phone telefone Teléfono celular",
    "national id": "cpf nu_cpf RUT dni ssn rg passport cédula",
    "name": "name first last nombre nome_beneficiario apellidos Paterno client_name Name/Alias fullname spouse_name birth_name guardian_name",
    "person id": "patient patient_id customerId userId PassengerId RespondentID mrn",
    "household id": "id_hogar HHID household_id familyId id_familia",
    "household": "famsize n_personas_hogar domicilio SibSp hijos qtd_pessoas_domicilio",
    "record id": "ticket c_case_number folio nr_processo policy_no expediente",
    "weight": "fnlwgt factor_expansion peso_amostral weight",
    "coordinate": "lat longitude X_Coordinate latitud",
    "text": "notes observaciones comments descrição",
    "kind": "status situacao tipo_documento",
    "language": "language idioma",
    "statistic": "average percentage share_white",
}


def test_what_names_say() -> None:
    said = {name: topic for topic, names in TOPICS.items() for name in names.split()}
    assert {name: topic_of(name) for name in said} == said


def test_what_names_do_not_say() -> None:
    names = ["mileage", "image", "stage", "usage", "hotel", "argument", "p17", "q0007_0001", "valid", "y2", "manage", "cabbage"]
    assert [name for name in names if topic_of(name) in {*KNOWN, *IDENTIFYING, *PRIVATE}] == []


def test_parts_of_words_say_nothing() -> None:
    """``age`` is not in language, village, average; ``rg`` not in cargo; ``id`` not in valid."""
    assert [topic_of(n) for n in ("language", "village", "average", "cargo", "valid")] == [
        "language",
        "place",
        "statistic",
        "occupation",
        "kind",
    ]
    assert words_of("paid_amount") == ("paid", "amount")


def test_questions_say_little() -> None:
    assert topic_of("Is it rude to ask a person of another state to change places with you?") is None


def test_vocabulary_is_sound() -> None:
    words = [w for said in WORDS.values() for w in said.split()]
    assert sorted({w for w in words if words.count(w) > 1}) == []
    assert set(WORDS) | set(PHRASES) <= {*PRECEDENCE, "person id"}
    assert set(KNOWN) | PRIVATE == set(SAID)


# ---------------------------------------------------------------------- roles


def test_text_is_never_a_measurement() -> None:
    """Text of many values is an identifier in disguise, whatever it is."""
    for distinct, times in ((40, 3), (100, 4), (400, 1), (2000, 20)):
        amount = {f"{'xyzkq'[n % 5]}lorp {n}{'abc'[n % 3]}": times for n in range(distinct)}
        assert suggested("V6", amount).role == "identifier"
    assert suggested("V6", {f"answer {c}": 50 for c in "abcd"}).role == ""


def test_near_unique_integers_are_identifiers() -> None:
    assert suggested("V6", {str(n * 37): 1 for n in range(500)}).role == "identifier"
    assert suggested("sueldo", {str(n * 37): 1 for n in range(500)}).role == "sensitive"


ROLES: list[tuple[str, dict[str, int], str]] = [
    ("V1", {f"{n / 7:.3f}": 1 for n in range(100)}, ""),
    ("V1", {"0": 50, "1": 50}, ""),
    ("V1", {"a": 100}, "insensitive"),
    ("V1", {}, "insensitive"),
    ("cpf", {"111": 1}, "identifier"),
    ("name", {"Ana": 100}, ""),
    ("V1", {"male": 50, "female": 49}, "quasi-identifier"),
    ("V1", {"Soltero/a": 50, "Casado/a": 49, "Viudo/a": 4}, "quasi-identifier"),
    ("peso_amostral", {f"{n / 7:.3f}": 2 for n in range(100)}, ""),
    ("type_id", {"1": 50, "2": 49, "3": 80}, ""),
    ("month", {str(n): 9 for n in range(1, 13)}, "quasi-identifier"),
    ("date", {str(n * 1000): 9 for n in range(1, 13)}, ""),
    ("area", {f"{n / 7:.3f}": 2 for n in range(100)}, ""),
    ("deathYear", {str(n): 3 for n in range(1900, 1990)}, "quasi-identifier"),
    ("deathDay", {str(n): 9 for n in range(1, 32)}, "quasi-identifier"),
    ("deathState", {"TX": 50, "CA": 60, "NY": 70}, "quasi-identifier"),
    ("cause of death", {"Gunshot": 50, "Taser": 6}, "sensitive"),
    ("zip_population", {str(n * 37): n % 3 + 1 for n in range(1, 300)}, ""),
    ("hypertension", {"0": 50, "1": 60}, "sensitive"),
    ("decile_score", {str(n): 9 for n in range(1, 11)}, "sensitive"),
    ("diagnosis", {f"Fracture {n} of the wrist": 1 for n in range(100)}, "identifier"),
    ("StartDate", {f"{n % 12 + 1}/{n % 28 + 1}/18 4:0{n % 9}": 1 for n in range(100)}, "quasi-identifier"),
]


BORNE_OUT: dict[str, tuple[str, dict[str, int], str | None]] = {
    "chest pain": ("cp", {"0": 140, "1": 50, "2": 80, "3": 20}, None),
    "Spanish postal codes": ("C.P.", {str(n): 3 for n in range(28001, 28056)}, "postal"),
    "their zeros kept": ("cp", {f"0{n}": 3 for n in range(8001, 8042)}, "postal"),
    "British ones": ("postcode", {f"SW{n}A {n}AA": 3 for n in range(1, 9)}, "postal"),
    "how somebody is": ("Estado", {"Leve": 90, "Moderado": 20, "Fallecido": 9}, None),
    "states": ("estado", {"SP": 90, "RJ": 20, "BA": 9}, "place"),
    "many states": ("Estado", {f"Región {n}": 9 for n in range(32)}, "place"),
    "a state and its city": ("city_state", {"Austin": 9, "Waco": 9}, "place"),
    "answers": ("WorkLifeBalance", {str(n): 50 for n in range(1, 5)}, "kind"),
    "kinds": ("ADMISSION_TYPE", {"EMERGENCY": 50, "ELECTIVE": 40, "URGENT": 30}, "kind"),
    "the one": ("admission_id", {str(n): 1 for n in range(100)}, "record id"),
    "ranks": ("Gender", {str(n): 1 for n in range(1, 400)}, None),
    "sexes": ("Gender", {"1": 90, "2": 80}, "sex"),
}


def test_a_reason_is_given_only_where_the_values_bear_it_out() -> None:
    found = {what: suggested(name, amount).topic for what, (name, amount, _) in BORNE_OUT.items()}
    assert found == {what: topic for what, (_, _, topic) in BORNE_OUT.items()}


def test_national_ids_that_were_invented_are_no_phones() -> None:
    invented = {f"999-{10 + n % 90}-{1000 + 37 * n}": 1 for n in range(200)}
    assert "phone numbers" not in [suggested(name, invented).content for name in ("SSN", "V1")]
    assert {suggested(name, invented).role for name in ("SSN", "V1")} == {"identifier"}


def test_postal_codes_lose_their_last_digits() -> None:
    amount = {str(n): 3 for n in range(28001, 28056)}
    assert suggest_hierarchy("C.P.", reading_of(amount), amount).spec == {"mask": {"side": "right", "hide": [1]}}


def test_roles() -> None:
    found = [(name, amount, suggested(name, amount).role) for name, amount, _ in ROLES]
    assert found == ROLES


DISGUISED = {
    "numbers of one length, several rows each": ("V1", {str(LOT.randrange(10**7, 10**8)): LOT.randrange(1, 6) for _ in range(400)}),
    "leading zeros": ("V1", {f"{LOT.randrange(10**6):08d}": 2 for _ in range(400)}),
    "signs of thousands": ("V1", {f"{LOT.randrange(10, 99)}.{digits(3)}.{digits(3)}": 1 for _ in range(400)}),
    "everybody equally often": ("V1", {str(n): 4 for n in range(1, 300)}),
    "id of a loan": ("loan_id", {str(n * 7): 1 for n in range(300)}),
    "number of an arrest": ("arrest_number", {str(n * 7): 1 for n in range(300)}),
    "homes": ("vivienda", {str(n): LOT.randrange(1, 5) for n in range(200)}),
    "words at birth": ("birth_word", {f"zorb {n}k": 2 for n in range(100)}),
    "tax id": ("tax_id", {f"{n}-{n * 3 % 97}": 2 for n in range(300)}),
}


def test_numbers_in_disguise() -> None:
    assert [what for what, column in DISGUISED.items() if suggested(*column).role != "identifier"] == []


def test_amounts_are_not_called_identifiers() -> None:
    amounts = {
        "sueldo": {f"${LOT.randrange(1, 9)}.{digits(3)}.{digits(3)}": 1 for _ in range(400)},
        "V1": {f"${LOT.randrange(1, 99)}.{digits(3)}": 1 for _ in range(400)},
        "duration": {str(int(LOT.expovariate(1 / 260))): LOT.randrange(1, 9) for _ in range(400)},
        "loan_amount": {str(n * 700): 1 for n in range(300)},
        "number_of_arrests": {str(n): 20 - n for n in range(15)},
        "hours-per-week": {str(n): 100 - n for n in range(1, 99)},
    }
    found = {name: suggested(name, amount).role for name, amount in amounts.items()}
    # Of three of them nothing is known: others could know them.
    assert found == {**dict.fromkeys(amounts, "sensitive"), "V1": "", "duration": "", "hours-per-week": ""}


def test_one_value_or_none_is_not_always_the_same() -> None:
    assert suggested("V1", {"positive": 3}, rows=100).role != "insensitive"


def test_a_table_of_one_row_is_not_harmless() -> None:
    assert suggested("V1", {"anything": 1}).role == "identifier"


# ---------------------------------------------------------------------- whole tables


@cache
def inspected(name: str) -> Inspection:
    with TemporaryDirectory() as folder:
        return inspect_table(STRANGERS[name](Path(folder)))


@pytest.mark.parametrize("name", STRANGERS)
def test_strangers(name: str) -> None:
    seen, careful = inspected(name), EXPECTED[name]
    roles = {c.name: c.role for c in seen.columns}
    assert {c for c in careful.identifiers if roles[c] != "identifier"} == set()
    assert {c for c in careful.hidden if roles[c] in ("sensitive", "insensitive")} == set()
    assert {c for c in careful.quasi if roles[c] != "quasi-identifier"} == set()
    assert {c for c in careful.sensitive if roles[c] != "sensitive"} == set()
    assert seen.unit == careful.unit
    assert list(roles.values()).count("quasi-identifier") <= QUASI
    # Columns that are neither recoded nor left out hold numbers, or texts that stand in several records each.
    published = [c for c in seen.columns if c.role in ("sensitive", "insensitive") and c.type == "text"]
    amounts = ("Sueldo bruto", "vl_renda_familiar")
    assert [c.name for c in published if c.distinct > 0.1 * (seen.rows - c.missing) and c.name not in amounts] == []
    # Values of identifiers are not shown.
    identifiers = [c for c in seen.columns if c.role == "identifier"]
    assert [c.name for c in identifiers if (c.generalizations, c.variants.examples, c.hierarchy) != ((), (), None)] == []
    assert [c.name for c in seen.columns if not c.reason] == []


def test_of_many_quasi_identifiers_the_best_known_stay() -> None:
    by_name = {c.name: c for c in inspected("compas").columns}
    dates = ["compas_screening_date", "c_jail_in", "c_jail_out", "c_offense_date", "r_offense_date", "in_custody", "out_custody"]
    assert [d for d in dates if by_name[d].role == "quasi-identifier"] == dates[:2]
    assert {by_name[d].role for d in dates[2:]} == {""}
    assert by_name["in_custody"].hierarchy is not None, "kept for an owner who decides so"
    assert by_name["in_custody"].known == "possibly"
    known = {c.name for c in inspected("survey").columns if c.role == "quasi-identifier"}
    assert {"sexo", "edad", "comuna", "fecha_entrevista"} <= known
    assert len(known) == QUASI


def test_answers_of_a_survey_are_known_to_the_person_only() -> None:
    answers = [c for c in inspected("survey").columns if c.name[0] == "p" and c.name[1:].isdigit()]
    assert len(answers) == 101
    assert {(c.role, c.known) for c in answers} == {("sensitive", "never")}


def test_inspection_as_json() -> None:
    shown = inspected("visits").as_dict()
    assert shown["unit"] == {"kind": "person", "column": "mrn"}
    by_name = {c["name"]: c for c in shown["columns"]}
    assert (by_name["doctor_email"]["content"], by_name["doctor_email"]["topic"]) == ("e-mail addresses", "e-mail")
    assert inspected("bank").as_dict()["unit"] is None


def test_inspect_shows_it_and_no_value(main, tmp_path: Path) -> None:
    path = STRANGERS["visits"](tmp_path)
    out = main("inspect", path).out
    assert "full names, by the look of its values" in out
    assert "person: mrn" in out
    people = {line.split('"')[1] for line in path.read_text().splitlines()[1:50]}
    assert not any(person in out for person in people)
    assert "(decide)" in main("inspect", STRANGERS["bank"](tmp_path)).out


class _Column:
    def __init__(self, name: str, topic: str | None, distinct: int, content: str | None = None, missing: int = 0) -> None:
        self.name, self.topic, self.distinct, self.content, self.missing = name, topic, distinct, content, missing
        self.role = "identifier"


WHOSE: list[tuple[list[_Column], tuple[str, str] | None]] = [
    ([], None),
    ([_Column("id", "id", 100)], None),
    ([_Column("id", "id", 50)], ("person", "id")),
    ([_Column("visit", "record id", 100), _Column("patient", "person id", 40)], ("person", "patient")),
    ([_Column("id", "person id", 100), _Column("hh", "household id", 40)], ("household", "hh")),
    ([_Column("cpf", "national id", 100), _Column("user", "person id", 40)], None),
    ([_Column("name", "name", 40, "full names")], ("person", "name")),
    ([_Column("name", "name", 98, "full names")], None),
    ([_Column("name", "name", 40, "full names"), _Column("V1", None, 40, "national ids: RUT (Chile)")], ("person", "V1")),
    ([_Column("mail", "e-mail", 10, "e-mail addresses")], None),
    ([_Column("patient", "person id", 40, missing=3)], ("person", "patient")),
    ([_Column("cpf", "national id", 60, missing=40)], None),
    ([_Column("cpf", "national id", 60, missing=40), _Column("mail", "e-mail", 98, "e-mail addresses")], None),
]


def test_whose_rows() -> None:
    wrong = [([c.name for c in columns], unit) for columns, unit in WHOSE if unit_of(columns, 100) != unit]
    assert wrong == []


def test_recognisers_are_loaded_only_when_needed(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("age,sex,income\n" + "".join(f"{20 + n % 50},{'MF'[n % 2]},{n % 9}\n" for n in range(200)))
    code = (
        "import sys, velado, velado.cli; velado.inspect_table(sys.argv[1]);"
        "print([m for m in ('faker', 'phonenumbers', 'stdnum') if m in sys.modules])"
    )
    ended = subprocess.run([sys.executable, "-c", code, str(table)], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"
