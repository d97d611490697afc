"""Streams of a drop through the real program: any kind of connection, many at once, parked, broken, between servers."""

import asyncio
import hashlib
import os
import signal
import socket
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from tests.server.process import ServerProcess, serving
from tests.server.streams import Member, Session, Streamed, connected, head_from, resident_bytes
from tests.server.test_running import SECRET
from tests.services import redis_server

# More than all the buffers between the two ends hold.
CONTENT = os.urandom(24 * 1024 * 1024)
MEBIBYTE = 1024 * 1024


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerProcess]:
    with serving(tmp_path_factory.mktemp("server") / "data") as server:
        yield server


@pytest.fixture(scope="module")
def session(server: ServerProcess) -> Session:
    return Session(server)


@pytest.fixture
def beside() -> Generator[ThreadPoolExecutor]:
    """What happens at the same time."""
    with ThreadPoolExecutor(8) as threads:
        yield threads


def socket_of(stream: Streamed, member: Member) -> ClientConnection:
    address = member.server.url.replace("http", "ws") + stream.path + "/socket"
    protocols = [Subprotocol("satchel.drop.1"), Subprotocol(member.token)]
    return connect(address, subprotocols=protocols, max_size=None, compression=None, proxy=None)


def pieces(content: bytes, size: int = 300_000) -> Iterator[bytes]:
    return (content[start : start + size] for start in range(0, len(content), size))


def send_frames(stream: Streamed, content: bytes) -> int | None:
    with socket_of(stream, stream.owner) as connection:
        for piece in pieces(content):
            connection.send(piece)
        connection.send(b"")
        return closing_code(connection)


def take_frames(stream: Streamed) -> bytes:
    with socket_of(stream, stream.receiver) as connection:
        whole = bytearray()
        while frame := connection.recv(timeout=60):
            assert isinstance(frame, bytes)
            whole += frame
        assert closing_code(connection) == 1000
        return bytes(whole)


def closing_code(connection: ClientConnection) -> int | None:
    with pytest.raises(ConnectionClosed) as closed:
        connection.recv(timeout=60)
    return closed.value.rcvd.code if closed.value.rcvd else None


@pytest.mark.parametrize("length", [len(CONTENT), None], ids=["known", "unknown"])
def test_segments_arrive_whole(session: Session, beside: ThreadPoolExecutor, length: int | None) -> None:
    stream = session.stream(length)
    taking = beside.submit(stream.get)
    size = 8 * MEBIBYTE
    for start in range(0, len(CONTENT), size):
        last = start + size >= len(CONTENT)
        assert stream.put(CONTENT[start : start + size], start, last=last).status_code == 204
    assert taking.result().content == CONTENT


def test_two_segments_may_be_under_way(session: Session, beside: ThreadPoolExecutor) -> None:
    stream = session.stream(len(CONTENT))
    taking = beside.submit(stream.get)
    half = len(CONTENT) // 2
    sending = [beside.submit(stream.put, CONTENT[half:], half, last=True), beside.submit(stream.put, CONTENT[:half])]
    assert {each.result().status_code for each in sending} == {204}
    assert taking.result().content == CONTENT


def test_a_body_in_chunks_arrives_as_well(session: Session, beside: ThreadPoolExecutor) -> None:
    stream = session.stream(len(CONTENT))
    taking = beside.submit(stream.get)
    headers = {"authorization": f"Bearer {stream.owner.token}"}
    address = f"{stream.owner.server.url}{stream.path}/bytes/0?last=true"
    assert httpx.put(address, content=pieces(CONTENT), headers=headers, timeout=60).status_code == 204
    assert taking.result().content == CONTENT


@pytest.mark.parametrize("sends", ["requests", "frames"])
@pytest.mark.parametrize("takes", ["requests", "frames"])
def test_either_end_may_be_a_websocket(session: Session, beside: ThreadPoolExecutor, sends: str, takes: str) -> None:
    stream = session.stream(len(CONTENT))
    taking = beside.submit(lambda: take_frames(stream) if takes == "frames" else stream.get().content)
    if sends == "frames":
        assert send_frames(stream, CONTENT) == 1000
    else:
        assert stream.put(CONTENT, last=True).status_code == 204
    assert taking.result() == CONTENT


def test_a_websocket_is_for_the_two_alone_and_says_how_it_ended(session: Session) -> None:
    stream = session.stream(None)
    other = session.join(stream.owner.server)
    with pytest.raises(InvalidStatus) as refusal:
        socket_of(stream, other)
    assert refusal.value.response.status_code == 404
    with socket_of(stream, stream.owner) as sender, socket_of(stream, stream.receiver) as receiver:
        assert sender.subprotocol == "satchel.drop.1"
        sender.send(b"begun")
        assert receiver.recv(timeout=20) == b"begun"
        receiver.close()
        assert closing_code(sender) == 4410


def test_a_receiver_who_leaves_fails_the_owner_s_request(session: Session, beside: ThreadPoolExecutor) -> None:
    stream = session.stream(len(CONTENT))
    with connected(stream.receiver.server) as receiver:
        receiver.sendall(stream.head_of_get())
        sending = beside.submit(stream.put, CONTENT, last=True)
        head_from(receiver)
    answer = sending.result()
    assert (answer.status_code, answer.json()["type"]) == (410, "/problems#receiver-gone")
    assert stream.put(b"x", 0).status_code == 410


