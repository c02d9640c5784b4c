"""Named, scoped tokens of programs."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field
from sqlalchemy import select

from velado.service.accounts import tokens
from velado.service.errors import NotFound
from velado.service.permissions import SCOPES
from velado.service.store.tables import Token
from velado.service.web.call import Called
from velado.service.web.shapes import After, Body, Limit, Listed, Name

router = APIRouter(prefix="/tokens", tags=["tokens"])


class NewToken(Body):
    """A token that is to be made."""

    name: Name
    scopes: Annotated[list[Annotated[str, Field(max_length=40)]], Field(min_length=1, max_length=len(SCOPES))] = Field(
        description="Of: read, run, records, download, manage"
    )
    days: Annotated[int, Field(ge=1, le=1_000_000)] = 90


class TokenShown(BaseModel):
    """A token, without what makes it one."""

    id: str
    name: str
    scopes: list[str]
    created: datetime
    expires: datetime
    used: datetime | None


class TokenMade(TokenShown):
    """A new token; ``token`` is shown this once."""

    token: str


@router.get("")
def list_tokens(call: Called, limit: Limit = 100, after: After = None) -> Listed[TokenShown]:
    """The own tokens."""
    call.caller.require("account.use")
    wanted = select(Token).where(Token.user_id == call.caller.id, Token.id > (after or "")).order_by(Token.id)
    with call.reading() as db:
        found = list(db.scalars(wanted.limit(limit + 1)))
    shown = [TokenShown.model_validate(token, from_attributes=True) for token in found[:limit]]
    return Listed(items=shown, next=shown[-1].id if len(found) > limit else None)


@router.post("", status_code=201)
def create(body: NewToken, call: Called, response: Response) -> TokenMade:
    """Make a token; its text is in this answer and never again."""
    call.require_session()
    call.caller.require("account.use")
    with call.writing() as db:
        days = tokens.checked_days(call.settings(db), body.days)
        token, text = tokens.make(db, call.user(db), body.name, body.scopes, days)
        call.audit(db, "token.made", token.id, scopes=token.scopes, days=days)
    response.headers["Location"] = f"/api/v1/tokens/{token.id}"
    return TokenMade(**TokenShown.model_validate(token, from_attributes=True).model_dump(), token=text)


@router.delete("/{id}", status_code=204)
def delete(id: str, call: Called) -> None:
    """Revoke a token at once; a token may revoke itself."""
    if call.caller.token != id:
        call.require_session()
    with call.writing() as db:
        token = db.get(Token, id)
        if token is None or token.user_id != call.caller.id:
            raise NotFound()
        tokens.revoke(db, token)
        call.audit(db, "token.revoked", id)
