"""Mechanisms for graphs of profiles: one module each, listed in `catalogue`."""
