"""`liftlock design`: the best mechanism for a context, certified, with its utility."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click
from rich.console import Group, RenderableType

from liftlock._runtime.progress import Step
from liftlock._runtime.storage import write_together
from liftlock._solver.problem import Step as SolverStep
from liftlock._solver.strategies import explain_steps
from liftlock.cli._console import Notes, show_status, warn
from liftlock.cli._context import ContextOptions
from liftlock.cli._options import (
    DISTORTION,
    FILE,
    REQUIRE_GAP,
    GuaranteeOptions,
    OptionGroup,
    OutputOptions,
    UtilityOptions,
    bits_option,
    option,
    option_group,
    output_options,
    read_gap,
    read_seconds,
    refuse_infinite,
)
from liftlock.cli._profiles import GraphOptions, read_square_loss
from liftlock.designs.api import best, design, design_as_published, usual_method
from liftlock.designs.base import Design, check_fits, check_options, option_names
from liftlock.designs.baselines import (
    Baseline,
    ProfileBaseline,
    measure_baselines,
    measure_profile_baselines,
)
from liftlock.designs.catalogue import check_published, designs_for, find_design
from liftlock.designs.comparison import fitting_methods
from liftlock.errors import InputError, LiftlockError, NotCertified, NotDefined
from liftlock.exact.budget import Budget
from liftlock.exact.rounding import DEFAULT_BITS
from liftlock.files import read_joint, read_label_columns, read_weights
from liftlock.files.sheet import DIVIDED
from liftlock.mechanism import Mechanism
from liftlock.model import Context, Prior, representative
from liftlock.model.alphabet import Alphabet, label_to_json
from liftlock.model.columns import TableEncoding
from liftlock.model.continuous.grid import GridPrior
from liftlock.model.provenance import value_to_json
from liftlock.model.structured import SupportChannel
from liftlock.notions.audit import ProfileAudit, audit
from liftlock.notions.base import Notion
from liftlock.notions.certificate import Certificate, enclosure_to_json
from liftlock.notions.guarantee import Wanted
from liftlock.notions.profile import ProfilePrivacy
from liftlock.notions.registry import parse_claim
from liftlock.report.plots.graph import draw_graph
from liftlock.report.plots.map import draw_map
from liftlock.report.plots.numbers import draw_numbers
from liftlock.report.text.design import design_report, explanation
from liftlock.report.text.numbers import number_data
from liftlock.report.text.profiles import profile_report, unprotected_text
from liftlock.utility.base import Utility, restrict
from liftlock.utility.distortion import places_of
from liftlock.utility.mean import points_of
from liftlock.utility.profile_utility import AIMS, profile_errors

_NOT_FOR_PROFILES = ("--gap", "--require-gap", "--as-published")
_SPOKEN_FOR = ("gap", "seconds", "watch")
"""Options of designs that have an option of the command, or are the command's own business."""

_FOR_PROFILES = "smooth-categorical"
"""The method for profiles unless one is named: the first of them."""


@dataclass(frozen=True)
class MethodOptions(OptionGroup):
    """How the mechanism is made, and when the search for it stops."""

    method: str | None = option(
        "--method",
        metavar="METHOD",
        help="Method; see `liftlock designs`.  [default: optimal, or the best that applies; "
        f"{_FOR_PROFILES} for profiles]",
    )
    gap: str | None = option(
        "--gap", metavar="G", help="Stop at this proved relative gap (method optimal)."
    )
    seconds: str | None = option(
        "--seconds",
        metavar="T",
        help="Time limit of the search; the best mechanism found so far is used.",
    )
    required: str | None = option("--require-gap", **REQUIRE_GAP)
    own: tuple[str, ...] = option(
        "--option",
        multiple=True,
        metavar="NAME=VALUE",
        help="Option of the method. Repeatable.",
    )
    as_published: bool = option(
        "--as-published",
        is_flag=True,
        help="Use a published formula unchanged, certified for the guarantee it actually has.",
    )

    def read_required(self) -> float | None:
        """Read the gap beyond which a mechanism is refused."""
        return None if self.required is None else read_gap(self.required, "--require-gap")

    def read(self, entry: Design | None) -> dict[str, Any]:
        """Read the options that go to the method itself."""
        found: dict[str, Any] = {}
        if self.gap is not None:
            found["gap"] = read_gap(self.gap)
        if self.seconds is not None:
            found["seconds"] = read_seconds(self.seconds)
        for text in self.own:
            name, equals, value = text.partition("=")
            name = name.strip().replace("-", "_")
            if not equals or not name or not value.strip():
                raise InputError(
                    "--option has no value",
                    value=text,
                    remedy="write it like --option name=value",
                )
            if name in found:
                raise InputError("option given twice", value=name, remedy="give it once")
            found[name] = _parse_value(value.strip())
        if "watch" in found:
            raise InputError(
                "progress is shown by itself", value="watch", remedy="leave out --option watch"
            )
        if entry is not None:
            check_options(entry, found, people=True)
        return found


