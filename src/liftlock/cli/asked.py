"""What `design` and `compare` are asked for: a notion, budgets, a utility, options of a method."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from liftlock.cli.options import read_context
from liftlock.contexts import Context
from liftlock.designs.base import Design, check_options, option_names
from liftlock.designs.catalogue import DESIGNS, designs_for
from liftlock.designs.goal import usual_utility
from liftlock.errors import FileError, InputError
from liftlock.exact.numbers import exact
from liftlock.files import read_loss
from liftlock.notions.approximate import FORMS
from liftlock.notions.base import Notion
from liftlock.notions.registry import REGISTRY, make_notion, parse_claim
from liftlock.storage import check_writable
from liftlock.utility.distortion import LOSSES
from liftlock.utility.registry import REGISTRY as UTILITIES
from liftlock.utility.registry import make_utility
from liftlock.utility.utility import Utility

F = TypeVar("F", bound=Callable[..., Any])

DISTORTION = "distortion"
_SPOKEN_FOR = ("gap", "seconds", "watch")
"""Options of designs that have an option of the command, or are the command's own business."""

_START = 300
_LEDGER = re.compile(r'"format"\s*:\s*"liftlock\.(profile-)?ledger"')


def design_notions() -> tuple[str, ...]:
    """Return the notions that some design is made for."""
    return tuple(dict.fromkeys(name for entry in DESIGNS.values() for name in entry.notions))


def budget_options(command: F) -> F:
    """Add the options that say which guarantee is wanted."""
    for option in reversed(
        (
            click.option(
                "--notion",
                metavar="NOTION",
                help="lip, alip, ldp, eps_lower, eps_upper ...  [default: lip, or alip with two "
                "budgets]",
            ),
            click.option("--epsilon", metavar="E", help="The budget, in nats."),
            click.option("--epsilon-lower", metavar="E", help="How far beliefs may fall (alip)."),
            click.option("--epsilon-upper", metavar="E", help="How far beliefs may rise (alip)."),
        )
    ):
        command = option(command)
    return command


def delta_options(command: F) -> F:
    """Add the options of notions that a small probability may break."""
    for option in reversed(
        (
            click.option(
                "--delta",
                metavar="D",
                help="The probability with which the budget may be broken: (E, D)-LIP, or -LDP.",
            ),
            click.option(
                "--form",
                type=click.Choice(FORMS),
                help="With --delta: which (E, D)-LIP.  [default: ediv]",
            ),
        )
    ):
        command = option(command)
    return command


def with_delta(notion: str | None, delta: str | None, form: str | None) -> str | None:
    """Return the notion that a delta makes of the one that was named.

    >>> (
    ...     with_delta(None, "0.01", None),
    ...     with_delta("ldp", "0.01", None),
    ...     with_delta("lip", None, None),
    ... )
    ('lip_ediv', 'ldp_delta', 'lip')
    """
    key = None if notion is None else notion.strip().lower().replace("-", "_")
    if form is not None and (delta is None or key not in (None, "lip")):
        raise click.UsageError("--form goes with --delta, for (E, D)-LIP")
    if delta is not None and key in (None, "lip"):
        return f"lip_{form or 'ediv'}"
    if delta is not None and key == "ldp":
        return "ldp_delta"
    takes = key is not None and key in REGISTRY and "delta" in REGISTRY[key].parameters
    if delta is None and takes:
        raise click.UsageError(f"{key} allows a small probability of failure: give --delta")
    if delta is not None and key in REGISTRY and not takes:
        raise click.UsageError(f"--delta goes with lip and ldp, not with {key}")
    return notion


def utility_options(command: F) -> F:
    """Add the options that say what the mechanism is good for."""
    for option in reversed(
        (
            click.option(
                "--utility",
                metavar="UTILITY",
                help=f"{', '.join(UTILITIES)}, or {DISTORTION} with --loss.  "
                "[default: mutual-information; mean for numbers]",
            ),
            click.option(
                "--loss",
                metavar="LOSS",
                help=f"{', '.join(LOSSES)}, or a CSV: rows inputs, columns reproductions.",
            ),
        )
    ):
        command = option(command)
    return command


