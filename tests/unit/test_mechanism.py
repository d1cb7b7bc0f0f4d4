"""Mechanism files: what is saved can be proved again, and what was changed is refused."""

from __future__ import annotations

import contextlib
import copy
import json
import math
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liftlock as ll
from liftlock import (
    Ball,
    Channel,
    Context,
    Family,
    Intervals,
    Joint,
    Mechanism,
    Prior,
    ProfileGraph,
    lock,
)
from liftlock._runtime.storage import (
    check_writable,
    open_atomically,
    parse_json,
    write_atomically,
)
from liftlock.designs import Draft
from liftlock.errors import (
    FileError,
    InputError,
    LiftlockError,
    NotCertified,
    UnprotectedInput,
)
from liftlock.model.continuous import from_data
from liftlock.notions import LIP, Notion, ProfilePrivacy, parse_claim
from tests.profile_oracles import edges_of

LABELS: list[Any] = ["none", "cold", "flu"]
PRIOR = Prior.from_counts({"none": 7, "cold": 2, "flu": 1})
ROWS = [[0.74, 0.18, 0.08], [0.66, 0.26, 0.08], [0.66, 0.18, 0.16]]
CONTEXTS: dict[str, Context] = {
    "prior": PRIOR,
    "joint": Joint.from_counts(
        {"u": {"none": 4, "cold": 1, "flu": 1}, "v": {"none": 3, "cold": 1, "flu": 0}}
    ),
    "family": Family.of([PRIOR, Prior.from_counts({"none": 5, "cold": 3, "flu": 2})]),
    "intervals": Intervals.of({"none": ("0.5", "0.8"), "cold": (0, "0.3"), "flu": ("0.1", 1)}),
    "ball": Ball.of(PRIOR, "0.05"),
}
CLAIMS = ("lip=1", "alip=1,0.8", "eps_upper=ln 3", "eps_lower=2", "ldp=1.5")
AVERAGES = ("chi2=1", "sibson=2,1", "alpha_lift=2,2", "breach=0.1,0.5", "crowd_mass=0.05")


def made(claim: str = "lip=1", context: Context = PRIOR, labels: list[Any] = LABELS) -> Mechanism:
    return lock(Draft.of(labels, labels, ROWS), parse_claim(claim), context)


def reread(data: Any) -> Mechanism:
    return Mechanism.from_data(parse_json(json.dumps(data), Path("m.json")))


# --- round trips ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "kind"),
    [(claim, kind) for kind in CONTEXTS for claim in CLAIMS]
    + [(claim, kind) for kind in ("prior", "joint") for claim in AVERAGES],
)
def test_saved_and_proved_again(tmp_path: Path, claim: str, kind: str) -> None:
    mechanism = made(claim, CONTEXTS[kind])
    path = tmp_path / "mechanism.json"
    mechanism.save(path)
    loaded = Mechanism.load(path)
    assert loaded.channel == mechanism.channel
    assert loaded.context.fingerprint == mechanism.context.fingerprint
    assert loaded.certificate.to_data() == mechanism.certificate.to_data()
    assert str(loaded) == str(mechanism)
    assert loaded.notion.budgets == parse_claim(claim).budgets


@pytest.mark.parametrize(
    "labels",
    [
        [1, 2, 3],
        [0.5, 1.5, 1e-30],
        [0.1 + 0.2, 1e300, -0.5],
        [True, 2, "three"],
        [("a", 1), ("a", 2.5), ("b", ("c", 0.1))],
        ["да", "漢字", 'quote " and \n newline'],
        ["1", "1.0", "1e0"],
    ],
    ids=str,
)
def test_labels_of_every_type_survive_a_file(tmp_path: Path, labels: list[Any]) -> None:
    prior = Prior.from_counts(zip(labels, (7, 2, 1), strict=True))
    mechanism = made(context=prior, labels=labels)
    path = tmp_path / "mechanism.json"
    mechanism.save(path)
    loaded = Mechanism.load(path)
    assert loaded.channel.inputs.labels == tuple(labels)
    assert list(map(type, loaded.channel.inputs.labels)) == list(map(type, labels))
    assert loaded.release(labels)


