"""Clicks through HTTP to a real server: lists of a hundred, each acknowledged when it is stored, folded and durable."""

import asyncio
import time
from collections.abc import Iterator

import httpx
import msgspec

from bench.clicks.crowd import Crowd
from bench.figures import Sample
from bench.processes import cpu_seconds_of_tree
from bench.rounds import Measure
from bench.satchel_server import SatchelServer

CONNECTIONS = 16
LIST = 100

_encode = msgspec.json.Encoder().encode


def sending(server: SatchelServer, token: str, crowd: Crowd, number: int) -> Measure:
    """So many clicks; making the bodies is not counted."""
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}

    async def client(http: httpx.AsyncClient, bodies: Iterator[bytes]) -> None:
        for body in bodies:
            answer = await http.post("/api/v1/clicks", content=body)
            if answer.status_code != 201:
                raise RuntimeError(f"clicks were answered with {answer.status_code}: {answer.text}")

    async def run() -> Sample:
        people = crowd.clicks(number)
        lists = [people[start : start + LIST] for start in range(0, number, LIST)]
        bodies = iter([_encode([{"userId": user_id} for user_id in one]) for one in lists])
        limits = httpx.Limits(max_connections=CONNECTIONS)
        async with httpx.AsyncClient(base_url=server.url, headers=headers, timeout=60, limits=limits) as http:
            await http.get("/healthz")
            cpu, started = cpu_seconds_of_tree(server.pid), time.perf_counter()
            await asyncio.gather(*(client(http, bodies) for _ in range(CONNECTIONS)))
            return Sample(number, time.perf_counter() - started, cpu_seconds_of_tree(server.pid) - cpu)

    return run