def test_an_owner_who_leaves_breaks_the_receiver_s_answer_off(session: Session, beside: ThreadPoolExecutor) -> None:
    stream = session.stream(len(CONTENT))
    taking = beside.submit(stream.get)
    with connected(stream.owner.server) as owner:
        owner.sendall(stream.head_of_put(0, len(CONTENT), last=True) + CONTENT[:MEBIBYTE])
    with pytest.raises(httpx.RemoteProtocolError, match="complete"):
        taking.result()
    again = session.stream(None)
    taking = beside.submit(again.get)
    with socket_of(again, again.owner) as sender:
        sender.send(b"begun")
    with pytest.raises(httpx.RemoteProtocolError, match="complete"):
        taking.result()


def test_a_receiver_who_does_not_read_stops_only_its_own_owner(session: Session, beside: ThreadPoolExecutor) -> None:
    stuck, other = session.stream(len(CONTENT)), session.stream(len(CONTENT))
    with connected(stuck.receiver.server, small=True) as receiver:
        receiver.sendall(stuck.head_of_get())
        sending = beside.submit(stuck.put, CONTENT, last=True)
        head_from(receiver)
        taking = beside.submit(other.get)
        assert other.put(CONTENT, last=True).status_code == 204
        assert taking.result().content == CONTENT
        assert not sending.done()
        received = bytearray()
        while len(received) < len(CONTENT):
            received += receiver.recv(2**20)
        assert hashlib.sha256(received).digest() == hashlib.sha256(CONTENT).digest()
        assert sending.result().status_code == 204


def test_parked_streams_cost_little(tmp_path: Path, beside: ThreadPoolExecutor) -> None:
    with serving(tmp_path / "data") as server, ExitStack() as opened:
        streams = [stream for _ in range(4) for stream in parked(Session(server), 25)]
        before = resident_bytes(server)
        owners: list[socket.socket] = []
        for stream in streams:
            receiver = opened.enter_context(connected(server, small=True))
            receiver.sendall(stream.head_of_get())
            owners.append(opened.enter_context(connected(server)))
            owners[-1].sendall(stream.head_of_put(0, len(CONTENT), last=True))
            head_from(receiver)
        list(beside.map(send_until_nobody_takes_more, owners))
        assert resident_bytes(server) - before < 60 * MEBIBYTE
        assert resident_bytes(server) < 150_000_000
        page = server.client.get("/metrics").text
        assert "satchel_drop_streams 100.0" in page
        assert server.stop(signal.SIGTERM) == 0
        assert "Traceback" not in server.said
        assert "graceful" not in server.said


def parked(session: Session, count: int) -> list[Streamed]:
    return [session.stream(len(CONTENT)) for _ in range(count)]


def send_until_nobody_takes_more(connection: socket.socket) -> None:
    connection.settimeout(0.1)
    sent = 0
    with pytest.raises(TimeoutError):
        while sent < len(CONTENT):
            sent += connection.send(CONTENT[sent : sent + MEBIBYTE])


async def test_many_streams_flow_side_by_side(session: Session) -> None:
    count, size = 60, 2 * MEBIBYTE
    sessions = [session, *(Session(session.owner.server) for _ in range(3))]
    streams = [sessions[number % 4].stream(size) for number in range(count)]
    address = session.owner.server.url.rpartition(":")[2]
    arrived = [0] * count

    async def take(number: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(address))
        writer.write(streams[number].head_of_get())
        await reader.readuntil(b"\r\n\r\n")
        while arrived[number] < size:
            piece = await reader.read(65536)
            assert piece, "a stream broke off"
            arrived[number] += len(piece)
        writer.close()

    async def send(number: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(address))
        writer.write(streams[number].head_of_put(0, size, last=True))
        for piece in pieces(CONTENT[:size]):
            writer.write(piece)
            await writer.drain()
        assert b" 204 " in await reader.readuntil(b"\r\n\r\n")
        writer.close()

    await asyncio.gather(*map(take, range(count)), *map(send, range(count)))
    assert arrived == [size] * count


@pytest.mark.services
def test_the_two_ends_may_be_at_two_servers(tmp_path: Path, beside: ThreadPoolExecutor) -> None:
    with redis_server() as redis, ExitStack() as opened:
        shared = {"SATCHEL_EPHEMERAL": redis, "SATCHEL_SECRET": SECRET}
        one, two = (opened.enter_context(serving(tmp_path / each, environment=shared)) for each in "ab")
        session = Session(one, two)
        stream = session.stream(len(CONTENT))
        taking = beside.submit(stream.get)
        elsewhere = Member(two, stream.owner.session_id, stream.owner.member_id, stream.owner.token)
        third = len(CONTENT) // 3
        # The owner's requests may come to either of them.
        assert stream.put(CONTENT[:third]).status_code == 204
        assert stream.put(CONTENT[third : 2 * third], third, by=elsewhere).status_code == 204
        assert stream.put(CONTENT[2 * third :], 2 * third, last=True).status_code == 204
        assert taking.result().content == CONTENT
        first = session.stream(len(CONTENT))
        sending = beside.submit(send_frames, first, CONTENT)
        assert take_frames(first) == CONTENT
        assert sending.result() == 1000
        broken = session.stream(len(CONTENT))
        with connected(two) as receiver:
            receiver.sendall(broken.head_of_get())
            refused = beside.submit(broken.put, CONTENT, last=True)
            head_from(receiver)
        assert refused.result().json()["type"] == "/problems#receiver-gone"
        stopped = session.stream(len(CONTENT))
        taking = beside.submit(stopped.get)
        with connected(one) as owner:
            owner.sendall(stopped.head_of_put(0, len(CONTENT), last=True) + CONTENT[:MEBIBYTE])
        with pytest.raises(httpx.RemoteProtocolError, match="complete"):
            taking.result()
