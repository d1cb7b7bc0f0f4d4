"""The audit: every notion of a channel in a context, exact, with witnesses, and in words."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, reduce
from typing import Any, Protocol, overload

from liftlock._runtime.progress import Progress, Step, ignore_progress
from liftlock._runtime.registry import name_of
from liftlock.errors import InputError, NotDefined
from liftlock.exact.budget import Budget, decimal_text
from liftlock.exact.decimals import moves_text
from liftlock.exact.enclosure import BITS, Enclosure, nearest_float
from liftlock.model import (
    AnyUserPrior,
    Conditional,
    Context,
    Intervals,
    Joint,
    PerUserPriors,
    Prior,
    ProfileGraph,
)
from liftlock.model.alphabet import Label, label_to_json
from liftlock.model.channel import Channel
from liftlock.model.per_user import Limits
from liftlock.model.structured import (
    AnyChannel,
    StructuredChannel,
    SupportChannel,
    UserChannel,
    to_dense,
)
from liftlock.model.structured.user_channel import budget_text
from liftlock.notions.approximate import CURVES, DeltaCurve
from liftlock.notions.base import (
    Notion,
    Order,
    OrderedBound,
    TableMeasure,
    UpperBound,
    claim_text,
    order_text,
    read_order,
)
from liftlock.notions.certificate import Claim, nats_text
from liftlock.notions.crowd_mass import CrowdMass
from liftlock.notions.given import parts_of, worse_measurement
from liftlock.notions.ldp import LDP
from liftlock.notions.lift import (
    Impossible,
    LiftRange,
    LiftTable,
    extreme_lifts,
    lift_table,
    refuse_impossible,
)
from liftlock.notions.lip import lift_claims
from liftlock.notions.measurement import Measurement, Witness, number_to_json, quote_label
from liftlock.notions.profile import (
    EdgeLoss,
    OutputDistributions,
    edge_losses,
    edge_measurement,
    outside_losses,
    worst_edge,
)
from liftlock.notions.registry import NOTIONS
from liftlock.notions.user_lifts import UserLifts, user_lifts


@dataclass(frozen=True)
class Audit:
    """All measurements of one channel in one context.

    >>> from liftlock.model.channel import Channel
    >>> from liftlock.model import Prior
    >>> bit = Channel.from_rows(
    ...     {"no": {"no": "3/4", "yes": "1/4"}, "yes": {"no": "1/4", "yes": "3/4"}}
    ... )
    >>> result = audit(bit, Prior.from_counts({"no": 9, "yes": 1}))
    >>> print(result.worst_case())
    Seeing "yes", the belief in "yes" can rise from 10 % to 25 % (a factor 2.5).
    Seeing "no", the belief in "yes" can fall from 10 % to 3.571 % (a factor 0.3571).
    """

    channel: AnyChannel
    context: Context
    measurements: Mapping[str, Measurement]
    lift_range: LiftRange | None
    unprotected: tuple[Label, ...]
    alpha: Order = None
    at_epsilon: Budget | None = None

    @property
    def measures(self) -> dict[str, float | str]:
        """Every value as a float, infinite ones as the text "inf"."""
        return {
            key: number_to_json(measurement.value) for key, measurement in self.measurements.items()
        }

    def __getitem__(self, key: str) -> Measurement:
        return self.measurements[key]

    @property
    def lifts(self) -> LiftRange:
        """The smallest and the largest lift; a graph of profiles has none."""
        if self.lift_range is None:
            raise NotDefined("a lift", self.context.describe(), "look at the losses of its edges")
        return self.lift_range

    @cached_property
    def table(self) -> LiftTable:
        """The table of lifts (one prior or joint only)."""
        return lift_table(self.channel, self.context)

    def worst_case(self) -> str:
        """Say in words what an adversary learns at worst."""
        most, least = self.lifts.largest, self.lifts.smallest
        if most.lift == 1 and least.lift == 1:
            return "No output changes any belief: the release is independent of the secret."
        if most.witness.output is None and most.lift is not None and least.lift is not None:
            # Nobody need attain these limits, so they are rounded to their safe side.
            who = self.context.describe()
            return (
                "A report can raise the belief in any value "
                f"{moves_text(most.lift, least.lift)}: {who}."
            )
        return "\n".join(_sentence(self, up=up) for up in (True, False))

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form: `measures` under stable keys, `readings` with exact values."""
        return {
            "format": "liftlock.audit",
            "version": 1,
            "channel": self.channel.fingerprint,
            "context": self.context.fingerprint,
            "context_kind": self.context.describe(),
            "inputs": len(self.channel.inputs),
            "outputs": self.channel.output_number,
            "alpha": None if "alpha_lift" not in self.measurements else order_text(self.alpha),
            "at_epsilon": None if self.at_epsilon is None else str(self.at_epsilon),
            "unprotected": [label_to_json(label) for label in self.unprotected],
            "measures": self.measures,
            "readings": {
                key: measurement.to_data() for key, measurement in self.measurements.items()
            },
            "worst_case": self.worst_case(),
        }


