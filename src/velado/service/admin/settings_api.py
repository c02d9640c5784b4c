"""Settings that change while the service runs."""

from __future__ import annotations

from fastapi import APIRouter

from velado.service.admin import operations
from velado.service.admin.operations import OidcTested, SettingsChange, SettingsShown
from velado.service.web.call import Called

router = APIRouter(prefix="/settings", tags=["settings"])


@router.get("")
def read(call: Called) -> SettingsShown:
    """The settings that can be changed while the service runs."""
    return operations.read_settings(call)


@router.patch("")
def change(body: SettingsChange, call: Called) -> SettingsShown:
    """Change settings; all of them, or none if one is wrong."""
    return operations.change_settings(call, body)


@router.get("/oidc-test")
def test_oidc(call: Called) -> OidcTested:
    """Ask the provider of OpenID Connect for what signing in needs."""
    return operations.test_oidc(call)
