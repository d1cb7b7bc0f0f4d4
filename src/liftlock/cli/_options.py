"""Option groups: frozen dataclasses whose fields are options, handed over as one object.

`option_group` adds the options of a group to a command. The command gets the group as one argument,
and the group's `read` makes of it what the library takes.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from fractions import Fraction
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from liftlock._runtime.naming import refuse_existing
from liftlock._runtime.storage import check_writable, destination, write_atomically
from liftlock.cli._console import Notes, show, show_json
from liftlock.designs.catalogue import DESIGNS
from liftlock.designs.goal import usual_utility
from liftlock.errors import FileError, InputError
from liftlock.exact.numbers import exact
from liftlock.files import Note, read_loss
from liftlock.mechanism import Mechanism
from liftlock.model import Context
from liftlock.notions.approximate import FORMS
from liftlock.notions.base import Notion
from liftlock.notions.registry import REGISTRY, make_notion, parse_claim
from liftlock.report.plots.figure import check_picture
from liftlock.utility.base import Utility
from liftlock.utility.distortion import LOSSES
from liftlock.utility.registry import REGISTRY as UTILITIES
from liftlock.utility.registry import make_utility

if TYPE_CHECKING:
    from rich.console import RenderableType

    from liftlock.tables.formats.base import TableFile

F = TypeVar("F", bound=Callable[..., Any])

FILE = click.Path(path_type=Path, readable=False)
JSON_HELP = "Print one JSON object."
DISTORTION = "distortion"

_START = 300
_LEDGER = re.compile(r'"format"\s*:\s*"liftlock\.(profile-)?ledger"')
_A_YEAR = Fraction(365 * 24 * 3600)


class OrderedGroup(click.Group):
    """Subcommands in the order in which they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Keep the order of registration."""
        return list(self.commands)


# --- what plug-ins may add to ---------------------------------------------------------------------


class LazyChoice(click.Choice[str]):
    """A choice of names that are looked up when they are needed."""

    def __init__(self, names: Callable[[], tuple[str, ...]]) -> None:
        self._names = names
        super().__init__(())

    @property
    def choices(self) -> tuple[str, ...]:
        """The names that there are."""
        return self._names()

    @choices.setter
    def choices(self, names: tuple[str, ...]) -> None:
        """Ignore what click stores."""


class Listing(click.Option):
    """An option whose help lists, in place of ``{}``, the names that there are when it is shown."""

    def __init__(self, names: Any, listed: Iterable[str], **attributes: Any) -> None:
        self._listed, self._text = listed, str(attributes["help"])
        super().__init__(names, **attributes)

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Fill the names in."""
        self.help = self._text.format(", ".join(self._listed))
        return super().get_help_record(ctx)


# --- groups ---------------------------------------------------------------------------------------


def option(*names: str, **attributes: Any) -> Any:
    """Declare a field of a group as an option of the command line."""
    return field(default=None, metadata={"names": names, "attributes": attributes})


def nested_group(kind: type[OptionGroup], *, without: Collection[str] = ()) -> Any:
    """Declare a field of a group as a group itself."""
    return field(default=None, metadata={"group": kind, "without": without})


class OptionGroup:
    """What all groups can say; a group is a frozen dataclass."""

    def given_options(self) -> list[str]:
        """Return the names of the options that were given, without those of groups inside."""
        values = {
            each.metadata["names"][-1]: getattr(self, each.name)
            for each in _option_fields(type(self))
            if "names" in each.metadata
        }
        return [
            name
            for name, value in values.items()
            if value is not None and value is not False and value != ()
        ]


def option_group(
    keyword: str, kind: type[OptionGroup], *, without: Collection[str] = ()
) -> Callable[[F], F]:
    """Add the options of a group to a command, which gets them as one object.

    Options in `without` are left out: their fields are None.
    """
    return _pass_as_argument(
        keyword, _options_of(kind, without), lambda given: _read_group(kind, without, given)
    )


def _option_fields(kind: type[Any], without: Collection[str] = ()) -> list[Field[Any]]:
    """Return the fields of a group that options fill."""
    return [each for each in fields(kind) if each.metadata and each.name not in without]


