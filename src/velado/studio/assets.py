"""What pages load: our own styles and scripts, and the bundle of Vega that the installed ``vl-convert-python`` makes.

Addresses carry a digest of the content, so that browsers keep files for ever and never have an old one. A module that another
one imports (``from "./name.js"``) is asked for beside it, under its digest, which is therefore of both.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import threading
from contextlib import suppress
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from fastapi import APIRouter, Request, Response

from velado.service.errors import NotFound

TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}
FOREVER = "public, max-age=31536000, immutable"
VEGA = "vega.js"
SNIPPET = "window.vegaEmbed = vegaEmbed;"
"""What the bundle gives to pages."""
IMPORT = re.compile(rb'^import .* from "\./([a-z_]+\.js)";$', re.MULTILINE)
_building = threading.Lock()

router = APIRouter(include_in_schema=False)


class Asset(NamedTuple):
    """A file as it is sent."""

    body: bytes
    packed: bytes
    digest: str
    media: str


@router.get("/static/{digest}/{name}")
def asset(digest: str, name: str, request: Request) -> Response:
    """A file that pages load; its address is of this content only."""
    found = _asset(name) if name in _names() else None
    if found is None:
        raise NotFound()
    # Another version of the program may have made the page: what it asks for is the same file, newer.
    keep = FOREVER if digest == found.digest or digest in _importers(name) else "no-store"
    packed = "gzip" in request.headers.get("accept-encoding", "")
    headers = {"Cache-Control": keep, "Vary": "Accept-Encoding"} | ({"Content-Encoding": "gzip"} if packed else {})
    return Response(found.packed if packed else found.body, media_type=found.media, headers=headers)


def address(name: str) -> str:
    """The address of a file that pages load."""
    return f"/static/{_digest(name)}/{name}"


@cache
def _names() -> frozenset[str]:
    ours = {file.name for file in files("velado.studio").joinpath("assets").iterdir()}
    return frozenset(ours | {VEGA})


@cache
def _digest(name: str) -> str:
    # The bundle takes seconds to make: its address is known before, by the version of what makes it.
    if name == VEGA:
        return hashlib.sha256(_maker().encode()).hexdigest()[:16]
    return _asset(name).digest


@cache
def _asset(name: str) -> Asset:
    body = _vega() if name == VEGA else _own(name)
    whole = body + b"".join(_own(other) for other in _imports(name))
    digest = _digest(VEGA) if name == VEGA else hashlib.sha256(whole).hexdigest()[:16]
    return Asset(body, gzip.compress(body, 6), digest, TYPES[name.rpartition(".")[2]])


def _own(name: str) -> bytes:
    return files("velado.studio").joinpath("assets", name).read_bytes()


@cache
def _imports(name: str) -> tuple[str, ...]:
    """The modules that one of ours imports."""
    if name == VEGA or not name.endswith(".js"):
        return ()
    return tuple(found.decode() for found in IMPORT.findall(_own(name)))


@cache
def _importers(name: str) -> frozenset[str]:
    """The digests under which a module is asked for by those that import it."""
    return frozenset(_asset(other).digest for other in _names() if name in _imports(other))


def _maker() -> str:
    from importlib.metadata import version

    return f"vl-convert-python {version('vl-convert-python')} {SNIPPET}"


def _vega() -> bytes:
    """The bundle of Vega, from the cache folder if it was made before."""
    import vl_convert

    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "velado"
    kept = folder / f"vega-{_digest(VEGA)}.js"
    with _building:
        if kept.is_file():
            return kept.read_bytes()
        made = vl_convert.javascript_bundle(SNIPPET).encode()
        # Where nothing can be kept it is made again by the next process.
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            written = kept.with_suffix(f".{os.getpid()}")
            written.write_bytes(made)
            written.replace(kept)
        return made
