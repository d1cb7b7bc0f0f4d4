"""Run the papers without installing the command."""

from liftlock.cli.main import main

if __name__ == "__main__":
    import sys

    sys.argv.insert(1, "papers")
    sys.exit(main())
