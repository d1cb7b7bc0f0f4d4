"""What the figures of paper 002 are computed from, against definitions and brute force."""

from __future__ import annotations

import gzip
import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from scipy.optimize import linprog

from liftlock import Alphabet, Channel, InputError, Joint
from liftlock_papers.data import DataFolder
from liftlock_papers.data.adult import RAREST, read_adult
from liftlock_papers.figure import Verdict
from liftlock_papers.paper_002 import expected
from liftlock_papers.paper_002.histogram import extremes
from liftlock_papers.paper_002.joints import joints_of, random_joints
from liftlock_papers.paper_002.judging import much_above, never_below
from liftlock_papers.paper_002.promises import Leak, Promise
from liftlock_papers.paper_002.sweeps import Mechanism, Plan, Sweep, audited, make
from liftlock_papers.paper_002.tradeoff import LOWER, UTILITY, points_of
from liftlock_papers.points import Point, Points
from liftlock_papers.setting import Setting

ROW = "39, State-gov, 77516, Bachelors, 13, Never-married, {}, {}, White, Male, 0, 0, 40, ?, <=50K"
JOINTS = random_joints(6, 17, 5, seed="tests")


def entropy(masses: np.ndarray) -> float:
    positive = masses[masses > 0]
    return float(-(positive * np.log(positive)).sum())


# --- Adult ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("packed", [False, True])
def test_adult_is_read_as_it_is_published(tmp_path: Path, packed: bool) -> None:
    rows = [("Sales", "Husband"), ("?", "Wife"), ("Sales", "Wife"), ("Sales", "Husband")]
    text = "".join(ROW.format(*row) + "\n" for row in [*rows, ("?", RAREST)]) + "\n"
    if packed:
        (tmp_path / "adult.data.gz").write_bytes(gzip.compress(text.encode()))
    else:
        (tmp_path / "adult.data").write_text(text)
    joint = read_adult(DataFolder(tmp_path), without=(RAREST,))
    assert joint.secrets.labels == ("Husband", "Wife")
    assert joint.inputs.labels == ("?", "Sales")
    assert joint.counts == ((0, 2), (1, 1))
    assert len(read_adult(DataFolder(tmp_path)).secrets) == 3


@pytest.mark.parametrize("text", ["age,workclass\n39, State-gov\n", "\n"])
def test_other_files_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "adult.data").write_text(text)
    with pytest.raises(InputError, match=r"adult\.data"):
        read_adult(DataFolder(tmp_path))


@pytest.mark.skipif(not DataFolder().has("adult"), reason="the Adult data are not here")
def test_the_real_adult_has_the_published_counts() -> None:
    joint = read_adult(DataFolder())
    assert joint.total == 32_561
    assert (len(joint.secrets), len(joint.inputs)) == (6, 15)
    assert joint.secret_prior["Husband"] == Fraction(13_193, 32_561)
    assert joint.prior["?"] == Fraction(1_843, 32_561)
    rarest = min(joint.secrets.labels, key=joint.secret_prior.__getitem__)
    assert rarest == RAREST
    (five,) = joints_of(Setting(), "adult", 1)
    assert five.total == 32_561 - 981


# --- audits ---------------------------------------------------------------------------------------


def lifts_by_definition(joint: Joint, channel: Channel) -> list[list[Fraction]]:
    """P(s, y) / (P(s) P(y)), a row for each output that happens."""
    rows = []
    for label in channel.outputs.labels:
        shares = [channel.probability(x, label) for x in joint.inputs.labels]
        both = [
            sum((c * w for c, w in zip(row, shares, strict=True)), Fraction(0))
            for row in joint.counts
        ]
        if sum(both):
            rows.append(
                [
                    joint.total * value / (sum(row) * sum(both))
                    for value, row in zip(both, joint.counts, strict=True)
                ]
            )
    return rows


MECHANISMS: tuple[Mechanism, ...] = (
    "watchdog as published",
    "watchdog",
    "merging as printed",
    "merging",
    "subset response",
    "optimum",
)


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("promise", [Promise("alip", "0.65"), Promise("ldp")])
def test_a_broken_budget_is_found_by_definition(mechanism: Mechanism, promise: Promise) -> None:
    plan = Plan(mechanism, promise)
    for joint, epsilon in itertools.product(JOINTS[:2], ("1", "4")):
        outcome, broken = audited(plan, make(plan, joint, epsilon), joint, epsilon)
        rows = lifts_by_definition(joint, outcome.channel)
        leak = Leak(
            max(max(row) for row in rows),
            1 / min(min(row) for row in rows),
            max(max(row) / min(row) for row in rows),
        )
        assert outcome.leak == leak
        most = math.log(leak.ratio or 0)
        if promise.kind == "alip":
            most = max(math.log(leak.largest) / 0.35, math.log(leak.inverse or 0) / 0.65)
        assert promise.needed(leak) == pytest.approx(most)
        assert broken == (most > float(epsilon) * (1 + 1e-12))
        masses = joint.prior.floats()
        joined = outcome.channel.floats() * masses[:, None]
        said = entropy(masses) + entropy(joined.sum(axis=0)) - entropy(joined.ravel())
        assert outcome.information == pytest.approx(said / entropy(masses), abs=1e-12)


