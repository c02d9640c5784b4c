"""What the columns of an unknown table hold: their types, contents, roles and hierarchies, from names and values.

Everything here is a suggestion for `velado inspect` and `velado init`; on any doubt the more careful one.
"""