def _options_of(kind: type[Any], without: Collection[str]) -> list[Callable[[Any], Any]]:
    options: list[Callable[[Any], Any]] = []
    for each in _option_fields(kind, without):
        told = each.metadata
        if "group" in told:
            options += _options_of(told["group"], told["without"])
        else:
            options.append(click.option(*told["names"], each.name, **told["attributes"]))
    return options


def _read_group(kind: type[Any], without: Collection[str], given: dict[str, Any]) -> Any:
    """Make a group of its options, which are taken from those given."""
    values = {}
    for each in _option_fields(kind, without):
        told = each.metadata
        if "group" in told:
            values[each.name] = _read_group(told["group"], told["without"], given)
        else:
            values[each.name] = given.pop(each.name)
    return kind(**values)


def _pass_as_argument(
    keyword: str,
    options: Sequence[Callable[[Any], Any]],
    read: Callable[[dict[str, Any]], Any],
) -> Callable[[F], F]:
    """Add options to a command, which gets what is read of them as one argument."""

    def add(command: F) -> F:
        @wraps(command)
        def called(**given: Any) -> Any:
            group = read(given)
            return command(**{keyword: group}, **given)

        decorated = called
        for each in reversed(options):
            decorated = each(decorated)
        return cast("F", decorated)

    return add


# --- the guarantee --------------------------------------------------------------------------------


@dataclass(frozen=True)
class GuaranteeOptions(OptionGroup):
    """Which guarantee is wanted: a notion and its budgets."""

    notion: str | None = option(
        "--notion",
        metavar="NOTION",
        help="lip, alip, ldp, eps_lower, eps_upper ...  [default: lip, or alip with two budgets]",
    )
    epsilon: str | None = option("--epsilon", metavar="E", help="Privacy budget, in nats.")
    epsilon_lower: str | None = option(
        "--epsilon-lower", metavar="E", help="Bound on how far a belief may fall (alip)."
    )
    epsilon_upper: str | None = option(
        "--epsilon-upper", metavar="E", help="Bound on how far a belief may rise (alip)."
    )
    delta: str | None = option(
        "--delta",
        metavar="D",
        help="Probability of exceeding the budget: (E, D)-LIP or (E, D)-LDP.",
    )
    form: str | None = option(
        "--form",
        type=click.Choice(FORMS),
        help="With --delta: which definition of (E, D)-LIP.  [default: ediv]",
    )
    alpha: str | None = option(
        "--alpha", metavar="A", help="Order of the notion, e.g. of alpha_lift."
    )

    def read(self) -> Notion:
        """Make the guarantee that was asked for."""
        two = self.epsilon_lower is not None or self.epsilon_upper is not None
        if two and self.delta is not None:
            raise click.UsageError("--delta goes with one --epsilon, not with two budgets")
        named = with_delta(self.notion, self.delta, self.form)
        refuse_infinite("--epsilon", self.epsilon)
        refuse_infinite("--epsilon-lower", self.epsilon_lower)
        refuse_infinite("--epsilon-upper", self.epsilon_upper)
        key = ("alip" if two else "lip") if named is None else _key(named)
        made_for = dict.fromkeys(name for entry in DESIGNS.values() for name in entry.notions)
        if key not in made_for:
            raise InputError(
                "no method is designed for this notion",
                value=named,
                remedy=f"give one of {', '.join(made_for)}",
            )
        if key == "alip":
            return self._two_budgets()
        if two:
            raise click.UsageError(
                f"--epsilon-lower and --epsilon-upper go with alip, not with {key}"
            )
        if self.epsilon is None:
            raise click.UsageError("no budget: give --epsilon")
        if self.delta is not None:
            return make_notion(key, {"epsilon": self.epsilon, "delta": self.delta})
        parameters = REGISTRY[key].parameters
        budgets: dict[str, object] = {parameters[-1]: self.epsilon}
        if "alpha" in parameters:
            if self.alpha is None:
                raise click.UsageError(f"{key} needs an order: give --alpha")
            budgets["alpha"] = self.alpha
        elif self.alpha is not None:
            raise click.UsageError(f"--alpha goes with notions that have an order, not with {key}")
        return make_notion(key, budgets)

    def _two_budgets(self) -> Notion:
        if self.epsilon is not None:
            raise click.UsageError("alip takes --epsilon-lower and --epsilon-upper, not --epsilon")
        budgets = {"lower": self.epsilon_lower, "upper": self.epsilon_upper}
        for name, value in budgets.items():
            if value is None:
                raise click.UsageError(
                    f"alip takes --epsilon-lower and --epsilon-upper: --epsilon-{name} is missing"
                )
        return make_notion("alip", budgets)


