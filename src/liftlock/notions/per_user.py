"""Users with a prior each: the certificate of the law they share, and the largest lift of anybody.

A law is certified for every user under every prior by its own limits. The audit of users finds how
close they come, exactly. For the arc mechanism the extreme lifts of a user are those of the rarest
possible value, with p of 2^32 points: with V(c) the sum of the c largest weights of the window,

    largest V(p) / (2^30 p),         smallest (2^62 - V(2^32 - p)) / (2^30 p),

the largest falling and the smallest rising with p, since means of the largest weights do. For the
safe response they are at the symbols y with p points, of which a prior of the user has a to b:

    largest 1 + T (2^32 - a) / ((2^32 - T) p + T a),    smallest (2^32 - T) p / ((2^32 - T) p + T b),

with a = b = p for one prior. Of a table that all users share, they are those of each user's prior.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from liftlock.channel import Channel
from liftlock.errors import InputError, NotDefined
from liftlock.exact.enclosure import Enclosure
from liftlock.exact.integers import Floats
from liftlock.forms import AnyChannel, ArcChannel, SafeChannel, UserChannel, dense
from liftlock.forms.user_blocks import UserBlock, family_counts, user_blocks
from liftlock.forms.user_channel import budget_text
from liftlock.notions.certificate import Claim
from liftlock.notions.lift import Extreme
from liftlock.notions.reading import Witness
from liftlock.per_user import POINTS, Limits, PerUserPriors
from liftlock.prior import Prior

_SLACK = 1e-9
"""Lifts that floats call this close to the extreme are compared as fractions."""
