"""Random numbers in SQL that depend only on a seed and the number of a row: the same on every engine and core."""

from __future__ import annotations

from velado.tables.contract import Noise
from velado.tables.duckdb.opening import literal

BITS = 52
TINY = 2.0**-53


def noisy(noise: Noise, number: str, row: str) -> str:
    """The expression for ``number`` plus noise, as text with the noise's decimals; NULL stays NULL."""
    total = f"CAST({number} AS DOUBLE) + {DRAWN[noise.distribution](noise, row)}"
    shown = f"CAST(CAST({total} AS DECIMAL(38, {noise.decimals})) AS VARCHAR)"
    return f"replace({shown}, '.', ',')" if noise.comma else shown


def _uniform(noise: Noise, row: str, draw: int) -> str:
    """Strictly between 0 and 1: 52 bits of a SHA-256."""
    digest = f"sha256({literal(f'{noise.seed}|{noise.column}|{draw}|')} || {row})"
    return f"(CAST('0x' || substr({digest}, 1, {BITS // 4}) AS UBIGINT) / {float(2**BITS)!r} + {TINY!r})"


def _laplace(noise: Noise, row: str) -> str:
    u = f"({_uniform(noise, row, 0)} - 0.5)"
    return f"({-noise.scale!r} * sign({u}) * ln(1 - 2 * abs({u})))"


def _normal(noise: Noise, row: str) -> str:
    """Box and Muller 1958."""
    return f"({noise.scale!r} * sqrt(-2 * ln({_uniform(noise, row, 0)})) * cos(2 * pi() * {_uniform(noise, row, 1)}))"


DRAWN = {"laplace": _laplace, "normal": _normal}
