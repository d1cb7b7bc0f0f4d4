"""Releasing and simulating: labels in, labels out, and no way for a seed into a release."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from scipy import stats

from liftlock import Alphabet, Table
from liftlock.errors import InputError, LabelError
from liftlock.exact.rounding import round_row
from liftlock.sampling import (
    SimulationBits,
    release,
    release_codes,
    simulate,
    simulate_codes,
)

FALSE_ALARM = 1e-6
"""How often each statistical test below fails for a correct sampler: its bits are not seeded."""


def response(labels: list[Any], favour: int = 20, bits: int = 52) -> Table:
    """Return randomised response: the truth `favour` times as likely as each other answer."""
    alphabet = Alphabet.of(labels)
    rows = [round_row([favour if x == y else 1 for y in labels], bits) for x in labels]
    return Table.of(alphabet, alphabet, rows, bits)


def identity(inputs: list[Any], outputs: list[Any]) -> Table:
    """Return the channel that renames and adds no noise."""
    weights = np.eye(len(inputs), dtype=np.int64) << 52
    return Table.of(Alphabet.of(inputs), Alphabet.of(outputs), weights)


def test_release_has_no_parameter_for_bits_or_a_seed() -> None:
    assert list(inspect.signature(release).parameters) == ["channel", "values"]
    assert list(inspect.signature(release_codes).parameters) == ["channel", "codes"]


@pytest.mark.parametrize("extra", [{"bits": SimulationBits(1)}, {"seed": 1}])
def test_release_refuses_seeded_bits(extra: dict[str, Any]) -> None:
    channel = response(["no", "yes"])
    with pytest.raises(TypeError, match="unexpected keyword"):
        release(channel, ["no"], **extra)
    with pytest.raises(TypeError, match="unexpected keyword"):
        release_codes(channel, np.array([0]), **extra)
    with pytest.raises(TypeError, match="positional"):
        release(channel, ["no"], SimulationBits(1))  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="positional"):
        release_codes(channel, np.array([0]), SimulationBits(1))  # type: ignore[call-arg]


def test_simulate_needs_its_seed_by_name() -> None:
    with pytest.raises(TypeError, match="seed"):
        simulate(response(["no", "yes"]), ["no"])  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="positional"):
        simulate(response(["no", "yes"]), ["no"], 1)  # type: ignore[call-overload]


@pytest.mark.parametrize("values", [["b", "a", "b"], ("b", "a", "b"), iter(["b", "a", "b"])])
def test_a_list_of_labels_gives_a_list_of_labels(values: Any) -> None:
    reports = release(identity(["a", "b"], [1, 2]), values)
    assert reports == [2, 1, 2]
    assert [type(report) for report in reports] == [int, int, int]


@pytest.mark.parametrize(
    ("outputs", "kind"), [(["x", "y"], "U"), ([1, 2], "i"), ([False, True], "b"), (["x", 1], "O")]
)
def test_an_array_of_labels_gives_an_array_of_labels(outputs: list[Any], kind: str) -> None:
    reports = release(identity(["a", "b"], outputs), np.array(["b", "a", "b"]))
    assert isinstance(reports, np.ndarray)
    assert reports.dtype.kind == kind
    assert reports.tolist() == [outputs[1], outputs[0], outputs[1]]


def test_codes_in_codes_out() -> None:
    reports = release_codes(identity(["a", "b"], ["x", "y"]), np.array([1, 0, 1], dtype=np.uint8))
    assert reports.dtype == np.uint8
    assert reports.tolist() == [1, 0, 1]


def test_no_values_give_no_reports() -> None:
    channel = response(["no", "yes"])
    assert release(channel, []) == []
    assert release(channel, np.array([], dtype="U3")).shape == (0,)


def test_refuses_unknown_labels_with_their_place() -> None:
    channel = response(["no", "yes"])
    with pytest.raises(LabelError, match="value 2: 'maybe'"):
        release(channel, ["no", "maybe"])
    with pytest.raises(LabelError, match="value 2: 'maybe'"):
        release(channel, np.array(["no", "maybe"]))


@pytest.mark.parametrize("value", ["yes", b"yes"])
def test_refuses_one_text(value: Any) -> None:
    with pytest.raises(InputError, match="put it in a list"):
        release(response(["no", "yes"]), value)


def test_refuses_codes_outside_the_alphabet() -> None:
    with pytest.raises(InputError, match="at index 1: 2; codes are 0 to 1"):
        release_codes(response(["no", "yes"]), np.array([0, 2]))


def test_refuses_rows_too_wide_for_a_word() -> None:
    alphabet = Alphabet.of(["no", "yes"])
    half = 1 << 103
    weights = np.array([[half, half], [half, half]], dtype=object)
    wide = Table(alphabet, alphabet, weights, (1 << 104, 1 << 104))
    with pytest.raises(InputError, match=r"104 bits .* lock it to 52 bits, or release through the"):
        release(wide, ["no"])
    with pytest.raises(InputError, match="104 bits"):
        simulate_codes(wide, np.array([0]), seed=1)


def test_simulation_repeats_and_release_does_not() -> None:
    channel = response(["no", "yes"], favour=1)
    values = ["no", "yes"] * 100
    assert simulate(channel, values, seed=1) == simulate(channel, values, seed=1)
    assert simulate(channel, values, seed=1) != simulate(channel, values, seed=2)
    # Two fair releases of 200 bits agree with probability 2^-200.
    assert release(channel, values) != release(channel, values)


def test_simulation_of_labels_is_simulation_of_codes() -> None:
    channel = response(["a", "b", "c"])
    codes = np.arange(30_000) % 3
    labels = np.array(["a", "b", "c"])[codes]
    reports = simulate(channel, labels, seed="x")
    assert (channel.outputs.encode(reports) == simulate_codes(channel, codes, seed="x")).all()


@pytest.mark.parametrize(("labels", "favour"), [(2, 3), (5, 20), (16, 40), (100, 1)])
def test_reports_follow_the_stored_law(labels: int, favour: int) -> None:
    channel = response(list(range(labels)), favour)
    count = 200_000
    for row in {0, labels // 2, labels - 1}:
        reports = release_codes(channel, np.full(count, row))
        observed = np.bincount(reports, minlength=labels)
        expected = channel.floats()[row] * count
        distance = float(((observed - expected) ** 2 / expected).sum())
        # At most three rows are looked at.
        assert distance < stats.chi2.isf(FALSE_ALARM / 3, labels - 1)


def test_neighbouring_reports_are_independent() -> None:
    channel = response(list(range(4)), favour=1)
    reports = release_codes(channel, np.zeros(400_000, dtype=np.intp)).astype(np.intp)
    pairs = np.bincount(4 * reports[::2] + reports[1::2], minlength=16)
    expected = len(reports) / 2 / 16
    distance = float(((pairs - expected) ** 2 / expected).sum())
    assert distance < stats.chi2.isf(FALSE_ALARM, 15)


def test_outputs_of_weight_zero_are_never_released() -> None:
    alphabet = Alphabet.of(["a", "b", "c"])
    rows = [[1 << 51, 0, 1 << 51], [0, 1 << 52, 0], [1, 0, (1 << 52) - 1]]
    channel = Table.of(alphabet, alphabet, rows)
    assert "b" not in release(channel, ["a"] * 50_000 + ["c"] * 50_000)
    assert set(release(channel, ["b"] * 50_000)) == {"b"}
