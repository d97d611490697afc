"""What is stored of scores, under the keys, short names and counters that sheet music had before it came to Satchel.

In a partition `sc:<owner>` are the scores of an owner: `<score>` with its pages, and all that belongs to it at keys
that begin with the same id. So one query reads a score. In `si:<owner>` are the items, the stored files of scores.
Their bytes are at `score/<owner>/<score>/item/<item>/…`.

`e` is the ETag. Whoever changes the structure of a score gives it a new one, on condition that it is the one that they
read and that nobody holds the lock `xs`, `xt`.
"""

import msgspec

from satchel.features.scores.model import (
    CONTENT_TYPES,
    FILE_NAMES,
    Email,
    Etag,
    ImportState,
    ItemId,
    OwnerId,
    PageId,
    ScoreId,
    SharedRole,
    SnapshotId,
    StoredAccess,
    StoredKind,
    public_id,
)
from satchel.media.pictures import Pictured
from satchel.stores.schema import EphemeralKey, Record, Shape, attribute
from satchel.tables import SCORES

OWNER = "scores"
OBJECTS_PREFIX = "score/"
_field = msgspec.field


class _Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A part of a record. What came later is left out where it says nothing."""


class ScoreSummaryRow(Record, frozen=True, kw_only=True):
    """How many scores an owner has."""

    owner: OwnerId
    count: int = attribute("c")
    created_at: int = attribute("ca")
    changed_at: int = attribute("ua")


class SnapshotEntry(_Entry, frozen=True, kw_only=True):
    """A snapshot. Its content is an object."""

    snapshot_id: SnapshotId = _field(name="i")
    name: str = _field(name="n")
    created_at: int = _field(name="ca")


class PageEntry(_Entry, frozen=True, kw_only=True):
    """A page: which item it shows, and how far that is turned."""

    page_id: PageId = _field(name="i")
    item_id: ItemId = _field(name="t")
    kind: StoredKind = _field(name="k")
    name: str = _field(name="p")
    rotation: int = _field(name="r", default=0)


class AnnotationEntry(_Entry, frozen=True, kw_only=True):
    """An annotation: the slot of its text in the chunks, and how long that is."""

    annotation_id: int = _field(name="i")
    slot: int = _field(name="r")
    length: int = _field(name="l")


class ScoreData(_Entry, frozen=True, kw_only=True):
    """What a score says and shows. Ids count up and are never used twice."""

    title: str = _field(name="t")
    description: str = _field(name="d")
    page_count: int = _field(name="pc")
    next_page: int = _field(name="pi")
    pages: list[PageEntry] = _field(name="p")
    next_annotation: int = _field(name="ai")
    annotation_count: int = _field(name="ac")
    annotations: list[AnnotationEntry] = _field(name="a")


class ScoreRow(Record, frozen=True, kw_only=True):
    """A score. Times are milliseconds since 1970."""

    owner: OwnerId
    score_id: ScoreId
    created_at: int = attribute("ca")
    changed_at: int = attribute("ua")
    access: StoredAccess = attribute("as")
    etag: Etag = attribute("e")
    locked_since: int = attribute("xs")
    locked_until: int = attribute("xt")
    version: int = attribute("v")
    snapshot_count: int = attribute("nc")
    snapshots: list[SnapshotEntry] = attribute("n")
    data: ScoreData = attribute("d")
    # Counts the changes of annotations, which leave the ETag as it is.
    marks_version: int = attribute("mq", default=0)


class ChunkRow(Record, frozen=True, kw_only=True):
    """Texts of annotations by slot. The chunk has two digits for 200 slots, and one for the piece of 240 characters."""

    owner: OwnerId
    score_id: ScoreId
    chunk: str
    texts: dict[str, str] = attribute("a")


class ItemSummaryRow(Record, frozen=True, kw_only=True):
    """How many items an owner has, and their bytes."""

    owner: OwnerId
    size_bytes: int = attribute("t")
    count: int = attribute("c")
    created_at: int = attribute("ca")
    changed_at: int = attribute("ua")


class ItemEntry(_Entry, frozen=True, kw_only=True):
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


class Movement(_Entry, frozen=True, kw_only=True):
    """A bookmark: where a movement begins."""

    name: str = _field(name="n")
    page_id: PageId = _field(name="p")


class Part(_Entry, frozen=True, kw_only=True):
    """What one instrument plays. Without pages, it plays from all."""

    part_id: int = _field(name="i")
    name: str = _field(name="n")
    page_ids: list[PageId] = _field(name="p")


class Jump(_Entry, frozen=True, kw_only=True):
    """A place on a page that leads to another one: a repeat, a segno, a coda. In ten-thousandths of a page."""

    page_id: PageId = _field(name="p")
    x: int
    y: int
    to_page_id: PageId = _field(name="tp")
    to_y: int = _field(name="ty")
    label: str = _field(name="l", default="")


class ScoreExtraRow(Record, frozen=True, kw_only=True):
    """What else a score has: it is written together with a new ETag."""

    owner: OwnerId
    score_id: ScoreId
    composer: str = attribute("m", default="")
    tags: list[str] = attribute("g", default=[])
    movements: list[Movement] = attribute("mv", default=[])
    parts: list[Part] = attribute("pt", default=[])
    next_part: int = attribute("pn", default=0)
    jumps: list[Jump] = attribute("jp", default=[])


class ScorePeopleRow(Record, frozen=True, kw_only=True):
    """With whom a score is shared."""

    owner: OwnerId
    score_id: ScoreId
    people: dict[Email, SharedRole] = attribute("p", default={})


class DoneMarks(msgspec.Struct, frozen=True, array_like=True):
    """What a request with an idempotency key came to: the sequence number, and the ids of new marks."""

    key: str
    seq: int
    first_id: int
    count: int


class LayerRow(Record, frozen=True, kw_only=True):
    """A layer of marks. It has one author, who alone sees it until it is published."""

    owner: OwnerId
    score_id: ScoreId
    # Five digits.
    layer: str
    name: str = attribute("n")
    author: OwnerId = attribute("w")
    part_id: int | None = attribute("pt", default=None)
    is_published: bool = attribute("pb", default=False)
    # Counts its changes.
    seq: int = attribute("q", default=0)
    count: int = attribute("c", default=0)
    created_at: int = attribute("ca")
    done: list[DoneMarks] = attribute("dk", default=[])

    @property
    def layer_id(self) -> int:
        return int(self.layer)


class SnapshotRow(Record, frozen=True, kw_only=True):
    """What a snapshot shows, so that no item of it is deleted."""

    owner: OwnerId
    score_id: ScoreId
    snapshot_id: SnapshotId
    item_ids: list[ItemId] = attribute("t", default=[])


class ScoreSeenRow(Record, frozen=True, kw_only=True):
    """When somebody looked at a score last: the ETag, and the sequence number of each layer, that they saw."""

    person: OwnerId
    score_id: ScoreId
    at: int = attribute("ua")
    etag: Etag = attribute("e")
    layers: dict[str, int] = attribute("l", default={})


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


class LayerCountRow(Record, frozen=True, kw_only=True):
    """The id of the next layer. None is used twice."""

    owner: OwnerId
    score_id: ScoreId
    next_layer: int = attribute("ln", default=0)


class ScoreOwnerRow(Record, frozen=True, kw_only=True):
    """Whose a score is, for those who know its id only."""

    score_id: ScoreId
    owner: OwnerId = attribute("w")


class ScoreCardRow(Record, frozen=True, kw_only=True):
    """What a list shows of a score, so that it need not read the scores themselves."""

    owner: OwnerId
    score_id: ScoreId
    title: str = attribute("t")
    composer: str = attribute("m", default="")
    tags: list[str] = attribute("g", default=[])
    access: StoredAccess = attribute("as")
    pages: int = attribute("pc", default=0)
    # The first page.
    cover: ItemId = attribute("ci", default="")
    cover_kind: StoredKind = attribute("ck", default="p")
    created_at: int = attribute("ca")
    changed_at: int = attribute("ua")


_SCORES, _ITEMS = "sc:{owner}", "si:{owner}"


SCORE = Shape(
    ScoreRow,
    SCORES,
    {"o": _SCORES, "s": "{score_id}"},
    owner=OWNER,
    about="A score: title, pages, annotations, snapshots, lock and ETag",
    separator=":",
    repeats_key_fields=False,
)
# An id has 22 letters.
SCORE_SUMMARY = Shape(
    ScoreSummaryRow,
    SCORES,
    {"o": _SCORES, "s": "summary"},
    owner=OWNER,
    about="How many scores an owner has",
    separator=":",
    repeats_key_fields=False,
    apart_from=[SCORE],
)
CHUNK = Shape(
    ChunkRow,
    SCORES,
    {"o": _SCORES, "s": "{score_id}:a:{chunk}"},
    owner=OWNER,
    about="Texts of annotations: two digits for 200 slots, one for the piece of 240 characters",
    separator=":",
    repeats_key_fields=False,
)
SCORE_EXTRA = Shape(
    ScoreExtraRow,
    SCORES,
    {"o": _SCORES, "s": "{score_id}:x"},
    owner=OWNER,
    about="Composer, tags, movements, parts and jumps of a score",
    separator=":",
    repeats_key_fields=False,
)
SCORE_PEOPLE = Shape(
    ScorePeopleRow,
    SCORES,
    {"o": _SCORES, "s": "{score_id}:p"},
    owner=OWNER,
    about="With whom a score is shared",
    separator=":",
    repeats_key_fields=False,
)
LAYER = Shape(
    LayerRow,
    SCORES,
    {"o": _SCORES, "s": "{score_id}:l:{layer}"},
    owner=OWNER,
    about="A layer of marks, with a sequence number that counts its changes",
    separator=":",
    repeats_key_fields=False,
)
LAYER_COUNT = Shape(
    LayerCountRow,
    SCORES,
    {"o": _SCORES, "s": "{score_id}:l"},
    owner=OWNER,
    about="The id of the next layer",
    separator=":",
    repeats_key_fields=False,
)
SNAPSHOT = Shape(
    SnapshotRow,
    SCORES,
    {"o": _SCORES, "s": "{score_id}:n:{snapshot_id}"},
    owner=OWNER,
    about="The items that a snapshot shows",
    separator=":",
    repeats_key_fields=False,
)
SCORE_SEEN = Shape(
    ScoreSeenRow,
    SCORES,
    {"o": "sn:{person}", "s": "{score_id}"},
    owner=OWNER,
    about="What somebody had seen of a score when they looked last",
    separator=":",
    repeats_key_fields=False,
)
IMPORT = Shape(
    ImportRow,
    SCORES,
    {"o": _SCORES, "s": "{score_id}:j:{item_id}"},
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
    {"o": _ITEMS, "s": "{score_id}"},
    owner=OWNER,
    about="The stored files of a score, with a lock of their own",
    separator=":",
    repeats_key_fields=False,
)
ITEM_SUMMARY = Shape(
    ItemSummaryRow,
    SCORES,
    {"o": _ITEMS, "s": "summary"},
    owner=OWNER,
    about="How many items an owner has, and their bytes",
    separator=":",
    repeats_key_fields=False,
    apart_from=[ITEMS],
)
SCORE_OWNER = Shape(
    ScoreOwnerRow,
    SCORES,
    {"o": "so:{score_id}", "s": "owner"},
    owner=OWNER,
    about="Whose a score is",
    separator=":",
    repeats_key_fields=False,
)
SCORE_CARD = Shape(
    ScoreCardRow,
    SCORES,
    {"o": "sl:{owner}", "s": "{score_id}"},
    owner=OWNER,
    about="What a list shows of a score",
    separator=":",
    repeats_key_fields=False,
)
SHAPES = (
    *(SCORE_SUMMARY, SCORE, CHUNK, SCORE_EXTRA, SCORE_PEOPLE, LAYER, LAYER_COUNT, SNAPSHOT, IMPORT, IMPORT_JOB),
    *(ITEM_SUMMARY, ITEMS, SCORE_OWNER, SCORE_CARD, SCORE_SEEN),
)
# A client may repeat its request when the server has started anew.
SCORE_CREATED = EphemeralKey(
    "score-created:{owner}:{key}",
    "value",
    owner=OWNER,
    about="Idempotency key of an owner → score id",
    durable=True,
)
SCORE_SWEEP = EphemeralKey(
    "sweep:scores", "value", owner=OWNER, about="Cursor of the garbage collection: the object that it looked at last"
)
SCORE_HERE = EphemeralKey(
    "score-here:{score_id}", "hash", owner=OWNER, about="Person id → who looks at a score, at which page, until when"
)
EPHEMERAL_KEYS = (SCORE_CREATED, SCORE_SWEEP, SCORE_HERE)


def score_prefix(owner: OwnerId, score_id: ScoreId) -> str:
    """What the keys of all objects of a score begin with."""
    return f"{OBJECTS_PREFIX}{owner}/{public_id(score_id)}/"


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


def snapshot_key(owner: OwnerId, score_id: ScoreId, snapshot_id: SnapshotId) -> str:
    return f"{score_prefix(owner, score_id)}snapshot/{public_id(snapshot_id)}.json"
