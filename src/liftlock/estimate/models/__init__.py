"""Channels as estimators see them: a table, an encoding, profiles, or users with a prior each."""

from liftlock.estimate.models.base import Bound, CountedReports, Error, Model, no_prior_error
from liftlock.estimate.models.dense import Dense, OutputSums, model_of
from liftlock.estimate.models.given import (
    lift_question,
    model_given,
    read_given,
    reported_channel,
)
from liftlock.estimate.models.mixture import Mixture, read_profiles
from liftlock.estimate.models.per_user import PerUser, PosteriorSums, UserReports, Users, read_users
from liftlock.estimate.models.support import Encoding

__all__ = [
    "Bound",
    "CountedReports",
    "Dense",
    "Encoding",
    "Error",
    "Mixture",
    "Model",
    "OutputSums",
    "PerUser",
    "PosteriorSums",
    "UserReports",
    "Users",
    "lift_question",
    "model_given",
    "model_of",
    "no_prior_error",
    "read_given",
    "read_profiles",
    "read_users",
    "reported_channel",
]
