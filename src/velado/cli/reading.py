"""How the tables of a command are read: the same options for every command that reads tables."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, overload

import typer

from velado import Source
from velado.cli.options import in_place_of

DELIMITER = Annotated[str | None, typer.Option(help="Delimiter of a text table; found out if not given.")]
QUOTE = Annotated[str | None, typer.Option(help="Quote character of a text table.")]
ENCODING = Annotated[str | None, typer.Option(help="Encoding of a text table, for example latin-1.")]
MISSING = Annotated[list[str] | None, typer.Option(help="Text that stands for a missing value; may be repeated.")]
SHEET = Annotated[str | None, typer.Option(help="Sheet of an XLSX workbook.")]
NO_HEADER = Annotated[
    bool, typer.Option("--no-header", help="The first line is data; columns are called column_1, column_2, …")
]
SKIP = Annotated[int, typer.Option(min=0, help="Lines at the top that are not read: titles above the names.")]
NUMBER_NAMES = Annotated[
    bool, typer.Option("--number-names", help="Number the columns that have no name of their own: name, name_2.")
]


@dataclass(frozen=True)
class Reading:
    """The options of a command; called with a path it gives the source."""

    delimiter: DELIMITER = None
    quote: QUOTE = None
    encoding: ENCODING = None
    missing: MISSING = None
    sheet: SHEET = None
    no_header: NO_HEADER = False
    skip: SKIP = 0
    number_names: NUMBER_NAMES = False

    @overload
    def __call__(self, path: Path) -> Source: ...
    @overload
    def __call__(self, path: None) -> None: ...
    def __call__(self, path: Path | None) -> Source | None:
        """The source of a file that somebody has."""
        if path is None:
            return None
        return Source(
            path=path,
            delimiter="\t" if self.delimiter in ("\\t", "tab") else self.delimiter,
            quote=self.quote,
            encoding=self.encoding,
            missing=tuple(self.missing) if self.missing else None,
            sheet=self.sheet,
            header=not self.no_header,
            skip=self.skip,
            names="numbered" if self.number_names else "unique",
        )

    @overload
    def release(self, path: Path) -> Source: ...
    @overload
    def release(self, path: None) -> None: ...
    def release(self, path: Path | None) -> Source | None:
        """The source of a release: its names stand in its first line, whatever the original had there."""
        return replace(self, sheet=None, no_header=False, skip=0)(path)

    @property
    def arguments(self) -> str:
        """The options as they are written after a command, to be repeated."""
        found = []
        for option in fields(self):
            value = getattr(self, option.name)
            for one in value if isinstance(value, list) else [value]:
                if one != option.default:
                    found += [f"--{option.name.replace('_', '-')}", *([] if one is True else [shlex.quote(str(one))])]
        return " ".join(found)


AS_FOUND = Reading()


def reads_tables(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of `Reading`, in the place of its parameter ``read``."""
    group = [
        inspect.Parameter(p.name, p.kind, default=p.default, annotation=p.annotation)
        for p in inspect.signature(Reading, eval_str=True).parameters.values()
    ]
    return in_place_of("read", group, lambda chosen: Reading(**chosen), command)
