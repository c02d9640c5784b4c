"""The typed document: read in every form that a file has, kept as it was, changed where it is said."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from velado.project.document import KEYS, TABLE_KEYS, Project
from velado.service.projects.document import Chosen, Document, long_form

ONE = {
    "velado": 1,
    "name": "clinic",
    "source": {"source": "a" * 32, "missing": ["?"]},
    "columns": {"id": "identifier", "age": {"role": "quasi-identifier", "type": "integer"}, "ill": "sensitive", "note": None},
    "models": [{"k-anonymity": {"k": 5}}, {"entropy-diversity": None}],
    "method": {"mondrian": {"relaxed": True}},
    "output": {"format": "parquet"},
    "rest": "drop",
    "person": "id",
    "allowance": 0.01,
    "later": {"unknown": [1, 2]},
}
SEVERAL = {
    "attributes": {"who": {"role": "identifier", "operation": "suppress"}},
    "joinable": ["who"],
    "models": {"k-anonymity": {"k": 3}},
    "variants": "distinct",
    "tables": {
        "people": {"source": {"source": "b" * 32}, "columns": {"who": {}, "age": "quasi-identifier"}},
        "visits": {
            "columns": {"patient": {"attribute": "who"}, "who": {"role": "sensitive"}},
            "protection": "operations",
            "models": [],
        },
    },
}


def test_one_table() -> None:
    found = Document(ONE)
    assert {name: column.role for name, column in found.columns.items()} == {
        "id": "identifier",
        "age": "quasi-identifier",
        "ill": "sensitive",
        "note": "",
    }
    assert (found.columns["age"].type, found.columns["ill"].type, found.columns["ill"].hierarchy) == ("integer", "", None)
    assert found.with_role("quasi-identifier") == ["age"]
    assert found.column("other") is None
    assert found.models == [Chosen("k-anonymity", {"k": 5}), Chosen("entropy-diversity", {})]
    assert found.method == Chosen("mondrian", {"relaxed": True})
    assert found.method.as_spec() == ONE["method"]
    assert (found.source_id, found.source["missing"], found.output) == ("a" * 32, ["?"], {"format": "parquet"})
    assert (found.rest, found.unit, found.allowance, found.is_light, found.variants) == ("drop", ("person", "id"), 0.01, False, "")
    assert (found.is_several, found.tables, found.parts, found.table(None)) == (False, {}, {None: found}, found)


def test_short_and_long_forms_say_the_same() -> None:
    short = Document(
        {"columns": {"age": "sensitive"}, "models": {"k-anonymity": {"k": 2}}, "method": "mondrian", "source": "a.csv"}
    )
    long = Document(
        {
            "columns": {"age": {"role": "sensitive"}},
            "models": [{"k-anonymity": {"k": 2}}],
            "method": {"mondrian": None},
            "source": {"path": "a.csv"},
        }
    )
    for part in ("models", "method", "source"):
        assert getattr(short, part) == getattr(long, part), part
    assert short.columns["age"].spec == long.columns["age"].spec == {"role": "sensitive"}
    assert Document({"models": ["k-anonymity"]}).models == [Chosen("k-anonymity", {})]
    assert Document({}).method == Document({"method": None}).method == Chosen("lattice", {})


def test_several_tables() -> None:
    found = Document(SEVERAL)
    people, visits = found.tables.values()
    assert found.is_several
    assert list(found.parts) == ["people", "visits"]
    assert found.joinable == ["who"]
    assert people.columns["who"].role == visits.columns["patient"].role == "identifier"
    assert visits.columns["patient"].attribute == "who"
    assert people.columns["who"].own_role == ""
    # What stands at the column itself comes first.
    assert visits.columns["who"].spec == {"role": "sensitive", "operation": "suppress"}
    assert people.models == found.models == [Chosen("k-anonymity", {"k": 3})]
    assert visits.models == []
    assert (people.has_own("models"), visits.has_own("models"), found.has_own("models")) == (False, True, True)
    assert (people.is_light, visits.is_light, visits.variants) == (False, True, "distinct")
    assert people.with_shared() == {"models": SEVERAL["models"], "variants": "distinct", **SEVERAL["tables"]["people"]}  # type: ignore[index]
    with pytest.raises(KeyError):
        found.table("rooms")
    assert Document({"tables": {}}).is_several


def test_the_roles_are_those_that_a_run_gives() -> None:
    """`Project` is what runs; what pages show of a document is the same."""
    data = {
        "attributes": {"who": {"role": "insensitive"}},
        "models": [{"k-anonymity": {"k": 2}}],
        "tables": {"people": {"source": "a.csv", "columns": {"who": None, "age": "quasi-identifier"}}},
    }
    project, found = Project.from_dict(data).tables["people"], Document(data).tables["people"]
    assert {column.name: column.role for column in project.columns} == {n: c.role for n, c in found.columns.items()}
    assert [model.name for model in project.models] == [model.name for model in found.models]
    assert project.method.name == found.method.name


@pytest.mark.parametrize("wrong", [7, "text", [], [1], {"a": 1}, None, True])
def test_a_draft_of_any_shape_is_read(wrong: Any) -> None:
    found = Document(dict.fromkeys(KEYS, wrong))
    for part in (found, *found.tables.values(), Document({"tables": {"a": dict.fromkeys(TABLE_KEYS, wrong)}}).table("a")):
        for name in dir(Document):
            if isinstance(getattr(Document, name), property):
                getattr(part, name)
        assert all(isinstance(column.role, str) for column in part.columns.values())


def test_changes_are_made_in_a_copy() -> None:
    before = deepcopy(SEVERAL)
    found = Document(SEVERAL).copy()
    people = found.table("people")
    people.put("rest", "drop")
    people.put("source", None)
    people.describe("who", {"operation": "drop", "attribute": "person"})
    people.describe("age", {"type": "integer"})
    people.put_column("new", "insensitive")
    people.put_column("age", None)
    people.put_column("none", None)
    assert found.as_dict()["attributes"] == {"who": {"role": "identifier", "operation": "drop"}}
    assert found.as_dict()["tables"]["people"] == {
        "columns": {"who": {"attribute": "person"}, "new": "insensitive"},
        "rest": "drop",
    }
    assert before == SEVERAL
    found.replace(ONE)
    assert found.as_dict() == ONE
    assert found.columns["ill"].role == "sensitive"


def test_saying_nothing_new_leaves_the_short_form() -> None:
    found = Document({"columns": {"ill": "sensitive"}})
    found.describe("ill", {"known": None})
    assert found.as_dict() == {"columns": {"ill": "sensitive"}}
    found.describe("ill", {"known": "never"})
    assert found.as_dict() == {"columns": {"ill": {"role": "sensitive", "known": "never"}}}


def test_nothing_of_a_document_is_in_its_repr() -> None:
    assert "clinic" not in repr(Document(ONE))
    assert "?" not in repr(Document(ONE))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=5,
)
COLUMNS = st.dictionaries(
    st.sampled_from("abc"), st.sampled_from(["sensitive", {"role": "identifier"}, {}, None]) | JSON, max_size=3
)
TABLE = st.fixed_dictionaries({}, optional={**dict.fromkeys(TABLE_KEYS, JSON), "columns": COLUMNS, "later": JSON})
DOCUMENTS = TABLE | st.fixed_dictionaries(
    {"tables": st.dictionaries(st.sampled_from("xy"), TABLE, max_size=2)}, optional={"attributes": COLUMNS, "models": JSON}
)


@given(DOCUMENTS)
def test_what_is_read_and_copied_is_what_was_stored(stored: dict[str, Any]) -> None:
    text = json.dumps(stored)
    found = Document(stored)
    for part in (found, *found.tables.values()):
        assert {name: column.own for name, column in part.columns.items()} == {
            name: long_form(given) for name, given in (part.said.get("columns") or {}).items()
        }
        assert (part.models, part.method, part.source, part.output, part.unit) is not None
    copied = found.copy()
    assert json.dumps(found.as_dict()) == json.dumps(copied.as_dict()) == text
    for part in copied.parts.values():
        part.put("rest", "drop")
        part.put_column("z", "insensitive")
    # A change of the copy says what was changed, and nothing else, and leaves the original alone.
    assert json.dumps(found.as_dict()) == text
    for name, part in copied.parts.items():
        before = found.table(name).said
        assert part.said == {**before, "rest": "drop", "columns": {**(before.get("columns") or {}), "z": "insensitive"}}
