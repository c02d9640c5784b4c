"""Invented tables whose columns betray people although none of them is a name: made after public tables in which they did.

Nobody in them exists. ``TABLES`` writes a table into a folder and gives its path; ``Betrayal`` says which columns gave people
away in the public table, what must still be worth reading in a release, and whose rows they are.
"""

# ruff: noqa: SIM905  (lists of words read better as words)

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

from unknown_tables import ENGLISH_FIRST, ENGLISH_LAST, PORTUGUESE_FIRST, PORTUGUESE_LAST, SPANISH_FIRST, SPANISH_LAST
from unknown_tables import _day as day
from unknown_tables import _weighted as weighted
from unknown_tables import _write as write

STATES = "CA TX NY FL PA IL OH GA NC MI NJ VA WA AZ MA TN IN MO MD WI".split()


@dataclass(frozen=True)
class Betrayal:
    """What to look for in a release.

    ``by``: columns that gave people away; ``kept``: columns of which most cells must still be shown in some form (of
    ``kept_least`` columns, if not of all); ``kinds``: columns that are a `number` or a `date` in spite of an odd value;
    ``person``: the column that says whose rows these are; ``copies``: equal rows are one person.
    """

    by: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    kept_least: int | None = None
    kinds: tuple[tuple[str, str], ...] = ()
    person: str | None = None
    copies: bool = False


def baseball(folder: Path, rows: int = 2000) -> Path:
    """Players: days of birth and death in parts, states and towns."""
    lot = Random(101)
    towns = [f"{a}{b}" for a in "Mill Pine Oak River Clear Fair Lake Green".split() for b in "ville field ton wood port".split()]
    header = (
        "playerID birthYear birthMonth birthDay birthCountry birthState birthCity deathYear deathMonth deathDay deathCountry "
        "deathState deathCity nameFirst nameLast weight height bats throws debut finalGame"
    ).split()
    written = []
    for n in range(rows):
        first, last = lot.choice(ENGLISH_FIRST), lot.choice(ENGLISH_LAST)
        born = day(lot, 1850, 1998)
        dead = born + timedelta(days=int(lot.uniform(40, 92) * 365)) if born.year < 1960 else None
        dead = dead if dead and dead.year < 2020 else None
        debut = born + timedelta(days=int(lot.uniform(19, 29) * 365))
        end = debut + timedelta(days=int(lot.expovariate(1 / 1500)))
        death: list[Any] = [""] * 6
        if dead:
            death = [dead.year, dead.month, dead.day, "USA", lot.choice(STATES), lot.choice(towns)]
        written.append(
            [
                f"{last[:5]}{first[:2]}{n:04d}",
                born.year,
                born.month,
                born.day,
                weighted(lot, {"USA": 88, "D.R.": 5, "Venezuela": 3, "Cuba": 2, "CAN": 2}),
                lot.choice(STATES),
                lot.choice(towns),
                *death,
                first.title(),
                last.title(),
                int(lot.gauss(187, 21)),
                int(lot.gauss(72, 2.6)),
                weighted(lot, {"R": 65, "L": 28, "B": 7}),
                weighted(lot, {"R": 79, "L": 21}),
                debut,
                end,
            ]
        )
    return write(folder / "baseball.csv", header, written)


