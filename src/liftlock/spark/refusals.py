"""What a worker refuses, told on the driver in one line instead of two long tracebacks."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager

from liftlock.errors import FileError, InputError

_TOLD = re.compile(r"liftlock-refusal:([A-Za-z0-9+/=]+):")
_LACKS = re.compile(r"No module named '(liftlock|pyarrow|numpy|numba|cryptography|pandas)")


class WorkerRefusal(Exception):
    """A refusal on its way to the driver: its text, and the same in a form that nothing mangles."""


@contextmanager
def send_refusals(column: str | None = None) -> Iterator[None]:
    """On a worker: let a refusal travel to the driver, as the failure of a task."""
    try:
        yield
    except InputError as error:
        raise WorkerRefusal(f"{error} (liftlock-refusal:{pack_refusal(error, column)}:)") from None


def pack_refusal(error: InputError, column: str | None = None) -> str:
    """Return a refusal as a text without blanks, for `unpack_refusal`.

    A column takes the place of the row: which row it was depends on how Spark cut the table.

    >>> told = pack_refusal(InputError("not a number", where="row 7", value="x"), "age")
    >>> print(unpack_refusal(told))
    not a number at column 'age': 'x'
    """
    value = error.value
    parts = {
        "what": error.what,
        "where": error.where if column is None else f"column {column!r}",
        "value": value if isinstance(value, str | int | float | None) else str(value),
        "remedy": error.remedy,
    }
    kind = "file" if isinstance(error, FileError) else "input"
    return base64.b64encode(json.dumps([kind, parts]).encode()).decode()


def unpack_refusal(told: str) -> InputError:
    """Return the refusal that `pack_refusal` wrote."""
    kind, parts = json.loads(base64.b64decode(told))
    return {"file": FileError, "input": InputError}[kind](**parts)


@contextmanager
def raise_refusals() -> Iterator[None]:
    """On the driver: raise what a worker refused, as it would have been raised here."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        text = _full_text(error)
        found = _TOLD.search(text)
        if found is not None:
            raise unpack_refusal(found[1]) from None
        lacking = _LACKS.search(text)
        if lacking is not None:
            raise InputError(
                "the Python of Spark's workers lacks a package",
                value=lacking[1],
                remedy="install liftlock[spark] on every worker, or name a Python that has it: "
                "set PYSPARK_PYTHON before the session starts (on a cluster spark.pyspark.python)",
            ) from None
        raise


def _full_text(error: BaseException) -> str:
    """Return the text of an error and of what caused it, in Python and in Java."""
    texts = []
    seen: BaseException | None = error
    while seen is not None:
        texts.append(str(seen))
        java = getattr(seen, "_origin", None) or getattr(seen, "java_exception", None)
        for _ in range(20):
            if java is None:
                break
            texts.append(str(java.toString()))
            java = java.getCause()
        seen = seen.__cause__
    return "\n".join(texts)
