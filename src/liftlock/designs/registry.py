"""All designs by name: what each needs, and what it promises."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from liftlock.context import Context, Kind
from liftlock.errors import InputError, NotDefined
from liftlock.memory import TABLE, refuse_beyond
from liftlock.notions.base import Notion
from liftlock.profile_graph import ProfileGraph
from liftlock.utility.utility import Utility

PRIOR_KINDS: tuple[Kind, ...] = ("prior", "joint", "family", "intervals", "ball")
"""The kinds of context that speak of priors of X; most designs fit all of them."""
_FEW_OUTPUTS = 64
MOST_CELLS = 4_000_000
"""Designs for profiles with more probabilities would take hours and gigabytes."""
LIFT_NOTIONS = ("lip", "alip", "eps_upper", "eps_lower")


@dataclass(frozen=True)
class Design:
    """One way to make a mechanism.

    `make(context, notion, *, utility, **options)` returns a `Draft`, or a channel of a form of its
    own. The design is honest when `lock` certifies every draft for the notion that was asked for;
    those that copy a published formula which does not keep its promise say so in `keeps`.
    """

    key: str
    make: Callable[..., Any]
    says: str
    """What it does, in one line."""
    promises: str
    """What is true of the result besides the guarantee: optimal, within what, or nothing."""
    source: str
    notions: tuple[str, ...]
    contexts: tuple[Kind, ...]
    needs: str = ""
    """What it asks of the context beyond its kind, in a few words."""
    fits: Callable[[Any], bool] = lambda context: True  # noqa: ARG005
    """Whether a context of such a kind has what it needs, as far as that can be seen at once."""
    by_profile: bool = False
    """Whether each profile of a graph has a matrix of its own, not one for all."""
    uses_utility: bool = False
    keeps: bool = True
    """Whether every draft keeps the budget that was asked for."""
    prior_free: bool = False
    """Whether it treats every input alike, also those that the prior calls impossible (LDP)."""
    face_value: bool = False
    """Whether its outputs on a grid are numbers to be taken as they are, as added noise gives."""
    on_request: bool = False
    """Whether it is made only when it is named: what it does should be somebody's decision."""
    kind: str = ""
    """The mechanisms that its bound speaks of, if these are not all that keep the notion."""
    memory: Callable[[Context, Notion, Utility], float] | None = None
    """Bytes that it takes in a context; None where it is a table of inputs by inputs."""
    options: Mapping[str, str] | None = None
    """Options of its own: name and meaning."""

    def accepts(self, option: str) -> bool:
        """Tell whether the design takes an option of this name."""
        return option in option_names(self)


def option_names(design: Design) -> tuple[str, ...]:
    """Return the names of the options that a design takes besides the utility."""
    keywords = [
        parameter.name
        for parameter in inspect.signature(design.make).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY and parameter.name != "utility"
    ]
    return tuple(dict.fromkeys([*(design.options or {}), *keywords]))


_OF_PROGRAMS = ("watch", "explain")
"""Options that take a function: progress, and how a task was solved."""

_ALWAYS = {"as_published": "make the published formula as it is (it may break the budget)"}
"""What an option means unless a design says it more exactly."""


def option_meanings(design: Design) -> dict[str, str]:
    """Return the options of a design that a person can give, with what they mean."""
    said = _ALWAYS | dict(design.options or {})
    return {name: said.get(name, "") for name in option_names(design) if name not in _OF_PROGRAMS}


def find_design(key: str, designs: Mapping[str, Design]) -> Design:
    """Find a design by its key."""
    try:
        return designs[key.strip().lower().replace("_", "-")]
    except KeyError:
        raise InputError(
            "unknown method", value=key, remedy=f"known are {', '.join(designs)}"
        ) from None


def check_fits(design: Design, context: Context, notion: Notion) -> None:
    """Refuse a context or a notion that a design was not made for, and name those that fit."""
    if context.kind not in design.contexts:
        raise NotDefined(
            f"the method {design.key}",
            context.describe(),
            f"it needs a {' or a '.join(design.contexts)}",
        )
    if notion.name not in design.notions:
        raise NotDefined(
            f"the method {design.key}",
            f"the notion {notion.name}",
            f"it is made for {', '.join(design.notions)}",
        )


def check_memory(design: Design, context: Context, notion: Notion, utility: Utility) -> None:
    """Refuse a design that would need more memory than there is, before anything is made."""
    inputs = len(context.inputs)
    if design.memory is not None:
        needed = design.memory(context, notion, utility)
    else:
        needed = float(TABLE) * inputs**2
    refuse_beyond(
        needed,
        f"the method {design.key} for {inputs:,} symbols",
        remedy="merge rare values, cut numbers into fewer cells, try a method that needs less "
        "(oue or hashing for LDP, quantile-blocks for numbers)",
    )


def check_matrices(design: Design, graph: ProfileGraph) -> None:
    """Refuse a design for a graph with so many probabilities that it would take hours."""
    values, matrices = len(graph.inputs), len(graph) if design.by_profile else 1
    cells = matrices * values**2
    if cells > MOST_CELLS:
        raise InputError(
            f"{matrices:,} matrices of {values:,} x {values:,} values",
            value=f"{cells:,} probabilities",
            remedy=f"merge values or profiles to have at most {MOST_CELLS:,}; is it the right "
            "column?",
        )


def few_outputs(context: Context, notion: Notion, utility: Utility) -> float:  # noqa: ARG001
    """Return the memory of a design that has few outputs, or a form without a table."""
    return float(TABLE) * _FEW_OUTPUTS * len(context.inputs)


def check_options(design: Design, options: Iterable[str], *, people: bool = False) -> None:
    """Refuse an option that a design does not take, and name those it does.

    Functions that are told of progress are for programs to ask for, not for people.
    """
    known = tuple(option_meanings(design)) if people else option_names(design)
    for name in options:
        if name not in known:
            raise InputError(
                f"the method {design.key} has no option of this name",
                value=name,
                remedy=f"it takes {', '.join(known)}" if known else "it takes no options",
            )
