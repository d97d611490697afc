"""Counting clicks: how much of plain sqlite3 is left when each is folded, and what figures cost to read."""

from contextlib import ExitStack

from bench.clicks import stats_read
from bench.clicks.crowd import Crowd
from bench.clicks.http import CONNECTIONS, LIST, sending
from bench.clicks.plain import GROUP, PlainClicks, inserting
from bench.clicks.service import CLIENTS, of_links, opened, recording
from bench.figures import Figure, at_least, compare
from bench.processes import scratch_folder
from bench.rounds import Effort, in_turn
from bench.satchel_server import satchel_server

_PLAIN = "plain sqlite3"


async def measure(effort: Effort) -> list[Figure]:
    clicks = effort.small_requests
    with ExitStack() as closing:
        folder = closing.enter_context(scratch_folder())
        plain = PlainClicks(folder / "plain")
        closing.callback(plain.close)
        server = closing.enter_context(satchel_server(folder / "server"))
        # The first who signs up is an administrator, who may record clicks of anybody.
        token = server.sign_up("ann@example.org")
        crowd = Crowd()
        async with opened(folder / "service") as service, opened(folder / "links") as links:
            contestants = {
                _PLAIN: inserting(plain, crowd, clicks),
                "service": recording(service, crowd, clicks),
                "links": recording(links, crowd, clicks, of_links),
                "http": sending(server, token, crowd, clicks),
            }
            for contestant in contestants.values():
                await contestant()
            samples = await in_turn("clicks", effort.rounds, contestants)
        read = await stats_read.measure(folder, 100 * clicks)
    return [
        compare(
            f"clicks, {CLIENTS} clients waiting for each",
            "/s",
            samples,
            ours="service",
            peer=_PLAIN,
            target=at_least(0.5),
            note=f"{_PLAIN} makes the same rows and commits them by {GROUP}, with the index by date, uncounted.",
        ),
        compare(
            "the same on a hundred links of ten people",
            "/s",
            samples,
            ours="links",
            peer=_PLAIN,
            note="every click counts in four scopes, each with its markers; plain sqlite3 as above.",
        ),
        compare(
            f"over HTTP in lists of {LIST}, {CONNECTIONS} connections",
            "/s",
            samples,
            ours="http",
            peer=_PLAIN,
            target=at_least(0.5),
            note="per CPU is the server's, that of the clients left out.",
        ),
        *read,
    ]
