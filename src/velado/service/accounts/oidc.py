"""Signing in through a provider of OpenID Connect: authorization code with PKCE, state and nonce.

The browser gets a cookie for some minutes. Nonce and verifier are derived from it, and the store has the hashes of the cookie
and of the state: a state works once, and in the browser that began. What the provider says of somebody counts only if its ID
token is signed by the provider's key, for us, now, and for this attempt.
"""

from __future__ import annotations

import hmac
import json
import re
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Any, ClassVar
from urllib.parse import urlsplit

import httpx2
from authlib.oauth2.rfc6749.parameters import prepare_grant_uri
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from authlib.oidc.core import CodeIDToken
from authlib.oidc.discovery import OpenIDProviderMetadata, get_well_known_url
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session as Db

from velado.results import Discreet
from velado.sentences import Sentence
from velado.service.accounts import sessions, sign_in, users
from velado.service.accounts.throttle import HeldUp, one_by_one
from velado.service.admin import audit
from velado.service.errors import Conflict, Refused, Unavailable
from velado.service.secrets import digest, new_token
from velado.service.service import Service
from velado.service.settings import Settings
from velado.service.store.tables import SignIn, User, now

KIND = "oidc"
MINUTES = 10
MOST_BEGUN = 10_000
"""Attempts that are under way at once: anybody can begin one."""
SECONDS = 10
MOST_BYTES = 1_000_000
LEEWAY = 60
"""Seconds by which clocks may differ."""
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures by a key that only the provider has."""
NEEDED = ("issuer", "authorization_endpoint", "token_endpoint", "jwks_uri")
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class NoProvider(Conflict):
    """The service has no provider."""

    def __init__(self) -> None:
        super().__init__(
            "no-oidc",
            Sentence("this service has no provider to sign in through"),
            hint="An administrator sets oidc_issuer and oidc_client.",
        )


class ProviderFailed(Unavailable):
    """The provider does not answer, or not as it should."""

    def __init__(self, message: Sentence) -> None:
        super().__init__("oidc-unavailable", message, hint="Try again later, or tell an administrator.")


class BadState(Refused):
    """An answer to a question that this browser has not asked, or that was answered already."""

    def __init__(self) -> None:
        super().__init__("oidc-state", Sentence("this sign-in was not begun in this browser, or is over"), hint="Sign in again.")


class ProviderRefused(Refused):
    """The provider, or what it says, does not let somebody in."""

    status = 403

    def __init__(self, message: Sentence) -> None:
        super().__init__("oidc-refused", message, hint="Sign in again, or ask an administrator.")


@dataclass(frozen=True, repr=False)
class ProviderRedirect(Discreet):
    """Where the browser goes, and the cookie that it takes along."""

    NAMES: ClassVar[tuple[str, ...]] = ()
    address: str
    cookie: str


def begin(service: Service, back: str, following: str) -> ProviderRedirect:
    """Begin to sign in; ``back`` is our address to which the provider leads, ``following`` the page after that."""
    settings = service.settings
    provider = discover(settings)
    state, cookie = new_token(), new_token()
    with service.store.writing() as db:
        moment = now()
        db.execute(delete(SignIn).where(SignIn.expires < moment))
        if (db.scalar(select(func.count()).select_from(SignIn).where(SignIn.kind == KIND)) or 0) >= MOST_BEGUN:
            raise HeldUp(60)
        detail = {"browser": digest(cookie), "following": following if local(following) else "/"}
        db.add(SignIn(kind=KIND, key=digest(state), detail=detail, expires=moment + timedelta(minutes=MINUTES)))
    address = prepare_grant_uri(
        provider["authorization_endpoint"],
        settings.oidc_client,
        "code",
        redirect_uri=back,
        scope=settings.oidc_scope,
        state=state,
        nonce=sessions.derive(cookie, "nonce"),
        code_challenge_method="S256",
        code_challenge=create_s256_code_challenge(sessions.derive(cookie, "verifier")),
    )
    return ProviderRedirect(address, cookie)


def finish(
    service: Service, back: str, answer: Mapping[str, str | None], cookie: str | None, before: str | None
) -> tuple[sign_in.SignedIn, str]:
    """End it with what the provider's redirection says; a new session, and the page that follows."""
    detail = _use_state(service, answer.get("state"), cookie)
    if answer.get("error") or not answer.get("code"):
        raise ProviderRefused(Sentence("the provider did not let you in"))
    settings = service.settings
    provider = discover(settings)
    if answer.get("iss") not in (None, settings.oidc_issuer):
        raise BadState()
    token = _exchange(settings, provider, str(answer["code"]), back, str(cookie))
    claims = _verify_token(settings, provider, token, sessions.derive(str(cookie), "nonce"))
    with service.store.writing() as db:
        user = _user(db, service, claims)
        if user.active:
            return sign_in.open_for(db, service, user, before, by="provider"), str(detail["following"])
    raise ProviderRefused(Sentence("your account is not active"))


