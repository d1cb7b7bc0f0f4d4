"""Privacy against utility: the same context under several methods, at the same true leakage.

An epsilon of LIP and one of LDP do not protect alike, and few methods use up what they are given.
So methods are put side by side at what their integers truly leak in one notion (`Axis`): each gets
the parameter whose mechanism leaks at most that, and as nearly that as was found (`calibrate`).
"""

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
from liftlock.designs.calibration import (
    EPSILON,
    Level,
    MakeNotion,
    MechanismLeakage,
    calibrate,
    read_axis,
)
from liftlock.designs.catalogue import DESIGNS, check_published, designs_for, find_design
from liftlock.designs.goal import AnyUtility, Goal, Weights, read_goal
from liftlock.designs.own import AnyMethod, read_method
from liftlock.designs.request import discretise
from liftlock.designs.utility_range import UtilityRange
from liftlock.errors import InputError, NotDefined
from liftlock.exact.budget import Budget, decimal_text
from liftlock.mechanism import Mechanism
from liftlock.model import AnyUserPrior, Context, Kind, PerUserPriors, PriorSet, ProfileGraph
from liftlock.model.continuous.grid import ContinuousPrior, GridPrior
from liftlock.model.provenance import value_to_json
from liftlock.notions.base import Notion
from liftlock.notions.ldp import LDP
from liftlock.notions.lip import ALIP, LIP
from liftlock.notions.profile import ProfilePrivacy
from liftlock.utility.profile_utility import ProfileErrors, profile_errors

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
    """The level it is compared at: of what it may leak, or at equal epsilon what it was given."""
    needed: float
    """What it truly leaks in the notion of the axis, rounded up."""
    objective: float
    eps_lower: float | None
    eps_upper: float | None
    """The lifts in nats, rounded up; None for profiles, whose edges `needed` speaks of."""
    ldp: float | None
    """The LDP that it has anyway, rounded up; None for profiles."""
    outputs: int | str
    gap: float | None
    seconds: float
    guarantee: str
    """What was certified of its integers."""
    parameter: str
    """What its method was asked for, such as ``ldp(1.2397312)``."""
    over_set: UtilityRange | None = None
    """The utility under every prior of a set; None for one prior, or if it is not known."""
    errors: ProfileErrors | None = field(default=None, repr=False, compare=False)
    """What happens to the values of each profile, for a graph of them."""

    @property
    def lip(self) -> float | None:
        """How far any belief moves, either way; None for profiles."""
        if self.eps_lower is None or self.eps_upper is None:
            return None
        return max(self.eps_lower, self.eps_upper)

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form; of profiles also what each releases, and what that costs."""
        data = {name: found for name, found in vars(self).items() if name != "errors"}
        data["over_set"] = None if self.over_set is None else self.over_set.to_data()
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
        errors, ends = data.pop("errors", None), data.pop("over_set")
        data |= (
            {} if ends is None else {"utility_least": ends["least"], "utility_most": ends["most"]}
        )
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
    """One for each level that some parameter of the method keeps."""


@dataclass(frozen=True)
class Comparison:
    """Curves of several methods in one context, with the two ends between which they lie."""

    context: str
    notion: str
    """What an epsilon of 1 means, such as ``lip(1)``."""
    at: str
    """In which notion all leak the same, or ``epsilon``: all were given the same budget."""
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
    unreached: int = 0
    """How many points there are none of: no parameter of the method was found to keep the level."""
    graph: ProfileGraph | None = field(default=None, repr=False, compare=False)
    """The graph of profiles, if it is about one."""
    prior: str = ""
    """Under which prior of a set the utility is, in words."""

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
    def leaked(self) -> str:
        """The notion in which `needed` says what a mechanism truly leaks, such as ``lip``."""
        return self.notion.partition("(")[0] if self.at == EPSILON else self.at

    @property
    def asked(self) -> int:
        """How many points were asked for."""
        return self.left_out + self.unreached + sum(len(curve.points) for curve in self.curves)

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat row for each point, as a CSV wants them."""
        return [
            {"method": curve.method, "notion": curve.notion, "keeps": curve.keeps} | point.to_row()
            for curve in self.curves
            for point in curve.points
        ]

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form; costs and what is released are in the order of the values."""
        about: dict[str, Any] = {"prior": self.prior} if self.prior else {}
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
            "at": self.at,
            "utility": self.utility,
            "title": self.title,
            "larger_is_better": self.larger_is_better,
            "nothing": value_to_json(self.nothing),
            "truth": self.truth,
            "left_out": self.left_out,
            "unreached": self.unreached,
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
    at: str | None = None,
    loss: Any = None,
    weights: Weights = None,
    seconds: float | None = None,
    bins: int | None = None,
    spacing: str | None = None,
    progress: Progress | None = None,
    stopped: Callable[[], bool] | None = None,
) -> Comparison:
    """Design with every method at every level, and measure what each mechanism truly leaks.

    A level is what a mechanism may leak in the notion `at`: ``lip``, ``ldp``, ``max-lift`` and
    others. Each method gets the parameter whose integers leak no more, which is proved, and as
    nearly that as was found. Without `at` it is the notion that is asked for. At ``epsilon`` all
    are given the same budget, which means another protection for each: a method for LDP only gets
    the LDP budget that implies what is asked for (the smaller of the two sides), and published
    methods may break their promise; `needed` is what they truly leak.

    A method is the key of a design, a design or a function as in `design`; ``KEY:ldp`` asks it for
    LDP, ``KEY:published`` for what was published. `seconds` limits each search that can be stopped.
    Once `stopped` returns true, the points that are complete are all there will be; the one in the
    making is dropped. A continuous prior is cut once, into `bins` with a `spacing`, as in `design`.

    `make_notion` is LIP unless told otherwise. For a graph of profiles it is ProfilePrivacy, and
    all get the same budget of it; `loss` and `weights` are those of `design`, and each point tells
    what happens to the values.

    >>> from liftlock.model import Prior
    >>> prior = Prior.from_counts({"none": 700, "cold": 200, "flu": 100})
    >>> found = compare(prior, LIP, ["optimal", "optimal:ldp"], ["1"], "histogram")
    >>> [round(curve.points[0].objective, 4) for curve in found.curves]
    [0.3288, 0.3724]
    >>> [curve.points[0].parameter for curve in found.curves]
    ['lip(1)', 'ldp(1.2397312)']
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
    key, level_notion = EPSILON, make_notion
    if context.kind != "profiles":
        at = asked.name if at is None else at
        if at.strip().lower() != EPSILON:
            key, level_notion = read_axis(at, asked, make_notion)
    elif at not in (None, EPSILON):
        raise NotDefined("a leakage to compare at", context.describe(), f"leave out at={at!r}")
    entries = _read_methods(methods, context, asked)
    goal = read_goal(context, utility, loss=loss, weights=weights)
    nothing, truth = goal.ends
    making = _Making(context, make_notion, goal, seconds, stopped or (lambda: False))
    curves = []
    total, done, unreached = len(entries) * len(budgets), 0, 0
    for name, method in entries.items():
        points: list[Point] = []
        for given, epsilon in budgets:
            if progress is not None:
                progress(Step(f"{name} at {epsilon:g}", done, total))
            level = Level(level_notion(given), epsilon)
            point = None
            try:
                point = making.point(method, level, None if key != EPSILON else given)
            except KeyboardInterrupt:
                if stopped is None or not stopped():
                    raise
            if stopped is not None and stopped():
                break
            done += 1
            if point is None:
                unreached += 1
            else:
                points.append(point)
        curves.append(
            Curve(name, method.notion_for(asked).name, not method.published, tuple(points))
        )
        if stopped is not None and stopped():
            break
    return Comparison(
        context.describe(),
        str(level_notion("1")),
        key,
        goal.utility.name,
        goal.utility.title,
        goal.utility.larger_is_better,
        nothing,
        truth,
        tuple(curve for curve in curves if curve.points or not total - done),
        total - done,
        unreached,
        context if isinstance(context, ProfileGraph) else None,
        context.middle if isinstance(context, PriorSet) else "",
    )


