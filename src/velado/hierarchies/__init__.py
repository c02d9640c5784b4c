"""Generalization hierarchies: the object, its builders and its checks."""

from velado.hierarchies.build import BUILDERS, build
from velado.hierarchies.hierarchy import Hierarchy

__all__ = ["BUILDERS", "Hierarchy", "build"]
