"""Table 1 of paper 004: the profiles of the categorical chain, and what they mean for privacy."""

from __future__ import annotations

from fractions import Fraction

from liftlock_papers.figure import Curve, Figure, Finding, Panel, Verdict
from liftlock_papers.paper_004 import profile_table
from liftlock_papers.paper_004.expected import TABLE1
from liftlock_papers.paper_004.profile_table import APART, edge_name
from liftlock_papers.points import Points

_NAMES = ("P1", "P2", "P3")
_EDGES = (edge_name("P1", "P2"), edge_name("P2", "P3"))
_ENDS = edge_name("P1", "P3")
_NUMBERS = (1, 2, 3, 4)


def _judge(points: Points) -> list[Finding]:
    return [_sums(points), _informative(points), _chain(points)]


def _sums(points: Points) -> Finding:
    same = sum(number.finding(points).verdict is Verdict.CONFIRMED for number in TABLE1)
    sums = [
        sum(Fraction(str(number.number)) for number in TABLE1 if number.curve == name)
        for name in _NAMES
    ]
    holds = same == len(TABLE1) and all(total == 1 for total in sums)
    return Finding(
        "Implied: the rows of the table are distributions on four categories",
        Verdict.of(holds),
        f"as printed they sum to {', '.join(map(str, sums))}; {same} of {len(TABLE1)} entries are "
        "those of the profiles used here",
        "" if holds else "A row does not sum to 1, or an entry is another.",
    )


def _informative(points: Points) -> Finding:
    most = {
        number: max(points.at("ratios", edge, number) for edge in _EDGES) for number in _NUMBERS
    }
    order = sorted(_NUMBERS, key=lambda number: -most[number])
    holds = len({round(nats, 9) for nats in most.values()}) == len(most)
    said = ", ".join(f"{number} up to {most[number]:.3f}" for number in order)
    return Finding(
        "Implied: some categories say more about the profile than others",
        Verdict.of(holds),
        f"category {said} nats",
        "" if holds else "Some say as much as others.",
    )


def _chain(points: Points) -> Finding:
    first, second = (points.at("ratios", edge, APART) for edge in _EDGES)
    ends = points.at("ratios", _ENDS, APART)
    holds = ends > max(first, second)
    return Finding(
        "Implied: the profiles form a chain, so P1 and P3 need not be alike",
        Verdict.of(holds),
        f"released as they are, values lose {first:.3f} (P1, P2) and {second:.3f} nats (P2, P3): "
        f"from ε = {max(first, second):.3f} on no noise is needed; P1 and P3 are {ends:.3f} apart",
        "" if holds else "P1 and P3 are no further apart than neighbours.",
    )


TABLE = Figure(
    key="004-table1",
    name="Table 1",
    title="The profiles of Categorical-Chain",
    says="Three profiles of four categories, joined in a chain P1 – P2 – P3; some categories are "
    "more closely tied to the profile than others.",
    compute=profile_table.compute,
    judge=_judge,
    panels=(
        Panel(
            "profiles",
            "category",
            "probability",
            "the profiles",
            ticks={float(number): str(number) for number in _NUMBERS},
        ),
        Panel(
            "ratios",
            "category",
            "|ln P(y) / P′(y)| (nats)",
            "what each category says",
            ticks={**{float(number): str(number) for number in _NUMBERS}, float(APART): "d∞"},
        ),
    ),
    curves=(
        Curve("P1", "teal", kind="bars"),
        Curve("P2", "teal", kind="bars", shade=0.4),
        Curve("P3", "teal", kind="bars", shade=0.75),
        Curve(_EDGES[0], "purple", kind="bars"),
        Curve(_EDGES[1], "purple", kind="bars", shade=0.4),
        Curve(_ENDS, "gold", kind="bars", shade=0.5, label=f"{_ENDS}, not joined"),
    ),
    columns=2,
    notes="d∞ is the largest of the four, and what is lost if values are released as they are; it "
    "is measured by the exact audit.",
)
