"""How bytes get from the owner to the receiver, both at one server and each at their own."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from satchel.features.drop.records import CHUNKS, READY, request_channel
from satchel.features.drop.relay.allowance import Allowance
from satchel.features.drop.relay.cross_server import WINDOW_CHUNKS
from satchel.features.drop.relay.refusals import (
    DropLimit,
    OtherSideMissing,
    ReceiverGone,
    SegmentOutOfPlace,
    StreamOver,
)
from satchel.features.drop.relay.relay_ends import PIECE_BYTES, ReceiverLeft
from satchel.kernel.clock import ManualClock, system_clock
from satchel.kernel.errors import Unavailable
from satchel.stores.embedded.ephemeral_memory import MemoryEphemeral
from satchel.stores.ports.ephemeral import Exists, ListSize, Publish
from tests.features.drop.streaming import REQUEST, SHORT_TIMEOUTS, Both, Given, Kept, settled


@pytest.fixture
async def ephemeral() -> AsyncGenerator[MemoryEphemeral]:
    store = await MemoryEphemeral.open(clock=system_clock)
    yield store
    await store.close()


@pytest.fixture(params=[False, True], ids=["at one server", "between two servers"])
async def both(request: pytest.FixtureRequest, ephemeral: MemoryEphemeral) -> Both:
    both = Both(ephemeral, apart=request.param)
    await both.acknowledged()
    return both


@pytest.fixture(params=[False, True], ids=["at one server", "between two servers"])
async def impatient(request: pytest.FixtureRequest, ephemeral: MemoryEphemeral) -> Both:
    both = Both(ephemeral, apart=request.param, timeouts=SHORT_TIMEOUTS)
    await both.acknowledged()
    return both


async def until_it_waits(relay: Both) -> None:
    """Whoever has come has settled down to wait."""
    for _ in range(20):
        await asyncio.sleep(0)
    await relay.ephemeral.run(Exists("anything"))


@pytest.mark.parametrize("owner_is_first", [True, False])
async def test_segments_arrive_in_their_order_whoever_comes_first(both: Both, owner_is_first: bool) -> None:
    outlet = Kept()
    receiving = None if owner_is_first else both.receive(outlet, total=9)
    await until_it_waits(both)
    first = both.send(Given(b"abc", b"de"), 0, total=9)
    second = both.send(Given(b"fg"), 5, total=9)
    await until_it_waits(both)
    receiving = receiving or both.receive(outlet, total=9)
    await asyncio.gather(first, second)
    await both.send(Given(b"hi"), 7, last=True, total=9)
    await receiving
    assert (outlet.content, outlet.total, outlet.is_finished) == (b"abcdefghi", 9, True)


async def test_segments_that_overtake_each_other_find_their_places(both: Both) -> None:
    outlet = Kept()
    receiving = both.receive(outlet)
    last = both.send(Given(b"ef"), 4, last=True)
    await until_it_waits(both)
    middle = both.send(Given(b"cd"), 2)
    await until_it_waits(both)
    await asyncio.gather(receiving, last, middle, both.send(Given(b"ab"), 0))
    assert outlet.content == b"abcdef"


async def test_the_next_segment_waits_unread_while_one_is_taken(both: Both) -> None:
    outlet, first, second = Kept(), Given(b"abc"), Given(b"def")
    first.may_go_on.clear()
    receiving = both.receive(outlet)
    sending = [both.send(first, 0), both.send(second, 3, last=True)]
    await until_it_waits(both)
    assert second.read == 0
    first.may_go_on.set()
    await asyncio.gather(receiving, *sending)
    assert outlet.content == b"abcdef"


async def test_a_segment_that_is_sent_again_takes_the_place_of_the_one_that_waits(ephemeral: MemoryEphemeral) -> None:
    both = Both(ephemeral, apart=False)
    await both.acknowledged()
    outlet, abandoned = Kept(), Given(b"abc")
    first = both.send(abandoned, 0, last=True)
    await until_it_waits(both)
    again = both.send(Given(b"abc"), 0, last=True)
    with pytest.raises(SegmentOutOfPlace):
        await first
    await asyncio.gather(both.receive(outlet), again)
    assert (outlet.content, abandoned.read) == (b"abc", 0)


async def test_an_empty_stream_comes_to_its_end(both: Both) -> None:
    outlet = Kept()
    await asyncio.gather(both.receive(outlet, total=0), both.send(Given(), 0, last=True, total=0))
    assert (outlet.content, outlet.total, outlet.is_finished) == (b"", 0, True)


async def test_what_has_no_length_goes_on_where_the_stream_is(both: Both) -> None:
    outlet = Kept()
    receiving = both.receive(outlet)
    await both.send(Given(b"abc"), 0)
    await asyncio.gather(receiving, both.send(Given(b"de", b"f", measured=False), None, last=True))
    assert outlet.content == b"abcdef"


@pytest.mark.parametrize(
    ("offset", "content"), [(0, b"abc"), (2, b"c"), (4, b"e"), (9, b"j"), (10**30, b"z"), (-(10**30), b"z")]
)
async def test_a_segment_out_of_place_is_refused_and_changes_nothing(
    impatient: Both, offset: int, content: bytes
) -> None:
    outlet = Kept()
    receiving = impatient.receive(outlet, total=6)
    await impatient.send(Given(b"abc"), 0, total=6)
    wrong = Given(content)
    with pytest.raises(SegmentOutOfPlace):
        await impatient.send(wrong, offset, total=6)
    assert wrong.read == 0
    await asyncio.gather(receiving, impatient.send(Given(b"def"), 3, last=True, total=6))
    assert outlet.content == b"abcdef"


@pytest.mark.parametrize(("content", "last"), [(b"abcdefg", False), (b"abcdefg", True), (b"abc", True)])
async def test_a_segment_that_does_not_fit_the_announced_length_is_refused(
    both: Both, content: bytes, last: bool
) -> None:
    outlet = Kept()
    receiving = both.receive(outlet, total=6)
    with pytest.raises(SegmentOutOfPlace):
        await both.send(Given(content), 0, last=last, total=6)
    await asyncio.gather(receiving, both.send(Given(b"abcdef"), 0, last=True, total=6))
    assert outlet.content == b"abcdef"


async def test_what_turns_out_longer_than_announced_is_not_passed_on(both: Both) -> None:
    outlet = Kept()
    receiving = both.receive(outlet, total=6)
    sending = both.send(Given(b"abcde", b"fgh", measured=False), None, last=True, total=6)
    refusal, broken = await settled(sending, receiving)
    assert isinstance(refusal, SegmentOutOfPlace)
    assert isinstance(broken, StreamOver)
    assert (outlet.content, outlet.is_finished) == (b"abcde", False)


async def test_a_receiver_who_leaves_is_told_to_the_owner_whatever_waits(both: Both) -> None:
    outlet = Kept()
    outlet.may_go_on.clear()
    receiving = both.receive(outlet)
    sending = [both.send(Given(b"abc"), 0), both.send(Given(b"def"), 3)]
    await until_it_waits(both)
    outlet.has_left.set()
    outlet.may_go_on.set()
    left, *refusals = await settled(receiving, *sending)
    assert isinstance(left, ReceiverLeft)
    assert [type(each) for each in refusals] == [ReceiverGone, ReceiverGone]
    with pytest.raises(ReceiverGone):
        await both.send(Given(b"def"), 3)


async def test_an_owner_who_breaks_off_breaks_the_receiver_s_stream_off(both: Both) -> None:
    outlet = Kept()
    receiving = both.receive(outlet, total=9)
    sending = both.send(Given(b"abc", breaks_with=StreamOver("gone")), 0, total=9)
    assert [type(each) for each in await settled(receiving, sending)] == [StreamOver, StreamOver]
    assert (outlet.content, outlet.is_finished) == (b"abc", False)


async def test_an_owner_s_request_that_is_given_up_breaks_the_stream_off(both: Both) -> None:
    outlet, inlet = Kept(), Given(b"abc", b"def")
    inlet.may_go_on.clear()
    receiving = both.receive(outlet)
    sending = both.send(inlet, 0)
    await until_it_waits(both)
    sending.cancel()
    assert [type(each) for each in await settled(receiving)] == [StreamOver]


async def test_whoever_waits_in_vain_is_told_so_and_may_come_again(impatient: Both) -> None:
    with pytest.raises(OtherSideMissing):
        await impatient.send(Given(b"abc"), 0, last=True)
    outlet = Kept()
    with pytest.raises(OtherSideMissing):
        await impatient.receive(outlet)
    await asyncio.gather(impatient.receive(outlet), impatient.send(Given(b"abc"), 0, last=True))
    assert outlet.content == b"abc"


async def test_an_owner_who_stops_between_segments_breaks_the_stream_off(impatient: Both) -> None:
    outlet = Kept()
    receiving = impatient.receive(outlet)
    await impatient.send(Given(b"abc"), 0)
    with pytest.raises(OtherSideMissing):
        await receiving
    assert not outlet.is_finished


async def test_a_stream_has_one_receiver_and_one_end(both: Both) -> None:
    outlet = Kept()
    receiving = both.receive(outlet)
    await until_it_waits(both)
    with pytest.raises(StreamOver):
        await both.receive(Kept())
    await asyncio.gather(receiving, both.send(Given(b"abc"), 0, last=True))
    with pytest.raises(StreamOver):
        await both.receive(Kept())
    assert outlet.content == b"abc"


async def test_a_receiver_who_has_everything_may_leave_before_the_end_is_noticed(both: Both) -> None:
    class Hasty(Kept):
        async def write(self, piece: bytes) -> None:
            await super().write(piece)
            if len(self.content) == 6:
                self.has_left.set()

        async def finish(self) -> None:
            raise ReceiverLeft

    outlet = Hasty()
    await asyncio.gather(both.receive(outlet, total=6), both.send(Given(b"abc", b"def"), 0, last=True, total=6))
    assert outlet.content == b"abcdef"


async def test_the_receiver_counts_as_there_while_they_are(both: Both) -> None:
    ready = Exists(READY(request_id=REQUEST))
    assert not await both.ephemeral.run(ready)
    receiving = both.receive(Kept())
    await until_it_waits(both)
    assert await both.ephemeral.run(ready)
    await asyncio.gather(receiving, both.send(Given(b"abc"), 0, last=True))
    assert not await both.ephemeral.run(ready)


async def test_a_request_that_ends_ends_its_stream(both: Both) -> None:
    inlet = Given(b"abc", b"def")
    inlet.may_go_on.clear()
    tasks = both.receive(Kept()), both.send(inlet, 0)
    await until_it_waits(both)
    await both.ephemeral.run(Publish(request_channel(REQUEST), b"ended"))
    assert [type(each) for each in await settled(*tasks)] == [StreamOver, StreamOver]


async def test_a_request_that_ends_ends_the_wait_for_its_receiver(both: Both) -> None:
    sending = both.send(Given(b"abc"), 0)
    await until_it_waits(both)
    await both.ephemeral.run(Publish(request_channel(REQUEST), b"ended"))
    assert [type(each) for each in await settled(sending)] == [StreamOver]


async def test_what_is_sent_after_the_owner_has_broken_off_finds_the_stream_over(both: Both) -> None:
    broken = Given(b"abc", breaks_with=StreamOver("The connection ended before the last byte."))
    await settled(both.receive(Kept()), both.send(broken, 0))
    assert [type(each) for each in await settled(both.send(Given(b"def"), 3))] == [StreamOver]


async def test_a_request_that_has_ended_has_no_stream(ephemeral: MemoryEphemeral) -> None:
    with pytest.raises(StreamOver):
        await Both(ephemeral, apart=False).receive(Kept())


async def test_a_server_that_stops_breaks_everything_off_at_once(both: Both) -> None:
    inlet = Given(b"abc", b"def")
    inlet.may_go_on.clear()
    tasks = both.receive(Kept()), both.send(inlet, 0), both.send(Given(b"x"), 6)
    await until_it_waits(both)
    both.owners.stop()
    both.receivers.stop()
    broken, *refused = await settled(*tasks)
    assert isinstance(broken, Unavailable | StreamOver)
    assert all(isinstance(each, Unavailable) for each in refused)
    with pytest.raises(Unavailable):
        await both.send(Given(b"x"), 0)


async def test_a_slow_receiver_lets_no_more_chunks_than_granted_come_between(ephemeral: MemoryEphemeral) -> None:
    both = Both(ephemeral, apart=True)
    await both.acknowledged()
    content = bytes(PIECE_BYTES)
    outlet, inlet = Kept(), Given(*(content for _ in range(100)))
    outlet.may_go_on.clear()
    receiving, sending = both.receive(outlet), both.send(inlet, 0, last=True)
    await until_it_waits(both)
    assert await ephemeral.run(ListSize(CHUNKS(request_id=REQUEST))) <= WINDOW_CHUNKS
    assert inlet.read <= (WINDOW_CHUNKS + 2) * PIECE_BYTES
    outlet.may_go_on.set()
    await asyncio.gather(receiving, sending)
    assert outlet.content == content * 100
    assert max(map(len, outlet.pieces)) <= PIECE_BYTES


async def test_large_pieces_are_cut_between_servers(ephemeral: MemoryEphemeral) -> None:
    both = Both(ephemeral, apart=True)
    await both.acknowledged()
    content = bytes(range(256)) * 5000
    outlet = Kept()
    await asyncio.gather(both.receive(outlet), both.send(Given(content), 0, last=True))
    assert outlet.content == content
    assert max(map(len, outlet.pieces)) <= PIECE_BYTES


async def test_segments_may_come_to_any_server_in_turn(ephemeral: MemoryEphemeral) -> None:
    both = Both(ephemeral, apart=True)
    await both.acknowledged()
    outlet = Kept()
    receiving = both.receive(outlet)
    here = Both(ephemeral, apart=True)
    here.owners = both.receivers
    for number in range(6):
        relay = (both, here)[number % 2]
        await relay.send(Given(b"%d" % number), number, last=number == 5)
    await receiving
    assert outlet.content == b"012345"


async def test_streams_and_bytes_are_counted(both: Both) -> None:
    def numbers() -> list[float]:
        return [family.samples[0].value for family in both.receivers.collect()]

    receiving = both.receive(Kept())
    await both.send(Given(b"abc"), 0)
    assert numbers() == [1, 3]
    await asyncio.gather(receiving, both.send(Given(b"de", measured=False), None, last=True))
    assert numbers() == [0, 5]


async def test_a_network_passes_no_more_in_a_day_than_it_may(ephemeral: MemoryEphemeral) -> None:
    clock = ManualClock()
    allowance = Allowance(ephemeral, clock, 100)
    await allowance.use("10.0.0.1", 60)
    with pytest.raises(DropLimit) as refusal:
        await allowance.use("10.0.0.1", 60)
    assert refusal.value.facts["limit_bytes"] == 100
    assert "T00:00:00" in refusal.value.facts["over_at"]
    await allowance.use("10.0.0.1", 40)
    await allowance.use("10.0.0.2", 100)
    await allowance.use("10.0.0.1", -40)
    await allowance.use("10.0.0.1", 40)
    clock.advance(24 * 3600)
    await allowance.use("10.0.0.1", 100)


async def test_what_has_no_length_ends_where_the_limit_is_reached(ephemeral: MemoryEphemeral) -> None:
    allowance = Allowance(ephemeral, ManualClock(), 10 * 1024 * 1024)
    inlet = allowance.metered("10.0.0.1", Given(*(bytes(1024 * 1024) for _ in range(20)), measured=False))
    passed = 0
    with pytest.raises(DropLimit):
        async for piece in inlet.pieces():
            passed += len(piece)
    assert 4 * 1024 * 1024 < passed <= 10 * 1024 * 1024
