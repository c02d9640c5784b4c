"""The most anonymous assignment, proven."""
