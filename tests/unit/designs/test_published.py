"""Every published form against the text of its paper, written down anew; all else is refused."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq, linprog
from scipy.stats import norm

import liftlock as ll
from liftlock.designs import DESIGNS, design, design_as_published, survey
from liftlock.errors import InputError, NotDefined
from liftlock.exact.integers import Floats
from liftlock.model.structured import UnaryChannel
from liftlock.notions import ALIP, LDP, LIP, ApproximateLDP, ApproximateLIP

E = math.e
RARE = ll.Prior.from_probabilities({"a": "0.1", "b": "0.2", "c": "0.7"})
NUMBERS = ll.Prior.from_counts({0: 8, 1: 5, 3: 2})
LEAKING = ll.Joint.from_counts({"s": {"a": 25, "b": 23, "c": 2}, "t": {"a": 20, "b": 20, "c": 10}})
CLOSE = pytest.approx


def published(context: Any, notion: Any, method: str, **options: Any) -> ll.Mechanism:
    made = design_as_published(context, notion, method=method, **options)
    assert made.origin is not None
    assert any(said.startswith("as published: asked for") for said in made.origin.remarks)
    assert made.certificate.holds
    return made


def random_joints(count: int, secrets: int, symbols: int, seed: int) -> list[ll.Joint]:
    cells = np.random.default_rng(seed).integers(1, 1000, (count, secrets, symbols)).tolist()
    names = ll.Alphabet.of(range(secrets)), ll.Alphabet.of(range(symbols))
    return [ll.Joint.from_rows(*names, table) for table in cells]


# --- responses ------------------------------------------------------------------------------------


def test_response_is_000_eq_19() -> None:
    made = published(RARE, LIP("1"), "response")
    masses = [0.1, 0.2, 0.7]
    expected = [
        [1 - (1 - masses[x]) / E if x == y else masses[y] / E for y in range(3)] for x in range(3)
    ]
    assert made.table.floats() == CLOSE(np.array(expected), abs=1e-12)


@pytest.mark.parametrize(
    ("low", "high"), [("0.1", "0.2"), ("0", "0.5"), ("0.3", "0.6"), ("0", "1")]
)
def test_binary_on_intervals_is_000_section_iv_b2(low: str, high: str) -> None:
    """q01 = b / (b - a + e^eps), q10 = (1 - a) / (b - a + e^eps)."""
    rest = str(1 - Fraction(high)), str(1 - Fraction(low))
    context = ll.Intervals.of({"0": rest, "1": (low, high)})
    made = published(context, LIP("1"), "binary")
    a, b = float(low), float(high)
    q01, q10 = b / (b - a + E), (1 - a) / (b - a + E)
    assert made.table.floats() == CLOSE(np.array([[1 - q01, q01], [q10, 1 - q10]]), abs=1e-12)


def test_binary_on_intervals_leaks_what_it_leaks() -> None:
    """[0.1, 0.2] at budget 1: the largest lift of 1 is at P = 0.1, by hand."""
    context = ll.Intervals.of({"0": ("0.8", "0.9"), "1": ("0.1", "0.2")})
    made = published(context, LIP("1"), "binary")
    q01, q10 = 0.2 / (0.1 + E), 0.9 / (0.1 + E)
    truth = math.log((1 - q10) / (0.1 * (1 - q10) + 0.9 * q01))
    assert truth == CLOSE(1.64075, abs=1e-5)
    assert isinstance(made.notion, ALIP)
    assert float(made.notion.upper) == CLOSE(truth, abs=1e-9)
    with pytest.raises(ll.NotCertified, match="as-published"):
        design(context, LIP("1"), method="binary", as_published=True)
    assert design(context, LIP("1"), method="binary").certificate.holds


def test_binary_for_one_prior_is_001_thm_2() -> None:
    made = published(ll.Prior.from_probabilities({0: "0.9", 1: "0.1"}), LIP("1"), "binary")
    expected = [[1 - 0.1 / E, 0.1 / E], [0.9 / E, 1 - 0.9 / E]]
    assert made.table.floats() == CLOSE(np.array(expected), abs=1e-12)


@pytest.mark.parametrize("form", ["def5", "ediv", "joint"])
def test_sampling_is_000_prop_2(form: Any) -> None:
    for delta in ("0.01", "0.3"):
        rate = min(float(delta) * E, 1 - 1 / E + float(delta) / E)
        made = published(RARE, ApproximateLIP("1", delta, form), "sampling")
        masses = np.array([0.1, 0.2, 0.7])
        assert made.table.floats() == CLOSE(rate * np.eye(3) + (1 - rate) * masses, abs=1e-12)


def test_baselines_are_those_of_000_section_v() -> None:
    made = published(RARE, LDP("1"), "k-rr")
    expected = (np.ones((3, 3)) + (E - 1) * np.eye(3)) / (E + 2)
    assert made.table.floats() == CLOSE(expected, abs=1e-12)
    encoding = published(RARE, LDP("1"), "oue").channel
    assert isinstance(encoding, UnaryChannel)
    assert float(encoding.hit) == CLOSE(1 / 2)
    assert float(encoding.miss) == CLOSE(1 / (E + 1), rel=1e-9)


# --- noise ----------------------------------------------------------------------------------------


def printed_scale(epsilon: float, rarest: float, width: float) -> float:
    """003 eq. (17); 000 eq. (25)."""
    if epsilon < math.log(1 / rarest):
        return width / math.log((math.exp(epsilon) - rarest) / (1 - rarest))
    return width / epsilon


def laplace_cdf(t: float) -> float:
    return math.exp(t) / 2 if t < 0 else 1 - math.exp(-t) / 2


def bins(cdf: Callable[[float], float], x: float, scale: float, *, clamp: bool) -> list[float]:
    """Return the masses of four bins of [0, 3]: what lies outside goes to the ends, or nowhere."""
    below = [cdf((edge - x) / scale) for edge in np.linspace(0, 3, 5).tolist()]
    if clamp:
        below[0], below[-1] = 0.0, 1.0
    whole = below[-1] - below[0]
    return [(high - low) / whole for low, high in itertools.pairwise(below)]


def normal_cdf(t: float) -> float:
    return float(norm.cdf(t))


@pytest.mark.parametrize("method", ["bounded-laplace", "laplace"])
@pytest.mark.parametrize("notion", [LIP("0.5"), LIP("2.5"), LDP("1.5")], ids=str)
def test_laplace_is_003_thm_1_and_eq_11(method: str, notion: Any) -> None:
    epsilon = float(notion.budget if isinstance(notion, LDP) else notion.epsilon)
    scale = 3 / epsilon if isinstance(notion, LDP) else printed_scale(epsilon, 2 / 15, 3)
    made = published(NUMBERS, notion, method, outputs=4)
    rows = [bins(laplace_cdf, x, scale, clamp=method == "laplace") for x in (0, 1, 3)]
    assert made.table.floats() == CLOSE(np.array(rows), abs=1e-9)


def test_laplace_by_instance_is_000_eq_26() -> None:
    """Alpha is not defined in the paper: it is taken so that the rarest value has eq. (25)."""
    rarest = 2 / 15
    alpha = (math.log((E - rarest) / (1 - rarest)) - 1) / rarest
    made = published(NUMBERS, LIP("1"), "laplace-by-instance", outputs=4)
    rows = []
    for x, mass in ((0, 8 / 15), (1, 5 / 15), (3, 2 / 15)):
        scale = 3 / (alpha * mass + 1)
        rows.append(bins(laplace_cdf, x, scale, clamp=False))
    assert made.table.floats() == CLOSE(np.array(rows), abs=1e-9)


def divergence(gamma: float, first: Any, second: Any) -> float:
    """Integrate the positive part of f - gamma g on a fine grid."""
    reach = 12 * max(first[1], second[1])
    y = np.linspace(min(first[0], second[0]) - reach, max(first[0], second[0]) + reach, 400_001)
    gap = norm.pdf(y, *first) - gamma * norm.pdf(y, *second)
    return float(np.trapezoid(np.maximum(gap, 0.0), y))


def printed_deviation(distance: float, sd: float, epsilon: float, delta: float) -> float:
    """000 Thm 5 and Cor 10: both E-divergences are at most delta."""

    def excess(noise: float) -> float:
        mine, output = (distance, noise), (0.0, math.hypot(sd, noise))
        gamma = math.exp(epsilon)
        return max(divergence(gamma, mine, output), divergence(gamma, output, mine)) - delta

    return float(brentq(excess, 0.05 * sd, 60 * sd, xtol=1e-7))


@pytest.mark.parametrize("form", ["ediv", "def5"])
def test_gaussian_is_000_thm_5_and_cor_10(form: Any) -> None:
    masses, points = np.array([8, 5, 2]) / 15, np.array([0.0, 1.0, 3.0])
    mean = float(masses @ points)
    sd = math.sqrt(float(masses @ (points - mean) ** 2))
    notion = ApproximateLIP("1", "0.05", form)
    common = printed_deviation(3 - mean, sd, 1, 0.05)
    own = [printed_deviation(abs(x - mean), sd, 1, 0.05) for x in points.tolist()]
    for method, deviations in (("gaussian", [common] * 3), ("gaussian-by-instance", own)):
        made = published(NUMBERS, notion, method, outputs=4)
        rows = [
            bins(normal_cdf, x, s, clamp=True)
            for x, s in zip(points.tolist(), deviations, strict=True)
        ]
        assert made.table.floats() == CLOSE(np.array(rows), abs=1e-5)


def test_gaussian_baselines_are_those_of_000_section_iv() -> None:
    notion = ApproximateLDP("0.8", "0.01")
    classical = 3 * math.sqrt(2 * math.log(1.25 / 0.01)) / 0.8

    def analytic(s: float) -> float:
        half, shift = 3 / (2 * s), 0.8 * s / 3
        return float(norm.cdf(half - shift) - math.exp(0.8) * norm.cdf(-half - shift)) - 0.01

    exact = float(brentq(analytic, 0.1, 100, xtol=1e-10))
    for scale, deviation in (("classical", classical), ("analytic", exact)):
        made = published(NUMBERS, notion, "gaussian", scale=scale, outputs=4)
        rows = [bins(normal_cdf, x, deviation, clamp=True) for x in (0, 1, 3)]
        assert made.table.floats() == CLOSE(np.array(rows), abs=1e-6)


# --- merging --------------------------------------------------------------------------------------


class Print:
    """002 Algorithm 1 and eq. (6) to (10) in fractions, with the names of the paper."""

    def __init__(
        self, joint: ll.Joint, lower: float, upper: float, ratio: float = math.inf
    ) -> None:
        whole = Fraction(sum(map(sum, joint.counts)))
        self.p_sx = [[Fraction(cell) / whole for cell in row] for row in joint.counts]
        self.symbols = range(len(self.p_sx[0]))
        self.lower, self.upper, self.ratio = lower, upper, ratio

    def lifts(self, group: Sequence[int]) -> list[float]:
        mass = sum(row[x] for row in self.p_sx for x in group)
        return [float(sum(row[x] for x in group) / sum(row) / mass) for row in self.p_sx]

    def safe(self, group: Sequence[int]) -> bool:
        psi, lam = min(self.lifts(group)), max(self.lifts(group))
        if self.ratio < math.inf:
            return lam / psi <= math.exp(self.ratio) + 1e-12
        return math.exp(-self.lower) <= psi + 1e-12 and lam <= math.exp(self.upper) + 1e-12

    def risk(self, group: Sequence[int], *, meant: bool) -> float:
        psi, lam = min(self.lifts(group)), max(self.lifts(group))
        if self.ratio < math.inf:
            return lam / psi
        if self.lower == self.upper:
            return max(math.log(lam), abs(math.log(psi)))
        return lam + 1 / psi if meant else lam + psi

    def watchdog(self) -> tuple[list[list[int]], list[int]]:
        low = [x for x in self.symbols if self.safe([x])]
        return [[x] for x in low], [x for x in self.symbols if x not in low]

    def algorithm_1(self, *, meant: bool) -> list[list[int]]:
        _, rest = self.watchdog()
        found: list[list[int]] = []
        while rest and (meant or not self.safe(rest)):  # line 4
            group = [max(rest, key=lambda x: self.risk([x], meant=meant))]
            rest.remove(group[0])
            while rest and not self.safe(group):
                best = min(rest, key=lambda x: self.risk([*group, x], meant=meant))
                group.append(best)
                rest.remove(best)
            found.append(group)
        found += [rest] if rest else []
        while len(found) > 1 and not self.safe(found[-1]):  # line 12
            last = found.pop()
            nearest = min(found, key=lambda other: self.risk(last + other, meant=meant))
            found.remove(nearest)
            found.append(last + nearest)
        return found


def groups_of(made: ll.Mechanism) -> set[frozenset[int]]:
    columns = made.table.floats().T
    assert set(np.unique(columns)) <= {0.0, 1.0}
    return {frozenset(np.flatnonzero(column).tolist()) for column in columns}


SIDES = [(LIP("0.5"), 0.5, 0.5, math.inf), (ALIP(lower="1.3", upper="0.7"), 1.3, 0.7, math.inf),
         (LDP("1"), 0.0, 0.0, 1.0)]  # fmt: skip


@pytest.mark.parametrize(("notion", "lower", "upper", "ratio"), SIDES, ids=lambda each: str(each))
def test_merging_is_002_eq_8_and_algorithm_1(
    notion: Any, lower: float, upper: float, ratio: float
) -> None:
    several = 0
    for joint in [LEAKING, *random_joints(30, 3, 9, 3)]:
        text = Print(joint, lower, upper, ratio)
        low, high = text.watchdog()
        expected = {frozenset(group) for group in [*low, high] if group}
        assert groups_of(published(joint, notion, "watchdog")) == expected
        for reading in ("printed", "meant"):
            found = groups_of(published(joint, notion, "subset-merging", reading=reading))
            subsets = text.algorithm_1(meant=reading == "meant")
            assert found == {frozenset(group) for group in [*low, *subsets]}
            several += len(subsets) > 1
    assert several


def test_algorithm_1_as_it_is_meant_gives_the_stated_utility_and_may_leak() -> None:
    """002 section 4.2: about 0.73 of H(X) at lambda = 1/2, epsilon = 1; every budget "is kept".

    The mean of 40 random joints has a standard error of 0.006, so 0.02 is three of them.
    """
    rng = np.random.default_rng(11)
    names = ll.Alphabet.of(range(5)), ll.Alphabet.of(range(17))
    shares, broken = [], 0
    for _ in range(40):
        joint = ll.Joint.from_rows(*names, rng.integers(1, 2**32, (5, 17)).tolist())
        made = published(joint, LIP("0.5"), "subset-merging", reading="meant")
        assert made.origin is not None
        masses = joint.prior.floats()
        shares.append(made.origin.objective / -float(masses @ np.log(masses)))
        asked = ALIP(lower="2.6", upper="1.4")
        wide = design_as_published(joint, asked, method="subset-merging", reading="meant")
        broken += not asked.certify(wide.channel, joint).holds
    assert np.mean(shares) == CLOSE(0.73, abs=0.02)
    assert broken, "lines 12 to 15 never take in a symbol of low risk"
    with pytest.raises(InputError, match="add as_published"):
        design(LEAKING, LIP("0.4"), method="subset-merging", reading="meant")


def information(matrix: Floats, masses: Floats) -> float:
    joint = matrix * masses[:, None]
    both = joint.sum(axis=0) * masses[:, None]
    kept = joint > 0
    return float((joint[kept] * np.log(joint[kept] / both[kept])).sum())


def least_entropy(text: Print, group: list[int]) -> float | None:
    """002 eq. (25) and (26) by brute force: every vertex, and a linear programme."""
    size = len(group)
    p_s = np.array([float(sum(row)) for row in text.p_sx])
    p_x = np.array([float(sum(row[x] for row in text.p_sx)) for x in group])
    given = np.array([[float(row[x]) for x in group] for row in text.p_sx]) / p_x
    rows = np.vstack([-np.eye(size), given - math.exp(text.upper) * p_s[:, None],
                      math.exp(-text.lower) * p_s[:, None] - given])  # fmt: skip
    vertices = []
    for active in itertools.combinations(range(len(rows)), size - 1):
        system = np.vstack([rows[list(active)], np.ones(size)])
        if abs(np.linalg.det(system)) > 1e-10:
            v = np.linalg.solve(system, np.r_[np.zeros(size - 1), 1.0])
            if (rows @ v <= 1e-10).all():
                vertices.append(np.clip(v, 0, None))
    if not vertices:
        return None
    columns = np.array(vertices).T
    costs = -np.where(columns > 0, columns * np.log(np.where(columns > 0, columns, 1)), 0).sum(0)
    found = linprog(costs, A_eq=columns, b_eq=p_x)
    return math.inf if found.fun is None else float(found.fun)


@pytest.mark.parametrize(("notion", "lower", "upper"), [(n, a, b) for n, a, b, _ in SIDES[:2]],
                         ids=["lip", "alip"])  # fmt: skip
def test_subset_response_is_002_algorithm_2(notion: Any, lower: float, upper: float) -> None:
    kinds = dict.fromkeys(("several", "answered", "merged", "none"), 0)
    for joint in [LEAKING, *random_joints(40, 3, 6, 5)]:
        text = Print(joint, lower, upper)
        masses = joint.prior.floats()
        for reading in ("printed", "meant"):
            subsets = text.algorithm_1(meant=reading == "meant")
            costs = [least_entropy(text, group) for group in subsets]
            kinds["several"] += len(subsets) > 1

            def make(joint: ll.Joint = joint, reading: str = reading) -> ll.Mechanism:
                return design_as_published(joint, notion, method="subset-response", reading=reading)

            if math.inf in costs:  # line 21: the programme has no solution
                kinds["none"] += 1
                with pytest.raises(InputError, match=r"programme \(26\) has no solution"):
                    make()
            elif None in costs:  # lines 17 and 18: no posterior at all
                kinds["merged"] += 1
                low, _ = text.watchdog()
                expected = {frozenset(group) for group in [*low, *subsets]}
                assert groups_of(make()) == expected
            else:
                kinds["answered"] += 1
                entropy = -float(masses @ np.log(masses))
                expected_information = entropy - sum(cost for cost in costs if cost is not None)
                found = information(make().table.floats(), masses)
                assert found == CLOSE(expected_information, abs=1e-5)
    assert kinds["several"]
    assert kinds["answered"]
    assert kinds["none"] + kinds["merged"], kinds


def test_optimal_response_is_002_eq_12() -> None:
    for joint in random_joints(4, 3, 5, 6):
        text, masses = Print(joint, 0.3, 0.2), joint.prior.floats()
        cost = least_entropy(text, list(text.symbols))
        assert cost is not None
        made = published(joint, ALIP(lower="0.3", upper="0.2"), "optimal-response")
        entropy = -float(masses @ np.log(masses))
        assert information(made.table.floats(), masses) == CLOSE(entropy - cost, abs=1e-5)


def test_centralised_is_001_prop_5() -> None:
    """The least squared error of a count with N p / E <= E[S | Y] <= N - N (1 - p) / E.

    A linear programme: outputs are posterior means, the ends of the range and the counts within.
    """
    people, share = 5, 0.1
    made = published(survey(people, "0.1"), LIP("1"), "centralised")
    masses = np.array([math.comb(5, s) * share**s * (1 - share) ** (5 - s) for s in range(6)])
    low, high = people * share / E, people - people * (1 - share) / E
    means = [low, high, *(s for s in range(6) if low < s < high)]
    pairs = list(itertools.product(range(6), means))
    gain = [-((mean - people * share) ** 2) for _, mean in pairs]
    rows = [[float(s == row) for s, _ in pairs] for row in range(6)]
    rows += [[(s - mean) * (mean == column) for s, mean in pairs] for column in means]
    found = linprog(gain, A_eq=rows, b_eq=[*masses, *([0.0] * len(means))])
    assert found.fun is not None
    error = people * share * (1 - share) + found.fun
    table = made.table.floats() * masses[:, None]
    counts = np.arange(6)
    true = float(masses @ counts**2 - ((counts @ table) ** 2 / table.sum(axis=0)).sum())
    assert true == CLOSE(error, abs=1e-9)
    assert true == CLOSE(0.1089, abs=1e-4)
    assert isinstance(made.notion, ALIP)
    assert float(made.notion.upper) == CLOSE(1.90048, abs=1e-5)
    honest = design(survey(people, "0.1"), LIP("1"), method="centralised")
    assert honest.certificate.holds


# --- what no paper prints -------------------------------------------------------------------------

TRANSCRIBED = {
    *("response", "binary", "sampling", "k-rr", "oue", "laplace", "bounded-laplace"),
    *("laplace-by-instance", "gaussian", "gaussian-by-instance", "watchdog", "subset-merging"),
    *("subset-response", "optimal-response", "centralised"),
}


def test_every_published_form_is_compared_here() -> None:
    assert {key for key, entry in DESIGNS.items() if entry.published} == TRANSCRIBED
    for entry in DESIGNS.values():
        assert set(entry.published) <= set(entry.notions), entry.key
        if entry.accepts("as_published"):
            assert entry.published, entry.key


@pytest.mark.parametrize(
    "key", [k for k, e in DESIGNS.items() if not e.published and "prior" in e.contexts]
)
def test_what_no_paper_prints_is_refused(key: str) -> None:
    for notion in (LIP("1"), LDP("1"), ApproximateLIP("1", "0.01")):
        if notion.name in DESIGNS[key].notions:
            with pytest.raises(NotDefined, match=r"the papers do not have it; for .* they have"):
                design_as_published(RARE, notion, method=key)


@pytest.mark.parametrize(
    ("method", "notion", "options", "said"),
    [
        ("binary", LDP("1"), {}, "printed for lip"),
        ("bounded-laplace", ALIP(lower="1", upper="2"), {}, "printed for lip, ldp"),
        ("k-rr", LIP("1"), {}, "printed for ldp"),
        ("sampling", ApproximateLDP("1", "0.01"), {}, "printed for lip_def5"),
        ("subset-response", LDP("1"), {}, "printed for lip, alip"),
        ("bounded-laplace", LIP("1"), {"scale": "smallest"}, "no paper prints this scale"),
        ("laplace", LIP("1"), {"scale": "every-epsilon"}, "no paper prints this scale"),
        ("sampling", ApproximateLIP("1", "0.01"), {"rate": "exact"}, "not the published rate"),
        ("laplace-by-instance", LIP("1"), {"weight": 0.5}, "has no such option"),
        ("subset-merging", LIP("1"), {"reading": "loud"}, "use printed or meant"),
    ],
)
def test_what_a_paper_prints_otherwise_is_refused(
    method: str, notion: Any, options: dict[str, Any], said: str
) -> None:
    context = ll.Prior.from_counts({0: 3, 1: 2}) if method == "binary" else NUMBERS
    context_of_merging = LEAKING if method.startswith("subset") else context
    with pytest.raises((InputError, NotDefined), match=said):
        design_as_published(context_of_merging, notion, method=method, **options)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"scale": "published"}, True),
        ({"scale": 0.3}, True),
        ({"scale": "every-epsilon"}, False),
    ],
)
def test_a_refusal_names_the_published_form_only_where_there_is_one(
    options: dict[str, Any], named: bool
) -> None:
    even = ll.Prior.from_counts({0: 1, 1: 1})
    wide = {"domain": (0, 2), "sensitivity": "data", "outputs": 64, **options}
    with pytest.raises(ll.NotCertified) as refusal:
        design(even, LIP("0.5"), method="bounded-laplace", **wide)
    assert ("design_as_published" in str(refusal.value)) is named
    assert "smallest budget that would pass: alip(" in str(refusal.value)


def test_what_is_given_is_not_called_published() -> None:
    def mine(context: Any, _: Any) -> Any:
        return np.full((3, 3), 1 / 3) if len(context.inputs) == 3 else None

    given: list[tuple[Any, dict[str, Any]]] = [
        (mine, {}),
        ("laplace", {"scale": 0.3, "outputs": 8}),
        ("sampling", {"rate": 0.5}),
    ]
    for method, options in given:
        made = design_as_published(NUMBERS, LIP("1"), method=method, **options)
        assert made.origin is not None
        assert any(said.startswith("as given: asked for lip(1)") for said in made.origin.remarks)
