"""Texts that a spreadsheet would take for formulas get an apostrophe, which it does not show."""

from __future__ import annotations

import re
from collections.abc import Sequence

from velado.values import Text

GUARDED = r"^'*[=+@\t\r-]"
GUARDED_AMONG = r"(^|\x1f)'*[=+@\t\r-]"
"""The same for cells that stand beside each other, with the character of code 31 between them."""
NUMBER = r"[+-]?[.,]?[0-9]+([.,][0-9]+)*([eE][+-]?[0-9]+)?"
"""A whole text that is a number. Every character has one place in it: matching takes linear time."""
APOSTROPHE = re.compile("^'(?='*" + GUARDED.removeprefix("^'*") + ")")


def guard_formulas(labels: Sequence[Text], guard: bool = True) -> list[Text]:
    """Labels that look like formulas with an apostrophe.

    >>> guard_formulas(["=1+1", "-5", "flu", None])
    ["'=1+1", '-5', 'flu', None]
    """
    risky = [x is not None and re.match(GUARDED, x) and not re.fullmatch(NUMBER, x) for x in labels]
    return [f"'{x}" if guard and r else x for x, r in zip(labels, risky, strict=True)]


def remove_guard(value: Text) -> Text:
    """A text without the apostrophe that guards it."""
    return value if value is None else APOSTROPHE.sub("", value)
