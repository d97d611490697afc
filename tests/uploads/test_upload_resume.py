"""Connections that break, stall, overlap or flap: what had arrived stays, and comes out as it went in."""

import asyncio
import hashlib
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from satchel.edge.http.limits import Limits
from satchel.edge.uploads import upload_lock
from satchel.edge.uploads.body_buffers import Buffers
from satchel.edge.uploads.records import LOCK, WANTED
from satchel.stores.ports.ephemeral import Delete, Exists, Put
from satchel.stores.ports.expressions import assign
from tests.edge.given import ANN, Wire, serving, slug, wire
from tests.uploads.given import PART, TUS, Place, Sender, a_place, checksum, desk_over, pairs

MIB = 1024 * 1024


def head_of_patch(place: Place, url: str, offset: int, length: int, **more: str) -> bytes:
    headers = {
        "Host": "satchel.test",
        **place.edge.bearer(ANN),
        **TUS,
        "Content-Type": "application/offset+octet-stream",
        "Upload-Offset": str(offset),
        "Content-Length": str(length),
        **more,
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"PATCH {url} HTTP/1.1\r\n{lines}\r\n".encode()


@asynccontextmanager
async def sending(place: Place, port: int, url: str, offset: int, length: int, **more: str) -> AsyncGenerator[Wire]:
    """A PATCH whose headers have been sent."""
    async with wire(port) as connection:
        await connection.send(head_of_patch(place, url, offset, length, **more))
        yield connection


async def stored(place: Place, url: str, at_least: int) -> int:
    """Wait, without disturbing whoever sends, until so many bytes are stored; how many then are."""
    async with asyncio.timeout(20):
        while True:
            row = await place.row(url)
            assert row is not None
            if row.offset_bytes >= at_least:
                return row.offset_bytes
            await asyncio.sleep(0.01)


async def test_a_connection_that_flaps_every_few_hundred_kilobytes_makes_progress(place: Place, ann: Sender) -> None:
    data = os.urandom(2 * PART + 12345)
    url = await ann.begun(len(data))
    offset = rounds = 0
    async with serving(place.edge.app()) as port:
        while offset < len(data):
            async with sending(place, port, url, offset, len(data) - offset) as connection:
                await connection.send(data[offset : offset + 700_000])
            offset = await stored(place, url, min(offset + 700_000, len(data)))
            rounds += 1
    assert rounds == -(-len(data) // 700_000)
    assert await ann.offset(url) == len(data)
    assert await place.kept(url) == data
    assert place.desk.received[0].sha256 == hashlib.sha256(data).hexdigest()
    assert await place.stored_keys() == [f"pile/{url.rpartition('/')[2]}"]


async def test_a_stalled_sender_is_given_up_and_what_it_sent_is_kept(place: Place, ann: Sender) -> None:
    url = await ann.begun(10 * MIB)
    async with (
        serving(place.edge.app(), Limits(stalled_seconds=0.2)) as port,
        sending(place, port, url, 0, 10 * MIB) as connection,
    ):
        await connection.send(b"x" * 100_000)
        answer = await connection.answer()
        assert (answer.status, answer.headers["tus-resumable"]) == (408, "1.0.0")
    assert await ann.offset(url) == 100_000


async def test_asking_for_the_offset_ends_a_connection_that_only_seems_alive(place: Place, ann: Sender) -> None:
    data = os.urandom(PART + 2 * MIB)
    url = await ann.begun(len(data))
    async with serving(place.edge.app()) as port, sending(place, port, url, 0, len(data)) as half_dead:
        await half_dead.send(data[: PART + MIB])
        await stored(place, url, PART)
        assert await ann.offset(url) == PART + MIB
        answer = await half_dead.answer()
        assert (answer.status, slug(answer.problem())) == (409, "upload-taken-over")
    await ann.send(url, PART + MIB, data[PART + MIB :])
    assert await place.kept(url) == data


async def test_of_many_that_send_at_once_the_last_goes_on_and_the_bytes_stay_right(place: Place, ann: Sender) -> None:
    data = os.urandom(2 * PART)
    url = await ann.begun(len(data))
    async with serving(place.edge.app()) as port:
        async with asyncio.TaskGroup() as group:
            for _ in range(8):
                group.create_task(send_all(place, port, url, data))
        while (offset := await ann.offset(url)) < len(data):
            await ann.send(url, offset, data[offset:])
    assert await place.kept(url) == data
    assert len(place.desk.received) == 1


async def send_all(place: Place, port: int, url: str, data: bytes) -> None:
    for _ in range(4):
        offset = await place.caller().offset(url)
        async with sending(place, port, url, offset, len(data) - offset) as connection:
            if offset < len(data):
                await connection.send(data[offset : offset + PART // 2])
                await asyncio.sleep(0.01)


async def test_a_checksummed_body_that_is_cut_off_counts_for_nothing(place: Place, ann: Sender) -> None:
    data = os.urandom(2 * PART)
    url = await ann.begun(len(data))
    announced = {"Upload-Checksum": checksum("sha256", data)}
    async with serving(place.edge.app()) as port:
        async with sending(place, port, url, 0, len(data), **announced) as connection:
            await connection.send(data[: PART + MIB])
        assert await ann.offset(url) == 0
        assert await place.stored_keys() == []
        await ann.send(url, 0, data, **announced)
    assert await place.kept(url) == data


async def test_another_server_is_asked_to_release_the_lock_and_does_so(place: Place, ann: Sender) -> None:
    data = os.urandom(MIB)
    url = await ann.begun(len(data))
    ephemeral = place.uploads.locks._ephemeral
    other = desk_over(place.tables, place.objects, ephemeral, place.clock)
    async with serving(place.edge.app()) as port, sending(place, port, url, 0, len(data)) as first:
        await first.send(data[:1000])
        while not await ephemeral.run(Exists(f"uploading:{url.rpartition('/')[2]}")):
            await asyncio.sleep(0.01)
        assert await other.caller().offset(url) == 1000
        assert (await first.answer()).status == 409
    assert (await other.caller().send(url, 1000, data[1000:])).status_code == 204
    assert await place.kept(url) == data
    assert other.desk.received[0].sha256 == hashlib.sha256(data).hexdigest()


async def test_the_lock_of_a_server_that_died_is_waited_for_and_then_the_client_asked_to_wait(
    place: Place, ann: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upload_lock, "ELSEWHERE_SECONDS", 0.5)
    url = await ann.begun(100)
    upload_id = url.rpartition("/")[2]
    ephemeral = place.uploads.locks._ephemeral
    await ephemeral.run(Put(LOCK(upload_id=upload_id), b"another", ttl=upload_lock.LEASE / 2))
    refused = await ann.http.head(url, headers=TUS)
    assert (refused.status_code, refused.headers["retry-after"]) == (423, "3")
    assert await ephemeral.run(Exists(WANTED(upload_id=upload_id)))
    place.clock.advance(upload_lock.LEASE / 2)
    assert await ann.offset(url) == 0
    assert not await ephemeral.run(Exists(WANTED(upload_id=upload_id)))


async def test_who_finds_that_somebody_else_went_on_changes_nothing(place: Place, ann: Sender) -> None:
    data = os.urandom(3 * PART)
    url = await ann.begun(len(data))
    async with serving(place.edge.app()) as port, sending(place, port, url, 0, len(data)) as first:
        await first.send(data[:PART])
        await stored(place, url, PART)
        # As if this server had slept for longer than its lease lasts.
        row = await place.row(url)
        assert row is not None
        await place.uploads.change(row, [assign("OffsetBytes", PART + 7)])
        await first.send(data[PART:])
        answer = await first.answer()
        assert (answer.status, slug(answer.problem())) == (409, "upload-taken-over")
    assert await ann.offset(url) == PART + 7


async def test_a_server_that_slept_takes_nothing_away_that_another_has_acknowledged(place: Place, ann: Sender) -> None:
    data = os.urandom(MIB)
    url = await ann.begun(2 * MIB)
    ephemeral = place.uploads.locks._ephemeral
    other = desk_over(place.tables, place.objects, ephemeral, place.clock)
    wrong = {"Upload-Checksum": checksum("sha256", b"something else")}
    async with serving(place.edge.app()) as port, sending(place, port, url, 0, len(data), **wrong) as sleeper:
        await sleeper.send(data[:-1])
        while not await ephemeral.run(Delete(f"uploading:{url.rpartition('/')[2]}")):
            await asyncio.sleep(0.01)
        assert (await other.caller().send(url, 0, data)).status_code == 204
        await sleeper.send(data[-1:])
        assert (await sleeper.answer()).status in (409, 460)
    assert (await ann.send(url, MIB, data)).status_code == 204
    assert await place.kept(url) == data + data


async def test_what_arrived_before_the_connection_broke_is_kept_though_memory_was_short(tmp_path: Path) -> None:
    async with a_place(tmp_path, buffers=Buffers(1, slow_seconds=0.1)) as place:
        ann = place.caller()
        url = await ann.begun(MIB)
        async with serving(place.edge.app()) as port:
            await place.uploads.buffers._free.acquire()  # somebody else has all of it
            async with sending(place, port, url, 0, MIB) as connection:
                await connection.send(b"x" * 60_000)
                while not place.uploads.buffers.wanted:
                    await asyncio.sleep(0.01)
                await connection.send(b"y" * 20_000)
                await asyncio.sleep(0.05)
            place.uploads.buffers.release()
            assert await stored(place, url, 80_000) == 80_000


async def test_a_server_that_is_stopped_keeps_what_it_has(place: Place, ann: Sender) -> None:
    url = await ann.begun(MIB)
    async with serving(place.edge.app()) as port, sending(place, port, url, 0, MIB) as connection:
        await connection.send(b"x" * 1000)
        while not await place.uploads.locks._ephemeral.run(Exists(f"uploading:{url.rpartition('/')[2]}")):
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        place.uploads.locks.stop_all()
        assert (await connection.answer()).status == 409
    assert await ann.offset(url) == 1000


async def test_a_creation_whose_bytes_break_off_leaves_nothing(place: Place, ann: Sender) -> None:
    head = head_of_patch(place, "/api/v1/uploads", 0, MIB, **{"Upload-Length": str(MIB)})
    head = head.replace(b"PATCH", b"POST", 1).replace(
        b"\r\n\r\n", f"\r\nUpload-Metadata: {pairs(destination='desk')}\r\n\r\n".encode(), 1
    )
    async with serving(place.edge.app()) as port:
        async with wire(port) as connection:
            await connection.send(head + b"x" * 300_000)
            await asyncio.sleep(0.2)
        async with asyncio.timeout(20):
            while place.uploads.locks._queues:
                await asyncio.sleep(0.01)
    assert await place.stored_keys() == []
    assert place.desk.received == []


async def test_slow_senders_do_not_keep_the_memory_from_others(tmp_path: Path) -> None:
    async with a_place(tmp_path, buffers=Buffers(1, slow_seconds=0.1)) as place:
        ann = place.caller()
        slow, fast = await ann.begun(10 * MIB), await ann.begun(10)
        async with serving(place.edge.app()) as port, sending(place, port, slow, 0, 10 * MIB) as connection:
            await connection.send(b"x" * 1000)
            await asyncio.sleep(0.1)
            assert (await ann.send(fast, 0, b"0123456789")).status_code == 204
            assert await stored(place, slow, 1000) == 1000
            await connection.send(b"y" * 1000)
            await asyncio.sleep(0.1)
            assert await ann.offset(slow) == 2000


async def test_pieces_never_become_too_many(place: Place, ann: Sender) -> None:
    data = os.urandom(300)
    url = await ann.begun(len(data))
    for number in range(len(data)):
        await ann.send(url, number, data[number : number + 1])
        row = await place.row(url)
        assert row is not None
        assert len(row.pieces) <= 32
        assert len(await place.stored_keys()) <= 32
    assert await place.kept(url) == data


SIZES = st.one_of(st.integers(0, 300), st.integers(PART - 2, PART + 2), st.integers(0, 2 * PART + 9))
CUTS = st.lists(st.floats(0, 1), max_size=8)


@settings(max_examples=100, deadline=None)
@given(size=SIZES, cuts=CUTS, verified=st.integers(0, 7), forgets=st.booleans())
def test_however_a_file_is_cut_it_comes_out_as_it_went_in(
    size: int, cuts: list[float], verified: int, forgets: bool
) -> None:
    async def upload() -> None:
        async with a_place(folder) as place:
            ann = place.caller()
            data = os.urandom(size)
            url = await ann.begun(size)
            bounds = sorted({0, size, *(round(cut * size) for cut in cuts)})
            for number, (start, end) in enumerate(pairwise(bounds)):
                piece = data[start:end]
                more = {"upload-checksum": checksum("sha1", piece)} if number == verified else {}
                assert (await ann.send(url, start, piece, **more)).headers["upload-offset"] == str(end)
                if forgets:
                    place.uploads.digests.take(url.rpartition("/")[2], end)
            assert await place.kept(url) == data
            [arrived] = place.desk.received
            assert arrived.sha256 == hashlib.sha256(data).hexdigest()
            assert await place.stored_keys() == [f"pile/{arrived.upload_id}"]

    with TemporaryDirectory(prefix="satchel-uploads-") as name:
        folder = Path(name)
        asyncio.run(upload())