def look(settings: Settings) -> tuple[dict[str, bool], Refused | None]:
    """Ask a provider for what signing in needs: what went well, and the first error."""
    steps = {"set": False, "discovery": False, "keys": False}
    try:
        _check_set(settings)
        steps["set"] = True
        provider = discover(settings, anew=True)
        steps["discovery"] = True
        _keys(provider)
        steps["keys"] = True
    except Refused as error:
        return steps, error
    return steps, None


DISCOVERED_SECONDS = 300
"""How long what a provider says of itself is believed."""
_discovered: dict[str, tuple[float, dict[str, Any]]] = {}


def discover(settings: Settings, *, anew: bool = False) -> dict[str, Any]:
    """What the provider says of itself, checked; asked for once in a while, or ``anew``."""
    _check_set(settings)
    known = _discovered.get(settings.oidc_issuer)
    if known is not None and not anew and time.monotonic() - known[0] < DISCOVERED_SECONDS:
        return dict(known[1])
    _discovered.pop(settings.oidc_issuer, None)
    data = _json(httpx2.Request("GET", get_well_known_url(settings.oidc_issuer, external=True)))
    provider = OpenIDProviderMetadata(data)
    if any(not isinstance(provider.get(name), str) for name in NEEDED) or data["issuer"] != settings.oidc_issuer:
        raise ProviderFailed(Sentence("the provider does not describe itself as it should"))
    if not all(_safe(provider[name]) for name in NEEDED):
        raise ProviderFailed(Sentence("the provider has addresses without TLS"))
    _discovered[settings.oidc_issuer] = (time.monotonic(), dict(provider))
    return dict(provider)


def local(address: str) -> bool:
    """Whether it is a page of ours, and leads to no other site however a browser reads it."""
    odd = any(not 0x20 < ord(char) < 0x7F or char == "\\" for char in address)
    return len(address) <= 500 and address.startswith("/") and not address.startswith("//") and not odd


def _check_set(settings: Settings) -> None:
    if not settings.oidc_issuer or not settings.oidc_client or not _safe(settings.oidc_issuer):
        raise NoProvider()


def _safe(address: str) -> bool:
    parts = urlsplit(address)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)


def _use_state(service: Service, state: str | None, cookie: str | None) -> Mapping[str, Any]:
    """What was kept of a state, which is used up whatever comes of it."""
    wanted = (SignIn.kind == KIND, SignIn.key == digest(state or ""), SignIn.expires > now())
    with service.store.writing() as db:
        detail: Mapping[str, Any] | None = db.scalars(delete(SignIn).where(*wanted).returning(SignIn.detail)).first()
    if detail is None or not hmac.compare_digest(str(detail["browser"]), digest(cookie or "")):
        raise BadState()
    return detail


def _exchange(settings: Settings, provider: Mapping[str, Any], code: str, back: str, cookie: str) -> str:
    """The ID token for the code."""
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": back,
        "client_id": settings.oidc_client,
        "code_verifier": sessions.derive(cookie, "verifier"),
    }
    known = provider.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
    by_header = bool(settings.oidc_secret) and "client_secret_basic" in known
    if settings.oidc_secret and not by_header:
        form["client_secret"] = settings.oidc_secret
    request = httpx2.Request("POST", provider["token_endpoint"], data=form, headers={"Accept": "application/json"})
    if by_header:
        request = next(httpx2.BasicAuth(*map(_form, (settings.oidc_client, settings.oidc_secret))).auth_flow(request))
    token = _json(request, refused=True).get("id_token")
    if not isinstance(token, str):
        raise ProviderFailed(Sentence("the provider gave no ID token"))
    return token


