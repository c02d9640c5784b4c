"""Compiled inner loops on integer arrays.

Nothing here knows a string, a column name or a privacy model's name; the layers above
translate. Kernels run as they are written until their compiled form, cached on disk, is there; numba
is imported only for that (see `compiler` and ``docs/explanation/speed.md``).
"""
