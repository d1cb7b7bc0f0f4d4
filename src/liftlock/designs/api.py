"""The friendly face of design: from a context and a notion to a certified mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from liftlock.alphabet import Alphabet
from liftlock.channel import Channel
from liftlock.contexts import AnyUserPrior, Context, Kind, PerUserPriors
from liftlock.designs.base import Draft, FormDraft
from liftlock.designs.best_design import best
from liftlock.designs.catalogue import designs_for
from liftlock.designs.goal import AnyUtility, Weights
from liftlock.designs.lock import lock as lock_channel
from liftlock.designs.lock import rounded
from liftlock.designs.own import AnyMethod, read_method
from liftlock.designs.per_user import design_users
from liftlock.designs.published import true_guarantee
from liftlock.designs.request import DesignRequest, cut, read_context, read_notion
from liftlock.errors import NotDefined
from liftlock.exact.weights import DEFAULT_BITS
from liftlock.forms import StructuredChannel
from liftlock.line.grid import LinePrior
from liftlock.mechanism import Mechanism
from liftlock.notions.base import Notion
from liftlock.notions.lift import Impossible
from liftlock.utility.utility import Utility


def design(
    context: Context | LinePrior | Alphabet | Sequence[Any],
    notion: Notion | object,
    *,
    utility: AnyUtility | None = None,
    loss: Any = None,
    weights: Weights = None,
    method: AnyMethod | None = None,
    bits: int = DEFAULT_BITS,
    cells: int | None = None,
    spacing: str | None = None,
    **options: Any,
) -> Mechanism:
    """Design a mechanism for a context, prove it, and say how good it is.

    Inputs that cannot occur are left out, and a remark says so. What the method proposes is locked:
    rounded to integers and audited exactly, so a mechanism that is returned keeps the notion.

    Without a method it is the optimum, where one is known for the notion, else the best of all that
    fit. A method may be a `Design` or a function of your own, of (context, notion), that returns a
    draft or its rows; options go to it. Without a utility it is mutual information, for a prior on
    the line the squared error, for a graph of profiles the largest chance of any one wrong value. A
    prior on the line is cut into `cells` (512) of equal mass, or equal width if `spacing` is
    ``width``.

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
    entry = read_method(method, context, asked, options)
    return DesignRequest.of(entry, context, asked, options, **aim).make(bits)


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


def usual_method(notion: Notion, kind: Kind = "prior") -> str | None:
    """Return the method that is meant when none is named; None is the best of all that fit."""
    first = next(iter(designs_for(kind).values()))
    return first.key if notion.name in first.notions else None


def design_as_published(
    context: Context | LinePrior,
    notion: Notion,
    *,
    utility: str | Utility | None = None,
    method: AnyMethod,
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
    entry = read_method(method, context, asked, options)
    if entry.accepts("as_published"):
        options = {"as_published": True} | options
    request = DesignRequest.of(entry, context, asked, options, utility=utility)
    draft = request.draft()
    true, remark = true_guarantee(rounded(draft, bits=bits), asked, request.whole)
    locked = lock_channel(draft, true, request.whole, bits=bits)
    return request.mechanism(replace(draft, remarks=(*draft.remarks, remark)), locked)
