"""What is told to who may not read records: no planted value, no count of one or two people, nothing that has no rule."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import pyarrow as pa
import pytest

import velado
from velado.models import MODELS
from velado.questions.singled_out import singled_out
from velado.results import encoded
from velado.service.errors import Forbidden
from velado.service.jobs.kinds import KINDS
from velado.service.masking import OF_PEOPLE, OF_VALUES, RULES, masked, masked_profile, masked_suggestion
from velado.service.previews import check_preview

NAME, NUMBER, ILLNESS, PLACE = "Zeferina Quintana", "99887766Z", "Lupus", "Villanada"
FEWER = "fewer than 3"
QI = ["age", "sex", "city"]
COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi-identifier", "type": "integer", "hierarchy": {"intervals": [20, 40]}},
    "sex": {"role": "quasi-identifier"},
    "city": {"role": "quasi-identifier"},
    "diagnosis": {"role": "sensitive"},
}
COUNTS = {
    "rows", "released", "suppressed", "starred", "k", "records", "people", "min", "max", "smallest", "largest", "missing",
    "singled_out", "singled_out_before", "singled_out_after", "smaller_than_k_before", "smaller_than_k_after", "few",
    "few_together", "singled_out_together", "mode_count", "sample_uniques", "matched", "unique", "exposed_people",
    "higher", "fewest", "most", "uncovered_records",
}  # fmt: skip


@cache
def table() -> pa.Table:
    """Sixty people of a few kinds, one who is alone with everything, and two who are alone together."""
    rows = [
        (f"Ana {i}", f"{10000000 + i}X", str(20 + i % 3 * 20), "fm"[i % 2], ("Bilbao", "Madrid")[i % 2], ("Flu", "Cold")[i % 4 // 2])
        for i in range(60)
    ]  # fmt: skip
    rows.append((NAME, NUMBER, "97", "f", PLACE, ILLNESS))
    rows += [(f"Eva {i}", f"{i}Y", "88", "m", "Madrid", "Flu") for i in range(2)]
    names = ("name", "national_id", *QI, "diagnosis")
    return pa.table({name: [row[i] for row in rows] for i, name in enumerate(names)})


@cache
def release() -> Any:
    described = {"columns": COLUMNS, "models": [{"k-anonymity": {"k": 2}}], "method": {"lattice": {"suppression": 0.1}}}
    return velado.anonymize(table(), **described, rest="drop")


def results() -> dict[str, Any]:
    """Results of every kind that tells of people, as jobs have them."""
    return {kind: json.loads(json.dumps(make(), default=str)) for kind, make in MAKERS.items()}


def _explored() -> dict[str, Any]:
    found = velado.explore(_project()).as_dict()
    return {**found, "nodes": len(found["nodes"]), "optimal": found["nodes"][0], "labels": {c: [3, 1] for c in QI}}


def _project() -> Any:
    from velado.project import Output, Project

    described = {
        "source": "-", "columns": COLUMNS, "rest": "drop", "models": [{"k-anonymity": {"k": 2}}],
        "method": {"lattice": {"suppression": 0.1}},
    }  # fmt: skip
    from dataclasses import replace

    from velado.tables import Source

    return replace(Project.from_dict(described), source=Source(data=table()), output=Output())


def _node() -> dict[str, Any]:
    found = velado.explore(_project()).node((0, 0, 0))
    rows = [{**row, "released": True} for row in found.classes.rows()]
    sizes = sorted({int(row["records"]) for row in rows})
    return {
        "node": encoded(found.node), "columns": QI, "l": 2, "total": len(rows), "released": 1, "classes": rows,
        "sizes": [[size, sum(row["records"] == size for row in rows)] for size in sizes],
        "examples": {"columns": QI, "rows": [["97", "f", PLACE]]},
    }  # fmt: skip


def _attacked() -> dict[str, Any]:
    found = velado.attack(
        table().select([*QI, "diagnosis"]),
        QI,
        ["diagnosis"],
        external=table().select(["name", *QI]),
        original=table(),
        identity="name",
    )
    return found.as_dict()  # type: ignore[no-any-return]


def _evaluated() -> dict[str, Any]:
    hierarchies = {name: c["hierarchy"] for name, c in COLUMNS.items() if "hierarchy" in c}
    measures = (*velado.evaluation.MEASURES, *velado.evaluation.MORE)
    return velado.evaluate(
        table(), release().table, QI, ["diagnosis"], hierarchies=hierarchies, measures=measures
    ).as_dict()


def _hierarchy() -> dict[str, Any]:
    level = {"level": 0, "groups": 3, "smallest": 1, "largest": 1, "fewest": 1, "most": 40, "examples": [ILLNESS]}
    shown = {
        "column": "diagnosis", "values": 3, "levels": [level], "unused": 0, "uncovered": 1, "uncovered_records": 1,
        "uncovered_examples": [ILLNESS], "uncovered_values": [ILLNESS], "rows": [[ILLNESS, "*"]], "total": 3,
    }  # fmt: skip
    problem = {
        "code": "x",
        "message": {"en": "bad", "es": "mal", "pt": "mau"},
        "values": [NAME],
        "fields": {"value": NAME},
    }
    return {"columns": {"diagnosis": shown, "age": {"problem": problem}}}


MAKERS: dict[str, Any] = {
    "check": lambda: velado.check(table(), QI, ["diagnosis"], classes=True).as_dict(),
    "evaluate": _evaluated,
    "run": lambda: {"summary": release().as_dict(), "manifest": {"x": NAME}, "private": {"recoding": "recoding.json"}},
    "explore": _explored,
    "node": _node,
    "attack": _attacked,
    "compare": lambda: velado.compare(_project(), {"k": [2, 3]}).as_dict(),
    "balance": lambda: velado.balance(_project(), {"loss": 1.0}, {"k": [2, 3]}).as_dict(),
    "hierarchy": _hierarchy,
    "singled-out": lambda: encoded(singled_out(table(), QI, [velado.Column("diagnosis", "sensitive")], k=3)),
    "rows": lambda: {"columns": ["name"], "rows": [[NAME]]},
    "inspect": lambda: {"rows": 2, "columns": [{"name": NAME, "type": "text"}], "copied": True},
    "checks": lambda: {
        "problems": [{"code": "x", "message": {"en": "bad"}, "values": [NAME], "fields": {"value": NAME, "path": "columns.age"}}]
    },
    "unheard of": lambda: {"anything": NAME},
}  # fmt: skip


def parts(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """All leaves with their paths."""
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield from parts(one, (*path, str(key)))
    elif isinstance(value, list):
        for one in value:
            yield from parts(one, path)
    else:
        yield path, value


def _parameter(kind: str, path: tuple[str, ...]) -> bool:
    """Whether a number counts no people: a parameter k, values per group of a hierarchy, classes of a node."""
    k = path[-1] == "k" and bool({"required", "parameters", "chosen", "figures", "evidence", "published"} & set(path))
    return k or (kind == "hierarchy" and path[-1] in ("smallest", "largest")) or (kind, path) == ("node", ("released",))


@pytest.mark.parametrize("kind", MAKERS)
def test_nobody_is_told_of(kind: str) -> None:
    found = json.loads(json.dumps(MAKERS[kind](), default=str))
    told = masked(found, kind, {name: {c["role"]} for name, c in COLUMNS.items()})
    text = json.dumps(told, ensure_ascii=False)
    assert not [planted for planted in (NAME, NUMBER, ILLNESS, PLACE) if planted in text]
    small = [
        (path, value) for path, value in parts(told) if path[-1] in COUNTS and value in (1, 2) and value is not True
    ]
    assert [(path, value) for path, value in small if not _parameter(kind, path)] == []


def test_something_is_left_to_tell() -> None:
    """Masking is no excuse for telling nothing."""
    check = masked(MAKERS["check"](), "check")
    assert (check["rows"], check["k"], check["risk"]["highest"]) == (63, FEWER, FEWER)
    assert check["class_size"]["max"] >= 3
    assert {"records": FEWER} in check["class_figures"]
    assert any(c.get("labels") for c in check["class_figures"])
    assert all(c["records"] != FEWER for c in check["class_figures"] if "labels" in c)
    evaluation = masked({**_evaluated(), "released": 60, "suppressed": 3}, "evaluate")
    assert evaluation["utility"]["loss"] >= 0
    assert "min" not in json.dumps(evaluation.get("aggregates", {}))
    node = _node()
    node = masked({**node, "node": {**node["node"], "suppressed": 3}}, "node")
    assert node["sizes"][0][0] == FEWER
    assert "examples" not in node
    assert masked(_explored(), "explore")["optimal"]["k"] == FEWER
    assert masked(MAKERS["compare"](), "compare")["settings"][1]["evaluation"]["utility"]
    attacks = masked(_attacked(), "attack")["attacks"]
    assert {a["name"] for a in attacks} == {a["name"] for a in _attacked()["attacks"]}
    assert "value" not in {path[-1] for path, _ in parts(attacks)}
    assert masked(MAKERS["rows"](), "rows") == {}
    assert masked({"x": 1}, "unheard of") == {}


NEIGHBOURS = {
    "released", "mean", "average", "average_risk", "average_class", "risk_average", "at_risk", "loss", "precision", "utility",
    "after", "aggregates", "objective", "largest", "max", "largest_class", "sizes", "total", "statistic", "p", "learning", "achieved",
}  # fmt: skip
"""Figures with the number of released records in them."""


@pytest.mark.parametrize(
    ("kind", "where"),
    [
        ("evaluate", ()), ("run", ("summary",)), ("compare", ("settings", 0, "evaluation")), ("balance", ("evidence", 0)),
        ("balance", ("comparison", "settings", 0, "evaluation")), ("node", ()), ("explore", ("optimal",)),
    ],
)  # fmt: skip
def test_how_few_are_suppressed_does_not_follow(kind: str, where: tuple[Any, ...]) -> None:
    found: Any = json.loads(json.dumps(MAKERS[kind](), default=str))
    told: Any = masked(found, kind, {name: {c["role"]} for name, c in COLUMNS.items()})
    for step in where:
        found, told = found[step], told[step]
    assert found.get("node", found)["suppressed"] == 1
    assert told.get("node", told)["suppressed"] == FEWER
    # What the whole table is like tells nothing of what was suppressed, nor do the models that all nodes reach.
    told = {key: one for key, one in told.items() if key != "before"}
    told.get("node", told).pop("achieved", None)
    assert {str(step) for path, _ in parts(told) for step in path} & NEIGHBOURS == set()
    figures = [one for path, one in parts(told) if isinstance(one, float)]
    assert not [one for one in figures if any(abs(one - n / d) < 1e-9 for d in (61, 62, 63) for n in range(1, d))]
    assert 62 not in [one for path, one in parts(told)]


def test_one_class_has_all_that_is_released() -> None:
    evaluation = {"rows": 100, "released": 98, "classes": 1, "class_size": {"min": 98}, "risk": {"highest": 1 / 98}}
    assert masked(evaluation, "evaluate") == {"rows": 100, "classes": 1}
    several = masked({**evaluation, "classes": 2, "class_size": {"min": 40, "max": 58}, "suppressed": 2}, "evaluate")
    assert (several["class_size"], several["suppressed"]) == ({"min": 40}, FEWER)


def test_roles_of_several_tables_and_of_attributes() -> None:
    tables = {
        "a": {"columns": {"x": {"role": "sensitive"}, "y": {"attribute": "z"}, "w": None}},
        "b": {"columns": {"x": "identifier"}},
    }
    document = {"tables": tables, "attributes": {"z": {"role": "identifier"}}}
    asked = {"description": {"mask": "right"}}
    check_preview(document, {**asked, "table": "a", "column": "x"})
    for table, column in (("a", "y"), ("a", "w"), ("b", "x"), ("b", "y"), ("c", "x"), (None, "x")):
        with pytest.raises(Forbidden):
            check_preview(document, {**asked, "table": table, "column": column})


FREE = {"required", "models", "parameters", "prevented_by", "remedies", "method", "unit", "labels", "dialect", "chosen"}
"""Objects by any name, of plain parts: what a project says, which members may read, and labels of quasi-identifiers."""


def planted(value: Any, key: str = "") -> Any:
    """A result with an unknown key in each of its objects."""
    if isinstance(value, Mapping):
        inner = {k: planted(v, k) for k, v in value.items()}
        return inner if key in FREE else {**inner, "surprise": {"of": NAME}}
    return [planted(one, key) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("kind", [kind for kind in MAKERS if kind in RULES])
def test_what_has_no_rule_is_not_told(kind: str) -> None:
    found = planted(json.loads(json.dumps(MAKERS[kind](), default=str)))
    told = masked(found, kind, {name: {c["role"]} for name, c in COLUMNS.items()})
    assert NAME not in json.dumps(told, ensure_ascii=False)


def test_profiles_and_suggestions() -> None:
    inspection = velado.inspect_table(table())
    suggestion = velado.suggest(table(), inspection=inspection).as_dict()
    profile = json.loads(json.dumps(inspection.as_dict(), default=str))
    told = masked_profile(profile, suggestion)
    by_name = {c["name"]: c for c in told["columns"]}
    text = json.dumps([told, masked_suggestion(suggestion)], ensure_ascii=False)
    assert not [one for one in (NAME, NUMBER, ILLNESS) if one in text]
    assert by_name["age"]["singled_out"] == FEWER
    assert "generalizations" not in by_name["diagnosis"]
    assert "generalizations" in by_name["age"]
    assert all(c["singled_out"] not in (1, 2) for c in told["combinations"])
    assert set(planted(profile)["columns"][0]) - set(masked_profile(planted(profile))["columns"][0]) >= {
        "surprise",
        "reason",
    }


def test_a_project_may_hide_more_than_was_suggested() -> None:
    profile = json.loads(json.dumps(velado.inspect_table(table()).as_dict(), default=str))
    for roles in ({"age": {"identifier"}}, {"age": {"quasi-identifier", "sensitive"}}):
        told = {c["name"]: c for c in masked_profile(profile, None, roles)["columns"]}
        assert "generalizations" not in told["age"]
        assert "hierarchy" not in told["age"]


def test_names_that_are_data_of_a_person() -> None:
    column = {"name": NAME, "type": "text", "format": None, "distinct": 3, "missing": 0, "singled_out": 3, "role": ""}
    profile = {
        "schema": "x",
        "rows": 10,
        "columns": [column],
        "combinations": [],
        "combined": [NAME],
        "notes": [{"code": "no-header"}],
    }
    told = masked_profile(profile)
    assert NAME not in json.dumps(told)
    assert told["columns"][0]["name"] == "column_1"


def test_every_model_is_judged() -> None:
    """A new model must say whether its figure counts people."""
    assert set(MODELS) == {*OF_PEOPLE, *OF_VALUES}


def test_every_kind_is_thought_of() -> None:
    """A new kind of job must have rules, or be listed here as one of which nothing is told."""
    assert set(KINDS) - set(RULES) == {"rows", "tables"}
