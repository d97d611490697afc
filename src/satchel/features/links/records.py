"""What is stored of links: the link itself under its token, pointers to find it by, downloads begun, and badges.

A link is updated attribute by attribute, each on its own conditions, so that an owner who changes the note never undoes
a download that was counted meanwhile.
"""

import msgspec

from satchel.features.links.model import Alias, BadgeId, LinkId, OwnerId, Token
from satchel.kernel.linked import ThingKind
from satchel.stores.schema import EphemeralKey, Record, Shape, attribute
from satchel.tables import CATALOG, USER_TRANSFERS

OWNER = "links"
# Links revoked long ago are found through this index, as are expired sessions and uploads.
ENDED_INDEX = "RefreshTokenExpiration"
ENDED_SORT = "#LINK_SPEC"


class LinkRow(Record, frozen=True, kw_only=True):
    """A link: its owner, target and conditions. Empty texts and zeros mean no condition.

    `granted` is the number of reserved downloads, `downloads_used` of completed ones.
    """

    token: Token
    link_id: LinkId = attribute("linkId")
    owner_id: OwnerId = attribute("ownerId")
    kind: ThingKind
    thing_id: str = attribute("thingId")
    # The name when the link was created, for when the thing is gone.
    thing_name: str = attribute("thingName")
    created_at: str = attribute("createdAt")
    name: str = attribute("linkName", default="")
    note: str = ""
    # An argon2id hash.
    password: str = attribute("passwordHash", default="")
    expires_at: str = attribute("expiresAt", default="")
    starts_at: str = attribute("startsAt", default="")
    alias: str = ""
    downloads_limit: int = attribute("downloadsLimit", default=0)
    granted: int = 0
    downloads_used: int = attribute("downloadsUsed", default=0)
    # Of a request: how much may come by it, and how much has come or is coming.
    max_bytes: int = attribute("maxBytes", default=0)
    received_bytes: int = attribute("receivedBytes", default=0)
    received_files: int = attribute("receivedFiles", default=0)
    # Of an album: whether visitors may add photos.
    may_add: bool = attribute("mayAdd", default=False)
    paused_at: str = attribute("pausedAt", default="")
    revoked_at: str = attribute("revokedAt", default="")
    badge_id: str = attribute("badgeId", default="")
    # How often robots have read it, such as those that draw previews in chats.
    previews: int = 0

    @property
    def thing(self) -> str:
        """The thing that its clicks count for. A folder is the same thing for downloads and uploads."""
        return thing_of(self.kind, self.thing_id)


class PointerRow(Record, frozen=True, kw_only=True):
    """Points a person to a link. `thing` is such as `file:<id>`."""

    owner_id: OwnerId = attribute("ownerId")
    link_id: LinkId = attribute("linkId")
    token: Token
    thing: str


class Answer(msgspec.Struct, frozen=True, array_like=True):
    """An answer in flight: its maximum number of bytes, until when it counts as in flight, and `at` which offset it
    begins.
    """

    size_bytes: int
    until: str
    at: int = 0


class GrantRow(Record, frozen=True, kw_only=True):
    """The downloads of one file by one visitor. Each of its `places` in the link's limit is worth the size of the file.

    `sent_bytes` were sent as far as is known, `lost_bytes` of them by answers that were cut off. `covered` says which
    bytes went since the last whole download. Of all files of a folder only their number is here (`covered_bytes`), and
    which they are in a row for each. `finished` is the number of downloads that were counted. Some answers in
    `under_way` may never end, because their server died.
    """

    token: Token
    visitor: str
    file_id: str = attribute("fileId")
    size_bytes: int = attribute("sizeBytes")
    places: int = 0
    sent_bytes: int = attribute("sentBytes", default=0)
    lost_bytes: int = attribute("lostBytes", default=0)
    covered: list[list[tuple[int, int]]] = attribute("covered", default=[])
    covered_bytes: int = attribute("coveredBytes", default=0)
    finished: int = 0
    under_way: dict[str, Answer] = attribute("underWay", default={})
    changed_at: str = attribute("changedAt")
    # Increased by every update, for optimistic concurrency.
    version: int = 0


class GrantPartRow(Record, frozen=True, kw_only=True):
    """Which bytes of one file went, of a folder that a visitor takes file by file for the `round`-th time."""

    token: Token
    visitor: str
    file_id: str = attribute("fileId")
    round: int = 0
    covered: list[tuple[int, int]] = attribute("covered", default=[])


