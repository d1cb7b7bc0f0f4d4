"""The consent text: no number in it says less than what enumeration finds."""

from __future__ import annotations

import itertools
import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import liftlock as ll
from liftlock.collect.survey.budget import person_budget
from liftlock.collect.survey.consent import (
    Asked,
    Reveal,
    factor_text,
    odds_text,
    percent_down,
    percent_up,
    together_texts,
)
from liftlock.collect.survey.repeat import RepeatRule
from liftlock.model import Family, Intervals, Prior, ProfileGraph
from tests.unit.collect.survey import enumeration

FLU = Prior.from_counts({"none": 700, "cold": 200, "flu": 100})


def flat(text: str) -> str:
    """Return a text with ordinary spaces."""
    return text.replace("\N{NO-BREAK SPACE}", " ")


def numbers_of(text: str) -> list[Fraction]:
    """Return the percentages of a text, as shares."""
    return [Fraction(found.replace(",", "")) / 100 for found in re.findall(r"([\d.,e-]+) %", text)]


@pytest.fixture(scope="module")
def designed() -> ll.Mechanism:
    """The mechanism of the example of the papers."""
    return ll.design(FLU, ll.LIP("1"), utility="frequencies")


@pytest.mark.parametrize("budget", ["0.3", "1", "2.5"])
@pytest.mark.parametrize("prior", [FLU, Prior.from_counts({"a": 1, "b": 999, "c": 3, "d": 70})])
def test_beliefs_are_told_exactly_and_written_on_the_safe_side(prior: Prior, budget: str) -> None:
    made = ll.design(prior, ll.LIP(budget), utility="frequencies")
    reveal = Reveal.of(made)
    own = dict(zip(prior.labels, prior.fractions, strict=True))
    joint: enumeration.Joint = {(x,): p for x, p in own.items()}
    beliefs: dict[object, list[Fraction]] = {}
    for (x,), _, lift in enumeration.lifts(joint, [enumeration.rows_of(made)]):
        beliefs.setdefault(x, []).append(own[str(x)] * lift)
    assert [move.value for move in reveal.moves] == list(prior.labels)
    for move in reveal.moves:
        assert (move.most, move.least) == (max(beliefs[move.value]), min(beliefs[move.value]))
        least, most, _ = numbers_of(flat(str(move)))
        assert move.most <= most <= move.most * Fraction(101, 100)
        assert move.least * Fraction(99, 100) <= least <= move.least
    (said, whatever) = reveal.sentences()
    assert flat(said).startswith("After the report, someone who knows only how common each answer")
    ratio = enumeration.ldp_ratio([enumeration.rows_of(made)])
    assert reveal.ratio == ratio
    _, most, least = numbers_of(flat(whatever))
    assert ratio / (1 + ratio) <= most
    assert least <= 1 / (1 + ratio)


@given(st.fractions(Fraction(1, 10**9), Fraction(1)))
def test_percentages_are_rounded_to_their_safe_side(share: Fraction) -> None:
    (up,), (down,) = numbers_of(flat(percent_up(share))), numbers_of(flat(percent_down(share)))
    assert down <= share <= up
    assert up <= share * Fraction(102, 100)


@given(st.fractions(Fraction(1), Fraction(10**6)))
def test_odds_are_written_on_the_safe_side(ratio: Fraction) -> None:
    text = flat(odds_text(ratio))
    if ratio > 999:
        assert text == "an answer may be revealed almost for certain."
        return
    found = re.search(r"at most ([\d.,e+-]+)-fold", text)
    assert found is not None
    assert ratio <= Fraction(found[1].replace(",", ""))
    _, most, least = numbers_of(text)
    assert least <= 1 / (1 + ratio)
    assert ratio / (1 + ratio) <= most


def test_no_limit_is_said_in_words() -> None:
    assert odds_text(None) == "an answer may be revealed for certain."
    assert flat(factor_text(None, Fraction(0))) == (
        "a belief in any answer rises without limit, and can rule it out."
    )


def test_ldp_speaks_of_any_belief() -> None:
    made = ll.design(Prior.uniform(["no", "yes"]), ll.LDP("1"), method="k-rr")
    reveal = Reveal.of(made)
    assert reveal.every_belief
    assert reveal.moves == ()
    (said,) = reveal.sentences()
    assert flat(said).startswith("Whatever anyone believed before: the odds of one answer")
    assert "at most 2.72-fold; even odds (50 %) become at most 73.2 %" in flat(said)


def test_a_set_with_a_confidence_says_the_worst_case_first() -> None:
    near = Intervals.from_counts({"none": 700, "cold": 200, "flu": 100}, confidence="0.99")
    made = ll.design(near, ll.LIP("1"), utility="frequencies")
    first, second = Reveal.of(made).sentences()
    assert flat(first).startswith("Whatever anyone believed before: the odds")
    assert flat(second).startswith(
        "If you have not answered before, with confidence 99 % over 1,000 observations, for "
        "someone who knows only how common each answer is: a belief in any answer rises at most"
    )
    found = re.search(
        r"rises at most ([\d.]+)-fold, and falls to no less than ([\d.]+) %", flat(second)
    )
    assert found is not None
    rows = enumeration.rows_of(made)
    # Corners of the set by enumeration: ends of two shares, the third is the rest.
    worst_up, worst_down = Fraction(1), Fraction(1)
    labels = list(near.inputs.labels)
    for free in range(3):
        fixed = [i for i in range(3) if i != free]
        for ends in itertools.product(*((near.lower[i], near.upper[i]) for i in fixed)):
            rest = 1 - sum(ends, Fraction(0))
            if not near.lower[free] <= rest <= near.upper[free]:
                continue
            masses = dict(zip([labels[i] for i in fixed], ends, strict=True)) | {labels[free]: rest}
            falls, rises = enumeration.extremes({(x,): p for x, p in masses.items()}, [rows])
            worst_up, worst_down = max(worst_up, rises), max(worst_down, falls)
    assert worst_up <= Fraction(found[1])
    assert Fraction(found[2]) / 100 <= 1 / worst_down


