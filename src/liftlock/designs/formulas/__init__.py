"""Formulas of numeric mechanisms on the continuous line: published ones, and what is true."""

from liftlock.designs.formulas import gaussian, laplace, profiles, sampling

__all__ = ["gaussian", "laplace", "profiles", "sampling"]
