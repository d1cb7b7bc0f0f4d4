"""Cut the power of a store at every event, many times: `python -m tests.faults.store_power 20`.

At every event and just after every sync the disk drops or tears what was not synced, each time in
another way.
"""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path

from tests.unit.collect.store.test_power import World


def main(times: int, seed: int) -> int:
    """Cut the power, and count what is found; return 1 if that is wrong once."""
    wrong = cuts = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        whole = World(folder)
        whole.live()
        points = [("cut_at", at) for at in range(1, whole.disk.events + 1)]
        points += [("cut_after", at) for at in range(1, whole.disk.syncs + 1)]
        for time in range(times):
            for what, at in points:
                world = World(folder)
                setattr(world.disk, what, at)
                world.live()
                world.disk.cut(random.Random(f"{seed} {time} {what} {at}"))
                cuts += 1
                try:
                    world.check()
                except AssertionError as error:
                    wrong += 1
                    print(f"{what} {at}, time {time}: {error}", flush=True)
    print(f"{cuts:,} power cuts at {len(points):,} points: {wrong:,} wrong")
    return int(wrong > 0)


if __name__ == "__main__":
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    sys.exit(main(wanted, int(sys.argv[2]) if len(sys.argv) > 2 else 0))
