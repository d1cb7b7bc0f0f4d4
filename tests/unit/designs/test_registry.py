"""Designs by name: found, matched with contexts and notions, and asked for their options."""

from __future__ import annotations

from typing import Any

import pytest

import liftlock as ll
from liftlock.designs import DESIGNS, Design, find_design
from liftlock.designs.base import check_fits, check_options, option_meanings, option_names
from liftlock.errors import InputError, NotDefined


def make(
    context: Any, notion: Any, *, utility: Any = None, speed: int = 1, watch: Any = None
) -> None:
    """A design that does nothing."""


PLAIN = Design("plain", make, "does nothing", "nothing", "none", ("lip",), ("prior", "ball"))


def test_names_are_forgiving() -> None:
    assert find_design(" Safe_Response ").key == "safe-response"
    with pytest.raises(InputError, match="unknown method: 'magic'; use one of optimal, "):
        find_design("magic")


def test_keys_are_those_of_the_table() -> None:
    assert all(key == entry.key for key, entry in DESIGNS.items())
    assert next(iter(DESIGNS)) == "optimal"


def test_what_does_not_fit_is_refused() -> None:
    prior = ll.Prior.uniform("ab")
    check_fits(PLAIN, prior, ll.LIP("1"))
    joint = ll.Joint.from_counts({"s": {"a": 1, "b": 1}})
    with pytest.raises(
        NotDefined, match=r"plain is not defined for a joint .*give a prior or a ba"
    ):
        check_fits(PLAIN, joint, ll.LIP("1"))
    with pytest.raises(NotDefined, match="the notion ldp; use lip"):
        check_fits(PLAIN, prior, ll.LDP("1"))


def test_options_are_those_of_the_function() -> None:
    assert option_names(PLAIN) == ("speed", "watch")
    assert PLAIN.accepts("speed")
    assert not PLAIN.accepts("utility")
    check_options(PLAIN, ["speed"])
    with pytest.raises(InputError, match="no such option: 'haste'; its options are speed, watch"):
        check_options(PLAIN, ["haste"])
    with pytest.raises(InputError, match="it takes no options"):
        check_options(DESIGNS["safe-response"], ["speed"])


def test_kinds() -> None:
    prior = ll.Prior.uniform("ab")
    assert prior.kind == prior_on_bins().kind == "prior"
    assert ll.Ball.of(prior, "0.1").kind == "ball"
    assert ll.Family.of([prior]).kind == "family"
    assert ll.Intervals.all_priors("ab").kind == "intervals"
    assert ll.Joint.from_counts({"s": {"a": 1}}).kind == "joint"
    assert ll.ProfileGraph.bernoulli(["0.2", "0.9"]).kind == "profiles"


def prior_on_bins() -> Any:
    return ll.continuous.normal(0, 1).discretise(4)


def test_what_is_no_context_is_refused() -> None:
    class Rumour:
        inputs = secrets = ll.Prior.uniform("ab").alphabet
        fingerprint = ""

        def describe(self) -> str:
            return "a rumour"

        def to_data(self) -> dict[str, Any]:
            return {}

    with pytest.raises(InputError, match=r"not a prior, a joint, .*: 'Rumour'; make one"):
        ll.design(Rumour(), ll.LIP("1"))  # type: ignore[arg-type]


@pytest.mark.parametrize("key", DESIGNS)
def test_every_option_has_a_meaning(key: str) -> None:
    entry = DESIGNS[key]
    said = option_meanings(entry)
    assert set(option_names(entry)) - {"watch", "explain", "beside"} == set(said)
    for name, meaning in said.items():
        assert meaning, f"{key} does not say what {name} means"
