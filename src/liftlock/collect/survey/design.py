"""The mechanism of a question for people of whom the same is known, proved under its last names.

Unless the question names another, the utility is ``frequencies``: the unbiased estimate, which
leans on no prior, is as precise as can be. Other utilities are better if the prior is exactly
right, and may determine nothing if it is not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from liftlock.collect.survey.context import Population
from liftlock.collect.survey.question import Level, Question
from liftlock.errors import InputError, LiftlockError, NotDefined
from liftlock.model.channel import Table

if TYPE_CHECKING:
    from liftlock.mechanism import Mechanism

FEW_VALUES = 10
"""Up to so many values the search for the optimum is quick, and its gap small."""
GAP, WIDE_GAP = 1e-4, 0.02
"""How near to the optimum a design has to be proved, for few values and for more."""


def make_mechanism(
    question: Question, population: Population, level: Level, where: str
) -> Mechanism:
    """Design the mechanism of a question, name its outputs r1, r2, ..., and prove it.

    What is reported must not be mistaken for what was answered.
    """
    try:
        made = _design(question, population, level)
    except LiftlockError as error:
        raise _told(error, where) from None
    if not isinstance(made.channel, Table):
        raise NotDefined(
            "collecting reports",
            f"{where}: the method {question.method} of {made.channel}",
            "choose a method that makes a table, whose reports are numbers of outputs",
        )
    lost = [label for label in question.inputs.labels if label not in made.channel.inputs]
    if lost:
        raise InputError(
            "the prior says that a value cannot occur",
            where=where,
            value=lost[0],
            remedy="leave it out, or give it a small count: whoever has it could not answer",
        )
    return _named(made, population, level)


def _design(question: Question, population: Population, level: Level) -> Mechanism:
    """Ask for the best of all mechanisms, or for the method that is named."""
    from liftlock.designs.api import design

    context = population.context_for(question.inputs)
    options: dict[str, Any] = {"utility": question.utility or "frequencies"}
    if question.method is not None:
        options["method"] = question.method
    elif options["utility"] == "frequencies":
        options["gap"] = GAP if len(question.values) <= FEW_VALUES else WIDE_GAP
    return design(context, level.notion, **options)


def _named(made: Mechanism, population: Population, level: Level) -> Mechanism:
    """Name the outputs by numbers, and say whose mechanism it is: each has a file of its own."""
    named = made.with_outputs([f"r{number + 1}" for number in range(len(made.table.outputs))])
    whose = [f"for the group {population.group}"] if population.group is not None else []
    whose += [f"at the level {level.name}"] if level.name is not None else []
    if not whose or named.origin is None:
        return named
    return replace(named, origin=replace(named.origin, remarks=(*named.origin.remarks, *whose)))


def _told(error: LiftlockError, where: str) -> LiftlockError:
    """Say which question was refused."""
    if isinstance(error, InputError):
        place = f"{where}, {error.where}" if error.where else where
        return InputError(error.what, where=place, value=error.value, remedy=error.remedy)
    error.args = (f"{where}: {error}",)
    return error
