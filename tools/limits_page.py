"""The page of limits, from their declarations: rates of each slice, connections, and live sockets."""

from collections.abc import Iterator
from dataclasses import fields
from datetime import timedelta
from typing import Any

from satchel.config import Settings
from satchel.edge.api.endpoints import MAX_JSON_BYTES
from satchel.edge.http.limits import Limits
from satchel.edge.http.shared_addresses import MAX_FORM_BYTES
from satchel.edge.live.live_sockets import Bounds
from satchel.edge.uploads import shared_form
from satchel.edge.uploads.body_buffers import BUFFER_BYTES, BUFFERS
from satchel.edge.uploads.bundles import MAX_FILE_BYTES, MAX_FILES
from satchel.edge.uploads.reservations import MOST_OF_MEMBER, MOST_OF_NETWORK, MOST_OF_NETWORKS
from satchel.features.accounts.limits import MAX_SESSIONS
from satchel.features.accounts.service.passwords import MOST_WAITING
from satchel.features.clicks.limits import CLICK_CALLS_PER_PERSON, GUEST_CLICKS_PER_NETWORK
from satchel.features.clicks.model import MAX_COUNTERS
from satchel.features.drop import model as drop
from satchel.features.drop.limits import SESSIONS_PER_NETWORK
from satchel.features.links.limits import DOWNLOADS_PER_PAIR, VISITS_PER_PAIR
from satchel.features.rooms import model as rooms
from satchel.features.rooms.limits import MESSAGES_PER_PERSON
from satchel.features.scores.model import MAX_MARKED_CHARACTERS
from satchel.media.picture_maker import MOST_CHILDREN
from satchel.media.picture_queue import MAX_ASKED, MAX_NEW
from satchel.media.process import MAX_MEMORY_BYTES as MAX_CHILD_BYTES
from satchel.media.score_pages import MOST_CHILDREN as MOST_SCORE_CHILDREN
from satchel.slices import SLICES
from satchel.stores.disk_room import RESERVED_BYTES
from satchel.stores.embedded.ephemeral_memory import MAX_BYTES
from satchel.stores.patterns import guess_lane
from satchel.stores.patterns.throttle import GuessThrottle
from satchel.stores.ports.table import MAX_PAGE_ITEMS, PAGE_BYTES
from tools.memory_sum import MIB, memory_parts, most_bytes

_CONNECTIONS = {
    "connections": "Connections at once. When the last is taken, waiting ones of the network with the most are ended; "
    "if none waits, 503 `busy`",
    "address_bytes": "Bytes of an address; 414 `address-too-long`",
    "head_bytes": "Bytes of request line and headers; 431 `headers-too-large`",
    "headers": "Headers of a request; 431 `headers-too-large`",
    "pipelined": "Requests sent before earlier ones were answered; the connection is ended",
    "held_bytes": "Bytes that all connections hold: half requests, heads and bodies under way, answers not taken. "
    "Beyond it, connections of the network that holds the most are ended, the largest first",
    "head_seconds": "Seconds for the headers to arrive; 408 `too-slow`",
    "keep_alive_seconds": "Seconds that an idle connection is kept",
    "stalled_seconds": "Seconds without a byte of a body, or of an answer taken; the connection is ended",
    "websockets": "Websockets at once, those included that are not admitted yet; 503 `busy`",
    "websocket_bytes": "Bytes of a frame of a websocket; it is closed with 1009",
}
_SOCKETS = {
    "sockets": "Live connections at once; 503 `busy`",
    "sockets_per_network": "Live connections of one network, once three quarters of all are taken; 503 `busy`",
    "sockets_per_person": "Live connections of one person; 429 `too-many`",
    "visitors": "Live connections of visitors of links; 429 `too-many`",
    "visitors_per_network": "Live connections of visitors of links in one network; 429 `too-many`",
    "visitor_lifetime": "Time after which a visitor of a link has to connect again",
    "send_timeout": "Time for a client to take a frame; it is cut off",
    "lifetime": "Time after which a client has to connect again",
}

