"""Lock: the only place where floats become a channel, and only together with a certificate.

Optimal mechanisms sit exactly on the boundary of their budget, so rounding them to integers nearly
always breaks the guarantee by a hair, and a solver's residue can grow an output of mass 1e-16 with
infinite leakage. Locking drops such outputs, rounds, and, if the exact audit then refuses, blends

    (1 - t) C + t 1 P_Y

with the smallest weight t that passes: it pulls every lift towards 1 and keeps the output marginal.
A draft that needs more than a hair is refused, with the witness and the smallest budget that
would do.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from liftlock.alphabet import Alphabet, Label
from liftlock.channel import Channel, Table
from liftlock.context import Ball, Context, Family, Intervals, Joint
from liftlock.designs.draft import Draft
from liftlock.errors import NotCertified, NotDefined, RowError
from liftlock.exact.integers import Integers, as_integers
from liftlock.exact.weights import DEFAULT_BITS, round_integer_rows
from liftlock.notions.certificate import Certificate
from liftlock.notions.lift import Impossible
from liftlock.notions.notion import Notion
from liftlock.prior import Prior, common_integers

NOISE = 1e-10
"""Outputs that no input gives with more than this probability are a solver's residue."""

MOST_BLEND = Fraction(1, 1 << 20)
"""A draft that needs a larger blend is not a rounding accident but a wrong design."""

_DRAFT_BITS = 62
_REFINEMENTS = 6


@dataclass(frozen=True)
class Locked:
    """A certified table: the channel, its certificate, and how far locking moved the draft."""

    channel: Table
    certificate: Certificate
    blend: Fraction
    dropped: tuple[Label, ...]
    moved: float
    """The largest change of any probability of the draft."""

    def changes(self) -> str:
        """Say in one line what locking did to the draft."""
        text = f"rounded to {self.channel.bits} bits"
        if self.blend:
            text += f", blended with weight {float(self.blend):.2g}"
        if self.dropped:
            shown = ", ".join(repr(label) for label in self.dropped[:5])
            more = f" and {len(self.dropped) - 5} more" if len(self.dropped) > 5 else ""
            text += f", without the noise outputs {shown}{more}"
        if not self.moved:
            return f"{text}: every probability is as drafted"
        return f"{text}: no probability moved by more than {self.moved:.2g}"


