"""Privacy against utility: the same context under several methods and budgets, and yardsticks."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from liftlock._solver.problem import ldp_budget
from liftlock.context import Context, representative
from liftlock.designing import cut, design, design_as_published, usual_goal
from liftlock.designs.catalogue import DESIGNS
from liftlock.designs.draft import Draft
from liftlock.designs.registry import (
    Design,
    Kind,
    check_fits,
    check_memory,
    find_design,
    kind_of,
)
from liftlock.errors import InputError, LiftlockError, NotDefined
from liftlock.exact.budget import Budget
from liftlock.exact.enclosure import Enclosure
from liftlock.line.grid import GridPrior, LinePrior
from liftlock.mechanism import Mechanism
from liftlock.notions.base import Notion
from liftlock.notions.ldp import LDP
from liftlock.notions.lift import extremes
from liftlock.notions.lip import ALIP, lower_reading, upper_reading
from liftlock.profile_graph import ProfileGraph
from liftlock.utility.registry import make_utility
from liftlock.utility.utility import Utility, value, value_of_nothing, value_of_truth

MakeNotion = Callable[[Any], Notion]
"""Makes the notion of a budget epsilon; its budgets grow in proportion to epsilon."""

PREFERRED: Mapping[Kind, tuple[str, ...]] = {
    "prior": ("optimal", "arc", "safe-response", "response", "optimal:ldp", "k-rr"),
    "joint": ("optimal", "subset-response", "subset-merging", "watchdog", "optimal:ldp", "k-rr"),
    "family": ("optimal", "optimal:ldp", "k-rr"),
    "intervals": ("optimal", "optimal:ldp", "k-rr"),
    "ball": ("optimal", "optimal:ldp", "k-rr"),
}
"""The methods that are compared when none are named, as far as they fit the notion."""

FOR_NUMBERS = ("optimal", "quantile-blocks", "bounded-laplace", "laplace", "gaussian", "sampling")
"""Those that are compared for a prior on the line."""

CONTEXT_FREE = "laplace"
"""The design that numbers are compared with, at the scale that needs no prior."""
_FEW_SYMBOLS = 12
"""Up to so many symbols the optimum of LDP is found in a moment; beyond, k-RR stands in for it."""


@dataclass(frozen=True)
class Point:
    """One mechanism of a curve: what was asked for, what it truly leaks, and what it is worth."""

    epsilon: float
    """The budget that was asked for, in nats."""
    needed: float
    """The budget that the mechanism truly needs: above `epsilon` if it breaks its promise."""
    objective: float
    eps_lower: float
    eps_upper: float
    outputs: int | str
    gap: float | None
    seconds: float
    guarantee: str
    """What was certified of its integers."""


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

    @property
    def asked(self) -> int:
        """How many points were asked for."""
        return self.left_out + sum(len(curve.points) for curve in self.curves)

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat row for each point, as a CSV wants them."""
        return [
            {"method": curve.method, "notion": curve.notion, "keeps": curve.keeps} | vars(point)
            for curve in self.curves
            for point in curve.points
        ]

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "format": "liftlock.comparison",
            "version": 1,
            "context": self.context,
            "notion": self.notion,
            "utility": self.utility,
            "title": self.title,
            "larger_is_better": self.larger_is_better,
            "nothing": self.nothing,
            "truth": self.truth,
            "left_out": self.left_out,
            "curves": [
                {
                    "method": curve.method,
                    "notion": curve.notion,
                    "keeps": curve.keeps,
                    "points": [_finite(vars(point)) for point in curve.points],
                }
                for curve in self.curves
            ],
        }


