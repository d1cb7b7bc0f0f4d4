"""Do a channel and a context speak of the same inputs? If not, say so with the files' names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from liftlock.alphabet import Alphabet, Label
from liftlock.channel import Channel
from liftlock.contexts import Ball, Context, Family, Intervals, Joint, Prior
from liftlock.errors import FileError
from liftlock.files import ReadChannel, label_place
from liftlock.forms import AnyChannel
from liftlock.notions.lift import impossible_inputs

_LISTED = 5


def matched(read: ReadChannel, context: Context, channel_file: Path, source: Path) -> Context:
    """Return the context with the channel's labels, or refuse it.

    A CSV knows only text, so its "1" is taken for the number 1 of a mechanism file.
    """
    ours, theirs = read.channel.inputs.labels, context.inputs.labels
    if set(ours) == set(theirs):
        return context
    texts = {str(label): label for label in ours}
    renamed = [texts.get(str(label)) for label in theirs]
    if len(texts) == len(ours) == len(theirs) and len(set(renamed)) == len(theirs):
        labels = [label for label in renamed if label is not None]
        if len(labels) == len(theirs):
            return _renamed(context, Alphabet.of(labels))
    missing = [label for label in ours if str(label) not in set(map(str, theirs))]
    extra = [label for label in theirs if str(label) not in texts]
    parts = []
    if missing:
        parts.append(f"{_listed(missing)} only in {channel_file.name}")
    if extra:
        parts.append(f"{_listed(extra)} only in {source.name}")
    raise FileError(
        f"inputs of {channel_file} and {source} do not match: {', '.join(parts)}",
        remedy=_remedy(read, context, extra, channel_file, source),
    )


def _remedy(
    read: ReadChannel, context: Context, extra: Sequence[Label], channel_file: Path, source: Path
) -> str:
    ours = set(map(str, read.channel.inputs.labels))
    if isinstance(context, Joint) and ours == set(map(str, context.secrets.labels)):
        return f"exchange rows and columns of {source.name}: its rows are secrets, columns inputs"
    if read.corner and read.corner in map(str, extra):
        return f"the first line of {channel_file.name} must be a header that names the outputs"
    if isinstance(read.channel, Channel) and set(map(str, read.channel.outputs.labels)) == set(
        map(str, context.inputs.labels)
    ):
        return f"exchange rows and columns of {channel_file.name}: one row for each input"
    return "both files must list the same inputs"


def _listed(labels: Sequence[Label]) -> str:
    shown = ", ".join(repr(label) for label in labels[:_LISTED])
    return shown if len(labels) <= _LISTED else f"{shown} and {len(labels) - _LISTED} more"


def _renamed(context: Context, inputs: Alphabet) -> Context:
    if isinstance(context, Prior):
        return Prior(inputs, context.counts)
    if isinstance(context, Joint):
        return Joint(context.secrets, inputs, context.counts)
    if isinstance(context, Family):
        return Family(tuple(Prior(inputs, prior.counts) for prior in context.priors))
    if isinstance(context, Intervals):
        return Intervals(inputs, context.lower, context.upper)
    if isinstance(context, Ball):
        return Ball(Prior(inputs, context.centre.counts), context.radius)
    return context


def refuse_unprotected(
    channel: AnyChannel, context: Context, channel_file: Path, source: Path
) -> None:
    """Refuse inputs of probability 0, which have no guarantee, with the line they stand on."""
    labels = impossible_inputs(channel, context)
    if not labels:
        return
    joint = isinstance(context, Joint)
    smooth = "smooth the prior (--smooth 1), " if isinstance(context, Prior) else ""
    raise FileError(
        "probability 0 for an input that the channel accepts, which would have no guarantee",
        where=label_place(source, labels[0], in_header=joint),
        value=labels[0] if len(labels) == 1 else list(labels[:_LISTED]),
        remedy=f"{smooth}drop it from {channel_file.name}, or say that it never occurs "
        "(--impossible ignore)",
    )
