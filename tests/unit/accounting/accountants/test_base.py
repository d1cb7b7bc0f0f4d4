"""What an accountant says: bounds are written rounded up, exact values to the nearest."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from liftlock.accounting.accountants import PrivacyLoss
from liftlock.accounting.accountants.base import rounded_up_text, sides, tighten
from liftlock.exact.enclosure import Enclosure
from liftlock.notions import Measurement


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=10**12))
def test_six_digits_rounded_up(value: Fraction) -> None:
    said = Fraction(rounded_up_text(Enclosure.of(value)))
    assert value <= said < value * (1 + Fraction(1, 10**5))
    wide = Enclosure(value / 2, value)
    assert Fraction(rounded_up_text(wide)) == said


def test_what_is_no_number() -> None:
    assert rounded_up_text(Enclosure.infinity()) == "inf"
    assert rounded_up_text(Enclosure.of(0)) == "0"
    assert rounded_up_text(Enclosure.of(1)) == "1"


def test_only_what_is_exact_is_written_to_the_nearest() -> None:
    measurements = sides(Fraction(4, 3), Fraction(3, 2))  # ln(4/3) = 0.28768207...
    assert PrivacyLoss("exact", measurements, True, "", "").text("eps_lower").startswith("0.287682")
    assert PrivacyLoss("tight", measurements, False, "", "").text("eps_lower") == "0.287683"
    assert "eps_lower <= 0.287683 nats" in str(PrivacyLoss("tight", measurements, False, "", ""))


def test_the_larger_side_is_the_leakage_and_an_infinite_one_is() -> None:
    for lower, upper, larger in (
        (Fraction(2), Fraction(3), Fraction(3)),
        (Fraction(3), Fraction(2), Fraction(3)),
        (Fraction(2), Fraction(2), Fraction(2)),
        (None, Fraction(2), None),
        (Fraction(2), None, None),
        (None, None, None),
    ):
        assert sides(lower, upper)["lip"].ratio == larger
        assert sides(lower, upper)["lip"].value.is_infinite == (larger is None)


def test_budgets_count_only_where_they_are_less() -> None:
    three = Measurement.of_ratio("lip", Fraction(3), None)
    assert tighten(three, None) is three
    assert tighten(three, Enclosure.infinity()) is three
    assert tighten(three, Enclosure.of(2)) is three
    assert tighten(three, Enclosure.of(1)).value == Enclosure.of(1)
    endless = Measurement.of_ratio("lip", None, None)
    assert tighten(endless, Enclosure.of(2)).value == Enclosure.of(2)
