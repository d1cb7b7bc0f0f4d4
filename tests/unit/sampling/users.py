"""Users given by a table of masses: their channel, and what they report."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from liftlock import PerUserPriors
from liftlock.model.structured import USER_CHANNELS, UserChannel
from liftlock.notions import ALIP, LIP
from liftlock.sampling import release_users, simulate_users, user_posteriors

Table = npt.NDArray[Any]


def channel_of(method: str, notion: LIP | ALIP, symbols: int) -> UserChannel:
    lower, upper = notion.lift_limits()
    assert lower is not None
    assert upper is not None
    return USER_CHANNELS[method].of(range(symbols), [(lower, upper)])


def distribution_of(method: str, notion: LIP | ALIP) -> Any:
    return channel_of(method, notion, 2).distributions[0]


def priors_of(masses: Table) -> PerUserPriors:
    symbols = np.asarray(masses).shape[-1]
    return PerUserPriors.of(range(symbols), masses)


def release(method: str, masses: Table, codes: Table, notion: LIP | ALIP) -> Table:
    priors = priors_of(masses)
    return release_users(channel_of(method, notion, len(priors.labels)), priors, codes)


def simulate(method: str, masses: Table, codes: Table, notion: LIP | ALIP, seed: int) -> Table:
    priors = priors_of(masses)
    channel = channel_of(method, notion, len(priors.labels))
    return simulate_users(channel, priors, codes, seed=seed)


def beliefs(method: str, masses: Table, reports: Table, notion: LIP | ALIP) -> Table:
    priors = priors_of(masses)
    return user_posteriors(channel_of(method, notion, len(priors.labels)), priors, reports)
