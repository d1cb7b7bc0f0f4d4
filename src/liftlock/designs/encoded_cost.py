"""What an encoding costs: every report is summed over, or many are simulated."""

from __future__ import annotations

import numpy as np

from liftlock.errors import NotDefined
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot
from liftlock.forms import SupportChannel
from liftlock.sampling import SimulationBits, draw_reports
from liftlock.utility.utility import Utility, cost_of_truth, mean_cost

_PEOPLE = 4096


def encoded_cost(goal: Utility, channel: SupportChannel, masses: Floats) -> tuple[float, str]:
    """Return the mean cost of an encoding under a prior, and how sure it is.

    With few symbols every report is summed over. Otherwise it is the mean over simulated reports:
    the posterior v given a report is the prior P times the two likelihoods, and needs no table.
    As E v = P, a supergradient at P may be taken off, c(v) - slope . (v - P), without bias: it
    takes most of the noise with it, and no term is then above c(P), the cost of no release.
    """
    try:
        return mean_cost(goal, channel.expanded().floats(), masses), ""
    except NotDefined:
        pass
    people = np.random.default_rng(_PEOPLE).choice(len(masses), size=_PEOPLE, p=masses)
    reports = draw_reports(channel, people, SimulationBits("the worth of an encoding"))
    high, low = channel.levels
    slope = goal.slopes(masses[None, :])[0]
    costs = []
    for part in np.array_split(reports, max(1, len(masses) * _PEOPLE >> 20)):
        weights = np.where(channel.supported(part), 1.0, low / high) * masses
        posteriors = weights / weights.sum(axis=1, keepdims=True)
        costs.append(goal.costs(posteriors) - dot(posteriors - masses, slope))
    every = np.concatenate(costs)
    error = float(every.std() / np.sqrt(_PEOPLE))
    least = cost_of_truth(goal, masses)
    return max(float(every.mean()), least), (
        f"its utility is the mean over {_PEOPLE:,} simulated reports, standard error {error:.2g}"
    )
