"""How files are published: all of them, or none."""
