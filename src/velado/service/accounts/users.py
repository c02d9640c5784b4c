"""Users: names, roles, passwords; there is always an administrator left."""

from __future__ import annotations

import getpass
import re
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import delete, select
from sqlalchemy.orm import Session as Db

from velado.errors import suggest
from velado.sentences import Sentence
from velado.service.access.permissions import ADMINISTRATOR, INSTANCE_ROLES, OWNER, STEWARD
from velado.service.accounts import links, passwords, sessions
from velado.service.accounts.throttle import one_by_one
from velado.service.errors import Conflict, Invalid
from velado.service.files import Files
from velado.service.store.tables import Member, Source, Token, Upload, User

NAME = re.compile(r"[a-z0-9][a-z0-9._@+-]{0,63}")
"""Names are plain, so that no two look alike."""
PATTERN = "^[A-Za-z0-9][A-Za-z0-9._@+-]*$"
"""The same as the description of the REST interface says it; capitals become small."""


def plain(name: str) -> str:
    """A name as it is kept and looked for."""
    return name.strip().lower()


def find(db: Db, name: str) -> User | None:
    """The user of a name."""
    wanted = plain(name)
    return db.scalars(select(User).where(User.name == wanted)).first() if NAME.fullmatch(wanted) else None


def create(
    db: Db,
    name: str,
    roles: Sequence[str] = (),
    *,
    password: str | None = None,
    subject: str | None = None,
    full_name: str = "",
    email: str = "",
    language: str = "",
) -> User:
    """A new user; without a password one signs in by a link or through a provider."""
    wanted = plain(name)
    if not NAME.fullmatch(wanted):
        message = Sentence("a user's name is made of letters from a to z, digits and . _ @ + -, 64 at most")
        raise Invalid("bad-user-name", message, fields={"path": "name"})
    one_by_one(db)
    if find(db, wanted) is not None:
        raise Conflict("name-taken", Sentence("there is a user of this name already"), fields={"path": "name"})
    if password is not None:
        passwords.check(password, wanted)
    user = User(
        name=wanted,
        roles=checked_roles(roles),
        subject=subject,
        full_name=full_name,
        email=email,
        language=language,
        password=None if password is None else passwords.hash_password(password),
    )
    db.add(user)
    db.flush()
    return user


def single_user(db: Db) -> User:
    """The one user of a service for one person, named after who runs it."""
    name = derived_name(getpass.getuser())
    return find(db, name) or create(db, name, (ADMINISTRATOR, STEWARD))


def derived_name(text: str) -> str:
    """A user's name that is made of some text."""
    ascii = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9._@+-]+", "-", ascii).strip("._@+-")[:50] or "user"


def free_name(db: Db, text: str) -> str:
    """A name made of some text that nobody has: what a provider says never becomes somebody else's account."""
    name, number = derived_name(text), 1
    wanted = name
    while find(db, wanted) is not None:
        number += 1
        wanted = f"{name}-{number}"
    return wanted


def checked_roles(roles: Iterable[str]) -> list[str]:
    """Roles of the instance, each once, in their order."""
    given = list(roles)
    for role in given:
        if role not in INSTANCE_ROLES:
            message = Sentence("there is no role '{role}'", role=role[:60])
            raise Invalid("unknown-role", message, hint=suggest(role[:60], INSTANCE_ROLES), fields={"path": "roles"})
    return [role for role in INSTANCE_ROLES if role in given]


def set_roles(db: Db, user: User, roles: Iterable[str]) -> None:
    """Give a user other roles; sessions of before end."""
    wanted = checked_roles(roles)
    if ADMINISTRATOR not in wanted:
        _keep_administrator(db, user)
    if wanted != user.roles:
        user.roles = wanted
        sessions.close_all(db, user.id)


def set_active(db: Db, user: User, active: bool) -> None:
    """Let a user in, or not; sessions and links of who is not let in end, and tokens are of no use."""
    if not active:
        _keep_administrator(db, user)
        sessions.close_all(db, user.id)
        links.drop(db, user.id)
    user.active = active


def set_password(db: Db, user: User, password: str, *, own: bool = False) -> None:
    """Another password; all sessions and links of before end, and unless the users change their ``own``, all tokens."""
    passwords.check(password, user.name)
    user.password = passwords.hash_password(password)
    sessions.close_all(db, user.id)
    links.drop(db, user.id)
    if not own:
        db.execute(delete(Token).where(Token.user_id == user.id))


class Removed(NamedTuple):
    """How many things went with a user, and the files that must go, too, once this is committed."""

    uploads: int
    sources: int
    files: list[Path]


def remove(db: Db, files: Files, user: User) -> Removed:
    """Delete a user with all that is the user's own, and what the results of others tell of the user's tables."""
    # Commands that know no project begin faster without it.
    from velado.service.sources.removal import empty_sources

    _keep_administrator(db, user)
    owned = set(db.scalars(select(Member.project_id).where(Member.user_id == user.id, Member.role == OWNER)))
    others = select(Member.project_id).where(Member.role == OWNER, Member.user_id.is_distinct_from(user.id))
    alone = owned - set(db.scalars(others.where(Member.project_id.in_(owned))))
    if alone:
        raise Conflict(
            "owns-projects",
            Sentence("the user is the only owner of {count:,} project(s)", count=len(alone)),
            hint="Give them another owner, or delete them; until then the user can be deactivated.",
        )
    uploads = list(db.scalars(select(Upload.id).where(Upload.user_id == user.id)))
    sources = list(db.scalars(select(Source).where(Source.user_id == user.id)))
    gone = [*map(files.upload, uploads), *empty_sources(db, files, sources)]
    links.drop(db, user.id)
    db.delete(user)
    db.flush()
    return Removed(len(uploads), len(sources), gone)


def _keep_administrator(db: Db, user: User) -> None:
    """Raise if nobody would be left who can administer."""
    one_by_one(db)
    others = db.scalars(select(User).where(User.active.is_(True), User.id != user.id).execution_options(populate_existing=True))
    if user.active and ADMINISTRATOR in user.roles and not any(ADMINISTRATOR in other.roles for other in others):
        raise Conflict(
            "last-administrator",
            Sentence("the user is the last active administrator"),
            hint="Make somebody else an administrator first.",
        )
