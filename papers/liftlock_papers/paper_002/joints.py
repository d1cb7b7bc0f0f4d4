"""What the experiments of paper 002 run on: random joints, and the Adult data."""

from __future__ import annotations

import functools
from typing import Literal

import numpy as np

from liftlock import Alphabet, Joint
from liftlock_papers.data.adult import RAREST, ROWS, read_adult
from liftlock_papers.data.folder import DataFolder
from liftlock_papers.setting import Setting

World = Literal["random", "large", "adult", "adult-six"]
"""17 x 5 random joints; 200 x 15 ones; Adult with five relationships, and with all six."""

SYMBOLS, SECRETS = 17, 5
FINEST = 2**32


def epsilons(setting: Setting, world: World) -> tuple[str, ...]:
    """Return the budgets of the figures: 0.25, 0.5, ..., 8, as exact text."""
    full = tuple(f"{quarters / 4:g}" for quarters in range(1, 33))
    few: tuple[str, ...] = ("0.5", "1", "2", "4", "8")
    if world in ("adult", "adult-six"):
        # One joint is no mean: its curves jump, and more budgets are needed to see it.
        few = ("0.25", "0.5", "0.75", "1", "1.25", "1.5", "2", "4", "8")
    return setting.choose(full=full, quick=few)


def joints_of(setting: Setting, world: World, count: int) -> tuple[Joint, ...]:
    """Return the first so many joints of a world; Adult is only one."""
    if world == "adult":
        return (_adult(setting.data, (RAREST,)),)
    if world == "adult-six":
        return (_adult(setting.data, ()),)
    if world == "large":
        size = setting.choose(full=(200, 15), quick=(60, 6))
        return random_joints(count, *size, seed=f"{size}")
    return random_joints(count, SYMBOLS, SECRETS, seed="17 x 5")


def note_rows(setting: Setting, world: World) -> None:
    """Say how many rows of Adult a figure is made from."""
    if world in ("adult", "adult-six"):
        used, every = (
            sum(map(sum, joints_of(setting, each, 1)[0].counts)) for each in (world, "adult-six")
        )
        setting.notes.append(f"{used:,} of {every:,} rows of Adult are used")
        if every != ROWS:
            setting.notes.append(f"UCI's file has {ROWS:,} rows: these are not the paper's data")


@functools.cache
def random_joints(count: int, symbols: int, secrets: int, *, seed: str) -> tuple[Joint, ...]:
    """Return normalised uniform numbers, as MATLAB's rand gives them to the paper.

    The cells are whole numbers, so that a joint is exact. A longer list begins with a shorter one.

    >>> random_joints(2, 3, 2, seed="a")[0] == random_joints(1, 3, 2, seed="a")[0]
    True
    """
    rng = Setting().rng("002 joints", seed)
    cells = rng.integers(1, FINEST, (count, secrets, symbols), dtype=np.int64)
    rows, columns = Alphabet.of(range(secrets)), Alphabet.of(range(symbols))
    return tuple(Joint.from_rows(rows, columns, table) for table in cells.tolist())


@functools.cache
def _adult(folder: DataFolder, without: tuple[str, ...]) -> Joint:
    return read_adult(folder, without=without)
