"""From a context and a notion to a mechanism: what is dropped, kept, said and proved."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import liftlock as ll
from liftlock import Mechanism, Step
from liftlock._solver.problem import Optimality
from liftlock.designs import DESIGNS, api, best, design, design_as_published, usual_method
from liftlock.designs.goal import usual_utility
from liftlock.designs.request import discretise, true_guarantee
from liftlock.errors import InputError
from liftlock.model import context_from_data
from liftlock.notions import MaxLift
from liftlock.utility import CustomUtility, Distortion, Mean

RARE = ll.Prior.from_probabilities({1: "0.1", 2: "0.2", 3: "0.7"})


@pytest.mark.parametrize(
    ("utility", "expected"),
    [
        ("mean", 0.2904695421),
        ("histogram", 0.3287611726),
        ("mutual-information", 0.1977374041),
        ("hamming", 0.2230448981),
    ],
)
def test_the_optimum_of_a_known_case(utility: str, expected: float) -> None:
    made = design(RARE, ll.LIP("1"), utility=utility)
    assert made.origin is not None
    assert made.origin.objective == pytest.approx(expected, abs=1e-10)
    assert made.origin.gap is not None
    assert made.origin.gap <= 1e-9


def test_what_cannot_occur_is_left_out_for_lifts_and_kept_for_ldp() -> None:
    prior = ll.Prior.from_counts({"a": 3, "b": 0, "c": 5})
    lip = design(prior, ll.LIP("1"), method="safe-response")
    assert lip.channel.inputs.labels == ("a", "c")
    assert lip.origin is not None
    assert "left out because they never occur: 'b'" in lip.origin.remarks
    ldp = design(prior, ll.LDP("1"), method="k-rr")
    assert ldp.channel.inputs.labels == ("a", "b", "c")


def test_many_that_cannot_occur_are_counted() -> None:
    prior = ll.Prior.from_counts({x: int(x < 2) for x in range(10)})
    made = design(prior, ll.LIP("1"), method="safe-response")
    assert made.origin is not None
    assert any(remark.endswith("2, 3, 4, 5, 6 and 3 more") for remark in made.origin.remarks)


def test_a_utility_of_all_symbols_follows_what_is_left_out() -> None:
    """The same mechanism and number as for the prior without the symbol that never occurs."""
    full = ll.Prior.from_counts({1: 1, 2: 2, 5: 0, 3: 7})
    loss = np.arange(16.0).reshape(4, 4) % 5
    own = CustomUtility(lambda v: float(1 - (v**2).sum()), symbols=4)
    pairs: list[tuple[Any, Any]] = [
        (Mean((1.0, 2.0, 5.0, 3.0)), Mean((1.0, 2.0, 3.0))),
        (Distortion.of(loss, "wxyz"), Distortion.of(loss[[0, 1, 3]], "wxyz")),
        (own, "histogram"),
    ]
    for ours, theirs in pairs:
        made = design(full, ll.LIP("1"), utility=ours, method="safe-response")
        other = design(RARE, ll.LIP("1"), utility=theirs, method="safe-response")
        assert made.origin is not None
        assert other.origin is not None
        assert made.origin.objective == pytest.approx(other.origin.objective, abs=1e-12)


def test_a_utility_of_other_symbols_is_refused_at_once() -> None:
    for utility in (Mean((1.0, 2.0)), Distortion.of(np.zeros((2, 2)), "ab")):
        with pytest.raises(InputError, match=r"of 3 symbols, .* for 2"):
            design(RARE, ll.LIP("1"), utility=utility, method="safe-response")


@pytest.mark.parametrize(
    "notion",
    [
        ll.LIP("0"),
        ll.ALIP(lower="0", upper="3"),
        ll.ALIP(lower="3", upper="0"),
        ll.LDP("0"),
        MaxLift("0"),
    ],
    ids=str,
)
def test_a_budget_of_zero_says_nothing_and_says_so(notion: Any) -> None:
    made = design(RARE, notion, utility="histogram")
    assert made.table.outputs.labels == ("nothing",)
    assert made.origin is not None
    assert made.origin.objective == pytest.approx(0.46)
    assert made.origin.gap == 0
    assert "a budget of 0 allows nothing else" in made.origin.remarks
    assert (
        "the mechanism is constant: its output says nothing about the value" in made.origin.remarks
    )


def test_a_constant_output_of_a_distortion_is_its_best_reproduction() -> None:
    made = design(RARE, ll.LIP("0"), utility="hamming")
    assert made.table.outputs.labels == (3,)


def test_a_budget_of_zero_for_a_secret_proves_no_optimum() -> None:
    """X = (S, T) with T independent of S: T could be released, so the constant is not optimal."""
    joint = ll.Joint.from_counts(
        {0: {"00": 1, "01": 1, "10": 0, "11": 0}, 1: {"00": 0, "01": 0, "10": 1, "11": 1}}
    )
    made = design(joint, ll.LIP("0"))
    assert made.origin is not None
    assert made.origin.gap is None
    assert "tiny" in made.origin.remarks[0]
    tiny = design(joint, ll.LIP("1e-9"))
    assert tiny.origin is not None
    assert tiny.origin.objective == pytest.approx(np.log(2), abs=1e-6)


def test_as_published_names_the_true_budgets() -> None:
    """Largest lift e^-1 (1 + (e - 1)/0.1) = 6.689085..., smallest 1/e."""
    made = design_as_published(RARE, ll.LIP("1"), method="response")
    assert made.certificate.guarantee == "alip(lower=1.0000000001, upper=1.9004770979)"
    assert made.origin is not None
    said = "as published: asked for lip(1), its true guarantee"
    assert any(remark.startswith(said) for remark in made.origin.remarks)
    with pytest.raises(ll.NotCertified, match=r"upper=1.9004770979\); to make it under that"):
        design(RARE, ll.LIP("1"), method="response")


def test_an_option_asks_for_the_published_form_too() -> None:
    joint = ll.Joint.from_counts(
        {"s": {"a": 25, "b": 23, "c": 2}, "t": {"a": 20, "b": 20, "c": 10}}
    )
    made = design_as_published(joint, ll.LIP("0.4"), method="watchdog")
    # The risky symbol c alone: P(c | s) / P(c) is 1/3 for s and 5/3 for t.
    assert made.certificate.guarantee == "alip(lower=1.0986122887, upper=0.5108256238)"
    with pytest.raises(ll.NotCertified, match="design_as_published"):
        design(joint, ll.LIP("0.4"), method="watchdog", as_published=True)


def test_true_guarantees_at_the_edges() -> None:
    shut = ll.Channel.from_rows({"a": {"x": 1, "y": 0}, "b": {"x": "1/2", "y": "1/2"}})
    fair = ll.Prior.uniform("ab")
    notion, said = true_guarantee(shut, ll.LIP("1"), fair)
    assert str(notion) == "eps_upper(0.6931471806)"
    assert "rules some secret out" in said
    assert notion.certify(shut, fair).holds
    with pytest.raises(InputError, match="keeps no finite budget"):
        true_guarantee(shut, ll.LDP("1"), fair)
    coin = ll.Channel.from_rows({"a": {"x": "3/4", "y": "1/4"}, "b": {"x": "1/4", "y": "3/4"}})
    assert str(true_guarantee(coin, ll.LDP("9"), fair)[0]) == "ldp(1.0986122887)"


def test_unknown_options_and_methods() -> None:
    with pytest.raises(InputError, match="has no such option: 'magic'"):
        design(RARE, ll.LIP("1"), magic=1)
    with pytest.raises(InputError, match="unknown method"):
        design(RARE, ll.LIP("1"), method="magic")
    with pytest.raises(InputError, match="unknown utility"):
        design(RARE, ll.LIP("1"), utility="joy")


def test_a_search_that_was_stopped_says_so() -> None:
    entry = DESIGNS["safe-response"]

    def slow(*arguments: Any, **options: Any) -> Any:
        draft = entry.make(*arguments, **options)
        return replace(
            draft, optimality=Optimality("h", 1.0, 0.4, 1.2, seconds=9.87, stopped="work")
        )

    made = design(RARE, ll.LIP("1"), utility="histogram", method=replace(entry, make=slow))
    assert made.origin is not None
    (said,) = [remark for remark in made.origin.remarks if "stopped" in remark]
    assert said.startswith("stopped early at its limit of work, with a proved gap of 0.0")
    # The gap is that of the locked channel: cost 0.4432..., bound 0.4, no release 0.46.
    assert made.origin.nothing is not None
    assert made.origin.gap == pytest.approx((made.origin.objective - 0.4) / made.origin.nothing)


def test_print_says_what_it_is_worth(tmp_path: Any) -> None:
    made = design(RARE, ll.LIP("1"), utility="histogram")
    text = str(made)
    assert text.startswith("channel from 3 inputs to 3 outputs\nCERTIFIED: lip(epsilon=1)")
    assert "histogram error (mean squared, per person): 0.328761, proved within" in text
    assert "no release 0.46, no noise 0" in text
    assert "no output points at a crowd smaller than 30 % of the population" in text
    made.save(tmp_path / "m.json")
    assert str(Mechanism.load(tmp_path / "m.json")) == text


@pytest.mark.parametrize(
    ("context", "words"),
    [
        (ll.Ball.of(RARE, "0.02"), "the centre of the ball"),
        (ll.Family.of([RARE, ll.Prior.uniform([1, 2, 3])]), "the even mixture of the priors"),
    ],
    ids=["ball", "family"],
)
def test_a_set_of_priors_says_whose_utility_it_is(context: Any, words: str) -> None:
    made = design(context, ll.LIP("1"), method="k-rr")
    assert made.origin is not None
    said = f"the utility is that under {words}, which is liftlock's choice; over the set it is"
    assert any(remark.startswith(said) for remark in made.origin.remarks)


@pytest.mark.parametrize("epsilon", ["1e-7", "1e-9", "1e-11", "1e-13"])
def test_tiny_budgets_are_kept_by_mixing_as_much_as_it_takes(epsilon: str) -> None:
    joint = ll.Joint.from_counts({"u": {"a": 5, "b": 1, "c": 3}, "v": {"a": 2, "b": 4, "c": 3}})
    for context in (joint, ll.Prior.from_counts({"a": 5, "b": 1, "c": 300})):
        for method in ("optimal", "subset-merging"):
            made = ll.design(context, ll.LIP(epsilon), method=method)
            assert made.certificate.holds


# --- numbers --------------------------------------------------------------------------------------

WAGES = ll.continuous.from_data([20, 22, 25, 30, 31, 40, 44, 60, 80, 200], domain=(0, 100))


def test_a_prior_on_the_line_is_cut() -> None:
    assert discretise(WAGES, 4) == WAGES.discretise(4)
    assert discretise(WAGES, 4, "width") == WAGES.discretise(4, "width")
    assert discretise(RARE) is RARE
    assert len(discretise(ll.continuous.normal(0, 1)).inputs) == 512
    for options in ({"bins": 4}, {"spacing": "mass"}):
        with pytest.raises(InputError, match="only a continuous prior is discretised"):
            design(RARE, ll.LIP("1"), **options)


def test_the_usual_utility_and_method() -> None:
    assert usual_utility(WAGES.discretise(4)) == "mean"
    assert usual_utility(RARE) == "mutual-information"
    assert usual_method(ll.LIP("1")) == "optimal"
    assert usual_method(ll.ApproximateLIP("1", "0.1")) is None


def test_resolution_and_clamping_are_remarked() -> None:
    made = design(WAGES, ll.LIP("1"), bins=5, method="sampling")
    assert made.origin is not None
    said = " ".join(made.origin.remarks)
    assert "5 bins of equal probability on [0, 100]" in said
    assert "10 % above the domain is clamped to its ends" in said
    assert "discretising adds" in said


def test_the_best_of_all_that_fit() -> None:
    notion = ll.ApproximateLIP("1", "0.05")
    tried: list[Step] = []
    found = best(WAGES, notion, bins=5, watch=tried.append)
    assert found.origin is not None
    assert found.certificate.holds
    keys = [step.stage.removeprefix("trying ") for step in tried]
    assert {"optimal", "sampling"} <= set(keys)
    keys.remove("optimal")  # which is tried without the delta
    assert all(notion.name in DESIGNS[key].notions and DESIGNS[key].keeps for key in keys)
    pure = design(WAGES, ll.LIP("1"), bins=5).origin
    assert pure is not None
    assert found.origin.objective <= pure.objective + 1e-9
    for key in keys:
        try:
            other = design(WAGES, notion, bins=5, method=key).origin
        except ll.LiftlockError:
            continue
        assert other is not None
        assert found.origin.objective <= other.objective + 1e-9
    assert design(WAGES, notion, bins=5).channel == found.channel
    with pytest.raises(InputError, match="no applicable method has this option"):
        best(WAGES, notion, bins=5, colour="red")


def test_a_mechanism_that_needs_no_delta(monkeypatch: pytest.MonkeyPatch) -> None:
    few = {key: DESIGNS[key] for key in ("optimal", "sampling")}
    monkeypatch.setattr(api, "designs_for", lambda _: few)
    for notion in (ll.ApproximateLIP("1", "1e-9", "def5"), ll.ApproximateLDP("1", "1e-9")):
        found = best(WAGES, notion, bins=4)
        assert found.origin is not None
        assert found.origin.method == "optimal"
        assert found.certificate.guarantee.startswith(notion.name)
        assert found.origin.gap is None
        assert any("delta is not used" in said for said in found.origin.remarks)
        assert Mechanism.from_data(found.to_data()).certificate.holds
    assert ll.LIP("1").without_delta == ll.LIP("1")
    assert ll.ApproximateLIP("1", "0.01").without_delta == ll.LIP("1")
    assert ll.ApproximateLDP("2", 0).without_delta == ll.LDP("2")


def test_nothing_fits() -> None:
    with pytest.raises(ll.NotDefined, match="designing"):
        best(RARE, ll.notions.registry.make_notion("breach", {"rho1": "0.1", "rho2": "0.5"}))


def test_the_best_does_not_give_values_away_unless_asked_to() -> None:
    """Outage would win by a share delta, and reveal a share delta of the people."""
    asked = ll.ApproximateLIP("1", "0.05")
    found = best(WAGES, asked, bins=5)
    named = design(WAGES, asked, method="outage", bins=5)
    assert found.origin is not None
    assert named.origin is not None
    assert found.origin.method != "outage"
    assert named.origin.objective < found.origin.objective


def test_what_leaks_where_delta_lets_it_is_said() -> None:
    prior = WAGES.discretise(5)
    made = design(prior, ll.ApproximateLIP("1", "0.05"), method="outage")
    assert made.origin is not None
    # Somebody else's own output is one that x never gives, and it proves that somebody.
    low = min(prior.fractions)
    said = f"where delta lets it, it leaks eps_lower infinite and eps_upper {-math.log(low):.4g}"
    assert said in made.origin.remarks


@pytest.mark.parametrize("context", [[1, 2, 3], {"a": 1}, "prior.csv", None])
def test_what_is_no_context_is_said_in_one_line(context: Any) -> None:
    for bins in (None, 8):
        with pytest.raises(InputError, match=type(context).__name__):
            design(context, ll.LIP("1"), bins=bins)


@pytest.mark.parametrize("notion", ["lip=1", 1, 0.5])
def test_what_is_no_notion_is_said_in_one_line(notion: Any) -> None:
    for make in (design, best):
        with pytest.raises(InputError, match="not a notion of privacy"):
            make(RARE, notion)
    with pytest.raises(InputError, match="not a notion of privacy"):
        design_as_published(RARE, notion, method="response")


def test_the_price_of_cutting_is_right_for_numbers_far_from_zero() -> None:
    shares = []
    for mean in (0, 10**9):
        made = design(ll.continuous.normal(mean, 1), ll.LIP("1"), method="gaussian", bins=16)
        assert made.origin is not None
        shares += [said for said in made.origin.remarks if said.startswith("discretising adds")]
    assert (
        shares == ["discretising adds 0.0214 to the squared error, 2.1 % of the variance of X"] * 2
    )


def test_a_delta_that_is_not_used_is_said() -> None:
    made = design(WAGES, ll.ApproximateLIP("4", "0.05"), method="laplace", scale=1e6, bins=5)
    assert made.origin is not None
    assert any(remark.endswith(": delta is not used") for remark in made.origin.remarks)
    assert ", no outputs" in str(made.certificate)


@pytest.mark.parametrize(
    ("method", "notion", "options"),
    [
        ("quantile-blocks", ll.LIP("1"), {}),
        ("bounded-laplace", ll.LIP("1"), {"outputs": 24}),
        ("gaussian", ll.ApproximateLIP("1", "0.01"), {"outputs": 24}),
        ("laplace", ll.ApproximateLIP("1", "0.01", "def5"), {"outputs": 24}),
    ],
)
def test_the_finest_grid_is_certified(method: str, notion: Any, options: dict[str, Any]) -> None:
    prior = ll.continuous.lognormal(0, 0.8, domain=(0.01, 20)).discretise(4096)
    made = design(prior, notion, method=method, **options)
    assert made.certificate.holds
    rows = made.table.weights / 2.0**made.table.bits
    masses = np.array(prior.counts) / sum(prior.counts)
    output = masses @ rows
    if isinstance(notion, ll.LIP):
        lifts = rows / output
        assert np.exp(-1) - 1e-12 <= lifts.min()
        assert lifts.max() <= np.exp(1) + 1e-12
        return
    up = np.clip(rows - np.e * output, 0, None).sum(axis=1)
    down = np.clip(output - np.e * rows, 0, None).sum(axis=1)
    assert max(up.max() / (np.e if notion.form == "def5" else 1), down.max()) <= 0.01 + 1e-12


def test_a_fit_that_is_far_from_the_data_is_said_of_every_mechanism_under_it() -> None:
    atoms = [0.0] * 80 + [100.0] * 20
    far = ll.continuous.fit(atoms, distribution="normal", domain=(0, 100))
    stored = context_from_data(json.loads(json.dumps(far.discretise(6).to_data())))
    delta = ll.ApproximateLIP("1", "0.05")
    for made in (
        design(far, ll.LIP("1"), bins=6),
        design(stored, ll.LIP("1")),
        best(far, delta, bins=6),
        design_as_published(far, ll.LIP("1"), method="bounded-laplace", bins=6),
    ):
        assert made.origin is not None
        assert sum("is far from the data" in remark for remark in made.origin.remarks) == 1
    near = design(ll.continuous.from_data(atoms, domain=(0, 100)), ll.LIP("1"), bins=6)
    assert near.origin is not None
    assert not any("is far from the data" in remark for remark in near.origin.remarks)


@pytest.mark.parametrize("form", ["def5", "ediv", "joint"])
def test_the_true_delta_of_a_channel_is_one_that_it_keeps(form: str) -> None:
    channel = ll.Channel.from_rows(
        {"a": {0: "2/3", 1: "1/3"}, "b": {0: "1/7", 1: "6/7"}, "c": {0: "1/2", 1: "1/2"}}
    )
    prior = ll.Prior.from_counts({"a": 3, "b": 4, "c": 6})
    for epsilon in ("0.05", "0.1", "0.15", "0.2", "0.25", "0.3"):
        asked = ll.ApproximateLIP(epsilon, "0.001", form)
        true, _ = true_guarantee(channel, asked, prior)
        assert true.certify(channel, prior).holds
        assert float(true.budgets["delta"]) < 1
