"""``velado fuzzy``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from velado import (
    Column,
    Fuzzification,
    Fuzzy,
    InputError,
    KAnonymity,
    QAnonymity,
    Release,
    Source,
    anonymize,
    fuzzify,
    save_fuzzy_charts,
)
from velado.cli import fuzzy_summary
from velado.cli.language import current
from velado.cli.reading import AS_FOUND, Reading, reads_tables
from velado.cli.terminal import (
    JSON,
    names,
    print_json,
    progress,
    say,
)
from velado.progress import Progress
from velado.sentences import Sentence

PARTITIONS = ("k-means", "global-recode", "c-means", "gustafson-kessel")


@reads_tables
def command(
    table: Annotated[Path, typer.Argument(help="The table.")],
    qi: Annotated[str, typer.Option(help="Numeric quasi-identifiers, separated by commas.")],
    sensitive: Annotated[str | None, typer.Option(help="Sensitive columns, separated by commas.")] = None,
    partition: Annotated[
        str, typer.Option(help="How the sets are found: c-means, gustafson-kessel, k-means or global-recode.")
    ] = "c-means",
    joint: Annotated[bool, typer.Option("--joint", help="Partition all columns together.")] = False,
    sets: Annotated[
        str | None, typer.Option(help="Number of sets, or auto: the most with which --k and --q hold.")
    ] = None,
    breakpoints: Annotated[
        list[str] | None, typer.Option(help="COLUMN=25,40,60: sets drawn by hand; may be repeated.")
    ] = None,
    shape: Annotated[
        str, typer.Option(help="Shape of the sets drawn by hand: triangular or trapezoidal.")
    ] = "triangular",
    set_names: Annotated[
        list[str] | None, typer.Option("--names", help="COLUMN=young,grown,old: names of the sets; may be repeated.")
    ] = None,
    intervals: Annotated[
        str, typer.Option(help="Intervals of global recode: equalAmount, equidistant or logEqui.")
    ] = "equalAmount",
    outliers: Annotated[str, typer.Option(help="Outliers of global recode: keep, lowest or fences.")] = "keep",
    degrees: Annotated[int | None, typer.Option(help="Write degrees of membership with so many decimals.")] = None,
    k: Annotated[int | None, typer.Option(help="Require k-anonymity of the labels.")] = None,
    q: Annotated[int | None, typer.Option(help="Require Q-anonymity of the fuzzy classes.")] = None,
    possibility: Annotated[float, typer.Option(help="The possibility that Q-anonymity needs.")] = 0.5,
    aggregation: Annotated[
        str, typer.Option(help="How possibilities of classes become one: mean, minimum, median, maximum or product.")
    ] = "mean",
    suppression: Annotated[float, typer.Option(help="Share of the records that may be suppressed.")] = 0.0,
    seed: Annotated[int, typer.Option(help="Seed of the starts.")] = 0,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File for the release; nothing else.")] = None,
    chart: Annotated[
        Path | None, typer.Option(help="File (PNG, SVG, PDF) for the sets, or folder for all charts.")
    ] = None,
    read: Reading = AS_FOUND,
    json: JSON = False,
) -> None:
    """Show the fuzzy sets of numeric columns and what they achieve; with --output, release their labels."""
    models = [
        *([] if k is None else [KAnonymity(k)]),
        *([] if q is None else [QAnonymity(q, possibility, aggregation)]),
    ]
    method = Fuzzy(
        partition=partition,
        joint=joint,
        sets=_sets(sets, bool(models)),
        breakpoints={c: _numbers(c, v) for c, v in _lists(breakpoints, "--breakpoints").items()},
        shape=shape,
        names=_lists(set_names, "--names"),
        intervals=intervals,
        outliers=outliers,
        degrees=degrees,
        suppression=suppression,
        language=current().code,
        seed=seed,
    )
    source, quasi, secret = read(table), names(qi), names(sensitive)
    release: Release | None = None
    with progress() as report:
        if output is None or chart is not None:
            result = fuzzify(source, quasi, secret, method=method, models=models, progress=report.part(0.0, 0.4))
        # Before the release: none is left behind by charts that cannot be drawn or written.
        beside = {} if chart is None or chart.suffix else _beside(result, source, quasi, method, report.part(0.4, 0.5))
        drawing = report.part(0.5, 0.6)
        files = (
            []
            if chart is None
            else save_fuzzy_charts(result, chart, language=current().code, beside=beside, progress=drawing)
        )
        if output is not None:
            columns = [Column(c, "quasi-identifier") for c in quasi] + [Column(c, "sensitive") for c in secret]
            left = report.part(0.0 if chart is None else 0.6, 1.0)
            release = anonymize(source, columns, models, method, output=output, rest="drop", progress=left)
            assert release.found is not None
            result = Fuzzification.of(release.found, models)
    if json:
        written = {"output": output, "manifest": None if release is None else release.manifest_path}
        print_json({**result.as_dict(), **written, "charts": files})
        return
    fuzzy_summary.show(result, str(table))
    if release is not None:
        say()
        say("Release:  {file}", file=release.output)
        say("Manifest: {file}", file=release.manifest_path)
    if files:
        say()
        say("Charts:   {files}", files=", ".join(map(str, files)))


def _sets(text: str | None, required: bool) -> Any:
    """Without models there is nothing to look for: three sets."""
    if text is None:
        return "auto" if required else 3
    return int(text) if text.isdecimal() else text


def _lists(options: list[str] | None, name: str) -> dict[str, list[str]]:
    found = {}
    for option in options or []:
        column, sign, values = option.partition("=")
        if not sign or not names(values):
            raise InputError(
                "bad-option", Sentence("{option} takes COLUMN=VALUE,VALUE,…, got {got!r}", option=name, got=option)
            )
        if column in found:
            raise InputError("bad-option", Sentence("{option} names the column twice", option=name), column=column)
        found[column] = names(values)
    return found


def _numbers(column: str, texts: list[str]) -> list[float]:
    try:
        return [float(text) for text in texts]
    except ValueError:
        raise InputError("bad-option", "--breakpoints takes numbers", column=column, values=texts) from None


def _beside(
    result: Fuzzification, source: Source, quasi: list[str], method: Fuzzy, progress: Progress
) -> dict[str, Fuzzification]:
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