def test_a_long_exact_certificate_survives_a_file(tmp_path: Path) -> None:
    # chi2 of a 150 x 150 table is a fraction of thousands of digits, more than str() writes.
    labels = list(range(150))
    rows = [[(1 + (x * y) % 7) / 1000 for y in labels] for x in labels]
    rows = [[value / sum(row) for value in row] for row in rows]
    prior = Prior.from_counts({x: x + 1 for x in labels})
    mechanism = lock(Draft.of(labels, labels, rows), parse_claim("chi2=5"), prior)
    mechanism.save(tmp_path / "m.json")
    assert Mechanism.load(tmp_path / "m.json").certificate.holds


def test_the_friendly_face() -> None:
    mechanism = made()
    assert len(mechanism.release(["flu"] * 50)) == 50
    assert mechanism.simulate(["flu", "cold"], seed=3) == mechanism.simulate(
        ["flu", "cold"], seed=3
    )
    assert "CERTIFIED: lip(epsilon=1)" in str(mechanism)
    assert mechanism.audit(alpha=2)["lip"].ratio is not None


def test_a_mechanism_cannot_be_put_together_by_hand() -> None:
    mechanism = made()
    other = Channel.from_rows({x: {"a": "1/4", "b": "3/4"} for x in LABELS}).table()
    with pytest.raises(InputError, match="another channel"):
        Mechanism(other, mechanism.certificate, PRIOR)
    with pytest.raises(InputError, match="another context"):
        Mechanism(mechanism.channel, mechanism.certificate, CONTEXTS["joint"])
    refused = parse_claim("lip=0.001").certify(mechanism.channel, PRIOR)
    with pytest.raises(NotCertified):
        Mechanism(mechanism.channel, refused, PRIOR)


# --- tampering -----------------------------------------------------------------------------------


def change(path: str, new: Callable[[Any], Any]) -> Callable[[Any], None]:
    def apply(data: Any) -> None:
        *way, last = (int(part) if part.isdigit() else part for part in path.split("."))
        for part in way:
            data = data[part]
        data[last] = new(data[last])

    return apply


def move(amount: int) -> Callable[[Any], None]:
    def apply(data: Any) -> None:
        row = data["channel"]["weights"][2]
        row[0], row[2] = row[0] - amount, row[2] + amount

    return apply


TAMPERINGS: dict[str, Callable[[Any], None]] = {
    "weights, still private": move(-1),
    "weights, private no more": move(10**15),
    "weights, a zero": lambda data: data["channel"]["weights"][1].__setitem__(
        slice(None), [0, 0, 2**52]
    ),
    "outputs renamed": change("channel.outputs", lambda old: ["a", "b", "c"]),
    "outputs exchanged": change("channel.outputs", lambda old: old[::-1]),
    "inputs exchanged": change("channel.inputs", lambda old: old[::-1]),
    "budget raised": change("certificate.budgets.epsilon", lambda _: "2"),
    "budget raised by a hair": change("certificate.budgets.epsilon", lambda _: "1.000000000000001"),
    "budget lowered": change("certificate.budgets.epsilon", lambda _: "0.1"),
    "notion": change("certificate.notion", lambda _: "ldp"),
    "notion and budgets": lambda data: data["certificate"].update(
        notion="ldp", budgets={"budget": "9"}
    ),
    "context": change("context.counts", lambda old: [7, 2, 2]),
    "context, more private": change("context.counts", lambda old: [1, 1, 1]),
    "context order": change("context.labels", lambda old: old[::-1]),
    "impossible input": change("context.counts", lambda old: [7, 3, 0]),
    "fingerprint of the channel": change("certificate.channel", lambda old: old[::-1]),
    "fingerprint of the context": change("certificate.context", lambda old: ""),
    "measured": change("certificate.claims.0.measured", lambda _: {"value": 1, "exact": "1"}),
    "bound": change("certificate.claims.0.bound", lambda _: {"between": ["1", "2"]}),
    "bound to inf": change("certificate.claims.0.bound", lambda _: "inf"),
    "a claim fewer": change("certificate.claims", lambda old: old[:1]),
    "a claim more": change("certificate.claims", lambda old: [*old, old[0]]),
    "no claims": change("certificate.claims", lambda _: None),
    "claims of another kind": change("certificate.claims", lambda old: [1, 2]),
    "verdict": change("certificate.holds", lambda _: False),
    "verdict of a claim": change("certificate.claims.1.holds", lambda _: False),
    "unprotected": change("certificate.unprotected", lambda _: ["flu"]),
    "bits": change("channel.bits", lambda _: 51),
    "version": change("version", lambda _: 3),
    "former version": change("version", lambda _: 1),
    "version as text": change("version", lambda _: "1"),
    "version of the channel": change("channel.version", lambda _: 7),
    "version of the certificate": change("certificate.version", lambda _: 0),
    "format": change("format", lambda _: "liftlock.channel"),
    "no budgets": change("certificate.budgets", lambda _: None),
    "other budgets": change("certificate.budgets", lambda _: {"budget": "1"}),
    "budgets of another type": change("certificate.budgets", lambda _: {"epsilon": [1]}),
    "no bits": lambda data: data["channel"].pop("bits") and None,
}


