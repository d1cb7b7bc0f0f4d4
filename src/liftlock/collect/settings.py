"""Settings of the server: from a file, the environment, or options; unknown ones are refused."""

from __future__ import annotations

import difflib
import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from liftlock._runtime.storage import read_text
from liftlock.errors import FileError, InputError, extra

PREFIX = "LIFTLOCK_COLLECT_"
"""What the variables of the environment begin with."""
CONFIG = f"{PREFIX}CONFIG"
"""The variable that names a file of settings."""


def _setting(default: Any, says: str, *, least: float | None = None) -> Any:
    return field(default=default, metadata={"says": says, "least": least})


@dataclass(frozen=True)
class Settings:
    """How surveys are served. Relative paths are those of the file that the settings are from.

    >>> Settings.from_data({"surveys": ["health.yaml"], "port": 8123}).admin_port
    8124
    >>> Settings.from_data({"prot": 8123})
    Traceback (most recent call last):
    liftlock.errors.InputError: unknown setting: 'prot'; did you mean 'port'?
    """

    surveys: tuple[Path, ...] = _setting((), "the survey files that are served")
    store: str = _setting(
        "", "the SQLite file, or postgresql://...; else NAME.sqlite beside the first survey"
    )
    host: str = _setting("127.0.0.1", "the address that people answer at")
    port: int = _setting(8000, "its port; 0: any that is free", least=0)
    admin_host: str = _setting("127.0.0.1", "the address of the operator")
    admin_port: int = _setting(-1, "its port; else the one after `port`", least=-1)
    admin_token: str = _setting(
        "", "a token of an owner; else one is made for this run and printed"
    )
    key_file: str = _setting(
        "", "the key of write tokens; else STORE.key, which is made when it is needed"
    )
    backups: str = _setting("", "the folder that backups go to; else the store's")
    origins: tuple[str, ...] = _setting((), "the other web sites whose pages may send reports")
    proxies: tuple[str, ...] = _setting(
        (), "the addresses of proxies whose X-Forwarded-For is believed"
    )
    most_bytes: int = _setting(262_144, "the largest body of reports", least=1024)
    most_headers: int = _setting(
        16_384, "the most bytes of a request line and its headers", least=1024
    )
    most_connections: int = _setting(1_000, "the most connections at a time", least=1)
    most_waiting: int = _setting(
        4_096, "the most requests that wait for the disk before others are told 'busy'", least=1
    )
    requests_per_minute: int = _setting(
        600, "the most requests a minute from one address; 0: any number", least=0
    )
    header_seconds: float = _setting(10.0, "how long a request line and headers may take", least=0)
    body_seconds: float = _setting(20.0, "how long a body may take", least=0)
    response_seconds: float = _setting(60.0, "how long a client may take to read", least=0)
    keep_alive_seconds: int = _setting(15, "how long an idle connection is kept", least=1)
    drain_seconds: float = _setting(
        0.5, "how long 503 is answered before the end, so that others take over", least=0
    )
    stop_seconds: int = _setting(
        20, "how long requests may take to be finished at the end", least=1
    )
    fold_lag: int = _setting(
        1_000_000, "not ready while more reports than that wait to be counted", least=1
    )

    def __post_init__(self) -> None:
        for each in fields(self):
            least, value = each.metadata["least"], getattr(self, each.name)
            if least is not None and not least <= value:
                raise InputError(f"{each.name} too small", value=value, remedy=f"at least {least}")
        for name in ("port", "admin_port"):
            if getattr(self, name) > 65_535:
                raise InputError(
                    f"{name} too large", value=getattr(self, name), remedy="at most 65535"
                )
        if self.admin_port == -1:
            object.__setattr__(self, "admin_port", self.port and min(self.port + 1, 65_535))
        if self.admin_token and len(self.admin_token) < 20:
            raise InputError("admin_token too short to be a secret", remedy="20 characters or more")
        for origin in self.origins:
            if origin != "*" and not origin.startswith(("http://", "https://")):
                raise InputError(
                    "not an origin", value=origin, remedy="such as https://example.org"
                )

    @property
    def place(self) -> str:
        """Where the store is."""
        if self.store:
            return self.store
        if not self.surveys:
            raise InputError(
                "neither a survey nor a store",
                remedy=f"give a survey file (without a command line: {PREFIX}SURVEYS), or a store",
            )
        return str(self.surveys[0].with_suffix(".sqlite"))

    @property
    def shared(self) -> bool:
        """Whether other servers may use the same store."""
        return self.place.startswith(("postgresql://", "postgres://"))

    # --- reading them ---------------------------------------------------------------------------

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Every setting there is."""
        return tuple(each.name for each in fields(cls))

    @classmethod
    def from_data(
        cls,
        data: Mapping[str, Any],
        folder: Path | None = None,
        places: Mapping[str, str] | None = None,
    ) -> Settings:
        """Read settings by name; paths are relative to the folder, `places` say where each is."""
        found: dict[str, Any] = {}
        known = cls.names()
        for name, value in data.items():
            if name not in known:
                near = difflib.get_close_matches(str(name), known, 1)
                remedy = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
                where = (places or {}).get(name, "")
                raise InputError("unknown setting", where=where, value=name, remedy=remedy)
            found[name] = _convert(name, value, getattr(_DEFAULTS, name))
        if folder is not None:
            found = {name: _placed(name, value, folder) for name, value in found.items()}
        return cls(**found)

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str] | None = None,
        environment: Mapping[str, str] | None = None,
        **options: Any,
    ) -> Settings:
        """Read a file, then the environment, then options: what is read later prevails.

        The file is that of LIFTLOCK_COLLECT_CONFIG where none is given.
        """
        told = os.environ if environment is None else environment
        place = path if path is not None else told.get(CONFIG)
        data: dict[str, Any] = {}
        if place:
            data |= _relative_to(Path(place).parent, read_settings(Path(place)))
        places = dict.fromkeys(data, str(place))
        variables = read_environment(told)
        places |= {name: f"the variable {PREFIX}{name.upper()}" for name in variables}
        return cls.from_data({**data, **variables, **options}, places=places)

    def changed(self, **options: Any) -> Settings:
        """Return these settings with others instead of some."""
        return replace(self, **options)


_DEFAULTS = Settings()
_PATHS = ("store", "key_file", "backups")


def read_settings(path: Path) -> dict[str, Any]:
    """Read a file of settings: TOML, YAML or JSON, by the end of its name."""
    text = read_text(path)
    kind = path.suffix.lower()
    try:
        if kind == ".toml":
            data: Any = tomllib.loads(text)
        elif kind == ".json":
            data = json.loads(text)
        elif kind in (".yaml", ".yml"):
            data = _read_yaml(text)
        else:
            raise FileError(
                "no file of settings", where=str(path), remedy="name it .toml, .yaml or .json"
            )
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise FileError("cannot read", where=str(path), value=str(error)) from None
    if not isinstance(data, dict):
        raise FileError("not a list of settings", where=str(path), remedy="write NAME: VALUE lines")
    return data


def read_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    """Read the variables LIFTLOCK_COLLECT_NAME.

    >>> read_environment({"LIFTLOCK_COLLECT_PORT": "8123", "HOME": "/root"})
    {'port': '8123'}
    """
    return {
        name.removeprefix(PREFIX).lower(): value
        for name, value in environment.items()
        if name.startswith(PREFIX) and name != CONFIG
    }


def _read_yaml(text: str) -> Any:
    with extra("collect"):
        import yaml
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from None


def _convert(name: str, value: Any, default: Any) -> Any:
    """Take a value as one of the kind of its default; a list may be text with commas."""
    wrong = InputError(f"{name} is not {_KINDS[type(default)]}", value=value)
    if isinstance(default, tuple):
        if isinstance(value, str | Path):
            value = [part.strip() for part in str(value).split(",") if part.strip()]
        if not isinstance(value, Sequence) or not all(isinstance(e, str | Path) for e in value):
            raise wrong
        return tuple(Path(each) if name == "surveys" else str(each) for each in value)
    if isinstance(default, str):
        if not isinstance(value, str | Path):
            raise wrong
        return str(value)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise wrong
    try:
        number = type(default)(value)
    except (ValueError, OverflowError):
        raise wrong from None
    if isinstance(value, float) and number != value:
        raise wrong
    return number


_KINDS = {tuple: "a list", str: "text", int: "a whole number", float: "a number"}


def _relative_to(folder: Path, data: dict[str, Any]) -> dict[str, Any]:
    return {name: _placed(name, value, folder) for name, value in data.items()}


def _placed(name: str, value: Any, folder: Path) -> Any:
    """Take a path as one from the folder of the file that names it."""
    if name == "surveys" and isinstance(value, str | Path):
        value = [part.strip() for part in str(value).split(",") if part.strip()]
    if name == "surveys" and isinstance(value, list | tuple):
        return tuple(folder / Path(each) for each in value if isinstance(each, str | Path))
    if name in _PATHS and isinstance(value, str) and value and "://" not in value:
        return str(folder / value)
    return value
