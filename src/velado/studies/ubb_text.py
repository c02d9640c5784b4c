"""The worked examples of the UBB text: small tables with printed figures, recomputed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from velado.frequency import FrequencyTable
from velado.hierarchies import Hierarchy
from velado.methods import Lattice
from velado.models import KAnonymity
from velado.questions.attack import attack
from velado.questions.check import check
from velado.release import count_table
from velado.schema import Column, Schema
from velado.studies.comparison import Compared, compare
from velado.tables import open_table

Release = Mapping[tuple[str, str], Sequence[str]]
"""Classes (age, zip) with their sensitive values."""

ETHNICITIES = ("rapanui", "mapuche", "atacameño")
MARITAL = {
    "casado": "alguna vez casado",
    "divorciado": "alguna vez casado",
    "viudo": "alguna vez casado",
    "soltero": "nunca casado",
}

TABLE_3 = [(e, z) for e in ETHNICITIES for z in ("05345", "05349", "05352", "05356")]
TABLE_5 = [
    ("rapanui", "19/08/63", "femenino", "05349", "divorciado"),
    ("rapanui", "25/08/63", "femenino", "05349", "divorciado"),
    ("rapanui", "15/03/63", "masculino", "05349", "casado"),
    ("rapanui", "03/03/63", "masculino", "05349", "casado"),
    ("mapuche", "07/02/62", "masculino", "05345", "casado"),
    ("mapuche", "12/02/62", "masculino", "05345", "casado"),
    ("mapuche", "08/08/63", "femenino", "05352", "casado"),
    ("mapuche", "05/08/63", "femenino", "05352", "casado"),
    ("atacameño", "10/06/60", "masculino", "05345", "soltero"),
    ("atacameño", "01/06/60", "masculino", "05345", "soltero"),
    ("atacameño", "13/06/60", "femenino", "05356", "viudo"),
]
TABLE_7 = [
    *[("rapanui", z) for z in ("05345", "05345", "05352", "05352")],
    *[("mapuche", z) for z in ("05345", "05351", "05352")],
    ("atacameño", "05345"),
]
TABLE_10 = [(e, z) for e in ETHNICITIES for z in ("05345", "05346", "05351", "05352")]
TABLE_11 = [
    ("mapuche", "1965", "masculino", "05351", "falta de aliento"),
    ("mapuche", "1965", "masculino", "05351", "dolor de pecho"),
    ("mapuche", "1965", "femenino", "05345", "dolor de ojo"),
    ("mapuche", "1965", "femenino", "05345", "respiración sibilante"),
    ("mapuche", "1964", "femenino", "05345", "obesidad"),
    ("mapuche", "1964", "femenino", "05345", "dolor de pecho"),
    ("rapanui", "1964", "masculino", "05345", "falta de aliento"),
    ("rapanui", "1965", "femenino", "05346", "hipertensión"),
    ("rapanui", "1964", "masculino", "05346", "obesidad"),
    ("rapanui", "1964", "masculino", "05346", "fiebre"),
    ("rapanui", "1967", "masculino", "05345", "vómitos"),
    ("rapanui", "1967", "masculino", "05345", "dolor de espalda"),
]
TABLE_12 = {
    ("<50", "053**"): ("gripe", "dolor de pecho", "dolor de espalda"),
    ("≥50", "053**"): ("obesidad", "vómitos", "vómitos"),
    ("<50", "054**"): ("gripe", "gripe", "gripe"),
    ("≥50", "054**"): ("vómitos", "dolor de espalda", "dolor de espalda"),
}
TABLE_14 = {
    ("<50", "053**"): ("gripe", "dolor de pecho", "dolor de pecho", "dolor de espalda"),
    ("≥50", "053**"): ("obesidad", "fiebre", "vómitos", "vómitos"),
    ("<50", "054**"): ("fiebre", "fiebre", "dolor de ojo", "hipertensión"),
    ("≥50", "054**"): ("vómitos", "gripe", "gripe", "dolor de espalda"),
}
TABLE_15 = {
    ("<50", "0538*"): ("gripe", "dolor de pecho", "dolor de espalda", "dolor de espalda"),
    ("≥50", "0647*"): ("dolor de espalda", "gripe", "dolor de pecho", "dolor de pecho"),
    ("<50", "0539*"): ("gripe", "dolor de pecho", "dolor de espalda", "dolor de espalda"),
}
FIGURE_7 = {("q", "*"): ("s1", "s1", "s1", "s3", "s3", "s2", "s4")}
TABLE_17 = {("<50", "0538*"): ("3", "5", "9"), ("≥50", "0647*"): ("6", "11", "8"), ("<50", "0539*"): ("4", "7", "10")}
TABLE_24 = [
    ("47677", "29", "Heart Disease"),
    ("47602", "22", "Heart Disease"),
    ("47678", "27", "Heart Disease"),
    ("47905", "43", "Flu"),
    ("47909", "52", "Heart Disease"),
    ("47906", "47", "Cancer"),
    ("47605", "30", "Heart Disease"),
    ("47673", "36", "Cancer"),
    ("47607", "32", "Cancer"),
]


def examples() -> list[Compared]:
    """Every printed figure of the worked examples that can be computed."""
    return [*_minimal(), *_compare_attacks(), *_compare_measures()]


def table(rows: Sequence[Sequence[str | None]], names: Sequence[str]) -> Any:
    """Rows as an Arrow table."""
    import pyarrow as pa

    return pa.table({name: [row[i] for row in rows] for i, name in enumerate(names)})


def release_table(classes: Release) -> Any:
    """The rows of a release."""
    return table([(*qi, value) for qi, values in classes.items() for value in values], ("age", "zip", "problem"))


def _hierarchy(name: str, values: Sequence[str]) -> Hierarchy:
    def path(value: str) -> list[str]:
        if name == "ethnicity":
            return [value, "persona"]
        if name == "zip":
            return [value, value[:4] + "0", value[:3] + "00"]
        if name == "birth":
            first = int(value[6:]) // 5 * 5
            return [value, value[3:], value[6:], f"[{first}-{first + 5}]"]
        if name == "marital":
            return [value, MARITAL[value], "no informado"]
        return [value, "no informado"]

    return Hierarchy.from_rows(name, [path(v) for v in dict.fromkeys(values)])


def _frequency(rows: Sequence[Sequence[str]], names: Sequence[str]) -> FrequencyTable:
    columns = [Column(n, "quasi-identifier", hierarchy=_hierarchy(n, [r[i] for r in rows])) for i, n in enumerate(names)]
    with open_table(table(rows, names)) as opened:
        return count_table(opened, Schema(columns))


def _vectors(frequency: FrequencyTable, k: int, most: int = 0) -> str:
    """The k-minimal generalizations that suppress at most so many records."""
    method = Lattice(suppression=f"{most} records", minimal=True)
    found = method.search(frequency, [KAnonymity(k)])
    return " ".join("[" + ",".join(map(str, v)) + "]" for v in sorted(found.minimal))


def _minimal() -> list[Compared]:
    """Tables 3 to 9: minimal generalizations, without and with suppression."""
    three, seven = (_frequency(rows, ("ethnicity", "zip")) for rows in (TABLE_3, TABLE_7))
    names = ("ethnicity", "birth", "sex", "zip", "marital")
    five, six = (_frequency(rows, names) for rows in (TABLE_5, TABLE_5[:-1]))
    month = "one step of the birth date (the month) is enough: the printed vector is not minimal"
    return [
        compare("table 4", "2-minimal", "[0,1] [1,0]", _vectors(three, 2)),
        compare("table 4", "3-minimal", "[0,2] [1,0]", _vectors(three, 3)),
        compare("table 5", "2-minimal", "[0,2,1,2,2] [1,3,0,1,1]", _vectors(five, 2), why=month),
        compare("table 6", "2-minimal", "[0,2,0,0,0]", _vectors(six, 2), why=month),
        compare("table 9", "2-minimal, MaxSup 0", "[1,1]", _vectors(seven, 2, 0)),
        compare("table 9", "2-minimal, MaxSup 1", "[0,2] [1,0]", _vectors(seven, 2, 1)),
        compare("table 9", "2-minimal, MaxSup 2", "[0,1] [1,0]", _vectors(seven, 2, 2)),
    ]


def _compare_measures() -> list[Compared]:
    """Tables 14, 15 and 17, figure 7, table 25: what the printed releases achieve."""
    import math

    def measures(classes: Release, order: int = 2) -> dict[str, Any]:
        return check(release_table(classes), ["age", "zip"], ["problem"], l=order).sensitive["problem"]

    fifteen = measures(TABLE_15)["l_entropy"]
    seventeen = check(release_table(TABLE_17), ["age", "zip"], ["problem"])
    patients = [(z[:3] + "**", f"{a[0]}*" if a < "40" else "≥40", d) for z, a, d in TABLE_24]
    return [
        compare("table 14", "distinct ℓ", 3, measures(TABLE_14)["l_distinct"]),
        compare("table 15", "entropy, base 10", 0.4515, math.log10(fifteen), 5e-5),
        compare("table 15", "entropy ℓ", 2.8, fifteen, 0.05),
        compare("figure 7", "(2,3)-diverse", True, measures(FIGURE_7, 3)["c"] < 2),
        compare("table 17", "ordered t", 0.167, seventeen.sensitive["problem"]["t_ordered"], 5e-4),
        compare("table 25", "k", 3, check(table(patients, ("zip", "age", "ill")), ["zip", "age"]).k),
    ]


def _compare_attacks() -> list[Compared]:
    """Tables 10 to 13: the attacks."""
    names = ("ethnicity", "zip")
    trees = {name: _hierarchy(name, [row[i] for row in TABLE_10]) for i, name in enumerate(names)}
    first = [("persona", z) for _, z in TABLE_10]
    second = [(e, trees["zip"].label_of(1)[z]) for e, z in TABLE_10]
    (order,) = attack(table(first, names), names, other=table(second, names), hierarchies=trees, only=["order"])
    (releases,) = _link_releases()
    homogeneity, background = attack(release_table(TABLE_12), ["age", "zip"], ["problem"], only=["homogeneity", "background"])
    return [
        compare("table 10", "share of rows joined by position", 1.0, order.figures["in_order"]),
        compare("table 10", "singled out after joining", 12, order.figures["singled_out"]),
        compare("table 11", "k of the releases", "2 2", f"{releases.figures['k']} {releases.figures['other_k']}"),
        compare("table 11", "unique after linking", 2, releases.figures["singled_out"]),
        compare("table 12", "records disclosed by homogeneity", 3, homogeneity.figures["exposed_records"]),
        compare("table 13", "belief after ruling out one value", 1.0, background.figures["highest_confidence"]),
    ]


def _link_releases() -> Any:
    """The two releases of table 11 and what linking them gives."""
    names = ("ethnicity", "birth", "sex", "zip", "problem")
    trees = {
        "ethnicity": _hierarchy("ethnicity", ETHNICITIES),
        "zip": _hierarchy("zip", [r[3] for r in TABLE_11]),
        "sex": _hierarchy("sex", ["femenino", "masculino"]),
        "birth": Hierarchy.from_rows("birth", [[y, "[1960-1969]"] for y in dict.fromkeys(r[1] for r in TABLE_11)]),
    }
    one = [("persona", y, s, trees["zip"].label_of(1)[z], p) for _, y, s, z, p in TABLE_11]
    two = [(e, "[1960-1969]", "no informado", z, p) for e, _, _, z, p in TABLE_11]
    return attack(table(one, names), names[:4], ["problem"], other=table(two, names), hierarchies=trees, only=["releases"])
