"""What a score is: its ids, what titles, names and pages may be, its limits, and the errors of this slice."""

import base64
import re
import unicodedata
import uuid
from typing import ClassVar, Literal, NamedTuple, NewType

from satchel.kernel.errors import Conflict, Invalid, NotFound, OutOfSpace, SatchelError
from satchel.kernel.unfit import TextUnfit

# The user id of the account that a library belongs to.
OwnerId = NewType("OwnerId", str)
# 22 letters of base64, as in the table. Clients see the same ids as UUIDs.
ScoreId = NewType("ScoreId", str)
ItemId = NewType("ItemId", str)
SnapshotId = NewType("SnapshotId", str)
SetListId = NewType("SetListId", str)
Etag = NewType("Etag", str)
PageId = NewType("PageId", int)
# An address in the form in which accounts store it.
Email = NewType("Email", str)

Role = Literal["owner", "editor", "marker", "reader"]
SharedRole = Literal["editor", "marker", "reader"]
SetListRole = Literal["owner", "reader"]
Access = Literal["private", "public"]
StoredAccess = Literal["pr", "pu"]
Rotation = Literal[0, 90, 180, 270]
ItemKind = Literal["png", "jpeg", "svg", "pdf", "musicxml", "mxl", "mei", "abc"]
# Of an item: as in the table, where a letter is enough. Pages are p, j and s; the others are what pages are made of.
StoredKind = Literal["p", "j", "s", "d", "x", "m", "e", "a"]
ImportState = Literal["waiting", "running", "ready", "failed"]

RANKS: dict[Role, int] = {"reader": 0, "marker": 1, "editor": 2, "owner": 3}
SHARED_ROLES: tuple[SharedRole, ...] = ("reader", "marker", "editor")
KINDS: dict[StoredKind, ItemKind] = {
    "p": "png",
    "j": "jpeg",
    "s": "svg",
    "d": "pdf",
    "x": "musicxml",
    "m": "mxl",
    "e": "mei",
    "a": "abc",
}
LETTERS: dict[ItemKind, StoredKind] = {kind: letter for letter, kind in KINDS.items()}
PAGES: tuple[StoredKind, ...] = ("p", "j", "s")
# Of these, pictures are made.
PICTURED: tuple[StoredKind, ...] = ("p", "j")
CONTENT_TYPES: dict[StoredKind, str] = {
    "p": "image/png",
    "j": "image/jpeg",
    "s": "image/svg+xml",
    "d": "application/pdf",
    "x": "application/vnd.recordare.musicxml+xml",
    "m": "application/vnd.recordare.musicxml",
    "e": "application/mei+xml",
    "a": "text/vnd.abc",
}
FILE_NAMES: dict[StoredKind, str] = {
    "p": "image.png",
    "j": "image.jpg",
    "s": "image.svg",
    "d": "source.pdf",
    "x": "source.musicxml",
    "m": "source.mxl",
    "e": "source.mei",
    "a": "source.abc",
}
# The structure that records of this version have.
VERSION = 1

MAX_TITLE = 128
MAX_DESCRIPTION = 1024
MAX_TAGS, MAX_TAG = 20, 32
MAX_PAGES, MAX_PAGE_NAME = 200, 64
MAX_ITEM_NAME = 64
MAX_MOVEMENTS, MAX_PARTS, MAX_JUMPS = 100, 50, 100
# The row of a score has 400 KB, and an entry of each mark.
MAX_MARKS = 10_000
# Of all marks of a score together, which are answered without pages.
MAX_MARKED_CHARACTERS = 1_200_000
MAX_LAYERS = 100
MAX_SNAPSHOTS = 100
MAX_SET_LISTS, MAX_ENTRIES, MAX_ENTRY_NOTES = 100, 100, 500
# In ten-thousandths of the width or height of a page.
PAGE_EDGE = 10_000

