"""Ways to estimate, one class each: `ESTIMATORS` names them all."""

from typing import Any

from liftlock._runtime.registry import Registry
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


def _fault(estimator: object) -> str:
    if not (isinstance(estimator, type) and issubclass(estimator, Estimator)):
        return "give a class made from liftlock.estimate.estimators.Estimator"
    missing = [] if hasattr(estimator, "key") else ["key"]
    missing += sorted(getattr(estimator, "__abstractmethods__", ()))
    return f"it lacks {', '.join(missing)}" if missing else ""


ESTIMATORS: Registry[type[Estimator[Any]]] = Registry(
    "estimator",
    "liftlock.estimators",
    (
        Bayes,
        Unbiased,
        Likelihood,
        Consistent,
    ),
    names=lambda estimator: [estimator.key],
    fault=_fault,
)
"""Every estimator by the name it is asked for; `liftlock.estimate.api.choose` decides unasked."""
