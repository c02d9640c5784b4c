"""Third step: the method looks for a recoding in the frequency table."""

from __future__ import annotations

from dataclasses import replace

from velado.methods import Found, kernels_ready
from velado.progress import Progress
from velado.release.count import Counted


def search(counted: Counted, progress: Progress) -> Found:
    """What the project's method finds; `NoSolution` if there is nothing."""
    if not kernels_ready(counted.frequency.rows):
        progress.part(0, 0, "compile").at(0)
    project = counted.project
    found = project.method.search(counted.frequency, project.models, progress)
    if counted.person is None:
        return found
    # It is the best under a bound of the number of people: under the number itself a better one may exist.
    return replace(found, search=replace(found.search, proven_optimal=False, gap=None))