def tracts(folder: Path, rows: int = 467) -> Path:
    """People killed by the police: ten figures of the census tract beside codes of the place."""
    lot = Random(102)
    header = (
        "name age gender raceethnicity month day year state county_id zip pop share_white share_black share_hispanic p_income "
        "h_income county_income comp_income county_bucket pov urate college cause armed"
    ).split()
    written = []
    for _ in range(rows):
        own, county = lot.randrange(9000, 60000), lot.randrange(38000, 90000)
        white, black = lot.uniform(2, 95), lot.uniform(0, 30)
        written.append(
            [
                f"{lot.choice(ENGLISH_FIRST).title()} {lot.choice(ENGLISH_LAST).title()}",
                lot.randrange(16, 78),
                weighted(lot, {"Male": 95, "Female": 5}),
                weighted(lot, {"White": 50, "Black": 30, "Hispanic/Latino": 15, "Unknown": 5}),
                lot.choice(("January", "February", "March", "April", "May", "June")),
                lot.randrange(1, 29),
                2015,
                lot.choice(STATES),
                f"{lot.randrange(1, 56)}{lot.randrange(1, 120):03d}",
                f"{lot.randrange(10000, 99999)}",
                lot.randrange(800, 12000),
                f"{white:.1f}",
                f"{black:.1f}",
                f"{max(0, 100 - white - black) / 2:.1f}",
                own,
                own * 2 + lot.randrange(9000),
                county,
                f"{(own * 2) / county:.9f}",
                lot.randrange(1, 6),
                f"{lot.uniform(2, 60):.1f}",
                f"{lot.uniform(0.01, 0.4):.9f}",
                f"{lot.uniform(0.03, 0.7):.9f}",
                weighted(lot, {"Gunshot": 88, "Taser": 6, "Death in custody": 6}),
                weighted(lot, {"No": 22, "Firearm": 54, "Knife": 15, "Other": 9}),
            ]
        )
    return write(folder / "tracts.csv", header, written)


def marathon(folder: Path, rows: int = 3000) -> Path:
    """Runners: times and ranks overall, by sex and by division."""
    lot = Random(103)
    header = "Bib Name Age M/F City State Country 5K Half 40K Pace OfficialTime Overall Gender Division".split()
    runners = []
    for n in range(rows):
        age = min(80, max(18, int(lot.gauss(42, 11))))
        runners.append((max(7800, int(lot.gauss(13800, 2500))), age, lot.choice("MMF"), n + 1))
    runners.sort()
    ranks: dict[Any, int] = {}
    written = []

    def clock(seconds: float) -> str:
        return f"{int(seconds) // 3600}:{int(seconds) // 60 % 60:02d}:{int(seconds) % 60:02d}"

    for overall, (seconds, age, sex, bib) in enumerate(runners, 1):
        division = sex, max(age, 35) // 5
        for group in (sex, division):
            ranks[group] = ranks.get(group, 0) + 1
        country = weighted(lot, {"USA": 82, "CAN": 9, "GBR": 4, "MEX": 2, "ITA": 2, "JPN": 1})
        written.append(
            [
                bib,
                f"{lot.choice(ENGLISH_LAST).title()}, {lot.choice(ENGLISH_FIRST).title()}",
                age,
                sex,
                f"{lot.choice(ENGLISH_LAST).title()}ville",
                lot.choice(STATES) if country == "USA" else "",
                country,
                clock(seconds * 0.118),
                clock(seconds * 0.497),
                clock(seconds * 0.948),
                clock(seconds / 26.2),
                clock(seconds),
                overall,
                ranks[sex],
                ranks[division],
            ]
        )
    return write(folder / "marathon.csv", header, written)


