"""Signed links to a folder of objects. S3 signs and checks its own; here our server does both."""

from datetime import timedelta
from typing import Literal, TypeAlias

import msgspec

from satchel.kernel.clock import Clock
from satchel.kernel.errors import Gone, NotFound
from satchel.kernel.signature import BadSignature, Signer
from satchel.stores.object_rules import attachment, check_content_type, check_key, check_lifetime
from satchel.stores.ports.objects import DEFAULT_TYPE

Method: TypeAlias = Literal["GET", "PUT"]
_PURPOSE = "object-link"


class LinkUnknown(NotFound):
    """The link is not from this server, or is for another method."""

    slug = "signed-link-unknown"


class LinkExpired(Gone):
    """The link has expired. Ask for a new one."""

    slug = "signed-link-expired"


class LinkClaim(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a link allows: one method on one key until it expires.

    For GET, `disposition` is the Content-Disposition to answer with; for PUT, `content_type` is what must be sent.
    """

    method: Method
    key: str
    expires: float
    disposition: str | None = None
    content_type: str = DEFAULT_TYPE


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(LinkClaim).decode


class FolderLinks:
    """Makes links that carry their whole claim, and opens them again."""

    def __init__(self, signer: Signer, base_url: str, clock: Clock) -> None:
        self._signer = signer
        self._base = base_url.rstrip("/")
        self._clock = clock

    def to_get(self, key: str, lifetime: timedelta, download_name: str | None) -> str:
        disposition = None if download_name is None else attachment(download_name)
        return self._link(
            LinkClaim(method="GET", key=check_key(key), expires=self._expiry(lifetime), disposition=disposition)
        )

    def to_put(self, key: str, lifetime: timedelta, content_type: str) -> str:
        return self._link(
            LinkClaim(
                method="PUT",
                key=check_key(key),
                expires=self._expiry(lifetime),
                content_type=check_content_type(content_type),
            )
        )

    def open(self, token: str, method: str) -> LinkClaim:
        try:
            claim = _decode(self._signer.open(_PURPOSE, token))
        except BadSignature as error:
            raise LinkUnknown("This link is incomplete or was changed. Ask for a new one.") from error
        if claim.method != method:
            raise LinkUnknown("This link is incomplete or was changed. Ask for a new one.")
        if self._clock() >= claim.expires:
            raise LinkExpired("This link has expired. Ask for a new one.")
        return claim

    def _link(self, claim: LinkClaim) -> str:
        return f"{self._base}/objects/{self._signer.sign(_PURPOSE, _encode(claim))}"

    def _expiry(self, lifetime: timedelta) -> float:
        return self._clock() + check_lifetime(lifetime)
