"""What is wrong with a body or a parameter, in the caller's language: pydantic finds it, and says it in English only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from velado.errors import way_to
from velado.sentences import Sentence
from velado.service.errors import Invalid

PARTS = ("body", "query", "path", "header", "cookie")
SAID: Mapping[str, Sentence] = {
    "missing": Sentence("is missing"),
    "extra_forbidden": Sentence("is not known here"),
    "json_invalid": Sentence("is no valid JSON"),
    "string_type": Sentence("must be a text"),
    "string_too_short": Sentence("must have at least {min_length} characters"),
    "string_too_long": Sentence("must have at most {max_length} characters"),
    "string_pattern_mismatch": Sentence("has characters or a shape that is not allowed"),
    "int_type": Sentence("must be a whole number"),
    "int_parsing": Sentence("must be a whole number"),
    "int_from_float": Sentence("must be a whole number"),
    "int_parsing_size": Sentence("is too large a number"),
    "float_type": Sentence("must be a number"),
    "float_parsing": Sentence("must be a number"),
    "finite_number": Sentence("must be a finite number"),
    "bool_type": Sentence("must be true or false"),
    "bool_parsing": Sentence("must be true or false"),
    "greater_than": Sentence("must be more than {gt}"),
    "greater_than_equal": Sentence("must be at least {ge}"),
    "less_than": Sentence("must be less than {lt}"),
    "less_than_equal": Sentence("must be at most {le}"),
    "literal_error": Sentence("must be one of: {expected}"),
    "enum": Sentence("must be one of: {expected}"),
    "list_type": Sentence("must be a list"),
    "dict_type": Sentence("must be a mapping"),
    "model_type": Sentence("must be a mapping"),
    "model_attributes_type": Sentence("must be a mapping"),
    "none_required": Sentence("must be null"),
    "too_short": Sentence("must have at least {min_length} entries"),
    "too_long": Sentence("must have at most {max_length} entries"),
    "datetime_parsing": Sentence("must be a date and time, such as 2026-11-17T09:00:00Z"),
    "datetime_from_date_parsing": Sentence("must be a date and time, such as 2026-11-17T09:00:00Z"),
    "datetime_type": Sentence("must be a date and time, such as 2026-11-17T09:00:00Z"),
}
"""What pydantic's kinds of errors mean to a caller; the rest is `OTHER`."""
MOST = 50
"""Things wrong with one body that are told."""
OTHER = Sentence("is not as described")
BODY = Sentence("the body")


def invalid(found: Iterable[Mapping[str, Any]], *steps: str | int) -> Invalid:
    """One error that carries all others, each with its place and without the value; ``steps`` lead to the document."""
    errors = [_one(error, steps) for error in islice(found, MOST)]
    first, *others = errors or [Invalid("bad-request", "the body is not as described")]
    first.others = tuple(others)
    return first


def _one(error: Mapping[str, Any], steps: Sequence[str | int]) -> Invalid:
    place = [step if isinstance(step, int) else str(step) for step in error["loc"]]
    if place and place[0] in PARTS:
        place = place[1:]
    way = way_to(*steps, *place)
    return Invalid(
        "bad-request",
        Sentence("{path} {problem}", path=way or BODY, problem=_problem(error)),
        hint="See the API reference at /api/v1/docs.",
        fields={"path": way},
    )


def _problem(error: Mapping[str, Any]) -> Sentence:
    said = SAID.get(error["type"], OTHER)
    context = error.get("ctx") or {}
    wanted = [name for name in ("min_length", "max_length", "gt", "ge", "lt", "le", "expected") if f"{{{name}}}" in said]
    if any(name not in context for name in wanted):
        return OTHER
    return Sentence(said.template, **{name: _plain(context[name]) for name in wanted}) if wanted else said


def _plain(value: Any) -> Any:
    """Numbers as they are; what is expected without pydantic's own 'or'."""
    return value.replace(" or ", ", ") if isinstance(value, str) else value
