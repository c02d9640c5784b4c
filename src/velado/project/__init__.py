"""The project file: a release described once."""

from velado.project.document import AnyProject, Project
from velado.project.importers.anonylitics.project import import_anonylitics
from velado.project.output import Output

__all__ = ["AnyProject", "Output", "Project", "import_anonylitics"]
