"""One release as accountants see it: a channel, or only the leakage levels proved of it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias, cast

from liftlock.errors import InputError, NotDefined
from liftlock.exact import enclosure
from liftlock.exact.budget import Budget
from liftlock.exact.enclosure import Enclosure
from liftlock.exact.rounding import ratio_above, upper_end
from liftlock.mechanism import Mechanism
from liftlock.model import (
    AnyUserPrior,
    Conditional,
    Context,
    Family,
    Joint,
    Prior,
    PriorSet,
    ProfileGraph,
)
from liftlock.model._checks import require_channel, require_context, require_notion
from liftlock.model.alphabet import Alphabet, Label
from liftlock.model.channel import Channel
from liftlock.model.structured import AnyChannel, to_dense
from liftlock.notions import LDP, ProfilePrivacy
from liftlock.notions.base import DeltaLimit, Notion
from liftlock.notions.lift import extreme_lifts, impossible_inputs
from liftlock.notions.relations import Implication, implications
from liftlock.notions.rules import Population, ldp_from_lifts

Ratio: TypeAlias = Fraction | None
"""The exponential of a leakage; None is infinite, which also stands for what is not known."""

_ALIKE = 256
_SIDES = ("eps_lower", "eps_upper")


def multiply_ratios(parts: Iterable[tuple[Ratio, int]]) -> Ratio:
    """Multiply ratios, each to its power; None is infinite.

    >>> multiply_ratios([(Fraction(2), 3), (None, 0)]), multiply_ratios([(None, 1)])
    (Fraction(8, 1), None)
    """
    found = Fraction(1)
    for ratio, times in parts:
        if not times:
            continue
        if ratio is None:
            return None
        found *= ratio**times
    return found


def smallest_ratio(ratios: Iterable[Ratio]) -> Ratio:
    """Return the smallest ratio; None only if all are infinite."""
    finite = [ratio for ratio in ratios if ratio is not None]
    return min(finite) if finite else None


def largest_ratio(ratios: Iterable[Ratio]) -> Ratio:
    """Return the largest ratio; None if any is infinite."""
    found = list(ratios)
    finite = [ratio for ratio in found if ratio is not None]
    return max(finite) if len(finite) == len(found) else None


@dataclass(frozen=True)
class LeakageLevels:
    """Upper bounds on the leakage of one release, as ratios: e^eps_lower, e^eps_upper and e^ldp.

    `lower` is 1/min-lift and `upper` the max-lift, of the secret that the context protects. `ldp`
    compares any two inputs, also those behind a secret; `spread` only those that can occur. In a
    graph of profiles, which has no lifts, `profile` is the largest ratio of any edge.
    """

    lower: Ratio
    upper: Ratio
    ldp: Ratio
    spread: Ratio
    profile: Ratio = None
    nats: Mapping[str, Fraction] = field(default_factory=dict, compare=False, repr=False)
    """What was promised in nats: e^3 is no fraction, so the ratio is a hair above it."""

    def log(self, name: str) -> Enclosure:
        """Enclose a level in nats; one that was promised is what was promised.

        >>> from liftlock.notions.lip import LIP
        >>> fair = Prior.uniform(["no", "yes"])
        >>> Release.from_guarantee(LIP("1"), fair).levels(fair).log("lower")
        Enclosure(lower=Fraction(1, 1), upper=Fraction(1, 1))
        """
        ratio: Ratio = getattr(self, name)
        found = Enclosure.infinity() if ratio is None else enclosure.log(ratio)
        told = self.nats.get(name)
        if told is None or (found.upper is not None and found.upper < told):
            return found
        return Enclosure.of(told)


@dataclass(frozen=True)
class Release:
    """One release of the data: through which channel, promising what, in which context.

    Without a channel only the `known` levels count, and only in the context they were proved in;
    the level of LDP counts in all.
    """

    inputs: Alphabet
    channel: AnyChannel | None
    context: Context | None = None
    guarantee: Notion | None = None
    known: LeakageLevels | None = None
    unprotected: tuple[Label, ...] = ()
    about: str = ""
    """The name of the value that is released, if it has one: a column, an item."""

    @classmethod
    def of(cls, released: Released, context: Context | None = None) -> Release:
        """Take a mechanism, or a channel in a context, for a release."""
        if isinstance(released, Release):
            return released
        if isinstance(released, Mechanism) and released.per_user:
            # Each user has a table of their own; what is promised holds for everybody.
            promised = cls.from_guarantee(released.notion, released.context)
            about = column_names(released)
            return replace(promised, unprotected=released.certificate.unprotected, about=about)
        if isinstance(released, Mechanism):
            return cls(
                released.channel.inputs,
                released.channel,
                released.context,
                released.notion,
                None,
                released.certificate.unprotected,
                column_names(released),
            )
        channel = require_channel(released)
        return cls(
            channel.inputs, channel, context if context is None else require_context(context)
        )

    @classmethod
    def from_guarantee(cls, guarantee: Notion, context: Context) -> Release:
        """Take a release of which only a guarantee is known: of lifts, of LDP, or of profiles.

        >>> from liftlock.notions.lip import LIP
        >>> fair = Prior.uniform(["no", "yes"])
        >>> print(Release.from_guarantee(LIP("ln 2"), fair).levels(fair).spread)
        3
        """
        require_context(context)
        if isinstance(context, ProfileGraph):
            return cls(context.inputs, None, context, guarantee, edge_levels(guarantee))
        rows = {
            row.target: row.bound for row in _implied_levels(require_notion(guarantee), context)
        }
        if rows.get("eps_lower") is None and rows.get("ldp") is None:
            raise NotDefined(
                f"an account of {guarantee}",
                context.describe(),
                "it bounds no lift; give the mechanism itself",
            )

        def ratio(name: str) -> Ratio:
            bound = rows.get(name)
            if bound is None or bound.upper is None:
                return None
            # A budget of ln 3 is the ratio 3, and not a hair more.
            for budget in _budgets(guarantee):
                if budget.nats() == bound:
                    return ratio_above(budget)
            return upper_end(enclosure.exp(bound.upper))

        lower, upper = ratio("eps_lower"), ratio("eps_upper")
        spread = smallest_ratio([ratio("ldp"), _omega(lower, upper, context)])
        # What lifts prove of ratios, they prove of the symbols that can occur; LDP speaks of all.
        everywhere = spread if _has_full_support(context) else None
        nats = _in_nats(rows, context)
        if (budget := guarantee.ratio_limit) is not None and not isinstance(context, Joint):
            everywhere = smallest_ratio([everywhere, ratio_above(budget)])
            if budget.epsilon is not None:
                nats["ldp"] = budget.epsilon
        levels = LeakageLevels(lower, upper, everywhere, spread, nats=nats)
        return cls(context.inputs, None, context, guarantee, levels)

    @classmethod
    def from_delta_guarantee(cls, guarantee: Notion, context: Context) -> Release:
        """Take a release of which only (epsilon, delta)-LDP is known: it bounds no lift."""
        if delta_of(require_notion(guarantee)) is None:
            raise InputError(
                "not a promise of (epsilon, delta)-LDP",
                value=str(guarantee)[:40],
                remedy="give an ApproximateLDP, or use Release.from_guarantee",
            )
        require_context(context)
        return cls(context.inputs, None, context, guarantee, LeakageLevels(None, None, None, None))

    @property
    def budget(self) -> Budget | None:
        """The budget that a naive accountant would add up: the larger one of both sides."""
        if self.guarantee is None:
            return None
        limits = self.guarantee.lift_limits()
        if limits is None or limits.lower is None or limits.upper is None:
            return self.guarantee.profile_budget
        return max(limits.lower, limits.upper, key=ratio_above)

    @property
    def has_unkept_graph(self) -> bool:
        """Whether it is of an observation, and the graph of profiles behind it was not kept."""
        return self.context is None and self.known is not None and self.known.profile is not None

    @property
    def fingerprint(self) -> str:
        """What equal releases have in common: the channel's, or what was promised."""
        if self.channel is not None:
            return self.channel.fingerprint
        where = "" if self.context is None else self.context.fingerprint
        return f"{where} {self.guarantee} {self.known}"

    def levels(self, context: Context | None) -> LeakageLevels:
        """Return the leakage of this release alone in a context; unknown counts as infinite."""
        if self.channel is not None:
            return measure_levels(self.channel, context)
        known = self.known
        if known is None:
            return LeakageLevels(None, None, None, None)
        if context is None and self.has_unkept_graph:
            return known
        if (
            context is None
            or self.context is None
            or context.fingerprint != self.context.fingerprint
        ):
            told = known.nats.get("ldp")
            left = {} if told is None else {"ldp": told, "spread": told}
            return LeakageLevels(None, None, known.ldp, known.ldp, nats=left)
        spread = smallest_ratio([known.spread, _omega(known.lower, known.upper, context)])
        return replace(known, spread=spread)


