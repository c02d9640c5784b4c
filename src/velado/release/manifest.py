"""The two manifests of a release: one for everybody, one for its owner.

The public one shows what was done and what holds. Nothing in it depends on suppressed records but their number, and it
holds no digest of original values, which could be guessed. The private one is enough to repeat the run and to prove what
it was made from: figures against the whole input, and digests under a key of its own. No original value is in either.
"""

from __future__ import annotations

import hmac
import json
import platform
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from velado.errors import InputError
from velado.methods import Search
from velado.operations import Treatment
from velado.progress import Progress
from velado.project.document import Project
from velado.recoding import Recoding
from velado.release.measure import Measured
from velado.release.plan import Planned
from velado.release.treatments import describe_operations
from velado.results import Discreet
from velado.sentences import Sentence
from velado.tables import Evidence, Slot, Source, open_table
from velado.tables.files import digest_of

LIGHT = Sentence("every operation was applied to every record; no privacy model was checked")
"""What is known of a light release."""
AGAIN = "Run the project again: velado run."
PACKAGES = ("velado", "numpy", "numba", "duckdb", "pyarrow")


@dataclass(frozen=True, repr=False)
class Manifests(Discreet):
    """What everybody may read, and what the owner keeps."""

    public: dict[str, Any]
    private: dict[str, Any]

    def evidence(self, recoding: Recoding | None = None) -> Evidence:
        """What is published beside the release; the recoding where it is to be saved."""
        return Evidence(_text(self.public), _text(self.private), None if recoding is None else recoding.text(), self.comment)

    @property
    def comment(self) -> str:
        """What a release is, in a line: what made it, when, and what it satisfies."""
        shown = [
            f"{name} ({', '.join(f'{k} = {v}' for k, v in required.items() if v is not None)})"
            for model in self.public["models"]
            for name, required in model.items()
        ]
        return Sentence(
            "Anonymized and verified by Velado {version}, {created}: {holds}",
            version=self.public["versions"]["velado"],
            created=self.public["created"],
            holds=shown or LIGHT,
        )


@dataclass(frozen=True, repr=False)
class Made(Discreet):
    """What a release was made from and what came out: the digests of the input, of populations that models compare it with,
    and of the output, and the rows.
    """

    project: Project
    treatments: Sequence[Treatment]
    input_digest: str | None
    output_digest: str | None
    rows: int
    populations: Mapping[str, str | None] = field(default_factory=dict)

    @classmethod
    def of(cls, planned: Planned, slot: Slot, progress: Progress) -> Made:
        """What was made of a plan in a slot."""
        others = {} if planned.found is None else planned.found.classes.frequency.populations
        return cls(
            planned.project,
            planned.treatments,
            planned.table.fingerprint(),
            slot.digest(progress),
            planned.rows,
            {path: population.digest for path, population in others.items()},
        )


def manifests_of(made: Made, search: Search, recoding: Recoding | None, measured: Measured) -> Manifests:
    """The manifests of a verified release; without a recoding those of one made part by part, too large to keep it."""
    project, public, whole = made.project, measured.public, measured.whole
    levels = {} if recoding is None else recoding.levels
    shown = {
        **_head(made),
        "method": {project.method.name: {k: getattr(project.method, k) for k in project.method.parameters}},
        "models": [{m.name: m.requirements()} for m in project.models],
        "columns": _columns(made),
        "recoding": {"levels": levels, "classes": public.classes},
        "search": {"proven_optimal": search.proven_optimal, "gap": search.gap},
        "evaluation": public.as_dict(),
        "output": {**_output(made), "suppressed": project.output.suppressed},
    }
    kept = _private(made, {"recoding": None if recoding is None else recoding.digest})
    return Manifests(shown, {**kept, "search": asdict(search), "evaluation": whole.as_dict()})


def light_manifests(made: Made) -> Manifests:
    """The manifests of a release to which only operations were applied."""
    shown = {
        **_head(made),
        "protection": "operations",
        "models": [],
        "verified": LIGHT,
        "columns": _columns(made),
        "output": _output(made),
    }
    return Manifests(shown, _private(made, {}))


def applied_manifests(
    made: Made, recoding: Recoding, figures: Mapping[str, Any], earlier: Sequence[tuple[Source, str | None]]
) -> Manifests:
    """The manifests of new rows that were recoded as the ``earlier`` releases were."""
    project = made.project
    shown = {
        **_head(made),
        "protection": "applied",
        "models": [{m.name: m.requirements()} for m in project.models],
        "columns": _columns(made),
        "recoding": {"levels": recoding.levels},
        # The digest of a file that is public; other tables have names of snapshots.
        "earlier": [
            {"name": source.short_name, "sha256": digest if source.path is not None and source.table is None else None}
            for source, digest in earlier
        ],
        **figures,
        "output": {**_output(made), "suppressed": project.output.suppressed},
    }
    digests = {f"earlier {number}": digest for number, (_, digest) in enumerate(earlier, start=1)}
    return Manifests(shown, _private(made, {"recoding": recoding.digest, **digests}))


