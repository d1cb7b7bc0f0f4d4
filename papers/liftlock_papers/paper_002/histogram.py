"""Points of Figure 1: how often the extreme log-lifts of random joints take which value."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from liftlock import Channel, Joint, lift_table
from liftlock_papers.paper_002.joints import SECRETS, SYMBOLS, random_joints
from liftlock_papers.points import Floats, Point
from liftlock_papers.setting import Setting

BIN = 0.1
LOWEST, HIGHEST = -13.0, 2.0
SMALLEST, LARGEST = "log of the min-lift", "log of the max-lift"


def extremes(joint: Joint) -> tuple[Floats, Floats]:
    """Return log min-lift and log max-lift of every symbol, when X itself is released."""
    size = len(joint.inputs)
    truth = Channel(joint.inputs, joint.inputs, np.eye(size, dtype=np.int64), (1,) * size)
    logs = np.log(lift_table(truth, joint).floats())
    return logs.min(axis=0), logs.max(axis=0)


def compute(setting: Setting) -> Iterator[Point]:
    """Yield both histograms, and the share of symbols beyond each distance from 0.

    The second begins with the least distance and ends with the greatest one: the whole range.
    """
    joints = random_joints(setting.choose(full=1000, quick=200), SYMBOLS, SECRETS, seed="17 x 5")
    found = [extremes(joint) for joint in setting.each(joints, "joints")]
    edges = np.round(np.arange(LOWEST, HIGHEST + BIN / 2, BIN), 9)
    for curve, parts in (
        (SMALLEST, [low for low, _ in found]),
        (LARGEST, [high for _, high in found]),
    ):
        values = np.concatenate(parts)
        shares = np.histogram(values, edges)[0] / len(values)
        for left, share in zip(edges[:-1].tolist(), shares.tolist(), strict=True):
            yield Point("histogram", curve, round(left + BIN / 2, 9), share)
        distances = np.sort(np.abs(values))
        inside = np.arange(0.25, 12, 0.25)
        places = [distances[0], *inside[(inside > distances[0]) & (inside < distances[-1])]]
        for place in [*places, distances[-1]]:
            yield Point("tail", curve, float(place), float(np.mean(distances >= place)))
