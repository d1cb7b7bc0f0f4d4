"""A driver that is interrupted, goes on as a notebook would, and is killed.

Its tasks wait until they may go on. It is told where to work, and with which settings.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from unittest import mock

from liftlock import spark as ls
from liftlock.spark import releases
from tests.spark_sessions import session
from tests.unit.test_spark import NOISY, constant_rows, slow


def main(folder: Path, settings: dict[str, str]) -> None:
    """Release into one folder, tell what was there when that was interrupted; into another one."""
    with session(folder / "spark", settings) as spark:
        df, status = constant_rows(spark), spark.sparkContext.statusTracker()
        for each in ("interrupted", "killed"):
            place = folder / each
            (place / "notes").mkdir(parents=True)
            try:
                with mock.patch.object(releases, "randomise_task", slow(place / "notes")):
                    ls.release(df, NOISY, "letter", path=place / "safe")
            except KeyboardInterrupt:
                left = [file.name for file in place.iterdir()]
                print(json.dumps({"jobs": status.getActiveJobsIds(), "left": left}), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.loads(sys.argv[2]))
