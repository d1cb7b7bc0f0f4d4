"""Every exception liftlock raises on purpose.

    LiftlockError
    ├── InputError            something handed to us is not usable (also a ValueError)
    │   ├── NumberError       not an exact number, or outside its range
    │   ├── LabelError        labels missing, repeated, unknown or not matching
    │   ├── RowError          a row of a channel is not a probability distribution
    │   ├── CountError        counts or probabilities of a prior or joint are not usable
    │   ├── FileError         a file is missing, empty, malformed, or of an unknown version
    │   ├── CellError         a cell of a table is not usable; carries its row and column
    │   └── MissingLibrary    a library that this needs is not installed (also an ImportError)
    ├── UnprotectedInput      the prior says "impossible" of a symbol the channel accepts
    ├── NotDefined            this notion has no meaning in this kind of context
    ├── NotCertified          the exact audit refused a guarantee; carries the certificate
    ├── NotProved             no gap to the optimum as small as required was proved; carries it
    └── NotComposable         a second release of the same observation; carries what it would lose

Each message is one line: what is wrong, where, the value, and the remedy. The parts are attributes
too, so callers never parse a message.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from liftlock.accounting.composition import Composition
    from liftlock.notions.certificate import Certificate


def listed(things: Sequence[object], most: int = 5) -> str:
    """Name the first few of many things, and how many more there are.

    >>> listed(["a", "b"]), listed("abcdefg")
    ("'a', 'b'", "'a', 'b', 'c', 'd', 'e' and 2 more")
    """
    more = len(things) - most
    return ", ".join(map(repr, things[:most])) + (f" and {more:,} more" if more > 0 else "")


class LiftlockError(Exception):
    """The root: catch this to catch everything liftlock raises on purpose."""


class InputError(LiftlockError, ValueError):
    """Something handed to liftlock is not usable.

    >>> error = InputError(
    ...     "negative count", where="prior.csv, line 3", value=-4, remedy="counts must be 0 or more"
    ... )
    >>> print(error)
    negative count at prior.csv, line 3: -4; counts must be 0 or more
    >>> error.value
    -4
    """

    def __init__(
        self, what: str, *, where: str = "", value: object = None, remedy: str = ""
    ) -> None:
        self.what = what
        self.where = where
        self.value = value
        self.remedy = remedy
        text = what
        if where:
            text += f" at {where}"
        if value is not None:
            text += f": {_short(value)}"
        if remedy:
            text += f"; {remedy}"
        super().__init__(" ".join(text.split()))


class NumberError(InputError):
    """A value is not an exact number, or lies outside its range."""


class LabelError(InputError):
    """Labels are missing, repeated, unknown, or do not match another set of labels."""


class RowError(InputError):
    """A row of a channel is not a probability distribution."""


class CountError(InputError):
    """Counts or probabilities of a prior or a joint are not usable."""


class FileError(InputError):
    """A file is missing, empty, malformed, or of an unknown version."""


class CellError(InputError):
    """A cell of a table is not usable. ``row`` counts from 0, within what was handed over."""

    def __init__(
        self, what: str, row: int, column: str, *, value: object = None, remedy: str = ""
    ) -> None:
        self.row = row
        self.column = column
        where = f"row {row + 1:,}" + (f", column {column!r}" if column else "")
        super().__init__(what, where=where, value=value, remedy=remedy)

    def at(self, row: int, column: str) -> CellError:
        """Return the same refusal of another cell: what was handed over is part of a table."""
        return CellError(self.what, row, column, value=self.value, remedy=self.remedy)


class MissingLibrary(InputError, ImportError):
    """Libraries that this needs are not installed; ``extra`` names what brings them.

    >>> print(MissingLibrary("plot"))
    pictures need matplotlib and networkx; pip install 'liftlock[plot]'
    """

    def __init__(self, extra: str) -> None:
        self.extra = extra
        what, *every = EXTRAS[extra]
        libraries = [name for name in every if find_spec(importable(name)) is None] or every
        self.name = " and ".join(filter(None, (", ".join(libraries[:-1]), libraries[-1])))
        super().__init__(f"{what} {self.name}", remedy=f"pip install 'liftlock[{extra}]'")


EXTRAS = {
    "collect": (
        "the collection service needs",
        *("httptools", "jinja2", "markupsafe", "msgspec", "prometheus-client", "psycopg"),
        *("pyyaml", "starlette", "uvicorn"),
    ),
    "compiled": ("compiled loops, as for encodings and users with own priors, need", "numba"),
    "fit": ("mixtures and liftlock.sklearn need", "pyarrow", "scikit-learn", "threadpoolctl"),
    "plot": ("pictures need", "matplotlib", "networkx"),
    "report": ("the HTML report needs", "jinja2", "markupsafe"),
    "solver": ("the solver needs", "highspy", "numba", "scipy", "threadpoolctl"),
    "spark": ("liftlock.spark needs", "pandas", "pyarrow", "pyspark"),
    "statistics": ("intervals, tests and distributions of numbers need", "scipy"),
    "tables": ("tables need", "narwhals", "numba", "pyarrow"),
}
"""What needs which libraries, by the extra of pyproject.toml that brings them to every system."""


_MODULES = {
    "prometheus-client": "prometheus_client",
    "pyyaml": "yaml",
    "scikit-learn": "sklearn",
}
"""Libraries that are imported by another name."""


def importable(library: str) -> str:
    """Return the name by which a library is imported.

    >>> importable("pyyaml"), importable("numba")
    ('yaml', 'numba')
    """
    return _MODULES.get(library, library)


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Answer for a library of an extra that cannot be found, where it is imported.

    >>> with extra("plot"):
    ...     import matplotlib.nothing
    Traceback (most recent call last):
    liftlock.errors.MissingLibrary: pictures need matplotlib and networkx; pip install ...
    """
    try:
        yield
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing in {importable(library) for library in EXTRAS[name][1:]}:
            raise MissingLibrary(name) from None
        raise