def lock(
    draft: Draft | Channel,
    notion: Notion,
    context: Context,
    *,
    bits: int = DEFAULT_BITS,
    noise: float = NOISE,
    most_blend: Fraction = MOST_BLEND,
    impossible: Impossible = "refuse",
) -> Locked:
    """Turn a draft into a table that the exact audit certifies, or refuse it.

    >>> from liftlock.notions.lip import LIP
    >>> fair = Prior.uniform(["no", "yes"])
    >>> keep = 1 / (1 + np.exp(-1.0))  # on the boundary of ldp(1), so well inside lip(1)
    >>> coin = Draft.of(["no", "yes"], ["no", "yes"], [[keep, 1 - keep], [1 - keep, keep]])
    >>> locked = lock(coin, LIP("1"), fair)
    >>> locked.certificate.holds, locked.channel.bits, locked.blend
    (True, 52, Fraction(0, 1))
    >>> lock(coin, LIP("0.1"), fair)
    Traceback (most recent call last):
    liftlock.errors.NotCertified: lip(epsilon=0.1) does not hold: ...
    """
    numerators, outputs, dropped = _clean(draft, noise)
    rounded = _table(draft.inputs, outputs, numerators, bits)
    certificate = notion.certify(rounded, context, impossible=impossible)
    if certificate.holds:
        return _locked(draft, rounded, certificate, Fraction(0), dropped)
    blender = _Blender(draft.inputs, outputs, numerators, context, bits)

    def attempt(blend: Fraction) -> tuple[Table, Certificate] | None:
        table = blender.table(blend)
        verdict = notion.certify(table, context, impossible=impossible)
        return (table, verdict) if verdict.holds else None

    found = attempt(most_blend)
    if found is None:
        smallest = notion.smallest(rounded, context)
        raise NotCertified(certificate, smallest)
    best = (most_blend, *found)
    # Bisect the exponent first, then the weight itself.
    low = (most_blend.denominator // most_blend.numerator).bit_length() - 1
    high = bits + 4
    while high - low > 1:
        middle = (low + high) // 2
        found = attempt(Fraction(1, 1 << middle))
        if found is None:
            high = middle
        else:
            low = middle
            best = (Fraction(1, 1 << middle), *found)
    passing, failing = best[0], best[0] / 2
    for _ in range(_REFINEMENTS):
        weight = (passing + failing) / 2
        found = attempt(weight)
        if found is None:
            failing = weight
        else:
            passing = weight
            best = (weight, *found)
    blend, table, verdict = best
    return _locked(draft, table, verdict, blend, dropped)


def _clean(draft: Draft | Channel, noise: float) -> tuple[Integers, Alphabet, tuple[Label, ...]]:
    """Drop noise outputs; return integer numerators of every row."""
    if isinstance(draft, Channel):
        matrix = draft.floats()
        numerators = draft.weights.astype(object)
    else:
        matrix = np.clip(draft.matrix, 0.0, None)
        numerators = np.ldexp(matrix, _DRAFT_BITS).astype(np.int64).astype(object)
    keep = np.flatnonzero(matrix.max(axis=0) > noise)
    empty = np.flatnonzero(numerators[:, keep].sum(axis=1) == 0)
    if len(empty):
        raise RowError(
            "only noise outputs are left", where=f"input {draft.inputs.labels[int(empty[0])]!r}"
        )
    labels = draft.outputs.labels
    points = draft.outputs.coordinates
    kept = {int(y) for y in keep}
    outputs = Alphabet.of(
        (labels[y] for y in sorted(kept)),
        None if points is None else [points[y] for y in sorted(kept)],
    )
    dropped = tuple(label for y, label in enumerate(labels) if y not in kept)
    return numerators[:, keep], outputs, dropped


def _table(inputs: Alphabet, outputs: Alphabet, numerators: Integers, bits: int) -> Table:
    return Table.of(inputs, outputs, round_integer_rows(numerators, bits), bits)


@dataclass
class _Blender:
    """Mixes every row with one common row before rounding, in exact integers."""

    inputs: Alphabet
    outputs: Alphabet
    numerators: Integers
    context: Context
    bits: int

    def __post_init__(self) -> None:
        self._totals = self.numerators.sum(axis=1)
        exact = Channel(
            self.inputs, self.outputs, as_integers(self.numerators), tuple(self._totals.tolist())
        )
        prior = representative(self.context).reordered(self.inputs)
        # The marginal only has to be near P_Y: 62 bits of it are plenty and keep numbers short.
        marginal = [float(p) for p in exact.output(prior).fractions]
        self._row = np.array([max(int(p * (1 << _DRAFT_BITS)), 1) for p in marginal], dtype=object)

    def table(self, blend: Fraction) -> Table:
        a, b = blend.denominator - blend.numerator, blend.numerator
        row_total = int(self._row.sum())
        mixed = self.numerators * (a * row_total) + np.outer(self._totals * b, self._row)
        return _table(self.inputs, self.outputs, mixed, self.bits)


def representative(context: Context) -> Prior:
    """Return one prior of the context: the data's own, or one inside the set of priors."""
    if isinstance(context, Prior):
        return context
    if isinstance(context, Joint):
        return context.prior
    if isinstance(context, Ball):
        return context.centre
    if isinstance(context, Family):
        count = len(context.priors)
        return Prior.mixture(context.priors, [Fraction(1, count)] * count)
    if isinstance(context, Intervals):
        lower, upper = context.lower, context.tight[1]
        floor = sum(lower, Fraction(0))
        room = sum(upper, Fraction(0)) - floor
        share = (1 - floor) / room if room else Fraction(0)
        values = [low + share * (high - low) for low, high in zip(lower, upper, strict=True)]
        return Prior(context.inputs, common_integers(values))
    raise NotDefined("locking", context.describe(), "give a prior, a joint or a set of priors")


def _locked(
    draft: Draft | Channel,
    table: Table,
    certificate: Certificate,
    blend: Fraction,
    dropped: tuple[Label, ...],
) -> Locked:
    before = draft.floats() if isinstance(draft, Channel) else draft.matrix
    keep = [draft.outputs.index(label) for label in table.outputs.labels]
    moved = float(np.abs(before[:, keep] - table.floats()).max())
    if dropped:
        gone = [draft.outputs.index(label) for label in dropped]
        moved = max(moved, float(before[:, gone].max()))
    return Locked(table, certificate, blend, dropped, moved)
