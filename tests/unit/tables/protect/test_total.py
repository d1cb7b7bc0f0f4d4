"""One budget for all columns: split, and proved on the product channel over the rows."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter, defaultdict
from fractions import Fraction
from typing import Any

import pytest

from liftlock import LIP, Prior, design
from liftlock.errors import LiftlockError, NotComposable, NotDefined
from liftlock.notions import ALIP, LDP, Notion, parse_claim
from liftlock.tables.protect import Protection, TotalBudget
from liftlock.tables.protect.design import with_noise
from liftlock.tables.protect.plan import prepare
from liftlock.tables.protect.spec import ColumnSpec
from tests.unit.tables.protect.memory import Memory, lifts, rows_of, within


def people() -> list[tuple[str, str, str]]:
    chance = random.Random(11)
    found = []
    for _ in range(900):
        told = chance.choice("fm")
        job = chance.choices("abc", [5, 3, 1] if told == "f" else [1, 3, 5])[0]
        town = chance.choices("xyz", [3, 2, 1] if told == "f" else [2, 2, 2])[0]
        found.append((told, job, town))
    return found


PEOPLE = people()
SOURCE = Memory.of(
    100,
    s=[row[0] for row in PEOPLE],
    job=[row[1] for row in PEOPLE],
    town=[row[2] for row in PEOPLE],
    k=[*"kl"] * 450,
)


def protect(total: Notion, secret: str | None = "s", **options: Any) -> Protection:
    specs = [ColumnSpec(name, total, secret) for name in ("job", "town")]
    return prepare(SOURCE, specs, total=total, curve=False, **({"seconds": 8} | options))


def product(protection: Protection, secret: str | None) -> Any:
    """Return the extreme lifts of both reports together, from the rows and the integers."""
    job, town = (rows_of(each.mechanism) for each in protection.columns)
    rows = Counter((told if secret else job_of, job_of, at) for told, job_of, at in PEOPLE)

    def chances(job_of: str, at: str) -> dict[Any, Fraction]:
        return {(y, z): p * q for y, p in job[job_of].items() for z, q in town[at].items()}

    return lifts(rows, chances)


@pytest.mark.parametrize(
    ("total", "lower", "upper"),
    [(LIP("0.5"), 0.5, 0.5), (ALIP(lower="0.9", upper="0.3"), 0.9, 0.3)],
)
def test_both_columns_together_keep_the_total(total: Notion, lower: float, upper: float) -> None:
    protection = protect(total)
    assert within(product(protection, "s"), lower, upper)
    bound = protection.total
    assert bound is not None
    assert [leak.secret for leak in bound.leaks] == ["s"]
    assert not protection.exceeded_secrets()
    # The search is no worse than an equal split, and says what that would keep.
    kept, equal = (
        math.prod(getattr(share, name) for share in bound.shares) for name in ("kept", "equal_kept")
    )
    assert kept >= equal
    for share, column in zip(bound.shares, protection.columns, strict=True):
        assert column.mechanism.notion == share.notion
        origin = column.mechanism.origin
        assert origin is not None
        assert any("keep" in remark and str(total) in remark for remark in origin.remarks)


def test_equal_shares_of_half_the_total_each_would_not_have_kept_it() -> None:
    """Composition is no addition: half and half may tell more than the whole, or less."""
    wide = prepare(
        SOURCE,
        [ColumnSpec(name, LIP("0.75")) for name in ("job", "town")],
        curve=False,
        seconds=8,
    )
    worst = max(float(leak.account["lip"].value) for leak in wide.combined)
    bound = protect(LIP("1.5"), None).total
    assert bound is not None
    assert {leak.secret for leak in bound.leaks} == {"job", "town"}
    for leak in bound.leaks:
        assert leak.account["lip"].value.upper is not None
        assert leak.account["lip"].value.upper <= Fraction(3, 2)
    equal = bound.shares[0].equal
    assert equal is not None
    halves = float(equal.budgets["epsilon"])
    assert (halves < 0.75) == (worst > 1.5)


def test_given_weights_are_kept() -> None:
    found = protect(LIP("0.5"), weights={"town": 3}).total
    assert found is not None
    assert found.weighted
    job, town = (float(share.notion.budgets["epsilon"]) for share in found.shares)
    assert town == pytest.approx(3 * job, rel=0.05)
    # Nothing larger in that proportion keeps the total, to a step of the search.
    with pytest.raises(NotComposable):
        TotalBudget(parse_claim(f"lip={0.6 * job:.6f}"), found.shares, found.leaks)


def test_ldp_has_a_total_too() -> None:
    """Beside a secret it speaks of the secret: of both reports, given each of its values."""
    protection = protect(LDP("1"))
    job, town = (rows_of(each.mechanism) for each in protection.columns)
    given: dict[str, defaultdict[Any, Fraction]] = {told: defaultdict(Fraction) for told in "fm"}
    for told, job_of, at in PEOPLE:
        for (y, p), (z, q) in itertools.product(job[job_of].items(), town[at].items()):
            given[told][y, z] += p * q
    sizes = Counter(row[0] for row in PEOPLE)
    ratios = [
        float(given["f"][pair] * sizes["m"] / (given["m"][pair] * sizes["f"]))
        for pair in given["f"] | given["m"]
    ]
    assert max(map(abs, map(math.log, ratios))) <= 1 + 1e-12
    assert max(map(abs, map(math.log, ratios))) > 0.8


@pytest.mark.parametrize(
    ("total", "specs", "options", "what"),
    [
        (LIP("1"), 1, {}, "a total budget for one column"),
        (LIP("1"), 2, {"together": True}, "protected together"),
        (LIP("1"), 2, {"weights": {"k": 1}}, "a weight of a column that is not protected"),
        (LIP("1"), 2, {"weights": {"job": 0}}, "a weight is not positive"),
        (parse_claim("mutual-information=1"), 2, {}, "ask for lip, alip or ldp"),
    ],
)
def test_what_cannot_be_is_refused(total: Notion, specs: int, options: Any, what: str) -> None:
    wanted = [ColumnSpec(name, total, "s") for name in ("job", "town")][:specs]
    with pytest.raises(LiftlockError, match=what):
        prepare(SOURCE, wanted, total=total, curve=False, seconds=5, **options)


def test_too_many_tuples_are_refused_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("liftlock.tables.protect.leakage.MOST_TUPLES", 5)
    with pytest.raises(NotDefined, match=r"more than 5 combinations .*--rare"):
        protect(LIP("1"))


def test_columns_that_say_together_what_neither_says_alone() -> None:
    """The secret is one value xor the other: no share of each is small enough without noise."""
    chance = random.Random(5)
    rows = [(chance.randrange(2), chance.randrange(2)) for _ in range(800)]
    source = Memory.of(
        64,
        s=[str(job ^ town) for job, town in rows],
        job=[f"j{job}" for job, _ in rows],
        town=[f"t{town}" for _, town in rows],
    )
    specs = [ColumnSpec(name, LIP("0.5"), "s") for name in ("job", "town")]
    protection = prepare(source, specs, total=LIP("0.5"), curve=False, seconds=6)
    bound = protection.total
    assert bound is not None
    jobs, towns = (rows_of(each.mechanism) for each in protection.columns)
    counts = Counter((str(job ^ town), f"j{job}", f"t{town}") for job, town in rows)

    def chances(job: str, town: str) -> dict[Any, Fraction]:
        return {(y, z): p * q for y, p in jobs[job].items() for z, q in towns[town].items()}

    assert within(lifts(counts, chances), 0.5, 0.5)
    assert any(share.noise > 0 for share in bound.shares)
    assert all(share.kept > 0.05 for share in bound.shares)
    assert any("noise" in share.text for share in bound.shares)


def test_noise_draws_without_looking_at_the_value() -> None:
    prior = Prior.from_counts({"a": 5, "b": 3, "c": 2})
    made = design(prior, LIP("1"))
    less = with_noise(made, Fraction(1, 4))
    before, after = rows_of(made), rows_of(less)
    outputs = {y for line in before.values() for y in line}
    masses = {"a": Fraction(1, 2), "b": Fraction(3, 10), "c": Fraction(1, 5)}
    for y in outputs:
        mean = sum(masses[x] * before[x].get(y, Fraction(0)) for x in masses)
        for x in masses:
            wanted = Fraction(3, 4) * before[x].get(y, Fraction(0)) + mean / 4
            assert abs(float(after[x].get(y, Fraction(0)) - wanted)) < 2.0**-48
    assert less.origin is not None
    assert made.origin is not None
    assert less.origin.objective < made.origin.objective
    assert less.origin.gap is None
