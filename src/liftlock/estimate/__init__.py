"""From private reports to answers: estimates of counts, sums and histograms, with intervals."""

from liftlock.estimate.aggregate import Aggregate
from liftlock.estimate.estimating import estimate, estimate_reports
from liftlock.estimate.fit import Fit
from liftlock.estimate.options import METHODS
from liftlock.estimate.question import QUESTIONS, Question
from liftlock.estimate.result import Answer, Estimate

__all__ = [
    "METHODS",
    "QUESTIONS",
    "Aggregate",
    "Answer",
    "Estimate",
    "Fit",
    "Question",
    "estimate",
    "estimate_reports",
]
