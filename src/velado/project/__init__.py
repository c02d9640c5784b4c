"""The project file: a release described once."""

from velado.project.document import Project
from velado.project.importers.anonylitics.project import import_anonylitics
from velado.project.output import Output

__all__ = ["Output", "Project", "import_anonylitics"]
