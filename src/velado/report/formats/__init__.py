"""Reports and charts as files."""
