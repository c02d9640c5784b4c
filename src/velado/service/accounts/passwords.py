"""Passwords: argon2id (RFC 9106). Whether a name exists shows neither in the answer nor in the time that it takes."""

from __future__ import annotations

import base64
import secrets as random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from velado.sentences import Sentence
from velado.service.accounts.throttle import HeldUp
from velado.service.errors import Invalid

LEAST = 12
"""Characters that a password has at least."""
MOST = 1000
COMMON = frozenset(
    (
        "passwordpassword",
        "password1234",
        "password12345",
        "password123456",
        "passw0rd1234",
        "123456789012",
        "1234567890123",
        "1234567890ab",
        "qwertyuiop12",
        "qwertyuiop123",
        "qwertyuiopas",
        "qwertyuiop[]",
        "qwerty123456",
        "qwerty1234567",
        "1q2w3e4r5t6y",
        "1qaz2wsx3edc",
        "abcdefghijkl",
        "abcdefghijklm",
        "abc123456789",
        "administrator",
        "administrador",
        "administrator1",
        "administrador1",
        "changeme1234",
        "changemechangeme",
        "changeitchangeit",
        "letmeinletmein",
        "welcomewelcome",
        "welcome12345",
        "welcome123456",
        "iloveyou1234",
        "contraseña123",
        "contraseña1234",
        "contrasena123",
        "contrasena1234",
        "senhasenha12",
        "senha12345678",
        "minhasenha123",
        "micontraseña",
        "velado123456",
        "veladovelado",
        "velado-studio",
        "velado1234567",
        "anonymization",
        "anonimizacion",
        "correcthorsebatterystaple",
    )
)
"""The first that anybody tries, of those that are long enough; compared in lower case."""

ADVICE = Sentence("Several words that do not belong together are easy to keep in mind.")

HASHER = PasswordHasher()
_turns = threading.BoundedSemaphore(2)
"""Each hash takes 64 MB: a crowd that signs in at once waits, it does not fill the memory."""
_room = threading.BoundedSemaphore(30)
"""And who waits takes up a thread that others need: there is room for so many."""


def check(password: str, name: str) -> None:
    """Raise unless it is fit to be the password of a user."""
    plain, place = password.casefold(), {"path": "password"}
    if len(password) < LEAST:
        message = Sentence("a password has at least {least} characters", least=LEAST)
        raise Invalid("password-too-short", message, hint=ADVICE, fields=place)
    if len(password) > MOST:
        message = Sentence("a password has at most {most} characters", most=MOST)
        raise Invalid("password-too-long", message, fields=place)
    if plain in COMMON or len(set(plain)) < 4 or name.casefold() in (plain, plain[::-1]) or _only(plain, name):
        message = Sentence("this password is one of the first that anybody tries")
        raise Invalid("password-too-easy", message, hint=ADVICE, fields=place)


def hash_password(password: str) -> str:
    """What the store keeps of a password."""
    with _turn():
        return HASHER.hash(_bytes(password))


def verify(stored: str | None, password: str) -> bool:
    """Whether a password is the one that was stored; None: nobody's, which takes as long."""
    with _turn():
        try:
            return HASHER.verify(stored or _nobody(HASHER), _bytes(password)) and stored is not None
        except (VerificationError, InvalidHashError):
            return False


def is_outdated(stored: str) -> bool:
    """Whether it was hashed with other parameters than today's."""
    return HASHER.check_needs_rehash(stored)


@contextmanager
def _turn() -> Iterator[None]:
    if not _room.acquire(blocking=False):
        raise HeldUp(2)
    try:
        with _turns:
            yield
    finally:
        _room.release()


@cache
def _nobody(hasher: PasswordHasher) -> str:
    """A hash that no password has, with today's parameters: it is compared with where there is no user."""
    salt, end = (base64.b64encode(random.token_bytes(n)).decode().rstrip("=") for n in (hasher.salt_len, hasher.hash_len))
    costs = f"m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}"
    return f"$argon2id$v=19${costs}${salt}${end}"


def _bytes(password: str) -> bytes:
    # Half of a pair of surrogates is no text, but must not be an error that tells one password from another.
    return password.encode("utf-8", "surrogatepass")


def _only(plain: str, name: str) -> bool:
    """Whether it is the name and digits around it, such as maria2024maria."""
    rest = plain.replace(name.casefold(), "")
    return bool(name) and rest != plain and (not rest or rest.isdigit())
