"""Projects: their documents, versions, members, checks."""
