"""A small client of the service."""
