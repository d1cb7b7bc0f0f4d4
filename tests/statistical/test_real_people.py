"""Real people: from their answers to reports to estimates, where the data sets are at hand.

False alarms: intervals of 95 % are missed by at most 4 of 14 (once in 2,600 for independent ones),
and the seeds are fixed.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import liftlock as ll

DATA = Path(__file__).parents[3] / "shared/data"
ADULT = DATA / "adult/relationship_by_occupation_counts.csv"
STUDENTS = DATA / "student_performance"


@pytest.mark.skipif(not ADULT.is_file(), reason="the Adult counts are not beside the project")
def test_the_occupations_of_adults() -> None:
    prior = ll.read_joint(ADULT).prior
    truth = np.repeat(np.arange(len(prior.labels)), prior.counts)
    people = np.array(prior.labels, dtype=object)[truth].tolist()
    made = ll.design(prior, ll.LIP("1"), method="arc", orders=16, utility="histogram")
    parts = [made.aggregate(made.simulate(people[k::7], seed=k)) for k in range(7)]
    counted = sum(parts[1:], parts[0])
    assert counted.reports == prior.total
    free = made.estimate(counted, method="unbiased")
    missed = [
        answer.name
        for answer, count in zip(free.answers, prior.counts, strict=True)
        if answer.low is None or answer.high is None or not answer.low <= count <= answer.high
    ]
    assert len(missed) <= 4
    expected = made.expected_error(counted.reports, method="unbiased")
    errors = [answer.error for answer in free.answers]
    assert errors == pytest.approx(list(expected.errors), rel=0.05)
    # LDP at the same budget needs clearly more people for the same margin.
    others = [
        ll.design(prior, ll.LDP("1"), method=method) for method in ("subset-selection", "oue")
    ]
    wider = min(other.expected_error(1000, method="unbiased").margin for other in others)
    assert made.expected_error(1000, method="unbiased").margin < 0.8 * wider
    usual = made.estimate(counted)
    assert usual.beside is not None
    assert (usual.method, usual.beside.method) == ("unbiased", "bayes")
    assert usual.warnings == ()


def marks(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the two earlier grades of students, and in which of five classes the last one is."""
    with (STUDENTS / name).open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter=";"))
    earlier = np.array([[float(row["G1"]), float(row["G2"])] for row in rows])
    return earlier, np.array([min(int(row["G3"]) // 4, 4) for row in rows])


@pytest.mark.skipif(not STUDENTS.is_dir(), reason="the grades of students are not at hand")
def test_the_grades_of_students_with_priors_of_their_own() -> None:
    """Priors from last year's grades, by a model of another subject: better than one for all."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(max_iter=2000).fit(*marks("student-mat.csv"))
    earlier, grades = marks("student-por.csv")
    priors = ll.PerUserPriors.from_model(model, earlier).smoothed("0.01")
    made = ll.design(range(5), ll.LIP("1"), method="arc")
    assert made.audit(priors).holds
    common = ll.PerUserPriors.common(
        ll.Prior.from_data(grades.tolist(), smoothing=1, labels=range(5)), len(grades)
    )
    own = made.expected_error(priors)
    assert own.total_squared < 0.6 * made.expected_error(common).total_squared
    found = made.estimate(made.simulate(grades, priors, seed=5), priors=priors)
    counts = np.bincount(grades, minlength=5)
    held = [
        answer.low is not None and answer.high is not None and answer.low <= count <= answer.high
        for answer, count in zip(found.answers, counts, strict=True)
    ]
    assert sum(held) >= 4
    leaning = found.beside
    assert leaning is not None
    assert leaning.holds == "if the priors of the users are true"
    for answer, count, error in zip(leaning.answers, counts, own.errors, strict=True):
        # The model is of another subject: its own error comes on top of that of the reports.
        assert abs(answer.value - count) < 6 * error + 0.05 * len(grades)