def candidates(folder: Path, rows: int = 3000) -> Path:
    """Brazilian candidates: a number on the ballot, and a number of the coalition."""
    lot = Random(104)
    header = (
        "ANO_ELEICAO SG_UF DS_CARGO SQ_CANDIDATO NR_CANDIDATO NM_CANDIDATO NR_PARTIDO SG_PARTIDO SQ_COLIGACAO DS_COMPOSICAO_COLIGACAO "
        "DT_NASCIMENTO DS_GENERO DS_GRAU_INSTRUCAO DS_ESTADO_CIVIL DS_COR_RACA DS_OCUPACAO ST_REELEICAO DS_SIT_TOT_TURNO"
    ).split()
    parties = {
        10: "REPUB",
        12: "PDT",
        13: "PT",
        15: "MDB",
        17: "PSL",
        22: "PL",
        30: "NOVO",
        40: "PSB",
        43: "PV",
        45: "PSDB",
        55: "PSD",
    }
    states = "SP RJ MG BA CE PR RS PE".split()
    coalitions = {(uf, party): 10_000_000_000 + lot.randrange(10**9) for uf in states for party in parties}
    written = []
    for _ in range(rows):
        uf, party = lot.choice(states), lot.choice(list(parties))
        office = weighted(lot, {"DEPUTADO ESTADUAL": 64, "DEPUTADO FEDERAL": 30, "SENADOR": 4, "GOVERNADOR": 2})
        digits = {"DEPUTADO ESTADUAL": 3, "DEPUTADO FEDERAL": 2, "SENADOR": 1, "GOVERNADOR": 0}[office]
        allies = sorted(lot.sample(list(parties.values()), 2)) if lot.random() < 0.6 else [parties[party]]
        written.append(
            [
                2018,
                uf,
                office,
                10**10 + lot.randrange(10**10),
                f"{party}{lot.randrange(10**digits):0{digits}d}" if digits else party,
                f"{lot.choice(PORTUGUESE_FIRST)} {lot.choice(PORTUGUESE_LAST)} {lot.choice(PORTUGUESE_LAST)}".upper(),
                party,
                parties[party],
                coalitions[uf, party],
                " / ".join(allies),
                day(lot, 1940, 1997).strftime("%d/%m/%Y"),
                weighted(lot, {"MASCULINO": 68, "FEMININO": 32}),
                weighted(lot, {"SUPERIOR COMPLETO": 50, "ENSINO MÉDIO COMPLETO": 32, "SUPERIOR INCOMPLETO": 10, "LÊ E ESCREVE": 8}),
                weighted(lot, {"CASADO(A)": 54, "SOLTEIRO(A)": 32, "DIVORCIADO(A)": 12, "VIÚVO(A)": 2}),
                weighted(lot, {"BRANCA": 52, "PARDA": 35, "PRETA": 11, "INDÍGENA": 1, "AMARELA": 1}),
                weighted(lot, {"EMPRESÁRIO": 25, "ADVOGADO": 20, "OUTROS": 20, "PROFESSOR": 15, "MÉDICO": 10, "VEREADOR": 10}),
                weighted(lot, {"N": 92, "S": 8}),
                weighted(lot, {"NÃO ELEITO": 50, "SUPLENTE": 44, "ELEITO": 6}),
            ]
        )
    return write(folder / "candidates.csv", header, written)


def salaries(folder: Path, rows: int = 3000) -> Path:
    """Staff of a city: most salaries are of a grade, those of chiefs are their own."""
    lot = Random(105)
    header = [
        "Name",
        "Job Titles",
        "Department",
        "Full or Part-Time",
        "Salary or Hourly",
        "Typical Hours",
        "Annual Salary",
        "Hourly Rate",
    ]
    grades = {
        "POLICE OFFICER": 90024,
        "FIREFIGHTER-EMT": 95484,
        "SERGEANT": 107988,
        "POOL MOTOR TRUCK DRIVER": 0,
        "CROSSING GUARD": 0,
        "CLERK III": 62832,
        "CONSTRUCTION LABORER": 0,
        "PARAMEDIC": 89130,
        "LIBRARIAN I": 66684,
        "ACCOUNTANT II": 79440,
    }
    homes = "POLICE FIRE STREETS&SAN WATER AVIATION LIBRARY FINANCE HEALTH".split()
    written = []
    for n in range(rows):
        name = f"{lot.choice(ENGLISH_LAST)}, {lot.choice(ENGLISH_FIRST)} {lot.choice('ABCDEJLMRST')}".upper()
        if n < 30:
            title, home = ("DIRECTOR", "COMMISSIONER", "CHIEF")[n % 3], homes[n % len(homes)]
            written.append([name, title, home, "F", "Salary", "", f"{150_000 + lot.randrange(110_000)}.00", ""])
            continue
        title, home = lot.choice(list(grades)), lot.choice(homes)
        pay, step = grades[title], lot.choice((0, 0, 0, 3216, 6408, 9612))
        if pay:
            own = lot.randrange(1, 999) if lot.random() < 0.08 else 0
            written.append([name, title, home, "F", "Salary", "", f"{pay + step + own * 12}.00", ""])
        else:
            hours = weighted(lot, {20: 30, 35: 10, 40: 60})
            written.append(
                [
                    name,
                    title,
                    home,
                    "F" if hours > 34 else "P",
                    "Hourly",
                    hours,
                    "",
                    lot.choice(("35.60", "19.86", "40.20", "48.26")),
                ]
            )
    return write(folder / "salaries.csv", header, written)


