"""A small client of the service: send a table and a project, follow the run, fetch the release.

>>> from velado.client import Client, run_there
>>> with Client("https://velado.example") as client:                   # doctest: +SKIP
...     found = run_there(client, "patients.yaml")

The token comes from ``VELADO_TOKEN`` unless it is given. Needs the extra ``velado[client]``.
"""

from velado.client.client import Client, ServiceError
from velado.client.projects import run_there, send_project

__all__ = ["Client", "ServiceError", "run_there", "send_project"]
