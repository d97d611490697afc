"""What is stored of an upload: the one truth about how far it has come, and what it became."""

from typing import Literal

import msgspec

from satchel.edge.http.callers import Guest, Member
from satchel.stores.schema import EphemeralKey, EphemeralKind, Record, Shape, attribute
from satchel.tables import CATALOG

UPLOAD_SORT = "#UPLOAD_SPEC"
EXPIRY_INDEX = "RefreshTokenExpiration"


class Piece(msgspec.Struct, frozen=True, array_like=True):
    """Bytes that wait to become part of a part. No two writers give the same name, so none can take away another's."""

    size_bytes: int
    name: str


class UploadRow(Record, frozen=True, kw_only=True):
    """A file on its way in. Whole parts come first, then `pieces`, which wait to become one."""

    upload_id: str = attribute("UploadId")
    # What a stranger has begun belongs to whoever knows its address.
    owner_kind: Literal["member", "guest", "stranger"] = attribute("OwnerKind")
    owner_id: str = attribute("OwnerId")
    owner_name: str = attribute("OwnerName")
    session_id: str = attribute("SessionId", default="")
    destination: str = attribute("Destination")
    # Whose room it takes, as long as it is not whole.
    place: str = attribute("Place", default="")
    name: str = attribute("Name", default="")
    content_type: str = attribute("ContentType")
    details: dict[str, str] = attribute("Details", default={})
    size_bytes: int = attribute("SizeBytes")
    part_bytes: int = attribute("PartBytes")
    offset_bytes: int = attribute("OffsetBytes")
    pieces: list[Piece] = attribute("Pieces", default=[])
    multipart: str = attribute("MultipartId", default="")
    sha256: str = attribute("SHA256", default="")
    became: str = attribute("Became", default="")
    ended: bool = attribute("Ended", default=False)
    created_at: str = attribute("CreatedAt")
    absolute_expiry: str = attribute("AbsoluteExpiryTime")

    @property
    def owner(self) -> Member | Guest:
        """Whoever began it, without the powers they may have had in that moment."""
        if self.owner_kind == "member":
            return Member(self.owner_id, self.owner_name, self.session_id)
        return Guest(self.owner_id, self.owner_name)

    @property
    def is_whole(self) -> bool:
        return self.offset_bytes == self.size_bytes

    @property
    def waiting_bytes(self) -> int:
        return sum(piece.size_bytes for piece in self.pieces)

    @property
    def folder(self) -> str:
        return f"uploads/{self.upload_id}/"

    @property
    def key(self) -> str:
        """Where the object stands once it is whole."""
        return f"{self.folder}whole"


class UnfinishedRow(Record, frozen=True, kw_only=True):
    """That somebody has an upload which has not become anything yet. One that is left over means nothing."""

    owner_kind: Literal["member", "guest"] = attribute("OwnerKind")
    owner_id: str = attribute("OwnerId")
    upload_id: str = attribute("UploadId")


UPLOAD = Shape(
    UploadRow,
    CATALOG,
    {"PK": "UPLOAD#{upload_id}", "SK": UPLOAD_SORT},
    owner="uploads",
    about="A file on its way in; expired and unfinished ones through RefreshTokenExpiration",
)
UNFINISHED = Shape(
    UnfinishedRow,
    CATALOG,
    {"PK": "UPLOADER#{owner_kind}#{owner_id}", "SK": "UPLOAD#{upload_id}"},
    owner="uploads",
    about="The unfinished uploads of a member or guest; ids sort by time",
)
SHAPES = (UPLOAD, UNFINISHED)


def _key(
    pattern: str, kind: EphemeralKind, about: str, *, durable: bool = False, essential: bool = False
) -> EphemeralKey:
    return EphemeralKey(pattern, kind, owner="uploads", about=about, durable=durable, essential=essential)


LOCK = _key(
    "uploading:{upload_id}", "value", "The lease of the server at which a request changes an upload", essential=True
)
WANTED = _key(
    "upload-wanted:{upload_id}", "value", "That another server asks the holder to release that lease", essential=True
)
RESERVED = _key(
    "upload-promised:{place}",
    "hash",
    "Upload id → its size and holder: what unfinished uploads will take at a place (hashed)",
)
# A client may repeat its request when the server has started anew, so these are durable.
BEGUN = _key(
    "upload-begun:{kind}:{owner_id}:{key}",
    "value",
    "Idempotency key of a client → upload id, and of what",
    durable=True,
)
BEGUN_BY_STRANGER = _key(
    "upload-begun:guest:{proof}:{proof_id}:{key}",
    "value",
    "The same of somebody who has no account, told apart by what they show, such as the pass of a link",
    durable=True,
)
EPHEMERAL_KEYS = (LOCK, WANTED, RESERVED, BEGUN, BEGUN_BY_STRANGER)