def read_notion(
    notion: str | None,
    epsilon: str | None,
    lower: str | None,
    upper: str | None,
    alpha: str | None,
    delta: str | None = None,
    form: str | None = None,
) -> Notion:
    """Make the guarantee that was asked for."""
    two = lower is not None or upper is not None
    if two and delta is not None:
        raise click.UsageError("--delta goes with one --epsilon, not with two budgets")
    notion = with_delta(notion, delta, form)
    for name, value in (
        ("--epsilon", epsilon),
        ("--epsilon-lower", lower),
        ("--epsilon-upper", upper),
    ):
        refuse_infinite(name, value)
    key = ("alip" if two else "lip") if notion is None else notion.strip().lower()
    key = key.replace("-", "_")
    if key not in design_notions():
        raise InputError(
            "no method is made for this notion",
            value=notion,
            remedy=f"give one of {', '.join(design_notions())}",
        )
    if key == "alip":
        if epsilon is not None:
            raise click.UsageError("alip takes --epsilon-lower and --epsilon-upper, no --epsilon")
        for name, value in (("lower", lower), ("upper", upper)):
            if value is None:
                raise click.UsageError(
                    f"alip takes --epsilon-lower and --epsilon-upper: --epsilon-{name} is missing"
                )
        return make_notion(key, {"lower": lower, "upper": upper})
    if two:
        raise click.UsageError(f"--epsilon-lower and --epsilon-upper go with alip, not with {key}")
    if epsilon is None:
        raise click.UsageError("how much may leak? give --epsilon")
    entry = REGISTRY[key]
    if delta is not None:
        return make_notion(key, {"epsilon": epsilon, "delta": delta})
    budgets: dict[str, object] = {entry.parameters[-1]: epsilon}
    if "alpha" in entry.parameters:
        if alpha is None:
            raise click.UsageError(f"{key} is of some order: give --alpha")
        budgets["alpha"] = alpha
    elif alpha is not None:
        raise click.UsageError(f"--alpha goes with notions of an order, not with {key}")
    return make_notion(key, budgets)


def refuse_infinite(name: str, value: str | None) -> None:
    """Say what to do instead of asking for an infinite budget."""
    if value is not None and value.strip().lower().lstrip("+") in {"inf", "infinity"}:
        raise InputError(
            f"{name} is infinite, which promises nothing",
            value=value,
            remedy="release the values as they are, or give a finite budget such as 10",
        )


def check_utility(utility: str | None, loss: str | None) -> None:
    """Refuse the name of a utility that does not exist, before any file is read."""
    if utility is None:
        if loss is not None:
            raise click.UsageError(f"--loss goes with --utility {DISTORTION}")
        return
    name = utility.strip().lower().replace("_", "-")
    if name == DISTORTION:
        if loss is None:
            raise click.UsageError(
                f"--utility {DISTORTION} needs --loss: {', '.join(LOSSES)} or a CSV file"
            )
    elif loss is not None:
        raise click.UsageError(f"--loss goes with --utility {DISTORTION}")
    elif name not in UTILITIES:
        raise InputError(
            "unknown utility",
            value=utility,
            remedy=f"known are {', '.join((*UTILITIES, DISTORTION))}",
        )


def read_utility(utility: str | None, loss: str | None, context: Context) -> Utility:
    """Make the utility that was asked for, for the symbols of a context."""
    check_utility(utility, loss)
    inputs = context.inputs
    if utility is None:
        return make_utility(usual_utility(context), inputs)
    if loss is None:
        return make_utility(utility, inputs)
    name = loss.strip().lower()
    return make_utility(name, inputs) if name in LOSSES else read_loss(loss, inputs)


def given_context(paths: dict[str, Any], note: Callable[[str], None]) -> Context:
    """Read the one context that must be named."""
    found = read_context(**paths, note=note)
    if found is None:
        raise click.UsageError("what is known of people? give --prior, --joint, --family or --law")
    return found


def check_output(output: Path, paths: dict[str, Any], name: str = "the output") -> None:
    """Refuse a file that cannot be written, or that would replace an input or a ledger.

    `paths` are the inputs by option; arguments are in capitals.
    """
    check_replaces_nothing(output, paths, name)
    refuse_ledger(output, name)