def compare(
    context: Context | LinePrior,
    make_notion: MakeNotion,
    methods: Sequence[str] | None = None,
    epsilons: Iterable[Any] = ("0.25", "0.5", "1", "2", "4"),
    utility: str | Utility | None = None,
    *,
    seconds: float | None = None,
    cells: int | None = None,
    spacing: str | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    stopped: Callable[[], bool] | None = None,
) -> Comparison:
    """Design with every method at every budget, and measure what each mechanism truly leaks.

    A method is the key of a design; ``KEY:ldp`` asks it for LDP, ``KEY:published`` for what was
    published. A method that is only made for LDP gets the LDP budget that implies what is asked
    for (the smaller of the two sides). Published methods may break their promise; `needed` is then
    their true budget.
    `seconds` limits each search that can be stopped. Once `stopped` returns true, the points that
    are complete are all there will be; the one in the making is dropped. A prior on the line is
    cut once, into `cells` with a `spacing`, as in `design`.

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.prior import Prior
    >>> prior = Prior.from_counts({"none": 700, "cold": 200, "flu": 100})
    >>> found = compare(prior, LIP, ["safe-response"], ["0.5", "1"], "histogram")
    >>> [round(point.objective, 4) for point in found.curves[0].points]
    [0.4576, 0.4432]
    """
    context = cut(context, cells, spacing)
    if isinstance(context, ProfileGraph):
        raise NotDefined(
            "comparing by budget", context.describe(), "use liftlock.profiles.compare_profiles"
        )
    budgets = [(given, _positive(given)) for given in epsilons]
    if not budgets:
        raise InputError("no budgets to compare", remedy="give at least one epsilon")
    asked = make_notion(budgets[0][0])
    chosen = fitting(context, asked) if methods is None else list(methods)
    entries = [(name, _Method.of(name, context, asked)) for name in dict.fromkeys(chosen)]
    if not entries:
        raise InputError("no methods to compare", remedy="name at least one method")
    goal = make_utility(usual_goal(context) if utility is None else utility, context.inputs)
    masses = representative(context).floats()
    curves = []
    total, done = len(entries) * len(budgets), 0
    for name, method in entries:
        points = []
        for given, epsilon in budgets:
            if progress is not None:
                progress(f"{name} at {epsilon:g}", done, total)
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
            curves.append(Curve(name, method.used(asked).name, not method.published, tuple(points)))
        if len(points) < len(budgets):
            break
    return Comparison(
        context.describe(),
        str(make_notion("1")),
        goal.name,
        goal.title,
        goal.larger_is_better,
        value_of_nothing(goal, masses),
        value_of_truth(goal, masses),
        tuple(curves),
        total - done,
    )


def _positive(given: object) -> float:
    return float(Budget.of(given))


def _point(
    context: Context,
    asked: Notion,
    method: _Method,
    goal: Utility,
    epsilon: float,
    seconds: float | None,
) -> Point:
    options: dict[str, Any] = {}
    if seconds is not None and method.entry.accepts("seconds"):
        options["seconds"] = seconds
    make = design_as_published if method.published else design
    started = time.monotonic()
    made = make(context, method.used(asked), utility=goal, method=method.entry.key, **options)
    elapsed = time.monotonic() - started
    assert made.origin is not None
    leakage = Leakage.of(made)
    return Point(
        epsilon,
        leakage.needed(asked, epsilon) if asked.delta_limit() is None else _at_delta(made, asked),
        made.origin.objective,
        leakage.lower,
        leakage.upper,
        made.channel.output_number,
        made.origin.gap,
        elapsed,
        made.certificate.guarantee,
    )


@dataclass(frozen=True)
class Leakage:
    """What a mechanism truly leaks, in nats: as lifts, and as LDP."""

    lower: float
    upper: float
    ldp: float

    @classmethod
    def of(cls, mechanism: Mechanism) -> Leakage:
        """Measure the integers of a mechanism in its own context."""
        found = extremes(mechanism.channel, mechanism.context)
        return cls(
            _number(lower_reading(found).value),
            _number(upper_reading(found).value),
            _number(LDP.measure(mechanism.channel, mechanism.context).value),
        )

    def needed(self, asked: Notion, epsilon: float) -> float:
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


