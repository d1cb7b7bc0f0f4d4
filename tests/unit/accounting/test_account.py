"""The account: the least valid bound of each quantity, never a sum of LIP budgets."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import liftlock as ll
from liftlock import Alphabet, Channel, Family, Prior, ProfileGraph, Table
from liftlock.accounting import Release, account
from liftlock.errors import InputError, NotComposable, NotDefined, UnprotectedInput
from liftlock.notions import ApproximateLDP, ApproximateLIP, MutualInformation, parse_claim

E = Fraction("2.718281828459045235360287")


@pytest.fixture(scope="module")
def binary() -> ll.Mechanism:
    """The optimal binary channel at p = 1/(1+e), where two 1-LIP releases leak the most."""
    prior = Prior.from_counts({"no": E, "yes": 1})
    return ll.design(prior, ll.LIP("1"), method="binary")


@pytest.fixture(scope="module")
def large() -> Channel:
    rng = np.random.default_rng(1)
    weights = rng.integers(900, 1000, size=(30, 40))
    weights[:, 0] += 2**20 - weights.sum(axis=1)
    return Table.of(Alphabet.of(range(30)), Alphabet.of(range(40)), weights, 20)


def test_two_releases_of_1_leak_2_7353(binary: ll.Mechanism) -> None:
    twice = account([binary, binary])
    assert twice.is_exact("lip")
    # 2 eps + ln(2 cosh eps - 1), of the channel as it is locked to 2^-52.
    expected = 2 + mpmath.log(2 * mpmath.cosh(1) - 1)
    assert float(twice["lip"]) == pytest.approx(float(expected), abs=1e-9)
    assert f"{float(twice['lip']):.6f}" == "2.735326"
    assert twice.warning() == (
        "budgets add up to 2, but the true leakage is 2.73533: LIP budgets do not add up"
    )
    assert not twice.allows(ll.LIP("2"))
    assert twice.allows(ll.LIP("2.7354"))
    with pytest.raises(NotComposable, match=r"exceeds lip\(2\): after 2 releases lip is 2\.735"):
        twice.refuse_beyond(ll.LIP("2"))


def test_nothing_ever_adds_lip_budgets_up(binary: ll.Mechanism) -> None:
    """Whatever is known of the two releases, no bound is below the truth of the worst pair."""
    promised = Release.from_guarantee(ll.LIP("1"), binary.context)
    truth = account([binary, binary])["lip"].value.lower
    for other in (promised, Release.of(binary)):
        found = account([promised, other])
        assert not found.is_exact("lip")
        assert found["lip"].value.lower >= truth
        assert "which is no bound; at most" in found.warning()
        said = found.warning().split("at most ")[1].split()[0]
        assert Fraction(said) >= (found["lip"].value.upper or 0)


@pytest.mark.parametrize("epsilon", ["0.1", "0.3", "0.5", "0.7", "0.9", "1.1", "1.3"])
def test_what_is_proved_is_never_said_too_small(epsilon: str, binary: ll.Mechanism) -> None:
    found = account([Release.from_guarantee(ll.LIP(epsilon), binary.context)] * 2)
    said = found.warning().split("at most ")[1].split()[0]
    bound = found["lip"].value.upper
    assert bound is not None
    assert bound <= Fraction(said) <= bound * (1 + Fraction(1, 10**5))


def test_one_release_is_what_it_is(binary: ll.Mechanism) -> None:
    once = account([binary])
    assert once["lip"].ratio == ll.notions.LIP.measure(binary.channel, binary.context).ratio
    assert once.warning() == ""
    assert once.allows(ll.LIP("1"))


def test_large_products_are_bounded(large: Channel) -> None:
    prior = Prior.uniform(range(30))
    found = account([large] * 10, prior)
    assert "need 246,534,676,080 cells: 30 inputs x C(49, 10)" in found.refused["exact"]
    assert found.best["lip"].accountant in {"tight", "pairwise"}
    assert found.is_exact("ldp")
    assert not found.is_exact("lip")
    assert found.best["eps_lower"]["eps_lower"].value.upper is not None
    for spent in found.spent:
        if "lip" in spent.measurements:
            assert spent["lip"].value.upper is not None
            assert spent["lip"].value.upper >= (found["lip"].value.upper or 0)
    assert next(s for s in found.spent if s.accountant == "published").valid is False


def test_contexts_must_agree(binary: ll.Mechanism) -> None:
    other = ll.design(Prior.uniform(["no", "yes"]), ll.LIP("1"), method="binary")
    found = account([binary, other])
    assert set(found.best) == {"ldp"}
    with pytest.raises(NotDefined, match="different contexts"):
        found["lip"]
    both = account([binary, other], Prior.uniform(["no", "yes"]))
    assert both.is_exact("lip")
    assert both["ldp"].ratio == found["ldp"].ratio


def test_releases_of_different_data(binary: ll.Mechanism) -> None:
    other = ll.design(Prior.uniform(["a", "b"]), ll.LIP("1"), method="binary")
    with pytest.raises(InputError, match="releases of different data at release 2"):
        account([binary, other])
    with pytest.raises(InputError, match="no releases"):
        account([])


def test_inputs_in_another_order() -> None:
    first = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    second = Channel.from_rows({1: {0: "1/5", 1: "4/5"}, 0: {0: "2/3", 1: "1/3"}})
    prior = Prior.from_counts({1: 2, 0: 1})
    product = first.product(second)
    found = account([first, second], prior)
    assert found["lip"].ratio == ll.notions.LIP.measure(product, prior).ratio
    assert found["ldp"].ratio == ll.notions.LDP.measure(product).ratio


def test_impossible_inputs_are_refused_or_listed() -> None:
    channel = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    prior = Prior.from_counts({0: 1, 1: 0})
    with pytest.raises(UnprotectedInput):
        account([channel, channel], prior)
    assert account([channel, channel], prior, impossible="ignore").unprotected == (1,)


def test_approximate_lip_is_audited_or_refused(binary: ll.Mechanism, large: Channel) -> None:
    twice = account([binary, binary])
    curve = ll.notions.DeltaCurve.of(binary.table.product(binary.table), binary.context, "ediv")
    delta = curve.delta("1").value.upper
    assert delta is not None
    assert twice.allows(ApproximateLIP("1", delta, "ediv"))
    assert not twice.allows(ApproximateLIP("1", delta - Fraction(1, 10**9), "ediv"))
    many = account([large] * 10, Prior.uniform(range(30)))
    with pytest.raises(NotDefined, match=r"no rule of composition covers \(epsilon, delta\)-LIP"):
        many.allows(ApproximateLIP("1", "0.1", "joint"))
    with pytest.raises(NotDefined, match="no rule of composition covers mutual_information"):
        many.allows(MutualInformation("1"))
    both = binary.table.product(binary.table)
    leaks = ll.notions.MutualInformation.measure(both, binary.context).value
    assert leaks.upper is not None
    assert twice.allows(MutualInformation(leaks.upper + Fraction(1, 10**9)))
    assert not twice.allows(MutualInformation(leaks.lower - Fraction(1, 10**9)))


def test_approximate_ldp_adds_up(large: Channel) -> None:
    prior = Prior.uniform(range(30))
    promise = ApproximateLDP("0.01", "0.05")
    mechanism = ll.lock(large, promise, prior, bits=20)
    found = account([mechanism] * 4)
    assert found["epsilon_ldp"].value.upper == Fraction(4, 100)
    assert found["delta_ldp"].value.upper == Fraction(20, 100)
    assert found.allows(ApproximateLDP("0.04", "0.2"))
    with pytest.raises(NotDefined, match="ldp_delta"):
        found.allows(ApproximateLDP("0.039", "0.2"))
    assert "none promises" in account([large, large], prior).refused["delta-sum"]
    assert account([mechanism, large]).refused["delta-sum"].startswith("release 2")
    pure = ll.lock(large, ll.LDP("7"), prior, bits=20)
    both = account([mechanism, pure])
    assert (both["epsilon_ldp"].value.upper, both["delta_ldp"].value.upper) == (
        Fraction(701, 100),
        Fraction(5, 100),
    )


def test_deltas_of_a_secret_are_those_of_the_data() -> None:
    """LDP of a secret does not compose: its releases are independent given the data only."""
    joint = ll.Joint.from_counts({"s": {0: 3, 1: 1}, "t": {0: 1, 1: 3}})
    channel = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}}).table()
    promise = ApproximateLDP("0", "1/4")
    mechanism = ll.lock(channel, promise, joint, bits=2)
    found = account([mechanism, mechanism])
    # The secret's own delta is 1/4, and adds up to 1/2; that of the data is 1/2.
    assert found["delta_ldp"].value.upper == 1
    secret = ll.lock(channel, ll.LDP("1"), joint, bits=2)
    assert "delta_ldp" not in account([secret, secret])


def test_limits_of_every_pure_notion() -> None:
    bit = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    found = account([bit, bit], Prior.uniform([0, 1]))
    assert found.allows(ll.ALIP(lower="ln 5", upper="ln 9/5"))
    assert not found.allows(ll.ALIP(lower="ln 5", upper="ln 179/100"))
    assert found.allows(ll.LDP("ln 9"))
    assert not found.allows(ll.LDP("ln 899/100"))
    assert found.allows(ApproximateLDP("ln 9", 0))
    with pytest.raises(NotComposable, match=r"ldp is 2\.19722"):
        found.refuse_beyond(ll.LDP("1"), "one more release")


def loss_by_hand(graph: ProfileGraph, channels: list[Channel]) -> Fraction:
    """Return max over edges and outputs of P_i(y1, ..., yk) / P_j(y1, ..., yk), term by term."""
    distributions = []
    for i, name in enumerate(graph.profiles.labels):
        distribution: dict[tuple[object, ...], Fraction] = {}
        for x, value in enumerate(graph.inputs.labels):
            share = Fraction(graph.counts[i][x], graph.totals[i])
            for outputs in itertools.product(*(channel.outputs.labels for channel in channels)):
                chance = share
                for channel, y in zip(channels, outputs, strict=True):
                    row = (name, value) if (name, value) in channel.inputs else value
                    chance *= channel.probability(row, y)
                distribution[outputs] = distribution.get(outputs, Fraction(0)) + chance
        distributions.append(distribution)
    pairs = [pair for i, j in graph.edges for pair in ((i, j), (j, i))]
    return max(
        distributions[i][y] / distributions[j][y]
        for i, j in pairs
        for y in distributions[i]
        if distributions[i][y]
    )


def test_mechanisms_for_profiles() -> None:
    """Releases of the same observation: exact if small, else by LDP; never the sum of budgets."""
    graph = ProfileGraph.bernoulli({"a": "0.9", "b": "0.6", "c": "0.2"})
    own = ll.design(graph, ll.ProfilePrivacy("1"), method="smooth-one-bit")
    shared = ll.design(graph, ll.ProfilePrivacy("0.5"), method="shared-categorical")
    assert (len(own.channel.inputs), len(shared.channel.inputs)) == (6, 2)
    for made in ([own], [shared], [own, own], [shared, shared], [own, shared], [shared, own, own]):
        found = account(made)
        truth = loss_by_hand(graph, [mechanism.table for mechanism in made])
        assert found["profile"].ratio == truth
        assert found.is_exact("profile")
        assert found["profile"].witness is not None
        for loss in found.spent:
            if "profile" in loss.measurements:
                assert loss["profile"].ratio is None or loss["profile"].ratio >= truth
        assert {"tight", "ldp-sum", "exact"} <= {loss.accountant for loss in found.spent}
        assert "a graph of 3 profiles" in found.refused["pairwise"]
        assert found.allows(ll.ProfilePrivacy(f"ln {truth}"))
        assert found.certify(ll.ProfilePrivacy(f"ln {truth}")).holds
        less = ll.ProfilePrivacy(f"ln {truth * Fraction(999999, 1000000)}")
        assert not found.allows(less)
        assert not found.certify(less).holds


def test_promised_profiles() -> None:
    graph = ProfileGraph.bernoulli({"a": "0.9", "b": "0.6"})
    once = Release.from_guarantee(ll.ProfilePrivacy("1"), graph)
    assert account([once]).allows(ll.ProfilePrivacy("1"))
    assert account([once, once])["profile"].value.is_infinite
    ldp = Release.from_guarantee(ll.LDP("1"), graph)
    assert account([once, ldp]).allows(ll.ProfilePrivacy("2"))
    assert not account([once, ldp]).allows(ll.ProfilePrivacy("1.9999"))
    with pytest.raises(NotDefined, match="it bounds no edge; give the mechanism itself"):
        Release.from_guarantee(ll.LIP("1"), graph)


def test_what_a_profile_calls_impossible_is_listed() -> None:
    graph = ProfileGraph.bernoulli({"a": "0.9", "b": "1"})
    flip = ll.design(graph, ll.ProfilePrivacy("1"), method="cluster")
    assert account([flip]).unprotected == flip.certificate.unprotected
    twice = account([flip, flip])
    assert twice.unprotected == (("b", 0),)
    with pytest.raises(InputError, match=r"says nothing of what the context .* calls impossible"):
        twice.refuse_newly_unprotected(ll.ProfilePrivacy("9"))


def test_infinite_leakage_is_said() -> None:
    found = account([Channel.identity([0, 1])] * 2, Prior.uniform([0, 1]))
    assert found["lip"].value.is_infinite
    assert not found.allows(ll.LIP("1000"))
    assert found.to_data()["spent"]["lip"]["value"] == "inf"


def test_a_thousand_inputs_stay_practical() -> None:
    """No product, no pairs of wide integers: the levels of each release are enough."""
    from liftlock.model.structured import UnaryChannel

    bits = UnaryChannel.of(range(1000), own=2**51, other=2**50, bits=52)
    found = account([bits] * 5, Prior.uniform(range(1000)))
    assert found["ldp"].ratio == Fraction(3) ** 5
    assert float(found["lip"]) < 5 * math.log(3)


def test_the_same_prior_in_another_order_is_the_same_context() -> None:
    made = [
        ll.design(ll.Prior.from_counts(dict(counts)), ll.LIP("1"), method="safe-response")
        for counts in ([("a", 1), ("b", 2), ("c", 7)], [("c", 7), ("a", 1), ("b", 2)])
    ]
    turned, straight = account(made), account([made[0], made[0]])
    assert turned.context is not None
    assert turned["lip"].ratio == straight["lip"].ratio
    other = ll.design(
        ll.Prior.from_counts({"c": 1, "a": 2, "b": 7}), ll.LIP("1"), method="safe-response"
    )
    assert account([made[0], other]).context is None


def test_budgets_that_are_no_logarithms_show_no_hair() -> None:
    fair = Prior.uniform("ab")
    three = Release.from_guarantee(ll.LDP("3"), fair)
    # e^3 is no fraction, so no ratio is equal to it: the sum of budgets is.
    for number, written in ((1, "ldp <= 3 nats"), (2, "ldp <= 6 nats"), (7, "ldp <= 21 nats")):
        found = account([three] * number)
        assert written in str(found)
        assert found.allows(ll.LDP(3 * number))
        assert not found.allows(ll.LDP(Fraction(3 * number) - Fraction(1, 10**60)))
        assert found["ldp"].ratio is not None
        with mpmath.workdps(60):
            ratio = mpmath.mpf(found["ldp"].ratio.numerator) / found["ldp"].ratio.denominator
            assert ratio >= mpmath.exp(3 * number)
    one = account([Release.from_guarantee(ll.LIP("1"), fair)])
    assert "lip <= 1 nats (tight)" in str(one)
    assert one.allows(ll.LIP("1"))
    # Where some prior of a set has a symbol as rare as it likes: 1 + 2 for 2 releases.
    anything = Family.of([Prior.from_counts({"a": 1, "b": 0}), Prior.from_counts({"a": 0, "b": 1})])
    two = account([Release.from_guarantee(ll.LIP("1"), anything)] * 2)
    assert "lip <= 3 nats (tight)" in str(two)
    assert two.allows(ll.LIP("3"))
    # A budget and a ratio: 3 + ln 2, rounded up.
    both = account([three, Release.from_guarantee(ll.LDP("ln 2"), fair)])
    assert "ldp <= 3.69315 nats" in str(both)
    assert not both.allows(ll.LDP("3.6931471805599453"))
    assert both.allows(ll.LDP("3.6931471805599454"))


def test_the_reason_for_a_missing_quantity_is_its_own() -> None:
    flip = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    twice = account([flip, flip], Prior.uniform([0, 1]))
    with pytest.raises(NotDefined, match="none promises"):
        twice["delta_ldp"]
    with pytest.raises(NotDefined, match="no accountant bounds it"):
        twice["profile"]
    with pytest.raises(NotDefined, match="different contexts"):
        account([flip, flip])["lip"]


def test_without_a_common_prior_ldp_bounds_lifts() -> None:
    """Likelihood ratios of 9 keep every lift between 1/9 and 9, whatever the prior is."""
    flip = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    twice = account([flip, flip])
    assert twice.context is None
    for limit in (
        ll.LIP("ln 9"),
        ll.ALIP(lower="ln 9", upper="3"),
        parse_claim("eps_lower=ln 9"),
        parse_claim("eps_upper=ln 9"),
    ):
        assert twice.allows(limit)
        assert twice.rests_on_ldp(limit)
        for count in (1, 10, 10**6):
            prior = Prior.from_counts({0: 1, 1: count})
            assert account([flip, flip], prior).allows(limit)
    assert not twice.rests_on_ldp(ll.LDP("1"))
    assert not twice.allows(ll.LDP("1"))
    with pytest.raises(NotDefined, match=r"alip is not .* LDP bounds it by 2\.19722 .*--prior"):
        twice.allows(ll.ALIP(lower="ln 9", upper="2"))
    # And no less than ln 9 would do for every prior.
    rare = account([flip, flip], Prior.from_counts({0: 1, 1: 10**6}))
    assert not rare.allows(ll.LIP("2.197"))
    with pytest.raises(NotDefined, match=r"mutual_information is not defined for .*--prior"):
        twice.allows(MutualInformation("1"))
