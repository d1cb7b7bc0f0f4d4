"""Folders on the file systems that Spark can write to, hidden ones beside them among these."""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from liftlock.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_HIDDEN = re.compile(r"[0-9a-f]{32}")
_OWNER_ONLY = "700"


def leftovers(path: str | os.PathLike[str], spark: SparkSession | None = None) -> tuple[str, ...]:
    """Return the hidden folders beside `path` of releases to it that never ended, or still run.

    A driver that is killed cannot delete what its tasks have drawn. `release` and `protect` refuse
    to draw the same rows again beside it. Without `spark` it is the active session.
    """
    if spark is None:
        from pyspark.sql import SparkSession

        spark = SparkSession.getActiveSession()
    if spark is None:
        raise InputError("no active Spark session", remedy="start one, or give spark=")
    return tuple(each.shown for each in Folder.of(spark, os.fspath(path)).leftovers())


@dataclass(frozen=True)
class Folder:
    """A folder on any file system that Spark can write to."""

    jvm: Any
    configuration: Any
    place: Any

    @classmethod
    def of(cls, spark: SparkSession, path: str) -> Folder:
        """Return the folder of that name, relative ones as Spark understands them."""
        jvm: Any = spark.sparkContext._jvm
        configuration = spark.sparkContext._jsc.hadoopConfiguration()
        place = jvm.org.apache.hadoop.fs.Path(path)
        system = place.getFileSystem(configuration)
        return cls(jvm, configuration, system.makeQualified(place))

    @property
    def name(self) -> str:
        """The last part of the path."""
        return str(self.place.getName())

    @property
    def text(self) -> str:
        """The whole path, with its scheme."""
        return str(self.place.toString())

    @property
    def local(self) -> str | None:
        """The path on the disks of this machine, None for one that every machine understands."""
        uri = self.place.toUri()
        return str(uri.getPath()) if uri.getScheme() == "file" else None

    @property
    def shown(self) -> str:
        """The path as people write it."""
        return self.local or self.text

    @property
    def _system(self) -> Any:
        return self.place.getFileSystem(self.configuration)

    def exists(self) -> bool:
        """Tell whether anything is there."""
        return bool(self._system.exists(self.place))

    def sibling(self, name: str) -> Folder:
        """Return another folder in the same one."""
        return self._at(self.place.getParent(), name)

    def child(self, name: str) -> Folder:
        """Return a folder in this one."""
        return self._at(self.place, name)

    def _at(self, parent: Any, name: str) -> Folder:
        place = self.jvm.org.apache.hadoop.fs.Path(parent, name)
        return Folder(self.jvm, self.configuration, place)

    @contextmanager
    def hidden(self, suffix: str = "") -> Iterator[Folder]:
        """Make a hidden folder beside this one, for its owner alone, and delete it at the end."""
        made = self.sibling(f".{self.name}.{uuid.uuid4().hex}{suffix}")
        mode = self.jvm.org.apache.hadoop.fs.permission.FsPermission(_OWNER_ONLY)
        try:
            # The mode given to `mkdirs` would be bent by the umask.
            self._system.mkdirs(made.place)
            self._system.setPermission(made.place, mode)
            yield made
        except BaseException as error:
            try:
                made.delete()
            except Exception:
                error.add_note(f"delete what may be left of it: {made.shown}")
            raise
        made.delete()

    def leftovers(self) -> list[Folder]:
        """Return the hidden folders that were made beside this one."""
        parent, start = self.place.getParent(), f".{self.name}."
        if parent is None:
            return []
        pattern = self.jvm.org.apache.hadoop.fs.Path(
            re.sub(r"([\\\[\]{}*?^])", r"\\\1", f"{parent.toString().rstrip('/')}/{start}") + "*"
        )
        found = self._system.globStatus(pattern) or ()
        names = sorted(str(each.getPath().getName()) for each in found)
        return [self.sibling(name) for name in names if _HIDDEN.fullmatch(name.removeprefix(start))]

    def receive(self, fresh: Folder) -> None:
        """Move a folder here, in one step; refuse if something came here meanwhile."""
        files = self.jvm.org.apache.hadoop.fs.FileContext.getFileContext(
            self.place.toUri(), self.configuration
        )
        # `FileSystem.rename` would move it *into* a folder that exists.
        rename = self.jvm.org.apache.hadoop.fs.Options.Rename
        kinds = self._gateway().new_array(rename, 1)
        kinds[0] = rename.NONE
        files.rename(fresh.place, self.place, kinds)

    def _gateway(self) -> Any:
        from pyspark import SparkContext

        return SparkContext._gateway

    def delete(self) -> None:
        """Remove it with all that is in it, if it is there."""
        self._system.delete(self.place, True)
