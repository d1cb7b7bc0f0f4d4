"""`python -m liftlock.collect` is `liftlock collect`."""

from __future__ import annotations

import sys

from liftlock.__main__ import main

if __name__ == "__main__":
    sys.argv.insert(1, "collect")
    sys.exit(main())
