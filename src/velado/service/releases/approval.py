"""Whether a release is given out: approval by a second person, withdrawal, and who reads of it before."""

from __future__ import annotations

from typing import ClassVar

from sqlalchemy.orm import Session as Db

from velado.sentences import Sentence
from velado.service.access.caller import Caller
from velado.service.errors import Conflict, Refused
from velado.service.settings import Settings
from velado.service.store.tables import Job, Release, now

MADE, APPROVED, WITHDRAWN = "made", "approved", "withdrawn"


class OwnRelease(Refused):
    """Who made a release does not approve it."""

    status: ClassVar[int] = 403

    def __init__(self) -> None:
        super().__init__(
            "own-release", "you made this release; a second person approves it", hint="Ask another approver of the project."
        )


def given_out(release: Release, settings: Settings) -> bool:
    """Whether its data may be downloaded in its state."""
    return release.state == APPROVED or (release.state == MADE and not settings.approval)


def check_given_out(release: Release, settings: Settings) -> None:
    """Raise unless its data may be downloaded in its state."""
    if release.state == WITHDRAWN:
        raise Conflict("release-withdrawn", "the release was withdrawn")
    if settings.approval and release.state != APPROVED:
        raise Conflict("not-approved", "a second person must approve the release first", hint="Ask an approver of the project.")


def check_evidence(db: Db, caller: Caller, release: Release, settings: Settings) -> None:
    """Who judges a release, or works in its project, reads what is told of it before it is approved and after; nobody else."""
    before = {"results.read", "release.approve"} & caller.actions_in(db, release.project_id)
    if not before and not caller.may("evidence.read"):
        check_given_out(release, settings)


def approve(db: Db, caller: Caller, release: Release) -> None:
    """A second person approves a release that was made."""
    job = db.get(Job, release.job_id)
    if caller.id in (release.user_id, None if job is None else job.user_id):
        raise OwnRelease()
    if release.state != MADE:
        raise _wrong_state(release)
    _judge(release, caller, APPROVED)


def withdraw(release: Release, caller: Caller) -> None:
    """Nobody downloads a release any more."""
    if release.state == WITHDRAWN:
        raise _wrong_state(release)
    _judge(release, caller, WITHDRAWN)


def _judge(release: Release, caller: Caller, state: str) -> None:
    release.state, release.judged_by, release.judged = state, caller.id, now()


def _wrong_state(release: Release) -> Conflict:
    message = Sentence("the release was {state} already", state=STATES[release.state])
    return Conflict("release-judged", message, fields={"state": release.state})


STATES = {APPROVED: Sentence("approved"), WITHDRAWN: Sentence("withdrawn"), MADE: Sentence("made")}


def lock_release(db: Db, release: Release) -> Release:
    """The release as it is now, held until the end of the transaction: one judgement comes after the other."""
    db.refresh(release, with_for_update=True)
    return release
