"""Paper 001: errors against closed forms and brute force, a curator's counts, and two loaders."""

from __future__ import annotations

import gzip
import itertools
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import liftlock as ll
from liftlock.designs import centralised_error
from liftlock_papers.data.folder import DataFolder
from liftlock_papers.data.gowalla import read_check_ins
from liftlock_papers.data.kosarak import read_clicks
from liftlock_papers.figure import Verdict
from liftlock_papers.paper_001 import expected, survey_example
from liftlock_papers.paper_001.judging import (
    HALF_IMPOSSIBLE,
    half_against_ldp,
    keeps_its_promise,
    places,
)
from liftlock_papers.paper_001.local_priors import Flips, Users, flips, simulate
from liftlock_papers.paper_001.names import (
    OPTIMUM,
    OPTIMUM_HALF,
    PUBLISHED,
    PUBLISHED_HALF,
    RESPONSE,
    UNARY,
)
from liftlock_papers.paper_001.releases import (
    bit,
    error_of,
    error_on,
    leakage_of,
    merged_response,
    optimum,
    published,
    response,
    unary,
)
from liftlock_papers.paper_001.trusted_curator import (
    CURATOR,
    CURATOR_PUBLISHED,
    CountDistribution,
    clipped_count,
    count_distribution,
    curator_points,
    exact_joint,
)
from liftlock_papers.points import Point, Points
from liftlock_papers.setting import Setting

SHARES = [Fraction(1, 2), Fraction(3, 10), Fraction(9, 10), Fraction(1, 100), Fraction(36, 41270)]
BUDGETS = [Fraction(1, 2), Fraction(1), Fraction(3), Fraction(8)]


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", SHARES, ids=str)
def test_errors_of_a_bit_are_those_of_the_closed_forms(share: Fraction) -> None:
    p = float(min(share, 1 - share))
    for epsilon in BUDGETS:
        grown = math.exp(epsilon)
        plain = p * (1 - p) * (2 / grown - 1 / grown**2)
        true = plain if p >= 1 / (1 + grown) else p * (1 - p) - p**2 * (grown - 1) ** 2 / grown
        top = (p * (1 - p) * (grown - 1)) ** 2
        warner = p * (1 - p) - top / ((1 - p + p * grown) * (grown - p * grown + p))
        prior = bit(share)
        assert error_of(published(prior, epsilon), "mean") == pytest.approx(plain, rel=1e-6)
        assert error_of(optimum(prior, epsilon, "mean"), "mean") == pytest.approx(true, rel=1e-6)
        ldp = response(prior, epsilon, "mean")
        assert error_of(ldp, "mean") == pytest.approx(warner, rel=1e-6)
        free = grown / (grown - 1) ** 2
        assert error_of(ldp, "mean", "unbiased") == pytest.approx(free, rel=1e-6)
        leaks = max(epsilon, math.log((grown - 1 + p) / p) - epsilon)
        assert leakage_of(published(prior, epsilon)) == pytest.approx(leaks, rel=1e-6)
        assert leakage_of(optimum(prior, epsilon, "mean")) <= epsilon


def test_example_1_has_the_error_of_one_bit_of_the_unary_code() -> None:
    points = Points(tuple(survey_example.errors(Setting(quick=True))))
    for epsilon in (1.0, 3.0):
        grown = math.exp(epsilon)
        assert points.at("b", UNARY, epsilon) == pytest.approx(
            100 * (4 * grown / (grown - 1) ** 2 + 0.1), rel=1e-9
        )
    grown = math.exp(2)
    made = unary(ll.Prior.uniform(range(20)), Fraction(2))
    assert error_of(made, "histogram", "unbiased") == pytest.approx(
        80 * grown / (grown - 1) ** 2 + 1, rel=1e-9
    )


def test_errors_on_data_are_those_of_all_reports_that_people_may_give() -> None:
    prior = ll.Prior.from_counts({"a": 5, "b": 3, "c": 2})
    made = published(prior, Fraction(1))
    rows, people = made.table.floats(), [0, 2, 2]
    joint = prior.floats()[:, None] * rows
    beliefs = (joint / joint.sum(axis=0)).T
    truth = np.array([1.0, 0.0, 2.0])
    expected = 0.0
    for reports in itertools.product(range(3), repeat=3):
        chance = math.prod(rows[x, y] for x, y in zip(people, reports, strict=True))
        expected += chance * float(((beliefs[list(reports)].sum(axis=0) - truth) ** 2).sum())
    assert error_on(made, prior, truth, [0, 1, 2]) == pytest.approx(expected / 3, rel=1e-12)


