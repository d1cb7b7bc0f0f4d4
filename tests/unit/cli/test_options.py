"""Option groups: a command gets one object, and its options are what the group declares."""

from __future__ import annotations

from dataclasses import dataclass

import click
import pytest
from click.testing import CliRunner

from liftlock.cli._options import OptionGroup, nested_group, option, option_group, output_options


@dataclass(frozen=True)
class Inner(OptionGroup):
    """Two options."""

    size: int | None = option("--size", type=int, help="How large.")
    loud: bool = option("--loud", is_flag=True)


@dataclass(frozen=True)
class Outer(OptionGroup):
    """One of each kind, and a group inside."""

    names: tuple[str, ...] = option("-n", "--name", multiple=True)
    inner: Inner = nested_group(Inner, without=("loud",))
    mark: str = option("--mark", default=",", show_default=True)


@click.command()
@click.argument("table")
@option_group("outer", Outer)
@output_options(plot="Draw it")
def command(table: str, outer: Outer, output: object) -> None:
    """Say what was given."""
    click.echo(f"{table} {outer} {outer.given_options()} {outer.inner.given_options()} {output}")


def test_a_command_gets_one_object_for_each_group() -> None:
    run = CliRunner().invoke(command, ["t.csv", "-n", "a", "-n", "b", "--size", "0", "--json"])
    assert run.output == (
        "t.csv Outer(names=('a', 'b'), inner=Inner(size=0, loud=None), mark=',') "
        "['--name', '--mark'] ['--size'] "
        "OutputOptions(file=None, csv=None, plot=None, as_json=True)\n"
    )


def test_options_appear_in_the_order_of_their_declaration() -> None:
    shown = CliRunner().invoke(command, ["--help"]).output
    places = [shown.index(name) for name in ("--name", "--size", "--mark", "--plot", "--json")]
    assert places == sorted(places)
    assert "Draw it (.png, .svg or .pdf)." in shown
    assert "--loud" not in shown
    assert "[default: ,]" in shown


@pytest.mark.parametrize(
    ("group", "given"),
    [
        (Inner(), []),
        (Inner(0, False), ["--size"]),
        (Inner(loud=True), ["--loud"]),
        (Outer(()), []),
        (Outer(("a",), Inner(1)), ["--name"]),
    ],
)
def test_what_was_given_is_named(group: OptionGroup, given: list[str]) -> None:
    assert group.given_options() == given