def with_delta(notion: str | None, delta: str | None, form: str | None) -> str | None:
    """Return the notion that a delta makes of the one that was named.

    >>> (
    ...     with_delta(None, "0.01", None),
    ...     with_delta("ldp", "0.01", None),
    ...     with_delta("lip", None, None),
    ... )
    ('lip_ediv', 'ldp_delta', 'lip')
    """
    key = None if notion is None else _key(notion)
    if form is not None and (delta is None or key not in (None, "lip")):
        raise click.UsageError("--form goes with --delta, for (E, D)-LIP")
    if delta is not None and key in (None, "lip"):
        return f"lip_{form or 'ediv'}"
    if delta is not None and key == "ldp":
        return "ldp_delta"
    takes = key is not None and key in REGISTRY and "delta" in REGISTRY[key].parameters
    if delta is None and takes:
        raise click.UsageError(f"{key} needs a probability of failure: give --delta")
    if delta is not None and key in REGISTRY and not takes:
        raise click.UsageError(f"--delta goes with lip and ldp, not with {key}")
    return notion


def _key(notion: str) -> str:
    return notion.strip().lower().replace("-", "_")


def refuse_infinite(name: str, value: str | None) -> None:
    """Say what to do instead of asking for an infinite budget."""
    if value is not None and value.strip().lower().lstrip("+") in {"inf", "infinity"}:
        raise InputError(
            f"{name} is infinite, which promises nothing",
            value=value,
            remedy="release the values as they are, or give a finite budget such as 10",
        )


def read_claims(
    texts: Sequence[str], *, alpha: str | None = None, at_epsilon: str | None = None
) -> list[Notion]:
    """Read what --check is given; a notion without a value is shown with one."""
    for text in texts:
        name, _, value = text.partition("=")
        key = _key(name)
        if key in REGISTRY and not value.strip():
            parameters = REGISTRY[key].parameters
            one = f"{key}={','.join(name.upper() for name in parameters)}"
            raise InputError(
                "the claim has no value",
                value=text,
                remedy=f"write it like {f'{key}=1' if len(parameters) == 1 else one}",
            )
    return [parse_claim(text, alpha=alpha, at_epsilon=at_epsilon) for text in texts]


# --- the utility ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class UtilityOptions(OptionGroup):
    """What the mechanism is to be good for."""

    utility: str | None = option(
        "--utility",
        metavar="UTILITY",
        cls=Listing,
        listed=UTILITIES,
        help=f"{{}}, or {DISTORTION} with --loss.  [default: mutual-information; mean for numbers]",
    )
    loss: str | None = option(
        "--loss",
        metavar="LOSS",
        help=f"{', '.join(LOSSES)}, or a CSV: rows inputs, columns reproductions.",
    )

    def check(self) -> None:
        """Refuse the name of a utility that does not exist, before any file is read."""
        name = "" if self.utility is None else self.utility.strip().lower().replace("_", "-")
        if name == DISTORTION:
            if self.loss is None:
                raise click.UsageError(
                    f"--utility {DISTORTION} needs --loss: {', '.join(LOSSES)} or a CSV file"
                )
        elif self.loss is not None:
            raise click.UsageError(f"--loss goes with --utility {DISTORTION}")
        elif self.utility is not None and name not in UTILITIES:
            raise InputError(
                "unknown utility",
                value=self.utility,
                remedy=f"use one of {', '.join((*UTILITIES, DISTORTION))}",
            )

    def read(self, context: Context) -> Utility:
        """Make the utility that was asked for, for the symbols of a context."""
        self.check()
        inputs = context.inputs
        if self.utility is None:
            return make_utility(usual_utility(context), inputs)
        if self.loss is None:
            return make_utility(self.utility, inputs)
        name = self.loss.strip().lower()
        return make_utility(name, inputs) if name in LOSSES else read_loss(self.loss, inputs)