_OTHERS: tuple[tuple[int, str], ...] = (
    (drop.MAX_SESSION_BYTES, "Bytes of the state of a drop session; 413 `drop-state-full`"),
    (drop.MAX_NETWORK_BYTES, "Bytes of the drop sessions that an IPv4 address or a /64 opened; 413 `drop-state-full`"),
    (drop.MAX_WIDE_NETWORK_BYTES, "Bytes of those that a /56 or /48 opened; 413 `drop-state-full`"),
    (
        drop.MAX_SERVER_BYTES,
        f"Bytes of all drop sessions; the last quarter is for networks with less than {drop.MAX_SMALL_BYTES:,}",
    ),
    (SESSIONS_PER_NETWORK, "Open drop sessions of a network; 409 `too-many-sessions`"),
    (MAX_SESSIONS, "Sessions of an account; signing in beyond it ends the one that was used the longest ago"),
    (rooms.MAX_ROOMS_OF_ONE, "Open rooms of a member; 409"),
    (rooms.MAX_PEOPLE, "People in a room; 409 `room-full`"),
    (rooms.MAX_FILES, "Files in a room; 507 `room-full-of-files`"),
    (
        rooms.MAX_FILES_OF_ONE,
        f"Files in all rooms of a member; rooms with over {rooms.ALWAYS_FILES} take no more: 507 `room-full-of-files`",
    ),
    (rooms.MAX_MESSAGES, "Messages that a room keeps; older ones are dropped"),
    (rooms.MAX_CHAT_BYTES, "Bytes of the messages that a room keeps; older ones are dropped"),
    (rooms.MAX_TEXT_CHARACTERS, "Characters of a message; 422 `invalid`"),
    (MAX_MARKED_CHARACTERS, "Characters of all marks of a score; 409 `too-many-marks`"),
    (MOST_OF_MEMBER, "Unfinished uploads of a member to one place; 409 `too-many-uploads`"),
    (MOST_OF_NETWORK, "Unfinished uploads to one place of a network without an account; 409 `too-many-uploads`"),
    (MOST_OF_NETWORKS, "Unfinished uploads to one place of all such networks; 409 `too-many-uploads`"),
    (MAX_JSON_BYTES, "Bytes of a body of JSON, if its operation says no less; 413"),
    (shared_form.AT_ONCE, f"Forms of one member by which apps share, of {MAX_FORM_BYTES:,} bytes each; `too-many`"),
    (MAX_FILES, f"Files of a bundle, of {MAX_FILE_BYTES:,} bytes each; 413"),
    (MAX_PAGE_ITEMS, f"Entries of one page of a list, and {PAGE_BYTES:,} bytes: more come with a cursor"),
    (MOST_WAITING, "Passwords that wait to be hashed, for accounts and for links each, by turns of networks; 503"),
    (MAX_ASKED, "Pictures that people wait for; the oldest of more fall out, until somebody asks again"),
    (MAX_NEW, "New pictures in the queue; the oldest of more are made when somebody asks"),
    (
        RESERVED_BYTES,
        (
            "Bytes of the disk, or a twentieth of a small one, for deleting and signing in. Below it 507 for members, "
            "below twice as much for strangers and guests"
        ),
    ),
)


def _shares() -> Iterator[tuple[str, ...]]:
    """Of what there is only so much of: how it is shared out."""
    limits, live = Limits(), Bounds()
    quarter = "a quarter, once three quarters are taken"
    yield "memory that connections hold", "-", "the largest go first", "-", _megabytes(limits.held_bytes)
    yield "connections", "-", f"of those being answered {quarter}", "-", f"{limits.connections:,}"
    yield "websockets", "-", quarter, "-", f"{limits.websockets:,}"
    person, network = f"{live.sockets_per_person}", f"{live.sockets_per_network}, once three quarters are taken"
    yield "live connections", "-", network, person, f"{live.sockets:,}"
    yield "password hashing", "-", "a turn each", "-", f"{MOST_WAITING} waiting"
    state = _megabytes(MAX_BYTES)
    yield "short-lived state", "-", "-", "-", f"{state}, an eighth of it for limits and deleting"
    session, shared = _megabytes(drop.MAX_SESSION_BYTES), _megabytes(drop.MAX_NETWORK_BYTES)
    yield "state of drop", session, shared, "-", f"{_megabytes(drop.MAX_SERVER_BYTES)}, a quarter for small networks"
    chat = f"{_megabytes(rooms.MAX_CHAT_BYTES)} a room"
    said = f"{MESSAGES_PER_PERSON.times} in {_spoken(MESSAGES_PER_PERSON.window)}"
    yield "chat", chat, "-", f"{said}, {rooms.MAX_ROOMS_OF_ONE} rooms", "as short-lived state"
    files = f"{rooms.MAX_FILES_OF_ONE:,} in {rooms.MAX_ROOMS_OF_ONE} rooms"
    yield "what is stored of files in rooms", f"{rooms.MAX_FILES:,} files", "-", files, "as short-lived state"
    unfinished = f"{MOST_OF_NETWORK:,} at a place"
    yield "unfinished uploads", f"{MOST_OF_NETWORKS:,} at a place", unfinished, f"{MOST_OF_MEMBER:,}", "as the disk"
    yield "buffers of uploads", "one a request", "-", "-", f"{BUFFERS} of {_megabytes(BUFFER_BYTES)}"
    visits = f"{VISITS_PER_PAIR.times:,} and {DOWNLOADS_PER_PAIR.times:,} downloads a day and link"
    clicks = f"{GUEST_CLICKS_PER_NETWORK.times} a day of guests, {visits}"
    yield "clicks", "-", clicks, f"{CLICK_CALLS_PER_PERSON.times} calls a minute", "as the disk"
    reserve = f"all but {_megabytes(RESERVED_BYTES)}"
    yield "clicks on pages with a counter", "its daily limit", quarter, f"{MAX_COUNTERS} counters", "as the disk"
    yield "disk", "by link, room and quota", f"all but {_megabytes(2 * RESERVED_BYTES)}", "quota", reserve


