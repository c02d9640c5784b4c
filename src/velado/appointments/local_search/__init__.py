"""Better assignments by small changes."""
