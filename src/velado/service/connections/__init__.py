"""Connections to databases."""
