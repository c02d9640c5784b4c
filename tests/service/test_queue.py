"""The queue: each job to one worker, limits hold, only the holder of the lease ends a job."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, update

from velado.service.errors import Conflict, TooMany
from velado.service.jobs import failure_messages, queue
from velado.service.service import Service
from velado.service.store.tables import Job, JobLine, Source, User, now

Submit = Callable[..., str]
pytestmark = pytest.mark.both_stores


@pytest.fixture
def submit(service: Service) -> Submit:
    """Put a job of a user, by name, into the queue."""

    def submit(user: str = "ana", kind: str = "study", roles: Sequence[str] = ("steward",), **more: Any) -> str:
        with service.store.writing() as db:
            found = db.scalars(select(User).where(User.name == user)).first()
            if found is None:
                found = User(name=user, roles=list(roles))
                db.add(found)
                db.flush()
            return queue.submit(db, service.settings, kind, found.id, {}, **more).id

    return submit


def claim(service: Service, worker: str = "one", *, quick: bool = False, **settings: Any) -> Job | None:
    with service.store.writing() as db:
        return queue.claim(db, replace(service.settings, **settings), worker, quick=quick)


def job(service: Service, id: str) -> Job:
    with service.store.reading() as db:
        found = db.get(Job, id)
        assert found is not None
        return found


def events(service: Service, id: str) -> list[str]:
    with service.store.reading() as db:
        return list(db.scalars(select(JobLine.event).where(JobLine.job_id == id).order_by(JobLine.number)))


def expire(service: Service, id: str) -> None:
    with service.store.writing() as db:
        db.execute(update(Job).where(Job.id == id).values(lease=now() - timedelta(seconds=1)))


def at_once(number: int, do: Callable[[int], None]) -> None:
    """Run something in several threads that begin together."""
    gate = threading.Barrier(number)

    def run(mine: int) -> None:
        gate.wait()
        do(mine)

    threads = [threading.Thread(target=run, args=(mine,)) for mine in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_no_two_workers_get_the_same_job(service: Service, submit: Submit) -> None:
    wanted = {submit(f"user{number % 5}") for number in range(20)}
    taken: list[tuple[str, int]] = []

    def work(number: int) -> None:
        while (found := claim(service, f"worker{number}", jobs_per_user=100)) is not None:
            taken.append((found.id, number))

    at_once(4, work)
    assert len(taken) == 20
    assert {id for id, _ in taken} == wanted
    assert all(job(service, id).worker == f"worker{number}" for id, number in taken)


def test_a_user_runs_only_so_many_at_once(service: Service, submit: Submit) -> None:
    for _ in range(6):
        submit()
    submit("eva")
    taken: list[str | None] = []
    at_once(8, lambda number: taken.append((found := claim(service, f"w{number}")) and found.user_id))
    counts = [taken.count(user) for user in {*taken} - {None}]
    assert sorted(counts) == [1, 2]
    assert claim(service) is None


def test_questions_do_not_wait_for_jobs(service: Service, submit: Submit) -> None:
    for _ in range(3):
        submit()
    question = submit(quick=True)
    claim(service)
    claim(service)
    assert claim(service) is None
    found = claim(service, quick=True)
    assert found is not None
    assert found.id == question


def test_the_oldest_is_first(service: Service, submit: Submit) -> None:
    first, second = submit("ana"), submit("eva")
    taken = [found.id for _ in range(2) if (found := claim(service))]
    assert taken == [first, second]


def test_a_user_has_only_so_many_waiting(service: Service) -> None:
    settings = replace(service.settings, jobs_queued=2)
    with service.store.writing() as db:
        user = User(name="ana", roles=["steward"])
        db.add(user)
        db.flush()
        for _ in range(2):
            queue.submit(db, settings, "study", user.id, {})
        with pytest.raises(TooMany) as told:
            queue.submit(db, settings, "study", user.id, {})
    assert (told.value.code, told.value.status, told.value.fields["limit"]) == ("too-many-jobs", 429, 2)


def test_users_take_turns(service: Service, submit: Submit) -> None:
    """Fifty runs of a learner kept a steward's waiting for 167 seconds: now for the one that runs."""
    mine = [submit("lea") for _ in range(50)]
    hers = [submit("eva", roles=["steward"]) for _ in range(3)]
    his = submit("bob")
    taken = []
    for _ in range(8):
        found = claim(service, jobs_per_user=1)
        assert found is not None
        taken.append(found.id)
        with service.store.writing() as db:
            queue.finish(db, "one", found.id, found.attempt, "done", result={})
    assert taken == [mine[0], hers[0], his, mine[1], hers[1], mine[2], hers[2], mine[3]]


