"""Settings that change while the service runs."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, RootModel
from pydantic.config import JsonDict
from sqlalchemy.orm import Session as Db

from velado.errors import Problems, suggest
from velado.sentences import Sentence, into
from velado.service.accounts import oidc
from velado.service.errors import Invalid
from velado.service.settings import KNOWN, LIVE, Settings, highest, parse
from velado.service.store.tables import Changed
from velado.service.web.call import Call, Called

router = APIRouter(prefix="/settings", tags=["settings"])

Value = Annotated[str, Field(max_length=200)] | int | bool | None


class SettingShown(BaseModel):
    """A setting. ``usual`` is what it is if nobody changes it here: from the file, the environment, or the default."""

    name: str
    help: str
    kind: str
    low: float | None
    default: bool | int | str
    usual: bool | int | str
    value: bool | int | str
    changed: bool


class SettingsShown(BaseModel):
    """All settings that can be changed while the service runs."""

    settings: list[SettingShown]


def _described(name: str) -> JsonDict:
    """What a setting may be, for the description of the REST interface."""
    low = KNOWN[name].metadata["low"]
    plain: JsonDict = (
        {"type": "boolean"} if low is None else {"type": "integer", "minimum": low, "maximum": highest(name)}
    )
    return {"anyOf": [plain, {"type": "null"}], "description": KNOWN[name].metadata["help"]}


class SettingsChange(RootModel[dict[Annotated[str, Field(max_length=60)], Value]]):
    """New values by name, sizes also such as `2 GB`; null: as in the file."""

    model_config = ConfigDict(
        json_schema_extra={
            "properties": {name: _described(name) for name in LIVE}, "additionalProperties": False, "propertyNames": {},
        }
    )  # fmt: skip


class OidcTested(BaseModel):
    """What a look at the provider of OpenID Connect found: each step, and whether it went well."""

    works: bool
    steps: dict[str, bool]
    problem: str = ""


@router.get("")
def read(call: Called) -> SettingsShown:
    """The settings that can be changed while the service runs."""
    call.caller.require("settings.manage")
    with call.reading() as db:
        return _shown(call, db)


@router.patch("")
def change(body: SettingsChange, call: Called) -> SettingsShown:
    """Change settings; all of them, or none if one is wrong."""
    call.caller.require("settings.manage")
    problems, wanted = Problems(), {}
    for name, value in body.root.items():
        with problems.at():
            wanted[name] = _checked(name, value)
    problems.done()
    with call.writing() as db:
        for name, value in wanted.items():
            row = db.get(Changed, name)
            if value is None and row is not None:
                db.delete(row)
            elif value is not None and row is not None:
                row.value = value
            elif value is not None:
                db.add(Changed(name=name, value=value))
        if wanted:
            call.audit(
                db, "settings.changed", "", settings={n: v for n, v in wanted.items() if isinstance(v, (int, bool))}
            )
        db.flush()
        return _shown(call, db)


@router.get("/oidc-test")
def test_oidc(call: Called) -> OidcTested:
    """Ask the provider of OpenID Connect for what signing in needs."""
    call.caller.require("settings.manage")
    steps, error = oidc.look(call.service.settings)
    return OidcTested(
        works=error is None, steps=steps, problem="" if error is None else into(error.message, call.language)
    )


def _checked(name: str, value: Any) -> Any:
    if name not in LIVE:
        shown = name[:60]
        message = Sentence("there is no setting '{name}' that changes while the service runs", name=shown)
        hint = Sentence("It stands in the file of settings.") if name in KNOWN else suggest(shown, LIVE)
        raise Invalid("unknown-setting", message, hint=hint, fields={"path": shown})
    return None if value is None else parse(name, value)


def _shown(call: Call, db: Db) -> SettingsShown:
    usual, now, default = call.service.settings, call.settings(db), Settings()
    return SettingsShown(
        settings=[
            SettingShown(
                name=name, help=Sentence(KNOWN[name].metadata["help"]).into(call.language), kind=str(KNOWN[name].type),
                low=KNOWN[name].metadata["low"], default=getattr(default, name), usual=getattr(usual, name),
                value=getattr(now, name), changed=db.get(Changed, name) is not None,
            )
            for name in LIVE
        ]
    )  # fmt: skip
