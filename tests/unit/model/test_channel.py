"""Channels: exact composition against fractions, fingerprints, files, and refusals."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftlock import Alphabet, Channel, Prior, Table
from liftlock._runtime.storage import check_format
from liftlock.errors import FileError, InputError, LabelError, NumberError, RowError
from liftlock.model.channel import channel_from_data
from tests import oracles
from tests.strategies import (
    Case,
    Rows,
    cases,
    channels,
    inputs_of,
    make_channel,
    outputs_of,
    priors,
    rows,
)


def table_of(channel: Channel) -> Rows:
    return [
        [channel.probability(x, y) for y in channel.outputs.labels] for x in channel.inputs.labels
    ]


# --- making and looking -------------------------------------------------------------------------


@given(channels())
def test_probabilities_are_those_given(case: tuple[Rows, Channel]) -> None:
    expected, channel = case
    assert table_of(channel) == expected
    as_text = {
        x: {y: str(v) for y, v in zip(outputs_of(len(row)), row, strict=True)}
        for x, row in zip(inputs_of(len(expected)), expected, strict=True)
    }
    assert Channel.from_rows(as_text) == channel
    shuffled = {x: dict(reversed(list(row.items()))) for x, row in as_text.items()}
    shuffled["x0"] = as_text["x0"]
    assert Channel.from_rows(shuffled) == channel
    for line, row in zip(channel.floats().tolist(), expected, strict=True):
        for value, true in zip(line, row, strict=True):
            assert abs(Fraction(value) - true) <= true / 10**15


@given(channels(), st.integers(2, 2**80))
def test_the_fingerprint_does_not_depend_on_the_integers(
    case: tuple[Rows, Channel], factor: int
) -> None:
    _, channel = case
    scaled = Channel(
        channel.inputs,
        channel.outputs,
        channel.weights.astype(object) * factor,
        tuple(total * factor for total in channel.totals),
    )
    assert scaled.fingerprint == channel.fingerprint
    assert scaled == channel
    assert hash(scaled) == hash(channel)
    assert table_of(scaled) == table_of(channel)


@given(channels(outputs=3), st.data())
def test_any_change_changes_the_fingerprint(
    case: tuple[Rows, Channel], data: st.DataObject
) -> None:
    table, channel = case
    x = data.draw(st.integers(0, len(table) - 1))
    y = data.draw(st.sampled_from([i for i in range(3) if table[x][i]]))
    step = table[x][y] / data.draw(st.sampled_from([1, 2, 10**30]))
    changed = [list(row) for row in table]
    changed[x][y] -= step
    changed[x][(y + 1) % 3] += step
    assert make_channel(changed).fingerprint != channel.fingerprint
    assert make_channel(changed) != channel
    renamed = Channel(channel.inputs, Alphabet.of("abc"), channel.weights, channel.totals)
    assert renamed.fingerprint != channel.fingerprint
    renamed = Channel(
        Alphabet.of(["z", *inputs_of(len(table))[1:]]),
        channel.outputs,
        channel.weights,
        channel.totals,
    )
    assert renamed.fingerprint != channel.fingerprint


def test_rows_cannot_be_confused_with_one_another() -> None:
    # Small and long rows are hashed in two ways; no two different tables may give the same bytes.
    long = 2**70
    tables = [
        [[1, 1], [1, 1]],
        [[1, 2], [1, 1]],
        [[1, 1], [1, 2]],
        [[1, long], [1, 1]],
        [[1, 1], [1, long]],
        [[long, 1], [1, long]],
        [[1, long], [long, 1]],
        [[11, long], [1, 1]],
        [[1, 1 + 10 * long], [1, 1]],
    ]
    found = {
        Channel(
            Alphabet.of("ab"),
            Alphabet.of("uv"),
            np.array(weights, dtype=object),
            tuple(sum(row) for row in weights),
        ).fingerprint
        for weights in tables
    }
    assert len(found) == len(tables)


@given(channels())
def test_json_round_trip(case: tuple[Rows, Channel]) -> None:
    _, channel = case
    again = channel_from_data(json.loads(json.dumps(channel.to_data())))
    assert type(again) is Channel
    assert again.fingerprint == channel.fingerprint
    assert again.weights.tolist() == channel.weights.tolist()
    assert again.totals == channel.totals


def test_words() -> None:
    channel = Channel.identity("abc")
    assert str(channel) == "channel from 3 inputs to 3 outputs"
    assert channel != "a channel"
    with pytest.raises(ValueError, match="read-only"):
        channel.weights[0, 0] = 2


# --- composing ----------------------------------------------------------------------------------


@given(cases())
def test_outputs_joints_and_posteriors(case: Case) -> None:
    model, channel, context = case.model, case.channel, case.context
    prior = context if isinstance(context, Prior) else context.prior
    joint = channel.joint(context)
    output = channel.output(prior)
    names = outputs_of(len(case.rows[0]))
    assert sum(output.fractions) == 1
    for y, label in enumerate(names):
        if y not in model.outputs:
            assert output[label] == 0
            with pytest.raises(InputError, match="output has probability 0"):
                channel.posterior(context, label)
            continue
        column = model.outputs.index(y)
        assert output[label] == model.masses[column]
        posterior = channel.posterior(context, label)
        for s, secret in enumerate(case.secrets):
            expected = model.prior[s] * model.given[s][column]
            assert posterior[secret] == expected / model.masses[column]
            cell = joint.counts[joint.secrets.index(secret)][joint.inputs.index(label)]
            assert Fraction(cell, joint.total) == expected


@st.composite
def two_channels(draw: st.DrawFn) -> tuple[Rows, Channel, Rows, Channel, list[int]]:
    n, m, k = (draw(st.integers(1, 4)) for _ in range(3))
    first, second = draw(rows(n, m)), draw(rows(m, k))
    order = draw(st.permutations(range(m)))
    names = outputs_of(m)
    following = Channel.from_fractions(
        Alphabet.of(names[i] for i in order),
        Alphabet.of(f"z{i}" for i in range(k)),
        [second[i] for i in order],
    )
    return first, make_channel(first), second, following, list(order)


@given(two_channels())
def test_post_processing_is_the_matrix_product(
    case: tuple[Rows, Channel, Rows, Channel, list[int]],
) -> None:
    first, channel, second, following, _ = case
    expected = [
        [sum(row[y] * second[y][z] for y in range(len(second))) for z in range(len(second[0]))]
        for row in first
    ]
    found = channel.then(following)
    assert table_of(found) == expected
    assert found.outputs == following.outputs


@given(st.integers(1, 4), st.integers(1, 3), st.integers(1, 3), st.data())
def test_two_releases_are_independent_given_the_input(
    n: int, m: int, k: int, data: st.DataObject
) -> None:
    first, second = data.draw(rows(n, m)), data.draw(rows(n, k))
    order = data.draw(st.permutations(range(n)))
    other = Channel.from_fractions(
        Alphabet.of(inputs_of(n)[i] for i in order),
        Alphabet.of(f"z{i}" for i in range(k)),
        [second[i] for i in order],
    )
    found = make_channel(first).product(other)
    for x in range(n):
        for y in range(m):
            for z in range(k):
                assert found.probability(f"x{x}", (f"y{y}", f"z{z}")) == first[x][y] * second[x][z]


def test_a_long_chain_of_releases_stays_exact() -> None:
    bit = make_channel([[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 3), Fraction(2, 3)]])
    many = bit
    for _ in range(8):
        many = many.product(bit)
    label: Any = "y0"
    for _ in range(8):
        label = (label, "y0")
    assert many.probability("x0", label) == Fraction(3, 4) ** 9
    assert many.probability("x1", label) == Fraction(1, 3) ** 9
    assert len(many.outputs) == 512


@given(
    channels(outputs=4), st.lists(st.sampled_from(["y0", "y1", "u", "v"]), min_size=4, max_size=4)
)
def test_renaming_merges_outputs(case: tuple[Rows, Channel], names: list[str]) -> None:
    table, channel = case
    found = channel.relabelled(dict(zip(outputs_of(4), names, strict=True)))
    assert set(found.outputs.labels) == set(names)
    for x, row in enumerate(table):
        for label in set(names):
            expected = sum(v for v, name in zip(row, names, strict=True) if name == label)
            assert found.probability(f"x{x}", label) == expected


def test_renaming_finds_labels_stored_in_another_form() -> None:
    channel = Channel.identity([Fraction(1, 2), "b"])
    assert channel.relabelled({Fraction(1, 2): "half"}).outputs.labels == ("half", "b")
    assert channel.relabelled({"b": Fraction(1, 2)}).outputs.labels == ("1/2",)


def test_merging_outputs_does_not_overflow() -> None:
    each = 2**61
    channel = Channel(Alphabet.of("a"), Alphabet.of(range(5)), np.array([[each] * 5]), (5 * each,))
    merged = channel.relabelled(dict.fromkeys(range(5), "all"))
    assert merged.probability("a", "all") == 1
    assert channel.common_total == 5 * each
    assert channel.output(Prior.uniform("a"))[0] == Fraction(1, 5)
    assert table_of(channel.then(Channel.identity(range(5)))) == table_of(channel)


@given(channels(inputs=4), st.lists(st.integers(0, 3), min_size=1, unique=True))
def test_restriction_keeps_rows_and_drops_impossible_outputs(
    case: tuple[Rows, Channel], keep: list[int]
) -> None:
    table, channel = case
    found = channel.restrict(f"x{i}" for i in keep)
    assert found.inputs.labels == tuple(f"x{i}" for i in keep)
    alive = [y for y in range(len(table[0])) if any(table[x][y] for x in keep)]
    assert found.outputs.labels == tuple(f"y{y}" for y in alive)
    assert table_of(found) == [[table[x][y] for y in alive] for x in keep]


@given(priors(3, zeros=True), channels(inputs=3))
def test_the_output_of_a_prior_in_another_order(
    first: tuple[list[Fraction], Prior], second: tuple[Rows, Channel]
) -> None:
    (shares, prior), (table, channel) = first, second
    model = oracles.of_prior(shares, table)
    found = channel.output(prior)
    for y, mass in zip(model.outputs, model.masses, strict=True):
        assert found[f"y{y}"] == mass


# --- tables -------------------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [1, 2, 52, 53, 61, 62])
def test_tables_of_every_width(bits: int) -> None:
    full = 1 << bits
    weights = [[full, 0], [1, full - 1], [full // 2, full // 2]]
    table = Table.of(Alphabet.of("abc"), Alphabet.of("uv"), weights, bits)
    assert table.bits == bits
    assert table.weights.dtype == np.int64
    assert table.probability("a", "u") == 1
    assert table.probability("b", "u") == Fraction(1, full)
    again = channel_from_data(json.loads(json.dumps(table.to_data())))
    assert isinstance(again, Table)
    assert again.bits == bits
    assert again.weights.tolist() == weights
    assert again.fingerprint == table.fingerprint
    merged = table.relabelled({"u": "w", "v": "w"})
    assert isinstance(merged, Table)
    assert merged.weights.tolist() == [[full]] * 3
    assert isinstance(table.restrict("a"), Table)
    plain = Channel(table.inputs, table.outputs, table.weights, table.totals)
    assert plain == table
    assert plain.table().weights.tolist() == weights
    assert table.alias.bits == bits


def test_channels_over_a_power_of_two_become_tables() -> None:
    quarter = Channel.from_rows({"a": {"u": "1/4", "v": "3/4"}, "b": {"u": 1, "v": 0}})
    table = quarter.table()
    assert table.bits == 2
    assert table.weights.tolist() == [[1, 3], [4, 0]]
    assert table == quarter
    identity = Channel.identity("ab").table()
    assert identity.bits == 1
    assert identity == Channel.identity("ab")
    with pytest.raises(RowError, match="power of two"):
        Channel.from_rows({"a": {"u": "1/3", "v": "2/3"}}).table()


# --- refusals -----------------------------------------------------------------------------------

A, UV = Alphabet.of("a"), Alphabet.of("uv")
GOOD: dict[str, Any] = {
    "format": "liftlock.channel",
    "version": 1,
    "inputs": ["a"],
    "outputs": ["u", "v"],
    "weights": [[1, 3]],
    "totals": [4],
}


def without(key: str) -> dict[str, Any]:
    return {k: v for k, v in GOOD.items() if k != key}


@pytest.mark.parametrize(
    ("make", "kind", "word"),
    [
        (lambda: Channel.from_rows({}), LabelError, "has no symbols"),
        (
            lambda: Channel.from_rows({"a": {"u": "0.5", "v": "0.49"}}),
            RowError,
            "row does not sum to 1 at input 'a': '0.99'",
        ),
        (
            lambda: Channel.from_rows({"a": {"u": "1.5", "v": "-0.5"}}),
            RowError,
            "negative probability at input 'a', output 'v': '-1/2'",
        ),
        (
            lambda: Channel.from_rows({"a": {"u": 1}, "b": {"v": 1}}),
            LabelError,
            "different outputs at input 'b'",
        ),
        (
            lambda: Channel.from_rows({"a": {"u": 0.1 + 0.2, "v": "0.7"}}),
            NumberError,
            "probability of 'u' given 'a' looks computed",
        ),
        (
            lambda: Channel.from_fractions(A, UV, [[Fraction(1)]]),
            RowError,
            "1 probabilities for 2 outputs at input 'a'",
        ),
        (lambda: Channel.from_fractions(A, UV, []), RowError, "0 rows for 1 inputs"),
        (
            lambda: Channel.from_fractions(A, UV, [[Fraction(0)] * 2], normalise=True),
            RowError,
            "does not sum to 1",
        ),
        (lambda: Channel(A, UV, np.array([[1]]), (1,)), RowError, r"shape \(1, 1\)"),
        (lambda: Channel(A, UV, np.array([[1, 2]]), (4,)), RowError, "3 instead of 4"),
        (lambda: Channel(A, UV, np.array([[1, 2]]), ()), RowError, "0 totals for 1 inputs"),
        (lambda: Channel(A, UV, np.array([[0, 0]]), (0,)), RowError, "0 instead of 0"),
        (
            lambda: Channel(A, UV, np.array([[-1, 2]]), (1,)),
            RowError,
            "negative weight at input 'a', output 'u': -1",
        ),
        (
            lambda: Channel(A, UV, np.array([[-1, 2**80]], dtype=object), (2**80 - 1,)),
            RowError,
            "negative weight",
        ),
        (
            # The sum of these leaves int64 and comes back as 4.
            lambda: Channel(A, Alphabet.of("uvwxy"), np.array([[2**62] * 4 + [4]]), (4,)),
            RowError,
            "18446744073709551620 instead of 4",
        ),
        (lambda: Table.of(A, UV, [[1, 3]], 63), RowError, "bits out of range"),
        (lambda: Table.of(A, UV, [[1, 3]], 0), RowError, "bits out of range"),
        (lambda: Table.of(A, UV, [[1, 3]], 3), RowError, "4 instead of 8"),
        (lambda: Table.of(A, UV, [[1.0, 3.0]], 2), RowError, "not integers"),
        (
            lambda: Table.of(A, UV, np.array([[1.9, 3.2]], dtype=object), 2),
            RowError,
            "not integers",
        ),
        (lambda: Table(A, UV, np.array([[1, 2]]), (3,)), RowError, "the same power of two"),
        (
            lambda: Table(Alphabet.of("ab"), UV, np.array([[1, 1], [1, 3]]), (2, 4)),
            RowError,
            "the same power of two",
        ),
        (lambda: Channel.identity("ab").probability("a", "z"), LabelError, "unknown label"),
        (lambda: Channel.identity("ab").relabelled({"z": "a"}), LabelError, "unknown label"),
        (lambda: Channel.identity("ab").restrict("az"), LabelError, "unknown label"),
        (lambda: Channel.identity("ab").restrict([]), LabelError, "has no symbols"),
        (
            lambda: Channel.identity("ab").then(Channel.identity("ac")),
            LabelError,
            "the second's input lacks: 'b'",
        ),
        (
            lambda: Channel.identity("ab").product(Channel.identity("abc")),
            LabelError,
            "the first channel lacks: 'c'",
        ),
        (
            lambda: Channel.identity("ab").output(Prior.uniform("abc")),
            LabelError,
            "the channel lacks: 'c'",
        ),
        (lambda: channel_from_data([]), FileError, "not a liftlock file"),
        (lambda: channel_from_data(without("format")), FileError, "not a liftlock file"),
        (lambda: channel_from_data(GOOD | {"format": "x"}), FileError, "another file format: 'x'"),
        (lambda: channel_from_data(GOOD | {"version": 2}), FileError, "unknown version.*: 2;"),
        (lambda: channel_from_data(without("version")), FileError, "unknown version"),
        (lambda: channel_from_data(without("inputs")), LabelError, "labels are not a list"),
        (lambda: channel_from_data(without("weights")), FileError, "one row for each input"),
        (lambda: channel_from_data(without("totals")), InputError, "totals is not a list"),
        (
            lambda: channel_from_data(GOOD | {"weights": [[1]]}),
            FileError,
            "1 weights for 2 outputs",
        ),
        (lambda: channel_from_data(GOOD | {"weights": [3]}), InputError, "not a list"),
        (lambda: channel_from_data(GOOD | {"weights": [["1/2", "7/2"]]}), InputError, "not whole"),
        (lambda: channel_from_data(GOOD | {"totals": [4, 4]}), RowError, "2 totals for 1 inputs"),
        (lambda: channel_from_data(GOOD | {"bits": "2"}), FileError, "not a whole number: '2'"),
        (lambda: channel_from_data(GOOD | {"bits": True}), FileError, "not a whole number"),
        (lambda: channel_from_data(GOOD | {"bits": 80}), RowError, "bits out of range"),
    ],
)
def test_refusals(make: Any, kind: type[InputError], word: str) -> None:
    with pytest.raises(kind, match=word) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_good_data_is_read() -> None:
    assert channel_from_data(GOOD).probability("a", "v") == Fraction(3, 4)
    assert isinstance(channel_from_data(GOOD | {"bits": 2}), Table)
    check_format(GOOD, "liftlock.channel", 1)
