"""Texts and numbers in the languages of the interface: English, Spanish, Portuguese."""
