"""Charts and workbooks."""
