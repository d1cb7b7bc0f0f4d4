"""What every design owes: its budget, on every context, and a clear answer where it has none.

The guarantee is checked a second time here, from the integers of the table alone, in fractions and
with an exponential of fifty digits, without the code that certifies.
"""

from __future__ import annotations

import functools
import importlib
import json
import math
import operator
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args

import mpmath as mp
import numpy as np
import pytest

import liftlock.designs
from liftlock import Conditional, Context, Joint, Mechanism, Prior, Table, continuous
from liftlock._solver.problem import restrict_to_support
from liftlock.designs import DESIGNS, Design, design, design_as_published
from liftlock.designs.base import PRIOR_KINDS
from liftlock.errors import InputError, NotCertified, NotDefined
from liftlock.model import Kind, representative
from liftlock.model.structured import SupportChannel, to_dense
from liftlock.notions import REGISTRY, Notion
from liftlock.utility import make_utility, value_of_no_noise, value_of_no_release
from tests.contracts import worlds
from tests.docs.pages import ROOT

BUDGETS = ("0.01", "0.3", "1", "2.5", "8")
SIZES = (2, 3, 5, 8)
UTILITIES = ("mutual-information", "histogram", "mean", "guess", "absolute")
QUICK = {"gap": 1e-3, "seconds": 1.0, "outputs": 24}
"""Designs that search are asked to stop early, and noise is cut coarsely; budgets are kept too."""
DELTAS = {"0.01": "1e-6", "0.3": "0.001", "1": "0.01", "2.5": "0.2", "8": "0.7"}

OF_PRIORS = [key for key, entry in DESIGNS.items() if "profiles" not in entry.contexts]
"""Designs for profiles have contracts of their own, in `test_profile_designs`."""

CLAIMS = [
    pytest.param(entry, kind, name, id=f"{key}-{kind}-{name}")
    for key in OF_PRIORS
    for entry in (DESIGNS[key],)
    for kind in entry.contexts
    for name in entry.notions
]


def make_notion(name: str, budget: str) -> Notion:
    """Make a notion of any number of budgets from one number."""
    if "alpha" in REGISTRY[name].parameters:  # no alpha-lift is below 1
        return REGISTRY[name].make("2", 1 + Fraction(budget))
    values = {
        "lower": budget,
        "upper": Fraction(budget) * 2 / 3,
        "delta": DELTAS.get(budget, "0.05"),
    }
    return REGISTRY[name].make(*(values.get(key, budget) for key in REGISTRY[name].parameters))


def options(entry: Design) -> dict[str, Any]:
    return {name: value for name, value in QUICK.items() if entry.accepts(name)}


def cases(kind: Kind, salt: str) -> Iterator[tuple[Context, str, str]]:
    """Return contexts, budgets and utilities: every size, flavour and budget at least once."""
    start = sum(map(ord, salt))
    for step in range(5):
        place = start + step
        size = SIZES[step % len(SIZES)]
        flavour = worlds.FLAVOURS[place % len(worlds.FLAVOURS)]
        found = worlds.context(kind, size, flavour, place)
        yield found, BUDGETS[step], UTILITIES[place % len(UTILITIES)]


# --- the guarantee ------------------------------------------------------------------------------


@pytest.mark.parametrize(("entry", "kind", "name"), CLAIMS)
def test_every_design_keeps_its_budget(entry: Design, kind: Kind, name: str) -> None:
    done = 0
    for context, budget, utility in cases(kind, f"{entry.key} {name}"):
        notion = make_notion(name, budget)
        make = design if entry.keeps else design_as_published
        try:
            made = make(context, notion, utility=utility, method=entry.key, **options(entry))
        except (InputError, NotDefined):
            assert entry.needs, "only a design that says what it needs may refuse a context"
            continue
        done += 1
        check(made, context, notion, utility, keeps=entry.keeps)
        assert made.origin is not None
        assert made.origin.method == entry.key
    assert done, "no context satisfied what it needs"


