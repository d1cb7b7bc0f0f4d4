"""Registries: what there is of a kind, by key; the library's own first, then that of plug-ins.

A package adds an entry through an entry point of the registry's group, in its pyproject.toml:

    [project.entry-points."liftlock.notions"]
    hellinger_lift = "my_package.hellinger:HellingerLift"

Plug-ins are looked for when a registry is first looked into, never when it is imported.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from threading import RLock
from typing import Generic, TypeVar

from liftlock.errors import InputError

T = TypeVar("T")
U = TypeVar("U")


class PluginWarning(UserWarning):
    """A plug-in that could not be used, and is left out."""


class Registry(Mapping[str, T]):
    """Entries of one kind by key, in the order in which they were registered.

    `names` are those that an entry takes, its key first. `fault` says what is wrong with something
    that is no such entry, as a remedy.

    >>> shapes = Registry[type]("shape", "liftlock.shapes", names=lambda each: [each.__name__])
    >>> shapes.register(int)
    >>> list(shapes)
    ['int']
    >>> shapes.register(int)
    Traceback (most recent call last):
    liftlock.errors.InputError: a shape of this name is registered already: 'int'; ...
    """

    def __init__(
        self,
        what: str,
        group: str,
        entries: Iterable[T] = (),
        *,
        names: Callable[[T], Sequence[str]],
        fault: Callable[[object], str] = lambda entry: "",  # noqa: ARG005
    ) -> None:
        self.what = what
        self._one = f"an {what}" if what[0] in "aeiou" else f"a {what}"
        self.group = group
        self._names = names
        self._fault = fault
        self._entries: dict[str, T] = {}
        self._searched = False
        self._lock = RLock()
        for entry in entries:
            self.register(entry)

    def register(self, entry: T) -> None:
        """Add an entry; its names must be free."""
        fault = self._fault(entry)
        if fault:
            kind = entry.__name__ if isinstance(entry, type) else type(entry).__name__
            raise InputError(f"not {self._one}", value=kind, remedy=fault)
        names = self._names(entry)
        taken = {name for each in self._entries.values() for name in self._names(each)}
        for name in names:
            if name in taken:
                raise InputError(
                    f"{self._one} of this name is registered already",
                    value=name,
                    remedy="give it another key, or unregister the other one",
                )
        # Another table, so that whoever looks at the old one may finish.
        self._entries = self._entries | {names[0]: entry}

    def unregister(self, key: str) -> None:
        """Forget an entry, as before the cell of a notebook that registers it is run again."""
        self._entries = {name: each for name, each in self._entries.items() if name != key}

    @property
    def registered(self) -> Mapping[str, T]:
        """What has been registered so far, without looking for plug-ins."""
        return self._entries

    # --- a mapping --------------------------------------------------------------------------------

    def __getitem__(self, key: str) -> T:
        return self._all()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __repr__(self) -> str:
        return f"<registry of {self.group}: {', '.join(self._entries)}>"

    def _all(self) -> dict[str, T]:
        if not self._searched:
            with self._lock:
                if not self._searched:
                    self._search()
        return self._entries

    # --- plug-ins ---------------------------------------------------------------------------------

    def _search(self) -> None:
        """Register what installed packages bring; a faulty one is left out, and named."""
        from importlib.metadata import entry_points

        self._searched = True  # also for a plug-in that looks into the registry itself
        faults = []
        for point in sorted(entry_points(group=self.group), key=lambda each: each.name):
            try:
                self.register(point.load())
            except (Exception, SystemExit) as error:
                dist = point.dist
                whose = "an unknown package" if dist is None else f"{dist.name} {dist.version}"
                reason = " ".join(f"{type(error).__name__}: {error}".split())
                faults.append(f"the {self.what} {point.name!r} of {whose} is left out: {reason}")
        for fault in faults:
            warnings.warn(fault, PluginWarning, stacklevel=4)


class View(Mapping[str, U], Generic[T, U]):
    """What follows from the entries of a registry, by names of their own; never out of date."""

    def __init__(self, registry: Registry[T], read: Callable[[T], Iterable[tuple[str, U]]]) -> None:
        self._registry = registry
        self._read = read
        self._known: tuple[Mapping[str, T], dict[str, U]] = ({}, {})

    def _all(self) -> dict[str, U]:
        len(self._registry)  # looks for plug-ins
        entries, found = self._known
        if entries is not self._registry.registered:
            entries = self._registry.registered
            found = {name: made for each in entries.values() for name, made in self._read(each)}
            self._known = entries, found
        return found

    def __getitem__(self, key: str) -> U:
        return self._all()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


def name_of(thing: object) -> str:
    """Return the name of a function or class with its module, as far as it has one.

    >>> name_of(name_of), name_of(name_of.__call__), name_of(3)
    ('liftlock._runtime.registry.name_of', 'method-wrapper', 'int')
    """
    inner = getattr(thing, "func", thing)  # of functools.partial
    name = getattr(inner, "__qualname__", None)
    module = getattr(inner, "__module__", None)
    if name is None or module is None:
        return type(thing).__qualname__
    return name if module == "__main__" else f"{module}.{name}"
