"""Where a release goes, as the project file says it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from velado.errors import InputError, Problems
from velado.sentences import Sentence
from velado.tables import ORDERS, Sink, delimiter_of
from velado.tables.files import path_of
from velado.tables.source import FORMATS, check_path

OUTPUT_KEYS = ("path", "delimiter", "order", "suppressed", "guard", "recoding")
SUPPRESSED = ("drop", "star")


@dataclass(frozen=True)
class Output:
    """Where the release goes.

    ``order``: shuffle (default), keep, or sorted (reproducible byte for byte). ``suppressed``: drop (default)
    or star (the record stays as a row of ``*``). ``guard``: protect spreadsheets from texts that look like formulas.
    ``recoding``: also save the recoding.
    """

    path: Path | None = None
    delimiter: str | None = None
    order: str = "shuffle"
    suppressed: str = "drop"
    guard: bool = True
    recoding: Path | None = None

    @property
    def scratch(self) -> Path | None:
        """Where temporary files are kept: beside the output."""
        return None if self.path is None else self.path.parent

    def sink(self, usual: str | None = None) -> Sink:
        """Where and how an engine writes the release; ``usual`` is the delimiter of the input."""
        delimiter = delimiter_of(self.path, self.delimiter, usual)
        return Sink(self.path, delimiter, self.order, self.guard, self.recoding, evidence=True)

    def __post_init__(self) -> None:
        problems = Problems()
        for name in ("path", "recoding"):
            if getattr(self, name) is not None:
                with problems.at(name):
                    check_path(getattr(self, name))
                    object.__setattr__(self, name, path_of(getattr(self, name), Sentence("output: '{key}'", key=name)))
                    if name == "path" and self.path is not None:
                        _check_file(self.path)
        for what, value, known in (
            ("order", self.order, ORDERS),
            ("suppressed", self.suppressed, SUPPRESSED),
            ("guard", self.guard, (True, False)),
        ):
            if value not in known:
                words = [str(k).lower() for k in known]
                message = Sentence(
                    "output: {key} must be one of {known}, got {given}", key=what, known=words, given=repr(value)
                )
                problems.add(InputError("bad-output", message), what)
        delimiter = self.delimiter
        if delimiter is not None and (not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '"\r\n'):
            message = Sentence(
                "output: delimiter must be one character and no quote, got {given}", given=repr(delimiter)
            )
            problems.add(InputError("bad-output", message), "delimiter")
        problems.done()


def _check_file(path: Path) -> None:
    """A release may have this name."""
    if path.is_dir():
        raise InputError("unwritable-output", "the output path is a directory", file=path)
    if path.suffix.lower() not in FORMATS:
        raise InputError(
            "unknown-format", Sentence("output: unknown suffix '{suffix}'", suffix=path.suffix), file=path,
            hint=Sentence("Choose one of: {known}", known=" ".join(FORMATS)),
        )  # fmt: skip


def output_from(options: Mapping[str, Any], folder: Path) -> Output:
    """The output of a project file; paths are relative to its folder."""
    problems, found = Problems(), dict(options)
    for key in ("path", "recoding"):
        given = found.pop(key, None)
        if given is not None:
            with problems.at(key):
                found[key] = path_of(given, Sentence("output: '{key}'", key=key), folder)
    with problems.at():
        output = Output(**found)
    problems.done()
    return output