def check(
    made: Mechanism, context: Context, notion: Notion, utility: str, *, keeps: bool = True
) -> None:
    """Check a mechanism by itself, and against what was asked for."""
    assert made.certificate.holds
    if isinstance(made.channel, Table):
        weights = made.channel.weights.astype(object)
        assert {sum(row) for row in weights.tolist()} == {2**52}
    if keeps:
        assert (made.certificate.notion, made.notion.budgets) == (notion.name, notion.budgets)
    if isinstance(context, Conditional):
        for each in given_each(made, context):
            confirm(each)
        return
    kept = context if notion.name == "ldp" else restrict_to_support(context)[0]
    assert made.channel.inputs.labels == kept.inputs.labels
    confirm(made)
    goal = make_utility(utility, kept.inputs)
    masses = representative(kept).floats()
    ends = sorted((value_of_no_release(goal, masses), value_of_no_noise(goal, masses)))
    origin = made.origin
    assert origin is not None
    slack = 1e-9 * (1 + ends[1])
    if isinstance(made.channel, SupportChannel):
        slack *= 1e6  # the utility of an encoding without a table is simulated
    assert ends[0] - slack <= origin.objective <= ends[1] + slack
    assert origin.gap is None or origin.gap >= 0
    if origin.bound is not None:
        better = origin.bound - origin.objective
        assert (better if goal.larger_is_better else -better) >= -slack


def given_each(made: Mechanism, context: Conditional) -> Iterator[Mechanism]:
    """Return what is released given each value: the rows of its table, under its own joint."""
    table = made.table
    assert context.uses_given(table.inputs)
    for label in context.given.labels:
        known = restrict_to_support(context.context_of(label))[0]
        pairs = [(context.group_of(label), x) for x in known.inputs.labels]
        rows = table.weights[[table.inputs.index(pair) for pair in pairs]]
        own = Table.of(known.inputs, table.outputs, rows.tolist(), bits=table.bits)
        yield Mechanism.prove(own, made.notion, known)


def confirm(made: Mechanism) -> None:
    """Confirm a lift guarantee or LDP from the integers, without the code that certified it."""
    name, budgets = made.certificate.notion, made.notion.budgets
    if name in ("lip_ediv", "lip_def5", "lip_joint", "ldp_delta"):
        confirm_delta(made, name, Fraction(budgets["epsilon"]), Fraction(budgets["delta"]))
        return
    if name not in ("lip", "alip", "eps_upper", "eps_lower", "ldp"):
        return
    try:
        columns, _ = likelihoods(made)
    except NotDefined:
        assert isinstance(made.channel, SupportChannel), "only an encoding is too large to write"
        return
    with mp.workdps(50):
        limit = {key: mp.exp(_real(Fraction(text))) for key, text in budgets.items()}
        if name == "ldp":
            for column in columns:
                assert mp.mpf(max(column)) <= limit["budget"] * mp.mpf(min(column))
            return
        top = {"lip": "epsilon", "alip": "upper", "eps_upper": "budget"}.get(name)
        bottom = {"lip": "epsilon", "alip": "lower", "eps_lower": "budget"}.get(name)
        for counts in secret_counts(made.context):
            total = sum(counts)
            for column in columns:
                mean = mp.mpf(sum(map(operator.mul, counts, column)))
                found = [given for count, given in zip(counts, column, strict=True) if count]
                assert top is None or mp.mpf(max(found) * total) / mean <= limit[top]
                assert bottom is None or mp.mpf(min(found) * total) / mean * limit[bottom] >= 1


def confirm_delta(made: Mechanism, name: str, epsilon: Fraction, delta: Fraction) -> None:
    """Sum what exceeds E times the other distribution over the outputs, at fifty digits."""
    columns, scale = likelihoods(made)
    with mp.workdps(50):
        ratio, most = mp.exp(_real(epsilon)), _real(delta)
        rows = [[mp.mpf(entry) / scale for entry in row] for row in zip(*columns, strict=True)]
        if name == "ldp_delta":
            for row in rows:
                for other in rows:
                    assert excess(row, other, ratio) <= most
            return
        for counts in secret_counts(made.context):
            total = sum(counts)
            shares = [mp.mpf(count) / total for count in counts]
            mean = [
                mp.mpf(sum(map(operator.mul, counts, column))) / (scale * total)
                for column in columns
            ]
            for share, row in zip(shares, rows, strict=True):
                if not share:
                    continue
                up, down = excess(row, mean, ratio), excess(mean, row, ratio)
                up = up / ratio if name == "lip_def5" else up
                part = share if name == "lip_joint" else 1
                assert part * max(up, down) <= most


def excess(row: list[Any], other: list[Any], ratio: Any) -> Any:
    return sum(max(p - ratio * q, mp.mpf(0)) for p, q in zip(row, other, strict=True))


def _real(value: Fraction) -> Any:
    return mp.mpf(value.numerator) / mp.mpf(value.denominator)


