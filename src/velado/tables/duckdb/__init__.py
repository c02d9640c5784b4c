"""DuckDB: files and tables in memory."""
