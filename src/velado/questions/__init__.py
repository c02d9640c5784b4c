"""What is asked about tables: one file per question. Here are the results that the functions of `velado` return."""

from typing import TYPE_CHECKING

from velado import lazy_imports

if TYPE_CHECKING:
    from velado.questions.decrypt import Decrypted
    from velado.questions.estimate import Estimate
    from velado.questions.exploration import Exploration
    from velado.questions.fuzzify import Fuzzification
    from velado.questions.hierarchy import project_hierarchy
    from velado.questions.inspect import Inspection
    from velado.questions.suggest import Suggestion
    from velado.questions.tables import DatabaseTables, list_tables

__all__ = [
    "DatabaseTables",
    "Decrypted",
    "Estimate",
    "Exploration",
    "Fuzzification",
    "Inspection",
    "Suggestion",
    "list_tables",
    "project_hierarchy",
]

_HOMES = {
    "velado.questions.decrypt": "Decrypted",
    "velado.questions.estimate": "Estimate",
    "velado.questions.exploration": "Exploration",
    "velado.questions.fuzzify": "Fuzzification",
    "velado.questions.hierarchy": "project_hierarchy",
    "velado.questions.inspect": "Inspection",
    "velado.questions.suggest": "Suggestion",
    "velado.questions.tables": "DatabaseTables list_tables",
}
__getattr__, __dir__ = lazy_imports.names(__name__, _HOMES)
