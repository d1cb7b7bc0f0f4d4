"""Formulas of numeric mechanisms on the continuous line: published ones, and what is true."""
