"""Reports, charts and workbooks of releases, comparisons, fuzzy sets and appointments."""

from typing import TYPE_CHECKING

from velado import lazy_imports

if TYPE_CHECKING:
    from velado.report.formats.appointments import save_vectors
    from velado.report.formats.comparison import save_comparison
    from velado.report.formats.fuzzy_charts import save_fuzzy_charts
    from velado.report.report import write_report

__all__ = ["save_comparison", "save_fuzzy_charts", "save_vectors", "write_report"]

_HOMES = {
    "velado.report.formats.appointments": "save_vectors",
    "velado.report.formats.comparison": "save_comparison",
    "velado.report.formats.fuzzy_charts": "save_fuzzy_charts",
    "velado.report.report": "write_report",
}
__getattr__, __dir__ = lazy_imports.names(__name__, _HOMES)
