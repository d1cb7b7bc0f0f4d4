"""Refuse another kind of argument in one line, before it is looked into."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from liftlock.errors import InputError
from liftlock.model import (
    AnyUserPrior,
    Conditional,
    Context,
    Joint,
    PerUserPriors,
    Prior,
    PriorSet,
    ProfileGraph,
)
from liftlock.model.channel import Channel
from liftlock.model.structured import AnyChannel, SupportChannel

if TYPE_CHECKING:
    from liftlock.notions.base import Notion

T = TypeVar("T")

_KINDS = (Prior, Joint, PriorSet, ProfileGraph, Conditional, AnyUserPrior, PerUserPriors)

_PRIOR = "make one by Prior.from_counts(...), or read_prior(path) for a file"


def require_context(value: object, where: str = "") -> Context:
    """Return a context.

    >>> require_context("prior.csv")
    Traceback (most recent call last):
    liftlock.errors.InputError: not a prior, a joint, a set of priors, a graph of profiles or per...
    """
    if isinstance(value, _KINDS):
        return cast("Context", value)
    raise wrong_kind(
        "a prior, a joint, a set of priors, a graph of profiles or per-user priors",
        value,
        _PRIOR,
        where,
    )


def require_prior(value: object, where: str = "") -> Prior:
    """Return one prior."""
    if isinstance(value, Prior):
        return value
    raise wrong_kind("a prior", value, _PRIOR, where)


def require_channel(value: object, where: str = "") -> AnyChannel:
    """Return a channel; of a mechanism it is an attribute."""
    if isinstance(value, Channel | SupportChannel):
        return value
    if hasattr(value, "channel"):
        raise wrong_kind("a channel", value, "give its channel: mechanism.channel", where)
    raise wrong_kind("a channel", value, "make one by Channel.from_rows(...)", where)


def require_notion(value: object, where: str = "") -> Notion:
    """Return a guarantee; a bare budget does not say what it bounds."""
    named = isinstance(getattr(value, "name", None), str) and hasattr(value, "budgets")
    if named and hasattr(value, "certify"):
        return cast("Notion", value)
    raise wrong_kind("a notion of privacy", value, 'give one such as LIP("1")', where)


def require_path(value: str | os.PathLike[str]) -> Path:
    """Return the name of a file."""
    if isinstance(value, str | os.PathLike):
        return Path(value)
    raise wrong_kind("the name of a file", value, "give a text or a Path")


def require_list(values: Iterable[T], what: str) -> list[T]:
    """Return a list of things; a text or a mapping is none.

    >>> require_list("prior.csv", "releases")
    Traceback (most recent call last):
    liftlock.errors.InputError: not a list of releases: 'prior.csv'; give a list, ...
    """
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise wrong_kind(
            f"a list of {what}", values, "give a list, of one element if it is only one"
        )
    return list(values)


def require_counts(counts: Any) -> list[tuple[Any, Any]]:
    """Return labels with their counts.

    >>> require_counts(["no", "yes", "no"])
    Traceback (most recent call last):
    liftlock.errors.InputError: not counts: ['no', 'yes', 'no']; give {label: count}; ...
    """
    if isinstance(counts, Mapping):
        return list(counts.items())
    if isinstance(counts, Iterable) and not isinstance(counts, str | bytes):
        pairs = list(counts)
        if all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in pairs):
            return [(label, count) for label, count in pairs]
        counts = pairs
    remedy = "give {label: count}; collections.Counter(values) counts single values"
    raise wrong_kind("counts", counts, remedy)


def wrong_kind(what: str, value: object, remedy: str, where: str = "") -> InputError:
    """Return the error for an argument of another kind than `what`."""
    plain = isinstance(value, str | bytes | int | float | list | tuple | dict | None)
    shown = value if plain and value is not None else type(value).__name__
    return InputError(f"not {what}", where=where, value=shown, remedy=remedy)
