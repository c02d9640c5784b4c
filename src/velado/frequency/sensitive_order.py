"""The order of sensitive values: that which ordered t-closeness needs, and one to show values in."""

from __future__ import annotations

from collections.abc import Sequence

from velado.errors import InputError
from velado.hierarchies import Hierarchy
from velado.hierarchies.calendar import DAY, parse_dates
from velado.numbers import COMMA, POINT, Notation, column_notation, notation_of
from velado.schema import Column
from velado.sentences import Sentence
from velado.values import Text


def order_values(column: Column, values: Sequence[Text], spelled: Sequence[str], tree: Hierarchy | None) -> list[Text]:
    """The order of ordered t-closeness: as it was declared, numbers by value, dates by day; missing last.

    Other texts have none: the alphabet says nothing of them. Numbers among other texts have no order, and neither have
    numbers that can be read in two ways; all that is ``spelled`` in the column decides how they are read.
    """
    present = [v for v in values if v is not None]
    if tree is not None and tree.scale is not None and tree.scale.kind == "order":
        place = tree.scale.numbers
        return _missing_last(sorted(present, key=lambda v: place[tree.code[v]]), values)
    if column.type == "date" or (present and all(map(DAY.fullmatch, present))):
        days = dict(zip(present, parse_dates(column.name, present, column.format), strict=True))
        return _missing_last(sorted(present, key=lambda v: (days[v], v)), values)
    numbers = notation_of(spelled) is not None or any(n.number(v) is not None for n in (POINT, COMMA) for v in spelled)
    if spelled and not numbers:
        raise InputError(
            "no-order",
            "the values have no order, which the ordered distance needs: the alphabet is none",
            column=column.name,
            hint="Declare it, for example 'hierarchy: {order: [low, medium, high]}', or 'type: date' of dates; or use "
            "'distance: equal' or 'distance: hierarchical'.",
        )
    try:
        notation = column_notation(column.name, spelled)
    except InputError as error:
        raise InputError(
            error.code,
            Sentence("the values have no order, which the ordered distance needs: {problem}", problem=error.message),
            column=column.name,
            values=error.values,
            hint=Sentence("{hint} Or use 'distance: equal'.", hint=error.hint),
        ) from None
    return _missing_last(_by_number(present, notation), values)


def _by_number(values: Sequence[str], notation: Notation) -> list[str]:
    return sorted(values, key=lambda v: (notation.number(v), v))


def _missing_last(present: Sequence[str], values: Sequence[Text]) -> list[Text]:
    return [*present, None] if None in values else list(present)


def sort_values(values: Sequence[Text]) -> list[Text]:
    """Numbers by value, other texts alphabetically, missing last: an order to show values in."""
    present = [v for v in values if v is not None]
    notation = notation_of(present)
    return _missing_last(sorted(present) if notation is None else _by_number(present, notation), values)
