"""Releases as files elsewhere: written and verified here, sent beside their targets, and renamed there."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from velado.tables.contract import Evidence, Published, Slot, Stage, Table
from velado.tables.duckdb.stage import FileSlot
from velado.tables.formats.remote import Remote, check_writable, translate_errors, upload
from velado.tables.publication.private import PrivateFolder
from velado.tables.publication.publish import publication
from velado.tables.publication.uninterrupted import defer_signals
from velado.tables.registry import open_table
from velado.tables.session import Session
from velado.tables.sink import Sink
from velado.tables.source import shown_url

MANIFEST = ".manifest.json"


class RemoteStage(Stage):
    """Files in a private folder here. What is private of a release stays here.

    Most such places cannot rename several files at one moment: what was there is put back if one cannot be renamed.
    """

    def __init__(self, sinks: Sequence[Sink], session: Session) -> None:
        self._session = session
        self._stack = ExitStack()
        try:
            self._targets = [Remote.at(sink.url or "") for sink in sinks]
            for target in self._targets:
                check_writable(target)
            self._private = PrivateFolder.beside(session.scratch)
            self._stack.callback(self._private.remove)
            files = [path for sink in sinks for path in sink.files.values()]
            if files:
                self._publication = self._stack.enter_context(publication(files, set(files)))
                self._places = dict(zip(files, self._publication.places, strict=True))
            self._files = files
            self.slots = tuple(
                FileSlot(sink, self._place(i, shown_url(sink.url or "").rpartition("/")[2]), session=session)
                for i, sink in enumerate(sinks)
            )
        except BaseException:
            self._stack.close()
            raise

    def _place(self, number: int, name: str) -> Path:
        place = self._private.folder(f"slot{number}") / name
        place.touch(mode=0o600)
        return place

    def read_back(self, slot: Slot, memory: int | None = None) -> Table:
        """What was written here, opened anew."""
        session = replace(self._session, scratch=self._private.path)
        table = open_table(slot.sink.source(slot.path, slot.fields), session=session)
        if memory is not None:
            table.limit(memory)
        return table

    def publish(self, evidence: Sequence[Evidence | None] = ()) -> list[Published]:
        """Send everything, compare what arrived, and rename it; the tables last."""
        given = [*evidence, *[None] * (len(self.slots) - len(evidence))]
        sent: list[tuple[Remote, Remote]] = []
        try:
            for slot, target, found in zip(self.slots, self._targets, given, strict=True):
                assert slot.path is not None
                if found is not None:
                    for what, text in found.texts.items():
                        if what in slot.sink.files:
                            self._places[slot.sink.files[what]].write_text(text, encoding="utf-8")
                    manifest = slot.path.with_name(slot.path.name + MANIFEST)
                    manifest.write_text(found.manifest, encoding="utf-8")
                    sent.append((upload(manifest, target.beside(MANIFEST), self._session.progress), target.beside(MANIFEST)))
            for slot, target in zip(self.slots, self._targets, strict=True):
                assert slot.path is not None
                sent.append((upload(slot.path, target, self._session.progress), target))
            with defer_signals():
                _rename(sent)
                if self._files:
                    self._publication.publish()
        finally:
            for hidden, _ in sent:
                hidden.remove()
        return [
            Published(
                target.name,
                target.beside(MANIFEST).name if found is not None else None,
                None if found is None else slot.sink.files.get("private manifest"),
            )
            for slot, target, found in zip(self.slots, self._targets, given, strict=True)
        ]

    def discard(self) -> None:
        """Remove everything that was not published."""
        self._stack.close()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        # An error of the file system is told as one of the output.
        self._stack.__exit__(kind, error, trace)


def _rename(sent: Sequence[tuple[Remote, Remote]]) -> None:
    """All files get their names, or those that were there get theirs back."""
    kept: list[tuple[Remote, Remote]] = []
    renamed: list[Remote] = []
    try:
        for hidden, target in sent:
            with translate_errors(target.name, reading=False):
                if target.exists():
                    old = target.hidden_sibling()
                    kept.append((old, target))
                    target.copy(old)
                hidden.move(target)
                renamed.append(target)
    except BaseException:
        for target in renamed:
            target.remove()
        for old, target in kept:
            with translate_errors(target.name, reading=False):
                old.move(target)
        raise
    for old, _ in kept:
        old.remove()
