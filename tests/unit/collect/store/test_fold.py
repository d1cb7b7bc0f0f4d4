"""Folding, against the same done one report after the other."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from liftlock.collect.store.fold import Row, sift

IDS = st.one_of(st.integers(0, 6), st.integers(0, (1 << 128) - 1), st.just((1 << 128) - 1))
DAYS = st.sampled_from(["2026-11-18", "2026-11-19"])
WIDTHS = {7: 1, 8: 2, 9: 4}
"""How wide the outputs of each mechanism are."""


@st.composite
def journals(draw: st.DrawFn) -> list[tuple[int, str, list[tuple[int, int]]]]:
    rows = []
    for _ in range(draw(st.integers(1, 8))):
        mechanism = draw(st.sampled_from(sorted(WIDTHS)))
        outputs = st.one_of(st.integers(0, 2), st.integers(0, 256 ** WIDTHS[mechanism] - 1))
        reports = st.lists(st.tuples(IDS, outputs), min_size=1, max_size=8)
        rows.append((mechanism, draw(DAYS), draw(reports)))
    return rows


@given(journals(), st.data())
def test_one_after_the_other(
    journal: list[tuple[int, str, list[tuple[int, int]]]], data: st.DataObject
) -> None:
    found = sift(
        Row(
            mechanism,
            day,
            WIDTHS[mechanism],
            b"".join(
                id.to_bytes(16, "big") + output.to_bytes(WIDTHS[mechanism], "little")
                for id, output in reports
            ),
        )
        for mechanism, day, reports in journal
    )
    first: dict[int, tuple[int, str, int]] = {}
    repeated = conflicts = 0
    for mechanism, day, reports in journal:
        for id, output in reports:
            repeated += id in first
            said = first.setdefault(id, (mechanism, day, output))
            conflicts += (mechanism, output) != (said[0], said[2])
    ids = sorted(first)
    assert found.ids == b"".join(id.to_bytes(16, "big") for id in ids)
    assert found.number == len(ids)
    assert (found.repeated, found.conflicts) == (repeated, conflicts)
    known = data.draw(st.lists(st.sampled_from(range(len(ids))), unique=True))
    expected = Counter(first[id] for place, id in enumerate(ids) if place not in known)
    counted = {(mechanism, day, output): n for mechanism, day, output, n in found.count(known)}
    assert counted == expected
    assert len(counted) == len(found.count(known))
