"""Noise added to numbers: a density, one scale or one for each number, calibrated or published."""
