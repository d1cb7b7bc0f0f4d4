"""Colours of heat maps as a few named tones, so that light, dark and paper each have their own.

Blue raises, orange lowers: a pair that people see apart who do not see red and green apart.
"""

from __future__ import annotations

import math

STEPS = 8
"""Tones on either side of the middle, and of the scale of shares."""

_LIGHT = "#f7f7f7"
_DARK = "#2a2f39"
_UP = {_LIGHT: ("#92c0e4", "#0a3d80"), _DARK: ("#2f6ea8", "#a9d6ff")}
_DOWN = {_LIGHT: ("#f6b36a", "#7f3b00"), _DARK: ("#a3611b", "#ffc685")}
_SHARE = {_LIGHT: ("#8fd0c4", "#07433e"), _DARK: ("#1f7a6e", "#a5f2e2")}

Colour = tuple[int, int, int]


def lift_tone(log_lift: float, reach: float) -> str:
    """Return the tone of a log-lift, full at `reach`; ``out`` is what is ruled out.

    >>> lift_tone(0.7, 0.7), lift_tone(-0.35, 0.7), lift_tone(0.0, 0.7), lift_tone(-math.inf, 0.7)
    ('u8', 'd4', 'm', 'out')
    """
    if math.isinf(log_lift) and log_lift < 0:
        return "out"
    step = round(STEPS * min(abs(log_lift) / reach, 1.0)) if reach > 0 else 0
    if step == 0:
        return "m"
    return f"{'u' if log_lift > 0 else 'd'}{step}"


def share_tone(share: float) -> str:
    """Return the tone of a probability, on a scale that tells small ones apart.

    >>> share_tone(0.0), share_tone(0.01), share_tone(0.25), share_tone(1.0)
    ('m', 's1', 's4', 's8')
    """
    if share <= 0:
        return "m"
    return f"s{max(1, round(STEPS * math.sqrt(min(share, 1.0))))}"


def palette(*, dark: bool) -> dict[str, tuple[str, str]]:
    """Return the colour of each tone, and that of text upon it.

    >>> palette(dark=False)["m"], palette(dark=False)["u8"]
    (('#f7f7f7', '#000000'), ('#0a3d80', '#ffffff'))
    """
    middle = _DARK if dark else _LIGHT
    tones = {"m": middle, "out": "#000000" if dark else "#3c3c3c"}
    for letter, ends in (("u", _UP), ("d", _DOWN), ("s", _SHARE)):
        half, full = ends[middle]
        for step in range(1, STEPS + 1):
            share = step / STEPS
            near, far, part = (
                (middle, half, 2 * share) if share <= 0.5 else (half, full, 2 * share - 1)
            )
            tones[f"{letter}{step}"] = _mixed(near, far, part)
    return {name: (colour, ink_upon(colour)) for name, colour in tones.items()}


def tone_rules(*, dark: bool) -> str:
    """Return the rules of all tones for a style sheet."""
    return "".join(
        f".{name}>rect{{fill:{colour}}}.{name}>text{{fill:{ink}}}"
        for name, (colour, ink) in palette(dark=dark).items()
    )


def ink_upon(colour: str) -> str:
    """Return black or white, whichever is read more easily on a colour.

    >>> ink_upon("#ffffff"), ink_upon("#0a3d80")
    ('#000000', '#ffffff')
    """
    return max(("#000000", "#ffffff"), key=lambda ink: contrast(ink, colour))


def contrast(first: str, second: str) -> float:
    """Return the contrast of two colours, from 1 to 21, as web pages are judged.

    >>> round(contrast("#000000", "#ffffff"), 6)
    21.0
    """
    light, dark = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = [value / 255 for value in _parts(colour)]
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _parts(colour: str) -> Colour:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _mixed(near: str, far: str, share: float) -> str:
    pairs = zip(_parts(near), _parts(far), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)
