"""A comparison of settings as pages show it: its figures, what the original has instead, its curves, the best setting.

Results come from the service as JSON, without what who looks may not see: a figure may be absent, or a text ("fewer than 3").
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from velado.choices import kind_of
from velado.evaluation import CONDITIONS, Setting
from velado.evaluation.kolmogorov import KEPT
from velado.models import checked_figures, figure_title
from velado.report import charts
from velado.report.chapters.subject import limit_in_words, parameter_label
from velado.report.charts import Best, Chart, Level, Point
from velado.results import Discreet
from velado.sentences import Sentence
from velado.studio.words import Words

Number = float | int | str | None
SHARES = ("suppressed", "risk-highest", "risk-average", "at-risk", "query-error")
COUNTS = ("singled-out", "smallest-class", "classes", "discernibility")
MAIN = (
    "loss",
    "suppressed",
    "risk-highest",
    "risk-average",
    "at-risk",
    "classes",
    "smallest-class",
    "average-class-size",
    "query-error",
)
"""What is shown of many figures unless all are wanted."""
TERMS = {
    "risk-highest": "highest-risk",
    "risk-average": "marketer-risk",
    "classes": "equivalence-class",
    "smallest-class": "k-anonymity",
    "entropy": "entropy-loss",
    "generalized-loss": "generalized-information-loss",
    "ks": "kolmogorov-smirnov",
}
"""Terms of the glossary for figures that have another name there."""
ORIGINAL: Mapping[str, float | str] = {
    "loss": 0.0,
    "loss-mean": 0.0,
    "generalized-loss": 0.0,
    "entropy": 0.0,
    "precision": 1.0,
    "suppressed": 0.0,
    "query-error": 0.0,
    "risk-highest": "before.risk.highest",
    "risk-average": "before.risk.average",
    "at-risk": "before.risk.at_risk",
    "singled-out": "risk.singled_out_before",
    "smallest-class": "before.k",
    "classes": "before.classes",
    "average-class-size": "before.class_size.mean",
}
"""What the original has of a figure: a number, or where it stands in an evaluation."""
MOST_SERIES = 6
HEIGHT, TALL = 230, 320
KS = "ks"


@dataclass(frozen=True)
class Figure:
    """A figure of all settings: where it stands in an evaluation, how it is written, and where that of the original is."""

    name: str
    title: str
    at: tuple[str, ...]
    meaning: str = ""
    kind: str = "number"
    main: bool = False
    term: str = ""
    before: float | tuple[str, ...] | None = None

    def of(self, evaluation: Mapping[str, Any] | None) -> Number:
        """The figure of an evaluation; None if it has none."""
        found = _at(evaluation, self.at)
        if self.name != "suppressed" or isinstance(found, str) or found is None:
            return found
        rows = _at(evaluation, ("rows",))
        return found / rows if isinstance(rows, (int, float)) and rows else None

    def original(self, evaluation: Mapping[str, Any] | None) -> Number:
        """The figure of the original, as an evaluation says it."""
        return _at(evaluation, self.before) if isinstance(self.before, tuple) else self.before

    def text(self, value: Number, words: Words) -> str:
        """A value as it is read."""
        if self.kind == "share":
            return words.percent(value, 2)
        return words.integer(value) if self.kind == "count" else words.number(value, 4)


@dataclass(frozen=True, repr=False)
class SettingRow(Discreet):
    """A setting: what it varies, and what came of it; ``number`` is its place in the comparison."""

    number: int
    setting: Setting
    evaluation: Mapping[str, Any] | None
    title: str
    reason: str = ""

    @property
    def parameters(self) -> dict[str, Any]:
        """What it varies."""
        return self.setting.parameters

    @property
    def levels(self) -> str:
        """The level of each quasi-identifier, where one holds for a whole column."""
        return " ".join(str(level) for level in (self.setting.levels or {}).values())


class Compared:
    """The settings of a comparison or of a balance."""

    def __init__(self, result: Mapping[str, Any], words: Words) -> None:
        self.words, self.result = words, result
        said = result.get("comparison") or result
        self.parameters: list[str] = list(said.get("parameters") or ())
        self.rows = [self._row(i, one) for i, one in enumerate(said.get("settings") or ())]

    def _row(self, number: int, said: Mapping[str, Any]) -> SettingRow:
        given = dict(said.get("parameters") or {})
        setting = Setting(given, levels=said.get("levels"), efficient=bool(said.get("efficient")))
        reason = Sentence(str(said.get("reason") or "")).into(self.words.code)
        return SettingRow(number, setting, said.get("evaluation"), self.title(given), reason)

    @cached_property
    def solutions(self) -> list[SettingRow]:
        """The settings that have a recoding."""
        return [row for row in self.rows if row.evaluation is not None]

    def title(self, parameters: Mapping[str, Any]) -> str:
        """A setting in a few words."""
        return ", ".join(format_parameter(name, value, self.words) for name, value in parameters.items())

    # Figures

    @cached_property
    def figures(self) -> list[Figure]:
        """All figures that some setting has, as the catalog describes them."""
        found = [_measure(entry) for entry in kind_of("measures").entries(self.words.code) if entry["at"] and entry["name"] != KS]
        found += [*self._tests(), *self._answers(), *self._privacy()]
        return [one for one in found if any(one.of(row.evaluation) is not None for row in self.solutions)]

    def table_figures(self, everything: bool) -> list[Figure]:
        """The figures of the table: the main ones, or all; the main ones first."""
        order = {name: at for at, name in enumerate(MAIN)}
        wanted = [one for one in self.figures if one.main or everything]
        return sorted(wanted, key=lambda one: order.get(one.name, len(MAIN) + (one.at[0] != KS)))

    @property
    def tests(self) -> list[Figure]:
        """The p-values, one for each column that was tested."""
        return [one for one in self.figures if one.at[0] == KS]

    def _columns(self, part: str, *inside: str) -> list[str]:
        """The columns that a part of some evaluation has."""
        names: dict[str, None] = {}
        for row in self.solutions:
            found = row.evaluation or {}
            for key in (part, *inside):
                found = found.get(key) or {}
            names |= dict.fromkeys(found)
        return list(names)

    def _tests(self) -> Iterable[Figure]:
        for column in self._columns(KS):
            yield Figure(f"ks {column}", f"{column}: p", (KS, column, "p"), main=True, term="kolmogorov-smirnov")

    def _answers(self) -> Iterable[Figure]:
        for column in self._columns("aggregates"):
            title = self.words("{column}: mean", column=column)
            at, before = ("aggregates", column, "after", "mean_midpoint"), ("aggregates", column, "before", "mean")
            yield Figure(f"mean {column}", title, at, term="aggregates", before=before)

    def _privacy(self) -> Iterable[Figure]:
        """What `check` measures of each sensitive column."""
        for column in self._columns("after", "sensitive"):
            for name, (model, _) in checked_figures().items():
                title = f"{column}: {figure_title(name, self.rank).into(self.words.code)}"
                at, before = ("after", "sensitive", column, name), ("before", "sensitive", column, name)
                yield Figure(f"{name} {column}", title, at, term=f"models.{model.name}", before=before)

    @cached_property
    def rank(self) -> int:
        """The ℓ of the recursive c that was measured."""
        found = [_at(row.evaluation, ("after", "l")) for row in self.solutions]
        return next((int(one) for one in found if isinstance(one, (int, float))), 2)

    @cached_property
    def original(self) -> Mapping[str, Any] | None:
        """An evaluation that says what the original has."""
        return next((row.evaluation for row in self.solutions if (row.evaluation or {}).get("before")), None) or (
            self.solutions[0].evaluation if self.solutions else None
        )

    def sort_rows(self, by: str, down: bool) -> list[SettingRow]:
        """The settings by a parameter or a figure; those without it come last."""
        figure = next((one for one in self.figures if one.name == by), None)
        if figure is None and by not in self.parameters:
            return self.rows

        def key(row: SettingRow) -> Any:
            value = row.parameters.get(by) if figure is None else figure.of(row.evaluation)
            return value

        known = [row for row in self.rows if isinstance(key(row), (int, float))]
        words = [row for row in self.rows if isinstance(key(row), str)]
        rest = [row for row in self.rows if key(row) is None]
        return [*sorted(known, key=key, reverse=down), *sorted(words, key=key, reverse=down), *rest]

    # Curves

    @cached_property
    def axes(self) -> list[str]:
        """Parameters that curves can be drawn against: numbers, and more than one."""
        return [name for name in self.parameters if _numbers({row.parameters.get(name) for row in self.solutions})]

    def curve(
        self, figure: Figure, axis: str, best: SettingRow | None = None, limit: Level | None = None, wide: bool = False
    ) -> Picture:
        """A figure against a parameter, the others as series, the original as a level."""
        series: dict[str, list[tuple[float, float]]] = {}
        for row in self.solutions:
            value = figure.of(row.evaluation)
            if isinstance(value, (int, float)):
                others = self.title({name: one for name, one in row.parameters.items() if name != axis})
                series.setdefault(others, []).append((float(row.parameters[axis]), float(value)))
        return self._draw(figure.title, figure, series, axis, best, limit, wide)

    def p_value_curve(self, axis: str, best: SettingRow | None = None, limit: float = KEPT, wide: bool = False) -> Picture | None:
        """The p-value of every column against a parameter (the smallest one, where other parameters vary, too), and the limit."""
        tests = self.tests
        if not tests:
            return None
        series: dict[str, list[tuple[float, float]]] = {}
        alone = len(self.parameters) == 1
        for row in self.solutions:
            found = {test.at[1]: test.of(row.evaluation) for test in tests}
            known = {column: p for column, p in found.items() if isinstance(p, (int, float))}
            if not alone and known:
                known = {self.title({n: v for n, v in row.parameters.items() if n != axis}): min(known.values())}
            for name, p in known.items():
                series.setdefault(name, []).append((float(row.parameters[axis]), float(p)))
        if not series:
            return None
        title = self.words.term("kolmogorov-smirnov").title if alone else self.words("Smallest Kolmogorov–Smirnov p-value")
        level = Level(self.words("kept from {limit}", limit=self.words.number(limit)), limit, "limit")
        return self._draw(title, tests[0], series, axis, best, level, wide, y="p")

    def _draw(
        self,
        title: str,
        figure: Figure,
        series: Mapping[str, list[tuple[float, float]]],
        axis: str,
        best: SettingRow | None,
        limit: Level | None,
        wide: bool,
        y: str = "",
    ) -> Picture:
        words, across = self.words, label(axis, self.words)
        drawn = {name: sorted(points) for name, points in list(series.items())[:MOST_SERIES]}
        before = figure.original(self.original)
        levels = [Level(words("original"), float(before))] if isinstance(before, (int, float)) else []
        levels += [limit] if limit is not None else []
        mark = None if best is None else self._best(best, axis, drawn, figure)
        chart = charts.lines_with_levels(
            drawn,
            across,
            y or figure.title,
            words.language,
            levels,
            mark,
            "container",
            TALL if wide else HEIGHT,
            figure.kind == "share",
            bool(y),
        )
        several = len(drawn) > 1
        rows = [
            [words.number(x, 4), *([name] if several else []), figure.text(value, words)]
            for name, points in drawn.items()
            for x, value in points
        ]
        head = [across, *([words("Series")] if several else []), title]
        more = [[level.name, *([""] if several else []), figure.text(level.value, words)] for level in levels]
        alone = "" if several else next(iter(drawn), "")
        return Picture(f"{title} ({alone})" if alone and not y else title, chart, [head, *rows, *more])

    def _best(self, best: SettingRow, axis: str, drawn: Mapping[str, Sequence[tuple[float, float]]], figure: Figure) -> Best | None:
        x = best.parameters.get(axis)
        if not isinstance(x, (int, float)):
            return None
        heights = [y for points in drawn.values() for at, y in points if at == float(x)]
        own = figure.of(best.evaluation)
        shown = min(heights) if figure.at[0] == KS and heights else own if isinstance(own, (int, float)) else None
        return Best(format_parameter(axis, x, self.words), float(x), shown)

    def frontier(self, this: Mapping[str, Any] | None = None) -> Picture | None:
        """Loss against average risk; ``this`` is the evaluation of a release."""
        say, points = self.words.say, []
        rows = [[say("Setting"), say("average risk"), say("loss"), say("efficient")]]
        for row in self.solutions:
            risk, loss = (_at(row.evaluation, path) for path in (("risk", "average"), ("utility", "loss")))
            if isinstance(risk, (int, float)) and isinstance(loss, (int, float)):
                kind = "efficient" if row.setting.efficient else "other"
                points.append(Point(row.title, risk, loss, kind))
                sure = say("yes" if row.setting.efficient else "no")
                rows.append([row.title, self.words.percent(risk, 2), self.words.number(loss, 4), sure])
        if len(points) < 2:
            return None
        risk, loss = (_at(this, path) for path in (("risk", "average"), ("utility", "loss")))
        if isinstance(risk, (int, float)) and isinstance(loss, (int, float)):
            points.append(Point("", risk, loss, "this"))
        chart = charts.frontier(points, self.words.language, "container", TALL)
        return Picture(say("Risk and loss"), chart, rows)


@dataclass(frozen=True)
class Picture:
    """A chart with its title and its figures."""

    title: str
    chart: Chart
    figures: list[list[str]]


@dataclass(frozen=True)
class Kept:
    """A condition of a balance."""

    name: str
    title: str
    sign: str
    limit: float

    def value(self, evaluation: Mapping[str, Any] | None) -> Number:
        """The figure that it limits; of several p-values the smallest."""
        if self.name == KS:
            found = [one.get("p") for one in ((evaluation or {}).get(KS) or {}).values()]
            known = [p for p in found if isinstance(p, (int, float))]
            return min(known) if known else None
        return _figure_named(self.name).of(evaluation)

    def text(self, words: Words) -> str:
        """The condition in a few words."""
        return f"{self.title} {self.sign} {self.format_value(self.limit, words)}"

    def format_value(self, value: Number, words: Words) -> str:
        """A value of the figure as it is read."""
        return _figure_named(self.name).text(value, words)


def conditions(given: Mapping[str, float], words: Words) -> list[Kept]:
    """The conditions of a balance."""
    titles = {entry["name"]: entry["title"] for entry in kind_of("conditions").entries(words.code)}
    return [
        Kept(name, titles[name], "≥" if CONDITIONS[name].at_least else "≤", limit)
        for name, limit in given.items()
        if name in titles
    ]


def _figure_named(name: str) -> Figure:
    """The figure of the catalog with a name."""
    return _measure(next(entry for entry in kind_of("measures").entries("en") if entry["name"] == name))


def _measure(entry: Mapping[str, Any]) -> Figure:
    name, before = entry["name"], ORIGINAL.get(entry["name"])
    kind = "share" if name in SHARES else "count" if name in COUNTS else "number"
    return Figure(
        name,
        upper(entry["title"]),
        tuple(entry["at"].split(".")),
        entry["meaning"],
        kind,
        name in MAIN,
        TERMS.get(name, name),
        tuple(before.split(".")) if isinstance(before, str) else before,
    )


def _at(found: Any, path: Sequence[str]) -> Number:
    for key in path:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found if isinstance(found, (int, float, str)) and not isinstance(found, bool) else None


def _numbers(values: set[Any]) -> bool:
    return len(values) > 1 and all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)


def upper(text: str) -> str:
    """A text at the beginning of a line."""
    return text[:1].upper() + text[1:]


def label(name: str, words: Words) -> str:
    """What a parameter of a comparison is called."""
    return parameter_label(words.language, name)


def format_value(name: str, value: Any, words: Words) -> str:
    """A value of a parameter as it is read."""
    if name == "suppression":
        return limit_in_words(value, words.language)
    return words.number(value, 4) if isinstance(value, (int, float)) else str(value)


def format_parameter(name: str, value: Any, words: Words) -> str:
    """A parameter with its value."""
    return f"{label(name, words)} = {format_value(name, value, words)}"
