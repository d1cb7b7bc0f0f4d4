"""Lock: the only place where floats become a channel, and only together with a certificate.

Optimal mechanisms sit exactly on the boundary of their budget, so rounding them to integers nearly
always breaks the guarantee by a hair, and a solver's residue can grow an output of mass 1e-16 with
infinite leakage. Locking drops those outputs, rounds, and, if the exact audit then refuses, blends

    (1 - t) C + t 1 P_Y

with the smallest weight t that passes: it pulls every lift towards 1 and keeps the output marginal.
A draft that needs more than a hair is refused, with the witness and the smallest budget that
would do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Generic, TypeAlias, TypedDict, TypeVar, Unpack, overload

import numpy as np

from liftlock.designs.base import Draft, StructuredDraft, labels_text
from liftlock.errors import InputError, NotCertified, RowError, UnprotectedInput
from liftlock.exact.integers import Floats, Integers
from liftlock.exact.reproducible import dot
from liftlock.exact.rounding import DEFAULT_BITS, LARGE, round_integer_rows, round_rows
from liftlock.model import Conditional, Context, Prior, ProfileGraph, representative
from liftlock.model.alphabet import Alphabet, Label
from liftlock.model.channel import Channel, Table
from liftlock.model.provenance import gap_text
from liftlock.model.structured import StructuredChannel, SupportChannel
from liftlock.notions.base import Notion
from liftlock.notions.certificate import Certificate
from liftlock.notions.guarantee import Guarantee, Wanted
from liftlock.notions.lift import Impossible
from liftlock.notions.registry import check_own_key

NOISE = 1e-10
"""Outputs that no input gives with more than this probability are a solver's residue."""

MOST_BLEND = Fraction(1, 1 << 20)
"""A draft that needs a larger blend is not a rounding accident but a wrong design."""

_DRAFT_BITS = 62
_LEAST = 2.0**-_DRAFT_BITS
_REFINEMENTS = 6

_Attempt: TypeAlias = tuple[Table | SupportChannel, tuple[Guarantee, ...]]
"""A channel, and what is proved of it."""

C_co = TypeVar("C_co", bound=Table | SupportChannel, covariant=True)


@dataclass(frozen=True)
class LockedChannel(Generic[C_co]):
    """A certified channel, its certificate, and how far locking moved the draft."""

    channel: C_co
    certificate: Certificate
    blend: Fraction
    dropped: tuple[Label, ...] = ()
    moved: float = 0.0
    """The largest change of any probability in the draft of a table."""
    also: tuple[Guarantee, ...] = ()
    """Further guarantees that it keeps."""

    def changes(self) -> str:
        """Say in one line what locking did to the draft."""
        weight = f"{float(self.blend):.2g}"
        if isinstance(self.channel, SupportChannel):
            done = f"the two likelihoods nearer by {weight}" if self.blend else "as drafted"
            return f"integers of {self.channel.bits} bits, {done}"
        text = f"rounded to {self.channel.bits} bits"
        if self.blend:
            text += f", blended with weight {weight}"
        if self.dropped:
            text += f", without the noise outputs {labels_text(self.dropped)}"
        if not self.moved:
            return f"{text}: every probability is as drafted"
        return f"{text}: no probability moved by more than {gap_text(self.moved)}"


class _Options(TypedDict, total=False):
    bits: int
    noise: float
    most_blend: Fraction
    impossible: Impossible
    also: Sequence[Wanted]


