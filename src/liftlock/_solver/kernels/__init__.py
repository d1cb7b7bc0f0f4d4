"""Compiled loops of the solver: linear programmes of few rows, descents over vertices, proofs."""

from liftlock.errors import extra

with extra("solver"):
    import numba  # noqa: F401
