"""Privacy against utility: the same context under several methods and budgets."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from liftlock._runtime.progress import Progress, Step
from liftlock._solver.problem import ldp_budget
from liftlock.designs.api import design, design_as_published
from liftlock.designs.base import Design, check_fits
from liftlock.designs.catalogue import DESIGNS, designs_for, find_design
from liftlock.designs.goal import AnyUtility, Goal, Weights, read_goal
from liftlock.designs.own import AnyMethod, read_method
from liftlock.designs.request import discretise
from liftlock.errors import InputError, NotDefined
from liftlock.exact.budget import Budget
from liftlock.exact.enclosure import Enclosure
from liftlock.mechanism import Mechanism
from liftlock.model import AnyUserPrior, Context, Kind, PerUserPriors, ProfileGraph
from liftlock.model.continuous.grid import ContinuousPrior, GridPrior
from liftlock.model.provenance import value_to_json
from liftlock.notions.base import Notion
from liftlock.notions.ldp import LDP
from liftlock.notions.lift import extreme_lifts
from liftlock.notions.lip import ALIP, LIP
from liftlock.notions.profile import ProfilePrivacy
from liftlock.utility.profile_utility import ProfileErrors, profile_errors

MakeNotion = Callable[[Any], Notion]
"""Makes the notion of a budget epsilon; its budgets grow in proportion to epsilon."""

PREFERRED: Mapping[Kind, tuple[str, ...]] = {
    "prior": ("optimal", "arc", "safe-response", "response", "optimal:ldp", "k-rr"),
    "joint": ("optimal", "subset-response", "subset-merging", "watchdog", "optimal:ldp", "k-rr"),
    "family": ("optimal", "optimal:ldp", "k-rr"),
    "intervals": ("optimal", "optimal:ldp", "k-rr"),
    "ball": ("optimal", "optimal:ldp", "k-rr"),
}
"""The methods that are compared when none are named, as far as they fit the notion.

For profiles they are all there are.
"""

FOR_NUMBERS = ("optimal", "quantile-blocks", "bounded-laplace", "laplace", "gaussian", "sampling")
"""Those that are compared for a continuous prior."""

FEW_SYMBOLS = 12
"""Largest alphabet for which the LDP optimum is found in a moment; beyond, k-RR stands in."""


@dataclass(frozen=True)
class Point:
    """One mechanism of a curve: what was asked for, what it truly leaks, and what it is worth."""

    epsilon: float
    """The budget that was asked for, in nats."""
    needed: float
    """The budget that the mechanism truly needs: above `epsilon` if it breaks its promise."""
    objective: float
    eps_lower: float | None
    eps_upper: float | None
    """The lifts in nats; None for profiles, whose edges `needed` speaks of."""
    outputs: int | str
    gap: float | None
    seconds: float
    guarantee: str
    """What was certified of its integers."""
    errors: ProfileErrors | None = field(default=None, repr=False, compare=False)
    """What happens to the values of each profile, for a graph of them."""

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form; of profiles also what each releases, and what that costs."""
        data = {name: found for name, found in vars(self).items() if name != "errors"}
        if self.errors is not None:
            data["errors"] = {
                "largest": self.errors.largest,
                "mean_wrong": self.errors.mean_wrong,
                "costs": self.errors.marginal.tolist(),
                "released": self.errors.released.tolist(),
            }
        return data

    def to_row(self) -> dict[str, Any]:
        """Return one flat row: numbers and texts alone."""
        data = self.to_data()
        errors = data.pop("errors", None)
        if self.errors is not None:
            data |= {"largest": errors["largest"], "mean_wrong": errors["mean_wrong"]}
            costs = zip(self.errors.values, errors["costs"], strict=True)
            data |= {f"cost of {value}": cost for value, cost in costs}
        return data