def test_other_contexts_are_named() -> None:
    family = Family.of([FLU, Prior.from_counts({"none": 600, "cold": 300, "flu": 100})])
    made = ll.design(family, ll.LIP("1"), utility="frequencies")
    first, _ = Reveal.of(made, 'the group "north"').sentences()
    assert first.startswith('For the group "north": under every mixture of 2 priors')
    pair = ProfileGraph.bernoulli({"often": "0.9", "rarely": "0.2"})
    bit = ll.design(pair, ll.ProfilePrivacy("1"), method="cluster")
    said = list(Reveal.of(bit).sentences())
    assert "Which of two joined profiles you have becomes more likely" in flat(said[-1])
    found = re.search(r"at most ([\d.]+)-fold", flat(said[-1]))
    assert found is not None
    profiles = bit.audit()
    assert profiles is not None
    assert Fraction(found[1]) >= (Reveal.of(bit).profiles or 0)


def test_what_is_sent_and_that_a_change_shows(designed: ll.Mechanism) -> None:
    asked = Asked.of("flu", "How are you today?", [(designed, "")], RepeatRule.read("first"))
    first, *_ = asked.paragraphs()
    outputs = len(designed.table.outputs)
    assert outputs == 4
    assert first == (
        "How are you today? Your device sends one of 4 reports (r1, r2, r3, r4), and a random "
        "number that names it; never your answer."
    )
    memo = Asked.of("flu", "How are you today?", [(designed, "")], RepeatRule.read("memo=2"))
    assert memo.changes is not None
    low, high = numbers_of(flat(list(memo.paragraphs())[-1]))
    assert low <= memo.changes[0] <= memo.changes[1] <= high


def test_a_panel_tells_the_worst_of_its_mechanisms() -> None:
    priors = [Prior.from_counts({"no": 100 - n, "yes": n}) for n in range(10, 50, 2)]
    made = [ll.design(prior, ll.LIP("1"), method="binary") for prior in priors]
    every_one = [(each, "") for each in made]
    asked = Asked.of("smokes", "Do you smoke?", every_one, RepeatRule())
    every = [Reveal.of(each) for each in made]
    assert len(asked.reveals) <= 3
    assert max(each.ratio or 0 for each in asked.reveals) == max(each.ratio or 0 for each in every)
    assert max(each.up or 0 for each in asked.reveals) == max(each.up or 0 for each in every)
    assert min(each.down for each in asked.reveals) == min(each.down for each in every)


def test_all_answers_together_are_never_told_less_than_they_are(designed: ll.Mechanism) -> None:
    coin = ll.design(Prior.uniform(["no", "yes"]), ll.LDP("1"), method="k-rr")
    budget = person_budget({"flu": [designed], "smokes": [coin]})
    first, second, third = (flat(text) for text in together_texts(budget, ll.LIP("3"))[:3])
    assert first.startswith("All 2 reports together, whatever anyone believed before: the odds of")
    told = re.search(r"change at most ([\d.]+)-fold", first)
    assert told is not None
    rows = [enumeration.rows_of(designed), enumeration.rows_of(coin)]
    assert enumeration.ldp_ratio(rows) <= Fraction(told[1])
    rises = re.search(r"rises at most ([\d.]+)-fold", second)
    assert rises is not None
    # Two answers that have nothing in common are one of the cases that it covers.
    joint: enumeration.Joint = {
        (x, y): p * q
        for (x, p) in zip(FLU.labels, FLU.fractions, strict=True)
        for (y, q) in [("no", Fraction(1, 2)), ("yes", Fraction(1, 2))]
    }
    assert enumeration.extremes(joint, rows)[1] <= Fraction(rises[1])
    assert "whatever the answers have in common" in third
    assert together_texts(budget, ll.LIP("3"))[-1].endswith("is lip(3); it is kept.")


def test_rounds_are_told(designed: ll.Mechanism) -> None:
    fresh = together_texts(person_budget({"flu": [designed]}, rule=RepeatRule.read("fresh=2")))
    assert flat(fresh[0]).startswith("The one report in 2 rounds together")
    assert "If your answer to flu never changes, 2 reports of this mechanism" in flat(fresh[-1])
    assert fresh[-1].endswith(", for whoever believes what it was designed for.")
    draft = ll.Draft.of(["no", "yes"], ["r1", "r2"], [[0.6, 0.4], [0.4, 0.6]])
    coin = ll.lock(draft, ll.LDP("1"), Prior.uniform(["no", "yes"]))
    anybody = together_texts(person_budget({"coin": [coin]}, rule=RepeatRule.read("fresh=2")))
    assert "never changes" in anybody[-1]
    assert "believes" not in anybody[-1]
    memo = together_texts(person_budget({"flu": [designed]}, rule=RepeatRule.read("memo=2")))
    assert memo[0].startswith("All rounds together have no limit")
