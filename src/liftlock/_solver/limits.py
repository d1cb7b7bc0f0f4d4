"""How large a problem each way of solving is taken for, and the tolerances of all of them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Sizes up to which, or from which on, a way of solving is the best one.

    `python -m benchmarks limits` solves, for each of them, the task that depends on it most: at
    half of its value, as it is, and at twice its value.
    """

    listed_symbols: int = 8
    """Up to so many symbols all extreme posteriors are listed; beyond, squared errors of numbers
    are solved on the line."""
    listed_cells: int = 128
    """Or up to so many cells of a joint."""
    listed_vertices: int = 8_000
    """If they are no more than these."""
    set_symbols: int = 6
    """Up to so many symbols all extreme posteriors of a set of priors are listed."""
    frequency_symbols: int = 256
    """Of more symbols no optimum for frequencies is searched."""
    mixed_columns: int = 12
    """Outputs of a mechanism for frequencies, for each symbol, while they are few in all."""
    numbers_absolute: int = 48
    """Beyond so many numbers absolute errors are, too: up to there a channel programme is exact."""
    drawn_symbols: int = 250
    """Beyond so many symbols of X itself, posteriors are drawn at random; up to so many, each that
    was drawn descends."""
    drawn_fewest: int = 64
    """Of fewer symbols random posteriors seldom have the prior for their mean."""
    grouped_numbers: int = 24
    """Beyond so many numbers under LDP neighbours are grouped first."""
    few_symbols: int = 16
    """Neighbours are joined to so many groups; up to so many symbols proofs are closer than was
    asked for, and under LDP all sets are listed for a cost of one's own."""
    regions: int = 30
    """From so many inputs of a joint on, each has a region in proofs."""
    assigned_cells: int = 300_000
    """Beyond so many cells outputs are named greedily."""
    new_columns: int = 400
    """Columns added in one round, or twice as many as inputs if that is more."""
    polished_columns: int = 1_500
    """The weights of more columns are left as they are."""
    asked_vertices: int = 200_000
    """More extreme posteriors are not listed even if that is asked for."""
    rarest_piece: float = 2.0**-26
    """A piece of an output that is rarer stays with its neighbour."""
    profile_numbers: int = 1_000
    """Posteriors of profiles are listed if edges have no more numbers."""
    simplex_flows: int = 20_000
    """With more flows an interior point is quicker than the simplex method."""
    moved_together: int = 200_000
    """With more pairs of values in all, profiles are moved one by one."""
    block: int = 1 << 20
    """Entries of the arrays worked on at a time."""
    steps: int = 2_000
    """Steps of one walk from vertex to vertex, or of one climb: no benchmark takes so many."""
    nodes: tuple[int, ...] = (30, 1_000, 30_000, 1_000_000)
    """Nodes that a branch and bound opens: it begins anew with more while it proves too little."""
    starts: int = 128
    """Random starts of a search that is compiled, or done for all of them at once."""
    climbs: int = 12
    """Random starts of a search by linear programmes."""
    places: int = 48
    """Numbers at which a curve is looked at first."""
    many_numbers: int = 1_000
    """Of more numbers neighbours are joined before the search."""
    columns: int = 128
    """Columns that pricing returns, and linear minimisations between two looks at the clock."""


LIMITS = Limits()
