"""What of a document can be kept: JSON that every store and every reader takes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from velado.errors import way_to
from velado.project.yaml_file import DEEPEST
from velado.sentences import Sentence
from velado.service.errors import Invalid
from velado.service.projects.document_checks import LARGEST, MOST_PARTS


def plain(value: Any) -> Any:
    """A document as JSON that every store and every reader takes: whole texts, finite numbers, of bearable size."""
    return _Taking().convert(value, ())


class _Taking:
    """A document on its way into the store; how much of it there is is known before more is taken."""

    def __init__(self) -> None:
        self._parts = self._characters = 0

    def convert(self, value: Any, steps: tuple[str | int, ...]) -> Any:
        """A part of the document."""
        self._parts += 1
        if len(steps) > DEEPEST or self._parts > MOST_PARTS or self._characters > LARGEST:
            raise _unfit(steps[:5], Sentence("the document is too large or nested too deep"))
        if isinstance(value, Mapping):
            return {self._text(str(k), steps): self.convert(v, (*steps, str(k))) for k, v in value.items()}
        if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
            return [self.convert(v, (*steps, i)) for i, v in enumerate(value)]
        if isinstance(value, str):
            return self._text(value, steps)
        if value is None or isinstance(value, (bool, int)):
            return value
        if isinstance(value, float) and math.isfinite(value):
            return value
        if isinstance(value, date):
            return value.isoformat()
        raise _unfit(steps, Sentence("this value cannot stand in a document"))

    def _text(self, text: str, steps: tuple[str | int, ...]) -> str:
        self._characters += len(text)
        try:
            text.encode()
        except UnicodeEncodeError:
            raise _unfit(steps, Sentence("the text holds half a character")) from None
        if "\0" in text:
            raise _unfit(steps, Sentence("the text holds a null character"))
        return text


def _unfit(steps: Sequence[str | int], message: Sentence) -> Invalid:
    # The names on the way may be what cannot be shown.
    safe = [step if isinstance(step, int) else step.encode(errors="replace").decode() for step in steps]
    return Invalid("bad-document", message, fields={"path": way_to(*safe)})
