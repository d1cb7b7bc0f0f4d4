"""The watchdog: partition, crowd, repair, and where the published one breaks its budget."""

from __future__ import annotations

import numpy as np
import pytest

from liftlock import Joint, Prior
from liftlock.designs import lock, watchdog
from liftlock.errors import InputError, NotCertified
from liftlock.notions import ALIP, LDP, LIP, L1Lift, L1LiftInverse, MaxLift, Notion
from tests.unit.designs.mechanisms.test_merging import NOTIONS, random_joint

LEAKS = Joint.from_counts({"s": {"a": 25, "b": 23, "c": 2}, "t": {"a": 20, "b": 20, "c": 10}})


def test_the_counterexample_is_repaired() -> None:
    """One risky symbol, alone in its crowd: it leaks ln 3 at a budget of 0.4."""
    published = watchdog(LEAKS, LIP("0.4"), as_published=True)
    assert "does not keep the budget" in published.remarks[-1]
    with pytest.raises(NotCertified) as refused:
        lock(published, LIP("0.4"), LEAKS)
    assert "1.0986" in refused.value.smallest
    ours = watchdog(LEAKS, LIP("0.4"))
    assert lock(ours, LIP("0.4"), LEAKS).certificate.holds
    assert "'b'" in ours.remarks[-1]


def test_low_risk_symbols_are_released_as_they_are() -> None:
    draft = watchdog(LEAKS, LIP("2"))
    assert (draft.matrix == np.eye(3)).all()
    assert draft.remarks == ("every symbol is of low risk: X is released as it is",)


@pytest.mark.parametrize("notion", NOTIONS, ids=str)
def test_every_notion_is_kept(notion: Notion) -> None:
    rng = np.random.default_rng(6)
    for number in range(12):
        joint = random_joint(rng, 3, 7, number % 2)
        merged = watchdog(joint, notion)
        randomised = watchdog(joint, notion, high="randomise")
        assert lock(merged, notion, joint).blend == 0
        assert lock(randomised, notion, joint).certificate.holds
        # The random answer says what the merged one says: the same posteriors.
        posteriors = {tuple(column / column.sum()) for column in merged.matrix.T}
        for column in randomised.matrix.T:
            if column.any():
                share = column / column.sum()
                assert min(np.abs(share - p).max() for p in posteriors) < 1e-12


def test_the_crowd_answers_with_its_own_labels_at_random() -> None:
    joint = Joint.from_counts({"s": {"a": 4, "b": 0, "c": 8}, "t": {"a": 0, "b": 4, "c": 8}})
    draft = watchdog(joint, LIP("0.5"), high="randomise")
    assert draft.outputs.labels == ("a", "b", "c")
    assert draft.matrix.tolist() == [[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 1]]


def test_when_the_secret_is_x_itself() -> None:
    prior = Prior.from_counts({"a": 1, "b": 2, "c": 7})
    assert len(watchdog(prior, LIP("3")).outputs) == 1  # any output would rule the others out
    raised = watchdog(prior, MaxLift("ln 4"))  # a crowd of a quarter of the people is enough
    assert raised.outputs.labels == ("a | b", "c")
    assert lock(raised, MaxLift("ln 4"), prior).certificate.holds


def test_ldp_speaks_of_ratios() -> None:
    joint = Joint.from_counts({"s": {"a": 4, "b": 2, "c": 4}, "t": {"a": 2, "b": 4, "c": 4}})
    assert watchdog(joint, LDP("ln 2")).outputs.labels == ("a", "b", "c")
    assert watchdog(joint, LDP("0.69")).outputs.labels == ("a | b", "c")
    assert watchdog(joint, ALIP(lower="0.35", upper="0.35")).outputs.labels == ("a | b", "c")


def test_symbols_that_never_occur_are_hidden_under_ldp() -> None:
    joint = Joint.from_counts({"s": {"a": 4, "b": 0, "c": 2}, "t": {"a": 4, "b": 0, "c": 2}})
    draft = watchdog(joint, LDP("1"))
    assert lock(draft, LDP("1"), joint).certificate.holds
    assert draft.outputs.labels in {("a | b", "c"), ("a", "b | c")}


def test_further_notions() -> None:
    one, other = L1Lift("0.5"), L1LiftInverse("0.5")
    rng = np.random.default_rng(7)
    differ = 0
    for _ in range(40):
        joint = random_joint(rng, 3, 6, 1)
        draft = watchdog(joint, one, also=other)
        assert lock(draft, one, joint).certificate.holds
        assert lock(draft, other, joint).certificate.holds
        differ += len(draft.outputs) < len(watchdog(joint, one).outputs)
    assert differ


def test_an_unknown_choice_is_refused() -> None:
    with pytest.raises(InputError, match="merge or randomise"):
        watchdog(LEAKS, LIP("1"), high="hide")  # type: ignore[arg-type]
