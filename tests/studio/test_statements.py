"""What a page costs the store: all that it reads is read in one transaction beside that of who asks, in few statements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import event

from servers.studio import Studio
from velado.studio.app import create_app

MOST = {"result": 15, "result/classes": 15, "utility": 15, "publish": 15, "explore": 15, "compare": 18, "risk": 20, "attack": 20}
"""Statements by page. Those with 15 list nothing but releases; the others also list tables, or jobs of several kinds."""


@dataclass
class Cost:
    """What was sent to the store."""

    transactions: int = 0
    statements: list[str] = field(default_factory=list)

    def begin(self, connection: Any) -> None:
        self.transactions += 1

    def execute(self, connection: Any, cursor: Any, statement: str, *more: Any) -> None:
        if not statement.startswith("BEGIN"):
            self.statements.append(" ".join(statement.split()))


Visit = Callable[[str], Cost]


@pytest.fixture(scope="module")
def visit(studio: Studio, hospital: dict[str, str]) -> Visit:
    """Look at a page of a project with a release, in this process; what that cost."""
    client = TestClient(create_app(studio.service), base_url="http://127.0.0.1", cookies=studio.cookies("ana"))
    engine = studio.service.store.engine

    def look(page: str) -> Cost:
        cost = Cost()
        listeners = {"begin": cost.begin, "before_cursor_execute": cost.execute}
        for name, listener in listeners.items():
            event.listen(engine, name, listener)
        try:
            answer = client.get(f"/projects/{hospital['project']}/{page}")
        finally:
            for name, listener in listeners.items():
                event.remove(engine, name, listener)
        assert answer.status_code == 200, answer.text
        return cost

    return look


@pytest.mark.quick
def test_a_page_reads_in_two_transactions_and_few_statements_and_writes_nothing(visit: Visit) -> None:
    found = {page: visit(page) for page in MOST}
    assert {page: cost.transactions for page, cost in found.items()} == dict.fromkeys(MOST, 2)
    for page, cost in found.items():
        assert all(one.startswith("SELECT") for one in cost.statements), (page, cost.statements)
        assert len(cost.statements) <= MOST[page], (page, cost.statements)


@pytest.mark.quick
@pytest.mark.parametrize("page", ["publish", "result"])
def test_who_may_do_what_is_asked_once(visit: Visit, page: str) -> None:
    asked = [one for one in visit(page).statements if one.startswith("SELECT members.")]
    assert len(asked) == 1, asked
