"""The kinds of jobs: what each is about, who may submit it, its parameters, and what is done with its result.

The web process reads this list; the work itself is in ``work``, which only the process of a job imports.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel
from sqlalchemy.orm import Session as Db

from velado.service.store.tables import Job

About = Literal["project", "source", "release", "connection", "nothing"]
Finish = Callable[[Db, Job, Mapping[str, Any]], None]


@dataclass(frozen=True)
class Kind:
    """A kind of job. ``action`` must be allowed in the project (or, about nothing, in the instance).

    ``work`` is the module of ``velado.service.jobs.work`` whose ``perform`` does it; ``finish`` takes the result over into
    the store, in the transaction that ends the job.
    """

    name: str
    about: About
    action: str
    parameters: type[BaseModel]
    work: str
    quick: bool = False
    finish: Finish | None = None


KINDS: dict[str, Kind] = {}
