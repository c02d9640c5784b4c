"""Explorations: all nodes of the lattice of a project."""