_ID_CHARACTERS = 22
_STORED_ID = re.compile(r"[A-Za-z0-9+/]{22}")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TO_ADDRESS, _FROM_ADDRESS = str.maketrans("+/", "-_"), str.maketrans("-_", "+/")
_LINK_TARGET = re.compile(
    r"(?P<score>[A-Za-z0-9_-]{22})(?:\.s(?P<snapshot>[A-Za-z0-9_-]{22})|\.p(?P<part>0|[1-9][0-9]{0,8}))?"
)
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_JOINERS = "\u200c\u200d"


class ScoreUnknown(NotFound):
    """There is no such score, or the caller may not see it."""

    slug = "score-unknown"
    title = "Score not found"


class EtagMissing(SatchelError):
    """A change of a score has to say which state it changes. Send its ETag in the header `If-Match`."""

    status: ClassVar[int] = 428
    slug = "etag-missing"
    title = "Say which state you change"


class ScoreChanged(SatchelError):
    """The score has changed since it was read. Read it again, then decide."""

    status: ClassVar[int] = 412
    slug = "score-changed"
    title = "The score has changed in the meantime"


class ScoreLocked(Conflict):
    """Another change of this score is being made. Try again in a moment."""

    slug = "score-locked"
    title = "The score is being changed"


class TooManyScores(Conflict):
    """The owner has reached the limit of scores."""

    slug = "too-many-scores"
    title = "You have too many scores"


class ScoresFull(OutOfSpace):
    """The items of the owner would take more space than they may. Nothing was stored."""

    slug = "scores-full"
    title = "There is no space left for scores"


class TooManyPages(Conflict):
    """A score has as many pages as it can have."""

    slug = "too-many-pages"
    title = "This score has too many pages"


class ItemUnknown(NotFound):
    """The score has no such item."""

    slug = "item-unknown"
    title = "Item not found"


class TooManyItems(Conflict):
    """A score has as many items as it can have. Delete those that no page shows."""

    slug = "too-many-items"
    title = "This score has too many items"


class ItemInUse(Conflict):
    """A page or a snapshot shows this item. Remove the page or delete the snapshot first."""

    slug = "item-in-use"
    title = "This item is still shown"


class LayerUnknown(NotFound):
    """The score has no such layer, or the caller may not see it."""

    slug = "layer-unknown"
    title = "Layer not found"


class MarkUnknown(NotFound):
    """The layer has no such mark. Somebody may have removed it."""

    slug = "mark-unknown"
    title = "Mark not found"


class PageGone(Conflict):
    """The page was removed, so nobody can mark it any more."""

    slug = "page-gone"
    title = "This page was removed"


class TooManyMarks(Conflict):
    """A score has as many marks as it can have."""

    slug = "too-many-marks"
    title = "This score has too many marks"


class TooManyLayers(Conflict):
    """A score has as many layers as it can have."""

    slug = "too-many-layers"
    title = "This score has too many layers"


class TooManySharers(Conflict):
    """The score is shared with as many people as it can be."""

    slug = "too-many-sharers"
    title = "This score is shared with too many people"


class SnapshotUnknown(NotFound):
    """The score has no such snapshot."""

    slug = "snapshot-unknown"
    title = "Snapshot not found"


class TooManySnapshots(Conflict):
    """A score has as many snapshots as it can have."""

    slug = "too-many-snapshots"
    title = "This score has too many snapshots"


class SetListUnknown(NotFound):
    """There is no such set list, or it is not shared with the caller."""

    slug = "set-list-unknown"
    title = "Set list not found"


class SetListChanged(SatchelError):
    """The set list has changed since it was read. Read it again, then decide."""

    status: ClassVar[int] = 412
    slug = "set-list-changed"
    title = "The set list has changed in the meantime"


class TooManySetLists(Conflict):
    """The owner has as many set lists as they can have."""

    slug = "too-many-set-lists"
    title = "You have too many set lists"


class NoPageFile(Invalid):
    """The bytes are none of the kinds of files that a score can have."""


