"""Figure 5 of paper 000: several releases, and what the paper says about them."""

from __future__ import annotations

import numpy as np

from liftlock_papers.figure import Colour, Curve, Figure, Finding, Line, Marker, Panel, Verdict
from liftlock_papers.paper_000 import composition
from liftlock_papers.paper_000.comparing import apart
from liftlock_papers.points import Floats, Points

_STRAIGHT = 0.01
"""Increments that differ by less than this share are called equal."""


def _judge(points: Points) -> list[Finding]:
    return [
        _linear(points, "a", tuple(composition.PRIORS), "LIP"),
        _linear(points, "b", tuple(composition.SETS), "BP-LIP"),
        _additive(points),
        _larger_budget(points),
        _rarest(points),
        _valid(points),
        _not_linear(points),
        _any_order(points),
    ]


def _uneven(row: Floats) -> float:
    """Return by what share of the largest the increments differ."""
    steps = np.diff(row)
    return float((steps.max() - steps.min()) / steps.max())


def _linear(points: Points, letter: str, names: tuple[str, ...], notion: str) -> Finding:
    bounds, exact = [], []
    for epsilon in composition.EPSILONS:
        for name in names:
            bounds.append(_uneven(points.y(f"{letter}{epsilon}", f"{name}, published bound")))
            exact.append(_uneven(points.y(f"{letter}{epsilon}", f"{name}, exact")))
    first = points.y(f"{letter}2", f"{names[-1]}, exact")
    return Finding(
        f"The {notion} leakage grows linearly with the number of releases, under any prior",
        Verdict.of(uneven <= _STRAIGHT for uneven in (*bounds, *exact)),
        f"increments of the bound differ by at most {max(bounds):.1%}, those of the true leakage "
        f"of the optimum by up to {max(exact):.0%} (ε = 2, {names[-1]}: first {first[0]:.2f}, then "
        f"{first[1] - first[0]:.2f} to {float(np.diff(first).max()):.2f})",
        "The bound is a line up to a vanishing term. The true leakage starts at ε, and its "
        "increments grow towards the LDP level of one release.",
    )


def _additive(points: Points) -> Finding:
    ratios = []
    for epsilon in composition.EPSILONS:
        for name in composition.PRIORS:
            number = points.x(f"a{epsilon}", f"{name}, exact")
            ratios.append(points.y(f"a{epsilon}", f"{name}, exact") / (number * epsilon))
    most = float(np.max(ratios))
    more = most > 1 + 1e-9
    return Finding(
        "Unlike those of LDP, the budgets of several releases do not simply add up (Section III-B; "
        "Section I calls the leakage linear)",
        Verdict.of(more),
        f"n releases of the certified optimum truly leak up to {most:.2f} n ε: after the first "
        "answer the second one meets another prior than that of its certificate",
        "" if more else "Here n releases never leak more than n ε.",
    )


def _larger_budget(points: Points) -> Finding:
    least = min(
        float((points.y("a5", f"{name}, {kind}") / points.y("a2", f"{name}, {kind}")).min())
        for name in composition.PRIORS
        for kind in ("published bound", "exact")
    )
    return Finding(
        "A larger ε allows more leakage",
        Verdict.of(least > 1),
        f"ε = 5 gives at least {least:.2f} times the leakage of ε = 2",
        "" if least > 1 else "Not everywhere.",
    )


