"""Check a table as it is: which models does it satisfy, and to which degree?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from velado.errors import InputError
from velado.evaluation import Check, check_frequency
from velado.frequency import Classes
from velado.models import CLASS, WHOLE, check_basis, judge_classes
from velado.progress import Progress
from velado.project.arguments import Models, models_of, names_of
from velado.project.people import checked_person
from velado.release.count import count_table
from velado.release.people import Membership, different
from velado.schema import Column, Schema
from velado.sentences import Sentence
from velado.tables import Session, open_table


def check(
    data: Any,
    quasi_identifiers: str | Sequence[str],
    sensitive: str | Sequence[str] = (),
    *,
    l: int = 2,  # noqa: E741
    trees: Mapping[str, Any] | None = None,
    models: Models = (),
    person: str | None = None,
    variants: str = "fold",
    classes: bool = False,
    progress: Progress | None = None,
) -> Check:
    """All privacy measures of a table, read from anywhere the engines read.

    ``l`` is the ℓ for which the smallest recursive c is given; ``trees`` gives hierarchies of sensitive
    columns for the hierarchical distance; ``models``, as objects or as a project file writes them, are judged on the table
    as it is; ``variants``: fold or distinct, whether spellings of one value count as one.
    ``person`` names the column whose equal values are one person's rows: k and risk then count people.
    ``classes``: with the figures of every equivalence class (`Check.class_figures`).

    >>> import pyarrow as pa
    >>> people = pa.table({"age": ["30-39"] * 3, "ill": ["flu", "flu", "asthma"]})
    >>> result = check(people, ["age"], ["ill"], classes=True)
    >>> result.k, result.sensitive["ill"]["l_distinct"]
    (3, 2)
    >>> [v.satisfied for v in check(people, ["age"], models=[{"k-anonymity": {"k": 4}}]).models]
    [False]
    >>> [(row["labels"], row["records"]) for row in result.class_figures.rows()]
    [({'age': '30-39'}, 3)]
    """
    wanted = models_of(models)
    check_basis(wanted, {CLASS, WHOLE})
    quasi_identifiers, sensitive = names_of(quasi_identifiers), names_of(sensitive)
    if not quasi_identifiers:
        raise InputError("no-quasi-identifier", "name at least one quasi-identifier", hint="--qi age,sex")
    both = [c for c in quasi_identifiers if c in sensitive]
    if both:
        raise InputError("two-roles", "a column cannot be quasi-identifier and sensitive", column=both[0])
    if isinstance(l, bool) or not isinstance(l, int) or l < 1:
        raise InputError("bad-parameter", Sentence("l must be a whole number of 1 or more, got {l!r}", l=l))
    for name in trees or {}:
        if name not in sensitive:
            raise InputError("not-sensitive", "a tree is given for a column that is not sensitive", column=name)
    columns = [Column(c, "quasi-identifier") for c in quasi_identifiers]
    columns += [Column(c, "sensitive", hierarchy=(trees or {}).get(c), variants=variants) for c in sensitive]
    follow = (progress or Progress()).through(open=1, count=6, measure=3)
    with open_table(data, session=Session(follow("open"))) as table:
        follow("count")
        schema = Schema(columns).fit_header(table.header, "insensitive", table.name)
        frequency = count_table(table, schema, wanted, Path())
        who = None if person is None else checked_person(table, person)
        members = None if who is None else Membership.of(table, frequency, who)
    follow("measure")
    people = None if members is None else different(members.rows, members.people, frequency.rows)
    judged = Classes.of_rows(frequency)
    judged = judged if people is None or who is None else judged.with_people(who, people)
    _, verdicts = judge_classes(wanted, judged.frequency.judged_columns, judged)
    folded = {
        s.column: {"values": len(s.variants.groups), "spellings": s.variants.spellings} for s in frequency.sensitive if s.variants
    }
    found = check_frequency(frequency, l, people, classes)
    return replace(found, variants=folded, models=tuple(verdicts))
