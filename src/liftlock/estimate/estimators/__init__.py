"""Ways to estimate, one class each: `ESTIMATORS` names them all."""

from typing import Any

from liftlock.estimate.estimators.base import Estimator, Linear
from liftlock.estimate.estimators.bayes import Bayes
from liftlock.estimate.estimators.consistent import Consistent
from liftlock.estimate.estimators.likelihood import Likelihood
from liftlock.estimate.estimators.unbiased import Unbiased

__all__ = [
    "ESTIMATORS",
    "Bayes",
    "Consistent",
    "Estimator",
    "Likelihood",
    "Linear",
    "Unbiased",
]

ESTIMATORS: dict[str, type[Estimator[Any]]] = {
    cls.key: cls for cls in (Bayes, Unbiased, Likelihood, Consistent)
}
"""Every estimator by the name it is asked for; `liftlock.estimate.api.choose` decides unasked."""
