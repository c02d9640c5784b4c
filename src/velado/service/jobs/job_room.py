"""A document as a project that runs, in the folder of a job: the only way from ids to files, servers and keys.

Files are linked into ``inputs/`` under the names that users gave them, so that formats are known and messages name nothing of
the server. Passwords and keys are variables of this process. After loading, everything that the project would read or write is
compared with what the task allows: what is not among it is refused, whatever way it found into the document.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from velado.errors import InputError, VeladoError
from velado.models import PrivacyModel
from velado.operations.keys import DIGITS
from velado.project import Project
from velado.project.arguments import models_of
from velado.project.references import What, walk
from velado.sentences import Sentence
from velado.service.connections.addresses import address_for_job, check_address
from velado.service.jobs.allowed_access import Allowed, bad_reference
from velado.service.jobs.hide_paths import discreet
from velado.service.jobs.task import Work
from velado.service.projects.document import Document
from velado.service.projects.document_checks import FORMATS, WRITING, check_document, secret_of, upload_of
from velado.service.projects.exchange import plain_name
from velado.service.sources.archive_limits import MOST, check_expansion
from velado.tables import Address, Source, files
from velado.tables.source import HOLDS_TABLES, LINES, TEXTS, format_of

INPUTS = "inputs"
RELEASE = "release"
RECODING = "recoding.json"
PRIVATE = "release.private.json"
GONE = {"upload": "path", "connection": "connection"}
"""What a source lacks whose file or connection was deleted."""
READING = (*TEXTS, "missing", *LINES, "names", "table")
"""Options of a source that say how it is read, not where it is."""


@dataclass(frozen=True, repr=False)
class JobProject(Project):
    """A project in the folder of a job. What it calls its files does not depend on where the service keeps them.

    Its manifests name the ``job``, so that a later attempt knows what an earlier one has published.
    """

    job: str = ""

    @property
    def manifest_entry(self) -> dict[str, Any]:
        """Name and job."""
        return {**super().manifest_entry, **({"job": self.job} if self.job else {})}

    def _relative(self, path: Path) -> str:
        try:
            return path.relative_to(self.folder).as_posix()
        except ValueError:
            return path.name


@contextmanager
def enter_room(work: Work) -> Iterator[Room]:
    """The room of a job; errors that leave it name no path of the server."""
    room = Room(work)
    try:
        yield room
    except VeladoError as error:
        raise discreet(error, room.folder) from None
    finally:
        room.close()


class Room:
    """What a job may reach, made reachable: links to files, addresses of servers, variables of keys and passwords."""

    def __init__(self, work: Work) -> None:
        self.work, self.task, self.things = work, work.task, work.task.things
        self.folder = work.task.folder
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        files.allowed_memory = work.task.limits.get("memory")
        self._links: dict[str, Path] = {}
        self._extra: list[Path] = []
        self._allowed = Allowed(self.folder)

    def close(self) -> None:
        """Take links and variables away."""
        for name in self._allowed.variables:
            os.environ.pop(name, None)
        shutil.rmtree(self.folder / INPUTS, ignore_errors=True)
        files.allowed_memory = None
        for path in self._extra:
            path.unlink(missing_ok=True)

    # Things of the task

    def upload(self, id: str | None) -> Path:
        """The link to an upload."""
        found = self._thing("uploads", id)
        return self._link_input(f"upload:{id}", Path(found["path"]), str(found["name"]), None)

    def source(self, id: Any, **said: Any) -> dict[str, Any]:
        """A source as a project file describes it; ``said`` is what the project itself says of it."""
        found = self._thing("sources", id)
        kind = found.get("kind")
        options = {k: v for k, v in {**(found.get("options") or {}), **said}.items() if v is not None}
        place = found.get("place") or {}
        strange = [key for key in options if key not in READING]
        if strange:
            raise bad_reference()
        if kind in ("upload", "connection") and found.get(GONE[kind]) is None:
            raise _missing_source()
        if kind == "upload":
            path = self._link_input(f"source:{id}", Path(found["path"]), str(found["name"]), options.get("format"))
            table = {"table": place["table"]} if place.get("table") else {}
            if (options.get("format") or format_of(path)) not in HOLDS_TABLES:
                options.pop("table", None)
            return {"path": str(path.relative_to(self.folder)), **options, **table}
        if kind == "connection":
            address = self.database(found["connection"], found)
            where = {key: place[key] for key in ("table", "query") if place.get(key)}
            return {"database": address, **{k: v for k, v in options.items() if k == "missing"}, **where}
        if kind == "sample":
            return {"path": str(self._sample(f"source:{id}", place).relative_to(self.folder)), **options}
        raise bad_reference()

    def resolve_source(self, id: Any, **said: Any) -> Source:
        """A source, ready to be opened."""
        source = Source.of(self.source(id, **said), self.folder)
        self._allowed.check_source(source)
        return source

    def database(self, id: Any, given: Mapping[str, Any] | None = None) -> Address:
        """The address of a connection, its password in a variable of this process."""
        found = given if given is not None else self._thing("connections", id)
        variable = None
        if found.get("sealed"):
            owner = f"connection:{id}"
            variable = self._variable(owner, self.work.open_secret(found["sealed"], owner))
        address = address_for_job(check_address(found["address"]), variable)
        self._allowed.addresses.add(address)
        return address

    def key(self, name: str | None) -> str:
        """Where the key of a project's secret is: in a variable of this process."""
        sealed = self._thing("secrets", name)
        owner = f"project:{self.task.project}:{name}"
        text = self.work.open_secret(str(sealed), owner).strip()
        if not DIGITS.fullmatch(text):
            message = Sentence("the secret '{name}' is no key: {digits} hexadecimal digits", name=name, digits=64)
            raise InputError("bad-key", message, hint="Make a new one; passwords are too weak to serve as keys.")
        return f"env:{self._variable(owner, text)}"

    # The project

    def project(self, document: Mapping[str, Any] | None = None) -> Project:
        """The project of the task, or of another document, loaded and held against what the task allows."""
        return self.load_project(self.project_data(self.task.document if document is None else document))

    def project_data(self, document: Mapping[str, Any] | None) -> dict[str, Any]:
        """The document as a project file in the job's folder."""
        if document is None:
            raise InputError("no-project", "this needs a project")
        check_document(document)
        found = walk(document, self._visit)
        names: set[str] = set()
        for name, table in Document(found).parts.items():
            table.put("output", self._output(table.output, RELEASE if name is None else _unique(plain_name(name), names)))
        return found

    def load_project(self, data: Mapping[str, Any]) -> Project:
        """A project from a translated document; refused if it reaches anything that is not the task's."""
        project = JobProject.from_dict(data, self.folder)
        for table in project.tables.values() or (project,):
            self._allowed.check(table)
        job = self.task.job
        tables = {name: _made_by(table, job) for name, table in project.tables.items()}
        return replace(_made_by(project, job), tables=tables)

    def link_release(self, folder: Path, project: Project) -> None:
        """Link the files of a release, made by another job, to where the project says that its own are."""
        for table in project.tables.values() or (project,):
            for path in table.output.sink().files.values():
                there = folder / path.name
                if there.is_file() and not os.path.lexists(path):
                    path.symlink_to(there)
                    self._extra.append(path)

    def models(self, given: Sequence[Mapping[str, Any]]) -> tuple[PrivacyModel, ...]:
        """Models that stand in parameters, as a document writes them."""
        check_document({"models": given})
        found = models_of(walk({"models": list(given)}, self._visit)["models"])
        self._allowed.check_models(found)
        return found

    def other_release(self, job: str, table: str | None = None) -> Source | None:
        """The release of another job, or one table of it, if the task may use it and it is a file."""
        found = (self.things.get("jobs") or {}).get(job)
        place = ((found or {}).get("result") or {}).get("place") or {}
        place = (place.get("tables") or {}).get(table, place)
        if found is None or place.get("kind") != "file":
            return None
        path = Path(found["folder"]) / plain_name(str(place["file"]))
        return Source(path=self._link_input(f"job:{job}", path, path.name, None), names="exact")

    # Inside

    def _visit(self, what: What, value: Any) -> Any:
        if what == "file":
            return str(self.upload(upload_of(value)).relative_to(self.folder))
        if what == "key":
            return self.key(secret_of(value))
        if what == "source":
            return self.source(value["source"], **{k: v for k, v in value.items() if k != "source"})
        return dict(value)

    def _output(self, given: Mapping[str, Any], stem: str) -> dict[str, Any]:
        rest = {key: given[key] for key in (*WRITING, "if_exists") if given.get(key) is not None}
        if given.get("connection") is not None:
            rest.pop("delimiter", None)
            address = self.database(given["connection"])
            private = PRIVATE if stem == RELEASE else f"{stem}.private.json"
            return {"database": address, "table": given["table"], "manifest": private, **rest}
        return {"path": f"{stem}.{given.get('format') or FORMATS[0]}", **rest}

    def _thing(self, what: str, id: Any) -> Any:
        found = (self.things.get(what) or {}).get(id) if isinstance(id, str) else None
        if found is None:
            raise InputError(
                "unknown-reference",
                "the project names something that is not there any more",
                hint="Look at its sources, files, connections and secrets.",
            )
        return found

    def _link_input(self, what: str, path: Path, name: str, format: str | None) -> Path:
        if what in self._links:
            return self._links[what]
        if not path.is_file():
            raise _missing_source()
        link = self._new_input(name)
        check_expansion(path, format or format_of(link), int(self.task.limits.get("expanded_bytes", MOST)))
        link.symlink_to(path)
        return self._register_file(what, link)

    def _register_file(self, what: str, path: Path) -> Path:
        self._links[what] = path
        self._allowed.files.add(path)
        return path

    def _new_input(self, name: str) -> Path:
        folder = self.folder / INPUTS
        folder.mkdir(exist_ok=True, mode=0o700)
        return folder / _unique(plain_name(name), {path.name for path in self._links.values()})

    def _sample(self, what: str, place: Mapping[str, Any]) -> Path:
        if what not in self._links:
            import pyarrow.parquet

            from velado import samples

            name, given = str(place.get("sample")), {k: int(place[k]) for k in ("rows", "seed") if place.get(k)}
            make = {"hospital": samples.hospital, "caoba": samples.caoba, "covid_ceara": samples.covid_ceara}.get(name)
            if make is None:
                raise bad_reference()
            path = self._new_input(f"{name}.parquet")
            pyarrow.parquet.write_table(make(**given), path)
            self._register_file(what, path)
        return self._links[what]

    def _variable(self, owner: str, text: str) -> str:
        name = f"VELADO_JOB_{hashlib.sha256(owner.encode()).hexdigest()[:16].upper()}"
        os.environ[name] = text
        self._allowed.variables.add(name)
        return name


def _made_by(project: Project, job: str) -> Project:
    assert isinstance(project, JobProject)
    return replace(project, job=job)


def _missing_source() -> InputError:
    return InputError("source-gone", "the file or the connection was deleted", hint="Upload it again, or make a new source.")


def _unique(name: str, taken: set[str]) -> str:
    """A name that no other has."""
    stem, dot, suffix = name.rpartition(".")
    found, number = name, 1
    while found.casefold() in {other.casefold() for other in taken}:
        number += 1
        found = f"{stem}-{number}.{suffix}" if dot else f"{name}-{number}"
    taken.add(found)
    return found
