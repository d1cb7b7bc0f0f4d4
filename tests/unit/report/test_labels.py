"""Labels that people see: harmless, short, and still different from one another."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from liftlock.report.format import cut, printable, shown, told_apart


@given(st.text())
def test_nothing_that_moves_the_cursor_is_printed(text: str) -> None:
    written = printable(text)
    assert "\n" not in written
    assert "\x1b" not in written
    assert "\u202e" not in written
    assert all(mark.isprintable() or mark in "\u200c\u200d" for mark in written)


def test_what_is_harmless_stays() -> None:
    for text in ("", "naïve 漢字", "a  b", "👩\u200d💻", "می\u200cخواهم", "[bold]"):
        assert printable(text) == text


@given(st.text(), st.integers(2, 30))
def test_cut_texts_fit(text: str, cells: int) -> None:
    assert cell_len(cut(printable(text), cells)) <= cells


def test_labels_that_are_not_text() -> None:
    assert [shown(label) for label in (1, 2.5, True, ("a", 1))] == ["1", "2.5", "True", "('a', 1)"]


@given(st.lists(st.text(alphabet="ab漢", min_size=1, max_size=40), unique=True, max_size=12))
def test_short_names_stay_different(labels: list[str]) -> None:
    names = told_apart(labels, 12)
    assert len(set(names)) == len(labels)
    assert all(cell_len(name) <= 12 for name in names)
