"""What is asked about tables: one file per question."""
