"""All designs side by side: every row was certified, and is as good as it says."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from liftlock import ProfileGraph
from liftlock.designs import baselines, designs_for, measure_profile_baselines
from liftlock.designs.baselines import NO_NOISE, NO_RELEASE
from liftlock.errors import InputError
from liftlock.model.profile_examples import example
from liftlock.notions import ProfilePrivacy, audit

PROFILE_DESIGNS = designs_for("profiles")


@pytest.mark.parametrize("name", ["couplet", "chain-6", "categorical-chain", "workstation"])
def test_rows_are_certified_and_in_order(name: str) -> None:
    graph = example(name)
    rows = measure_profile_baselines(graph, "0.5")
    made = [row for row in rows if row.mechanism is not None]
    assert not [row.reason for row in rows if row.reason]
    for row in made:
        assert row.certified
        assert row.mechanism is not None
        assert row.mechanism.certificate.guarantee == "profile(budget=0.5)"
        # Audited again, from the integers.
        assert audit(row.mechanism.channel, graph).loss == row.loss
        # One matrix for all cannot protect values that a profile calls impossible.
        assumed: Any = "refuse" if row.uses_profile else "ignore"
        again = ProfilePrivacy("0.5").certify(row.mechanism.channel, graph, impossible=assumed)
        assert again.holds
        assert row.unprotected == again.unprotected
        assert row.uses_profile == (len(row.mechanism.channel.inputs) > len(graph.inputs))
    certified = [row.objective for row in rows if row.certified]
    assert certified == sorted(certified, key=lambda value: round(value or 0.0, 9))
    assert [row.name for row in rows][-2:] == [NO_RELEASE, NO_NOISE]
    one_bit = {"smooth-one-bit", "single-bit"} & set(PROFILE_DESIGNS)
    left_out = {
        "couplet": set(),
        "chain-6": {"single-bit"},
    }.get(name, one_bit)
    assert {row.name for row in made} == set(PROFILE_DESIGNS) - left_out


def test_no_release_and_no_noise() -> None:
    rows = {row.name: row for row in measure_profile_baselines(example("chain-6"), "1")}
    nothing, truth = rows[NO_RELEASE], rows[NO_NOISE]
    assert (nothing.certified, nothing.objective) == (True, 0.5)
    assert nothing.mean_wrong == pytest.approx(0.5)
    assert nothing.loss is not None
    assert float(nothing.loss) == 0.0
    assert (truth.certified, truth.objective) == (False, 0.0)
    assert truth.loss is not None
    assert truth.unprotected == (("0", 1), ("1", 0))
    assert truth.to_data()["unprotected"] == [["0", 1], ["1", 0]]
    assert rows["cluster"].unprotected == ()
    assert truth.loss.is_infinite  # p = 0 never gives what p = 0.2 gives


def test_no_noise_may_be_within_the_budget() -> None:
    """Two profiles that are nearly the same need no noise at all."""
    rows = measure_profile_baselines(ProfileGraph.bernoulli(["0.5", "0.55"]), "1")
    truth = next(row for row in rows if row.name == NO_NOISE)
    assert truth.certified
    assert truth.loss is not None
    assert float(truth.loss) == pytest.approx(math.log(0.5 / 0.45))


def test_aims_and_weights() -> None:
    graph = example("categorical-chain")
    weights = {"P1": 8, "P2": 1, "P3": 1}
    rows = measure_profile_baselines(graph, "0.5", utility="hamming", weights=weights)
    shares = np.array([0.8, 0.1, 0.1])
    for row in rows:
        if row.mechanism is None:
            continue
        assert row.objective == pytest.approx(row.mean_wrong, abs=1e-12)
        table = row.mechanism.table.floats()
        blocks = np.broadcast_to(table.reshape(-1, 4, 4), (3, 4, 4))
        kept = np.einsum("i,ix,ixx->", shares, graph.distributions, blocks)
        assert row.mean_wrong == pytest.approx(1 - kept, abs=1e-9)
    nothing = next(row for row in rows if row.name == NO_RELEASE)
    # The best single answer is right as often as the likeliest value.
    assert nothing.objective == pytest.approx(1 - (shares @ graph.distributions).max())


def test_information_is_better_the_more_there_is() -> None:
    rows = measure_profile_baselines(example("couplet"), "0.1", utility="mutual-information")
    values = [row.objective for row in rows if row.certified]
    numbers = [value for value in values if value is not None]
    assert len(numbers) == len(values) > 2
    assert numbers == sorted(numbers, key=lambda value: -round(value, 9))
    assert rows[-1].name == NO_NOISE or rows[-1].reason


def test_what_could_not_be_made_is_listed_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object, method: str, **__: object) -> None:
        raise InputError(f"{method} gave up", remedy="another day")

    monkeypatch.setattr(baselines, "design", refuse)
    rows = measure_profile_baselines(example("couplet"), "0.5")
    failed = [row for row in rows if row.reason]
    assert [row.name for row in rows][:2] == [NO_RELEASE, NO_NOISE]
    assert {row.name for row in failed} == set(PROFILE_DESIGNS)
    assert all(row.reason == f"{row.name} gave up; another day" for row in failed)
    assert all(row.to_data()["loss"] is None for row in failed)


def test_progress_and_data() -> None:
    told: list[str] = []
    rows = measure_profile_baselines(
        example("couplet"), ProfilePrivacy("0.5"), progress=lambda step: told.append(step.stage)
    )
    assert told == list(PROFILE_DESIGNS)
    data = rows[0].to_data()
    assert data["certified"] is True
    assert data["smallest"].startswith("profile=0.")
    assert next(row.to_data() for row in rows if row.name == NO_RELEASE)["loss"] == 0.0
