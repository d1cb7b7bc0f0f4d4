"""A design, and the draft that it proposes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from liftlock._runtime.memory import TABLE, require_memory
from liftlock._solver.problem import Optimality, ProfileProblem, ProfileTask, Solution
from liftlock.errors import InputError, NotDefined, RowError
from liftlock.exact.integers import Floats
from liftlock.model import Context, Kind, ProfileGraph
from liftlock.model.alphabet import Alphabet, Label
from liftlock.model.channel import Channel
from liftlock.model.structured import SupportChannel
from liftlock.notions.base import Notion
from liftlock.notions.guarantee import Wanted
from liftlock.notions.registry import lift_notions
from liftlock.utility.base import Utility

PRIOR_KINDS: tuple[Kind, ...] = ("prior", "joint", "family", "intervals", "ball")
"""The kinds of context that speak of priors of X; most designs fit all of them."""
NAMED: Mapping[Kind, str] = {
    "prior": "a prior",
    "joint": "a joint",
    "family": "a family of priors",
    "intervals": "intervals of probabilities",
    "ball": "a ball of priors",
    "profiles": "a graph of profiles",
    "per-user": "a prior for each user",
    "given": "a joint for each given value",
}
_FEW_OUTPUTS = 64
_LISTED = 5
MOST_CELLS = 4_000_000
"""Designs for profiles with more probabilities would take hours and gigabytes."""
LIFT_NOTIONS = lift_notions()

SUM_TOLERANCE = 1e-6
NEGATIVE_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Design:
    """One way to make a mechanism.

    `make(context, notion, **options)` returns a `Draft`, or a `StructuredDraft` of an encoding; it
    has an argument `utility` if that makes a difference. The design is honest when `lock` certifies
    every draft for the notion that was asked for; those that copy a published formula which does
    not keep its promise say so in `keeps`. Where a paper prints something else than what is made
    here, an option `as_published` of `make` gives that.
    """

    key: str
    make: Callable[..., Any]
    summary: str
    """What it does, in one line."""
    promises: str
    """What is true of the result besides the guarantee: optimal, within what, or nothing."""
    source: str
    notions: tuple[str, ...]
    contexts: tuple[Kind, ...]
    needs: str = ""
    """What it asks of the context beyond its kind, in a few words."""
    fits: Callable[[Any], bool] = lambda context: True  # noqa: ARG005
    """Whether a context of these kinds has what it needs, as far as that can be seen at once."""
    by_profile: bool = False
    """Whether each profile of a graph has its own matrix, not one for all."""
    uses_utility: bool = False
    keeps: bool = True
    """Whether every draft keeps the budget that was asked for."""
    published: tuple[str, ...] = ()
    """The notions for which a paper prints this mechanism."""

    def __post_init__(self) -> None:
        if not self.keeps and not self.published:
            object.__setattr__(self, "published", self.notions)

    prior_free: bool = False
    """Whether it treats every input alike, also those that the prior calls impossible (LDP)."""
    face_value: bool = False
    """Whether its outputs on a grid are numbers to be taken as they are, as added noise gives."""
    on_request: bool = False
    """Whether it is made only when it is named: what it does should be somebody's decision."""
    kind: str = ""
    """The mechanisms that its bound speaks of, if these are not all that keep the notion."""
    memory: Callable[..., float] | None = None
    """Bytes that it takes for (context, notion, utility); None for a table of inputs by inputs. One
    that accepts the option `beside` accepts it here too."""
    options: Mapping[str, str] | None = None
    """Its own options: name and meaning."""

    def accepts(self, option: str) -> bool:
        """Tell whether the design takes an option of this name."""
        return option in option_names(self)

    def draft(
        self, context: Context, notion: Notion, utility: Any, **options: Any
    ) -> Draft | StructuredDraft:
        """Make the draft; a design that is the same for every utility is not told which one."""
        if "utility" in _keywords(self.make):
            options["utility"] = utility
        return read_draft(self.make(context, notion, **options), context, self.key)


def _keywords(make: Callable[..., Any]) -> list[str]:
    every = inspect.signature(make).parameters.values()
    return [one.name for one in every if one.kind is one.KEYWORD_ONLY]


def option_names(design: Design) -> tuple[str, ...]:
    """Return the names of the options that a design takes besides the utility."""
    named = dict.fromkeys([*(design.options or {}), *_keywords(design.make)])
    return tuple(name for name in named if name != "utility")


_OF_PROGRAMS = ("watch", "explain", "beside")
"""Options that take no text: functions for progress and how a task was solved, and guarantees."""

_ALWAYS = {"as_published": "make the published formula as it is (it may break the budget)"}
"""What an option means unless a design says it more exactly."""


def option_meanings(design: Design) -> dict[str, str]:
    """Return the options of a design that a person can give, with what they mean."""
    said = _ALWAYS | dict(design.options or {})
    return {name: said.get(name, "") for name in option_names(design) if name not in _OF_PROGRAMS}


