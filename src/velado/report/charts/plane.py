"""Two columns in fuzzy sets on a grid: what contours, surfaces and regions are drawn from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

import numpy as np

from velado.fuzzy import product
from velado.fuzzy.classes import Fuzzified
from velado.fuzzy.coding import Coding
from velado.hierarchies.scale import Scale

CELLS = 120
MOST_NAMED = 12
"""More classes are not named in the plane: there is no room."""
THIN = 0.04
"""Parts of the grid that reach no deeper than this share of it have no room for a name."""
FLAT = 1e-9
"""Heights that differ by less are the same."""
EPOCH = date(1970, 1, 1).toordinal()


@dataclass(frozen=True)
class Across:
    """A column as an axis: from where to where it is drawn, and how numbers are written on it."""

    column: str
    low: float
    high: float
    scale: Scale | None = None

    @property
    def dates(self) -> bool:
        """Whether the numbers are days."""
        return self.scale is not None and self.scale.kind == "date"

    def grid(self, cells: int) -> np.ndarray:
        """Equally spaced numbers."""
        return np.linspace(self.low, self.high, cells + 1)

    def vega_numbers(self, numbers: np.ndarray) -> np.ndarray:
        """Numbers as Vega takes them: days as milliseconds."""
        return (numbers - EPOCH) * 86_400_000.0 if self.dates else numbers

    def text(self, number: float) -> str | None:
        """A day as the column writes it; None for other numbers, which the language writes."""
        return self.scale.text(number) if self.scale is not None and self.dates else None


def across(coding: Coding, column: str, scales: Mapping[str, Scale]) -> Across:
    """Where the sets of a column and most records lie; not up to its extremes, which are values of single people."""
    j = coding.columns.index(column)
    if coding.centres is not None:
        points = coding.centres[:, j]
    elif coding.corners is not None:
        points = np.array([x for s in coding.corners for x in s])
    else:
        assert coding.breaks is not None
        points = coding.breaks[1:-1] if coding.sets > 1 else coding.usual.mean(axis=0)[[j]]
    room = (np.ptp(points) or np.ptp(coding.usual[:, j])) / (2 * coding.sets)
    low, high = min(points.min() - room, coding.usual[0, j]), max(points.max() + room, coding.usual[1, j])
    # Rounded: exact limits would be exact figures of all records.
    digits = 1 - math.floor(math.log10(high - low))
    low, high = round(low, digits), round(high, digits)
    return Across(column, max(low, 0.0) if points.min() >= 0 else low, high, scales.get(column))


def degrees(coding: Coding, points: np.ndarray) -> np.ndarray:
    """Memberships over an axis; the outer intervals of global recode go on beyond their last value."""
    if coding.breaks is not None:
        inside = np.nextafter(coding.breaks[0], np.inf), coding.breaks[-1]
        points = points.clip(*inside)
    return coding.memberships_of(points)


@dataclass(frozen=True)
class Plane:
    """Memberships in the classes of two columns, over a grid: rows (second column) × columns (first) × classes."""

    x: Across
    y: Across
    memberships: np.ndarray
    names: tuple[tuple[str, str], ...]

    @classmethod
    def of(
        cls, fuzzy: Fuzzified, scales: Mapping[str, Scale], cells: int | None = None, frame: tuple[Across, Across] | None = None
    ) -> Plane:
        """Of two columns in joint sets, or in sets of their own that are crossed; in the same ``frame`` as others."""
        one, other = (c for coding in fuzzy.codings for c in coding.columns)
        codings = {c: coding for coding in fuzzy.codings for c in coding.columns}
        x, y = frame or (across(codings[one], one, scales), across(codings[other], other, scales))
        fine = cells or CELLS
        first, second = np.meshgrid(x.grid(fine), y.grid(fine))
        points = np.column_stack([first.ravel(), second.ravel()])
        if len(fuzzy.codings) == 1:
            found = degrees(fuzzy.codings[0], points)
            names = tuple(zip(fuzzy.names[one], fuzzy.names[other], strict=True))
        else:
            found = product([degrees(c, points[:, [j]]) for j, c in enumerate(fuzzy.codings)])
            names = tuple((a, b) for a in fuzzy.names[one] for b in fuzzy.names[other])
        return cls(x, y, found.reshape(*first.shape, -1), names)

    @property
    def has_names(self) -> bool:
        """Whether there is room for the names of the classes."""
        return len(self.names) <= MOST_NAMED

    @property
    def strongest(self) -> np.ndarray:
        """The class to which each point of the grid belongs most."""
        return np.asarray(self.memberships.argmax(axis=-1))

    @property
    def grid(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the columns and the rows of the grid lie, as Vega takes them."""
        rows, columns = self.memberships.shape[:2]
        return self.x.vega_numbers(self.x.grid(columns - 1)), self.y.vega_numbers(self.y.grid(rows - 1))

    def places(self, line: np.ndarray) -> list[tuple[float, float]]:
        """Points (row, column) of the grid as points of the plane."""
        x, y = (np.interp(line[:, 1 - j], np.arange(len(g)), g).tolist() for j, g in enumerate(self.grid))
        return list(zip(x, y, strict=True))

    def middle(self, inside: np.ndarray) -> tuple[int, int] | None:
        """Row and column of the point in the middle of those that lie deepest in a part of the grid; None if it is thin."""
        from scipy.ndimage import distance_transform_edt

        depth = distance_transform_edt(np.pad(inside, 1))[1:-1, 1:-1]
        return central(depth > depth.max() - 1) if depth.max() > THIN * len(inside) else None


