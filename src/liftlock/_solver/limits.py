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
    numbers_absolute: int = 48
    """Beyond so many, absolute errors are: channel programmes are exact (`bench_numeric`)."""
    drawn_symbols: int = 250
    """Beyond so many symbols of X itself, posteriors are drawn at random (`bench_own_secret`)."""
    drawn_fewest: int = 64
    """Of fewer symbols random posteriors seldom have the prior for their mean."""
    grouped_numbers: int = 24
    """Beyond so many numbers under LDP neighbours are grouped first (`bench_staircase`)."""
    few_symbols: int = 16
    """Neighbours are joined to so many groups; up to so many symbols proofs are closer than was
    asked for, and under LDP all sets are listed for a cost of one's own (`bench_staircase`)."""
    regions: int = 30
    """From so many inputs of a joint on, each has a region in proofs (`bench_optimum`)."""
    assigned_cells: int = 300_000
    """Beyond so many cells outputs are named greedily (`bench_optimum`)."""
    new_columns: int = 400
    """Columns added in one round, or twice as many as inputs if that is more (`bench_optimum`)."""
    polished_columns: int = 1_500
    """The weights of more columns are left as they are (`bench_own_secret`)."""
    asked_vertices: int = 200_000
    """More extreme posteriors are not listed even if that is asked for (`bench_optimum`)."""
    rarest_piece: float = 2.0**-26
    """A piece of an output that is rarer stays with its neighbour (`bench_types`)."""
    profile_numbers: int = 1_000
    """Posteriors of profiles are listed if edges have no more numbers (`bench_profiles`)."""
    simplex_flows: int = 20_000
    """With more flows an interior point is quicker than the simplex method (`bench_profiles`)."""
    moved_together: int = 200_000
    """With more pairs of values in all, profiles are moved one by one (`bench_profiles`)."""
    block: int = 1 << 20
    """Entries of the arrays worked on at a time (`bench_numeric`, `bench_own_secret`)."""
    steps: int = 2_000
    """Steps of one walk from vertex to vertex, or of one climb: no benchmark takes so many."""
    nodes: tuple[int, ...] = (30, 1_000, 30_000, 1_000_000)
    """Nodes that a branch and bound opens: it begins anew with more while it proves too little
    (`bench_own_secret`, `bench_optimum`)."""
    starts: int = 128
    """Random starts of a search that is compiled, or done for all of them at once
    (`bench_own_secret`, `bench_staircase`)."""
    climbs: int = 12
    """Random starts of a search by linear programmes (`bench_profiles`)."""
    places: int = 48
    """Numbers at which a curve is looked at first (`bench_numeric`)."""
    many_numbers: int = 1_000
    """Of more numbers neighbours are joined before the search (`bench_numeric`)."""
    columns: int = 128
    """Columns that pricing returns, and linear minimisations between two looks at the clock."""


LIMITS = Limits()


@dataclass(frozen=True)
class Tolerances:
    """What counts as nothing; relative to the size of what is compared, unless it is a chance."""

    residue: float = 1e-15
    """An output that no input gives more often is what a solver left behind."""
    zero: float = 1e-13
    """A weight, or an excess over a limit, that is smaller is rounding."""
    hair: float = 1e-12
    """A gain that is smaller is none."""
    solver: float = 1e-10
    """What HiGHS can see: its smallest tolerance."""
    visible: float = 1e-9
    """What sums and systems of a solver's numbers may be off."""
    share: float = 0.03
    """What is left undecided of a gap, as a share of it."""
    close: float = 1e-6
    """A gap that is smaller is closed, and a rarer symbol is lost in distances."""


TOLERANCES = Tolerances()
