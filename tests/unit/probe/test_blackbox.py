"""Audit of a callable: what it is given, what it returns, what it refuses."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from liftlock import Joint, Prior, Step
from liftlock.errors import CountError, InputError, LabelError, NumberError
from liftlock.probe import ProbeResult, probe
from tests.statistical.table_box import TableBox, random_channel, randomised_response, truth

Codes = npt.NDArray[np.int64]
SAMPLES = 20_000


def constant(codes: Codes) -> Codes:
    return np.zeros_like(codes)


def identity(codes: Codes) -> Codes:
    return codes


def look_up(table: list[Any], codes: Codes) -> list[Any]:
    return [table[code] for code in codes]


def noisy(codes: Codes) -> npt.NDArray[np.float64]:
    return codes + np.random.default_rng().random(len(codes))


def test_it_makes_exactly_the_samples_asked_for_in_bounded_batches() -> None:
    box = TableBox(randomised_response(3, 1.0), seed=3)
    seen: list[Step] = []
    result = probe(
        box,
        range(3),
        [0.2, 0.3, 0.5],
        lip=1,
        samples=25_001,
        batch=1000,
        seed=5,
        progress=seen.append,
    )
    assert result.samples == sum(box.calls) == 25_001
    assert max(box.calls) <= 1000
    assert [step.done for step in seen] == np.cumsum(box.calls).tolist()
    assert {step.total for step in seen} == {25_001}


def test_the_same_seeds_give_the_same_result() -> None:
    def run() -> ProbeResult:
        box = TableBox(randomised_response(4, 1.0), seed=3)
        return probe(box, range(4), [0.25] * 4, lip=1, ldp=1, samples=SAMPLES, seed=9)

    assert run() == run()
    assert run().seed == 9


def test_without_a_seed_one_is_drawn_and_reported() -> None:
    first = probe(identity, "ab", [0.5, 0.5], samples=1000)
    assert first.seed != probe(identity, "ab", [0.5, 0.5], samples=1000).seed
    assert probe(identity, "ab", [0.5, 0.5], samples=1000, seed=first.seed) == first


@pytest.mark.parametrize("rows", [randomised_response(4, 1.0), random_channel(4, 9, 0.8, 2)])
def test_without_a_claim_every_side_is_bounded_from_below(rows: npt.NDArray[np.float64]) -> None:
    prior = np.array([0.1, 0.2, 0.3, 0.4])
    true = truth(rows, prior)
    result = probe(TableBox(rows, 1), range(4), prior, samples=400_000, seed=1)
    assert [finding.side for finding in result.findings] == ["eps_upper", "eps_lower", "ldp"]
    for name in ("eps_upper", "eps_lower", "lip", "ldp"):
        assert 0.85 * true[name] < getattr(result, name) < true[name]
    assert not result.contradicted
    assert "Lower bounds of the leakage" in str(result)


def test_a_contradiction_names_its_witness_and_its_counts() -> None:
    labels, prior = ["none", "cold", "flu"], {"none": 0.7, "cold": 0.2, "flu": 0.1}
    box = TableBox(randomised_response(3, 1.0), seed=1)
    result = probe(lambda codes: np.array(labels)[box(codes)], labels, prior, lip="0.6", seed=1)
    assert result.contradicted
    found = result.witness
    assert (found.side, found.input, found.event) == ("eps_upper", "flu", ("flu",))
    assert found.contradicted
    assert found.bound > 0.6
    assert found.hits / found.draws == pytest.approx(math.e / (math.e + 2), rel=0.05)
    assert found.hits_against / found.draws_against == pytest.approx(1 / (math.e + 2), rel=0.05)
    text = str(result)
    assert text.startswith("The claim is contradicted (confidence 99.9 %, 1,000,000 samples).")
    assert "'flu'" in text
    assert f"{found.hits:,} times in {found.draws:,} draws" in " ".join(text.split())


def test_no_contradiction_is_never_called_private() -> None:
    result = probe(constant, "ab", [0.5, 0.5], lip=1, ldp=1, samples=SAMPLES)
    assert not result.contradicted
    assert result.lip < 0.1
    text = " ".join(str(result).split())
    assert text.startswith("No contradiction found")
    assert "This does not show that the claim is true" in text
    assert "private" not in text.lower()


def test_only_claimed_sides_are_tested() -> None:
    box = TableBox(randomised_response(3, 1.0), seed=1)
    result = probe(box, range(3), [0.2, 0.3, 0.5], eps_upper=0.3, samples=SAMPLES)
    assert [finding.side for finding in result.findings] == ["eps_upper"]
    assert result.finding("ldp") is None
    assert result.eps_lower == 0.0
    # A lift is an average of likelihood ratios, so a lower bound of it bounds ldp too.
    assert result.ldp == result.lip == result.eps_upper > 0.3


def test_an_identity_leaks_without_limit() -> None:
    prior = [0.5, 0.3, 0.2]
    result = probe(identity, "abc", prior, samples=SAMPLES, seed=2)
    # The largest lift is 1 / P(c); the other two sides are infinite, and the bounds finite.
    assert result.eps_upper == pytest.approx(math.log(5), abs=0.01)
    assert result.eps_upper < math.log(5)
    assert 4 < result.eps_lower < math.inf
    assert 4 < result.ldp < math.inf
    finding = result.finding("ldp")
    assert finding is not None
    assert finding.estimate == math.inf
    json.dumps(result.to_data(), allow_nan=False)


def test_outputs_of_every_kind_are_counted() -> None:
    def run(mechanism: Callable[[Any], Any], **options: Any) -> ProbeResult:
        return probe(mechanism, ["a", "b"], ldp=1, samples=2000, seed=3, **options)

    tables: dict[str, list[Any]] = {
        "text": ["x", "y"],
        "nothing and a number": [None, 3],
        "not a number": [math.nan, 0.0],
        "tuples": [(0, 1), (1, 1)],
        "truth values": [True, False],
        "large": [-(2**62), 2**62],
    }
    for name, table in tables.items():
        listed = run(partial(look_up, table))
        assert listed.contradicted, name
        assert listed.outputs == 2, name
        single = run(dict(zip("ab", table, strict=True)).__getitem__, per_value=True)
        assert single.contradicted, name
    arrays = run(lambda codes: np.stack([codes, 1 - codes], axis=1))
    assert arrays.outputs == 2
    assert arrays.witness.event in {((0, 1),), ((1, 0),)}
    assert run(lambda codes: codes.astype(np.float32) / 2).contradicted


def test_a_mechanism_may_overwrite_the_codes_it_gets() -> None:
    def overwriting(codes: Codes) -> Codes:
        answers = codes.copy()
        codes[:] = 0
        return answers

    assert probe(overwriting, "ab", ldp=1, samples=2000).contradicted


def test_a_leak_spread_over_many_rare_outputs_is_found() -> None:
    generator = np.random.default_rng(4)

    def tagged(codes: Codes) -> Codes:
        truthful = generator.random(len(codes)) < 0.9
        return 2 * generator.integers(0, 1000, len(codes)) + np.where(truthful, codes, 1 - codes)

    result = probe(tagged, "ab", ldp="1.5", samples=100_000, seed=1)
    assert result.contradicted  # the truth is ln 9 = 2.197
    assert len(result.witness.event) > 300


def test_a_secret_behind_the_input() -> None:
    joint = Joint.from_counts({"yes": {"a": 30, "b": 10}, "no": {"a": 20, "b": 40}})
    rows = randomised_response(2, 2.0)
    given = np.array([[0.75, 0.25], [1 / 3, 2 / 3]])
    true = truth(given @ rows, np.array([0.4, 0.6]))
    result = probe(TableBox(rows, 2), None, joint, samples=400_000, seed=2)
    for name in ("eps_upper", "eps_lower", "ldp"):
        assert 0.9 * true[name] < getattr(result, name) < true[name]
    assert {finding.input for finding in result.findings} <= {"yes", "no"}
    reversed_inputs = probe(TableBox(rows[::-1], 2), ["b", "a"], joint, samples=400_000, seed=2)
    assert reversed_inputs.lip == pytest.approx(result.lip, rel=0.05)


def test_inputs_that_the_prior_calls_impossible_count_for_ldp_only() -> None:
    rows = np.array([[0.5, 0.5], [0.5, 0.5], [0.9, 0.1]])
    prior = {"a": 0.5, "b": 0.5, "c": 0}
    result = probe(TableBox(rows, 5), "abc", prior, samples=SAMPLES, seed=4)
    assert result.impossible == ("c",)
    assert result.lip < 0.1
    assert 1.0 < result.ldp < math.log(5)
    assert "probability 0, and so no guarantee on lifts, to: {'c'}" in str(result)


def test_every_form_of_prior_means_the_same() -> None:
    def run(prior: object, inputs: Any = ("a", "b")) -> ProbeResult:
        box = TableBox(randomised_response(2, 1.0), seed=6)
        return probe(box, inputs, prior, lip=1, samples=2000, seed=6)

    expected = run([0.7, 0.3])
    assert run({"b": 0.3, "a": 0.7}) == expected
    assert run({"b": "3/10", "a": Fraction(7, 10)}) == expected
    assert run(np.array([0.7, 0.3])) == expected
    prior = Prior.from_probabilities({"a": "0.7", "b": "0.3"})
    assert run(prior) == run(prior, None) == expected
    turned = Prior.from_probabilities({"b": "0.3", "a": "0.7"})
    assert run(turned) == expected

    class Bare:
        labels = ("a", "b")

        def probabilities(self) -> list[float]:
            return [0.7, 0.3]

    assert run(Bare()) == expected


def test_every_form_of_claim_means_the_same() -> None:
    def claims(**given: Any) -> Any:
        return probe(identity, "ab", [0.5, 0.5], samples=1000, seed=1, **given).claims

    assert claims(lip="1/2") == claims(lip=0.5) == claims(lip=Fraction(1, 2))
    assert claims(lip=0.5) == claims(eps_lower=0.5, eps_upper="0.5")
    assert claims(ldp="ln 3").ldp == claims(ldp=math.log(3)).ldp == math.log(3)
    assert claims(ldp=np.float64(1.5)).ldp == 1.5


def test_the_result_cannot_be_changed_and_can_be_written() -> None:
    result = probe(identity, ["a", (1, 2)], [0.5, 0.5], lip=1, samples=1000, seed=1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.samples = 3  # type: ignore[misc]
    data = json.loads(json.dumps(result.to_data(), allow_nan=False))
    assert data["contradicted"] is result.contradicted is True
    assert data["bounds"]["lip"] == result.lip
    assert data["claims"] == {"eps_upper": 1.0, "eps_lower": 1.0}
    assert data["findings"][0]["input"] in {"a", "(1, 2)"}


def test_an_exception_of_the_callback_stops_the_run() -> None:
    class Stopped(Exception):
        pass

    def stop(_: Step) -> None:
        raise Stopped

    with pytest.raises(Stopped):
        probe(identity, "ab", ldp=1, progress=stop)


REFUSALS: list[tuple[type[InputError], str, dict[str, Any]]] = [
    (CountError, "do not sum to 1", {"prior": [0.5, 0.4]}),
    (CountError, "3 probabilities for 2 inputs", {"prior": [0.5, 0.3, 0.2]}),
    (CountError, "outside 0 to 1", {"prior": [1.5, -0.5]}),
    (CountError, "outside 0 to 1", {"prior": [math.nan, 1.0]}),
    (CountError, "a prior of type int", {"prior": 3}),
    (CountError, "a prior of type str", {"prior": "0.5"}),
    (NumberError, "is not a number", {"prior": ["half", "half"]}),
    (LabelError, "an input without a probability in the prior: 'b'", {"prior": {"a": 1.0}}),
    (LabelError, "not an input: 'c'", {"prior": {"a": 0.5, "b": 0.25, "c": 0.25}}),
    (LabelError, "input given twice at position 2: 'a'", {"inputs": ["a", "a"]}),
    (LabelError, "no inputs", {"inputs": []}),
    (LabelError, "no inputs", {"inputs": None, "prior": None}),
    (LabelError, "cannot be compared", {"inputs": [["a"], ["b"]]}),
    (InputError, "a single input", {"inputs": ["a"], "prior": [1.0]}),
    (InputError, "single possible input", {"prior": [1.0, 0.0]}),
    (InputError, "no prior at a claim about lifts", {"prior": None}),
    (InputError, "lip claimed together", {"eps_upper": 1}),
    (NumberError, "negative", {"lip": -1.0}),
    (NumberError, "not finite", {"lip": math.inf}),
    (NumberError, "not finite", {"lip": math.nan}),
    (NumberError, "not a number", {"lip": "much"}),
    (NumberError, "is a boolean", {"lip": True}),
    (NumberError, "confidence outside 0 to 1", {"confidence": 1.0}),
    (NumberError, "confidence outside 0 to 1", {"confidence": "0"}),
    (NumberError, "too few samples", {"samples": 79}),
    (NumberError, "batch below 1", {"batch": 0}),
    (InputError, "80 samples are too few to contradict", {"samples": 80, "lip": 9}),
    (InputError, "to contradict eps_upper=1 with", {"lip": None, "eps_upper": 1}),
    (InputError, "gave 3 outputs", {"mechanism": lambda codes: [1, 2, 3]}),
    (InputError, "not a list at the mechanism", {"mechanism": lambda codes: 1}),
    (
        InputError,
        "outputs are not a list",
        {"mechanism": lambda codes: np.zeros((len(codes), 2, 2))},
    ),
    (InputError, "cannot be compared", {"mechanism": lambda codes: [[1] for _ in codes]}),
    (
        InputError,
        "they look continuous",
        {"mechanism": noisy},
    ),
]


@pytest.mark.parametrize(("kind", "text", "changes"), REFUSALS)
def test_what_cannot_be_used_is_refused_in_words(
    kind: type[InputError], text: str, changes: dict[str, Any]
) -> None:
    options: dict[str, Any] = {
        "mechanism": identity,
        "inputs": ["a", "b"],
        "prior": [0.5, 0.5],
        "lip": 1,
        "samples": SAMPLES,
    }
    with pytest.raises(kind) as caught:
        probe(**(options | changes))
    assert text in str(caught.value)


def test_too_many_outputs_are_refused_before_memory_is_spent() -> None:
    def wide(codes: Codes) -> Codes:
        return np.arange(len(codes), dtype=np.int64) % 5000 * 7

    with pytest.raises(InputError, match=r"more than 4000 distinct outputs"):
        probe(wide, range(1000), ldp=1, samples=2_000_000)


def test_a_secret_that_never_occurs_is_refused() -> None:
    joint = Joint.from_counts({"yes": {"a": 0, "b": 0}, "no": {"a": 2, "b": 4}})
    with pytest.raises(CountError, match="never occurs"):
        probe(identity, ["a", "b"], joint, lip=1)