def _verify_token(settings: Settings, provider: Mapping[str, Any], token: str, nonce: str) -> Mapping[str, Any]:
    """What an ID token says, if it is signed by the provider, for us, now, and for this attempt."""
    keys = _keys(provider)
    wanted = {"iss": {"value": settings.oidc_issuer}}
    try:
        found = jwt.decode(token, keys, algorithms=list(ALGORITHMS))
        known = CodeIDToken(found.claims, found.header, wanted, {"client_id": settings.oidc_client, "nonce": nonce})
        known.validate(leeway=LEEWAY)
    except (JoseError, ValueError, TypeError, KeyError):
        raise ProviderRefused(Sentence("the provider's ID token is not valid")) from None
    claims: dict[str, Any] = found.claims
    audience = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
    ours = settings.oidc_client in audience and (len(audience) == 1 or claims.get("azp") == settings.oidc_client)
    fits = claims["iss"] == settings.oidc_issuer and hmac.compare_digest(str(claims.get("nonce")).encode(), nonce.encode())
    # OpenID Connect Core 1.0, section 2: a subject has at most 255 ASCII characters.
    if not ours or not fits or not isinstance(claims["sub"], str) or not re.fullmatch("[!-~ ]{1,255}", claims["sub"]):
        raise ProviderRefused(Sentence("the provider's ID token is not valid"))
    return claims


def _user(db: Db, service: Service, claims: Mapping[str, Any]) -> User:
    """Whom the provider means; made at the first time. It is never an account that was made here."""
    subject = f"{claims['iss']}#{claims['sub']}"
    one_by_one(db)
    user = db.scalars(select(User).where(User.subject == subject)).first()
    if user is not None:
        return user
    said = {key: value for key, value in claims.items() if isinstance(value, str)}
    name = users.free_name(db, said.get("preferred_username") or said.get("email", "").partition("@")[0] or "user")
    roles = [role.strip() for role in service.settings.oidc_roles.split(",") if role.strip()]
    user = users.create(db, name, roles, subject=subject, full_name=_line(said.get("name", "")), email=_line(said.get("email", "")))
    audit.append(db, service.secrets, user.id, "user.made", user.id, roles=user.roles, by="provider")
    return user


def _line(text: str) -> str:
    return "".join(char for char in text if char.isprintable())[:200]


def _keys(provider: Mapping[str, Any]) -> KeySet:
    try:
        return KeySet.import_key_set(_json(httpx2.Request("GET", provider["jwks_uri"])))  # type: ignore[arg-type]
    except (JoseError, ValueError, TypeError, KeyError, AttributeError):
        raise ProviderFailed(Sentence("the provider's keys cannot be read")) from None


def _form(text: str) -> str:
    """As RFC 6749 wants client and secret in the header."""
    from urllib.parse import quote_plus

    return quote_plus(text)


@cache
def _tls() -> ssl.SSLContext:
    """The certificates of authorities, which take a while to read."""
    return httpx2.create_ssl_context()


def _json(request: httpx2.Request, *, refused: bool = False) -> dict[str, Any]:
    """A JSON object of the provider's; what it says in an error is not repeated."""
    try:
        with httpx2.Client(timeout=SECONDS, follow_redirects=False, verify=_tls()) as client:
            answer = client.send(request, stream=True)
            body = b""
            for piece in answer.iter_bytes():
                body += piece
                if len(body) > MOST_BYTES:
                    raise ValueError
            if refused and 400 <= answer.status_code < 500:
                raise ProviderRefused(Sentence("the provider did not let you in"))
            data = json.loads(body) if answer.status_code == 200 else None
        if not isinstance(data, dict):
            raise ValueError
        return data
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, RecursionError):
        raise ProviderFailed(Sentence("the provider does not answer as it should")) from None
