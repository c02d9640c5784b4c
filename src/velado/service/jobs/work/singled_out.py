"""How many are alone with the quasi-identifiers of a project, and which published columns single people out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from velado.errors import InputError, VeladoError
from velado.evaluation.exposure import Exposure
from velado.models import PrivacyModel
from velado.project.people import ROWS
from velado.questions.singled_out import SingledOut, alone, exposures, person_of
from velado.release.column_exposure import group_size
from velado.release.refusal import reason
from velado.results import Discreet, encode
from velado.schema import Column
from velado.sentences import Sentence
from velado.service.jobs import parameters as of
from velado.service.jobs.job_room import Room, enter_room
from velado.service.jobs.task import LASTING, Work
from velado.service.jobs.work.shared import described_table, parse_parameters, remembered_as, translate_all
from velado.service.projects.document import Document, DocumentColumn
from velado.tables import Session, Table, open_table

PUBLISHED = ("sensitive", "insensitive")
MOST_KEPT = 2000
"""Counts that a process remembers; then it begins anew."""
KEPT = ("role", "format", "operation", "attribute", "exposure", "known")
"""What is said of a column that decides how its values are published."""


def perform(work: Work) -> dict[str, Any]:
    """The project need not be finished: what cannot be read is left out here, and told by its checks."""
    document = described_table(work, parse_parameters(work, of.SingledOut).table)
    with enter_room(work) as room, _opening(work, room, document) as opened:
        found = _Asked(work, room, document, opened).answer()
    told: dict[str, Any] = encode(found)
    for one, exposure in zip(told["published"], found.published, strict=True):
        if exposure.dangers:
            one["reason"] = translate_all(reason(exposure))
    return told


@dataclass(frozen=True, repr=False)
class _Asked(Discreet):
    """A table of a project. A warm process remembers what it has counted: a change of one role is one more count."""

    work: Work
    room: Room
    document: Document
    opened: Callable[[], Table]

    def answer(self) -> SingledOut:
        """All that can be said."""
        given = self.document.columns
        header = self.count_once(("header",), lambda: list(self.opened().header))
        said = {name: given[name] for name in header if name in given}
        if self.document.rest == "insensitive":
            said |= {name: DocumentColumn(name, "insensitive", {}) for name in header if name not in given}
        quasi = [name for name, column in said.items() if column.role == "quasi-identifier"]
        k, allowance, person = self._group_size(), float(self.document.allowance), self.document.unit[1] or None
        who = self.count_once(("person", person), lambda: None if person == ROWS else person_of(self.opened(), person))
        counted: SingledOut = self.count_once(("alone", quasi, k, who), lambda: alone(self.opened(), quasi, k, who))
        shown: list[Exposure] = []
        if not self.document.is_light:
            for name, column in said.items():
                if column.role in PUBLISHED:
                    counter = self._exposure_counter(name, column.spec, k, who)
                    shown += self.count_once(("published", name, column.spec, k, who), counter)
        return replace(counted, published=tuple(replace(one, allowance=allowance) for one in shown))

    def count_once(self, name: Any, count: Callable[[], Any]) -> Any:
        """What was counted of this table, by what it is."""
        kept = self.work.memory.setdefault(LASTING if self._is_file() else "singled out", {})
        key = remembered_as(self.work, self.document.source, name)
        if key not in kept:
            if len(kept) >= MOST_KEPT:
                kept.clear()
            kept[key] = count()
        return kept[key]

    def _is_file(self) -> bool:
        """Whether the table is a file, which does not change; a table of a database may."""
        known = self.work.task.things.get("sources") or {}
        return bool(known.get(self.document.source_id, {}).get("kind") != "connection")

    def _exposure_counter(self, name: str, spec: Mapping[str, Any], k: int, who: str | None) -> Callable[[], Any]:
        def count() -> tuple[Exposure, ...]:
            with suppress(VeladoError):
                return exposures(self.opened(), [self._column(name, spec)], k, who, self.room.folder)
            return ()

        return count

    def _column(self, name: str, spec: Mapping[str, Any]) -> Column:
        if spec.get("operation") is None:
            return Column(name, spec["role"], exposure=spec.get("exposure") or "", known=spec.get("known") or "")
        # Secrets and files of the operation are found as a project's are; of this column alone.
        kept = {key: spec[key] for key in KEPT if spec.get(key) is not None}
        alone = {"source": self.document.source, "columns": {name: kept}, "rest": "drop", "models": [{"k-anonymity": {"k": 2}}]}
        return self.room.project(alone).columns[0]

    def _group_size(self) -> int:
        """The k of the models, as far as they can be read."""
        read: list[PrivacyModel] = []
        for model in self.document.models:
            with suppress(VeladoError):
                read += self.room.models([model.as_spec()])
        return group_size(read)


@contextmanager
def _opening(work: Work, room: Room, document: Document) -> Iterator[Callable[[], Table]]:
    """The table, opened once, and only if it is asked for."""
    found: list[Table] = []
    source = document.source
    if not source:
        raise InputError("missing-key", Sentence("the project has no '{key}'", key="source"))

    def open_once() -> Table:
        if not found:
            said = {key: value for key, value in source.items() if key != "source"}
            found.append(open_table(room.resolve_source(document.source_id, **said), session=Session(work.progress)))
        return found[0]

    try:
        yield open_once
    finally:
        for table in found:
            table.close()