def test_half_the_budget_of_lip_is_a_budget_of_ldp() -> None:
    """Why LIP at half the budget cannot beat the best under LDP."""
    prior = ll.Prior.from_counts({0: 50, 1: 30, 2: 13, 3: 6, 4: 1})
    for epsilon in (Fraction(1), Fraction(3)):
        for aim in ("mean", "histogram"):
            made = optimum(prior, epsilon / 2, aim)
            assert ll.LDP(epsilon).certify(made.channel, prior).holds


def test_response_on_merged_values_keeps_ldp_and_is_never_worse_than_response() -> None:
    prior = ll.Prior.from_counts({x: 1000 // (x + 1) ** 2 for x in range(8)})
    for epsilon in (Fraction(1), Fraction(4)):
        made = merged_response(prior, epsilon)
        assert ll.LDP(epsilon).certify(made.channel, prior).holds
        plain = error_of(response(prior, epsilon, "histogram"), "histogram")
        assert error_of(made, "histogram") < plain
        assert error_of(made, "histogram") > error_of(
            optimum(prior, epsilon, "histogram"), "histogram"
        )


# --- people with priors of their own --------------------------------------------------------------


def test_mechanisms_of_likely_and_of_rare_bits_mirror_each_other() -> None:
    for share in (Fraction(9, 10), Fraction(1, 10)):
        found = flips(OPTIMUM, share, Fraction(1))
        made = Flips.of(optimum(bit(share), Fraction(1), "mean"))
        assert (found.zero, found.one) == pytest.approx((made.zero, made.one), abs=1e-9)
        assert found.error(float(share)) == pytest.approx(
            error_of(optimum(bit(share), Fraction(1), "mean"), "mean"), rel=1e-9
        )


def test_simulated_errors_are_the_exact_ones() -> None:
    """Within five standard deviations of the mean: a false alarm in a million, with fixed seeds."""
    users = Users((Fraction(1, 8), Fraction(5, 8)), (40, 25))
    used = [flips(RESPONSE, share, Fraction(1)) for share in users.shares]
    exact = sum(
        number * each.error(float(share))
        for share, number, each in zip(users.shares, users.numbers, used, strict=True)
    )
    squared = simulate(users, used, 20_000, np.random.default_rng(1))
    assert abs(squared.mean() - exact) < 5 * squared.std() / math.sqrt(20_000)


def test_what_a_count_tells_about_a_bit_is_that_of_all_people() -> None:
    shares = [Fraction(1, 10), Fraction(1, 2), Fraction(4, 5)]
    joint = exact_joint(shares)
    distributions: dict[tuple[int, int], list[Fraction]] = {}
    for bits in itertools.product((0, 1), repeat=3):
        chance = math.prod(
            (share if b else 1 - share for b, share in zip(bits, shares, strict=True)),
            start=Fraction(1),
        )
        for user, value in enumerate(bits):
            distribution = distributions.setdefault((user, value), [Fraction(0)] * 4)
            distribution[sum(bits)] += chance / 3
    total = sum(sum(row) for row in joint.counts)
    rows = dict(zip(joint.secrets.labels, joint.counts, strict=True))
    for (user, value), distribution in distributions.items():
        found = rows[f"user {user} says {value}"]
        assert [Fraction(count, total) for count in found] == distribution
    assert count_distribution(shares)[0] == Fraction(9, 10) * Fraction(1, 2) * Fraction(1, 5)


def test_the_best_curator_of_people_with_one_prior_has_the_error_of_the_closed_form() -> None:
    budgets = [Fraction(1), Fraction(2)]
    points = Points(tuple(curator_points("5", [Fraction(1, 10)], [5], budgets)))
    for epsilon in budgets:
        for curve, wrong in ((CURATOR, False), (CURATOR_PUBLISHED, True)):
            closed = centralised_error(5, "0.1", epsilon, as_published=wrong)
            found = points.at("5", curve, float(epsilon))
            assert found == pytest.approx(math.sqrt(closed.error / 5), rel=1e-5)
    assert points.leakage("5", CURATOR_PUBLISHED)[0] == pytest.approx(1.90048, abs=1e-5)
    assert points.leakage("5", CURATOR)[0] <= 1


def test_the_law_of_many_people_is_the_exact_one() -> None:
    shares, numbers = (Fraction(1, 8), Fraction(5, 8)), (4, 3)
    distribution = CountDistribution.of(shares, numbers)
    everybody = [shares[0]] * 4 + [shares[1]] * 3
    assert distribution.masses == pytest.approx(
        [float(mass) for mass in count_distribution(everybody)]
    )
    rest = [float(mass) for mass in count_distribution(everybody[1:])]
    assert distribution.given[0] == pytest.approx([*rest, 0.0])
    assert distribution.given[1] == pytest.approx([0.0, *rest])
    assert distribution.weights.sum() == pytest.approx(1.0)
    rows, masses, error = distribution.released(2, 5)
    assert masses == pytest.approx(distribution.weights @ rows)
    low, high = distribution.masses[:3], distribution.masses[5:]
    brute = sum(
        float(tail @ (places - tail @ places / tail.sum()) ** 2)
        for tail, places in ((low, np.arange(3)), (high, np.arange(5, 8)))
    )
    assert error == pytest.approx(brute)


def test_the_count_of_many_people_can_be_released_nearly_as_it_is() -> None:
    distribution = CountDistribution.of((Fraction(1, 4), Fraction(3, 4)), (1000, 1000))
    error, leaks = clipped_count(distribution, Fraction(1))
    assert error / 2000 < 1e-6
    assert leaks < 0.35  # about 6 / deviation, 6 / sqrt(2000 * 3/16)


# --- judging --------------------------------------------------------------------------------------


def test_places_and_verdicts() -> None:
    points = Points(tuple(Point("a", RESPONSE, x, 1.0) for x in (1, 2, 3, 4)))
    for truths, said, found in (
        ([True] * 4, "everywhere", Verdict.CONFIRMED),
        ([False] * 4, "nowhere", Verdict.REFUTED),
        ([False, True, True, False], "from 2 to 3", Verdict.CONDITION),
        ([True, False, False, True], "at 1 and at 4", Verdict.CONDITION),
    ):
        assert places(points, "a", RESPONSE, np.array(truths)) == said
        assert Verdict.of(np.array(truths)) is found


@pytest.mark.parametrize(
    ("leakages", "found"),
    [((1.0, 2.0), Verdict.CONFIRMED), ((1.0, 2.1), Verdict.REFUTED), ((3, 3), Verdict.REFUTED)],
)
def test_one_broken_budget_refutes_a_guarantee(leakages: tuple[float, ...], found: Verdict) -> None:
    rows = [
        point
        for x, leakage in enumerate(leakages, start=1)
        for point in (
            Point("a", PUBLISHED, x, 1.0, leakage=leakage, budget=x),
            Point("a", OPTIMUM, x, 1.1, leakage=x, budget=x),
        )
    ]
    finding = keeps_its_promise(Points(tuple(rows)), ("a",), (PUBLISHED,), "the condition")
    assert finding.verdict is found
    assert finding.why == ("" if found is Verdict.CONFIRMED else "the condition")


@pytest.mark.parametrize(
    ("published_half", "half", "found"),
    [(0.9, 1.1, Verdict.REFUTED), (0.9, 0.95, Verdict.CONDITION), (1.2, 1.1, Verdict.REFUTED)],
)
def test_half_the_budget_is_judged_by_what_keeps_its_promise(
    published_half: float, half: float, found: Verdict
) -> None:
    points = Points(
        (
            Point("a", RESPONSE, 1, 1.0),
            Point("a", PUBLISHED_HALF, 1, published_half),
            Point("a", OPTIMUM_HALF, 1, half),
        )
    )
    finding = half_against_ldp(points, "a", "a claim")
    assert finding.verdict is found
    assert finding.why.endswith(HALF_IMPOSSIBLE)


# --- data -----------------------------------------------------------------------------------------


def test_sessions_of_kosarak_are_counted(tmp_path: Path) -> None:
    text = "1 2 3\n1\n4 5 6 1\n\n6 6\n"
    (tmp_path / "kosarak.dat").write_text(text)
    plain = read_clicks(DataFolder(tmp_path))
    (tmp_path / "kosarak.dat").unlink()
    (tmp_path / "kosarak.dat.gz").write_bytes(gzip.compress(text.encode()))
    assert read_clicks(DataFolder(tmp_path)) == plain
    assert plain.totals == {1: 3, 2: 1, 3: 1, 4: 1, 5: 1, 6: 3}
    assert (plain.pages, plain.above(1), plain.above(3)) == (6, 2, 0)


def test_what_is_wrong_in_kosarak_is_named(tmp_path: Path) -> None:
    (tmp_path / "kosarak.dat").write_text("1 2\n3 x\n")
    with pytest.raises(ll.InputError, match=r"kosarak\.dat, line 2"):
        read_clicks(DataFolder(tmp_path))
    (tmp_path / "kosarak.dat").unlink()
    (tmp_path / "kosarak_item_clicks_ge991.csv").write_text("item,clicks\n7,2000\n9,991\n")
    listed = read_clicks(DataFolder(tmp_path))
    assert (listed.above(1000), listed.above(990)) == (1, 2)
    with pytest.raises(ll.InputError, match="990 or more"):
        listed.above(900)
    (tmp_path / "kosarak_item_clicks_ge991.csv").write_text("page,clicks\n7,2000\n")
    with pytest.raises(ll.InputError, match="item and clicks"):
        read_clicks(DataFolder(tmp_path))


def test_popular_pages_of_kosarak() -> None:
    if not DataFolder().has("kosarak"):
        pytest.skip("the data set kosarak is not on this machine")
    clicks = read_clicks(DataFolder())
    assert (clicks.above(15_000), clicks.pages) == (36, 41_270)


SNAP = (
    "0\t2010-10-19T23:55:27Z\t30.2359091167\t-97.7951395833\t22847\n"
    "0\t2010-10-18T22:17:43Z\t59.3293\t18.0686\t420315\n"
    "1\t2010-10-12T00:21:28Z\t-33.8\t151.2\t9\n"
    "1\t2010-10-13T00:21:28Z\t30.3\t-97.8\t22847\n"
    "1\t2010-10-11T00:21:28Z\t30.3\t-197.8\t22847\n"
)


def test_check_ins_of_gowalla_are_put_into_districts(tmp_path: Path) -> None:
    (tmp_path / "loc-gowalla_totalCheckins.txt").write_text(SNAP)
    found = read_check_ins(DataFolder(tmp_path))
    assert found.last == {(24, 8): 2}
    assert found.past == {(29, 19): 1, (11, 33): 1}
    assert (found.users, found.left_out) == (2, 1)
    (tmp_path / "loc-gowalla_totalCheckins.txt").unlink()
    (tmp_path / "loc-gowalla_totalCheckins.txt.gz").write_bytes(gzip.compress(SNAP.encode()))
    assert read_check_ins(DataFolder(tmp_path)) == found
    (tmp_path / "loc-gowalla_totalCheckins.txt.gz").write_bytes(gzip.compress(b"0\tnever\n"))
    with pytest.raises(ll.InputError, match="line 1"):
        read_check_ins(DataFolder(tmp_path))


def test_slice_of_gowalla_has_the_districts_that_are_known_of_it() -> None:
    if not DataFolder().has("gowalla"):
        pytest.skip("the data set gowalla is not on this machine")
    (path,) = DataFolder().files("gowalla")
    if path.name != "world1000_checkins.csv.gz":
        pytest.skip("the whole of Gowalla is there, not the slice of 1,000 users")
    found = read_check_ins(DataFolder())
    assert (len(found.past), len(found.last), found.users) == (76, 41, 1000)
    assert (sum(found.past.values()), sum(found.last.values())) == (156_251, 1000)


def test_what_the_paper_calls_users_are_the_check_ins_of_gowalla() -> None:
    """A complete count by cells; 29 check-ins lie nowhere on earth."""
    if not DataFolder().has("gowalla"):
        pytest.skip("the data set gowalla is not on this machine")
    path = DataFolder().files("gowalla")[0].parent / "world_256x256_all_checkins.csv.gz"
    if not path.exists():
        pytest.skip("the count of all check-ins by cells is not there")
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()[1:]
    counted = sum(int(line.rpartition(",")[2]) for line in lines)
    assert expected.CHECK_INS - counted == 29
    assert expected.USERS == expected.CHECK_INS
