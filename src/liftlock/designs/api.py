"""The friendly face of design: from a context and a notion to a certified mechanism."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, cast

from liftlock.alphabet import Alphabet
from liftlock.channel import Channel
from liftlock.contexts import AnyUserPrior, Context, Kind, PerUserPriors
from liftlock.designs.base import Draft, FormDraft, option_names
from liftlock.designs.catalogue import designs_for, find_design
from liftlock.designs.goal import AnyUtility, Goal, Weights, read_goal
from liftlock.designs.lock import lock as lock_channel
from liftlock.designs.lock import rounded
from liftlock.designs.per_user import design_users
from liftlock.designs.published import true_guarantee
from liftlock.designs.request import DesignRequest, read_notion
from liftlock.errors import InputError, LiftlockError, NotCertified, NotDefined
from liftlock.exact.weights import DEFAULT_BITS
from liftlock.forms import USER_CHANNELS, StructuredChannel
from liftlock.line.grid import DEFAULT_CELLS, LinePrior
from liftlock.mechanism import Mechanism
from liftlock.notions.base import Notion
from liftlock.notions.lift import Impossible
from liftlock.progress import Progress, Step
from liftlock.utility.utility import Utility


def design(
    context: Context | LinePrior | Alphabet | Sequence[Any],
    notion: Notion | object,
    *,
    utility: AnyUtility | None = None,
    loss: Any = None,
    weights: Weights = None,
    method: str | None = None,
    bits: int = DEFAULT_BITS,
    cells: int | None = None,
    spacing: str | None = None,
    **options: Any,
) -> Mechanism:
    """Design a mechanism for a context, prove it, and say how good it is.

    Inputs that cannot occur are left out, and a remark says so. What the method proposes is locked:
    rounded to integers and audited exactly, so a mechanism that is returned keeps the notion.

    Without a method it is the optimum, where one is known for the notion, else the best of all
    that fit. Without a utility it is mutual information, for a prior on the line the squared
    error, for a graph of profiles the largest chance of any one wrong value. A prior on the line
    is cut into `cells` (512) of equal mass, or equal width if `spacing` is ``width``.

    For a graph of profiles the notion may be just a budget; `weights` say how much each profile
    counts, and `loss` is the matrix of the utility ``distortion``.

    For users with a prior each, the context is `PerUserPriors`, or the labels alone: the law is the
    same for all, by ``arc`` or ``safe-response``, and no prior is stored. Where users have budgets
    of their own (those of the priors, or `budgets`) there is a law for each.

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.contexts import Prior
    >>> prior = Prior.from_counts({"none": 700, "cold": 200, "flu": 100})
    >>> mechanism = design(prior, LIP("1"), utility="histogram", method="safe-response")
    >>> mechanism.certificate.holds, round(mechanism.origin.objective, 4)
    (True, 0.4432)
    >>> from liftlock.contexts import ProfileGraph
    >>> flip = design(ProfileGraph.bernoulli(["0.8", "0.9"]), "0.5", method="cluster")
    >>> flip.certificate.guarantee, round(flip.origin.objective, 4)
    ('profile(budget=0.5)', 0.0489)
    """
    context = cut(read_context(context, method), cells, spacing)
    if isinstance(context, PerUserPriors | AnyUserPrior):
        return design_users(context, notion, utility=utility, method=method, **options)
    asked = read_notion(notion, context.kind)
    aim: dict[str, Any] = {"utility": utility, "loss": loss, "weights": weights}
    method = usual_method(asked, context.kind) if method is None else method
    if method is None:
        return best(context, asked, **aim, bits=bits, **options)
    request = DesignRequest.of(find_design(method), context, asked, options, **aim)
    draft = request.draft() if request.room else request.constant()
    return request.lock(draft, bits)


def lock(
    draft: Draft | Channel | FormDraft | StructuredChannel,
    notion: Notion,
    context: Context,
    *,
    bits: int = DEFAULT_BITS,
    impossible: Impossible = "refuse",
) -> Mechanism:
    """Turn a draft into a certified mechanism, or refuse it with the witness and a remedy."""
    locked = lock_channel(draft, notion, context, bits=bits, impossible=impossible)
    return Mechanism(locked.channel, locked.certificate, context)


def best(
    context: Context | LinePrior,
    notion: Notion | object,
    *,
    utility: AnyUtility | None = None,
    loss: Any = None,
    weights: Weights = None,
    bits: int = DEFAULT_BITS,
    cells: int | None = None,
    spacing: str | None = None,
    watch: Progress | None = None,
    **options: Any,
) -> Mechanism:
    """Make every mechanism that fits, and return the best of those that could be certified.

    Options go to those methods that take them. A remark says how the others did. A mechanism that
    keeps epsilon outright keeps it with any delta, so where a delta is allowed the optimum without
    one is tried as well. `outage`, which gives the value itself away now and then, has to be named.

    >>> from liftlock.notions.approximate import ApproximateLIP
    >>> from liftlock.contexts import Prior
    >>> prior = Prior.from_counts({"none": 700, "cold": 200, "flu": 100})
    >>> best(prior, ApproximateLIP("1", "0.05")).certificate.guarantee
    'lip_ediv(epsilon=1, delta=0.05)'
    """
    context = cut(context, cells, spacing)
    if isinstance(context, PerUserPriors | AnyUserPrior):
        return design_users(context, notion, utility=utility, **options)
    notion = read_notion(notion, context.kind)
    pure = None if notion.delta_limit() is None else notion.without_delta
    of_kind = designs_for(context.kind)
    entries = [
        entry
        for entry in of_kind.values()
        if entry.keeps
        and not entry.on_request
        and entry.fits(context)
        and (notion.name in entry.notions or (pure is not None and entry.key == "optimal"))
    ]
    known = {name for entry in entries for name in option_names(entry)}
    for name in options:
        if name not in known:
            raise InputError(
                "no method that fits has an option of this name",
                value=name,
                remedy=f"they take {', '.join(sorted(known)) or 'none'}",
            )
    found: list[Mechanism] = []
    refused: list[LiftlockError] = []
    for entry in entries:
        if watch is not None:
            watch(Step(f"trying {entry.key}"))
        chosen = {name: value for name, value in options.items() if entry.accepts(name)}
        asked = notion if notion.name in entry.notions or pure is None else pure
        try:
            made = design(
                context,
                asked,
                utility=utility,
                loss=loss,
                weights=weights,
                method=entry.key,
                bits=bits,
                **chosen,
            )
            found.append(made if asked is notion else _relaxed(made, notion))
        except LiftlockError as error:
            refused.append(error)
    if not found:
        if refused:
            raise refused[0]
        raise NotDefined(
            "designing",
            f"the notion {notion.name} for {context.describe()}",
            f"design for {', '.join(next(iter(of_kind.values())).notions)}",
        )
    goal = read_goal(context, utility, loss=loss, weights=weights)
    return best_of(found, goal, "that could be certified")


def best_of(found: Iterable[Mechanism], goal: Goal, which: str) -> Mechanism:
    """Return the mechanism that is best for a goal; a remark says how the others did."""
    made = [(each, each.origin) for each in found if each.origin is not None]
    made.sort(key=lambda pair: pair[1].objective, reverse=goal.utility.larger_is_better)
    (chosen, origin), *others = made
    if not others:
        return chosen
    told = ", ".join(f"{other.method} {other.objective:.6g}" for _, other in others)
    said = f"the best of {len(made)} {which}; others: {told}"
    return replace(chosen, origin=replace(origin, remarks=(*origin.remarks, said)))


def _relaxed(made: Mechanism, notion: Notion) -> Mechanism:
    """Certify a mechanism for a weaker notion than it was designed for."""
    certificate = notion.certify(made.channel, made.context)
    if not certificate.holds or made.origin is None:
        raise NotCertified(certificate, notion.smallest(made.channel, made.context))
    said = f"it keeps {made.notion} as well: delta is not used"
    # The bound is that of the stronger notion; a mechanism that uses delta might be better.
    origin = replace(
        made.origin, bound=None, gap=None, warning="", remarks=(*made.origin.remarks, said)
    )
    return replace(made, certificate=certificate, origin=origin)


def read_context(context: object, method: str | None) -> Context | LinePrior:
    """Return the context that is meant: labels alone stand for any priors of users.

    An alphabet is enough; a list of labels needs a method for users with a prior each.
    """
    if isinstance(context, Alphabet):
        return AnyUserPrior(context)
    if isinstance(context, Sequence) and method in USER_CHANNELS:
        return AnyUserPrior(Alphabet.of(context))
    return cast("Context | LinePrior", context)


def cut(
    context: Context | LinePrior, cells: int | None = None, spacing: str | None = None
) -> Context:
    """Cut a prior on the line into cells; any other context is already finite."""
    if isinstance(context, LinePrior):
        return context.grid(
            DEFAULT_CELLS if cells is None else cells, "mass" if spacing is None else spacing
        )
    if not hasattr(context, "kind"):
        raise InputError(
            "not a prior, a joint, a set of priors or a graph of profiles",
            value=type(context).__name__,
            remedy="make one, such as Prior.from_counts(...), line.from_data(...), line.from_scipy",
        )
    refuse_cells(context, cells, spacing)
    return context


def refuse_cells(context: Context, cells: int | None, spacing: str | None) -> None:
    """Refuse to cut what is already finite."""
    if cells is not None or spacing is not None:
        raise InputError(
            "only a prior on the line is cut into cells",
            value=context.describe(),
            remedy="leave out cells and spacing",
        )


def usual_method(notion: Notion, kind: Kind = "prior") -> str | None:
    """Return the method that is meant when none is named; None is the best of all that fit."""
    first = next(iter(designs_for(kind).values()))
    return first.key if notion.name in first.notions else None


def design_as_published(
    context: Context | LinePrior,
    notion: Notion,
    *,
    utility: str | Utility | None = None,
    method: str,
    bits: int = DEFAULT_BITS,
    cells: int | None = None,
    spacing: str | None = None,
    **options: Any,
) -> Mechanism:
    """Make a mechanism exactly as a method proposes it, certified for what it truly guarantees.

    Some published formulas leak more than the budget they were published for. The certificate of
    the result names the smallest asymmetric budgets that its integers do keep (for LDP the smallest
    LDP budget), rounded up in the tenth decimal; a remark says what was asked for.

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.contexts import Prior
    >>> prior = Prior.from_counts({"none": 700, "cold": 200, "flu": 100})
    >>> design_as_published(prior, LIP("1"), method="safe-response").certificate.guarantee
    'alip(lower=0.2118577304, upper=1.0000000001)'
    """
    context = cut(context, cells, spacing)
    if context.kind == "profiles":
        raise NotDefined(
            "designing as published", context.describe(), "every method for profiles keeps its word"
        )
    asked = read_notion(notion, context.kind)
    if find_design(method).accepts("as_published"):
        options = {"as_published": True} | options
    request = DesignRequest.of(find_design(method), context, asked, options, utility=utility)
    draft = request.draft()
    true, remark = true_guarantee(rounded(draft, bits=bits), asked, request.whole)
    locked = lock_channel(draft, true, request.whole, bits=bits)
    return request.mechanism(replace(draft, remarks=(*draft.remarks, remark)), locked)
