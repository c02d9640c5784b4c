"""Why a job failed, as who may not read records is told: no values of the table, no counts of one or two."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

OF_THE_PROJECT = ("path", "limit", "allowed", "failing")
"""Fields that come from the document or the settings; any other may hold a value of the table, or count people."""
COUNTED = ("count", "records", "suppressed", "people", "rows", "reached")
"""Fields that sentences repeat and that may count one or two people."""
SHORTLY = "<3"
"""How a sentence says that a count is small."""


def redact_error(kept: Mapping[str, Any]) -> dict[str, Any]:
    """A kept error without values of the table and counts of it, for who may not read records."""
    fields = kept.get("fields", {})
    few = {n for key in COUNTED for n in _few(fields.get(key))}
    found = {key: value for key, value in kept.items() if key != "values"}
    found |= {key: _hide_counts(kept[key], few) for key in ("message", "hint") if key in kept}
    found["fields"] = {key: value for key, value in fields.items() if key in OF_THE_PROJECT}
    if "others" in kept:
        found["others"] = [redact_error(other) for other in kept["others"]]
    return found


def _few(value: Any) -> Iterator[int]:
    """Counts of one or two, also those by model."""
    if isinstance(value, Mapping):
        for one in value.values():
            yield from _few(one)
    elif isinstance(value, (int, float)) and value in (1, 2):
        yield int(value)


def _hide_counts(texts: Any, few: set[int]) -> Any:
    """Sentences without these counts, where they stand alone; required parameters (k=2) stay."""
    if not few or not isinstance(texts, Mapping):
        return texts
    alone = re.compile(rf"(?<![\w.,=-])[{''.join(map(str, sorted(few)))}](?!\w|[.,]\d)")
    return {language: alone.sub(SHORTLY, str(text)) for language, text in texts.items()}
