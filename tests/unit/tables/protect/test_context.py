"""Missing, rare and unseen values, types, and what cannot be protected."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from liftlock import Joint, Prior
from liftlock.errors import InputError, LabelError
from liftlock.model.columns import MISSING_LABEL, OTHER_LABEL
from liftlock.tables.protect.context import LearnedColumn, learn_labels, learn_numbers
from liftlock.tables.protect.spec import Policy

JOBS = ["nurse"] * 9 + ["cook"] * 5 + ["judge"] * 2 + ["pilot"] + [None] * 3


def own(values: list[Any]) -> dict[tuple[Any, Any], int]:
    return dict(Counter((None, value) for value in values))


def shares(learned: LearnedColumn) -> dict[Any, Fraction]:
    prior = learned.context
    assert isinstance(prior, Prior)
    return {
        label: Fraction(n, prior.total) for label, n in zip(prior.labels, prior.counts, strict=True)
    }


def cells(learned: LearnedColumn) -> dict[tuple[Any, Any], Fraction]:
    joint = learned.context
    assert isinstance(joint, Joint)
    return {
        (told, label): Fraction(count, joint.total)
        for told, row in zip(joint.secrets.labels, joint.counts, strict=True)
        for label, count in zip(joint.inputs.labels, row, strict=True)
        if count
    }


# --- missing cells ------------------------------------------------------------------------------


def test_missing_cells_are_a_category_unless_told_otherwise() -> None:
    learned = learn_labels("job", own(JOBS))
    assert shares(learned)[MISSING_LABEL] == Fraction(3, 20)
    assert learned.context.inputs.labels == ("cook", "judge", "nurse", "pilot", MISSING_LABEL)
    assert (learned.encoding.columns[0].missing, learned.encoding.columns[0].keeps_missing) == (
        MISSING_LABEL,
        False,
    )
    assert any("3 missing values" in note for note in learned.notes)


def test_missing_cells_that_are_kept_are_outside_of_the_prior() -> None:
    learned = learn_labels("job", own(JOBS), Policy("keep"))
    assert shares(learned)["nurse"] == Fraction(9, 17)
    assert MISSING_LABEL not in learned.context.inputs
    assert learned.encoding.columns[0].keeps_missing
    assert learned.fixed is None
    assert any("not protected" in note for note in learned.notes)


def test_missing_cells_that_are_kept_beside_a_secret_are_an_input_that_must_come_out() -> None:
    told = {("ill", None): 2, ("well", None): 1, ("ill", "a"): 3, ("well", "b"): 4}
    learned = learn_labels("job", told, Policy("keep"), secret="health")
    assert learned.fixed == MISSING_LABEL
    assert cells(learned)["ill", MISSING_LABEL] == Fraction(2, 10)
    assert not learned.encoding.columns[0].keeps_missing


def test_missing_cells_are_refused_with_their_number() -> None:
    with pytest.raises(InputError, match="3 of 20 values of 'job' are missing"):
        learn_labels("job", own(JOBS), Policy("refuse"))
    assert learn_labels("job", own(JOBS[:-3]), Policy("refuse")).encoding.columns[0].missing is None


@pytest.mark.parametrize("blank", [None, "", "  ", math.nan, "?", " ? "])
def test_all_ways_to_leave_a_cell_empty_are_the_same(blank: Any) -> None:
    learned = learn_labels("job", own([*JOBS, blank]), Policy(spelled=("?",)))
    assert shares(learned)[MISSING_LABEL] == Fraction(4, 21)


def test_a_text_means_missing_only_if_it_is_said_to() -> None:
    assert "?" in learn_labels("job", own([*JOBS, "?"])).context.inputs


@pytest.mark.parametrize("policy", ["category", "keep"])
def test_nothing_but_missing_cells_is_refused(policy: Any) -> None:
    for secret in (None, "sex"):
        with pytest.raises(InputError, match="all values of 'job' are missing"):
            learn_labels("job", {("f", None): 4, ("m", None): 5}, Policy(policy), secret=secret)


# --- rare and unseen values ---------------------------------------------------------------------


def test_rare_values_are_merged_and_named() -> None:
    learned = learn_labels("job", own(JOBS), Policy(rare=3))
    assert shares(learned)[OTHER_LABEL] == Fraction(3, 20)
    assert learned.encoding.columns[0].merged == ("judge", "pilot")
    assert learned.encoding.columns[0].unseen == "refuse"
    told = " ".join(learned.notes)
    assert "2 values in fewer than 3 rows" in told
    assert "'judge', 'pilot'" in told


def test_one_rare_value_alone_hides_behind_nobody_and_that_is_said() -> None:
    learned = learn_labels("job", own(JOBS), Policy(rare=2))
    assert learned.encoding.columns[0].merged == ("pilot",)
    assert any("is the only rare value" in note for note in learned.notes)
    assert any("still in only 1 rows" in note for note in learned.notes)


def test_unseen_values_become_the_merged_ones_or_the_most_frequent_one() -> None:
    assert (
        learn_labels("job", own(JOBS), Policy(unseen="map", rare=3)).encoding.columns[0].other
        == OTHER_LABEL
    )
    learned = learn_labels("job", own(JOBS), Policy(unseen="map"))
    assert learned.encoding.columns[0].other == "nurse"
    assert any("'nurse'" in note for note in learned.notes)


def test_all_values_rare_is_refused() -> None:
    with pytest.raises(InputError, match="rarer than 10 rows"):
        learn_labels("job", own(JOBS), Policy(rare=10))


def test_more_values_than_half_the_rows_are_refused_unless_merged() -> None:
    many = [f"v{at}" for at in range(30)] + ["usual"] * 20
    with pytest.raises(InputError, match="31 distinct values in 50 rows"):
        learn_labels("code", own(many))
    assert len(learn_labels("code", own(many), Policy(rare=2)).context.inputs) == 2


def test_missing_rows_do_not_excuse_too_many_values() -> None:
    with pytest.raises(InputError, match="4 distinct values in 5 rows"):
        learn_labels("code", own([*"abcda", *[None] * 90]))


@pytest.mark.parametrize("taken", [MISSING_LABEL, OTHER_LABEL])
def test_names_with_a_meaning_are_refused_as_values(taken: str) -> None:
    with pytest.raises(LabelError, match="a reserved name"):
        learn_labels("job", own([*JOBS, taken]))


@pytest.mark.parametrize("taken", ["(missing)", " (other)"])
def test_names_with_a_meaning_cannot_mean_missing(taken: str) -> None:
    with pytest.raises(
        LabelError, match="one text instead of a list of texts for missing cells is called"
    ):
        Policy(spelled=(taken,))


def test_every_text_that_means_missing_does() -> None:
    counts = {(None, "a"): 4, (None, "b"): 4, (None, "(nothing)"): 4}
    learned = learn_labels("x", counts, Policy(spelled=("(nothing)",)))
    assert learned.context.inputs.labels == ("a", "b", "(missing)")


def test_a_constant_is_nothing_to_protect() -> None:
    with pytest.raises(InputError, match="all rows have the same value of 'job'"):
        learn_labels("job", own(["nurse"] * 8))


@pytest.mark.parametrize(
    "wrong", [{"missing": "drop"}, {"unseen": "ignore"}, {"rare": -1}, {"smooth": "-1/2"}]
)
def test_unknown_policies_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        Policy(**wrong)


# --- types --------------------------------------------------------------------------------------


def test_texts_of_whole_numbers_are_numbers_unless_one_is_not() -> None:
    learned = learn_labels("size", own(["2", "10", "2", "10", " 10"]))
    assert learned.context.inputs.labels == (2, 10)
    assert learned.context.inputs.coordinates is not None
    kept = learn_labels("zip", own(["02", "10", "02", "10"]))
    assert kept.context.inputs.labels == ("02", "10")


def test_truth_values_and_numbers_are_not_mixed() -> None:
    assert learn_labels("yes", own([True, False, True, True])).context.inputs.labels == (
        False,
        True,
    )
    for mixed in (["a", 1, "a", 1], [True, 1, 2, 2, 2, True]):
        with pytest.raises(LabelError, match="different types"):
            learn_labels("mixed", own(mixed))


# --- secrets ------------------------------------------------------------------------------------


def test_the_joint_is_what_plain_counting_gives() -> None:
    chance = random.Random(3)
    people = [
        (chance.choice(["f", "m", None]), chance.choice(["a", "b ", "c", "d", None]))
        for _ in range(300)
    ]
    counts = dict(Counter(people))
    learned = learn_labels("x", counts, secret="s")
    expected: dict[tuple[Any, Any], Fraction] = defaultdict(Fraction)
    for told, value in people:
        expected[told or MISSING_LABEL, (value or MISSING_LABEL).strip()] += Fraction(1, 300)
    assert cells(learned) == dict(expected)


def test_counts_are_smoothed_exactly() -> None:
    counts = {("f", "a"): 3, ("f", "b"): 1, ("m", "b"): 4}
    learned = learn_labels("x", counts, Policy(smooth="1/2"), secret="s")
    assert cells(learned)["m", "a"] == Fraction(1, 2) / 10
    assert cells(learned)["m", "b"] == Fraction(9, 2) / 10
    assert shares(learn_labels("x", own([*"aaab"]), Policy(smooth=2)))["b"] == Fraction(3, 8)


def test_a_secret_with_one_value_is_refused() -> None:
    with pytest.raises(InputError, match="the secret 's' has the same value in all rows"):
        learn_labels("x", {("f", "a"): 5, ("f", "b"): 5}, secret="s")


@pytest.mark.parametrize("smooth", [0, 1])
def test_a_column_that_is_the_secret_is_refused_under_any_names(smooth: int) -> None:
    policy = Policy(smooth=smooth)
    for names in (("f", "m"), ("M", "F"), (0, 1), (None, "m")):
        counts = {("f", names[0]): 6, ("m", names[1]): 5}
        with pytest.raises(InputError, match="is the secret 's' itself"):
            learn_labels("x", counts, policy, secret="s")
    one_more = {("f", "a"): 6, ("m", "b"): 5, ("m", "a"): 1}
    assert learn_labels("x", one_more, policy, secret="s").context.inputs.labels == ("a", "b")


def test_a_secret_with_too_many_values_is_refused_with_a_remedy_that_helps() -> None:
    counts = {(f"person {at}", "ab"[at % 2]): 1 for at in range(20)}
    with pytest.raises(InputError, match="the secret 's' has 20 distinct") as refusal:
        learn_labels("x", counts, Policy(rare=1), secret="s")
    assert "--rare" not in str(refusal.value)


def test_a_secret_that_is_called_like_a_missing_one_is_refused() -> None:
    counts = {(MISSING_LABEL, "a"): 4, (None, "b"): 4, ("ill", "b"): 5}
    with pytest.raises(LabelError, match="value of the secret"):
        learn_labels("x", counts, secret="s")


# --- numbers ------------------------------------------------------------------------------------


def test_cells_of_numbers_beside_a_secret_are_counted_as_they_will_be_read() -> None:
    chance = np.random.default_rng(4)
    numbers = np.round(chance.normal(50, 30, 400))
    numbers[::19] = np.nan
    secrets = ["f" if at % 3 else None for at in range(400)]
    learned = learn_numbers(
        "pay", numbers, secrets, secret="s", bins=6, domain=(0, 100), policy=Policy()
    )
    code = learned.encoding.columns[0]
    assert len(code.bins) == len(code.edges) - 1 == len(learned.points)
    assert (code.edges[0], code.edges[-1]) == (0, 100)
    expected: dict[tuple[Any, Any], Fraction] = defaultdict(Fraction)
    for told, number in zip(secrets, numbers.tolist(), strict=True):
        clamped = min(max(number, 0.0), 100.0)
        label: Any = MISSING_LABEL
        if not math.isnan(number):
            inside = sum(edge <= clamped for edge in code.edges[1:-1])
            label = code.bins[inside]
        expected[told or MISSING_LABEL, label] += Fraction(1, 400)
    assert cells(learned) == dict(expected)


def test_ends_taken_from_the_data_are_mentioned() -> None:
    numbers = np.arange(40.0)
    assert any("--domain" in note for note in learn_numbers("pay", numbers).notes)
    assert not learn_numbers("pay", numbers, domain=(0, 40)).notes


def test_missing_numbers_have_no_category_without_a_secret() -> None:
    numbers = np.array([1.0, 2.0, np.nan, 4.0])
    with pytest.raises(InputError, match="1 missing values among the numbers"):
        learn_numbers("pay", numbers)
    assert learn_numbers("pay", numbers, policy=Policy("keep")).encoding.columns[0].keeps_missing
    with pytest.raises(InputError, match="are missing"):
        learn_numbers("pay", numbers, policy=Policy("refuse"))
    with pytest.raises(InputError, match="all values of 'pay' are missing"):
        learn_numbers("pay", np.array([np.nan, np.nan]), policy=Policy("keep"))


@pytest.mark.parametrize("policy", ["category", "keep"])
@pytest.mark.parametrize("missing", [0, 2])
def test_only_missing_numbers_that_are_kept_must_come_out(policy: Any, missing: int) -> None:
    """By default a missing number is protected like the others, and may come out as another."""
    numbers = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
    numbers[:missing] = np.nan
    learned = learn_numbers(
        "pay", numbers, [*"fmfmfmfm"], Policy(policy), secret="s", bins=2, domain=(0, 8)
    )
    assert learned.fixed == (MISSING_LABEL if missing and policy == "keep" else None)
    assert learned.encoding.columns[0].missing == (MISSING_LABEL if missing else None)
    assert (MISSING_LABEL in learned.context.inputs) == bool(missing)
    assert (learned.context.inputs.coordinates is None) == bool(missing)
    told = " ".join(learned.notes)
    assert ("kept missing" in told) == bool(missing and policy == "keep")
    assert ("separate category" in told) == bool(missing and policy == "category")


@pytest.mark.parametrize("policy", ["category", "keep"])
@pytest.mark.parametrize("missing", [0, 2])
def test_only_missing_labels_that_are_kept_must_come_out(policy: Any, missing: int) -> None:
    told = {("ill", "a"): 3, ("well", "a"): 2, ("ill", "b"): 1, ("well", "b"): 4}
    if missing:
        told["ill", None] = missing  # type: ignore[index]
    learned = learn_labels("job", told, Policy(policy), secret="health")
    assert learned.fixed == (MISSING_LABEL if missing and policy == "keep" else None)
    assert learned.encoding.columns[0].missing == (MISSING_LABEL if missing else None)
    alone = learn_labels("job", {(None, k): n for (_, k), n in told.items()}, Policy(policy))
    assert alone.fixed is None
    assert alone.encoding.columns[0].keeps_missing == (policy == "keep")


def test_rare_numbers_are_not_merged() -> None:
    numbers = np.arange(8.0)
    with pytest.raises(InputError, match="--rare"):
        learn_numbers("pay", numbers, [*"fmfmfmfm"], Policy(rare=2), secret="s")
