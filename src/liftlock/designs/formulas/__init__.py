"""Formulas on the continuous line, before numbers are discretised: published ones, and true."""

from liftlock.designs.formulas import gaussian, laplace, sampling_rate

__all__ = ["gaussian", "laplace", "sampling_rate"]
