"""What a document says of columns, and changes of it."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from velado.service.projects.document import Document
from velado.studio.forms import column_edit
from velado.studio.forms.column_edit import LEFT_OUT, UNDECIDED, said_of

AGE = {"role": "quasi-identifier", "type": "integer", "hierarchy": {"intervals": [5, 10]}, "missing": "reject"}
COST = {"role": "sensitive", "operation": {"round": 50}, "variants": "distinct", "exposure": "accepted"}


def document(**more: Any) -> dict[str, Any]:
    columns = {"name": "identifier", "age": AGE, "cost": COST, "id": {"role": "identifier", "operation": "drop"}}
    return deepcopy({"columns": columns, **more})


def changed(role: str, name: str, suggested: dict[str, Any] | None = None, **more: Any) -> Any:
    found = document(**more)
    column_edit.set_role(Document(found), name, role, suggested or {})
    return found["columns"].get(name)


def test_roles_are_those_that_people_choose() -> None:
    found = document(rest="drop")
    roles = {name: said_of(Document(found), name).role for name in ("name", "age", "cost", "id", "other")}
    assert roles == {"name": "identifier", "age": "quasi-identifier", "cost": "sensitive", "id": LEFT_OUT, "other": LEFT_OUT}
    assert said_of(Document(document()), "other").role == UNDECIDED
    assert said_of(Document(document(rest="insensitive")), "other").role == "insensitive"
    assert said_of(Document({}), "other").role == UNDECIDED


def test_operations_are_read_in_every_form() -> None:
    assert said_of(Document(document()), "name").operation == "suppress"
    cost = said_of(Document(document()), "cost")
    assert (cost.operation, cost.arguments) == ("round", {"to": 50})
    found = document()
    found["columns"]["cost"]["operation"] = {"limits": {"low": 1, "high": 2}}
    assert said_of(Document(found), "cost").arguments == {"low": 1, "high": 2}
    assert said_of(Document(document()), "age").operation is None


@pytest.mark.parametrize(
    ("name", "role", "kept"),
    [
        ("age", "insensitive", {"type": "integer"}),
        ("age", "sensitive", {"type": "integer", "hierarchy": {"intervals": [5, 10]}, "missing": "reject"}),
        ("age", "identifier", {"type": "integer"}),
        ("cost", "insensitive", {"operation": {"round": 50}, "exposure": "accepted"}),
        ("cost", "quasi-identifier", {}),
        ("cost", "identifier", {}),
        ("id", "sensitive", {}),
    ],
)
def test_what_goes_with_the_new_role_stays(name: str, role: str, kept: dict[str, Any]) -> None:
    assert changed(role, name) == {"role": role, **kept}


def test_a_column_is_left_out_as_the_rest_is() -> None:
    assert changed(LEFT_OUT, "age", rest="drop") is None
    assert changed(LEFT_OUT, "age") == {"role": "identifier", "operation": "drop"}
    assert changed(LEFT_OUT, "new", rest="insensitive") == {"role": "identifier", "operation": "drop"}
    assert changed(UNDECIDED, "age") is None
    assert changed(LEFT_OUT, "id") == {"role": "identifier", "operation": "drop"}


def test_what_was_suggested_comes_with_the_role() -> None:
    suggested = {"role": "sensitive", "type": "number", "operation": {"round": 10}}
    assert changed("sensitive", "new", suggested) == suggested
    assert changed("insensitive", "new", suggested) == {"role": "insensitive", "type": "number"}
    assert changed("sensitive", "name", suggested) == {"role": "sensitive", "type": "number"}
    dates = {"role": "quasi-identifier", "type": "date", "hierarchy": {"dates": ["year"]}}
    assert changed("quasi-identifier", "name", dates) == dates
    assert changed("sensitive", "name", dates) == {"role": "sensitive", "type": "date"}
    found = document()
    column_edit.take(Document(found), "cost", suggested, "sensitive")
    assert found["columns"]["cost"] == suggested
    column_edit.take(Document(found), "cost", {}, LEFT_OUT)
    assert found["columns"]["cost"] == {"role": "identifier", "operation": "drop"}


def several() -> dict[str, Any]:
    return deepcopy(
        {
            "attributes": {"who": {"role": "identifier", "operation": "suppress"}},
            "tables": {
                "people": {"columns": {"who": {}, "age": AGE}},
                "visits": {"columns": {"patient": {"attribute": "who"}, "ill": "sensitive"}},
            },
        }
    )


def test_what_is_said_at_an_attribute_is_changed_there() -> None:
    found = several()
    said = said_of(Document(found).table("visits"), "patient")
    assert (said.role, said.attribute, said.shared) == ("identifier", "who", True)
    Document(found).table("visits").describe("patient", {"operation": {"mask": {"keep": 1}}})
    assert found["attributes"]["who"] == {"role": "identifier", "operation": {"mask": {"keep": 1}}}
    assert found["tables"]["visits"]["columns"]["patient"] == {"attribute": "who"}
    column_edit.set_role(Document(found).table("people"), "who", "insensitive", {})
    assert found["attributes"]["who"] == {"role": "insensitive"}
    assert said_of(Document(found).table("visits"), "patient").role == "insensitive"
    Document(found).table("people").describe("age", {"missing": None})
    assert "missing" not in found["tables"]["people"]["columns"]["age"]


def test_attributes_are_shared_and_taken_apart_without_loss() -> None:
    found = several()
    column_edit.unshare(Document(found), "who")
    assert "attributes" not in found
    spec = {"role": "identifier", "operation": "suppress"}
    assert found["tables"]["people"]["columns"]["who"] == spec
    assert found["tables"]["visits"]["columns"]["patient"] == {**spec, "attribute": "who"}
    column_edit.share(Document(found).table("visits"), "patient")
    assert found == several()
    assert column_edit.columns_of(Document(found), "who") == [("people", "who"), ("visits", "patient")]
    column_edit.join(Document(found), "who", True)
    assert found["joinable"] == ["who"]
    column_edit.join(Document(found), "who", False)
    assert "joinable" not in found


def test_suggestions_fill_what_is_empty_only() -> None:
    suggestion = {
        "document": {
            "columns": {"name": {"role": "identifier"}, "age": {"role": "quasi-identifier"}},
            "rest": "drop",
            "person": "name",
            "models": [{"k-anonymity": {"k": 5}}],
            "method": "mondrian",
        }
    }
    found: dict[str, Any] = {}
    assert column_edit.accept(Document(found), suggestion, ["name", "age", "other"]) == 2
    assert found == suggestion["document"]
    found = {"columns": {"age": {"role": "sensitive"}}, "rest": "insensitive"}
    assert column_edit.accept(Document(found), suggestion, ["name", "age"]) == 1
    assert found == {"columns": {"age": {"role": "sensitive"}, "name": {"role": "identifier"}}, "rest": "insensitive"}
    found = {"tables": {"a": {"protection": "operations"}}}
    column_edit.accept(Document(found).table("a"), suggestion, ["name"])
    assert set(found["tables"]["a"]) == {"protection", "columns", "rest", "person"}
    found = {}
    columns = [{"name": "x", "spec": {"role": "sensitive"}, "kept": True}, {"name": "y", "spec": {}, "kept": False}]
    assert column_edit.accept(Document(found), {"columns": columns}, ["x", "y"]) == 1


def test_whether_others_know_a_column() -> None:
    """Only columns that pass through are asked about; what others know is a quasi-identifier."""
    found = document(rest="insensitive")
    assert [column_edit.set_known(Document(found), name, "never", {}) for name in ("name", "age", "id")] == [False] * 3
    assert found == document(rest="insensitive")
    assert column_edit.set_known(Document(found), "cost", "never", {})
    assert found["columns"]["cost"] == {**COST, "known": "never"}
    column_edit.set_role(Document(found), "cost", "insensitive", {})
    assert found["columns"]["cost"]["known"] == "never"
    column_edit.set_known(Document(found), "cost", "", {})
    assert "known" not in found["columns"]["cost"]
    column_edit.set_known(Document(found), "ward", "possibly", {})
    assert found["columns"]["ward"] == {"role": "insensitive", "known": "possibly"}
    column_edit.set_known(Document(found), "ward", column_edit.KNOWN, {"role": "insensitive", "hierarchy": {"mask": 1}})
    assert found["columns"]["ward"] == {"role": "quasi-identifier", "hierarchy": {"mask": 1}}
