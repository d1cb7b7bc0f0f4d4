"""The commands print what they printed when it was stored."""

from __future__ import annotations

from typing import Any

import pytest

from tests.golden.journeys import HERE, JOURNEYS, differences, stored, travel


@pytest.mark.parametrize("folder", list(JOURNEYS))
def test_commands_print_what_is_stored(folder: str) -> None:
    for name, found in travel(folder).items():
        assert list(differences(stored(name), found)) == [], name


def test_every_stored_output_belongs_to_a_journey() -> None:
    expected = {name for journeys in JOURNEYS.values() for name in journeys}
    assert {path.stem for path in HERE.glob("*.json")} == expected


def test_what_solvers_find_is_compared_by_value_and_all_else_more_closely() -> None:
    before = {"objective": 0.5, "gap": 1e-9, "channel": "a", "claims": [1.0]}
    assert not list(differences(before, before | {"objective": 0.5 + 1e-9, "gap": 1e-12}))
    changes: tuple[dict[str, Any], ...] = (
        {"objective": 0.51},
        {"gap": 1e-3},
        {"channel": "b"},
        {"claims": [1.0 + 1e-11]},
        {"claims": []},
        {"more": 1},
    )
    for change in changes:
        assert list(differences(before, before | change)), change
    assert list(differences(before, {"objective": 0.5}))
