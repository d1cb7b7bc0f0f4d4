"""Audit from records: two columns, any proportions, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from liftlock import Prior
from liftlock.errors import CountError, InputError, LabelError
from liftlock.probe import ProbeResult, probe_pairs
from tests.statistical.table_box import TableBox, randomised_response, truth

PRIOR = np.array([0.1, 0.2, 0.3, 0.4])
ROWS = randomised_response(4, 1.0)
TRUE = truth(ROWS, PRIOR)
SIDES = ("eps_upper", "eps_lower", "ldp")


def records(
    number: int, shares: npt.NDArray[np.float64], seed: int = 3
) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any]]:
    inputs = np.random.default_rng(seed + 1000).choice(len(shares), number, p=shares)
    return inputs, TableBox(ROWS, seed)(inputs)


@pytest.mark.parametrize("shares", [PRIOR, PRIOR[::-1], np.array([0.02, 0.02, 0.48, 0.48])])
def test_every_side_is_bounded_from_below_whatever_the_proportions(
    shares: npt.NDArray[np.float64],
) -> None:
    inputs, outputs = records(400_000, shares)
    result = probe_pairs(inputs, outputs, PRIOR)
    for name in SIDES:
        assert 0.8 * TRUE[name] < getattr(result, name) < TRUE[name]
    assert result.samples == 400_000
    assert result.unseen == ()


def test_records_drawn_from_the_prior_give_sharper_bounds() -> None:
    totals = {True: 0.0, False: 0.0}
    for seed in range(8):
        inputs, outputs = records(20_000, PRIOR, seed)
        for sampled in totals:
            result = probe_pairs(inputs, outputs, PRIOR, lip=1, sampled_from_prior=sampled)
            totals[sampled] += result.eps_upper + result.eps_lower
    assert totals[True] > totals[False]


def test_a_contradiction_and_none() -> None:
    inputs, outputs = records(400_000, PRIOR)
    assert probe_pairs(inputs, outputs, PRIOR, lip=TRUE["lip"] - 0.1).contradicted
    result = probe_pairs(inputs, outputs, PRIOR, lip=TRUE["lip"])
    assert not result.contradicted
    assert "No contradiction found" in str(result)


def test_labels_codes_lists_and_arrays_mean_the_same() -> None:
    inputs, outputs = records(5000, PRIOR)
    names = ["w", "x", "y", "z"]
    prior = Prior.from_probabilities(dict(zip(names, ["0.1", "0.2", "0.3", "0.4"], strict=True)))

    def bounds(result: ProbeResult) -> list[float]:
        return [result.eps_upper, result.eps_lower, result.ldp]

    expected = probe_pairs(inputs, outputs, PRIOR)
    asked = [names[code] for code in inputs]
    assert bounds(probe_pairs(asked, outputs.tolist(), prior)) == bounds(expected)
    assert bounds(probe_pairs(np.array(asked), outputs, PRIOR, labels=names)) == bounds(expected)
    assert bounds(probe_pairs(inputs.tolist(), outputs, list(PRIOR))) == bounds(expected)


def test_the_split_is_fixed_unless_another_seed_is_given() -> None:
    inputs, outputs = records(5000, PRIOR)
    first = probe_pairs(inputs, outputs, PRIOR)
    assert first == probe_pairs(inputs, outputs, PRIOR)
    assert first != probe_pairs(inputs, outputs, PRIOR, seed=2)


@pytest.mark.parametrize("prior", [PRIOR, None])
def test_the_order_of_the_records_does_not_matter(prior: Any) -> None:
    inputs, outputs = records(5000, PRIOR)
    order = np.random.default_rng(1).permutation(5000)
    shuffled = probe_pairs(inputs[order], outputs[order], prior)
    assert shuffled == probe_pairs(inputs, outputs, prior)


def test_one_record_more_tosses_all_coins_anew() -> None:
    """The halves of two tables have nothing in common, though the seed is the same."""
    inputs, outputs = records(4000, PRIOR)
    tried = []
    for more in range(40):
        told = probe_pairs([*inputs, *[0] * more], [*outputs, *[0] * more], PRIOR, ldp=1)
        tried.append(told.findings[0].draws)
    assert len(set(tried)) > 20


def test_likelihood_ratios_need_no_prior() -> None:
    inputs, outputs = records(100_000, PRIOR)
    result = probe_pairs(inputs, outputs, ldp="0.5")
    assert result.contradicted
    assert [finding.side for finding in result.findings] == ["ldp"]
    with pytest.raises(InputError, match="no prior at a claim about lifts"):
        probe_pairs(inputs, outputs, lip=1)


def test_inputs_never_seen_are_named_and_count_against_the_bound() -> None:
    inputs, outputs = records(400_000, np.array([0.25, 0.25, 0.5, 0.0]))
    result = probe_pairs(inputs, outputs, {0: 0.1, 1: 0.2, 2: 0.6, 3: 0.1})
    true = truth(ROWS, np.array([0.1, 0.2, 0.6, 0.1]))
    assert result.unseen == (3,)
    assert "Never tried, so nothing is known of: {3}" in str(result)
    for name in SIDES:
        assert 0.0 < getattr(result, name) < true[name]
    assert all(finding.input != 3 for finding in result.findings)


def test_an_unseen_input_that_makes_up_the_crowd_leaves_nothing_to_say() -> None:
    # Only input 0 was recorded; input 1 could give the same outputs just as often.
    for claim in ({}, {"lip": "0.1"}, {"ldp": 1}):
        with pytest.raises(InputError, match="1,000 of one input\\) are too few to"):
            probe_pairs([0] * 1000, [0] * 500 + [1] * 500, [0.5, 0.5], **claim)


def test_few_records_of_a_rare_input_do_not_spoil_the_rest() -> None:
    generator = np.random.default_rng(8)
    prior = np.array([0.001, 0.4, 0.599])
    shares = np.array([0.00001, 0.5, 0.49999])
    inputs = generator.choice(3, 400_000, p=shares)
    rows = np.array([[0.5, 0.5], [0.75, 0.25], [0.25, 0.75]])
    result = probe_pairs(inputs, TableBox(rows, 1)(inputs), prior)
    true = truth(rows, prior)
    assert 0.9 * true["eps_upper"] < result.eps_upper < true["eps_upper"]
    assert 0.9 * true["eps_lower"] < result.eps_lower < true["eps_lower"]


def test_inputs_of_prior_probability_zero_are_named() -> None:
    inputs, outputs = records(10_000, PRIOR)
    result = probe_pairs(inputs, outputs, [0.0, 0.3, 0.3, 0.4])
    assert result.impossible == (0,)


def test_records_that_do_not_follow_the_prior_are_not_believed() -> None:
    inputs, outputs = records(10_000, PRIOR[::-1])
    with pytest.raises(CountError, match="not drawn from the prior"):
        probe_pairs(inputs, outputs, PRIOR, lip=1, sampled_from_prior=True)
    inputs, outputs = records(10_000, PRIOR)
    with pytest.raises(CountError, match="not drawn from the prior"):
        probe_pairs(inputs, outputs, [0.0, 0.3, 0.3, 0.4], lip=1, sampled_from_prior=True)


def test_missing_outputs_are_an_output_like_any_other() -> None:
    inputs = np.tile([0, 1], 5000)
    outputs = np.where(inputs == 0, math.nan, 1.0)
    result = probe_pairs(inputs, outputs, [0.5, 0.5], ldp=1)
    assert result.contradicted
    assert result.outputs == 2


def test_a_test_that_nothing_could_fail_is_refused_and_no_other() -> None:
    """Records of a mechanism that reveals all are the strongest that there can be."""
    refused = contradicted = 0
    for number in range(1, 140):
        told = [0, 1] * number
        try:
            result = probe_pairs(told, told, [0.5, 0.5], lip="0.6", ldp=3)
        except InputError:
            refused += 1
            continue
        contradicted += result.contradicted
        assert all(finding.bound <= finding.attainable for finding in result.findings)
        assert result.contradicted or 40 < number < 90
    assert refused > 40
    assert contradicted > 50


def test_a_side_that_no_record_could_contradict_says_so() -> None:
    told = [0, 1] * 200
    result = probe_pairs(told, told, [0.5, 0.5], lip="0.6", ldp=9)
    assert [finding.vacuous for finding in result.findings] == [False, False, True]
    assert "ldp: too few draws to contradict it, whatever came out" in str(result)
    # No lift is above 1 / P(x) = 2, so that an upper limit of 1 nat cannot fail.
    with pytest.raises(InputError, match="or a stricter claim"):
        probe_pairs(told * 100, told * 100, [0.5, 0.5], eps_upper=1)


@pytest.mark.parametrize(
    ("kind", "text", "arguments", "options"),
    [
        (InputError, "no records at the recorded pairs", ([], [], [0.5, 0.5]), {}),
        (InputError, "2 inputs and 3 outputs", ([0, 1], [0, 1, 1], [0.5, 0.5]), {}),
        (LabelError, "at record 2: 'c'", (["a", "c"], [0, 1], {"a": 0.5, "b": 0.5}), {}),
        (LabelError, "at record 1: 7", (np.array([7, 0]), [0, 1], [0.5, 0.5]), {}),
        (CountError, "do not sum to 1", ([0, 1], [0, 1], [0.5, 0.4]), {}),
        (CountError, "2 probabilities for 3 inputs", ([0], [0], [0.5, 0.5]), {"labels": "abc"}),
        (InputError, "a single input", ([0, 0], [0, 1]), {}),
        (InputError, "look continuous", ([0, 1] * 2000, np.arange(4000) / 7, [0.5, 0.5]), {}),
    ],
)
def test_what_cannot_be_used_is_refused_in_words(
    kind: type[InputError], text: str, arguments: tuple[Any, ...], options: dict[str, Any]
) -> None:
    with pytest.raises(kind) as caught:
        probe_pairs(*arguments, **options)
    assert text in str(caught.value)