def _positive(given: object) -> float:
    return float(Budget.of(given))


def _read_methods(
    methods: AnyMethod | Sequence[AnyMethod] | None, context: Context, asked: Notion
) -> dict[str, _Method]:
    """Return the methods by name: those that were named, or those that fit."""
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
    return entries


@dataclass(frozen=True)
class _Making:
    """How the points of a comparison are made."""

    context: Context
    make_notion: MakeNotion
    goal: Goal
    seconds: float | None
    stopped: Callable[[], bool]

    def point(self, method: _Method, level: Level, given: object | None) -> Point | None:
        """Make the mechanism of a budget that is given, or that which leaks a level, or none."""
        started = time.monotonic()
        if given is not None:
            made = self.make(method, given)
            parameter, guarantee = given, made.certificate.guarantee
        else:
            found = calibrate(
                lambda parameter: self._try(method, parameter),
                level,
                level.number,
                stopped=self.stopped,
            )
            if found is None:
                return None
            made, parameter = found.mechanism, decimal_text(found.parameter)
            guarantee = level.notion.guarantee
        asked = str(method.notion_for(self.make_notion(parameter)))
        return self._measure(made, level, time.monotonic() - started, guarantee, asked)

    def make(self, method: _Method, given: object) -> Mechanism:
        """Make the mechanism of a budget."""
        used = method.notion_for(self.make_notion(given))
        options: dict[str, Any] = {}
        if self.seconds is not None and method.entry.accepts("seconds"):
            options["seconds"] = self.seconds
        make = design_as_published if method.published else design
        return make(self.context, used, utility=self.goal.utility, method=method.entry, **options)

    def _try(self, method: _Method, parameter: Fraction) -> Mechanism | None:
        try:
            return self.make(method, decimal_text(parameter))
        except InputError:
            if not method.published:
                raise
            return None  # a formula that leaks everything

    def _measure(
        self, made: Mechanism, level: Level, elapsed: float, guarantee: str, parameter: str
    ) -> Point:
        lower = upper = ldp = errors = None
        if isinstance(self.context, ProfileGraph):
            errors = profile_errors(made.table, self.context, self.goal.utility.weights)
        else:
            leakage = MechanismLeakage.of(made)
            lower, upper, ldp = leakage.lower, leakage.upper, leakage.ldp
        assert made.origin is not None
        return Point(
            level.number,
            level.measure(made),
            made.origin.objective,
            lower,
            upper,
            ldp,
            made.channel.output_number,
            made.origin.gap,
            elapsed,
            guarantee,
            parameter,
            self.goal.range_of(made.channel),
            errors,
        )


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
        known += ["published"] if entry.published else []
        if colon and form not in known:
            raise InputError(
                "unknown form of a method",
                value=name,
                remedy=f"write {' or '.join([entry.key, *(f'{entry.key}:{f}' for f in known)])}",
            )
        meant = asked
        if asked.name not in entry.notions:
            meant = asked.without_delta  # which implies it
        free = entry.prior_free or meant.name not in entry.notions
        swap = form == "ldp" or (free and "ldp" in entry.notions)
        found = cls(entry, swap, published)
        check_fits(entry, context, found.notion_for(asked))
        if published:
            check_published(entry, found.notion_for(asked), {})
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
