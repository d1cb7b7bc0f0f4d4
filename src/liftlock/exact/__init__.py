"""Exact arithmetic: numbers, certified exponentials and logarithms, integer rows and products."""
