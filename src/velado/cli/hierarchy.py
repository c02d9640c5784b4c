"""``velado hierarchy``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.tree import Tree

from velado import InputError
from velado.cli.language import current
from velado.cli.terminal import JSON, out, plain, print_json, progress, say
from velado.hierarchies import Branch, HierarchyPreview, branches
from velado.questions import project_hierarchy
from velado.questions.hierarchy import project_preview
from velado.report.charts.tree import branch_text
from velado.report.formats.hierarchy import save_hierarchy_chart
from velado.sentences import Sentence
from velado.tables.publication.publish import publish_files


def command(
    project: Annotated[Path, typer.Argument(help="Project file.")],
    column: Annotated[str, typer.Argument(help="Column whose hierarchy is wanted.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write; standard output if not given.")] = None,
    delimiter: Annotated[str, typer.Option(help="Delimiter of the hierarchy file.")] = ";",
    preview: Annotated[
        bool, typer.Option("--preview", help="Show levels, sizes of groups, and values that are not covered.")
    ] = False,
    tree: Annotated[bool, typer.Option("--tree", help="Show the hierarchy as a tree.")] = False,
    chart: Annotated[Path | None, typer.Option("--chart", help="File (SVG, PNG, PDF) for the drawn tree.")] = None,
    json: JSON = False,
) -> None:
    """Export the hierarchy of a column as a file (leaf;level 1;…;*), or look at it."""
    if len(delimiter) != 1:
        raise InputError("bad-delimiter", Sentence("the delimiter must be one character, got {got!r}", got=delimiter))
    # A preview alone does not need a hierarchy that covers all values.
    glance = preview and not (tree or chart or output)
    with progress() as report:
        seen = project_preview(project, column, report.part(0.0, 0.5)) if preview or json else None
        hierarchy = None if glance else project_hierarchy(project, column, report.part(0.5, 1.0))
    if chart is not None and hierarchy is not None:
        save_hierarchy_chart(hierarchy, chart, language=current().code)
    if output is not None and hierarchy is not None:
        with publish_files([output]) as (place,):
            hierarchy.save(place, delimiter)
    if json and seen is not None:
        print_json(seen.as_dict() if hierarchy is None else {**seen.as_dict(), "tree": hierarchy.as_tree()})
        return
    if seen is not None:
        show_preview(seen)
    if hierarchy is None:
        return
    if tree:
        show_tree(branches(hierarchy))
    elif not (preview or chart or output):
        hierarchy.write(sys.stdout, delimiter)
    for file in (output, chart):
        if file is not None:
            say(
                "Wrote {file}: {values:,} values, {levels} levels", file=file, values=len(hierarchy.leaves), levels=hierarchy.levels
            )


def show_preview(preview: HierarchyPreview) -> None:
    """Print a hierarchy at a glance."""
    code = current().code
    first, *after = preview.sentences(code)
    say("[bold]{line}[/]", line=first)
    heads = preview.header(code)
    drawn = Table(box=None, pad_edge=False)
    for i, head in enumerate(heads):
        drawn.add_column(plain(head), justify="left" if i == len(heads) - 1 else "right")
    for cells in preview.cells(code):
        drawn.add_row(*map(plain, cells))
    out.print(drawn)
    for line in after:
        say("{line}", line=line)


def show_tree(root: Branch) -> None:
    """Print a hierarchy as a tree."""
    drawn = Tree(plain(branch_text(root, current())))
    _grow(drawn, root)
    out.print(drawn)


def _grow(drawn: Tree, branch: Branch) -> None:
    for child in branch.children:
        text = plain(branch_text(child, current()))
        _grow(drawn.add(f"[dim]{text}[/]" if child.more else text), child)
