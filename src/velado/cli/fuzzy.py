"""``velado fuzzy``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from velado import Column, KAnonymity, Release, Source, anonymize, fuzzify
from velado.cli import fuzzy_summary
from velado.cli.language import current
from velado.cli.options import Given, takes
from velado.cli.table_options import AS_FOUND, REPLACE, TABLE, Reading, output_at, reads_tables
from velado.cli.terminal import JSON, names, print_json, progress, say
from velado.methods import Fuzzy
from velado.models import PrivacyModel, QAnonymity
from velado.progress import Progress
from velado.questions import Fuzzification
from velado.report import save_fuzzy_charts

PARTITIONS = ("k-means", "global-recode", "c-means", "gustafson-kessel")


@takes("method", Fuzzy, skip=["language"], unset=["sets"])
@takes("crisp", KAnonymity, unset=["k"])
@takes("fuzzy", QAnonymity, unset=["q"])
@reads_tables
def command(
    table: Annotated[TABLE, typer.Argument(help="The table.")],
    qi: Annotated[str, typer.Option(help="Numeric quasi-identifiers, separated by commas.")],
    method: Given,
    crisp: Given,
    fuzzy: Given,
    sensitive: Annotated[str | None, typer.Option(help="Sensitive columns, separated by commas.")] = None,
    output: Annotated[TABLE | None, typer.Option("--output", "-o", help="File or table for the release; nothing else.")] = None,
    chart: Annotated[Path | None, typer.Option(help="File (PNG, SVG, PDF) for the sets, or folder for all charts.")] = None,
    replace_table: REPLACE = False,
    read: Reading = AS_FOUND,
    json: JSON = False,
) -> None:
    """Show the fuzzy sets of numeric columns and what they achieve; with --output, release their labels."""
    models: list[PrivacyModel] = [
        *([KAnonymity(**crisp)] if "k" in crisp else []),
        *([QAnonymity(**fuzzy)] if "q" in fuzzy else []),
    ]
    # Without models there is nothing to look for: three sets.
    usual = {"sets": "auto" if models else 3, "language": current().code}
    wanted = Fuzzy(**{**usual, **method})
    source, quasi, secret = read(table), names(qi), names(sensitive)
    release: Release | None = None
    with progress() as report:
        if output is None or chart is not None:
            result = fuzzify(source, quasi, secret, method=wanted, models=models, progress=report.part(0.0, 0.4))
        # Before the release: none is left behind by charts that cannot be drawn or written.
        beside = {} if chart is None or chart.suffix else _beside(result, source, quasi, wanted, report.part(0.4, 0.5))
        drawing = report.part(0.5, 0.6)
        files = [] if chart is None else save_fuzzy_charts(result, chart, language=current().code, beside=beside, progress=drawing)
        if output is not None:
            columns = [Column(c, "quasi-identifier") for c in quasi] + [Column(c, "sensitive") for c in secret]
            left = report.part(0.0 if chart is None else 0.6, 1.0)
            release = anonymize(
                source, columns, models, wanted, output=output_at(output, replace_table), rest="drop", progress=left
            )
            assert release.found is not None
            result = Fuzzification.of(release.found, models)
    if json:
        written = {
            "output": None if release is None else release.output,
            "manifest": None if release is None else release.manifest_path,
        }
        print_json({**result.as_dict(), **written, "charts": files})
        return
    fuzzy_summary.show(result, source.name)
    if release is not None:
        say()
        say("Release:  {file}", file=release.output)
        say("Manifest: {file}", file=release.manifest_path)
    if files:
        say()
        say("Charts:   {files}", files=", ".join(map(str, files)))


def _beside(result: Fuzzification, source: Source, quasi: list[str], method: Fuzzy, progress: Progress) -> dict[str, Fuzzification]:
    """The same two columns partitioned by every method into as many sets."""
    if len(quasi) != 2:
        return {}
    sets = max(len(p.sets) for p in result.evaluation.fuzzy.partitions) if result.evaluation.fuzzy else 3
    plain_ = replace(method, sets=sets, breakpoints={}, names={}, degrees=None)
    return {
        name: fuzzify(
            source,
            quasi,
            method=replace(plain_, partition=name, joint=method.joint and name != "global-recode"),
            progress=progress.part(i / len(PARTITIONS), (i + 1) / len(PARTITIONS)),
        )
        for i, name in enumerate(PARTITIONS)
    }
