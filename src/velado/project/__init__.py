"""The project file: a release described once."""

from velado.project.document import Output, Project
from velado.project.importers.anonylitics.project import import_anonylitics

__all__ = ["Output", "Project", "import_anonylitics"]
