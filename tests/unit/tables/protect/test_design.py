"""The best mechanism in the time given."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from liftlock import Alphabet, Joint, Mechanism, Prior, Step
from liftlock.designs import DESIGNS, design
from liftlock.errors import InputError, LiftlockError, NotDefined
from liftlock.model.structured import SupportChannel
from liftlock.notions import LIP, ApproximateLIP, L1Lift
from liftlock.tables.protect import design as choosing
from liftlock.tables.protect.design import choose_design

PRIOR = Prior.from_counts({"a": 7, "b": 5, "c": 3, "d": 1})
JOINT = Joint.from_rows(Alphabet.of(["s", "t"]), Alphabet.of([*"abc"]), [[5, 2, 1], [1, 3, 4]])


class Clock:
    """A clock that only designing moves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, cost: float, proved: bool = False) -> None:
        self.now = 0.0
        self.asked: list[tuple[str, float | None]] = []
        monkeypatch.setattr("liftlock.tables.protect.design.time.monotonic", lambda: self.now)

        def slow(context: Any, notion: Any, **options: Any) -> Mechanism:
            self.asked.append((options["method"], options.get("seconds")))
            self.now += cost
            options.pop("seconds", None)
            made = design(context, notion, **options)
            assert made.origin is not None
            origin = made.origin if proved else replace(made.origin, gap=None, bound=None)
            return replace(made, origin=origin)

        monkeypatch.setattr(choosing, "design", slow)


def objective(made: Mechanism) -> float:
    assert made.origin is not None
    return made.origin.objective


def test_a_proved_optimum_needs_no_rivals(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch, cost=1, proved=True)
    assert choose_design(PRIOR, LIP("1"), seconds=8).certificate.holds
    assert clock.asked == [("optimal", 6.0)]


def test_without_proof_the_best_of_all_methods_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    Clock(monkeypatch, cost=0)
    for context, utility, larger in ((PRIOR, "histogram", False), (JOINT, None, True)):
        made = choose_design(context, LIP("1/2"), utility=utility)
        found = []
        kind = "prior" if isinstance(context, Prior) else "joint"
        for key, entry in DESIGNS.items():
            fits = entry.keeps and kind in entry.contexts and "lip" in entry.notions
            if fits and not entry.on_request:
                try:
                    other = design(context, LIP("1/2"), utility=utility, method=key)
                except LiftlockError:
                    continue
                if not isinstance(other.channel, SupportChannel):
                    found.append(objective(other))
        assert objective(made) == pytest.approx(max(found) if larger else min(found))
        assert made.certificate.holds
        assert made.certificate.guarantee == "lip(epsilon=0.5)"
        assert made.origin is not None
        assert f"the best of {len(found)} methods" in made.origin.remarks[-1]


def test_no_method_begins_after_the_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch, cost=4)
    choose_design(PRIOR, LIP("1"), seconds=10)
    assert len(clock.asked) == 3
    limits = [limit for _, limit in clock.asked if limit is not None]
    assert all(limit <= 10 for limit in limits)


def test_one_mechanism_is_found_however_short_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch, cost=100)
    assert choose_design(PRIOR, LIP("1"), seconds=0.001).certificate.holds
    assert clock.asked == [("optimal", 1.0)]


def test_a_named_method_is_the_only_one(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch, cost=1)
    said: list[Step] = []
    made = choose_design(PRIOR, LIP("1"), method="safe-response", seconds=3, watch=said.append)
    assert made.origin is not None
    assert made.origin.method == "safe-response"
    assert clock.asked == [("safe-response", None)]
    assert said == [Step("designing (safe-response)")]


def test_encodings_do_not_fit_into_cells() -> None:
    assert isinstance(design(PRIOR, LIP("1"), method="oue").channel, SupportChannel)
    with pytest.raises(NotDefined, match="reports sets of values"):
        choose_design(PRIOR, LIP("1"), method="oue")


def test_unknown_methods_are_refused() -> None:
    with pytest.raises(InputError, match="unknown"):
        choose_design(PRIOR, LIP("1"), method="magic")


def test_notions_that_nothing_fits_are_refused_in_words() -> None:
    with pytest.raises(LiftlockError):
        choose_design(JOINT, ApproximateLIP(epsilon="1", delta="0.1"))
    assert choose_design(JOINT, L1Lift("1"), seconds=5).certificate.holds


def test_the_first_refusal_is_told_if_no_method_can(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **options: Any) -> Mechanism:
        raise InputError(f"{options['method']} cannot")

    monkeypatch.setattr(choosing, "design", refuse)
    with pytest.raises(InputError, match="optimal cannot"):
        choose_design(PRIOR, LIP("1"))
