"""Descriptions of other tools as projects."""
