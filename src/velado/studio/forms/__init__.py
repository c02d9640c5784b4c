"""What forms of pages send: from fields to documents, and back."""
