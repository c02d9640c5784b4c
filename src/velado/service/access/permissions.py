"""Who may do what: one table of roles and actions for the instance, and one for projects. Everything else asks here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

ADMINISTRATOR, STEWARD, LEARNER, AUDITOR = INSTANCE_ROLES = ("administrator", "steward", "learner", "auditor")
OWNER, EDITOR, ANALYST, APPROVER, READER = PROJECT_ROLES = ("owner", "editor", "analyst", "approver", "reader")
"""The strongest first."""

INSTANCE: Mapping[str, frozenset[str]] = {
    action: frozenset(roles)
    for action, roles in {
        "account.use": INSTANCE_ROLES,
        "catalog.read": INSTANCE_ROLES,
        "samples.use": (STEWARD, LEARNER),
        "projects.create": (STEWARD, LEARNER),
        "uploads.create": (STEWARD,),
        "connections.create": (STEWARD,),
        "studies.run": (STEWARD, LEARNER),
        "users.manage": (ADMINISTRATOR,),
        "groups.manage": (ADMINISTRATOR,),
        "settings.manage": (ADMINISTRATOR,),
        "storage.manage": (ADMINISTRATOR,),
        "jobs.manage": (ADMINISTRATOR,),
        "metrics.read": (ADMINISTRATOR,),
        "audit.read": (ADMINISTRATOR, AUDITOR),
        "evidence.read": (AUDITOR,),
    }.items()
}
"""What a person may do in the instance. ``evidence.read``: manifests, evaluations and reports of all releases, no records."""

PROJECT: Mapping[str, frozenset[str]] = {
    action: frozenset(roles)
    for action, roles in {
        "project.read": PROJECT_ROLES,
        "project.edit": (OWNER, EDITOR),
        "project.share": (OWNER,),
        "project.delete": (OWNER,),
        "profile.read": (OWNER, EDITOR, ANALYST),
        "records.read": (OWNER, EDITOR),
        "jobs.read": (OWNER, EDITOR, ANALYST),
        "jobs.analyse": (OWNER, EDITOR, ANALYST),
        "jobs.release": (OWNER, EDITOR),
        "jobs.cancel": (OWNER, EDITOR),
        "results.read": (OWNER, EDITOR, ANALYST),
        "release.read": PROJECT_ROLES,
        "release.private": (OWNER, EDITOR),
        "release.download": PROJECT_ROLES,
        "release.approve": (APPROVER,),
        "release.withdraw": (OWNER, APPROVER),
        "release.delete": (OWNER,),
    }.items()
}
"""What a member of a project may do there. Counts of who may not read records are blurred (see `redaction`).

``results.read``: explorations, comparisons, attacks. ``release.private``: figures that tell of suppressed records.
"""

OF_RECORDS = frozenset(("records.read", "release.private", "project.edit", "jobs.release"))
"""What tells of single records, or could: who changes a project and runs it gets what it releases. Only stewards may, and
learners where there are samples only, whatever their role in the project."""

SEEN = frozenset(("project.read", "release.read"))
"""To who may do none of these in a project, it does not exist."""

SCOPES: Mapping[str, frozenset[str]] = {
    "read": frozenset(("account.use", "catalog.read", "project.read", "profile.read", "jobs.read", "results.read", "release.read")),
    "run": frozenset(
        (
            "samples.use",
            "projects.create",
            "uploads.create",
            "connections.create",
            "studies.run",
            "project.edit",
            "project.delete",
            "jobs.analyse",
            "jobs.release",
            "jobs.cancel",
            "release.private",
            "release.withdraw",
            "release.delete",
        )
    ),
    "records": frozenset(("records.read",)),
    "download": frozenset(("release.download",)),
    "manage": frozenset(
        (
            "project.share",
            "release.approve",
            "users.manage",
            "groups.manage",
            "settings.manage",
            "storage.manage",
            "jobs.manage",
            "metrics.read",
            "audit.read",
            "evidence.read",
        )
    ),
}
"""What a token may be allowed; it never allows more than its owner may do."""


def instance_actions(roles: Iterable[str]) -> frozenset[str]:
    """What somebody with these roles may do in the instance."""
    held = frozenset(roles)
    return frozenset(action for action, allowed in INSTANCE.items() if held & allowed)


def project_actions(roles: Iterable[str]) -> frozenset[str]:
    """What somebody with these roles may do in a project."""
    held = frozenset(roles)
    return frozenset(action for action, allowed in PROJECT.items() if held & allowed)


def scope_actions(scopes: Iterable[str] | None) -> frozenset[str]:
    """What a token's scopes allow; None: everything, as in a session."""
    if scopes is None:
        return frozenset((*INSTANCE, *PROJECT))
    return frozenset(action for scope in scopes for action in SCOPES[scope])
