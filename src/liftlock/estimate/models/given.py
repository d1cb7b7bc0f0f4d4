"""Reports that come with a given value: each group of people has a table of its own.

A report is a pair (group, y), as the group can be seen. So the channel from pairs (group, x) to
pairs (group, y) has the table of each group as a block, and a question about x is one about pairs.
How many people are in each group is known.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from liftlock._runtime.memory import require_memory
from liftlock.errors import NotDefined
from liftlock.estimate.aggregate import Aggregate
from liftlock.estimate.models.dense import Dense
from liftlock.estimate.question import About, Question
from liftlock.model import Conditional
from liftlock.model.alphabet import Alphabet, Label
from liftlock.model.channel import Channel
from liftlock.model.structured import AnyChannel, SupportChannel, to_dense

_COPIES = 6
"""So many arrays of the size of the channel are held while it is inverted."""


def reported_channel(channel: AnyChannel, context: Conditional) -> Channel:
    """Return the channel from pairs (group, x) to reports that come with their group.

    >>> from liftlock.model import Prior
    >>> coins = Conditional.of({"a": Prior.uniform([0, 1]), "b": Prior.from_counts({0: 1, 1: 3})})
    >>> told = reported_channel(Channel.identity(coins.pairs.labels), coins)
    >>> told.outputs.labels[:2]
    (('a', ('a', 0)), ('a', ('a', 1)))
    """
    table = to_dense(channel)
    if not context.uses_given(table.inputs):
        return table
    first: dict[Label, int] = {name: at for at, name in enumerate(context.names)}
    width = len(table.outputs)
    require_memory(
        8.0 * _COPIES * len(table.inputs) * len(first) * width,
        f"reports of {len(first):,} groups with {width:,} outputs each",
        remedy="count and estimate the reports of fewer given values at a time",
    )
    of = np.array([first[pair[0]] for pair in table.inputs.labels])  # type: ignore[index]
    possible = np.zeros((len(first), width), dtype=bool)
    np.logical_or.at(possible, of, table.weights > 0)
    groups, places = np.nonzero(possible)
    weights = np.where(groups[None, :] == of[:, None], table.weights[:, places], 0)
    names = context.names
    outputs = Alphabet.of(
        (names[g], table.outputs.labels[y])
        for g, y in zip(groups.tolist(), places.tolist(), strict=True)
    )
    return Channel(table.inputs, outputs, weights.astype(table.weights.dtype), table.totals)


def lift_question(question: Question, context: Conditional) -> Question:
    """Ask a question about values of the pairs (group, value)."""
    places = [question.inputs.index(x) for _, x in context.pair_list]
    return Question(question.of, context.pairs, question.names, question.values[places])


def of_those_there(question: Question, context: Conditional, people: npt.NDArray[Any]) -> Question:
    """Ask nothing of groups that nobody is in, whose table may confuse values.

    `people` are those of the groups. The answer is the same: whatever is asked of a value is asked
    of nobody there.

    >>> from liftlock.model import Prior
    >>> coins = Conditional.of({"a": Prior.uniform([0, 1]), "b": Prior.from_counts({0: 1, 1: 3})})
    >>> asked = lift_question(Question.histogram(coins.values), coins)
    >>> of_those_there(asked, coins, np.array([7, 0])).values.tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [0.0, 0.0]]
    """
    first = {name: at for at, name in enumerate(context.names)}
    there = people[[first[group] for group, _ in context.pair_list]] > 0
    if not there.any():
        return question
    nobody = question.values[there].min(axis=0)
    return replace(question, values=np.where(there[:, None], question.values, nobody))


def model_given(
    channel: AnyChannel, context: Conditional, shares: npt.NDArray[Any] | None = None
) -> Dense:
    """Return the model of reports with their group; `shares` are those of the groups.

    Without them the groups are as likely as the context says.
    """
    told = reported_channel(channel, context)
    order = context.pairs.positions_in(told.inputs, whose="the context", other_name="the mechanism")
    known = context.whole.prior.floats()
    first = {name: at for at, name in enumerate(context.names)}
    of = np.array([first[group] for group, _ in context.pair_list])
    usual = np.bincount(of, weights=known, minlength=len(first))
    found = usual if shares is None else shares
    # Of a rest that nobody is in yet, the values of all together are as good as any.
    everybody = context.prior.floats()[[context.values.index(x) for _, x in context.pair_list]]
    within = np.where(usual[of] > 0, known / np.where(usual > 0, usual, 1.0)[of], everybody)
    masses = found[of] * within
    return Dense(
        context.pairs,
        told.outputs,
        told.floats()[order],
        masses / masses.sum(),
        groups=found[of],
    )


def read_given(
    channel: AnyChannel, context: Conditional, counted: Aggregate, question: Question, about: About
) -> tuple[Dense, Question]:
    """Return the model of counted reports, and the question as it is asked of it."""
    if isinstance(channel, SupportChannel):
        raise NotDefined(
            "an estimate with given values", "counts of an encoding", "use a mechanism with a table"
        )
    told = reported_channel(channel, context)
    first = {name: at for at, name in enumerate(context.names)}
    of = [first[pair[0]] for pair in told.outputs.labels]  # type: ignore[index]
    people = np.bincount(of, weights=counted.floats(), minlength=len(first))
    model = model_given(channel, context, people / people.sum())
    asked = lift_question(question, context)
    # In the population there may be people of whom nobody reported.
    return model, of_those_there(asked, context, people) if about == "people" else asked
