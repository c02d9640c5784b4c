"""``velado decrypt``."""

from __future__ import annotations

from typing import Annotated

import typer

from velado import decrypt
from velado.cli.table_options import AS_FOUND, REPLACE, TABLE, Reading, output_at, reads_tables
from velado.cli.terminal import JSON, print_json, progress, say


@reads_tables
def command(
    table: Annotated[TABLE, typer.Argument(help="Table with encrypted columns.")],
    column: Annotated[list[str], typer.Option(help="COLUMN, or COLUMN=ATTRIBUTE, to restore; may be repeated.")],
    key: Annotated[str, typer.Option(help="Where the key is: env:VARIABLE or file:PATH.")],
    output: Annotated[TABLE, typer.Option("--output", "-o", help="File to write, or table of a database.")],
    replace: REPLACE = False,
    read: Reading = AS_FOUND,
    json: JSON = False,
) -> None:
    """Restore encrypted columns, with the key."""
    named = [option.partition("=") for option in column]
    attributes = {name: attribute if sign else name for name, sign, attribute in named}
    with progress() as report:
        restored = decrypt(read(table), attributes, key, output=output_at(output, replace), progress=report)
    if json:
        print_json(restored.as_dict())
        return
    for name, values in restored.columns.items():
        say("[bold]{column}[/]: {values:,} different values restored", column=name, values=values)
    say("Wrote {file}: {rows:,} records that name people again. Keep it private.", file=restored.output, rows=restored.rows)
