"""``velado import``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
import yaml

from velado import InputError
from velado.cli.help import App
from velado.cli.language import current, translate_plain
from velado.cli.terminal import JSON, out, plain, print_json, say, translate
from velado.project import import_anonylitics
from velado.project.importers.anonylitics.project import Imported
from velado.sentences import Sentence, into
from velado.tables.publication.publish import publish_files

app = App(help="Convert the project file of another tool.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Keep the name of the tool, even if there is only one."""


@app.command("anonylitics")
def anonylitics(
    file: Annotated[Path, typer.Argument(help="Project of Anonylitics (JSON).")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Project file to write.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing project file.")] = False,
    json: JSON = False,
) -> None:
    """Write a Velado project file, and say what has no counterpart."""
    imported = import_anonylitics(file)
    target = output or file.with_suffix(".yaml")
    if target.resolve() == file.resolve():
        raise InputError("output-is-input", "the project file would replace the file that is read", file=target)
    if target.exists() and not force:
        raise InputError("file-exists", "the project file exists already", file=target, hint="Use --force or --output.")
    with publish_files([target]) as (place,):
        place.write_text(project_text(imported, file), encoding="utf-8")
    if json:
        report = [remark.as_dict() for remark in imported.report]
        print_json({"output": str(target), "project": imported.project, "report": report})
        return
    _show(imported)
    say("Wrote {file}. Read it, then: velado run {file}", file=target)


def project_text(imported: Imported, file: Path) -> str:
    """The project file, with the remarks as a comment."""
    lines = ["# " + translate_plain("Imported from {file} (Anonylitics).", file=file.name), "#"]
    for remark in imported.report:
        value = f" = {into(remark.value, current().code)}" if remark.value else ""
        lines.append(f"# {_line(remark.path + value)} ({translate_plain(remark.kind)}): {_line(translate_plain(remark.what))}")
    body = yaml.safe_dump(imported.project, sort_keys=False, allow_unicode=True, default_flow_style=None, width=110)
    return "\n".join(lines) + "\n\n" + body


def _line(text: str) -> str:
    """A text that stays a comment, whatever signs are in it."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _show(imported: Imported) -> None:
    from rich.table import Table

    shown = Table(box=None, pad_edge=False)
    for name in (Sentence("path"), Sentence("value"), "", Sentence("what to do")):
        shown.add_column(translate(name), overflow="fold")
    for remark in imported.report:
        words = (remark.path, into(remark.value, current().code), translate_plain(remark.kind), translate_plain(remark.what))
        shown.add_row(*(plain(_line(word)) for word in words))
    out.print(shown)
    say()
