"""How many are alone with the quasi-identifiers of a project, and which published columns single people out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from velado.errors import InputError, VeladoError, suggest
from velado.evaluation.exposure import Exposure
from velado.models import PrivacyModel
from velado.project.document import ROWS, SHARED_KEYS
from velado.questions.singled_out import SingledOut, alone, exposures, person_of
from velado.release.published import group_size, reason
from velado.results import Discreet, encoded
from velado.schema import Column
from velado.sentences import Sentence
from velado.service.documents.opening import Room, entered
from velado.service.jobs import parameters as of
from velado.service.jobs.task import LASTING, Work
from velado.service.jobs.work.hierarchy import described
from velado.service.jobs.work.shared import given, remembered_as, spoken
from velado.tables import Session, Table, open_table

PUBLISHED = ("sensitive", "insensitive")
MOST_KEPT = 2000
"""Counts that a process remembers; then it begins anew."""
KEPT = ("role", "format", "operation", "attribute", "published")
"""What is said of a column that decides how its values are published."""


def perform(work: Work) -> dict[str, Any]:
    """The project need not be finished: what cannot be read is left out here, and told by its checks."""
    document = _table_of(work.task.document or {}, given(work, of.SingledOut).table)
    with entered(work) as room, _opening(work, room, document) as opened:
        found = _Asked(work, room, document, opened).answer()
    told: dict[str, Any] = encoded(found)
    for one, exposure in zip(told["published"], found.published, strict=True):
        if exposure.dangers:
            one["reason"] = spoken(reason(exposure))
    return told


@dataclass(frozen=True, repr=False)
class _Asked(Discreet):
    """A table of a project. A warm process remembers what it has counted: a change of one role is one more count."""

    work: Work
    room: Room
    document: Mapping[str, Any]
    opened: Callable[[], Table]

    def answer(self) -> SingledOut:
        """All that can be said."""
        given = self.document.get("columns") or {}
        header = self.known(("header",), lambda: list(self.opened().header))
        said = {name: described(self.document, name, given[name]) for name in header if name in given}
        if self.document.get("rest") == "insensitive":
            said |= {name: {"role": "insensitive"} for name in header if name not in given}
        quasi = [name for name, spec in said.items() if spec.get("role") == "quasi-identifier"]
        k = self._group_size()
        person = self.document.get("person") or self.document.get("household")
        who = self.known(("person", person), lambda: None if person == ROWS else person_of(self.opened(), person))
        counted: SingledOut = self.known(("alone", quasi, k, who), lambda: alone(self.opened(), quasi, k, who))
        shown: list[Exposure] = []
        if self.document.get("anonymization") != "light":
            for name, spec in said.items():
                if spec.get("role") in PUBLISHED:
                    shown += self.known(("published", name, spec, k, who), self._exposed(name, spec, k, who))
        return replace(counted, published=tuple(shown))

    def known(self, name: Any, count: Callable[[], Any]) -> Any:
        """What was counted of this table, by what it is."""
        kept = self.work.memory.setdefault(LASTING if self._stays() else "singled out", {})
        key = remembered_as(self.work, self.document["source"], name)
        if key not in kept:
            if len(kept) >= MOST_KEPT:
                kept.clear()
            kept[key] = count()
        return kept[key]

    def _stays(self) -> bool:
        """Whether the table is a file, which does not change; a table of a database may."""
        id = self.document["source"].get("source")
        return bool((self.work.task.things.get("sources") or {}).get(id, {}).get("kind") != "connection")

    def _exposed(self, name: str, spec: Mapping[str, Any], k: int, who: str | None) -> Callable[[], Any]:
        def count() -> tuple[Exposure, ...]:
            with suppress(VeladoError):
                return exposures(self.opened(), [self._column(name, spec)], k, who, self.room.folder)
            return ()

        return count

    def _column(self, name: str, spec: Mapping[str, Any]) -> Column:
        if spec.get("operation") is None:
            return Column(name, spec["role"], published=spec.get("published") or "")
        # Secrets and files of the operation are found as a project's are; of this column alone.
        kept = {key: spec[key] for key in KEPT if spec.get(key) is not None}
        alone = {
            "source": self.document["source"],
            "columns": {name: kept},
            "rest": "drop",
            "models": [{"k-anonymity": {"k": 2}}],
        }
        return self.room.project(alone).columns[0]

    def _group_size(self) -> int:
        """The k of the models, as far as they can be read."""
        models = self.document.get("models") or []
        read: list[PrivacyModel] = []
        for one in [{name: said} for name, said in models.items()] if isinstance(models, Mapping) else models:
            with suppress(VeladoError):
                read += self.room.models([one])
        return group_size(read)


@contextmanager
def _opening(work: Work, room: Room, document: Mapping[str, Any]) -> Iterator[Callable[[], Table]]:
    """The table, opened once, and only if it is asked for."""
    found: list[Table] = []
    source = document.get("source")
    if not isinstance(source, Mapping):
        raise InputError("missing-key", Sentence("the project has no '{key}'", key="source"))

    def opened() -> Table:
        if not found:
            said = {key: value for key, value in source.items() if key != "source"}
            found.append(open_table(room.opened(source.get("source"), **said), session=Session(work.progress)))
        return found[0]

    try:
        yield opened
    finally:
        for table in found:
            table.close()


def _table_of(document: Mapping[str, Any], table: str | None) -> Mapping[str, Any]:
    """The project, or one table of it with what is said for all."""
    tables = document.get("tables")
    if not isinstance(tables, Mapping):
        return document
    if table not in tables or not isinstance(tables[table], Mapping):
        raise InputError("unknown-table", "which table of the project?", hint=suggest(str(table), tables))
    shared = {key: document[key] for key in (*SHARED_KEYS, "attributes") if key in document}
    return {**shared, **tables[table]}
