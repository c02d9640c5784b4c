"""Limits of what arrives, by format: one list, from which the reference is made. Each number stands where it is applied."""

from __future__ import annotations

from typing import NamedTuple

from velado.project import yaml_file
from velado.service.jobs import parameters, waiting
from velado.service.jobs.running_job import QUESTION_SECONDS
from velado.service.projects import document_checks
from velado.service.projects.versions import MOST_VERSIONS
from velado.service.sources import archive_limits
from velado.tables import files
from velado.tables.formats import names, xlsx


class Limit(NamedTuple):
    """At most so much of what, in which format."""

    format: str
    what: str
    most: int


LIMITS = (
    Limit("project file (YAML, JSON)", "bytes", yaml_file.LARGEST),
    Limit("project file (YAML, JSON)", "characters of its texts, aliases written out", yaml_file.LARGEST),
    Limit("project file (YAML, JSON)", "parts (names, values, lists, mappings), aliases written out", yaml_file.MOST_NODES),
    Limit("project file (YAML, JSON)", "depth", yaml_file.DEEPEST),
    Limit("project file (YAML, JSON)", "characters of a number", yaml_file.LONGEST_NUMBER),
    Limit("YAML that is sent to the service", "aliases", 0),
    Limit("document of the service", "characters of its texts and names", document_checks.LARGEST),
    Limit("document of the service", "values, lists and mappings; as YAML with names", document_checks.MOST_PARTS),
    Limit("document of the service", "depth", document_checks.DEEPEST),
    Limit("document of the service", "columns and attributes, of all tables", names.MOST_COLUMNS),
    Limit("document of the service", "tables", document_checks.MOST_TABLES),
    Limit("document of the service", "versions that are kept", MOST_VERSIONS),
    Limit("table", "columns", names.MOST_COLUMNS),
    Limit("file that is read as a whole, such as a hierarchy", "bytes", files.LARGEST_TEXT),
    Limit("XLSX", "parts of the workbook", archive_limits.MOST_ENTRIES),
    Limit("XLSX", "times larger unpacked, in all, above 50 MB", xlsx.MOST_UNPACKED),
    Limit("XLSX", "times larger unpacked, of one part, above 50 MB", archive_limits.MOST_RATIO),
    Limit("XLSX", "cells that a sheet spans for each that it has", xlsx.MOST_SPARSE),
    Limit("Parquet", "cells for each byte of the file, above 50 million", archive_limits.MOST_CELLS),
    Limit("regular expressions (Python's re)", "patterns that a user gives", 0),
    Limit("job", "settings of a comparison", parameters.MOST_SETTINGS),
    Limit("question", "seconds", QUESTION_SECONDS),
    Limit("question", "requests that wait for an answer, in a web process", waiting.WAITING),
    Limit("question", "of these, of one user", waiting.WAITING_OF_ONE),
)