@dataclass(frozen=True)
class FurtherOptions(OptionGroup):
    """What the mechanism is to keep besides."""

    joints: tuple[tuple[str, str], ...] = option(
        "--also",
        nargs=2,
        multiple=True,
        metavar="JOINT CLAIM",
        help="A joint of another secret and the same values, and the guarantee about that secret, "
        "e.g. race.csv lip=0.3. Repeatable.",
    )
    value: str | None = option(
        "--value-budget",
        metavar="CLAIM",
        help="Besides, how much may be told of the value itself, e.g. ldp=2.",
    )

    def inputs(self) -> dict[str, Path | None]:
        """Return the files that are read, by option."""
        return {f"--also {place + 1}": Path(path) for place, (path, _) in enumerate(self.joints)}

    def read(self, context: Context, note: Notes) -> list[Wanted]:
        """Read the further guarantees."""
        found = [Wanted(parse_claim(claim), read_joint(path, note)) for path, claim in self.joints]
        if self.value is not None:
            found.append(Wanted(parse_claim(self.value), representative(context)))
        return found


def _parse_value(text: str) -> Any:
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


@click.command("design")
@option_group("context", ContextOptions)
@option_group("graph", GraphOptions, without=("column", "smooth"))
@click.option(
    "--weights",
    type=FILE,
    metavar="WEIGHTS",
    help="CSV profile,weight: weights of the profiles in the utility.  [default: equal]",
)
@option_group("guarantee", GuaranteeOptions)
@option_group("further", FurtherOptions)
@option_group("utility", UtilityOptions)
@option_group("method", MethodOptions)
@bits_option
@click.option(
    "--explain",
    is_flag=True,
    help="Explain how the problem was solved: reductions, strategy and why.",
)
@click.option("--no-comparison", is_flag=True, help="Skip the comparison with other methods.")
@output_options(
    file=("MECHANISM", "Mechanism file to write (JSON)."),
    plot="Draw the output distribution of each number, a map of places, or the graph of profiles",
)
def design_command(
    context: ContextOptions,
    graph: GraphOptions,
    weights: Path | None,
    guarantee: GuaranteeOptions,
    further: FurtherOptions,
    utility: UtilityOptions,
    method: MethodOptions,
    bits: int,
    explain: bool,
    no_comparison: bool,
    output: OutputOptions,
) -> int:
    """Design a mechanism for a prior and a budget, certify it, and report its utility.

    Give a prior (the secret is the value itself), a joint distribution of secret and value, a set
    of priors, or a graph of profiles (--profiles or --table). The mechanism is rounded to integers
    and audited exactly; it is written only if it keeps its guarantee. Ctrl-C stops a long search
    and keeps the best mechanism found so far.

    Connect profiles by --edges, --groups, --graph, or the --group-column of a table. Their utility
    is minimax (the default), hamming, absolute, squared, mutual-information, or distortion with
    --loss, a CSV: rows values, columns outputs.

    \b
    liftlock design --prior prior.csv --epsilon 1 --utility histogram -o safe.json
    liftlock design --joint joint.csv --epsilon-lower 1.3 --epsilon-upper 0.7
    liftlock design --prior prior.csv --epsilon 1 --method safe-response
    liftlock design --prior staff.csv --column pay --domain 0:300000 --epsilon 1
    liftlock design --prior town.csv --epsilon 1 --utility distance --plot map.png
    liftlock design --joint joint.csv --epsilon 1 --explain
    liftlock design --profiles profiles.csv --edges edges.csv --epsilon 1
    liftlock design --table use.csv --profile-column user --column usage \\
        --group-column role --smooth 1 --epsilon 0.5

    Exit code 1: the method exceeds the budget (see --as-published), or --require-gap is not met;
    2: bad input.
    """
    note = Notes()
    search = _Search(method, bits, output, note, explain=explain, compared=not no_comparison)
    if graph.is_given:
        if guarantee.notion is not None and guarantee.notion.strip().lower() != "profile":
            raise click.UsageError("a graph of profiles has the notion profile: leave out --notion")
        others = [
            name for name in guarantee.given_options() if name not in ("--notion", "--epsilon")
        ]
        others += [name for name in method.given_options() if name in _NOT_FOR_PROFILES]
        others += further.given_options()
        graph = graph.alone(context, others)
        found = search.for_profiles(graph, guarantee.epsilon, utility, weights)
    else:
        if weights is not None:
            raise click.UsageError("--weights goes with a graph of profiles")
        found = search.for_context(context, guarantee.read(), further, utility)

    def data() -> dict[str, Any]:
        file = None if output.file is None else str(output.file)
        told = found.data() | {"file": file, "notes": note.texts}
        if explain:
            told["explanation"] = [
                {"part": step.part, "name": step.name, "says": step.summary, "taken": step.taken}
                for step in explain_steps(search.steps)
            ]
        return told

    def report() -> RenderableType:
        if not explain:
            return found.report()
        return Group(found.report(), explanation(explain_steps(search.steps)))

    output.show(note, data, report)
    if found.warning:
        warn(found.warning)
    return 0


