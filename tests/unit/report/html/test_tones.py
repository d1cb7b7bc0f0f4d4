"""Colours: text is readable on every one, and people who see fewer of them see enough."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

from liftlock.report.html.page import style_sheet
from liftlock.report.html.tones import STEPS, contrast, palette

# Linear light as dichromats see it: Vienot, Brettel and Mollon 1999.
PROTAN = np.array([[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]])
DEUTAN = np.array([[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]])


def theme(place: int) -> dict[str, str]:
    """Return the colours of the sheet by name: light ones are declared first, then dark ones."""
    found = re.findall(r":root ?\{(.*?)\}", style_sheet(), re.DOTALL)
    assert len(found) == 2
    return dict(re.findall(r"--([a-z-]+):(#[0-9a-f]{6});", found[place]))


def linear(colour: str) -> np.ndarray:
    parts = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


@pytest.mark.parametrize("dark", [False, True])
def test_numbers_are_readable_on_every_tone(dark: bool) -> None:
    for colour, ink in palette(dark=dark).values():
        assert contrast(colour, ink) >= 4.5


@pytest.mark.parametrize("place", [0, 1])
def test_text_is_readable_on_every_ground(place: int) -> None:
    colours = theme(place)
    assert len(colours) == 17
    for ink, ground in itertools.product(("ink", "quiet", "accent"), ("paper", "soft")):
        assert contrast(colours[ink], colours[ground]) >= 4.5
    for tone in ("warn", "bad", "good"):
        for ink in (tone, "ink", "accent"):
            assert contrast(colours[ink], colours[f"{tone}-soft"]) >= 4.5, (ink, tone)
    for bar in ("before", "highest", "lowest", "released"):
        assert contrast(colours[bar], colours["track"]) >= 2.2
        assert contrast(colours[bar], colours["paper"]) >= 3.0 or bar == "before"


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("eye", [PROTAN, DEUTAN])
def test_rises_and_falls_look_different_to_everybody(dark: bool, eye: np.ndarray) -> None:
    tones = palette(dark=dark)
    for step in range(2, STEPS + 1):
        up, down = (eye @ linear(tones[f"{side}{step}"][0]) for side in "ud")
        # Blue has more blue than the rest of its light, orange less, whichever eye looks.
        assert up[2] / up.sum() > down[2] / down.sum() + 0.08


def test_both_themes_and_paper_are_in_the_sheet() -> None:
    sheet = style_sheet()
    assert "prefers-color-scheme:dark" in sheet
    assert "@media print" in sheet
    assert sheet.count("{") == sheet.count("}")
