"""What counts as nothing in floating-point work; proofs on integers need none of it."""

from __future__ import annotations

from dataclasses import dataclass


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
