"""What is stored of scores, under the keys, short names and counters that sheet music had before it came to Satchel.

In a partition `sc:<owner>` are the scores of an owner: `<score>` with its pages, and all that belongs to it at keys
that begin with the same id. So one query reads a score. In `si:<owner>` are the items, the stored files of scores.
Their bytes are at `score/<owner>/<score>/item/<item>/…`.

`e` is the ETag. Whoever changes the structure of a score gives it a new one, on condition that it is the one that they
read and that nobody holds the lock `xs`, `xt`.
"""

import msgspec

from satchel.features.scores.model import (
    Email,
    Etag,
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
from satchel.stores.schema import EphemeralKey, Record, Shape, attribute
from satchel.tables import SCORES

OWNER = "scores"
OBJECTS_PREFIX = "score/"
_field = msgspec.field


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A part of a record. What came later is left out where it says nothing."""


class ScoreSummaryRow(Record, frozen=True, kw_only=True):
    """How many scores an owner has."""

    owner: OwnerId
    count: int = attribute("c")
    created_at: int = attribute("ca")
    changed_at: int = attribute("ua")


class SnapshotEntry(Entry, frozen=True, kw_only=True):
    """A snapshot. Its content is an object."""

    snapshot_id: SnapshotId = _field(name="i")
    name: str = _field(name="n")
    created_at: int = _field(name="ca")


class PageEntry(Entry, frozen=True, kw_only=True):
    """A page: which item it shows, and how far that is turned."""

    page_id: PageId = _field(name="i")
    item_id: ItemId = _field(name="t")
    kind: StoredKind = _field(name="k")
    name: str = _field(name="p")
    rotation: int = _field(name="r", default=0)


class AnnotationEntry(Entry, frozen=True, kw_only=True):
    """An annotation: the slot of its text in the chunks, and how long that is."""

    annotation_id: int = _field(name="i")
    slot: int = _field(name="r")
    length: int = _field(name="l")


class ScoreData(Entry, frozen=True, kw_only=True):
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


class Movement(Entry, frozen=True, kw_only=True):
    """A bookmark: where a movement begins."""

    name: str = _field(name="n")
    page_id: PageId = _field(name="p")


class Part(Entry, frozen=True, kw_only=True):
    """What one instrument plays. Without pages, it plays from all."""

    part_id: int = _field(name="i")
    name: str = _field(name="n")
    page_ids: list[PageId] = _field(name="p")


class Jump(Entry, frozen=True, kw_only=True):
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


class SnapshotRow(Record, frozen=True, kw_only=True):
    """What a snapshot shows, so that no item of it is deleted."""

    owner: OwnerId
    score_id: ScoreId
    snapshot_id: SnapshotId
    item_ids: list[ItemId] = attribute("t", default=[])


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


IN_SCORES = "sc:{owner}"
SCORE = Shape(
    ScoreRow,
    SCORES,
    {"o": IN_SCORES, "s": "{score_id}"},
    owner=OWNER,
    about="A score: title, pages, annotations, snapshots, lock and ETag",
    separator=":",
    repeats_key_fields=False,
)
# An id has 22 letters.
SCORE_SUMMARY = Shape(
    ScoreSummaryRow,
    SCORES,
    {"o": IN_SCORES, "s": "summary"},
    owner=OWNER,
    about="How many scores an owner has",
    separator=":",
    repeats_key_fields=False,
    apart_from=[SCORE],
)
CHUNK = Shape(
    ChunkRow,
    SCORES,
    {"o": IN_SCORES, "s": "{score_id}:a:{chunk}"},
    owner=OWNER,
    about="Texts of annotations: two digits for 200 slots, one for the piece of 240 characters",
    separator=":",
    repeats_key_fields=False,
)
SCORE_EXTRA = Shape(
    ScoreExtraRow,
    SCORES,
    {"o": IN_SCORES, "s": "{score_id}:x"},
    owner=OWNER,
    about="Composer, tags, movements, parts and jumps of a score",
    separator=":",
    repeats_key_fields=False,
)
SCORE_PEOPLE = Shape(
    ScorePeopleRow,
    SCORES,
    {"o": IN_SCORES, "s": "{score_id}:p"},
    owner=OWNER,
    about="With whom a score is shared",
    separator=":",
    repeats_key_fields=False,
)
SNAPSHOT = Shape(
    SnapshotRow,
    SCORES,
    {"o": IN_SCORES, "s": "{score_id}:n:{snapshot_id}"},
    owner=OWNER,
    about="The items that a snapshot shows",
    separator=":",
    repeats_key_fields=False,
    needs=lambda row: {snapshot_key(row.owner, row.score_id, row.snapshot_id): "a snapshot"},
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
SHAPES = (SCORE_SUMMARY, SCORE, CHUNK, SCORE_EXTRA, SCORE_PEOPLE, SNAPSHOT, SCORE_OWNER, SCORE_CARD)
# A client may repeat its request when the server has started anew.
SCORE_CREATED = EphemeralKey(
    "score-created:{owner}:{key}",
    "value",
    owner=OWNER,
    about="Idempotency key of an owner → score id",
    durable=True,
)
LAYER_CREATED = EphemeralKey(
    "score-layer-created:{person}:{score_id}:{key}",
    "value",
    owner=OWNER,
    about="Idempotency key of a person → id of a layer",
    durable=True,
)
SNAPSHOT_CREATED = EphemeralKey(
    "score-snapshot-created:{person}:{score_id}:{key}",
    "value",
    owner=OWNER,
    about="Idempotency key of a person → id of a snapshot",
    durable=True,
)
SCORE_SWEEP = EphemeralKey(
    "sweep:scores", "value", owner=OWNER, about="Cursor of the garbage collection: the object that it looked at last"
)
SCORE_HERE = EphemeralKey(
    "score-here:{score_id}", "hash", owner=OWNER, about="Person id → who looks at a score, at which page, until when"
)
SCORE_REFUSED = EphemeralKey(
    "score-refused:{key}", "value", owner=OWNER, about="Key of what could not be engraved → slug and sentence, an hour"
)
EPHEMERAL_KEYS = (SCORE_CREATED, LAYER_CREATED, SNAPSHOT_CREATED, SCORE_SWEEP, SCORE_HERE, SCORE_REFUSED)


def score_prefix(owner: OwnerId, score_id: ScoreId) -> str:
    """What the keys of all objects of a score begin with."""
    return f"{OBJECTS_PREFIX}{owner}/{public_id(score_id)}/"


def snapshot_key(owner: OwnerId, score_id: ScoreId, snapshot_id: SnapshotId) -> str:
    return f"{score_prefix(owner, score_id)}snapshot/{public_id(snapshot_id)}.json"
