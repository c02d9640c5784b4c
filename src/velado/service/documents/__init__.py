"""Project documents of the service: project files in which nothing is a path, an address, a variable or a key.

``{"source": ID}`` names the table, ``upload:ID`` a file, ``secret:NAME`` a key, ``{"connection": ID, "table": …}`` where a
release goes. What the web process needs is here; `opening` makes a project that runs, in the process of a job.
"""

from velado.service.documents.addresses import check_address, check_reach
from velado.service.documents.checking import FORMATS, SECRET_NAME, check_document, outputs, references
from velado.service.documents.exchange import from_file, plain_name, to_file

__all__ = [
    "FORMATS", "SECRET_NAME", "check_address", "check_document", "check_reach", "from_file", "outputs", "plain_name", "references", "to_file",
]  # fmt: skip
