"""How the tables of a command are read: the same options for every command that reads tables."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, overload
from urllib.parse import quote

import typer

from velado import InputError, Source
from velado.cli.options import in_place_of
from velado.sentences import Sentence
from velado.tables.address import is_database
from velado.tables.source import HOLDS_TABLES, format_of, is_elsewhere

if TYPE_CHECKING:
    from velado import Output

DELIMITER = Annotated[str | None, typer.Option(help="Delimiter of a text table; found out if not given.")]
QUOTE = Annotated[str | None, typer.Option(help="Quote character of a text table.")]
ENCODING = Annotated[str | None, typer.Option(help="Encoding of a text table, for example latin-1.")]
MISSING = Annotated[list[str] | None, typer.Option(help="Text that stands for a missing value; may be repeated.")]
SHEET = Annotated[str | None, typer.Option(help="Sheet of an XLSX workbook.")]
NO_HEADER = Annotated[bool, typer.Option("--no-header", help="The first line is data; columns are called column_1, column_2, …")]
SKIP = Annotated[int, typer.Option(min=0, help="Lines at the top that are not read: titles above the names.")]
NUMBER_NAMES = Annotated[
    bool, typer.Option("--number-names", help="Number the columns that have no name of their own: name, name_2.")
]


TABLE = str
"""A table on the command line: a file, here or elsewhere, or the address of a database with ``#table`` behind it. No `Path`,
which would make one of two slashes."""
REPLACE = Annotated[bool, typer.Option("--replace", help="Replace a table of a database that is there already.")]
LINED = ("delimiter", "quote", "encoding", "sheet", "no_header", "skip")
"""Options that have no meaning for tables of databases."""


@dataclass(frozen=True)
class Reading:
    """The options of a command; called with a table it gives the source."""

    delimiter: DELIMITER = None
    quote: QUOTE = None
    encoding: ENCODING = None
    missing: MISSING = None
    sheet: SHEET = None
    no_header: NO_HEADER = False
    skip: SKIP = 0
    number_names: NUMBER_NAMES = False

    @overload
    def __call__(self, table: TABLE, *others: TABLE | None) -> Source: ...
    @overload
    def __call__(self, table: None, *others: TABLE | None) -> None: ...
    def __call__(self, table: TABLE | None, *others: TABLE | None) -> Source | None:
        """The source of a table that somebody has; options of files may be meant for ``others`` of the command."""
        if table is None:
            return None
        table = table_address(table)
        every: dict[str, Any] = {
            "delimiter": "\t" if self.delimiter in ("\\t", "tab") else self.delimiter,
            "quote": self.quote,
            "encoding": self.encoding,
            "missing": tuple(self.missing) if self.missing else None,
            "sheet": self.sheet,
            "header": not self.no_header,
            "skip": self.skip,
            "names": "numbered" if self.number_names else "unique",
        }
        if not is_database(table):
            return replace(Source.of(table) if is_elsewhere(table) else Source(path=Path(table)), **every)
        if all(is_database(table_address(other)) for other in others if other is not None):
            self._check_none(table)
        return replace(Source.of(table), missing=every["missing"], names=every["names"])

    def _check_none(self, table: TABLE) -> None:
        """Tables of databases have no lines and no delimiters."""
        for option in fields(self):
            if option.name in LINED and getattr(self, option.name) != option.default:
                message = Sentence("{option} is for text tables and sheets", option=_option_name(option.name))
                raise InputError("bad-option", message, file=Source.of(table).name, hint="Leave it out.")

    @overload
    def release(self, table: TABLE, *others: TABLE | None) -> Source: ...
    @overload
    def release(self, table: None, *others: TABLE | None) -> None: ...
    def release(self, table: TABLE | None, *others: TABLE | None) -> Source | None:
        """The source of a release: its names stand in its first line, whatever the original had there."""
        return replace(self, sheet=None, no_header=False, skip=0)(table, *others)

    @property
    def arguments(self) -> str:
        """The options as they are written after a command, to be repeated."""
        found = []
        for option in fields(self):
            value = getattr(self, option.name)
            for one in value if isinstance(value, list) else [value]:
                if one != option.default:
                    found += [_option_name(option.name), *([] if one is True else [shlex.quote(str(one))])]
        return " ".join(found)


AS_FOUND = Reading()


def table_address(table: TABLE) -> TABLE:
    """A table of a file that holds tables as an address, if it was written as ``clinic.sqlite#people``."""
    path, sign, name = table.partition("#")
    if not sign or "://" in table or format_of(Path(path)) not in HOLDS_TABLES or Path(table).exists():
        return table
    return f"{format_of(Path(path))}:///{quote(path)}#{name}"


def output_at(table: TABLE, replaced: bool) -> Output:
    """Where a command writes: a file, which may be there already, or a table of a database, which may not."""
    # Commands that only read need nothing of project files.
    from velado.project import output_of

    output = output_of(table_address(table))
    return replace(output, if_exists="replace") if replaced else output


def _option_name(option: str) -> str:
    return f"--{option.replace('_', '-')}"


def reads_tables(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of `Reading`, in the place of its parameter ``read``."""
    group = [
        inspect.Parameter(p.name, p.kind, default=p.default, annotation=p.annotation)
        for p in inspect.signature(Reading, eval_str=True).parameters.values()
    ]
    return in_place_of("read", group, lambda chosen: Reading(**chosen), command)