@dataclass(frozen=True)
class _DesignResult:
    """A mechanism that was designed, as it is printed."""

    data: Callable[[], dict[str, Any]]
    report: Callable[[], RenderableType]
    warning: str = ""


@dataclass(frozen=True)
class _Search:
    """How a mechanism is searched for, and where it goes."""

    method: MethodOptions
    bits: int
    output: OutputOptions
    note: Notes
    explain: bool
    compared: bool
    steps: list[SolverStep] = field(default_factory=list)

    def for_context(
        self,
        context: ContextOptions,
        guarantee: Notion,
        further: FurtherOptions,
        utility: UtilityOptions,
    ) -> _DesignResult:
        """Design for a prior, a joint, a set of priors or numbers."""
        named, note, output = self.method.method, self.note, self.output
        key = usual_method(guarantee) if named is None else named
        entry = None if key is None else find_design(key)
        utility.check()
        options = self._options(entry)
        most = self.method.read_required()
        if self.method.as_published:
            if entry is None:
                raise click.UsageError("--as-published needs a formula: give --method")
            if further.given_options():
                name = further.given_options()[0]
                raise click.UsageError(f"{name} does not go with --as-published")
            check_published(entry, guarantee, options)
        output.check(context.inputs() | further.inputs())
        known = context.require(note)
        also = further.read(known, note)
        context.refuse_vacuous(known, [guarantee])
        places = None if isinstance(known, GridPrior) else places_of(known.inputs)
        if output.plot is not None and not (isinstance(known, GridPrior) or places is not None):
            raise click.UsageError(
                "--plot draws mechanisms for numbers and places; draw this one with liftlock audit "
                "--plot"
            )
        if entry is not None:
            check_method(entry, known, guarantee, named=named is not None)
        goal = utility.read(known)
        with show_status("designing") as progress:
            if entry is None or entry.accepts("watch"):
                options["watch"] = progress
            try:
                every: list[Notion | Wanted] = [guarantee, *also]
                made = self._make(entry, known, every if also else guarantee, goal, options)
            except (TypeError, ValueError, AttributeError) as error:
                if isinstance(error, LiftlockError) or not self.method.own:
                    raise
                raise _option_error(entry, self.method.own, error) from None
            if context.prior is not None and isinstance(known.inputs.labels[0], tuple):
                columns = read_label_columns(context.prior)
                if columns:
                    encoding = TableEncoding.of(columns, made.channel.inputs)
                    made = replace(made, encoding=encoding)
            made = self._with_notes(made)
            assert made.origin is not None
            if most is not None:
                made.origin.require_gap(most)
            if output.plot is not None and isinstance(made.channel, SupportChannel):
                raise InputError(
                    "--plot draws mechanisms that release numbers; this method releases sets",
                    value=made.origin.method,
                    remedy="leave out --plot, or draw the lifts with liftlock audit --plot",
                )
            others: tuple[Baseline, ...] = ()
            if self.compared:
                progress(Step("comparing"))
                kept = [known.inputs.index(label) for label in made.context.inputs.labels]
                others = measure_baselines(made, restrict(goal, kept, len(known.inputs)))
            report = design_report(made, others)
            # Last, when nothing can fail any more but the writing itself.
            with write_together():
                self._save(made)
                if output.plot is not None:
                    progress(Step("drawing"))
                    (draw_numbers if places is None else draw_map)(made, output.plot)
                    note(f"picture written to {output.plot}")
        return _DesignResult(
            lambda: design_data(made, goal, others), lambda: report, made.origin.warning
        )

    def _make(
        self,
        entry: Design | None,
        context: Context,
        guarantee: Notion | list[Notion | Wanted],
        goal: Utility,
        options: dict[str, Any],
    ) -> Mechanism:
        if entry is None:
            return best(context, guarantee, utility=goal, bits=self.bits, **options)
        how = {"utility": goal, "method": entry.key, "bits": self.bits, **options}
        if self.method.as_published and not isinstance(guarantee, list):
            return design_as_published(context, guarantee, **how)
        return design(context, guarantee, **how)

    def for_profiles(
        self,
        graph: GraphOptions,
        epsilon: str | None,
        utility: UtilityOptions,
        weights: Path | None,
    ) -> _DesignResult:
        """Design for a graph of profiles."""
        note, output = self.note, self.output
        if epsilon is None:
            raise click.UsageError("no budget: give --epsilon")
        refuse_infinite("--epsilon", epsilon)
        notion = ProfilePrivacy(Budget.of(epsilon, name="--epsilon"))
        check_profile_utility(utility)
        entry = find_design(self.method.method or _FOR_PROFILES, "profiles")
        options = self._options(entry)
        loss = None if utility.loss is None else Path(utility.loss)
        output.check(graph.inputs() | {"--loss": loss, "--weights": weights})
        known = graph.read(note)
        if utility.utility in ("absolute", "squared"):
            _check_numbers(utility.utility, known.inputs)
        shares = None if weights is None else read_weights(weights, known.profiles)
        goal: dict[str, Any] = {
            "utility": utility.utility,
            "loss": None if loss is None else read_square_loss(loss, known.inputs),
            "weights": shares,
        }
        with note.show_if_interrupted(), show_status("designing") as progress:
            if entry.accepts("watch"):
                options["watch"] = progress
            try:
                made = design(known, notion, method=entry.key, bits=self.bits, **goal, **options)
            except NotCertified as refusal:
                if self.bits < DEFAULT_BITS:
                    refusal.args = (f"{refusal}, or use more bits: --bits is {self.bits}",)
                raise
            made = self._with_notes(made)
            if made.certificate.unprotected:
                smooth = "profiles without zeros" if graph.table is None else "--smooth 1"
                note(
                    f"{unprotected_text(made.certificate.unprotected)}; {smooth}, or --method "
                    f"{_FOR_PROFILES}, would cover them"
                )
            with write_together():
                self._save(made)
                if output.plot is not None:
                    progress(Step("drawing"))
                    drawn = audit(made.channel, known)
                    draw_graph(drawn, output.plot, budget=float(notion.bound()))
                    note(f"picture written to {output.plot}")
            rows: tuple[ProfileBaseline, ...] = ()
            if self.compared:
                rows = measure_profile_baselines(
                    known,
                    notion,
                    **goal,
                    seconds=options.get("seconds"),
                    progress=lambda step: progress(Step(f"comparing with {step.stage}")),
                )
        return _DesignResult(
            lambda: profile_design_data(made, shares, rows), lambda: profile_report(made, rows)
        )

    def _with_notes(self, made: Mechanism) -> Mechanism:
        """Store with a mechanism that what it was made for is not what was written down."""
        said = [text for text in self.note.texts if DIVIDED in text]
        if not said or made.origin is None:
            return made
        return replace(made, origin=replace(made.origin, remarks=(*made.origin.remarks, *said)))

    def _options(self, entry: Design | None) -> dict[str, Any]:
        """Return what goes to the method itself."""
        options = self.method.read(entry)
        if self.explain:
            check_explained(entry)
            options["explain"] = self.steps.append
        return options

    def _save(self, made: Mechanism) -> None:
        if self.output.file is not None:
            made.save(self.output.file)
            self.note(f"written to {self.output.file}")


