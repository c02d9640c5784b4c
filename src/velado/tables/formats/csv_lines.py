"""The lines of a text table: which one is the first, and how they end."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from velado.errors import InputError, unwritable
from velado.progress import Progress
from velado.sentences import Sentence
from velado.tables.files import PIECE
from velado.tables.formats.csv import Dialect, wrong_encoding

UTF8 = ("utf-8", "utf-8-sig", "ascii")
ENDS = ("\r\n", "\n", "\r")
SHOWN = {"\r\n": Sentence("carriage return and line feed"), "\n": Sentence("a line feed"), "\r": Sentence("a carriage return")}


@dataclass(frozen=True)
class PlainText:
    """A text table in UTF-8 that begins with its names, and whose lines all end in ``end``: nothing if it has one line."""

    path: Path
    end: str


def plain_text(path: Path, dialect: Dialect, folder: Path, progress: Progress) -> PlainText:
    """The table as engines read it: in UTF-8, from the line of its names on, and with one kind of line ends.

    That is the file itself if it is so already, otherwise a copy in a folder. Lines that end in a line feed, some of them
    with a carriage return before it, are mended; a carriage return alone among others is refused, because it may end a
    line, or stand in a value.
    """
    end, mend = _line_ends(path, dialect, progress)
    if dialect.encoding in UTF8 and dialect.first_line == 1 and not mend:
        return PlainText(path, end)
    copy = folder / "utf8.csv"
    copy.touch(mode=0o600)
    try:
        with open(copy, "w", encoding="utf-8", newline="") as write:
            if mend:
                for line, ended, _ in ended_lines(path, dialect):
                    progress.check()
                    write.write(line + ("\n" if ended else ""))
            else:
                with open(path, encoding=dialect.encoding, newline="") as read:
                    for _ in range(dialect.first_line - 1):
                        next(read)
                    while text := read.read(1 << 20):
                        progress.check()
                        write.write(text)
    except UnicodeError as error:
        raise wrong_encoding(path, dialect.encoding, getattr(error, "start", None)) from None
    except OSError as error:
        raise unwritable(error, copy.parent.parent) from None
    return PlainText(copy, "\n" if mend else end)


def ended_lines(path: Path, dialect: Dialect) -> Iterator[tuple[str, str, int]]:
    """The lines of a table without their ends, their ends and their numbers. Line breaks in quotes end no line: there the
    end is empty, and the break stays."""
    with open(path, encoding=dialect.encoding, newline="") as stream:
        inside = False
        for number, line in enumerate(itertools.islice(stream, dialect.first_line - 1, None), dialect.first_line):
            inside = _open_after(line, inside, dialect)
            end = next((e for e in ENDS if line.endswith(e)), "")
            yield (line, "", number) if inside else (line.removesuffix(end), end, number)


def _line_ends(path: Path, dialect: Dialect, progress: Progress) -> tuple[str, bool]:
    """How the lines of a table end, and whether that must be mended before an engine reads it."""
    alike = _all_alike(path, dialect, progress)
    if alike is not None:
        return alike, False
    first, breaks, mixed = "", "", False
    try:
        for line, end, number in ended_lines(path, dialect):
            if number % 1000 == 0:
                progress.check()
            breaks = breaks or end or next((e for e in ENDS if line.endswith(e)), "")
            first = first or end
            if end and end != first:
                if "\r" in (end, first):
                    raise InputError(
                        "mixed-line-ends",
                        Sentence(
                            "line {line} ends in {end}, the lines before it in {first}",
                            line=number,
                            end=SHOWN[end],
                            first=SHOWN[first],
                        ),
                        file=path,
                        hint="Write all lines with the same end, or put quotes around a value that holds one.",
                    )
                mixed = True
    except UnicodeError as error:
        raise wrong_encoding(path, dialect.encoding, getattr(error, "start", None)) from None
    # Engines take the first break for the end of all lines, also one in quotes, unless the end is one character.
    return first, mixed or (first == "\r\n" != breaks)


def _all_alike(path: Path, dialect: Dialect, progress: Progress) -> str | None:
    """The one kind of line breaks that a file has, in quotes or not; None if there may be several. Bytes are counted."""
    if dialect.encoding.startswith(("utf-16", "utf-32")):
        return None
    kinds: set[str] = set()
    kept = b""
    with open(path, "rb") as stream:
        while len(kinds) < 2 and (piece := stream.read(PIECE)):
            progress.check()
            piece = kept + piece
            # Only the next piece tells what a carriage return at the end of this one belongs to.
            kept = b"\r" if piece.endswith(b"\r") else b""
            kinds |= _breaks(piece.removesuffix(b"\r"))
    kinds |= _breaks(kept)
    return None if len(kinds) > 1 else next(iter(kinds), "")


def _breaks(piece: bytes) -> set[str]:
    """The kinds of line breaks in some bytes. Most files have no carriage return, and that is found out fast."""
    if b"\r" not in piece:
        return {"\n"} if b"\n" in piece else set()
    feeds, returns, both = piece.count(b"\n"), piece.count(b"\r"), piece.count(b"\r\n")
    return {kind for kind, n in (("\r\n", both), ("\n", feeds - both), ("\r", returns - both)) if n}


def _open_after(line: str, inside: bool, dialect: Dialect) -> bool:
    """Whether a quote is open at the end of a line; ``inside``: whether one was at its beginning.

    A quote opens at the beginning of a field and nowhere else; two of them are one in the value.
    """
    quote, opening, at = dialect.quote, dialect.delimiter + dialect.quote, 0
    if not inside:
        if not line.startswith(quote):
            at = line.find(opening)
            if at < 0:
                return False
            at += 1
        at += 1
    while True:
        at = line.find(quote, at)
        if at < 0:
            return True
        if line.startswith(quote, at + 1):
            at += 2
            continue
        at = line.find(opening, at + 1)
        if at < 0:
            return False
        at += 2
