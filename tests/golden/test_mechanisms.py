"""The same mechanism on every machine: files as they were stored, byte for byte.

`make machines` runs this again as if on other CPUs.
"""

from __future__ import annotations

import json

import pytest

from tests.golden.mechanisms import STORED, digest, made, named, said

STORED_DIGESTS = json.loads(STORED.read_text(encoding="utf-8")) | said()


@pytest.mark.parametrize("name", sorted(named()))
def test_a_mechanism_has_the_file_that_was_stored(name: str) -> None:
    text = made(name)
    assert digest(text) == STORED_DIGESTS[name], text[-600:]


def test_nothing_is_stored_that_is_not_made() -> None:
    assert set(STORED_DIGESTS) == set(named())
