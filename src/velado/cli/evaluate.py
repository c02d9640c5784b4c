"""``velado evaluate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from velado import Evaluation, evaluate
from velado.cli import fuzzy_summary
from velado.cli.exposure import headline, show_keys, show_narrowing
from velado.cli.language import current, translate_plain
from velado.cli.table_options import AS_FOUND, TABLE, Reading, reads_tables
from velado.cli.terminal import JSON, VARIANTS, figure, files, names, percent, plain, print_json, progress, say, table
from velado.cli.verdicts import AGAINST_ALL, show_verdicts
from velado.evaluation import MEASURES, MORE
from velado.evaluation.risk import THRESHOLD, required_size
from velado.evaluation.shown import UTILITY, risk_figures, utility_title
from velado.models import figure_title, model_from
from velado.sentences import Sentence

SHOWN_SETS = 20


@reads_tables
def command(
    original: Annotated[TABLE | None, typer.Argument(help="The original table; the project's source if not given.")] = None,
    release: Annotated[TABLE | None, typer.Argument(help="Its release; the project's output if not given.")] = None,
    qi: Annotated[str | None, typer.Option(help="Quasi-identifiers, separated by commas.")] = None,
    sensitive: Annotated[str | None, typer.Option(help="Sensitive columns, separated by commas.")] = None,
    hierarchy: Annotated[list[str] | None, typer.Option(help="COLUMN=FILE: the hierarchy of a column; may be repeated.")] = None,
    project: Annotated[Path | None, typer.Option(help="Project file that says roles, hierarchies and models.")] = None,
    measures: Annotated[
        str | None, typer.Option(help=Sentence("Only these, separated by commas: {names}.", names=", ".join((*MEASURES, *MORE))))
    ] = None,
    target: Annotated[str | None, typer.Option(help="Column to predict, for learning utility.")] = None,
    population: Annotated[TABLE | None, typer.Option(help="Population table, for the journalist's risk.")] = None,
    weights: Annotated[str | None, typer.Option(help="Column of sample weights, for individual risk.")] = None,
    fraction: Annotated[
        float | None, typer.Option(help="Share of the population that was sampled, for population uniqueness.")
    ] = None,
    l: Annotated[int, typer.Option(help="The ℓ for which the recursive c is given.")] = 2,  # noqa: E741
    queries: Annotated[int, typer.Option(min=1, help="Number of random COUNT queries.")] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the random queries and of the learning folds.")] = 0,
    variants: VARIANTS = "fold",
    read: Reading = AS_FOUND,
    json: JSON = False,
) -> None:
    """Measure what a release lost and what risk is left, whoever made it: any original and any release."""
    every = (original, release, population)
    with progress() as report:
        result = evaluate(
            read(original, *every),
            read.release(release, *every),
            names(qi),
            names(sensitive),
            hierarchies=files(hierarchy, "--hierarchy"),
            project=project,
            measures=None if measures is None else names(measures),
            target=target,
            population=read(population, *every),
            weights=weights,
            fraction=fraction,
            l=l,
            queries=queries,
            seed=seed,
            variants=variants,
            progress=report,
        )
    if json:
        print_json(result.as_dict())
    else:
        _show(result)


def _show(e: Evaluation) -> None:
    starred = Sentence(", {n:,} of them as rows of *", n=e.starred) if e.starred else ""
    say(
        "{released:,} of {rows:,} records released, {suppressed:,} suppressed ({share:.1%}{starred})",
        released=e.released,
        rows=e.rows,
        suppressed=e.suppressed,
        share=e.suppressed / e.rows,
        starred=starred,
    )
    if e.suppressed:
        say(AGAINST_ALL)
    u, r = e.utility, e.risk
    measured = [(utility_title(name, current()), getattr(u, name)) for name in UTILITY]
    table("Utility (0 = nothing lost)", [(title, value) for title, value in measured if value is not None])
    lines = [(n, c.loss, c.precision, c.generalized_loss, c.entropy, c.values_before, c.values_after) for n, c in e.columns.items()]
    table("By column", lines, ("column", "loss", "precision", "GenILoss", "entropy", "values before", "after"))
    _show_privacy(e)
    fuzzy_summary.measures(e)
    k = required_size([model_from(v.name, v.required) for v in e.models])
    lines_of_risk: list[tuple[Any, ...]] = []
    for one in risk_figures(None, r, k, THRESHOLD, current()):
        told = percent(one.after) if one.is_share else translate_plain("{a:,} → {b:,}", a=one.before, b=one.after)
        lines_of_risk.append((one.title, told))
    lines_of_risk += headline(e.exposure)
    if e.journalist:
        j = e.journalist
        lines_of_risk += [
            (Sentence("journalist risk, highest"), percent(j.highest)),
            (Sentence("journalist risk, average"), percent(j.average)),
        ]
    table("Risk of the released records", lines_of_risk)
    show_keys(e.exposure)
    show_narrowing(e.exposure)
    _show_subsets(e)
    _show_samples(e)
    _show_numbers(e)
    if e.queries:
        q = e.queries
        say()
        say(
            "COUNT queries ({n:,}, seed {seed}): mean relative error {mean:.2%}, median {median:.2%}",
            n=q.queries,
            seed=q.seed,
            mean=q.mean,
            median=q.median,
        )
    if e.learning:
        x = e.learning
        scores = [
            (Sentence(name), x.original[name].accuracy, x.released[name].accuracy, x.original[name].auc, x.released[name].auc)
            for name in x.original
        ]
        table(
            Sentence(
                "Predicting {column} ({records:,} records, {folds} folds; majority {majority})",
                column=plain(x.target),
                records=x.records,
                folds=x.folds,
                majority=figure(x.majority),
            ),
            scores,
            ("classifier", "accuracy: original", "released", "AUC: original", "released"),
        )
    if e.models:
        show_verdicts("Models", e.models)


def _show_privacy(e: Evaluation) -> None:
    if e.before is None or e.after is None:
        return
    lines: list[tuple[Any, ...]] = [("k", e.before.k, e.after.k), (Sentence("classes"), e.before.classes, e.after.classes)]
    for column, measured in e.before.sensitive.items():
        lines += [
            (
                translate_plain("{column}: {measure}", column=column, measure=figure_title(name, e.before.l)),
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
                (Sentence("mean"), percent(b.mean, 4), percent(a.mean, 4)),
                (Sentence("highest"), percent(b.highest), percent(a.highest)),
                (Sentence("expected re-identifications"), b.expected_reidentifications, a.expected_reidentifications),
                (Sentence("at higher risk than the main part"), b.higher, a.higher),
                (Sentence("… and above 10 %"), b.higher_and_above_threshold, a.higher_and_above_threshold),
            ],
            ("", "before", "after"),
        )
    if e.uniqueness:
        pairs = [
            (m, getattr(e.uniqueness["before"], m), getattr(e.uniqueness["after"], m))
            for m in ("zayatz", "pitman", "snb", "dankar")
        ]
        shown = [(m, *("–" if x is None else percent(x, 4) for x in both)) for m, *both in pairs]
        table("Unique in the population, share of its records", shown, ("model", "before", "after"))


def _show_subsets(e: Evaluation) -> None:
    if not e.subsets:
        return
    lines = [
        (", ".join(map(plain, s.columns)), s.before.singled_out, s.after.singled_out, s.before.smallest, s.after.smallest)
        for s in e.subsets[:SHOWN_SETS]
    ]
    head = ("columns", "singled out: before", "after", "smallest group: before", "after")
    table("Sets of quasi-identifiers", lines, head)


def _show_numbers(e: Evaluation) -> None:
    for column, a in (e.aggregates or {}).items():
        b, x = a.before, a.after
        table(
            Sentence("Answers about {column}", column=plain(column)),
            [
                (Sentence("minimum"), b.min, x.min),
                (Sentence("maximum"), b.max, x.max),
                (Sentence("mean (by midpoint)"), b.mean, x.mean_midpoint),
                (Sentence("mean (by lower bound)"), b.mean, x.mean_lower),
                (
                    Sentence("mode"),
                    translate_plain("{mode} ({n:,})", mode=figure(b.mode), n=b.mode_count),
                    translate_plain("{mode} ({n:,})", mode=x.mode, n=x.mode_count),
                ),
            ],
            ("", "before", "after"),
        )
    tests = [
        (c, k.statistic, k.p, Sentence("kept") if k.kept else Sentence("not kept"), Sentence(k.by)) for c, k in (e.ks or {}).items()
    ]
    if tests:
        table("Distribution kept? (Kolmogorov–Smirnov, kept = p ≥ 0.95)", tests, ("column", "D", "p", "", "by"))
