"""``velado schema``."""

from __future__ import annotations

from typing import Annotated

import typer

from velado.cli.language import current
from velado.cli.terminal import print_json
from velado.project import project_schema


def command(
    part: Annotated[
        str,
        typer.Option(
            help="Only a part: source, columns, hierarchies, operations, models, methods or output; "
            "models.k-anonymity is one model."
        ),
    ] = "",
) -> None:
    """Print the JSON Schema of project files, for editors and other programs."""
    print_json(project_schema(current().code, part))
