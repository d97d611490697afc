"""What is stored of the files of scores: the items of each score, and of which of them pages are being made."""

import msgspec

from satchel.features.scores.model import (
    CONTENT_TYPES,
    FILE_NAMES,
    ImportState,
    ItemId,
    OwnerId,
    ScoreId,
    StoredKind,
    public_id,
)
from satchel.features.scores.records import IN_SCORES, OWNER, Entry, score_prefix
from satchel.media.pictures import Pictured
from satchel.stores.schema import Record, Shape, attribute
from satchel.tables import SCORES

_IN_ITEMS = "si:{owner}"
_field = msgspec.field


class ItemSummaryRow(Record, frozen=True, kw_only=True):
    """How many items an owner has, and their bytes."""

    owner: OwnerId
    size_bytes: int = attribute("t")
    count: int = attribute("c")
    created_at: int = attribute("ca")
    changed_at: int = attribute("ua")


class ItemEntry(Entry, frozen=True, kw_only=True):
    """A stored file of a score. It never changes."""

    item_id: ItemId = _field(name="i")
    kind: StoredKind = _field(name="k")
    size_bytes: int = _field(name="t")
    name: str = _field(name="n")
    sha256: str = _field(name="h", default="")


class ItemsRow(Record, frozen=True, kw_only=True):
    """The items of a score, with a lock of their own, so that uploads and edits do not wait for each other."""

    owner: OwnerId
    score_id: ScoreId
    created_at: int = attribute("ca")
    changed_at: int = attribute("ua")
    locked_since: int = attribute("xs")
    locked_until: int = attribute("xt")
    version: int = attribute("v")
    size_bytes: int = attribute("t")
    count: int = attribute("c")
    items: list[ItemEntry] = attribute("i")


class ImportRow(Record, frozen=True, kw_only=True):
    """A file of which pages are made, and how far that has come."""

    owner: OwnerId
    score_id: ScoreId
    # The item that is the file.
    item_id: ItemId
    kind: StoredKind = attribute("k")
    name: str = attribute("n")
    state: ImportState = attribute("st")
    done: int = attribute("dn", default=0)
    total: int | None = attribute("tl", default=None)
    # Why no pages can be made: a slug, and a sentence.
    problem: str = attribute("sg", default="")
    reason: str = attribute("rs", default="")


class ImportJobRow(Record, frozen=True, kw_only=True):
    """An import that is not done. Whoever makes its pages has it until a moment, in milliseconds."""

    score_id: ScoreId
    item_id: ItemId
    owner: OwnerId = attribute("w")
    until: int = attribute("xt")


IMPORT = Shape(
    ImportRow,
    SCORES,
    {"o": IN_SCORES, "s": "{score_id}:j:{item_id}"},
    owner=OWNER,
    about="A file of which pages are made, and how far that has come",
    separator=":",
    repeats_key_fields=False,
)
IMPORT_JOB = Shape(
    ImportJobRow,
    SCORES,
    {"o": "sj:all", "s": "{score_id}:{item_id}"},
    owner=OWNER,
    about="Imports that are not done, and until when somebody works on each",
    separator=":",
    repeats_key_fields=False,
)
ITEMS = Shape(
    ItemsRow,
    SCORES,
    {"o": _IN_ITEMS, "s": "{score_id}"},
    owner=OWNER,
    about="The stored files of a score, with a lock of their own",
    separator=":",
    repeats_key_fields=False,
    needs=lambda row: {item_key(row.owner, row.score_id, each.item_id, each.kind): each.name for each in row.items},
)
ITEM_SUMMARY = Shape(
    ItemSummaryRow,
    SCORES,
    {"o": _IN_ITEMS, "s": "summary"},
    owner=OWNER,
    about="How many items an owner has, and their bytes",
    separator=":",
    repeats_key_fields=False,
    apart_from=[ITEMS],
)
ITEM_SHAPES = (IMPORT, IMPORT_JOB, ITEM_SUMMARY, ITEMS)


def pictured(owner: OwnerId, score_id: ScoreId, item_id: ItemId, kind: StoredKind) -> Pictured:
    """An item as a source of a picture."""
    return Pictured(item_key(owner, score_id, item_id, kind), FILE_NAMES[kind], CONTENT_TYPES[kind])


def item_key(owner: OwnerId, score_id: ScoreId, item_id: ItemId, kind: StoredKind) -> str:
    return f"{score_prefix(owner, score_id)}item/{public_id(item_id)}/{FILE_NAMES[kind]}"


def layouts_prefix(owner: OwnerId, score_id: ScoreId, source: ItemId) -> str:
    """What the keys of all that was made of engraved music begin with, besides the pages of its import."""
    return f"{score_prefix(owner, score_id)}item/{public_id(source)}/layout/"


def layout_key(owner: OwnerId, score_id: ScoreId, source: ItemId, name: str) -> str:
    return f"{layouts_prefix(owner, score_id, source)}{name}"
