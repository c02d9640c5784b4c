"""Generalization hierarchies: the object, its builders and its checks."""

from velado.hierarchies.build import BUILDERS, build
from velado.hierarchies.cover import Cover
from velado.hierarchies.hierarchy import Hierarchy

__all__ = ["BUILDERS", "Cover", "Hierarchy", "build"]
