"""What the service refuses: errors with the status of HTTP that says so."""

from __future__ import annotations

from typing import Any, ClassVar

from velado.errors import InputError
from velado.sentences import Sentence


class Refused(InputError):
    """A request that is not carried out; ``status`` is that of the answer."""

    status: ClassVar[int] = 400


class Unauthenticated(Refused):
    """Nobody has signed in."""

    status = 401

    def __init__(self) -> None:
        super().__init__(
            "unauthenticated", "sign in first", hint="Sign in at /api/v1/session, or send a token: 'Authorization: Bearer …'."
        )


class Forbidden(Refused):
    """Somebody who may see the thing may not do this with it."""

    status = 403

    def __init__(self, action: str) -> None:
        super().__init__(
            "forbidden",
            Sentence("your role does not allow this: {action}", action=action),
            hint="Ask the owner of the project, or an administrator, for a role that does.",
        )


class SessionOnly(Refused):
    """What a token does not do."""

    status = 403

    def __init__(self) -> None:
        super().__init__(
            "session-only", Sentence("a token cannot do this"), hint="Sign in with your password, or through your provider."
        )


class NotFound(Refused):
    """It does not exist, or not for who asks: nobody can tell which."""

    status = 404

    def __init__(self) -> None:
        super().__init__("not-found", "there is no such thing, or it is not yours")


class Conflict(Refused):
    """It cannot be done in the state that the thing has."""

    status = 409


class Changed(Refused):
    """Somebody else changed it meanwhile."""

    status = 412

    def __init__(self, **fields: Any) -> None:
        super().__init__("changed", "it was changed meanwhile", hint="Read it again, and send its ETag as If-Match.", fields=fields)


class Unconditional(Refused):
    """A change must say what it changes."""

    status = 428

    def __init__(self) -> None:
        super().__init__("no-if-match", "a change needs the header If-Match", hint="Read it first, and send its ETag as If-Match.")


class TooLarge(Refused):
    """More bytes than allowed."""

    status = 413


class TooMany(Refused):
    """More than allowed at this time."""

    status = 429


class Invalid(Refused):
    """A body, a parameter or a document that is wrong."""

    status = 422


class Unavailable(Refused):
    """Something that the answer needs is not there now."""

    status = 503