def new_stored_id() -> str:
    """A UUID with its first three groups low byte first, in base64 without its padding."""
    return stored_id(uuid.uuid4())


def stored_id(made: uuid.UUID) -> str:
    return base64.b64encode(made.bytes_le)[:_ID_CHARACTERS].decode()


def public_id(stored: str) -> str:
    """What clients see of a stored id."""
    return str(uuid.UUID(bytes_le=base64.b64decode(stored + "==")))


def read_id(public: str) -> str | None:
    """The stored id; None if this is no id."""
    return stored_id(uuid.UUID(public)) if _UUID.fullmatch(public) else None


def is_stored_id(text: str) -> bool:
    return bool(_STORED_ID.fullmatch(text))


class LinkTarget(NamedTuple):
    """What a link to a score leads to: the score, a part of it, or a snapshot."""

    score_id: ScoreId
    snapshot_id: SnapshotId | None = None
    part_id: int | None = None


def link_target_of(target: LinkTarget) -> str:
    """As links name it: `<score>`, `<score>.s<snapshot>` or `<score>.p<part>`, in letters that addresses can have."""
    end = ""
    if target.snapshot_id is not None:
        end = f".s{target.snapshot_id}"
    elif target.part_id is not None:
        end = f".p{target.part_id}"
    return f"{target.score_id}{end}".translate(_TO_ADDRESS)


def read_link_target(written: str) -> LinkTarget | None:
    """None if no link has it."""
    found = _LINK_TARGET.fullmatch(written)
    if found is None:
        return None
    score_id = ScoreId(found["score"].translate(_FROM_ADDRESS))
    if found["snapshot"] is not None:
        return LinkTarget(score_id, snapshot_id=SnapshotId(found["snapshot"].translate(_FROM_ADDRESS)))
    return LinkTarget(score_id, part_id=None if found["part"] is None else int(found["part"]))


def check_title(written: str) -> str:
    title = one_line(written)
    if not 1 <= len(title) <= MAX_TITLE:
        raise TextUnfit(f"Use a title of 1 to {MAX_TITLE} characters.", field="title")
    return title


def check_composer(written: str) -> str:
    composer = one_line(written)
    if len(composer) > MAX_TITLE:
        raise TextUnfit(f"Use a name of up to {MAX_TITLE} characters for the composer.", field="composer")
    return composer


def check_description(written: str) -> str:
    description = _seen(written, also="\n\t").strip()
    if len(description) > MAX_DESCRIPTION:
        raise TextUnfit(f"Use a description of up to {MAX_DESCRIPTION} characters.", field="description")
    return description


def check_tags(written: list[str]) -> list[str]:
    """In the order given, each once."""
    tags = list(dict.fromkeys(tag for each in written if (tag := one_line(each))))
    if len(tags) > MAX_TAGS or any(len(tag) > MAX_TAG for tag in tags):
        raise TextUnfit(f"Use up to {MAX_TAGS} tags of up to {MAX_TAG} characters.", field="tags")
    return tags


def check_page_name(written: str) -> str:
    name = one_line(written)
    if len(name) > MAX_PAGE_NAME:
        raise TextUnfit(f"Use names of up to {MAX_PAGE_NAME} characters for pages.", field="pages")
    return name


def check_part_name(written: str, field: str) -> str:
    name = one_line(written)
    if not 1 <= len(name) <= MAX_PAGE_NAME:
        raise TextUnfit(f"Use names of 1 to {MAX_PAGE_NAME} characters.", field=field)
    return name


def one_line(written: str) -> str:
    """Without what cannot be seen, such as marks that turn the reading direction around, and in one line."""
    return " ".join(unicodedata.normalize("NFC", _seen(written, also="\n\t")).split())


def _seen(written: str, also: str) -> str:
    return "".join(
        letter
        for letter in written
        if letter in _JOINERS or letter in also or unicodedata.category(letter) not in _UNSEEN
    )
