"""Requests for a graph of profiles, and what is said of their mechanisms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from liftlock.alphabet import Label
from liftlock.channel import Table
from liftlock.designing.request import MORE_BLEND, DesignRequest
from liftlock.designs.base import Design, Draft, FormDraft, Origin, check_matrices
from liftlock.designs.lock import Locked, LockedForm
from liftlock.errors import (
    InputError,
)
from liftlock.mechanism import Mechanism
from liftlock.notions.base import Notion
from liftlock.notions.lift import Impossible
from liftlock.profile_graph import ProfileGraph
from liftlock.utility.profile_utility import ProfileUtility, blocks_of

_LISTED = 5


@dataclass(frozen=True, kw_only=True)
class ProfileRequest(DesignRequest):
    """A request for a graph of profiles."""

    graph: ProfileGraph
    goal: ProfileUtility

    @classmethod
    def of(
        cls,
        entry: Design,
        graph: ProfileGraph,
        notion: Notion,
        goal: ProfileUtility,
        options: Mapping[str, Any],
    ) -> ProfileRequest:
        """Refuse what would take hours, and what promises nothing."""
        if not graph.edges:
            raise InputError(
                "a graph without edges promises nothing",
                value=graph.describe(),
                remedy="join the profiles that must not be told apart",
            )
        check_matrices(entry, graph)
        return cls(entry=entry, notion=notion, whole=graph, options=options, graph=graph, goal=goal)

    def constant(self) -> Draft:
        """Ask the design: what it makes of a budget of 0 depends on the parts of the graph."""
        return self.draft()

    def draft(self) -> Draft:
        """Ask the design."""
        made: Draft = self.entry.make(self.graph, self.notion, utility=self.goal, **self.options)
        return made

    @property
    def more_blends(self) -> tuple[Fraction, ...]:
        """Tables may be too coarse for a tiny budget or a rare output."""
        return MORE_BLEND, Fraction(1)

    def impossible(self, draft: Draft | FormDraft) -> Impossible:
        """List values that a profile calls impossible if all profiles share one matrix."""
        shared = isinstance(draft, Draft) and draft.inputs.labels == self.graph.inputs.labels
        return "ignore" if shared else "refuse"

    def mechanism(self, draft: Draft | FormDraft, locked: Locked | LockedForm) -> Mechanism:
        """Measure the locked table on the graph."""
        assert isinstance(locked, Locked)
        graph, goal = self.graph, self.goal
        objective = goal.value(graph.laws, blocks_of(locked.channel, graph))
        proved = draft.optimality
        bound = gap = None
        if proved is not None and proved.utility == goal.name:
            bound = proved.reference - proved.bound if goal.larger_is_better else proved.bound
            apart = bound - objective if goal.larger_is_better else objective - bound
            gap = max(0.0, apart) / proved.reference if proved.reference > 0 else 0.0
        origin = Origin(
            self.entry.key,
            goal.name,
            objective,
            bound,
            gap,
            (*draft.remarks, *self._remarks(locked.channel)),
            title=goal.title,
            nothing=goal.of_nothing(graph.laws),
            truth=goal.of_truth(graph.laws),
            kind=self.entry.kind,
        )
        return Mechanism(locked.channel, locked.certificate, graph, origin)

    def _remarks(self, channel: Table) -> list[str]:
        """Say what a user should know that the numbers do not show."""
        said = []
        if self.graph.isolated:
            said.append(f"no edge, so no promise, for {_listed(self.graph.isolated)}")
        silent = [label for label in self.graph.inputs.labels if label not in channel.outputs]
        if silent:
            said.append(f"never released: {_listed(silent)}")
        if self.graph.uses_profile(channel.inputs):
            said.append("it uses the profile of each value: who releases must know it, and keep it")
        return said


def _listed(labels: Sequence[Label]) -> str:
    names = ", ".join(str(label) for label in labels[:_LISTED])
    more = len(labels) - _LISTED
    return f"{names} and {more} more" if more > 0 else names