def nonvoters(folder: Path, rows: int = 1500) -> Path:
    """A survey whose age is called ppage, beside answers and a weight."""
    lot = Random(106)
    answers = [f"Q{n}_{part}" for n in (2, 3, 4, 8) for part in range(1, 6)]
    header = ["RespId", "weight", *answers, "ppage", "educ", "race", "gender", "income_cat", "voter_category"]
    written = []
    for n in range(rows):
        written.append(
            [
                470001 + n * 2,
                f"{lot.uniform(0.2, 3.1):.4f}",
                *(lot.choice((1, 1, 2, 2, 3, 4, -1)) for _ in answers),
                min(94, max(22, int(lot.gauss(52, 17)))),
                lot.choice(("College", "Some college", "High school or less")),
                weighted(lot, {"White": 64, "Black": 16, "Hispanic": 14, "Other/Mixed": 6}),
                lot.choice(("Female", "Male")),
                lot.choice(("$125k or more", "$75-125k", "$40-75k", "Less than $40k")),
                weighted(lot, {"always": 31, "sporadic": 44, "rarely/never": 25}),
            ]
        )
    return write(folder / "nonvoters.csv", header, written)


def credit(folder: Path, rows: int = 1000) -> Path:
    """Loans: columns are called A1 to A20, and A13 is the age."""
    lot = Random(107)
    header = [*(f"A{n}" for n in range(1, 21)), "class"]
    written = []
    for _ in range(rows):
        months = lot.choice((6, 9, 12, 12, 15, 18, 24, 24, 30, 36, 48))
        age = min(75, 19 + int(lot.expovariate(1 / 16)))
        written.append(
            [
                f"A1{lot.randrange(1, 5)}",
                months,
                f"A3{lot.randrange(5)}",
                f"A4{lot.randrange(10)}",
                int(lot.lognormvariate(7.8, 0.75)),
                f"A6{lot.randrange(1, 6)}",
                f"A7{lot.randrange(1, 6)}",
                lot.randrange(1, 5),
                f"A9{lot.randrange(1, 5)}",
                f"A10{lot.randrange(1, 4)}",
                lot.randrange(1, 5),
                f"A12{lot.randrange(1, 5)}",
                age,
                f"A14{lot.randrange(1, 4)}",
                f"A15{lot.randrange(1, 4)}",
                weighted(lot, {1: 63, 2: 33, 3: 3, 4: 1}),
                f"A17{lot.randrange(1, 5)}",
                weighted(lot, {1: 84, 2: 16}),
                f"A19{lot.randrange(1, 3)}",
                weighted(lot, {"A201": 96, "A202": 4}),
                weighted(lot, {1: 70, 2: 30}),
            ]
        )
    return write(folder / "credit.csv", header, written)