def _rarest(points: Points) -> Finding:
    """P1 has the largest P_min, P3 the smallest."""
    falls = [
        bool(fewer)
        for panel in ("a2", "a5")
        for rarer, other in (("P2", "P1"), ("P3", "P2"))
        for fewer in points.y(panel, f"{rarer}, published bound")
        < points.y(panel, f"{other}, published bound")
    ]
    less = {
        panel: points.x(panel, "P1, exact")[
            points.y(panel, "P3, exact") < points.y(panel, "P1, exact") * (1 - 1e-6)
        ]
        for panel in ("a2", "a5")
    }
    one = [points.at("a2", f"{name}, published bound", 1) for name in ("P1", "P3")]
    last = points.x("a5", "P1, exact")[-1]
    true = [points.at("a5", f"{name}, exact", last) for name in ("P1", "P3")]
    some = ""
    if len(less["a2"]):
        some = f"; at ε = 2 the optimum for P3 leaks less only up to n = {less['a2'].max():.0f}"
    return Finding(
        "The smaller P_min, the smaller the leakage of several releases",
        Verdict.of(falls),
        f"one release, ε = 2: the bound is {one[0]:.3f} for P_min = 0.25 and {one[1]:.3f} for "
        f"0.01; {last:.0f} releases, ε = 5: the optimum truly leaks {true[0]:.1f} and "
        f"{true[1]:.1f}{some}",
        "It is the other way round: the bound, which the paper draws, grows as P_min falls, for "
        "every number of releases, "
        "and in the long run so does the true leakage.",
    )


def _valid(points: Points) -> Finding:
    room = []
    for epsilon in composition.EPSILONS:
        for letter, names in (("a", composition.PRIORS), ("b", composition.SETS)):
            for name in names:
                panel = f"{letter}{epsilon}"
                exact = points.y(panel, f"{name}, exact")
                room.append(points.y(panel, f"{name}, published bound") - exact)
                room.append(points.y(panel, f"{name}, tight bound") - exact)
        for order in composition.ORDERS:
            bound = points.y(f"c{epsilon}", f"{order}: published bound")
            room.append(bound - points.y(f"c{epsilon}", f"{order}: exact, independent"))
            room.append(bound - points.y(f"c{epsilon}", f"{order}: exact, correlated"))
    least = min(float(row.min()) for row in room)
    once = max(points.at("a5", f"{name}, published bound", 1) for name in composition.PRIORS)
    return Finding(
        "Theorem 4 and Corollaries 4 and 5 bound the leakage of several releases",
        Verdict.of(least >= -1e-9),
        f"the true leakage is always below here, but a single release of ε = 5 is said to cost up "
        f"to {once:.2f}; with one release counted as what it is, the bound starts at ε",
        "" if least >= -1e-9 else "It is exceeded.",
    )


def _not_linear(points: Points) -> Finding:
    uneven = {
        (order, epsilon): _uneven(
            np.concatenate([[0.0], points.y(f"c{epsilon}", f"{order}: published bound")])
        )
        for order in composition.ORDERS
        for epsilon in composition.EPSILONS
    }
    least = min(uneven.values())
    exact = {
        kind: [
            _uneven(np.concatenate([[0.0], points.y(f"c{e}", f"{order}: exact, {kind}")]))
            for order in composition.ORDERS
            for e in composition.EPSILONS
        ]
        for kind in ("independent", "correlated")
    }
    return Finding(
        "The leakage of a sequence of different data does not grow linearly",
        Verdict.of(
            share > _STRAIGHT
            for share in (*uneven.values(), *exact["independent"], *exact["correlated"])
        ),
        f"increments of the bound differ by {least:.0%} to {max(uneven.values()):.0%}, those of "
        f"the true leakage of correlated data by up to {max(exact['correlated']):.0%}, of "
        f"independent data by {max(exact['independent']):.1%}",
        "True of the bound, and of correlated data. The leakages of independent data simply add "
        "up: three releases of ε leak 3ε together.",
    )


