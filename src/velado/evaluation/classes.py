"""The figures of every equivalence class: what it shows, how large it is, what it gives away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from velado.evaluation.pair import Pair
from velado.frequency import Classes, Sensitive
from velado.hierarchies import Cover
from velado.models import Checked, PrivacyModel, checked_figures, compile_rules
from velado.models.base import rules_of
from velado.parameters import build
from velado.results import IF_SET, Discreet, Result
from velado.values import Text


@dataclass(frozen=True, repr=False)
class ClassRow(Discreet):
    """One class as JSON has it."""

    labels: dict[str, Text]
    records: int
    risk: float
    sensitive: dict[str, dict[str, float | None]]
    people: int | None = field(default=None, metadata=IF_SET)


@dataclass(frozen=True, eq=False, repr=False)
class ClassFigures(Result):
    """Equivalence classes, column by column; element i of every array is about class i.

    ``texts[j][codes[i, j]]`` is what class i shows in the quasi-identifier ``columns[j]``; ``people`` counts the different
    people of each class where they are known. ``sensitive`` gives, per column: ``l_distinct``, ``l_entropy``, ``c`` (for
    ``l``; NaN where the class has fewer than ℓ values), ``t_equal``, ``t_ordered`` (if the values have an order),
    ``t_hierarchical`` (with a tree) and ``alpha`` (the share of the most frequent value).
    """

    DOCUMENT: ClassVar[Any] = list[ClassRow]
    columns: tuple[str, ...]
    texts: tuple[tuple[Text, ...], ...]
    codes: np.ndarray
    sizes: np.ndarray
    people: np.ndarray | None
    l: int  # noqa: E741
    sensitive: dict[str, dict[str, np.ndarray]]

    def __len__(self) -> int:
        return len(self.sizes)

    def __eq__(self, other: object) -> bool:
        """The same classes with the same figures, however they are coded."""
        return isinstance(other, ClassFigures) and self.document() == other.document()

    __hash__ = None  # type: ignore[assignment]

    def summary(self) -> dict[str, Any]:
        """How many classes and records there are."""
        return {"classes": len(self), "records": int(self.sizes.sum())}

    def document(self) -> list[dict[str, Any]]:
        """The classes one by one."""
        return list(self.rows())

    @classmethod
    def from_document(cls, document: list[ClassRow]) -> ClassFigures:
        """The classes as arrays; the ℓ of the recursive c is not told there."""
        columns = tuple(document[0].labels) if document else ()
        texts = tuple(tuple(dict.fromkeys(row.labels[c] for row in document)) for c in columns)
        places = {c: {text: i for i, text in enumerate(of)} for c, of in zip(columns, texts, strict=True)}
        codes = [[places[c][row.labels[c]] for c in columns] for row in document]
        known = [row.people for row in document if row.people is not None]
        names = {c: tuple(found) for c, found in document[0].sensitive.items()} if document else {}
        return cls(
            columns,
            texts,
            np.array(codes, dtype=np.int64).reshape(len(document), len(columns)),
            np.array([row.records for row in document], dtype=np.int64),
            np.array(known, dtype=np.int64) if known else None,
            0,
            {
                c: {name: np.array([row.sensitive[c][name] for row in document], dtype=float) for name in figures}
                for c, figures in names.items()
            },
        )

    @property
    def risk(self) -> np.ndarray:
        """How probably a person of each class is guessed right: 1/size, in people where these are known."""
        return np.asarray(1 / (self.sizes if self.people is None else self.people))

    def labels(self, j: int) -> list[Text]:
        """What every class shows in column j."""
        return [self.texts[j][code] for code in self.codes[:, j].tolist()]

    def take(self, chosen: np.ndarray | slice) -> ClassFigures:
        """Some of the classes, in the order given."""
        return replace(
            self,
            codes=self.codes[chosen],
            sizes=self.sizes[chosen],
            people=None if self.people is None else self.people[chosen],
            sensitive={c: {name: array[chosen] for name, array in f.items()} for c, f in self.sensitive.items()},
        )

    def smallest_first(self) -> ClassFigures:
        """All classes, the riskiest first; those of one size stay in order."""
        return self.take(np.argsort(self.sizes if self.people is None else self.people, kind="stable"))

    def header(self) -> list[str]:
        """Names of the cells of `lines`; figures of a sensitive column as ``t_equal(diagnosis)``."""
        people = [] if self.people is None else ["people"]
        figures = [f"{name}({column})" for column, found in self.sensitive.items() for name in found]
        return [*self.columns, "records", *people, "risk", *figures]

    def lines(self) -> Iterator[tuple[Any, ...]]:
        """Each class as plain values, in the order of `header`; None where a figure does not exist."""
        people = [] if self.people is None else [self.people.tolist()]
        figures = [_plain(array) for found in self.sensitive.values() for array in found.values()]
        labels = (self.labels(j) for j in range(len(self.columns)))
        return zip(*labels, self.sizes.tolist(), *people, self.risk.tolist(), *figures, strict=True)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Each class as a JSON-ready mapping."""
        width = len(self.columns)
        people = () if self.people is None else ("people",)
        for line in self.lines():
            cells = iter(line[width:])
            row: dict[str, Any] = {"labels": dict(zip(self.columns, line[:width], strict=True))}
            row |= {name: next(cells) for name in ("records", *people, "risk")}
            row["sensitive"] = {c: {name: next(cells) for name in found} for c, found in self.sensitive.items()}
            yield row