@dataclass(frozen=True)
class Curve:
    """The points of one method."""

    method: str
    """The key of the design, with ``:ldp`` or ``:published`` if that was asked for."""
    notion: str
    keeps: bool
    """Whether the method keeps the budgets it is given; else look at `needed`."""
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Comparison:
    """Curves of several methods in one context, with the two ends between which they lie."""

    context: str
    notion: str
    """What a budget of 1 means, such as ``lip(1)``."""
    utility: str
    title: str
    larger_is_better: bool
    nothing: float
    """The utility of releasing nothing."""
    truth: float
    """The utility of releasing the value itself."""
    curves: tuple[Curve, ...]
    left_out: int = 0
    """How many points were not made, because somebody stopped the comparison."""
    graph: ProfileGraph | None = field(default=None, repr=False, compare=False)
    """The graph of profiles, if it is about one."""

    def __getitem__(self, method: str) -> Curve:
        for curve in self.curves:
            if curve.method == method:
                return curve
        raise InputError(
            "the method was not compared",
            value=method,
            remedy=f"use one of {', '.join(curve.method for curve in self.curves)}",
        )

    @property
    def asked(self) -> int:
        """How many points were asked for."""
        return self.left_out + sum(len(curve.points) for curve in self.curves)

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat row for each point, as a CSV wants them."""
        return [
            {"method": curve.method, "notion": curve.notion, "keeps": curve.keeps} | point.to_row()
            for curve in self.curves
            for point in curve.points
        ]

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form; costs and what is released are in the order of the values."""
        about = {}
        if self.graph is not None:
            about["graph"] = {
                "fingerprint": self.graph.fingerprint,
                "profiles": self.graph.profiles.to_data(),
                "values": self.graph.inputs.to_data(),
            }
        return {
            "format": "liftlock.comparison",
            "version": 1,
            "context": self.context,
            "notion": self.notion,
            "utility": self.utility,
            "title": self.title,
            "larger_is_better": self.larger_is_better,
            "nothing": value_to_json(self.nothing),
            "truth": self.truth,
            "left_out": self.left_out,
            "curves": [
                {
                    "method": curve.method,
                    "notion": curve.notion,
                    "keeps": curve.keeps,
                    "points": [_finite(point.to_data()) for point in curve.points],
                }
                for curve in self.curves
            ],
        } | about


def compare(
    context: Context | ContinuousPrior,
    make_notion: MakeNotion | None = None,
    methods: AnyMethod | Sequence[AnyMethod] | None = None,
    epsilons: Iterable[Any] = ("0.25", "0.5", "1", "2", "4"),
    utility: AnyUtility | None = None,
    *,
    loss: Any = None,
    weights: Weights = None,
    seconds: float | None = None,
    bins: int | None = None,
    spacing: str | None = None,
    progress: Progress | None = None,
    stopped: Callable[[], bool] | None = None,
) -> Comparison:
    """Design with every method at every budget, and measure what each mechanism truly leaks.

    A method is the key of a design, a design or a function as in `design`; ``KEY:ldp`` asks it for
    LDP, ``KEY:published`` for what was published. A method that is only made for LDP gets the LDP
    budget that implies what is asked for (the smaller of the two sides). Published methods may
    break their promise; `needed` is then their true budget. `seconds` limits each search that can
    be stopped. Once `stopped` returns true, the points that are complete are all there will be; the
    one in the making is dropped. A continuous prior is cut once, into `bins` with a `spacing`, as
    in `design`.

    `make_notion` is LIP unless told otherwise. For a graph of profiles it is ProfilePrivacy, its
    `loss` and `weights` are those of `design`, and each point tells what happens to the values.

    >>> from liftlock.model import Prior
    >>> prior = Prior.from_counts({"none": 700, "cold": 200, "flu": 100})
    >>> found = compare(prior, LIP, ["safe-response"], ["0.5", "1"], "histogram")
    >>> [round(point.objective, 4) for point in found.curves[0].points]
    [0.4576, 0.4432]
    >>> graph = ProfileGraph.bernoulli(["0.8", "0.9"])
    >>> found = compare(graph, methods=["cluster"], epsilons=["0.5", "1"])
    >>> [point.errors.released[:, 1].round(4).tolist() for point in found["cluster"].points]
    [[0.7707, 0.8609], [0.8, 0.9]]
    """
    context = discretise(context, bins, spacing)
    if isinstance(context, PerUserPriors | AnyUserPrior):
        raise NotDefined(
            "comparing by budget",
            context.describe(),
            "design with each method and compare mechanism.expected_error(priors)",
        )
    if make_notion is None:
        make_notion = ProfilePrivacy if context.kind == "profiles" else LIP
    budgets = [(given, _positive(given)) for given in epsilons]
    if not budgets:
        raise InputError("no budgets to compare", remedy="give at least one epsilon")
    asked = make_notion(budgets[0][0])
    chosen: Sequence[AnyMethod] = (
        fitting_methods(context, asked) if methods is None else _listed(methods)
    )
    entries: dict[str, _Method] = {}
    for each in chosen:
        found = _Method.of(each, context, asked)
        name = each if isinstance(each, str) else found.entry.key
        if name in entries and not isinstance(each, str):
            raise InputError(
                "two methods of the same name", value=name, remedy="give one another name"
            )
        entries[name] = found
    if not entries and methods is None:
        raise InputError(
            f"no method for {context.describe()} supports this notion",
            value=asked.name,
            remedy="compare under a supported notion, and certify this one",
        )
    if not entries:
        raise InputError("no methods to compare", remedy="name at least one method")
    goal = read_goal(context, utility, loss=loss, weights=weights)
    nothing, truth = goal.ends
    curves = []
    total, done = len(entries) * len(budgets), 0
    for name, method in entries.items():
        points = []
        for given, epsilon in budgets:
            if progress is not None:
                progress(Step(f"{name} at {epsilon:g}", done, total))
            try:
                point = _point(context, make_notion(given), method, goal, epsilon, seconds)
            except KeyboardInterrupt:
                if stopped is None or not stopped():
                    raise
            if stopped is not None and stopped():
                break
            points.append(point)
            done += 1
        if points:
            curves.append(
                Curve(name, method.notion_for(asked).name, not method.published, tuple(points))
            )
        if len(points) < len(budgets):
            break
    return Comparison(
        context.describe(),
        str(make_notion("1")),
        goal.utility.name,
        goal.utility.title,
        goal.utility.larger_is_better,
        nothing,
        truth,
        tuple(curves),
        total - done,
        context if isinstance(context, ProfileGraph) else None,
    )