def _any_order(points: Points) -> Finding:
    most, totals = 0.0, {}
    for epsilon in composition.EPSILONS:
        for kind in ("published bound", "exact, independent", "exact, correlated"):
            last = [points.y(f"c{epsilon}", f"{order}: {kind}")[-1] for order in composition.ORDERS]
            most = max(most, max(last) - min(last))
            totals[epsilon, kind] = last[0]
    return Finding(
        "After all three releases the total is the same in every order",
        Verdict.of(most < 1e-9),
        f"ε = 2: bound {totals[2, 'published bound']:.2f}, truly "
        f"{totals[2, 'exact, independent']:.2f} (independent) or "
        f"{totals[2, 'exact, correlated']:.2f} (correlated); in all orders they are "
        f"{apart(most)}",
        "" if most < 1e-9 else "It depends on the order.",
    )


_COLOURS: tuple[Colour, ...] = ("teal", "gold", "purple")
_MARKERS: tuple[Marker, ...] = ("o", "s", "^")


def _curves() -> tuple[Curve, ...]:
    """Return the curves; those of one colour are one prior, one set of priors, one order."""
    found = []
    styles: tuple[tuple[str, Line, Marker, float], ...] = (
        ("published bound", "dashed", "", 1.6),
        ("tight bound", "dotted", "", 1.3),
        ("exact", "solid", "o", 1.2),
        ("exact, independent", "solid", "o", 1.2),
        ("exact, correlated", "dashdot", "x", 1.2),
    )
    names = zip(
        _COLOURS, composition.PRIORS, composition.SETS.items(), composition.ORDERS, strict=True
    )
    groups = [
        (colour, (f"{prior}, ", f"{other}, ", f"{order}: "), (prior, members, order))
        for colour, prior, (other, members), order in names
    ]
    for kind, line, marker, width in styles:
        for each, (colour, prefixes, (prior, members, order)) in enumerate(groups):
            # In print without colours the marker tells them apart.
            shown = _MARKERS[each] if marker == "o" else marker
            for prefix in prefixes:
                if (kind in ("tight bound", "exact")) if prefix[0] == "X" else ("," in kind):
                    continue
                label = ""
                if prefix.startswith("P") and kind == "published bound":
                    label = f"{prior} | {{{', '.join(members)}}} | {order}: bound"
                elif prefix.startswith("P") and kind in ("tight bound", "exact"):
                    label = f"{prior} | …: {kind}"
                elif prefix.startswith("X") and kind == "exact, correlated":
                    label = f"{order}: {kind}"
                found.append(Curve(prefix + kind, colour, line, shown, width, label=label))
    return tuple(found)


def _panels() -> tuple[Panel, ...]:
    titles = {"a": "LIP", "b": "BP-LIP", "c": "a sequence"}
    return tuple(
        Panel(
            f"{letter}{epsilon}",
            "releases",
            "leakage of all (nats)",
            f"({letter}) {title}, ε = {epsilon}",
            y_limits=(0, None),
            ticks={n: f"{n}" for n in ((1, 2, 3) if letter == "c" else range(1, 11))},
            x_limits=(0.8, 3.2) if letter == "c" else None,
        )
        for epsilon in composition.EPSILONS
        for letter, title in titles.items()
    )


FIG5 = Figure(
    key="000-fig5",
    name="Fig. 5",
    title="Several releases: published bounds and the exact leakage",
    says="The leakage of n releases for three priors, for three sets of priors, and for three "
    "different data in three orders, with ε = 2 and ε = 5.",
    compute=composition.composition,
    judge=_judge,
    panels=_panels(),
    curves=_curves(),
    notes="A colour is a prior in (a), a set of priors in (b) and an order in (c). The paper draws "
    "its bounds; the number of releases, up to 10, is ours. Beside them "
    "stand the exact leakage of n releases of the certified optimum (mutual information), and the "
    "bound in its tight form (dotted). P1 is "
    "uniform, P2 = (0.1, 0.1, 0.1, 0.7), P3 = (0.01, 0.33, 0.33, 0.33). The second set of priors "
    "is printed as the first once more; it is read as {P1, P3}. The joint law of the sequence is "
    "not given: the bound is for independent data, and the exact leakage is shown for these and "
    "(crosses) for data that are half independent, half at the same quantile.",
)