# --- tables ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TableOptions(OptionGroup):
    """How a CSV is to be read."""

    delimiter: str | None = option(
        "--delimiter",
        metavar="MARK",
        help="Separator of a CSV.  [default: detected from its header]",
    )
    names: str | None = option(
        "--names", metavar="A,B,...", help="Column names of a CSV without a header."
    )

    def open(self, path: Path, note: Note) -> TableFile:
        """Open a table."""
        from liftlock.tables.formats import open_table

        names = None if self.names is None else [name.strip() for name in self.names.split(",")]
        mark = "\t" if self.delimiter in ("\\t", "tab") else self.delimiter
        return open_table(path, note=note, delimiter=mark, names=names)


def column_of(made: Mechanism, given: str | None, missing: str) -> str | None:
    """Return the column of a mechanism: the one given, or its own; None if it is for several.

    `missing` is the error if there is none.
    """
    names = ("",) if made.encoding is None else made.encoding.names
    if len(names) > 1:
        if given is not None:
            raise click.UsageError(
                f"the mechanism is for {' and '.join(names)} together: leave out --column"
            )
        return None
    if not (given or names[0]):
        raise click.UsageError(missing)
    return given or names[0]


# --- limits of a search ---------------------------------------------------------------------------


NORMALISE: Mapping[str, Any] = {
    "is_flag": True,
    "help": "Divide probabilities that do not sum to 1 by their sum.",
}
"""The option --normalise, of a group or of a command."""

REQUIRE_GAP: Mapping[str, Any] = {
    "metavar": "G",
    "help": "Refuse (exit code 1) unless the gap to the optimum is proved to be at most G.",
}
"""The option --require-gap, of a group or of a command."""


def bits_option(command: F) -> F:
    """Add the option that says how finely rows are rounded."""
    return click.option(
        "--bits",
        type=click.IntRange(1, 62),
        default=52,
        show_default=True,
        help="Precision: each row becomes integers that sum to 2^BITS.",
    )(command)


def read_seconds(text: str) -> float:
    """Read a time limit; nobody waits for more than a year."""
    seconds = exact(text, name="--seconds")
    if seconds <= 0:
        raise InputError("--seconds is not positive", value=text, remedy="give more than 0")
    return float(min(seconds, _A_YEAR))


def read_gap(text: str, name: str = "--gap") -> float:
    """Read a relative gap."""
    gap = float(exact(text, name=name))
    if gap < 0:
        raise InputError(f"{name} is negative", value=text, remedy="give 0 or more")
    if gap >= 1:
        raise InputError(
            f"{name} must be below 1",
            value=text,
            remedy="give a relative gap: 0.01 is one per cent",
        )
    return gap


# --- results --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OutputOptions:
    """Where results go: files, and standard output as a report or as JSON."""

    file: Path | None = None
    csv: Path | None = None
    plot: Path | None = None
    as_json: bool = False

    def check(self, inputs: Mapping[str, Path | None], **pictures: Path | None) -> None:
        """Refuse files that cannot be written, or would replace an input or one another.

        `pictures` are those that other options ask for.
        """
        more = {f"--{name.replace('_', '-')}": path for name, path in pictures.items()}
        for path in (self.plot, *more.values()):
            if path is not None:
                check_picture(path)
        own = {"the output": self.file, "--csv": self.csv, "--plot": self.plot}
        check_outputs(own | more, inputs)

    def show(
        self, note: Notes, data: Callable[[], dict[str, Any]], report: Callable[[], RenderableType]
    ) -> None:
        """Print a result, as JSON with the notes in it or as a report, and then the notes."""
        if self.as_json:
            show_json(data() | {"notes": list(note.texts)})
        else:
            show(report())
        note.show()