@overload
def lock(
    draft: Draft | Channel, notion: Notion, context: Context, **options: Unpack[_Options]
) -> LockedChannel[Table]: ...
@overload
def lock(
    draft: StructuredDraft | StructuredChannel,
    notion: Notion,
    context: Context,
    **options: Unpack[_Options],
) -> LockedChannel[SupportChannel]: ...
def lock(
    draft: Draft | Channel | StructuredDraft | StructuredChannel,
    notion: Notion,
    context: Context,
    *,
    bits: int = DEFAULT_BITS,
    noise: float = NOISE,
    most_blend: Fraction = MOST_BLEND,
    impossible: Impossible = "refuse",
    also: Sequence[Wanted] = (),
) -> LockedChannel[Table | SupportChannel]:
    """Turn a draft into a channel that the exact audit certifies, or refuse it.

    Most drafts become a table. An encoding keeps its form: its few integers are rounded to at most
    `bits` bits, and moved towards each other if the audit refuses them. With `also` it must keep
    these guarantees too; what is refused says which one does not hold.

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
    wanted = (Wanted(notion, context), *also)
    for each in wanted:
        check_own_key(each.notion)
    blended = _blends(draft, context, noise, bits)
    plain = blended(Fraction(0))
    unprotected: UnprotectedInput | None = None
    refused: Guarantee | None = None
    proved: tuple[Guarantee, ...] = ()
    try:
        proved = _certify_all(wanted, plain, impossible)
        refused = next((each for each in proved if not each.certificate.holds), None)
        if refused is None:
            return _make_locked(draft, Fraction(0), plain, proved)
    except UnprotectedInput as refusal:
        # Rows of values that a profile calls impossible are bounded too, so blending can help.
        if not isinstance(context, ProfileGraph):
            raise
        unprotected = refusal

    def attempt(blend: Fraction) -> _Attempt | None:
        channel = blended(blend)
        try:
            found = _certify_all(wanted, channel, impossible)
        except UnprotectedInput:
            return None
        return (channel, found) if all(each.certificate.holds for each in found) else None

    large = isinstance(plain, Table) and plain.weights.size > LARGE
    found = _least_blend(attempt, most_blend, plain.bits, 1 if large else _REFINEMENTS)
    if found is None:
        if refused is None:
            assert unprotected is not None
            raise unprotected
        # A notion of somebody's own is in no registry: it is asked itself.
        asked = wanted[len(proved) - 1].notion
        smallest = asked.say_smallest(plain, refused.context)
        raise NotCertified(refused.certificate, smallest, refused.about or "")
    return _make_locked(draft, *found)


def _certify_all(
    wanted: Iterable[Wanted], channel: Table | SupportChannel, impossible: Impossible
) -> tuple[Guarantee, ...]:
    """Certify a channel for one guarantee after another, up to the first that does not hold."""
    found: list[Guarantee] = []
    for notion, context, about in wanted:
        found.append(Guarantee(_certify(notion, channel, context, impossible), context, about))
        if not found[-1].certificate.holds:
            break
    return tuple(found)


def _certify(
    notion: Notion, channel: Table | SupportChannel, context: Context, impossible: Impossible
) -> Certificate:
    """Certify a channel; a notion of somebody's own must speak of it, and of its own budgets."""
    found = notion.certify(channel, context, impossible=impossible)
    told = found.notion, dict(found.budgets), found.channel
    if told != (notion.name, dict(notion.budgets), channel.fingerprint):
        raise InputError(
            "the certificate speaks of another guarantee or channel",
            value=found.guarantee,
            remedy=f"{type(notion).__name__}.certify must certify what it is given",
        )
    return found


