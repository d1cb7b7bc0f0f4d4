"""Designs for every given value: as good as each by itself, and proved for those who see none."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

import liftlock as ll
from liftlock.errors import InputError, LiftlockError, NotDefined
from liftlock.model.alphabet import Label


def joint(draw: random.Random, least: int = 1) -> ll.Joint:
    return ll.Joint.from_counts(
        {s: {x: draw.randrange(least, 40) for x in "abc"} for s in ("ill", "well")}
    )


def some_context(seed: int, *, rest: bool = False) -> ll.Conditional:
    draw = random.Random(seed)
    return ll.Conditional.of({k: joint(draw) for k in "kmn"}, rest=joint(draw) if rest else None)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "notion", [ll.LIP("0.3"), ll.ALIP(lower="0.6", upper="0.2"), ll.LDP("0.5")]
)
def test_each_table_is_the_optimum_of_its_own_joint(seed: int, notion: ll.Notion) -> None:
    context = some_context(seed)
    made = ll.design(context, notion)
    assert made.origin is not None
    total = 0.0
    for k in context.given.labels:
        own = ll.design(context.context_of(k), notion)
        assert own.origin is not None
        total += float(context.masses[k]) * own.origin.objective
    assert made.origin.objective == pytest.approx(total, rel=1e-6, abs=1e-12)
    assert made.origin.gap is not None
    assert made.origin.gap <= 1e-6
    truth = 0.0
    for k in context.given.labels:
        own = ll.design(context.context_of(k), ll.LIP("20"))
        assert own.origin is not None
        assert own.origin.truth is not None
        truth += float(context.masses[k]) * own.origin.truth
    assert made.origin.truth == pytest.approx(truth)


@pytest.mark.parametrize("seed", range(4))
def test_for_those_who_do_not_see_it(seed: int) -> None:
    draw = random.Random(seed)
    # k goes with the secret, so that its own table tells of it.
    context = ll.Conditional.of(
        {
            "k": ll.Joint.from_counts({"ill": {"a": 40, "b": 9}, "well": {"a": 2, "b": 1}}),
            "m": ll.Joint.from_counts({"ill": {"a": 1, "b": 3}, "well": {"a": 9, "b": 45}}),
            "n": ll.Joint.from_counts(
                {s: {x: draw.randrange(1, 9) for x in "ab"} for s in ("ill", "well")}
            ),
        }
    )
    plain = ll.design(context, ll.LIP("0.4"))
    assert not plain.holds_without_given
    assert plain.origin is not None
    assert any("NOT kept" in remark for remark in plain.origin.remarks)
    blind = ll.design(context, ll.LIP("0.4"), blind=True)
    assert blind.holds_without_given
    assert blind.origin is not None
    assert blind.origin.objective < plain.origin.objective
    for known in (context, context.whole):
        assert ll.LIP("0.4").certify(blind.channel, known).holds
    # As little as it takes: half of the blend does not do.
    share = next(remark for remark in blind.origin.remarks if "law of all reports" in remark)
    assert float(share.split(" %")[0]) > 0


def test_a_rest_is_the_best_ldp_of_the_value() -> None:
    context = some_context(5, rest=True)
    made = ll.design(context, ll.ALIP(lower="0.9", upper="0.5"))
    rest: list[Label] = [("(other)", x) for x in "abc"]
    own = ll.design(context.context_of("(other)").prior, ll.LDP("0.5"))
    assert made.table.restrict(rest).floats().tolist() == own.table.floats().tolist()


def test_groups_hold_for_each_of_their_members() -> None:
    draw = random.Random(2)
    context = ll.Conditional.of({k: joint(draw) for k in "kmn"}, groups={"k": 1, "m": 1, "n": 2})
    made = ll.design(context, ll.LIP("0.2"))
    assert len(made.table.inputs) == 6
    assert made.certificate.holds
    for k in "kmn":
        part = next(each for each in context.parts(made.table) if each.label == k)
        assert ll.LIP("0.2").certify(part.channel, part.context).holds


def test_several_guarantees_given_a_value() -> None:
    context = some_context(7)
    own = ll.Conditional.of(
        {k: context.context_of(k).prior for k in context.given.labels}, context.masses
    )
    made = ll.design(context, [ll.LIP("0.3"), (ll.LDP("1"), own)])
    assert ll.LIP("0.3").certify(made.channel, context).holds
    assert ll.LDP("1").certify(made.channel, own).holds
    assert ll.Mechanism.from_data(made.to_data()).guarantees == made.guarantees
    with pytest.raises(NotDefined):
        ll.design(context, [ll.LIP("0.3"), (ll.LDP("1"), context.prior)])
    other = ll.Conditional.of(
        {k: ll.Prior.uniform("abc") for k in "kmn"}, groups={k: k for k in "kmn"}
    )
    with pytest.raises(InputError):
        ll.design(context, [ll.LIP("0.3"), (ll.LDP("1"), other)])


def test_other_methods_and_notions() -> None:
    context = some_context(1)
    made = ll.design(context, ll.LDP("1"), method="k-rr")
    assert made.origin is not None
    assert made.origin.method == "k-rr"
    assert made.origin.gap is None
    assert ll.best(context, ll.LIP("0.5")).certificate.holds
    attempts: list[Callable[[], object]] = [
        lambda: ll.design(context, ll.LIP("0.5"), method="oue"),
        lambda: ll.design(context.pooled, ll.LIP("0.5"), blind=True),
        lambda: ll.design(context, ll.LIP("0.5"), weights={"a": 1}),
    ]
    for attempt in attempts:
        with pytest.raises(LiftlockError):
            attempt()


def test_locking_a_channel_of_ones_own() -> None:
    context = some_context(3)
    channel = ll.Channel.identity(context.pairs.labels)
    with pytest.raises(LiftlockError):
        ll.lock(channel, ll.LIP("0.5"), context)
    made = ll.lock(ll.design(context, ll.LIP("0.3")).table, ll.LIP("0.3"), context)
    assert made.certificate.holds
    assert set(made.release(["a", "b"], ["k", "m"])) <= set(made.table.outputs.labels)
