"""What is said of how good a mechanism is, and what is refused."""

from __future__ import annotations

import pytest

from liftlock.errors import NotProved
from liftlock.model.provenance import Provenance


def test_a_gap_that_is_wide_enough_is_required_in_vain() -> None:
    Provenance("optimal", "guess", 0.5, 0.4, 0.2).require_gap(0.2)
    with pytest.raises(NotProved, match=r"the proved gap to the optimum is 0.2, and at most 0.1"):
        Provenance("optimal", "guess", 0.5, 0.4, 0.2).require_gap(0.1)


@pytest.mark.parametrize(("method", "hint"), [("optimal", False), ("watchdog", True)])
def test_the_hint_to_the_optimum_never_stands_beside_the_optimum(method: str, hint: bool) -> None:
    with pytest.raises(NotProved) as refusal:
        Provenance(method, "guess", 0.5).require_gap(0.1)
    assert ("use the method optimal" in str(refusal.value)) is hint


def test_a_warning_is_given_only_where_the_gap_is_open() -> None:
    assert not Provenance("optimal", "guess", 0.5, 0.5, 5e-7).gap_warning(1e-6)
    assert "0.3" in Provenance("optimal", "guess", 0.5, 0.2, 0.3).gap_warning(1e-6)
    assert not Provenance("watchdog", "guess", 0.5).gap_warning(1e-6)
