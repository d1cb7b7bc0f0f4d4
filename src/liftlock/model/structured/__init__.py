"""Channels of a form of their own, for outputs that do not fit a table."""

from __future__ import annotations

from typing import Any

from liftlock._runtime.storage import check_format
from liftlock.errors import FileError
from liftlock.model.channel import FORMAT, VERSION, channel_from_data
from liftlock.model.structured.hashing_channel import HashingChannel
from liftlock.model.structured.structured_channel import AnyChannel, StructuredChannel, to_dense
from liftlock.model.structured.support_channel import Counts, Reports, SupportChannel
from liftlock.model.structured.unary_channel import UnaryChannel
from liftlock.model.structured.user_blocks import prior_counts
from liftlock.model.structured.user_channel import (
    USER_CHANNELS,
    ArcChannel,
    SafeChannel,
    UserChannel,
)

__all__ = [
    "STRUCTURED_CHANNELS",
    "USER_CHANNELS",
    "AnyChannel",
    "ArcChannel",
    "Counts",
    "HashingChannel",
    "Reports",
    "SafeChannel",
    "StructuredChannel",
    "SupportChannel",
    "UnaryChannel",
    "UserChannel",
    "any_channel_from_data",
    "prior_counts",
    "to_dense",
]

STRUCTURED_CHANNELS: dict[str, Any] = {
    form.form: form for form in (UnaryChannel, HashingChannel, ArcChannel, SafeChannel)
}
"""Every form, by the name it has in files."""


def any_channel_from_data(data: Any) -> AnyChannel:
    """Read the JSON form of a channel: of a table, or of the form that its key ``form`` names."""
    check_format(data, FORMAT, VERSION)
    name = data.get("form")
    if name is None:
        return channel_from_data(data)
    if not isinstance(name, str) or name not in STRUCTURED_CHANNELS:
        raise FileError(
            "unknown form of a channel",
            value=name,
            remedy=f"use one of {', '.join(STRUCTURED_CHANNELS)}",
        )
    found: AnyChannel = STRUCTURED_CHANNELS[name].from_data(data)
    return found
