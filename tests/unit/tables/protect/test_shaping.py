"""Cells that stay missing are in the guarantee; names of outputs change nothing else."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from liftlock import Alphabet, Joint, Mechanism
from liftlock.designs import design
from liftlock.errors import InputError, NotCertified, NotDefined
from liftlock.model.columns import MISSING_LABEL, ColumnEncoding
from liftlock.notions import ALIP, LDP, LIP, MaxLift, MinLift, Notion
from liftlock.tables.protect.context import learn_labels, learn_numbers
from liftlock.tables.protect.design import (
    design_column,
    with_missing,
    with_numbers,
    without_missing,
)
from liftlock.tables.protect.spec import Policy
from tests.unit.tables.protect.memory import Leak, lifts, rows_of, within

Cells = dict[tuple[str, str | None], int]


def joint_of(cells: Cells) -> Joint:
    learned = learn_labels("x", cells, Policy("keep"), secret="s")
    assert isinstance(learned.context, Joint)
    assert learned.fixed == MISSING_LABEL
    return learned.context


def truth(cells: Cells, distribution: dict[Any, dict[Any, Fraction]]) -> Leak:
    """Return the lifts when missing cells are left as they are."""

    def outputs(cell: Any) -> dict[Any, Fraction]:
        return {("missing",): Fraction(1)} if cell is None else distribution[cell]

    return lifts(cells, outputs)


@st.composite
def tables(draw: st.DrawFn) -> Cells:
    """Two or three secrets, two or three values, and missing cells for at least one secret."""
    secrets = ["s", "t", "u"][: draw(st.integers(2, 3))]
    values: list[str | None] = [None, "a", "b", "c"][: draw(st.integers(3, 4))]
    numbers = st.sampled_from([0, 1, 2, 5, 9, 40])
    cells = {(told, value): draw(numbers) for told in secrets for value in values}
    for told in secrets:
        assume(any(cells[told, value] for value in values))
    for value in values:
        assume(any(cells[told, value] for told in secrets))
    assume(sum(cells.values()) >= 2 * len(values))
    return {pair: count for pair, count in cells.items() if count}


NOTIONS = [LIP("1"), LIP("0.2"), ALIP(lower="1.3", upper="0.4"), MaxLift("0.5"), MinLift("0.6")]


def limits(notion: Notion) -> tuple[float, float]:
    budgets = {name: float(str(value)) for name, value in notion.budgets.items()}
    if isinstance(notion, MaxLift):
        return math.inf, budgets["budget"]
    if isinstance(notion, MinLift):
        return budgets["budget"], math.inf
    return budgets.get("lower", budgets.get("epsilon", 0)), budgets.get(
        "upper", budgets.get("epsilon", 0)
    )


@settings(max_examples=25)
@given(tables(), st.sampled_from(NOTIONS))
def test_the_whole_keeps_the_budget_or_missingness_alone_breaks_it(
    cells: Cells, notion: Notion
) -> None:
    try:
        joint = joint_of(cells)
    except InputError:
        assume(False)
        raise
    lower, upper = limits(notion)
    alone = lifts(cells, lambda cell: {cell is None: Fraction(1)})
    try:
        rest, left = without_missing(joint, MISSING_LABEL, notion)
    except InputError:
        # Nothing released would be the least to tell, and that already tells too much.
        assert not within(alone, lower - 1e-8, upper - 1e-8)
        return
    assert within(alone, lower, upper)
    core = design(rest, left, method="optimal", utility="histogram", seconds=2)
    whole = with_missing(core, joint, MISSING_LABEL, notion)
    assert whole.certificate.holds
    distribution = rows_of(whole)
    assert distribution.pop(MISSING_LABEL) == {MISSING_LABEL: 1}
    assert distribution == rows_of(core)
    assert within(truth(cells, distribution), lower, upper)
    assert whole.origin is not None
    assert whole.origin.bound is None


def test_one_secret_without_missing_cells_is_ruled_out_by_one() -> None:
    cells: Cells = {("s", None): 5, ("s", "a"): 20, ("t", "a"): 9, ("t", "b"): 20}
    joint = joint_of(cells)
    with pytest.raises(InputError, match="reveals more about the secret than the budget allows"):
        without_missing(joint, MISSING_LABEL, LIP("9"))
    rest, left = without_missing(joint, MISSING_LABEL, MaxLift("1"))
    whole = with_missing(design(rest, left), joint, MISSING_LABEL, MaxLift("1"))
    least, most = truth(cells, rows_of(whole))
    assert least is None
    assert math.log(most) <= 1


def test_more_than_the_whole_keeps_is_not_certified() -> None:
    cells: Cells = {("s", None): 9, ("s", "a"): 9, ("t", None): 9, ("t", "b"): 9, ("t", "a"): 1}
    joint = joint_of(cells)
    rest, _ = without_missing(joint, MISSING_LABEL, LIP("1"))
    loose = design(rest, LIP("3"), method="optimal", utility="histogram")
    with pytest.raises(NotCertified):
        with_missing(loose, joint, MISSING_LABEL, LIP("0.5"))


def test_notions_without_lifts_are_refused() -> None:
    joint = joint_of({("s", None): 2, ("s", "a"): 5, ("t", None): 1, ("t", "b"): 5})
    with pytest.raises(NotDefined, match="keeping cells missing"):
        without_missing(joint, MISSING_LABEL, LDP("1"))


def test_independent_missing_cells_cost_nothing() -> None:
    cells: Cells = {("s", None): 2, ("s", "a"): 6, ("t", None): 3, ("t", "b"): 9}
    rest, left = without_missing(joint_of(cells), MISSING_LABEL, ALIP(lower="1.3", upper="0.7"))
    assert MISSING_LABEL not in rest.inputs
    assert float(str(left.budgets["lower"])) == pytest.approx(1.3, abs=1e-8)
    assert Fraction(str(left.budgets["lower"])) <= Fraction("1.3")
    assert Fraction(str(left.budgets["upper"])) <= Fraction("0.7")


# --- numbers ------------------------------------------------------------------------------------


def numeric(missing: Policy | None) -> tuple[Any, Mechanism]:
    chance = np.random.default_rng(2)
    secrets = ["s" if at % 3 else "t" for at in range(600)]
    shift = np.array([0 if told == "s" else 15 for told in secrets])
    numbers = np.clip(chance.normal(40, 15, 600) + shift, 0, 100)
    if missing is not None:
        numbers[::7] = np.nan
    learned = learn_numbers("pay", numbers, secrets, missing, secret="s", bins=5, domain=(0, 100))
    return learned, design_column(learned, LIP("0.4"), seconds=5).core


def renamed(before: Mechanism, after: Mechanism) -> Counter[tuple[Fraction, ...]]:
    """Return how often each column of probabilities is in one and not in the other."""
    columns = []
    for made in (before, after):
        distributions = rows_of(made)
        outputs = made.table.outputs.labels
        order = before.table.inputs.labels
        columns.append(
            Counter(tuple(distributions[x].get(y, Fraction(0)) for x in order) for y in outputs)
        )
    columns[0].subtract(columns[1])
    return +columns[0]


def test_outputs_are_named_by_the_mean_of_the_numbers_that_give_them() -> None:
    learned, core = numeric(None)
    made = with_numbers(core, learned.encoding.columns[0], np.array(learned.points))
    assert not renamed(core, made)
    assert made.certificate.guarantee == core.certificate.guarantee
    names = made.table.outputs.labels
    assert all(isinstance(name, float) for name in names)
    assert list(names) == sorted(map(float, map(str, names)))
    prior = learned.context.prior
    masses = [Fraction(n, prior.total) for n in prior.counts]
    distribution = rows_of(made)
    for name in names:
        parts = [
            mass * distribution[cell].get(name, Fraction(0))
            for mass, cell in zip(masses, learned.encoding.columns[0].bins, strict=True)
        ]
        mean = sum(float(p) * x for p, x in zip(parts, learned.points, strict=True))
        assert name == pytest.approx(mean / float(sum(parts)), abs=0.05)


@pytest.mark.parametrize("policy", ["category", "keep"])
def test_missing_numbers_come_out_missing_and_the_guarantee_is_of_the_whole(policy: Any) -> None:
    learned, _ = numeric(Policy(policy))
    made = design_column(learned, LIP("0.4"), seconds=5).mechanism
    assert made.encoding == learned.encoding
    assert made.certificate.holds
    joint = learned.context
    cells = {
        (told, label): count
        for told, row in zip(joint.secrets.labels, joint.counts, strict=True)
        for label, count in zip(joint.inputs.labels, row, strict=True)
        if count
    }
    distribution = rows_of(made)
    assert within(lifts(cells, distribution.__getitem__), 0.4, 0.4)
    if policy == "keep":
        assert distribution[MISSING_LABEL] == {MISSING_LABEL: 1}
        assert all(
            MISSING_LABEL not in distribution[cell] for cell in learned.encoding.columns[0].bins
        )


def test_outputs_that_mostly_mean_missing_are_one() -> None:
    code = ColumnEncoding("pay", missing=MISSING_LABEL, edges=(0.0, 5.0, 9.0), bins=("low", "high"))
    inputs = Alphabet.of(["low", "high", MISSING_LABEL])
    joint = Joint.from_rows(Alphabet.of(["s", "t"]), inputs, [[3, 2, 5], [2, 3, 6]])
    truth_told = design(joint, LIP("4"), method="optimal")
    made = with_numbers(truth_told, code, np.array([2.0, 7.0]))
    assert made.table.outputs.labels == (2.0, 7.0, MISSING_LABEL)
    nearly_all = Joint.from_rows(Alphabet.of(["s", "t"]), inputs, [[1, 1, 500], [1, 1, 40]])
    silent = design(nearly_all, LIP("0.000001"), method="optimal")
    made = with_numbers(silent, code, np.array([2.0, 7.0]))
    assert made.table.outputs.labels == (MISSING_LABEL,)
