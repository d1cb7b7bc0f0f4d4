"""Locking: optimal drafts become certified tables at no visible cost, wrong ones are refused."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.sparse as sparse
from scipy.optimize import linprog

from liftlock import Alphabet, Ball, Channel, Family, Intervals, Joint, Prior, ProfileGraph, Table
from liftlock.designs import Draft, LockedChannel, lock
from liftlock.errors import NotCertified, NotDefined, RowError, UnprotectedInput
from liftlock.model import representative
from liftlock.notions import ALIP, LDP, LIP, ApproximateLIP, ProfilePrivacy

CHUNKS = 13
CHANNELS_PER_CHUNK = 40  # 520 optimal channels in all


def optimal(
    conditional: np.ndarray, prior: np.ndarray, lower: float, upper: float, cost: np.ndarray
) -> tuple[np.ndarray, float]:
    """Solve the LP over channels: least expected cost with every lift between the two ends.

    Variables are q[x, y] and m[y] = sum_x prior[x] q[x, y], the mass of y; then
    P(y|s) = sum_x conditional[s, x] q[x, y] lies between lower m[y] and upper m[y].
    """
    inputs, outputs = cost.shape
    eye = sparse.identity(outputs)
    given = sparse.kron(sparse.csr_matrix(conditional), eye)
    mass = sparse.kron(np.ones((len(conditional), 1)), eye)
    limits: Any = sparse.bmat([[given, -upper * mass], [-given, lower * mass]]).tocsr()
    sums: Any = sparse.kron(sparse.identity(inputs), np.ones((1, outputs)))
    means: Any = sparse.kron(sparse.csr_matrix(prior), eye)
    rows: Any = sparse.bmat([[sums, None], [means, -eye]]).tocsr()
    solution: Any = linprog(
        np.concatenate([(prior[:, None] * cost).ravel(), np.zeros(outputs)]),
        A_ub=limits,
        b_ub=np.zeros(limits.shape[0]),
        A_eq=rows,
        b_eq=np.concatenate([np.ones(inputs), np.zeros(outputs)]),
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert solution.status == 0
    return solution.x[: cost.size].reshape(inputs, outputs), float(solution.fun)


def extreme_lifts(table: Table, joint: list[list[int]]) -> tuple[Fraction, Fraction]:
    """Recompute the extreme lifts in plain fractions, from the stored integers alone."""
    total = sum(sum(row) for row in joint)
    counts = [sum(column) for column in zip(*joint, strict=True)]
    # Over one denominator, P(y|s) are whole numbers, and only the extremes become fractions.
    scale = math.lcm(*(sum(row) for row in joint))
    shares = [[(x, c * (scale // sum(row))) for x, c in enumerate(row) if c] for row in joint]
    largest, smallest = Fraction(0), Fraction(10**9)
    for column in zip(*table.weights.tolist(), strict=True):
        mass = sum(c * weight for c, weight in zip(counts, column, strict=True))
        if not mass:
            continue
        given = [sum(share * column[x] for x, share in row) for row in shares]
        largest = max(largest, Fraction(max(given) * total, scale * mass))
        smallest = min(smallest, Fraction(min(given) * total, scale * mass))
    return largest, smallest


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_optimal_channels_are_certified_at_no_cost(chunk: int) -> None:
    """520 random LP optima of sizes 2 to 40: each certified, each within 1e-9 of its optimum."""
    rng = np.random.default_rng(20_000 + chunk)
    for number in range(CHANNELS_PER_CHUNK):
        # Over the chunks every size from 2 to 40 comes up; small ones more often, for time.
        size = 2 + (number + chunk) % 39
        if number % 2 and size > 16:
            size = int(rng.integers(2, 16))
        lower = Fraction(int(rng.integers(50, 3000)), 1000)
        upper = lower if number % 3 else Fraction(int(rng.integers(50, 3000)), 1000)
        cost = rng.random((size, size)) if number % 2 else 1.0 - np.eye(size)
        labels = [f"x{i}" for i in range(size)]
        if number % 4 == 3:
            joint = rng.integers(0, 200, (5, size))
            joint[0, joint.sum(axis=0) == 0] = 1
            joint[joint.sum(axis=1) == 0, 0] = 1
            table = joint.tolist()
            context: Prior | Joint = Joint.from_rows(
                Alphabet.of(range(5)), Alphabet.of(labels), table
            )
        else:
            counts = rng.integers(1, 1000, size)
            joint = np.diag(counts)
            table = joint.tolist()
            context = Prior.from_counts(
                (label, int(count)) for label, count in zip(labels, counts, strict=True)
            )
        prior = joint.sum(axis=0) / joint.sum()
        conditional = joint / joint.sum(axis=1, keepdims=True)
        matrix, best = optimal(
            conditional, prior, float(np.exp(-float(lower))), float(np.exp(float(upper))), cost
        )
        notion = ALIP(lower=lower, upper=upper) if lower != upper else LIP(lower)
        locked = lock(Draft.of(labels, range(size), matrix), notion, context)

        assert locked.certificate.holds
        kept = np.array(locked.channel.outputs.labels, dtype=np.intp)
        reached = float((prior[:, None] * cost[:, kept] * locked.channel.floats()).sum())
        assert abs(reached - best) <= 1e-9
        # The promise, checked without the code that made it.
        largest, smallest = extreme_lifts(locked.channel, table)
        with mpmath.workdps(60):
            assert mpmath.mpf(largest.numerator) / largest.denominator <= mpmath.exp(
                mpmath.mpf(upper.numerator) / upper.denominator
            )
            assert mpmath.mpf(smallest.numerator) / smallest.denominator >= mpmath.exp(
                -mpmath.mpf(lower.numerator) / lower.denominator
            )


def boundary_coin(epsilon: float) -> Draft:
    """Return the binary response whose max-lift is exactly e^epsilon under a uniform prior."""
    high = float(np.exp(epsilon)) / 2
    return Draft.of(["a", "b"], ["a", "b"], [[high, 1 - high], [1 - high, high]])


def test_naive_rounding_of_a_boundary_channel_fails_and_lock_repairs_it() -> None:
    prior = Prior.uniform(["a", "b"])
    notion = ALIP(lower="5", upper="0.3")
    repaired = 0
    for step in range(40):
        draft = boundary_coin(0.3 + step * 2e-16)
        locked = lock(draft, notion, prior)
        repaired += locked.blend > 0
        assert locked.moved < 1e-14
    assert repaired > 0


def test_noise_outputs_are_dropped_before_they_leak() -> None:
    """A residue of 1e-16 on one input alone would have infinite leakage."""
    draft = Draft.of(["a", "b"], ["a", "b", "noise"], [[0.6, 0.4, 1e-16], [0.4, 0.6, 0.0]])
    locked = lock(draft, LIP("1"), Prior.uniform(["a", "b"]))
    assert locked.dropped == ("noise",)
    assert locked.channel.outputs.labels == ("a", "b")


def test_a_wrong_design_is_refused_with_witness_and_smallest_budget() -> None:
    prior = Prior.from_probabilities({"a": "0.1", "b": "0.2", "c": "0.7"})
    keep = 1 - np.exp(-1.0)
    published = keep * np.eye(3) + (1 - keep) * prior.floats()
    with pytest.raises(NotCertified) as refused:
        lock(Draft.of(prior.alphabet, prior.alphabet, published), LIP("1"), prior)
    assert "1.900477" in refused.value.smallest
    assert refused.value.certificate.claims[0].witness is not None
    assert refused.value.certificate.claims[0].witness.secret == "a"
    assert not refused.value.certificate.holds


def test_the_smallest_budget_named_in_a_refusal_really_passes() -> None:
    prior = Prior.from_probabilities({"a": "0.1", "b": "0.2", "c": "0.7"})
    draft = Draft.of(prior.alphabet, prior.alphabet, 0.5 * np.eye(3) + 0.5 * prior.floats())
    with pytest.raises(NotCertified) as refused:
        lock(draft, LIP("0.1"), prior)
    budget = refused.value.smallest.removeprefix("lip=")
    assert lock(draft, LIP(budget), prior).blend == 0


@pytest.mark.parametrize(
    "context",
    [
        Family.of([Prior.from_counts({"a": 1, "b": 1}), Prior.from_counts({"a": 1, "b": 2})]),
        Intervals.of({"a": ("0.3", "0.6"), "b": ("0.4", "0.7")}),
        Ball.of(Prior.uniform(["a", "b"]), "0.1"),
    ],
    ids=["family", "intervals", "ball"],
)
def test_sets_of_priors_lock_on_their_boundary(context: Family | Intervals | Ball) -> None:
    draft = Draft.of(["a", "b"], ["a", "b"], [[0.7, 0.3], [0.3, 0.7]])
    with pytest.raises(NotCertified) as refused:
        lock(draft, LIP("0.01"), context)
    budget = refused.value.smallest.removeprefix("lip=")
    locked = lock(draft, LIP(budget), context)
    assert locked.certificate.holds
    assert float(locked.blend) < 1e-6


def test_one_prior_stands_for_a_set_and_lies_inside() -> None:
    """It gives every possible input a chance: what is blended with a row must not be 0."""
    own = Prior.from_counts({"a": 1, "b": 2, "c": 3})
    joint = Joint.from_counts({"s": {"a": 1, "b": 2}, "t": {"a": 3, "b": 2}})
    assert representative(own) is own
    assert representative(joint) == joint.prior
    mean = representative(Family.of([own, Prior.uniform("abc")]))
    assert mean.fractions == (Fraction(1, 4), Fraction(1, 3), Fraction(5, 12))
    for limits in (
        {"a": ("0.1", "0.5"), "b": ("0.2", "0.6"), "c": ("0", "0.4")},
        {"a": ("0.25", "0.25"), "b": ("0.5", "0.5"), "c": ("0.25", "0.25")},
        {"a": ("0", "1"), "b": ("0", "0.01"), "c": ("0.5", "1")},
    ):
        found = representative(Intervals.of(limits))
        assert sum(found.fractions) == 1
        for label, (low, high) in limits.items():
            assert Fraction(low) <= found[label] <= Fraction(high)
            assert found[label] > 0
    for centre in ({"a": 1, "b": 1, "c": 0}, {"a": 1, "b": 2, "c": 3}):
        prior = Prior.from_counts(centre)
        for radius in (Fraction(0), Fraction(1, 10)):
            found = representative(Ball.of(prior, radius))
            apart = sum(abs(found[x] - prior[x]) for x in "abc") / 2
            assert apart <= radius
            assert all(found[x] or not radius for x in "abc" if not prior[x])
    with pytest.raises(NotDefined, match="one prior of X is not defined for a graph"):
        representative(ProfileGraph.bernoulli(["0.2", "0.9"]))


def test_other_notions_lock_on_their_boundary() -> None:
    prior = Prior.uniform(["a", "b"])
    keep = float(np.exp(0.7) / (1 + np.exp(0.7)))
    draft = Draft.of(["a", "b"], ["a", "b"], [[keep, 1 - keep], [1 - keep, keep]])
    assert lock(draft, LDP("0.7"), prior).certificate.holds
    assert lock(draft, ApproximateLIP("0", "0.2", "ediv"), prior).certificate.holds


def test_an_exact_channel_can_be_locked_too() -> None:
    channel = Channel.from_rows({"a": {"y": "1/3", "z": "2/3"}, "b": {"y": "2/3", "z": "1/3"}})
    locked = lock(channel, LIP("1"), Prior.uniform(["a", "b"]), bits=20)
    assert locked.channel.bits == 20
    assert locked.moved < 2**-19


# --- how far a draft was moved ------------------------------------------------------------------


def largest_move(draft: Draft | Channel, table: Table) -> Fraction:
    """Compare every cell of the draft with what the stored integers say, one by one."""
    moves = []
    for x, given in enumerate(draft.inputs.labels):
        for y, output in enumerate(draft.outputs.labels):
            if isinstance(draft, Channel):
                before = draft.probability(given, output)
            else:
                before = Fraction(float(draft.matrix[x, y]))
            kept = output in table.outputs
            after = table.probability(given, output) if kept else Fraction(0)
            moves.append(abs(before - after))
    return max(moves)


def check_moved(locked: LockedChannel[Any], draft: Draft | Channel) -> None:
    truth = largest_move(draft, locked.channel)
    assert locked.moved == pytest.approx(float(truth), rel=1e-12, abs=0)
    said = locked.changes().split(": ")[1]
    if truth:
        assert float(said.removeprefix("no probability moved by more than ")) >= float(truth)
    else:
        assert said == "every probability is as drafted"


@pytest.mark.parametrize("bits", [16, 52, 53, 62])
@pytest.mark.parametrize("seed", range(12))
def test_the_largest_move_of_a_probability(bits: int, seed: int) -> None:
    """Rows that are off 1, outputs that are dropped, and a blend on the boundary."""
    rng = np.random.default_rng(seed)
    size, outputs = int(rng.integers(2, 5)), int(rng.integers(2, 6))
    matrix = 0.5 * rng.dirichlet(np.ones(outputs), size=size) + 0.5 / outputs
    matrix *= 1 + rng.uniform(-9e-7, 9e-7, (size, 1))
    if seed % 2:
        matrix = np.column_stack([matrix, rng.uniform(0, 1e-7, (size, 2))])
    draft = Draft.of(range(size), range(matrix.shape[1]), matrix)
    prior = Prior.from_counts({x: int(rng.integers(1, 9)) for x in range(size)})
    loose = lock(draft, LIP("50"), prior, bits=bits, noise=1e-6)
    assert bool(loose.dropped) == bool(seed % 2)
    assert loose.blend == 0
    check_moved(loose, draft)
    with pytest.raises(NotCertified) as refused:
        lock(draft, LIP("0.0001"), prior, bits=bits, noise=1e-6)
    least = float(refused.value.smallest.removeprefix("lip="))
    tight = LIP(f"{least * 0.95:.6f}")
    blended = lock(draft, tight, prior, bits=bits, noise=1e-6, most_blend=Fraction(1, 4))
    assert blended.blend > 0
    assert blended.moved > 1e-5
    check_moved(blended, draft)


@pytest.mark.parametrize("bits", [2, 20, 52, 62])
def test_a_channel_that_is_rounded_is_not_as_drafted(bits: int) -> None:
    """1/3 in 62 bits is the same float, but another probability."""
    channel = Channel.from_rows({"a": {"y": "1/3", "z": "2/3"}, "b": {"y": "2/3", "z": "1/3"}})
    locked = lock(channel, LIP("1"), Prior.uniform(["a", "b"]), bits=bits)
    check_moved(locked, channel)
    assert "as drafted" not in locked.changes()


def test_the_largest_move_of_a_channel_is_in_any_cell_of_any_row() -> None:
    """Rows of different totals, cells that stay and cells that move, outputs that are dropped."""
    channel = Channel.from_rows(
        {
            "a": {"y": "1/4", "z": "1/2", "w": "1/4", "noise": 0},
            "b": {"y": "1/4", "z": "1/3", "w": "1/3", "noise": "1/12"},
            "c": {"y": "2/4", "z": "1/7", "w": "5/14", "noise": 0},
        }
    )
    for noise, dropped in ((0.0, ()), (0.1, ("noise",)), (0.3, ("noise",))):
        for bits in (3, 52, 62):
            locked = lock(
                channel,
                ApproximateLIP("9", "0.9"),
                Prior.uniform("abc"),
                bits=bits,
                noise=noise,
            )
            assert locked.dropped == dropped
            check_moved(locked, channel)
    draft = Draft.of("ab", "yzw", [[0.5, 0.4999, 0.0001], [0.5, 0.5, 0.0]])
    dropping = lock(draft, LIP("1"), Prior.uniform("ab"), noise=0.001)
    assert dropping.moved == pytest.approx(0.0001, rel=1e-3)
    check_moved(dropping, draft)


def test_a_channel_in_quarters_is_as_drafted() -> None:
    channel = Channel.from_rows({"a": {"y": "1/4", "z": "3/4"}, "b": {"y": "3/4", "z": "1/4"}})
    locked = lock(channel, LIP("1"), Prior.uniform(["a", "b"]), bits=2)
    check_moved(locked, channel)
    assert locked.changes() == "rounded to 2 bits: every probability is as drafted"


def test_one_unit_of_62_bits_is_a_move() -> None:
    """0.7 + 0.3 is 1 in floats, but not the sum of the two numbers: one of them must move."""
    draft = Draft.of("ab", "yz", [[0.7, 0.3], [0.3, 0.7]])
    locked = lock(draft, LIP("1"), Prior.uniform("ab"), bits=62)
    assert 0 < locked.moved < 2**-54
    check_moved(locked, draft)


# --- pairs of profile and value -----------------------------------------------------------------


def profile_ratio(table: Table, graph: ProfileGraph) -> Fraction:
    """Return the largest ratio of P(y | profile) over all edges, in fractions."""
    distributions = {
        name: {
            y: sum(
                (
                    graph.distribution(name)[x] * table.probability((name, x), y)
                    for x in graph.inputs.labels
                ),
                Fraction(0),
            )
            for y in table.outputs.labels
        }
        for name in graph.profiles.labels
    }
    return max(
        max(distributions[a][y] / distributions[b][y], distributions[b][y] / distributions[a][y])
        for a, b in graph.edge_names
        for y in table.outputs.labels
    )


@pytest.mark.parametrize("shuffled", [False, True])
def test_pairs_of_profile_and_value_are_blended_within_their_component(shuffled: bool) -> None:
    """Each row moves towards the mean of what the profiles of its own component release.

    The first two profiles are joined and a hair outside of the budget, so are the next two; the
    last stands alone and must come out as it was drafted.
    """
    graph = ProfileGraph.of(
        {
            "a": {0: 1, 1: 3},
            "b": {0: 3, 1: 1},
            "c": {0: 1, 1: 1},
            "d": {0: 1, 1: 7},
            "alone": {0: 2, 1: 1},
        },
        [("a", "b"), ("c", "d")],
    )
    given: dict[Any, list[float]] = {
        ("a", 0): [0.75, 0.25],
        ("a", 1): [0.5, 0.5],
        ("b", 0): [0.25, 0.75],
        ("b", 1): [0.125, 0.875],
        ("c", 0): [0.5, 0.5],
        ("c", 1): [0.875, 0.125],
        ("d", 0): [0.25, 0.75],
        ("d", 1): [0.375, 0.625],
        ("alone", 0): [0.9375, 0.0625],
        ("alone", 1): [0.0625, 0.9375],
    }
    places = sorted(given, key=str, reverse=True) if shuffled else list(graph.pairs.labels)
    draft = Draft.of(places, "yz", [given[pair] for pair in places])
    whole = lock(draft, ProfilePrivacy("9"), graph).channel
    most = profile_ratio(whole, graph)
    blend = Fraction(1, 64)
    notion = ProfilePrivacy(f"ln {most * (1 - blend / 4)}")
    locked = lock(draft, notion, graph, most_blend=blend)
    assert 0 < locked.blend <= blend
    assert locked.certificate.holds
    assert profile_ratio(locked.channel, graph) <= most * (1 - blend / 4)

    share = locked.blend
    released = {
        name: [
            sum(
                (graph.distribution(name)[x] * Fraction(given[name, x][y]) for x in (0, 1)),
                Fraction(0),
            )
            for y in (0, 1)
        ]
        for name in graph.profiles.labels
    }
    for (name, x), row in given.items():
        group = next((pair for pair in ("ab", "cd") if name in pair), "")
        for y, output in enumerate("yz"):
            wanted = Fraction(row[y])
            if group:
                mean = (released[group[0]][y] + released[group[1]][y]) / 2
                wanted = (1 - share) * wanted + share * mean
            found = locked.channel.probability((name, x), output)
            assert abs(found - wanted) <= Fraction(2, 1 << 52)
            if not group:
                assert found == wanted


def test_impossible_inputs_are_refused_or_declared() -> None:
    prior = Prior.from_counts({"a": 1, "b": 1, "c": 0})
    draft = Draft.of("abc", "yz", [[0.6, 0.4], [0.4, 0.6], [1.0, 0.0]])
    with pytest.raises(UnprotectedInput) as refused:
        lock(draft, LIP("1"), prior)
    assert refused.value.labels == ("c",)
    assert lock(draft, LIP("1"), prior, impossible="ignore").certificate.unprotected == ("c",)


def test_an_input_of_which_only_noise_is_left_is_refused() -> None:
    """Two inputs are released in halves, one in quarters, which are too little here."""
    quarters = [0.25, 0.25, 0.25, 0.25, 0.0]
    draft = Draft.of("abc", range(5), [[0, 0, 0, 0, 1.0], quarters, [0, 0, 0, 0, 1.0]])
    with pytest.raises(RowError, match="only noise outputs are left at input 'b'"):
        lock(draft, LIP("1"), Prior.uniform("abc"), noise=0.25)