def check_replaces_nothing(output: Path, paths: Mapping[str, Any], name: str) -> None:
    """Refuse a file that cannot be written, or that is one of the inputs by option."""
    check_writable(output)
    for option, path in paths.items():
        if isinstance(path, Path) and path.exists() and output.resolve() == path.resolve():
            raise FileError(
                f"{name} would replace {option if option.isupper() else f'--{option}'}",
                where=str(output),
                remedy="choose another name",
            )


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
        else ("releases", "nobody knows what was spent")
    )
    raise FileError(
        f"{name} would replace a ledger of {lost[0]}",
        where=str(output),
        remedy=f"choose another name: without the ledger, {lost[1]}",
    )


def check_different(
    output: Path | None, plot: Path | None, first: str = "--output", second: str = "--plot"
) -> None:
    """Refuse to write the picture over the result."""
    if output is not None and plot is not None and output.resolve() == plot.resolve():
        raise FileError(
            f"{second} would replace {first}", where=str(plot), remedy="choose another name"
        )


def read_seconds(text: str | None) -> float | None:
    """Read a time limit."""
    if text is None:
        return None
    value = float(exact(text, name="--seconds"))
    if value <= 0:
        raise InputError("--seconds is not positive", value=text, remedy="give more than 0")
    return value


def read_gap(text: str, name: str = "--gap") -> float:
    """Read a relative gap."""
    gap = float(exact(text, name=name))
    if gap < 0:
        raise InputError(f"{name} is negative", value=text, remedy="give 0 or more")
    if gap >= 1:
        raise InputError(
            f"{name} of 1 or more accepts anything",
            value=text,
            remedy="it is relative: 0.01 is one per cent",
        )
    return gap


def chosen_options(
    entry: Design | None, gap: str | None, seconds: str | None, own: Sequence[str]
) -> dict[str, Any]:
    """Read the options that go to the method itself."""
    found: dict[str, Any] = {}
    if gap is not None:
        found["gap"] = read_gap(gap)
    limit = read_seconds(seconds)
    if limit is not None:
        found["seconds"] = limit
    for text in own:
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name or not value.strip():
            raise InputError(
                "an option of the method without a value",
                value=text,
                remedy="write it like --option name=value",
            )
        if name in found:
            raise InputError("option given twice", value=name, remedy="give it once")
        found[name] = _plain(value.strip())
    if "watch" in found:
        raise InputError(
            "progress is shown by itself", value="watch", remedy="leave out --option watch"
        )
    if entry is not None:
        check_options(entry, found, people=True)
    return found


def read_claims(
    texts: Sequence[str], *, alpha: str | None = None, at_epsilon: str | None = None
) -> list[Notion]:
    """Read what --check is given; a notion without a value is shown with one."""
    for text in texts:
        name, _, value = text.partition("=")
        key = name.strip().lower().replace("-", "_")
        if key in REGISTRY and not value.strip():
            parameters = REGISTRY[key].parameters
            one = f"{key}={','.join(name.upper() for name in parameters)}"
            raise InputError(
                "a claim without a value",
                value=text,
                remedy=f"write it like {f'{key}=1' if len(parameters) == 1 else one}",
            )
    return [parse_claim(text, alpha=alpha, at_epsilon=at_epsilon) for text in texts]


def own_options(entry: Design) -> tuple[str, ...]:
    """Return the options of a design that have no option of the command."""
    return tuple(name for name in option_names(entry) if name not in _SPOKEN_FOR)


def _plain(text: str) -> Any:
    """Read a value as a truth value, a number, a guarantee such as lip=1, or text."""
    if "=" in text:
        return parse_claim(text)
    lowered = text.lower()
    if lowered in {"true", "yes", "false", "no"}:
        return lowered in {"true", "yes"}
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


def check_explained(entry: Design | None) -> None:
    """Refuse --explain for a method that is a formula."""
    if entry is not None and not entry.accepts("explain"):
        of_kind = designs_for(entry.contexts[0]).values()
        able = [each.key for each in of_kind if each.accepts("explain")]
        raise InputError(
            "--explain is for methods that search",
            value=entry.key,
            remedy=f"leave it out, or use {' or '.join(able)}",
        )
