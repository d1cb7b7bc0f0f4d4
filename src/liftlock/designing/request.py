"""A request for a design: from what was asked for to a locked mechanism, for every context."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, cast

from liftlock.context import Context, Kind
from liftlock.designs.base import Design, Draft, FormDraft
from liftlock.designs.lock import MOST_BLEND, Locked, LockedForm
from liftlock.designs.lock import lock as lock_channel
from liftlock.errors import (
    InputError,
    NotCertified,
    UnprotectedInput,
)
from liftlock.exact.weights import DEFAULT_BITS
from liftlock.line.grid import GridPrior
from liftlock.mechanism import Mechanism
from liftlock.notions.base import Notion
from liftlock.notions.lift import Impossible
from liftlock.notions.profile import ProfilePrivacy
from liftlock.prior import Prior
from liftlock.profile_graph import ProfileGraph
from liftlock.utility.profile_utility import ProfileUtility
from liftlock.utility.registry import make_utility
from liftlock.utility.utility import (
    Utility,
)

AnyUtility = str | Utility | ProfileUtility
Weights = Prior | Mapping[Any, Any] | None
"""How much each profile of a graph counts; all alike if None."""

MORE_BLEND = Fraction(1, 256)
"""How much of the mean row may be mixed in where the usual share is not enough."""


def read_notion(notion: Notion | object, kind: Kind) -> Notion:
    """Return a notion; a bare budget says what it bounds only for profiles, which have one.

    >>> str(read_notion("0.5", "profiles"))
    'profile(0.5)'
    """
    if hasattr(notion, "certify"):
        return cast("Notion", notion)
    if kind == "profiles":
        return ProfilePrivacy(notion)
    raise InputError("not a notion of privacy", value=notion, remedy='give one such as LIP("1")')


def usual_goal(context: Context) -> str:
    """Return the utility that is meant when none is named: the squared error for numbers."""
    if context.kind == "profiles":
        return "minimax"
    return "mean" if isinstance(context, GridPrior) else "mutual-information"


def read_utility(
    context: Context,
    utility: AnyUtility | None = None,
    *,
    loss: Any = None,
    weights: Weights = None,
) -> Utility | ProfileUtility:
    """Make the utility that is meant, for the inputs of a context."""
    if isinstance(context, ProfileGraph):
        return ProfileUtility.of(context, utility, loss=loss, weights=weights)
    return make_utility(utility_of_prior(context, utility, loss, weights), context.inputs)


def utility_of_prior(
    context: Context, utility: AnyUtility | None, loss: Any, weights: Weights
) -> str | Utility:
    """Return the utility that is meant; one of profiles is refused."""
    for name, given in (("loss", loss), ("weights", weights)):
        if given is not None:
            raise InputError(
                f"{name} without a graph of profiles",
                value=context.describe(),
                remedy="give a utility, such as Distortion.of(...), or leave it out",
            )
    if isinstance(utility, ProfileUtility):
        raise InputError(
            "a utility of profiles", value=context.describe(), remedy="give another utility"
        )
    return usual_goal(context) if utility is None else utility


@dataclass(frozen=True, kw_only=True)
class DesignRequest(ABC):
    """What was asked for, read and checked: one way for every context from there to a mechanism."""

    entry: Design
    notion: Notion
    whole: Context
    """What the guarantee is proved for: for LDP with every input, also those that never occur."""
    options: Mapping[str, Any]

    @property
    def nothing_allowed(self) -> bool:
        """Whether the budget is 0, so that only the constant mechanism is left."""
        return False

    @abstractmethod
    def constant(self) -> Draft:
        """Return the mechanism that says nothing."""

    @abstractmethod
    def draft(self) -> Draft | FormDraft:
        """Ask the design."""

    @property
    @abstractmethod
    def more_blends(self) -> tuple[Fraction, ...]:
        """How much blending is tried where the usual is not enough.

        The units of a table may be coarse for so small a budget, or for so rare an output.
        """

    def impossible(self, draft: Draft | FormDraft) -> Impossible:  # noqa: ARG002
        """Whether inputs that cannot occur, and that nothing protects, are refused or listed."""
        return "refuse"

    def refused(
        self,
        draft: Draft | FormDraft,  # noqa: ARG002
        refusal: NotCertified | UnprotectedInput,
        bits: int,  # noqa: ARG002
    ) -> NotCertified | UnprotectedInput:
        """Return the error for a draft that is not to be softened."""
        return refusal

    def lock(self, draft: Draft | FormDraft, bits: int) -> Mechanism:
        """Round and certify a draft, with more blending than usual where that is what it takes."""
        softens = (
            self.entry.keeps
            and not self.options.get("as_published")
            and isinstance(draft, Draft)
            and not draft.faithful
        )
        blends = (MOST_BLEND, *self.more_blends)
        for blend in blends:
            try:
                locked: Locked | LockedForm = lock_channel(
                    draft,
                    self.notion,
                    self.whole,
                    bits=bits,
                    most_blend=blend,
                    impossible=self.impossible(draft),
                )
            except (NotCertified, UnprotectedInput) as refusal:
                if not softens:
                    raise self.refused(draft, refusal, bits) from None
                if bits < DEFAULT_BITS and isinstance(refusal, NotCertified):
                    few = f"{refusal.smallest}, of this very table; or round less, with more bits"
                    raise NotCertified(refusal.certificate, few) from None
                if blend is blends[-1]:
                    raise
                continue
            if blend is not MOST_BLEND:
                share = f"{float(locked.blend):.2g}"
                said = f"blended with weight {share} to keep the budget once rounded"
                draft = replace(draft, remarks=(*draft.remarks, said))
            return self.mechanism(draft, locked)
        raise AssertionError("one blend or the other was tried")

    @abstractmethod
    def mechanism(self, draft: Draft | FormDraft, locked: Locked | LockedForm) -> Mechanism:
        """Put the locked channel together with what is to be said of it."""
