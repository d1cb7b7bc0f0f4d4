"""`python -m liftlock.cli`: the command line, when its script is not installed."""

from liftlock.cli.main import main

if __name__ == "__main__":
    main()
