"""A user's own method: any function that proposes a channel for a context and a notion."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from liftlock._runtime.registry import name_of
from liftlock.designs.base import Design
from liftlock.designs.catalogue import DESIGNS, find_design
from liftlock.errors import InputError
from liftlock.model import Context
from liftlock.notions.base import Notion

AnyMethod = str | Design | Callable[..., Any]
"""The key of a design, a design, or a function (context, notion, **options) -> draft."""


def read_method(
    method: object, context: Context, notion: Notion, options: Iterable[str] = ()
) -> Design:
    """Return the design that is meant: by its key, as it is, or made of a function.

    >>> from liftlock.model import Prior
    >>> from liftlock.notions.lip import LIP
    >>> read_method("arc", Prior.uniform("ab"), LIP("1")).key
    'arc'
    >>> read_method(3, Prior.uniform("ab"), LIP("1"))
    Traceback (most recent call last):
    liftlock.errors.InputError: not a method: 3; name one (optimal, ...
    """
    if isinstance(method, str):
        return find_design(method)
    if isinstance(method, Design):
        return method
    if callable(method) and not isinstance(method, type):
        return own_design(method, context, notion, options)
    few = ", ".join(list(DESIGNS)[:3])
    raise InputError(
        "not a method",
        value=name_of(method) if isinstance(method, type) else method,
        remedy=f"name one ({few} ...; `liftlock designs` lists them), or give a Design, or a "
        "function of (context, notion)",
    )


def own_design(
    function: Callable[..., Any], context: Context, notion: Notion, options: Iterable[str] = ()
) -> Design:
    """Make a design of a function; it is taken to be made for what it is asked.

    Its arguments after the context and the notion are options; `utility` is what the mechanism is
    to be good for. What it returns is a draft: nothing is believed of it before it is locked.
    """
    name = name_of(function)
    extra, anything = _options(function, name)

    def make(context: Context, notion: Notion, **given: Any) -> Any:
        return function(context, notion, **given)

    positional, keyword = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.KEYWORD_ONLY
    make.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(each, positional) for each in ("context", "notion")]
        + [inspect.Parameter(each, keyword) for each in extra]
    )
    summary = (inspect.getdoc(function) or "a function of your own").partition("\n")[0]
    return Design(
        name,
        make,
        summary,
        "nothing but what is certified",
        name,
        (notion.name,),
        (context.kind,),
        uses_utility="utility" in extra,
        options=dict.fromkeys(options if anything else (), ""),
    )


def _options(function: Callable[..., Any], name: str) -> tuple[list[str], bool]:
    """Return the arguments after the first two, and whether there may be any others."""
    wrong = InputError(
        "not a function of a context and a notion",
        value=name,
        remedy="define it as method(context, notion), options behind these",
    )
    try:
        every = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        raise wrong from None
    kinds = inspect.Parameter
    by_place = [
        each for each in every if each.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)
    ]
    if len(by_place) < 2 and not any(each.kind is kinds.VAR_POSITIONAL for each in every):
        raise wrong
    if any(each.kind is kinds.POSITIONAL_ONLY for each in by_place[2:]):
        raise wrong
    extra = [
        each.name
        for each in every[2:]
        if each.kind in (kinds.POSITIONAL_OR_KEYWORD, kinds.KEYWORD_ONLY)
    ]
    return extra, any(each.kind is kinds.VAR_KEYWORD for each in every)
