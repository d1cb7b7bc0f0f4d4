"""Methods, notions and utilities of a user's own, handed over as they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

import liftlock as ll
from liftlock.designs import DESIGNS, Draft, k_rr
from liftlock.errors import InputError, NotCertified, NotDefined
from liftlock.exact.enclosure import Enclosure
from liftlock.notions import LiftTable
from liftlock.utility import CustomUtility

PRIOR = ll.Prior.from_counts({"none": 7, "cold": 2, "flu": 1})


def keep(context: Any, notion: Any, *, share: float = 0.2) -> Any:
    """Keep the value with some chance, else draw one from the prior."""
    masses = context.floats()
    return (1 - share) * np.tile(masses, (len(masses), 1)) + share * np.eye(len(masses))


def test_a_function_is_a_method() -> None:
    made = ll.design(PRIOR, ll.LIP("1.5"), method=keep)
    assert made.certificate.holds
    assert made.certificate.guarantee == "lip(epsilon=1.5)"
    assert made.origin is not None
    assert made.origin.method.endswith("test_own.keep")
    assert made.origin.bound is None
    again = ll.Mechanism.from_data(made.to_data())
    assert again.origin == made.origin
    expected = ll.Channel.from_rows(
        {x: {y: Fraction(str(p)) for y, p in row.items()} for x, row in rows_of(0.2).items()}
    )
    off = np.abs(made.table.floats() - expected.floats())
    assert off.max() < 1e-12


def rows_of(share: float) -> dict[str, dict[str, float]]:
    shares = {"none": 0.7, "cold": 0.2, "flu": 0.1}
    return {
        x: {y: round((1 - share) * p + share * (x == y), 6) for y, p in shares.items()}
        for x in shares
    }


def test_what_it_proposes_is_certified_like_any_other() -> None:
    with pytest.raises(NotCertified, match=r"lip.*"):
        ll.design(PRIOR, ll.LIP("0.1"), method=keep)
    with pytest.raises(NotCertified):
        ll.design(PRIOR, ll.LIP("1"), method=lambda context, notion: np.eye(3))
    made = ll.design(PRIOR, ll.LIP("1"), method=keep, share=0.1)
    assert made.certificate.holds


@pytest.mark.parametrize(
    "returned",
    [
        keep(PRIOR, None).tolist(),
        rows_of(0.2),
        dict(reversed(rows_of(0.2).items())),
        Draft.of(PRIOR.inputs, PRIOR.inputs, keep(PRIOR, None)),
        ll.Channel.from_rows(
            {x: {y: str(p) for y, p in row.items()} for x, row in rows_of(0.2).items()}
        ),
    ],
    ids=["lists", "rows", "rows in another order", "draft", "channel"],
)
def test_a_draft_may_be_written_in_several_ways(returned: Any) -> None:
    made = ll.design(PRIOR, ll.LIP("1.5"), method=lambda context, notion: returned)
    usual = ll.design(PRIOR, ll.LIP("1.5"), method=keep)
    assert made.table.inputs.labels == usual.table.inputs.labels
    assert np.abs(made.table.floats() - usual.table.floats()).max() < 1e-5


def test_rows_need_not_name_every_output() -> None:
    rows = {"none": {"a": 0.5, "b": 0.5}, "cold": {"a": 0.5, "b": 0.5}, "flu": {"b": 1.0}}
    with pytest.raises(NotCertified):
        ll.design(PRIOR, ll.LIP("1"), method=lambda context, notion: rows)
    rises = ll.notions.MaxLift("1")
    assert ll.design(PRIOR, rises, method=lambda context, notion: rows).certificate.holds


def test_a_design_is_a_method() -> None:
    entry = replace(DESIGNS["k-rr"], key="mine")
    made = ll.design(PRIOR, ll.LDP("1"), method=entry)
    assert made.origin is not None
    assert made.origin.method == "mine"
    assert made.table == ll.design(PRIOR, ll.LDP("1"), method="k-rr").table
    with pytest.raises(NotDefined, match="the method mine is not defined for"):
        ll.design(ll.ProfileGraph.bernoulli(["0.8", "0.9"]), "0.5", method=entry)


def test_options_and_the_utility_are_handed_over() -> None:
    seen: dict[str, Any] = {}

    def told(context: Any, notion: Any, *, utility: Any, pace: int = 1) -> Any:
        seen.update(utility=utility.name, pace=pace)
        return k_rr(context, ll.LDP("1"))

    def takes_all(context: Any, notion: Any, **options: Any) -> Any:
        seen.update(options)
        return k_rr(context, ll.LDP("1"))

    ll.design(PRIOR, ll.LIP("1"), method=told, utility="histogram", pace=3)
    assert seen == {"utility": "histogram", "pace": 3}
    ll.design(PRIOR, ll.LIP("1"), method=takes_all, whatever=4)
    assert seen["whatever"] == 4
    ll.design(PRIOR, ll.LIP("1"), method=partial(told, pace=7), utility="guess")
    assert seen["pace"] == 7
    with pytest.raises(InputError, match="told has no such option: 'speed'; its options are pace"):
        ll.design(PRIOR, ll.LIP("1"), method=told, speed=1)


def test_profiles() -> None:
    graph = ll.ProfileGraph.bernoulli(["0.8", "0.9"])

    def flip(context: Any, notion: Any) -> Any:
        return [[0.6, 0.4], [0.4, 0.6]]

    def by_profile(context: Any, notion: Any) -> Any:
        return {pair: {0: 0.5, 1: 0.5} for pair in context.pairs.labels}

    for method in (flip, by_profile):
        assert ll.design(graph, "0.5", method=method).certificate.holds


@pytest.mark.parametrize(
    ("method", "words"),
    [
        (42, r"not a method: 42; name one \(optimal, .*a function of \(context, notion\)"),
        (Draft, r"not a method: 'liftlock.designs.base.Draft'; name one"),
        (lambda: None, r"not a function of a context and a notion: .*<lambda>"),
        (lambda context: None, r"define it as method\(context, notion\)"),
        (lambda context, notion: 0.5, r"returned no draft: 'float'; return a Draft, a table"),
        (lambda context, notion: None, r"returned no draft: 'NoneType'"),
        (lambda context, notion: [[1.0], [1.0]], r"no draft: 'list of shape \(2, 1\)'"),
        (lambda context, notion: {"none": 1}, r"returned no draft: 'dict'"),
        (
            lambda context, notion: {"none": {"a": 1}, "flu": {"a": 1}},
            r"proposes rows for other values: \"none for 'cold'\"; return one row for each",
        ),
        (
            lambda context, notion: {x: {"a": 1} for x in ("none", "cold", "flu", "plague")},
            r"\"some for 'plague'\"",
        ),
        (lambda context, notion: np.eye(3) / 2, r"row does not sum to 1"),
    ],
)
def test_what_does_not_fit_is_told_in_one_line(method: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        ll.design(PRIOR, ll.LIP("1"), method=method)
    with pytest.raises(InputError, match=words):
        ll.compare(PRIOR, ll.LIP, [method], ["1"])


def test_users_with_a_prior_each_take_no_function() -> None:
    priors = ll.PerUserPriors.of("ab", [[0.5, 0.5]])
    with pytest.raises(NotDefined, match="name one of arc, safe-response"):
        ll.design(priors, ll.LIP("1"), method=keep)


def test_methods_are_compared() -> None:
    found = ll.compare(PRIOR, ll.LIP, ["safe-response", keep, DESIGNS["arc"]], ["1.5", "2"])
    names = [curve.method for curve in found.curves]
    assert names[0] == "safe-response"
    assert names[1].endswith("test_own.keep")
    assert names[2] == "arc"
    mine = found[names[1]]
    assert [point.needed < point.epsilon for point in mine.points] == [True, True]
    alone = ll.compare(PRIOR, ll.LIP, keep, ["1.5"])
    assert alone.curves[0].points[0].objective == mine.points[0].objective
    other: Callable[..., Any] = partial(keep)
    with pytest.raises(InputError, match="two methods of the same name"):
        ll.compare(PRIOR, ll.LIP, [keep, other], ["1.5"])


def test_a_design_for_any_notion_is_compared_by_the_share_of_the_budget_it_uses() -> None:
    total_variation = ll.notions.TotalVariation
    found = ll.compare(PRIOR, total_variation, keep, ["0.2", "0.4"], "histogram")
    made = ll.design(PRIOR, total_variation("0.4"), method=keep)
    truth = float(total_variation.measure(made.channel, PRIOR).value)
    assert [point.needed for point in found.curves[0].points] == pytest.approx([truth, truth])


# --- notions --------------------------------------------------------------------------------------

FLIP = ll.Channel.from_rows({x: {y: str(p) for y, p in r.items()} for x, r in rows_of(0.2).items()})


class Doubled(ll.notions.TotalVariation):
    """Not registered: twice the total variation."""

    key = "doubled"

    @classmethod
    def of_table(cls, table: LiftTable, bits: int = 128) -> Any:
        return cls.make_measurement(super().of_table(table, bits).value.scaled(Fraction(2)))


def largest(table: LiftTable) -> Any:
    return table.largest().lift


def test_an_audit_measures_a_notion_of_ones_own() -> None:
    plain = ll.audit(FLIP, PRIOR)
    for given in (Doubled, Doubled("1")):
        found = ll.audit(FLIP, PRIOR, notion=given)
        assert list(found.measurements) == [*plain.measurements, "doubled"]
        assert found["doubled"].value == plain["total_variation"].value.scaled(Fraction(2))
        assert found.to_data()["measures"]["doubled"] == found.measures["doubled"]
    assert "doubled" not in ll.audit(FLIP, PRIOR).measurements
    assert ll.audit(FLIP, PRIOR, notion=ll.LIP("1"))["eps_upper"].value.lower > 0
    measured = ll.audit(FLIP, PRIOR, notion=largest)["largest"]
    assert measured.value == Enclosure.of(plain.lifts.largest.lift or 0)
    assert (
        ll.audit(FLIP, PRIOR, notion=ll.notions.AlphaLift("2", "3"))["alpha_lift"].value.lower > 0
    )
    certified = ll.lock(FLIP, Doubled("1"), PRIOR)
    assert certified.certificate.holds


@pytest.mark.parametrize(
    ("notion", "words"),
    [
        (3, r"not a notion that can be measured: 'int'; give a class made from"),
        (Draft, "not a notion that can be measured"),
        (lambda table: 0.5, "is no exact number: 'float'; return a Fraction"),
        (lambda table: None, "is no exact number"),
    ],
)
def test_what_is_no_notion_is_told(notion: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        ll.audit(FLIP, PRIOR, notion=notion)


def test_a_measure_of_the_library_is_not_replaced() -> None:
    class Fake(Doubled):
        key = "ldp"

    with pytest.raises(InputError, match="has another measure of this name already: 'ldp'"):
        ll.audit(FLIP, PRIOR, notion=Fake)
    assert ll.audit(FLIP, PRIOR, notion=ll.LDP)["ldp"] == ll.audit(FLIP, PRIOR)["ldp"]
    cubed = ll.notions.AlphaLift("3", "2")
    with pytest.raises(InputError, match="another measure of this name already: 'alpha_lift'"):
        ll.audit(FLIP, PRIOR, notion=cubed, alpha=2)
    ll.audit(FLIP, PRIOR, notion=ll.notions.AlphaLift, alpha=2)
    with pytest.raises(InputError, match="a measure of some order: 'alpha_lift'; give alpha"):
        ll.audit(FLIP, PRIOR, notion=ll.notions.AlphaLift)


def test_a_notion_of_two_sides_is_measured_in_its_units() -> None:
    found = ll.audit(FLIP, PRIOR, notion=ll.LIP("1"))
    assert found["max-lift"].unit == ""
    assert found["max-lift"].value == Enclosure.of(found.lifts.largest.lift or 0)
    with_delta = ll.audit(FLIP, PRIOR, notion=ll.ApproximateLIP("1/2", "0.1"), at_epsilon="1/2")
    assert with_delta["delta_ediv"] == ll.audit(FLIP, PRIOR, at_epsilon="1/2")["delta_ediv"]


# --- utilities ------------------------------------------------------------------------------------


def gini(posterior: Any) -> float:
    return float(1 - (posterior**2).sum())


def test_a_concave_function_is_a_utility() -> None:
    own = ll.design(PRIOR, ll.LIP("1"), utility=gini, method="safe-response")
    usual = ll.design(PRIOR, ll.LIP("1"), utility=CustomUtility(gini, 3), method="safe-response")
    assert own.origin is not None
    assert usual.origin is not None
    assert own.origin.utility.endswith("test_own.gini")
    assert own.origin.objective == usual.origin.objective
    never = ll.Prior.from_counts({"none": 7, "cold": 0, "flu": 1})
    sizes = []

    def told(posterior: Any) -> float:
        sizes.append(len(posterior))
        return gini(posterior)

    ll.design(never, ll.LIP("1"), utility=told, method="safe-response")
    assert set(sizes) == {3}
    with pytest.raises(InputError, match="not concave"):
        ll.design(PRIOR, ll.LIP("1"), utility=lambda v: (v**2).sum())
    with pytest.raises(InputError, match=r"not a utility: 3; name one \(mutual-information"):
        ll.design(PRIOR, ll.LIP("1"), utility=3)  # type: ignore[arg-type]
    graph = ll.ProfileGraph.bernoulli(["0.8", "0.9"])
    with pytest.raises(InputError, match=r"unknown aim: .*gini"):
        ll.design(graph, "0.5", utility=gini)


# --- a notion that claims too much ---------------------------------------------------------------

BARE = Draft.of("abc", "abc", np.eye(3))
PEOPLE = ll.Prior.from_counts({"a": 7, "b": 2, "c": 1})


class NoClaims(ll.LIP):
    """A guarantee that is never decided."""

    def decide(self, *_: Any) -> Any:
        """Decide nothing."""
        return [], {}


class Renamed(NoClaims):
    """The same under a name of its own."""

    key = name = "renamed"


class Forged(ll.LIP):
    """A guarantee whose certificate is that of a larger budget."""

    key = name = "forged"

    def certify(self, *arguments: Any, **options: Any) -> Any:
        """Certify something else."""
        return ll.LIP("50").certify(*arguments, **options)


def test_a_notion_cannot_go_by_the_name_of_another() -> None:
    with pytest.raises(InputError, match="the name lip is that of another notion: 'NoClaims'"):
        ll.lock(BARE, NoClaims("1"), PEOPLE)


def test_a_certificate_without_a_claim_certifies_nothing() -> None:
    with pytest.raises(NotCertified, match="there is no claim"):
        ll.lock(BARE, Renamed("1"), PEOPLE)


def test_a_certificate_of_another_guarantee_is_refused() -> None:
    with pytest.raises(InputError, match="speaks of another guarantee or channel"):
        ll.lock(BARE, Forged("1"), PEOPLE)


def test_floats_are_no_ends_of_an_enclosure() -> None:
    def rounded(_: LiftTable) -> Enclosure:
        return Enclosure(0.1, 0.1)  # type: ignore[arg-type]

    with pytest.raises(InputError, match="a float is not an exact end"):
        ll.audit(ll.Channel.identity("abc"), PEOPLE, notion=rounded)
