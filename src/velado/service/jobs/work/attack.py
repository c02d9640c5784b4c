"""What an adversary can do with a release."""

from __future__ import annotations

from typing import Any

import velado
from velado.service.documents.opening import Room, entered
from velado.service.jobs import parameters as of
from velado.service.jobs.task import Work
from velado.service.jobs.work.shared import as_json, given, one_table, released_project, spoken
from velado.tables import Source


def perform(work: Work) -> dict[str, Any]:
    """Every attack for which the tables are there."""
    wanted = given(work, of.Attack)
    with entered(work) as room:
        found = velado.attack(
            project=one_table(released_project(room, work), wanted.table), external=_table(room, wanted.external),
            other=_table(room, wanted.other, wanted.table),
            match=wanted.match or None, identity=wanted.identity, only=wanted.only, know=wanted.know,
            confidence=wanted.confidence, factor=wanted.factor, seed=wanted.seed, progress=work.progress,
        )  # fmt: skip
    data: dict[str, Any] = as_json(found)
    for said, tried in zip(data["attacks"], found, strict=True):
        said["remedies"] = [spoken_remedy(remedy) for remedy in tried.prevented_by]
    return data


def spoken_remedy(remedy: Any) -> dict[str, str]:
    """What would have prevented an attack, in every language."""
    return {code: remedy.text(code) for code in spoken("")}


def _table(room: Room, id: str | None, table: str | None = None) -> Source | None:
    return None if id is None else room.other_release(id, table) or room.opened(id)
