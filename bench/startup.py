"""How long `satchel serve` takes until it answers, and how much memory it then has."""

import http.client
import socket
import subprocess
import time
from pathlib import Path

from bench.figures import Figure, alone, below
from bench.processes import cpu_seconds, resident_megabytes, scratch_folder
from bench.rounds import Effort
from bench.satchel_server import satchel_server, serve_command
from tests.services import free_port

_PATIENCE_SECONDS = 30.0
_BETWEEN_LOOKS_SECONDS = 0.005


async def measure(effort: Effort) -> list[Figure]:
    with scratch_folder() as folder:
        _start(folder / "warm-up")  # what the first start compiles and reads from disk is there for all others
        starts = [_start(folder / f"start-{number}") for number in range(effort.rounds)]
        after_requests = [
            _after_requests(folder / f"requests-{number}", effort.small_requests)
            for number in range(min(3, effort.rounds))
        ]
    cpu, wall, memory = zip(*starts, strict=True)
    return [
        alone("processor time to the first answer", "s", cpu, target=below(1.0)),
        alone("time to the first answer", "s", wall, note="from exec to the first 200 of GET /healthz."),
        alone("resident after the start", "MB", memory, target=below(120.0)),
        alone(f"resident after {effort.small_requests:,} requests", "MB", after_requests),
    ]


def _start(data: Path) -> tuple[float, float, float]:
    """Processor seconds, seconds, and megabytes at the first answer."""
    port = free_port()
    started = time.perf_counter()
    process = subprocess.Popen(serve_command(data, port), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while not _answers(port):
            if process.poll() is not None or time.perf_counter() - started > _PATIENCE_SECONDS:
                raise RuntimeError("satchel serve did not come up")
            time.sleep(_BETWEEN_LOOKS_SECONDS)
        return cpu_seconds(process.pid), time.perf_counter() - started, resident_megabytes(process.pid)
    finally:
        process.terminate()
        process.wait(_PATIENCE_SECONDS)


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", port)) != 0:
            return False
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_PATIENCE_SECONDS)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    finally:
        connection.close()


def _after_requests(data: Path, count: int) -> float:
    with satchel_server(data) as server:
        headers = {"authorization": f"Bearer {server.sign_up('ann@example.org')}"}
        connection = http.client.HTTPConnection("127.0.0.1", server.settings.port, timeout=_PATIENCE_SECONDS)
        for _ in range(count):
            connection.request("GET", "/api/v1/whoami", headers=headers)
            response = connection.getresponse()
            response.read()
            if response.status != 200:
                raise RuntimeError(f"whoami answered {response.status}")
        connection.close()
        return resident_megabytes(server.pid)
