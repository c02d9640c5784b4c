"""What a privacy model is: parameters, capabilities, and rules for the compiled judge."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from velado.declarations import Declaration, Strength
from velado.errors import InputError
from velado.frequency import Classes, Sensitive
from velado.parameters import Parameter, check
from velado.results import IF_SET, Discreet
from velado.sentences import Sentence

CLASS, WHOLE, FUZZY = "class", "whole", "fuzzy"
"""What a model judges: each equivalence class by itself, all released classes together, or fuzzy classes."""
PEOPLE, RELEASED, VALUES, COMPARED = "people", "released", "values", "compared"
"""What the figure of a model tells of: how many people are in a class; by that, too, how many records are released; which
sensitive values are in a class; how they differ from the whole table, which beside a release is an equation for who is not in it."""


@dataclass(frozen=True, repr=False)
class Rule(Discreet):
    """One row of `velado.kernels.measures.Rules`."""

    kind: int
    threshold: float
    sensitive: Sensitive | None = None
    order: int = 0
    scale: float = 1.0
    union_closed: bool = True
    caps: np.ndarray | None = None
    slack: float = 0.0
    tree: tuple[np.ndarray, ...] = field(default=())


@dataclass(frozen=True)
class Checked:
    """A figure that `check` gives of every table: what the model reaches with these arguments.

    ``part`` names the figure among several; ``ranked``: the model's ℓ is the one that was asked for. ``needs``: only
    columns with an ``order`` or a ``tree`` have it. ``none`` says what it means that there is no figure; not ``by_class``: it is told of
    tables only, not of each class.
    """

    title: str
    arguments: Mapping[str, Any]
    part: str | None = None
    ranked: bool = False
    needs: str = ""
    none: str = "none is enough"
    by_class: bool = True


@dataclass(frozen=True)
class PrivacyModel(ABC):
    """A requirement on every equivalence class.

    ``monotone``: generalizing a table that satisfies the model never breaks it. ``hereditary``: every
    part of a violating class violates, so that the suppressed records only become fewer as
    recoding gets coarser. ``relative``: what is reached depends on the whole input, as where classes are compared with its distribution. ``basis``: what is
    judged, one of `CLASS`, `WHOLE`, `FUZZY`. Searches ask these; nothing asks for a model's class.

    ``tells`` is what its figure gives away, one of `PEOPLE`, `RELEASED`, `VALUES`, `COMPARED`: to who may not read records nothing
    is told of a figure that says none of these. ``strength`` are the parameters that decide how strong the model is, the most important first; ``checked`` the figures
    that `check` gives of a sensitive column.
    """

    name: ClassVar[str]
    declaration: ClassVar[Declaration]
    parameters: ClassVar[Mapping[str, Parameter]]
    strength: ClassVar[Mapping[str, Strength]]
    checked: ClassVar[Mapping[str, Checked]] = {}
    basis: ClassVar[str] = CLASS
    tells: ClassVar[str] = ""
    monotone: ClassVar[bool] = True
    hereditary: ClassVar[bool] = False
    relative: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check(self)

    @property
    def sensitive_column(self) -> str | None:
        """The sensitive column that the model protects, if any."""
        return getattr(self, "column", None)

    @property
    def is_monotone(self) -> bool:
        """Whether generalizing keeps this model satisfied, with these parameters."""
        return self.monotone

    @property
    def is_hereditary(self) -> bool:
        """Whether every part of a violating class violates, with these parameters."""
        return self.hereditary

    @property
    def populations(self) -> tuple[str, ...]:
        """Paths of other tables of people that the model compares with."""
        return ()

    def check_column(self, *, tree: bool) -> None:  # noqa: B027
        """Raise unless the sensitive column has what values are compared by; ``tree``: it has a hierarchy."""

    def requirements(self) -> dict[str, Any]:
        """The parameters, for reports."""
        return {name: getattr(self, name) for name in self.parameters}

    def bound(self) -> Any:
        """What every satisfying class achieves at least; for relative models."""
        return getattr(self, next(iter(self.parameters)))

    @abstractmethod
    def rules(self, sensitive: Sensitive | None) -> list[Rule]:
        """The model in numbers for a table whose sensitive column is described."""

    def smallest_class(self) -> int:
        """A size that every satisfying class reaches."""
        return 1

    def achieved_level(self, figures: Sequence[float]) -> Any:
        """The level that the worst class reaches, from the rules' worst figures."""
        return figures[0]


class WholeModel(PrivacyModel):
    """A requirement on everything that is released, which no class can answer for itself.

    It sees the released classes together, what they show (``classes.levels``) and other tables (``populations``). Where
    only single classes are looked at, by methods that cut and in runs in parts, it is refused (`needs_whole`): nothing
    passes it over. If it is ``hereditary``, the records that `keep` leaves out only become fewer as recoding gets coarser.
    """

    basis: ClassVar[str] = WHOLE

    def rules(self, sensitive: Sensitive | None) -> list[Rule]:
        """There are none for single classes."""
        raise needs_whole(self)

    @abstractmethod
    def keep(self, classes: Classes, kept: np.ndarray) -> np.ndarray:
        """Which of the classes that may be released are, so that these satisfy the model; none if none can."""

    @abstractmethod
    def judge(self, classes: Classes) -> Verdict:
        """How classes that are all released stand to the model."""


