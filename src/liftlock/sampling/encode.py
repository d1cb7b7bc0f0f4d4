"""Drawing packed reports of encodings, with exactly the distribution that their integers say.

Unary encoding (the specification)::

    planes  = the binary digits of other / 2^bits, first digit first, up to its last 1
    for each person, each group of 64 symbols has
        undecided = 64 ones,  ones = 64 zeros            one lane for each symbol of the group
    a step of a group by a plane is
        word = the next word
        plane 1: ones |= undecided & ~word, undecided &= word
        plane 0: undecided &= ~word
    for each of the first eight planes, and for each group: a step
    for each group, for each later plane until its undecided is 0: a step
    each group's bits are its `ones`
    then word = the next word: the true symbol's bit is 1 if (word >> (64 - bits)) < own, else 0
    bits beyond the last symbol are 0

Lane by lane this compares a uniform number, digit by digit, with other / 2^bits: it is smaller with
exactly that probability, and lanes and groups are independent. A lane is decided after two
digits on average, all 64 of a group mostly within eight. How many words are used says nothing
about the value: the lane of the true symbol is drawn like all others and then overwritten.

Hashing (the specification)::

    for each person: seed = the next word, word = the next word
    a = the lowest 16 bits of seed, b = the next 16 bits
    own = the bucket of the value under (a, b), unit = word >> (64 - bits)
    if unit < (g - 1) other:  k = unit div other, the bucket is k if k < own, else k + 1
    otherwise the bucket is own
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from liftlock.errors import InputError
from liftlock.exact.alias import WORD_BITS
from liftlock.model.structured import HashingChannel, Reports, SupportChannel, UnaryChannel
from liftlock.sampling.draw import Codes, check_codes, code_error

if TYPE_CHECKING:
    import numpy.typing as npt

    from liftlock.sampling.bits import RandomBits

_WORDS = 1 << 14
_PEOPLE = 1 << 13


def draw_reports(channel: SupportChannel, codes: Codes, bits: RandomBits) -> Reports:
    """Draw one packed report for each code: a row of bytes each.

    >>> from liftlock.sampling.bits import SimulationBits
    >>> channel = UnaryChannel.of(range(12), own=2, other=1, bits=2)
    >>> draw_reports(channel, np.array([0, 11]), SimulationBits(7)).shape
    (2, 2)
    """
    check_codes(codes)
    # Copied before they are checked: a caller's other thread cannot change them in between.
    people = codes.astype(np.int64)
    if len(people):
        wrong = (people < 0) | (people >= len(channel.inputs))
        if wrong.any():
            raise code_error(people, int(np.argmax(wrong)), len(channel.inputs))
    if isinstance(channel, UnaryChannel):
        return _draw_unary(channel, people, bits)
    if isinstance(channel, HashingChannel):
        return _draw_hashing(channel, people, bits)
    raise InputError(
        f"no sampler for the form {channel.form}", remedy="use a unary or hashing channel"
    )


def binary_digits(weight: int, bits: int) -> npt.NDArray[np.bool_]:
    """Return the binary digits of weight / 2^bits, up to the last that is 1.

    >>> binary_digits(4, 4).tolist()
    [False, True]
    """
    digits = f"{weight:0{bits}b}".rstrip("0")
    return np.array([digit == "1" for digit in digits], dtype=np.bool_)


def _draw_unary(channel: UnaryChannel, people: npt.NDArray[np.int64], bits: RandomBits) -> Reports:
    from liftlock.sampling.kernels import unary_reports

    symbols = len(channel.inputs)
    digits = binary_digits(channel.other, channel.bits)
    groups = -(-symbols // WORD_BITS)
    reports = np.empty((len(people), groups), dtype=np.uint64)
    words = np.empty(max(_WORDS, 2 * (groups * len(digits) + 1)), dtype=np.uint64)
    left = 0
    done = 0
    while done < len(people):
        # Words that were left over come first, so the stream is read without gaps.
        bits.fill(words[left:])
        made, used = unary_reports(
            words,
            people[done:],
            digits,
            np.uint64(channel.own),
            np.uint64(WORD_BITS - channel.bits),
            symbols,
            reports[done:],
        )
        done += made
        left = len(words) - used
        words[:left] = words[used:].copy()
    packed = reports.astype("<u8", copy=False).view(np.uint8)
    return np.ascontiguousarray(packed[:, : channel.report_bytes])


def _draw_hashing(
    channel: HashingChannel, people: npt.NDArray[np.int64], bits: RandomBits
) -> Reports:
    from liftlock.sampling.kernels import hashed_reports

    reports = np.empty((len(people), channel.report_bytes), dtype=np.uint8)
    words = np.empty(2 * _PEOPLE, dtype=np.uint64)
    for start in range(0, len(people), _PEOPLE):
        block = people[start : start + _PEOPLE]
        bits.fill(words[: 2 * len(block)])
        hashed_reports(
            words,
            block,
            channel.buckets,
            np.uint64(channel.other),
            np.uint64(WORD_BITS - channel.bits),
            reports[start : start + _PEOPLE],
        )
    return reports
