"""Documents and project files: what a document names by ids, a file for people names by file names and addresses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import yaml

from velado.errors import InputError
from velado.project.references import What, walk
from velado.project.yaml_file import parse_yaml
from velado.sentences import Sentence
from velado.service.errors import Invalid
from velado.service.projects.document import Document
from velado.service.projects.document_checks import FORMATS, MOST_PARTS, WRITING, check_document, secret_of, source_of, upload_of
from velado.tables.address import VARIABLE, Address

PASSWORD = "PASSWORD"
Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
RELEASE = "release"
UNKNOWN = "unknown"


def from_text(text: str) -> Any:
    """What a project file holds that was sent as a text; aliases, by which a few bytes become many, are refused."""
    return parse_yaml(text.removeprefix("\ufeff"), aliases=False, most=MOST_PARTS)


class _Plain(Dumper):  # type: ignore[misc]
    """YAML without aliases, which `from_text` would refuse."""

    def ignore_aliases(self, data: Any) -> bool:
        """Parts that are equal are written out each."""
        return True


def to_text(document: Mapping[str, Any]) -> str:
    """A document or project file as YAML."""
    return str(yaml.dump(document, Dumper=_Plain, sort_keys=False, allow_unicode=True))


def to_file(document: Mapping[str, Any], names: Mapping[str, Any]) -> dict[str, Any]:
    """A document as a project file for people.

    ``names``: ``{"sources": {id: {"name": file name, "options": {…}} | {"address": …, "place": {"table": …}}}, "uploads": {id:
    file name}, "connections": {id: address}}``. What is not among them becomes a placeholder. Keys become variables of the
    environment, and passwords ``${PASSWORD}``.
    """

    def visit(what: What, value: Any) -> Any:
        if what == "file":
            return str(_of(names, "uploads", upload_of(value)) or UNKNOWN)
        if what == "key":
            return f"env:{variable(secret_of(value) or 'KEY')}"
        if not isinstance(value, Mapping):
            return value
        return _source(value, names) if what == "source" else _output(value, names)

    found = walk(document, visit)
    for name, part in Document(found).parts.items():
        if "output" not in part.said:
            part.put("output", {"path": f"{RELEASE if name is None else plain_name(name)}.csv"})
    return found


def from_file(data: Any, mapping: Mapping[str, Any]) -> dict[str, Any]:
    """A document from what a project file holds; raises `Invalid` if it names what the service does not have.

    ``mapping``: ``{"sources": {path or address, as the file says it: id}, "uploads": {path: id}, "connections": {address:
    id}}``; ``"source": id`` is taken for a source that is not listed. Keys become secrets called as their variables. Where a
    release goes on the disk is left out: it is kept for download, in the format that the file names.
    """
    if not isinstance(data, Mapping):
        raise Invalid("bad-document", "a project is a mapping, as in a project file")

    def visit(what: What, value: Any) -> Any:
        if what == "file":
            return value if upload_of(value) else _map_file(mapping, "uploads", value, "upload:{id}")
        if what == "key":
            return value if secret_of(value) else f"secret:{_secret(value)}"
        return _source_from(value, mapping) if what == "source" else _output_from(value, mapping)

    document = walk(data, visit)
    check_document(document)
    return document


def variable(name: str) -> str:
    """A name for a variable of the environment.

    >>> variable("ward-key")
    'WARD_KEY'
    """
    return re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_").upper() or "KEY"


def plain_name(name: str, longest: int = 100) -> str:
    """A user's name for something as the name of a file: no folder, and no sign that means something to a system.

    >>> plain_name("../../etc/passwd"), plain_name("Año 2024.csv")
    ('passwd', 'Año 2024.csv')
    """
    last = re.split(r"[/\\]", name)[-1]
    kept = "".join(c if c.isalnum() or c in " ._-()" else "_" for c in last).strip()
    stem, dot, suffix = kept.rpartition(".")
    if dot and 0 < len(suffix) <= 10:
        return f"{stem[: longest - len(suffix) - 1].strip(' .') or 'file'}.{suffix}"
    return kept.strip(" .")[:longest] or "file"


def _source(value: Mapping[str, Any], names: Mapping[str, Any]) -> dict[str, Any]:
    known = _of(names, "sources", source_of(value)) or {}
    missing = {"missing": value["missing"]} if "missing" in value else {}
    if "address" in known:
        return {"database": _with_password(str(known["address"])), **known.get("place", {}), **missing}
    place = {k: v for k, v in known.get("place", {}).items() if k in ("table", "sheet")}
    return {"path": str(known.get("name") or UNKNOWN), **known.get("options", {}), **place, **missing}


def _output(value: Mapping[str, Any], names: Mapping[str, Any]) -> dict[str, Any]:
    if "connection" not in value:
        rest = {k: v for k, v in value.items() if k != "format"}
        return {"path": f"{RELEASE}.{value.get('format', FORMATS[0])}", **rest}
    address = _of(names, "connections", value["connection"])
    rest = {k: v for k, v in value.items() if k != "connection"}
    return {"database": _with_password(str(address)) if address else "postgresql://unknown/unknown", **rest}


def _with_password(address: str) -> str:
    """An address with the place of a password where it has a user."""
    try:
        found = Address.parse(address)
    except InputError:
        return address
    return (
        found.project_value
        if found.user is None or found.password
        else str(found.project_value.replace("@", f":${{{PASSWORD}}}@", 1))
    )


def _source_from(value: Any, mapping: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(value, Mapping) and "source" in value:
        return dict(value)
    said = value if isinstance(value, str) else None
    missing = {}
    if isinstance(value, Mapping):
        said = value.get("path") or value.get("database")
        missing = {"missing": value["missing"]} if value.get("missing") is not None else {}
    id = _of(mapping, "sources", said) or mapping.get("source")
    if not isinstance(id, str):
        raise _unknown(Sentence("say which source takes the place of the table of this file"))
    return {"source": id, **missing}


def _output_from(value: Any, mapping: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(value, Mapping) and "connection" in value:
        return dict(value)
    options = {"path": value} if isinstance(value, str) else value
    if not isinstance(options, Mapping):
        raise _unknown(Sentence("the output says a format, or a connection and a table"))
    address, table = options.get("database"), options.get("table")
    rest = {k: options[k] for k in WRITING if k in options}
    if address is not None:
        text, sign, behind = str(address).partition("#")
        id = _of(mapping, "connections", text)
        if id is None:
            raise _unknown(Sentence("say which connection takes the place of the database of this file"))
        rest = {k: v for k, v in rest.items() if k != "delimiter"}
        exists = {"if_exists": options["if_exists"]} if "if_exists" in options else {}
        return {"connection": id, "table": table or (behind if sign else ""), **exists, **rest}
    suffix = str(options.get("path") or "").rpartition(".")[2].lower()
    said = options.get("format", suffix)
    return {**({"format": said} if said in FORMATS[1:] else {}), **rest}


def _map_file(mapping: Mapping[str, Any], what: str, value: Any, shape: str) -> str:
    id = _of(mapping, what, value)
    if id is None:
        raise _unknown(Sentence("say which upload takes the place of this file"))
    return shape.format(id=id)


def _secret(place: Any) -> str:
    """The name of a secret from where a file says that the key is; a key itself is not taken."""
    scheme, _, where = place.partition(":") if isinstance(place, str) else ("", "", "")
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", plain_name(where).partition(".")[0]).strip("-_0123456789")[:64]
    if scheme not in ("env", "file") or VARIABLE.search(where) or not name or re.fullmatch(r"[0-9a-fA-F]{32,}", where):
        raise _unknown(Sentence("a project names keys by the names of its secrets"))
    return name


def _of(names: Mapping[str, Any], what: str, key: Any) -> Any:
    return names.get(what, {}).get(key) if isinstance(key, str) else None


def _unknown(message: Sentence) -> Invalid:
    return Invalid("bad-reference", message)
