"""Paper 000 on real data: the loaders, the priors, and the mechanisms behind Figs. 11 and 12."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from liftlock import LDP, LIP, Family, InputError, Prior
from liftlock.model.continuous import Mixture
from liftlock_papers.data import DataFolder
from liftlock_papers.data.baltimore_salaries import read_salaries, salaries_of
from liftlock_papers.data.student_performance import Students, read_students, students_of
from liftlock_papers.figure import Verdict
from liftlock_papers.paper_000.comparing import below, judged
from liftlock_papers.paper_000.salary_noise import published_deviations, sufficient, true_delta
from liftlock_papers.paper_000.salary_release import sampling_delta, sampling_error
from liftlock_papers.paper_000.student_priors import classes_of, in_thousandths, knowledge, split
from liftlock_papers.paper_000.student_release import certified, errors, leakage, response_error
from liftlock_papers.paper_000.unary_readings import at_random, median_distribution
from liftlock_papers.points import Floats, Point, Points

HEADER = 'school;"sex";age;studytime;G1;G2;G3\n'


def _folder_with(key: str) -> DataFolder:
    folder = DataFolder()
    if not folder.has(key):
        pytest.skip(f"the data set {key} is not on this machine")
    return folder


# --- loaders -------------------------------------------------------------------------------------


def test_students_are_read_as_they_are_published(tmp_path: Path) -> None:
    path = tmp_path / "student-mat.csv"
    path.write_text(f'{HEADER}"GP";"F";18;2;"5";"6";6\n"MS";"M";17;1;"0";"11";11\n\n')
    students = students_of(path)
    assert len(students) == 2
    assert students.grades.tolist() == [6, 11]
    assert students.attributes["G1"] == ("5", "0")
    assert students.features(("sex", "age")).tolist() == [[-1.0, 1.0], [1.0, -1.0]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a;b\n1;2\n", "different columns, one of them G3"),
        (HEADER, "no students"),
        (f"{HEADER}GP;F;18;2;5;6;21\n", "a final grade is 0 to 20 at .*, line 2: '21'"),
        (f"{HEADER}GP;F;18;2;5;6\n", "a row has 7 fields at .* line 2: 6"),
    ],
)
def test_what_is_no_file_of_students_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "student-mat.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        students_of(path)


def test_the_students_of_the_paper() -> None:
    students = read_students(_folder_with("student_performance"))
    assert (len(students), len(students.attributes)) == (395, 32)
    assert students.grades.mean() == pytest.approx(10.415, abs=5e-4)
    assert (students.grades == 0).sum() == 38
    assert np.bincount(classes_of(students.grades, 2)).tolist() == [130, 265]


@pytest.mark.parametrize(
    "text",
    [
        "ROW,JOBTITLE,GROSS\n1,Aide,25743.94\n2,Aide,\n3,Clerk,0\n",
        '\ufeffName,Gross Pay,JobTitle\n"Doe, A","$25,743.94",Aide\nB,,Aide\nC,$0.00,Clerk\n',
        "NAME,ANNUAL_RT,GROSS\r\nA,1,25743.94\r\nB,2,  \r\nC,3,0\r\n",
    ],
)
def test_salaries_are_read_as_the_city_publishes_them(tmp_path: Path, text: str) -> None:
    path = tmp_path / "salaries.csv"
    path.write_text(text, encoding="utf-8", newline="")
    found = salaries_of(path)
    assert found.gross.tolist() == [25743.94, 0.0]
    assert found.missing == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("NAME,PAY\nA,1\n", "one column GROSS, here are 0"),
        ("GROSS,GrossPay\n1,1\n", "one column GROSS, here are 2"),
        ("NAME,GROSS\nA,lots\n", "not an amount of money at salaries.csv, line 2: 'lots'"),
        ("NAME,GROSS\nA,-3\n", "not an amount of money"),
        ("NAME,GROSS\nA\n", "a row has 2 fields, as the header at salaries.csv, line 2: 1"),
        ("NAME,GROSS\nA,\n", "no salaries"),
    ],
)
def test_what_is_no_file_of_salaries_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "salaries.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        salaries_of(path)


def test_the_salaries_of_the_paper() -> None:
    found = read_salaries(_folder_with("baltimore_salaries"))
    assert (len(found.gross), found.missing) == (13_158, 653)
    assert found.gross.mean() == pytest.approx(62_300.95, abs=0.005)
    assert found.gross.max() == 260_775.26


# --- priors of students --------------------------------------------------------------------------


def test_a_split_is_one_student_of_each_group() -> None:
    grades = np.repeat(np.arange(21), 3)
    known, later = split(grades, 21, np.random.default_rng(1))
    assert sorted([*known, *later]) == list(range(63))
    assert grades[later].tolist() == list(range(21))


def test_a_network_learns_what_goes_with_the_grade() -> None:
    rng = np.random.default_rng(2)
    grades = rng.integers(0, 21, 80)
    names = ("studytime", "goout", "absences", "G1", "G2", "sex", "address", "nursery")
    attributes = {name: tuple(str(rng.integers(0, 9)) for _ in grades) for name in names}
    attributes |= {job: tuple(rng.choice(["a", "b"], len(grades))) for job in ("Mjob", "Fjob")}
    attributes["G2"] = tuple(str(grade) for grade in grades)
    known, later = split(grades, 10, rng)
    found = knowledge(Students(attributes, grades), 2, known, later, 50)
    assert sum(found.everybody.counts) == 70 + 2
    for prior, family, truth in zip(found.local, found.bounded, found.truth, strict=True):
        assert min(prior.counts) >= 1
        assert prior in family.priors
        assert prior.floats()[truth] > 0.5
    assert in_thousandths(np.array([0.25, 0.75, 0.0])).counts == (250, 750, 1)


# --- releases of grades --------------------------------------------------------------------------


def test_the_published_response_in_fractions() -> None:
    masses = [Fraction(1, 10), Fraction(2, 10), Fraction(7, 10)]
    ratio = Fraction(math.exp(1.5))
    for x, expected in enumerate(response_error(np.array([0.1, 0.2, 0.7]), 1.5)):
        row = [mass / ratio for mass in masses]
        row[x] = 1 - (1 - masses[x]) / ratio
        assert sum(row) == 1
        assert float(sum(p * abs(y - x) for y, p in enumerate(row))) == pytest.approx(expected)


@pytest.mark.parametrize(("rare", "epsilon"), [(100, 1.0), (400, 1.0), (250, 2.5), (30, 4.0)])
def test_two_classes_have_the_error_of_the_closed_form(rare: int, epsilon: float) -> None:
    prior = Prior.from_counts({0: 1000 - rare, 1: rare})
    ratio, p = math.exp(epsilon), rare / 1000
    low = max(p / ratio, 1 - ratio * (1 - p))
    high = min(ratio * p, 1 - (1 - p) / ratio)
    share = (p - low) / (high - low)
    least = share * (1 - high) + (1 - share) * low if low < 0.5 < high else min(p, 1 - p)
    made = certified(prior, LIP, epsilon)
    assert prior.floats() @ errors(made) == pytest.approx(least, rel=1e-5)
    assert leakage(made) <= epsilon


def test_certified_mechanisms_keep_every_prior_of_a_family() -> None:
    first = Prior.from_counts({0: 1, 1: 5, 2: 10, 3: 4})
    second = Prior.from_counts({0: 6, 1: 6, 2: 5, 3: 3})
    made = certified(Family.of([first, second]), LIP, 1.5)
    rows = made.table.floats()
    logs = [np.abs(np.log(rows / (prior.floats() @ rows))).max() for prior in (first, second)]
    assert max(logs) <= 1.5
    assert leakage(made) >= max(logs) - 1e-9
    under_ldp = certified(first, LDP, 1.5)
    ratios = under_ldp.table.floats().max(axis=0) / under_ldp.table.floats().min(axis=0)
    assert np.log(ratios.max()) <= 1.5
    masses = first.floats()
    assert masses @ errors(certified(first, LIP, 1.5)) <= masses @ errors(under_ldp)
    assert (errors(certified(first, LIP, 0.0)) == [2.0, 1.0, 0.0, 1.0]).all()


@pytest.mark.parametrize("size", [2, 5, 8])
def test_readings_of_unary_encoding_by_brute_force(size: int) -> None:
    rng = np.random.default_rng(size)
    masses = rng.dirichlet(np.ones(size))
    epsilon = 1.3
    ratio = math.exp(epsilon)
    other = 1 / (ratio + 1)
    medians, drawn = np.zeros((size, size)), np.zeros((size, size))
    for bits in itertools.product((0, 1), repeat=size):
        posterior = masses * np.where(bits, ratio, 1.0)
        median = np.searchsorted(posterior.cumsum() / posterior.sum(), 0.5)
        some = np.flatnonzero(bits) if any(bits) else np.arange(size)
        for x in range(size):
            factors = [other if bit else 1 - other for bit in bits]
            factors[x] = 0.5
            medians[x, median] += math.prod(factors)
            drawn[x, some] += math.prod(factors) / len(some)
    np.testing.assert_allclose(median_distribution(masses, epsilon), medians, atol=1e-12)
    np.testing.assert_allclose(at_random(size, epsilon), drawn, atol=1e-12)


# --- releases of salaries ------------------------------------------------------------------------

TWO_PEAKS = Mixture.of([(0.3, 10.0, 4.0), (0.7, 50.0, 15.0)])


def _normal(y: Floats, mean: float, deviation: float) -> Floats:
    density: Floats = np.exp(-0.5 * ((y - mean) / deviation) ** 2)
    return density / (deviation * math.sqrt(2 * math.pi))


def test_published_deviations_need_their_delta_by_quadrature() -> None:
    places = np.array([5.0, 90.0])
    (found,) = published_deviations(TWO_PEAKS, places, 1.0, [0.01], 61)
    for x, rough in zip(places, found, strict=True):
        sigma = sufficient(TWO_PEAKS, x, 1.0, 0.01, rough)
        assert sigma == pytest.approx(rough, rel=0.02)
        y = np.linspace(-15 * sigma, 100 + 15 * sigma, 40_001)
        alone = _normal(y, x, sigma)
        distributions = zip(TWO_PEAKS.weights, TWO_PEAKS.means, TWO_PEAKS.deviations, strict=True)
        output = sum(
            share * _normal(y, mean, math.hypot(sd, sigma)) for share, mean, sd in distributions
        )
        up = np.maximum(alone - math.e * output, 0).sum() * (y[1] - y[0])
        down = np.maximum(output - math.e * alone, 0).sum() * (y[1] - y[0])
        assert max(up, down) == pytest.approx(0.01, rel=1e-4)


def test_the_true_delta_of_noise_by_quadrature() -> None:
    values = np.array([0.0, 1.0, 2.0, 5.0])
    sigmas = np.array([0.8, 0.5, 0.5, 2.0])
    y = np.linspace(-20, 25, 200_001)
    rows = np.array([_normal(y, x, sd) for x, sd in zip(values, sigmas, strict=True)])
    output, ratio = rows.mean(axis=0), math.exp(0.5)
    ups = np.maximum(rows - ratio * output, 0).sum(axis=1) / ratio
    downs = np.maximum(output - ratio * rows, 0).sum(axis=1)
    expected = max(ups.max(), downs.max()) * (y[1] - y[0])
    found = true_delta(values, sigmas, 0.5, 2000)
    assert expected * 0.999 <= found <= expected * (1 + 1e-6)


def test_the_error_of_sampling_by_quadrature() -> None:
    people = np.array([0.0, 20.0, 75.0])
    y = np.linspace(-100, 200, 300_001)
    density = TWO_PEAKS.density(y) * (y[1] - y[0])
    kept = 0.01 * math.exp(2)  # 000 Prop 2, its first branch
    expected = (1 - kept) * np.mean([np.abs(x - y) @ density for x in people])
    assert sampling_error(people, TWO_PEAKS, 2.0, 0.01) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.01), (2.0, 0.01), (4.0, 0.01), (1.0, 0.4)])
@pytest.mark.parametrize("means", [(50.0, 60.0), (10.0, 12.0)])
def test_the_true_delta_of_sampling_by_atoms(
    epsilon: float, delta: float, means: tuple[float, float]
) -> None:
    """Definition 5 on cells so fine that each is nearly nothing, by its own sums."""
    distribution = Mixture.of([(0.5, means[0], 15.0), (0.5, means[1], 15.0)])
    edges, shares = np.array([0.0, 40.0, 100.0]), np.array([0.2 / 40, 0.8 / 60])
    ratio = math.exp(epsilon)
    kept = min(delta * ratio, 1 - 1 / ratio + delta / ratio)  # 000 Prop 2
    y = (np.arange(-100_000, 200_000) + 0.5) / 1000
    true = np.where((y > 0) & (y < 100), np.where(y < 40, *shares), 0.0) / 1000
    fresh = distribution.density(y) / 1000
    output = kept * true + (1 - kept) * fresh
    needs = []
    for x in (100_001, 150_000, 199_999):
        row = (1 - kept) * fresh
        row[x] += kept
        up = np.maximum(row - ratio * output, 0).sum() / ratio
        needs += [up, np.maximum(output - ratio * row, 0).sum()]
    found = sampling_delta(shares, edges, distribution, epsilon, delta)
    assert found == pytest.approx(max(needs), rel=1e-3)
    assert found >= min(delta, kept / ratio) * (1 - 1e-12)


# --- verdicts ------------------------------------------------------------------------------------


def test_a_verdict_follows_from_all_comparisons() -> None:
    rows = [Point("a", "x", e, y) for e, y in ((0, 9), (1, 2), (2, 3))]
    rows += [Point("a", "z", e, y) for e, y in ((0, 1), (1, 2), (2, 2))]
    wins = below(Points(tuple(rows)), "a", "x", "z")
    assert wins == [True, False]
    assert judged("c", wins, "", "why").verdict is Verdict.CONDITION
    assert judged("c", wins[:1], "", "why").verdict is Verdict.CONFIRMED
    assert judged("c", wins[1:], "", "why").verdict is Verdict.REFUTED
