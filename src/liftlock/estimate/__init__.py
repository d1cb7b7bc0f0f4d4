"""From private reports to answers: estimates of counts, sums and histograms, with intervals."""

from liftlock.estimate.aggregate import Aggregate
from liftlock.estimate.api import estimate
from liftlock.estimate.combination import combine
from liftlock.estimate.estimators import ESTIMATORS
from liftlock.estimate.per_user_aggregate import PerUserAggregate
from liftlock.estimate.question import QUESTIONS, Question
from liftlock.estimate.result import Answer, Estimate, GoodnessOfFit

__all__ = [
    "ESTIMATORS",
    "QUESTIONS",
    "Aggregate",
    "Answer",
    "Estimate",
    "GoodnessOfFit",
    "PerUserAggregate",
    "Question",
    "combine",
    "estimate",
]