@dataclass(frozen=True)
class SafeTableOptions(OptionGroup):
    """The table to write."""

    output: Path = option(
        "-o",
        "--output",
        type=FILE,
        required=True,
        metavar="SAFE",
        help="Table to write (.csv, .parquet, .arrow ...).",
    )
    force: bool = option("--force", is_flag=True, help="Overwrite existing files.")
    as_json: bool = option("--json", is_flag=True, help=JSON_HELP)


def output_options(
    *,
    plot: str | None = None,
    file: tuple[str, str] | None = None,
    csv: str | None = None,
) -> Callable[[F], F]:
    """Add the options that say where results go; each text says what is written.

    `file` is the metavariable of -o and its help.
    """
    options: list[Callable[[Any], Any]] = []
    if file is not None:
        metavar, says = file
        options.append(
            click.option("-o", "--output", "file", type=FILE, metavar=metavar, help=says)
        )
    if csv is not None:
        options.append(click.option("--csv", type=FILE, metavar="FILE", help=csv))
    if plot is not None:
        says = f"{plot} (.png, .svg or .pdf)."
        options.append(click.option("--plot", type=FILE, metavar="PICTURE", help=says))
    options.append(click.option("--json", "as_json", is_flag=True, help=JSON_HELP))
    names = ("file", "csv", "plot", "as_json")
    return _pass_as_argument(
        "output",
        options,
        lambda given: OutputOptions(**{name: given.pop(name) for name in names if name in given}),
    )


def check_outputs(
    outputs: Mapping[str, Path | None],
    inputs: Mapping[str, Path | None],
    *,
    force: bool = True,
    ledger: Path | None = None,
) -> None:
    """Refuse outputs that are inputs, one another or ledgers; without `force`, that are there.

    `ledger` is written too, and may be there.
    """
    places: dict[Path, str] = {}
    if ledger is not None:
        _check_output(ledger, "the ledger", inputs)
        places[destination(ledger).resolve()] = "--ledger"
    for name, path in outputs.items():
        if path is None:
            continue
        _check_output(path, name, inputs)
        refuse_ledger(path, name)
        if not force:
            refuse_existing(path)
        place = destination(path).resolve()
        if place in places:
            raise _replaces(name, places[place], path)
        places[place] = name


def _check_output(path: Path, name: str, inputs: Mapping[str, Path | None]) -> None:
    """Refuse a file that cannot be written, or that is an input."""
    check_writable(path)
    for other, given in inputs.items():
        if given is not None and given.exists() and path.exists() and path.samefile(given):
            raise _replaces(name, other, path)


def _replaces(name: str, other: str, path: Path) -> FileError:
    return FileError(
        f"{name} would overwrite {other}", where=str(path), remedy="choose another name"
    )


def file_state(path: Path) -> tuple[int, ...]:
    """Return what tells whether a file was written to."""
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def check_unchanged(table: Path, before: tuple[int, ...], done: str) -> None:
    """Refuse to release a table that is another than the one that was counted."""
    if file_state(table) != before:
        raise FileError(
            f"the table changed while it was being {done}",
            where=str(table),
            remedy="run it again; nothing was written",
        )


def csv_text(header: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    """Return rows as CSV.

    >>> csv_text(["job", "count"], [["cook, chef", 3]])
    'job,count\\n"cook, chef",3\\n'
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return stream.getvalue()


def write_records(path: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """Write records that have the same fields as CSV."""
    write_atomically(path, csv_text(records[0], (record.values() for record in records)))


def refuse_ledger(output: Path, name: str = "the output") -> None:
    """Refuse to write over a ledger: without it, observations would be released again."""
    try:
        with output.open(encoding="utf-8", errors="replace") as stream:
            start = stream.read(_START)
    except (OSError, ValueError):
        return  # nothing there to be lost, or nothing that can be read
    found = _LEDGER.search(start)
    if found is None:
        return
    lost = (
        ("observations", "observations may be released twice")
        if found[1]
        else ("releases", "the budget already spent is unknown")
    )
    raise FileError(
        f"{name} would overwrite a ledger of {lost[0]}",
        where=str(output),
        remedy=f"choose another name: without the ledger, {lost[1]}",
    )
