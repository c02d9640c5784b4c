from collections import Counter
from datetime import date, datetime

import pyarrow as pa
import pytest

from velado.samples import DIAGNOSES, covid_ceara, hospital
from velado.samples.ceara import cpf_is_valid

pytestmark = pytest.mark.judged

SAMPLES = [hospital, covid_ceara]
COLUMNS = {
    hospital: ["name", "national_id", "birth_date", "sex", "postal_code", "city", "marital_status", "diagnosis", "cost"],
    covid_ceara: ["nome", "cpf", "localidade", "data_nascimento", "raca_cor"],
}
PROVINCES = {
    "Madrid": "28",
    "Barcelona": "08",
    "Valencia": "46",
    "Sevilla": "41",
    "Zaragoza": "50",
    "Palma": "07",
    "Bilbao": "48",
    "Alicante": "03",
    "Vitoria-Gasteiz": "01",
    "Almería": "04",
    "Burgos": "09",
    "Albacete": "02",
}


@pytest.fixture(scope="module")
def patients():
    return hospital().to_pylist()


@pytest.fixture(scope="module")
def people():
    return covid_ceara().to_pylist()


def leaves():
    return [leaf for groups in DIAGNOSES.values() for group in groups.values() for leaf in group]


def age(patient):
    born = date.fromisoformat(patient["birth_date"])
    return 2026 - born.year - ((born.month, born.day) > (1, 1))


def cpf_check_digit(digits):
    """The textbook rule: 11 minus the remainder, or zero where the remainder is below two."""
    remainder = sum(d * w for d, w in zip(reversed(digits), range(2, 12), strict=False)) % 11
    return 0 if remainder < 2 else 11 - remainder


@pytest.mark.parametrize("sample", SAMPLES)
def test_same_rows_and_seed_give_the_same_table(sample):
    assert sample(300, seed=7).equals(sample(300, seed=7))


@pytest.mark.parametrize("sample", SAMPLES)
def test_the_seed_changes_every_column(sample):
    one, other = sample(300, seed=7), sample(300, seed=8)
    assert all(one[c] != other[c] for c in one.column_names)


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("rows", [0, 1, 300])
def test_columns_are_text_in_the_stated_order(sample, rows):
    table = sample(rows)
    assert table.column_names == COLUMNS[sample]
    assert set(table.schema.types) == {pa.string()}
    assert table.num_rows == rows


def test_default_sizes(patients, people):
    assert (len(patients), len(people)) == (5000, 10_000)


def test_only_marital_status_has_missing_values():
    table = hospital(20_000)
    missing = {c: table[c].null_count for c in table.column_names if table[c].null_count}
    assert missing.keys() == {"marital_status"}
    assert 50 < missing["marital_status"] < 160
    assert not any(c.null_count for c in covid_ceara(2000).columns)


def test_national_ids_are_distinct_and_their_letter_is_right(patients):
    ids = [p["national_id"] for p in patients]
    assert len(set(ids)) == len(ids)
    assert all(len(i) == 9 and i[0] == "9" for i in ids)
    assert all(i[8] == "TRWAGMYFPDXBNJZSQVHLCKE"[int(i[:8]) % 23] for i in ids)


def test_ages_run_from_0_to_100(patients):
    ages = [age(p) for p in patients]
    assert min(ages) == 0
    assert 95 <= max(ages) <= 100


def test_postal_codes_belong_to_the_city(patients):
    assert {p["city"] for p in patients} == set(PROVINCES)
    assert all(len(p["postal_code"]) == 5 and p["postal_code"].isdigit() for p in patients)
    assert all(p["postal_code"].startswith(PROVINCES[p["city"]]) for p in patients)


def test_children_are_single(patients):
    assert {p["marital_status"] for p in patients if age(p) < 18} <= {"single", None}
    assert {p["marital_status"] for p in patients} == {"single", "married", "divorced", "widowed", None}


def test_diagnoses_are_the_leaves_of_the_tree(patients):
    names = leaves() + [g for groups in DIAGNOSES.values() for g in groups] + list(DIAGNOSES)
    assert len(set(names)) == len(names)
    assert {p["diagnosis"] for p in patients} == set(leaves())


def test_diagnoses_are_uneven(patients):
    counts = Counter(p["diagnosis"] for p in patients).values()
    assert max(counts) > 5 * min(counts)


def test_diagnoses_fit_sex_and_age(patients):
    pregnancy = {d for group in DIAGNOSES["Pregnancy and childbirth"].values() for d in group}
    mothers = [p for p in patients if p["diagnosis"] in pregnancy]
    assert {p["sex"] for p in mothers} == {"female"}
    assert all(15 <= age(p) <= 50 for p in mothers)
    assert {p["sex"] for p in patients if p["diagnosis"] == "Prostate cancer"} == {"male"}
    assert all(age(p) < 4 for p in patients if p["diagnosis"] == "Bronchiolitis")


def test_costs_have_two_decimals(patients):
    assert all(len(p["cost"].partition(".")[2]) == 2 and float(p["cost"]) > 0 for p in patients)


def test_cpfs_are_distinct_and_valid(people):
    cpfs = [p["cpf"] for p in people]
    assert len(set(cpfs)) == len(cpfs)
    for cpf in cpfs:
        digits = [int(c) for c in cpf if c.isdigit()]
        text = "".join(map(str, digits))
        assert cpf == f"{text[:3]}.{text[3:6]}.{text[6:9]}-{text[9:]}"
        assert digits[9] == cpf_check_digit(digits[:9])
        assert digits[10] == cpf_check_digit(digits[:10])
        assert cpf_is_valid(cpf)


@pytest.mark.parametrize("wrong", ["", "111.111.111-11", "123.456.789-10", "123.456.789-19", "12345678909", "abc"])
def test_wrong_cpfs_are_not_valid(wrong):
    assert cpf_is_valid("123.456.789-09")
    assert not cpf_is_valid(wrong)


def test_names_are_three_parts_in_capitals(people):
    assert all(len(p["nome"].split(" ")) == 3 and p["nome"].isupper() for p in people)


def test_places_are_district_city_and_state(people):
    parts = [p["localidade"].split("/") for p in people]
    assert all(len(place) == 3 and place[2] == "CE" and all(place) for place in parts)
    assert all(p["localidade"].isupper() for p in people)
    districts = {city: {d for d, c, _ in parts if c == city} for _, city, _ in parts}
    assert len(districts) >= 15
    assert len(districts["FORTALEZA"]) >= 25
    assert min(map(len, districts.values())) > 1
    assert 0.4 < sum(city == "FORTALEZA" for _, city, _ in parts) / len(parts) < 0.5


def test_birth_dates_parse(people):
    dates = [p["data_nascimento"] for p in people]
    born = [datetime.strptime(d, "%d/%m/%Y") for d in dates]
    assert [b.strftime("%d/%m/%Y") for b in born] == dates
    assert 1925 <= min(born).year < 1935
    assert max(born).year == 2024
    assert max(Counter(b.month for b in born).values()) < 0.11 * len(born)


def test_races_are_skewed_as_stated(people):
    counts = Counter(p["raca_cor"] for p in people)
    stated = {"PARDA": 0.68, "BRANCA": 0.22, "PRETA": 0.06, "AMARELA": 0.03, "INDÍGENA": 0.01}
    assert counts.keys() == stated.keys()
    assert {race: n / len(people) for race, n in counts.items()} == pytest.approx(stated, abs=0.015)