def check_fits(design: Design, context: Context, notion: Notion) -> None:
    """Refuse a context or a notion that a design was not made for, and name those that fit."""
    if context.kind not in design.contexts:
        raise NotDefined(
            f"the method {design.key}",
            context.describe(),
            f"give {' or '.join(NAMED[kind] for kind in design.contexts)}",
        )
    if notion.name not in design.notions:
        raise NotDefined(
            f"the method {design.key}",
            f"the notion {notion.name}",
            f"use {', '.join(design.notions)}",
        )


def as_given(options: Mapping[str, Any]) -> bool:
    """Tell whether a number takes the place of the formula that a design would use."""
    named = (options.get(name) for name in ("scale", "rate"))
    return any(value is not None and not isinstance(value, str) for value in named)


def check_size(
    design: Design,
    context: Context,
    notion: Notion,
    utility: Any,
    beside: Sequence[Wanted] = (),
) -> None:
    """Refuse a design that would need more memory, or hours, than there are, before it is made."""
    if isinstance(context, ProfileGraph):
        _check_graph(design, context)
        return
    inputs = len(context.inputs)
    if design.memory is not None:
        further: dict[str, Any] = {"beside": beside} if beside else {}
        needed = design.memory(context, notion, utility, **further)
    else:
        needed = float(TABLE) * inputs**2
    require_memory(
        needed,
        f"the method {design.key} for {inputs:,} symbols",
        remedy="merge rare values, use fewer bins for numbers, try a method that needs less (oue "
        "or hashing for LDP, quantile-blocks for numbers)",
    )


def _check_graph(design: Design, graph: ProfileGraph) -> None:
    """Refuse a graph that promises nothing, or whose probabilities would take hours."""
    if not graph.edges:
        raise InputError(
            "a graph without edges promises nothing",
            value=graph.describe(),
            remedy="connect the profiles to protect from each other",
        )
    values, matrices = len(graph.inputs), len(graph) if design.by_profile else 1
    cells = matrices * values**2
    if cells > MOST_CELLS:
        raise InputError(
            f"{matrices:,} matrices of {values:,} x {values:,} values",
            value=f"{cells:,} probabilities",
            remedy=f"merge values or profiles to have at most {MOST_CELLS:,}; check that it is "
            "the right column",
        )


def labels_text(labels: Sequence[Label], written: Callable[[Label], str] = repr) -> str:
    """Write some labels in a sentence.

    >>> labels_text("abcdefg"), labels_text(["a", "b"], str)
    ("'a', 'b', 'c', 'd', 'e' and 2 more", 'a, b')
    """
    shown = ", ".join(written(label) for label in labels[:_LISTED])
    more = len(labels) - _LISTED
    return f"{shown} and {more} more" if more > 0 else shown


def few_outputs_memory(context: Context, notion: Notion, utility: Utility) -> float:  # noqa: ARG001
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
                f"the method {design.key} has no such option",
                value=name,
                remedy=f"its options are {', '.join(known)}" if known else "it takes no options",
            )


# --- drafts: not to be trusted until they are locked ----------------------------------------------


@dataclass(frozen=True)
class StructuredDraft:
    """A proposed encoding, in integers that are still to be certified."""

    channel: SupportChannel
    optimality: Optimality | None = None
    remarks: tuple[str, ...] = ()
    """What a user should know of how it was made, one sentence each."""

    @property
    def inputs(self) -> Alphabet:
        """The symbols it accepts."""
        return self.channel.inputs


@dataclass(frozen=True)
class Draft:
    """A proposed channel P(y | x) in floats; rows may be off 1 by what a solver leaves.

    >>> Draft.of(["a", "b"], ["a", "b"], [[0.75, 0.25], [0.25, 0.75]]).matrix.shape
    (2, 2)
    """

    inputs: Alphabet
    outputs: Alphabet
    matrix: Floats
    optimality: Optimality | None = None
    remarks: tuple[str, ...] = ()
    """What a user should know of how it was made, one sentence each."""
    faithful: bool = False
    """Whether it is somebody's formula, to be locked as it is or refused, never softened."""

    @classmethod
    def of(
        cls,
        inputs: Iterable[Any] | Alphabet,
        outputs: Iterable[Any] | Alphabet,
        matrix: Any,
        *,
        optimality: Optimality | None = None,
        remarks: Iterable[str] = (),
        faithful: bool = False,
    ) -> Draft:
        """Make a draft from labels and a matrix, one row for each input."""
        rows = inputs if isinstance(inputs, Alphabet) else Alphabet.of(inputs)
        columns = outputs if isinstance(outputs, Alphabet) else Alphabet.of(outputs)
        array = np.array(matrix, dtype=np.float64)
        return cls(rows, columns, array, optimality, tuple(remarks), faithful)

    @classmethod
    def from_rows(cls, rows: Mapping[Any, Mapping[Any, float]]) -> Draft:
        """Make a draft from a table input -> output -> probability."""
        outputs = dict.fromkeys(output for row in rows.values() for output in row)
        return cls.of(rows, outputs, [[row.get(y, 0) for y in outputs] for row in rows.values()])

    def __post_init__(self) -> None:
        shape = (len(self.inputs), len(self.outputs))
        if self.matrix.shape != shape:
            raise RowError(f"matrix of shape {self.matrix.shape}, labels for {shape}")
        bad = np.argwhere(~np.isfinite(self.matrix) | (self.matrix < -NEGATIVE_TOLERANCE))
        if len(bad):
            x, y = (int(i) for i in bad[0])
            raise RowError(
                "probability is not a number of 0 or more",
                where=f"input {self.inputs.labels[x]!r}, output {self.outputs.labels[y]!r}",
                value=float(self.matrix[x, y]),
            )
        sums = self.matrix.sum(axis=1)
        off = np.flatnonzero(np.abs(sums - 1) > SUM_TOLERANCE)
        if len(off):
            x = int(off[0])
            raise RowError(
                "row does not sum to 1",
                where=f"input {self.inputs.labels[x]!r}",
                value=float(sums[x]),
                remedy=f"a draft may be off by at most {SUM_TOLERANCE:g}",
            )
        self.matrix.setflags(write=False)


