"""A small authenticated JSON request, beside the same endpoint in FastAPI; wrk asks every server alike."""

import json
import re
import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bench.figures import Figure, Sample, at_least, compare
from bench.processes import cpu_seconds_of_tree, output_of, scratch_folder, serving
from bench.rounds import Effort, Measure, in_turn
from bench.satchel_server import satchel_server
from tests.services import free_port, tool

CONNECTIONS = 32
SECRET_VARIABLE = "BENCH_SECRET"
_ANSWERED = re.compile(r"(\d+) requests in ([\d.]+)s")
_NOTE = {"room": "r-4f2a", "name": "holiday-photo-001.jpg", "size": 4_823_112, "tags": ["summer", "2024"]}


async def measure(effort: Effort) -> list[Figure]:
    with ExitStack() as opened:
        folder = opened.enter_context(scratch_folder())
        satchel = opened.enter_context(satchel_server(folder / "data"))
        logging = opened.enter_context(satchel_server(folder / "logging", log_level="info"))
        fastapi_url, fastapi_pid = opened.enter_context(_fastapi(satchel.settings.secret))
        edge_url, edge_pid = opened.enter_context(_edge(satchel.settings.secret))
        # All three sign with the same secret, so that one token is good for all.
        token = satchel.sign_up("ann@example.org")
        script = _posting(folder / "post.lua")

        def wrk(url: str, pid: int, token: str, *options: str) -> Measure:
            return _asking(url, pid, effort.seconds, "-H", f"authorization: Bearer {token}", *options)

        reading = {
            "satchel": wrk(f"{satchel.url}/api/v1/whoami", satchel.pid, token),
            "satchel, logging": wrk(f"{logging.url}/api/v1/whoami", logging.pid, logging.sign_up("ann@example.org")),
            "FastAPI": wrk(f"{fastapi_url}/api/v1/whoami", fastapi_pid, token),
        }
        writing = {
            "satchel": wrk(f"{edge_url}/api/v1/notes", edge_pid, token, "-s", str(script)),
            "FastAPI": wrk(f"{fastapi_url}/api/v1/notes", fastapi_pid, token, "-s", str(script)),
        }
        for contestant in (*reading.values(), *writing.values()):
            await contestant()
        read = await in_turn("http, GET", effort.rounds, reading)
        written = await in_turn("http, POST", effort.rounds, writing)
    return [
        compare("GET /api/v1/whoami", "/s", read, peer="FastAPI", target=at_least(2.7)),
        compare(
            "the same, logging",
            "/s",
            read,
            ours="satchel, logging",
            peer="FastAPI",
            target=at_least(2.0),
            note="with a line per request, as Satchel does unless told otherwise; FastAPI's access log stays off.",
        ),
        compare(
            "POST, small typed body",
            "/s",
            written,
            peer="FastAPI",
            target=at_least(2.5),
            note="an endpoint of the bench's own on Satchel's edge (bench/edge_app.py): no real one only answers.",
        ),
    ]


def _posting(script: Path) -> Path:
    script.write_text(
        f"wrk.method = 'POST'\nwrk.body = '{json.dumps(_NOTE)}'\nwrk.headers['content-type'] = 'application/json'\n"
    )
    return script


@contextmanager
def _fastapi(secret: str) -> Generator[tuple[str, int]]:
    port = free_port()
    command = [tool("uvicorn"), "bench.fastapi_app:app", "--port", str(port), "--loop", "uvloop", "--http", "httptools"]
    command += ["--no-access-log", "--log-level", "warning", "--workers", "1"]
    with serving(command, port, environment={SECRET_VARIABLE: secret}) as pid:
        yield f"http://127.0.0.1:{port}", pid


@contextmanager
def _edge(secret: str) -> Generator[tuple[str, int]]:
    port = free_port()
    with serving(
        [sys.executable, "-m", "bench.edge_app", str(port)], port, environment={SECRET_VARIABLE: secret}
    ) as pid:
        yield f"http://127.0.0.1:{port}", pid


def _asking(url: str, pid: int, seconds: float, *options: str) -> Measure:
    # wrk counts in whole seconds.
    command = [tool("wrk"), "-t1", f"-c{CONNECTIONS}", f"-d{max(1, round(seconds))}s", *options, url]

    async def run() -> Sample:
        cpu_before = cpu_seconds_of_tree(pid)
        output = await output_of(*command)
        cpu = cpu_seconds_of_tree(pid) - cpu_before
        answered = _ANSWERED.search(output)
        if answered is None or "Non-2xx" in output or "Socket errors" in output:
            raise RuntimeError(f"{url} did not answer every request well:\n{output}")
        return Sample(int(answered[1]), float(answered[2]), cpu)

    return run
