"""The most memory that a server takes: every bound of the program, as it declares them, added up."""

from dataclasses import dataclass

from satchel.config import Settings
from satchel.edge.api.turns import LIST_BYTES, LISTS_AT_ONCE
from satchel.edge.http.held_bytes import OVERRUN_PART, WORTH_COUNTING_BYTES
from satchel.edge.http.limits import Limits
from satchel.edge.live.live_sockets import Bounds
from satchel.edge.uploads.body_buffers import BUFFER_BYTES, BUFFERS
from satchel.features.accounts.service.passwords import AT_ONCE, STANDARD
from satchel.features.drop.model import MAX_SERVER_BYTES
from satchel.stores.embedded.ephemeral_memory import MAX_BYTES
from satchel.stores.embedded.objects_folder import BATCH_BYTES, THREADS, THREADS_FOR_MANY
from satchel.stores.embedded.sqlite_writer import CACHE_BYTES
from satchel.stores.embedded.table_sqlite import READERS
from satchel.stores.ports.ephemeral import MAX_BEHIND_BYTES

MIB = 1024**2
# Measured with `python -m bench start` and by opening connections: what nothing in the code can declare.
PROGRAM_BYTES = 80 * MIB
CONNECTION_BYTES = 5 * 1024
WEBSOCKET_BYTES = 28 * 1024
# Links and accounts have a queue of their own each.
HASH_QUEUES = 2
# Of tables: the writer, a reader on the loop, those in threads. Of short-lived state and of objects: a writer each.
SQLITE_CONNECTIONS = 2 + READERS + 2


@dataclass(frozen=True, slots=True)
class Part:
    """So many of something, each of which takes so much at most; `grows` with the setting `memory`."""

    what: str
    number: int
    each_bytes: int
    answered: str
    grows: bool = True

    def bytes_at(self, settings: Settings) -> int:
        return (settings.share(self.number) if self.grows else self.number) * self.each_bytes


def memory_parts() -> list[Part]:
    """Everything that takes memory, at its bound. What is inside of another part is not here again."""
    limits, live = Limits(), Bounds()
    if live.sockets > limits.websockets or MAX_SERVER_BYTES > MAX_BYTES * 2 // 3:
        raise ValueError("one bound is a part of another, and larger")
    return [
        Part("the program and what it has loaded", 1, PROGRAM_BYTES, "", grows=False),
        Part("connections, and what is not worth counting of each", limits.connections, _connection(), "503 `busy`"),
        Part("what connections hold together", limits.held_bytes, 1, "the connection is ended"),
        Part("what is left of connections that are being ended", limits.held_bytes // OVERRUN_PART, 1, "the same"),
        Part("live connections and other websockets", limits.websockets, WEBSOCKET_BYTES, "503 `busy`"),
        Part("events that live connections have not heard", 1, MAX_BEHIND_BYTES, "`resync`", grows=False),
        Part("short-lived state; a part of it is drop's", MAX_BYTES, 1, "507 `out-of-space`"),
        Part("buffers of uploads", BUFFERS, BUFFER_BYTES, "the upload waits"),
        Part("lists that are answered whole, being made", LISTS_AT_ONCE, LIST_BYTES, "waits", grows=False),
        Part("passwords being hashed", HASH_QUEUES * AT_ONCE, STANDARD.kibibytes * 1024, "waits, then 503"),
        Part("pages of SQLite", SQLITE_CONNECTIONS, CACHE_BYTES, "", grows=False),
        Part("parts of files being read and written", THREADS + THREADS_FOR_MANY, BATCH_BYTES, "waits", grows=False),
    ]


def _connection() -> int:
    return CONNECTION_BYTES + WORTH_COUNTING_BYTES


def promised_bytes(settings: Settings) -> int:
    return settings.memory * MIB


def most_bytes(settings: Settings) -> int:
    return sum(part.bytes_at(settings) for part in memory_parts())