class UnprotectedInput(LiftlockError, ValueError):
    """The prior gives probability 0 to symbols that the channel accepts as input.

    A symbol the prior calls impossible has no information-privacy guarantee at all: if it does
    occur, nothing bounds what its output reveals.
    """

    def __init__(self, labels: Sequence[object], *, whose: str = "the prior") -> None:
        self.labels = tuple(labels)
        shown = ", ".join(
            f"{label[0]!r} with value {label[1]!r}"
            if whose == "the profile" and isinstance(label, tuple)
            else repr(label)
            for label in self.labels[:5]
        )
        more = f" and {len(self.labels) - 5} more" if len(self.labels) > 5 else ""
        super().__init__(
            f"{whose} gives probability 0 to input {shown}{more}, which the channel accepts: "
            f"such a symbol has no guarantee; smooth {whose}, drop the symbol from the channel, "
            "or state that it never occurs (impossible='ignore', on the command line "
            "--impossible ignore)"
        )


class NotDefined(LiftlockError, TypeError):
    """A notion has no meaning (or no exact rule we know) in this kind of context."""

    def __init__(self, notion: str, context: str, remedy: str) -> None:
        self.notion = notion
        self.context = context
        self.remedy = remedy
        super().__init__(f"{notion} is not defined for {context}; {remedy}")


NO_BUDGET = "no budget would pass: the leakage is infinite"


class NotCertified(LiftlockError):
    """The exact audit refused the guarantee; nothing was released under it.

    ``certificate`` holds the failing certificate with its witness, ``smallest`` the text of the
    smallest budget that the same channel does satisfy, empty if none is finite. ``about`` names
    the secret, where a mechanism keeps several guarantees, and ``remark`` says more.
    """

    def __init__(
        self, certificate: Certificate, smallest: str, about: str = "", remark: str = ""
    ) -> None:
        self.certificate = certificate
        self.smallest = smallest
        self.about = about
        passes = f"smallest budget that would pass: {smallest}" if smallest else NO_BUDGET
        named = f"about {about!r}: " if about else ""
        more = f"; {remark}" if remark else ""
        super().__init__(f"{named}{certificate.refusal()}; {passes}{more}")


class NotProved(LiftlockError):
    """A mechanism is not proved to be as near to the optimum as was required.

    ``gap`` is what was proved, None if the method proves nothing.
    """

    def __init__(self, what: str, gap: float | None) -> None:
        self.gap = gap
        super().__init__(what)


class NotComposable(LiftlockError):
    """No rule says what several releases lose together, or one more could exceed a limit.

    ``together`` holds their exact loss, unless the table of all outputs would be too large.
    """

    def __init__(self, what: str, together: Composition | None = None) -> None:
        self.together = together
        super().__init__(what)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
