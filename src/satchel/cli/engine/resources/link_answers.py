"""What a server says of links, to those who give them and to those who come by them, as far as the command reads it."""

from typing import Literal

import msgspec

Kind = Literal["file", "folder", "room", "request"]


class LinkedThing(msgspec.Struct, frozen=True):
    """What a link leads to."""

    kind: Kind
    id: str
    name: str
    is_there: bool


class Link(msgspec.Struct, frozen=True):
    """A link of one's own, and what was counted of it."""

    link_id: str
    token: str
    address: str
    thing: LinkedThing
    name: str
    note: str
    has_password: bool
    expires_at: str | None
    downloads_limit: int | None
    downloads_used: int
    max_bytes: int | None
    received_bytes: int
    state: Literal["active", "paused", "expired", "used-up", "revoked", "gone"]
    created_at: str
    badge_address: str | None
    opens: int
    people: int
    downloads: int
    last_at: str | None
    previews: int


class Links(msgspec.Struct, frozen=True):
    """A page of them."""

    links: list[Link]
    cursor: str | None


class Landing(msgspec.Struct, frozen=True):
    """What a link is; its name is not told before the password."""

    kind: Kind
    name: str | None
    note: str
    shared_by: str
    needs_password: bool


class LinkedFile(msgspec.Struct, frozen=True):
    """A file that can be had by a link; its path begins below the folder that the link is for."""

    file_id: str
    path: str
    size_bytes: int
    sha256: str


class LinkedFiles(msgspec.Struct, frozen=True):
    """A page of them."""

    files: list[LinkedFile]
    cursor: str | None


class Entered(msgspec.Struct, frozen=True):
    """What one gets for entering: a pass to be shown, and the files, or where else to go."""

    shown: str = msgspec.field(name="pass")
    listing: LinkedFiles | None
    goto: str | None


class OwnRoom(msgspec.Struct, frozen=True):
    """A room that one has opened."""

    room_id: str
    code: str


class OwnRooms(msgspec.Struct, frozen=True):
    """All of them that are open."""

    rooms: list[OwnRoom]
