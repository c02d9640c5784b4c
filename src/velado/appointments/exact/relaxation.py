"""Linear relaxations with bounds that hold in exact arithmetic."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from velado.appointments.exact.flows import System
from velado.progress import Progress

SCALE = 2**40
LARGEST = 2**20
"""Dual values are cut off here, so that sums of some of them, scaled, fit into 64 bits."""


class Relaxation:
    """A system without the demand for whole numbers, solved again and again from where the last solution was (GLOP)."""

    def __init__(self, system: System, progress: Progress | None = None) -> None:
        from ortools.linear_solver import pywraplp

        self.progress = progress or Progress()
        self.lower, self.upper = system.lower.copy(), system.upper.copy()
        self.system = system
        self.columns = {key: j for j, key in enumerate(system.keys)}
        self.solver = pywraplp.Solver.CreateSolver("GLOP")
        # What preprocessing gains is less than what the basis of the last solution is worth.
        self.solver.SetSolverSpecificParametersAsString("use_preprocessing:false")
        self.variables = [
            self.solver.NumVar(low, high, "") for low, high in zip(self.lower.tolist(), self.upper.tolist(), strict=True)
        ]
        self.rows = [self.solver.Constraint(b, b) for b in system.right.tolist()]
        entries = system.matrix.tocoo()
        for i, j, value in zip(entries.row.tolist(), entries.col.tolist(), entries.data.tolist(), strict=True):
            self.progress.check()
            self.rows[i].SetCoefficient(self.variables[j], value)

    def least(self, key: Hashable, seconds: float) -> int | None:
        """A whole number that a variable is not below in any whole solution; None if it has none, or in no time.

        The dual solution y is rounded to multiples of 2^−40; then x_k ≥ y·b + Σ_j min(d_j·lower_j, d_j·upper_j) with
        d = e_k − yA holds for every y, whatever the solver's rounding, and is evaluated in integers (Neumaier and
        Shcherbina, "Safe bounds in linear and mixed-integer linear programming", Mathematical Programming 99, 2004).
        """
        column = self.columns.get(key)
        if column is None:
            return None
        objective = self.solver.Objective()
        objective.Clear()
        objective.SetCoefficient(self.variables[column], 1)
        objective.SetMinimization()
        self.solver.SetTimeLimit(max(int(1000 * seconds), 1))
        with self.progress.interrupting(self.solver.InterruptSolve):
            status = self.solver.Solve()
        self.progress.check()
        if status != self.solver.OPTIMAL:
            return None
        values = np.array([row.dual_value() for row in self.rows])
        dual = np.rint(np.clip(values, -LARGEST, LARGEST) * SCALE).astype(np.int64)
        reduced = -(self.system.matrix.T @ dual)
        reduced[column] += SCALE
        ends = np.where(reduced > 0, self.lower, self.upper)
        terms = np.concatenate((dual, reduced)).astype(object) @ np.concatenate((self.system.right, ends)).astype(object)
        return max(-(-int(terms) // SCALE), int(self.lower[column]))

    def fix(self, key: Hashable, value: int) -> None:
        """From now on, this variable has this value."""
        column = self.columns[key]
        self.lower[column] = self.upper[column] = value
        self.variables[column].SetBounds(value, value)
