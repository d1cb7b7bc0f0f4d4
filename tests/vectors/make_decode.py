"""Write decode.json: alias tables and decoded words for every implementation to agree on.

    python -m tests.vectors.make_decode

The tables come from the plain sweep below, written from the text of `liftlock.exact.alias` and not
from its code. Numbers of 2^53 and more are strings, so that readers with floats lose nothing.
"""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("decode.json")


def sweep(weights: list[int], bits: int) -> tuple[list[int], list[int]]:
    """Return thresholds and aliases of one row, one bin at a time."""
    bin_bits = (len(weights) - 1).bit_length()
    bins = range(1 << bin_bits)
    capacity = 1 << (bits - bin_bits)
    weight = weights + [0] * (len(bins) - len(weights))
    threshold, alias = [capacity] * len(bins), list(bins)
    lights = iter([b for b in bins if weight[b] <= capacity])
    heavies = iter([b for b in bins if weight[b] > capacity])
    k = next(heavies, None)
    residual = 0 if k is None else weight[k]
    while k is not None:
        if residual > capacity:
            i = next(lights)
            threshold[i], alias[i] = weight[i], k
            residual -= capacity - weight[i]
        else:
            threshold[k] = residual
            following = next(heavies, None)
            if following is not None:
                alias[k] = following
                residual += weight[following] - capacity
            k = following
    for b in bins:
        if threshold[b] == capacity:
            alias[b] = b
    return threshold, alias


def look_up(threshold: list[int], alias: list[int], bits: int, word: int) -> int:
    """Decode one word in one row."""
    bins = len(threshold)
    position, b = divmod(word >> (64 - bits), bins)
    return b if position < threshold[b] else alias[b]


def noise(seed: str) -> int:
    """Return a fixed 64-bit number that looks random."""
    return int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "big")


def share(parts: list[int], bits: int) -> list[int]:
    """Split 2^bits units about in proportion; the last positive part takes what is left over."""
    total = sum(parts)
    weights = [int(Fraction(part, total) * (1 << bits)) for part in parts]
    last = max(index for index, part in enumerate(parts) if part)
    weights[last] += (1 << bits) - sum(weights)
    return weights


def cases() -> dict[str, tuple[int, list[list[int]]]]:
    """Return bits and rows of every case."""
    return {
        "one output": (8, [[256], [256]]),
        "one output, one bit": (1, [[2]]),
        "two outputs, one bit": (1, [[1, 1], [2, 0], [0, 2]]),
        "two outputs": (4, [[8, 8], [1, 15], [15, 1], [16, 0]]),
        "three outputs": (4, [[1, 3, 12], [12, 3, 1], [0, 16, 0], [6, 5, 5]]),
        "bins of one unit": (2, [[1, 1, 1, 1], [4, 0, 0, 0], [0, 2, 0, 2]]),
        "five outputs": (8, [[256, 0, 0, 0, 0], [1, 1, 1, 1, 252], [52, 51, 51, 51, 51]]),
        "six outputs, zeros between": (8, [[0, 100, 0, 56, 0, 100], [32, 64, 32, 64, 32, 32]]),
        "randomised response, 52 bits": (
            52,
            [share([20 if x == y else 1 for y in range(4)], 52) for x in range(4)],
        ),
        "seven uneven outputs, 52 bits": (
            52,
            [
                share([noise(f"a{x}{y}") % 1000 if (x + y) % 3 else 0 for y in range(7)], 52)
                for x in range(3)
            ],
        ),
        "eleven uneven outputs, 53 bits": (
            53,
            [share([noise(f"b{x}{y}") % 1000 for y in range(11)], 53) for x in range(2)],
        ),
        "three outputs, 62 bits": (
            62,
            [share([1, 1, 1], 62), [0, 1 << 62, 0], [1, 1, (1 << 62) - 2]],
        ),
        "nine uneven outputs, 62 bits": (
            62,
            [share([noise(f"c{x}{y}") >> (8 * y % 50) for y in range(9)], 62) for x in range(3)],
        ),
    }


def words(name: str, row: int, threshold: list[int], bits: int) -> list[int]:
    """Return words at the ends, on both sides of each threshold, and a few random ones."""
    bin_bits = (len(threshold) - 1).bit_length()
    capacity = 1 << (bits - bin_bits)
    found = {0, (1 << 64) - 1}
    for b, limit in enumerate(threshold):
        for position in {0, limit - 1, limit, capacity - 1}:
            if 0 <= position < capacity:
                first = ((position << bin_bits) | b) << (64 - bits)
                found |= {first, first + (1 << (64 - bits)) - 1}
    found |= {noise(f"{name}/{row}/{i}") for i in range(8)}
    return sorted(found)


def number(value: int) -> int | str:
    """Return a JSON number where every reader takes it exactly, else a string."""
    return value if value < 1 << 53 else str(value)


def vectors() -> dict[str, Any]:
    """Return the content of decode.json."""
    found = []
    for name, (bits, rows) in cases().items():
        tables = [sweep(weights, bits) for weights in rows]
        found.append(
            {
                "name": name,
                "bits": bits,
                "bin_bits": (len(rows[0]) - 1).bit_length(),
                "weights": [[number(w) for w in weights] for weights in rows],
                "threshold": [[number(t) for t in threshold] for threshold, _ in tables],
                "alias": [alias for _, alias in tables],
                "draws": [
                    [
                        [f"0x{word:016x}", look_up(threshold, alias, bits, word)]
                        for word in words(name, row, threshold, bits)
                    ]
                    for row, (threshold, alias) in enumerate(tables)
                ],
            }
        )
    return {
        "about": "draws[row] lists [64-bit word, output]; the rules are in liftlock.exact.alias",
        "cases": found,
    }


def text() -> str:
    """Return decode.json as it is stored: one line for each row."""
    content = vectors()
    blocks = []
    for case in content["cases"]:
        fields = []
        for key, value in case.items():
            if isinstance(value, list):
                rows = ",\n    ".join(json.dumps(row, separators=(",", ":")) for row in value)
                fields.append(f'   "{key}": [\n    {rows}\n   ]')
            else:
                fields.append(f'   "{key}": {json.dumps(value)}')
        blocks.append("  {\n" + ",\n".join(fields) + "\n  }")
    about = f' "about": {json.dumps(content["about"])},'
    return "\n".join(["{", about, ' "cases": [', ",\n".join(blocks), " ]", "}", ""])


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
