"""Compile all kernels: ``python -m velado.release.warm``.

A command that finds nothing compiled works without, and starts this as a second process (``--with-parent``), of low
priority. It ends when everything is compiled; at once where another one is at work already, or if the command that started it
is interrupted (then its end of standard input closes before a byte has come).
"""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import suppress

from velado.kernels import compile_cache
from velado.kernels.compiler import set_patience
from velado.tables.publication.private import remove_mine

NICENESS = 10


def main(arguments: list[str]) -> None:
    """Search a table of a few rows in every way; a kernel is compiled when it is first called."""
    with_parent = "--with-parent" in arguments
    compile_cache.CACHE_FOLDER.mkdir(parents=True, exist_ok=True)
    if with_parent:
        # The folder in which the command was given is not kept busy.
        os.chdir(compile_cache.CACHE_FOLDER)
        with suppress(AttributeError, OSError):
            os.nice(NICENESS)
    while not compile_cache.begin_compiling():
        if with_parent:
            return
        time.sleep(1)
    if with_parent:
        threading.Thread(target=_leave_with_parent, daemon=True).start()
    try:
        compile_all("lattice" in arguments)
    finally:
        compile_cache.end_compiling()


def _leave_with_parent() -> None:
    # Not through Python's buffers, whose lock the end of the process would wait for.
    if not os.read(sys.stdin.fileno(), 1):
        remove_mine()
        compile_cache.end_compiling()
        os._exit(0)


def compile_all(lattice_first: bool = False) -> None:
    """Compile what nobody has compiled, or load it."""
    import numpy as np
    import pyarrow as pa

    from velado.evaluation.joint_exposure import Asked
    from velado.frequency import Classes
    from velado.methods import Local, Mondrian
    from velado.methods.lattice import Space
    from velado.methods.survey import survey
    from velado.models import DistinctDiversity, KAnonymity, judge_classes
    from velado.progress import Progress
    from velado.release.count import count_table
    from velado.schema import Column, Schema
    from velado.tables import Counts, open_table

    set_patience(0)
    columns = {"a": ["1", "1", "2", "2"], "b": ["x", "y", "x", "y"], "s": ["u", "v", "u", "v"]}
    roles = {"a": "quasi-identifier", "b": "quasi-identifier", "s": "sensitive"}
    schema = Schema(tuple(Column(name, role) for name, role in roles.items()))
    models = (KAnonymity(2), DistinctDiversity(2, column="s"))
    with open_table(pa.table(columns)) as table:
        frequency = count_table(table, schema)

    def search_lattice() -> None:
        # A node alone is evaluated first: after a search there is none left.
        space = Space(frequency, models)
        space.evaluate(space.nodes - 1)
        space.run(None, Progress())
        space.sweep(None, Progress())

    def count_keys() -> None:
        codes = (np.zeros(1, dtype=np.int32),)
        rows = Counts(("a",), (("x",),), codes, np.ones(1, dtype=np.int64))
        Asked(rows, (), ("a",), 2).add(rows)

    def cut() -> None:
        Mondrian().search(frequency, models)
        Local(suppression=1.0).search(frequency, models)

    for search in (search_lattice, cut) if lattice_first else (cut, search_lattice):
        search()
    count_keys()
    judge_classes(models, frequency.judged_columns, Classes.at_levels(frequency, [0, 0]))
    survey(frequency, models)


if __name__ == "__main__":
    main(sys.argv[1:])