def _option_error(entry: Design | None, given: Sequence[str], error: Exception) -> InputError:
    if entry is None:
        return InputError(
            f"a method cannot use this option: {error}",
            value=list(given),
            remedy="name its method by --method",
        )
    own = [name for name in option_names(entry) if name not in _SPOKEN_FOR]
    return InputError(
        f"the method {entry.key} cannot use this option: {error}",
        value=list(given),
        remedy=f"its options are {', '.join(own) or 'none'}; see liftlock designs {entry.key}",
    )


def check_method(entry: Design, context: Context, guarantee: Notion, *, named: bool) -> None:
    """Refuse a method that does not fit, and say whether another would."""
    try:
        check_fits(entry, context, guarantee)
    except NotDefined as error:
        if not named or not fitting_methods(context, guarantee):
            raise
        remedy = f"{error.remedy}; or leave out --method to let liftlock choose one"
        raise NotDefined(error.notion, error.context, remedy) from None


def check_explained(entry: Design | None) -> None:
    """Refuse --explain for a method that is a formula."""
    if entry is not None and not entry.accepts("explain"):
        of_kind = designs_for(entry.contexts[0]).values()
        able = [each.key for each in of_kind if each.accepts("explain")]
        raise InputError(
            "--explain works only with methods that search",
            value=entry.key,
            remedy=f"leave it out, or use {' or '.join(able)}",
        )


