"""The mechanism of users with priors of their own: releases, files, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from liftlock.errors import CountError, FileError, InputError, LabelError
from liftlock.local import LocalMechanism, LocalPriors
from liftlock.notions import ALIP, LDP, LIP
from liftlock.sampling import simulate_arc, simulate_safe
from tests.unit.local.worlds import LABELS, METHODS, some_masses, some_people


@pytest.mark.parametrize("method", METHODS)
def test_releases_are_those_of_the_sampler(method: Any) -> None:
    masses = some_masses(3000)
    people = some_people(masses)
    mechanism = LocalMechanism(LABELS, ALIP(lower="1", upper="0.5"), method)
    priors = LocalPriors.of(LABELS, masses)
    sampler = simulate_arc if method == "arc" else simulate_safe
    expected = sampler(masses, people, mechanism.notion, seed=4)
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
    assert mechanism.estimate(reports, priors) == mechanism.estimate(expected, priors, coded=True)
    fresh = mechanism.release(people, priors, coded=True)
    assert not np.array_equal(fresh, mechanism.release(people, priors, coded=True))


@pytest.mark.parametrize("method", METHODS)
def test_files(method: Any, tmp_path: Path) -> None:
    mechanism = LocalMechanism(["no", 7, "yes"], ALIP(lower="1/3", upper="ln 2"), method)
    mechanism.save(tmp_path / "made.json")
    again = LocalMechanism.load(tmp_path / "made.json")
    assert again == mechanism
    assert again.fingerprint == mechanism.fingerprint
    data = json.loads((tmp_path / "made.json").read_text(encoding="utf-8"))
    for key, value in (
        ("law", {name: number + 1 for name, number in mechanism.way.limits.items()}),
        ("method", "other"),
        ("notion", "ldp"),
        ("budgets", {"lower": "1/3", "upper": "1"}),
        ("labels", ["no", 7]),
        ("format", "liftlock.mechanism"),
    ):
        with pytest.raises((FileError, InputError)):
            LocalMechanism.from_data(data | {key: value})
    assert mechanism.fingerprint != LocalMechanism(["no", 7, "yes"], LIP("ln 2")).fingerprint
    assert "each lift is between" in str(mechanism)
    assert method in repr(mechanism)


def test_refusals() -> None:
    priors = LocalPriors.of("ab", np.array([[0.5, 0.5], [0.0, 1.0]]))
    mechanism = LocalMechanism("ab", LIP("1"))
    with pytest.raises(CountError, match="probability 0 at user 2"):
        mechanism.release(["a", "a"], priors)
    with pytest.raises(LabelError, match="unknown label"):
        mechanism.release(["a", "z"], priors)
    with pytest.raises(InputError, match="1 values for 2 priors"):
        mechanism.release(["a"], priors)
    with pytest.raises(InputError, match="put it in a list"):
        mechanism.release("ab", priors)
    with pytest.raises(InputError, match="make LocalPriors"):
        mechanism.release(["a", "b"], np.full((2, 2), 0.5))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="unknown method"):
        LocalMechanism("ab", LIP("1"), "krr")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="for lip and alip"):
        LocalMechanism("ab", LDP("1"))