def _positive(given: object) -> float:
    return float(Budget.of(given))


def _point(
    context: Context,
    asked: Notion,
    method: _Method,
    goal: Goal,
    epsilon: float,
    seconds: float | None,
) -> Point:
    options: dict[str, Any] = {}
    if seconds is not None and method.entry.accepts("seconds"):
        options["seconds"] = seconds
    used = method.notion_for(asked)
    started = time.monotonic()
    if method.published:
        made = design_as_published(
            context, used, utility=goal.utility, method=method.entry, **options
        )
    else:
        made = design(context, used, utility=goal.utility, method=method.entry, **options)
    elapsed = time.monotonic() - started
    assert made.origin is not None
    lower = upper = errors = None
    if isinstance(context, ProfileGraph):
        needed = _number(made.audit()["profile"].value)
        errors = profile_errors(made.table, context, goal.utility.weights)
    else:
        leakage = MechanismLeakage.of(made)
        lower, upper = leakage.lower, leakage.upper
        share = asked.share(made.channel, made.context)
        if asked.delta_limit() is not None:
            needed = _at_delta(made, asked)
        elif share is not None:
            needed = epsilon * share
        else:
            needed = leakage.smallest_epsilon(asked, epsilon)
    return Point(
        epsilon,
        needed,
        made.origin.objective,
        lower,
        upper,
        made.channel.output_number,
        made.origin.gap,
        elapsed,
        made.certificate.guarantee,
        errors,
    )


@dataclass(frozen=True)
class MechanismLeakage:
    """What a mechanism truly leaks, in nats: as lifts, and as LDP."""

    lower: float
    upper: float
    ldp: float

    @classmethod
    def of(cls, mechanism: Mechanism) -> MechanismLeakage:
        """Measure the integers of a mechanism in its own context."""
        found = extreme_lifts(mechanism.channel, mechanism.context)
        return cls(
            _number(found.eps_lower().value),
            _number(found.eps_upper().value),
            _number(LDP.measure(mechanism.channel, mechanism.context).value),
        )

    def smallest_epsilon(self, asked: Notion, epsilon: float) -> float:
        """Return the smallest epsilon, in the notion's proportions, that covers the leakage."""
        if asked.ratio_limit is not None:
            return self.ldp
        limits = asked.lift_limits()
        if limits is None:
            raise NotDefined(
                "comparing",
                f"the notion {asked.name}",
                "compare lip, alip, eps_lower, eps_upper, ldp, or one of these with a delta",
            )
        shares = [0.0]
        for leak, budget in zip((self.lower, self.upper), limits, strict=True):
            if budget is not None and leak > 0:
                side = float(budget)
                shares.append(epsilon * leak / side if side else math.inf)
        return max(shares)