def column_names(mechanism: Mechanism) -> str:
    """Return the names of the columns that a mechanism was made for; empty if it was for none."""
    return "" if mechanism.encoding is None else " + ".join(mechanism.encoding.names)


Released: TypeAlias = Release | Mechanism | AnyChannel
"""Whatever can be accounted for."""


def common_inputs(releases: Sequence[Release]) -> Alphabet:
    """Return the inputs that all releases share, in the order of the first."""
    if not releases:
        raise InputError("no releases", remedy="give at least one")
    kept = [release.inputs for release in releases if not release.has_unkept_graph]
    first = kept[0] if kept else releases[0].inputs
    for place, release in enumerate(releases):
        if not release.has_unkept_graph and set(release.inputs.labels) != set(first.labels):
            raise InputError(
                "releases of different data",
                where=f"release {place + 1}",
                value=list(release.inputs.labels[:4]),
                remedy="releases of the same value accept the same symbols; name different values: "
                'account({"age": ..., "job": ...})',
            )
    return first


def measure_levels(channel: AnyChannel, context: Context | None) -> LeakageLevels:
    """Measure one channel exactly, in a context or for LDP alone.

    >>> bit = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> found = measure_levels(bit, Prior.uniform([0, 1]))
    >>> str(found.lower), str(found.upper), str(found.ldp)
    ('2', '3/2', '3')
    """
    return _levels_of(channel, cast("Hashable", context))


