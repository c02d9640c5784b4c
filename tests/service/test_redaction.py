"""What is told to who may not read records: no planted value, no count of one or two people, nothing that has no rule."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import pyarrow as pa
import pytest
from fastapi.testclient import TestClient

import stored_projects as at_hand
import velado
from velado.models import COMPARED, MODELS, PEOPLE, RELEASED, VALUES
from velado.questions.singled_out import singled_out
from velado.results import encode
from velado.service.access.permissions import PROJECT_ROLES
from velado.service.access.redaction import redact_profile, redact_result, redact_suggestion
from velado.service.access.redaction.nodes import redact_nodes
from velado.service.access.redaction.table import RULES
from velado.service.jobs.kinds import KINDS
from velado.service.service import Service
from velado.service.store.tables import Member

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
    "rows",
    "released",
    "suppressed",
    "starred",
    "k",
    "records",
    "people",
    "min",
    "max",
    "smallest",
    "largest",
    "missing",
    "singled_out",
    "singled_out_before",
    "singled_out_after",
    "smaller_than_k_before",
    "smaller_than_k_after",
    "few",
    "few_together",
    "singled_out_together",
    "mode_count",
    "sample_uniques",
    "matched",
    "unique",
    "exposed_people",
    "higher",
    "fewest",
    "most",
    "uncovered_records",
}


@cache
def table() -> pa.Table:
    """Sixty people of a few kinds, one who is alone with everything, and two who are alone together."""
    rows = [
        (
            f"Ana {i}",
            f"{10000000 + i}X",
            str(20 + i % 3 * 20),
            "fm"[i % 2],
            ("Bilbao", "Madrid")[i % 2],
            ("Flu", "Cold")[i % 4 // 2],
        )
        for i in range(60)
    ]
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
        "source": "-",
        "columns": COLUMNS,
        "rest": "drop",
        "models": [{"k-anonymity": {"k": 2}}],
        "method": {"lattice": {"suppression": 0.1}},
    }
    from dataclasses import replace

    from velado.tables import Source

    return replace(Project.from_dict(described), source=Source(data=table()), output=Output())


def _node() -> dict[str, Any]:
    found = velado.explore(_project()).node((0, 0, 0))
    rows = [{**row, "released": True} for row in found.classes.rows()]
    sizes = sorted({int(row["records"]) for row in rows})
    return {
        "node": encode(found.node),
        "columns": QI,
        "l": 2,
        "total": len(rows),
        "released": 1,
        "classes": rows,
        "sizes": [[size, sum(row["records"] == size for row in rows)] for size in sizes],
        "examples": {"columns": QI, "rows": [["97", "f", PLACE]]},
    }


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
    return velado.evaluate(table(), release().table, QI, ["diagnosis"], hierarchies=hierarchies, measures=measures).as_dict()


def _hierarchy() -> dict[str, Any]:
    level = {"level": 0, "groups": 3, "smallest": 1, "largest": 1, "fewest": 1, "most": 40, "examples": [ILLNESS]}
    shown = {
        "column": "diagnosis",
        "values": 3,
        "levels": [level],
        "unused": 0,
        "uncovered": 1,
        "uncovered_records": 1,
        "uncovered_examples": [ILLNESS],
        "uncovered_values": [ILLNESS],
        "rows": [[ILLNESS, "*"]],
        "total": 3,
    }
    problem = {"code": "x", "message": {"en": "bad", "es": "mal", "pt": "mau"}, "values": [NAME], "fields": {"value": NAME}}
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
    "singled-out": lambda: encode(singled_out(table(), QI, [velado.Column("diagnosis", "sensitive")], k=3)),
    "rows": lambda: {"columns": ["name"], "rows": [[NAME]]},
    "inspect": lambda: {"rows": 2, "columns": [{"name": NAME, "type": "text"}], "copied": True},
    "checks": lambda: {
        "problems": [{"code": "x", "message": {"en": "bad"}, "values": [NAME], "fields": {"value": NAME, "path": "columns.age"}}]
    },
    "unheard of": lambda: {"anything": NAME},
}


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
    told = redact_result(found, kind, {name: {c["role"]} for name, c in COLUMNS.items()})
    text = json.dumps(told, ensure_ascii=False)
    assert not [planted for planted in (NAME, NUMBER, ILLNESS, PLACE) if planted in text]
    small = [(path, value) for path, value in parts(told) if path[-1] in COUNTS and value in (1, 2) and value is not True]
    assert [(path, value) for path, value in small if not _parameter(kind, path)] == []


def test_something_is_left_to_tell() -> None:
    """Masking is no excuse for telling nothing."""
    check = redact_result(MAKERS["check"](), "check")
    assert (check["rows"], check["k"], check["risk"]["highest"]) == (63, FEWER, FEWER)
    assert check["class_size"]["max"] >= 3
    assert {"records": FEWER} in check["class_figures"]
    assert any(c.get("labels") for c in check["class_figures"])
    assert all(c["records"] != FEWER for c in check["class_figures"] if "labels" in c)
    evaluation = redact_result({**_evaluated(), "released": 60, "suppressed": 3}, "evaluate")
    assert evaluation["utility"]["loss"] >= 0
    assert "min" not in json.dumps(evaluation.get("aggregates", {}))
    node = _node()
    node = redact_result({**node, "node": {**node["node"], "suppressed": 3}}, "node")
    assert node["sizes"][0][0] == FEWER
    assert "examples" not in node
    assert redact_result(_explored(), "explore")["optimal"]["k"] == FEWER
    assert redact_result(MAKERS["compare"](), "compare")["settings"][1]["evaluation"]["utility"]
    attacks = redact_result(_attacked(), "attack")["attacks"]
    assert {a["name"] for a in attacks} == {a["name"] for a in _attacked()["attacks"]}
    assert "value" not in {path[-1] for path, _ in parts(attacks)}
    assert redact_result(MAKERS["rows"](), "rows") == {}
    assert redact_result({"x": 1}, "unheard of") == {}


NEIGHBOURS = {
    "released",
    "mean",
    "average",
    "average_risk",
    "average_class",
    "risk_average",
    "at_risk",
    "loss",
    "precision",
    "utility",
    "after",
    "aggregates",
    "objective",
    "largest",
    "max",
    "largest_class",
    "sizes",
    "total",
    "statistic",
    "p",
    "learning",
    "achieved",
}
"""Figures with the number of released records in them."""


@pytest.mark.parametrize(
    ("kind", "where"),
    [
        ("evaluate", ()),
        ("run", ("summary",)),
        ("compare", ("settings", 0, "evaluation")),
        ("balance", ("evidence", 0)),
        ("balance", ("comparison", "settings", 0, "evaluation")),
        ("node", ()),
        ("explore", ("optimal",)),
    ],
)
def test_how_few_are_suppressed_does_not_follow(kind: str, where: tuple[Any, ...]) -> None:
    found: Any = json.loads(json.dumps(MAKERS[kind](), default=str))
    told: Any = redact_result(found, kind, {name: {c["role"]} for name, c in COLUMNS.items()})
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
    assert redact_result(evaluation, "evaluate") == {"rows": 100, "classes": 1}
    several = redact_result({**evaluation, "classes": 2, "class_size": {"min": 40, "max": 58}, "suppressed": 2}, "evaluate")
    assert (several["class_size"], several["suppressed"]) == ({"min": 40}, FEWER)


FREE = {"required", "models", "parameters", "prevented_by", "remedies", "method", "unit", "labels", "dialect", "chosen"}
"""Objects by any name, of plain parts: what a project says, which members may read, and labels of quasi-identifiers."""


def planted(value: Any, key: str = "") -> Any:
    """A result with an unknown key in each of its objects."""
    if isinstance(value, Mapping):
        inner = {k: planted(v, k) for k, v in value.items()}
        return inner if key in FREE else {**inner, "surprise": {"of": NAME}}
    return [planted(one, key) for one in value] if isinstance(value, list) else value


def test_a_smallest_key_of_one_person_does_not_follow_from_the_others() -> None:
    """All keys together are all people: with one count left out, the rest would tell it."""
    keys = {"1": 1, "2": 0, "3": 40, "more": 0, "never": 359}
    exposure = {"k": 5, "people": 400, "below": 41, "alone": 2, "keys": keys, "keys_with_private": {**keys, "1": 0, "3": 41}}
    told = redact_result({"exposure": exposure, "rows": 400, "released": 400, "classes": 9}, "evaluate", {})["exposure"]
    assert told == {"k": 5, "people": 400, "below": 41, "alone": FEWER, "keys_with_private": exposure["keys_with_private"]}


@pytest.mark.parametrize("kind", [kind for kind in MAKERS if kind in RULES])
def test_what_has_no_rule_is_not_told(kind: str) -> None:
    found = planted(json.loads(json.dumps(MAKERS[kind](), default=str)))
    told = redact_result(found, kind, {name: {c["role"]} for name, c in COLUMNS.items()})
    assert NAME not in json.dumps(told, ensure_ascii=False)


def test_profiles_and_suggestions() -> None:
    inspection = velado.inspect_table(table())
    suggestion = velado.suggest(table(), inspection=inspection).as_dict()
    profile = json.loads(json.dumps(inspection.as_dict(), default=str))
    told = redact_profile(profile, suggestion)
    by_name = {c["name"]: c for c in told["columns"]}
    text = json.dumps([told, redact_suggestion(suggestion)], ensure_ascii=False)
    assert not [one for one in (NAME, NUMBER, ILLNESS) if one in text]
    assert by_name["age"]["singled_out"] == FEWER
    assert "generalizations" not in by_name["diagnosis"]
    assert "generalizations" in by_name["age"]
    assert all(c["singled_out"] not in (1, 2) for c in told["combinations"])
    assert set(planted(profile)["columns"][0]) - set(redact_profile(planted(profile))["columns"][0]) >= {"surprise", "reason"}


def test_a_project_may_hide_more_than_was_suggested() -> None:
    profile = json.loads(json.dumps(velado.inspect_table(table()).as_dict(), default=str))
    for roles in ({"age": {"identifier"}}, {"age": {"quasi-identifier", "sensitive"}}):
        told = {c["name"]: c for c in redact_profile(profile, None, roles)["columns"]}
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
    told = redact_profile(profile)
    assert NAME not in json.dumps(told)
    assert told["columns"][0]["name"] == "column_1"


def test_every_model_says_what_it_tells() -> None:
    """A new model must say whether its figure counts people."""
    assert {model.tells for model in MODELS.values()} == {PEOPLE, RELEASED, VALUES, COMPARED}


def test_one_of_several_figures_of_a_model_is_hidden_where_the_class_is_small() -> None:
    """(α,k)-anonymity has two figures: the k of small classes is a count of one or two."""
    names = (
        "suppressed",
        "classes",
        "smallest",
        "k",
        "achieved(alpha-k.k)",
        "achieved(alpha-k ill.ness.k)",
        "reached(alpha-k.alpha)",
    )
    node = dict(zip(names, (0, 9, 2, 1, 2, 2, 0.5), strict=True))
    told = redact_nodes(pa.table({name: [value] for name, value in node.items()})).to_pylist()[0]
    assert {name for name in names if told[name] is None} == {*names} - {"suppressed", "classes"}


def test_every_kind_is_thought_of() -> None:
    """A new kind of job must have rules, or be listed here as one of which nothing is told."""
    assert set(KINDS) - set(RULES) == {"rows", "tables"}


# Documents of projects

LISTING: dict[str, Any] = {
    "velado": 1,
    "comment": "Zeferina",
    "source": {"source": "0" * 24, "missing": ["NA"]},
    "rest": "drop",
    "columns": {
        "name": {
            "role": "identifier",
            "operation": {"substitute": {"map": {"Zeferina": "A1"}, "default": "?"}},
            "note": "Zeferina",
        },
        "salary": {
            "role": "sensitive",
            "operation": {"noise": {"scale": 5, "seed": 4711}},
            "hierarchy": {"intervals": {"cuts": [[4097.25]]}},
        },
        "illness": {"role": "sensitive", "hierarchy": {"tree": {"rare": ["Lupus"]}}},
        "city": {"role": "quasi-identifier", "hierarchy": {"groups": {"south": ["Zahara"]}}},
        "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [10]}},
        "job": "insensitive",
    },
    "models": [{"k-anonymity": {"k": 3}}],
    "method": {"lattice": {"suppression": 0.1}},
}
HIDDEN = ("Zeferina", "A1", "4711", "4097", "Lupus", "Zahara", "south", "rare")


@pytest.mark.parametrize("several", [False, True])
def test_members_without_records_see_no_values_in_documents(
    service: Service, person: Callable[..., TestClient], several: bool
) -> None:
    columns = LISTING["columns"]
    document = (
        LISTING if not several else {"tables": {"a": LISTING, "b": {"columns": {"city": "sensitive"}}}, "attributes": columns}
    )
    people = {role: person("steward") for role in PROJECT_ROLES}
    hers = person("learner")
    members = {at_hand.rows_of(who): role for role, who in people.items()} | {at_hand.rows_of(hers): "editor"}
    id = at_hand.project(service, members, document)
    place = f"/api/v1/projects/{id}"
    for role, who in {**people, "learner": hers}.items():
        answers = [who.get(f"{place}{rest}") for rest in ("", "/versions/1", "/file", "/file?format=json")]
        copied = who.post("/api/v1/projects", json={"copy_of": id})
        assert [one.status_code for one in answers] == [200] * 4
        assert copied.status_code == 201, copied.text
        text = "".join(one.text for one in answers) + copied.text
        if role in ("owner", "editor"):
            assert answers[0].json()["document"] == document
            assert all(value in copied.text for value in ("Zeferina", "Lupus"))
            assert not answers[0].json()["masked"]
            continue
        assert not [value for value in HIDDEN if value in text], role
        told = answers[0].json()
        assert told["masked"]
        one = told["document"]["tables"]["a"] if several else told["document"]
        assert one["columns"]["age"] == columns["age"]
        assert one["columns"]["city"] == {"role": "quasi-identifier"} | ({} if several else {"hierarchy": {"groups": {}}})
        assert (one["models"], one["method"], one["rest"]) == (LISTING["models"], LISTING["method"], "drop")
        # It cannot be saved over the whole one, and its tag is not that of a version.
        assert who.put(place, json={"document": told["document"]}, headers={"If-Match": "*"}).status_code == 403
        assert who.get(place, headers={"If-None-Match": '"1"'}).status_code == 200
    # A token that may change the project sees what it changes.
    scoped = person("steward", scopes=("read", "run"))
    at_hand.add(service, Member(project_id=id, user_id=at_hand.rows_of(scoped), role="editor"))
    assert scoped.get(place).json()["document"] == document