def read_draft(made: object, context: Context, key: str) -> Draft | StructuredDraft:
    """Return what a method proposes for a context as a draft, its rows in the context's order.

    It is a draft, or a channel, or rows as a table input -> output -> probability, or a square
    matrix whose outputs are the inputs.

    >>> from liftlock.model import Prior
    >>> read_draft([[0.9, 0.1], [0.2, 0.8]], Prior.uniform("ab"), "mine").outputs.labels
    ('a', 'b')
    >>> read_draft(0.5, Prior.uniform("ab"), "mine")
    Traceback (most recent call last):
    liftlock.errors.InputError: the method mine returned no draft: 'float'; return a Draft, ...
    """
    if isinstance(made, StructuredDraft):
        return made
    if isinstance(made, SupportChannel):
        return StructuredDraft(made)
    known = [context.inputs, *([context.pairs] if isinstance(context, ProfileGraph) else [])]
    draft = made if isinstance(made, Draft) else _proposed(made, known, key)
    for inputs in known:
        if draft.inputs.labels == inputs.labels:
            return draft
        if set(draft.inputs.labels) == set(inputs.labels):
            order = [draft.inputs.index(label) for label in inputs.labels]
            return replace(draft, inputs=inputs, matrix=draft.matrix[order].copy())
    missing = [label for label in known[0].labels if label not in draft.inputs]
    foreign = [label for label in draft.inputs.labels if label not in known[0]]
    raise InputError(
        f"the method {key} proposes rows for other values",
        value=f"none for {labels_text(missing)}" if missing else f"some for {labels_text(foreign)}",
        remedy="return one row for each of context.inputs",
    )


def _proposed(made: object, known: Sequence[Alphabet], key: str) -> Draft:
    if isinstance(made, Channel):
        return Draft.of(made.inputs, made.outputs, made.floats())
    if isinstance(made, Mapping) and made and all(isinstance(r, Mapping) for r in made.values()):
        return Draft.from_rows(made)
    returned = type(made).__name__
    if isinstance(made, np.ndarray | Sequence) and not isinstance(made, str | bytes):
        try:
            matrix = np.array(made, dtype=np.float64)
        except (TypeError, ValueError):
            matrix = np.empty(0)
        for inputs in known:
            if matrix.shape == (len(inputs), len(known[0])):
                return Draft.of(inputs, known[0], matrix)
        returned = f"{returned} of shape {matrix.shape}"
    size = len(known[0])
    raise InputError(
        f"the method {key} returned no draft",
        value=returned,
        remedy="return a Draft, a table {input: {output: probability}}, or a matrix of "
        f"{size} x {size} probabilities whose outputs are the inputs",
    )


def draft_of(solution: Solution, inputs: Alphabet) -> Draft:
    """Make the draft of what the solver found."""
    return Draft.of(
        inputs,
        solution.outputs,
        solution.matrix,
        optimality=solution.proof,
        remarks=solution.remarks,
    )


def draft_of_blocks(
    problem: ProfileProblem,
    blocks: Floats,
    *,
    optimality: Optimality | None = None,
    remarks: tuple[str, ...] = (),
    faithful: bool = False,
) -> Draft:
    """Make the draft of a channel for profiles, in blocks; its outputs are the values."""
    graph = problem.context
    shared = len(blocks) == 1 and len(graph) != 1
    rows = np.clip(blocks if shared else problem.fill_impossible_rows(blocks), 0.0, None)
    rows = rows / rows.sum(axis=2, keepdims=True)
    return Draft.of(
        graph.inputs if shared else graph.pairs,
        graph.inputs,
        rows.reshape(-1, problem.values),
        optimality=optimality,
        remarks=remarks,
        faithful=faithful,
    )


def draft_of_profiles(task: ProfileTask, found: Solution) -> Draft:
    """Make the draft of what the solver found for a graph of profiles."""
    blocks = found.matrix.reshape(task.blocks, -1, task.problem.values)
    return draft_of_blocks(task.problem, blocks, optimality=found.proof, remarks=found.remarks)