def test_the_watchdog_of_the_paper_and_its_smallest_counterexample() -> None:
    """002 eq. (6) and eq. (11); the crowd of one symbol that leaks ln 3 instead of 0.4."""
    plan = Plan("watchdog as published", Promise("alip", "0.65"))
    for joint, epsilon in itertools.product(JOINTS, ("1", "2.5")):
        outcome, _ = audited(plan, make(plan, joint, epsilon), joint, epsilon)
        lowest, highest = extremes(joint)
        risky = (-lowest > 0.65 * float(epsilon)) | (highest > 0.35 * float(epsilon))
        masses = joint.prior.floats()
        crowd = masses[risky]
        lost = float((crowd * np.log(crowd.sum() / crowd)).sum())
        assert outcome.information == pytest.approx(1 - lost / entropy(masses), abs=1e-12)
    small = Joint.from_rows(Alphabet.of("st"), Alphabet.of("abc"), [[25, 23, 2], [20, 20, 10]])
    even = Plan("watchdog as published", Promise("alip", "0.5"))
    outcome, broken = audited(even, make(even, small, "0.8"), small, "0.8")
    assert broken
    assert outcome.leak.inverse == 3
    assert even.promise.needed(outcome.leak) == pytest.approx(2 * math.log(3))


def test_the_optimum_is_the_least_entropy_over_all_vertices() -> None:
    """002 eq. (12), by brute force over every choice of tight limits."""
    (joint,) = random_joints(1, 4, 2, seed="small")
    masses = joint.prior.floats()
    cells = np.array(joint.counts, dtype=float) / joint.total
    ratio = (cells / masses) / cells.sum(axis=1, keepdims=True)
    low, high = math.exp(-0.65), math.exp(0.35)
    limits = np.vstack([np.eye(4), ratio, -ratio])
    bounds = np.concatenate([np.zeros(4), [low, low], [-high, -high]])
    vertices = []
    for tight in itertools.combinations(range(len(limits)), 3):
        system = np.vstack([np.ones(4), limits[list(tight)]])
        if abs(np.linalg.det(system)) > 1e-9:
            point = np.linalg.solve(system, [1.0, *bounds[list(tight)]])
            if (limits @ point >= bounds - 1e-9).all():
                vertices.append(np.clip(point, 0, None))
    table = np.array(vertices)
    best = linprog([entropy(v) for v in table], A_eq=table.T, b_eq=masses)
    assert best.fun is not None
    plan = Plan("optimum", Promise("alip", "0.65"))
    outcome, _ = audited(plan, make(plan, joint, "1"), joint, "1")
    assert outcome.information == pytest.approx(1 - best.fun / entropy(masses), abs=2e-6)


def information_of_subsets(joint: Joint, epsilon: float) -> float:
    """002 Algorithm 1 for LIP, subsets until no risky symbol is left: I(X; Y) / H(X)."""
    cells = np.array(joint.counts, dtype=float) / joint.total

    def risk(group: list[int]) -> float:
        both = cells[:, group].sum(axis=1)
        with np.errstate(divide="ignore"):
            return float(np.abs(np.log(both / both.sum() / cells.sum(axis=1))).max())

    masses = cells.sum(axis=0)
    risky = [x for x in range(len(masses)) if risk([x]) > epsilon]
    groups, waiting = [], sorted(risky, key=lambda x: -risk([x]))
    while waiting:
        group = [waiting.pop(0)]
        while waiting and risk(group) > epsilon:
            best = min(waiting, key=lambda x: risk([*group, x]))
            waiting.remove(best)
            group.append(best)
        groups.append(group)
    while len(groups) > 1 and risk(groups[-1]) > epsilon:
        last = groups.pop()
        best_group = min(groups, key=lambda group: risk(last + group))
        groups.remove(best_group)
        groups.append(last + best_group)
    crowds = np.array([masses[group].sum() for group in groups])
    return entropy(np.concatenate([crowds, np.delete(masses, risky)])) / entropy(masses)


def test_the_printed_risk_of_lip_gives_the_numbers_of_the_text() -> None:
    """002 section 4: 0.73 at lambda = 0.5, epsilon = 1; and so does the risk that is drawn."""
    plan = Plan("merging", Promise("alip", "0.5"))
    found = []
    for joint in random_joints(60, 17, 5, seed="17 x 5"):
        drawn, _ = audited(plan, make(plan, joint, "1"), joint, "1")
        found.append((information_of_subsets(joint, 0.5), drawn.information))
    printed, drawn_mean = np.mean(found, axis=0)
    assert printed == pytest.approx(0.73, abs=0.02)
    assert drawn_mean == pytest.approx(printed, abs=0.02)


