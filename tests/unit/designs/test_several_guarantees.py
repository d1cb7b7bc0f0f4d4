"""Several guarantees in one optimum: against brute force, and proved again in fractions."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import liftlock as ll
from liftlock.designs import lock
from liftlock.errors import InputError, NotCertified, NotDefined
from liftlock.exact.integers import Floats
from liftlock.notions import Notion, parse_claim
from liftlock.notions.guarantee import Wanted
from tests.brute_force import COSTS, best_mixture, brute_vertices, ldp_cuts, lift_cuts
from tests.published_rows import Row, law_of_file, row_lifts

Asked = Sequence[tuple[str, str]]
"""What each guarantee is about, a column or ``x`` itself, and how it is written."""

CASES: dict[str, Asked] = {
    "two secrets": [("sex", "lip=0.3"), ("race", "alip=0.4,0.6")],
    "two secrets, ratios": [("sex", "lip=0.5"), ("race", "ldp=0.6")],
    "two ratios": [("sex", "ldp=0.9"), ("race", "ldp=0.7")],
    "a secret and lifts of the value": [("sex", "lip=0.4"), ("x", "lip=0.8")],
    "a secret and ratios of the value": [("sex", "lip=0.3"), ("x", "ldp=1.5")],
    "the value first": [("x", "eps_upper=0.7"), ("race", "eps_lower=0.3")],
    "lifts and ratios of the value": [("x", "lip=0.6"), ("x", "ldp=0.9")],
    "three": [("sex", "lip=0.5"), ("race", "lip=0.5"), ("x", "ldp=1.8")],
    "one that binds nothing": [("sex", "lip=0.2"), ("race", "lip=9"), ("x", "ldp=30")],
}


def people(values: int, seed: int, rows: int = 400) -> list[Row]:
    """A column x that goes with two others, which go together."""
    draw = random.Random(seed)
    letters = "abcdefgh"[:values]
    weights = {
        key: [draw.randint(1, 9) for _ in letters] for key in ("fr", "fs", "ft", "mr", "ms", "mt")
    }
    found = []
    for _ in range(rows):
        sex = draw.choice("fm")
        race = draw.choices("rst", [3, 2, 1] if sex == "f" else [1, 2, 3])[0]
        x = draw.choices(letters, weights[sex + race])[0]
        found.append({"x": x, "sex": sex, "race": race})
    return found


def context_of(rows: Sequence[Row], about: str) -> ll.Context:
    values = [row["x"] for row in rows]
    if about == "x":
        return ll.Prior.from_data(values)
    return ll.Joint.from_columns([row[about] for row in rows], values)


def designed(rows: Sequence[Row], asked: Asked, **options: Any) -> Any:
    (about, first), *others = asked
    further = [
        (parse_claim(claim), context_of(rows, name), None if name == "x" else name)
        for name, claim in others
    ]
    return ll.design(context_of(rows, about), [parse_claim(first), *further], **options)


def in_floats(rows: Sequence[Row], about: str) -> tuple[Floats, Floats, Floats]:
    """P(S | X), P_S and P_X, counted here."""
    values = sorted({row["x"] for row in rows})
    told = sorted({row[about] for row in rows})
    counts = np.zeros((len(told), len(values)))
    for row in rows:
        counts[told.index(row[about]), values.index(row["x"])] += 1
    masses = counts.sum(axis=0)
    return counts / masses, counts.sum(axis=1) / len(rows), masses / len(rows)


def limits_of(notion: Notion) -> tuple[float, float, float | None]:
    lifts = notion.lift_limits()
    if lifts is None:
        assert notion.ratio_limit is not None
        return 0.0, np.inf, math.exp(float(notion.ratio_limit))
    lower = 0.0 if lifts.lower is None else math.exp(-float(lifts.lower))
    return lower, np.inf if lifts.upper is None else math.exp(float(lifts.upper)), None


def cuts_of(rows: Sequence[Row], asked: Asked) -> Floats:
    found = []
    for about, claim in asked:
        given, secret, _ = in_floats(rows, about)
        lower, upper, ratio = limits_of(parse_claim(claim))
        found.append(
            lift_cuts(given, secret, lower, min(upper, 1e9))
            if ratio is None
            else ldp_cuts(given, secret, ratio)
        )
    return np.vstack(found)


def keeps_all(rows: Sequence[Row], asked: Asked, made: Any) -> None:
    """Prove every guarantee again, in fractions, from the raw rows and the file."""
    law = law_of_file(json.loads(made.to_json()))
    assert [each.certificate.holds for each in made.guarantees] == [True] * len(asked)
    for about, claim in asked:
        notion = parse_claim(claim)
        if notion.ratio_limit is None:
            found = row_lifts(rows, about, [], lambda row: law(row["x"])).population
            lifts = notion.lift_limits()
            assert lifts is not None
            assert lifts.upper is None or lifts.upper.allows(found.largest)
            assert lifts.lower is None or lifts.lower.allows(1 / found.smallest)
            continue
        likelihoods: dict[Any, dict[Any, Fraction]] = {}
        sizes: dict[Any, int] = {}
        for row in rows:
            sizes[row[about]] = sizes.get(row[about], 0) + 1
            for y, chance in law(row["x"]).items():
                own = likelihoods.setdefault(y, {})
                own[row[about]] = own.get(row[about], Fraction(0)) + chance
        for own in likelihoods.values():
            shares = [own[s] / sizes[s] for s in sizes]
            assert notion.ratio_limit.allows(max(shares) / min(shares))


# --- against brute force ------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("utility", ["mutual-information", "histogram"])
def test_the_optimum_of_all_is_that_of_brute_force(case: str, utility: str) -> None:
    rows, asked = people(4, seed=len(case)), CASES[case]
    masses = in_floats(rows, "sex")[2]
    vertices = brute_vertices(cuts_of(rows, asked), 4)
    best, _ = best_mixture(vertices, masses, COSTS[utility](np.zeros(0)))
    for how in ("enumeration", "generation"):
        made = designed(rows, asked, utility=utility, how=how)
        keeps_all(rows, asked, made)
        cost = made.origin.objective
        if utility == "mutual-information":
            cost = float(-(masses * np.log(masses)).sum()) - cost
        assert cost == pytest.approx(best, abs=2e-6), how
        bound = made.origin.bound
        if utility == "mutual-information":
            bound = float(-(masses * np.log(masses)).sum()) - bound
        assert bound <= best + 1e-9, how
        assert made.origin.gap <= 2e-6


@pytest.mark.parametrize("case", CASES)
def test_the_best_guess_is_that_of_a_dense_programme(case: str) -> None:
    size = 5
    rows, asked = people(size, seed=7 + len(case)), CASES[case]
    masses = in_floats(rows, "sex")[2]
    cells = np.arange(size * size).reshape(size, size)
    limits, sums = [], []
    for x in range(size):
        row = np.zeros(size * size)
        row[cells[x]] = 1.0
        sums.append(row)
    for cut in cuts_of(rows, asked):
        # A cut of the posterior of y is one of the column y, weighted by the prior.
        for y in range(size):
            row = np.zeros(size * size)
            row[cells[:, y]] = cut * masses / np.abs(cut).max()
            limits.append(row)
    gains = np.zeros(size * size)
    gains[np.diagonal(cells)] = masses
    found = linprog(
        -gains,
        A_ub=np.array(limits),
        b_ub=np.zeros(len(limits)),
        A_eq=np.array(sums),
        b_eq=np.ones(size),
        bounds=(0, 1),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    made = designed(rows, asked, utility="guess")
    keeps_all(rows, asked, made)
    assert found.fun is not None
    assert made.origin.objective == pytest.approx(1 + found.fun, abs=2e-6)


@pytest.mark.parametrize("utility", ["mutual-information", "histogram", "guess", "frequencies"])
def test_each_guarantee_binds(utility: str) -> None:
    """Without any one of three the optimum is better: none of them is ignored."""
    rows = people(6, seed=1)
    asked = [("sex", "lip=0.05"), ("race", "alip=0.05,0.15"), ("x", "ldp=0.8")]

    made = designed(rows, asked, utility=utility)
    keeps_all(rows, asked, made)
    sign = 1 if utility == "mutual-information" else -1
    worth = sign * made.origin.objective
    assert worth > sign * made.origin.nothing
    for gone in range(3):
        fewer = [each for place, each in enumerate(asked) if place != gone]
        other = designed(rows, fewer, utility=utility)
        assert sign * other.origin.objective > worth + 1e-4 * abs(worth), gone


# --- sizes and kinds of task ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "case", "utility"),
    [
        (24, "two secrets", "mutual-information"),
        (12, "a secret and lifts of the value", "histogram"),
        (10, "a secret and ratios of the value", "mutual-information"),
        (9, "lifts and ratios of the value", "mutual-information"),
        (9, "three", "frequencies"),
    ],
)
def test_larger_ones_are_proved_near_the_optimum(size: int, case: str, utility: str) -> None:
    draw = random.Random(size)
    rows = []
    for row in people(4, seed=size, rows=3000):
        kind = draw.choices(range(size), [1 + (k * ord(row["x"])) % 7 for k in range(size)])[0]
        rows.append(row | {"x": f"{kind:02d}"})
    made = designed(rows, CASES[case], utility=utility, seconds=60)
    keeps_all(rows, CASES[case], made)
    assert made.origin.gap < (0.1 if utility == "frequencies" else 1e-5)


def test_values_that_no_secret_tells_apart_are_merged() -> None:
    rows = [row | {"x": row["x"] + tail} for row in people(4, seed=3) for tail in "12"]
    asked = CASES["two secrets"]
    steps: list[Any] = []
    made = designed(rows, asked, explain=steps.append)
    taken = [step.name for step in steps if step.taken]
    assert "merge-types" in taken
    keeps_all(rows, asked, made)
    halves = designed(people(4, seed=3), asked)
    # Which of two twins it is, is told as it is.
    assert made.origin.objective == pytest.approx(halves.origin.objective + math.log(2), abs=1e-6)


def test_numbers_are_close_under_several_guarantees() -> None:
    rows: list[Any] = [row | {"x": ord(row["x"]) - 96} for row in people(5, seed=1)]
    asked = [("sex", "lip=0.3"), ("race", "lip=0.3"), ("x", "lip=1")]
    squared = designed(rows, asked, utility="mean")
    absolute = designed(rows, asked, utility="absolute")
    for made in (squared, absolute):
        assert made.origin.gap <= 2e-6
        assert made.origin.objective < made.origin.nothing
    masses = in_floats(rows, "sex")[2]
    best, _ = best_mixture(
        brute_vertices(cuts_of(rows, asked), 5), masses, COSTS["mean"](np.arange(1.0, 6.0))
    )
    assert squared.origin.objective == pytest.approx(best, abs=1e-5)


# --- what is refused, and what is nothing ---------------------------------------------------------


def test_a_budget_of_0_for_one_leaves_the_constant() -> None:
    rows = people(4, seed=2)
    for asked in ([("sex", "lip=0"), ("race", "lip=1")], [("sex", "lip=1"), ("x", "ldp=0")]):
        made = designed(rows, asked)
        assert len(made.channel.outputs) == 1
        keeps_all(rows, asked, made)
    assert made.origin.gap == pytest.approx(0, abs=1e-9)


def test_contexts_are_of_the_same_inputs() -> None:
    rows = people(4, seed=2)
    joint, few = context_of(rows, "sex"), context_of(rows[:50], "race")
    with pytest.raises(InputError, match="different probabilities"):
        ll.design(joint, [ll.LIP("1"), (ll.LIP("1"), few)])
    with pytest.raises(InputError, match="different inputs"):
        ll.design(joint, [ll.LIP("1"), (ll.LIP("1"), ll.Prior.uniform("ab"))])
    with pytest.raises(InputError, match="none of the guarantees is about the context"):
        ll.design(joint, [(ll.LIP("1"), ll.Prior.uniform("abcd"))])
    with pytest.raises(InputError, match="no guarantee"):
        ll.design(joint, [])
    with pytest.raises(NotDefined, match="several guarantees"):
        ll.design(ll.Intervals.all_priors("abcd"), [ll.LIP("1"), ll.LDP("1")])


def test_other_methods_make_mechanisms_for_one_guarantee() -> None:
    rows = people(4, seed=2)
    with pytest.raises(NotDefined, match="use the method optimal"):
        ll.design(
            context_of(rows, "sex"),
            [ll.LIP("1"), (ll.LIP("1"), context_of(rows, "race"))],
            method="watchdog",
        )
    with pytest.raises(NotDefined):
        ll.design(context_of(rows, "sex"), [ll.LIP("1"), parse_claim("chi2=1")])


def test_inputs_that_never_occur_are_left_out_of_all() -> None:
    counts = {"s": {"a": 3, "b": 1, "c": 0}, "t": {"a": 1, "b": 3, "c": 0}}
    other = {"u": {"c": 0, "b": 2, "a": 3}, "v": {"c": 0, "b": 2, "a": 1}}
    made: Any = ll.design(
        ll.Joint.from_counts(counts),
        [ll.LIP("0.5"), (ll.LIP("0.5"), ll.Joint.from_counts(other)), ll.LDP("2")],
    )
    assert made.channel.inputs.labels == ("a", "b")
    assert all(each.context.inputs.labels == ("a", "b") for each in made.guarantees)
    assert any("never occur" in said for said in made.origin.remarks)


def test_a_draft_is_refused_by_the_guarantee_that_it_breaks() -> None:
    rows = people(4, seed=2)
    draft = ll.Draft.of("abcd", "abcd", np.full((4, 4), 0.1) + 0.6 * np.eye(4))
    race = Wanted(ll.LIP("0.01"), context_of(rows, "race"), "race")
    with pytest.raises(NotCertified, match="about 'race'") as refusal:
        lock(draft, ll.LIP("9"), context_of(rows, "sex"), also=[race])
    assert refusal.value.about == "race"
    sex = context_of(rows, "sex")
    made = ll.lock(draft, [ll.LIP("9"), (ll.LIP("1"), race.context, "race")], sex)
    assert made.guarantee == "lip(epsilon=9) and lip(epsilon=1) about race"
