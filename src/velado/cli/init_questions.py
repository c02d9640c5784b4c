"""What ``velado init`` asks on a terminal: few questions, each about many columns, with the safe answer on Enter."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace

from velado.cli.language import translate_plain
from velado.cli.terminal import plain, say
from velado.errors import InputError
from velado.questions.inspect import Inspection
from velado.questions.suggest.copies import copied_rows
from velado.questions.suggest.wishes import Wishes, columns_like
from velado.recognition.public_knowledge import POSSIBLY
from velado.recognition.survey_answers import ANSWER
from velado.recognition.units import ROWS
from velado.tables import Source

YES = frozenset({"", "y", "yes", "s", "si", "sí", "sim"})
NO = frozenset({"n", "no", "não", "nao"})
LISTED = 12
"""At most so many names are shown."""
Reader = Callable[[str], str]


def somebody_is_there() -> bool:
    """Whether there is somebody to ask."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def ask(seen: Inspection, source: Source, wishes: Wishes, read: Reader = input) -> Wishes:
    """What people say, with what they answer to what is still open."""
    said = wishes.of_columns([c.name for c in seen.columns], source.name)
    open_columns = [c.name for c in seen.columns if c.known == POSSIBLY and c.distinct > 1 and c.name not in said]
    if open_columns:
        say("These {count} columns: could others know them? {names}", count=len(open_columns), names=_join_names(open_columns))
        private = _choose_columns(
            read, open_columns, translate_plain("[Y] yes, n: only the person and you, or the names that only they know: ")
        )
        wishes = replace(wishes, never=(*wishes.never, *private))
    answers = [c.name for c in seen.columns if c.reason == ANSWER and c.name not in said]
    if answers:
        say("These {count} columns look like answers of a survey: {names}", count=len(answers), names=_join_names(answers))
        visible = _choose_columns(
            read,
            answers,
            translate_plain("Only the person and you know them? [Y] yes, n: leave them out, or the names to leave out: "),
        )
        wishes = replace(wishes, drop=(*wishes.drop, *visible))
    if seen.unit is not None and wishes.person is None:
        say("Rows with the same '{column}' belong together.", column=plain(seen.unit.column))
        if _no(read, translate_plain("Are they one person's? [Y] yes, n: every row is a person: ")):
            wishes = replace(wishes, person=ROWS)
    elif wishes.person is None and (copies := copied_rows(source, seen)):
        say("{copies:,} of {rows:,} rows are copies of others.", copies=copies, rows=seen.rows)
        if _no(read, translate_plain("Are copies one person? [Y] yes, n: every row is a person: ")):
            wishes = replace(wishes, copies=False)
    return wishes


def _join_names(names: Sequence[str]) -> str:
    return plain(", ".join(names[:LISTED]) + (", …" if len(names) > LISTED else ""))


def _choose_columns(read: Reader, names: Sequence[str], question: str) -> Sequence[str]:
    """None of the columns for Enter, all for no, else those that were named; asked again until the names are there."""
    while True:
        answer = _answer(read, question)
        if answer.casefold() in YES:
            return ()
        if answer.casefold() in NO:
            return names
        try:
            return [name for part in answer.split(",") for name in columns_like(part.strip(), names)]
        except InputError as error:
            say("{problem}. {hint}", problem=error.message, hint=error.hint)


def _no(read: Reader, question: str) -> bool:
    while (answer := _answer(read, question).casefold()) not in YES | NO:
        pass
    return answer in NO


def _answer(read: Reader, question: str) -> str:
    try:
        return read(question).strip()
    except EOFError:
        return ""
