"""The files of which pages are made, and which pages are of which file."""

import hashlib
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from satchel.features.scores.item_records import ItemEntry, ItemsRow, item_key
from satchel.features.scores.model import ItemId, StoredKind, stored_id
from satchel.features.scores.records import PageEntry
from satchel.media.score_pages import MAX_PAGES, PageSource, SourceKind

SOURCES: dict[StoredKind, SourceKind] = {"d": "pdf", "x": "musicxml", "m": "mxl", "e": "mei", "a": "abc"}
ENGRAVED: tuple[StoredKind, ...] = ("x", "m", "e", "a")


@dataclass(frozen=True, slots=True)
class SourcePage:
    """A page of a file, counted from 0."""

    source: ItemEntry
    number: int


def page_item(source: ItemId, number: int) -> ItemId:
    """The id of a page of a file, which has the same one whenever it is made."""
    digest = hashlib.blake2b(f"{source}/{number}".encode(), digest_size=16).digest()
    return ItemId(stored_id(uuid.UUID(bytes=digest, version=4)))


def source_pages(items: ItemsRow, pages: list[PageEntry]) -> Mapping[ItemId, SourcePage]:
    """Of those pages that were made of a file that is still there, by their items."""
    return {
        page.item_id: SourcePage(source, number)
        for source in items.items
        if source.kind in SOURCES
        for page in pages
        if (number := _numbers(source.item_id).get(page.item_id)) is not None
    }


@lru_cache(maxsize=256)
def _numbers(source: ItemId) -> Mapping[ItemId, int]:
    """Of all pages that a file can have. Every stroke on engraved music asks for them."""
    return {page_item(source, number): number for number in range(MAX_PAGES)}


def source_of_pages(items: ItemsRow, source: ItemEntry) -> PageSource:
    key = item_key(items.owner, items.score_id, source.item_id, source.kind)
    return PageSource(key, source.name, SOURCES[source.kind])