@lru_cache(maxsize=_ALIKE)
def _levels_of(channel: AnyChannel, context: Any) -> LeakageLevels:
    if isinstance(context, Conditional):
        lifts = extreme_lifts(channel, context)
        least = lifts.smallest.lift
        parts = context.parts(to_dense(channel), every=True)
        each = largest_ratio(LDP.measure(part.channel).ratio for part in parts)
        return LeakageLevels(1 / least if least else None, lifts.largest.lift, each, each)
    level = LDP.measure(channel).ratio
    if context is None:
        return LeakageLevels(None, None, level, level)
    if isinstance(context, ProfileGraph):
        edges = ProfilePrivacy.measure(channel, context).ratio
        return LeakageLevels(None, None, level, level, edges)
    if isinstance(context, AnyUserPrior):
        return LeakageLevels(level, level, level, level)
    found = extreme_lifts(channel, context)
    smallest = found.smallest.lift
    impossible = set(impossible_inputs(channel, context))
    spread = level
    if impossible and isinstance(channel, Channel):
        left = [label for label in channel.inputs.labels if label not in impossible]
        spread = LDP.measure(channel.restrict(left)).ratio
    elif impossible and len(channel.inputs) - len(impossible) == 1:
        spread = Fraction(1)
    return LeakageLevels(1 / smallest if smallest else None, found.largest.lift, level, spread)


def delta_of(guarantee: Notion | None) -> DeltaLimit | None:
    """Return epsilon and delta of a guarantee of (epsilon, delta)-LDP; None of any other."""
    limit = None if guarantee is None else guarantee.delta_limit()
    return limit if limit is not None and limit.form == "ldp" else None


def edge_levels(guarantee: Notion) -> LeakageLevels:
    """Return the level of the edges of any graph of profiles that a guarantee promises."""
    budget, ratio = guarantee.profile_budget, guarantee.ratio_limit
    if ratio is not None:
        # LDP bounds the ratio of any two inputs, and so that of any two profiles.
        level = ratio_above(ratio)
        told = {} if ratio.epsilon is None else dict.fromkeys(("ldp", "profile"), ratio.epsilon)
        return LeakageLevels(None, None, level, level, level, told)
    if budget is None:
        raise NotDefined(
            f"an account of {guarantee}",
            "a graph of profiles",
            "it bounds no edge; give the mechanism itself",
        )
    told = {} if budget.epsilon is None else {"profile": budget.epsilon}
    return LeakageLevels(None, None, None, None, ratio_above(budget), told)


def _implied_levels(guarantee: Notion, context: Context) -> list[Implication]:
    if isinstance(context, Prior):
        # Lifts speak of the symbols that can occur, and the rules need all of them to.
        return list(implications(guarantee, context.restrict()))
    if isinstance(context, Joint):
        # Nothing known of a secret, LDP included, bounds the ratios of the data behind it.
        return [row for row in implications(guarantee, context) if row.target != "ldp"]
    return list(implications(guarantee))


def _in_nats(rows: Mapping[str, Enclosure | None], context: Context) -> dict[str, Fraction]:
    """Return the levels of a promise that are rational numbers of nats."""
    told = {name: row.lower for name, row in rows.items() if row is not None and row.is_exact}
    found = {name.removeprefix("eps_"): told[name] for name in _SIDES if name in told}
    if "ldp" in told:
        found["spread"] = told["ldp"]
    elif isinstance(context, PriorSet) and len(found) == len(_SIDES):
        found["spread"] = found["lower"] + found["upper"]
    if _has_full_support(context) and "spread" in found:
        found["ldp"] = found["spread"]
    return found


def _has_full_support(context: Context) -> bool:
    """Tell whether every symbol can occur."""
    return isinstance(context, Prior | PriorSet) and all(context.symbol_ranges[1])


def _omega(lower: Ratio, upper: Ratio, context: Context) -> Ratio:
    """Bound the ratios of any two symbols by both sides of the lifts.

    The lifts of a set of priors hold under each of them, so every prior that gives all possible
    symbols a chance proves a bound by itself, and the least of these holds.

    Source: 000 Thm 1 (exact closed form), Cor 4.
    """
    if lower is None or upper is None:
        return None
    if not isinstance(context, Prior | PriorSet | AnyUserPrior):
        return None
    priors: tuple[Prior, ...] = ()
    if isinstance(context, Prior):
        priors = (context,)
    elif isinstance(context, PriorSet):
        among = context.priors if isinstance(context, Family) else (context.representative(),)
        possible = context.possible.tolist()
        priors = tuple(p for p in among if [count > 0 for count in p.counts] == possible)
    bounds = (ldp_from_lifts(upper, 1 / lower, Population.of(p.restrict())) for p in priors)
    return min(bounds, default=lower * upper)


def _budgets(guarantee: Notion) -> list[Budget]:
    limits = guarantee.lift_limits() or ()
    budget = getattr(guarantee, "budget", None)
    return [each for each in (*limits, budget) if isinstance(each, Budget)]
