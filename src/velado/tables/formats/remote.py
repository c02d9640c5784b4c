"""Files elsewhere: copied here before they are read, written here before they are sent. Everything through fsspec.

Rights come from where fsspec's file systems look for them: the environment, and their own files. No address is told with its
user, password or options.
"""

from __future__ import annotations

import errno
import hashlib
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from velado.errors import Cancelled, InputError, disk_full, missing_package
from velado.progress import Progress
from velado.results import Discreet
from velado.sentences import Sentence
from velado.tables.files import digest_of
from velado.tables.identity import FixedIdentity
from velado.tables.source import REMOTE, Source, shown_url

PIECE = 1 << 22
"""Bytes that are copied together."""
STATE = (
    "size",
    "ETag",
    "etag",
    "LastModified",
    "Last-Modified",
    "last_modified",
    "mtime",
    "modified",
    "created",
    "version_id",
    "VersionId",
)
"""What file systems tell of a file that is another one after a change."""
READ_ONLY = ("http", "https", "github", "zip", "tar", "data")
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
REFUSED = (
    "accessdenied",
    "forbidden",
    "403",
    "401",
    "unauthorized",
    "nocredentials",
    "unable to locate credentials",
    "invalidaccesskeyid",
    "signaturedoesnotmatch",
    "permission",
    "expiredtoken",
)
UNREACHED = ("connectorerror", "connectionrefused", "could not connect", "cannot connect", "timed out", "timeouterror")
ABSENT = ("nosuchbucket", "nosuchkey", "not found", "404", "no such file", "does not exist")


@dataclass(frozen=True, repr=False)
class Remote(Discreet):
    """A file elsewhere: the file system that reaches it, its path there, and what messages call it."""

    system: Any
    path: str
    name: str

    @classmethod
    def at(cls, url: str) -> Remote:
        """The file at an address; it need not be there."""
        name = shown_url(url)
        try:
            import fsspec
        except ImportError:
            raise _missing(name) from None
        try:
            # Rights may have changed since the last call, and listings that are kept tell nothing of changes.
            system, path = fsspec.core.url_to_fs(url, skip_instance_cache=True, use_listings_cache=False)
        except ImportError:
            raise _missing(name) from None
        except ValueError:
            raise InputError(
                "no-such-engine",
                Sentence("there is no engine for addresses that begin with '{scheme}'", scheme=url.partition(":")[0]),
                hint="Files elsewhere begin with s3://, hdfs://, https:// or another address that fsspec knows.",
            ) from None
        except Exception as error:
            raise problem(error, name, reading=True) from None
        return cls(system, path, name)

    def beside(self, ending: str) -> Remote:
        """The file of the same folder whose name ends in something more."""
        return Remote(self.system, self.path + ending, self.name + ending)

    def hidden_sibling(self) -> Remote:
        """A file of the same folder that nobody takes for one of the results."""
        folder, slash, last = self.path.rpartition("/")
        token = secrets.token_hex(8)
        return Remote(self.system, f"{folder}{slash}.velado-{token}-{last}", self.name)

    def state(self) -> tuple[str, ...]:
        """What the file system tells of the file now."""
        self.system.invalidate_cache()
        found = self.system.info(self.path)
        if found.get("type") == "directory":
            raise InputError("not-a-file", "this is a directory, not a file", file=self.name)
        return tuple(f"{key} {found[key]}" for key in STATE if found.get(key) is not None)

    def exists(self) -> bool:
        """Whether there is such a file now."""
        self.system.invalidate_cache()
        return bool(self.system.exists(self.path))

    def remove(self) -> None:
        """Remove it, if that can be done."""
        with suppress(Exception):
            self.system.rm_file(self.path)

    def move(self, target: Remote) -> None:
        """Give it another name, in the place of a file that has it."""
        try:
            self.system.mv(self.path, target.path)
        except FileExistsError:
            # Some file systems replace nothing.
            self.system.rm_file(target.path)
            self.system.mv(self.path, target.path)

    def copy(self, target: Remote) -> None:
        """Keep it under another name, too."""
        self.system.cp_file(self.path, target.path)

    def read(self, progress: Progress) -> Iterator[bytes]:
        """Its bytes, some at a time."""
        with self.system.open(self.path, "rb", block_size=PIECE) as stream:
            while piece := stream.read(PIECE):
                progress.check()
                yield piece


