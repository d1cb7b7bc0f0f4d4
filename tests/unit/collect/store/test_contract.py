"""What every store promises, whatever the database."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from datetime import date, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from liftlock.collect.store import (
    Closed,
    Malformed,
    MechanismsDiffer,
    OtherMechanism,
    OutOfRange,
    Record,
    Stopped,
    Store,
    UnknownCollection,
)
from liftlock.collect.wire import Batch
from liftlock.errors import InputError
from tests.unit.collect.store.homes import DAY, HOMES, NAME, NEVER, Home, Mechanism, served

# --- counting -------------------------------------------------------------------------------------


def test_reports_are_counted_by_output_and_mechanism(
    store: Store, narrow: Mechanism, wide: Mechanism
) -> None:
    store.store(narrow.batch([(1, 0), (2, 2), (3, 2)]))
    store.store(wide.batch([(4, 999), (5, 0), (6, 300)]))
    counts = store.counts(NAME)
    assert counts.mechanisms[narrow.digest] == (1, 0, 2)
    assert len(counts.mechanisms[wide.digest]) == 1000
    assert {at: n for at, n in enumerate(counts.mechanisms[wide.digest]) if n} == {
        0: 1,
        300: 1,
        999: 1,
    }
    assert (counts.total, counts.repeated, counts.conflicts) == (6, 0, 0)


def test_four_bytes_an_output(store: Store) -> None:
    large = Mechanism(70_000)
    store.register("health.place", served(large), {})
    store.store(large.batch([(1, 69_999), (2, 65_536), (3, 255), (4, 255)], "health.place"))
    found = store.counts("health.place").mechanisms[large.digest]
    assert {at: n for at, n in enumerate(found) if n} == {255: 2, 65_536: 1, 69_999: 1}


def test_a_repeated_report_is_not_counted_again(store: Store, narrow: Mechanism) -> None:
    batch = narrow.batch([(1, 1), (2, 0)])
    store.store(batch)
    store.store(batch)
    assert store.counts(NAME).mechanisms[narrow.digest] == (1, 1, 0)
    store.store(batch)
    counts = store.counts(NAME)
    assert counts.mechanisms[narrow.digest] == (1, 1, 0)
    assert (counts.repeated, counts.conflicts) == (4, 0)


def test_the_first_report_of_an_id_wins(store: Store, narrow: Mechanism, wide: Mechanism) -> None:
    store.store(narrow.batch([(1, 2), (1, 0)]))
    store.store(narrow.batch([(1, 1), (2, 1)]))
    store.store(wide.batch([(2, 1), (3, 500)]))
    store.store(narrow.batch([(3, 0)]))
    counts = store.counts(NAME)
    assert counts.mechanisms[narrow.digest] == (0, 1, 1)
    assert sum(counts.mechanisms[wide.digest]) == counts.mechanisms[wide.digest][500] == 1
    assert (counts.repeated, counts.conflicts) == (4, 4)


def test_later_the_first_report_still_wins_but_nobody_knows_what_it_said(
    store: Store, narrow: Mechanism
) -> None:
    store.store(narrow.batch([(1, 2)]))
    assert store.counts(NAME).mechanisms[narrow.digest] == (0, 0, 1)
    store.store(narrow.batch([(1, 0), (4, 1)]))
    counts = store.counts(NAME)
    assert counts.mechanisms[narrow.digest] == (0, 1, 1)
    assert (counts.repeated, counts.conflicts) == (1, 0)


def test_ids_belong_to_one_collection(store: Store, narrow: Mechanism) -> None:
    store.register("health.sleep", served(narrow), {})
    store.store(narrow.batch([(1, 0)]))
    store.store(narrow.batch([(1, 1)], "health.sleep"))
    assert store.counts(NAME).mechanisms[narrow.digest] == (1, 0, 0)
    assert store.counts("health.sleep").mechanisms[narrow.digest] == (0, 1, 0)


def test_ids_that_end_in_zeros_or_differ_in_one_bit(store: Store, narrow: Mechanism) -> None:
    ids = [0, 1 << 127, *(1 << bit for bit in range(127)), (1 << 128) - 1]
    store.store(narrow.batch([(id, 1) for id in ids]))
    assert store.counts(NAME).mechanisms[narrow.digest] == (0, len(ids), 0)
    store.store(narrow.batch([(id, 1) for id in ids]))
    assert store.counts(NAME).repeated == len(ids)


def test_the_revision_tells_whether_anything_was_counted(store: Store, narrow: Mechanism) -> None:
    store.store(narrow.batch([(1, 0)]))
    first = store.counts(NAME)
    assert store.counts(NAME) == first
    store.store(narrow.batch([(2, 0)]))
    assert store.counts(NAME).revision > first.revision


@st.composite
def sendings(draw: st.DrawFn) -> list[tuple[int, list[tuple[int, int]], bool]]:
    """Batches of few ids, so that they repeat; and whether the counts are read after each."""
    report = st.tuples(st.integers(0, 12), st.integers(0, 2))
    batch = st.tuples(st.integers(0, 1), st.lists(report, min_size=1, max_size=6), st.booleans())
    return draw(st.lists(batch, max_size=12))


@pytest.mark.parametrize("kind", HOMES)
def test_whatever_is_sent_is_counted_as_one_would_by_hand(
    kind: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    store = HOMES[kind](tmp_path_factory.mktemp(kind)).open(every=NEVER)
    mechanisms = Mechanism(3), Mechanism(300)
    made = iter(range(1_000_000))

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(sendings())
    def check(sent: list[tuple[int, list[tuple[int, int]], bool]]) -> None:
        name = f"survey.{next(made)}"
        store.register(name, served(*mechanisms), {})
        first: dict[int, tuple[int, int]] = {}
        fold: dict[int, tuple[int, int]] = {}
        repeated = conflicts = 0
        for which, reports, read in sent:
            store.store(mechanisms[which].batch(reports, name))
            for id, output in reports:
                said = which, output
                repeated += id in first
                conflicts += fold.setdefault(id, said) != said
                first.setdefault(id, said)
            if read:
                assert store.counts(name).total == len(first)
                fold = {}
        counts = store.counts(name)
        expected = Counter(first.values())
        for which, mechanism in enumerate(mechanisms):
            assert counts.mechanisms[mechanism.digest] == tuple(
                expected[which, output] for output in range(mechanism.outputs)
            )
        assert (counts.repeated, counts.conflicts) == (repeated, conflicts)

    try:
        check()
        assert store.verify() == []
    finally:
        store.shutdown()


# --- sending --------------------------------------------------------------------------------------


def test_many_send_at_once(store: Store, narrow: Mechanism) -> None:
    async def send(number: int) -> None:
        await asyncio.gather(
            *(store.submit(narrow.batch([(2 * id, 0), (2 * id + 1, 2)])) for id in range(number))
        )

    asyncio.run(send(500))
    assert store.counts(NAME).mechanisms[narrow.digest] == (500, 0, 500)


def test_in_the_order_they_were_sent(store: Store, narrow: Mechanism, wide: Mechanism) -> None:
    async def send() -> None:
        await asyncio.gather(
            *(
                store.submit(mechanism.batch([(id, 1)]))
                for id in range(200)
                for mechanism in ((narrow, wide) if id % 2 else (wide, narrow))
            )
        )

    asyncio.run(send())
    counts = store.counts(NAME)
    assert counts.mechanisms[narrow.digest] == (0, 100, 0)
    assert (counts.total, counts.repeated, counts.conflicts) == (200, 200, 200)


def test_who_does_not_wait_has_sent_all_the_same(store: Store, narrow: Mechanism) -> None:
    async def send() -> None:
        store.submit(narrow.batch([(1, 1)])).cancel()
        await store.submit(narrow.batch([(2, 1)]))

    asyncio.run(send())
    assert store.counts(NAME).mechanisms[narrow.digest] == (0, 2, 0)


def test_a_batch_that_is_refused_takes_none_with_it(store: Store, narrow: Mechanism) -> None:
    async def send() -> tuple[object, ...]:
        return await asyncio.gather(
            store.submit(narrow.batch([(1, 0)])),
            store.submit(narrow.batch([(2, 0), (3, 3)])),
            store.submit(narrow.batch([(4, 0)], "nobody.knows")),
            store.submit(narrow.batch([(5, 0)])),
            return_exceptions=True,
        )

    said = asyncio.run(send())
    assert [type(found) for found in said] == [
        type(None),
        OutOfRange,
        UnknownCollection,
        type(None),
    ]
    assert store.counts(NAME).mechanisms[narrow.digest] == (2, 0, 0)


def test_what_is_no_batch_of_the_collection_is_refused(
    store: Store, narrow: Mechanism, wide: Mechanism
) -> None:
    other = Mechanism(4)
    with pytest.raises(OtherMechanism, match="does not use") as caught:
        store.store(other.batch([(1, 3)]))
    assert set(caught.value.digests) == {narrow.digest, wide.digest}
    with pytest.raises(UnknownCollection, match=r"'health\.cold'"):
        store.store(narrow.batch([(1, 0)], "health.cold"))
    for output in (3, 255):
        with pytest.raises(OutOfRange, match=f"no such output: {output}"):
            store.store(narrow.batch([(1, 0), (2, output)]))
    for output in (1000, 0x0400, 0xFFFF):
        with pytest.raises(OutOfRange, match=f"no such output: {output}"):
            store.store(wide.batch([(1, 0), (2, output)]))
    for body in (b"", bytes(16), bytes(18), bytes(17 * 3 + 1)):
        with pytest.raises(Malformed, match="not whole reports"):
            store.store(Batch(NAME, narrow.digest, 1, body))
    with pytest.raises(Malformed, match="another width: 2"):
        store.store(Batch(NAME, narrow.digest, 2, bytes(18)))
    assert store.counts(NAME).total == 0


# --- days -----------------------------------------------------------------------------------------


def test_counts_by_day(home: Home, narrow: Mechanism, wide: Mechanism) -> None:
    days = [DAY]
    store = home.open(lambda: days[-1], every=NEVER)
    store.register(NAME, served(narrow, wide), {})
    store.store(narrow.batch([(1, 0), (2, 1)]))
    days.append(DAY + timedelta(days=1))
    store.store(narrow.batch([(1, 1), (3, 1)]))
    store.store(wide.batch([(4, 7)]))
    found = store.history(NAME)
    assert list(found) == ["2026-11-19", "2026-11-20"]
    assert found["2026-11-19"] == {narrow.digest: (1, 1, 0)}
    assert found["2026-11-20"][narrow.digest] == (0, 1, 0)
    assert found["2026-11-20"][wide.digest][7] == sum(found["2026-11-20"][wide.digest]) == 1
    store.shutdown()


@pytest.mark.parametrize("restart", [False, True])
def test_a_clock_that_slips_back_over_midnight(
    home: Home, narrow: Mechanism, restart: bool
) -> None:
    days = [DAY]
    store = home.open(lambda: days[-1], every=NEVER)
    store.register(NAME, served(narrow), {})
    store.store(narrow.batch([(1, 0)]))
    days.append(DAY - timedelta(days=1))
    if restart:
        store.shutdown()
        store = home.open(lambda: days[-1], every=NEVER)
    store.store(narrow.batch([(2, 0)]))
    assert store.history(NAME) == {"2026-11-19": {narrow.digest: (2, 0, 0)}}
    # One that was months ahead, and was set right, is believed.
    days.append(date(2026, 3, 1))
    store.store(narrow.batch([(3, 1)]))
    assert store.history(NAME)["2026-03-01"] == {narrow.digest: (0, 1, 0)}
    assert store.counts(NAME).mechanisms[narrow.digest] == (2, 1, 0)
    store.shutdown()


# --- collections ----------------------------------------------------------------------------------


def test_what_is_known_of_a_collection(store: Store, narrow: Mechanism, wide: Mechanism) -> None:
    assert store.collections() == {
        NAME: Record(
            NAME, "open", {narrow.digest: 3, wide.digest: 1000}, {"ask": "How are you today?"}
        )
    }
    assert store.mechanism(wide.digest) == wide.file
    assert store.mechanism("00" * 32) is None
    for ask in (store.counts, store.history, store.close, store.erase):
        with pytest.raises(UnknownCollection, match="no such collection"):
            ask("health.cold")


def test_stating_a_collection_again(store: Store, narrow: Mechanism, wide: Mechanism) -> None:
    store.store(narrow.batch([(1, 0)]))
    store.register(NAME, served(wide, narrow), {"ask": "And now?"})
    assert store.collections()[NAME].settings == {"ask": "And now?"}
    assert store.counts(NAME).total == 1
    for other in (served(narrow), served(narrow, wide, Mechanism(4))):
        with pytest.raises(MechanismsDiffer, match=r"'health\.flu'; .*erase"):
            store.register(NAME, other, {})
    assert store.collections()[NAME].settings == {"ask": "And now?"}


def test_mechanisms_change_while_there_are_no_reports(store: Store, narrow: Mechanism) -> None:
    other = Mechanism(4)
    store.register(NAME, served(other), {})
    assert store.collections()[NAME].mechanisms == {other.digest: 4}
    assert store.mechanism(narrow.digest) is None
    store.store(other.batch([(1, 3)]))
    assert store.counts(NAME).mechanisms == {other.digest: (0, 0, 0, 1)}


def test_a_file_that_is_not_what_its_digest_says(store: Store, narrow: Mechanism) -> None:
    with pytest.raises(InputError, match="not the file of this mechanism"):
        store.register("health.sleep", {narrow.digest: (3, b"another")}, {})
    with pytest.raises(InputError, match="without mechanisms"):
        store.register("health.sleep", {}, {})
    assert list(store.collections()) == [NAME]


def test_a_closed_collection_takes_no_more(store: Store, narrow: Mechanism) -> None:
    store.store(narrow.batch([(1, 2)]))
    store.close(NAME)
    store.close(NAME)
    assert store.collections()[NAME].state == "closed"
    with pytest.raises(Closed, match="closed"):
        store.store(narrow.batch([(2, 2)]))
    store.register(NAME, store_again(store), {})
    assert store.collections()[NAME].state == "closed"
    assert store.counts(NAME).mechanisms[narrow.digest] == (0, 0, 1)


def store_again(store: Store) -> dict[str, tuple[int, bytes]]:
    """Return the mechanisms of the collection as the store has them."""
    return {
        digest: (outputs, store.mechanism(digest) or b"")
        for digest, outputs in store.collections()[NAME].mechanisms.items()
    }


def test_erasing_leaves_the_others(store: Store, narrow: Mechanism, wide: Mechanism) -> None:
    store.register("health.sleep", served(narrow), {})
    for name in (NAME, "health.sleep"):
        store.store(narrow.batch([(1, 0), (2, 1)], name))
    store.store(wide.batch([(3, 1)]))
    store.erase(NAME)
    assert list(store.collections()) == ["health.sleep"]
    assert store.mechanism(wide.digest) is None
    assert store.mechanism(narrow.digest) == narrow.file
    assert store.counts("health.sleep").mechanisms == {narrow.digest: (1, 1, 0)}
    with pytest.raises(UnknownCollection, match="no such"):
        store.store(narrow.batch([(4, 0)]))
    assert store.verify() == []
    store.register(NAME, served(narrow), {})
    store.store(narrow.batch([(1, 2)]))
    assert store.counts(NAME).mechanisms == {narrow.digest: (0, 0, 1)}


def test_reports_that_wait_are_erased_too(store: Store, narrow: Mechanism) -> None:
    store.store(narrow.batch([(1, 0)]))
    store.erase(NAME)
    store.register(NAME, served(narrow), {})
    assert store.counts(NAME).total == 0


# --- from one opening to the next -----------------------------------------------------------------


@pytest.mark.parametrize("read", [False, True])
def test_everything_is_there_when_it_is_opened_again(
    home: Home, narrow: Mechanism, wide: Mechanism, read: bool
) -> None:
    store = home.open(every=NEVER)
    store.register(NAME, served(narrow, wide), {"least": 5})
    store.register("health.sleep", served(narrow), {})
    store.store(narrow.batch([(1, 0), (2, 1), (1, 1)]))
    store.close("health.sleep")
    store.add_token("Ada", "owner", "ab" * 32)
    store.note("Ada", "close", "health.sleep")
    if read:
        store.counts(NAME)
    store.shutdown()
    store = home.open(every=NEVER)
    counts = store.counts(NAME)
    assert counts.mechanisms[narrow.digest] == (1, 1, 0)
    assert (counts.repeated, counts.conflicts) == (1, 1)
    assert store.collections()[NAME].settings == {"least": 5}
    assert store.collections()["health.sleep"].state == "closed"
    assert store.find_token("ab" * 32) == ("Ada", "owner")
    assert [(entry.who, entry.what, entry.collection) for entry in store.trail()] == [
        ("Ada", "close", "health.sleep")
    ]
    store.store(narrow.batch([(2, 2), (3, 2)]))
    assert store.counts(NAME).mechanisms[narrow.digest] == (1, 1, 1)
    store.shutdown()


def test_a_store_that_was_shut_down_says_so(home: Home, narrow: Mechanism) -> None:
    store = home.open()
    store.register(NAME, served(narrow), {})
    store.shutdown()
    store.shutdown()
    for late in (lambda: store.store(narrow.batch([(1, 0)])), lambda: store.counts(NAME)):
        with pytest.raises(Stopped, match="shut down"):
            late()
    assert not store.ready()["writable"]


def test_shutting_down_answers_what_was_accepted(home: Home, narrow: Mechanism) -> None:
    store = home.open(every=NEVER)
    store.register(NAME, served(narrow), {})

    async def send() -> int:
        sent = [store.submit(narrow.batch([(id, 1)])) for id in range(300)]
        await asyncio.to_thread(store.shutdown)
        await asyncio.gather(*sent)
        with pytest.raises(Stopped, match="shut down"):
            store.submit(narrow.batch([(300, 1)]))
        return len(sent)

    number = asyncio.run(send())
    store = home.open(every=NEVER)
    assert store.counts(NAME).mechanisms[narrow.digest] == (0, number, 0)
    store.shutdown()


# --- tokens and the trail -------------------------------------------------------------------------


def test_tokens(store: Store) -> None:
    store.add_token("Ada", "owner", "ab" * 32)
    store.add_token("Bo", "analyst", "cd" * 32)
    assert store.tokens() == {"Ada": "owner", "Bo": "analyst"}
    assert store.find_token("cd" * 32) == ("Bo", "analyst")
    assert store.find_token("ef" * 32) is None
    for name, hash in (("Ada", "ef" * 32), ("Cy", "ab" * 32)):
        with pytest.raises(InputError, match="there is such a token"):
            store.add_token(name, "owner", hash)
    store.revoke_token("Ada")
    assert store.find_token("ab" * 32) is None
    with pytest.raises(InputError, match="no such token: 'Ada'"):
        store.revoke_token("Ada")


def test_the_trail_is_kept_in_order_and_no_finer_than_a_day(store: Store) -> None:
    for at in range(20):
        store.note("Ada", f"step {at}", NAME)
    found = store.trail()
    assert [entry.what for entry in found] == [f"step {at}" for at in range(20)]
    assert {(entry.day, entry.who, entry.collection) for entry in found} == {
        (DAY.isoformat(), "Ada", NAME)
    }


# --- health ---------------------------------------------------------------------------------------


def test_how_it_goes(home: Home, narrow: Mechanism) -> None:
    store = home.open(every=NEVER)
    store.register(NAME, served(narrow), {})
    said = store.ready()
    assert (said["writable"], said["unfolded"], said["queue"], said["lag"]) == (True, 0, 0, 0)
    store.store(narrow.batch([(1, 0), (2, 0)]))
    said = store.ready()
    assert said["unfolded"] == 2
    assert said["lag"] > 0
    store.counts(NAME)
    assert store.ready()["unfolded"] == store.ready()["lag"] == 0
    store.shutdown()


def test_many_reports_are_folded_without_being_asked(home: Home, narrow: Mechanism) -> None:
    store = home.open(every=NEVER, at_most=10)
    store.register(NAME, served(narrow), {})
    store.store(narrow.batch([(id, 0) for id in range(9)]))
    assert store.ready()["unfolded"] == 9
    store.store(narrow.batch([(9, 0)]))
    store.trail()  # whatever is asked next comes after the fold of a file
    end = time.monotonic() + 60
    while store.ready()["unfolded"] and time.monotonic() < end:
        time.sleep(0.01)
    assert store.ready()["unfolded"] == 0
    store.shutdown()
