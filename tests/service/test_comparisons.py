"""Comparisons as tables."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable

import pyarrow as pa
from fastapi.testclient import TestClient

import stored_projects as at_hand
import velado
from velado.service.service import Service

Person = Callable[..., TestClient]
API = "/api/v1"


def test_a_comparison_is_downloaded_as_a_table(service: Service, person: Person) -> None:
    owner, analyst, stranger = person("steward"), person("steward"), person("steward")
    members = {at_hand.rows_of(owner): "owner", at_hand.rows_of(analyst): "analyst"}
    project = at_hand.project(service, members)
    ages = pa.table({"age": ["31", "38", "39", "52", "57"]})
    age = velado.Column("age", "quasi-identifier", hierarchy={"intervals": [10, 100]})
    compared = velado.compare(velado.Project(ages, (age,), (velado.KAnonymity(2),)), {"k": [2, 3, 9]})
    id = at_hand.job(service, "compare", project, at_hand.rows_of(owner), compared.as_dict())
    answer = owner.get(f"{API}/comparisons/{id}/table")
    assert answer.headers["content-disposition"].startswith('attachment; filename="comparison.csv"')
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [float(row["loss"]) for row in rows[:2]] == [s.figures()["loss"] for s in compared.settings[:2]]
    assert (rows[1]["suppressed"], rows[2]["loss"]) == ("2", "")
    assert rows[2]["reason"]
    masked = list(csv.DictReader(io.StringIO(analyst.get(f"{API}/comparisons/{id}/table").text)))
    assert [row["k"] for row in masked] == ["2", "3", "9"]
    assert (masked[1]["suppressed"], masked[1]["loss"]) == ("fewer than 3", "")
    assert "reason" not in masked[2]
    assert stranger.get(f"{API}/comparisons/{id}/table").status_code == 404
