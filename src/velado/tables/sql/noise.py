"""Random numbers in SQL that depend only on a seed and the number of a row: the same on every engine and core."""

from __future__ import annotations

from velado.tables.plan import Noise
from velado.tables.sql.dialect import SqlDialect


def noisy(sql: SqlDialect, noise: Noise, number: str, row: str) -> str:
    """The expression for ``number`` plus noise, as text with the noise's decimals; NULL stays NULL."""
    total = f"{sql.number(number)} + {DRAWN[noise.distribution](sql, noise, row)}"
    shown = sql.round(total, noise.decimals)
    return f"replace({shown}, '.', ',')" if noise.comma else shown


def _uniform(sql: SqlDialect, noise: Noise, row: str, draw: int) -> str:
    return sql.uniform(f"{noise.seed}|{noise.column}|{draw}|", row)


def _laplace(sql: SqlDialect, noise: Noise, row: str) -> str:
    u = f"({_uniform(sql, noise, row, 0)} - 0.5)"
    return f"({-noise.scale!r} * sign({u}) * ln(1 - 2 * abs({u})))"


def _normal(sql: SqlDialect, noise: Noise, row: str) -> str:
    """Box and Muller 1958."""
    radius = f"sqrt(-2 * ln({_uniform(sql, noise, row, 0)}))"
    return f"({noise.scale!r} * {radius} * cos(2 * pi() * {_uniform(sql, noise, row, 1)}))"


DRAWN = {"laplace": _laplace, "normal": _normal}
