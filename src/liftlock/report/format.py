"""How numbers, labels and lists are written for people: on terminals, in pictures and on pages."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

from rich.cells import cell_len, set_cell_size
from rich.table import Table as Grid

from liftlock.exact.decimals import GLUE, round_down_text, round_up_text
from liftlock.exact.enclosure import Enclosure
from liftlock.model.alphabet import Label

DIGITS = 6
_SMALL, _LARGE = 1e-4, 1e12
"""Beyond these a number is written with a power of ten."""
CERTAIN = 20.0
"""Beliefs that change by so many nats are certain afterwards, for all anybody could measure."""
_GUARD = 30
_MOST_DECIMALS = 9
_TITLES = {
    "mean": "squared error of the best reading of the output (mean, per person)",
    "absolute": "absolute error of the best reading of the output (mean, per person)",
    "squared": "expected squared distortion of the best reading of the output",
}

# --- numbers --------------------------------------------------------------------------------------


def amount(number: float, digits: int = DIGITS) -> str:
    """Write a number with at most so many significant digits, thousands apart.

    >>> amount(0.3287611726), amount(519569651.4), amount(1234.5), amount(0.0)
    ('0.328761', '519,570,000', '1,234.5', '0')
    >>> amount(1.7224448e-9), amount(-2.5e15), amount(99999.96, 5)
    ('1.72244e-09', '-2.5e+15', '100,000')
    """
    if number == 0:
        return "0"
    if not math.isfinite(number):
        return "infinite" if number > 0 else str(number)
    rounded = float(f"{number:.{digits - 1}e}")
    if not _SMALL <= abs(rounded) < _LARGE:
        return f"{rounded:.{digits}g}"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    return _bare(f"{rounded:,.{decimals}f}")


def counted(number: int, noun: str) -> str:
    """Write a number with its noun.

    >>> counted(1, "row"), counted(32561, "row")
    ('1 row', '32,561 rows')
    """
    return f"{number:,} {noun}{'s' * (number != 1)}"


def nats(value: float, digits: int = DIGITS) -> str:
    """Write by how much a belief changes, so that what makes it certain is no number.

    >>> nats(0.57151, 3), nats(math.inf), nats(30.3)
    ('0.572', 'unlimited', 'unlimited')
    """
    return "unlimited" if value > CERTAIN else amount(value, digits)


def most_nats(value: float) -> str:
    """Write by how much a belief changes at most: never less than it is.

    >>> most_nats(1.7216), most_nats(0.0), most_nats(math.inf)
    ('1.73', '0', 'unlimited')
    """
    return "unlimited" if value > CERTAIN else round_up_text(Fraction(value))


def least_nats(value: float) -> str:
    """Write by how much a belief changes at least: never more than it is.

    >>> least_nats(1.3579), least_nats(math.inf)
    ('1.35', 'unlimited')
    """
    return "unlimited" if math.isinf(value) else round_down_text(Fraction(value))


def moved_by(value: float, text: Callable[[float], str] = most_nats, sign: str = "") -> str:
    """Say by how much a belief changes, in a sentence.

    >>> moved_by(1.7216), moved_by(1.7216, sign="up to "), moved_by(math.inf)
    ('by 1.73 nats', 'by up to 1.73 nats', 'without limit')
    """
    return "without limit" if value > CERTAIN else f"by {sign}{text(value)} nats"


def percent(share: float, digits: int = 3) -> str:
    """Write a share as it is, to a few digits; what is small but not 0 does not become 0.

    >>> [percent(share).replace(GLUE, " ") for share in (0.1234, 1.0, 0.99996, 2e-9, 0.0)]
    ['12.3 %', '100 %', '99.996 %', 'below 0.001 %', '0 %']
    """
    hundred = 100.0 * share
    if hundred == 0:
        return f"0{GLUE}%"
    if 0 < hundred < 0.001:
        return f"below 0.001{GLUE}%"
    if 99.95 <= hundred < 100:
        texts = (f"{hundred:.{decimals}f}" for decimals in (2, 3, 4))
        text = next((text for text in texts if not text.startswith("100")), "99.9999")
        return f"{text}{GLUE}%"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(hundred))))
    return f"{_bare(f'{hundred:.{decimals}f}')}{GLUE}%"


def times(factor: float) -> str:
    """Write a factor shortly, for a cell of a picture.

    >>> [times(factor) for factor in (2.0137, 0.27253, 0.0, 1.0, 123.4, 4.2e-5, 31234.0)]
    ['2.01', '0.27', '0', '1.00', '123', '4e-5', '3e4']
    """
    if factor == 0:
        return "0"
    if 0.005 <= factor < 9.995:
        return f"{factor:.2f}"
    if 9.995 <= factor < 9999.5:
        return f"{factor:.3g}" if factor < 99.95 else f"{factor:.0f}"
    mantissa, _, exponent = f"{factor:.0e}".partition("e")
    return f"{mantissa}e{int(exponent)}"


def enclosed(value: Enclosure, digits: int) -> str:
    """Write the middle of an enclosure with so many significant digits.

    >>> enclosed(Enclosure.of(Fraction(1, 3)), 6), enclosed(Enclosure.infinity(), 6)
    ('0.333333', 'infinite')
    """
    if value.upper is None:
        return "infinite"
    middle = (value.lower + value.upper) / 2
    with localcontext(prec=digits + _GUARD):
        number = Decimal(middle.numerator) / Decimal(middle.denominator)
    with localcontext(prec=digits):
        number = (+number).normalize()
    return f"{number:f}" if -12 < number.adjusted() < 15 else f"{number:e}"


def compared(measured: Enclosure, bound: Enclosure) -> tuple[str, str, str]:
    """Write two numbers, and by how much they differ if their digits do not show it.

    >>> compared(Enclosure.of(Fraction("2.01375270754")), Enclosure.of(Fraction("2.01375270756")))
    ('2.013752708', '2.013752708', '2e-11')
    >>> compared(Enclosure.of(1), Enclosure.of(2))
    ('1', '2', '')
    """
    for digits in (7, 10):
        texts = enclosed(measured, digits), enclosed(bound, digits)
        if texts[0] != texts[1]:
            return (*texts, "")
    if measured.upper is None or bound.upper is None:
        return (*texts, "")
    middle = bound.lower + bound.upper - measured.lower - measured.upper
    return (*texts, f"{abs(float(middle)) / 2:.0e}".replace("e-0", "e-"))


def loss_text(loss: Enclosure, budget: float | None = None, *, digits: int = 3) -> str:
    """Write a loss with so many decimals, rounded up; with more if it would seem over the budget.

    >>> loss_text(Enclosure.of(Fraction(1, 3))), loss_text(Enclosure.of(0))
    ('0.334', '0')
    >>> loss_text(Enclosure.of(Fraction("0.99996")), 0.99999), loss_text(Enclosure.infinity())
    ('0.99996', '∞')
    """
    if loss.upper is None:
        return "∞"
    if loss.upper == 0:
        return "0"
    if loss.upper < Fraction(1, 10**digits):
        exponent = math.floor(math.log10(float(loss.upper) or 1e-300)) - 1
        unit = Fraction(10) ** exponent
        return f"{float(math.ceil(loss.upper / unit) * unit):.2g}"
    while True:
        rounded = Fraction(math.ceil(loss.upper * 10**digits), 10**digits)
        fits = budget is None or float(rounded) <= budget or loss.upper > budget
        if fits or digits >= _MOST_DECIMALS:
            return f"{float(rounded):.{digits}f}"
        digits += 1


def over_budget(loss: Enclosure, budget: float | None) -> bool:
    """Tell whether a loss is drawn as above the budget (a float, so a hair is allowed for)."""
    if budget is None or loss.is_infinite:
        return loss.is_infinite
    return float(loss.lower) > budget * (1 + 1e-12)


def title_of(utility: str, title: str) -> str:
    """Name what is measured so that it is not taken for the error of the output as it is.

    >>> title_of("mean", "squared error of X")
    'squared error of the best reading of the output (mean, per person)'
    """
    return _TITLES.get(utility, title or utility)


def _bare(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


# --- labels ---------------------------------------------------------------------------------------

_JOINERS = "\u200c\u200d"
"""Invisible, but part of how Persian words and many emoji are written."""
_HALF = re.compile("[\ud800-\udfff]")


def printable(text: str) -> str:
    r"""Write control characters (which could move the cursor or hide text) as escapes.

    >>> print(printable("two\nlines, a \x1b[31mred herring, naïve"))
    two\nlines, a \x1b[31mred herring, naïve
    """
    if text.isprintable():
        return text
    return "".join(
        mark if mark.isprintable() or mark in _JOINERS else repr(mark)[1:-1] for mark in text
    )


def plain(text: str) -> str:
    r"""Write control characters, and halves of characters, as escapes, but not spaces that glue.

    >>> print(plain("right\u202eleft\x00"))
    right\u202eleft\x00
    """
    whole = _HALF.sub(lambda found: f"\\u{ord(found[0]):x}", text)
    return GLUE.join(printable(part) for part in whole.split(GLUE))


def cut(text: str, cells: int) -> str:
    """Shorten a text to so many terminal cells (a Chinese character takes two).

    >>> cut("craft and repair", 9), cut("漢字漢字", 6), cut("short", 9)
    ('craft an…', '漢字…', 'short')
    """
    if cell_len(text) <= cells:
        return text
    return set_cell_size(text, cells - 1).rstrip() + "…"


def shown(label: Label, cells: int = 24) -> str:
    """Write a label, text in quotation marks, shortened to so many cells.

    >>> shown("flu"), shown(3), shown(("a", 1))
    ('"flu"', '3', "('a', 1)")
    """
    if isinstance(label, str):
        return f'"{cut(printable(label), cells)}"'
    return cut(printable(str(label)), cells)


def shown_pair(pair: Label, cells: int = 24) -> str:
    """Write a pair (profile, value) in words.

    >>> shown_pair(("ann", "idle")), shown_pair(("bob", 9))
    ('"ann" with value "idle"', '"bob" with value 9')
    """
    if not isinstance(pair, tuple) or len(pair) != 2:
        return shown(pair, cells)
    return f"{shown(pair[0], cells)} with value {shown(pair[1], cells)}"


def several(labels: Sequence[Label], most: int = 3) -> str:
    """List a few labels, and say how many more there are.

    >>> several(["a", "b", "c", "d"])
    '"a", "b", "c" and 1 more'
    """
    listed = ", ".join(shown(label) for label in labels[:most])
    return listed if len(labels) <= most else f"{listed} and {len(labels) - most} more"


def told_apart(labels: Sequence[Label], cells: int = 24) -> list[str]:
    """Shorten many labels; those that would look the same get their position.

    >>> told_apart(["red", "rather long, one", "rather long, two"], 12)
    ['red', 'rather… (2)', 'rather… (3)']
    """
    texts = [printable(str(label)) for label in labels]
    return _numbered(texts, lambda text, number: cut(text, cells - len(number)) + number)


def _numbered(texts: Sequence[str], shorten: Callable[[str, str], str]) -> list[str]:
    """Shorten texts; those that would look the same get their position at the end."""
    short = [shorten(text, "") for text in texts]
    seen = Counter(short)
    return [
        shorten(text, f" ({place})") if seen[found] > 1 else found
        for place, (text, found) in enumerate(zip(texts, short, strict=True), start=1)
    ]


# --- widths in pictures ---------------------------------------------------------------------------

_NARROW = frozenset("iljtfrI.,:;'|!()[]{}-` 1")
_WIDE = frozenset("mwMW@%&—…")


def width_of(text: str, size: float) -> float:
    """Estimate the width of text in a sans-serif font of a size, rather too wide than too narrow.

    A picture is drawn before any browser has measured it.

    >>> width_of("iii", 10) < width_of("aaa", 10) < width_of("MMM", 10) < width_of("漢字漢", 10)
    True
    """
    total = 0.0
    for mark in text:
        if cell_len(mark) > 1:
            total += 1.1
        elif mark in _NARROW:
            total += 0.4
        elif mark in _WIDE:
            total += 0.98
        else:
            total += 0.75 if mark.isupper() else 0.62
    return total * size


def fitted(text: str, size: float, room: float) -> str:
    """Shorten text until it fits.

    >>> fitted("craft and repair", 10, 60), fitted("short", 10, 60)
    ('craft and…', 'short')
    """
    if width_of(text, size) <= room:
        return text
    kept = text
    while kept and width_of(kept + "…", size) > room:
        kept = kept[:-1]
    return kept.rstrip() + "…"


def fitted_apart(texts: Sequence[str], size: float, room: float) -> list[str]:
    """Shorten many texts; those that would look the same get their position.

    >>> fitted_apart(["red", "rather long, one", "rather long, two"], 10, 70)
    ['red', 'rather l… (2)', 'rather l… (3)']
    """
    return _numbered(
        texts, lambda text, number: fitted(text, size, room - width_of(number, size)) + number
    )


# --- tables ---------------------------------------------------------------------------------------


def grid_of(title: str | None = None, *, header: bool = True) -> Grid:
    """Return an empty table in the house style."""
    return Grid(
        title=title,
        title_justify="left",
        title_style="",
        box=None,
        pad_edge=False,
        show_edge=False,
        show_header=header,
        header_style="bold",
        padding=(0, 2, 0, 0),
    )