def heart(folder: Path, rows: int = 1025) -> Path:
    """302 patients of whom most stand there three or four times, in equal rows."""
    lot = Random(108)
    header = "age sex cp trestbps chol fbs restecg thalach exang oldpeak slope ca thal target".split()
    patients = []
    for _ in range(302):
        ill = lot.random() < 0.5
        patients.append(
            [
                min(77, max(29, int(lot.gauss(54, 9)))),
                weighted(lot, {1: 68, 0: 32}),
                lot.randrange(4),
                lot.randrange(94, 200, 2),
                int(lot.gauss(246, 50)),
                weighted(lot, {0: 85, 1: 15}),
                weighted(lot, {0: 49, 1: 50, 2: 1}),
                min(202, int(lot.gauss(150, 22))),
                weighted(lot, {0: 67, 1: 33}),
                f"{max(0, lot.gauss(1, 1.1)):.1f}",
                lot.randrange(3),
                weighted(lot, {0: 58, 1: 22, 2: 13, 3: 7}),
                weighted(lot, {2: 55, 3: 39, 1: 6}),
                int(ill),
            ]
        )
    written = [*patients, *(lot.choice(patients) for _ in range(rows - len(patients)))]
    lot.shuffle(written)
    return write(folder / "heart.csv", header, written)


def congress(folder: Path, rows: int = 3000) -> Path:
    """Terms of members: one id, several rows; some rows have none."""
    lot = Random(109)
    header = "congress chamber bioguide firstname lastname birthday state party incumbent termstart age".split()
    written: list[list[Any]] = []
    n = 0
    while len(written) < rows:
        first, last, born = lot.choice(ENGLISH_FIRST).title(), lot.choice(ENGLISH_LAST).title(), day(lot, 1880, 1975)
        who = "NA" if lot.random() < 0.01 else f"{last[0]}{n:06d}"
        state, party, start, n = lot.choice(STATES), lot.choice("DDRR"), born.year + lot.randrange(30, 60), n + 1
        for term in range(min(16, 1 + int(lot.expovariate(1 / 4)))):
            year = (start + 2 * term) // 2 * 2 + 1
            if 1947 <= year <= 2013:
                begins = date(year, 1, 3)
                written.append(
                    [
                        (year - 1787) // 2,
                        "house" if lot.random() < 0.8 else "senate",
                        who,
                        first,
                        last,
                        born,
                        state,
                        party,
                        "Yes" if term else "No",
                        begins,
                        f"{(begins - born).days / 365.25:.1f}",
                    ]
                )
    return write(folder / "congress.csv", header, written[:rows])


def places(folder: Path, rows: int = 3000) -> Path:
    """Figures of the place where people live: each tells the others, and the place."""
    lot = Random(110)
    header = "age sex zip_population zip_median_income zip_share_college diagnosis".split()
    towns = [(lot.randrange(900, 60000), lot.randrange(24000, 140000), lot.uniform(0.05, 0.7)) for _ in range(1500)]
    written = []
    for _ in range(rows):
        people, income, college = lot.choice(towns)
        written.append(
            [
                lot.randrange(18, 90),
                lot.choice("FM"),
                people,
                income,
                f"{college:.4f}",
                weighted(lot, {"flu": 40, "asthma": 25, "diabetes": 20, "HIV": 5, "cancer": 10}),
            ]
        )
    return write(folder / "places.csv", header, written)


ANSWERS = tuple(f"{topic}_{n}" for topic in ("trust", "media", "health", "work", "home") for n in range(1, 9))


def answers(folder: Path, rows: int = 600) -> Path:
    """A survey of 40 answers on scales, with age, sex and region."""
    lot = Random(111)
    scale = ["Strongly agree", "Agree", "Neither", "Disagree", "Strongly disagree"]
    header = ["respondent", "age", "gender", "region", *ANSWERS]
    written = []
    for n in range(rows):
        mood = lot.random()
        given = [scale[min(4, max(0, int(lot.gauss(mood * 4, 1))))] if lot.random() < 0.97 else "" for _ in ANSWERS]
        written.append(
            [
                3_000_000 + n * 7,
                lot.randrange(18, 86),
                lot.choice(("Female", "Male")),
                lot.choice(("North", "South", "East", "West")),
                *given,
            ]
        )
    return write(folder / "answers.csv", header, written)


