"""Merging symbols: release those of low risk, and hide the others in one crowd or in several.

An output that every symbol of a set A gives with one and the same probability has the lifts

    l(s, A) = P(A | s) / P(A),

whatever that probability is. Watchdog, subset merging and subset response are built on them.

Source: 002 eq. (9), eq. (10), eq. (14).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from liftlock._solver.problem import limits, refuse_zero_mass
from liftlock.designs.base import LIFT_NOTIONS, Design, Draft, labels_text
from liftlock.errors import InputError, NotDefined
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import log, power
from liftlock.model import Context, Joint, representative
from liftlock.model.alphabet import Alphabet, Label
from liftlock.notions.base import Notion, OutputLimit

MERGING_NOTIONS = (
    *LIFT_NOTIONS,
    "ldp",
    "l1_lift",
    "l1_lift_inverse",
    "chi2_lift",
    "chi2_lift_inverse",
    "alpha_lift",
    "alpha_lift_inverse",
)
"""Notions that look at one output at a time and are content when nothing is released."""

HAIR = 1e-13
"""Floats may miss a limit by this much, relatively; `lock` takes care of the hair."""

_BEYOND = 1e200
"""Where infinite risks start, so that they can still be told apart."""

Function: TypeAlias = Callable[[Floats, Floats], Floats]
"""Of lifts and the masses of the secrets, one column for each output, to one number for each."""
Indices: TypeAlias = npt.NDArray[np.intp]


# --- how a notion judges one output ---------------------------------------------------------------


@dataclass(frozen=True)
class Gauge:
    """How notions judge outputs by their lifts: how risky each is, and whether it is allowed."""

    risk: Function
    """What Algorithm 1 orders by: max-lift + 1/min-lift, or the value of the measure."""
    strain: Function
    """At most 1 when the output is allowed."""

    @classmethod
    def of(cls, notions: Iterable[Notion]) -> Gauge:
        """Judge by several notions at once: risks add up, and the tightest limit decides.

        >>> from liftlock.notions.lip import LIP
        >>> gauge = Gauge.of([LIP("ln 2")])
        >>> lifts, masses = np.array([[1.5, 4.0], [0.5, 0.5]]), np.array([[0.5], [0.5]])
        >>> gauge.risk(lifts, masses).tolist(), gauge.safe(lifts, masses).tolist()
        ([3.5, 6.0], [True, False])
        """
        parts = [_judge(notion) for notion in notions]

        def risk(lifts: Floats, masses: Floats) -> Floats:
            total: Floats = np.sum([part.risk(lifts, masses) for part in parts], axis=0)
            # Among outputs that rule a secret out, prefer those that rule out less.
            lost = np.where(lifts > 0, 0.0, masses).sum(axis=0)
            return np.where(total < _BEYOND, total, _BEYOND * (1.0 + lost))

        def strain(lifts: Floats, masses: Floats) -> Floats:
            most: Floats = np.max([part.strain(lifts, masses) for part in parts], axis=0)
            return most

        return cls(risk, strain)

    def safe(self, lifts: Floats, masses: Floats) -> npt.NDArray[np.bool_]:
        """Tell which outputs are allowed."""
        return np.asarray(self.strain(lifts, masses) <= 1.0 + HAIR)


def _judge(notion: Notion) -> Gauge:
    """Return the gauge of one notion."""
    limit = notion.output_limit()
    if limit is not None:
        return _norm_gauge(notion.name, limit) if limit.mean == "alpha" else _mean_gauge(limit)
    lower, upper, ratio = limits(notion)

    def risk(lifts: Floats, masses: Floats) -> Floats:  # noqa: ARG001
        top, bottom = lifts.max(axis=0), lifts.min(axis=0)
        if ratio is not None:
            return _ratio(top, bottom)
        total: Floats = np.zeros_like(top)
        if upper < np.inf:
            total = total + top
        if lower > 0:
            total = total + _ratio(1.0, bottom)
        return total

    def strain(lifts: Floats, masses: Floats) -> Floats:  # noqa: ARG001
        top, bottom = lifts.max(axis=0), lifts.min(axis=0)
        if ratio is not None:
            spread: Floats = _ratio(top, bottom) / ratio
            return spread
        above: Floats = top / upper
        return np.maximum(above, _ratio(lower, bottom)) if lower > 0 else above

    return Gauge(risk, strain)


def _mean_gauge(allowed: OutputLimit) -> Gauge:
    """Judge by the mean of abs(l - 1) or (l - 1)^2, or of the same with 1/l.

    Source: 002 eq. (31), eq. (32), eq. (34), eq. (35).
    """
    inverse, squared, limit = allowed.inverse, allowed.mean == "chi2", float(allowed.budget)

    def risk(lifts: Floats, masses: Floats) -> Floats:
        distance = np.abs((_ratio(1.0, lifts) if inverse else lifts) - 1.0)
        value: Floats = np.where(
            masses > 0, masses * (distance**2 if squared else distance), 0.0
        ).sum(axis=0)
        return value

    def strain(lifts: Floats, masses: Floats) -> Floats:
        value, bound = risk(lifts, masses), limit
        if squared:
            value, bound = np.sqrt(value), float(np.sqrt(limit))
        # Off 0, so that a budget of 0 is met by lifts that are 1 to the last bit but one.
        return (1.0 + value) / (1.0 + bound)

    return Gauge(risk, strain)


def _norm_gauge(name: str, allowed: OutputLimit) -> Gauge:
    """Judge by the alpha-norm of l, or of 1/l.

    Source: 002 eq. (33), eq. (36).
    """
    inverse, limit = allowed.inverse, float(allowed.budget)
    order = None if allowed.order is None else float(allowed.order)
    if order is not None and order < 1:
        raise NotDefined(f"merging for {name}", f"order {order:g}", "use an order of 1 or more")
    if limit < 1:
        raise InputError(
            f"no mechanism has {name} below 1, not even one that releases nothing",
            value=limit,
            remedy="the smallest feasible budget is 1",
        )

    def risk(lifts: Floats, masses: Floats) -> Floats:
        values = _ratio(1.0, lifts) if inverse else lifts
        most: Floats = np.where(masses > 0, values, 0.0).max(axis=0)
        if order is None:
            return most
        finite = np.where(np.isfinite(most), most, 1.0)
        # Relative to the largest, so that high orders do not overflow.
        scaled = np.minimum(values / finite, 1.0)
        norm = power((masses * power(scaled, order)).sum(axis=0), 1.0 / order)
        return np.where(np.isfinite(most), finite * norm, np.inf)

    def strain(lifts: Floats, masses: Floats) -> Floats:
        share: Floats = risk(lifts, masses) / limit
        return share

    return Gauge(risk, strain)


def _ratio(above: Floats | float, below: Floats) -> Floats:
    """Divide, with infinity where the divisor is 0."""
    shape = np.broadcast_shapes(np.shape(above), below.shape)
    quotient: Floats = np.divide(above, below, out=np.full(shape, np.inf), where=below > 0)
    return quotient


# --- sets of symbols ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pool:
    """Symbols that can be merged: amounts that add up under union, and the lifts they give.

    For a joint the amounts of a set A are P(s, A), one row for each secret. When the secret is X
    itself, the lifts of A are 1/P(A) inside and 0 outside, so that P(A) and the number of symbols
    are enough.
    """

    inputs: Alphabet
    masses: Floats
    """P(x); 0 only under LDP, which asks for a row for every symbol."""
    amounts: Floats
    """One column for each symbol."""
    secret_masses: Floats | None
    """P(s) of the secrets that occur, one row; None when the secret is X itself."""
    gauge: Gauge

    @classmethod
    def of(cls, context: Context, *notions: Notion) -> Pool:
        """Read a prior or a joint, and the notions that every output must keep."""
        if any(notion.ratio_limit is None for notion in notions):
            refuse_zero_mass(context)
        gauge = Gauge.of(notions)
        masses = representative(context).floats()
        if not isinstance(context, Joint):
            amounts = np.vstack([masses, np.ones_like(masses)])
            return cls(context.inputs, masses, amounts, None, gauge)
        rows = [row for row in context.counts if any(row)]
        # Dividing Python integers rounds correctly, whatever their size.
        amounts = np.array([[count / context.total for count in row] for row in rows])
        secret_masses = np.array([[sum(row) / context.total] for row in rows])
        return cls(context.inputs, masses, amounts, secret_masses, gauge)

    def lifts(self, amounts: Floats) -> tuple[Floats, Floats]:
        """Return lifts and secret masses of sets of symbols, one column for each."""
        if self.secret_masses is None:
            whole = amounts[1] >= len(self.masses)
            inside = np.where(whole, 1.0, amounts[0])
            outside = np.where(whole, 0.0, 1.0 - inside)
            return np.vstack([_ratio(1.0, inside), np.where(whole, 1.0, 0.0)]), np.vstack(
                [inside, outside]
            )
        expected = amounts.sum(axis=0) * self.secret_masses
        # A set that never occurs gets lifts of 0: unsafe, until it joins one that does.
        lifts = np.divide(amounts, expected, out=np.zeros_like(amounts), where=expected > 0)
        return lifts, self.secret_masses

    def gather(self, symbols: Sequence[int] | Indices) -> Floats:
        """Return the amounts of one set, as a column."""
        found: Floats = self.amounts[:, np.asarray(symbols, dtype=np.intp)].sum(
            axis=1, keepdims=True
        )
        return found

    def risks(self, amounts: Floats) -> Floats:
        """Return the risk of each set."""
        return self.gauge.risk(*self.lifts(amounts))

    def safe(self, amounts: Floats) -> npt.NDArray[np.bool_]:
        """Tell which sets may be an output."""
        return self.gauge.safe(*self.lifts(amounts))

    def is_safe(self, symbols: Sequence[int]) -> bool:
        """Tell whether one set may be an output."""
        return bool(self.safe(self.gather(symbols))[0])

    def split(self) -> tuple[list[int], list[int]]:
        """Return the low-risk and the high-risk symbols.

        Source: 002 eq. (6), eq. (7), eq. (37).
        """
        safe = self.safe(self.amounts) & (self.masses > 0)
        return np.flatnonzero(safe).tolist(), np.flatnonzero(~safe).tolist()

    def text_of(self, symbols: Iterable[int]) -> str:
        """Write some symbols in a sentence."""
        return labels_text([self.inputs.labels[x] for x in sorted(symbols)])


def absorb_until_safe(pool: Pool, unsafe: list[int], others: list[list[int]]) -> list[list[int]]:
    """Let an unsafe set absorb others until it is safe; return all sets, the repaired one last.

    If one of the others is enough, the one that costs the least mutual information is taken;
    otherwise the one that leaves the least risk. What turns out to be superfluous is given back.
    The whole alphabet has lift 1, so this always ends in a safe set.

    Source: 002 Algorithm 1, lines 12-15; that low-risk symbols may be absorbed is our own addition.
    """
    if pool.is_safe(unsafe) or not others:
        return [*others, unsafe]
    others = list(others)
    base, merged = unsafe, list(unsafe)
    taken: list[list[int]] = []
    amounts = np.hstack([pool.gather(other) for other in others])
    weights = np.array([pool.masses[other].sum() for other in others])
    while others and not pool.is_safe(merged):
        candidates = pool.gather(merged) + amounts
        enough = pool.safe(candidates)
        if enough.any():
            cost = _merging_cost(float(pool.masses[merged].sum()), weights)
            best = int(np.argmin(np.where(enough, cost, np.inf)))
        else:
            best = int(np.argmin(pool.risks(candidates)))
        taken.append(others.pop(best))
        merged = merged + taken[-1]
        amounts, weights = np.delete(amounts, best, axis=1), np.delete(weights, best)
    for piece in sorted(taken, key=lambda piece: -float(pool.masses[piece].sum())):
        without = base + [x for other in taken if other is not piece for x in other]
        if pool.is_safe(without):
            taken = [other for other in taken if other is not piece]
            others.append(piece)
    return [*others, base + [x for piece in taken for x in piece]]


def equivocation(pool: Pool, groups: Iterable[Sequence[int]]) -> float:
    """Return H(X | the set that X is in), in nats.

    Source: 002 eq. (13).
    """
    sets = np.array([pool.masses[np.asarray(group, dtype=np.intp)].sum() for group in groups])
    return float(_x_log_x(sets).sum() - _x_log_x(pool.masses).sum())


def _merging_cost(mass: float, others: Floats) -> Floats:
    """Return how much mutual information is lost when sets of these masses are merged."""
    return _x_log_x(mass + others) - _x_log_x(np.asarray(mass)) - _x_log_x(others)


def _x_log_x(values: Floats) -> Floats:
    product: Floats = values * log(np.where(values > 0, values, 1.0))
    return product


# --- drafts ---------------------------------------------------------------------------------------


def merged_draft(pool: Pool, groups: list[list[int]], remarks: list[str]) -> Draft:
    """Return the channel that reports the set a symbol is in."""
    ordered = sort_groups(groups)
    matrix = np.zeros((len(pool.masses), len(ordered)))
    for y, group in enumerate(ordered):
        matrix[group, y] = 1.0
    return Draft.of(pool.inputs, names_of(pool.inputs, ordered), matrix, remarks=remarks)


def sort_groups(groups: Iterable[list[int]]) -> list[list[int]]:
    """Sort symbols inside their groups, and groups by their first symbol."""
    return sorted(sorted(group) for group in groups if group)


def names_of(inputs: Alphabet, groups: Sequence[Sequence[int]]) -> list[Label]:
    """Name the outputs: a symbol alone keeps its label, a set is written ``a | b``.

    >>> names_of(Alphabet.of(["a", "b", "c", "d"]), [[0], [1, 3], [2]])
    ['a', 'b | d', 'c']
    """
    names: list[Label] = []
    used: set[Label] = set(inputs.labels)
    for group in groups:
        if len(group) == 1:
            names.append(inputs.labels[group[0]])
            continue
        shown = [str(inputs.labels[x]) for x in group]
        if len(shown) > 8:
            shown = [*shown[:4], f"{len(shown) - 5} more", shown[-1]]
        name = plain = " | ".join(shown)
        count = 1
        while name in used:
            count += 1
            name = f"{plain} ({count})"
        used.add(name)
        names.append(name)
    return names


def read_further_notions(also: Notion | Sequence[Notion]) -> tuple[Notion, ...]:
    """Read the option `also`: one notion or several."""
    return tuple(also) if isinstance(also, Sequence) else (also,)


High = Literal["merge", "randomise"]


def watchdog(
    context: Context,
    notion: Notion,
    *,
    high: High = "merge",
    also: Notion | Sequence[Notion] = (),
    as_published: bool = False,
) -> Draft:
    """Release low-risk symbols, and give all high-risk ones the same answer.

    A symbol x is of low risk when the output x alone would keep the notion:
    e^-lower <= P(x | s) / P(x) <= e^upper for every s (the ratio of two P(x | s) for LDP). All
    others are merged into one output, or draw one of their labels at random (`high="randomise"`),
    which says just as little.

    The published mechanism never tests that output, and it can leak more than the budget. Here it
    is tested, and absorbs low-risk symbols until it passes. `as_published` leaves it as it is.

    Source: 002 eq. (6)-(10), eq. (37), Thm 1; the repair is our own.

    >>> from liftlock.model import Joint
    >>> from liftlock.notions.lip import LIP
    >>> table = {"s": {"a": 25, "b": 23, "c": 2}, "t": {"a": 20, "b": 20, "c": 10}}
    >>> joint = Joint.from_counts(table)
    >>> watchdog(joint, LIP("0.4"), as_published=True).outputs.labels  # c leaks ln 3
    ('a', 'b', 'c')
    >>> watchdog(joint, LIP("0.4")).outputs.labels
    ('a', 'b | c')
    """
    if high not in ("merge", "randomise"):
        raise InputError("unknown choice for high", value=high, remedy="use merge or randomise")
    pool = Pool.of(context, notion, *read_further_notions(also))
    low, risky = pool.split()
    groups = [[x] for x in low]
    crowd = risky
    if risky and not as_published:
        *groups, crowd = absorb_until_safe(pool, risky, groups)
    remarks = _remarks_on_crowd(pool, risky, crowd, as_published)
    if high == "merge" or len(crowd) < 2:
        return merged_draft(pool, [*groups, crowd], remarks)
    matrix = np.zeros((len(pool.masses), len(pool.masses)))
    for x in (group[0] for group in groups):
        matrix[x, x] = 1.0
    matrix[np.ix_(crowd, crowd)] = 1.0 / len(crowd)
    return Draft.of(pool.inputs, pool.inputs, matrix, remarks=remarks)


def _remarks_on_crowd(
    pool: Pool, risky: list[int], crowd: list[int], as_published: bool
) -> list[str]:
    """Say what was hidden, and whether that is enough."""
    if not risky:
        return ["every symbol is of low risk: X is released as it is"]
    remarks = [f"of high risk: {len(risky)} of {len(pool.masses)} symbols"]
    if as_published and not pool.is_safe(risky):
        remarks.append("as published, and the merged symbol does not keep the budget")
    absorbed = sorted(set(crowd) - set(risky))
    if absorbed:
        remarks.append(
            f"merged alone they would break the budget: hidden with them {pool.text_of(absorbed)}"
        )
    if len(crowd) == len(pool.masses) > 1:
        remarks.append("every symbol is hidden: nothing is released")
    return remarks


WATCHDOG = Design(
    key="watchdog",
    make=watchdog,
    summary="release symbols of low risk as they are, merge the others and repair the crowd",
    promises="one pass, no solver; the crowd is tested, not optimal",
    source="002 eq. (6)-(10), Thm 1, corrected",
    published=MERGING_NOTIONS,
    notions=MERGING_NOTIONS,
    contexts=("prior", "joint"),
    options={
        "high": "merge (one output for all high-risk symbols) or randomise (draw one of them)",
        "also": "further notions that every output must keep",
        "as_published": "do not test the merged symbol (it may break the budget)",
    },
)


Reading = Literal["printed", "meant"]
"""How Algorithm 1 is read: by the letter, or so that the numbers of the text come out."""
READING = "of the published algorithm: printed, or meant (subsets until no symbol is left)"


def refuse_reading(reading: object) -> None:
    """Refuse a reading of the print where the print is not asked for."""
    if reading is not None:
        raise InputError(
            "a reading is one of the published algorithm",
            value=reading,
            remedy="add as_published, or leave out reading",
        )


def subset_merging(
    context: Context,
    notion: Notion,
    *,
    also: Notion | Sequence[Notion] = (),
    as_published: bool = False,
    reading: Reading | None = None,
) -> Draft:
    """Release low-risk symbols, and merge the high-risk ones in subsets that are each safe.

    Each subset starts from the symbol of highest risk that is left and takes in, one by one, the
    symbol that leaves the least risk

        max-lift + 1/min-lift   (LDP: their ratio; other measures: their value)

    until it is safe. A last subset that stays unsafe absorbs other subsets or low-risk symbols.

    `as_published` follows the printed text: the risk max-lift + min-lift (LIP: the larger of the
    two logarithms), no subsets at all when the high-risk symbols are safe together, and no low-risk
    symbols in the last subset, which may then end above the budget. `reading="meant"` is the
    published algorithm as its numbers come out, before any repair of ours: max-lift + 1/min-lift
    for ALIP, and subsets until no symbol is left.

    Source: 002 Algorithm 1, eq. (13), eq. (14), section 6.2.

    >>> from liftlock.model import Joint
    >>> from liftlock.notions.lip import LIP
    >>> table = {"s": {"a": 30, "b": 5, "c": 20, "d": 45}, "t": {"a": 5, "b": 30, "c": 45, "d": 20}}
    >>> subset_merging(Joint.from_counts(table), LIP("0.3")).outputs.labels
    ('a | b', 'c | d')
    """
    pool = Pool.of(context, notion, *read_further_notions(also))
    low, high = pool.split()
    if as_published:
        groups = [*printed_subsets(pool, high, notion, reading), *([x] for x in low)]
    else:
        refuse_reading(reading)
        groups = safe_subsets(pool, low, high)
    return merged_draft(pool, groups, _remarks_on_subsets(pool, low, groups))


def safe_subsets(pool: Pool, low: list[int], high: list[int]) -> list[list[int]]:
    """Return a partition of the symbols into sets that are each safe.

    The greedy subsets, or one crowd for all high-risk symbols if that should say more after repair.

    Source: 002 Algorithm 1, with the loop until nothing is left, and the last set repaired.
    """
    singles = [[x] for x in low]
    if not high:
        return singles
    *before, last = _grow(pool, high)
    found = (
        absorb_until_safe(pool, last, [*before, *singles]),
        absorb_until_safe(pool, high, singles),
    )
    return min(found, key=lambda groups: equivocation(pool, groups))


def _grow(pool: Pool, high: list[int]) -> list[list[int]]:
    """Grow sets from the symbol of highest risk until each is safe; the last may not be."""
    waiting = np.array(high, dtype=np.intp)
    # Highest risk first; a stable order makes ties repeatable.
    waiting = waiting[np.argsort(-pool.risks(pool.amounts[:, waiting]), kind="stable")]
    amounts = np.ascontiguousarray(pool.amounts[:, waiting])
    groups: list[list[int]] = []
    while len(waiting):
        group, total = [int(waiting[0])], amounts[:, :1]
        waiting, amounts = waiting[1:], amounts[:, 1:]
        while len(waiting) and not pool.safe(total)[0]:
            best = int(np.argmin(pool.risks(total + amounts)))
            group.append(int(waiting[best]))
            total = total + amounts[:, best : best + 1]
            waiting, amounts = np.delete(waiting, best), np.delete(amounts, best, axis=1)
        groups.append(group)
    return groups


def printed_risk(pool: Pool, notion: Notion, *, meant: bool = False) -> Callable[[Floats], Floats]:
    """Return the risk that 002 section 4.1 prints for a notion, or section 6.2 for a measure.

    For ALIP it prints max-lift + min-lift, and will mean the inverse of the latter, as in 6.2.
    """
    allowed = notion.lift_limits()
    if allowed is None:
        return pool.risks
    symmetric = allowed.lower == allowed.upper

    def risk(amounts: Floats) -> Floats:
        lifts, _ = pool.lifts(amounts)
        most, least = lifts.max(axis=0), lifts.min(axis=0)
        if not symmetric and not meant:
            return np.asarray(most + least)
        inverse = _ratio(1.0, least)
        return np.asarray(np.maximum(most, inverse) if symmetric else most + inverse)

    return risk


def printed_subsets(
    pool: Pool, high: list[int], notion: Notion, reading: object = None
) -> list[list[int]]:
    """Return the subsets of the high-risk symbols that Algorithm 1 makes, printed or meant.

    For LDP the print tests the ratio against epsilon; e^epsilon is taken, as in eq. (7).
    """
    if reading not in (None, "printed", "meant"):
        raise InputError("unknown reading", value=reading, remedy="use printed or meant")
    meant = reading == "meant"
    risk = printed_risk(pool, notion, meant=meant)
    waiting = list(high)
    groups: list[list[int]] = []
    while waiting and (meant or not pool.is_safe(waiting)):
        group = [waiting.pop(int(np.argmax(risk(pool.amounts[:, waiting]))))]
        while waiting and not pool.is_safe(group):
            candidates = pool.gather(group) + pool.amounts[:, waiting]
            group.append(waiting.pop(int(np.argmin(risk(candidates)))))
        groups.append(group)
    if waiting:
        groups.append(waiting)
    while len(groups) > 1 and not pool.is_safe(groups[-1]):
        last = groups.pop()
        candidates = np.hstack([pool.gather(last + group) for group in groups])
        groups.append(last + groups.pop(int(np.argmin(risk(candidates)))))
    return groups


def _remarks_on_subsets(pool: Pool, low: list[int], groups: list[list[int]]) -> list[str]:
    """Say how finely the symbols were merged, and whether that is enough."""
    if len(low) == len(pool.masses):
        return ["every symbol is of low risk: X is released as it is"]
    crowds = [group for group in groups if len(group) > 1]
    high = len(pool.masses) - len(low)
    sets = f"{len(crowds)} set{'s' * (len(crowds) != 1)}"
    remarks = [f"of high risk: {high} of {len(pool.masses)} symbols, merged in {sets}"]
    kept = set(low)
    absorbed = [x for group in crowds for x in group if x in kept]
    if absorbed:
        remarks.append(f"hidden with them to keep the budget: {pool.text_of(absorbed)}")
    if not all(pool.is_safe(group) for group in groups):
        remarks.append("as published, and a merged symbol does not keep the budget")
    if len(groups) == 1 and len(pool.masses) > 1:
        remarks.append("every symbol is hidden: nothing is released")
    return remarks


SUBSET_MERGING = Design(
    key="subset-merging",
    make=subset_merging,
    summary="release symbols of low risk as they are, merge the others in subsets "
    "that are each safe",
    promises="greedy, no solver, fast for thousands of symbols; never worse than the watchdog",
    source="002 Algorithm 1, corrected",
    published=MERGING_NOTIONS,
    notions=MERGING_NOTIONS,
    contexts=("prior", "joint"),
    options={
        "also": "further notions that every output must keep",
        "as_published": "follow the printed algorithm (it may break the budget)",
        "reading": READING,
    },
)