class OnSensitive(PrivacyModel):
    """A model that protects a sensitive column; ``strict`` joins the other sensitive columns to the QI."""

    column: str
    strict: bool

    def others(self, sensitive_columns: Sequence[str]) -> tuple[str, ...]:
        """The columns that are joined to the quasi-identifiers to judge this model."""
        return tuple(c for c in sensitive_columns if c != self.column) if self.strict else ()


@dataclass(frozen=True)
class Verdict:
    """How a table stands to one model: what was required, what the worst class achieves.

    Not ``exact``: the worst class achieves no less than that, and how much more is not told.
    """

    name: str
    required: dict[str, Any]
    achieved: Any
    satisfied: bool
    exact: bool = field(default=True, metadata=IF_SET)


def attribute_of(model: PrivacyModel, sensitive: Sequence[Sensitive]) -> Sensitive | None:
    """The histogram that a model is judged on."""
    if not isinstance(model, OnSensitive):
        return None
    columns = list(dict.fromkeys(s.column for s in sensitive if not s.unit))
    others = model.others(columns)
    for attribute in sensitive:
        if attribute.column == model.column and attribute.others == others:
            return attribute
    raise InputError(
        "not-sensitive",
        Sentence("{model} protects this column, but its role is not sensitive", model=model.name),
        column=model.column,
        hint="Give the column the role 'sensitive', or name another column in the model.",
    )


def rules_of(models: Sequence[PrivacyModel], sensitive: Sequence[Sensitive]) -> list[tuple[int, Rule]]:
    """All rules with the number of their model, cheapest first; sizes of classes are numbers of people where these are known."""
    rules = [(i, rule) for i, m in enumerate(models) for rule in m.rules(attribute_of(m, sensitive))]
    for people in (s for s in sensitive if s.unit):
        rules = [(i, _of_people(models[i], rule, people)) for i, rule in rules]
    return sorted(rules, key=lambda pair: pair[1].kind)


def _of_people(model: PrivacyModel, rule: Rule, people: Sensitive) -> Rule:
    """A rule on the size of classes as one on the number of their people."""
    from velado.kernels.measures import MASS, SIZE

    if rule.kind == MASS:
        raise InputError(
            "not-on-people",
            Sentence(
                "{model} with 'strict: true' counts the records of parts of classes, and people are to be counted", model=model.name
            ),
            column=people.column,
            hint="Leave out 'strict: true', or write 'person: rows' if every row is a person.",
        )
    return Rule(MASS, rule.threshold, people, scale=float(people.unit)) if rule.kind == SIZE else rule


def compile_rules(models: Sequence[PrivacyModel], sensitive: Sequence[Sensitive]) -> Any:
    """The models as the arrays that the kernels judge with."""
    from velado.kernels.measures import Rules

    rules = [rule for _, rule in rules_of(models, sensitive)]
    expected_at, cap_at, tree_at, size_at = [], [], [], []
    expected: list[np.ndarray] = [np.zeros(0)]
    caps: list[np.ndarray] = [np.zeros(0)]
    tree: list[np.ndarray] = [np.zeros(0, dtype=np.int64)]
    sizes: list[int] = []
    for rule in rules:
        expected_at.append(sum(map(len, expected)))
        expected.append(rule.sensitive.expected if rule.sensitive else np.zeros(0))
        cap_at.append(-1 if rule.caps is None else sum(map(len, caps)))
        caps.append(np.zeros(0) if rule.caps is None else rule.caps)
        tree_at.append(sum(map(len, tree)))
        tree.extend(parents.astype(np.int64) for parents in rule.tree)
        size_at.append(len(sizes))
        if rule.tree:
            sizes.extend([len(p) for p in rule.tree] + [int(rule.tree[-1].max()) + 1])
    whole = np.int64
    return Rules(
        kind=np.array([r.kind for r in rules], dtype=whole),
        threshold=np.array([r.threshold for r in rules], dtype=float),
        first=np.array([r.sensitive.first if r.sensitive else 0 for r in rules], dtype=whole),
        width=np.array([r.sensitive.width if r.sensitive else 1 for r in rules], dtype=whole),
        segments=np.array([r.sensitive.segments if r.sensitive else 1 for r in rules], dtype=whole),
        order=np.array([r.order for r in rules], dtype=whole),
        scale=np.array([r.scale for r in rules], dtype=float),
        union_closed=np.array([r.union_closed for r in rules], dtype=np.bool_),
        expected_at=np.array(expected_at, dtype=whole),
        expected=np.concatenate(expected),
        cap_at=np.array(cap_at, dtype=whole),
        caps=np.concatenate(caps),
        slack=np.array([r.slack for r in rules], dtype=float),
        tree_at=np.array(tree_at, dtype=whole),
        sizes_at=np.array(size_at, dtype=whole),
        height=np.array([len(r.tree) for r in rules], dtype=whole),
        tree_sizes=np.array(sizes, dtype=whole),
        tree=np.concatenate(tree),
    )