def _at_delta(mechanism: Mechanism, asked: Notion) -> float:
    """Return the smallest epsilon that a mechanism keeps at the delta that was asked for."""
    return _number(asked.epsilon_at_delta(mechanism.channel, mechanism.context).value)


def implying_ldp(notion: Notion) -> LDP:
    """Return the LDP guarantee of the same budget, which implies a lift notion.

    >>> str(implying_ldp(ALIP(lower="1.3", upper="0.7")))
    'ldp(0.7)'
    """
    return LDP(ldp_budget(notion))


def asymmetric(split: Fraction) -> MakeNotion:
    """Return what makes ALIP with lower = split * epsilon and upper = (1 - split) * epsilon.

    Source: 002 Prop. 1 and what follows it.

    >>> str(asymmetric(Fraction(13, 20))("2"))
    'alip(lower=1.3, upper=0.7)'
    """

    def make(epsilon: object) -> Notion:
        budget = Budget.of(epsilon)
        if budget.epsilon is None:
            raise InputError(
                "a logarithm cannot be split exactly", value=str(budget), remedy="give a number"
            )
        return ALIP(lower=split * budget.epsilon, upper=(1 - split) * budget.epsilon)

    return make


def _number(found: Enclosure) -> float:
    return math.inf if found.is_infinite else float(found)


def _finite(row: dict[str, Any]) -> dict[str, Any]:
    """Write infinity as text, which JSON lacks."""
    return {
        key: "inf" if isinstance(found, float) and math.isinf(found) else found
        for key, found in row.items()
    }


# --- which methods ------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Method:
    """A method as it was named: a design, perhaps asked for LDP, or made as published."""

    entry: Design
    ldp: bool
    published: bool

    @classmethod
    def of(cls, name: AnyMethod, context: Context, asked: Notion) -> _Method:
        """Read KEY, KEY:ldp or KEY:published, or what is not named but given."""
        if not isinstance(name, str):
            entry = read_method(name, context, asked)
            check_fits(entry, context, asked)
            return cls(entry, ldp=False, published=not entry.keeps)
        key, colon, form = name.partition(":")
        form = form.strip().lower()
        entry = find_design(key)
        published = not entry.keeps or form == "published"
        known = ["ldp"] if "ldp" in entry.notions else []
        known += ["published"] if entry.accepts("as_published") or not entry.keeps else []
        if colon and form not in known:
            raise InputError(
                "unknown form of a method",
                value=name,
                remedy=f"write {' or '.join([entry.key, *(f'{entry.key}:{f}' for f in known)])}",
            )
        meant = asked
        if asked.name not in entry.notions:
            meant = asked.without_delta  # which implies it
        swap = form == "ldp" or (meant.name not in entry.notions and "ldp" in entry.notions)
        found = cls(entry, swap, published)
        check_fits(entry, context, found.notion_for(asked))
        return found

    def notion_for(self, asked: Notion) -> Notion:
        """Return the notion that the design is asked for."""
        if self.ldp:
            return implying_ldp(asked.without_delta)
        if asked.name not in self.entry.notions:
            return asked.without_delta
        return asked


def _listed(methods: AnyMethod | Sequence[AnyMethod]) -> list[AnyMethod]:
    if isinstance(methods, Sequence) and not isinstance(methods, str):
        return list(methods)
    return [methods]


def fitting_methods(context: Context, asked: Notion) -> list[str]:
    """Return the methods that are compared unless some are named."""
    names = []
    usual = PREFERRED.get(context.kind) or tuple(designs_for(context.kind))
    usual = FOR_NUMBERS if isinstance(context, GridPrior) else usual
    for name in usual:
        key, _, ldp = name.partition(":")
        if key not in DESIGNS or (ldp and len(context.inputs) > FEW_SYMBOLS):
            continue
        if ldp and asked.ratio_limit is not None:
            continue
        if not DESIGNS[key].fits(context):
            continue
        try:
            _Method.of(name, context, asked)
        except NotDefined:
            continue
        names.append(name)
    return names
