"""`python -m bench [names…] [--rounds N] [--quick] [--json]`: measure Satchel beside its peers."""

import argparse
import os
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import uvloop

from bench import (
    abuse,
    acts,
    browser_uploads,
    chart,
    clicks,
    drop,
    ephemeral,
    history,
    load,
    objects,
    page_loads,
    photos,
    requests,
    rooms,
    scores,
    shelf,
    sign_in,
    startup,
    tables,
    transfers,
)
from bench.figures import Figure, Group
from bench.photos import photo_scroll
from bench.processes import Watch
from bench.report import for_machines, for_people, report_of
from bench.rounds import QUICK, Effort

Measurement = Callable[[Effort], Awaitable[list[Figure]]]

GROUPS: dict[str, tuple[str, Measurement]] = {
    "table": ("SQLite on disk against DynamoDB Local, both through the port, 32 tasks at once", tables.measure),
    "acts": (
        "what people do, 8 at once: two servers on DynamoDB Local, Redis and S3 against one on embedded stores",
        acts.measure,
    ),
    "http": (
        "a small authenticated JSON request against FastAPI on uvicorn, wrk with 32 connections",
        requests.measure,
    ),
    "files": ("one large file through a signed link against nginx and copyparty, with curl", transfers.measure),
    "shelf": (
        "many small files up and down by the command line against copyparty, each with its own server",
        shelf.measure,
    ),
    "browser": ("many tiny files from Chromium in bundles against one upload each", browser_uploads.measure),
    "pages": ("the first visit over a slow line, until the heading is drawn in Chromium", page_loads.measure),
    "rooms": ("a thousand people in a hundred rooms, 50 messages a second, on embedded stores", rooms.measure),
    "history": ("the first page of a long history against that of a short one", history.measure),
    "clicks": (
        "clicks stored, folded and durable against plain sqlite3, and what figures cost to read",
        clicks.measure,
    ),
    "drop": ("files from command line to command line against magic-wormhole through its relay", drop.measure),
    "photos": (
        "photos from upload to pictures against bare pyvips and sigal, and large libraries against small ones",
        photos.measure,
    ),
    "scroll": (
        "a timeline of 100,000 photos scrolled in Chromium: its longest task, and its heap",
        photo_scroll.measure,
    ),
    "scores": ("pages of PDFs against bare pypdfium2 with Pillow, by processor time", scores.measure),
    "start": ("`satchel serve` on an empty folder, until it answers", startup.measure),
    "ephemeral": ("short-lived state in memory against Redis, both through the port", ephemeral.measure),
    "objects": ("objects of 4 KiB in a folder, durable, 32 tasks at once", objects.measure),
    "abuse": ("signing in, joining and downloading while strangers attack, and the memory they take", abuse.measure),
    "load": ("hundreds of browsers with mixed traffic: times, memory, failures and refusals", load.measure),
    "sign-in": ("a wrong password against an unknown address", sign_in.measure),
}


# It takes as long as all others together.
_ONLY_BY_NAME = {"load"}


def main() -> None:
    standard = Effort()
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure Satchel beside its peers.")
    parser.add_argument(
        "names", nargs="*", metavar="name", help=f"what to measure: {', '.join(GROUPS)}; else all but load"
    )
    parser.add_argument("--rounds", type=int, help="how often everything is measured")
    parser.add_argument("--quick", action="store_true", help="less of everything: to see that it runs, not to cite")
    parser.add_argument("--clients", type=int, default=standard.clients, help="how many browsers `load` has")
    parser.add_argument("--minutes", type=float, default=standard.minutes, help="how long `load` goes on")
    parser.add_argument("--write", metavar="FOLDER", help="keep the figures of both sets of stores in these documents")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    chosen = parser.parse_args()
    if unknown := set(chosen.names) - set(GROUPS):
        parser.error(f"there is no {', '.join(sorted(unknown))}; choose from {', '.join(GROUPS)}")
    if chosen.rounds is not None and chosen.rounds < 1:
        parser.error("--rounds has to be at least 1")
    if not (0 < chosen.clients <= load.MOST_CLIENTS and 0 < chosen.minutes <= load.MOST_MINUTES):
        parser.error(f"load takes up to {load.MOST_CLIENTS} clients and {load.MOST_MINUTES} minutes")
    if chosen.quick and chosen.write:
        parser.error("a trial run is not worth keeping: leave out --quick or --write")
    effort = QUICK if chosen.quick else Effort(clients=chosen.clients, minutes=chosen.minutes)
    if chosen.rounds:
        effort = replace(effort, rounds=chosen.rounds)

    # What is set for another installation must not change what is measured.
    # Programs start as they do for people: with their own settings, and with what Python compiled the first time.
    for name in [each for each in os.environ if each.startswith(("SATCHEL_", "AWS_", "PYTHONDONTWRITEBYTECODE"))]:
        del os.environ[name]
    groups = uvloop.run(
        _measure([name for name in GROUPS if name in (chosen.names or GROUPS.keys() - _ONLY_BY_NAME)], effort)
    )
    report = report_of(groups, effort)
    print(for_machines(report) if chosen.json else for_people(report))
    if chosen.write:
        chart.write(report, Path(chosen.write))
    sys.exit(any(group.failure for group in groups))


async def _measure(names: list[str], effort: Effort) -> list[Group]:
    groups: list[Group] = []
    for name in names:
        about, measure = GROUPS[name]
        print(f"{name}: {about}", file=sys.stderr)
        watch, figures, failure = Watch(), list[Figure](), ""
        try:
            figures = await measure(effort)
        except RuntimeError as error:  # a server or a tool that failed must not cost the other figures
            failure = str(error)
        groups.append(Group(name, about, figures, watch.noise(), failure))
    return groups


if __name__ == "__main__":
    main()
