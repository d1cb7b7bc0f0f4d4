"""Outage: a plain use of a delta. Now and then the value itself, else the best without it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from liftlock._runtime.progress import Progress
from liftlock._solver.outputs import required_blend
from liftlock._solver.problem import Problem
from liftlock.designs.base import Design, Draft
from liftlock.designs.mechanisms.optimal import GAP, LIMITS_OF_SEARCH, optimal
from liftlock.designs.mechanisms.prior_free import k_rr
from liftlock.designs.output_values import label_by_value
from liftlock.errors import InputError, NotDefined
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot
from liftlock.model import Context, Prior
from liftlock.model.alphabet import Alphabet
from liftlock.model.continuous.grid import GridPrior, number_labels
from liftlock.model.provenance import gap_text
from liftlock.notions.base import DeltaLimit, Notion
from liftlock.utility.base import Utility
from liftlock.utility.mean import points_of, posterior_means
from liftlock.utility.symmetric import MutualInformation

_FEW = 12
"""Largest alphabet for which the LDP optimum is quick."""

_UNIT = 2.0**-50
"""What rounding one output to an integer of 52 bits may add to a delta, with room to spare."""


def outage(
    context: Context,
    notion: Notion,
    *,
    utility: Utility | None = None,
    gap: float = GAP,
    seconds: float | None = None,
    watch: Progress | None = None,
) -> Draft:
    """Release the value itself with probability d, else an output of the best pure mechanism.

    The value goes out on outputs of its own, that nobody else gives. If x is true, its own output
    exceeds E P(y) by d (1 - E P_x) at most, and the others, which x never gives, sum to
    d (1 - P_x); the pure part adds nothing. So the largest d is

        ediv, def5: delta / (1 - P_min),   joint: delta / max P (1 - P),   LDP: delta.

    Every cost is then d times that of the truth plus 1 - d times that of the pure part: the gain is
    a share d of what is left to gain. It is not the best that a delta allows.

    Source: math the truth with probability delta; 000 Def 5, Cor 9; 003 Def 4.

    >>> from liftlock.notions.approximate import ApproximateLIP
    >>> rare = Prior.from_probabilities({"a": "0.1", "b": "0.2", "c": "0.7"})
    >>> outage(rare, ApproximateLIP("1", "0.09")).matrix[:, -3:].diagonal().round(6).tolist()
    [0.1, 0.1, 0.1]
    """
    allowed = notion.delta_limit()
    if allowed is None:
        raise NotDefined(
            f"the method {DESIGN.key}",
            f"the notion {notion.name}",
            "it needs a notion with a delta",
        )
    if not isinstance(context, Prior):
        raise NotDefined(f"the method {DESIGN.key}", context.describe(), "it needs a prior")
    goal = utility if utility is not None else MutualInformation()
    options: dict[str, Any] = {"gap": gap, "seconds": seconds, "watch": watch}
    if truth_share(context.floats(), allowed, 2 * len(context.inputs)) >= 1.0:
        return _bare(context)
    pure, said = _pure(context, notion, goal, options)
    if isinstance(context, GridPrior):
        pure = label_by_value(pure, context, goal)
    problem = Problem.of(context, notion.without_delta)
    outputs = pure.matrix.shape[1] + len(problem.masses)
    share = truth_share(problem.masses, allowed, outputs)
    # The integers of the pure part must keep its limits by themselves, also when they are rare.
    blend = min(
        1.01 * float(required_blend(problem, pure.matrix).max()) / max(1.0 - share, 1e-9), 1.0
    )
    quiet = (1.0 - blend) * pure.matrix + blend * (dot(problem.masses, pure.matrix))
    matrix = np.hstack([(1.0 - share) * quiet, share * np.eye(len(problem.masses))])
    names = _name_outputs(context, pure)
    used = matrix.max(axis=0) > 0
    return Draft.of(
        problem.inputs,
        names.subset(int(y) for y in np.flatnonzero(used)),
        matrix[:, used],
        remarks=[
            f"with probability {share:.6g} the value itself is released, and known to be it",
            f"otherwise {said}",
            *pure.remarks,
        ],
    )


def _bare(prior: Prior) -> Draft:
    """Release the value itself, always, where the delta allows that."""
    nothing = Draft.of(prior.inputs, ["nothing"], np.ones((len(prior.inputs), 1)))
    names = _name_outputs(prior, nothing)
    return Draft.of(
        prior.inputs,
        names.subset(range(1, len(names))),
        np.eye(len(prior.inputs)),
        remarks=["this delta protects nothing: it allows the value itself to be released, always"],
    )


def truth_share(masses: Floats, allowed: DeltaLimit, outputs: int) -> float:
    """Return the largest probability with which the value itself may be released.

    >>> from liftlock.notions.approximate import ApproximateLIP
    >>> two = np.array([0.25, 0.75])
    >>> round(truth_share(two, ApproximateLIP("1", "0.03").delta_limit(), 4), 9)
    0.04
    >>> round(truth_share(two, ApproximateLIP("1", "0.03", "joint").delta_limit(), 4), 9)
    0.16
    """
    ratio = float(allowed.epsilon.exp())
    spare = float(allowed.delta) - _UNIT * outputs * (1.0 + min(ratio, 1.0 / _UNIT))
    if allowed.form == "ldp":
        worst = 1.0
    elif allowed.form == "joint":
        worst = float((masses * (1.0 - masses)).max())
    else:
        worst = 1.0 - float(masses.min())
    # One symbol alone has nothing to hide.
    return 1.0 if worst <= 0 or spare >= worst else max(spare, 0.0) / worst


def _pure(
    prior: Prior, notion: Notion, goal: Utility, options: dict[str, Any]
) -> tuple[Draft, str]:
    """Return the mechanism that speaks when the value itself is not released, and its name."""
    budget = notion.without_delta
    if budget.ratio_limit is None or len(prior.inputs) <= _FEW or goal.numeric:
        found = optimal(prior, budget, utility=goal, **options)
        proof = found.optimality
        near = "" if proof is None else f", proved within {gap_text(proof.gap)}"
        return found, f"the optimum without a delta speaks{near}"
    return k_rr(prior, budget), "k-ary response without a delta speaks"


def _name_outputs(prior: Prior, pure: Draft) -> Alphabet:
    """Name the outputs of the pure part as they are, and those of the truth so that it shows."""
    exactly = [f"exactly {label}" for label in prior.inputs.labels]
    names = [*pure.outputs.labels, *exactly]
    try:
        points = points_of(prior.inputs, DESIGN.key)
    except InputError:
        return Alphabet.of(names)
    if pure.outputs.coordinates is not None:
        spoken = list(pure.outputs.coordinates)
    else:
        means = posterior_means(pure.matrix, prior.floats(), points).tolist()
        spoken = number_labels(means, 1e-3 * float(np.ptp(points)))[1]
    truth = prior.inputs.coordinates or [Fraction(str(float(point))) for point in points]
    return Alphabet.of(names, [*spoken, *truth])


DESIGN = Design(
    key="outage",
    make=outage,
    summary="with a probability of about delta the value itself, else the best without a delta",
    promises="as much as delta allows of the plain truth; costs fall by that share and no more",
    source="derived for liftlock; 000 Def 5, Cor 9; 003 Def 4",
    notions=("lip_ediv", "lip_def5", "lip_joint", "ldp_delta"),
    contexts=("prior",),
    uses_utility=True,
    face_value=True,
    on_request=True,
    options=LIMITS_OF_SEARCH,
)
