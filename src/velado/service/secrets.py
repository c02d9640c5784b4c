"""Secrets: passwords of databases and keys of projects, sealed by AES-256-GCM; hashes of tokens and sessions.

The key is 256 random bits in a file that only its owner reads, or in the environment. From it HKDF (RFC 5869) derives one
key per purpose. A sealed secret is bound to the thing that it belongs to, so that it opens nowhere else.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import secrets as random
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from velado.errors import InputError
from velado.operations.keys import BYTES, read_key
from velado.service.settings import PREFIX, Settings

NONCE = 12


class Secrets:
    """What the key of a service does."""

    def __init__(self, key: bytes) -> None:
        self._sealing = AESGCM(_derive_key(key, "seal"))
        self._signing = _derive_key(key, "audit")

    @classmethod
    def of(cls, settings: Settings, *, make: bool = False) -> Secrets:
        """With the key of the settings; ``make`` makes a key file where there is no key."""
        if settings.key:
            os.environ.setdefault(f"{PREFIX}KEY", settings.key)
            return cls(read_key(f"env:{PREFIX}KEY"))
        path = settings.key_path
        if make and not path.exists():
            _make(path)
        return cls(read_key(f"file:{path.name}", path.parent))

    def seal(self, text: str, owner: str) -> str:
        """A secret that only this service opens again, for the thing ``owner``."""
        nonce = random.token_bytes(NONCE)
        return base64.b64encode(nonce + self._sealing.encrypt(nonce, text.encode(), owner.encode())).decode()

    def open(self, sealed: str, owner: str) -> str:
        """The secret of a thing."""
        data = base64.b64decode(sealed)
        try:
            return self._sealing.decrypt(data[:NONCE], data[NONCE:], owner.encode()).decode()
        except InvalidTag:
            raise InputError(
                "wrong-key", "the secret was sealed under another key", hint="Restore the key of the service, or enter it again."
            ) from None

    def sign(self, text: str) -> str:
        """What only this service can say of a text: links of the audit log."""
        return hmac.new(self._signing, text.encode(), hashlib.sha256).hexdigest()


def new_token() -> str:
    """Something that nobody guesses: 256 bits."""
    return random.token_urlsafe(32)


def digest(token: str) -> str:
    """What the store keeps of a token, a session or a link: it cannot be used to sign in."""
    return hashlib.sha256(token.encode()).hexdigest()


def _derive_key(key: bytes, purpose: str) -> bytes:
    return HKDF(hashes.SHA256(), BYTES, None, f"velado studio {purpose}".encode()).derive(key)


def _make(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(random.token_bytes(BYTES).hex() + "\n")
