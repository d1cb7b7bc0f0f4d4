"""Parameters at which methods leak the same, against closed forms and lifts made of fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath as mp
import pytest

import liftlock as ll
from liftlock.designs import compare, measure_baselines
from liftlock.designs.calibration import Level, MechanismLeakage, calibrate, read_axis, search
from liftlock.errors import InputError, NotDefined

DEMO = ll.Prior.from_counts({"none": 700, "cold": 200, "flu": 100})
LEVELS = ["0.25", "1", "2"]
AXES = ("lip", "ldp", "max-lift", "min-lift", "maximal_leakage")


def leaks(mechanism: ll.Mechanism) -> dict[str, mp.mpf]:
    """What a mechanism leaks, from its integers by the definitions."""
    table, prior = mechanism.table, mechanism.context
    assert isinstance(prior, ll.Prior)
    places = [table.inputs.index(x) for x in prior.labels]
    rows = [[Fraction(int(w), table.totals[x]) for w in table.weights[x]] for x in places]
    lifts, ratios, belief_ratios, leakage = [], [], [], Fraction(0)
    for column in zip(*rows, strict=True):
        mixed = sum(p * w for p, w in zip(prior.fractions, column, strict=True))
        lifts += [w / mixed for w in column]
        ratios.append(max(column) / min(column))
        beliefs = [p * w for p, w in zip(prior.fractions, column, strict=True)]
        belief_ratios.append(max(beliefs) / min(beliefs))
        leakage += max(column)

    def log(value: Fraction) -> mp.mpf:
        return mp.log(mp.mpf(value.numerator) / value.denominator)

    up, down = log(max(lifts)), -log(min(lifts))
    return {
        "lip": max(up, down),
        "eps_upper": up,
        "eps_lower": down,
        "ldp": log(max(ratios)),
        "identifiability": log(max(belief_ratios)),
        "maximal_leakage": log(leakage),
    }


def test_what_is_said_of_lip_and_ldp_at_the_same_epsilon() -> None:
    """The 1-LIP optimum is 2-LDP, and at 2-LDP the optimum under LDP has the smaller error."""
    found = {
        str(notion): ll.design(DEMO, notion, utility="histogram")
        for notion in (ll.LIP("1"), ll.LDP("2"), ll.LDP("1"))
    }
    errors = {key: made.origin.objective for key, made in found.items() if made.origin}
    assert errors == pytest.approx({"lip(1)": 0.32876, "ldp(2)": 0.28292, "ldp(1)": 0.39933}, 1e-4)
    true = {key: leaks(made) for key, made in found.items()}
    assert true["lip(1)"]["ldp"] == pytest.approx(2, abs=1e-12)
    assert true["lip(1)"]["ldp"] <= 2
    assert float(true["ldp(2)"]["lip"]) == pytest.approx(1.69971, abs=1e-5)


@pytest.mark.parametrize("level", ["0.1", "0.5", "1", "2"])
def test_randomised_response_that_keeps_lip_has_a_closed_form(level: str) -> None:
    """The lifts of k-RR are r / (1 + p (r - 1)) at p = 0.1 and 1 / (1 + p (r - 1)) at p = 0.7."""
    e = math.exp(float(level))
    up = 0.9 * e / (1 - 0.1 * e) if 0.1 * e < 1 else math.inf
    down = 1 + (e - 1) / 0.7
    (curve,) = compare(DEMO, ll.LIP, ["k-rr"], [level], "histogram").curves
    (point,) = curve.points
    given = float(point.parameter.removeprefix("ldp(").removesuffix(")"))
    assert given == pytest.approx(math.log(min(up, down)), rel=2e-6)
    assert given <= math.log(min(up, down))


@pytest.mark.parametrize("at", AXES)
def test_every_method_leaks_the_level_and_no_more(at: str) -> None:
    key, make = read_axis(at, ll.LIP("1"), ll.LIP)
    assert key in leaks(ll.design(DEMO, ll.LIP("1"), method="k-rr"))
    for level in LEVELS:
        for method in ("optimal", "arc", "k-rr"):

            def made(parameter: Fraction, method: str = method) -> ll.Mechanism:
                return ll.design(DEMO, ll.LIP(str(parameter)), method=method, utility="histogram")

            found = calibrate(made, Level(make(level), float(level)), float(level))
            assert found is not None
            true = leaks(found.mechanism)[key]
            assert true <= mp.mpf(level)
            room = float(leaks(made(Fraction(12)))[key])  # no more than this is ever leaked
            assert float(true) >= min(float(level), room) * (1 - 1e-2)


def test_the_ldp_optimum_that_keeps_the_notion_stands_beside_the_mechanism() -> None:
    made = ll.design(DEMO, ll.LIP("1"), utility="histogram")
    rows = {row.name: row for row in measure_baselines(made, "histogram")}
    kept = rows["the optimum under LDP, same LIP"]
    budget = kept.guarantee.removeprefix("ldp(").removesuffix(")")
    again = ll.design(DEMO, ll.LDP(budget), utility="histogram")
    assert again.origin is not None
    assert kept.objective == again.origin.objective
    assert leaks(again)["lip"] <= 1
    assert kept.lip is not None
    assert float(leaks(again)["lip"]) <= kept.lip <= 1
    more = ll.design(DEMO, ll.LDP(str(Fraction(budget) * Fraction("1.00001"))), utility="histogram")
    assert leaks(more)["lip"] > 1
    same, equal = (rows[f"the optimum under LDP, same {what}"] for what in ("epsilon", "LDP"))
    assert equal.objective < made.origin.objective < kept.objective < same.objective  # type: ignore[union-attr]


def test_a_set_of_priors_is_kept_in_the_worst_of_them() -> None:
    near = ll.Ball.of(DEMO, "0.02")
    made = ll.design(near, ll.LIP("1"), utility="histogram")
    row = measure_baselines(made, "histogram")[1]
    again = ll.design(near, ll.LDP(row.guarantee[4:-1]), utility="histogram")
    assert ll.LIP("1").certify(again.channel, near).holds
    assert row.lip == pytest.approx(1, abs=2e-6)


def test_levels_that_nothing_keeps() -> None:
    """Beliefs in "none" and "flu" are ln 7 apart before anything is released."""
    found = compare(DEMO, ll.LIP, ["k-rr", "arc"], ["1", "2"], at="identifiability")
    assert [len(curve.points) for curve in found.curves] == [1, 1]
    assert (found.unreached, found.asked, found.left_out) == (2, 4, 0)
    for curve in found.curves:
        assert math.log(7) <= curve.points[0].needed <= 2


def test_a_level_of_zero_is_no_release() -> None:
    found = compare(DEMO, ll.LIP, ["optimal", "k-rr:ldp"], ["0"], "histogram", at="ldp")
    assert [curve.points[0].needed for curve in found.curves] == [0.0, 0.0]
    assert [curve.points[0].objective for curve in found.curves] == pytest.approx([0.46, 0.46])


def test_names_of_levels() -> None:
    assert read_axis("Max-Lift", ll.LIP("1"), ll.LIP)[0] == "eps_upper"
    with pytest.raises(InputError, match="no such leakage to compare at: 'joy'; use epsilon or"):
        compare(DEMO, ll.LIP, ["k-rr"], ["1"], at="joy")
    graph = ll.ProfileGraph.bernoulli(["0.8", "0.9"])
    with pytest.raises(NotDefined, match="leave out at='lip'"):
        compare(graph, methods=["cluster"], epsilons=["1"], at="lip")
    with pytest.raises(NotDefined, match="ask for lip or alip"):
        Level.of(ll.LDP("1"))


def test_the_search_jumps_over_a_step() -> None:
    """A leakage of 0.3 below 0.7, and of 2 from there on: nothing leaks 1."""

    def trial(parameter: Fraction) -> tuple[float, str | None]:
        return (0.3, "kept") if parameter < Fraction("0.7") else (2.0, None)

    found = search(trial, 1.0, 1.0)
    assert found is not None
    assert Fraction("0.7") * (1 - Fraction(1, 10**5)) < found[0] < Fraction("0.7")
    assert search(lambda _: (math.inf, None), 1.0, 1.0) is None


def test_what_is_shown_is_never_below_the_truth() -> None:
    for method in ("optimal", "arc", "k-rr"):
        made = ll.design(DEMO, ll.LIP("0.3"), method=method)
        shown = MechanismLeakage.of(made)
        with mp.workdps(60):
            true = leaks(made)
            assert shown.ldp >= true["ldp"]
            assert shown.lip >= true["lip"]
