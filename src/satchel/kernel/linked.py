"""What a link leads to: the types that the slices with things and the links slice share."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from satchel.kernel.events import Event
from satchel.kernel.handed_file import HandedFile
from satchel.kernel.patches import Patch

ThingKind = Literal["file", "folder", "selection", "room", "request", "album", "photos", "score"]


# How many files come at once, if nobody says.
FILES_PAGE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedThing:
    """What a visitor of a link may know of a thing. `file_id` is set for one file, `goto` for a page of the app.

    How many files a folder has, and how large they are together, is known only where it was counted.
    """

    name: str
    content_type: str | None = None
    size_bytes: int | None = None
    files: int | None = None
    file_id: str | None = None
    goto: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedPhoto:
    """What a gallery shows of a photo before its picture arrives. `ratio` is width over height in thousandths.

    `version` is that of its picture, None if there can be none. One that is not made yet has no thumbhash.
    """

    local_time: str
    type: Literal["IMAGE", "VIDEO", "OTHER"]
    ratio: int
    width: int
    height: int
    duration_ms: int
    version: str | None
    thumbhash: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedFile(HandedFile):
    """One of the files that a link leads to. Its `folder` is relative to the thing that the link is for.

    Visitors get its bytes with what `patches` answers. It is asked when they are wanted, and may refuse.
    """

    at: str
    photo: LinkedPhoto | None = None
    # A page that this server made, or whose first bytes it has seen: it is shown as what it says it is.
    is_sheet: bool = False
    patches: Callable[[], Awaitable[Sequence[Patch]]] | None = None

    @property
    def path(self) -> str:
        return f"{self.folder}/{self.name}" if self.folder else self.name


@dataclass(frozen=True, slots=True)
class LinkedFolder:
    """A folder inside a thing, or the thing itself, whose path is empty. `at` is when it came here."""

    path: str
    modified_at: str
    at: str


@dataclass(frozen=True, slots=True)
class LinkedFiles:
    """A page of the files of a thing, and the cursor of the next one. A folder comes before what is in it."""

    files: list[LinkedFile]
    cursor: str | None
    folders: list[LinkedFolder] = field(default_factory=list[LinkedFolder])


LayoutSize = Literal["small", "normal", "large"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedLayout:
    """How a visitor wants music laid out: moved by semitones, one instrument (from 1; 0 is all), and how large."""

    transpose: int = 0
    instrument: int = 0
    size: LayoutSize = "normal"


@dataclass(frozen=True, slots=True)
class Followed:
    """What happens to a thing: a channel of the ephemeral store, and what a visitor hears of a message on it."""

    channel: str
    hear: Callable[[bytes], bytes | None]


@runtime_checkable
class OutlinedThings(Protocol):
    """Link targets that have a viewer of their own, which needs to know more than files."""

    async def outline(self, owner_id: str, thing_id: str) -> object | None:
        """What the viewer shows, to be sent as JSON. None if the thing does not exist."""
        ...

    async def layout(self, owner_id: str, thing_id: str, wanted: WantedLayout, address: str) -> object | None:
        """What the viewer shows instead, to be sent as JSON; its pages are files of the thing.

        None if the thing does not exist, or cannot be laid out. What it costs counts against the visitor's network.
        """
        ...

    async def followed(self, owner_id: str, thing_id: str) -> Followed | None:
        """What its viewer follows live. None if the thing does not exist, or never changes."""
        ...

    async def playback(self, owner_id: str, thing_id: str, address: str) -> object | None:
        """What the viewer plays, to be sent as JSON. None if the thing does not exist, or cannot be played."""
        ...


class Things(Protocol):
    """Link targets of one kind. Deleted, binned and ended things do not exist."""

    async def describe(self, owner_id: str, thing_id: str, *, counted: bool = False) -> LinkedThing | None:
        """Describe a thing. None if it does not exist. With `counted`, also its size, if that is fast."""
        ...

    async def names(self, owner_id: str, thing_ids: Sequence[str]) -> Mapping[str, str]:
        """The names of the things that exist."""
        ...

    async def files(self, owner_id: str, thing_id: str, cursor: str | None, limit: int = FILES_PAGE) -> LinkedFiles:
        """A page of its files; empty if it does not exist. `Conflict` if the cursor is no longer valid.

        It has at most `limit` files, but a thing that is read as a whole comes whole.
        """
        ...

    async def file(self, owner_id: str, thing_id: str, file_id: str) -> LinkedFile | None:
        """One of the files in it."""
        ...


@dataclass(frozen=True, slots=True)
class ThingLinked(Event):
    """Somebody has given a link to one of their things."""

    owner_id: str
    kind: ThingKind
    thing_id: str