def keyed_digest(key: str, digest: str | None) -> str | None:
    """A digest that only the holder of the key can compare with anything: HMAC-SHA-256."""
    return None if digest is None else hmac.new(bytes.fromhex(key), digest.encode(), "sha256").hexdigest()


def made_from(private: Mapping[str, Any], what: str, digest: str | None) -> bool:
    """Whether a private manifest is of a release made from an input or a project with this digest."""
    kept: str | None = private["digests"][what]
    return keyed_digest(private["key"], digest) == kept


def read_manifest(path: Path | None) -> dict[str, Any]:
    """A manifest that was written beside a release."""
    try:
        if path is None:
            raise FileNotFoundError
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(found, dict) or not isinstance(found.get("output"), dict):
            raise ValueError
    except FileNotFoundError:
        raise InputError("no-manifest", "the manifest of the release is not there", file=path, hint=AGAIN) from None
    except (OSError, ValueError):
        raise InputError("no-manifest", "this is not the manifest of a release", file=path, hint=AGAIN) from None
    return found


def manifest_at(url: str) -> dict[str, Any]:
    """The manifest that was written beside a release elsewhere."""
    from velado.tables.formats.remote import Remote, translate_errors

    place = Remote.at(url).beside(".manifest.json")
    try:
        with translate_errors(place.name, reading=True):
            found: dict[str, Any] = json.loads(b"".join(place.read(Progress())))
        if not isinstance(found.get("output"), dict):
            raise ValueError
    except InputError as error:
        if error.code != "missing-file":
            raise
        raise InputError("no-manifest", "the manifest of the release is not there", file=place.name, hint=AGAIN) from None
    except (ValueError, AttributeError):
        raise InputError("no-manifest", "this is not the manifest of a release", file=place.name, hint=AGAIN) from None
    return found


def manifest_in(source: Source) -> dict[str, Any]:
    """The manifest that was written into a table beside that of a release."""
    try:
        with open_table(source) as table:
            found: dict[str, Any] = json.loads(table.page(0, 1)["manifest"][0].as_py())
        if not isinstance(found.get("output"), dict):
            raise ValueError
    except InputError as error:
        if error.code != "unknown-table":
            raise
        raise InputError("no-manifest", "the manifest of the release is not there", file=source.name, hint=AGAIN) from None
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        raise InputError("no-manifest", "this is not the manifest of a release", file=source.name, hint=AGAIN) from None
    return found


def manifest_of(project: Project) -> dict[str, Any]:
    """The public manifest of a project's release, wherever that is."""
    sink = project.output.sink()
    if sink.url is not None:
        return manifest_at(sink.url)
    if sink.table is not None:
        return manifest_in(replace(project.release_source(), table=str(sink.manifest_table)))
    return read_manifest(sink.manifest)


def starred_rows(project: Project) -> int | None:
    """How many rows of ``*`` the run wrote for suppressed records; None if no manifest of the release says it.

    Classes whose every label is ``*`` look the same, so that stars alone do not tell.
    """
    try:
        output, figures = (manifest_of(project).get(part, {}) for part in ("output", "evaluation"))
    except InputError as error:
        if error.code != "no-manifest":
            raise
        return None
    path = project.output.path
    if path is not None and digest_of(path) != output["sha256"]:
        return None
    return figures.get("suppressed") if output.get("suppressed") == "asterisks" else 0


def _private(made: Made, more: Mapping[str, str | None]) -> dict[str, Any]:
    """What identifies the input, the project and the recoding, for whoever has this manifest."""
    key = secrets.token_hex(32)
    populations = {f"population {path}": digest for path, digest in made.populations.items()}
    digests = {"input": made.input_digest, "project": made.project.digest(), **populations, **more}
    return {
        "velado-private-manifest": 1,
        **{k: v for k, v in _head(made).items() if k in ("created", "project", "input", "versions")},
        "key": key,
        "digests": {what: keyed_digest(key, digest) for what, digest in digests.items()},
        "output": _output(made),
    }


def _head(made: Made) -> dict[str, Any]:
    return {
        "velado-manifest": 2,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "project": made.project.manifest_entry,
        "input": {"name": made.project.source.short_name, "rows": made.rows},
        "versions": {"python": platform.python_version(), **{p: _version(p) for p in PACKAGES}},
    }


def _columns(made: Made) -> dict[str, Any]:
    """Role, missing rule and operation: neither a key nor its place, and nothing of the data."""
    operations = describe_operations(made.treatments, made.project.folder)
    return {
        c.name: {"role": c.role or None, "missing": c.missing} | ({"operation": operations[c.name]} if c.name in operations else {})
        for c in made.project.columns
    }


def _output(made: Made) -> dict[str, Any]:
    output = made.project.output
    return {"name": output.name, "sha256": made.output_digest, "order": output.order}


def _text(manifest: Mapping[str, Any]) -> str:
    return json.dumps(manifest, ensure_ascii=False, indent=2, default=str)


@cache
def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"
