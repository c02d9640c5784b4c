"""SQLite files: read into a private copy, written in one transaction."""