def survived(folder: Path, rows: int = 891) -> Path:
    """Passengers, with the outcome in the second column."""
    lot = Random(112)
    header = "PassengerId Survived Pclass Name Sex Age SibSp Parch Fare Embarked".split()
    written = []
    for n in range(1, rows + 1):
        sex, rank = weighted(lot, {"male": 65, "female": 35}), lot.choice((1, 2, 3, 3))
        name = f"{lot.choice(ENGLISH_LAST).title()}, {'Mr.' if sex == 'male' else 'Mrs.'} {lot.choice(ENGLISH_FIRST).title()}"
        fare = f"{lot.choice((7.225, 7.8958, 8.05, 13, 26)) if lot.random() < 0.5 else lot.uniform(5, 90) * (4 - rank):.4f}"
        written.append(
            [
                n,
                int(lot.random() < (0.75 if sex == "female" else 0.2)),
                rank,
                name,
                sex,
                "" if lot.random() < 0.2 else lot.randrange(1, 75),
                weighted(lot, {0: 68, 1: 23, 2: 6, 3: 3}),
                weighted(lot, {0: 76, 1: 13, 2: 11}),
                fare,
                weighted(lot, {"S": 72, "C": 19, "Q": 9}),
            ]
        )
    return write(folder / "survived.csv", header, written)


def stroke(folder: Path, rows: int = 2500) -> Path:
    """Patients: exact glucose and body mass, and whether they had a stroke."""
    lot = Random(113)
    header = "id gender age hypertension heart_disease ever_married work_type Residence_type avg_glucose_level bmi smoking_status stroke".split()
    written = []
    for number in lot.sample(range(100, 80000), rows):
        age = lot.randrange(1, 83)
        written.append(
            [
                number,
                weighted(lot, {"Female": 58, "Male": 42}),
                age,
                int(lot.random() < age / 600),
                int(lot.random() < age / 900),
                "Yes" if age > 25 and lot.random() < 0.85 else "No",
                weighted(lot, {"Private": 57, "Self-employed": 16, "children": 14, "Govt_job": 13}),
                lot.choice(("Urban", "Rural")),
                f"{lot.gauss(106, 40):.2f}",
                "N/A" if lot.random() < 0.04 else f"{max(12, lot.gauss(29, 7)):.1f}",
                weighted(lot, {"never smoked": 37, "Unknown": 30, "formerly smoked": 18, "smokes": 15}),
                int(lot.random() < age / 1000),
            ]
        )
    return write(folder / "stroke.csv", header, written)


def attrition(folder: Path, rows: int = 1470) -> Path:
    """Staff: exact income and rates, answers on scales, and who left."""
    lot = Random(114)
    header = (
        "Age Attrition BusinessTravel DailyRate Department DistanceFromHome Education EducationField EmployeeCount EmployeeNumber "
        "EnvironmentSatisfaction Gender HourlyRate JobRole JobSatisfaction MaritalStatus MonthlyIncome MonthlyRate OverTime "
        "PercentSalaryHike StandardHours TotalWorkingYears WorkLifeBalance YearsAtCompany"
    ).split()
    written = []
    for n in range(1, rows + 1):
        age = min(60, max(18, int(lot.gauss(37, 9))))
        years = lot.randrange(0, age - 17)
        written.append(
            [
                age,
                weighted(lot, {"No": 84, "Yes": 16}),
                weighted(lot, {"Travel_Rarely": 71, "Travel_Frequently": 19, "Non-Travel": 10}),
                lot.randrange(102, 1499),
                weighted(lot, {"Research & Development": 65, "Sales": 31, "Human Resources": 4}),
                lot.randrange(1, 30),
                lot.randrange(1, 6),
                lot.choice(("Life Sciences", "Medical", "Marketing", "Technical Degree", "Other")),
                1,
                n,
                lot.randrange(1, 5),
                weighted(lot, {"Male": 60, "Female": 40}),
                lot.randrange(30, 101),
                lot.choice(
                    ("Sales Executive", "Research Scientist", "Laboratory Technician", "Manager", "Healthcare Representative")
                ),
                lot.randrange(1, 5),
                lot.choice(("Single", "Married", "Divorced")),
                lot.randrange(1009, 20000),
                lot.randrange(2094, 26999),
                weighted(lot, {"No": 72, "Yes": 28}),
                lot.randrange(11, 26),
                80,
                years,
                lot.randrange(1, 5),
                lot.randrange(0, years + 1),
            ]
        )
    return write(folder / "attrition.csv", header, written)