@dataclass(frozen=True, repr=False)
class ProfileAudit(Audit):
    """The exact loss of every edge, and of values that the profiles call impossible.

    >>> from liftlock.model.channel import Channel
    >>> graph = ProfileGraph.bernoulli({"ann": "0.2", "bob": "0.9"})
    >>> print(audit(Channel.identity([0, 1]), graph).worst_case())
    Seeing 0, "ann" is up to 8 times as likely as "bob": an even chance becomes 88.89 %.
    """

    distributions: OutputDistributions = field(kw_only=True)
    edges: tuple[EdgeLoss, ...] = field(kw_only=True)
    outside: Mapping[tuple[Label, Label], Fraction | None] = field(kw_only=True)
    """The ratios of values that occur although their profile calls them impossible."""

    @classmethod
    def of(cls, channel: AnyChannel, graph: ProfileGraph) -> ProfileAudit:
        """Measure the loss of every edge, exactly."""
        distributions = OutputDistributions.of(channel, graph)
        edges = edge_losses(distributions)
        measurement = edge_measurement(edges)
        ratio = measurement.ratio
        names, values = graph.profiles.labels, graph.inputs.labels
        outside = {
            (names[i], values[x]): lost for (i, x), lost in outside_losses(distributions).items()
        }
        # Impossible pairs that would give away more than any edge does.
        unprotected = tuple(
            pair
            for pair, lost in outside.items()
            if ratio is not None and (lost is None or lost > ratio)
        )
        return cls(
            channel,
            graph,
            {measurement.notion: measurement},
            None,
            unprotected,
            distributions=distributions,
            edges=edges,
            outside=outside,
        )

    @property
    def graph(self) -> ProfileGraph:
        """The graph whose edges were measured."""
        return self.distributions.graph

    def __repr__(self) -> str:
        return f"<ProfileAudit of {self.graph.describe()}: loss {self.loss} nats>"

    def __str__(self) -> str:
        return self.worst_case()

    @cached_property
    def worst(self) -> EdgeLoss | None:
        """The edge of the largest loss."""
        return worst_edge(self.edges)

    @property
    def loss(self) -> Enclosure:
        """The smallest budget that holds, in nats, enclosed."""
        return Enclosure.of(Fraction(0)) if self.worst is None else self.worst.nats

    def worst_case(self) -> str:
        """Say in words what an adversary learns at worst."""
        worst = self.worst
        if worst is None:
            return "No two profiles are joined: nothing is promised about any of them."
        if worst.output is None:
            return "No output tells any two joined profiles apart."
        seeing = f"Seeing {quote_label(worst.output)}, {quote_label(worst.more)} is"
        if worst.ratio is None:
            return f"{seeing} certain, as against {quote_label(worst.less)}: it never gives that."
        chance = nearest_float(100 * worst.ratio / (1 + worst.ratio))
        return (
            f"{seeing} up to {nearest_float(worst.ratio):.4g} times as likely as "
            f"{quote_label(worst.less)}: an even chance becomes {chance:.4g} %."
        )

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "format": "liftlock.profile-audit",
            "version": 1,
            "channel": self.channel.fingerprint,
            "context": self.graph.fingerprint,
            "context_kind": self.graph.describe(),
            "profiles": len(self.graph),
            "uses_profile": self.graph.uses_profile(self.channel.inputs),
            "outputs": self.channel.output_number,
            "measures": self.measures,
            "smallest": claim_text("profile", self.loss) or None,
            "edges": [edge.to_data() for edge in self.edges],
            "unprotected": [label_to_json(pair) for pair in self.unprotected],
            "worst_case": self.worst_case(),
        }


