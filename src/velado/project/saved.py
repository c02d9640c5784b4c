"""Projects that are saved with recodings, so that rows that arrive later are treated and judged as the first were."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from velado.project.document import Project
from velado.tables import Source


def described_beside(project: Project, file: Path) -> dict[str, Any]:
    """What a file beside others holds of a project: its document, and where its folder is, seen from there."""
    document = json.loads(json.dumps(project.as_dict(), default=str))
    here, there = file.resolve().parent, project.folder.resolve()
    try:
        folder = os.path.relpath(there, here)
    except ValueError:  # another drive
        folder = str(there)
    return {"folder": folder, "document": document}


def project_in(saved: Mapping[str, Any], source: Source) -> Project:
    """The project that was saved, with another source."""
    return Project.from_dict({**saved["document"], "source": source}, Path(saved["folder"]))