def _megabytes(count: int) -> str:
    return f"{count // MIB} MiB"


def limits_page(notice: str) -> Iterator[str]:
    yield "# Limits\n"
    yield notice
    yield "## Attempts\n"
    yield "Beyond these the answer is 429 with `Retry-After`, unless it says otherwise below."
    yield "[Decision 30](decisions/0030-a-limit-slows-the-guesser.md) gives the reasons.\n"
    yield "- A network is an IPv4 address. Of IPv6, a /64 has a limit once, the /56 around it four times,"
    yield "  the /48 sixteen times."
    yield f"- Past the limit of an account or a link, each network has {GuessThrottle.FEW} attempts at it."
    yield f"- Past the limits of a link's password, one more is tried every {guess_lane.EVERY.seconds} seconds for each"
    yield f"  network, with a proof of work of {guess_lane.BITS} bits; the other answers are 429 `work-needed`."
    yield "- Past the limits of room codes, guests without the key of a link knock."
    yield "  Past the higher one they are refused.\n"
    yield "| slice | what | at most | within | per |"
    yield "|---|---|---|---|---|"
    for each in sorted(SLICES, key=lambda each: each.name):
        for limit in each.limits:
            yield f"| {each.name} | {limit.about} | {limit.times} | {_spoken(limit.window)} | {limit.per} |"
    yield ""
    yield "## Shares\n"
    yield "What is scarce is shared out, so that nobody takes all of it. The numbers are for the default of `--memory`."
    yield "A thing is a session of drop, a room or a link. What is answered stands in the tables below.\n"
    yield "| what | of a thing | of a network | of an account | of the server |"
    yield "|---|---|---|---|---|"
    for row in _shares():
        yield f"| {' | '.join(row)} |"
    yield ""
    yield from _memory()
    yield "## State, disk and queues\n"
    yield "| limit | what, and what is answered |"
    yield "|---|---|"
    for value, text in _OTHERS:
        yield f"| {value:,} | {text} |"
    yield ""
    yield "## Connections\n"
    yield from _table(Limits(), _CONNECTIONS)
    yield "## Live connections\n"
    yield from _table(Bounds(), _SOCKETS)


def _memory() -> Iterator[str]:
    settings = Settings()
    yield "## Memory\n"
    yield f"However many strangers come, `satchel serve` takes at most {settings.memory} MiB: the sum of what every"
    yield "bound allows at once. A test adds it up. With `--memory` a server has more, and what grows, grows alike."
    children = MOST_CHILDREN + MOST_SCORE_CHILDREN
    yield f"Programs that make pictures and pages of scores are apart: at most {children}, of"
    yield f"{MAX_CHILD_BYTES // MIB:,} MiB each, one file at a time. TLS of our own adds 60 KiB to a connection."
    yield "[Decision 83](decisions/0083-bounds-are-shares-of-one-memory.md) gives the reasons.\n"
    yield "| part | at once | bytes of one | MiB | beyond it | grows |"
    yield "|---|---|---|---|---|---|"
    for part in memory_parts():
        size, grows = part.bytes_at(settings) / MIB, "yes" if part.grows else "no"
        yield f"| {part.what} | {part.number:,} | {part.each_bytes:,} | {size:,.0f} | {part.answered} | {grows} |"
    yield f"| all of it | | | {most_bytes(settings) / MIB:,.0f} | | |"
    yield ""


def _table(values: Any, about: dict[str, str]) -> Iterator[str]:
    known = {each.name for each in fields(values)}
    yield "| limit | what, and what is answered |"
    yield "|---|---|"
    for name, text in about.items():
        if name not in known:
            raise ValueError(f"there is no limit called {name}")
        value = getattr(values, name)
        yield f"| {_spoken(value) if isinstance(value, timedelta) else f'{value:,}'} | {text} |"
    yield ""


def _spoken(time: timedelta) -> str:
    seconds = int(time.total_seconds())
    for unit, size in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds % size == 0:
            return f"{seconds // size} {unit}{'s' if seconds != size else ''}"
    return f"{seconds} second{'s' if seconds != 1 else ''}"
