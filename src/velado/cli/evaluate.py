"""``velado evaluate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from velado import MEASURES, Evaluation, evaluate
from velado.cli import fuzzy_summary
from velado.cli.reading import AS_FOUND, Reading, reads_tables
from velado.cli.terminal import (
    JSON,
    TWINS,
    figure,
    files,
    names,
    plain,
    print_json,
    progress,
    say,
    table,
    told,
)
from velado.cli.verdicts import show_verdicts
from velado.models import figure_title


@reads_tables
def command(
    original: Annotated[
        Path | None, typer.Argument(help="The original table; the project's source if not given.")
    ] = None,
    release: Annotated[Path | None, typer.Argument(help="Its release; the project's output if not given.")] = None,
    qi: Annotated[str | None, typer.Option(help="Quasi-identifiers, separated by commas.")] = None,
    sensitive: Annotated[str | None, typer.Option(help="Sensitive columns, separated by commas.")] = None,
    hierarchy: Annotated[
        list[str] | None, typer.Option(help="COLUMN=FILE: the hierarchy of a column; may be repeated.")
    ] = None,
    project: Annotated[Path | None, typer.Option(help="Project file that says roles, hierarchies and models.")] = None,
    measures: Annotated[
        str | None, typer.Option(help="Only these, separated by commas: " + ", ".join(MEASURES) + ".")
    ] = None,
    target: Annotated[str | None, typer.Option(help="Column to predict, for learning utility.")] = None,
    population: Annotated[Path | None, typer.Option(help="Population table, for the journalist's risk.")] = None,
    weights: Annotated[str | None, typer.Option(help="Column of sample weights, for individual risk.")] = None,
    fraction: Annotated[
        float | None, typer.Option(help="Share of the population that was sampled, for population uniqueness.")
    ] = None,
    l: Annotated[int, typer.Option(help="The ℓ for which the recursive c is given.")] = 2,  # noqa: E741
    queries: Annotated[int, typer.Option(min=1, help="Number of random COUNT queries.")] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the random queries and of the learning folds.")] = 0,
    twins: TWINS = "fold",
    read: Reading = AS_FOUND,
    json: JSON = False,
) -> None:
    """Measure what a release lost and what risk is left, whoever made it: any original and any release."""
    with progress() as report:
        result = evaluate(
            read(original),
            read.release(release),
            names(qi),
            names(sensitive),
            hierarchies=files(hierarchy, "--hierarchy"),
            project=project,
            measures=None if measures is None else names(measures),
            target=target,
            population=read(population),
            weights=weights,
            fraction=fraction,
            l=l,
            queries=queries,
            seed=seed,
            twins=twins,
            progress=report,
        )
    if json:
        print_json(result.as_dict())
    else:
        _show(result)


def _show(e: Evaluation) -> None:
    starred = f", {e.starred:,} of them as rows of *" if e.starred else ""
    share = e.suppressed / e.rows
    say(f"{e.released:,} of {e.rows:,} records released, {e.suppressed:,} suppressed ({share:.1%}{starred})")
    u, r = e.utility, e.risk
    table(
        "Utility (0 = nothing lost)",
        [
            ("loss (geometric mean)", u.loss),
            ("loss (arithmetic mean)", u.loss_mean),
            ("precision (1 = nothing generalized)", u.precision),
            ("generalized information loss", u.generalized_loss),
            ("entropy loss", u.entropy),
            ("discernibility", u.discernibility),
            ("average class size", u.average_class_size),
        ],
    )
    lines = [
        (n, c.loss, c.precision, c.generalized_loss, c.entropy, c.values_before, c.values_after)
        for n, c in e.columns.items()
    ]
    header = ("column", "loss", "precision", "GenILoss", "entropy", "values before", "after")
    table("By column", lines, header)
    _show_privacy(e)
    fuzzy_summary.measures(e)
    risk = [("highest", r.highest), ("average (marketer)", r.average), ("records above 10 %", r.at_risk)]
    lines_of_risk: list[tuple[Any, ...]] = [(f"prosecutor: {name}", f"{value:.2%}") for name, value in risk]
    lines_of_risk.append(("records singled out", f"{r.singled_out_before:,} → {r.singled_out_after:,}"))
    if r.smaller_than_k_before is not None:
        lines_of_risk.append(
            ("… in groups smaller than k", f"{r.smaller_than_k_before:,} → {r.smaller_than_k_after:,}")
        )
    if e.journalist:
        j = e.journalist
        lines_of_risk += [("journalist: highest", f"{j.highest:.2%}"), ("journalist: average", f"{j.average:.2%}")]
    table("Risk of the released records", lines_of_risk)
    _show_samples(e)
    _show_numbers(e)
    if e.queries:
        q = e.queries
        say()
        say(f"COUNT queries ({q.queries:,}, seed {q.seed}): mean relative error {q.mean:.2%}, median {q.median:.2%}")
    if e.learning:
        x = e.learning
        scores = [
            (name, x.original[name].accuracy, x.released[name].accuracy, x.original[name].auc, x.released[name].auc)
            for name in x.original
        ]
        table(
            f"Predicting {plain(x.target)} ({x.records:,} records, {x.folds} folds; majority {figure(x.majority)})",
            scores,
            ("classifier", "accuracy: original", "released", "AUC: original", "released"),
        )
    if e.models:
        show_verdicts("Models", e.models)


def _show_privacy(e: Evaluation) -> None:
    if e.before is None or e.after is None:
        return
    lines: list[tuple[Any, ...]] = [("k", e.before.k, e.after.k), ("classes", e.before.classes, e.after.classes)]
    for column, measured in e.before.sensitive.items():
        lines += [
            (
                told("{column}: {figure}", column=column, figure=figure_title(name, e.before.l)),
                value,
                e.after.sensitive[column][name],
            )
            for name, value in measured.items()
        ]
    table("Privacy", lines, ("", "before", "after"))


def _show_samples(e: Evaluation) -> None:
    if e.individual:
        b, a = e.individual["before"], e.individual["after"]
        table(
            "Individual risk (Franconi–Polettini)",
            [
                ("mean", f"{b.mean:.4%}", f"{a.mean:.4%}"),
                ("highest", f"{b.highest:.2%}", f"{a.highest:.2%}"),
                ("expected re-identifications", b.expected_reidentifications, a.expected_reidentifications),
                ("at higher risk than the main part", b.higher, a.higher),
                ("… and above 10 %", b.higher_and_above_threshold, a.higher_and_above_threshold),
            ],
            ("", "before", "after"),
        )
    if e.uniqueness:
        pairs = [(m, getattr(e.uniqueness["before"], m), getattr(e.uniqueness["after"], m)) for m in ("zayatz", "pitman", "snb", "dankar")]  # fmt: skip
        shown = [(m, *("–" if x is None else f"{x:.4%}" for x in both)) for m, *both in pairs]
        table("Unique in the population, share of its records", shown, ("model", "before", "after"))


def _show_numbers(e: Evaluation) -> None:
    for column, a in (e.aggregates or {}).items():
        b, x = a.before, a.after
        table(
            f"Answers about {plain(column)}",
            [
                ("minimum", b.min, x.min),
                ("maximum", b.max, x.max),
                ("mean (by midpoint)", b.mean, x.mean_midpoint),
                ("mean (by lower bound)", b.mean, x.mean_lower),
                ("mode", f"{figure(b.mode)} ({b.mode_count:,})", f"{x.mode} ({x.mode_count:,})"),
            ],
            ("", "before", "after"),
        )
    tests = [(c, k.statistic, k.p, "kept" if k.kept else "not kept", k.by) for c, k in (e.ks or {}).items()]
    if tests:
        table("Distribution kept? (Kolmogorov–Smirnov, kept = p ≥ 0.95)", tests, ("column", "D", "p", "", "by"))