@pytest.mark.parametrize("tamper", TAMPERINGS.values(), ids=TAMPERINGS)
def test_a_changed_file_is_refused(tmp_path: Path, tamper: Callable[[Any], None]) -> None:
    data = made().to_data()
    changed = copy.deepcopy(data)
    tamper(changed)
    assert changed != data
    with pytest.raises(LiftlockError) as refusal:
        reread(changed)
    assert "\n" not in str(refusal.value)
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(changed))
    with pytest.raises(LiftlockError):
        Mechanism.load(path)


def test_the_refusal_names_the_file_and_the_remedy(tmp_path: Path) -> None:
    changed = made().to_data()
    move(-1)(changed)
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(changed))
    with pytest.raises(FileError) as refusal:
        Mechanism.load(path)
    assert str(path) in str(refusal.value)
    assert refusal.value.what == "the certificate speaks of another channel"
    assert "make it again with lock" in refusal.value.remedy


def test_inputs_that_are_not_protected_are_remembered(tmp_path: Path) -> None:
    prior = Prior.from_counts({"none": 7, "cold": 3, "flu": 0})
    draft = Draft.of(LABELS, LABELS, ROWS)
    with pytest.raises(UnprotectedInput):
        lock(draft, parse_claim("lip=1"), prior)
    mechanism = lock(draft, parse_claim("lip=1"), prior, impossible="ignore")
    data = mechanism.to_data()
    assert data["certificate"]["unprotected"] == ["flu"]
    assert reread(data).certificate.unprotected == ("flu",)
    data["certificate"]["unprotected"] = []
    with pytest.raises(LiftlockError):
        reread(data)


def test_a_number_enclosed_otherwise_is_refused() -> None:
    """A wide enclosure overlaps with every number: what is stored is what is computed, or nothing.

    A release that encloses numbers more closely writes another version of certificates.
    """
    data = made().to_data()
    bound = data["certificate"]["claims"][0]["bound"]
    assert "between" in bound
    bound["between"] = ["2.7182818", "2.7182819"]
    with pytest.raises(FileError, match=r"claims\[0\].bound.between\[0\] does not follow"):
        reread(data)


# --- anything at all -----------------------------------------------------------------------------

LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([2**52, -(2**70), 0.5, 1e300, 1e-300]),
    st.sampled_from(["", "x", "inf", "1/3", "1e9999", "lip", "none", "-1", "ln 2"]),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["labels", "counts", "kind", "format", "value", "exact"]),
            inner,
            max_size=3,
        ),
    ),
    max_leaves=6,
)
ORIGINALS = {kind: made("lip=1", context).to_data() for kind, context in CONTEXTS.items()}


