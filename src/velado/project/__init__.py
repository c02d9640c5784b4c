"""The project file: a release described once."""

from velado.project.document import AnyProject, Project
from velado.project.importers.anonylitics.project import import_anonylitics
from velado.project.output import Output, output_of
from velado.project.schema import project_schema

__all__ = ["AnyProject", "Output", "Project", "import_anonylitics", "output_of", "project_schema"]
