"""The keys of the in-process store as such: finding them, counting their memory, letting them end.

Nothing here waits, asks the time or knows of other tasks. A read never drops a key that has ended: only writing, and
`sweep`, change anything, so that a state can be recovered from the journal (`memory_journal.py`).
"""

import heapq
from collections import deque
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias, TypeVar

from satchel.stores.ephemeral_rules import COLLECTION_BYTES, KEY_BYTES, MAX_WHOLE, milliseconds, text_bytes
from satchel.stores.ports.ephemeral import WrongKind

NEVER = MAX_WHOLE

Content: TypeAlias = bytes | dict[str, bytes] | set[str] | deque[bytes]
C = TypeVar("C", bytes, dict[str, bytes], set[str], deque[bytes])


@dataclass(slots=True)
class Entry:
    """What a key holds, how much memory that is counted as, and when it ends (milliseconds since 1970)."""

    content: Content
    size: int
    ends: int = NEVER


class Entries:
    """Keys, each with its entry."""

    def __init__(self) -> None:
        self.used_bytes = 0
        self._entries: dict[str, Entry] = {}
        # Every expiry ever set, soonest first; those since changed are recognised when they come up.
        self._endings: list[tuple[int, str]] = []
        self._mortal = 0

    def __contains__(self, key: str) -> bool:
        """Whether the key takes up memory; it may have ended."""
        return key in self._entries

    def holds(self, key: str, now: int) -> bool:
        entry = self._entries.get(key)
        return entry is not None and entry.ends > now

    def starting(self, prefix: str, now: int) -> list[str]:
        """The keys that begin so."""
        return [key for key, entry in self._entries.items() if key.startswith(prefix) and entry.ends > now]

    @property
    def next_ending(self) -> int:
        return self._endings[0][0] if self._endings else NEVER

    def sweep(self, now: int, limit: int) -> list[str]:
        """Drop up to about `limit` keys that have ended, and say which."""
        dropped: list[str] = []
        for _ in range(limit):
            if self.next_ending > now:
                break
            ends, key = heapq.heappop(self._endings)
            if self._still_counts(ends, key):
                self.drop(key, self._entries[key])
                dropped.append(key)
        return dropped

    # Finding

    def read(self, key: str, kind: type[C], now: int) -> C | None:
        entry = self._entries.get(key)
        if entry is None or entry.ends <= now:
            return None
        return of_kind(entry, kind)

    def find(self, key: str, now: int) -> Entry | None:
        """The entry, for a command that writes: one that has ended makes way."""
        entry = self._entries.get(key)
        if entry is not None and entry.ends <= now:
            self.drop(key, entry)
            return None
        return entry

    def find_or_make(self, key: str, kind: type[C], now: int) -> tuple[Entry, C]:
        """The entry of a collection about to get an element."""
        entry = self.find(key, now)
        if entry is None:
            entry = self.make(key, kind(), COLLECTION_BYTES)
        return entry, of_kind(entry, kind)

    # Changing

    def make(self, key: str, content: Content, size: int) -> Entry:
        entry = self._entries[key] = Entry(content, KEY_BYTES + text_bytes(key) + size)
        self.used_bytes += entry.size
        return entry

    def drop(self, key: str, entry: Entry) -> None:
        del self._entries[key]
        self.used_bytes -= entry.size
        self._mortal -= entry.ends != NEVER

    def resize(self, entry: Entry, by: int) -> None:
        entry.size += by
        self.used_bytes += by

    def lose(self, key: str, entry: Entry, size: int) -> None:
        """An element was removed; a collection that lost its last is absent."""
        if entry.content:
            self.resize(entry, -size)
        else:
            self.drop(key, entry)

    def end(self, key: str, entry: Entry, ttl: timedelta, now: int) -> None:
        ends = now + milliseconds(ttl)
        if ends <= now:
            self.drop(key, entry)
            return
        self._mortal += entry.ends == NEVER
        entry.ends = ends
        heapq.heappush(self._endings, (ends, key))
        # A key whose expiry is moved again and again must not fill the memory with expiries that no longer count.
        if len(self._endings) > 2 * self._mortal + 100:
            self._endings = [*{ending for ending in self._endings if self._still_counts(*ending)}]
            heapq.heapify(self._endings)

    def _still_counts(self, ends: int, key: str) -> bool:
        entry = self._entries.get(key)
        return entry is not None and entry.ends == ends


def of_kind(entry: Entry, kind: type[C]) -> C:
    if not isinstance(entry.content, kind):
        raise WrongKind("This key holds a value of another kind. Delete it first, or use another key.")
    return entry.content