def test_who_has_fewer_running_is_next(service: Service, submit: Submit) -> None:
    first, second, third = submit("ana"), submit("ana"), submit("ana")
    other = submit("eva")
    assert [found.id for _ in range(4) if (found := claim(service, jobs_per_user=3))] == [first, other, second, third]


def test_brief_jobs_have_a_place_and_come_first(service: Service, submit: Submit) -> None:
    runs = [submit("lea", kind="run") for _ in range(4)]
    claim(service), claim(service)
    estimate, own = submit("eva", kind="estimate"), submit("lea", kind="estimate")
    with service.store.writing() as db:
        found = [queue.claim(db, service.settings, "one", quick=False, brief=True) for _ in range(3)]
    # A steward's is before one of who has runs already; no run takes the place.
    assert [one and one.id for one in found] == [estimate, own, None]
    assert job(service, runs[2]).state == "queued"
    late = submit("mia", kind="run"), submit("mia", kind="inspect")
    assert [found.id for _ in range(2) if (found := claim(service))] == [late[1], late[0]]


def test_one_user_does_not_take_all_warm_processes(service: Service, submit: Submit) -> None:
    for _ in range(9):
        submit("lea", quick=True)
    theirs = submit("eva", quick=True)
    taken = [found.id for _ in range(9) if (found := claim(service, quick=True))]
    assert len(taken) == service.settings.explorers
    assert theirs in taken


@pytest.mark.parametrize(("roles", "waiting", "running"), [(["learner"], 10, 1), (["steward", "learner"], 50, 2), ([], 10, 1)])
def test_limits_by_role(service: Service, submit: Submit, roles: list[str], waiting: int, running: int) -> None:
    for _ in range(waiting):
        submit("lea", roles=roles)
    with pytest.raises(TooMany):
        submit("lea")
    # Questions are counted apart.
    submit("lea", quick=True)
    assert len([one for _ in range(4) if (one := claim(service))]) == running


def test_answered_questions_keep_no_document(service: Service, submit: Submit) -> None:
    kept, asked = submit(document={"name": "x" * 1000}), submit(document={"name": "x" * 1000}, quick=True)
    for id, quick in ((kept, False), (asked, True)):
        assert job(service, id).bytes > 1000
        found = claim(service, quick=quick)
        assert found is not None
        with service.store.writing() as db:
            queue.finish(db, "one", id, found.attempt, "failed", error={"code": "x"})
    assert (job(service, kept).bytes > 1000, job(service, asked).bytes, job(service, asked).document) == (True, 0, None)
    with service.store.writing() as db, pytest.raises(Conflict):
        queue.retry(db, db.get(Job, asked))  # type: ignore[arg-type]


def test_a_worker_that_lost_its_lease_ends_nothing(service: Service, submit: Submit) -> None:
    id = submit()
    first = claim(service, "one")
    assert first is not None
    expire(service, id)
    with service.store.writing() as db:
        assert queue.sweep(db) == 1
    second = claim(service, "two")
    assert second is not None
    with service.store.writing() as db:
        assert queue.finish(db, "one", id, first.attempt, "done", result={"by": "one"}) is None
    with service.store.writing() as db:
        # The same worker may have got it again: then the attempt is another.
        assert queue.finish(db, "two", id, first.attempt, "done", result={"by": "two, too early"}) is None
    with service.store.writing() as db:
        assert queue.finish(db, "two", id, second.attempt, "done", result={"by": "two"}) is not None
    with service.store.writing() as db:
        assert queue.finish(db, "two", id, second.attempt, "done", result={"by": "two again"}) is None
    found = job(service, id)
    assert (found.state, found.attempt, found.result) == ("done", 2, {"by": "two"})
    assert events(service, id) == ["submitted", "started", "lost", "started", "done"]


def test_a_lease_is_renewed_by_its_holder_only(service: Service, submit: Submit) -> None:
    id = submit()
    claim(service, "one")
    expire(service, id)
    with service.store.writing() as db:
        queue.renew(db, service.settings, "two", [id])
    assert (job(service, id).lease or now()) < now()
    with service.store.writing() as db:
        queue.renew(db, service.settings, "one", [id])
        assert queue.sweep(db) == 0
    assert (job(service, id).lease or now()) > now()


