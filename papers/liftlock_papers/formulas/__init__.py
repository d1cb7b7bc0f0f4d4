"""Formulas that the papers print, or that judge them, and that no mechanism needs."""

from liftlock_papers.formulas import gaussian, laplace, profiles

__all__ = ["gaussian", "laplace", "profiles"]
