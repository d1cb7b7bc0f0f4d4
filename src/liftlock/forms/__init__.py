"""Channels of a form of their own, for outputs that do not fit a table."""

from __future__ import annotations

from typing import Any

from liftlock.channel import FORMAT, VERSION, channel_from_data
from liftlock.errors import FileError
from liftlock.forms.hashing_channel import HashingChannel
from liftlock.forms.structured_channel import AnyChannel, StructuredChannel, dense
from liftlock.forms.support_channel import Counts, Reports, SupportChannel
from liftlock.forms.unary_channel import UnaryChannel
from liftlock.forms.user_blocks import prior_counts
from liftlock.forms.user_channel import USER_CHANNELS, ArcChannel, SafeChannel, UserChannel
from liftlock.storage import check_format

__all__ = [
    "FORMS",
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
    "dense",
    "prior_counts",
]

FORMS: dict[str, Any] = {
    form.form: form for form in (UnaryChannel, HashingChannel, ArcChannel, SafeChannel)
}
"""Every form, by the name it has in files."""


def any_channel_from_data(data: Any) -> AnyChannel:
    """Read the JSON form of a channel: of a table, or of the form that its key ``form`` names."""
    check_format(data, FORMAT, VERSION)
    name = data.get("form")
    if name is None:
        return channel_from_data(data)
    if not isinstance(name, str) or name not in FORMS:
        raise FileError(
            "unknown form of a channel", value=name, remedy=f"use one of {', '.join(FORMS)}"
        )
    found: AnyChannel = FORMS[name].from_data(data)
    return found