def test_two_attempts_at_most(service: Service, submit: Submit) -> None:
    id = submit()
    for _ in range(2):
        assert claim(service) is not None
        expire(service, id)
        with service.store.writing() as db:
            queue.sweep(db)
    found = job(service, id)
    assert (found.state, found.attempt) == ("failed", 2)
    assert found.error is not None
    assert failure_messages.translate_error(found.error, "es")["message"] == "el trabajo se interrumpió cada vez que se intentó"
    assert claim(service) is None
    with service.store.writing() as db:
        queue.retry(db, db.get_one(Job, id))
    again = claim(service)
    assert again is not None
    assert (again.attempt, again.most, again.error) == (3, 4, None)


def test_a_worker_that_stops_spends_no_attempt(service: Service, submit: Submit) -> None:
    id = submit()
    for _ in range(5):
        found = claim(service)
        assert found is not None
        with service.store.writing() as db:
            queue.give_back(db, "one", id, found.attempt, spent=False)
    assert (job(service, id).state, job(service, id).attempt) == ("queued", 5)


def test_only_the_holder_gives_back(service: Service, submit: Submit) -> None:
    id = submit()
    claim(service, "one")
    with service.store.writing() as db:
        queue.give_back(db, "two", id, 1)
        queue.give_back(db, "one", id, 2)
    assert job(service, id).state == "running"


def test_cancel(service: Service, submit: Submit) -> None:
    waits = submit()
    with service.store.writing() as db:
        queue.cancel(db, db.get_one(Job, waits))
    assert job(service, waits).state == "cancelled"
    with service.store.writing() as db, pytest.raises(Conflict):
        queue.cancel(db, db.get_one(Job, waits))
    runs = submit()
    claim(service)
    with service.store.writing() as db:
        queue.cancel(db, db.get_one(Job, runs))
    with service.store.reading() as db:
        assert queue.held_jobs(db, "one", [runs, waits]) == {runs: (1, True)}
    # Its worker dies before it hears of it.
    expire(service, runs)
    with service.store.writing() as db:
        queue.sweep(db)
    assert job(service, runs).state == "cancelled"


def test_a_job_that_was_claimed_meanwhile_is_not_cancelled_at_once(service: Service, submit: Submit) -> None:
    """What a request has read may be old: the state counts when the row is locked."""
    id = submit()
    with service.store.reading() as db:
        read = db.get_one(Job, id)
    claim(service)
    assert read.state == "queued"
    with service.store.writing() as db:
        merged = db.merge(read, load=False)
        queue.cancel(db, merged)
    found = job(service, id)
    assert (found.state, found.asked) == ("running", True)


def test_only_what_failed_is_tried_again(service: Service, submit: Submit) -> None:
    id = submit()
    with service.store.writing() as db, pytest.raises(Conflict):
        queue.retry(db, db.get_one(Job, id))


def test_steps_are_written_by_the_holder(service: Service, submit: Submit) -> None:
    id = submit()
    claim(service, "one")
    with service.store.writing() as db:
        queue.report(db, "two", id, {"stage": "write", "share": 1.0}, ["write"])
        queue.report(db, "one", id, {"stage": "search", "share": 0.5}, ["search"])
    assert job(service, id).step == {"stage": "search", "share": 0.5}
    assert events(service, id) == ["submitted", "started", "stage"]


def test_a_source_that_could_not_be_read_says_so(service: Service, submit: Submit) -> None:
    submit()
    with service.store.writing() as db:
        source = Source(user_id=db.scalars(select(User.id)).one(), name="t", kind="upload")
        db.add(source)
        db.flush()
        id = source.id
        db.execute(update(Job).values(state="done"))
    inspect = submit(kind="inspect", source_id=id)
    found = claim(service)
    assert found is not None
    with service.store.writing() as db:
        queue.finish(db, "one", inspect, 1, "failed", error={"code": "no-table", "message": {}})
    with service.store.reading() as db:
        assert db.get_one(Source, id).state == "failed"


def test_there_is_something_to_claim(service: Service, submit: Submit) -> None:
    def waiting(quick: bool) -> bool:
        with service.store.reading() as db:
            return queue.waiting(db, service.settings, quick=quick)

    assert (waiting(True), waiting(False)) == (False, False)
    submit()
    assert (waiting(True), waiting(False)) == (False, True)
    submit(quick=True)
    assert (waiting(True), waiting(False)) == (True, True)
    claim(service)
    assert (waiting(True), waiting(False)) == (True, False)
    with service.store.reading() as db:
        assert db.scalar(select(func.count()).select_from(Job)) == 2