def central(inside: np.ndarray) -> tuple[int, int]:
    """Row and column of the point of a part of the grid that is nearest to the mean of all of them."""
    points = np.argwhere(inside)
    row, column = points[((points - points.mean(axis=0)) ** 2).sum(axis=1).argmin()]
    return int(row), int(column)


def summit(heights: np.ndarray) -> tuple[int, int]:
    """Row and column of the highest point of the grid, the middle one of a plateau."""
    return central(heights >= heights.max() - FLAT)


def isolines(heights: np.ndarray, level: float) -> list[np.ndarray]:
    """The lines on which heights over a grid are equal to a level, as arrays of (row, column).

    Every cell is cut into two triangles, in which heights are linear; a line passes through two sides of a triangle, and
    leaves it where it enters the next.
    """
    rows, columns = heights.shape
    number = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = (number[i : i + rows - 1, j : j + columns - 1].ravel() for i, j in ((0, 0), (0, 1), (1, 1), (1, 0)))
    triangles = np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])])
    flat = heights.ravel()
    above = flat[triangles] > level
    triangles = triangles[above.any(axis=1) & ~above.all(axis=1)]
    sides = np.sort(np.stack([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]], axis=1), axis=2)
    crossed = (flat[sides] > level).sum(axis=2) == 1
    pairs = sides[crossed].reshape(-1, 2, 2)
    keys = pairs[:, :, 0] * flat.size + pairs[:, :, 1]
    places: dict[int, np.ndarray] = {}
    for key, (u, v) in zip(keys.ravel().tolist(), pairs.reshape(-1, 2).tolist(), strict=True):
        share = (level - flat[u]) / (flat[v] - flat[u])
        places[key] = (1 - share) * np.array(divmod(u, columns)) + share * np.array(divmod(v, columns))
    return [np.array([places[key] for key in chain]) for chain in _join_links(keys.tolist())]


def _join_links(links: list[list[int]]) -> list[list[int]]:
    """Links with two ends each, joined where they share one; every end belongs to at most two links."""
    beside: dict[int, list[int]] = {}
    for one, other in links:
        beside.setdefault(one, []).append(other)
        beside.setdefault(other, []).append(one)
    chains = []
    for start in sorted(beside, key=lambda key: len(beside[key])):
        here = start
        chain = [start]
        while beside[here]:
            following = beside[here].pop()
            beside[following].remove(here)
            chain.append(following)
            here = following
        if len(chain) > 1:
            chains.append(chain)
    return chains
