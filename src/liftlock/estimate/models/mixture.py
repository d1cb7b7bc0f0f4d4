"""People who belong to profiles: their shares, and the distribution of what they observed.

Somebody with profile i observes x with probability P_i(x) and reports y with probability A^i[x, y],
so the reports of people of that profile have a distribution that is known exactly,

    R[i, y] = sum_x P_i(x) A^i[x, y]:

profiles -> reports is a channel like any other. With shares pi of the profiles the reports have the
distribution pi R, and the values sum_i pi_i P_i, which is linear in pi: it can be known even where
pi is not. All of this believes the distributions of the graph. A mechanism with one matrix for all
profiles can also be read without them, by the inverse of that matrix.

Source: 004 section 5.2 (the notation P_i A^i).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from liftlock.errors import InputError, NotDefined
from liftlock.estimate.models.base import Bound, Error, Model, no_prior_error, variances_of
from liftlock.estimate.models.dense import Dense, OutputSums, model_of, variances_given
from liftlock.estimate.question import About, Question, ask
from liftlock.exact.integers import Floats
from liftlock.model import Prior, ProfileGraph
from liftlock.model.channel import Channel
from liftlock.model.structured import AnyChannel, SupportChannel, to_dense
from liftlock.notions.profile import OutputDistributions

if TYPE_CHECKING:
    from liftlock.estimate.estimators import Linear

BELIEVED = "everybody's value was drawn from the distribution that the graph gives to their profile"
FREE = "nothing about the profiles: one matrix for all of them is inverted"


@dataclass(frozen=True, eq=False)
class Mixture(Dense):
    """The channel from profiles to reports, R[i, y] = sum_x P_i(x) A^i[x, y].

    The masses are shares of the profiles that are taken for known.

    >>> from liftlock.model.channel import Channel
    >>> graph = ProfileGraph.bernoulli({"a": "0.2", "b": "0.9"})
    >>> model = Mixture.of_graph(Channel.identity([0, 1]), graph)
    >>> model.rows.tolist(), model.through(Question.histogram(graph.inputs)).values.tolist()
    ([[0.8, 0.2], [0.1, 0.9]], [[0.8, 0.2], [0.1, 0.9]])
    """

    value_distributions: Floats
    """P_i(x): a row for each profile, a column for each value."""
    matrices: Floats
    """A^i[x, y], by profile, value and output; one for all profiles if they are not used."""
    holds: ClassVar[str] = "whatever the shares of the profiles"
    noun: ClassVar[str] = "profiles"
    unexplained: ClassVar[str] = (
        "no mixture of these profiles explains the reports: their distributions may be wrong"
    )

    @classmethod
    def of_graph(
        cls, channel: AnyChannel, graph: ProfileGraph, prior: Prior | None = None
    ) -> Mixture:
        """Read a channel, the profiles behind it, and maybe their shares (in any order)."""
        if isinstance(channel, SupportChannel):
            raise NotDefined(
                "an estimate of profiles",
                "counts of an encoding, which do not say what was supported together",
                "ask for histogram, which is read without the profiles",
            )
        distributions = OutputDistributions.of(channel, graph)
        rows = np.array([distribution.floats for distribution in distributions.distributions])
        matrices = (distributions.rows / distributions.row_total).astype(np.float64)
        masses = None if prior is None else prior.reordered(graph.profiles).floats()
        value_distributions = np.array(graph.distributions, dtype=np.float64)
        return cls(
            graph.profiles, distributions.outputs, rows, masses, value_distributions, matrices
        )

    def through(self, question: Question) -> Question:
        """Ask a question about values of the profiles: f(i) = E[f(X) | profile i]."""
        values = self.value_distributions @ question.values
        return Question(question.of, self.inputs, question.names, values, question)

    def posterior_scores(self, question: Question) -> Floats:
        """Return E[f | y]; of the value itself where a question about values is asked."""
        if question.behind is None:
            return super().posterior_scores(question)
        return self._moment(question.behind.values)

    def posterior_variances(self, question: Question) -> Floats:
        """Return Var(f | y); of the value itself where a question about values is asked."""
        if question.behind is None:
            return super().posterior_variances(question)
        f = question.behind.values
        # Centred first: a difference of large squares would lose its digits.
        centred = f - (f.min(axis=0) + f.max(axis=0)) / 2
        found: Floats = np.maximum(self._moment(centred**2) - self._moment(centred) ** 2, 0.0)
        return found

    def _moment(self, f: Floats) -> Floats:
        """Return E[f(X) | y] under the shares and the distributions of the profiles."""
        if self.masses is None:
            raise no_prior_error()
        joint = self.masses[:, None] * self.value_distributions
        weighed = np.einsum("ix,ixy->xy", joint, np.broadcast_to(self.matrices, self._shape))
        totals = weighed.sum(axis=0)
        prior = joint.sum(axis=0) @ f
        found: Floats = np.divide(
            weighed.T @ f,
            totals[:, None],
            out=np.tile(prior, (len(totals), 1)),
            where=totals[:, None] > 0,
        )
        return found

    @property
    def _shape(self) -> tuple[int, int, int]:
        return (len(self.inputs), *self.matrices.shape[1:])

    def error_variances(self, scores: Floats, question: Question) -> Floats:
        """Return E[(g(Y) - f(X))^2 | profile i]: a row for each profile, a column for each answer.

        The scores g are right on average for each profile, so this is what somebody of that profile
        adds to the squared error of the number of people who really have the value.
        """
        if question.behind is None:
            return super().error_variances(scores, question)
        f = question.behind.values
        middle = (f.min(axis=0) + f.max(axis=0)) / 2
        f, g = f - middle, scores - middle
        seconds = self.rows @ g**2 + self.value_distributions @ f**2
        read = np.broadcast_to(self.matrices @ g, (*self._shape[:2], g.shape[1]))
        products = np.einsum("ix,ixt->it", self.value_distributions, f * read)
        found: Floats = np.maximum(seconds - 2 * products, 0.0)
        return found

    def value_variances(self, question: Question) -> Floats:
        """Return Var f(X) under the shares and the distributions of the profiles."""
        if question.behind is None:
            return super().value_variances(question)
        assert self.masses is not None
        return variances_of(self.masses @ self.value_distributions, question.behind.values)

    def unbiased_error(self, estimator: Linear[Any], tally: OutputSums, about: About) -> Error:
        """Return the variance about the values of the people, whose profiles the reports tell.

        Given the profiles, people are independent, and their values and reports are drawn together:

            Var(estimate - truth) = sum_i n_i E[(g(Y) - f(X))^2 | profile i].

        The largest term, counted for all of them, is a bound; if the reports determine how many
        people n_i have each profile, so is an estimate of the sum.
        """
        question = estimator.question
        if about == "population" or question.behind is None:
            return super().unbiased_error(estimator, tally, about)
        each = self.error_variances(estimator.scores, question)
        bounds = [Bound(tally.total_squares * each.max(axis=0))]
        reach = np.maximum(
            estimator.scores.max(axis=0) - question.least,
            question.most - estimator.scores.min(axis=0),
        )
        if self.inverse.full:
            scores = self.inverse.matrix @ each
            scale = tally.total_squares * tally.unevenness**2 / np.sqrt(tally.reports)
            spread = scale * np.sqrt(variances_given(self.rows, scores).max(axis=0))
            bounds.append(Bound(tally.squares @ scores, spread=spread))
        unit = np.sqrt(tally.total_squares / tally.reports) * tally.unevenness**1.5
        return Error(tuple(bounds), (unit * reach, unit * reach))


def read_profiles(
    channel: AnyChannel,
    graph: ProfileGraph,
    of: str,
    value: Any = None,
    prior: Prior | None = None,
    trust: bool | None = None,
) -> tuple[Model, Question, str]:
    """Return the model, of the profiles if they are needed, the question, and what is assumed.

    `of` is ``profiles`` (with `value`, how many have one of some profiles), or a question about
    values. `prior` has shares of the profiles, or of the values where the profiles are not trusted.
    `trust` says whether the distributions of the profiles are believed; unless told they are where
    nothing else tells the values apart.
    """
    names = set(graph.profiles.labels)
    shares = prior if prior is not None and set(prior.labels) == names else None
    if of == "profiles":
        if trust is False:
            raise InputError(
                "shares of profiles whose distributions are not trusted",
                remedy="trust them (trust_profiles=True, --trust-profiles), or ask for histogram",
            )
        if prior is not None and shares is None:
            raise _not_of_profiles(prior, graph)
        return Mixture.of_graph(channel, graph, shares), _of_profiles(graph, value), BELIEVED
    question = ask(graph.inputs, of, value)
    uses = graph.uses_profile(channel.inputs)
    if trust is False and (uses or shares is not None):
        why = "a mechanism whose rows depend on the profile" if uses else "shares of the profiles"
        raise NotDefined(
            "an estimate that does not trust the profiles",
            why,
            "trust them (trust_profiles=True, --trust-profiles)",
        )
    if trust is None:
        trust = uses or shares is not None
        if not trust and isinstance(channel, Channel):
            own = Dense.of(to_dense(channel))
            trust = not own.identifies(question.reordered(own.inputs))
    if not trust:
        return model_of(channel, prior), question.reordered(channel.inputs), FREE
    if prior is not None and shares is None:
        raise _not_of_profiles(prior, graph)
    model = Mixture.of_graph(channel, graph, shares)
    return model, model.through(question), BELIEVED


def _of_profiles(graph: ProfileGraph, value: Any) -> Question:
    if value is None:
        whole = Question.histogram(graph.profiles)
        return Question("profiles", whole.inputs, whole.names, whole.values)
    some = ask(graph.profiles, "survey", value)
    return Question("profiles", some.inputs, some.names, some.values)


def _not_of_profiles(prior: Prior, graph: ProfileGraph) -> InputError:
    strange = [label for label in prior.labels if label not in graph.profiles]
    missing = [label for label in graph.profiles.labels if label not in prior.alphabet]
    return InputError(
        "the prior does not give the shares of the profiles",
        value=(strange or missing)[0],
        remedy=f"give one for each of {', '.join(map(repr, graph.profiles.labels[:_NAMED]))}",
    )


_NAMED = 8
