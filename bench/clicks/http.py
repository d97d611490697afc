"""Clicks through HTTP to a real server: lists of a hundred, each acknowledged when it is stored, folded and durable."""

import asyncio
import time
from collections.abc import Iterator

import msgspec

from bench.clicks.crowd import Crowd
from bench.figures import Sample
from bench.processes import cpu_seconds_of_tree
from bench.rounds import Measure
from bench.satchel_server import SatchelServer

CONNECTIONS = 16
LIST = 100
_ACCEPTED = b"HTTP/1.1 201 "

_encode = msgspec.json.Encoder().encode


def sending(server: SatchelServer, token: str, crowd: Crowd, number: int) -> Measure:
    """So many clicks; making the requests is not counted, and sending them takes no more than it must: the clients
    share the machine with the server.
    """
    host, port = server.settings.host, server.settings.port
    head = (
        f"POST /api/v1/clicks HTTP/1.1\r\nhost: {host}:{port}\r\nauthorization: Bearer {token}\r\n"
        "content-type: application/json\r\ncontent-length: "
    ).encode()

    def request(people: list[str]) -> bytes:
        body = _encode([{"userId": user_id} for user_id in people])
        return b"%b%d\r\n\r\n%b" % (head, len(body), body)

    async def client(requests: Iterator[bytes]) -> None:
        reader, writer = await asyncio.open_connection(host, port)
        for each in requests:
            writer.write(each)
            answer = await reader.readuntil(b"\r\n\r\n")
            body = await reader.readexactly(_length(answer))
            if not answer.startswith(_ACCEPTED):
                raise RuntimeError(f"clicks were answered with {answer!r} {body!r}")
        writer.close()

    async def run() -> Sample:
        people = list(crowd.clicks(number))
        requests = iter([request(people[start : start + LIST]) for start in range(0, number, LIST)])
        cpu, started = cpu_seconds_of_tree(server.pid), time.perf_counter()
        await asyncio.gather(*(client(requests) for _ in range(CONNECTIONS)))
        return Sample(number, time.perf_counter() - started, cpu_seconds_of_tree(server.pid) - cpu)

    return run


def _length(answer: bytes) -> int:
    _, _, rest = answer.lower().partition(b"content-length:")
    return int(rest.partition(b"\r\n")[0])