@pytest.mark.skipif(not DataFolder().has("adult"), reason="the Adult data are not here")
def test_the_printed_risk_of_lip_gives_the_number_of_adult() -> None:
    (joint,) = joints_of(Setting(), "adult", 1)
    assert information_of_subsets(joint, 0.5) == pytest.approx(0.73, abs=0.005)


@pytest.mark.skipif(not DataFolder().has("adult"), reason="the Adult data are not here")
@pytest.mark.parametrize("kind", ["l1", "chi2", "alpha"])
def test_the_printed_algorithm_breaks_the_limits_of_the_measures(
    kind: Literal["l1", "chi2", "alpha"],
) -> None:
    (joint,) = joints_of(Setting(), "adult", 1)
    plan = Plan("merging as printed", Promise(kind, "0.5", 2 if kind == "alpha" else 0))
    assert audited(plan, make(plan, joint, "2"), joint, "2")[1]


@pytest.mark.parametrize(
    ("promise", "measure", "limit"),
    [
        (Promise("l1", "0.65"), lambda p, v: p @ np.abs(v - 1), lambda e: math.exp(e) - 1),
        (Promise("chi2", "0.5"), lambda p, v: p @ (v - 1) ** 2, lambda e: (math.exp(e) - 1) ** 2),
        (Promise("alpha", "0.5", 10), lambda p, v: (p @ v**10) ** 0.1, math.exp),
    ],
)
def test_averaged_measures_keep_both_limits(
    promise: Promise,
    measure: Callable[[np.ndarray, np.ndarray], float],
    limit: Callable[[float], float],
) -> None:
    """002 eq. (31)-(36) and the limits of section 6.2; merging uses what it is given."""
    plan, share = Plan("merging", promise), float(promise.share)
    for joint in JOINTS[:2]:
        outcome, broken = audited(plan, make(plan, joint, "1"), joint, "1")
        lifts = np.array(lifts_by_definition(joint, outcome.channel), dtype=float)
        secrets = joint.secret_prior.floats()
        assert max(measure(secrets, row) for row in lifts) <= limit(1 - share)
        assert max(measure(secrets, 1 / row) for row in lifts) <= limit(share)
        assert not broken
        assert outcome.information > 0.4


# --- points and verdicts --------------------------------------------------------------------------


def test_a_mean_curve_is_marked_where_joints_break_their_budget() -> None:
    broken = np.zeros((2, 50))
    broken[1, :2] = 1
    needed = np.where(broken > 0, 7.0, 1.0)
    flat = np.ones((2, 50))
    found = Sweep(("2", "4"), flat, flat, flat, needed, broken)
    plan = Plan("watchdog as published", Promise("alip", "0.5"))
    points = Points(tuple(points_of("curve", plan, found)))
    kept, marked = points.of(UTILITY, "curve")
    assert (kept.broken, marked.broken) == (False, True)
    assert marked.leakage == 7.0
    assert [row.broken for row in points.of(LOWER, "curve")] == [False, False]


def test_a_curve_above_another_is_judged_at_every_budget() -> None:
    def verdict(*differences: float) -> Verdict:
        rows = [
            point
            for x, gap in enumerate(differences)
            for point in (Point("a", "one", x, 0.5 + gap), Point("a", "two", x, 0.5))
        ]
        return never_below("claim", Points(tuple(rows)), "a", "one", ("two",)).verdict

    assert verdict(0.0, 0.1, 0.2) is Verdict.CONFIRMED
    assert verdict(0.0, 0.1, -0.2) is Verdict.CONDITION
    assert verdict(0.1, -0.1, -0.2) is Verdict.CONDITION
    assert verdict(-0.1, -0.1, -0.2) is Verdict.REFUTED


@pytest.mark.parametrize(
    ("gaps", "found"),
    [
        ((0.06, 0.2), Verdict.CONFIRMED),
        ((0.04, 0.2), Verdict.CONDITION),
        ((0.04, -0.2), Verdict.REFUTED),
    ],
)
def test_much_more_is_more_than_a_twentieth(gaps: tuple[float, ...], found: Verdict) -> None:
    rows = [
        point
        for x, gap in enumerate(gaps)
        for point in (Point("a", "one", x, 0.5 + gap), Point("a", "two", x, 0.5))
    ]
    finding = much_above("claim", Points(tuple(rows)), "a", "one", "two")
    assert finding.verdict is found
    assert bool(finding.why) is (found is not Verdict.CONFIRMED)


def test_the_gain_may_be_as_far_off_as_its_two_numbers_are_rounded() -> None:
    low, high = expected.GAIN_RANDOM
    assert (low, high) == pytest.approx((100 * (0.725 / 0.175 - 1), 100 * (0.735 / 0.165 - 1)))
    assert low < 320 < high < 377
    low, high = expected.GAIN_ADULT
    assert 150 < low < 160 < high < 170
