"""From a graph of profiles and a budget to a certified mechanism."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from liftlock.alphabet import Label
from liftlock.designs.catalogue import designs_for
from liftlock.designs.draft import Draft
from liftlock.designs.lock import MOST_BLEND, Locked
from liftlock.designs.lock import lock as lock_channel
from liftlock.designs.origin import Origin
from liftlock.designs.registry import Design, check_fits, check_options, find_design
from liftlock.errors import InputError, NotCertified, UnprotectedInput
from liftlock.exact.weights import DEFAULT_BITS
from liftlock.mechanism import Mechanism
from liftlock.notions.base import Notion
from liftlock.notions.lift import Impossible
from liftlock.notions.profile import ProfilePrivacy
from liftlock.prior import Prior
from liftlock.profile_graph import ProfileGraph
from liftlock.utility.profile_utility import ProfileUtility, blocks_of
from liftlock.utility.utility import Utility

_LISTED = 5
MOST_CELLS = 4_000_000
"""Designs with more probabilities are refused: they would take hours and gigabytes."""
_BLENDS = (MOST_BLEND, Fraction(1, 256), Fraction(1))
"""Tables may be too coarse for a tiny budget or a rare output: then more blending is tried."""


def design_profiles(
    graph: ProfileGraph,
    notion: Notion | object,
    *,
    utility: str | Utility | None = None,
    loss: Any = None,
    weights: Prior | Mapping[Any, Any] | None = None,
    method: str | None = None,
    bits: int = DEFAULT_BITS,
    **options: Any,
) -> Mechanism:
    """Design a mechanism that keeps joined profiles apart by no more than e^epsilon, and prove it.

    `notion` is ``ProfilePrivacy("1")`` or just the budget. The utility is an aim: ``minimax`` (the
    default), ``hamming``, ``absolute``, ``squared``, ``distortion`` with a `loss`, or
    ``mutual-information``; `weights` say how much each profile counts. Without a method it is
    ``smooth-categorical``.

    >>> graph = ProfileGraph.bernoulli(["0.8", "0.9"])
    >>> mechanism = design_profiles(graph, "0.5", method="cluster")
    >>> mechanism.certificate.guarantee, round(mechanism.origin.objective, 4)
    ('profile(budget=0.5)', 0.0489)
    """
    if not isinstance(graph, ProfileGraph):
        raise InputError(
            "not a graph of profiles",
            value=type(graph).__name__,
            remedy="make one, such as ProfileGraph.complete(...)",
        )
    asked: Notion = notion if hasattr(notion, "certify") else ProfilePrivacy(notion)  # type: ignore[assignment]
    goal = ProfileUtility.of(graph, utility, loss=loss, weights=weights)
    designs = designs_for("profiles")
    entry = find_design(next(iter(designs)) if method is None else method, designs)
    check_fits(entry, graph, asked)
    check_options(entry, options)
    _check_size(graph, entry)
    draft: Draft = entry.make(graph, asked, utility=goal, **options)
    locked, said = _locked(draft, asked, graph, entry, bits)
    blocks = blocks_of(locked.channel, graph)
    objective = goal.value(graph.laws, blocks)
    proved = draft.optimality
    nothing = goal.of_nothing(graph.laws)
    bound = gap = None
    if proved is not None and proved.utility == goal.name:
        bound = proved.reference - proved.bound if goal.larger_is_better else proved.bound
        apart = bound - objective if goal.larger_is_better else objective - bound
        gap = max(0.0, apart) / proved.reference if proved.reference > 0 else 0.0
    origin = Origin(
        entry.key,
        goal.name,
        objective,
        bound,
        gap,
        (*draft.remarks, *said, *_remarks(graph, locked)),
        goal.title,
        nothing,
        goal.of_truth(graph.laws),
        entry.kind,
    )
    return Mechanism(locked.channel, locked.certificate, graph, origin)


def _check_size(graph: ProfileGraph, entry: Design) -> None:
    """Refuse what would take hours, and what promises nothing."""
    if not graph.edges:
        raise InputError(
            "a graph without edges promises nothing",
            value=graph.describe(),
            remedy="join the profiles that must not be told apart",
        )
    matrices = len(graph) if entry.by_profile else 1
    cells = matrices * len(graph.inputs) ** 2
    if cells > MOST_CELLS:
        raise InputError(
            f"{matrices:,} matrices of {len(graph.inputs):,} x {len(graph.inputs):,} values",
            value=f"{cells:,} probabilities",
            remedy=f"merge values or profiles to have at most {MOST_CELLS:,}; is it the right "
            "column?",
        )


def _locked(
    draft: Draft, notion: Notion, graph: ProfileGraph, entry: Design, bits: int
) -> tuple[Locked, tuple[str, ...]]:
    """Lock a draft, with a little more blending than usual where that is what it takes."""
    impossible: Impossible = "ignore" if not uses_profile_of(draft, graph) else "refuse"
    for number, blend in enumerate(_BLENDS):
        try:
            locked = lock_channel(
                draft, notion, graph, bits=bits, most_blend=blend, impossible=impossible
            )
        except (NotCertified, UnprotectedInput):
            last = number + 1 == len(_BLENDS)
            if last or draft.faithful or not entry.keeps or bits < DEFAULT_BITS:
                raise
            continue
        if number:
            share = f"{float(locked.blend):.2g}"
            return locked, (f"blended with weight {share} to keep the budget once rounded",)
        return locked, ()
    raise AssertionError("one blend or the other was tried")


def uses_profile_of(draft: Draft, graph: ProfileGraph) -> bool:
    """Tell whether a draft has rows for each profile."""
    return draft.inputs.labels != graph.inputs.labels


def _remarks(graph: ProfileGraph, locked: Locked) -> tuple[str, ...]:
    """Say what a user should know that the numbers do not show."""
    said = []
    if graph.isolated:
        said.append(f"no edge, so no promise, for {_listed(graph.isolated)}")
    silent = [label for label in graph.inputs.labels if label not in locked.channel.outputs]
    if silent:
        said.append(f"never released: {_listed(silent)}")
    if graph.uses_profile(locked.channel.inputs):
        said.append("it uses the profile of each value: who releases must know it, and keep it")
    return tuple(said)


def _listed(labels: Sequence[Label]) -> str:
    names = ", ".join(str(label) for label in labels[:_LISTED])
    more = len(labels) - _LISTED
    return f"{names} and {more} more" if more > 0 else names
