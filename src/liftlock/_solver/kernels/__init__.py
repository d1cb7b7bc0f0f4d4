"""Compiled loops of the solver: linear programmes of few rows, descents over vertices, proofs."""
