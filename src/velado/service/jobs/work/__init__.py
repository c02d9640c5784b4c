"""The work of jobs, which only the process of a job imports: a module with a ``perform`` per kind, and `simple` for small ones."""
