from __future__ import annotations

import json
import random
import struct

import pytest

from liftlock.collect import wire
from liftlock.collect.problems import Problem
from liftlock.collect.wire import Layout

DIGEST = "cd" * 32
BATCH = "ab" * 16
FORMATS = {1: "<16sB", 2: "<16sH", 4: "<16sI"}


def ids(number: int, seed: int = 0) -> list[bytes]:
    return [random.Random(seed + at).randbytes(16) for at in range(number)]


def packed(reports: list[tuple[bytes, int]], width: int) -> bytes:
    return b"".join(struct.pack(FORMATS[width], *each) for each in reports)


def body_of(reports: list[tuple[bytes, int]], width: int) -> bytes:
    return bytes.fromhex(BATCH) + bytes.fromhex(DIGEST) + packed(reports, width)


def json_of(told: list[tuple[bytes, int]], **fields: object) -> bytes:
    listed = [[name.hex(), output] for name, output in told]
    return json.dumps({"batch": BATCH, "mechanism": DIGEST, "reports": listed, **fields}).encode()


def key_of(body: bytes, layout: Layout, read: object, *, signed: bool = False) -> str:
    assert callable(read)
    with pytest.raises(Problem) as caught:
        read(body, {DIGEST: layout}, DIGEST, signed=signed)
    return caught.value.kind.key


@pytest.mark.parametrize(
    ("outputs", "width"),
    [(1, 1), (3, 1), (256, 1), (257, 2), (65_536, 2), (65_537, 4), (200_000, 4)],
)
def test_json_and_binary_say_the_same(outputs: int, width: int) -> None:
    layout = Layout(DIGEST, outputs)
    assert layout.width == width
    names = ids(50)
    reports = [(name, (at * 7919) % outputs) for at, name in enumerate(names)]
    reports[-1] = (names[-1], outputs - 1)
    layouts = {DIGEST: layout}
    plain = wire.read_json(json_of(reports), layouts, DIGEST)
    binary = wire.read_binary(body_of(reports, width), layouts, DIGEST)
    assert plain.reports == binary.reports == packed(reports, width)
    assert plain.rejected == binary.rejected == ()
    listed = [(name.hex(), output) for name, output in reports]
    assert wire.write_binary(BATCH, layout, listed) == body_of(reports, width)
    assert wire.read_json(wire.write_json(BATCH, DIGEST, listed), layouts, DIGEST) == plain


@pytest.mark.parametrize("outputs", [3, 255, 300, 65_535, 70_000])
def test_reports_without_such_an_output_are_rejected_one_by_one(outputs: int) -> None:
    layout = Layout(DIGEST, outputs)
    most = (1 << 8 * layout.width) - 1
    told = [0, outputs, outputs - 1, most, 0, outputs]
    reports = list(zip(ids(6), told, strict=True))
    good = [each for each in reports if each[1] < outputs]
    bad = [(name.hex(), at) for at, (name, output) in enumerate(reports) if output >= outputs]
    for body, read in (
        (json_of(reports), wire.read_json),
        (body_of(reports, layout.width), wire.read_binary),
    ):
        found = read(body, {DIGEST: layout}, DIGEST)
        assert found.reports == packed(good, layout.width)
        assert list(found.rejected) == bad


def test_an_output_below_0_or_beyond_all_integers_is_no_output() -> None:
    reports = list(zip(ids(3), [-1, 10**18, 2], strict=True))
    found = wire.read_json(json_of(reports), {DIGEST: Layout(DIGEST, 3)}, DIGEST)
    assert [at for _, at in found.rejected] == [0, 1]
    assert found.reports == packed(reports[2:], 1)


def test_tags_go_with_their_reports() -> None:
    layout = Layout(DIGEST, 3)
    names, tags = ids(4), ids(4, seed=100)
    reports = list(zip(names, [0, 3, 1, 2], strict=True))
    tokens = [tag.hex() for tag in tags]
    plain = wire.read_json(json_of(reports, tokens=tokens), {DIGEST: layout}, DIGEST, signed=True)
    rows = [packed([each], 1) + tag for each, tag in zip(reports, tags, strict=True)]
    binary = wire.read_binary(
        body_of([], 1) + b"".join(rows), {DIGEST: layout}, DIGEST, signed=True
    )
    assert plain == binary
    assert plain.tags == tags[0] + tags[2] + tags[3]
    assert plain.reports == packed([reports[0], reports[2], reports[3]], 1)


ONE = [(ids(1)[0], 1)]


@pytest.mark.parametrize(
    ("body", "key"),
    [
        (b"", "malformed"),
        (b"\xff\xfe", "malformed"),
        (b"[" * 100_000, "malformed"),
        (b"null", "malformed"),
        (json_of([]), "malformed"),
        (json_of(ONE, answer="flu"), "malformed"),
        (json_of(ONE, batch="0" * 31), "malformed"),
        (json_of(ONE, batch="g" * 32), "malformed"),
        (json_of(ONE, mechanism="é" * 64), "malformed"),
        (json_of(ONE, mechanism="00" * 32), "other-mechanism"),
        (json_of(ONE, reports=[["0" * 32, True]]), "malformed"),
        (json_of(ONE, reports=[["0" * 32, "1"]]), "malformed"),
        (json_of(ONE, reports=[["0" * 32, 1.5]]), "malformed"),
        (json_of(ONE, reports=[["0" * 32]]), "malformed"),
        (json_of(ONE, reports=[["0" * 32, 1, 2]]), "malformed"),
        (json_of(ONE, reports=[["0" * 30 + "  ", 1]]), "malformed"),
        (json_of(ONE, reports=[["0" * 30, 1], ["0" * 34, 1]]), "malformed"),
        (json_of(ONE, reports=[["x" * 32, 9]]), "malformed"),
        (json_of(ONE, tokens=["0" * 32]), "malformed"),
        (json_of(ONE * 1001), "too-many"),
    ],
)
def test_json_of_another_form_is_refused_as_a_whole(body: bytes, key: str) -> None:
    assert key_of(body, Layout(DIGEST, 3), wire.read_json) == key


@pytest.mark.parametrize(
    ("body", "key"),
    [
        (b"", "malformed"),
        (bytes(47), "malformed"),
        (body_of([], 1), "malformed"),
        (body_of(ONE, 1)[:-1], "malformed"),
        (body_of(ONE, 1) + b"\0", "malformed"),
        (body_of(ONE, 2), "malformed"),
        (bytes(16) + bytes(32) + packed(ONE, 1), "other-mechanism"),
        (body_of(ONE * 1001, 1), "too-many"),
    ],
)
def test_bytes_of_another_form_are_refused_as_a_whole(body: bytes, key: str) -> None:
    assert key_of(body, Layout(DIGEST, 3), wire.read_binary) == key


def test_other_mechanism_names_the_right_one() -> None:
    with pytest.raises(Problem) as caught:
        wire.read_json(json_of(ONE), {"11" * 32: Layout("11" * 32, 3)}, "11" * 32)
    assert caught.value.content()["mechanism"] == "11" * 32


def test_tokens_are_asked_for() -> None:
    layout = Layout(DIGEST, 3)
    assert key_of(json_of(ONE), layout, wire.read_json, signed=True) == "token-not-valid"
    assert key_of(body_of(ONE, 1), layout, wire.read_binary, signed=True) == "malformed"


def test_an_upper_case_digest_is_the_same_digest() -> None:
    body = json_of(ONE).replace(DIGEST.encode(), DIGEST.upper().encode())
    assert wire.read_json(body, {DIGEST: Layout(DIGEST, 3)}, DIGEST).mechanism == DIGEST
