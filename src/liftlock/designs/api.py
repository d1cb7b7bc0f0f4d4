"""The verbs of design: from a context and a notion to a certified mechanism, or the best of all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from liftlock._runtime.progress import Progress, Step
from liftlock.designs.base import (
    Design,
    Draft,
    StructuredDraft,
    as_given,
    check_fits,
    option_names,
)
from liftlock.designs.catalogue import check_published, designs_for
from liftlock.designs.given import design_given
from liftlock.designs.goal import AnyUtility, Goal, Weights, read_goal
from liftlock.designs.lock import lock as lock_channel
from liftlock.designs.lock import round_draft
from liftlock.designs.own import AnyMethod, read_method
from liftlock.designs.request import (
    DesignRequest,
    discretise,
    read_context,
    read_guarantees,
    read_notion,
    true_guarantee,
)
from liftlock.errors import InputError, LiftlockError, NotCertified, NotDefined
from liftlock.exact.rounding import DEFAULT_BITS
from liftlock.mechanism import Mechanism, lock_users
from liftlock.model import AnyUserPrior, Conditional, Context, Kind, PerUserPriors
from liftlock.model.alphabet import Alphabet
from liftlock.model.channel import Channel
from liftlock.model.continuous.grid import ContinuousPrior
from liftlock.model.structured import USER_CHANNELS, StructuredChannel
from liftlock.notions.base import Notion
from liftlock.notions.guarantee import Wanted
from liftlock.notions.lift import Impossible
from liftlock.utility.base import Utility


def design(
    context: Context | ContinuousPrior | Alphabet | Sequence[Any],
    notion: Notion | object | Sequence[Notion | object],
    *,
    utility: AnyUtility | None = None,
    loss: Any = None,
    weights: Weights = None,
    method: AnyMethod | None = None,
    bits: int = DEFAULT_BITS,
    bins: int | None = None,
    spacing: str | None = None,
    blind: bool = False,
    **options: Any,
) -> Mechanism:
    """Design a mechanism for a context, prove it, and say how good it is.

    Inputs that cannot occur are left out, and a remark says so. What the method proposes is locked:
    rounded to integers and audited exactly, so a mechanism that is returned keeps the notion.

    Without a method it is the optimum, where one is known for the notion, else the best of all that
    fit. A method may be a `Design` or a function of your own, of (context, notion), that returns a
    draft or its rows; options go to it. Without a utility it is mutual information, for a prior on
    the line the squared error, for a graph of profiles the largest chance of any one wrong value. A
    continuous prior is cut into `bins` (512) of equal mass, or equal width if `spacing` is
    ``width``.

    Instead of a notion there may be a list of guarantees, all of which the mechanism keeps: a
    notion about the context itself, and pairs of a notion and another context, such as the joint of
    another secret with the same inputs, or the prior of the inputs for a limit of what is told of
    the value itself. Each is proved, and the optimum is that of all of them.

    For a graph of profiles the notion may be just a budget; `weights` say how much each profile
    counts, and `loss` is the matrix of the utility ``distortion``.

    For users with a prior each, the context is `PerUserPriors`, or the labels alone: the
    distribution is the same for all, by ``arc`` or ``safe-response``, and no prior is stored. Where
    users have budgets of their own (those of the priors, or `budgets`) there is a distribution for
    each.

    For a `Conditional` each given value has a table of its own, and the guarantee holds for each.
    Whether it holds for whoever does not see that value is proved too, or said; with `blind` it
    must.

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.model import Prior
    >>> prior = Prior.from_counts({"none": 700, "cold": 200, "flu": 100})
    >>> mechanism = design(prior, LIP("1"), utility="histogram", method="safe-response")
    >>> mechanism.certificate.holds, round(mechanism.origin.objective, 4)
    (True, 0.4432)
    >>> from liftlock.model import ProfileGraph
    >>> flip = design(ProfileGraph.bernoulli(["0.8", "0.9"]), "0.5", method="cluster")
    >>> flip.certificate.guarantee, round(flip.origin.objective, 4)
    ('profile(budget=0.5)', 0.0489)
    >>> from liftlock import Joint, LDP
    >>> joint = Joint.from_counts({"s": {"a": 3, "b": 1, "c": 2}, "t": {"a": 1, "b": 3, "c": 2}})
    >>> both = design(joint, [LIP("0.3"), (LDP("2"), joint.prior)])
    >>> [each.certificate.guarantee for each in both.guarantees]
    ['lip(epsilon=0.3)', 'ldp(budget=2)']
    """
    context = discretise(read_context(context, method), bins, spacing)
    if isinstance(context, PerUserPriors | AnyUserPrior):
        return design_users(context, notion, utility=utility, method=method, **options)
    asked, also = read_asked(notion, context)
    aim: dict[str, Any] = {"utility": utility, "loss": loss, "weights": weights}
    if isinstance(context, Conditional):
        read_goal(context, **aim)
        how = {"utility": utility, "bits": bits} | options
        return design_given(
            context,
            asked,
            lambda known, wanted, more: design(
                known, [wanted, *more], method=None if wanted is not asked else method, **how
            ),
            also=also,
            utility=utility,
            blind=blind,
            bits=bits,
        )
    if blind:
        raise _not_given(context)
    method = usual_method(asked, context.kind) if method is None else method
    if method is None:
        return best(context, notion, **aim, bits=bits, **options)
    entry = read_method(method, context, asked, options)
    return DesignRequest.of(entry, context, asked, options, also, **aim).make(bits)


def read_asked(notion: object, context: Context) -> tuple[Notion, tuple[Wanted, ...]]:
    """Return the guarantee about a context that is asked for, and those that are besides."""
    if isinstance(notion, list | tuple):
        return read_guarantees(context, notion)
    return read_notion(notion, context.kind), ()


def _not_given(context: Context) -> InputError:
    return InputError(
        "no given value that observers might not see",
        value=context.describe(),
        remedy="leave out blind, or give a Conditional",
    )


def lock(
    draft: Draft | Channel | StructuredDraft | StructuredChannel,
    notion: Notion | Sequence[object],
    context: Context,
    *,
    bits: int = DEFAULT_BITS,
    impossible: Impossible = "refuse",
) -> Mechanism:
    """Turn a draft into a certified mechanism, or refuse it with the witness and a remedy.

    Instead of a notion there may be a list of guarantees, as for `design`.
    """
    asked, also = read_asked(notion, context)
    locked = lock_channel(draft, asked, context, bits=bits, impossible=impossible, also=also)
    return Mechanism(locked.channel, locked.certificate, context, also=locked.also)


def usual_method(notion: Notion, kind: Kind = "prior") -> str | None:
    """Return the method that is meant when none is named; None is the best of all that fit."""
    first = next(iter(designs_for(kind).values()))
    return first.key if notion.name in first.notions else None


def design_as_published(
    context: Context | ContinuousPrior,
    notion: Notion,
    *,
    utility: str | Utility | None = None,
    method: AnyMethod,
    bits: int = DEFAULT_BITS,
    bins: int | None = None,
    spacing: str | None = None,
    **options: Any,
) -> Mechanism:
    """Make a mechanism exactly as a paper prints it, certified for what it truly guarantees.

    Some published formulas leak more than the budget they were published for. The certificate of
    the result names the smallest asymmetric budgets that its integers do keep (for LDP the smallest
    LDP budget), rounded up in the tenth decimal; a remark says what was asked for. A method that no
    paper prints for this notion is refused; a function of your own, and noise of a scale that you
    give, are made as they are given.

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.model import Prior
    >>> prior = Prior.from_counts({"none": 700, "cold": 200, "flu": 100})
    >>> design_as_published(prior, LIP("1"), method="response").certificate.guarantee
    'alip(lower=1.0000000001, upper=1.9004770979)'
    """
    context = discretise(context, bins, spacing)
    if context.kind == "profiles":
        raise NotDefined(
            "designing as published", context.describe(), "every method for profiles keeps its word"
        )
    asked = read_notion(notion, context.kind)
    entry = read_method(method, context, asked, options)
    own = not isinstance(method, str | Design)
    if entry.accepts("as_published"):
        options = {"as_published": True} | options
    elif not own:
        check_fits(entry, context, asked)
        check_published(entry, asked, options)
    request = DesignRequest.of(entry, context, asked, options, utility=utility)
    draft = request.draft()
    true, said = true_guarantee(round_draft(draft, bits=bits), asked, request.whole)
    locked = lock_channel(draft, true, request.whole, bits=bits)
    remark = f"as {'given' if own or as_given(options) else 'published'}: {said}"
    return request.mechanism(replace(draft, remarks=(*draft.remarks, remark)), locked)


def design_users(
    context: PerUserPriors | AnyUserPrior,
    notion: Notion | object,
    *,
    utility: AnyUtility | None = None,
    method: object = None,
    budgets: Sequence[Any] | None = None,
    **options: Any,
) -> Mechanism:
    """Make a mechanism for per-user priors; without a method, the one with the smaller error.

    Of labels alone, and of sets of priors, nothing is known that could compare the methods: ``arc``
    is taken, or ``safe-response`` for sets.

    >>> from liftlock.notions.lip import LIP
    >>> priors = PerUserPriors.of("ab", [[0.5, 0.5], [0.4, 0.6]])
    >>> print(design_users(priors, LIP("1")).channel)
    safe-response on 2 symbols, a prior for each user
    """
    asked = read_notion(notion, context.kind)
    if method is not None and not isinstance(method, str):
        raise NotDefined(
            "a method of your own", context.describe(), f"name one of {', '.join(USER_CHANNELS)}"
        )
    if utility is not None or options:
        raise InputError(
            "a method for per-user priors has no such option",
            value=next(iter(options), "utility"),
            remedy="give a method and budgets; expected_error(priors) says how good it is",
        )
    priors = context if isinstance(context, PerUserPriors) else None
    limits = (() if priors is None else priors.budgets) if budgets is None else budgets
    if priors is not None and priors.are_sets and method is None:
        method = "safe-response"
    if method is not None or priors is None or not priors.users or (limits and not priors.budgets):
        return lock_users(context.inputs, asked, method or "arc", limits)

    # Estimates lean on no prior, unless there are too many symbols for it.
    few = all(len(context.inputs) <= channel.most_scored for channel in USER_CHANNELS.values())
    way = "unbiased" if few else "bayes"

    def error(made: Mechanism) -> float:
        return float(np.sum(np.square(made.expected_error(priors, method=way).errors)))

    return min((lock_users(context.inputs, asked, key, limits) for key in USER_CHANNELS), key=error)


def best(
    context: Context | ContinuousPrior,
    notion: Notion | object,
    *,
    utility: AnyUtility | None = None,
    loss: Any = None,
    weights: Weights = None,
    bits: int = DEFAULT_BITS,
    bins: int | None = None,
    spacing: str | None = None,
    watch: Progress | None = None,
    **options: Any,
) -> Mechanism:
    """Make every mechanism that fits, and return the best of those that could be certified.

    Options go to those methods that take them. A remark says how the others did. A mechanism that
    keeps epsilon outright keeps it with any delta, so where a delta is allowed the optimum without
    one is tried as well. `outage`, which gives the value itself away now and then, has to be named.

    >>> from liftlock.notions.approximate import ApproximateLIP
    >>> from liftlock.model import Prior
    >>> prior = Prior.from_counts({"none": 700, "cold": 200, "flu": 100})
    >>> best(prior, ApproximateLIP("1", "0.05")).certificate.guarantee
    'lip_ediv(epsilon=1, delta=0.05)'
    """
    context = discretise(context, bins, spacing)
    if isinstance(context, PerUserPriors | AnyUserPrior):
        return design_users(context, notion, utility=utility, **options)
    notion, also = read_asked(notion, context)
    if isinstance(context, Conditional):
        read_goal(context, utility, loss=loss, weights=weights)
        return design_given(
            context,
            notion,
            lambda known, wanted, more: best(
                known, [wanted, *more], utility=utility, bits=bits, **options
            ),
            also=also,
            utility=utility,
            bits=bits,
            watch=watch,
        )
    pure = None if notion.delta_limit() is None else notion.without_delta
    of_kind = designs_for(context.kind)
    entries = [
        entry
        for entry in of_kind.values()
        if entry.keeps
        and (not also or entry.accepts("beside"))
        and not entry.on_request
        and entry.fits(context)
        and (notion.name in entry.notions or (pure is not None and entry.key == "optimal"))
    ]
    known = {name for entry in entries for name in option_names(entry)}
    for name in options:
        if name not in known:
            raise InputError(
                "no applicable method has this option",
                value=name,
                remedy=f"their options are {', '.join(sorted(known)) or 'none'}",
            )
    aim: dict[str, Any] = {"utility": utility, "loss": loss, "weights": weights}
    found: list[Mechanism] = []
    refused: list[LiftlockError] = []
    for entry in entries:
        if watch is not None:
            watch(Step(f"trying {entry.key}"))
        chosen = {name: value for name, value in options.items() if entry.accepts(name)}
        asked = notion if notion.name in entry.notions or pure is None else pure
        try:
            made = DesignRequest.of(entry, context, asked, chosen, also, **aim).make(bits)
            found.append(made if asked is notion else _certify_weaker(made, notion))
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
    return best_of(found, read_goal(context, **aim), "that could be certified")


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


def _certify_weaker(made: Mechanism, notion: Notion) -> Mechanism:
    """Certify a mechanism for a weaker notion than it was designed for."""
    certificate = notion.certify(made.channel, made.context)
    if not certificate.holds or made.origin is None:
        raise NotCertified(certificate, notion.smallest_text(made.channel, made.context))
    said = f"it keeps {made.notion} as well: delta is not used"
    # The bound is that of the stronger notion; a mechanism that uses delta might be better.
    origin = replace(
        made.origin, bound=None, gap=None, warning="", remarks=(*made.origin.remarks, said)
    )
    return replace(made, certificate=certificate, origin=origin)
