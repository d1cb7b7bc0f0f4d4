"""How large a problem each way of solving is taken for, and the tolerances of all of them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Sizes up to which, or from which on, a strategy or a reduction is the best way."""

    listed_symbols: int = 8
    """Up to so many symbols all extreme posteriors are listed (`bench_optimum`)."""
    listed_cells: int = 128
    """Or up to so many cells of a joint (`bench_optimum`)."""
    listed_vertices: int = 8_000
    """If they are no more than these (`bench_optimum`)."""
    numbers_squared: int = 8
    """Beyond so many numbers squared errors are solved on the line (`bench_numeric`)."""
    numbers_absolute: int = 48
    """Beyond so many, absolute errors are: channel programmes are exact (`bench_numeric`)."""
    drawn_symbols: int = 250
    """Beyond so many symbols of X itself, posteriors are drawn at random (`bench_own_secret`)."""
    drawn_fewest: int = 64
    """Of fewer symbols random posteriors seldom have the prior for their mean."""
    grouped_numbers: int = 24
    """Beyond so many numbers under LDP neighbours are grouped first (`bench_staircase`)."""
    groups: int = 16
    """How many groups of neighbours there are (`bench_staircase`)."""
    assigned_cells: int = 300_000
    """Beyond so many cells outputs are named greedily (`bench_optimum`)."""
    profile_cells: int = 8
    """Up to so many pairs of profile and value posteriors are listed (`bench_profiles`)."""


LIMITS = Limits()


@dataclass(frozen=True)
class Tolerances:
    """What counts as nothing, relative to what is compared."""

    worthless: float = 1e-12
    """A mechanism that saves a smaller share of the cost of releasing nothing releases nothing."""
    tolerable: float = 1e-6
    """Where more than this share of the cost might be saved, a search ended too early."""
    unused: float = 1e-15
    """An output that no input gives more often is a solver's residue."""
    piece: float = 2.0**-26
    """A piece of an output that is rarer stays with its neighbour."""


TOLERANCES = Tolerances()