class Ending(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the outbox knows of an answer whose last bytes go out. It goes from `start` over `length` bytes.

    `thing` is what the download counts for, if that is not what the link leads to.
    """

    token: Token
    visitor: str
    file_id: str
    part: str = ""
    thing: str = ""
    size_bytes: int
    start: int
    length: int


class ArrivalRow(Record, frozen=True, kw_only=True):
    """A file that a request link accepted, so that its bytes count once however often the upload is retried."""

    token: Token
    file_id: str = attribute("fileId")
    size_bytes: int = attribute("sizeBytes")


class BadgeRow(Record, frozen=True, kw_only=True):
    """A public counter of a link. Its id does not reveal the link's token."""

    badge_id: BadgeId = attribute("badgeId")
    link_id: LinkId = attribute("linkId")
    owner_id: OwnerId = attribute("ownerId")


class AliasRow(Record, frozen=True, kw_only=True):
    """A word that leads to a link, by its token."""

    alias: Alias
    token: Token


class EndedRow(Record, frozen=True, kw_only=True):
    """A revoked link. After `due` its rows are deleted."""

    token: Token = attribute("Token")
    due: str = attribute("AbsoluteExpiryTime")


LINK = Shape(
    LinkRow,
    USER_TRANSFERS,
    {"PK": "Link#{token}", "SK": "Link#"},
    owner=OWNER,
    about="A link, found by the token in its address",
)
POINTER = Shape(
    PointerRow,
    USER_TRANSFERS,
    {"PK": "User#{owner_id}", "SK": "Link#{link_id}"},
    owner=OWNER,
    about="The links of a person; ids sort by time",
)
POINTER_BY_THING = Shape(
    PointerRow,
    USER_TRANSFERS,
    {"PK": "User#{owner_id}", "SK": "Linked#{thing}#{link_id}"},
    owner=OWNER,
    about="The links of a person to one thing",
)
GRANT = Shape(
    GrantRow,
    USER_TRANSFERS,
    {"PK": "Link#{token}", "SK": "Grant#{visitor}#{file_id}"},
    owner=OWNER,
    about="The downloads of one file by one visitor of a link",
)
GRANT_PART = Shape(
    GrantPartRow,
    USER_TRANSFERS,
    {"PK": "Link#{token}", "SK": "GrantPart#{visitor}#{file_id}"},
    owner=OWNER,
    about="What a visitor who takes a whole folder has of one of its files",
)
ARRIVAL = Shape(
    ArrivalRow,
    USER_TRANSFERS,
    {"PK": "Link#{token}", "SK": "Arrival#{file_id}"},
    owner=OWNER,
    about="Files that a request link has received",
)
BADGE = Shape(
    BadgeRow,
    USER_TRANSFERS,
    {"PK": "Badge#{badge_id}", "SK": "Badge#"},
    owner=OWNER,
    about="A public counter of a link",
)
ALIAS = Shape(
    AliasRow,
    USER_TRANSFERS,
    {"PK": "LinkAlias#{alias}", "SK": "LinkAlias#"},
    owner=OWNER,
    about="A word that stands in the address of a link instead of its token",
)
ENDED = Shape(
    EndedRow,
    CATALOG,
    {"PK": "LINK#{token}", "SK": ENDED_SORT},
    owner=OWNER,
    about="A revoked link that is to be deleted, through RefreshTokenExpiration",
)
SEEN = EphemeralKey(
    "link-seen:{link_id}:{visit}:{file_id}",
    "value",
    owner=OWNER,
    about="That a view of a file was counted, as long as the pass is valid",
)
LOOKED = EphemeralKey(
    "link-abandoned:{link_id}",
    "value",
    owner=OWNER,
    about="That abandoned downloads were just looked for",
)
GIVEN = EphemeralKey(
    "link-given:{owner_id}:{key}",
    "value",
    owner=OWNER,
    about="Idempotency key of an owner → link id, and the digest of what was asked for",
    durable=True,
)
EPHEMERAL_KEYS = (SEEN, LOOKED, GIVEN)
SHAPES = (LINK, POINTER, POINTER_BY_THING, GRANT, GRANT_PART, ARRIVAL, BADGE, ALIAS, ENDED)


def thing_of(kind: ThingKind, thing_id: str) -> str:
    return f"{'folder' if kind == 'request' else kind}:{thing_id}"


def pointer_to(link: LinkRow) -> PointerRow:
    return PointerRow(owner_id=link.owner_id, link_id=link.link_id, token=link.token, thing=link.thing)
