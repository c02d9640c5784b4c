"""Generalization hierarchies: the object, its builders and its checks."""

from velado.hierarchies.build import BUILDERS, build, build_preview
from velado.hierarchies.cover import Cover
from velado.hierarchies.distribution import Distribution, distribution_of
from velado.hierarchies.hierarchy import Hierarchy
from velado.hierarchies.preview import HierarchyPreview
from velado.hierarchies.tree import Branch, branches, described, outline

__all__ = [
    "BUILDERS",
    "Branch",
    "Cover",
    "Distribution",
    "Hierarchy",
    "HierarchyPreview",
    "branches",
    "build",
    "build_preview",
    "described",
    "distribution_of",
    "outline",
]
