"""Random small tables and hierarchies, for Velado and for the oracle alike."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from velado import Column
from velado.frequency import FrequencyTable
from velado.hierarchies import Hierarchy
from velado.hierarchies.scale import Scale
from velado.models import model_from
from velado.release import count_table
from velado.schema import Schema
from velado.tables import open_table


@dataclass(frozen=True)
class Small:
    """A table as the oracle sees it."""

    rows: list[dict[str, str]]
    qi: list[str]
    hierarchies: dict[str, list[list[str]]]
    trees: dict[str, list[list[str]]]
    sensitive: list[str]

    def columns(self) -> list[Column]:
        quasi = [Column(c, "quasi-identifier", hierarchy=Hierarchy.from_rows(c, self.hierarchies[c])) for c in self.qi]
        rest = [Column(c, "sensitive", hierarchy=tree_in_order(c, self.trees[c]), exposure="accepted") for c in self.sensitive]
        return quasi + rest

    def arrow(self) -> pa.Table:
        return pa.table({c: [row[c] for row in self.rows] for c in [*self.qi, *self.sensitive]})

    def frequency(self, models: Any = ()) -> FrequencyTable:
        with open_table(self.arrow()) as table:
            return count_table(table, Schema(self.columns()), models)


def tree_in_order(column: str, rows: list[list[str]]) -> Hierarchy:
    """A tree of a sensitive column whose values have an order, too: that of their names."""
    tree = Hierarchy.from_rows(column, rows)
    return replace(tree, scale=Scale(np.argsort(np.argsort(tree.leaves)).astype(float), "order"))


def random_hierarchy(rng: np.random.Generator, name: str, leaves: int, levels: int, root: bool) -> list[list[str]]:
    """Nested random groups; every level merges some groups of the one below."""
    groups = np.arange(leaves)
    columns = [[f"{name}{g}" for g in groups]]
    for level in range(1, levels):
        parents = rng.integers(0, max(1, (groups.max() + 2) // 2), groups.max() + 1)
        groups = np.unique(parents[groups], return_inverse=True)[1]
        columns.append([f"{name}L{level}.{g}" for g in groups])
    if root:
        columns.append(["*"] * leaves)
    return [list(row) for row in zip(*columns, strict=True)]


@st.composite
def small_tables(draw: st.DrawFn, most_rows: int = 30, sensitive: int = 1) -> Small:
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    n = draw(st.integers(2, most_rows))
    qi = [f"q{j}" for j in range(draw(st.integers(1, 3)))]
    hierarchies = {
        c: random_hierarchy(rng, c, int(rng.integers(1, 6)), int(rng.integers(1, 4)), bool(rng.random() < 0.8)) for c in qi
    }
    names = [f"s{j}" for j in range(sensitive)]
    trees = {c: random_hierarchy(rng, c, int(rng.integers(1, 6)), int(rng.integers(1, 3)), True) for c in names}
    skew = rng.uniform(0.4, 2.0)

    def pick(table: list[list[str]]) -> str:
        weights = np.arange(1, len(table) + 1) ** -skew
        return table[int(rng.choice(len(table), p=weights / weights.sum()))][0]

    rows = [{**{c: pick(hierarchies[c]) for c in qi}, **{c: pick(trees[c]) for c in names}} for _ in range(n)]
    return Small(rows, qi, hierarchies, trees, names)


def model_strategy(column: str = "s0") -> st.SearchStrategy[dict[str, Any]]:
    """One model as the oracle describes it."""
    real = st.floats
    return st.one_of(
        st.builds(lambda k: {"name": "k-anonymity", "k": k}, st.integers(2, 6)),
        st.builds(lambda x: {"name": "distinct-diversity", "l": x, "column": column}, st.integers(1, 4)),
        st.builds(lambda x: {"name": "entropy-diversity", "l": x, "column": column}, real(1, 4)),
        st.builds(lambda c, x: {"name": "recursive-diversity", "c": c, "l": x, "column": column}, real(0.3, 5), st.integers(1, 4)),
        st.builds(
            lambda t, d: {"name": "t-closeness", "t": t, "column": column, "distance": d},
            real(0, 1),
            st.sampled_from(["equal", "ordered", "hierarchical"]),
        ),
        st.builds(
            lambda x, b, e: {"name": "delta-disclosure", "delta": x, "column": column, "base": b, "every": e},
            real(0.1, 4),
            st.sampled_from([2, "e"]),
            st.booleans(),
        ),
        st.builds(lambda x, e: {"name": "beta-likeness", "beta": x, "column": column, "enhanced": e}, real(0.1, 4), st.booleans()),
        st.builds(lambda a, k: {"name": "alpha-k", "alpha": a, "k": k, "column": column}, real(0.2, 1), st.integers(2, 5)),
    )


def velado_model(model: dict[str, Any], strict: bool = False) -> Any:
    """The same model for Velado."""
    arguments = {k: v for k, v in model.items() if k not in ("name", "strict")}
    if strict and "column" in arguments:
        arguments["strict"] = True
    return model_from(model["name"], arguments)