def places(data: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [way] if way else []
    items = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in items:
        here = (*way, key)
        found += places(value, here) if isinstance(value, dict | list) else [here]
    return found


@settings(max_examples=400)
@given(st.data(), st.sampled_from(sorted(ORIGINALS)), st.sampled_from(["replace", "drop", "copy"]))
def test_no_change_causes_anything_but_our_errors(data: st.DataObject, kind: str, how: str) -> None:
    original = ORIGINALS[kind]
    changed = copy.deepcopy(original)
    *way, last = data.draw(st.sampled_from(places(changed)))
    parent = changed
    for part in way:
        parent = parent[part]
    if how == "replace":
        parent[last] = data.draw(VALUES)
    elif how == "drop":
        del parent[last]
    else:
        other = data.draw(st.sampled_from(places(original)))
        value: Any = original
        for part in other:
            value = value[part]
        parent[last] = copy.deepcopy(value)
    try:
        mechanism = reread(changed)
    except LiftlockError:
        return
    # Only what is not part of the proof may differ (a witness, a float beside its fraction).
    assert mechanism.certificate.to_data() == original["certificate"]
    assert mechanism.channel.to_data() == original["channel"]
    assert mechanism.context.fingerprint == original["certificate"]["context"]


@settings(max_examples=300)
@given(VALUES, st.sampled_from(["liftlock.mechanism", "liftlock.channel", None]))
def test_no_json_causes_anything_but_our_errors(value: Any, claimed: str | None) -> None:
    if claimed is not None and isinstance(value, dict):
        value |= {"format": claimed, "version": 1}
    with pytest.raises(LiftlockError):
        reread(value)


@settings(max_examples=300)
@given(st.text(alphabet='{}[]",:0123456789.eE+-truefalsn\\u d8', max_size=40))
def test_no_text_causes_anything_but_our_errors(text: str) -> None:
    with contextlib.suppress(FileError):
        parse_json(text, Path("m.json"))


# --- writing -------------------------------------------------------------------------------------


def test_an_interrupted_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text("old")
    with contextlib.suppress(KeyboardInterrupt), open_atomically(path) as stream:
        stream.write(b"half of the new")
        raise KeyboardInterrupt
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_is_an_error_of_ours(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    with (
        pytest.raises(FileError, match=r"cannot write at .*: 'No space left on device'"),
        open_atomically(path),
    ):
        raise OSError(28, "No space left on device")
    assert list(tmp_path.iterdir()) == []


def test_new_files_have_the_usual_rights(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        write_atomically(tmp_path / "m.json", "{}")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "m.json").stat().st_mode) == 0o640


def test_where_nothing_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileError, match="no such folder"):
        check_writable(tmp_path / "nowhere" / "m.json")
    with pytest.raises(FileError, match="a folder, not a file"):
        check_writable(tmp_path)
    with pytest.raises(FileError, match=r"cannot write at .*null byte"):
        write_atomically(tmp_path / "bad\0name", "")
    with pytest.raises(FileError, match="File name too long"):
        check_writable(tmp_path / ("x" * 300))
    # Tests may run as root, who may write everywhere.
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(FileError, match="cannot write into the folder"):
        check_writable(tmp_path / "m.json")