def odd_ages(folder: Path, rows: int = 1200) -> Path:
    """One age is written 01.08, some are Unknown; one birth year is 1193."""
    lot = Random(115)
    header = "sex age born region outcome".split()
    written: list[list[Any]] = []
    for n in range(rows):
        age = lot.randrange(18, 90)
        shown: Any = "01.08" if n == 7 else "Unknown" if n % 97 == 5 else age
        written.append(
            [
                lot.choice("FM"),
                shown,
                1193 if n == 30 else 2020 - age,
                lot.choice(("North", "South", "East", "West")),
                weighted(lot, {"recovered": 70, "ill": 25, "dead": 5}),
            ]
        )
    return write(folder / "odd_ages.csv", header, written)


def odd_dates(folder: Path, rows: int = 1200) -> Path:
    """Cases of a disease: among the days of first symptoms stands Asintomático."""
    lot = Random(116)
    header = ["ID de caso", "Nombre", "Edad", "Sexo", "Departamento", "Fecha de inicio de síntomas", "Estado", "C.P."]
    written = []
    for n in range(rows):
        began = "Asintomático" if lot.random() < 0.08 else day(lot, 2020, 2020).strftime("%d/%m/%Y")
        written.append(
            [
                10_000 + 3 * n,
                f"{lot.choice(SPANISH_FIRST)} {lot.choice(SPANISH_LAST)} {lot.choice(SPANISH_LAST)}",
                lot.randrange(0, 95),
                lot.choice("FM"),
                lot.choice(("BOGOTA", "ANTIOQUIA", "VALLE", "ATLANTICO")),
                began,
                weighted(lot, {"Leve": 92, "Moderado": 4, "Grave": 2, "Fallecido": 2}),
                f"28{lot.randrange(1, 60):03d}",
            ]
        )
    return write(folder / "odd_dates.csv", header, written)


TABLES: dict[Callable[..., Path], Betrayal] = {
    baseball: Betrayal(by=("deathYear", "deathMonth", "deathDay", "deathState")),
    tracts: Betrayal(by=("pop", "share_white", "p_income", "h_income", "county_income", "comp_income", "urate", "college")),
    marathon: Betrayal(by=("Division", "Gender", "Overall", "OfficialTime", "5K")),
    candidates: Betrayal(by=("SQ_COLIGACAO", "NR_CANDIDATO")),
    salaries: Betrayal(by=("Annual Salary", "Hourly Rate")),
    nonvoters: Betrayal(by=("ppage", "weight"), kept=("ppage", "voter_category")),
    credit: Betrayal(by=("A13", "A5"), kept=("A13", "class")),
    heart: Betrayal(kept=("target",), copies=True),
    congress: Betrayal(by=("birthday", "age"), person="bioguide"),
    places: Betrayal(by=("zip_population", "zip_median_income", "zip_share_college"), kept=("age", "diagnosis")),
    answers: Betrayal(kept=ANSWERS, kept_least=20),
    survived: Betrayal(by=("Fare",), kept=("Survived", "Age")),
    stroke: Betrayal(by=("avg_glucose_level", "bmi"), kept=("stroke", "age")),
    attrition: Betrayal(by=("MonthlyIncome", "DailyRate", "MonthlyRate"), kept=("Attrition", "Age")),
    odd_ages: Betrayal(kept=("age", "outcome"), kinds=(("age", "number"),)),
    odd_dates: Betrayal(kept=("Edad", "Fecha de inicio de síntomas", "C.P."), kinds=(("Fecha de inicio de síntomas", "date"),)),
}
