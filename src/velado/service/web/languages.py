"""The language of an answer: what the request says, else what the user chose, else what the browser prefers."""

from __future__ import annotations

from fastapi import Request

from velado.i18n.language import LANGUAGES


def language_of(request: Request, chosen: str, usual: str) -> str:
    """``?language=``, the user's, ``Accept-Language``, the service's."""
    preferred = [part.split(";")[0].strip()[:2].lower() for part in request.headers.get("accept-language", "").split(",")]
    for code in (request.query_params.get("language"), chosen, *preferred, usual):
        if code in LANGUAGES:
            return str(code)
    return "en"
