"""Named, scoped tokens of programs."""

from __future__ import annotations

from fastapi import APIRouter, Response

from velado.service.accounts import operations
from velado.service.accounts.operations import NewToken, TokenMade, TokenShown
from velado.service.web.call import Called
from velado.service.web.schemas import After, Limit, Listed

router = APIRouter(prefix="/tokens", tags=["tokens"])


@router.get("")
def list_tokens(call: Called, limit: Limit = 100, after: After = None) -> Listed[TokenShown]:
    """The own tokens."""
    return operations.list_tokens(call, limit, after)


@router.post("", status_code=201)
def create(body: NewToken, call: Called, response: Response) -> TokenMade:
    """Make a token; its text is in this answer and never again."""
    token = operations.make_token(call, body)
    response.headers["Location"] = f"/api/v1/tokens/{token.id}"
    return token


@router.delete("/{id}", status_code=204)
def delete(id: str, call: Called) -> None:
    """Revoke a token at once; a token may revoke itself."""
    operations.revoke_token(call, id)
