"""Names of columns: every column has one of its own, and the line of names is told from titles above it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from velado.errors import InputError
from velado.sentences import Sentence, join_sentences

MOST_COLUMNS = 10_000
NAMES = ("unique", "numbered", "exact")
"""What is done about names that are lacking or not unique: refuse them, or number them. Blanks around the names of text
tables and sheets are no part of them, unless these are taken exactly as they are."""
HEADERLESS = Sentence("If the first line is data: source: {header: false} or --no-header.")
NUMBERED = Sentence("source: {names: numbered} or --number-names numbers such columns.")
REGULAR = 0.9
"""The share of rows that have as many fields as the names, where titles stand above these."""


def numbers(count: int) -> list[str]:
    """The names of the columns of a table without a header.

    >>> numbers(3)
    ['column_1', 'column_2', 'column_3']
    """
    return [f"column_{i}" for i in range(1, count + 1)]


def unique_names(written: Sequence[str]) -> list[str]:
    """Names of their own: the first column with a name keeps it, the next ones get a number; capitals do not count.

    A column without a name is called by its place.

    >>> unique_names(["name", "Name", "", "name_2", "name"])
    ['name', 'Name_3', 'column_3', 'name_2', 'name_4']
    """
    wanted = [name if name.strip() else f"column_{i}" for i, name in enumerate(written, 1)]
    taken, seen, found = {name.casefold() for name in wanted}, set[str](), []
    for name in wanted:
        if name.casefold() in seen:
            number = 2
            while f"{name}_{number}".casefold() in taken:
                number += 1
            name = f"{name}_{number}"
        seen.add(name.casefold())
        taken.add(name.casefold())
        found.append(name)
    return found


def trim_names(written: Sequence[str], rule: str) -> list[str]:
    """The names that a line of a file holds: without the blanks around them, unless they are exact."""
    return list(written) if rule == "exact" else [name.strip() for name in written]


def names_of(written: Sequence[str], rule: str, path: Path | str, hint: str = "") -> list[str]:
    """The names of a table's columns by a rule of `NAMES`; an error where that leaves one without a name of its own."""
    if len(written) > MOST_COLUMNS:
        raise InputError(
            "too-many-columns",
            Sentence("the table has {columns:,} columns, more than {most:,}", columns=len(written), most=MOST_COLUMNS),
            file=path,
            hint="Take the columns that are needed.",
        )
    if rule == "numbered":
        return unique_names(written)
    unnamed = [i for i, name in enumerate(written, 1) if not name.strip()]
    if unnamed:
        first, more = unnamed[0], len(unnamed) - 1
        raise InputError(
            "unnamed-column",
            Sentence("column {place} of the header has no name, and {more:,} more", place=first, more=more)
            if more
            else Sentence("column {place} of the header has no name", place=first),
            file=path,
            hint=_and(Sentence("Give every column a name; {numbered}", numbered=NUMBERED), hint),
        )
    folded = [name.casefold() for name in written]
    times = Counter(folded)
    twice = [i for i, name in enumerate(folded, start=1) if times[name] > 1]
    if twice:
        raise InputError(
            "duplicate-column",
            Sentence("columns {places} of the header do not have names of their own (capitals do not count)", places=twice[:5]),
            file=path,
            hint=_and(Sentence("Rename the columns so that each name is unique; {numbered}", numbered=NUMBERED), hint),
        )
    return list(written)


def _and(hint: Sentence, other: str) -> Sentence:
    return join_sentences(" ", (hint, Sentence(other))) if other else hint


def like_value(name: str) -> bool:
    """Whether a name looks like a value: a number, a date or an address."""
    return "@" in name or not any(c.isalpha() for c in name)


def names_below(rows: Sequence[tuple[int, Sequence[str]]], named: bool = True) -> int | None:
    """Where a table begins above which titles stand: the number of that row. None if there are no titles.

    Titles fill at most half of the fields that most rows have. The table begins with the first row that fills more, if it
    has as many fields as nine of ten rows below; ``named``: and if it holds names, none of which is a number, an address
    or a value of its column.

    >>> names_below([(1, ["Admissions 2024"]), (3, ["name", "sex"]), (4, ["Ana", "f"]), (5, ["Rui", "m"])])
    3
    """
    widths = [len(row) for _, row in rows]
    if not widths:
        return None
    common = max(sorted(set(widths)), key=widths.count)
    for i, (number, row) in enumerate(rows):
        if sum(bool(cell.strip()) for cell in row) <= common / 2:
            continue
        below = rows[i + 1 :]
        fits = i > 0 and len(row) == common > 1 and bool(below)
        regular = widths[i + 1 :].count(common) >= REGULAR * len(below)
        return number if fits and regular and (not named or _names(row, [other for _, other in below])) else None
    return None


def _names(row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    repeated = any(name == cell for other in below for name, cell in zip(row, other, strict=False))
    return not repeated and not any(map(like_value, row))


def title_lines(path: Path | str, number: int, *, sheet: bool = False) -> InputError:
    """The error for titles above the names of the columns of a text table or a sheet. It repeats nothing of them."""
    if sheet:
        message = Sentence("the table seems to begin in row {line}, below a title", line=number)
        hint = Sentence(
            "Write source: {{skip: {skip}}} or --skip {skip}: so many rows are not read. If it is no title, give every column "
            "a name.",
            skip=number - 1,
        )
    else:
        message = Sentence("the table seems to begin in line {line}, below a title", line=number)
        hint = Sentence(
            "Write source: {{skip: {skip}}} or --skip {skip}: so many lines are not read. If it is no title, name the delimiter.",
            skip=number - 1,
        )
    return InputError("title-lines", message, file=path, hint=hint)


def too_few_lines(path: Path | str, skip: int, *, sheet: bool = False) -> InputError:
    """The error where nothing is left below the lines that are skipped."""
    if sheet:
        message = Sentence("there is no table below the first {skip:,} rows", skip=skip)
    else:
        message = Sentence("there is no table below the first {skip:,} lines", skip=skip)
    return InputError("bad-skip", message, file=path, hint="Skip fewer of them.")
