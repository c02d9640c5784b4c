"""The resources of ``/api/v1``, one file each. Every module has a ``router``."""