@dataclass(frozen=True)
class UserClaim:
    """An inequality, and the user who comes closest to it, counted from 1."""

    claim: Claim
    user: int

    def __str__(self) -> str:
        return f"{self.claim}, user {self.user:,}"

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return self.claim.to_data() | {"user": self.user}


@dataclass(frozen=True, repr=False)
class UserAudit(Audit):
    """The verdict on all users: inequalities, each with the user who comes closest to it.

    >>> from liftlock.model.channel import Channel
    >>> bit = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> found = audit(bit, PerUserPriors.of([0, 1], [[0.5, 0.5], [0.9, 0.1]]))
    >>> round(float(found.largest), 6), found.largest_user
    (2.5, 2)
    """

    guarantee: str = field(kw_only=True)
    """What was claimed; empty if nothing was, and lifts were only measured."""
    user_claims: tuple[UserClaim, ...] = field(kw_only=True)
    """For each budget how far beliefs rise and how far they fall."""
    extremes: UserLifts = field(kw_only=True)
    """The largest lift of anybody, and the smallest."""
    kind: str = field(kw_only=True)
    """What each user has: a prior, or a set of priors."""

    @classmethod
    def of(
        cls, channel: AnyChannel, priors: PerUserPriors, notion: Notion | None = None
    ) -> UserAudit:
        """Find the extreme lifts of all users, exactly, and compare them with their budgets.

        The budgets are those of the notion, and those of the users where they differ.
        """
        found = user_lifts(channel, priors)
        whole = reduce(UserLifts.merge, found)
        ends = whole.range
        limits = None if notion is None else notion.lift_limits()
        claims: list[UserClaim] = []
        guarantee = ""
        if notion is not None and limits is not None:
            if limits.lower is None or limits.upper is None:
                raise NotDefined(notion.name, priors.describe(), "ask for lip or alip")
            guarantee = notion.guarantee
            claims += _user_claims(whole, (limits.lower, limits.upper))
        if isinstance(channel, UserChannel) and (notion is None or len(channel.limits) > 1):
            for each in found:
                own = channel.limits[each.level]
                who = f"{each.users:,} user{'s' * (each.users != 1)}"
                budgets = f"budget{'s' * (own[0] != own[1])} {budget_text(own)}"
                claims += _user_claims(each, own, f" ({who} with {budgets})")
            guarantee = guarantee or f"budgets {', '.join(map(budget_text, channel.limits))}"
        kind = "a set of priors" if priors.are_sets else "a prior"
        return cls(
            channel,
            priors,
            ends.measurements(),
            ends,
            (),
            guarantee=guarantee,
            user_claims=tuple(claims),
            extremes=whole,
            kind=kind,
        )

    def __repr__(self) -> str:
        return f"<UserAudit of {self.context.describe()}: {self.measurements['lip']}>"

    @property
    def scope(self) -> str:
        """Of which priors all this is true: they are rounded before they are used."""
        assert isinstance(self.context, PerUserPriors)
        return self.context.scope

    @property
    def users(self) -> int:
        """How many users there are."""
        return self.extremes.users

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The inequalities."""
        return tuple(each.claim for each in self.user_claims)

    @property
    def holds(self) -> bool:
        """Whether a guarantee was claimed and holds for every user."""
        return bool(self.claims) and all(claim.holds for claim in self.claims)

    @property
    def largest(self) -> Fraction:
        """The largest lift of anybody."""
        return self.extremes.largest.lift

    @property
    def smallest(self) -> Fraction:
        """The smallest lift of anybody."""
        return self.extremes.smallest.lift

    @property
    def largest_user(self) -> int:
        """The user with the largest lift, counted from 1."""
        return self.extremes.largest.user + 1

    @property
    def smallest_user(self) -> int:
        """The user with the smallest lift, counted from 1."""
        return self.extremes.smallest.user + 1

    @property
    def excluding(self) -> int:
        """Users whose priors call some value impossible; it has no guarantee, and is refused."""
        return self.extremes.excluding

    def __str__(self) -> str:
        each = f"each of {self.users:,} users, each" if self.users != 1 else "1 user"
        who = f"{each} under {self.kind} of their own"
        if self.guarantee:
            verdict = "CERTIFIED" if self.holds else "NOT CERTIFIED"
            lines = [f"{verdict}: {self.guarantee} for {who}"]
            lines += [f"  {each}" for each in self.user_claims]
        else:
            lines = [f"MEASURED: lifts of {who}"]
            lines += [
                f"  {name} {float(each.lift):.10g} at {each.witness}, user {each.user + 1:,}"
                for name, each in (
                    ("max-lift", self.extremes.largest),
                    ("min-lift", self.extremes.smallest),
                )
            ]
        names = ("eps_lower", "eps_upper")
        values = ", ".join(f"{name} {nats_text(self.measurements[name].value)}" for name in names)
        lines.append(f"  leakage in nats: {values}")
        lines.append(f"  {self.scope}")
        if self.excluding:
            lines.append(
                f"  NOT protected: values of probability 0, which {self.excluding:,} "
                f"user{'s have' if self.excluding != 1 else ' has'}; their release is refused"
            )
        return "\n".join(lines)

    def worst_case(self) -> str:
        """Say what an adversary learns at worst, and of whom."""
        return str(self)

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "guarantee": self.guarantee,
            "holds": self.holds,
            "users": self.users,
            "scope": self.scope,
            "claims": [each.to_data() for each in self.user_claims],
            "excluding": self.excluding,
        }


def _user_claims(found: UserLifts, limits: Limits, whose: str = "") -> list[UserClaim]:
    """Compare the extreme lifts of some users with their budgets."""
    users = (found.largest.user + 1, found.smallest.user + 1)
    claims = lift_claims(found.range, *limits, whose)
    return [UserClaim(claim, user) for claim, user in zip(claims, users, strict=True)]


AnyNotion = Notion | type[Notion] | Callable[[LiftTable], object]
"""A notion, its class, or a function of the table of lifts."""


class Certified(Protocol):
    """A mechanism, as an audit sees it."""

    @property
    def channel(self) -> AnyChannel:
        """What releases values."""
        ...

    @property
    def notion(self) -> Notion:
        """What was certified."""
        ...


def _refuse_options(context: Context, alpha: object, at_epsilon: object, remedy: str) -> None:
    for name, given in (("alpha", alpha), ("at_epsilon", at_epsilon)):
        if given is not None:
            raise NotDefined(f"the option {name}", context.describe(), remedy)


@overload
def audit(
    channel: AnyChannel | Certified, context: ProfileGraph, *, notion: AnyNotion | None = None
) -> ProfileAudit: ...


@overload
def audit(
    channel: AnyChannel | Certified, context: PerUserPriors, *, notion: AnyNotion | None = None
) -> UserAudit: ...


@overload
def audit(
    channel: AnyChannel | Certified,
    context: Context,
    *,
    notion: AnyNotion | None = None,
    alpha: object = None,
    at_epsilon: object = None,
    impossible: Impossible = "refuse",
    progress: Progress | None = None,
) -> Audit: ...


def audit(
    channel: AnyChannel | Certified,
    context: Context,
    *,
    notion: AnyNotion | None = None,
    alpha: object = None,
    at_epsilon: object = None,
    impossible: Impossible = "refuse",
    progress: Progress | None = None,
) -> Audit:
    """Measure every notion that is defined for the context, exactly.

    `notion` adds one of your own: a class or an object of a `Notion`, or a function of the table of
    lifts that returns an exact number, an enclosure or a measurement. Nothing has to be registered.

    `alpha` adds the measures of that order, `at_epsilon` the deltas of (epsilon, delta)-LIP and
    -LDP. A channel that accepts an input of prior probability 0 is refused unless
    ``impossible="ignore"``. Of a form with too many outputs for a table, the lifts and LDP are
    measured, which need none. Of a graph of profiles the loss of every edge is measured, and values
    that a profile calls impossible are listed, not refused. Of users with a prior each the largest
    and the smallest lift of anybody are measured, and compared with what a mechanism promises.
    """
    found = _audit(channel, context, alpha, at_epsilon, impossible, progress)
    if notion is None:
        return found
    own = measure_own(notion, found.channel, context, alpha)
    for key, measured in own.items():
        if key in found.measurements and found.measurements[key].value != measured.value:
            raise InputError(
                "an audit has another measure of this name already",
                value=key,
                remedy="give yours another key, or leave out alpha and at_epsilon",
            )
    return replace(found, measurements={**found.measurements, **own})


def measure_own(
    notion: object, channel: AnyChannel, context: Context, alpha: object = None
) -> dict[str, Measurement]:
    """Measure somebody's own notion: a class, an object, or a function of the table of lifts.

    >>> from liftlock.model.channel import Channel
    >>> def largest(table: LiftTable) -> Fraction:
    ...     return table.largest().lift
    >>> print(measure_own(largest, Channel.identity("ab"), Prior.uniform("ab"))["largest"].value)
    2
    """
    if isinstance(notion, UpperBound):
        return {notion.key: notion.measure_leakage(channel, context, BITS)}
    if isinstance(notion, Notion):
        claims, nats = notion.decide(channel, context)
        return {
            each.quantity: Measurement(
                each.quantity, each.measured, "nats" * (each.quantity in nats), None, each.witness
            )
            for each in claims
        }
    if isinstance(notion, type) and issubclass(notion, OrderedBound):
        if alpha is None:
            raise InputError("a measure of some order", value=notion.key, remedy="give alpha")
        return {notion.key: notion.measure(channel, context, alpha)}
    measure, key = getattr(notion, "measure", None), getattr(notion, "key", None)
    if callable(measure) and isinstance(key, str):
        return {key: _measured(measure(channel, context), key)}
    if callable(notion) and not isinstance(notion, type):
        name = name_of(notion).rpartition(".")[2]
        return {name: _measured(notion(lift_table(channel, context)), name)}
    raise InputError(
        "not a notion that can be measured",
        value=name_of(notion),
        remedy="give a class made from liftlock.notions.Notion, such as a TableBound, one of its "
        "objects, or a function of the table of lifts",
    )


def _measured(found: object, key: str) -> Measurement:
    if isinstance(found, Measurement):
        return found
    if isinstance(found, Enclosure):
        return Measurement(key, found, "", None, None)
    if isinstance(found, Fraction | int) and not isinstance(found, bool):
        return Measurement(key, Enclosure.of(Fraction(found)), "", None, None)
    raise InputError(
        f"the measure {key} is no exact number",
        value=type(found).__name__,
        remedy="return a Fraction, an Enclosure or a Measurement: an audit says nothing that "
        "rounding could have made",
    )


def _audit(
    channel: AnyChannel | Certified,
    context: Context,
    alpha: object,
    at_epsilon: object,
    impossible: Impossible,
    progress: Progress | None,
) -> Audit:
    subject = getattr(channel, "channel", channel)
    if not isinstance(subject, Channel | StructuredChannel):
        raise InputError(
            "not a channel",
            value=type(channel).__name__,
            remedy="give a channel, such as that of a mechanism: mechanism.channel",
        )
    if isinstance(context, PerUserPriors):
        _refuse_options(context, alpha, at_epsilon, "only the lifts of users are")
        return UserAudit.of(subject, context, getattr(channel, "notion", None))
    if isinstance(context, ProfileGraph):
        _refuse_options(context, alpha, at_epsilon, "only the losses of edges are")
        return ProfileAudit.of(subject, context)
    if isinstance(context, Conditional):
        return _audit_given(subject, context, alpha, at_epsilon, impossible, progress)
    order = read_order(alpha) if alpha is not None else None
    budget = Budget.of(at_epsilon) if at_epsilon is not None else None
    unprotected = refuse_impossible(subject, context, impossible)
    tell = progress or ignore_progress
    tell(Step("lifts"))
    found = extreme_lifts(subject, context)
    measurements = found.measurements()
    result = Audit(subject, context, measurements, found, unprotected, order, budget)
    if isinstance(context, AnyUserPrior):
        _refuse_options(context, alpha, at_epsilon, "only the lifts of users are")
        return result
    tell(Step("ldp"))
    measurements["ldp"] = LDP.measure(subject, context)
    try:
        everything = to_dense(subject)
    except NotDefined:
        if isinstance(subject, SupportChannel):
            return result  # with too many outputs for a table
        raise
    if isinstance(context, Prior | Joint):
        table = lift_table(everything, context)
        for notion in NOTIONS.values():
            if issubclass(notion, TableMeasure):
                tell(Step(notion.key))
                measurements[notion.key] = notion.of_table(table)
        for notion in NOTIONS.values():
            if alpha is not None and issubclass(notion, OrderedBound):
                tell(Step(notion.key))
                measurements[notion.key] = notion.of_table(table, order)
    else:
        # Notions that are defined for every set come first.
        of_sets = [
            each for each in NOTIONS.values() if issubclass(each, TableMeasure) and each.of_sets
        ]
        for measured in sorted(of_sets, key=lambda each: each.audited != "always"):
            with contextlib.suppress(NotDefined):
                measurements[measured.key] = measured.measure(everything, context)
    for form in CURVES if budget is not None else ():
        tell(Step(f"delta_{form}"))
        with contextlib.suppress(NotDefined):
            curve = DeltaCurve.of(everything, context, form)
            measurements[f"delta_{form}"] = curve.delta(budget)
    return result


def _audit_given(
    channel: AnyChannel,
    context: Conditional,
    alpha: object,
    at_epsilon: object,
    impossible: Impossible,
    progress: Progress | None,
) -> Audit:
    """Measure every part under its own joint, the rest under every prior; keep the worst."""
    unprotected = refuse_impossible(channel, context, impossible)
    found = extreme_lifts(channel, context)
    lifts = found.measurements()
    worst: dict[str, Measurement] | None = None
    for part in parts_of(channel, context):
        within: Context = part.context
        if part.open:
            within = Intervals.all_priors(part.channel.inputs.labels)
        own = _audit(part.channel, within, alpha, at_epsilon, "ignore", progress).measurements
        told = {
            key: replace(each, witness=replace(each.witness or Witness(), given=part.label))
            for key, each in own.items()
        }
        worst = (
            told
            if worst is None
            else {
                key: worse_measurement(before, told[key], least=key == CrowdMass.key)
                for key, before in worst.items()
                if key in told
            }
        )
    order = read_order(alpha) if alpha is not None else None
    budget = Budget.of(at_epsilon) if at_epsilon is not None else None
    measured = lifts | {key: each for key, each in (worst or {}).items() if key not in lifts}
    return Audit(channel, context, measured, found, unprotected, order, budget)


def _sentence(result: Audit, *, up: bool) -> str:
    extreme = result.lifts.largest if up else result.lifts.smallest
    lift, secret, output = extreme.lift, extreme.witness.secret, extreme.witness.output
    context, given = result.context, extreme.witness.given
    if isinstance(context, Conditional) and given is not None:
        context = context.context_of(given)
    known = context.secret_prior if isinstance(context, Prior | Joint) else None
    prior = extreme.witness.prior or known
    verb = "rise" if up else "fall"
    seeing = "Seeing" if given is None else f"Given {quote_label(given)}, seeing"
    start = f"{seeing} {quote_label(output)}, the belief in {quote_label(secret)} can {verb}"
    if lift is None:
        return f"{start} without bound: under some priors of the set the output is conclusive."
    if prior is None or secret is None:
        return f"{start} by a factor {nearest_float(lift):.4g}."
    before = prior[secret]
    if before == 0:
        return f"{start} by a factor {nearest_float(lift):.4g} (for priors that make it unlikely)."
    after = before * lift
    note = "; it is ruled out" if after == 0 else ""
    factor = f"a factor {nearest_float(lift):.4g}{note}"
    return f"{start} from {percent(before)} to {percent(after)} ({factor})."


def percent(value: Fraction) -> str:
    """Write a probability for people.

    >>> percent(Fraction(1, 10)), percent(Fraction(1, 28))
    ('10 %', '3.571 %')
    """
    hundred = value * 100
    text = decimal_text(hundred)
    if "/" in text or len(text) > 6:
        text = f"{float(hundred):.4g}"
    return f"{text} %"
