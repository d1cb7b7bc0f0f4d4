"""All guarantees by name, so that text (a command line, a file) can say them.

A claim is written ``name=value``: ``lip=1``, ``alip=1.3,0.7`` (lower, upper), ``ldp_delta=1,0.01``
(epsilon, delta), ``alpha_lift=2,1.5`` (alpha, budget), ``breach=0.1,0.5`` (rho1, rho2).
"""

from __future__ import annotations

from collections.abc import Mapping

from liftlock._runtime.registry import Registry, View
from liftlock.errors import InputError
from liftlock.notions.approximate import ApproximateLDP, ApproximateLIP
from liftlock.notions.base import Notion, NotionKind
from liftlock.notions.breach import NoBreach
from liftlock.notions.crowd_mass import CrowdMass
from liftlock.notions.identifiability import Identifiability
from liftlock.notions.information import (
    Arimoto,
    Chi2,
    MaximalLeakage,
    MutualInformation,
    Sibson,
    TotalVariation,
)
from liftlock.notions.ldp import LDP
from liftlock.notions.lip import ALIP, LIP, LiftNotion, MaxLift, MinLift
from liftlock.notions.per_output import (
    AlphaLift,
    AlphaLiftInverse,
    Chi2Lift,
    Chi2LiftInverse,
    L1Lift,
    L1LiftInverse,
)
from liftlock.notions.profile import ProfilePrivacy


def _names(notion: type[Notion]) -> list[str]:
    kinds = notion.kinds()
    return list(dict.fromkeys([*(k.key for k in kinds), *(k.quantity for k in kinds)]))


def _fault(notion: object) -> str:
    if not (isinstance(notion, type) and issubclass(notion, Notion)):
        return "give a class made from liftlock.notions.Notion, such as a TableBound"
    missing = [name for name in ("key", "title", "summary") if not hasattr(notion, name)]
    missing += sorted(getattr(notion, "__abstractmethods__", ()))
    return f"it lacks {', '.join(missing)}" if missing else ""


def check_own_key(notion: Notion) -> None:
    """Refuse a notion that goes by the name of another one: its certificates would say too much.

    >>> check_own_key(type("Lax", (LIP,), {})("1"))
    Traceback (most recent call last):
    liftlock.errors.InputError: the name lip is that of another notion: 'Lax'; give it a key ...
    """
    for each in NOTIONS.registered.values():
        if type(notion) is each or notion.name not in {kind.key for kind in each.kinds()}:
            continue
        raise InputError(
            f"the name {notion.name} is that of another notion",
            value=type(notion).__name__,
            remedy="give it a key of its own",
        )


NOTIONS: Registry[type[Notion]] = Registry(
    "notion",
    "liftlock.notions",
    (
        LIP,
        ALIP,
        MaxLift,
        MinLift,
        ApproximateLIP,
        LDP,
        ProfilePrivacy,
        ApproximateLDP,
        Identifiability,
        MutualInformation,
        MaximalLeakage,
        TotalVariation,
        Chi2,
        L1Lift,
        Chi2Lift,
        L1LiftInverse,
        Chi2LiftInverse,
        AlphaLift,
        AlphaLiftInverse,
        Sibson,
        Arimoto,
        CrowdMass,
        NoBreach,
    ),
    names=_names,
    fault=_fault,
)
"""Every notion, in the order in which they are listed; a new one is one file and one line here."""
REGISTRY: Mapping[str, NotionKind] = View(
    NOTIONS, lambda notion: [(kind.key, kind) for kind in notion.kinds()]
)
"""Every kind of guarantee, by name; some notions have several."""
SHORTHANDS: Mapping[str, str] = View(
    NOTIONS,
    lambda notion: [
        (kind.quantity, kind.key) for kind in notion.kinds() if kind.quantity != kind.key
    ],
)
"""Quantities of an audit that are not named after their guarantee: the guarantee of each."""
TITLES: Mapping[str, str] = View(
    NOTIONS,
    lambda notion: [
        (name, kind.title) for kind in notion.kinds() for name in (kind.key, kind.quantity)
    ],
)
"""What each guarantee and each measure is called when people read it."""
AUDITED: Mapping[str, tuple[NotionKind, str]] = View(
    NOTIONS,
    lambda notion: [
        (kind.quantity, (kind, notion.audited)) for kind in notion.kinds() if notion.audited
    ],
)
"""What an audit measures, by key: the guarantee, and when it is measured."""


def register(notion: type[Notion]) -> None:
    """Make a notion known to audits, claims, files and the command line; its class says the rest.

    >>> register(LIP)
    Traceback (most recent call last):
    liftlock.errors.InputError: a notion of this name is registered already: 'lip'; ...
    """
    NOTIONS.register(notion)


def lift_notions() -> tuple[str, ...]:
    """Return the names of our own notions that limit lifts, which designs are made for."""
    every = NOTIONS.registered.values()
    return tuple(notion.key for notion in every if issubclass(notion, LiftNotion))


def make_notion(name: str, budgets: Mapping[str, object]) -> Notion:
    """Make a guarantee from its name and budgets, as a certificate stores them.

    >>> str(make_notion("alip", {"lower": "1.3", "upper": "0.7"}))
    'alip(lower=1.3, upper=0.7)'
    """
    entry = _entry(name)
    missing = [key for key in entry.parameters if key not in budgets]
    extra = [key for key in budgets if key not in entry.parameters]
    if missing or extra:
        raise InputError(
            f"budgets of {name} do not fit",
            value=dict(budgets),
            remedy=f"give {', '.join(entry.parameters)}",
        )
    return entry.notion(**budgets)


def parse_claim(text: str, *, alpha: object = None, at_epsilon: object = None) -> Notion:
    """Read a claim such as ``lip=1``.

    When `alpha` is given, claims of an order may leave it out (``sibson=0.5``); when `at_epsilon`
    is given, ``delta_ediv=0.01`` and its like mean that delta at that epsilon.

    >>> str(parse_claim("lip=ln 3")), str(parse_claim("ldp_delta=1,0.01"))
    ('lip(ln 3)', 'ldp_delta(1, 0.01)')
    """
    name, equals, value = text.partition("=")
    name = name.strip().lower().replace("-", "_")
    if not equals or not value.strip():
        raise InputError(
            "the claim has no value", value=text, remedy="write it like lip=1 or alip=1.3,0.7"
        )
    parts = [part.strip() for part in value.split(",")]
    if name in SHORTHANDS:
        name = SHORTHANDS[name]
        if len(parts) == 1:
            if at_epsilon is None:
                raise InputError(
                    "a delta without an epsilon",
                    value=text,
                    remedy=f"write {name}=EPSILON,DELTA, or give --at-epsilon",
                )
            parts = [str(at_epsilon), *parts]
    entry = _entry(name)
    if len(parts) == 1 and entry.parameters[0] == "alpha" and alpha is not None:
        parts = [str(alpha), *parts]
    if len(parts) != len(entry.parameters):
        raise InputError(
            f"{name} takes {len(entry.parameters)} value{'s' * (len(entry.parameters) > 1)}",
            value=text,
            remedy=f"write {name}={','.join(p.upper() for p in entry.parameters)}",
        )
    return entry.make(*parts)


def _entry(name: str) -> NotionKind:
    try:
        return REGISTRY[name]
    except KeyError:
        raise InputError(
            "unknown notion",
            value=name,
            remedy=f"use one of {', '.join(REGISTRY)}; others come with their packages",
        ) from None
