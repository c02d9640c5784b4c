"""Ways to give appointments out."""
