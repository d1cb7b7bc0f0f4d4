"""The budget of a person: never less than what enumeration finds, and exact under a joint."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import liftlock as ll
from liftlock import Alphabet, Intervals, Prior, Table
from liftlock.collect.survey.budget import PersonBudget, person_budget, worst_levels
from liftlock.collect.survey.repeat import RepeatRule
from liftlock.errors import InputError, NotDefined
from tests.unit.collect.survey import enumeration

Joint = dict[tuple[Hashable, ...], Fraction]


def mechanism(
    prior: Prior, weights: list[list[int]], notion: ll.LIP | ll.LDP | None = None
) -> ll.Mechanism:
    """Prove a small table for LIP 3, which it keeps, or what is asked."""
    outputs = Alphabet.of(f"r{place + 1}" for place in range(len(weights[0])))
    table = Table.of(prior.inputs, outputs, weights, sum(weights[0]).bit_length() - 1)
    return ll.Mechanism.prove(table, notion or ll.LIP("3"), prior)


@st.composite
def joints(draw: st.DrawFn, sizes: tuple[int, ...]) -> Joint:
    """Draw a joint of answers; every answer by itself is possible."""
    tuples = list(itertools.product(*(range(size) for size in sizes)))
    counts = draw(st.lists(st.integers(0, 9), min_size=len(tuples), max_size=len(tuples)))
    for place, size in enumerate(sizes):
        for value in range(size):
            if not any(n for xs, n in zip(tuples, counts, strict=True) if xs[place] == value):
                counts[next(i for i, xs in enumerate(tuples) if xs[place] == value)] += 1
    total = sum(counts)
    return {xs: Fraction(n, total) for xs, n in zip(tuples, counts, strict=True)}


def marginal(joint: Joint, place: int, size: int) -> Prior:
    """Return the prior of one answer under a joint."""
    masses = [
        sum((p for xs, p in joint.items() if xs[place] == v), Fraction(0)) for v in range(size)
    ]
    return Prior.from_probabilities(dict(enumerate(masses)))


@st.composite
def tables(draw: st.DrawFn, inputs: int, outputs: int) -> list[list[int]]:
    """Draw weights of 64 in all, each at least 4."""
    rows = []
    for _ in range(inputs):
        cuts = sorted(
            draw(
                st.lists(
                    st.integers(0, 64 - 4 * outputs), min_size=outputs - 1, max_size=outputs - 1
                )
            )
        )
        edges = [0, *cuts, 64 - 4 * outputs]
        rows.append([b - a + 4 for a, b in itertools.pairwise(edges)])
    return rows


@given(joint=joints((2, 3)), first=tables(2, 3), second=tables(3, 2))
def test_the_bound_holds_whatever_the_answers_have_in_common(
    joint: Joint, first: list[list[int]], second: list[list[int]]
) -> None:
    made = [mechanism(marginal(joint, 0, 2), first), mechanism(marginal(joint, 1, 3), second)]
    found = person_budget({"a": [made[0]], "b": [made[1]]})
    rows = [enumeration.rows_of(each) for each in made]
    falls, rises = enumeration.extremes(joint, rows)
    assert found.ratios["eps_lower"] is not None
    assert falls <= found.ratios["eps_lower"]
    assert found.ratios["eps_upper"] is not None
    assert rises <= found.ratios["eps_upper"]
    assert found.ratios["ldp"] == enumeration.ldp_ratio(rows)
    # No event about both answers tells more than a pair of answers does.
    events = enumeration.event_extremes(joint, rows)
    assert events[0] <= falls
    assert events[1] <= rises


@given(joint=joints((2, 3)), first=tables(2, 3), second=tables(3, 2))
def test_a_joint_makes_it_exact(
    joint: Joint, first: list[list[int]], second: list[list[int]]
) -> None:
    made = {
        "a": [mechanism(marginal(joint, 0, 2), first)],
        "b": [mechanism(marginal(joint, 1, 3), second)],
    }
    prior = Prior.from_probabilities({xs: p for xs, p in joint.items() if p})
    found = person_budget(made, joint=prior)
    assert found.exact
    rows = [enumeration.rows_of(each) for (each,) in made.values()]
    assert (found.ratios["eps_lower"], found.ratios["eps_upper"]) == enumeration.extremes(
        joint, rows
    )
    assert found.ratios["ldp"] == enumeration.ldp_ratio(rows)
    free = person_budget(made)
    for name in ("eps_lower", "eps_upper"):
        assert found.ratios[name] <= free.ratios[name]  # type: ignore[operator]


@given(joint=joints((2, 2, 2)), first=tables(2, 2), second=tables(2, 3), third=tables(2, 2))
def test_a_joint_of_some_answers_beside_others(
    joint: Joint, first: list[list[int]], second: list[list[int]], third: list[list[int]]
) -> None:
    made = {
        name: [mechanism(marginal(joint, place, 2), weights)]
        for place, (name, weights) in enumerate(zip("abc", (first, second, third), strict=True))
    }
    pair: dict[tuple[int, int], Fraction] = {}
    for xs, p in joint.items():
        key = (int(str(xs[2])), int(str(xs[0])))
        pair[key] = pair.get(key, Fraction(0)) + p
    prior = Prior.from_probabilities({xs: p for xs, p in pair.items() if p})
    found = person_budget(made, joint=prior, joint_of=("c", "a"))
    falls, rises = enumeration.extremes(
        joint, [enumeration.rows_of(each) for (each,) in made.values()]
    )
    assert not found.exact
    assert falls <= found.ratios["eps_lower"]  # type: ignore[operator]
    assert rises <= found.ratios["eps_upper"]  # type: ignore[operator]


def test_copies_attain_the_bound_of_many_questions() -> None:
    """Three answers that are copies of a rare one: the truth comes close to the bound."""
    prior = Prior.from_counts({0: 999, 1: 1})
    coin = mechanism(prior, [[48, 16], [16, 48]])
    found = person_budget({name: [coin] for name in "abc"})
    copies: Joint = {(0, 0, 0): Fraction(999, 1000), (1, 1, 1): Fraction(1, 1000)}
    falls, rises = enumeration.extremes(copies, [enumeration.rows_of(coin)] * 3)
    assert float(rises) > 0.97 * float(found.ratios["eps_upper"] or 0)
    assert rises <= (found.ratios["eps_upper"] or 0)
    assert falls <= (found.ratios["eps_lower"] or 0)
    # The plain sum of the levels of lifts is far below the truth: it is never printed.
    assert 3 * math.log(worst_levels(coin).lower or 0) < math.log(falls)


def test_groups_and_levels_count_at_their_worst() -> None:
    priors = [Prior.from_counts({0: 1, 1: 3}), Prior.from_counts({0: 9, 1: 1})]
    mild = mechanism(priors[0], [[40, 24], [24, 40]])
    strong = mechanism(priors[1], [[56, 8], [8, 56]])
    other = mechanism(priors[0], [[36, 28], [28, 36]])
    found = person_budget({"flu": [mild, strong], "sex": [other]})
    for each in (mild, strong):
        alone = person_budget({"flu": [each], "sex": [other]})
        for name in ("eps_lower", "eps_upper", "ldp"):
            assert alone.ratios[name] <= found.ratios[name]  # type: ignore[operator]
    assert found.questions[0].mechanisms == 2
    assert found.ratios["ldp"] == 7 * Fraction(36, 28)


def test_ldp_never_rests_on_the_prior_that_a_design_used() -> None:
    """An LDP table that was tuned to a prior promises its LDP level, not lifts under it."""
    prior = Prior.from_counts({0: 1, 1: 1})
    coin = mechanism(prior, [[48, 16], [16, 48]], ll.LDP("2"))
    found = person_budget({"a": [coin]})
    assert found.ratios == dict.fromkeys(("lip", "eps_lower", "eps_upper", "ldp"), Fraction(3))
    assert worst_levels(mechanism(prior, [[48, 16], [16, 48]])).upper == Fraction(3, 2)


def test_a_total_is_kept_or_refused_with_all_that_is_spent() -> None:
    prior = Prior.from_counts({0: 1, 1: 1})
    coin = mechanism(prior, [[46, 18], [18, 46]], ll.LDP("1"))
    found = person_budget({"smokes": [coin], "drinks": [coin], "votes": [coin]})
    assert found.allows(ll.LDP("3"))
    assert found.objection(ll.LDP("3")) == ""
    told = found.objection(ll.LDP("2"))
    assert told.startswith(
        "all answers of one person may tell LDP 2.82 nats, more than the total ldp(2) allows "
        "(smokes: LDP 0.939; drinks: LDP 0.939; votes: LDP 0.939; "
    )
    assert "multiply every budget by 0.666" in told
    assert "or allow ldp=2.82 as the total" in told
    assert found.allows(ll.LDP("2.82"))
    assert not found.allows(ll.LDP("2.81"))
    with pytest.raises(NotDefined, match="give the total as lip, alip or ldp"):
        found.allows(ll.ApproximateLDP("2", "0.01"))


@pytest.mark.parametrize("limit", [ll.LIP("2"), ll.ALIP(lower="3", upper="1.5"), ll.LDP("2.5")])
def test_the_remedy_keeps_the_total_whatever_the_designs(limit: ll.LIP | ll.LDP) -> None:
    priors = [Prior.from_counts({0: 7, 1: 2, 2: 1}), Prior.from_counts({0: 1, 1: 4})]
    notions = [ll.LIP("1"), ll.ALIP(lower="1.2", upper="0.8")]

    def designed(scale: Fraction) -> PersonBudget:
        return person_budget(
            {
                str(place): [ll.design(prior, notion.scaled(scale), utility="frequencies")]
                for place, (prior, notion) in enumerate(zip(priors, notions, strict=True))
            }
        )

    found = designed(Fraction(1))
    scale = found.scale_within(limit)
    assert scale is not None
    assert 0 < scale < 1
    assert not found.allows(limit)
    assert found.objection(limit)
    assert designed(scale).allows(limit)


def test_budgets_that_add_up_to_the_total_keep_it() -> None:
    """The sum of three levels of LDP 1 is 3: a hair must not refuse what keeps its limit."""
    prior = Prior.uniform(range(4))
    made = ll.design(prior, ll.LDP("1"), method="k-rr")
    found = person_budget({name: [made] for name in "abc"})
    assert found.allows(ll.LDP("3"))
    rounds = person_budget({"a": [made]}, rule=RepeatRule("fresh", 3))
    assert rounds.allows(ll.LDP("3"))
    assert not rounds.allows(ll.LDP("2.99"))


# --- rounds ---------------------------------------------------------------------------------------


def trajectories(prior: Prior, moves: Fraction, rounds: int) -> Joint:
    """Return the law of a value that is drawn anew from the prior with a chance in each round."""
    own = dict(zip(prior.labels, prior.fractions, strict=True))
    found: Joint = {(x,): p for x, p in own.items()}
    for _ in range(rounds - 1):
        found = {
            (*xs, x): p * ((x == xs[-1]) * (1 - moves) + moves * own[x])
            for xs, p in found.items()
            for x in own
        }
    return found


@pytest.mark.parametrize("moves", [Fraction(0), Fraction(1, 10), Fraction(1)])
@pytest.mark.parametrize("rounds", [2, 3])
def test_fresh_rounds_stay_below_the_total(moves: Fraction, rounds: int) -> None:
    prior = Prior.from_counts({0: 7, 1: 3})
    coin = mechanism(prior, [[48, 16], [16, 48]], ll.LIP("1.2"))
    found = person_budget({"a": [coin]}, rule=RepeatRule("fresh", rounds))
    law = {xs: p for xs, p in trajectories(prior, moves, rounds).items() if p}
    falls, rises = enumeration.extremes(law, [enumeration.rows_of(coin)] * rounds)
    told = found.over_rounds
    assert math.log(falls) <= float(told["eps_lower"].upper or 0)
    assert math.log(rises) <= float(told["eps_upper"].upper or 0)
    if not moves:
        # Of an answer that never changes the account is exact.
        exact = math.log(max(falls, rises))
        assert float(found.never_changes["a"]) == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("moves", [Fraction(0), Fraction(1, 10), Fraction(1)])
def test_the_first_report_for_ever_adds_nothing(moves: Fraction) -> None:
    """Whatever becomes of the value: no event about its life tells more than the first report."""
    prior = Prior.from_counts({0: 7, 1: 3})
    coin = mechanism(prior, [[48, 16], [16, 48]], ll.LIP("1.2"))
    found = person_budget({"a": [coin]}, rule=RepeatRule.read("first"))
    rows = enumeration.rows_of(coin)
    law = {xs: p for xs, p in trajectories(prior, moves, 3).items() if p}
    # All three reports are the first one: the table of the trajectory reads its first value.
    by_life: enumeration.Rows = {xs: rows[xs[0]] for xs in law}
    lives: Joint = {(xs,): p for xs, p in law.items()}
    falls, rises = enumeration.event_extremes(lives, [by_life])
    assert falls <= found.ratios["eps_lower"]  # type: ignore[operator]
    assert rises <= found.ratios["eps_upper"]  # type: ignore[operator]
    assert found.over_rounds == found.nats


def test_memo_has_no_total() -> None:
    prior = Prior.from_counts({0: 7, 1: 3})
    coin = mechanism(prior, [[48, 16], [16, 48]])
    found = person_budget({"a": [coin]}, rule=RepeatRule.read("memo=2"))
    assert not found.allows(ll.LDP("100"))
    assert found.over_rounds["ldp"].is_infinite
    assert "use repeat: first" in found.objection(ll.LDP("100"))


def test_a_set_from_own_reports_promises_ldp_alone() -> None:
    """Whoever may have shaped the set of priors by an earlier report is protected by LDP."""
    near = Intervals.from_counts({0: 700, 1: 300}, confidence="0.99")
    made = ll.design(near, ll.LIP("1"), utility="frequencies")
    once = person_budget({"a": [made]})
    assert once.ratios["lip"] < once.ratios["ldp"]  # type: ignore[operator]
    assert once.doubt == Fraction(1, 100)
    assert once.notes == (
        "LIP holds with confidence 99 % over the evidence for the sets of priors, "
        "LDP whatever is true",
    )
    again = person_budget({"a": [made]}, rule=RepeatRule("fresh", 2))
    assert again.ratios["lip"] == again.ratios["ldp"] == once.ratios["ldp"]


# --- what is refused ------------------------------------------------------------------------------


def test_joints_that_do_not_fit_are_refused() -> None:
    prior = Prior.from_counts({0: 1, 1: 3})
    coin = mechanism(prior, [[40, 24], [24, 40]])
    asked = {"a": [coin], "b": [coin]}
    uniform = Prior.uniform([(0, 0), (0, 1), (1, 0), (1, 1)])
    with pytest.raises(InputError, match="the joint and the prior of a question disagree at a"):
        person_budget(asked, joint=uniform)
    with pytest.raises(InputError, match="not over tuples of the answers"):
        person_budget(asked, joint=Prior.uniform([0, 1]))
    with pytest.raises(InputError, match="a value that the question does not at b"):
        person_budget(asked, joint=Prior.from_counts({(0, 2): 1, (1, 0): 3}))
    with pytest.raises(InputError, match="a question that is not asked"):
        person_budget(asked, joint=uniform, joint_of=("a", "c"))
    groups = {"a": [coin, mechanism(Prior.uniform([0, 1]), [[40, 24], [24, 40]])], "b": [coin]}
    with pytest.raises(InputError, match="a joint beside groups that have a prior each at a"):
        person_budget(groups, joint=Prior.from_counts({(0, 0): 1, (1, 1): 3}))


def test_impossible_combinations_are_told() -> None:
    coin = mechanism(Prior.from_counts({0: 1, 1: 3}), [[40, 24], [24, 40]])
    copies = Prior.from_counts({(0, 0): 1, (1, 1): 3})
    found = person_budget({"a": [coin], "b": [coin]}, joint=copies)
    (note,) = found.notes
    assert note == (
        "the joint calls 2 combinations of answers impossible: of somebody who has one, only LDP "
        "is promised"
    )
    assert found.ratios["ldp"] == Fraction(40, 24) ** 2


def test_questions_that_group_people_differently_promise_ldp_together() -> None:
    """A region and an age band together may say more of an answer than either does."""
    prior = Prior.from_counts({0: 1, 1: 3})
    coin = mechanism(prior, [[40, 24], [24, 40]])
    asked = {"a": [coin], "b": [coin]}
    alike = person_budget(asked, groups={"a": ["north", "south"], "b": ["south", "north"]})
    assert alike.ratios == person_budget(asked).ratios
    apart = person_budget(asked, groups={"a": ["north", "south"], "b": ["young", "old"]})
    assert set(apart.ratios.values()) == {Fraction(40, 24) ** 2}
    assert "together LDP alone is promised" in apart.notes[0]


def test_a_refusal_names_those_that_spend_most() -> None:
    prior = Prior.uniform([0, 1])
    mild = mechanism(prior, [[36, 28], [28, 36]], ll.LDP("1"))
    strong = mechanism(prior, [[46, 18], [18, 46]], ll.LDP("1"))
    asked = {f"q{n}": [strong if n == 30 else mild] for n in range(40)}
    told = person_budget(asked).objection(ll.LDP("2"))
    assert "q30: LDP 0.939" in told
    assert told.count(": LDP") == 12
    assert "; 28 more spend less; by the bound" in told


def test_remedies_keep_the_total_where_ldp_alone_counts() -> None:
    """Questions that group people differently, and questions of which nothing is known."""
    prior = Prior.from_counts({0: 1, 1: 3})
    free = Intervals.all_priors([0, 1])

    def designed(
        scale: Fraction, near: Prior | Intervals, groups: dict[str, list[str]] | None = None
    ) -> PersonBudget:
        made = ll.design(near, ll.LIP("1").scaled(scale), utility="frequencies")
        return person_budget({"a": [made], "b": [made]}, groups=groups)

    groups = {"a": ["north", "south"], "b": ["young", "old"]}
    apart = designed(Fraction(1), prior, groups=groups)
    scale = apart.scale_within(ll.LIP("2"))
    assert scale == Fraction(1, 2)
    assert not apart.allows(ll.LIP("2"))
    assert designed(scale, prior, groups=groups).allows(ll.LIP("2"))
    # LIP for every prior is LDP of the same level: no budget is given away.
    unknown = designed(Fraction(1), free)
    assert unknown.allows(ll.LDP("2"))
    assert unknown.scale_within(ll.LDP("1")) == Fraction(1, 2)
    assert designed(Fraction(1, 2), free).allows(ll.LDP("1"))


def test_a_joint_beside_other_groups_promises_ldp_alone() -> None:
    coin = mechanism(Prior.from_counts({0: 1, 1: 3}), [[40, 24], [24, 40]])
    asked = {"a": [coin], "b": [coin], "c": [coin]}
    copies = Prior.from_counts({(0, 0): 1, (1, 1): 3})
    alike = person_budget(asked, joint=copies, joint_of=("a", "b"))
    apart = person_budget(asked, joint=copies, joint_of=("a", "b"), groups={"c": ["old", "young"]})
    assert alike.ratios["lip"] != alike.ratios["ldp"]
    assert apart.ratios["lip"] == apart.ratios["ldp"] == Fraction(40, 24) ** 3
