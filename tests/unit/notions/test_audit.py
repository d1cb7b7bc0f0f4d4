"""The audit: every notion at once, the same numbers as one by one, and what it says in words."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liftlock import Alphabet, Ball, Channel, Family, Intervals, Joint, Prior, Step
from liftlock.errors import NumberError, UnprotectedInput
from liftlock.notions import (
    LDP,
    LIP,
    ApproximateLDP,
    ApproximateLIP,
    MaxLift,
    MinLift,
    audit,
)
from liftlock.notions.audit import percent
from liftlock.notions.base import OrderedBound, TableMeasure
from liftlock.notions.registry import AUDITED, NOTIONS
from tests import oracles
from tests.strategies import Case, cases, near_ties

ANY = st.one_of(cases(), near_ties())


@settings(max_examples=30)
@given(ANY)
def test_it_is_the_same_as_one_by_one(case: Case) -> None:
    channel, context = case.channel, case.context
    found = audit(channel, context, alpha="5/2", at_epsilon="1/2", impossible="ignore")
    expected = {
        "lip": LIP.measure(channel, context),
        "eps_lower": MinLift.measure(channel, context),
        "eps_upper": MaxLift.measure(channel, context),
        "ldp": LDP.measure(channel, context),
        "delta_def5": ApproximateLIP.measure(channel, context, "1/2", "def5"),
        "delta_ediv": ApproximateLIP.measure(channel, context, "1/2", "ediv"),
        "delta_joint": ApproximateLIP.measure(channel, context, "1/2", "joint"),
        "delta_ldp": ApproximateLDP.measure(channel, context, "1/2"),
    }
    for notion in NOTIONS.values():
        if issubclass(notion, TableMeasure):
            expected[notion.key] = notion.measure(channel, context)
        elif issubclass(notion, OrderedBound):
            expected[notion.key] = notion.measure(channel, context, "5/2")
    assert set(expected) == set(AUDITED)
    assert dict(found.measurements) == expected
    assert found.measures.keys() == expected.keys()
    assert found["lip"] == expected["lip"]


@settings(max_examples=30)
@given(ANY)
def test_the_file_is_valid_json_and_exact(case: Case) -> None:
    found = audit(case.channel, case.context, alpha="inf", at_epsilon="ln 2", impossible="ignore")
    data = json.loads(json.dumps(found.to_data(), allow_nan=False))
    assert data["format"] == "liftlock.audit"
    assert data["channel"] == case.channel.fingerprint
    assert data["context"] == case.context.fingerprint
    assert data["alpha"] == "inf"
    assert data["at_epsilon"] == "ln 2"
    assert Fraction(data["readings"]["total_variation"]["enclosure"][0]) == oracles.total_variation(
        case.model
    )
    assert data["measures"].keys() == data["readings"].keys()


@given(ANY)
def test_the_worst_case_in_words_is_the_lift_of_the_oracle(case: Case) -> None:
    found = audit(case.channel, case.context, impossible="ignore")
    text = found.worst_case()
    if oracles.max_lift(case.model) == 1:
        assert text.startswith("No output changes any belief")
        return
    up, down = text.splitlines()
    assert f"(a factor {float(oracles.max_lift(case.model)):.4g}" in up
    assert f"(a factor {float(oracles.min_lift(case.model)):.4g}" in down
    assert ("ruled out" in down) == (oracles.min_lift(case.model) == 0)
    witness = found.lifts.largest.witness
    before = case.model.prior[case.secrets.index(str(witness.secret))]
    after = before * oracles.max_lift(case.model)
    assert f"from {percent(before)} to {percent(after)}" in up


@pytest.mark.parametrize(
    ("context", "missing"),
    [
        (Family.of([Prior.uniform("ab"), Prior.from_counts({"a": 1, "b": 3})]), {"delta_joint"}),
        (
            Family.of([Prior.from_counts({"a": 1, "b": 0}), Prior.uniform("ab")]),
            {"delta_joint", "identifiability"},
        ),
        (
            Intervals.of({"a": ("0.1", 1), "b": ("0.1", 1)}),
            {"delta_joint", "identifiability", "delta_def5", "delta_ediv"},
        ),
        (
            Ball.of(Prior.uniform("ab"), "0.1"),
            {"delta_joint", "identifiability", "delta_def5", "delta_ediv"},
        ),
    ],
)
def test_sets_of_priors_have_what_is_defined_for_them(
    context: Family | Intervals | Ball, missing: set[str]
) -> None:
    bit = Channel.from_rows({"a": {0: "3/4", 1: "1/4"}, "b": {0: "1/4", 1: "3/4"}})
    found = audit(bit, context, at_epsilon=1)
    everything = {
        "lip",
        "eps_lower",
        "eps_upper",
        "ldp",
        "maximal_leakage",
        "identifiability",
        "delta_def5",
        "delta_ediv",
        "delta_joint",
        "delta_ldp",
    }
    assert found.measurements.keys() == everything - missing
    assert found["lip"] == LIP.measure(bit, context)
    json.dumps(found.to_data(), allow_nan=False)
    assert len(found.worst_case().splitlines()) == 2


def test_worst_cases_over_sets_name_the_prior() -> None:
    bit = Channel.from_rows({"a": {0: "3/4", 1: "1/4"}, "b": {0: "1/4", 1: "3/4"}})
    text = audit(bit, Intervals.all_priors("ab")).worst_case()
    assert "by a factor 3 (for priors that make it unlikely)" in text
    endless = audit(Channel.identity("ab"), Intervals.all_priors("ab")).worst_case()
    assert "without bound" in endless


def test_joints_speak_of_the_secret() -> None:
    joint = Joint.from_counts({"ill": {"a": 3, "b": 1}, "well": {"a": 1, "b": 3}})
    text = audit(Channel.identity("ab"), joint).worst_case()
    assert 'Seeing "a", the belief in "ill" can rise from 50 % to 75 % (a factor 1.5).' in text


def test_impossible_inputs_are_refused() -> None:
    prior = Prior.from_counts({"a": 1, "b": 0})
    with pytest.raises(UnprotectedInput, match="'b'"):
        audit(Channel.identity("ab"), prior)
    assert audit(Channel.identity("ab"), prior, impossible="ignore").unprotected == ("b",)


def test_bad_orders_and_budgets_are_refused_before_any_work() -> None:
    said: list[Step] = []
    refused: tuple[dict[str, Any], ...] = ({"alpha": 0}, {"at_epsilon": -1})
    for options in refused:
        with pytest.raises(NumberError):
            audit(Channel.identity("ab"), Prior.uniform("ab"), progress=said.append, **options)
    assert said == []


def test_progress_names_every_measurement() -> None:
    said: list[Step] = []
    found = audit(
        Channel.identity("ab"), Prior.uniform("ab"), alpha=2, at_epsilon=1, progress=said.append
    )
    assert set(found.measurements) - {step.stage for step in said} <= {
        "lip",
        "eps_lower",
        "eps_upper",
        "delta_ldp",
    }
    assert found.table.secrets.labels == ("a", "b")


def test_lifts_beyond_floats_are_put_into_words() -> None:
    prior = Prior(Alphabet.of("ab"), (1, 10**400))
    text = audit(Channel.identity("ab"), prior).worst_case()
    assert "a factor inf" in text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(1, 2), "50 %"),
        (Fraction(1, 8), "12.5 %"),
        (Fraction(1, 3), "33.33 %"),
        (Fraction(0), "0 %"),
        (Fraction(1), "100 %"),
        (Fraction(1, 10**9), "1e-07 %"),
    ],
)
def test_percent(value: Fraction, text: str) -> None:
    assert percent(value) == text
