"""Project files of the Anonylitics system."""