def download(source: Source, folder: Path, progress: Progress) -> tuple[Path, FixedIdentity]:
    """A copy of a file in a private folder, and the SHA-256 of it. A file that changes meanwhile is refused."""
    assert source.url is not None
    if source.kind_of_file not in REMOTE:
        raise InputError(
            "unknown-format",
            Sentence("files elsewhere are read as {known}", known=list(REMOTE)),
            file=source.name,
            hint="Copy the file to this machine first.",
        )
    remote = Remote.at(source.url)
    # The suffix tells tabs from commas.
    suffix = Path(source.short_name).suffix
    path = folder / f"copy{suffix if suffix.isascii() and suffix[1:].isalnum() else ''}"
    digest = hashlib.sha256()
    with translate_errors(remote.name, reading=True):
        before = remote.state()
        path.touch(mode=0o600)
        with open(path, "wb") as copy:
            for piece in remote.read(progress):
                digest.update(piece)
                _write(copy, piece)
        if remote.state() != before:
            raise InputError(
                "source-changed",
                "the file changed while it was read; nothing was published",
                file=remote.name,
                hint="Run again when nobody writes to it, or work on a copy.",
            )
    if not path.stat().st_size:
        raise InputError("empty-file", "the file is empty", file=remote.name)
    return path, FixedIdentity(digest.hexdigest())


def upload(path: Path, target: Remote, progress: Progress) -> Remote:
    """A file sent to a hidden name beside its target, and read back there."""
    hidden = target.hidden_sibling()
    with translate_errors(target.name, reading=False):
        try:
            with open(path, "rb") as file, target.system.open(hidden.path, "wb", block_size=2 * PIECE) as stream:
                while piece := file.read(PIECE):
                    progress.check()
                    stream.write(piece)
            digest = hashlib.sha256()
            for piece in hidden.read(progress):
                digest.update(piece)
            if digest.hexdigest() != digest_of(path, progress):
                raise InputError(
                    "unwritable-output",
                    "what arrived there is not what was sent; nothing was published",
                    file=target.name,
                    hint="Run again.",
                )
        except BaseException:
            hidden.remove()
            raise
    return hidden


def check_writable(target: Remote) -> None:
    """Refuse places where nothing can be written, before any work is done for them."""
    protocols = target.system.protocol
    names = (protocols,) if isinstance(protocols, str) else tuple(protocols)
    if any(name in READ_ONLY for name in names):
        raise InputError(
            "unwritable-output",
            Sentence("nothing can be written to addresses that begin with '{scheme}'", scheme=target.name.partition(":")[0]),
            file=target.name,
            hint="Write a file here and send it there, or choose s3://, hdfs:// or another place.",
        )
    probe = target.hidden_sibling()
    with translate_errors(target.name, reading=False):
        try:
            target.system.pipe_file(probe.path, b"")
        finally:
            probe.remove()


@contextmanager
def translate_errors(name: str, reading: bool) -> Iterator[None]:
    """Errors of file systems in our words."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        raise problem(error, name, reading) from None


@contextmanager
def rename_in_errors(path: Path, name: str) -> Iterator[None]:
    """Errors about a copy are about what was copied."""
    try:
        yield
    except InputError as error:
        if error.file is not None and str(error.file) == str(path):
            error.file = name
        raise


def problem(error: BaseException, name: str, reading: bool) -> BaseException:
    """The error that a user gets for one of a file system; its own sentence may hold an address with its secrets."""
    if isinstance(error, (Cancelled, InputError)):
        return error
    if isinstance(error, OSError) and error.errno in FULL:
        return disk_full()
    said = " ".join(f"{type(e).__name__} {getattr(e, 'status', '')} {e}" for e in _chain(error)).lower()
    if any(sign in said for sign in UNREACHED):
        return _no_server(name)
    if isinstance(error, PermissionError) or any(sign in said for sign in REFUSED):
        if reading:
            return InputError(
                "unreadable-file",
                "no permission to read the file",
                file=name,
                hint="Rights come from the environment, or from the files of the file system, such as ~/.aws/credentials.",
            )
        return InputError(
            "unwritable-output",
            "no permission to write there",
            file=name,
            hint="Rights come from the environment, or from the files of the file system, such as ~/.aws/credentials.",
        )
    if isinstance(error, FileNotFoundError) or any(sign in said for sign in ABSENT):
        if reading:
            return InputError("missing-file", "there is no file at this address", file=name)
        return InputError(
            "unwritable-output", "the output folder does not exist", file=name, hint="Create it, or choose another path."
        )
    if isinstance(error, ImportError):
        return _missing(name)
    if isinstance(error, NotImplementedError) and not reading:
        return InputError("unwritable-output", "nothing can be written there", file=name)
    return _no_server(name)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error and those behind it."""
    while error is not None:
        yield error
        error = error.__cause__


def _no_server(name: str) -> InputError:
    return InputError(
        "no-server",
        "there is no server at this address, or it does not answer",
        file=name,
        hint="Is the address right, and is the server running?",
    )


def _write(copy: Any, piece: bytes) -> None:
    try:
        copy.write(piece)
    except OSError as error:
        if error.errno in FULL:
            raise disk_full() from None
        raise


def _missing(name: str) -> InputError:
    return missing_package("missing-extra", "files elsewhere need an extra package", "remote", name)
