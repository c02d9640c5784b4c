"""Compiled inner loops on integer arrays.

Nothing here knows a string, a column name or a privacy model's name; the layers above
translate. numba is imported only when a kernel is first used, and compiled code is cached on
disk, so a user waits for compilation once per installation (see ``docs/explanation/speed.md``).
"""
