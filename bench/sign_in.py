"""Whether the time of a refusal tells who has an account: a wrong password beside an unknown address."""

import time

import httpx

from bench.figures import Figure, Sample, Spread
from bench.processes import scratch_folder
from bench.rounds import Effort, Measure, in_turn
from bench.satchel_server import satchel_server

# An account may be tried ten times and an address sixty times before Satchel refuses to try.
ATTEMPTS = 20
ACCOUNTS = 4


async def measure(_effort: Effort) -> list[Figure]:
    with scratch_folder() as folder, satchel_server(folder) as server:
        known = [f"person-{number}@example.org" for number in range(ACCOUNTS)]
        for email in known:
            server.sign_up(email)
        contestants = {
            "wrong": _refused(server.url, known),
            "unknown": _refused(server.url, [f"nobody-{number}@example.org" for number in range(ACCOUNTS)]),
        }
        for contestant in contestants.values():
            await contestant()
        samples = await in_turn("sign-in", ATTEMPTS, contestants)
    wrong, unknown = ([each.seconds * 1000 for each in samples[name]] for name in ("wrong", "unknown"))
    return [
        Figure(
            what="refusing a wrong password",
            unit="ms",
            ours=Spread.of(wrong),
            peer_name="unknown address",
            peer=Spread.of(unknown),
            ratio=Spread.of([mine / other for mine, other in zip(wrong, unknown, strict=True)]),
            note=f"{ATTEMPTS} of each in turn, one at a time; a ratio of 1 tells nothing about who has an account.",
        )
    ]


def _refused(url: str, emails: list[str]) -> Measure:
    turn = 0

    async def run() -> Sample:
        nonlocal turn
        turn += 1
        body = {"email": emails[turn % len(emails)], "password": "not the password of anybody"}
        async with httpx.AsyncClient(base_url=url, timeout=30) as client:
            await client.get("/healthz")  # connects, which is not what is measured
            started = time.perf_counter()
            response = await client.post("/api/v1/sessions", json=body)
            seconds = time.perf_counter() - started
        if response.status_code != 401:
            raise RuntimeError(f"signing in was answered with {response.status_code}: {response.text}")
        return Sample(1, seconds)

    return run