def implying(notion: Notion) -> LDP:
    """Return the LDP guarantee of the same budget, which implies a lift notion.

    >>> str(implying(ALIP(lower="1.3", upper="0.7")))
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
    def of(cls, name: str, context: Context, asked: Notion) -> _Method:
        """Read KEY, KEY:ldp or KEY:published."""
        key, colon, form = name.partition(":")
        form = form.strip().lower()
        entry = find_design(key, DESIGNS)
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
        check_fits(entry, context, found.used(asked))
        return found

    def used(self, asked: Notion) -> Notion:
        """Return the notion that the design is asked for."""
        if self.ldp:
            return implying(asked.without_delta)
        if asked.name not in self.entry.notions:
            return asked.without_delta
        return asked


def fitting(context: Context, asked: Notion) -> list[str]:
    """Return the methods that are compared unless some are named."""
    names = []
    usual = FOR_NUMBERS if isinstance(context, GridPrior) else PREFERRED[kind_of(context)]
    for name in usual:
        key, _, ldp = name.partition(":")
        if key not in DESIGNS or (ldp and len(context.inputs) > _FEW_SYMBOLS):
            continue
        if ldp and asked.ratio_limit is not None:
            continue
        try:
            _Method.of(name, context, asked)
        except NotDefined:
            continue
        names.append(name)
    return names


# --- yardsticks ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Yardstick:
    """Something a mechanism is measured against."""

    name: str
    objective: float
    guarantee: str
    """What it guarantees: a notion, ``everything`` or ``nothing``."""

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return vars(self)


def yardsticks(
    mechanism: Mechanism, utility: str | Utility, *, seconds: float = 5.0
) -> tuple[Yardstick, ...]:
    """Return what a designed mechanism is to be compared with, itself first.

    The others are the optimum under LDP at the same budget (k-ary randomised response where that
    would take long; for numbers also the Laplace mechanism that ignores the prior), no release at
    all, and no noise. They are drafts: nothing is certified.
    """
    origin, context = mechanism.origin, mechanism.context
    assert origin is not None
    goal = make_utility(utility, context.inputs)
    masses = representative(context).floats()
    found = [
        Yardstick(f"this mechanism ({origin.method})", origin.objective, str(mechanism.notion))
    ]
    if isinstance(context, GridPrior):
        found += _under_ldp(context, mechanism.notion, goal, seconds)
    elif mechanism.notion.ratio_limit is None:
        found += _ldp(context, mechanism.notion, goal, seconds)
    found.append(Yardstick("no release", value_of_nothing(goal, masses), "everything"))
    found.append(Yardstick("no noise", value_of_truth(goal, masses), "nothing"))
    return tuple(found)


def _under_ldp(
    context: GridPrior, notion: Notion, goal: Utility, seconds: float
) -> list[Yardstick]:
    """Measure what protects everybody, whatever the prior is: the best known, and Laplace noise."""
    try:
        asked = implying(notion.without_delta)
    except NotDefined:
        return []
    if float(asked.bound()) == 0:
        return []
    ways: list[tuple[str, str, dict[str, Any]]] = [
        ("Laplace noise for any prior", CONTEXT_FREE, {"scale": "context-free"})
    ]
    if goal.numeric and notion.ratio_limit is None:
        ways.insert(0, ("the best found under LDP", "optimal", {"seconds": seconds}))
    found = []
    for name, key, options in ways:
        try:
            draft = DESIGNS[key].make(context, asked, utility=goal, **options)
        except LiftlockError:
            continue
        found.append(Yardstick(name, value(goal, draft.matrix, context.floats()), str(asked)))
    return found


def _ldp(context: Context, notion: Notion, goal: Utility, seconds: float) -> list[Yardstick]:
    try:
        asked = implying(notion)
    except NotDefined:
        return []
    if float(asked.bound()) == 0:
        return []  # only the constant mechanism is left
    optimum = [] if len(context.inputs) > _FEW_SYMBOLS else ["optimal"]
    for key in (*optimum, "k-rr"):
        entry = DESIGNS.get(key)
        if entry is None:
            continue
        try:
            check_fits(entry, context, asked)
            check_memory(entry, context, asked, goal)
            options = {"seconds": seconds} if entry.accepts("seconds") else {}
            draft = entry.make(context, asked, utility=goal, **options)
        except LiftlockError:
            continue
        if isinstance(draft, Draft):
            worth = value(goal, draft.matrix, representative(context).floats())
            name = "the optimum under LDP" if key == "optimal" else "k-ary randomised response"
            return [Yardstick(name, worth, str(asked))]
    return []