def test_saving_checks_first(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no such folder"):
        made().save(tmp_path / "nowhere" / "m.json")


def test_every_notion_of_these_tests_is_one() -> None:
    notions: list[Notion] = [parse_claim(claim) for claim in (*CLAIMS, *AVERAGES)]
    assert len({notion.name for notion in notions}) == len(notions)


def test_a_channel_is_no_mechanism() -> None:
    channel = Channel.identity("ab")
    with pytest.raises(FileError, match="another file format"):
        Mechanism.from_data(channel.to_data())


# --- numbers --------------------------------------------------------------------------------------

NUMBERS = from_data([1, 2, 2, 3, 5, 8, 13, 40], domain=(0, 20)).discretise(4)


def numeric(outputs: list[Any] | None = None) -> Mechanism:
    names = [2, 5.5, 11] if outputs is None else outputs
    rows = [[0.4, 0.3, 0.3], [0.3, 0.4, 0.3], [0.3, 0.3, 0.4], [0.25, 0.35, 0.4]]
    return lock(Draft.of(NUMBERS.inputs, names, rows), parse_claim("lip=1"), NUMBERS)


def test_numbers_go_in_and_come_out() -> None:
    made = numeric()
    drawn = made.simulate([1.5] * 3000 + [400] * 3000, seed=5)
    assert isinstance(drawn, list)
    assert set(drawn) == {2.0, 5.5, 11.0}
    assert all(isinstance(number, float) for number in drawn)
    # 400 lies above the domain, so it is answered like its upper end.
    shares = [drawn[3000:].count(number) / 3000 for number in (2.0, 5.5, 11.0)]
    assert shares == pytest.approx(made.table.floats()[-1], abs=0.03)
    array = made.simulate(np.array([1.5, 400.0]), seed=5)
    assert isinstance(array, np.ndarray)
    assert array.dtype == np.float64
    assert len(made.release([3, 4, 5])) == 3
    for bad in ([math.nan], [math.inf], ["x"], [None]):
        with pytest.raises(InputError):
            made.release(bad)


def test_a_numeric_mechanism_is_proved_again_when_read(tmp_path: Path) -> None:
    made = numeric()
    made.save(tmp_path / "m.json")
    again = Mechanism.load(tmp_path / "m.json")
    assert again.context == NUMBERS
    assert again.simulate([1, 9], seed=2) == made.simulate([1, 9], seed=2)
    data = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
    data["context"]["grid"]["edges"][1] += 0.5  # other people would be in a cell
    with pytest.raises(FileError, match="another context"):
        Mechanism.from_data(data)


def test_rows_in_another_order_find_their_cells() -> None:
    made = numeric()
    order = [2, 0, 3, 1]
    names = [NUMBERS.labels[k] for k in order]
    turned = lock(
        Draft.of(names, [2, 5.5, 11], made.table.floats()[order]), parse_claim("lip=1"), NUMBERS
    )
    assert turned.simulate([1, 4, 9, 19] * 50, seed=8) == made.simulate([1, 4, 9, 19] * 50, seed=8)
    assert turned.readings() == pytest.approx(made.readings())
    assert turned.accuracy().squared == pytest.approx(made.accuracy().squared)


def test_readings_and_accuracy_by_brute_force() -> None:
    made = numeric()
    values = np.clip([1, 2, 2, 3, 5, 8, 13, 40], 0, 20)
    rows = made.table.floats()[NUMBERS.grid.encode(values)]
    for y, reading in enumerate(made.readings()):
        assert reading == pytest.approx(np.average(values, weights=rows[:, y]), rel=1e-3)
    apart = values[:, None] - np.array([2, 5.5, 11])
    assert made.accuracy().squared == pytest.approx(
        float((rows * apart**2).sum(axis=1).mean()), rel=1e-3
    )
    assert set(made.readings("median")) <= set(NUMBERS.points)
    with pytest.raises(InputError, match="unknown reading: 'mode'"):
        made.readings("mode")  # type: ignore[arg-type]


def test_outputs_that_are_no_numbers_are_not_released_as_such() -> None:
    with pytest.raises(InputError):
        numeric(["low", "middle", "high"]).release([3])


def test_nobody_answers_and_nothing_comes_out() -> None:
    made = ll.design(ll.continuous.uniform(0, 1), ll.LIP("1"), bins=4)
    assert made.release([]) == []
    assert len(made.release(np.array([]))) == 0


def test_a_mechanism_is_shown_in_one_short_line() -> None:
    made = ll.design(ll.continuous.uniform(0, 1), ll.LIP("1"), bins=64)
    assert repr(made).startswith("<Mechanism lip(epsilon=1): channel from 64 inputs to ")
    assert len(repr(made)) < 100


# --- profiles -----------------------------------------------------------------------------------


def test_releasing_by_profile() -> None:
    graph = ProfileGraph.chain({"a": {"x": 1, "y": 3}, "b": {"x": 3, "y": 1}})
    rows = {("b", "y"): 1, ("a", "x"): 0, ("a", "y"): 0, ("b", "x"): 1}  # in an order of its own
    told = Draft.of(rows, ["x", "y"], np.eye(2)[list(rows.values())] * 0.5 + 0.25)
    made = lock(told, ProfilePrivacy("2"), graph)
    drawn = made.simulate(["x", "y"] * 2000, ["a", "b"] * 2000, seed=3)
    assert abs(np.mean([value == "x" for value in drawn[::2]]) - 0.75) < 0.05
    assert abs(np.mean([value == "x" for value in drawn[1::2]]) - 0.25) < 0.05
    assert isinstance(made.release(np.array(["x", "y"]), np.array(["a", "b"])), np.ndarray)
    assert isinstance(made.release(["x", "y"], "a"), list)
    for asked, said in (
        ((["x"],), "the mechanism needs profiles"),
        ((["x", "y"], ["a"]), "1 profiles for 2 values"),
        ((["x"], ["c"]), "unknown label at value 1: 'c'"),
        ((["z"], ["a"]), "unknown label at value 1: 'z'"),
    ):
        with pytest.raises(InputError, match=said):
            made.release(*asked)
    assert edges_of(made).edges[0].ratio == 3


def test_a_mechanism_that_ignores_profiles_looks_at_them_to_refuse() -> None:
    graph = ProfileGraph.bernoulli({"often": "0.9", "always": "1"})
    rows = [[0.9, 0.1], [0.2, 0.8]]
    made = lock(Draft.of([0, 1], [0, 1], rows), ProfilePrivacy("1"), graph, impossible="ignore")
    assert made.certificate.unprotected == (("always", 0),)
    assert "NOT protected (profile probability 0): " in str(made)
    assert len(made.release([0, 1])) == 2
    assert len(made.release([0, 1], "often")) == 2
    with pytest.raises(InputError, match=r"so it is not protected at value 2: \('always', 0\)"):
        made.release([1, 0], ["always", "always"])
    with pytest.raises(InputError, match="unknown label"):
        made.release([1], "nobody")
    with pytest.raises(InputError, match="1 profiles for 2 values"):
        made.release([1, 1], ["often"])


def test_profiles_are_only_for_graphs() -> None:
    made = lock(Draft.of([0, 1], [0, 1], [[0.7, 0.3], [0.3, 0.7]]), LIP("1"), Prior.uniform([0, 1]))
    with pytest.raises(InputError, match="profiles are given, but the mechanism has none"):
        made.release([0], "often")
    assert "profile" not in made.audit().measurements


# --- several guarantees of one channel -----------------------------------------------------------

RACE = Joint.from_counts(
    {"r": {"none": 2, "cold": 1, "flu": 1}, "t": {"none": 5, "cold": 1, "flu": 0}}
)


def several() -> Mechanism:
    first = made("lip=1", CONTEXTS["joint"])
    return Mechanism.prove(
        first.table,
        LIP("1"),
        CONTEXTS["joint"],
        also=[(LIP("0.9"), RACE, "race"), (ll.LDP("0.8"), PRIOR)],
    )


def test_further_guarantees_are_stored_and_proved_again(tmp_path: Path) -> None:
    mechanism = several()
    mechanism.save(tmp_path / "m.json")
    loaded = Mechanism.load(tmp_path / "m.json")
    assert loaded == mechanism
    assert str(loaded) == str(mechanism)
    assert [each.notion.guarantee for each in loaded.guarantees] == [
        "lip(epsilon=1)",
        "lip(epsilon=0.9)",
        "ldp(budget=0.8)",
    ]
    assert loaded.guarantee == "lip(epsilon=1) and lip(epsilon=0.9) about race and ldp(budget=0.8)"
    assert loaded.secrets == ("race",)
    assert "and about race:\nCERTIFIED: lip(epsilon=0.9)" in str(loaded)
    assert "and about the value itself:\nCERTIFIED: ldp(budget=0.8)" in str(loaded)


def test_each_guarantee_is_proved_of_the_same_channel() -> None:
    mechanism = several()
    with pytest.raises(NotCertified, match=r"about 'race': lip\(epsilon=0.01\) does not hold"):
        Mechanism.prove(
            mechanism.channel,
            LIP("1"),
            CONTEXTS["joint"],
            also=[(LIP("0.01"), RACE, "race")],
        )
    other = Mechanism.prove(
        Channel.from_rows({x: {"a": "1/4", "b": "3/4"} for x in LABELS}).table(), LIP("1"), PRIOR
    )
    with pytest.raises(InputError, match="another channel"):
        Mechanism(other.channel, other.certificate, other.context, also=mechanism.also)


ALSO_TAMPERINGS: dict[str, Callable[[Any], None]] = {
    "none": lambda data: data.pop("also"),
    "no list": change("also", lambda _: {}),
    "one fewer": change("also", lambda old: old[:1]),
    "another order": change("also", lambda old: old[::-1]),
    "about nothing": lambda data: data["also"][0].pop("about"),
    "about another": change("also.0.about", lambda _: "sex"),
    "budget": change("also.0.certificate.budgets.epsilon", lambda _: "0.1"),
    "wider budget": change("also.0.certificate.budgets.epsilon", lambda _: "3"),
    "context": change("also.0.context.counts", lambda old: [[2, 1, 1], [4, 1, 0]]),
    "another guarantee": lambda data: data["also"][1].update(certificate=data["certificate"]),
    "measured": change(
        "also.0.certificate.claims.0.measured", lambda _: {"value": 1, "exact": "1"}
    ),
}


@pytest.mark.parametrize("name", ALSO_TAMPERINGS)
def test_changed_further_guarantees_are_refused(name: str) -> None:
    data = json.loads(several().to_json())
    reread(data)
    ALSO_TAMPERINGS[name](data)
    with pytest.raises((FileError, NotCertified)):
        reread(data)
