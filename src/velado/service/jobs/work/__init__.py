"""The work of jobs, one module per kind; only the process of a job imports it. Each has a ``perform``."""
