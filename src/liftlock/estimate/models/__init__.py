"""Channels as estimators see them: a table, an encoding, profiles, or users with a prior each."""

from liftlock.estimate.models.base import Counted, Error, Model, no_prior
from liftlock.estimate.models.dense import Dense, Tally, model_of
from liftlock.estimate.models.encoding import Encoding
from liftlock.estimate.models.mixture import Mixture, read_profiles
from liftlock.estimate.models.per_user import PerUser, PosteriorSums

__all__ = [
    "Counted",
    "Dense",
    "Encoding",
    "Error",
    "Mixture",
    "Model",
    "PerUser",
    "PosteriorSums",
    "Tally",
    "model_of",
    "no_prior",
    "read_profiles",
]
