"""How wide text will be in a picture, which is drawn before any browser has measured it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.cells import cell_len

from liftlock.alphabet import Label
from liftlock.report.html.elements import written

_NARROW = frozenset("iljtfrI.,:;'|!()[]{}-` 1")
_WIDE = frozenset("mwMW@%&—…")


def width_of(text: str, size: float) -> float:
    """Estimate the width of text in a sans-serif font of a size, rather too wide than too narrow.

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


def fitted_apart(labels: Sequence[Label], size: float, room: float) -> list[str]:
    """Shorten many labels; those that would look the same get their position.

    >>> fitted_apart(["red", "rather long, one", "rather long, two"], 10, 70)
    ['red', 'rather l… (2)', 'rather l… (3)']
    """
    texts = [fitted(written(label), size, room) for label in labels]
    seen = Counter(texts)
    for place, (text, label) in enumerate(zip(texts, labels, strict=True)):
        if seen[text] > 1:
            number = f" ({place + 1})"
            short = fitted(written(label), size, room - width_of(number, size))
            texts[place] = short + number
    return texts