def likelihoods(made: Mechanism) -> tuple[list[list[int]], int]:
    """Return P(y | s) of every secret that occurs, for every output that does, and its scale.

    The columns are integers; divided by the scale they are the probabilities.
    """
    channel, context = to_dense(made.channel), made.context
    scale = math.lcm(*channel.totals)
    exact = [
        [int(weight) * (scale // total) for weight in row]
        for row, total in zip(channel.weights.tolist(), channel.totals, strict=True)
    ]
    if isinstance(context, Joint):
        distributions = [(row, sum(row)) for row in context.counts if sum(row)]
        common = math.lcm(*(total for _, total in distributions))
        exact = [
            [
                sum(map(operator.mul, distribution, column)) * (common // total)
                for column in zip(*exact, strict=True)
            ]
            for distribution, total in distributions
        ]
        scale *= common
    sizes = {len(exact), *(len(counts) for counts in secret_counts(context))}
    assert len(sizes) == 1, "one row for each mass"
    return [list(column) for column in zip(*exact, strict=True) if any(column)], scale


def secret_counts(context: Context) -> Iterator[tuple[int, ...]]:
    """Return the masses of the secrets, as counts, under some priors that a context allows."""
    if isinstance(context, Joint):
        yield tuple(count for count in context.secret_prior.counts if count)
        return
    for prior in worlds.members(context):
        yield prior.counts


@pytest.mark.parametrize("key", OF_PRIORS)
def test_many_symbols(key: str) -> None:
    entry = DESIGNS[key]
    kind = entry.contexts[0]
    context = worlds.context(kind, 64, "random", 1)
    make = design if entry.keeps else design_as_published
    try:
        made = make(context, make_notion(entry.notions[0], "1"), method=key, **options(entry))
    except (InputError, NotDefined):
        assert entry.needs
        return
    assert made.certificate.holds
    assert len(made.channel.inputs) == 64
    confirm(made)


@pytest.mark.parametrize("key", [key for key, entry in DESIGNS.items() if not entry.keeps])
def test_a_published_formula_is_refused_or_true(key: str) -> None:
    entry = DESIGNS[key]
    refused = 0
    for context, budget, utility in cases(entry.contexts[0], key):
        notion = make_notion(entry.notions[0], budget)
        true = design_as_published(context, notion, utility=utility, method=key)
        refusal: NotCertified | None = None
        try:
            confirm(design(context, notion, utility=utility, method=key))
        except NotCertified as error:
            refusal = error
        if refusal is not None:
            refused += 1
            assert refusal.smallest.startswith(true.certificate.notion)
            assert "design_as_published" in refusal.smallest
    assert refused, "then it keeps its promise"


RIVALS = [key for key, entry in DESIGNS.items() if entry.keeps and "lip" in entry.notions]


@functools.cache
def optimum(kind: Kind, flavour: str, budget: str) -> Mechanism:
    """Return the optimal design for a small context, the same for all its rivals."""
    context = worlds.context(kind, 4, flavour, 3)
    return design(context, make_notion("lip", budget), utility="histogram", method="optimal")


@pytest.mark.parametrize("key", RIVALS)
@pytest.mark.parametrize("flavour", worlds.FLAVOURS)
def test_nothing_beats_the_optimum(key: str, flavour: str) -> None:
    entry = DESIGNS[key]
    kind = entry.contexts[0]
    context = worlds.context(kind, 4, flavour, 3)
    for budget in ("0.5", "1.5"):
        notion = make_notion("lip", budget)
        try:
            made = design(context, notion, utility="histogram", method=key)
        except (InputError, NotDefined):
            assert entry.needs
            continue
        best = optimum(kind, flavour, budget)
        assert made.origin is not None
        assert best.origin is not None
        assert best.origin.objective <= made.origin.objective + 1e-7
        assert best.origin.bound is not None
        assert best.origin.bound <= made.origin.objective + 1e-9


@pytest.mark.parametrize("key", OF_PRIORS)
def test_a_mechanism_survives_its_file(key: str) -> None:
    entry = DESIGNS[key]
    for context, budget, utility in cases(entry.contexts[0], key):
        make = design if entry.keeps else design_as_published
        try:
            made = make(
                context,
                make_notion(entry.notions[0], budget),
                utility=utility,
                method=key,
                **options(entry),
            )
        except (InputError, NotDefined):
            assert entry.needs
            continue
        again = Mechanism.from_data(json.loads(json.dumps(made.to_data())))
        assert again == made
        assert str(again) == str(made)
        return
    raise AssertionError("no context satisfied what it needs")


# --- numbers ------------------------------------------------------------------------------------

NUMERIC = [
    pytest.param(entry, name, id=f"{key}-{name}")
    for key, entry in DESIGNS.items()
    if "prior" in entry.contexts and entry.keeps
    for name in entry.notions
    if name in ("lip", "alip", "lip_ediv", "lip_def5", "ldp_delta")
]
LINES = (
    continuous.lognormal(0, 0.7, domain=(0.1, 8)),
    continuous.from_data([1, 1, 1, 2, 3, 3, 5, 8, 13, 21, 21, 34], domain=(0, 40)),
)


@pytest.mark.parametrize(("entry", "name"), NUMERIC)
def test_numbers_go_in_and_come_out(entry: Design, name: str) -> None:
    done = 0
    for prior, budget, spacing in zip(LINES, ("1", "2.5"), ("mass", "width"), strict=True):
        notion = make_notion(name, budget)
        context = prior.discretise(9, spacing)
        try:
            made = design(context, notion, method=entry.key, **options(entry))
        except (InputError, NotDefined):
            assert entry.needs
            continue
        if isinstance(made.channel, SupportChannel):
            continue
        done += 1
        confirm(made)
        values = np.array([-100.0, 0.3, 2.0, 7.99, 1e6])
        released = made.simulate(values, seed=1)
        assert isinstance(released, np.ndarray)
        assert released.dtype == np.float64
        assert ((released >= prior.lower) & (released <= prior.upper)).all()
        assert len(made.release([1.5, 2.5])) == 2
        assert np.all(np.diff(made.readings()[np.argsort(made.readings())]) >= 0)
        again = Mechanism.from_data(json.loads(json.dumps(made.to_data())))
        assert again == made
        assert np.array_equal(again.simulate(values, seed=1), released)
        assert made.origin is not None
        assert made.accuracy().squared >= made.origin.objective - 1e-9
    assert done or entry.needs or entry.key in ("oue", "sue", "hashing")


# --- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize("key", DESIGNS)
def test_other_contexts_and_notions_are_refused_clearly(key: str) -> None:
    entry = DESIGNS[key]
    notion = make_notion(entry.notions[0], "1")
    for kind in {*PRIOR_KINDS, "profiles"} - set(entry.contexts):
        with pytest.raises(NotDefined, match=f"the method {key} is not defined for .*; give"):
            design(worlds.context(kind, 3, "random", 0), notion, method=key)
    context = worlds.context(entry.contexts[0], 3, "random", 0)
    assert context.kind == entry.contexts[0]
    for name in set(REGISTRY) - set(entry.notions) - {"breach"}:
        other = make_notion(name, "0.5")
        with pytest.raises(NotDefined, match=f"the method {key} is not defined for the notion"):
            design(context, other, method=key)
    with pytest.raises(InputError, match="has no such option: 'magic'"):
        design(context, notion, method=key, magic=1)


def test_a_design_that_lies_is_caught() -> None:
    """The contract can fail: a design that keeps the value is not 1-LIP."""
    from dataclasses import replace

    honest = DESIGNS["safe-response"]

    def liar(context: Context, notion: Notion) -> Any:
        draft = honest.make(context, notion)
        return replace(draft, matrix=np.eye(len(context.inputs)))

    with pytest.raises(NotCertified):
        design(Prior.uniform("abc"), make_notion("lip", "1"), method=replace(honest, make=liar))


# --- completeness -------------------------------------------------------------------------------


def test_kinds_are_those_of_the_contexts() -> None:
    # Graphs and users with a prior each have designs of their own; a joint for each given value
    # has those of a joint.
    assert set(get_args(Kind)) == {*PRIOR_KINDS, "given", "profiles", "per-user"}
    for kind in PRIOR_KINDS:
        assert worlds.context(kind, 3, "random", 0).kind == kind


OWN = [key for key, entry in DESIGNS.items() if entry.make.__module__.startswith("liftlock.")]
"""All but those of plug-ins, whose files are elsewhere."""


@pytest.mark.parametrize("key", OWN)
def test_every_design_is_complete(key: str) -> None:
    entry = DESIGNS[key]
    module = importlib.import_module(entry.make.__module__)
    package, _, name = entry.make.__module__.rpartition(".")
    assert package in ("liftlock.designs.mechanisms", "liftlock.designs.noise")
    assert entry in [found for found in vars(module).values() if isinstance(found, Design)]
    # Which functions are names of the package is pinned in tests/golden/public_names.json.
    assert getattr(liftlock.designs, entry.make.__name__, entry.make) is entry.make
    folder = Path(*package.split(".")[1:])
    tests = [f"test_{of}.py" for of in (entry.make.__name__, name)]
    assert any((ROOT / "tests" / "unit" / folder / test).is_file() for test in tests)
    assert entry.summary
    assert entry.promises
    assert entry.source
    assert set(entry.notions) <= set(REGISTRY)
    assert set(entry.contexts) <= set(get_args(Kind))
    assert "Source:" in (entry.make.__doc__ or "") or "not in the papers" in entry.source
