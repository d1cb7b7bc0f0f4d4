"""Files that were written before are read, proved again, and say what they said."""

from __future__ import annotations

import pytest

from tests.compatibility.stored import names, said, says
from tests.golden.journeys import differences


@pytest.mark.parametrize("name", names())
def test_a_file_says_what_it_said(name: str) -> None:
    assert list(differences(said()[name], says(name))) == []


def test_what_was_said_belongs_to_a_file() -> None:
    assert set(said()) == set(names())
