"""Searches files and folders by words of their names. Each request does a bounded amount of work."""

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass

from satchel.features.shelf.model import UserId
from satchel.features.shelf.records import KINDS, NAME, NameRow, place_of
from satchel.features.shelf.service.context import Shelf
from satchel.features.shelf.service.files import entry_key, read_entries
from satchel.features.shelf.service.folders import Ways
from satchel.features.shelf.service.placement import Entry
from satchel.kernel.errors import CursorInvalid
from satchel.kernel.names import FileName, folded
from satchel.kernel.unfit import TextUnfit
from satchel.stores.ports.table import MAX_PAGE_ITEMS, MAX_SORT_KEY_BYTES, Range

# How many names one request looks at. The cursor leads to the rest.
LOOKED_AT = 5 * MAX_PAGE_ITEMS
MAX_WORDS = 20
_PREFIX = "Name#"


@dataclass(frozen=True, slots=True)
class Hit:
    """A matching entry, and its folders."""

    entry: Entry
    path: list[FileName]


@dataclass(frozen=True, slots=True)
class Hits:
    """A page of results, and the cursor of the next. A page may be empty though there is more."""

    hits: list[Hit]
    cursor: str | None


async def search(shelf: Shelf, user_id: UserId, query: str, limit: int, cursor: str | None) -> Hits:
    """Entries whose name has every word. Case and accents do not matter."""
    words = folded(query).split()
    if not 0 < len(words) <= MAX_WORDS:
        raise TextUnfit(f"Search for 1 to {MAX_WORDS} words.", field="q")
    ways, hits = Ways(shelf, user_id), list[Hit]()
    after, looked_at = _PREFIX if cursor is None else _opened(cursor), 0
    while looked_at < LOOKED_AT:
        rows, has_more = await _names_after(shelf, user_id, after)
        matching = [row for row in rows if all(word in folded(row.name) for word in words)]
        while matching:
            wanted = limit - len(hits)
            hits += await _live(shelf, ways, matching[:wanted])
            if len(hits) == limit:
                return Hits(hits, _closed(_sort_key(matching[:wanted][-1])))
            matching = matching[wanted:]
        if not has_more:
            return Hits(hits, None)
        after = _sort_key(rows[-1])
        looked_at += len(rows)
    return Hits(hits, _closed(after))


async def _names_after(shelf: Shelf, user_id: UserId, after: str) -> tuple[list[NameRow], bool]:
    partition = NAME.key(user_id=user_id, folder_id="", rank="", name_key="")["PK"]
    page = await shelf.tables.query(
        NAME.table, partition, Range(low=after, low_inclusive=False), limit=MAX_PAGE_ITEMS, may_lag=True
    )
    rows = [NAME.read(item) for item in page.items if item["SK"].startswith(_PREFIX)]
    return rows, page.cursor is not None and len(rows) == len(page.items)


async def _live(shelf: Shelf, ways: Ways, rows: Sequence[NameRow]) -> list[Hit]:
    """The entries of the names, unless a folder above is in the bin."""
    keys = [entry_key(row.user_id, KINDS[row.rank], row.entry_id) for row in rows]
    entries = await read_entries(shelf, keys)
    with_ways = [(entry, await ways.to(place_of(entry))) for entry in entries]
    return [Hit(entry, [folder.name for folder in way]) for entry, way in with_ways if way is not None]


def _sort_key(row: NameRow) -> str:
    key = NAME.key(user_id=row.user_id, folder_id=row.folder_id, rank=row.rank, name_key=row.name_key)
    return key["SK"]


def _closed(sort_key: str) -> str:
    return base64.urlsafe_b64encode(sort_key.encode()).decode("ascii")


def _opened(cursor: str) -> str:
    try:
        sort_key = base64.b64decode(cursor.encode(), altchars=b"-_", validate=True).decode()
    except (binascii.Error, UnicodeError):
        sort_key = ""
    if not sort_key.startswith(_PREFIX) or len(sort_key.encode()) > MAX_SORT_KEY_BYTES:
        raise CursorInvalid("This cursor is not from this search. Search from the beginning.", field="cursor")
    return sort_key
