"""The mechanism of users with priors of their own: releases, files, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import liftlock as ll
from liftlock import Mechanism, PerUserPriors, Prior
from liftlock.accounting import account
from liftlock.errors import (
    CountError,
    FileError,
    InputError,
    LabelError,
    LiftlockError,
    NotCertified,
    NotDefined,
)
from liftlock.model.structured import UserChannel, any_channel_from_data
from liftlock.notions import ALIP, LDP, LIP
from liftlock.sampling import prior_counts, simulate_users
from tests.unit.per_user.worlds import LABELS, METHODS, some_masses, some_people

FORMER = Path(__file__).parents[2] / "compatibility" / "files"


@pytest.mark.parametrize("method", METHODS)
def test_releases_are_those_of_the_sampler(method: Any) -> None:
    masses = some_masses(3000)
    people = some_people(masses)
    mechanism = ll.design(LABELS, ALIP(lower="1", upper="0.5"), method=method)
    priors = PerUserPriors.of(LABELS, masses)
    assert isinstance(mechanism.channel, UserChannel)
    expected = simulate_users(mechanism.channel, priors, people, seed=4)
    assert np.array_equal(mechanism.simulate(people, priors, seed=4, coded=True), expected)
    named = np.array(LABELS)[people]
    reports = mechanism.simulate(named, priors, seed=4)
    listed = mechanism.simulate(named.tolist(), priors, seed=4)
    assert isinstance(reports, np.ndarray)
    if method == "arc":
        assert np.array_equal(reports, expected)
        assert np.array_equal(np.asarray(listed), expected)
    else:
        assert reports.tolist() == [LABELS[code] for code in expected]
        assert listed == reports.tolist()
    assert mechanism.estimate(reports, priors=priors) == mechanism.estimate(
        expected, priors=priors, coded=True
    )
    fresh = mechanism.release(people, priors, coded=True)
    assert not np.array_equal(fresh, mechanism.release(people, priors, coded=True))


@pytest.mark.parametrize("method", METHODS)
def test_files(method: Any, tmp_path: Path) -> None:
    mechanism = ll.design(["no", 7, "yes"], ALIP(lower="1/3", upper="ln 2"), method=method)
    mechanism.save(tmp_path / "made.json")
    again = Mechanism.load(tmp_path / "made.json")
    assert again == mechanism
    assert again.users_fingerprint == mechanism.users_fingerprint
    data = json.loads((tmp_path / "made.json").read_text(encoding="utf-8"))
    assert data["context"] == {"kind": "per-user", "labels": ["no", 7, "yes"]}
    level = data["channel"]["levels"][0]
    wider = {name: 1 if name in ("low", "floor") else value for name, value in level.items()}
    for part, key, value in (
        ("channel", "levels", [level | {"upper": "ln 3"}]),
        ("channel", "levels", [wider]),
        ("channel", "levels", [level, level]),
        ("channel", "levels", []),
        ("channel", "levels", 3),
        ("channel", "form", "other"),
        ("channel", "inputs", ["no", 7]),
        ("context", "labels", ["no", 7]),
        ("certificate", "notion", "ldp"),
        ("certificate", "budgets", {"lower": "1/3", "upper": "0.1"}),
    ):
        with pytest.raises((FileError, InputError, NotCertified, NotDefined)):
            Mechanism.from_data(data | {part: data[part] | {key: value}})
    other = ll.design(["no", 7, "yes"], LIP("ln 2"), method="arc")
    assert mechanism.users_fingerprint != other.users_fingerprint
    assert "for every user under every prior on 3 symbols" in str(mechanism)


@pytest.mark.parametrize("method", METHODS)
def test_a_law_that_breaks_its_promise_is_refused(method: Any) -> None:
    """Whoever changes the integers and all fingerprints is stopped by the proof."""
    data = ll.design(["no", "yes"], LIP("1"), method=method).to_data()
    wide = ll.design(["no", "yes"], LIP("2"), method=method)
    data["channel"] = wide.channel.to_data()
    data["certificate"] |= {"channel": wide.channel.fingerprint}
    with pytest.raises(NotCertified, match="max-lift"):
        Mechanism.from_data(data)
    # The budget of the only distribution says less than its integers leak.
    level = data["channel"]["levels"][0] | {"lower": "0.1", "upper": "0.1"}
    channel = any_channel_from_data(data["channel"] | {"levels": [level]})
    assert isinstance(channel, UserChannel)
    honest = LIP("2").certify(channel, wide.context)
    assert not honest.holds
    with pytest.raises(NotCertified):
        Mechanism(channel, honest, wide.context)
    assert method in repr(wide)


@pytest.mark.parametrize("method", METHODS)
def test_former_files(method: Any) -> None:
    stored = json.loads((FORMER / f"local-mechanism-{method}.json").read_text(encoding="utf-8"))
    made = Mechanism.from_data(stored)
    assert made.users_fingerprint == stored["fingerprint"]
    again = Mechanism.from_data(json.loads(made.to_json()))
    assert again == made
    for key, value in (
        ("law", {name: int(number) + 1 for name, number in stored["law"].items()}),
        ("method", "other"),
        ("notion", "ldp"),
        ("budgets", {"lower": "1/3", "upper": "1"}),
        ("labels", ["no", 7]),
        ("format", "liftlock.mechanism"),
        ("version", 2),
        ("fingerprint", "0" * 64),
    ):
        with pytest.raises((FileError, InputError)):
            Mechanism.from_data(stored | {key: value})


def test_refusals() -> None:
    priors = PerUserPriors.of("ab", np.array([[0.5, 0.5], [0.0, 1.0]]))
    mechanism = ll.design("ab", LIP("1"), method="arc")
    with pytest.raises(CountError, match="probability 0 in the user's prior at user 2"):
        mechanism.release(["a", "a"], priors)
    with pytest.raises(LabelError, match="unknown label"):
        mechanism.release(["a", "z"], priors)
    with pytest.raises(InputError, match="1 values for 2 priors"):
        mechanism.release(["a"], priors)
    with pytest.raises(InputError, match="put it in a list"):
        mechanism.release("ab", priors)
    with pytest.raises(InputError, match="give PerUserPriors"):
        mechanism.release(["a", "b"], np.full((2, 2), 0.5))
    with pytest.raises(InputError, match="unknown method"):
        ll.design(ll.Alphabet.of("ab"), LIP("1"), method="krr")
    with pytest.raises(InputError, match="go with lip and alip"):
        ll.design(ll.Alphabet.of("ab"), LDP("1"), method="arc")


def test_verbs_that_need_one_table_say_why_not() -> None:
    made = ll.design(["a", "b"], LIP("1"), method="arc")
    priors = PerUserPriors.of("ab", [[0.5, 0.5], [0.2, 0.8]])
    prior = Prior.uniform("ab")
    channel: Any = made.channel
    refused: list[Callable[[], object]] = [
        lambda: ll.compare(priors, LIP),
        lambda: ll.transfer(made, prior),
        lambda: ll.plan(cast("Any", priors), LIP("1"), 100),
        lambda: ll.design_as_published(priors, LIP("1"), method="response"),
        lambda: ll.design(priors, LIP("1"), method="optimal"),
        lambda: ll.audit(channel, prior),
        lambda: LDP("1").certify(channel, made.context),
        lambda: ll.release(channel, ["a"]),
        lambda: ll.lock(channel, LIP("1"), made.context),
        lambda: ll.lift_table(channel, prior),
        lambda: account([channel], prior),
        lambda: made.aggregate_batches([["a"]]),
        lambda: made.table,
        lambda: made.accuracy(),
        lambda: made.release(["a", "b"]),
        lambda: made.estimate([1, 2]),
        lambda: made.estimate([1, 2], prior=prior),
        lambda: ll.design(prior, LIP("1")).release(["a", "b"], priors),
        lambda: ll.design(prior, LIP("1")).estimate(["a"], priors=priors),
        lambda: ll.design(prior, LIP("1")).expected_error(priors),
        lambda: ll.design(prior, LIP("1")).release([0, 1], coded=True),
        lambda: priors.to_data(),
    ]
    for verb in refused:
        with pytest.raises(LiftlockError, match=r"prior|user|table|channel"):
            verb()
    assert len({priors.fingerprint, priors.within("0.1").fingerprint}) == 2


def test_one_table_for_all_users() -> None:
    """The exact lifts of each user's own table decide; nothing was claimed, so nothing holds."""
    masses = some_masses(40)[:20]
    priors = PerUserPriors.of(LABELS, masses)
    made = ll.design(Prior.uniform(LABELS), LIP("1"), method="safe-response")
    found = ll.audit(made.channel, priors)
    assert not found.holds
    assert "MEASURED" in str(found)
    each = []
    for counts in prior_counts(masses).tolist():
        table = ll.lift_table(made.channel, Prior(made.channel.inputs, tuple(counts)))
        each.append((table.largest().lift, table.smallest().lift))
    assert found.largest == max(top for top, _ in each if top is not None)
    assert found.smallest == min(low for _, low in each if low is not None)
    assert each[found.largest_user - 1][0] == found.largest
    assert each[found.smallest_user - 1][1] == found.smallest
    judged = ll.audit(made, priors)
    assert judged.guarantee == "lip(epsilon=1)"
    assert judged.holds == (LIP("1").certify(made.channel, priors).holds)
