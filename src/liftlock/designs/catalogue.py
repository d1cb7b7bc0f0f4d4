"""The table of all designs; a new one is one file and one line here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from liftlock._runtime.registry import Registry
from liftlock.designs.base import NAMED, Design, as_given
from liftlock.designs.mechanisms import (
    arc,
    categorical,
    centralised,
    optimal,
    outage,
    prior_free,
    profile_response,
    quantile_blocks,
    random_response,
    smooth_one_bit,
    subset_response,
    unary_encoding,
    watchdog,
)
from liftlock.designs.noise import gaussian, laplace
from liftlock.errors import InputError, NotDefined
from liftlock.model import Kind
from liftlock.notions.base import Notion

DESIGNS: Registry[Design] = Registry(
    "design",
    "liftlock.designs",
    (
        optimal.OPTIMAL,
        optimal.BINARY,
        optimal.STAIRCASE,
        optimal.OPTIMAL_RESPONSE,
        random_response.PUBLISHED_RESPONSE,
        random_response.SAFE_RESPONSE,
        watchdog.WATCHDOG,
        watchdog.SUBSET_MERGING,
        subset_response.DESIGN,
        centralised.DESIGN,
        arc.DESIGN,
        quantile_blocks.DESIGN,
        outage.DESIGN,
        laplace.BOUNDED_LAPLACE,
        laplace.LAPLACE,
        laplace.INSTANCE_LAPLACE,
        prior_free.K_RR,
        prior_free.SUBSET_SELECTION,
        unary_encoding.OUE,
        unary_encoding.SUE,
        prior_free.HASHING,
        random_response.SAMPLING,
        gaussian.GAUSSIAN,
        gaussian.INSTANCE_GAUSSIAN,
        categorical.SMOOTH_CATEGORICAL,
        smooth_one_bit.DESIGN,
        categorical.SHARED_CATEGORICAL,
        profile_response.CLUSTER,
        profile_response.SINGLE_BIT,
        profile_response.RANDOMISED_RESPONSE,
    ),
    names=lambda design: [design.key],
    fault=lambda design: "" if isinstance(design, Design) else "give a liftlock.designs.Design",
)
"""Every design, by key."""


def designs_for(kind: Kind) -> Mapping[str, Design]:
    """Return the designs for a kind of context, by key; the first is the best that is known.

    >>> next(iter(designs_for("joint"))), next(iter(designs_for("profiles")))
    ('optimal', 'smooth-categorical')
    """
    return {key: entry for key, entry in DESIGNS.items() if kind in entry.contexts}


def check_published(design: Design, notion: Notion, options: Mapping[str, Any]) -> None:
    """Refuse as published what no paper prints: the design itself, or the design for a notion.

    Noise of a scale that is given, or a rate, is nobody's formula, and made as it is given.

    >>> from liftlock.notions.lip import LIP
    >>> check_published(DESIGNS["safe-response"], LIP("1"), {})
    Traceback (most recent call last):
    liftlock.errors.NotDefined: designing as published is not defined for the method safe-resp...
    """
    if as_given(options) or notion.name in design.published:
        return
    if design.published:
        what, remedy = f"{design.key} under {notion.name}", ", ".join(design.published)
        raise NotDefined("designing as published", what, f"it is printed for {remedy}")
    printed = [key for key, each in DESIGNS.items() if notion.name in each.published]
    remedy = f"; for {notion.name} they have {', '.join(printed)}" if printed else ""
    what = f"the method {design.key}"
    raise NotDefined("designing as published", what, f"the papers do not have it{remedy}")


def find_design(key: str, kind: Kind | None = None) -> Design:
    """Find a design by its key; for a kind of context, one that fits it.

    >>> find_design("arc", "profiles")
    Traceback (most recent call last):
    liftlock.errors.InputError: the method arc is not for a graph of profiles: 'arc'; use ...
    """
    found = DESIGNS.get(key.strip().lower().replace("_", "-"))
    fitting = DESIGNS if kind is None else designs_for(kind)
    if found is None:
        raise InputError("unknown method", value=key, remedy=f"use one of {', '.join(fitting)}")
    if kind is not None and found.key not in fitting:
        raise InputError(
            f"the method {found.key} is not for {NAMED[kind]}",
            value=key,
            remedy=f"use {', '.join(fitting)}",
        )
    return found