def class_figures(
    classes: Classes, covers: Sequence[Cover], labels: np.ndarray, order: int = 2, people: np.ndarray | None = None
) -> ClassFigures:
    """The figures of classes that show the labels given, as in ``class_figures(classes, *classes.labels_at(levels))``.

    ``labels[i, j]`` is the label of class i in column j, a number of ``covers[j].labels``; ``order`` is the ℓ of the
    recursive c; ``people`` the different people of each class. One pass of the compiled judge: O(classes × figures), plus
    the number of sensitive values for ordered and hierarchical distances.
    """
    from velado.kernels.measures import judge

    columns = [s for s in classes.frequency.sensitive if not s.others]
    named = [(s.column, name, model) for s in columns for name, model in class_models(s, order).items()]
    models = [model for _, _, model in named]
    figures: dict[int, np.ndarray] = {}
    if models:
        rules = rules_of(models, columns)
        table = judge(compile_rules(models, columns), classes.sizes, classes.start, classes.values, classes.value_counts)[0]
        # The rule on the sensitive column is a model's last: rules come in the order of their kinds, sizes first.
        figures = {number: row for (number, _), row in zip(rules, table, strict=True)}
    sensitive: dict[str, dict[str, np.ndarray]] = {s.column: {} for s in columns}
    for number, (column, name, model) in enumerate(named):
        sensitive[column][name] = _figure(name, model, figures[number])
    return ClassFigures(
        tuple(cover.hierarchy.column for cover in covers),
        tuple(cover.labels for cover in covers),
        np.asarray(labels),
        classes.sizes,
        people,
        order,
        sensitive,
    )


def released_figures(pair: Pair, order: int = 2) -> ClassFigures:
    """The figures of the classes of a release as its readers see them; those of `public` pairs may be known to everybody."""
    first = np.unique(pair.shown_as, return_index=True)[1]
    people = None if pair.people is None else pair.people.classes
    return class_figures(pair.visible_classes, pair.covers, pair.labels[first], order, people)


def class_models(attribute: Sensitive, order: int, by_class: bool = True) -> dict[str, PrivacyModel]:
    """The models whose figures a sensitive column has, by the names of the figures; only those told of single classes."""
    has = {"": True, "order": attribute.disorder is None, "tree": attribute.tree is not None}
    return {
        name: build(model, _arguments(attribute, figure, order), name)
        for name, (model, figure) in checked_figures().items()
        if has[figure.needs] and (figure.by_class or not by_class)
    }


def _arguments(attribute: Sensitive, figure: Checked, order: int) -> dict[str, Any]:
    return {"column": attribute.column, **figure.arguments, **({"l": order} if figure.ranked else {})}


def _figure(name: str, model: PrivacyModel, measured: np.ndarray) -> np.ndarray:
    """What a model tells of each class, from the figures of its rule: classes share few different ones."""
    if checked_figures()[name][1].part is None:
        figures, place = np.unique(measured, return_inverse=True)
        measured = np.array([model.achieved_level([float(x)]) if np.isfinite(x) else x for x in figures])[place.reshape(-1)]
    return measured if measured.dtype.kind == "i" else np.where(np.isfinite(measured), measured, np.nan)


def _plain(array: np.ndarray) -> list[Any]:
    if array.dtype.kind == "i" or not np.isnan(array).any():
        return list(array.tolist())
    return [None if missing else value for value, missing in zip(array.tolist(), np.isnan(array), strict=True)]