def check_profile_utility(utility: UtilityOptions) -> None:
    """Refuse a utility that profiles do not have, before any file is read."""
    aim = utility.utility
    if aim is not None and aim not in AIMS:
        raise InputError("unknown utility", value=aim, remedy=f"use one of {', '.join(AIMS)}")
    if aim == DISTORTION and utility.loss is None:
        raise click.UsageError(f"--utility {DISTORTION} needs --loss: a CSV of losses")
    if utility.loss is not None and aim not in (None, DISTORTION):
        raise click.UsageError(f"--loss goes with --utility {DISTORTION}")


def _check_numbers(utility: str, values: Alphabet) -> None:
    """Refuse a distance between values that are words."""
    try:
        points_of(values, utility)
    except InputError as error:
        raise InputError(
            f"--utility {utility} needs values that are numbers",
            value=error.value,
            remedy="use minimax or hamming, or give a --loss",
        ) from None


def design_data(made: Mechanism, goal: Utility, others: Sequence[Baseline]) -> dict[str, Any]:
    """Return the JSON form of what was designed, without the table itself."""
    origin = made.origin
    assert origin is not None
    return {
        "format": "liftlock.design",
        "version": 1,
        "method": origin.method,
        "utility": {
            "name": origin.utility,
            "title": origin.title,
            "larger_is_better": goal.larger_is_better,
        },
        "objective": value_to_json(origin.objective),
        "bound": value_to_json(origin.bound),
        "gap": origin.gap,
        "warning": origin.warning or None,
        "inputs": len(made.channel.inputs),
        "outputs": made.channel.output_number,
        "certificate": made.certificate.to_data(),
        **({"also": [each.summary_data() for each in made.also]} if made.also else {}),
        "ldp": ldp_data(made.certificate),
        "comparison": [other.to_data() for other in others],
        "remarks": list(origin.remarks),
        "numbers": number_data(made),
    }


def ldp_data(certificate: Certificate) -> Any:
    """Return the LDP that a mechanism has beside its guarantee; None if it is the guarantee."""
    return None if certificate.anyway is None else enclosure_to_json(certificate.anyway.value)


def profile_design_data(
    made: Mechanism, weights: Prior | None, rows: Sequence[ProfileBaseline]
) -> dict[str, Any]:
    """Return the JSON form of what was designed for profiles, without the table itself."""
    found = made.audit()
    assert isinstance(found, ProfileAudit)
    origin = made.origin
    assert origin is not None
    value = profile_errors(made.table, found.graph, weights)
    return {
        "format": "liftlock.profile-design",
        "version": 1,
        **origin.to_data(),
        "certificate": made.certificate.to_data(),
        "audit": found.to_data(),
        "largest": value.largest,
        "mean_wrong": value.mean_wrong,
        "information": value.information,
        "wrong": [
            {"profile": label_to_json(name), "wrong": float(wrong)}
            for name, wrong in zip(value.names, value.wrong, strict=True)
        ],
        "comparison": [row.to_data() for row in rows],
    }