class Judging:
    """Models judged on classes that may come in several lots; each verdict is over all of them.

    Models of the whole need everything in one lot.
    """

    def __init__(self, models: Sequence[PrivacyModel], sensitive: Sequence[Sensitive]) -> None:
        self._all = models
        self._models = single_models(models)
        self._rules = rules_of(self._models, sensitive)
        self._compiled = compile_rules(self._models, sensitive)
        self._worst: list[float | None] = [None] * len(self._rules)
        self._satisfied = [True] * len(self._models)
        self._lot: Classes | None = None

    def add(self, classes: Classes) -> np.ndarray:
        """Judge some classes: which of them satisfy all models, each for itself and all that are left together."""
        from velado.kernels.measures import at_least, judge

        table, passing = judge(self._compiled, classes.sizes, classes.start, classes.values, classes.value_counts)
        good = np.ones(classes.count, dtype=bool)
        for r, ((i, rule), row, passes) in enumerate(zip(self._rules, table, passing, strict=True)):
            if classes.count:
                worse = min if at_least(rule.kind) else max
                here = float(row.min() if at_least(rule.kind) else row.max())
                before = self._worst[r]
                self._worst[r] = here if before is None else worse(here, before)
            self._satisfied[i] &= bool(passes.all())
            good &= passes
        for model in whole_models(self._all):
            if self._lot is not None:
                raise needs_whole(model)
        self._lot = classes
        return kept_together(self._all, classes, good)

    def verdicts(self) -> list[Verdict]:
        """Each model's verdict."""
        worst: dict[int, list[float]] = {i: [] for i in range(len(self._models))}
        for (i, _), figure in zip(self._rules, self._worst, strict=True):
            if figure is not None:
                worst[i].append(figure)
        single = iter(
            Verdict(m.name, m.requirements(), m.achieved_level(worst[i]) if worst[i] else None, self._satisfied[i])
            for i, m in enumerate(self._models)
        )
        lot = self._lot
        return [m.judge(lot) if isinstance(m, WholeModel) and lot is not None else next(single) for m in self._all]


def judge_classes(
    models: Sequence[PrivacyModel], sensitive: Sequence[Sensitive], classes: Classes
) -> tuple[np.ndarray, list[Verdict]]:
    """Which classes satisfy all models, and each model's verdict over all classes.

    O(classes × models), plus the number of sensitive values for ordered and hierarchical distances.
    """
    judging = Judging(models, sensitive)
    good = judging.add(classes)
    return good, judging.verdicts()


def single_models(models: Sequence[PrivacyModel]) -> tuple[PrivacyModel, ...]:
    """The models that every class answers for itself: all but those of the whole."""
    return tuple(m for m in models if m.basis != WHOLE)


def whole_models(models: Sequence[PrivacyModel]) -> tuple[WholeModel, ...]:
    """The models of everything that is released."""
    return tuple(m for m in models if isinstance(m, WholeModel))


def kept_together(models: Sequence[PrivacyModel], classes: Classes, kept: np.ndarray) -> np.ndarray:
    """Of the classes that single models keep, those that are released so that the models of the whole hold, too.

    What one model leaves out may trouble another: they are asked until all agree.
    """
    whole = whole_models(models)
    while whole and kept.any():
        left = kept
        for model in whole:
            left = left & model.keep(classes, left)
        if (left == kept).all():
            break
        kept = left
    return kept


def needs_whole(model: PrivacyModel) -> InputError:
    """The error where only single classes can be judged."""
    return InputError(
        "model-needs-whole",
        Sentence("{model} is judged on the whole release, and here only single classes can be judged", model=model.name),
        hint="Use one of the methods lattice, samarati, incognito, datafly and fixed, on a table that fits the memory.",
    )


def check_basis(models: Sequence[PrivacyModel], takes: Collection[str]) -> None:
    """None of the models judges something that a method does not make."""
    for model in models:
        if model.basis not in takes:
            raise needs_whole(model) if model.basis == WHOLE else needs_fuzzy(model)


def needs_fuzzy(model: PrivacyModel) -> InputError:
    """The error where there are no fuzzy classes."""
    return InputError(
        "needs-fuzzy",
        Sentence("{model} is judged on fuzzy classes, and there are none", model=model.name),
        hint="Use 'method: fuzzy', or a model of crisp classes.",
    )


def smallest_class(models: Sequence[PrivacyModel]) -> int:
    """A size that every class must reach to satisfy all models."""
    return max((m.smallest_class() for m in models), default=1)
