"""The options that name a context, and what the context must agree with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click

from liftlock._runtime.storage import errors_at
from liftlock.cli._console import show_status
from liftlock.cli._options import FILE, NORMALISE, OptionGroup, option
from liftlock.errors import FileError, InputError
from liftlock.exact.numbers import exact, exact_probability
from liftlock.files import (
    MISSING,
    LoadedChannel,
    Note,
    label_location,
    read_column,
    read_counts,
    read_joint,
    read_prior,
    read_priors,
)
from liftlock.model import Ball, Conditional, Context, Family, Intervals, Joint, Prior
from liftlock.model.alphabet import Alphabet, Label
from liftlock.model.channel import Channel
from liftlock.model.confidence import read_confidence
from liftlock.model.continuous.distribution import DISTRIBUTIONS, parse_distribution
from liftlock.model.continuous.fit import FITS, Fit, fit
from liftlock.model.continuous.grid import (
    DEFAULT_BINS,
    SPACINGS,
    ContinuousPrior,
    GridPrior,
    check_bins,
    read_domain,
)
from liftlock.model.structured import AnyChannel
from liftlock.notions.base import Notion
from liftlock.notions.lift import impossible_inputs

_LISTED = 5
_OF_BINS = ("--domain", "--bins", "--spacing")
_OF_LABELS = ("--radius", "--smooth", "--confidence")

DOMAIN_HELP = "Range to clamp numbers to, e.g. 0:300000."
GRID_HELP = f"Number of bins.  [default: {DEFAULT_BINS}]"


@dataclass(frozen=True)
class ContextOptions(OptionGroup):
    """What is known: a prior, a joint, a set of priors, or discretised numbers."""

    prior: Path | None = option(
        "--prior",
        type=FILE,
        metavar="PRIOR",
        help="CSV label,count or label,probability, or JSON; with --column any CSV.",
    )
    joint: Path | None = option(
        "--joint",
        type=FILE,
        metavar="JOINT",
        help="CSV contingency table: rows secrets, columns inputs.",
    )
    family: Path | None = option(
        "--family",
        type=FILE,
        metavar="PRIORS",
        help="Set of priors: a CSV with one column per prior, or label,lower,upper.",
    )
    radius: str | None = option(
        "--radius",
        metavar="R",
        help="With --prior: the set of priors within total variation R of it.",
    )
    smooth: str | None = option("--smooth", metavar="A", help="With --prior: add A to every count.")
    confidence: str | None = option(
        "--confidence",
        metavar="C",
        help="With --prior of counts: the confidence region of the prior, at level C.",
    )
    column: str | None = option(
        "--column",
        metavar="NAME",
        help="With --prior, a CSV with one row per person: its numeric column.",
    )
    distribution: str | None = option(
        "--distribution",
        metavar="DISTRIBUTION",
        help="Distribution, instead of a file: "
        f"{', '.join(form for _, form in DISTRIBUTIONS.values())}.",
    )
    fit: str | None = option(
        "--fit",
        type=click.Choice(FITS),
        help="With --column: the distribution to fit.  [default: sample, the empirical "
        "distribution]",
    )
    domain: str | None = option("--domain", metavar="L:U", help=DOMAIN_HELP)
    grid: int | None = option("--bins", type=int, metavar="N", help=GRID_HELP)
    spacing: str | None = option(
        "--spacing",
        type=click.Choice(SPACINGS),
        help="Bins of equal probability or equal width.  [default: mass]",
    )
    missing: str | None = option(
        "--missing",
        type=click.Choice(MISSING),
        help="With --column: how to treat empty cells of the table.  [default: refuse]",
    )

    normalise: bool = option("--normalise", **NORMALISE)

    def named_options(self) -> list[str]:
        """Return the options that were given and name a context, not how it is read."""
        return [name for name in self.given_options() if name != "--normalise"]

    @property
    def is_numeric(self) -> bool:
        """Whether the context is one of numbers."""
        return self.column is not None or self.distribution is not None

    def inputs(self) -> dict[str, Path | None]:
        """Return the files that are read, by option."""
        return {"--prior": self.prior, "--joint": self.joint, "--family": self.family}

    def read(self, note: Note, bins: GridPrior | None = None) -> Context | None:
        """Read the one context that was named, or None.

        `bins` are those that a mechanism brings, into which numbers are then counted.
        """
        self.check()
        if self.is_numeric:
            return self._discretise(note) if bins is None else self._on(bins, note)
        if self.joint is not None:
            return read_joint(self.joint, note)
        if self.family is not None:
            return read_priors(self.family, note, normalise=self.normalise)
        if self.prior is None:
            return None
        if self.confidence is not None:
            return self._likely_priors(self.prior, self.confidence, note)
        found = read_prior(self.prior, note, normalise=self.normalise)
        if isinstance(found, GridPrior):
            self._refuse_options_of_labels(self.prior)
        if self.smooth is not None:
            found = found.smoothed(self.smooth)
        return Ball.of(found, self.radius) if self.radius is not None else found

    def refuse_vacuous(self, known: Context, guarantees: Sequence[Notion]) -> None:
        """Refuse guarantees about beliefs where nothing is to be learned: all of them hold."""
        prior = known.secret_prior if isinstance(known, Joint) else known
        if all(each.context_free for each in guarantees) or not isinstance(prior, Prior):
            return
        possible = [label for label, p in zip(prior.labels, prior.counts, strict=True) if p]
        if len(possible) == 1:
            what = "secret" if isinstance(known, Joint) else "value"
            raise InputError(
                f"a single possible {what}: every guarantee about it holds, whatever is released",
                where=str(self.prior or self.joint or "the mechanism"),
                value=possible[0],
                remedy=f"list every {what} that people can have",
            )

    def require(self, note: Note) -> Context:
        """Read the one context that must be named."""
        found = self.read(note)
        if found is None:
            raise click.UsageError(
                "no prior: give --prior, --joint, --family, --distribution or --profiles"
            )
        return found

    def read_for_channel(
        self, read: LoadedChannel, channel: Path, note: Note, impossible: str
    ) -> Context:
        """Read the context, and make sure that it speaks of the inputs of the channel."""
        brought = read.context if isinstance(read.context, GridPrior) else None
        found = self.read(note, brought)
        source = self.prior or self.joint or self.family or channel
        context = found if found is not None else read.context
        if context is None:
            raise InputError(
                "no prior for the channel",
                where=str(channel),
                remedy="give --prior, --joint or --family",
            )
        context = match_labels(context, read.channel.inputs, channel, source, read)
        if impossible == "refuse":
            _refuse_unprotected(read.channel, context, channel, source)
        if isinstance(context, Joint):
            counts = zip(context.secrets.labels, context.secret_prior.counts, strict=True)
            never = [label for label, count in counts if not count]
            if never:
                listed = ", ".join(repr(label) for label in never[:_LISTED])
                note(f"secrets that never occur in {source} are left out: {listed}")
        return context

    # --- before any file is read: a slip of the pen should not cost a minute ----------------------

    def check(self) -> None:
        """Refuse options that do not go together, and values that cannot be read."""
        sources = [name for name, path in self.inputs().items() if path is not None]
        if len(sources) > 1:
            raise click.UsageError(f"give only one of {' and '.join(sources)}")
        self._check_numbers(sources)
        given = self.given_options()
        for name in (name for name in _OF_LABELS if name in given):
            if self.prior is None:
                raise click.UsageError(f"{name} goes with --prior")
            if self.is_numeric:
                raise click.UsageError(f"{name} works with priors of labels, not of numbers")
            if name != "--confidence" and self.confidence is not None:
                raise click.UsageError(f"give --confidence or {name}, not both")
        if self.radius is not None:
            exact_probability(self.radius, name="--radius")
        if self.smooth is not None:
            check_smooth(self.smooth)
        if self.confidence is not None:
            read_confidence(self.confidence)

    def _check_numbers(self, sources: Sequence[str]) -> None:
        if self.column is not None and self.distribution is not None:
            raise click.UsageError("give --column or --distribution, not both")
        if self.column is not None and self.prior is None:
            if sources:
                raise click.UsageError(f"--column goes with --prior, not with {sources[0]}")
            raise click.UsageError("--column needs --prior, the table that holds the column")
        if self.distribution is not None and sources:
            raise click.UsageError(f"--distribution replaces {sources[0]}: leave one out")
        given = self.given_options()
        for name in (name for name in ("--fit", "--missing", *_OF_BINS) if name in given):
            if not self.is_numeric:
                stored = self.prior is not None and self.prior.suffix.lower() == ".json"
                if stored and name in _OF_BINS:
                    raise click.UsageError(
                        f"{name} cannot change a stored prior: its numbers are already "
                        f"discretised. Give {name} to liftlock fit instead"
                    )
                raise click.UsageError(f"{name} goes with numbers: give --column or --distribution")
            if self.distribution is not None and name not in _OF_BINS:
                raise click.UsageError(f"{name} goes with --column, not with --distribution")
        if self.domain is not None:
            read_domain(self.domain)
        if self.grid is not None:
            check_bins(self.grid)
        if self.distribution is not None:
            parse_distribution(self.distribution)

    def _refuse_options_of_labels(self, path: Path) -> None:
        for name in self.given_options():
            if name in _OF_LABELS:
                raise FileError(
                    f"{name} works with priors of labels, not of numbers",
                    where=str(path),
                    value=getattr(self, name.removeprefix("--")),
                    remedy=f"leave out {name}",
                )

    # --- numbers and counts -----------------------------------------------------------------------

    def _numbers(self, note: Note) -> ContinuousPrior:
        """Read the distribution, or the column, as a continuous prior."""
        if self.distribution is not None:
            return ContinuousPrior.of(parse_distribution(self.distribution), self.domain)
        assert self.prior is not None
        assert self.column is not None
        found = fit_column(
            self.prior,
            self.column,
            self.fit or "sample",
            self.domain,
            self.missing or "refuse",
            note,
        )
        if found.is_far:
            note(found.doubt)
        return found

    def _discretise(self, note: Note) -> GridPrior:
        found = self._numbers(note)
        with errors_at(self.prior or "--distribution"):
            return found.discretise(
                DEFAULT_BINS if self.grid is None else self.grid, self.spacing or "mass"
            )

    def _on(self, bins: GridPrior, note: Note) -> Prior:
        """Return the masses of these numbers in the bins that a mechanism brings."""
        for name, value in (("--domain", self.domain), ("--bins", self.grid)):
            if value is not None:
                raise InputError(
                    f"{name} cannot change the bins of a stored mechanism",
                    value=value,
                    remedy=f"leave out {name}",
                )
        domain = f"{bins.grid.lower!r}:{bins.grid.upper!r}"
        return replace(self, domain=domain)._numbers(note).masses_on(bins)

    @staticmethod
    def _likely_priors(prior: Path, confidence: str, note: Note) -> Intervals:
        """Read counts as the set of priors that they may have been drawn from."""
        counts = read_counts(prior)
        with errors_at(prior):
            found = Intervals.from_counts(counts, confidence=confidence)
        note(
            f"the intervals contain the true prior with probability at least {confidence}, if the "
            f"{sum(count for _, count in counts)} observations of {prior} were drawn from it "
            "independently"
        )
        return found


def check_smooth(text: str) -> None:
    """Refuse to take something from every count."""
    if exact(text, name="--smooth") < 0:
        raise InputError("--smooth is negative", value=text, remedy="give 0 or more")


def fit_column(
    path: Path,
    column: str,
    distribution: str,
    domain: str | None,
    missing: str,
    note: Note,
    components: int | None = None,
) -> Fit:
    """Read a column and fit a distribution to it; say what both do to the numbers."""
    with show_status("reading" if distribution == "sample" else "fitting") as progress:
        numbers = read_column(path, column, missing=missing, note=note)
        with errors_at(path):
            found = fit(
                numbers,
                domain=domain,
                distribution=distribution,
                components=components,
                watch=progress,
            )
    if domain is None:
        note(
            f"no --domain: [{found.lower:g}, {found.upper:g}] was taken from the data, which "
            "reveals their minimum and maximum"
        )
    if found.outside:
        note(
            f"{found.outside:,} of {len(numbers):,} values lie outside the domain and were "
            "clamped to it"
        )
    if found.used < len(numbers):
        note(
            f"the mixture was fitted to {found.used:,} of {len(numbers):,} values, evenly spaced "
            "in sorted order"
        )
    return found


# --- do a context and a channel speak of the same inputs? -----------------------------------------


def match_labels(
    context: Context,
    inputs: Alphabet,
    place: Path,
    source: Path,
    read: LoadedChannel | None = None,
) -> Context:
    """Return the context with the labels of the inputs, or refuse it.

    A CSV knows only text, so its "1" is taken for the number 1 of a mechanism file. `place` and
    `source` are the files of the inputs and of the context; `read` is the channel, if there is one.
    """
    if isinstance(context, Conditional):
        with errors_at(place):
            context.uses_given(inputs)  # which refuses other inputs
        return context
    ours, theirs = inputs.labels, context.inputs.labels
    if set(ours) == set(theirs):
        return context
    texts = {str(label): label for label in ours}
    renamed = [texts[str(label)] for label in theirs if str(label) in texts]
    if len(texts) == len(ours) == len(theirs) == len(set(renamed)):
        return _relabel(context, Alphabet.of(renamed))
    missing = [label for label in ours if str(label) not in set(map(str, theirs))]
    extra = [label for label in theirs if str(label) not in texts]
    parts = [
        f"{_listed(labels)} only in {file.name}"
        for labels, file in ((missing, place), (extra, source))
        if labels
    ]
    raise FileError(
        f"inputs of {place} and {source} do not match: {', '.join(parts)}",
        remedy=_remedy(context, inputs, extra, place, source, read),
    )


def _remedy(
    context: Context,
    inputs: Alphabet,
    extra: Sequence[Label],
    place: Path,
    source: Path,
    read: LoadedChannel | None,
) -> str:
    def alike(one: Alphabet, other: Alphabet) -> bool:
        return set(map(str, one.labels)) == set(map(str, other.labels))

    if isinstance(context, Joint) and alike(inputs, context.secrets):
        return f"transpose {source.name}: rows must be secrets, columns inputs"
    if read is not None and read.corner and read.corner in map(str, extra):
        return f"the first line of {place.name} must be a header that names the outputs"
    if (
        read is not None
        and isinstance(read.channel, Channel)
        and alike(read.channel.outputs, context.inputs)
    ):
        return f"transpose {place.name}: it needs one row per input"
    return "both files must list the same inputs"


def _listed(labels: Sequence[Label]) -> str:
    shown = ", ".join(repr(label) for label in labels[:_LISTED])
    return shown if len(labels) <= _LISTED else f"{shown} and {len(labels) - _LISTED} more"


def _relabel(context: Context, inputs: Alphabet) -> Context:
    if isinstance(context, Prior):
        return Prior(inputs, context.counts)
    if isinstance(context, Joint):
        return Joint(context.secrets, inputs, context.counts)
    if isinstance(context, Family):
        return Family(tuple(Prior(inputs, prior.counts) for prior in context.priors))
    if isinstance(context, Intervals):
        return replace(context, alphabet=inputs)
    if isinstance(context, Ball):
        return Ball(Prior(inputs, context.centre.counts), context.radius)
    return context


def _refuse_unprotected(
    channel: AnyChannel, context: Context, channel_file: Path, source: Path
) -> None:
    """Refuse inputs of probability 0, which have no guarantee, with the line they stand on."""
    labels = impossible_inputs(channel, context)
    if not labels:
        return
    joint = isinstance(context, Joint)
    smooth = "smooth the prior (--smooth 1), " if isinstance(context, Prior) else ""
    raise FileError(
        "the prior gives probability 0 to an input that the channel accepts, so it would have no "
        "guarantee",
        where=label_location(source, labels[0], in_header=joint),
        value=labels[0] if len(labels) == 1 else list(labels[:_LISTED]),
        remedy=f"{smooth}drop it from {channel_file.name}, or declare that it never occurs "
        "(--impossible ignore)",
    )
