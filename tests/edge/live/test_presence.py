"""Who is here: told when people come and have really gone, and never because of a short loss of connection."""

from datetime import timedelta

import pytest

from satchel.edge.http.callers import Member
from satchel.edge.live.devices import device_of
from satchel.kernel.clock import ManualClock
from satchel.live import BELIEVED_FOR
from satchel.stores.distributed.ephemeral_redis import RedisEphemeral
from tests.edge.given import ANN, GUS, Edge
from tests.edge.live.given import LONG_GRACE, NO_GRACE, LiveEdge, eventually
from tests.services import redis_server

FIREFOX_ON_ANDROID = "Mozilla/5.0 (Android 16; Mobile; rv:150.0) Gecko/150.0 Firefox/150.0"
CAME = ("came", ANN.user_id)
WENT = ("went", ANN.user_id)


async def test_people_are_here_with_their_devices_while_they_listen(live: LiveEdge) -> None:
    async with live.serving(grace=NO_GRACE) as server:
        async with server.listening(ANN), server.listening(ANN, FIREFOX_ON_ANDROID), server.listening(ANN):
            present = await live.presence.present([ANN.user_id, GUS.id, ANN.user_id])
            assert present == {ANN.user_id: ["Command line", "Firefox on Android"], GUS.id: []}
        await eventually(lambda: WENT in live.attendances.seen)
        assert await live.presence.present([ANN.user_id]) == {ANN.user_id: []}
        assert await live.presence.present([]) == {}


async def test_only_the_first_connection_comes_and_only_the_last_goes(live: LiveEdge) -> None:
    elsewhere = Member(ANN.user_id, ANN.email, "s-9")
    async with live.serving(grace=NO_GRACE) as server:
        async with server.listening(ANN):
            async with server.listening(elsewhere):
                pass
            await eventually(lambda: server.open == 1)
        await eventually(lambda: live.attendances.seen == [CAME, WENT])
        async with server.listening(ANN):
            await eventually(lambda: live.attendances.seen == [CAME, WENT, CAME])


async def test_who_is_back_within_the_grace_was_never_away(live: LiveEdge) -> None:
    async with live.serving(grace=LONG_GRACE) as server:
        async with server.listening(ANN):
            pass
        await eventually(lambda: server.open == 0)
        assert await live.presence.present([ANN.user_id]) == {ANN.user_id: ["Command line"]}
        async with server.listening(ANN):
            pass
    assert live.attendances.seen == [CAME]


async def test_connections_are_refreshed_while_they_last(live: LiveEdge) -> None:
    async with live.serving(refresh_every=timedelta(milliseconds=10)) as server, server.listening(ANN):

        async def is_here() -> bool:
            return (await live.presence.present([ANN.user_id]))[ANN.user_id] != []

        for _ in range(5):
            live.clock.advance(BELIEVED_FOR)
            await eventually(is_here)


async def test_connections_of_a_server_that_died_end_by_themselves(live: LiveEdge) -> None:
    assert await live.presence.enter(ANN.user_id, "c-1", "Firefox on Linux")
    live.clock.advance(BELIEVED_FOR - timedelta(seconds=1))
    assert not await live.presence.enter(ANN.user_id, "c-2", "Safari on iPhone")
    live.clock.advance(timedelta(seconds=1))
    assert await live.presence.present([ANN.user_id]) == {ANN.user_id: ["Safari on iPhone"]}
    assert await live.presence.leave(ANN.user_id, "c-2")


async def test_people_of_a_server_that_died_are_announced_as_gone_by_another(live: LiveEdge) -> None:
    await live.presence.enter(ANN.user_id, "c-1", "Firefox on Linux")
    await live.presence.enter(GUS.id, "c-2", "Firefox on Linux")
    live.clock.advance(BELIEVED_FOR)
    async with live.serving() as server, server.listening(GUS):
        assert await live.presence.lapsed() == [ANN.user_id]
        assert await live.presence.lapsed() == []
    await live.presence.enter(ANN.user_id, "c-3", "Firefox on Linux")
    live.clock.advance(BELIEVED_FOR)
    async with live.serving(refresh_every=timedelta(milliseconds=10)):
        await eventually(lambda: WENT in live.attendances.seen)


async def test_who_is_still_believed_in_by_another_connection_is_looked_after_again(live: LiveEdge) -> None:
    dying = live.presence
    await dying.enter(ANN.user_id, "c-1", "Firefox on Linux")
    await dying.linger(ANN.user_id, "c-2", "Safari on iPhone", timedelta(seconds=1))
    live.clock.advance(timedelta(seconds=2))
    assert await live.presence.lapsed() == []
    live.clock.advance(2 * BELIEVED_FOR)
    assert await live.presence.lapsed() == [ANN.user_id]
    assert await live.presence.lapsed() == []


@pytest.mark.services
async def test_servers_that_share_a_redis_share_who_is_here(edge: Edge, clock: ManualClock) -> None:
    with redis_server() as url:
        stores = [await RedisEphemeral.open(url), await RedisEphemeral.open(url)]
        one, other = (LiveEdge(edge, store, clock) for store in stores)
        async with one.serving(grace=NO_GRACE) as here, other.serving(grace=NO_GRACE) as there:
            async with here.listening(ANN, FIREFOX_ON_ANDROID):
                async with there.listening(ANN) as elsewhere:
                    await one.tell(ANN, "across")
                    assert (await elsewhere.hears("said"))["text"] == "across"
                    devices = ["Command line", "Firefox on Android"]
                    assert await one.presence.present([ANN.user_id]) == {ANN.user_id: devices}
                await eventually(lambda: there.open == 0)
            await eventually(lambda: sorted([*one.attendances.seen, *other.attendances.seen]) == [CAME, WENT])
        for store in stores:
            await store.close()


class Unreliable:
    """Somebody at the door who does not always manage to pass on what they see."""

    async def came(self, person_id: str) -> None:
        raise OSError(person_id)

    went = came


async def test_one_who_fails_to_be_told_keeps_nobody_from_listening_or_being_told(live: LiveEdge) -> None:
    async with live.serving(also=[Unreliable()], grace=NO_GRACE) as server:
        async with server.listening(ANN) as ann:
            await live.tell(ANN, "hear")
            await ann.hears("said")
        await eventually(lambda: live.attendances.seen == [CAME, WENT])


@pytest.mark.parametrize(
    ("agent", "device"),
    [
        (FIREFOX_ON_ANDROID, "Firefox on Android"),
        ("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36", "Chrome on Linux"),
        ("Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/140.0 Safari/537.36 Edg/140.0", "Edge on Windows"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Safari/604.1", "Safari on iPhone"),
        ("Mozilla/5.0 (compatible)", "Browser"),
        ("satchel", "Command line"),
        ("satchel/2.1", "Command line"),
        ("curl/8.5.0", "Program"),
        ("", "Program"),
        ("<b>Firefox/1</b>", "Program"),
    ],
)
def test_a_device_has_a_short_name(agent: str, device: str) -> None:
    assert device_of(agent) == device