def _least_blend(
    attempt: Callable[[Fraction], _Attempt | None],
    most_blend: Fraction,
    bits: int,
    refinements: int,
) -> tuple[Fraction, Table | SupportChannel, tuple[Guarantee, ...]] | None:
    """Find a small blend that passes, or None if the largest allowed does not."""
    best: tuple[Fraction, Table | SupportChannel, tuple[Guarantee, ...]] | None = None

    def passes(blend: Fraction) -> bool:
        nonlocal best
        found = attempt(blend)
        best = best if found is None else (blend, *found)
        return found is not None

    if not passes(most_blend):
        return None
    # Bisect the exponent first, then the weight itself.
    low = (most_blend.denominator // most_blend.numerator).bit_length() - 1
    passing, high = most_blend, bits + 4
    while high - low > 1:
        middle = (low + high) // 2
        if passes(Fraction(1, 1 << middle)):
            low, passing = middle, Fraction(1, 1 << middle)
        else:
            high = middle
    failing = passing / 2
    for _ in range(refinements):
        weight = (passing + failing) / 2
        passing, failing = (weight, failing) if passes(weight) else (passing, weight)
    return best


def round_draft(
    draft: Draft | Channel | StructuredDraft, *, bits: int = DEFAULT_BITS, noise: float = NOISE
) -> Table | SupportChannel:
    """Round a draft as locking does first, without asking what it guarantees."""
    return _blends(draft, Prior.uniform(draft.inputs.labels), noise, bits)(Fraction(0))


def _blends(
    draft: Draft | Channel | StructuredDraft | StructuredChannel,
    context: Context,
    noise: float,
    bits: int,
) -> Callable[[Fraction], Table | SupportChannel]:
    """Return what makes the integers of a draft, blended as much as it is told."""
    form = draft.channel if isinstance(draft, StructuredDraft) else draft
    if isinstance(form, SupportChannel):
        narrow = form if form.bits <= bits else form.with_bits(bits)
        return lambda blend: narrow.soften(blend) if blend else narrow
    if isinstance(form, StructuredChannel):
        raise InputError(
            "a mechanism for per-user priors is not locked",
            value=str(form),
            remedy="make it with design(labels, notion), which is exact already",
        )
    return _mixer(form, context, noise, bits).table


@dataclass
class _Mixer:
    """Mixes every row with one common row, near P_Y, and rounds the result.

    Channels and small drafts are mixed in exact integers, large drafts in float64: what is proved
    is the rounded table either way.
    """

    inputs: Alphabet
    outputs: Alphabet
    rows: Floats
    numerators: Integers | None
    context: Context
    bits: int

    @cached_property
    def _common(self) -> Floats:
        """The rows to mix with: one for all, or one for each."""
        if isinstance(self.context, ProfileGraph):
            return _common_of_profiles(self.context, self.inputs, self.rows)
        if isinstance(self.context, Conditional):
            return _common_of_groups(self.context, self.inputs, self.rows)
        masses = representative(self.context).reordered(self.inputs).floats()
        common: Floats = dot(masses, self.rows)[None, :]
        # Too small a chance for a float is a chance all the same.
        return np.maximum(common, _LEAST)

    def table(self, blend: Fraction) -> Table:
        if self.numerators is None:
            share = float(blend)
            mixed = (1.0 - share) * self.rows + share * self._common if share else self.rows
            weights = round_rows(mixed, self.bits)
        elif blend:
            a, b = blend.denominator - blend.numerator, blend.numerator
            common = np.ldexp(self._common, _DRAFT_BITS).astype(np.int64).astype(object)
            totals = self.numerators.sum(axis=1)[:, None]
            exact = self.numerators * (a * common.sum(axis=1)[:, None]) + totals * b * common
            weights = round_integer_rows(exact, self.bits)
        else:
            weights = round_integer_rows(self.numerators, self.bits)
        return Table.of(self.inputs, self.outputs, weights, self.bits)


def _mixer(draft: Draft | Channel, context: Context, noise: float, bits: int) -> _Mixer:
    """Drop noise outputs; return what mixes and rounds the rest."""
    matrix = draft.floats() if isinstance(draft, Channel) else np.clip(draft.matrix, 0.0, None)
    keep = np.flatnonzero(matrix.max(axis=0) > noise)
    rows = matrix[:, keep]
    empty = np.flatnonzero(rows.sum(axis=1) == 0)
    if len(empty):
        raise RowError(
            "only noise outputs are left", where=f"input {draft.inputs.labels[int(empty[0])]!r}"
        )
    numerators: Integers | None = None
    if isinstance(draft, Channel):
        numerators = draft.weights[:, keep].astype(object)
    elif rows.size <= LARGE or bits > DEFAULT_BITS:
        numerators = np.ldexp(rows, _DRAFT_BITS).astype(np.int64).astype(object)
    outputs = draft.outputs.subset(keep.tolist())
    return _Mixer(draft.inputs, outputs, rows, numerators, context, bits)


def _common_of_profiles(graph: ProfileGraph, inputs: Alphabet, rows: Floats) -> Floats:
    """Return the mean of what the profiles of a component release, for each row.

    Profiles that no edge joins to others stay as they are.
    """
    wanted = graph.inputs if inputs.labels == graph.inputs.labels else graph.pairs
    order = wanted.positions_in(inputs, whose="the graph", other_name="the draft")
    if wanted is graph.inputs:
        common: Floats = dot(graph.distributions.mean(axis=0), rows[order])[None, :]
        return common
    blocks = rows[order].reshape(len(graph), len(graph.inputs), -1)
    released = (graph.distributions[:, :, None] * blocks).sum(axis=1)
    mixed = blocks.copy()
    for part in graph.components:
        if len(part) > 1:
            mixed[list(part)] = released[list(part)].mean(axis=0)
    found = np.empty_like(rows)
    found[order] = mixed.reshape(len(rows), -1)
    return found


def _common_of_groups(context: Conditional, inputs: Alphabet, rows: Floats) -> Floats:
    """Return what the people of each group release on average, for each row."""
    if not context.uses_given(inputs):
        masses = context.prior.reordered(inputs).floats()
        common: Floats = dot(masses, rows)[None, :]
        return np.maximum(common, _LEAST)
    masses = context.whole.prior.reordered(inputs).floats()
    found = np.empty_like(rows)
    for name in context.names:
        own = [at for at, pair in enumerate(inputs.labels) if pair[0] == name]  # type: ignore[index]
        shares = masses[own]
        if not shares.any():  # nobody is in it yet
            shares = np.ones(len(own))
        found[own] = dot(shares / shares.sum(), rows[own])
    return np.maximum(found, _LEAST)


def _make_locked(
    draft: Draft | Channel | StructuredDraft | StructuredChannel,
    blend: Fraction,
    channel: Table | SupportChannel,
    proved: tuple[Guarantee, ...],
) -> LockedChannel[Table | SupportChannel]:
    first, *also = proved
    certificate, further = first.certificate, tuple(also)
    if isinstance(channel, SupportChannel):
        return LockedChannel(channel, certificate, blend, also=further)
    assert isinstance(draft, Draft | Channel)
    dropped = tuple(label for label in draft.outputs.labels if label not in channel.outputs)
    moved = _largest_move(draft, channel)
    return LockedChannel(channel, certificate, blend, dropped, moved, further)


def _largest_move(draft: Draft | Channel, table: Table) -> float:
    """Return the largest change of a probability: 0 only if there is none."""
    kept = [draft.outputs.index(label) for label in table.outputs.labels]
    shape = (len(draft.inputs), len(draft.outputs))
    if isinstance(draft, Channel):
        after = np.zeros(shape, dtype=object)
        after[:, kept] = table.weights
        totals = np.array(draft.totals, dtype=object)
        off = np.abs(draft.weights.astype(object) * (1 << table.bits) - after * totals[:, None])
        rows = zip(off.max(axis=1), draft.totals, strict=True)
        return float(max(Fraction(most, total << table.bits) for most, total in rows))
    # Weights of more than 52 bits are floats in two parts, so that nothing is rounded away.
    low = table.weights & ((1 << max(table.bits - DEFAULT_BITS, 0)) - 1)
    moves = draft.matrix.copy()
    for part in (table.weights - low, low):
        moves[:, kept] -= np.ldexp(part.astype(np.float64), -table.bits)
    return float(np.abs(moves).max())
