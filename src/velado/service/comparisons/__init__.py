"""Comparisons of settings."""
