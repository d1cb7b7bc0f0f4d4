"""What is known of a student's final grade before it is released: priors, learnt from others.

The students are split into A, whose records are known, and B, who release their grades. A two-layer
neural network learns from A how attributes go with the grade, and predicts a prior for each student
of B: the local prior. Learnt from different attributes it predicts different priors: the bounded
prior. The grades of A alone give the global prior.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from liftlock import Family, Prior
from liftlock_papers.data.student_performance import HIGHEST, Students
from liftlock_papers.points import Floats

Whole = npt.NDArray[np.int64]

RELEVANT = ("studytime", "goout", "absences", "G1", "G2")
UNRELATED = ("sex", "address", "nursery", "Mjob", "Fjob")
"""Attributes that the paper names as very relevant to the final grade, and as not."""
THOUSAND = 1000
"""Predicted priors are rounded to thousandths, of which every grade has at least one."""
HIDDEN, DECAY = 16, 10.0
"""Neurons of the hidden layer and weight of its penalty: what predicts best on held-out students
among a few; with scikit-learn's usual penalty the predictions are far too sure."""


@dataclass(frozen=True, eq=False)
class Knowledge:
    """Everything that the mechanisms of one split need, for one way to group the grades."""

    truth: Whole
    """The classes of the students of B."""
    everybody: Prior
    """The global prior."""
    local: tuple[Prior, ...]
    bounded: tuple[Family, ...]


def classes_of(grades: Whole, size: int) -> Whole:
    """Group the grades 0 to 20 into classes of equal width, the last one with grade 20.

    >>> classes_of(np.array([0, 9, 10, 20]), 2).tolist()
    [0, 0, 1, 1]
    >>> classes_of(np.array([3, 4, 19, 20]), 5).tolist()
    [0, 1, 4, 4]
    >>> classes_of(np.array([0, 20]), 21).tolist()
    [0, 20]
    """
    if size == HIGHEST + 1:
        return grades
    return np.minimum(grades // (HIGHEST // size), size - 1)


def split(grades: Whole, released: int, rng: np.random.Generator) -> tuple[Whole, Whole]:
    """Split the students into A and B, of `released` students.

    B has one student of each of so many groups of neighbours in the order of the grades, so that a
    small B has the grades of all.
    """
    order = np.lexsort((rng.random(len(grades)), grades))
    groups = np.array_split(order, released)
    later = np.array([rng.choice(group) for group in groups])
    return np.setdiff1d(order, later), later


def knowledge(students: Students, size: int, known: Whole, later: Whole, steps: int) -> Knowledge:
    """Learn from the students of A, and predict for those of B."""
    classes = classes_of(students.grades, size)
    predicted = [
        _predicted(students.features(names), classes, known, later, size, steps)
        for names in (None, RELEVANT, UNRELATED)
    ]
    tallied = np.bincount(classes[known], minlength=size) + 1
    return Knowledge(
        classes[later],
        Prior.from_counts(dict(enumerate(tallied.tolist()))),
        tuple(predicted[0]),
        tuple(Family.of(list(priors)) for priors in zip(*predicted, strict=True)),
    )


def _predicted(
    features: Floats, classes: Whole, known: Whole, later: Whole, size: int, steps: int
) -> list[Prior]:
    from sklearn.neural_network import MLPClassifier
    from threadpoolctl import threadpool_limits

    network: Any = MLPClassifier(
        (HIDDEN,), alpha=DECAY, solver="lbfgs", max_iter=steps, random_state=0
    )
    # So small matrices are not worth a second thread, which would only wait for the first.
    with warnings.catch_warnings(), threadpool_limits(1):
        # Whether the last digits of the weights have settled does not matter to a prior.
        warnings.filterwarnings("ignore", message="lbfgs failed to converge")
        network.fit(features[known], classes[known])
    masses = np.zeros((len(later), size))
    masses[:, network.classes_] = network.predict_proba(features[later])
    return [in_thousandths(row) for row in masses]


def in_thousandths(masses: Floats) -> Prior:
    """Round a prior to thousandths, each class having at least one.

    >>> in_thousandths(np.array([0.9996, 0.0004])).counts
    (1000, 1)
    """
    counts = np.maximum(np.rint(THOUSAND * masses), 1).astype(np.int64)
    return Prior.from_counts(dict(enumerate(counts.tolist())))
